#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_plugins.bats - beside each of Slurm's topology plugins; and jobs that are no gangs
#
# Slurm's default, none by name (topology/none in 22.05, topology/default in 24.11, flat from 25.05 on),
# runs beside us in all other files.

load helpers

setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 2 2
	make_slurm_topology "$BATS_FILE_TMPDIR/topology.conf" 2 2 2
	{
		printf 'BlockName=b%d Nodes=n[%d-%d]\n' 1 1 2 2 3 4 3 5 6 4 7 8
		echo 'BlockSizes=2'
	} >"$BATS_FILE_TMPDIR/block.conf"
}

setup() {
	:
}

# beside PLUGIN [OPTION...]: a cluster with it
beside() {
	local plugin=$1
	shift
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" "$@" \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1
	equal "$(scontrol show config | sed -n 's/^TopologyPlugin *= //p')" "$plugin"
}

core_assertions() {
	hold 'n1,n5'
	job=$(submit --gang -N4 --exclusive)
	await 20 note_holds "$job" 'has 3 free'
	stays 2 job_is "$job" PENDING
	release n5
	await_job "$job" RUNNING
	equal "$(job_spines "$job")" s2
	scancel "$job"
	release n1
	await 20 job_is "$job" CANCELLED
	two=$(submit --gang=leaf -N2 --exclusive)
	await_job "$two" RUNNING
	on_one_spine "$two" leaf
	four=$(submit --gang -N4 --ntasks-per-node=2 --mem=0)
	await_job "$four" RUNNING
	on_one_spine "$four"
	free_all
}

@test "beside topology/tree" {
	beside topology/tree --topology "$BATS_FILE_TMPDIR/topology.conf"
	core_assertions
	cluster_stop
}

# kept_blocks: an empty node whose block another job keeps to itself is not free: s1 is at the end of the last job
kept_blocks() {
	scontrol create PartitionName=alone Nodes=ALL ExclusiveTopo=YES State=UP
	local words
	for words in '-w n1 -t 10' '-w n3 -t 60' '-N4 -w n[5-8] -t 20'; do
		# shellcheck disable=SC2086
		await_job "$(submit -p alone --exclusive $words)" RUNNING
	done
	job=$(submit -p alone -N3 --exclusive --gang)
	await 20 planned "$job"
	[[ $(job_field "$job" SchedNodeList) == 'n['[5-8]* ]] || fail "planned on $(job_field "$job" SchedNodeList)"
	free_all
}

@test "beside topology/block" {
	slurm_at_least 24.05 || skip 'Slurm before 23.11 has none, and 23.11 knows no BlockSizes'
	beside topology/block --topology "$BATS_FILE_TMPDIR/block.conf"
	core_assertions
	# segments are ours or Slurm's, never both
	holds "$(submit_refused --gang -N4 --segment=2)" '--segment cannot be combined with --gang'
	hold n1
	job=$(submit --gang=spine --gang-segment=leaf:2 -N4)
	await_job "$job" RUNNING
	equal "$(job_spines "$job")" s2
	release n1
	scancel "$job"
	job=$(submit -N4 --segment=2)
	await_job "$job" RUNNING
	free_all
	kept_blocks
	cluster_stop
}

# --- jobs without --gang --------------------------------------------------------------------------

# A sequence of jobs of every kind for 16 nodes; after every fourth one two are cancelled and a node is
# drained. There is always room, so it does not matter which scheduler starts them and when. Then two
# that have to wait, whose start backfill plans. Prints where each went.
plain_jobs() {
	local number=0 options job
	local -a jobs=()
	scontrol update NodeName='n[13-16]' Weight=5
	while read -r options; do
		# shellcheck disable=SC2086
		jobs+=("$(submit --time=60 $options)")
		number=$((number + 1))
		((number % 4 == 0)) || continue
		await 20 all_placed
		squeue -h --sort=i -o '%i %N'
		cancel "${jobs[number - 4]}"
		cancel "${jobs[number - 2]}"
		((number > 8)) || scontrol update "NodeName=n$((16 - number / 4))" State=DRAIN Reason=test
	done <"$BATS_FILE_TMPDIR/plain"
	for options in '-N12 --exclusive' '-N10 --exclusive'; do
		# shellcheck disable=SC2086
		job=$(submit --time=60 $options)
		await 20 planned "$job"
		printf '%s %s\n' "$job" "$(job_field "$job" SchedNodeList)"
	done
}

all_placed() {
	[[ -z $(squeue -h -t PENDING -o %i) ]]
}

cancel() {
	scancel "$1"
	await 20 gone "$1"
}

gone() {
	[[ -z $(squeue -h -j "$1" -o %i 2>/dev/null) ]]
}

planned() {
	[[ $(job_field "$1" SchedNodeList) == n* ]]
}

# On 25.11.7 stock Slurm leaves the job with --spread-job waiting (ReqNodeNotAvail) though it has room beside
# topology/tree, so there it goes without.
plain_list() {
	local leave_out=
	! slurm_at_least 25.11 || slurm_at_least 26.05 || leave_out='s/ --spread-job//'
	sed "$leave_out" <<-'END'
		-N3 -w n7
		-N1 -n2
		-N4 --exclusive
		-n10 --ntasks-per-node=2
		-N2-4 --exclusive
		-n9
		-N3 -x n[1-5] -n5
		-N2 --ntasks-per-node=3
		-n1 -c8
		-N2 --spread-job -n4
		-N1-3 -n6
		-n6 -c2 -x n[2-8]
		-N2 --contiguous
		-N1 --mincpus=4
		-N2 -n3 --oversubscribe
		-N1 --exclusive
	END
}

# placements OPTION...: on a cluster started with these options
placements() {
	cluster_start --conf SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1 "$@" >&2
	plain_jobs
	cluster_stop >&2
}

@test "jobs without --gang are placed as stock Slurm places them" {
	plain_list >"$BATS_FILE_TMPDIR/plain"
	make_topology "$BATS_FILE_TMPDIR/16.topology" 2 2 4
	make_slurm_topology "$BATS_FILE_TMPDIR/16.conf" 2 2 4
	placements --topology "$BATS_FILE_TMPDIR/16.conf" --stock >"$BATS_FILE_TMPDIR/stock"
	placements --topology "$BATS_FILE_TMPDIR/16.topology" --topology "$BATS_FILE_TMPDIR/16.conf" \
		>"$BATS_FILE_TMPDIR/ours"
	(($(wc -l <"$BATS_FILE_TMPDIR/stock") > 25))
	diff "$BATS_FILE_TMPDIR/stock" "$BATS_FILE_TMPDIR/ours"
}
