#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# gate_nccl.bats - all-reduces by NCCL between the nodes of a gang, before its first process
#
# libcuda and libnccl are fakes (tests/fake) that really add up between the nodes' processes.

load helpers
load gate_helpers

setup_file() {
	gate_budget
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-END
		defaults:
		  gate: {budget_s: $((BUDGET_S + 20)), fresh_s: 0, network: nccl}
		partitions:
		  hurry: {gate: {budget_s: $BUDGET_S}}
		  auto: {gate: {network: auto}}
		  tcp: {gate: {network: tcp}}
	END
	cluster_start --nodes 6 --gate --gres gpu:8 --config "$BATS_FILE_TMPDIR/onespine.yaml" \
		--partition 'gpu Nodes=ALL Default=YES' --partition 'hurry Nodes=ALL' \
		--partition 'auto Nodes=ALL' --partition 'tcp Nodes=ALL'
	cp "$ONESPINE_CLUSTER"/fakes-cuda/* "$ONESPINE_CLUSTER/fakes"
	cp -r "$ONESPINE_CLUSTER/fakes" "$ONESPINE_CLUSTER/fakes-without"
	: >"$ONESPINE_CLUSTER/fakes-without/libnccl.so.2" # what a host may have of its own is not looked for
	cp -r "$ONESPINE_CLUSTER/fakes" "$ONESPINE_CLUSTER/fakes-other"
	cp "$ONESPINE_CLUSTER/fakes/libcuda.so.1" "$ONESPINE_CLUSTER/fakes-other/libnccl.so.2"
}

# cuda NODE WORDS: what tests/fake/libnccl.c knows
cuda() {
	fault "$1" "export ONESPINE_FAKE_CUDA='$2'"
}

# reducers: the processes that NCCL runs in, of this cluster
reducers() {
	local pid found=1
	for pid in $(pgrep -f '^onespine-gate reduce'); do
		grep -qsz "^ONESPINE_TEST_ROOT=$ONESPINE_CLUSTER/" "/proc/$pid/environ" || continue
		printf '%s\n' "$pid"
		found=0
	done
	return $found
}

none_reduces() {
	! reducers >/dev/null
}

nobody_is_drained() {
	[[ -z $(sinfo -h -t drain,down -o %N) ]]
}

# goes_on NODES SAYING: NODES nodes of the gang go, its first one says that of NCCL, and nobody is drained for it
goes_on() {
	await 30 says n1 "go by n1 of $1 nodes"
	await 5 says n1 "NCCL$2"
	await_job "$job" RUNNING
	nobody_is_drained
}

@test "all GPUs of a gang in one all-reduce: right and fast, and the job runs" {
	job=$(submit -N6 --gres=gpu:8)
	await 30 says n6 'go by n1 of 6 nodes'
	await 5 says n1 'NCCL: all-reduce of 6 nodes right, 441 GB/s'
	await_job "$job" RUNNING
	await 5 none_reduces
	[[ $(gate_log n1) != *TCP* ]]
}

@test "a node that is slow with two partners is a suspect, not drained: the job starts once again without it" {
	cuda n3 nccl_net=20
	job=$(submit -N6 --gres=gpu:8)
	await 30 says n1 'NCCL: all-reduce of 6 nodes slow, 88.2 GB/s < 250, never tried on this hardware: pairs follow'
	await 30 says n1 'requeue by n1 of 6 nodes'
	await 10 note_holds "$job" '1 slow, the job starts again elsewhere, n3: network all-reduce 88.2 GB/s, 2 partners < 110, ask'
	await 30 begins_later "$job"
	nobody_is_drained
}

@test "below a limit that never ran on this hardware, and not far below the others: it only warns" {
	cuda n3 nccl_net=40
	job=$(submit -N6 --gres=gpu:8)
	goes_on 6 ': all-reduce of 6 nodes slow, 176.4 GB/s < 250, never tried on this hardware: pairs follow'
	await 5 says n1 'NCCL: each pair of nodes is well: nobody is blamed'
}

@test "all-reduces that are slow while others' traffic goes through an adapter count for nothing" {
	local counter=$ONESPINE_CLUSTER/nodes/n3/sys/class/infiniband/rdmap145s0/hw_counters/rx_bytes bytes=7000
	cuda n3 nccl_net=20
	# 8 GB each way are the gang's own; 32 GB at once and more are not. One process, which starts no other: it is to come
	# between two readings however many others want a processor.
	perl -e '($file, $bytes) = @ARGV;
		while (-e $file) {
			open(my $new, ">", "$file.new");
			print $new $bytes += 32000000000, "\n";
			close($new);
			rename("$file.new", $file);
			select(undef, undef, undef, 0.005);
		}' "$counter" "$bytes" &
	flooder=$!
	job=$(submit -N5 -w 'n[1-5]' --gres=gpu:8)
	await 30 says n1 'go by n1 of 5 nodes: of 5 nodes, 1 not measured; the job goes on; n3: network not judged: '
	kill "$flooder"
	await_job "$job" RUNNING
	equal "$(job_field "$job" Restarts)" 0
	nobody_is_drained
}

@test "a node that spoils sums is drained though it is fast" {
	cuda n1 nccl_wrong
	job=$(submit -N5 -w 'n[1-5]' --gres=gpu:8)
	await 30 node_is n1 drained
	equal "$(sinfo -h -n n1 -o %E)" 'onespine: network all-reduce wrong with 2 nodes; ask'
	await 10 says n1 'NCCL: all-reduce of 5 nodes wrong on n1 and perhaps others: pairs follow'
	equal "$(sinfo -h -t drain,down -o %N)" n1
}

@test "a slow link between two nodes is named, and nobody is blamed" {
	cuda n3 nccl_link_n4=10
	job=$(submit -N6 --gres=gpu:8)
	goes_on 6 ': the link between n3 and n4 is slow (44.1 GB/s), and who is to blame is unknown'
}

@test "NCCL between two nodes alone: the link is named, and nobody is blamed" {
	cuda n2 nccl_wrong
	job=$(submit -N2 -w 'n[1-2]' --gres=gpu:8)
	goes_on 2 ': the link between n1 and n2 is wrong'
}

@test "NCCL that hangs while it joins ends at its deadline, drains nobody, and TCP says the rest" {
	cuda n2 hang:ncclCommInitRank
	job=$(submit -p hurry -N3 -w 'n[1-3]' --gres=gpu:8)
	goes_on 3 ' says nothing about the network, TCP does: n'
	await 5 says n1 'no answer from NCCL in '
	await 5 none_reduces
}

@test "what NCCL or a node lacks is no failure: the log says so, and TCP finds the slow node" {
	fault n2 "export LD_LIBRARY_PATH=$ONESPINE_CLUSTER/fakes-without"
	fault n3 'export ONESPINE_TEST_NETWORK=slow'
	job=$(submit -N6 --gres=gpu:8)
	await 30 says n1 'requeue by n1 of 6 nodes'
	matches "$(gate_log n1)" 'n3: onespine: network sends 0\.[0-9]+ Gb/s, [3] partners < 25 % of [0-9.]+; ask'
	await 10 says n1 'NCCL says nothing about the network, TCP does: n2: libnccl.so.2 is not on this node'
	nobody_is_drained
}

# three_pairs: a gang of n1 and n2, one of n3 and n4, one of n5 and n6, at once; all of them run
three_pairs() {
	local pair jobs=()
	for pair in 'n[1-2]' 'n[3-4]' 'n[5-6]'; do
		jobs+=("$(submit -N2 -w "$pair" --gres=gpu:8)")
	done
	for job in "${jobs[@]}"; do
		await_job "$job" RUNNING
	done
}

# falls_back NODE SAYING: the gang's first node says why it goes on over TCP
falls_back() {
	await 5 says "$1" "NCCL says nothing about the network, TCP does: $2"
}

@test "an old NCCL, two versions, an error, another library, a GPU less, speeds beyond physics: TCP" {
	cuda n2 nccl_version=2304
	cuda n4 nccl_version=22105
	cuda n6 error:ncclCommInitRank=2
	three_pairs
	falls_back n1 'n2: NCCL 2304 is older than 2400'
	falls_back n3 'n3 has NCCL 22304, n4 has 22105'
	falls_back n5 'no two nodes have a figure'
	await 5 says n5 'NCCL: n5 and n6: n'
	all_well
	free_all
	cuda n2 missing=4
	fault n4 "export LD_LIBRARY_PATH=$ONESPINE_CLUSTER/fakes-other"
	cuda n5 nccl_net=300
	cuda n6 nccl_net=300
	three_pairs
	falls_back n1 'n2: CUDA sees 7 of 8 GPUs'
	falls_back n3 'n4: libnccl.so.2 lacks a function'
	falls_back n5 'no two nodes have a figure'
	await 5 says n5 'NCCL: n5 and n6: 1323 GB/s is more than they can'
	nobody_is_drained
}

@test "a part of a node: its own GPUs only, compared but held to no limit, and TCP follows" {
	cuda n1 'nccl_net=20 missing=7'
	job=$(submit -N3 -w 'n[1-3]' --gres=gpu:2)
	goes_on 3 ': all-reduce of 3 nodes right, 88.2 GB/s, no limit known'
}

@test "auto loads no GPU at depth passive, and tcp none at all" {
	for partition in auto tcp; do
		job=$(submit -p $partition -N2 -w 'n[1-2]' --gres=gpu:8)
		await 30 says n1 "job $job: PASS"
		await_job "$job" RUNNING
		scancel "$job"
		await 30 no_jobs
	done
	[[ $(gate_log n1) != *NCCL* ]]
}

# status PID FIELD: of /proc/PID/status, its numbers
status() {
	sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status" | xargs
}

# is_nobody PID: without rights, and in an environment of ours
is_nobody() {
	local environ=$BATS_TEST_TMPDIR/environ
	[[ $(status "$1" Uid) == '65534 65534 65534 65534' && $(status "$1" Gid) == '65534 65534 65534 65534' &&
		-z $(status "$1" Groups) && $(status "$1" CapEff) == 0000000000000000 && $(status "$1" NoNewPrivs) == 1 ]] || return
	tr '\0' '\n' <"/proc/$1/environ" >"$environ" || return
	grep -qx 'HOME=/nonexistent' "$environ" && grep -qx 'NCCL_CONF_FILE=/dev/null' "$environ" || return
	! grep -qE '^(NCCL_ALGO|NCCL_DEBUG|SPANK|CUDA_VISIBLE)' "$environ"
}

# Each asks NVML in a short child of its own first; then there is one a node.
two_are_nobodies() {
	local pid pids
	mapfile -t pids < <(reducers)
	((${#pids[@]} == 2)) || return
	for pid in "${pids[@]}"; do
		is_nobody "$pid" || return
	done
}

@test "NCCL runs as nobody, in an environment of ours: nothing of the user's is in it" {
	local node=$ONESPINE_CLUSTER/nodes/n2
	cuda n2 hang:ncclCommInitRank
	# nothing has made the device yet that CUDA needs, and nobody may not make it
	printf 'Character devices:\n511 nvidia-uvm\n' >"$node/proc/devices"
	rm -f "$node/dev/nvidia-uvm"
	job=$(NCCL_ALGO=Tree NCCL_DEBUG=INFO LD_PRELOAD='' HOME=$BATS_TEST_TMPDIR CUDA_VISIBLE_DEVICES=0 \
		submit -N2 -w 'n[1-2]' --gres=gpu:8)
	await 30 two_are_nobodies
	[[ -c $node/dev/nvidia-uvm ]]
	# who else is nobody does not see into it, or he would say what drains nodes
	for pid in $(reducers); do
		! as_other_user cat "/proc/$pid/environ" >/dev/null 2>&1 || fail "others who are nobody read $pid"
	done
	scancel "$job"
	await 30 none_reduces
	nobody_is_drained
}
