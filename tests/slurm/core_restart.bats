#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_restart.bats - restarts, reconfigures, and files that changed, broke or are gone

load helpers

setup_file() {
	make_topology "$BATS_FILE_TMPDIR/good.topology" 2 2 2
	cp "$BATS_FILE_TMPDIR/good.topology" "$BATS_FILE_TMPDIR/onespine.topology"
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology"
}

# Every test begins with the good topology and no policy in force.
setup() {
	if ! cmp -s "$BATS_FILE_TMPDIR/good.topology" "$ONESPINE_CLUSTER/onespine.topology" ||
		[[ -e $ONESPINE_CLUSTER/onespine.yaml ]]; then
		rm -f "$ONESPINE_CLUSTER/onespine.yaml"
		put "$ONESPINE_CLUSTER/onespine.topology" <"$BATS_FILE_TMPDIR/good.topology"
		cluster reconfigure --dir "$ONESPINE_CLUSTER"
	fi
	free_all
	log_mark
}

# put FILE: its new content from stdin, replaced whole as `onespine topology import` does
put() {
	cat >"$1.new"
	mv "$1.new" "$1"
}

put_topology() {
	put "$ONESPINE_CLUSTER/onespine.topology"
}

put_policy() {
	put "$ONESPINE_CLUSTER/onespine.yaml"
}

reconfigure() {
	cluster reconfigure --dir "$ONESPINE_CLUSTER"
}

log_lacks() {
	! log_since "$1" || fail "the log has: $1"
}

note() {
	job_field "$1" AdminComment
}

# never_held JOB SECONDS: it waits so long, and its priority is never taken away
never_held() {
	stays "$2" waits_unheld "$1"
}

waits_unheld() {
	[[ $(job_state "$1") == PENDING && $(job_field "$1" Priority) != 0 ]]
}

@test "killed with -9 with gangs running and waiting: both are as they were, and the waiting one starts on one spine" {
	hold 'n1,n[5-6]'
	running=$(submit --gang -N3 --exclusive)
	await_job "$running" RUNNING
	waiting=$(submit --gang -N4 --exclusive)
	await 20 note_holds "$waiting" 'waits: 4 nodes on one spine'
	nodes=$(job_nodes "$running")
	await_saved "$waiting"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER" -9
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	equal "$(job_state "$running")" RUNNING
	equal "$(job_nodes "$running")" "$nodes"
	await 10 shows 'domain=s1' note "$running"
	never_held "$waiting" 3
	await 10 shows 'waits: 4 nodes on one spine' note "$waiting"
	release n5
	never_held "$waiting" 2
	release n6
	await_job "$waiting" RUNNING
	equal "$(job_spines "$waiting")" s2
}

@test "a changed topology is obeyed after a reconfigure, by gangs that wait already too" {
	hold 'n[1-2],n[5-6]'
	job=$(submit --gang -N4 --exclusive)
	await 20 note_holds "$job" 'waits: 4 nodes on one spine'
	put_topology <<-'END'
		{"onespine-topology": 1, "levels": ["leaf", "spine"], "domains": [
		{"level": "spine", "name": "left"}, {"level": "spine", "name": "right"},
		{"level": "leaf", "name": "l1", "in": "left", "nodes": "n[1-2,5-6]"},
		{"level": "leaf", "name": "l2", "in": "right", "nodes": "n[3-4,7-8]"}]}
	END
	reconfigure
	await_job "$job" RUNNING
	equal "$(job_spines "$job")" right
	log_since 'the topology in force has leaf 2, spine 2'
}

@test "a changed topology takes a waiting gang's spine away: it waits and is never held" {
	hold 'n1,n[5-8]'
	job=$(submit --gang -N4 --exclusive)
	await 20 note_holds "$job" 'waits: 4 nodes on one spine'
	put_topology <<-'END'
		{"onespine-topology": 1, "levels": ["leaf", "spine"], "domains": [
		{"level": "spine", "name": "s1"}, {"level": "spine", "name": "s2"},
		{"level": "spine", "name": "s3"},
		{"level": "leaf", "name": "l1", "in": "s1", "nodes": "n[1-3]"},
		{"level": "leaf", "name": "l2", "in": "s2", "nodes": "n[4-6]"},
		{"level": "leaf", "name": "l3", "in": "s3", "nodes": "n[7-8]"}]}
	END
	reconfigure
	release 'n1,n[5-8]'
	await 20 note_holds "$job" 'none has 4'
	never_held "$job" 4
	put_topology <"$BATS_FILE_TMPDIR/good.topology"
	reconfigure
	await_job "$job" RUNNING
	on_one_spine "$job"
}

@test "a broken topology: the log says file, line and column, and the last good one stays in force, over a restart too" {
	printf '{"onespine-topology": 1,\n "levels": ["leaf", "spine"],\n "domains": [}\n' | put_topology
	ONESPINE_TEST_TOPOLOGY=$BATS_FILE_TMPDIR/good.topology
	reconfigure
	log_since "error: onespine: $ONESPINE_CLUSTER/onespine.topology:3:[0-9]+: "
	asked_goes_by "$ONESPINE_CLUSTER/onespine.topology:3:" onespine_topology
	hold 'n1,n5'
	gang_waits_then_starts
	release n5
	restart
	log_since "error: onespine: $ONESPINE_CLUSTER/onespine.topology:3:[0-9]+: .*; looking for the last good one"
	log_since "the last good topology, $ONESPINE_CLUSTER/state/onespine_topology, is in force"
	hold 'n1,n5'
	gang_waits_then_starts
}

# asked_goes_by WHY COPY: who asks is told that the last good file is read, and is answered by it
asked_goes_by() {
	local command said
	for command in 'fit -N 2' map why 'topology show'; do
		# shellcheck disable=SC2086 # words
		said=$(onespine $command 2>&1) || fail "onespine $command: $said"
		holds "$said" "onespine: warning: $1"
		holds "$said" "; slurmctld goes by the last good one, $ONESPINE_CLUSTER/state/$2, and so does this"
	done
	holds "$(onespine map 2>&1)" s1
}

# With n1 and n5 full, 3 nodes are free under each spine.
gang_waits_then_starts() {
	job=$(submit --gang -N4 --exclusive)
	await 20 note_holds "$job" 'has 3 free'
	never_held "$job" 2
	release n1
	await_job "$job" RUNNING
	equal "$(job_spines "$job")" s1
	scancel "$job"
	await 20 job_is "$job" CANCELLED
}

@test "a topology that names a node twice is refused with its place, and the last good one stays" {
	sed 's/n\[3-4\]/n[3-5]/' "$BATS_FILE_TMPDIR/good.topology" | put_topology
	ONESPINE_TEST_TOPOLOGY=$BATS_FILE_TMPDIR/good.topology
	reconfigure
	log_since 'error: onespine: .*onespine.topology:[0-9]+:[0-9]+: .*n5.*the last good topology stays in force|error: onespine: .*onespine.topology:[0-9]+:[0-9]+: .*n5.*looking for the last good one'
	hold 'n1,n5'
	gang_waits_then_starts
}

@test "a topology that is gone: the last good one stays in force, over a restart too" {
	rm "$ONESPINE_CLUSTER/onespine.topology"
	ONESPINE_TEST_TOPOLOGY=$BATS_FILE_TMPDIR/good.topology
	reconfigure
	log_since 'onespine.topology: No such file or directory; '
	asked_goes_by "$ONESPINE_CLUSTER/onespine.topology: no such file" onespine_topology
	hold 'n1,n5'
	gang_waits_then_starts
	release n5
	restart
	log_since "the last good topology, $ONESPINE_CLUSTER/state/onespine_topology, is in force"
	hold 'n1,n5'
	gang_waits_then_starts
}

@test "no topology at all: gangs wait and are refused in words, plain jobs run; one that comes is obeyed" {
	hold 'n1,n5'
	job=$(submit --gang -N4 --exclusive)
	await 20 note_holds "$job" 'has 3 free'
	restart forget_topology
	release 'n1,n5'
	await 20 note_holds "$job" 'waits: no fabric topology is in force'
	never_held "$job" 3
	plain=$(submit -N2 --exclusive)
	await_job "$plain" RUNNING
	holds "$(submit_refused --gang -N2)" 'no fabric topology is in force here, so no gang can be placed'
	put_topology <"$BATS_FILE_TMPDIR/good.topology"
	scancel "$plain"
	reconfigure
	await_job "$job" RUNNING
	on_one_spine "$job"
}

forget_topology() {
	rm "$ONESPINE_CLUSTER/onespine.topology" "$ONESPINE_CLUSTER/state/onespine_topology"
}

@test "a changed policy is obeyed after a reconfigure" {
	job=$(submit --gang -N4 --exclusive)
	await_job "$job" RUNNING
	scancel "$job"
	put_policy <<<'defaults: {level: leaf}'
	reconfigure
	holds "$(submit_refused --gang -N4 --exclusive)" '4 nodes on one leaf asked for'
	job=$(submit --gang -N2 --exclusive)
	await_job "$job" RUNNING
	on_one_spine "$job" leaf
	await 10 shows 'gang=leaf' note "$job"
}

@test "a broken policy: the log says file, line and column, and the last good one stays in force, over a restart too" {
	put_policy <<<'defaults: {level: leaf}'
	reconfigure
	printf 'defaults:\n  level: leaf\n  modus: enforce\n' | put_policy
	reconfigure
	log_since "error: onespine: $ONESPINE_CLUSTER/onespine.yaml:3:[0-9]+: .*modus.*mode.*; (the last good policy stays in force|looking for the last good one)"
	holds "$(submit_refused --gang -N4 --exclusive)" '4 nodes on one leaf asked for'
	log_mark
	restart
	log_since "error: onespine: $ONESPINE_CLUSTER/onespine.yaml:3:[0-9]+: .*; looking for the last good one"
	log_since "the last good policy, $ONESPINE_CLUSTER/state/onespine_config, is in force"
	holds "$(submit_refused --gang -N4 --exclusive)" '4 nodes on one leaf asked for'
}

@test "a broken policy and no good one kept: the log says what holds, and a gang is on one spine all the same" {
	printf 'defaults:\n  level: leaf\n  modus: enforce\n' | put_policy
	restart rm -f "$ONESPINE_CLUSTER/state/onespine_config"
	log_since "error: onespine: $ONESPINE_CLUSTER/onespine.yaml:3:[0-9]+: .*; looking for the last good one"
	log_since 'error: onespine: no good policy is kept here; until onespine.yaml is mended --gang alone makes a gang'
	hold 'n1,n5'
	gang_waits_then_starts
}

# refused_again WHAT WHY LAST-GOOD: slurmctld's log since the mark
refused_again() {
	await 10 log_since "error: onespine: $ONESPINE_CLUSTER/$1: $2.*; (the last good $3 stays in force|looking for the last good one)"
}

@test "a policy or topology that others may write, or of another user: refused, and the last good one stays in force" {
	put_policy <<<'defaults: {level: leaf}'
	reconfigure
	for change in 'chmod 666' 'chown 65534'; do
		why='others than its owner may write it'
		[[ $change == chmod* ]] || why='it belongs neither to root nor to SlurmUser'
		log_mark
		# shellcheck disable=SC2086 # a command and its argument
		put_policy_as $change <<<'defaults: {level: spine, allow_off: false, gang: always}'
		sed 's/"s1"/"evil"/g' "$BATS_FILE_TMPDIR/good.topology" >"$ONESPINE_CLUSTER/evil"
		# shellcheck disable=SC2086
		$change "$ONESPINE_CLUSTER/evil"
		mv "$ONESPINE_CLUSTER/evil" "$ONESPINE_CLUSTER/onespine.topology"
		reconfigure
		refused_again onespine.yaml "$why" policy
		refused_again onespine.topology "$why" topology
		holds "$(submit_refused --gang -N4 --exclusive)" '4 nodes on one leaf asked for'
		run onespine config check
		equal "$status" 1
		holds "$output" "$ONESPINE_CLUSTER/onespine.yaml: $why"
		holds "$output" "$ONESPINE_CLUSTER/onespine.topology: $why"
		asked_goes_by "$ONESPINE_CLUSTER/onespine.yaml: $why" onespine_config
		asked_goes_by "$ONESPINE_CLUSTER/onespine.topology: $why" onespine_topology
		run onespine recheck --dry-run
		equal "$status" 2
		holds "$output" "$ONESPINE_CLUSTER/onespine.yaml: $why"
		log_mark
		restart
		log_since "the last good policy, $ONESPINE_CLUSTER/state/onespine_config, is in force"
		log_since "the last good topology, $ONESPINE_CLUSTER/state/onespine_topology, is in force"
		holds "$(submit_refused --gang -N4 --exclusive)" '4 nodes on one leaf asked for'
	done
	log_mark
	restart rm "$ONESPINE_CLUSTER/state/onespine_config" "$ONESPINE_CLUSTER/state/onespine_topology"
	log_since 'error: onespine: no good policy is kept here; until onespine.yaml is mended --gang alone makes a gang'
	holds "$(submit_refused --gang -N2 --exclusive)" 'no fabric topology is in force here'
}

# put_policy_as COMMAND...: a policy that the command was run on
put_policy_as() {
	cat >"$ONESPINE_CLUSTER/new"
	"$@" "$ONESPINE_CLUSTER/new"
	mv "$ONESPINE_CLUSTER/new" "$ONESPINE_CLUSTER/onespine.yaml"
}

@test "a topology of another name, as the policy says" {
	sed 's/"s1"/"north"/g; s/"s2"/"south"/g' "$BATS_FILE_TMPDIR/good.topology" |
		put "$ONESPINE_CLUSTER/other.topology"
	put_policy <<<'topology: other.topology'
	reconfigure
	ONESPINE_TEST_TOPOLOGY=$ONESPINE_CLUSTER/other.topology
	job=$(submit --gang -N4 --exclusive)
	await_job "$job" RUNNING
	matches "$(job_spines "$job")" '^(north|south)$'
	holds "$(note "$job")" "domain=$(job_spines "$job")"
}

@test "a partition changed by scontrol: gangs keep to it, wait unheld, and the topology is not read anew" {
	hold 'n1,n5'
	waiting=$(submit --gang -N4 --exclusive)
	await 20 note_holds "$waiting" 'has 3 free'
	scontrol update PartitionName=gpu Nodes='n[1-3,5-7]'
	never_held "$waiting" 3
	release 'n1,n5'
	never_held "$waiting" 3
	holds "$(submit_refused --gang -N4 --exclusive)" 'the largest spine of partition gpu has 3'
	scontrol update PartitionName=gpu Nodes=ALL
	await_job "$waiting" RUNNING
	on_one_spine "$waiting"
	log_lacks 'the topology in force has'
}
