#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# parallelcluster_launch.bats - gangs on dynamic nodes that ParallelCluster launches and resets

load helpers
load launch_helpers
load parallelcluster_helpers
load parallelcluster_launch_helpers
bats_require_minimum_version 1.5.0

@test "three of four come up under one spine: kept, one more launched; clustermgtd ends and resets what was given back, and nothing else" {
	places a 1-3,5-10 b 4
	job=$(gang 4)
	await_job "$job" CONFIGURING 60
	equal "$(numbers "$job")" '1 2 3 4'
	await 120 note_holds "$job" 'launched in vain: its 4 nodes are on 2 spines'
	[[ ! -e $PC/log/ran ]] || fail "$(<"$PC/log/ran")"
	begin_soon "$job"
	await_job "$job" CONFIGURING 90
	equal "$(numbers "$job")" '1 2 3 5'
	await_job "$job" RUNNING 120
	await 30 note_holds "$job" 'domain=nn-a'
	await 60 clustermgtd_said "^reset $P3-4\$"
	clustermgtd_said "^ended $P3-4 "
	await 60 is_free "$P3-4"
	run ! clustermgtd_said "(ended|reset) $P3-([1235]) ?"
	await 30 test -s "$PC/log/ran"
	equal "$(wc -l <"$PC/log/ran")" 1 'starts of its script'
	# its next life under that name is elsewhere, and counts there
	places a 1-10
	other=$(submit -p gpu --gang -N2 --gpus-per-node=v100:8 --exclusive --requeue -w "$P3-[4,6]" --wrap 'sleep 600')
	await_job "$other" RUNNING 120
	await 30 note_holds "$other" 'domain=nn-a'
	scancel "$job" "$other"
}

@test "nodes that boot 60 s apart: none is a suspect of the gate, nobody is drained, and the script starts once, on all of them" {
	echo 60 >"$PC/late"
	: >"$PC/log/ran"
	job=$(gang 3)
	await_job "$job" RUNNING 240
	echo 0 >"$PC/late"
	await 30 test -s "$PC/log/ran"
	equal "$(wc -l <"$PC/log/ran")" 1 'starts of its script'
	equal "$(job_field "$job" Restarts)" 0
	for node in $(job_nodes "$job"); do
		await 10 shows "job $job: PASS" cat "$PC/nodes/$node$ONESPINE_PREFIX/var/log/onespine/gate.log"
	done
	[[ $(sinfo -h -N -o '%T') != *drain* ]] || fail "$(sinfo -N)"
	scancel "$job"
}

@test "a gang with a spare on nodes that are launched: one fails its gate, the others go on, and clustermgtd ends that one alone" {
	mkdir -p "$PC/faults"
	# the last one boots later than the second one's fault is written
	echo 5 >"$PC/late"
	: >"$PC/log/ran"
	: >"$PC/log/clustermgtd"
	job=$(submit -p gpu --gang -N3 --gang-spares=1 --gres=gpu:v100:8 --ntasks-per-node=1 --requeue \
		--wrap "echo \$SLURM_JOB_NODELIST >>$PC/log/ran; sleep 600" 2>/dev/null)
	await_job "$job" CONFIGURING 60
	mapfile -t nodes < <(job_nodes "$job")
	equal "${#nodes[@]}" 4
	bad=${nodes[1]}
	echo 'export ONESPINE_FAKE_NVML=gpu3.ecc_uncorrected=12' >"$PC/faults/$bad"
	await_job "$job" RUNNING 120
	await 30 test -s "$PC/log/ran"
	equal "$(wc -l <"$PC/log/ran")" 1 'starts of its script'
	equal "$(job_nodes "$job" | paste -sd' ')" "${nodes[0]} ${nodes[2]} ${nodes[3]}"
	await 30 note_holds "$job" \
		"gate=of 4 nodes, 1 failed, the job goes on without, $bad: gpu3 ecc 12"
	await 30 note_holds "$job" 'domain=nn-a'
	equal "$(job_field "$job" Restarts)" 0
	await 60 clustermgtd_said "^ended $bad "
	rm "$PC/faults/$bad"
	await 60 is_free "$bad"
	run ! clustermgtd_said "ended (${nodes[0]}|${nodes[2]}|${nodes[3]}) "
	job_is "$job" RUNNING
	scancel "$job"
}
