#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_beside.bats - segments and several domains beside what keeps nodes from a job: GPU types, licenses,
# reservations, preemption, suspended jobs
#
# Three spines of two leaves of two nodes: s1 has a leaf with GPUs of type a (n1-n2) and one of b (n3-n4), s2 a alone
# (n5-n8), s3 b alone (n9-n12).

load helpers

setup_file() {
	local dir=$BATS_FILE_TMPDIR/cluster
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 3 2 2
	# what is preempted begins again cred_expire seconds later, not after Slurm's two minutes
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --dir "$dir" --gres gpu:a:4 \
		--node-conf 'NodeName=n[3-4,9-12] Gres=gpu:b:4' \
		--conf "AuthInfo=socket=$dir/munge/socket,cred_expire=5" \
		--conf PreemptType=preempt/partition_prio --conf PreemptMode=REQUEUE --conf Licenses=tool:2 \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1 \
		--partition 'gpu Nodes=ALL Default=YES PriorityTier=10 PreemptMode=OFF' \
		--partition 'low Nodes=ALL PriorityTier=1 PreemptMode=REQUEUE'
}

comment() {
	job_field "$1" AdminComment
}

# nodes_are JOB NAME...: it runs on these, in the order of their numbers
nodes_are() {
	local job=$1
	shift
	await_job "$job" RUNNING 40
	equal "$(job_nodes "$job" | paste -sd' ')" "$*" "nodes of job $job"
}

# fill HOSTLIST SBATCH-OPTION...: a job on each node; job_on[NODE] is its number
fill() {
	local node list=$1
	shift
	declare -gA job_on
	for node in $(hostnames "$list"); do
		job_on[$node]=$(submit --job-name=fill -w "$node" -N1 --time=60 "$@")
	done
	await 60 none_pending fill
}

planned_nodes() {
	hostnames "$(job_field "$1" SchedNodeList)" | paste -sd' '
}

is_planned() {
	[[ $(job_field "$1" StartTime) == 20* && $(job_field "$1" SchedNodeList) == n* ]]
}

@test "GPUs of one type: segments are whole leaves of that type, and a plan for later has no other node" {
	holds "$(submit_refused --gang-domains=3 -N8 --gpus-per-node=4)" \
		'with all nodes of partition gpu free so many hold 6'
	first=$(submit --gang-domains=2 --gang-segment=leaf:2 -N4 --gpus-per-node=b:4 --time=10)
	nodes_are "$first" n9 n10 n11 n12
	# one leaf of b is left, of a three
	next=$(submit --gang-domains=2 --gang-segment=leaf:2 -N4 --gpus-per-node=b:4 --time=10)
	await 30 shows 'but Slurm cannot start the job there now (memory, cores, GPUs' comment "$next"
	await 30 is_planned "$next"
	matches "$(planned_nodes "$next")" '^(n3 n4 )?n9 n10( n11 n12)?$|^n3 n4 n11 n12$'
	equal "$(job_state "$next")" PENDING
	[[ $(job_field "$next" Priority) != 0 ]]
	# a larger one of either type takes the one that has as many
	either=$(submit --gang-domains=2 --gang-segment=leaf:2 -N6 --gpus-per-node=4 --time=10)
	nodes_are "$either" n1 n2 n5 n6 n7 n8
	scancel "$first"
	await_job "$next" RUNNING 40
	matches "$(job_nodes "$next" | paste -sd' ')" '^(n3 n4 )?n9 n10( n11 n12)?$|^n3 n4 n11 n12$'
}

@test "GPUs in use: a leaf of which one node lacks some is no segment, until its job ends" {
	fill 'n[5,11]' --gpus-per-node=1 -n1
	gang=$(submit --gang-domains=2 --gang-segment=leaf:2 -N4 --gpus-per-node=a:4 --time=10)
	nodes_are "$gang" n1 n2 n7 n8
	next=$(submit --gang=spine --gang-segment=leaf:2 -N4 --gpus-per-node=b:4 --time=10)
	await 30 shows 'waits: 4 nodes' comment "$next"
	stays 3 job_is "$next" PENDING
	# with three of the four GPUs they do
	three=$(submit --gang=spine --gang-segment=leaf:2 -N4 --gpus-per-node=b:3 --time=10)
	nodes_are "$three" n9 n10 n11 n12
	scancel "${job_on[n11]}" "$three"
	nodes_are "$next" n9 n10 n11 n12
}

@test "licenses: segments wait for them while others start, and are whole then" {
	holder=$(submit -N1 -w n1 -L tool:1 --time=60)
	await_job "$holder" RUNNING
	gang=$(submit --gang-domains=2 --gang-segment=leaf:2 -N6 --exclusive -L tool:2 --time=10)
	await 30 has_reason "$gang" Licenses
	other=$(submit --gang=spine --gang-segment=leaf:2 -N4 --exclusive --gpus-per-node=b:1 --time=10)
	nodes_are "$other" n9 n10 n11 n12
	stays 3 job_is "$gang" PENDING
	scancel "$holder"
	nodes_are "$gang" n1 n2 n5 n6 n7 n8
}

has_reason() {
	[[ $(job_reason "$1") == "$2" ]]
}

@test "reservations: a leaf of which one node is reserved is no segment, and in one only its nodes are" {
	fill 'n[9-12]' --exclusive
	scontrol create reservation ReservationName=one StartTime=now Duration=60 Nodes=n5 Users=root
	gang=$(submit --gang=spine --gang-segment=leaf:2 -N4 --exclusive --gpus-per-node=a:1 --time=10)
	await 30 shows 'waits: 4 nodes' comment "$gang"
	wider=$(submit --gang-domains=2 --gang-segment=leaf:2 -N4 --exclusive --gpus-per-node=a:1 --time=10)
	nodes_are "$wider" n1 n2 n7 n8
	equal "$(job_state "$gang")" PENDING
	scancel "$wider"
	scontrol delete ReservationName=one
	nodes_are "$gang" n5 n6 n7 n8
	scancel "$gang"
	await 30 none_left n5
	scontrol create reservation ReservationName=both StartTime=now Duration=60 Nodes='n[1-2,5,7-8]' Users=root
	inside=$(submit --reservation=both --gang=spine --gang-segment=leaf:2 -N4 --exclusive --time=10)
	await 30 shows 'waits: 4 nodes' comment "$inside"
	wider=$(submit --reservation=both --gang-domains=2 --gang-segment=leaf:2 -N4 --exclusive --time=10)
	nodes_are "$wider" n1 n2 n7 n8
	equal "$(job_state "$inside")" PENDING
}

none_left() {
	node_is "$1" idle
}

@test "preemption: only jobs in the segments that are taken have to go, and never for fewer than the gang needs" {
	fill n1 --exclusive
	fill 'n[2-8,10-12]' -p low --exclusive
	fill n9 --exclusive
	# no spine has two leaves without a job that may stay but s2
	gang=$(submit --gang=spine --gang-segment=leaf:2 -N4 --exclusive --time=10)
	nodes_are "$gang" n5 n6 n7 n8
	still_running 'n[1-4,9-12]'
	# two leaves are left to be had, and three are asked for
	three=$(submit --gang-domains=3 --gang-segment=leaf:2 -N6 --exclusive --gpus-per-node=b:1 --time=10)
	await 30 shows 'waits: 6 nodes' comment "$three"
	stays 3 still_running 'n[1-4,9-12]'
	two=$(submit --gang-domains=2 --gang-segment=leaf:2 -N4 --exclusive --gpus-per-node=b:1 --time=10 --nice=-1)
	nodes_are "$two" n3 n4 n11 n12
	still_running 'n[1-2,9-10]'
}

@test "suspended jobs: their cores are a segment's, their GPUs are not" {
	local node
	fill 'n[1-4,6-8]' -n8
	fill n5 -n8 --gpus-per-node=1
	fill 'n[9-12]' -n8
	for node in n1 n2 n5 n6 n7 n8; do
		scontrol suspend "${job_on[$node]}"
		await_job "${job_on[$node]}" SUSPENDED
	done
	gang=$(submit --gang=spine --gang-segment=leaf:2 -N4 --ntasks-per-node=8 --gpus-per-node=4 --time=10)
	await 30 shows 'waits: 4 nodes' comment "$gang"
	wider=$(submit --gang-domains=2 --gang-segment=leaf:2 -N4 --ntasks-per-node=8 --gpus-per-node=4 --time=10)
	nodes_are "$wider" n1 n2 n7 n8
	scancel "$gang" "$wider"
	await_job "$wider" CANCELLED
	cores=$(submit --gang=spine --gang-segment=leaf:2 -N4 --ntasks-per-node=8 --time=10)
	nodes_are "$cores" n5 n6 n7 n8
	still_running 'n[3-4,9-12]'
}
