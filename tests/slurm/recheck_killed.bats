#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# recheck_killed.bats - a recheck that is killed, or to which slurmctld goes silent, gives no bad node back

bats_require_minimum_version 1.5.0

load helpers
load gate_helpers

setup_file() {
	gate_budget
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-END
		defaults:
		  gate: {budget_s: $BUDGET_S, fresh_s: 0, network: false}
		history: {strikes: 1000}
	END
	cluster_start --gate --nodes 2 --gres gpu:8 --config "$BATS_FILE_TMPDIR/onespine.yaml"
	export OUT=$BATS_FILE_TMPDIR/out LEFT
	LEFT=$ONESPINE_PREFIX/var/lib/onespine/recheck/onespine-$(scontrol show config | awk '$1 == "SlurmctldPort" { print $3 }')
	rm -f "$LEFT.returns" # a cluster of before, on the same port
	mkdir -m 1777 "$OUT"
	chmod 755 "$BATS_FILE_TMPDIR"
	sed 's#libexec/onespine/onespine-gate "\$@"$#bin/onespine "$@"#' "$ONESPINE_CLUSTER/gate" >"$OUT/check"
	printf '#!/bin/bash\ntouch %s/begun\nsleep 600\n' "$OUT" >"$OUT/slow"
	# a node that breaks as it is checked: before, the gate of the check's own job would find it
	printf '#!/bin/bash\necho "%s" >>%s\nexec %s "$@"\n' "$ECC" "$ONESPINE_CLUSTER/nodes/n1.faults" "$OUT/check" \
		>"$OUT/breaks"
	chmod 755 "$OUT/check" "$OUT/slow" "$OUT/breaks"
	cc -shared -fPIC -O1 -Wall -Werror -o "$OUT/at_step.so" "$BATS_TEST_DIRNAME/at_step.c"
}

setup() {
	rm -rf "$LEFT" "$OUT/begun"
	[[ -z ${ONESPINE_CLUSTER:-} ]] || { all_well && cluster check --dir "$ONESPINE_CLUSTER"; }
	scontrol update NodeName=n1 State=DRAIN "Reason=$ECC_REASON"
}

teardown_file() {
	rm -rf "$LEFT"
	end_file
}

teardown() {
	scancel --user=0
	await 30 no_jobs_left
	scontrol delete ReservationName=onespine-n1 2>/dev/null || true
	gate_end_test
}

no_jobs_left() {
	[[ -z $(squeue -h) ]]
}

none_reserved() {
	[[ $(scontrol -o show reservation) == 'No reservations in the system' ]]
}

begin_recheck() {
	onespine recheck --program="$1" --depth=passive n1 >"$OUT/said" 2>&1 3>&- &
	recheck=$!
}

kill_recheck() {
	kill -9 "$recheck" || true
	wait "$recheck" || true
}

@test "killed while the check runs: no job gets the node, doctor tells it, the next recheck takes it over" {
	begin_recheck "$OUT/slow"
	await 30 test -e "$OUT/begun"
	fault n1 "$ECC" # not before: the gate of the check's own job would find it
	matches "$(sinfo -h -n n1 -o %E)" '^none$'
	kill_recheck
	# Root's reservation has no end, and the reason stands on the disk.
	holds "$(scontrol -o show reservation onespine-n1)" 'Nodes=n1'
	(($(date -d "$(scontrol -o show reservation onespine-n1 | sed -n 's/.* EndTime=\([^ ]*\).*/\1/p')" +%s) - EPOCHSECONDS > 86400 * 300))
	holds "$(cat "$LEFT/n1")" "$ECC_REASON"
	equal "$(stat -c %a "$LEFT") $(stat -c %a "$LEFT/n1")" '700 600'
	job=$(as_other_user sbatch --parsable --chdir=/ --output=/dev/null -w n1 --gres=gpu:8 --wrap true)
	stays 3 job_is "$job" PENDING
	scancel "$job"
	await 30 no_jobs_left
	holds "$(onespine doctor 2>&1 || true)" 'a recheck that was killed has left 1 node inside reservations of root'
	run onespine recheck --program="$OUT/check" --depth=passive
	holds "$output" "n1: stays drained: $ECC_REASON"
	drained n1 "$ECC_REASON"
	none_reserved
	[[ ! -e $LEFT/n1 ]]
}

# recheck_at STEP:before|after [PID]: one that ends there, or stops that process there; its status. Only one that is stopped
# is not waited for: on a busy machine an answer takes long.
recheck_at() {
	local status=0 call_ms=10000
	[[ -z ${2:-} ]] || call_ms=2000
	all_well
	on_cluster env LD_PRELOAD="$OUT/at_step.so" AT_STEP="$1" ${2:+AT_PID="$2"} ONESPINE_TEST_CALL_MS=$call_ms \
		"$ONESPINE_PREFIX/bin/onespine" recheck --program="$OUT/breaks" --depth=passive n1 \
		>"$OUT/said" 2>&1 3>&- || status=$?
	echo "$status"
}

# not_given_back: it is drained, or inside a reservation of root's
not_given_back() {
	[[ $(node_state n1) == drain* || $(scontrol -o show reservation) == *'ReservationName=onespine-n1 '* ]]
}

# taken_over WHAT: after the next recheck it is drained for its reason, and nothing is left
taken_over() {
	await 30 no_jobs_left
	not_given_back || fail "$1: given back: $(cat "$OUT/said")"
	fault n1 "$ECC"
	onespine recheck --program="$OUT/check" --depth=passive >"$OUT/said" 2>&1 || true
	drained n1 "$ECC_REASON" || fail "$1: $(cat "$OUT/said")"
	none_reserved || fail "$1: $(scontrol -o show reservation) $(cat "$OUT/said")"
	[[ ! -e $LEFT/n1 ]] || fail "$1: $(cat "$LEFT/n1")"
	await 30 no_jobs_left
	await 30 node_is n1 drained # it may be completing still
}

@test "killed at each step: drained for its reason in the end, nothing is left" {
	local step
	for step in {reserve,undrain,drain,unreserve}:{before,after}; do
		[[ $(recheck_at "$step") == 137 ]] || fail "$step: $(cat "$OUT/said")"
		taken_over "killed at $step"
	done
}

@test "slurmctld silent at each step: the same, also where it does later what it was asked" {
	local step pid
	pid=$(<"$ONESPINE_CLUSTER/run/slurmctld.pid")
	for step in {reserve,undrain,drain,unreserve}:{before,after}; do
		equal "$(recheck_at "$step" "$pid")" 1
		is_stopped "$pid" || fail "$step: $(cat "$OUT/said")"
		kill -CONT "$pid"
		await 30 controller_answers
		taken_over "silent at $step"
	done
}

@test "slurmctld silent while the check runs: the node stays inside its reservation" {
	local pid
	pid=$(<"$ONESPINE_CLUSTER/run/slurmctld.pid")
	printf '#!/bin/bash\nkill -STOP %s\nexec %s "$@"\n' "$pid" "$OUT/breaks" >"$OUT/stops"
	chmod 755 "$OUT/stops"
	begin_recheck "$OUT/stops"
	await 30 is_stopped "$pid"
	kill_recheck
	kill -CONT "$pid"
	await 30 controller_answers
	holds "$(cat "$LEFT/n1")" "$ECC_REASON"
	taken_over 'silent while the check runs'
}

controller_answers() {
	scontrol ping >/dev/null
}

is_stopped() {
	[[ $(ps -o stat= -p "$1") == T* ]]
}

@test "two at once: one has the node in hand, the other leaves it alone" {
	begin_recheck "$OUT/slow"
	await 30 test -e "$OUT/begun"
	scontrol update NodeName=n2 State=DRAIN "Reason=$ECC_REASON"
	run onespine recheck --program="$OUT/check" --depth=passive n2
	holds "$output" 'n2: returned'
	holds "$(scontrol -o show reservation onespine-n1)" 'Nodes=n1'
	holds "$(cat "$LEFT/n1")" "$ECC_REASON"
	kill_recheck
}

# waiting PROGRAM: a check that waits for the file "go" and is PROGRAM then
waiting() {
	rm -f "$OUT/go"
	printf '#!/bin/bash\ntouch %s/begun\nuntil [[ -e %s/go ]]; do sleep 0.1; done\nexec %s "$@"\n' "$OUT" "$OUT" \
		"$1" >"$OUT/waits"
	chmod 755 "$OUT/waits"
}

@test "a node that its administrator took meanwhile is left alone" {
	scontrol update NodeName=n2 State=DRAIN "Reason=$ECC_REASON"
	waiting "$OUT/check"
	onespine recheck --program="$OUT/waits" --depth=passive n1 n2 >"$OUT/said" 2>&1 3>&- &
	recheck=$!
	await 30 test -e "$OUT/begun"
	scontrol update NodeName=n2 State=DRAIN Reason='do not touch'
	touch "$OUT/go"
	wait "$recheck" || true
	rm "$OUT/go"
	holds "$(cat "$OUT/said")" 'n2: left alone: it has changed meanwhile'
	drained n2 'do not touch'
	none_reserved
}

# returns: how often n1 has been given back
returns() {
	grep -c ' n1$' "$LEFT.returns" 2>/dev/null || true
}

@test "the reason that an administrator gave during the check stays, whatever the check says" {
	local program says before
	before=$(returns)
	for program in breaks check; do
		all_well
		waiting "$OUT/$program"
		rm -f "$OUT/begun"
		scontrol update NodeName=n1 State=DRAIN "Reason=$ECC_REASON"
		begin_recheck "$OUT/waits"
		await 30 test -e "$OUT/begun"
		scontrol update NodeName=n1 State=DRAIN Reason='do not touch'
		touch "$OUT/go"
		wait "$recheck" || true
		says=$([[ $program == check ]] && echo PASS || echo "$ECC_REASON")
		equal "$(tail -n 1 "$OUT/said")" "n1: stays drained: $says; drained by others meanwhile: do not touch"
		drained n1 'do not touch'
		none_reserved
		[[ ! -e $LEFT/n1 ]]
		await 30 no_jobs_left
		await 30 node_is n1 drained
	done
	# It was not given back, so it is not counted as that.
	equal "$(returns)" "$before"
}

@test "a leftover that its administrator drained since all nodes were read keeps his reason" {
	begin_recheck "$OUT/slow"
	await 30 test -e "$OUT/begun"
	kill_recheck
	matches "$(sinfo -h -n n1 -o %E)" '^none$'
	await 30 no_jobs_left
	run on_cluster env LD_PRELOAD="$OUT/at_step.so" AT_STEP=look:after \
		AT_RUN="scontrol update NodeName=n1 State=DRAIN Reason='do not touch'" \
		"$ONESPINE_PREFIX/bin/onespine" recheck --program="$OUT/check" --depth=passive
	holds "$output" 'no node is drained for a reason that begins with "onespine: "'
	drained n1 'do not touch'
	none_reserved
	[[ ! -e $LEFT/n1 ]]
}

# come_back WHEN [PROPERTY...]: the reservation of a recheck that had ended, as a slurmctld has it that was killed before
# it saved; no file stands for it. WHEN is when it was made.
come_back() {
	local since=$1
	shift
	scontrol create reservation ReservationName=onespine-n1 "StartTime=$(date -d "$since" +%Y-%m-%dT%H:%M:%S)" \
		Duration=infinite "${@:-Nodes=n1}" Users=root Flags=MAINT,IGNORE_JOBS >/dev/null
}

# recheck_all: the last line that it says; srun's stand before it
recheck_all() {
	onespine recheck --program="$OUT/check" --depth=passive >"$OUT/said" 2>&1 || true
	tail -n 1 "$OUT/said"
}

LEFT_BEHIND='wrong: slurmctld has reservations of rechecks that have ended, and no job gets these nodes: n1 (recheck)'

@test "a reservation that came back with slurmctld's older state: doctor tells it, the next recheck takes it over" {
	local said
	# The node as it was undrained for its check: what the check said may have been lost with the reservation's end.
	scontrol update NodeName=n1 State=RESUME
	await 30 node_is n1 idle
	come_back '-5 minutes'
	holds "$(onespine doctor 2>&1 || true)" "$LEFT_BEHIND"
	equal "$(recheck_all)" 'n1: returned: PASS'
	none_reserved
	[[ ! -e $LEFT/n1 ]]
	said=$(onespine doctor 2>&1 || true)
	[[ $said != *'reservations of rechecks'* ]]
	await 30 no_jobs_left
	# A bad one is not given back.
	come_back '-5 minutes'
	fault n1 "$ECC"
	equal "$(recheck_all)" "n1: stays drained: $ECC_REASON"
	none_reserved
	drained n1 "$ECC_REASON"
	await 30 no_jobs_left
	# Drained for our reason still: checked anew as any other.
	all_well
	await 30 node_is n1 drained
	come_back '-5 minutes'
	equal "$(recheck_all)" 'n1: returned: PASS'
	none_reserved
	# Drained by others: theirs stays.
	await 30 no_jobs_left
	scontrol update NodeName=n1 State=DRAIN Reason='do not touch'
	come_back '-5 minutes'
	said=$(recheck_all)
	equal "$said" 'no node is drained for a reason that begins with "onespine: "'
	none_reserved
	drained n1 'do not touch'
}

@test "a job that waits in such a reservation for a recheck that is gone: it ends, and the node is taken over" {
	# as slurmctld has them again: n1 drained, its reservation, and the check's job, whose srun has ended
	come_back '-5 minutes'
	job=$(sbatch --parsable --chdir=/ --output=/dev/null --job-name=onespine-recheck --reservation=onespine-n1 -w n1 --wrap true)
	await_job "$job" PENDING
	holds "$(recheck_all)" 'n1: stays drained: a reservation: ' # a recheck elsewhere may still wait for it
	job_is "$job" PENDING
	printf '#define _GNU_SOURCE\n#include <time.h>\ntime_t time(time_t *at) { struct timespec now; clock_gettime(CLOCK_REALTIME, &now);
		now.tv_sec += 200; if (at) *at = now.tv_sec; return now.tv_sec; }\n' >"$OUT/later.c"
	cc -shared -fPIC -o "$OUT/later.so" "$OUT/later.c"
	run on_cluster env "LD_PRELOAD=$OUT/later.so" "$ONESPINE_PREFIX/bin/onespine" recheck --program="$OUT/check" --depth=passive n2
	holds "$output" 'n2: left alone: '
	none_reserved
	no_jobs_left
	equal "$(recheck_all)" 'n1: returned: PASS'
	[[ ! -e $LEFT/n1 ]]
}

@test "a file that a recheck left because its reservation was in use stays until that is gone" {
	come_back '-5 minutes'
	job=$(sbatch --parsable --chdir=/ --output=/dev/null --job-name=onespine-recheck --reservation=onespine-n1 -w n1 --wrap true)
	await_job "$job" PENDING
	mkdir -p "$LEFT"
	echo 'J ' >"$LEFT/n1"
	equal "$(recheck_all)" 'n1: stays drained: another recheck has it in hand'
	[[ -s $LEFT/n1 ]]
	scancel "$job"
	await 30 no_jobs_left
	equal "$(recheck_all)" 'n1: returned: PASS'
	none_reserved
	[[ ! -e $LEFT/n1 ]]
}

# left_alone WHAT: a recheck leaves this reservation where it is, and doctor does not name it
left_alone() {
	local found
	found=$(onespine doctor 2>&1 || true)
	[[ $found != *'reservations of rechecks'* ]] || fail "$1: $found"
	recheck_all >/dev/null
	holds "$(scontrol -o show reservation)" 'ReservationName=onespine-n' || fail "$1: $(cat "$OUT/said")"
	scontrol delete ReservationName="${2:-onespine-n1}"
}

@test "a reservation that is of another form, or that a recheck elsewhere may be using, is left alone" {
	local job
	scontrol update NodeName=n1 State=RESUME
	await 30 node_is n1 idle
	come_back -0seconds
	left_alone 'made just now'
	come_back '-5 minutes' Nodes=n1,n2
	left_alone 'of two nodes'
	come_back '-5 minutes' Nodes=n2
	left_alone 'of another node'
	come_back '-5 minutes'
	scontrol update ReservationName=onespine-n1 Users=root,daemon
	left_alone 'of other users too'
	come_back '-5 minutes'
	scontrol update ReservationName=onespine-n1 Flags-=MAINT
	left_alone 'not for maintenance'
	come_back '-5 minutes'
	scontrol update ReservationName=onespine-n1 EndTime=now+2hours
	left_alone 'with an end'
	scontrol create reservation ReservationName=onespine-n1x "StartTime=$(date -d '-5 minutes' +%Y-%m-%dT%H:%M:%S)" \
		Duration=infinite Nodes=n1 Users=root Flags=MAINT,IGNORE_JOBS
	left_alone 'of another name' onespine-n1x
	come_back '-5 minutes'
	job=$(sbatch --parsable --chdir=/ --output=/dev/null --reservation=onespine-n1 -w n1 --wrap 'sleep 600')
	await 30 job_is "$job" RUNNING
	recheck_all
	holds "$(scontrol -o show reservation)" 'ReservationName=onespine-n1 '
	scancel "$job"
	await 30 no_jobs_left
	left_alone 'in which a job has just ended'
}

@test "a leftover whose file cannot be opened: the recheck says so, and leaves it as it is" {
	local state=$ONESPINE_PREFIX/var/lib/onespine
	begin_recheck "$OUT/slow"
	await 30 test -e "$OUT/begun"
	kill_recheck
	await 30 no_jobs_left
	run unshare --mount --propagation private bash -ec 'mount --bind "$0" "$0"; mount -o remount,bind,ro "$0"; "$@"' \
		"$state" "$ONESPINE_PREFIX/bin/onespine" recheck --program="$OUT/check" --depth=passive
	holds "$output" 'n1: another recheck left it, and its file cannot be opened: Read-only file system; it stays as it is'
	holds "$(scontrol -o show reservation onespine-n1)" 'Nodes=n1'
	holds "$(cat "$LEFT/n1")" "$ECC_REASON"
	taken_over 'its file could not be opened'
}

# unit_says KEY: its value in the unit, as it is installed
unit_says() {
	sed -n "s/^$1=//p" "$ONESPINE_PREFIX/lib/systemd/system/onespine-recheck.service"
}

# calls_of SET: the system calls in that set of systemd's, and in the sets in it
calls_of() {
	local line
	while read -r line; do
		case $line in
		"$1" | '#'* | '') ;;
		@*) calls_of "$line" ;;
		*) echo "$line" ;;
		esac
	done < <(systemd-analyze syscall-filter "$1")
}

# in_unit PROGRAM [ARGUMENT]...: with the capabilities and system calls of its unit, and what it may write. A call that
# the unit lets fail ends it (as_unit.c).
in_unit() {
	# shellcheck disable=SC2016
	unshare --mount --propagation private bash -euc '
		state=$1 bounding=$2 families=$3
		shift 3
		mount --bind "$state" "$state"
		while read -r at; do
			case $at in
			"$state" | /proc | /proc/* | /sys | /sys/* | /dev) ;;
			*) mount -o remount,bind,ro "$at" ;;
			esac
		done < <(findmnt -rn -o TARGET)
		umask 0022
		exec setpriv --bounding-set="$bounding" --inh-caps=-all "$OUT/as_unit" "$families" "$@"' \
		bash "$(unit_says ReadWritePaths | sed 's/^-//')" \
		"-all,+$(unit_says CapabilityBoundingSet | tr '[:upper:]' '[:lower:]' | sed 's/cap_//g; s/ /,+/g')" \
		"$(unit_says RestrictAddressFamilies)" "$@"
}

@test "with what its unit leaves it: takes a leftover over, gives a good node back, keeps a bad one out" {
	local calls before
	before=$(returns)
	[[ $(uname -m) == x86_64 ]] || skip 'as_unit.c knows the calls of x86_64'
	calls=$(calls_of "$(unit_says SystemCallFilter)") || skip 'no systemd-analyze here'
	sort -u <<<"$calls" | sed 's/.*/#ifdef SYS_&\nALLOW(&)\n#endif/' >"$OUT/calls.h"
	cc -O1 -Wall -Wextra -Werror -DCALLS="\"$OUT/calls.h\"" -o "$OUT/as_unit" "$BATS_TEST_DIRNAME/as_unit.c"
	# It would be seen: a file elsewhere, a capability, a mount, a namespace.
	run in_unit /usr/bin/touch "$ONESPINE_PREFIX/forbidden"
	holds "$output" 'Read-only file system'
	run in_unit /bin/chown 65534 "$(unit_says ReadWritePaths | sed 's/^-//')"
	holds "$output" 'Operation not permitted'
	run in_unit /bin/mount -t tmpfs none /mnt
	equal "$status" 159
	run in_unit /usr/bin/unshare --mount true
	equal "$status" 159
	begin_recheck "$OUT/slow"
	await 30 test -e "$OUT/begun"
	kill_recheck
	await 30 no_jobs_left
	[[ -s $LEFT/n1 ]]
	run in_unit "$ONESPINE_PREFIX/bin/onespine" recheck --program="$OUT/check" --depth=passive
	equal "${lines[-1]}" 'n1: returned: PASS'
	equal "$status" 0
	none_reserved
	[[ ! -e $LEFT/n1 ]]
	equal "$(returns)" "$((before + 1))"
	await 30 no_jobs_left
	scontrol update NodeName=n1 State=DRAIN "Reason=$ECC_REASON"
	run in_unit "$ONESPINE_PREFIX/bin/onespine" recheck --program="$OUT/breaks" --depth=passive n1
	equal "${lines[-1]}" "n1: stays drained: $ECC_REASON"
	equal "$status" 1
	drained n1 "$ECC_REASON"
	none_reserved
}
