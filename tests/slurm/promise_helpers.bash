# SPDX-License-Identifier: GPL-2.0-or-later
# promise_helpers.bash - for tests of what gang: always, allow_off: false promises; load it after helpers
#
# Partition train promises one spine to jobs of 2 nodes and more, partition free nothing. Each row of a table of
# ways to ask is first put to partition free, where Slurm must spread it over both spines (else the row proves
# nothing), then to train.
# shellcheck shell=bash

# start_promise OPTION...: the cluster, with more options of tools/cluster
start_promise() {
	lay_fabric 1-4 5-8 >"$BATS_FILE_TMPDIR/onespine.topology"
	promise >"$BATS_FILE_TMPDIR/onespine.yaml"
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" \
		--config "$BATS_FILE_TMPDIR/onespine.yaml" --gres gpu:4 \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1,permit_job_expansion \
		--node-conf 'NodeName=n[1-4] Feature=any,a' --node-conf 'NodeName=n[5-8] Feature=any,b' \
		--partition 'free Nodes=ALL Default=YES' --partition 'train Nodes=ALL' --partition 'loose Nodes=ALL' \
		--conf Licenses=tool:9 "$@"
}

# lay_fabric NODES NODES: an onespine.topology of one core with two spines
lay_fabric() {
	printf '{"onespine-topology": 1, "levels": ["leaf", "spine", "core"], "domains": [
		{"level": "core", "name": "c"}, {"level": "spine", "name": "s1", "in": "c"},
		{"level": "spine", "name": "s2", "in": "c"},
		{"level": "leaf", "name": "l1", "in": "s1", "nodes": "n[%s]"},
		{"level": "leaf", "name": "l2", "in": "s2", "nodes": "n[%s]"}]}\n' "$1" "$2"
}

promise() {
	printf 'partitions:\n  train: {gang: always, allow_off: false}\n  loose: {gang: always}\n'
}

setup() {
	scancel --user="$(id -un)" --full 2>/dev/null || true
	free_all
}

note() {
	job_field "$1" AdminComment
}

# --- what a row is held against -------------------------------------------------------------------

# record JOB: "STATE NODES" of a job that may be over
record() {
	printf '%s %s\n' "$(job_state "$1")" "$(job_field "$1" NodeList)"
}

# The spines of each list of nodes that was asked for, by the topology that was in force
declare -gA SPINES=()

# read_spines HOSTLIST: its spines, a blank between two, in $spines; no process but for a list that is new
read_spines() {
	local topology
	IFS= read -rd '' topology <"$ONESPINE_CLUSTER/onespine.topology" || true
	[[ -n ${SPINES["$1 $topology"]-} ]] ||
		SPINES["$1 $topology"]=$(hostnames "$1" | domains_of spine | sort -u | paste -sd' ')
	spines=${SPINES["$1 $topology"]}
}

# spines_of HOSTLIST: prints them
spines_of() {
	local spines
	read_spines "$1"
	printf '%s\n' "$spines"
}

# straddled: the jobs of partition train and loose that were ever given nodes of both spines, one a line
straddled() {
	local id partition name nodes spines
	squeue -h -t all -p train,loose -o '%i %P %j %N' | while read -r id partition name nodes; do
		[[ $nodes != '(null)' && -n $nodes ]] || continue
		read_spines "$nodes"
		[[ $spines != *' '* ]] || printf '%s %s %s %s\n' "$id" "$partition" "$name" "$nodes"
	done
}

nothing_straddled() {
	equal "$(straddled)" '' 'jobs on both spines'
}

# job_named NAME: the number of the one job of that name that is not over
job_named() {
	local job first=
	for job in $(squeue -h -r -n "$1" -t PENDING,RUNNING,CONFIGURING,COMPLETING -o %A); do
		[[ -n $first ]] && ((first < job)) || first=$job
	done
	[[ -z $first ]] || printf '%s\n' "$first"
}

is_named() {
	[[ -n $(job_named "$1") ]]
}

# A row's outcome: refused; waits: taken, and waits for one spine, where partition free spreads it; gang: the
# same of a job that is a gang in partition free too; as-free: this Slurm may refuse it by itself, and then does
# in both.
#
# is_judged NAME: it says why it waits, or has been given nodes
is_judged() {
	local nodes job field=
	nodes=$(squeue -h -t all -n "$1" -o %N)
	[[ $nodes != *n* ]] || return 0
	job=$(job_named "$1")
	[[ -n $job ]] || return
	read_field "$job" AdminComment
	[[ $field == *'; waits: '* ]]
}

# has_both NAME: jobs of that name were given nodes of both spines
has_both() {
	local nodes spines
	for nodes in $(squeue -h -t all -n "$1" -o %N); do
		read_spines "$nodes"
		[[ $spines != *' '* ]] || return 0
	done
	return 1
}

# has_its_gpus NAME WORDS: each job of that name that was given nodes has all the GPUs of --gpus=N in WORDS
has_its_gpus() {
	local job wanted given nodes each
	[[ $2 =~ (gpus|GPUS)=([0-9]+) ]] || return 0
	wanted=${BASH_REMATCH[2]}
	for job in $(squeue -h -t all -n "$1" -o '%A %N' | sed -n 's/ n.*//p'); do
		given=0
		while read -r nodes each; do
			given=$((given + each * $(hostnames "$nodes" | wc -l)))
		done < <(scontrol -d show job "$job" |
			sed -n 's/^ *Nodes=\([^ ]*\) .* GRES=gpu[^ (]*:\([0-9]*\)(IDX.*/\1 \2/p')
		((given >= wanted)) || return 1
	done
}

# ask NAME PARTITION WORD...: submits a row's words; what srun and salloc say goes to $BATS_TEST_TMPDIR/NAME
ask() {
	local name=$1 partition=$2 program=$3 out=$BATS_TEST_TMPDIR/$1
	local -a variables=()
	shift 3
	while [[ $program == *=* ]]; do
		variables+=("$program")
		program=$1
		shift
	done
	[[ " $* " == *' -p '* ]] || set -- -p "$partition" "$@"
	case $program in
	script) # the words stand in it
		printf '#!/bin/sh\n#SBATCH %s\nsleep 1\n' "$*" >"$out.sh"
		env ${variables[@]+"${variables[@]}"} sbatch -J "$name" -o /dev/null "$out.sh" >"$out" 2>&1
		;;
	sbatch)
		env ${variables[@]+"${variables[@]}"} sbatch -J "$name" -o /dev/null --wrap 'sleep 1' \
			"$@" >"$out" 2>&1
		;;
	salloc | srun)
		env ${variables[@]+"${variables[@]}"} "$program" -J "$name" "$@" sleep 1 >"$out" 2>&1 3>&- &
		await 20 was_answered "$name" "$!"
		is_named "$name" || { ! kill -0 "$!" 2>/dev/null && wait "$!"; }
		;;
	esac
}

was_answered() {
	is_named "$1" || ! kill -0 "$2" 2>/dev/null
}

# end_jobs NAME: ends them and waits
end_jobs() {
	scancel -n "$1" --full 2>/dev/null || true
	await 30 none_named "$1"
}

# judge_row STATE OUTCOME WORD...: one row; failures go to $BATS_TEST_TMPDIR/failed
judge_row() {
	local outcome=$1 name=test$BATS_TEST_NUMBER-row$((++ROW))
	shift
	if [[ $outcome == as-free ]]; then
		if ask "$name-free" free "$@"; then
			await 20 has_both "$name-free" 2>/dev/null || row_failed "not spread in partition free"
			outcome=waits
		else
			outcome=refused
		fi
		end_jobs "$name-free"
	elif [[ $outcome == waits ]]; then
		ask "$name-free" free "$@" || row_failed "refused in partition free: $(<"$BATS_TEST_TMPDIR/$name-free")"
		await 20 has_both "$name-free" 2>/dev/null || row_failed "not spread in partition free"
		end_jobs "$name-free"
	fi
	if ask "$name" train "$@"; then
		[[ $outcome != refused ]] || row_failed "taken, not refused"
		await 20 is_judged "$name" 2>/dev/null || row_failed "not judged: $(squeue -h -n "$name" -o '%i %T %r')"
		! has_both "$name" || row_failed "given both spines"
		has_its_gpus "$name" "$*" || row_failed "given too few GPUs"
		hold_named "$name"
	else
		[[ $outcome == refused ]] || row_failed "refused: $(<"$BATS_TEST_TMPDIR/$name")"
		[[ -s $BATS_TEST_TMPDIR/$name ]] || row_failed "refused without a word"
	fi
}

hold_named() {
	local job
	for job in $(squeue -h -t PENDING -n "$1" -o %A | sort -u); do
		scontrol hold "$job" || true
	done
}

row_failed() {
	printf 'row %s (%s): %s\n' "$ROW" "$ROW_WORDS" "$1" | tee -a "$BATS_TEST_TMPDIR/failed" >&2
}

# judge_rows: a table on stdin, "OUTCOME PROGRAM OPTION..."; afterwards all that waited get their nodes
judge_rows() {
	local outcome words
	ROW=0
	while read -r outcome words <&4; do
		[[ -n $outcome && $outcome != '#'* ]] || continue
		ROW_WORDS=$words
		eval "judge_row $outcome $words"
	done 4<&0
	let_all_run
}

# let_all_run: frees the nodes and lets all that was held run to its end; none may stand on both spines
let_all_run() {
	local job
	scancel -p free
	for job in $(squeue -h -t PENDING -p train,loose -o %A | sort -u); do
		scontrol release "$job" || true
	done
	await 120 none_waiting
	nothing_straddled
	[[ ! -s $BATS_TEST_TMPDIR/failed ]] || fail "$(<"$BATS_TEST_TMPDIR/failed")"
}

none_waiting() {
	[[ -z $(squeue -h -p train,loose -o %i) ]] || fail "$(squeue -h -p train,loose -o '%i %j %T %r')"
}

# one node of each spine is free: whoever takes two takes both spines
tempt() {
	hold 'n[1-3],n[5-7]'
}

# --- changing -------------------------------------------------------------------------------------

CHANGED_AT_ONCE=8 # jobs that wait for a scheduler's look together

# change OUTCOME "SUBMIT OPTIONS" "UPDATE WORDS"; spread: it runs on both spines, since nothing is promised of it;
# as-slurm: waits, where this Slurm takes it at all. What waits is judged by judge_changed, to be called at the end
# of the table too.
change() {
	local outcome=$1 before said job
	ROW_WORDS="sbatch $2, then scontrol update $3"
	((++ROW))
	eval "job=\$(submit --hold -J change$ROW $2)" || {
		[[ $outcome == as-slurm ]] || row_failed 'not taken'
		return 0
	}
	before=$(scontrol -o show job "$job" | sed 's/ AdminComment=.*//; s/ EligibleTime=[^ ]*//; s/ LastSchedEval=[^ ]*//; s/ AccrueTime=[^ ]*//')
	if eval "said=\$(scontrol update JobId=$job $3 2>&1)"; then
		[[ $outcome != refused ]] || row_failed 'taken, not refused'
		scontrol release "$job"
		if [[ $outcome == waits || $outcome == as-slurm ]]; then
			CHANGED+=("$ROW $job $ROW_WORDS")
			((${#CHANGED[@]} < CHANGED_AT_ONCE)) || judge_changed
			return 0
		fi
		[[ $outcome != spread ]] || await 20 has_both "change$ROW" 2>/dev/null || row_failed "does not run: $(note "$job")"
	else
		[[ $outcome == refused || $outcome == as-slurm ]] || row_failed "refused: $said"
		# Slurm's own refusal of one word may come after it took another
		[[ $outcome == as-slurm ]] ||
			equal "$(scontrol -o show job "$job" | sed 's/ AdminComment=.*//; s/ EligibleTime=[^ ]*//; s/ LastSchedEval=[^ ]*//; s/ AccrueTime=[^ ]*//')" \
				"$before" 'the job after a refused change' || row_failed 'changed though refused'
		[[ $outcome == as-slurm ]] || ! slurm_at_least 23.02 || [[ $said == *': '*' '* ]] || row_failed "refused without a word: $said"
		scancel "$job"
	fi
	[[ $outcome == spread ]] || ! has_both "change$ROW" || row_failed 'given both spines'
	scancel "$job"
	await 30 none_named "change$ROW"
}

# judge_changed: each changed job that waits says why, and none was given nodes of both spines
judge_changed() {
	local one job row=$ROW words=$ROW_WORDS
	for one in ${CHANGED[@]+"${CHANGED[@]}"}; do
		read -r ROW job ROW_WORDS <<<"$one"
		await 20 is_judged "change$ROW" 2>/dev/null || row_failed "not judged: $(squeue -h -j "$job" -o '%T %r')"
		! has_both "change$ROW" || row_failed 'given both spines'
		scancel "$job"
	done
	for one in ${CHANGED[@]+"${CHANGED[@]}"}; do
		await 30 none_named "change${one%% *}"
	done
	CHANGED=() ROW=$row ROW_WORDS=$words
}

# put_config: onespine.yaml from stdin, in force
put_config() {
	cat >"$ONESPINE_CLUSTER/onespine.yaml.new"
	mv "$ONESPINE_CLUSTER/onespine.yaml.new" "$ONESPINE_CLUSTER/onespine.yaml"
	cluster reconfigure --dir "$ONESPINE_CLUSTER"
}

untraced_so_far
