#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# gate_instance.bats - a node that is another instance than the one that was placed stops the start, and its place is
# asked anew

load helpers
load gate_helpers

setup_file() {
	gate_budget
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-END
		defaults:
		  gate: {budget_s: $BUDGET_S, fresh_s: 0, network: false, jobs: all}
	END
	chmod 755 "$BATS_FILE_TMPDIR"
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 1 2 2
	cluster_start --gate --topology "$BATS_FILE_TMPDIR/onespine.topology" --gres gpu:8 --dir "$BATS_FILE_TMPDIR/cluster" \
		--config "$BATS_FILE_TMPDIR/onespine.yaml" --conf MinJobAge=36000 \
		--conf "AuthInfo=socket=$BATS_FILE_TMPDIR/cluster/munge/socket,cred_expire=5" \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
	for node in n1 n2 n3 n4; do
		is_instance "$node" "i-$node"
	done
	mkdir "$BATS_FILE_TMPDIR/ec2"
}

# is_instance NODE ID: what the node's firmware says
is_instance() {
	echo "$2" >"$ONESPINE_CLUSTER/nodes/$1/sys/devices/virtual/dmi/id/board_asset_tag"
}

# placed: as EC2 said for the boots of now, node N is instance i-N
placed() {
	local node places=''
	for node in n1 n2 n3 n4; do
		places+="${places:+, }\"$node i-$node $(boot_of "$node")\""
	done
	jq --argjson places "[$places]" '. + {places: [{source: "ec2", nodes: $places}]}' "$BATS_FILE_TMPDIR/onespine.topology"
}

# boot_of NODE: when it booted, as Slurm has it, in seconds since 1970
boot_of() {
	date -d "$(scontrol show node "$1" | sed -n 's/.*BootTime=\([^ ]*\).*/\1/p')" +%s
}

in_force() {
	placed >"$ONESPINE_CLUSTER/onespine.topology.new"
	log_mark
	mv "$ONESPINE_CLUSTER/onespine.topology.new" "$ONESPINE_CLUSTER/onespine.topology"
	await 10 log_since 'the topology in force has'
}

# extra_of NODE: which instance it says that it is
extra_of() {
	scontrol show node "$1" | sed -n 's/.*Extra=//p' | jq -r .onespine_instance.id
}

@test "a gang on the instances that were placed starts; another instance stops it, drains nobody and says which it is" {
	in_force
	job=$(submit --gang -N4 --gres=gpu:8)
	await_job "$job" RUNNING
	await 20 says n1 "job $job: PASS"
	[[ $(job_field "$job" Restarts) == 0 ]]
	scancel "$job"
	await 30 no_jobs
	is_instance n2 i-new
	mark=$BATS_FILE_TMPDIR/ran
	: >"$mark"
	chmod 666 "$mark"
	job=$(sbatch --parsable --chdir=/ --output=/dev/null --requeue --gang -N4 --gres=gpu:8 "$(script "$mark")")
	await 60 requeued "$job"
	equal "$(<"$mark")" '' 'what ran'
	none_drained_but
	says n2 "job $job: ERROR onespine: instance i-new is not the one placed; its place is asked anew"
	note_holds "$job" 'of 4 nodes, 1 not the instance placed, the job starts again elsewhere, n2: instance i-new is not the one placed'
	equal "$(job_field "$job" ExcNodeList)" '(null)'
	await 10 shows i-new extra_of n2
	equal "$(extra_of n1)" ''
	scancel "$job"
	await 30 no_jobs
	# jobs that are no gangs are not stopped
	job=$(submit -N4 --gres=gpu:8)
	await_job "$job" RUNNING
	await 20 decided "$job" n1
	equal "$(job_field "$job" Restarts)" 0
	scancel "$job"
}

@test "the watch asks for that instance's place at once, and the gang starts there" {
	local watch_pid
	free_all
	for node in n1 n2 n3 n4; do
		is_instance "$node" "i-$node-b"
	done
	# as EC2 answers by now: all four stand on one spine
	jq -n '{keys: {AKID: "secret"}, instances: [range(1; 5) | {id: "i-n\(.)-b", ip: "10.0.0.\(.)", type: "p5.48xlarge",
		zone: "us-west-2b", zone_id: "usw2-az1", nodes: ["nn-t", "nn-s", "nn-\(. % 2)"]}]}' >"$BATS_FILE_TMPDIR/ec2/state.json"
	"$ONESPINE_TOOLS/../tests/fake/ec2" "$BATS_FILE_TMPDIR/ec2" 3>&- &
	ec2_pid=$!
	await 10 test -e "$BATS_FILE_TMPDIR/ec2/port"
	job=$(submit --requeue --gang -N4 --gres=gpu:8)
	await 60 requeued "$job"
	for node in n1 n2 n3 n4; do
		await 10 shows "i-$node-b" extra_of "$node"
	done
	AWS_ENDPOINT_URL_EC2="http://127.0.0.1:$(<"$BATS_FILE_TMPDIR/ec2/port")" AWS_REGION=us-west-2 AWS_ACCESS_KEY_ID=AKID \
		AWS_SECRET_ACCESS_KEY=secret AWS_EC2_METADATA_DISABLED=true \
		onespine topology watch --from=ec2 --interval=2 -o "$ONESPINE_CLUSTER/onespine.topology" >"$BATS_FILE_TMPDIR/journal" 2>&1 3>&- &
	watch_pid=$!
	await 20 grep -q '^applied' "$BATS_FILE_TMPDIR/journal"
	grep -q 'place unknown: 4 nodes are another instance than the one placed' "$BATS_FILE_TMPDIR/journal"
	grep -q '"n2 i-n2-b ' "$ONESPINE_CLUSTER/onespine.topology"
	await 60 ran_again "$job"
	none_drained_but
	kill "$watch_pid" "$ec2_pid"
	wait "$watch_pid" "$ec2_pid" || true
}

# ran_again JOB: it runs, and the gate of its second start said yes
ran_again() {
	job_is "$1" RUNNING && gate_log n1 | grep "job $1: PASS" | grep -q ' go by n1'
}
