#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_choice.bats - components of heterogeneous jobs that could start at once in two partitions
bats_require_minimum_version 1.5.0

load helpers
load promise_helpers

# Left spine: n1-6, right: n7-12.
setup_file() {
	lay_fabric 1-6 7-12 >"$BATS_FILE_TMPDIR/onespine.topology"
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-'POLICY'
		partitions:
		  one: {gang: always, allow_off: false, from_nodes: 4}
		  two: {gang: always, allow_off: false, from_nodes: 4}
		  few: {gang: always, allow_off: false, from_nodes: 4}
		  more: {gang: always, allow_off: false, from_nodes: 4}
	POLICY
	cluster_start --nodes 12 --topology "$BATS_FILE_TMPDIR/onespine.topology" \
		--config "$BATS_FILE_TMPDIR/onespine.yaml" \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1 \
		--partition 'cpu Nodes=ALL Default=YES' --partition 'one Nodes=n[1-4]' \
		--partition 'two Nodes=n[5-10]' --partition 'few Nodes=n[1-2]' --partition 'more Nodes=n[5-8]'
}

setup() {
	begin_test
	cpus=$(scontrol -o show node n1 | sed -n 's/.* CPUTot=\([0-9]*\).*/\1/p')
}

# het PARTITIONS PARTITIONS SBATCH-OPTION...: two components
het() {
	sbatch --parsable -t 10 -o /dev/null --wrap 'exec sleep 600' -p "$1" "${@:3}" : -t 10 -p "$2" "${@:3}"
}

both_start() {
	await_job "$1+0" RUNNING 60
	await_job "$1+1" RUNNING 60
}

@test "components start in two partitions of which each has room for one beside a job, and for both in an hour" {
	await_job "$(sbatch --parsable -p cpu -t 60 -w 'n[3-4],n[9-10]' -N4 --exclusive -o /dev/null --wrap 'exec sleep 600')" RUNNING 30
	both_start "$(het one,two one,two "-n$((2 * cpus))")"
}

# Backfill plans the second one behind the first in the one partition, and at once in the other.
@test "components start where one partition has room for one of them, and the other for one on each spine" {
	both_start "$(het few,more few,more "-n$((2 * cpus))")"
}

@test "components whose sizes are said, with lists of the same partitions in another order, start" {
	both_start "$(het few,more more,few -N2 --exclusive)"
}

@test "a component of one partition starts beside one of two, whose sizes are said" {
	local job
	job=$(sbatch --parsable -o /dev/null --wrap 'exec sleep 600' -p two,more -N2 --exclusive : -p two -N2 --exclusive)
	both_start "$job"
}

@test "components that are moved into one partition, the second first, are refused there if they are a gang together" {
	local job
	job=$(het cpu cpu --hold -N2 --exclusive)
	scontrol update "JobId=$job+1" Partition=two
	run --separate-stderr scontrol update "JobId=$job+0" Partition=two
	((status))
	equal "$(job_field "$job+0" Partition)" cpu
}

@test "a component that is made larger is refused where they are a gang together, and a range of nodes starts" {
	local job nodes
	job=$(het two two --hold -N1 --exclusive)
	# scontrol takes no 7+1 with NumNodes
	run --separate-stderr scontrol update "JobId=$((job + 1))" NumNodes=3
	((status))
	[[ $(job_field "$job+1" NumNodes) =~ ^1(-1)?$ ]]
	scontrol update "JobId=$((job + 1))" NumNodes=1-3
	scontrol release "$job"
	both_start "$job"
	nodes=$(job_field "$job+0" NodeList),$(job_field "$job+1" NodeList)
	# from 4 nodes on they would be a gang
	(($(scontrol show hostnames "$nodes" | wc -l) < 4)) || equal "$(spines_of "$nodes" | wc -w)" 1
}

@test "components of one partition whose nodes are a gang together are refused" {
	run --separate-stderr het two two -N2 --exclusive
	((status))
	holds "$stderr" 'a heterogeneous job cannot be one gang'
	scancel "$(het two more -N2 --exclusive)"
}
