#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_nested.bats - segments in segments, on racks and leaves of unlike sizes, whose nodes' names say nothing of them
#
# Spine s1 has leaf l1 of racks of 4 and 3 nodes and leaf l2 of racks of 5 and 2; spine s2 has leaf l3 of two racks of 2.

bats_require_minimum_version 1.5.0
load helpers

# what a job is asked to keep: the rack and the leaf of each node
declare -gA rack=([n1]=r1 [n5]=r1 [n9]=r1 [n13]=r1 [n2]=r2 [n6]=r2 [n10]=r2 [n3]=r3 [n7]=r3 [n11]=r3 [n14]=r3 [n16]=r3
	[n4]=r4 [n8]=r4 [n12]=r5 [n15]=r5 [n17]=r6 [n18]=r6)
declare -gA leaf=([r1]=l1 [r2]=l1 [r3]=l2 [r4]=l2 [r5]=l3 [r6]=l3)

setup_file() {
	cat >"$BATS_FILE_TMPDIR/onespine.topology" <<'END'
{"onespine-topology": 1, "source": "core_nested", "levels": ["nvlink", "leaf", "spine"], "domains": [
{"level": "spine", "name": "s1"}, {"level": "spine", "name": "s2"},
{"level": "leaf", "name": "l1", "in": "s1"}, {"level": "leaf", "name": "l2", "in": "s1"}, {"level": "leaf", "name": "l3", "in": "s2"},
{"level": "nvlink", "name": "r1", "in": "l1", "nodes": "n[1,5,9,13]"}, {"level": "nvlink", "name": "r2", "in": "l1", "nodes": "n[2,6,10]"},
{"level": "nvlink", "name": "r3", "in": "l2", "nodes": "n[3,7,11,14,16]"}, {"level": "nvlink", "name": "r4", "in": "l2", "nodes": "n[4,8]"},
{"level": "nvlink", "name": "r5", "in": "l3", "nodes": "n[12,15]"}, {"level": "nvlink", "name": "r6", "in": "l3", "nodes": "n[17,18]"}]}
END
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --gres gpu:4 \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1
}

runs() {
	[[ $(job_state "$1") == RUNNING ]]
}

says() {
	[[ $(job_field "$1" AdminComment) == *"$2"* ]]
}

# of_each KIND JOB: how many of its nodes are in each rack or leaf, the fewest first
of_each() {
	local node
	for node in $(job_nodes "$2"); do
		[[ $1 == rack ]] && echo "${rack[$node]}" || echo "${leaf[${rack[$node]}]}"
	done | sort | uniq -c | awk '{print $1}' | sort -n | paste -sd' '
}

# ordered JOB: its nodes by rank
ordered() {
	onespine hosts "$1" | paste -sd' '
}

@test "two nodes of a rack, four of a leaf: each whole, and ranks run through them" {
	gang=$(submit --gang=spine --gang-segment=nvlink:2,leaf:4 -N8 --exclusive)
	await 30 runs "$gang"
	equal "$(of_each leaf "$gang")" '4 4'
	for count in $(of_each rack "$gang"); do
		equal $((count % 2)) 0
	done
	read -r -a hosts <<<"$(ordered "$gang")"
	equal "${#hosts[@]}" 8
	equal "${hosts[0]}" "$(job_nodes "$gang" | head -n 1)"
	for at in 0 2 4 6; do
		equal "${rack[${hosts[at]}]}" "${rack[${hosts[at + 1]}]}"
		equal "${leaf[${rack[${hosts[at]}]}]}" "${leaf[${rack[${hosts[at / 4 * 4]}]}]}"
	done
	holds "$(onespine audit)" '1 gang running: 1 as asked for, 0 not'
	# ten nodes are left, of which none of the racks of a leaf makes four more
	next=$(submit --gang=spine --gang-segment=nvlink:2,leaf:4 -N8 --exclusive)
	await 30 says "$next" 'waits: 8 nodes on one spine in segments nvlink:2,leaf:4; 2 whole segments of 4 nodes needed, '
	stays 3 job_is "$next" PENDING
	scancel "$gang"
	await 30 runs "$next"
	equal "$(of_each leaf "$next")" '4 4'
}

@test "a segment that lacks one node of a rack waits, and says which spine lacks how many" {
	# l1 keeps three nodes in r1 and one in r2: one segment of two; l2 keeps all seven
	hold n1,n2,n6
	gang=$(submit --gang=spine --gang-segment=nvlink:2,leaf:4 -N8 --exclusive)
	await 30 says "$gang" '2 whole segments of 4 nodes needed, 1 free'
	said=$(onespine why "$gang")
	holds "$said" 'waits: 8 nodes on one spine in segments nvlink:2,leaf:4; 2 whole segments of 4 nodes needed, 1 free'
	matches "$said" '  s1 +1
  s2 +1'
	stays 3 job_is "$gang" PENDING
	release n1
	await 30 runs "$gang"
	equal "$(of_each leaf "$gang")" '4 4'
}

@test "a smaller last segment is reported when the job is submitted, and placed beside whole ones" {
	run sbatch --parsable --output=/dev/null --wrap 'sleep 600' --gang=spine --gang-segment=nvlink:2,leaf:4 -N5 --exclusive
	holds "$output" 'onespine: '
	holds "$output" 'the last segment of nvlink:2 has 1 node'
	gang=${lines[-1]}
	await 30 runs "$gang"
	[[ $(of_each leaf "$gang") =~ ^('1 4'|'5')$ ]] || fail "$(of_each leaf "$gang")"
	# of what divides nothing is told of a last one
	run sbatch --parsable --output=/dev/null --wrap true --gang=spine --gang-segment=nvlink:2,leaf:4 -N8 --exclusive
	[[ $output != *'last segment'* ]] || fail "$output"
}

@test "over two spines: as few as can be" {
	gang=$(submit --gang=spine --gang-domains=2 --gang-segment=nvlink:2,leaf:4 -N12 --exclusive)
	await 30 runs "$gang"
	equal "$(of_each leaf "$gang")" '4 4 4'
	holds "$(job_field "$gang" AdminComment)" 'placed: 12 nodes in 2 domains of spine, '
}
