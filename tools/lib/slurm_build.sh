# SPDX-License-Identifier: GPL-2.0-or-later
# slurm_build.sh - Slurm from its own source: releases that no package holds, named to the micro
#
# ONESPINE_SLURM_SOURCES is Slurm's git repository (bare or not; its tags are used), or a folder with
# a tree of each release in slurm-25.05.8, slurm-26.05.3, ...
# shellcheck shell=bash

# tag_of REPOSITORY VERSION: the tag of that version (slurm-25-05-8-1); fails when it has none
tag_of() {
	local prefix
	prefix=slurm-${2//./-}-
	git -C "$1" tag --list "${prefix}[0-9]*" | grep -E "^${prefix}[0-9]+\$" | sort -V | tail -n 1 | grep .
}

# slurm_tree VERSION FOLDER: its source in FOLDER, as it was released; fails, saying why
slurm_tree() {
	local version=$1 folder=$2 from=${ONESPINE_SLURM_SOURCES:-} tag
	[[ -n $from ]] || {
		say "the source of Slurm $version is not here: ONESPINE_SLURM_SOURCES=a git repository of Slurm, or a folder with slurm-$version"
		return 1
	}
	if [[ -r $from/slurm-$version/META ]]; then
		mkdir -p "$folder" && cp -a "$from/slurm-$version/." "$folder/"
	elif tag=$(tag_of "$from" "$version" 2>/dev/null); then
		mkdir -p "$folder" && git -C "$from" archive "$tag" | tar -x -C "$folder"
	else
		say "$from: neither a tag nor a folder of Slurm $version there"
		return 1
	fi
	# a tree that somebody has configured carries that one's files: ours are made anew
	[[ ! -e $folder/config.status ]] || make -s -C "$folder" distclean >/dev/null 2>&1 || true
}

# built_source RELEASE: where the source that its root's Slurm was built from lies
built_source() {
	printf '%s/source/slurm-%s\n' "$ONESPINE_CACHE" "$1"
}

# build_slurm RELEASE ROOT: builds it, once, and installs it in the root under /usr
build_slurm() {
	local release=$1 root=$2 source
	source=$(built_source "$release")
	mkdir -p "$ONESPINE_CACHE/source"
	(
		flock 9
		[[ ! -e $root/.onespine-slurm || ! -e $source/.onespine-configured ]] || exit 0
		# a root that was made anew may hold other libraries than the one that configure has looked at
		rm -rf "$source"
		slurm_tree "$release" "$source" || exit 1
		configure_source "$root" "$source" --with-rpath --with-pmix || exit 1
		touch "$source/.onespine-configured"
		say "builds Slurm $release (some minutes; $source/build.log)"
		in_root "$root" sh -c 'cd "$1" && make -s -j"$2" && make -s install &&
			make -s -C contribs/pmi2 install' sh "$source" "$(nproc)" >"$source/build.log" 2>&1 || {
			tail -n 20 "$source/build.log" >&2
			say "building Slurm $release failed"
			exit 1
		}
		in_root "$root" ldconfig
		touch "$root/.onespine-slurm"
	) 9>"$source.lock"
}
