#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# gate_network.bats - data and bandwidth between the nodes of a gang, before its first process

load helpers
load gate_helpers

setup_file() {
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-END
		defaults:
		  gate: {budget_s: 20, fresh_s: 0}
	END
	cluster_start --nodes 6 --gate --gres gpu:8 --config "$BATS_FILE_TMPDIR/onespine.yaml"
}

measurers() {
	pgrep -u 65534 -f "$ONESPINE_PREFIX/bin/onespine gate"
}

none_measures() {
	! measurers >/dev/null
}

@test "a good network: the job runs, and what measured it has gone" {
	job=$(submit -N6 --gres=gpu:8)
	await 20 says n6 'go by n1 of 6 nodes'
	[[ $(gate_log n1) != *network* && $(gate_log n1) != *link* ]]
	await 5 none_measures
	await_job "$job" RUNNING
}

@test "a node that sends slowly is named by two partners and drained; nobody else is" {
	fault n3 'export ONESPINE_TEST_NETWORK=slow'
	job=$(submit -N6 --gres=gpu:8)
	await 30 says n1 'requeue by n1 of 6 nodes'
	await 10 node_is n3 drained
	matches "$(sinfo -h -n n3 -o %E)" '^onespine: network sends 0\.[0-9]+ Gb/s, [3] partners < 25 % of [0-9.]+; ask$'
	equal "$(sinfo -h -t drain,down -o %N)" n3
	await 30 begins_later "$job"
}

@test "a node that sends wrong bytes is drained though it is fast" {
	fault n1 'export ONESPINE_TEST_NETWORK=corrupt'
	job=$(submit -N5 -w 'n[1-5]' --gres=gpu:8)
	await 30 node_is n1 drained
	equal "$(sinfo -h -n n1 -o %E)" 'onespine: network sends wrong bytes to 3 nodes; ask'
	equal "$(sinfo -h -t drain,down -o %N)" n1
}

@test "two nodes alone: the link is named, and nobody is blamed" {
	fault n2 'export ONESPINE_TEST_NETWORK=corrupt'
	job=$(submit -N2 -w 'n[1-2]' --gres=gpu:8)
	await 30 says n1 'go by n1 of 2 nodes'
	await 10 shows 'the link between n1 and n2 is wrong' gate_log n1
	equal "$(sinfo -h -t drain,down -o %N)" ''
}
