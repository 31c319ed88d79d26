#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# env: types, facts, rules of the site, scripts, a made-up node
#
# tests/data/env/TYPE.txt is what `onespine env --for TYPE` prints; after a change of rules that is meant:
#	for f in tests/data/env/*.txt; do t=${f##*/}; onespine env --data=etc --site=/nowhere --for "${t%.txt}" >"$f"; done

# shellcheck disable=SC2016,SC2154 # what other shells are to expand; run's output

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	export GOLDEN=$FILES/env HOME=$BATS_TEST_TMPDIR
	unset LD_LIBRARY_PATH VIRTUAL_ENV NCCL_CONF_FILE
}

env_of() {
	onespine env --data="$SOURCE/etc" --site="$PWD/site" "$@"
}

# a node below ./node: a p5.48xlarge with 7 GPUs, EFA, a driver, an installer, NCCL and a plugin
make_node() {
	local i pci
	mkdir -p node/sys/devices/virtual/dmi/id node/proc/net node/proc/sys/kernel node/proc/driver/nvidia \
		node/sys/module/nvidia node/opt/amazon/efa/lib node/opt/amazon/ofi-nccl/lib \
		node/usr/lib64 node/usr/local/cuda node/sys/class/infiniband/rdmap79s0/device node/drivers/efa
	echo p5.48xlarge >node/sys/devices/virtual/dmi/id/product_name
	for i in 1 2 3 4 5 6 7; do
		pci=node/sys/bus/pci/devices/0000:0$i:00.0
		mkdir -p "$pci"
		echo 0x10de >"$pci/vendor"
		echo 0x030200 >"$pci/class"
	done
	ln -s ../../../../../drivers/efa node/sys/class/infiniband/rdmap79s0/device/driver
	printf 'Iface\tDestination\tGateway\nens32\t00000000\t0100000A\nens32\t0000000A\t0\nens64\t0000000B\t0\nlo\t7F\t0\n' \
		>node/proc/net/route
	echo 5.10.0-1 >node/proc/sys/kernel/osrelease
	echo 550.90.07 >node/sys/module/nvidia/version
	echo 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.90.07' >node/proc/driver/nvidia/version
	printf '# EFA installer version: 1.34.0\nlibfabric-aws-1.22.0amzn1.0-1.x86_64\n' \
		>node/opt/amazon/efa_installed_packages
	: >node/usr/lib64/libnccl.so.2
	: >node/usr/lib64/libnccl.so.2.21.5
	printf '\0\0NET/OFI Initializing aws-ofi-nccl 1.14.2\0\0' >node/opt/amazon/ofi-nccl/lib/libnccl-net.so
	: >node/opt/amazon/ofi-nccl/lib/libnccl-ofi-tuner.so
	echo '{"cuda": {"name": "CUDA SDK", "version": "12.4.1"}}' >node/usr/local/cuda/version.json
}

@test "every type prints what is recorded" {
	local file type
	for file in "$GOLDEN"/*.txt; do
		type=${file##*/}
		expect 0 "$(cat "$file")" env_of --for "${type%.txt}"
	done
}

@test "every type has a record, and every record a type" {
	diff <(sed -n 's/^  \([A-Za-z].*\):$/\1/p' "$SOURCE"/etc/instances/*.yaml | LC_ALL=C sort) \
		<(basename -s .txt -a "$GOLDEN"/*.txt | LC_ALL=C sort)
}

@test "--with: versions decide" {
	expect_line 0 '  NCCL_BUFFSIZE=8388608                           what aws-ofi-nccl sets itself from 1.16 on [N2]' \
		env_of --for p5.48xlarge --with nccl=2.21,ofi=1.9
	run env_of --for p5.48xlarge --with nccl=2.21,ofi=1.16
	[[ $status == 0 && $output != *NCCL_BUFFSIZE=* ]]
	run env_of --for p5.48xlarge --with nccl=2.19,efa=1.28
	[[ $output == *"  FI_EFA_SET_CUDA_SYNC_MEMOPS=0 "* ]]
}

@test "wrong usage is refused in words" {
	expect 2 "onespine: the catalogue has no type 'p5.48xlareg'; did you mean p5.48xlarge?" \
		env_of --for p5.48xlareg
	expect 2 "onespine: --with=nccl=2.21,ofi=1.x: at character 17: ofi: a number is expected at 'x' of '1.x'" \
		env_of --with=nccl=2.21,ofi=1.x
	expect 2 "onespine: the catalogue has no type 'p5.48xl'; did you mean p5.48xlarge?" env_of --for p5.48xl
	expect 2 "onespine: --with=fabric=efaa: at character 8: fabric: one of efa, infiniband, roce, slingshot, ethernet is expected, not 'efaa'; did you mean efa?" \
		env_of --with=fabric=efaa
	expect 2 "onespine: 'job.sh': files are read with --script" env_of job.sh
	run onespine env --data=nowhere --for p5.48xlarge
	[[ $status == 2 && $output == "onespine: nowhere/instances: cannot be read: No such file or directory" ]]
}

@test "--json tells each decision with its rule" {
	env_of --json --for p4d.24xlarge --with ofi=1.9 >j
	[[ $(jq -r '.instance.accelerator' j) == A100 ]]
	[[ $(jq -r '.facts.ofi, .facts.nccl' j) == $'1.9\nnull' ]]
	jq -e '.decisions[] | select(.variable == "NCCL_BUFFSIZE") |
		.outcome == "set" and .value == "8388608" and .rule == "N2"' j
	jq -e 'all(.decisions[]; .rule and .reason and (.source | contains("https://")))' j
}

@test "a site's rules and types stand over ours, later files over earlier ones" {
	mkdir -p site/rules.d site/instances.d
	cat >site/rules.d/10-site.yaml <<-END
		rules:
		  - {id: S1, when: {fabric: efa}, action: set, variable: NCCL_DEBUG, value: WARN, severity: note, reason: ours, source: site}
		  - {id: N22, action: leave, variable: CUDA_DEVICE_ORDER, severity: note, reason: not here, source: site}
	END
	cat >site/rules.d/20-site.yaml <<-END
		rules:
		  - {id: S2, when: {instance: 'p5*'}, action: set, variable: NCCL_DEBUG, value: INFO, severity: note, reason: later, source: site}
	END
	echo 'instances: {our-box: {source: site, fabric: efa, accelerators: 2}}' >site/instances.d/a.yaml
	expect_line 0 '  NCCL_DEBUG=INFO                                 later [S2]' env_of --for p5.48xlarge
	expect_line 0 '  NCCL_DEBUG=WARN                                 ours [S1]' env_of --for our-box
	run env_of --for p5.48xlarge
	[[ $output != *PCI_BUS_ID* && $output == *"CUDA_DEVICE_ORDER"*"not here [N22]"* ]]
}

@test "a site's wrong file is refused with its place, and nothing is decided" {
	mkdir -p site/rules.d
	printf 'rules:\n  - {id: x, when: {ncll: "2"}}\n' >site/rules.d/a.yaml
	expect 2 "onespine: $PWD/site/rules.d/a.yaml:2:5: a rule needs the key action" env_of --for p5.48xlarge
	cat >site/rules.d/a.yaml <<-END
		rules:
		  - {id: x, action: set, variable: A, value: '1', severity: note, reason: r, source: s}
		  - {id: y, when: {nodes: '4'}, action: set, variable: A, value: '2', severity: note, reason: r, source: s}
	END
	expect 2 "onespine: $PWD/site/rules.d/a.yaml:3:5: rule y contradicts rule x ($PWD/site/rules.d/a.yaml:2) about A: both can hold of one node" \
		env_of --for p5.48xlarge
}

@test "--script: fatal settings, with file, line, reason, cure and source; status 1" {
	cat >job.sh <<-'END'
		#!/bin/bash
		#SBATCH --export=ALL,NCCL_PROTO=simple
		export FI_EFA_MTU_SIZE=8192   # from a mail
		srun --export=ALL,FI_EFA_IFACE= python train.py
		$(touch ran) `touch ran`
	END
	expect 1 "job.sh:2:9: obsolete: NCCL_PROTO=simple: keeps NCCL from its faster protocols for small messages; where a network plugin needs it, the plugin sets it
    cure: leave it unset, except where the plugin's guide asks for it (Google's TCPX and TCPXO); to compare, set it for one run
    rule N5-simple: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
job.sh:2:9: harmful where fabric efa and instance p[5-9]* and ofi >=1.7,<1.20: NCCL_PROTO=simple: the tuner of aws-ofi-nccl before 1.20 can crash with it
    cure: leave it unset, or use aws-ofi-nccl 1.20
    rule N5-tuner: https://github.com/aws/aws-ofi-nccl/releases
job.sh:3:8: fatal: FI_EFA_MTU_SIZE=8192: libfabric's EFA provider aborts at the start when it is set, whatever the value
    cure: leave it unset
    rule E11: https://github.com/ofiwg/libfabric/blob/v1.18.0/prov/efa/src/rdm/rxr_env.c
job.sh:4:6: fatal: FI_EFA_IFACE=: libfabric's EFA provider aborts on an empty value
    cure: leave FI_EFA_IFACE unset
    rule E12-iface: https://github.com/ofiwg/libfabric/blob/v2.0.0/prov/efa/src/efa_env.c
2 fatal, 0 harmful, 1 obsolete, 0 other
on some nodes also 1 harmful; --for TYPE and --with say if on yours" env_of --with libfabric=2.1 --script job.sh
	[[ ! -e ran ]]
}

@test "--script: what AWS's examples copy from one another" {
	cat >job.sh <<-'END'
		#!/bin/bash
		#SBATCH --nodes=4 # of eight GPUs
		module load libfabric-aws openmpi # the site's
		export FI_PROVIDER=efa # change to eth for comparisons
		export FI_EFA_USE_HUGE_PAGE=0 FI_EFA_FORK_SAFE=1
		export NCCL_ALGO=Ring \
		       NCCL_SOCKET_IFNAME=^docker,lo,veth
		export LD_LIBRARY_PATH=/opt/amazon/openmpi/lib:/opt/hpcx/lib:$LD_LIBRARY_PATH
		export LD_LIBRARY_PATH=/opt/nccl/build/lib:$LD_LIBRARY_PATH
		: "${NCCL_BUFFSIZE:=8388608}"
		declare -a ARGS=(
		    --container-image $IMAGE
		    --export=ALL,NCCL_P2P_LEVEL=5
		)
		cat >env.sh <<EOF
		export FI_EFA_MTU_SIZE=9000
		EOF
		srun bash <<-'EOF'
			export FI_EFA_TX_IOV_LIMIT=4
			python a.py
			EOF
		srun -l "${ARGS[@]}" --export=ALL,NCCL_NET_GDR_LEVEL=3 python train.py
	END
	env_of --for p4d.24xlarge --with ofi=1.17,libfabric=2.1,nccl=2.27,efa=1.43,kernel=6.1 --script job.sh >said || [[ $? == 1 ]]
	diff <(sed -n 's/^\(job.sh[^ ]* [a-z]*: [A-Z0-9_a-z]*\)=.*/\1/p; $p' said) - <<-END
		job.sh:4:8: obsolete: FI_PROVIDER
		job.sh:5:31: obsolete: FI_EFA_FORK_SAFE
		job.sh:6:8: harmful: NCCL_ALGO
		job.sh:8:8: harmful: LD_LIBRARY_PATH
		job.sh:10:3: obsolete: NCCL_BUFFSIZE
		job.sh:13:5: obsolete: NCCL_P2P_LEVEL
		job.sh:19:8: fatal: FI_EFA_TX_IOV_LIMIT
		job.sh:22:22: obsolete: NCCL_NET_GDR_LEVEL
		on some nodes also 2 other; --for TYPE and --with say if on yours
	END
	grep -qxF 'job.sh: --gang-env=auto, the default, sets in the job: CUDA_DEVICE_ORDER=PCI_BUS_ID' said
}

@test "--script: values that are guesses, and names that nothing reads any more" {
	cat >job.sh <<-'END'
		export NCCL_SOCKET_IFNAME=en,eth,em,bond
		export NCCL_SOCKET_IFNAME=ens5,eth; a
		export NCCL_SOCKET_IFNAME="^lo,docker"
		export NCCL_SOCKET_IFNAME=eth0; a; export NCCL_SOCKET_IFNAME==ens32,ens64
		export OFI_NCCL_RDMA_MAX_POSTED_BOUNCE_BUFFERS=64 OFI_NCCL_ENDPOINT_PER_COMM=1
	END
	env_of --for p5.48xlarge --with ofi=1.21.1 --script job.sh >said
	diff <(sed -nE 's/^(job.sh:[0-9:]+ [a-z]*).*/\1/p; s/^    rule ([A-Z0-9a-z-]*):.*/\1/p' said) - <<-END
		job.sh:2:8: harmful
		N8-guess
		job.sh:4:8: harmful
		N8-eth0
		job.sh:5:8: obsolete
		V2
		job.sh:5:51: obsolete
		V2
	END
	env_of --for p5.48xlarge --with ofi=1.18 --script job.sh >said
	[[ $(<said) != *V2* ]]
}

@test "--script: a name that nothing reads, with the one that was meant; one of other releases" {
	cat >job.sh <<-'END'
		export NCCL_DEBG=INFO NCCL_FOOBARBAZ=1 NCCL_TREE_THRESHOLD=0 NCCL_IB_MERGE_NICS=1
		export FI_EFA_USE_DEVICE_RDM=1 OFI_NCCL_PROTOCL=RDMA UCX_TSL=rc TORCH_NCCL_ASYNC_ERROR_HANDLNG=1
		export NCCL_VERSION=2.21 NCCL_TESTS_SPLIT=AND MY_NCCL_X=1 UCX_RC_MLX5_X=1 FI_LOG_LEVEL=warn
	END
	env_of --with nccl=2.21.5 --script job.sh >said
	diff <(sed -nE 's/^(job.sh:[0-9:]+ [a-z]*: [A-Z0-9_]*)=.*/\1/p; s/^    cure: (.*), if that is meant/\1/p' said) - <<-END
		job.sh:1:8: harmful: NCCL_DEBG
		NCCL_DEBUG
		job.sh:1:23: note: NCCL_FOOBARBAZ
		job.sh:1:40: obsolete: NCCL_TREE_THRESHOLD
		job.sh:2:8: harmful: FI_EFA_USE_DEVICE_RDM
		FI_EFA_USE_DEVICE_RDMA
		job.sh:2:32: harmful: OFI_NCCL_PROTOCL
		OFI_NCCL_PROTOCOL
		job.sh:2:54: harmful: UCX_TSL
		UCX_TLS
		job.sh:2:65: harmful: TORCH_NCCL_ASYNC_ERROR_HANDLNG
		TORCH_NCCL_ASYNC_ERROR_HANDLING
	END
	grep -qF 'job.sh:1:40: obsolete: NCCL_TREE_THRESHOLD=0: NCCL reads it in releases >=2.4.2,<2.5.6 only' said
	env_of --with nccl=2.18.1 --script job.sh | grep -qF 'NCCL_IB_MERGE_NICS=1: NCCL reads it in releases >=2.20.3 only'
}

@test "--script: what kills a job beside EFA" {
	cat >job.sh <<-'END'
		export NCCL_IB_DISABLE=1 NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1 CUDA_LAUNCH_BLOCKING=1
		export TORCH_DISTRIBUTED_DEBUG=DETAIL NCCL_DEBUG=TRACE NCCL_NET=Socket NCCL_IB_TIMEOUT=40
		export NCCL_ASYNC_ERROR_HANDLING=1 NCCL_NVLS_ENABLE=0 NCCL_PXN_DISABLE=1
		export NCCL_TOPO_FILE=/opt/microsoft/ndv4-topo.xml NCCL_SOCKET_IFNAME=^docker,lo NCCL_PROTO=LL128
		srun a; export NCCL_IB_DISABLE=0 NCCL_P2P_DISABLE=0 CUDA_LAUNCH_BLOCKING=0 NCCL_DEBUG=INFO NCCL_IB_TIMEOUT=22
	END
	env_of --for Standard_ND96isr_H100_v5 --script job.sh >said
	diff <(sed -nE 's/^(job.sh:[0-9:]+ [a-z]*: [A-Z0-9_]*)=.*/\1/p; $p' said) - <<-END
		job.sh:1:8: harmful: NCCL_IB_DISABLE
		job.sh:1:26: harmful: NCCL_P2P_DISABLE
		job.sh:1:45: harmful: NCCL_SHM_DISABLE
		job.sh:1:64: harmful: CUDA_LAUNCH_BLOCKING
		job.sh:2:8: harmful: TORCH_DISTRIBUTED_DEBUG
		job.sh:2:39: harmful: NCCL_DEBUG
		job.sh:2:56: harmful: NCCL_NET
		job.sh:2:72: harmful: NCCL_IB_TIMEOUT
		job.sh:3:8: obsolete: NCCL_ASYNC_ERROR_HANDLING
		job.sh:3:36: harmful: NCCL_NVLS_ENABLE
		job.sh:3:55: harmful: NCCL_PXN_DISABLE
		job.sh:4:8: harmful: NCCL_TOPO_FILE
		job.sh:4:82: harmful: NCCL_PROTO
		$(tail -n 1 said)
	END
	echo 'export NCCL_NET_PLUGIN=none NCCL_SOCKET_IFNAME==eth,ens' >job.sh
	env_of --for p5.48xlarge --script job.sh >said
	[[ $(<said) == *'harmful: NCCL_NET_PLUGIN=none'* && $(<said) == *'rule N8-exact'* ]]
	# nodes of a rack with NVLink between them
	echo 'export NCCL_MNNVL_ENABLE=0' >job.sh
	expect_line 0 "job.sh:1:8: harmful: NCCL_MNNVL_ENABLE=0: turns NVLink between the nodes of a rack off, so their data takes the network" \
		env_of --for p6e-gb200.36xlarge --script job.sh
	[[ $(env_of --for p5.48xlarge --script job.sh) != *'harmful: NCCL_MNNVL_ENABLE'* ]]
	echo 'export NCCL_MNNVL_ENABLE=1' >job.sh
	[[ $(env_of --for p6e-gb200.36xlarge --script job.sh) != *'harmful: NCCL_MNNVL_ENABLE'* ]]
}

@test "--script: without a type the counts say what some nodes would suffer" {
	for word in NCCL_IB_DISABLE=1 NCCL_P2P_DISABLE=1 NCCL_NET=Socket NCCL_NET_PLUGIN=none NCCL_SOCKET_IFNAME=eth0 \
		NCCL_IB_TIMEOUT=40 NCCL_NVLS_ENABLE=0 NCCL_PXN_DISABLE=1 NCCL_TOPO_FILE=/opt/ndv4-topo.xml; do
		echo "export $word" >job.sh
		run env_of --script job.sh
		[[ $status == 0 && ${lines[-2]} == '0 fatal, 0 harmful, '* ]]
		[[ ${lines[-1]} == 'on some nodes also '[1-9]' harmful'*'; --for TYPE and --with say if on yours' ]]
	done
	echo 'export NCCL_DEBUG=WARN' >job.sh
	expect 0 '0 fatal, 0 harmful, 0 obsolete, 0 other' env_of --script job.sh
	printf 'MASTER_ADDR=${SLURM_SUBMIT_HOST}\nexport NCCL_IB_DISABLE=1\n' >job.sh
	expect_line 0 'on some nodes also 1 fatal, 1 harmful, 1 obsolete; --for TYPE and --with say if on yours' \
		env_of --script job.sh
}

@test "--script: a topology file of another machine" {
	local type file
	while read -r type file; do
		echo "export NCCL_TOPO_FILE=/opt/$file" >job.sh
		env_of --for "$type" --script job.sh >said
		grep -q "^job.sh:1:8: harmful: NCCL_TOPO_FILE=/opt/$file: the file of .* machine\|not the file of this type" said ||
			{ echo "$type $file" && cat said && false; }
		[[ $(grep -c 'harmful: NCCL_TOPO_FILE' said) == 1 ]]
	done <<-'END'
		Standard_ND96isr_H100_v5 ndv4-topo.xml
		Standard_ND96isr_H100_v5 microsoft/ncv4/topo.xml
		Standard_ND96isr_H100_v5 p5.48xl-topo.xml
		Standard_ND96amsr_A100_v4 ndv5-topo.xml
		Standard_ND96amsr_A100_v4 ndv2-topo.xml
		BM.GPU.H100.8 microsoft/ndv5-topo.xml
		BM.GPU.H100.8 p4d-24xl-topo.xml
		p4d.24xlarge ndv4-topo.xml
		g5.48xlarge ndv4-topo.xml
		g5.48xlarge p4d-24xl-topo.xml
	END
	while read -r type file; do
		echo "export NCCL_TOPO_FILE=$file" >job.sh
		env_of --for "$type" --script job.sh >said
		[[ $(<said) != *'harmful: NCCL_TOPO_FILE'* ]] || { echo "$type $file" && cat said && false; }
	done <<-'END'
		Standard_ND96isr_H100_v5 /opt/microsoft/ndv5-topo.xml
		Standard_ND96amsr_A100_v4 /opt/microsoft/ndv4-topo.xml
		BM.GPU.H100.8 /home/opc/topo-flattened-b4.xml
		g5.48xlarge /opt/g5.48xl-topo.xml
	END
}

# adapters TYPE LIST: what the lint says of NCCL_IB_HCA=LIST on that type, in $said
adapters() {
	printf '#!/bin/bash\nexport NCCL_IB_HCA=%s\n' "$2" >job.sh
	said=$(env_of --for "$1" --script job.sh) || true
	said="$1 NCCL_IB_HCA=$2: $said"
}

@test "--script: what Google's guides for TCPX and TCPXO ask for is not harmful" {
	# https://github.com/GoogleCloudPlatform/container-engine-accelerators, gpudirect-tcpxo: its checker ends jobs without them
	printf 'export NCCL_FASTRAK_CTRL_DEV=eth0 NCCL_FASTRAK_IFNAME=eth1,eth2,eth3,eth4,eth5,eth6,eth7,eth8 NCCL_CROSS_NIC=0\n%s\nsrun a\n' \
		'export NCCL_TUNER_PLUGIN=libnccl-tuner.so NCCL_TUNER_CONFIG_PATH=/usr/local/tcpxo/lib64/a3plus_tuner_config.textproto' >job.sh
	for protocols in Simple Simple,LL128; do
		printf 'export NCCL_PROTO=%s\n' "$protocols" | cat - job.sh >google.sh
		env_of --script google.sh >said
		[[ $(<said) != *'harmful: NCCL_PROTO'* && $(<said) == *'0 fatal, 0 harmful, '* ]] || { cat said && false; }
	done
	for protocols in LL128 LL LL,LL128; do
		printf 'export NCCL_PROTO=%s\nsrun a\n' "$protocols" >job.sh
		[[ $(env_of --script job.sh) == *'harmful: NCCL_PROTO'* ]]
	done
}

@test "--script: adapters of another shape" {
	local type list said
	while read -r type list; do
		adapters "$type" "$list"
		[[ $said == *"job.sh:2:8: harmful: NCCL_IB_HCA=$list: the list of another type of node, which names devices that are not of the cluster network here"* ]] ||
			{ echo "$said" && false; }
	done <<-'END'
		BM.GPU.H100.8 =mlx5_0,mlx5_2,mlx5_6
		BM.GPU.H100.8 =mlx5_12,mlx5_2:1,mlx5_3
		BM.GPU.H100.8 =mlx5_0,mlx5_3,mlx5_11
		BM.GPU.H200.8 =mlx5_0,mlx5_1,mlx5_3,mlx5_4
		BM.GPU.B200.8 =mlx5_0,mlx5_1,mlx5_7,mlx5_8
		BM.GPU.B300.8 =mlx5_0,mlx5_3,mlx5_4
		BM.GPU4.8 =mlx5_5,mlx5_6,mlx5_7,mlx5_8
		BM.GPU.B4.8 =mlx5_0,mlx5_2,mlx5_6,mlx5_8
		BM.GPU.A100-v2.8 =mlx5_2,mlx5_13
		dgx-h100 mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7
	END
	while read -r type list; do
		adapters "$type" "$list"
		[[ $said != *"another type of node"* && $said == *"0 harmful"* ]] || { echo "$said" && false; }
	done <<-'END'
		BM.GPU.H100.8 =mlx5_0,mlx5_1,mlx5_3,mlx5_12
		BM.GPU.H100.8 ^mlx5_2,mlx5_11
		BM.GPU.H100.8 mlx5
		BM.GPU.H200.8 =mlx5_0,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_9,mlx5_10,mlx5_11
		BM.GPU.B200.8 =mlx5_0,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_9,mlx5_10,mlx5_11
		BM.GPU.B300.8 =mlx5_0,mlx5_1,mlx5_7,mlx5_8,mlx5_9,mlx5_10,mlx5_11,mlx5_12,mlx5_13,mlx5_14,mlx5_16,mlx5_17,mlx5_18,mlx5_19,mlx5_20,mlx5_21
		BM.GPU4.8 =mlx5_0,mlx5_2,mlx5_6,mlx5_8,mlx5_10,mlx5_12,mlx5_14,mlx5_16,mlx5_1,mlx5_3,mlx5_7,mlx5_9,mlx5_11,mlx5_13,mlx5_15,mlx5_17
		BM.GPU.B4.8 =mlx5_5,mlx5_6,mlx5_7,mlx5_8,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_14,mlx5_15,mlx5_16,mlx5_17,mlx5_9,mlx5_10,mlx5_11,mlx5_12
		BM.GPU.A100-v2.8 =mlx5_1,mlx5_12,mlx5_14:1
		dgx-h100 =mlx5_0,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_9,mlx5_10,mlx5_11
		dgx-h100 ^mlx5_1
		dgx-a100 =mlx5_0,mlx5_1
	END
}

@test "--script: without a type what several types have against a list is said once, with the cure of each" {
	printf 'export NCCL_IB_HCA==mlx5_0,mlx5_2,mlx5_10\n' >job.sh
	run env_of --script job.sh
	[[ $(grep -c 'harmful where instance' <<<"$output") == 1 ]]
	[[ $(grep -c 'the list of another type of node' <<<"$output") == 1 ]]
	[[ $output == *"job.sh:1:8: harmful where instance BM.GPU.H100.8: NCCL_IB_HCA==mlx5_0,mlx5_2,mlx5_10: the list of another type of node, which names devices that are not of the cluster network here
    cure: =mlx5_0,mlx5_1,mlx5_3,"*"
    the same where instance BM.GPU.H200.8, BM.GPU.B200.8, cure: =mlx5_0,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_9,mlx5_10,mlx5_11 (rule I1-shape-h200)
"* ]]
	[[ ${lines[-1]} == 'on some nodes also 1 harmful, 1 obsolete, 1 other; --for TYPE and --with say if on yours' ]]
	[[ $(env_of --script job.sh --json | jq '[.. | objects | select(.rule? // "" | startswith("I1-shape"))] | length') -gt 2 ]]
}

@test "--script: adapters of another fabric" {
	local type list words said
	while read -r type list words; do
		adapters "$type" "$list"
		[[ $said == *"job.sh:2:8: harmful: NCCL_IB_HCA=$list: $words"* ]] || { echo "$said" && false; }
	done <<-'END'
		Standard_ND96isr_H100_v5 rdmap names of EFA's devices, which are not here
		dgx-h100 =rdmap79s0,rdmap80s0 names of EFA's devices, which are not here
		BM.GPU.H100.8 efa_0 names of EFA's devices, which are not here
		dgx-h100 rocep24s0,rocep64s0 names of Ethernet's devices, and InfiniBand carries the data here
		BM.GPU.H100.8 =ibp24s0:1 names of InfiniBand's devices, and Ethernet carries the data here
		BM.GPU.H100.8 =mlx5_ib0,mlx5_ib1 names that Azure's images give to devices, which are not here
		dgx-h100 mlx5_ib names that Azure's images give to devices, which are not here
	END
	while read -r type list; do
		adapters "$type" "$list"
		[[ $said == *"0 harmful"* ]] || { echo "$said" && false; }
	done <<-'END'
		dgx-h100 mlx5_0,rdmap79s0
		dgx-h100 ^rdmap
		dgx-h100 ^roce
		dgx-h100 =ibp24s0,ibp64s0
		BM.GPU.H100.8 rocep24s0
		BM.GPU.H100.8 mlx5
		p5.48xlarge rdmap
		Standard_ND96isr_H100_v5 =mlx5_ib0,mlx5_ib1
		dgx-h100 ^mlx5_ib0
	END
	adapters Standard_ND96isr_H100_v5 =mlx5_0,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_9,mlx5_10,mlx5_11
	[[ $said == *"Azure's images call InfiniBand's devices mlx5_ib0 to mlx5_ib7"* ]] ||
		{ echo "$said" && false; }
}

# The lists of OCI's own scripts (oci-hpc b5285a6, GB300's 6f7b014, samples/gpu; GB200-v2's and v3's: oci-hpc-oke 03d3ec1, manifests/nccl-tests): each is right on its shapes, and harmful on all others
@test "--script: each shape's list on each shape of OCI" {
	local -A shape_list=(
		[BM.GPU.B4.8]="=mlx5_5,mlx5_6,mlx5_7,mlx5_8,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_14,mlx5_15,mlx5_16,mlx5_17,mlx5_9,mlx5_10,mlx5_11,mlx5_12"
		[BM.GPU4.8]="=mlx5_0,mlx5_2,mlx5_6,mlx5_8,mlx5_10,mlx5_12,mlx5_14,mlx5_16,mlx5_1,mlx5_3,mlx5_7,mlx5_9,mlx5_11,mlx5_13,mlx5_15,mlx5_17"
		[BM.GPU.H100.8]="=mlx5_0,mlx5_1,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7,mlx5_8,mlx5_9,mlx5_10,mlx5_12,mlx5_13,mlx5_14,mlx5_15,mlx5_16,mlx5_17"
		[BM.GPU.H200.8]="=mlx5_0,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_9,mlx5_10,mlx5_11"
		[BM.GPU.B300.8]="=mlx5_0,mlx5_1,mlx5_7,mlx5_8,mlx5_9,mlx5_10,mlx5_11,mlx5_12,mlx5_13,mlx5_14,mlx5_16,mlx5_17,mlx5_18,mlx5_19,mlx5_20,mlx5_21"
		[BM.GPU.GB200.4]="=mlx5_0,mlx5_1,mlx5_3,mlx5_4"
		[BM.GPU.GB300.4]="=mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_5,mlx5_6,mlx5_7,mlx5_8"
	)
	local -A same=([BM.GPU.A100-v2.8]=BM.GPU.B4.8 [BM.GPU.B200.8]=BM.GPU.H200.8 [BM.GPU.GB200-v2.4]=BM.GPU.GB200.4
		[BM.GPU.GB200-v3.4]=BM.GPU.GB300.4)
	local type of said failed=0 asked=0
	for type in BM.GPU.B4.8 BM.GPU.A100-v2.8 BM.GPU4.8 BM.GPU.H100.8 BM.GPU.H200.8 BM.GPU.B200.8 BM.GPU.B300.8 \
		BM.GPU.GB200.4 BM.GPU.GB200-v2.4 BM.GPU.GB200-v3.4 BM.GPU.GB300.4; do
		for of in "${!shape_list[@]}"; do
			adapters "$type" "${shape_list[$of]}"
			if [[ $of == "${same[$type]:-$type}" ]]; then
				[[ $said == *'0 harmful'* ]] || { echo "wrong: $of's on $type: $said"; failed=1; }
			elif [[ $of == BM.GPU.GB200.4 && $type == BM.GPU.H100.8 ]]; then
				: # a part of its own
			else
				[[ $said == *'the list of another type of node'* ]] || { echo "missed: $of's on $type"; failed=1; }
			fi
			((++asked))
		done
	done
	((asked == 77 && !failed))
	# where GB300 has several planes, its devices have names of their own
	adapters BM.GPU.GB300.4 rdma_vf_rail0,rdma_vf_rail1,rdma_vf_rail2,rdma_vf_rail3
	[[ $said == *'0 harmful'* ]]
}

@test "--script: what options do that their user did not mean" {
	cat >job.sh <<-'END'
		#!/bin/bash
		#SBATCH -N 4 --gres gpu:8 # all of them
		#SBATCH --gpus-per-task=1 -c 12
		#SBATCH --no-requeue
		MASTER_ADDR=localhost
		srun --gpu-bind=none python a.py --num_workers=12
		srun -l torchrun --nproc_per_node=8 a.py --num-workers 2
		srun bash -c 'MASTER_ADDR=$(hostname) python a.py'
	END
	env_of --with slurm=22.05.8 --script job.sh >said || [[ $? == 1 ]]
	diff <(sed -nE 's/^(job.sh:[0-9:]+ [a-z]*: [-a-zA-Z_]*).*/\1/p; s/^    rule (S.):.*/\1/p' said) - <<-END
		job.sh:2:9: note: --nodes
		S3
		job.sh:3:9: harmful: --gpus-per-task
		S1
		job.sh:3:27: harmful: --cpus-per-task
		S2
		job.sh:4:9: note: --no-requeue
		S4
		job.sh:7:42: harmful: --num-workers
		S7
		job.sh:8:14: fatal: MASTER_ADDR
		S5
	END
	env_of --with slurm=24.11.5 --script job.sh >said || [[ $? == 1 ]]
	[[ $(<said) != *S2:* ]]
	printf '#SBATCH -N2 --gpus-per-task=1\nexport MASTER_ADDR=127.0.0.1\nsrun a\n' >job.sh
	expect_line 1 'job.sh:2:8: fatal: MASTER_ADDR=127.0.0.1: each node means itself, so that a job of several never meets' \
		env_of --script job.sh
	[[ $(env_of --script job.sh) == *'harmful: --gpus-per-task=1'* ]]
	printf '#SBATCH -N1\nexport MASTER_ADDR=127.0.0.1\nsrun a\n' >job.sh
	expect 0 '0 fatal, 0 harmful, 0 obsolete, 0 other' env_of --script job.sh
}

@test "--script: a launcher of several nodes that is told to meet on each node itself" {
	for words in '--master_addr localhost' '--master-addr=127.0.0.1' '--rdzv-endpoint=localhost:29500' '--rdzv_endpoint 127.0.0.1:0'; do
		for nodes in '--nnodes=2' '--nnodes 1:4' '--nnodes=$SLURM_NNODES'; do
			printf '#SBATCH -N2 --exclusive\nsrun torchrun %s --nproc-per-node=8 %s a.py\n' "$nodes" "$words" >job.sh
			run env_of --script job.sh
			[[ $status == 1 && $output == *'fatal: --'*': each node means itself, so that a job of several never meets'*'rule S6:'* ]] ||
				{ echo "$words, $nodes: $output" && false; }
		done
		# by itself on each node, as is the default; on one node; and where another torchrun is the one of several
		for script in "srun torchrun $words a.py" "srun torchrun --nnodes=1 $words a.py" "srun torchrun $words --nnodes=1:1 a.py" \
			'srun torchrun --nnodes=2 --rdzv-endpoint=$MASTER:29500 a.py'$'\n'"torchrun $words b.py"; do
			printf '#SBATCH -N2 --exclusive\n%s\n' "$script" >job.sh
			expect 0 '0 fatal, 0 harmful, 0 obsolete, 0 other' env_of --script job.sh
		done
		printf '#SBATCH -N1\ntorchrun --nnodes=2 %s a.py\n' "$words" >job.sh
		expect 0 '0 fatal, 0 harmful, 0 obsolete, 0 other' env_of --script job.sh
	done
	# a step of one node may meet there
	for words in "srun -N1 bash -c 'MASTER_ADDR=\$(hostname) python a.py'" 'srun --nodes=1 bash -lc "export MASTER_ADDR=localhost; python a.py"' \
		'MASTER_ADDR=localhost srun -N 1 python a.py' 'srun --export=ALL,MASTER_ADDR=localhost -N1 python a.py'; do
		printf '#SBATCH -N2 --exclusive\n%s\n' "$words" >job.sh
		expect 0 '0 fatal, 0 harmful, 0 obsolete, 0 other' env_of --script job.sh
		sed -i 's/srun /srun -N2 /; s/-N \?1//; s/--nodes=1//' job.sh
		expect_line 1 '1 fatal, 0 harmful, 0 obsolete, 0 other' env_of --script job.sh
	done
	printf '#SBATCH -N2 --exclusive\nsrun bash -lc "torchrun --nnodes 2 --rdzv-endpoint localhost:29500 a.py"\n' >job.sh
	expect_line 1 '1 fatal, 0 harmful, 0 obsolete, 0 other' env_of --script job.sh
	printf '#SBATCH -N2 --exclusive\nsrun torchrun --nnodes=2 --rdzv-endpoint=localhost.example.org:29500 a.py\n' >job.sh
	expect 0 '0 fatal, 0 harmful, 0 obsolete, 0 other' env_of --script job.sh
}

@test "--script: options that do what their user meant" {
	# one task a node sees all GPUs of it, however many --gpus-per-task asks for
	for words in '-N2 --ntasks-per-node=1 --gpus-per-task=8' '-N2 -n2 --gpus-per-task=8' \
		'-N2 --gpus-per-node=8 --gpus-per-task=8'; do
		printf '#SBATCH --exclusive %s\nsrun a\n' "$words" >job.sh
		expect 0 '0 fatal, 0 harmful, 0 obsolete, 0 other' env_of --script job.sh
	done
	printf '#SBATCH -n16 --ntasks-per-node=8 --gpus-per-task=1\nsrun a\n' >job.sh
	[[ $(env_of --script job.sh) == *'harmful: --gpus-per-task=1'* ]]
	# spares, which Slurm does not give beside --exclusive
	for words in '--gang-spares=1' '--gang-spares 1/segment'; do
		printf '#SBATCH -N2 --gpus-per-node=8 %s\nsrun a\n' "$words" >job.sh
		expect 0 '0 fatal, 0 harmful, 0 obsolete, 0 other' env_of --script job.sh
	done
	printf '#SBATCH -N2 --gpus-per-node=8 --gang-spares=0\nsrun a\n' >job.sh
	[[ $(env_of --script job.sh) == *'rule S3:'* ]]
	# cores that do not come from --cpus-per-task
	for words in 'srun --cpu-bind=mask_cpu:ff,ff00 a' 'srun --cpu-bind map_cpu:0,8 a' \
		'srun --cpu-bind=verbose,none a' 'srun /usr/bin/docker run a' \
		$'srun bash -c "apt install x"\nsrun -c 12 a'; do
		printf '#SBATCH -c 12\n%s\n' "$words" >job.sh
		expect 0 '0 fatal, 0 harmful, 0 obsolete, 0 other' env_of --with slurm=22.05.8 --script job.sh
	done
	for words in 'srun --cpu-bind=cores a' 'srun podman run a'; do
		printf '#SBATCH -c 12\n%s\n' "$words" >job.sh
		[[ $(env_of --with slurm=22.05.8 --script job.sh) == *'rule S2:'* ]]
	done
}

@test "--script: what may not take effect is no more than may be harmful, and fails no script" {
	printf 'if [[ $x ]]; then\n\texport NCCL_SHM_DISABLE=1\nfi\nsrun a\n' >job.sh
	expect_line 0 'job.sh:2:9: may be harmful (this line may not run): NCCL_SHM_DISABLE=1: GPUs of a node that cannot reach each other directly then talk over the network' \
		env_of --script job.sh
	expect_line 0 'if their lines take effect also 1 harmful' env_of --script job.sh
	expect_line 0 '0 fatal, 0 harmful, 0 obsolete, 0 other' env_of --script job.sh
	[[ $(env_of --json --script job.sh | jq -c '[.fatal, .findings[0].certain, .findings[0].doubt]') == '[0,false,"branch"]' ]]
	printf 'export NCCL_SHM_DISABLE=1\n[[ $x ]] && unset NCCL_SHM_DISABLE\nsrun a\n' >job.sh
	[[ $(env_of --script job.sh) == *'may be harmful (another line may take it back before a program starts): '* ]]
	printf 'export NCCL_SHM_DISABLE=1\nunset NCCL_SHM_DISABLE\nsrun a\n' >job.sh
	expect 0 '0 fatal, 0 harmful, 0 obsolete, 0 other' env_of --script job.sh
	# a fatal one, a rule with a condition, and an option
	printf '#SBATCH -N2 --exclusive\ncase $x in a) MASTER_ADDR=localhost;; esac\nsrun a\n' >job.sh
	expect_line 0 'if their lines take effect also 1 fatal' env_of --script job.sh
	printf 'if a; then export FI_EFA_USE_DEVICE_RDMA=1; fi\nsrun a\n' >job.sh
	[[ $(env_of --script job.sh) == *'may be '*' where '*'(this line may not run): FI_EFA_USE_DEVICE_RDMA=1'* ]]
	printf 'if a; then srun --gpus-per-task=1 b; else srun c; fi\n' >job.sh
	[[ $(env_of --script job.sh) == *':17: may be harmful (this line may not run): --gpus-per-task=1: '* ]]
}

@test "--script: what sbatch does not read, and a script that it refuses" {
	printf '#!/bin/bash\n#SBATCH -N2\ncd x\n#SBATCH --exclusive # all\n##SBATCH -N3\n#SBATCH # nothing\nsrun a\n' >job.sh
	expect_line 0 'job.sh:4:1: harmful: #SBATCH --exclusive # all: sbatch reads no #SBATCH after the first command, so that the job is not what the line asks for' \
		env_of --script job.sh
	[[ $(env_of --script job.sh | grep -c S10) == 1 ]]
	# after blanks, before and after the first command
	printf '#!/bin/bash\n#SBATCH -N2 --exclusive\n #SBATCH --no-requeue\nsrun a\nif b; then\n\t#SBATCH -N3\nfi # #SBATCH -N4\n' >job.sh
	expect_line 0 'job.sh:3:2: harmful: #SBATCH --no-requeue: sbatch reads #SBATCH only where a line begins with it, so that the job is not what the line asks for' \
		env_of --script job.sh
	[[ $(env_of --script job.sh | sed -nE 's/^job.sh:([0-9:]+) .*/\1/p') == $'3:2:\n6:2:' ]]
	[[ $(env_of --script job.sh | grep -c S15) == 2 ]]
	# a shell takes away the tabs of a <<-, and no blanks
	printf 'sbatch <<-EOF\n\t#!/bin/sh\n\t#SBATCH -N2\n\tsrun a\n\tEOF\n' >job.sh
	expect 0 '0 fatal, 0 harmful, 0 obsolete, 0 other' env_of --script job.sh
	printf 'sbatch <<-EOF\n\t#!/bin/sh\n\t #SBATCH -N2\n\tsrun a\n\tEOF\n' >job.sh
	[[ $(env_of --script job.sh | grep -c S15) == 1 ]]
	# of a script in a script, which begins anew
	printf '#!/bin/bash\ncd x\nsbatch <<EOF\n#!/bin/bash\n#SBATCH -N2\nsrun a\nEOF\ncat >f <<EOF\n#SBATCH -N3\nEOF\n' >job.sh
	expect 0 '0 fatal, 0 harmful, 0 obsolete, 0 other' env_of --script job.sh
	printf '#!/bin/bash\n#SBATCH -N2 --exclusive\r\nexport NCCL_SHM_DISABLE=1\r\nexport B="a\r\nb\rc"\nsrun a\n' >job.sh
	env_of --script job.sh >said || [[ $? == 1 ]]
	grep -qF 'job.sh:2:1: fatal: line end CR LF: sbatch refuses a script with line ends of DOS, ' said
	grep -qF 'job.sh:3:8: harmful: NCCL_SHM_DISABLE=1: ' said
	grep -qxF '1 fatal, 1 harmful, 0 obsolete, 0 other' said
	[[ $(<said) != *$'\r'* ]]
}

@test "--script: more processes than GPUs, a port that no user gets, and a start of one node alone" {
	fatal() { # SCRIPT RULE
		printf "%b" "$1" >job.sh
		env_of --script job.sh >said && return 1
		[[ $(<said) == *"rule $2:"* && $(<said) == *$'\n1 fatal, 0 harmful, '* ]] || { cat said && false; }
	}
	fine() {
		printf "%b" "$1" >job.sh
		expect 0 '0 fatal, 0 harmful, 0 obsolete, 0 other' env_of --script job.sh
	}
	head='#SBATCH -N4 --exclusive --ntasks-per-node=8\n'
	fatal "${head}srun torchrun --nproc-per-node 8 a\n" S12
	fatal "${head}srun --gres=gpu:h100:8 python -m torch.distributed.run --nproc_per_node=2 a\n" S12
	fatal "${head}srun bash -c 'torchrun --nproc_per_node=8 a'\n" S12
	fatal "#SBATCH --exclusive\nsrun -N2 -n16 torchrun --nproc_per_node=8 a\n" S12
	# the line of a text within
	fatal "${head}srun bash -c '\ncd x\n  torchrun --nproc_per_node=8 a'" S12
	grep -q '^job.sh:4:12: fatal: --nproc-per-node' said
	fine "${head}srun --ntasks-per-node=1 torchrun --nproc-per-node 8 a\n"
	fine "${head}srun -n4 torchrun --nproc-per-node 8 a\n"
	fine "${head}srun torchrun --nproc-per-node 1 a\n"
	fine "#SBATCH --gres=gpu:8 --ntasks-per-node=2\nsrun torchrun --nproc-per-node 4 a\n"
	fine "#SBATCH --ntasks-per-node=2\nsrun torchrun --nproc-per-node 4 a\n"
	fine "${head}torchrun --nproc-per-node 8 a\n"
	# srun's options whose value is the next word, and those in a variable
	fine "${head}srun --mpi pmix --output log -n4 torchrun --nproc-per-node 8 a\n"
	fine "${head}srun --container-image i --tasks-per-node=1 bash -c 'torchrun --nproc-per-node 8 a'\n"
	fine "${head}srun \$ARGS torchrun --nproc-per-node 8 a\n"
	fine "${head}srun \"\${ARGS[@]}\" bash -c 'torchrun --nproc-per-node 8 a'\n"
	fine "${head}export SLURM_NTASKS_PER_NODE=1\nsrun torchrun --nproc-per-node 8 a\n"
	fatal "${head}srun --mpi pmix torchrun --nproc-per-node 8 a\n" S12
	fatal "#SBATCH -N4 --exclusive --tasks-per-node=8\nsrun torchrun --nproc-per-node 8 a\n" S12
	# GPUs among other resources, and those of the job
	fine "#SBATCH -N4 --exclusive --gres=nvme:1 --ntasks-per-node=2\nsrun torchrun --nproc-per-node 4 a\n"
	fine "#SBATCH -N4 --exclusive --gres=nvme:1,gpu:8 --ntasks-per-node=2\nsrun torchrun --nproc-per-node 2 a\n"
	fatal "${head}srun --gres=gpu:8,nvme:1 torchrun --nproc-per-node 2 a\n" S12
	fine "#SBATCH -N4 --exclusive --gpus=64 --ntasks-per-node=4\nsrun torchrun --nproc-per-node 4 a\n"
	fatal "#SBATCH -N4 --exclusive --gpus=32 --ntasks-per-node=4\nsrun torchrun --nproc-per-node 4 a\n" S12
	# a task that has GPUs of its own
	for words in '--gpus-per-node=8 --gpus-per-task=1' --gpus-per-task=1 --gpus-per-task=h100:1; do
		printf '%b' "${head}#SBATCH $words\nsrun torchrun --nproc-per-node 8 a\n" >job.sh
		[[ $(env_of --script job.sh) == *'rule S12:'*'1 fatal, 1 harmful'* ]]
	done
	for words in --gpus-per-task=8 "--gpus-per-task=\$G"; do
		printf '%b' "${head}#SBATCH $words\nsrun torchrun --nproc-per-node 8 a\n" >job.sh
		[[ $(env_of --script job.sh) != *S12* ]]
	done
	# another program's option
	fine "${head}srun prepare --nproc-per-node 8 a\n"
	for port in 22 1023 65536; do
		fatal "export MASTER_PORT=$port\nsrun a\n" S13
		fatal "srun torchrun --master_port $port a\n" S13
		fatal "srun torchrun --rdzv-endpoint=\$M:$port a\n" S13
	done
	for port in 0 1024 29500 65535 \$P; do
		fine "export MASTER_PORT=$port\nsrun a\n"
		fine "srun torchrun --rdzv-endpoint=\$M:$port --master-port=$port a\n"
	done
	# what is added to, or set by arithmetic, is another port
	for more in 'MASTER_PORT+=00' 'MASTER_PORT=${MASTER_PORT}00' 'MASTER_PORT=$(expr $MASTER_PORT + 29000)' 'let MASTER_PORT+=29000' \
		'((MASTER_PORT += 29000))' '((MASTER_PORT=1<<15))' ': $((MASTER_PORT += 29000))' 'declare -i MASTER_PORT; MASTER_PORT+=29000' \
		'IFS=: read -r MASTER_ADDR MASTER_PORT <rendezvous' 'read MASTER_PORT rest <port'; do
		fine "export MASTER_PORT=295\n$more\nsrun a\n"
	done
	fatal 'export MASTER_PORT=295\nMASTER_PORTS+=1\nMASTER_PORT2=${MASTER_PORT}1\n((MASTER_PORT == 295))\nsrun a\n' S13
	fine 'srun torchrun --rdzv-endpoint=$M a\n'
	fine 'srun torchrun --rdzv-backend=etcd-v2 --rdzv-endpoint=etcd:80 a\n'
	fatal 'srun torchrun --rdzv-backend=c10d --rdzv-endpoint=$M:80 a\n' S13
	head='#SBATCH -N4 --exclusive\n'
	for nodes in --nnodes=4 '--nnodes 2:4' '--nnodes=$SLURM_NNODES' '--nnodes ${SLURM_JOB_NUM_NODES}'; do
		fatal "$head"'IP=$(srun -N1 hostname -i)\n'"torchrun $nodes --rdzv-endpoint=\$IP:29500 a\n" S14
		fine "${head}srun torchrun $nodes a\n"
		fine "${head}torchrun $nodes a\nsrun b\n"
		fine "#SBATCH -N1\ntorchrun $nodes a\n"
		fine "torchrun $nodes a\n"
	done
	fine "${head}torchrun --nnodes=1:4 a\n"
	fine "${head}torchrun --nnodes=\$N a\n"
	# a launcher in a variable, in a text and of a site; another program's option; words that are only shown
	fine "${head}\$SRUN torchrun --nnodes=4 a\n"
	fine "${head}LAUNCHER='/usr/bin/srun -l torchrun'\ntorchrun --nnodes=4 a\n"
	fine "${head}eval 'srun torchrun --nnodes=4 a'\ntorchrun --nnodes=4 a\n"
	fine "${head}ibrun torchrun --nnodes=4 a\n"
	fine "${head}python submit.py --nnodes=4\n"
	fine "${head}echo torchrun --nnodes=4\nif a; then echo torchrun --nnodes=4; fi\n"
	# a script of the user's own may start the others
	fine "${head}./start_workers.sh &\ntorchrun --nnodes=4 a\n"
	fine "${head}torchrun --nnodes=4 a &\nnohup bash -x start_workers\n"
	fine "${head}A=b ~/bin/start-workers\ntorchrun --nnodes=4 a\n"
	fatal "${head}source venv/bin/activate\n/usr/bin/nvidia-smi\ntorchrun --nnodes=4 a\n" S14
	# and so may a Python program, which is not read
	for program in 'python launch.py &' '/opt/venv/bin/python -m launch &' 'uv run launch.py &' 'bash -c "python launch.py" &'; do
		printf '%b' "${head}$program\ntorchrun --nnodes=4 a\n" >job.sh
		env_of --script job.sh >said
		grep -q '^job.sh:3:10: may be fatal (another program of the script may start the others): --nnodes=4: ' said
		grep -qxF 'if their lines take effect also 1 fatal' said
		[[ $(env_of --json --script job.sh | jq -c '[.fatal, .findings[0].certain, .findings[0].doubt]') == '[0,false,"started"]' ]]
	done
	fatal "${head}bash -c 'cd x'\n./venv/bin/torchrun --nnodes=4 a\n" S14
	# a command in \$(...) starts nothing, also the second one
	fatal "$head"'IP=$(cd $(pwd); srun -N1 hostname -i)\ntorchrun --nnodes=4 a\n' S14
	# nor does a script that is read
	fatal "${head}cat >run.sh <<'E'\ntorchrun --nnodes=4 a\nE\nbash run.sh\n" S14
	fine "${head}cat >run.sh <<'E'\nsrun torchrun --nnodes=4 a\nE\nbash run.sh\n"
	fine "${head}cat >run.sh <<'E'\ntorchrun --nnodes=4 a\nE\nbash other.sh\n"
	fatal "${head}\$PYTHON -m torch.distributed.run --nnodes=4 a\n" S14
	fatal "${head}apptainer exec \$IMAGE torchrun --nnodes=4 a\n" S14
	fatal "${head}ARGS=(--nnodes=4)\ntorchrun \"\${ARGS[@]}\" a\n" S14
}

# harmful SCRIPT LINE:COLUMN: NCCL_ALGO is found there, and nothing else; SCRIPT alone: nothing is found
harmful() {
	printf '%b' "#!/bin/bash\n$1\n" >job.sh
	env_of --for dgx-h100 --script job.sh >said
	diff <(sed -nE 's/^job.sh:([0-9:]+): harmful: .*/\1/p; /^0 fatal/!{s/^(if their lines .*|.* may be .*)/\1/p}' said) <(printf '%s' "${2:+$2$'\n'}") ||
		{ echo "$1" && cat said && false; }
}

@test "--script: texts in texts" {
	harmful 'X=$(echo $(NCCL_ALGO=Ring prog))' 2:1
	harmful "bash -c 'X=\$(NCCL_ALGO=Ring prog)'" 2:9
	harmful 'srun singularity exec i bash -c "cd x\nbash -c \x27\nNCCL_ALGO=Ring prog\x27"' 4:1
	harmful "eval \"bash -c 'export NCCL_ALGO=Ring; prog'\"" 2:6
	harmful 'export NCCL_ALGO=Ring\nX=$(bash -c "unset NCCL_ALGO; prog")'
	harmful 'export NCCL_ALGO=Ring\nX=$(bash -c "unset NCCL_ALGO; prog"; prog)' 2:8
	harmful "pdsh -w n 'export NCCL_ALGO=Ring; cd x; prog'" 2:11
	# more than eight are passed over
	harmful "$(printf '$(echo %.0s' {1..20}) \$(NCCL_ALGO=Ring prog) $(printf ')%.0s' {1..20})"
	printf '#SBATCH -N2 --exclusive\nmpirun bash -c "export MASTER_ADDR=\\$(hostname); a"\n' >job.sh
	run env_of --script job.sh
	[[ $status == 1 && $output == *'job.sh:2:16: fatal: MASTER_ADDR=$(hostname): '*'rule S5:'* ]]
}

@test "--script: what the script's own shell puts into a text for another" {
	local command
	for command in '"export MASTER_ADDR=$(hostname); a"' '"MASTER_ADDR=$HOSTNAME N=\$SLURM_NODEID a"' '"MASTER_ADDR=`hostname -s` a"' \
		"'export MASTER_ADDR='\$(hostname)'; a \$X'" '"
cd x
MASTER_ADDR=${SLURMD_NODENAME} a"'; do
		printf '#SBATCH -N2 --exclusive\nsrun bash -c %s\n' "$command" >job.sh
		expect 0 '0 fatal, 0 harmful, 0 obsolete, 0 other' env_of --script job.sh
	done
	for command in '"export MASTER_ADDR=\$(hostname); a"' '"MASTER_ADDR=\$HOSTNAME N=$N a"' "'MASTER_ADDR=\$(hostname) a '\"\$X\"" '"$(a) \$(b); MASTER_ADDR=\$(hostname) a"'; do
		printf '#SBATCH -N2 --exclusive\nsrun bash -c %s\n' "$command" >job.sh
		run env_of --script job.sh
		[[ $status == 1 && $output == *'job.sh:2:14: fatal: MASTER_ADDR='*'rule S5:'* ]] || { cat job.sh && echo "$output" && false; }
	done
	# what it runs for that is a command of its own
	harmful 'bash -c "X=$(NCCL_ALGO=Ring prog); b"' 2:9
	harmful 'ssh n "cd $(pwd); NCCL_ALGO=Ring prog \$(b)"' 2:7
	harmful 'bash -c "\ncd $(pwd)\nNCCL_ALGO=Ring prog"' 4:1
}

@test "--script: the body of a here-document that a shell reads is a process of its own" {
	# what it sets ends with it, and what is set before reaches it
	harmful 'bash <<E\nexport NCCL_ALGO=Ring\nE\nprog'
	harmful 'bash -s x <<-E\n\texport NCCL_ALGO=Ring\n\tprog\n\tE' 3:9
	harmful 'export NCCL_ALGO=Ring\ncat <<E | bash -x -\nprog\nE' 2:8
	harmful 'export NCCL_ALGO=Ring\nbash <<E\nunset NCCL_ALGO\nprog\nE'
	harmful 'export NCCL_ALGO=Ring\nbash <<E\nunset NCCL_ALGO\nE\nprog' 2:8
	harmful 'NCCL_ALGO=Ring bash <<E\nprog\nE' 2:1
	harmful 'export NCCL_ALGO=Ring\nenv -u NCCL_ALGO bash <<E\nprog\nE'
	harmful 'export NCCL_ALGO=Ring\ndocker run -i image bash <<E\nprog\nE'
	harmful 'export NCCL_ALGO=Ring\nsbatch --export=NONE <<E\n#!/bin/bash\nsrun prog\nE'
	harmful 'sbatch <<E\n#!/bin/bash\nexport NCCL_ALGO=Ring\nE\nprog'
	harmful 'sbatch <<E\n#!/bin/bash\nexport NCCL_ALGO=Ring\nsrun prog\nE' 4:8
	harmful 'sudo -u x bash -s <<E\nbash <<F\nexport NCCL_ALGO=Ring\nF\nexport NCCL_SHM_DISABLE=1\nprog\nE' 6:8
	harmful "bash <<'E'\nexport NCCL_ALGO=Ring\necho don't\nE\nprog"
	# that is data for its script, or for another program
	harmful 'bash a.sh <<E\nexport NCCL_ALGO=Ring\nE\nprog'
	harmful 'srun python <<E\nNCCL_ALGO=Ring prog\nE\nprog'
	# and that may not be read
	printf '#!/bin/bash\na || bash <<E\nexport NCCL_ALGO=Ring\nprog\nE\n' >job.sh
	env_of --for dgx-h100 --script job.sh >said
	grep -q '^job.sh:3:8: may be harmful (this line may not run): NCCL_ALGO=Ring: ' said
	# on another host nothing is known
	for command in 'ssh host' 'ssh host bash -s' 'ssh -o A=b u@host sudo bash' 'timeout 9 /usr/bin/ssh host sbatch' 'pdsh -w a bash'; do
		harmful "export NCCL_ALGO=Ring\n$command <<E\nexport NCCL_SHM_DISABLE=1\nprog\nE"
		harmful "export NCCL_ALGO=Ring\n$command <<E\nunset NCCL_ALGO\nE\nprog" 2:8
		harmful "cat <<E | $command\nexport NCCL_ALGO=Ring\nprog\nE\nprog"
	done
}

@test "--script: values that NCCL takes for none, and lists of what it leaves out" {
	local name
	for name in NCCL_IB_DISABLE NCCL_P2P_DISABLE NCCL_SHM_DISABLE NCCL_PXN_DISABLE NCCL_ALGO; do
		harmful "export $name=\nprog"
		harmful "export $name=1\nprog" 2:8
	done
	harmful 'export NCCL_P2P_LEVEL=0\nprog' 2:8
	harmful 'export NCCL_P2P_LEVEL=NVL\nprog'
	harmful 'export NCCL_ALGO=^Tree\nprog'
	for name in ^Ring ^CollNetDirect,ring ^NVLS ^Tree,NVLSTree; do
		harmful "export NCCL_ALGO=$name\nprog" 2:8
	done
	printf 'export NCCL_ALGO=\nprog\n' >job.sh
	[[ $(env_of --for dgx-h100 --with nccl=2.23 --script job.sh) == *'job.sh:1:8: harmful: NCCL_ALGO=: '*'rule N5-empty:'* ]]
	[[ $(env_of --for dgx-h100 --with nccl=2.24 --script job.sh) == *$'\n0 fatal, 0 harmful, '* ]]
}

@test "--script: what libfabric aborts on from a release on, and an empty NCCL_NET" {
	verdict() { # ASSIGNMENT SOFTWARE SEVERITY [RULE]
		printf '#!/bin/bash\nexport %s\nprog\n' "$1" >job.sh
		env_of --for p4d.24xlarge --with "$2" --script job.sh >said || [[ $? == 1 ]]
		[[ $(sed -nE 's/^job.sh:2:8: ([a-z]*): .*/\1/p' said) == "$3" && ( -z $3 || $(<said) == *"rule $4"* ) ]] || { echo "$@" && cat said && false; }
	}
	verdict FI_EFA_MTU_SIZE=9000 libfabric=1.17.1 ''
	verdict FI_EFA_MTU_SIZE=9000 libfabric=1.18.0 fatal E11:
	verdict FI_EFA_TX_IOV_LIMIT=4 libfabric=1.18.0 ''
	verdict FI_EFA_RX_IOV_LIMIT=4 libfabric=1.19.0 fatal E11-iov:
	verdict FI_EFA_SHM_MAX_MEDIUM_SIZE=1 libfabric=1.13 ''
	verdict FI_EFA_SHM_MAX_MEDIUM_SIZE=1 libfabric=1.14 fatal E11-shm:
	verdict FI_EFA_SHM_MAX_MEDIUM_SIZE=1 libfabric=1.20 obsolete E14:
	verdict FI_EFA_TX_MIN_CREDITS=0 libfabric=1.17.1 ''
	verdict FI_EFA_TX_MIN_CREDITS=0 libfabric=1.18.0 fatal E12:
	verdict FI_EFA_IFACE= libfabric=2.0.0 fatal E12-iface:
	verdict NCCL_NET= nccl=2.9 obsolete V2:
	verdict NCCL_NET= nccl=2.10 fatal N36-empty:
	verdict NCCL_NET= nccl=2.30 fatal N36-empty:
	verdict NCCL_NET=IB nccl=2.30 ''
	# and without a release it is said where
	printf '#!/bin/bash\nexport NCCL_NET=\nprog\n' >job.sh
	env_of --for p4d.24xlarge --script job.sh >said
	grep -q 'fatal where nccl >=2.10' said
	grep -q '^0 fatal, ' said
}

@test "--script: what a loop sets for its next round" {
	printf '#!/bin/bash\nfor i in a b; do prog; export NCCL_ALGO=Ring; done\nunset NCCL_ALGO\n' >job.sh
	env_of --for dgx-h100 --script job.sh >said
	grep -q '^job.sh:2:31: may be harmful (another line may take it back before a program starts): NCCL_ALGO=Ring: ' said
	# not if each round begins anew, nor from a process in it, nor after it
	for script in 'for i in a b; do NCCL_ALGO=$(x); prog; export NCCL_ALGO=Ring; done\nunset NCCL_ALGO' \
		'for i in a b; do prog; (export NCCL_ALGO=Ring); done' \
		'for i in a b; do prog; done\nexport NCCL_ALGO=Ring; unset NCCL_ALGO' \
		'while read i; do export NCCL_ALGO=Ring; done; unset NCCL_ALGO; prog'; do
		harmful "$script"
	done
}

@test "--script: a command that is given no variables, and one that goes on beside the script" {
	for words in 'env -i PATH=$PATH prog' 'env - prog' 'env -u X --ignore-environment prog' 'srun env -i prog' 'exec -c prog' \
		'exec -a name -cl prog' 'ssh node prog' 'docker run -e NCCL_DEBUG=INFO image prog' 'srun docker exec c prog' \
		'docker run --env-file f image prog' 'podman run --env-file=f -e A image prog' 'podman run --env-host=false image prog' \
		'apptainer exec --nv --cleanenv i prog' 'env -u NCCL_ALGO prog'; do
		harmful "export NCCL_ALGO=Ring\n$words"
		harmful "export NCCL_ALGO=Ring\n$words\nprog" 2:8
	done
	for words in 'env -u X prog' 'env -C i prog' 'exec -a c prog' 'srun docker run -e NCCL_ALGO image prog' 'docker run $ARGS image prog' \
		'docker run --env NCCL_ALGO=$NCCL_ALGO image prog' 'podman run --env-host image prog' 'docker run --env-file f -e NCCL_ALGO image prog' 'apptainer exec --nv i prog -e' \
		'singularity exec -c i prog'; do
		harmful "export NCCL_ALGO=Ring\n$words" 2:8
	done
	harmful 'env NCCL_ALGO=Ring prog &\nwait' 2:5
	harmful 'env -i NCCL_ALGO=Ring prog' 2:8
	harmful 'env -u X NCCL_ALGO=Ring prog' 2:10
	harmful 'A=(NCCL_ALGO=Ring)\nunset NCCL_ALGO\nenv "${A[@]}" prog' 2:4
	harmful 'export APPTAINERENV_NCCL_ALGO=Ring\nsrun apptainer exec -e i prog' 2:8
	harmful 'apptainer exec --env NCCL_DEBUG=INFO,NCCL_ALGO=Ring i prog' 2:22
	harmful 'singularity exec --env=NCCL_DEBUG=INFO,NCCL_ALGO=Ring i prog' 2:18
}

# As a Slurm of 22.05.8 answered, and the source of 25.11.7 has it (src/srun/launch.c, src/sbatch/opt.c)
@test "--script: which variables srun and sbatch pass on" {
	for words in --export=NONE --export=NIL --export=PATH --export=NCCL_DEBUG=x,HOME '--export NONE,ALL'; do
		harmful "export NCCL_ALGO=Ring\nsrun $words prog"
		harmful "export NCCL_ALGO=Ring\nsbatch $words prog"
		harmful "#SBATCH ${words/ /=}\nexport NCCL_ALGO=Ring\nsrun -n 4 prog"
		harmful "#SBATCH ${words/ /=}\nexport NCCL_ALGO=Ring\nprog" 3:8
		harmful "#SBATCH ${words/ /=}\nexport NCCL_ALGO=Ring\nsrun --export=ALL prog" 3:8
		for end in 'unset SLURM_EXPORT_ENV' 'export SLURM_EXPORT_ENV=ALL'; do
			harmful "#SBATCH ${words/ /=}\n$end\nexport NCCL_ALGO=Ring\nsrun prog" 4:8
		done
		harmful "#SBATCH ${words/ /=}\nexport NCCL_ALGO=Ring\nSLURM_EXPORT_ENV=ALL srun prog" 3:8
	done
	harmful 'export NCCL_ALGO=Ring\nSLURM_EXPORT_ENV=NONE srun prog'
	harmful 'export NCCL_ALGO=Ring\nSLURM_EXPORT_ENV=NONE srun a\nsrun prog' 2:8
	for words in --export=ALL --export=PATH,NCCL_ALGO '--export all,X=b' '--export=$LIST' '--export=X=b,ALL'; do
		harmful "export NCCL_ALGO=Ring\nsrun $words prog" 2:8
	done
	# beside ALL, srun keeps what is exported; sbatch takes its list
	harmful 'export NCCL_ALGO=Ring\nsrun --export=ALL,NCCL_ALGO=Tree prog' 2:8
	harmful 'srun --export=ALL,NCCL_ALGO=Tree prog' 2:6
	harmful 'NCCL_ALGO=$(x)\nsrun --export=ALL,NCCL_ALGO=Tree prog' 3:6
	harmful 'export NCCL_ALGO=Ring\nsrun --export=NCCL_ALGO=Tree prog' 3:6
	harmful 'export NCCL_ALGO=Ring\nsbatch --export=ALL,NCCL_ALGO=Tree prog' 3:8
	harmful 'srun --export=NONE bash -c "export NCCL_ALGO=Ring; prog"' 2:28
}

@test "--script: a file that the script writes with a here-document, and runs" {
	local head='#SBATCH -N4 --exclusive\ncat >run.sh <<' body='\n#!/bin/bash\nexport MASTER_ADDR=$(hostname)\npython a\nEOF\n'
	fatal() {
		printf '%b' "$1" >job.sh
		run env_of --script job.sh
		[[ $status == 1 && $output == *"job.sh:4:8: fatal: MASTER_ADDR="*'rule S5:'* ]] || { echo "$1: $output" && false; }
	}
	fine() {
		printf '%b' "$1" >job.sh
		expect 0 '0 fatal, 0 harmful, 0 obsolete, 0 other' env_of --script job.sh
	}
	for run in 'srun bash run.sh' 'chmod +x run.sh\nsrun -n 4 ./run.sh a' 'srun --container-image i bash ./run.sh' 'mpirun ./run.sh'; do
		fatal "$head'EOF'$body$run\n"
		fatal "${head}EOF${body/\$/\\\\\$}$run\n"
		fine "${head}EOF$body$run\n" # the script's own shell has put its node's name in
	done
	for run in 'cat run.sh' 'srun bash other.sh' 'bash run.sh' 'srun -N1 bash run.sh'; do
		fine "$head'EOF'$body$run\n"
	done
	harmful "tee f >/dev/null <<E\nexport NCCL_ALGO=Ring\nE\n. ./f\nprog" 3:8
	harmful "cat <<'E' >\$HOME/f.sbatch\nexport NCCL_ALGO=Ring\nprog\nE\nsbatch \$HOME/f.sbatch" 3:8
	harmful "cat >f <<'E'\nunset NCCL_ALGO\nE\nexport NCCL_ALGO=Ring\n. f\nprog"
}

@test "--script: fewer GPUs than the job has" {
	idle() { # SCRIPT LINE:COLUMN
		printf '%b' "$1" >job.sh
		env_of --for p5.48xlarge --script job.sh >said
		[[ $(sed -nE 's/^job.sh:([0-9:]+): harmful: CUDA_VISIBLE_DEVICES=.* see none but these$/\1/p' said) == "${2-}" ]] ||
			{ echo "$1" && cat said && false; }
		[[ ! ${2-} ]] || grep -q 'rule S16:' said
	}
	idle '#SBATCH -N1 --gpus-per-node=8\nexport CUDA_VISIBLE_DEVICES=0\ntorchrun a\n' 2:8
	idle '#SBATCH -N2 --exclusive\nexport CUDA_VISIBLE_DEVICES=0,1,2,3\nsrun a\n' 2:8
	idle '#SBATCH --exclusive\nCUDA_VISIBLE_DEVICES=0,0 python a\n' 2:1
	idle '#SBATCH -N1 --gres=gpu:h100:8\nmodule load x\nexport CUDA_VISIBLE_DEVICES=GPU-1,GPU-2\npython a\n' 3:8
	# all of them, none, a part that was asked for, and a value that is each process's own
	for value in 0,1,2,3,4,5,6,7 '' -1 NoDevFiles MIG-a '$SLURM_LOCALID' '${CUDA_VISIBLE_DEVICES:-0}'; do
		idle "#SBATCH -N1 --gpus-per-node=8\nexport CUDA_VISIBLE_DEVICES=$value\npython a\n"
	done
	for words in --gpus=1 --gres=gpu:1 '--gpus-per-task=1 -n1' '-N2 --gpus=2' --gpus-per-node=h100:1; do
		idle "#SBATCH -N1 $words\nexport CUDA_VISIBLE_DEVICES=0\npython a\n"
	done
	# several programs with several GPUs, one that only prepares, one in a branch
	idle '#SBATCH --exclusive\nCUDA_VISIBLE_DEVICES=0,1,2,3 a &\nCUDA_VISIBLE_DEVICES=4,5,6,7 b\n'
	idle '#SBATCH --exclusive\nfor i in 0 1 2 3; do CUDA_VISIBLE_DEVICES=$i a & done\n'
	idle '#SBATCH --exclusive\nCUDA_VISIBLE_DEVICES=0 python prepare\ntorchrun a\n'
	idle '#SBATCH --exclusive\nexport CUDA_VISIBLE_DEVICES=0\npython prepare\nunset CUDA_VISIBLE_DEVICES\ntorchrun a\n'
	idle '#SBATCH --exclusive\nif [[ $one ]]; then export CUDA_VISIBLE_DEVICES=0; fi\ntorchrun a\n'
	idle '#SBATCH --exclusive\n(export CUDA_VISIBLE_DEVICES=0; a) &\nb\n'
	# one for each process: a variable that the next round, or the next call, finds changed
	for words in 'g=0\nfor i in 1 2; do CUDA_VISIBLE_DEVICES=$g a & g=$((g+1)); done' 'g=0\nwhile read i; do CUDA_VISIBLE_DEVICES=$g a & let g+=1; done' \
		'g=0\nfor i in 1 2; do export CUDA_VISIBLE_DEVICES=$g; a & ((g++)); done' 'g=0\nfor i in 1 2; do d=$g; CUDA_VISIBLE_DEVICES=$d a & g=1; done' \
		'g=0\nfor i in 1 2; do for j in 3 4; do CUDA_VISIBLE_DEVICES=$g a & done; g=1; done' 'g=0\na $g\nfor g in 1 2; do CUDA_VISIBLE_DEVICES=$g a & done' \
		'g=0\nr() { CUDA_VISIBLE_DEVICES=$g a & }\nr\ng=1\nr' 'g=0\na $g\nread g <f\nCUDA_VISIBLE_DEVICES=$g a'; do
		idle "#SBATCH --exclusive\n$words\n"
	done
	idle '#SBATCH --exclusive\ng=0\nfor i in 1 2; do CUDA_VISIBLE_DEVICES=$g a $i; h=1; done\n' 3:18
	idle '#SBATCH --exclusive\ng=0\nfor i in 1 2; do a $i; done\ng=1\nexport CUDA_VISIBLE_DEVICES=$g\n'
	idle '#SBATCH --exclusive\ng=0\nfor i in 1 2; do h=$g; done\ng=1\nexport CUDA_VISIBLE_DEVICES=$g\na\n' 5:8
	# Slurm sets it anew for a step that has GPUs of its own
	idle '#SBATCH -N2 --gpus-per-node=8\nexport CUDA_VISIBLE_DEVICES=0\nsrun a\n'
	idle "#SBATCH -N2 --gpus-per-node=8\nsrun bash -c 'CUDA_VISIBLE_DEVICES=0 a'\n" 2:14
	# where nothing says that the job has the node
	idle 'export CUDA_VISIBLE_DEVICES=0\na\n'
	grep -q '^job.sh:1:8: harmful where partial_node no: CUDA_VISIBLE_DEVICES=0: ' said
	[[ $(env_of --for p5.48xlarge --with partial_node=no --script job.sh) == *':8: harmful: CUDA_VISIBLE_DEVICES=0: '* ]]
	[[ $(env_of --for p5.48xlarge --with partial_node=yes --script job.sh) != *S16* ]]
	[[ $(env_of --for g6.xlarge --script job.sh)$(env_of --script job.sh) != *S16* ]]
}

@test "--script: of a script of another language only what sbatch reads is judged" {
	printf '#!/usr/bin/env python3\n#SBATCH -N4 --exclusive --no-requeue\nimport os\n#SBATCH -n8\nMASTER_ADDR="localhost"\nMASTER_PORT=22\n' >job.py
	env_of --script job.py >said
	[[ $(sed -nE 's/^job.py:([0-9]+).*/\1/p' said) == $'2\n4' ]]
	grep -qxF '0 fatal, 1 harmful, 0 obsolete, 1 other' said
}

@test "--script: bash bears out what is sure of random scripts" {
	python3 "$SOURCE/tests/command/lint_oracle.py" --seed 1 --count 25 >said || { cat said && false; }
	grep -qE '^25 scripts, 1[0-9]{2} settings, 0 differences that are not known$' said
	# one in which srun gives a program a single variable
	python3 "$SOURCE/tests/command/lint_oracle.py" --seed 901 --count 1 >said || { cat said && false; }
}

@test "--script: the host that submits is no place to meet" {
	printf '#SBATCH -N2\nMASTER_ADDR=$SLURM_SUBMIT_HOST\nsrun a\n' >job.sh
	run env_of --script job.sh
	[[ $status == 1 && $output == *'job.sh:2:1: fatal: MASTER_ADDR=$SLURM_SUBMIT_HOST: '*'rule S8:'* ]]
	printf 'MASTER_ADDR=${SLURM_SUBMIT_HOST}\nsrun a\n' >job.sh
	run env_of --script job.sh
	[[ $status == 0 && $output == *'job.sh:1:1: fatal where nodes >1: MASTER_ADDR'*'rule S8:'* ]]
	printf '#SBATCH -N1\nMASTER_ADDR=$SLURM_SUBMIT_HOST\nsrun a\n' >job.sh
	expect 0 '0 fatal, 0 harmful, 0 obsolete, 0 other' env_of --script job.sh
}

@test "--script: a name of the script's own, one that is another, and one that is passed on" {
	cat >job.sh <<-'END'
		NCCL_DEBG=INFO; a
		NCCL_PROTOO=Simple
		export NCCL_PROTOO
		export NCCL_DEBG=INFO NCCL_TIMEOUT=1800
		mpirun -x NCCL_ALGO=${NCCL_ALGO} -x NCCL_PROTO=$NCCL_PROTO a
		mpirun -x NCCL_ALGO=${NCCL_ALG} a
		if true
		then NCCL_BUFFSIZ=1; fi
		while true; do NCCL_MIN_CTA=1; export NCCL_MAX_CTA=1; a; done
	END
	env_of --for dgx-h100 --script job.sh >said
	diff <(sed -nE 's/^(job.sh:[0-9:]+ [a-z]*).*/\1/p' said) - <<-END
		job.sh:1:1: note
		job.sh:2:1: harmful
		job.sh:4:8: harmful
		job.sh:4:23: note
		job.sh:6:11: harmful
		job.sh:8:6: note
		job.sh:9:16: note
		job.sh:9:39: harmful
	END
}

@test "--script: interfaces that are excluded, and those of Gloo" {
	cat >job.sh <<-'END'
		export NCCL_SOCKET_IFNAME=^lo; a
		export NCCL_SOCKET_IFNAME=^docker,lo,veth,eth; a
		export NCCL_SOCKET_IFNAME=^docker,lo; a
		export GLOO_SOCKET_IFNAME=eth0
		export NCCL_SOCKET_IFNAME=eth0,en,eth,em,bond
		export NCCL_BUFFSIZE=2097152
	END
	env_of --for p4d.24xlarge --with ofi=1.9 --script job.sh >said
	diff <(sed -nE 's/^(job.sh:[0-9:]+ [a-z]*).*/\1/p; s/^    rule ([A-Z0-9a-z-]*):.*/\1/p' said) - <<-END
		job.sh:1:8: harmful
		N8-docker
		job.sh:2:8: harmful
		N8-no-eth
		job.sh:4:8: harmful
		N8-gloo
		job.sh:6:8: harmful
		N1-small
	END
}

@test "--script: the loopback reaches no other node" {
	for setting in NCCL_SOCKET_IFNAME=lo NCCL_SOCKET_IFNAME==lo GLOO_SOCKET_IFNAME=lo; do
		printf '#SBATCH -N4 --exclusive\nexport %s\nsrun a\n' "$setting" >job.sh
		expect_line 1 '1 fatal, 0 harmful, 0 obsolete, 0 other' env_of --script job.sh
		printf '#SBATCH -N1\nexport %s\nsrun a\n' "$setting" >job.sh
		expect 0 '0 fatal, 0 harmful, 0 obsolete, 0 other' env_of --script job.sh
		printf '#SBATCH -N4 --exclusive\n%s srun -N1 a\n' "$setting" >job.sh
		expect 0 '0 fatal, 0 harmful, 0 obsolete, 0 other' env_of --script job.sh
	done
	printf 'export NCCL_SOCKET_IFNAME=^lo,docker\nexport GLOO_SOCKET_IFNAME=bond0\nsrun a\n' >job.sh
	expect 0 '0 fatal, 0 harmful, 0 obsolete, 0 other' env_of --script job.sh
}

@test "--script: a value that another variable holds is judged with it" {
	printf 'IF=${IF:-eth0}\nexport NCCL_SOCKET_IFNAME=$IF\nA=1; a\n[[ $x ]] && A=2\nexport NCCL_DEBUG=$A\n' >job.sh
	env_of --for p5.48xlarge --script job.sh >said
	grep -q '^job.sh:2:8: harmful: NCCL_SOCKET_IFNAME=eth0: ' said
	[[ $(grep -c '^job.sh:5:8: harmful where the value turns out so: NCCL_DEBUG' said) == 1 ]]
	[[ $(grep -c '^job.sh:[0-9]' said) == 2 ]]
	# of several guesses about one value the gravest
	echo 'export NCCL_SOCKET_IFNAME=$(cmd)' >job.sh
	env_of --for p5.48xlarge --script job.sh >said
	[[ $(grep -c '^job.sh:[0-9]' said) == 1 ]]
}

@test "--script: what depends on the type is fatal there alone" {
	echo 'export FI_EFA_USE_DEVICE_RDMA=1' >job.sh
	expect_line 0 '0 fatal, 0 harmful, 0 obsolete, 0 other' env_of --script job.sh
	expect_line 1 "job.sh:1:8: fatal: FI_EFA_USE_DEVICE_RDMA=1: libfabric aborts (EFA device has no rdma-read capability) where the device cannot read remote memory" \
		env_of --for p3dn.24xlarge --script job.sh
	run env_of --for p5.48xlarge --with ofi=1.16,libfabric=2.1 --script job.sh
	[[ $status == 0 && $output == *"obsolete: FI_EFA_USE_DEVICE_RDMA=1"* && $output != *fatal:* ]]
}

@test "--script: standard input, several files, a file that is not there, --json" {
	echo 'export NCCL_ALGO=Ring' >a.sh
	echo 'FI_EFA_TX_MIN_CREDITS=0 srun x' >b.sh
	run env_of --with libfabric=2.1 --script a.sh b.sh
	[[ $status == 1 && $output == *"a.sh:1:8: harmful: NCCL_ALGO=Ring"* && $output == *"b.sh:1:1: fatal: "* ]]
	run env_of --script - <a.sh
	[[ $status == 0 && $output == *"standard input:1:8: harmful: "* ]]
	expect 2 "onespine: none.sh: cannot be opened: No such file or directory" env_of --script a.sh none.sh
	env_of --json --with libfabric=2.1 --script b.sh >j || [[ $? == 1 ]]
	[[ $(jq -c '[.fatal, .findings[0].file, .findings[0].line, .findings[0].rule]' j) == '[1,"b.sh",1,"E12"]' ]]
}

@test "--root: what a node's files tell" {
	make_node
	env_of --root=node --json >j
	[[ $(jq -c '[.instance.name, .gpus] + [.facts | .kernel, .driver, .open_driver, .efa, .libfabric, .ofi, .nccl,
		.cuda, .fabric, .interfaces, .default_interface, .ofi_tuner, .efa_libraries, .gdrcopy]' j) == \
		'["p5.48xlarge",7,"5.10.0-1","550.90.07","yes","1.34.0","1.22.0amzn1.0","1.14.2","2.21.5","12.4.1","efa","2","ens32","/opt/amazon/ofi-nccl/lib/libnccl-ofi-tuner.so","/opt/amazon/efa/lib:/opt/amazon/ofi-nccl/lib",null]' ]]
	expect_line 0 '  but this node has 7 of its 8 GPUs' env_of --root=node
	run env_of --root=node
	[[ $output == *"  NCCL_SOCKET_IFNAME==ens32 "* && $output == *"  NCCL_TUNER_PLUGIN=/opt/amazon/ofi-nccl/lib/libnccl-ofi-tuner.so"* ]]
	[[ $output == *"  LD_LIBRARY_PATH=/opt/amazon/efa/lib:/opt/amazon/ofi-nccl/lib"* ]]
	run env_of --root=node --with container=yes
	[[ $output != *"  LD_LIBRARY_PATH="* ]]
}

@test "--root: adapters that are not there: told, and rules that ask for the fabric stay open" {
	local i
	make_node
	expect_line 0 '  but this node has 1 of its 32 EFA adapters' env_of --root=node
	for ((i = 0; i < 31; i++)); do
		cp -r node/sys/class/infiniband/rdmap79s0 "node/sys/class/infiniband/rdmap${i}s0"
	done
	run env_of --root=node --with=ofi=1.5
	[[ $output != *'EFA adapters'* && $output == *'  FI_PROVIDER=efa '*'[E1]'* ]]
	# other adapters are none of the fabric's
	rm -r node/sys/class/infiniband/*
	mkdir -p node/sys/class/infiniband/mlx5_0/ports/1
	expect_line 0 '  but this node has 0 of its 32 EFA adapters' env_of --root=node
	run env_of --root=node --with=ofi=1.5
	[[ $output == *' where fabric efa: '*'[E1]'* ]]
	[[ $(env_of --root=node --json | jq -c '[.facts.fabric, .efa_adapters, .instance.nics]') == '[null,0,32]' ]]
	echo g5.xlarge >node/sys/devices/virtual/dmi/id/product_name
	[[ $(env_of --root=node --json | jq -c '[.facts.fabric, .efa_adapters]') == '["ethernet",0]' ]]
	# the files of an image tell of no devices
	rm -r node/sys/bus node/sys/class
	echo p5.48xlarge >node/sys/devices/virtual/dmi/id/product_name
	[[ $(env_of --root=node --json | jq -c '[.facts.fabric, .efa_adapters]') == '["efa",null]' ]]
}

@test "--root: LD_LIBRARY_PATH is for folders that ldconfig does not know" {
	local efa=/opt/amazon/efa/lib ofi=/opt/amazon/ofi-nccl/lib
	make_node
	known() {
		{ printf 'glibc-ld.so.cache1.1\0' && printf '%s\0' "$@"; } >node/etc/ld.so.cache
		env_of --root=node --json | jq -r .facts.efa_libraries
	}
	mkdir -p node/etc
	[[ $(known /lib/libc.so.6) == $efa:$ofi ]]
	[[ $(known $efa/libfabric.so.1 $efa/libfabric.so /lib/libc.so.6) == "$ofi" ]]
	[[ $(known $ofi/libnccl-net.so /lib/old-libfabric.so.1) == "$efa" ]]
	# one of the distribution's, which may come first
	[[ $(known /lib/libfabric.so.1 $efa/libfabric.so.1 $ofi/libnccl-net.so) == "$efa" ]]
	[[ $(known ${efa}64/libfabric.so.1) == $efa:$ofi ]]
	[[ $(known $efa/libfabric.so.1 $ofi/x86_64-linux-gnu/libnccl-net.so) == null ]]
	run env_of --root=node
	[[ $output != *"  LD_LIBRARY_PATH="*"[L1]"* || $output == *"efa_libraries"* ]]
}

@test "--root: files that are something else, or nothing, stay unknown" {
	make_node
	rm node/sys/devices/virtual/dmi/id/product_name node/usr/local/cuda/version.json
	mkdir node/usr/local/cuda/version.json
	echo 'not a version' >node/sys/module/nvidia/version
	mkfifo node/sys/devices/virtual/dmi/id/product_name
	env_of --root=node --json >j
	[[ $(jq -c '[.instance, .facts.cuda, .facts.driver]' j) == '[null,null,null]' ]]
	env_of --root=nowhere >out
	grep -qF "this node's type is not known" out
}

@test "--root: whether logind removes shared memory, as its last file by name says" {
	make_node
	removes() {
		env_of --root=node --json | jq -r .facts.remove_ipc
	}
	mkdir -p node/etc/systemd/logind.conf.d
	[[ $(removes) == null ]]
	printf '[Login]\n#RemoveIPC=yes\n' >node/etc/systemd/logind.conf
	[[ $(removes) == null ]]
	printf '[Login]\nKillUserProcesses=no\n RemoveIPC=Yes\n' >node/etc/systemd/logind.conf
	[[ $(removes) == yes ]]
	run env_of --root=node
	[[ $output == *"[L5-ipc]"* ]]
	echo 'RemoveIPC=on' >node/etc/systemd/logind.conf.d/10-ours.conf
	echo 'RemoveIPC=off' >node/etc/systemd/logind.conf.d/50-ours.conf
	echo 'KillUserProcesses=yes' >node/etc/systemd/logind.conf.d/90-ours.conf
	[[ $(removes) == no ]]
	run env_of --root=node
	[[ $output != *"[L5-ipc]"* ]]
	printf 'RemoveIPC=' >node/etc/systemd/logind.conf.d/99-ours.conf
	[[ $(removes) == no ]]
}

@test "--with: a small /dev/shm is warned of" {
	run env_of --for p5.48xlarge --with shm_gib=0
	[[ $output == *"[L5-shm]"* ]]
	run env_of --for p5.48xlarge --with shm_gib=64
	[[ $output != *"[L5-shm]"* ]]
}

# device PATH VENDOR CLASS: a PCI device below node/sys/devices
device() {
	mkdir -p "node/sys/devices/$1" node/sys/bus/pci/devices
	echo "$2" >"node/sys/devices/$1/vendor"
	echo "$3" >"node/sys/devices/$1/class"
	ln -s "../../../devices/$1" "node/sys/bus/pci/devices/${1##*/}"
}

# adapter NAME PATH STATE RATE
adapter() {
	device "$2" 0x15b3 0x020700
	mkdir -p "node/sys/class/infiniband/$1/ports/1"
	ln -s "../../../devices/$2" "node/sys/class/infiniband/$1/device"
	echo "$3" >"node/sys/class/infiniband/$1/ports/1/state"
	echo "$4" >"node/sys/class/infiniband/$1/ports/1/rate"
	echo InfiniBand >"node/sys/class/infiniband/$1/ports/1/link_layer"
}

@test "--root: of several adapters those near a GPU carry data" {
	local ndr='400 Gb/sec (4X NDR)'
	mkdir -p node/sys/devices/virtual/dmi/id
	echo DGXH100 >node/sys/devices/virtual/dmi/id/product_name
	device pci0000:10/0000:10:01.0/0000:11:00.0 0x10de 0x030200
	device pci0000:20/0000:20:01.0/0000:21:00.0 0x10de 0x030200
	adapter mlx5_10 pci0000:10/0000:10:01.0/0000:12:00.0 '4: ACTIVE' "$ndr"
	adapter mlx5_2 pci0000:20/0000:20:01.0/0000:22:00.0 '4: ACTIVE' "$ndr"
	adapter mlx5_3 pci0000:20/0000:20:01.0/0000:23:00.0 '1: DOWN' "$ndr"
	adapter mlx5_4 pci0000:20/0000:20:01.0/0000:24:00.0 '4: ACTIVE' '100 Gb/sec (4X EDR)'
	adapter mlx5_5 pci0000:20/0000:20:02.0/0000:25:00.0 '4: ACTIVE' "$ndr" # the same host bridge only
	adapter mlx5_6 pci0000:30/0000:30:01.0/0000:31:00.0 '4: ACTIVE' "$ndr"
	expect_line 0 '  NCCL_IB_HCA==mlx5_2,mlx5_10                     else adapters for storage and management carry data too; without the leading = mlx5_1 means mlx5_10 as well [I1]' \
		env_of --root=node
	expect_line 0 '  but this node has 2 of its 8 GPUs' env_of --root=node
	rm -r node/sys/class/infiniband/mlx5_10 node/sys/class/infiniband/mlx5_2 node/sys/class/infiniband/mlx5_4
	env_of --root=node --json >j
	[[ $(jq -c .facts.gpu_hcas j) == null ]]
}

# make_cloud_node TAG DEVICE GPUS LAYER: a node below ./node whose DMI reports its cloud alone
make_cloud_node() {
	local i pci
	rm -rf node
	mkdir -p node/sys/devices/virtual/dmi/id node/sys/class/infiniband/mlx5_0/ports/1
	echo 'Virtual Machine' >node/sys/devices/virtual/dmi/id/product_name
	echo "$1" >node/sys/devices/virtual/dmi/id/chassis_asset_tag
	echo "$4" >node/sys/class/infiniband/mlx5_0/ports/1/link_layer
	for ((i = 1; i <= $3; i++)); do
		pci=node/sys/bus/pci/devices/000$i:00:00.0
		mkdir -p "$pci"
		echo 0x10de >"$pci/vendor"
		echo "$2" >"$pci/device"
		echo 0x030200 >"$pci/class"
	done
}

@test "a cloud's node: its chassis tag, its GPUs and its fabric tell the type" {
	make_cloud_node 7783-7084-3265-9085-8269-3286-77 0x2330 8 InfiniBand
	run env_of --root=node
	[[ ${lines[0]} == 'Standard_ND96isr_H100_v5: 8 H100 '* && $output == *'provider azure,'* && $output == *'[I6]'* ]]
	make_cloud_node 7783-7084-3265-9085-8269-3286-77 0x20b2 8 InfiniBand
	run env_of --root=node
	[[ ${lines[0]} == 'Standard_ND96amsr_A100_v4: 8 A100 of 81920 MiB'* ]]
	make_cloud_node 7783-7084-3265-9085-8269-3286-77 0x20b0 7 InfiniBand
	expect_line 0 '  but this node has 7 of its 8 GPUs' env_of --root=node
	run env_of --root=node
	[[ $output == 'Standard_ND96asr_v4: 8 A100 of 40960 MiB'* ]]
	make_cloud_node OracleCloud.com 0x2330 8 Ethernet
	run env_of --root=node
	[[ ${lines[0]} == 'BM.GPU.H100.8: 8 H100 '* ]]
}

@test "a cloud's node of no type that is known: the cloud is known, the type is not, and two that fit are both told" {
	make_cloud_node 7783-7084-3265-9085-8269-3286-77 0x1eb8 4 Ethernet
	run env_of --root=node
	[[ ${lines[0]} == 'Virtual Machine: not in the catalogue' ]]
	[[ $output == *'  known: provider azure, vendor nvidia,'* ]]
	make_cloud_node OracleCloud.com 0x2330 8 Ethernet
	mkdir -p site/instances.d
	echo 'instances: {our-h100: {source: site, chassis_tag: OracleCloud.com, gpu_device: "10de:2330", accelerators: 8}}' \
		>site/instances.d/a.yaml
	expect_line 0 'Virtual Machine: BM.GPU.H100.8 or our-h100, which nothing here distinguishes (--for)' \
		env_of --root=node
	env_of --root=node --json >j
	[[ $(jq -c '[.instance, .may_be, .facts.provider]' j) == '[null,["BM.GPU.H100.8","our-h100"],"oci"]' ]]
}

@test "this node: the environment, then the user's file, stand over the rules" {
	printf 'NCCL_PROTO=Simple\nNCCL_ALGO=Tree\n' >.nccl.conf
	run env CUDA_DEVICE_ORDER=FASTEST_FIRST NCCL_PROTO=LL "$ONESPINE" env --data="$SOURCE/etc" --site=site \
		--with=vendor=nvidia
	[[ $status == 0 ]]
	[[ $output == *"  CUDA_DEVICE_ORDER=FASTEST_FIRST "*"would be PCI_BUS_ID: "* ]]
	[[ $output == *"  NCCL_PROTO=LL "*"harmful: "* ]]
	[[ $output == *"  NCCL_ALGO=Tree ($PWD/.nccl.conf)"* && $output != *NCCL_PROTO=Simple* ]]
	run env NCCL_IB_HCA=mlx5_1 CUDA_DEVICE_ORDER=PCI_BUS_ID "$ONESPINE" env --data="$SOURCE/etc" --site=site \
		--with=vendor=nvidia,fabric=infiniband,gpu_hcas=mlx5_3
	[[ $output == *"  CUDA_DEVICE_ORDER=PCI_BUS_ID "*"would be the same: "* ]]
	[[ $output == *"  NCCL_IB_HCA=mlx5_1 "*"would be =mlx5_3: "* ]]
	run env NCCL_IB_HCA=mlx5_1 "$ONESPINE" env --data="$SOURCE/etc" --site=site --with=vendor=nvidia,fabric=roce
	[[ $output == *"  NCCL_IB_HCA=mlx5_1 "*"would be set once gpu_hcas is known, on the node: "* ]]
	echo 'NCCL_ALGO=Ring' >named.conf
	run env NCCL_CONF_FILE=named.conf "$ONESPINE" env --data="$SOURCE/etc" --site=site
	[[ $output == *"  NCCL_ALGO=Ring (named.conf)"* ]]
	expect_line 1 '  FI_EFA_MTU_SIZE=1                               fatal: libfabric'"'"'s EFA provider aborts at the start when it is set, whatever the value; leave it unset [E11]' \
		env FI_EFA_MTU_SIZE=1 "$ONESPINE" env --data="$SOURCE/etc" --site=site --with libfabric=2.1
}
