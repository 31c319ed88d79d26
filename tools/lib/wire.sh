# SPDX-License-Identifier: GPL-2.0-or-later
# wire.sh - one node of a cluster in a network namespace of its own, on a wire that can be cut
#
# Uses the variables of tools/cluster: dir, names, port, wire (that node's name). All addresses are of
# 198.18.0.0/15, which is kept for tests of networks, one for each of the cluster's ports: the first is
# slurmctld's, the others are the nodes'.
# shellcheck shell=bash disable=SC2154

wire_name() {
	printf 'osp%d\n' "$port"
}

# wire_address PORT
wire_address() {
	printf '198.18.%d.%d\n' $(($1 >> 8)) $(($1 & 255))
}

lay_wire() {
	local link index own
	link=$(wire_name)
	need ip
	ip netns add "$link"
	ip link add "$link" type veth peer name eth0 netns "$link"
	ip address add "$(wire_address "$port")/32" dev "$link"
	ip link set "$link" up
	ip -n "$link" link set lo up
	for index in "${!names[@]}"; do
		own=$(wire_address $((port + 1 + index)))
		if [[ ${names[index]} == "$wire" ]]; then
			ip -n "$link" address add "$own/32" dev eth0
			ip route add "$own/32" dev "$link"
		else
			ip address add "$own/32" dev "$link"
		fi
	done
	mend_wire
}

cut_wire() {
	ip -n "$(wire_name)" link set eth0 down
}

# Its routes went with the link. No other address has one: where a name server of this machine's seemed to be
# within reach, slurmd from 23.11 on would await it for the name of whoever connects.
mend_wire() {
	ip -n "$(wire_name)" link set eth0 up
	ip -n "$(wire_name)" route replace 198.18.0.0/15 dev eth0
}

remove_wire() {
	ip link delete "$(wire_name)" 2>/dev/null || true
	ip netns delete "$(wire_name)" 2>/dev/null || true
}
