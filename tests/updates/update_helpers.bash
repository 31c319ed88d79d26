# SPDX-License-Identifier: GPL-2.0-or-later
# update_helpers.bash - a cluster whose Slurm is updated, and what must not change by that; load ../slurm/helpers first
# shellcheck shell=bash

# start_cluster SLURM: with Onespine's plugins for it in a folder of its own, LIB, and the license that holds gangs
start_cluster() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 1 4
	ONESPINE_TEST_SLURM=$1 cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --conf Licenses=onespine:1,tool:2 \
		--conf 'SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1,allow_zero_lic'
	cluster kill-ctld --dir "$ONESPINE_CLUSTER"
	LIB=$ONESPINE_CLUSTER/lib
	mkdir -p "$LIB/slurmctld"
	cp "$ONESPINE_PREFIX/lib/onespine/slurmctld/select_cons_tres.so" "$LIB/slurmctld/"
	cp "$ONESPINE_PREFIX/lib/onespine/job_submit_onespine.so" "$LIB/"
	chmod -R go-w "$LIB"
	sed -i "s#^PluginDir=.*:#PluginDir=$LIB/slurmctld:$LIB:#" "$ONESPINE_CLUSTER/slurm.conf"
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
}

# put_beside VERSION FOLDER: the two plugins of a folder, as `make install-beside` puts them
put_beside() {
	mkdir -p "$LIB/slurm/$1"
	cp "$2/select_cons_tres.so" "$2/job_submit_onespine.so" "$LIB/slurm/$1/"
	chmod -R go-w "$LIB"
}

# keeps_licenses VERSION: those of jobs that it puts back (lib/policy/gang_license.h), so that it holds gangs
keeps_licenses() {
	local ONESPINE_TEST_SLURM=$1
	slurm_at_least 25.11.7 || ! slurm_at_least 25.05.0
}

# queue: what must not change by an update
queue() {
	squeue -h -a -r -o '%i|%j|%T|%P|%D|%N|%S|%V|%u' | sed -E '/PENDING/s/\|[^|]*(\|[^|]*\|[^|]*)$/|-\1/' | sort -V
}

log_has() {
	grep -qF "$1" "$ONESPINE_CLUSTER/log/slurmctld.log"
}

# none_used: no license is left over, whoever offers them
none_used() {
	[[ $(scontrol -o show licenses onespine) == *' Used=0 '* ]]
}

# none_straddles: no gang that runs has nodes of two spines
none_straddles() {
	local job
	for job in $(squeue -h -t RUNNING -o '%A %j' | sed -n 's/ gang$//p'); do
		on_one_spine "$job"
	done
}

runs_on_one_spine() {
	on_one_spine "$1" 2>/dev/null
}

gang() {
	submit --job-name=gang --gang --exclusive --requeue "$@"
}

plain() {
	submit --job-name=plain --exclusive "$@"
}
