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

# onespine_processes NAME: the numbers of that program's processes which have the root folder of this shell
onespine_processes() {
	for onespine_process in /proc/[0-9]*; do
		read -r onespine_runs 2>/dev/null <"$onespine_process/comm" || continue
		# shellcheck disable=SC3013
		[ "$onespine_runs" != "$1" ] || ! [ "$onespine_process/root" -ef / ] || echo "${onespine_process#/proc/}"
	done
}

# onespine_program NAME: where that program of Slurm's is, one a line: in the usual folders and in PATH, where it runs,
# and where a unit of systemd's starts it
onespine_program() {
	{
		ls -d /usr/sbin/"$1" /usr/local/sbin/"$1" /opt/slurm/sbin/"$1" 2>/dev/null || :
		command -v "$1" || :
		onespine_processes "$1" | while read -r onespine_pid; do readlink "/proc/$onespine_pid/exe"; done
		sed -n 's/^[[:space:]]*ExecStart[[:space:]]*=[-@:+!|[:space:]]*\([^[:space:]]*\).*/\1/p' /etc/systemd/system/*.service \
			/etc/systemd/system/*.d/*.conf /run/systemd/system/*.service /usr/local/lib/systemd/system/*.service \
			/usr/lib/systemd/system/*.service 2>/dev/null | grep "/$1\$"
	} | sort -u | while read -r onespine_path; do
		[ ! -x "$onespine_path" ] || printf '%s\n' "$onespine_path"
	done
}

# onespine_confs: each slurm.conf that this machine may have, and those of $onespine_kept, one a line
onespine_confs() {
	# shellcheck disable=SC2086
	printf '%s\n' ${onespine_kept:-}
	# those of lib/conf/slurm_conf_path.c that a person writes or a daemon keeps as long as it runs
	printf '%s\n' /etc/slurm/slurm.conf /etc/slurm-llnl/slurm.conf /opt/slurm/etc/slurm.conf /usr/local/etc/slurm.conf \
		/run/slurm*/conf/slurm.conf "${SLURM_CONF:-}"
	for onespine_name in slurmctld slurmd sackd; do
		onespine_processes "$onespine_name"
	done | while read -r onespine_pid; do
		tr '\0' '\n' 2>/dev/null <"/proc/$onespine_pid/environ" | sed -n 's/^SLURM_CONF=//p'
		tr '\0' '\n' 2>/dev/null <"/proc/$onespine_pid/cmdline" | sed -n '/^-f$/{n;p;}; s/^-f//p'
	done
	# where a Slurm with a prefix of its own looks
	for onespine_name in slurmctld slurmd sackd scontrol; do
		onespine_program "$onespine_name"
	done | while read -r onespine_path; do
		printf '%s\n' "${onespine_path%/*/*}/etc/slurm.conf" "${onespine_path%/*/*}/etc/slurm/slurm.conf"
	done
}

# onespine_in_files PATTERN: where Slurm's files name what it matches, as file:line:text
onespine_in_files() {
	onespine_confs | sort -u | while read -r onespine_conf; do
		[ -r "$onespine_conf" ] || continue
		onespine_files "$onespine_conf"
		onespine_files "${onespine_conf%/*}/plugstack.conf"
		sed -n 's/#.*//; s/^[[:space:]]*[Pp]lug[Ss]tack[Cc]onfig[[:space:]]*=[[:space:]]*//p' "$onespine_conf" |
			while read -r onespine_name; do onespine_files "$onespine_name"; done
		# those that ParallelCluster's Prolog and Epilog run
		ls -d "${onespine_conf%/*}"/scripts/prolog.d/* "${onespine_conf%/*}"/scripts/epilog.d/* 2>/dev/null || :
	done | sort -u | while read -r onespine_file; do
		grep -nEi "^[^#]*($1)" /dev/null "$onespine_file" || :
	done
}

# onespine_has_conf: a slurm.conf is on this machine
onespine_has_conf() {
	onespine_confs | while read -r onespine_conf; do
		[ ! -r "$onespine_conf" ] || echo yes
	done | grep -q yes
}

# onespine_sent PATTERN: what slurmctld sends to a machine without a slurm.conf, as Slurm's commands tell it
onespine_sent() {
	command -v scontrol >/dev/null || return 0
	if ! onespine_config=$(timeout 20 scontrol show config </dev/null 2>/dev/null); then
		echo "No slurm.conf is found on this machine, and no slurmctld answers: what names Onespine here is not known." >&2
		return 0
	fi
	printf '%s\n' "$onespine_config" | grep -Ei "$1" | sed 's/^/scontrol show config: /'
	# no command tells the lines of plugstack.conf, but what they add to the options
	[ -z "$onespine_option" ] || ! timeout 20 sbatch --help </dev/null 2>/dev/null | grep -q "^ *$onespine_option" ||
		echo "sbatch --help: $onespine_option, so the plugstack.conf that slurmctld sends names onespine.so"
}

# onespine_named PATTERN: where Slurm's configuration names what it matches
onespine_named() {
	onespine_kept=''
	# what a slurmd that is stopped was sent is used where there is nothing else
	onespine_has_conf || onespine_kept='/var/spool/slurmd/conf-cache/slurm.conf /var/spool/slurm/conf-cache/slurm.conf
		/var/lib/slurm/slurmd/conf-cache/slurm.conf'
	if onespine_has_conf; then
		onespine_in_files "$1"
	else
		onespine_sent "$1"
	fi
}

# onespine_daemon NAME: that daemon of Slurm's is on this machine
onespine_daemon() {
	[ -z "$(onespine_program "$1")" ] || return 0
	# slurmctld may be stopped, and in a folder that nothing here names
	[ "$1" = slurmctld ] && read -r onespine_host </proc/sys/kernel/hostname || return 1
	onespine_in_files "(SlurmctldHost|ControlMachine|BackupController)[[:space:]]*=[[:space:]]*${onespine_host%%.*}([.(,[:space:]]|\$)" | grep -q .
}

# onespine_may_go PACKAGE: fails, saying what to do, while Slurm's files name what the package has and this machine needs
onespine_may_go() {
	onespine_without="Slurm's commands and daemons would fail on this machine"
	onespine_option=''
	case $1 in
	onespine-placement) # clients and slurmd take Slurm's own plugin where there is none of ours
		onespine_daemon slurmctld || return 0
		onespine_pattern='PluginDir[[:space:]]*=.*/usr/lib(64)?/onespine([/: ]|$)|JobSubmitPlugins[[:space:]]*=.*onespine'
		onespine_without='slurmctld would not start, or place gangs anywhere'
		;;
	onespine-spank) # Slurm finds a file without a folder in PluginDir
		onespine_pattern='[/[:space:]]onespine\.so'
		onespine_option=--gang
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
--node, or --login; or take these lines out by hand; of a configuration that slurmctld sends, on its
machine), restart Slurm, and remove $1 then.
END
	return 1
}
