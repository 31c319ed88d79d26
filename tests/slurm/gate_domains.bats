#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# gate_domains.bats - spares of a gang in several domains: which nodes stay, and which ranks they get

bats_require_minimum_version 1.5.0
load helpers
load gate_helpers

# Names run against the fabric: s1 has leaves of n1 n3 n5 n7 and n2 n4 n6 n8, s2 of n9 n11 n13 and n10 n12 n14.
setup_file() {
	gate_budget
	cat >"$BATS_FILE_TMPDIR/onespine.topology" <<'END'
{"onespine-topology": 1, "source": "gate_domains", "levels": ["leaf", "spine", "core"], "domains": [
{"level": "core", "name": "c1"},
{"level": "spine", "name": "s1", "in": "c1"}, {"level": "spine", "name": "s2", "in": "c1"},
{"level": "leaf", "name": "l1", "in": "s1", "nodes": "n[1,3,5,7]"},
{"level": "leaf", "name": "l2", "in": "s1", "nodes": "n[2,4,6,8]"},
{"level": "leaf", "name": "l3", "in": "s2", "nodes": "n[9,11,13]"},
{"level": "leaf", "name": "l4", "in": "s2", "nodes": "n[10,12,14]"}]}
END
	gates_with_spares 6
}

# runs_on NODES OPTION..: a gang of two spines ends with its tasks on these nodes by rank, and its host file says so
runs_on() {
	local nodes=$1 one
	shift
	# shellcheck disable=SC2016 # for the job
	one=$(sbatch --parsable --chdir=/ --output="$OUT/%j" --gang=spine --gang-domains=2 "$@" --ntasks-per-node=1 --gres=gpu:8 --wrap '
		srun sh -c "echo \$SLURM_PROCID \$SLURMD_NODENAME \$ONESPINE_NODE_RANK" | sort -n | awk "\$1 == \$3 { print \$2 }" | paste -sd" "
		paste -sd" " "$ONESPINE_HOSTFILE"; echo "$ONESPINE_FIRST_HOST"; onespine audit' 2>/dev/null)
	await_job "$one" COMPLETED
	equal "$(cat "$OUT/$one")" "$nodes
$nodes
n1
1 gang running: 1 as asked for, 0 not"
}

@test "nodes of the first domain's first leaf fail: the others keep the fabric's order, from the first name on" {
	fault n3 "$ECC"
	fault n5 "$ECC"
	runs_on "n1 n7 n2 n4 n6 n9 n11 n13 n10 n12" -N10 --gang-spares=3
	await 20 drained n3 "$ECC_REASON"
	await 20 drained n5 "$ECC_REASON"
	none_drained_but n3 n5
}

# The batch host stays: a gang that loses it starts again.
@test "of the first leaf only the batch host is left: it has rank 0, and the next leaf follows" {
	local node
	for node in n3 n5 n7; do
		fault "$node" "$ECC"
	done
	runs_on "n1 n2 n4 n6 n9 n11 n13 n10 n12 n14" -N10 --gang-spares=3 -x n8
	for node in n3 n5 n7; do
		await 20 drained "$node" "$ECC_REASON"
	done
}

@test "segments with spares of their own, one bad node in each domain" {
	fault n3 "$ECC"
	fault n9 "$ECC"
	runs_on "n1 n5 n2 n4 n11 n13 n10 n12" -N8 --gang-segment=leaf:2 --gang-spares=1/segment
}
