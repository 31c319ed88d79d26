#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# topology discover from the file that topograph, or another program, writes
# shellcheck disable=SC2154 # stderr is bats's

load helpers
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	unset "${!AWS_@}"
	seq 8 | sed 's|.*|n& n&|' >map
	model
}

teardown() {
	end_watch
}

# model [LEAVES]: two leaves under a spine, n9 is no node of Slurm's; written whole, as by rename
model() {
	cat >model.new <<-END
		switches:
		  s1: {switches: ${1:-[l1, l2]}}
		blocks:
		- {switch: l1, nodes: ["n[1-4]"], labels: {accelerated.topology.nvidia.com/level-0: nvl-1}}
		- {switch: l2, nodes: ["n[5-9]"]}
	END
	mv model.new model.yaml
}

discover() {
	onespine topology discover --from="topograph:$PWD/model.yaml" --nodes=map "$@"
}

@test "topograph's file is read by itself: Slurm's nodes alone, with their NVLink domains; the same bytes again; renumbered switches move nobody" {
	expect 0 "applied: 8 nodes have a place; 0 gained one, 0 lost theirs, 0 moved" discover -o t
	expect_line 0 "8 nodes: 1 nvlink of 4, 2 leaves of 4, 1 spine of 8" onespine topology show t
	grep -qF '{"source": "topograph", "nodes": "n[1-8]"}' t
	grep -qF '"source": "topograph",' t
	cp t first
	expect 0 "unchanged: 8 nodes have a place; 0 gained one, 0 lost theirs, 0 moved" discover -o t
	cmp t first
	discover | cmp - t
	sed -i 's/\bl1\b/lx/g; s/\bl2\b/l1/g; s/\blx\b/l2/g' model.yaml
	discover >renumbered
	run ! cmp -s renumbered t
	expect 0 "applied: 8 nodes have a place; 0 gained one, 0 lost theirs, 0 moved" discover -o t
	# what it makes for Slurm
	printf 'SwitchName=s1 Switches=l[1-2]\nSwitchName=l1 Nodes=n[1-4]\nSwitchName=l2 Nodes=n[5-8]\n' >topology.conf
	onespine topology discover --from="topograph:$PWD/topology.conf" --nodes=map >u
	expect_line 0 "8 nodes: 2 leaves of 4, 1 spine of 8" onespine topology show u
}

@test "a file that lost half of the nodes is held; one that is cut, empty or of another cluster changes nothing" {
	discover -o t
	cp t first
	sed -i '/l2, nodes/d; s/\[l1, l2\]/[l1]/' model.yaml
	run -3 --separate-stderr onespine topology discover --from="topograph:$PWD/model.yaml" --nodes=map -o t
	[[ $stderr == *"4 of 8 nodes that run lose their place (n5 is the first); max_lost is 10 %"* ]]
	cmp t first
	model '[l1, l3]'
	expect 1 "onespine: $PWD/model.yaml:2:7: switch l3 is not defined in this file" discover -o t
	: >model.yaml
	run -1 onespine topology discover --from="topograph:$PWD/model.yaml" --nodes=map -o t
	[[ $output == "onespine: $PWD/model.yaml"* ]]
	printf 'SwitchName=l1 Nodes=x[1-4]\n' >model.yaml
	expect 1 "onespine: $PWD/model.yaml: none of its 4 nodes is a node of the cluster" discover -o t
	rm model.yaml
	expect 1 "onespine: $PWD/model.yaml: cannot be read: No such file or directory" discover -o t
	mkfifo model.yaml
	expect 1 "onespine: $PWD/model.yaml: a regular file is expected" discover -o t
	rm model.yaml
	model
	for mode in o+w g+w; do
		model
		chmod "$mode" model.yaml
		((EUID)) || chgrp 12345 model.yaml
		expect 1 "onespine: $PWD/model.yaml: others than its owner may write it (chmod go-w), and so say where nodes are" discover -o t
	done
	cmp t first
}

@test "topograph needs its file, by a whole path; other sources take none" {
	expect 2 "onespine: --from=topograph: the file that it writes is expected, as topograph:/path" \
		onespine topology discover --from=topograph --nodes=map
	expect 2 "onespine: --from=topograph:model.yaml: a path that starts with / is expected" \
		onespine topology discover --from=topograph:model.yaml --nodes=map
	expect 2 "onespine: --from=infiniband:/x: infiniband reads no file" \
		onespine topology discover --from=infiniband:/x --nodes=map
	expect 2 "onespine: --from=topogrph: not one of ec2,infiniband,nvlink,topograph; did you mean topograph?" \
		onespine topology discover --from=topogrph:/x --nodes=map
	: >slurm.conf
	printf 'watch: {from: "topograph:%s"}\n' "$PWD/model.yaml" >onespine.yaml
	SLURM_CONF=$PWD/slurm.conf expect 0 "applied: 8 nodes have a place; 0 gained one, 0 lost theirs, 0 moved" \
		onespine topology discover --nodes=map -o t
}

@test "the watch follows the file" {
	"$ONESPINE" topology watch --from="topograph:$PWD/model.yaml" --nodes=map --interval=1 -o t >journal 2>&1 3>&- &
	watch_pid=$!
	await_while $watch_pid grep -qx applied journal
	: >model.yaml
	await_while $watch_pid grep -q '^failed, the last good one stays: ' journal
	expect_line 0 "8 nodes: 1 nvlink of 4, 2 leaves of 4, 1 spine of 8" onespine topology show t
	printf 'n10 n10\n' >>map
	model
	sed -i 's/n\[5-9\]/n[5-8,10]/' model.yaml
	nine_nodes() { [[ $(onespine topology show t) == "9 nodes: 1 nvlink of 4, 2 leaves of 4 to 5, 1 spine of 9"* ]]; }
	await_while $watch_pid nine_nodes
	watch_ends
}
