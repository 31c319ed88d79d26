#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# updates.bats - Slurm is updated to another micro release while gangs wait and run, and Onespine's build comes later
#
# ONESPINE_TEST_SLURM is the release before, ONESPINE_UPDATE the one after; ONESPINE_PREFIX and ONESPINE_UPDATE_PREFIX
# are Onespine for each. tests/soak --only updates builds all of them. Tests build on each other.
# shellcheck disable=SC2154

load ../slurm/helpers
load ../slurm/rest_helpers
load update_helpers

setup_file() {
	start_cluster "$ONESPINE_TEST_SLURM"
	mkdir "$BATS_FILE_TMPDIR/kept"
}

setup() {
	LIB=$ONESPINE_CLUSTER/lib
	cluster check --dir "$ONESPINE_CLUSTER"
	[[ ! -e $BATS_FILE_TMPDIR/failed ]] || skip 'a test before this one failed'
}

teardown() {
	[[ -n ${BATS_TEST_COMPLETED:-} || -n ${BATS_TEST_SKIPPED:-} ]] || touch "$BATS_FILE_TMPDIR/failed"
	end_test
}

# keep NAME JOB; job NAME: the number of a job for the tests that follow
keep() {
	[[ -n $2 ]] || fail "no job $1"
	printf '%s\n' "$2" >"$BATS_FILE_TMPDIR/kept/$1"
}

job() {
	cat "$BATS_FILE_TMPDIR/kept/$1"
}

# holds_gangs: does the new release?
holds_gangs() {
	keeps_licenses "$ONESPINE_UPDATE"
}

@test "before the update: gangs run and wait, with other jobs" {
	equal "$(scontrol --version)" "slurm $ONESPINE_TEST_SLURM"
	keep running "$(gang -N2 -w 'n[1-2]')"
	await_job "$(job running)" RUNNING
	keep again "$(gang -N2 -w 'n[5-6]')"
	await_job "$(job again)" RUNNING
	keep plain "$(submit --job-name=plain -N1 --exclusive -w n3)"
	await_job "$(job plain)" RUNNING
	keep busy "$(submit --job-name=plain -N1 --exclusive -w n7)"
	await_job "$(job busy)" RUNNING
	keep waiting "$(gang -N3)"
	await 20 note_holds "$(job waiting)" 'waits: 3 nodes on one spine'
	keep tool "$(gang -N2 -L tool:1)"
	keep array "$(gang -N2 --array=1-2)"
	keep held "$(gang -N2 --hold)"
	keep later "$(gang -N2 --begin=now+1hour)"
	keep wide "$(submit --job-name=plain -N8 --exclusive)"
	await 20 note_holds "$(job tool)" 'waits: 2 nodes on one spine'
	none_used
	none_straddles
	for name in running again waiting tool; do
		holds "$(job_field "$(job "$name")" Licenses)" onespine
	done
	queue >"$BATS_FILE_TMPDIR/queue"
	await_saved "$(job waiting)"
}

@test "slurmctld of the new release starts without a build, or says what to install, and no job is lost" {
	cluster kill-ctld --dir "$ONESPINE_CLUSTER"
	cluster update --dir "$ONESPINE_CLUSTER" "$ONESPINE_UPDATE"
	cluster_use "$ONESPINE_CLUSTER"
	equal "$(scontrol --version)" "slurm $ONESPINE_UPDATE"
	if holds_gangs; then
		run onespine doctor --before-start
		equal "$status" 0
		holds "$output" "was built for Slurm $ONESPINE_TEST_SLURM, and Slurm $ONESPINE_UPDATE is installed: gangs wait for license onespine"
		cluster start-ctld --dir "$ONESPINE_CLUSTER"
		log_has 'Slurm was updated and Onespine was not: Slurm places jobs by itself, and every gang waits for license onespine'
		equal "$(queue)" "$(<"$BATS_FILE_TMPDIR/queue")" queue
		run onespine doctor
		equal "$status" 1
		holds "$output" "install Onespine built for exactly Slurm $ONESPINE_UPDATE, and start slurmctld again"
		holds "$output" '; slurmctld starts no gang'
	else
		run onespine doctor --before-start
		equal "$status" 1
		holds "$output" "install Onespine built for exactly Slurm $ONESPINE_UPDATE"
		run cluster start-ctld --dir "$ONESPINE_CLUSTER"
		((status))
		log_has "job_submit_onespine.so was built for Slurm $ONESPINE_TEST_SLURM and this is Slurm $ONESPINE_UPDATE, gangs would be placed anywhere, so slurmctld does not start"
		log_has 'it cannot hold gangs: this Slurm leaves a job that is put back no licenses'
		cluster update --dir "$ONESPINE_CLUSTER" "$ONESPINE_TEST_SLURM" # the packages go back
		cluster_use "$ONESPINE_CLUSTER"
		cluster start-ctld --dir "$ONESPINE_CLUSTER"
		equal "$(queue)" "$(<"$BATS_FILE_TMPDIR/queue")" queue
	fi
}

@test "gangs wait and say for what, new ones too, and other jobs run" {
	holds_gangs || skip "Slurm $ONESPINE_UPDATE does not start"
	local name small
	scancel "$(job plain)"
	scancel "$(job busy)" "$(job wide)" # a spine has room for each gang
	for name in waiting tool array; do
		await 30 is_held "$(job "$name")"
	done
	keep fresh "$(gang -N2)"
	await 30 is_held "$(job fresh)"
	small=$(submit --job-name=plain -N4 --exclusive -w 'n[3-4,7-8]')
	await_job "$small" RUNNING
	scancel "$small"
	scontrol update JobId="$(job later)" StartTime=now
	await 30 is_held "$(job later)"
	equal "$(job_state "$(job running)") $(job_state "$(job again)")" "RUNNING RUNNING"
}

@test "gangs that slurmrestd submits wait too" {
	holds_gangs || skip "Slurm $ONESPINE_UPDATE does not start"
	rest -V </dev/null | grep -q '^slurm' || skip 'slurmrestd is not installed here'
	said=$(rest_submit '"partition": "gpu", "nodes": "2"' '"ONESPINE_GANG": "spine"')
	matches "$said" '"job_id": ?[1-9]'
	keep rest "$(jq -r .job_id <<<"$said")"
	await 30 is_held "$(job rest)"
}

@test "nodes are updated under a running gang" {
	holds_gangs || skip "Slurm $ONESPINE_UPDATE does not start"
	local node
	for node in n1 n2 n5 n8; do
		cluster kill-node --dir "$ONESPINE_CLUSTER" "$node"
		cluster start-node --dir "$ONESPINE_CLUSTER" "$node"
	done
	scontrol reconfigure
	await 30 node_is n8 idle
	equal "$(job_state "$(job running)") $(job_state "$(job again)")" "RUNNING RUNNING"
	step=$(srun --overlap --jobid="$(job running)" -N2 -n2 hostname | wc -l)
	equal "$step" 2
}

@test "gangs that are put back wait too" {
	holds_gangs || skip "Slurm $ONESPINE_UPDATE does not start"
	scontrol requeue "$(job again)"
	await_job "$(job again)" PENDING
	scontrol update JobId="$(job again)" StartTime=now+3
	await 30 is_held "$(job again)"
	keep after "$(submit --job-name=plain -N2 --exclusive -w 'n[5-6]')"
	await_job "$(job after)" RUNNING
	job_is "$(job again)" PENDING
	scancel "$(job after)"
}

@test "the build for the new release comes in place, and gangs start, each on one spine" {
	local version=$ONESPINE_UPDATE name
	mkdir "$BATS_FILE_TMPDIR/built"
	cp "$ONESPINE_UPDATE_PREFIX/lib/onespine/slurmctld/select_cons_tres.so" "$ONESPINE_UPDATE_PREFIX/lib/onespine/job_submit_onespine.so" \
		"$BATS_FILE_TMPDIR/built/"
	put_beside "$version" "$BATS_FILE_TMPDIR/built"
	await_saved "$(job waiting)"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER"
	if ! holds_gangs; then
		cluster update --dir "$ONESPINE_CLUSTER" "$ONESPINE_UPDATE"
		cluster_use "$ONESPINE_CLUSTER"
	fi
	run onespine doctor --before-start
	equal "$status" 0
	holds "$output" "$LIB/slurmctld/select_cons_tres.so is now the build for Slurm $version"
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	log_has "for Slurm $version) places gangs"
	holds_gangs || {
		equal "$(queue)" "$(<"$BATS_FILE_TMPDIR/queue")" queue
		keep fresh "$(gang -N2)"
		scontrol update JobId="$(job later)" StartTime=now
		scancel "$(job wide)" "$(job plain)" "$(job busy)"
		scontrol requeue "$(job again)"
		begin_soon "$(job again)"
	}
	equal "$(job_state "$(job running)")" RUNNING
	for name in "$(job waiting)" "$(job tool)" "$(job array)_1" "$(job array)_2" "$(job later)" "$(job fresh)" "$(job again)"; do
		await 30 runs_on_one_spine "$name"
		none_straddles
		none_used
		scancel "$name"
	done
	[[ ! -e $BATS_FILE_TMPDIR/kept/rest ]] || {
		await_job "$(job rest)" COMPLETED 60
		matches "$(job_spines "$(job rest)" | paste -sd,)" '^s[12]$'
	}
	job_is "$(job held)" PENDING
	scontrol release "$(job held)"
	await 30 runs_on_one_spine "$(job held)"
	none_used
	[[ $(scontrol -o show licenses tool) == *' Used=0 '* ]]
}

@test "Slurm goes back, and so do the plugins" {
	gone=$(gang -N4 -w 'n[1-4]')
	await_saved "$(job held)"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER"
	cluster update --dir "$ONESPINE_CLUSTER" "$ONESPINE_TEST_SLURM"
	cluster_use "$ONESPINE_CLUSTER"
	run onespine doctor --before-start
	equal "$status" 0
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	equal "$(scontrol --version)" "slurm $ONESPINE_TEST_SLURM"
	equal "$(job_state "$(job running)") $(job_state "$(job held)") $(job_state "$gone")" "RUNNING RUNNING PENDING"
	scancel "$(job running)" "$(job held)"
	await 30 runs_on_one_spine "$gone"
	none_used
	scancel "$gone"
	free_all
}
