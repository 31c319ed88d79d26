# SPDX-License-Identifier: GPL-2.0-or-later
# judge.awk - how well running jobs are placed
#
# Reads the map (node, leaf, spine) and then the running jobs (id, size, hostlist); leaf_nodes is the
# size of the largest leaf. Prints one line of key=value.

function add(name) {
	if (!(name in leaf)) {
		print "judge: the fabric has no node " name >"/dev/stderr"
		bad = 1
	}
	nodes++
	if (!((leaf[name], FNR) in leaf_seen)) {
		leaf_seen[leaf[name], FNR] = 1
		leaves++
	}
	if (!((spine[name], FNR) in spine_seen)) {
		spine_seen[spine[name], FNR] = 1
		job_spines++
	}
}

# A hostlist with at most one bracket a name, at the end of it: as squeue prints them.
function each(list,    at, letter, depth, word) {
	for (at = 1; at <= length(list) + 1; at++) {
		letter = at > length(list) ? "," : substr(list, at, 1)
		depth += (letter == "[") - (letter == "]")
		if (letter != "," || depth) {
			word = word letter
			continue
		}
		expand(word)
		word = ""
	}
}

function expand(word,    open, stem, parts, count, i, ends, n) {
	open = index(word, "[")
	if (!open) {
		add(word)
		return
	}
	stem = substr(word, 1, open - 1)
	count = split(substr(word, open + 1, length(word) - open - 1), parts, ",")
	for (i = 1; i <= count; i++) {
		if (split(parts[i], ends, "-") == 1)
			ends[2] = ends[1]
		for (n = ends[1] + 0; n <= ends[2] + 0; n++)
			add(stem sprintf("%0" length(ends[1]) "d", n))
	}
}

FNR == NR {
	leaf[$1] = $2
	spine[$1] = $3
	next
}

{
	job_spines = 0
	before = nodes
	each($3)
	if (nodes - before != $2) {
		print "judge: job " $1 " has " nodes - before " nodes, not " $2 >"/dev/stderr"
		bad = 1
	}
	started++
	straddling += job_spines > 1
	least += int(($2 + leaf_nodes - 1) / leaf_nodes)
}

END {
	printf "straddling=%d started=%d nodes=%d leaves=%d least=%d", straddling, started, nodes, leaves, least
	exit bad
}
