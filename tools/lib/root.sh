# SPDX-License-Identifier: GPL-2.0-or-later
# root.sh - a folder with another Debian and its Slurm, made once, and commands run inside it
#
# The root stays as mmdebstrap made it. What runs inside sees /tmp, the cache and the source tree
# at the same paths as outside, in a mount namespace of its own, so that nothing has to be unmounted.
# ROOT.use is locked: shared by whatever runs inside, for itself alone by what puts another in its place.
# shellcheck shell=bash disable=SC2154

# root_packages RELEASE: what a root holds; with the suite it is the stamp, so a change makes a new
# root. Where Slurm is built from source no package of it is there.
root_packages() {
	printf '%s\n' "${BUILD_PACKAGES[@]}" "${SLURM_PACKAGES[@]}" valgrind | grep -vx libsodium-dev |
		if built_release "$1"; then
			grep -v slurm
			# Slurm reads topology.yaml with the first, serves Open MPI with the second, and its slurmrestd
			# takes requests with the third; a test mounts
			printf '%s\n' libjson-c-dev libpmix-dev libhttp-parser-dev mount
		else
			cat
			printf '%s\n' slurmrestd
		fi | paste -sd,
}

# later_packages RELEASE: what a root holds besides. It is added to a root that was made before these were needed, so
# neither that root nor the Slurm in it is made anew. auth/slurm needs the last.
later_packages() {
	printf '%s\n' libsodium-dev ccache
	! built_release "$1" || printf '%s\n' libjwt-dev
}

# root_folder RELEASE: makes the root when there is none, and prints its path
root_folder() {
	local release=$1 suite folder stamp
	suite=$(suite_of "$release") || exit 1
	folder=$ONESPINE_CACHE/root-$release
	stamp="$suite: $(root_packages "$release")"
	if [[ ! -e $folder/.onespine-root || $(<"$folder/.onespine-root") != "$stamp" ]]; then
		make_root "$suite" "$folder" "$stamp" "$(later_packages "$release")" || exit 1
	fi
	add_packages "$folder" "$(later_packages "$release")" || exit 1
	if built_release "$release"; then
		build_slurm "$release" "$folder" || exit 1
	fi
	printf '%s\n' "$folder"
}

# add_packages FOLDER PACKAGES: one at a time
add_packages() {
	local folder=$1 packages=$2
	[[ ! -e $folder/.onespine-later || $(<"$folder/.onespine-later") != "$packages" ]] || return 0
	(
		flock 9
		[[ ! -e $folder/.onespine-later || $(<"$folder/.onespine-later") != "$packages" ]] || exit 0
		say "adds $(paste -sd' ' <<<"$packages") to $folder"
		# shellcheck disable=SC2016,SC2086
		in_root "$folder" sh -c 'apt-get -q update && DEBIAN_FRONTEND=noninteractive exec apt-get -q -y \
			--no-install-recommends install "$@"' sh $packages >"$folder.log" 2>&1 9>&- || {
			tail -n 5 "$folder.log" >&2
			die "cannot be added to $folder: $(paste -sd' ' <<<"$packages")"
		}
		printf '%s\n' "$packages" >"$folder/.onespine-later"
	) 9>"$folder.lock"
}

# make_root SUITE FOLDER STAMP [LATER]: one at a time; whole or not at all
make_root() {
	local suite=$1 folder=$2 stamp=$3 later=${4:-} mirror
	need_root
	need mmdebstrap flock
	mirror=$(debian_mirror)
	mkdir -p "$ONESPINE_CACHE"
	(
		flock 9
		[[ ! -e $folder/.onespine-root || $(<"$folder/.onespine-root") != "$stamp" ]] || exit 0
		say "makes a root of Debian $suite in $folder (about half a minute)"
		rm -rf --one-file-system "$folder.new"
		local -a options=(--quiet --variant=apt --include="${stamp#*: }${later:+,$(paste -sd, <<<"$later")}"
			--aptopt='Acquire::Check-Valid-Until "false"' --skip=check/empty)
		while IFS= read -r proxy; do
			[[ -z $proxy ]] || options+=(--aptopt="$proxy")
		done < <(apt_proxies)
		mmdebstrap "${options[@]}" "$suite" "$folder.new" ${mirror:+"$mirror"} >&2 9>&- || {
			rm -rf --one-file-system "$folder.new"
			die "mmdebstrap could not make the root"
		}
		printf '%s\n' "$later" >"$folder.new/.onespine-later"
		printf '%s\n' "$stamp" >"$folder.new/.onespine-root"
		replace_root "$folder.new" "$folder" 600 || {
			rm -rf --one-file-system "$folder.new"
			die "$folder is still in use (a cluster may run in it); end that, or wait"
		}
	) 9>"$folder.lock"
}

# replace_root NEW ROOT SECONDS: once nothing runs inside ROOT; fails when that takes longer
replace_root() (
	exec 8>>"$2.use"
	if ! flock --exclusive --nonblock 8; then
		say "waits until nothing runs in $2 any more"
		flock --exclusive --timeout "$3" 8 || exit 1
	fi
	rm -rf --one-file-system "$2"
	mv "$1" "$2"
)

# root_mounts ROOT [FOLDER...]: commands that a shell in a mount namespace of its own runs
root_mounts() {
	local root=$1 path
	shift
	printf 'mount --rbind /proc %q\nmount --rbind /sys %q\nmount --rbind /dev %q\n' \
		"$root/proc" "$root/sys" "$root/dev"
	for path in /etc/passwd /etc/group /etc/hosts /etc/resolv.conf; do
		[[ ! -e $path ]] || printf 'touch %q && mount --bind %q %q\n' "$root$path" "$path" "$root$path"
	done
	for path in /tmp "$ONESPINE_CACHE" "$ONESPINE_SHARED" "$ONESPINE_SOURCE" "$@"; do
		printf 'mkdir -p %q %q && mount --bind %q %q\n' "$path" "$root$path" "$path" "$root$path"
	done
}

# in_root ROOT COMMAND...: in the same folder when it is there too
in_root() {
	local root=$1 script
	shift
	script="set -e
$(root_mounts "$root")
exec chroot $(printf %q "$root") /bin/sh -c 'cd \"\$0\" 2>/dev/null || cd /; exec \"\$@\"' $(printf %q "$PWD") \"\$@\""
	(
		flock --shared 8
		unshare --mount --propagation private bash -c "$script" in_root "$@" 8>&-
	) 8>>"$root.use"
}

# start_holder: a process that keeps the cluster's mount namespace and root, locked; commands enter through it
start_holder() {
	local script
	script="set -e
$(root_mounts "$root" "$dir" ${prefix:+"$prefix"})
$([[ $auth != slurm ]] || printf 'mount -t tmpfs tmpfs %q' "$root/run")
exec chroot $(printf %q "$root") /bin/bash -c 'cd /; : >$dir/run/holder.ready; exec -a onespine-holder:$dir sleep infinity'"
	(
		cd /
		exec 8>>"$root.use"
		flock --shared 8
		exec setsid unshare --mount --propagation private bash -c "$script" \
			</dev/null >"$dir/log/holder.out" 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 9>&-
	) &
	printf '%s\n' $! >"$dir/run/holder.pid"
	disown $!
	await 10 test -e "$dir/run/holder.ready" || die "cannot enter $root: $(tail -n 3 "$dir/log/holder.out")"
}

# stop_holders: this one, and those of the releases that an update left
stop_holders() {
	local pid
	{ cat "$dir/run/holder.pid" "$dir/run/holders.before" 2>/dev/null || true; } | while read -r pid; do
		if grep -qsz "onespine-holder:$dir" "/proc/$pid/cmdline"; then
			signal KILL "$pid"
			await 5 none_of "$pid"
		fi
	done
}
