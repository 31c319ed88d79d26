#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# what somebody else wrote, in a file, in its name or in an argument, comes out clean of every command that reads it

load helpers

# a terminal's escapes, a line of its own, C1 controls, a turn of direction, the end of a line, bytes of no UTF-8, and
# what means something in XML, HTML and JSON
EVIL=$'a\e]0;owned\a\e[31mb\nonespine: forged\rc\xc2\x9b2Jd\xe2\x80\xaee\xe2\x80\xa8f\xff\xfe\xed\xa0\x80<g>&"\\\''

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	one_line=${EVIL//$'\n'/}
	{
		echo '#!/bin/bash'
		for option in job-name comment gang partition constraint output account reservation mail-user container; do
			printf '#SBATCH --%s=%s\n' "$option" "$one_line"
		done
		printf 'export %s="%s"\n' NCCL_SOCKET_IFNAME "$EVIL" NCCL_PROTO "$EVIL" FI_PROVIDER "$EVIL" \
			LD_LIBRARY_PATH "/x/$EVIL" "NCCL_$one_line" 1
		printf 'srun --container-image=%s torchrun %s\nmpirun -x %s\nsource %s\n' "$one_line" "$one_line" "$one_line" \
			"$one_line"
		echo 'export NCCL_P2P_DISABLE=1'
	} >"$EVIL"
	# and files that are right, but for their names and the names in them
	data=$BATS_TEST_DIRNAME/../data
	sed 's/mlx5_[0-9]/m\xc2\x9b2J\xe2\x80\xae\&lt;g\&gt;\&amp;\&quot;/' "$data/bind/dgx-a100.xml" >"$EVIL.xml"
	cp "$data/topology/tree.topology" "$EVIL.topology"
	echo 'defaults: {gang: off}' >"$EVIL.yaml"
}

# clean FILE WHAT: UTF-8, nothing that a terminal obeys, no forged line
clean() {
	local dirt='[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]'
	if ! iconv -f UTF-8 -t UTF-8 "$1" >/dev/null || LC_ALL=C grep -aqP "$dirt" "$1" ||
		grep -aq '^onespine: forged' "$1"; then
		printf 'not clean: %s\n' "$2"
		cat -v "$1" | head -20
		return 1
	fi
}

# Each row: words with FILE where the name of the evil file stands, and EVIL where the text itself does.
ROWS='
topology check FILE
topology show FILE
topology import --from=slurm FILE
topology import --from=csv FILE
topology import --from=EVIL FILE
topology check EVIL.none
config check FILE
config show FILE
layout --state=FILE
layout EVIL
layout --EVIL
bind --topology=FILE
bind --topology=EVIL.xml
bind --topology=EVIL.xml --svg=-
bind --EVIL
topology check EVIL.topology
topology show EVIL.topology
config check EVIL.yaml
config show EVIL.yaml
bind EVIL
hosts EVIL
hosts --state=FILE
history EVIL
history --EVIL
fit --state=FILE -N 2
fit --level=EVIL -N 2
fit -N EVIL
map --state=FILE
map --EVIL
map -p EVIL
audit EVIL
audit --state=FILE
why EVIL
why --state=FILE 1
set EVIL
check EVIL
check --only=EVIL
check --depth=EVIL
doctor EVIL
doctor --EVIL
help EVIL
completion EVIL
EVIL
topology EVIL
env EVIL
env --for=EVIL
env --with=EVIL
env --with=nccl=EVIL
env --script FILE
env --script EVIL.none
env --for=p5.48xlarge --script FILE
'

@test "every command says clean what others wrote, as text and as JSON" {
	failed=0 count=0
	while read -r row; do
		[[ -n $row ]] || continue
		for more in '' --json; do
			# shellcheck disable=SC2206 # words
			words=($row $more)
			words=("${words[@]//FILE/./$EVIL}")
			words=("${words[@]//EVIL/$EVIL}")
			status=0
			onespine "${words[@]}" >out 2>err </dev/null || status=$?
			((status <= 2)) || fail "$row $more: status $status"
			[[ -s out || -s err ]] || fail "$row $more said nothing"
			for stream in out err; do
				clean "$stream" "$row $more: $stream" || failed=$((failed + 1))
			done
			if [[ -n $more && -s out ]] && ! jq -e . out >/dev/null; then
				echo "no JSON: $row"
				failed=$((failed + 1))
			fi
			count=$((count + 1))
		done
	done <<<"$ROWS"
	((count > 80))
	((failed == 0))
}

# every option that takes a value, of every command, as its own help has them: COMMAND --OPTION
option_rows() {
	local command options option
	onespine help | sed -n '/^Commands$/,/^$/s/^  \([a-z]\+\( [a-z]\+\)\?\)  .*/\1/p' | grep -vx 'help\|completion' |
		while read -r command; do
			# shellcheck disable=SC2086 # one word or two
			options=$(onespine help $command | grep -oE '^  (-[A-Za-z], )?--[a-z-]+(=|\[=)' | grep -oE -- '--[a-z-]+' || true)
			for option in $options; do
				printf '%s %s\n' "$command" "$option"
			done
		done
}

# The commands that look at this host look at an empty folder.
@test "every option of every command says clean what its value is" {
	failed=0 count=0
	mkdir root
	export ONESPINE_TEST_ROOT=$PWD/root
	while read -r row; do
		read -r -a words <<<"$row"
		words[-1]+='='
		for value in "$EVIL" $'1\e[2J' $'leaf:\e[2J'; do
			status=0
			timeout 60 "$ONESPINE" "${words[@]:0:${#words[@]}-1}" "${words[-1]}$value" >out 2>err </dev/null || status=$?
			((status <= 2)) || fail "$row: status $status"
			for stream in out err; do
				clean "$stream" "$row: $stream" || failed=$((failed + 1))
			done
			count=$((count + 1))
		done
	done < <(option_rows)
	((count > 150)) || fail "only $count were tried"
	((failed == 0))
}

@test "a machine's picture is UTF-8 and XML, whatever its file and its devices are called" {
	onespine bind "--topology=$EVIL.xml" --svg=machine.svg
	clean machine.svg 'bind --svg'
	python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' machine.svg
	grep -q 'm?2J?&lt;g&gt;&amp;&quot;' machine.svg || fail 'no device is named there'
}

fail() {
	echo "$*"
	return 1
}
