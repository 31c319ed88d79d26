# SPDX-License-Identifier: GPL-2.0-or-later
# ports.sh - free TCP ports for clusters that start side by side
#
# A range is one file, named FIRST-LAST and holding the cluster's folder, so that two starts never
# get the same ports; the range of a cluster whose folder is gone is free again.
# shellcheck shell=bash

PORTS_FOLDER=/run/onespine/ports
PORTS_FIRST=20000
PORTS_END=32000 # below the range that the kernel gives to outgoing connections

# ports_listening: every TCP port that something listens on, a line each. awk reads in large pieces;
# bash would read byte by byte, and each read of such a file makes the kernel walk all its sockets.
ports_listening() {
	local port
	awk '$4 == "0A" { sub(/.*:/, "", $2); print $2 }' /proc/net/tcp /proc/net/tcp6 2>/dev/null |
		while read -r port; do
			printf '%d\n' "0x$port"
		done || true # no IPv6: no tcp6
}

# ports_taken: ranges given to living clusters, "FIRST LAST" a line
ports_taken() {
	local file name folder
	for file in "$PORTS_FOLDER"/*-*; do
		[[ -f $file ]] || continue
		folder=$(<"$file")
		if [[ ! -d $folder ]]; then
			rm -f "$file"
			continue
		fi
		name=${file##*/}
		printf '%d %d\n' "${name%-*}" "${name#*-}"
	done
}

# ports_take COUNT FOLDER: prints the first of COUNT ports that belong to FOLDER from now on
ports_take() {
	local count=$1 folder=$2
	mkdir -p "$PORTS_FOLDER"
	(
		flock 9
		first=$( (
			ports_taken
			ports_listening | sed 's/.*/& &/'
		) | sort -n | awk -v next_free=$PORTS_FIRST -v count="$count" '
			$1 - next_free >= count { exit }
			$2 >= next_free { next_free = $2 + 1 }
			END { print next_free }')
		((first + count <= PORTS_END)) || exit 1
		printf '%s\n' "$folder" >"$PORTS_FOLDER/$first-$((first + count - 1))"
		printf '%s\n' "$first"
	) 9>"$PORTS_FOLDER/.lock"
}

# ports_give_back FIRST COUNT
ports_give_back() {
	rm -f "$PORTS_FOLDER/$1-$(($1 + $2 - 1))"
}
