#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_preempt.bats - a gang that may preempt does so on one spine only
#
# By partition. Preemption by QOS takes the same way through select/cons_tres, but QOS come from
# slurmdbd, which needs a database server that the tests do not install.

load helpers

# A node's Epilog waits as long as its gate file is there: its jobs are over and the node is not free.
setup_file() {
	local dir=$BATS_FILE_TMPDIR/cluster for_licenses=()
	! slurm_at_least 24.11 || for_licenses=(--conf PreemptParameters=reclaim_licenses)
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 2 2
	export GATE=$BATS_FILE_TMPDIR/gate
	mkdir "$GATE"
	cat >"$BATS_FILE_TMPDIR/epilog" <<-END
		#!/bin/sh
		while [ -e "$GATE/\$SLURMD_NODENAME" ]; do sleep 0.2; done
	END
	chmod 755 "$BATS_FILE_TMPDIR" "$GATE" "$BATS_FILE_TMPDIR/epilog"
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-'POLICY'
		partitions:
		  held: {gang: always, allow_off: false}
		  held4: {gang: always, allow_off: false, from_nodes: 4}
	POLICY
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --dir "$dir" --config "$BATS_FILE_TMPDIR/onespine.yaml" \
		--conf "AuthInfo=socket=$dir/munge/socket,cred_expire=5" \
		--conf PreemptType=preempt/partition_prio --conf PreemptMode=REQUEUE \
		--conf "Epilog=$BATS_FILE_TMPDIR/epilog" --conf KillWait=1 --conf MessageTimeout=5 \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1 \
		--partition 'low Nodes=ALL Default=YES PriorityTier=1 PreemptMode=REQUEUE' \
		--partition 'cheap Nodes=ALL PriorityTier=1 PreemptMode=CANCEL' \
		--partition 'patient Nodes=ALL PriorityTier=1 PreemptMode=CANCEL GraceTime=600' \
		--partition 'high Nodes=ALL PriorityTier=10 PreemptMode=OFF' \
		--partition 'held Nodes=ALL PriorityTier=10 PreemptMode=OFF' \
		--partition 'held4 Nodes=ALL PriorityTier=10 PreemptMode=OFF' \
		--conf Licenses=seat:1,onespine:1 "${for_licenses[@]}"
}

setup() {
	rm -f "$GATE"/*
	free_all
}

gone_from() {
	local node
	for node in $(hostnames "$1"); do
		! job_is "${job_on[$node]}" RUNNING || return 1
	done
}

@test "a gang preempts on one spine and leaves the other alone" {
	fill low 'n[1-8]'
	gang=$(submit -p high --gang -N4 --exclusive -x n2)
	await_job "$gang" RUNNING
	equal "$(job_spines "$gang")" s2
	still_running 'n[1-4]'
}

@test "a spine with free nodes enough is taken before anything is preempted" {
	fill low 'n[1-4]'
	gang=$(submit -p high --gang -N4 --exclusive)
	await_job "$gang" RUNNING
	equal "$(job_spines "$gang")" s2
	still_running 'n[1-4]'
	second=$(submit -p high --gang -N3 --exclusive)
	await_job "$second" RUNNING
	equal "$(job_spines "$second")" s1
}

@test "the spine where the fewest jobs have to go is preempted, and its free nodes are used" {
	fill low 'n[1-5]'
	gang=$(submit -p high --gang -N4 --exclusive)
	await_job "$gang" RUNNING
	equal "$(job_spines "$gang")" s2
	still_running 'n[1-4]'
	await 20 job_is "${job_on[n5]}" PENDING
}

@test "jobs that may not be preempted keep a spine out of it" {
	fill low 'n[2-8]'
	fill high n1
	gang=$(submit -p high --gang -N4 --exclusive)
	await_job "$gang" RUNNING
	equal "$(job_spines "$gang")" s2
	still_running 'n[1-4]'
}

@test "no spine can be emptied: the gang waits and preempts nobody" {
	fill low 'n[2-4],n[6-8]'
	fill high 'n1,n5'
	gang=$(submit -p high --gang -N4 --exclusive)
	await 20 note_holds "$gang" 'waits: 4 nodes on one spine'
	stays 5 still_running 'n[1-8]'
	equal "$(job_state "$gang")" PENDING
	[[ $(job_field "$gang" Priority) != 0 ]]
	scancel "${job_on[n5]}"
	await_job "$gang" RUNNING
	equal "$(job_spines "$gang")" s2
	still_running 'n[1-4]'
}

@test "preemption by cancelling keeps to one spine too" {
	fill high 'n[1-2]'
	fill cheap 'n[3-8]'
	gang=$(submit -p high --gang -N3 --exclusive)
	await_job "$gang" RUNNING
	equal "$(job_spines "$gang")" s2
	still_running 'n[1-4]'
	for node in $(job_nodes "$gang"); do
		equal "$(job_state "${job_on[$node]}")" PREEMPTED "job of $node"
	done
	equal "$(squeue -h -p cheap -t RUNNING -o %i | wc -l)" 3 'jobs that stay'
}

@test "a gang that is preempted starts again on one spine, or waits" {
	fill low n5
	low=$(submit -p low --gang -N4 --exclusive)
	await_job "$low" RUNNING
	equal "$(job_spines "$low")" s1
	high=$(submit -p high --gang -N2 --exclusive -w 'n[1-2]')
	await_job "$high" RUNNING
	# 2 nodes free under s1, 3 under s2
	await 30 note_holds "$low" 'waits: 4 nodes on one spine'
	stays 3 job_is "$low" PENDING
	scancel "${job_on[n5]}"
	await_job "$low" RUNNING 60
	equal "$(job_spines "$low")" s2
}

@test "the spine where preemption has begun is kept, however long its nodes take" {
	fill low 'n[1-8]'
	touch "$GATE"/n{1,2,3,4,5,6,7,8}
	gang=$(submit -p high --gang -N4 --exclusive)
	await 20 one_spine_is_ending
	# long after KillWait and MessageTimeout, when Slurm would preempt once more, and with more
	# nodes free under the other spine
	rm -f "$GATE/n$kept_first"
	scancel "${job_on[n$kept_first]}"
	stays 10 still_running "$kept_nodes"
	equal "$(job_state "$gang")" PENDING
	rm -f "$GATE"/*
	await_job "$gang" RUNNING
	on_one_spine "$gang"
	still_running "$kept_nodes"
}

one_spine_is_ending() {
	if gone_from 'n[1-4]'; then
		kept_first=5 kept_nodes='n[6-8]'
	elif gone_from 'n[5-8]'; then
		kept_first=1 kept_nodes='n[2-4]'
	else
		return 1
	fi
}

# fill_half PARTITION HOSTLIST: a job on half of each node
fill_half() {
	local node
	declare -gA job_on
	for node in $(hostnames "$2"); do
		job_on[$node]=$(submit -p "$1" --job-name=fill -w "$node" -N1 -n4)
	done
	await 30 none_pending fill
}

@test "a gang on parts of nodes preempts beside jobs that may not be preempted" {
	# s1 has not 4 nodes with a half to give
	fill_half high 'n[1-8]'
	fill_half high n2
	fill_half low 'n1,n[3-8]'
	gang=$(submit -p high --gang -N4 --ntasks-per-node=4)
	await_job "$gang" RUNNING
	equal "$(job_spines "$gang")" s2
	still_running 'n[1-4]'
	equal "$(squeue -h -p high -t RUNNING -o %i | wc -l)" 10 'jobs that may not be preempted, and the gang'
}

@test "a heterogeneous job is preempted though its leader stands on another spine" {
	declare -gA job_on
	fill high n2
	het=$(submit -p low --job-name=fill -N1 -w n1 --exclusive : -N4 -w 'n[5-8]' --exclusive)
	await 60 none_pending fill
	gang=$(submit -p high --gang -N4 --exclusive)
	await_job "$gang" RUNNING 60
	equal "$(job_spines "$gang")" s2
	await 20 job_is "$het" PENDING
}

# Jobs that were preempted and have a grace time; they run on in it.
preempted_jobs() {
	scontrol -o show jobs | grep ' JobState=RUNNING .* Partition=patient ' | sed -n 's/^JobId=\([0-9]*\) .* PreemptTime=20.*/\1/p'
}

@test "jobs in their grace time are waited for: nobody else has to go, under no spine" {
	for node in n{1..8}; do
		submit -p patient --job-name=fill -w "$node" -N1 --exclusive \
			--wrap 'trap "" TERM; while :; do sleep 1; done' >/dev/null
	done
	await 30 none_pending fill
	gang=$(submit -p high --gang -N2 --exclusive)
	await 20 has_preempted 2
	# long after KillWait and MessageTimeout
	stays 12 has_preempted 2
	victims=$(preempted_jobs)
	# meanwhile a node falls free under the other spine
	spine=$(job_spines "$(head -n 1 <<<"$victims")")
	other=$([[ $spine == s1 ]] && echo n5 || echo n1)
	scancel "$(squeue -h -w "$other" -o %i)"
	stays 8 has_preempted 2
	# it registers anew, and all nodes are made anew
	await 20 node_is "$other" idle
	cluster kill-node --dir "$ONESPINE_CLUSTER" "$other"
	cluster start-node --dir "$ONESPINE_CLUSTER" "$other"
	cluster reconfigure --dir "$ONESPINE_CLUSTER"
	stays 8 has_preempted 2
	equal "$(job_state "$gang")" PENDING
	for job in $victims; do
		scancel "$job"
	done
	await_job "$gang" RUNNING 60
	equal "$(job_spines "$gang")" "$spine"
	equal "$(squeue -h -p patient -t RUNNING -o %i | wc -l)" 5 'jobs that stay'
}

@test "jobs in their grace time are waited for over a restart of slurmctld too" {
	for node in n{1..8}; do
		submit -p patient --job-name=fill -w "$node" -N1 --exclusive \
			--wrap 'trap "" TERM; while :; do sleep 1; done' >/dev/null
	done
	await 30 none_pending fill
	gang=$(submit -p high --gang -N2 --exclusive)
	await 20 has_preempted 2
	victims=$(preempted_jobs)
	spine=$(job_spines "$(head -n 1 <<<"$victims")")
	other=$([[ $spine == s1 ]] && echo n5 || echo n1)
	# with a node free the other spine would be the better one
	scancel "$(squeue -h -w "$other" -o %i)"
	await 20 node_is "$other" idle
	await_saved "$gang"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER" -9
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	stays 15 has_preempted 2
	equal "$(job_state "$gang")" PENDING
	for job in $victims; do
		scancel "$job"
	done
	await_job "$gang" RUNNING 60
	equal "$(job_spines "$gang")" "$spine"
	equal "$(squeue -h -p patient -t RUNNING -o %i | wc -l)" 5 'jobs that stay'
}

# half_patient: half of each node is a job's that may not be preempted, and half of one's that ends only when it is killed
half_patient() {
	local node
	fill_half high 'n[1-8]'
	for node in n{1..8}; do
		submit -p patient --job-name=fill -w "$node" -N1 -n4 --wrap 'trap "" TERM; while :; do sleep 1; done' >/dev/null
	done
	await 30 none_pending fill
}

# keeps_to_its_victims COUNT: nobody but those that have to go first does, though a node falls free under the other
# spine. $spine is theirs; in the end they are gone
keeps_to_its_victims() {
	local victims victim other
	await 40 has_preempted "$1"
	# long after KillWait and MessageTimeout
	stays 12 has_preempted "$1" || return 1
	victims=$(preempted_jobs)
	spine=$(job_spines "$(head -n 1 <<<"$victims")")
	other=$([[ $spine == s1 ]] && echo n5 || echo n1)
	scancel "$(squeue -h -p patient -w "$other" -o %i)"
	await 20 patient_left 7
	stays 15 has_preempted "$1" || return 1
	for victim in $victims; do
		scancel "$victim"
	done
}

patient_left() {
	equal "$(squeue -h -p patient -t RUNNING -o %i | wc -l)" "$1" 'jobs that stay'
}

@test "a job of a size that nobody said waits for those in their grace time: nobody else has to go" {
	half_patient
	job=$(submit -p held -n7)
	keeps_to_its_victims 2
	await_job "$job" RUNNING 60
	equal "$(job_spines "$job")" "$spine"
	patient_left 5
}

@test "components of sizes that nobody said wait for those in their grace time: nobody else has to go" {
	half_patient
	job=$(submit -p held4 -n7 : -p held4 -n7)
	keeps_to_its_victims 2
	# the second one preempts once the first one has its nodes
	await 60 patient_left_beside "$spine"
	patient_left 5
	for victim in $(preempted_jobs); do
		scancel "$victim"
	done
	await_job "$job" RUNNING 90
	patient_left 3
}

# patient_left_beside SPINE: nobody of it may stay
patient_left_beside() {
	local job
	has_preempted 2 || return 1
	for job in $(preempted_jobs); do
		[[ $(job_spines "$job") == "$1" ]] || return 1
	done
}

has_preempted() {
	equal "$(preempted_jobs | wc -l)" "$1" 'jobs preempted'
}

@test "a task of an array that has started takes what was remembered of its preemption with it" {
	# only s1 can be emptied; one victim there holds a node of s2 as well, which takes long to be left
	fill high 'n4,n[6-7]'
	fill low 'n[1-2],n8'
	submit -p low --job-name=fill -N2 -w n3,n5 --exclusive >/dev/null
	await 30 none_pending fill
	touch "$GATE/n5"
	array=$(submit -p high --gang -N3 --exclusive --array=0-1)
	await_job "${array}_0" RUNNING 60
	equal "$(job_spines "${array}_0")" s1
	node_is n5 completing
	still_running n8
	# the next task has victims of its own under s2, though the first one's has not gone yet
	scancel "${job_on[n6]}" "${job_on[n7]}"
	await_job "${array}_1" RUNNING 60
	equal "$(job_spines "${array}_1")" s2
	node_is n5 completing
	gone_from n8
}

@test "backfill starts a gang on idle nodes of one spine rather than wait for nodes that end jobs under another" {
	fill high 'n[3-4]'
	short=$(submit -p high -N2 -w 'n[1-2]' --exclusive --time=60)
	await_job "$short" RUNNING
	# the main scheduler stops at this one
	blocker=$(submit -p high -N8 --exclusive --time=60)
	await 20 has_reason "$blocker" Resources
	touch "$GATE"/n{1,2}
	scancel "$short"
	await 20 node_is n1 completing
	gang=$(submit -p high --gang -N2 --exclusive --time=5)
	await_job "$gang" RUNNING
	equal "$(job_spines "$gang")" s2
	node_is n1 completing
	equal "$(job_state "$blocker")" PENDING
}

has_reason() {
	[[ $(job_reason "$1") == "$2" ]]
}

# starts_in JOB MINUTES: backfill's estimate, within two minutes either way; the test may have taken a while until now
starts_in() {
	local start
	start=$(job_field "$1" StartTime)
	[[ $start == 20* ]] || fail "no plan: $start" || return 1
	start=$((($(date -d "$start" +%s) - $(date +%s) + 30) / 60))
	((start >= $2 - 2 - SECONDS / 60 && start <= $2 + 2)) || fail "it starts in $start minutes"
}

@test "a gang is planned for when the job ends that may not be preempted, not for when those end that may be" {
	short=$(submit -p high --job-name=fill -w n1 -N1 --exclusive --time=10)
	fill low 'n[2-4],n[6-8]'
	fill high n5
	await_job "$short" RUNNING
	gang=$(submit -p high --gang -N4 --exclusive --time=30)
	await 30 starts_in "$gang" 10
	equal "$(hostnames "$(job_field "$gang" SchedNodeList)" | paste -sd' ')" 'n1 n2 n3 n4'
	still_running 'n[2-4],n[6-8]'
	scancel "$short"
	await_job "$gang" RUNNING 60
	equal "$(job_spines "$gang")" s1
	still_running 'n[6-8]'
}

# Slurm simulates ends in windows of time, and looks for a window's end only behind a job that is in the way.
@test "a job that may be preempted elsewhere does not put a gang's plan off behind a job that stays" {
	stays=$(submit -p high --job-name=fill -w 'n[1-4]' -N4 --ntasks-per-node=1 --time=60)
	short=$(submit -p high --job-name=fill -w 'n[1-4]' -N4 --ntasks-per-node=6 --time=10)
	fill high 'n[5-7]'
	await 30 none_pending fill
	elsewhere=$(submit -p low --job-name=fill -w n8 -N1 --exclusive --time=10)
	await_job "$elsewhere" RUNNING
	gang=$(submit -p high --gang -N4 --ntasks-per-node=4 --time=30)
	await 30 starts_in "$gang" 10
	equal "$(hostnames "$(job_field "$gang" SchedNodeList)" | paste -sd' ')" 'n1 n2 n3 n4'
	equal "$(job_state "$stays") $(job_state "$short") $(job_state "$elsewhere")" 'RUNNING RUNNING RUNNING'
}

@test "backfill asks a slot that begins later with the jobs that may be preempted, as for a job confined to the spine" {
	slurm_at_least 24.11 || skip 'from 24.11 on stock Slurm does'
	fill high 'n[1-4]'
	fill low 'n[6-8]'
	short=$(submit -p high --job-name=fill -w n5 -N1 --exclusive --time=10)
	await_job "$short" RUNNING
	next=$(submit -p high -w n5 -N1 --exclusive --time=30)
	await 20 starts_in "$next" 10
	confined=$(submit -p high -N4 --exclusive --time=60 -x 'n[1-4]')
	await 30 starts_in "$confined" 40
	scancel "$confined"
	gang=$(submit -p high --gang -N4 --exclusive --time=60)
	await 30 starts_in "$gang" 40
	equal "$(hostnames "$(job_field "$gang" SchedNodeList)" | paste -sd' ')" 'n5 n6 n7 n8'
	still_running 'n[6-8]'
}

@test "a gang preempts for a license, wherever its holder runs" {
	slurm_at_least 24.11 || skip 'jobs are preempted for licenses from 24.11 on'
	# under the spine that the gang cannot have
	fill high 'n[1-3]'
	holder=$(submit -p low --job-name=fill -N1 -w n4 --exclusive -L seat:1)
	await 30 none_pending fill
	gang=$(submit -p high --gang -N3 --exclusive -L seat:1)
	await_job "$gang" RUNNING
	equal "$(job_spines "$gang")" s2
	await 20 job_is "$holder" PENDING
	still_running 'n[1-3]'
}

@test "preemption by QOS" {
	skip "QOS need slurmdbd and its database; by partition the same code is taken"
}
