#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# fit on files: the topology with a list of idle nodes, and saved states

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	write_conf topology.conf
}

fit() {
	onespine fit --topology=topology.conf "$@"
}

@test "three free under each spine: a gang of 4 does not start, and one of 3 does" {
	expect 1 "no: waits: 4 nodes on one spine; nearest: s1 has 3 free of 8 (1 short)
  spine  usable  free  short by  enough from
  s1          8     3         1  no end known
  s2          8     3         1  no end known" fit --free='n[1-3,9-11]' -N 4
	expect 0 "would start now: 3 nodes on spine s1
  leaf l1: 3 nodes  n[1-3]" fit --free='n[1-3,9-11]' -N 3
}

@test "the tightest spine, the fewest leaves" {
	expect 0 "would start now: 4 nodes on spine s2
  leaf l3: 4 nodes  n[9-12]" fit --free='n[1-8,9-12]' -N 4
}

@test "one node is no plural" {
	expect_line 0 'would start now: 1 node on spine s1' fit --free='n[1-3,9-11]' -N 1
	expect_line 0 'would start now: 1 node on 1 spine in segments leaf:1' fit --free=n1 -N 1 --gang-segment=leaf:1
	expect_line 1 'no: waits: 1 node on one spine in segments leaf:1; 1 whole segment of 1 node needed, 0 free' \
		fit --free= -N 1 --gang-segment=leaf:1
	jq '(.jobs[] | select(.phase == "pending")).node_count = 1' "$MAP/small.json" >one.json
	[[ $(onespine map --state=one.json) == *'gang=spine@2:00:00, 1 node; '* ]]
	echo 'SwitchName=l1 Nodes=n1' >one.conf
	expect_line 0 '1 node: 1 leaf of 1' onespine topology show one.conf
	expect_line 0 '# 1 node' onespine topology import --from=slurm --to=topology.conf one.conf
}

@test "a range takes as many as it can" {
	expect_line 0 "would start now: 6 nodes on spine s2" fit --free='n[1-4,9-14]' -N 4-8
}

@test "another level, required and excluded nodes" {
	expect_line 0 "would start now: 2 nodes on leaf l2" fit --free='n[1,5-6]' -N 2 --gang=leaf
	expect_line 0 "would start now: 2 nodes on spine s2" fit --free='n[1-8,9-10]' -N 2 -w n9
	expect_line 1 "no: waits: 2 nodes on one spine; nearest: s1 has 1 free of 7 (1 short)" \
		fit --free='n[1-2]' -N 2 -x n2
	run fit --free='n[1-16]' -N 2 -w 'n[1,9]'
	[[ $status == 1 ]]
	[[ ${lines[0]} == "no: waits: 2 nodes on one spine; no spine has all the nodes that the job requires" ]]
}

@test "a node of -w is drained: the words of why" {
	jq '.jobs = [] | .nodes = [{nodes: "gpu-[1-5,7-16]", state: "idle"}, {nodes: "gpu-6", state: "drained"}]' \
		"$MAP/small.json" >drained.json
	expect_line 1 'no: nodes that it needs (-w gpu-6) are down, drained or reserved for others' \
		onespine fit --state=drained.json -N 2 -w gpu-6
	expect_line 0 'would start now: 2 nodes on spine s1' onespine fit --state=drained.json -N 2 -w gpu-5
	expect_line 1 'no: waits: 2 nodes on one spine; no spine has all the nodes that the job requires' \
		onespine fit --state=drained.json -N 2 -w 'gpu-[1,16]'
}

@test "too large for any" {
	expect_line 1 "no: waits: 9 nodes on one spine; none has 9 usable: the largest, s1, has 8 (drained, reserved, excluded or too small nodes do not count)" \
		fit --free='n[1-16]' -N 9
}

@test "a time that cannot be read, or that overflows in sbatch, is refused" {
	for time in abc 99999999999-00 3654-0 3654- - -5 1-- 1: ''; do
		expect 2 "onespine: --time=$time: a time is expected (minutes, minutes:seconds, hours:minutes:seconds, days-hours[:minutes[:seconds]], at most 10 years)" \
			fit --free='n[1-3]' -N 2 "--time=$time"
	done
}

@test "--json" {
	fit --free='n[1-3,9-11]' -N 3 --json >yes
	fit --free='n[1-3,9-11]' -N 4 --json >no || [[ $? == 1 ]]
	expect 0 '[true,"spine","s1","n[1-3]",[{"leaf":"l1","count":3,"nodes":"n[1-3]"}]]' \
		jq -c '[.starts_now, .level, .domain, .nodes, .leaves]' yes
	expect 0 '[false,[1,1]]' jq -c '[.starts_now, [.domains[].short_by]]' no
}

@test "on a saved state: down, drained and reserved nodes are not usable, powered-down ones must boot" {
	expect 1 "no: waits: 4 nodes on one spine; nearest: s1 has 2 free of 7 (2 short)
  spine  usable  free  short by  enough from
  s1          7     2         2  2025-10-09T11:58:20
  s2          6     1         3  no end known" onespine fit --state="$MAP/small.json" -N 4
	expect_line 0 "  1 of them must be powered up first" onespine fit --state="$MAP/small.json" -N 1 -w gpu-15
}

@test "kinds of nodes do not mix, and each is counted apart" {
	jq '.jobs = [] | .nodes = [{nodes: "gpu-[1-6]", state: "idle", kind: "gpu:h100"},
		{nodes: "gpu-[7-14]", state: "idle", kind: "gpu:a100"},
		{nodes: "gpu-[15-16]", state: "down", kind: "gpu:a100"}]' "$MAP/small.json" >kinds.json
	expect_line 0 "would start now: 6 nodes on spine s2" onespine fit --state=kinds.json -N 6 -x gpu-1
	expect 1 "no: waits: 7 nodes on one spine; none has 7 usable: the largest, s1, has 6 of one node type (drained, reserved, excluded or too small nodes do not count)
  spine  usable  free  short by  enough from
  s1          6     6         1  too few usable nodes  gpu:h100
  s2          6     6         1  too few usable nodes  gpu:a100
  s1          2     2         5  too few usable nodes  gpu:a100" onespine fit --state=kinds.json -N 7
}

@test "features count in a saved state; what only slurmctld can judge is not guessed" {
	jq '(.nodes[] | select(.nodes == "gpu-[7-8]")).features = "h100,new"' "$MAP/small.json" >features.json
	expect_line 0 "would start now: 2 nodes on spine s1" onespine fit --state=features.json -N 2 -C new
	expect_line 1 "no: waits: 3 nodes on one spine; none has 3 usable with feature new: the largest, s1, has 2 (drained, reserved, excluded or too small nodes do not count)" \
		onespine fit --state=features.json -N 3 -C new
	expect 2 "onespine: --gres is judged by slurmctld, which is asked where gangs are enforced, and without --state, --topology and --free" \
		onespine fit --state=features.json -N 2 --gres=gpu:8
	expect 2 "onespine: --ntasks is judged by slurmctld, which is asked where gangs are enforced, and without --state, --topology and --free" \
		onespine fit --state=features.json -n 2
}

@test "the spine that slurmctld takes: what is left of it is weighed by the largest gang" {
	jq '.jobs = [] | .nodes = [{nodes: "gpu-[1-5]", state: "idle", weight: 1}, {nodes: "gpu-[6-8]", state: "busy", weight: 1},
		{nodes: "gpu-[9-16]", state: "idle", weight: 1}]' "$MAP/small.json" >idle.json
	# 1 node left of s1 is short by more than 4 of s2 are
	expect_line 0 "would start now: 4 nodes on spine s2" onespine fit --state=idle.json -N 4
	# to a gang of 8 neither rest is of use
	jq '.jobs = [{id: 7, job: "7", phase: "pending", state: "PENDING", node_count: 8, admin_comment: "[onespine: gang=spine]"}]' \
		idle.json >large.json
	expect_line 0 "would start now: 4 nodes on spine s1" onespine fit --state=large.json -N 4
}

@test "jobs that wait for its partition's nodes or their turn are counted, in whatever partition, others are not" {
	local waits='phase: "pending", state: "PENDING", node_count: 8'
	local first="for its partition's nodes: those of a higher priority or PriorityTier come first, unless backfill finds it room before them"
	jq ".nodes = [{nodes: \"gpu-[1-17]\", state: \"idle\"}] |
		.partitions = [{name: \"gpu\", nodes: \"gpu-[1-16]\", default: true, up: true}, {name: \"high\", nodes: \"gpu-[16-17]\", up: true},
			{name: \"cpu\", nodes: \"gpu-17\", up: true}] |
		.jobs = [{id: 1, job: \"1\", $waits, partition: \"gpu\", reason: \"Resources\"},
			{id: 2, job: \"2\", $waits, partition: \"cpu,gpu\", reason: \"Priority\"},
			{id: 3, job: \"3\", $waits, partition: \"cpu\", reason: \"Priority\"},
			{id: 4, job: \"4\", $waits, partition: \"gpu\", reason: \"JobHeldUser\"},
			{id: 5, job: \"5\", $waits, partition: \"gpu\", reason: \"Dependency\"},
			{id: 6, job: \"6\", $waits, partition: \"high\", reason: \"Resources\"}]" "$MAP/small.json" >waits.json
	for asked in '-N 2' '-N 4 --gang-segment=leaf:2'; do
		run onespine fit --state=waits.json -p gpu $asked
		[[ ${lines[0]} == 'would start now: '* ]]
		[ "${lines[-1]}" = "  3 jobs wait $first" ]
		[ "$(onespine fit --state=waits.json -p gpu $asked --json | jq .jobs_waiting)" = 3 ]
	done
	jq '.jobs |= map(select(.id == 6))' waits.json >one.json
	run onespine fit --state=one.json -p gpu -N 2
	[ "${lines[-1]}" = "  1 job waits $first" ]
	# an array's tasks each, a heterogeneous job once
	jq '.jobs |= map(select(.id == 1) | ., . + {id: 8, job: "8_[0-49%5]", tasks: 50}, . + {id: 9, job: "9+0"}, . + {id: 10, job: "9+1"},
		. + {id: 11, job: "11+0"})' waits.json >many.json
	run onespine fit --state=many.json -p gpu -N 2
	[ "${lines[-1]}" = "  53 jobs wait $first" ]
	expect 0 50 eval "onespine map --state=many.json --json | jq '.jobs[1].tasks'"
	jq '.jobs = []' waits.json >none.json
	run onespine fit --state=none.json -p gpu -N 2
	[[ $output == 'would start now: '* && $output != *waits* && $output != *"partition's nodes"* ]]
	[ "$(onespine fit --state=none.json -p gpu -N 2 --json | jq .jobs_waiting)" = 0 ]
}

@test "PrivateData=jobs: no word about waiting jobs does not mean that none wait" {
	local hidden="  PrivateData=jobs: others' jobs that wait are counted only if you are an operator, and may come first, too"
	jq '.jobs = [] | .nodes = [{nodes: "gpu-[1-16]", state: "idle"}] | .hides_jobs = true' "$MAP/small.json" >private.json
	for asked in '-N 2' '-N 4 --gang-segment=leaf:2'; do
		# shellcheck disable=SC2086 # two options
		expect_line 0 "$hidden" onespine fit --state=private.json $asked
		# shellcheck disable=SC2086
		expect 0 '[true,null]' eval "onespine fit --state=private.json $asked --json | jq -c '[has(\"jobs_waiting\"), .jobs_waiting]'"
	done
	# the saved state says it too
	expect 0 true eval 'onespine map --state=private.json --json | jq .hides_jobs'
}

@test "several partitions: the first that has room, never nodes of two; the first one's answer if none has" {
	jq '.jobs = [] | .nodes = [{nodes: "gpu-[1-3]", state: "idle"}, {nodes: "gpu-4", state: "busy"}, {nodes: "gpu-[5-16]", state: "idle"}] |
		.partitions = [{name: "a", nodes: "gpu-[1-4]", default: true, up: true}, {name: "b", nodes: "gpu-[5-8]", up: true},
			{name: "off", nodes: "gpu-[9-16]", up: false}]' "$MAP/small.json" >lists.json
	asks() {
		onespine fit --state=lists.json "$@"
	}
	expect 0 'would start now: 4 nodes on spine s1
  in partition b
  leaf l2: 4 nodes  gpu-[5-8]' asks -p off,a,b -N 4
	expect_line 0 '  in partition a' asks -p a,b -N 3
	# s1 has 7 free, of two partitions
	expect_line 1 'no: waits: 5 nodes on one spine; none has 5 usable: the largest, s1, has 4 (drained, reserved, excluded or too small nodes do not count)' \
		asks -p a,b -N 5
	expect_line 1 '  in partition a; the others have no room now either' asks -p a,b -N 5
	expect_line 0 '  in partition b' asks -p a,b -N 4 --gang-segment=leaf:4
	expect 0 '"b"' eval 'asks -p a,b -N 4 --json | jq .partition'
	expect 0 '"b"' eval 'asks -p a,b -N 4 --gang-segment=leaf:4 --json | jq .partition'
	[[ $(asks -p b -N 4) != *'in partition'* && $(asks -p b -N 4 --json | jq .partition) == null ]]
	expect 2 "onespine: there is no partition 'aa'" asks -p b,aa -N 4
	expect 2 "onespine: there is no partition ''" asks -p b, -N 4
}

@test "what cannot be asked: status 2" {
	expect 2 "onespine: onespine fit needs -N COUNT, the size of the gang" fit --free=n1
	expect 2 "onespine: onespine fit: ':' is one argument too many: it takes 0" fit --free=n1 -N 2 : -N 2
	expect 2 "onespine: onespine fit: --gang takes its value after '=': type --gang=leaf" fit --free=n1 -N 2 --gang leaf
	expect 2 "onespine: onespine fit: --gang takes its value after '=': type --gang=leaf" fit --gang leaf --free=n1 -N 2
	expect 2 "onespine: onespine fit: 'leaf' is one argument too many: it takes 0" fit --free=n1 -N 2 --gang=leaf leaf
	expect 2 "onespine: -N 0: a number of nodes, or LEAST-MOST, from 1 to 131072" fit --free=n1 -N 0
	expect 2 "onespine: -N 8-4: a number of nodes, or LEAST-MOST, from 1 to 131072" fit --free=n1 -N 8-4
	expect 2 "onespine: -N 3x: a number of nodes, or LEAST-MOST, from 1 to 131072" fit --free=n1 -N 3x
	expect 2 "onespine: there is no level 'spin' in this fabric; did you mean spine? (leaf, spine)" \
		fit --free=n1 -N 2 --gang=spin
	expect 2 "onespine: --gang=off is no gang: there is nothing to place" fit --free=n1 -N 2 --gang=off
	expect 2 "onespine: --free: there is no node n99" fit --free=n99 -N 2
	expect 2 "onespine: required nodes: there is no node n99" fit --free=n1 -N 2 -w n99
	expect 2 "onespine: --free goes with --topology, and not with --state" onespine fit --free=n1 -N 2
}

@test "in segments and over several spines: where, or how many whole segments are missing" {
	local free='n[1-3,5-8,9-11,13-15]' got

	expect 0 "would start now: 6 nodes on 1 spine in segments leaf:3
  segments leaf:3 leave 1 of 4 nodes in each full leaf to others
  leaf l3: 3 nodes  n[9-11]
  leaf l4: 3 nodes  n[13-15]" fit --free="$free" -N 6 --gang-segment=leaf:3
	expect 0 "would start now: 11 nodes on 2 spines in segments leaf:3
  segments leaf:3 leave 1 of 4 nodes in each full leaf to others; the last segment of leaf:3 has 2 nodes
  leaf l1: 2 nodes  n[1-2]
  leaf l2: 3 nodes  n[5-7]
  leaf l3: 3 nodes  n[9-11]
  leaf l4: 3 nodes  n[13-15]" fit --free="$free" -N 11 --gang-domains=2 --gang-segment=leaf:3
	expect 1 "no: waits: 10 nodes on one spine in segments leaf:3; 3 whole segments of 3 nodes needed beside the smaller last one, 2 free, and not even with all usable nodes free
  segments leaf:3 leave 1 of 4 nodes in each full leaf to others; the last segment of leaf:3 has 1 node
  spine                whole segments free (fewer where the smaller last one lies)
  s1                   2
  s2                   2" fit --free="$free" -N 10 --gang-segment=leaf:3
	expect 1 "no: waits: 7 nodes on one spine in segments leaf:3; 2 whole segments of 3 nodes needed beside the smaller last one, 1 free
  segments leaf:3 leave 1 of 4 nodes in each full leaf to others; the last segment of leaf:3 has 1 node
  spine                whole segments free (fewer where the smaller last one lies)
  s1                   2
  s2                   0" fit --free='n[1-3,5-7]' -N 7 --gang-segment=leaf:3
	expect 1 "no: waits: 14 nodes on at most 2 spines; 14 nodes needed, 13 free
  spine                nodes free
  s1                   7
  s2                   6" fit --free="$free" -N 14 --gang-domains=2
	expect_line 1 "no: waits: 3 nodes on one spine in segments leaf:4; no spine has room for the smaller last segment of 3 nodes" \
		fit --free='n[1-2,5-6]' -N 3 --gang-segment=leaf:4
	# of a layout the segments are worked out
	expect 0 "would start now: 6 nodes on 1 spine in segments leaf:3
  segments leaf:3 leave 1 of 4 nodes in each full leaf to others
  leaf l3: 3 nodes  n[9-11]
  leaf l4: 3 nodes  n[13-15]" fit --free="$free" -N 6 --gang-layout=tp8,pp3 --gang-keep=pp:leaf
	expect_line 0 "would start now: 6 nodes on 1 spine in segments leaf:2" \
		fit --free="$free" -N 6 --gang-layout=tp8 --gpus-per-node=4
	expect_line 0 "would start now: 6 nodes on 1 spine in segments leaf:2" \
		fit --free="$free" -N 6 --gang-layout=tp8 --gpus-per-node=h100:4
	expect 2 "onespine: --gang-keep names groups of a layout: say --gang-layout too, as in --gang-layout=tp8,pp8" \
		fit --free="$free" -N 6 --gang-keep=pp:leaf
	expect 2 "onespine: --gang-keep=pp:leaf: pp groups take 6 nodes in a row, and the largest leaf has 4; no level below the gang's, spine, holds so many: leave pp:leaf out" \
		fit --free="$free" -N 6 --gang-layout=tp8,pp6 --gang-keep=pp:leaf
	expect 2 "onespine: --gang-layout: tp8,pp3,dp3 is 72 GPUs, but 6 nodes of 8 GPUs have 48; with dp2 it fits" \
		fit --free="$free" -N 6 --gang-layout=tp8,pp3,dp3
	expect 2 "onespine: --gang-layout makes segments itself: leave out --gang-segment" \
		fit --free="$free" -N 6 --gang-layout=tp8,pp3 --gang-segment=leaf:3
	# with spares in each segment
	expect 0 "would start now: 6 nodes on 1 spine in segments leaf:3
  segments leaf:3 leave 1 of 4 nodes in each full leaf to others
  leaf l3: 3 nodes  n[9-11]
  leaf l4: 3 nodes  n[13-15]" fit --free="$free" -N 4 --gang-segment=leaf:2 --gang-spares=1/segment
	expect 0 "would start now: 6 nodes on 1 spine in segments leaf:3
  segments leaf:3 leave 1 of 4 nodes in each full leaf to others
  leaf l3: 3 nodes  n[9-11]
  leaf l4: 3 nodes  n[13-15]" fit --free="$free" -N 4 --gang-layout=tp8,pp2 --gang-keep=pp:leaf --gang-spares=1/segment
	expect_line 1 "no: waits: 8 nodes on one spine in segments leaf:4; 2 whole segments of 4 nodes needed, 1 free" \
		fit --free="$free" -N 4 --gang-segment=leaf:2 --gang-spares=2/segment
	fit --free="$free" -N 4 --gang-layout=tp8,pp2 --gang-keep=pp:leaf --gang-spares=1/segment --json >spares.json
	[[ $(jq -c '[.starts_now, .need, .segments]' spares.json) == '[true,6,"leaf:3"]' ]]
	# a layout that makes no segments has spares of the job
	expect_line 0 "would start now: 5 nodes on spine s2" fit --free="$free" -N 4 --gang=spine --gang-layout=tp8,dp4 --gang-spares=1
	expect 2 "onespine: --gang-spares=1/segment are spares in each segment, and --gang-layout makes none here: say --gang-spares=1" \
		fit --free="$free" -N 4 --gang-layout=tp8,dp4 --gang-spares=1/segment
	expect 2 "onespine: --gang-spares=1 would be released out of a segment: say --gang-spares=K/segment, for K spare nodes in each segment's domain" \
		fit --free="$free" -N 4 --gang-layout=tp8,pp2 --gang-keep=pp:leaf --gang-spares=1
	expect 2 "onespine: --gang-spares=3/segment: the layout makes segments of 2 nodes in one leaf, with their spares 5, and the largest leaf has 4; ask for fewer spares, or keep smaller groups together" \
		fit --free="$free" -N 4 --gang-layout=tp8,pp2 --gang-keep=pp:leaf --gang-spares=3/segment
	expect 2 "onespine: --gang-spares=1/seg: a number of spare nodes from 0 to 16383, or K/segment for K in each segment" \
		fit --free="$free" -N 4 --gang-segment=leaf:2 --gang-spares=1/seg
	expect_line 0 "would start now: 5 nodes on spine s2" fit --free="$free" -N 4 --gang=spine --gang-spares=1
	expect 2 "onespine: --gang-spares=1/segment are spares in each segment: give --gang-segment too, as in --gang-segment=leaf:16" \
		fit --free="$free" -N 4 --gang-spares=1/segment
	fit --free="$free" -N 10 --gang-domains=2 --json >two.json
	[[ $(jq -c '[.starts_now, .domains, .nodes, .could_ever]' two.json) == '[true,2,"n[1-3,5-6,9-11,13-14]",true]' ]]
	got=0
	fit --free="$free" -N 14 --gang-domains=2 --json >none.json || got=$?
	((got == 1))
	[[ $(jq -c '[.starts_now, .whole_needed, .whole_free]' none.json) == '[false,14,13]' ]]
}

@test "segments of one kind of nodes" {
	jq '.jobs = [] | .nodes = [{nodes: "gpu-[1-6]", state: "idle", kind: "gpu:h100"},
		{nodes: "gpu-[7-16]", state: "idle", kind: "gpu:a100"}]' "$MAP/small.json" >kinds.json
	# with kinds mixed there would be four
	expect_line 1 "no: waits: 12 nodes on at most 2 spines in segments leaf:4; 3 whole segments of 4 nodes needed, 2 free, and not even with all usable nodes free" \
		onespine fit --state=kinds.json -N 12 --gang-segment=leaf:4 --gang-domains=2
	expect_line 0 "would start now: 8 nodes on 1 spine in segments leaf:4" \
		onespine fit --state=kinds.json -N 8 --gang-segment=leaf:4 --gang-domains=2
}

@test "segments that cannot be asked" {
	expect 2 "onespine: --gang-segment, column 1: no level is called laef; did you mean leaf" \
		fit --free=n1 -N 2 --gang-segment=laef:2
	expect 2 "onespine: --gang-segment: leaf:5: the largest leaf has 4 nodes; say at most leaf:4" fit --free=n1 -N 5 --gang-segment=leaf:5
	expect 2 "onespine: --gang-domains=0: a whole number from 1 to 131072" fit --free=n1 -N 2 --gang-domains=0
	expect 2 "onespine: -N 2-4: segments and several domains take an exact number of nodes" \
		fit --free=n1 -N 2-4 --gang-domains=2
	expect 2 "onespine: -w goes with none of --gang-domains, --gang-segment and --gang-layout" \
		fit --free=n1 -N 2 -w n1 --gang-domains=2
}

@test "a table is as wide as the longest name in it" {
	onespine topology import --from=slurm topology.conf |
		sed 's/"spine"/"availability-zone-number"/; s/"s\([12]\)"/"a-spine-of-the-second-hall-\1"/g' >long
	expect_line 1 "  availability-zone-number     nodes free" onespine fit --topology=long --gang=availability-zone-number --free='n[1-7]' -N 16 --gang-domains=2
	expect_line 1 "  a-spine-of-the-second-hall-1 7" onespine fit --topology=long --gang=availability-zone-number --free='n[1-7]' -N 16 --gang-domains=2
	expect_line 0 "  group        members  groups apart  held by                      node     leaf availability-zone-number" \
		onespine layout -N 16 --layout=tp8,pp4 --topology=long
	expect_line 0 "  pp                 4      32     4  nothing                         4        4                        2" \
		onespine layout -N 16 --layout=tp8,pp4 --topology=long
	# each rule of the doctor has its words in one column
	onespine doctor --list >list
	[[ $(awk '{ match($0, / +/); print RLENGTH + RSTART }' list | sort -u | wc -l) == 1 ]] || { cat list; false; }
}

# --- beside a slurmctld that is not there -----------------------------------------------------------

# slurm LINE...: the state of the cluster (tests/fake/cluster.c): n1 - n16 of 8 processors, 4 GPUs and 1000 MiB
slurm() {
	local n taken
	printf 'topology: %s\n' "$PWD/topology.conf" >onespine.yaml
	: >slurm.conf
	for ((n = 1; n <= 16; n++)); do
		taken=${TAKEN[$n]:-0}
		printf 'node n%d 8 4 1000 %d\n' "$n" "$taken"
	done >cluster
	printf '%s\n' "$@" >>cluster
}

# beside_slurm SECONDS NODES OPTION...: fit, where sbatch --test-only says that the gang starts on the nodes in so many
# seconds
beside_slurm() {
	local later_s=$1 nodes=$2
	shift 2
	mkdir -p bin
	cat >bin/sbatch <<-END
		#!/bin/sh
		echo "sbatch: Job 12 to start at \$(date -d "$later_s seconds" +%FT%T) using 4 processors on nodes $nodes in partition gpu" >&2
	END
	chmod +x bin/sbatch
	PATH=$PWD/bin:$PATH SLURM_CONF=$PWD/slurm.conf ONESPINE_FAKE_CLUSTER=$PWD/cluster \
		LD_PRELOAD=${ONESPINE%/*}/tests/fake/.libs/libcluster.so ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 \
		"$ONESPINE" fit "$@"
}

needs_fake_slurm() {
	[[ -e ${ONESPINE%/*}/tests/fake/.libs/libcluster.so ]] || skip 'without Slurm'
	((EUID == 0)) || skip 'needs root, whose the topology must be'
}

# beside_refusal WORDS OPTION...: fit, where sbatch --test-only says so and refuses the job
beside_refusal() {
	local words=$1
	mkdir -p stub
	printf '#!/bin/sh\necho "allocation failure: %s" >&2\nexit 1\n' "$words" >stub/sbatch
	chmod +x stub/sbatch
	PATH=$PWD/stub:$PATH SLURM_CONF=$PWD/slurm.conf ONESPINE_FAKE_CLUSTER=$PWD/cluster \
		LD_PRELOAD=${ONESPINE%/*}/tests/fake/.libs/libcluster.so ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 \
		"$ONESPINE" fit "${@:2}"
}

@test "limits of a QOS or an account that refuse a job: said in Slurm's words with what to look at, however much is free" {
	needs_fake_slurm
	slurm
	local policy="Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"
	expect 1 "no: sbatch refuses it: $policy
  a limit of your account or QOS refuses it; 'sacctmgr show qos' and 'sacctmgr show assoc user=\$USER' have them" \
		beside_refusal "$policy" -N 4 -q small -A team
	expect 1 "no: sbatch refuses it: Invalid qos specification
  'sacctmgr show assoc user=\$USER format=account,qos' lists yours" beside_refusal 'Invalid qos specification' -N 4 -q smal
}

@test "nodes that are powering up or down, which sbatch --test-only leaves out: no refusal; they may start the gang, or it waits" {
	needs_fake_slurm
	local words='Requested node configuration is not available' way
	for way in up going-down; do
		slurm "$(for ((n = 1; n <= 16; n++)); do echo "power n$n $way"; done)"
		[[ $way != up ]] ||
			expect_line 0 'would start now: 4 nodes on spine s1' beside_refusal "$words" -N 4 --exclusive
		[[ $way == up ]] ||
			expect_line 1 'no: waits: 4 nodes on one spine; nearest: s1 has 0 free of 8 (4 short)' \
				beside_refusal "$words" -N 4 --exclusive
		# what none of them has is refused all the same
		expect_line 1 "no: sbatch refuses it: $words" beside_refusal "$words" -N 4 --gres gpu:9
		expect_line 1 "no: sbatch refuses it: $words" beside_refusal "$words" -N 4 -c 9
	done
	# CONFIGURING: another job waits for them
	slurm 'job 7 n1,n2,n3,n4,n5,n6,n7,n8 8 4' 'job 8 n9,n10,n11,n12,n13,n14,n15,n16 8 4' \
		"$(for ((n = 1; n <= 16; n++)); do echo "power n$n up"; done)"
	expect_line 1 'no: waits: 4 nodes on one spine; nearest: s1 has 0 free of 8 (4 short)' \
		beside_refusal "$words" -N 4 --exclusive
	# three are up beside five: enough for a gang of 3, so that its refusal is one
	slurm "$(for ((n = 4; n <= 16; n++)); do echo "power n$n up"; done)"
	expect_line 1 "no: sbatch refuses it: $words" beside_refusal "$words" -N 3 --exclusive
}

@test "more processors than the partition has: sbatch lets the job wait, and fit says for what" {
	needs_fake_slurm
	slurm
	expect_line 1 "no: its partition gpu takes no such job as it is set now; 'scontrol show partition' has what it takes" \
		beside_refusal 'Requested node configuration is not available' -N 2 -c 1000 -p gpu
	expect_line 1 "no: its partition gpu takes no such job as it is set now; 'scontrol show partition' has what it takes" \
		beside_refusal 'Requested node configuration is not available' -N 2 -n 129 -p gpu
	expect_line 1 'no: sbatch refuses it: Requested node configuration is not available' \
		beside_refusal 'Requested node configuration is not available' -N 2 -n 128 -p gpu
}

@test "jobs that wait add whole minutes to Slurm's start: a gang beside a running job, which leaves it enough, starts now" {
	needs_fake_slurm
	slurm 'job 7 n1,n2,n3,n4,n5,n6,n7,n8 4 2' 'job 8 n9,n10,n11,n12,n13,n14,n15,n16 8 4'
	expect_line 0 'would start now: 4 nodes on spine s1' beside_slurm 7200 'n[1-4]' -N 4 --gres gpu:1 -t 30
	# and Slurm's start, with the time of those that come first, is said; one that is now is not
	local expected
	expected=$(beside_slurm 7200 'n[1-4]' -N 4 --gres gpu:1 -t 30 |
		sed -n 's/^  Slurm expects it at \(.*\), behind jobs that wait and come first$/\1/p')
	[[ -n $expected ]]
	((expected = $(date -d "$expected" +%s) - $(date +%s), expected > 7000 && expected <= 7200))
	[[ $(beside_slurm 7200 'n[1-4]' -N 4 --gres gpu:1 -t 30 --json | jq -c '[.starts_now, (.starts | type)]') == '[true,"string"]' ]]
	[[ $(beside_slurm 0 'n[1-4]' -N 4 --gres gpu:1 -t 30) != *expects* ]]
	# nor one behind a job without a time limit, which Slurm ends after a year
	[[ $(beside_slurm $((365 * 24 * 3600)) 'n[1-4]' -N 4 --gres gpu:1 -t 30) != *expects* ]]
	# a time of days alone is taken as sbatch takes it, and said
	expect_line 0 'onespine: warning: --time=1-: sbatch takes this for 1 day' beside_slurm 0 'n[1-4]' -N 4 --gres gpu:1 -t 1-
	expect_line 0 'onespine: warning: --time=03-: sbatch takes this for 03 days' beside_slurm 0 'n[1-4]' -N 4 --gres gpu:1 --time=03-
	beside_slurm 0 'n[1-4]' -N 4 --gres gpu:1 -t 1- >days 2>/dev/null
	beside_slurm 0 'n[1-4]' -N 4 --gres gpu:1 -t 1-0 >days-and-hours 2>/dev/null
	diff days days-and-hours
	# the running job's end is no whole number of minutes away
	expect_line 1 'no: waits: one spine has 8 nodes free, but Slurm cannot start the job there now (memory, cores, GPUs, licenses, a limit or TopologyPlugin)' \
		beside_slurm 7230 'n[1-4]' -N 4 --gres gpu:1 -t 30
	# it leaves too little, or the gang may not share
	expect_line 1 'no: waits: 4 nodes on one spine; nearest: s1 has 0 free of 8 (4 short)' \
		beside_slurm 7200 'n[1-4]' -N 4 --gres gpu:3 -t 30
	expect_line 1 'no: waits: 4 nodes on one spine; nearest: s1 has 0 free of 8 (4 short)' \
		beside_slurm 7200 'n[1-4]' -N 4 --exclusive -t 30
	expect_line 1 'no: it begins at now+2hours at the earliest (--begin)' \
		beside_slurm 7200 'n[1-4]' -N 4 --gres gpu:1 --begin=now+2hours
}

@test "GPUs that are asked for in all may lie on the nodes in any shares, and are counted in all" {
	needs_fake_slurm
	local full='n5,n6,n7,n8,n9,n10,n11,n12,n13,n14,n15,n16'
	slurm 'job 7 n1 4 3' 'job 8 n2,n3,n4 4 1' "job 9 $full 8 4"
	expect_line 0 'would start now: 4 nodes on spine s1' beside_slurm 7200 'n[1-4]' -N 4 --gpus=10 -t 30
	expect_line 0 'would start now: 4 nodes on spine s1' beside_slurm 7200 'n[1-4]' -N 3-4 -G 10 -t 30
	expect_line 1 'no: waits: 12 GPUs on 4 nodes of one spine; nearest: 4 nodes of s1 have at most 10 left (2 short)' \
		beside_slurm 7200 'n[1-4]' -N 4 --gpus=12 -t 30
	expect_line 1 'no: waits: 10 GPUs on 3 nodes of one spine; nearest: 3 nodes of s1 have at most 9 left (1 short)' \
		beside_slurm 7200 'n[2-4]' -N 3 --gpus=10 -t 30
	# each node gives one at least
	expect_line 1 'no: waits: 5 nodes on one spine; nearest: s1 has 4 free of 8 (1 short)' \
		beside_slurm 7200 'n[1-5]' -N 5 --gpus=10 -t 30
	# four nodes of four have no 17, on their way or not
	slurm "$(for ((n = 1; n <= 16; n++)); do echo "power n$n up"; done)"
	expect_line 1 'no: sbatch refuses it: Requested node configuration is not available' \
		beside_refusal 'Requested node configuration is not available' -N 4 --gpus=17
	expect_line 0 'would start now: 4 nodes on spine s1' \
		beside_refusal 'Requested node configuration is not available' -N 4 --gpus=16
}

@test "processors that are kept for the system (CoreSpecCount) are none for a gang beside other jobs" {
	needs_fake_slurm
	slurm 'job 7 n1,n2,n3,n4,n5,n6,n7,n8 4 2' 'job 8 n9,n10,n11,n12,n13,n14,n15,n16 8 4'
	expect_line 0 'would start now: 4 nodes on spine s1' beside_slurm 0 'n[1-4]' -N 4 -c 3
	slurm 'kept 2' 'job 7 n1,n2,n3,n4,n5,n6,n7,n8 4 2' 'job 8 n9,n10,n11,n12,n13,n14,n15,n16 6 4'
	expect_line 0 'would start now: 4 nodes on spine s1' beside_slurm 0 'n[1-4]' -N 4 -c 2
	expect_line 1 'no: waits: 4 nodes on one spine; nearest: s1 has 0 free of 8 (4 short)' \
		beside_slurm 7200 'n[1-4]' -N 4 -c 3
}

@test "memory that jobs have of a node counts where Slurm hands it out" {
	local jobs=('job 7 n1,n2,n3,n4,n5,n6,n7,n8 4 2' 'job 8 n9,n10,n11,n12,n13,n14,n15,n16 8 4') TAKEN size
	TAKEN=([1]=600 [2]=600 [3]=600 [4]=600 [5]=600 [6]=600 [7]=900 [8]=900)
	slurm memory "${jobs[@]}"
	for size in 400 400M 409600k; do
		expect_line 0 'would start now: 6 nodes on spine s1' beside_slurm 7200 'n[1-6]' -N 6 --gres gpu:1 "--mem=$size"
	done
	for size in 401 409601k 0; do
		expect_line 1 "no: waits: 6 nodes on one spine; nearest: s1 has 0 free of 8 (6 short)" \
			beside_slurm 7200 'n[1-6]' -N 6 --gres gpu:1 "--mem=$size"
	done
	# no node has so much in all
	for size in 1G 1T; do
		expect_line 1 "no: waits: 6 nodes on one spine; no usable node is on a known spine (drained, reserved, excluded or too small nodes do not count)" \
			beside_slurm 7200 'n[1-6]' -N 6 --gres gpu:1 "--mem=$size"
	done
	expect_line 1 'no: waits: 7 nodes on one spine; nearest: s1 has 6 free of 8 (1 short)' \
		beside_slurm 7200 'n[1-7]' -N 7 --gres gpu:1 --mem=400
	# a job that names none has a node's whole memory, or what the site gives it
	expect_line 1 'no: waits: 6 nodes on one spine; nearest: s1 has 0 free of 8 (6 short)' \
		beside_slurm 7200 'n[1-6]' -N 6 --gres gpu:1
	slurm memory 'default 400' "${jobs[@]}"
	expect_line 0 'would start now: 6 nodes on spine s1' beside_slurm 7200 'n[1-6]' -N 6 --gres gpu:1
	# memory that GPUs bring is not worked out: then Slurm's time counts
	slurm memory 'default by GPU' "${jobs[@]}"
	expect_line 1 'no: waits: one spine has 8 nodes with enough left, but Slurm starts it there later (jobs that wait before it, memory, licenses or a limit)' \
		beside_slurm 7200 'n[1-6]' -N 6 --gres gpu:1
	expect_line 0 'would start now: 6 nodes on spine s1' beside_slurm 7200 'n[1-6]' -N 6 --gres gpu:1 --mem=400
	# where it is not handed out, nothing of it matters
	slurm "${jobs[@]}"
	expect_line 0 'would start now: 7 nodes on spine s1' beside_slurm 7200 'n[1-7]' -N 7 --gres gpu:1 --mem=1G
}

@test "a time is given, or another option of sbatch's: segments and several spines are answered in their own words" {
	needs_fake_slurm
	local left='segments leaf:3 leave 1 of 4 nodes in each full leaf to others' got=0
	slurm 'job 7 n1,n9 8 4'
	expect 0 "would start now: 6 nodes on 1 spine in segments leaf:3
  $left
  leaf l3: 3 nodes  n[10-12]
  leaf l4: 3 nodes  n[13-15]" beside_slurm 0 'n[10-15]' -N 6 --gang-segment=leaf:3 -t 30
	expect_line 0 'would start now: 14 nodes on 2 spines' beside_slurm 0 'n[2-8,10-16]' -N 14 --gang-domains=2 --exclusive
	expect_line 1 'no: waits: 8 nodes on one spine in segments leaf:4; 2 whole segments of 4 nodes needed, 1 free' \
		beside_slurm 7200 'n[1-8]' -N 8 --gang-segment=leaf:4 -t 30
	expect_line 1 'no: waits: 15 nodes on at most 2 spines; 15 nodes needed, 14 free' \
		beside_slurm 7200 'n[1-15]' -N 15 --gang-domains=2 -t 30 --exclusive
	# free for it by the nodes' states, and Slurm starts it later
	expect_line 1 'no: waits: its nodes are free, but Slurm cannot start the job there now (memory, cores, GPUs, licenses, a limit or TopologyPlugin)' \
		beside_slurm 7230 'n[1-3,5-7]' -N 6 --gang-segment=leaf:3 -t 30 --exclusive
	beside_slurm 0 'n[10-15]' -N 6 --gang-segment=leaf:3 -t 30 --json >yes.json
	[[ $(jq -c '[.starts_now, .segments, .domains, .nodes, .left]' yes.json) == "[true,\"leaf:3\",1,\"n[10-15]\",\"$left\"]" ]]
	beside_slurm 7200 'n[1-8]' -N 8 --gang-segment=leaf:4 -t 30 --json >no.json || got=$?
	[[ $got == 1 && $(jq -c '[.starts_now, .whole_needed, .whole_free, .could_ever, .domains]' no.json) == '[false,2,1,true,null]' ]]
	# what does not go together is refused as without a time
	expect 2 "onespine: -N 2-4: segments and several domains take an exact number of nodes" \
		beside_slurm 0 'n[2-5]' -N 2-4 --gang-domains=2 -t 30
}

@test "several partitions: slurmctld is asked about each, and the first that starts the gang now is named" {
	needs_fake_slurm
	slurm 'partition few' 'job 7 n1,n2,n3,n4,n5,n6,n7,n8 8 4'
	mkdir -p each
	cat >each/sbatch <<-'END'
		#!/bin/sh
		case " $* " in
		*,*) echo 'asked about several' >&2; exit 1 ;;
		*few*) later=7200 nodes='n[1-4]' ;;
		*) later=0 nodes='n[9-12]' ;;
		esac
		echo "sbatch: Job 12 to start at $(date -d "$later seconds" +%FT%T) using 4 processors on nodes $nodes in partition x" >&2
	END
	chmod +x each/sbatch
	each() {
		PATH=$PWD/each:$PATH SLURM_CONF=$PWD/slurm.conf ONESPINE_FAKE_CLUSTER=$PWD/cluster \
			LD_PRELOAD=${ONESPINE%/*}/tests/fake/.libs/libcluster.so ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 \
			"$ONESPINE" fit "$@"
	}
	expect 0 'would start now: 4 nodes on spine s2
  in partition gpu
  leaf l3: 4 nodes  n[9-12]' each -p few,gpu -N 4 --exclusive -t 30
	expect_line 1 '  in partition few; the others have no room now either' each -p few,few -N 4 --exclusive -t 30
	expect 0 '"gpu"' eval 'each -p few,gpu -N 4 --exclusive -t 30 --json | jq .partition'
}

@test "variables that sbatch takes for options count as they do for sbatch, and the answer says so; an option wins" {
	needs_fake_slurm
	slurm 'partition few'
	local taken='  taken from the environment, as sbatch does:'
	asked() { # VARIABLE=VALUE... -- OPTION...: what sbatch was asked
		(
			while [[ $1 != -- ]]; do export "${1?}" && shift; done
			shift
			beside_slurm 0 'n[1-4]' -N 4 "$@" >said || [[ $? == 1 ]]
			mv bin/sbatch bin/answers
			printf '#!/bin/sh\nprintf "%%s " "$@" >asked\nexec bin/answers\n' >bin/sbatch
			chmod +x bin/sbatch
			PATH=$PWD/bin:$PATH SLURM_CONF=$PWD/slurm.conf ONESPINE_FAKE_CLUSTER=$PWD/cluster \
				LD_PRELOAD=${ONESPINE%/*}/tests/fake/.libs/libcluster.so ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 \
				"$ONESPINE" fit -N 4 "$@" >said || true
		)
		cat asked
	}
	# sbatch reads the variables itself: beside an option some of them are taken otherwise
	expect 0 '--test-only --wrap=true --gang --nodes=4 ' \
		asked SBATCH_PARTITION=few SBATCH_CONSTRAINT=new SBATCH_GPUS_PER_NODE=4 SBATCH_GPUS=16 SBATCH_GRES=gpu:4 SBATCH_MEM_PER_NODE=8G \
		SBATCH_EXCLUSIVE=user SBATCH_TIMELIMIT=1:00:00 SBATCH_RESERVATION=maint SBATCH_ACCOUNT=team SBATCH_QOS=high --
	tail -n 1 said | grep -qx "$taken SBATCH_ACCOUNT=team, SBATCH_CONSTRAINT=new, SBATCH_EXCLUSIVE=user, SBATCH_GPUS=16, SBATCH_GPUS_PER_NODE=4, SBATCH_GRES=gpu:4, SBATCH_MEM_PER_NODE=8G, SBATCH_PARTITION=few, SBATCH_QOS=high, SBATCH_RESERVATION=maint, SBATCH_TIMELIMIT=1:00:00"
	# --gang is an option always: a sbatch that does not know it says so
	expect 0 '--test-only --wrap=true --gang=spine --nodes=4 ' \
		asked ONESPINE_GANG=spine ONESPINE_GANG_DOMAINS=2 ONESPINE_GANG_SEGMENT=leaf:2 --
	tail -n 1 said | grep -qx "$taken ONESPINE_GANG=spine, ONESPINE_GANG_DOMAINS=2, ONESPINE_GANG_SEGMENT=leaf:2"
	expect 0 '--test-only --wrap=true --gang=spine --nodes=4 --partition=gpu ' asked ONESPINE_GANG=leaf SBATCH_PARTITION=few SBATCH_QOS= -- \
		--gang=spine -p gpu
	# of several partitions each is asked about
	expect 0 '--test-only --wrap=true --gang --nodes=4 --partition=few ' asked SBATCH_PARTITION=few,gpu --
	# an option without its value is no other option's name
	expect 0 '--test-only --wrap=true --gang --nodes=4 --constraint= --exclusive --time=30 ' asked -- -C '' --exclusive -t 30
	# an empty SBATCH_EXCLUSIVE is --exclusive, and others are named as well
	expect 0 '--test-only --wrap=true --gang --nodes=4 ' asked SBATCH_EXCLUSIVE= SBATCH_MEM_PER_CPU=1G SLURM_HINT=compute_bound --
	diff <(tail -n 2 said) - <<-END
		$taken SBATCH_EXCLUSIVE=
		  sbatch obeys too: SBATCH_MEM_PER_CPU=1G, SLURM_HINT=compute_bound
	END
	expect 0 "would start now: 4 nodes on leaf l1
  leaf l1: 4 nodes  n[1-4]
$taken SBATCH_TIMELIMIT=30, ONESPINE_GANG=leaf" eval "ONESPINE_GANG=leaf SBATCH_TIMELIMIT=30 beside_slurm 0 'n[1-4]' -N 4"
	expect 2 "onespine: there is no partition 'fwe'; did you mean few?
onespine: warning: taken from the environment, as sbatch does: SBATCH_PARTITION=fwe" \
		eval "SBATCH_PARTITION=fwe beside_slurm 0 'n[1-4]' -N 4"
	# they are no question to Slurm
	expect_line 0 'would start now: 2 nodes on spine s1' eval "SBATCH_PARTITION=fwe SBATCH_QOS=x onespine fit --topology=topology.conf --free='n[1-2]' -N 2"
	# without --state a topology of one's own asks no sbatch, and needs none for what a variable says
	expect_line 0 'would start now: 4 nodes on spine s1' eval "SBATCH_QOS=x beside_slurm 0 'n[1-4]' -N 4 --topology=topology.conf"
	# the size must be said
	expect 2 'onespine: onespine fit needs -N COUNT, the size of the gang
onespine: warning: taken from the environment, as sbatch does: SBATCH_GPUS=16' eval "SBATCH_GPUS=16 beside_slurm 0 'n[1-4]'"
}

@test "what sbatch says of an option itself is the reason, and not its advice to read --help; an empty value is one" {
	needs_fake_slurm
	slurm
	mkdir -p stub
	cat >stub/sbatch <<-'END'
		#!/bin/sh
		printf '%s ' "$@" >asked
		printf '%s\n' "sbatch: unrecognized option '--nodelist='" 'Try "sbatch --help" for more information' >&2
		exit 255
	END
	chmod +x stub/sbatch
	expect_line 1 "no: sbatch refuses it: unrecognized option '--nodelist='" eval "PATH=$PWD/stub:\$PATH SLURM_CONF=$PWD/slurm.conf ONESPINE_FAKE_CLUSTER=$PWD/cluster \
		LD_PRELOAD=${ONESPINE%/*}/tests/fake/.libs/libcluster.so ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 '$ONESPINE' fit -N 4 -w ''"
	[[ $(<asked) == '--test-only --wrap=true --gang --nodes=4 --nodelist= ' ]]
}

@test "--begin: a later time is what it waits for, whatever is free now; one that has come is none" {
	needs_fake_slurm
	slurm 'job 7 n1,n2,n3,n4,n5,n6,n7,n8,n9,n10,n11,n12,n13,n14,n15,n16 8 4'
	local begin nearest='no: waits: 4 nodes on one spine; nearest: s1 has 0 free of 8 (4 short)'
	for begin in now+2hours 2099-01-02 2099-01-02T03:04:05 tomorrow; do
		expect_line 1 "no: it begins at $begin at the earliest (--begin)" beside_slurm 7200 'n[1-4]' -N 4 "--begin=$begin"
		expect_line 1 "no: it begins at $begin at the earliest (--begin)" \
			beside_slurm 7200 'n[1-4]' -N 4 --gang-segment=leaf:2 "--begin=$begin"
	done
	for begin in now 2020-01-02 2020-01-02T03:04; do
		expect_line 1 "$nearest" beside_slurm 7200 'n[1-4]' -N 4 "--begin=$begin"
	done
	slurm
	for begin in now 2020-01-02; do
		expect_line 0 'would start now: 4 nodes on spine s1' beside_slurm 0 'n[1-4]' -N 4 "--begin=$begin"
	done
}

@test "a layout where no option says the GPUs of a node: those of the partition's nodes count, as at submission" {
	needs_fake_slurm
	slurm # nodes of 4 GPUs, as of a GB200 rack: a group of 8 takes two
	expect_line 0 'would start now: 6 nodes on 1 spine in segments leaf:2' \
		beside_slurm 0 'n[1-6]' -N 6 --gang=spine --gang-layout=tp8 --exclusive
	expect_line 0 'would start now: 6 nodes on spine s1' \
		beside_slurm 0 'n[1-6]' -N 6 --gang=spine --gang-layout=tp8 --exclusive --gpus-per-node=8
}
