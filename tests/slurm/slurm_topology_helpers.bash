# SPDX-License-Identifier: GPL-2.0-or-later
#
# slurm_topology_helpers.bash - a fabric that a watch reads, and what Slurm's Topology= has of it

# fabric [NODES [NODES]]: what a watch reads; n[1-3] and n[4-6] under a spine each
fabric() {
	cat >"$ONESPINE_CLUSTER/told.conf.new" <<-END
		SwitchName=s1 Switches=l1
		SwitchName=s2 Switches=l2
		SwitchName=l1 Nodes=${1:-n[1-3]}
		SwitchName=l2 Nodes=${2:-n[4-6]}
	END
	mv "$ONESPINE_CLUSTER/told.conf.new" "$ONESPINE_CLUSTER/told.conf"
}

# slurm_has NODE TOPOLOGY: what Slurm says of the node, and whether its tree has it there
slurm_has() {
	[[ $(scontrol -o show node "$1") =~ \ Topology=([^ ]*) ]] && [[ ${BASH_REMATCH[1]} == "$2" ]]
}
