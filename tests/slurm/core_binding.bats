#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_binding.bats - --gang-bind in jobs of a real Slurm: tasks really bound, and when they are not

# shellcheck disable=SC2016 # what the tasks' shells are to expand

load helpers
load gpu_nodes

setup_file() {
	export LC_ALL=C.UTF-8
	make_gpu_nodes
	cat >"$FIXTURE/site/rules.d/site.yaml" <<-END
		rules:
		  - {id: S1, when: {bound: yes}, action: set, variable: OSP_BOUND, value: "yes", severity: missing, reason: ours, source: here}
	END
	cluster_start --nodes 2 --gres gpu:2
	use_gpu_nodes
}

step() {
	srun -Q --exclusive --gang-bind=verbose "$@" 2>"$BATS_TEST_TMPDIR/err"
}

# what a task says: its rank and its CPUs, by sched_getaffinity
MASK='echo "$SLURM_LOCALID $(taskset -cp $$ | sed "s/.*: //")"'

# all that a task could have
all_cpus() {
	taskset -cp $$ | sed 's/.*: //'
}

need_two_cpus() {
	((CPU_COUNT > 1)) || skip "one CPU is too few"
}

# planned TASKS: the same of the plan that the command shows
planned() {
	onespine bind --topology "$FIXTURE/machine.xml" --tasks "$1" --json |
		jq -r '.tasks[] | "\(.task) \(.cpus)"'
}

@test "each task has the cores of the plan, near its GPU, on every node" {
	need_two_cpus
	step -N2 -n4 --gres=gpu:2 sh -c "$MASK" | sort | uniq -c | awk '{ print $1, $2, $3 }' \
		>"$BATS_TEST_TMPDIR/out"
	equal "$(<"$BATS_TEST_TMPDIR/out")" "2 0 $CPU_B
2 1 $CPU_A"
	equal "$(sed 's/^2 //' "$BATS_TEST_TMPDIR/out")" "$(planned 2)"
	equal "$(grep -c '^onespine: bind: task [0-3] on n[12]: CPUs' "$BATS_TEST_TMPDIR/err")" 4
	holds "$(<"$BATS_TEST_TMPDIR/err")" "CPUs $CPU_B, memory of NUMA node 1 preferred: GPU 0 is near NUMA node 1"
}

@test "auto says nothing, off does nothing, and rules may ask what was done" {
	need_two_cpus
	equal "$(srun -Q --exclusive -n2 -N1 sh -c "$MASK" 2>&1 | sort)" "0 $CPU_B
1 $CPU_A"
	equal "$(srun -Q --exclusive -n1 -N1 --gang-bind=off sh -c "$MASK")" "0 $(all_cpus)"
	equal "$(srun -Q --exclusive -n2 -N1 sh -c 'echo ${OSP_BOUND-no}' | sort -u)" yes
	equal "$(srun -Q --exclusive -n2 -N1 --gang-bind=off sh -c 'echo ${OSP_BOUND-no}' | sort -u)" no
}

@test "GPUs as the task sees them: a task's own GPU decides" {
	need_two_cpus
	equal "$(step -N1 -n2 --gpus-per-task=1 sh -c "$MASK" | sort)" "0 $CPU_B
1 $CPU_A"
	equal "$(grep -c 'CPUs .*GPU [01] is near' "$BATS_TEST_TMPDIR/err")" 2
}

@test "one task a node has all cores, and its children part them by LOCAL_RANK" {
	need_two_cpus
	equal "$(step -N1 -n1 sh -c "$MASK")" "0 $(all_cpus)"
	step -N1 -n1 sh -c 'for rank in 0 1; do
		LOCAL_RANK=$rank LOCAL_WORLD_SIZE=2 onespine bind run sh -c "$0"; done' "$MASK" >"$BATS_TEST_TMPDIR/out"
	equal "$(<"$BATS_TEST_TMPDIR/out")" "0 $CPU_B
0 $CPU_A"
}

@test "a task sees all GPUs of its job, and prefers memory near its own without being held to it" {
	need_two_cpus
	equal "$(step -N1 -n2 --gres=gpu:2 sh -c 'echo $CUDA_VISIBLE_DEVICES' | sort -u)" 0,1
	LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 onespine bind run grep -q ' prefer' /proc/self/numa_maps 2>/dev/null ||
		skip "memory policies are not allowed here"
	# task 1 is near NUMA node 0, the one that this machine surely has
	step -N1 -n2 sh -c '[ $SLURM_LOCALID = 0 ] || cat /proc/self/numa_maps' >"$BATS_TEST_TMPDIR/maps"
	grep -qE ' prefer( \(many\))?:0 ' "$BATS_TEST_TMPDIR/maps"
	[[ $(<"$BATS_TEST_TMPDIR/maps") != *' bind:'* ]]
}

@test "what the user binds stays: options, also cut short, and variables" {
	for option in --cpu-bind=none --cpu-b=none --mem-bind=local --gpu-bind=none --hint=multithread; do
		equal "$(step -N1 -n1 $option sh -c "$MASK")" "0 $(all_cpus)"
		holds "$(<"$BATS_TEST_TMPDIR/err")" "left as it is: ${option:0:6}"
	done
	SLURM_CPU_BIND=none step -N1 -n2 sh -c "$MASK" >"$BATS_TEST_TMPDIR/out"
	equal "$(sort "$BATS_TEST_TMPDIR/out")" "0 $(all_cpus)
1 $(all_cpus)"
	holds "$(<"$BATS_TEST_TMPDIR/err")" 'left as it is: SLURM_CPU_BIND is given'
	# also where the environment is not handed on
	equal "$(step -N1 -n1 --export=NONE --cpu-bind=none /bin/sh -c "PATH=/usr/bin:/bin; $MASK")" "0 $(all_cpus)"
	holds "$(<"$BATS_TEST_TMPDIR/err")" 'left as it is: --cpu-bind is given'
	# and a command's own words are not srun's
	step -N1 -n2 echo --cpu-bind=none >"$BATS_TEST_TMPDIR/out"
	holds "$(<"$BATS_TEST_TMPDIR/err")" 'CPUs'
}

@test "an inherited SLURM_CPU_BIND is noticed and is nobody's choice" {
	SLURM_CPU_BIND=quiet,mask_cpu:0x1 SLURM_CPU_BIND_TYPE=mask_cpu: SLURM_CPU_BIND_LIST=0x1 \
		step -N1 -n2 sh -c "$MASK" >"$BATS_TEST_TMPDIR/out"
	holds "$(<"$BATS_TEST_TMPDIR/err")" 'SLURM_CPU_BIND is in the environment of the step around this one'
	equal "$(grep -c 'bind: task [01] on .*: CPUs' "$BATS_TEST_TMPDIR/err")" 2
}

@test "inside Slurm's own part of the node, whatever the plan" {
	need_two_cpus
	cluster kill-node --dir "$ONESPINE_CLUSTER" n2
	taskset -c "$CPU_A" "$ONESPINE_TOOLS/cluster" start-node --dir "$ONESPINE_CLUSTER" n2
	await 30 node_is n2 idle
	equal "$(step -w n2 -n2 sh -c "$MASK" | sort)" "0 $CPU_A
1 $CPU_A"
	cluster kill-node --dir "$ONESPINE_CLUSTER" n2
	cluster start-node --dir "$ONESPINE_CLUSTER" n2
	await 30 node_is n2 idle
}

@test "a part of a node that nothing confines is not bound" {
	need_two_cpus
	srun -Q -N1 -n1 -c1 --gang-bind=verbose sh -c "$MASK" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err"
	equal "$(<"$BATS_TEST_TMPDIR/out")" "0 $(all_cpus)"
	holds "$(<"$BATS_TEST_TMPDIR/err")" 'left as it is: Slurm confines it to no part of this node'
}

@test "batch scripts and several steps at once" {
	need_two_cpus
	sbatch -Q --wait -N1 -n2 --exclusive -o "$BATS_TEST_TMPDIR/out" --wrap "
		SLURM_LOCALID=script; $MASK
		for i in 1 2 3; do srun --overlap -n2 sh -c '$MASK' & done; wait"
	holds "$(<"$BATS_TEST_TMPDIR/out")" "script $(all_cpus)"
	equal "$(grep -c '^0 '"$CPU_B"'$' "$BATS_TEST_TMPDIR/out")" 3
	equal "$(grep -c '^1 '"$CPU_A"'$' "$BATS_TEST_TMPDIR/out")" 3
}
