#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_slurm_topology_backup.bats - Slurm's own Topology= below a switch of topology.yaml, and over a takeover by the backup
#
# Tests build on each other. Both hosts have a watch, as the administrator's guide says.

load helpers
load backup_helpers
load slurm_topology_helpers
bats_require_minimum_version 1.5.0

setup_file() {
	slurm_at_least 25.05 || return 0 # setup() skips each test
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 1 3
	cat >"$BATS_FILE_TMPDIR/topology.yaml" <<-'END'
		- topology: gpus
		  cluster_default: true
		  tree:
		    switches:
		      - switch: fabric
	END
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --topology "$BATS_FILE_TMPDIR/topology.yaml" \
		--conf SlurmctldTimeout=10 --conf CommunicationParameters=NoCtldInAddrAny
	add_backup_line
	printf '%s\n' 'topology: state/onespine.topology' 'watch: {max_moved: 100, max_lost: 100, slurm_topology: "gpus:fabric"}' \
		>"$ONESPINE_CLUSTER/onespine.yaml"
	mv "$ONESPINE_CLUSTER/onespine.topology" "$ONESPINE_CLUSTER/state/"
	fabric
	restart
	scontrol reconfigure # every slurmd learns of the backup
	start_backup
	await 20 pings 'backup.* is UP'
	chmod 755 "$BATS_FILE_TMPDIR"
}

# A slurmctld that ends reports its backup, and waits for one that is gone.
teardown_file() {
	local status=0
	slurm_at_least 25.05 || return 0
	end_file || status=1
	stop_others
	return $status
}

setup() {
	slurm_at_least 25.05 || skip "Slurm has Topology= of a node from 25.05 on"
}

teardown() {
	[[ -n ${BATS_TEST_COMPLETED-} ]] || cat "$BATS_FILE_TMPDIR"/{first,second,backup}.log || true
}

# watch_begins NAME HOST: the watch on a controller's host
watch_begins() {
	# shellcheck disable=SC2016
	started "$1" unshare --uts sh -c 'hostname "$1" && shift && exec "$@"' sh "$2" \
		"${ONESPINE_PREFIX:?}/bin/onespine" topology watch --from="topograph:$ONESPINE_CLUSTER/told.conf" --interval=1
}

# last_says NAME PATTERN: its last line
last_says() {
	tail -n 1 "$BATS_FILE_TMPDIR/$1.log" | grep -qE -- "$2"
}

# in_switch NODE SWITCH: Slurm's tree has it there
in_switch() {
	local nodes
	nodes=$(scontrol show topology | sed -n "s/.*SwitchName=$2 .* Nodes=\([^ ]*\).*/\1/p")
	hostnames "$nodes" | grep -qx "$1"
}

# one_leaf NODES: a job that asks Slurm's tree and a gang that asks ours both find these, of one leaf
one_leaf() {
	local options job
	# slurmctld has taken the new places, and kept a copy
	await 20 grep -qF "\"$1\"" "$ONESPINE_CLUSTER/state/onespine_topology"
	for options in --switches=1 --gang=leaf; do
		job=$(submit "$options" -N"$(hostnames "$1" | wc -l)" --exclusive)
		await_job "$job" RUNNING
		equal "$(job_nodes "$job" | paste -sd' ')" "$(hostnames "$1" | paste -sd' ')" "$options"
		scancel "$job"
		await 20 job_is "$job" CANCELLED
	done
}

@test "topology.yaml: nodes have their paths below a switch of the topology that is named" {
	watch_begins first "$(hostname -s)"
	watch_begins second onespine-backup
	await 20 slurm_has n1 gpus:fabric:s1:l1
	await 20 slurm_has n6 gpus:fabric:s2:l2
	in_switch n1 l1
	in_switch n6 s2
	in_switch n6 fabric
	fabric 'n[1-2]' 'n[3-6]'
	await 20 slurm_has n3 gpus:fabric:s2:l2
	one_leaf 'n[3-6]'
	equal "$(<"$BATS_FILE_TMPDIR/second.log")" "stands by: slurmctld runs on $(hostname -s)"
}

@test "after a takeover the backup has the paths, and its watch keeps them" {
	job=$(submit -w n1)
	await_saved "$job"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER" -9
	scontrol takeover 1
	await 30 last_says second "^(applied|unchanged|Slurm's Topology= )"
	await 30 slurm_has n3 gpus:fabric:s2:l2
	in_switch n3 l2
	scancel "$job"
	await 20 job_is "$job" CANCELLED
	one_leaf 'n[3-6]'
	fabric 'n[1-4]' 'n[5-6]'
	await 20 slurm_has n4 gpus:fabric:s1:l1
	in_switch n4 l1
	one_leaf 'n[1-4]'
}

@test "the primary takes control back with the paths that the backup's watch set" {
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	await 30 last_says second "^stands by: slurmctld runs on $(hostname -s)\$"
	await 30 slurm_has n4 gpus:fabric:s1:l1
	in_switch n4 l1
	one_leaf 'n[1-4]'
	fabric
	await 20 slurm_has n3 gpus:fabric:s1:l1
	await 20 slurm_has n4 gpus:fabric:s2:l2
	in_switch n3 l1
	in_switch n4 l2
	ended first
	ended second
}
