#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_domains.bats - more domains than one call of the scheduler asks (CANDIDATES_MAX in lib/choose/choose.h)
#
# 300 spines of two cloud nodes with 4 GPUs. One job holds a GPU of each node but the last 20's: a gang whose tasks are
# dealt out by Slurm alone seems to fit everywhere and fits under the last ten spines only.

load helpers

setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 300 1 2
	cluster_start --cloud all --topology "$BATS_FILE_TMPDIR/onespine.topology" --gres gpu:4 \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1,bf_max_job_test=20
}

has_nodes() {
	[[ -n $(job_nodes "$1") ]]
}

# hold_a_gpu: of each node but those under the last ten spines
hold_a_gpu() {
	holder=$(submit -N580 -n580 -w 'n[1-580]' --gpus-per-node=1 --time=60)
	await 60 has_nodes "$holder"
}

# is_among_the_last JOB: on one spine of the last ten
is_among_the_last() {
	[[ $(job_spines "$1") =~ ^s(29[1-9]|300)$ ]] || fail "job $1 is on $(job_spines "$1" | paste -sd' ')"
}

# Their nodes never come up again once they were used, so that is one test.
@test "the main scheduler comes to the domains of 300 where a gang fits, and so does backfill, with a plan for later in each call" {
	hold_a_gpu
	gang=$(submit --gang -N2 -n4 --gpus-per-task=2 --time=30)
	await 60 has_nodes "$gang"
	is_among_the_last "$gang"
	# the main scheduler stops at this one
	blocker=$(submit -N600 --exclusive --time=60)
	await 30 has_reason "$blocker" Resources
	gang=$(submit --gang -N2 -n4 --gpus-per-task=2 --time=10)
	await 90 has_nodes "$gang"
	is_among_the_last "$gang"
	matches "$(job_field "$gang" Scheduler)" '^Backfill'
	equal "$(job_state "$blocker")" PENDING
}

has_reason() {
	[[ $(job_reason "$1") == "$2" ]]
}
