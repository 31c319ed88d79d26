#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# how the command is asked: help, version, wrong words, exit statuses, completion

# shellcheck disable=SC2016 # what bash -c is to expand

load helpers

@test "without a command: what is needed, status 2" {
	expect 2 "onespine: a command is needed; see onespine --help" onespine
}

@test "wrong words are told the nearest right one" {
	expect 2 "onespine: unknown command 'topolgy'; did you mean topology?" onespine topolgy
	expect 2 "onespine: unknown topology command 'shwo'; did you mean show?" onespine topology shwo
	expect 2 "onespine: unknown option --partiton; did you mean --partition?" onespine map --partiton=x
	expect 2 "onespine: there is no partition 'gpus'; did you mean gpu?" \
		onespine map --state "$MAP/small.json" -p gpus
	expect 2 "onespine: no completion for 'bsh'; did you mean bash; bash and zsh are known" \
		onespine completion bsh
}

@test "--help lists every command, help explains each" {
	onespine --help >"$BATS_TEST_TMPDIR/all"
	while read -r name; do
		grep -q "^  $name  " "$BATS_TEST_TMPDIR/all"
		# shellcheck disable=SC2086
		onespine help $name | grep -qx "Usage: onespine $name \[OPTION\]\.\.\..*"
		# shellcheck disable=SC2086
		diff <(onespine help $name) <(onespine $name --help)
	done <<-END
		topology import
		topology show
		topology check
		config check
		config show
		fit
		why
		map
		layout
		audit
		set
		hosts
		bind
		bind run
		env
		check
		doctor
		setup
		gate prolog
		gate epilog
		history
		recheck
		completion
		help
	END
}

@test "--version" {
	[[ $(onespine --version) == "onespine "[0-9]* ]]
	[[ $(onespine fit -V) == "onespine "[0-9]* ]]
}

@test "an answer that cannot be written is no answer" {
	expect 2 "onespine: standard output: No space left on device" \
		bash -c '"$ONESPINE" --help >/dev/full'
	expect 2 "onespine: standard output: No space left on device" \
		bash -c '"$ONESPINE" map --json --state "$MAP/small.json" >/dev/full'
}

@test "a standard stream that is closed takes no words into a file, and an answer to it is none" {
	# shellcheck disable=SC2016 # what bash -c is to expand
	expect 2 "onespine: standard output: Bad file descriptor" \
		bash -c '"$ONESPINE" map --state "$MAP/small.json" >&-'
	cd "$BATS_TEST_TMPDIR" || return
	printf 'SwitchName=l1 Nodes=n[1-8]\n' >slurm.conf.topology
	seq 8 | sed 's|.*|n& n&|' >map
	"$ONESPINE" topology watch --from=topograph:"$PWD/slurm.conf.topology" --nodes=map -o t <&- >&- 2>&- 3>&- &
	watch_pid=$!
	await_while "$watch_pid" test -e t
	got=$(readlink "/proc/$watch_pid/fd/"{0,1,2}) || true
	kill "$watch_pid"
	wait "$watch_pid" || true
	[[ $got == $'/dev/null\n/dev/null\n/dev/null' ]]
}

@test "bash completes commands, options, values and files" {
	onespine completion bash >"$BATS_TEST_TMPDIR/onespine"
	cd "$BATS_TEST_TMPDIR" || return
	touch page.json
	# shellcheck source=/dev/null
	source ./onespine
	complete_words() {
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		COMPREPLY=()
		_onespine
		printf '%s\n' "${COMPREPLY[*]}"
	}
	expect 0 "topology config fit why map layout audit set hosts bind env check doctor setup gate history recheck quarantine reproduce completion help --help --version" \
		complete_words onespine ''
	expect 0 "import show check discover watch survey accept" complete_words onespine topology ''
	expect 0 "show" complete_words onespine config s
	expect 0 "--allow-missing" complete_words onespine topology import --allow
	expect 0 "ec2" complete_words onespine topology import --from = e
	expect 0 "onespine topology.conf topology.yaml" complete_words onespine topology import --to ''
	expect 0 "page.json" complete_words onespine topology import --from ec2 pa
	expect 0 "leaf" complete_words onespine fit --gang = l
	expect 0 "bash zsh" complete_words onespine completion ''
	expect 0 "run" complete_words onespine bind ''
	expect 0 "--tasks" complete_words onespine bind --ta
	expect 0 "--verbose" complete_words onespine bind run --verb
	expect 0 "page.json" complete_words onespine bind run pa
}

needs_zsh() {
	command -v zsh >/dev/null || skip 'no zsh, which types to both shells'
}

# on_a_terminal SHELL LINE...: what TAB makes of the lines there
on_a_terminal() {
	local shell=$1
	shift
	mkdir "$BATS_TEST_TMPDIR/bin"
	ln -s "$ONESPINE" "$BATS_TEST_TMPDIR/bin/onespine"
	# shellcheck disable=SC2016
	printf '#!/bin/sh\ncase $* in *%%N*) printf "n2\\nn1\\nn1\\n" ;; *) printf "gpu\\nhigh\\n" ;; esac\n' \
		>"$BATS_TEST_TMPDIR/bin/sinfo"
	printf '#!/bin/sh\necho 7001\n' >"$BATS_TEST_TMPDIR/bin/squeue"
	chmod 755 "$BATS_TEST_TMPDIR"/bin/*
	onespine completion bash >"$BATS_TEST_TMPDIR/onespine"
	onespine completion zsh >"$BATS_TEST_TMPDIR/_onespine"
	touch "$BATS_TEST_TMPDIR/page.json" "$BATS_TEST_TMPDIR/with space.json"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH zsh -f "$SOURCE/tests/command/complete.zsh" "$shell" \
		"$BATS_TEST_TMPDIR" "$@"
}

# lines that end the same way in both; a partition, a job, a node are what Slurm says
TYPED=('onespine topol' 'onespine topology imp' 'onespine gate prol' 'onespine config sh'
	'onespine topology import --from=ec' 'onespine topology import pag' 'onespine topology import wit'
	'onespine fit --gang=le' 'onespine fit -p g' 'onespine fit --partition=h' 'onespine why 7'
	'onespine fit -w n1' 'onespine history n2' 'onespine recheck n1 n2' 'onespine bind run --verb'
	'onespine doctor --bef' 'onespine setup --und')
BECOMES='onespine topology 
onespine topology import 
onespine gate prolog 
onespine config show 
onespine topology import --from=ec2 
onespine topology import page.json 
onespine topology import with\ space.json 
onespine fit --gang=leaf 
onespine fit -p gpu 
onespine fit --partition=high 
onespine why 7001 
onespine fit -w n1 
onespine history n2 
onespine recheck n1 n2 
onespine bind run --verbose 
onespine doctor --before-start 
onespine setup --undo '

@test "a real bash on a terminal completes commands, options, files, partitions, jobs and nodes" {
	needs_zsh
	expect 0 "$BECOMES" on_a_terminal bash "${TYPED[@]}"
}

@test "a real zsh on a terminal completes the same" {
	needs_zsh
	expect 0 "$BECOMES" on_a_terminal zsh "${TYPED[@]}"
}

@test "every command that a document prints is one, with options that it has" {
	local line command help word words seen=0
	while IFS= read -r line; do
		read -ra words <<<"$line"
		command=("${words[1]}")
		if [[ ${words[2]-} == [a-z]* ]] && onespine "${words[1]}" "${words[2]}" --help &>/dev/null; then
			command+=("${words[2]}")
		fi
		help=$(onespine "${command[@]}" --help 2>&1) || { echo "no such command: $line" && return 1; }
		for word in "${words[@]}"; do
			[[ $word != --[a-z]* ]] || grep -qE -e "${word%%[!a-z-]*}([= []|$)" <<<"$help" ||
				{ echo "no option $word: $line" && return 1; }
		done
		seen=$((seen + 1))
	done < <(cd "$SOURCE" && grep -hoE '(^ +|`|[$] |&& |; )onespine [a-z][^`#|]*' README.md HACKING.md doc/*.md |
		sed -E 's/^[ `$&;]*//' | sort -u)
	((seen > 40))
}

@test "without a Slurm: said, status 2" {
	expect 2 "onespine: no slurm.conf found; name the file, or set SLURM_CONF" onespine audit
	expect 2 "onespine: no slurm.conf found; name the file, or set SLURM_CONF" onespine fit -N 2
	expect 2 "onespine: no slurm.conf found; name the file, or set SLURM_CONF" onespine config show
	expect 2 "onespine: no slurm.conf found; set SLURM_CONF" onespine set 7 --gang=off
}

@test "a Slurm whose slurm.conf is not there: status 2, never 1" {
	run env SLURM_CONF="$BATS_TEST_TMPDIR/none.conf" "$ONESPINE" audit
	[[ $status == 2 ]]
}

@test "set needs a request that can be read" {
	expect 2 "onespine: onespine set needs --gang=LEVEL, --gang=LEVEL@TIME or --gang=off" onespine set 7
	run onespine set 7 --gang=spine@soon
	[[ $status == 2 ]]
	[[ $output == *soon* ]]
}

@test "tools/test --only: a word that no test's name holds is refused before anything is built, with the nearest" {
	run "$SOURCE/tools/test" --only core_optoins
	[[ $status == 1 && $output == *"--only core_optoins: no test's name holds that; the nearest: tests/slurm/core_options.bats "* ]]
	run "$SOURCE/tools/test" --only fitt
	[[ $status == 1 && $output == *'the nearest: tests/command/fit.bats '* ]]
}
