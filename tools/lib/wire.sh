# SPDX-License-Identifier: GPL-2.0-or-later
# wire.sh - nodes of a cluster in network namespaces of their own, on wires that can be cut
#
# Uses the variables of tools/cluster: dir, names, port, wired (the names of those nodes). All addresses are of
# 198.18.0.0/15, which is kept for tests of networks, one for each of the cluster's ports: the first is
# slurmctld's, the others are the nodes'. A bridge joins the wires; it and each wire are named by their port.
# shellcheck shell=bash disable=SC2154

# wire_name PORT: of the bridge (slurmctld's port), or of a node's namespace and link
wire_name() {
	printf 'osp%d\n' "$1"
}

# wire_address PORT
wire_address() {
	printf '198.18.%d.%d\n' $(($1 >> 8)) $(($1 & 255))
}

# node_port NAME
node_port() {
	local index
	for index in "${!names[@]}"; do
		[[ ${names[index]} != "$1" ]] || printf '%d\n' $((port + 1 + index))
	done
}

is_wired() {
	[[ " ${wired[*]} " == *" $1 "* ]]
}

lay_wires() {
	local bridge name own
	bridge=$(wire_name "$port")
	need ip
	ip link add "$bridge" type bridge
	ip address add "$(wire_address "$port")/32" dev "$bridge"
	ip link set "$bridge" up
	for name in "${names[@]}"; do
		own=$(wire_address "$(node_port "$name")")/32
		if is_wired "$name"; then
			lay_wire "$name" "$own" "$bridge"
		else
			ip address add "$own" dev "$bridge"
		fi
	done
}

# lay_wire NAME ADDRESS BRIDGE
lay_wire() {
	local link
	link=$(wire_name "$(node_port "$1")")
	ip netns add "$link"
	ip link add "$link" type veth peer name eth0 netns "$link"
	ip link set "$link" master "$3" up
	ip -n "$link" link set lo up
	ip -n "$link" address add "$2" dev eth0
	ip route add "$2" dev "$3"
	mend_wire "$1"
}

cut_wire() {
	ip -n "$(wire_name "$(node_port "$1")")" link set eth0 down
}

# Its routes went with the link. No other address has one: where a name server of this machine's seemed to be
# within reach, slurmd from 23.11 on would await it for the name of whoever connects.
mend_wire() {
	local link
	link=$(wire_name "$(node_port "$1")")
	ip -n "$link" link set eth0 up
	ip -n "$link" route replace 198.18.0.0/15 dev eth0
}

remove_wires() {
	local name link
	for name in "${wired[@]}"; do
		link=$(wire_name "$(node_port "$name")")
		ip link delete "$link" 2>/dev/null || true
		ip netns delete "$link" 2>/dev/null || true
	done
	ip link delete "$(wire_name "$port")" 2>/dev/null || true
}
