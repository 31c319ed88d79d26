#!/usr/bin/env bats
# core_components.bats - components of one heterogeneous job that may run in several partitions
bats_require_minimum_version 1.5.0

load helpers
load promise_helpers

# The left spine has two nodes of partition one and all of two, the right one four of one.
setup_file() {
	lay_fabric 1-6 7-12 >"$BATS_FILE_TMPDIR/onespine.topology"
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-'POLICY'
		partitions:
		  one: {gang: always, allow_off: false, from_nodes: 4}
		  two: {gang: always, allow_off: false, from_nodes: 4}
		  three: {gang: always, allow_off: false, from_nodes: 4}
	POLICY
	cluster_start --nodes 12 --topology "$BATS_FILE_TMPDIR/onespine.topology" \
		--config "$BATS_FILE_TMPDIR/onespine.yaml" \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1 \
		--partition 'cpu Nodes=ALL Default=YES' --partition 'one Nodes=n[1-2],n[7-10]' \
		--partition 'two Nodes=n[3-6]' --partition 'three Nodes=n[1-2],n[7-8]'
}

# Backfill plans both in either partition, last in two, on the left spine, and starts them in one. There the left spine
# has room for one component alone.
@test "components of partitions with other nodes start where both have room, and are not put back" {
	local job cpus
	cpus=$(scontrol -o show node n1 | sed -n 's/.* CPUTot=\([0-9]*\).*/\1/p')
	job=$(sbatch --parsable -o /dev/null --wrap 'exec sleep 600' -p one,two "-n$((2 * cpus))" : -p one,two "-n$((2 * cpus))")
	await_job "$job+0" RUNNING 60
	await_job "$job+1" RUNNING 60
	equal "$( (job_domains "$job+0" spine && job_domains "$job+1" spine) | sort -u | wc -l)" 1 spines
}

# in_one_spine JOB: both components run, and those of one partition on one spine
in_one_spine() {
	local of0 of1
	of0="$(job_field "$1+0" Partition) $(job_domains "$1+0" spine)"
	of1="$(job_field "$1+1" Partition) $(job_domains "$1+1" spine)"
	[[ ${of0% *} != "${of1% *}" || $of0 == "$of1" ]] || {
		echo "two spines of one partition: $of0, $of1"
		return 1
	}
}

# Each spine has room for one of them in three, the left one for both in two.
@test "components that each fit alone in the first partition of their list, but not both, start nevertheless" {
	local job cpus first
	cpus=$(scontrol -o show node n1 | sed -n 's/.* CPUTot=\([0-9]*\).*/\1/p')
	for first in three,two two,three; do
		job=$(sbatch --parsable -o /dev/null --wrap 'exec sleep 600' -p "$first" "-n$((2 * cpus))" : -p "$first" "-n$((2 * cpus))")
		await_job "$job+0" RUNNING 60
		await_job "$job+1" RUNNING 60
		in_one_spine "$job"
		free_all
	done
}

@test "a component that may run elsewhere does not keep one that may not from its partition" {
	local job cpus
	cpus=$(scontrol -o show node n1 | sed -n 's/.* CPUTot=\([0-9]*\).*/\1/p')
	job=$(sbatch --parsable -o /dev/null --wrap 'exec sleep 600' -p three "-n$((2 * cpus))" : -p three,two "-n$((2 * cpus))")
	await_job "$job+0" RUNNING 60
	await_job "$job+1" RUNNING 60
	in_one_spine "$job"
}

# why_says JOB WORDS: `onespine why` says so
why_says() {
	[[ $(onespine why "$1") == *"$2"* ]]
}

# No spine has four nodes of three, so the two never start.
@test "why says of each component that waits what all of them wait for" {
	local job cpus
	cpus=$(scontrol -o show node n1 | sed -n 's/.* CPUTot=\([0-9]*\).*/\1/p')
	job=$(sbatch --parsable -o /dev/null --wrap 'exec sleep 600' -p three "-n$((2 * cpus))" : -p three "-n$((2 * cpus))")
	await 60 why_says "$job+0" 'the 2 components in partition three are held to one spine together, and no spine has room for all of them now'
	await 60 why_says "$job+1" 'the 2 components in partition three are held to one spine together, and no spine has room for all of them now'
	! why_says "$job+0" 'Onespine has no part' || fail "it says so"
	! why_says "$job+1" 'Onespine has no part' || fail "it says so"
}
