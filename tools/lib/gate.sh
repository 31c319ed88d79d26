# SPDX-License-Identifier: GPL-2.0-or-later
# gate.sh - the gate on a cluster of one machine: a node of its own below each slurmd
#
# Uses the variables of tools/cluster: dir, names, prefix, slurm. slurmd runs DIR/prolog and
# DIR/epilog, as short as a site's own; on a node with faults they become DIR/gate. DIR/nodes/NAME
# stands for the / of node NAME, a healthy fake one (tests/fake/node), with the gate's log in
# DIR/nodes/NAME/gate.log; DIR/nodes/NAME.faults is read by its gate before each run, as shell:
# "export ONESPINE_FAKE_NVML=ecc" and what else tests/check/faults.table knows.
# shellcheck shell=bash disable=SC2154

# gate_fakes: the folder of the fake libraries, which make check builds
gate_fakes() {
	local folder=${ONESPINE_FAKES:-$(build_folder "$slurm")/tests/fake/.libs}
	[[ -e $folder/libnvml.so ]] || die "$folder: no fake libraries there (tools/test builds them)"
	printf '%s\n' "$folder"
}

write_gate() {
	local fakes name log round_ms=10000 # all nodes share this machine's processors
	fakes=$(gate_fakes)
	mkdir -p "$dir/nodes" "$dir/fakes" "$dir/fakes-cuda"
	cp "$fakes/libnvml.so" "$dir/fakes/libnvidia-ml.so.1"
	cp "$fakes/libsystem.so" "$dir/fakes/libsystem.so"
	# for who wants GPUs that can be loaded: cp DIR/fakes-cuda/* DIR/fakes
	[[ ! -e $fakes/libnccl.so ]] || {
		cp "$fakes/libcuda.so" "$dir/fakes-cuda/libcuda.so.1"
		cp "$fakes/libnccl.so" "$dir/fakes-cuda/libnccl.so.2"
	}
	# and a gate of another version of messages: fault NODE 'exec DIR/other-gate "$@"'
	[[ ! -e $fakes/../other-gate ]] || install -m 755 "$fakes/../other-gate" "$dir/other-gate"
	log=$prefix/var/log/onespine/gate.log
	for name in "${names[@]}"; do
		"$ONESPINE_SOURCE/tests/fake/node" "$dir/nodes/$name"
		mkdir -p "$dir/nodes/$name${log%/*}" "$dir/nodes/$name$prefix/var/lib"
		: >"$dir/nodes/$name$log"
		ln -s "$dir/nodes/$name$log" "$dir/nodes/$name/gate.log"
	done
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
