# SPDX-License-Identifier: GPL-2.0-or-later
#
# node.bash - what a row of faults.table or healthy.table may do to the fake node in $N
# shellcheck shell=bash

# The files of a node in which a row may write, so that a copy needs its own; any other it must make anew
OWN_FILES=(dev/kmsg proc/uptime proc/meminfo proc/self/mounts sys/devices/system/node/has_cpu)

# prepare_copies FOLDER: of the healthy node FOLDER/node: FOLDER/own has those files, and FOLDER/lean has its processors, which
# are half of all files, by one link
prepare_copies() {
	local processors=sys/devices/system/cpu
	mkdir "$1/own" && (cd "$1/node" && cp --parents "${OWN_FILES[@]}" "$1/own") &&
		cp -al "$1/node" "$1/lean" && rm -r "${1:?}/lean/$processors" && ln -s "$1/node/$processors" "$1/lean/$processors"
}

# copy_node FOLDER WORDS: $N is a copy of it, in which a row of these words may change what it names
copy_node() {
	local from=$1/lean
	[[ $2 != *system/cpu* ]] || from=$1/node
	mkdir "$N" && cp -al "$from/." "$N" && cp --remove-destination -R "$1/own/." "$N"
}

kmsg() {
	echo "$1" >>"$N/dev/kmsg"
}

pci() { # ADDRESS VENDOR DEVICE CLASS
	mkdir "$N/sys/bus/pci/devices/$1"
	echo "$2" >"$N/sys/bus/pci/devices/$1/vendor"
	echo "$3" >"$N/sys/bus/pci/devices/$1/device"
	echo "$4" >"$N/sys/bus/pci/devices/$1/class"
}

port() { # NAME STATE PHYSICAL RATE
	local at=$N/sys/class/infiniband/$1/ports/1
	mkdir -p "$at"
	echo InfiniBand >"$at/link_layer"
	echo "4: $2" >"$at/state"
	echo "5: $3" >"$at/phys_state"
	echo "$4 Gb/sec (4X NDR)" >"$at/rate"
}

# fake_other TYPE WORDS: the node is of another type, with other GPUs
fake_other() {
	rm "$N/sys/devices/virtual/dmi/id/product_name"
	echo "$1" >"$N/sys/devices/virtual/dmi/id/product_name"
	export ONESPINE_FAKE_NVML=$2
}

# first_gpus COUNT: the machine has so many GPUs, and no NVSwitch on its bus
first_gpus() {
	local gpu address
	for ((gpu = $1; gpu < 8; gpu++)); do
		address=$(printf '0000:%02x:00.0' $(((gpu + 1) * 16)))
		rm -r "$N/sys/bus/pci/devices/$address" "$N/proc/driver/nvidia/gpus/$address" "$N/dev/nvidia$gpu"
	done
	rm -r "$N"/sys/bus/pci/devices/0000:c[1-4]:00.0
}

# no_gpu_driver CLASS: no driver of NVIDIA's, and one card of this class, which nothing has taken
no_gpu_driver() {
	fake_other nowhere init=9
	first_gpus 0
	rm -r "$N"/sys/module/nvidia*
	pci 0000:05:00.0 0x10de 0x102d "$1"
}

# slurm_conf LINES: of this node, cpu-1; they may hold "\n"
slurm_conf() {
	printf 'ClusterName=test\nGresTypes=gpu\n%b\n' "$1" >"$N/slurm.conf"
	export SLURM_CONF=$N/slurm.conf SLURMD_NODENAME=cpu-1
}

bare_metal() { # [FLAG]: what the processor says of itself
	printf 'processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu vme%s lahf_lm\nbugs\t\t:\n' "${1:+ $1}" >"$N/proc/cpuinfo"
}

downs() { # NAME COUNT
	mkdir -p "$N/sys/class/infiniband/$1/ports/1/counters"
	echo "$2" >"$N/sys/class/infiniband/$1/ports/1/counters/link_downed"
}

# contained GPU...: a container, whose /dev is its own, has all GPUs but these; the host's sysfs shows them all
contained() {
	local gpu count=$((8 - $#))
	sed -i '1i tmpfs /dev tmpfs rw,nosuid 0 0' "$N/proc/self/mounts"
	for gpu; do
		rm "$N/dev/nvidia$gpu"
	done
	export ONESPINE_FAKE_NVML="count=$count"
	((count)) || ONESPINE_FAKE_NVML=init=9
	((count + $1 == 8)) || ONESPINE_FAKE_NVML+=" without=$1"
}

numa() { # NODE GPU...: these GPUs are attached to it; the processor is one that any machine has
	local node=$1 gpu address
	shift
	for gpu; do
		address=$(printf '0000:%02x:00.0' $(((gpu + 1) * 16)))
		echo "$node" >"$N/sys/bus/pci/devices/$address/numa_node"
		echo 0 >"$N/sys/bus/pci/devices/$address/local_cpulist"
	done
}

gb200() { # a node of a rack
	fake_other p6e-gb200.36xlarge "model=2000 count=4"
	first_gpus 4
}

# imex STATE [SECONDS]: IMEX is installed, and its daemon, process 4000 of root's, has run for so long
imex() {
	local uptime
	mkdir -p "$N/usr/bin"
	printf '#!/bin/sh\necho "%s"\n' "$1" >"$N/usr/bin/nvidia-imex-ctl"
	chmod +x "$N/usr/bin/nvidia-imex-ctl"
	process 4000 0 nvidia-imex
	[[ ${2-} ]] || return 0
	uptime=$(cut -d. -f1 "$N/proc/uptime")
	echo "4000 (nvidia-imex) S 1 4000 4000 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 $(((uptime - $2) * $(getconf CLK_TCK))) 0 0" >"$N/proc/4000/stat"
}

process() { # PID 'REAL [EFFECTIVE]' NAME: the kernel writes of it what counts; who owns its files does not
	local at=$N/proc/$1 real=${2% *} effective=${2#* }
	mkdir -p "$at"
	echo "$3" >"$at/comm"
	printf 'Name:\t%s\nUmask:\t0022\nState:\tS (sleeping)\nUid:\t%s\t%s\t%s\t%s\nGid:\t0\t0\t0\t0\n' "$3" "$real" \
		"$effective" "$effective" "$effective" >"$at/status"
}
