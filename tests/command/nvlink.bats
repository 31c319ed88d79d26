#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# topology discover from what nodes report of themselves
# shellcheck disable=SC2154 # stderr is bats's

load helpers
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	unset "${!AWS_@}"
	seq 8 | sed 's|.*|i-& n&|' >map
	reports 1=a.1 2=a.1 3=a.1 4=a.1 5=b.1 6=b.1 7=b.1 8=b.1
	cat >model.yaml <<-END
		switches:
		  s1: {switches: [l1, l2]}
		blocks:
		- {switch: l1, nodes: ["n[1-4]"], labels: {accelerated.topology.nvidia.com/level-0: nvl-1}}
		- {switch: l2, nodes: ["n[5-8]"]}
	END
}

# reports N=DOMAIN...: as the watch keeps them beside the file t
reports() {
	{
		printf 'onespine-reports 1\nNODE BOOT HEARD INSTANCE NVLINK NEURON LEAVES\n'
		for word; do
			printf 'n%s 1700000000 1700000100 i-%s %s - -\n' "${word%%=*}" "${word%%=*}" "${word#*=}"
		done
	} >t.reports
}

discover() {
	onespine topology discover --from="$1" --nodes=map -o t "${@:2}"
}

@test "what nodes report is the level nvlink: alone, and below the leaves of another source" {
	expect 0 "applied: 8 nodes have a place; 0 gained one, 0 lost theirs, 0 moved" discover nvlink
	expect_line 0 "8 nodes: 2 nvlinks of 4" onespine topology show t
	grep -qF '"source": "nvlink"' t
	expect 0 "unchanged: 8 nodes have a place; 0 gained one, 0 lost theirs, 0 moved" discover nvlink
	rm t
	# the model's own NVLink domain does not count beside the nodes' own word
	expect 0 "applied: 8 nodes have a place; 0 gained one, 0 lost theirs, 0 moved" \
		discover "topograph:$PWD/model.yaml,nvlink"
	expect_line 0 "8 nodes: 2 nvlinks of 4, 2 leaves of 4, 1 spine of 8" onespine topology show t
	grep -qF '"name": "a.1"' t
	[[ -z $(grep nvl-1 t) ]]
	cp t first
	expect 0 "unchanged: 8 nodes have a place; 0 gained one, 0 lost theirs, 0 moved" \
		discover "topograph:$PWD/model.yaml,nvlink"
	# in the other order only the words for people differ
	discover "nvlink,topograph:$PWD/model.yaml"
	cmp <(sed 's/"source": "[a-z]*,[a-z]*"//' t) <(sed 's/"source": "[a-z]*,[a-z]*"//' first)
}

@test "a node without a domain has none, and an UltraServer is one" {
	reports 1=a.1 2=a.1 3=- 4='?'
	printf 'n5 1700000000 1700000100 i-5 - 4.7 -\nn6 1700000000 1700000100 i-6 - 4.7 -\n' >>t.reports
	expect 0 "applied: 4 nodes have a place; 0 gained one, 0 lost theirs, 0 moved" discover nvlink
	expect_line 0 "4 nodes: 2 nvlinks of 2" onespine topology show t
	grep -qF '"name": "neuron-4.7"' t
	# another instance reported
	reports 1=a.1 2=a.1
	sed -i 's/ i-1 / i-9 /' t.reports
	rm t
	expect 0 "applied: 1 node has a place; 0 gained one, 0 lost theirs, 0 moved" discover nvlink
}

@test "domains that cross leaves are reported and counted, and their level is beside the tree" {
	discover "topograph:$PWD/model.yaml,nvlink"
	cp t first
	reports 1=a.1 2=a.1 3=b.1 4=b.1 5=b.1 6=b.1 7=a.1 8=c.1
	rm t
	run -0 --separate-stderr onespine topology discover --from="topograph:$PWD/model.yaml,nvlink" --nodes=map -o t
	[[ $stderr == *"by what nodes report, level nvlink is beside the tree: block "*" is in l1 and in l2; 2 of 3 domains cross level leaf"* ]]
	expect_line 0 "8 nodes: 2 leaves of 4, 1 spine of 8; beside the tree 3 nvlinks of 1 to 4" onespine topology show t
	# and is in the tree again when they nest
	cp first t
	reports 1=a.1 2=a.1 3=a.1 4=a.1 5=b.1 6=b.1 7=b.1 8=b.1
	discover "topograph:$PWD/model.yaml,nvlink"
	expect_line 0 "8 nodes: 2 nvlinks of 4, 2 leaves of 4, 1 spine of 8" onespine topology show t
}

@test "no report, a damaged file, one that others may write, a third source: a sentence, and nothing changes" {
	discover nvlink
	cp t first
	reports 1=-
	expect 1 "onespine: no node that runs has reported an NVLink domain since it booted" discover nvlink
	echo 'gpu-1 x' >>t.reports
	expect 1 "onespine: t.reports:4:1: \"NODE BOOT HEARD INSTANCE NVLINK NEURON LEAVES\" is expected, each node once" discover nvlink
	reports 1=a.1
	chmod 666 t.reports
	run -1 onespine topology discover --from=nvlink --nodes=map -o t
	[[ $output == "onespine: t.reports: "* ]]
	rm t.reports
	run -1 onespine topology discover --from=nvlink --nodes=map -o t
	[[ $output == "onespine: no node has reported to a watch: t.reports: No such file"* ]]
	expect 2 "onespine: --from=ec2,infiniband,nvlink: nvlink goes with one other source" \
		onespine topology discover --from=ec2,infiniband,nvlink --nodes=map -o t
	expect 2 "onespine: --from=nvlink,nvlink: nvlink is there twice" onespine topology discover --from=nvlink,nvlink --nodes=map -o t
	expect 2 "onespine: nvlink needs watch.report_port in onespine.yaml: a port at which nodes report" \
		onespine topology watch --from=nvlink --nodes=map -o t
	cmp t first
}
