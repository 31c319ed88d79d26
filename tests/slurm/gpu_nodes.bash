# SPDX-License-Identifier: GPL-2.0-or-later
# gpu_nodes.bash - nodes that look as if they had two GPUs; after helpers.bash: load gpu_nodes
#
# The files of such a node lie in $FIXTURE; GPU 0 is near NUMA node 1 and GPU 1 near node 0. Their CPUs
# are two of this machine's, so that tasks can really be bound to them: $CPU_A of NUMA node 0 and $CPU_B
# of node 1. Where this process may use one CPU alone both are that one.
# shellcheck shell=bash

make_gpu_nodes() {
	local device
	local -a cpus
	export FIXTURE=$BATS_FILE_TMPDIR/gpu
	mkdir -p "$FIXTURE/site/rules.d" "$FIXTURE/root/sys/devices/virtual/dmi/id" \
		"$FIXTURE/root/sys/module/nvidia" "$FIXTURE/root/proc/net"
	chmod 755 "$BATS_FILE_TMPDIR"
	for device in 10 80; do
		mkdir -p "$FIXTURE/root/sys/bus/pci/devices/0000:$device:00.0"
		echo 0x10de >"$FIXTURE/root/sys/bus/pci/devices/0000:$device:00.0/vendor"
		echo 0x030200 >"$FIXTURE/root/sys/bus/pci/devices/0000:$device:00.0/class"
	done
	echo twin.2gpu >"$FIXTURE/root/sys/devices/virtual/dmi/id/product_name"
	echo 550.54 >"$FIXTURE/root/sys/module/nvidia/version"
	printf 'Iface\tDestination\neth0\t00000000\n' >"$FIXTURE/root/proc/net/route"
	: >"$FIXTURE/policy.yaml"
	mapfile -t cpus < <(own_cpus)
	export CPU_A=${cpus[0]} CPU_B=${cpus[1]:-${cpus[0]}} CPU_COUNT=${#cpus[@]}
	write_machine "$FIXTURE/machine.xml" 0x030200
	write_machine "$FIXTURE/plain.xml" 0x020000
}

# own_cpus: those that this process may use, one a line
own_cpus() {
	sed -n 's/^Cpus_allowed_list:\s*//p' /proc/self/status | tr , '\n' |
		sed 's/^[0-9]*$/&-&/; s/-/ /' | while read -r first last; do seq "$first" "$last"; done
}

# write_machine FILE CLASS: NCCL's form of it, with two PCI devices
write_machine() {
	printf '<system><cpu numaid="0" affinity="%x"><pci busid="0000:80:00.0" class="%s"/></cpu>' \
		$((1 << CPU_A)) "$2" >"$1"
	((CPU_A == CPU_B)) || printf '<cpu numaid="1" affinity="%x"><pci busid="0000:10:00.0" class="%s"/></cpu>' \
		$((1 << CPU_B)) "$2" >>"$1"
	printf '</system>' >>"$1"
}

# use_gpu_nodes [LINE]: the cluster's plugins from now on, after LINE
use_gpu_nodes() {
	{
		[[ -z ${1:-} ]] || printf '%s\n' "$1"
		printf 'required %s/lib/onespine/onespine.so root=%s topology=%s cache=%s site=%s config=%s\n' \
			"$ONESPINE_PREFIX" "$FIXTURE/root" "$FIXTURE/machine.xml" "$FIXTURE/cache" \
			"$FIXTURE/site" "$FIXTURE/policy.yaml"
	} >"$ONESPINE_CLUSTER/plugstack.conf"
}

# with_pyxis: a stand-in for pyxis before us, made for the cluster's release
with_pyxis() {
	local version
	version=$(srun --version | sed 's/[^0-9]*\([0-9.]*\).*/\1/' |
		awk -F. '{ print $1 * 65536 + $2 * 256 + $3 }')
	cc -shared -fPIC -O1 -Wall -Wno-format-truncation -Werror "-DFAKE_SLURM_VERSION=$version" \
		-o "$FIXTURE/pyxis.so" "${BASH_SOURCE[0]%/*}/pyxis.c"
	use_gpu_nodes "required $FIXTURE/pyxis.so"
}

untraced_so_far
