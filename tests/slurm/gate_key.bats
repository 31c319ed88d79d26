#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# gate_key.bats - gates that know each other by a key of their own, beside MUNGE and with Slurm's auth/slurm
bats_require_minimum_version 1.5.0

load helpers
load gate_helpers

setup_file() {
	local dir=$BATS_FILE_TMPDIR/cluster
	gate_budget
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-END
		defaults:
		  gate: {budget_s: $BUDGET_S, fresh_s: 0, network: false, key_file: /gate.key}
	END
	cluster_start --nodes 4 --gate --gres gpu:8 --dir "$dir" --config "$BATS_FILE_TMPDIR/onespine.yaml" \
		--conf "AuthInfo=socket=$dir/munge/socket,cred_expire=5"
	install -m 755 "$(gate_fakes)/../knock" "$ONESPINE_CLUSTER/bin/knock"
	onespine gate key new a "--key-file=$BATS_FILE_TMPDIR/gate.key"
	onespine gate key new a "--key-file=$BATS_FILE_TMPDIR/other.key"
	onespine gate key new z "--key-file=$BATS_FILE_TMPDIR/named.key"
}

setup() {
	[[ -n ${ONESPINE_CLUSTER:-} ]] || return 0
	cp "$BATS_FILE_TMPDIR/onespine.yaml" "$ONESPINE_CLUSTER/onespine.yaml"
	copy_key 'n1 n2 n3 n4'
	all_well
	begin_test
}

# copy_key NODES [FILE]: as an administrator copies it to these nodes
copy_key() {
	local node
	for node in $1; do
		install -m 600 "${2:-$BATS_FILE_TMPDIR/gate.key}" "$ONESPINE_CLUSTER/nodes/$node/gate.key"
	done
}

gang() {
	submit --gres=gpu:8 "$@"
}

# all_know: each of the four nodes wrote that the job runs
all_know() {
	local node
	for node in n1 n2 n3 n4; do
		await 20 shows 'go by n1 of 4 nodes' gate_log "$node"
	done
}

# ended: the job leaves, for the next one of a test
ended() {
	scancel "$job"
	await 30 no_jobs
	all_well
}

# left_out NODE TEXT: a gang starts without that node, whose gate wrote the text, and nobody is drained
left_out() {
	job=$(gang -N3)
	await 60 requeued "$job"
	await 20 excludes "$job" "$1"
	await 10 shows "$2" gate_log "$1"
	none_drained_but
	ended
}

@test "nodes with the same key know the verdict; a bad one is drained with its reason" {
	job=$(gang -N4)
	await_job "$job" RUNNING
	all_know
	ended
	fault n2 "$ECC"
	job=$(gang -N3)
	await 40 drained n2 "$ECC_REASON"
	await_job "$job" RUNNING
	scontrol update NodeName=n2 State=RESUME
}

# n4's gate begins once it has the new file.
@test "the key is changed without a stop: at each step gates with the file of before and after know each other" {
	local step key="--key-file=$BATS_TEST_TMPDIR/gate.key"
	cp -p "$BATS_FILE_TMPDIR/gate.key" "$BATS_TEST_TMPDIR/gate.key"
	for step in 'add b' use drop; do
		rm -f "$ONESPINE_CLUSTER/go"
		fault n4 "until [ -e $ONESPINE_CLUSTER/go ]; do sleep 0.1; done"
		job=$(gang -N4)
		await 10 gate_runs n1
		# shellcheck disable=SC2086
		onespine gate key $step "$key"
		copy_key 'n4 n2' "$BATS_TEST_TMPDIR/gate.key" # n2's gate runs
		touch "$ONESPINE_CLUSTER/go"
		await_job "$job" RUNNING
		all_know
		ended
		job=$(gang -N4)
		await_job "$job" RUNNING
		all_know
		ended
		copy_key 'n1 n3' "$BATS_TEST_TMPDIR/gate.key"
	done
	equal "$(onespine gate key --json "$key" | jq -c '[.keys[].name]')" '["b"]'
	job=$(gang -N4)
	await_job "$job" RUNNING
	all_know
}

@test "a node with another key is silent, not drained; the job starts without it, and the logs say why" {
	copy_key n3 "$BATS_FILE_TMPDIR/other.key"
	job=$(gang -N3)
	await 60 requeued "$job"
	await 20 excludes "$job" n3
	none_drained_but
	await 10 shows "without root's seal" gate_log n1
	equal "$(gate_log n3 | grep -c 'n1 has gone')" 1
	ended
	copy_key n3 "$BATS_FILE_TMPDIR/named.key"
	job=$(gang -N3)
	await 60 requeued "$job"
	await 10 shows 'a message names key z, which is not in ' gate_log n1
	none_drained_but
}

@test "a node without the key, or with one that others may read, says so and is not drained" {
	rm "$ONESPINE_CLUSTER/nodes/n2/gate.key"
	left_out n2 'gate.key: No such file or directory'
	# Where it fails its own check, its job does not start, whoever hears it. n1 decides that n2 is silent; if n2's
	# gate outlasts that, it decides too, and drains n2 for what its check found.
	fault n2 "$ECC"
	job=$(gang -N2 -w 'n[1-2]')
	await 60 says n2 'FAIL onespine: gpu3'
	await 60 requeued "$job"
	run ! job_is "$job" RUNNING
	await 60 no_gate_left
	none_drained_but n2
	matches "$(sinfo -h -N -n n2 -o %E | head -n 1)" "^(none|$ECC_REASON)\$"
	ended
	free_all
	copy_key n2
	chmod 644 "$ONESPINE_CLUSTER/nodes/n3/gate.key"
	left_out n3 'others may read or write it'
}

# As on a node whose onespine.yaml is old, or whose Onespine is.
@test "a gate with MUNGE among gates with a key, and one with a key among those with MUNGE: left out, not drained" {
	needs_munge
	mkdir -p "$ONESPINE_CLUSTER/elsewhere"
	cp "$ONESPINE_CLUSTER/slurm.conf" "$ONESPINE_CLUSTER/elsewhere"
	sed 's/, key_file: [^}]*//' "$BATS_FILE_TMPDIR/onespine.yaml" >"$ONESPINE_CLUSTER/elsewhere/onespine.yaml"
	fault n2 "export SLURM_CONF=$ONESPINE_CLUSTER/elsewhere/slurm.conf"
	job=$(gang -N3)
	await 60 requeued "$job"
	await 20 excludes "$job" n2
	await 10 shows "without root's seal" gate_log n1
	none_drained_but
	ended
	cp "$BATS_FILE_TMPDIR/onespine.yaml" "$ONESPINE_CLUSTER/elsewhere/onespine.yaml"
	sed 's/, key_file: [^}]*//' "$BATS_FILE_TMPDIR/onespine.yaml" >"$ONESPINE_CLUSTER/onespine.yaml"
	fault n2 "export SLURM_CONF=$ONESPINE_CLUSTER/elsewhere/slurm.conf"
	job=$(gang -N3)
	await 60 requeued "$job"
	await 20 excludes "$job" n2
	none_drained_but
}

# --- attacks --------------------------------------------------------------------------------------

# open_gate: a job whose first gate waits for n4's, which begins when the file is there (undisturbed)
open_gate() {
	rm -f "$ONESPINE_CLUSTER/go"
	fault n4 "until [ -e $ONESPINE_CLUSTER/go ]; do sleep 0.1; done"
	job=$(gang -N4)
	address=$(scontrol show node n1 | sed -n 's/.*NodeAddr=\([^ ]*\).*/\1/p')
	await 10 listening
}

listening() {
	[[ -n $(ss -Htln "src $address" | awk '{ sub(/.*:/, "", $4); print $4 }' | grep -E '^(28[89]|29.|30[0-3])$') ]]
}

# knocks_with COMMAND...: what it prints goes to n1's gate, from a reserved port, which no user has; it is not answered
knocks_with() {
	equal "$("$@" | "$ONESPINE_CLUSTER/bin/knock" -r "$address" 288-303)" "job $job rank 0"$'\n'closed
}

# seal ARGUMENT...: something that is no message of a gate's, sealed
seal() {
	printf 'OSPG something else' | "$BATS_TEST_DIRNAME/gate_seal.py" seal "$@"
}

# undisturbed REGULAR-EXPRESSION: n4's gate begins, the gang runs, and n1's gate counted that
undisturbed() {
	touch "$ONESPINE_CLUSTER/go"
	await 30 says n1 'go by n1 of 4 nodes'
	await 10 says n1 'dropped: '
	matches "$(gate_log n1)" "dropped: .*$1"
	none_drained_but
	await_job "$job" RUNNING
	equal "$(job_field "$job" Restarts)" 0
}

@test "what is not sealed by the key is dropped: another key by its name, cut, changed, too old, of the future" {
	local sealed=$BATS_TEST_TMPDIR/sealed
	open_gate
	knocks_with seal "$BATS_FILE_TMPDIR/other.key"
	knocks_with seal "$BATS_FILE_TMPDIR/gate.key" a 100000
	knocks_with seal "$BATS_FILE_TMPDIR/gate.key" a -100000
	seal "$BATS_FILE_TMPDIR/gate.key" >"$sealed"
	knocks_with head -c 60 "$sealed"
	knocks_with head -c 5 "$sealed"
	knocks_with sed 's/^OSPK/OSPX/' "$sealed"
	undisturbed ' 6 without root'
}

@test "what was sealed by the key, replayed or for something else, is dropped" {
	open_gate
	seal "$BATS_FILE_TMPDIR/gate.key" >"$BATS_TEST_TMPDIR/sealed"
	knocks_with cat "$BATS_TEST_TMPDIR/sealed"
	knocks_with cat "$BATS_TEST_TMPDIR/sealed"
	# The first was no message of the gate's, the second had been opened before.
	undisturbed ' 1 without root.* 1 not of this gate'
}

@test "a message of a key that is not here, of any name, disturbs nobody, and the log has no other letters" {
	open_gate
	knocks_with seal "$BATS_FILE_TMPDIR/gate.key" $'x\ny'
	knocks_with seal "$BATS_FILE_TMPDIR/gate.key" "$(printf 'n%.0s' {1..200})"
	knocks_with seal "$BATS_FILE_TMPDIR/gate.key" b
	undisturbed ' 3 without root'
	equal "$(gate_log n1 | grep -c 'a message names key')" 1
	says n1 'a message names key b, which is not in '
}

@test "a user cannot read the key, and no log, record, environment or list of processes has it" {
	local key
	key=$(awk '!/^#/ { print $2 }' "$BATS_FILE_TMPDIR/gate.key")
	[[ $key =~ ^[0-9a-f]{64}$ ]]
	run as_other_user cat "$ONESPINE_CLUSTER/nodes/n1/gate.key"
	((status))
	open_gate
	run ! grep -qs "$key" /proc/[0-9]*/cmdline /proc/[0-9]*/environ
	touch "$ONESPINE_CLUSTER/go"
	await_job "$job" RUNNING
	run ! grep -rqs "$key" "$ONESPINE_CLUSTER/log" "$ONESPINE_CLUSTER"/nodes/*/gate.log "$ONESPINE_CLUSTER/state"
}

# measurers: what sends and receives for these gates, as nobody
measurers() {
	local pid
	for pid in $(pgrep -u 65534 -f "$ONESPINE_PREFIX/libexec/onespine/onespine-gate"); do
		! grep -qsz "^ONESPINE_TEST_ROOT=$ONESPINE_CLUSTER/" "/proc/$pid/environ" || echo "$pid"
	done
}

measures() {
	[[ -n $(measurers) ]]
}

@test "what reads other hosts' bytes as nobody has no key in its memory" {
	local -a pids
	sed -i 's/network: false/network: tcp/' "$ONESPINE_CLUSTER/onespine.yaml"
	fault n3 'export ONESPINE_TEST_NETWORK=stuck'
	job=$(gang -N4)
	await 30 measures
	mapfile -t pids < <(measurers)
	equal "$("$BATS_TEST_DIRNAME/gate_seal.py" find "$BATS_FILE_TMPDIR/gate.key" "${pids[@]}")" ''
	# the gates themselves have it: this search would have found it
	mapfile -t pids < <(pgrep -u 0 -f "$ONESPINE_PREFIX/libexec/onespine/onespine-gate")
	[[ -n $("$BATS_TEST_DIRNAME/gate_seal.py" find "$BATS_FILE_TMPDIR/gate.key" "${pids[@]}") ]]
}

# --- without MUNGE --------------------------------------------------------------------------------

@test "doctor names a key that is missing, and does not ask for MUNGE" {
	run onespine doctor
	holds "$output" 'the nodes cannot send each other what their checks found'
	holds "$output" 'onespine gate key new --key-file=/gate.key'
}

@test "with auth/slurm, on a cluster without MUNGE: nodes know the verdict, a bad one is drained, one without the key is left out" {
	slurm_at_least 24.11 || skip 'no auth/slurm here before 24.11'
	[[ $(type -p scontrol) == "$ONESPINE_CLUSTER"/bin/* ]] || skip 'this Slurm runs without a root, where its sockets are its own'
	cluster_stop
	sed 's/, key_file: [^}]*//' "$BATS_FILE_TMPDIR/onespine.yaml" >"$BATS_FILE_TMPDIR/auto.yaml"
	ONESPINE_TEST_AUTH=slurm cluster_start --nodes 4 --gate --gres gpu:8 --config "$BATS_FILE_TMPDIR/auto.yaml" \
		--conf AuthInfo=cred_expire=5
	equal "$(scontrol show config | awk '$1 == "AuthType" { print $3 }')" auth/slurm
	[[ ! -e $ONESPINE_CLUSTER/munge ]]
	job=$(gang -N4)
	await_job "$job" RUNNING
	all_know
	ended
	fault n2 "$ECC"
	job=$(gang -N3)
	await 40 drained n2 "$ECC_REASON"
	await_job "$job" RUNNING
	scontrol update NodeName=n2 State=RESUME
	ended
	rm "$ONESPINE_CLUSTER/nodes/n2$ONESPINE_PREFIX/etc/onespine/gate.key"
	left_out n2 'etc/onespine/gate.key: No such file or directory'
}
