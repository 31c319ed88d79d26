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
		--conf AllowSpecResourcesUsage=yes --node-conf 'NodeName=n[1-2] Feature=left CoreSpecCount=1' \
		--node-conf 'NodeName=n[3-8] CoreSpecCount=1' \
		--partition 'cpu Nodes=n[1-4] Default=YES' --partition 'train Nodes=ALL' \
		--partition 'pair Nodes=ALL' --partition 'right Nodes=n[5-8]' --partition 'free Nodes=ALL'
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

# Two components of two nodes each are a gang of four. Slurm would give the first n1 and n2, and the second n3 and one
# of the other spine; only when the first has started can that be seen.
@test "components whose size nobody said start on one spine together, or wait and say so" {
	local job
	occupy n4
	job=$(submit -p train "-n$((2 * $(cpus_of n1)))" : -p train "-n$((2 * $(cpus_of n1)))")
	both_run_on_one_spine "$job"
	scancel "$job"
	await 30 none_left "$job"
	occupy n8
	log_mark
	job=$(submit -p train "-n$((2 * $(cpus_of n1)))" : -p train "-n$((2 * $(cpus_of n1)))")
	await 30 shows 'waits: the 2 components in partition train are held to one spine together, and no spine has' note "$job+1"
	stays 4 job_is "$job+0" PENDING
	! log_since 'given nodes in no common|due to hetjob start failure' || fail 'it was put back'
	scancel --name=busy-n8
	both_run_on_one_spine "$job"
	! log_since 'given nodes in no common' || fail 'it was put back'
}

# Slurm would give the first component the nodes that alone suit the second. (Not -x: sbatch of 22.05
# gives the first component what the second excludes.)
@test "a component leaves the others the nodes that they need" {
	local job
	job=$(submit -p train "-n$((2 * $(cpus_of n1)))" : -p train -C left "-n$((2 * $(cpus_of n1)))")
	both_run_on_one_spine "$job"
	equal "$(job_field "$job+1" NodeList)" 'n[1-2]'
}

# Backfill asks about each partition of each component. When it starts them it has put down for all which one it is
# (_het_job_limit_check() in backfill.c).
@test "components of several partitions start on one spine together" {
	local job
	occupy n4
	log_mark
	job=$(submit -p train,free "-n$((2 * $(cpus_of n1)))" : -p train,free "-n$((2 * $(cpus_of n1)))")
	both_run_on_one_spine "$job"
	! log_since 'given nodes in no common' || fail 'it was put back'
}

# slurmctld is asked about each component as about a job of its own (_slurm_rpc_job_will_run()), so it does not refuse
# components that are a gang together.
@test "--test-only of a heterogeneous job names nodes of one spine for each component, or says no" {
	local words size node
	# n4 and n5, of two spines, are beside each other, so Slurm would take them
	for node in n1 n2 n3 n6 n8; do
		occupy "$node"
	done
	size=-n$((2 * $(cpus_of n1)))
	while read -r words; do
		# shellcheck disable=SC2086
		equal "$(spines_named -p free ${words//+/: -p free})" 's1 s2' "where nothing is promised: $words"
		# shellcheck disable=SC2086
		equal "$(spines_named -p pair ${words//+/: -p pair})" s2 "where one spine is: $words"
		# shellcheck disable=SC2086
		equal "$(spines_named -p free --gang ${words//+/: -p free --gang})" s2 "with --gang: $words"
	done <<-END
		-N2 --exclusive + -N2 --exclusive
		-N2 + $size
		$size + -N2
		$size + $size
		-N1-4 $size + -N2-3
	END
	for words in '-p pair -N5 : -p free -N1' '-p free -N1 : -p pair -N5' '-p free -N1 : -p free --gang -N5'; do
		# shellcheck disable=SC2086
		run sbatch --test-only --wrap true $words
		equal "$status" 1
		holds "$output" '5 nodes on one spine asked for'
	done
}

# occupy NODE: fills it
occupy() {
	local job
	job=$(submit -p train -N1 --exclusive -w "$1" --job-name="busy-$1")
	await_job "$job" RUNNING 60
}

# cpus_of NODE: its processors that are for jobs
cpus_of() {
	scontrol -o show node "$1" | sed -n 's/.* CPUEfctv=\([0-9]*\).*/\1/p'
}

both_run_on_one_spine() {
	await_job "$1+0" RUNNING 60
	await_job "$1+1" RUNNING 60
	equal "$( (job_domains "$1+0" spine && job_domains "$1+1" spine) | sort -u | wc -l)" 1 spines
}

none_left() {
	[[ -z $(squeue -h -j "$1" -o %i 2>/dev/null) ]]
}

# spines_named OPTION...: of the nodes that --test-only names
spines_named() {
	local said
	said=$(sbatch --test-only --wrap true "$@" 2>&1) || fail "$*: $said"
	spines_of "$(sed -n 's/.* processors on \(nodes \)\?\([^ ]*\).*/\2/p' <<<"$said")"
}
