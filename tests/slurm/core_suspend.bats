#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_suspend.bats - PreemptMode=SUSPEND,GANG: a gang starts over the cores of jobs that Slurm suspends for it
#
# select/cons_tres lays a job of a higher partition over those of a lower one without a word of preemption
# (_job_test(), steps 2 to 4); they are suspended when it has started.

load helpers

setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 2 2
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" \
		--conf PreemptType=preempt/partition_prio --conf PreemptMode=SUSPEND,GANG \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1 \
		--partition 'low Nodes=ALL Default=YES PriorityTier=1 PreemptMode=SUSPEND OverSubscribe=FORCE:1' \
		--partition 'beside Nodes=ALL PriorityTier=10 PreemptMode=SUSPEND OverSubscribe=FORCE:1' \
		--partition 'high Nodes=ALL PriorityTier=10 PreemptMode=OFF OverSubscribe=FORCE:1'
}

# fill_cores PARTITION HOSTLIST: a job on all cores of each node; job_on[NODE] is its number
fill_cores() {
	fill "$1" "$2" -n8 --time=60
}

cores_of() {
	scontrol -d show job "$1" | sed -n 's/.* CPU_IDs=\([^ ]*\).*/\1/p'
}

# has_started JOB: it runs or takes turns, as a job without a gang would
has_started() {
	[[ $(job_state "$1") =~ ^(RUNNING|SUSPENDED)$ ]]
}

has_reason() {
	[[ $(job_reason "$1") == "$2" ]]
}

@test "a gang starts on one spine whose jobs are suspended for it, and the other spine's run on" {
	fill_cores low 'n[1-8]'
	gang=$(submit -p high --gang -N4 --ntasks-per-node=8 --time=10 -x n1)
	await_job "$gang" RUNNING
	equal "$(job_spines "$gang")" s2
	await_job "${job_on[n5]}" SUSPENDED
	still_running 'n[1-4]'
}

@test "a spine with free nodes enough is taken before anybody is suspended" {
	fill_cores low 'n[1-4]'
	gang=$(submit -p high --gang -N4 --ntasks-per-node=8 --time=10)
	await_job "$gang" RUNNING
	equal "$(job_spines "$gang")" s2
	stays 3 still_running 'n[1-4]'
}

@test "backfill starts a gang over jobs that are suspended for it, as it does for a job confined to their spine" {
	fill_cores high n1
	fill_cores low 'n[2-8]'
	# the main scheduler stops at this one
	blocker=$(submit -p high -N8 --ntasks-per-node=8 --time=60)
	await 20 has_reason "$blocker" Resources
	gang=$(submit -p high --gang -N4 --ntasks-per-node=8 --time=5)
	await_job "$gang" RUNNING
	equal "$(job_spines "$gang")" s2
	still_running 'n[2-4]'
	equal "$(job_state "$blocker")" PENDING
}

@test "a gang takes turns with jobs of another partition of its tier, as the same job without a gang does" {
	fill_cores beside 'n[1-8]'
	plain=$(submit -p high -N2 --ntasks-per-node=8 -x 'n[5-8]' --time=10)
	await_job "$plain" RUNNING
	scancel "$plain"
	gang=$(submit -p high --gang -N4 --ntasks-per-node=8 --time=10 -x n1)
	await_job "$gang" RUNNING
	equal "$(job_spines "$gang")" s2
}

@test "cores on which a job lies over another count once, so a gang starts beside both" {
	local below gone cores
	fill low 'n[1-8]' -n4 --time=60
	below=${job_on[n1]}
	fill low 'n[1-8]' -n4 --time=60
	gone=("${job_on[@]}")
	fill high 'n[1-8]' -n4 --time=60
	cores=$(cores_of "$below")
	[[ -n $cores ]] || fail "scontrol names no cores of job $below"
	equal "$(job_field "${job_on[n1]}" JobState) $(cores_of "${job_on[n1]}")" "RUNNING $cores"
	scancel "${gone[@]}"
	await 30 none_completing
	gang=$(submit -p low --gang -N2 --ntasks-per-node=4 --time=10)
	await 30 has_started "$gang"
}

@test "a gang that may lie over others waits for what it may not lie over, and says so" {
	local gang
	fill_cores high 'n[1,5]'
	fill_cores low 'n[2-4,6-8]'
	gang=$(submit -p high --gang -N4 --ntasks-per-node=8 --time=10)
	await 20 has_reason "$gang" Resources
	await 20 shows 'nearest: s1 has 3 free of 4 (1 short)' job_field "$gang" AdminComment
	still_running 'n[1-8]'
}

@test "segments start over jobs that are suspended for them, on the nodes chosen alone" {
	fill_cores low 'n[1-8]'
	gang=$(submit -p high --gang-domains=2 --gang-segment=leaf:2 -N6 --ntasks-per-node=8 --time=10 -x n1)
	await_job "$gang" RUNNING
	equal "$(job_nodes "$gang" | paste -sd' ')" 'n3 n4 n5 n6 n7 n8'
	await_job "${job_on[n3]}" SUSPENDED
	await_job "${job_on[n8]}" SUSPENDED
	still_running 'n[1-2]'
}
