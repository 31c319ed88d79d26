#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_launch_left.bats - reservations that a launch has left: the watch deletes them, and doctor names them
#
# slurmctld makes such a reservation, and then saves the job that has it. If it is killed in between, no job has it.

load helpers
load backup_helpers
bats_require_minimum_version 1.5.0

setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 1 2
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --conf PrivateData=jobs \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
	cat >"$ONESPINE_CLUSTER/told.conf" <<-END
		SwitchName=s1 Switches=l1
		SwitchName=s2 Switches=l2
		SwitchName=l1 Nodes=n[1-2]
		SwitchName=l2 Nodes=n[3-4]
	END
}

teardown() {
	[[ -n ${BATS_TEST_COMPLETED-} ]] || cat "$BATS_FILE_TMPDIR/watch.log"
	[[ ! -s $BATS_FILE_TMPDIR/watch.started ]] || ended watch
	end_test
}

watch_begins() {
	started watch "${ONESPINE_PREFIX:?}/bin/onespine" topology watch --from="topograph:$ONESPINE_CLUSTER/told.conf" \
		--interval=1
}

journal_has() {
	grep -q -- "$1" "$BATS_FILE_TMPDIR/watch.log"
}

# keeps NAME NODES [FLAGS]: a reservation as slurmctld makes it for a gang's next start
keeps() {
	scontrol create reservation "ReservationName=$1" "Nodes=$2" Users=root "StartTime=${START:-now}" Duration=5 \
		Flags="${3:-FLEX,IGNORE_JOBS,PURGE_COMP=1:00,NO_HOLD_JOBS_AFTER_END}"
}

# kept: the names of all reservations, in order
kept() {
	scontrol -o show reservation | sed -n 's/^ReservationName=\([^ ]*\) .*/\1/p' | sort | paste -sd' '
}

kept_are() {
	equal "$(kept)" "$1"
}

@test "one that no gang waits with is named and deleted; those of a gang that waits, and of others, stay" {
	job=$(submit --gang -N2 --exclusive --hold)
	ended=$(submit -N1 --wrap true)
	await_job "$ended" COMPLETED
	keeps "onespine_launch_$job" n1
	scontrol update "JobId=$job" "ReservationName=onespine_launch_$job"
	keeps onespine_launch_4000000 n2
	keeps "onespine_launch_$ended" n3
	# somebody's own: another name, and other flags
	keeps onespine_launch_mine n4
	keeps onespine_launch_4000001 n4 MAINT,IGNORE_JOBS
	START=now+1hour keeps onespine_launch_4000002 n4 FLEX,IGNORE_JOBS,PURGE_COMP=1:00
	# a user is not told of the gang, and so of none
	run as_other_user "${ONESPINE_PREFIX:?}/bin/onespine" doctor
	[[ $output != *'no gang waits with them'* ]] || fail "$output"
	run onespine doctor
	holds "$output" 'no gang waits with them: reservation '
	holds "$output" onespine_launch_4000000
	holds "$output" "onespine_launch_$ended"
	[[ $output != *"onespine_launch_$job"[,\ ]* && $output != *400000[12]* && $output != *mine* ]] || fail "$output"
	watch_begins
	await 20 kept_are "$(printf '%s\n' onespine_launch_4000001 onespine_launch_4000002 onespine_launch_mine "onespine_launch_$job" | sort | paste -sd' ')"
	journal_has '^reservation onespine_launch_4000000 deleted: no gang waits with it$'
	journal_has "^reservation onespine_launch_$ended deleted: no gang waits with it\$"
	# the gang has ended, too
	scancel "$job"
	await 20 journal_has "^reservation onespine_launch_$job deleted"
	kept_are 'onespine_launch_4000001 onespine_launch_4000002 onespine_launch_mine'
	run onespine doctor
	[[ $output != *'no gang waits with them'* ]] || fail "$output"
}

@test "one that another job has stays, and so does a gang's beside another; the rest is deleted all the same" {
	keeps onespine_launch_4000000 n2
	other=$(submit -N1 --reservation=onespine_launch_4000000 --hold)
	job=$(submit --gang -N2 --exclusive --hold)
	keeps "onespine_launch_$job" n1
	keeps own n4
	scontrol update "JobId=$job" "ReservationName=own,onespine_launch_$job"
	# 22.05 takes the first of a list in an update
	[[ $(squeue -h -o %v -j "$job") == *onespine_launch_"$job"* ]] || scontrol update "JobId=$job" "ReservationName=onespine_launch_$job"
	keeps onespine_launch_4000001 n3
	run onespine doctor
	holds "$output" 'no gang waits with them: reservation onespine_launch_4000000,onespine_launch_4000001'
	watch_begins
	await 20 kept_are "$(printf '%s\n' onespine_launch_4000000 "onespine_launch_$job" own | sort | paste -sd' ')"
	stays 3 journal_has '^reservation onespine_launch_4000001 deleted'
	[[ $(grep -c '^launches: ' "$BATS_FILE_TMPDIR/watch.log") == 0 ]] || fail "$(cat "$BATS_FILE_TMPDIR/watch.log")"
	equal "$(squeue -h -o %v -j "$other")" onespine_launch_4000000
	scancel "$other"
	await 20 journal_has '^reservation onespine_launch_4000000 deleted'
}

@test "a watch that may not delete them says so once, and asks on" {
	keeps onespine_launch_4000000 n2
	started watch setpriv --reuid=65534 --regid=65534 --clear-groups "${ONESPINE_PREFIX:?}/bin/onespine" topology watch \
		--from="topograph:$ONESPINE_CLUSTER/told.conf" --interval=1 -o /dev/null/none
	await 20 journal_has '^launches: reservation onespine_launch_4000000, with which no gang waits, cannot be deleted: '
	await 20 journal_has '^failed'
	stays 3 journal_has '^failed'
	equal "$(grep -c '^launches: ' "$BATS_FILE_TMPDIR/watch.log")" 1
	equal "$(kept)" onespine_launch_4000000
}
