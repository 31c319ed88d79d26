#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_drained.bats - a gang that waits for drained nodes keeps nobody behind it waiting
#
# Backfill has no turn here: it would start what is behind the gang, half a minute later.

load helpers

setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 2 2
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=3600
}

setup() {
	free_all
}

waits_unheld() {
	[[ $(job_state "$1") == PENDING && $(job_field "$1" Priority) != 0 ]]
}

@test "while drained nodes leave no spine large enough, the main scheduler starts what is behind the gang" {
	scontrol update NodeName=n4,n8 State=DRAIN Reason=test
	confined=$(submit -N4 --exclusive -x 'n[5-8]')
	behind_confined=$(submit -N1 --exclusive)
	await_job "$behind_confined" RUNNING
	scancel "$confined" "$behind_confined"
	await 20 node_is n1 idle
	gang=$(submit --gang -N4 --exclusive)
	await 20 note_holds "$gang" 'waits: 4 nodes on one spine'
	behind=$(submit -N1 --exclusive)
	await_job "$behind" RUNNING
	waits_unheld "$gang"
	run sbatch --test-only --gang -N4 --exclusive --wrap true
	equal "$status" 1
	holds "$output" 'Requested node configuration is not available'
	scancel "$behind"
	scontrol update NodeName=n4 State=RESUME
	await_job "$gang" RUNNING
	equal "$(job_spines "$gang")" s1
}

@test "a gang that waits for a busy spine keeps its place in the queue" {
	first=$(submit -N1 --exclusive -w n4)
	second=$(submit -N1 --exclusive -w n8)
	await_job "$first" RUNNING
	await_job "$second" RUNNING
	gang=$(submit --gang -N4 --exclusive)
	await 20 note_holds "$gang" 'waits: 4 nodes on one spine'
	behind=$(submit -N1 --exclusive)
	stays 6 job_is "$behind" PENDING
	scancel "$first"
	await_job "$gang" RUNNING
	equal "$(job_spines "$gang")" s1
}
