#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# gate_overlay.bats - spares of a gang on one NVLink domain that crosses leaves: which nodes stay

bats_require_minimum_version 1.5.0
load helpers
load gate_helpers

# v1 has two nodes of each leaf and one more of l2, v2 the rest
setup_file() {
	gate_budget
	cat >"$BATS_FILE_TMPDIR/onespine.topology" <<'END'
{"onespine-topology": 1, "source": "gate_overlay", "levels": ["leaf", "spine"], "overlays": ["nvlink"], "domains": [
{"level": "spine", "name": "s1"},
{"level": "leaf", "name": "l1", "in": "s1", "nodes": "n[1-4]"},
{"level": "leaf", "name": "l2", "in": "s1", "nodes": "n[5-8]"},
{"level": "nvlink", "name": "v1", "nodes": "n[1-2,5-7]"},
{"level": "nvlink", "name": "v2", "nodes": "n[3-4,8]"}]}
END
	gates_with_spares 2
}

# ran JOB: its script has written all of its nodes
ran() {
	[[ -s $OUT/$1 ]]
}

@test "a spare of the same NVLink domain takes the place of a node that fails" {
	fault n6 "$ECC"
	# shellcheck disable=SC2016 # for the job
	one=$(sbatch --parsable --chdir=/ --output="$OUT/%j" -N4 --gang=nvlink --gang-spares=1 --ntasks-per-node=1 --gres=gpu:8 \
		--wrap 'paste -sd" " "$ONESPINE_HOSTFILE"; onespine audit')
	await_job "$one" COMPLETED 60
	equal "$(cat "$OUT/$one")" "n1 n2 n5 n7
1 gang running: 1 as asked for, 0 not"
	await 10 shows 'gate=of 5 nodes, 1 failed, the job goes on without, n6: gpu3 ecc 12' job_field "$one" AdminComment
	await 10 drained n6 "$ECC_REASON"
	none_drained_but n6
}

@test "nodes with their spare that no NVLink domain has are refused, and say so" {
	run sbatch --parsable -N5 --gang=nvlink --gang-spares=1 --gres=gpu:8 --wrap true
	((status)) || fail "taken: $output"
	holds "$output" 'the largest nvlink'
}

@test "spares of segments of one NVLink domain in one spine: each covers its own" {
	fault n6 "$ECC"
	# v1 has two segments' worth only with n1, n2, n5, n6, n7; v2 has n3, n4, n8: one segment of two and its spare each
	# shellcheck disable=SC2016 # for the job
	one=$(sbatch --parsable --chdir=/ --output="$OUT/%j" -N4 --gang=spine --gang-segment=nvlink:2 --gang-spares=1/segment \
		--ntasks-per-node=1 --gres=gpu:8 --wrap 'cat "$ONESPINE_HOSTFILE"; onespine audit')
	await_job "$one" COMPLETED 60
	hosts=$(head -n 4 "$OUT/$one" | paste -sd' ')
	[[ " $hosts " != *' n6 '* ]] || fail "$hosts"
	beside=$(head -n 4 "$OUT/$one" | sed -E 's/n(1|2|5|7)$/v1/; s/n(3|4|8)$/v2/' | paste -sd' ')
	[[ $beside == 'v1 v1 v2 v2' || $beside == 'v2 v2 v1 v1' ]] || fail "$hosts: $beside"
	equal "$(tail -n 1 "$OUT/$one")" '1 gang running: 1 as asked for, 0 not'
}
