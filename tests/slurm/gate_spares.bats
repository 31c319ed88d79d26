#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# gate_spares.bats - spares of a layout: which nodes stay, and which ranks they get

bats_require_minimum_version 1.5.0
load helpers
load gate_helpers

# Names run against the fabric: s1 has leaves of n1 n3 n5 and n2 n4 n6.
setup_file() {
	gate_budget
	cat >"$BATS_FILE_TMPDIR/onespine.topology" <<'END'
{"onespine-topology": 1, "source": "gate_spares", "levels": ["leaf", "spine"], "domains": [
{"level": "spine", "name": "s1"},
{"level": "leaf", "name": "l1", "in": "s1", "nodes": "n[1,3,5]"},
{"level": "leaf", "name": "l2", "in": "s1", "nodes": "n[2,4,6]"}]}
END
	gates_with_spares 2
}

# 32 GPUs, tp 8, pp 2, dp 2 as Megatron orders them: node rank = dp rank + 2 x stage. A pipeline is two nodes of a leaf of three.
@test "a layout with a spare in each segment: each covers its own, and ranks are those of the nodes that stay" {
	fault n3 "$ECC"
	# shellcheck disable=SC2016 # for the job
	run --separate-stderr sbatch --parsable --chdir=/ --output="$OUT/%j" -N4 --gang=spine --gang-layout=tp8,pp2 --gang-keep=pp:leaf \
		--gang-spares=1/segment --ntasks-per-node=1 --gres=gpu:8 --wrap '
		srun sh -c "echo task \$SLURM_PROCID \$SLURMD_NODENAME \$ONESPINE_NODE_RANK \$SLURM_NNODES" | sort -nk2
		paste -sd" " "$ONESPINE_HOSTFILE"; onespine audit'
	# shellcheck disable=SC2154
	one=$output
	# shellcheck disable=SC2154
	holds "$stderr" 'onespine: with 1 spare node in each it is placed as 6 nodes in segments leaf:3; 2 are released when all are checked'
	await_job "$one" COMPLETED
	equal "$(cat "$OUT/$one")" "task 0 n1 0 4
task 1 n2 1 4
task 2 n5 2 4
task 3 n4 3 4
n1 n2 n5 n4
1 gang running: 1 as asked for, 0 not"
	await 10 shows 'gate=of 6 nodes, 1 failed, the job goes on without, n3: gpu3 ecc 12' job_field "$one" AdminComment
	await 10 drained n3 "$ECC_REASON"
	none_drained_but n3
}

@test "spares that no segment of a layout can have are refused" {
	run sbatch --parsable -N4 --gang=spine --gang-layout=tp8,pp2 --gang-keep=pp:leaf --gang-spares=1 --gres=gpu:8 --wrap true
	holds "$output" '--gang-spares=1 would be released out of a segment: say --gang-spares=K/segment'
	run sbatch --parsable -N4 --gang=spine --gang-layout=tp8,dp4 --gang-spares=1/segment --gres=gpu:8 --wrap true
	holds "$output" '--gang-spares=1/segment are spares in each segment, and --gang-layout makes none here: say --gang-spares=1'
	run sbatch --parsable -N2 --gang=spine --gang-layout=tp8,pp2 --gang-keep=pp:leaf --gang-spares=2/segment --gres=gpu:8 --wrap true
	holds "$output" '--gang-spares=2/segment: the layout makes segments of 2 nodes in one leaf, with their spares 4, and the largest leaf has 3'
}

# A gang whose groups lie in nodes has no segments: its spare is the job's.
@test "a layout without segments has spares of the job" {
	fault n3 "$ECC"
	# shellcheck disable=SC2016 # for the job
	one=$(sbatch --parsable --chdir=/ --output="$OUT/%j" -N5 --gang=spine --gang-layout=tp8,dp5 --gang-spares=1 --ntasks-per-node=1 \
		--gres=gpu:8 --wrap 'paste -sd" " "$ONESPINE_HOSTFILE"; onespine audit')
	await_job "$one" COMPLETED
	equal "$(cat "$OUT/$one")" "n1 n5 n2 n4 n6
1 gang running: 1 as asked for, 0 not"
	await 10 drained n3 "$ECC_REASON"
	none_drained_but n3
}

# says JOB WORDS
says() {
	[[ $(job_field "$1" AdminComment) == *"$2"* ]]
}

# waits HOW..: a job of four nodes and a spare in each segment waits; n6 lacks, and what changes it is judged with its spares
waits() {
	local change
	hold n6
	one=$(sbatch --parsable --chdir=/ --output="$OUT/%j" -N4 --gang=spine "$@" --gang-spares=1/segment --ntasks-per-node=1 \
		--gres=gpu:8 --wrap 'sleep 600' 2>/dev/null)
	await 30 says "$one" 'waits: 6 nodes on one spine in segments leaf:3; 2 whole segments of 3 nodes needed, 1 free'
	printed=$(onespine why "$one")
	holds "$printed" 'waits: 6 nodes on one spine in segments leaf:3; 2 whole segments of 3 nodes needed, 1 free'
	matches "$printed" 's1 +1$'
	holds "$(onespine map)" ', 6 nodes; waits: 6 nodes on one spine in segments leaf:3; 2 whole segments of 3 nodes needed, 1 free'
	holds "$(onespine fit -N4 --gang=spine "$@" --gang-spares=1/segment || true)" \
		'waits: 6 nodes on one spine in segments leaf:3; 2 whole segments of 3 nodes needed, 1 free'
	# what keeps its segments and its spares is a change, and nothing else is
	for change in NumNodes=6 NumNodes=6-6 TimeLimit=10 Partition=gpu "Comment=of the user"; do
		scontrol update "JobId=$one" "$change" || fail "refused: $change"
	done
	for change in NumNodes=3 NumNodes=4 NumNodes=5 NumNodes=7 NumNodes=9 NumNodes=3-6; do
		run scontrol update "JobId=$one" "$change"
		((status)) || fail "taken: $change"
		holds "$output" 'Requested node configuration is not available'
	done
	holds "$(job_field "$one" NumNodes)" 6
	release n6
	await_job "$one" RUNNING
	await 30 says "$one" 'placed: 4 nodes on spine s1, 2 released by the gate'
	printed=$(onespine why "$one")
	holds "$printed" '  gate: 4 of 6 nodes kept, all were good'
	holds "$printed" 'its nodes keep what it asked for:
  leaf l1: 2 nodes  n[1,3]
  leaf l2: 2 nodes  n[2,4]'
	printed=$(onespine map)
	holds "$printed" '6 nodes: 4 busy, 2 free, 0 out; 1 job, a gang'
	matches "$printed" 'wrap of root, gang=spine segment=leaf:3.*, 4 nodes, '
	holds "$(onespine audit)" '1 gang running: 1 as asked for, 0 not'
}

@test "segments with spares: while they wait, changed with scontrol, and when the spares have gone" {
	waits --gang-segment=leaf:2
}

@test "a layout with spares in its segments: while it waits, changed with scontrol, and when they have gone" {
	waits --gang-layout=tp8,pp2 --gang-keep=pp:leaf
	holds "$(onespine audit --layout)" 'tp8,pp2,dp2'
}

# Segments of 2 and 1 in leaves of 3; n1, the first name, is in the smaller one.
@test "a smaller last segment has its spares, and where ranks begin is said of the nodes that stay" {
	hold n5
	# shellcheck disable=SC2016 # for the job
	one=$(sbatch --parsable --chdir=/ --output="$OUT/%j" -N3 --gang=spine --gang-segment=leaf:2 --gang-spares=1/segment \
		--ntasks-per-node=1 --gres=gpu:8 --wrap 'paste -sd" " "$ONESPINE_HOSTFILE"; onespine audit' 2>/dev/null)
	await_job "$one" COMPLETED
	equal "$(cat "$OUT/$one")" "n1 n2 n4
1 gang running: 1 as asked for, 0 not"
	await 10 says "$one" 'placed: 3 nodes on spine s1, 2 released by the gate; ranks begin in the smaller segment, where n1 is]'
}

@test "a refusal says that its nodes include the spares, and of which number a layout takes multiples" {
	run sbatch --parsable -N5 --gang=spine --gang-spares=2 --gres=gpu:8 --wrap true
	holds "$output" '7 nodes on one spine asked for; the largest spine'
	holds "$output" '; ask for 6 nodes (the 2 spare nodes count too)'
	run sbatch --parsable -N6 --gang=spine --gang-segment=leaf:2 --gang-spares=1/segment --gres=gpu:8 --wrap true
	holds "$output" 'allows 2 spare nodes to a job'
	run sbatch --parsable -N5 --gang=spine --gang-segment=leaf:3 --gang-spares=1/segment --gres=gpu:8 --wrap true
	holds "$output" 'the largest leaf has 3'
	run sbatch --parsable -N8 --gang=spine --gang-layout=tp8,pp2 --gang-keep=pp:leaf --gres=gpu:8 --wrap true
	holds "$output" 'ask for 4 nodes (--gang-layout takes a multiple of 2 nodes)'
}

@test "onespine hosts in the shell of salloc lists the nodes that stay" {
	# shellcheck disable=SC2016 # for the shell
	run --separate-stderr salloc --chdir=/ -N4 --gang=spine --gang-layout=tp8,pp2 --gang-keep=pp:leaf --gang-spares=1/segment \
		--ntasks-per-node=1 --gres=gpu:8 sh -c 'srun true; onespine hosts | paste -sd" "'
	equal "$output" "n1 n2 n3 n4"
}
