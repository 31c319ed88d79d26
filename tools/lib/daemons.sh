# SPDX-License-Identifier: GPL-2.0-or-later
# daemons.sh - starts, finds and ends the processes of one cluster
#
# Uses the variables of tools/cluster (dir, root, names, wired, valgrind). A process is the cluster's own
# when it is one of Slurm's or munge's programs and holds a file under $dir open: daemons rename
# themselves and start anew by themselves, so neither their number nor their words would do.
# shellcheck shell=bash disable=SC2154

DAEMON_PROGRAMS='^(slurmctld|slurmd|slurmstepd|munged|memcheck-.*)(-wlm)?( \(deleted\))?$'

# inside COMMAND...: runs it where the cluster's daemons run (24.11: in its root)
inside() {
	if [[ -z $root ]]; then
		"$@"
	else
		nsenter --mount --root --wdns=/ --target "$(<"$dir/run/holder.pid")" -- "$@"
	fi
}

# launch NAME COMMAND...: in the background, in a session of its own, holding nothing of ours
launch() {
	local name=$1 fd
	shift
	(
		cd "$dir" || exit
		ulimit -c unlimited 2>/dev/null || true
		for fd in /proc/self/fd/*; do
			fd=${fd##*/}
			((fd <= 2)) || eval "exec $fd>&-"
		done 2>/dev/null
		unset SLURM_CONF
		[[ $auth != slurm ]] || export SLURM_SACK_KEY="$dir/slurm.key"
		[[ -z $root ]] || set -- nsenter --mount --root --wdns="$dir" \
			--target "$(<"$dir/run/holder.pid")" -- "$@"
		! is_wired "${name#slurmd.}" ||
			set -- nsenter "--net=/run/netns/$(wire_name "$(node_port "${name#slurmd.}")")" "$@"
		# shellcheck disable=SC2016
		[[ $name != slurmctld ]] ||
			set -- bash -c '"$@"; echo "onespine-cluster: slurmctld ended with status $?"' "$0" "$@"
		exec setsid "$@" </dev/null >>"$dir/log/$name.out" 2>&1
	) &
	disown $!
}

start_munged() {
	mkdir -p "$dir/munge"
	[[ -e $dir/munge/key ]] || (umask 077 && head -c 128 /dev/urandom >"$dir/munge/key")
	launch munged munged --foreground --force --num-threads=4 --key-file="$dir/munge/key" \
		--socket="$dir/munge/socket" --pid-file="$dir/munge/pid" \
		--log-file="$dir/munge/munged.log" --seed-file="$dir/munge/seed"
	await 10 test -S "$dir/munge/socket" || die "munged does not start: $(tail -5 "$dir/log/munged.out")"
}

# start_proof: what Slurm's messages are proven by
start_proof() {
	if [[ $auth == munge ]]; then
		start_munged
	else
		(umask 077 && head -c 128 /dev/urandom >"$dir/slurm.key")
	fi
}

stop_munged() {
	local -a pids
	mapfile -t pids < <(our_processes '^munged')
	note_births "${pids[@]}"
	end_processes 10 "${pids[@]}"
}

start_slurmctld() {
	local -a command=(slurmctld -D -f "$dir/slurm.conf")
	if ((valgrind)); then
		command=(valgrind "--log-file=$dir/valgrind.log" --leak-check=full
			--show-leak-kinds=definite --errors-for-leak-kinds=definite --num-callers=30 --fair-sched=try
			--keep-debuginfo=yes --fullpath-after= "$(inside sh -c 'command -v slurmctld')" "${command[@]:1}")
	fi
	[[ ! -e $dir/run/slurmctld.pid ]] || rm "$dir/run/slurmctld.pid"
	: >"$dir/log/slurmctld.out"
	: >"$dir/run/slurmctld.expected"
	launch slurmctld "${command[@]}"
}

# start_slurmd NAME; a cloud node counts as powered up only when it was booted after the request; DIR/run/NAME.booted
# has another boot too
start_slurmd() {
	[[ ! -e $dir/run/slurmd.$1.pid ]] || rm "$dir/run/slurmd.$1.pid"
	: >"$dir/run/slurmd.$1.expected"
	local -a booted=()
	if ((cloud)) || [[ -e $dir/run/$1.booted ]]; then
		booted=(-b)
	fi
	launch "slurmd.$1" slurmd -D -f "$dir/slurm.conf" -N "$1" ${booted[@]+"${booted[@]}"}
}

# await_slurmds NAME...: until each has written its pid file; whether slurmctld hears of it is another matter
await_slurmds() {
	local name
	for name; do
		await 30 daemon_pid "slurmd.$name" >/dev/null ||
			die "slurmd.$name does not start: $(tail -n 5 "$dir/log/slurmd.$name.out")"
	done
}

# daemon_pid NAME: the process number in its pid file, when that process is ours
daemon_pid() {
	local pid=''
	known_pid "$1" || { [[ -n $pid && $'\n'$(our_processes)$'\n' == *$'\n'"$pid"$'\n'* ]]; } || return 1
	printf '%s\n' "$pid"
}

# known_pid NAME: sets pid to the number in its pid file; fails unless that process has our file for what it prints. It
# starts no process, and looks at no other cluster's.
known_pid() {
	local file=$dir/run/$1.pid
	[[ $1 != munged ]] || file=$dir/munge/pid
	pid=
	{ read -r pid <"$file"; } 2>/dev/null || true
	[[ $pid =~ ^[0-9]+$ ]] || pid=
	[[ -n $pid && /proc/$pid/fd/1 -ef $dir/log/$1.out ]]
}

# our_processes [PROGRAM-PATTERN]: the numbers of the cluster's daemons, one a line, with whatever pid files they have; two
# commands for all of /proc
our_processes() {
	local -a files
	mapfile -t files < <(find /proc/[0-9]*/exe -maxdepth 0 -printf '%h %l\n' 2>/dev/null |
		awk -v ours="$DAEMON_PROGRAMS" -v wanted="${1:-.}" '{
			folder = $1
			sub(/^[^ ]* (.*\/)?/, "")
			if ($0 ~ ours && $0 ~ wanted) print folder "/fd" }')
	((${#files[@]})) || return 0
	# its exit status reports nothing: a file may be closed while find looks
	find "${files[@]}" -lname "*$dir/*" -printf '%h\n' 2>/dev/null | cut -d/ -f3 | sort -u || true
}

# processes_left: the cluster's daemons, what runs below them, and what has this slurm.conf in a job: below a slurmstepd that
# has ended too
processes_left() {
	local -A wanted=()
	local -a ours
	local pid environment
	mapfile -t ours < <(our_processes)
	while read -r pid; do
		wanted[$pid]=1
	done < <(below "${ours[@]}")
	while IFS= read -r environment; do
		if grep -qsz '^SLURM_JOB_ID=' "$environment"; then
			pid=${environment#/proc/}
			wanted[${pid%/environ}]=1
		fi
	done < <(grep -lsz "^SLURM_CONF=$dir/slurm.conf\$" /proc/[0-9]*/environ)
	unset "wanted[$$]"
	((!${#wanted[@]})) || printf '%s\n' "${!wanted[@]}"
}

# below PID...: these, their children, their children, ..., one a line
below() {
	(($#)) || return 0
	ps -eo pid=,ppid= | awk -v tops="$*" '
		BEGIN { for (count = split(tops, top); count; count--) wanted[top[count]] }
		{ parent[$1] = $2 }
		END {
			do {
				again = 0
				for (pid in parent)
					if (!(pid in wanted) && parent[pid] in wanted) {
						wanted[pid]
						again = 1
					}
			} while (again)
			for (pid in wanted)
				print pid
		}'
}

# note_births PID...: when these began, which are ours at this moment. A number is given to another process soon after its own
# has ended: where many clusters run, 32,768 of them last for a minute.
declare -A born=()
note_births() {
	local pid stat
	local -a fields
	born=()
	for pid; do
		{ IFS= read -r stat <"/proc/$pid/stat"; } 2>/dev/null || continue
		read -ra fields <<<"${stat##*) }"
		born[$pid]=${fields[19]}
	done
}

# is_same PID: it runs, and is what had this number at note_births, where that was called for it
is_same() {
	local stat
	local -a fields
	{ IFS= read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
	read -ra fields <<<"${stat##*) }"
	[[ ${fields[0]} != Z ]] || return 1
	((!${#born[@]})) || [[ ${born[$1]-} == "${fields[19]}" ]]
}

# signal NAME PID...: numbers that are gone meanwhile are no error
signal() {
	local name=$1 pid
	shift
	for pid; do
		! is_same "$pid" || kill "-$name" "$pid" 2>/dev/null || true
	done
}

none_of() {
	local pid
	for pid; do
		! is_same "$pid" || return 1
	done
}

# end_processes SECONDS PID...: TERM, and KILL when that takes too long
end_processes() {
	local limit_s=$1
	shift
	(($#)) || return 0
	signal TERM "$@"
	await "$limit_s" none_of "$@" && return 0
	say "killed what did not end within $limit_s s: $(ps -o args= -p "$*" 2>/dev/null | paste -sd';')"
	signal KILL "$@"
	await 10 none_of "$@"
}

# find_daemons PATTERN NAME...: sets pids to the numbers of these daemons that run: by their pid files, or where one that was
# started has none, of all that are of this program
find_daemons() {
	local pattern=$1 name pid
	shift
	pids=()
	for name; do
		if known_pid "$name"; then
			pids+=("$pid")
		elif [[ -e $dir/run/$name.expected ]]; then
			mapfile -t pids < <(our_processes "$pattern")
			break
		fi
	done
	note_births "${pids[@]}"
}

# stop_daemons: the controller, the nodes, and what they left. A slurmd of 25.11 was seen that did not end when its
# controller had, and of which five threads woke each other without a pause meanwhile: it is killed after 4 s, and
# end_processes says so.
stop_daemons() {
	local -a pids
	find_daemons '^(slurmctld|memcheck)' slurmctld
	end_processes "$((valgrind ? 180 : 30))" "${pids[@]}"
	find_daemons '^slurmd' "${names[@]/#/slurmd.}"
	end_processes "$((valgrind ? 20 : 4))" "${pids[@]}"
	find_daemons '^munged' munged
	signal KILL "${pids[@]}"
	await 10 none_of "${pids[@]}" || true
	local _
	for _ in first 'begun meanwhile'; do
		mapfile -t pids < <(processes_left)
		((${#pids[@]})) || break
		note_births "${pids[@]}"
		signal KILL "${pids[@]}"
		await 10 none_of "${pids[@]}" || say "still running: ${pids[*]}"
	done
	born=()
	stop_holders
}

# missing_daemons: a line for each daemon that was started, not stopped, and is gone
missing_daemons() {
	local file name pid
	for file in "$dir"/run/*.expected; do
		[[ -e $file ]] || continue
		name=${file##*/}
		name=${name%.expected}
		# asked again where it is missing: slurmctld may have started anew by itself meanwhile
		known_pid "$name" || daemon_pid "$name" >/dev/null ||
			printf '%s is not running%s\n' "$name" \
				"$(sed -n 's/^onespine-cluster: slurmctld\( ended.*\)/,\1/p' "$dir/log/$name.out" | tail -n 1)"
	done
}

# stop_daemon NAME SIGNAL: ends one daemon on purpose
stop_daemon() {
	local pid
	pid=$(daemon_pid "$1") || die "$1 is not running"
	rm -f "$dir/run/$1.expected"
	signal "$2" "$pid"
	await "$( ((valgrind)) && echo 180 || echo 30)" none_of "$pid" || die "$1 does not end"
}
