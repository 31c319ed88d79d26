#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_ranks_packed.bats - ranks stay where they were put, too, where AdminComment has no room for the leaves as they are
#
# A spine of four pods of four leaves of one node each, in the order of $order. The names of leaves are so long that
# those of 13 nodes fill the 4 KiB that 500 nodes of a cloud fill.

bats_require_minimum_version 1.5.0
load helpers

order=(1 8 15 6 13 4 11 2 9 16 7 14 5 12 3 10)
long=$(printf 'x%.0s' {1..240})

name() {
	echo "q1-st-p5en48xlarge-$1"
}

setup_file() {
	local k separator='' numbers
	{
		echo '{"onespine-topology": 1, "source": "core_ranks_packed", "levels": ["leaf", "pod", "spine"], "domains": ['
		echo "{\"level\": \"spine\", \"name\": \"s-$long\"}"
		for k in 0 1 2 3; do
			echo ",{\"level\": \"pod\", \"name\": \"p$k\", \"in\": \"s-$long\"}"
		done
		for k in "${!order[@]}"; do
			echo ",{\"level\": \"leaf\", \"name\": \"l$k-$long\", \"in\": \"p$((k / 4))\", \"nodes\": \"$(name "${order[k]}")\"}"
		done
		echo ']}'
	} >"$BATS_FILE_TMPDIR/onespine.topology"
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1
}

done_writing() {
	grep -q '^done$' "$1"
}

# numbers: of lines "task RANK NODE", the numbers of the nodes by rank
numbers() {
	sed -n 's/^task //p' | sort -n | sed 's/.*-//' | paste -sd' '
}

# short NODE...: their numbers
short() {
	sed 's/.*-//' | paste -sd' '
}

tell='echo task $SLURM_PROCID $SLURMD_NODENAME'
# four segments of three in a pod each, and a smaller one
wanted=(1 8 15 6 13 4 11 9 16 7 5 12 10)
along='1 8 15 13 4 11 9 16 7 5 12 10 6'

# on NUMBER...: a list of these nodes
on() {
	echo "q1-st-p5en48xlarge-[$(IFS=,; echo "$*")]"
}

# start OUT: a job of these nodes whose script runs a step for each file OUT.go.N, N from 1 on
start() {
	rm -f "$1" "$1".go.*
	submit --gang=spine --gang-segment=pod:3 -N13 -w "$(on "${wanted[@]}")" --exclusive --requeue \
		--open-mode=truncate --output="$1" --wrap "for step in 1 2 3; do
			until test -e $1.go.\$step; do sleep 0.2; done
			srun sh -c '$tell of \$ONESPINE_NODE_RANK in \$ONESPINE_LEAF' >$1.\$step 2>&1
			echo done >>$1.\$step
		done
		sleep 600"
}

# step OUT N: what the tasks of step N print
step() {
	touch "$1.go.$2"
	await 60 done_writing "$1.$2" || fail "$(cat "$1" "$1.$2")"
	cat "$1.$2"
}

# ranks: of what step prints, the numbers of the nodes by rank; each was told its rank and its leaf
ranks() {
	local rank number of leaf at
	while read -r _ rank number _ of _ leaf; do
		number=${number##*-}
		equal "$of" "$rank"
		for at in "${!order[@]}"; do
			[[ ${order[at]} != "$number" ]] || equal "$leaf" "l$at-$long"
		done
		echo "$rank $number"
	done < <(sed -n '/^task/p') | sort -n | awk '{print $2}' | paste -sd' '
}

@test "leaves that exceed 4 KiB are packed, and every rank is on its node" {
	out=$BATS_TEST_TMPDIR/out
	job=$(start "$out")
	printed=$(step "$out" 1)
	equal "$(ranks <<<"$printed")" "$along"
	[[ $printed != *onespine:* ]] || fail "$printed"
	comment=$(job_field "$job" AdminComment)
	[[ $comment == *'; leaves=~q1-st-p5en48xlarge-~l0-'*'; order=3x1/~'* ]] || fail "$comment"
	holds "$comment" 'placed: 13 nodes'
	equal "$(onespine hosts "$job" | short)" "$along"
	# they outlive a restart and a reconfigure
	cluster kill-ctld --dir "$ONESPINE_CLUSTER"
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	cluster reconfigure --dir "$ONESPINE_CLUSTER"
	equal "$(job_field "$job" AdminComment)" "$comment"
	equal "$(step "$out" 2 | ranks)" "$along"
	# and somebody's own words beside them
	scontrol update "JobId=$job" AdminComment="of an administrator"
	comment=$(job_field "$job" AdminComment)
	holds "$comment" 'of an administrator [onespine: gang=spine'
	holds "$comment" '; leaves=~q1-'
	equal "$(step "$out" 3 | ranks)" "$along"
	scancel "$job"
}

@test "after a node left, and on other nodes after a requeue" {
	out=$BATS_TEST_TMPDIR/out
	salloc -Q --no-shell -J shrinks --gang=spine --gang-segment=pod:3 -N13 -w "$(on "${wanted[@]}")" --exclusive
	job=$(squeue -h -n shrinks -o %A)
	holds "$(job_field "$job" AdminComment)" '; leaves=~q1-'
	scontrol update "JobId=$job" NodeList="$(on 1 8 15 6 4 11 9 16 7 5 12 10)"
	# a segment has lost a node: those after it move up
	equal "$(onespine hosts "$job" | short)" '1 8 15 4 11 9 16 7 5 12 10 6'
	scancel "$job"
	job=$(start "$out")
	equal "$(step "$out" 1 | ranks)" "$along"
	scontrol requeuehold "$job"
	await_job "$job" PENDING
	rm -f "$out".*
	# n2 instead of n13, n3 instead of n5
	scontrol update "JobId=$job" NodeList="$(on 1 8 15 6 4 11 2 9 16 7 12 3 10)"
	scontrol release "$job"
	begin_soon "$job"
	equal "$(step "$out" 1 | ranks)" '1 8 15 4 11 2 9 16 7 12 3 10 6'
	holds "$(job_field "$job" AdminComment)" '; leaves=~q1-'
	scancel "$job"
}

# As in a gang whose leaves exceed the bound of the packed form, too.
@test "where the order is not in AdminComment srun says so, and how to get it" {
	out=$BATS_TEST_TMPDIR/out
	job=$(submit --gang=spine -N13 --exclusive --output="$out" --wrap "unset ONESPINE_LEAVES ONESPINE_ORDER
		srun sh -c '$tell' 2>&1; echo next
		srun -N1 -n1 sh -c '$tell' 2>&1; echo next
		srun -m block sh -c '$tell' 2>&1; echo next
		onespine hosts --format=slurm >$BATS_TEST_TMPDIR/hosts
		SLURM_HOSTFILE=$BATS_TEST_TMPDIR/hosts srun -m arbitrary sh -c '$tell' 2>&1; echo done; exec sleep 600")
	await 60 done_writing "$out" || fail "$(cat "$out")"
	readarray -d '' -t parts < <(sed 's/^next$/\x00/' "$out")
	for part in 0 2; do
		if slurm_at_least 26.05; then
			[[ ${parts[part]} != *onespine:* ]] || fail "${parts[part]}"
		else
			holds "${parts[part]}" 'onespine: srun orders these tasks by names of nodes: their order along the fabric is not in AdminComment; srun -m arbitrary takes the host file of onespine hosts --format=slurm'
		fi
	done
	[[ ${parts[1]}${parts[3]} != *onespine:* ]] || fail "${parts[1]}${parts[3]}"
	# which holds what the line says
	equal "$(numbers <<<"${parts[3]}")" "$(onespine hosts "$job" | short)"
	[[ $(numbers <<<"${parts[3]}") != "$(numbers <<<"${parts[1]}")" ]]
}
