#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_ranks_steps.bats - a step of a gang has the tasks and the nodes that Slurm gives it without us; only their order differs
#
# Names run against the fabric: spine s1 has leaves of n1 n3 n5 n7 and n2 n4 n6 n8.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	cat >"$BATS_FILE_TMPDIR/onespine.topology" <<'END_OF_FABRIC'
{"onespine-topology": 1, "source": "core_ranks_steps", "levels": ["leaf", "spine"], "domains": [
{"level": "spine", "name": "s1"},
{"level": "leaf", "name": "l1", "in": "s1", "nodes": "n[1,3,5,7]"},
{"level": "leaf", "name": "l2", "in": "s1", "nodes": "n[2,4,6,8]"}]}
END_OF_FABRIC
	cluster_start --nodes 8 --topology "$BATS_FILE_TMPDIR/onespine.topology" --gres gpu:8 \
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
tell='echo task $SLURM_PROCID $SLURMD_NODENAME'

tasks() {
	sed -n 's/^task //p' | sort -n | awk '{print $2}' | paste -sd' '
}

# by_node TEXT: how many tasks each node has
by_node() {
	sed -n 's/^task //p' <<<"$1" | awk '{print $2}' | sort | uniq -c | awk '{print $2 ":" $1}' | paste -sd' '
}

# as_slurm WORDS OPTION...: srun with these words has the tasks that it has where the plugin knows no gang
as_slurm() {
	local words=$1 plain ours
	shift
	plain=$(in_job "unset ONESPINE_LEAVES ONESPINE_LEVEL; srun $words sh -c '$tell' 2>&1" "$@")
	ours=$(in_job "srun $words sh -c '$tell' 2>&1" "$@")
	equal "$(by_node "$ours")" "$(by_node "$plain")" "tasks of each node, srun $words"
}

@test "--no-kill: a gang that lost a node starts further steps on those that are left" {
	printed=$(in_job "scontrol update NodeName=n5 State=DOWN Reason=test
		srun sh -c '$tell' 2>&1
		scontrol update NodeName=n5 State=RESUME" -N8 --no-kill --gang=spine)
	equal "$(tasks <<<"$printed" | tr ' ' '\n' | sort | paste -sd' ')" 'n1 n2 n3 n4 n6 n7 n8' "$printed"
	# Slurm goes on counting a node that left a running whole-node job as one that nobody may share
	# (make_node_idle()), and once such a job has ended there, the next may wait until the node answers
	# a ping: SlurmdTimeout/3 and more. A slurmctld that starts counts by the jobs that it has.
	restart
}

@test "a running gang made smaller by its own script starts further steps" {
	printed=$(in_job "scontrol update JobId=\$SLURM_JOB_ID NumNodes=6
		srun sh -c '$tell' 2>&1" -N8 --gang=spine -D "$BATS_TEST_TMPDIR")
	equal "$(tasks <<<"$printed" | wc -w)" 6 "$printed"
	restart # which counts anew, as above
}

@test "srun -c without a number of tasks fills the nodes" {
	as_slurm -c2 -N8 --gang=spine
}

@test "srun -c of which a node holds one task is in the order" {
	as_slurm '' -N8 -c5 --gang=spine
	as_slurm -c8 -N8 --gang=spine
	printed=$(in_job "srun -c8 sh -c '$tell' 2>&1" -N8 --gang=spine)
	equal "$(tasks <<<"$printed")" 'n1 n3 n5 n7 n2 n4 n6 n8'
	[[ $printed != *onespine:* ]] || fail "$printed"
	printed=$(in_job "srun sh -c '$tell' 2>&1" -N8 -c8 --gang=spine)
	equal "$(tasks <<<"$printed")" 'n1 n3 n5 n7 n2 n4 n6 n8'
	[[ $printed != *onespine:* ]] || fail "$printed"
}

@test "srun -m block,Pack packs" {
	as_slurm '-m block,Pack' -N8 --gang=spine
}

@test "srun -m NoPack is in the order, and -m block goes over what the job says" {
	printed=$(in_job "srun -m NoPack sh -c '$tell' 2>&1" -N8 --gang=spine)
	equal "$(tasks <<<"$printed")" 'n1 n3 n5 n7 n2 n4 n6 n8'
	printed=$(in_job "srun -m block sh -c '$tell' 2>&1" -N8 -m cyclic --gang=spine)
	equal "$(tasks <<<"$printed")" 'n1 n3 n5 n7 n2 n4 n6 n8'
	printed=$(in_job "srun -n3 -m NoPack sh -c '$tell' 2>&1" -N8 --gang=spine)
	equal "$(tasks <<<"$printed" | wc -w)" 3
	holds "$printed" 'onespine: srun orders these tasks by names of nodes and not along the fabric'
}

@test "an srun in a shell of several tasks that srun --pty opened is in the order, or told" {
	printf '%s\n' "test \$SLURM_PROCID = 0 || exit 0" "srun --overlap -n8 sh -c '$tell'" >"$BATS_TEST_TMPDIR/shell"
	printed=$(script -qec "salloc -Q -N8 --exclusive --gang=spine srun --pty sh $BATS_TEST_TMPDIR/shell" /dev/null | tr -d '\r' | sed 's/^\^@//')
	[[ $(tasks <<<"$printed") == 'n1 n3 n5 n7 n2 n4 n6 n8' || $printed == *onespine:* ]] || fail "silent: $printed"
}

@test "a layout with etp1 has its ranks" {
	printed=$(in_job "srun sh -c '$tell' 2>&1" -N8 --gang=spine --gang-layout=tp8,pp4,ep8,etp1 --gang-keep=pp:leaf --gpus-per-node=8)
	# stage s of pipeline d is rank d + 2 s, as without experts
	equal "$(tasks <<<"$printed")" 'n1 n2 n3 n4 n5 n6 n7 n8'
}

@test "SRUN_CPUS_PER_TASK without a number of tasks fills the nodes" {
	export SRUN_CPUS_PER_TASK=2
	as_slurm '' -N8 --gang=spine
}

@test "an srun in a shell of one task is in the order, or told" {
	printed=$(salloc -Q -N8 --exclusive --gang=spine srun --overlap -N1 -n1 sh -c "srun --overlap -N8 -n8 sh -c '$tell' 2>&1" 2>&1)
	[[ $(tasks <<<"$printed") == 'n1 n3 n5 n7 n2 n4 n6 n8' || $printed == *onespine:* ]] || fail "silent: $printed"
}

@test "tasks have their node rank whatever is exported" {
	# sbatch --export reaches srun as SLURM_EXPORT_ENV; without it nobody waits for the user's login shell
	# shellcheck disable=SC2016
	local tell='echo task $SLURM_PROCID $ONESPINE_NODE_RANK' how
	for how in 'srun --export=NONE' 'srun --export=A=B,PATH' 'SLURM_EXPORT_ENV=NONE srun' 'SLURM_EXPORT_ENV=A=B srun' \
		'SRUN_EXPORT_ENV=NONE srun'; do
		printed=$(in_job "$how /bin/sh -c '$tell' 2>&1" -N4 --gang=leaf)
		equal "$(sed -n 's/^task //p' <<<"$printed" | sort -n | paste -sd,)" '0 0,1 1,2 2,3 3' "$how"
	done
	# of what travels beside --export a task sees nothing
	printed=$(in_job "srun --export=NONE /usr/bin/env 2>&1" -N4 --gang=leaf)
	[[ $printed != *SLURM_ONESPINE_* ]] || fail "$printed"
}

@test "CR_Pack_Nodes: tasks are packed as Slurm packs them" {
	cluster_start --nodes 8 --topology "$BATS_FILE_TMPDIR/onespine.topology" --gres gpu:8 --node-conf RealMemory=1000 \
		--conf SelectTypeParameters=CR_CPU_Memory,CR_Pack_Nodes --conf DefMemPerNode=100 \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1
	as_slurm '' -N8 --gang=spine
	as_slurm -n16 -N8 --gang=spine
	as_slurm --ntasks-per-node=1 -N8 --gang=spine
	as_slurm '-m NoPack' -N8 --gang=spine
	printed=$(in_job "srun -m NoPack sh -c '$tell' 2>&1" -N8 --gang=spine)
	equal "$(tasks <<<"$printed")" 'n1 n3 n5 n7 n2 n4 n6 n8'
}
