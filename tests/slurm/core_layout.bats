#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_layout.bats - a gang says its layout: groups are kept together as segments, and every word about it agrees
#
# Two spines of two leaves of four nodes of 8 GPUs: n1-n8, n9-n16.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 2 4
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --gres gpu:8 \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1
}

comment() {
	job_field "$1" AdminComment
}

runs() {
	[[ $(job_state "$1") == RUNNING ]]
}

says() {
	[[ $(comment "$1") == *"$2"* ]]
}

# leaf_of NODE
leaf_of() {
	echo $(((${1#n} - 1) / 4))
}

# leaves JOB: how many of its nodes lie in each leaf, the fewest first
leaves() {
	local name
	for name in $(job_nodes "$1"); do
		leaf_of "$name"
	done | sort | uniq -c | awk '{print $1}' | sort -n | paste -sd' '
}

@test "pipelines stay in a leaf, though spread nodes would be enough" {
	hold n1,n5,n9
	gang=$(submit --gang=spine --gang-layout=tp8,pp4 --gang-keep=pp:leaf -N4 --gpus-per-node=8)
	await 30 runs "$gang"
	equal "$(job_nodes "$gang" | paste -sd' ')" 'n13 n14 n15 n16'
	holds "$(comment "$gang")" 'gang=spine segment=leaf:4 layout=tp8,pp4,dp1 keep=pp:leaf'
	# six nodes of spine s1 are left, three in each leaf
	next=$(submit --gang=spine --gang-layout=tp8,pp4 --gang-keep=pp:leaf -N4 --gpus-per-node=8)
	await 30 says "$next" 'waits: 4 nodes on one spine in segments leaf:4; 1 whole segment of 4 nodes needed, 0 free'
	stays 3 job_is "$next" PENDING
	holds "$(onespine why "$next")" '1 whole segment of 4 nodes needed, 0 free'
	# who only states a layout whose tp groups a node holds takes any of them
	loose=$(submit --gang=spine --gang-layout=tp8,pp4 -N4 --gpus-per-node=8)
	await 30 runs "$loose"
	holds "$(comment "$loose")" 'gang=spine layout=tp8,pp4,dp1; '
	scancel "$loose"
	release n1
	await 30 runs "$next"
	equal "$(job_nodes "$next" | paste -sd' ')" 'n1 n2 n3 n4'
}

@test "a tp group of two nodes lies in one leaf without a word about it" {
	hold n1,n5,n9,n13
	gang=$(submit --gang=spine --gang-layout=tp16 -N4 --gpus-per-node=8)
	await 30 runs "$gang"
	holds "$(comment "$gang")" 'gang=spine segment=leaf:2 layout=tp16,dp2'
	equal "$(leaves "$gang")" '2 2'
}

@test "the order in which pipelines lie together is reported, and is so" {
	said=$(sbatch --output=/dev/null --wrap 'sleep 600' --gang=spine --gang-layout=tp8,pp4 \
		--gang-keep=pp:leaf -N8 --gpus-per-node=8 2>&1)
	holds "$said" 'onespine: --gang-keep=pp:leaf holds for ranks in the order of onespine hosts --layout=tp8,pp4,dp2 --keep=pp:leaf --gpus-per-node=8'
	gang=${said##* }
	[[ $gang == [0-9]* ]] || gang=$(sed -n 's/^Submitted batch job //p' <<<"$said")
	await 30 runs "$gang"
	equal "$(leaves "$gang")" '4 4'
	mapfile -t order < <(onespine hosts "$gang" --layout=tp8,pp4,dp2 --keep=pp:leaf --gpus-per-node=8)
	equal "${#order[@]}" 8
	# Megatron: node rank = dp + 2 pp
	for dp in 0 1; do
		for pp in 1 2 3; do
			equal "$(leaf_of "${order[dp + 2 * pp]}")" "$(leaf_of "${order[dp]}")"
		done
	done
	equal "${order[0]}" "$(job_nodes "$gang" | head -n 1)"
	# in the framework's own order nothing need be told
	equal "$(sbatch --parsable --output=/dev/null --wrap true --gang-layout=tp8,pp4,order=tp-pp-dp \
		--gang-keep=pp:leaf -N8 --gpus-per-node=8 2>&1 | grep -c onespine)" 0
}

@test "what cannot be is refused at submit, with what to type instead" {
	local gpus=--gpus-per-node=8
	holds "$(submit_refused --gang-layout=tp8,pq4 -N8 $gpus)" '--gang-layout, column 5: '
	holds "$(submit_refused --gang-keep=pp:leaf -N8 $gpus)" '--gang-keep=pp:leaf names groups of a layout; say --gang-layout too'
	holds "$(submit_refused --gang-layout=tp8,pp4 --gang-keep=leaf -N8 $gpus)" 'are expected, as in pp:leaf'
	holds "$(submit_refused --gang=off --gang-layout=tp8 -N8 $gpus)" '--gang=off is no gang, and --gang-layout is for one'
	holds "$(submit_refused --gang-layout=tp8,pp4,dp4 -N8 $gpus)" 'tp8,pp4,dp4 is 128 GPUs, but 8 nodes of 8 GPUs have 64; with dp2 it fits'
	holds "$(submit_refused --gang-layout=tp8,pp4,dp2 -N8 --gpus-per-node=4)" 'tp8,pp4,dp2 is 64 GPUs, but 8 nodes of 4 GPUs have 32; with dp1 it fits'
	holds "$(submit_refused --gang-layout=tp8,pp3 -N8 $gpus)" '6 nodes would be dp2'
	holds "$(submit_refused --gang-layout=tp8,pp4 -N4-8 $gpus)" '--gang-layout takes one number of nodes, not 4 to 8: give --nodes=N'
	holds "$(submit_refused --gang-layout=tp8,pp4 --gang-keep=pp:leef -N8 $gpus)" 'no level is called leef; did you mean leaf'
	holds "$(submit_refused --gang-layout=tp8,pp8 --gang-keep=pp:leaf -N8 $gpus)" 'pp groups take 8 nodes in a row, and the largest leaf has 4'
	holds "$(submit_refused --gang-layout=tp8,pp4 --gang-keep=pp:leaf,dp:leaf -N8 $gpus)" 'dp and pp groups cannot both be kept there'
	holds "$(submit_refused --gang-layout=tp8,pp4 --gang-keep=pp:leaf --gang-segment=leaf:2 -N8 $gpus)" \
		'--gang-segment=leaf:2 contradicts --gang-layout, which makes segments leaf:4 here; leave out --gang-segment'
	holds "$(submit_refused --gang-layout=tp8,pp4 --gang-keep=pp:leaf -N8 $gpus -w n1)" 'names all 8 nodes or none, and here it names 1'
	printf '#!/bin/sh\n#SBATCH --gang-layout=tp8,dp2 -N2\n#SBATCH hetjob\n#SBATCH -N1\n' >"$BATS_TEST_TMPDIR/het.sh"
	holds "$(submit_refused "$BATS_TEST_TMPDIR/het.sh")" 'a heterogeneous job cannot be one gang'
}

@test "a user's layout for more GPUs than can be counted is refused, and slurmctld goes on" {
	local layout
	for layout in tp2 tp2048,ep65536,etp65536 tp8,pp4; do
		holds "$(submit_refused "--gang-layout=$layout" -N67108864 --gpus-per-node=64)" \
			'--gang-layout: 67108864 nodes of 64 GPUs have more than 2097152 GPUs'
	done
	gang=$(submit --hold --gang-layout=tp2 -N4 --gpus-per-node=8)
	run scontrol update "JobId=$gang" NumNodes=536870912
	((status)) || fail 'taken: 536870912 nodes'
	cluster check --dir "$ONESPINE_CLUSTER"
}

@test "onespine set gives it a layout, and another size is judged by it" {
	hold 'n[1-15]'
	gang=$(submit --gang=spine -N4 --gpus-per-node=8)
	onespine set "$gang" --gang=spine --gang-layout=tp8,pp2 --gang-keep=pp:leaf
	await 30 says "$gang" 'gang=spine segment=leaf:2 layout=tp8,pp2,dp2 keep=pp:leaf'
	await 30 says "$gang" 'waits: 4 nodes on one spine in segments leaf:2; 2 whole segments of 2 nodes needed, 0 free'
	run scontrol update "JobId=$gang" NumNodes=8-8
	((status)) || fail "taken: 8 nodes"
	release n1,n5,n6,n7
	stays 3 job_is "$gang" PENDING
	release n2
	await 30 runs "$gang"
	equal "$(leaves "$gang")" '2 2'
}

@test "fit, why, audit and map speak of it" {
	hold n1,n9
	holds "$(onespine fit -N 8 --gang=spine --gang-layout=tp8,pp4 --gang-keep=pp:leaf || true)" \
		'waits: 8 nodes on one spine in segments leaf:4; 2 whole segments of 4 nodes needed, 1 free'
	# two nodes of 4 GPUs hold tp8: GPUs count as for sbatch, and so do the segments that get spares
	for words in --gres=gpu:4 --gpus=16 --ntasks-per-node=4; do
		said=$(onespine fit -N 4 --gang=spine --gang-layout=tp8 --gang-spares=1/segment "$words" 2>&1 || true)
		[[ $said != *'makes none here'* ]] || fail "$words: $said"
	done
	holds "$(onespine fit -N 4 --gang=spine --gang-layout=tp8,pp4 --gang-keep=pp:leaf)" \
		'would start now: 4 nodes on 1 spine in segments leaf:4'
	gang=$(submit --gang=spine --gang-layout=tp8,pp4 --gang-keep=pp:leaf -N4 --gpus-per-node=8)
	await 30 runs "$gang"
	said=$(onespine why "$gang")
	holds "$said" 'gang=spine segment=leaf:4 layout=tp8,pp4,dp1 keep=pp:leaf'
	holds "$said" 'its nodes keep what it asked for'
	holds "$(onespine audit)" '1 gang running: 1 as asked for, 0 not'
	holds "$(onespine map)" 'layout=tp8,pp4,dp1'
}

@test "onespine hosts in the shell of salloc has the order of the gang's ranks" {
	# shellcheck disable=SC2016 # for the shell
	run --separate-stderr salloc --gang=spine --gang-layout=tp8,pp2 --gang-keep=pp:leaf -N4 --gpus-per-node=8 sh -c '
		srun sh -c "echo \$SLURM_PROCID \$SLURMD_NODENAME" | sort -n | cut -d" " -f2 | paste -sd" "; onespine hosts | paste -sd" "
		onespine hosts --format=mpirun --tasks-per-node=2 | uniq | paste -sd" "'
	# shellcheck disable=SC2154
	equal "${lines[1]}" "${lines[0]}" "hosts"
	equal "${lines[2]}" "${lines[0]}" "hosts for mpirun"
	[[ $(tr ' ' '\n' <<<"${lines[0]}" | sort -V | paste -sd' ') != "${lines[0]}" ]] || fail "the order is that of names: ${lines[0]}"
}

@test "fit says what waits for nodes that are down from what sbatch refuses, whatever is told of segments; a time changes no word" {
	local time job nodes
	scontrol update NodeName=n1,n5,n9,n13 State=DRAIN Reason=test
	for time in '' --time=30; do
		run onespine fit -N 8 --gang=spine --gang-segment=leaf:4 $time
		holds "$output" 'no: waits: 8 nodes on one spine in segments leaf:4; 2 whole segments of 4 nodes needed, 0 free'
		run onespine fit -N 8 --gang=spine --gang-domains=2 --gang-segment=leaf:3 $time
		equal "${lines[0]}" 'would start now: 8 nodes on 2 spines in segments leaf:3'
		run onespine fit -N 6 --gang=spine --gang-segment=leaf:3 $time
		equal "${lines[0]}" 'would start now: 6 nodes on 1 spine in segments leaf:3'
		holds "$output" 'segments leaf:3 leave 1 of 4 nodes in each full leaf to others'
		nodes=$(sed -n 's/^  leaf [^ ]*: 3 nodes  //p' <<<"$output" | xargs -n1 scontrol show hostnames)
	done
	# the scheduler takes those that fit named
	job=$(submit --gang=spine --gang-segment=leaf:3 -N6 --exclusive --time=30)
	await 30 runs "$job"
	equal "$(job_nodes "$job" | sort)" "$(sort <<<"$nodes")"
	scancel "$job"
	scontrol update NodeName=n2,n6,n10,n14 State=DRAIN Reason=test
	run onespine fit -N 6 --gang=spine --gang-segment=leaf:3
	scontrol update NodeName=n1,n5,n9,n13,n2,n6,n10,n14 State=RESUME
	holds "$output" 'no: waits: 6 nodes on one spine in segments leaf:3; 2 whole segments of 3 nodes needed, 0 free'
}
