#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# gate_record.bats - what the gate leaves behind and shows: logs, history, locks, suspects, offenders, progress

bats_require_minimum_version 1.5.0

load helpers
load gate_helpers

setup_file() {
	gate_budget
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-END
		defaults:
		  gate: {budget_s: $BUDGET_S, fresh_s: 0, network: false, spares: 1}
		history: {shared: $BATS_FILE_TMPDIR/history, strikes: 2}
	END
	chmod 755 "$BATS_FILE_TMPDIR"
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 1 2 2
	cluster_start --gate --topology "$BATS_FILE_TMPDIR/onespine.topology" --gres gpu:8 --dir "$BATS_FILE_TMPDIR/cluster" \
		--config "$BATS_FILE_TMPDIR/onespine.yaml" --conf MinJobAge=36000 \
		--conf "AuthInfo=socket=$BATS_FILE_TMPDIR/cluster/munge/socket,cred_expire=5" \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
	for node in n1 n2 n3 n4; do
		echo "i-0000000$node" >"$ONESPINE_CLUSTER/nodes/$node/sys/devices/virtual/dmi/id/board_asset_tag"
	done
}

# runs NODE FILTER: the node's history as jq makes of it
runs() {
	jq -c "$2" "$(find "$ONESPINE_CLUSTER/nodes/$1/" -name "i-0000000$1.jsonl")"
}

history_says() {
	runs "$1" "$2" | grep -qxF "$3"
}

@test "why names the gate's log, also after the job" {
	fault n1 "$ECC"
	job=$(submit --no-requeue -N2 -w 'n[1-2]' --gres=gpu:8)
	await_job "$job" CANCELLED
	log=$(onespine why "$job" | sed -n 's/^  its log: n1://p')
	[[ -s $log ]]
	grep -q "n1 job $job: .* end by n1 of 2 nodes" "$log"
	equal "$(onespine why --json "$job" | jq -r .gate_log)" "n1:$log"
}

@test "the Epilog puts on record what the job suffered" {
	job=$(submit -N1 -w n2 --gres=gpu:8)
	await_job "$job" RUNNING
	fault n2 'export ONESPINE_FAKE_NVML=gpu5.rows=4'
	scancel "$job"
	await 20 history_says n2 '[.node, .job, .when, .verdict, .grew]' \
		"[\"n2\",$job,\"epilog\",\"PASS\",[[\"GPU-00000005-1111-2222-3333-444444444444\",\"rows_remapped\",3]]]"
	history_says n2 '[.job, .when, .grew]' "[$job,\"prolog\",[]]"
	run env ONESPINE_TEST_ROOT="$ONESPINE_CLUSTER/nodes/n2" onespine history GPU-00000005
	holds "$output" "counted after job $job: rows_remapped +3, "
}

@test "a result that a check could not keep is reported in gate.log, and delays no verdict" {
	local kept
	job=$(submit -N1 -w n2 --gres=gpu:8)
	await_job "$job" RUNNING
	scancel "$job"
	await 20 no_jobs
	await 10 no_gate_left
	kept=$(find "$ONESPINE_CLUSTER/nodes/n2/" -name i-0000000n2.jsonl)
	exec 7>"${kept%/*}/.i-0000000n2.lock"
	flock 7
	job=$(submit -N1 -w n2 --gres=gpu:8)
	await 20 says n2 "job $job: the check: warning: the run is not kept: ${kept%/*}: another run holds the lock"
	exec 7>&-
	await_job "$job" RUNNING
	holds "$(gate_log n2)" "job $job: PASS"
}

@test "a check that loads GPUs and the gate of another job wait for each other" {
	mkdir -p "$ONESPINE_CLUSTER/nodes/n3/run/onespine"
	exec 7>"$ONESPINE_CLUSTER/nodes/n3/run/onespine/gate.lock"
	flock 7
	job=$(submit -N1 -w n3 --gres=gpu:8)
	await 10 says n3 'waits for the check of another job on this node'
	run ! says n3 'PASS'
	exec 7>&-
	await 10 says n3 'go by n3 of 1 node'
	run ! says n3 'goes on beside it'
}

# passes_alone JOB: one gate, on n1 or n4, let it go
passes_alone() {
	[[ $(cat "$ONESPINE_CLUSTER"/nodes/n[14]/gate.log | grep -c "job $1: PASS.* go by") == 1 ]]
}

@test "the next job's gate begins on a released spare at once, and neither disturbs the other" {
	one=$(submit -N2 -w 'n[2-3]' --gang-spares=1 --gres=gpu:8 --wrap 'sleep 600')
	two=$(submit -N1 --gres=gpu:8 --exclude=n2,n3)
	three=$(submit -N1 --gres=gpu:8 --exclude=n2,n3)
	for job in "$one" "$two" "$three"; do
		await_job "$job" RUNNING
	done
	equal "$(sinfo -h -t drain,down,fail -o %N)" ''
	await 10 job_has_nodes "$one" 'n[2-3]'
	# both gates of the spare, and the Epilog between them, are on record
	spare=$(runs n1 '[.job, .when]' | grep -xF "[$one,\"prolog\"]" >/dev/null && echo n1 || echo n4)
	await 10 history_says "$spare" '[.job, .when]' "[$one,\"epilog\"]"
	for job in "$two" "$three"; do
		await 10 passes_alone "$job"
	done
	equal "$(job_field "$one" Restarts)$(job_field "$two" Restarts)$(job_field "$three" Restarts)" 000
}

@test "suspects: why names them, and the oldest comes back before the job becomes impossible" {
	fault n1 "sleep $SILENT_S"
	job=$(submit -N3 --gres=gpu:8)
	await 40 suspects_are "$job" n1
	equal "$(job_field "$job" ExcNodeList)" n1
	await 10 shows 'kept from this job, since the gate stopped it there: n1' onespine why "$job"
	rm "$ONESPINE_CLUSTER/nodes/n1.faults"
	fault n2 "sleep $SILENT_S"
	await 60 suspects_are "$job" n2
	equal "$(job_field "$job" ExcNodeList)" n2
	await_job "$job" RUNNING 60
	equal "$(job_field "$job" NodeList)" 'n[1,3-4]'
}

job_has_nodes() {
	[[ $(job_field "$1" NodeList) == "$2" ]]
}

suspects_are() {
	[[ $(job_field "$1" AdminComment) == *"; suspects=$2;"* || $(job_field "$1" AdminComment) == *"; suspects=$2]"* ]]
}

# shellcheck disable=SC2016 # the gate's words
@test "progress: srun and salloc say on a terminal how far the gate is" {
	fault n2 '[[ $1 == epilog ]] || sleep '$((BUDGET_S / 2))
	command script -qec "srun -N3 -w 'n[1-3]' --gres=gpu:8 true" /dev/null >"$BATS_TEST_TMPDIR/srun" </dev/null &
	command script -qec "salloc -N1 -w n4 --gres=gpu:8 true" /dev/null >"$BATS_TEST_TMPDIR/salloc" </dev/null
	wait
	await 10 shows 'srun: onespine: checking 3 nodes: 2 passed, 1 running' cat "$BATS_TEST_TMPDIR/srun"
	[[ $(cat "$BATS_TEST_TMPDIR/salloc") != *checking* ]]
	fault n2 "$ECC"
	command script -qec "salloc -N3 -w 'n[1-3]' --gres=gpu:8 true" /dev/null >"$BATS_TEST_TMPDIR/salloc" </dev/null || true
	await 10 shows 'salloc: onespine: checking 3 nodes: 2 passed, 1 running' cat "$BATS_TEST_TMPDIR/salloc"
	await 10 shows '1 failed; it cannot be requeued: ended; n2: gpu3 ecc 12 uncorrectable > 0' cat "$BATS_TEST_TMPDIR/salloc"
}

@test "a job_submit that is not there: no spares are believed" {
	job=$(submit -N2 -w 'n[1-2]')
	await_job "$job" RUNNING
	sed -i 's/^JobSubmitPlugins=.*/JobSubmitPlugins=lua/' "$SLURM_CONF"
	on_cluster env -i PATH="$PATH" SLURM_CONF="$SLURM_CONF" SLURM_JOB_ID="$job" SLURM_NODELIST='n[1-2]' SLURMD_NODENAME=n1 \
		SLURM_JOB_PARTITION=all SPANK__ONESPINE_SPARES=1 "$ONESPINE_CLUSTER/gate" prolog 2>"$BATS_TEST_TMPDIR/said" || true
	sed -i 's/^JobSubmitPlugins=.*/JobSubmitPlugins=onespine/' "$SLURM_CONF"
	equal "$(cat "$BATS_TEST_TMPDIR/said")" ''
	equal "$(job_field "$job" NodeList)" 'n[1-2]'
}

@test "recheck leaves out who has strikes enough in the history, node or GPU, and lists it" {
	mkdir "$BATS_FILE_TMPDIR/history"
	for i in 1 2; do
		printf '{"v":1,"id":"%s","time_s":%s,"node":"n4","instance":"i-0000000n4","boot_id":"b%s","depth":"quick","verdict":"FAIL","reason":"onespine: gpu3 ecc 12","gpus":{},"checks":{},"figures":[]}\n' \
			"x$i" "$((EPOCHSECONDS - i))" "$i"
	done >>"$BATS_FILE_TMPDIR/history/i-0000000n4.jsonl"
	scontrol update NodeName=n4 State=DRAIN Reason='onespine: gpu3 ecc 12 uncorrectable > 0; reset gpu'
	run onespine recheck
	((status == 1))
	holds "$output" 'n4: stays drained: a repeated offender, 2 strikes in 30 days: onespine: gpu3 ecc 12'
	holds "$(onespine recheck --dry-run n4)" 'n4: would be checked: drained for: '
}
