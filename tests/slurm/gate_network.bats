#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# gate_network.bats - data and bandwidth between the nodes of a gang, before its first process

load helpers
load gate_helpers

setup_file() {
	gate_budget
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-END
		defaults:
		  gate: {budget_s: $((BUDGET_S + 20)), fresh_s: 0}
	END
	# n6 has a network namespace, and a wire, of its own
	cluster_start --nodes 6 --gate --wire n6 --gres gpu:8 --config "$BATS_FILE_TMPDIR/onespine.yaml"
}

measurers() {
	pgrep -u 65534 -f "$ONESPINE_PREFIX/libexec/onespine/onespine-gate"
}

none_measures() {
	! measurers >/dev/null
}

@test "a good network: the job runs, and what measured it has gone" {
	gates_until n1 'go by n1 of 6 nodes$' -N6 --gres=gpu:8
	await 20 says n6 'go by n1 of 6 nodes'
	[[ $(said_of "$job" n1) != *network* && $(said_of "$job" n1) != *link* ]]
	await 5 none_measures
	await_job "$job" RUNNING
}

@test "a node that sends slowly is named by two partners, and never drained: the job starts once again without it" {
	fault n3 'export ONESPINE_TEST_NETWORK=slow'
	gates_until n1 'requeue by n1 of 5 nodes: of 5 nodes, 1 slow; ' -N5 -w 'n[1-5]' --gres=gpu:8
	matches "$(said_of "$job" n1)" 'n3: onespine: network sends 0\.[0-9]+ Gb/s, [23] partners < 25 % of [0-9.]+; ask'
	await 10 note_holds "$job" 'gate=stopped 1 start, 1 slow, of 5 nodes, 1 slow, the job starts again elsewhere, n3: network sends'
	await 10 excludes "$job" n3
	none_drained_but
	# where it gets the node all the same, it starts, with a warning: of what is measured anew
	await 30 begins_later "$job"
	scontrol update "JobId=$job" ExcNodeList= StartTime=now+3
	await_job "$job" RUNNING
	await 10 says n1 'go by n1 of 5 nodes: of 5 nodes, '
	matches "$(said_of "$job" n1)" 'go by n1 of 5 nodes: of 5 nodes, [1-5] (slow|not measured)[^;]*; the job goes on; n[1-5]: network (sends|not judged)'
	await 10 note_holds "$job" 'gate=stopped 1 start, 1 slow, of 5 nodes, '
	note_holds "$job" ', the job goes on'
	equal "$(job_field "$job" Restarts)" 1
	none_drained_but
}

@test "a slow node never stops a job that cannot be requeued" {
	fault n3 'export ONESPINE_TEST_NETWORK=slow'
	gates_until n1 'go by n1 of 5 nodes: of 5 nodes, 1 slow; the job goes on' --no-requeue -N5 -w 'n[1-5]' --gres=gpu:8
	await_job "$job" RUNNING
	none_drained_but
}

# flood NODE: others' bytes go through its adapter, 40 MB/s and more, until it is stopped
flood() {
	local counter=$ONESPINE_CLUSTER/nodes/$1/sys/class/net/ens5/statistics/rx_bytes bytes=1000000
	while [[ -e $counter ]]; do
		bytes=$((bytes + 4000000))
		echo "$bytes" >"$counter.new"
		mv "$counter.new" "$counter"
		sleep 0.05
	done
}

@test "slow while others' traffic goes through its adapter: it counts for nothing, and the job starts with a warning" {
	fault n3 'export ONESPINE_TEST_NETWORK=slow'
	flood n3 &
	flooder=$!
	gates_until n1 'n3: onespine: network not judged: [0-9.]+ Gb/s of others. traffic' -N5 -w 'n[1-5]' --gres=gpu:8
	kill "$flooder"
	matches "$(said_of "$job" n1)" 'go by n1 of 5 nodes: of 5 nodes, [1-5] not measured; the job goes on; n[1-5]: network not judged: '
	[[ $(said_of "$job" n1) != *'network sends'* && $(said_of "$job" n1) != *'the link between'* ]]
	await_job "$job" RUNNING
	equal "$(job_field "$job" Restarts)" 0
	none_drained_but
}

@test "slow where a counter cannot be read, or what measured waited for a processor: the same" {
	local node=$ONESPINE_CLUSTER/nodes/n3
	fault n3 'export ONESPINE_TEST_NETWORK=slow'
	mv "$node/sys/class/net/ens5/statistics/tx_bytes" "$node/tx_bytes"
	gates_until n1 "of 5 nodes, 1 not measured; the job goes on; n3: network not judged: its adapters' counters cannot be read" \
		-N5 -w 'n[1-5]' --gres=gpu:8
	mv "$node/tx_bytes" "$node/sys/class/net/ens5/statistics/tx_bytes"
	scancel "$job"
	await 30 no_jobs
	echo '0 999999999999 0' >"$node/proc/self/schedstat"
	gates_until n1 'n3: onespine: network not judged: what measured waited for a processor' -N5 -w 'n[1-5]' --gres=gpu:8
	echo '0 0 0' >"$node/proc/self/schedstat"
	none_drained_but
}

# rounds MS: what a round may take on n1 to n5
rounds() {
	local node
	for node in n1 n2 n3 n4 n5; do
		fault "$node" "export ONESPINE_TEST_ROUND_MS=$1"
	done
}

# n3_not_judged WHY: n3's links are bad, and nobody is blamed: the job ($job) starts at once with that warning
n3_not_judged() {
	gates_until n1 "n3: onespine: network not judged: $1" -N5 -w 'n[1-5]' --gres=gpu:8
	matches "$(said_of "$job" n1)" 'go by n1 of 5 nodes: of 5 nodes, [1-5] not measured; the job goes on; n[1-5]: network not judged: '
	[[ $(said_of "$job" n1) != *'network sends'* && $(said_of "$job" n1) != *'network receives'* ]]
	await_job "$job" RUNNING
	equal "$(job_field "$job" Restarts)" 0
	none_drained_but
}

@test "what measures there does not end in the round's time: the node is not judged, and the job starts with a warning" {
	rounds 2000
	fault n3 'export ONESPINE_TEST_NETWORK=stuck'
	n3_not_judged 'what measured did not end in time'
	await 20 none_measures
}

@test "a device whose counters are not read in the round's time: the same" {
	local counters=$ONESPINE_CLUSTER/nodes/n3/sys/class/net/ens5/ethtool
	rounds 2000
	fault n3 'export ONESPINE_TEST_NETWORK=slow'
	silent=$BATS_TEST_TMPDIR/silent
	mkdir "$silent"
	mount_silent
	mv "$counters" "$BATS_TEST_TMPDIR/ethtool"
	ln -s "$silent/ethtool" "$counters"
	n3_not_judged "its adapters' counters were not read in time"
	rm "$counters"
	mv "$BATS_TEST_TMPDIR/ethtool" "$counters"
}

# mount_silent: a file system that never answers at $silent, until $fuse ends
mount_silent() {
	[[ -c /dev/fuse ]] || skip 'no FUSE here'
	[[ ! -x $ONESPINE_CLUSTER/bin/in-root ]] || skip 'the cluster is in another root'
	python3 "$BATS_TEST_DIRNAME/silent_fuse.py" "$silent" >"$BATS_TEST_TMPDIR/fuse" 2>&1 3>&- &
	fuse=$!
	await 10 grep -q . "$BATS_TEST_TMPDIR/fuse"
	grep -q mounted "$BATS_TEST_TMPDIR/fuse" || skip "FUSE cannot be mounted: $(cat "$BATS_TEST_TMPDIR/fuse")"
}

teardown() {
	if [[ -n ${fuse:-} ]]; then
		kill "$fuse"
		wait "$fuse" || true
	fi
	[[ -z ${stopped:-} ]] || kill -CONT "$stopped" 2>/dev/null || true
	gate_end_test
}

# stop_gate NODE: holds the gate whose children measure there
stop_gate() {
	local measurer
	measurer=$(comm -12 <(gate_processes "$1" | sort) <(measurers | sort) | head -n 1)
	[[ -n $measurer ]] || return 1
	stopped=$(awk '/^PPid:/ { print $2 }' "/proc/$measurer/status") || return 1
	[[ -n $stopped ]] && kill -STOP "$stopped"
}

@test "a gate that does not report its counters in the round's time: the same" {
	rounds 6000
	fault n3 'export ONESPINE_TEST_NETWORK=stuck'
	hold_gate n3 &
	n3_not_judged 'it did not report its adapters. counters in time'
	wait "$!"
}

# hold_gate NODE: from when it measures until n1 has decided
hold_gate() {
	local job
	await 60 stop_gate "$1"
	job=$(squeue -h -o %i)
	await 60 decided "$job" n1
	kill -CONT "$stopped"
}

@test "a gate of another version in the gang: no link to it is measured, nobody is blamed or drained" {
	fault n3 "exec $ONESPINE_CLUSTER/other-gate \"\$@\""
	gates_until n1 'n3: its gate speaks version [0-9]+ of messages' -N5 -w 'n[1-5]' --gres=gpu:8
	matches "$(said_of "$job" n1)" 'go by n1 of 5 nodes'
	[[ $(said_of "$job" n1) != *FAIL* && $(said_of "$job" n1) != *'network sends'* ]]
	await_job "$job" RUNNING
	equal "$(job_field "$job" Restarts)" 0
	none_drained_but
}

@test "wrong bytes drain, whatever else goes on there" {
	fault n3 'export ONESPINE_TEST_NETWORK=corrupt'
	flood n3 &
	flooder=$!
	drainable=n3 gates_until n1 'requeue by n1 of 5 nodes' -N5 -w 'n[1-5]' --gres=gpu:8
	kill "$flooder"
	await 30 node_is n3 drained
	matches "$(sinfo -h -n n3 -o %E)" '^onespine: network sends wrong bytes to [23] nodes; ask$'
	none_drained_but n3
}

@test "a node that sends wrong bytes is drained though it is fast" {
	fault n1 'export ONESPINE_TEST_NETWORK=corrupt'
	drainable=n1 gates_until n1 'requeue by n1 of 5 nodes' -N5 -w 'n[1-5]' --gres=gpu:8
	await 30 node_is n1 drained
	matches "$(sinfo -h -n n1 -o %E)" '^onespine: network sends wrong bytes to [23] nodes; ask$'
	equal "$(sinfo -h -t drain,down -o %N)" n1
}

@test "two nodes alone: the link is named, and nobody is blamed" {
	fault n2 'export ONESPINE_TEST_NETWORK=corrupt'
	gates_until n1 'the link between n1 and n2 is wrong' -N2 -w 'n[1-2]' --gres=gpu:8
	matches "$(said_of "$job" n1)" 'go by n1 of 2 nodes'
	equal "$(sinfo -h -t drain,down -o %N)" ''
}

# begin_flood ADDRESS COUNT: as an ordinary user, until end_flood
begin_flood() {
	local flood=$ONESPINE_CLUSTER/bin/flood i
	cc -O1 -Wall -Werror -o "$flood" "$BATS_TEST_DIRNAME/flood.c"
	chmod 755 "$flood"
	flooders=()
	for ((i = 0; i < $2; i++)); do
		setpriv --reuid=65534 --regid=65534 --clear-groups "$flood" "$1" >/dev/null 2>&1 3>&- &
		flooders+=("$!")
	done
}

end_flood() {
	kill "${flooders[@]}"
	wait "${flooders[@]}" || true
}

# real_counters NODE LINK: its adapter counts what goes over that end of the wire
real_counters() {
	local own=$ONESPINE_CLUSTER/nodes/$1/sys/class/net/ens5/statistics wire=/sys/class/net/$2/statistics
	ln -sf "$wire/tx_bytes" "$own/rx_bytes"
	ln -sf "$wire/rx_bytes" "$own/tx_bytes"
}

bytes_to_node() {
	cat "$ONESPINE_CLUSTER/nodes/n6/sys/class/net/ens5/statistics/rx_bytes"
}

@test "a real UDP flood of a user's at a node of a gang: nobody is drained, and after one requeue at most it starts" {
	local at link before
	at=$(scontrol show node n6 | sed -n 's/.*NodeAddr=\([^ ]*\).*/\1/p')
	link=$(ip -o route get "$at" | sed -n 's/.* dev \([^ ]*\).*/\1/p')
	real_counters n6 "$link"
	tc qdisc add dev "$link" root tbf rate 4gbit burst 4mb latency 20ms # that its senders fill
	# without a flood it is measured, and well
	job=$(submit -N3 -w 'n[4-6]' --gres=gpu:8)
	await 30 says n4 "job $job: PASS"
	await 30 says n4 'go by n4 of 3 nodes'
	scancel "$job"
	await 20 no_jobs
	before=$(bytes_to_node)
	begin_flood "$at" 16
	await 30 flooded_since "$before"
	job=$(submit -N3 -w 'n[4-6]' --gres=gpu:8)
	await 180 goes_by_n4 "$job"
	await_job "$job" RUNNING
	(($(job_field "$job" Restarts) <= 1))
	# where it was slow enough to be told, the flood was seen: n6 is not called slow
	[[ $(gate_log n4) != *'n6: onespine: network receives'* ]]
	scancel "$job"
	await 20 no_jobs
	# n6 that is slow beside it for certain: the flood is told of, and the job starts with that warning. The flood
	# takes processors from the others too, so more nodes than n6 may not be measured.
	fault n6 'export ONESPINE_TEST_NETWORK=slow'
	gates_until n2 'n6: onespine: network not judged: [0-9.]+ Gb/s of others. traffic' -N5 -w 'n[2-6]' --gres=gpu:8
	end_flood
	matches "$(said_of "$job" n2)" 'go by n2 of 5 nodes: of 5 nodes, [1-5] not measured; the job goes on; n[2-6]: network not judged: '
	await_job "$job" RUNNING
	await 10 note_holds "$job" ' not measured, the job goes on, n'
	equal "$(job_field "$job" Restarts)" 0
	none_drained_but
}

# flooded_since BYTES: 100 MB have come since then
flooded_since() {
	(($(bytes_to_node) - $1 > 100000000))
}

goes_by_n4() {
	[[ $(gate_log n4) =~ "job $1: "[^$'\n']*' go by n4 of 3 nodes' ]]
}
