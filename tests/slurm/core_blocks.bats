#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_blocks.bats - no job runs into the end of a Capacity Block

load helpers
bats_require_minimum_version 1.5.0

setup_file() {
	command -v python3 >/dev/null || skip "python3 is not here"
	printf 'watch: {from: ec2, block_ends: reserve, max_lost: 60}\n' >"$BATS_FILE_TMPDIR/onespine.yaml"
	chmod 755 "$BATS_FILE_TMPDIR"
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 1 4
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --dir "$BATS_FILE_TMPDIR/cluster" \
		--config "$BATS_FILE_TMPDIR/onespine.yaml" --conf MinJobAge=36000 \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
	mkdir "$BATS_FILE_TMPDIR/ec2"
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
	unset "${!AWS_@}"
	export HOME=$BATS_FILE_TMPDIR AWS_REGION=us-west-2 AWS_EC2_METADATA_DISABLED=true
	export AWS_ACCESS_KEY_ID=AKID AWS_SECRET_ACCESS_KEY=secret+/
	seq 8 | sed 's/.*/i-& n&/' >map
	rm -f ec2/port
}

teardown() {
	[[ -n ${BATS_TEST_COMPLETED-} ]] || cat journal
	[[ -z ${watch_pid-} ]] || { kill "$watch_pid"; wait "$watch_pid" || true; } 2>/dev/null
	[[ -z ${ec2_pid-} ]] || { kill "$ec2_pid"; wait "$ec2_pid" || true; } 2>/dev/null
	scontrol -o show reservation | sed -n 's/^ReservationName=\(onespine-ends-[^ ]*\).*/\1/p' |
		while read -r name; do scontrol delete reservation="$name"; done
	free_all
}

# at WHEN: as EC2 writes it
at() {
	date -u -d "$1" +%FT%T.000Z
}

# ec2 [JQ]: n1 to n4 are a Capacity Block that ends in 90 minutes, the others are none; changed by a filter of jq
ec2() {
	jq -n --arg ends "$(at '90 minutes')" "{keys: {AKID: \"secret+/\"},
		instances: [range(1; 9) | {id: \"i-\(.)\", type: \"p5.48xlarge\", zone: \"us-west-2a\", zone_id: \"usw2-az1\",
			nodes: [\"nn-t\", (if . < 5 then \"nn-s1\" else \"nn-s2\" end), (if . < 5 then \"nn-l1\" else \"nn-l2\" end)]}
			+ if . < 5 then {reservation: \"cr-0a\", lifecycle: \"capacity-block\"} else {} end],
		reservations: [{id: \"cr-0a\", type: \"p5.48xlarge\", total: 4, starts: \"2026-01-01T11:30:00.000Z\", ends: \$ends}]}
		| ${1:-.}" >ec2/state.new
	mv ec2/state.new ec2/state.json
}

watch_begins() {
	: >journal # the last test has left its own, which may stand there until the watch has begun
	log_mark
	ec2
	"$ONESPINE_TOOLS/../tests/fake/ec2" ec2 2>ec2/said 3>&- &
	ec2_pid=$!
	await 10 test -e ec2/port
	AWS_ENDPOINT_URL_EC2=http://127.0.0.1:$(<ec2/port)
	export AWS_ENDPOINT_URL_EC2
	onespine topology watch --nodes=map --interval=1 -o "$ONESPINE_CLUSTER/onespine.topology" >journal 2>&1 3>&- &
	watch_pid=$!
}

reserved() {
	scontrol -o show reservation "onespine-ends-$1"
}

journal_has() {
	grep -q -- "$1" journal
}

# doctor_says WORDS: whatever else it finds, for slurmctld may not have taken the files yet
doctor_says() {
	local printed
	printed=$(onespine doctor) || true
	shows "$1" printf '%s' "$printed"
}

# asked_twice: EC2 has been asked about the blocks twice since, so a whole round lies between
asked_twice() {
	local before=${before:-$(grep -c ' DescribeCapacityReservations ' ec2/calls)}
	await 30 asked_since "$before"
}

# asked_since COUNT: twice more than that
asked_since() {
	(($(grep -c ' DescribeCapacityReservations ' ec2/calls) >= $1 + 2))
}

@test "a gang that would run into the block's end starts elsewhere or waits; fit and why say so; an extension lets it start" {
	watch_begins
	await 30 journal_has 'reservation onespine-ends-cr-0a: n\[1-4\] from'
	shows 'Nodes=n[1-4] ' reserved cr-0a
	[[ $(reserved cr-0a) =~ Flags=[A-Z_,]*MAINT ]]
	shows "StartTime=$(date -d "$(jq -r '.reservations[0].ends' ec2/state.json) - 30 minutes" +%FT%T)" reserved cr-0a
	await 10 log_since 'the topology in force has'
	long=$(submit --exclusive --gang -N4 -t 120)
	await_job "$long" RUNNING
	equal "$(job_nodes "$long" | paste -sd' ')" 'n5 n6 n7 n8'
	second=$(submit --exclusive --gang -N4 -t 120)
	run -1 onespine fit --exclusive -N4 -t 120
	[[ $output == "no: waits: 4 nodes on one spine; nearest: nn-s1 has 0 free of 4 (4 short)"* ]]
	begins=$(reserved cr-0a | sed 's/.*StartTime=\([^ ]*\).*/\1/')
	await 20 shows "n[1-4]: free until reservation onespine-ends-cr-0a begins at $begins" onespine why "$second"
	equal "$(onespine why --json "$second" | jq -c .reserved_later)" \
		"[{\"reservation\":\"onespine-ends-cr-0a\",\"starts\":\"$begins\",\"nodes\":\"n[1-4]\"}]"
	run -0 onespine fit --exclusive -N4 -t 30
	[[ $output == *"4 nodes on spine nn-s1"* ]]
	short=$(submit --exclusive --gang -N4 -t 30)
	await_job "$short" RUNNING
	equal "$(job_nodes "$short" | paste -sd' ')" 'n1 n2 n3 n4'
	job_is "$second" PENDING
	scancel "$short"
	ec2 '.reservations[0].ends = "2099-01-01T11:30:00.000Z"'
	await_job "$second" RUNNING
	equal "$(job_nodes "$second" | paste -sd' ')" 'n1 n2 n3 n4'
	shows 'StartTime=2099-01-01T' reserved cr-0a
}

@test "what EC2 does not answer changes nothing; instances of no block have no reservation" {
	watch_begins
	await 30 journal_has 'reservation onespine-ends-cr-0a'
	ec2 '.faults = [{action: "DescribeCapacityReservations", from: 1, to: 100000, do: "denied"}]'
	await 30 journal_has 'Capacity Blocks: .*ec2:DescribeCapacityReservations'
	reserved cr-0a
	ec2 'del(.instances[].lifecycle)'
	await 30 journal_has 'reservation onespine-ends-cr-0a deleted'
	run ! reserved cr-0a
}

@test "a reservation that cannot be made is said, and the other blocks have theirs" {
	scontrol create reservation ReservationName=onespine-ends-cr-0a Nodes=n8 StartTime=now+3days Duration=60 Users=root
	watch_begins
	ec2 '.instances[4,5] += {reservation: "cr-0b", lifecycle: "capacity-block"} | .reservations += [.reservations[0] + {id: "cr-0b"}]'
	await 30 journal_has 'Capacity Blocks: reservation onespine-ends-cr-0a cannot be made'
	await 30 journal_has 'reservation onespine-ends-cr-0b: n\[5-6\] from'
	shows 'Nodes=n8 ' reserved cr-0a
}

@test "an end that EC2 does not report is said, and changes nothing" {
	watch_begins
	await 30 journal_has 'reservation onespine-ends-cr-0a'
	ec2 '.reservations[0].ends = "soon" | .instances[4] += {reservation: "cr-0f", lifecycle: "capacity-block"}'
	await 30 journal_has 'Capacity Blocks: EC2 does not say when cr-0a ends'
	shows 'Nodes=n[1-4] ' reserved cr-0a
	ec2 '.instances[4] += {reservation: "cr-0f", lifecycle: "capacity-block"}'
	await 30 journal_has 'Capacity Blocks: EC2 does not say when cr-0f ends'
	run ! reserved cr-0f
}

@test "an end counts while the answer about places is held, and moves the reservation without a gap" {
	watch_begins
	await 30 journal_has 'reservation onespine-ends-cr-0a'
	ec2 '.instances[range(1; 7)].nodes = ["nn-t", "nn-s3", "nn-l3"] | .reservations[0].ends = "2099-01-01T11:30:00.000Z"'
	await 30 journal_has '^held'
	await 30 shows 'StartTime=2099-01-01T' reserved cr-0a
	run ! journal_has deleted
	shows 'Nodes=n[1-4] ' reserved cr-0a
}

@test "a node of which EC2 says nothing stays in the reservation until it is known elsewhere" {
	watch_begins
	await 30 journal_has 'reservation onespine-ends-cr-0a: n\[1-4\]'
	ec2 '.instances[0].state = "stopped"'
	asked_twice
	shows 'Nodes=n[1-4] ' reserved cr-0a
	ec2 '.faults = [{action: "DescribeInstances", do: "nothing"}]'
	asked_twice
	shows 'Nodes=n[1-4] ' reserved cr-0a
	ec2 '.instances[0] |= del(.reservation, .lifecycle)'
	await 30 shows 'Nodes=n[2-4] ' reserved cr-0a
	run ! journal_has deleted
	ec2 '.instances[range(0; 4)].state = "stopped" | .reservations[0] += {state: "expired", ends: "2026-01-02T11:30:00.000Z"}'
	await 30 journal_has 'reservation onespine-ends-cr-0a deleted'
}

@test "two watches at once, as with a backup slurmctld, keep one reservation" {
	watch_begins
	first=$watch_pid
	onespine topology watch --nodes=map --interval=1 -o "$ONESPINE_CLUSTER/onespine.topology" >journal2 2>&1 3>&- &
	watch_pid=$!
	for i in 3 4 5; do
		await 30 shows 'Nodes=n[1-4] ' reserved cr-0a
		ec2 ".reservations[0].ends = \"209$i-01-01T11:30:00.000Z\""
		await 30 shows "StartTime=209$i-01-01T" reserved cr-0a
		scontrol delete reservation=onespine-ends-cr-0a
	done
	await 30 shows 'Nodes=n[1-4] ' reserved cr-0a
	ec2 'del(.instances[].lifecycle)'
	await 30 eval '! reserved cr-0a'
	run ! grep 'Capacity Blocks' journal journal2
	kill "$first"; wait "$first" || true
}

@test "a job that runs into a block's end is told of, and one without a time limit why it waits" {
	long=$(submit --exclusive --gang -N4 -t 600 -w 'n[1-4]')
	await_job "$long" RUNNING
	other=$(submit --exclusive -N1 -t 10 -w n5)
	await_job "$other" RUNNING
	watch_begins
	await 30 journal_has "job $long of [^ ]* runs into the end of Capacity Block cr-0a: EC2 begins to end n\[1-4\] at"
	run ! journal_has "job $other of"
	begins=$(reserved cr-0a | sed 's/.*StartTime=\([^ ]*\).*/\1/')
	shows "  runs into the end of Capacity Block cr-0a: EC2 begins to end n[1-4] at $begins, and the job may run until " onespine why "$long"
	equal "$(onespine why --json "$long" | jq -c .block_ends)" \
		"[{\"block\":\"cr-0a\",\"begins\":\"$begins\",\"nodes\":\"n[1-4]\"}]"
	equal "$(onespine why --json "$other" | jq -c .block_ends)" null
	scancel "$long" "$other"
	busy=$(submit --exclusive -N4 -t 10 -w 'n[5-8]')
	await_job "$busy" RUNNING
	endless=$(submit --exclusive --gang -N4 -t UNLIMITED)
	await 20 shows 'The job has no time limit, so it could always still run then' onespine why "$endless"
	job_is "$endless" PENDING
}

@test "an option taken out takes the reservations with it; doctor names what is left" {
	config=$(dirname "$SLURM_CONF")/onespine.yaml
	watch_begins
	await 30 journal_has 'reservation onespine-ends-cr-0a'
	doctor_says 'that names no time limit has none'
	kill "$watch_pid"; wait "$watch_pid"
	sed -i s/reserve/off/ "$config"
	doctor_says 'nobody moves or deletes what it left'
	doctor_says ': reservation onespine-ends-cr-0a'
	scontrol create reservation ReservationName=onespine-ends-mine Nodes=n8 StartTime=now+3days Duration=60 Users=root Flags=MAINT,IGNORE_JOBS
	onespine topology watch --interval=1 -o "$ONESPINE_CLUSTER/onespine.topology" >journal 2>&1 3>&- &
	watch_pid=$!
	await 30 journal_has 'reservation onespine-ends-cr-0a deleted'
	run ! reserved cr-0a
	reserved mine
	sed -i s/off/reserve/ "$config"
}
