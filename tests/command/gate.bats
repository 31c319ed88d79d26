# SPDX-License-Identifier: GPL-2.0-or-later
# gate.bats - the program onespine-gate, and its former name in the command; what it does: tests/slurm/gate_*.bats

load helpers
load setup_helpers

setup() {
	needs_gate
	unset SLURM_JOB_ID
	GATE=${ONESPINE%/*}/onespine-gate
}

@test "onespine gate prolog and epilog execute onespine-gate" {
	for part in prolog epilog; do
		run "$GATE" "$part"
		[[ $status == 2 && $output == "onespine: "*SLURM_* ]]
		expect "$status" "$output" onespine gate "$part"
	done
}

@test "a wrong word is named with those that are right" {
	expect 2 "onespine-gate: 'prologue': expected prolog, epilog, report or reduce; see onespine-gate --help" "$GATE" prologue
	expect 2 "onespine-gate: 'x': expected prolog, epilog, report or reduce; see onespine-gate --help" "$GATE" prolog x
	expect 2 "onespine-gate: expected prolog, epilog, report or reduce; see onespine-gate --help" "$GATE"
	expect 2 "onespine: standard input is no socket: onespine-gate prolog runs this" "$GATE" reduce </dev/null
	[[ $("$GATE" --version) == "$(onespine --version)" ]]
	[[ $("$GATE" --help) == "usage: onespine-gate prolog | epilog"* ]]
}

@test "without onespine-gate a Prolog of the former name says so and drains no node" {
	cp "$ONESPINE" "$BATS_TEST_TMPDIR/onespine"
	run "$BATS_TEST_TMPDIR/onespine" gate prolog
	[[ $output == *"there is no gate"* ]] || skip 'an installed onespine-gate is found'
	[[ $status == 2 ]]
	log=$(strings -a "$ONESPINE" | grep -m1 '/gate.log$')
	mkdir -p "$BATS_TEST_TMPDIR/node${log%/*}"
	export ONESPINE_TEST_ROOT=$BATS_TEST_TMPDIR/node
	SLURM_JOB_ID=1 SLURMD_NODENAME=n7 expect 0 "$output" "$BATS_TEST_TMPDIR/onespine" gate prolog
	SLURM_JOB_ID=2 SLURMD_NODENAME=n7 expect 0 "$output" "$BATS_TEST_TMPDIR/onespine" gate epilog
	sed -n 1p "$ONESPINE_TEST_ROOT$log" | grep -Eqx '20[^ ]* n7 job 1: /.*/onespine-gate: there is no gate:.*; the job starts unproven'
	[[ $(sed -n 2p "$ONESPINE_TEST_ROOT$log") == *'n7 job 2: '*'; what the job left here is not on record' ]]
}

@test "a key of the gate's own is made, shown and changed in three steps, and never printed" {
	key="--key-file=$BATS_TEST_TMPDIR/gate.key"
	expect 1 "onespine: $BATS_TEST_TMPDIR/gate.key: No such file or directory" onespine gate key "$key"
	expect 2 "onespine: $BATS_TEST_TMPDIR/gate.key: No such file or directory" onespine gate key add "$key"
	expect 0 "$BATS_TEST_TMPDIR/gate.key has key a: copy it to all nodes, as root's and readable by root alone" \
		onespine gate key new a "$key"
	[[ $(stat -c %a "$BATS_TEST_TMPDIR/gate.key") == 600 ]]
	first=$(sed -n 's/^a //p' "$BATS_TEST_TMPDIR/gate.key")
	[[ $first =~ ^[0-9a-f]{64}$ ]]
	expect 2 "onespine: $BATS_TEST_TMPDIR/gate.key: it is there already: 'add' adds a key" onespine gate key new "$key"
	expect 2 "onespine: there is no other key: add one, and copy the file to all nodes" onespine gate key use "$key"
	expect 2 "onespine: a: there is a key of that name already" onespine gate key add a "$key"
	expect 0 "$BATS_TEST_TMPDIR/gate.key has key b too, which opens: copy it to all nodes, as root's and readable by root alone, then 'onespine gate key use --key-file $BATS_TEST_TMPDIR/gate.key'" \
		onespine gate key add b "$key"
	run onespine gate key "$key"
	[[ $output == "$BATS_TEST_TMPDIR/gate.key"$'\n'"  a  seals and opens"$'\n'"  b  opens" ]]
	onespine gate key use "$key"
	run onespine gate key --json "$key"
	[[ $(jq -c '[.keys[] | [.name, .seals]]' <<<"$output") == '[["b",true],["a",false]]' && $output != *"$first"* ]]
	expect 0 "$BATS_TEST_TMPDIR/gate.key has key b alone: copy it to all nodes, as root's and readable by root alone" \
		onespine gate key drop "$key"
	! grep -q "$first" "$BATS_TEST_TMPDIR/gate.key"
	onespine gate key add "$key" # by default the day
	onespine gate key add "$key" # and once more
	onespine gate key "$key" | grep -Exq "  $(date +%F)  opens"
	onespine gate key "$key" | grep -Exq "  $(date +%F)\.b  opens"
	expect 2 "onespine: 'x': new, add, use or drop is expected" onespine gate key x "$key"
	expect 2 "onespine: 'use' takes no name: the last key is meant" onespine gate key use a "$key"
	chmod 640 "$BATS_TEST_TMPDIR/gate.key"
	run onespine gate key "$key"
	[[ $status == 2 && $output == *'others may read or write it'* ]]
}

# ours PART: the script that slurmd runs, with folders of this test
ours() {
	sed -E "s#[^ =\"]*/onespine-gate#$BATS_TEST_TMPDIR/onespine-gate#g; s#=.*/bin/onespine\$#=$BATS_TEST_TMPDIR/onespine#
		s#>>.*/gate.log#>>$BATS_TEST_TMPDIR/gate.log#" "${ONESPINE%/*}/etc/$1" >"$BATS_TEST_TMPDIR/$1"
	chmod 755 "$BATS_TEST_TMPDIR/$1"
	"$BATS_TEST_TMPDIR/$1"
}

@test "slurmd's Prolog and Epilog without onespine-gate: the command runs it; without both a line in the log, and 0" {
	export SLURM_JOB_ID=5 SLURMD_NODENAME=n7
	for part in prolog epilog; do
		rm -f "$BATS_TEST_TMPDIR"/onespine*
		expect 0 '' ours "$part"
		grep -Eqx '20[^ ]* n7 job 5: /.*/onespine-gate is not there or cannot be executed: (the job starts unproven|what the job left here is not on record)' \
			"$BATS_TEST_TMPDIR/gate.log"
		rm "$BATS_TEST_TMPDIR/gate.log"
		# shellcheck disable=SC2016
		printf '#!/bin/sh\necho "command $*"\nexit 3\n' >"$BATS_TEST_TMPDIR/onespine"
		chmod 755 "$BATS_TEST_TMPDIR/onespine"
		touch "$BATS_TEST_TMPDIR/onespine-gate" # cannot be executed
		expect 3 "command gate $part" ours "$part"
		sed 's/command/gate/' "$BATS_TEST_TMPDIR/onespine" >"$BATS_TEST_TMPDIR/onespine-gate"
		chmod 755 "$BATS_TEST_TMPDIR/onespine-gate"
		expect 3 "gate $part" ours "$part"
		[[ ! -e $BATS_TEST_TMPDIR/gate.log ]]
	done
}

# depth_of NAME=VALUE...: how deep a gate looks at a healthy fake node of one before it lets job 7 go; what it says is in ./said
depth_of() {
	local node=$BATS_TEST_TMPDIR/node
	rm -rf "$node"
	"$BATS_TEST_DIRNAME/../fake/node" "$node"
	[[ ! ${instances-} ]] || mkdir -p "$node/proc/driver/nvidia/capabilities/$instances"
	[[ ! ${minors-} ]] || sed -i "s/^Device Minor:.*/Device Minor: $minors/" "$node"/proc/driver/nvidia/gpus/*:10:*/information
	env -i PATH="$PATH" SLURM_CONF="$BATS_TEST_TMPDIR/slurm.conf" ONESPINE_TEST_ROOT="$node" SLURM_JOB_ID=7 SLURM_NODELIST=n1 \
		SLURMD_NODENAME=n1 SLURM_JOB_PARTITION=all "$@" "$GATE" prolog 2>"$BATS_TEST_TMPDIR/said"
	find "$node" -name 'i-*.jsonl' -exec jq -r .depth {} +
}

UNSURE="the numbers by which Slurm names the job's GPUs may be those of others on this node: all are checked, without load"

# says WORDS: the gate that depth_of started has said so, and nothing else of which GPUs the job has
says() {
	[[ $(grep 'without load' "$BATS_TEST_TMPDIR/said") == "onespine gate: $1" ]]
}

@test "deeper checks that a user wishes load no GPU that is not known to be the job's" {
	wish=SPANK__SLURM_SPANK_OPTION_onespine_gang_check=quick
	printf 'ClusterName=x\nJobSubmitPlugins=onespine\nNodeName=n1\n' >"$BATS_TEST_TMPDIR/slurm.conf"
	echo 'defaults: {gate: {jobs: all, fresh_s: 0, network: off}}' >"$BATS_TEST_TMPDIR/onespine.yaml"
	[[ $(depth_of "$wish" SLURM_JOB_GPUS=3) == quick ]]
	[[ $(depth_of SLURM_JOB_GPUS=3) == passive ]]
	[[ $(depth_of "$wish") == passive ]]
	[[ $(depth_of "$wish" SPANK__ONESPINE_UNKNOWN_GPUS=n1) == passive ]]
	says 'Slurm has not said which GPUs of this node the job has: all are checked, without load'
	echo 'defaults: {gate: {depth: quick, jobs: all, fresh_s: 0, network: off}}' >"$BATS_TEST_TMPDIR/onespine.yaml"
	[[ $(depth_of) == passive ]]
}

@test "Slurm's numbers are not those of GPUs where one is in instances (MIG): none is loaded" {
	printf 'ClusterName=x\nJobSubmitPlugins=onespine\nNodeName=n1\n' >"$BATS_TEST_TMPDIR/slurm.conf"
	echo 'defaults: {gate: {depth: quick, fresh_s: 0, network: off}}' >"$BATS_TEST_TMPDIR/onespine.yaml"
	[[ $(depth_of SLURM_JOB_GPUS=3) == quick ]]
	[[ $(instances=mig/config depth_of SLURM_JOB_GPUS=3) == quick ]]
	[[ $(instances=gpu0/mig depth_of SLURM_JOB_GPUS=3) == quick ]]
	[[ $(instances=gpu0/mig/gi7/ci0 depth_of SLURM_JOB_GPUS=3) == passive ]]
	says "$UNSURE"
}

@test "Slurm's numbers may not be those of the bus: none is loaded but where the job has all" {
	printf 'ClusterName=x\nJobSubmitPlugins=onespine\nGresTypes=gpu\nNodeName=n1 Gres=gpu:h100:8\n' >"$BATS_TEST_TMPDIR/slurm.conf"
	echo 'defaults: {gate: {depth: quick, fresh_s: 0, network: off}}' >"$BATS_TEST_TMPDIR/onespine.yaml"
	[[ $(depth_of SLURM_JOB_GPUS=3) == quick ]]
	# the driver numbers them in another order than the bus, as on some boards of eight
	[[ $(minors=2 depth_of SLURM_JOB_GPUS=3) == passive ]]
	says "$UNSURE"
	[[ $(minors=2 depth_of SLURM_JOB_GPUS=0,1,2,3,4,5,6,7) == quick ]]
	[[ $(minors=2 depth_of SLURM_JOB_GPUS=0-7) == quick ]]
	# gres.conf lists some of them
	sed -i 's/:8/:7/' "$BATS_TEST_TMPDIR/slurm.conf"
	[[ $(depth_of SLURM_JOB_GPUS=3) == passive ]]
	[[ $(depth_of SLURM_JOB_GPUS=0,1,2,3,4,5,6) == passive ]]
	# slurm.conf does not say
	sed -i 's/ Gres=.*//' "$BATS_TEST_TMPDIR/slurm.conf"
	[[ $(depth_of SLURM_JOB_GPUS=3) == quick ]]
}

@test "a gate.log that cannot be opened is said where slurmd sees it, and costs the job nothing" {
	log=$(strings -a "$GATE" | grep -m1 '/gate.log$')
	"$BATS_TEST_DIRNAME/../fake/node" "$BATS_TEST_TMPDIR/node"
	mkdir -p "$BATS_TEST_TMPDIR/node$log"
	printf 'ClusterName=x\nJobSubmitPlugins=onespine\nGresTypes=gpu\nNodeName=n1 Gres=gpu:h100:7\n' >"$BATS_TEST_TMPDIR/slurm.conf"
	run env -i PATH="$PATH" SLURM_CONF="$BATS_TEST_TMPDIR/slurm.conf" ONESPINE_TEST_ROOT="$BATS_TEST_TMPDIR/node" SLURM_JOB_ID=7 \
		SLURM_NODELIST=n1 SLURMD_NODENAME=n1 SLURM_JOB_PARTITION=all SLURM_JOB_GPUS=0 ONESPINE_CHECK=full "$GATE" prolog
	echo "$output"
	[[ $status == 0 && $output == *"onespine gate: $BATS_TEST_TMPDIR/node$log: Is a directory"* ]]
}
