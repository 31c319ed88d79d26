#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_ranks.bats - rank r is on the node that is meant for it, however a gang's job starts its tasks
#
# Names run against the fabric: spine s1 has leaves of n1 n3 n5 n7 and n2 n4 n6 n8, s2 and s3 have one leaf each, of n9
# n11 n13 n15 and n10 n12 n14 n16.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	cat >"$BATS_FILE_TMPDIR/onespine.topology" <<'END'
{"onespine-topology": 1, "source": "core_ranks", "levels": ["leaf", "spine"], "domains": [
{"level": "spine", "name": "s1"}, {"level": "spine", "name": "s2"}, {"level": "spine", "name": "s3"},
{"level": "leaf", "name": "l1", "in": "s1", "nodes": "n[1,3,5,7]"},
{"level": "leaf", "name": "l2", "in": "s1", "nodes": "n[2,4,6,8]"},
{"level": "leaf", "name": "l3", "in": "s2", "nodes": "n[9,11,13,15]"},
{"level": "leaf", "name": "l4", "in": "s3", "nodes": "n[10,12,14,16]"}]}
END
	# which distribution srun asks for depends on the memory of the job (26.05, launch.c)
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --gres gpu:8 \
		--node-conf RealMemory=1000 --conf SelectTypeParameters=CR_CPU_Memory --conf DefMemPerNode=500 \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1
}

runs() {
	[[ $(job_state "$1") == RUNNING ]]
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

# Each task says its rank and its node; the rank of its node must be the job's.
tell='echo task $SLURM_PROCID $SLURMD_NODENAME $ONESPINE_NODE_RANK $SLURM_DISTRIBUTION $SLURM_HOSTFILE $SLURM_ONESPINE_ORDERED'

# tasks: of what was printed, the nodes by rank
tasks() {
	sed -n 's/^task //p' | sort -n | awk '{print $2}' | paste -sd' '
}

along='n1 n3 n5 n7 n2 n4 n6 n8'
by_name='n1 n2 n3 n4 n5 n6 n7 n8'
advice='srun orders these tasks by names of nodes and not along the fabric'

@test "srun in a batch job: one task on a node, several, and as many as the job says" {
	printed=$(in_job "srun sh -c '$tell'" -N8 --gang=spine)
	equal "$(tasks <<<"$printed")" "$along"
	# nothing of the host file is left to them, and the rank is the node's
	equal "$(awk '/^task/ && ($2 != $4 || NF != 4)' <<<"$printed")" ''
	printed=$(in_job "srun --ntasks-per-node=2 --overcommit sh -c '$tell'" -N8 --gang=spine)
	equal "$(tasks <<<"$printed")" 'n1 n1 n3 n3 n5 n5 n7 n7 n2 n2 n4 n4 n6 n6 n8 n8'
	printed=$(in_job "srun -On16 sh -c '$tell'" -N8 --gang=spine)
	equal "$(tasks <<<"$printed")" 'n1 n1 n3 n3 n5 n5 n7 n7 n2 n2 n4 n4 n6 n6 n8 n8'
	printed=$(in_job "srun sh -c '$tell'" -N8 -n8 --ntasks-per-node=1 --gang=spine)
	equal "$(tasks <<<"$printed")" "$along"
	# torchrun's way: one task a node, the job says how many
	printed=$(in_job "srun --export=NONE /bin/sh -c '$tell'" -N8 --ntasks-per-node=1 --gang=spine)
	equal "$(tasks <<<"$printed")" "$along"
}

# A job's words go through many processes until they open it, some of which close what they do not know.
@test "the host file of a gang: in the batch script, in its children, and in each task" {
	script='tr "\n" " " <$ONESPINE_HOSTFILE; echo batch
		bash -c "exec 200>&- 201>&-; env -i /bin/cat $ONESPINE_HOSTFILE" | paste -sd" "
		srun --ntasks-per-node=1 sh -c "echo task \$SLURM_PROCID \$(tr \"\\n\" - <\$ONESPINE_HOSTFILE)"
		echo kept: $(wc -l <$ONESPINE_HOSTFILE)'
	printed=$(in_job "$script" -N8 --gang=spine)
	equal "$(sed -n '1,2p' <<<"$printed")" "$along batch
$along"
	equal "$(sed -n 's/^task [0-7] //p' <<<"$printed" | sort | uniq -c | awk '{print $1, $2}')" "8 ${along// /-}-"
	holds "$printed" 'kept: 8'
	# what follows from a gang does not go on into a job that is none
	printed=$(in_job "sbatch -W --exclusive --output=$BATS_TEST_TMPDIR/inner --wrap 'echo host file: \$ONESPINE_HOSTFILE' >/dev/null; \
		cat $BATS_TEST_TMPDIR/inner" -N2 --gang=spine)
	equal "$printed" 'host file:'
}

@test "an srun inside a step's task starts, and orders as Slurm does" {
	printed=$(in_job "srun --overlap sh -c 'test \$SLURM_PROCID -gt 0 || srun --overlap -N2 -n2 sh -c \"$tell\"' 2>&1" -N8 --gang=spine)
	equal "$(tasks <<<"$printed" | wc -w)" 2
	[[ $printed != *error* ]] || fail "$printed"
}

@test "steps that are left alone, and who is told" {
	script="srun -m block sh -c '$tell' 2>&1; echo next
		SLURM_DISTRIBUTION=cyclic srun sh -c '$tell' 2>&1; echo next
		printf 'n%d\\n' 8 7 6 5 4 3 2 1 >$BATS_TEST_TMPDIR/hosts
		SLURM_HOSTFILE=$BATS_TEST_TMPDIR/hosts srun sh -c '$tell' 2>&1; echo next
		srun -N1 -n1 sh -c '$tell' 2>&1; echo next
		srun -n3 sh -c '$tell' 2>&1; echo next
		srun -N2 -n2 -w n2,n3 sh -c '$tell' 2>&1; echo next
		printf '*  sh -c \"%s\"\\n' '$tell' >$BATS_TEST_TMPDIR/multi
		srun --multi-prog $BATS_TEST_TMPDIR/multi 2>&1"
	printed=$(in_job "$script" -N8 --gang=spine)
	readarray -d '' -t parts < <(sed 's/^next$/\x00/' <<<"$printed" | sed -z 's/^\n//')
	# block is by the ranks of a job's nodes, as in Slurm 26.05 itself
	equal "$(tasks <<<"${parts[0]}")" "$along"
	equal "$(tasks <<<"${parts[1]}")" "$by_name"
	equal "$(tasks <<<"${parts[2]}")" 'n8 n7 n6 n5 n4 n3 n2 n1'
	equal "$(tasks <<<"${parts[3]}" | wc -w)" 1
	for silent in 0 1 2 3; do
		[[ ${parts[silent]} != *onespine:* ]] || fail "${parts[silent]}"
	done
	if slurm_at_least 26.05; then
		# Slurm takes the nodes of a step in this order too, from where the last step ended
		[[ " $along $along " == *" $(tasks <<<"${parts[4]}") "* ]] || fail "${parts[4]}"
		equal "$(tasks <<<"${parts[4]}" | wc -w)" 3
		equal "$(tasks <<<"${parts[5]}")" 'n3 n2'
		# what asks for that is left to no task, and nothing is reported
		equal "$(printf '%s\n' "${parts[@]:4:2}" | grep '^task' | awk 'NF != 4')" ''
		[[ "${parts[*]:4:2}" != *onespine:* ]] || fail "${parts[*]:4:2}"
		[[ ${parts[6]} != *onespine:* ]] || fail "${parts[6]}"
		return
	fi
	equal "$(tasks <<<"${parts[4]}" | wc -w)" 3
	holds "${parts[4]}" "$advice (not as many tasks on each node)"
	equal "$(tasks <<<"${parts[5]}")" 'n2 n3'
	holds "${parts[5]}" "$advice (-w): torchrun takes --node-rank=\$ONESPINE_NODE_RANK, srun -m arbitrary the host file of onespine hosts --format=slurm"
	holds "${parts[6]}" "$advice (--multi-prog)"
}

@test "srun -N: in the order where Slurm takes it beside a host file, else told" {
	printed=$(in_job "srun -N8 sh -c '$tell' 2>&1" -N8 --gang=spine)
	if slurm_at_least 23.11 && ! slurm_at_least 26.05; then
		equal "$(tasks <<<"$printed")" "$by_name"
		holds "$printed" "$advice (-N: leave it out, Slurm takes no host file beside it)"
	else
		equal "$(tasks <<<"$printed")" "$along"
		[[ $printed != *onespine:* ]] || fail "$printed"
	fi
}

@test "where names run along the fabric nothing is told" {
	printed=$(in_job "srun -n3 sh -c '$tell' 2>&1" -N4 --gang=leaf -w 'n[2,4,6,8]')
	equal "$(tasks <<<"$printed" | wc -w)" 3
	[[ $printed != *onespine:* ]] || fail "$printed"
}

@test "srun in a salloc, and srun alone" {
	equal "$(salloc -Q -N8 --exclusive --gang=spine srun sh -c "$tell" | tasks)" "$along"
	run --separate-stderr srun -N8 --exclusive --gang=spine sh -c "$tell"
	if slurm_at_least 26.05; then
		# shellcheck disable=SC2154
		holds "$stderr" 'srun may order these tasks by names of nodes; srun -m block orders them along the fabric'
	else
		# shellcheck disable=SC2154
		equal "$(tasks <<<"$output")" "$by_name"
		holds "$stderr" "$advice (its nodes are known only when it starts)"
	fi
	run --separate-stderr srun -N8 -m block --exclusive --gang=spine sh -c "$tell"
	if slurm_at_least 26.05; then
		equal "$stderr" ''
		equal "$(tasks <<<"$output")" "$along"
	else
		holds "$stderr" "$advice (its nodes are known only when it starts)"
	fi
}

# Without units in their upper bits Slurm would begin where the last step ended, across two leaves.
@test "26.05: a step beside another begins in the next leaf" {
	slurm_at_least 26.05 || skip "its jobs have no ranks of nodes"
	printed=$(in_job "srun -n3 --exact sh -c '$tell; until test -e $BATS_TEST_TMPDIR/go; do sleep 0.2; done' >$BATS_TEST_TMPDIR/one 2>&1 &
		until test \$(grep -c ^task $BATS_TEST_TMPDIR/one) = 3; do sleep 0.2; done
		srun -n3 --exact sh -c '$tell' 2>&1
		touch $BATS_TEST_TMPDIR/go
		wait" -N8 --gang=spine)
	equal "$(tasks <"$BATS_TEST_TMPDIR/one")" 'n1 n3 n5'
	equal "$(tasks <<<"$printed")" 'n2 n4 n6'
}

@test "26.05: a job whose start wrote no ranks of nodes gets the line" {
	slurm_at_least 26.05 || skip "its jobs have no ranks of nodes"
	# as it is for a job of an older Onespine, and in mode advise
	printed=$(in_job "unset ONESPINE_SLURM_RANKS; srun -n3 sh -c '$tell' 2>&1" -N8 --gang=spine)
	holds "$printed" "$advice (not as many tasks on each node)"
	[[ $printed != *block* ]] || fail "$printed"
}

# step_of JOB: the nodes of a step of all its nodes, by rank
step_of() {
	srun -Q --jobid="$1" --overlap -m block sh -c "$tell" | tasks
}

@test "26.05: the ranks of a job's nodes outlive a restart and a reconfigure, and are made anew when a node leaves" {
	slurm_at_least 26.05 || skip "its jobs have no ranks of nodes"
	salloc -Q --no-shell -J shrinks -N8 --exclusive --gang=spine
	job=$(squeue -h -n shrinks -o %A)
	equal "$(step_of "$job")" "$along"
	cluster reconfigure --dir "$ONESPINE_CLUSTER"
	equal "$(step_of "$job")" "$along"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER"
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	equal "$(step_of "$job")" "$along"
	scontrol update "JobId=$job" NodeList=n[1-2,4-8]
	equal "$(step_of "$job")" 'n1 n5 n7 n2 n4 n6 n8'
	# the leaf with the first name leads
	scontrol update "JobId=$job" NodeList=n[2,4-8]
	equal "$(step_of "$job")" 'n2 n4 n6 n8 n5 n7'
	scancel "$job"
}

@test "pipelines that lie in a leaf have the ranks of their layout" {
	printed=$(in_job "srun sh -c '$tell'; onespine hosts --layout=tp8,pp4 --keep=pp:leaf --gpus-per-node=8 2>/dev/null | sed 's/^/host /'" \
		-N8 --gang=spine --gang-layout=tp8,pp4 --gang-keep=pp:leaf --gpus-per-node=8)
	# stage s of pipeline d is rank d + 2 s, and each pipeline is in one leaf
	equal "$(tasks <<<"$printed")" 'n1 n2 n3 n4 n5 n6 n7 n8'
	equal "$(sed -n 's/^host //p' <<<"$printed" | paste -sd' ')" 'n1 n2 n3 n4 n5 n6 n7 n8'
	equal "$(awk '/^task/ && $2 != $4' <<<"$printed")" ''
	# torchrun's line (doc/user.md) and the list have the ranks that the job was told
	# shellcheck disable=SC2016 # for the job's shells
	printed=$(in_job 'srun sh -c '"'"'echo rank $ONESPINE_NODE_RANK $(onespine hosts --format=torchrun --only=$SLURMD_NODENAME)'"'"'
		onespine hosts | sed "s/^/host /"' -N8 --gang=spine --gang-layout=tp8,pp2 --gang-keep=pp:leaf --gpus-per-node=8)
	equal "$(sed -n 's/^host //p' <<<"$printed" | paste -sd' ')" 'n1 n5 n2 n6 n3 n7 n4 n8'
	equal "$(grep -c '^rank ' <<<"$printed")" 8
	equal "$(awk '/^rank/ && $4 != "--node_rank=" $2' <<<"$printed")" ''
	printed=$(in_job "srun sh -c '$tell'" -N8 --gang=spine --gang-layout=tp8,pp2 --gang-keep=pp:leaf --gpus-per-node=8)
	equal "$(tasks <<<"$printed")" 'n1 n5 n2 n6 n3 n7 n4 n8'
	equal "$(awk '/^task/ && $2 != $4' <<<"$printed")" ''
}

# 128 GPUs, tp 8, pp 4, dp 4 as Megatron orders them: node rank = dp rank + 4 x stage, a pipeline in each leaf. Open MPI is on
# Debian's machine only.
@test "sixteen nodes in Megatron's layout: srun, torchrun's rank and mpirun agree on who is where" {
	local expected='n1 n2 n9 n10 n3 n4 n11 n12 n5 n6 n13 n14 n7 n8 n15 n16'
	printed=$(in_job "srun --ntasks-per-node=1 sh -c '$tell'
		tr '\n' ' ' <\$ONESPINE_HOSTFILE; echo file
		if command -v mpirun >/dev/null; then
			export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
			mpirun --map-by seq --hostfile \$ONESPINE_HOSTFILE sh -c 'echo mpi \$OMPI_COMM_WORLD_RANK \$SLURMD_NODENAME'
			onespine hosts --format=mpirun --tasks-per-node=2 --layout=tp8,pp4 --keep=pp:leaf --gpus-per-node=8 2>/dev/null >$BATS_TEST_TMPDIR/two
			mpirun --map-by seq --hostfile $BATS_TEST_TMPDIR/two sh -c 'echo two \$OMPI_COMM_WORLD_RANK \$SLURMD_NODENAME'
		fi" -N16 --gang=spine --gang-domains=3 --gang-layout=tp8,pp4 --gang-keep=pp:leaf --gpus-per-node=8)
	equal "$(tasks <<<"$printed")" "$expected"
	equal "$(awk '/^task/ && $2 != $4' <<<"$printed")" ''
	holds "$printed" "$expected file"
	[[ $printed == *mpi* ]] || skip "no Open MPI there (libopenmpi-dev, openmpi-bin)"
	equal "$(sed -n 's/^mpi //p' <<<"$printed" | sort -n | awk '{print $2}' | paste -sd' ')" "$expected"
	equal "$(sed -n 's/^two //p' <<<"$printed" | sort -n | awk '{print $2}' | uniq | paste -sd' ')" "$expected"
	equal "$(grep -c '^two ' <<<"$printed")" 32
}

# free_port: one that nothing listens on
free_port() {
	/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# of_torch: of what torchrun's workers printed, "RANK NODE ..", the nodes by rank
of_torch() {
	sed -n 's/^\[default0\]:\([0-9]* n[0-9]*\)\( .*\)\?$/\1/p' | sort -n | awk '$1 == NR - 1 {print $2}' | paste -sd' '
}

# The same nodes: static ranks follow ONESPINE_NODE_RANK, c10d's the names as strings, which srun reports with the cure.
@test "sixteen nodes in Megatron's layout have a real torchrun's static ranks, and four c10d's" {
	on_cluster /usr/bin/python3 -c 'import torch.distributed' 2>/dev/null || skip "no PyTorch there (python3-torch)"
	if on_cluster /usr/bin/python3 -c "import torch.distributed as d; d.TCPStore('127.0.0.1', $(free_port), 1, True)" 2>&1 |
		grep -q libuv; then
		export USE_LIBUV=0 # Debian 13's was built without
	fi
	local run="export PYTHONDONTWRITEBYTECODE=1 NODES_HAVE_NAMES=1 OMP_NUM_THREADS=1
		exec /usr/bin/python3 $BATS_TEST_DIRNAME/torch_run.py --nnodes=16 --nproc_per_node=1 --no_python -r 1 -t 1"
	# PyTorch is loaded 20 times, by torchrun's agents alone: launchers.bats has workers that load it and sum their ranks
	# shellcheck disable=SC2016 # for them
	printf '#!/bin/sh\necho $RANK $SLURMD_NODENAME\n' >"$BATS_TEST_TMPDIR/rank.sh"
	chmod 755 "$BATS_TEST_TMPDIR/rank.sh"
	printed=$(in_job "srun --ntasks-per-node=1 sh -c '$run --log_dir $BATS_TEST_TMPDIR/static \
			--node_rank=\$ONESPINE_NODE_RANK --master_addr=127.0.0.1 --master_port=$(free_port) $BATS_TEST_TMPDIR/rank.sh' 2>&1" \
		-N16 --gang=spine --gang-domains=3 --gang-layout=tp8,pp4 --gang-keep=pp:leaf --gpus-per-node=8)
	equal "$(of_torch <<<"$printed")" 'n1 n2 n9 n10 n3 n4 n11 n12 n5 n6 n13 n14 n7 n8 n15 n16'
	[[ $printed != *"onespine: "* ]] || fail "$printed"
	# c10d's, in a script, and in srun's own words
	cat >"$BATS_TEST_TMPDIR/c10d.sh" <<-END
		${run/16/4} --log_dir $BATS_TEST_TMPDIR/c10d --rdzv_id=1 \\
			--rdzv_backend=c10d --rdzv_endpoint=127.0.0.1:$(free_port) $BATS_TEST_TMPDIR/rank.sh
	END
	printed=$(in_job "srun --ntasks-per-node=1 sh -c '$tell'
		srun --ntasks-per-node=1 sh $BATS_TEST_TMPDIR/c10d.sh 2>&1" -N4 -w n1,n2,n9,n10 --gang=spine --gang-domains=3)
	equal "$(tasks <<<"$printed")" 'n1 n2 n9 n10'
	equal "$(of_torch <<<"$printed")" 'n1 n10 n2 n9'
	# shellcheck disable=SC2016 # as it stands there
	equal "$(grep -o 'onespine: .*' <<<"$printed")" 'onespine: torchrun'"'"'s c10d ranks these nodes by their names as strings and not along the fabric: say --rdzv-backend=static --node-rank=$ONESPINE_NODE_RANK --master-addr=$ONESPINE_FIRST_HOST'
}

# JAX takes SLURM_PROCID for the process, and looks for process 0 on the first name of the step's nodes.
@test "processes numbered as JAX numbers them follow the layout, and process 0 is where the others look for it" {
	on_cluster /usr/bin/python3 -c 'import socket' 2>/dev/null || skip "no Python there (python3-minimal)"
	printed=$(in_job "srun --ntasks-per-node=1 /usr/bin/python3 $BATS_TEST_DIRNAME/jax_join.py 2>&1" \
		-N16 --gang=spine --gang-domains=3 --gang-layout=tp8,pp4 --gang-keep=pp:leaf --gpus-per-node=8)
	equal "$printed" 'jax n1 n2 n9 n10 n3 n4 n11 n12 n5 n6 n13 n14 n7 n8 n15 n16'
	# the first name lies in the smaller segment, in the second spine
	printed=$(in_job "srun --ntasks-per-node=1 /usr/bin/python3 $BATS_TEST_DIRNAME/jax_join.py 2>&1" -N7 -x n3 --gang=spine --gang-segment=leaf:4)
	equal "$printed" 'jax n1 n5 n7 n2 n4 n6 n8'
}

@test "launchers that order nodes by themselves are reported where that matters" {
	local c10d="torchrun's c10d ranks these nodes by their names as strings"
	printed=$(in_job "srun sh -c ': --rdzv-backend=c10d; $tell' 2>&1" -N8 --gang=spine)
	holds "$printed" "onespine: $c10d"
	equal "$(tasks <<<"$printed")" "$along"
	printed=$(in_job "PET_RDZV_BACKEND=c10d srun -n3 sh -c '$tell' 2>&1; srun -N1 -n1 sh -c ': --rdzv-backend=c10d' 2>&1
		srun sh -c ': ray start' 2>&1" -N8 --gang=spine)
	equal "$(grep -c "$c10d" <<<"$printed")" 1
	holds "$printed" 'onespine: Ray orders these nodes by address and not along the fabric: order its placement group by the file $ONESPINE_HOSTFILE'
	# each step has one line
	equal "$(grep -c 'onespine: ' <<<"$printed")" 2
	# strings have the fabric's order, and so have addresses, as far as is known
	printed=$(in_job "srun sh -c ': --rdzv-backend=c10d' 2>&1; srun sh -c ': ray start' 2>&1; echo" -N4 --gang=leaf -w 'n[2,4,6,8]')
	[[ $printed != *onespine:* ]] || fail "$printed"
	# the nodes of an srun of its own are known when it starts
	run --separate-stderr srun -N8 --exclusive --gang=spine sh -c ": --rdzv-backend=c10d"
	# shellcheck disable=SC2154
	holds "$stderr" "onespine: $c10d"
}

@test "a smaller segment with the first name comes first, and that is said" {
	hold n3,n5
	job=$(submit --gang=spine --gang-segment=leaf:3 -N5 --output="$BATS_TEST_TMPDIR/out" --exclusive \
		--wrap "srun sh -c '$tell'; echo done; sleep 600")
	await 60 done_writing "$BATS_TEST_TMPDIR/out"
	equal "$(tasks <"$BATS_TEST_TMPDIR/out" | cut -d' ' -f1,2)" 'n1 n7'
	holds "$(job_field "$job" AdminComment)" '; ranks begin in the smaller segment, where n1 is]'
	scancel "$job"
}

@test "a gang that is requeued onto other nodes has the order of those" {
	out=$BATS_TEST_TMPDIR/out
	job=$(submit --gang=spine -N6 --output="$out" --open-mode=append --requeue --exclusive \
		-w 'n[1-6]' --wrap "srun sh -c '$tell'; echo done; sleep 600")
	await 60 done_writing "$out"
	equal "$(tasks <"$out")" 'n1 n3 n5 n2 n4 n6'
	: >"$out"
	scontrol requeuehold "$job"
	await_job "$job" PENDING
	scontrol update JobId="$job" NodeList='n[3-8]'
	scontrol release "$job"
	begin_soon "$job"
	await 90 done_writing "$out"
	equal "$(tasks <"$out")" 'n3 n5 n7 n4 n6 n8'
	scancel "$job"
}

# beside_ranks OPTION...: a cluster of the same nodes with Slurm's own topology or parameters; the ranks are ours
beside_ranks() {
	local own=$ONESPINE_CLUSTER
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --gres gpu:8 --node-conf RealMemory=1000 \
		--conf DefMemPerNode=500 --conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1 "$@"
	printed=$(in_job "srun sh -c '$tell'; echo next; srun -m block sh -c '$tell'; echo next; srun -n3 sh -c '$tell'" -N8 --gang=spine)
	readarray -d '' -t parts < <(sed 's/^next$/\x00/' <<<"$printed")
	equal "$(tasks <<<"${parts[0]}")" "$along"
	equal "$(tasks <<<"${parts[1]}")" "$along"
	equal "$(tasks <<<"${parts[2]}")" 'n1 n3 n5'
	printed=$(in_job "srun sh -c '$tell'" -N8 --gang=spine --gang-layout=tp8,pp2 --gang-keep=pp:leaf --gpus-per-node=8)
	equal "$(tasks <<<"$printed")" 'n1 n5 n2 n6 n3 n7 n4 n8'
	equal "$(awk '/^task/ && $2 != $4' <<<"$printed")" ''
	cluster_stop
	cluster_use "$own"
}

# Slurm ranks nodes by the order of leaves and blocks in its file, or with CR_NO_DIST_TOPO_BLOCK not at all.
@test "26.05: beside topology/tree, topology/block and CR_NO_DIST_TOPO_BLOCK ranks are the gang's" {
	slurm_at_least 26.05 || skip "its jobs have no ranks of nodes"
	cat >"$BATS_TEST_TMPDIR/topology.conf" <<-'END'
		SwitchName=l2 Nodes=n[2,4,6,8]
		SwitchName=l1 Nodes=n[1,3,5,7]
		SwitchName=l4 Nodes=n[10,12,14,16]
		SwitchName=l3 Nodes=n[9,11,13,15]
		SwitchName=s1 Switches=l[1-2]
		SwitchName=s2 Switches=l3
		SwitchName=s3 Switches=l4
		SwitchName=core Switches=s[1-3]
	END
	sed -n 's/SwitchName=l\(.\) /BlockName=b\1 /p; $ a BlockSizes=4' "$BATS_TEST_TMPDIR/topology.conf" >"$BATS_TEST_TMPDIR/block.conf"
	beside_ranks --topology "$BATS_TEST_TMPDIR/topology.conf" --conf SelectTypeParameters=CR_CPU_Memory
	beside_ranks --topology "$BATS_TEST_TMPDIR/block.conf" --conf SelectTypeParameters=CR_CPU_Memory
	beside_ranks --topology "$BATS_TEST_TMPDIR/topology.conf" --conf SelectTypeParameters=CR_CPU_Memory,CR_NO_DIST_TOPO_BLOCK
}
