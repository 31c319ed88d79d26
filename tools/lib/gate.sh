# SPDX-License-Identifier: GPL-2.0-or-later
# gate.sh - the gate on a cluster of one machine: a node of its own below each slurmd
#
# Uses the variables of tools/cluster: dir, names, prefix, slurm, auth. slurmd runs DIR/prolog and
# DIR/epilog, as short as a site's own; on a node with faults they become DIR/gate. DIR/nodes/NAME
# stands for the / of node NAME, a healthy fake one (tests/fake/node), with the gate's log in
# DIR/nodes/NAME/gate.log; DIR/nodes/NAME.faults is read by its gate before each run, as shell:
# "export ONESPINE_FAKE_NVML=gpu3.ecc_uncorrected=12" and what else tests/check/faults.table knows. DIR/check is what a recheck runs on
# a node of any cluster, with or without a gate: `onespine check` of that fake node, not of this machine.
# shellcheck shell=bash disable=SC2154

# gate_fakes: the folder of the fake libraries, which make check builds
gate_fakes() {
	local folder=${ONESPINE_FAKES:-$(build_folder "$slurm")/tests/fake/.libs}
	[[ -e $folder/libnvml.so ]] || die "$folder: no fake libraries there (tools/test builds them)"
	printf '%s\n' "$folder"
}

copy_fakes() {
	local fakes=$1
	mkdir -p "$dir/nodes" "$dir/fakes" "$dir/fakes-cuda"
	cp "$fakes/libnvml.so" "$dir/fakes/libnvidia-ml.so.1"
	cp "$fakes/libsystem.so" "$dir/fakes/libsystem.so"
	# for who wants GPUs that can be loaded: cp DIR/fakes-cuda/* DIR/fakes
	[[ ! -e $fakes/libnccl.so ]] || {
		cp "$fakes/libcuda.so" "$dir/fakes-cuda/libcuda.so.1"
		cp "$fakes/libnccl.so" "$dir/fakes-cuda/libnccl.so.2"
	}
}

# write_check: DIR/check, and DIR/bin/onespine, which has a recheck run it
write_check() {
	local folder
	folder=${ONESPINE_FAKES:-$(build_folder "$slurm")/tests/fake/.libs}
	[[ -d $dir/fakes || ! -e $folder/libnvml.so ]] || copy_fakes "$folder"
	install -m 755 "$ONESPINE_SOURCE/tests/fake/node" "$dir/make-node"
	cat >"$dir/check" <<-END
		#!/bin/bash
		# onespine ARGUMENT... on a fake node with its faults: GPUs that cannot be loaded are not asked to be,
		# and without the fake libraries there are none
		node=$dir/nodes/\$SLURMD_NODENAME
		[[ -d \$node ]] || $dir/make-node "\$node" || exit
		[[ -e $dir/fakes ]] || rm -rf "\$node"/{dev/nvidia*,proc/driver,sys/bus/pci/devices/*,sys/class/infiniband*/*,sys/module/nvidia*,sys/devices/virtual/dmi}
		export ONESPINE_TEST_ROOT=\$node LD_LIBRARY_PATH=$dir/fakes
		[[ ! -e $dir/fakes ]] || export LD_PRELOAD=$dir/fakes/libsystem.so
		[[ ! -e \$node.faults ]] || . "\$node.faults"
		[[ -e $dir/fakes/libcuda.so.1 ]] || set -- "\${@/#--depth=*/--depth=passive}"
		exec $prefix/bin/onespine "\$@"
	END
	cat >"$dir/bin/onespine" <<-END
		#!/bin/bash
		[[ \${1:-} != recheck || " \$*" == *' --program'* ]] || set -- recheck --program=$dir/check "\${@:2}"
		exec ${root:+$dir/bin/in-root }$prefix/bin/onespine "\$@"
	END
	chmod 755 "$dir/check" "$dir/bin/onespine"
}

# write_gate_keys: as an administrator copies one file to all nodes (onespine gate key)
write_gate_keys() {
	local name folder
	(umask 077 && printf 'a %s\n' "$(head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n')" >"$dir/gate.key")
	for name in "${names[@]}"; do
		folder=$dir/nodes/$name$prefix/etc/onespine
		mkdir -p "$folder"
		cp -p "$dir/gate.key" "$folder/gate.key"
	done
}

write_gate() {
	local fakes name log round_ms=10000 # all nodes share this machine's processors
	fakes=$(gate_fakes)
	copy_fakes "$fakes"
	# and a gate of another version of messages: fault NODE 'exec DIR/other-gate "$@"'
	[[ ! -e $fakes/../other-gate ]] || install -m 755 "$fakes/../other-gate" "$dir/other-gate"
	log=$prefix/var/log/onespine/gate.log
	"$ONESPINE_SOURCE/tests/fake/node" "$dir/nodes/${names[0]}"
	for name in "${names[@]:1}"; do
		cp -a "$dir/nodes/${names[0]}" "$dir/nodes/$name" # in half the time
	done
	for name in "${names[@]}"; do
		mkdir -p "$dir/nodes/$name${log%/*}" "$dir/nodes/$name$prefix/var/lib"
		: >"$dir/nodes/$name$log"
		ln -s "$dir/nodes/$name$log" "$dir/nodes/$name/gate.log"
	done
	[[ $auth != slurm ]] || write_gate_keys
	cat >"$dir/gate" <<-END
		#!/bin/bash
		# the gate of one node with its faults: prolog|epilog
		node=$dir/nodes/\$SLURMD_NODENAME
		export ONESPINE_TEST_ROOT=\$node ONESPINE_TEST_ROUND_MS=$round_ms LD_LIBRARY_PATH=$dir/fakes LD_PRELOAD=$dir/fakes/libsystem.so
		[[ ! -e \$node.faults ]] || . "\$node.faults"
		exec $prefix/libexec/onespine/onespine-gate "\$@"
	END
	for name in prolog epilog; do
		cat >"$dir/$name" <<-END
			#!/bin/sh
			node=$dir/nodes/\$SLURMD_NODENAME
			[ ! -e "\$node.faults" ] || exec $dir/gate $name
			export ONESPINE_TEST_ROOT="\$node" ONESPINE_TEST_ROUND_MS=$round_ms LD_LIBRARY_PATH=$dir/fakes LD_PRELOAD=$dir/fakes/libsystem.so
			exec $prefix/libexec/onespine/onespine-gate $name
		END
	done
	chmod 755 "$dir/gate" "$dir/prolog" "$dir/epilog"
}
