#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# onespine check: a site's own checks, checks.d/NN-name

# shellcheck disable=SC2016 # what the programs are to expand

load helpers

setup_file() {
	((EUID == 0)) || skip "a site's own checks are root's"
	export FAKES=${FAKES:-${ONESPINE%/*}/tests/fake/.libs}
	# shellcheck source=../fake/lib.bash
	. "$SOURCE/tests/fake/lib.bash"
	fake_prepare "$BATS_FILE_TMPDIR/fake"
	export FAKE SITE
	SITE=$(make -s -C "${ONESPINE%/*}" --no-print-directory --eval='site-folder:;@echo $(samplesdir)' site-folder)
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	# shellcheck source=../fake/lib.bash
	. "$SOURCE/tests/fake/lib.bash"
	FAKE=$BATS_FILE_TMPDIR/fake
	unset ONESPINE_FAKE_NVML ONESPINE_FAKE_CUDA ONESPINE_FAKE_SYSTEM
	NODE=$BATS_TEST_TMPDIR/node # its own: what is kept of one test is not another's
	cp -a "$FAKE/node" "$NODE"
	OWN=$NODE$SITE/checks.d
	(umask 022 && mkdir -p "$OWN")
}

teardown() {
	rm -f frk* again # what forks on and on until its file is gone
}

check() {
	fake_check "$NODE" "$@"
}

# own NAME SHELL-LINES: a program of the site's
own() {
	printf '#!/bin/bash\n%s\n' "$2" >"$OWN/$1"
	chmod 755 "$OWN/$1"
}

# found NAME [OPTION]...: its verdict and what it tells, of a run of this check alone
found() {
	local name=$1
	shift
	check --json --only "$name" "$@" | jq -r '.checks[] | "\(.verdict) \(.results[0] | [.value, .why, .do] | map(select(. != "")) | join(" | "))"'
}

# is NAME TEXT [OPTION]...: what it found
is() {
	local got
	got=$(found "$1" "${@:3}")
	[[ $got == "$2" ]] || {
		printf '%s: %s\nexpected: %s\n' "$1" "$got" "$2"
		return 1
	}
}

@test "exit 0 PASS, 1 FAIL, 2 WARN, 77 SKIP, any other and signals ERROR; the first line says why" {
	own 10-well 'echo all is well; echo more'
	own 20-ill 'echo >&2 "/fsx is not mounted"; echo more; exit 1'
	own 30-so-so 'echo nearly full; exit 2'
	own 40-none 'echo no such hardware; exit 77'
	own 50-odd 'echo no idea; exit 3'
	own 60-killed 'echo about to; kill -KILL $$'
	own 70-mute 'exit 1'
	own 80-no-shell ''
	sed -i '1s,.*,#!/none/such,' "$OWN/80-no-shell"
	is 10-well "PASS all is well"
	is 20-ill "FAIL says /fsx is not mounted | /fsx is not mounted | ask"
	is 30-so-so "WARN says nearly full | nearly full | ask"
	is 40-none "SKIP no such hardware"
	is 50-odd "ERROR exit 3: no idea"
	is 60-killed "ERROR ended by signal 9: about to"
	is 70-mute "FAIL exit 1 | it says nothing | ask"
	is 80-no-shell "ERROR exit 126: it cannot be run: No such file or directory"
	run check --only 20-ill,10-well
	[[ $status == 1 && ${lines[-1]} == "onespine: 20-ill says /fsx is not mounted; ask" ]]
	rm "$OWN"/[5-8]*
	run check
	[[ $status == 1 && $output == *"39 checks"* && ${lines[-1]} == "onespine: 20-ill says "* ]]
}

@test "the first line: 200 bytes, cleaned, of a program that never stops writing too" {
	own 10-long 'printf "%0300d\nsecond\n" 7; exit 1'
	[[ $(check --json --only 10-long | jq -r '.checks[0].results[0].why') == "$(printf '%0200d' 0)" ]]
	own 20-dirty 'printf "\n\r\na\033[31mb\tc\xff\0d\r\nrest"; exit 1'
	is 20-dirty 'FAIL says a?[31mb?c??d | a?[31mb?c??d | ask'
	own 30-flood 'yes "too much" & sleep 0.2; exit 2'
	is 30-flood 'WARN says too much | too much | ask'
	own 40-no-end 'printf "no line feed"; exit 1'
	is 40-no-end 'FAIL says no line feed | no line feed | ask'
}

@test "it sees PATH, SLURM_JOB_ID and CUDA_VISIBLE_DEVICES, and nothing else of the environment" {
	own 10-sees 'tr "\0" "\n" </proc/$$/environ | sort >'"$PWD"'/seen; pwd >>'"$PWD"'/seen; ls /proc/$$/fd >'"$PWD"'/files; paste -sd " " '"$PWD"'/files >>'"$PWD/seen"
	export SLURM_JOB_ID=4711 OF_USER=x BASH_ENV=/none CUDA_VISIBLE_DEVICES=user
	is 10-sees "PASS exit 0"
	[[ $(<seen) == "PATH=/usr/sbin:/usr/bin:/sbin:/bin
SLURM_JOB_ID=4711
/
0 1 2 255" ]]
	export SLURM_JOB_ID='4711;x'
	is 10-sees "PASS exit 0" --gpus=0-2,5
	[[ $(<seen) == "CUDA_VISIBLE_DEVICES=0,1,2,5
PATH=/usr/sbin:/usr/bin:/sbin:/bin
/
0 1 2 255" ]]
}

# all_gone: of the processes in pids none is left; whom nobody has asked for its status is a zombie
all_gone() {
	local pid state
	[[ -s pids ]]
	for pid in $(<pids); do
		state=$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null | cut -c1)
		[[ ${state:-Z} == Z ]] || {
			echo "process $pid is left, state $state"
			return 1
		}
	done
}

@test "past its time it is ERROR, and no process of it is left; the budget ends it too" {
	own 10-hangs 'echo begun; echo $$ >'"$PWD"'/pids; sleep 600 & echo $! >>'"$PWD"'/pids; wait'
	ONESPINE_TEST_DEADLINE_MS=300 is 10-hangs "ERROR no end within 300 ms: begun"
	all_gone
	echo 'limits: {site_check_s: 1}' >t.yaml
	is 10-hangs "ERROR no end within 1000 ms: begun" --thresholds t.yaml
	run check --only 10-hangs --budget 1
	[[ $status == 2 && $output == *"no end within "*" ms: begun"* ]]
	all_gone
	own 20-leaves 'sleep 600 & echo $! >'"$PWD"'/pids; echo well'
	is 20-leaves "PASS well"
	all_gone
}

@test "what it leaves in a session of its own is killed too: daemons, and daemons of daemons" {
	local leave='setsid sleep 600 & echo $! >'"$PWD"'/pids
		(setsid bash -c "echo \$\$ >>'"$PWD"'/pids; trap \"\" TERM HUP; setsid sleep 600 & echo \$! >>'"$PWD"'/pids; wait" &)
		until (($(wc -l <'"$PWD"'/pids) == 3)); do sleep 0.05; done'
	own 10-leaves "$leave; echo well"
	is 10-leaves "PASS well"
	[[ $(wc -l <pids) == 3 ]]
	all_gone
	rm pids
	own 20-hangs "$leave; echo begun; sleep 600"
	ONESPINE_TEST_DEADLINE_MS=1000 is 20-hangs "ERROR no end within 1000 ms: begun"
	[[ $(wc -l <pids) == 3 ]]
	all_gone
}

# forker FILE: a program that forks as fast as it can, each child in a session of its own, its parent gone at once; two at
# a time; until FILE is removed, or 8,000 times each: where it outran its killer, the dead must not fill this machine
forker() {
	cat >"$1.c" <<-END
		#include <unistd.h>
		int main(void)
		{
			fork();
			for (int times = 0; times < 8000 && access("$PWD/$1", F_OK) == 0; times++) {
				if (fork())
					_exit(0);
				setsid();
			}
			return 0;
		}
	END
	"${CC:-cc}" -O1 -Wall -Werror -Wno-unused-result -o "$1" "$1.c"
}

# none_runs NAME: for a while no process is called that
none_runs() {
	local i
	for ((i = 0; i < 20; i++)); do
		! pgrep -x "$1" >/dev/null || return 1
		sleep 0.05
	done
}

# groups: a control group of version 2 can be made here
groups() {
	local own
	own=$(sed -n 's/^0:://p' /proc/self/cgroup)
	for own in "/sys/fs/cgroup$own" "/sys/fs/cgroup/unified$own"; do
		[[ $own && -w $own/cgroup.procs && $(stat -f -c %t "$own") == 63677270 ]] || continue
		mkdir "$own/onespine-look-$$" 2>/dev/null || continue
		[[ -w $own/onespine-look-$$/cgroup.freeze ]] && rmdir "$own/onespine-look-$$" && echo "$own" && return
		rmdir "$own/onespine-look-$$"
	done
	return 1
}

@test "one that forks on and on, as fast as it can: none of it is left, nor its group" {
	local name=frk$$ folder way
	folder=$(groups) || skip 'no control groups of version 2 that can be made here'
	forker "$name"
	own 10-forks "sed -n s/^0:://p /proc/self/cgroup >$PWD/group; setsid $PWD/$name & sleep 0.2; echo well"
	for way in all freeze; do
		ONESPINE_TEST_SITE_GROUP=$way is 10-forks "PASS well"
		[[ $(<group) == */onespine-check-* && ! -e $folder/$(basename "$(<group)") ]]
		none_runs "$name"
	done
	own 20-hangs "setsid $PWD/$name & echo begun; sleep 600"
	ONESPINE_TEST_DEADLINE_MS=500 is 20-hangs "ERROR no end within 500 ms: begun"
	none_runs "$name"
}

@test "groups that it makes below its own are gone with it, and whoever is in them" {
	local way
	groups >/dev/null || skip 'no control groups of version 2 that can be made here'
	own 10-nests "own=/sys/fs/cgroup\$(sed -n s/^0:://p /proc/self/cgroup)
[[ -d \$own ]] || own=/sys/fs/cgroup/unified\$(sed -n s/^0:://p /proc/self/cgroup)
echo \$own >$PWD/group
mkdir -p \$own/a/b \$own/c || exit 3
setsid sleep 600 & echo \$! >>$PWD/pids; echo \$! >\$own/a/b/cgroup.procs
echo well"
	for way in all freeze; do
		rm -f pids
		ONESPINE_TEST_SITE_GROUP=$way is 10-nests "PASS well"
		[[ $(<group) == */onespine-check-* && ! -e $(<group) ]]
		all_gone
	done
}

@test "another check removes its group before it is locked: it makes another" {
	groups >/dev/null || skip 'no control groups of version 2 that can be made here'
	own 10-where "sed -n s/^0:://p /proc/self/cgroup >$PWD/group; echo well"
	ONESPINE_TEST_SITE_GROUP=taken is 10-where "PASS well"
	[[ $(<group) == */onespine-check-* ]]
}

@test "one that forks on and on where no group can be made costs the node no more than its time" {
	printf '#!/bin/bash\nsetsid %s/again &\n' "$PWD" >again
	chmod 755 again
	own 10-forks "setsid $PWD/again & echo well"
	# who waited for its end would be ended by the check's deadline, and "FAIL hangs"
	ONESPINE_TEST_SITE_GROUP=none is 10-forks "PASS well"
}

# gone_soon: all_gone, within ten seconds
gone_soon() {
	local i
	for ((i = 0; i < 200; i++)); do
		! all_gone >/dev/null || return 0
		sleep 0.05
	done
	all_gone
}

# until_begun COUNT: so many processes have written their numbers
until_begun() {
	local i
	for ((i = 0; i < 1200; i++)); do
		[[ ! -e pids ]] || (($(wc -l <pids) < $1)) || return 0
		sleep 0.05
	done
	echo "no more than $(cat pids) within a minute"
	return 1
}

@test "the check itself is killed from outside: what its program has started ends too, in sessions of its own as well" {
	local way process
	own 10-hangs 'echo $$ >>'"$PWD"'/pids; setsid sleep 600 & echo $! >>'"$PWD"'/pids; wait'
	for way in all none; do
		rm -f pids
		ONESPINE_TEST_SITE_GROUP=$way check --only 10-hangs >/dev/null 2>&1 3>&- &
		process=$!
		until_begun 2
		# of the shell's: the program below it, or it itself
		kill -9 "$(pgrep -P "$process" -x onespine || echo "$process")"
		wait "$process" || true
		gone_soon
	done
}

@test "Ctrl-C and a terminal that goes end what a program has started too; nohup keeps it" {
	local signal process
	own 10-hangs 'echo $$ >>'"$PWD"'/pids; setsid sleep 600 & echo $! >>'"$PWD"'/pids; wait'
	for signal in INT QUIT HUP; do
		rm -f pids
		# to a process group of its own, as a terminal signals; a shell without job control ignores INT and QUIT behind &
		(set -m; ONESPINE_TEST_SITE_GROUP=none check --only 10-hangs >/dev/null 2>&1 3>&- & echo $! >group)
		until_begun 2
		process=$(<group)
		kill -"$signal" -- -"$process"
		gone_soon
	done
	rm -f pids
	own 20-waits 'echo $$ >>'"$PWD"'/pids; until [[ -e '"$PWD"'/again ]]; do sleep 0.1; done; echo well'
	(set -m; trap '' HUP; check --only 20-waits >said 2>&1 3>&- & echo $! >group)
	until_begun 1
	process=$(<group)
	kill -HUP -- -"$process"
	touch again
	await_while "$process" grep -q '^20-waits .*well$' said || grep -q '^20-waits  *PASS .*well$' said
}

@test "even whoever was to end it is killed: the next check ends what is left" {
	local process keeper
	groups >/dev/null || skip 'no control groups of version 2 that can be made here'
	own 10-hangs 'echo $$ >>'"$PWD"'/pids; setsid sleep 600 & echo $! >>'"$PWD"'/pids; wait'
	check --only 10-hangs >/dev/null 2>&1 3>&- &
	process=$!
	until_begun 2
	keeper=$(ps -o ppid= -p "$(head -n 1 pids)" | tr -d ' ')
	[[ $(<"/proc/$keeper/comm") == *onespine* ]]
	kill -9 "$keeper"
	wait "$process" || true
	run all_gone
	[[ $status != 0 ]] # the one in a session of its own
	rm "$OWN/10-hangs"
	own 20-well 'echo well'
	is 20-well "PASS well"
	gone_soon
}

@test "what others could have written is not run, and it is said" {
	own 10-group "touch $PWD/ran"
	chmod 775 "$OWN/10-group"
	own 20-others "touch $PWD/ran"
	chown 65534 "$OWN/20-others"
	own 30-closed "touch $PWD/ran"
	chmod 644 "$OWN/30-closed"
	own 40-target "touch $PWD/ran"
	mv "$OWN/40-target" target
	ln -s "$PWD/target" "$OWN/40-link"
	own README "touch $PWD/ran"
	own 50-copy.rpmsave "touch $PWD/ran"
	is 10-group "ERROR not run: it must be root's, and nobody else may write it"
	is 20-others "ERROR not run: it must be root's, and nobody else may write it"
	is 30-closed "ERROR not run: it is not executable (chmod +x; checks: {NAME: off} in thresholds.yaml turns it off)"
	is 40-link "ERROR not run: a link or no file (a script of two lines can run what lies elsewhere)"
	[[ $(check --list | tail -n 4 | cut -d' ' -f1 | paste -sd ' ') == "10-group 20-others 30-closed 40-link" ]]
	own 60-well 'exit 0'
	chmod 777 "$OWN"
	is 00-folder "ERROR none is run: $OWN must be root's, and nobody else may write it"
	expect 2 "onespine: there is no check '60-well'; see onespine check --list" check --only 60-well
	chmod 755 "$OWN"
	for i in {1..32}; do
		own "90-n$i" 'exit 0'
	done
	is 00-folder "ERROR none is run: at most 32 are expected in $OWN"
	[[ ! -e ran ]]
}

@test "modes, --list and --explain know it by its name" {
	own 10-ill 'echo ill; exit 1'
	echo 'checks: {10-ill: comment, 99-not-here: off}' >t.yaml
	run check --thresholds t.yaml --only 10-ill
	[[ $status == 0 && $output == *"fails nothing: mode comment"* && ${lines[-1]} == "onespine: 10-ill says ill; ask" ]]
	echo 'checks: {10-ill: off}' >t.yaml
	run check --thresholds t.yaml
	[[ $status == 0 && $output == *"35 checks"* ]]
	printf 'checks:\n  1-ill: off\n' >t.yaml
	run check --thresholds t.yaml
	[[ $status == 2 && $output == "onespine: t.yaml:2:3: unknown key '1-ill'; "* ]]
	[[ $(check --list | tail -n 1) == "10-ill          this site's own: $OWN/10-ill" ]]
	[[ $(check --list --json | jq -r '.[-1] | "\(.name) \(.depth) \(.worst)"') == "10-ill passive FAIL" ]]
	check --explain 10-ill | grep -qF "Depth passive; says at worst FAIL; given site_check_s of the thresholds."
	expect 2 "onespine: there is no check '10-il'; did you mean 10-ill; see onespine check --list" check --only 10-il
}

# pass HOLDS: whether the last pass holds; where it does not, this makes another
pass() {
	[[ $(check --fresh 3600 --json | jq .fresh) == "$1" ]]
}

@test "a pass ends when a program is added, changed or removed" {
	own 10-well 'exit 0'
	check >/dev/null
	pass true
	own 20-new 'exit 0'
	pass false
	pass true
	own 20-new 'exit 77'
	pass false
	pass true
	rm "$OWN/20-new"
	pass false
	pass true
}

@test "history keeps it by its name" {
	own 10-ill 'echo ill; exit 1'
	run check
	[[ $status == 1 ]]
	jq -e '.checks["10-ill"].verdict == "FAIL"' "$NODE"/var/lib/onespine/history/* >/dev/null
}

@test "nobody but root runs it" {
	own 10-well "touch $PWD/ran"
	chmod 777 "$PWD"
	local folder=$PWD
	while [[ ${folder%/*} == */* ]]; do # bats' are its own
		folder=${folder%/*}
		chmod o+x "$folder"
	done
	setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$ONESPINE" -a -r "$OWN" || skip "this build is not for others to run"
	run setpriv --reuid=65534 --regid=65534 --clear-groups env ONESPINE_TEST_ROOT="$NODE" "$ONESPINE" check --only 10-well
	[[ $status == 0 && $output == *"a site's own checks are run for root only"* && ! -e ran ]]
}

# --- the examples -----------------------------------------------------------------------------------

# program NAME SHELL-LINES: stands for one of the node's
program() {
	mkdir -p bin
	printf '#!/bin/bash\n%s\n' "$2" >"bin/$1"
	chmod 755 "bin/$1"
}

# example NAME STATUS TEXT
example() {
	expect "$2" "$3" env PATH="$PWD/bin:/usr/bin:/bin" "$SOURCE/etc/examples/checks.d/$1"
}

@test "the example for NHC: well, a failed check, NHC's own trouble, none" {
	! type nhc >/dev/null 2>&1 || skip "an NHC is installed"
	example 50-nhc 77 "nhc is not installed"
	program nhc '[[ "$*" == "MARK_OFFLINE=0 DETACHED_MODE=0 TIMEOUT=15" ]]'
	example 50-nhc 0 ""
	program nhc 'echo noise; echo "ERROR:  nhc:  Health check failed:  check_fs_mount:  /fsx not mounted"; exit 1'
	example 50-nhc 1 "ERROR:  nhc:  Health check failed:  check_fs_mount:  /fsx not mounted"
	program nhc 'echo "ERROR:  nhc:  Health check failed:  Script timed out"; exit 142'
	example 50-nhc 3 "ERROR:  nhc:  Health check failed:  Script timed out"
}

@test "the example for dcgmi diag: well, a failed test on the job's GPUs, no host engine, none" {
	! type dcgmi >/dev/null 2>&1 || skip "DCGM is installed"
	example 60-dcgmi-diag 77 "dcgmi is not installed"
	program dcgmi 'echo "$*" >asked; echo "| Deployment | Pass |"; echo "| Fail-safe mode | Pass |"'
	example 60-dcgmi-diag 0 ""
	[[ $(<asked) == "diag -r 1" ]]
	program dcgmi '[[ $* == "diag -r 1 -i 0,1" ]] || exit 9; echo "| PCIe    | Fail - GPU: 0 |"; echo "| Memory  | Fail - All |"; exit 226'
	CUDA_VISIBLE_DEVICES=0,1 example 60-dcgmi-diag 1 "dcgmi diag: PCIe Fail - GPU: 0 ; Memory Fail - All "
	program dcgmi 'echo; echo "Error: unable to establish a connection to the specified host: localhost"; exit 255'
	example 60-dcgmi-diag 3 "dcgmi diag ended with 255: Error: unable to establish a connection to the specified host: localhost"
}
