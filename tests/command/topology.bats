#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# topology import, show and check on files

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	write_conf topology.conf
}

@test "from EC2: names by describe-instances, levels from the answer" {
	onespine topology import --from=ec2 --nodes="$EC2/p5-16-instances.json" -o t "$EC2/p5-16-topology.json"
	expect_line 0 "16 nodes: 4 leaves of 4, 2 spines of 8, 1 core of 16, 1 zone of 16" onespine topology show t
	expect_line 0 "  nn-11caf27a32370c131  nn-9078040ee979b8d2b       4  ip-10-1-32-[11,17,23,42]" \
		onespine topology show t
}

@test "from EC2: levels can be named" {
	onespine topology import --from=ec2 --levels=rack,row,hall -o t "$EC2/p5-16-topology.json"
	expect_line 0 "16 nodes: 4 racks of 4, 2 rows of 8, 1 hall of 16, 1 zone of 16" onespine topology show t
}

@test "several files are pages of one answer; one given twice is refused" {
	cd "$FILES/ec2" || return
	onespine topology import --from=ec2 -o "$BATS_TEST_TMPDIR/t" mixed-page1.json mixed-page2.json
	run onespine topology import --from=ec2 -o "$BATS_TEST_TMPDIR/u" mixed-page1.json mixed-page1.json
	[[ $status == 2 ]]
	[[ $output == "onespine: mixed-page1.json:"*":"*": "* ]]
	[[ ! -e $BATS_TEST_TMPDIR/u ]]
}

@test "from a production fabric's CSV" {
	printf 'host,core,spine,leaf\na1,c,s1,l1\na2,c,s1,l1\na3,c,s2,l2\n' >hosts.csv
	onespine topology import --from=csv -o t hosts.csv
	expect_line 0 "3 nodes: 2 leaves of 1 to 2, 2 spines of 1 to 2, 1 core of 3" onespine topology show t
	onespine topology import --from=csv --columns=host,spine -o u hosts.csv
	expect_line 0 "3 nodes: 2 leaves of 1 to 2" onespine topology show u
}

@test "from topology.conf to onespine.topology and back" {
	echo 'SwitchName=c1 Switches=s[1-2]' >>topology.conf
	onespine topology import --from=slurm -o t topology.conf
	onespine topology import --from=onespine --to=topology.conf -o back.conf t
	onespine topology import --from=slurm -o t2 back.conf
	diff <(onespine topology show t) <(onespine topology show t2)
}

@test "from a pipe to a pipe" {
	onespine topology import --from=slurm - <topology.conf | onespine topology show - >shown
	onespine topology show topology.conf | diff - shown
	onespine topology import --from=slurm topology.conf --output=/dev/stdout | cmp - \
		<(onespine topology import --from=slurm topology.conf)
}

@test "show: a table for each level" {
	expect 0 "16 nodes: 4 leaves of 4, 2 spines of 8

  spine   nodes
  s1          8  n[1-8]
  s2          8  n[9-16]

  leaf  in   nodes
  l1    s1       4  n[1-4]
  l2    s1       4  n[5-8]
  l3    s2       4  n[9-12]
  l4    s2       4  n[13-16]" onespine topology show topology.conf
}

@test "show --json" {
	onespine topology show --json topology.conf >j
	expect 0 '["leaf","spine"]' jq -c .levels j
	expect 0 '{"level":"leaf","name":"l2","in":"s1","node_count":4,"nodes":"n[5-8]"}' \
		jq -c '.domains[] | select(.name == "l2")' j
}

@test "check: right files" {
	expect 0 "topology.conf: 16 nodes: 4 leaves of 4, 2 spines of 8
not compared with Slurm's nodes: no slurm.conf found" onespine topology check topology.conf
	expect 0 true jq .right <(onespine topology check --json topology.conf)
}

@test "check: wrong files, with the place; status 1" {
	sed -i 's/n\[13-16\]/n[4-16]/' topology.conf
	run onespine topology check topology.conf
	[[ $status == 1 ]]
	[[ $output == "onespine: topology.conf:4:"*"node n4 "*"l1"* ]]
	printf '{"onespine-topology": 1,\n "lvels": []}' >t
	run onespine topology check t
	[[ $status == 1 ]]
	[[ $output == "onespine: t:2:2: "*"lvels"*"levels"* ]]
}

@test "check: a file that is not there is no answer; status 2" {
	expect 2 "onespine: none: cannot be opened: No such file or directory" onespine topology check none
}

@test "a file of another kind is told by name" {
	run onespine topology import --from=csv "$EC2/p5-16-topology.json"
	[[ $status == 2 ]]
	[[ $output == *"use --from ec2"* ]]
}

@test "options that do not go together" {
	expect 2 "onespine: --from is needed: ec2, slurm, csv or onespine" onespine topology import x
	expect 2 "onespine: --from=ecw: not one of ec2,slurm,csv,onespine; did you mean ec2?" \
		onespine topology import --from=ecw x
	expect 2 "onespine: --to=slurm: not one of onespine,topology.conf,topology.yaml" \
		onespine topology import --from=slurm --to=slurm topology.conf
	expect 2 "onespine: --nodes does not go with --from=slurm" \
		onespine topology import --from=slurm --nodes=x topology.conf
	expect 2 "onespine: --columns does not go with --from=ec2" \
		onespine topology import --from=ec2 --columns=a x
	expect 2 "onespine: --tag goes with --nodes" onespine topology import --from=ec2 --tag=Name x
	expect 2 "onespine: --from=slurm takes one FILE" \
		onespine topology import --from=slurm topology.conf topology.conf
	expect 2 "onespine: --levels: an empty name" \
		onespine topology import --from=ec2 --levels=a,,b "$EC2/p5-16-topology.json"
}
