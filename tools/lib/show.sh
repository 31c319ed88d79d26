# SPDX-License-Identifier: GPL-2.0-or-later
# show.sh - how tools/try says what it does: one line a step, colours on a terminal only
# shellcheck shell=bash

if [[ -t 1 && -z ${NO_COLOR:-} ]]; then
	BOLD=$'\e[1m' GOOD=$'\e[32m' BAD=$'\e[31m' DIM=$'\e[2m' PLAIN=$'\e[0m'
else
	BOLD='' GOOD='' BAD='' DIM='' PLAIN=''
fi

STEP=0

# step WORDS: the next numbered line
step() {
	STEP=$((STEP + 1))
	printf '\n%s%d  %s%s\n' "$BOLD" $STEP "$*" "$PLAIN"
}

# told WORDS; good WORDS; bad WORDS: what was seen, below the step
told() {
	printf '   %s\n' "$*"
}

good() {
	printf '   %s%s%s\n' "$GOOD" "$*" "$PLAIN"
}

bad() {
	printf '   %s%s%s\n' "$BAD" "$*" "$PLAIN"
}

# progress [WORDS]: a line that the next one, or nothing, replaces; for people who watch
progress() {
	[[ ! -t 2 ]] || printf '\r\e[K%s' "${*:+   $*}" >&2
}

# typed COMMAND...: a command as a user would type it
typed() {
	printf '   %s$ %s%s\n' "$DIM" "$*" "$PLAIN"
}

# indented COMMAND...: its output as part of the step
indented() {
	"$@" 2>&1 | sed 's/^/   /'
}
