#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# hostile_node.bats - disks, ports, sockets and processors of a node that an ordinary user fills while the gate or a
# recheck is at work there: no healthy node is drained, no bad one is given back

bats_require_minimum_version 1.5.0

load helpers
load gate_helpers

# n1, the first of each gang, is on a wire of its own: a network namespace with ports of its own.
setup_file() {
	local dir
	dir=$(mktemp -d -t onespine.XXXXXX)
	gate_budget
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-END
		defaults:
		  gate: {budget_s: $BUDGET_S, fresh_s: 0, network: false}
		history: {strikes: 1000}
	END
	cluster_start --nodes 4 --gate --wire n1 --gres gpu:8 --dir "$dir" --config "$BATS_FILE_TMPDIR/onespine.yaml" \
		--conf "AuthInfo=socket=$dir/munge/socket,cred_expire=5" \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
	export THEIRS=$ONESPINE_CLUSTER/theirs OUT=$BATS_FILE_TMPDIR/out
	mkdir -m 1777 "$THEIRS" "$OUT"
	chmod 755 "$BATS_FILE_TMPDIR"
	cc -O1 -Wall -Werror -o "$ONESPINE_CLUSTER/bin/storm" "$BATS_TEST_DIRNAME/storm.c"
	chmod 755 "$ONESPINE_CLUSTER/bin/storm"
	cc -O1 -Wall -Werror -o "$ONESPINE_CLUSTER/bin/synflood" "$BATS_TEST_DIRNAME/synflood.c"
	sed 's#libexec/onespine/onespine-gate "\$@"$#bin/onespine "$@"#' "$ONESPINE_CLUSTER/gate" >"$OUT/check"
	chmod 755 "$OUT/check"
}

setup() {
	mounted=() their_processes=()
	all_well
	begin_test
}

teardown() {
	end_theirs
	[[ -z ${slow:-} ]] || await 10 rmdir "$slow"
	for folder in "${mounted[@]}"; do
		inside umount --lazy "$folder"
	done
	[[ ! -e $THEIRS/disk0 ]] || inside rmdir "$THEIRS"/disk*
	scancel --user=65534
	scontrol delete ReservationName=onespine-n2 2>/dev/null || true
	gate_end_test
}

# inside COMMAND...: as root, where the cluster's daemons run
inside() {
	local root=$ONESPINE_CLUSTER/bin/in-root
	[[ -x $root ]] || root=
	${root:+"$root"} "$@"
}

address() {
	scontrol show node "$1" | sed -n 's/.*NodeAddr=\([^ ]*\).*/\1/p'
}

# --- processes of the other user's -------------------------------------------------------------------

# theirs COUNT COMMAND...: so many, until end_theirs
theirs() {
	local count=$1 i
	shift
	for ((i = 0; i < count; i++)); do
		setpriv --reuid=65534 --regid=65534 --clear-groups --pdeathsig=KILL "$@" >/dev/null 2>&1 3>&- &
		their_processes+=("$!")
	done
}

end_theirs() {
	((${#their_processes[@]})) || return 0
	kill -9 "${their_processes[@]}" 2>/dev/null || true
	wait "${their_processes[@]}" 2>/dev/null || true
	their_processes=()
}

# --- disks ------------------------------------------------------------------------------------------

# of_node NODE FOLDER: where its gate has that folder of ours
of_node() {
	printf '%s/nodes/%s%s/%s\n' "$ONESPINE_CLUSTER" "$1" "$ONESPINE_PREFIX" "$2"
}

# users_disk: a small file system ($DISK) on which we have a folder (ours) and users one (theirs)
users_disk() {
	DISK=$THEIRS/disk${#mounted[@]}
	inside mkdir "$DISK"
	inside mount -t tmpfs -o size=256k,mode=755 none "$DISK"
	inside install -d "$DISK/ours"
	inside install -d -m 1777 "$DISK/theirs"
	mounted+=("$DISK")
}

# small_disk FOLDER: of this cluster; it is on such a file system from now on
small_disk() {
	[[ $1 == "$ONESPINE_CLUSTER"/* ]] || fail "$1 is not this cluster's alone"
	users_disk
	inside cp -a "$1/." "$DISK/ours"
	inside mount --bind "$DISK/ours" "$1"
	mounted=("$1" "${mounted[@]}")
}

# fill: the other user takes all that is left of it
fill() {
	as_other_user dd if=/dev/zero "of=$DISK/theirs/all" bs=1k 2>/dev/null || true
	! as_other_user dd if=/dev/zero "of=$DISK/theirs/more" bs=1k count=8 2>/dev/null || fail "$DISK is not full"
	(($(inside stat -c %s "$DISK/theirs/all") > 0)) || fail "nothing could be written to $DISK"
}

@test "a user fills /tmp and the disk of the node's history: the verdict is there before it is kept, and gate.log says what is not" {
	local folder
	for folder in "$ONESPINE_CLUSTER/nodes/n2/var/lib" "$(of_node n2 var/lib)"; do # history; passes and evidence
		small_disk "$folder"
		fill
	done
	fault n2 "export ONESPINE_FAKE_SYSTEM='full=/tmp full=/dev/shm'"
	job=$(submit -N2 -w 'n[2-3]' --gres=gpu:8)
	await 30 says n2 "job $job: the check: warning: the run is not kept: "
	matches "$(said_of "$job" n2)" 'the run is not kept: [^ ]*: No space left on device'
	await_job "$job" RUNNING
	matches "$(said_of "$job" n2)" 'go by n2 of 2 nodes'
	equal "$(job_field "$job" Restarts)" 0
	none_drained_but
	scancel "$job"
	await 30 no_jobs
	# a bad one is drained for its reason all the same
	fault n2 "$ECC"
	job=$(submit -N2 -w 'n[2-3]' --gres=gpu:8)
	await 30 drained n2 "$ECC_REASON"
	await 10 says n2 "job $job: what was seen is not kept: "
	none_drained_but n2
}

@test "a user fills the disk of the gate's log: the job runs, a bad node is drained" {
	small_disk "$(of_node n2 var/log/onespine)"
	fill
	job=$(submit -N2 -w 'n[2-3]' --gres=gpu:8)
	await_job "$job" RUNNING
	none_drained_but
	equal "$(job_field "$job" Restarts)" 0
	scancel "$job"
	await 30 no_jobs
	fault n2 "$ECC"
	job=$(submit -N2 -w 'n[2-3]' --gres=gpu:8)
	await 30 drained n2 "$ECC_REASON"
	none_drained_but n2
}

# empty: he takes it all back
empty() {
	inside find "$DISK/theirs" -type f -delete
}

# recheck_there OPTION...: a recheck that keeps its reasons on $DISK. It sees that alone: the folder is that of each
# cluster of this installation, and other files' rechecks run beside this one. A root that is no mount is private already.
recheck_there() {
	# shellcheck disable=SC2016
	inside unshare --mount --propagation unchanged bash -c 'mount --make-rprivate / 2>/dev/null; mkdir -p "$1" &&
		mount --bind "$0" "$1" && shift && exec "$@"' \
		"$DISK/ours" "$ONESPINE_PREFIX/var/lib/onespine" env "SLURM_CONF=$SLURM_CONF" \
		"$ONESPINE_PREFIX/bin/onespine" recheck --depth=passive "$@"
}

# recheck [NODE]: the last line that it says
recheck() {
	recheck_there --program="$OUT/check" "$@" >"$OUT/said" 2>&1 || true
	tail -n 1 "$OUT/said"
}

@test "a user fills the disk where a recheck keeps reasons: the node stays as it is, and is given back when there is room" {
	users_disk
	scontrol update NodeName=n2 State=DRAIN "Reason=$ECC_REASON"
	await 30 node_is n2 drained
	fill
	matches "$(recheck n2)" 'n2: stays drained: its reason cannot be kept in .*: No space left on device'
	drained n2 "$ECC_REASON"
	equal "$(scontrol -o show reservation)" 'No reservations in the system'
	empty
	equal "$(recheck n2)" 'n2: returned: PASS'
	equal "$(scontrol -o show reservation)" 'No reservations in the system'
	none_drained_but
}

@test "filled while the recheck is under way: a good node is given back, a bad one is drained, and nothing is left" {
	local says
	users_disk
	printf '#!/bin/bash\ntouch %s/begun\nuntil [[ -e %s/go ]]; do sleep 0.1; done\nexec %s/check "$@"\n' \
		"$OUT" "$OUT" "$OUT" >"$OUT/waits"
	chmod 755 "$OUT/waits"
	for says in 'n2: returned: PASS' "n2: stays drained: $ECC_REASON"; do
		rm -f "$OUT/begun" "$OUT/go"
		empty
		scontrol update NodeName=n2 State=DRAIN "Reason=$ECC_REASON"
		await 30 node_is n2 drained
		recheck_there --program="$OUT/waits" n2 >"$OUT/said" 2>&1 3>&- &
		await 60 test -e "$OUT/begun"
		fill
		[[ $says == *PASS ]] || fault n2 "$ECC"
		touch "$OUT/go"
		wait "$!" || true
		holds "$(cat "$OUT/said")" "$says"
		equal "$(scontrol -o show reservation)" 'No reservations in the system'
		[[ $says == *PASS ]] || drained n2 "$ECC_REASON"
		none_drained_but "$([[ $says == *PASS ]] || echo n2)"
		await 30 no_jobs
	done
}

# --- words ------------------------------------------------------------------------------------------

# evil: a terminal's escapes, forged lines, a turn of direction, bytes of no UTF-8, and each control character but the
# end of a text, of 7 bits and of 8 (U+0080 to U+009F); no tab, no line's end and no blank, which a mount's name has not
evil() {
	local code
	printf 'a\e]0;owned\a\e[31mb\rforged\xc2\x9b2J\xe2\x80\xaed\xe2\x80\xa8\xff\xfe\xed\xa0\x80'
	for code in {1..8} 11 12 {14..31} 127; do
		# shellcheck disable=SC2059
		printf "\\x$(printf %x "$code")"
	done
	for code in {128..159}; do
		# shellcheck disable=SC2059
		printf "\\xc2\\x$(printf %x "$code")"
	done
	printf '<g>'
}

OBEYED='[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]'

# clean FILE: what a terminal may be shown, and a program that reads UTF-8
clean() {
	[[ -s $1 ]] || fail "$1 is empty"
	iconv -f UTF-8 -t UTF-8 "$1" >/dev/null || fail "$1: not UTF-8: $(cat -v "$1")"
	! LC_ALL=C grep -aqP "$OBEYED" "$1" || fail "$1: $(LC_ALL=C grep -aP "$OBEYED" "$1" | cat -v)"
	! grep -aqE '^(slurmctld: error: )?forged' "$1" || fail "$1: a forged line"
}

# says_clean COMMAND...
says_clean() {
	"$@" >"$BATS_TEST_TMPDIR/said" 2>&1 || true
	clean "$BATS_TEST_TMPDIR/said"
}

@test "a job's words, a mount of a user's and what a program says of users: clean in gate.log, history, evidence and every command" {
	local words file node=$ONESPINE_CLUSTER/nodes/n2 kept
	words=$(evil)
	# a user names where he mounts (a long name is passed over), and what a site's own check quotes of him
	printf 'them@there:/ /t/\e[31m\xc2\x9b\xff fuse.sshfs rw 0 0\n' >>"$node/proc/self/mounts"
	(umask 022 && mkdir -p "$(of_node n2 etc/onespine/checks.d)")
	printf '#!/bin/bash\nprintf %%s %q\necho\necho forged\nexit 1\n' "runs here: $words" >"$(of_node n2 etc/onespine/checks.d)/50-own"
	chmod 755 "$(of_node n2 etc/onespine/checks.d)/50-own"
	log_mark
	job=$(as_other_user sbatch --parsable --chdir=/ --output=/dev/null -N2 -w 'n[2-3]' --gres=gpu:8 -J "$words" \
		--comment="$words" --wrap 'sleep 600')
	await 60 decided "$job" n2
	rm "$(of_node n2 etc/onespine/checks.d)/50-own"
	sed -i '$d' "$node/proc/self/mounts"
	await 30 note_holds "$job" gate=
	await 30 node_is n2 drained
	holds "$(sinfo -h -n n2 -o %E)" 'onespine: 50-own says runs here: a?]0;owned'
	sinfo -h -n n2 -o %E >"$BATS_TEST_TMPDIR/reason"
	job_field "$job" AdminComment >"$BATS_TEST_TMPDIR/comment"
	tail -n "+$((LOG_MARK + 1))" "$ONESPINE_CLUSTER/log/slurmctld.log" | grep -a onespine >"$BATS_TEST_TMPDIR/log"
	for file in "$BATS_TEST_TMPDIR"/{reason,comment,log} "$ONESPINE_CLUSTER"/nodes/n[23]/gate.log; do
		clean "$file"
	done
	holds "$(gate_log n2)" '50-own'
	kept=0
	while read -r file; do
		clean "$file"
		kept=$((kept + 1))
	done < <(find "$node/var/lib/onespine" "$(of_node n2 var/lib/onespine)" -type f \( -name '*.json*' -o -path '*history*' \) -size +0)
	((kept >= 2)) || fail "of history and evidence $kept files are kept"
	grep -rqsF '/t/?[31m' "$node/var/lib/onespine" "$(of_node n2 var/lib/onespine)" || fail 'the mount reached no record'
	says_clean onespine why "$job"
	says_clean onespine map
	says_clean onespine audit
	says_clean onespine fit -N2
	says_clean onespine doctor
	says_clean env ONESPINE_TEST_ROOT="$node" onespine history
	says_clean onespine recheck --program="$OUT/check" --depth=passive n2
}

# --- ports and sockets ------------------------------------------------------------------------------

# starts JOB: a gate of it has let it go, after requeues if need be; nobody is drained meanwhile
starts() {
	none_drained_but && [[ $(cat "$ONESPINE_CLUSTER"/nodes/*/gate.log) =~ "job $1: "[^$'\n']*' go by n' ]] &&
		job_is "$1" RUNNING
}

@test "connections without end to the gate's ports: the job starts in the end, and nobody is drained" {
	theirs 4 "$ONESPINE_CLUSTER/bin/storm" "$(address n1)" 288-303
	theirs 4 "$ONESPINE_CLUSTER/bin/storm" "$(address n2)" 288-303
	fault n4 'sleep 2'
	job=$(submit -N4 --gres=gpu:8)
	await 60 says n1 'go by n1 of 4 nodes'
	await_job "$job" RUNNING 60
	end_theirs
	(($(job_field "$job" Restarts) <= 1))
	matches "$(gate_log n1)" 'dropped: [1-9][0-9]* from ports that users can have'
	none_drained_but
}

@test "connections without end to MUNGE's socket: nobody is drained, and when they end the job starts" {
	needs_munge
	theirs 4 "$ONESPINE_CLUSTER/bin/storm" "$ONESPINE_CLUSTER/munge/socket"
	job=$(submit -N4 --gres=gpu:8)
	stays 15 none_drained_but
	end_theirs
	await 90 starts "$job"
	none_drained_but
}

# in_n1 COMMAND...: in its network namespace, whose name has n1's port as its address has
in_n1() {
	local c d
	IFS=. read -r _ _ c d <<<"$(address n1)"
	ip netns exec "osp$((c * 256 + d))" "$@"
}

# refused_beginnings: how many connections n1 has answered with a cookie instead of keeping them, or dropped
refused_beginnings() {
	in_n1 nstat -asz TcpExtSyncookiesSent TcpExtTCPReqQFullDrop TcpExtListenDrops 2>/dev/null |
		awk '$1 ~ /^TcpExt/ { count += $2 } END { print count + 0 }'
}

# refused_since COUNT: more than the kernel keeps were too many since then
refused_since() {
	(($(refused_beginnings) - $1 > 1000)) || fail "$(refused_beginnings) of them were too many"
}

# begin_at_n1 COUNT: so many processes flood its gate's ports, until end_theirs
begin_at_n1() {
	local i
	for ((i = 0; i < $1; i++)); do
		inside "$ONESPINE_CLUSTER/bin/synflood" "$(address n1)" 288-303 >/dev/null 2>&1 3>&- &
		their_processes+=("$!")
	done
}

@test "beginnings of connections from addresses that nobody has, more than the kernel keeps: the job starts in the end, and nobody is drained" {
	local before
	before=$(refused_beginnings)
	begin_at_n1 2
	fault n4 'sleep 2'
	job=$(submit -N4 --gres=gpu:8)
	await 60 says n1 'go by n1 of 4 nodes'
	await_job "$job" RUNNING 60
	await 30 refused_since "$before" # on a busy machine the flood is slow, and goes on meanwhile
	end_theirs
	(($(job_field "$job" Restarts) <= 1))
	none_drained_but
	# where the kernel sends no cookies nodes may not hear each other: silent, and no node is drained for that
	in_n1 sysctl -qw net.ipv4.tcp_syncookies=0
	begin_at_n1 1
	scancel "$job"
	await 60 no_jobs
	job=$(submit -N4 --gres=gpu:8)
	await 60 decided_somewhere "$job"
	none_drained_but
	end_theirs
	in_n1 sysctl -qw net.ipv4.tcp_syncookies=1
	scontrol update "JobId=$job" ExcNodeList= StartTime=now+3 || true
	await 90 starts "$job"
	none_drained_but
}

theirs_in_n1() {
	in_n1 setpriv --reuid=65534 --regid=65534 --clear-groups "$@" 3>&- &
	their_processes+=("$!")
}

@test "all of the gate's ports are taken: by no user, and where users may have them nobody is drained" {
	local storm=$ONESPINE_CLUSTER/bin/storm
	said=$(as_other_user "$storm" hold 288-303 "$THEIRS/held" 2>&1) && fail 'a user holds the ports'
	holds "$said" 'Permission denied'
	# where an administrator has opened them to users, a user can: it accepts, and says nothing
	in_n1 sysctl -qw net.ipv4.ip_unprivileged_port_start=0
	theirs_in_n1 "$storm" hold 288-303 "$THEIRS/held"
	await 20 test -e "$THEIRS/held"
	job=$(submit -N4 --gres=gpu:8)
	await 40 says n1 'cannot hear other nodes: no port of 288-303 can be had'
	await 60 decided_somewhere "$job"
	none_drained_but
	end_theirs
	in_n1 sysctl -qw net.ipv4.ip_unprivileged_port_start=1024
	rm -f "$THEIRS/held"
	# where n1 was kept from it, the job waits for a fifth node
	scontrol update "JobId=$job" ExcNodeList= StartTime=now+3 || true
	await 90 starts "$job"
	none_drained_but
}

decided_somewhere() {
	cat "$ONESPINE_CLUSTER"/nodes/*/gate.log | grep -qE "job $1: .* (go|requeue|end) by n[1-4] of 4 nodes|job $1: .*no verdict in"
}

# --- processors, memory, devices ----------------------------------------------------------------------

io_waited() {
	sed -n 's/^some .*total=//p' /proc/pressure/io
}

# pressed: somebody waited for a device for most of the last second
pressed() {
	local before
	before=$(io_waited)
	sleep 1
	(($(io_waited) - before > 300000))
}

# slow_disk: whoever is in the group $slow reads 64 KiB a second from the disk below the cluster
slow_disk() {
	local disk folder=/sys/fs/cgroup/blkio/onespine-${ONESPINE_CLUSTER##*.}
	disk=$(df --output=source "$THEIRS" | tail -n 1)
	[[ -b $disk && -e /sys/block/${disk##*/}/dev && -e /sys/fs/cgroup/blkio/blkio.throttle.read_bps_device ]] ||
		skip 'no disk here that can be made slow'
	mkdir "$folder"
	slow=$folder
	echo "$(<"/sys/block/${disk##*/}/dev") 65536" >"$slow/blkio.throttle.read_bps_device"
}

@test "NVML hangs while a user keeps the disk busy: an error, never a failure; without him the same is a failed node" {
	local pressure=$ONESPINE_CLUSTER/nodes/n2/proc/pressure
	[[ -r /proc/pressure/io ]] || skip 'this kernel does not report the pressure'
	slow_disk
	# the first gate sees that n2's GPUs stay awake
	job=$(submit -N2 -w 'n[2-3]' --gres=gpu:8)
	await_job "$job" RUNNING
	scancel "$job"
	await 30 no_jobs
	for what in io memory; do
		mv "$pressure/$what" "$OUT/$what"
		ln -s "/proc/pressure/$what" "$pressure/$what"
	done
	fault n2 'export ONESPINE_FAKE_NVML=hang:nvmlInit_v2 ONESPINE_TEST_DEADLINE_MS=800'
	as_other_user dd if=/dev/zero "of=$THEIRS/file" bs=1M count=64 conv=fsync 2>/dev/null
	theirs 6 dd "if=$THEIRS/file" of=/dev/null bs=64k iflag=direct
	for process in "${their_processes[@]}"; do
		echo "$process" >"$slow/cgroup.procs"
	done
	await 30 pressed
	job=$(submit -N2 -w 'n[2-3]' --gres=gpu:8)
	await 60 decided "$job" n2
	end_theirs
	none_drained_but
	matches "$(said_of "$job" n2)" 'ERROR'
	[[ $(said_of "$job" n2) != *FAIL* ]]
	scancel "$job"
	await 30 no_jobs
	for what in io memory; do
		rm "$pressure/$what"
		mv "$OUT/$what" "$pressure/$what"
	done
	job=$(submit -N2 -w 'n[2-3]' --gres=gpu:8)
	await 60 node_is n2 drained
	none_drained_but n2
}
