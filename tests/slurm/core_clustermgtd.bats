#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_clustermgtd.bats - nodes that fail beside ParallelCluster's clustermgtd, which ends the instances of drained ones

load helpers
load gate_helpers

# 2 spines of 4 static nodes: q-st-p5-1 to -4, -5 to -8
setup_file() {
	gate_budget
	mkdir "$BATS_FILE_TMPDIR/shared" "$BATS_FILE_TMPDIR/instances"
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 1 4
	sed -i 's/"n\[/"q-st-p5-[/' "$BATS_FILE_TMPDIR/onespine.topology"
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-END
		defaults:
		  gate: {budget_s: $BUDGET_S, fresh_s: 0, network: false, jobs: all, quarantine: 1, quarantine_h: 3}
		history: {shared: $BATS_FILE_TMPDIR/shared}
	END
	chmod 755 "$BATS_FILE_TMPDIR"
	cluster_start --gate --names 'q-st-p5-[1-8]' --topology "$BATS_FILE_TMPDIR/onespine.topology" --gres gpu:8 \
		--config "$BATS_FILE_TMPDIR/onespine.yaml" --conf MinJobAge=36000 \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
	export CONF=$ONESPINE_CLUSTER/slurm.conf
	parallelcluster
	for node in {1..8}; do
		launched "q-st-p5-$node" "i-000$node"
	done
}

# launched NODE INSTANCE: the node is this instance, by its firmware and by Slurm
launched() {
	echo "$2" >"$ONESPINE_CLUSTER/nodes/$1/sys/devices/virtual/dmi/id/board_asset_tag"
	echo "$2" >"$BATS_FILE_TMPDIR/instances/$1"
	told "$1" "$2"
}

# told NODE INSTANCE: Slurm says so; before it knew InstanceId, by the node's own word
told() {
	if slurm_at_least 25.11; then
		scontrol update "NodeName=$1" "InstanceId=$2"
	else
		scontrol update "NodeName=$1" "Extra=$(jq -nc --arg id "$2" --argjson boot "$(boot_of "$1")" \
			'{onespine_instance: {id: $id, boot: $boot}}')"
	fi
}

boot_of() {
	date -d "$(scontrol show node "$1" | sed -n 's/.*BootTime=\([^ ]*\).*/\1/p')" +%s
}

# parallelcluster: slurm.conf includes what ParallelCluster's does
parallelcluster() {
	echo "# written by ParallelCluster" >"${CONF%/*}/slurm_parallelcluster.conf"
	echo "include slurm_parallelcluster.conf" >>"$CONF"
	cluster reconfigure --dir "$ONESPINE_CLUSTER"
}

# clustermgtd: one round of it; prints whose instances it ended
clustermgtd() {
	local node instance
	"$ONESPINE_TOOLS/../tests/fake/clustermgtd" "$BATS_FILE_TMPDIR/instances"
	for node in "$BATS_FILE_TMPDIR"/instances/*; do
		told "${node##*/}" "$(<"$node")"
	done
}

# reservations: the names of all, one a line
reservations() {
	scontrol -o show reservations | sed -n 's/^ReservationName=\([^ ]*\) .*/\1/p'
}

# failing NODE: a gang of two on it and one more fails there, is requeued and runs elsewhere; sets $job
failing() {
	fault "$1" "$ECC"
	job=$(submit --requeue --gang -N2 -w "$1" --gres=gpu:8)
	await 60 requeued "$job"
	scancel "$job"
	await 30 no_jobs
}

state_of() {
	scontrol -o show node "$1" | sed -nE 's/.* State=([^ ]+) .*/\1/p'
}

# questions_about_reservations: how often slurmctld has been asked for all of them
questions_about_reservations() {
	sdiag | awk '$1 == "REQUEST_RESERVATION_INFO" { sub(/.*count:/, ""); asked = $1 } END { print asked + 0 }'
}

@test "a node that fails goes into quarantine: no job starts there, it is not drained, and clustermgtd leaves it" {
	local before
	before=$(questions_about_reservations)
	failing q-st-p5-2
	await 10 says q-st-p5-1 "q-st-p5-2 in quarantine for 3 hours at most: $ECC_REASON"
	# the gate asks before it decides, and once more if another gate was faster
	equal "$(($(questions_about_reservations) - before))" 2
	equal "$(reservations)" onespine-quarantine-i-0002
	matches "$(state_of q-st-p5-2)" '^IDLE\+RESERVED'
	equal "$(clustermgtd)" ''
	none_drained_but
	# a gang of four has one spine left
	job=$(submit --gang -N4 --gres=gpu:8)
	await_job "$job" RUNNING
	equal "$(job_spines "$job")" s2
	other=$(submit --gang -N4 --gres=gpu:8)
	await 30 note_holds "$other" '[onespine: '
	job_is "$other" PENDING
	scancel "$job" "$other"
	await 30 no_jobs
}

# in_quarantine NODE INSTANCE: it failed, and was put there. A test's node keeps history below its own root, as if that
# were not the folder that all mount.
in_quarantine() {
	failing "$1"
	await 10 shows "onespine-quarantine-$2" reservations
	find "$ONESPINE_CLUSTER/nodes/$1/" -name "$2.jsonl" -exec cp -p {} "$BATS_FILE_TMPDIR/shared/" \;
}

@test "quarantine lists what failed there and until when; show writes the text for the cloud's support" {
	in_quarantine q-st-p5-2 i-0002
	run onespine quarantine
	equal "$status" 0
	matches "$output" '^q-st-p5-2 i-0002 since [^ ]+, at most until [^ ]+: gpu3 ecc 12 uncorrectable > 0; reset gpu$'
	run onespine quarantine --json
	equal "$(jq -c '.[] | [.node, .instance, .until_s - .since_s, .reason]' <<<"$output")" \
		'["q-st-p5-2","i-0002",10800,"gpu3 ecc 12 uncorrectable > 0; reset gpu"]'
	run onespine quarantine show i-0002
	equal "$status" 0
	holds "$output" 'Hardware fault of instance i-0002 (node q-st-p5-2)'
	holds "$output" "The check 'ecc' failed at "
	holds "$output" 'It has not been ended'
	matches "$output" 'GPU-[^ ]+: 1 failure, last [^ ]+: ecc, '
	run onespine quarantine show q-st-p5-3
	equal "$status" 2
	holds "$output" "'q-st-p5-3' is not in quarantine; did you mean q-st-p5-2?"
	run onespine quarantine keep q-st-p5-3
	equal "$status" 2
	holds "$output" "'quarantine keep': nothing, show NODE, end NODE... or return NODE... is expected"
}

@test "one more than the policy's number is drained, and clustermgtd ends its instance" {
	in_quarantine q-st-p5-2 i-0002
	failing q-st-p5-3
	await 10 drained q-st-p5-3 "$ECC_REASON"
	says q-st-p5-1 'q-st-p5-3 is drained: quarantine is full (1)'
	equal "$(clustermgtd)" 'ended q-st-p5-3 i-0003'
	equal "$(reservations)" onespine-quarantine-i-0002
	none_drained_but
}

# kept_by NODE: its gate put q-st-p5-4 into quarantine, or found it there
kept_by() {
	[[ $(gate_log "$1") =~ q-st-p5-4\ (in\ quarantine\ for\ 3\ hours\ at\ most|is\ in\ quarantine\ already) ]]
}

is_kept() {
	[[ $(state_of "$1") =~ ^IDLE\+RESERVED ]]
}

# Both wait in the shared node's Prolog, and see what their own GPUs have within the same twentieth of a second.
@test "two gates that find one node bad at once: it is in quarantine, once, and nobody drains it" {
	local go=$BATS_FILE_TMPDIR/go one two
	fault q-st-p5-4 "until [ -e $go ]; do sleep 0.05; done; export ONESPINE_FAKE_NVML='gpu3.ecc_uncorrected=12 gpu7.ecc_uncorrected=12'"
	one=$(submit --requeue --gang -N2 -n2 -w 'q-st-p5-[1,4]' --gres=gpu:4)
	two=$(submit --requeue --gang -N2 -n2 -w 'q-st-p5-[2,4]' --gres=gpu:4)
	await 30 gate_runs q-st-p5-1
	await 30 gate_runs q-st-p5-2
	touch "$go"
	await 60 requeued "$one"
	await 60 requeued "$two"
	await 10 kept_by q-st-p5-1
	await 10 kept_by q-st-p5-2
	equal "$(reservations)" onespine-quarantine-i-0004
	await 30 is_kept q-st-p5-4
	equal "$(clustermgtd)" ''
	none_drained_but
	scancel "$one" "$two"
	await 30 no_jobs
	rm "$go"
}

@test "recheck checks nothing there, says whose the drained nodes are, and keeps quarantine until its hours are over" {
	in_quarantine q-st-p5-2 i-0002
	scontrol update NodeName=q-st-p5-4 State=DRAIN "Reason=$ECC_REASON"
	run onespine recheck
	equal "$status" 0
	equal "$output" 'q-st-p5-2: in quarantine: i-0002'
	drained q-st-p5-4 "$ECC_REASON"
	run onespine recheck q-st-p5-4
	equal "$status" 2
	holds "$output" "clustermgtd owns the drained nodes of this cluster and ends their instances: none can be checked again"
	scontrol update NodeName=q-st-p5-4 State=RESUME
	export ONESPINE_TEST_NOW_S=$((EPOCHSECONDS + 3 * 3600 + 60))
	run onespine recheck --dry-run
	equal "$output" 'q-st-p5-2: would be drained after 3 hours in quarantine: i-0002'
	equal "$(reservations)" onespine-quarantine-i-0002
	run onespine recheck
	equal "$output" 'q-st-p5-2: drained after 3 hours in quarantine: i-0002'
	equal "$(reservations)" ''
	drained q-st-p5-2 'onespine: quarantine is over, i-0002 may be ended'
	equal "$(clustermgtd)" 'ended q-st-p5-2 i-0002'
	run onespine recheck
	equal "$output" 'clustermgtd ends drained nodes, so none is checked again; no node is in quarantine'
}

@test "a node that is another instance by now leaves quarantine, and takes jobs" {
	in_quarantine q-st-p5-6 i-0006
	told q-st-p5-6 i-0066
	run onespine recheck
	equal "$output" 'q-st-p5-6: out of quarantine: it is no longer i-0006'
	equal "$(reservations)" ''
	none_drained_but
	told q-st-p5-6 i-0006
}

@test "quarantine end drains a node so that clustermgtd ends it; return gives it back to jobs" {
	in_quarantine q-st-p5-6 i-0006
	run onespine quarantine return q-st-p5-6
	equal "$output" 'q-st-p5-6: takes jobs again'
	equal "$(reservations)" ''
	none_drained_but
	in_quarantine q-st-p5-7 i-0007
	run onespine quarantine end i-0007
	equal "$output" 'q-st-p5-7: drained, so that its instance is ended'
	equal "$(reservations)" ''
	drained q-st-p5-7 'onespine: quarantine is over, i-0007 may be ended'
	equal "$(clustermgtd)" 'ended q-st-p5-7 i-0007'
}

# as_nobody COMMAND...: where the cluster runs
as_nobody() {
	on_cluster setpriv --reuid=65534 --regid=65534 --clear-groups env "SLURM_CONF=$SLURM_CONF" "$@"
}

@test "an ordinary user may list quarantine, and change nothing" {
	in_quarantine q-st-p5-8 i-0008
	run as_nobody "$ONESPINE_PREFIX/bin/onespine" quarantine
	equal "$status" 0 "status ($output)"
	holds "$output" 'q-st-p5-8 i-0008 since '
	run as_nobody "$ONESPINE_PREFIX/bin/onespine" quarantine return q-st-p5-8
	equal "$status" 2
	holds "$output" 'quarantine return is for root'
	run as_nobody sbatch --reservation=onespine-quarantine-i-0008 -N1 --gres=gpu:8 --chdir=/ --output=/dev/null --wrap 'sleep 1'
	[[ $status -ne 0 ]]
	equal "$(reservations)" onespine-quarantine-i-0008
	onespine quarantine return q-st-p5-8
}

# theirs OPTION...: a job of an ordinary user; prints its number, or what sbatch says
theirs() {
	as_nobody sbatch --parsable --chdir=/ --output=/dev/null --gres=gpu:1 "$@" --wrap 'sleep 600' 2>&1
}

# none_runs NAME: no job of that name has begun
none_runs() {
	[[ -z $(squeue -h -n "$1" -t running,completing,completed -o %i) ]]
}

@test "in quarantine a user's job that is there goes on, no other begins, and a user makes, changes and ends no such reservation" {
	local way reservation=onespine-quarantine-i-0008
	early=$(theirs -N1 -w q-st-p5-8)
	await_job "$early" RUNNING
	tasks=$(theirs -J theirs --array=0-3 -N1 -w q-st-p5-8 --gres=gpu:8)
	fault q-st-p5-8 "$ECC"
	late=$(submit --requeue --gang -N2 -w q-st-p5-8 --gres=gpu:7)
	await 60 shows "$reservation" reservations
	scancel "$late"
	job_is "$early" RUNNING
	for way in "--reservation=$reservation" '-w q-st-p5-8 --exclusive' '-w q-st-p5-8 --oversubscribe' '-w q-st-p5-[7-8] -N2' \
		'-w q-st-p5-8 --gang -N2' '-w q-st-p5-8 --no-requeue'; do
		# shellcheck disable=SC2086 # options
		theirs -J theirs $way || true
	done
	# an idle node beside it may make one begin later, none of these may
	stays 5 none_runs theirs
	run as_nobody scontrol delete ReservationName="$reservation"
	equal "$status" 1
	run as_nobody scontrol update ReservationName="$reservation" Users=nobody
	equal "$status" 1
	run as_nobody scontrol create reservation ReservationName=onespine-quarantine-i-0003 Users=root Nodes=q-st-p5-3 StartTime=now Duration=60
	equal "$status" 1
	run as_nobody "$ONESPINE_PREFIX/bin/onespine" quarantine end q-st-p5-8
	equal "$status" 2
	equal "$(reservations)" "$reservation"
	none_drained_but
	scancel "$early" "$tasks"
	scancel -n theirs
	await 60 no_jobs
	onespine quarantine return q-st-p5-8
}

@test "a node in somebody's reservation cannot be kept: it is drained, as everywhere" {
	scontrol create reservation ReservationName=theirs Users=root StartTime=now Duration=60 Nodes=q-st-p5-5 Flags=IGNORE_JOBS >/dev/null
	fault q-st-p5-5 "$ECC"
	job=$(submit --requeue --reservation=theirs -N1 --gres=gpu:8)
	await 60 requeued "$job"
	await 10 drained q-st-p5-5 "$ECC_REASON"
	scancel "$job"
	await 30 no_jobs
	scontrol delete ReservationName=theirs
	equal "$(reservations)" ''
}

@test "a job in a reservation that goes over others, MAINT or OVERLAP, would get the node again: it is drained" {
	scontrol create reservation ReservationName=theirs Users=root StartTime=now Duration=60 Nodes=q-st-p5-5 Flags=MAINT,IGNORE_JOBS >/dev/null
	fault q-st-p5-5 "$ECC"
	job=$(submit --requeue --reservation=theirs -N1 --gres=gpu:8)
	await 60 requeued "$job"
	await 10 drained q-st-p5-5 "$ECC_REASON"
	scancel "$job"
	await 30 no_jobs
	equal "$(reservations)" theirs
	scontrol delete ReservationName=theirs
}

@test "with terminate_drain_nodes=False recheck works as elsewhere, and lets go what is in quarantine" {
	in_quarantine q-st-p5-2 i-0002
	root=$BATS_FILE_TMPDIR/root
	mkdir -p "$root/etc/parallelcluster/slurm_plugin"
	printf '[clustermgtd]\nterminate_drain_nodes = False\n' >"$root/etc/parallelcluster/slurm_plugin/parallelcluster_clustermgtd.conf"
	run env ONESPINE_TEST_ROOT="$root" ONESPINE_TEST_NOW_S=$((EPOCHSECONDS + 4 * 3600)) onespine recheck
	holds "$output" 'q-st-p5-2: drained after 3 hours in quarantine: i-0002'
	holds "$output" 'no node is drained for a reason that begins with "onespine: "'
	equal "$(reservations)" ''
}

@test "without ParallelCluster's file, or with quarantine left out, a node that fails is drained" {
	sed -i '/slurm_parallelcluster.conf/d' "$CONF"
	cluster reconfigure --dir "$ONESPINE_CLUSTER"
	failing q-st-p5-2
	await 10 drained q-st-p5-2 "$ECC_REASON"
	equal "$(reservations)" ''
}
