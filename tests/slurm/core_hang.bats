#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_hang.bats - a node whose Epilog hangs: gangs do not wait for it for ever
bats_require_minimum_version 1.5.0

load helpers

# A node's Epilog waits as long as its gate file is there.
setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 2 2
	export GATE=$BATS_FILE_TMPDIR/gate
	mkdir "$GATE"
	cat >"$BATS_FILE_TMPDIR/epilog" <<-END
		#!/bin/sh
		while [ -e "$GATE/\$SLURMD_NODENAME" ]; do sleep 0.2; done
	END
	chmod 755 "$BATS_FILE_TMPDIR" "$GATE" "$BATS_FILE_TMPDIR/epilog"
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" \
		--conf "Epilog=$BATS_FILE_TMPDIR/epilog" --conf KillWait=1 --conf MessageTimeout=5 \
		--conf UnkillableStepTimeout=1 \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1
}

setup() {
	rm -f "$GATE"/*
	free_all
}

planned_on() {
	equal "$(job_field "$1" SchedNodeList)" "$2" "plan of job $1"
}

# restart_with LINE: slurmctld alone, with one more line of slurm.conf. A slurmd would kill the Epilog by it.
restart_with() {
	cluster kill-ctld --dir "$ONESPINE_CLUSTER"
	printf '%s\n' "$1" >>"$ONESPINE_CLUSTER/slurm.conf"
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
}

@test "a gang is planned where jobs end soon, not where a hung Epilog has kept a node for too long" {
	local first busy gang small limit=PrologEpilogTimeout
	! slurm_at_least 25.05 || limit=EpilogTimeout
	first=$(submit -w n2 -N1 --exclusive)
	busy=$(submit -w n5 -N1 --exclusive --time=60)
	await_job "$first" RUNNING
	await_job "$busy" RUNNING
	touch "$GATE/n2"
	scancel "$first"
	await 20 node_is n2 completing
	gang=$(submit --gang -N4 --exclusive --time=30)
	# in good order it is the spine that is free first
	await 30 planned_on "$gang" 'n[1-4]'
	restart_with "$limit=1"
	await 60 planned_on "$gang" 'n[5-8]'
	node_is n2 completing
	# what is planned for it nobody else gets; Slurm itself would plan this job on n2, for ever
	small=$(submit -N3 -x n2 --exclusive --time=300)
	await_job "$small" RUNNING
	equal "$(job_field "$small" NodeList)" 'n[1,3-4]'
	scancel "$busy"
	await_job "$gang" RUNNING
	equal "$(job_field "$gang" NodeList)" 'n[5-8]'
	node_is n2 completing
}
