# SPDX-License-Identifier: GPL-2.0-or-later
# parallelcluster_helpers.bash - a cluster of ParallelCluster's generated files
#
# One static and fourteen dynamic nodes, each slurmd in a network namespace with an address of its own, which
# ResumeProgram tells Slurm as ParallelCluster does, and from which it connects: from 23.11 on slurmctld goes by
# that. Node names are known to the machine by a hosts file in a mount namespace, as ParallelCluster's DNS knows
# them.
# shellcheck shell=bash

# shellcheck disable=SC2034
STATIC=gpu-st-gpu-g38xlarge-1

# pc_begins: the cluster, with one munged and a slurmctld
pc_begins() {
	# slurmstepd's socket stands in a node's spool, and its path has at most 108 characters
	PC=$(mktemp -d /tmp/pc.XXXXXX)
	chmod 755 "$PC"
	export PC ONESPINE=$ONESPINE_PREFIX/bin/onespine
	export SLURM_CONF=$PC/etc/slurm.conf DATA=$ONESPINE_TOOLS/../tests/data/parallelcluster
	mkdir -p "$PC"/{bin,etc/pcluster,etc/scripts/prolog.d,etc/scripts/epilog.d,etc/plugstack.conf.d,state,spool,log,run,munge,dev,onespine}
	find_network
	write_generated
	write_main
	write_programs
	write_nodes
	start_holder
	lay_bridge
	start_munge
	in_cluster slurmctld -f "$SLURM_CONF"
	await 20 pings
	export PATH=$PC/bin:$PATH
}

# pc_ends: everything of it is gone
pc_ends() {
	local status=0 looks
	local -a daemons left
	scancel --user="$(id -un)" 2>/dev/null || true
	await 30 no_jobs || squeue -o '%A %T %N' || true
	# a daemon takes its file away before it has ended
	mapfile -t daemons < <(cat "$PC"/run/*.pid "$PC/munge/pid" 2>/dev/null)
	kill "${daemons[@]}" 2>/dev/null || true
	# slurmd of 22.05 that slurmctld's ResumeProgram started has SIGTERM blocked, as slurmctld had. (await would wait 90 s.)
	for ((looks = 0; looks < 50; looks++)); do
		! all_ended "${daemons[@]}" || break
		pause 100
	done
	all_ended "${daemons[@]}" || {
		kill -9 "${daemons[@]}" 2>/dev/null || true
		await 10 all_ended "${daemons[@]}" || status=1
	}
	# the machines of these nodes end here, and what still runs on them ends with them
	mapfile -t left < <(on_nodes)
	kill -9 "${left[@]}" 2>/dev/null || true
	kill "$(<"$PC/holder")" 2>/dev/null || true
	ip link delete "$BRIDGE"
	rm -rf --one-file-system "$PC"
	return $status
}

no_jobs() {
	[[ -z $(squeue -h) ]]
}

# on_nodes: the processes that still run on its nodes. (The environment of a slurmstepd cannot be read: its title is there.)
on_nodes() {
	local process
	for process in /proc/[0-9]*; do
		! grep -qsxF "$(readlink "$process/ns/net")" "$PC/networks" || echo "${process#/proc/}"
	done
}

# all_ended PID...
all_ended() {
	local pid
	for pid; do
		[[ ! -d /proc/$pid ]] || return 1
	done
}

# answers STATUS COMMAND...: runs it, output to $said
answers() {
	local wanted=$1 status=0
	shift
	said=$("$@" 2>&1) || status=$?
	equal "$status" "$wanted" "status of $* (it said: $said)"
}

# --- the files ------------------------------------------------------------------------------------

# free_ports COUNT: the first of so many that nobody listens on
free_port() {
	local port=$((27100 + 20 * ${NETWORK##*.}))
	while ss -Hltn "sport = :$port" | grep -q . || ss -Hltn "sport = :$((port + 1))" | grep -q .; do
		port=$((port + 2))
	done
	echo "$port"
}

# find_network: three numbers of four that no other network of this machine has, and the bridge of that number, which no
# other file's cluster can have then
find_network() {
	local number=0
	while ip -o -4 address | grep -qF " 198.19.$number." || ! ip link add "pc$number" type bridge 2>/dev/null; do
		number=$((number + 1))
		((number < 250)) || fail "no bridge can be made"
	done
	export NETWORK=198.19.$number BRIDGE=pc$number
}

# write_generated: ParallelCluster's own, with this machine's folder, host and devices in their places
write_generated() {
	local name
	for name in gpu_partition efa_partition gpu_gres; do
		sed "s#/dev/nvidia#$PC/dev/nvidia#" "$DATA/slurm_parallelcluster_$name.conf" \
			>"$PC/etc/pcluster/slurm_parallelcluster_$name.conf"
	done
	sed -e "s#<DIR>#$PC/etc#; /multiple_spot_partition/d; s/multiple_spot[^,]*,//g" \
		-e "s/^SlurmctldHost=.*/SlurmctldHost=$(hostname -s)($NETWORK.254)/" \
		"$DATA/slurm_parallelcluster.conf" >"$PC/etc/slurm_parallelcluster.conf"
	echo "include $PC/etc/pcluster/slurm_parallelcluster_gpu_gres.conf" >"$PC/etc/gres.conf"
	: >"$PC/etc/pcluster/custom_slurm_settings_include_file_slurm.conf"
	echo "include $PC/etc/plugstack.conf.d/*" >"$PC/etc/plugstack.conf"
	for name in 0 1 2 3 4 5 6 7; do
		mknod -m 666 "$PC/dev/nvidia$name" c 1 3
	done
}

# write_main: the slurm.conf that the cookbook writes, less what one machine cannot do (cgroups)
write_main() {
	local port
	port=$(free_port)
	cat >"$SLURM_CONF" <<-END
		ClusterName=parallelcluster
		SlurmUser=root
		SlurmctldPort=$port
		SlurmdPort=$((port + 1))
		AuthType=auth/munge
		AuthInfo=socket=$PC/munge/socket,cred_expire=70
		StateSaveLocation=$PC/state
		SlurmdSpoolDir=$PC/spool/%n
		SlurmctldPidFile=$PC/run/slurmctld.pid
		SlurmdPidFile=$PC/run/slurmd.%n.pid
		SlurmctldLogFile=$PC/log/slurmctld.log
		SlurmdLogFile=$PC/log/slurmd.%n.log
		ReconfigFlags=KeepPartState
		SlurmctldParameters=idle_on_node_suspend,power_save_min_interval=0,cloud_dns
		CommunicationParameters=NoAddrCache,NoInAddrAny
		SuspendProgram=$PC/bin/suspend
		ResumeProgram=$PC/bin/resume
		SuspendTimeout=${PC_SUSPEND_TIMEOUT:-120}
		PrivateData=cloud
		ResumeRate=0
		SuspendRate=0
		Prolog=$PC/bin/prolog
		Epilog=$PC/bin/epilog
		SchedulerParameters=nohold_on_prolog_fail,batch_sched_delay=0,sched_interval=5,bf_interval=1
		SlurmctldTimeout=300
		SlurmdTimeout=180
		UnkillableStepTimeout=180
		BatchStartTimeout=180
		MessageTimeout=60
		KillWait=2
		EnforcePartLimits=ALL
		SchedulerType=sched/backfill
		ProctrackType=proctrack/linuxproc
		SlurmdParameters=config_overrides
		MpiDefault=none
		ReturnToService=1
		TaskPlugin=task/none
		GresTypes=gpu
		SelectType=select/cons_tres
		include slurm_parallelcluster.conf
		include pcluster/custom_slurm_settings_include_file_slurm.conf
	END
	[[ ${ONESPINE_TEST_SLURM:-22.05} == 22.05 ]] || echo CgroupPlugin=disabled >"$PC/etc/cgroup.conf"
}

write_programs() {
	local node number=1
	for node in "$STATIC" gpu-dy-gpu-g38xlarge-{1..4} gpu-dy-gpu-p3dn24xlarge-{1..10} \
		efa-st-efa-c5n-1 efa-dy-efa-c5n-{1..4}; do
		printf '%s.%d %s\n' "$NETWORK" $((number++)) "$node"
	done >"$PC/addresses"
	cat >"$PC/bin/start-node" <<-END
		#!/bin/bash
		# starts a node's slurmd, and tells Slurm its address, as slurm_resume does
		address=\$(awk -v node="\$1" '\$2 == node { print \$1 }' $PC/addresses)
		export SLURM_CONF=$SLURM_CONF
		scontrol update NodeName="\$1" NodeAddr="\$address" NodeHostname="\$1"
		# it listens on the address of its host's name
		exec setsid unshare --uts --net $PC/bin/boot-node "\$1" "\$address" </dev/null >>$PC/log/slurmd.out 2>&1
	END
	cat >"$PC/bin/boot-node" <<-END
		#!/bin/bash
		# boot-node NAME ADDRESS: in a host and a network of its own, which end with its last process
		set -e
		readlink /proc/self/ns/net >>$PC/networks
		PATH=\$PATH:/usr/sbin link=$BRIDGE.\${2##*.}
		hostname "\$1"
		ip link set lo up
		ip link add eth0 type veth peer name "\$link" netns \$(<$PC/holder)
		ip address add "\$2/24" dev eth0
		ip link set eth0 up
		nsenter --net --target \$(<$PC/holder) ip link set "\$link" master $BRIDGE up
		exec slurmd -b -N "\$1"
	END
	cat >"$PC/bin/resume" <<-END
		#!/bin/bash
		export SLURM_CONF=$SLURM_CONF
		# Slurm takes a node for started when it was booted after the request, in whole seconds
		asked=\$EPOCHSECONDS
		until ((EPOCHSECONDS > asked + 1)); do sleep 0.1; done
		for node in \$(scontrol show hostnames "\$1"); do $PC/bin/start-node "\$node"; done
	END
	printf '#!/bin/bash\n' >"$PC/bin/suspend"
	# each file of the folder, last name first, the first failure ends it; each node has a healthy fake /, and what its file
	# of faults says
	for node in prolog epilog; do
		cat >"$PC/bin/$node" <<-END
			#!/bin/bash
			export ONESPINE_TEST_ROOT=$PC/nodes/\$SLURMD_NODENAME LD_LIBRARY_PATH=$PC/fakes
			export LD_PRELOAD=$PC/fakes/libsystem.so
			[[ ! -e $PC/faults/\$SLURMD_NODENAME ]] || . "$PC/faults/\$SLURMD_NODENAME"
			for script in \$(ls -r $PC/etc/scripts/$node.d/* 2>/dev/null); do
				"\$script" || exit
			done
		END
	done
	cat >"$PC/etc/scripts/prolog.d/90_pcluster" <<-END
		#!/bin/bash
		echo "\$SLURM_JOB_ID \$SLURMD_NODENAME" >>$PC/log/prolog
	END
	chmod 755 "$PC"/bin/* "$PC"/etc/scripts/*/*
}

# write_nodes: what the gate looks at on each node, as tools/lib/gate.sh makes it
write_nodes() {
	local fakes=${ONESPINE_FAKES:-} node log=$ONESPINE_PREFIX/var/log/onespine/gate.log
	if [[ -z $fakes ]]; then
		fakes=$(
			# shellcheck source=/dev/null
			. "$ONESPINE_TOOLS/lib/common.sh" && . "$ONESPINE_TOOLS/lib/build.sh" &&
				build_folder "${ONESPINE_TEST_SLURM:-$(installed_release)}"
		)/tests/fake/.libs
	fi
	mkdir -p "$PC/fakes" "$PC/nodes"
	cp "$fakes/libnvml.so" "$PC/fakes/libnvidia-ml.so.1"
	cp "$fakes/libsystem.so" "$PC/fakes/"
	"$ONESPINE_TOOLS/../tests/fake/node" "$PC/nodes/healthy"
	mkdir -p "$PC/nodes/healthy${log%/*}" "$PC/nodes/healthy$ONESPINE_PREFIX/var/lib"
	local number=0
	while read -r _ node; do
		cp -a "$PC/nodes/healthy" "$PC/nodes/$node"
		# the instance that it is, as start_ec2 has it
		printf 'i-%017d\n' $((++number)) >"$PC/nodes/$node/sys/devices/virtual/dmi/id/board_asset_tag"
	done <"$PC/addresses"
}

# --- the machine ----------------------------------------------------------------------------------

# start_holder: a mount namespace, of another release in its root, where the nodes' names are known
start_holder() {
	local name release=${ONESPINE_TEST_SLURM:-} enter=(unshare --mount)
	(cat /etc/hosts "$PC/addresses") >"$PC/hosts"
	[[ -z $release || $(slurmd -V) == *" $release."* ]] || enter=("$ONESPINE_TOOLS/root" "$release")
	# shellcheck disable=SC2016
	"${enter[@]}" sh -c 'mount --bind "$1/hosts" /etc/hosts && echo $$ >"$1/holder" && exec sleep infinity' \
		sh "$PC" 3>&- &
	await 60 test -s "$PC/holder"
	for name in /usr/bin/{sbatch,salloc,srun,squeue,sinfo,scontrol,scancel} "$ONESPINE"; do
		printf '#!/bin/bash\nexec nsenter --mount --root --wdns=/ -t %s %s "$@"\n' "$(<"$PC/holder")" \
			"$name" >"$PC/bin/${name##*/}"
		chmod 755 "$PC/bin/${name##*/}"
	done
}

# lay_bridge: the network that joins the nodes, in 198.18.0.0/15, which is kept for tests
lay_bridge() {
	ip address add "$NETWORK.254/24" dev "$BRIDGE"
	ip link set "$BRIDGE" up
}

in_cluster() {
	nsenter --mount --root --wdns=/ -t "$(<"$PC/holder")" "$@" 3>&-
}

start_munge() {
	(umask 077 && head -c 128 /dev/urandom >"$PC/munge/key")
	munged --force --key-file="$PC/munge/key" --socket="$PC/munge/socket" --pid-file="$PC/munge/pid" \
		--log-file="$PC/munge/log" --seed-file="$PC/munge/seed" 3>&-
	await 10 test -S "$PC/munge/socket"
}

pings() {
	in_cluster scontrol ping | grep -q 'is UP'
}

# restart_ctld: as systemctl restart slurmctld does
restart_ctld() {
	local pid
	pid=$(<"$PC/run/slurmctld.pid")
	kill "$pid"
	await 20 test ! -d "/proc/$pid"
	in_cluster slurmctld -f "$SLURM_CONF"
	await 20 pings
}

# --- EC2 ------------------------------------------------------------------------------------------

# with_ec2 COMMAND...: on the head node, with the environment that leads to that EC2
with_ec2() {
	in_cluster env AWS_ENDPOINT_URL_EC2="http://127.0.0.1:$(<"$PC/ec2/port")" AWS_REGION=us-west-2 \
		AWS_ACCESS_KEY_ID=AKID AWS_SECRET_ACCESS_KEY=secret AWS_EC2_METADATA_DISABLED=true "$@"
}

# pc_spines JOB: the spines of its nodes, one a line
pc_spines() {
	ONESPINE_TEST_TOPOLOGY=$PC/etc/onespine.topology job_domains "$1" spine
}

# prolog_ran JOB: ParallelCluster's own file of prolog.d ran for it
prolog_ran() {
	grep -q "^$1 " "$PC/log/prolog"
}
