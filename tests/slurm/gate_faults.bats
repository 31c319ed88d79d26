#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# gate_faults.bats - nodes, wires, daemons and disks that fail while a gate is under way

load helpers
load gate_helpers

# n6 is on a wire that can be cut.
setup_file() {
	local dir
	gate_budget
	dir=$(mktemp -d -t onespine.XXXXXX)
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-END
		defaults:
		  gate: {budget_s: $BUDGET_S, fresh_s: 0, network: false}
		partitions:
		  wait: {gate: {on_error: wait}}
		  long: {gate: {budget_s: $((BUDGET_S + 8))}}
		  logs: {gate: {failure: log}}
	END
	cluster_start --nodes 6 --gate --wire n6 --gres gpu:8 --dir "$dir" --config "$BATS_FILE_TMPDIR/onespine.yaml" \
		--conf "AuthInfo=socket=$dir/munge/socket,cred_expire=5" \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1 --conf BatchStartTimeout=10 \
		--partition 'gpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP' \
		--partition 'wait Nodes=ALL MaxTime=INFINITE State=UP' \
		--partition 'long Nodes=ALL MaxTime=INFINITE State=UP' \
		--partition 'logs Nodes=ALL MaxTime=INFINITE State=UP'
}

# What a test that failed has left broken would break those after it.
teardown() {
	local node
	opened
	for node in n1 n2 n3; do
		[[ -e $ONESPINE_CLUSTER/run/slurmd.$node.expected ]] || start_node "$node"
	done
	[[ ${ONESPINE_TEST_AUTH:-munge} != munge || -n $(pgrep -f "munged .*$ONESPINE_CLUSTER/munge/key") ]] || cluster start-munge --dir "$ONESPINE_CLUSTER"
	cluster mend-wire --dir "$ONESPINE_CLUSTER"
	inside umount "$(disk n3)" 2>/dev/null || true
	gate_end_test
}

# inside COMMAND...: as root, where the cluster's daemons run
inside() {
	local root=$ONESPINE_CLUSTER/bin/in-root
	[[ -x $root ]] || root=
	${root:+"$root"} "$@"
}

# gang OPTION...: a job that leaves its nodes in a file once it runs
gang() {
	rm -f "$BATS_TEST_TMPDIR/ran"
	submit --gres=gpu:8 "$@" "$(script "$BATS_TEST_TMPDIR/ran")"
}

# keep_open NODE: its gate waits until opened() is called, and the barrier with it
keep_open() {
	fault "$1" "until [[ -e $BATS_TEST_TMPDIR/opened ]]; do sleep 0.3; done"
}

opened() {
	touch "$BATS_TEST_TMPDIR/opened"
}

# ran_once LIST: it ran, once, on these nodes
ran_once() {
	[[ $(cat "$BATS_TEST_TMPDIR/ran" 2>/dev/null) == "$1" ]]
}

# ran_once_without NODE
ran_once_without() {
	[[ $(wc -l <"$BATS_TEST_TMPDIR/ran") == 1 ]] && ! hostnames "$(<"$BATS_TEST_TMPDIR/ran")" | grep -qx "$1"
}

has_not_run() {
	[[ ! -e $BATS_TEST_TMPDIR/ran ]] || fail "it has run on $(<"$BATS_TEST_TMPDIR/ran")"
}

# --- nodes ----------------------------------------------------------------------------------------

@test "a node dies, slurmd and gate, before the barrier: not drained; the job starts without it" {
	fault n3 'sleep 600'
	job=$(gang -N3 -x n6)
	await 10 gate_runs n3
	kill_node n3
	await 30 requeued "$job"
	has_not_run
	await 10 shows 'requeue by n1 of 3 nodes' gate_log n1
	await 10 excludes "$job" 'n[3,6]'
	[[ $(sinfo -h -n n3 -o %E) != *onespine* ]]
	rm -f "$ONESPINE_CLUSTER/nodes/n3.faults"
	start_node n3
	await 40 ran_once_without n3
	none_drained_but
}

@test "a node dies once it has reported: no process of the job has run; the job starts again" {
	keep_open n2
	job=$(gang -N3)
	await 10 has_passed n3
	kill_node n3
	opened
	await 30 requeued "$job"
	has_not_run
	await 10 shows 'requeue by n1 of 3 nodes: of 3 nodes, 1 silent' gate_log n1
	await 10 excludes "$job" n3
	none_drained_but
	start_node n3
	await 40 ran_once_without n3
}

# What its check found is kept with the node, before anybody else hears of it.
has_passed() {
	[[ -n $(find "$ONESPINE_CLUSTER/nodes/$1" -name '*pass*' -newer "$BATS_TEST_TMPDIR" -print -quit) ]]
}

@test "the first node dies in the middle: a deputy decides, and nobody is drained" {
	keep_open n2
	job=$(gang -N4)
	await 10 has_passed n1
	kill_node n1
	opened
	await 30 says n2 'requeue by n2 of 4 nodes'
	has_not_run
	start_node n1
	await 30 requeued "$job"
	none_drained_but
}

# worker NODE: the process of its gate that works, a child of the one that slurmd started
worker() {
	ps -o pid=,ppid=,comm= -p "$(gate_processes "$1" | paste -sd,)" 2>/dev/null |
		awk '$3 == "onespine-gate" { parent[$1] = $2 } END { for (pid in parent) if (parent[pid] in parent) print pid }'
}

works() {
	[[ -n $(worker "$1") ]]
}

works_again() {
	works "$1" && [[ $(worker "$1") != "$2" ]]
}

@test "a gate is killed, as where memory runs out: it begins again, the job runs, and nobody is drained" {
	keep_open n2
	job=$(gang -N3)
	await 10 has_passed n3
	first=$(worker n3)
	kill -9 "$first"
	await 10 works_again n3 "$first"
	# after the job, too: that gate is late
	fault n3 'export ONESPINE_FAKE_NVML=hang:nvmlInit_v2'
	opened
	await 60 ran_once 'n[1-3]' # its Prologs have ended then; it is RUNNING before that
	none_drained_but
	scancel "$job"
	await 10 works n3
	kill -9 "$(worker n3)"
	await 30 no_gate_left
	await 30 node_is n3 idle
	none_drained_but
}

@test "a gate that is killed once it knows the verdict does not decide again, alone" {
	ends_at n2 ' go by n1 of '
	job=$(gang -N2 -w 'n[1-2]')
	await 30 ran_once 'n[1-2]'
	equal "$(grep -c "job $job: .* by " <<<"$(gate_log n2)")" 1
	equal "$(job_field "$job" Restarts)" 0
	none_drained_but
}

@test "a node dies after the barrier: the job ran already; the gate drains nobody" {
	job=$(gang -N3)
	await 30 ran_once 'n[1-3]'
	kill_node n3
	none_drained_but
	start_node n3
	none_drained_but
}

# --- the wire -------------------------------------------------------------------------------------

@test "a host is cut off before the barrier: silent, not drained; the job starts without it" {
	cluster cut-wire --dir "$ONESPINE_CLUSTER"
	job=$(gang -N3 -w n6)
	await 40 requeued "$job"
	has_not_run
	await 10 shows '1 silent; the job starts again elsewhere; n6: silent' gate_log n4
	[[ $(sinfo -h -n n6 -o %E) != *onespine* ]]
	cluster mend-wire --dir "$ONESPINE_CLUSTER"
	await 40 nothing_drained
}

nothing_drained() {
	[[ -z $(sinfo -h -t drain,down -o %N) ]]
}

@test "a host is cut off in the middle of the barrier: its own gate ends too, and knows no verdict" {
	fault n6 'sleep 1'
	job=$(gang -N3 -x n3,n4,n5)
	await 10 gate_runs n6
	cluster cut-wire --dir "$ONESPINE_CLUSTER"
	await 40 requeued "$job"
	has_not_run
	await 20 says n6 'PASS, and no verdict in '
	cluster mend-wire --dir "$ONESPINE_CLUSTER"
	await 40 no_gate_left
	none_drained_but
	# it would start again on the same nodes, and be there when the next test begins
	scancel "$job"
	# that the job is over did not come through, and Slurm would send it again two minutes later
	scontrol update NodeName=n6 State=DOWN Reason=test
	scontrol update NodeName=n6 State=RESUME
}

# --- daemons --------------------------------------------------------------------------------------

# past TIME SECONDS: more than so many since then
past() {
	((EPOCHSECONDS > $1 + $2))
}

# With DeferBatch slurmctld keeps the script's launch in memory until the Prologs have ended. When it is killed
# then, the job is there again, and the launch is not; Slurm finds that out when the batch host registers,
# BatchStartTimeout and 10 s after it has come back. Its state may be saved only seconds after the gate has begun.
# its_launch_is_forgotten OPTION...: slurmctld is killed before it has told the batch host to begin, and told of it
its_launch_is_forgotten() {
	keep_open n2
	job=$(gang -p long -N3 "$@")
	await_job "$job" RUNNING
	await_saved "$job"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER" -9
	opened
	await 30 says n2 'go by n1 of 3 nodes'
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	back=$EPOCHSECONDS
	await 40 past "$back" 20
	has_not_run
	cluster kill-node --dir "$ONESPINE_CLUSTER" n1
	start_node n1 # it registers
	await 60 ran_once 'n[1-3]'
	equal "$(job_field "$job" Restarts)" 1
	none_drained_but
}

@test "slurmctld is killed while all pass, and comes back: Slurm starts the job again, and it runs once" {
	its_launch_is_forgotten
}

@test "the same of a task of an array" {
	its_launch_is_forgotten --array=7
}

@test "MUNGE ends in the middle and comes back: nobody is drained, and the job is neither lost nor held" {
	needs_munge
	keep_open n2
	job=$(gang -N3)
	await 10 gate_runs n2
	cluster kill-munge --dir "$ONESPINE_CLUSTER"
	opened
	await 20 says n3 'PASS, and no verdict in '
	has_not_run
	cluster start-munge --dir "$ONESPINE_CLUSTER"
	await 90 test -s "$BATS_TEST_TMPDIR/ran"
	none_drained_but
	await 20 no_gate_left
}

# hears_nobody NODE: its gate has ports of its own, as where a firewall is between it and the others
hears_nobody() {
	local folder=$ONESPINE_CLUSTER/alone-$1
	mkdir -p "$folder"
	cp "$ONESPINE_CLUSTER/slurm.conf" "$folder"
	sed "s/failure: log/failure: log, ports: 7${1#n}0-7${1#n}3/" "$ONESPINE_CLUSTER/onespine.yaml" >"$folder/onespine.yaml"
	fault "$1" "export SLURM_CONF=$folder/slurm.conf"
}

# has_started JOB: at its first start, on nodes of which none is drained or excluded
has_started() {
	equal "$(job_field "$1" Restarts)" 0
	equal "$(job_field "$1" ExcNodeList)" '(null)'
	none_drained_but
}

@test "failure: log: a job with a silent node and failed ones starts, and nobody is drained" {
	hears_nobody n3
	fault n2 "$ECC"
	fault n3 "$ECC"
	job=$(gang -p logs -N3)
	await 60 ran_once 'n[1-3]'
	words='of 3 nodes, 1 failed, 1 silent; the job goes on (failure: drain would start it again); n2: gpu3 ecc 12'
	await 10 shows "go by n1 of 3 nodes: $words" gate_log n1
	await 10 shows "gate=${words//;/,}" job_field "$job" AdminComment
	for node in n2 n3; do
		await 10 shows "FAIL $ECC_REASON (failure: drain would drain this node)" gate_log "$node"
	done
	await 10 shows 'FAIL, and no verdict in' gate_log n3
	has_started "$job"
}

@test "failure: log: a job whose nodes do not hear each other starts, also one that cannot be requeued" {
	hears_nobody n1
	hears_nobody n2
	hears_nobody n3
	job=$(gang -p logs -N3 --no-requeue)
	await 60 ran_once 'n[1-3]'
	await 10 shows 'go by n1 of 3 nodes: of 3 nodes, 2 silent; the job goes on (failure: drain would end it); n2: silent' gate_log n1
	await 10 shows 'PASS, and no verdict in' gate_log n3
	has_started "$job"
}

@test "failure: log: a gate that is killed each time stops no job" {
	keep_open n2
	job=$(gang -p logs -N3)
	await 10 has_passed n3
	first=$(worker n3)
	kill -9 "$first"
	await 10 works_again n3 "$first"
	kill -9 "$(worker n3)"
	opened
	await 60 ran_once 'n[1-3]'
	await 10 says n3 'the gate was killed before the start was settled; the job goes on (failure: drain would stop it)'
	has_started "$job"
}

@test "MUNGE is down on one node: that node is silent, not drained; the job starts without it" {
	needs_munge
	mkdir -p "$ONESPINE_CLUSTER/elsewhere"
	sed "s#^AuthInfo=.*#AuthInfo=socket=$ONESPINE_CLUSTER/elsewhere/munge#" "$ONESPINE_CLUSTER/slurm.conf" \
		>"$ONESPINE_CLUSTER/elsewhere/slurm.conf"
	cp "$ONESPINE_CLUSTER/onespine.yaml" "$ONESPINE_CLUSTER/elsewhere"
	fault n3 "export SLURM_CONF=$ONESPINE_CLUSTER/elsewhere/slurm.conf"
	job=$(gang -N3)
	await 40 requeued "$job"
	has_not_run
	await 10 shows 'MUNGE' gate_log n3
	await 10 excludes "$job" n3
	none_drained_but
}

# --- disks ----------------------------------------------------------------------------------------

# disk NODE: where its gate keeps its log, its passes and its evidence
disk() {
	printf '%s/nodes/%s%s/var\n' "$ONESPINE_CLUSTER" "$1" "$ONESPINE_PREFIX"
}

# full_disk NODE
full_disk() {
	inside mount -t tmpfs -o size=64k,mode=755 none "$(disk "$1")"
	inside mkdir -p "$(disk "$1")/log/onespine" "$(disk "$1")/lib/onespine"
	inside dd if=/dev/zero "of=$(disk "$1")/everything" bs=4k 2>/dev/null || true
}

@test "the disk is full: a good node passes, a bad one is drained with its reason" {
	full_disk n3
	job=$(gang -N3)
	await 30 ran_once 'n[1-3]'
	scancel "$job"
	fault n3 "$ECC"
	job=$(gang -N3 -w n3)
	await 30 drained n3 "$ECC_REASON"
	await 30 requeued "$job"
	has_not_run
	none_drained_but n3
}

# As where nodes mount the installation, and nothing was installed on their own /var.
@test "a node without the folder of the gate's log makes it, for root alone" {
	rm -r "$(disk n3)/log/onespine"
	job=$(gang -w 'n[1-3]')
	await 30 ran_once 'n[1-3]'
	await 10 says n3 " of 3 nodes"
	equal "$(stat -c '%U %a' "$(disk n3)/log/onespine")" 'root 700'
	none_drained_but
}

# --- checks that hang -----------------------------------------------------------------------------

# The first gate sees that n2's GPUs stay awake: only then is a driver that does not answer more than a slow start. It is
# waited for three times: by what holds the GPUs, by the check, and by the check's second child.
@test "a check that hangs in a second child too is a failed node" {
	job=$(gang -N3 -w 'n[1-3]')
	await 30 ran_once 'n[1-3]'
	scancel "$job"
	rm "$BATS_TEST_TMPDIR/ran"
	fault n2 'export ONESPINE_FAKE_NVML=hang:nvmlInit_v2 ONESPINE_TEST_DEADLINE_MS=800'
	job=$(gang -N3 -w n2)
	await 30 node_is n2 drained
	matches "$(sinfo -h -n n2 -o %E)" '^onespine: .*driver.*'
	await 30 requeued "$job"
	has_not_run
	none_drained_but n2
	await 10 no_gate_left
}

@test "a check that hangs where errors make a job wait: it starts again, and nobody is drained" {
	fault n2 'export ONESPINE_FAKE_NVML=hang:nvmlInit_v2'
	job=$(gang -p wait -N3)
	await 30 requeued "$job"
	has_not_run
	none_drained_but
}
