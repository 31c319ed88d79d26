#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# reproduce.bats - a case for Slurm's makers: a stock slurmctld takes the files and jobs that `onespine reproduce` writes
bats_require_minimum_version 1.5.0

load helpers

setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 2 2
	make_slurm_topology "$BATS_FILE_TMPDIR/topology.conf" 2 2 2
	cluster_start --nodes 8 --gres gpu:2 --topology "$BATS_FILE_TMPDIR/onespine.topology" --topology "$BATS_FILE_TMPDIR/topology.conf" \
		--conf Licenses=onespine:1,matlab:3 --conf AccountingStoragePass=secret
	printf 'SchedulerParameters=bf_interval=7\n' >"$ONESPINE_CLUSTER/own.conf"
	mkdir "$ONESPINE_CLUSTER/more"
	printf 'MaxJobCount=777\n' >"$ONESPINE_CLUSTER/more/own.conf"
	printf '%s\n' '# of a site' 'Include own.conf' 'Include more/own.conf' '#JobCompPass=secret' 'JobCompLoc=http://me:secret@db:9200' >>"$ONESPINE_CLUSTER/slurm.conf"
}

# fill: a gang on one leaf and a job of the other nodes run; a gang of a leaf, one of a spine, and two others wait
fill() {
	running=$(submit --gang=leaf -N2 --exclusive --wrap 'sleep 600')
	await_job "$running" RUNNING
	nodes=$(job_field "$running" NodeList)
	other=$(submit -N6 --exclusive -t 30 --wrap 'sleep 600')
	await_job "$other" RUNNING
	waiting=$(submit --gang=leaf -N2 --exclusive --wrap 'sleep 600')
	upper=$(submit --gang=spine -N3 --exclusive --wrap 'sleep 600')
	shared=$(submit -n3 -c1 --mem=1 -L matlab:2 -x n8 --wrap 'sleep 600')
	named=$(submit -N2 -J "x NumNodes=7 \$(touch $BATS_TEST_TMPDIR/ran)" --comment $'a\nsbatch --wrap false' --wrap 'sleep 600')
	await 20 says_waiting "$waiting"
	await 20 says_waiting "$upper"
}

says_waiting() {
	[[ $(job_field "$1" AdminComment) == *'[onespine: gang='* || $(scontrol show job "$1") == *'[onespine: gang='* ]]
}

# line JOB: what jobs.sh has for it
line() {
	grep -- "--job-name=job-$1 " "$case/jobs.sh"
}

# stock COMMAND...: of the slurmctld of the case
stock() {
	SLURM_CONF=$case/etc/slurm.conf "$@"
}

stock_well() {
	[[ $(stock sinfo -h -N -o %t | sort | uniq -c | tr -s ' ') == ' 8 idle' ]]
}

no_stock_jobs() {
	[[ -z $(stock squeue -h) ]]
}

ran_there() {
	[[ $(stock squeue -h -n "job-$1" -o '%T %N') == "RUNNING $2" ]]
}

@test "Slurm's files and jobs without Onespine: a stock slurmctld takes them, and jobs lie as they lay" {
	local pid case=$BATS_TEST_TMPDIR/case
	fill
	run onespine reproduce "$case"
	equal "$status" 0
	holds "$output" "$case: Slurm's files and 6 jobs without Onespine; look at them before you send them"
	[[ ! -e $BATS_TEST_TMPDIR/ran ]]
	matches "$(line "$running")" " --nodes=2 .* --exclusive --nodelist='?${nodes//[[\]]/.}'? "
	matches "$(line "$waiting")" ' --nodes=2 .* --exclusive --switches=1 '
	holds "$(grep -B 1 -- "--job-name=job-$upper " "$case/jobs.sh")" "a gang of Onespine's on one spine, for which stock Slurm has no option"
	matches "$(line "$shared")" ' --ntasks=3 .* --mem=1M? .*--licenses=matlab:2 --exclude=n8 '
	matches "$(line "$other")" ' --nodes=6 .* --time=30:00 --exclusive '
	matches "$(line "$named")" '^sbatch --nodes=2(-2)? '
	equal "$(grep -c '^sbatch' "$case/jobs.sh")" 6
	run ! grep -rqE 'onespine\.so|JobSubmitPlugins|lib/onespine|Licenses=.*onespine|secret' "$case/etc" "$case/jobs.sh"
	grep -qx 'Licenses=matlab:3' "$case/etc/slurm.conf"
	grep -qx 'SchedulerParameters=bf_interval=7' "$case/etc/own.conf"
	grep -qx 'MaxJobCount=777' "$case/etc/more-own.conf"
	holds "$(cat "$case/README")" 'slurm.conf: JobSubmitPlugins='
	matches "$(cat "$case/README")" "Slurm: +$(scontrol --version | cut -d' ' -f2) "
	equal "$(grep -c '^NodeName=' "$case/nodes.txt")" 8
	run -2 onespine reproduce "$case"
	holds "$output" 'it is there already'
	# Slurm's makers
	untraced free_all
	cluster kill-ctld --dir "$ONESPINE_CLUSTER"
	sed -i "s#^StateSaveLocation=.*#StateSaveLocation=$case/state#" "$case/etc/slurm.conf"
	mkdir "$case/state"
	slurmctld -D -f "$case/etc/slurm.conf" >"$case/log" 2>&1 3>&- &
	pid=$!
	await 60 stock_well
	equal "$(stock scontrol show config | sed -n 's/^JobSubmitPlugins *= //p')" '(null)'
	(cd "$case" && stock sh jobs.sh)
	await 60 ran_there "$running" "$nodes"
	equal "$(stock squeue -h -o %j | sort)" "$(printf 'job-%s\n' "$running" "$other" "$waiting" "$upper" "$shared" "$named" | sort)"
	stock scancel -u root
	await 60 no_stock_jobs
	kill "$pid"
	wait "$pid" || true
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
}

@test "one job alone; a number that is none is refused" {
	local case=$BATS_TEST_TMPDIR/case
	running=$(submit -N2 --wrap 'sleep 600')
	submit -N1 --wrap 'sleep 600'
	await_job "$running" RUNNING
	onespine reproduce "$case" "$running"
	equal "$(grep -o 'job-name=[^ ]*' "$case/jobs.sh")" "job-name=job-$running"
	run -2 onespine reproduce "$case.2" '1;true'
	holds "$output" "1;true: a job's number is expected"
	[[ ! -e $case.2 ]]
}

@test "what each processor, task and GPU gets, and a long array, are asked for; a user's account and the caller's settings change no job" {
	local case=$BATS_TEST_TMPDIR/case list=1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33,35,37,40,44,46,48,52,55,59,64,68,70
	local memory array task each_gpu forged odd
	memory=$(submit -H -n2 -c3 --mem-per-cpu=2M --wrap true)
	array=$(submit -H "--array=$list%2" --wrap true)
	task=$(submit -H -n2 --exclusive=user --gpus-per-task=1 --wrap true)
	each_gpu=$(submit -H -n2 --gpus=2 --cpus-per-gpu=1 --mem-per-gpu=1M --wrap true)
	forged=$(submit -H -N3 "--account=x"$'\n'"7;touch $BATS_TEST_TMPDIR/ran" --wrap true)
	odd=$(submit -H -N4 "--account=a"$'\x1f'b --wrap true)
	CDPATH=/ SQUEUE_PARTITION=none SQUEUE_STATES=R SLURM_TIME_FORMAT=relative onespine reproduce "$case"
	equal "$(grep -c '^sbatch' "$case/jobs.sh")" 6
	equal "$(grep -vcE "^(sbatch -.* --wrap='sleep 600'( : -.*)?|# .*|#!/bin/sh|)$" "$case/jobs.sh")" 0
	matches "$(line "$memory")" ' --ntasks=2 --cpus-per-task=3 .* --mem-per-cpu=2M '
	holds "$(line "$array")" " --array=$list%2 "
	equal "$(grep -o -- '--exclusive[^ ]*' "$case/jobs.sh")" '--exclusive=user'
	matches "$(line "$task")" ' --ntasks=2 .* --gpus-per-task=1 '
	matches "$(line "$each_gpu")" ' --gpus=2 --cpus-per-gpu=1 --mem-per-gpu=1M? '
	run ! grep -E -- "(--cpus-per-task|--mem=).*job-$each_gpu " "$case/jobs.sh"
	holds "$(line "$forged")" 'sbatch --nodes=3 '
	holds "$(line "$odd")" 'sbatch --nodes=4 '
	# no other's folder is written into: a link, and one that is made while the configuration is asked for
	ln -s nowhere "$case.link"
	run -2 onespine reproduce "$case.link"
	mkdir "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\nmkdir -p %s/etc && ln -s %s %s/etc/slurm.conf\nexec %s "$@"\n' \
		"$case.raced" "$BATS_TEST_TMPDIR/target" "$case.raced" "$(on_cluster sh -c 'command -v scontrol')" >"$BATS_TEST_TMPDIR/bin/scontrol"
	chmod 755 "$BATS_TEST_TMPDIR/bin/scontrol"
	run -2 on_cluster env "PATH=$BATS_TEST_TMPDIR/bin:$ONESPINE_PREFIX/bin:/usr/bin:/bin" onespine reproduce "$case.raced"
	holds "$output" "$case.raced: cannot be made"
	[[ ! -e $BATS_TEST_TMPDIR/target ]]
}

# asked_as JOB: the nodes, the most of them, and the place in its heterogeneous job, of a job of that name
asked_as() {
	squeue -h -n "job-$1" -O NumNodes:8,MaxNodes:8,HetJobOffset:8 | tr -s ' '
}

@test "a heterogeneous job is one line with its parts, a range of nodes is a range, a number that nobody named is none" {
	local case=$BATS_TEST_TMPDIR/case het range tasks forged number
	het=$(submit -H -N2 -n2 --gres=gpu:1 : -N1-3 -t 5 : -n1 --exclude=n1 --wrap true)
	range=$(submit -H -N1-2 --wrap true)
	tasks=$(submit -H -n3 --wrap true)
	# a number in another's name takes nothing from the job but what scontrol alone says, and gives it nothing
	forged=$(submit -H -N2 -J "x"$'\n'"JobId=$tasks"$'\n'"   NumNodes=7-8 " --wrap true)
	onespine reproduce "$case"
	equal "$(grep -c '^sbatch' "$case/jobs.sh")" 4
	matches "$(line "$het")" "^sbatch --nodes=2 --ntasks=2 .*gpu:1.* --job-name=job-$het --output=/dev/null --wrap='sleep 600' : --nodes=1-3 .*--time=5:00 .*--job-name=job-$((het + 1)) : (--nodes=1 )?--ntasks=1 .*--exclude=n1 --job-name=job-$((het + 2))\$"
	equal "$(grep -B 3 -- "--job-name=job-$het " "$case/jobs.sh" | grep -c "^# job $het,\|^# job $((het + 1)),\|^# job $((het + 2)),")" 3
	matches "$(line "$range")" '^sbatch --nodes=1-2 '
	run ! grep -E -- "--nodes=.*--job-name=job-$tasks " "$case/jobs.sh"
	matches "$(line "$forged")" '^sbatch --nodes=2 '
	# one of its parts brings the whole
	onespine reproduce "$case.one" "$het"
	equal "$(grep -o 'job-name=[^ ]*' "$case.one/jobs.sh")" "$(printf 'job-name=job-%s\n' "$het" $((het + 1)) $((het + 2)))"
	# and Slurm takes the lines as they are
	untraced free_all
	(cd "$case" && sh jobs.sh)
	equal "$(asked_as "$het")" "$(printf '2 2 0 ')"
	equal "$(squeue -h -O Name:24,HetJobOffset:8 | tr -s ' ' | grep -c "job-\($het [0]\|$((het + 1)) 1\|$((het + 2)) 2\)")" 3
	untraced free_all
}

@test "--segment and how segments lie are asked for again, from the release on that tells them" {
	local case=$BATS_TEST_TMPDIR/case plain spread
	slurm_at_least 25.11 || skip 'Slurm tells segments from 25.11 on'
	plain=$(submit -H -N4 --segment=2 --wrap true)
	spread=$(submit -H -N4 --segment=2 --spread-segments --wrap true)
	onespine reproduce "$case"
	holds "$(line "$plain")" ' --segment=2 --'
	run ! grep -E -- "spread-segments.*job-$plain " "$case/jobs.sh"
	holds "$(line "$spread")" ' --segment=2 --spread-segments '
	untraced free_all
	(cd "$case" && sh jobs.sh)
	equal "$(squeue -h -O SegmentSize:4 | tr -d ' ' | sort -u)" 2
	untraced free_all
}
