#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_shapes.bats - fabrics of every shape, requests of every kind, policies
#
# One cluster of 12 nodes; each test lays its own topology and policy over it.

load helpers

setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 3 2 2
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1 \
		--partition 'gpu Nodes=ALL Default=YES' \
		--partition 'left Nodes=n[1-4]' --partition 'right Nodes=n[5-10]' --partition 'all Nodes=ALL' \
		--partition 'forced Nodes=ALL OverSubscribe=FORCE:2' \
		--partition 'once Nodes=ALL OverSubscribe=FORCE:1' --partition 'twice Nodes=ALL OverSubscribe=FORCE:1'
}

# fabric LEVELS LINE...: the topology in force from now on; a line is "LEVEL NAME IN NODES", - for none
fabric() {
	local line level name in nodes separator=
	{
		printf '{"onespine-topology": 1, "levels": ["%s"], "domains": [\n' "${1//,/\", \"}"
		shift
		for line; do
			read -r level name in nodes <<<"$line"
			printf '%s{"level": "%s", "name": "%s"' "$separator" "$level" "$name"
			[[ $in == - ]] || printf ', "in": "%s"' "$in"
			[[ -z $nodes ]] || printf ', "nodes": "%s"' "$nodes"
			printf '}'
			separator=$',\n'
		done
		printf ']}\n'
	} >"$ONESPINE_CLUSTER/onespine.topology.new"
	mv "$ONESPINE_CLUSTER/onespine.topology.new" "$ONESPINE_CLUSTER/onespine.topology"
	reconfigure
}

# policy: onespine.yaml from stdin, in force from the next reconfigure on
policy() {
	cat >"$ONESPINE_CLUSTER/onespine.yaml"
}

reconfigure() {
	log_mark
	cluster reconfigure --dir "$ONESPINE_CLUSTER"
	! log_since 'error: onespine:' || fail "the new files were refused"
}

setup() {
	rm -f "$ONESPINE_CLUSTER/onespine.yaml"
	free_all
}

note() {
	job_field "$1" AdminComment
}

nodes_of() {
	job_nodes "$1" | paste -sd' '
}

# runs SBATCH-OPTION...: submits, waits until it runs; $job is its number
runs() {
	job=$(submit --exclusive "$@")
	await_job "$job" RUNNING
}

# waits WORDS SBATCH-OPTION...: submits; the job waits, not held, and says so; $job is its number
waits() {
	local words=$1
	shift
	job=$(submit --exclusive "$@")
	await 20 note_holds "$job" "$words"
	stays 2 job_is "$job" PENDING
	[[ $(job_field "$job" Priority) != 0 ]] || fail "job $job is held"
}

# refused WORDS SBATCH-OPTION...
refused() {
	local words=$1
	shift
	holds "$(submit_refused --exclusive "$@")" "$words"
}

# --- fabrics --------------------------------------------------------------------------------------

@test "spines of 2, 4 and 6 nodes: each gang goes to the smallest that holds it" {
	fabric leaf,spine 'spine s1 - ' 'spine s2 -' 'spine s3 -' \
		'leaf l1 s1 n[1-2]' 'leaf l2 s2 n[3-6]' 'leaf l3 s3 n[7-12]'
	runs --gang -N4
	equal "$(job_spines "$job")" s2
	runs --gang -N5
	equal "$(job_spines "$job")" s3
	runs --gang -N2
	equal "$(job_spines "$job")" s1
	refused '7 nodes on one spine asked for; the largest spine of partition gpu has 6 (s3)' --gang -N7
}

@test "one layer: leaves are all there is" {
	fabric leaf 'leaf l1 - n[1-5]' 'leaf l2 - n[6-12]'
	refused "there is no level 'spine' in this fabric" --gang -N2
	runs --gang=leaf -N6
	equal "$(job_domains "$job" leaf)" l2
	runs --gang=leaf -N4
	equal "$(job_domains "$job" leaf)" l1
	waits 'waits: 2 nodes on one leaf' --gang=leaf -N2
	scancel "$job"
	policy <<<'defaults: {level: leaf}'
	reconfigure
	free_all
	runs --gang -N7
	equal "$(job_domains "$job" leaf)" l2
}

@test "three layers: a core above the spines" {
	fabric leaf,spine,core 'core c1 -' 'core c2 -' 'spine s1 c1' 'spine s2 c1' 'spine s3 c2' \
		'leaf l1 s1 n[1-4]' 'leaf l2 s2 n[5-8]' 'leaf l3 s3 n[9-12]'
	refused 'ask for --gang=core or 4 nodes' --gang -N6
	hold 'n[1-2],n9'
	waits 'waits: 4 nodes on one core' --gang=core -N4 -x 'n[5-8]'
	scancel "$job"
	runs --gang=core -N6
	equal "$(job_domains "$job" core)" c1
	equal "$(job_spines "$job" | paste -sd' ')" 's1 s2'
	refused '9 nodes on one core asked for' --gang=core -N9
}

@test "four layers and a zone: every level can be asked for" {
	fabric leaf,spine,core,layer4,zone 'zone z -' 'layer4 t1 z' 'layer4 t2 z' 'core c1 t1' 'core c2 t1' \
		'core c3 t2' 'spine s1 c1' 'spine s2 c1' 'spine s3 c2' 'spine s4 c3' \
		'leaf l1 s1 n[1-2]' 'leaf l2 s1 n3' 'leaf l3 s2 n[4-6]' 'leaf l4 s3 n[7-9]' 'leaf l5 s4 n[10-12]'
	runs --gang=leaf -N3
	on_one_spine "$job" leaf
	scancel "$job"
	runs --gang=spine -N3
	on_one_spine "$job"
	scancel "$job"
	runs --gang=core -N6
	equal "$(job_domains "$job" core)" c1
	scancel "$job"
	runs --gang=layer4 -N8
	equal "$(job_domains "$job" layer4)" t1
	scancel "$job"
	runs --gang=zone -N12
	scancel "$job"
	refused '10 nodes on one layer4 asked for; the largest layer4 of partition gpu has 9 (t1); ask for --gang=zone or 9 nodes' \
		--gang=layer4 -N10
	refused 'did you mean layer4?' --gang=layr4 -N2
}

@test "two roots: a gang at the top level is under one of them" {
	fabric leaf,spine,core 'core left -' 'core right -' 'spine s1 left' 'spine s2 right' 'spine s3 right' \
		'leaf l1 s1 n[1-6]' 'leaf l2 s2 n[7-9]' 'leaf l3 s3 n[10-12]'
	hold 'n1,n7'
	waits 'waits: 6 nodes on one core' --gang=core -N6
	release n7
	await_job "$job" RUNNING
	equal "$(job_domains "$job" core)" right
}

@test "two zones: never both, even for --gang=zone" {
	fabric leaf,spine,zone 'zone z1 -' 'zone z2 -' 'spine s1 z1' 'spine s2 z1' 'spine s3 z2' \
		'leaf l1 s1 n[1-3]' 'leaf l2 s2 n[4-6]' 'leaf l3 s3 n[7-12]'
	refused '7 nodes on one zone asked for' --gang=zone -N7
	hold 'n1,n7'
	waits 'waits: 6 nodes on one zone' --gang=zone -N6
	release n1
	await_job "$job" RUNNING
	equal "$(job_domains "$job" zone)" z1
	equal "$(job_spines "$job" | paste -sd' ')" 's1 s2'
}

@test "two zones: neither in several spines nor after its @TIME is a gang in both" {
	fabric leaf,spine,zone 'zone z1 -' 'zone z2 -' 'spine s1 z1' 'spine s2 z1' 'spine s3 z2' 'spine s4 z2' \
		'leaf l1 s1 n[1-3]' 'leaf l2 s2 n[4-6]' 'leaf l3 s3 n[7-9]' 'leaf l4 s4 n[10-12]'
	refused '7 nodes on at most 3 spines of one zone asked for; with all nodes of partition gpu free so many hold 6' \
		--gang=spine --gang-domains=3 -N7
	refused '--gang-domains=2: several of level zone never form one gang' --gang=zone --gang-domains=2 -N7
	hold 'n[1-2],n7'
	waits 'waits: 6 nodes on at most 4 spines of one zone' --gang=spine --gang-domains=4 -N6
	run onespine fit -N6 --gang=spine --gang-domains=4
	[[ $status != 0 ]]
	scancel "$job"
	waits 'waits: 6 nodes on one zone' --gang=zone@00:01 -N6
	stays 3 job_is "$job" PENDING
	holds "$(onespine why "$job")" 'its @TIME changes nothing: several zones never form one gang'
	note_holds "$job" 'waits: 6 nodes on one zone'
	scancel "$job"
	runs --gang=spine --gang-domains=2 -N5
	equal "$(job_domains "$job" zone)" z2
	runs --gang=zone@00:01 -N4
	equal "$(job_domains "$job" zone)" z1
	scancel "$job"
	runs --gang=spine --gang-domains=2 -N4
	equal "$(job_domains "$job" zone)" z1
}

@test "a level above the zones: refused for what it is, of the job and of the policy, and never relaxed to" {
	local above='level region is above the zones, and several zones never form one gang; ask for --gang=zone or a level below'
	fabric leaf,spine,zone,region 'region r -' 'zone z1 r' 'zone z2 r' 'spine s1 z1' 'spine s2 z2' \
		'leaf l1 s1 n[1-6]' 'leaf l2 s2 n[7-12]'
	refused "$above" --gang=region -N2
	refused "$above" --gang=region --gang-domains=2 -N2
	run onespine fit -N2 --gang=region
	holds "$output" "$above"
	hold 'n1,n7'
	waits 'waits: 6 nodes on one zone' --gang=zone@00:01 -N6
	stays 3 job_is "$job" PENDING
	policy <<<'defaults: {level: region}'
	log_mark
	cluster reconfigure --dir "$ONESPINE_CLUSTER"
	log_since "error: onespine: onespine.yaml:1:19: in the topology .* level 'region' is above the zones"
	refused "$above" --gang -N2
	run onespine doctor
	holds "$output" "level 'region' is above the zones, and several zones never form one gang; say zone or a level below"
	runs --gang=zone -N4
	on_one_spine "$job" zone
}

@test "a level of zones of which none is known bounds nothing, and @TIME passes over it" {
	fabric leaf,spine,zone,region 'region r -' 'spine s1 r' 'spine s2 r' 'leaf l1 s1 n[1-6]' 'leaf l2 s2 n[7-12]'
	refused '2 nodes on one zone asked for' --gang=zone -N2
	refused '7 nodes on one spine asked for' --gang=spine -N7
	hold 'n1,n7'
	waits 'waits: 6 nodes on one spine' --gang=spine@00:10 -N6
	await_job "$job" RUNNING 40
	equal "$(job_spines "$job" | paste -sd' ')" 's1 s2'
	runs --gang=region -N4
}

@test "one known zone: nodes whose zone is not known form no gang with its nodes" {
	fabric leaf,spine,zone 'zone z1 -' 'spine s1 z1' 'spine s2 -' 'leaf l1 s1 n[1-4]' 'leaf l2 s2 n[5-8]'
	refused '8 nodes on at most 2 spines asked for; with all nodes of partition gpu free so many hold 4' \
		--gang=spine --gang-domains=2 -N8
	hold n1
	runs --gang=spine --gang-domains=2 -N4
	equal "$(job_spines "$job" | paste -sd' ')" s2
	! log_since 'goes back to the queue'
}

@test "nodes whose level is unknown satisfy no gang of that level, nodes outside the fabric none at all" {
	fabric leaf,spine 'spine s1 -' 'spine s2 - n[5-8]' 'leaf l1 s1 n[1-4]'
	log_since '4 of Slurm.s 12 nodes are not in it and run no gang'
	hold n1
	waits 'waits: 4 nodes on one leaf' --gang=leaf -N4
	scancel "$job"
	runs --gang -N4
	equal "$(nodes_of "$job")" 'n5 n6 n7 n8'
	waits 'waits: 4 nodes on one spine' --gang -N4
	refused '1 node' --gang -N1 -w n9
	runs -N4
	equal "$(nodes_of "$job")" 'n9 n10 n11 n12'
	scancel "$job"
}

# --- kinds of node --------------------------------------------------------------------------------

# kinds HOSTLIST FEATURE HOSTLIST FEATURE: these nodes have it; the other nodes none
kinds() {
	scontrol update NodeName='n[1-12]' AvailableFeatures= ActiveFeatures=
	while (($#)); do
		scontrol update "NodeName=$1" "AvailableFeatures=$2"
		shift 2
	done
}

@test "instance types do not mix in a gang, unless policy says so" {
	fabric leaf,spine 'spine s1 -' 'spine s2 -' 'leaf l1 s1 n[1-6]' 'leaf l2 s2 n[7-12]'
	kinds 'n[1-3],n[7-9]' static,p5.48xlarge 'n[4-6],n[10-12]' p5en.48xlarge
	runs --gang -N3
	matches "$(nodes_of "$job")" '^(n1 n2 n3|n4 n5 n6|n7 n8 n9|n10 n11 n12)$'
	scancel "$job"
	await 20 job_is "$job" CANCELLED
	runs --gang -N3 -C p5en.48xlarge
	matches "$(nodes_of "$job")" '^(n4 n5 n6|n10 n11 n12)$'
	refused '4 nodes on one spine asked for' --gang -N4
	policy <<<'defaults: {mix_kinds: true}'
	reconfigure
	kinds 'n[1-3],n[7-9]' static,p5.48xlarge 'n[4-6],n[10-12]' p5en.48xlarge
	runs --gang -N6
	on_one_spine "$job"
	scancel "$job"
	kinds
}

@test "GPU types do not mix in a gang" {
	make_topology "$BATS_TEST_TMPDIR/onespine.topology" 2 1 4
	first=$ONESPINE_CLUSTER
	gpu_cluster
	job=$(submit --gang -N4 --exclusive)
	await_job "$job" CONFIGURING
	equal "$(nodes_of "$job")" 'n1 n2 n3 n4'
	waiting=$(submit --gang -N4 --exclusive)
	await 20 note_holds "$waiting" 'waits: 4 nodes on one spine'
	two=$(submit --gang -N2 --exclusive --priority=1)
	await_job "$two" CONFIGURING
	matches "$(nodes_of "$two")" '^(n5 n6|n7 n8)$'
	holds "$(submit_refused --gang -N4 --exclusive -w n5)" '4 nodes on one spine asked for'
	holds "$(submit_refused --gang -N2 --exclusive -w n6,n7)" '2 nodes on one spine asked for'
	cluster_stop
	cluster_use "$first"
}

# s1 has four h100 nodes, s2 two of h100 and two of h200; nothing starts there, so cloud nodes do
gpu_cluster() {
	cluster_start --cloud 8 --topology "$BATS_TEST_TMPDIR/onespine.topology" \
		--conf GresTypes=gpu --conf ResumeProgram=/bin/true \
		--node-conf 'NodeName=n[1-6] Gres=gpu:h100:8' --node-conf 'NodeName=n[7-8] Gres=gpu:h200:8'
}

# --- requests -------------------------------------------------------------------------------------

@test "several partitions: the gang runs whole in one spine of one of them" {
	# of s1 each partition has a part, and neither all of it
	fabric leaf,spine 'spine s1 -' 'spine s2 -' 'leaf l1 s1 n[1-6]' 'leaf l2 s2 n[7-12]'
	hold 'n1,n7'
	waits 'waits: 4 nodes on one spine' --gang -N4 -p left,right
	release n7
	await_job "$job" RUNNING
	equal "$(job_spines "$job")" s2
	equal "$(job_field "$job" Partition)" right
	refused '5 nodes on one spine asked for; the largest spine of partition right has 4' --gang -N5 -p left,right
	refused 'the largest spine of partition right has 4' --gang -N6 -p right
	runs --gang -N2 -p right -x 'n[7-10]'
	equal "$(nodes_of "$job")" 'n5 n6'
}

@test "a gang that no spine can ever hold by its tasks is refused too" {
	fabric leaf,spine 'spine s1 - ' 'spine s2 -' 'leaf l1 s1 n[1-4]' 'leaf l2 s2 n[5-12]'
	refused '9 nodes on one spine asked for; the largest spine of partition gpu has 8 (s2); ask for 8 nodes' \
		--gang -n 35 --ntasks-per-node=4
	runs --gang -n 29 --ntasks-per-node=4
	equal "$(job_spines "$job")" s2
	job=$(submit --hold --gang=spine -n 29 --ntasks-per-node=4)
	said=$(onespine set "$job" --gang=leaf 2>&1)
	holds "$said" "job $job now asks for --gang=leaf"
}

@test "-w across spines is refused in words, at the level that is asked for" {
	fabric leaf,spine,core 'core c -' 'spine s1 c' 'spine s2 c' 'leaf l1 s1 n[1-3]' 'leaf l2 s1 n[4-6]' \
		'leaf l3 s2 n[7-12]'
	refused 'spine' --gang -N4 -w n1,n7
	refused 'leaf' --gang=leaf -N3 -w n1,n4
	runs --gang -N4 -w n1,n4
	equal "$(job_spines "$job")" s1
	scancel "$job"
	runs --gang=core -N2 -w n2,n8
	equal "$(nodes_of "$job")" 'n2 n8'
}

@test "heterogeneous jobs are refused in words" {
	said=$(sbatch --gang -N2 : --gang -N2 --wrap 'sleep 60' 2>&1) && fail "taken: $said"
	holds "$said" 'a heterogeneous job cannot be one gang'
	said=$(sbatch -N2 : --gang -N2 --wrap 'sleep 60' 2>&1) && fail "taken: $said"
	holds "$said" 'a heterogeneous job cannot be one gang'
	equal "$(squeue -h)" ''
}

# Two cores of two spines; 1 node free under each spine of c1, and 2 and 1 under those of c2.
lay_two_cores() {
	fabric leaf,spine,core,zone 'zone z -' 'core c1 z' 'core c2 z' 'spine s1 c1' 'spine s2 c1' 'spine s3 c2' \
		'spine s4 c2' 'leaf l1 s1 n[1-3]' 'leaf l2 s2 n[4-6]' 'leaf l3 s3 n[7-9]' 'leaf l4 s4 n[10-12]'
}

@test "--gang=spine@TIME: after that time one level up will do" {
	lay_two_cores
	hold 'n[1-2],n[4-5],n7,n[10-11]'
	began=$EPOCHSECONDS
	job=$(submit --gang=spine@0:20 -N3 --exclusive)
	await 7 note_holds "$job" 'waits: 3 nodes on one spine'
	await_job "$job" RUNNING 40
	(($(date -d "$(job_field "$job" StartTime)" +%s) >= began + 19)) || fail "started at $(job_field "$job" StartTime)"
	equal "$(job_domains "$job" core)" c2
	equal "$(job_spines "$job" | paste -sd' ')" 's3 s4'
	await 10 shows 'domain=c2' note "$job"
}

@test "--gang=spine@TIME relaxes once, by one level, and still does so after slurmctld was killed" {
	lay_two_cores
	hold 'n[1-2],n[4-5],n[7-8],n[10-11]'
	began=$EPOCHSECONDS
	job=$(submit --gang=spine@0:20 -N3 --exclusive)
	await 7 note_holds "$job" 'waits: 3 nodes on one spine'
	await_saved "$job"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER" -9
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	await 30 note_holds "$job" 'waits: 3 nodes on one core'
	((EPOCHSECONDS >= began + 19)) || fail "relaxed after $((EPOCHSECONDS - began)) s"
	# four nodes are free in the zone, and never will they do
	stays 10 job_is "$job" PENDING
	release n4
	await_job "$job" RUNNING
	equal "$(job_domains "$job" core)" c1
}

@test "a gang that finds its spine in time is not relaxed" {
	fabric leaf,spine,core 'core c -' 'spine s1 c' 'spine s2 c' 'leaf l1 s1 n[7-8]' 'leaf l2 s1 n[9-10]' \
		'leaf l3 s1 n[11-12]' 'leaf l4 s2 n[1-6]'
	# one level up two leaves would be enough, under two spines
	hold n1
	runs --gang=spine@1:00 -N6
	on_one_spine "$job"
	refused 'is no time' --gang=spine@soon -N3
}

# --- policies -------------------------------------------------------------------------------------

two_spines() {
	fabric leaf,spine,core 'core c -' 'spine s1 c' 'spine s2 c' 'leaf l1 s1 n[1-3]' 'leaf l2 s1 n[4-6]' \
		'leaf l3 s2 n[7-12]'
}

@test "gang: always makes gangs of jobs of from_nodes and more; a user may turn it off" {
	policy <<-'END'
		partitions:
		  gpu: {gang: always, from_nodes: 3}
	END
	two_spines
	hold 'n[1-4],n[7-10]'
	waits 'waits: 3 nodes on one spine' -N3
	scancel "$job"
	runs --gang=off -N3
	equal "$(job_spines "$job" | paste -sd' ')" 's1 s2'
	equal "$(note "$job")" ''
	scancel "$job"
	await 20 job_is "$job" CANCELLED
	runs -N2
	equal "$(note "$job")" '' 'note of a job of 2 nodes'
	scancel "$job"
	runs -p left,right -N2 -x 'n[1-4],n[7-10]'
	equal "$(note "$job")" '' 'note of a job in other partitions'
}

@test "allow_off: false: neither off nor a level above is to be had" {
	policy <<-'END'
		defaults: {gang: always, allow_off: false}
	END
	two_spines
	refused '--gang=off is not allowed there' --gang=off -N3
	refused 'holds its jobs to one spine; ask for --gang=spine or a level below it' --gang=core -N3
	refused 'without @TIME' --gang=spine@0:01 -N3
	hold 'n[1-4],n[7-10]'
	waits 'waits: 3 nodes on one spine' -N3
	release n4
	await_job "$job" RUNNING
	on_one_spine "$job"
	runs --gang=leaf -N2
	on_one_spine "$job" leaf
}

# update JOB WORD...: a slurmctld under load asks to be asked again
update() {
	local job=$1 said tries
	shift
	for ((tries = 0; tries < 10; tries++)); do
		! said=$(scontrol update "JobId=$job" "$@" 2>&1) || return 0
		[[ $said == *'Resource temporarily unavailable'* ]] || break
		sleep 0.5
	done
	fail "$said"
}

@test "allow_off: false: nor can a job be brought there by scontrol update" {
	policy <<-'END'
		partitions:
		  gpu: {gang: always, from_nodes: 3, allow_off: false}
	END
	two_spines
	hold 'n[1-4],n[7-10]'
	# from a partition without that policy, from fewer nodes, and from a level above
	moved=$(submit --hold -N3 --exclusive -p left)
	update "$moved" Partition=gpu
	grown=$(submit --hold -N2 --exclusive)
	update "$grown" NumNodes=3-3
	above=$(submit --hold --gang=core -N3 --exclusive -p all)
	! scontrol update "JobId=$above" Partition=gpu || fail 'a level above the policy was taken'
	scancel "$above"
	for job in $moved $grown; do
		scontrol release "$job"
		await 20 note_holds "$job" '[onespine: gang=spine; waits: 3 nodes on one spine'
		[[ $job == "$grown" ]] || scancel "$job"
	done
	release n4
	await_job "$grown" RUNNING
	on_one_spine "$grown"
}

@test "mode: advise places as Slurm does and says what would have been" {
	policy <<-'END'
		defaults: {mode: advise, gang: always}
	END
	two_spines
	hold 'n[1-3],n[7-9]'
	runs -N4
	equal "$(job_spines "$job" | paste -sd' ')" 's1 s2'
	await 10 shows 'gang=advise spine' note "$job"
	await 10 shows 'in no common spine; enforce would have waited, 4 nodes on one spine' note "$job"
	scancel "$job"
	await 20 job_is "$job" CANCELLED
	runs -N3
	await 10 shows 'enforce would have taken spine s' note "$job"
}

@test "mode: off: a gang is refused in words, other jobs are none" {
	policy <<-'END'
		defaults: {mode: off, gang: always}
	END
	two_spines
	said=$(submit_refused --gang -N2)
	holds "$said" "partition gpu takes no gangs; leave out --gang or choose another partition"
	runs -N12
	equal "$(note "$job")" ''
}

@test "--prefer: of the nodes that are preferred if one spine has enough, else of all, under one spine" {
	local first node
	fabric leaf,spine 'spine s1 -' 'spine s2 -' 'spine s3 -' \
		'leaf l1 s1 n[1-4]' 'leaf l2 s2 n[5-8]' 'leaf l3 s3 n[9-12]'
	scontrol update NodeName=n1,n2,n5,n6,n9,n10,n11 AvailableFeatures=fast ActiveFeatures=fast
	runs --gang -N3 --prefer=fast
	first=$job
	equal "$(job_nodes "$first" | paste -sd' ')" 'n9 n10 n11'
	# six preferred nodes are left, three under no spine
	runs --gang -N3 --prefer=fast
	on_one_spine "$job"
	runs --gang -N4 --prefer=fast
	on_one_spine "$job"
	waits 'waits: 3 nodes on one spine' --gang -N3 --prefer=fast
	# one of them may complete after the others: held until all are free, n12 is none of the three
	scontrol hold "$job"
	scancel "$first"
	for node in n9 n10 n11; do
		await 20 node_is "$node" idle
	done
	scontrol release "$job"
	await_job "$job" RUNNING
	equal "$(job_nodes "$job" | paste -sd' ')" 'n9 n10 n11'
	scontrol update NodeName=n1,n2,n5,n6,n9,n10,n11 AvailableFeatures= ActiveFeatures=
}

@test "--exclusive in a partition of OverSubscribe=FORCE shares nodes as any job there does, under one spine" {
	reconfigure
	fill forced 'n[1-12]' -n2
	stock=$(submit -p forced -N2 -w 'n[1-2]' --exclusive)
	await_job "$stock" RUNNING
	gang=$(submit -p forced --gang -N4 --exclusive)
	await_job "$gang" RUNNING
	on_one_spine "$gang"
}

@test "in a partition of OverSubscribe=FORCE:1 a gang starts over jobs of another such partition, as any job does" {
	reconfigure
	fill twice 'n[1-12]' -n8
	stock=$(submit -p once -N2 --ntasks-per-node=4 -w 'n[1-2]')
	await_job "$stock" RUNNING
	gang=$(submit -p once --gang -N4 --ntasks-per-node=4)
	await_job "$gang" RUNNING
	on_one_spine "$gang"
}

@test "jobs that lie over each other still do when their partitions cease to share: a gang starts beside them" {
	local gone
	reconfigure
	fill once 'n[1-12]' -n4
	fill once 'n[1-12]' -n4
	gone=("${job_on[@]}")
	fill twice 'n[1-12]' -n4
	scancel "${gone[@]}"
	await 30 none_completing
	scontrol update PartitionName=once OverSubscribe=NO
	scontrol update PartitionName=twice OverSubscribe=NO
	stock=$(submit -N2 --ntasks-per-node=4 -w 'n[1-2]')
	await_job "$stock" RUNNING
	gang=$(submit --gang -N4 --ntasks-per-node=4)
	await_job "$gang" RUNNING
	on_one_spine "$gang"
	scontrol update PartitionName=once OverSubscribe=FORCE:1
	scontrol update PartitionName=twice OverSubscribe=FORCE:1
}
