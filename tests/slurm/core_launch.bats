#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_launch.bats - gangs on nodes that are launched for them: their places are known when they run
#
# The tests start the nodes that Slurm asks for, and write what EC2 would then say, as `onespine topology watch` does.

bats_require_minimum_version 1.5.0
load helpers
load launch_helpers
load fuse_helpers

setup_file() {
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-'END'
		defaults:
		  unlaunched: launch
		  launch_tries: 2
		  launch_place: 0:20
	END
}

# Each test has a cluster of its own: its nodes have all been powered down.
setup() {
	RAN=$BATS_TEST_TMPDIR/ran
	: >"$RAN"
	chmod 755 "$BATS_TEST_TMPDIR"
	chmod 666 "$RAN"
	placed_by_ec2 'n[1-4]' 'n[5-8]' >"$BATS_TEST_TMPDIR/onespine.topology"
	cluster_start --cloud 8 --topology "$BATS_TEST_TMPDIR/onespine.topology" \
		--config "$BATS_FILE_TMPDIR/onespine.yaml" --dir "$BATS_TEST_TMPDIR/cluster" \
		--conf "AuthInfo=socket=$BATS_TEST_TMPDIR/cluster/munge/socket,cred_expire=5" \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1
}

teardown() {
	local status=0
	unmount_fuse
	end_test || status=1
	scancel --user="$(id -un)" 2>/dev/null || true
	cluster_stop "$BATS_TEST_TMPDIR/cluster" || status=1
	return $status
}

# placed_by_ec2 LEFT RIGHT [NVLINK...]: as EC2 says, asked now: these nodes are under spine left and right, and in the
# NVLink domains v1, v2..
placed_by_ec2() {
	local node places='' spine domain beside=
	for node in $(hostnames "$1,$2"); do
		places+="${places:+, }\"$node i-$node $(boot_of "$node")\""
	done
	(($# < 3)) || beside='"overlays": ["nvlink"], '
	printf '{"onespine-topology": 1, "levels": ["leaf", "spine"], %s"domains": [\n' "$beside"
	for ((domain = 1; domain <= $# - 2; domain++)); do
		printf '{"level": "nvlink", "name": "v%d", "nodes": "%s"},\n' "$domain" "${@:domain+2:1}"
	done
	for spine in left right; do
		printf '{"level": "spine", "name": "%s"},\n' "$spine"
	done
	printf '{"level": "leaf", "name": "l1", "in": "left", "nodes": "%s"},\n' "$1"
	printf '{"level": "leaf", "name": "l2", "in": "right", "nodes": "%s"}],\n' "$2"
	printf '"places": [{"source": "ec2", "nodes": [%s]}]}\n' "$places"
}

# ec2_says LEFT RIGHT [NVLINK...]
ec2_says() {
	placed_by_ec2 "$@" >"$ONESPINE_CLUSTER/onespine.topology.new"
	mv "$ONESPINE_CLUSTER/onespine.topology.new" "$ONESPINE_CLUSTER/onespine.topology"
}

# gives_back NODE: it is powered down, or about to
gives_back() {
	[[ $(node_state "$1") == *[~%!] || $(node_state "$1") == power* ]]
}

# gang NODES: its script writes a line where it runs
gang() {
	submit --gang -N"$1" --exclusive --wait-all-nodes=0 --requeue --wrap "echo \$SLURM_JOB_NODELIST >>$RAN; sleep 600"
}

# launch_gang: $job is a gang of four, and its $nodes start
launch_gang() {
	job=$(gang 4)
	await_job "$job" CONFIGURING
	mapfile -t nodes < <(job_nodes "$job")
	start_nodes "${nodes[@]}"
}

# step_waits JOB: one that its owner begins does not run now
step_waits() {
	! timeout 3 srun --jobid="$1" --interactive true 2>/dev/null </dev/null
}

# no_step_runs JOB: its owner looks into it, in each way, and must wait: none of its processes has run before its nodes are
# known, and none has run without a Prolog
no_step_runs() {
	local kind pids=()
	for kind in --interactive '--overlap -N4 -n4' '--overlap -N1 -n1'; do
		# shellcheck disable=SC2086
		timeout 4 srun --jobid="$1" $kind sh -c "echo $kind >>$RAN" 2>/dev/null </dev/null 3>&- &
		pids+=($!)
	done
	for kind in "${pids[@]}"; do
		! wait "$kind" || fail "a step ran"
	done
	equal "$(<"$RAN")" '' 'what ran'
	job_is "$1" CONFIGURING
}

@test "a gang's nodes are launched, and it starts when they are known to stand on one spine, also after slurmctld was killed" {
	job=$(gang 4)
	await_job "$job" CONFIGURING
	await 10 note_holds "$job" 'launched: 4 nodes, 4 of them do not run yet; whether they are on one spine is asked when they run'
	run -0 onespine audit
	holds "$output" '1 gang running: 0 as asked for, 0 not, 1 on nodes that start'
	matches "$output" "job $job .*: asked for spine; launched: 4 nodes, 4 of them do not run yet"
	mapfile -t nodes < <(job_nodes "$job")
	equal "${#nodes[@]}" 4
	# one of them starts late
	start_nodes "${nodes[@]:0:3}"
	await_saved "$job"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER" -9
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	# also in its first second, in which the thread has not looked yet, none begins
	start_nodes "${nodes[3]}"
	no_step_runs "$job"
	# where they are now nobody has asked: the places of their last life do not count
	stays 4 job_is "$job" CONFIGURING
	equal "$(<"$RAN")" '' 'what ran'
	ec2_says "$(IFS=,; echo "${nodes[*]}")" n8
	await_job "$job" RUNNING 90
	await 10 note_holds "$job" 'domain=left'
	await 30 test -s "$RAN"
	equal "$(wc -l <"$RAN")" 1 'starts of its script'
	equal "$(job_field "$job" Restarts)" 0
}

@test "three of four stand together: it starts again with these and one more that is launched, and no process ran before" {
	launch_gang
	equal "${nodes[*]}" 'n1 n2 n3 n4'
	no_step_runs "$job"
	ec2_says n1,n2,n3,n8 n4
	await 60 note_holds "$job" 'launched in vain: its 4 nodes are on 2 spines'
	equal "$(<"$RAN")" '' 'what ran'
	# those that stand together are kept, for this user's gang alone
	equal "$(job_field "$job" Reservation)" "onespine_launch_$job"
	run -0 scontrol show reservation "onespine_launch_$job"
	holds "$output" 'Nodes=n[1-3] '
	matches "$output" 'Flags=[^ ]*FLEX'
	other=$(submit -N3 -w n1,n2,n3 --exclusive)
	begin_soon "$job"
	await_job "$job" CONFIGURING 60
	job_is "$other" PENDING
	scancel "$other"
	equal "$(job_nodes "$job" | paste -sd' ')" 'n1 n2 n3 n5'
	await 30 node_is n4 idle
	await 10 note_holds "$job" 'launched: 4 nodes, 1 of them does not run yet'
	start_nodes n5
	await 30 gives_back n4
	ec2_says n1,n2,n3,n5 n4
	await_job "$job" RUNNING 90
	await 10 note_holds "$job" 'domain=left'
	equal "$(scontrol show reservation 2>&1)" 'No reservations in the system'
	await 30 test -s "$RAN"
	equal "$(wc -l <"$RAN")" 1 'starts of its script'
	equal "$(job_field "$job" Restarts)" 1
	run -0 onespine why "$job"
	matches "$output" 'placed: 4 nodes on spine left.*; launched 1 time in vain \([1-9][0-9]* node minutes?\)'
}

@test "a gang that was launched in vain starts on others' nodes: those that were kept for it are free again at once" {
	launch_gang
	equal "${nodes[*]}" 'n1 n2 n3 n4'
	ec2_says n1,n2,n3 n4
	await 60 note_holds "$job" 'launched in vain: its 4 nodes are on 2 spines'
	scontrol update NodeName='n[5-8]' State=POWER_UP
	start_nodes n5 n6 n7 n8
	log_mark
	ec2_says n1,n2,n3 n4,n5,n6,n7,n8
	await 10 log_since 'without a reconfigure, the topology in force has'
	begin_soon "$job" 1
	await_job "$job" RUNNING 60
	await 10 note_holds "$job" 'placed: 4 nodes on spine right'
	await 10 shows 'No reservations in the system' scontrol show reservation
	other=$(submit -N3 -w n1,n2,n3 --exclusive)
	await_job "$other" RUNNING
	job_is "$job" RUNNING
}

@test "slurmctld is killed between the reservation and the save of the job: the part is kept all the same, by a reservation of its own" {
	job=$(gang 4)
	await_job "$job" CONFIGURING
	await_saved "$job"
	# from now on it saves reservations, and no job
	mkdir "$ONESPINE_CLUSTER/state/job_state.new"
	mapfile -t nodes < <(job_nodes "$job")
	start_nodes "${nodes[@]}"
	# nodes that power up in the state that is read register no more
	await_nodes_saved "${nodes[@]}"
	ec2_says n1,n2,n3,n8 n4
	await 60 note_holds "$job" 'launched in vain: its 4 nodes are on 2 spines'
	await 30 grep -q "onespine_launch_$job" "$ONESPINE_CLUSTER/state/resv_state"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER" -9
	rmdir "$ONESPINE_CLUSTER/state/job_state.new"
	log_mark
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	scontrol reconfigure # nodes register anew, at once
	await 60 nodes_run "${nodes[@]}"
	# it knows of no launch in vain: the job starts, with that reservation beside it
	await 30 log_since "n\[1-3\] are kept for the next start of JobId=$job"
	equal "$(job_field "$job" Reservation)" "onespine_launch_$job"
	run -0 scontrol -o show reservation
	equal "${#lines[@]}" 1 "$output"
	holds "$output" 'Nodes=n[1-3] '
	equal "$(<"$RAN")" '' 'what ran'
	begin_soon "$job"
	await_job "$job" CONFIGURING 60
	equal "$(job_nodes "$job" | paste -sd' ')" 'n1 n2 n3 n5'
	start_nodes n5
	ec2_says n1,n2,n3,n5 n4
	await_job "$job" RUNNING 90
	equal "$(scontrol show reservation 2>&1)" 'No reservations in the system'
}

@test "a gang on one NVLink domain beside the tree: launched, found in two, kept with three, whole at the second start" {
	log_mark
	ec2_says 'n[1-4]' 'n[5-8]' n1,n2,n5,n6 n3,n4,n7,n8
	await 10 log_since 'beside the tree nvlink 2'
	job=$(submit --gang=nvlink -N4 --exclusive --requeue --wrap "echo \$SLURM_JOB_NODELIST >>$RAN; sleep 600")
	await_job "$job" CONFIGURING
	await 10 note_holds "$job" 'launched: 4 nodes, 4 of them do not run yet; whether they are on one nvlink is asked when they run'
	mapfile -t nodes < <(job_nodes "$job")
	start_nodes "${nodes[@]}"
	equal "${nodes[*]}" 'n1 n2 n3 n4'
	no_step_runs "$job"
	# one leaf has all four of them, which is not what it asked for
	ec2_says n1,n2,n3,n4 n5,n6,n7,n8 n1,n2,n3,n5,n6 n4,n7,n8
	await 60 note_holds "$job" 'launched in vain: its 4 nodes are on 2 nvlinks'
	equal "$(<"$RAN")" '' 'what ran'
	run -0 scontrol show reservation "onespine_launch_$job"
	holds "$output" 'Nodes=n[1-3] '
	begin_soon "$job"
	await_job "$job" CONFIGURING 60
	equal "$(job_nodes "$job" | paste -sd' ')" 'n1 n2 n3 n5'
	start_nodes n5
	await 30 gives_back n4
	ec2_says n1,n2,n3,n4 n5,n6,n7,n8 n1,n2,n3,n5,n6 n4,n7,n8
	await_job "$job" RUNNING 90
	await 10 note_holds "$job" 'placed: 4 nodes on nvlink v1'
	await 30 test -s "$RAN"
	equal "$(wc -l <"$RAN")" 1 'starts of its script'
	holds "$(onespine audit)" '1 gang running: 1 as asked for, 0 not'
}

@test "no node has run yet: a topology that has its levels alone is enough to launch the first gang" {
	log_mark
	printf '{"onespine-topology": 1, "levels": ["leaf", "spine"], "domains": []}\n' >"$ONESPINE_CLUSTER/onespine.topology.new"
	mv "$ONESPINE_CLUSTER/onespine.topology.new" "$ONESPINE_CLUSTER/onespine.topology"
	await 10 log_since "has leaf 0, spine 0; 8 of Slurm's 8 nodes are not in it"
	run sbatch --gang -N9 --wrap true
	((status))
	run -0 onespine fit -N4
	holds "$output" "would start now: launched: 4 nodes, 4 of them do not run yet; whether they are on one spine is asked when they run"
	holds "$output" "  if they are not, it goes back to the queue"
	equal "$(onespine fit -N4 --json | jq -c '[.starts_now, .count, .launches]')" '[true,4,4]'
	SBATCH_NO_REQUEUE=1 run -1 onespine fit -N4
	run -1 onespine fit -N4 --begin=now+1hour
	launch_gang
	ec2_says "$(IFS=,; echo "${nodes[*]}")" n8
	await_job "$job" RUNNING 90
	await 10 note_holds "$job" 'domain=left'
	equal "$(job_field "$job" Restarts)" 0
}

@test "places that nobody tells: it goes back to the queue, and after its tries it waits for known nodes" {
	job=$(gang 8)
	await_job "$job" CONFIGURING
	start_nodes n1 n2 n3 n4 n5 n6 n7 n8
	await 60 note_holds "$job" 'launched in vain: the places of 8 nodes were not known 20s after all nodes ran'
	begin_soon "$job"
	# its nodes run, but nobody knows where: there is nothing that could be launched
	await 60 note_holds "$job" 'launched 1 time in vain ('
	ec2_says n1,n2,n3,n4,n5,n6,n7,n8 n9
	await_job "$job" RUNNING 60
	await 30 test -s "$RAN"
}

@test "a topology on a file system that does not answer: a launch goes on by the topology in use, and ends after launch_place" {
	mount_fuse "$BATS_TEST_TMPDIR/silent" silent_fuse.py
	job=$(gang 8)
	await_job "$job" CONFIGURING
	replace_by_link "$BATS_TEST_TMPDIR/silent/onespine.topology"
	await 10 waits_for_a_file_system
	start_nodes n1 n2 n3 n4 n5 n6 n7 n8
	await 60 note_holds "$job" 'launched in vain: the places of 8 nodes were not known 20s after all nodes ran'
	waits_for_a_file_system
	unmount_fuse
	ec2_says n1,n2,n3,n4,n5,n6,n7,n8 n9
	begin_soon "$job"
	await_job "$job" RUNNING 60
}

@test "a gang that cannot go back to the queue is not launched, and says that it waits; one on known nodes is" {
	job=$(submit --gang -N4 --exclusive --no-requeue)
	await 30 note_holds "$job" '8 nodes are left out: they were powered down or have booted since'
	job_is "$job" PENDING
	other=$(gang 2)
	await_job "$other" CONFIGURING
	scancel "$other"
	scancel "$job"
}

@test "any nodes do before a gang's nodes run: it is waited for no place, and slurmctld lives on" {
	job=$(submit --gang=spine@0:30 -N4 --exclusive --wait-all-nodes=0 --requeue --wrap "echo ran >>$RAN; sleep 600")
	await_job "$job" CONFIGURING
	await 90 note_holds "$job" 'placed: 4 nodes in no common spine'
	equal "$(<"$RAN")" '' 'what ran'
	job_is "$job" CONFIGURING
	holds "$(scontrol ping)" 'is UP'
	mapfile -t nodes < <(job_nodes "$job")
	start_nodes "${nodes[@]}"
	await_job "$job" RUNNING 90
	await 30 test -s "$RAN"
	equal "$(job_field "$job" Restarts)" 0
}

@test "Requeue=0 while its nodes boot: a gang whose nodes stand apart goes back all the same, and is launched no more" {
	job=$(gang 4)
	await_job "$job" CONFIGURING
	scontrol update "jobid=$job" Requeue=0
	mapfile -t nodes < <(job_nodes "$job")
	start_nodes "${nodes[@]}"
	ec2_says n1,n2,n3,n8 n4
	await 60 note_holds "$job" 'launched in vain: its 4 nodes are on 2 spines'
	await_job "$job" PENDING
	equal "$(<"$RAN")" '' 'what ran'
	equal "$(job_field "$job" Requeue)" 0
	equal "$(scontrol show reservation 2>&1)" 'No reservations in the system'
	ec2_says n1,n2,n3,n4 n8
	begin_soon "$job"
	await_job "$job" RUNNING 90
}

@test "an administrator wants nodes powered down that a gang waits with: they run till it leaves them, and it starts" {
	launch_gang
	scontrol update NodeName="${nodes[1]}" State=POWER_DOWN
	scontrol update NodeName="${nodes[2]}" State=POWER_DOWN_ASAP Reason=test
	matches "$(scontrol show node "${nodes[1]}")" 'State=ALLOCATED[^ ]*\+POWER_DOWN'
	ec2_says "$(IFS=,; echo "${nodes[*]}")" n8
	await_job "$job" RUNNING 90
	await 10 note_holds "$job" 'domain=left'
	holds "$(onespine audit)" '1 gang running: 1 as asked for, 0 not'
	matches "$(onespine topology show --nodes "$ONESPINE_CLUSTER/onespine.topology")" "${nodes[1]} .*ec2.*holds"
	scancel "$job"
	await 30 gives_back "${nodes[1]}"
	matches "$(onespine topology show --nodes "$ONESPINE_CLUSTER/onespine.topology")" "${nodes[1]} .*ec2.*does not run"
}

@test "topograph's file says where a launched node is only if it was written since the boot, and for that boot" {
	local file=$BATS_TEST_TMPDIR/topograph.yaml places=$ONESPINE_CLUSTER/onespine.topology
	printf 'switches:\n  s1: {switches: [l1]}\nblocks:\n- {switch: l1, nodes: ["n[1-8]"]}\n' >"$file"
	scontrol update NodeName='n[1-2]' State=POWER_UP
	start_nodes n1 n2
	touch -d "@$(($(boot_of n1) - 1))" "$file"
	run onespine topology discover --from="topograph:$file" -o "$places.new"
	equal "$status" 1 "$output"
	holds "$output" "$file: written before all of its nodes booted"
	touch -d "@$(($(boot_of n1) > $(boot_of n2) ? $(boot_of n1) + 1 : $(boot_of n2) + 1))" "$file"
	run onespine topology discover --from="topograph:$file" -o "$places.new"
	equal "$status" 0 "$output"
	holds "$output" 'applied: 2 nodes have a place'
	equal "$(jq -c '[.places[] | .source, .nodes]' "$places.new")" \
		"[\"topograph\",[\"n1 - $(boot_of n1)\",\"n2 - $(boot_of n2)\"]]"
	log_mark
	mv "$places.new" "$places"
	await 5 log_since 'without a reconfigure, the topology in force has'
	matches "$(onespine topology show --nodes "$places")" 'n1 .*topograph.*holds'
	job=$(submit --gang -N2 --exclusive --wrap 'sleep 600')
	await_job "$job" RUNNING 60
	await 10 note_holds "$job" 'domain=s1'
	scancel "$job"
	await 20 job_is "$job" CANCELLED
	scontrol update NodeName=n1 State=POWER_DOWN_FORCE
	await 30 gives_back n1
	matches "$(onespine topology show --nodes "$places")" 'n1 .*topograph.*does not run'
}
