#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# onespine hosts: a job's hosts in the order of the fabric

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	cat >t.conf <<-END
		SwitchName=l1 Nodes=n[1,3,10]
		SwitchName=l2 Nodes=n[2,4]
		SwitchName=s1 Switches=l[1-2]
	END
	unset SLURM_JOB_NODELIST
}

WARNING="onespine: warning: in Slurm's order of these 4 hosts, consecutive ranks change the leaf 3 times, in this one 1; with topology/tree, Slurm 23.02 and later have a setting against it: TopologyParam=SwitchAsNodeRank"

@test "hosts of one switch stand together; the warning says what Slurm could do" {
	expect 0 "n1
n3
n10
n2" onespine hosts --topology t.conf --nodes "n[1,3,10,2]" 2>/dev/null
	expect 0 "$WARNING
n1
n3
n2
n4" onespine hosts --topology t.conf --nodes n[1-4]
	expect 0 "n2
n4" onespine hosts --topology t.conf --nodes n[2,4]
}

@test "for torchrun, for mpirun, for srun" {
	onespine hosts --topology t.conf --nodes n[1-3] --format torchrun >out 2>/dev/null
	diff out - <<-END
		n1 --nnodes=3 --node_rank=0 --master_addr=n1
		n3 --nnodes=3 --node_rank=1 --master_addr=n1
		n2 --nnodes=3 --node_rank=2 --master_addr=n1
	END
	expect 0 "--nnodes=3 --node_rank=1 --master_addr=n1" \
		onespine hosts --topology t.conf --nodes n[1-3] --format torchrun --only n3
	for launcher in mpirun slurm; do
		expect 0 "n2
n2
n4
n4" onespine hosts --topology t.conf --nodes n[2,4] --format "$launcher" --tasks-per-node 2
	done
}

@test "a job's hosts, and those of the job that it runs in" {
	expect 0 "gpu-13
gpu-16" onespine hosts --state "$MAP/small.json" 1205
	expect 2 "onespine: job 1206 has no nodes (PENDING)" onespine hosts --state "$MAP/small.json" 1206
	expect 1 "onespine: there is no job 999" onespine hosts --state "$MAP/small.json" 999
	SLURM_JOB_NODELIST="n[2,4]" expect 0 "n2
n4" onespine hosts --topology t.conf
}

@test "a gang's hosts stand in the order of its node ranks, inside the job and by its number" {
	cp t.conf onespine.topology.conf
	echo 'topology: onespine.topology.conf' >onespine.yaml
	printf 'ClusterName=c\nSlurmctldHost=none(127.0.0.1)\nSlurmctldPort=1\nAuthType=auth/none\n' >slurm.conf
	export SLURM_CONF=$PWD/slurm.conf SLURM_JOB_NODELIST='n[1-4]'
	export ONESPINE_LEAVES='l1:n[1,3]|l2:n[2,4]'
	expect 0 $'n1\nn3\nn2\nn4' onespine hosts
	# two places a segment, each second one of the other: ranks 0 2 1 3
	export ONESPINE_ORDER='2x2.2x1/n[1-4]'
	expect 0 $'n1\nn3\nn2\nn4' onespine hosts
	export ONESPINE_ORDER='4x1/n[1,4,2,3]'
	expect 0 $'n1\nn4\nn2\nn3' onespine hosts
	expect 0 "--nnodes=4 --node_rank=1 --master_addr=n1" onespine hosts --format torchrun --only n4
	# another order is asked for, or the note is another job's
	expect 0 "$WARNING
n1
n3
n2
n4" onespine hosts --topology t.conf
	unset ONESPINE_ORDER
	export ONESPINE_LEAVES='l1:n[7-8]'
	expect_line 0 "$WARNING" onespine hosts
	jq '.jobs |= map(if .id == 1201 then .admin_comment = "[onespine: gang=spine; domain=s; leaves=a:gpu-(1-4); order=4x1/gpu-(1,4,2,3); placed: 4 nodes on spine s]" else . end)' \
		"$MAP/small.json" >state.json
	expect 0 $'gpu-1\ngpu-4\ngpu-2\ngpu-3' onespine hosts --state state.json 1201
}

@test "hosts that the topology lacks come last" {
	expect 0 "onespine: warning: 2 of 3 hosts are not in the topology; they come last
n1
m9
m10" onespine hosts --topology t.conf --nodes m9,m10,n1 2>&1
}

@test "wrong words" {
	expect 2 "onespine: hosts are needed: name a JOB or --nodes=HOSTLIST, or ask inside a job" \
		onespine hosts --topology t.conf
	expect 2 "onespine: --nodes, column 5: a number is expected here" \
		onespine hosts --topology t.conf --nodes 'n[1-'
	expect 2 "onespine: --nodes goes without a JOB" onespine hosts --nodes n1 7
	expect 2 "onespine: --format=torch: plain, torchrun, mpirun or slurm" \
		onespine hosts --topology t.conf --nodes n1 --format torch
	expect 2 "onespine: --format=slrum: plain, torchrun, mpirun or slurm; did you mean slurm?" \
		onespine hosts --topology t.conf --nodes n1 --format slrum
	expect 2 "onespine: --tasks-per-node=0: a number from 1 to 4096 is expected" \
		onespine hosts --topology t.conf --nodes n1 --tasks-per-node 0
	expect 1 "onespine: host n7 is not among the 2" \
		onespine hosts --topology t.conf --nodes n[1-2] --only n7
}

@test "JSON: the switches of each, and how often each order changes them" {
	onespine hosts --topology t.conf --nodes n[1-4] --json >j
	expect 0 '{"as_listed":3,"sorted_as_strings":3,"fabric":1}' jq -c .changes j
	expect 0 '{"rank":2,"name":"n2","known":true,"leaf":"l2","spine":"s1"}' jq -c '.hosts[2]' j
	expect 0 "true" jq '.advice | contains("SwitchAsNodeRank")' j
}

@test "in a layout's order: pipelines inside, gradients inside, and words where it does not fit" {
	write_conf four.conf
	expect 0 "n1 n5 n9 n13 n2 n6 n10 n14 n3 n7 n11 n15 n4 n8 n12 n16" \
		bash -c '"$ONESPINE" hosts --topology four.conf --nodes n[1-16] --layout=tp8,pp4,dp4 | paste -sd" "'
	expect 0 "n1 n2 n3 n4 n5 n6 n7 n8 n9 n10 n11 n12 n13 n14 n15 n16" \
		bash -c '"$ONESPINE" hosts --topology four.conf --nodes n[1-16] --layout=tp8,pp4 --dp-weight=1 | paste -sd" "'
	expect 0 "--nnodes=16 --node_rank=1 --master_addr=n1" \
		onespine hosts --topology four.conf --nodes n[1-16] --layout=tp8,pp4 --format=torchrun --only=n5
	# Slurm has no setting that knows a layout, so none is advised
	expect 0 "n1
n3
n2
n4" onespine hosts --topology t.conf --nodes n[1-4] --layout=tp8,pp2 --dp-weight=1
	# node rank 0 is the first name, wherever it lies
	expect 0 "n3 n4 n8 n5 n6 n7 n9 n11 n12 n13 n14 n15" \
		bash -c '"$ONESPINE" hosts --topology four.conf --nodes n[3-9,11-15] --layout=tp8,pp4 2>/dev/null | paste -sd" "'
	expect 2 "onespine: tp8,pp4,dp3 is 96 GPUs, but 16 nodes of 8 GPUs have 128; with dp4 it fits" \
		onespine hosts --topology four.conf --nodes n[1-16] --layout=tp8,pp4,dp3
	expect 1 "onespine: pp groups take 8 nodes in a row, and not every one fits into one leaf; keep pp:spine" \
		onespine hosts --topology four.conf --nodes n[1-16] --layout=tp8,pp8 --keep=pp:leaf
	expect 0 "onespine: warning: 2 of 4 hosts are not in the topology; they come last
n1
n2
x1
x2" onespine hosts --topology four.conf --nodes n[1-2],x[1-2] --layout=tp8,pp2
}
