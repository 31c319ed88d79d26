#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_backfill.bats - gangs in the main scheduler and in backfill, and estimates of their start

load helpers

setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 2 2
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --gres gpu:8 \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=3,bf_interval=1,bf_resolution=1,time_min_as_soft_limit
}

# hold_minutes MINUTES HOSTLIST: as hold, with a time limit; the jobs are named hold-NODE too
hold_minutes() {
	local node
	for node in $(hostnames "$2"); do
		submit --job-name="hold-$node" --nodelist="$node" --nodes=1 --exclusive --time="$1" >/dev/null
	done
	await 30 none_pending hold
}

# starts_in JOB MINUTES: backfill's estimate, within a minute either way; the test may have taken a while until now
starts_in() {
	local start
	start=$(job_field "$1" StartTime)
	[[ $start == 20* ]] || return 1
	start=$((($(date -d "$start" +%s) - $(date +%s) + 30) / 60))
	((start >= $2 - 1 - SECONDS / 60 && start <= $2 + 1))
}

planned_nodes() {
	scontrol show hostnames "$(job_field "$1" SchedNodeList)" | paste -sd' '
}

# A plain job for all 8 nodes in front: the main scheduler stops at it, so only backfill starts
# what comes after.
block_the_main_scheduler() {
	blocker=$(submit -N8 --exclusive --time=60 --job-name=blocker)
	await 20 starts_in "$blocker" "$1"
}

@test "a gang that shares nodes is planned beside jobs that stay, when the others end, and starts then" {
	local node stay=()
	hold_minutes 60 'n[5-8]'
	for node in n{1..4}; do
		stay+=("$(submit --job-name=stay -w "$node" -N1 -n2 --gpus-per-node=2 --time=60)")
		submit --job-name="hold-$node" -w "$node" -N1 -n4 --gpus-per-node=4 --time=10 >/dev/null
	done
	await 30 none_pending hold
	await 30 none_pending stay
	gang=$(submit --gang -N4 --ntasks-per-node=4 --gpus-per-node=4 --time=30 --priority=1000)
	await 20 starts_in "$gang" 10
	equal "$(planned_nodes "$gang")" 'n1 n2 n3 n4'
	# three nodes of four are not enough, nor are four under two spines
	release 'n[1-3],n5'
	stays 3 job_is "$gang" PENDING
	release n4
	await_job "$gang" RUNNING
	equal "$(job_spines "$gang")" s1
	for node in "${stay[@]}"; do
		equal "$(job_state "$node")" RUNNING 'a job that stays'
	done
}

@test "a large gang in front: its start is planned on one spine, small jobs that end in time pass it, others do not delay it" {
	hold_minutes 10 'n[1-3]'
	hold_minutes 5 'n[5-7]'
	hold_minutes 60 n8
	gang=$(submit --gang -N4 --exclusive --time=30 --priority=1000)
	await 20 starts_in "$gang" 10
	equal "$(planned_nodes "$gang")" 'n1 n2 n3 n4'
	long=$(submit -N1 --exclusive --time=30 --priority=100)
	short=$(submit -N1 --exclusive --time=5 --priority=10)
	await_job "$short" RUNNING
	equal "$(job_nodes "$short")" n4
	stays 3 job_is "$long" PENDING
	scancel "$short"
	stays 3 job_is "$long" PENDING
	release 'n[1-3]'
	await_job "$gang" RUNNING
	equal "$(job_spines "$gang")" s1
	equal "$(job_state "$long")" PENDING
}

@test "the estimate waits for one spine, not for any 4 nodes" {
	hold_minutes 5 'n[1-2],n[5-6]'
	hold_minutes 20 'n[3-4]'
	hold_minutes 40 'n[7-8]'
	gang=$(submit --gang -N4 --exclusive --time=30)
	await 20 starts_in "$gang" 20
	equal "$(planned_nodes "$gang")" 'n1 n2 n3 n4'
	stays 3 starts_in "$gang" 20
	two=$(submit --gang -N2 --exclusive --time=30)
	await 20 starts_in "$two" 5
	equal "$(planned_nodes "$two")" 'n5 n6'
}

@test "the spine that the estimate names does not flip while nothing changes" {
	hold_minutes 10 'n[1-8]'
	gang=$(submit --gang -N3 --exclusive --time=30)
	await 20 starts_in "$gang" 10
	nodes=$(planned_nodes "$gang")
	stays 5 planned_still
}

planned_still() {
	equal "$(planned_nodes "$gang")" "$nodes"
}

@test "a gang behind a job that the main scheduler stops at: backfill waits for one spine and starts it there" {
	hold_minutes 60 'n1,n5'
	block_the_main_scheduler 60
	gang=$(submit --gang -N4 --exclusive --time=10)
	stays 4 job_is "$gang" PENDING
	equal "$(job_state "$blocker")" PENDING
	release n1
	await_job "$gang" RUNNING
	equal "$(job_spines "$gang")" s1
	matches "$(job_field "$gang" Scheduler)" '^Backfill'
	await 10 shows 'domain=s1' job_field "$gang" AdminComment
}

@test "many gangs, some started by the main scheduler and some by backfill: none straddles" {
	hold_minutes 60 n8
	block_the_main_scheduler 60
	schedulers=
	start_eight_gangs
	holds "$schedulers" Backfill
	scancel "$blocker"
	# which of both takes a job is a race, so eight more come until the main scheduler has won once
	for ((wave = 0; wave < 8; wave++)); do
		[[ $schedulers != *Main* ]] || break
		start_eight_gangs
	done
	holds "$schedulers" Main
}

# start_eight_gangs: each ends on one spine; $schedulers says who started them
start_eight_gangs() {
	local size job jobs=()
	for size in 3 1 2 4 1 2 3 2; do
		jobs+=("$(submit --gang -N$size --exclusive --time=1 --wrap 'sleep 2')")
	done
	for job in "${jobs[@]}"; do
		await_job "$job" COMPLETED 60
		one_domain "$job"
		schedulers+=" $(job_field "$job" Scheduler)"
	done
}

# one_domain JOB: it ran on one spine
one_domain() {
	matches "$(job_spines "$1")" '^s[12]$'
}

@test "a gang that is due later than the job before it waits for its own spine, though the sum of nodes would do now" {
	hold_minutes 30 'n[1-2]'
	hold_minutes 30 'n[5-6]'
	gang=$(submit --gang -N3 --exclusive --time=20 --priority=1000)
	await 20 starts_in "$gang" 30
	planned=$(planned_nodes "$gang")
	matches "$planned" '^n[1-4]( n[1-4])*$|^n[5-8]( n[5-8])*$'
	# the other spine's free nodes are not part of the plan
	other=$([[ $planned == n[1-4]* ]] && echo 'n7 n8' || echo 'n3 n4')
	long=$(submit -N2 --exclusive --time=120 --priority=10)
	await_job "$long" RUNNING
	equal "$(job_nodes "$long" | paste -sd' ')" "$other"
}

# Four tasks with 5 of a node's 8 GPUs each need 4 nodes, which -N3-4 does not say: s2 without n8 looks good enough
# from its first ends on, and Slurm says no to it after s1 has answered.
@test "a spine that is asked in vain after another has answered leaves that answer's nodes as the plan" {
	hold_minutes 5 'n[1-3]'
	hold_minutes 20 n4
	hold_minutes 10 'n[5-7]'
	scontrol update NodeName=n8 State=DRAIN Reason=test
	gang=$(submit --gang -N3-4 -n4 --gpus-per-task=5 --time=30 --priority=1000)
	await 20 starts_in "$gang" 20
	equal "$(planned_nodes "$gang")" 'n1 n2 n3 n4'
	# what is not in the plan is anybody's
	release n5
	long=$(submit -N1 --exclusive --time=120 --priority=10)
	await_job "$long" RUNNING
	equal "$(job_nodes "$long")" n5
	equal "$(job_state "$gang")" PENDING
}

@test "backfill starts a gang on an idle spine rather than wait for nodes that a reservation keeps for a while" {
	hold_minutes 60 'n[3-4]'
	scontrol create reservation ReservationName=short StartTime=now Duration=3 Nodes='n[1-2]' Users=root
	block_the_main_scheduler 60
	gang=$(submit --gang -N2 --exclusive --time=5)
	await_job "$gang" RUNNING
	equal "$(job_spines "$gang")" s2
	matches "$(job_field "$gang" Scheduler)" '^Backfill'
	# with no idle spine its end is what the gang waits for
	second=$(submit --gang -N3 --exclusive --time=5 -x n5)
	await 20 starts_in "$second" 5
	third=$(submit --gang -N2 --exclusive --time=5 -x 'n[5-8]')
	await 20 starts_in "$third" 3
	equal "$(planned_nodes "$third")" 'n1 n2'
}

@test "sbatch --test-only names one spine's nodes and the right time" {
	hold_minutes 20 n1
	hold_minutes 30 n5
	said=$(sbatch --test-only --gang -N4 --exclusive --time=5 --wrap true 2>&1)
	matches "$said" 'to start at ([^ ]+) '
	minutes=$((($(date -d "${BASH_REMATCH[1]}" +%s) - $(date +%s) + 30) / 60))
	((minutes >= 19 - SECONDS / 60 && minutes <= 21)) || fail "starts in $minutes minutes: $said"
	holds "$said" ' on nodes n[1-4] '
}

# hold_softly MINUTES MINIMUM HOSTLIST: as hold_minutes, with --time-min
hold_softly() {
	local node
	for node in $(hostnames "$3"); do
		submit --job-name="hold-$node" --nodelist="$node" --nodes=1 --exclusive --time="$1" --time-min="$2" >/dev/null
	done
	await 30 none_pending hold
}

# test_only_s OPTION...: in how many seconds a job of 4 nodes would start
test_only_s() {
	local said
	said=$(sbatch --test-only -N4 --exclusive --time=5 --wrap true "$@" 2>&1)
	[[ $said =~ 'to start at '([^ ]+)' ' ]] || fail "$said" || return 1
	echo $(($(date -d "${BASH_REMATCH[1]}" +%s) - $(date +%s)))
}

# starts_as_stock SECONDS: a gang, and the same job without one, would start then, within half a minute, less what the
# test has taken until now
starts_as_stock() {
	local stock gang took_s
	stock=$(test_only_s) && took_s=$SECONDS && gang=$(test_only_s --gang) || return 1
	took_s=$((SECONDS - took_s))
	((stock - $1 <= 30 && $1 - stock <= 30 + SECONDS && gang - stock <= 30 && stock - gang <= 30 + took_s)) ||
		fail "without a gang in $stock s, with one in $gang s, not in $1 s"
}

@test "time_min_as_soft_limit: a job with --time-min ends by then, past it in the middle of what is left, as for Slurm" {
	slurm_at_least 25.05 || skip 'from 25.05 on'
	hold_minutes 40 'n[5-8]'
	hold_softly 60 10 'n[1-4]'
	starts_as_stock 600
	release 'n[1-4]'
	hold_softly 60 1 'n[1-4]'
	await 120 starts_as_stock 1770
	gang=$(submit --gang -N4 --exclusive --time=30)
	await 20 starts_in "$gang" 30
	equal "$(planned_nodes "$gang")" 'n1 n2 n3 n4'
}
