# SPDX-License-Identifier: GPL-2.0-or-later
# fabric.sh - the fabric of a run: as onespine.topology, as topology.conf, and as a map for the judge
#
# Uses nodes, times, fabric and work of tests/bench/bench. Writes work/onespine.topology, the same with NVLink domains
# that cross it (work/overlay/onespine.topology), work/tree.conf, work/block.conf, work/map (a line for each node: its name,
# leaf and spine) and work/spines (a line for each spine: its name and nodes).
# shellcheck shell=bash disable=SC2034,SC2154

LEAF_NODES=16
SPINE_LEAVES=16
OVERLAY_NODES=18 # of an NVL72, so that they cross leaves and spines

make_fabric() {
	if [[ -n $fabric ]]; then
		import_fabric
	else
		uniform_fabric
	fi
	fabric_map <"$work/onespine.topology" >"$work/map"
	awk '{ print $3, $1 }' "$work/map" | spine_lines >"$work/spines"
	leaf_nodes=$(awk '{ n[$2]++ } END { for (l in n) if (n[l] > most) most = n[l]; print most }' \
		"$work/map")
}

# Spines of 16 leaves of 16 nodes (--times as many), n0001 on.
uniform_fabric() {
	local width=${#nodes}
	((width >= 4)) || width=4
	awk -v nodes="$nodes" -v width="$width" -v leaf="$((LEAF_NODES * times))" -v leaves="$SPINE_LEAVES" '
	function range(first,    format) {
		format = "n[%0" width "d-%0" width "d]"
		return sprintf(format, first, first + leaf - 1)
	}
	BEGIN {
		print "{\"onespine-topology\": 1, \"levels\": [\"leaf\", \"spine\"], \"domains\": ["
		for (spine = 0; spine < nodes / leaf / leaves; spine++) {
			printf "%s{\"level\": \"spine\", \"name\": \"s%d\"}", spine ? ",\n" : "", spine
			for (l = spine * leaves; l < (spine + 1) * leaves; l++)
				printf ",\n{\"level\": \"leaf\", \"name\": \"l%d\", \"in\": \"s%d\", \"nodes\": \"%s\"}", l, spine, range(l * leaf + 1)
		}
		print "\n]}"
	}' >"$work/onespine.topology"
	mkdir -p "$work/overlay"
	awk -v nodes="$nodes" -v width="$width" -v size="$((OVERLAY_NODES * times))" '
	/^\]}/ {
		for (v = 0; v * size < nodes; v++)
			printf ",\n{\"level\": \"nvlink\", \"name\": \"v%d\", \"nodes\": \"n[%0" width "d-%0" width "d]\"}",
				v, v * size + 1, (v + 1) * size < nodes ? (v + 1) * size : nodes
	}
	{ sub(/"domains"/, "\"overlays\": [\"nvlink\"], \"domains\""); print }' \
		"$work/onespine.topology" >"$work/overlay/onespine.topology"
	awk -v nodes="$nodes" -v width="$width" -v leaf="$((LEAF_NODES * times))" -v leaves="$SPINE_LEAVES" \
		-v work="$work" '
	BEGIN {
		tree = work "/tree.conf"
		block = work "/block.conf"
		format = "Nodes=n[%0" width "d-%0" width "d]\n"
		spines = nodes / leaf / leaves
		for (l = 0; l < spines * leaves; l++) {
			range = sprintf(format, l * leaf + 1, (l + 1) * leaf)
			printf "SwitchName=l%d %s", l, range >tree
			printf "BlockName=b%d %s", l, range >block
		}
		for (spine = 0; spine < spines; spine++)
			printf "SwitchName=s%d Switches=l[%d-%d]\n", spine, spine * leaves, (spine + 1) * leaves - 1 >tree
		printf "SwitchName=core Switches=s[0-%d]\n", spines - 1 >tree
		for (size = leaf; size <= leaf * leaves; size *= 2)
			sizes = sizes (sizes ? "," : "BlockSizes=") size
		print sizes >block
	}'
}

import_fabric() {
	local onespine=${prefix_of[22.05]:-$(prefix_folder 22.05)}/bin/onespine
	[[ -x $onespine ]] || die "--fabric needs the command onespine ($onespine): --prefix"
	"$onespine" topology import --from csv "$fabric" --to onespine -o "$work/onespine.topology"
	"$onespine" topology import --from csv "$fabric" --to topology.conf -o "$work/tree.conf"
}

# fabric_map: an onespine.topology in; a line for each node out: its name, leaf and spine
fabric_map() {
	local leaf spine list
	tr '\n' ' ' | tr '{' '\n' | awk '
	function value(key) {
		if (!match($0, "\"" key "\"[ ]*:[ ]*\"[^\"]*\""))
			return ""
		text = substr($0, RSTART, RLENGTH)
		sub(/"$/, "", text)
		sub(/.*"/, "", text)
		return text
	}
	value("nodes") != "" { print value("name"), value("in"), value("nodes") }' |
		while read -r leaf spine list; do
			hostlist_expand "$list" | awk -v rest="$leaf $spine" '{ print $1, rest }'
		done
}

# spine_lines: "spine node" lines in, "spine hostlist" out
spine_lines() {
	local spine file=$work/spine-nodes
	cat >"$file"
	awk '!seen[$1]++ { print $1 }' "$file" | while read -r spine; do
		printf '%s %s\n' "$spine" \
			"$(awk -v spine="$spine" '$1 == spine { print $2 }' "$file" | hostlist_compress)"
	done
}
