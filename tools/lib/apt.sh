# SPDX-License-Identifier: GPL-2.0-or-later
# apt.sh - Debian packages: what is missing here, and where packages of other suites come from
# shellcheck shell=bash disable=SC2034

# What building and testing need. clang is for fuzzing and valgrind for the tests that use it; ccache spares what is
# compiled alike in several builds.
BUILD_PACKAGES=(build-essential autoconf automake libtool pkg-config
	libslurm-dev libmunge-dev libsodium-dev libyaml-dev libhwloc-dev libexpat1-dev libjansson-dev libcmocka-dev
	libcurl4-openssl-dev)
SLURM_PACKAGES=(slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge procps iproute2)
TEST_PACKAGES=(bats jq valgrind mmdebstrap dpkg-dev ccache clang libclang-rt-dev shellcheck
	openmpi-bin libopenmpi-dev python3-torch zsh mandoc
	ibsim-utils infiniband-diags libumad2sim0 slurmrestd)

# The releases of Slurm that are tried. Debian has 22.05, 24.11 and 26.05; slurm_build.sh builds the others, 26.05
# and whatever is named to the micro (25.05.8) from source.
KNOWN_RELEASES=(22.05 23.11 24.05 24.11 25.11 26.05)
# Those of them on which the core tests run alone.
CORE_RELEASES=(23.11 24.05)

# release_known RELEASE: can a cluster run it?
release_known() {
	[[ " ${KNOWN_RELEASES[*]} " == *" $1 "* ]] || built_release "$1"
}

# built_release RELEASE: is it one to the micro, which is built from its source?
built_release() {
	[[ $1 =~ ^[0-9][0-9]\.[0-9][0-9]\.[0-9]+$ ]]
}

# core_only RELEASE: do the core tests run on it alone?
core_only() {
	[[ " ${CORE_RELEASES[*]} " == *" ${1%.*} "* || " ${CORE_RELEASES[*]} " == *" $1 "* ]]
}

# release_at_least RELEASE WANTED: 24.11.5 is at least 24.05
release_at_least() {
	[[ $(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1) == "$2" ]]
}

# Which suite of Debian a release's root is made of.
suite_of() {
	case $1 in
	22.05) echo bookworm ;;
	24.11) echo trixie ;;
	26.05) echo forky ;;
	*.*.*) echo bookworm ;;
	23.11 | 24.05 | 25.11) die "no Debian has Slurm $1, and its source is not at hand: $SLURM_SOURCES_HELP" ;;
	*) die "no Debian release with Slurm $1 is known here" ;;
	esac
}

# missing_packages PACKAGE...: those that are not installed, one a line
missing_packages() {
	local package
	for package; do
		[[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
			printf '%s\n' "$package"
	done
}

# install_packages PACKAGE...: what is missing of them, without starting any service
install_packages() {
	local -a missing
	mapfile -t missing < <(missing_packages "$@")
	((${#missing[@]})) || return 0
	need_root
	say "installs ${missing[*]}"
	local policy=/usr/sbin/policy-rc.d ours=0 status=0
	if [[ ! -e $policy ]]; then
		printf '#!/bin/sh\nexit 101\n' >"$policy"
		chmod 755 "$policy"
		ours=1
	fi
	apt_install "${missing[@]}" || status=$?
	((!ours)) || rm -f "$policy"
	return $status
}

# apt_install PACKAGE...: quiet, unless it fails; with fresh lists where the old ones do not do
apt_install() {
	local log status=0
	log=$(mktemp)
	apt_quietly install "$@" >"$log" 2>&1 || {
		apt-get -q update >"$log" 2>&1 && apt_quietly install "$@" >>"$log" 2>&1
	} || status=$?
	((!status)) || tail -n 20 "$log" >&2
	rm -f "$log"
	return $status
}

apt_quietly() {
	DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends "$@"
}

# debian_mirror [LABEL]: where this machine gets Debian (or Debian-Security) from, so that another
# suite comes the same way
debian_mirror() {
	local label=${1:-Debian}
	if [[ -n ${ONESPINE_MIRROR:-} ]]; then
		[[ $label != Debian ]] || printf '%s\n' "$ONESPINE_MIRROR"
		return
	fi
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' 'Created-By: Packages' |
		awk -v label="$label" '$1 == "Debian" && $2 == label { print $3; exit }'
}

# apt_proxies: the proxies that this machine's apt uses, as options of mmdebstrap
apt_proxies() {
	apt-config dump 2>/dev/null | grep -iE '^Acquire::https?::Proxy ' || true
}
