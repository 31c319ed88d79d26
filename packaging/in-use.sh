# SPDX-License-Identifier: GPL-2.0-or-later
# in-use.sh - for the scripts that run before a package of Onespine is removed (deb and rpm)
# shellcheck shell=sh

# onespine_files FILE: that file of Slurm's and what it includes, one a line
onespine_files() {
	[ -r "$1" ] || return 0
	printf '%s\n' "$1"
	[ "${2:-0}" -lt 4 ] || return 0
	sed -n 's/#.*//; s/^[[:space:]]*[Ii][Nn][Cc][Ll][Uu][Dd][Ee][[:space:]]\{1,\}//p' "$1" |
		while read -r onespine_name; do
			case $onespine_name in
			/*) ;;
			*) onespine_name=${1%/*}/$onespine_name ;;
			esac
			# shellcheck disable=SC2086
			for onespine_file in $onespine_name; do
				onespine_files "$onespine_file" $((${2:-0} + 1))
			done
		done
}

# onespine_named: where Slurm's files still name Onespine, as file:line:text
onespine_named() {
	# those of lib/conf/slurm_conf_path.c that a person writes
	for onespine_conf in /etc/slurm/slurm.conf /etc/slurm-llnl/slurm.conf /opt/slurm/etc/slurm.conf \
		/usr/local/etc/slurm.conf /run/slurm/conf/slurm.conf; do
		[ -r "$onespine_conf" ] || continue
		{
			onespine_files "$onespine_conf"
			onespine_files "${onespine_conf%/*}/plugstack.conf"
			sed -n 's/#.*//; s/^[[:space:]]*[Pp]lug[Ss]tack[Cc]onfig[[:space:]]*=[[:space:]]*//p' "$onespine_conf" |
				while read -r onespine_name; do onespine_files "$onespine_name"; done
		} | sort -u | while read -r onespine_file; do
			grep -nEi '^[^#]*(/usr/lib(64)?/onespine([/: ]|$)|^[[:space:]]*JobSubmitPlugins[[:space:]]*=[^#]*onespine)' \
				/dev/null "$onespine_file" || :
		done
	done
}

# onespine_may_go PACKAGE: fails, saying what to do, while Slurm's files name what the package has
onespine_may_go() {
	onespine_lines=$(onespine_named)
	[ -n "$onespine_lines" ] || return 0
	cat >&2 <<END
$1 is still in use:
$onespine_lines
Without it Slurm's commands and daemons would fail on this machine. Run "onespine setup --undo --head" (or
--node, or --login; or take these lines out by hand), restart Slurm, and remove $1 then.
END
	return 1
}
