#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# gate_barrier.bats - every node of a job knows the gang's verdict before the job's first process

load helpers
load gate_helpers

setup_file() {
	gate_budget
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-END
		defaults:
		  gate: {budget_s: $BUDGET_S, fresh_s: 0, network: false}
		partitions:
		  cpu: {gate: {depth: off}}
		  every: {gate: {jobs: all}}
		  fresh: {gate: {fresh_s: 600, network: true, budget_s: $((2 * BUDGET_S))}}
		  waits: {gate: {on_error: wait}}
		  hurry: {gate: {budget_s: 8}}
	END
	cluster_start --nodes 6 --gate --gres gpu:8 --config "$BATS_FILE_TMPDIR/onespine.yaml" \
		--partition 'gpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP' \
		--partition 'cpu Nodes=ALL MaxTime=INFINITE State=UP' \
		--partition 'every Nodes=ALL MaxTime=INFINITE State=UP' \
		--partition 'waits Nodes=ALL MaxTime=INFINITE State=UP' \
		--partition 'hurry Nodes=ALL MaxTime=INFINITE State=UP' \
		--partition 'fresh Nodes=ALL MaxTime=INFINITE State=UP'
}

@test "all pass: the job runs, every node knows, and slurmctld was asked nothing" {
	log_mark
	job=$(submit -N6 --gres=gpu:8)
	await_job "$job" RUNNING
	for node in n1 n2 n3 n4 n5 n6; do
		await 10 says "$node" "job $job: PASS"
		await 10 shows 'go by n1 of 6 nodes' gate_log "$node"
	done
	if log_since 'REQUEST_(UPDATE|JOB_INFO|NODE_INFO)'; then
		fail 'slurmctld was asked'
	fi
	equal "$(job_field "$job" AdminComment)" ''
}

@test "one node fails: no process of the job ran, it is drained with its reason, the job starts elsewhere" {
	fault n3 "$ECC"
	job=$(submit -N4 -w 'n[2-3]' --gres=gpu:8 "$(script "$BATS_TEST_TMPDIR/ran")")
	await 30 node_is n3 drained
	matches "$(sinfo -h -p gpu -n n3 -o %E)" '^onespine: gpu3 ecc 12 uncorrectable > 0; reset gpu$'
	await 30 begins_later "$job"
	[[ ! -e $BATS_TEST_TMPDIR/ran ]]
	await 10 shows 'n3: gpu3 ecc 12 uncorrectable' job_field "$job" AdminComment
	equal "$(sinfo -h -p gpu -t drain,down -o %N)" n3
}

@test "one GPU of a node fails: a job on the others of its GPUs runs" {
	fault n1 'export ONESPINE_FAKE_NVML=gpu7.ecc_uncorrected=12'
	job=$(submit -N2 -w 'n[1-2]' --gres=gpu:4)
	await_job "$job" RUNNING
	await 10 says n1 "job $job: PASS"
	equal "$(sinfo -h -p gpu -t drain,down -o %N)" ''
}

@test "a job without GPUs, and one of a partition with depth off, meet no gate" {
	fault n1 "$ECC"
	one=$(submit -N2 -w 'n[1-2]')
	two=$(submit -N2 -p cpu -w 'n[1-2]' --gres=gpu:8)
	await_job "$one" RUNNING
	await_job "$two" RUNNING
	equal "$(gate_log n1)" ''
}

@test "jobs: all checks a job without GPUs too, and a single node is judged alone" {
	fault n1 "$ECC"
	job=$(submit -N1 -p every -w n1)
	await 30 node_is n1 drained
	await 30 begins_later "$job"
	await 10 shows 'requeue by n1 of 1 node: ' gate_log n1
}

@test "a check that hangs is no failed node: with on_error go the job runs" {
	fault n2 'export ONESPINE_FAKE_NVML=hang:nvmlInit_v2'
	job=$(submit -p hurry -N3 -w 'n[1-3]' --gres=gpu:8 "$(script "$BATS_TEST_TMPDIR/ran")")
	await 30 test -s "$BATS_TEST_TMPDIR/ran"
	await 10 shows 'ERROR' gate_log n2
	equal "$(sinfo -h -p gpu -t drain,down -o %N)" ''
	await 10 no_gate_left
}

@test "slurmd dies before the barrier: its node is silent, not drained, and the job starts again" {
	fault n4 "exec sleep $SILENT_S.4"
	job=$(submit -N4 -w 'n[3-6]' --gres=gpu:8 "$(script "$BATS_TEST_TMPDIR/ran")")
	await 10 pgrep -f "^sleep $SILENT_S\.4\$"
	cluster kill-node --dir "$ONESPINE_CLUSTER" n4 -9
	await 30 says n3 'requeue by n3 of 4 nodes'
	await 10 shows 'n4' gate_log n5
	[[ ! -e $BATS_TEST_TMPDIR/ran ]]
	[[ $(sinfo -h -p gpu -n n4 -o %E) != *onespine* ]]
	cluster start-node --dir "$ONESPINE_CLUSTER" n4
}

@test "the first node is silent: a deputy decides" {
	fault n1 "exec sleep $SILENT_S"
	job=$(submit -N4 -w 'n[1-4]' --gres=gpu:8 "$(script "$BATS_TEST_TMPDIR/ran")")
	await 30 says n2 'requeue by n2 of 4 nodes'
	for node in n3 n4; do
		await 5 says "$node" 'requeue by n2 of 4 nodes'
	done
	[[ ! -e $BATS_TEST_TMPDIR/ran ]]
	[[ $(sinfo -h -p gpu -n n1 -o %E) != *onespine* ]]
}

@test "scancel in the middle: the Prologs of a cancelled job end by themselves" {
	fault n2 "[[ \$1 == epilog ]] || exec -a '$ONESPINE_CLUSTER/gate prolog' sleep 600"
	job=$(submit -N3 -w 'n[1-3]' --gres=gpu:8)
	await 10 pgrep -f "$ONESPINE_CLUSTER/gate prolog 600"
	scancel "$job"
	await 20 says n1 'the job'
	pkill -f "$ONESPINE_CLUSTER/gate prolog"
	await 30 no_gate_left
}

# 48 gates share this machine's processors, so a check with a second to answer in may warn or not end (mounts, xid); none fails.
@test "8 gangs at once on the same nodes: each has its own verdict" {
	for i in 1 2 3 4 5 6 7 8; do
		jobs+=("$(submit -N6 --ntasks-per-node=1 --gres=gpu:1 "$(script "$BATS_TEST_TMPDIR/ran$i")")")
	done
	for i in 1 2 3 4 5 6 7 8; do
		await 60 test -s "$BATS_TEST_TMPDIR/ran$i"
	done
	for job in "${jobs[@]}"; do
		await 10 decided "$job" n6
		matches "$(said_of "$job" n6)" "job $job: (PASS|WARN|ERROR) after [0-9]+ ms: go by n1 of 6 nodes"
	done
	equal "$(grep -c ' go by n1 of 6 nodes' <<<"$(gate_log n6)")" 8
	equal "$(sinfo -h -p gpu -t drain,down -o %N)" ''
}

@test "a fresh pass counts, until something happens" {
	submit -N2 -p gpu -w 'n[1-2]' --gres=gpu:8 --wrap true >/dev/null
	await 30 says n1 'go by n1 of 2 nodes'
	await 30 nothing_left
	first=$(submit -N2 -p fresh -w 'n[1-2]' --gres=gpu:8 --wrap true)
	await 30 says n2 "job $first: PASS (fresh)"
	await 30 nothing_left
	fault n2 "$ECC"
	submit -N2 -p fresh -w 'n[1-2]' --gres=gpu:8 >/dev/null
	await 30 node_is n2 drained
}

@test "a driver that hangs since the pass: the pass does not count, and the check still has its time" {
	submit -N2 -p fresh -w 'n[1-2]' --gres=gpu:8 --wrap true >/dev/null
	await 30 says n2 'go by n1 of 2 nodes'
	await 30 nothing_left
	fault n2 'export ONESPINE_FAKE_NVML=hang:nvmlInit_v2 ONESPINE_TEST_DEADLINE_MS=1200'
	submit -N2 -p fresh -w 'n[1-2]' --gres=gpu:8 >/dev/null
	await 30 node_is n2 drained
	matches "$(sinfo -h -p gpu -n n2 -o %E)" '^onespine: .*driver.*'
}

# speaks_otherwise NODE: its gate has another version of messages
speaks_otherwise() {
	fault "$1" "exec $ONESPINE_CLUSTER/other-gate \"\$@\""
}

@test "a gate of another version: an error that both sides name, the job goes on, and nobody is drained" {
	local cure='install one release on all nodes'
	speaks_otherwise n3
	job=$(submit -N4 -w 'n[1-4]' --gres=gpu:8)
	await_job "$job" RUNNING
	await 10 says n1 "n3: its gate speaks version 3 of messages, that of n1 version 2: $cure"
	await 10 says n3 "this gate speaks version 3 of messages, that of n1 version 2: $cure"
	await 10 says n3 'PASS, and no verdict in'
	await 10 says n4 'go by n1 of 4 nodes'
	equal "$(job_field "$job" Restarts)" 0
	equal "$(sinfo -h -p gpu -t drain,down -o %N)" ''
}

@test "the first node's gate is of another version: the same, and those behind it learn this at once" {
	local node cure='install one release on all nodes'
	speaks_otherwise n1
	job=$(submit -N3 -w 'n[1-3]' --gres=gpu:8)
	await_job "$job" RUNNING
	for node in n2 n3; do
		await 10 says n1 "$node: its gate speaks version 2 of messages, that of n1 version 3: $cure"
		await 10 says "$node" "this gate speaks version 2 of messages, that of n1 version 3: $cure"
		await 10 says "$node" 'PASS, and no verdict in '
		[[ $(gate_log "$node") =~ 'PASS, and no verdict in '([0-9]+)' s' ]]
		((BASH_REMATCH[1] < BUDGET_S / 2)) || fail "only after ${BASH_REMATCH[1]} of $BUDGET_S s"
	done
	equal "$(sinfo -h -p gpu -t drain,down -o %N)" ''
}

@test "a gate of another version where errors make a job wait: it starts without that node, and nobody is drained" {
	speaks_otherwise n3
	job=$(submit -N3 -p waits -w n1 --gres=gpu:8 --exclude='n[5-6]')
	await 30 requeued "$job"
	await 30 excludes "$job" 'n[3,5-6]'
	equal "$(sinfo -h -p gpu -t drain,down -o %N)" ''
}

# checks_otherwise NODE SHELL-LINES: its gate finds the command of another release beside it
checks_otherwise() {
	mkdir -p "$BATS_TEST_TMPDIR/newer"
	chmod 755 "$BATS_TEST_TMPDIR"
	install "$ONESPINE_PREFIX/libexec/onespine/onespine-gate" "$BATS_TEST_TMPDIR/newer/onespine-gate"
	printf '#!/bin/bash\n%s\n' "$2" >"$BATS_TEST_TMPDIR/newer/onespine"
	chmod 755 "$BATS_TEST_TMPDIR/newer/onespine"
	fault "$1" "exec $BATS_TEST_TMPDIR/newer/onespine-gate \"\$@\""
}

@test "an upgrade between the gate and its check: an answer, an option or a program that it does not know is an error, never a failure" {
	local answer
	for answer in 'echo "{\"verdict\": \"WORN\", \"checks\": []}"; exit 1' 'echo "{\"findings\": {\"gpu3\": 12}}"; exit 1' \
		'echo "onespine: there is no option --fresh" >&2; exit 2' 'kill -9 $$' 'exec /nowhere/onespine "$@"' 'exit 0'; do
		checks_otherwise n3 "$answer"
		job=$(submit -N3 -w 'n[2-4]' --gres=gpu:8)
		await_job "$job" RUNNING
		await 10 says n3 "job $job: ERROR "
		equal "$(job_field "$job" Restarts)" 0
		equal "$(sinfo -h -p gpu -t drain,down -o %N)" ''
		scancel "$job"
		await 30 nothing_left
		rm "$ONESPINE_CLUSTER/nodes/n3.faults"
	done
}
