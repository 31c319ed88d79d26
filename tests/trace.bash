# SPDX-License-Identifier: GPL-2.0-or-later
# trace.bash - makes bats record fewer lines; helpers load it at their end
#
# bats records each line that a test runs, so that it can name the one that failed: 0.2 ms of a processor, more than
# most lines take. Here it records the lines of the test, and of what the test's own file defines. Of a failure in
# what helpers define it names the line that called them.
# shellcheck shell=bash

# untraced_so_far: functions that are defined now are not recorded. Each file of helpers calls it at its end.
untraced_so_far() {
	mapfile -t UNTRACED < <(compgen -A function)
}

# bats calls it once the test's file was read, before it calls the test
if declare -F bats_setup_tracing >/dev/null && ! declare -F all_bats_setup_tracing >/dev/null; then
	eval "all_$(declare -f bats_setup_tracing)"
	bats_setup_tracing() {
		local name
		local -A untraced=()
		for name in "${UNTRACED[@]}"; do
			case $name in
			setup | teardown | bats_test_begin | bats_teardown_trap) ;; # the first two are called by these
			bats_error_trap | bats_check_status_from_trap) ;; # end the records, which they could not do untraced
			*) untraced[$name]=1 ;;
			esac
		done
		for name in $(compgen -A function); do
			[[ -n ${untraced[$name]:-} ]] || declare -ft "$name"
		done
		set +T
		all_bats_setup_tracing
	}
fi

# bats asks for the time twice a test, and starts date for it: not with this bash
if declare -F get_mills_since_epoch >/dev/null; then
	get_mills_since_epoch() {
		printf '%d\n' $((${EPOCHREALTIME/[.,]/} / 1000))
	}
fi

untraced_so_far
