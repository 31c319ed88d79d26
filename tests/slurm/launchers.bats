#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# launchers.bats - a real Open MPI job and a real torchrun job, placed, with environment and binding

# shellcheck disable=SC2016 # what the tasks' shells are to expand

load helpers
load gpu_nodes

# names that alternate between two leaves
setup_file() {
	export LC_ALL=C.UTF-8
	make_gpu_nodes
	cat >"$BATS_FILE_TMPDIR/onespine.topology" <<-END
		{"onespine-topology": 1, "levels": ["leaf", "spine"], "domains": [
			{"level": "spine", "name": "s1"},
			{"level": "leaf", "name": "l1", "in": "s1", "nodes": "n[1,3]"},
			{"level": "leaf", "name": "l2", "in": "s1", "nodes": "n[2,4]"}]}
	END
	# PMIx keeps a folder of the job's name there, and all these nodes are one machine
	mkdir "$BATS_FILE_TMPDIR"/n{1,2,3,4}
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --nodes all --gres gpu:2 \
		--conf "TmpFS=$BATS_FILE_TMPDIR/%n"
	use_gpu_nodes
}

@test "Open MPI under srun: ranks in the fabric's order, each near its GPU" {
	on_cluster sh -c 'command -v mpicc' >/dev/null || skip "no Open MPI there (libopenmpi-dev, openmpi-bin)"
	((CPU_COUNT > 1)) || skip "one CPU is too few"
	on_cluster mpicc -O1 -Wall -Werror -o "$BATS_TEST_TMPDIR/ring" "$BATS_TEST_DIRNAME/mpi_ring.c"
	salloc -Q -N4 --exclusive --gres=gpu:2 --gang --gang-env=auto --gang-bind=verbose bash -c '
		onespine hosts --format slurm --tasks-per-node 2 >"$0/list" 2>/dev/null
		export OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo # they share one machine, but no folder
		# after a fence along the tree a rank runs before another has left MPI_Init, and Open MPI crashes
		export SLURM_PMIX_FENCE=ring
		SLURM_HOSTFILE=$0/list srun -K -n8 -m arbitrary --mpi=pmix "$0/ring"' \
		"$BATS_TEST_TMPDIR" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" ||
		cat "$BATS_TEST_TMPDIR/err"
	equal "$(<"$BATS_TEST_TMPDIR/out")" "0 n1 0 $CPU_B PCI_BUS_ID
1 n1 1 $CPU_A PCI_BUS_ID
2 n3 0 $CPU_B PCI_BUS_ID
3 n3 1 $CPU_A PCI_BUS_ID
4 n2 0 $CPU_B PCI_BUS_ID
5 n2 1 $CPU_A PCI_BUS_ID
6 n4 0 $CPU_B PCI_BUS_ID
7 n4 1 $CPU_A PCI_BUS_ID
sum 28"
	equal "$(grep -c '^onespine: bind: task [0-7] on n[1-4]: CPUs' "$BATS_TEST_TMPDIR/err")" 8
}

@test "torchrun under srun: a task a node, its children bound by LOCAL_RANK" {
	on_cluster /usr/bin/python3 -c 'import torch.distributed' 2>/dev/null || skip "no PyTorch there (python3-torch)"
	((CPU_COUNT > 1)) || skip "one CPU is too few"
	if on_cluster /usr/bin/python3 -c "import torch.distributed as d; d.TCPStore('127.0.0.1', $(free_port), 1, True)" 2>&1 |
		grep -q libuv; then
		export USE_LIBUV=0 # Debian 13's was built without
	fi
	export PYTHONDONTWRITEBYTECODE=1 # the source tree stays as it is
	port=$(free_port)
	salloc -Q -N2 --exclusive --gres=gpu:2 --gang --gang-env=auto --gang-bind=auto bash -c '
		srun --ntasks-per-node=1 sh -c "
			/usr/bin/python3 $0/torch_run.py \
			\$(onespine hosts --format torchrun --only \$SLURMD_NODENAME 2>/dev/null) \
			--master_addr=127.0.0.1 --master_port=$1 --nproc_per_node=2 --no_python \
			-r 1 -t 1 --log_dir $2 \
			onespine bind run /usr/bin/python3 $0/torch_sum.py"' "$BATS_TEST_DIRNAME" "$port" "$BATS_TEST_TMPDIR" \
		>"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || cat "$BATS_TEST_TMPDIR/err"
	# Debian's PyTorch 1.13 fails without -r 1 under Python 3.11, and -t names the rank in each line
	equal "$(sed -n 's/^\[default[01]\]:\([0-9]\)/\1/p' "$BATS_TEST_TMPDIR/out" | sort -n)" "0 n1 0 $CPU_B PCI_BUS_ID sum 6
1 n1 1 $CPU_A PCI_BUS_ID sum 6
2 n3 0 $CPU_B PCI_BUS_ID sum 6
3 n3 1 $CPU_A PCI_BUS_ID sum 6"
}

# free_port: one that nothing listens on
free_port() {
	/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
