#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# what onespine check keeps as root, and what onespine history makes of it

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
	((EUID == 0)) || skip "needs root"
	cd "$BATS_TEST_TMPDIR" || return
	# shellcheck source=../fake/lib.bash
	. "$SOURCE/tests/fake/lib.bash"
	FAKE=$BATS_FILE_TMPDIR/fake
	unset ONESPINE_FAKE_NVML ONESPINE_FAKE_SYSTEM SLURMD_NODENAME
	cp -a "$FAKE/node" node
	export ONESPINE_TEST_ROOT=$PWD/node
	kept=node/var/lib/onespine/history/i-0123456789abcdef0.jsonl
	site=node$(strings -a "$ONESPINE" | grep -m1 '/etc/onespine$')
}

# policy LINE...: onespine.yaml of the node
policy() {
	mkdir -p "$site"
	printf '%s\n' "$@" >"$site/onespine.yaml"
}

check() {
	fake_check "$PWD/node" "$@"
}

@test "a run of root leaves a line: who, what, every figure" {
	SLURMD_NODENAME=gpu-st-1 ONESPINE_FAKE_NVML="gpu3.ecc_uncorrected=12" check >/dev/null || true
	check >/dev/null
	[[ $(wc -l <"$kept") == 2 ]]
	[[ $(jq -c '[.v, .node, .instance, .machine, .boot_id, .driver, .depth, .partial, .verdict, .reason]' "$kept") == \
'[1,"gpu-st-1","i-0123456789abcdef0","p5.48xlarge","0a1b2c3d-1111-2222-3333-444444444444","570.86.15","passive",false,"FAIL","onespine: gpu3 ecc 12 uncorrectable > 0; reset gpu"]
[1,"gpu-1","i-0123456789abcdef0","p5.48xlarge","0a1b2c3d-1111-2222-3333-444444444444","570.86.15","passive",false,"PASS",""]' ]]
	[[ $(sed -n 1p "$kept" | jq -r '.gpus.gpu3, .checks.ecc.results[0].value, (.checks | length)') == \
"GPU-00000003-1111-2222-3333-444444444444
12 uncorrectable
$(check --list --json | jq 'map(select(.depth == "passive")) | length')" ]]
	sed -n 1p "$kept" | jq -e '[.figures[] | select(.[0] == "gpu3" and .[1] == "ecc_uncorrected")] == [["gpu3","ecc_uncorrected",12]]'
	[[ $(stat -c %U:%a "$kept") == root:640 ]]
}

# holds_locks FILE...: another user holds the lock of each that he can open, until stop_holding; how many those are
holds_locks() {
	local said=$BATS_TEST_TMPDIR/holding
	mkfifo "$said"
	setpriv --reuid=65534 --regid=65534 --clear-groups bash -c 'held=0
		for file; do
			{ exec {open}<"$file"; } 2>/dev/null && flock --nonblock "$open" && held=$((held + 1))
		done
		echo "$held"
		exec sleep 600' _ "$@" >"$said" 3>&- &
	holder=$!
	read -r held <"$said"
	echo "$held"
}

@test "a user who holds the lock of all that he can open loses no run" {
	check --only cpu >/dev/null
	folder=${kept%/*}
	chmod a+x "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR" # as /var/lib is to everybody
	holds_locks "$folder" "$folder"/* "$folder"/.*lock >held
	[[ $(<held) == 1 ]] # the folder itself
	run check --only cpu
	kill "$holder"
	[[ $status == 0 && $output != *warning* ]]
	[[ $(wc -l <"$kept") == 2 ]]
	[[ $(stat -c %a "$folder"/.i-0123456789abcdef0.lock) == 600 ]]
}

@test "a lock that others may open is made anew" {
	check --only cpu >/dev/null
	lock=${kept%/*}/.i-0123456789abcdef0.lock
	chmod 644 "$lock"
	exec 7<"$lock"
	flock 7
	run check --only cpu
	exec 7>&-
	[[ $status == 0 && $output != *warning* && $(wc -l <"$kept") == 2 && $(stat -c %a "$lock") == 600 ]]
}

@test "another run that holds the lock for ever: the verdict comes at once, and that it is not kept after it" {
	check --only cpu >/dev/null
	exec 7>"${kept%/*}/.i-0123456789abcdef0.lock"
	flock 7
	mkfifo answer
	LD_PRELOAD=$FAKES/libsystem.so ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 \
		"$ONESPINE" check --only cpu --json >answer 2>words 3>&- 7>&- &
	checking=$!
	# standard output ends with the verdict, while the process still tries
	[[ $(jq -r .verdict <answer) == PASS ]]
	kill -0 "$checking"
	wait "$checking"
	exec 7>&-
	[[ $(<words) == "onespine: warning: the run is not kept: $PWD/${kept%/*}: another run holds the lock" ]]
	[[ $(wc -l <"$kept") == 1 ]]
}

@test "a dry run and who is not root keep nothing" {
	check --dry-run >/dev/null
	[[ ! -e $kept && ! -e node/run/onespine ]]
	cp -rL "$FAKE/lib" "$ONESPINE" . # the build may lie where only root comes
	chmod -R a+rX "$BATS_RUN_TMPDIR"
	run setpriv --reuid=65534 --clear-groups env ONESPINE_TEST_ROOT="$PWD/node" \
		LD_LIBRARY_PATH="$PWD/lib" "./${ONESPINE##*/}" check --only cpu
	[[ $status == 0 && ! -e $kept ]]
}

@test "a page that a GPU retires ends a pass" {
	export ONESPINE_FAKE_NVML="gpu3.pages=1"
	check >/dev/null
	[[ $(check --fresh 100 --json | jq .fresh) == true ]]
	[[ $(ONESPINE_FAKE_NVML="gpu3.pages=2" check --fresh 100 --json | jq .fresh) == false ]]
}

@test "a pass holds until something happens, then it is checked again" {
	check >/dev/null
	expect 0 "an earlier pass of depth passive holds: nothing was checked" check --fresh 100
	[[ $(check --fresh 100 --json | jq -c '[.verdict, .fresh, .checks]') == '["PASS",true,[]]' ]]
	[[ $(wc -l <"$kept") == 1 ]]
	[[ $(check --fresh 0 --json | jq .fresh) == false ]]
	echo '4,10,9000000,-;NVRM: Xid (PCI:0000:40:00): 31, pid=7' >>node/dev/kmsg
	[[ $(check --fresh 100 --json | jq .fresh) == false ]]
	[[ $(check --fresh 100 --json | jq .fresh) == true ]]
	[[ $(ONESPINE_FAKE_NVML="gpu3.rows=2" check --fresh 100 --json | jq .fresh) == false ]]
	echo 'limits: {free_percent: 6}' >t.yaml
	[[ $(check --fresh 100 --thresholds t.yaml --json | jq .fresh) == false ]]
	check >/dev/null
	echo 22222222-1111-2222-3333-444444444444 >node/proc/sys/kernel/random/boot_id
	[[ $(check --fresh 100 --json | jq .fresh) == false ]]
	check >/dev/null
	chmod 666 node/run/onespine/pass-passive
	[[ $(check --fresh 100 --json | jq .fresh) == false ]]
}

@test "a pass of some GPUs holds for those; a failure ends every pass" {
	check --gpus 0-3 >/dev/null
	[[ $(check --gpus 1 --fresh 100 --json | jq .fresh) == true ]]
	[[ $(check --gpus 3-4 --fresh 100 --json | jq .fresh) == false ]]
	[[ $(check --fresh 100 --json | jq .fresh) == false ]]
	run env ONESPINE_FAKE_NVML="gpu3.ecc_uncorrected=12" bash -c '. "$SOURCE/tests/fake/lib.bash"
		FAKE=$1; fake_check "$PWD/node" >/dev/null' _ "$FAKE"
	[[ $(check --gpus 1 --fresh 100 --json | jq .fresh) == false ]]
}

@test "XIDs since the last pass count; --repaired takes them for seen" {
	echo '4,10,9000000,-;NVRM: Xid (PCI:0000:40:00): 95, pid=12' >>node/dev/kmsg
	run check --only xid
	[[ $status == 1 && ${lines[-1]} == "onespine: gpu3 xid 95; reset gpu" ]]
	check --gpus 0 >/dev/null # has not seen those of others
	run check --only xid
	[[ $status == 1 ]]
	check --repaired >/dev/null
	run check --only xid
	[[ $status == 0 && $output == *"none since the last pass"* ]]
	echo '4,11,9900000,-;NVRM: Xid (PCI:0000:40:00): 79, pid=12' >>node/dev/kmsg
	run check --only xid
	[[ $status == 1 && ${lines[-1]} == "onespine: gpu3 xid 79; reboot" ]]
}

@test "what counters grew by is reported with the job after which they were read" {
	check >/dev/null
	[[ $(sed -n 1p "$kept" | jq -c '[.grew, .job]') == '[[],null]' ]]
	SLURM_JOB_ID=77 SLURM_SCRIPT_CONTEXT=epilog_slurmd ONESPINE_FAKE_NVML="gpu3.rows=3" check >/dev/null || true
	[[ $(sed -n 2p "$kept" | jq -c '[.job, .when, .grew]') == \
		'[77,"epilog",[["GPU-00000003-1111-2222-3333-444444444444","rows_remapped",2]]]' ]]
	run onespine history GPU-00000003
	grep -q '^    counted after job 77: rows_remapped +2, ' <<<"$output"
	[[ $(onespine history --json GPU-00000003 | jq -c '.subjects[].grew[] | [.subject, .name, .more, .job, .when]') == \
		'["","rows_remapped",2,77,"epilog"]' ]]
	# a user's own job is no Epilog
	SLURM_JOB_ID=78 check >/dev/null
	[[ $(sed -n 3p "$kept" | jq -c .job) == null ]]
}

@test "strikes make a lemon, of the node and of the GPU: status 1" {
	for _ in 1 2 3; do
		ONESPINE_FAKE_NVML="gpu3.ecc_uncorrected=12" check --only ecc >/dev/null || true
		ONESPINE_FAKE_NVML="gpu3.ecc_uncorrected=12" check --only ecc >/dev/null || true
		check --only ecc >/dev/null
	done
	run onespine history gpu-1
	[[ $status == 1 ]]
	[[ ${lines[0]} == "i-0123456789abcdef0 on gpu-1: 9 runs, 6 failed, 3 strikes in 30 days: lemon" ]]
	grep -q '^    last run .*: passed$' <<<"$output"
	grep -q '^    last strike .*: ecc, onespine: gpu3 ecc 12 uncorrectable > 0; reset gpu$' <<<"$output"
	run onespine history GPU-00000004-1111
	[[ $status == 0 ]]
	[[ ${lines[0]} == "GPU-00000004-1111-2222-3333-444444444444 in i-0123456789abcdef0 on gpu-1: 9 runs, 0 failed, 0 strikes in 30 days" ]]
	[[ $(onespine history --json | jq -c '[.runs, (.subjects[] | [.key[0:12], .kind, .strikes, .lemon])]') == \
		'[9,["i-0123456789","instance",3,true],["GPU-00000003","gpu",3,true]]' ]]
	policy 'history: {strikes: 4}'
	run onespine history
	[[ $status == 0 && ${lines[0]} == *"3 strikes in 30 days" ]]
	expect 2 "onespine: no run of 'gpu-2' is kept on this node, and history.shared is off (onespine.yaml); did you mean gpu-1?" \
		onespine history gpu-2
	expect 2 "onespine: --since=week: a time as 7-0 for 7 days is expected (minutes, minutes:seconds, hours:minutes:seconds, days-hours[:minutes[:seconds]], at most 10 years)" onespine history --since=week
	[[ $(onespine history --since=1-0 --json | jq .runs) == 9 ]]
}

@test "a figure that moves shows" {
	for t in 30 30 30 30 60 60 60 60; do
		ONESPINE_FAKE_NVML="gpu3.temperature=$t" check --only temperature >/dev/null
	done
	run onespine history GPU-00000003
	grep -qE '^    temperature_c +30 -> 60 \(\+100 %\), least 30, most 60, 8 runs ' <<<"$output"
	run onespine history GPU-00000004
	[[ $output != *temperature_c* ]]
	run onespine history GPU-00000004 --figures
	grep -q 'temperature_c  *34 -> 34, least 34' <<<"$output"
}

@test "torn, forged and unreadable lines are passed over, and told" {
	check --only cpu >/dev/null
	printf '{"v":1,"time_s":1,"no\n' >>"$kept"
	cp "$kept" "${kept%/*}/forged.jsonl"
	chown 65534 "${kept%/*}/forged.jsonl"
	printf '{"v":1' >>"$kept"
	run onespine history
	[[ $status == 0 ]]
	[[ $output == *"i-0123456789abcdef0.jsonl:2: no JSON; passed over"* ]]
	[[ $output == *"i-0123456789abcdef0.jsonl:3: ends before its end; passed over"* ]]
	[[ $output == *"forged.jsonl: not a file of root's alone; passed over"* ]]
	[[ ${lines[-2]} == "1 run is kept; none has failed" ]]
	check --only cpu >/dev/null
	[[ $(onespine history --json 2>/dev/null | jq -c '[.runs, .passed_over]') == '[2,3]' ]]
}

@test "the shared folder keeps what the node keeps, and a run in both counts once" {
	mkdir -m 755 shared prom
	policy 'history:' "  shared: $PWD/shared" "  textfile: $PWD/prom"
	check >/dev/null
	cmp "$kept" shared/i-0123456789abcdef0.jsonl
	[[ $(onespine history --json | jq .runs) == 1 ]]
	[[ $(onespine history --json --folder shared | jq .runs) == 1 ]]
	policy 'history: {folder: off, slurm_extra: off}'
	check >/dev/null
	[[ $(wc -l <"$kept") == 1 ]]
	chmod 777 shared
	policy 'history:' "  shared: $PWD/shared"
	run check
	[[ $status == 0 && $output == *"the run is not kept: $PWD/shared: others than root may write there"* ]]
	[[ $(wc -l <shared/i-0123456789abcdef0.jsonl) == 1 ]]
}

@test "a full disk: a run says so and keeps its verdict and its status" {
	mkdir -p "${kept%/*}"
	mount -t tmpfs -o size=16k,mode=755 onespine-test "${kept%/*}" || skip 'cannot mount'
	head -c 16384 /dev/zero >"${kept%/*}/full" 2>/dev/null || true
	run check --only cpu
	umount "${kept%/*}"
	echo "$output"
	[[ $status == 0 && $output == *"onespine: warning: the run is not kept: $PWD/${kept%/*}"*'No space left on device'* ]]
}

@test "a shared folder that is none: each run says so and keeps its verdict and its status" {
	local folder
	: >shared
	for folder in "$PWD/shared" "$PWD/shared/below"; do
		policy 'history:' "  shared: $folder"
		run check --only cpu
		echo "$output"
		[[ $status == 0 && $output == *"the run is not kept: $folder: Not a directory"* ]]
		expect 2 "onespine: $folder: cannot be opened: Not a directory" onespine history
	done
	# the node's own runs are kept all the same
	[[ $(wc -l <"$kept") == 2 ]]
	[[ $(onespine history --folder "${kept%/*}" --json | jq .runs) == 2 ]]
}

@test "history.shared that is off is said: an answer has this node's runs alone" {
	local lacking="these are this node's runs alone: history.shared is off (onespine.yaml)"
	check --only cpu >/dev/null
	expect 0 "1 run is kept; none has failed
$lacking" onespine history
	expect 2 "onespine: no run of 'other' is kept on this node, and history.shared is off (onespine.yaml)" onespine history other
	[[ $(onespine history --json | jq .all_nodes) == false ]]
	mkdir -m 755 shared
	policy 'history:' "  shared: $PWD/shared"
	expect 0 "1 run is kept; none has failed" onespine history
	[[ $(onespine history --json | jq .all_nodes) == true ]]
	policy 'history: {folder: off}'
	expect 2 "onespine: no run of 'other' is kept" onespine history --folder shared other
}

# killed_at WORD: how it ended when it was killed as it opened a path that holds this word, or asked for that variable
killed_at() {
	local status=0
	AT_PATH=$1 check >said 2>&1 || status=$?
	echo "$status"
}

@test "a run that failed and is killed while it is kept leaves no pass, at whichever step" {
	local step
	cc -shared -fPIC -O1 -Wall -Werror -o at_path.so "$SOURCE/tests/fake/at_path.c"
	export ONESPINE_TEST_PRELOAD=$PWD/at_path.so
	mkdir -m 755 shared prom
	policy 'history:' "  shared: $PWD/shared" "  textfile: $PWD/prom"
	for step in SLURMD_NODENAME /shared /lib/onespine/history /prom; do
		check >/dev/null
		[[ -e node/run/onespine/pass-passive ]]
		[[ $(ONESPINE_FAKE_NVML=gpu3.ecc_uncorrected=12 killed_at "$step") == 137 ]] || { cat said && false; }
		[[ ! -e node/run/onespine/pass-passive ]] || { echo "killed at $step: the pass is there" && false; }
	done
}

@test "Prometheus' textfile: verdicts and figures, whole" {
	mkdir -m 755 prom
	policy 'history:' "  textfile: $PWD/prom"
	ONESPINE_FAKE_NVML="gpu3.temperature=95" check >/dev/null
	[[ $(ls prom) == onespine.prom && $(stat -c %a prom/onespine.prom) == 644 ]]
	grep -qx 'onespine_verdict{instance_id="i-0123456789abcdef0",depth="passive"} 2' prom/onespine.prom
	grep -qx 'onespine_check_verdict{check="temperature",mode="enforce"} 2' prom/onespine.prom
	grep -qx 'onespine_figure{check="temperature",subject="gpu3",uuid="GPU-00000003-1111-2222-3333-444444444444",name="temperature_c"} 95' prom/onespine.prom
	[[ -z $(grep -vE '^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z_]+="([^"\\]|\\.)*"(,[a-z_]+="([^"\\]|\\.)*")*\})? [-+0-9.e]+)$' prom/onespine.prom) ]]
	before=$(cat prom/onespine.prom)
	check --only cpu >/dev/null # a part is not the node's verdict
	[[ $(cat prom/onespine.prom) == "$before" ]]
}

@test "a broken onespine.yaml: told with its place, and nothing is kept" {
	policy 'history: {fodler: off}'
	run check
	[[ $status == 0 && $output == *"warning: nothing is kept of this run: "*"onespine.yaml:1:11: unknown key 'fodler'; did you mean folder?"* ]]
	[[ ! -e $kept ]]
	run onespine history
	[[ $status == 2 ]]
}

@test "wrong words" {
	expect 2 "onespine: --fresh=x: seconds from 0 to 2592000 are expected" check --fresh x
	expect 2 "onespine: a pass is of all checks: --fresh does not go with --only" check --fresh 1 --only cpu
	expect 2 "onespine: --repaired checks anew: not with --fresh" check --fresh 1 --repaired
	expect 2 "onespine: --repaired is of the whole node: not with --gpus" check --repaired --gpus 0
}

@test "a folder that is not there, or is none" {
	expect 2 "onespine: --folder=/nowhere: No such file or directory" onespine history --folder /nowhere
	: >file
	expect 2 "onespine: --folder=file: Not a directory" onespine history --folder file
}
