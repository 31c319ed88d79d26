#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# layout on files: groups, segments, orders of nodes and bytes, of a layout that is said or stands in a script

bats_require_minimum_version 1.5.0
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	write_conf topology.conf
}

layout() {
	onespine layout "$@"
}

# racks of 18 nodes of 4 GPUs as NVLink domains, two under each leaf
write_racks() {
	{
		echo '{"onespine-topology": 1, "levels": ["nvlink", "leaf", "spine"], "domains": ['
		echo '{"level": "spine", "name": "s1"},'
		echo '{"level": "leaf", "name": "l1", "in": "s1"}, {"level": "leaf", "name": "l2", "in": "s1"}'
		for rack in 1 2 3 4; do
			echo ",{\"level\": \"nvlink\", \"name\": \"r$rack\", \"in\": \"l$(((rack + 1) / 2))\"," \
				"\"nodes\": \"r${rack}n[01-18]\"}"
		done
		echo ']}'
	} >"$1"
}

@test "both arrangements, what crosses each level, and the order of nodes" {
	expect 0 "tp8,pp4,dp4: 16 nodes of 8 GPUs, ranks as megatron orders them

data inside: the framework's own order of ranks; segments leaf:4
  nodes in a row that hold whole groups: tp 1, dp 4, pp 16
  group        members  groups apart  held by      node        GB     leaf        GB    spine        GB
  tp                 8      16     0  node            1       0.0        1       0.0        1       0.0
  dp                 4      32     1  leaf            4    2100.0        1       0.0        1       0.0
  pp                 4      32     4  nothing         4      77.3        4      77.3        2      25.8
  all                                                      2177.3               77.3               25.8

pipeline inside: ranks transposed: nodes need the order below; segments leaf:4
  nodes in a row that hold whole groups: tp 1, dp 16, pp 4
  group        members  groups apart  held by      node        GB     leaf        GB    spine        GB
  tp                 8      16     0  node            1       0.0        1       0.0        1       0.0
  dp                 4      32     1  nothing         4    2100.0        4    2100.0        2    1050.0
  pp                 4      32     4  leaf            4      77.3        1       0.0        1       0.0
  all                                                      2177.3             2100.0             1050.0

Under a level: how many of its domains one group touches at most; GB: what all of them send between these in a step.

better: pipeline inside (over the spine, dp weighs 0.30 and pp 0.70: cost 1.40 and 0.60)

nodes in the order of their ranks, rank 0 first:
  n1 n5 n9 n13 n2 n6 n10 n14 n3 n7 n11 n15 n4 n8 n12 n16" \
		layout -N 16 --layout=tp8,pp4 --model=h=12288,l=96,s=2048,M=64,P=175G --topology=topology.conf
}

@test "a weight decides, and what must lie together" {
	expect_line 0 "better: data inside (over the spine, dp weighs 0.80 and pp 0.20: cost 0.40 and 1.60)" \
		layout --layout=tp8,pp4,dp4 --topology=topology.conf --dp-weight=0.8
	expect_line 0 "better: data inside, as --keep asks (over the spine, dp weighs 0.30 and pp 0.70: cost 1.40 and 0.60)" \
		layout --layout=tp8,pp4,dp4 --topology=topology.conf --keep=dp:leaf
	expect 1 "onespine: dp and pp groups cannot both lie in one leaf: they cross each other in the grid of nodes; keep one of them there" \
		layout --layout=tp8,pp4,dp4 --topology=topology.conf --keep=dp:leaf,pp:leaf
	expect 1 "onespine: pp groups take 8 nodes in a row, and not every one fits into one leaf; keep pp:spine" \
		layout --layout=tp8,pp8,dp2 --topology=topology.conf --keep=pp:leaf
}

@test "without a topology: how far apart, and what must lie in a row" {
	expect 0 "dp64,ep16,order=torchtitan: 8 nodes of 8 GPUs, ranks as torchtitan orders them

nodes in the fabric's order: the framework's own order of ranks
  nodes in a row that hold whole groups: ep 2, dp 8
  group        members  groups apart     node
  dp                64       1     0        8
  ep                16       4     0        2
  edp                4      16     2        4

Under a level: how many of its domains one group touches at most." \
		layout --layout=dp64,ep16,order=torchtitan
}

@test "racks of 18: segments of 16, and what a script says of NVLink domains" {
	write_racks racks.topology
	cat >job.sh <<-'END'
		#!/bin/bash
		#SBATCH --nodes=64 --gres=gpu:4
		export NVLINK_DOMAIN_SIZE=72
		EP=${EP:-64}
		srun python pretrain_gpt.py --pipeline-model-parallel-size 2 --expert-model-parallel-size $EP
	END
	expect_line 0 "data inside: the framework's own order of ranks; segments nvlink:16,leaf:32" \
		layout --script=job.sh --topology=racks.topology
	expect_line 0 "onespine: warning: job.sh:3: NVLINK_DOMAIN_SIZE=72 is false here: an NVLink domain holds 64 GPUs of this gang; set it to 64" \
		layout --script=job.sh --topology=racks.topology
	expect_line 0 "onespine: warning: job.sh:3: NVLINK_DOMAIN_SIZE=72 is false here: the topology has no level nvlink, and a node 4 GPUs; set it to 4" \
		layout --script=job.sh --layout=dp16 -N 4 --topology=topology.conf
	# a launcher that orders nodes by itself, in a script that the script calls
	printf '%s\n' 'torchrun --rdzv_backend c10d --rdzv_endpoint $HEAD "$@"' >run.sh
	printf '%s\n' '#SBATCH --nodes=4' 'srun bash run.sh pretrain_gpt.py --pipeline-model-parallel-size 2' >outer.sh
	# shellcheck disable=SC2016 # as it stands there
	expect_line 0 'onespine: warning: outer.sh: torchrun'"'"'s c10d ranks nodes by their names as strings, not in the order below: say --rdzv-backend=static --node-rank=$ONESPINE_NODE_RANK --master-addr=$ONESPINE_FIRST_HOST' \
		layout --script=outer.sh --topology=racks.topology
	layout --script=job.sh --topology=racks.topology --json 2>/dev/null >plan.json
	[[ $(jq -c '.arrangements[.better].segments' plan.json) == '[{"level":"nvlink","nodes":16},{"level":"leaf","nodes":32}]' ]]
	[[ $(jq -r '.arrangements[0].groups[] | select(.group == "ep") | .held_by' plan.json) == nvlink ]]
	# two nodes of each rack stay out, and every node has one rank
	[[ $(jq -r '.arrangements[0].nodes[]' plan.json | sort -u | cut -c1-2 | uniq -c | awk '{ print $1 }' | paste -sd' ') == "16 16 16 16" ]]
}

@test "what does not fit is refused with what to type" {
	expect 2 "onespine: a layout is needed: --layout=tp8,pp8,dp8, or --script=FILE of a job that names one" layout
	expect 2 "onespine: --layout, column 5: 'xp8': an axis is tp, cp, pp, dp, dpr, ep or etp with its size, as in tp8" \
		layout --layout=tp8,xp8
	expect 2 "onespine: tp8,pp4,dp3 is 96 GPUs, but 16 nodes of 8 GPUs have 128; with dp4 it fits" \
		layout --layout=tp8,pp4,dp3 -N 16
	expect 2 "onespine: --nodes=0: a whole number from 1 to 131072" layout --layout=dp8 -N 0
	expect 2 "onespine: --gpus-per-node=x: a whole number from 1 to 64" layout --layout=dp8 --gpus-per-node=x
	expect 2 "onespine: --dp-weight=2: a number from 0 (only pipelines count) to 1 (only gradients do)" \
		layout --layout=dp8 --dp-weight=2
	expect 2 "onespine: --model, column 1: h=0: a number above 0, as in 12288, 175e9 or 175G" \
		layout --layout=dp8 --model=h=0
	expect 2 "onespine: --model: l, the number of layers, is missing, as in h=12288,l=96,s=2048" \
		layout --layout=dp8 --model=h=10
	expect 2 "onespine: --keep needs --topology or --job, whose levels it names" layout --layout=dp8 --keep=pp:leaf
	expect 2 "onespine: --keep, column 4: no level is called laef; did you mean leaf" \
		layout --layout=dp8 --topology=topology.conf --keep=pp:laef
	expect 2 "onespine: --keep, column 1: 'qp': groups are tp, cp, dp, pp and ep, as in pp:leaf" \
		layout --layout=dp8 --topology=topology.conf --keep=qp:leaf
	expect 1 "onespine: the layout takes 17 nodes, and the topology has 16" \
		layout --layout=dp136 --topology=topology.conf
	expect 2 "onespine: --svg needs --topology or --job" layout --layout=dp8 --svg=x.svg
	echo 'srun hostname' >plain.sh
	expect 2 "onespine: plain.sh: no parallel flags of Megatron-LM, Megatron-Bridge or TorchTitan found (configuration in files of their own is not seen); say --layout=tp8,pp8,dp8" \
		layout --script=plain.sh
	expect_line 0 "tp6 ends after 6 GPUs, in the middle of a node of 8: its groups fall across nodes, and no order of nodes aligns them" \
		layout --layout=tp6,dp4
}

@test "on a job's nodes, as a saved state has them" {
	expect_line 0 "tp8,pp2,dp2: 4 nodes of 8 GPUs, ranks as megatron orders them" \
		layout --layout=tp8,pp2 --job=1201 --state="$MAP/small.json"
	expect_line 0 "  gpu-1 gpu-2 gpu-3 gpu-4" layout --layout=tp8,pp2 --job=1201 --state="$MAP/small.json"
	expect 2 "onespine: -N 3: job 1201 has 4 nodes; leave -N out" \
		layout --layout=tp8,pp2 -N 3 --job=1201 --state="$MAP/small.json"
	expect 2 "onespine: job 1206 has no nodes (PENDING)" \
		layout --layout=tp8 --job=1206 --state="$MAP/small.json"
	expect 2 "onespine: there is no job 9999" layout --layout=dp8 --job=9999 --state="$MAP/small.json"
	expect 2 "onespine: --state goes with --job" layout --layout=dp8 --state="$MAP/small.json"
}

@test "the picture of doc/placement.md is what the command draws" {
	layout -N 16 --layout=tp8,pp4 --model=h=12288,l=96,s=2048,M=64,P=175G --topology=topology.conf --svg=layout.svg
	cmp layout.svg "$SOURCE/doc/layout.svg"
}

@test "a layout that is said goes over a number of the script that cannot be read" {
	# as AWS's Megatron example does: two branches, each with a size of its own
	cat >branches.sh <<-'EOF'
		#SBATCH --nodes=4
		if [ "$1" = small ]; then : "${TP:=4}"; else : "${TP:=8}"; fi
		srun python pretrain_gpt.py --tensor-model-parallel-size $TP
	EOF
	run -0 layout --script=branches.sh --layout=tp8,dp4
}

@test "sizes of a model that the script leaves to a checkpoint do not refuse the layout" {
	# as BigScience's evaluations do: tp and pp stand there, the model's shape is -1
	cat >dummy.sh <<-'EOF'
		#SBATCH --nodes=1
		python evaluate.py --tensor-model-parallel-size 1 --pipeline-model-parallel-size 8 \
			--num-layers -1 --hidden-size -1 --seq-length -1
	EOF
	run -0 layout --script=dummy.sh
}

@test "a script that names a folder by SLURM_NODEID ranks nothing by it" {
	# as Megatron-LM's DeepSeek-V3 example does
	cat >folder.sh <<-'EOF'
		#SBATCH --nodes=4
		export TRITON_CACHE_DIR=/tmp/triton_cache_$SLURM_NODEID
		srun python pretrain_gpt.py --tensor-model-parallel-size 8
	EOF
	run -0 --separate-stderr layout --script=folder.sh --topology=topology.conf
	[[ $stderr != *SLURM_NODEID* ]]
}

@test "a script that ranks nodes by SLURM_NODEID is told that these are names" {
	cat >nodeid.sh <<-'EOF'
		#SBATCH --nodes=4
		srun torchrun --nnodes=4 --node-rank=$SLURM_NODEID pretrain_gpt.py --tensor-model-parallel-size 8
	EOF
	run -0 --separate-stderr layout --script=nodeid.sh --topology=topology.conf
	# shellcheck disable=SC2016
	grep -qFx 'onespine: warning: nodeid.sh: SLURM_NODEID counts nodes by their names, not as below: say --node-rank=$ONESPINE_NODE_RANK' <<<"$stderr"
}

@test "a script whose hidden size cannot be read is told why no bytes are shown" {
	cat >hidden.sh <<-'EOF'
		#SBATCH --nodes=4
		NHIDDEN=$((1024*1))
		srun python pretrain_gpt.py --tensor-model-parallel-size 8 --num-layers 24 --hidden-size $NHIDDEN --seq-length 2048
	EOF
	run -0 --separate-stderr layout --script=hidden.sh --topology=topology.conf
	[[ $stderr == 'onespine: warning: hidden.sh: no bytes of a step are shown: h, the hidden size, is missing, as in h=12288,l=96,s=2048; say them by --model' ]]
	run -0 --separate-stderr layout --script=hidden.sh --topology=topology.conf --model=h=1024
	[[ -z $stderr ]]
	[[ $output == *GB* ]]
}

@test "the gradients of shards are counted once, whatever cp is" {
	# 4 rings of 8 shards (cp 2 x 4), each over 4 nodes: 4 edges x 7/8 of 2 x 2 bytes of 1e9/4 weights
	layout --layout=tp4,cp2,dp8,dpr2,order=torchtitan -N 8 --model=h=1024,l=8,s=2048,P=1e9,dp=zero1 --json >shards.json
	[[ $(jq -c '.arrangements[0].groups[] | select(.group == "dp shard") | [.members, .spread[0].bytes]' shards.json) == '[8,28000000000]' ]]
}

# leaves NODES...: a spine of leaves of these nodes, as topology.conf
leaves() {
	local i=0 nodes
	for nodes; do
		echo "SwitchName=l$((++i)) Nodes=$nodes"
	done
	echo "SwitchName=s1 Switches=l[1-$i]"
}

@test "leaves that do not hold the largest segments get smaller ones before a group is cut" {
	leaves 'n[1-5]' 'n[6-8]' 'n[9-10]' >uneven.conf
	expect_line 0 "better: pipeline inside, as --keep asks (over the leaf, dp weighs 0.30 and pp 0.70: cost 2.00 and 0.90)" \
		layout -N 8 --layout=tp8,pp2,dp4,dpr2 --keep=pp:leaf --topology=uneven.conf
	expect_line 0 "pipeline inside: ranks transposed: nodes need the order below; segments leaf:2" \
		layout -N 8 --layout=tp8,pp2,dp4,dpr2 --topology=uneven.conf
	# three pairs fit there, not four
	leaves 'n[1-5]' 'n[6-8]' >odd.conf
	expect 1 "onespine: pp groups take 2 nodes in a row, and not every one fits into one leaf; keep pp:spine" \
		layout -N 8 --layout=tp8,pp2,dp4 --keep=pp:leaf --topology=odd.conf
	expect_line 0 "  the topology does not hold that many whole segments: groups are cut where it ends" \
		layout -N 8 --layout=tp8,pp2,dp4 --topology=odd.conf
	expect 1 "onespine: --keep=dp:node: dp3 ends after 12 GPUs, in the middle of a node of 8: its groups fall across nodes, and no order of nodes aligns them" \
		layout -N 6 --layout=tp4,pp4,dp3 --keep=dp:node --topology=odd.conf
	# beside the arrangement that keeps what is asked, the other one is as without --keep
	leaves 'n[1-5]' 'n[6-9]' 'n[10-14]' 'n[15-18]' >larger.conf
	local side without
	without=$(layout -N 16 --layout=tp8,pp4 --topology=larger.conf | sed '/^better/,$d')
	[[ $without == *"  dp                 4      32     1  leaf            4        1"* ]]
	for side in pp:leaf dp:leaf; do
		diff <(layout -N 16 --layout=tp8,pp4 --keep=$side --topology=larger.conf | sed '/^better/,$d') <(echo "$without"$'\n')
	done
	# three spines: six nodes hold one pipeline of four, not one and a half
	cat >spines.conf <<-'END'
		SwitchName=l1 Nodes=n[1-2]
		SwitchName=l2 Nodes=n[3-4]
		SwitchName=l3 Nodes=n[5-6]
		SwitchName=l4 Nodes=n[7-8]
		SwitchName=l5 Nodes=n[9-10]
		SwitchName=l6 Nodes=n[11-12]
		SwitchName=l7 Nodes=n[13-14]
		SwitchName=l8 Nodes=n[15-16]
		SwitchName=s1 Switches=l[1-3]
		SwitchName=s2 Switches=l[4-6]
		SwitchName=s3 Switches=l[7-8]
	END
	expect_line 0 "  n1 n7 n13 n2 n8 n14 n3 n9 n15 n4 n10 n16" \
		layout -N 12 --layout=tp8,pp4,dp3 --keep=pp:spine --topology=spines.conf
}
