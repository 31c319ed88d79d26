#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_promise.bats - gang: always, allow_off: false is a promise
#
# Partition train promises one spine to jobs of 2 nodes and more, partition free nothing. Whatever way nodes
# are asked for, and however a job is changed, it ends on one spine or is refused. The ways are the tables
# below; core_promise_options.bats has the other options, and finds what has no row.
# shellcheck disable=SC2016

bats_require_minimum_version 1.5.0
load helpers
load promise_helpers
load rest_helpers

setup_file() {
	start_promise
}

# --- asking ---------------------------------------------------------------------------------------

@test "every way of asking for two whole nodes" {
	tempt
	judge_rows <<-'END'
		waits   sbatch -N2
		waits   sbatch -N2 --exclusive
		waits   sbatch -N2-4
		waits   sbatch -N2-4 --use-min-nodes
		waits   sbatch -N1-8
		waits   sbatch -n2 --ntasks-per-node=1
		waits   sbatch -n12
		waits   sbatch -n6 -c2
		waits   sbatch -n3 -c4
		waits   sbatch -N2 -O -n20
		waits   sbatch -N2 --spread-job
		waits   sbatch -N2 -n2 -m cyclic
		waits   sbatch -N2 -w n4
		waits   sbatch -N2 -x n1
		waits   sbatch -N2 -C "a|b"
		waits   sbatch -N2 --prefer=a
		waits   sbatch --gpus=6
		waits   sbatch --gpus-per-node=4 -N2
		waits   sbatch --gpus-per-task=4 -n2
		waits   sbatch --gres=gpu:3 -N2
		waits   sbatch -N2 --mem=1
		waits   sbatch -N2 --array=1-2
		waits   sbatch -N2 -s
		waits   sbatch -N2 --begin=now
		waits   sbatch -N2 --requeue
		waits   sbatch -N2 -t 1
		waits   sbatch -N2 --nice=5
		gang    sbatch --gang -N2
		waits   salloc -N2
		waits   salloc -n12
		waits   srun -N2
		waits   srun -n12
		gang    ONESPINE_GANG=spine srun -N2
		refused sbatch -N2 --gang=off
		refused sbatch -n12 --gang=off
		refused sbatch -N1-8 --gang=off
		refused ONESPINE_GANG=off sbatch -N2
		refused ONESPINE_GANG=off srun -n12
		refused sbatch -N2 --gang=core
		refused sbatch -N2 --gang=spine@0:01
		refused sbatch -N2 --switches=1
		refused sbatch -N2 --contiguous
		refused sbatch -C "[a*1&b*1]" -N2
		refused sbatch -C "[a*1&b*1]" -n2
		refused sbatch -N5
		refused sbatch -n33
		refused sbatch --gpus=17
		refused sbatch -N2 -w n1,n8
		refused sbatch -N2 -x n[2-5],n[7-8]
		refused sbatch -N2 : -N2
		refused sbatch -p train -N1 : -p train -N1
		refused srun -N5
		refused salloc -N2 --gang=off
		refused sbatch -N1 --dependency=expand:1
	END
}

@test "every other option that says which nodes, or what of them" {
	tempt
	printf 'n1\nn8\n' >"$BATS_TEST_TMPDIR/n1n8"
	printf 'n4\n' >"$BATS_TEST_TMPDIR/n4"
	# in 23.11 scontrol hold makes such a job one of one task on one node, in any partition (doc/slurm-versions.md)
	# shellcheck disable=SC2034 # the row names it
	TASKS_OF_GPU=--ntasks-per-gpu=1
	[[ ${ONESPINE_TEST_SLURM:-} != 23.11* ]] || TASKS_OF_GPU=
	judge_rows <<-'END'
		waits   sbatch -N2 -B 1
		waits   sbatch -N2 --sockets-per-node=1
		waits   sbatch -N2 --cores-per-socket=1
		waits   sbatch -N2 --threads-per-core=1
		waits   sbatch -N2 -S 1
		waits   sbatch -N2 --thread-spec=1
		waits   sbatch -N2 --ntasks-per-core=1
		waits   sbatch -N2 -n2 --ntasks-per-socket=1
		waits   sbatch --gpus=6 --cpus-per-gpu=2
		waits   sbatch --gpus=6 $TASKS_OF_GPU
		waits   sbatch --gpus=6 --mem-per-gpu=1
		waits   sbatch -N2 --mem-per-cpu=1
		waits   sbatch -N2 --mincpus=8
		waits   sbatch -n12 --mincpus=4
		waits   sbatch -N2 --tmp=0
		waits   sbatch -N2 --hint=compute_bound
		waits   sbatch -N2 --hint=nomultithread
		waits   sbatch -N2 -F "$BATS_TEST_TMPDIR/n4"
		waits   sbatch -N2 -C any
		waits   sbatch -N2 -L tool:1
		waits   sbatch -N2 -k
		waits   sbatch -N2 --deadline=now+1hour -t 5
		waits   sbatch -N2 --delay-boot=1
		waits   sbatch -N2 -t 5 --time-min=1
		waits   sbatch -N2 --wait-all-nodes=1
		waits   sbatch -N2 --exclusive=user
		waits   sbatch -N2 -n2 -m block
		waits   sbatch -N2 -n4 -m plane=2
		waits   sbatch -N2 --gres-flags=enforce-binding --gres=gpu:1
		waits   sbatch -N2 --signal=USR1@10
		waits   SBATCH_GPUS=6 sbatch
		waits   SBATCH_GPUS_PER_NODE=4 sbatch -N2
		waits   SBATCH_EXCLUSIVE= sbatch -N2
		waits   script -N2
		waits   script -n12
		waits   script --gpus=6
		waits   salloc -N1-8
		waits   salloc --gpus=6
		waits   salloc -N2 -w n4
		waits   SALLOC_GPUS=6 salloc
		waits   srun -N1-8
		waits   srun --gpus=6
		waits   srun -N2 -w n4
		waits   srun -N2 -m cyclic
		waits   SLURM_NTASKS=12 srun
		refused sbatch -N2 -F "$BATS_TEST_TMPDIR/n1n8"
		refused sbatch -N2 -C "any*2"
		refused srun -N2 -m arbitrary -w n1,n8
		refused srun -I -N2
		refused srun -N2 : -N2
		refused salloc -N2 : -N2
		refused salloc -N5
		refused SALLOC_GPUS=17 salloc
		refused SBATCH_CONSTRAINT="[a*1&b*1]" sbatch -N2
		refused script --gang=off -N2
		refused script --contiguous -N2
	END
}

@test "a job without a partition is held to what the partition of its reservation promises" {
	scontrol create reservation ReservationName=trained StartTime=now Duration=60 Nodes=n4,n8 Users=root \
		PartitionName=train
	run sbatch -N6 --reservation=trained --wrap=true
	((status != 0))
	[[ $output == *'6 nodes on one spine asked for; the largest spine of partition train has 4'* ]]
	run sbatch -N2 --reservation=trained --gang=off --wrap=true
	((status != 0))
	[[ $output == *'--gang=off is not allowed'* ]]
	job=$(submit -N2 --reservation=trained)
	equal "$(job_field "$job" Partition)" train
	await 20 shows '; waits: 2 nodes on one spine' note "$job"
	free=$(submit -p free -N6 --hold --reservation=trained)
	equal "$(job_field "$free" Partition)" free
	scancel "$job" "$free"
	nothing_straddled
}

@test "in a reservation with nodes of both spines a gang waits for one of them" {
	hold 'n[1-3],n[5-7]'
	scontrol create reservation ReservationName=both StartTime=now Duration=60 Nodes=n4,n8 Users=root
	free=$(submit -p free -N2 --reservation=both --exclusive)
	await_job "$free" RUNNING
	equal "$(spines_of "$(job_field "$free" NodeList)")" 's1 s2'
	scancel "$free"
	job=$(submit -p train -N2 --reservation=both)
	await 20 shows '; waits: 2 nodes on one spine' note "$job"
	moved=$(submit -p train -N2 --hold)
	scontrol update "JobId=$moved" ReservationName=both
	scontrol release "$moved"
	stays 3 job_is "$moved" PENDING
	equal "$(job_state "$job")" PENDING
	nothing_straddled
	release n3
	scontrol update ReservationName=both Nodes=n3,n4,n8
	await_job "$job" RUNNING
	on_one_spine "$job"
	scontrol update "JobId=$moved" ReservationName=
}

@test "jobs that would fit one node, and are given parts of two" {
	tempt
	for node in n4 n8; do
		submit -J hold-half -w "$node" -n4 --gpus=2 >/dev/null
	done
	await 30 none_pending hold-half
	judge_rows <<-'END'
		waits   sbatch -n6
		waits   sbatch -n3 -c2
		waits   sbatch --gpus=3
		waits   sbatch -n6 --gang=off
		waits   ONESPINE_GANG=off sbatch -n6
		waits   srun -n6
		waits   salloc -n6
	END
}

@test "a gang of one node with more GPUs than a node has is refused" {
	slurm_at_least 26.05 || skip 'before 26.05 Slurm itself adds nothing up, and one task may have two nodes'
	tempt
	for words in '-n1 --gpus=6' '-n1 --gpus=6 --gang' '-N1 --gpus=6 --gang'; do
		# shellcheck disable=SC2086
		holds "$(submit_refused -p train $words)" 'Requested node configuration is not available'
	done
}

@test "jobs below from_nodes run anywhere and are told nothing" {
	tempt
	for words in -N1 -n4 '-N1 -n8 --exclusive' '--gpus=4' '-n4 --gang=off'; do
		# shellcheck disable=SC2086
		job=$(submit -p train $words)
		await_job "$job" RUNNING
		equal "$(note "$job")" '' "note of $words"
		scancel "$job"
	done
}

@test "new options of later releases" {
	for option in --segment=1 --exclusive=topo; do
		if sbatch --help | grep -q -e "${option%%=*}=.*${option##*=}" -e '--segment'; then
			holds "$(submit_refused -p train -N2 "$option")" 'cannot be combined with --gang'
		fi
	done
	if sbatch --help | grep -q -e '--spread-segments'; then
		holds "$(submit_refused -p train -N2 --segment=1 --spread-segments)" 'cannot be combined with --gang'
		holds "$(submit_refused -p train -N2 --segment=1 --consolidate-segments)" 'cannot be combined with --gang'
	fi
	if sbatch --help | grep -q -e '--tres-per-task'; then
		tempt
		judge_rows <<-'END'
			waits   sbatch -n2 --tres-per-task=gres/gpu:4
			waits   sbatch -n3 --tres-per-task=cpu:4
			refused sbatch -n5 --tres-per-task=gres/gpu:4
		END
	fi
}

@test "--test-only names nodes of one spine" {
	tempt
	hold n4
	for words in -N2 -n12 --gpus=6 -N1-8; do
		# shellcheck disable=SC2086
		said=$(sbatch --test-only -p train $words --wrap true 2>&1)
		nodes=$(sed -n 's/.* on nodes \([^ ]*\).*/\1/p' <<<"$said")
		[[ -n $nodes ]] || fail "no nodes for $words: $said"
		[[ $(spines_of "$nodes") != *' '* ]] || fail "$words: $said"
	done
	holds "$(sbatch --test-only -p train -N5 --wrap true 2>&1)" 'error'
}

@test "partition lists: what one of them promises holds in all" {
	tempt
	for list in free,train train,free loose,train; do
		job=$(submit -p "$list" -N2)
		await 20 shows '; waits: 2 nodes on one spine' note "$job"
		holds "$(submit_refused -p "$list" -N2 --gang=off)" '--gang=off is not allowed there'
		holds "$(submit_refused -p "$list" -N2 --gang=core)" 'ask for --gang=spine or a level below it'
		holds "$(submit_refused -p "$list" -N2 --switches=1)" '--switches cannot be combined with --gang'
		scancel "$job"
	done
	nothing_straddled
}

# --- changing -------------------------------------------------------------------------------------

@test "every way of changing a pending job is judged as a submission" {
	tempt
	# shellcheck disable=SC2034 # change counts it
	ROW=0
	# shellcheck disable=SC2034 # the rows name it
	GPU=$(slurm_at_least 23.11 && echo gres/gpu || echo gpu)
	while IFS='|' read -r outcome options words <&4; do
		change "${outcome// /}" "$options" "$words"
	done 4<<-'END'
		spread  | -p free -N2                    | TimeLimit=5
		spread  | -p free -N2 -C any             | Features=a\|b
		spread  | -p free -N2 --gang=off         | NumNodes=2-3
		spread  | -p train -N2                   | Partition=free
		spread  | -p train -N2                   | Partition=free NumNodes=2-3
		waits   | -p train -N2 --gang            | Partition=free
		waits   | -p free -N2                    | Partition=train
		waits   | -p free -n12                   | Partition=train
		waits   | -p free -N2                    | Partition=free,train
		waits   | -p free -N1                    | Partition=train NumNodes=2-2
		refused | -p loose -N2 --gang=off        | Partition=train NumNodes=2-4
		waits   | -p train -N1                   | NumNodes=2-2
		waits   | -p train -N1                   | NumNodes=1-8
		waits   | -p train -n1                   | NumTasks=12 NumCPUs=12
		waits   | -p train -N2                   | Features=a\|b
		waits   | -p train -N2                   | ReqNodeList=n4
		waits   | -p train -N2                   | TimeLimit=5
		waits   | -p train -N2                   | NumNodes=2-8
		waits   | -p train -N1 --exclusive       | NumNodes=2-2
		waits   | -p train -N2                   | OverSubscribe=yes
		waits   | -p train -N2                   | MinCPUsNode=8
		waits   | -p train -N2                   | MinMemoryNode=1
		waits   | -p train -N2                   | MinMemoryCPU=1
		waits   | -p train --gpus=2              | TresPerJob=$GPU:6
		waits   | -p train -n2 --gpus-per-task=1 | TresPerTask=$GPU:4
		waits   | -p train -N2 --gpus-per-node=1 | TresPerNode=$GPU:3
		waits   | -p train -N1 --gpus-per-node=1 | TresPerNode=$GPU:3 NumNodes=2-2
		as-slurm | -p train -N2 --gpus-per-node=1 | CpusPerTres=$GPU:1
		as-slurm | -p train -N2 --gpus-per-node=1 | MemPerTres=$GPU:1
		as-slurm | -p train -N2                   | TresPerSocket=$GPU:1 ReqSockets=1
		as-slurm | -p train -N2                   | TasksPerNode=1
		as-slurm | -p train -N2                   | EndTime=now+1hour
		as-slurm | -p train -N2                   | Clusters=other
		as-slurm | -p train -N2                   | ClusterFeatures=any
		as-slurm | -p train -N2                   | Extra=any
		as-slurm | -p train -N2                   | MCSLabel=any
		as-slurm | -p train -N2                   | UserID=0
		as-slurm | -p train -N2                   | SiteFactor=1
		as-slurm | -p train -N2                   | QOS=any
		as-slurm | -p train -N2                   | Account=any
		as-slurm | -p train -N2                   | BurstBuffer=any
		waits   | -p train -N2                   | Comment=any
		as-slurm | -p train -N2                   | Deadline=now+1hour
		as-slurm | -p train -N2                   | Gres=gpu:1
		as-slurm | -p train -N2 --reboot          | Reboot=no
		as-slurm | -p train -N2                   | Priority=1000
		as-slurm | -p train -N2                   | CoreSpec=1
		as-slurm | -p train -N2                   | ThreadSpec=1
		as-slurm | -p train -N2                   | WCKey=any
		as-slurm | -p train -N2                   | MailType=NONE
		as-slurm | -p train -N2                   | MinTmpDiskNode=0
		as-slurm | -p train -N2                   | CPUsPerTask=2
		as-slurm | -p train -N2 --array=1-2       | ArrayTaskThrottle=1
		waits   | -p train -N2                   | Prefer=a
		waits   | -p train -N2                   | Licenses=tool:1
		waits   | -p train -N2                   | ReqCores=1
		waits   | -p train -N2                   | ReqSockets=1
		waits   | -p train -N2                   | ReqThreads=1
		waits   | -p train -N2                   | TimeMin=1
		waits   | -p train -N2                   | Nice=5
		waits   | -p train -N2                   | StartTime=now
		waits   | -p train -N2                   | Requeue=0
		waits   | -p train -N2                   | DelayBoot=1
		waits   | -p train -N2 -w n4             | ReqNodeList=n8
		waits   | -p train -N2 -w n4             | ReqNodeList=
		waits   | -p train -N2 -x n1             | ExcNodeList=n2
		waits   | -p train -N2 -C a                | Features=any
		waits   | -p loose -N2                   | Partition=train,free
		refused | -p free -N2 --gang=off         | Partition=train
		refused | -p free -N2 --gang=core        | Partition=train
		refused | -p free -N2 --gang=spine@0:01  | Partition=train
		refused | -p free -N5                    | Partition=train
		refused | -p free -N2 --switches=1       | Partition=train
		refused | -p free -N2 --contiguous       | Partition=train
		refused | -p free -N2 -w n1,n8           | Partition=train
		refused | -p free -N2 -C "[a*1&b*1]"     | Partition=train
		refused | -p free --gang -N2             | Features="[a*1&b*1]"
		refused | -p free --gang -N2             | NumNodes=5-5
		refused | -p train -N2                   | Features="[a*1&b*1]"
		refused | -p train -n2                   | Features="[a*1&b*1]"
		refused | -p train -N2                   | ReqSwitch=1
		refused | -p train -N2                   | Contiguous=yes
		refused | -p train -N2                   | NumNodes=5-5
		refused | -p train -N2                   | ReqNodeList=n1,n8
		refused | -p train -N2                   | ExcNodeList=n[2-5],n[7-8]
		refused | -p train -N1                   | Dependency=expand:1
	END
	judge_changed
	scancel -p free
	nothing_straddled
	[[ ! -s $BATS_TEST_TMPDIR/failed ]] || fail "$(<"$BATS_TEST_TMPDIR/failed")"
}

@test "a running gang is not grown over a second spine" {
	hold 'n[2-4],n[6-8]'
	gang=$(submit -p train -N1 -n1 -w n1)
	await_job "$gang" RUNNING
	# from another partition nothing stands against it, until the nodes are to be handed over
	more=$(submit -p free -N1 -n1 --dependency="expand:$gang" 2>&1) || skip "this Slurm grows no jobs: $more"
	await 20 job_is "$more" RUNNING || skip 'Slurm does not grow a job from another partition'
	run scontrol update "JobId=$more" NumNodes=0
	[[ $status != 0 ]] || fail "job $gang was grown: $(record "$gang")"
	equal "$(job_field "$gang" NodeList)" n1
	equal "$(job_state "$more")" RUNNING 'the job whose nodes were to go'
}

@test "a requeued gang finds one spine again" {
	job=$(submit -p train -N2 --requeue)
	await_job "$job" RUNNING
	on_one_spine "$job"
	scontrol requeuehold "$job"
	await 30 job_is "$job" PENDING
	await 30 none_completing
	tempt
	scontrol release "$job"
	begin_soon "$job" || true
	await 40 shows '; waits: 2 nodes on one spine' note "$job"
	release n3
	await_job "$job" RUNNING 40
	on_one_spine "$job"
}

@test "slurmrestd submits as sbatch does" {
	rest -V </dev/null | grep -q '^slurm' || skip 'slurmrestd is not installed here'
	tempt
	said=$(rest_submit '"partition": "train", "nodes": "2"')
	job=$(jq -r .job_id <<<"$said")
	[[ $job =~ ^[1-9][0-9]*$ ]] || fail "$said"
	await 20 shows '; waits: 2 nodes on one spine' note "$job"
	scancel "$job"
	said=$(rest_submit '"partition": "train", "nodes": "5"')
	holds "$said" 'Requested node configuration is not available'
	said=$(rest_submit '"partition": "train", "tasks": 12')
	job=$(jq -r .job_id <<<"$said")
	await 20 shows '; waits: 2 nodes on one spine' note "$job"
	nothing_straddled
}

# --- what was there before ------------------------------------------------------------------------

@test "jobs that were pending when the policy was switched on" {
	put_config <<<'defaults: {}'
	tempt
	plain=$(submit --hold -p train -N2)
	tasks=$(submit --hold -p train -n12)
	gpus=$(submit --hold -p train --gpus=6)
	range=$(submit --hold -p train -N1-8)
	was_off=$(submit --hold -p train -N2 --gang=off)
	core=$(submit --hold -p train -N2 --gang=core)
	switches=$(submit --hold -p train -N2 --switches=1)
	counted=$(submit --hold -p train -N2 -C '[a*1&b*1]')
	apart=$(submit --hold -p train -N2 -w n4,n8)
	parts=$(sbatch --parsable --hold -o /dev/null --wrap 'sleep 1' -p train -N1 : -p train -N1)
	small=$(submit --hold -p train -N1)
	promise | put_config
	for job in $plain $tasks $gpus $was_off $core $switches $counted $apart $parts; do
		scontrol release "$job"
		await 20 shows '; waits: ' note "$job"
		[[ $(job_field "$job" Priority) != 0 ]] || fail "job $job is held"
		nothing_straddled
		scontrol hold "$job"
	done
	holds "$(note "$counted")" 'waits: the policy here makes a gang of this job, and a --constraint with counts'
	holds "$(note "$parts")" 'waits: the policy here makes a gang of this job, and a heterogeneous job cannot be'
	holds "$(note "$apart")" 'waits: 2 nodes on one spine; no spine has all the nodes that the job requires'
	for job in $range $small; do
		scontrol release "$job"
		await_job "$job" RUNNING
	done
	scancel "$range" "$small" "$counted" "$apart" "$parts"
	release n3
	for job in $plain $tasks $gpus $was_off $core $switches; do
		scontrol release "$job"
		await_job "$job" RUNNING
		on_one_spine "$job"
		scancel "$job"
		await 20 job_is "$job" CANCELLED
	done
}

@test "a gang that waited is placed by the topology in force, and one without its level waits" {
	tempt
	job=$(submit -p train -N2)
	await 20 shows '; waits: 2 nodes on one spine' note "$job"
	cp "$ONESPINE_CLUSTER/onespine.topology" "$BATS_TEST_TMPDIR/before"
	jq '.levels |= map(if . == "spine" then "row" else . end)
		| .domains |= map(if .level == "spine" then .level = "row" else . end)' \
		"$BATS_TEST_TMPDIR/before" >"$ONESPINE_CLUSTER/onespine.topology"
	cluster reconfigure --dir "$ONESPINE_CLUSTER"
	await 20 shows "there is no level 'spine' in this fabric" note "$job"
	stays 2 job_is "$job" PENDING
	lay_fabric 1-3,5 4,6-8 >"$ONESPINE_CLUSTER/onespine.topology"
	cluster reconfigure --dir "$ONESPINE_CLUSTER"
	await_job "$job" RUNNING
	equal "$(job_nodes "$job" | paste -sd,)" n4,n8
	cp "$BATS_TEST_TMPDIR/before" "$ONESPINE_CLUSTER/onespine.topology"
	cluster reconfigure --dir "$ONESPINE_CLUSTER"
	# now it stands on two spines, and audit says so
	run onespine audit
	equal "$status" 1
	holds "$output" "job $job"
}

# --- audit ----------------------------------------------------------------------------------------

@test "audit goes by the policy and the nodes, not by the note" {
	put_config <<<'defaults: {}'
	tempt
	job=$(submit -p train -N2)
	await_job "$job" RUNNING
	equal "$(spines_of "$(job_field "$job" NodeList)")" 's1 s2'
	onespine audit
	promise | put_config
	run onespine audit
	equal "$status" 1
	holds "$output" "job $job"
	holds "$output" 'the policy of partition train holds it to one spine'
	equal "$(onespine audit --json | jq -r '.gangs[0].by')" policy
	# a note that says less than the policy is not believed
	scontrol update "JobId=$job" 'AdminComment=[onespine: gang=core; placed: 2 nodes on core c]'
	run onespine audit
	equal "$status" 1
	scancel "$job"
}

# --- requests of other releases -------------------------------------------------------------------

@test "a stored request with a key that this release does not know waits and names it" {
	command -v python3 >/dev/null || skip 'no python3 to write the state file with'
	# a leaf has both nodes free: only what is not understood keeps the job from starting
	hold 'n[1-2],n[5-7]'
	job=$(submit -p free --gang --hold -N2)
	await_saved "$job"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER" -9
	# as long as before, so that the state file stays whole
	edit_state 'relax_s=-1,origin=option,mix_kinds=no' 'relax_s=-1,origin=option,mixed_max=12'
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	scontrol release "$job"
	await 20 shows "waits: its stored request has the key 'mixed_max', which this release does not know" note "$job"
	holds "$(onespine why "$job")" "mixed_max"
	stays 3 job_is "$job" PENDING
	[[ $(job_field "$job" Priority) != 0 ]] || fail "job $job is held"
	onespine set "$job" --gang=spine
	await_job "$job" RUNNING
	on_one_spine "$job"
}

# edit_state OLD NEW: in slurmctld's state of jobs; both of one length
edit_state() {
	equal "${#1}" "${#2}" 'length'
	on_cluster true
	python3 - "$1" "$2" "$ONESPINE_CLUSTER"/state/job_state* <<-'END'
		import sys
		old, new = (word.encode() for word in sys.argv[1:3])
		edited = 0
		for path in sys.argv[3:]:
		    data = open(path, "rb").read()
		    edited += data.count(old)
		    open(path, "wb").write(data.replace(old, new))
		sys.exit(not edited)
	END
}

# --- advice ---------------------------------------------------------------------------------------

@test "each task of an array that is only advised is told what enforcing would have done" {
	put_config <<<'partitions: {train: {mode: advise, gang: always}}'
	tempt
	job=$(submit -p train -N2 --array=1-2 --exclusive)
	await 20 is_named_running "$job"
	release n3
	task=$(squeue -h -r -j "$job" -t RUNNING -o %A | head -n 1)
	holds "$(note "$task")" 'enforce would have waited'
	promise | put_config
}

is_named_running() {
	[[ -n $(squeue -h -r -j "$1" -t RUNNING -o %A) ]]
}
