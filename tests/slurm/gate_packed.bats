#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# gate_packed.bats - the gate releases spares of a gang whose leaves AdminComment has packed

bats_require_minimum_version 1.5.0
load helpers
load gate_helpers

# Four pods of five leaves of one node each; names run against the fabric, and those of leaves are long.
order=(1 8 15 2 9 16 3 10 17 4 11 18 5 12 19 6 13 20 7 14)
long=$(printf 'x%.0s' {1..240})

setup_file() {
	local k
	gate_budget
	{
		echo '{"onespine-topology": 1, "source": "gate_packed", "levels": ["leaf", "pod", "spine"], "domains": ['
		echo "{\"level\": \"spine\", \"name\": \"s-$long\"}"
		for k in 0 1 2 3; do
			echo ",{\"level\": \"pod\", \"name\": \"p$k\", \"in\": \"s-$long\"}"
		done
		for k in "${!order[@]}"; do
			echo ",{\"level\": \"leaf\", \"name\": \"l$k-$long\", \"in\": \"p$((k / 5))\", \"nodes\": \"n${order[k]}\"}"
		done
		echo ']}'
	} >"$BATS_FILE_TMPDIR/onespine.topology"
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-END
		defaults:
		  gate: {budget_s: $BUDGET_S, fresh_s: 0, network: false, jobs: all, spares: 5}
	END
	cluster_start --gate --topology "$BATS_FILE_TMPDIR/onespine.topology" --config "$BATS_FILE_TMPDIR/onespine.yaml" \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
	export OUT=$BATS_FILE_TMPDIR/out
	mkdir -m 1777 "$OUT"
	chmod 755 "$BATS_FILE_TMPDIR"
}

# pods NODE...: the pod of each
pods() {
	local node k
	for node; do
		for k in "${!order[@]}"; do
			[[ n${order[k]} != "$node" ]] || echo "p$((k / 5))"
		done
	done | paste -sd' '
}

# Four segments of two and a spare, and a smaller one of one and a spare, which is in the pod of the first.
@test "a spare of each segment is released, and the ranks are those of the nodes that stay" {
	fault n3 "$ECC"
	# shellcheck disable=SC2016 # for the job
	one=$(sbatch --parsable --chdir=/ --output="$OUT/%j" -N9 -x 'n[17,4,12,19,7,14]' --gang=spine \
		--gang-segment=pod:2 --gang-spares=1/segment --ntasks-per-node=1 --wrap '
		srun sh -c "echo task \$SLURM_PROCID \$SLURMD_NODENAME \$ONESPINE_NODE_RANK" | sort -nk2
		paste -sd" " "$ONESPINE_HOSTFILE"; onespine audit')
	await_job "$one" COMPLETED
	printed=$(cat "$OUT/$one")
	comment=$(job_field "$one" AdminComment)
	# the nine that stay fit as they are, and an order that was packed with all is written out name by name
	holds "$comment" '; order=2x1/n1,n8,n15,n16,n3,n10,n11,n18,n5,n6,n13,n20,n2,n9; '
	holds "$comment" 'gate=of 14 nodes, 1 failed, the job goes on without, n3: gpu3 ecc 12'
	mapfile -t kept < <(awk '/^task/ {print $3}' <<<"$printed")
	equal "$(awk '/^task/ && $2 != $4' <<<"$printed")" ''
	equal "$(sed -n 10p <<<"$printed")" "${kept[*]}"
	equal "$(pods "${kept[@]}")" 'p0 p0 p1 p1 p2 p2 p3 p3 p0'
	equal "$(pods n16 n10)" "$(pods "${kept[@]:2:2}")"
	holds "$printed" '1 gang running: 1 as asked for, 0 not'
	await 10 drained n3 "$ECC_REASON"
	none_drained_but n3
}
