# SPDX-License-Identifier: GPL-2.0-or-later
# setup_helpers.bash - for tests of doctor and setup: a folder with a slurm.conf, in $DIR
# shellcheck shell=bash

load helpers
# shellcheck source=tests/fake/other_version.bash
. "$SOURCE/tests/fake/other_version.bash"

# make_conf: the folder, entered; SLURM_CONF names its slurm.conf. LIB and SLURM_PLUGINS are the
# program's own.
make_conf() {
	DIR=$BATS_TEST_TMPDIR/etc
	mkdir "$DIR"
	cd "$DIR" || return
	cat >slurm.conf <<-END
		ClusterName=made
		SlurmctldHost=$(hostname -s)(127.0.0.1)
		SelectType=select/cons_tres
		NodeName=n[1-4] CPUs=2
		PartitionName=gpu Nodes=ALL
	END
	export DIR SLURM_CONF=$DIR/slurm.conf
	local folders
	folders=$(printf 'ClusterName=x\nSlurmctldHost=none-of-ours\n' >"$BATS_TEST_TMPDIR/empty.conf" &&
		SLURM_CONF=$BATS_TEST_TMPDIR/empty.conf onespine doctor --offline --write=- | sed -n 's/^PluginDir=//p')
	IFS=: read -r _ LIB SLURM_PLUGINS <<<"$folders"
	export LIB SLURM_PLUGINS
}

# needs_installed: the plugins are where this program looks for them
needs_installed() {
	[[ -e $LIB/slurmctld/select_cons_tres.so && -e $LIB/onespine.so ]] ||
		skip "Onespine's plugins are not installed in $LIB"
}

# make_right: all of our lines, by hand
make_right() {
	cat >>slurm.conf <<-END
		PluginDir=$LIB/slurmctld:$LIB:$SLURM_PLUGINS
		JobSubmitPlugins=onespine
		Licenses=onespine:1
	END
	printf 'required %s/onespine.so\n' "$LIB" >plugstack.conf
}

# needs_gate: this program was built with libmunge
needs_gate() {
	run onespine gate prolog
	[[ $output != *"there is no gate"* ]] || skip "a build without a gate"
}

# write_topology RANGE: n[RANGE] on one spine
write_topology() {
	printf 'SwitchName=l1 Nodes=n[%s]\nSwitchName=s1 Switches=l1\n' "$1" >"$BATS_TEST_TMPDIR/t.conf"
	onespine topology import --from=slurm -o onespine.topology "$BATS_TEST_TMPDIR/t.conf"
}

# holds TEXT PART
holds() {
	[[ $1 == *"$2"* ]] || {
		printf '%s\ndoes not hold\n%s\n' "$1" "$2"
		return 1
	}
}

untraced_so_far
