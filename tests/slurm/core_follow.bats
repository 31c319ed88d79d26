#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_follow.bats - a changed topology file comes in force by itself

load helpers
load fuse_helpers

setup_file() {
	make_topology "$BATS_FILE_TMPDIR/good.topology" 2 2 2
	cp "$BATS_FILE_TMPDIR/good.topology" "$BATS_FILE_TMPDIR/onespine.topology"
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology"
}

# Every test begins with the good topology.
setup() {
	log_mark
	cmp -s "$BATS_FILE_TMPDIR/good.topology" "$ONESPINE_CLUSTER/onespine.topology" ||
		put_in_force <"$BATS_FILE_TMPDIR/good.topology"
	free_all
	log_mark
}

# put_topology: its new content from stdin, replaced whole as `onespine topology watch` does
put_topology() {
	cat >"$ONESPINE_CLUSTER/onespine.topology.new"
	mv "$ONESPINE_CLUSTER/onespine.topology.new" "$ONESPINE_CLUSTER/onespine.topology"
}

teardown() {
	unmount_fuse
	end_test
}

in_force='without a reconfigure, the topology in force has'

put_in_force() {
	log_mark
	put_topology
	await 5 log_since "$in_force"
}

# named PREFIX: the good topology with other names of the spines
named() {
	sed "s/\"s1\"/\"$1-1\"/g; s/\"s2\"/\"$1-2\"/g" "$BATS_FILE_TMPDIR/good.topology"
}

# n1, n2, n5, n6 under one spine, the others under another
crossed() {
	cat <<-'END'
		{"onespine-topology": 1, "levels": ["leaf", "spine"], "domains": [
		{"level": "spine", "name": "left"}, {"level": "spine", "name": "right"},
		{"level": "leaf", "name": "l1", "in": "left", "nodes": "n[1-2,5-6]"},
		{"level": "leaf", "name": "l2", "in": "right", "nodes": "n[3-4,7-8]"}]}
	END
}

note() {
	job_field "$1" AdminComment
}

# times_since PATTERN: how many such lines slurmctld has written since the mark
times_since() {
	tail -n "+$((LOG_MARK + 1))" "$ONESPINE_CLUSTER/log/slurmctld.log" | grep -cE -- "$1"
}

# placed_under PREFIX: a gang that is submitted now is placed by the topology with these names
placed_under() {
	local job
	job=$(submit --gang -N4 --exclusive)
	await_job "$job" RUNNING
	await 10 shows "domain=$1" note "$job"
	scancel "$job"
	await 20 job_is "$job" CANCELLED
}

@test "a running gang whose node has another place is reported, and audit names it; it goes on" {
	job=$(submit --gang -N4 --exclusive)
	await_job "$job" RUNNING
	run -0 onespine audit
	crossed | put_in_force
	await 10 note_holds "$job" 'moved: since '
	matches "$(note "$job")" 'gang=spine; moved: since [-0-9T:]+ 2 of its 4 nodes are on one spine, and n\(?[^ ]* are not'
	job_is "$job" RUNNING
	run -0 onespine why "$job"
	holds "$output" '2 of its 4 nodes are on one spine'
	run -1 onespine audit
	holds "$output" "job $job "
	# all of it is as before
	put_in_force <"$BATS_FILE_TMPDIR/good.topology"
	await 10 note_holds "$job" 'placed: 4 nodes on spine s'
	run -0 onespine audit
	scancel "$job"
}

@test "a changed topology is in force within 5 s, and a gang that waits is placed by it" {
	hold 'n[1-2],n[5-6]'
	job=$(submit --gang -N4 --exclusive)
	await 20 note_holds "$job" 'waits: 4 nodes on one spine'
	crossed | put_in_force
	log_since "$in_force leaf 2, spine 2; 0 of Slurm's 8 nodes"
	await_job "$job" RUNNING
	equal "$(job_spines "$job")" right
}

# boot_of NODE: when it booted, as Slurm has it, in seconds since 1970
boot_of() {
	date -d "$(scontrol show node "$1" | sed -n 's/.*BootTime=\([^ ]*\).*/\1/p')" +%s
}

# placed_by_ec2 SECONDS: the good topology, asked of EC2 for the boots of now; of n1 for one so much earlier
placed_by_ec2() {
	jq --argjson boot "$(boot_of n1)" --argjson ago "$1" \
		'. + {places: [{source: "ec2", nodes: [range(1; 9) | "n\(.) i-\(.) \($boot - if . == 1 then $ago else 0 end)"]}]}' \
		"$BATS_FILE_TMPDIR/good.topology"
}

@test "a node that has booted since EC2 was asked about it is joined with no other, until it is asked about anew" {
	placed_by_ec2 3600 | put_in_force
	hold 'n[5-8]'
	job=$(submit --gang -N4 --exclusive)
	await 20 note_holds "$job" '1 node is left out: it was powered down or has booted since its place was asked for'
	job_is "$job" PENDING
	# the command says the same
	run onespine fit -N4
	equal "$status" 1
	holds "$output" '1 node is left out: it was powered down or has booted since its place was asked for'
	run onespine topology show --nodes
	equal "$status" 0
	equal "$(grep -c rebooted <<<"$output")" 1
	holds "$output" 'n1    ec2     i-1'
	run onespine doctor
	holds "$output" 'no gang gets nodes that have booted since their places were asked for: n1 (places)'
	# three others are on one spine, and known to be
	other=$(submit --gang -N3 --exclusive)
	await_job "$other" RUNNING
	equal "$(job_nodes "$other" | paste -sd' ')" 'n2 n3 n4'
	scancel "$other"
	# a clock that was set by half a minute is no boot
	log_mark
	placed_by_ec2 30 | put_in_force
	await_job "$job" RUNNING
	equal "$(job_spines "$job")" s1
	run onespine audit
	equal "$status" 0
}

# leaves LEVELS LEAF=NODES...: the first two under one spine, the others under another; LEVELS stand below them
leaves() {
	local levels=$1 leaf number=0 side=left
	shift
	printf '{"onespine-topology": 1, "levels": [%s"leaf", "spine"], "domains": [\n' "$levels"
	printf '{"level": "spine", "name": "left"}, {"level": "spine", "name": "right"}'
	for leaf; do
		((number++ < 2)) || side=right
		printf ',\n{"level": "leaf", "name": "%s", "in": "%s", "nodes": "%s"}' \
			"${leaf%%=*}" "$side" "${leaf#*=}"
	done
	printf ']}\n'
}

@test "a gang in segments that waits is placed by a changed topology" {
	hold 'n1,n3,n5'
	job=$(submit --gang --gang-domains=2 --gang-segment=leaf:2 -N4 --exclusive)
	await 20 note_holds "$job" '2 whole segments of 2 nodes needed, 1 free'
	leaves '' a=n1 b=n2 c=n3 d=n4 e=n5 f=n6 g=n7 h=n8 | put_in_force
	await 20 note_holds "$job" 'leaf:2: the largest leaf has 1 node'
	named other | put_in_force
	await 20 note_holds "$job" '2 whole segments of 2 nodes needed, 1 free'
	# leaves are the second level now
	leaves '"chunk", ' a='n[1,3]' b='n[5,7]' c='n[2,4]' d='n[6,8]' | put_in_force
	await_job "$job" RUNNING
	equal "$(job_nodes "$job" | paste -sd' ')" 'n2 n4 n6 n8'
	equal "$(note "$job" | grep -o 'domain=[^;]*')" 'domain=right'
}

@test "a broken topology changes nothing and is reported once; the next good one is obeyed" {
	printf '{"onespine-topology": 1,\n "levels": ["leaf", "spine"],\n "domains": [}\n' | put_topology
	await 10 log_since "error: onespine: $ONESPINE_CLUSTER/onespine.topology:3:[0-9]+: .*; the last good topology stays in force"
	ONESPINE_TEST_TOPOLOGY=$BATS_FILE_TMPDIR/good.topology
	hold 'n1,n5'
	job=$(submit --gang -N4 --exclusive)
	await 20 note_holds "$job" 'has 3 free'
	release n1
	await_job "$job" RUNNING
	equal "$(job_spines "$job")" s1
	equal "$(times_since 'error: onespine: ')" 1 'times it is told'
	scancel "$job"
	named mended | put_in_force
	placed_under mended
}

@test "a topology that is gone is reported once, and one that comes back is obeyed" {
	rm "$ONESPINE_CLUSTER/onespine.topology"
	await 10 log_since 'onespine.topology: No such file or directory; the last good topology stays in force'
	placed_under s
	equal "$(times_since 'No such file or directory')" 1 'times it is told'
	named back | put_in_force
	placed_under back
}

@test "no topology at all at the start: the first that comes is obeyed" {
	restart rm "$ONESPINE_CLUSTER/onespine.topology" "$ONESPINE_CLUSTER/state/onespine_topology"
	holds "$(submit_refused --gang -N2)" 'no fabric topology is in force here'
	named first | put_in_force
	placed_under first
}

@test "what came in force by itself is kept over a restart in which the file is broken" {
	named kept | put_in_force
	await 10 grep -q kept-1 "$ONESPINE_CLUSTER/state/onespine_topology"
	equal "$(find "$ONESPINE_CLUSTER/state" -name 'onespine_topology?*')" '' 'files left behind'
	restart put_topology <<<'{'
	log_since "the last good topology, $ONESPINE_CLUSTER/state/onespine_topology, is in force"
	placed_under kept
}

@test "many changes under load: each gang is on one spine, and the last one is obeyed" {
	jobs=()
	for ((i = 1; i <= 40; i++)); do
		named "v$i" | put_topology
		jobs+=("$(submit --gang -N$((1 + i % 4)) --exclusive --wrap 'sleep 1')")
		sbatch --output=/dev/null -N1 --wrap true >/dev/null
		((i % 8)) || printf '{' | put_topology
		((i % 10)) || scontrol update PartitionName=gpu "MaxTime=$i"
	done
	named last | put_topology
	await 60 all_done "${jobs[@]}"
	await 10 placed_under last
	scontrol update PartitionName=gpu MaxTime=UNLIMITED
	for job in "${jobs[@]}"; do
		stood_together "$job"
	done
}

all_done() {
	local job
	for job; do
		job_is "$job" COMPLETED || return 1
	done
}

# Names change, spines do not.
stood_together() {
	local domains
	domains=$(ONESPINE_TEST_TOPOLOGY=$BATS_FILE_TMPDIR/good.topology job_domains "$1" spine)
	matches "$domains" '^s[12]$'
}

# large NAME: the fabric with 40,000 more nodes, which take their time to be read
large() {
	named "$1" | sed "s/\"nodes\": \"n\\[1-2\\]\"/\"nodes\": \"n[1-2],other[1-40000]\"/"
}

@test "reconfigured while the file is read: the last one is obeyed" {
	for i in 1 2 3 4 5 6; do
		large "early$i" | put_topology
		((i % 2)) || cluster reconfigure --dir "$ONESPINE_CLUSTER" &
		large "late$i" | put_topology
		((i % 2)) || wait $!
	done
	await 20 placed_under late6
}

@test "slurmctld ends while the file is read" {
	for i in 1 2 3 4 5 6; do
		large "end$i" | put_topology
		cluster kill-ctld --dir "$ONESPINE_CLUSTER"
		cluster start-ctld --dir "$ONESPINE_CLUSTER"
		large "then$i" | put_topology
	done
	await 20 placed_under then6
}

@test "a file system that does not answer: slurmctld goes on, and ends when it is told to" {
	silent=$BATS_TEST_TMPDIR/silent
	mount_fuse "$silent" silent_fuse.py
	replace_by_link "$silent/onespine.topology"
	await 10 waits_for_a_file_system
	placed_under s
	cluster kill-ctld --dir "$ONESPINE_CLUSTER"
	kill "$fuse"
	wait "$fuse" || true
	named alive | put_topology
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	placed_under alive
}

@test "a file system that remembers files, as NFS does for a minute: a topology that another host replaces there is in force within 5 s" {
	local mounted=$BATS_TEST_TMPDIR/mounted served=$BATS_TEST_TMPDIR/served
	mkdir "$served"
	mount_fuse "$mounted" caching_fuse.py "$served"
	named first >"$served/onespine.topology"
	replace_by_link "$mounted/onespine.topology"
	await 10 log_since "$in_force"
	# what nobody opens is remembered
	echo 1 >"$served/other"
	number=$(stat -c %i "$mounted/other")
	echo 2 >"$served/new" && mv "$served/new" "$served/other"
	equal "$(stat -c %i "$mounted/other")" "$number"
	log_mark
	named second >"$served/new"
	mv "$served/new" "$served/onespine.topology"
	await 5 log_since "$in_force"
	placed_under second
}
