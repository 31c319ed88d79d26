# SPDX-License-Identifier: GPL-2.0-or-later
# parallelcluster_launch_helpers.bash - dynamic nodes that ParallelCluster launches, resets and disables
#
# ResumeProgram launches instances as slurm_resume does, with either scaling strategy and as many as EC2 has; a round of
# clustermgtd (tests/fake/clustermgtd) each second ends and resets nodes by ParallelCluster's rules. The watch asks the
# fake EC2 where they are. Load helpers, launch_helpers and parallelcluster_helpers first.
# shellcheck shell=bash

P3=gpu-dy-gpu-p3dn24xlarge

setup_file() {
	PC_SUSPEND_TIMEOUT=5 pc_begins
	export ONESPINE_CLUSTER=$PC/etc
	mkdir "$PC/instances" "$PC/ec2"
	write_ec2
	begin_ec2
	set_up
	in_cluster "$PC/bin/start-node" "$STATIC"
	await 30 node_is "$STATIC" idle
	keep_running watch with_ec2 "$ONESPINE" topology watch --from=ec2 --interval=1
	await 60 test -s "$PC/etc/onespine.topology"
	restart_ctld
	await 30 gangs_are_taken
	# clustermgtd works each minute; here each second
	# shellcheck disable=SC2016
	keep_running clustermgtd in_cluster bash -c 'while sleep 1; do "$1" "$2/instances" "$2/bin/end-node"; done' \
		rounds "$ONESPINE_TOOLS/../tests/fake/clustermgtd" "$PC"
}

teardown_file() {
	pc_ends
}

teardown() {
	local status=0
	[[ -n ${BATS_TEST_COMPLETED:-} ]] || tail -n 25 "$PC"/log/* 2>/dev/null || true
	scancel --user="$(id -un)" 2>/dev/null || true
	await 60 no_jobs || status=1
	return $status
}

setup() {
	pings || fail "slurmctld is gone"
	echo yes >"$PC/boots"
	echo 0 >"$PC/late"
	all_or_nothing 10
	places a 1-10
	scontrol update PartitionName=gpu State=UP
	enable_again
	power_all_down
}

# power_all_down: no instance runs but the static node's
power_all_down() {
	local n
	for n in {1..10}; do
		is_powered_down "$P3-$n" || scontrol update "NodeName=$P3-$n" State=POWER_DOWN_FORCE
	done
	await 60 all_free
}

# keep_running NAME WHERE COMMAND...: until pc_ends; WHERE is with_ec2, in_cluster or command
keep_running() {
	local name=$1 where=$2
	shift 2
	# shellcheck disable=SC2016
	"$where" sh -c 'echo $$ >"$0" && exec "$@"' "$PC/run/$name.pid" "$@" >>"$PC/log/$name" 2>&1 3>&- &
	await 10 test -s "$PC/run/$name.pid"
}

# set_up: the head node, by the custom action
set_up() {
	printf '%s\n' 'defaults: {unlaunched: launch, launch_tries: 3, launch_place: 0:30}' 'watch: {max_lost: 100, max_moved: 100}' \
		>"$PC/etc/onespine.yaml"
	tar -C "$ONESPINE_PREFIX" -cf "$BATS_FILE_TMPDIR/onespine.tar" .
	answers 0 with_ec2 env ONESPINE_SLURM="$PC" "$ONESPINE_TOOLS/../etc/parallelcluster/onespine-node" head "$BATS_FILE_TMPDIR/onespine.tar"
	restart_ctld
}

# write_ec2: what launches and ends instances
write_ec2() {
	# end-node NODE: as EC2 ends its instance
	cat >"$PC/bin/end-node" <<-END
		#!/bin/bash
		rm -f "$PC/instances/\$1"
		kill -9 \$(cat "$PC/run/slurmd.\$1.pid" 2>/dev/null) 2>/dev/null
		rm -f "$PC/run/slurmd.\$1.pid"
		exec $PC/bin/tell-ec2
	END
	# tell-ec2: what EC2 says of the instances there are; places has a line of spine and leaf for each node
	cat >"$PC/bin/tell-ec2" <<-END
		#!/bin/bash
		exec 9>$PC/ec2/lock && flock 9
		comma=
		for file in $PC/instances/*; do
			[[ -s \$file ]] || continue
			node=\${file##*/}
			read -r _ spine leaf < <(grep "^\$node " $PC/places)
			nodes=
			[[ -z \$spine ]] || nodes=", \\"nodes\\": [\\"nn-top\\", \\"nn-\$spine\\", \\"nn-\$spine\$leaf\\"]"
			printf '%s{"id": "%s", "ip": "%s", "type": "p5.48xlarge", "zone": "us-west-2b", "zone_id": "usw2-az1"%s}' "\$comma" \
				"\$(<"\$file")" "\$(awk -v node="\$node" '\$2 == node { print \$1 }' $PC/addresses)" "\$nodes"
			comma=', '
		done >$PC/ec2/list
		printf '{"keys": {"AKID": "secret"}, "instances": [%s]}\n' "\$(<$PC/ec2/list)" >$PC/ec2/state.new
		mv $PC/ec2/state.new $PC/ec2/state.json
	END
	# launch NODE: an instance of its own, which boots unless boots says no
	cat >"$PC/bin/launch" <<-END
		#!/bin/bash
		number=\$(awk -v node="\$1" '\$2 == node { print NR }' $PC/addresses)
		printf 'i-%016d%s\n' "\$number" "\$(printf %x "\$EPOCHSECONDS")" >$PC/instances/\$1
		cp $PC/instances/\$1 $PC/nodes/\$1/sys/devices/virtual/dmi/id/board_asset_tag
		$PC/bin/tell-ec2
		if [[ \$(<$PC/boots) == no ]]; then
			# its bootstrap fails, and the instance ends itself
			scontrol update NodeName="\$1" NodeAddr="\$(awk -v node="\$1" '\$2 == node { print \$1 }' $PC/addresses)" NodeHostname="\$1"
			exec $PC/bin/end-node "\$1"
		fi
		exec $PC/bin/start-node "\$1"
	END
	# as slurm_resume: all instances of a job or none, or as many as there are; nodes without one are set down
	cat >"$PC/bin/resume" <<-END
		#!/bin/bash
		export SLURM_CONF=$SLURM_CONF
		exec 8>$PC/ec2/resume.lock && flock 8
		asked=\$EPOCHSECONDS
		until ((EPOCHSECONDS > asked + 1)); do sleep 0.1; done
		mapfile -t nodes < <(scontrol show hostnames "\$1")
		read -r strategy capacity <$PC/capacity
		most=\${#nodes[@]}
		((most <= capacity)) || most=\$([[ \$strategy == best-effort ]] && echo "\$capacity" || echo 0)
		echo "\$strategy \$capacity: \$1" >>$PC/log/resume
		echo "\$strategy \$((capacity - most))" >$PC/capacity
		for node in "\${nodes[@]:0:most}"; do
			# the last one's bootstrap takes so much longer
			[[ \$node != "\${nodes[most - 1]}" ]] || sleep "\$(<$PC/late)"
			$PC/bin/launch "\$node" 8>&-
		done
		for node in "\${nodes[@]:most}"; do
			scontrol update NodeName="\$node" State=DOWN Reason="(Code:InsufficientInstanceCapacity)Failure when resuming nodes"
		done
	END
	chmod 755 "$PC"/bin/*
	echo yes >"$PC/boots"
	echo 0 >"$PC/late"
	echo "$STATIC b 0" >"$PC/places"
	echo i-0static >"$PC/instances/$STATIC"
	"$PC/bin/tell-ec2"
}

begin_ec2() {
	keep_running ec2 command "$ONESPINE_TOOLS/../tests/fake/ec2" "$PC/ec2"
	await 10 test -e "$PC/ec2/port"
}

gangs_are_taken() {
	sbatch --test-only -p gpu --gang -N1 -w "$STATIC" --wrap true
}

# all_or_nothing COUNT; best_effort COUNT: so many instances EC2 still has
all_or_nothing() {
	echo "all-or-nothing $1" >"$PC/capacity"
}

best_effort() {
	echo "best-effort $1" >"$PC/capacity"
}

# places SPINE RANGE [SPINE RANGE]: where p3dn nodes come up, two a leaf
places() {
	local node
	{
		echo "$STATIC b 0"
		while (($#)); do
			for node in $(scontrol show hostnames "$P3-[$2]"); do echo "$node $1 $((${node##*-} / 2))"; done
			shift 2
		done
	} >"$PC/places.new"
	mv "$PC/places.new" "$PC/places"
	"$PC/bin/tell-ec2"
}

# gang COUNT: of p3dn nodes
gang() {
	submit -p gpu --gang -N"$1" --gpus-per-node=v100:8 --exclusive --requeue --wrap "echo \$SLURM_JOB_NODELIST >>$PC/log/ran; sleep 600"
}

numbers() {
	job_nodes "$1" | sed "s/^$P3-//" | paste -sd' '
}

# keeps_nothing: no reservation keeps nodes for a gang
keeps_nothing() {
	[[ $(scontrol -o show reservation 2>&1) != *onespine_launch_* ]] || fail "$(scontrol -o show reservation)"
}

clustermgtd_said() {
	grep -qE -- "$1" "$PC/log/clustermgtd"
}

# is_free NODE: powered down, and clustermgtd is done with it, which would else end the next instance
is_free() {
	[[ ! -e $PC/instances/$1 ]] && is_powered_down "$1" && has_no_address "$1"
}

is_powered_down() {
	[[ $(node_state "$1") == idle'~' ]]
}

has_no_address() {
	[[ $(scontrol -o show node "$1") == *" NodeAddr=$1 "* ]]
}

all_free() {
	local n
	for n in {1..10}; do is_free "$P3-$n" || return 1; done
}

# enable_again: as clustermgtd does after insufficient_capacity_timeout
enable_again() {
	local file
	for file in "$PC"/instances/.ice.*; do
		[[ ! -e $file ]] || sed -i 's/ .*/ 0/' "$file"
	done
}
