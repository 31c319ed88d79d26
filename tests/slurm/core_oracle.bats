#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_oracle.bats - a gang in random states of a real Slurm, held against what Slurm says of each domain alone
#
# What is compared, and how: oracle.py. ONESPINE_SEED=N ONESPINE_STATES=N runs these states (again), ONESPINE_STRIDE
# and ONESPINE_KIND choose among them, ONESPINE_FIRST=1 ends at the first that differs; by default the same ones from
# seed 2000 on, as many as two minutes have time for (ONESPINE_SECONDS). In every second state the job is one that a
# policy holds to one spine; ONESPINE_HELD=0 makes the states of seeds that were written down before that, an empty
# ONESPINE_BESIDE those before levels beside the tree (27 November 2026), and ONESPINE_AIMED=0 those before some states
# were aimed at one rule (b2d49b0).

load helpers

# add_nvlinks FILE: the topology with a level beside the tree: one domain of it lies in two spines, the others in leaves
# of one; n1, n8 and n12 are in none
add_nvlinks() {
	sed -e 's/^"levels": .*,$/&\n"overlays": ["nvlink"],/' -e '/^]$/i\
,{"level": "nvlink", "name": "v1", "nodes": "n[2-5]"},\
{"level": "nvlink", "name": "v2", "nodes": "n[6-7]"},\
{"level": "nvlink", "name": "v3", "nodes": "n[9-11]"}' "$1"
}

# Partition over has the highest tier, so nobody preempts its jobs; with PreemptMode=OFF they would share with nobody,
# which preempt/partition_prio sees to (_job_test(), step 2).
setup_file() {
	local dir=$BATS_FILE_TMPDIR/cluster
	make_topology "$BATS_FILE_TMPDIR/tree" 3 2 2
	add_nvlinks "$BATS_FILE_TMPDIR/tree" >"$BATS_FILE_TMPDIR/onespine.topology"
	export GATES=$BATS_FILE_TMPDIR/gates
	mkdir "$GATES"
	cat >"$BATS_FILE_TMPDIR/epilog" <<-END
		#!/bin/sh
		while [ -e "$GATES/\$SLURMD_NODENAME" ]; do sleep 0.2; done
	END
	chmod 755 "$BATS_FILE_TMPDIR" "$GATES" "$BATS_FILE_TMPDIR/epilog"
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-'POLICY'
		partitions:
		  held: {gang: always, allow_off: false}
		  held4: {gang: always, allow_off: false, from_nodes: 4}
	POLICY
	export ONESPINE_TICKS=$BATS_FILE_TMPDIR/ticks
	head -c 8 /dev/zero >"$ONESPINE_TICKS"
	cc -shared -fPIC -O1 -Wall -Werror -o "$BATS_FILE_TMPDIR/backfill_now.so" "$BATS_TEST_DIRNAME/backfill_now.c" -ldl
	LD_PRELOAD=$BATS_FILE_TMPDIR/backfill_now.so cluster_start \
		--topology "$BATS_FILE_TMPDIR/onespine.topology" --dir "$dir" --gres gpu:h100:4 \
		--config "$BATS_FILE_TMPDIR/onespine.yaml" \
		--conf "AuthInfo=socket=$dir/munge/socket,cred_expire=5" --conf "Epilog=$BATS_FILE_TMPDIR/epilog" \
		--conf SelectTypeParameters=CR_CPU_Memory --conf DefMemPerNode=500 --conf KillWait=1 \
		--conf PreemptType=preempt/partition_prio --conf PreemptMode=CANCEL --conf MessageTimeout=5 --conf MinJobAge=5 \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1,bf_max_job_test=100 \
		--conf Licenses=tool:3 --node-conf RealMemory=8000 --node-conf 'NodeName=n[2,6,10] Feature=a' \
		--node-conf 'NodeName=n12 Feature=a Gres=gpu:a100:4' \
		--node-conf 'NodeName=n[1,5,9,11] Feature=a,c' --node-conf 'NodeName=n[4,8] Feature=b' \
		--node-conf 'NodeName=n[3,7] Feature=b,c' \
		--partition 'main Nodes=ALL Default=YES PriorityTier=10 PreemptMode=OFF' \
		--partition 'held Nodes=ALL PriorityTier=10 PreemptMode=OFF' \
		--partition 'held4 Nodes=ALL PriorityTier=10 PreemptMode=OFF' \
		--partition 'low Nodes=ALL PriorityTier=1 PreemptMode=CANCEL' \
		--partition 'few Nodes=n[1-7,9-10] PriorityTier=10 PreemptMode=OFF' \
		--partition 'over Nodes=ALL PriorityTier=10 PreemptMode=CANCEL OverSubscribe=FORCE:2' \
		--partition 'once Nodes=ALL PriorityTier=10 PreemptMode=CANCEL OverSubscribe=FORCE:1' \
		--partition 'twice Nodes=ALL PriorityTier=10 PreemptMode=CANCEL OverSubscribe=FORCE:1' \
		--partition 'whole Nodes=ALL PriorityTier=10 PreemptMode=OFF OverSubscribe=EXCLUSIVE' \
		--partition 'half Nodes=ALL PriorityTier=10 PreemptMode=OFF MaxCPUsPerNode=4'
}

setup() {
	cluster check --dir "$ONESPINE_CLUSTER"
}

@test "the judge sees wrong answers, and no rule of it can be blind unnoticed" {
	run python3 "$BATS_TEST_DIRNAME/oracle_judge.py"
	echo "$output"
	((status == 0))
	[[ $output == *"rules, "*" answers of which "*" are wrong, "*" broken rules: 0 not seen" ]]
}

@test "random states: never later than the best domain alone, never on two, nobody waits longer for it" {
	python3 "$BATS_TEST_DIRNAME/oracle.py" --seconds "${ONESPINE_SECONDS:-0}" --states "${ONESPINE_STATES:-0}" \
		--seed "${ONESPINE_SEED:-2000}" --stride "${ONESPINE_STRIDE:-1}" --kind="${ONESPINE_KIND:-}" --held "${ONESPINE_HELD:-2}" \
		--aimed "${ONESPINE_AIMED:-1}" ${ONESPINE_FIRST:+--first} --gates "$GATES" --ticks "$ONESPINE_TICKS" \
		--spines 'n1,n2,n3,n4 n5,n6,n7,n8 n9,n10,n11,n12' --beside "${ONESPINE_BESIDE-n2,n3,n4,n5 n6,n7 n9,n10,n11}"
}
