#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_without_shadow.bats - what must work where the shadow could not be built: SPANK, job_submit's refusal
# to start, and the command
# shellcheck disable=SC2016

load helpers

# without_shadow OPTION...: a cluster whose PluginDir does not hold it, whether it was built or not
without_shadow() {
	cluster_start --conf JobSubmitPlugins= \
		--conf "PluginDir=$ONESPINE_PREFIX/lib/onespine:$SLURM_PLUGINS" "$@"
}

setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 2 2
	make_slurm_topology "$BATS_FILE_TMPDIR/topology.conf" 2 2 2
	cluster_start --stock --nodes 8 --topology "$BATS_FILE_TMPDIR/topology.conf"
	SLURM_PLUGINS=$(sed -n 's/^PluginDir=//p' "$ONESPINE_CLUSTER/slurm.conf")
	export SLURM_PLUGINS
	cluster_stop
	without_shadow --nodes 8 --topology "$BATS_FILE_TMPDIR/onespine.topology" \
		--topology "$BATS_FILE_TMPDIR/topology.conf"
}

@test "the options are there, explained and checked" {
	for command in sbatch salloc srun; do
		run "$command" --help
		holds "$output" '--gang=LEVEL[@TIME]'
	done
	run sbatch --gang=spine@soon -N1 --wrap true
	(($status))
	holds "$output" "'soon' is no time"
}

@test "the option's value reaches slurmctld, and jobs run" {
	out=$BATS_TEST_TMPDIR/out
	job=$(submit --gang=leaf -N2 --exclusive -o "$out" --wrap 'srun -N2 -n2 printenv SLURM_JOB_NUM_NODES; echo ended')
	await 30 grep -qs ended "$out"
	equal "$(grep -c '^2$' "$out")" 2
	equal "$(job_state "$job")" COMPLETED
	run srun -N2 --gang true
	equal "$status" 0
}

@test "Slurm loads the topology.yaml that the command writes, and the command reads it again" {
	[[ $(printf '%s\n' 'slurm 25.05' "$(scontrol --version)" | sed 's/.* //' | sort -V | head -n 1) == 25.05 ]] ||
		skip 'from 25.05 on'
	onespine topology import --from=onespine --to=topology.yaml "$BATS_FILE_TMPDIR/onespine.topology" \
		>"$BATS_TEST_TMPDIR/topology.yaml"
	onespine topology import --from=slurm "$BATS_TEST_TMPDIR/topology.yaml" >"$BATS_TEST_TMPDIR/again"
	equal "$(jq -S '.domains[] | select(.nodes)' "$BATS_TEST_TMPDIR/again")" \
		"$(jq -S '.domains[] | select(.nodes)' "$BATS_FILE_TMPDIR/onespine.topology")"
	cluster_start --stock --nodes 8 --topology "$BATS_TEST_TMPDIR/topology.yaml"
	run scontrol show topology
	equal "$status" 0
	matches "$output" 'SwitchName=s1 .*Switches=s1l\[1-2\]|Switches=s1-l'
	equal "$(grep -iE 'error.*(topo|switch)|warning.*switch' "$ONESPINE_CLUSTER/log/slurmctld.log")" ''
	# slurmctld reports TopologyPlugin=topology/flat, and obeys the tree
	cp "$BATS_FILE_TMPDIR/onespine.topology" "$ONESPINE_CLUSTER/"
	run on_cluster "$ONESPINE_PREFIX/bin/onespine" hosts --nodes n1,n3,n2,n4
	equal "$status" 0
	holds "$output" 'Slurm has a setting against it, for slurm.conf: TopologyParam=SwitchAsNodeRank'
	cluster_stop
	cluster_use "$(head -n 1 "$BATS_FILE_TMPDIR/clusters")"
}

@test "job_submit without the shadow stops slurmctld, and says what to install" {
	run cluster start ${ONESPINE_TEST_SLURM:+--slurm "$ONESPINE_TEST_SLURM"} --cloud 2 \
		--dir "$BATS_TEST_TMPDIR/c" --conf JobSubmitPlugins=onespine \
		--conf "PluginDir=$ONESPINE_PREFIX/lib/onespine:$SLURM_PLUGINS"
	equal "$status" 1
	holds "$output" "Onespine's select_cons_tres.so is not in use, gangs would be placed anywhere, so slurmctld does not start"
	matches "$output" 'install Onespine built for exactly Slurm 2[0-9]\.[0-9]+\.[0-9]+ there'
}

@test "the command reads this Slurm: its topology, its nodes, its jobs" {
	run onespine topology import --from slurm "$BATS_FILE_TMPDIR/topology.conf"
	equal "$status" 0
	holds "$output" '"onespine-topology"'
	run onespine topology check
	equal "$status" 0
	holds "$output" 'Slurm has the same 8 nodes'
	job=$(submit -N3 --exclusive)
	await_job "$job" RUNNING
	run onespine map
	equal "$status" 0
	holds "$output" '8 nodes: 3 busy, 5 free'
	run onespine audit
	equal "$status" 0
	holds "$output" '0 gangs running'
	run onespine hosts "$job"
	equal "$status" 0
	equal "$(wc -l <<<"$output")" 3
	free_all
}
