# SPDX-License-Identifier: GPL-2.0-or-later
# fuse_helpers.bash - a topology on a file system of the test's own
# shellcheck shell=bash

# mount_fuse FOLDER PROGRAM [WORD...]: PROGRAM FOLDER WORD.. serves FOLDER until unmount_fuse; skips the test where that is impossible
mount_fuse() {
	local folder=$1 program=$2
	[[ -c /dev/fuse ]] || skip 'no FUSE here'
	mkdir "$folder"
	on_cluster test -c /dev/fuse -a -d "$folder" || skip 'no FUSE in that root'
	python3 "$BATS_TEST_DIRNAME/$program" "$folder" "${@:3}" >"$BATS_TEST_TMPDIR/fuse" 2>&1 3>&- &
	fuse=$!
	await 10 grep -q . "$BATS_TEST_TMPDIR/fuse"
	grep -q mounted "$BATS_TEST_TMPDIR/fuse" || skip "FUSE cannot be mounted: $(cat "$BATS_TEST_TMPDIR/fuse")"
	on_cluster grep -q " $folder " /proc/self/mounts || skip 'that root does not see what is mounted here'
}

# One that ended early leaves nothing that could wait for it.
unmount_fuse() {
	if [[ -n ${fuse:-} ]] && kill "$fuse" 2>/dev/null; then
		wait "$fuse" || true
	fi
	fuse=
}

# replace_by_link TARGET: mv and ln would look at the target
replace_by_link() {
	python3 -c 'import os, sys
os.symlink(sys.argv[1], sys.argv[2] + ".new")
os.rename(sys.argv[2] + ".new", sys.argv[2])' "$1" "$ONESPINE_CLUSTER/onespine.topology"
}

# A thread of slurmctld's waits for an answer of FUSE.
waits_for_a_file_system() {
	local pid
	pid=$(<"$ONESPINE_CLUSTER/run/slurmctld.pid")
	cat "/proc/$pid/task/"*/wchan 2>/dev/null | tr '\0' '\n' | grep -q 'request_wait_answer\|fuse'
}
