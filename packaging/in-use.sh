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

# onespine_named PATTERN: where Slurm's files name what it matches, as file:line:text
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
			# those that ParallelCluster's Prolog and Epilog run
			ls -d "${onespine_conf%/*}"/scripts/prolog.d/* "${onespine_conf%/*}"/scripts/epilog.d/* 2>/dev/null
		} | sort -u | while read -r onespine_file; do
			grep -nEi "^[^#]*($1)" /dev/null "$onespine_file" || :
		done
	done
}

# onespine_daemon NAME: that daemon of Slurm's is on this machine
onespine_daemon() {
	for onespine_path in /usr/sbin /usr/local/sbin /opt/slurm/sbin; do
		[ ! -x "$onespine_path/$1" ] || return 0
	done
	return 1
}

# onespine_may_go PACKAGE: fails, saying what to do, while Slurm's files name what the package has and this machine needs
onespine_may_go() {
	onespine_without="Slurm's commands and daemons would fail on this machine"
	case $1 in
	onespine-placement) # clients and slurmd take Slurm's own plugin where there is none of ours
		onespine_daemon slurmctld || return 0
		onespine_pattern='PluginDir[[:space:]]*=.*/usr/lib(64)?/onespine([/: ]|$)|JobSubmitPlugins[[:space:]]*=.*onespine'
		onespine_without='slurmctld would not start, or place gangs anywhere'
		;;
	onespine-spank) # Slurm finds a file without a folder in PluginDir
		onespine_pattern='[/[:space:]]onespine\.so'
		;;
	onespine-gate) # the scripts that slurm.conf names are in the package onespine
		onespine_daemon slurmd || return 0
		onespine_pattern='/usr/lib(64)?/onespine/(prolog|epilog)|onespine-gate|onespine[[:space:]]+gate'
		onespine_without='nodes would not be checked before a job'
		;;
	*)
		onespine_pattern='/usr/lib(64)?/onespine([/: ]|$)|JobSubmitPlugins[[:space:]]*=.*onespine'
		;;
	esac
	onespine_lines=$(onespine_named "$onespine_pattern")
	[ -n "$onespine_lines" ] || return 0
	cat >&2 <<END
$1 is still in use:
$onespine_lines
Without it $onespine_without. Run "onespine setup --undo --head" (or
--node, or --login; or take these lines out by hand), restart Slurm, and remove $1 then.
END
	return 1
}
