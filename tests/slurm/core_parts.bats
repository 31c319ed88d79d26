#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_parts.bats - gangs in segments and in several domains: a rule that no start breaks
#
# Three spines of two leaves of four nodes: n1-n8, n9-n16, n17-n24.
# shellcheck disable=SC2016

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 3 2 4
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-'END'
		partitions:
		  train:
		    gang: always
		    allow_off: false
		  look:
		    mode: advise
	END
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" \
		--config "$BATS_FILE_TMPDIR/onespine.yaml" --partition 'gpu Nodes=ALL Default=YES' \
		--partition 'train Nodes=ALL' --partition 'look Nodes=ALL' \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1
}

comment() {
	job_field "$1" AdminComment
}

# counts JOB LEVEL: how many of its nodes lie in each domain, the fewest first
counts() {
	local name
	for name in $(job_nodes "$1"); do
		name=${name#n}
		case $2 in
		spine) echo $(((name - 1) / 8)) ;;
		leaf) echo $(((name - 1) / 4)) ;;
		esac
	done | sort | uniq -c | awk '{print $1}' | sort -n | paste -sd' '
}

runs() {
	[[ $(job_state "$1") == RUNNING ]]
}

says() {
	[[ $(comment "$1") == *"$2"* ]]
}

@test "a gang larger than a spine takes as few as can be, filled evenly" {
	gang=$(submit --gang=spine --gang-domains=3 -N12 --exclusive)
	await 30 runs "$gang"
	equal "$(counts "$gang" spine)" '6 6'
	holds "$(comment "$gang")" 'gang=spine domains=3; domain=s'
	holds "$(comment "$gang")" 'placed: 12 nodes in 2 domains of spine, 4 leaves'
}

@test "segments are whole, though spread nodes would be enough" {
	hold n1,n9,n17
	gang=$(submit --gang-domains=3 --gang-segment=leaf:4 -N12 --exclusive)
	await 30 runs "$gang"
	equal "$(counts "$gang" leaf)" '4 4 4'
	holds "$(comment "$gang")" 'in segments leaf:4'
	# twelve nodes are left, but no leaf of four
	next=$(submit --gang-segment=leaf:4 -N4 --exclusive)
	await 30 says "$next" 'waits: 4 nodes on one spine in segments leaf:4; 1 whole segment of 4 nodes needed, 0 free'
	stays 3 job_is "$next" PENDING
	# nobody is asked for more than its share: a job without a gang runs beside it
	other=$(submit -N3 --exclusive --time=1)
	await 30 runs "$other"
	release n9
	await 30 runs "$next"
	equal "$(counts "$next" leaf)" '4'
}

@test "a smaller last segment lies in one leaf, and the first is not cut for it" {
	hold n1,n2,n9
	gang=$(submit --gang=spine --gang-segment=leaf:4 -N6 --exclusive)
	await 30 runs "$gang"
	equal "$(counts "$gang" leaf)" '2 4'
	equal "$(counts "$gang" spine)" '6'
}

@test "backfill keeps nodes for segments, and a later job cannot starve them" {
	blocker=$(submit -w 'n[1-4],n[9-12],n[17-20]' -N12 --exclusive --time=1)
	rest=$(submit -w 'n5,n13,n21' -N3 --exclusive --time=60)
	await 30 runs "$blocker"
	await 30 runs "$rest"
	gang=$(submit --gang-domains=3 --gang-segment=leaf:4 -N12 --exclusive --time=5)
	await 30 says "$gang" '3 whole segments of 4 nodes needed, 0 free'
	await 60 has_plan "$gang"
	# nine nodes are idle, outside the plan: a long job may have them, but no node of the leaves planned
	long=$(submit -N4 --exclusive --time=60)
	await 30 runs "$long"
	equal "$(job_nodes "$long" | grep -xcE 'n([1-4]|9|1[0-2]|1[7-9]|20)')" 0
	scancel "$blocker"
	await 60 runs "$gang"
	equal "$(counts "$gang" leaf)" '4 4 4'
}

has_plan() {
	[[ $(job_field "$1" StartTime) == 20* ]]
}

@test "a requeued gang keeps its segments on other nodes" {
	gang=$(submit --requeue --gang=spine --gang-segment=leaf:2 -N4 --exclusive)
	await 30 runs "$gang"
	equal "$(counts "$gang" spine)" '4'
	mapfile -t had < <(job_nodes "$gang")
	for node in "${had[@]}"; do
		scontrol update "NodeName=$node" State=DRAIN Reason=test
	done
	scontrol requeue "$gang"
	begin_soon "$gang"
	await 30 runs "$gang"
	equal "$(job_nodes "$gang" | grep -cxF "${had[0]}")" 0
	equal "$(counts "$gang" spine)" '4'
	[[ $(counts "$gang" leaf) =~ ^('2 2'|'4')$ ]] || fail "$(counts "$gang" leaf)"
}

# What a node lacks for this gang only Slurm knows: eight tasks do not fit beside another job's one.
@test "nodes that only Slurm finds too small keep a gang from no other" {
	local node rest=()
	for node in n1 n6 n11 n16 n21; do
		rest+=("$(submit -w "$node" -N1 -n1 --time=60)")
	done
	for node in "${rest[@]}"; do
		await 30 runs "$node"
	done
	# whichever leaf is whole: that of n18, n3, n8, n12
	for node in n18 n3 n8 n12; do
		gang=$(submit --gang=spine --gang-segment=leaf:4 -N4 -n32 --time=5)
		await 30 runs "$gang"
		equal "$(counts "$gang" leaf)" 4
		holds " $(job_nodes "$gang" | paste -sd' ') " " $node "
		scancel "$gang" "${rest[0]}"
		rest=("${rest[@]:1}" "$(submit -w "$node" -N1 -n1 --time=60)")
		await 30 runs "${rest[4]}"
	done
}

@test "words are about the nodes that the gang may have" {
	holds "$(submit_refused --gang-segment=leaf:4 -N4 -w 'n[1-3,9]')" \
		'4 nodes of --nodelist on one spine in segments leaf:4 asked for; with all of these free there are 0 whole segments of 4 nodes where 1 is needed'
	hold n2
	gang=$(submit --gang=spine@1:00:00 --gang-segment=leaf:4 -N4 -w 'n[1-4]' --exclusive)
	await 30 says "$gang" 'waits: 4 nodes of --nodelist on one spine in segments leaf:4; 1 whole segment of 4 nodes needed, 0 free'
	said=$(onespine why "$gang")
	[[ $said != *'its nodes are free now'* ]] || fail "$said"
	holds "$said" 'on its segments may lie in any number of spines'
	scancel "$gang"
	hold n5,n9,n13,n17,n21
	gang=$(submit -p look --gang=spine --gang-segment=leaf:4 -N4 --exclusive)
	await 30 runs "$gang"
	holds "$(comment "$gang")" 'placed: 4 nodes that do not keep its segments or its number of spine domains'
}

@test "a list of partitions is read as Slurm reads it" {
	holds "$(submit_refused -p gpu,,train --gang=spine --gang-domains=2 -N12)" 'without --gang-domains'
	holds "$(submit_refused -p gpu,gpu,gpu --gang-domains=2 -N20)" 'with all nodes of partition gpu free so many hold 16'
	gang=$(submit -p ,gpu --gang-domains=2 -N12)
	await 30 runs "$gang"
}

@test "what cannot be is refused at submit, with what to type instead" {
	holds "$(submit_refused --gang-segment=leef:4 -N8)" 'no level is called leef; did you mean leaf'
	holds "$(submit_refused --gang-segment=leaf:5 -N8)" 'leaf:5: the largest leaf has 4 nodes'
	holds "$(submit_refused --gang-segment=spine:4 -N8)" "a segment lies below the gang's level, spine"
	holds "$(submit_refused --gang-domains=2 -N20)" \
		'20 nodes on at most 2 spines asked for; with all nodes of partition gpu free so many hold 16; ask for 16 nodes or a larger --gang-domains'
	holds "$(submit_refused --gang-domains=2 -N25)" 'so many hold 16; ask for 16 nodes or 24 nodes with a larger --gang-domains'
	# nothing is advised that would not help
	equal "$(submit_refused --gang-domains=3 -N25 | grep -o 'so many hold.*')" 'so many hold 24; ask for 24 nodes'
	holds "$(submit_refused --gang=off --gang-domains=2 -N8)" '--gang=off is no gang'
	holds "$(submit_refused --gang-domains=none -N8)" '--gang-domains=none: in how many domains at most is expected'
	holds "$(submit_refused --gang-segment=leaf:2 -N4-8)" 'take one number of nodes, not 4 to 8: give --nodes=N'
	holds "$(submit_refused --gang-segment=leaf:2 -N4 -w n1)" 'names all 4 nodes or none, and here it names 1'
	holds "$(submit_refused -p train --gang=spine --gang-domains=2 -N12)" 'without --gang-domains'
}

@test "onespine set gives it segments, and a change of size is judged with them" {
	hold 'n[1-23]'
	gang=$(submit --gang=spine -N4 --exclusive)
	onespine set "$gang" --gang=spine --gang-domains=2 --gang-segment=leaf:2
	await 30 says "$gang" 'gang=spine domains=2 segment=leaf:2'
	await 30 says "$gang" 'waits: 4 nodes on at most 2 spines in segments leaf:2; 2 whole segments of 2 nodes needed, 0 free'
	scontrol update "JobId=$gang" NumNodes=6-6
	for size in 24-24 4-8; do
		run scontrol update "JobId=$gang" "NumNodes=$size"
		((status)) || fail "taken: NumNodes=$size"
	done
	release n1,n2,n9,n10,n11,n17
	stays 3 job_is "$gang" PENDING
	release n12
	await 30 runs "$gang"
	equal "$(counts "$gang" spine)" '2 4'
}

@test "the job finds its domains, and why, audit and map know them" {
	gang=$(submit --gang=spine --gang-domains=2 --gang-segment=leaf:4 -N12 --exclusive \
		--output="$BATS_TEST_TMPDIR/out" --wrap 'srun -N12 --ntasks-per-node=1 --overlap sh -c "echo rank \$ONESPINE_NODE_RANK \$ONESPINE_FIRST_HOST \$SLURMD_NODENAME"; env | grep ^ONESPINE_; sleep 600')
	await 30 runs "$gang"
	await 30 grep -q ONESPINE_LEAVES "$BATS_TEST_TMPDIR/out"
	equal "$(sed -n 's/^ONESPINE_LEVEL=//p' "$BATS_TEST_TMPDIR/out")" spine
	matches "$(sed -n 's/^ONESPINE_DOMAIN=//p' "$BATS_TEST_TMPDIR/out")" '^s[123],s[123]$'
	# the ranks are 0 to 11, each once, nodes of a leaf follow each other, and 0 is who comes first by name
	equal "$(sed -n 's/^rank //p' "$BATS_TEST_TMPDIR/out" | sort -n | awk '{print $1}' | paste -sd' ')" \
		'0 1 2 3 4 5 6 7 8 9 10 11'
	first=$(job_nodes "$gang" | head -n 1)
	equal "$(sed -n 's/^rank 0 //p' "$BATS_TEST_TMPDIR/out")" "$first $first"
	equal "$(sed -n 's/^rank //p' "$BATS_TEST_TMPDIR/out" | sort -n |
		awk '{sub("n", "", $3); print int(($3 - 1) / 4)}' | uniq -c | awk '{print $1}' | paste -sd' ')" '4 4 4'
	said=$(onespine why "$gang")
	holds "$said" 'gang=spine domains=2 segment=leaf:4'
	holds "$said" 'its nodes keep what it asked for'
	holds "$(onespine audit)" '1 gang running: 1 as asked for, 0 not'
	holds "$(onespine map)" 'gang=spine domains=2 segment=leaf:4'
}
