#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_oracle.bats - a gang in random states of a real Slurm, held against what Slurm says of each domain alone
#
# What is compared, and how: oracle.py. ONESPINE_SEED=N ONESPINE_STATES=N runs these states (again);
# by default the same ones from seed 2000 on, as many as two minutes have time for (ONESPINE_SECONDS).

load helpers

setup_file() {
	local dir=$BATS_FILE_TMPDIR/cluster
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 3 2 2
	export GATES=$BATS_FILE_TMPDIR/gates
	mkdir "$GATES"
	cat >"$BATS_FILE_TMPDIR/epilog" <<-END
		#!/bin/sh
		while [ -e "$GATES/\$SLURMD_NODENAME" ]; do sleep 0.2; done
	END
	chmod 755 "$BATS_FILE_TMPDIR" "$GATES" "$BATS_FILE_TMPDIR/epilog"
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --dir "$dir" --gres gpu:4 \
		--conf "AuthInfo=socket=$dir/munge/socket,cred_expire=5" --conf "Epilog=$BATS_FILE_TMPDIR/epilog" \
		--conf SelectTypeParameters=CR_CPU_Memory --conf DefMemPerNode=500 --conf KillWait=1 \
		--conf PreemptType=preempt/partition_prio --conf PreemptMode=CANCEL --conf MessageTimeout=5 \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1,bf_max_job_test=100 \
		--conf Licenses=tool:3 --node-conf RealMemory=8000 --node-conf 'NodeName=n[1,2,5,6,9-12] Feature=a' \
		--node-conf 'NodeName=n[3,4,7,8] Feature=b' \
		--partition 'main Nodes=ALL Default=YES PriorityTier=10 PreemptMode=OFF' \
		--partition 'low Nodes=ALL PriorityTier=1 PreemptMode=CANCEL' \
		--partition 'few Nodes=n[1-7,9-10] PriorityTier=10 PreemptMode=OFF'
}

setup() {
	cluster check --dir "$ONESPINE_CLUSTER"
}

@test "random states: never later than the best domain alone, never on two, nobody waits longer for it" {
	python3 "$BATS_TEST_DIRNAME/oracle.py" --seconds "${ONESPINE_SECONDS:-120}" --states "${ONESPINE_STATES:-0}" \
		--seed "${ONESPINE_SEED:-2000}" --gates "$GATES" \
		--spines 'n1,n2,n3,n4 n5,n6,n7,n8 n9,n10,n11,n12'
}
