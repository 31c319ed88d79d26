#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_command.bats - the command `onespine` beside a running Slurm

load helpers

setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 2 4
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --gres gpu:4 --conf Licenses=matlab:2 \
		--partition 'gpu Nodes=ALL Default=YES' --partition 'debug Nodes=n[1-2]' \
		--partition 'short Nodes=ALL MaxTime=30 MaxNodes=4 MinNodes=2'
	export LC_ALL=C.UTF-8
}

# answers STATUS COMMAND...: runs it, output to $said
answers() {
	local wanted=$1 status=0
	shift
	said=$("$@" 2>&1) || status=$?
	equal "$status" "$wanted" "status of $* (it said: $said)"
}

why_holds() {
	[[ $(onespine why "$1" 2>&1) == *"$2"* ]]
}

# without the times, which differ from run to run
timeless() {
	sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}/TIME/g; s/\(in [0-9a-z]+\)/(in SOME)/'
}

@test "topology check: Slurm's nodes and the fabric's are the same, or are named" {
	answers 0 onespine topology check
	holds "$said" 'onespine.topology: 16 nodes: 4 leaves of 4, 2 spines of 8'
	holds "$said" 'Slurm has the same 16 nodes'
	make_topology "$BATS_TEST_TMPDIR/other" 2 2 4 3
	answers 1 onespine topology check "$BATS_TEST_TMPDIR/other"
	holds "$said" "2 of Slurm's nodes are not in it (no gang gets them): n[1-2]"
	holds "$said" '2 of its nodes are unknown to Slurm: n[17-18]'
}

@test "config check: partitions and nodes of launch_groups are compared with Slurm's, and levels with the topology's" {
	answers 0 onespine config check
	printf 'partitions:\n  gpus:\n    gang: always\n' >"$BATS_TEST_TMPDIR/onespine.yaml"
	answers 1 onespine config check "$BATS_TEST_TMPDIR/onespine.yaml"
	holds "$said" 'onespine.yaml:2:3: Slurm has no partition gpus; did you mean gpu?'
	printf 'watch:\n  launch_groups: "cr-0a=n[1-2] cr-0b=n16,m16"\n' >"$BATS_TEST_TMPDIR/onespine.yaml"
	answers 1 onespine config check "$BATS_TEST_TMPDIR/onespine.yaml"
	holds "$said" 'onespine.yaml:2:18: launch_groups: Slurm has no node m16; did you mean n16?'
	printf 'watch:\n  launch_groups: cr-0a=x[1-2]\n' >"$BATS_TEST_TMPDIR/onespine.yaml"
	answers 1 onespine config check "$BATS_TEST_TMPDIR/onespine.yaml"
	holds "$said" 'onespine.yaml:2:18: launch_groups: Slurm has none of 2 nodes here, the first being x1'
	printf 'watch:\n  launch_groups: "cr-0a=n[1-2] cr-0b=n[3-16]"\n' >"$BATS_TEST_TMPDIR/onespine.yaml"
	answers 0 onespine config check "$BATS_TEST_TMPDIR/onespine.yaml"
	printf 'defaults: {level: spin}\n' >"$BATS_TEST_TMPDIR/onespine.yaml"
	answers 1 onespine config check "$BATS_TEST_TMPDIR/onespine.yaml"
	holds "$said" "onespine.yaml:1:19: the topology $ONESPINE_CLUSTER/onespine.topology has no level 'spin'; did you mean spine?"
}

@test "fit says what then happens" {
	hold 'n[1-5],n[9-13]'
	answers 1 onespine fit -N 4
	holds "$said" 'no: waits: 4 nodes on one spine; nearest: s1 has 3 free of 8 (1 short)'
	answers 0 onespine fit -N 3
	equal "${said%%$'\n'*}" 'would start now: 3 nodes on spine s1'
	job=$(submit --gang -N3 --exclusive)
	await_job "$job" RUNNING
	equal "$(hostnames "$(job_nodes "$job")" | paste -sd,)" n6,n7,n8
	answers 1 onespine fit -N 3 -x n14
	holds "$said" 'no: waits: 3 nodes on one spine; nearest: s2 has 2 free of 7 (1 short)'
}

@test "fit knows drained nodes and partitions" {
	scontrol update NodeName=n6,n7 State=DRAIN Reason='bad NIC'
	answers 1 onespine fit -N 8 -w n1
	holds "$said" 's1, which has the nodes that the job requires, has 6 usable'
	answers 1 onespine fit -N 3 -p debug
	holds "$said" 'no: sbatch refuses it: 3 nodes on one spine asked for; the largest spine of partition debug has 2 (s1)'
	SBATCH_PARTITION=debug answers 1 onespine fit -N 3
	holds "$said" 'no: sbatch refuses it: 3 nodes on one spine asked for; the largest spine of partition debug has 2 (s1)'
	holds "$said" '  taken from the environment, as sbatch does: SBATCH_PARTITION=debug'
	answers 2 onespine fit -N 3 -p debgu
	equal "$said" "onespine: there is no partition 'debgu'; did you mean debug?"
}

@test "fit and the variables: an empty one, one that stands beside another, one without an option of fit's; --time=0 is no limit" {
	local n job
	job=$(submit -N2 -n2 -w n1,n9 -t 60)
	await_job "$job" RUNNING
	answers 0 onespine fit -N 8
	SBATCH_EXCLUSIVE='' answers 1 onespine fit -N 8
	holds "$said" 'no: waits: 8 nodes on one spine; nearest: s1 has 7 free of 8 (1 short)'
	holds "$said" '  taken from the environment, as sbatch does: SBATCH_EXCLUSIVE='
	SBATCH_EXCLUSIVE=oversubscribe answers 0 onespine fit -N 8
	SBATCH_MEM_PER_NODE=1 SBATCH_MEM_PER_CPU=1 answers 1 onespine fit -N 4
	holds "$said" 'no: sbatch refuses it: SLURM_MEM_PER_CPU, SLURM_MEM_PER_GPU, and SLURM_MEM_PER_NODE are mutually exclusive.'
	SBATCH_MEM_PER_CPU=100T answers 1 onespine fit -N 4
	holds "$said" '  sbatch obeys too: SBATCH_MEM_PER_CPU=100T'
	ONESPINE_GANG_DOMAINS='' answers 1 onespine fit -N 4 -t 30
	equal "${said%%$'\n'*}" 'no: sbatch refuses it: ONESPINE_GANG_DOMAINS: --gang-domains=: in how many domains at most is expected, a number from 1 to 131072'
	# so says sbatch itself
	run ! env ONESPINE_GANG_DOMAINS='' sbatch -N4 -t 30 --wrap true
	holds "$output" 'ONESPINE_GANG_DOMAINS: --gang-domains=: in how many domains at most is expected, a number from 1 to 131072'
	answers 0 onespine fit -N 4 -p short -t 30
	for n in 0 0:0 31; do
		answers 1 onespine fit -N 4 -p short -t "$n"
		equal "${said%%$'\n'*}" 'no: it asks for more time than its partition short allows a job'
	done
	job=$(submit --gang -N4 -p short -t 0)
	await 10 shows Reason=PartitionTimeLimit scontrol show job "$job"
}

@test "fit takes sbatch's options as sbatch does, names the scheduler's own nodes, and says what sbatch would refuse, and the cure" {
	local job
	hold 'n[1-5],n[9-13]'
	answers 0 onespine fit -N 3 -n 6 --gres gpu:2 -t 10 --exclusive
	job=$(submit --gang -N 3 -n 6 --gres gpu:2 -t 10 --exclusive)
	await_job "$job" RUNNING
	equal "$(hostnames "$(sed -n 's/^  leaf [^ ]*: 3 nodes  //p' <<<"$said")")" "$(job_nodes "$job")"
	scancel "$job"
	await 30 none_running "$job"
	# without -N: sbatch works out the nodes
	answers 0 onespine fit -n 3 --ntasks-per-node=1 --gpus=12
	equal "${said%%$'\n'*}" 'would start now: 3 nodes on spine s1'
	answers 1 onespine fit -N 3 --begin=now+1hour
	holds "$said" 'no: it begins at now+1hour at the earliest (--begin)'
	[[ $said != *nearest* ]]
	# sbatch --test-only looks at no licenses
	job=$(submit -N 1 -L matlab:2 -w n14)
	await_job "$job" RUNNING
	answers 1 onespine fit -N 3 --exclusive -L matlab
	equal "${said%%$'\n'*}" 'no: too few licenses are free (matlab)'
	[[ $said != *'would start it'* ]]
	scancel "$job"
	await 30 none_running "$job"
	answers 0 onespine fit -N 3 --exclusive -L matlab:2
	answers 1 onespine fit -N 4 --exclusive
	holds "$said" 'no: waits: 4 nodes on one spine; nearest: s1 has 3 free of 8 (1 short)'
	# Slurm ends a job without a time limit after a year, to plan: that is no start to tell
	[[ $said != *'would start it'* ]]
	equal "$(onespine fit -N 4 --exclusive --json | jq .starts)" null
	scontrol update "JobId=$(squeue -h -o %i | paste -sd,)" TimeLimit=60
	answers 1 onespine fit -N 4 --exclusive
	holds "$said" 'no: waits: 4 nodes on one spine; nearest: s1 has 3 free of 8 (1 short)'
	holds "$said" 'Slurm would start it at '
	answers 1 onespine fit -N 3 --gres gpu:9
	holds "$said" 'no: sbatch refuses it: Requested node configuration is not available'
	holds "$said" "compare -c, --mem, --gres and --gpus-per-node with 'sinfo -o \"%N %c %m %G\"'"
	# more processors than all nodes have together: sbatch lets that wait
	answers 1 onespine fit -N 2 -c 1000
	holds "$said" 'no: its partition gpu takes no such job as it is set now'
	job=$(submit --gang -N 2 -c 1000)
	await 10 shows Reason=PartitionConfig scontrol show job "$job"
	scancel "$job"
	# fewer nodes have the features than it needs, whatever their state: sbatch refuses that too
	scontrol update NodeName='n[1-2]' Features=few
	answers 1 onespine fit -N 3 -C few
	equal "$said" "no: sbatch refuses it: Requested node configuration is not available
  too few nodes of one spine have the features few; 'sinfo -o \"%N %f\"' lists what nodes have"
	answers 1 sbatch --gang -N 3 -C few --wrap true
	answers 1 onespine fit -N 2 -C few
	holds "$said" 'no: waits: 2 nodes on one spine; nearest: s1 has 0 free of 2 with feature few (2 short)'
	answers 1 onespine fit -N 2 -w n1 -x n1
	holds "$said" 'no spine of partition gpu has all the nodes that --nodelist requires without the nodes of --exclude'
	answers 1 onespine fit -N 2 -x 'n[1-16]'
	holds "$said" 'no: sbatch refuses it: 2 nodes on one spine asked for; no node of partition gpu is on a known spine without the nodes of --exclude'
	scontrol update NodeName='n[1-2]' ActiveFeatures=
	scontrol update NodeName='n[1-2]' AvailableFeatures=
	if ! slurm_at_least 23.11; then # sbatch would take it for --extra-node-info
		answers 2 onespine fit -N 3 --extra rack=2
		equal "$said" 'onespine: --extra: sbatch has it from Slurm 23.11 on'
	fi
	answers 1 onespine fit -N 3 -C nosuch
	holds "$said" 'no: sbatch refuses it: Invalid feature specification'
	holds "$said" "'sinfo -o %f' lists the features"
	answers 1 onespine fit -N 12 --json
	equal "$(jq -c '[.refused, .says]' <<<"$said")" \
		'[true,"sbatch refuses it: 12 nodes on one spine asked for; the largest spine of partition gpu has 8 (s1); ask for 8 nodes"]'
	answers 1 onespine fit -N 2 -w n1,n6
	holds "$said" 'no: waits: 2 nodes on one spine; n1, which the job requires, is in use'
}

@test "fit: a gang with --begin waits for its time, free nodes or not, as why says of it once submitted" {
	local job
	hold 'n[1-16]'
	answers 1 onespine fit -N 4 --exclusive --begin=now+1hour
	equal "${said%%$'\n'*}" 'no: it begins at now+1hour at the earliest (--begin)'
	answers 1 onespine fit -N 4 --exclusive --gang-segment=leaf:2 --begin=now+1hour
	equal "${said%%$'\n'*}" 'no: it begins at now+1hour at the earliest (--begin)'
	job=$(submit --gang -N 4 --exclusive --begin=now+1hour)
	await 20 why_holds "$job" 'at the earliest (--begin)'
	# a time that has come keeps nothing waiting
	answers 1 onespine fit -N 4 --exclusive --begin=now
	equal "${said%%$'\n'*}" 'no: waits: 4 nodes on one spine; nearest: s1 has 0 free of 8 (4 short)'
}

@test "fit: jobs that wait take nothing from a gang that shares nodes, as little as they do from the same job once submitted" {
	local waits job
	await_job "$(submit -w 'n[9-16]' -N8 --exclusive -t 60)" RUNNING
	await_job "$(submit -w 'n[1-8]' -N8 -n8 --gres gpu:1 -t 60)" RUNNING
	waits=$(submit --gang -N4 --exclusive -t 30)
	await 30 shows 'waits: 4 nodes on one spine' scontrol show job "$waits"
	# Slurm's own answer adds the time of the gang that waits
	answers 0 onespine fit -N 4 --gres gpu:1 -t 30
	equal "${said%%$'\n'*}" 'would start now: 4 nodes on spine s1'
	answers 1 onespine fit -N 4 --gres gpu:4 -t 30
	equal "${said%%$'\n'*}" 'no: waits: 4 nodes on one spine; nearest: s1 has 0 free of 8 (4 short)'
	job=$(submit --gang -N 4 --gres gpu:1 -t 30)
	await_job "$job" RUNNING
	equal "$(job_state "$waits")" PENDING
	scancel "$waits" "$job"
}

@test "fit: GPUs that are asked for in all lie on the nodes in any shares" {
	local job
	await_job "$(submit -w 'n[3-16]' -N14 --exclusive -t 60)" RUNNING
	await_job "$(submit -w n1 -N1 -n1 --gres gpu:3 -t 60)" RUNNING
	# as many on each node would be too many for n1
	answers 0 onespine fit -N 2 --gpus=4 -t 30
	equal "${said%%$'\n'*}" 'would start now: 2 nodes on spine s1'
	answers 1 onespine fit -N 2 --gpus=6 -t 30
	equal "${said%%$'\n'*}" 'no: waits: 6 GPUs on 2 nodes of one spine; nearest: 2 nodes of s1 have at most 5 left (1 short)'
	job=$(submit --gang -N 2 --gpus=4 -t 30)
	await_job "$job" RUNNING
	scancel "$job"
}

@test "fit: what sbatch refuses is reported in the words of who refused, and no cure of another fault stands below" {
	local row words
	for row in '--gang-segment=leaf:3,leff:1|--gang-segment=leaf:3,leff:1: no level is called leff; did you mean leaf' \
		'--gang-layout=tp8,pp9|--gang-layout: tp8 x cp1 x pp9 are 72 GPUs, of which 4 nodes of 4 GPUs hold no whole number; 18 nodes would be dp1' \
		'--gang-keep=pp:leaf|--gang-keep=pp:leaf names groups of a layout; say --gang-layout too, as in --gang-layout=tp8,pp8' \
		'--gang-domains=x|--gang-domains=x: in how many domains at most is expected, a number from 1 to 131072' \
		'--gang-spares=1|--gang-spares cannot work here: in slurm.conf PrologFlags lacks Alloc; leave it out'; do
		answers 1 onespine fit -N 4 "${row%%|*}"
		equal "$said" "no: sbatch refuses it: ${row#*|}"
		words=$(submit_refused --gang -N 4 "${row%%|*}")
		holds "$words" "${row#*|}"
	done
}

@test "fit: what its partition does not allow a job, of which sbatch --test-only says nothing, in the words of why" {
	local row words job options
	for row in "-N 2 -p short -t 60|it asks for more time than its partition short allows a job" \
		"-N 2 -p short -t UNLIMITED|it asks for more time than its partition short allows a job" \
		"-N 5 -p short|it asks for more or fewer nodes than its partition short allows a job" \
		"-N 1 -p short|it asks for more or fewer nodes than its partition short allows a job" \
		"-N 2 -p debug|its partition debug starts no jobs (State=DOWN)"; do
		words=${row#*|}
		read -ra options <<<"${row%%|*}"
		[[ $row != *debug* ]] || scontrol update PartitionName=debug State=DOWN
		answers 1 onespine fit "${options[@]}"
		equal "${said%%$'\n'*}" "no: $words"
		[[ $said != *'would start'* ]]
		equal "$(onespine fit "${options[@]}" --json | jq -c '[.starts_now, .says, .starts]')" "[false,\"$words\",null]"
		answers 1 onespine fit "${options[@]}" --gang-segment=leaf:1
		equal "${said%%$'\n'*}" "no: $words"
		job=$(submit --gang "${options[@]}")
		await 30 why_holds "$job" "$words"
		scancel "$job"
	done
	scontrol update PartitionName=debug State=UP
	for options in "-N2 -t30" -N4 -N2-9; do
		# shellcheck disable=SC2086
		answers 0 onespine fit $options -p short
	done
	answers 0 onespine fit -N 2 -p debug
}

@test "fit: -w may name fewer nodes than -N, as it may for sbatch" {
	local job
	hold 'n[13,15]'
	answers 0 onespine fit -N 3 -w n14 --exclusive
	job=$(submit --gang -N 3 -w n14 --exclusive)
	await_job "$job" RUNNING
	equal "$(hostnames "$(sed -n 's/^  leaf [^ ]*: [0-9] nodes*  //p' <<<"$said" | paste -sd,)")" "$(job_nodes "$job")"
	scancel "$job"
	await 30 none_running "$job"
	answers 1 onespine fit -N 3 -w n14 --exclusive --begin=now+1hour
	equal "${said%%$'\n'*}" 'no: it begins at now+1hour at the earliest (--begin)'
	answers 1 onespine fit -N 7 -w n14
	holds "$said" 'no: waits: 7 nodes on one spine; nearest: s2 has 6 free of 8 (1 short)'
	answers 1 onespine fit -N 3 -w n14 --gres gpu:9
	holds "$said" 'no: sbatch refuses it: Requested node configuration is not available'
}

none_running() {
	! squeue -h -j "$1" -t RUNNING,COMPLETING -o %i | grep -q .
}

# gang_may_have NODE: it would start there now
gang_may_have() {
	sbatch --test-only --gang -N1 --exclusive -w "$1" --wrap true
}

@test "why: a waiting gang, the nearest domains, the jobs in the way and their ends" {
	long=$(submit -w 'n[1-5]' -N5 --exclusive -t 60)
	short=$(submit -w 'n[9-13]' -N5 --exclusive -t 30)
	await_job "$long" RUNNING
	await_job "$short" RUNNING
	scontrol update NodeName=n16 State=DRAIN Reason='bad NIC'
	job=$(submit --gang -N4 --exclusive -J big)
	await 20 why_holds "$job" 'waits: 4 nodes on one spine; nearest: s1 has 3 free of 8 (1 short)'
	answers 0 onespine why "$job"
	text=$(timeless <<<"$said" | grep -v -e 'waits since' -e "Slurm's reason")
	equal "$text" "job $job big of root: PENDING, 4 nodes, gang=spine
  waits: 4 nodes on one spine; nearest: s1 has 3 free of 8 (1 short)

  spine  usable  free  short by  enough from
  s1          8     3         1  TIME
  s2          7     2         2  TIME

In the way on spine s1:
  job $long (root): 5 nodes, ends by TIME (in SOME)"
	equal "$(onespine why "$job" --json | jq -c '[.job, .starts_now, .domains[0].domain, .in_the_way[0].job]')" \
		"[\"$job\",false,\"s1\",\"$long\"]"
	scontrol update NodeName=n16 State=RESUME
	await 10 gang_may_have n16 # slurmctld's view of nodes is up to a second old
	scancel "$short"
	await_job "$job" RUNNING
	answers 0 onespine why "$job"
	holds "$said" 'placed: 4 nodes on spine s2, 1 leaf'
	holds "$said" 'all its nodes are on leaf s2l'
	scancel "$job"
	await 30 why_holds "$job" CANCELLED
	await 10 shows 'placed: 4 nodes on spine s2' onespine why "$job"
}

@test "why: of a job that was cancelled while it waited nobody says that it ran" {
	hold 'n[1-5],n[9-13]'
	job=$(submit --gang -N4 --exclusive)
	await 20 why_holds "$job" 'waits: 4 nodes on one spine; nearest: s1 has 3 free of 8 (1 short)'
	await 30 shows 'waits: 4 nodes on one spine' scontrol show job "$job"
	scancel "$job"
	await 30 why_holds "$job" CANCELLED
	answers 0 onespine why "$job"
	matches "$said" 'it never ran; it ended at 2'
	holds "$said" "the scheduler's last word: waits: 4 nodes on one spine"
	[[ $said != *' ran from '* ]]
}

@test "nodes in part used: the note, why, map and fit count the same ones as free" {
	local words='waits: 8 nodes on one spine; nearest: s2 has 7 free of 8 (1 short)' node job
	for node in n9 n10 n11; do
		submit -N1 -n1 -w "$node" -t 60 --job-name="hold-$node" >/dev/null
	done
	hold 'n[1-2,12]'
	job=$(submit --gang -N8 -n8 --gres gpu:2)
	await 30 shows "$words" scontrol show job "$job"
	answers 0 onespine why "$job"
	holds "$said" "  $words"
	holds "$said" 'nodes that jobs leave enough of count as free'
	matches "$said" 's2 +8 +7 +1 '
	# what leaves enough is not in the way
	equal "$(onespine why "$job" --json | jq -c '[.in_the_way[].nodes_here]')" '[1]'
	holds "$(onespine map)" "gang=spine, 8 nodes; $words"
	answers 1 onespine fit -N8 -n8 --gres gpu:2
	equal "${said%%$'\n'*}" "no: $words"
	answers 1 onespine fit -N8 -n8 -c8
	equal "${said%%$'\n'*}" 'no: waits: 8 nodes on one spine; nearest: s1 has 6 free of 8 (2 short)'
}

@test "gangs behind others: the note, why, map and fit count the same nodes as free, though backfill keeps them" {
	local long short first second small shared array job words
	long=$(submit -w 'n[1-5]' -N5 --exclusive -t 60) # both end, so that backfill plans the gangs
	short=$(submit -w 'n[9-13]' -N5 --exclusive -t 30)
	await_job "$long" RUNNING
	await_job "$short" RUNNING
	first=$(submit --gang -N8 --exclusive -t 60)
	second=$(submit --gang -N8 --exclusive -t 60)
	small=$(submit --gang -N2 --exclusive)
	shared=$(submit --gang -n 32 --gpus=16)
	await 30 why_holds "$small" 'spine s1 has room for it now: it waits for its turn, jobs with a higher priority come first'
	words='waits: 4 nodes on one spine; nearest: s1 has 3 free of 8 (1 short)'
	# 25.11's backfill may ask for this one at a later slot alone: then its note says nothing
	slurm_at_least 25.11 || await 60 shows "$words" scontrol show job "$shared"
	await 30 why_holds "$shared" "  $words"
	# room is no start: the gang of 2 has room and waits
	answers 0 onespine fit -N 2 --exclusive
	holds "$said" "  4 jobs wait for its partition's nodes: those of a higher priority or PriorityTier come first"
	equal "$(onespine fit -N 2 --exclusive --json | jq .jobs_waiting)" 4
	array=$(submit --gang --array=1-5 -N8 --exclusive)
	equal "$(onespine fit -N 2 --exclusive --json | jq .jobs_waiting)" 9
	scancel "$array"
	[[ $(onespine map) != *'0 free of'* && $(onespine why) != *'0 free of'* ]]
	for job in "$first" "$second" "$small" "$shared"; do
		[[ $(scontrol show job "$job") != *'0 free of'* ]]
	done
	scancel "$first" "$second" "$small" "$shared" "$long" "$short"
}

@test "why without a job: each that waits in a line, a gang with its reason, others with Slurm's" {
	hold 'n[1-5],n[9-13]'
	equal "$(onespine why)" 'no job waits'
	gang=$(submit --gang -N4 --exclusive -J big)
	held=$(submit --hold -J plain)
	await 20 why_holds "$gang" 'waits: 4 nodes on one spine; nearest: s1 has 3 free of 8 (1 short)'
	answers 0 onespine why
	equal "$(sed -E 's/, [0-9a-z]+: /, SOME: /' <<<"$said")" "$gang big of root, 4 nodes, gang=spine, SOME: waits: 4 nodes on one spine; nearest: s1 has 3 free of 8 (1 short)
$held plain of root, 1 node, SOME: it is held by its owner; 'scontrol release $held' ends that"
	scancel "$gang" "$held"
}

@test "why: a gang that is held, begins later, depends on another, needs a feature or a node in use says that and no more" {
	local job first row words
	hold 'n[1-5],n[9-13]'
	first=$(squeue -h -t RUNNING -o %i | head -n 1)
	for row in '--hold|it is held by its owner; ' '--begin=now+1hour|at the earliest (--begin)' \
		"--dependency=afterok:$first|it depends on other jobs (afterok:$first"; do
		words=${row#*|}
		job=$(submit --gang -N4 --exclusive "${row%%|*}")
		await 30 why_holds "$job" "$words"
		answers 0 onespine why "$job"
		[[ $said != *nearest* ]]
		holds "$(onespine why | grep "^$job ")" "$words"
		scancel "$job"
	done
	job=$(submit --gang -N1 --exclusive)
	await_job "$job" RUNNING
	scontrol requeuehold "$job"
	words="it was put back into the queue and held; 'scontrol release $job' ends that"
	await 30 why_holds "$job" "$words"
	holds "$(onespine why | grep "^$job ")" "$words"
	[[ $(onespine why "$job") != *'by its owner'* ]]
	scancel "$job"
	job=$(submit --gang -N2 --exclusive -w n1,n6)
	words='waits: 2 nodes on one spine; n1, which the job requires, is in use'
	await 30 why_holds "$job" "$words"
	await 30 shows "$words" scontrol show job "$job"
	scancel "$job"
	scontrol update NodeName=n5,n6,n7 AvailableFeatures=new ActiveFeatures=new
	job=$(submit --gang -N3 --exclusive -C new)
	words='waits: 3 nodes on one spine; nearest: s1 has 2 free of 3 with feature new (1 short)'
	await 30 why_holds "$job" "$words"
	await 30 shows "$words" scontrol show job "$job"
	scancel "$job"
	scontrol update NodeName=n5,n6,n7 AvailableFeatures= ActiveFeatures=
}

@test "why and fit: nodes reserved before the job could end are not free for it, as the scheduler sees it; a shorter job starts" {
	local long short limit words='waits: 2 nodes on one spine; nearest: '
	hold 'n[1-4]'
	scontrol create ReservationName=tuesday StartTime=now+1hour Duration=60 Nodes='n[5-16]' Users=daemon >/dev/null
	long=$(submit --gang -N2 --exclusive -t 2:00:00)
	await 30 shows "$words" scontrol show job "$long"
	await 30 why_holds "$long" "$words"
	answers 0 onespine why "$long"
	[[ $said != *'has room'* && $said != *' now'* ]]
	for limit in 2:00:00 UNLIMITED -1; do
		answers 1 onespine fit -N2 --exclusive "--time=$limit"
		[[ $said != *' now'* ]]
	done
	answers 0 onespine fit -N2 --exclusive -t 30
	holds "$said" 'would start now: 2 nodes on spine '
	short=$(submit --gang -N2 --exclusive -t 30)
	await_job "$short" RUNNING
	free_all
}

@test "fit: what a reservation keeps from a job is no refusal, whatever sbatch --test-only says: the job waits, and why says so too" {
	local job words='waits: 2 nodes on one spine; nearest: s1 has 0 free of 2 (2 short)'
	scontrol create ReservationName=tuesday StartTime=now+600 Duration=60 Nodes='n[1-8]' Users=root >/dev/null
	run sbatch --test-only --gang -N2 -p debug -t 60 --wrap true
	holds "$output" 'Requested node configuration is not available'
	answers 1 onespine fit -N2 -p debug -t 60
	holds "$said" "no: $words"
	answers 1 onespine fit -N2 -p debug -t 60 --gang-segment=leaf:2
	[[ $said != *refuses* ]]
	job=$(submit --gang -N2 -p debug -t 60)
	await 30 why_holds "$job" "$words"
	scancel "$job"
	# what no node has is refused all the same, also beside nodes that are not reserved
	answers 1 onespine fit -N2 --gres gpu:9 -t 60
	holds "$said" 'no: sbatch refuses it: '
	# its own, which has not begun
	answers 1 onespine fit -N2 --reservation=tuesday
	holds "$said" 'no: it waits for its reservation tuesday, which has not begun or has no room yet'
	job=$(submit --gang -N2 --reservation=tuesday)
	await 30 why_holds "$job" 'it waits for its reservation tuesday, which has not begun or has no room yet'
	scancel "$job"
	answers 1 onespine fit -N2 --reservation=wednesday
	holds "$said" 'no: sbatch refuses it: Requested reservation is invalid'
	free_all
}

@test "fit: a reservation too small for the job is a refusal, as sbatch says; a node of it that is out, or its end before --begin, is none" {
	scontrol create ReservationName=small StartTime=now Duration=60 Nodes='n[1-3]' Users=root >/dev/null
	answers 1 onespine fit -N4 --reservation=small
	holds "$said" 'no: sbatch refuses it: Requested node configuration is not available'
	holds "$said" 'its reservation small has too few nodes for it on one spine'
	holds "$(submit_refused --gang -N4 --reservation=small)" 'Requested node configuration is not available'
	scontrol update NodeName=n2 State=DRAIN Reason=test
	answers 1 onespine fit -N3 --reservation=small
	[[ $said != *refuses* ]] || fail "$said"
	submit --gang -N3 --reservation=small
	answers 1 onespine fit -N2 --reservation=small --begin=now+2hours
	equal "${said%%$'\n'*}" 'no: it begins at now+2hours at the earliest (--begin), and its reservation small is over by then'
	submit --gang -N2 --reservation=small --begin=now+2hours
	free_all
}

@test "fit and why: a job in a reservation with OVERLAP may have nodes of another, but of none with MAINT, as slurmctld says" {
	local flag words plain gang
	hold 'n[1-8]'
	scontrol create ReservationName=mine StartTime=now Duration=120 Nodes='n[9-12]' Users=root Flags=OVERLAP >/dev/null
	for flag in OVERLAP MAINT; do
		scontrol create ReservationName=other StartTime=now Duration=120 Nodes='n[9-12]' Users=daemon "Flags=OVERLAP,$flag" >/dev/null
		plain=$(submit -N2 --exclusive -t 10 --reservation=mine)
		gang=$(submit --gang -N2 --exclusive -t 10 --reservation=mine)
		if [[ $flag == OVERLAP ]]; then
			await_job "$plain" RUNNING
			await_job "$gang" RUNNING
			scancel "$plain" "$gang"
			await_job "$gang" CANCELLED
			answers 0 onespine fit -N2 --exclusive -t 10 --reservation=mine
			holds "$said" 'would start now: 2 nodes on spine '
		else
			await 30 shows Reason= scontrol show job "$gang"
			answers 1 onespine fit -N2 --exclusive -t 10 --reservation=mine
			[[ $said != *'would start now'* ]]
			why_holds "$gang" PENDING
			[[ $(onespine why "$gang") != *'has room'* ]]
			scancel "$plain" "$gang"
		fi
		scontrol delete ReservationName=other
	done
	free_all
}

@test "why: an array, a plain job, an unknown one" {
	array=$(submit --gang -N2 --exclusive --array=1-2)
	await 30 why_holds "${array}_1" RUNNING
	answers 0 onespine why "${array}_2"
	holds "$said" "job ${array}_2 wrap of root: RUNNING, 2 nodes, gang=spine"
	plain=$(submit -N1)
	await_job "$plain" RUNNING
	await 10 shows 'no gang' onespine why "$plain"
	answers 1 onespine why 999999
	holds "$said" 'job 999999: slurmctld does not know it'
}

@test "map: jobs, drained and free nodes where they stand" {
	scontrol update NodeName=n16 State=DRAIN Reason='bad NIC'
	job=$(submit --gang -N5 --exclusive -J big)
	await_job "$job" RUNNING
	map=$(onespine map)
	holds "$map" '16 nodes: 5 busy, 10 free, 1 out; 1 job, a gang'
	equal "$(grep -o 'A' <<<"$(grep '^│' <<<"$map")" | wc -l)" 5
	equal "$(grep '^│' <<<"$map" | grep -c ' d ')" 1
	matches "$map" "A  $job big of root, gang=spine, 5 nodes"
	onespine map --json >"$BATS_TEST_TMPDIR/state.json"
	equal "$(onespine map --state "$BATS_TEST_TMPDIR/state.json" | head -n 8)" "$(head -n 8 <<<"$map")"
	onespine map --svg "$BATS_TEST_TMPDIR/map.svg"
	grep -q '<title>n16: drained (bad NIC)</title>' "$BATS_TEST_TMPDIR/map.svg"
}

@test "audit: clean; a gang that is spread is reported, in advise mode apart" {
	first=$(submit --gang -N4 --exclusive)
	await_job "$first" RUNNING
	answers 0 onespine audit
	equal "$said" '1 gang running: 1 as asked for, 0 not'
	spread=$(submit -w 'n[7-10]' -N4 --exclusive)
	await_job "$spread" RUNNING
	scontrol update "JobId=$spread" 'AdminComment=[onespine: gang=spine; domain=s1; placed: 4 nodes on spine s1]'
	answers 1 onespine audit
	holds "$said" "job $spread (root, RUNNING on n[7-10]): asked for spine; no domain holds all its nodes"
	scontrol update "JobId=$spread" 'AdminComment=[onespine: gang=advise spine; placed: 4 nodes in no common spine]'
	answers 0 onespine audit
	holds "$said" 'Spread, in advise mode (no violation):'
	scontrol update "JobId=$spread" 'AdminComment=[onespine: gang=spine]'
	scontrol suspend "$spread"
	await_job "$spread" SUSPENDED
	answers 1 onespine audit
	scontrol resume "$spread"
}

@test "set: tightens, loosens and drops a waiting gang's request" {
	hold 'n[1-5],n[9-13]'
	job=$(submit --gang -N4 --exclusive)
	await 20 why_holds "$job" 'waits: 4 nodes on one spine'
	answers 0 onespine set "$job" --gang=leaf
	equal "$said" "job $job now asks for --gang=leaf"
	await 20 why_holds "$job" 'waits: 4 nodes on one leaf'
	answers 0 onespine set "$job" --gang=spine@10:00
	await 20 why_holds "$job" 'gang=spine@10:00'
	await 10 shows 'on any nodes will do' onespine why "$job"
	answers 0 onespine set "$job" --gang=off
	equal "$said" "job $job is no gang any more"
	await_job "$job" RUNNING
	await 10 shows 'no gang' onespine why "$job"
}

@test "set: refused in words" {
	hold 'n[1-5],n[9-13]'
	running=$(submit --gang -N2 --exclusive)
	await_job "$running" RUNNING
	job=$(submit --gang -N6 --exclusive)
	await 20 why_holds "$job" 'waits: 6 nodes on one spine'
	answers 1 onespine set "$running" --gang=leaf
	holds "$said" "job $running is not pending; a gang can be changed only before it starts"
	answers 1 onespine set "$job" --gang=leaf
	holds "$said" '6 nodes on one leaf asked for; the largest leaf of partition gpu has 4 (s'
	# the job has its own options, whatever the caller has
	SLURM_HINT=none SBATCH_PARTITION=none answers 1 onespine set "$job" --gang=leaf
	holds "$said" '6 nodes on one leaf asked for; the largest leaf of partition gpu has 4 (s'
	answers 1 onespine set "$job" --gang=lef
	holds "$said" "there is no level 'lef' in this fabric; did you mean leaf?"
	answers 1 onespine set "$job" --gang=spine --gang-segment=leaf:5
	holds "$said" '--gang-segment=leaf:5: leaf:5: the largest leaf has 4 nodes'
	answers 1 onespine set "$job" --gang=spine --gang-layout=tp8,pp9
	holds "$said" '--gang-layout: tp8 x cp1 x pp9 are 72 GPUs, of which 6 nodes of 4 GPUs hold no whole number; 18 nodes would be dp1'
	answers 1 onespine set "$job" --gang=spine,prefer
	holds "$said" 'its partition already holds gangs to one spine, and spine is no level below'
	# not where folders are root's alone
	if as_other_user onespine --version && as_other_user test -r "$SLURM_CONF"; then
		answers 1 as_other_user onespine set "$job" --gang=leaf
		holds "$said" "job $job is not yours; its owner or an operator may change its gang"
	fi
	answers 1 onespine set 999999 --gang=leaf
	holds "$said" 'Invalid job id'
	await 10 shows 'gang=spine' onespine why "$job"
}

@test "without slurmctld no question is answered; status 2" {
	{
		grep -v '^MessageTimeout' "$ONESPINE_CLUSTER/slurm.conf"
		echo MessageTimeout=1
	} >"$ONESPINE_CLUSTER/hasty.conf"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER"
	export SLURM_CONF=$ONESPINE_CLUSTER/hasty.conf
	answers 2 onespine audit
	holds "$said" 'onespine: slurmctld does not report its configuration: '
	answers 2 onespine set 1 --gang=leaf
	answers 0 onespine topology check
	holds "$said" "not compared with Slurm's nodes: slurmctld does not report"
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	answers 0 onespine audit
}

# extra: node n1's Extra field
extra() {
	scontrol show node n1 | sed -n 's/^ *Extra=//p'
}

# A node with a GPU and no driver; everything else is skipped or in error.
make_root() {
	root=$BATS_TEST_TMPDIR/root
	mkdir -p "$root/sys/bus/pci/devices/0000:10:00.0" "$root"/{proc/sys/kernel/random,run,var/lib}
	echo 0x10de >"$root/sys/bus/pci/devices/0000:10:00.0/vendor"
	echo 0x030200 >"$root/sys/bus/pci/devices/0000:10:00.0/class"
	echo 600.0 >"$root/proc/uptime"
}

check_node() {
	ONESPINE_TEST_ROOT=$root ONESPINE_TEST_SLURM_EXTRA=1 SLURMD_NODENAME=n1 onespine check
}

@test "a check's last verdict stands in the node's Extra, beside what others put there" {
	local mine='"onespine":{"verdict":"FAIL","depth":"passive","reason":"onespine: driver not loaded; ask"}'
	make_root
	answers 1 check_node
	equal "$(extra)" "{$mine}"
	scontrol update nodename=n1 extra='{"rack":"r7","onespine":{"verdict":"PASS"}}'
	# what was last put there is the same: Slurm is not asked
	answers 1 check_node
	equal "$(extra)" '{"rack":"r7","onespine":{"verdict":"PASS"}}'
	rm "$root/run/onespine/extra"
	answers 1 check_node
	equal "$(extra)" "{\"rack\":\"r7\",$mine}"
	scontrol update nodename=n1 extra='rack 7'
	rm "$root/run/onespine/extra"
	answers 1 check_node
	holds "$said" 'Extra holds something that is no JSON object; it is left alone'
	equal "$(extra)" 'rack 7'
	scontrol update nodename=n1 extra=
}
