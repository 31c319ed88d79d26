#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# gate_hostile.bats - what an ordinary user on a node may try against the gate

load helpers
load gate_helpers

setup_file() {
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-END
		defaults:
		  gate: {budget_s: 10, fresh_s: 0, network: false}
	END
	cluster_start --nodes 4 --gate --gres gpu:8 --config "$BATS_FILE_TMPDIR/onespine.yaml"
	# What everybody may run, though root's home and /tmp/build are closed to others.
	install -m 755 "$(gate_fakes)/../knock" "$ONESPINE_CLUSTER/bin/knock"
	# and a folder that such a user can write
	export THEIRS=$ONESPINE_CLUSTER/theirs
	mkdir -m 1777 "$THEIRS"
}

teardown() {
	scancel --user=65534 # from 26.05 on Slurm takes no "nobody"
	gate_end_test
}

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

address() {
	scontrol show node "$1" | sed -n 's/.*NodeAddr=\([^ ]*\).*/\1/p'
}

# A job whose gate is open for some seconds: n4's check begins late.
open_gate() {
	fault n4 'sleep 3'
	job=$(submit -N4 --gres=gpu:8)
	await 10 listening "$(address n1)"
}

listening() {
	local port
	port=$(ss -Htln "src $1" | awk '{ sub(/.*:/, "", $4); print $4 }' | grep -E '^(28[89]|29.|30[0-3])$')
	[[ -n $port ]]
}

# The gang was not disturbed, and n1's log counts what was dropped.
undisturbed() {
	await 20 says n1 'go by n1 of 4 nodes'
	await 5 says n1 'dropped: '
	matches "$(gate_log n1)" "dropped: .*$1"
	equal "$(sinfo -h -t drain,down -o %N)" ''
	await_job "$job" RUNNING
}

@test "a user's flood of connections gets no greeting and no attention" {
	open_gate
	said=$(as_other_user "$ONESPINE_CLUSTER/bin/knock" "$(address n1)" 288-303 300)
	matches "$said" '^0 of [1-9][0-9]+ greeted$'
	undisturbed '[1-9][0-9]* from ports that users can have'
}

@test "a credential of a user, even from a reserved port, is dropped" {
	open_gate
	credential=$(echo "I am n2 and n3 failed" | as_other_user munge -S "$ONESPINE_CLUSTER/munge/socket")
	said=$("$ONESPINE_CLUSTER/bin/knock" -r "$(address n1)" 288-303 <<<"$credential")
	equal "$said" "job $job rank 0"$'\n'closed
	undisturbed ' 1 without root'
}

@test "root's own credential, replayed or for something else, is dropped" {
	open_gate
	credential=$(echo OSPG | munge -S "$ONESPINE_CLUSTER/munge/socket" -U 0)
	said=$("$ONESPINE_CLUSTER/bin/knock" -r "$(address n1)" 288-303 <<<"$credential")
	equal "$said" "job $job rank 0"$'\n'closed
	said=$("$ONESPINE_CLUSTER/bin/knock" -r "$(address n1)" 288-303 <<<"$credential")
	equal "$said" "job $job rank 0"$'\n'closed
	# The first was no message of the gate's, the second had been used before.
	undisturbed ' 1 without root.* 1 not of this gate'
}

@test "an oversized message is dropped before it is read" {
	open_gate
	said=$("$ONESPINE_CLUSTER/bin/knock" -l "$(address n1)" 288-303 <<<"x")
	equal "$said" "job $job rank 0"$'\n'closed
	undisturbed ' 1 too long'
}

@test "what a user says in options and environment lowers nothing" {
	fault n2 "$ECC"
	export SLURM_SPANK__SLURM_SPANK_OPTION_onespine_gang_check=off
	export _SLURM_SPANK_OPTION_onespine_gang_check=off ONESPINE_GANG_CHECK=off
	export SPANK__ONESPINE_SPARES=1 SLURM_SPANK__ONESPINE_SPARES=1 ONESPINE_SPARES=1
	export ONESPINE_TEST_ROOT=/nowhere LD_PRELOAD=/nowhere.so SLURM_JOB_GPUS=7
	job=$(submit -N2 -w 'n[1-2]' --gres=gpu:8 --gang-check=off --export=ALL 2>/dev/null)
	await 30 node_is n2 drained
	await 30 begins_later "$job"
	await 10 shows 'FAIL' gate_log n2
}

@test "a policy that others than root may write is not obeyed" {
	chmod 666 "$ONESPINE_CLUSTER/onespine.yaml"
	job=$(submit -N2 -w 'n[1-2]' --gres=gpu:8)
	await 20 says n1 'go by n1 of 2 nodes'
	chmod 644 "$ONESPINE_CLUSTER/onespine.yaml"
	matches "$(gate_log n1)" 'must belong to root, and nobody else may write it: the built-in values'
}

# user_cluster NAME=VALUE...: a slurm.conf of the other user's own, without onespine.so but with a plugin that
# forges these for Prolog and Epilog
user_cluster() {
	local version name
	version=$(srun --version | sed 's/[^0-9]*\([0-9.]*\).*/\1/' |
		awk -F. '{ print $1 * 65536 + $2 * 256 + $3 }')
	[[ -e $THEIRS/forge.so ]] || cc -shared -fPIC -O1 -Wall -Werror "-DFAKE_SLURM_VERSION=$version" \
		-o "$THEIRS/forge.so" "$BATS_TEST_DIRNAME/forge.c"
	printf 'required %s/forge.so %s\n' "$THEIRS" "$*" >"$THEIRS/plugstack.conf"
	sed "s#^PlugStackConfig=.*#PlugStackConfig=$THEIRS/plugstack.conf#" "$ONESPINE_CLUSTER/slurm.conf" \
		>"$THEIRS/slurm.conf"
	for name in gres.conf cgroup.conf onespine.yaml; do
		[[ ! -e $ONESPINE_CLUSTER/$name ]] || ln -sf "$ONESPINE_CLUSTER/$name" "$THEIRS/$name"
	done
}

# theirs COMMAND...: as the other user, with that slurm.conf
theirs() {
	as_other_user timeout 60 env SLURM_CONF="$THEIRS/slurm.conf" "$@"
}

# Jobs of 3 nodes with a forged spare, of each kind: all keep all nodes, and each node is checked.
keep_all_nodes() {
	local job
	user_cluster _ONESPINE_SPARES=1 SPANK__ONESPINE_SPARES=1 SPANK__SLURM_SPANK_OPTION_onespine_gang_check=off
	job=$(theirs sbatch --parsable --chdir=/ --output=/dev/null -N3 --gres=gpu:8 --wrap 'sleep 600')
	await_job "$job" RUNNING
	await 10 says n3 "job $job: PASS"
	equal "$(job_field "$job" NumNodes)" 3
	[[ $(job_field "$job" AdminComment) != *kept* ]]
	scancel "$job"
	# shellcheck disable=SC2016
	equal "$(theirs salloc --chdir=/ -N3 --gres=gpu:8 bash -c 'echo $SLURM_NNODES; srun hostname' \
		2>/dev/null </dev/null | wc -l)" 4
	equal "$(theirs srun --chdir=/ -N3 --gres=gpu:8 hostname 2>/dev/null | wc -l)" 3
	await 10 shows 'go by n1 of 3 nodes' gate_log n1
	[[ $(gate_log n1) != *'it keeps'* ]]
	# and a bad one of the three is found
	fault n2 "$ECC"
	job=$(theirs sbatch --parsable --chdir=/ --output=/dev/null -N3 -w 'n[1-3]' --gres=gpu:8 --wrap 'sleep 600')
	await 30 node_is n2 drained
	await 10 shows 'requeue by n1 of 3 nodes' gate_log n1
	scancel "$job"
}

@test "spares that a user's own SPANK plugin forges are none: sbatch, salloc, srun" {
	keep_all_nodes
}

@test "the same without job_submit, which would have taken them away" {
	sed -i 's/^JobSubmitPlugins=/#&/' "$ONESPINE_CLUSTER/slurm.conf"
	restart_ctld
	keep_all_nodes
	sed -i 's/^#JobSubmitPlugins=/JobSubmitPlugins=/' "$ONESPINE_CLUSTER/slurm.conf"
	restart_ctld
}

restart_ctld() {
	cluster kill-ctld --dir "$ONESPINE_CLUSTER"
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
}

# own_gate JOB NODE [NODELIST]: the other user plays slurmd, on a node of his own making that is broken
own_gate() {
	theirs env SLURM_JOB_ID="$1" SLURMD_NODENAME="$2" SLURM_NODELIST="${3:-$2}" SLURM_JOB_UID=0 \
		SLURM_JOB_PARTITION=gpu SLURM_JOB_GPUS=0,1,2,3 SLURM_SCRIPT_CONTEXT=prolog_slurmd \
		SLURM_JOB_RESTART_COUNT=0 ONESPINE_TEST_ROOT="$THEIRS/node" \
		LD_LIBRARY_PATH="$ONESPINE_CLUSTER/fakes" LD_PRELOAD="$ONESPINE_CLUSTER/fakes/libsystem.so" \
		ONESPINE_FAKE_NVML=gpu3.ecc_uncorrected=12 \
		"$ONESPINE_PREFIX/bin/onespine" gate "${4:-prolog}" 2>&1
}

@test "a user who runs the gate himself, as another's job and on a node that fails, drains nothing and stops no job" {
	user_cluster NOTHING=1
	"$ONESPINE_TOOLS/../tests/fake/node" "$THEIRS/node"
	chown -R 65534:65534 "$THEIRS/node"
	job=$(submit -N2 -w n1,n2 --gres=gpu:8)
	await_job "$job" RUNNING
	said=$(own_gate "$job" n1) || true
	holds "$said" 'FAIL onespine: gpu3 ecc 12 uncorrectable > 0'
	# in this order: the node, the comment, the job; Slurm's words for "not allowed"
	holds "$said" 'n1: Invalid user id'
	matches "$said" 'AdminComment: (Access/permission denied|Invalid user id)'
	holds "$said" 'requeue: Access/permission denied'
	holds "$said" 'ending the job: Access/permission denied'
	said=$(own_gate "$job" n1 n1 epilog) || true
	holds "$said" 'after the job: FAIL'
	job_is "$job" RUNNING
	none_drained_but
	equal "$(job_field "$job" Restarts)" 0
	equal "$(job_field "$job" AdminComment)" ''
}

@test "a user's gate that speaks for a node of a gang is not heard" {
	user_cluster NOTHING=1
	[[ -d $THEIRS/node ]] || "$ONESPINE_TOOLS/../tests/fake/node" "$THEIRS/node"
	chown -R 65534:65534 "$THEIRS/node"
	open_gate
	own_gate "$job" n4 'n[1-4]' >"$BATS_TEST_TMPDIR/said" &
	undisturbed '[1-9][0-9]* from ports that users can have'
	equal "$(job_field "$job" Restarts)" 0
	wait "$!" || true
	[[ $(<"$BATS_TEST_TMPDIR/said") != *' by n'* ]]
}
