# SPDX-License-Identifier: GPL-2.0-or-later
# other_build.bash - plugins of another micro release of Slurm, as on the day of an update
#
# Uses PREFIX and PLUGINS, which setup_file sets.
# shellcheck shell=bash disable=SC2153

# other_version FILE: its plugin_version one micro release lower
other_version() {
	local address version octal
	address=$(readelf -sW "$1" | awk '$8 == "plugin_version" { print $2; exit }')
	address=$(offset_of "$1" "$((16#$address))")
	version=$(od -An -tu4 -j "$address" -N 4 "$1")
	octal=$(printf '\\%03o' $(((version - 1) & 255)))
	printf "$octal" | dd of="$1" bs=1 seek="$address" conv=notrunc status=none
	equal "$(od -An -tu4 -j "$address" -N 4 "$1")" "$(printf ' %10d' $((version - 1)))"
}

# offset_of FILE ADDRESS: where in the file that address is
offset_of() {
	readelf -lW "$1" | awk '$1 == "LOAD" { print $2, $3, $5 }' | while read -r offset address size; do
		if (($2 >= address && $2 < address + size)); then
			echo $(($2 - address + offset))
		fi
	done
}

# updated_config LIB: slurm.conf with plugins of another Slurm, as on the day of an update
updated_config() {
	mkdir -p "$1/slurmctld"
	cp "$PREFIX/lib/onespine/slurmctld/select_cons_tres.so" "$1/slurmctld/"
	cp "$PREFIX/lib/onespine/job_submit_onespine.so" "$1/"
	other_version "$1/slurmctld/select_cons_tres.so"
	other_version "$1/job_submit_onespine.so"
	chmod -R go-w "$1"
	sed "s#^PluginDir=.*#PluginDir=$1/slurmctld:$1:$PLUGINS#" "$ONESPINE_CLUSTER/slurm.conf"
}

# start_with FILE: slurmctld starts again with that slurm.conf
start_with() {
	cluster kill-ctld --dir "$ONESPINE_CLUSTER"
	cp "$1" "$ONESPINE_CLUSTER/slurm.conf"
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
}

job_carries() {
	[[ $(job_field "$1" Licenses) == *onespine* ]]
}

untraced_so_far
