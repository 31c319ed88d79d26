#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_fail_closed.bats - where gangs could not be enforced slurmctld does not start

load helpers
load other_build

setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 2 1
	cluster_start --nodes 4 --topology "$BATS_FILE_TMPDIR/onespine.topology"
	export PLUGINS PREFIX
	PLUGINS=$(sed -n 's/^PluginDir=.*://p' "$ONESPINE_CLUSTER/slurm.conf")
	PREFIX=$(sed -n 's/^PluginDir=\([^:]*\)\/lib\/onespine\/slurmctld:.*/\1/p' "$ONESPINE_CLUSTER/slurm.conf")
	export MISSING="Onespine's select_cons_tres.so is not in use, gangs would be placed anywhere, so slurmctld does not start: put"
}

# fails_to_start WORDS OPTION...: the cluster does not come up, and slurmctld's log has the words
fails_to_start() {
	local words=$1
	shift
	run cluster start ${ONESPINE_TEST_SLURM:+--slurm "$ONESPINE_TEST_SLURM"} --cloud 2 \
		--dir "$BATS_TEST_TMPDIR/c" "$@"
	((status)) || echo "$BATS_TEST_TMPDIR/c" >>"$BATS_FILE_TMPDIR/clusters" # it must go all the same
	equal "$status" 1
	holds "$output" "$words"
	[[ ! -e $BATS_TEST_TMPDIR/c ]]
}

@test "the shadow is missing" {
	fails_to_start "$MISSING $PREFIX/lib/onespine/slurmctld first in PluginDir" \
		--conf "PluginDir=$PREFIX/lib/onespine:$PLUGINS"
}

@test "the shadow stands behind Slurm's own plugin" {
	fails_to_start "$MISSING" \
		--conf "PluginDir=$PREFIX/lib/onespine:$PLUGINS:$PREFIX/lib/onespine/slurmctld"
}

@test "the shadow is of another Slurm" {
	mkdir "$BATS_TEST_TMPDIR/other"
	cp "$PREFIX/lib/onespine/slurmctld/select_cons_tres.so" "$BATS_TEST_TMPDIR/other/"
	other_version "$BATS_TEST_TMPDIR/other/select_cons_tres.so"
	fails_to_start "$MISSING" \
		--conf "PluginDir=$BATS_TEST_TMPDIR/other:$PREFIX/lib/onespine:$PLUGINS"
	matches "$output" 'install Onespine built for exactly Slurm 2[0-9]\.[0-9]+\.[0-9]+'
}

@test "job_submit is of another Slurm" {
	mkdir "$BATS_TEST_TMPDIR/other"
	cp "$PREFIX/lib/onespine/job_submit_onespine.so" "$PREFIX/lib/onespine/onespine.so" \
		"$BATS_TEST_TMPDIR/other/"
	other_version "$BATS_TEST_TMPDIR/other/job_submit_onespine.so"
	fails_to_start 'job_submit_onespine.so was built for Slurm 2' \
		--conf "PluginDir=$PREFIX/lib/onespine/slurmctld:$BATS_TEST_TMPDIR/other:$PLUGINS"
	holds "$output" 'gangs would be placed anywhere, so slurmctld does not start: install Onespine built for exactly Slurm'
}

# other_layout FILE WORD: in that word of the sizes that the shadow was built with, 8 bytes more
other_layout() {
	local address bytes
	address=$(readelf -sW "$1" | awk '$8 == "shadow_layout" { print $2; exit }')
	address=$(($(offset_of "$1" "$((16#$address))") + $2 * 8))
	bytes=$(od -An -tu8 -j "$address" -N 8 "$1")
	printf "$(printf '\\%03o\\%03o' $(((bytes + 8) & 255)) $(((bytes + 8) >> 8 & 255)))" |
		dd of="$1" bs=1 seek="$address" conv=notrunc status=none
	equal "$(($(od -An -tu8 -j "$address" -N 8 "$1")))" "$((bytes + 8))"
}

@test "the shadow was built with headers of a Slurm whose records are others" {
	mkdir "$BATS_TEST_TMPDIR/other"
	cp "$PREFIX/lib/onespine/slurmctld/select_cons_tres.so" "$BATS_TEST_TMPDIR/other/"
	other_layout "$BATS_TEST_TMPDIR/other/select_cons_tres.so" 0
	fails_to_start "$BATS_TEST_TMPDIR/other/select_cons_tres.so was built with headers of another Slurm 2" \
		--conf "PluginDir=$BATS_TEST_TMPDIR/other:$PREFIX/lib/onespine:$PLUGINS"
	matches "$output" 'a node has [0-9]+ bytes and not [0-9]+\. Build Onespine with the source'
}

# other_jobs DIR: a shadow whose headers say more of a job than this Slurm has
other_jobs() {
	mkdir "$1"
	cp "$PREFIX/lib/onespine/slurmctld/select_cons_tres.so" "$1/"
	other_layout "$1/select_cons_tres.so" 3
}

@test "the same for a job's record, of which one is saved before 24.05" {
	other_jobs "$BATS_TEST_TMPDIR/other"
	if slurm_at_least 24.05; then
		fails_to_start 'a job has' --conf "PluginDir=$BATS_TEST_TMPDIR/other:$PREFIX/lib/onespine:$PLUGINS"
		return
	fi
	free_all
	held=$(submit --hold -N1)
	await_saved "$held"
	cp "$ONESPINE_CLUSTER/slurm.conf" "$BATS_TEST_TMPDIR/"
	sed "s#^PluginDir=.*#PluginDir=$BATS_TEST_TMPDIR/other:$PREFIX/lib/onespine:$PLUGINS#" \
		"$BATS_TEST_TMPDIR/slurm.conf" >"$BATS_TEST_TMPDIR/others"
	log_mark
	run start_with "$BATS_TEST_TMPDIR/others"
	[[ $status != 0 ]]
	log_since 'was built with headers of another Slurm 2[0-9.]+ than this one: a job has [0-9]+ bytes and not [0-9]+\. Build'
	cp "$BATS_TEST_TMPDIR/slurm.conf" "$ONESPINE_CLUSTER/"
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	job_is "$held" PENDING
	scancel "$held"
}

is_queued() {
	[[ -n $(squeue -h -n "$1" -o %A) ]]
}

# ask_by_srun: a gang as $first, for which its client waits
ask_by_srun() {
	srun --gang -N2 --exclusive -J first sleep 600 &>/dev/null 3>&- &
	client=$!
	await 20 is_queued first
	first=$(squeue -h -n first -o %A)
}

# cancel_srun: its client ends while slurmctld answers, and without would go on for ever
cancel_srun() {
	scancel "$first"
	await 30 test ! -d "/proc/$client"
	client=
}

teardown() {
	if [[ -n ${client-} ]]; then
		pkill -9 -P "$client" || true
		kill -9 "$client" || true
	fi
	end_test
}

@test "the same before 24.05 where no job is saved: gangs are held from the first job on, others run" {
	slurm_at_least 24.05 && skip "found at the start there"
	other_jobs "$BATS_TEST_TMPDIR/other"
	cluster_start --nodes 4 --topology "$BATS_FILE_TMPDIR/onespine.topology" --conf Licenses=onespine:1,tool:2 \
		--conf "PluginDir=$BATS_TEST_TMPDIR/other:$PREFIX/lib/onespine:$PLUGINS"
	sed 's/^SchedulerParameters=.*/&,allow_zero_lic/' "$ONESPINE_CLUSTER/slurm.conf" >"$BATS_TEST_TMPDIR/others"
	sed "s#^PluginDir=.*#PluginDir=$PREFIX/lib/onespine/slurmctld:$PREFIX/lib/onespine:$PLUGINS#" \
		"$BATS_TEST_TMPDIR/others" >"$BATS_TEST_TMPDIR/matching"
	start_with "$BATS_TEST_TMPDIR/others"
	[[ $(scontrol -o show licenses onespine) == *Total=1000000* ]]
	# Slurm would start it at once, as it has looked at its licenses before it asks the shadow
	ask_by_srun
	await 20 is_held "$first"
	log_since 'headers of another Slurm 2[0-9.]+ than this one: a job has [0-9]+ bytes and not'
	log_since 'Slurm places jobs by itself, and every gang waits for license onespine, until slurmctld is started with such'
	[[ $(scontrol -o show licenses onespine) == *Total=1\ * ]]
	tool=$(submit -N1 --exclusive -L tool:2)
	await_job "$tool" RUNNING
	plain=$(submit -N2 --exclusive)
	await_job "$plain" RUNNING
	second=$(submit --gang -N2 --exclusive)
	scancel "$plain" "$tool"
	slurm_at_least 23.11 || scontrol reconfigure # a new process there, which compares the saved jobs
	await 20 is_held "$second"
	other=$(submit -N1 --exclusive) # a whole cycle later
	await_job "$other" RUNNING
	equal "$(job_state "$first") $(job_state "$second")" "PENDING PENDING"
	run onespine doctor
	holds "$output" 'slurmctld offers onespine:1 of licenses, so every gang waits'

	# the build that fits brings them back
	scancel "$other"
	await_saved "$second"
	start_with "$BATS_TEST_TMPDIR/matching"
	await_job "$first" RUNNING
	await_job "$second" RUNNING
	on_one_spine "$first"
	on_one_spine "$second"
	cancel_srun
	cluster_stop
	cluster_use "$(head -n 1 "$BATS_FILE_TMPDIR/clusters")"
}

@test "the same for a gang that was held by its user, or has no license, when slurm.conf was read again" {
	slurm_at_least 23.02 && skip "a reconfigure is a start on 23.11"
	other_jobs "$BATS_TEST_TMPDIR/other"
	cluster_start --nodes 4 --topology "$BATS_FILE_TMPDIR/onespine.topology" \
		--conf "PluginDir=$BATS_TEST_TMPDIR/other:$PREFIX/lib/onespine:$PLUGINS"
	sed -i 's/^SchedulerParameters=.*/&,allow_zero_lic/' "$ONESPINE_CLUSTER/slurm.conf"
	cp "$ONESPINE_CLUSTER/slurm.conf" "$BATS_TEST_TMPDIR/without"
	echo Licenses=onespine:1 >>"$ONESPINE_CLUSTER/slurm.conf"
	cp "$ONESPINE_CLUSTER/slurm.conf" "$BATS_TEST_TMPDIR/with"
	for first in with without; do # which it was submitted under
		cluster kill-ctld --dir "$ONESPINE_CLUSTER"
		rm -f "$ONESPINE_CLUSTER"/state/job_state*
		cp "$BATS_TEST_TMPDIR/$first" "$ONESPINE_CLUSTER/slurm.conf"
		cluster start-ctld --dir "$ONESPINE_CLUSTER"
		log_mark
		gang=$(submit --gang -N2 --exclusive --hold)
		cp "$BATS_TEST_TMPDIR/with" "$ONESPINE_CLUSTER/slurm.conf"
		scontrol reconfigure
		scontrol release "$gang"
		await 20 log_since 'every gang waits for license onespine, until slurmctld is started with such'
		other=$(submit -N1 --exclusive) # a whole cycle later
		await_job "$other" RUNNING
		equal "$first: $(job_state "$gang")" "$first: PENDING"
		scancel "$gang" "$other"
	done
	cluster_stop
	cluster_use "$(head -n 1 "$BATS_FILE_TMPDIR/clusters")"
}

@test "the same for a gang without the license, where no job_submit gives it" {
	slurm_at_least 24.05 && skip "found at the start there"
	other_jobs "$BATS_TEST_TMPDIR/other"
	cluster_start --nodes 4 --topology "$BATS_FILE_TMPDIR/onespine.topology" --conf Licenses=onespine:1 --conf JobSubmitPlugins= \
		--conf "PluginDir=$BATS_TEST_TMPDIR/other:$PREFIX/lib/onespine:$PLUGINS"
	ask_by_srun
	await 20 log_since 'every gang waits for license onespine, until slurmctld is started with such'
	equal "$(job_field "$first" Licenses)" '(null)'
	second=$(submit --gang -N2 --exclusive)
	other=$(submit -N2 --exclusive) # a whole cycle later
	await_job "$other" RUNNING
	equal "$(job_state "$first") $(job_state "$second")" "PENDING PENDING"
	[[ $(job_field "$second" Priority) != 0 ]]
	cancel_srun
	scancel "$second" "$other"
	cluster_stop
	cluster_use "$(head -n 1 "$BATS_FILE_TMPDIR/clusters")"
}

@test "the same without a license that could hold them: slurmctld ends" {
	slurm_at_least 24.05 && skip "found at the start there"
	other_jobs "$BATS_TEST_TMPDIR/other"
	cluster_start --cloud 4 --topology "$BATS_FILE_TMPDIR/onespine.topology" \
		--conf "PluginDir=$BATS_TEST_TMPDIR/other:$PREFIX/lib/onespine:$PLUGINS"
	submit -N1 || true
	await 20 log_since 'fatal: onespine: gangs would be placed anywhere, so slurmctld ends'
	cluster_stop || true
	cluster_use "$(head -n 1 "$BATS_FILE_TMPDIR/clusters")"
}

# other_field FILE FIELD: that field of a record 4 bytes later than the headers say
other_field() {
	# struct shadow_field: offset, shown_offset, bytes, shown_bytes, of, kind, name[20]
	python3 -c '
import struct, sys
bytes = open(sys.argv[1], "rb").read()
name = sys.argv[2].encode()
rows = [at for at in range(len(bytes)) if bytes.startswith(name + b"\0" * (20 - len(name)), at)]
assert len(rows) == 1, rows
at = rows[0] - 12
offset = struct.unpack_from("<I", bytes, at)[0] + 4
with open(sys.argv[1], "r+b") as file:
    file.seek(at)
    file.write(struct.pack("<I", offset))' "$1" "$2"
}

# refuses_field FIELD RECORD: Slurm has it elsewhere than this build. What is written there may be another field of Slurm's,
# which is named then, or a pointer, which is a fault.
refuses_field() {
	cp "$PREFIX/lib/onespine/slurmctld/select_cons_tres.so" "$BATS_TEST_TMPDIR/other/"
	other_field "$BATS_TEST_TMPDIR/other/select_cons_tres.so" "$1"
	fails_to_start 'was built with headers of another Slurm' \
		--conf "PluginDir=$BATS_TEST_TMPDIR/other:$PREFIX/lib/onespine:$PLUGINS"
	matches "$output" "this one: it (reads a $2's [a-z_]+ elsewhere|faults when it reads a $2 as this build writes it)\. Build Onespine with the source"
}

@test "Slurm reads a field of a node, a partition or a job elsewhere" {
	mkdir "$BATS_TEST_TMPDIR/other"
	refuses_field mem_spec_limit node
	refuses_field cpus_efctv node
	refuses_field priority_tier partition
	refuses_field time_min job
	refuses_field ntasks_per_node job
}

@test "another SelectType" {
	fails_to_start "$MISSING" --conf SelectType=select/linear --conf SelectTypeParameters=
	holds "$output" 'set SelectType=select/cons_tres'
}

@test "the shadow's file cannot be loaded" {
	mkdir "$BATS_TEST_TMPDIR/other"
	echo 'no plugin' >"$BATS_TEST_TMPDIR/other/select_cons_tres.so"
	fails_to_start "$MISSING" \
		--conf "PluginDir=$BATS_TEST_TMPDIR/other:$PREFIX/lib/onespine:$PLUGINS"
}

@test "the shadow alone, without job_submit, still keeps gangs on one spine" {
	free_all
	cluster_start --cloud 4 --topology "$BATS_FILE_TMPDIR/onespine.topology" --conf JobSubmitPlugins=
	first=$(submit -w n1 --exclusive)
	second=$(submit -w n3 --exclusive)
	await_job "$second" CONFIGURING
	for value in --gang --gang=spine; do
		job=$(submit "$value" -N2 --exclusive)
		await 20 note_holds "$job" 'waits: 2 nodes on one spine'
		stays 1 job_is "$job" PENDING
		scancel "$job"
	done
	job=$(submit --gang -N2 --exclusive)
	await 20 note_holds "$job" 'waits: 2 nodes on one spine'
	scancel "$second"
	await_job "$job" CONFIGURING
	equal "$(job_spines "$job")" s2
	cluster_stop
	cluster_use "$(head -n 1 "$BATS_FILE_TMPDIR/clusters")"
}


@test "the shadow says at the start who it is" {
	grep -qE "onespine: $PREFIX/lib/onespine/slurmctld/select_cons_tres.so \\(Onespine [^ ]+ for Slurm 2[0-9.]+\\) places gangs" \
		"$ONESPINE_CLUSTER/log/slurmctld.log"
}

@test "Slurm is updated: the kept build comes in place before the start, and gangs come back untouched" {
	free_all
	local lib=$BATS_TEST_TMPDIR/lib version
	version=$(scontrol --version)
	version=${version#* }
	mkdir -p "$lib/slurmctld" "$lib/slurm/$version"
	cp "$PREFIX/lib/onespine/slurmctld/select_cons_tres.so" "$PREFIX/lib/onespine/job_submit_onespine.so" \
		"$lib/slurm/$version/"
	cp "$lib/slurm/$version/select_cons_tres.so" "$lib/slurmctld/"
	cp "$lib/slurm/$version/job_submit_onespine.so" "$lib/"
	other_version "$lib/slurmctld/select_cons_tres.so"
	other_version "$lib/job_submit_onespine.so"
	chmod -R go-w "$lib"

	# n1 and n3 are busy: of two free nodes none share a spine
	first=$(submit -w n1 --exclusive)
	second=$(submit -w n3 --exclusive)
	await_job "$second" RUNNING
	waiting=$(submit --gang -N2 --exclusive)
	await 20 note_holds "$waiting" 'waits: 2 nodes on one spine'
	await_saved "$waiting"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER"
	cp "$ONESPINE_CLUSTER/slurm.conf" "$BATS_TEST_TMPDIR/"
	sed -i "s#^PluginDir=.*#PluginDir=$lib/slurmctld:$lib:$PLUGINS#" "$ONESPINE_CLUSTER/slurm.conf"
	run cluster start-ctld --dir "$ONESPINE_CLUSTER" # plugins of another Slurm
	[[ $status != 0 ]]

	run onespine doctor --before-start
	equal "$status" 0
	holds "$output" "$lib/slurmctld/select_cons_tres.so is now the build for Slurm $version"
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	grep -qF "onespine: $lib/slurmctld/select_cons_tres.so (Onespine " "$ONESPINE_CLUSTER/log/slurmctld.log"
	equal "$(job_state "$first") $(job_state "$second")" "RUNNING RUNNING"
	await 20 note_holds "$waiting" 'waits: 2 nodes on one spine'
	stays 1 job_is "$waiting" PENDING
	scancel "$second"
	await_job "$waiting" RUNNING
	equal "$(job_spines "$waiting")" s2
	scancel "$first" "$waiting"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER"
	cp "$BATS_TEST_TMPDIR/slurm.conf" "$ONESPINE_CLUSTER/"
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
}

@test "Slurm is updated and no build fits it: gangs wait, other jobs run, and the build brings the gangs back" {
	free_all
	local lib=$BATS_TEST_TMPDIR/lib
	mkdir -p "$lib/slurmctld"
	cp "$PREFIX/lib/onespine/slurmctld/select_cons_tres.so" "$lib/slurmctld/"
	cp "$PREFIX/lib/onespine/job_submit_onespine.so" "$lib/"
	other_version "$lib/slurmctld/select_cons_tres.so"
	other_version "$lib/job_submit_onespine.so"
	chmod -R go-w "$lib"

	# with the license in slurm.conf, gangs carry it, and those from before are given it
	waiting=$(submit --gang -N2 --exclusive -w "n[1-2]" --begin=now+1hour)
	equal "$(job_field "$waiting" Licenses)" "(null)"
	await_saved "$waiting"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER"
	cp "$ONESPINE_CLUSTER/slurm.conf" "$BATS_TEST_TMPDIR/"
	echo "Licenses=onespine:1,tool:2" >>"$ONESPINE_CLUSTER/slurm.conf"
	sed -i 's/^SchedulerParameters=.*/&,allow_zero_lic/' "$ONESPINE_CLUSTER/slurm.conf"
	grep -q allow_zero_lic "$ONESPINE_CLUSTER/slurm.conf"
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	await 20 job_carries "$waiting"
	first=$(submit --gang -N2 --exclusive -w "n[1-2]")
	await_job "$first" RUNNING
	job_carries "$first"
	busy=$(submit -N1 --exclusive -w n3)
	await_job "$busy" RUNNING
	blocked=$(submit --gang -N2 --exclusive -L tool:1 -w "n[3-4]")
	equal "$(job_field "$blocked" Licenses | tr , '\n' | sort | paste -sd,)" "onespine:2,tool:1"
	sed "s#^PluginDir=.*#PluginDir=$lib/slurmctld:$lib:$PLUGINS#" "$ONESPINE_CLUSTER/slurm.conf" >"$BATS_TEST_TMPDIR/updated"
	cp "$ONESPINE_CLUSTER/slurm.conf" "$BATS_TEST_TMPDIR/matching"
	await_saved "$blocked"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER"

	cp "$BATS_TEST_TMPDIR/updated" "$ONESPINE_CLUSTER/slurm.conf"
	run onespine doctor --before-start
	equal "$status" 0
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	log_has 'Slurm was updated and Onespine was not: Slurm places jobs by itself, and every gang waits for license onespine'
	equal "$(job_state "$first")" RUNNING
	scancel "$first" "$busy"
	plain=$(submit -N2 --exclusive -w "n[1-2]")
	await_job "$plain" RUNNING
	scancel "$plain"
	scontrol update JobId="$waiting" StartTime=now
	fresh=$(submit --gang -N2 --exclusive)
	job_carries "$blocked"
	await 30 is_held "$blocked"
	await 30 is_held "$waiting"
	scontrol reconfigure
	other=$(submit -N1 --exclusive)
	await_job "$other" RUNNING
	equal "$(job_state "$blocked") $(job_state "$waiting") $(job_state "$fresh")" "PENDING PENDING PENDING"
	run scontrol update JobId="$blocked" Licenses=
	[[ $status != 0 ]]
	scancel "$other"

	cluster kill-ctld --dir "$ONESPINE_CLUSTER"
	cp "$BATS_TEST_TMPDIR/matching" "$ONESPINE_CLUSTER/slurm.conf"
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	await_job "$waiting" RUNNING
	await_job "$blocked" RUNNING
	scancel "$waiting" "$blocked"
	await_job "$fresh" RUNNING
	scancel "$fresh"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER"
	cp "$BATS_TEST_TMPDIR/slurm.conf" "$ONESPINE_CLUSTER/"
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
}

@test "a gang that is put back on that day, released or changed waits too" {
	free_all
	local dir=$BATS_TEST_TMPDIR
	cp "$ONESPINE_CLUSTER/slurm.conf" "$dir/without"
	echo "Licenses=onespine:1,tool:2" >>"$ONESPINE_CLUSTER/slurm.conf"
	sed -i 's/^SchedulerParameters=.*/&,allow_zero_lic/' "$ONESPINE_CLUSTER/slurm.conf"
	cp "$ONESPINE_CLUSTER/slurm.conf" "$dir/matching"
	updated_config "$dir/lib" >"$dir/updated"
	cp "$dir/without" "$ONESPINE_CLUSTER/slurm.conf"

	# these are from before the license
	before=$(submit --gang -N2 --exclusive --requeue -w "n[1-2]")
	changed=$(submit --gang -N2 --exclusive --begin=now+1hour)
	await_job "$before" RUNNING
	await_saved "$before"
	await_saved "$changed"
	start_with "$dir/matching"
	await 20 job_carries "$before"
	back=$(submit --gang -N2 --exclusive --requeue -w "n[3-4]")
	await_job "$back" RUNNING
	await_saved "$back"
	start_with "$dir/matching" # what runs holds none of it
	[[ $(scontrol -o show licenses onespine) == *Used=0* ]]
	start_with "$dir/updated"

	scontrol requeuehold "$back"
	scontrol requeue "$before"
	await_job "$back" PENDING
	await_job "$before" PENDING
	scontrol update JobId="$before" StartTime=now
	scontrol update JobId="$back" StartTime=now
	scontrol release "$back" || true
	if slurm_at_least 24.05; then
		scontrol update JobId="$changed" TresPerTask=cpu:1 || true
	fi
	scontrol update JobId="$changed" StartTime=now
	await 30 is_held "$changed"
	await 30 is_held "$before"
	other=$(submit -N1 --exclusive)
	await_job "$other" RUNNING
	equal "$(job_state "$before") $(job_state "$back") $(job_state "$changed")" "PENDING PENDING PENDING"
	scancel "$other" "$before" "$back" "$changed"
	start_with "$dir/without"
}

@test "no other job takes the license of gangs" {
	free_all
	cp "$ONESPINE_CLUSTER/slurm.conf" "$BATS_TEST_TMPDIR/"
	cp "$ONESPINE_CLUSTER/slurm.conf" "$BATS_TEST_TMPDIR/matching"
	echo "Licenses=onespine:1,tool:2" >>"$BATS_TEST_TMPDIR/matching"
	start_with "$BATS_TEST_TMPDIR/matching"
	holds "$(submit_refused -N1 -L tool:1,onespine:999999)" 'license onespine is for gangs, which take it by themselves'
	taken=$(submit -N1 --exclusive -L tool:1)
	submit_refused -N1 -L 'tool|onespine:2' >/dev/null
	held=$(submit -N1 --hold)
	run scontrol update JobId="$held" Licenses=onespine:1000000
	[[ $status != 0 ]]
	job=$(submit --gang -N2 --exclusive)
	await_job "$job" RUNNING
	scancel "$job" "$taken" "$held"
	start_with "$BATS_TEST_TMPDIR/slurm.conf"
}

log_has() {
	grep -qF "$1" "$ONESPINE_CLUSTER/log/slurmctld.log"
}

@test "taken out of the configuration again, Slurm is stock and knows its jobs" {
	free_all
	job=$(submit --gang -N2 --exclusive)
	await_job "$job" RUNNING
	waiting=$(submit --gang -N2 --exclusive -w "$(job_nodes "$job" | head -n 1)")
	await_saved "$waiting"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER"
	cp "$ONESPINE_CLUSTER/slurm.conf" "$BATS_TEST_TMPDIR/"
	sed -i "s#^PluginDir=.*#PluginDir=$PLUGINS#; /^JobSubmitPlugins/d" "$ONESPINE_CLUSTER/slurm.conf"
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	equal "$(job_state "$job")" RUNNING
	equal "$(job_state "$waiting")" PENDING
	scancel "$job"
	await_job "$waiting" RUNNING
	scancel "$waiting"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER"
	cp "$BATS_TEST_TMPDIR/slurm.conf" "$ONESPINE_CLUSTER/"
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
}
