# SPDX-License-Identifier: GPL-2.0-or-later
# cgroup.sh - the cgroups in which the nodes of --cgroups keep their jobs: version 1, freezer and cpuset
#
# Uses the variables of tools/cluster: dir, names, cgroups. A slurmd of its own name has its groups in
# slurm_NAME, so the names must be no other cluster's on this machine.
# shellcheck shell=bash disable=SC2154

CGROUPS=/sys/fs/cgroup

# cgroups_lack: why --cgroups cannot be had here; nothing where it can
cgroups_lack() {
	local controller
	for controller in freezer cpuset; do
		if ! [[ -e $CGROUPS/$controller/tasks ]]; then
			echo "$CGROUPS/$controller: no cgroup version 1 controller is mounted there"
		elif ! [[ -w $CGROUPS/$controller ]]; then
			echo "$CGROUPS/$controller: cannot be written"
		fi
	done | head -n 1
}

# node_cgroups: the nodes' groups that there are, one a line, those inside others first
node_cgroups() {
	local name
	for name in "${names[@]}"; do
		find "$CGROUPS"/{freezer,cpuset}/"slurm_$name" -depth -type d 2>/dev/null || true
	done
}

check_cgroups() {
	local lack
	lack=$(cgroups_lack)
	[[ -z $lack ]] || die "--cgroups: $lack"
	[[ -z $(node_cgroups) ]] ||
		die "--cgroups: $(node_cgroups | tail -n 1) is another cluster's: choose other --names"
}

write_cgroup_conf() {
	if ((cgroups)); then
		printf 'CgroupPlugin=cgroup/v1\nCgroupMountpoint=%s\nConstrainCores=yes\n' "$CGROUPS" \
			>"$dir/cgroup.conf"
	elif release_at_least "$slurm" 24.05; then
		printf 'CgroupPlugin=disabled\n' >"$dir/cgroup.conf"
	fi
}

cgroups_removed() {
	node_cgroups | xargs -r rmdir 2>/dev/null
	[[ -z $(node_cgroups) ]]
}

# remove_cgroups: after the daemons; the kernel takes a moment to see that a group's last process is gone
remove_cgroups() {
	await 10 cgroups_removed || say "cannot be removed: $(node_cgroups | paste -sd' ')"
}
