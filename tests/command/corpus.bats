#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# env --script on published job scripts: nothing "fatal" or "harmful" that is wrong, nothing fatal that is missed
#
# The table is printed by: ONESPINE=build/onespine tests/corpus/compare [--lines]

load helpers

CORPUS=$BATS_TEST_DIRNAME/../corpus

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	export HOME=$BATS_TEST_TMPDIR
	unset LD_LIBRARY_PATH VIRTUAL_ENV NCCL_CONF_FILE
}

@test "the texts are those that were published" {
	local name text sha256 kept=0
	while IFS=$'\t' read -r name _ _ text _ _ _ _ sha256; do
		[[ $name != '#'* && $text == kept ]] || continue
		echo "$sha256  $CORPUS/scripts/$name" | sha256sum --check --quiet
		kept=$((kept + 1))
	done <"$CORPUS/scripts.tsv"
	((kept >= 78))
	[[ $kept == "$(find "$CORPUS/scripts" -type f | wc -l)" ]]
}

@test "each verdict and correction is about a line of a script that the table names" {
	awk -F'\t' '
		FNR == NR { known[$1] = 1; next }
		/^#/ { next }
		NF != 5 || !($1 in known) || $2 !~ /^[0-9]+$/ || $3 !~ /^(fatal|harmful|obsolete|none)$/ || $5 == "" {
			print FILENAME ":" FNR ": " $0; bad = 1
		}
		END { exit bad }' "$CORPUS/scripts.tsv" "$CORPUS/verdicts.tsv" "$CORPUS/second.tsv" "$CORPUS/corrections.tsv"
}

@test "no fatal or harmful finding is wrong, and nothing fatal is missed" {
	command -v jq >/dev/null || skip 'jq is missing'
	run "$CORPUS/compare" --lines
	echo "$output" | sed 's/^/# /' >&3
	[[ $status == 0 && $output == *' scripts'* ]]
	diff <(tail -n 5 <<<"$output") <(table "$CORPUS/README.md" 78)
}

# table FILE SCRIPTS: the rows of one table of the README's
table() {
	sed -n "/^$2 scripts\$/,/^obsolete/p" "$1"
}

@test "the README's table of all scripts is what the command prints, and the fetched ones'" {
	command -v jq >/dev/null || skip 'jq is missing'
	local all fetched
	all=$(grep -vc '^#' "$CORPUS/scripts.tsv") fetched=$(grep -c $'\tfetched\t' "$CORPUS/scripts.tsv")
	if [[ ${ONESPINE_FETCHED-} ]]; then # a folder that tests/corpus/fetch has filled
		diff <("$CORPUS/compare" --fetched "$ONESPINE_FETCHED") <(table "$CORPUS/README.md" "$all")
	fi
	"$CORPUS/compare" >kept
	awk -v scripts="$all" '
		/ scripts$/ { sum += $1; next }
		/^ / { if (NR == 2) head = $0; next }
		{ for (i = 2; i <= NF; i++) cell[$1, i] += $i; if (!seen[$1]++) name[++rows] = $1 }
		END {
			printf "%d scripts\n%s\n", sum, head
			for (r = 1; r <= rows; r++) {
				printf "%-10s", name[r]
				for (i = 2; i <= 7; i++) printf(i < 7 ? "%10d" : "%13d\n", cell[name[r], i])
			}
		}' kept <(table "$CORPUS/README.md" "$fetched") >sum
	diff sum <(table "$CORPUS/README.md" "$all")
}
