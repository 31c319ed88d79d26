# SPDX-License-Identifier: GPL-2.0-or-later
# common.sh - what every script in tools/ uses: messages, waiting, and where things are kept
# shellcheck shell=bash

ONESPINE_SOURCE=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd -P)
# Where root's home is closed to others, what they must load (plugins, the command) is elsewhere.
ONESPINE_SHARED=${ONESPINE_CACHE:-/var/cache/onespine}
ONESPINE_CACHE=${ONESPINE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/onespine}
((EUID == 0)) || ONESPINE_SHARED=$ONESPINE_CACHE

# A shell in which `tools/cluster env` was evaluated has that cluster's commands first: not for us.
without_cluster_commands() {
	local folder path=
	local -a folders
	IFS=: read -ra folders <<<"$PATH"
	for folder in "${folders[@]}"; do
		[[ -e $folder/../cluster.record ]] || path+=${path:+:}$folder
	done
	PATH=$path:/usr/sbin:/sbin
}
without_cluster_commands

say() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
}

die() {
	say "$*"
	exit 1
}

need_root() {
	((EUID == 0)) || die "must run as root: Slurm's daemons start and account for jobs of any user"
}

# need COMMAND...: each must be there
need() {
	local command
	for command; do
		command -v "$command" >/dev/null || die "$command is not installed"
	done
}

# await SECONDS COMMAND...: runs the command until it succeeds; fails when the time is over. It pauses for a fifth of what has
# passed, from 0.1 s to 0.5 s.
await() {
	local start=${EPOCHREALTIME/[.,]/} limit_us=$(($1 * 1000000)) passed_us
	shift
	until "$@"; do
		passed_us=$((${EPOCHREALTIME/[.,]/} - start))
		((passed_us < limit_us)) || return 1
		pause $((passed_us < 500000 ? 100 : passed_us < 2500000 ? passed_us / 5000 : 500))
	done
}

# pause MILLISECONDS: without a process, on a pipe that nobody writes into
pause() {
	local seconds
	[[ -n ${QUIET_PIPE:-} ]] || exec {QUIET_PIPE}<> <(:)
	printf -v seconds '%d.%03d' $(($1 / 1000)) $(($1 % 1000))
	read -rt "$seconds" -u "$QUIET_PIPE" || true
}

# descendants PID: its children, their children, ..., one a line
descendants() {
	ps -eo pid=,ppid= | awk -v top="$1" '
		{ parent[$1] = $2 }
		END {
			for (pid in parent) {
				for (up = parent[pid]; up in parent && up != top; up = parent[up])
					;
				if (up == top)
					print pid
			}
		}'
}

# The name of this source tree's folders, so that several checkouts do not mix.
tree_name() {
	local sum
	sum=$(cksum <<<"$ONESPINE_SOURCE")
	printf '%s-%s\n' "${ONESPINE_SOURCE##*/}" "${sum%% *}"
}

work_folder() {
	printf '%s/work/%s\n' "$ONESPINE_CACHE" "$(tree_name)"
}

# prefix_folder RELEASE: where tools/ install what they build for that Slurm; any user can read it
prefix_folder() {
	printf '%s/%s/prefix-%s\n' "$ONESPINE_SHARED" "$(tree_name)" "$1"
}

# The installed Slurm as release (22.05) or nothing.
installed_release() {
	local words
	words=$(slurmd -V 2>/dev/null) || return 0
	words=${words##* }
	printf '%s\n' "${words%.*}"
}
