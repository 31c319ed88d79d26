#!/usr/bin/env zsh
# SPDX-License-Identifier: GPL-2.0-or-later
# complete.zsh - what a real shell on a terminal makes of lines when TAB is pressed
#
# usage: complete.zsh bash|zsh FOLDER LINE...
#
# FOLDER holds the completion scripts (onespine and _onespine) and is the shell's; its files out and
# ready are written. Prints each line as it stands after TAB.
zmodload zsh/zpty || exit 2
shell=$1 folder=$2
shift 2
cd $folder || exit 2
rm -f out ready
: >out

# pass: what the shell shows is thrown away, for its terminal must not fill
pass() {
	local shown
	while zpty -r -t shell shown; do :; done
}

# until_is COMMAND...: ten seconds at most
until_is() {
	local end=$((SECONDS + 10))
	until "$@"; do
		((SECONDS < end)) || { print -u2 "$shell: no $*"; zpty -d shell; exit 1 }
		pass
		sleep 0.02
	done
}

has_lines() {
	(($(wc -l <out) >= $1))
}

if [[ $shell == zsh ]]; then
	zpty shell 'TERM=dumb zsh -f -i'
	zpty -w shell 'PS1=; fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D; setopt no_list_beep no_auto_menu'
	zpty -w shell 'tell() { zle complete-word; print -r -- $BUFFER >>out; BUFFER= }; zle -N tell; bindkey "^T" tell; : >ready'
	key=$'\x14'
else
	zpty shell 'TERM=dumb bash --norc --noprofile -i'
	zpty -w shell 'PS1=; bind "set bell-style none"; . ./onespine'
	zpty -w shell 'tell() { printf "%s\n" "$READLINE_LINE" >>out; READLINE_LINE= READLINE_POINT=0; }; bind -x "\"\C-t\": tell"; : >ready'
	key=$'\t\x14'
fi
until_is test -e ready
number=0
for line in "$@"; do
	zpty -w -n shell $line$key
	until_is has_lines $((++number))
done
zpty -d shell
print -r -- "$(<out)"
