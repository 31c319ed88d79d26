# SPDX-License-Identifier: GPL-2.0-or-later
# source.sh - the source of exactly the Slurm that is installed, here or in a root
# shellcheck shell=bash

# package_version [ROOT]: the version of Debian's source package that the Slurm there came from
package_version() {
	dpkg-query ${1:+--admindir="$1/var/lib/dpkg"} -W -f '${source:Version}\n' libslurm-dev 2>/dev/null
}

# source_folder RELEASE: gets and configures the tree unless it is there; prints its path
source_folder() {
	local release=$1 root='' version folder
	if built_release "$release"; then
		root_folder "$release" >/dev/null || exit 1
		built_source "$release"
		return
	fi
	if [[ $release != "$(installed_release)" ]]; then
		root=$(root_folder "$release")
	fi
	version=$(package_version "$root") || die "Slurm $release is not from a Debian package" \
		"(libslurm-dev): unpack and configure its source by hand, and give --with-slurm-source"
	folder=$ONESPINE_CACHE/source/slurm-wlm-$version
	mkdir -p "$ONESPINE_CACHE/source"
	(
		flock 9
		[[ ! -e $folder/.onespine-configured ]] || exit 0
		download_source "$(suite_of "$release")" "$version" "$folder" ||
			named_tree "${version%%-*}" "$folder" || exit 1
		configure_source "$root" "$folder" --without-rpath || exit 1
		touch "$folder/.onespine-configured"
	) 9>"$folder.lock" || exit 1
	printf '%s\n' "$folder"
}

# named_tree VERSION FOLDER: the same version to the micro, from where slurm_sources says
named_tree() {
	[[ -n $(slurm_sources) ]] || return 1
	rm -rf "$2"
	slurm_tree "$1" "$2"
}

# source_lists SUITE: lines for a sources.list of its own
source_lists() {
	local keyring=/usr/share/keyrings/debian-archive-keyring.gpg option='' mirror security
	[[ ! -e $keyring ]] || option="[signed-by=$keyring] "
	mirror=$(debian_mirror)
	security=$(debian_mirror Debian-Security)
	[[ -n $mirror ]] || die "this machine's apt has no Debian mirror: set ONESPINE_MIRROR"
	printf 'deb-src %s%s %s main\n' "$option" "$mirror" "$1"
	[[ -z $security ]] || printf 'deb-src %s%s %s-security main\n' "$option" "$security" "$1"
}

# download_source SUITE VERSION FOLDER: with apt's state in a folder of its own
download_source() {
	local suite=$1 version=$2 folder=$3 scratch
	need dpkg-source apt-get flock
	scratch=$(mktemp -d "$ONESPINE_CACHE/source/apt.XXXXXX")
	mkdir -p "$scratch/state/lists/partial" "$scratch/cache/archives/partial"
	source_lists "$suite" >"$scratch/sources.list"
	: >"$scratch/status"
	local -a options=(-q -o "Dir::State=$scratch/state" -o "Dir::State::status=$scratch/status"
		-o "Dir::Cache=$scratch/cache" -o "Dir::Etc::sourcelist=$scratch/sources.list"
		-o Dir::Etc::sourceparts=- -o APT::Sandbox::User=root -o Acquire::Languages=none
		-o Acquire::Check-Valid-Until=false)
	say "gets the source of slurm-wlm $version"
	if (cd "$scratch" && fetch_and_unpack "$version" "$folder") >"$scratch/log" 2>&1; then
		! grep '^without' "$scratch/log" >&2 || true
		rm -rf "$scratch"
		return 0
	fi
	tail -n 20 "$scratch/log" >&2
	rm -rf "$scratch"
	say "could not get the source of slurm-wlm $version"
	return 1
}

# fetch_and_unpack VERSION FOLDER: whole, or where a mirror has lost Debian's part, the original alone
fetch_and_unpack() {
	local version=$1 folder=$2
	apt-get "${options[@]}" update || return 1
	rm -rf "$folder"
	if apt-get "${options[@]}" source --download-only "slurm-wlm=$version"; then
		dpkg-source --no-check -x slurm-wlm_*.dsc "$folder"
		return
	fi
	apt-get "${options[@]}" source --download-only --tar-only "slurm-wlm=$version" || return 1
	mkdir "$folder" && tar -xf slurm-wlm_*.orig.tar.* -C "$folder" --strip-components=1 || return 1
	echo "without Debian's patches, which the mirror does not have"
}

# configure_source ROOT FOLDER OPTION...: makes config.h and slurm_version.h; built as Debian builds it
configure_source() {
	local root=$1 folder=$2
	local -a command=(./configure --quiet --prefix=/usr --sysconfdir=/etc/slurm --with-munge
		--disable-debug --enable-multiple-slurmd "${@:3}")
	say "configures it"
	(
		cd "$folder"
		if [[ -n $root ]]; then
			in_root "$root" "${command[@]}"
		else
			"${command[@]}"
		fi
	) >"$folder/configure.out" 2>&1 || {
		tail -n 20 "$folder/configure.out" >&2
		say "configure failed in $folder"
		return 1
	}
}
