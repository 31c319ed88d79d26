# SPDX-License-Identifier: GPL-2.0-or-later
# tests.sh - runs tests and counts them
#
# Uses the variables of tools/test: scratch (its folder), tests_folder (TMPDIR on Slurm), pattern, everywhere, slow. What each run
# found is a line "PASSED FAILED SKIPPED NAME" in $scratch/counts.
# shellcheck shell=bash disable=SC2154

BATS_LIMIT_S=1800

# Files of bats side by side. Each waits for Slurm most of its time, so there are more, up to FILES_MOST, while the processors
# have nothing to do for a fifth of their time. On a slow machine, where starting a process takes SLOW_START_US (on some virtual
# ones it takes 5 ms and more), half as many begin: beside others, checks that have a second to answer in do not.
FILES_AT_ONCE=8
SLOW_START_US=2500
FILES_MOST=14
IDLE_PERCENT=20
IDLE_OVER_S=5

# The tests' files are many and small: in memory they cost no disk's time, and no sync is waited for. Those of three
# files with their clusters took 15 MiB; a core dump is more.
TESTS_MIB=2048

# tests_parent: prints where the tests' files go: into memory if there is room, and programs run there; else to TMPDIR
tests_parent() {
	local free
	free=$(df -m --output=avail /dev/shm 2>/dev/null | tail -n 1)
	if ((${free:-0} >= TESTS_MIB)) && [[ $(findmnt -n -o FSTYPE,OPTIONS -T /dev/shm) == tmpfs* ]] &&
		! findmnt -n -o OPTIONS -T /dev/shm | grep -qw noexec; then
		printf '/dev/shm\n'
	else
		printf '%s\n' "${TMPDIR:-/tmp}"
	fi
}

# free_space: what is left of each file system that tests write to; a full one is no fault of what is tested
free_space() {
	local folder parts=()
	for folder in "$scratch" "$tests_folder" "$(work_folder)" "$ONESPINE_SHARED" /dev/shm; do
		[[ ! -d $folder ]] || parts+=("$folder")
	done
	df -k --output=target,avail,iavail "${parts[@]}" | awk 'NR > 1 && !told[$1]++ {
		printf "%s%d MiB and %s inodes in %s", separator, $2 / 1024, $3, $1; separator = ", " }'
}

# add_count PASSED FAILED SKIPPED NAME: records it and tells it; of a failure also how much space there was
add_count() {
	printf '%s %s %s %s\n' "$1" "$2" "$3" "$4" >>"$scratch/counts"
	printf '%-44s %5d passed%s%s\n' "$4" "$1" "$( (($2)) && echo ", $2 FAILED")" \
		"$( (($3)) && echo ", $3 skipped")"
	((!$2)) || printf '    free: %s\n' "$(free_space)"
}

wanted() {
	[[ -z $pattern || $1 == *"$pattern"* ]]
}

# test_names: what --only can name, one a line
test_names() {
	(cd "$ONESPINE_SOURCE" && ls -d tests/unit/test_*.c tests/unit/*.sh tests/check/* tests/command/* tests/fuzz/run tests/slurm/*.bats |
		sed 's/\.c$//; s/\.table$//')
	printf '%s\n' packages variants
}

# nearest_names: of test_names, the five whose own part (core_fit.bats: fit) differs from the pattern by fewest letters
nearest_names() {
	test_names | awk -v word="${pattern##*/}" '
		function least(a, b) { return a < b ? a : b }
		function distance(a, b,    i, j, row, last, kept) {
			for (j = 0; j <= length(b); j++) row[j] = j
			for (i = 1; i <= length(a); i++) {
				last = row[0]
				row[0] = i
				for (j = 1; j <= length(b); j++) {
					kept = row[j]
					row[j] = least(least(row[j], row[j - 1]) + 1, last + (substr(a, i, 1) != substr(b, j, 1)))
					last = kept
				}
			}
			return row[length(b)]
		}
		{
			name = $0
			sub(/.*\//, "", name)
			sub(/\.[a-z]+$/, "", name)
			whole = name
			sub(/^(core|gate|test)_/, "", name)
			sub(/\.[a-z]+$/, "", word)
			print least(distance(word, name), distance(word, whole)), $0
		}' | sort -n -s | sed -n '1,5s/^[0-9]* //p' | paste -sd' '
}

# pattern_known: fails, saying which names are near, when nothing is called so
pattern_known() {
	[[ -z $pattern ]] || test_names | grep -F -e "$pattern" >/dev/null ||
		die "--only $pattern: no test's name holds that; the nearest: $(nearest_names)"
}

# --- make check -------------------------------------------------------------------------------------

# run_unit_tests RELEASE
run_unit_tests() {
	local release=$1 folder log trs before programs=()
	folder=$(build_folder "$release")
	log=$scratch/make-check.log
	if [[ -n $pattern ]]; then
		mapfile -t programs < <(unit_programs "$folder")
		[[ " ${programs[*]} " == *' tests/command/run '* ]] || run_command_files "$release"
		((${#programs[@]})) || return 0
	fi
	before=$scratch/before-check
	touch "$before"
	[[ -d $tests_folder/tmp ]] || mkdir -m 1777 "$tests_folder/tmp"
	where_built "$release" env TMPDIR="$tests_folder/tmp" make -k -s -j"$(nproc)" -C "$folder" check \
		${programs[@]+"TESTS=${programs[*]}"} >"$log" 2>&1 || true
	local found=0
	while IFS= read -r trs; do
		found=1
		count_unit_program "$trs" "$folder"
	done < <(find "$folder" -name '*.trs' -newer "$before" | sort)
	if ((!found)); then
		add_count 0 1 0 "make check"
		tail -n 40 "$log"
	fi
}

# unit_programs FOLDER: the tests of make check whose name holds the pattern
unit_programs() {
	local name
	# shellcheck disable=SC2016
	for name in $(make -s -C "$1" -f Makefile -f <(printf 'osp-tests:\n\t@echo $(TESTS)\n') osp-tests); do
		! wanted "$name" || printf '%s\n' "$name"
	done
}

# run_command_files RELEASE: the files of tests/command whose name holds the pattern; make check runs all of them as one
run_command_files() {
	local release=$1 folder file log status
	folder=$(build_folder "$release")
	for file in "$ONESPINE_SOURCE"/tests/command/*.bats; do
		wanted "${file##*/}" || continue
		log=$scratch/command-${file##*/}.tap
		status=0
		# the libraries that stand for a node's
		# shellcheck disable=SC2016
		where_built "$release" sh -c 'make -s -C "$1" check TESTS= >/dev/null && cd "$1" && ONESPINE=$1/onespine exec bats --tap "$2"' \
			sh "$folder" "$file" >"$log" 2>&1 </dev/null || status=$?
		count_tap "tests/command/${file##*/}" "$log" "$status"
	done
}

# count_unit_program TRS FOLDER: cmocka's or TAP's own counts where the program has them
count_unit_program() {
	local base=${1%.trs} name result passed failed tap_failed=0
	name=${base#"$2"/}
	result=$(sed -n 's/^:global-test-result: //p' "$1")
	passed=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test(s).*/\1/p' "$base.log" | awk '{ n += $1 } END { print n + 0 }')
	failed=$(sed -n 's/^\[  FAILED  \] [^ ]*: \([0-9]*\) test(s).*/\1/p' "$base.log" | awk '{ n += $1 } END { print n + 0 }')
	if ((!passed && !failed)) && grep -qE '^1\.\.[0-9]+' "$base.log"; then
		passed=$(grep -c '^ok ' "$base.log" || true)
		tap_failed=$(grep -c '^not ok ' "$base.log" || true)
		failed=$tap_failed
	fi
	case $result in
	PASS) add_count $((passed ? passed : 1)) 0 0 "$name" ;;
	SKIP) add_count 0 0 1 "$name" ;;
	*)
		add_count "$passed" $((failed ? failed : 1)) 0 "$name"
		if ((tap_failed)); then
			show_failed "$base.log"
		else
			tail -n 60 "$base.log" | sed 's/^/    /'
		fi
		;;
	esac
}

# run_variants: gcc and clang, sanitizers, and what is built where something is missing. It only computes, so
# whatever else is being tested goes first.
run_variants() {
	local log=$scratch/variants.tap native status=0
	native=$(installed_release)
	wanted variants || return 0
	nice -n 19 "$ONESPINE_SOURCE/tests/check/variants" "$ONESPINE_SOURCE" "$(source_folder "$native")" \
		"$scratch/variants" "$(build_folder "$native")/kernels/all.fatbin" >"$log" 2>&1 </dev/null || status=$?
	count_tap "variants of the build" "$log" "$status" >"$log.told"
	cat "$log.told"
	rm -rf "$scratch/variants"
}

# run_packages RELEASE: packages built, and used in a fresh root, where Debian has that Slurm's source; everywhere they
# are built twice, to compare them
run_packages() {
	local release=$1 log=$scratch/packages-$1.tap status=0 twice=()
	wanted packages || return 0
	((!everywhere)) || twice=(--twice)
	"$ONESPINE_SOURCE/tests/packages/run" ${twice[@]+"${twice[@]}"} "$release" "$scratch/packages" >"$log" 2>&1 </dev/null || status=$?
	count_tap "packages for Slurm $release in a fresh root" "$log" "$status"
	rm -rf --one-file-system "$scratch/packages"
}

# run_rpms RELEASE: the packages for RPM, in a copy of the root that run_packages has made
run_rpms() {
	local log=$scratch/rpms-$1.tap status=0
	wanted packages || return 0
	install_packages rpm
	"$ONESPINE_SOURCE/tests/packages/rpms" "$1" "$scratch/rpms" >"$log" 2>&1 </dev/null || status=$?
	count_tap "packages for RPM and Slurm $1 in a fresh root" "$log" "$status"
	rm -rf --one-file-system "$scratch/rpms"
}

# --- bats -------------------------------------------------------------------------------------------

# expected_seconds RELEASE FILE...: prints "SECONDS RELEASE FILE" of each. The last time that it passed here says how long,
# else tests/slurm/seconds, else its number of lines.
expected_seconds() {
	local release=$1 file kept
	shift
	kept=$(work_folder)/seconds
	[[ -e $kept ]] || kept=/dev/null
	for file; do
		awk -v name="${file##*/}" -v release="$release" -v file="$file" -v length_s="$(($(wc -l <"$file") / 3))" '
			$2 == name "-" release { seconds = $1 }
			$2 == name { elsewhere_s = $1 }
			END { print seconds ? seconds : elsewhere_s ? elsewhere_s : length_s, release, file }' \
			"$kept" "$ONESPINE_SOURCE/tests/slurm/seconds"
	done
}

# keep_seconds: how long each file that passed took, for the next run
keep_seconds() {
	local kept
	kept=$(work_folder)/seconds
	touch "$scratch/seconds" "$kept"
	awk '{ took[$2] = $1 } END { for (name in took) print took[name], name }' "$kept" "$scratch/seconds" |
		sort -k2 >"$kept.new"
	mv "$kept.new" "$kept"
}

# tell_longest: of the files that passed, the one that took longest
tell_longest() {
	[[ ! -s $scratch/seconds ]] || sort -k1,1nr "$scratch/seconds" | sed -n 1p | while read -r seconds name; do
		say "the longest file: $name, $seconds s"
	done
}

# own_mounts: what a test mounts is seen by that file's processes alone; files run side by side, with one
# installation. Nothing where the kernel does not let us.
own_mounts() {
	! unshare --mount true 2>/dev/null || printf '%s\n' unshare --mount --propagation private
}

# is_idle: whether the processors had nothing to do for IDLE_PERCENT of the last IDLE_OVER_S seconds. Each such span answers
# once, so that the next answer knows the work that began by this one.
is_idle() {
	local user nice system idle rest share
	read -r _ user nice system idle rest </proc/stat
	idle=$((idle + ${rest%% *})) # and waited for a disk
	((${idle_since:=$EPOCHSECONDS} + IDLE_OVER_S <= EPOCHSECONDS)) || {
		: "${idle_before:=$idle}" "${all_before:=$((user + nice + system + idle))}"
		return 1
	}
	share=$((100 * (idle - idle_before) / (user + nice + system + idle - all_before + 1)))
	idle_since=$EPOCHSECONDS idle_before=$idle all_before=$((user + nice + system + idle))
	((share >= IDLE_PERCENT))
}

# starts_slowly: whether it takes SLOW_START_US to start a process here, over the mean of 50
starts_slowly() {
	local start=${EPOCHREALTIME/[.,]/} i
	for ((i = 0; i < 50; i++)); do
		/bin/true
	done
	(((${EPOCHREALTIME/[.,]/} - start) / 50 >= SLOW_START_US))
}

# room_for_file: whether one more may begin beside those of `files_running`; forgets those of them that have ended
room_for_file() {
	local pid
	for pid in "${!files_running[@]}"; do
		kill -0 "$pid" 2>/dev/null || unset "files_running[$pid]"
	done
	((${#files_running[@]} < at_once)) || { ((${#files_running[@]} < FILES_MOST)) && is_idle; }
}

# run_bats_files MORE: runs files side by side, each with clusters of its own. MORE QUEUE adds lines of "SECONDS RELEASE FILE"
# to that file and brings them into order; it fails once it will never add any.
run_bats_files() {
	local queue=$scratch/queue release file more=1 files_running=() at_once=$((slow ? FILES_AT_ONCE / 2 : FILES_AT_ONCE))
	: >"$queue"
	while :; do
		((!more)) || "$1" "$queue" || more=0
		if [[ ! -s $queue ]]; then
			((more)) || break
			pause 500
		elif ! room_for_file; then
			pause 500
		else
			read -r _ release file <"$queue"
			sed -i 1d "$queue"
			run_bats_file "$release" "$file" &
			files_running[$!]=1
		fi
	done
	wait
}

# run_bats_file RELEASE FILE
run_bats_file() {
	local release=$1 file=$2 name log status=0 start apart
	mapfile -t apart < <(own_mounts)
	name="${file##*/} on $release"
	log=$scratch/${file##*/}-$release.tap
	start=$SECONDS
	TMPDIR=$tests_folder ONESPINE_TEST_SLURM=$release ONESPINE_PREFIX=$(prefix_folder "$release") \
		timeout --kill-after=60 "$BATS_LIMIT_S" ${apart[@]+"${apart[@]}"} bats --tap --timing "$file" \
		>"$log" 2>&1 </dev/null || status=$?
	# what failed, soon or late, says nothing of how long it takes
	((status)) || printf '%s %s\n' "$((SECONDS - start))" "${file##*/}-$release" >>"$scratch/seconds"
	count_tap "$name ($((SECONDS - start)) s)" "$log" "$status" >"$log.told"
	cat "$log.told"
}

# count_tap NAME LOG STATUS: a plan that was not kept is a failure too
count_tap() {
	local name=$1 log=$2 status=$3 planned passed failed skipped
	planned=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$log" | tail -n 1)
	skipped=$(grep -cE '^ok .*# skip' "$log" || true)
	passed=$(($(grep -cE '^ok ' "$log" || true) - skipped))
	failed=$(grep -cE '^not ok ' "$log" || true)
	if ((!failed && (status || passed + skipped != ${planned:--1}))); then
		failed=1
		add_count "$passed" "$failed" "$skipped" "$name"
		echo "    ended with status $status after $((passed + skipped)) of ${planned:-?} tests"
		tail -n 20 "$log" | sed 's/^/    /'
		return
	fi
	add_count "$passed" "$failed" "$skipped" "$name"
	((!failed)) || show_failed "$log"
}

# show_failed LOG: of TAP, each test that failed, with what it said
show_failed() {
	awk '/^not ok/ { show = 1 } /^ok/ { show = 0 } show { print "    " $0 }' "$1"
}

# sum_up: the last line; fails when anything failed or nothing ran
sum_up() {
	local passed=0 failed=0 skipped=0 one two three rest
	touch "$scratch/counts"
	while read -r one two three rest; do
		passed=$((passed + one)) failed=$((failed + two)) skipped=$((skipped + three))
	done <"$scratch/counts"
	((!failed)) || awk '$2 { $1 = $2 = $3 = ""; print "failed:" $0 }' "$scratch/counts"
	((passed || failed || skipped)) || say "nothing ran: what --only $pattern names does not run with these options"
	printf '%d passed, %d failed%s\n' "$passed" "$failed" "$( ((skipped)) && echo ", $skipped skipped")"
	((passed && !failed))
}
