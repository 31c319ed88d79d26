#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What the plugins show to Slurm, and what they bring along: exactly what is meant, since a symbol too
# many replaces one of Slurm's, and a library too many is loaded into every srun. Run by make check,
# in the build folder.
set -eu

failed=0

say() {
	echo "exports: $1" >&2
	failed=1
}

# exports FILE NAME...
exports() {
	file=$1
	shift
	shown=$(nm -D --defined-only "$file" | awk '{print $3}' | LC_ALL=C sort)
	meant=$(printf '%s\n' "$@" | LC_ALL=C sort)
	[ "$shown" = "$meant" ] || say "$file shows:
$shown
instead of:
$meant"
}

# needs FILE LIBRARY...: no others
needs() {
	file=$1
	shift
	for library in $(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
		known=no
		for wanted; do
			case $library in "$wanted".so*) known=yes ;; esac
		done
		[ $known = yes ] || say "$file needs $library"
	done
}

# lazy FILE: bound when called, because clients load plugins and lack slurmctld's functions
lazy() {
	! readelf -d "$1" | grep -q 'BIND_NOW\|FLAGS.*NOW' || say "$1 is bound at once"
}

# whole FILE [PATTERN]: nothing of ours is left to be found elsewhere; what is bound lazily links without it
whole() {
	missing=$(nm -D --undefined-only "$1" | awk '{ print $NF }' | grep -E "${2:-^(osp|shadow)_}") || return 0
	say "$1 lacks $missing"
}

# Each check must be able to fail. In a subshell, so that it counts only there.
# shellcheck disable=SC2030,SC2031
doubt() {
	(failed=0 && "$@" 2>/dev/null && [ $failed = 1 ]) || say "the test itself sees nothing: $*"
}

folder=${1:-.libs}
# sanitizers link their own library first
runtime="libc libasan libubsan libdl libpthread ld-linux-x86-64"

exports "$folder/onespine.so" plugin_name plugin_type plugin_version spank_plugin_version \
	slurm_spank_init slurm_spank_init_post_opt slurm_spank_local_user_init slurm_spank_task_init \
	slurm_spank_user_init
# shellcheck disable=SC2086
needs "$folder/onespine.so" $runtime
lazy "$folder/onespine.so"

# Loaded by slurmstepd alone, which has hwloc already.
if [ -e "$folder/onespine_node.so" ]; then
	exports "$folder/onespine_node.so" osp_node_part
	# shellcheck disable=SC2086
	needs "$folder/onespine_node.so" libyaml-0 libhwloc libexpat $runtime
fi

exports "$folder/job_submit_onespine.so" plugin_name plugin_type plugin_version init job_submit \
	job_modify
# shellcheck disable=SC2086
needs "$folder/job_submit_onespine.so" libyaml-0 $runtime
lazy "$folder/job_submit_onespine.so"

for file in "$folder"/onespine.so "$folder"/onespine_node.so "$folder"/job_submit_onespine.so \
	"$folder"/onespine_select.so; do
	[ ! -e "$file" ] || whole "$file"
done

doubt exports "$folder/onespine.so" slurm_spank_init
doubt whole "$folder/job_submit_onespine.so" '^slurm_'
doubt needs "$folder/onespine.so" libm

# shellcheck disable=SC2031
exit $failed
