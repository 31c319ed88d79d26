#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# gate_act.bats - what becomes of a job and of its nodes after one fails at the gate

load helpers
load gate_helpers

# 2 spines of 4 nodes each: n1-n4, n5-n8. The leaves of the second have n5 n7 and n6 n8.
setup_file() {
	local dir=$BATS_FILE_TMPDIR/cluster
	gate_budget
	# where slurmctld is killed, a gate asks it in vain for twelve seconds before it goes on
	((BUDGET_S >= 24)) || BUDGET_S=24 SILENT_S=27
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 2 2
	sed -i 's/"n\[5-6\]"/"n[5,7]"/; s/"n\[7-8\]"/"n[6,8]"/' "$BATS_FILE_TMPDIR/onespine.topology"
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-END
		defaults:
		  gate: {budget_s: $BUDGET_S, fresh_s: 0, network: false, jobs: all}
		partitions:
		  wait: {gate: {breaker_jobs: wait, restarts: 1}}
		  told: {gate: {failure: comment}}
		  none: {gate: {depth: off}}
	END
	cluster_start --gate --topology "$BATS_FILE_TMPDIR/onespine.topology" --gres gpu:8 --dir "$dir" \
		--config "$BATS_FILE_TMPDIR/onespine.yaml" --conf MinJobAge=36000 \
		--conf "AuthInfo=socket=$dir/munge/socket,cred_expire=5" \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1 \
		--partition 'gpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP' \
		--partition 'wait Nodes=ALL MaxTime=INFINITE State=UP' \
		--partition 'told Nodes=ALL MaxTime=INFINITE State=UP' \
		--partition 'none Nodes=ALL MaxTime=INFINITE State=UP'
	export OUT=$BATS_FILE_TMPDIR/out RETURNS
	RETURNS=$ONESPINE_PREFIX/var/lib/onespine/recheck/onespine-$(scontrol show config | awk '$1 == "SlurmctldPort" { print $3 }').returns
	rm -f "$RETURNS" # a cluster of before, on the same port
	mkdir -m 1777 "$OUT"
	chmod 755 "$BATS_FILE_TMPDIR"
	write_script
}

# The job: which nodes Slurm's variables name, which ones its steps run on, in their order.
write_script() {
	cat >"$OUT/job.sh" <<-'END'
		#!/bin/bash
		echo "$(scontrol show hostnames "$SLURM_JOB_NODELIST" | paste -sd,) $SLURM_NNODES" \
			"$SLURM_JOB_NUM_NODES $SLURM_JOB_CPUS_PER_NODE $SLURM_TASKS_PER_NODE ${SLURM_NTASKS:--}"
		srun -l bash -c 'echo $SLURMD_NODENAME $ONESPINE_LEAF' | sort -n
	END
	chmod 755 "$OUT/job.sh"
}

# job SBATCH-OPTION...: that script; what it says is in $OUT/JOB
job() {
	sbatch --parsable --chdir=/ --output="$OUT/%j" "$@" "$OUT/job.sh"
}

# --- spares ---------------------------------------------------------------------------------------

@test "all good: the spare is released before the script, whose variables and steps know it" {
	one=$(job -N3 --gang --gang-spares=1 --ntasks-per-node=2 --gres=gpu:8)
	await_job "$one" COMPLETED
	equal "$(cat "$OUT/$one")" "n1,n2,n3 3 3 2(x3) 2(x3) 6
0: n1 s1l1
1: n1 s1l1
2: n2 s1l1
3: n2 s1l1
4: n3 s1l2
5: n3 s1l2"
	equal "$(job_field "$one" Restarts)" 0
	await 10 shows 'leaves=s1l1:n(1-2)|s1l2:n3; gate=3 of 4 nodes kept, all were good; log=n1:' job_field "$one" AdminComment
	await 10 shows 'placed: 3 nodes on spine s1, 1 released by the gate' job_field "$one" AdminComment
	none_drained_but
}

# Of n5 n7 and n6 n8, a leaf each, n8 is released: n7 is rank 1, and the file and the tasks have three nodes.
@test "a spare is released: the order of the nodes and the host file are made of those that stay" {
	# shellcheck disable=SC2016 # for the job
	one=$(sbatch --parsable --chdir=/ --output="$OUT/%j" -N3 --gang --gang-spares=1 --ntasks-per-node=1 -x 'n[1-4]' --gres=gpu:8 --wrap '
		srun sh -c "echo \$SLURM_PROCID \$SLURMD_NODENAME \$ONESPINE_NODE_RANK" | sort -n
		paste -sd" " "$ONESPINE_HOSTFILE"')
	await_job "$one" COMPLETED
	equal "$(cat "$OUT/$one")" "0 n5 0
1 n7 1
2 n6 2
n5 n7 n6"
	await 10 shows 'leaves=s2l1:n(5,7)|s2l2:n6; gate=3 of 4 nodes kept' job_field "$one" AdminComment
	none_drained_but
}

# Two segments of one node and a spare each: all of a leaf. Without segments the two nodes that stay would share one.
@test "spares in each segment: one of each is released, and ranks follow those that stay" {
	# shellcheck disable=SC2016 # for the job
	run --separate-stderr sbatch --parsable --chdir=/ --output="$OUT/%j" -N2 --gang=spine --gang-segment=leaf:1 --gang-spares=1/segment \
		--ntasks-per-node=1 -x 'n[1-4]' --gres=gpu:8 --wrap '
		srun sh -c "echo \$SLURM_PROCID \$SLURMD_NODENAME \$ONESPINE_NODE_RANK \$SLURM_NNODES" | sort -n
		paste -sd" " "$ONESPINE_HOSTFILE"; onespine audit'
	# shellcheck disable=SC2154
	one=$output
	# shellcheck disable=SC2154
	holds "$stderr" 'onespine: with 1 spare node in each it is placed as 4 nodes in segments leaf:2; 2 are released when all are checked'
	await_job "$one" COMPLETED
	equal "$(cat "$OUT/$one")" "0 n5 0 2
1 n6 1 2
n5 n6
1 gang running: 1 as asked for, 0 not"
	await 10 shows 'order=1x1; gate=2 of 4 nodes kept, all were good' job_field "$one" AdminComment
	await 10 shows 'placed: 2 nodes on spine s2, 2 released by the gate' job_field "$one" AdminComment
	none_drained_but
}

@test "spares in each segment: each covers a bad node of its own" {
	fault n1 "$ECC"
	fault n4 "$ECC"
	one=$(salloc --chdir=/ -N2 --gang=spine --gang-segment=leaf:1 --gang-spares=1/segment --ntasks-per-node=1 -x 'n[5-8]' --gres=gpu:8 \
		bash -c 'srun -l sh -c "echo \$SLURMD_NODENAME" | sort -n' 2>"$OUT/said")
	equal "$one" "0: n2
1: n3"
	await 10 drained n1 "$ECC_REASON"
	await 10 drained n4 "$ECC_REASON"
	none_drained_but n1 n4
}

@test "spares in each segment: two bad nodes of one are too many, though as many good ones are left" {
	fault n3 "$ECC"
	fault n4 "$ECC"
	one=$(job --no-requeue -N2 --gang=spine --gang-segment=leaf:1 --gang-spares=1/segment -x 'n[5-8]' --ntasks-per-node=1 --gres=gpu:8)
	await_job "$one" CANCELLED
	[[ ! -e $OUT/$one ]]
	await 10 shows 'of 4 nodes, 2 failed, it cannot be requeued: ended, n3: gpu3 ecc 12' job_field "$one" AdminComment
	await 10 drained n3 "$ECC_REASON"
	await 10 drained n4 "$ECC_REASON"
	none_drained_but n3 n4
}

# evidence_of NODE: the file in which it keeps what failed; written once the verdict has been given
evidence_of() {
	find "$ONESPINE_CLUSTER/nodes/$1" -path "*evidence/fail-$1-*.json" | grep .
}

@test "one fails, a spare covers it: drained with its reason, the job goes on without it" {
	fault n2 "$ECC"
	one=$(job -N3 --gang --gang-spares=1 --gres=gpu:8)
	await_job "$one" COMPLETED
	equal "$(cat "$OUT/$one")" "n1,n3,n4 3 3 1(x3) 1(x3) -
0: n1 s1l1
1: n3 s1l2
2: n4 s1l2"
	equal "$(job_field "$one" Restarts)" 0
	await 10 drained n2 "$ECC_REASON"
	none_drained_but n2
	await 10 shows '  gate: of 4 nodes, 1 failed, the job goes on without, n2: gpu3 ecc 12 uncorrectable > 0, reset gpu' onespine why "$one"
	# what was seen is kept, and only root reads it
	await 20 evidence_of n2
	kept=$(evidence_of n2 | head -n 1)
	equal "$(stat -c '%U %a' "$kept")" 'root 600'
	equal "$(jq -r '.verdict' "$kept")" FAIL
}

# own NODE SHELL-LINES: a site's own check on that node, as checks.d/50-own
own() {
	local folder=$ONESPINE_CLUSTER/nodes/$1$ONESPINE_PREFIX/etc/onespine/checks.d
	(umask 022 && mkdir -p "$folder")
	printf '#!/bin/bash\n%s\n' "$2" >"$folder/50-own"
	chmod 755 "$folder/50-own"
}

@test "a site's own check drains as ours do, by its name; what it sees is the job's number, and its GPUs" {
	own n1 "tr '\\0' '\\n' </proc/\$\$/environ | sort >$OUT/seen"
	own n2 'echo "/fsx is not mounted"; exit 1'
	export MINE=secret
	one=$(job -N3 --gang --gang-spares=1 --gres=gpu:8)
	await_job "$one" COMPLETED
	rm "$ONESPINE_CLUSTER"/nodes/n[12]"$ONESPINE_PREFIX"/etc/onespine/checks.d/50-own
	await 10 drained n2 'onespine: 50-own says /fsx is not mounted; ask'
	none_drained_but n2
	holds "$(onespine why "$one")" 'n2: 50-own says /fsx is not mounted, ask'
	equal "$(cat "$OUT/seen")" "CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7
PATH=/usr/sbin:/usr/bin:/sbin:/bin
SLURM_JOB_ID=$one"
}

@test "a site's own check that fails on four nodes opens the breaker, as ours do" {
	for node in n1 n2 n3 n4 n5 n6 n7 n8; do
		own "$node" 'echo "/fsx is not mounted"; exit 1'
	done
	one=$(job -N4 --gang)
	await_job "$one" COMPLETED
	rm "$ONESPINE_CLUSTER"/nodes/n[1-8]"$ONESPINE_PREFIX"/etc/onespine/checks.d/50-own
	await 10 note_holds "$one" 'gate=of 4 nodes (breaker open, none drained), 4 failed, the job goes on'
	holds "$(onespine why "$one")" '50-own says /fsx is not mounted'
	none_drained_but
}

# left_of FILE: of the processes whose numbers stand there one is left
left_of() {
	local pid
	for pid in $(<"$1"); do
		[[ ! -e /proc/$pid ]] || return 0
	done
	return 1
}

@test "what a site's own check leaves running in sessions of its own has ended when the job begins" {
	own n1 "setsid sleep 600 & echo \$! >$OUT/left
		(setsid bash -c 'echo \$\$ >>$OUT/left; setsid sleep 600 & echo \$! >>$OUT/left; wait' &)
		until ((\$(wc -l <$OUT/left) == 3)); do sleep 0.05; done"
	one=$(job -N2 --gang --gang-spares=1 --gres=gpu:8)
	await_job "$one" COMPLETED
	rm "$ONESPINE_CLUSTER"/nodes/n1"$ONESPINE_PREFIX"/etc/onespine/checks.d/50-own
	equal "$(wc -l <"$OUT/left")" 3
	! left_of "$OUT/left" || fail "left: $(ps -o pid=,stat=,args= -p "$(paste -sd, "$OUT/left")")"
	none_drained_but
}

@test "two fail with one spare: both drained, the job starts again elsewhere" {
	fault n2 "$ECC"
	fault n3 "$ECC"
	one=$(job -N3 --gang --gang-spares=1 --gres=gpu:8)
	await_job "$one" COMPLETED 60
	await 10 shows 'n5,n6,n7 3 3' cat "$OUT/$one"
	equal "$(job_field "$one" Restarts)" 1
	await 10 drained n2 "$ECC_REASON"
	await 10 drained n3 "$ECC_REASON"
	none_drained_but n2 n3
}

@test "the first node fails: Slurm cannot release it, so the job starts again, spare or not" {
	fault n1 "$ECC"
	one=$(job -N3 --gang --gang-spares=1 --gres=gpu:8)
	await_job "$one" COMPLETED 60
	equal "$(job_field "$one" Restarts)" 1
	await 10 shows 'gate=stopped 1 start, ' job_field "$one" AdminComment
	await 10 drained n1 "$ECC_REASON"
	none_drained_but n1
}

@test "salloc: with a spare it goes on, and each srun typed in its shell is right" {
	fault n3 "$ECC"
	# shellcheck disable=SC2016
	salloc -N3 --gang --gang-spares=1 --ntasks-per-node=2 --gres=gpu:8 bash -c \
		'srun -l bash -c "echo \$SLURMD_NODENAME \$SLURM_JOB_NODELIST \$SLURM_NNODES \$ONESPINE_LEAF" | sort -n' \
		>"$OUT/salloc" 2>"$OUT/said" </dev/null
	equal "$(cat "$OUT/salloc")" "0: n1 n[1-2,4] 3 s1l1
1: n1 n[1-2,4] 3 s1l1
2: n2 n[1-2,4] 3 s1l1
3: n2 n[1-2,4] 3 s1l1
4: n4 n[1-2,4] 3 s1l2
5: n4 n[1-2,4] 3 s1l2"
	await 10 drained n3 "$ECC_REASON"
}

@test "more spares than policy allows, a bare srun with spares, a partition without a gate: refused in words" {
	holds "$(submit_refused -N3 --gang-spares=3)" '--gang-spares=3: partition gpu allows 2 spare nodes to a job'
	holds "$(submit_refused -N2 --gang=spine --gang-spares=1/segment)" \
		'--gang-spares=1/segment are spares in each segment, and this job has none: give --gang-segment too, as in --gang-segment=leaf:16, or say --gang-spares=1'
	holds "$(submit_refused -N2 --gang=spine --gang-segment=leaf:1 --gang-spares=1)" 'say --gang-spares=K/segment, for K spare nodes in each segment'
	holds "$(submit_refused -N3 --gang=spine --gang-segment=leaf:1 --gang-spares=1/segment)" \
		'--gang-spares=1/segment, 3 in all: partition gpu allows 2 spare nodes to a job; ask for no more'
	holds "$(submit_refused -N2 --gang=spine --gang-segment=leaf:2 --gang-spares=1/segment)" \
		'with 1 spare node in each segment: --gang-segment=leaf:3: leaf:3: the largest leaf has 2 nodes; say at most leaf:2, its spares among them'
	holds "$(submit_refused -p none -N3 --gang-spares=1)" 'partition none has no gate that would release spare nodes'
	holds "$(submit_refused -N3 --gang-spares=1 --exclusive)" '--gang-spares cannot be combined with --exclusive'
	holds "$(submit_refused -N3 --gang-spares=1 --gpus=24)" 'ask for --gpus-per-node'
	run srun -N3 --gang-spares=1 true
	((status))
	holds "$output" 'submit with sbatch, or use salloc and srun inside it'
	equal "$(squeue -h -o %i)" ''
}

@test "a gang with spares is given no segments, which would lack what is released, nor a partition without a gate" {
	one=$(job -N3 --gang --gang-spares=1 --begin=now+1hour)
	run onespine set "$one" --gang=spine --gang-segment=leaf:2
	((status == 1)) || fail "$output"
	holds "$(job_field "$one" AdminComment)" 'gang=spine]'
	run scontrol update "JobId=$one" Partition=none
	((status)) || fail "taken: Partition=none"
	onespine set "$one" --gang=spine --gang-domains=2
	scancel "$one"
}

# --- no spares ------------------------------------------------------------------------------------

@test "one fails: the job starts again, not held, without a hand laid on; its script runs once" {
	fault n2 "$ECC"
	one=$(job -N3 --gang --gres=gpu:8)
	await_job "$one" COMPLETED 60
	equal "$(grep -c '^0: ' "$OUT/$one")" 1
	[[ $(cat "$OUT/$one") != *n2* ]]
	equal "$(job_field "$one" Restarts)" 1
	await 10 drained n2 "$ECC_REASON"
	none_drained_but n2
	await 10 shows 'gate: stopped 1 start, of 3 nodes, 1 failed, the job starts again elsewhere, n2: gpu3 ecc' onespine why "$one"
}

@test "--no-requeue: a clear end, and no process of it has run" {
	fault n1 "$ECC"
	one=$(job --no-requeue -N2 -w n1,n2)
	await_job "$one" CANCELLED
	[[ ! -e $OUT/$one ]]
	await 10 shows 'of 2 nodes, 1 failed, it cannot be requeued: ended, n1: gpu3 ecc 12' job_field "$one" AdminComment
	await 10 drained n1 "$ECC_REASON"
	none_drained_but n1
}

@test "salloc and srun without spares: ended, and the reason printed" {
	fault n2 "$ECC"
	run salloc -N3 --gang true </dev/null
	((status))
	holds "$output" 'onespine: of 3 nodes, 1 failed; it cannot be requeued: ended; n2: gpu3 ecc 12 uncorrectable > 0'
	await 10 drained n2 "$ECC_REASON"
	free_all
	run srun -N3 -w n2 --gang bash -c "touch $OUT/has-run"
	((status))
	holds "$output" 'onespine: of 3 nodes, 1 failed; it cannot be requeued: ended; n2: gpu3 ecc 12 uncorrectable > 0'
	[[ ! -e $OUT/has-run ]]
	none_drained_but n2
}

@test "an array: only the task on the bad node starts again" {
	fault n4 "$ECC"
	all=$(job --array=1-4 -N2 --exclusive)
	await 60 no_jobs
	none_drained_but n4
	await 10 drained n4 "$ECC_REASON"
	equal "$(scontrol show job "$all" | grep -o 'Restarts=[0-9]*' | sort | paste -sd' ')" \
		'Restarts=0 Restarts=0 Restarts=0 Restarts=1'
	equal "$(scontrol show job "$all" | grep -c JobState=COMPLETED)" 4
}

@test "a heterogeneous job: as a whole" {
	fault n3 "$ECC"
	one=$(job -N2 --exclusive : -N2 --exclusive)
	await 30 requeued "$one"
	await 60 looked_at "$one"
	equal "$(job_field "$one" Restarts)" 1
	none_drained_but n3
	await 10 drained n3 "$ECC_REASON"
}

# Only backfill starts such a job, and that looks again only when something has changed.
looked_at() {
	scontrol update "JobId=$1" "Comment=$EPOCHREALTIME" || true
	job_is "$1" COMPLETED
}

# --- what is nobody's fault -------------------------------------------------------------------------

@test "a silent node: not drained; this job does not get it again, beside what its user excluded" {
	fault n3 "sleep $SILENT_S"
	one=$(job -N3 --gang --exclude=n4)
	await 60 requeued "$one"
	await 10 excludes "$one" 'n[3-4]'
	none_drained_but
	await_job "$one" COMPLETED 90
	[[ $(cat "$OUT/$one") != *n3* ]]
}

@test "an administrator's reason stays, and so does his drain" {
	fault n2 "scontrol update NodeName=n2 State=DRAIN Reason=mine"
	fault n2 "$ECC"
	one=$(job -N3 --gang --gang-spares=1)
	await_job "$one" COMPLETED
	[[ $(cat "$OUT/$one") != *n2* ]]
	await 10 drained n2 mine
}

@test "the breaker: the same failure on four nodes drains none; the job goes on, or waits and is held" {
	for node in n1 n2 n3 n4 n5 n6 n7 n8; do
		fault "$node" "$ECC"
	done
	one=$(job -N4 --gang)
	await_job "$one" COMPLETED
	await 10 shows 'gate=of 4 nodes (breaker open, none drained), 4 failed, the job goes on, n1: gpu3 ecc 12' job_field "$one" AdminComment
	none_drained_but
	two=$(job -p wait -N4 --gang)
	await 60 note_holds "$two" 'gate=stopped 2 starts, of 4 nodes (breaker open, none drained), 4 failed, stopped too often: held'
	equal "$(job_field "$two" Priority)" 0
	[[ ! -e $OUT/$two ]]
	none_drained_but
}

@test "where policy only comments the job goes on, and says so" {
	fault n1 "$ECC"
	one=$(job -p told -N2 -w n1,n2)
	await_job "$one" COMPLETED
	await 10 shows 'gate=of 2 nodes, 1 failed, the job goes on, n1: gpu3 ecc 12' job_field "$one" AdminComment
	none_drained_but
}

@test "slurmctld is killed in the middle: what was decided is done when it is back" {
	fault n2 "until [[ -e $BATS_TEST_TMPDIR/killed ]]; do sleep 0.1; done"
	fault n2 "$ECC"
	one=$(job -N3 --gang)
	await_job "$one" RUNNING
	await_saved "$one"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER" -9
	touch "$BATS_TEST_TMPDIR/killed"
	await 20 says n2 FAIL
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	await_job "$one" COMPLETED 90
	[[ $(cat "$OUT/$one") != *n2* ]]
	await 10 drained n2 "$ECC_REASON"
	none_drained_but n2
	await 20 no_gate_left
}

@test "a gate is killed while it makes good what slurmctld had not heard: its own healthy node is not drained" {
	fault n2 "until [[ -e $BATS_TEST_TMPDIR/killed ]]; do sleep 0.1; done"
	fault n2 "$ECC"
	ends_at n1 ': of 3 nodes, 1 failed'
	one=$(job -N3 -w n1 --gang)
	await_job "$one" RUNNING
	await_saved "$one"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER" -9
	touch "$BATS_TEST_TMPDIR/killed"
	await 30 says n3 'requeue by n1 of 3 nodes' # reported by n1, which has yet to tell slurmctld
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	await_job "$one" COMPLETED 90
	[[ $(cat "$OUT/$one") != *n2* ]]
	await 10 drained n2 "$ECC_REASON"
	holds "$(gate_log n1)" ': of 3 nodes, 1 failed' # where it was killed
	[[ $(gate_log n1) != *'requeue by n1'* ]]
	none_drained_but n2
	await 20 no_gate_left
}

# --- the repair loop --------------------------------------------------------------------------------

# The check as it runs on a node of the test's: with that node's faults.
write_program() {
	sed 's#libexec/onespine/onespine-gate "\$@"$#bin/onespine "$@"#' "$ONESPINE_CLUSTER/gate" >"$OUT/check"
	chmod 755 "$OUT/check"
	printf '%s\n' "$OUT/check"
}

@test "recheck gives back what is well again, drains again what is not, and leaves others' drains alone" {
	fault n2 "$ECC"
	fault n4 'export ONESPINE_FAKE_NVML=gpu3.recovery=3' # the driver asks to drain P2P
	# Another cluster's nodes of the same names are other nodes.
	install -d -m 700 "${RETURNS%/*}"
	printf "$EPOCHSECONDS n1\n%.0s" {1..4} >"${RETURNS%-*}-1.returns"
	scontrol update NodeName=n1,n2 State=DRAIN "Reason=$ECC_REASON"
	scontrol update NodeName=n3 State=DRAIN Reason='fan broken'
	run onespine recheck --dry-run
	equal "$status $output" "0 n1: would be checked: drained for: $ECC_REASON
n2: would be checked: drained for: $ECC_REASON"
	run onespine recheck --dry-run n3 n5 n33
	equal "$status $output" "1 n3: left alone: drained by others: fan broken
n5: left alone: it is not drained
n33: left alone: Slurm knows no such node; did you mean n3?"
	if as_other_user onespine --version; then
		run as_other_user onespine recheck --dry-run n1 n5
		equal "$status $output" '2 onespine: recheck is for root: it undrains nodes and drains them'
		await 10 drained n1 "$ECC_REASON"
	fi
	equal "$(onespine recheck --dry-run --json n1 | jq -c .)" "[{\"node\":\"n1\",\"fate\":\"would be checked\",\"says\":\"drained for: $ECC_REASON\"}]"
	run onespine recheck --program="$(write_program)" --depth=passive
	((status == 1))
	holds "$output" 'n1: returned: PASS'
	[[ $output != *'Required node not available'* ]]
	holds "$output" "n2: stays drained: $ECC_REASON"
	await 10 node_is n1 idle
	await 10 drained n2 "$ECC_REASON"
	await 10 drained n3 'fan broken'
	scontrol update NodeName=n4 State=DRAIN "Reason=$ECC_REASON"
	holds "$(onespine recheck --program="$(write_program)" --depth=passive n4)" 'n4: returned: WARN: recovery'
	await 10 node_is n4 idle
	equal "$(scontrol -o show reservation)" 'No reservations in the system'
	holds "$(onespine recheck n3 || true)" 'n3: left alone: drained by others: fan broken'
	holds "$(onespine recheck n1 || true)" 'n1: left alone: it is not drained'
}

@test "recheck: a node that came back too often stays out, unless it is named; only root may" {
	install -d -m 700 "${RETURNS%/*}"
	for ((i = 0; i < 3; i++)); do
		printf '%s n5\n' "$EPOCHSECONDS" >>"$RETURNS"
	done
	scontrol update NodeName=n5 State=DRAIN "Reason=$ECC_REASON"
	holds "$(onespine recheck || true)" 'n5: stays drained: a repeated offender, given back 3 times in 30 days'
	run onespine recheck --program="$(write_program)" --depth=passive n5
	((status == 0))
	await 10 node_is n5 idle
	if as_other_user onespine --version; then
		run as_other_user onespine recheck n5
		((status == 2))
		holds "$output" 'recheck is for root'
	fi
}
