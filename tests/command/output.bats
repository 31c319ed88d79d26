#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# files are written whole or not at all

# shellcheck disable=SC2016 # what bash -c is to expand

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	write_conf topology.conf
}

teardown() {
	umount "$BATS_TEST_TMPDIR/full" 2>/dev/null || true
}

import() {
	onespine topology import --from=slurm topology.conf "$@"
}

@test "a refused file leaves the old output as it was" {
	import -o out
	cp out before
	echo "SwitchName=s3 Nodes=n1" >>topology.conf
	run import -o out
	[[ $status == 2 ]]
	cmp out before
	expect 0 "before out topology.conf" bash -c 'echo *'
}

@test "a full disk leaves the old output as it was, and no litter" {
	mkdir full
	mount -t tmpfs -o size=64k tmpfs full 2>/dev/null || skip "needs to mount"
	import -o full/out
	cp full/out before
	dd if=/dev/zero of=full/filler bs=1k 2>/dev/null || true
	run import -o full/out
	listing=$(echo full/*)
	cmp full/out before && same=yes
	umount full
	[[ $status == 2 ]]
	[[ $output == "onespine: full/out: cannot be written: No space left on device" ]]
	[[ $listing == "full/filler full/out" ]]
	[[ $same == yes ]]
}

@test "/dev/full: said, status 2" {
	expect 2 "onespine: /dev/full: cannot be written: No space left on device" import -o /dev/full
	expect 2 "onespine: standard output: cannot be written: No space left on device" \
		bash -c '"$ONESPINE" topology import --from=slurm topology.conf >/dev/full'
}

@test "a new file gets the usual mode, an old one keeps its own, a link is followed" {
	umask 027
	import -o new
	[[ $(stat -c %a new) == 640 ]]
	chmod 600 new
	ln -s new link
	echo old >new
	import -o link
	[[ -L link ]]
	[[ $(stat -c %a new) == 600 ]]
	onespine topology check new
}

@test "a reader never sees half a file" {
	import -o out
	for _ in {1..20}; do
		import -o out
	done &
	writer=$!
	while kill -0 $writer 2>/dev/null; do
		onespine topology check out >/dev/null
	done
}

@test "a folder that is not there: said, status 2" {
	expect 2 "onespine: none/out: cannot be written: No such file or directory" import -o none/out
}
