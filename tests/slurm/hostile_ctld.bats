#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# hostile_ctld.bats - what an ordinary user may try against slurmctld, by clients of their own

load helpers

setup_file() {
	[[ ${ONESPINE_TEST_SLURM:-22.05} == 22.05* ]] || skip 'names.c needs the header of the release under test'
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 1 2
	export LOOKED_UP=$BATS_FILE_TMPDIR/looked-up
	cc -shared -fPIC -O1 -Wall -Werror -o "$BATS_FILE_TMPDIR/names.so" "$BATS_TEST_DIRNAME/names.c" -ldl
	LD_PRELOAD=$BATS_FILE_TMPDIR/names.so cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" \
		--gres gpu:2 --conf MessageTimeout=60
	cc -O1 -Wall -Werror -o "$ONESPINE_CLUSTER/bin/raw" "$BATS_TEST_DIRNAME/raw.c" -lslurm
	install -m 755 "$BATS_FILE_TMPDIR/names.so" "$ONESPINE_CLUSTER/bin/names.so"
}

teardown() {
	rm -f "$ONESPINE_CLUSTER/mute"
	scancel --user=65534
	end_test
}

# users_note_holds OWNER TEXT: the note of that user's job
users_note_holds() {
	[[ $(job_field "$(squeue -h -u "$1" -n bash -o %i)" AdminComment) == *"$2"* ]]
}

@test "a user's salloc that names a host where it is to be told why it waits: slurmctld looks no name up" {
	hold 'n[1-4]'
	as_other_user env LD_PRELOAD="$ONESPINE_CLUSTER/bin/names.so" RESP_HOST=slow.example \
		salloc --chdir=/ -J bash --gang -N2 true >/dev/null 2>&1 3>&- &
	await 30 users_note_holds 65534 'waits: 2 nodes'
	# one that gives its address is reported, after the other was asked about
	salloc -J bash --gang -N2 true >"$BATS_TEST_TMPDIR/said" 2>&1 3>&- &
	await 30 grep -q 'onespine: waits: ' "$BATS_TEST_TMPDIR/said"
	grep -q . "$LOOKED_UP"
	if grep -qx slow.example "$LOOKED_UP"; then
		fail "looked up $(grep -cx slow.example "$LOOKED_UP") times"
	fi
	scancel --user=0
}

# threads: of Slurm's agent, which starts and ends of jobs wait for
threads() {
	sdiag | sed -n 's/^Agent thread count: *//p'
}

all_wait() {
	(($(squeue -h -u 65534 -t PD -o %i | wc -l) == $1))
}

some_are_busy() {
	(($(threads) >= 45))
}

most_are_free() {
	(($(threads) <= 80))
}

@test "clients that take a line and do not answer: most threads of Slurm's agent are left to others" {
	hold 'n[1-4]'
	: >"$ONESPINE_CLUSTER/mute"
	for _ in {1..40}; do
		as_other_user env LD_PRELOAD="$ONESPINE_CLUSTER/bin/names.so" MUTE="$ONESPINE_CLUSTER/mute" \
			salloc --chdir=/ -J bash --gang -N2 true >/dev/null 2>&1 3>&- &
	done
	await 60 all_wait 40
	await 10 some_are_busy
	stays 5 most_are_free
}

# raw ARGUMENT...: a client of the other user's
raw() {
	as_other_user "$ONESPINE_CLUSTER/bin/raw" "$@" 2>&1
}

# refused SENTENCE ARGUMENT...: slurmctld refuses it in these words, and goes on
refused() {
	local sentence=$1
	shift
	log_mark
	run raw "$@"
	equal "$status" 1
	holds "$output" 'Node count specification invalid'
	log_since "onespine: refused user 65534: $sentence"
}

@test "a client of a user's own: what would end slurmctld in Slurm's own code is refused, submitted and as a change" {
	local sockets='--ntasks-per-socket=0 would end slurmctld, which divides by it: leave it out'
	hold 'n[1-4]'
	refused "$sockets" num_tasks=8 ntasks_per_socket=0
	refused "$sockets" num_tasks=8 ntasks_per_socket=0 tres_per_socket=gres:gpu:1
	refused '--nodes=0-1 would end slurmctld, which starts such a job on no nodes: give --nodes=1-1' \
		min_nodes=0 max_nodes=1 core_spec=65535
	one=$(raw num_tasks=8)
	refused "$sockets" -u "$one" num_tasks=8 ntasks_per_socket=0 tres_per_socket=gres:gpu:1
	await_job "$one" PENDING
	raw -u "$one" max_nodes=2
}

@test "a list that names more nodes than there are is refused before Slurm looks at a name of it, submitted and as a change" {
	local exclude='--exclude names more nodes than there are, which would hold slurmctld up'
	hold 'n[1-4]'
	one=$(raw num_tasks=1)
	log_mark
	mark=$LOG_MARK
	refused "$exclude" 'exc_nodes=200000*rack=1'
	refused "${exclude/exclude/nodelist}" 'req_nodes=200000*rack=1'
	refused "$exclude" 'exc_nodes=40*n[1-65536]'
	# a first word that is no name ends nothing: 65,536 x 65,536 names
	refused "--exclude is no list of nodes: write" "exc_nodes=1*],n[1-65536]x[1-65536]"
	refused "$exclude" -u "$one" 'exc_nodes=200000*rack=1'
	refused "${exclude/exclude/nodelist}" -u "$one" 'req_nodes=200000*rack=1'
	# it logs each that it does not know
	LOG_MARK=$mark
	if log_since 'invalid node'; then
		fail 'Slurm looked at the names'
	fi
	raw -u "$one" 'exc_nodes=1000*n1'
}

@test "a client of a user's own that writes AdminComment: what the gate and steps read there is no user's" {
	local note='admin_comment=[onespine: gang=spine; leaves=l1:n[1-2]; suspects=n[1-4]; gate=stopped 9 starts; placed: here]'
	hold 'n[1-4]'
	run raw "$note"
	equal "$status" 1
	one=$(raw num_tasks=1)
	run raw -u "$one" "$note"
	equal "$status" 1
	await_job "$one" PENDING
	equal "$(job_field "$one" AdminComment)" ''
}
