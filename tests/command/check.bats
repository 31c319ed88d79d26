#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# onespine check: how it is asked and what it prints; tests/check/faults has what each check finds

# shellcheck disable=SC2016 # what bash -c is to expand

load helpers

setup_file() {
	export FAKES=${FAKES:-${ONESPINE%/*}/tests/fake/.libs}
	# shellcheck source=../fake/lib.bash
	. "$SOURCE/tests/fake/lib.bash"
	fake_prepare "$BATS_FILE_TMPDIR/fake"
	export FAKE
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	# shellcheck source=../fake/lib.bash
	. "$SOURCE/tests/fake/lib.bash"
	FAKE=$BATS_FILE_TMPDIR/fake
	unset ONESPINE_FAKE_NVML ONESPINE_FAKE_CUDA ONESPINE_FAKE_SYSTEM
}

check() {
	fake_check "$FAKE/node" "$@"
}

# without the times, which differ
timeless() {
	sed -E 's/ +[0-9]+ ms  /  /; s/ in [0-9.]+ s:/:/'
}

@test "a healthy node: one line a check, status 0" {
	run check
	[[ $status == 0 ]]
	timeless <<<"$output" | grep -qx "row-remap       PASS  8 of 8 GPUs"
	timeless <<<"$output" | grep -qx "35 checks: 30 passed, 5 skipped, 0 warned, 0 in error, 0 failed"
	! grep -q '^onespine:' <<<"$output"
}

@test "a failure: what, against which limit, from where, what to do; the reason is the last line; status 1" {
	export ONESPINE_FAKE_NVML="gpu3.ecc_uncorrected=12"
	run check --only ecc
	[[ $status == 1 ]]
	[[ $(timeless <<<"$output") == "ecc             FAIL  gpu3 12 uncorrectable > 0
                                 GPU-00000003-1111-2222-3333-444444444444: uncorrectable errors 12
                                 limit: NVIDIA GPU memory error management: an uncorrectable error asks for a reset, unless it was contained (from Ampere and driver 570 on the driver says so)
                                 do: reset gpu
1 check: 0 passed, 0 skipped, 0 warned, 0 in error, 1 failed
onespine: gpu3 ecc 12 uncorrectable > 0; reset gpu" ]]
}

@test "of several failures the reason names the one with the gravest cure" {
	export ONESPINE_FAKE_NVML="gpu1.ecc_uncorrected=1 gpu3.remap_failed gpu5.recovery=2"
	run check
	[[ $status == 1 ]]
	[[ ${lines[-1]} == "onespine: gpu3 row-remap failed; replace" ]]
}

@test "--json" {
	export ONESPINE_FAKE_NVML="gpu3.links=17"
	expect 1 '["FAIL","onespine: gpu3 nvlink 17 up < 18; reset gpu","passive","p5.48xlarge","nvlink","FAIL","enforce","gpu3","17 up","< 18","reset gpu"]' \
		bash -c '"$@" >j; s=$?; jq -c "[.verdict, .reason, .depth, .machine, (.checks[0] | .name, .verdict, .mode,
			(.results[0] | .subject, .value, .limit, .do))]" j; exit $s' _ \
		env ONESPINE_TEST_ROOT="$FAKE/node" LD_LIBRARY_PATH="$FAKE/lib" "$ONESPINE" check --json --only nvlink
	check --json --only clock | jq -e '.checks[0].time_ms >= 0' >/dev/null
}

@test "--gpus: only these count" {
	export ONESPINE_FAKE_NVML="gpu3.ecc_uncorrected=12"
	run check --gpus 0-2,4-7
	[[ $status == 0 ]]
	run check --gpus 3
	[[ $status == 1 ]]
	run check --gpus GPU-00000003
	[[ $status == 1 ]]
	run check --gpus gpu-00000004-1111,0
	[[ $status == 0 ]]
	expect 2 "onespine: --gpus 3-1: numbers, ranges or UUIDs separated by commas are expected (0-3,5)" \
		check --gpus 3-1
}

@test "a broken check: status 2, and no reason" {
	export ONESPINE_FAKE_NVML="crash:nvmlDeviceGetRemappedRows"
	run check
	[[ $status == 2 ]]
	grep -q '^row-remap       ERROR .* ms  the check.s process ended before its time' <<<"$output"
	! grep -q '^onespine:' <<<"$output"
}

@test "the kernel's records, without permission: said, status 2" {
	((EUID)) || skip "root may read everything"
	cp -a "$FAKE/node" node
	chmod 0 node/dev/kmsg
	run fake_check node --only xid
	[[ $status == 2 && $output == *"/dev/kmsg cannot be read: Permission denied; run as root"* ]]
}

@test "a site's thresholds: limits, modes, and a dry run" {
	export ONESPINE_FAKE_NVML="gpu3.temperature=70 gpu3.ecc_uncorrected=1"
	echo 'limits: {temperature_c: 60}' >t.yaml
	run check --thresholds t.yaml --only temperature
	[[ $status == 0 && $output == *"gpu3 70 C > 60"*"limit: t.yaml:1"* ]]
	echo 'checks: {all: comment}' >t.yaml
	run check --thresholds t.yaml
	[[ $status == 0 && $output == *"fails nothing: mode comment"* ]]
	[[ ${lines[-1]} == "onespine: gpu3 ecc 1 uncorrectable > 0; reset gpu" ]]
	echo 'checks: {ecc: off}' >t.yaml
	run check --thresholds t.yaml
	[[ $status == 0 && $output == *"34 checks"* ]]
	echo 'nodes: {p5.48xlarge: {gpus: 9}}' >t.yaml
	run check --thresholds t.yaml --only gpus
	[[ $status == 1 && ${lines[-1]} == "onespine: gpus 8 < 9; replace" ]]
}

@test "broken thresholds: file, line, column; status 2, nothing is checked" {
	printf 'limits:\n  temperature: 60\n' >t.yaml
	expect 2 "onespine: t.yaml:2:3: unknown key 'temperature'; did you mean temperature_c?" \
		check --thresholds t.yaml
	printf 'limits:\n  nvlinks: 400\n' >t.yaml
	run check --thresholds t.yaml
	[[ $status == 2 && $output == "onespine: t.yaml:2:12: "* ]]
	printf 'checks:\n  eec: off\n' >t.yaml
	expect 2 "onespine: t.yaml:2:3: unknown key 'eec'; did you mean ecc?" check --thresholds t.yaml
	expect 2 "onespine: none.yaml: cannot be opened: No such file or directory" check --thresholds none.yaml
}

@test "unknown words: the nearest right one, status 2" {
	expect 2 "onespine: there is no check 'nvlinks'; did you mean nvlink; see onespine check --list" \
		check --only nvlinks
	expect 2 "onespine: there is no check 'ec'; did you mean ecc; see onespine check --list" check --explain ec
	expect 2 "onespine: --depth=passiv: passive, quick or full is expected; did you mean passive?" \
		check --depth passiv
	expect 2 "onespine: hbm-pattern is of depth quick: give --depth=quick too" check --only hbm-pattern
	expect 2 "onespine: --budget=0: seconds from 1 to 86400 are expected" check --budget 0
	expect 2 "onespine: --only needs the name of a check" check --only=
}

@test "--list and --explain run nothing" {
	export ONESPINE_FAKE_NVML="hang:nvmlInit_v2"
	[[ $(check --list | wc -l) -gt 28 ]]
	[[ $(check --list --json | jq length) == $(check --list | wc -l) ]]
	while read -r name _; do
		check --explain "$name" | grep -q "^$name: "
	done < <(check --list)
}

@test "a hung library costs its deadline twice; --budget ends it sooner" {
	export ONESPINE_FAKE_NVML="hang:nvmlDeviceGetGpuFabricInfoV" ONESPINE_TEST_DEADLINE_MS=3000
	run check --only fabric
	[[ $status == 1 && ${lines[-1]} == "onespine: fabric hangs; reboot" ]]
	unset ONESPINE_TEST_DEADLINE_MS
	run check --only fabric,clock --budget 1
	[[ $status == 2 && $output == *"the budget ended before the check did"* ]]
}

# freeze: a file system in ./frozen in which whoever makes a file sleeps in state D, as below a sick driver
freeze() {
	((EUID == 0)) || skip "only root can freeze a file system"
	mkdir frozen
	truncate -s 4M image
	mkfs.ext4 -q image && mount -o loop image frozen || skip "no loop devices here"
	fsfreeze --freeze frozen
}

teardown() {
	[[ ! -d frozen ]] || ! mountpoint -q frozen || {
		fsfreeze --unfreeze frozen || true
		umount --lazy frozen
	}
}

# ours [STATE]: the processes of this test's `onespine check` (in that state), one a line
ours() {
	local pid
	for pid in $(ps -eo pid=,stat=,args= | awk -v state="${1:-}" '$2 ~ "^" state && /[c]heck --only fabric/ { print $1 }'); do
		[[ $(readlink "/proc/$pid/cwd") != "$PWD" ]] || echo "$pid"
	done
}

@test "a check in state D, which no signal ends, costs its deadline twice and is left behind" {
	export ONESPINE_FAKE_NVML="unkillable:nvmlDeviceGetGpuFabricInfoV" ONESPINE_FAKE_MARK=$PWD/frozen/mark
	export ONESPINE_TEST_DEADLINE_MS=3000
	freeze
	run check --only fabric
	[[ $status == 1 && ${lines[-1]} == "onespine: fabric hangs; reboot" ]]
	[[ $(ours D | wc -l) == 2 ]] # killed, and there all the same
	fsfreeze --unfreeze frozen
	local tries
	for ((tries = 0; $(ours | wc -l) && tries < 600; tries++)); do sleep 0.05; done
	[[ -z $(ours) ]]
}

@test "nobody waits for a check that hangs: the output ends with the command" {
	export ONESPINE_FAKE_SYSTEM="stuck=/fsx stuck=/home"
	run timeout 20 bash -c '. "$SOURCE/tests/fake/lib.bash"; FAKE=$1; fake_check "$1/node" --only mounts | cat' _ "$FAKE"
	[[ $status == 0 ]]
	grep -Eq '/fsx (no answer|starved) within 1000 ms' <<<"$output"
	grep -Eq '/home (no answer|starved) within 1000 ms' <<<"$output"
}

@test "a file system whose question gets no processor is not said to hang" {
	export ONESPINE_FAKE_SYSTEM="busy=/fsx"
	local cpu busy=()
	cpu=$(taskset -cp $$ | sed -E 's/.*: ([0-9]+).*/\1/')
	taskset -cp "$cpu" "$BASHPID" >/dev/null
	for _ in {1..8}; do
		while :; do :; done &
		busy+=($!)
	done
	check --only mounts --json >json || true
	kill "${busy[@]}"
	jq -e '.checks[0].verdict == "WARN" and (.checks[0].results | length) == 1' json
	[[ $(jq -r '.checks[0].results[0] | "\(.subject) \(.value) \(.limit)"' json) == "/fsx starved within 1000 ms" ]]
	[[ $(jq -r '.checks[0].results[0].why' json) =~ ^"/fsx does not answer, but it waited "[0-9]+" ms for a processor: too much else runs here"$ ]]
}

@test "two at once do not disturb each other" {
	check --json >one & check --json >two
	wait
	[[ $(jq -c '[.checks[] | [.name, .verdict]]' one) == "$(jq -c '[.checks[] | [.name, .verdict]]' two)" ]]
}

@test "it needs less than 64 MiB, address space and all" {
	! ldd "$ONESPINE" | grep -q asan || skip "a sanitizer needs more"
	run bash -c 'ulimit -v 65536; . "$SOURCE/tests/fake/lib.bash"; FAKE=$1; fake_check "$1/node"' _ "$FAKE"
	[[ $status == 0 ]]
}

@test "a node without a GPU: skipped, and said why" {
	rm -rf node
	cp -a "$FAKE/node" node
	rm -r node/sys/bus/pci node/sys/class/infiniband node/proc/driver/nvidia/gpus node/dev/nvidia*
	rm node/sys/devices/virtual/dmi/id/product_name
	run fake_check node
	[[ $status == 0 ]]
	grep -q '^driver          SKIP .* no NVIDIA GPU on the PCI bus' <<<"$output"
}

# --- depth quick: on the fake libcuda -----------------------------------------------------------------

quick() {
	ONESPINE_TEST_LOAD_MS=1 check --depth=quick "$@"
}

@test "depth quick: the image is the one that GPU and driver take, and fp8 is said to be what it is" {
	ONESPINE_FAKE_CUDA=driver=12020 run quick --json --only=cuda,tensor
	[[ $status == 0 && $output == *'kernels (sm_80)'* && $output != *fp8* ]]
	run quick --json --only=cuda,tensor
	[[ $status == 0 && $output == *'kernels (sm_89)'* && $output == *'"fp16, bf16, tf32, fp8 by fp16 units, fp64"'* ]]
	[[ $output == *' TFLOPS fp8 by fp16 units"'* ]]
	ONESPINE_FAKE_CUDA=capability=89 ONESPINE_FAKE_NVML=model=89 run quick --json --only=tensor
	[[ $status == 0 && $output == *'"fp16, bf16, tf32, fp8, fp64"'* ]]
	ONESPINE_FAKE_CUDA='driver=13000 capability=110' run quick --json --only=cuda
	[[ $status == 0 && $output == *'kernels (sm_89)'* ]]
	! grep -qs 'osp_gpu_image_cuda = 0' "${ONESPINE%/*}/check/gpu_image_builtin.c" || skip "the rest needs nvcc"
	ONESPINE_FAKE_CUDA=driver=13000 run quick --json --only=cuda
	[[ $status == 0 && $output == *'kernels (fatbin)'* ]]
}

@test "depth quick: every GPU's speeds in a line, what is the same of all in one" {
	export ONESPINE_FAKE_CUDA_KIB=2048
	run quick --only=cuda,hbm-bandwidth,hbm-pattern
	[[ $status == 0 ]]
	timeless <<<"$output" | grep -qx "cuda            PASS  gpu0 to gpu7 CUDA 12.8, sm_90, 2 SMs"
	timeless <<<"$output" | grep -qx "hbm-bandwidth   PASS  copy 3016 to 3016 GB/s (8)"
	timeless <<<"$output" | grep -qx "hbm-pattern     PASS  gpu0 to gpu7 2 MiB right"
	[[ $(quick --only=cuda --json | jq -c '[.depth, (.checks[0].results | length), .checks[0].results[7].subject]') == '["quick",8,"gpu7"]' ]]
}

@test "depth quick: a broken GPU is named, and kept out of what all do" {
	export ONESPINE_FAKE_CUDA="gpu3.sm_tensor=1"
	run quick --only=tensor,peer
	[[ $status == 1 && ${lines[-1]} == "onespine: gpu3 tensor SM 1 fp16 tile "*" wrong; replace" ]]
	grep -q "PASS .* 42 of 42 pairs" <<<"$output"
}

@test "depth quick: a slow GPU only warns where the limit never ran on its model; a site may say otherwise" {
	export ONESPINE_FAKE_CUDA_KIB=2048
	export ONESPINE_FAKE_CUDA="gpu3.hbm=50"
	run quick --only=hbm-bandwidth # on an H100
	[[ $status == 1 && ${lines[-1]} == "onespine: gpu3 hbm-bandwidth 1508 GB/s copy < 2407; replace" ]]
	export ONESPINE_FAKE_NVML=model=100 ONESPINE_FAKE_CUDA="hbm=180 gpu3.hbm=50"
	run quick --only=hbm-bandwidth # on a B200
	[[ $status == 0 && $output == *"WARN"*"gpu3"*"1508 GB/s copy"* ]]
	[[ $output == *"slow in 3 of 3 measurements; this limit was never tried on this hardware and only warns (unproven: warn)"* ]]
	echo 'unproven: fail' >limits.yaml
	run quick --only=hbm-bandwidth --thresholds=limits.yaml
	[[ $status == 1 && ${lines[-1]} == "onespine: gpu3 hbm-bandwidth 1508 GB/s copy < 4507; replace" ]]
	[[ $output == *"slow in 3 of 3 measurements"*"limit: onespine: 83 % of DCGM's measurement, 5430 GB/s"* ]]
	echo 'unproven: often' >limits.yaml
	run quick --only=hbm-bandwidth --thresholds=limits.yaml
	[[ $status == 2 && $output == *"limits.yaml:1:11: unproven: one of warn, fail is expected, not 'often'" ]]
}

@test "depth quick: a slow GPU whose programs NVML does not report only warns, and it is said" {
	export ONESPINE_FAKE_CUDA_KIB=2048 ONESPINE_FAKE_CUDA="gpu3.hbm=54"
	run quick --only=hbm-bandwidth
	[[ $status == 1 ]]
	export ONESPINE_FAKE_NVML=error:nvmlDeviceGetComputeRunningProcesses_v3=4
	run quick --only=hbm-bandwidth
	[[ $status == 0 && $output == *"WARN"*"gpu3 16"*" GB/s copy < 2407"*"it only warns: NVML does not report the GPU's programs"* ]]
}

@test "depth quick: a model that is not known is compared with its peers, and it is said" {
	export ONESPINE_FAKE_NVML=unknown
	quick --only=hbm-bandwidth --json | jq -e '[.checks[0].results[].why] |
		all(. == "compared with the node'"'"'s other GPUs alone: no limit is known")'
	quick --only=hbm-bandwidth --gpus=3 --json | jq -e '[.checks[0].results[].why] |
		all(startswith("not judged: no limit is known of NVIDIA X1"))'
}

@test "depth quick: GPUs of others are left alone; instances of a GPU are checked one by one" {
	export ONESPINE_FAKE_CUDA_KIB=2048
	run quick --only=cuda --gpus=1,4
	grep -q "gpu1 to gpu4 CUDA" <<<"$output"
	[[ $(grep -c "gpu0\|gpu2\|gpu7" <<<"$output") == 0 ]]
	export ONESPINE_FAKE_NVML="gpu3.mig=2 gpu5.programs=2"
	quick --only=hbm-pattern,hbm-bandwidth,peer --gpus=3,5 --json >j
	[[ $(jq -c '[.checks[1].results[] | [.subject, .value]]' j) == '[["gpu3.0","2 MiB right"],["gpu3.1","2 MiB right"],["gpu5","1 MiB right"]]' ]]
	[[ $(jq -c '[.checks[0].results[] | [.subject, .why]] | unique' j) == '[["gpu3.0","not judged: this is a part of a GPU"],["gpu3.1","not judged: this is a part of a GPU"],["gpu5","not judged: other programs use the GPU"]]' ]]
	jq -e '.checks[2].results[0].why == "1 whole GPU here, 2 are needed"' j
}

@test "depth quick: a GPU that serves others is left alone, and it is said; the rest are checked" {
	local why=(
		"mps=2 gpu3.programs=3" "programs share it by MPS: left alone"
		"virtual=3" "it serves virtual machines (vGPU): left alone"
		"virtual=4" "it serves virtual machines (vGPU): left alone"
	)
	rm -rf node
	cp -a "$FAKE/node" node
	mkdir -p node/proc/4711
	printf 'Name:\tpython\nUid:\t0\t0\t0\t0\n' >node/proc/4711/status
	for ((i = 0; i < ${#why[@]}; i += 2)); do
		ONESPINE_TEST_LOAD_MS=1 ONESPINE_FAKE_NVML="gpu3.${why[i]}" fake_check node --depth=quick \
			--only=cuda,hbm-pattern,peer --json --gpus=1-4 >j
		jq -e --arg why "${why[i + 1]}" '[.checks[] | .verdict] == ["PASS","PASS","PASS"] and
			([.checks[0, 1].results[] | select(.subject == "gpu3") | .verdict, .why] == ["SKIP",$why,"SKIP",$why]) and
			([.checks[2].results[] | .subject | select(test("gpu3"))] == []) and
			([.checks[1].results[].subject] == ["gpu1","gpu2","gpu3","gpu4"])' j
	done
}

@test "depth quick: a GPU that only another user's process says is shared was not checked" {
	rm -rf node
	cp -a "$FAKE/node" node
	mkdir -p node/proc/4711
	echo nvidia-cuda-mps >node/proc/4711/comm
	printf 'Name:\tnvidia-cuda-mps\nUid:\t1002\t1002\t1002\t1002\n' >node/proc/4711/status
	export ONESPINE_TEST_LOAD_MS=1 ONESPINE_FAKE_NVML=gpu3.programs=1
	run fake_check node --depth=quick --only=cuda,hbm-pattern,peer --gpus=1-4
	[[ $status == 2 && $output == *"ERROR"*"gpu3: not checked: process 4711 of user 1002 says it is MPS"* ]]
	run fake_check node --depth=quick --only=peer --gpus=1-4
	[[ $status == 2 && $output == *"not checked: process 4711 of user 1002 says it is MPS"* ]]
	((EUID == 0)) || return 0
	SLURM_JOB_UID=1002 run fake_check node --depth=quick --only=cuda --gpus=1-4
	[[ $status == 0 ]]
}

@test "depth quick: where a GPU was left alone the pass is no deeper than passive" {
	((EUID == 0)) || skip "only root keeps a pass"
	rm -rf node
	cp -a "$FAKE/node" node
	mkdir -p node/proc/4711
	printf 'Name:\tpython\nUid:\t0\t0\t0\t0\n' >node/proc/4711/status
	ONESPINE_TEST_LOAD_MS=1 ONESPINE_FAKE_NVML="gpu3.mps=1 gpu3.programs=1" run fake_check node --depth=quick
	[[ $status == 0 ]]
	[[ -e node/run/onespine/pass-passive && ! -e node/run/onespine/pass-quick ]]
	ONESPINE_TEST_LOAD_MS=1 run fake_check node --depth=quick
	[[ $status == 0 && -e node/run/onespine/pass-quick ]]
}

@test "depth quick: a slow link names its two GPUs; with a third one, who is slow to both" {
	export ONESPINE_FAKE_CUDA=gpu3.link=50
	run quick --only=peer --gpus=3-5
	[[ $status == 0 && $output == *"WARN"*"gpu3 "*"so with 2 GPUs that are well with others (4 copies, either way); it only warns"* ]]
	echo 'unproven: fail' >limits.yaml
	run quick --only=peer --gpus=3,5 --thresholds=limits.yaml
	[[ $status == 1 && ${lines[-1]} == "onespine: gpu3-gpu5 peer 198 GB/s copy < 335; reset gpu" ]]
	run quick --only=peer --gpus=3-5 --thresholds=limits.yaml
	[[ $status == 1 && ${lines[-1]} == "onespine: gpu3 peer 198 GB/s copy < 335; reset gpu" ]]
	[[ $output == *"GPU-00000003-1111-2222-3333-444444444444: so with 2 GPUs that are well with others (4 copies, either way)"* ]]
	[[ $output != *"gpu3-gpu"* ]]
}

@test "depth quick: older GPUs are not loaded, nor any where a basic check failed; both are said" {
	export ONESPINE_FAKE_NVML=capability=70
	run quick --only=cuda,peer
	[[ $status == 0 ]]
	[[ $(grep -c "SKIP .* compute capability below 7.5: no deeper than passive" <<<"$output") == 2 ]]
	export ONESPINE_FAKE_NVML=init=18
	run quick --only=driver,cuda
	[[ $status == 1 && $output == *"SKIP"*"driver did not pass, and this needs what it asks"* ]]
}

@test "depth quick: a hung GPU costs its deadline, another goes on" {
	export ONESPINE_FAKE_CUDA=hang-once:cuModuleLoadData ONESPINE_FAKE_MARK=$PWD/mark
	ONESPINE_TEST_DEADLINE_MS=2000 run quick --only=cuda,sm --gpus=0-3
	[[ $status == 2 ]]
	[[ $(grep -c "did not answer at first; a second try did" <<<"$output") == 1 ]]
	export ONESPINE_FAKE_CUDA=hang:cuMemAlloc_v2
	run quick --only=cuda --budget=1
	[[ $status == 2 && $output == *"the budget ended before the check did"* ]]
}

@test "depth quick: no library, no GPUs" {
	mkdir lib
	cp "$FAKE/lib/libnvidia-ml.so.1" lib/
	FAKE_LIB=$PWD/lib run quick --only=cuda --gpus=0
	[[ $status == 2 && $output == *"gpu0: libcuda: libcuda.so.1: cannot open shared object file"* ]] ||
		[[ -e /usr/lib/x86_64-linux-gnu/libcuda.so.1 ]]
}

@test "depth quick: Ctrl-C ends every process of it" {
	export ONESPINE_FAKE_CUDA=hang:cuMemAlloc_v2
	set -m
	quick --only=cuda >out &
	local group=$! tries
	set +m
	for ((tries = 0; $(pgrep -g "$group" | wc -l) < 9 && tries < 600; tries++)); do sleep 0.05; done
	[[ $(pgrep -g "$group" | wc -l) -ge 9 ]]
	kill -INT -- -"$group"
	for ((tries = 0; $(pgrep -g "$group" | wc -l) && tries < 600; tries++)); do sleep 0.05; done
	! pgrep -g "$group"
}

@test "depth quick: two at once are safe" {
	quick --json --only=cuda,sm,hbm-pattern >one & quick --json --only=cuda,sm,hbm-pattern >two
	wait
	[[ $(jq -c '[.checks[] | [.name, .verdict]]' one) == '[["cuda","PASS"],["sm","PASS"],["hbm-pattern","PASS"]]' ]]
	[[ $(jq -c '[.checks[] | [.name, .verdict]]' two) == "$(jq -c '[.checks[] | [.name, .verdict]]' one)" ]]
}

# Waits until no process of an earlier run has a GPU open: what was killed may still be ending.
all_gpus_closed() {
	local gpu
	for gpu in {0..7}; do
		flock "$ONESPINE_FAKE_MARK.gpu$gpu" true
	done
}

@test "what the start of GPUs adds is shown apart" {
	export ONESPINE_FAKE_MARK=$BATS_TEST_TMPDIR/mark
	ONESPINE_FAKE_NVML='persistence=0 start_ms=200' run fake_check "$FAKE/node" --only=gpus
	[[ $status == 0 && $output =~ starting\ the\ GPUs\ took\ [0-9]+\.[0-9][0-9]\ s\ of\ it ]]
	all_gpus_closed
	ONESPINE_FAKE_NVML='persistence=0 start_ms=200' fake_check "$FAKE/node" --only=gpus --json >j
	[[ $(jq '.start_ms > 0 and .time_ms >= .start_ms' j) == true ]]
	run fake_check "$FAKE/node" --only=gpus
	[[ $status == 0 && $output != *"starting the GPUs"* ]]
}

@test "no file is left for what a check reads: in error, whatever it does not see" {
	local check path
	while read -r check path; do
		run check --only "$check"
		[[ $status == 0 ]]
		ONESPINE_FAKE_SYSTEM="short=$path" run check --only "$check"
		[[ $status == 2 ]] || { echo "$check: $status $output" && false; }
		grep -Eq "^$check +ERROR .*$path: Too many open files in system\$" <<<"$output"
	done <<-END
		local-disks sys/class/nvme
		device-files dev/nvidia3
		device-files dev/nvidiactl
	END
}

# starves LIMIT USER: a check of the healthy node under that limit of prlimit fails nothing, whatever else comes of it; as a
# user without root's right to be over it, who reads what root reads. What it says is kept in the file LIMIT.
starves() {
	local status=0
	# shellcheck disable=SC2016
	setpriv --reuid="$2" --regid="$2" --clear-groups --bounding-set=-all,+dac_read_search --inh-caps=-all,+dac_read_search \
		--ambient-caps=-all,+dac_read_search prlimit "--$1" \
		bash -c '. "$SOURCE/tests/fake/lib.bash"; fake_check "$FAKE/node"' >"$1" 2>&1 || status=$?
	if ((status == 1)) || grep -Eq ' FAIL |; (reset|reboot|replace)' "$1"; then
		echo "$1: status $status"
		cat "$1"
		return 1
	fi
}

# is_well FILE: all of the check ran, and found nothing
is_well() {
	grep -q ' 0 in error, 0 failed$' "$1"
}

@test "starved of memory, files or processes: in error, and never failed" {
	((EUID == 0)) || skip 'another user needs root'
	local most running=()
	# another user needs a folder that is his to pass
	FAKE=$(mktemp -d /tmp/starved.XXXXXX)
	cp -a "$BATS_FILE_TMPDIR/fake/." "$FAKE"
	chmod 755 "$FAKE"
	starves nproc=4096 54000
	is_well nproc=4096
	for most in nproc={2,4,6,8,10} nofile={4,8,10,12,14} as={80,84,88,92,96,100,120,200,360}00000; do
		starves "$most" $((54001 + ${#running[@]})) 3>&- & # each has processes of his own
		running+=($!)
	done
	for most in "${running[@]}"; do
		wait "$most"
	done
	for most in nproc=2 nofile=4 as=8000000; do
		! is_well "$most" || return 1 # the limit is felt
	done
	rm -rf "$FAKE"
}
