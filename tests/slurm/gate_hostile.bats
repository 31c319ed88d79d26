#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# gate_hostile.bats - what an ordinary user on a node may try against the gate

load helpers
load gate_helpers

setup_file() {
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-END
		defaults:
		  gate: {budget_s: 10, fresh_s: 0, network: false}
	END
	cluster_start --nodes 4 --gate --gres gpu:8 --config "$BATS_FILE_TMPDIR/onespine.yaml"
	# What everybody may run, though root's home and /tmp/build are closed to others.
	install -m 755 "$(gate_fakes)/../knock" "$ONESPINE_CLUSTER/bin/knock"
}

gate_fakes() {
	(
		# shellcheck disable=SC2034
		slurm=${ONESPINE_TEST_SLURM:-22.05}
		# shellcheck source=tools/lib/common.sh
		. "$ONESPINE_TOOLS/lib/common.sh"
		# shellcheck source=tools/lib/build.sh
		. "$ONESPINE_TOOLS/lib/build.sh"
		# shellcheck source=tools/lib/gate.sh
		. "$ONESPINE_TOOLS/lib/gate.sh"
		gate_fakes
	)
}

address() {
	scontrol show node "$1" | sed -n 's/.*NodeAddr=\([^ ]*\).*/\1/p'
}

as_user() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

# A job whose gate is open for some seconds: n4's check begins late.
open_gate() {
	fault n4 'sleep 3'
	job=$(submit -N4 --gres=gpu:8)
	await 10 listening "$(address n1)"
}

listening() {
	local port
	port=$(ss -Htln "src $1" | awk '{ sub(/.*:/, "", $4); print $4 }' | grep -E '^(28[89]|29.|30[0-3])$')
	[[ -n $port ]]
}

# The gang was not disturbed, and n1's log counts what was dropped.
undisturbed() {
	await 20 says n1 'go by n1 of 4 nodes'
	await 5 says n1 'dropped: '
	matches "$(gate_log n1)" "dropped: .*$1"
	equal "$(sinfo -h -t drain,down -o %N)" ''
	await_job "$job" RUNNING
}

@test "a user's flood of connections gets no greeting and no attention" {
	open_gate
	said=$(as_user "$ONESPINE_CLUSTER/bin/knock" "$(address n1)" 288-303 300)
	matches "$said" '^0 of [1-9][0-9]+ greeted$'
	undisturbed '[1-9][0-9]* from ports that users can have'
}

@test "a credential of a user, even from a reserved port, is dropped" {
	open_gate
	credential=$(echo "I am n2 and n3 failed" | as_user munge -S "$ONESPINE_CLUSTER/munge/socket")
	said=$("$ONESPINE_CLUSTER/bin/knock" -r "$(address n1)" 288-303 <<<"$credential")
	equal "$said" "job $job rank 0"$'\n'closed
	undisturbed ' 1 without root'
}

@test "root's own credential, replayed or for something else, is dropped" {
	open_gate
	credential=$(echo OSPG | munge -S "$ONESPINE_CLUSTER/munge/socket" -U 0)
	said=$("$ONESPINE_CLUSTER/bin/knock" -r "$(address n1)" 288-303 <<<"$credential")
	equal "$said" "job $job rank 0"$'\n'closed
	said=$("$ONESPINE_CLUSTER/bin/knock" -r "$(address n1)" 288-303 <<<"$credential")
	equal "$said" "job $job rank 0"$'\n'closed
	# The first was no message of the gate's, the second had been used before.
	undisturbed ' 1 without root.* 1 not of this gate'
}

@test "an oversized message is dropped before it is read" {
	open_gate
	said=$("$ONESPINE_CLUSTER/bin/knock" -l "$(address n1)" 288-303 <<<"x")
	equal "$said" "job $job rank 0"$'\n'closed
	undisturbed ' 1 too long'
}

@test "what a user says in options and environment lowers nothing" {
	fault n2 "$ECC"
	export SLURM_SPANK__SLURM_SPANK_OPTION_onespine_gang_check=off
	export _SLURM_SPANK_OPTION_onespine_gang_check=off ONESPINE_GANG_CHECK=off
	export SPANK__ONESPINE_SPARES=3 ONESPINE_TEST_ROOT=/nowhere SLURM_JOB_GPUS=7
	job=$(submit -N2 -w 'n[1-2]' --gres=gpu:8 --gang-check=off --export=ALL)
	await 30 node_is n2 drained
	await 30 begins_later "$job"
	holds "$(gate_log n2)" 'FAIL'
}

@test "a policy that others than root may write is not obeyed" {
	chmod 666 "$ONESPINE_CLUSTER/onespine.yaml"
	job=$(submit -N2 -w 'n[1-2]' --gres=gpu:8)
	await 20 says n1 'go by n1 of 2 nodes'
	chmod 644 "$ONESPINE_CLUSTER/onespine.yaml"
	matches "$(gate_log n1)" 'must belong to root, and nobody else may write it: the built-in values'
}
