#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_one_node.bats - jobs that may have one node only, with GPUs for the whole job (--gpus=N)
#
# Slurm 26.05 looks at one node after the other for such a job and adds up what they have, so it may name one that has
# too little (doc/slurm-versions.md, "One node"). Older releases pass all of this by themselves.

load helpers
load promise_helpers

# Of the 4 GPUs of n1 and n2 two are held; what else is held is the test's.
setup_file() {
	lay_fabric 1-4 5-8 >"$BATS_FILE_TMPDIR/onespine.topology"
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-'POLICY'
		partitions:
		  train: {gang: always, allow_off: false}
		  train4: {gang: always, allow_off: false, from_nodes: 4}
	POLICY
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --config "$BATS_FILE_TMPDIR/onespine.yaml" --gres gpu:4 \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1,bf_resolution=1 \
		--conf SelectTypeParameters=CR_CPU_Memory --node-conf RealMemory=8000 --conf DefMemPerCPU=1 \
		--conf PreemptType=preempt/partition_prio --conf PreemptMode=REQUEUE --conf KillWait=1 \
		--partition 'free Nodes=ALL Default=YES PriorityTier=10 PreemptMode=OFF' \
		--partition 'low Nodes=ALL PriorityTier=1 PreemptMode=REQUEUE' \
		--partition 'middle Nodes=ALL PriorityTier=5 PreemptMode=REQUEUE' \
		--partition 'train Nodes=ALL PriorityTier=10 PreemptMode=OFF' \
		--partition 'train4 Nodes=ALL PriorityTier=10 PreemptMode=OFF'
}

# Before 26.05 one task may have the GPUs of two nodes.
setup() {
	ONE_NODE=(-N1 --gang)
	! slurm_at_least 26.05 || ONE_NODE=(-n1)
	free_all
}

# half PARTITION MINUTES HOSTLIST: a job on each of these nodes that holds two of its GPUs
half() {
	local node
	for node in $(hostnames "$3"); do
		submit -J half -p "$1" -t "$2" -w "$node" -N1 -n1 --gpus-per-node=2 >/dev/null
	done
	await 30 none_pending half
}

halves_run() {
	equal "$(squeue -h -n half -t RUNNING -o %N | sort | paste -sd' ')" "$1"
}

nobody_on() {
	equal "$(squeue -h -w "$1" -t RUNNING,COMPLETING -o %A)" '' "jobs on $1"
}

# gpus_of JOB: how many it was given
gpus_of() {
	scontrol -d show job "$1" | sed -n 's/^ *Nodes=.* GRES=gpu[^ (]*:\([0-9]*\)(IDX.*/\1/p'
}

# runs_on JOB NODE GPUS
runs_on() {
	equal "$(job_state "$1") $(job_field "$1" NodeList) $(gpus_of "$1")" "RUNNING $2 $3"
}

@test "nobody is preempted while an idle node has the GPUs" {
	half low 30 n1,n2
	hold 'n[4-8]'
	for words in '-n1 --gpus=3' '-n1 --gpus=3 --gang' '-N1 --gpus=3 --gang'; do
		# shellcheck disable=SC2086
		job=$(submit -p train $words)
		await 30 runs_on "$job" n3 3
		halves_run 'n1 n2'
		scancel "$job"
		await 30 nobody_on n3
	done
}

@test "nobody is preempted while an idle node has the memory that comes with the GPUs" {
	for node in n1 n2; do
		submit -J half -p low -t 30 -w "$node" -N1 -n1 --mem=4000 >/dev/null
	done
	await 30 none_pending half
	hold 'n[4-8]'
	for words in '-n1' '-N1 --gang'; do
		# shellcheck disable=SC2086
		job=$(submit -p train $words --gpus=4 --mem-per-gpu=2000)
		await 30 runs_on "$job" n3 4
		halves_run 'n1 n2'
		scancel "$job"
		await 30 nobody_on n3
	done
}

@test "two nodes of a list of sizes start where no single node has the GPUs" {
	slurm_at_least 23.11 || skip 'sbatch takes no list of sizes'
	half free 30 'n[1-8]'
	for words in '' '--gang'; do
		# shellcheck disable=SC2086
		job=$(submit -p train -N1,2 --gpus=4 $words)
		await 30 job_is "$job" RUNNING
		equal "$(job_field "$job" NumNodes)" 2
		scancel "$job"
	done
}

@test "where no node has enough free, jobs of one node alone are preempted" {
	half low 30 n1,n2
	hold 'n[3-8]'
	job=$(submit -p train "${ONE_NODE[@]}" --gpus=3)
	await 60 job_is "$job" RUNNING
	equal "$(gpus_of "$job")" 3
	equal "$(squeue -h -n half -t RUNNING -o %N | wc -l)" 1 'jobs left'
}

@test "of two nodes the job is preempted that Slurm preempts first" {
	half low 30 n1
	half middle 30 n2
	hold 'n[3-8]'
	job=$(submit -p train "${ONE_NODE[@]}" --gpus=3)
	await 60 runs_on "$job" n1 3
	halves_run n2
}

@test "behind a job for which nodes are reserved, one node starts at once where it has the GPUs" {
	half free 20 n1,n2
	submit -J half -p free -t 20 -w n4 -N1 --exclusive >/dev/null
	await 30 none_pending half
	hold 'n[5-8]'
	blocker=$(submit -J blocker -p train -w 'n[1-4]' -N4 --exclusive --priority=5000)
	await 30 shows "n[1-4]" job_field "$blocker" SchedNodeList
	for words in '-n1 --gpus=3' '-N1 --gpus=3 --gang'; do
		# shellcheck disable=SC2086
		job=$(submit -p train -t 5 $words)
		await 30 runs_on "$job" n3 3
		scancel "$job"
		await 30 nobody_on n3
	done
}

@test "a start later is planned when the first node has the GPUs, not when a sum is enough" {
	half free 40 n1,n2
	half free 20 n3
	hold 'n[4-8]'
	job=$(submit -p train -t 5 "${ONE_NODE[@]}" --gpus=3)
	await 30 shows n3 job_field "$job" SchedNodeList
	later=$(($(date -d "$(job_field "$job" StartTime)" +%s) - $(date +%s)))
	((later > 17 * 60 && later < 21 * 60)) || fail "planned in $later s"
	scancel "$(squeue -h -n half -w n3 -o %A)"
	await 30 runs_on "$job" n3 3
}

@test "a gang of one node waits for its GPUs after @TIME too" {
	half free 30 n1,n2
	hold 'n[3-8]'
	job=$(submit --gang=core@0:02 -N1 --gpus=3)
	stays 6 job_is "$job" PENDING
	release n3
	await 30 runs_on "$job" n3 3
}

@test "one node with more GPUs than a node has is refused, however large a gang has to be" {
	slurm_at_least 26.05 || skip 'before 26.05 one task may have two nodes'
	for words in '-p train -n1' '-p train4 -n1' '-p train -N1 --gang' '-p train4 -N1 --gang'; do
		# shellcheck disable=SC2086
		holds "$(submit_refused $words --gpus=6)" 'Requested node configuration is not available'
	done
	job=$(submit -p train4 --gpus=6)
	await_job "$job" RUNNING
}
