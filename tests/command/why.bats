#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# why a job waits, in one sentence: what Slurm says, what its nodes are now and what the scheduler wrote never stand side by side

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# job JQ: the state with job 1206 changed so, in ./state.json
job() {
	jq "(.jobs[] | select(.id == 1206)) |= ($1)" "$MAP/small.json" >state.json
}

why() {
	onespine why --state=state.json "$@"
}

# because: the sentence about job 1206, which `why` without a job must have too
because() {
	local one all
	one=$(why 1206 --json | jq -r .because)
	why 1206 | grep -qxF "  $one" || echo "why 1206 does not say it"
	all=$(why --json | jq -r '.[] | select(.job == "1206") | .because')
	[[ $all == "$one" ]] || echo "why says: $all"
	printf '%s\n' "$one"
}

@test "each of Slurm's reasons has its sentence, and what the scheduler wrote before is not said beside it" {
	local row failed=0
	((EUID == 0)) || skip "as root, who sees everyone's jobs"
	while IFS='|' read -r reason more words; do
		job ". + {reason: \"$reason\"} + $more"
		got=$(because)
		[[ $got == "$words" ]] || { echo "$reason: $got"; failed=1; }
		[[ $(why 1206) != *nearest* ]] || { echo "$reason: nearest is said, too"; failed=1; }
		[[ $(why 1206 --json | jq -c '[.starts_now]') == '[false]' ]] || { echo "$reason: starts now"; failed=1; }
	done <<-'END'
		JobHeldUser|{}|it is held by its owner; 'scontrol release 1206' ends that
		JobHeldAdmin|{}|it is held by an administrator, who alone can release it
		BeginTime|{eligible_s: 1760003600}|it begins at 2025-10-09T09:53:20 at the earliest (--begin)
		BeginTime|{eligible_s: 1760000060, restarts: 1}|it was requeued, and may begin again at 2025-10-09T08:54:20
		Dependency|{dependency: "afterok:1201(unfulfilled)"}|it depends on other jobs (afterok:1201(unfulfilled))
		Licenses|{licenses: "matlab:2"}|too few licenses are free (matlab:2)
		Reservation|{reservation: "tuesday"}|it waits for its reservation tuesday, which has not begun or has no room yet
		ReqNodeNotAvail|{required_nodes: "gpu-6"}|nodes that it needs (-w gpu-6) are down, drained or reserved for others
		BadConstraints|{features: "h200"}|no nodes of partition gpu can be what it asks for (-C h200)
		BadConstraints|{extra: "rack=2"}|no nodes of partition gpu can be what it asks for (--extra=rack=2)
		QOSMaxNodePerUserLimit|{}|its owner's jobs already take what a limit allows a user (QOSMaxNodePerUserLimit)
		PartitionTimeLimit|{}|it asks for more time than its partition gpu allows a job
	END
	((failed == 0))
}

@test "a job that may not begin yet does not wait yet: when it was submitted is told, not a time to come" {
	((EUID == 0)) || skip "as root, who sees everyone's jobs"
	job '. + {reason: "BeginTime", eligible_s: 1760003600, start_s: 1760003600}'
	why 1206 | grep -qxF '  submitted at 2025-10-09T07:53:20 (1h00m ago); Slurm expects it to start at 2025-10-09T09:53:20'
	[[ $(why 1206; why) != *'waits since'* ]]
	why | grep -qxF '1206 train-405b of dora, 6 nodes, gang=spine@2:00:00, submitted 1h00m ago: it begins at 2025-10-09T09:53:20 at the earliest (--begin)'
	[[ $(why --json | jq -c '.[] | select(.job == "1206") | .waits_since_s') == null ]]
	# @TIME counts from there
	why 1206 | grep -qxF '  from 2025-10-09T11:53:20 on one core will do'
	job '. + {reason: "Resources", eligible_s: 1759998200}'
	why 1206 | grep -q '^  waits since 2025-10-09T08:23:20 (30m)'
	[[ $(why --json | jq -c '.[] | select(.job == "1206") | .waits_since_s') == 1759998200 ]]
}

@test "of a held job no start is expected" {
	((EUID == 0)) || skip "as root, who sees everyone's jobs"
	job '. + {reason: "Resources", start_s: 1760003600}'
	[[ $(why 1206) == *'; Slurm expects it to start at 2025-10-09T09:53:20'* ]]
	# JSON has the same start, or none
	[[ $(why 1206 --json | jq .starts) == '"2025-10-09T09:53:20"' ]]
	job '. + {reason: "JobHeldUser", start_s: 1760003600}'
	[[ $(why 1206) != *'expects it to start'* ]]
	[[ $(why 1206 --json | jq 'has("starts")') == false ]]
	# nor of one behind jobs without a time limit, each a year to Slurm
	job '. + {reason: "Resources", start_s: 1791535000}'
	[[ $(why 1206) != *'expects it to start'* ]]
	[[ $(why 1206 --json | jq 'has("starts")') == false ]]
	job '. + {reason: "Resources", start_s: 1791535000, end_s: 1791545000}'
	[[ $(why 1206 --json | jq -c '[has("starts", "ends")]') == '[false,false]' ]]
	[[ $(why 1201 --json | jq -c '[has("starts", "ends")]') == '[true,true]' ]]
	# a year from that job's start, however long ago it was
	job '. + {reason: "Resources", start_s: 1768640000}'
	[[ $(why 1206) == *'; Slurm expects it to start at 2026-01-17T08:53:20'* ]] || { why 1206; false; }
	jq '(.jobs[] | select(.id == 1201)) |= (. + {start_s: 1737104000, end_s: null})' state.json >next.json
	mv next.json state.json
	[[ $(why 1206) != *'expects it to start'* ]]
}

@test "ReqNodeNotAvail of a gang that names no nodes: the sentence about its nodes is said" {
	((EUID == 0)) || skip "as root, who sees everyone's jobs"
	job '. + {reason: "ReqNodeNotAvail, UnavailableNodes:gpu-[1-2]", whole_nodes: true, admin_comment: "[onespine: gang=spine; waits: 6 nodes on one spine; nearest: s1 has 2 free of 7 (4 short)]"}'
	[[ $(because) == "waits: 6 nodes on one spine; nearest: s1 has 2 free of 7 (4 short)" ]]
	[[ $(why 1206 --json | jq -c .waits_for) == '"nodes"' ]]
	# nodes are free, but a reservation begins before it would end
	job '. + {reason: "ReqNodeNotAvail, Reserved for maintenance", node_count: 2, whole_nodes: true}'
	[[ $(because) == "nodes that it needs are down, drained or reserved for others" ]]
	[[ $(why 1206 --json | jq -c .starts_now) == false ]]
	# what keeps it is no lack of nodes, and only the scheduler knows it
	job '. + {reason: "ReqNodeNotAvail, May be reserved for other job", node_count: 2, whole_nodes: true, admin_comment: "[onespine: gang=spine; waits: its stored request has the key '"'mixed_max'"', which this release does not know]"}'
	[[ $(because) == "waits: its stored request has the key 'mixed_max', which this release does not know" ]]
}

@test "nearest has 0 free is never said beside room for it now: its nodes' state is what counts" {
	job '. + {node_count: 2, whole_nodes: true, admin_comment: "[onespine: gang=spine; waits: 2 nodes on one spine; nearest: s1 has 0 free of 6 (2 short)]"}'
	[[ $(because) == "spine s1 has room for it now: it waits for its turn" ]]
	[[ $(why 1206) != *'0 free of 6'* ]]
	job '. + {reason: "Priority", node_count: 2, admin_comment: "[onespine: gang=spine; waits: 2 nodes on one spine; nearest: s1 has 0 free of 6 (2 short)]"}'
	[[ $(because) == "spine s1 has room for it now: it waits for its turn, jobs with a higher priority come first" ]]
	# the other way round: nodes went since
	job '. + {whole_nodes: true, admin_comment: "[onespine: gang=spine; waits: 6 nodes on one spine; nearest: s2 has 5 free of 8 (1 short)]"}'
	[[ $(because) == "waits: 6 nodes on one spine; nearest: s1 has 2 free of 7 (4 short)" ]]
	[[ $(why 1206) != *'5 free of 8'* ]]
	# what the scheduler adds to the same sentence stays
	job '. + {whole_nodes: true, admin_comment: "[onespine: gang=spine; waits: 6 nodes on one spine; nearest: s1 has 2 free of 7 (4 short); launched 2 times in vain (37 node minutes)]"}'
	[[ $(because) == "waits: 6 nodes on one spine; nearest: s1 has 2 free of 7 (4 short); launched 2 times in vain (37 node minutes)" ]]
}

@test "nodes that are reserved before the job could end have no room for it, and a job in a reservation only its nodes" {
	# reserved NAME NODES START END [MORE]: the state has that reservation; job 1206 may run an hour
	reserved() {
		jq --arg name "$1" --arg nodes "$2" --argjson from "$3" --argjson to "$4" \
			".reservations = [{name: \$name, nodes: \$nodes, start_s: (.time_s + \$from), end_s: (.time_s + \$to)} + ${5:-null}]" \
			state.json >next.json && mv next.json state.json
	}
	local waiting='{reason: "Priority", node_count: 2, limit_s: 3600, whole_nodes: true, admin_comment: "[onespine: gang=spine]"}'
	local none='waits: 2 nodes on one spine; nearest: s1 has 0 free of 7 (2 short)'
	local room='spine s1 has room for it now: it waits for its turn, jobs with a higher priority come first'
	job ". + $waiting"
	[[ $(because) == "$room" ]]
	reserved tuesday 'gpu-[1-16]' 1800 7200
	[[ $(because) == "$none" ]]
	[[ $(why 1206) != *'has room'* && $(why 1206) != *' now'* ]]
	reserved tuesday 'gpu-[1-16]' 3600 7200 # it ends before
	[[ $(because) == "$room" ]]
	reserved tuesday 'gpu-[1-16]' -7200 -3600 # over
	[[ $(because) == "$room" ]]
	job ". + $waiting + {limit_s: 0}" # unknown: nothing is guessed
	reserved tuesday 'gpu-[1-16]' 1800 7200
	[[ $(because) == "$room" ]]
	# its own, which has not begun, and has other nodes than those that are free
	job ". + $waiting + {reason: \"Reservation\", reservation: \"tuesday\"}"
	reserved tuesday 'gpu-[1-2]' 1800 7200
	[[ $(why 1206 --json | jq -c '[.domains[].usable] | add') == 2 ]]
	reserved tuesday 'gpu-[1-2]' 1800 7200 '{others_too: true}'
	[[ $(why 1206 --json | jq -c '[.domains[].usable] | add') -gt 2 ]]
	# what Slurm takes no other reservation into account for: one of maintenance, and one that overlaps all but those
	job ". + $waiting + {reservation: \"mine\"}"
	reserved mine 'gpu-[1-16]' -60 7200
	[[ $(because) == "$room" ]]
	cp state.json own.json
	local nowhere='waits: 2 nodes on one spine; no usable node is on a known spine (drained, reserved, excluded or too small nodes do not count)' flags reservation other words
	for flags in "{}|{}|$nowhere" "{maint: true}|{maint: true}|$room" "{overlap: true}|{}|$room" \
		"{overlap: true}|{maint: true}|$nowhere"; do
		IFS='|' read -r reservation other words <<<"$flags"
		jq ".reservations[0] as \$mine | .reservations = [\$mine + $reservation, \$mine + {name: \"tuesday\"} + $other]" \
			own.json >state.json
		[[ $(because) == "$words" ]] || { because && echo "instead of $words ($flags)" && false; }
	done
	# of several reservations any will do
	job ". + $waiting + {reservation: \"monday,tuesday\"}"
	reserved tuesday 'gpu-[1-16]' -60 7200
	[[ $(because) == "$room" ]]
	reserved day 'gpu-[1-16]' -60 7200
	[[ $(because) != *'has room'* ]]
}

# two_partitions MORE-JQ: job 1206 may run in odd and even, which have a free node of s1 each
two_partitions() {
	job '. + {node_count: 2, partition: "odd,even", whole_nodes: true, admin_comment: "[onespine: gang=spine]"}'
	jq ".partitions += [{name: \"odd\", nodes: \"gpu-[1-4,7]\", up: true}, {name: \"even\", nodes: \"gpu-[8-12]\", up: true}] | $1" \
		state.json >next.json
	mv next.json state.json
}

@test "a gang in several partitions gets nodes of one: of which is told, the one that the scheduler wrote of first, and none that is down" {
	two_partitions .
	[[ $(because) == 'waits: 2 nodes on one spine; nearest: s1 has 1 free of 5 (1 short)' ]] || { because; false; }
	why 1206 | grep -qxF '  in partition odd; the others have no room now either'
	[[ $(why 1206 --json | jq -c '[.starts_now, .in_partition, .domains[0].usable]') == '[false,"odd",5]' ]]
	two_partitions '(.jobs[] | select(.id == 1206)).admin_comment = "[onespine: gang=spine; waits: 2 nodes on one spine; nearest: s2 has 0 free of 4 (2 short)]"'
	[[ $(because) == 'waits: 2 nodes on one spine; nearest: s2 has 0 free of 4 (2 short)' ]] || { because; false; }
	[[ $(why 1206 --json | jq -r .in_partition) == even ]]
	[[ $(why 1206) != *'AdminComment is older'* ]]
	two_partitions '(.partitions[] | select(.name == "odd")).up = false'
	[[ $(because) == *'nearest: s2 has 0 free of 4 (2 short)' ]] || { because; false; }
	expect_line 0 '  in partition even; each other is down or has no room now either' why 1206
	two_partitions '(.jobs[] | select(.id == 1206)).partition = "odd,debug"'
	[[ $(because) == 'spine s1 has room for it now: it waits for its turn' ]] || { because; false; }
	why 1206 | grep -qxF '  in partition debug'
	# of what it waits for besides nodes no partition is named
	two_partitions '(.jobs[] | select(.id == 1206)).reason = "JobHeldUser"'
	[[ $(why 1206) != *'in partition'* ]]
}

@test "AdminComment of an earlier look is told to be older, with the time of Slurm's last look" {
	job '. + {whole_nodes: true, node_count: 5, admin_comment: "[onespine: gang=spine; waits: 6 nodes on one spine; nearest: s1 has 3 free of 7 (3 short)]"}'
	[[ $(because) == 'waits: 5 nodes on one spine; nearest: s1 has 2 free of 7 (3 short)' ]]
	expect_line 0 '  its AdminComment is older' why 1206
	job '. + {whole_nodes: true}'
	[[ $(why 1206) != *'is older'* ]]
}

@test "where only slurmctld can count, its sentence stands and the table says what it counts" {
	# a job that shares nodes
	job '. + {admin_comment: "[onespine: gang=spine; waits: 6 nodes on one spine; nearest: s2 has 5 free of 8 (1 short)]"}'
	[[ $(because) == "waits: 6 nodes on one spine; nearest: s2 has 5 free of 8 (1 short)" ]]
	why 1206 | grep -qxF "now, by nodes that no job uses at all:"
	# nodes are free, and Slurm does not start it there
	job '. + {node_count: 2, admin_comment: "[onespine: gang=spine; waits: one spine has 2 nodes free, but Slurm cannot start the job there now (memory, cores, GPUs, licenses, a limit or TopologyPlugin)]"}'
	[[ $(because) == "waits: one spine has 2 nodes free, but Slurm cannot start"* ]]
	[[ $(why 1206) != *'room for it now'* ]]
	# the cause is none of its nodes
	job '. + {node_count: 2, whole_nodes: true, admin_comment: "[onespine: gang=spine; waits: its stored request has the key mixed_max, which this release does not know]"}'
	[[ $(because) == "waits: its stored request has the key mixed_max, which this release does not know" ]]
	[[ $(why 1206) != *'room for it now'* ]]
}

@test "-w of a node in use, and -C of features that few nodes or none with a place have" {
	job '. + {node_count: 2, whole_nodes: true, required_nodes: "gpu-[1-2]"}'
	[[ $(because) == "waits: 2 nodes on one spine; gpu-1 and 1 more that the job requires are in use" ]]
	job '. + {node_count: 2, whole_nodes: true, features: "new"}'
	jq '(.nodes[] | select(.nodes == "gpu-[7-8]")).features = "h100,new"' state.json >new.json
	mv new.json state.json
	[[ $(because) == "spine s1 has room for it now: it waits for its turn" ]]
	jq '(.jobs[] | select(.id == 1206)).node_count = 3' state.json >new.json
	mv new.json state.json
	[[ $(because) == "waits: 3 nodes on one spine; none has 3 usable with feature new: the largest, s1, has 2 (drained, reserved, excluded or too small nodes do not count)" ]]
	job '. + {node_count: 2, whole_nodes: true, features: "dynamic"}'
	jq '.nodes += [{nodes: "dyn-[1-2]", state: "idle", weight: 1, features: "dynamic"}] | .partitions[0].nodes = "gpu-[1-16],dyn-[1-2]"' \
		state.json >new.json
	mv new.json state.json
	[[ $(because) == "waits: 2 nodes on one spine; no usable node with feature dynamic is on a known spine (drained, reserved, excluded or too small nodes do not count)" ]]
}

@test "--extra: which nodes fit is only known to the scheduler, whose words are said" {
	((EUID == 0)) || skip "as root, who sees everyone's jobs"
	job '. + {node_count: 2, whole_nodes: true, extra: "rack=2", admin_comment: "[onespine: gang=spine; waits: 2 nodes on one spine; none has 2 usable with --extra=rack=2: the largest, s1, has 1 (drained, reserved, excluded or too small nodes do not count)]"}'
	[[ $(because) == "waits: 2 nodes on one spine; none has 2 usable with --extra=rack=2: the largest, s1, has 1 (drained, reserved, excluded or too small nodes do not count)" ]]
	[[ $(why 1206) != *"no job uses"* && $(why 1206) != *SPINE* ]]
	[[ $(why 1206 --json | jq -c '[.starts_now, .domains]') == '[false,null]' ]]
	job '. + {node_count: 2, whole_nodes: true, extra: "rack=2", admin_comment: "[onespine: gang=spine]"}'
	[[ $(because) == "waits: for nodes whose Extra fits --extra=rack=2" ]]
	# Slurm's word for it is Constraints, or BadConstraints before 25.05, also where some nodes fit
	for reason in Constraints BadConstraints; do
		job '. + {reason: "'$reason'", node_count: 5, whole_nodes: true, extra: "rack=2", admin_comment: "[onespine: gang=spine; waits: 5 nodes on one spine; none has 5 usable with --extra=rack=2: the largest, s1, has 4 (drained, reserved, excluded or too small nodes do not count)]"}'
		[[ $(because) == "waits: 5 nodes on one spine; none has 5 usable with --extra=rack=2: the largest, s1, has 4 (drained, reserved, excluded or too small nodes do not count)" ]]
	done
}

@test "a requeued job that the scheduler has not looked at since: nothing says that it is placed" {
	local says
	for says in 'placed: 6 nodes on spine s1' 'moved: n1 is on another spine' 'launched: 6 nodes whose places nobody knows'; do
		job ". + {whole_nodes: true, restarts: 1, reason: \"BeginTime\", eligible_s: 1760000060, admin_comment: \"[onespine: gang=spine; domain=s1; $says]\"}"
		[[ $(because) == "it was requeued, and may begin again at "* ]]
		[[ $(why 1206 --json | jq -c .says) == null ]]
		[[ $(why --json | jq -c '.[] | select(.job == "1206") | .says') == null || $EUID != 0 ]]
		[[ "$(why 1206; why; onespine map --state=state.json)" != *"${says%%:*}: "* ]]
	done
}

@test "a waiting task of an array is found by its own number" {
	job '. + {job: "1206_[1-3,7,10-20:5%2]"}'
	for task in 1 3 7 10 15 20; do
		why "1206_$task" | grep -q '^job 1206_\[1-3'
	done
	for task in 4 11 21; do
		expect_line 1 "job 1206_$task: slurmctld does not know it: never submitted, ended a while ago (sacct -j 1206_$task may tell), or not yours to see" \
			why "1206_$task"
	done
}

@test "without a topology, as at a site that runs only the gate: what Slurm and the gate say" {
	job '. + {reason: "JobHeldUser"}'
	jq 'del(.topology)' state.json >none.json
	mv none.json state.json
	expect 0 "job 1206 train-405b of dora: PENDING, 6 nodes, gang=spine@2:00:00
  it is held by its owner; 'scontrol release 1206' ends that
  its AdminComment is older
  Slurm's reason: JobHeldUser
  waits since 2025-10-09T07:53:20 (1h00m)
  no topology is in force here, so nothing is said of its nodes" why 1206
	expect 0 "job 1201 train-7b of alice: RUNNING, 4 nodes, gang=spine
  placed: 4 nodes on spine s1, 1 leaf
  runs since 2025-10-09T06:40:00; ends 2025-10-09T11:58:20" why 1201
	expect 0 "job 1207 plain of bob: PENDING, 2 nodes
  no gang: Onespine has no part in why it waits
  jobs with a higher priority come first
  Slurm's reason: Priority
  waits since 2025-10-09T07:53:20 (1h00m)" why 1207
	jq '(.jobs[] | select(.id == 1207)).admin_comment = "[onespine: gate=stopped 1 start, of 2 nodes, 1 failed]"' state.json >new.json
	expect_line 0 "  gate: stopped 1 start, of 2 nodes, 1 failed" onespine why --state=new.json 1207
}

# out NODES REASON: they are down for it
out() {
	jq --arg nodes "$1" --arg reason "$2" '.nodes |= map(select(.nodes != $nodes))
		| .nodes += [{nodes: $nodes, state: "down", weight: 1, kind: "gpu:h100", reason: $reason}]' state.json >next.json
	mv next.json state.json
}

@test "nodes that the cloud has not launched are reported, one line for each of its codes, wherever they were" {
	local ice='(Code:InsufficientInstanceCapacity)' on=' [root@2023-01-31T21:24:55]'
	local says='  the cloud has no capacity for gpu-[13,15] now (InsufficientInstanceCapacity); ParallelCluster tries again later'
	job '. + {reason: "Resources"}'
	[[ $(why 1206) != *'no capacity'* && $(why 1206 --json | jq -c 'has("not_launched")') == false ]]
	# gpu-6 is down for another reason, and nodes in no domain of the fabric count too
	out gpu-15 "${ice}Failure when resuming nodes$on"
	out gpu-16 "(Code:SpotMaxPriceTooLow)Failure when resuming nodes$on"
	out gpu-13 "${ice}Temporarily disabling node due to insufficient capacity$on"
	out gpu-14 "(Code:VcpuLimitExceeded)Failure when resuming nodes$on"
	run why 1206
	grep -qxF -- "$says" <<<"$output"
	grep -qxF '  the price offered for spot instances is too low for gpu-16 (SpotMaxPriceTooLow); SpotPrice of the compute resource limits it' <<<"$output"
	grep -qxF "  the account's quota leaves no instance for gpu-14 (VcpuLimitExceeded); AWS raises it in Service Quotas" <<<"$output"
	[[ $(grep -c 'no capacity' <<<"$output") == 1 ]]
	[[ $(why 1206 --json | jq -c '.not_launched') == '[{"nodes":"gpu-[13,15]","code":"InsufficientInstanceCapacity","kind":"capacity"},{"nodes":"gpu-16","code":"SpotMaxPriceTooLow","kind":"price"},{"nodes":"gpu-14","code":"VcpuLimitExceeded","kind":"quota"}]' ]]
	# a job that is no gang reads it too, one of another partition does not
	why 1207 | grep -qxF -- "$says"
	job_state=$(jq '(.jobs[] | select(.id == 1207)).partition = "debug"' state.json)
	printf '%s\n' "$job_state" >state.json
	[[ $(why 1207) != *'no capacity'* ]]
	# of several partitions any counts; and what runs again is not out
	jq '(.jobs[] | select(.id == 1207)).partition = "debug,gpu"' state.json >next.json && mv next.json state.json
	why 1207 | grep -qxF -- "$says"
	jq '(.nodes[] | select(.nodes == "gpu-15" or .nodes == "gpu-13")).state = "idle"' state.json >next.json && mv next.json state.json
	run why 1206
	[[ $output != *'no capacity'* && $output == *SpotMaxPriceTooLow* ]]
	# of what is in the way each has its own reason, too
	jq '(.nodes[] | select(.nodes == "gpu-[1-5]")).nodes = "gpu-[1-4]"' state.json >next.json && mv next.json state.json
	out gpu-5 "${ice}Failure when resuming nodes"
	run why 1206
	grep -qxF "  down: gpu-5 (${ice}Failure when resuming nodes)" <<<"$output"
	grep -qxF '  down: gpu-6 (GPU 3 <fell> off the bus)' <<<"$output"
}

@test "nodes that power down are in the way, and no heading stands alone" {
	job .
	jq '.nodes |= map(.state = "powering-down") | .jobs |= map(select(.id == 1206))' state.json >next.json && mv next.json state.json
	run why 1206
	[[ $output == *"
In the way on spine s1:
  powering-down: gpu-[1-"* ]] || { echo "$output"; false; }
	# completing, of a job that slurmctld shows no more: in use, by nobody to see
	jq '.nodes |= map(.state = "powering-up")' state.json >next.json && mv next.json state.json
	[[ $(why 1206) != *'In the way'* ]]
}

@test "what became of a launch in vain stays to be read while the gang may not begin again" {
	local word='launched in vain: its 4 nodes are on 2 spines; spine s1 has 3 of them'
	job ". + {reason: \"BeginTime\", restarts: 1, eligible_s: 1760007200, admin_comment: \"[onespine: gang=spine; $word]\"}"
	expect_line 0 "  $word" why 1206
	[[ $(why 1206 | head -2 | tail -1) == '  it was requeued, and may begin again at '* ]] || { why 1206; false; }
}

@test "a job that ended while it waited never ran, or not again" {
	# Slurm has the end as its start too
	job '. + {phase: "ended", state: "CANCELLED", start_s: 1760000000, end_s: 1760000000}'
	why 1206 | grep -qxF "  it never ran; it ended at 2025-10-09T08:53:20"
	why 1206 | grep -qF "  the scheduler's last word: waits: "
	[[ $(why 1206) != *"ran from"* ]]
	[[ $(why 1206 --json | jq -c 'has("starts")') == false ]]
	# it ran, was requeued and cancelled
	job '. + {phase: "ended", state: "CANCELLED", restarts: 1, start_s: 1760000000, end_s: 1760000000}'
	expect_line 0 '  it did not start again; it ended at 2025-10-09T08:53:20' why 1206
}

@test "what the scheduler wrote of another level or of an earlier start is not said, by map no more than by why" {
	# @TIME has passed, and one core will do
	job '. + {admin_comment: "[onespine: gang=spine@10:00; waits: 6 nodes on one spine; nearest: s1 has 2 free of 7 (4 short)]"}'
	[[ $(because) == "waits: 6 nodes on one core; nearest: c1 has 3 free of 13 (3 short)" ]]
	onespine map --state=state.json | grep -qxF "   1206 train-405b of dora, gang=spine@10:00, 6 nodes; waits: 6 nodes on one core; nearest: c1 has 3 free of 13 (3 short)"
	# at the top level: any nodes
	job '. + {admin_comment: "[onespine: gang=core@10:00; waits: 6 nodes on one core; nearest: c1 has 2 free of 13 (4 short)]"}'
	[[ $(because) == "waits: 6 nodes, and any will do by now" ]]
	onespine map --state=state.json | grep -qF "gang=core@10:00, 6 nodes; waits: 6 nodes, and any will do by now"
	# it ran, and was requeued
	job '. + {restarts: 1, whole_nodes: true, admin_comment: "[onespine: gang=spine; domain=s1; placed: 6 nodes on spine s1, 1 leaf]"}'
	[[ $(because) == "waits: 6 nodes on one spine; nearest: s1 has 2 free of 7 (4 short)" ]]
	onespine map --state=state.json | grep -qF "1206 train-405b of dora, gang=spine, 6 nodes; waits: 6 nodes on one spine; nearest: s1 has 2 free"
	job '. + {reason: "BeginTime", eligible_s: 1760000060, restarts: 1, admin_comment: "[onespine: gang=spine; placed: 6 nodes on spine s1, 1 leaf]"}'
	onespine map --state=state.json | grep -qF "6 nodes; it was requeued, and may begin again at 2025-10-09T08:54:20"
	[[ $(onespine map --state=state.json | grep "^   1206") != *placed* ]]
}

# components A B: the state in which job 1206 is a heterogeneous job of two components, changed so
components() {
	jq ".jobs |= (map(select(.id != 1206)) + [(.[] | select(.id == 1206)) + {job: \"1206+0\", node_count: 2, admin_comment: null} + $1,
		(.[] | select(.id == 1206)) + {id: 1299, job: \"1206+1\", node_count: 2, admin_comment: null} + $2]
		| map(with_entries(select(.value != null))))" "$MAP/small.json" >state.json
}

# said COMPONENT: the sentence about it
said() {
	local one
	one=$(why "1206+$1" --json | jq -r '"\(.waits_for): \(.because)"')
	[[ $(why --json | jq -r ".[] | select(.job == \"1206+$1\") | \"\(.waits_for): \(.because)\"") == "$one" ]] || echo "why says otherwise"
	printf '%s\n' "$one"
}

SPLITS='the 2 components in partition gpu are held to one spine together, and no spine has room for all of them now'

@test "a component that could start waits for another, and no component is said to be Slurm's alone" {
	((EUID == 0)) || skip "as root, who sees everyone's jobs"
	components '{reason: "Resources"}' "{reason: \"Resources\", admin_comment: \"[onespine: gang=spine; waits: $SPLITS]\"}"
	[[ $(said 0) == "nodes: it starts together with 1206+1, which waits: $SPLITS" ]]
	[[ $(said 1) == "nodes: waits: $SPLITS" ]]
	[[ $(why 1206+0) != *'no gang: Onespine has no part in why it waits'* ]]
	why 1206+0 | grep -qxF '  no gang alone: the components of its heterogeneous job count together'
	# one that Slurm could not start beside the other
	components '{reason: "Resources"}' "{reason: \"ReqNodeNotAvail, May be reserved for other job\", admin_comment: \"[onespine: gang=spine; waits: $SPLITS]\"}"
	[[ $(said 1) == "nodes: waits: $SPLITS" ]]
	# one that waits for something else
	components '{reason: "Priority"}' '{reason: "JobHeldUser"}'
	[[ $(said 0) == "hold: it starts together with 1206+1: it is held by its owner; 'scontrol release 1206+1' ends that" ]]
	why 1206+0 | grep -qxF '  no gang: Onespine has no part in why it waits'
	# a cause of its own comes first
	components '{reason: "Dependency", dependency: "afterok:1"}' '{reason: "JobHeldUser"}'
	[[ $(said 0) == "dependency: it depends on other jobs (afterok:1)" ]]
	components '{reason: "Resources"}' '{reason: "Resources"}'
	[[ $(said 0) == "nodes: null" ]]
}

@test "components that Slurm put back, since one did not start, were not told --begin" {
	((EUID == 0)) || skip "as root, who sees everyone's jobs"
	components '{reason: "BeginTime", submit_s: 1759999000, evaluated_s: 1759999999, eligible_s: 1760000120}' \
		'{reason: "ReqNodeNotAvail, May be reserved for other job", submit_s: 1759999000, evaluated_s: 1759999999, eligible_s: 1759999000}'
	[[ $(said 0) == "begin: Slurm put it back, since another component did not start, and may begin it again at 2025-10-09T08:55:20" ]]
	[[ $(said 1) == "begin: it starts together with 1206+0: Slurm put it back, since another component did not start, and may begin it again at 2025-10-09T08:55:20" ]]
	# a user's own --begin: Slurm has not looked at it since it was submitted
	components '{reason: "BeginTime", submit_s: 1759999000, evaluated_s: 1759999000, eligible_s: 1760000120}' \
		'{reason: "BeginTime", submit_s: 1759999000, evaluated_s: 1759999000, eligible_s: 1760000120}'
	[[ $(said 0) == "begin: it begins at 2025-10-09T08:55:20 at the earliest (--begin)" ]]
	# nodes of -w are a cause of its own
	components '{reason: "BeginTime", submit_s: 1759999000, evaluated_s: 1759999000, eligible_s: 1760000120}' '{reason: "ReqNodeNotAvail", required_nodes: "gpu-6"}'
	[[ $(said 1) == "required nodes: nodes that it needs (-w gpu-6) are down, drained or reserved for others" ]]
}

@test "after its @TIME a gang in several domains may lie in one zone" {
	((EUID == 0)) || skip "as root, who sees everyone's jobs"
	job '. + {admin_comment: "[onespine: gang=spine@10:00 domains=2; waits: 6 nodes on at most 2 spines]"}'
	why 1206 | grep -qxF '  it has waited so long that 2 cores will do'
	sed -i 's/"core"/"zone"/' state.json
	why 1206 | grep -qxF '  it has waited so long that one zone will do'
}
