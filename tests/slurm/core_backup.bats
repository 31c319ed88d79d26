#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_backup.bats - a backup slurmctld, each host with its watch: only that of the slurmctld in control writes
#
# Tests build on each other. Each watch reads a file of its own, so what is written says who wrote it.

load helpers
load backup_helpers
bats_require_minimum_version 1.5.0

# A slurmctld that ends reports its backup, and waits for one that is gone.
teardown_file() {
	local status=0
	end_file || status=1
	stop_others
	return $status
}

setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 1 3
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --conf SlurmctldTimeout=10 \
		--conf CommunicationParameters=NoCtldInAddrAny
	add_backup_line
	printf '%s\n' 'topology: state/onespine.topology' 'watch: {max_moved: 100}' >"$ONESPINE_CLUSTER/onespine.yaml"
	mv "$ONESPINE_CLUSTER/onespine.topology" "$ONESPINE_CLUSTER/state/"
	fabric first
	fabric second
	restart
	scontrol reconfigure # every slurmd learns of the backup
	start_backup
	await 20 pings 'backup.* is UP'
	chmod 755 "$BATS_FILE_TMPDIR"
}

# fabric NAME [LEAF]: what the watch of that name reads; n[1-3] and n[4-6] stand under spines that tell whose it is
fabric() {
	cat >"$ONESPINE_CLUSTER/$1.conf.new" <<-END
		SwitchName=$1-left Switches=$1-${2:-l1}
		SwitchName=$1-right Switches=$1-l2
		SwitchName=$1-${2:-l1} Nodes=n[1-3]
		SwitchName=$1-l2 Nodes=n[4-6]
	END
	mv "$ONESPINE_CLUSTER/$1.conf.new" "$ONESPINE_CLUSTER/$1.conf"
}

# watch_begins NAME HOST: the watch on a controller's host
watch_begins() {
	# shellcheck disable=SC2016
	started "$1" unshare --uts sh -c 'hostname "$1" && shift && exec "$@"' sh "$2" \
		"${ONESPINE_PREFIX:?}/bin/onespine" topology watch --from="topograph:$ONESPINE_CLUSTER/$1.conf" --interval=1
}

says() {
	grep -qE -- "$2" "$BATS_FILE_TMPDIR/$1.log"
}

# last_says NAME PATTERN: its last line
last_says() {
	tail -n 1 "$BATS_FILE_TMPDIR/$1.log" | grep -qE -- "$2"
}

file_holds() {
	grep -q -- "$1" "$ONESPINE_CLUSTER/state/onespine.topology"
}

# in_force WORD: slurmctld has taken such a topology, and kept a copy of it
in_force() {
	grep -q -- "$1" "$ONESPINE_CLUSTER/state/onespine_topology"
}

placed_under() {
	local job
	job=$(submit --gang -N2 --exclusive)
	await_job "$job" RUNNING
	await 10 shows "domain=$1" job_field "$job" AdminComment
	scancel "$job"
	await 20 job_is "$job" CANCELLED
}

@test "only the watch of the slurmctld in control asks and writes; the other says whom it stands by for" {
	watch_begins second onespine-backup
	await 20 last_says second "^stands by: slurmctld runs on $(hostname -s)\$"
	watch_begins first "$(hostname -s)"
	await 20 says first '^applied'
	await 10 in_force first-l1
	placed_under first-
	fabric first l3
	await 20 file_holds first-l3
	[[ $(<"$BATS_FILE_TMPDIR/second.log") == "stands by: slurmctld runs on $(hostname -s)" ]]
	run ! file_holds second-
}

@test "after a takeover the backup's slurmctld goes by the places in StateSaveLocation, and its watch asks at once" {
	await_saved "$(submit -w n1)"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER" -9
	scontrol takeover 1
	await 30 last_says second '^applied'
	await 20 in_force second-l1
	placed_under second-
	fabric first l4
	await 20 last_says first '^nobody is asked: the slurmctld of this host does not answer'
	fabric second l5
	await 20 file_holds second-l5
	run ! file_holds first-
}

@test "the primary takes control back: its watch asks again, and the backup's stands by" {
	# there the backup sends the signal to end to a thread that does not read it (doc/slurm-versions.md)
	[[ $(scontrol --version) != *' 24.05.8' ]] || skip 'a backup of Slurm 24.05.8 does not give control back'
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	await 30 last_says second "^stands by: slurmctld runs on $(hostname -s)\$"
	await 30 in_force first-l4
	placed_under first-
	fabric second l6
	fabric first l5
	await 20 file_holds first-l5
	run ! file_holds second-
	ended first
	ended second
}
