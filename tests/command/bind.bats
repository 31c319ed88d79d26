#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# onespine bind: plans of made and recorded machines against golden output, and children really bound

# shellcheck disable=SC2016 # what sh -c is to expand

bats_require_minimum_version 1.5.0
load helpers

setup() {
	cd "$FILES/bind" || return
	onespine bind --topology ndv4.xml >/dev/null || skip "this build lacks hwloc or expat"
}

# the recorded machines' folder, or a skip
shared() {
	local folder=${ONESPINE_SHARED_DATA:-$SOURCE/../shared/data}
	[[ -d $folder/hwloc ]] || skip "$folder/hwloc is not there (ONESPINE_SHARED_DATA says where)"
	cd "$folder" || return
}

@test "made machines: the plan, word for word" {
	for file in *.xml; do
		diff "${file%.xml}.txt" <(onespine bind --topology "$file")
	done
}

@test "made machines: the picture and JSON, byte by byte" {
	onespine bind --topology dgx-a100.xml --tasks 6 --cpuset 0-120 --svg "$BATS_TEST_TMPDIR/dgx.svg"
	diff dgx-a100.svg "$BATS_TEST_TMPDIR/dgx.svg"
	diff gb200.json <(onespine bind --topology gb200.xml --json)
}

@test "recorded machines: the plan, word for word" {
	shared
	for file in nccl-topology/*.xml hwloc/*.xml; do
		golden=$FILES/bind/recorded/${file##*/}
		diff "${golden%.xml}.txt" <(onespine bind --topology "$file" 2>&1)
	done
}

# typed TYPE WORDS...: the plan for that type
typed() {
	local type=$1
	shift
	onespine bind --data="$SOURCE/etc" --site=/nowhere --for "$type" "$@"
}

@test "--for: the plan of a type of the catalogue, and what of it is assumed" {
	typed p5.48xlarge >"$BATS_TEST_TMPDIR/said"
	grep -qx 'p5.48xlarge: 2 NUMA nodes, 96 cores, 192 CPUs, 8 GPUs, 32 NICs' "$BATS_TEST_TMPDIR/said"
	grep -q '^4     48-59,144-155  1       4 ' "$BATS_TEST_TMPDIR/said"
	grep -qx 'this is the plan of a p5.48xlarge from the catalogue, not from a machine: 192 CPUs on 2 NUMA nodes, GPUs and NICs dealt out to them in order; bus ids are made up.' \
		"$BATS_TEST_TMPDIR/said"
	[[ $(typed p5.48xlarge --tasks 4 --cpuset 0-7 --json | jq -r '.tasks | length') == 4 ]]
	[[ $(typed g5.12xlarge --json | jq -r .assumed) == *'48 CPUs on 1 NUMA node (it does not say how many), GPUs and NICs dealt out to them in order, which is assumed; bus ids are made up' ]]
	[[ $(typed p6e-gb200.36xlarge) == *'each core has one hardware thread'* ]]
	expect 2 "onespine: the catalogue has no type 'p5.48xlareg'; did you mean p5.48xlarge?" typed p5.48xlareg
	onespine bind --topology ndv4.xml --json | jq -e 'has("assumed") | not' >/dev/null
}

@test "--for: a NCCL file without CPUs and kinds of devices, as aws-ofi-nccl has of p5 and g5, gives what it knows" {
	# p5: 32 NICs behind 8 switches, no GPU; g5: 8 GPUs and a NIC, of no kind
	local numa i nic bus
	{
		echo '<system version="1">'
		for numa in 0 1; do
			echo "<cpu numaid=\"$numa\">"
			for i in 0 1 2 3; do
				bus=$((0x45 + 0x11 * (4 * numa + i)))
				printf '<pci busid="0000:%02x:00.0">\n' "$bus"
				for nic in 10 11 12 13; do
					printf '<pci busid="0000:%02x:00.0" link_width="16"/>\n' $((bus + nic))
				done
				echo '</pci>'
			done
			echo '</cpu>'
		done
		echo '</system>'
	} >"$BATS_TEST_TMPDIR/p5.xml"
	typed p5.48xlarge --topology "$BATS_TEST_TMPDIR/p5.xml" >"$BATS_TEST_TMPDIR/said"
	grep -q ': 2 NUMA nodes, 96 cores, 192 CPUs, 8 GPUs, 32 NICs$' "$BATS_TEST_TMPDIR/said"
	grep -q '^0    0000:53:00.0 .* 0     0000:4f:00.0 0000:50:00.0 0000:51:00.0 0000:52:00.0 (same PCI switch)$' "$BATS_TEST_TMPDIR/said"
	grep -q '^7    0000:ca:00.0 .* 1     0000:c6:00.0 0000:c7:00.0 0000:c8:00.0 0000:c9:00.0 (same PCI switch)$' "$BATS_TEST_TMPDIR/said"
	grep -qx 'what the file lacks is that of a p5.48xlarge from the catalogue, not from a machine: 192 CPUs on 2 NUMA nodes.' "$BATS_TEST_TMPDIR/said"
	{
		echo '<system version="1"><cpu numaid="0">'
		printf '<pci busid="0000:00:%s.0"/>\n' 16 17 18 19
		echo '</cpu><cpu numaid="1">'
		printf '<pci busid="0000:00:%s.0"/>\n' 1a 1b 1c 1d 15
		echo '</cpu></system>'
	} >"$BATS_TEST_TMPDIR/g5.xml"
	typed g5.48xlarge --topology "$BATS_TEST_TMPDIR/g5.xml" >"$BATS_TEST_TMPDIR/said"
	grep -q ': 2 NUMA nodes, 96 cores, 192 CPUs, 8 GPUs, 1 NIC$' "$BATS_TEST_TMPDIR/said"
	grep -q '^3    0000:00:19.0 .* 0     -$' "$BATS_TEST_TMPDIR/said"
	grep -q '^4    0000:00:1a.0 .* 1     0000:00:15.0 (same NUMA node)$' "$BATS_TEST_TMPDIR/said"
	# of a type with other counts nothing is made of the devices; one with fewer NUMA nodes is refused
	[[ $(typed p4d.24xlarge --topology "$BATS_TEST_TMPDIR/g5.xml") == *': 2 NUMA nodes, 48 cores, 96 CPUs, 0 GPUs, 0 NICs'* ]]
	expect 2 "onespine: $BATS_TEST_TMPDIR/g5.xml:6:7: NUMA node 1; a g5.12xlarge has 1" \
		typed g5.12xlarge --topology "$BATS_TEST_TMPDIR/g5.xml"
	# what the file says itself stays
	diff <(sed '$d' <(typed p5.48xlarge --topology ndv4.xml)) ndv4.txt
}

@test "what a NCCL file lacks is reported with line and column" {
	printf '<system version="1">\n  <cpu numaid="0"/>\n</system>\n' >"$BATS_TEST_TMPDIR/m.xml"
	expect 2 "onespine: $BATS_TEST_TMPDIR/m.xml:2:3: <cpu numaid=\"0\"> has no affinity, so nothing is known of its cores; name the machine's type (--for), add what /sys/devices/system/node/node0/cpumap says on the machine, or use an hwloc XML file of it" \
		onespine bind --topology "$BATS_TEST_TMPDIR/m.xml"
}

@test "wrong words" {
	expect 2 "onespine: --tasks=0: a number from 1 to 4096 is expected" onespine bind --tasks 0
	expect 2 "onespine: --cpuset, column 3: a range that runs backwards in a list of CPUs" \
		onespine bind --cpuset 0,5-2
	expect 2 "onespine: 5 tasks with 2 GPUs each need 10 GPUs; there are 8" \
		onespine bind --topology ndv4.xml --tasks 5 --gpus-per-task 2
	expect 2 "onespine: none of the CPUs of this machine may be used" \
		onespine bind --topology ndv4.xml --cpuset 999
	expect 2 "onespine: nothing.xml: cannot be opened: No such file or directory" onespine bind --topology nothing.xml
	expect 2 "onespine: ndv4.txt: neither an hwloc XML file (<topology>) nor a NCCL topology (<system>)" \
		onespine bind --topology ndv4.txt
}

# the CPUs of this process as the kernel tells them, one a line
own_cpus() {
	awk '/^Cpus_allowed_list:/ {
		count = split($2, parts, ",")
		for (i = 1; i <= count; i++) {
			ends = split(parts[i], range, "-")
			for (cpu = range[1]; cpu <= range[ends]; cpu++)
				print cpu
		}
	}' /proc/self/status
}

@test "children part this machine's CPUs, and no more than these" {
	[[ $(nproc) != 1 ]] || skip "one CPU is too few"
	own_cpus >"$BATS_TEST_TMPDIR/before"
	export -f own_cpus
	for rank in 0 1; do
		LOCAL_RANK=$rank LOCAL_WORLD_SIZE=2 onespine bind run bash -c own_cpus \
			>"$BATS_TEST_TMPDIR/$rank"
		[[ -s $BATS_TEST_TMPDIR/$rank ]]
	done
	diff "$BATS_TEST_TMPDIR/before" <(sort -n "$BATS_TEST_TMPDIR/0" "$BATS_TEST_TMPDIR/1")
}

@test "a child stays inside the CPUs that its parent was given" {
	last=$(own_cpus | tail -n 1)
	expect 0 "$last" taskset -c "$last" bash -c \
		"$(declare -f own_cpus); export -f own_cpus; LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 \"\$ONESPINE\" bind run bash -c own_cpus"
}

@test "memory is preferred, not forced" {
	[[ -r /proc/self/numa_maps ]] || skip "the kernel knows no NUMA nodes"
	LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 onespine bind run cat /proc/self/numa_maps \
		>"$BATS_TEST_TMPDIR/maps" 2>"$BATS_TEST_TMPDIR/said"
	[[ ! -s $BATS_TEST_TMPDIR/said ]] || skip "memory policies are not allowed here: $(<"$BATS_TEST_TMPDIR/said")"
	grep -qE ' prefer( \(many\))?:[0-9]' "$BATS_TEST_TMPDIR/maps"
	run ! grep -q ' bind:' "$BATS_TEST_TMPDIR/maps"
}

@test "what goes wrong is said once, and the command runs with its own status" {
	expect 7 "onespine: bind: not bound: LOCAL_RANK is not set; torchrun and its like set it for the children that they start
hello" env -u LOCAL_RANK "$ONESPINE" bind run sh -c 'echo hello; exit 7'
	expect 3 "onespine: bind: not bound: LOCAL_RANK=2 is not below LOCAL_WORLD_SIZE=2" \
		env LOCAL_RANK=2 LOCAL_WORLD_SIZE=2 "$ONESPINE" bind run sh -c 'exit 3'
	expect 127 "onespine: no-such-command: No such file or directory" \
		env LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 "$ONESPINE" bind run no-such-command
	expect 126 "onespine: /: Permission denied" \
		env LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 "$ONESPINE" bind run /
}

@test "--verbose says what was bound; the command's own options are its own" {
	got=$(LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 onespine bind run -v echo -v --json 2>"$BATS_TEST_TMPDIR/said")
	[[ $got == "-v --json" ]]
	grep -qE '^onespine: bind: CPUs [0-9,-]+, memory of NUMA node [0-9,-]+ preferred: the only task: (all [0-9]+ cores|the 1 core)' \
		"$BATS_TEST_TMPDIR/said"
}
