#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# why, audit and map on a saved state

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

why() {
	onespine why --state="$MAP/small.json" "$@"
}

@test "why: a pending gang, its domains and what is in the way" {
	expect 0 "job 1206 train-405b of dora: PENDING, 6 nodes, gang=spine@2:00:00
  waits: 6 nodes on one spine; nearest: s1 has 2 free of 7 (4 short)
  Slurm's reason: Resources
  waits since 2025-10-09T07:53:20 (1h00m)
  from 2025-10-09T09:53:20 on one core will do

  spine  usable  free  short by  enough from
  s1          7     2         4  2025-10-09T11:58:20
  s2          6     1         5  no end known

In the way on spine s1:
  job 1201 (alice): 4 nodes, ends by 2025-10-09T11:58:20 (in 3h05m)
  job 1202 (bob): 1 node, ends by 2025-10-09T09:03:20 (in 10m)
  down: gpu-6 (GPU 3 <fell> off the bus)" why 1206
}

@test "why: a running gang, where it is" {
	expect 0 "job 1201 train-7b of alice: RUNNING, 4 nodes, gang=spine
  placed: 4 nodes on spine s1, 1 leaf
  runs since 2025-10-09T06:40:00; ends 2025-10-09T11:58:20
  all its nodes are on leaf l1:
  leaf l1: 4 nodes  gpu-[1-4]" why 1201
}

@test "why: a gang whose nodes boot does not run yet" {
	sed '/"1201"/s/"state": "RUNNING"/"state": "CONFIGURING"/' "$MAP/small.json" >boots.json
	run onespine why --state=boots.json 1201
	[[ ${lines[0]} == "job 1201 train-7b of alice: CONFIGURING, 4 nodes, gang=spine" ]]
	[[ ${lines[2]} == "  its nodes have been starting since 2025-10-09T06:40:00; ends 2025-10-09T11:58:20" ]]
}

@test "why: what the gate found stays to be read, gang or not" {
	sed 's/domain=s1; placed/domain=s1; gate=stopped 2 starts, of 4 nodes, 1 failed; placed/
		s/"id": 1202,/"id": 1202, "admin_comment": "[onespine: gate=passed on 1 node]",/' \
		"$MAP/small.json" >gate.json
	run onespine why --state=gate.json 1190
	[[ $status == 0 ]]
	[[ ${lines[1]} == "  gate: stopped 2 starts, of 4 nodes, 1 failed" ]]
	run onespine why --state=gate.json 1202
	[[ ${lines[1]} == "  gate: passed on 1 node" ]]
	[[ ${lines[2]} == "  no gang" ]]
	run onespine why --json --state=gate.json 1190
	[[ $(jq -r '.gate, .gate_stopped' <<<"$output" | paste -sd'|') == \
		"stopped 2 starts, of 4 nodes, 1 failed|2" ]]
}

@test "why: an array's task by either name, a job without a limit" {
	expect_line 0 "job 1203_4 pretrain of carol: SUSPENDED, 3 nodes, gang=spine@30:00" why 1203_4
	expect_line 0 "job 1203_4 pretrain of carol: SUSPENDED, 3 nodes, gang=spine@30:00" why 1203
	expect_line 0 "  runs since 2025-10-09T06:56:40; ends when it is done: it has no time limit" why 1203
}

@test "why: one that ended and was requeued" {
	expect_line 0 "job 1190 old of bob: NODE_FAIL, 4 nodes, gang=spine" why 1190
	expect_line 0 "  ran from 2025-10-08T07:53:20 to 2025-10-09T06:15:00" why 1190
	expect_line 0 "  requeued 1 time so far" why 1190
}

@test "why: in advise mode nothing holds it" {
	sed 's/gang=spine@2:00:00/gang=advise spine/' "$MAP/small.json" >advise.json
	expect_line 0 "  its partition is in advise mode: it starts where Slurm places it, on one domain or not" \
		onespine why 1206 --state=advise.json
}

@test "why: no gang" {
	expect 0 "job 1207 plain of bob: PENDING, 2 nodes
  no gang: Onespine has no part in why it waits
  jobs with a higher priority come first
  Slurm's reason: Priority
  waits since 2025-10-09T07:53:20 (1h00m)" why 1207
}

@test "why without a job: each waiting one in a line, one's own; root sees everyone's" {
	((EUID == 0)) || skip "as root"
	expect 0 "1206 train-405b of dora, 6 nodes, gang=spine@2:00:00, 1h00m: waits: 6 nodes on one spine; nearest: s1 has 2 free of 7 (4 short)
1207 plain of bob, 2 nodes, 1h00m: jobs with a higher priority come first" why
	expect 0 '[["1206","spine@2:00:00","Resources"],["1207",null,"Priority"]]' jq_of '[.[] | [.job, .gang, .reason]]' why --json
	sed 's/"pending"/"ended"/' "$MAP/small.json" >none.json
	expect 0 "no job waits" onespine why --state=none.json
	setpriv --reuid=65534 --clear-groups test -x "$ONESPINE" -a -r "$MAP/small.json" || skip "this build is not for others to run"
	sed 's/"bob"/"nobody"/' "$MAP/small.json" >mine.json
	expect 0 "1207 plain, 2 nodes, 1h00m: jobs with a higher priority come first" \
		setpriv --reuid=65534 --clear-groups "$ONESPINE" why --state=- <mine.json
	expect 0 "no job of nobody waits" setpriv --reuid=65534 --clear-groups "$ONESPINE" why --state=- <"$MAP/small.json"
}

@test "why: no such job; status 1" {
	expect 1 "job 9: slurmctld does not know it: never submitted, ended a while ago (sacct -j 9 may tell), or not yours to see" \
		why 9
	expect 1 false jq_of .known why 9 --json
}

@test "a word that can be no job's number: status 2, for each command alike" {
	local words
	for words in 'why abc' 'why 12x' 'why 1201_' 'hosts 1201x' 'map --job=1201,abc' 'layout --layout=dp8 --job=abc'; do
		# shellcheck disable=SC2086
		run "$ONESPINE" $words --state="$MAP/small.json"
		[[ $status == 2 && $output == *"' is no job: its number is expected, as 1201, 1201_7 of an array or 1201+1 of a heterogeneous job" ]] ||
			{ echo "$words: $status $output" && false; }
	done
}

@test "map: a job that shares its nodes is reported with whom; an unknown user is none" {
	sed 's/"nodes": "gpu-5", "submit_s"/"nodes": "gpu-4", "submit_s"/' "$MAP/small.json" >shared.json
	run "$ONESPINE" map --state=shared.json
	[[ $output == *"  1202 eval & test of bob, 1 node, 1 shared with 1201, whose letter is there, ends in 10m"* ]]
	[[ $output == *"A  1201 train-7b of alice, gang=spine, 4 nodes, ends in 3h05m"* ]]
	expect 2 "onespine: there is no user 'alise'; did you mean alice?" "$ONESPINE" map -u alise --state="$MAP/small.json"
	run "$ONESPINE" map -u root --state="$MAP/small.json"
	[[ $status == 0 ]]
}

# jq_of FILTER COMMAND...: with the command's status
jq_of() {
	local filter=$1 status=0
	shift
	"$@" >answer.json || status=$?
	jq -c "$filter" answer.json
	return $status
}

@test "why --json" {
	expect 0 '["1206",false,"s1",4,["1201","1202"],"gpu-6"]' jq_of \
		'[.job, .starts_now, .domains[0].domain, .domains[0].short_by, [.in_the_way[].job], .out[0].nodes]' \
		why 1206 --json
	expect 0 '[true,"leaf","l1"]' jq_of '[.in_one_domain, .level, .domain]' why 1201 --json
}

@test "audit: all in one domain" {
	expect 0 "3 gangs running: 3 as asked for, 0 not" onespine audit --state="$MAP/small.json"
}

@test "audit: a gang that is spread is a violation, in advise mode it is not" {
	sed 's/"nodes": "gpu-\[1-4\]", "sub/"nodes": "gpu-[1-3,16]", "sub/
		s/"gpu-\[13,16\]"/"gpu-[4,13]"/' "$MAP/small.json" >spread.json
	expect 1 "3 gangs running: 1 as asked for, 1 not, 1 spread in advise mode
Not as asked for:
  job 1201 (alice, RUNNING on gpu-[1-3,16]): asked for spine; nothing lower than core c1 holds all its nodes
Spread, in advise mode (no violation):
  job 1205 (dora, RUNNING on gpu-[4,13]): asked for advise leaf; nothing lower than core c1 holds all its nodes" \
		onespine audit --state=spread.json
	expect 1 '[false,1,1,1]' jq_of '[.clean, .kept, .broken, .advised]' \
		onespine audit --state=spread.json --json
	# and why says no other thing
	onespine why 1201 --state=spread.json | grep -qxF '  all its nodes are on core c1, and on nothing lower: that breaks what it asked for:'
	onespine why 1205 --state=spread.json | grep -qxF '  all its nodes are on core c1, and on nothing lower (its partition is in advise mode):'
}

# lay_out PIECES: job 1201 on two nodes of each of two leaves, with tp8,pp2,dp2 and these pieces in its note
lay_out() {
	sed "/\"job\": \"1201\"/{
		s/gang=spine; domain=s1; leaves=l1:gpu-(1-4);/gang=spine layout=tp8,pp2,dp2; domain=s1;$1/
		s/\"nodes\": \"gpu-\[1-4\]\"/\"nodes\": \"gpu-[1-2,6-7]\"/
	}" "$MAP/small.json" >layout.json
}

@test "audit --layout: groups as placed and as ranked" {
	# node ranks 0 to 3 are gpu-1, gpu-6, gpu-2, gpu-7: pipelines, two ranks apart, stay in a leaf
	lay_out ' leaves=l1:gpu-(1-2)|l2:gpu-(6-7); order=2x2.2x1;'
	expect 0 "3 gangs running: 3 as asked for, 0 not
Groups of their layouts, and how many domains one group touches at most:
  job 1201 (alice, 4 nodes): tp8,pp2,dp2
    group  members           held by      node     leaf    spine     core
    tp           8  placed   node            1        1        1        1
                    ranked   node            1        1        1        1
    dp           2  placed   spine           2        2        1        1
                    ranked   spine           2        2        1        1
    pp           2  placed   leaf            2        1        1        1
                    ranked   leaf            2        1        1        1" \
		onespine audit --state=layout.json --layout
	# by the leaves alone gpu-1 and gpu-2 are ranks 0 and 1: the gradients stay in a leaf instead
	lay_out ' leaves=l1:gpu-(1-2)|l2:gpu-(6-7);'
	expect 0 '[["tp","node","node"],["dp","spine","leaf"],["pp","leaf","spine"]]' \
		jq_of '[.gangs[0].layout.groups[] | [.group, .placed.held_by, .ranked.held_by]]' \
		onespine audit --state=layout.json --layout --json
}

@test "layout --job: without --layout that of the job" {
	lay_out ' leaves=l1:gpu-(1-2)|l2:gpu-(6-7); order=2x2.2x1;'
	expect_line 0 "tp8,pp2,dp2: 4 nodes of 8 GPUs, ranks as megatron orders them" onespine layout --job=1201 --state=layout.json
	expect_line 0 "tp8,pp4: 4 nodes of 8 GPUs, ranks as megatron orders them" \
		onespine layout --job=1201 --layout=tp8,pp4 --state=layout.json
	# what it keeps together is kept
	sed -i 's/layout=tp8,pp2,dp2;/layout=tp8,pp2,dp2 keep=pp:leaf;/' layout.json
	expect_line 0 "better: pipeline inside, as --keep asks (over the leaf, dp weighs 0.30 and pp 0.70: cost 1.40 and 0.60)" \
		onespine layout --job=1201 --state=layout.json
	expect 2 "onespine: job 1201 has no layout: say --layout=tp8,pp8,dp8" onespine layout --job=1201 --state="$MAP/small.json"
}

@test "audit --layout: no layout, no order of ranks, a layout that does not fit" {
	expect 0 "3 gangs running: 3 as asked for, 0 not
No running gang has a layout." onespine audit --state="$MAP/small.json" --layout
	lay_out ''
	expect_line 0 "    the order of its ranks is not known: its note has no leaves" \
		onespine audit --state=layout.json --layout
	expect 0 null jq_of '.gangs[0].layout.groups[0].ranked' onespine audit --state=layout.json --layout --json
	lay_out ' leaves=l1:gpu-(1-2);'
	expect_line 0 "    the order of its ranks is not known: its note does not fit its nodes" \
		onespine audit --state=layout.json --layout
	sed -i 's/pp2,dp2/pp2,dp3/' layout.json
	expect_line 0 "  job 1201 (alice): tp8,pp2,dp3 is 48 GPUs, but 4 nodes of 8 GPUs have 32; with dp2 it fits" \
		onespine audit --state=layout.json --layout
}

@test "audit: a gang whose nodes start is no violation yet" {
	sed '/"1201"/s/"state": "RUNNING"/"state": "CONFIGURING"/
		/"1201"/s/"nodes": "gpu-\[1-4\]", "sub/"nodes": "gpu-[1-3,16]", "sub/' "$MAP/small.json" >launched.json
	sed -i '/"1201"/s/\(gang=spine\); [^]]*\]/\1; launched: 4 nodes, 1 of them does not run yet]/' launched.json
	expect 0 "3 gangs running: 2 as asked for, 0 not, 1 on nodes that start
Their nodes start, and nobody knows yet where (no violation):
  job 1201 (alice, CONFIGURING on gpu-[1-3,16]): asked for spine; launched: 4 nodes, 1 of them does not run yet" \
		onespine audit --state=launched.json
	expect 0 '[true,2,0,1]' jq_of '[.clean, .kept, .broken, .launched]' onespine audit --state=launched.json --json
	sed -i 's/CONFIGURING/RUNNING/' launched.json
	run onespine audit --state=launched.json
	[[ $status == 1 ]]
}

@test "audit: a node that the topology lacks, a level that it lacks" {
	write_conf topology.conf
	sed -i 's/\bn\[/gpu-[/; s/gpu-\[1-4\]/gpu-[1-3]/' topology.conf
	run onespine audit --state="$MAP/small.json" --topology=topology.conf
	[[ $status == 1 ]]
	[[ $output == *"job 1201 (alice, RUNNING on gpu-[1-4]): asked for spine; no domain holds all its nodes"* ]]
	sed 's/gang=spine;/gang=pod;/' "$MAP/small.json" >pod.json
	run onespine audit --state=pod.json
	[[ $status == 1 ]]
	[[ $output == *"asked for pod; the topology has no level pod"* ]]
}

@test "audit: suspended and completing jobs count" {
	sed 's/"gpu-\[9-11\]", "sub/"gpu-[8-10]", "sub/; s/spine@30:00/spine/' "$MAP/small.json" >s.json
	run onespine audit --state=s.json
	[[ $status == 1 ]]
	[[ $output == *"job 1203_4 (carol, SUSPENDED on gpu-[8-10])"* ]]
	sed 's/"gpu-12", "sub\(.*\)}/"gpu-[8,12]", "admin_comment": "[onespine: gang=spine]", "sub\1}/' \
		"$MAP/small.json" >c.json
	run onespine audit --state=c.json
	[[ $status == 1 ]]
	[[ $output == *"job 1204 (carol, COMPLETING on gpu-[8,12])"* ]]
}

@test "map: as in the kept picture, plain when it is no terminal" {
	onespine map --state="$MAP/small.json" | diff "$MAP/small.txt" -
	LC_ALL=C onespine map --width=60 --state="$MAP/small.json" | diff "$MAP/small.ascii" -
	onespine map -p debug --state="$MAP/small.json" | diff "$MAP/debug.txt" -
	onespine map --svg=out.svg --state="$MAP/small.json"
	cmp out.svg "$MAP/small.svg"
}

@test "map: colours on a terminal, none with NO_COLOR or on a dumb one" {
	command -v script >/dev/null || skip "no script(1)"
	on_terminal() {
		script -qec "$ONESPINE map --width=100 --state=$MAP/small.json" /dev/null | tr -d '\r'
	}
	TERM=xterm on_terminal | diff "$MAP/small.colour" -
	TERM=xterm NO_COLOR=1 on_terminal | diff "$MAP/small.txt" -
	TERM=dumb on_terminal | diff "$MAP/small.txt" -
}

@test "map: NVLink domains below a leaf are apart in its row; a level beside the tree is named, and not drawn" {
	local n
	for n in {1..16}; do
		printf 'gpu-%d,s%d,l%d,r%d\n' "$n" $(((n + 7) / 8)) $(((n + 7) / 8)) $(((n + 2) / 3))
	done | sed '1i host,spine,leaf,nvlink' >hosts.csv
	onespine topology import --from=csv --levels=nvlink,leaf,spine -o racks hosts.csv
	run onespine map --state="$MAP/small.json" --topology=racks
	[ "${lines[0]}" = 'small: 16 nodes: 10 busy, 3 free, 3 out; 5 jobs, 3 of them gangs' ]
	[ "${lines[2]}" = '│ l1  A A A  A D x  . .  │  │ l2  B  B B E  d r ~  C │' ]
	cat >crossing.yaml <<-END
		- topology: fabric
		  cluster_default: true
		  tree:
		    switches:
		      - {switch: s1, children: "l[1-2]"}
		      - {switch: l1, nodes: "gpu-[1-8]"}
		      - {switch: l2, nodes: "gpu-[9-16]"}
		- topology: racks
		  block:
		    block_sizes: [4]
		    blocks:
		      - {block: r1, nodes: "gpu-[1-6]"}
		      - {block: r2, nodes: "gpu-[7-12]"}
	END
	onespine topology import --from=slurm -o crossing crossing.yaml
	run onespine map --state="$MAP/small.json" --topology=crossing
	[ "${lines[0]}" = 'small: 16 nodes: 10 busy, 3 free, 3 out; 5 jobs, 3 of them gangs; nvlink is beside the tree, and not drawn' ]
	[ "${lines[2]}" = '│ l1  A A A A D x . . │' ]
}

@test "where PrivateData hides others' jobs, map and audit say that theirs are not all" {
	jq '.hides_jobs = true | .jobs |= map(select(.user == "bob"))' "$MAP/small.json" >private.json
	expect_line 0 "small: 16 nodes: 10 busy, 3 free, 3 out; 1 job, no gang (PrivateData=jobs: others' only if you are an operator)" \
		onespine map --state=private.json
	expect 0 "0 gangs running: 0 as asked for, 0 not
  PrivateData=jobs: others' gangs are audited only if you are an operator" onespine audit --state=private.json
	[[ $(onespine audit --state=private.json --json | jq -c '[.hides_jobs, .gangs]') == '[true,[]]' ]]
	[[ $(onespine audit --state="$MAP/small.json" --json | jq .hides_jobs) == null ]]
}

@test "map: no line ends with blanks, also where no job is shown" {
	[[ $(onespine map --state="$MAP/small.json" --user=root) == *$'\n. idle (2)   # in use by a job not shown (10)   '*'   x down (1)' ]]
	[[ -z $(onespine map --state="$MAP/small.json" --user=root | grep ' $') ]]
	[[ -z $(onespine map --state="$MAP/small.json" | grep ' $') ]]
}

@test "map -p takes several partitions, as sbatch does: the nodes of all, and the gangs that wait in one of them" {
	expect 0 "$(<"$MAP/small.txt")" onespine map --state="$MAP/small.json" -p debug,gpu
	jq '.partitions = [{name: "a", nodes: "gpu-[1-2]", up: true}, {name: "ab", nodes: "gpu-[9-10]", up: true},
		{name: "b", nodes: "gpu-[15-16]", default: true, up: true}] |
		(.jobs[] | select(.id == 1206)).partition = "x,ab"' "$MAP/small.json" >three.json
	[[ $(onespine map --state=three.json -p a,ab) == 'small: 4 nodes: '*$'\nwaiting\n   1206 '* ]]
	[[ $(onespine map --state=three.json -p a,b) == 'small: 4 nodes: '* ]]
	[[ $(onespine map --state=three.json -p a,b) != *waiting* ]]
	expect 2 "onespine: there is no partition 'abc'; did you mean ab?" onespine map --state=three.json -p a,abc
	expect 2 "onespine: there is no partition ''" onespine map --state=three.json -p a,
}

@test "map --json is a state that draws the same map" {
	onespine map --json --state="$MAP/small.json" >again.json
	onespine map --state=again.json | diff "$MAP/small.txt" -
}

@test "map: what cannot be drawn; status 2" {
	expect 2 "onespine: --width=9: a number of columns from 40 to 1000" onespine map --width=9
	jq 'del(.topology)' "$MAP/small.json" >state.json
	expect 2 "onespine: state.json: it holds no topology; add --topology" onespine map --state=state.json
	echo '{' >broken.json
	expect 2 "onespine: broken.json:2: no JSON: string or '}' expected near end of file" \
		onespine map --state=broken.json
}

@test "what takes longer than two seconds says so on a terminal, and wipes it away" {
	command -v script >/dev/null || skip "no script(1)"
	mkfifo slow.json
	script -qfec "$ONESPINE audit --state=slow.json" typed >/dev/null &
	for _ in {1..100}; do
		! grep -q 'reading files\.\.\.' typed 2>/dev/null || break
		sleep 0.1
	done
	cat "$MAP/small.json" >slow.json
	wait $!
	grep -q $'reading files\\.\\.\\.\r\033\\[K' typed
	grep -q '3 gangs running: 3 as asked for, 0 not' typed
}
