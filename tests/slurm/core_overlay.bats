#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_overlay.bats - NVLink domains that cross leaves and spines: a level beside the tree
#
# Spine s1 has the leaves l1 (n[1-4]) and l2 (n[5-8]), spine s2 the leaf l3 (n[9-12]). v1 has two nodes of each leaf
# of s1, v2 the two others and one of s2, v3 the rest of l3.

bats_require_minimum_version 1.5.0
load helpers

declare -gA nvlink=([n1]=v1 [n2]=v1 [n5]=v1 [n6]=v1 [n3]=v2 [n4]=v2 [n7]=v2 [n8]=v2 [n9]=v2 [n10]=v3 [n11]=v3 [n12]=v3)

# fabric V1 V2 V3: the topology with these nodes of the three NVLink domains
fabric() {
	cat <<-END
		{"onespine-topology": 1, "levels": ["leaf", "spine"], "overlays": ["nvlink"], "domains": [
		{"level": "spine", "name": "s1"}, {"level": "spine", "name": "s2"},
		{"level": "leaf", "name": "l1", "in": "s1", "nodes": "n[1-4]"},
		{"level": "leaf", "name": "l2", "in": "s1", "nodes": "n[5-8]"},
		{"level": "leaf", "name": "l3", "in": "s2", "nodes": "n[9-12]"},
		{"level": "nvlink", "name": "v1", "nodes": "$1"},
		{"level": "nvlink", "name": "v2", "nodes": "$2"},
		{"level": "nvlink", "name": "v3", "nodes": "$3"}]}
	END
}

setup_file() {
	fabric 'n[1-2,5-6]' 'n[3-4,7-9]' 'n[10-12]' >"$BATS_FILE_TMPDIR/onespine.topology"
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-'END'
		partitions:
		  trees: {gang: always, allow_off: false}
		  islands: {gang: always, allow_off: false, level: nvlink}
		  slow: {gang: always, allow_off: false, level: spine, relax: 1:00:00}
	END
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --config "$BATS_FILE_TMPDIR/onespine.yaml" \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1 \
		--partition 'free Nodes=ALL Default=YES' --partition 'trees Nodes=ALL' --partition 'islands Nodes=ALL' \
		--partition 'slow Nodes=ALL'
}

setup() {
	log_mark
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

refused() {
	run ! sbatch --output=/dev/null --wrap true "$@"
}

@test "gangs on one NVLink domain each: as many as there are, and the next waits for one" {
	one=$(submit --gang=nvlink -N4 --exclusive)
	await 30 runs "$one"
	other=$(submit --gang=nvlink -N4 --exclusive)
	await 30 runs "$other"
	equal "$(printf '%s\n' "$(beside "$one")" "$(beside "$other")" | sort | paste -sd' ')" 'v1:4 v2:4'
	says "$one" 'placed: 4 nodes on nvlink v'
	# five nodes are free, and three of them at most are in one domain
	next=$(submit --gang=nvlink -N4 --exclusive)
	await 30 says "$next" 'waits: 4 nodes on one nvlink'
	stays 3 job_is "$next" PENDING
	holds "$(onespine audit)" '2 gangs running: 2 as asked for, 0 not'
	holds "$(onespine why "$one")" "all its nodes are on nvlink $(beside "$one" | cut -d: -f1):"
	first=$(beside "$one")
	scancel "$one"
	await 30 runs "$next"
	equal "$(beside "$next")" "$first"
}

@test "a size that no NVLink domain holds is refused, and a planned start waits for the one that does" {
	refused --gang=nvlink -N6
	holds "$output" 'the largest nvlink'
	small=$(submit -w n9 -N1 --exclusive --time=5)
	await 30 runs "$small"
	gang=$(submit --gang=nvlink -N5 --exclusive --time=5)
	await 30 says "$gang" 'waits: 5 nodes on one nvlink'
	planned() {
		[[ $(job_field "$gang" StartTime) != Unknown ]]
	}
	await 30 planned
	job_is "$gang" PENDING
	scancel "$small"
	await 30 runs "$gang"
	equal "$(beside "$gang")" v2:5
}

@test "segments of one NVLink domain on one spine: counted over what both have" {
	# s1 has four nodes of v1 and four of v2
	gang=$(submit --gang=spine --gang-segment=nvlink:2 -N8 --exclusive)
	await 30 runs "$gang"
	equal "$(beside "$gang")" 'v1:4 v2:4'
	says "$gang" 'placed: 8 nodes on spine s1, 2 leaves, in segments nvlink:2'
	read -r -a hosts <<<"$(onespine hosts "$gang" | paste -sd' ')"
	equal "${#hosts[@]}" 8
	for at in 0 2 4 6; do
		equal "${nvlink[${hosts[at]}]}" "${nvlink[${hosts[at + 1]}]}"
	done
	holds "$(onespine audit)" '1 gang running: 1 as asked for, 0 not'
	scancel "$gang"
	# without n3, v2 has three nodes in s1 and n9 in s2: seven nodes of s1 are free, and two of nine make no pair there
	hold n3
	gang=$(submit --gang=spine --gang-segment=nvlink:2 -N8 --exclusive)
	await 30 says "$gang" 'waits: 8 nodes on one spine in segments nvlink:2; 4 whole segments of 2 nodes needed, 3 free'
	holds "$(onespine why "$gang")" '4 whole segments of 2 nodes needed, 3 free'
	stays 3 job_is "$gang" PENDING
	release n3
	await 30 runs "$gang"
	equal "$(beside "$gang")" 'v1:4 v2:4'
}

@test "a segment is no larger than what a domain has in one of the tree" {
	refused --gang=spine --gang-segment=nvlink:5 -N5
	holds "$output" 'nvlink:5: the largest nvlink has 4 nodes in one spine; say at most nvlink:4'
	gang=$(submit --gang=leaf --gang-segment=nvlink:2 -N4 --exclusive)
	await 30 runs "$gang"
	[[ $(beside "$gang") =~ ^'v1:2 v2:2'$ ]] || fail "$(beside "$gang")"
}

@test "what would nest across it is refused, with a domain that crosses" {
	refused --gang=spine --gang-segment=nvlink:2,leaf:4 -N8
	holds "$output" 'nvlink and leaf do not nest in each other: nvlink v1 has nodes in leaf l1 and in leaf l2'
	refused --gang=nvlink --gang-segment=leaf:2 -N4
	holds "$output" 'leaf and nvlink do not nest in each other: leaf l1 has nodes in nvlink v1 and in nvlink v2'
	refused --gang=nvlink --gang-segment=nvlink:2 -N4
	holds "$output" 'a gang in one nvlink has no segments of nvlink; leave out --gang-segment'
	refused --gang=nvlink --gang-domains=2 -N8
	holds "$output" 'level nvlink is beside the tree, and a gang is in one domain of it'
	refused --gang=spine --gang-layout=tp4,dp2 --gang-keep=tp:nvlink --ntasks-per-node=2 -N4
	holds "$output" 'level nvlink is beside the tree: groups are kept in levels of the tree'
}

@test "a partition that promises a spine refuses an NVLink domain that may cross it" {
	refused -p trees --gang=nvlink -N4
	holds "$output" 'partition trees holds its jobs to one spine, which one nvlink may cross: nvlink v2 has nodes in spine s1 and in spine s2'
	refused -p islands --gang=leaf -N2
	holds "$output" 'partition islands holds its jobs to one nvlink, which one leaf may cross: leaf l1 has nodes in nvlink v1 and in nvlink v2'
	# either promise alone would break the other's
	refused -p trees,islands -N2
	holds "$output" 'which one '
	gang=$(submit -p islands -N4 --exclusive)
	await 30 runs "$gang"
	[[ $(beside "$gang") =~ ^'v'[12]':4'$ ]] || fail "$(beside "$gang")"
	holds "$(onespine audit)" '1 gang running: 1 as asked for, 0 not'
}

@test "after its time any nodes do, and audit knows" {
	gang=$(submit --gang=nvlink@0:10 -N4 --exclusive --hold)
	hold 'n[1,3-4,10]'
	scontrol release "$gang"
	await 20 says "$gang" 'waits: 4 nodes on one nvlink'
	job_is "$gang" PENDING
	await 60 runs "$gang"
	holds "$(onespine audit)" '1 gang running: 1 as asked for, 0 not'
}

@test "why counts the segments of the level above once the gang's time has passed" {
	hold 'n[1-2,5,7-8]'
	# s1 has n[3-4] of v2 and n6 of v1, s2 has n9 of v2 and n[10-12] of v3
	gang=$(submit --gang=leaf@0:05 --gang-segment=nvlink:2 -N4 --exclusive)
	await 40 says "$gang" 'waits: 4 nodes on one spine in segments nvlink:2; 2 whole segments of 2 nodes needed, 1 free'
	holds "$(onespine why "$gang")" '2 whole segments of 2 nodes needed, 1 free'
}

@test "fit and the tree's levels go on as they are" {
	gang=$(submit --gang=spine -N8 --exclusive)
	await 30 runs "$gang"
	says "$gang" 'placed: 8 nodes on spine s1, 2 leaves'
	run -0 onespine fit --gang=nvlink -N3
	holds "$output" '3 nodes on nvlink v3'
	run -1 onespine fit --gang=nvlink -N4
	holds "$(onespine map)" 'nvlink is beside the tree, and not drawn'
	run -0 onespine topology show
	holds "$output" '12 nodes: 3 leaves of 4, 2 spines of 4 to 8; beside the tree 3 nvlinks of 3 to 5'
	matches "$output" '  v2 +5  n\[3-4,7-9\]'
	equal "$(onespine topology show --json | jq -c '[.levels, .overlays]')" '[["leaf","spine"],["nvlink"]]'
}

# put_topology: from stdin, replaced whole as `onespine topology watch` does
put_topology() {
	cat >"$ONESPINE_CLUSTER/onespine.topology.new"
	mv "$ONESPINE_CLUSTER/onespine.topology.new" "$ONESPINE_CLUSTER/onespine.topology"
}

# put_nested: two NVLink domains in the leaf l1, below it in the tree
put_nested() {
	put_topology <<-'END'
		{"onespine-topology": 1, "levels": ["nvlink", "leaf", "spine"], "domains": [
		{"level": "spine", "name": "s1"}, {"level": "spine", "name": "s2"},
		{"level": "leaf", "name": "l1", "in": "s1"},
		{"level": "leaf", "name": "l2", "in": "s1", "nodes": "n[5-8]"},
		{"level": "leaf", "name": "l3", "in": "s2", "nodes": "n[9-12]"},
		{"level": "nvlink", "name": "v1", "in": "l1", "nodes": "n[1-2]"},
		{"level": "nvlink", "name": "v2", "in": "l1", "nodes": "n[3-4]"}]}
	END
	await 10 log_since 'has nvlink 2, leaf 3, spine 2'
}

@test "a gang whose segments nested until now waits, and its reason names a domain that crosses" {
	put_nested
	gang=$(submit --gang=spine --gang-segment=nvlink:2,leaf:4 -N4 --exclusive --hold)
	log_mark
	put_topology <"$BATS_FILE_TMPDIR/onespine.topology"
	await 10 log_since 'beside the tree nvlink 3'
	scontrol release "$gang"
	await 20 says "$gang" 'nvlink and leaf do not nest in each other: nvlink v1 has nodes in leaf l1 and in leaf l2'
	stays 3 job_is "$gang" PENDING
}

@test "a running gang whose NVLink domain is split is reported, and audit names it" {
	gang=$(submit --gang=nvlink -N4 -w 'n[1-2,5-6]' --exclusive)
	await 30 runs "$gang"
	fabric 'n[1-2]' 'n[3-9]' 'n[10-12]' | put_topology
	await 10 says "$gang" 'moved: since '
	says "$gang" '2 of its 4 nodes are on one nvlink, and n'
	# one spine has all of them, which it did not ask for
	run -1 onespine audit
	holds "$output" "job $gang "
	holds "$(onespine why "$gang")" 'all its nodes are on spine s1, and on no common domain of what it asked for'
	scancel "$gang"
	log_mark
	put_topology <"$BATS_FILE_TMPDIR/onespine.topology"
	await 10 log_since 'beside the tree nvlink 3'
}

@test "audit judges a promise of one NVLink domain by the nodes, also where the note is gone" {
	job=$(submit -p islands -N4 -w 'n[1-2,5-6]' --exclusive)
	await 30 runs "$job"
	scontrol update "JobId=$job" AdminComment=none
	holds "$(onespine audit)" '1 gang running: 1 as asked for, 0 not'
	fabric 'n[1-2]' 'n[3-9]' 'n[10-12]' | put_topology
	await 10 log_since 'beside the tree nvlink 3'
	# n[1-2] and n[5-6] are in one spine, which nobody promised
	run -1 onespine audit
	holds "$output" "job $job "
	holds "$output" '1 gang running: 0 as asked for, 1 not'
	scancel "$job"
	log_mark
	put_topology <"$BATS_FILE_TMPDIR/onespine.topology"
	await 10 log_since 'beside the tree nvlink 3'
}

@test "a gang that preferred an NVLink domain of the tree starts when that is beside it" {
	put_nested
	gang=$(submit --gang=nvlink,prefer -N8 --exclusive --hold)
	log_mark
	put_topology <"$BATS_FILE_TMPDIR/onespine.topology"
	await 10 log_since 'beside the tree nvlink 3'
	scontrol release "$gang"
	await 30 runs "$gang"
	says "$gang" 'placed: 8 nodes on spine s1'
}

# the spines s1 and s2 are in the core c1, s3 is in c2; NVLink domains cross the leaves alone
@test "a promise that relaxes to the level above is not left by way of an NVLink domain" {
	put_topology <<-'END'
		{"onespine-topology": 1, "levels": ["leaf", "spine", "core"], "overlays": ["nvlink"], "domains": [
		{"level": "core", "name": "c1"}, {"level": "core", "name": "c2"},
		{"level": "spine", "name": "s1", "in": "c1"}, {"level": "spine", "name": "s2", "in": "c2"},
		{"level": "leaf", "name": "l1", "in": "s1", "nodes": "n[1-4]"},
		{"level": "leaf", "name": "l2", "in": "s1", "nodes": "n[5-8]"},
		{"level": "leaf", "name": "l3", "in": "s2", "nodes": "n[9-12]"},
		{"level": "nvlink", "name": "v1", "nodes": "n[1-2,5-6]"},
		{"level": "nvlink", "name": "v2", "nodes": "n[3-4,7-8]"}]}
	END
	await 10 log_since 'core 2, beside the tree nvlink 2'
	refused -p slow --gang=nvlink@2:00:00 -N4
	holds "$output" 'partition slow holds its jobs to one spine; ask for --gang=spine or a level below it, without @TIME'
	# the partition's time is not the gang's then
	gang=$(submit -p slow --gang=nvlink -N4 --exclusive)
	await 30 runs "$gang"
	holds "$(job_field "$gang" AdminComment)" 'gang=nvlink'
	[[ $(job_field "$gang" AdminComment) != *nvlink@* ]] || fail "$(job_field "$gang" AdminComment)"
	gang=$(submit -p slow --gang=leaf@2:00:00 -N2 --exclusive)
	await 30 runs "$gang"
	put_topology <"$BATS_FILE_TMPDIR/onespine.topology"
	await 10 log_since 'beside the tree nvlink 3'
}
