#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_gang.bats - a gang runs on one spine or waits

load helpers

# Slurm without a topology takes neighbouring nodes: where n[1-4] are full, n5 to n9 for a job of 5. So each
# test lays out its nodes such that stock Slurm would straddle.
setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 2 4
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --gres gpu:4
}

note() {
	job_field "$1" AdminComment
}

# let_go NODE: ends the job of hold there; a waiting gang may have the node before anybody looks
let_go() {
	scancel --name="hold-$1"
}

@test "3 nodes free under each of two spines: the gang of 4 waits, and starts when one spine has 4" {
	hold 'n[1-5],n[9-13]'
	job=$(submit --gang -N4 --exclusive)
	await 20 note_holds "$job" 'waits: 4 nodes on one spine'
	stays 3 job_is "$job" PENDING
	[[ $(job_reason "$job") == @(Resources|Priority) ]]
	await 10 shows 'has 3 free' note "$job"
	holds "$(squeue -h -j "$job" --Format=JobID,admin_comment:120)" '[onespine: gang=spine; waits: 4 nodes on one spine; '
	[[ $(job_field "$job" Priority) != 0 ]]
	let_go n1
	await_job "$job" RUNNING
	on_one_spine "$job"
	equal "$(job_spines "$job")" s1
	await 10 shows 'domain=s1' note "$job"
}

@test "every node is busy: a gang says why it waits, and so does the one behind it" {
	hold 'n[1-16]'
	for name in first second; do
		job=$(submit -J "$name" --gang -N4 --exclusive)
		await 60 note_holds "$job" '; waits: 4 nodes on one spine; nearest: '
	done
}

@test "an empty cluster: a gang of 4 takes one leaf, a gang of 8 one spine" {
	four=$(submit --gang -N4 --exclusive)
	await_job "$four" RUNNING
	on_one_spine "$four" leaf
	eight=$(submit --gang -N8 --exclusive)
	await_job "$eight" RUNNING
	on_one_spine "$eight"
}

@test "best fit: the gang goes where the least is left over" {
	# n1 to n10 are the neighbours that Slurm would take them from
	hold 'n11,n13,n15'
	job=$(submit --gang -N5 --exclusive)
	await_job "$job" RUNNING
	equal "$(job_spines "$job")" s2
}

@test "--gang=leaf: one leaf, though a spine has room" {
	hold 'n1,n5,n9,n13'
	job=$(submit --gang=leaf -N4 --exclusive)
	await 20 note_holds "$job" 'waits: 4 nodes on one leaf'
	let_go n5
	await_job "$job" RUNNING
	on_one_spine "$job" leaf
	equal "$(job_domains "$job" leaf)" s1l2
}

@test "fewest leaves: a gang goes to the leaf that holds it, though the other spine would be full with it" {
	hold 'n1,n3,n5,n7,n9'
	job=$(submit --gang -N4 --exclusive)
	await_job "$job" RUNNING
	equal "$(hostnames "$(job_nodes "$job")" | paste -sd,)" n13,n14,n15,n16
}

@test "--gang=leaf,prefer: a leaf that has room now" {
	hold 'n1,n3,n5,n7,n9'
	job=$(submit --gang=leaf,prefer -N4 --exclusive)
	await_job "$job" RUNNING
	on_one_spine "$job" leaf
	ranks=$(! slurm_at_least 26.05 || echo 'ranks=slurm; ')
	await 10 shows "gang=spine prefer=leaf; domain=s2l2; leaves=s2l2:n(13-16); ${ranks}placed: 4 nodes on leaf s2l2]" note "$job"
	plain=$(submit --gang -N3 --exclusive)
	await_job "$plain" RUNNING
	equal "$(job_spines "$plain")" s2
	equal "$(onespine audit)" '2 gangs running: 2 as asked for, 0 not'
	srun --gang=leaf,prefer -N2 --exclusive sh -c 'echo $ONESPINE_LEVEL' >"$BATS_TEST_TMPDIR/level"
	equal "$(sort -u "$BATS_TEST_TMPDIR/level")" leaf
}

@test "--gang=leaf,prefer: no leaf has room, so the spine at once, and it is reported; else it waits for a spine" {
	hold 'n1,n5,n9,n[13-16]'
	job=$(submit --gang=leaf,prefer -N4 --exclusive)
	await_job "$job" RUNNING
	equal "$(job_spines "$job")" s1
	await 10 shows 'placed: 4 nodes on spine s1, 2 leaves; no leaf could take it then' note "$job"
	await 10 shows 'no leaf could take it then' onespine why "$job"
	second=$(submit --gang=leaf,prefer -N4 --exclusive)
	await 20 note_holds "$second" 'gang=spine prefer=leaf; waits: 4 nodes on one spine'
	equal "$(onespine fit -N4 --gang=leaf,prefer | head -n 1)" \
		'no: waits: 4 nodes on one spine; nearest: s2 has 3 free of 8 (1 short)'
	equal "$(onespine fit -N2 --gang=leaf,prefer | head -n 1)" 'would start now: 2 nodes on leaf s1l2'
	equal "$(onespine audit)" '1 gang running: 1 as asked for, 0 not'
	let_go n9
	await_job "$second" RUNNING
	on_one_spine "$second" leaf
}

@test "--gang=leaf,prefer: what it cannot mean is refused with what to say" {
	holds "$(submit_refused --gang=spine,prefer -N4)" \
		'--gang=spine,prefer: its partition already holds gangs to one spine, and spine is no level below; ask for --gang=spine'
	holds "$(submit_refused --gang=lef,prefer -N4)" "there is no level 'lef' in this fabric; did you mean leaf?"
	holds "$(submit_refused --gang=leaf,prefr -N4)" "'prefr' cannot follow a level; did you mean prefer?"
	holds "$(submit_refused --gang=leaf,prefer --gang-domains=2 -N4)" \
		'--gang=leaf,prefer is for a gang in one domain: leave it out, or --gang-domains'
	holds "$(submit_refused --gang=leaf,prefer -N9)" '9 nodes on one spine asked for; the largest spine of partition'
	hold 'n[1-15]'
	job=$(submit --gang -N4 --exclusive)
	await 20 note_holds "$job" 'waits:'
	onespine set "$job" --gang=leaf,prefer
	await 20 note_holds "$job" 'gang=spine prefer=leaf; waits: 4 nodes on one spine'
	scontrol update "JobId=$job" NumNodes=3-3
	await 20 note_holds "$job" 'gang=spine prefer=leaf; waits: 3 nodes on one spine'
	for node in n13 n14 n15; do
		let_go "$node"
	done
	await_job "$job" RUNNING
	on_one_spine "$job"
}

@test "a node range takes as many nodes as the best spine has" {
	hold 'n[1-3],n[9-14]'
	job=$(submit --gang -N2-8 --exclusive)
	await_job "$job" RUNNING
	on_one_spine "$job"
	equal "$(job_nodes "$job" | wc -l)" 5
}

@test "-w and -x are kept inside the domain" {
	hold 'n[1-5],n[11-12]'
	job=$(submit --gang -N4 --exclusive -w n10 -x n9)
	await_job "$job" RUNNING
	on_one_spine "$job"
	[[ $'\n'"$(job_nodes "$job")"$'\n' == *$'\n'n10$'\n'* ]]
	[[ $'\n'"$(job_nodes "$job")"$'\n' != *$'\n'n9$'\n'* ]]
}

@test "gangs of parts of nodes share nodes, and never straddle" {
	hold 'n[1-4]'
	for size in 5 5 4 4; do
		jobs+=("$(submit --gang -N$size --ntasks-per-node=1 --cpus-per-task=1 --gres=gpu:2)")
	done
	for job in "${jobs[@]}"; do
		await_job "$job" RUNNING
		on_one_spine "$job"
	done
}

@test "gangs by tasks and by GPUs, without -N, stay on one spine" {
	hold 'n[1-6]'
	job=$(submit --gang -n 20 --ntasks-per-node=4 --gres=gpu:4)
	await_job "$job" RUNNING
	on_one_spine "$job"
	equal "$(job_spines "$job")" s2
	scancel "$job"
	job=$(submit --gang --gpus=20)
	await_job "$job" RUNNING
	on_one_spine "$job"
	equal "$(job_spines "$job")" s2
}

@test "every task of an array is a gang of its own" {
	hold 'n[1-2]'
	job=$(submit --gang -N5 --exclusive --array=1-2)
	await 30 none_left_pending
	for task in 1 2; do
		on_one_spine "${job}_$task"
	done
}

none_left_pending() {
	[[ -z $(squeue -h -t PENDING,CONFIGURING -o %i) ]]
}

@test "a held gang waits for its release, and scontrol update of its size is obeyed" {
	hold 'n[1-2]'
	job=$(submit --gang -N4 --exclusive --hold)
	stays 2 job_is "$job" PENDING
	scontrol update "JobId=$job" NumNodes=7-7
	scontrol release "$job"
	await_job "$job" RUNNING
	on_one_spine "$job"
	equal "$(job_nodes "$job" | wc -l)" 7
}

@test "a requeued gang starts again on one spine" {
	hold 'n[1-4]'
	job=$(submit --gang -N5 --exclusive)
	await_job "$job" RUNNING
	scontrol requeue "$job"
	await 10 job_is "$job" PENDING
	begin_soon "$job"
	await_job "$job" RUNNING
	on_one_spine "$job"
}

@test "the administrator's words in AdminComment stay" {
	hold 'n[1-5],n[9-13]'
	job=$(submit --gang -N4 --exclusive)
	await 20 note_holds "$job" waits:
	scontrol update "JobId=$job" AdminComment='ticket 4711'
	await 20 note_holds "$job" waits:
	await 10 shows 'ticket 4711' note "$job"
	let_go n1
	await_job "$job" RUNNING
	await 10 shows 'ticket 4711' note "$job"
	await 10 shows 'domain=s1' note "$job"
	placed=$(note "$job")
	scontrol update "JobId=$job" AdminComment='ticket 4712'
	equal "$(note "$job")" "${placed/4711/4712}"
}

@test "a reservation's nodes are the only ones a gang in it may use" {
	scontrol create reservation ReservationName=maintenance StartTime=now Duration=60 \
		Users=root Nodes='n[7-9],n[12-14]'
	job=$(submit --gang -N3 --exclusive --reservation=maintenance)
	await_job "$job" RUNNING
	equal "$(job_spines "$job")" s2
	outside=$(submit --gang -N6 --exclusive)
	await_job "$outside" RUNNING
	equal "$(job_spines "$outside")" s1
	scancel "$job" "$outside"
}

# waits_unheld JOB WORDS: it waits, is not held, and AdminComment and `onespine why` say what for
waits_unheld() {
	[[ $(job_state "$1") == PENDING && $(job_field "$1" Priority) != 0 ]] || return 1
	[[ $(note "$1") == *"$2"* && $(onespine why "$1") == *"$2"* ]]
}

@test "a drain takes a waiting gang's spines away: it waits and says so, is never held, and starts when they are back" {
	hold 'n[1-5],n[9-13]'
	job=$(submit --gang -N4 --exclusive)
	await 20 waits_unheld "$job" 'waits: 4 nodes on one spine'
	scontrol update NodeName='n[1-5],n[9-13]' State=DRAIN Reason='bad cable'
	release 'n[1-5],n[9-13]'
	await 20 waits_unheld "$job" 'waits: 4 nodes on one spine; none has 4 usable'
	stays 5 waits_unheld "$job" 'none has 4 usable'
	scontrol update NodeName=n1 State=RESUME
	await_job "$job" RUNNING
	equal "$(job_spines "$job")" s1
}

@test "a reservation takes a waiting gang's spines away: it waits and says so, is never held, and starts when they are back" {
	hold 'n[1-5],n[9-13]'
	job=$(submit --gang -N4 --exclusive)
	await 20 waits_unheld "$job" 'waits: 4 nodes on one spine'
	scontrol create reservation ReservationName=others StartTime=now Duration=60 Users=daemon \
		Flags=IGNORE_JOBS Nodes='n[1-5],n[9-13]'
	release 'n[1-5],n[9-13]'
	await 20 waits_unheld "$job" 'waits: 4 nodes on one spine; none has 4 usable'
	stays 5 waits_unheld "$job" 'none has 4 usable'
	scontrol delete ReservationName=others
	await_job "$job" RUNNING
	on_one_spine "$job"
}

@test "salloc and srun place gangs too" {
	hold 'n[1-5]'
	equal "$(salloc --gang -N4 --exclusive sh -c 'scontrol show hostnames $SLURM_JOB_NODELIST' 2>/dev/null |
		while read -r node; do node_domain "$node" spine; done | sort -u)" s2
	equal "$(srun --gang -N4 --exclusive sh -c 'echo $SLURMD_NODENAME' |
		while read -r node; do node_domain "$node" spine; done | sort -u)" s2
}

said_once() {
	(($(grep -c 'onespine: waits: ' "$1") == 1))
}

@test "an srun and a salloc that wait say why, once" {
	hold 'n[1-5],n[9-13]'
	for client in srun salloc; do
		"$client" -J "$client" --gang -N4 --exclusive true </dev/null >"$BATS_TEST_TMPDIR/$client" 2>&1 &
		await 60 shows "$client: onespine: waits: 4 nodes on one spine; nearest: " cat "$BATS_TEST_TMPDIR/$client"
		stays 5 said_once "$BATS_TEST_TMPDIR/$client"
	done
	scancel --name=srun
	scancel --name=salloc
	wait
}

@test "a salloc is told where its gang stands, at once or after it has waited; an srun is not" {
	local out=$BATS_TEST_TMPDIR/out
	ONESPINE_GANG=spine salloc -K -J now -N2 --exclusive sleep 600 </dev/null >"$out" 2>&1 &
	await 60 shows 'salloc: onespine: placed: 2 nodes on spine s' cat "$out"
	scancel --name=now
	wait
	hold 'n[1-5],n[9-13]'
	salloc -K -J later --gang -N4 --exclusive sleep 600 </dev/null >"$out" 2>&1 &
	await 60 shows 'salloc: onespine: waits: 4 nodes on one spine; nearest: ' cat "$out"
	scancel "$(squeue -h -o %i --name=hold-n5)"
	await 60 shows 'salloc: onespine: placed: 4 nodes on spine s1' cat "$out"
	scancel --name=later
	wait
	srun -J step --gang -N2 --exclusive sh -c 'echo runs; sleep 600' </dev/null >"$out" 2>&1 &
	await 60 shows runs cat "$out"
	[[ $(cat "$out") != *placed* ]]
	scancel --name=step
	wait
}
