#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_extra.bats - --extra, which limits a job to nodes whose Extra fits (SchedulerParameters=extra_constraints)
#
# Slurm looks at it when it starts a job, and in no plan: backfill and --test-only offer all nodes.

load helpers

setup_file() {
	slurm_at_least 23.11 || return 0 # setup() skips each test
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 1 4
	printf 'partitions:\n  train: {gang: always, allow_off: false}\n  pairs: {gang: always, allow_off: false, from_nodes: 4}\n' \
		>"$BATS_FILE_TMPDIR/onespine.yaml"
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --config "$BATS_FILE_TMPDIR/onespine.yaml" \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1,bf_resolution=1,extra_constraints \
		--partition 'gpu Nodes=ALL Default=YES' --partition 'train Nodes=ALL' \
		--partition 'pairs Nodes=ALL'
}

setup() {
	slurm_at_least 23.11 || skip 'Slurm before 23.11 looks at no Extra'
	untraced free_all
}

# extra HOSTLIST: these nodes, and no others, have rack 2
extra() {
	scontrol update NodeName='n[1-8]' Extra='{"rack": 1}'
	scontrol update NodeName="$1" Extra='{"rack": 2}'
}

note_is() {
	[[ $(job_field "$1" AdminComment) == "[onespine: gang=spine; $2]" ]]
}

why_says() {
	[[ $(onespine why "$1") == *$'\n'"  $2"$'\n'* ]]
}

planned_on() {
	[[ $(scontrol show hostnames "$(job_field "$1" SchedNodeList)" | paste -sd' ') == "$2" ]]
}

# run_minutes MINUTES HOSTLIST: a job on each of these nodes
run_minutes() {
	local node
	for node in $(hostnames "$2"); do
		submit --job-name="hold-$node" --nodelist="$node" --nodes=1 --exclusive --time="$1" >/dev/null
	done
	await 30 none_pending hold
}

@test "a gang whose --extra leaves no spine enough nodes has no plan, says so, and keeps none from others" {
	local words='waits: 2 nodes on one spine; none has 2 usable with --extra=rack=2: the largest, s1, has 1 (drained, reserved, excluded or too small nodes do not count)'
	extra n4,n8
	gang=$(submit --gang -N2 --exclusive --extra=rack=2 --time=30)
	await 20 note_is "$gang" "$words"
	# it comes behind the gang, and has every node as the gang keeps none
	all=$(submit -N8 --exclusive --time=5)
	await_job "$all" RUNNING
	equal "$(job_field "$gang" SchedNodeList)" ''
	await 10 why_says "$gang" "$words"
	[[ $(onespine why "$gang") != *'has room for it now'* ]]
	scancel "$all"
	# another node's Extra changes: now one spine has two
	scontrol update NodeName=n3 Extra='{"rack": 2}'
	await_job "$gang" RUNNING
	equal "$(job_nodes "$gang" | paste -sd' ')" 'n3 n4'
}

@test "a gang with --extra is planned on nodes that fit, in the spine that has them soonest" {
	extra n1,n2,n6,n7
	run_minutes 10 n1
	run_minutes 20 n6
	gang=$(submit --gang -N2 --exclusive --extra='rack=2' --time=30)
	await 20 planned_on "$gang" 'n1 n2'
	await 20 note_is "$gang" 'waits: 2 nodes on one spine; nearest: s1 has 1 free of 2 with --extra=rack=2 (1 short)'
	stays 3 planned_on "$gang" 'n1 n2'
	why_says "$gang" 'waits: 2 nodes on one spine; nearest: s1 has 1 free of 2 with --extra=rack=2 (1 short)'
	release n6
	await_job "$gang" RUNNING
	equal "$(job_nodes "$gang" | paste -sd' ')" 'n6 n7'
}

@test "a job of unknown size that a policy holds to one spine: --extra counts as for a gang" {
	extra n4,n8
	gang=$(submit -p train -n16 --ntasks-per-node=8 --exclusive --extra=rack=2 --time=30)
	all=$(submit -N8 --exclusive --time=5)
	await_job "$all" RUNNING
	equal "$(job_field "$gang" SchedNodeList)" ''
	scancel "$all"
	stays 3 job_is "$gang" PENDING
	[[ $(job_field "$gang" Priority) != 0 ]] || fail 'it is held'
	extra n7,n8
	await_job "$gang" RUNNING
	equal "$(job_nodes "$gang" | paste -sd' ')" 'n7 n8'
}

# The nodes that the --extra of one excludes are open to the other, in plans and at the start.
@test "components, each with an --extra of its own, start on one spine on nodes that fit" {
	local job tasks
	tasks=$((2 * $(sinfo -h -n n1 -o %c)))
	extra n5,n6
	job=$(submit -p pairs "-n$tasks" --extra=rack=2 : -p pairs "-n$tasks" --extra=rack=1)
	await_job "$job+0" RUNNING
	await_job "$job+1" RUNNING
	equal "$(job_nodes "$job+0" | paste -sd' ')" 'n5 n6'
	equal "$(job_nodes "$job+1" | paste -sd' ')" 'n7 n8'
	scancel "$job"
}

@test "no node fits: a gang is not held, and why names --extra" {
	extra n1
	gang=$(submit --gang -N2 --exclusive --extra='rack=3' --time=30)
	await 20 job_why "$gang"
	[[ $(job_field "$gang" Priority) != 0 ]] || fail 'it is held'
	# sbatch takes it, so fit does not say that it is refused; nor where one node fits, of which why says so
	await 10 no_start 'no: waits: ' -N2 --extra=rack=3
	await 10 no_start 'no: waits: ' -N2 --extra=rack=2
	few=$(submit --gang -N2 --exclusive --extra='rack=2' --time=30)
	await 20 why_says "$few" 'waits: 2 nodes on one spine; none has 2 usable with --extra=rack=2: the largest, s1, has 1 (drained, reserved, excluded or too small nodes do not count)'
	scancel "$few"
	all=$(submit -N8 --exclusive --time=5)
	await_job "$all" RUNNING
	scancel "$all"
	scontrol update NodeName=n5,n6 Extra='{"rack": 3}'
	await_job "$gang" RUNNING
	equal "$(job_nodes "$gang" | paste -sd' ')" 'n5 n6'
}

job_why() {
	[[ $(onespine why "$1") == *--extra=rack=3* ]]
}

# no_start WORDS [OPTION...]: fit says no, with these words
no_start() {
	local said status=0 options=("${@:2}")
	((${#options[@]})) || options=(-N2 --extra=rack=2)
	said=$(onespine fit --exclusive "${options[@]}") || status=$?
	[[ $status == 1 && $said == *"$1"* ]]
}

# would_start SPINE-AND-LEAF: fit says so
would_start() {
	[[ $(onespine fit -N2 --exclusive --extra=rack=2) == "would start now: 2 nodes on spine $1" ]]
}

@test "fit and --test-only: a start on nodes that --extra allows, or none" {
	extra n2,n3,n5
	# what nodes have is looked at once in a second
	await 10 would_start 's1
  leaf s1l1: 2 nodes  n[2-3]'
	scontrol update NodeName=n3 Extra='{"rack": 1}'
	await 10 no_start 'no: '
	run_minutes 10 n1,n2
	scontrol update NodeName=n3 Extra='{"rack": 2}'
	await 10 no_start 'nodes free, but Slurm starts it there later or never (nodes that --extra excludes'
}
