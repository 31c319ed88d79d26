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
	cluster_start --nodes 4 --gate --gres gpu:8 --config "$BATS_FILE_TMPDIR/onespine.yaml" \
		--node-conf 'Sockets=1 CoresPerSocket=8 ThreadsPerCore=1'
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
	needs_munge
	open_gate
	credential=$(echo "I am n2 and n3 failed" | as_other_user munge -S "$ONESPINE_CLUSTER/munge/socket")
	said=$("$ONESPINE_CLUSTER/bin/knock" -r "$(address n1)" 288-303 <<<"$credential")
	equal "$said" "job $job rank 0"$'\n'closed
	undisturbed ' 1 without root'
}

@test "root's own credential, replayed or for something else, is dropped" {
	needs_munge
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

# uneven LIST: a job of the other user with GPUs on one of its two nodes
uneven() {
	as_other_user sbatch --parsable --chdir=/ --output=/dev/null -N2 -w "$1" -n9 --gpus-per-socket=8 \
		--sockets-per-node=1 --wrap 'sleep 600'
}

@test "a legal job whose GPUs are not on all of its nodes runs, and makes nobody a suspect" {
	job=$(uneven 'n[1-2]')
	await_job "$job" RUNNING
	# Slurm gave its GPUs to the second node: no gate runs on the first, and the other decides. 25.11 gives them to both.
	matches "$(scontrol -d show job "$job" | grep Nodes=n2)" 'GRES=gpu:8'
	decider=n2
	! scontrol -d show job "$job" | grep -q 'Nodes=n1 .*GRES=gpu:8' || decider=n1
	slurm_at_least 23.11 || equal "$decider" n2
	await 12 says n2 "go by $decider of 2 nodes"
	[[ $(gate_log n2) != *silent* ]]
	equal "$(job_field "$job" Restarts)" 0
	equal "$(job_field "$job" ExcNodeList)" '(null)'
	none_drained_but
}

@test "suspects= that was cut in the middle of a name keeps nobody from being excluded" {
	fault n2 'sleep 9'
	job=$(sbatch --parsable --hold --chdir=/ --output=/dev/null -N2 --gres=gpu:8 -w 'n[1-2]' --wrap 'sleep 600')
	scontrol update "JobId=$job" AdminComment="[onespine: suspects=n3,n(1-]" ReqNodeList=
	scontrol release "$job"
	await 40 excludes "$job" n2
	holds "$(job_field "$job" AdminComment)" 'suspects=n2]'
}

# told_to_check NODE: the environment of the check that runs there, a line each
told_to_check() {
	local pid
	for pid in $(gate_processes "$1"); do
		if tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q 'onespine check '; then
			tr '\0' '\n' <"/proc/$pid/environ" && return
		fi
	done
	return 1
}

@test "the check gets the numbers of the job and its user, and nothing of the user's environment" {
	fault n2 'export ONESPINE_FAKE_NVML=hang:nvmlInit_v2'
	job=$(as_other_user env FROM_A_USER=1 sbatch --parsable --chdir=/ --output=/dev/null --export=ALL -N1 -w n2 \
		--gres=gpu:8 --wrap 'sleep 600')
	await 20 shows SLURM_JOB_UID=65534 told_to_check n2
	said=$(told_to_check n2)
	holds "$said" "SLURM_JOB_ID=$job"
	[[ $said != *FROM_A_USER* ]]
}

@test "variables with which no Prolog could begin are refused, and drain nothing" {
	local words
	for words in LARGE=@200000 SPANK_LARGE=@65536 "$(printf 'A%d=@30000 ' {1..20})"; do
		user_cluster "$words"
		if said=$(theirs sbatch --parsable --chdir=/ --output=/dev/null -N2 --gres=gpu:8 --wrap true 2>&1); then
			fail "taken: ${words:0:40}: $said"
		fi
		holds "$said" 'with more no Prolog could begin'
	done
	# and none that is too small
	user_cluster SMALL=@60000
	job=$(theirs sbatch --parsable --chdir=/ --output=/dev/null -N2 --gres=gpu:8 --wrap 'sleep 600')
	await_job "$job" RUNNING
	none_drained_but
}

# evil_libraries: under each name that slurmd's, the gate's and the check's programs load or look for
evil_libraries() {
	local name
	mkdir -p "$THEIRS/lib"
	cc -shared -fPIC -O1 -Wall -Werror "-DFOLDER=\"$THEIRS\"" -o "$THEIRS/evil.so" "$BATS_TEST_DIRNAME/evil.c"
	for name in libnvidia-ml.so.1 libcuda.so.1 libnccl.so.2 libnccl-net.so libcublasLt.so.{11,12,13} libhwloc.so.15 \
		libexpat.so.1 libmunge.so.2 libnuma.so.1 libslurmfull.so libresolv.so.2 libnss_files.so.2; do
		ln -sf "$THEIRS/evil.so" "$THEIRS/lib/$name"
	done
}

@test "LD_PRELOAD and LD_LIBRARY_PATH of a user's reach nothing that root runs" {
	evil_libraries
	user_cluster "LD_PRELOAD=$THEIRS/evil.so" "SPANK_LD_PRELOAD=$THEIRS/evil.so" "LD_LIBRARY_PATH=$THEIRS/lib"
	# for a list in --export slurmd logs in as this user, who cannot: 25.11 then holds the job (_get_user_env())
	printf '%s\0' "LD_PRELOAD=$THEIRS/evil.so" "LD_LIBRARY_PATH=$THEIRS/lib" "LD_AUDIT=$THEIRS/evil.so" >"$THEIRS/environment"
	job=$(theirs sbatch --parsable --chdir=/ --output=/dev/null -N2 -w 'n[1-2]' --gres=gpu:8 \
		"--export-file=$THEIRS/environment" --wrap 'srun --export=ALL env >/dev/null; sleep 600')
	await 30 says n1 'go by n1 of 2 nodes'
	await 20 test -e "$THEIRS/as-65534-sleep"
	scancel "$job"
	await 30 no_jobs
	await 10 no_gate_left
	equal "$(cd "$THEIRS" && echo as-65534-env as-0-*)" 'as-65534-env as-0-*'
}

# denied COMMAND...: the other user may not
denied() {
	local said
	if said=$(as_other_user timeout 20 "$@" 2>&1 </dev/null); then
		fail "allowed: $*: $said"
	fi
}

@test "another user's running gang: nobody attaches to it, changes it or takes its nodes" {
	job=$(submit -N4 --gres=gpu:8 --wrap 'srun sleep 600')
	await_job "$job" RUNNING
	await 20 shows "$job.0" squeue -s -h -j "$job" -o %i
	before=$(job_field "$job" AdminComment)
	# it says that there are no tasks, and that is no error of its own
	said=$(as_other_user timeout 20 sattach "$job.0" 2>&1 </dev/null) || (($? != 124)) || fail "attached: $said"
	denied srun --overlap "--jobid=$job" true
	denied scontrol requeue "$job"
	denied scontrol suspend "$job"
	denied scontrol update "JobId=$job" ExcNodeList=n1
	denied scontrol update "JobId=$job" AdminComment='[onespine: suspects=n(1-4)]'
	denied scontrol update "JobId=$job" TimeLimit=0:01
	denied scontrol update NodeName=n1 State=DRAIN Reason='onespine: gpu3 ecc 12 uncorrectable > 0; reset gpu'
	denied scontrol update NodeName=n1 Extra='{"onespine":"FAIL"}'
	denied scontrol create reservation ReservationName=theirs Users=nobody Nodes=ALL StartTime=now Duration=10
	denied onespine set "$job" off
	denied onespine recheck n1
	as_other_user scancel "$job" 2>/dev/null || true
	equal "$(job_field "$job" AdminComment)" "$before"
	equal "$(job_field "$job" Restarts)" 0
	job_is "$job" RUNNING
	none_drained_but
	equal "$(squeue -s -h -j "$job" -o %i | grep -c "^$job.0\$")" 1
}

# as_their_root COMMAND...: root in a user namespace of the other user's
as_their_root() {
	as_other_user unshare --user --map-root-user "$@"
}

@test "root in a user namespace is nobody to the gate" {
	needs_munge
	as_their_root true 2>/dev/null || skip 'no user namespaces for users here'
	open_gate
	credential=$(echo OSPG | as_their_root munge -S "$ONESPINE_CLUSTER/munge/socket" -U 0)
	said=$("$ONESPINE_CLUSTER/bin/knock" -r "$(address n1)" 288-303 <<<"$credential")
	equal "$said" "job $job rank 0"$'\n'closed
	# it may bind no reserved port either: that connection comes from one of users'
	said=$(as_their_root "$ONESPINE_CLUSTER/bin/knock" -r "$(address n1)" 288-303 <<<"$credential") || true
	equal "$said" 'nobody is there'
	# nor tell slurmctld anything
	said=$(as_their_root scontrol update NodeName=n2 State=DRAIN Reason=theirs 2>&1) || true
	holds "$said" 'Invalid user id'
	undisturbed '[1-9][0-9]* from ports that users can have.* 1 without root'
}
