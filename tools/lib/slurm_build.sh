# SPDX-License-Identifier: GPL-2.0-or-later
# slurm_build.sh - Slurm from its own source: where that lies, and a root in which it is built
#
# ONESPINE_SLURM_SOURCES is Slurm's git repository (bare or not; its tags are used), or a folder with
# slurm-25.05.8, slurm-26.05.3.tar.xz, ...; when it is not set, ../shared/data/slurm beside this tree.
# Set to nothing, it means that there is no source: Debian's packages alone are used.
# shellcheck shell=bash

# shellcheck disable=SC2034 # lib/apt.sh says it too
SLURM_SOURCES_HELP="ONESPINE_SLURM_SOURCES=a git repository of Slurm, or a folder with slurm-VERSION or slurm-VERSION.tar.xz"

# slurm_sources: the repository or folder; nothing when there is none
slurm_sources() {
	if [[ -n ${ONESPINE_SLURM_SOURCES+x} ]]; then
		printf '%s\n' "$ONESPINE_SLURM_SOURCES"
	elif [[ -d $ONESPINE_SOURCE/../shared/data/slurm ]]; then
		readlink -f "$ONESPINE_SOURCE/../shared/data/slurm"
	fi
}

# source_versions FROM: every version that a repository or folder has, one a line (25.11.7)
source_versions() {
	{
		git -C "$1" tag --list 2>/dev/null | sed -nE 's/^slurm-([0-9]+)-([0-9]+)-([0-9]+)-[0-9]+$/\1.\2.\3/p'
		find "$1" -maxdepth 1 -name 'slurm-*.*.*' -printf '%f\n' 2>/dev/null |
			sed -nE 's/^slurm-([0-9]+\.[0-9]+\.[0-9]+)(\.tar\.[a-z0-9]+)?$/\1/p'
	} | sort -uV
}

# exact_release RELEASE: one that is built from source as the newest micro that is built in the cache or whose source is
# at hand; unchanged when there is none, when it is the installed one, and any other
exact_release() {
	local from exact=''
	from=$(slurm_sources)
	if [[ $1 =~ ^(23\.11|24\.05|25\.11|26\.05)$ && -n ${ONESPINE_SLURM_SOURCES-unset} && $1 != "$(installed_release)" ]]; then
		exact=$({
			find "$ONESPINE_CACHE" -maxdepth 2 -path '*/root-*/.onespine-slurm' 2>/dev/null |
				sed -nE 's|.*/root-([0-9.]+)/[^/]*$|\1|p'
			[[ -z $from ]] || source_versions "$from"
		} | sort -V | grep "^${1//./\\.}\\." | tail -n 1) || true
	fi
	printf '%s\n' "${exact:-$1}"
}

# named_release WORD: what --slurm WORD means; dies when it means nothing
named_release() {
	release_known "$1" ||
		die "--slurm ${1:-nothing}: ${KNOWN_RELEASES[*]}, or one to the micro (25.05.8)"
	exact_release "$1"
}

# tag_of REPOSITORY VERSION: the tag of that version (slurm-25-05-8-1); fails when it has none
tag_of() {
	local prefix
	prefix=slurm-${2//./-}-
	git -C "$1" tag --list "${prefix}[0-9]*" | grep -E "^${prefix}[0-9]+\$" | sort -V | tail -n 1 | grep .
}

# slurm_tree VERSION FOLDER: its source in FOLDER, as it was released; fails, saying why
slurm_tree() {
	local version=$1 folder=$2 from tag archive
	from=$(slurm_sources)
	[[ -n $from ]] || {
		say "the source of Slurm $version is not here: $SLURM_SOURCES_HELP"
		return 1
	}
	if [[ -r $from/slurm-$version/META ]]; then
		mkdir -p "$folder" && cp -a "$from/slurm-$version/." "$folder/"
	elif archive=$(compgen -G "$from/slurm-$version.tar.*" | head -n 1) && [[ -n $archive ]]; then
		mkdir -p "$folder" && tar -xf "$archive" -C "$folder" --strip-components=1
	elif tag=$(tag_of "$from" "$version" 2>/dev/null); then
		mkdir -p "$folder" && git -C "$from" archive "$tag" | tar -x -C "$folder"
	else
		say "$from: neither a tag nor a folder nor an archive of Slurm $version there"
		return 1
	fi
	# a tree that somebody has configured carries that one's files: ours are made anew
	[[ ! -e $folder/config.status ]] || make -s -C "$folder" distclean >/dev/null 2>&1 || true
}

# built_source RELEASE: where the source that its root's Slurm was built from lies
built_source() {
	printf '%s/source/slurm-%s\n' "$ONESPINE_CACHE" "$1"
}

# newest_parser FOLDER: of the data parsers, a third of what Slurm compiles, only the newest is built:
# --json, --yaml and topology.yaml use it where no other is named
newest_parser() {
	local makefile=$1/src/plugins/data_parser/Makefile
	[[ ! -e $makefile ]] || sed -i -E 's/^(SUBDIRS =) .* (v[0-9.]+)$/\1 \2/' "$makefile"
}

# The compiler's flags for Slurm. tools/test sets -O0: the compiler then takes less than half the time that -O1 takes it.
SLURM_CFLAGS=${SLURM_CFLAGS:--O2}

# slurm_stamp RELEASE: the file that says with what flags the Slurm in its root was built
slurm_stamp() {
	printf '%s/root-%s/.onespine-slurm\n' "$ONESPINE_CACHE" "$1"
}

# measurable RELEASE: does its speed tell anything? Not what was built for tests alone
measurable() {
	[[ ! -s $(slurm_stamp "$1") || $(<"$(slurm_stamp "$1")") == -O2 ]]
}

# add_auth_slurm ROOT SOURCE: where Slurm was built before the root had libjwt, which is all that this plugin lacks
add_auth_slurm() {
	local root=$1 source=$2
	[[ -e $source/src/plugins/auth/slurm/Makefile && ! -e $root/usr/lib/slurm/auth_slurm.so ]] || return 0
	say "builds auth/slurm in $source"
	in_root "$root" make -s -C "$source/src/plugins/auth/slurm" JWT_LDFLAGS=-ljwt install \
		>"$source/build_auth.log" 2>&1 || {
		tail -n 20 "$source/build_auth.log" >&2
		die "auth/slurm cannot be built in $source"
	}
}

# build_slurm RELEASE ROOT: builds it, once, and installs it in the root under /usr. sh starts libtool,
# some 1,000 times, faster than bash does, and need not start sed for it (as configure.ac says).
build_slurm() {
	local release=$1 root=$2 source start=$SECONDS
	source=$(built_source "$release")
	mkdir -p "$ONESPINE_CACHE/source"
	(
		flock 9
		if [[ -e $root/.onespine-slurm && -e $source/.onespine-configured ]]; then
			add_auth_slurm "$root" "$source"
			exit
		fi
		# a root that was made anew may hold other libraries than the one that configure has looked at
		rm -rf "$source"
		slurm_tree "$release" "$source" || exit 1
		configure_source "$root" "$source" --with-rpath --with-pmix --disable-static \
			--disable-dependency-tracking CFLAGS="$SLURM_CFLAGS" || exit 1
		newest_parser "$source"
		touch "$source/.onespine-configured"
		say "builds Slurm $release (a minute or two; $source/build.log)"
		# without its documents, which would need Python
		in_root "$root" env _G_HAVE_XSI_OPS=yes sh -c 'cd "$1" && make() { command make -s SHELL=/bin/sh "$@"; } && make -C src -j"$2" &&
			make -C src install && make install-pkgincludeHEADERS && make -C contribs/pmi2 install' \
			sh "$source" "$(nproc)" >"$source/build.log" 2>&1 || {
			tail -n 20 "$source/build.log" >&2
			say "building Slurm $release failed"
			exit 1
		}
		in_root "$root" ldconfig
		printf '%s\n' "$SLURM_CFLAGS" >"$root/.onespine-slurm"
		say "built Slurm $release in $((SECONDS - start)) s"
	) 9>"$source.lock"
}
