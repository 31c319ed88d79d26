# SPDX-License-Identifier: GPL-2.0-or-later
# helpers.bash - for tests of the command on files; load it first: load helpers
#
# ONESPINE is the program (make check sets it). No Slurm is asked, times are UTC.
# shellcheck shell=bash

SOURCE=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd -P)
export SOURCE EC2=$SOURCE/etc/examples MAP=$SOURCE/tests/data/map FILES=$SOURCE/tests/data
export SLURM_CONF='' TZ=UTC LC_ALL=C.UTF-8
unset NO_COLOR

onespine() {
	"${ONESPINE:?the program to test}" "$@"
}

# expect STATUS TEXT COMMAND...: runs it; status and the whole output (both streams) must be so
expect() {
	local wanted=$1 text=$2 got output
	shift 2
	got=0
	output=$("$@" 2>&1) || got=$?
	if [[ $got != "$wanted" || $output != "$text" ]]; then
		printf 'ran: %s\nstatus %s, expected %s\n' "$*" "$got" "$wanted"
		diff <(printf '%s\n' "$text") <(printf '%s\n' "$output") | head -40
		return 1
	fi
}

# expect_line STATUS LINE COMMAND...: one line of the output must be so
expect_line() {
	local wanted=$1 line=$2 got output
	shift 2
	got=0
	output=$("$@" 2>&1) || got=$?
	if [[ $got != "$wanted" ]] || ! grep -qxF -e "$line" <<<"$output"; then
		printf 'ran: %s\nstatus %s, expected %s and the line\n%s\ngot\n%s\n' "$*" "$got" "$wanted" \
			"$line" "$output"
		return 1
	fi
}

# A pipe that nobody writes into: await_while pauses without a process
exec {QUIET_PIPE}<> <(:)

# await_while PID COMMAND...: until the command succeeds; fails once that process has ended
await_while() {
	local pid=$1
	shift
	until "$@"; do
		kill -0 "$pid" || return 1
		read -rt 0.05 -u "$QUIET_PIPE" || true
	done
}

# watch_ends: the watch whose number is $watch_pid, as it has to at a SIGTERM
watch_ends() {
	kill "$watch_pid"
	wait "$watch_pid"
	watch_pid=
}

# end_watch: what a failed test leaves of it, for teardown
end_watch() {
	[[ -z ${watch_pid-} ]] || { kill "$watch_pid" || true; wait "$watch_pid" || true; } 2>/dev/null
}

# line_count COUNT GREP-ARGUMENT...: grep counts as many lines, of no file too
line_count() {
	(($(grep -c "${@:2}" 2>/dev/null) == $1))
}

# two spines of two leaves of four nodes, as topology.conf
write_conf() {
	cat >"$1" <<-END
		SwitchName=l1 Nodes=n[1-4]
		SwitchName=l2 Nodes=n[5-8]
		SwitchName=l3 Nodes=n[9-12]
		SwitchName=l4 Nodes=n[13-16]
		SwitchName=s1 Switches=l[1-2]
		SwitchName=s2 Switches=l[3-4]
	END
}

# shellcheck source=tests/trace.bash
. "${BASH_SOURCE[0]%/*}/../trace.bash"
