#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_launch_groups.bats - gangs on nodes that do not run are placed by their capacity reservation's topology
#
# The tests start the nodes that Slurm asks for; the watch asks a simulated EC2 where reservations and instances are.

bats_require_minimum_version 1.5.0
load helpers
load launch_helpers

setup() {
	command -v python3 >/dev/null || skip "python3 is not here"
	cd "$BATS_TEST_TMPDIR" || return
	chmod 755 .
	cat >onespine.yaml <<-'END'
		defaults: {unlaunched: launch, launch_tries: 2, launch_place: 0:30}
		partitions: {later: {unlaunched: wait}}
		watch: {from: ec2, launch_groups: "cr-0a=n[1-4] cr-0b=n[5-8]"}
	END
	make_topology onespine.topology 2 1 4
	unset "${!AWS_@}"
	# no file of this machine's; HOME stays, where the roots of Slurm are
	export AWS_SHARED_CREDENTIALS_FILE=$PWD/none AWS_CONFIG_FILE=$PWD/none
	export AWS_REGION=us-west-2 AWS_EC2_METADATA_DISABLED=true
	export AWS_ACCESS_KEY_ID=AKID AWS_SECRET_ACCESS_KEY=secret+/
	mkdir ec2
	cluster_start --cloud 8 --topology "$PWD/onespine.topology" --config "$PWD/onespine.yaml" --dir "$PWD/cluster" \
		--conf "AuthInfo=socket=$PWD/cluster/munge/socket,cred_expire=5" \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1 --conf Licenses=tool:1
}

teardown() {
	local status=0
	[[ -n ${BATS_TEST_COMPLETED-} ]] || cat journal
	end_test || status=1
	[[ -z ${watch_pid-} ]] || { kill "$watch_pid"; wait "$watch_pid" || true; } 2>/dev/null
	[[ -z ${ec2_pid-} ]] || { kill "$ec2_pid"; wait "$ec2_pid" || true; } 2>/dev/null
	scancel --user="$(id -un)" 2>/dev/null || true
	cluster_stop "$PWD/cluster" || status=1
	return $status
}

# ec2 [JQ]: reservation cr-0a is under spine nn-s1, cr-0b under nn-s2, and so are their instances; changed by a filter of jq
ec2() {
	jq -n "{keys: {AKID: \"secret+/\"},
		instances: [range(1; 9) | {id: \"i-\(.)\", type: \"p5.48xlarge\", zone: \"us-west-2a\", zone_id: \"usw2-az1\",
			nodes: [\"nn-t\", (if . < 5 then \"nn-s1\" else \"nn-s2\" end), (if . < 5 then \"nn-l1\" else \"nn-l2\" end)]}],
		reservations: [\"a\", \"b\" | {id: \"cr-0\(.)\", type: \"p5.48xlarge\", zone: \"us-west-2a\", zone_id: \"usw2-az1\",
			nodes: [\"nn-t\", (if . == \"a\" then \"nn-s1\" else \"nn-s2\" end)]}]} | ${1:-.}" >ec2/state.new
	mv ec2/state.new ec2/state.json
}

# watch_begins [JQ]
watch_begins() {
	ec2 "$@"
	"$ONESPINE_TOOLS/../tests/fake/ec2" ec2 2>ec2/said 3>&- &
	ec2_pid=$!
	await 10 test -e ec2/port
	AWS_ENDPOINT_URL_EC2=http://127.0.0.1:$(<ec2/port)
	export AWS_ENDPOINT_URL_EC2
	log_mark
	onespine topology watch --interval=1 -o "$ONESPINE_CLUSTER/onespine.topology" >journal 2>&1 3>&- &
	watch_pid=$!
}

journal_has() {
	grep -q -- "$1" journal
}

# are_instances NODE...: nN is the instance i-N, by Slurm's InstanceId; before Slurm had that, by the node's own word
are_instances() {
	local node
	for node; do
		if slurm_at_least 25.11; then
			scontrol update "NodeName=$node" "InstanceId=i-${node#n}"
		else
			scontrol update "NodeName=$node" "Extra=$(jq -nc --arg id "i-${node#n}" --argjson boot "$(boot_of "$node")" \
				'{onespine_instance: {id: $id, boot: $boot}}')"
		fi
	done
}

place_of() {
	onespine topology show --nodes "$ONESPINE_CLUSTER/onespine.topology" | grep "^$1 "
}

@test "a gang is placed by its nodes' reservation before they run, whole at its first start; others do not count that place" {
	watch_begins
	await 30 log_since 'without a reconfigure, the topology in force has'
	matches "$(place_of n5)" 'reservation +cr-0b .*holds +spine nn-s2'
	scontrol update NodeName=n2 State=DRAIN Reason=test
	# one that could not go back waits
	waits=$(submit --gang -N4 --exclusive --no-requeue)
	await 30 note_holds "$waits" 'nodes are left out: they were powered down or have booted since'
	scancel "$waits"
	job=$(submit --gang -N4 --exclusive --requeue --wrap 'sleep 600')
	await_job "$job" CONFIGURING
	equal "$(job_nodes "$job" | paste -sd' ')" 'n5 n6 n7 n8'
	await 10 note_holds "$job" 'launched: 4 nodes, 4 of them do not run yet'
	run -0 onespine audit
	holds "$output" '1 gang running: 0 as asked for, 0 not, 1 on nodes that start'
	start_nodes n5 n6 n7 n8
	# where they are EC2 has not said: the place by the reservation does not count any more
	stays 5 job_is "$job" CONFIGURING
	are_instances n5 n6 n7 n8
	await_job "$job" RUNNING 90
	await 10 note_holds "$job" 'domain=nn-s2'
	equal "$(job_field "$job" Restarts)" 0
	matches "$(place_of n5)" 'ec2 +i-5 .*holds +leaf nn-l2, spine nn-s2'
	matches "$(place_of n1)" 'reservation +cr-0a .*holds +spine nn-s1'
}

@test "a cluster of which no node has run: the watch makes a topology of levels alone, and the first gang is launched by it" {
	cluster kill-ctld --dir "$ONESPINE_CLUSTER"
	rm "$ONESPINE_CLUSTER/onespine.topology" "$ONESPINE_CLUSTER/state/onespine_topology"
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	holds "$(submit_refused --gang -N4)" 'no fabric topology is in force here'
	# nor does EC2 know where the reservations are
	watch_begins '.reservations[].nodes = []'
	await 30 journal_has '^warning: no node runs, so no place is known'
	await 30 log_since "has leaf 0, spine 0, core 0, zone 0; 8 of Slurm's 8 nodes are not in it"
	run onespine doctor
	[[ $output != *'no gang gets them'* ]] || fail "$output"
	job=$(submit --gang -N4 --exclusive --requeue --wrap 'sleep 600')
	await_job "$job" CONFIGURING
	mapfile -t nodes < <(job_nodes "$job")
	equal "${nodes[*]}" 'n1 n2 n3 n4'
	start_nodes "${nodes[@]}"
	are_instances "${nodes[@]}"
	await_job "$job" RUNNING 90
	await 10 note_holds "$job" 'domain=nn-s1'
	equal "$(job_field "$job" Restarts)" 0
}

@test "EC2 may not be asked where nodes are: no gang is launched, and each one that waits names the permission; when it may, the first is" {
	local words='EC2 denies DescribeInstanceTopology to the environment: its policy must allow ec2:DescribeInstanceTopology on resource *'
	watch_begins '.faults = [{action: "DescribeInstanceTopology", do: "denied"}]'
	# no node has run: it is found out all the same
	await 30 grep -q '"unasked"' "$ONESPINE_CLUSTER/onespine.topology"
	await 30 log_since 'without a reconfigure, the topology in force has'
	job=$(submit --gang -N4 --exclusive --requeue --wrap 'sleep 600')
	await 30 note_holds "$job" "no nodes are launched, as nobody could say where they are: $words"
	stays 5 job_is "$job" PENDING
	run onespine why "$job"
	holds "$output" "no nodes are launched, as nobody could say where they are: $words"
	run onespine fit -N4 --exclusive
	holds "$output" "no nodes are launched, as nobody could say where they are: $words"
	run onespine doctor
	holds "$output" "wrong: a node that starts gets no place, and none are launched for gangs: $words (places)"
	ec2
	await 60 job_is "$job" CONFIGURING
	run -1 grep '"unasked"' "$ONESPINE_CLUSTER/onespine.topology"
	mapfile -t nodes < <(job_nodes "$job")
	start_nodes "${nodes[@]}"
	are_instances "${nodes[@]}"
	await_job "$job" RUNNING 90
	equal "$(job_field "$job" Restarts)" 0
}

@test "fit and why count the place by the reservation as slurmctld does: where the policy launches nodes, and not where it waits" {
	scontrol create PartitionName=later Nodes=ALL State=UP
	watch_begins
	await 30 log_since 'without a reconfigure, the topology in force has'
	run -0 onespine fit -N4
	matches "$output" 'spine nn-s[12]'
	[[ $output != *'left out'* ]] || fail "$output"
	SBATCH_NO_REQUEUE=0 run -0 onespine fit -N4
	SBATCH_NO_REQUEUE=1 SBATCH_REQUEUE='' run -0 onespine fit -N4
	SBATCH_NO_REQUEUE='' run -1 onespine fit -N4
	SBATCH_NO_REQUEUE=1 run -1 onespine fit -N4
	holds "$output" '8 nodes are left out: they were powered down or have booted since'
	run -1 onespine fit -N4 -p later
	holds "$output" '8 nodes are left out: they were powered down or have booted since'
	waits=$(submit -p later --gang -N4 --exclusive)
	await 30 note_holds "$waits" '8 nodes are left out: they were powered down or have booted since'
	equal "$(onespine why --json "$waits" | jq -c '[.old_places, .starts_now, ([.domains[]?.nodes // 0] | add // 0)]')" '[8,false,0]'
	job=$(submit --gang -N4 --exclusive --requeue --hold)
	equal "$(onespine why --json "$job" | jq -c .old_places)" null
}

@test "nodes that are launched for another gang: its note, why and fit count them alike" {
	local words='waits: 4 nodes on one spine; nearest: nn-s1 has 0 free of 4 (4 short)' first second
	watch_begins
	await 30 log_since 'without a reconfigure, the topology in force has'
	first=$(submit --gang -N4 --exclusive --requeue)
	second=$(submit --gang -N4 --exclusive --requeue)
	await_job "$first" CONFIGURING
	await_job "$second" CONFIGURING
	job=$(submit --gang -N4 --exclusive --requeue)
	await 30 note_holds "$job" "$words"
	run -0 onespine why "$job"
	holds "$output" "  $words"
	[[ $output != *'left out'* ]] || fail "$output"
	run -1 onespine fit -N4 --exclusive
	holds "$output" "no: $words"
}

@test "fit and why promise no start that slurmctld launches no nodes for: of segments, of several domains, of --no-requeue" {
	local job
	watch_begins
	await 30 log_since 'without a reconfigure, the topology in force has'
	run -1 onespine fit -N8 --gang=core --gang-segment=spine:4
	holds "$output" '8 nodes are left out: they were powered down or have booted since'
	matches "$output" '^no: waits: 8 nodes .*in segments spine:4; '
	run -1 onespine fit -N8 --gang=spine --gang-domains=2
	matches "$output" '^no: waits: 8 nodes on at most 2 spines; '
	holds "$output" '8 nodes are left out'
	run -0 onespine fit -N8 --gang=core --gang-domains=1
	run -0 onespine fit -N8 --gang=core --gang-layout=dp8 --ntasks-per-node=1
	submit --gang=core --gang-segment=spine:4 -N8 --exclusive >waiting
	submit --gang=spine --gang-domains=2 -N8 --exclusive >>waiting
	submit --gang -N4 --exclusive --no-requeue >>waiting
	while read -r job; do
		await 30 note_holds "$job" '8 nodes are left out: they were powered down or have booted since'
		run -0 onespine why "$job"
		equal "$(grep -Ec '^  waits: [48] nodes .*; 8 nodes are left out' <<<"$output")" 1
		[[ $output != *turn* ]] || fail "$output"
		equal "$(onespine why --json "$job" | jq -c '[.old_places, .starts_now]')" '[8,false]'
		run -0 onespine why
		equal "$(grep -Ec "^$job .*: waits: [48] nodes .*; 8 nodes are left out" <<<"$output")" 1
	done <waiting
}

@test "fit says that a gang on nodes that are launched for it waits for its --begin, or for a license" {
	watch_begins
	await 30 log_since 'without a reconfigure, the topology in force has'
	run -0 onespine fit -N4 --begin=now
	run -1 onespine fit -N4 --begin=now+1day
	matches "$output" "^no: it begins at now\\+1day at the earliest"
	equal "$(onespine fit -N4 --begin=now+1day --json | jq -c '[.starts_now, .refused]')" '[false,false]'
	run -0 onespine fit -N4 -L tool:1
	job=$(submit -N1 -w n1 --exclusive -L tool:1)
	await_job "$job" CONFIGURING
	run -0 onespine fit -N4
	run -1 onespine fit -N4 -L tool:1
	matches "$output" '^no: .*tool:1'
}

@test "why of a gang whose nodes are launched says that it is asked where they are when they run" {
	watch_begins
	await 30 log_since 'without a reconfigure, the topology in force has'
	job=$(submit --gang=leaf -N4 --exclusive --requeue --wrap 'sleep 600')
	await_job "$job" CONFIGURING
	await 10 note_holds "$job" 'launched: 4 nodes, 4 of them do not run yet'
	run -0 onespine why "$job"
	holds "$output" 'whether they are on one leaf is asked when they run'
	[[ $output != *breaks* ]] || fail "$output"
	equal "$(onespine why --json "$job" | jq -c .in_one_domain)" null
}

@test "an instance that EC2 launched elsewhere: the gang goes back before any of its processes ran" {
	watch_begins '.instances[7].nodes = ["nn-t", "nn-s1", "nn-l1"]'
	await 30 log_since 'without a reconfigure, the topology in force has'
	scontrol update NodeName=n2 State=DRAIN Reason=test
	job=$(submit --gang -N4 --exclusive --requeue --wrap 'echo ran >ran; sleep 600')
	await_job "$job" CONFIGURING
	equal "$(job_nodes "$job" | paste -sd' ')" 'n5 n6 n7 n8'
	start_nodes n5 n6 n7 n8
	are_instances n5 n6 n7 n8
	await 60 note_holds "$job" 'launched in vain: its 4 nodes are on 2 spines'
	[[ ! -e ran ]]
}

@test "a reservation whose call is throttled keeps its nodes' places, and one that is smaller than its group has places for as many" {
	watch_begins '.reservations[1].total = 3'
	await 30 log_since 'without a reconfigure, the topology in force has'
	journal_has '^warning: launch_groups names more nodes for cr-0b than it has instances: 1 that does not run has no place by it'
	run -1 place_of n8
	matches "$(place_of n7)" 'reservation +cr-0b .*holds +spine nn-s2'
	job=$(submit -N1 -w n5 --exclusive --wrap 'sleep 600')
	start_nodes n5
	are_instances n5
	await 90 shows ' i-5 ' place_of n5
	# the watch repeats no warning for another count: from here on as many nodes sleep
	ec2 '.faults = [{action: "DescribeCapacityReservationTopology", from: 1, to: 100000, do: "error"}]
		| .reservations[1].total = 4'
	await 60 journal_has '^warning: 6 nodes do not run and keep the last good place by the capacity reservation: '
	matches "$(place_of n7)" 'reservation +cr-0b .*holds +spine nn-s2'
	matches "$(place_of n1)" 'reservation +cr-0a .*holds +spine nn-s1'
	await 10 shows "n[1-4,6-7]: places since " onespine map
	holds "$(onespine map)" "EC2's calls about them have failed since"
	job=$(submit --gang -N4 --exclusive --requeue --hold)
	holds "$(onespine why "$job")" 'n[1-4,6-7]: places since '
	equal "$(onespine why --json "$job" | jq -r .kept_places.nodes)" 'n[1-4,6-7]'
}

@test "an instance of a node on its way down is not another cluster's" {
	watch_begins '.reservations[1] += {total: 4, available: 3}'
	await 30 log_since 'without a reconfigure, the topology in force has'
	journal_has '^warning: launch_groups names more nodes for cr-0b than it has instances that nobody else uses: 1 that does not run'
	job=$(submit -N1 -w n5 --exclusive --wrap 'sleep 600')
	start_nodes n5
	are_instances n5
	await 90 shows ' i-5 ' place_of n5
	matches "$(place_of n8)" 'reservation +cr-0b .*holds +spine nn-s2'
	scancel "$job"
	scontrol update NodeName=n5 State=power_down
	await 30 shows ' cr-0b ' place_of n5
	[[ $(scontrol show node n5) != *POWERED_DOWN* ]]
	matches "$(place_of n8)" 'reservation +cr-0b .*holds +spine nn-s2'
}

@test "a reservation that EC2 may not be asked about: the permission is named, and its nodes have no place until they run" {
	watch_begins '.faults = [{action: "DescribeCapacityReservationTopology", from: 1, to: 100000, do: "denied"}]'
	await 30 journal_has 'failed.*ec2:DescribeCapacityReservationTopology'
	job=$(submit -N1 -w n5 --exclusive --wrap 'sleep 600')
	start_nodes n5
	are_instances n5
	await 30 shows 'spine nn-s2' place_of n5
	await 30 journal_has '^warning: nodes that do not run have no place by their capacity reservation: .*must allow ec2:DescribeCapacityReservationTopology'
	run -1 place_of n1
	run onespine topology discover --from=ec2
	matches "$output" 'nodes that do not run have no place by their capacity reservation: .*ec2:DescribeCapacityReservationTopology'
}
