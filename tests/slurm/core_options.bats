#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_options.bats - from --gang to slurmctld, and from slurmctld to the job's environment
# shellcheck disable=SC2016

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 2 4
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-'END'
		partitions:
		  train:
		    gang: always
		    allow_off: false
		  hint:
		    mode: advise
		    gang: always
		  stock:
		    mode: off
	END
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" \
		--config "$BATS_FILE_TMPDIR/onespine.yaml" --partition 'gpu Nodes=ALL Default=YES' \
		--partition 'train Nodes=ALL' --partition 'hint Nodes=ALL' --partition 'stock Nodes=ALL'
}

# other_plugstack SED-SCRIPT: what Slurm's commands read instead, with a plugstack.conf edited so
other_plugstack() {
	sed "$1" "$ONESPINE_CLUSTER/plugstack.conf" >"$BATS_TEST_TMPDIR/plugstack.conf"
	sed "s#^PlugStackConfig=.*#PlugStackConfig=$BATS_TEST_TMPDIR/plugstack.conf#" \
		"$ONESPINE_CLUSTER/slurm.conf" >"$BATS_TEST_TMPDIR/slurm.conf"
	export SLURM_CONF=$BATS_TEST_TMPDIR/slurm.conf
}

# gang_of JOB: the request in force, as AdminComment says it
gang_of() {
	job_field "$1" AdminComment | sed -n 's/.*\[onespine: gang=\([^];]*\).*/\1/p'
}

# in_env FILE NAME: the variable's value in a job's output of env; fails when it is not set
in_env() {
	sed -n "s/^\\(.*: \\)\\?$2=//p" "$1" | sort -u | grep .
}

not_in_env() {
	! in_env "$@" >/dev/null || fail "$2 is set: $(in_env "$@")"
}

printed() {
	[[ -s $1 ]] && grep -q "$2" "$1"
}

PRINT='scontrol show job $SLURM_JOB_ID | sed -n "s/^ *AdminComment=//p"'

# --- the option and its variable ------------------------------------------------------------------

@test "--help has one line about it" {
	for program in sbatch salloc srun; do
		equal "$($program --help | grep -e --gang=)" \
			'      --gang=LEVEL[@TIME]     all nodes on one spine (or one LEVEL), or wait' "$program"
	done
}

@test "sbatch: --gang, --gang=LEVEL, @TIME, a line of the script, the environment" {
	check() {
		local wanted=$1 job
		shift
		job=$("$@")
		equal "$(gang_of "$job")" "$wanted" "$*"
		scancel "$job"
	}
	check spine submit --hold --gang -N2
	check leaf submit --hold --gang=leaf -N2
	check spine@30:00 submit --hold --gang=spine@30 -N2
	check leaf@1:00:00 submit --hold --gang=leaf@60 -N2
	check leaf env ONESPINE_GANG=leaf sbatch --parsable --hold -N2 -o /dev/null --wrap 'sleep 9'
	check spine env ONESPINE_GANG= sbatch --parsable --hold -N2 -o /dev/null --wrap 'sleep 9'
	check spine env ONESPINE_GANG=leaf \
		sbatch --parsable --hold --gang=spine -N2 -o /dev/null --wrap 'sleep 9'
	check leaf env ONESPINE_GANG=leaf \
		sbatch --parsable --hold --export=NONE -N2 -o /dev/null --wrap 'sleep 9'
	check '' env ONESPINE_GANG=leaf \
		sbatch --parsable --hold --gang=off -N2 -o /dev/null --wrap 'sleep 9'
	printf '#!/bin/sh\n#SBATCH --gang=leaf\n' >"$BATS_TEST_TMPDIR/job.sh"
	check leaf submit --hold -N2 "$BATS_TEST_TMPDIR/job.sh"
	check spine submit --hold --gang -N2 "$BATS_TEST_TMPDIR/job.sh"
}

@test "salloc and srun: --gang, the environment, the command line over the environment" {
	for program in 'salloc -Q' srun; do
		check() {
			local wanted=$1
			shift
			holds "$("$@" -N2 sh -c "$PRINT" | head -n 1)" "[onespine: gang=$wanted;"
		}
		# shellcheck disable=SC2086
		check leaf $program --gang=leaf
		# shellcheck disable=SC2086
		check spine $program --gang
		# shellcheck disable=SC2086
		check leaf env ONESPINE_GANG=leaf $program
		# shellcheck disable=SC2086
		check spine env ONESPINE_GANG=leaf $program --gang=spine
		# shellcheck disable=SC2086
		equal "$(env ONESPINE_GANG=leaf $program --gang=off -N2 sh -c "$PRINT")" ''
	done
}

@test "without SPANK slurmctld reads ONESPINE_GANG from the job's environment" {
	other_plugstack d
	job=$(ONESPINE_GANG=leaf submit --hold -N2)
	equal "$(gang_of "$job")" leaf
	ONESPINE_GANG='le af' run submit -N2
	equal "$status" 1
	holds "$output" "ONESPINE_GANG: --gang=le af: ' ' is not allowed in a level's name"
}

@test "a job that asks for nothing is told nothing and gets nothing" {
	out=$BATS_TEST_TMPDIR/out
	run sbatch --wait -N2 -o "$out" --wrap 'env; srun -l env'
	equal "$status" 0
	matches "$output" '^Submitted batch job [0-9]+$'
	for name in LEVEL DOMAIN LEAF LEAVES; do
		not_in_env "$out" "ONESPINE_$name"
	done
	equal "$(srun -N2 sh -c "$PRINT" 2>&1)" ''
}

# --- what is refused -------------------------------------------------------------------------------

@test "a value that makes no sense is refused before anything is sent" {
	log_mark
	for program in 'sbatch --wrap true' 'salloc true' 'srun true'; do
		# shellcheck disable=SC2086
		run ${program/ / --gang=sp!ne -N2 }
		[[ $status != 0 ]]
		holds "$output" "error: --gang=sp!ne: '!' is not allowed in a level's name"
		# shellcheck disable=SC2086
		ONESPINE_GANG=spine@tea run ${program/ / -N2 }
		[[ $status != 0 ]]
		holds "$output" "error: ONESPINE_GANG: --gang=spine@tea: 'tea' is no time"
	done
	run ! log_since 'onespine: refused'
}

@test "where SPANK's refusal does not count, slurmctld refuses" {
	other_plugstack 's/^required/optional/'
	ONESPINE_GANG=spine@tea run srun -N2 true
	equal "$status" 1
	holds "$output" 'Unable to allocate resources: Invalid argument'
}

@test "what cannot be combined with --gang is refused in words" {
	check() {
		local said=$1
		shift
		holds "$(submit_refused --gang -N2 "$@")" "sbatch: error: $said"
		run salloc --gang -N2 "$@" true
		equal "$status" 1
		holds "$output" "salloc: error: $said"
		run srun --gang -N2 "$@" true
		equal "$status" 1
		holds "$output" "srun: error: $said"
	}
	check '--switches cannot be combined with --gang: it counts leaf switches' --switches=1
	check '--contiguous cannot be combined with --gang' --contiguous
	check 'a --constraint with counts (a*4) cannot be combined with --gang' '--constraint=[a*1&b*1]'
	check '--dependency=expand cannot be combined with --gang' --dependency=expand:1
	if srun --help | grep -q -e --segment; then # from 24.05 on
		check '--segment cannot be combined with --gang' --segment=1
		for option in --spread-segments --consolidate-segments; do # from 25.11 on
			! srun --help | grep -q -e "$option" ||
				check '--spread-segments and --consolidate-segments cannot be combined with --gang' "$option"
		done
		check '--exclusive=topo cannot be combined with --gang' --exclusive=topo
	fi
	ONESPINE_GANG=spine run submit --switches=1 -N2
	holds "$output" '--switches cannot be combined with --gang'
	submit --hold --gang=off --switches=1 -N2
}

@test "a heterogeneous job is refused in words, also when one part alone asks" {
	run sbatch --gang -N2 : -N2 --wrap true
	equal "$status" 1
	holds "$output" 'a heterogeneous job cannot be one gang: Slurm places its components one after'
	run salloc -N2 : --gang -N2 true
	equal "$status" 1
	holds "$output" 'a heterogeneous job cannot be one gang'
}

@test "what can never fit is refused at once, with the way out" {
	said=$(submit_refused --gang=leaf -N5)
	holds "$said" '5 nodes on one leaf asked for; the largest leaf of partition'
	holds "$said" 'ask for --gang=spine or 4 nodes'
	said=$(submit_refused --gang=spin -N2)
	holds "$said" "there is no level 'spin' in this fabric; did you mean spine?"
	# who never typed it is told where it is from
	for program in 'sbatch --wrap true' 'srun true' 'salloc true'; do
		# shellcheck disable=SC2086
		ONESPINE_GANG=spin run ${program/ / -N2 }
		holds "$output" "error: ONESPINE_GANG=spin: there is no level 'spin' in this fabric; did you mean spine?"
	done
	[[ $(ONESPINE_GANG=spin submit_refused --gang=spim -N2) != *ONESPINE_GANG* ]]
	ONESPINE_GANG_SEGMENT=leef:2 run sbatch -N2 --wrap true
	holds "$output" "error: ONESPINE_GANG_SEGMENT: --gang-segment=leef:2: no level is called leef; did you mean leaf"
	ONESPINE_GANG_SEGMENT=leaf:2 run sbatch --switches=1 -N2 --wrap true
	holds "$output" "error: ONESPINE_GANG_SEGMENT=leaf:2: --switches cannot be combined with --gang"
	ONESPINE_GANG_SEGMENT=leef run sbatch -N2 --wrap true
	holds "$output" "error: ONESPINE_GANG_SEGMENT: --gang-segment=leef: a level and a number of nodes are expected"
	ONESPINE_GANG_SPARES=1 run sbatch -N2-4 --wrap true
	holds "$output" "error: ONESPINE_GANG_SPARES: --gang-spares needs one number of nodes"
	holds "$(submit_refused --gang=no -N2)" "there is no level 'no' in this fabric; did you mean --gang=off?"
}

@test "a level without its = is named, since Slurm takes it for a script or a command" {
	cd "$BATS_TEST_TMPDIR"
	run sbatch -N2 --gang spine
	((status != 0))
	holds "$output" "'--gang spine' asks for a gang and runs a file called spine; type --gang=spine"
	run srun -N2 --gang off true
	((status != 0))
	holds "$output" "'--gang off' asks for a gang and runs a file called off; type --gang=off"
	printf '#!/bin/sh\n' >spine
	job=$(sbatch --parsable --hold -N2 --gang spine 2>said)
	equal "$(cat said)" ''
	scancel "$job"
}

# --- policy ----------------------------------------------------------------------------------------

@test "policy makes gangs of jobs that do not ask, and says so when it refuses" {
	job=$(submit --hold -p train -N2)
	equal "$(gang_of "$job")" spine
	equal "$(gang_of "$(submit --hold -p train -N1)")" ''
	equal "$(gang_of "$(submit --hold -p train --gang=leaf -N2)")" leaf
	holds "$(submit_refused -p train --gang=off -N2)" '--gang=off is not allowed there'
	said=$(submit_refused -p train --switches=1 -N2)
	holds "$said" 'the policy here makes a gang of this job, and --switches cannot be combined with'
	holds "$(submit_refused -p stock --gang -N2)" 'partition stock takes no gangs'
	submit --hold -p stock -N2
}

@test "advice is written down and refuses nothing that nobody asked for" {
	equal "$(gang_of "$(submit --hold -p hint -N2)")" 'advise spine'
	equal "$(gang_of "$(submit --hold -p hint --gang=leaf -N2)")" 'advise leaf'
	equal "$(gang_of "$(submit --hold -p hint -N2 --switches=1)")" ''
	holds "$(submit_refused -p hint --gang -N2 --switches=1)" '--switches cannot be combined with'
}

# --- what cannot be forged -------------------------------------------------------------------------

@test "a user cannot write slurmctld's own entry" {
	forged='mode=enforce,level=leaf,relax_s=-1,origin=set,mix_kinds=yes'
	hold 'n[1-3],n[5-7],n[9-11],n[13-15]'
	# four free nodes, one a leaf: were the entry obeyed, this job would wait
	SLURM_SPANK__ONESPINE_EFFECTIVE=$forged timeout 30 srun -N4 --exclusive true
	# with a gang of its own the true one counts
	said=$(SLURM_SPANK__ONESPINE_EFFECTIVE=$forged srun --gang -N1 sh -c "$PRINT")
	holds "$said" '[onespine: gang=spine;'
}

@test "only the owner or an operator changes a pending gang" {
	log_mark
	hold 'n[1-7],n[9-15]'
	job=$(submit --gang -N2)
	await_job "$job" PENDING
	run as_other_user onespine set "$job" --gang=leaf
	[[ $status != 0 ]]
	holds "$output" "job $job"
	# from 24.11 on Slurm itself looks at the owner before it asks job_submit
	log_since "refused user 65534: job $job is not yours; its owner or an operator may|Security violation, JOB_UPDATE RPC from uid 65534"
	equal "$(gang_of "$job")" spine
	onespine set "$job" --gang=leaf
	equal "$(gang_of "$job")" leaf
	mine=$(as_other_user sbatch --parsable --chdir=/ -o /dev/null --gang -N2 --wrap 'sleep 9')
	as_other_user onespine set "$mine" --gang=spine@10
	equal "$(gang_of "$mine")" spine@10:00
	scancel "$mine"
	run onespine set "$job" '--gang=l*af'
	[[ $status != 0 ]]
	equal "$(gang_of "$job")" leaf
}

# --- the job's side --------------------------------------------------------------------------------

# judge_tasks FILE: lines "NODE LEVEL DOMAIN LEAF" of tasks, each with its own node's leaf
judge_tasks() {
	local node level domain leaf count=0
	while read -r node level domain leaf; do
		equal "$level" spine "level on $node"
		equal "$domain" "$(node_domain "$node" spine)" "domain on $node"
		equal "$leaf" "$(node_domain "$node" leaf)" "leaf on $node"
		((++count))
	done <"$1"
	equal "$count" "$2" "tasks"
}

TASK='echo $SLURMD_NODENAME ${ONESPINE_LEVEL-no} ${ONESPINE_DOMAIN-no} ${ONESPINE_LEAF-no}'

@test "the batch script and every task know the level, the domain and their own leaf" {
	out=$BATS_TEST_TMPDIR/out
	job=$(submit --wait --gang -N8 --exclusive -o "$out" --wrap \
		"$TASK >$out.script; srun -N8 sh -c '$TASK' >$out.tasks; srun -N2 -n2 sh -c '$TASK' >$out.two
		ONESPINE_GANG='l*af' srun -N1 -n1 sh -c '$TASK' >$out.silent; env >$out.env")
	judge_tasks "$out.script" 1
	judge_tasks "$out.tasks" 8
	judge_tasks "$out.two" 2
	judge_tasks "$out.silent" 1
	equal "$(cut -d' ' -f4 "$out.tasks" | sort -u | wc -l)" 2 'leaves of 8 nodes'
	run ! grep -iE 'onespine|gang|error' "$out"
	not_in_env "$out.env" SLURM_SPANK__SLURM_SPANK_OPTION_onespine_gang
}

@test "tasks of srun and of srun inside salloc know it too" {
	srun --gang -N3 --exclusive sh -c "$TASK" >"$BATS_TEST_TMPDIR/srun"
	judge_tasks "$BATS_TEST_TMPDIR/srun" 3
	salloc -Q --gang -N3 --exclusive srun sh -c "$TASK" >"$BATS_TEST_TMPDIR/salloc"
	judge_tasks "$BATS_TEST_TMPDIR/salloc" 3
	ONESPINE_GANG=spine salloc -Q -N3 --exclusive srun sh -c "$TASK" >"$BATS_TEST_TMPDIR/env"
	judge_tasks "$BATS_TEST_TMPDIR/env" 3
}

@test "a job submitted from inside a gang asks for nothing by itself" {
	out=$BATS_TEST_TMPDIR/out
	submit --wait --gang -N2 -o "$out" --wrap \
		"sbatch --parsable --hold -o /dev/null -N2 --wrap 'sleep 9' >$out.job
		salloc -Q -N1 env >$out.env"
	run ! grep -iE 'onespine|gang|error' "$out"
	equal "$(gang_of "$(cat "$out.job")")" ''
	for name in LEVEL DOMAIN LEAF LEAVES; do
		not_in_env "$out.env" "ONESPINE_$name"
	done
}

@test "a gang that policy made knows it: batch scripts always, srun with policy-gangs" {
	out=$BATS_TEST_TMPDIR/out
	submit --wait -p train -N3 --exclusive -o "$out" --wrap "srun sh -c '$TASK'"
	judge_tasks "$out" 3
	# without the word srun learns it from the allocation
	srun -p train -N2 --exclusive sh -c "$TASK" >"$out"
	judge_tasks "$out" 2
	other_plugstack 's/$/ policy-gangs/'
	srun -p train -N3 --exclusive sh -c "$TASK" >"$out"
	judge_tasks "$out" 3
	equal "$(srun -p stock -N2 --exclusive sh -c "$TASK" | cut -d' ' -f2- | sort -u)" 'no no no'
}

@test "a job that advice left on two spines is told no domain" {
	hold 'n[1-7],n[9-15]'
	out=$BATS_TEST_TMPDIR/out
	submit --wait -p hint -N2 -o "$out" --wrap "srun -N2 sh -c '$TASK'"
	equal "$(cut -d' ' -f2- "$out" | sort -u)" 'no no no'
}

@test "each task of an array, and a job whose environment was not sent, knows its own place" {
	out=$BATS_TEST_TMPDIR/out
	submit --wait --gang=leaf --array=1-4 -N4 --exclusive --export=NONE -o "$out.%a" --wrap "$TASK"
	for task in 1 2 3 4; do
		read -r node level domain leaf <"$out.$task"
		equal "$level $domain $leaf" "leaf $leaf $(node_domain "$node" leaf)" "task $task"
	done
	equal "$(cut -d' ' -f4 "$out".? | sort -u | wc -l)" 4 'leaves of 4 gangs'
}
