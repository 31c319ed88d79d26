#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_requeue.bats - nodes that fail under a gang, nodes that never come up, nodes of other weight

load helpers

# Two clusters: one of real nodes, one whose nodes are started by the tests when Slurm asks for them.
setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 2 2
	export REAL=$BATS_FILE_TMPDIR/real CLOUD=$BATS_FILE_TMPDIR/cloud ASKED=$BATS_FILE_TMPDIR/asked
	: >"$ASKED"
	printf '#!/bin/sh\necho "$1" >>"%s"\n' "$ASKED" >"$BATS_FILE_TMPDIR/resume"
	chmod 755 "$BATS_FILE_TMPDIR" "$BATS_FILE_TMPDIR/resume"
	# what a node that was just killed had still answered does not bring it back
	start_cluster "$REAL" --conf ReturnToService=0
	start_cluster "$CLOUD" --cloud 8 --conf "ResumeProgram=$BATS_FILE_TMPDIR/resume" \
		--conf ResumeTimeout=12
}

start_cluster() {
	local dir=$1
	shift
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --dir "$dir" \
		--conf "AuthInfo=socket=$dir/munge/socket,cred_expire=5" --conf SlurmdTimeout=0 \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1 "$@"
}

setup() {
	local name
	cluster_use "$REAL"
	for name in n1 n2 n3 n4 n5 n6 n7 n8; do
		[[ -e $REAL/run/slurmd.$name.expected ]] || cluster start-node --dir "$REAL" "$name"
	done
	scontrol update NodeName='n[1-8]' Weight=1
	free_all
}

is_requeued() {
	(($(job_field "$1" Restarts) >= 1))
}

@test "a node fails under a running gang: the gang starts again on the other spine, whole" {
	hold 'n5'
	job=$(submit --gang -N4 --exclusive)
	await_job "$job" RUNNING
	equal "$(job_spines "$job")" s1
	cluster kill-node --dir "$REAL" n1 -9
	scontrol update NodeName=n1 State=DOWN Reason='test: power lost'
	await 20 is_requeued "$job"
	await 30 note_holds "$job" 'waits: 4 nodes on one spine'
	stays 3 job_is "$job" PENDING
	[[ $(job_field "$job" Priority) != 0 ]]
	await 10 shows 'requeued 1 time so far' onespine why "$job"
	release n5
	await_job "$job" RUNNING 30
	equal "$(job_spines "$job")" s2
	await 10 shows 'domain=s2' job_field "$job" AdminComment
	await 10 shows 'requeued 1 time so far' onespine why "$job"
}

@test "a drained node under a running gang changes nothing; requeued, the gang goes to the other spine" {
	job=$(submit --gang -N4 --exclusive)
	await_job "$job" RUNNING
	equal "$(job_spines "$job")" s1
	scontrol update NodeName=n2 State=DRAIN Reason=test
	stays 2 job_is "$job" RUNNING
	scontrol requeue "$job"
	await 10 is_requeued "$job"
	await_job "$job" RUNNING 30
	equal "$(job_spines "$job")" s2
}

@test "--no-requeue: the gang ends with its node, and why says what became of it" {
	job=$(submit --gang -N4 --exclusive --no-requeue)
	await_job "$job" RUNNING
	scontrol update NodeName=n1 State=DOWN Reason=test
	await_job "$job" NODE_FAIL
	said=$(onespine why "$job")
	holds "$said" "job $job wrap of root: NODE_FAIL, 4 nodes, gang=spine"
	holds "$said" 'placed: 4 nodes on spine s1'
	holds "$said" "Slurm's reason: NodeDown"
}

# light HOSTLIST: these nodes have Weight 1, all others 1000; the shadow looks once a second
light() {
	local second
	scontrol update NodeName='n[1-8]' Weight=1000
	scontrol update NodeName="$1" Weight=1
	second=$EPOCHSECONDS
	await 5 later_than "$second"
}

later_than() {
	((EPOCHSECONDS > $1))
}

@test "light nodes under both spines: a gang is not split for them, and takes them where they are enough" {
	light 'n[1-2],n[5-6]'
	four=$(submit --gang -N4 --exclusive)
	await_job "$four" RUNNING
	on_one_spine "$four"
	scancel "$four"
	two=$(submit --gang -N2 --exclusive)
	await_job "$two" RUNNING
	matches "$(job_nodes "$two" | paste -sd' ')" '^(n1 n2|n5 n6)$'
}

@test "the spine of light nodes is preferred, the heavy one is taken when it is the only one" {
	light 'n[5-8]'
	first=$(submit --gang -N3 --exclusive)
	await_job "$first" RUNNING
	equal "$(job_spines "$first")" s2
	second=$(submit --gang -N3 --exclusive)
	await_job "$second" RUNNING
	equal "$(job_spines "$second")" s1
}

@test "inside a spine light nodes come before heavy ones" {
	light 'n[3-4],n6'
	job=$(submit --gang -N3 --exclusive)
	await_job "$job" RUNNING
	equal "$(job_spines "$job")" s1
	matches "$(job_nodes "$job" | paste -sd' ')" 'n3 n4'
}

# --- nodes that must be started -------------------------------------------------------------------

# start_asked JOB [BUT-NODE]: what a ResumeProgram does for the job's nodes, but for one
start_asked() {
	local node
	await 20 asked_for "$1"
	for node in $(job_nodes "$1"); do
		[[ $node == "${2:-}" || -e $CLOUD/run/slurmd.$node.expected ]] ||
			cluster start-node --dir "$CLOUD" "$node"
	done
}

asked_for() {
	local node asked
	asked=" $(for list in $(cat "$ASKED"); do hostnames "$list"; done | paste -sd' ') "
	for node in $(job_nodes "$1"); do
		[[ $asked == *" $node "* ]] || return 1
	done
}

@test "cloud nodes: one never comes up, the gang starts again on one spine; then nodes that are up are preferred" {
	cluster_use "$CLOUD"
	job=$(submit --gang -N4 --exclusive)
	await_job "$job" CONFIGURING
	first=$(job_spines "$job")
	matches "$first" '^s[12]$'
	missing=$(job_nodes "$job" | tail -n 1)
	start_asked "$job" "$missing"
	await 40 is_requeued "$job"
	matches "$(node_state "$missing")" '^(down|drain|idle~)'
	await_job "$job" CONFIGURING 40
	second=$(job_spines "$job")
	matches "$second" '^s[12]$'
	[[ $first != "$second" ]]
	start_asked "$job"
	await_job "$job" RUNNING 40
	on_one_spine "$job"
	equal "$(job_spines "$job")" "$second"
	scancel "$job"
	await 20 job_is "$job" CANCELLED

	# second is up whole, first but for the missing node, which is as good as new
	scontrol update "NodeName=$missing" State=RESUME 2>/dev/null || scontrol update "NodeName=$missing" State=IDLE
	: >"$ASKED"
	job=$(submit --gang -N4 --exclusive)
	await_job "$job" RUNNING 20
	equal "$(job_spines "$job")" "$second" 'the spine that needs no boot'
	equal "$(cat "$ASKED")" '' 'nodes asked for'
}
