#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# parallelcluster.bats - ParallelCluster's generated files: its names, weights, cloud nodes, includes,
# prolog.d, its custom action and the topology from a fake EC2

# shellcheck disable=SC2154 # said is set by answers

load helpers
load parallelcluster_helpers

setup_file() {
	pc_begins
}

teardown_file() {
	pc_ends
}

teardown() {
	[[ -n ${BATS_TEST_COMPLETED:-} ]] || tail -n 25 "$PC"/log/* 2>/dev/null || true
}

setup() {
	pings || fail "slurmctld is gone"
}


# --- EC2 ------------------------------------------------------------------------------------------

# start_ec2: EC2 as it answers for these nodes. Each one's instance is i-N, N its number in the list of addresses;
# spine A has 1, 2, 3 and 6 to 10, spine B the rest; leaves of two.
start_ec2() {
	mkdir "$PC/ec2"
	awk '/gpu/ {
		spine = NR <= 3 || (NR >= 6 && NR <= 10) ? "a" : "b"
		leaf = int((NR + (spine == "a")) / 2)
		printf "%s{\"id\": \"i-%017d\", \"ip\": \"%s\", \"type\": \"p5.48xlarge\", \"zone\": \"us-west-2b\", ", comma, NR, $1
		printf "\"zone_id\": \"usw2-az1\", \"nodes\": [\"nn-top\", \"nn-%s\", \"nn-%s%d\"]}", spine, spine, leaf
		comma = ", "
	}' "$PC/addresses" | sed '1s/^/{"keys": {"AKID": "secret"}, "instances": [/; $s/$/]}/' >"$PC/ec2/state.json"
	"$ONESPINE_TOOLS/../tests/fake/ec2" "$PC/ec2" 3>&- &
	echo $! >"$PC/run/ec2.pid"
	await 10 test -e "$PC/ec2/port"
}

gangs_are_placed() {
	sbatch --test-only -p gpu --gang -N1 --wrap true
}

@test "the custom action sets the head node up, from a tarball, and a second run changes nothing" {
	local action=$ONESPINE_TOOLS/../etc/parallelcluster/onespine-node
	tar -C "$ONESPINE_PREFIX" -cf "$BATS_FILE_TMPDIR/onespine.tar" .
	start_ec2
	answers 0 with_ec2 env ONESPINE_SLURM="$PC" "$action" head "$BATS_FILE_TMPDIR/onespine.tar"
	holds "$said" 'no node runs, so no place is known: the topology has its levels alone'
	holds "$said" "added to $SLURM_CONF:"
	holds "$said" "wrote $PC/etc/plugstack.conf.d/onespine.conf"
	holds "$said" "wrote $PC/etc/scripts/prolog.d/50_onespine"
	cmp "$PC/onespine/bin/onespine" "$ONESPINE"
	restart_ctld
	answers 0 in_cluster env ONESPINE_SLURM="$PC" "$action" head "$BATS_FILE_TMPDIR/onespine.tar"
	holds "$said" 'nothing to do'
	answers 0 in_cluster env ONESPINE_SLURM="$PC" "$action" node
	answers 2 in_cluster env ONESPINE_SLURM="$PC" "$action"
}

@test "a static node runs; the others get their place in the fabric as they start" {
	in_cluster "$PC/bin/start-node" "$STATIC"
	await 30 node_is "$STATIC" idle
	for node in gpu-dy-gpu-g38xlarge-{1..4} gpu-dy-gpu-p3dn24xlarge-{1..2}; do
		scontrol update NodeName="$node" NodeAddr="$(awk -v node="$node" '$2 == node { print $1 }' "$PC/addresses")"
	done
	answers 0 with_ec2 "$ONESPINE" topology discover --from ec2 -o "$PC/etc/onespine.topology"
	onespine topology show | grep -q "$STATIC"
	# all of them now: the addresses that Slurm has for the rest are their names
	awk '/gpu/ { printf "i-%017d %s\n", NR, $2 }' "$PC/addresses" >"$PC/map"
	answers 0 with_ec2 "$ONESPINE" topology discover --from ec2 --nodes "$PC/map" -o "$PC/etc/onespine.topology"
	await 20 gangs_are_placed # slurmctld takes the file by itself
	answers 0 onespine doctor
	holds "$said" 'takes gangs'
	holds "$said" 'warning: 5 of 20 nodes of slurm.conf are not in the topology, and no gang gets them: efa-dy-efa-c5n-[1-4],efa-st-efa-c5n-1'
}

@test "the static node, weight 1, goes first; gangs wake their nodes on one spine, of one type" {
	job=$(submit -p gpu --gang -N1 --gpus-per-node=m60:2 --exclusive)
	await_job "$job" RUNNING 60
	equal "$(job_nodes "$job")" "$STATIC"
	# two of this type are left on each spine; of the other five
	small=$(submit -p gpu --gang -N2 --gpus-per-node=m60:2 --exclusive)
	large=$(submit -p gpu --gang -N5 --gpus-per-node=v100:8 --exclusive)
	await_job "$small" RUNNING 120
	await_job "$large" RUNNING 120
	equal "$(pc_spines "$small" | wc -l)" 1
	equal "$(pc_spines "$large" | wc -l)" 1
	equal "$(job_nodes "$small" | grep -c 'gpu-dy-gpu-g38xlarge')" 2
	equal "$(job_nodes "$large" | grep -c 'gpu-dy-gpu-p3dn24xlarge')" 5
	# its own file of prolog.d, and ours beside it: every node was proven before the script started
	await 10 prolog_ran "$large"
	for node in $(job_nodes "$large"); do
		await 10 shows "job $large: PASS" cat "$PC/nodes/$node$ONESPINE_PREFIX/var/log/onespine/gate.log"
	done
	scancel "$job" "$small" "$large"
	# a slurmctld that begins anew meanwhile asks the nodes later to end them
	await 60 no_jobs
	holds "$(submit_refused -p gpu --gang -N12)" 'spine'
}

@test "--undo leaves ParallelCluster's files as they were" {
	answers 0 onespine setup --head --undo
	if grep -rq onespine "$PC/etc" --include='*.conf'; then
		fail "$(grep -r onespine "$PC/etc" --include='*.conf')"
	fi
	[[ ! -e $PC/etc/plugstack.conf.d/onespine.conf && ! -e $PC/etc/scripts/prolog.d/50_onespine ]]
	restart_ctld
	run sbatch -p gpu --gang -N2 --wrap true
	((status))
}
