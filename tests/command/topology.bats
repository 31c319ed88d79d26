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

@test "nodes that are called by the ids of instances are told, with what gives them Slurm's names" {
	local says='by the id of an instance' knows='Slurm knows only those that slurm.conf calls so' id
	expect 0 "onespine: warning: 16 nodes are called $says (i-0ac8e9680f062d47a): $knows; --nodes with the output of aws ec2 \
describe-instances gives Slurm's names" onespine topology import --from=ec2 -o t "$EC2/p5-16-topology.json"
	expect 0 '' onespine topology import --from=ec2 --nodes="$EC2/p5-16-instances.json" -o t "$EC2/p5-16-topology.json"
	for id in i-0ac8e9680f062d47a ocid1.instance.oc1.iad.anuwcljt 7348915720351287455 \
		12345678-9abc-def0-1234-56789abcdef0; do
		printf 'host,leaf\na1,l1\n%s,l1\n' "$id" >hosts.csv
		expect 0 "onespine: warning: 1 node is called $says ($id): $knows; --nodes with an id and a node a line gives Slurm's names" \
			onespine topology import --from=csv -o t hosts.csv
		printf 'a1 gpu-1\n%s gpu-2\n' "$id" >map
		expect 0 '' onespine topology import --from=csv --nodes=map -o t hosts.csv
	done
	printf 'SwitchName=l1 Nodes=i-0ac8e9680f062d47a\n' >t.conf
	expect 0 "onespine: warning: 1 node is called $says (i-0ac8e9680f062d47a): $knows; expected are Slurm's names" \
		onespine topology import --from=slurm -o t t.conf
	for id in i-1 i-cafe gpu-0ac8e9680f 42 i-0ac8e968.example.com; do
		printf 'host,leaf\na1,l1\n%s,l1\n' "$id" >hosts.csv
		expect 0 '' onespine topology import --from=csv -o t hosts.csv
	done
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

@test "from CSV: a leaf per spine is said, since columns may be taken for the wrong layers" {
	local one='onespine: warning: there is one leaf per spine: 2 of each; if that is not so, --columns names the columns of hosts and of switches, top layer first'
	printf 'host,core,spine,leaf\na1,c,s1,l1\na2,c,s1,l1\na3,c,s2,l2\n' >hosts.csv
	expect 0 "$one" onespine topology import --from=csv -o t hosts.csv
	printf 'host,core,spine,leaf\na1,c1,s1,l1\na2,c1,s1,l1\na3,c2,s2,l2\n' >hosts.csv
	expect 0 "$one
${one//one leaf per spine/one spine per core}" onespine topology import --from=csv -o t hosts.csv
	printf 'host,spine,leaf\na1,s1,l1\na2,s1,l2\na3,s2,l3\n' >hosts.csv
	expect 0 '' onespine topology import --from=csv -o t hosts.csv
	printf 'host,spine,leaf\na1,s1,l1\na2,s1,l1\n' >hosts.csv
	expect 0 '' onespine topology import --from=csv -o t hosts.csv
}

# table NAMES sl|ls: 2 spines with 2 leaves of 2 hosts each, in columns of these names; spines first, or leaves
table() {
	local host=0 s l
	printf 'h,%s\n' "$1"
	for s in 1 2; do
		for l in 1 2 3 4; do
			host=$((host + 1))
			case $2 in
			sl) printf 'h%d,s%d,l%d\n' $host $s $((2 * s + (l - 1) / 2)) ;;
			ls) printf 'h%d,l%d,s%d\n' $host $((2 * s + (l - 1) / 2)) $s ;;
			esac
		done
	done
}

@test "from CSV: columns whose values contradict the order of the layers are refused, with the cure" {
	table a,b sl >hosts.csv
	onespine topology import --from=csv -o right hosts.csv
	table a,b ls >hosts.csv
	run onespine topology import --from=csv -o t hosts.csv
	[[ $status == 2 && ${lines[-1]} == "onespine: hosts.csv:1:1: a is taken for the layer above b, but each a has one b, and b s2 is below several: say --columns=h,b,a, or --columns=h,a,b if names of b mean something only below their a" ]]
	onespine topology import --from=csv --columns=h,b,a -o t hosts.csv
	diff right t
	table spine,leaf ls >hosts.csv
	run onespine topology import --from=csv -o t hosts.csv
	[[ $status == 2 && ${lines[-1]} == "onespine: hosts.csv:1:1: spine is taken for the layer above leaf, but each spine has one leaf, and leaf s2 is below several: swap these two names in the header, or --columns=h,spine,leaf if names of leaf mean something only below their spine" ]]
	expect_line 0 "8 nodes: 4 leaves of 2, 4 spines of 2" bash -c '"$ONESPINE" topology import --from=csv --columns=h,spine,leaf hosts.csv 2>/dev/null | "$ONESPINE" topology show -'
	expect 2 "onespine: hosts.csv:1:1: --columns: the host's column and then the top layer first are expected, but leaf comes before spine, which is above it" \
		onespine topology import --from=csv --columns=h,leaf,spine -o t hosts.csv
}

@test "from CSV: each level name has its column, and they are named from below" {
	table spine,leaf sl | sed s/^h,/host,/ >hosts.csv
	expect 2 "onespine: 2 columns of switches, but 3 level names" \
		onespine topology import --from=csv --levels=rack,pod,hall -o t hosts.csv
	expect 2 "onespine: the fabric has 2 layers, but only 1 level name is given" \
		onespine topology import --from=csv --levels=rack -o t hosts.csv
	expect 2 "onespine: --levels: the lowest level first is expected, but spine comes before leaf, which is below it" \
		onespine topology import --from=csv --levels=spine,leaf -o t hosts.csv
	onespine topology import --from=csv --levels=rack,pod -o t hosts.csv
	expect_line 0 "8 nodes: 4 racks of 2, 2 pods of 4" onespine topology show t
}

@test "to topology.conf and back: the switch that Slurm alone wants does not come back as a level" {
	local to
	table spine,leaf sl | sed s/^h,/host,/ >hosts.csv
	onespine topology import --from=csv -o t hosts.csv
	for to in topology.conf topology.yaml; do
		onespine topology import --from=onespine --to=$to -o back t
		grep -q root back
		onespine topology import --from=slurm -o t2 back
		diff <(onespine topology show t) <(onespine topology show t2)
	done
	# one that is another's child by now is a switch like others
	onespine topology import --from=onespine --to=topology.conf -o back t
	echo 'SwitchName=hall Switches=root' >>back
	expect_line 0 "8 nodes: 4 leaves of 2, 2 spines of 4, 1 core of 8, 1 layer4 of 8" onespine topology show back
}

@test "from InfiniBand: the recorded fabric's 8 units and 1 spine" {
	gzip -dc "$FILES/infiniband/ibnetdiscover-40-switches.out.gz" >sweep
	onespine topology import --from=infiniband -o t - <sweep 2>said
	expect_line 0 "121 nodes: 8 leaves of 10 to 18, 1 spine of 121" onespine topology show t
	# one of its hosts has two cables on each other's rail
	expect 0 "onespine: warning: standard input:2106: 72 channel adapters without a host's name (a map by GUID would name them), the first being H-e09d730300858d88 'MT4129 ConnectX7   Mellanox Technologies'; left out
onespine: warning: rails are swapped by the cables of b08-p1-dgx-08-c01: b08-p1-dgx-08-c01's HCA-5 is on switch S-2c5eab0300c26540, where most hosts have HCA-6; the place is the same" \
		cat said
	onespine topology import --from=infiniband --adapters='mlx5_*' --levels=unit,core -o t sweep 2>said
	expect_line 0 "19 nodes: 2 units of 2 to 17, 1 core of 19" onespine topology show t
	# the same links as a topology.conf, each rail a leaf of its own
	awk -v OFS= '
		function add(to, what) { of[to] = of[to] (of[to] ? "," : "") what }
		/^(Switch|Ca)/ { split($0, q, "\""); here = q[2]; next }
		/^\[/ {
			split($0, q, "\"")
			if (here ~ /^S/ && q[2] ~ /^H/ && split(q[4], w, " ") == 2 && w[1] != "localhost" && !seen[here, w[1]]++)
				add(here, w[1])
			if (here ~ /^S/ && q[2] ~ /^S/ && !seen[here, q[2]]++) { up[here]++; other[here, up[here]] = q[2] }
		}
		END {
			for (s in of) print "SwitchName=", s, " Nodes=", of[s]
			for (s in up) if (!(s in of)) {
				line = ""
				for (i = 1; i <= up[s]; i++) line = line (i > 1 ? "," : "") other[s, i]
				print "SwitchName=", s, " Switches=", line
			}
		}' sweep >rails.conf
	expect_line 0 "121 nodes: 8 leaves of 10 to 18, 1 spine of 121" onespine topology show <(onespine topology import --from=slurm rails.conf)
}

@test "from InfiniBand: a host whose own port is down sees no fabric" {
	cp "$FILES/infiniband/ibnetdiscover-lone-ca.out" lone
	expect 2 "onespine: lone: no link between 1 device: the port that swept is down, or this is a list (-l, -H, -S)" \
		onespine topology import --from=infiniband lone
}

@test "from topograph: its models, and what it makes for Slurm" {
	cat >model.yaml <<-END
		# Switch Model
		switches:
		  S1:
		    labels: {zone: z}
		    switches:
		    - S2
		    - S3
		blocks:
		- switch: S2
		  nodes: ["I[21-22]", "I25"]
		  annotations:
		    accelerator.topology.test/domain: nvl2
		- switch: S3
		  nodes: ["I[34-36]"]
		- switch: S2
		  nodes: [I29]
	END
	onespine topology import --from=topograph -o t model.yaml
	# what shares an NVLink domain is a level of its own, of which I29 is no part
	expect_line 0 "7 nodes: 1 nvlink of 3, 2 leaves of 3 to 4, 1 spine of 7" onespine topology show t
	expect_line 0 "  S2    S1       4  I[21-22,25,29]" onespine topology show t
	expect_line 0 "  nvl2    S2       3  I[21-22,25]" onespine topology show t
	cmp <(onespine topology import --from=topograph topology.conf | grep -v '"source"') <(onespine topology import --from=slurm topology.conf | grep -v '"source"')
	sed -i 's/- S3/- S4/' model.yaml
	expect 2 "onespine: model.yaml:4:5: switch S4 is not defined in this file" onespine topology import --from=topograph model.yaml
	sed -i 's/nodes: \[I29\]/nodes: I29/' model.yaml
	expect 2 "onespine: model.yaml:16:10: a list of names is expected" onespine topology import --from=topograph model.yaml
	echo 'blocks: []' >model.yaml
	expect 2 "onespine: model.yaml:1:9: a list of \"blocks\" is expected, as in topograph's models" onespine topology import --from=topograph model.yaml
}

@test "blocks of Slurm's topology.yaml and NVLink domains of topograph's models are the level nvlink" {
	cat >two.yaml <<-END
		- topology: fabric
		  cluster_default: true
		  tree:
		    switches:
		      - {switch: s1, children: "l[1-2]"}
		      - {switch: l1, nodes: "n[1-36]"}
		      - {switch: l2, nodes: "n[37-54]"}
		- topology: racks
		  block:
		    block_sizes: [16]
		    blocks:
		      - {block: r1, nodes: "n[1-18]"}
		      - {block: r2, nodes: "n[19-36]"}
		      - {block: r3, nodes: "n[37-53]"}
	END
	onespine topology import --from=slurm -o t two.yaml
	expect_line 0 "54 nodes: 3 nvlinks of 17 to 18, 2 leaves of 18 to 36, 1 spine of 54" onespine topology show t
	expect_line 0 "segments nvlink:16 leave 2 of 18 nodes in each full nvlink to others" \
		grep -o 'segments nvlink:16 leave.*' <(onespine fit --topology=t --free='n[1-54]' -N 48 --gang=spine --gang-segment=nvlink:16)
	# a rack under two leaves is no level below them, but one beside the tree
	sed 's/n\[19-36\]"}/n[19-37]"}/; s/n\[37-53\]/n[38-53]/' two.yaml >crossing.yaml
	expect_line 0 "onespine: warning: crossing.yaml: level nvlink is beside the tree: block r2 is in l1 and in l2; 1 of 3 domains cross level leaf" \
		onespine topology import --from=slurm -o t crossing.yaml
	expect_line 0 "54 nodes: 2 leaves of 18 to 36, 1 spine of 54; beside the tree 3 nvlinks of 16 to 19" onespine topology show t
	expect_line 0 "onespine: warning: level nvlink is beside the tree, and left out of Slurm's file" \
		onespine topology import --from=onespine --to=topology.conf -o t.conf t
	expect_line 0 "54 nodes: 2 leaves of 18 to 36, 1 spine of 54" onespine topology show <(onespine topology import --from=slurm t.conf)
	sed 's/n\[37-53\]/n[36-53]/' two.yaml >twice.yaml
	expect_line 0 "onespine: warning: twice.yaml: its blocks make no level nvlink: node n36 is in block r2 and in block r3" \
		onespine topology import --from=slurm -o t twice.yaml
	# an NVLink domain of whole leaves lies above them
	cat >racks.yaml <<-END
		switches:
		  core: {switches: [s1, s2]}
		  s1: {switches: [l1, l2]}
		  s2: {switches: [l3, l4]}
		blocks:
		- {switch: l1, nodes: ["n[1-4]"], labels: {network.topology.nvidia.com/accelerator: nvl-1, x.y/rack: a}}
		- {switch: l2, nodes: ["n[5-8]"], labels: {network.topology.nvidia.com/accelerator: nvl-1}}
		- {switch: l3, nodes: ["n[9-12]"], labels: {accelerated.topology.nvidia.com/level-0: nvl-2}}
		- {switch: l4, nodes: ["n[13-16]"], labels: {x.y/rack: d}}
	END
	expect 0 "" onespine topology import --from=topograph -o t racks.yaml
	[[ $(jq -c .levels t) == '["leaf","nvlink","spine","core"]' ]]
	[[ $(jq -c '[.domains[] | select(.level == "leaf") | .in]' t) == '["nvl-1","nvl-1","nvl-2","s2"]' ]]
	sed -i 's/nodes: "n\[19-36\]"/nodes: {}/' two.yaml
	expect 2 "onespine: two.yaml:13:28: a list of nodes is expected" onespine topology import --from=slurm two.yaml
}

@test "from topology.conf: a link that the other rails of a unit have is reported with switch and host" {
	cat >rails.conf <<-'END'
		SwitchName=a[1-4] Nodes=gpu[1-4]
		SwitchName=b[1-3] Nodes=gpu[5-8]
		SwitchName=b4 Nodes=gpu[5-7]
		SwitchName=spine Switches=a[1-4],b[1-4]
	END
	expect 0 'onespine: warning: rails.conf:3:12: switch b4 has no link to gpu8, as the other switches of unit b1 have' \
		onespine topology import --from=slurm -o t rails.conf
	expect_line 0 '8 nodes: 2 leaves of 4, 1 spine of 8' onespine topology show t
	sed -i 's/a\[1-4\] Nodes=gpu\[1-4\]/a[1-2] Nodes=gpu[1-3]/; $iSwitchName=a[3-4] Nodes=gpu[1-4]' rails.conf
	expect 0 'onespine: warning: rails.conf:1:12: switch a1 has no link to gpu4, as the other switches of unit a1 have; 3 such links in all' \
		onespine topology import --from=slurm -o t rails.conf
	sed -i 's/^/  /; s/  SwitchName=/- switch: /; s/ Nodes=/\n  nodes: /; s/ Switches=/\n  children: /; s/\(nodes\|children\): \(.*\)/\1: "\2"/' rails.conf
	printf -- '- topology: t\n  cluster_default: true\n  tree:\n    switches:\n%s\n' "$(sed 's/^/    /' rails.conf | grep .)" >rails.yaml
	run onespine topology import --from=slurm -o t rails.yaml
	[[ $status == 0 && $output == *'switch a1 has no link to gpu4, as the other switches of unit a1 have; 3 such links in all' ]] ||
		{ cat rails.yaml && echo "$output" && false; }
	expect 0 '' onespine topology import --from=slurm -o t "$FILES/topology/rails.conf"
	expect 0 '' onespine topology import --from=slurm -o t "$FILES/topology/tree.conf"
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

@test "a file of another kind is reported by name" {
	run onespine topology import --from=csv "$EC2/p5-16-topology.json"
	[[ $status == 2 ]]
	[[ $output == *"use --from ec2"* ]]
}

@test "options that do not go together" {
	expect 2 "onespine: --from is needed: ec2, infiniband, topograph, slurm, csv or onespine" onespine topology import x
	expect 2 "onespine: --from=ecw: not one of ec2,infiniband,topograph,slurm,csv,onespine; did you mean ec2?" \
		onespine topology import --from=ecw x
	expect 2 "onespine: --to=slurm: not one of onespine,topology.conf,topology.yaml" \
		onespine topology import --from=slurm --to=slurm topology.conf
	expect 2 "onespine: --nodes does not go with --from=slurm" \
		onespine topology import --from=slurm --nodes=x topology.conf
	expect 2 "onespine: --columns does not go with --from=ec2" \
		onespine topology import --from=ec2 --columns=a x
	expect 2 "onespine: --adapters does not go with --from=ec2" \
		onespine topology import --from=ec2 --adapters=a x
	expect 2 "onespine: --tag goes with --nodes" onespine topology import --from=ec2 --tag=Name x
	expect 2 "onespine: --from=slurm takes one FILE" \
		onespine topology import --from=slurm topology.conf topology.conf
	expect 2 "onespine: --levels: an empty name" \
		onespine topology import --from=ec2 --levels=a,,b "$EC2/p5-16-topology.json"
}

@test "a file is written so that slurmctld takes it, whatever the umask" {
	umask 002
	onespine topology import --from=ec2 -o t "$EC2/p5-16-topology.json"
	[[ $(stat -c %a t) == 644 ]]
	chmod 666 t
	onespine topology import --from=ec2 -o t "$EC2/p5-16-topology.json"
	[[ $(stat -c %a t) =~ ^6[46]4$ ]]
	umask 077
	onespine topology import --from=ec2 -o u "$EC2/p5-16-topology.json"
	[[ $(stat -c %a u) == 600 ]]
}

@test "each node's place, its source, and when it was asked" {
	cat >t <<-'END'
		{"onespine-topology": 1, "levels": ["leaf", "spine"], "domains": [
		{"level": "spine", "name": "s1"},
		{"level": "leaf", "name": "l1", "in": "s1", "nodes": "n[1-2]"}], "nodes": "n[3-5]",
		"places": [{"source": "ec2", "nodes": ["n1 i-0123 1700000000", "n3 i-4 0"]}, {"source": "infiniband", "nodes": "n2"}]}
	END
	printf '1700000100 n[1-2],gone\n1700000200 n2\n' >t.asked
	export TZ=UTC
	expect 0 "node  source      instance  asked                place          in
n1    ec2         i-0123    2023-11-14T22:15:00  not compared   leaf l1, spine s1
n2    infiniband  -         2023-11-14T22:16:40  holds          leaf l1, spine s1
n3    ec2         i-4       unknown              age not known  -
n4    -           -         -                    holds          -
n5    -           -         -                    holds          -" onespine topology show --nodes t
	expect 0 '["n1","ec2","i-0123",1700000000,1700000100,"not compared",{"leaf":"l1","spine":"s1"}]
["n2","infiniband",null,null,1700000200,"holds",{"leaf":"l1","spine":"s1"}]' \
		jq -c '.[:2][] | [.node, .source, .instance, .boot_s, .asked_s, .place, .in]' <(onespine topology show --nodes --json t)
	# what nobody knows is not taken for new, nor for a place that does not age
	expect 0 '[true,null]
[false,null]' jq -c '.[2:4][] | [has("asked_s"), .asked_s]' <(onespine topology show --nodes --json t)
	echo 'soon n1' >t.asked
	expect 2 'onespine: t.asked:1:1: "TIME NODES" is expected, as "1700000000 gpu-[1-4]"' onespine topology show --nodes t
	echo '7 n[1' >t.asked
	run onespine topology show --nodes t
	[[ $status == 2 && $output == "onespine: t.asked:1:"* ]]
}

# in_force: a slurm.conf whose slurmctld took ./state/onespine_topology last
in_force() {
	mkdir -p state
	printf 'ClusterName=made\nSlurmctldHost=none-of-ours\nStateSaveLocation=%s/state\n' "$PWD" >slurm.conf
	export SLURM_CONF=$PWD/slurm.conf
	write_conf t.conf
	onespine topology import --from=slurm t.conf -o state/onespine_topology
	instead="slurmctld goes by the last good one, $PWD/state/onespine_topology, and so does this"
}

@test "the topology in use is the last good one where the file is gone, broken or another user's; a check judges the file" {
	local all="16 nodes: 4 leaves of 4, 2 spines of 8"
	in_force
	expect_line 0 "$all" onespine topology show
	expect_line 0 "onespine: warning: $PWD/onespine.topology: no such file; $instead" onespine topology show
	expect_line 0 "onespine: warning: $PWD/onespine.topology: no such file; $instead" onespine hosts --nodes='n[1-2]'
	printf '{"onespine-topology": 1,\n "levels": [}\n' >onespine.topology
	expect_line 0 "$all" onespine topology show
	run onespine topology show
	[[ ${lines[0]} == "onespine: warning: $PWD/onespine.topology:2:"*"; $instead" ]]
	printf '{"onespine-topology": 1, "levels": ["leaf"], "domains": [{"level": "leaf", "name": "evil", "nodes": "n1"}]}\n' >onespine.topology
	expect_line 0 "  evil       1  n1" onespine topology show
	chmod 666 onespine.topology
	expect_line 0 "onespine: warning: $PWD/onespine.topology: others than its owner may write it (chmod go-w); $instead" \
		onespine topology show
	expect_line 0 "$all" onespine topology show
	expect 1 "onespine: $PWD/onespine.topology: others than its owner may write it (chmod go-w)" onespine topology check
	rm onespine.topology
	expect 2 "onespine: $PWD/onespine.topology: no such file; slurmctld sends it to no other host: copy it from slurmctld's, or name a copy" \
		onespine topology check
	# a copy that another user may write is none
	chmod 666 state/onespine_topology
	expect 2 "onespine: $PWD/onespine.topology: no such file; slurmctld sends it to no other host: copy it from slurmctld's, or name a copy" \
		onespine topology show
}

@test "the topology in use: on a configless host a missing file says nothing of slurmctld's" {
	in_force
	mkdir conf-cache
	cp slurm.conf conf-cache/
	export SLURM_CONF=$PWD/conf-cache/slurm.conf
	expect 2 "onespine: $PWD/conf-cache/onespine.topology: no such file; slurmctld sends it to no other host: copy it from slurmctld's, or name a copy" \
		onespine topology show
}

@test "the topology in use: who may not read the last good one is told so" {
	local nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	((!EUID)) || skip "as root"
	"${nobody[@]}" test -x "$ONESPINE" || skip "this build is not for others to run"
	in_force
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR"/{.,..}
	chmod 600 state/onespine_topology
	expect 2 "onespine: $PWD/onespine.topology: no such file; slurmctld may go by the last good one, which only root and SlurmUser can read" \
		"${nobody[@]}" "$ONESPINE" topology show
}

@test "an onespine.yaml that another user may write: what acts does not read it, what looks goes by the last good one" {
	in_force
	cp state/onespine_topology good.topology
	printf 'topology: good.topology\n' >state/onespine_config
	printf 'topology: evil.topology\nwatch: {from: ec2}\n' >onespine.yaml
	chmod 666 onespine.yaml
	local refused="onespine: $PWD/onespine.yaml: others than its owner may write it (chmod go-w)"
	expect 2 "$refused" timeout 20 "$ONESPINE" topology watch
	expect 2 "$refused" onespine topology discover -o t
	expect 1 "$refused" onespine topology accept
	((EUID)) || expect 2 "$refused" onespine recheck --dry-run
	run onespine topology show
	[[ $status == 0 && ${lines[0]} == "onespine: warning: $PWD/onespine.yaml: others than its owner may write it (chmod go-w); slurmctld goes by the last good one, $PWD/state/onespine_config, and so does this" ]]
	[[ ${lines[1]} == "16 nodes: "* ]]
}

@test "an NVLink domain of a CSV that crosses leaves comes apart, with a warning" {
	cd "$BATS_TEST_TMPDIR"
	printf 'host,spine,leaf,nvlink\nn1,s,l0,v1\nn2,s,l1,v1\n' >hosts.csv
	onespine topology import --from=csv --levels=nvlink,leaf,spine -o t hosts.csv 2>said
	grep -qF "warning: nvlink v1 is below l0 and l1, and becomes two domains, l0/v1 and l1/v1; if it is one, take another source for it: a CSV has no level beside the tree" said
	printf 'host,spine,leaf,nvlink\nn1,s,l0,v1\nn2,s,l1,v2\n' >hosts.csv
	onespine topology import --from=csv --levels=nvlink,leaf,spine -o t hosts.csv 2>said
	run grep -F "nvlink v" said
	[[ $status == 1 ]]
}
