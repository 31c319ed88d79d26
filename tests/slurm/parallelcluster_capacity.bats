#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# parallelcluster_capacity.bats - gangs on dynamic nodes of which EC2 has too few, or that do not boot

load helpers
load launch_helpers
load parallelcluster_helpers
load parallelcluster_launch_helpers
bats_require_minimum_version 1.5.0

# disabled NODE CODE: clustermgtd keeps the compute resource from being asked for
disabled() {
	[[ $(scontrol -o show node "$1") == *"Reason=(Code:$2)Temporarily disabling node due to insufficient capacity"* ]]
}

# disables CODE: it does so with the nodes that nobody has asked for
disables() {
	scontrol -o show node "$P3-[1-10]" | grep -qF "Reason=(Code:$1)Temporarily disabling node due to insufficient capacity"
}

@test "all-or-nothing without capacity: no instance, the gang waits with EC2's code, and starts when there is capacity again" {
	all_or_nothing 3
	job=$(gang 4)
	await 60 grep -q "^all-or-nothing 3: $P3-" "$PC/log/resume"
	await_job "$job" PENDING 60
	await 30 disables InsufficientInstanceCapacity
	equal "$(find "$PC/instances" -name "$P3-*" | wc -l)" 0 'instances'
	run -0 onespine why "$job"
	holds "$output" 'InsufficientInstanceCapacity'
	# that was no launch in vain: nothing has run
	[[ $(job_field "$job" AdminComment) != *'in vain'* ]] || fail "$(job_field "$job" AdminComment)"
	all_or_nothing 10
	enable_again
	await 60 all_free
	begin_soon "$job"
	await_job "$job" RUNNING 180
	keeps_nothing
	scancel "$job"
}

@test "best effort with three of four: they run and wait for the fourth, clustermgtd leaves them, and the gang starts with them" {
	best_effort 3
	job=$(gang 4)
	await 60 grep -q "^best-effort 3: $P3-" "$PC/log/resume"
	await_job "$job" PENDING 60
	await 30 disabled "$P3-9" InsufficientInstanceCapacity
	await 60 nodes_run "$P3-1" "$P3-2" "$P3-3"
	: >"$PC/log/clustermgtd"
	best_effort 10
	enable_again
	await 60 is_free "$P3-9"
	begin_soon "$job"
	await_job "$job" RUNNING 180
	equal "$(numbers "$job" | cut -d' ' -f1-3)" '1 2 3'
	run ! clustermgtd_said "ended $P3-[123] "
	await 30 note_holds "$job" 'domain=nn-a'
	scancel "$job"
}

@test "bootstraps that fail: after ten the queue is INACTIVE (protected mode); the gang waits, why tells it, and it starts when the fleet does" {
	echo no >"$PC/boots"
	rm -f "$PC"/instances/.failures.*
	job=$(gang 5)
	await 240 clustermgtd_said '^protected gpu$'
	await 10 shows ' State=INACTIVE ' scontrol -o show partition gpu
	await_job "$job" PENDING 60
	# Slurm takes that, and calls it an error
	scontrol update "JobId=$job" StartTime=now 2>/dev/null || true
	await 30 shows 'is not active' onespine why "$job"
	keeps_nothing
	# pcluster update-compute-fleet --status START_REQUESTED
	echo yes >"$PC/boots"
	all_or_nothing 10
	rm -f "$PC"/instances/.failures.*
	echo i-0static >"$PC/instances/$STATIC"
	scontrol update PartitionName=gpu State=UP
	await_job "$job" RUNNING 180
	scancel "$job"
}
