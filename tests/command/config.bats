#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# config check and show on files

# shellcheck disable=SC2016 # what bash -c is to expand

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

@test "show: each value and where it is from" {
	printf 'partitions:\n  gpu:\n    gang: always\n' >onespine.yaml
	run onespine config show onespine.yaml
	[[ $status == 0 ]]
	grep -qE '^defaults\.level +spine +\(default\)$' <<<"$output"
	grep -qE '^gpu\.gang +always +\(onespine\.yaml:3\)$' <<<"$output"
}

@test "show --json" {
	onespine config show --json "$SOURCE/etc/onespine.yaml" | jq -e . >/dev/null
}

NO_TOPOLOGY="levels not compared with the topology's: there is no onespine.topology, neither beside this file nor beside slurm.conf"

@test "check: valid, and the sample is" {
	expect 0 "onespine.yaml: valid
partitions not compared with Slurm's: no slurm.conf found
$NO_TOPOLOGY" bash -c 'cd "$SOURCE/etc" && "$ONESPINE" config check onespine.yaml'
	expect 0 "standard input: valid
partitions not compared with Slurm's: no slurm.conf found
$NO_TOPOLOGY" onespine config check - </dev/null
}

@test "check: wrong, with the place and the nearest right word; status 1" {
	printf 'defaults:\n  lvel: spine\n' >onespine.yaml
	run onespine config check onespine.yaml
	[[ $status == 1 ]]
	[[ ${lines[0]} == "onespine.yaml:2:3: "*"lvel"*"level"* ]]
	expect 1 false bash -c '"$ONESPINE" config check --json onespine.yaml >j; s=$?; jq .right j; exit $s'
}

@test "check: a level that the topology beside it lacks" {
	printf 'defaults:\n  level: spin\npartitions:\n  gpu:\n    level: rack\n' >onespine.yaml
	write_conf topology.conf
	onespine topology import --from=slurm -o onespine.topology topology.conf
	expect 1 "onespine.yaml:5:12: the topology onespine.topology has no level 'rack'; its levels are leaf, spine
onespine.yaml:2:10: the topology onespine.topology has no level 'spin'; did you mean spine?
partitions not compared with Slurm's: no slurm.conf found" onespine config check onespine.yaml
}

@test "check: a level above the zones, of which several never form one gang" {
	printf 'defaults:\n  level: region\n' >onespine.yaml
	printf '%s\n' '{"onespine-topology": 1, "levels": ["leaf", "spine", "zone", "region"], "domains": [' \
		'{"level": "region", "name": "r"}, {"level": "zone", "name": "z", "in": "r"},' \
		'{"level": "spine", "name": "s", "in": "z"},' \
		'{"level": "leaf", "name": "l", "in": "s", "nodes": "n[1-4]"}]}' >onespine.topology
	expect 1 "onespine.yaml:2:10: in the topology onespine.topology level 'region' is above the zones, and several zones never form one gang; say zone or a level below
partitions not compared with Slurm's: no slurm.conf found" onespine config check onespine.yaml
}

@test "check: a topology without the level that is the default" {
	write_conf topology.conf
	onespine topology import --from=slurm -o - topology.conf | sed 's/"spine"/"pod"/' >onespine.topology
	: >onespine.yaml
	run onespine config check onespine.yaml
	[[ $status == 1 ]]
	[[ ${lines[0]} == "onespine.yaml: the topology onespine.topology has no level 'spine'; its levels are leaf, pod ('level: spine' is the default)" ]]
}

@test "a file that is not there; status 2" {
	expect 2 "onespine: none.yaml: cannot be opened: No such file or directory" onespine config check none.yaml
	expect 2 "onespine: none.yaml: cannot be opened: No such file or directory" onespine config show none.yaml
}

@test "in force: refused where others may write it, or where it is neither root's nor one's own" {
	[[ $(id -u) == 0 ]] || skip 'gives files away'
	printf 'ClusterName=c\nSlurmUser=root\nSlurmctldHost=none(127.0.0.1)\nSlurmctldPort=1\nAuthType=auth/none\n' >slurm.conf
	export SLURM_CONF=$PWD/slurm.conf
	write_conf topology.conf
	onespine topology import --from=slurm -o onespine.topology topology.conf
	printf 'defaults:\n  level: leaf\n' >onespine.yaml
	chmod 666 onespine.yaml
	chown 65534 onespine.topology
	run onespine config check
	[[ $status == 1 ]]
	grep -qxF "$PWD/onespine.yaml: others than its owner may write it (chmod go-w)" <<<"$output"
	grep -qxF "$PWD/onespine.topology: it belongs neither to root nor to SlurmUser (chown root)" <<<"$output"
	run onespine config show
	[[ $status == 0 ]]
	grep -qF "slurmctld does not obey $PWD/onespine.yaml: others than its owner may write it (chmod go-w)" <<<"$output"
	chmod 644 onespine.yaml
	chown 0 onespine.topology
	run onespine config check
	[[ $status == 0 ]]
	grep -qxF "$PWD/onespine.yaml: valid" <<<"$output"
}

@test "check: a site's thresholds.yaml in force is judged too, and doctor says what the gate makes of it" {
	local site
	site=$(make -s -C "${ONESPINE%/*}" --no-print-directory --eval='site-folder:;@echo $(samplesdir)' site-folder)
	printf 'ClusterName=c\nSlurmUser=root\nSlurmctldHost=none(127.0.0.1)\nSlurmctldPort=1\nAuthType=auth/none\nGresTypes=gpu\n' >slurm.conf
	printf 'defaults: {gate: {depth: passive}}\n' >onespine.yaml
	export SLURM_CONF=$PWD/slurm.conf ONESPINE_TEST_ROOT=$PWD/node
	mkdir -p "node$site"
	write_conf topology.conf
	onespine topology import --from=slurm -o onespine.topology topology.conf
	printf 'limits: {temperature_c: 80}\n' >"node$site/thresholds.yaml"
	run onespine config check
	[[ $status == 0 ]]
	printf 'limits:\n  temprature_c: 80\n' >"node$site/thresholds.yaml"
	run onespine config check
	[[ $status == 1 ]]
	grep -qxF "$PWD/node$site/thresholds.yaml:2:3: unknown key 'temprature_c'; did you mean temperature_c?" <<<"$output"
	run onespine doctor --offline
	[[ $status == 1 ]]
	grep -qF "wrong: thresholds.yaml is refused, so the gate checks nothing: $PWD/node$site/thresholds.yaml:2:3: unknown key 'temprature_c'; did you mean temperature_c? (gate-config)" <<<"$output"
	run onespine config check onespine.yaml # one that is only looked at says nothing of this host
	[[ $output != *thresholds* ]]
}

@test "the comment of thresholds.yaml has each limit below its unit, and none else; the sample is the file" {
	diff <(sed -n 's/^\t\[OSP_LIMIT_[A-Z0-9_]*\] = {"\([a-z0-9_]*\)".*/\1/p' "$SOURCE/lib/health/thresholds.c" | sort) \
		<(sed -n '/^#   seconds /,/^#$/p' "$SOURCE/etc/thresholds.yaml" | grep -oE '[a-z][a-z0-9]*(_[a-z0-9]+)+|gpus|nvlinks|cores' | sort)
	cmp "$SOURCE/etc/thresholds.yaml" "${ONESPINE%/*}/etc/thresholds.yaml.example"
}
