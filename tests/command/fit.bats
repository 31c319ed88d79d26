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

@test "too large for any" {
	expect_line 1 "no: waits: 9 nodes on one spine; none has 9 usable: the largest, s1, has 8 (drained, reserved or excluded nodes do not count)" \
		fit --free='n[1-16]' -N 9
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
	expect 1 "no: waits: 7 nodes on one spine; none has 7 usable: the largest, s1, has 6 of one node type (drained, reserved or excluded nodes do not count)
  spine  usable  free  short by  enough from
  s1          6     6         1  too few usable nodes  gpu:h100
  s2          6     6         1  too few usable nodes  gpu:a100
  s1          2     2         5  too few usable nodes  gpu:a100" onespine fit --state=kinds.json -N 7
}

@test "what cannot be asked: status 2" {
	expect 2 "onespine: onespine fit needs -N COUNT, the size of the gang" fit --free=n1
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
