#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_printed.bats - an srun and a salloc that wait print why, and print it again a minute later if it has changed

load helpers

# A partition a spine, so that no gang waits behind the other: the main scheduler does not ask about those.
setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 2 2
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" \
		--partition 'one Nodes=n[1-4] Default=YES' --partition 'two Nodes=n[5-8]'
}

# start CLIENT PARTITION: a gang of 3 of that client, whose lines go to the file of its name, each with its second
start() {
	"$1" -J "$1" -p "$2" --gang -N3 --exclusive true </dev/null 2>&1 3>&- | while IFS= read -r line; do
		printf '%s %s\n' "$EPOCHSECONDS" "$line"
	done >"$BATS_TEST_TMPDIR/$1" 3>&- &
}

# Clients that a failed test left would wait for a slurmctld that has ended.
teardown() {
	scancel --name=srun
	scancel --name=salloc
	wait
	end_test
}

# waits CLIENT: its lines that say why it waits, with their seconds
waits() {
	grep -F "$1: onespine: waits: " "$BATS_TEST_TMPDIR/$1"
}

notes_hold() {
	local client
	for client in srun salloc; do
		[[ $(job_field "$(squeue -h -n "$client" -o %i)" AdminComment) == *"$1"* ]] || return 1
	done
}

both_said() {
	(($(waits srun | wc -l) == $1 && $(waits salloc | wc -l) == $1))
}

# said CLIENT NUMBER WORDS: that line of its reasons
said() {
	local line
	line=$(waits "$1" | sed -n "$2p")
	equal "${line#* }" "$1: onespine: waits: 3 nodes on one spine; nearest: $3"
}

@test "a waiting srun and salloc print the reason once, and a minute later the one that it has become" {
	local client times
	fill one 'n[1-3]'
	fill two 'n[5-7]'
	start srun one
	start salloc two
	await 60 both_said 1
	said srun 1 's1 has 1 free of 4 (2 short)'
	said salloc 1 's2 has 1 free of 4 (2 short)'
	scancel "${job_on[n1]}" "${job_on[n5]}"
	await 30 notes_hold 'has 2 free of 4 (1 short)'
	# slurmctld knows it now, and the minute is not over
	both_said 1
	await 90 both_said 2
	said srun 2 's1 has 2 free of 4 (1 short)'
	said salloc 2 's2 has 2 free of 4 (1 short)'
	for client in srun salloc; do
		mapfile -t times < <(waits "$client" | cut -d' ' -f1)
		((times[1] - times[0] >= 59)) || fail "$client: again after $((times[1] - times[0])) s"
	done
	# what stays as it is is not printed again: the gangs start next, and nothing more was said
	scancel "${job_on[n2]}" "${job_on[n6]}"
	wait
	both_said 2
	holds "$(cat "$BATS_TEST_TMPDIR/salloc")" 'salloc: onespine: placed: 3 nodes on spine s2'
}
