#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_hold_backup.bats - the license that holds gangs, and a backup slurmctld that takes over and gives back

load helpers
load backup_helpers
load other_build

setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 2 1
	cluster_start --nodes 4 --topology "$BATS_FILE_TMPDIR/onespine.topology" --conf Licenses=onespine:1,tool:2 \
		--conf SlurmctldTimeout=10 --conf CommunicationParameters=NoCtldInAddrAny \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1,allow_zero_lic
	export PLUGINS PREFIX
	PLUGINS=$(sed -n 's/^PluginDir=.*://p' "$ONESPINE_CLUSTER/slurm.conf")
	PREFIX=$(sed -n 's/^PluginDir=\([^:]*\)\/lib\/onespine\/slurmctld:.*/\1/p' "$ONESPINE_CLUSTER/slurm.conf")
	add_backup_line
	cp "$ONESPINE_CLUSTER/slurm.conf" "$BATS_FILE_TMPDIR/matching"
	updated_config "$BATS_FILE_TMPDIR/lib" >"$BATS_FILE_TMPDIR/updated"
	start_with "$BATS_FILE_TMPDIR/matching"
	cluster reconfigure --dir "$ONESPINE_CLUSTER" # nodes learn of the backup
}

# bats waits for what a failed test leaves in the background
teardown() {
	stop_others
	end_test
}

none_used() {
	[[ $(scontrol -o show licenses onespine) == *' Used=0 '* ]]
}

@test "a backup takes over and gives back: gangs stay, start, and hold no license" {
	running=$(submit --gang -N2 --exclusive -w 'n[1-2]')
	await_job "$running" RUNNING
	# no job that would have to be ended under the backup: 22.05's may send its nodes nothing (agent.c, agent_init())
	scontrol update NodeName=n3 State=DRAIN Reason=test
	waiting=$(submit --gang -N2 --exclusive)
	await 20 note_holds "$waiting" 'waits: 2 nodes on one spine'
	await_saved "$waiting"
	start_backup
	await 20 pings 'backup.* is UP'
	scontrol takeover 1
	await 30 scontrol show job "$waiting"
	equal "$(job_state "$running") $(job_state "$waiting")" 'RUNNING PENDING'
	none_used
	fresh=$(submit --gang -N2 --exclusive)
	scontrol update NodeName=n3 State=RESUME
	await_job "$waiting" RUNNING
	none_used
	await_saved "$waiting" # what the primary comes back with
	start_primary
	equal "$(job_state "$running") $(job_state "$waiting")" 'RUNNING RUNNING'
	none_used
	scancel "$running"
	await_job "$fresh" RUNNING
	none_used
	scontrol takeover 1
	await 30 scontrol show job "$waiting"
	equal "$(job_state "$fresh") $(job_state "$waiting")" 'RUNNING RUNNING'
	none_used
	scancel "$fresh" "$waiting"
	start_primary
	ended backup KILL # one that stands by may take no notice of TERM
}

# start_primary: it asks the backup for control
start_primary() {
	cluster kill-ctld --dir "$ONESPINE_CLUSTER" 2>/dev/null || true
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	await 20 pings 'primary.* is UP'
}

@test "gangs that are held stay so under the backup and after it" {
	slurm_at_least 24.11 || skip "22.05's backup may send its nodes nothing (agent.c, agent_init()), so no job ends under it"
	busy=$(submit -N4 --exclusive)
	await_job "$busy" RUNNING
	waiting=$(submit --gang -N2 --exclusive)
	await_saved "$waiting"
	start_with "$BATS_FILE_TMPDIR/updated"
	start_backup
	await 20 pings 'backup.* is UP'
	scontrol takeover 1
	await 30 scontrol show job "$waiting"
	scancel "$busy"
	await 30 is_held "$waiting"
	fresh=$(submit --gang -N2 --exclusive)
	await 30 is_held "$fresh"
	other=$(submit -N4 --exclusive)
	await_job "$other" RUNNING
	start_primary
	scancel "$other"
	other=$(submit -N4 --exclusive)
	await_job "$other" RUNNING
	equal "$(job_state "$fresh") $(job_state "$waiting")" 'PENDING PENDING'
	ended backup KILL
	await_saved "$waiting"
	start_with "$BATS_FILE_TMPDIR/matching"
	scancel "$other"
	await_job "$waiting" RUNNING
	await_job "$fresh" RUNNING
	none_used
}
