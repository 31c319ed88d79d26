# SPDX-License-Identifier: GPL-2.0-or-later
# backup_helpers.bash - a second slurmctld beside a cluster's, and what else a test starts there
#
# The cluster needs --conf SlurmctldTimeout=10 --conf CommunicationParameters=NoCtldInAddrAny, and a restart of
# slurmctld after add_backup_line. teardown_file must call stop_others.
# shellcheck shell=bash

# add_backup_line: a second slurmctld, whose host is a name of its own on this machine
add_backup_line() {
	sed -i '/^SlurmctldHost=/a SlurmctldHost=onespine-backup(127.0.0.2)' "$ONESPINE_CLUSTER/slurm.conf"
}

# start_backup: another slurmctld with a host name and a pid file of its own
start_backup() {
	printf '127.0.0.1 localhost %s\n127.0.0.2 onespine-backup\n' "$(hostname -s)" \
		>"$BATS_FILE_TMPDIR/hosts"
	mkdir -p "$BATS_FILE_TMPDIR/run"
	# shellcheck disable=SC2016
	started backup unshare --uts --mount --propagation unchanged sh -c '
		mount --make-rprivate / 2>/dev/null; hostname onespine-backup &&
		mount --bind "$1/hosts" /etc/hosts && mount --bind "$1/run" "$2/run" &&
		exec slurmctld -D -f "$2/slurm.conf"' sh "$BATS_FILE_TMPDIR" "$ONESPINE_CLUSTER"
}

# started NAME COMMAND...: runs it where the cluster runs, until ended NAME; what it prints is in NAME.log
started() {
	local name=$1
	shift
	# shellcheck disable=SC2016
	on_cluster sh -c 'echo $$ >"$0" && exec "$@"' "$BATS_FILE_TMPDIR/$name.started" "$@" \
		>"$BATS_FILE_TMPDIR/$name.log" 2>&1 3>&- &
	await 10 test -s "$BATS_FILE_TMPDIR/$name.started"
}

# ended NAME [SIGNAL]: ends it, and waits until it is gone
ended() {
	local file=$BATS_FILE_TMPDIR/$1.started
	kill "-${2:-TERM}" "$(<"$file")"
	await 30 test ! -d "/proc/$(<"$file")"
	rm "$file"
}

# stop_others: what this file started beside the cluster
stop_others() {
	local file
	for file in "$BATS_FILE_TMPDIR"/*.started; do
		[[ ! -s $file ]] || kill "$(<"$file")" 2>/dev/null || true
	done
}

pings() {
	scontrol ping 2>&1 | grep -qE "$1"
}

untraced_so_far
