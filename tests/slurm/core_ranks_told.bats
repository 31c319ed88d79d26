#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_ranks_told.bats - further ways to start a gang's tasks: each rank is on its node, or a line tells the user how to get it there
#
# Names run against the fabric: spine s1 has leaves of n1 n3 n5 n7 and n2 n4 n6 n8.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	cat >"$BATS_FILE_TMPDIR/onespine.topology" <<'END'
{"onespine-topology": 1, "source": "core_ranks_told", "levels": ["leaf", "spine"], "domains": [
{"level": "spine", "name": "s1"},
{"level": "leaf", "name": "l1", "in": "s1", "nodes": "n[1,3,5,7]"},
{"level": "leaf", "name": "l2", "in": "s1", "nodes": "n[2,4,6,8]"}]}
END
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<'END'
partitions:
  train: {gang: always}
  hint: {mode: advise, gang: always}
  large: {gang: always, from_nodes: 4, allow_off: false}
END
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --gres gpu:8 --config "$BATS_FILE_TMPDIR/onespine.yaml" \
		--partition 'gpu Nodes=ALL Default=YES' --partition 'train Nodes=ALL' --partition 'hint Nodes=ALL' --partition 'large Nodes=ALL' \
		--node-conf RealMemory=1000 --conf SelectTypeParameters=CR_CPU_Memory --conf DefMemPerNode=100 \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1
}

done_writing() {
	grep -q '^done$' "$1"
}

# in_job SCRIPT OPTION...: what the script prints as a batch job of these options
in_job() {
	local script=$1 out=$BATS_TEST_TMPDIR/out.$RANDOM job
	shift
	job=$(submit --output="$out" --exclusive --wrap "$script"$'\necho done' "$@")
	await 60 done_writing "$out" || fail "$(scontrol show job "$job"; cat "$out")"
	grep -v '^done$' "$out"
}

# shellcheck disable=SC2016
tell='echo task $SLURM_PROCID $SLURMD_NODENAME $ONESPINE_NODE_RANK $SLURM_DISTRIBUTION'

tasks() {
	sed -n 's/^task //p' | sort -n | awk '{print $2}' | paste -sd' '
}

along='n1 n3 n5 n7 n2 n4 n6 n8'

# ordered_or_told TEXT: the ranks are along the fabric, or a line of onespine's says they are not
ordered_or_told() {
	[[ $(tasks <<<"$1") == "$along" || $1 == *'onespine: '* ]] || fail "silent: $(tasks <<<"$1")
$1"
}

@test "srun --jobid of its own job is in the order" {
	ordered_or_told "$(in_job "srun --jobid=\$SLURM_JOB_ID sh -c '$tell' 2>&1" -N8 --gang=spine)"
}

@test "srun --jobid of a job elsewhere is told" {
	salloc -Q --no-shell -J other -N8 --exclusive --gang=spine
	job=$(squeue -h -n other -o %A)
	printed=$(srun --jobid="$job" sh -c "$tell" 2>&1)
	scancel "$job"
	ordered_or_told "$printed"
}

@test "a launcher that reads SLURM_NODEID is told" {
	printed=$(in_job "srun --ntasks-per-node=1 sh -c ': --node-rank=\$SLURM_NODEID; echo task \$SLURM_NODEID \$SLURMD_NODENAME' 2>&1" -N8 --gang=spine)
	ordered_or_told "$printed"
}

@test "salloc with --gang-segment and without --gang" {
	ordered_or_told "$(salloc -Q -N8 --exclusive --gang-segment=leaf:4 srun sh -c "$tell" 2>&1)"
}

@test "salloc with --gang-layout and without --gang" {
	printed=$(salloc -Q -N8 --exclusive --gang-layout=tp8,pp2 --gang-keep=pp:leaf --gpus-per-node=8 srun sh -c "$tell" 2>&1)
	[[ $(tasks <<<"$printed") == 'n1 n5 n2 n6 n3 n7 n4 n8' || $printed == *'onespine: srun'* ]] || fail "silent: $printed"
}

@test "sbatch in a step" {
	out=$BATS_TEST_TMPDIR/out
	srun -p gpu -N1 -n1 sh -c "sbatch -p gpu -N8 --exclusive --gang=spine --output=$out --wrap 'env | grep -E \"^SLURM_(STEP_ID|DISTRIBUTION)=\"; srun -n8 sh -c \"$(sed 's/\$/\\$/g' <<<"$tell")\" 2>&1; echo done'"
	await 60 done_writing "$out"
	ordered_or_told "$(<"$out")"
}

@test "srun in a shell that srun opened in the job" {
	printed=$(salloc -Q -N8 --exclusive --gang=spine srun --overlap -N1 -n1 sh -c "unset SLURM_DISTRIBUTION; srun --overlap -N8 -n8 sh -c '$tell' 2>&1" 2>&1)
	ordered_or_told "$printed"
}

@test "salloc of a gang that policy made" {
	ordered_or_told "$(salloc -Q -p train -N8 --exclusive srun sh -c "$tell" 2>&1)"
}

@test "srun -m for the cores of a node" {
	ordered_or_told "$(in_job "srun -m '*:block' sh -c '$tell' 2>&1" -N8 --gang=spine)"
}

@test "srun with SLURM_CONSTRAINT" {
	scontrol update NodeName=n[1-8] AvailableFeatures=x ActiveFeatures=x
	printed=$(in_job "SLURM_CONSTRAINT=x srun sh -c '$tell' 2>&1" -N8 --gang=spine)
	scontrol update NodeName=n[1-8] AvailableFeatures= ActiveFeatures=
	equal "$(tasks <<<"$printed" | wc -w)" 8
	ordered_or_told "$printed"
}

@test "mode advise leaves ranks to Slurm, and that is told" {
	printed=$(in_job "srun sh -c '$tell' 2>&1" -N8 -p hint)
	equal "$(tasks <<<"$printed")" 'n1 n2 n3 n4 n5 n6 n7 n8'
	holds "$printed" 'onespine: srun orders these tasks by names of nodes and not along the fabric (mode advise)'
}

@test "srun of as many tasks as the job has, two on a node" {
	printed=$(in_job "srun --overcommit -n16 sh -c '$tell' 2>&1" -N8 -n 16 --overcommit --gang=spine)
	equal "$(tasks <<<"$printed")" 'n1 n1 n3 n3 n5 n5 n7 n7 n2 n2 n4 n4 n6 n6 n8 n8'
}

@test "salloc in a step" {
	printed=$(srun -p gpu --overlap -N1 -n1 sh -c "unset SLURM_DISTRIBUTION SLURM_JOB_ID SLURM_JOBID; true; salloc -Q -p gpu -N8 -n8 --gang=spine srun --overlap -n8 sh -c '$tell' 2>&1")
	ordered_or_told "$printed"
}

@test "sbatch -m for the cores of a node" {
	ordered_or_told "$(in_job "srun sh -c '$tell' 2>&1" -N8 --gang=spine -m block:block)"
}

@test "a gang in two spines has its first ranks in one" {
	local own=$ONESPINE_CLUSTER
	cat >"$BATS_TEST_TMPDIR/onespine.topology" <<'END'
{"onespine-topology": 1, "source": "core_ranks_told", "levels": ["leaf", "spine"], "domains": [
{"level": "spine", "name": "s1"}, {"level": "spine", "name": "s2"},
{"level": "leaf", "name": "l1", "in": "s1", "nodes": "n[3-4]"},
{"level": "leaf", "name": "l2", "in": "s1", "nodes": "n[1-2]"},
{"level": "leaf", "name": "l3", "in": "s2", "nodes": "n[5-6]"},
{"level": "leaf", "name": "l4", "in": "s2", "nodes": "n[7-8]"}]}
END
	cluster_start --topology "$BATS_TEST_TMPDIR/onespine.topology" \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1
	printed=$(in_job "srun sh -c '$tell' 2>&1" -N8 --gang=spine --gang-domains=2)
	segments=$(in_job "srun sh -c '$tell' 2>&1" -N8 --gang=spine --gang-domains=2 --gang-segment=leaf:2)
	cluster_stop
	cluster_use "$own"
	equal "$(tasks <<<"$printed")" 'n1 n2 n3 n4 n5 n6 n7 n8'
	equal "$(tasks <<<"$segments")" 'n1 n2 n3 n4 n5 n6 n7 n8'
}

@test "salloc's interactive step (LaunchParameters=use_interactive_step)" {
	local own=$ONESPINE_CLUSTER out=$BATS_TEST_TMPDIR/out
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --node-conf RealMemory=1000 --conf SelectTypeParameters=CR_CPU_Memory \
		--conf DefMemPerNode=100 --conf LaunchParameters=use_interactive_step \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1
	printf '#!/bin/sh\nenv | grep -E "^SLURM_(STEP_ID|DISTRIBUTION)="\nsrun --overlap sh -c '"'%s'"' 2>&1\n' "$tell" >"$BATS_TEST_TMPDIR/inner"
	chmod 755 "$BATS_TEST_TMPDIR/inner"
	SHELL=/bin/sh timeout 60 script -qec "salloc -Q -N8 --gang=spine" /dev/null <<<"$BATS_TEST_TMPDIR/inner
exit
" >"$out" 2>&1 || true
	tr -d '\r' <"$out" >"$out.clean"
	cluster_stop
	cluster_use "$own"
	ordered_or_told "$(<"$out.clean")"
}

@test "srun with its own allocation of a gang that policy made is told" {
	run --separate-stderr srun -p train -N8 --exclusive sh -c "$tell"
	# shellcheck disable=SC2154
	ordered_or_told "$output
$stderr"
}

# held SCRIPT OUT OPTION...: submits it held; the caller releases it
held() {
	local script=$1 out=$2
	shift 2
	submit --hold --output="$out" --exclusive --wrap "$script"$'\necho done' "$@"
}

@test "a batch job that onespine set made a gang" {
	out=$BATS_TEST_TMPDIR/out
	job=$(held "srun sh -c '$tell' 2>&1" "$out" -N8)
	onespine set "$job" --gang=spine
	scontrol release "$job"
	await 60 done_writing "$out" || fail "$(scontrol show job "$job"; cat "$out")"
	ordered_or_told "$(<"$out")"
}

@test "a batch job that policy made a gang by its size at its start" {
	out=$BATS_TEST_TMPDIR/out
	job=$(submit -p large --output="$out" --wrap "srun sh -c '$tell' 2>&1; echo done" -n8 --mem-per-cpu=900)
	await 60 done_writing "$out" || fail "$(scontrol show job "$job"; cat "$out")"
	ordered_or_told "$(<"$out")"
}

@test "onespine set and fit --json tell a smaller last segment" {
	local left='segments leaf:3 leave 1 of 4 nodes in each full leaf to others; the last segment of leaf:3 has 1 node'
	job=$(submit --hold -N7 --exclusive)
	printed=$(onespine set "$job" --gang=spine --gang-segment=leaf:3)
	equal "$printed" "job $job now asks for --gang=spine segment=leaf:3
  $left"
	printed=$(onespine set "$job" --gang=spine --gang-segment=leaf:3 --json)
	equal "$(jq -r .left <<<"$printed")" "$left"
	scancel "$job"
	printed=$(onespine fit -N 7 --gang=spine --gang-segment=leaf:3 --json)
	equal "$(jq -r .left <<<"$printed")" "$left"
	printed=$(onespine fit -N 8 --gang=spine --gang-segment=leaf:4 --json)
	equal "$(jq -r .left <<<"$printed")" null
}

@test "SLURM_NODEID in a Python program is told" {
	printf 'import os, subprocess\nprint("task", os.environ["SLURM_NODEID"], os.environ["SLURMD_NODENAME"])\n' >"$BATS_TEST_TMPDIR/t.py"
	ordered_or_told "$(in_job "srun --ntasks-per-node=1 /usr/bin/python3 $BATS_TEST_TMPDIR/t.py 2>&1" -N8 --gang=spine)"
}
