#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_counts.bats - what running jobs hold is counted along with them, and is what a full count says
#
# DebugFlags=SelectType makes slurmctld count anew in each second in which a gang is looked at.

load helpers

setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 2 2
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --gres gpu:8 \
		--node-conf RealMemory=1000 --conf SelectTypeParameters=CR_Core_Memory \
		--conf DebugFlags=SelectType --conf DefMemPerNode=100 \
		--partition 'gpu Nodes=ALL Default=YES' --partition 'beside Nodes=ALL' \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1,bf_resolution=1
}

# gang_start SBATCH-OPTION...: when such a gang would start, in seconds from now
gang_start() {
	local said
	said=$(sbatch --test-only --gang --time=5 "$@" --wrap true 2>&1)
	[[ $said =~ "to start at "([0-9T:-]+) ]] || {
		fail "sbatch said: $said"
		return 1
	}
	echo $(($(date -d "${BASH_REMATCH[1]}" +%s) - EPOCHSECONDS))
}

# starts_in SECONDS SBATCH-OPTION...: such a gang would, less what the test has taken until now
starts_in() {
	local wanted=$1 start
	shift
	start=$(gang_start "$@")
	((start >= wanted - 40 - SECONDS && start <= wanted + 40)) || fail "it starts in $start s, not $wanted"
}

# counted_anew: slurmctld has counted anew since the mark
counted_anew() {
	sbatch --test-only --gang -N2 --wrap true >"$BATS_TEST_TMPDIR/said" 2>&1
	log_since 'onespine: .* counted anew'
}

# right: a full count, with no change behind its back, says what was counted along
right() {
	log_mark
	await 10 counted_anew
	! log_since 'the count of what running jobs hold was wrong' ||
		fail "$(grep 'was wrong' "$ONESPINE_CLUSTER/log/slurmctld.log" | tail -n 1)"
}

suspended() {
	scontrol suspend "$1"
	await_job "$1" SUSPENDED
}

@test "a job's begin, another limit, its suspension, its nodes' loss and its end are counted along" {
	local first second third
	right
	first=$(submit -N2 --gres=gpu:2 -n6 --mem=200 --time=30)
	second=$(submit -N3 -n5 --gres=gpu:1 --mem=300 --time=40)
	third=$(submit -N4 --gang --exclusive --mem=100 --time=50)
	await_job "$first" RUNNING
	await_job "$second" RUNNING
	await_job "$third" RUNNING
	right
	scontrol update "JobId=$first" TimeLimit=60
	right
	suspended "$first"
	right
	scontrol resume "$first"
	await_job "$first" RUNNING
	right
	scontrol update "JobId=$second" NumNodes=2
	right
	scontrol requeue "$third"
	right
	scancel "$first"
	right
	cluster reconfigure --dir "$ONESPINE_CLUSTER"
	right
	scontrol update PartitionName="$(sinfo -h -o %R | head -n 1)" MaxTime=100
	right
}

# nodes_back: nodes have registered with a slurmctld that started again: before, no gang has a start
nodes_back() {
	gang_start -N4 --mem=100 >/dev/null 2>&1
}

@test "after a restart running and suspended jobs are counted" {
	local running waiting
	running=$(submit -N8 --ntasks-per-node=4 --gres=gpu:8 --time=30 --mem=100)
	waiting=$(submit -N8 --ntasks-per-node=2 --time=60 --mem=100)
	await_job "$running" RUNNING
	await_job "$waiting" RUNNING
	suspended "$waiting"
	await_saved "$waiting"
	restarted
	right
	starts_in 1800 -N4 --gpus-per-node=1 --mem=100
	starts_in 0 -N4 --ntasks-per-node=4 --mem=100
	right
}

@test "a suspended job has given its cores back, not its memory and not its GPUs" {
	local job gang
	job=$(submit -N8 --ntasks-per-node=8 --gres=gpu:4 --mem=600 --time=30)
	await_job "$job" RUNNING
	starts_in 1800 -N4 --ntasks-per-node=4 --mem=100
	starts_in 1800 -N4 --exclusive --mem=100
	suspended "$job"
	starts_in 0 -N4 --ntasks-per-node=4 --mem=100
	starts_in 0 -N4 --ntasks-per-node=4 --mem=100 --gpus-per-node=4
	starts_in 1800 -N4 --ntasks-per-node=4 --mem=100 --gpus-per-node=5
	starts_in 1800 -N4 --ntasks-per-node=4 --mem=500
	gang=$(submit --gang -N4 --ntasks-per-node=4 --mem=100 --gpus-per-node=4)
	await_job "$gang" RUNNING
	on_one_spine "$gang"
	right
}

# prioritised JOB: its priority is no longer that of a held or suspended job
prioritised() {
	[[ $(job_field "$1" Priority) != 0 ]]
}

@test "a suspended job whose priority comes back has given its cores back all the same, until Slurm counts anew" {
	local job gang
	job=$(submit -N8 --ntasks-per-node=8 --mem=100 --time=30)
	await_job "$job" RUNNING
	suspended "$job"
	scontrol release "$job"
	await 10 prioritised "$job"
	starts_in 0 -N4 --ntasks-per-node=4 --mem=100
	right
	starts_in 0 -N4 --exclusive --mem=100
	gang=$(submit --gang -N4 --ntasks-per-node=8 --mem=100)
	await_job "$gang" RUNNING
	on_one_spine "$gang"
	scancel "$gang"
	await_job "$gang" CANCELLED
	# select_p_reconfigure adds it as one that was suspended to let others run, which keeps its cores
	cluster reconfigure --dir "$ONESPINE_CLUSTER"
	await 20 starts_in 1800 -N4 --ntasks-per-node=4 --mem=100
	right
}

# restarted: slurmctld, which then has the jobs from its saved state
restarted() {
	cluster kill-ctld --dir "$ONESPINE_CLUSTER"
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	await 20 nodes_back
}

# resumed JOB
resumed() {
	scontrol resume "$1"
	await_job "$1" RUNNING
}

# cores_of JOB
cores_of() {
	scontrol -d show job "$1" | sed -n 's/.* CPU_IDs=\([^ ]*\).*/\1/p'
}

gone() {
	[[ -z $(squeue -h -j "$1" 2>/dev/null) ]]
}

# lie_over OPTION...: $second, of these options, has started on the cores of $first, which was suspended and is resumed
lie_over() {
	first=$(submit -N8 --ntasks-per-node=4 --mem=100 --time=60)
	await_job "$first" RUNNING
	suspended "$first"
	second=$(submit "$@" -N8 --ntasks-per-node=4 --mem=100 --time=30)
	await_job "$second" RUNNING
	log_mark
	resumed "$first"
	equal "$(cores_of "$first")" "$(cores_of "$second")"
}

shared_cores_count_once() {
	starts_in 0 -N4 --ntasks-per-node=4 --mem=100
	starts_in 3600 -N4 --ntasks-per-node=5 --mem=100
	right
}

@test "a job that is resumed on cores which others have by then counts as nothing, as in Slurm, and so does another after a restart" {
	local first second gang
	first=$(submit -N8 --ntasks-per-node=8 --mem=100 --time=60)
	await_job "$first" RUNNING
	suspended "$first"
	second=$(submit -N8 --ntasks-per-node=4 --mem=100 --time=30)
	await_job "$second" RUNNING
	log_mark
	resumed "$first"
	log_since 'job overflow: could not find idle resources'
	starts_in 0 -N4 --ntasks-per-node=4 --mem=100
	starts_in 1800 -N4 --ntasks-per-node=5 --mem=100
	right
	gang=$(submit --gang -N4 --ntasks-per-node=4 --mem=100 --time=40)
	await_job "$gang" RUNNING
	on_one_spine "$gang"
	scancel "$gang"
	await 20 gone "$gang"
	# suspended and resumed again it finds the same
	suspended "$first"
	resumed "$first"
	starts_in 0 -N4 --ntasks-per-node=4 --mem=100
	right
	# slurmctld adds them in their order: now the second one finds no room
	await_saved "$second"
	restarted
	starts_in 3600 -N4 --ntasks-per-node=1 --mem=100
	right
	scancel "$first"
	await 20 gone "$first"
	starts_in 0 -N4 --ntasks-per-node=8 --mem=100
	right
	gang=$(submit --gang -N4 --ntasks-per-node=8 --mem=100)
	await_job "$gang" RUNNING
	on_one_spine "$gang"
}

@test "cores on which a job of another partition started while their own was suspended count once, also after a restart" {
	local first second gang
	lie_over -p beside
	shared_cores_count_once
	await_saved "$second"
	restarted
	shared_cores_count_once
	gang=$(submit --gang -p beside -N4 --ntasks-per-node=4 --mem=100)
	await_job "$gang" RUNNING
	on_one_spine "$gang"
}

@test "the ends on a node add up: cores, GPUs and memory" {
	local job
	for job in '10 --ntasks-per-node=2 --gres=gpu:3 --mem=500' '20 --ntasks-per-node=2 --gres=gpu:3 --mem=200' '40 --ntasks-per-node=3 --gres=gpu:2 --mem=100'; do
		read -ra words <<<"$job"
		await_job "$(submit -N8 --time="${words[0]}" "${words[@]:1}")" RUNNING
	done
	starts_in 0 -N4 --ntasks-per-node=1 --mem=200
	starts_in 600 -N4 --ntasks-per-node=1 --mem=100 --gpus-per-node=1
	starts_in 600 -N4 --ntasks-per-node=1 --mem=100 --gpus-per-node=3
	starts_in 1200 -N4 --ntasks-per-node=1 --mem=100 --gpus-per-node=4
	starts_in 2400 -N4 --ntasks-per-node=1 --mem=100 --gpus-per-node=7
	starts_in 600 -N4 --ntasks-per-node=1 --mem=201
	starts_in 1200 -N4 --ntasks-per-node=1 --mem=800
	starts_in 2400 -N4 --ntasks-per-node=1 --mem=901
	starts_in 600 -N4 --ntasks-per-node=3 --mem=100
	starts_in 2400 -N4 --exclusive --mem=100
	right
}

# planned_at_end_of GANG JOB: backfill means to start the gang on four nodes when the job ends
planned_at_end_of() {
	local nodes
	nodes=$(scontrol show hostnames "$(job_field "$1" SchedNodeList)" | wc -l)
	[[ $(job_field "$1" StartTime) == "$(job_field "$2" EndTime)" ]] && equal "$nodes" 4
}

@test "a plan moves with the end of the job that it waits for, and with what the gang asks for" {
	local running gang
	running=$(submit -N8 --ntasks-per-node=8 --gres=gpu:8 --time=30 --mem=100)
	await_job "$running" RUNNING
	gang=$(submit --gang -N4 --gpus-per-node=8 --mem=100 --time=5)
	await 20 planned_at_end_of "$gang" "$running"
	scontrol update "JobId=$running" TimeLimit=20
	await 20 planned_at_end_of "$gang" "$running"
	scontrol update "JobId=$running" TimeLimit=40
	await 20 planned_at_end_of "$gang" "$running"
	scontrol update "JobId=$gang" MinMemoryNode=200
	scontrol update "JobId=$running" TimeLimit=50
	await 20 planned_at_end_of "$gang" "$running"
	scancel "$running"
	await_job "$gang" RUNNING
	on_one_spine "$gang"
	right
}

# last, as slurm.conf stays so
@test "with preempt/qos, which has a row more, cores on which a job of the same partition started meanwhile count once" {
	local first second gang
	printf 'PreemptType=preempt/qos\nPreemptMode=REQUEUE\n' >>"$ONESPINE_CLUSTER/slurm.conf"
	restarted
	lie_over
	! log_since 'job overflow' || fail "it has no row"
	shared_cores_count_once
	await_saved "$second"
	restarted
	starts_in 0 -N4 --ntasks-per-node=4 --mem=100
	right
	gang=$(submit --gang -N4 --ntasks-per-node=4 --mem=100)
	await_job "$gang" RUNNING
	on_one_spine "$gang"
}
