#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_launch_update.bats - Slurm is updated and Onespine is not while a gang's nodes are launched

bats_require_minimum_version 1.5.0
load helpers
load launch_helpers
load other_build

setup_file() {
	printf 'defaults:\n  unlaunched: launch\n' >"$BATS_FILE_TMPDIR/onespine.yaml"
	placed 'n[1-4]' 'n[5-8]' >"$BATS_FILE_TMPDIR/onespine.topology"
	cluster_start --cloud 8 --topology "$BATS_FILE_TMPDIR/onespine.topology" --config "$BATS_FILE_TMPDIR/onespine.yaml" \
		--conf Licenses=onespine:1 --dir "$BATS_FILE_TMPDIR/cluster" \
		--conf "AuthInfo=socket=$BATS_FILE_TMPDIR/cluster/munge/socket,cred_expire=5" \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1,allow_zero_lic
	export PLUGINS PREFIX
	PLUGINS=$(sed -n 's/^PluginDir=.*://p' "$ONESPINE_CLUSTER/slurm.conf")
	PREFIX=$(sed -n 's/^PluginDir=\([^:]*\)\/lib\/onespine\/slurmctld:.*/\1/p' "$ONESPINE_CLUSTER/slurm.conf")
}

# placed LEFT RIGHT: as EC2 says, asked now
placed() {
	local node places=''
	for node in $(hostnames "$1,$2"); do
		places+="${places:+, }\"$node i-$node $(boot_of "$node")\""
	done
	printf '{"onespine-topology": 1, "levels": ["spine"], "domains": [\n'
	printf '{"level": "spine", "name": "left", "nodes": "%s"},\n{"level": "spine", "name": "right", "nodes": "%s"}],\n' "$1" "$2"
	printf '"places": [{"source": "ec2", "nodes": [%s]}]}\n' "$places"
}

# gang NAME NODES: its script writes its name
gang() {
	submit --gang -N"$2" --exclusive --requeue --wrap "echo $1 >>$BATS_FILE_TMPDIR/ran; sleep 600"
}

@test "a gang whose nodes are launched goes back and is held, as Slurm would start it anywhere; the build that fits starts it" {
	slurm_at_least 25.05 && ! slurm_at_least 25.11.7 && skip 'no license holds a gang there'
	cp "$ONESPINE_CLUSTER/slurm.conf" "$BATS_FILE_TMPDIR/matching"
	updated_config "$BATS_FILE_TMPDIR/lib" >"$BATS_FILE_TMPDIR/updated"
	: >"$BATS_FILE_TMPDIR/ran"
	first=$(gang first 4)
	await_job "$first" CONFIGURING
	# one that its owner lets nobody put back, and a job that is no gang
	second=$(gang second 2)
	await_job "$second" CONFIGURING
	scontrol update "JobId=$second" Requeue=0
	plain=$(submit -N1 --exclusive)
	await_job "$plain" CONFIGURING
	mapfile -t nodes < <(job_nodes "$first")
	await_saved "$plain"
	log_mark
	start_with "$BATS_FILE_TMPDIR/updated"
	await 30 job_is "$first" PENDING
	await 30 job_is "$second" PENDING
	log_since "onespine: JobId=$first goes back to the queue: its nodes were being launched"
	cluster start-node --dir "$ONESPINE_CLUSTER" "${nodes[@]}" "$(job_nodes "$plain")"
	scontrol reconfigure # nodes register anew, at once
	await_job "$plain" RUNNING 60
	await 60 is_held "$first"
	await 60 is_held "$second"
	equal "$(<"$BATS_FILE_TMPDIR/ran")" '' 'what ran'

	start_with "$BATS_FILE_TMPDIR/matching"
	scontrol reconfigure
	await 60 nodes_run "${nodes[@]}"
	placed "$(IFS=,; echo "${nodes[*]}")" n8 >"$ONESPINE_CLUSTER/onespine.topology.new"
	mv "$ONESPINE_CLUSTER/onespine.topology.new" "$ONESPINE_CLUSTER/onespine.topology"
	await_job "$first" RUNNING 90
	await 10 note_holds "$first" 'placed: 4 nodes on spine left'
	await 30 grep -q first "$BATS_FILE_TMPDIR/ran"
}
