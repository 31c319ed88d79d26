# SPDX-License-Identifier: GPL-2.0-or-later
# launch_helpers.bash - nodes of State=CLOUD that the test starts when Slurm asks for them
# shellcheck shell=bash

# boot_of NODE: when it booted, as Slurm has it, in seconds since 1970; of one that never ran, long ago
boot_of() {
	local boot
	boot=$(scontrol show node "$1" 2>/dev/null | sed -n 's/.*BootTime=\([^ ]*\).*/\1/p')
	if [[ $boot == [0-9]* ]]; then date -d "$boot" +%s; else echo 1000; fi
}

nodes_run() {
	local node
	for node; do
		[[ $(node_state "$node") != *[~#] ]] || return 1
	done
}

# nodes_woken NODE...: slurmctld has asked for them. A slurmd that registers before is not what it waits for then.
nodes_woken() {
	local node
	for node; do
		[[ $(node_state "$node") == *'#' ]] || return 1
	done
}

# await_nodes_saved NODE...: that nodes run has reached slurmctld's state file
await_nodes_saved() {
	await_state_saved node_state "NodeName=$(IFS=,; echo "$*")"
}

start_nodes() {
	await 30 nodes_woken "$@"
	cluster start-node --dir "$ONESPINE_CLUSTER" "$@"
	await 60 nodes_run "$@"
}
