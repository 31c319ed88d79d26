#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# random.bats - 200 random jobs with cancels, drains, failing nodes and reconfigures
#
# ONESPINE_SEED gives another run; the seed in use is printed when it fails.

load helpers

setup_file() {
	local dir=$BATS_FILE_TMPDIR/cluster
	two_cores >"$BATS_FILE_TMPDIR/onespine.topology"
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --dir "$dir" \
		--conf "AuthInfo=socket=$dir/munge/socket,cred_expire=5" --conf MinJobAge=36000 \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1,bf_max_job_test=1000
	domain_table >"$BATS_FILE_TMPDIR/table"
}

# 32 nodes: 2 cores of 2 spines of 2 leaves of 4 nodes, but for the last two leaves, of 2 and 6
two_cores() {
	local leaf first=1 count
	printf '{"onespine-topology": 1, "levels": ["leaf", "spine", "core"], "domains": [\n'
	printf '{"level": "core", "name": "c1"}, {"level": "core", "name": "c2"},\n'
	printf '{"level": "spine", "name": "s1", "in": "c1"}, {"level": "spine", "name": "s2", "in": "c1"},\n'
	printf '{"level": "spine", "name": "s3", "in": "c2"}, {"level": "spine", "name": "s4", "in": "c2"}'
	for ((leaf = 1; leaf <= 8; leaf++, first += count)); do
		count=4
		((leaf != 7)) || count=2
		((leaf != 8)) || count=6
		printf ',\n{"level": "leaf", "name": "l%d", "in": "s%d", "nodes": "n[%d-%d]"}' "$leaf" \
			$(((leaf + 1) / 2)) "$first" $((first + count - 1))
	done
	printf '\n]}\n'
}

# pick FIRST LAST: a number between, both included
pick() {
	picked=$(($1 + RANDOM % ($2 - $1 + 1)))
}

# A gang's level stands in its name, so that the check knows what was asked for.
submit_random() {
	local level size last options
	pick 1 20
	case $picked in
	1 | 2) level=none last=12 ;;
	3 | 4 | 5) level=core last=15 ;;
	6 | 7 | 8 | 9) level=leaf last=4 ;;
	*) level=spine last=8 ;;
	esac
	pick 1 "$last"
	size=$picked
	((size <= last / 2)) || { pick 1 "$last" && size=$picked; }
	pick 1 60
	options=(--job-name="$level" --time="$picked")
	pick 1 4
	[[ $level == none ]] || options+=("--gang=$level$( ((picked > 1)) || echo @10:00)")
	pick 1 10
	case $picked in
	1 | 2) options+=(-N "$size-$((size + 3 > last ? last : size + 3))" --exclusive) ;;
	3) options+=(-n $((size * 4)) --ntasks-per-node=4) ;;
	4) options+=(-N "$size" --ntasks-per-node=3) ;;
	5) pick 1 32 && options+=(-N "$size" --exclusive -x "n$picked") ;;
	*) options+=(-N "$size" --exclusive) ;;
	esac
	last_options=${options[*]}
	pick 1 6
	submitted+=("$(submit "${options[@]}" --wrap "sleep $picked")")
}

# one that is queued now
some_job() {
	local -a queued
	mapfile -t queued < <(squeue -h -o %A -t PENDING,RUNNING | sort -n)
	((${#queued[@]})) || return 1
	pick 0 $((${#queued[@]} - 1))
	picked=${queued[picked]}
}

random_step() {
	local node
	pick 1 100
	if ((picked <= 60)); then
		submit_random
		step="submit $last_options"
	elif ((picked <= 82)); then
		some_job || return 0
		step="cancel $picked"
		cancelled[$picked]=1
		scancel "$picked"
	elif ((picked <= 88)); then
		pick 1 32
		step="drain n$picked"
		scontrol update "NodeName=n$picked" State=DRAIN Reason=random
	elif ((picked <= 94)); then
		pick 1 32
		node=n$picked
		step="fail $node"
		scontrol update "NodeName=$node" State=DOWN Reason=random
	elif ((picked <= 99)); then
		step=resume
		resume_all
	else
		step=reconfigure
		cluster reconfigure --dir "$ONESPINE_CLUSTER"
	fi
}

resume_all() {
	local names
	names=$(sinfo -h -N -t drain,down,fail -o %N | sort -u | paste -sd,)
	[[ -z $names ]] || scontrol update "NodeName=$names" State=RESUME
}

# check_all: every job that has nodes has them in one domain of its level; none is held
check_all() {
	local wrong
	wrong=$(squeue -h -o '%A|%j|%T|%p|%r|%N' | awk -F'|' -v table="$BATS_FILE_TMPDIR/table" '
		BEGIN {
			getline line <table
			levels = split(line, level, " ")
			while ((getline line <table) > 0) {
				split(line, word, " ")
				for (i = 1; i <= levels; i++)
					domain[word[1], level[i]] = word[i + 1]
			}
		}
		$3 == "PENDING" && ($4 + 0 == 0 || $5 ~ /Held|BadConstraints/) {
			print "job " $1 " is held: " $5
		}
		$3 != "PENDING" && $2 != "none" && $6 != "" {
			list = $6
			gsub(/n\[|\]/, "", list)
			sub(/^n/, "", list)
			parts = split(list, part, ",")
			first = ""
			for (i = 1; i <= parts; i++) {
				if (split(part[i], end, "-") == 1)
					end[2] = end[1]
				for (n = end[1] + 0; n <= end[2] + 0; n++) {
					name = domain["n" n, $2]
					if (first == "")
						first = name
					if (name == "" || name != first)
						bad[$1] = "job " $1 " of one " $2 " is on " $6
				}
			}
		}
		END { for (job in bad) print bad[job] }')
	[[ -z $wrong ]] || fail "after '$step': $wrong"
	onespine audit >"$BATS_TEST_TMPDIR/audit" 2>&1 || fail "after '$step': audit: $(cat "$BATS_TEST_TMPDIR/audit")"
}

@test "200 random jobs: audit clean after each step, none held, none lost" {
	local seed=${ONESPINE_SEED:-20250807} step='' last_options='' picked=0 job state
	local -a submitted=()
	local -A cancelled=()
	RANDOM=$seed
	echo "ONESPINE_SEED=$seed"
	while ((${#submitted[@]} < 200)); do
		random_step
		check_all
	done
	drain_queue
	for job in "${submitted[@]}"; do
		state=$(job_state "$job")
		[[ $state == COMPLETED || ($state == CANCELLED && -n ${cancelled[$job]+x}) ]] ||
			fail "job $job is ${state:-lost}"
	done
}

# drain_queue: with all nodes good again everything that still waits gets its turn
drain_queue() {
	local end=$((EPOCHSECONDS + 180))
	step='the end'
	while [[ -n $(squeue -h -o %A) ]]; do
		((EPOCHSECONDS < end)) || fail "still queued: $(squeue -h -o '%A %j %T %r %D %S' | head -20)"
		resume_all
		check_all
		sleep 0.5
	done
}
