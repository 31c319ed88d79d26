#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# valgrind.bats - slurmctld under valgrind: no error and no definite leak that a frame of ours is in
#
# What valgrind says about Slurm alone is not looked at.

load helpers

setup_file() {
	command -v valgrind >/dev/null || skip 'valgrind is not installed'
	local dir=$BATS_FILE_TMPDIR/cluster
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 2 2
	# What is preempted begins again cred_expire seconds later, not after Slurm's two minutes.
	cluster_start --valgrind --topology "$BATS_FILE_TMPDIR/onespine.topology" --dir "$dir" \
		--conf "AuthInfo=socket=$dir/munge/socket,cred_expire=5" \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=3,bf_interval=1 \
		--conf PreemptType=preempt/partition_prio --conf PreemptMode=REQUEUE --conf Licenses=onespine:1 \
		--partition 'gpu Nodes=ALL Default=YES PriorityTier=1' \
		--partition 'high Nodes=ALL PriorityTier=10 PreemptMode=OFF' \
		--partition 'advised Nodes=ALL' --partition 'promised Nodes=ALL' --partition 'half Nodes=n[1-4]'
}

setup() {
	:
}

put() {
	cat >"$ONESPINE_CLUSTER/$1.new"
	mv "$ONESPINE_CLUSTER/$1.new" "$ONESPINE_CLUSTER/$1"
}

# From 23.11 on a reconfigure starts another slurmctld, which valgrind does not follow.
reconfigure() {
	if slurm_at_least 23.11; then
		cluster kill-ctld --dir "$ONESPINE_CLUSTER"
		equal "$(of_ours)" ''
		cluster start-ctld --dir "$ONESPINE_CLUSTER"
	else
		cluster reconfigure --dir "$ONESPINE_CLUSTER"
	fi
}

# of_ours: the paragraphs of valgrind's log that are about us: errors in which any frame is ours, and
# leaks of what we have taken ourselves. Slurm's functions that we call may keep what is theirs.
of_ours() {
	sed 's/^==[0-9]*== \?//' "$ONESPINE_CLUSTER/valgrind.log" | awk -v RS= -F'\n' '
		function is_ours(frame) {
			return frame ~ /\/(lib|sched)\/[a-z_]+\.[ch]:[0-9]+\)|\/lib\/onespine\//
		}
		function is_library(frame) {
			return frame ~ /\(in .*\/(vgpreload_[^\/]*|libslurmfull\.so|libc\.so[^\/]*)\)/
		}
		/ are definitely lost in loss record / {
			for (i = 2; i <= NF && is_library($i); i++)
				;
			if (is_ours($i))
				print $0 "\n"
			next
		}
		is_ours($0) { print $0 "\n" }'
}

@test "gangs wait, start, are refused, set, preempted, requeued, cancelled; files change and break" {
	hold 'n1,n5'
	job=$(submit --gang -N4 --exclusive --time=10)
	await 60 note_holds "$job" 'waits: 4 nodes on one spine'
	submit_refused --gang -N5 >/dev/null
	submit_refused --gang=spin -N2 >/dev/null
	submit_refused --gang -N2 -w n1,n5 >/dev/null
	submit_refused --gang=spine@ -N2 >/dev/null
	submit_refused --gang -N2 --switches=1 >/dev/null
	scontrol update "JobId=$job" AdminComment='ticket 4711'
	sbatch --test-only --gang -N4 --wrap true
	parts=$(submit --gang -N3 --ntasks-per-node=2 --time=20)
	range=$(submit --gang -N2-4 --exclusive --begin=now+1hour)
	array=$(submit --gang=leaf -N2 --exclusive --array=1-3 --time=30 --wrap "sleep 1")
	relaxed=$(submit --gang=leaf@0:01 -N2 --exclusive --time=30)
	onespine set "$range" --gang=leaf
	onespine set "$range" --gang=off
	release n5
	await_job "$job" RUNNING 60
	put onespine.yaml <<-'END'
		defaults: {level: spine}
		partitions:
		  advised: {mode: advise, gang: always}
	END
	reconfigure
	advised=$(submit -p advised -N3 --exclusive)
	put onespine.yaml <<<'defaults: {mode: wrong}'
	put onespine.topology <<<'{"onespine-topology": 1, "levels": ['
	reconfigure
	scancel "$parts" "$range"
	scontrol update NodeName=n2 State=DRAIN Reason=test
	preempting=$(submit -p high --gang -N3 --exclusive)
	await_job "$preempting" RUNNING 120
	on_one_spine_of_good "$preempting"
	scontrol update NodeName=n2 State=RESUME
	scontrol update PartitionName=high Nodes='n[1-7]'
	make_topology "$BATS_TEST_TMPDIR/other" 1 2 4
	put onespine.topology <"$BATS_TEST_TMPDIR/other"
	reconfigure
	put onespine.yaml <<<''
	reconfigure
	scancel "$job" "$preempting" "$relaxed" "$advised"
	hold_many
	await 120 nothing_pends_of "$array"
	free_all
}

# The topology that was good when the file broke.
on_one_spine_of_good() {
	ONESPINE_TEST_TOPOLOGY=$BATS_FILE_TMPDIR/onespine.topology on_one_spine "$1"
}

# More gangs than the domains have room for, by both schedulers.
hold_many() {
	local size
	for size in 4 3 2 8 6 1 2 4; do
		submit --gang -N$size --exclusive --time=$size --wrap 'sleep 1' >/dev/null
	done
}

nothing_pends_of() {
	[[ -z $(squeue -h -j "$1" -t PENDING -o %i 2>/dev/null) ]]
}

# The first one's components are placed together; those of the next wait until it has ended, one of them for either partition.
@test "components of heterogeneous jobs wait and start where their partitions promise one spine" {
	local cpus first next
	put onespine.yaml <<-'END'
		partitions:
		  promised: {gang: always, allow_off: false, from_nodes: 4}
		  half: {gang: always, allow_off: false, from_nodes: 4}
	END
	reconfigure
	cpus=$(scontrol -o show node n1 | sed -n 's/.* CPUTot=\([0-9]*\).*/\1/p')
	hold 'n[5-7]'
	first=$(sbatch --parsable -o /dev/null --wrap 'exec sleep 600' -p promised "-n$((2 * cpus))" : -p promised "-n$((2 * cpus))")
	await_job "$first+0" RUNNING 120
	await_job "$first+1" RUNNING 120
	next=$(sbatch --parsable -o /dev/null --wrap 'exec sleep 600' -p half "-n$((2 * cpus))" : -p half,promised "-n$((2 * cpus))" \
		: -p promised "-n$cpus")
	stays 3 job_is "$next+0" PENDING
	scancel "$first"
	await_job "$next+0" RUNNING 120
	await_job "$next+2" RUNNING 120
	put onespine.yaml <<<''
	reconfigure
	free_all
}

@test "killed and started again with gangs running and waiting" {
	job=$(submit --gang -N6 --exclusive)
	waiting=$(submit --gang -N6 --exclusive)
	await_job "$job" RUNNING 60
	await 60 note_holds "$waiting" waits:
	await_saved "$waiting"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER"
	equal "$(of_ours)" ''
	cp "$ONESPINE_CLUSTER/valgrind.log" "$BATS_FILE_TMPDIR/first.log"
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	scancel "$job"
	await_job "$waiting" RUNNING 120
	scancel "$waiting"
	await 60 nothing_left
}

@test "stopped: valgrind saw no error and no definite leak with a frame of ours" {
	cluster kill-ctld --dir "$ONESPINE_CLUSTER"
	equal "$(of_ours)" ''
	grep -q 'ERROR SUMMARY' "$ONESPINE_CLUSTER/valgrind.log"
	grep -q 'ERROR SUMMARY' "$BATS_FILE_TMPDIR/first.log"
}
