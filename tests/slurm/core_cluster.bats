#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_cluster.bats - the harness itself, and what stock Slurm does with a scattered cluster

load helpers

setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 2 4
	make_slurm_topology "$BATS_FILE_TMPDIR/topology.conf" 2 2 4
	cluster_start --stock --topology "$BATS_FILE_TMPDIR/onespine.topology" \
		--topology "$BATS_FILE_TMPDIR/topology.conf"
}

# processes_of DIR: those that hold a file under it open, or were started with its name
processes_of() {
	find /proc/[0-9]*/fd -lname "*$1/*" 2>/dev/null
	pgrep -f -- "$1/"
}

@test "stock Slurm runs a job of 4 on both spines when 3 nodes are free under each" {
	hold 'n[1-5],n[9-13]'
	job=$(submit -N4 --exclusive)
	await_job "$job" RUNNING
	equal "$(job_spines "$job" | paste -sd' ')" 's1 s2' 'spines of the job'
	equal "$(job_domains "$job" leaf | paste -sd' ')" 's1l2 s2l2' 'leaves of the job'
}

@test "stock Slurm runs a job of 4 on one spine when one has room" {
	job=$(submit -N4 --exclusive)
	await_job "$job" RUNNING
	on_one_spine "$job"
}

@test "a released node is free again" {
	hold n1
	equal "$(node_state n1)" allocated
	release n1
	await 10 node_is n1 idle
}

@test "a job's output arrives, and srun runs on the node that it asks for" {
	out=$BATS_TEST_TMPDIR/out
	# shellcheck disable=SC2016
	job=$(submit -w n7 -o "$out" --wrap 'echo "node $SLURMD_NODENAME"; srun sh -c "echo step \$SLURM_JOB_ID"')
	await 20 grep -q step "$out"
	equal "$(cat "$out")" $'node n7\nstep '"$job"
}

@test "two clusters side by side know nothing of each other" {
	first=$ONESPINE_CLUSTER
	cluster_start --stock --nodes 2 --names 'other[1-2]'
	second=$ONESPINE_CLUSTER
	job=$(submit -N2)
	await_job "$job" RUNNING
	equal "$(job_nodes "$job" | paste -sd' ')" 'other1 other2'
	[[ $(cluster exec --dir "$first" squeue -h) == '' ]]
	cluster_stop "$second"
	cluster_use "$first"
	equal "$(sinfo -h -o %D)" 16 'nodes of the first'
}

@test "stop ends jobs with their children and leaves neither process nor folder nor ports" {
	first=$ONESPINE_CLUSTER
	cluster_start --stock --nodes 2
	second=$ONESPINE_CLUSTER
	mark=$BATS_TEST_TMPDIR/mark
	job=$(submit -N2 --wrap "srun sh -c 'sleep 778 & exec sleep 779 7<>$mark'")
	await 20 test -e "$mark"
	[[ -n $(processes_of "$second") ]]
	cluster_stop "$second"
	cluster_use "$first"
	[[ ! -e $second ]]
	equal "$(processes_of "$second")" ''
	[[ -z $(find /proc/[0-9]*/fd -lname "$mark" 2>/dev/null) ]]
	run grep -rlx "$second" /run/onespine/ports
	equal "$status" 1
}

@test "a slurmctld killed with -9 comes back with its jobs" {
	job=$(submit -N3)
	await_job "$job" RUNNING
	nodes=$(job_nodes "$job")
	await_saved "$job"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER" -9
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	equal "$(job_state "$job")" RUNNING
	equal "$(job_nodes "$job")" "$nodes"
}

@test "a dead daemon is told" {
	cluster_start --stock --nodes 2
	pid=$(cat "$ONESPINE_CLUSTER/run/slurmd.n2.pid")
	kill -9 "$pid"
	await 5 cluster_check_fails
	[[ $said == *'slurmd.n2 is not running'* ]]
	cluster start-node --dir "$ONESPINE_CLUSTER" n2
	await 10 cluster check --dir "$ONESPINE_CLUSTER"
	cluster_stop
	cluster_use "$(head -n 1 "$BATS_FILE_TMPDIR/clusters")"
}

cluster_check_fails() {
	! said=$(cluster check --dir "$ONESPINE_CLUSTER" 2>&1)
}

@test "a start that fails says why and leaves nothing" {
	dir=$BATS_TEST_TMPDIR/broken
	run cluster start ${ONESPINE_TEST_SLURM:+--slurm "$ONESPINE_TEST_SLURM"} --stock --dir "$dir" \
		--conf Nonsense=1
	equal "$status" 1
	holds "$output" 'unrecognized key: Nonsense'
	[[ ! -e $dir ]]
	equal "$(processes_of "$dir")" ''
}

@test "options that cannot be are refused before anything starts" {
	check_refusal() {
		local said=$1
		shift
		run cluster start --stock "$@"
		equal "$status" 1
		holds "$output" "$said"
	}
	check_refusal '--frob: no such option' --frob
	check_refusal 'expected a number of nodes' --nodes many
	check_refusal '4 nodes asked for, but there are 3 names' --nodes 4 --names 'a[1-3]'
	check_refusal '/nowhere: no such file' --topology /nowhere
	check_refusal 'neither an onespine.topology nor a topology.conf' --topology /etc/passwd
	check_refusal '--slurm 1.2: 22.05 23.11 24.05 24.11 25.11 26.05, or one to the micro' --slurm 1.2
	check_refusal 'no node n9' --nodes 4 --node-conf 'NodeName=n9 Weight=2'
}

@test "GPUs are given out by number" {
	cluster_start --stock --nodes 2 --gres gpu:4
	out=$BATS_TEST_TMPDIR/out
	# shellcheck disable=SC2016
	submit -N1 -n1 --gres=gpu:2 -o "$out" --wrap 'echo "gpus $CUDA_VISIBLE_DEVICES"'
	await 20 grep -q gpus "$out"
	equal "$(cat "$out")" 'gpus 0,1'
	cluster_stop
	cluster_use "$(head -n 1 "$BATS_FILE_TMPDIR/clusters")"
}

@test "cloud nodes take jobs, which wait for them to boot" {
	cluster_start --stock --cloud 1000
	job=$(submit -N600)
	await_job "$job" CONFIGURING
	equal "$(job_nodes "$job" | wc -l)" 600
	cluster_stop
	cluster_use "$(head -n 1 "$BATS_FILE_TMPDIR/clusters")"
}

# of_this_machine: what the machine itself keeps of checks, with times and sizes
of_this_machine() {
	find /run/onespine /var/lib/onespine \( -name 'pass-*' -o -path '/var/lib/*' \) -printf '%p %T@ %s\n' 2>/dev/null | sort
}

@test "a recheck looks at the cluster's own nodes and keeps what it finds there: nothing of this machine changes" {
	local machine kept
	cluster_start --nodes 2 --names 'own[1-2]'
	machine=$(of_this_machine)
	kept=$ONESPINE_PREFIX/var/lib/onespine/recheck/onespine-$(awk -F= '$1 == "SlurmctldPort" { print $2 }' "$SLURM_CONF")
	scontrol update NodeName=own1,own2 State=DRAIN Reason='onespine: fell off the bus'
	mkdir -p "$ONESPINE_CLUSTER/nodes"
	echo 'export ONESPINE_FAKE_NVML=gpu3.ecc_uncorrected=12' >"$ONESPINE_CLUSTER/nodes/own2.faults"
	run onespine recheck
	equal "$(of_this_machine)" "$machine" 'of this machine'
	holds "$output" 'own1: returned: PASS'
	matches "$output" 'own2: stays drained: onespine: gpu3 ecc'
	srun -N1 -w own1 true
	[[ -e $ONESPINE_CLUSTER/nodes/own1/run/onespine && -e $ONESPINE_CLUSTER/run/onespine/node && -e $kept.returns ]]
	compgen -G "$ONESPINE_CLUSTER/nodes/own1/var/lib/onespine/history/*" >/dev/null
	cluster_stop "$ONESPINE_CLUSTER"
	[[ ! -e $kept && ! -e $kept.returns ]]
}
