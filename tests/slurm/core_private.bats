#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_private.bats - with PrivateData nobody learns of other users' jobs from us

load helpers

# Job numbers that nothing else looks like.
setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 2 2
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" \
		--conf FirstJobId=710001 --conf PrivateData=jobs
}

setup() {
	scancel --user=65534 # from 26.05 on Slurm takes no "nobody"
	free_all
}

# private WHAT: PrivateData from now on
private() {
	sed -i "s/^PrivateData=.*/PrivateData=$1/" "$ONESPINE_CLUSTER/slurm.conf"
	cluster reconfigure --dir "$ONESPINE_CLUSTER"
}

# ask STATUS COMMAND...: as the other user; output to $said
ask() {
	local wanted=$1 status=0
	shift
	said=$(as_other_user "$@" 2>&1) || status=$?
	equal "$status" "$wanted" "status of $* (it said: $said)"
}

# tells_of_others TEXT: of root's jobs: their numbers, names, user
tells_of_others() {
	local job
	for job in $others; do
		[[ $1 != *"$job"* ]] || return 0
	done
	[[ $1 == *secret* || $1 == *root* ]]
}

silent_about_others() {
	! tells_of_others "$1" || fail "it tells of other users' jobs: $1"
}

# root's jobs, a gang among them, on 2 nodes of each spine, one waiting; $mine is the other user's gang of 4,
# which waits, and $runs another, which runs
lay_out() {
	local node
	for node in n1 n5 n6; do
		submit --job-name="secret-$node" -w "$node" -N1 --exclusive --time=50 >/dev/null
	done
	theirs=$(submit --job-name=secret-gang --gang -N1 -w n2 --exclusive --time=40)
	await 30 none_pending secret
	submit --job-name=secret-waits --gang -N4 --exclusive --begin=now+2hours >/dev/null
	others=$(squeue -h -o %A | paste -sd' ')
	mine=$(as_other_user sbatch --parsable --chdir=/ --output=/dev/null --job-name=mine --gang -N4 \
		--exclusive --time=10 --wrap 'sleep 600')
	runs=$(as_other_user sbatch --parsable --chdir=/ --output=/dev/null --job-name=mine --gang -N1 \
		--exclusive --time=10 --wrap 'sleep 600')
	await_job "$runs" RUNNING
	await 20 mine_waits
}

mine_waits() {
	[[ $(job_field "$mine" AdminComment) == *'waits: 4 nodes on one spine; nearest: '* ]]
}

@test "PrivateData=jobs: AdminComment counts a domain's nodes and names no job, no user" {
	lay_out
	as_other_user scontrol show job "$mine" >"$BATS_TEST_TMPDIR/job"
	note=$(sed -n 's/.*AdminComment=//p' "$BATS_TEST_TMPDIR/job")
	matches "$note" '^\[onespine: gang=spine; waits: 4 nodes on one spine; nearest: s[12] has 2 free of 4 \(2 short\)\] ?$'
	silent_about_others "$note"
}

@test "PrivateData=jobs: why tells of one's own jobs alone, and how many nodes others hold" {
	lay_out
	ask 0 onespine why "$mine"
	holds "$said" "job $mine mine of nobody: PENDING, 4 nodes, gang=spine"
	matches "$said" 'In the way on spine s[12]:'
	holds "$said" '2 nodes in use by jobs that are not yours to see'
	silent_about_others "$said"
	ask 0 onespine why "$mine" --json
	equal "$(jq -r .nodes_of_hidden_jobs <<<"$said")" 2
	silent_about_others "$said"
	ask 1 onespine why "$theirs"
	holds "$said" 'not yours to see'
	[[ $said != *secret* && $said != *root* ]]
	# who may see them sees them
	await 10 shows "job $theirs secret-gang of root: RUNNING" onespine why "$theirs"
	[[ $(onespine why "$mine") != *'not yours to see'* ]]
	tells_of_others "$(onespine why "$mine")"
}

@test "PrivateData=jobs: map, audit and fit tell of one's own jobs alone" {
	lay_out
	ask 0 onespine map
	holds "$said" "$runs mine of nobody, gang=spine, 1 node"
	holds "$said" '# in use by a job not shown (4)'
	holds "$said" "(PrivateData=jobs: others' only if you are an operator)"
	silent_about_others "$said"
	ask 0 onespine map --json
	equal "$(jq -r '[.jobs[].user] | unique[]' <<<"$said")" nobody
	silent_about_others "$said"
	mkdir -m 777 "$ONESPINE_CLUSTER/pictures"
	ask 0 onespine map --svg "$ONESPINE_CLUSTER/pictures/map.svg"
	said=$(<"$ONESPINE_CLUSTER/pictures/map.svg")
	holds "$said" 'in use by a job not shown (4)'
	silent_about_others "$said"
	ask 0 onespine audit
	equal "$said" "1 gang running: 1 as asked for, 0 not
  PrivateData=jobs: others' gangs are audited only if you are an operator"
	ask 0 onespine audit --json
	silent_about_others "$said"
	ask 1 onespine fit -N4
	holds "$said" 'nearest: s'
	silent_about_others "$said"
	ask 1 onespine fit -N4 --json
	silent_about_others "$said"
	# no word about waiting jobs is not to mean that there are none
	ask 0 onespine fit -N2
	holds "$said" "  PrivateData=jobs: others' jobs that wait are counted only if you are an operator"
	silent_about_others "$said"
	ask 0 onespine fit -N2 --json
	equal "$(jq -c '[has("jobs_waiting"), .jobs_waiting]' <<<"$said")" '[true,null]'
	[[ $(onespine fit -N2) != *PrivateData* ]]
	equal "$(onespine audit)" '2 gangs running: 2 as asked for, 0 not'
	tells_of_others "$(onespine map)"
}

@test "PrivateData=jobs: set changes no job of others and reports nothing of it" {
	lay_out
	waiting=$(squeue -h -o %A --name=secret-waits)
	before=$(job_field "$waiting" AdminComment)
	ask 1 onespine set "$waiting" --gang=spine@10
	matches "$said" "^refused: job $waiting"
	[[ $said != *secret* && $said != *root* ]]
	equal "$(job_field "$waiting" AdminComment)" "$before"
	ask 0 onespine set "$mine" --gang=spine@10
	await 10 shows 'gang=spine@10:00' job_field "$mine" AdminComment
}

@test "PrivateData=nodes: the command says that it is told nothing; gangs are placed all the same" {
	private jobs,nodes,partitions
	lay_out
	for words in "why $mine" map audit 'fit -N4'; do
		# shellcheck disable=SC2086
		ask 2 onespine $words
		holds "$said" 'slurmctld does not report its nodes: Access/permission denied'
		silent_about_others "$said"
	done
	scancel "$mine" "$runs"
	[[ $(job_spines "$theirs") == s1 ]]
	private jobs
}
