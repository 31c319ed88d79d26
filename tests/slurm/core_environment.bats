#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_environment.bats - --gang-env in jobs of a real Slurm, on nodes that look like a GPU's

# shellcheck disable=SC2016 # what the tasks' shells are to expand

load helpers
load gpu_nodes

setup_file() {
	export LC_ALL=C.UTF-8
	make_gpu_nodes
	cat >"$FIXTURE/site/rules.d/site.yaml" <<-END
		rules:
		  - {id: S1, when: {vendor: nvidia}, action: set, variable: NCCL_CROSS_NIC, value: "1", severity: missing, reason: ours, source: here}
		  - {id: S2, when: {vendor: nvidia, nccl: ">=2.20"}, action: set, variable: OSP_NCCL, value: new, severity: missing, reason: ours, source: here}
		  - {id: S3, when: {container: yes}, action: set, variable: OSP_BOX, value: "yes", severity: missing, reason: ours, source: here}
		  - {id: S5, when: {container: no}, action: set, variable: OSP_HOST, value: "yes", severity: missing, reason: ours, source: here}
		  - {id: S6, when: {vendor: nvidia}, action: set, variable: OSP_NICS, value: "\${near_nics}", severity: missing, reason: ours, source: here}
		  - {id: S4, action: warn, variable: OSP_BAD, severity: fatal, reason: it breaks, cure: leave it, source: here}
	END
	cluster_start --nodes 3 --gres gpu:2
	use_gpu_nodes
}

# named NAME...: a task's line of these variables, "NAME=value|..."; "-" where one is not set
named() {
	local name words=
	for name; do
		words+="$name=\${$name--}|"
	done
	printf 'echo "%s"' "$words"
}

# told TEXT: how many lines of the job's stderr hold it
told() {
	grep -cF -- "$1" "$BATS_TEST_TMPDIR/err" || true
}

step() {
	srun -Q "$@" 2>"$BATS_TEST_TMPDIR/err"
}

EXPLAINED="the environment of this job's tasks"

@test "auto sets what the rules say, the user's own stays, off sets nothing" {
	show=$(named CUDA_DEVICE_ORDER NCCL_CROSS_NIC)
	equal "$(step -N2 -n4 --gres=gpu:2 sh -c "$show" | sort -u)" \
		'CUDA_DEVICE_ORDER=PCI_BUS_ID|NCCL_CROSS_NIC=1|'
	equal "$(cat "$BATS_TEST_TMPDIR/err")" ''
	equal "$(CUDA_DEVICE_ORDER=FASTEST_FIRST step -n1 sh -c "$show")" \
		'CUDA_DEVICE_ORDER=FASTEST_FIRST|NCCL_CROSS_NIC=1|'
	equal "$(step -n1 --export=ALL,NCCL_CROSS_NIC=0 sh -c "$show")" \
		'CUDA_DEVICE_ORDER=PCI_BUS_ID|NCCL_CROSS_NIC=0|'
	equal "$(step -n1 --gang-env=off sh -c "$show")" 'CUDA_DEVICE_ORDER=-|NCCL_CROSS_NIC=-|'
}

@test "command line over environment over policy" {
	show=$(named NCCL_CROSS_NIC)
	printf 'defaults: {env: off}\n' >"$FIXTURE/policy.yaml"
	equal "$(step -n1 sh -c "$show")" 'NCCL_CROSS_NIC=-|'
	equal "$(ONESPINE_GANG_ENV=auto step -n1 sh -c "$show")" 'NCCL_CROSS_NIC=1|'
	equal "$(ONESPINE_GANG_ENV=auto step -n1 --gang-env=off sh -c "$show")" 'NCCL_CROSS_NIC=-|'
	printf 'partitions: {gpu: {env: explain}}\n' >"$FIXTURE/policy.yaml"
	equal "$(step -n1 sh -c "$show")" 'NCCL_CROSS_NIC=1|'
	equal "$(told "$EXPLAINED")" 1
	printf 'defaults: {envv: off}\n' >"$FIXTURE/policy.yaml"
	equal "$(step -n1 sh -c "$show")" 'NCCL_CROSS_NIC=1|'
	equal "$(told "policy.yaml:1:12: unknown key 'envv'; did you mean env?; it counts as empty")" 1
	: >"$FIXTURE/policy.yaml"
	run step -n1 --gang-env=explian true
	[[ $status != 0 ]]
	holds "$(<"$BATS_TEST_TMPDIR/err")" '--gang-env=explian: auto, off or explain is expected; did you mean explain?'
}

@test "explain says it once a job, whatever the steps and tasks" {
	salloc -Q -N2 --gres=gpu:2 --gang-env=explain bash -c '
		srun -n4 true; srun -n4 true; for i in 1 2 3; do srun -N1 -n1 --overlap true & done; wait
	' 2>"$BATS_TEST_TMPDIR/err"
	equal "$(told "$EXPLAINED")" 1
	equal "$(told 'NCCL_CROSS_NIC=1')" 1
	equal "$(told 'ours [S1]')" 1
}

@test "several steps at once all get it, and a heterogeneous job" {
	show=$(named NCCL_CROSS_NIC SLURM_PROCID)
	salloc -Q -N1 -n2 bash -c 'for i in 1 2 3 4; do srun --overlap -n2 sh -c "$0" & done; wait' "$show" \
		>"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err"
	equal "$(sort "$BATS_TEST_TMPDIR/out" | uniq -c | awk '{ print $1, $2 }')" \
		$'4 NCCL_CROSS_NIC=1|SLURM_PROCID=0|\n4 NCCL_CROSS_NIC=1|SLURM_PROCID=1|'
	step -N1 -n1 --gang-env=explain : -N1 -n2 --gang-env=explain sh -c "$show" \
		>"$BATS_TEST_TMPDIR/out"
	equal "$(sort "$BATS_TEST_TMPDIR/out")" \
		$'NCCL_CROSS_NIC=1|SLURM_PROCID=0|\nNCCL_CROSS_NIC=1|SLURM_PROCID=1|\nNCCL_CROSS_NIC=1|SLURM_PROCID=2|'
	equal "$(told "$EXPLAINED")" 1
}

@test "a site's rule gives each task the adapters near the GPUs that it sees" {
	show=$(named OSP_NICS)
	equal "$(step -N1 -n2 --gres=gpu:2 sh -c "$show" | sort -u)" 'OSP_NICS=-|' # this machine shows none
	write_machine "$FIXTURE/nics.xml" 0x030200
	((CPU_A != CPU_B)) || skip "one CPU is too few for a machine of two NUMA nodes"
	sed -i 's#<pci busid="0000:80:00.0" class="0x030200"/>#&<pci busid="0000:81:00.0" class="0x020700"><nic><net name="mlx5_1"/></nic></pci>#
		s#<pci busid="0000:10:00.0" class="0x030200"/>#&<pci busid="0000:11:00.0" class="0x020700"><nic><net name="mlx5_0"/></nic></pci>#' \
		"$FIXTURE/nics.xml"
	sed -i "s# topology=[^ ]*# topology=$FIXTURE/nics.xml#" "$ONESPINE_CLUSTER/plugstack.conf"
	equal "$(step -N1 -n2 --gres=gpu:2 sh -c "$show" | sort -u)" 'OSP_NICS=mlx5_0,mlx5_1|'
	show='echo "$SLURM_LOCALID $OSP_NICS"'
	equal "$(step -N1 -n2 --gpus-per-task=1 sh -c "$show" | sort)" $'0 mlx5_0\n1 mlx5_1'
	equal "$(step -N1 -n2 --gpus-per-task=1 --gang-bind=off sh -c "$show" | sort)" $'0 mlx5_0\n1 mlx5_1'
	equal "$(step -N1 -n1 --export=ALL,OSP_NICS=mine sh -c "$show")" '0 mine'
	use_gpu_nodes
}

@test "a batch script has it, and --export=NONE takes nothing away" {
	for export in ALL NONE; do
		sbatch -Q --wait -N1 --export=$export --gang-env=explain -o "$BATS_TEST_TMPDIR/err" --wrap "
			$(named NCCL_CROSS_NIC ONESPINE_GANG_ENV)
			srun -Q --export=ALL sh -c '$(named NCCL_CROSS_NIC ONESPINE_GANG_ENV)'
			srun -Q --export=NONE /bin/sh -c '$(named NCCL_CROSS_NIC)'
			srun -Q --gang-env=off --export=NONE /bin/sh -c '$(named NCCL_CROSS_NIC)'"
		equal "$(told "$EXPLAINED")" 1
		equal "$(grep -v '^onespine:' "$BATS_TEST_TMPDIR/err")" \
			$'NCCL_CROSS_NIC=1|ONESPINE_GANG_ENV=explain|\nNCCL_CROSS_NIC=1|ONESPINE_GANG_ENV=explain|\nNCCL_CROSS_NIC=1|\nNCCL_CROSS_NIC=-|'
	done
	equal "$(ONESPINE_GANG_ENV=off sbatch -Q --wait --export=NONE -o "$BATS_TEST_TMPDIR/err" --wrap \
		"$(named NCCL_CROSS_NIC)"; cat "$BATS_TEST_TMPDIR/err")" 'NCCL_CROSS_NIC=-|'
}

@test "what an outer step set is not the user's: an inner one decides anew" {
	got=$(step -n1 sh -c 'srun --overlap -n1 --gang-env=explain true 2>&1; NCCL_CROSS_NIC=2 srun --overlap -n1 \
		sh -c "echo \$NCCL_CROSS_NIC"')
	[[ $got != *'Yours, kept as it is'* ]]
	equal "${got##*$'\n'}" 2
}

@test "values in NCCL's files are the user's, read as the user" {
	show=$(named NCCL_CROSS_NIC)
	mkdir -p "$BATS_TEST_TMPDIR/home"
	chmod 755 "$BATS_TEST_TMPDIR/home"
	echo NCCL_CROSS_NIC=0 >"$BATS_TEST_TMPDIR/home/.nccl.conf"
	equal "$(HOME=$BATS_TEST_TMPDIR/home step -n1 sh -c "$show")" 'NCCL_CROSS_NIC=-|'
	# a file that is named stands for the one at home
	echo NCCL_DEBUG=INFO >"$BATS_TEST_TMPDIR/named"
	equal "$(HOME=$BATS_TEST_TMPDIR/home NCCL_CONF_FILE=$BATS_TEST_TMPDIR/named \
		step -n1 sh -c "$show")" 'NCCL_CROSS_NIC=1|'
	# neither a pipe, which would never end, nor what is too large
	mkfifo "$BATS_TEST_TMPDIR/pipe"
	equal "$(NCCL_CONF_FILE=$BATS_TEST_TMPDIR/pipe step -n1 sh -c "$show")" 'NCCL_CROSS_NIC=1|'
	{ echo NCCL_CROSS_NIC=0 && head -c 2000000 /dev/zero; } >"$BATS_TEST_TMPDIR/large"
	equal "$(NCCL_CONF_FILE=$BATS_TEST_TMPDIR/large step -n1 sh -c "$show")" 'NCCL_CROSS_NIC=1|'
	# root may read this file, the user may not
	cp "$BATS_TEST_TMPDIR/home/.nccl.conf" "$BATS_TEST_TMPDIR/secret"
	chmod 600 "$BATS_TEST_TMPDIR/secret"
	equal "$(NCCL_CONF_FILE=$BATS_TEST_TMPDIR/secret step -n1 sh -c "$show")" 'NCCL_CROSS_NIC=-|'
	equal "$(cd / && export NCCL_CONF_FILE=$BATS_TEST_TMPDIR/secret && as_other_user srun -Q -n1 sh -c "$show")" \
		'NCCL_CROSS_NIC=1|'
}

@test "versions as LD_LIBRARY_PATH and VIRTUAL_ENV resolve; unknown ones set nothing" {
	show=$(named OSP_NCCL)
	equal "$(step -n1 --export=ALL,LD_LIBRARY_PATH= sh -c "$show")" 'OSP_NCCL=-|'
	mkdir -p "$BATS_TEST_TMPDIR/lib" "$BATS_TEST_TMPDIR/venv/lib/python3.11/site-packages/nvidia_nccl_cu12-2.21.5.dist-info"
	touch "$BATS_TEST_TMPDIR/lib/libnccl.so.2.18.1"
	equal "$(step -n1 "--export=ALL,VIRTUAL_ENV=$BATS_TEST_TMPDIR/venv" sh -c "$show")" 'OSP_NCCL=new|'
	# the loader's folders come first
	equal "$(step -n1 "--export=ALL,VIRTUAL_ENV=$BATS_TEST_TMPDIR/venv,LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/lib" \
		sh -c "$show")" 'OSP_NCCL=-|'
}

@test "a fatal setting is reported once, and stays" {
	got=$(step -N2 -n4 --export=ALL,OSP_BAD=1 sh -c 'echo $OSP_BAD' | sort -u)
	equal "$got" 1
	equal "$(told 'onespine: fatal: OSP_BAD=1: it breaks; leave it [S4]')" 1
}

@test "a wrong file of rules: the job runs without our settings and says so once" {
	show=$(named NCCL_CROSS_NIC)
	while IFS='|' read -r rule words; do
		printf 'rules:\n  - %s\n' "$rule" >"$FIXTURE/site/rules.d/wrong.yaml"
		equal "$(step -N2 -n4 sh -c "$show" | sort -u)" 'NCCL_CROSS_NIC=-|'
		equal "$(told "wrong.yaml:$words")" 1
		equal "$(told 'the job runs without our settings')" 1
	done <<-'END'
		{id: W, acton: set, variable: A, value: "1", severity: note, reason: r, source: s}|2:13: unknown key 'acton'; did you mean action?
		{id: W, when: {nccl: ">=2.x"}, action: set, variable: A, value: "1", severity: note, reason: r, source: s}|2:24: 
	END
	cat >"$FIXTURE/site/rules.d/wrong.yaml" <<-END
		rules:
		  - {id: W1, action: set, variable: A, value: "1", severity: note, reason: r, source: s}
		  - {id: W2, action: set, variable: A, value: "2", severity: note, reason: r, source: s}
	END
	equal "$(step -N2 -n4 sh -c "$show" | sort -u)" 'NCCL_CROSS_NIC=-|'
	equal "$(told 'wrong.yaml:3:')" 1
	rm "$FIXTURE/site/rules.d/wrong.yaml"
}

@test "pyxis before us: the container's libraries, its files, its variables" {
	show=$(named OSP_NCCL OSP_BOX OSP_HOST NCCL_CROSS_NIC)
	image=$BATS_TEST_TMPDIR/image
	mkdir -p "$image/root" "$image/opt/nccl/build/lib"
	touch "$image/opt/nccl/build/lib/libnccl.so.2.22.3"
	with_pyxis
	equal "$(step -n1 sh -c "$show")" 'OSP_NCCL=-|OSP_BOX=-|OSP_HOST=yes|NCCL_CROSS_NIC=1|'
	equal "$(FAKE_IMAGE=$image step -n1 sh -c "$show")" 'OSP_NCCL=new|OSP_BOX=yes|OSP_HOST=-|NCCL_CROSS_NIC=1|'
	echo NCCL_CROSS_NIC=image >"$image/environ"
	equal "$(FAKE_IMAGE=$image step -n2 sh -c "$show" | sort -u)" \
		'OSP_NCCL=new|OSP_BOX=yes|OSP_HOST=-|NCCL_CROSS_NIC=image|'
	use_gpu_nodes
}

@test "the node is looked at once, and anew when its driver changes" {
	step -n1 -w n1 true
	first=$(stat -c %i "$FIXTURE/cache/node")
	equal "$(stat -c '%U %a' "$FIXTURE/cache/node")" 'root 644'
	step -N3 -n3 true
	equal "$(stat -c %i "$FIXTURE/cache/node")" "$first"
	echo 570.86 >"$FIXTURE/root/sys/module/nvidia/version"
	step -n1 --gang-env=explain true
	equal "$(told 'driver 570.86')" 1
	[[ $(stat -c %i "$FIXTURE/cache/node") != "$first" ]]
}

@test "a node without accelerators is left alone" {
	mv "$FIXTURE/root" "$FIXTURE/away" && mkdir -p "$FIXTURE/root"
	sed -i "s# topology=[^ ]*# topology=$FIXTURE/plain.xml#" "$ONESPINE_CLUSTER/plugstack.conf"
	equal "$(step -n1 --gang-env=explain sh -c "$(named CUDA_DEVICE_ORDER)")" 'CUDA_DEVICE_ORDER=-|'
	equal "$(told 'this node has no accelerators that are known: nothing is set')" 1
	rmdir "$FIXTURE/root" && mv "$FIXTURE/away" "$FIXTURE/root"
	use_gpu_nodes
}
