#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# hostile_files.bats - folders and files that an ordinary user names keep no node

load helpers
load gpu_nodes

setup_file() {
	export LC_ALL=C.UTF-8
	make_gpu_nodes
	cluster_start --nodes 2 --gres gpu:2
	use_gpu_nodes
	# short, for an environment's string has at most 128 KiB
	LONG=$(mktemp -d /tmp/XXX)
	SILENT=$(mktemp -d)
	export LONG SILENT
	chmod 755 "$LONG"
	chmod 755 "$SILENT"
}

teardown() {
	scancel --user=65534
	if [[ -n ${fuse:-} ]]; then
		kill "$fuse"
		wait "$fuse" || true
	fi
	end_test
}

teardown_file() {
	umount -l "$SILENT" 2>/dev/null || true
	rm -rf "$LONG"
	rmdir "$SILENT"
	cluster_stop
}

# their_step VARIABLE=VALUE... [-- COMMAND...]: a step of the other user's with these; its task needs none of them
their_step() {
	local variables=
	while (($#)) && [[ $1 != -- ]]; do
		variables+=,$1
		shift
	done
	shift || set -- true
	as_other_user srun -Q --chdir=/ -n1 -w n1 --gres=gpu:2 "--export=PATH=$PATH,SLURM_CONF=$SLURM_CONF$variables" \
		env -u LD_LIBRARY_PATH "$@" 2>"$BATS_TEST_TMPDIR/err"
}

n1_is_idle() {
	[[ -z $(squeue -h -w n1) ]] && node_is n1 idle
}

# mount_silent [swallow]: where the cluster's jobs are, which may be a root with mounts of its own
mount_silent() {
	local holder=$ONESPINE_CLUSTER/run/holder.pid at=$SILENT into=()
	if [[ -e $holder ]]; then
		into=(nsenter "--mount=/proc/$(<"$holder")/ns/mnt")
		at=$(readlink "/proc/$(<"$holder")/root")$SILENT
	fi
	[[ -c /dev/fuse ]] || skip 'no FUSE here'
	on_cluster test -c /dev/fuse -a -d "$SILENT" || skip 'no FUSE in that root'
	"${into[@]}" python3 "$BATS_TEST_DIRNAME/silent_fuse.py" "$at" "$@" >"$BATS_TEST_TMPDIR/fuse" 2>&1 3>&- &
	fuse=$!
	await 10 grep -q . "$BATS_TEST_TMPDIR/fuse"
	grep -q mounted "$BATS_TEST_TMPDIR/fuse" || skip "FUSE cannot be mounted: $(cat "$BATS_TEST_TMPDIR/fuse")"
}

@test "18,000 folders of large libraries in LD_LIBRARY_PATH keep no node" {
	truncate -s 60M "$LONG/libnccl-net.so"
	path=$(printf "$LONG:%.0s" {1..14000})
	their_step "LD_LIBRARY_PATH=$path" &
	step=$!
	await 30 gone "$step"
	await 20 n1_is_idle
}

@test "64 folders at most, and 64 MiB of them" {
	mkdir "$LONG"/{1..3000}
	for ((i = 1; i <= 3000; i++)); do
		truncate -s 60M "$LONG/$i/libnccl-net.so"
	done
	path=$(printf "$LONG/%d:" {1..3000})
	their_step "LD_LIBRARY_PATH=$path" &
	step=$!
	await 30 gone "$step"
	await 20 n1_is_idle
}

gone() {
	! kill -0 "$1" 2>/dev/null
}

@test "a file system that does not answer: the step begins, the environment is left as it is" {
	mount_silent
	for variable in NCCL_CONF_FILE VIRTUAL_ENV HOME; do
		their_step "$variable=$SILENT/x" &
		step=$!
		await 30 gone "$step"
		holds "$(cat "$BATS_TEST_TMPDIR/err")" 'do not answer within 200 ms: the environment is left as it is'
		await 20 n1_is_idle
	done
}

some_task_waits() {
	grep -qlsz "^LD_LIBRARY_PATH=$SILENT/lib" /proc/[0-9]*/environ
}

@test "where the task itself waits for it, the job ends when it is cancelled" {
	mount_silent
	# for names after --export Slurm asks the user's login shell, which may not be in that root
	printf '%s\0' "PATH=$PATH" "LD_LIBRARY_PATH=$SILENT/lib" >"$LONG/environment"
	as_other_user sbatch --chdir=/ --output=/dev/null -n1 -w n1 --gres=gpu:2 "--export-file=$LONG/environment" \
		--wrap 'sleep 600' >"$BATS_TEST_TMPDIR/job"
	job=$(grep -o '[0-9]*$' "$BATS_TEST_TMPDIR/job")
	await_job "$job" RUNNING
	await 10 some_task_waits
	scancel "$job"
	await 30 n1_is_idle
}

# left_behind: the children that slurmstepd could not kill, a number each
left_behind() {
	pgrep -u 65534 -r D slurmstepd
}

none_left_behind() {
	! pgrep -u 65534 slurmstepd >/dev/null
}

end_fuse() {
	kill "$fuse"
	wait "$fuse" || true
	fuse=
}

@test "a file system that has taken the question: the child is left behind with nothing of slurmstepd's, and the node is free" {
	mount_silent swallow
	their_step "NCCL_CONF_FILE=$SILENT/x" &
	step=$!
	await 30 gone "$step"
	holds "$(cat "$BATS_TEST_TMPDIR/err")" 'do not answer within 200 ms: the environment is left as it is'
	await 20 n1_is_idle
	child=$(left_behind)
	matches "$child" '^[0-9]+$'
	# the one pipe that nobody reads any more
	equal "$(find "/proc/$child/fd" -type l | wc -l)" 1
	matches "$(readlink "/proc/$child/fd/"*)" '^pipe:'
	# it has slurmstepd's memory, and is a process of the user's: who may not look into it
	! as_other_user cat "/proc/$child/environ" >/dev/null 2>&1 || fail "the user reads slurmstepd's memory"
	end_fuse
	await 10 none_left_behind
}

@test "slurmstepd reaps the one that was left behind, and its step goes on until its task ends" {
	mount_silent swallow
	mkdir -m 1777 "$LONG/theirs"
	# shellcheck disable=SC2016
	their_step "NCCL_CONF_FILE=$SILENT/x" -- \
		sh -c 'touch "$0/begun"; until [ -e "$0/end" ]; do sleep 0.1; done; exit 7' "$LONG/theirs" &
	step=$!
	await 30 test -e "$LONG/theirs/begun"
	child=$(left_behind)
	equal "$(cat "/proc/$(awk '/^PPid:/ { print $2 }' "/proc/$child/status")/comm")" slurmstepd
	end_fuse
	await 10 none_left_behind
	[[ ! -e /proc/$child ]]
	stays 1 equal "$(squeue -h -s -o %i | wc -l)" 1
	touch "$LONG/theirs/end"
	status=0
	wait "$step" || status=$?
	equal "$status" 7
	await 20 n1_is_idle
}
