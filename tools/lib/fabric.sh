# SPDX-License-Identifier: GPL-2.0-or-later
# fabric.sh - which node is under which spine, read from a topology.conf, and jobs counted by it
# shellcheck shell=bash

# spine_table TOPOLOGY.CONF: "NODE SPINE" a line; a spine is a switch right above those with nodes
spine_table() {
	local line name list leaf
	local -A nodes_of=()
	while IFS= read -r line; do
		name=${line#SwitchName=}
		name=${name%% *}
		case $line in
		SwitchName=*' Nodes='*) nodes_of[$name]=${line##* Nodes=} ;;
		SwitchName=*' Switches='*)
			for leaf in $(hostlist_expand "${line##* Switches=}"); do
				list=${nodes_of[$leaf]:-}
				[[ -z $list ]] || hostlist_expand "$list" | sed "s/\$/ $name/"
			done
			;;
		esac
	done <"$1"
}

# spines_of TABLE HOSTLIST: the spines of these nodes, one a line
spines_of() {
	hostlist_expand "$2" | awk 'NR == FNR { spine[$1] = $2; next } { print spine[$1] }' "$1" - | sort -u
}

# count_started TABLE: "JOBS NODES STRADDLING" of the jobs that have nodes, asked of squeue
count_started() {
	local list jobs=0 nodes=0 straddling=0 count
	while read -r count list; do
		jobs=$((jobs + 1)) nodes=$((nodes + count))
		(($(spines_of "$1" "$list" | wc -l) < 2)) || straddling=$((straddling + 1))
	done < <(squeue -h -t RUNNING,CONFIGURING -o '%D %N')
	printf '%d %d %d\n' $jobs $nodes $straddling
}
