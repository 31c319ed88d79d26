#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_cgroup.bats - --gang-bind where Slurm really holds jobs to their cores: task/cgroup and task/affinity

# shellcheck disable=SC2016 # what the tasks' shells are to expand

load helpers
load gpu_nodes

setup_file() {
	export LC_ALL=C.UTF-8 NODE1=c$$n1
	export GROUPS_OF_NODE=/sys/fs/cgroup/cpuset/slurm_$NODE1
	why_not >"$BATS_FILE_TMPDIR/why_not"
	[[ ! -s $BATS_FILE_TMPDIR/why_not ]] || return 0
	make_gpu_nodes
	write_whole_machine >"$FIXTURE/machine.xml"
	cluster_start --cgroups --nodes 1 --names "$NODE1" --gres gpu:2
	use_gpu_nodes
}

# its groups go with the cluster
teardown_file() {
	local status=0
	end_file || status=1
	[[ ! -e $GROUPS_OF_NODE ]] || {
		fail "$GROUPS_OF_NODE is still there"
		status=1
	}
	return $status
}

setup() {
	[[ ! -s $BATS_FILE_TMPDIR/why_not ]] || skip "$(<"$BATS_FILE_TMPDIR/why_not")"
	begin_test
}

# why_not: what this machine lacks for --cgroups, or for a part of its cores
why_not() {
	# shellcheck source=tools/lib/cgroup.sh
	(. "$ONESPINE_TOOLS/lib/cgroup.sh" && cgroups_lack)
	if [[ -e /sys/fs/cgroup/cpuset/cpuset.cpus ]]; then
		[[ $(</sys/fs/cgroup/cpuset/cpuset.cpus) == "0-$(($(nproc --all) - 1))" ]] ||
			echo "not all of this machine's cores are in the cpuset controller's first group"
	fi
	(($(nproc --all) > 1)) || echo "one core is too few"
	(($(nproc --all) < 64)) || echo "more cores than NCCL's form of a machine takes in one number"
}

# write_whole_machine: all of this machine's cores, the even ones on NUMA node 0 with GPU 1, the odd ones on node 1
# with GPU 0
write_whole_machine() {
	local cpu masks=(0 0)
	for ((cpu = 0; cpu < $(nproc --all); cpu++)); do
		masks[cpu % 2]=$((masks[cpu % 2] | 1 << cpu))
	done
	printf '<system><cpu numaid="0" affinity="%x"><pci busid="0000:80:00.0" class="0x030200"/></cpu>' "${masks[0]}"
	printf '<cpu numaid="1" affinity="%x"><pci busid="0000:10:00.0" class="0x030200"/></cpu></system>' "${masks[1]}"
}

step() {
	srun -Q --gang-bind=verbose "$@" 2>"$BATS_TEST_TMPDIR/err"
}

# what a task says: its rank, its CPUs by sched_getaffinity, and those of its cgroup
MASK='echo "$SLURM_LOCALID $(taskset -cp $$ | sed "s/.*: //") in $(cat /sys/fs/cgroup/cpuset$(
	sed -n "s/^[0-9]*:cpuset://p" /proc/self/cgroup)/cpuset.cpus)"'

all_cpus() {
	cat /sys/fs/cgroup/cpuset/cpuset.cpus
}

# planned TASK: that task's CPUs, in the plan of two on the whole machine
planned() {
	onespine bind --topology "$FIXTURE/machine.xml" --tasks 2 --json | jq -r ".tasks[$1].cpus"
}

said() {
	cat "$BATS_TEST_TMPDIR/err"
}

@test "two jobs of one core each: both bound, each inside its own cgroup" {
	for job in 1 2; do
		srun -Q -n1 -c1 --gang-bind=verbose sh -c "$MASK; : >$BATS_TEST_TMPDIR/\$SLURM_JOB_ID.here
			while [ ! -e $BATS_TEST_TMPDIR/go ]; do sleep 0.1; done" \
			>"$BATS_TEST_TMPDIR/out$job" 2>"$BATS_TEST_TMPDIR/err$job" &
	done
	await 20 eval '(($(ls "$BATS_TEST_TMPDIR" | grep -c here) == 2))'
	touch "$BATS_TEST_TMPDIR/go"
	wait
	for job in 1 2; do
		read -r _ cpus _ group <"$BATS_TEST_TMPDIR/out$job"
		matches "$cpus" '^[0-9]+$'
		equal "$cpus" "$group"
		# whatever is near its GPUs
		holds "$(<"$BATS_TEST_TMPDIR/err$job")" "bind: task 0 on $NODE1: CPUs $cpus, "
	done
	[[ $(<"$BATS_TEST_TMPDIR/out1") != "$(<"$BATS_TEST_TMPDIR/out2")" ]]
}

@test "a job of all cores: our plan instead of Slurm's masks, inside the cgroup" {
	equal "$(step --exclusive -n2 --gang-bind=off sh -c "$MASK; echo \$SLURM_CPU_BIND_TYPE" | grep -c mask_cpu)" 2
	equal "$(step --exclusive -n2 sh -c "$MASK" | sort)" "0 $(planned 0) in $(all_cpus)
1 $(planned 1) in $(all_cpus)"
}

@test "steps that share a job's cores: each inside its own part" {
	salloc -Q --exclusive -n2 bash -c '
		for step in 1 2; do
			srun -Q --exact -n1 -c1 --gang-bind=verbose sh -c "$0; : >$1/\$SLURM_STEP_ID.here
				until [ -e $1/0.here ] && [ -e $1/1.here ]; do sleep 0.1; done" &
		done; wait' "$MASK" "$BATS_TEST_TMPDIR" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err"
	equal "$(grep -c 'CPUs' "$BATS_TEST_TMPDIR/err")" 2
	equal "$(awk '{ print $2 == $4 }' "$BATS_TEST_TMPDIR/out" | paste -sd' ')" '1 1'
	equal "$(awk '{ print $2 }' "$BATS_TEST_TMPDIR/out" | sort -u | wc -l)" 2
}

@test "what the user binds stays, inside the cgroup" {
	equal "$(step -n1 -c1 --cpu-bind=none sh -c "$MASK" | awk '{ print $2 == $4 }')" 1
	holds "$(said)" 'left as it is: --cpu-bind is given'
	equal "$(step --exclusive -n2 --cpu-bind=map_cpu:0,1 sh -c "$MASK" | sort)" "0 0 in $(all_cpus)
1 1 in $(all_cpus)"
	holds "$(said)" 'left as it is: --cpu-bind is given'
	SLURM_CPU_BIND=map_cpu:0,1 step --exclusive -n2 sh -c "$MASK" >"$BATS_TEST_TMPDIR/out"
	equal "$(sort "$BATS_TEST_TMPDIR/out")" "0 0 in $(all_cpus)
1 1 in $(all_cpus)"
}

@test "an inner step is not held to the one core of the step around it" {
	salloc -Q --exclusive -n2 srun -Q -n1 -c1 --gang-bind=off sh -c '
		echo $SLURM_CPU_BIND_TYPE; srun -Q --overlap -n2 --gang-bind=verbose sh -c "$0"' "$MASK" \
		>"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err"
	cat "$BATS_TEST_TMPDIR/out" "$BATS_TEST_TMPDIR/err"
	equal "$(grep ' in ' "$BATS_TEST_TMPDIR/out" | sort)" "0 $(planned 0) in $(all_cpus)
1 $(planned 1) in $(all_cpus)"
}

@test "where nothing can be bound the job runs as Slurm bound it" {
	sed 's/affinity="[^"]*"/affinity="c0000000,00000000"/' "$FIXTURE/machine.xml" >"$FIXTURE/elsewhere.xml"
	sed -i "s# topology=[^ ]*# topology=$FIXTURE/elsewhere.xml#" "$ONESPINE_CLUSTER/plugstack.conf"
	equal "$(step -n1 -c1 sh -c "$MASK" | awk '{ print $2 == $4 }')" 1
	holds "$(said)" "left as it is: none of its CPUs is one of this node's topology"
	use_gpu_nodes
}

@test "children of the only task part the cores of its cgroup" {
	step --exclusive -n1 -c"$(nproc --all)" sh -c 'for rank in 0 1; do
		SLURM_LOCALID=$rank LOCAL_RANK=$rank LOCAL_WORLD_SIZE=2 onespine bind run sh -c "$0"; done' "$MASK" \
		>"$BATS_TEST_TMPDIR/out"
	equal "$(<"$BATS_TEST_TMPDIR/out")" "0 $(planned 0) in $(all_cpus)
1 $(planned 1) in $(all_cpus)"
	equal "$(step -n1 -c1 sh -c 'LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 onespine bind run sh -c "$0"' "$MASK" |
		awk '{ print $2 == $4 }')" 1
}

@test "task/cgroup alone, without task/affinity" {
	sed -i 's#^TaskPlugin=.*#TaskPlugin=task/cgroup#' "$ONESPINE_CLUSTER/slurm.conf"
	cluster kill-node --dir "$ONESPINE_CLUSTER" "$NODE1"
	cluster start-node --dir "$ONESPINE_CLUSTER" "$NODE1"
	await 30 node_is "$NODE1" idle
	step --exclusive -n2 sh -c "$MASK" >"$BATS_TEST_TMPDIR/out"
	said
	equal "$(sort "$BATS_TEST_TMPDIR/out")" "0 $(planned 0) in $(all_cpus)
1 $(planned 1) in $(all_cpus)"
	step -n1 -c1 sh -c "$MASK" >"$BATS_TEST_TMPDIR/out"
	read -r _ cpus _ group <"$BATS_TEST_TMPDIR/out"
	equal "$cpus" "$group"
	holds "$(said)" "CPUs $cpus, "
}

@test "a second cluster of the same names is refused, and touches nothing of the first" {
	run cluster start --cgroups --nodes 1 --names "$NODE1" ${ONESPINE_TEST_SLURM:+--slurm "$ONESPINE_TEST_SLURM"}
	[[ $status != 0 ]]
	holds "$output" "slurm_$NODE1 is another cluster's: choose other --names"
	[[ -d /sys/fs/cgroup/freezer/slurm_$NODE1 ]]
}
