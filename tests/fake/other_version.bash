# SPDX-License-Identifier: GPL-2.0-or-later
# other_version.bash - a plugin of ours as if built for another micro release of Slurm
# shellcheck shell=bash

# other_version FILE: its plugin_version one micro release lower
other_version() {
	local address version octal
	address=$(readelf -sW "$1" | awk '$8 == "plugin_version" { print $2; exit }')
	address=$(offset_of "$1" "$((16#$address))")
	version=$(od -An -tu4 -j "$address" -N 4 "$1")
	octal=$(printf '\\%03o' $(((version - 1) & 255)))
	# shellcheck disable=SC2059 # the escape is what it is for
	printf "$octal" | dd of="$1" bs=1 seek="$address" conv=notrunc status=none
	(($(od -An -tu4 -j "$address" -N 4 "$1") == version - 1))
}

# offset_of FILE ADDRESS: where in the file that address is
offset_of() {
	readelf -lW "$1" | awk '$1 == "LOAD" { print $2, $3, $5 }' | while read -r offset address size; do
		if (($2 >= address && $2 < address + size)); then
			echo $(($2 - address + offset))
		fi
	done
}
