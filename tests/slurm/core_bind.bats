#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_bind.bats - hosts in fabric order, and children bound, in jobs of a real Slurm

# shellcheck disable=SC2016 # what the tasks' shells are to expand

load helpers

# names that alternate between two leaves
setup_file() {
	cat >"$BATS_FILE_TMPDIR/topology.conf" <<-END
		SwitchName=l1 Nodes=n[1,3]
		SwitchName=l2 Nodes=n[2,4]
		SwitchName=s1 Switches=l[1-2]
	END
	cat >"$BATS_FILE_TMPDIR/onespine.topology" <<-END
		{"onespine-topology": 1, "levels": ["leaf", "spine"], "domains": [
			{"level": "spine", "name": "s1"},
			{"level": "leaf", "name": "l1", "in": "s1", "nodes": "n[1,3]"},
			{"level": "leaf", "name": "l2", "in": "s1", "nodes": "n[2,4]"}]}
	END
	cluster_start --topology "$BATS_FILE_TMPDIR/topology.conf" \
		--topology "$BATS_FILE_TMPDIR/onespine.topology" --nodes all
	export LC_ALL=C.UTF-8
}

# what this release can do about it
setting() {
	if scontrol show config | grep -qE '^SLURM_VERSION.*= 22\.'; then
		echo 'has no setting against it; TopologyParam=SwitchAsNodeRank came with 23.02'
	else
		echo 'Slurm has a setting against it, for slurm.conf: TopologyParam=SwitchAsNodeRank'
	fi
}

@test "hosts JOB: fabric order, and what Slurm could do" {
	job=$(submit -N4 --exclusive)
	await_job "$job" RUNNING
	equal "$(onespine hosts "$job" 2>"$BATS_TEST_TMPDIR/said")" $'n1\nn3\nn2\nn4'
	holds "$(<"$BATS_TEST_TMPDIR/said")" "consecutive ranks change the leaf 3 times, in this one 1; "
	holds "$(<"$BATS_TEST_TMPDIR/said")" "$(setting)"
}

@test "inside a job: its own hosts; srun obeys the list as SLURM_HOSTFILE" {
	got=$(salloc -Q -N4 --exclusive bash -c '
		onespine hosts --format slurm --tasks-per-node 2 >"$0/list" 2>/dev/null
		SLURM_HOSTFILE=$0/list srun -n8 -m arbitrary --overcommit \
			sh -c "echo \$SLURM_PROCID \$SLURMD_NODENAME" | sort -n' "$BATS_TEST_TMPDIR")
	equal "$got" $'0 n1\n1 n1\n2 n3\n3 n3\n4 n2\n5 n2\n6 n4\n7 n4'
}

@test "torchrun's options of each node, by its own name" {
	got=$(srun -Q -N4 --exclusive sh -c 'echo $SLURMD_NODENAME \
		$(onespine hosts --format torchrun --only $SLURMD_NODENAME)' | sort)
	equal "$got" "n1 --nnodes=4 --node_rank=0 --master_addr=n1
n2 --nnodes=4 --node_rank=2 --master_addr=n1
n3 --nnodes=4 --node_rank=1 --master_addr=n1
n4 --nnodes=4 --node_rank=3 --master_addr=n1"
}

@test "two children of one task part its CPUs" {
	(($(nproc) > 1)) || skip "one CPU is too few"
	srun -Q -N1 --exclusive sh -c '
		for rank in 0 1; do
			LOCAL_RANK=$rank LOCAL_WORLD_SIZE=2 onespine bind run \
				sed -n "s/^Cpus_allowed_list:\s*//p" /proc/self/status
		done' >"$BATS_TEST_TMPDIR/lists"
	equal "$(wc -l <"$BATS_TEST_TMPDIR/lists")" 2
	tr , '\n' <"$BATS_TEST_TMPDIR/lists" | sed 's/^[0-9]*$/&-&/; s/-/ /' |
		while read -r first last; do seq "$first" "$last"; done >"$BATS_TEST_TMPDIR/cpus"
	equal "$(sort -n "$BATS_TEST_TMPDIR/cpus" | uniq -d)" ''
	equal "$(wc -l <"$BATS_TEST_TMPDIR/cpus")" "$(nproc)"
}
