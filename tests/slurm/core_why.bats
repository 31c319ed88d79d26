#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_why.bats - why, fit, map and the note on nodes that differ and that jobs share: one count, and no contradiction
#
# Two spines of two leaves of four nodes; those of the last leaf have 2 GPUs, the others 4.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 2 4
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --gres gpu:4 \
		--node-conf 'NodeName=n[13-16] Gres=gpu:2' --partition 'gpu Nodes=ALL Default=YES' \
		--partition 'left Nodes=n[1-4,9-12]' \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1
}

# waits_for JOB WORDS: the note has them, and why, alone and of all jobs, and map say the same
waits_for() {
	await 30 note_holds "$1" "$2"
	run -0 onespine why "$1"
	holds "$output" "  $2"
	[[ $output != *'AdminComment is older'* ]] || fail "$output"
	holds "$(onespine why)" ": $2"
	holds "$(onespine map)" "; $2"
	equal "$(onespine why --json "$1" | jq -c .starts_now)" false
}

@test "nodes with too few GPUs count neither as usable nor as free" {
	local words='waits: 8 nodes on one spine; nearest: s1 has 7 free of 8 (1 short)'
	submit -w n5 -N1 --gres=gpu:1 >/dev/null
	job=$(submit --gang -N8 --gres=gpu:4)
	waits_for "$job" "$words"
	run -0 onespine why "$job"
	matches "$output" 's1 +8 +7 +1 '
	matches "$output" 's2 +4 +4 +4 +too few usable nodes'
	run -1 onespine fit -N8 --gres=gpu:4
	equal "${lines[0]}" "no: $words"
}

@test "in the way are the jobs that hold what is missing, on nodes that the gang could have, most nodes first" {
	local cpus gpus other two
	cpus=$(submit -w 'n[1-2]' -N2 -n2 -t 10)
	gpus=$(submit -w n3 -N1 --gres=gpu:4 -t 20)
	two=$(submit -w 'n[5-6]' -N2 --gres=gpu:3 -t 60)
	other=$(submit -w 'n[9-10]' -N2 --gres=gpu:4 -t 5)
	for job in "$cpus" "$gpus" "$two" "$other"; do
		await_job "$job" RUNNING
	done
	job=$(submit --gang -N8 --gres=gpu:2 -x n13)
	waits_for "$job" 'waits: 8 nodes on one spine; nearest: s1 has 5 free of 8 (3 short)'
	equal "$(onespine why --json "$job" | jq -c '[.in_the_way[] | [.job, .nodes_here]]')" "[[\"$two\",2],[\"$gpus\",1]]"
	# of another partition's nodes none is in the way, drained or not
	scontrol update NodeName=n6 State=DRAIN Reason=other
	scontrol update NodeName=n2 State=DRAIN Reason=own
	job=$(submit --gang -p left -N4 -n4 --gres=gpu:4)
	waits_for "$job" 'waits: 4 nodes on one spine; nearest: s2 has 2 free of 4 (2 short)'
	equal "$(onespine why --json "$job" | jq -c '[.in_the_way[].job, .out[].reason]')" "[\"$other\"]"
	scancel "$other"
	await_job "$job" RUNNING
	job=$(submit --gang=spine -p left -N4 -n4 --gres=gpu:4)
	await 30 note_holds "$job" 'nearest: s2 has 0 free of 4 (4 short)'
	# where jobs' ends do not help, none is named
	job=$(submit --gang=spine -p left -N4 -n4 --gres=gpu:4 -x n9)
	await 30 note_holds "$job" 'none has 4 usable: the largest, s'
	equal "$(onespine why --json "$job" | jq -c '.in_the_way')" '[]'
}
