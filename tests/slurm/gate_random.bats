#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# gate_random.bats - gates with faults at random: what must hold whatever comes together
#
# ONESPINE_GATES: how many (25; make soak runs 500). ONESPINE_SEED: the same ones again. ONESPINE_DEATHS: in how many
# of ten rounds a node dies, too (0; make soak: 5).

load helpers
load gate_helpers

# 2 spines of 4 nodes each. A silent node takes longer than the budget; held is only who is held by mistake.
setup_file() {
	local dir
	dir=$(mktemp -d -t onespine.XXXXXX)
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 2 2
	gate_budget
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-END
		defaults:
		  gate: {budget_s: $BUDGET_S, fresh_s: 0, restarts: 20}
	END
	cluster_start --gate --topology "$BATS_FILE_TMPDIR/onespine.topology" --gres gpu:8 --dir "$dir" \
		--config "$BATS_FILE_TMPDIR/onespine.yaml" --conf MinJobAge=36000 \
		--conf "AuthInfo=socket=$dir/munge/socket,cred_expire=5" \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
	export OUT=$BATS_FILE_TMPDIR/out
	mkdir -m 1777 "$OUT"
	cat >"$OUT/job.sh" <<-'END'
		#!/bin/bash
		echo "nodes $SLURM_NNODES"
		srun bash -c 'echo "on $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES"'
	END
	chmod 755 "$OUT/job.sh"
}

# --- faults ---------------------------------------------------------------------------------------

# What no job may run on: "GPU WORD-OF-THE-REASON SHELL-LINE", GPU "all" where every job's check meets it.
BAD=(
	'3 ecc export ONESPINE_FAKE_NVML=gpu3.ecc_uncorrected=12'
	'3 gpus export ONESPINE_FAKE_NVML=gpu3.lost'
	'3 row-remap export ONESPINE_FAKE_NVML=gpu3.remap_failed'
	'3 nvlink export ONESPINE_FAKE_NVML=gpu3.links=17'
	'all driver export ONESPINE_FAKE_NVML=hang:nvmlInit_v2 ONESPINE_TEST_DEADLINE_MS=1200'
)
# What a job may run on all the same; only what is measured between nodes may drain one, and only with its word.
# shellcheck disable=SC2016
DUBIOUS=(
	"- - [[ \$1 == epilog ]] || sleep ${SILENT_S:-}"
	'- - export ONESPINE_FAKE_NVML=hang:nvmlInit_v2'
	'- - export ONESPINE_FAKE_NVML=error:nvmlDeviceGetTotalEccErrors=999'
	'- - export ONESPINE_TEST_NETWORK=slow'
	'- network export ONESPINE_TEST_NETWORK=corrupt'
)

# break_node KIND...: one at random, unless it is broken already
break_node() {
	local node=n$((1 + RANDOM % 8)) gpu word line
	local fault=$((1 + RANDOM % $#))
	read -r gpu word line <<<"${!fault}"
	if ! grep -q "^$node " "$OUT/faults"; then
		printf '%s %s %s %s\n' "$node" "$gpu" "$word" "$line" >>"$OUT/faults"
		fault "$node" "$line"
	fi
}

# break_nodes: at most three, so that a spine keeps 3: as many as the largest gang here has
break_nodes() {
	local i
	: >"$OUT/faults"
	for ((i = RANDOM % 3; i > 0; i--)); do
		break_node "${BAD[@]}"
	done
	if ((RANDOM % 2)); then
		break_node "${DUBIOUS[@]}"
	fi
}

# maybe_death: a node dies with its gate at any moment, and comes back soon after; nothing else is its fault
maybe_death() {
	local node=n$((1 + RANDOM % 8)) before_s=$((RANDOM % 4)).$((RANDOM % 10))
	dead=
	((RANDOM % 10 < ${ONESPINE_DEATHS:-0})) && ! grep -q "^$node " "$OUT/faults" || return 0
	dead=$node
	printf '%s - - dies after %s s\n' "$node" "$before_s" | tee -a "$OUT/faults"
	sleep "$before_s"
	kill_node "$node"
	sleep "$((RANDOM % 3)).5"
	start_node "$node"
}

# --- jobs -----------------------------------------------------------------------------------------

KINDS=(sbatch sbatch sbatch array srun salloc)

# start_job KEY: a job of a random kind, named KEY; "KEY KIND NODES MAY-BE-REQUEUED" goes to the file of jobs
start_job() {
	local key=$1 kind=${KINDS[RANDOM % ${#KINDS[@]}]} nodes=$((1 + RANDOM % 3)) again=yes
	local options=(--job-name="$key" --gres=gpu:$((RANDOM % 4 ? 8 : 4)))
	if ((nodes > 1 && RANDOM % 2)); then options+=(--gang); fi
	if ((nodes < 3 && RANDOM % 2)) && [[ $kind == sbatch || $kind == salloc ]]; then
		options+=(--gang-spares=1)
	fi
	if ((RANDOM % 4 == 0)) && [[ $kind == sbatch || $kind == array ]]; then
		options+=(--no-requeue)
		again=no
	fi
	options+=(-N"$nodes")
	case $kind in
	sbatch) sbatch --chdir=/ --output="$OUT/$key" "${options[@]}" "$OUT/job.sh" ;;
	array) sbatch --chdir=/ --output="$OUT/$key.%a" --array=1-2 "${options[@]}" "$OUT/job.sh" ;;
	srun)
		again=no
		# shellcheck disable=SC2016
		timeout 600 srun --chdir=/ "${options[@]}" bash -c 'echo "on $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES"' \
			>"$OUT/$key" 2>"$OUT/$key.said" </dev/null 3>&- &
		waits+=("$!")
		;;
	salloc)
		again=no
		timeout 600 salloc --chdir=/ "${options[@]}" "$OUT/job.sh" \
			>"$OUT/$key" 2>"$OUT/$key.said" </dev/null 3>&- &
		waits+=("$!")
		;;
	esac
	printf '%s %s %s %s\n' "$key" "$kind" "$nodes" "$again" >>"$OUT/jobs"
	printf '  %s %s\n' "$kind" "${options[*]}"
}

# await_jobs: until all have ended. Slurm itself asks a node that died while a job ended again after 120 s, and finds a
# batch script that died with slurmd when the node registers later than BatchStartTimeout; reconfigure makes it register.
await_jobs() {
	local pid status
	for pid in ${waits[@]+"${waits[@]}"}; do
		status=0
		wait "$pid" || status=$?
		((status != 124)) || fail 'an srun or salloc does not end' || return 1
	done
	[[ -z $dead ]] || await 150 no_jobs 2>/dev/null || scontrol reconfigure
	await 120 no_jobs
}

# --- judgement ------------------------------------------------------------------------------------

# rows KEY: "JOB TASK STATE" of each job of that name
rows() {
	scontrol -o show job | sed -nE "/ JobName=$1 /{
		s/^JobId=([0-9]+) (.*ArrayTaskId=([0-9]+) )?.*JobName=.* JobState=([A-Z_]+) .*/\1 \3 \4/p }" |
		awk 'NF == 2 { print $1, "-", $2; next } { print }'
}

# ran_well KEY KIND NODES FILE: on as many nodes as were asked for, and on no bad one. What salloc set in its own
# shell stays as it was; its sruns are right.
ran_well() {
	local node gpus bad gpu
	equal "$(grep -c '^on ' "$4")" "$3" "nodes of job $1" || return 1
	[[ $2 == salloc || $(head -n 1 "$4") != nodes* ]] ||
		equal "$(head -n 1 "$4")" "nodes $3" "SLURM_NNODES of job $1" || return 1
	while read -r _ node gpus; do
		while read -r bad gpu _; do
			[[ $bad != "$node" || $gpu == - ]] || [[ $gpu == 3 && -n $gpus && ,$gpus, != *,3,* ]] ||
				fail "job $1 ran on $node, GPUs $gpus" || return 1
		done <"$OUT/faults"
	done < <(grep '^on ' "$4")
}

# ended_well KEY JOB AGAIN FILE: it could not be requeued, has not run, and was told which node it was
ended_well() {
	local node
	equal "$3" no "job $1 could have been requeued, and was ended" || return 1
	! grep -qs '^on ' "$4" || fail "job $1 was ended and has run" || return 1
	note_holds "$2" 'cannot be requeued: ended' || fail "job $1 was lost: $(job_field "$2" AdminComment)" || return 1
	[[ ! -e $4.said ]] || grep -q 'it cannot be requeued: ended' "$4.said" || fail "job $1: $(<"$4.said")" || return 1
	while read -r node _; do
		! note_holds "$2" "$node: " || return 0
	done <"$OUT/faults"
	fail "job $1: no bad node is named: $(job_field "$2" AdminComment)"
}

# lost_with_it JOB STATE: Slurm itself could not start or keep it, because one of its nodes died
lost_with_it() {
	[[ $2 == @(FAILED|NODE_FAIL|CANCELLED) ]] && hostnames "$(job_field "$1" NodeList)" | grep -qx "$dead"
}

judge_jobs() {
	local key kind nodes again job task state count file
	while read -r key kind nodes again; do
		count=0
		while read -r job task state; do
			count=$((count + 1))
			file=$OUT/$key
			[[ $task == - ]] || file+=.$task
			restarts=$((restarts + $(job_field "$job" Restarts)))
			if [[ -n $dead ]] && lost_with_it "$job" "$state"; then
				ended=$((ended + 1))
				continue
			fi
			case $state in
			COMPLETED) ran_well "$key" "$kind" "$nodes" "$file" ;;
			CANCELLED)
				ended=$((ended + 1))
				ended_well "$key" "$job" "$again" "$file"
				;;
			*) fail "job $key is $state" ;;
			esac || return 1
		done < <(rows "$key")
		equal "$count" "$([[ $kind == array ]] && echo 2 || echo 1)" "jobs of $key" || return 1
	done <"$OUT/jobs"
}

# Drained is only what was broken, and for that.
judge_nodes() {
	local node reason bad word
	while read -r node reason; do
		drained=$((drained + 1))
		read -r bad _ word _ < <(grep "^$node " "$OUT/faults") || fail "$node is good and drained: $reason" ||
			return 1
		[[ $word != - && $reason == "onespine: "*"$word "* ]] || fail "$bad is drained: $reason, not $word" ||
			return 1
	done < <(sinfo -h -N -t drain,down -o '%N %E' | sort -u)
}

@test "gates with faults at random: no good node drained, no bad one in a job that ran, no job lost, held or stuck" {
	local gates=${ONESPINE_GATES:-25} seed=${ONESPINE_SEED:-$((SRANDOM % 32768))} begun=0 round i dead
	local restarts=0 ended=0 drained=0 waits
	RANDOM=$seed
	# a driver that does not answer is known to be stuck only where persistence has been seen to be on
	srun --chdir=/ -N8 --gres=gpu:8 true
	for ((round = 1; begun < gates; round++)); do
		all_well
		rm -f "$OUT/jobs"
		waits=()
		break_nodes
		echo "ONESPINE_SEED=$seed, round $round after $begun gates:"
		sed 's/^/  /' "$OUT/faults"
		for ((i = 0; i < 7 && begun < gates; i++)); do
			start_job "g$round.$i"
			begun=$((begun + 1))
			[[ $(tail -n 1 "$OUT/jobs") != *array* ]] || begun=$((begun + 1))
		done
		maybe_death
		await_jobs
		judge_jobs
		judge_nodes
		free_all
	done
	await 20 no_gate_left
	echo "# $begun gates, seed $seed: $drained nodes drained, $restarts starts stopped, $ended jobs ended" >&3
}
