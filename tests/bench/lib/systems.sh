# SPDX-License-Identifier: GPL-2.0-or-later
# systems.sh - the systems that are compared
# shellcheck shell=bash disable=SC2034,SC2154

SYSTEMS=(22.05-tree 22.05-switches 22.05-constraint 22.05-onespine 22.05-onespine-tree
	25.11-tree 25.11-block 25.11-switches1 25.11-onespine
	26.05-tree 26.05-block 26.05-switches1 26.05-onespine)

# Where --shared is measured, when nothing else is said.
SHARED_SYSTEMS=(22.05-tree 22.05-onespine 25.11-tree 25.11-onespine)

# Slurm's select plugin takes at most so many alternatives in one [a|b].
CONSTRAINT_SPINES_MAX=64

# system NAME: sets title, release, stock, topology (names of files in work/), features, words (for
# sbatch), overlay (nodes of a domain beside the tree; 0: none), extra (nodes have an Extra, and jobs ask for one)
# and unfit (why it cannot run on this fabric)
system() {
	release=$(exact_release "${1%%-*}") stock=1 topology=(tree.conf) features=0 words=() unfit='' overlay=0 extra=0
	case $1 in
	22.05-tree | 24.11-tree | 25.11-tree | 26.05-tree) title="$release topology/tree" ;;
	25.11-switches1 | 26.05-switches1)
		# one leaf, which a job larger than a leaf cannot have: it waits for the time that it says
		title="$release topology/tree, \`--switches=1@5:00\`"
		words=(--switches=1@5:00)
		;;
	22.05-switches)
		# as many leaves as the largest job needs
		local switches=$(((64 * ${times:-1} + ${leaf_nodes:-16} - 1) / ${leaf_nodes:-16}))
		title="$release topology/tree, \`--switches=$switches\`"
		words=("--switches=$switches")
		;;
	22.05-constraint)
		title="$release topology/tree, \`--constraint=[s0|s1|...]\`"
		features=1
		[[ -r ${work:-}/spines ]] || return 0
		words=("--constraint=[$(cut -d' ' -f1 "$work/spines" | paste -sd'|')]")
		(($(wc -l <"$work/spines") <= CONSTRAINT_SPINES_MAX)) ||
			unfit="at most $CONSTRAINT_SPINES_MAX alternatives"
		;;
	22.05-onespine | 24.11-onespine | 25.11-onespine | 26.05-onespine)
		title="$release **Onespine**, \`--gang\`"
		stock=0 topology=(onespine.topology) words=(--gang)
		;;
	25.11-extra | 26.05-extra)
		title="$release **Onespine**, \`--gang --extra='kind=h100&rack>=1'\`"
		stock=0 extra=1 topology=(onespine.topology) words=(--gang "--extra=kind=h100&rack>=1")
		;;
	25.11-tree-extra | 26.05-tree-extra)
		title="$release topology/tree, \`--extra='kind=h100&rack>=1'\`"
		extra=1 words=("--extra=kind=h100&rack>=1")
		;;
	22.05-overlay | 25.11-overlay | 26.05-overlay)
		# NVLink domains across leaves and spines: a job that has room in one asks for one, others for segments of four
		title="$release **Onespine**, \`--gang=nvlink\` beside the tree, or \`--gang-segment=nvlink:4\`"
		stock=0 topology=(overlay/onespine.topology) overlay=$OVERLAY_NODES
		[[ -z ${fabric:-} ]] || unfit="it has no level beside the tree"
		;;
	22.05-onespine-tree | 25.11-onespine-tree | 26.05-onespine-tree)
		title="$release **Onespine**, \`--gang\`, topology/tree beside it"
		stock=0 topology=(onespine.topology tree.conf) words=(--gang)
		;;
	24.11-block | 25.11-block | 26.05-block)
		title="$release topology/block, blocks of 16 to 256"
		topology=(block.conf)
		[[ -z ${fabric:-} ]] || unfit="its leaves are no blocks"
		;;
	*) return 1 ;;
	esac
}
