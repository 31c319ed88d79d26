#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_overlay_jobs.bats - NVLink domains beside the tree, and preemption, arrays, changes, requeue, heterogeneous jobs
#
# The fabric of core_overlay.bats: spine s1 has the leaves l1 (n[1-4]) and l2 (n[5-8]), spine s2 the leaf l3 (n[9-12]).
# v1 has two nodes of each leaf of s1, v2 the two others and one of s2, v3 the rest of l3.

bats_require_minimum_version 1.5.0
load helpers

declare -gA nvlink=([n1]=v1 [n2]=v1 [n5]=v1 [n6]=v1 [n3]=v2 [n4]=v2 [n7]=v2 [n8]=v2 [n9]=v2 [n10]=v3 [n11]=v3 [n12]=v3)

setup_file() {
	local dir=$BATS_FILE_TMPDIR/cluster
	cat >"$BATS_FILE_TMPDIR/onespine.topology" <<-'END'
		{"onespine-topology": 1, "levels": ["leaf", "spine"], "overlays": ["nvlink"], "domains": [
		{"level": "spine", "name": "s1"}, {"level": "spine", "name": "s2"},
		{"level": "leaf", "name": "l1", "in": "s1", "nodes": "n[1-4]"},
		{"level": "leaf", "name": "l2", "in": "s1", "nodes": "n[5-8]"},
		{"level": "leaf", "name": "l3", "in": "s2", "nodes": "n[9-12]"},
		{"level": "nvlink", "name": "v1", "nodes": "n[1-2,5-6]"},
		{"level": "nvlink", "name": "v2", "nodes": "n[3-4,7-9]"},
		{"level": "nvlink", "name": "v3", "nodes": "n[10-12]"}]}
	END
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-'END'
		partitions:
		  trees: {gang: always, allow_off: false}
		  islands: {gang: always, allow_off: false, level: nvlink, from_nodes: 4}
	END
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --dir "$dir" --config "$BATS_FILE_TMPDIR/onespine.yaml" \
		--conf "AuthInfo=socket=$dir/munge/socket,cred_expire=5" \
		--conf PreemptType=preempt/partition_prio --conf PreemptMode=REQUEUE \
		--conf KillWait=1 --conf MessageTimeout=5 --conf ReturnToService=0 \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1 \
		--partition 'low Nodes=ALL Default=YES PriorityTier=1 PreemptMode=REQUEUE' \
		--partition 'high Nodes=ALL PriorityTier=10 PreemptMode=OFF' \
		--partition 'trees Nodes=ALL PriorityTier=10 PreemptMode=OFF' \
		--partition 'islands Nodes=ALL PriorityTier=1 PreemptMode=OFF'
}

setup() {
	free_all
}

runs() {
	[[ $(job_state "$1") == RUNNING ]]
}

says() {
	[[ $(job_field "$1" AdminComment) == *"$2"* ]]
}

# beside JOB: how many of its nodes are in each NVLink domain, "v1:4"
beside() {
	local node
	for node in $(job_nodes "$1"); do
		echo "${nvlink[$node]}"
	done | sort | uniq -c | awk '{print $2 ":" $1}' | paste -sd' '
}

# all_as_asked N: audit finds so many gangs, each as it asked
all_as_asked() {
	holds "$(onespine audit)" "$1 gang$( (($1 == 1)) || echo s) running: $1 as asked for, 0 not"
}

@test "a gang preempts in one NVLink domain, that where the fewest jobs have to go" {
	# v2 has n9 free: three jobs of it go, and none of v1
	fill low 'n[1-8,10-12]'
	gang=$(submit -p high --gang=nvlink -N4 --exclusive)
	await_job "$gang" RUNNING
	equal "$(beside "$gang")" v2:4
	holds " $(job_nodes "$gang" | paste -sd' ') " ' n9 '
	still_running 'n[1-2,5-6,10-12]'
	equal "$(squeue -h -n fill -t RUNNING -o %i | wc -l)" 8 'jobs that stay'
	all_as_asked 1
}

@test "an NVLink domain with free nodes enough is taken before anything is preempted" {
	fill low 'n[3-4,7-12]'
	gang=$(submit -p high --gang=nvlink -N4 --exclusive)
	await_job "$gang" RUNNING
	equal "$(beside "$gang")" v1:4
	still_running 'n[3-4,7-12]'
}

@test "no NVLink domain can be emptied: the gang waits and preempts nobody" {
	fill low 'n[2,4-8,10-12]'
	fill high 'n[1,3,9]'
	gang=$(submit -p high --gang=nvlink -N4 --exclusive)
	await 30 says "$gang" 'waits: 4 nodes on one nvlink'
	stays 5 still_running 'n[1-12]'
	job_is "$gang" PENDING
	scancel "${job_on[n9]}"
	await_job "$gang" RUNNING
	equal "$(beside "$gang")" v2:4
	still_running 'n[1-2,5-6,10-12]'
}

@test "segments preempt what they need of one spine, in whole parts of NVLink domains" {
	# of v1 in s1 three nodes can be had, of v2 four: one segment of three each
	fill low 'n[2-12]'
	fill high n1
	gang=$(submit -p high --gang=spine --gang-segment=nvlink:3 -N6 --exclusive)
	await_job "$gang" RUNNING
	equal "$(beside "$gang")" 'v1:3 v2:3'
	equal "$(job_spines "$gang")" s1
	still_running 'n[1,9-12]'
	all_as_asked 1
}

@test "a gang that is preempted starts again in one NVLink domain, or waits" {
	gang=$(submit -p low --gang=nvlink -N4 --exclusive --requeue -w 'n[1-2,5-6]')
	await_job "$gang" RUNNING
	scontrol update "JobId=$gang" Comment=kept
	high=$(submit -p high -N1 -w n1 --exclusive)
	await_job "$high" RUNNING
	# its list of nodes names n1
	begin_soon "$gang"
	await 30 says "$gang" 'waits: 4 nodes on one nvlink'
	stays 3 job_is "$gang" PENDING
	scancel "$high"
	await_job "$gang" RUNNING 60
	equal "$(beside "$gang")" v1:4
}

# not_changed JOB CHANGE...: it is refused in the words that Slurm has for job_submit's no
not_changed() {
	run ! scontrol update "JobId=$1" "${@:2}"
	holds "$output" 'Requested node configuration is not available'
	job_is "$1" PENDING
}

@test "tasks of an array are in one NVLink domain each; a changed one is judged for itself" {
	array=$(submit --array=0-2 --gang=nvlink -N4 --exclusive)
	tasks_run() {
		(($(squeue -h -j "$array" -t RUNNING -r -o %i | wc -l) == $1))
	}
	await 30 tasks_run 2
	stays 3 tasks_run 2
	for task in 0 1; do
		beside "${array}_$task"
	done | sort | paste -sd' ' >"$BATS_TEST_TMPDIR/beside"
	equal "$(<"$BATS_TEST_TMPDIR/beside")" 'v1:4 v2:4'
	await 30 says "${array}_2" 'waits: 4 nodes on one nvlink'
	all_as_asked 2
	not_changed "${array}_2" NumNodes=6-6
	scontrol update "JobId=${array}_2" NumNodes=3-3
	await 30 runs "${array}_2"
	equal "$(beside "${array}_2")" v3:3
	all_as_asked 3
}

@test "scontrol update of a pending gang is judged as its submission was" {
	gang=$(submit --gang=nvlink -N4 --exclusive --hold)
	not_changed "$gang" NumNodes=6-6
	matches "$(job_field "$gang" NumNodes)" '^4(-4)?$'
	# a partition that promises a spine, which v2 crosses
	not_changed "$gang" Partition=trees
	equal "$(job_field "$gang" Partition)" low
	scontrol update "JobId=$gang" NumNodes=5-5
	scontrol release "$gang"
	await_job "$gang" RUNNING
	equal "$(beside "$gang")" v2:5
	scancel "$gang"
	# segments of two NVLink domains in one spine
	gang=$(submit --gang=spine --gang-segment=nvlink:2 -N4 --exclusive --hold)
	not_changed "$gang" NumNodes=10-10
	scontrol update "JobId=$gang" NumNodes=8-8
	scontrol release "$gang"
	await_job "$gang" RUNNING
	equal "$(beside "$gang")" 'v1:4 v2:4'
	all_as_asked 1
}

@test "a partition that promises a spine takes a gang in segments of one NVLink domain" {
	gang=$(submit -p trees --gang-segment=nvlink:2 -N4 --exclusive)
	await_job "$gang" RUNNING
	equal "$(job_spines "$gang")" s1
	all_as_asked 1
}

restarted() {
	(($(job_field "$1" Restarts) >= 1))
}

@test "requeued, a gang starts in the other NVLink domain where its own has lost a node" {
	gang=$(submit --gang=nvlink -N4 --exclusive --requeue)
	await_job "$gang" RUNNING
	first=$(beside "$gang")
	scontrol update "NodeName=$(job_nodes "$gang" | head -n 1)" State=DRAIN Reason=test
	# of the five nodes of v2 four are left
	[[ $first != v2:4 ]] || hold "$(comm -13 <(job_nodes "$gang" | sort) <(printf 'n%s\n' 3 4 7 8 9))"
	scontrol requeue "$gang"
	await 30 restarted "$gang"
	begin_soon "$gang"
	await_job "$gang" RUNNING 60
	[[ $(beside "$gang") =~ ^v[12]:4$ && $(beside "$gang") != "$first" ]] || fail "$first, then $(beside "$gang")"
	all_as_asked 1
}

@test "a node goes down under a gang: it goes back, and waits while no NVLink domain has room" {
	gang=$(submit --gang=nvlink -N4 --exclusive --requeue -w n1)
	await_job "$gang" RUNNING
	equal "$(beside "$gang")" v1:4
	hold 'n[3-4]'
	scontrol update NodeName=n2 State=DOWN Reason=test
	await 30 restarted "$gang"
	begin_soon "$gang"
	await 30 says "$gang" 'waits: 4 nodes on one nvlink'
	stays 3 job_is "$gang" PENDING
	scontrol update NodeName=n2 State=RESUME
	await_job "$gang" RUNNING 60
	equal "$(beside "$gang")" v1:4
}

@test "components of a heterogeneous job count together where one NVLink domain is promised; --gang of one is refused" {
	run ! submit --gang=nvlink -N4 --exclusive : --gang=nvlink -N4 --exclusive
	holds "$output" 'a heterogeneous job cannot be one gang'
	cpus=$(scontrol -o show node n1 | sed -n 's/.* CPUTot=\([0-9]*\).*/\1/p')
	# five nodes: only v2 has them
	both=$(submit -p islands "-n$((3 * cpus))" : -p islands "-n$((2 * cpus))")
	await_job "$both+0" RUNNING 60
	await_job "$both+1" RUNNING 60
	equal "$(beside "$both+0") $(beside "$both+1")" 'v2:3 v2:2'
	scancel "$both"
	free_all
	hold n9
	both=$(submit -p islands "-n$((3 * cpus))" : -p islands "-n$((2 * cpus))")
	stays 6 job_is "$both+0" PENDING
	job_is "$both+1" PENDING
	release n9
	await_job "$both+0" RUNNING 60
	await_job "$both+1" RUNNING 60
	equal "$(beside "$both+0") $(beside "$both+1")" 'v2:3 v2:2'
}
