#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_slurm_topology.bats - the watch keeps Slurm's own Topology= of the nodes as onespine.topology has it

load helpers
load backup_helpers
load slurm_topology_helpers
bats_require_minimum_version 1.5.0

setup_file() {
	slurm_at_least 25.05 || return 0 # setup() skips each test
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 1 3
	echo 'SwitchName=fabric' >"$BATS_FILE_TMPDIR/topology.conf"
	printf 'watch: {max_moved: 100, max_lost: 100, slurm_topology: "default:fabric"}\n' >"$BATS_FILE_TMPDIR/onespine.yaml"
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --topology "$BATS_FILE_TMPDIR/topology.conf" \
		--config "$BATS_FILE_TMPDIR/onespine.yaml"
	fabric
}

setup() {
	slurm_at_least 25.05 || skip "Slurm has Topology= of a node from 25.05 on"
	cluster check --dir "$ONESPINE_CLUSTER"
	untraced free_all
}

teardown() {
	slurm_at_least 25.05 || return 0
	[[ -n ${BATS_TEST_COMPLETED-} ]] || cat "$BATS_FILE_TMPDIR/watch.log"
	[[ ! -s $BATS_FILE_TMPDIR/watch.started ]] || ended watch
	end_test
}

watch_begins() {
	started watch "${ONESPINE_PREFIX:?}/bin/onespine" topology watch --from="topograph:$ONESPINE_CLUSTER/told.conf" \
		--interval=1
}

journal_has() {
	grep -q -- "$1" "$BATS_FILE_TMPDIR/watch.log"
}

journal_since() {
	tail -n "+$(($1 + 1))" "$BATS_FILE_TMPDIR/watch.log" | grep -q -- "$2"
}

in_switch() {
	local nodes
	nodes=$(scontrol show topology | sed -n "s/.*SwitchName=$2 .* Nodes=\([^ ]*\).*/\1/p")
	hostnames "$nodes" | grep -qx "$1"
}

@test "nodes have the path that the fabric has; one that moves has another, and other nodes keep theirs" {
	watch_begins
	await 20 slurm_has n1 default:fabric:s1:l1
	await 20 slurm_has n6 default:fabric:s2:l2
	journal_has "^Slurm's Topology= of 6 nodes changed"
	in_switch n1 l1
	in_switch n1 s1
	in_switch n1 fabric
	fabric 'n[1-2]' 'n[3-6]'
	await 20 slurm_has n3 default:fabric:s2:l2
	await 10 journal_has "^Slurm's Topology= of 1 node changed"
	in_switch n3 l2
	in_switch n2 l1
	run ! in_switch n3 l1
	await 10 grep -qF '"n[3-6]"' "$ONESPINE_CLUSTER/state/onespine_topology"
	# a job asks Slurm's own tree, a gang ours: both find one leaf
	for options in --switches=1 --gang; do
		job=$(submit "$options" -N4 --exclusive)
		await_job "$job" RUNNING
		equal "$(job_nodes "$job" | paste -sd' ')" 'n3 n4 n5 n6'
		scancel "$job"
		await 20 job_is "$job" CANCELLED
	done
}

@test "after a restart of slurmctld, and where somebody else changed one, nodes have their paths again" {
	fabric
	watch_begins
	await 20 slurm_has n3 default:fabric:s1:l1
	cluster kill-ctld --dir "$ONESPINE_CLUSTER" -9
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	await 20 slurm_has n3 default:fabric:s1:l1
	in_switch n3 l1
	before=$(wc -l <"$BATS_FILE_TMPDIR/watch.log")
	scontrol update nodename=n2 topology=default:fabric:elsewhere:x
	await 20 journal_since "$before" "^Slurm's Topology= of 1 node changed"
	await 20 slurm_has n2 default:fabric:s1:l1
	in_switch n2 l1
}

@test "a switch that Slurm does not have is said once, with what was refused; the places are applied all the same" {
	sed -i 's/default:fabric/default:nowhere/' "$ONESPINE_CLUSTER/onespine.yaml"
	fabric 'n[1-2]' 'n[3-6]'
	watch_begins
	await 20 journal_has "^Slurm's Topology=: scontrol update NodeName=n\[1-2\] Topology=default:nowhere:s1:l1: "
	journal_has '^applied'
	slurm_has n1 default:fabric:s1:l1
	in_switch n1 l1
	equal "$(grep -c "^Slurm's Topology=: " "$BATS_FILE_TMPDIR/watch.log")" 1
}
