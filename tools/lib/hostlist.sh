# SPDX-License-Identifier: GPL-2.0-or-later
# hostlist.sh - Slurm's hostlists without a Slurm: n[1-4,7]a,login <-> one name a line
# shellcheck shell=bash

# hostlist_expand HOSTLIST: one name a line; several brackets in a name are allowed
hostlist_expand() {
	awk -v list="$1" '
	function expand(word,    open, close_, before, after, parts, count, i, ends, width, n) {
		open = index(word, "[")
		if (!open) {
			print word
			return
		}
		close_ = index(word, "]")
		if (close_ < open)
			exit 1
		before = substr(word, 1, open - 1)
		after = substr(word, close_ + 1)
		count = split(substr(word, open + 1, close_ - open - 1), parts, ",")
		for (i = 1; i <= count; i++) {
			if (split(parts[i], ends, "-") == 1)
				ends[2] = ends[1]
			if (ends[1] !~ /^[0-9]+$/ || ends[2] !~ /^[0-9]+$/)
				exit 1
			width = length(ends[1])
			for (n = ends[1] + 0; n <= ends[2] + 0; n++)
				expand(before sprintf("%0" width "d", n) after)
		}
	}
	BEGIN {
		depth = 0
		word = ""
		for (at = 1; at <= length(list); at++) {
			letter = substr(list, at, 1)
			depth += (letter == "[") - (letter == "]")
			if (letter == "," && !depth) {
				if (word != "")
					expand(word)
				word = ""
			} else {
				word = word letter
			}
		}
		if (depth)
			exit 1
		if (word != "")
			expand(word)
	}'
}

# hostlist_compress: one name a line in, a hostlist out; runs in the order given
hostlist_compress() {
	awk '
	function flush() {
		if (prefix == "" && first == "")
			return
		piece = first == "" ? "" : last == first + 0 ? first : first "-" sprintf("%0" length(first) "d", last)
		if (prefix == group && first != "" && out != "") {
			out = substr(out, 1, length(out) - 1) "," piece "]"
		} else {
			out = out (out == "" ? "" : ",") prefix (first == "" ? "" : "[" piece "]")
			group = first == "" ? "\n" : prefix
		}
	}
	BEGIN { group = "\n" }
	{
		number = match($0, /[0-9]+$/) ? substr($0, RSTART) : ""
		if (length(number) > 9)
			number = substr(number, length(number) - 8)
		stem = substr($0, 1, length($0) - length(number))
		if (number != "" && stem == prefix && first != "" && number + 0 == last + 1 &&
		    sprintf("%0" length(first) "d", number + 0) == number) {
			last = number + 0
			next
		}
		flush()
		prefix = stem
		first = number
		last = number + 0
	}
	END {
		flush()
		print out
	}'
}
