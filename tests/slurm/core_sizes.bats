#!/usr/bin/env bats
# core_sizes.bats - how many nodes a job takes: components of a heterogeneous job, and --core-spec
bats_require_minimum_version 1.5.0

load helpers
load promise_helpers

# Nodes of 8 processors, one of them for the system's use alone, but for jobs with --core-spec=0.
setup_file() {
	lay_fabric 1-4 5-8 >"$BATS_FILE_TMPDIR/onespine.topology"
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-'POLICY'
		partitions:
		  train: {gang: always, allow_off: false, from_nodes: 4}
		  pair: {gang: always, allow_off: false, from_nodes: 2}
		  right: {gang: always, allow_off: false, from_nodes: 4}
	POLICY
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" \
		--config "$BATS_FILE_TMPDIR/onespine.yaml" \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1 \
		--conf AllowSpecResourcesUsage=yes --node-conf 'NodeName=n[1-8] CoreSpecCount=1' \
		--partition 'cpu Nodes=n[1-4] Default=YES' --partition 'train Nodes=ALL' \
		--partition 'pair Nodes=ALL' --partition 'right Nodes=n[5-8]'
}

setup() {
	cluster check --dir "$ONESPINE_CLUSTER" && free_all
}

# submit OPTION...: the number of a job that sleeps
submit() {
	sbatch --parsable -o /dev/null --wrap 'exec sleep 600' "$@"
}

# Its nodes and those of the first component, on the other spine, are four in all.
@test "a component in a partition of small jobs starts beside one of a partition without policy" {
	local job
	job=$(submit -p cpu -N3 : -p right -n1)
	await_job "$job+0" RUNNING 60
	await_job "$job+1" RUNNING 60
	equal "$(job_field "$job+1" NumNodes)" 1
}

@test "components of one partition are refused that are a gang together; those of others do not count" {
	local job
	run sbatch --wrap true -p cpu -N1 : -p pair -N1 : -p pair -N1
	equal "$status" 1
	holds "$output" 'a heterogeneous job cannot be one gang: Slurm places its components one after'
	job=$(submit -p cpu -N1 : -p pair -N1)
	await_job "$job+0" RUNNING 60
	await_job "$job+1" RUNNING 60
}

@test "a gang with --core-spec=0 takes the processors that nodes keep for the system" {
	local job cpus
	cpus=$(scontrol -o show node n1 | sed -n 's/.* CPUTot=\([0-9]*\).*/\1/p')
	job=$(submit -p train -N4 "--ntasks-per-node=$cpus" -S 0)
	await_job "$job" RUNNING 60
	equal "$(job_domains "$job" spine | wc -l)" 1
}
