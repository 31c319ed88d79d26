#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# gate_lost.bats - slurmctld is killed before it has written what the gate told it, and comes back with an older state

load helpers
load gate_helpers

setup_file() {
	local dir=$BATS_FILE_TMPDIR/cluster
	gate_budget
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 1 2 4
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-END
		defaults:
		  gate: {budget_s: $BUDGET_S, fresh_s: 0, network: false, jobs: all, on_error: wait}
		partitions:
		  gpus: {gate: {jobs: gpus}}
	END
	cluster_start --gate --wire n2 --topology "$BATS_FILE_TMPDIR/onespine.topology" --gres gpu:8 --dir "$dir" \
		--partition 'all Nodes=ALL Default=YES MaxTime=INFINITE State=UP' \
		--partition 'gpus Nodes=ALL MaxTime=INFINITE State=UP' \
		--config "$BATS_FILE_TMPDIR/onespine.yaml" --conf MinJobAge=36000 --conf BatchStartTimeout=60 \
		--conf "AuthInfo=socket=$dir/munge/socket,cred_expire=5" \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1,nohold_on_prolog_fail
	export OUT=$BATS_FILE_TMPDIR/out
	mkdir -m 1777 "$OUT"
	chmod 755 "$BATS_FILE_TMPDIR"
	# shellcheck disable=SC2016
	printf '#!/bin/bash\necho "$SLURM_JOB_NODELIST"\nsleep 600\n' >"$OUT/job.sh"
	chmod 755 "$OUT/job.sh"
}

teardown_file() {
	end_file
}

# What a test that failed has cut off would hold up those after it.
teardown() {
	[[ -n ${BATS_TEST_COMPLETED:-} ]] || on_n2 ip rule del blackhole 2>/dev/null || true
	gate_end_test
}

# wait_and_fail: n2 has $fault, and its gate waits until it may go on, or the test is over
wait_and_fail() {
	fault n2 "until [[ -e $BATS_TEST_TMPDIR/go || ! -e $ONESPINE_CLUSTER/nodes/n2.faults ]]; do sleep 0.1; done"
	fault n2 "${fault:-$ECC}"
}

# job SBATCH-OPTION...: a gang with n2
job() {
	wait_and_fail
	sbatch --parsable --chdir=/ --output="$OUT/%j" --gang "$@" "$OUT/job.sh"
}

# goes JOB: it is as slurmctld has saved it, a copy of that is made, and n2's gate goes on
goes() {
	await_job "$1" RUNNING
	await_saved "$1"
	rm -rf "$BATS_TEST_TMPDIR/state"
	cp -a "$ONESPINE_CLUSTER/state" "$BATS_TEST_TMPDIR/state"
	touch "$BATS_TEST_TMPDIR/go"
}

has_ended() {
	! kill -0 "$1" 2>/dev/null
}

# come_back: slurmctld is killed, unless it has ended already; as it comes back it has the state of before
come_back() {
	has_ended "$(cat "$ONESPINE_CLUSTER/run/slurmctld.pid")" || cluster kill-ctld --dir "$ONESPINE_CLUSTER" -9
	rm -rf "$ONESPINE_CLUSTER/state"
	cp -a "$BATS_TEST_TMPDIR/state" "$ONESPINE_CLUSTER/state"
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
}

# runs JOB: its script has begun
runs() {
	[[ -s $OUT/$1 ]]
}

# without_n2 JOB: its script began on three nodes, of which n2 is none
without_n2() {
	local names
	names=$(hostnames "$(cat "$OUT/$1")" | paste -sd' ')
	[[ " $names " != *' n2 '* && $(wc -w <<<"$names") == 3 ]] || fail "began on $names"
}

@test "slurmctld is killed as the script begins: the bad node that a spare replaced stays out, and drained" {
	one=$(job -N3 --gang-spares=1)
	goes "$one"
	await 60 runs "$one"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER" -9
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	equal "$(cat "$OUT/$one")" 'n[1,3-4]'
	equal "$(job_field "$one" NodeList)" 'n[1,3-4]'
	drained n2 "$ECC_REASON"
	none_drained_but n2
}

@test "it comes back without the take-out: drained again, and the job starts again without the bad node" {
	one=$(job -N3 --gang-spares=1)
	goes "$one"
	await 60 says n1 'it keeps n[1,3-4]'
	come_back
	await 60 drained n2 "$ECC_REASON"
	await 120 runs "$one"
	without_n2 "$one"
	holds "$(job_field "$one" AdminComment)" 'stopped 1 start'
	none_drained_but n2
}

@test "it comes back without the take-out from an salloc: drained again, and salloc ends and says why" {
	wait_and_fail
	salloc --chdir=/ --gang -N3 --gang-spares=1 sleep 600 >"$OUT/said" 2>&1 </dev/null 3>&- &
	await 30 shows 'n[1-4]' squeue -h -o %N
	one=$(squeue -h -o %i)
	goes "$one"
	await 60 says n1 'it keeps n[1,3-4]'
	come_back
	await 60 drained n2 "$ECC_REASON"
	await 60 no_jobs
	await 30 shows 'onespine: slurmctld came back without what the gate had done: the job cannot be requeued: ended' cat "$OUT/said"
	none_drained_but n2
}

@test "it comes back without the requeue: drained again, and the job starts again without the bad node" {
	one=$(job -N3)
	goes "$one"
	await 60 says n1 'starts again'
	come_back
	await 60 drained n2 "$ECC_REASON"
	await 120 runs "$one"
	without_n2 "$one"
	none_drained_but n2
}

@test "it comes back without the requeue of a job whose node could not be checked: the job starts again without it" {
	fault='export ONESPINE_FAKE_NVML=error:nvmlDeviceGetTotalEccErrors=999'
	one=$(job -N3)
	goes "$one"
	await 60 says n1 'of 3 nodes, 1 could not be checked; the job starts again elsewhere'
	come_back
	await 120 runs "$one"
	without_n2 "$one"
	none_drained_but
}

@test "it is killed before it answers a requeue, and comes back without it: asked again, and the job starts again without the bad node" {
	cc -shared -fPIC -O1 -Wall -Werror -o "$OUT/at_answer.so" "$BATS_TEST_DIRNAME/at_answer.c"
	# shellcheck disable=SC2016
	pid=$(cat "$ONESPINE_CLUSTER/run/slurmctld.pid")
	fault n1 'export LD_PRELOAD="'"$OUT"'/at_answer.so $LD_PRELOAD" AT_PID='"$pid"
	one=$(job -N3)
	goes "$one"
	await 60 has_ended "$pid"
	come_back
	await 120 runs "$one"
	without_n2 "$one"
	equal "$(said_of "$one" n1 | grep -c 'it is ended')" 0
	drained n2 "$ECC_REASON"
	none_drained_but n2
}

@test "it does not answer once it has requeued the job: when it does, the job does not get the node again" {
	local pid
	pid=$(cat "$ONESPINE_CLUSTER/run/slurmctld.pid")
	fault='export ONESPINE_FAKE_NVML=error:nvmlDeviceGetTotalEccErrors=999'
	ends_at n1 'of 3 nodes, 1 could not be checked; the job starts again' "$pid"
	one=$(job -N3)
	goes "$one"
	await 60 says n1 'asking slurmctld: slurmctld does not answer'
	kill -CONT "$pid"
	await 30 excludes "$one" n2
	await 120 runs "$one"
	without_n2 "$one"
	none_drained_but
}

@test "a job that is cancelled while it is checked: its bad node is drained all the same" {
	one=$(job -N3)
	await_job "$one" RUNNING
	scancel "$one"
	await 10 shows COMPLETING squeue -h -j "$one" -o %T
	touch "$BATS_TEST_TMPDIR/go"
	await 60 drained n2 "$ECC_REASON"
	none_drained_but n2
	await 30 says n1 'the job has ended while its nodes were checked'
	! runs "$one"
}

@test "a job that is cancelled while it is checked, and whose gate has ended by then: the bad node is drained, no other" {
	one=$(job -N3)
	await_job "$one" RUNNING
	scancel "$one"
	await 30 says n1 'end by n1 of 3 nodes: the job has ended while its nodes were checked'
	none_drained_but
	touch "$BATS_TEST_TMPDIR/go"
	await 60 drained n2 "$ECC_REASON"
	none_drained_but n2
	! runs "$one"
}

# on_n2 COMMAND...: in the network of that node
on_n2() {
	nsenter --net --target "$(pgrep -f "slurmd .*$ONESPINE_CLUSTER/.*-N n2( |$)" | head -n 1)" "$@"
}

# comes_back_without_nodes JOB: slurmctld has lost its node_state and starts the job, which was held; n2, which has $ECC,
# answers and cannot register, so its GPUs are counted only
comes_back_without_nodes() {
	local port
	port=$(sed -n 's/^SlurmctldPort=//p' "$ONESPINE_CLUSTER/slurm.conf")
	await_saved "$1"
	fault n2 "$ECC"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER" -9
	rm "$ONESPINE_CLUSTER"/state/node_state*
	on_n2 ip rule add ipproto tcp dport "$port" blackhole
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	scontrol release "$1"
	await 30 has_begun "$1"
	on_n2 ip rule del ipproto tcp dport "$port" blackhole
}

# has_begun JOB: it has nodes, or its gate on n2 has written about it, which may have put it back by now
has_begun() {
	job_is "$1" RUNNING || says n2 "job $1: "
}

# is_checked_all_the_same JOB: n2 is drained, with all of its GPUs looked at, since Slurm only counted them; the job has not
# begun. What Slurm shows of the job is no sign: it may be back in the queue by then.
is_checked_all_the_same() {
	await 60 drained n2 "$ECC_REASON"
	await 30 says n2 'Slurm has not said which GPUs of this node the job has: all are checked, without load'
	[[ ! -s $OUT/$1 ]] || fail "it began on $(cat "$OUT/$1")"
	none_drained_but n2
}

# held SBATCH-OPTION...: a job of whole nodes that waits to be released
held() {
	sbatch --parsable --hold --chdir=/ --output="$OUT/%j" -p gpus --gres=gpu:8 "$@" "$OUT/job.sh"
}

@test "it comes back without what it knew of the nodes: a node that has not registered is checked all the same" {
	one=$(held --gang -N2 -w 'n[1-2]')
	comes_back_without_nodes "$one"
	is_checked_all_the_same "$one"
}

@test "the same for a job that is no gang: its gate asks slurmctld" {
	one=$(held -N2 -w 'n[1-2]')
	comes_back_without_nodes "$one"
	is_checked_all_the_same "$one"
}

# gate_asks NODE: its gate itself runs, and not what it waits for
gate_asks() {
	local pid
	for pid in $(gate_processes "$1"); do
		[[ $(readlink "/proc/$pid/exe") != */onespine-gate ]] || return 0
	done
	return 1
}

@test "the same for a job on one node, whose GPUs nobody has chosen, and a slurmctld that is killed when it is to be asked" {
	fault n2 "until [[ -e $BATS_TEST_TMPDIR/go || ! -e $ONESPINE_CLUSTER/nodes/n2.faults ]]; do sleep 0.1; done"
	one=$(held -N1 -w n2)
	comes_back_without_nodes "$one"
	await_saved "$one"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER" -9
	touch "$BATS_TEST_TMPDIR/go"
	await 20 gate_asks n2
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	is_checked_all_the_same "$one"
}
