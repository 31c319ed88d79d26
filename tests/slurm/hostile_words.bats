#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# hostile_words.bats - what an ordinary user writes into words comes out clean wherever somebody reads it

load helpers

setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 1 2 2
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --gres gpu:4
	export LC_ALL=C.UTF-8
	# a terminal's escapes, a line of its own, C1 controls, a turn of direction, the end of a line, bytes of no UTF-8
	export EVIL=$'a\e]0;owned\a\e[31mb\nslurmctld: error: forged\rc\xc2\x9b2Jd\xe2\x80\xaee\xe2\x80\xa8f\xff\xfe\xed\xa0\x80<g>'
}

teardown() {
	scancel --user=65534
	end_test
}

# clean FILE WHAT: the file is UTF-8 of lines, and holds nothing that a terminal obeys
clean() {
	iconv -f UTF-8 -t UTF-8 "$1" >/dev/null || fail "$2: not UTF-8"
	if LC_ALL=C grep -aqP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]' "$1"; then
		fail "$2: $(LC_ALL=C grep -aP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]' "$1" | cat -v)"
	fi
	if grep -aq '^slurmctld: error: forged' "$1"; then
		fail "$2: a forged line"
	fi
}

# says_clean COMMAND...: what it prints
says_clean() {
	"$@" >"$BATS_TEST_TMPDIR/said" 2>&1 || true
	[[ -s $BATS_TEST_TMPDIR/said ]] || fail "$* said nothing"
	clean "$BATS_TEST_TMPDIR/said" "$*"
}

# refused_clean NAME=VALUE OPTION...: the other user's job with that variable is refused; what slurmctld logs and
# the user reads of it
refused_clean() {
	local variable=$1
	shift
	log_mark
	as_other_user env "$variable" sbatch --chdir=/ --output=/dev/null -N2 "$@" --wrap true \
		>"$BATS_TEST_TMPDIR/refusal" 2>&1 && fail "$variable was accepted"
	tail -n "+$((LOG_MARK + 1))" "$ONESPINE_CLUSTER/log/slurmctld.log" >"$BATS_TEST_TMPDIR/log"
	grep -aq 'onespine: refused user 65534' "$BATS_TEST_TMPDIR/log" ||
		fail "not logged: $variable: $(cat -v "$BATS_TEST_TMPDIR/refusal")"
	clean "$BATS_TEST_TMPDIR/log" "slurmctld.log after ${variable%%=*}"
}

@test "a refusal that quotes the user forges no line of slurmctld.log" {
	# SPANK's clients would refuse the value themselves: as slurmrestd does, without
	mkdir -m 755 "$ONESPINE_CLUSTER/bare"
	: >"$ONESPINE_CLUSTER/bare/plugstack.conf"
	sed "s#^PlugStackConfig=.*#PlugStackConfig=$ONESPINE_CLUSTER/bare/plugstack.conf#" "$SLURM_CONF" \
		>"$ONESPINE_CLUSTER/bare/slurm.conf"
	SLURM_CONF=$ONESPINE_CLUSTER/bare/slurm.conf
	refused_clean "ONESPINE_GANG_SPARES=$EVIL"
	refused_clean "ONESPINE_GANG=$EVIL"
	refused_clean "ONESPINE_GANG=spine@$EVIL"
	refused_clean "ONESPINE_GANG_SPARES=1$EVIL"
	refused_clean "ONESPINE_GANG_DOMAINS=$EVIL"
	refused_clean "ONESPINE_GANG_SEGMENT=leaf:1,$EVIL"
}

# ours_clean: the lines of Onespine's in slurmctld's log since the mark, each with the one behind it, which another's
# word may have begun
ours_clean() {
	tail -n "+$((LOG_MARK + 1))" "$ONESPINE_CLUSTER/log/slurmctld.log" | grep -a -A1 onespine >"$BATS_TEST_TMPDIR/log" || true
	clean "$BATS_TEST_TMPDIR/log" "$1"
}

@test "nodes, features, a reservation and a host file that are only bytes: what is ours of the refusal is clean" {
	local option
	printf '%s\n' "$EVIL" "n1$EVIL" >"$BATS_FILE_TMPDIR/hosts"
	chmod 755 "$BATS_FILE_TMPDIR"
	chmod 644 "$BATS_FILE_TMPDIR/hosts"
	export SLURM_HOSTFILE=$BATS_FILE_TMPDIR/hosts
	for option in "--nodelist=$EVIL" "--nodelist=n1,$EVIL" "--exclude=$EVIL" "--constraint=$EVIL" "--constraint=$EVIL*2" \
		"--reservation=$EVIL" --distribution=arbitrary "--partition=$EVIL" "--licenses=$EVIL" "--gang-segment=$EVIL"; do
		log_mark
		as_other_user sbatch --chdir=/ --output=/dev/null --gang=spine -N2 "$option" --wrap 'sleep 600' \
			>"$BATS_TEST_TMPDIR/said" 2>&1 || true
		grep -a onespine "$BATS_TEST_TMPDIR/said" >"$BATS_TEST_TMPDIR/ours" || true
		clean "$BATS_TEST_TMPDIR/ours" "what $option is told"
		ours_clean "$option"
	done
}

# Every option that sbatch, salloc and srun have of ours, and its variable: what the client says, and slurmctld's log.
@test "every option of ours refuses, clean, a value that a terminal would obey" {
	options=$(sbatch --help 2>&1 | grep -oE -- '--gang[a-z-]*' | sort -u)
	(($(wc -l <<<"$options") >= 9))
	for option in $options; do
		variable=${option#--}
		variable=ONESPINE_${variable^^}
		for value in $'1\e[2J' "$EVIL" $'spine@\e[2J' $'leaf:1,\e[2J' $'tp2,\e[2J'; do
			for client in 'sbatch --wrap=true' 'srun true' 'salloc true'; do
				log_mark
				# shellcheck disable=SC2086 # a command and its argument, which comes last
				set -- $client
				hostile "$option" env "$1" --chdir=/ -N2 "$option=$value" "${@:2}"
				hostile "$variable" env "${variable//-/_}=$value" "$1" --chdir=/ -N2 "${@:2}"
			done
			ours_clean "$option"
		done
	done
	# a label that no job has
	for command in why 'set --gang=off'; do
		for value in $'1\e[2J' "$EVIL"; do
			# shellcheck disable=SC2086
			says_clean onespine $command "$value"
			# shellcheck disable=SC2086
			says_clean onespine $command --json "$value"
		done
	done
	for option in $(onespine help fit | grep -oE '^  (-[A-Za-z], )?--[a-z-]+(=|\[=)' | grep -oE -- '--[a-z-]+'); do
		says_clean onespine fit -N2 "$option=$EVIL"
		says_clean onespine fit -N2 "$option="$'1\e[2J'
	done
}

# hostile WHAT COMMAND...: our lines of what it says, as the other user
hostile() {
	local what=$1
	shift
	as_other_user timeout 60 "$@" </dev/null >"$BATS_TEST_TMPDIR/said" 2>&1 || true
	# Slurm's own line quotes the value as it is
	grep -av 'Invalid --gang' "$BATS_TEST_TMPDIR/said" | grep -aE 'onespine|gang|GANG' >"$BATS_TEST_TMPDIR/ours" ||
		fail "$what: nothing is said: $(cat -v "$BATS_TEST_TMPDIR/said")"
	clean "$BATS_TEST_TMPDIR/ours" "what is said to $what"
}

@test "a job's name reaches why, map and fit clean, on the terminal, as JSON and as a picture" {
	as_other_user sbatch --chdir=/ --output=/dev/null --gang -N2 -J "$EVIL" --comment="$EVIL" --exclusive \
		--wrap 'sleep 600' >/dev/null
	# what waits may have words that would keep it from running
	fields=("--mail-user=$EVIL" --mail-type=NONE "--error=/$EVIL" "--input=/$EVIL" "--wckey=$EVIL" "--network=$EVIL"
		"--container=$EVIL")
	! slurm_at_least 23.11 || fields+=("--extra=$EVIL")
	as_other_user sbatch --chdir=/ --output=/dev/null --gang -N4 -J "$EVIL" --comment="$EVIL" --exclusive \
		"${fields[@]}" --wrap 'sleep 600' >/dev/null
	await 20 running_and_waiting
	for job in $(squeue -h --user=65534 -o %i); do
		says_clean onespine why "$job"
		says_clean onespine why --json "$job"
		jq -e '.name | contains("owned")' "$BATS_TEST_TMPDIR/said"
		log_mark
		says_clean as_other_user onespine set "$job" "$EVIL"
		ours_clean "set $job"
		job_field "$job" AdminComment >"$BATS_TEST_TMPDIR/comment"
		clean "$BATS_TEST_TMPDIR/comment" "AdminComment of job $job"
	done
	says_clean onespine map --width=200
	says_clean onespine map
	says_clean onespine map --json
	jq -e . "$BATS_TEST_TMPDIR/said" >/dev/null
	onespine map --svg="$BATS_TEST_TMPDIR/map.svg"
	clean "$BATS_TEST_TMPDIR/map.svg" 'map --svg'
	python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$BATS_TEST_TMPDIR/map.svg"
	says_clean onespine fit -N 4
	says_clean onespine audit
	says_clean onespine doctor
	says_clean onespine doctor --json
	jq -e . "$BATS_TEST_TMPDIR/said" >/dev/null
}

running_and_waiting() {
	[[ $(squeue -h --user=65534 -o %T | sort | paste -sd,) == PENDING,RUNNING ]]
}
