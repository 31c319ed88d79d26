# SPDX-License-Identifier: GPL-2.0-or-later
# gate_helpers.bash - for tests of the gate; load it after helpers: load helpers; load gate_helpers
#
# Its setup takes all faults away, empties the gates' logs and frees all nodes before each test.
# shellcheck shell=bash

# shellcheck disable=SC2034
ECC='export ONESPINE_FAKE_NVML=gpu3.ecc_uncorrected=12'
# shellcheck disable=SC2034
ECC_REASON='onespine: gpu3 ecc 12 uncorrectable > 0; reset gpu'

# gate_budget: for setup_file. BUDGET_S is what a gate here may take, SILENT_S how long a node sleeps that is to be
# silent. All nodes share this machine's processors, so both grow with what else runs on them now.
gate_budget() {
	local load
	read -r load _ </proc/loadavg
	BUDGET_S=$((12 + 4 * ${load%.*} / $(nproc)))
	((BUDGET_S <= 30)) || BUDGET_S=30
	SILENT_S=$((BUDGET_S + 3))
	export BUDGET_S SILENT_S
}

# gates_with_spares K: for setup_file, after gate_budget. A cluster with gates, whose jobs may ask for K spares and write to OUT.
gates_with_spares() {
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-END
		defaults:
		  gate: {budget_s: $BUDGET_S, fresh_s: 0, network: false, jobs: all, spares: $1}
	END
	cluster_start --gate --topology "$BATS_FILE_TMPDIR/onespine.topology" --gres gpu:8 --config "$BATS_FILE_TMPDIR/onespine.yaml" \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
	export OUT=$BATS_FILE_TMPDIR/out
	mkdir -m 1777 "$OUT"
	chmod 755 "$BATS_FILE_TMPDIR"
}

# gate_fakes: the folder of the fake libraries, which make check builds
gate_fakes() {
	(
		# shellcheck disable=SC2034
		slurm=${ONESPINE_TEST_SLURM:-22.05}
		# shellcheck source=tools/lib/common.sh
		. "$ONESPINE_TOOLS/lib/common.sh"
		# shellcheck source=tools/lib/build.sh
		. "$ONESPINE_TOOLS/lib/build.sh"
		# shellcheck source=tools/lib/gate.sh
		. "$ONESPINE_TOOLS/lib/gate.sh"
		gate_fakes
	)
}

setup() {
	[[ -n ${ONESPINE_CLUSTER:-} ]] || return 0
	all_well
	begin_test
}

teardown() {
	gate_end_test
}

# gate_end_test: of a test that failed the gates' logs too
gate_end_test() {
	if [[ -z ${BATS_TEST_COMPLETED:-} && -z ${BATS_TEST_SKIPPED:-} ]]; then
		tail -n 20 "$ONESPINE_CLUSTER"/nodes/*/gate.log
	fi
	end_test
}

# all_well: no fault is left, and the gates' logs are empty
all_well() {
	local log
	rm -f "$ONESPINE_CLUSTER"/nodes/*.faults
	for log in "$ONESPINE_CLUSTER"/nodes/*/gate.log; do
		: >"$log"
	done
}

# fault NODE SHELL-LINE: its gate reads it before each run
fault() {
	printf '%s\n' "$2" >>"$ONESPINE_CLUSTER/nodes/$1.faults"
}

# ends_at NODE WORDS [PID]: its gate is killed once it has written a line that holds them; or PID is stopped then
ends_at() {
	[[ -e $ONESPINE_CLUSTER/at_words.so ]] ||
		cc -shared -fPIC -O1 -Wall -Werror -o "$ONESPINE_CLUSTER/at_words.so" "$BATS_TEST_DIRNAME/at_words.c"
	# shellcheck disable=SC2016
	fault "$1" 'export LD_PRELOAD="'"$ONESPINE_CLUSTER"'/at_words.so $LD_PRELOAD" AT_WORDS="'"$2"'"'"${3:+ AT_PID=$3}"
}

# gate_log NODE: what its gate wrote
gate_log() {
	cat "$ONESPINE_CLUSTER/nodes/$1/gate.log"
}

# says NODE TEXT: its gate wrote that
says() {
	[[ $(gate_log "$1") == *"$2"* ]]
}

# said_of JOB NODE: what its gate wrote about the job, the verdict last
said_of() {
	gate_log "$2" | grep "job $1: "
}

# decided JOB NODE: its gate wrote the verdict
decided() {
	[[ $(said_of "$1" "$2") =~ ' by n'[0-9]+' of ' ]]
}

# gates_until NODE REGULAR-EXPRESSION SBATCH-OPTION...: a job ($job) of which NODE's gate says that. All nodes
# share this machine's processors: while others use them too, a figure may be missing or small, which the gate is
# allowed to say. So ten jobs may try; whatever they meet drains no node but those in $drainable.
gates_until() {
	local node=$1 wanted=$2 tries
	shift 2
	for ((tries = 0; tries < 10; tries++)); do
		job=$(submit "$@")
		await 60 decided "$job" "$node"
		none_drained_but "${drainable:-}"
		[[ ! $(said_of "$job" "$node") =~ $wanted ]] || return 0
		echo "tried again: $(said_of "$job" "$node")"
		scancel "$job"
		await 60 no_jobs
		free_all
	done
	fail "no job of which $node's gate says '$wanted'"
}

# script FILE: a job that leaves a mark when its script runs
script() {
	# shellcheck disable=SC2016
	printf '#!/bin/bash\necho "$SLURM_JOB_NODELIST" >>%s\nsleep 600\n' "$1" >"$1.sh"
	printf '%s.sh\n' "$1"
}

# --- the gates' processes -------------------------------------------------------------------------

# gate_processes [NODE]: what slurmd's Prologs and Epilogs have started, one number a line; other clusters
# have gates of their own. A check is told nothing but where its node is.
gate_processes() {
	local node=${1:-[^/]*} environment pid
	{
		grep -lszE "^ONESPINE_TEST_ROOT=$ONESPINE_CLUSTER/nodes/$node\$" /proc/[0-9]*/environ || true
		grep -lszE '^SLURM_SCRIPT_CONTEXT=(prolog|epilog)_slurmd$' /proc/[0-9]*/environ |
			xargs -r grep -lszE "^SLURM_CONF=$ONESPINE_CLUSTER/" |
			xargs -r grep -lszE "^SLURMD_NODENAME=$node\$" || true
	} | sort -u | while read -r environment; do
		pid=${environment#/proc/}
		printf '%s\n' "${pid%/environ}"
	done
}

no_gate_left() {
	[[ -z $(gate_processes) ]]
}

gate_runs() {
	[[ -n $(gate_processes "$1") ]]
}

# kill_node NAME: its slurmd, its gate and what that started, at once; what ends by itself meanwhile is as good
kill_node() {
	cluster kill-node --dir "$ONESPINE_CLUSTER" "$1" -9
	gate_processes "$1" | xargs -r kill -9 2>/dev/null || true
}

start_node() {
	cluster start-node --dir "$ONESPINE_CLUSTER" "$1"
}

# --- nodes and jobs -------------------------------------------------------------------------------

# drained NODE REASON
drained() {
	[[ $(sinfo -h -N -n "$1" -o '%T %E' | head -n 1) == drain*" $2" ]]
}

# none_drained_but NODE...: in any state of draining, or down
none_drained_but() {
	local node
	for node in $(sinfo -h -N -t drain,down -o %N | sort -u); do
		[[ " $* " == *" $node "* ]] || fail "$node is drained: $(sinfo -h -n "$node" -o %E)"
	done
}

# requeued JOB [TIMES]
requeued() {
	(($(job_field "$1" Restarts) >= ${2:-1}))
}

no_jobs() {
	[[ -z $(squeue -h -o %i) ]]
}

# excludes JOB HOSTLIST
excludes() {
	[[ $(job_field "$1" ExcNodeList) == "$2" ]]
}

untraced_so_far
