# SPDX-License-Identifier: GPL-2.0-or-later
# build.sh - builds Onespine out of tree for one Slurm release and installs it in the cache
# shellcheck shell=bash

# build_folder RELEASE
build_folder() {
	printf '%s/build-%s\n' "$(work_folder)" "$1"
}

# where_built RELEASE COMMAND...: runs it here, or in the release's root
where_built() {
	local release=$1
	shift
	if [[ $release == "$(installed_release)" ]]; then
		"$@"
	else
		in_root "$(root_folder "$release")" "$@"
	fi
}

# make_configure: autoreconf, when configure is missing or older than what it is made of
make_configure() {
	local newest
	newest=$(find "$ONESPINE_SOURCE/configure.ac" "$ONESPINE_SOURCE/Makefile.am" \
		"$ONESPINE_SOURCE"/m4/onespine.m4 -newer "$ONESPINE_SOURCE/configure" 2>/dev/null || echo missing)
	if [[ -z $newest && -e $ONESPINE_SOURCE/Makefile.in ]]; then
		return 0
	fi
	say "runs autoreconf"
	(
		flock 9
		autoreconf -fi "$ONESPINE_SOURCE"
	) 9>"$(work_folder)/autoreconf.lock" >"$(work_folder)/autoreconf.log" 2>&1 || {
		tail -n 20 "$(work_folder)/autoreconf.log" >&2
		return 1
	}
}

# source_may_be_lost RELEASE: Debian's archive keeps no source of a suite that is still moving
source_may_be_lost() {
	[[ $1 == 26.05 ]] || return 1
	say "builds for Slurm $1 without its source, so without the shadow (ONESPINE_SLURM_SOURCES can give it)"
}

# enforces RELEASE: was the shadow built for it?
enforces() {
	[[ -e $(prefix_folder "$1")/lib/onespine/slurmctld/select_cons_tres.so ]]
}

# with_cache COMMAND...: in a shell of its own; what was compiled already, from the same files with the same words by the same
# compiler, comes out of a cache: half of the objects of a build for another Slurm, since lib/ knows none. The record of
# what an object is made of, which each build writes anyway, tells that (CCACHE_DEPEND): without it ccache would preprocess
# each file once more, which costs a third of compiling it. Objects of two builds name the folder of the first.
with_cache() (
	export CCACHE_DIR=$ONESPINE_CACHE/ccache CCACHE_MAXSIZE=300M CCACHE_DEPEND=true CCACHE_NOHASHDIR=true PATH=/usr/lib/ccache:$PATH
	"$@"
)

# build_onespine RELEASE: configures, builds and installs into prefix_folder; the log is shown if
# that fails
build_onespine() {
	local release=$1 folder log source prefix wanted
	folder=$(build_folder "$release")
	prefix=$(prefix_folder "$release")
	log=$folder/build.log
	mkdir -p "$folder"
	source=$(source_folder "$release") || source_may_be_lost "$release" || return 1
	make_configure || return 1
	wanted="--prefix=$prefix${source:+ --with-slurm-source=$source}"
	# warnings are errors with the compiler that contributors have; another Debian's may know more
	[[ $release != "$(installed_release)" ]] || wanted+=' --enable-werror'
	[[ -n $source ]] || rm -f "$prefix/lib/onespine/slurmctld/select_cons_tres.so"
	(
		flock 9
		if [[ ! -e $folder/config.status || $(cat "$folder/configured" 2>/dev/null) != "$wanted" ]]; then
			# libtool and make's recipes run in this shell, some 800 times: Debian's sh takes half of what bash does
			# shellcheck disable=SC2016,SC2086
			where_built "$release" sh -c 'cd "$1" && shift && exec env CONFIG_SHELL=/bin/sh CFLAGS="-O2 -g1" "$@"' \
				sh "$folder" \
				"$ONESPINE_SOURCE/configure" --quiet $wanted && printf '%s\n' "$wanted" >"$folder/configured"
		fi && with_cache where_built "$release" make -s -C "$folder" -j"$(nproc)" all &&
			# after `all`, which is a make of its own: beside it both would write the same objects
			with_cache where_built "$release" make -s -C "$folder" -j"$(nproc)" tests/fake/knock tests/fake/other-gate \
				tests/fake/libcuda.la tests/fake/libnccl.la tests/fake/libnvml.la tests/fake/libsystem.la &&
			where_built "$release" make -s -C "$folder" install
	) 9>"$folder/lock" >"$log" 2>&1 || {
		say "building for Slurm $release failed; the end of $log:"
		tail -n 30 "$log" >&2
		return 1
	}
}
