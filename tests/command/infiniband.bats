#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# topology from a real ibnetdiscover on a fabric that ibsim simulates
# shellcheck disable=SC2154 # stderr is bats's

load helpers
bats_require_minimum_version 1.5.0

setup() {
	if ! command -v ibsim >/dev/null || ! sweeper=$(PATH=$PATH:/usr/sbin command -v ibnetdiscover); then
		skip "ibsim or infiniband-diags is not here"
	fi
	library=$(find /usr/lib* -path '*umad2sim/libumad2sim.so' -print -quit 2>/dev/null)
	[[ $library ]] || skip "libumad2sim is not here"
	cd "$BATS_TEST_TMPDIR" || return
	export IBSIM_SOCKNAME=onespine-$$
	mkdir bin
	PATH=$PWD/bin:$PATH
	mkfifo console
	net >net
	simulate H-0000000000400000
	seq 16 | sed 's|.*|n& n&|' >map
}

# simulate ADAPTER: the fabric of the file net, swept from that adapter
simulate() {
	# umad2sim makes its files in the working folder
	printf '#!/bin/sh\nSIM_HOST=%s LD_PRELOAD=%s exec %s "$@" 2>>%s/sweep.said\n' "$1" "$library" "$sweeper" "$PWD" >bin/ibnetdiscover
	chmod 755 bin/ibnetdiscover
	ibsim -s net <console >ibsim.said 2>&1 3>&- &
	ibsim_pid=$!
	exec {console}>console
	await_while "$ibsim_pid" swept
}

swept() {
	ibnetdiscover >sweep && [[ -s sweep ]]
}

teardown() {
	end_simulation
}

end_simulation() {
	[[ -z ${ibsim_pid-} ]] || { kill "$ibsim_pid"; wait "$ibsim_pid" || true; } 2>/dev/null
	ibsim_pid=
}

# net: a fat tree of three levels and eight rails: 2 pods of 2 units of 4 hosts, a leaf for each rail of a unit, a spine
# for each rail of a pod, 2 cores
net() {
	awk 'BEGIN {
		for (host = 0; host < 16; host++) for (rail = 0; rail < 8; rail++) {
			unit = int(host / 4)
			printf "caguid=0x4%02x%x00\nCa 1 \"H-00000000004%02x%x00\" # \"n%d mlx5_%d\"\n[1] \"S-00000000001%02x%x00\"[%d]\n\n", host, rail, host, rail, host + 1, rail, unit, rail, host % 4 + 1
		}
		for (unit = 0; unit < 4; unit++) for (rail = 0; rail < 8; rail++) {
			printf "switchguid=0x1%02x%x00\nSwitch 8 \"S-00000000001%02x%x00\" # \"leaf\"\n", unit, rail, unit, rail
			for (host = 0; host < 4; host++) printf "[%d] \"H-00000000004%02x%x00\"[1]\n", host + 1, unit * 4 + host, rail
			printf "[5] \"S-00000000002%02x%x00\"[%d]\n\n", int(unit / 2), rail, unit % 2 + 1
		}
		for (pod = 0; pod < 2; pod++) for (rail = 0; rail < 8; rail++) {
			printf "switchguid=0x2%02x%x00\nSwitch 8 \"S-00000000002%02x%x00\" # \"spine\"\n", pod, rail, pod, rail
			for (unit = 0; unit < 2; unit++) printf "[%d] \"S-00000000001%02x%x00\"[5]\n", unit + 1, pod * 2 + unit, rail
			for (core = 0; core < 2; core++) printf "[%d] \"S-00000000003%02x000\"[%d]\n", core + 3, core, pod * 8 + rail + 1
			print ""
		}
		for (core = 0; core < 2; core++) {
			printf "switchguid=0x3%02x000\nSwitch 16 \"S-00000000003%02x000\" # \"core\"\n", core, core
			for (pod = 0; pod < 2; pod++) for (rail = 0; rail < 8; rail++) printf "[%d] \"S-00000000002%02x%x00\"[%d]\n", pod * 8 + rail + 1, pod, rail, core + 3
			print ""
		}
	}'
}

# unlink_port SWITCH PORT: a cable is pulled while ibsim runs
unlink_port() {
	echo "Unlink \"$1\"[$2]" >&"$console"
	await_while "$ibsim_pid" unlinked "$@"
}

unlinked() {
	! ibnetdiscover | awk -v id="\"$1\"" -v port="[$2]" \
		'/^(Switch|Ca)/ { here = index($0, id) } here && index($0, port) == 1 { found = 1 } END { exit !found }'
}

@test "a fat tree of three levels and eight rails; -p says the same, and so does one in which rails of a host are swapped, which is named" {
	expect_line 0 "16 nodes: 4 leaves of 4, 2 spines of 8, 1 core of 16" onespine topology show <(onespine topology import --from=infiniband sweep)
	ibnetdiscover -p >ports
	cmp <(onespine topology import --from=infiniband sweep) <(onespine topology import --from=infiniband ports)
	sed 's/"n1 mlx5_0"/"n1 mlx5_x"/; s/"n1 mlx5_1"/"n1 mlx5_0"/; s/"n1 mlx5_x"/"n1 mlx5_1"/' sweep >swapped
	run ! cmp -s sweep swapped
	onespine topology import --from=infiniband swapped >same 2>said
	cmp <(onespine topology import --from=infiniband sweep) same
	[[ $(<said) == "onespine: warning: rails are swapped by the cables of n1: n1's mlx5_0 is on switch S-0000000000100100, where most hosts have mlx5_1; the place is the same" ]]
}

sees_itself_alone() {
	! ibnetdiscover | grep -q '^Switch'
}

@test "it is swept by itself; a rail's cable changes nothing, a unit without its cables is held, and a sweeping host without its own is refused" {
	onespine topology discover --from=infiniband --nodes=map -o t
	expect_line 0 "16 nodes: 4 leaves of 4, 2 spines of 8, 1 core of 16" onespine topology show t
	grep -q '{"source": "infiniband", "nodes": "n\[1-16\]"}' t
	cp t first
	unlink_port S-0000000000100100 5
	expect 0 "unchanged: 16 nodes have a place; 0 gained one, 0 lost theirs, 0 moved" onespine topology discover --from=infiniband --nodes=map -o t
	cmp t first
	for rail in 0 1 2 3 4 5 6 7; do
		unlink_port "S-0000000000103${rail}00" 5
	done
	run -3 --separate-stderr onespine topology discover --from=infiniband --nodes=map -o t
	[[ $stderr == *"4 of 16 nodes that run lose their place (n13 is the first); max_lost is 10 %"* ]]
	cmp t first
	echo 'Unlink "H-0000000000400000"[1]' >&"$console"
	await_while "$ibsim_pid" sees_itself_alone
	run -1 --separate-stderr onespine topology discover --from=infiniband --nodes=map -o t
	[[ $stderr == *"no link between 1 device"* ]]
	cmp t first
}

@test "the recorded fabric of 40 switches, simulated and swept: 8 units and 1 spine, and the same file as from the record" {
	end_simulation
	exec {console}>&-
	gzip -dc "$SOURCE/tests/data/infiniband/ibnetdiscover-40-switches.out.gz" >net
	simulate H-e09d7303007a4bd8
	onespine topology import --from=infiniband -o t sweep 2>said
	expect_line 0 "121 nodes: 8 leaves of 10 to 18, 1 spine of 121" onespine topology show t
	cmp t <(onespine topology import --from=infiniband net 2>/dev/null)
	[[ $(<said) == *"rails are swapped by the cables of b08-p1-dgx-08-c01: "* ]]
}
