#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# doctor on made folders: every finding that comes from files, exit statuses, JSON

# shellcheck disable=SC2016 # what bash -c is to expand

load setup_helpers

setup() {
	make_conf
}

@test "nothing of ours in slurm.conf: what is wrong, each with its cure; status 1" {
	run onespine doctor --offline
	[[ $status == 1 ]]
	holds "$output" "wrong: slurmctld would load $SLURM_PLUGINS/select_cons_tres.so, not Onespine's shadow: gangs would be placed anywhere (plugin-dir)"
	holds "$output" "wrong: JobSubmitPlugins lacks onespine"
	holds "$output" "  cure: $DIR/slurm.conf: JobSubmitPlugins=onespine"
	holds "$output" "wrong: $DIR/plugstack.conf does not name onespine.so"
	holds "$output" "wrong: no topology, so no gang starts: $DIR/onespine.topology: cannot be opened"
	holds "$output" "warning: slurm.conf has no license onespine: when Slurm is updated before Onespine, slurmctld does not start (without-match)
  cure: $DIR/slurm.conf: Licenses=onespine:1"
	[[ ${lines[-1]} == "$DIR/slurm.conf: "*" things looked at, 4 wrong, 1 warning" ]]
}

@test "--json says the same" {
	onespine doctor --offline --json >j || true
	[[ $(jq -r '.right, .controller, .slurmctld, (.findings | map(.name) | join(" "))' j | paste -sd'|') == \
		"false|true|not asked|plugin-dir job-submit without-match spank topology" ]]
	[[ $(jq -r '.findings[1] | .level, .line, .cure' j | paste -sd'|') == \
		"wrong|JobSubmitPlugins=onespine|$DIR/slurm.conf: JobSubmitPlugins=onespine" ]]
}

@test "--list names what is looked at" {
	run onespine doctor --list
	[[ $status == 0 ]]
	grep -qE '^plugin-dir +PluginDir finds our select_cons_tres.so' <<<"$output"
	[[ $(onespine doctor --list --json | jq length) == "${#lines[@]}" ]]
}

@test "a slurm.conf that cannot be read: said with its place, status 1" {
	printf 'Key\n' >>slurm.conf
	expect 1 "wrong: slurm.conf cannot be read: $DIR/slurm.conf:6:4: '=' is expected after Key (slurm-conf)
  cure: Slurm refuses such a file too: put it right first
$DIR/slurm.conf: 1 things looked at, 1 wrong, 0 warnings" onespine doctor --offline
	rm slurm.conf
	run onespine doctor --offline
	[[ $status == 1 && $output == *"cannot be opened: No such file"* ]]
	SLURM_CONF='' expect 2 "onespine: no slurm.conf found; set SLURM_CONF to its path" onespine doctor
}

@test "a directory of PluginDir that is not there" {
	needs_installed
	printf 'PluginDir=/nowhere:%s\n' "$SLURM_PLUGINS" >>slurm.conf
	run onespine doctor --before-start
	[[ $status == 1 ]]
	holds "$output" "wrong: PluginDir names /nowhere, which is not on this host"
	holds "$output" "cure: $DIR/slurm.conf:6: PluginDir=$LIB/slurmctld:$LIB:$SLURM_PLUGINS instead of /nowhere:$SLURM_PLUGINS"
}

@test "the installed lines are right; the fabric's nodes are compared" {
	needs_installed
	make_right
	write_topology 1-4
	run onespine doctor --offline
	[[ $status == 0 ]] || { echo "$output"; false; }
	write_topology 1-3
	run onespine doctor --offline
	[[ $status == 0 ]]
	holds "$output" "warning: 1 of 4 nodes of slurm.conf is not in the topology, and no gang gets it: n4"
}

@test "a partition whose jobs are all gangs, of nodes that nobody wakes" {
	local told=' is a gang (gang: always), and these nodes have no place while they are powered down: no gang gets them then, and none wakes them: '
	local dyn='warning: every larger job of partition dyn' gpu='warning: every larger job of partition gpu'
	write_topology 1-4
	cat >>slurm.conf <<-'END'
		NodeName=d[1-4] State=CLOUD
		NodeName=e[1-2] State=cloud
		NodeSet=some Nodes=d[1-3]
		PartitionName=dyn Nodes=some,e1
		PartitionName=all Nodes=ALL
		SuspendExcNodes=d2
	END
	run onespine doctor --offline
	[[ $output != *'wakes them'* ]]
	printf 'partitions: {dyn: {gang: always}}\n' >onespine.yaml
	run onespine doctor --offline
	holds "$output" "$dyn${told}d[1,3],e1 (asleep)"
	printf 'defaults: {gang: always}\n' >onespine.yaml
	run onespine doctor --offline
	holds "$output" "$gpu${told}d[1,3-4],e[1-2] (asleep)"
	for how in 'gang: always, unlaunched: launch' 'gang: always, mode: advise' 'gang: asked'; do
		printf 'defaults: {%s}\n' "$how" >onespine.yaml
		run onespine doctor --offline
		[[ $output != *'wakes them'* ]]
	done
	# cables stay, and a cloud's places do not
	printf 'partitions: {dyn: {gang: always}}\n' >onespine.yaml
	printf 'SwitchName=l1 Nodes=n[1-4],d[1-4],e[1-2]\nSwitchName=s1 Switches=l1\n' >t.conf
	onespine topology import --from=slurm -o onespine.topology t.conf
	run onespine doctor --offline
	[[ $output != *'wakes them'* ]]
	jq -c '. + {places: [{source: "ec2", nodes: ["d1 i-1 9", "e1 i-2 9"]}, {source: "csv", nodes: "d3"}]}' onespine.topology >new
	cat new >onespine.topology
	run onespine doctor --offline
	holds "$output" "$dyn${told}d1,e1 (asleep)"
}

@test "nodes whose State=CLOUD is from a line of NodeName=DEFAULT are launched like others" {
	write_topology 1-4
	cat >>slurm.conf <<-'END'
		NodeName=DEFAULT State=CLOUD
		NodeName=DEFAULT Weight=2
		NodeName=d[1-2]
		NodeName=s1 State=UNKNOWN
		NodeName=DEFAULT State=UNKNOWN
		NodeName=s2
		PartitionName=dyn Nodes=d[1-2],s[1-2]
	END
	printf 'partitions: {dyn: {gang: always}}\n' >onespine.yaml
	run onespine doctor --offline
	holds "$output" 'no gang gets them then, and none wakes them: d[1-2] (asleep)'
	holds "$output" '4 of 8 nodes of slurm.conf are not in the topology, and no gang gets them: d[1-2],s[1-2]'
	printf 'defaults: {unlaunched: launch}\n' >onespine.yaml
	run onespine doctor --offline
	holds "$output" '2 of 6 nodes of slurm.conf are not in the topology, and no gang gets them: s[1-2]'
}

@test "a cloud that was last asked long ago, and an answer that is held" {
	write_topology 1-4
	jq -c '. + {places: [{source: "ec2", nodes: ["n1 i-1 9", "n2 i-2 9"]}]}' onespine.topology >new
	cat new >onespine.topology
	run onespine doctor --offline
	[[ $output != *"(places)"* ]]
	echo "$(date +%s) n[1-4]" >onespine.topology.asked
	run onespine doctor --offline
	[[ $output != *"(places)"* ]]
	echo "$(($(date +%s) - 3600)) n[1-4]" >onespine.topology.asked
	run onespine doctor --offline
	[[ $output != *"(places)"* ]] # a site that asks by hand
	export ONESPINE_TEST_ROOT=$PWD/root
	mkdir -p root/etc/systemd/system/multi-user.target.wants
	ln -s /lib/systemd/system/onespine-topology-watch.service root/etc/systemd/system/multi-user.target.wants/
	run onespine doctor --offline
	holds "$output" "warning: the cloud last answered 60 minutes ago where nodes are: one that has started since has no place (places)"
	printf 'watch: {interval_s: 1800}\n' >onespine.yaml
	cp onespine.topology onespine.topology.held
	touch -d '2 hours ago' onespine.topology.held
	run onespine doctor --offline
	[[ $output != *"last answered"* ]]
	holds "$output" "warning: an answer that takes places away or moves nodes has been held for 120 minutes: until it is accepted, a node that starts gets no place from its source (places)"
}

@test "places of which nobody knows when they were asked for are not taken for new ones" {
	write_topology 1-4
	jq -c '. + {places: [{source: "ec2", nodes: ["n1 i-1 9", "n2 i-2 9", "n3 i-3 9"]}]}' onespine.topology >new
	cat new >onespine.topology
	export ONESPINE_TEST_ROOT=$PWD/root
	mkdir -p root/etc/systemd/system/multi-user.target.wants
	ln -s /lib/systemd/system/onespine-topology-watch.service root/etc/systemd/system/multi-user.target.wants/
	run onespine doctor --offline
	holds "$output" "warning: nobody knows when the cloud last answered where nodes are: $PWD/onespine.topology.asked says nothing of it (places)"
	echo "$(date +%s) n1,n3" >onespine.topology.asked
	run onespine doctor --offline
	[[ $output != *'nobody knows when the cloud'* ]]
	holds "$output" "warning: the places of n2 are of unknown age: the cloud's calls about them have failed since (places)"
}

@test "onespine.yaml: refused, or written by others" {
	needs_installed
	make_right
	write_topology 1-4
	printf 'topolgy: x\n' >onespine.yaml
	chmod 666 onespine.yaml
	run onespine doctor --offline
	[[ $status == 1 ]]
	holds "$output" "wrong: onespine.yaml is refused: $DIR/onespine.yaml:1:1: "
	holds "$output" "wrong: $DIR/onespine.yaml can be written by others than root and SlurmUser"
	run onespine doctor --before-start
	[[ $status == 0 ]]
}

@test "a topology that is broken or gone, while slurmctld goes by its last good one" {
	needs_installed
	make_right
	printf 'StateSaveLocation=%s/state\n' "$DIR" >>slurm.conf
	mkdir state
	write_topology 1-4
	mv onespine.topology state/onespine_topology
	run onespine doctor --offline
	[[ $status == 1 ]]
	holds "$output" "wrong: the topology is refused, and slurmctld goes by the last good one, $DIR/state/onespine_topology: $DIR/onespine.topology: cannot be opened"
	echo '{' >onespine.topology
	run onespine doctor --offline
	holds "$output" "wrong: the topology is refused, and slurmctld goes by the last good one, $DIR/state/onespine_topology: $DIR/onespine.topology:"
	rm -r state
	run onespine doctor --offline
	holds "$output" "wrong: no topology, so no gang starts: $DIR/onespine.topology:"
}

@test "onespine.yaml names a level and a partition that are not there" {
	needs_installed
	make_right
	write_topology 1-4
	echo 'PartitionName=gpu Nodes=ALL' >>slurm.conf
	printf 'partitions:\n  gpu:\n    level: spyne\n  gpuu: {gang: always}\n' >onespine.yaml
	run onespine doctor --offline
	[[ $status == 1 ]]
	holds "$output" "wrong: $DIR/onespine.yaml:3:12: the topology $DIR/onespine.topology has no level 'spyne'"
	holds "$output" "warning: $DIR/onespine.yaml:4:3: Slurm has no partition gpuu; did you mean gpu? (config)"
}

@test "a shadow of another Slurm" {
	needs_installed
	make_right # job_submit fits: it would stop slurmctld, whatever license there is
	mkdir other
	cp "$LIB/slurmctld/select_cons_tres.so" other/
	other_version other/select_cons_tres.so
	sed -i "s#^PluginDir=[^:]*:#PluginDir=$DIR/other:#" slurm.conf
	run onespine doctor --before-start
	[[ $status == 1 ]]
	holds "$output" "wrong: $DIR/other/select_cons_tres.so was built for Slurm "
	holds "$output" "cure: install Onespine built for exactly Slurm 2"
}

# version_of FILE: its plugin_version, as "22.05.8"
version_of() {
	local address
	address=$(readelf -sW "$1" | awk '$8 == "plugin_version" { print $2; exit }')
	address=$(offset_of "$1" "$((16#$address))")
	od -An -tu1 -j "$address" -N 3 "$1" | awk '{ printf "%d.%02d.%d\n", $3, $2, $1 }'
}

# make_builds: in $DIR/lib our plugins for the micro release before this, and this one's kept beside them
make_builds() {
	needs_installed
	make_right
	NOW=$(version_of "$LIB/slurmctld/select_cons_tres.so")
	BEFORE=${NOW%.*}.$((${NOW##*.} - 1))
	mkdir -p lib/slurmctld "lib/slurm/$NOW" slurm
	cp "$LIB/slurmctld/select_cons_tres.so" lib/slurmctld/
	cp "$LIB/job_submit_onespine.so" lib/
	cp lib/slurmctld/select_cons_tres.so lib/job_submit_onespine.so "lib/slurm/$NOW/"
	cp "$SLURM_PLUGINS/select_cons_tres.so" slurm/
	other_version lib/slurmctld/select_cons_tres.so
	other_version lib/job_submit_onespine.so
	chmod -R go-w lib
	sed -i "s#^PluginDir=.*#PluginDir=$DIR/lib/slurmctld:$DIR/lib:$DIR/slurm#; /^Licenses/d" slurm.conf
	[[ $(version_of lib/job_submit_onespine.so) == "$BEFORE" ]]
}

# in_place VERSION: that is what PluginDir finds
in_place() {
	[[ $(version_of lib/slurmctld/select_cons_tres.so) == "$1" && $(version_of lib/job_submit_onespine.so) == "$1" ]]
}

@test "of builds kept for several Slurms the check before the start puts the one that fits in place" {
	make_builds
	write_topology 1-4
	run onespine doctor --offline
	[[ $status == 1 ]]
	holds "$output" "$DIR/lib/slurmctld/select_cons_tres.so was built for Slurm $BEFORE, and Slurm $NOW is installed"
	holds "$output" "cure: as root run onespine doctor --before-start, which puts the kept build for Slurm $NOW in place, and start slurmctld"
	in_place "$BEFORE"
	cp -r "lib/slurm/$NOW" "lib/slurm/$BEFORE" # what was kept before, and is not what is in place
	run onespine doctor --before-start
	[[ $status == 0 ]] || { echo "$output"; false; }
	[[ ${lines[0]} == "$DIR/lib/slurmctld/select_cons_tres.so is now the build for Slurm $NOW, which is installed; it was that for Slurm $BEFORE" ]]
	[[ ${lines[1]} == "$DIR/lib/job_submit_onespine.so is now the build for Slurm $NOW, "* ]]
	in_place "$NOW"
	[[ $(readlink lib/slurmctld/select_cons_tres.so) == "../slurm/$NOW/select_cons_tres.so" ]]
	[[ $(readlink lib/job_submit_onespine.so) == "slurm/$NOW/job_submit_onespine.so" ]]
	[[ $(version_of "lib/slurm/$BEFORE/select_cons_tres.so") == "$BEFORE" ]]
	run onespine doctor --before-start --json
	[[ $status == 0 && $(jq .replaced <<<"$output") == null ]]

	# Slurm goes back, and forward again
	other_version slurm/select_cons_tres.so
	run onespine doctor --before-start
	[[ $status == 0 ]]
	holds "$output" "is now the build for Slurm $BEFORE, which is installed; it was that for Slurm $NOW"
	in_place "$BEFORE"
	cp "$SLURM_PLUGINS/select_cons_tres.so" slurm/
	[[ $(onespine doctor --before-start --json | jq -r .replaced) == *"is now the build for Slurm $NOW, "* ]]
	in_place "$NOW"
	[[ -z $(find lib -name '*.new') ]]

	# a link that leads nowhere, as when the build in place was removed
	mv "lib/slurm/$NOW" kept
	cp -r kept "lib/slurm/$NOW"
	ln -sf ../slurm/0.00.0/select_cons_tres.so lib/slurmctld/select_cons_tres.so
	run onespine doctor --before-start
	[[ $status == 0 && ${lines[0]} == *"select_cons_tres.so is now the build for Slurm $NOW, which is installed" ]]
	in_place "$NOW"
}

@test "a newer build that install-beside made for the Slurm in use is not replaced by the plugin in use" {
	local name
	make_builds
	mkdir "lib/slurm/$BEFORE"
	for name in slurmctld/select_cons_tres.so job_submit_onespine.so; do
		touch -d '2 hours ago' "lib/$name"
		{ cat "lib/$name"; echo newer; } >"lib/slurm/$BEFORE/${name##*/}"
	done
	chmod -R go-w lib
	cp -r "lib/slurm/$BEFORE" newer
	run onespine doctor --before-start
	[[ $status == 0 ]] || { echo "$output"; false; }
	in_place "$NOW"
	cmp newer/select_cons_tres.so "lib/slurm/$BEFORE/select_cons_tres.so"
	cmp newer/job_submit_onespine.so "lib/slurm/$BEFORE/job_submit_onespine.so"
}

# make_same AGE [PATCH]: both plugins for this Slurm are in place as files of that age, and kept as slurm/VERSION[PATCH], made now
make_same() {
	local age=$1 plugin name
	make_builds
	name=$NOW${2:-}
	rm -r "lib/slurm/$NOW"
	cp "$LIB/slurmctld/select_cons_tres.so" lib/slurmctld/
	cp "$LIB/job_submit_onespine.so" lib/
	touch -d "$age" lib/slurmctld/select_cons_tres.so lib/job_submit_onespine.so
	mkdir "lib/slurm/$name"
	cp "$LIB/slurmctld/select_cons_tres.so" "$LIB/job_submit_onespine.so" "lib/slurm/$name/"
	for plugin in "lib/slurm/$name/"*; do echo newer >>"$plugin"; done
	chmod -R go-w lib
}

# release FILE VERSION: it says that it is of that release of Onespine, of as many letters
release() {
	LC_ALL=C sed -i "s/Onespine [0-9.]* \(job submit\|shadow of\)/Onespine $2 \1/" "$1"
}

@test "a rebuilt plugin for the Slurm in use is in place at its next start, and doctor says so before" {
	make_same '1 hour ago'
	write_topology 1-4
	run onespine doctor --offline
	holds "$output" "warning: $DIR/lib/slurmctld/select_cons_tres.so is not the build for Slurm $NOW that is kept beside it and comes first (shadow-version)
  cure: as root run onespine doctor --before-start, which puts that in place, and start slurmctld again"
	holds "$output" "warning: $DIR/lib/job_submit_onespine.so is not the build for Slurm $NOW that"

	# one of the two plugins would not start with the other
	mv "lib/slurm/$NOW/job_submit_onespine.so" kept.so
	[[ $(onespine doctor --before-start) != *'is now the build'* ]]
	mv kept.so "lib/slurm/$NOW/job_submit_onespine.so"

	run onespine doctor --before-start
	[[ $status == 0 ]] || { echo "$output"; false; }
	[[ ${lines[0]} == "$DIR/lib/slurmctld/select_cons_tres.so is now the build for Slurm $NOW, which is installed; what was there is older" ]]
	[[ ${lines[1]} == "$DIR/lib/job_submit_onespine.so is now the build for Slurm $NOW, which is installed; what was there is older" ]]
	links_to "$NOW"
	tail -c 6 lib/job_submit_onespine.so | grep -qx newer
	run onespine doctor --offline
	[[ $output != *'comes first'* ]]

	# make install puts files there again, later than what is kept
	rm lib/slurmctld/select_cons_tres.so lib/job_submit_onespine.so
	cp "$LIB/slurmctld/select_cons_tres.so" lib/slurmctld/
	cp "$LIB/job_submit_onespine.so" lib/
	touch -d '1 hour' lib/slurmctld/select_cons_tres.so lib/job_submit_onespine.so
	[[ $(onespine doctor --before-start) != *'is now the build'* ]]
	[[ ! -L lib/job_submit_onespine.so && ! -L lib/slurmctld/select_cons_tres.so ]]
}

@test "an Onespine that was installed last is not replaced by an older build for the very package" {
	local name
	make_same '1 hour' -4
	PATH=$PWD/stubs:$PATH
	package "$NOW-4"
	[[ $(onespine doctor --before-start) != *'is now the build'* ]]
	[[ ! -L lib/job_submit_onespine.so && ! -L lib/slurmctld/select_cons_tres.so ]]

	# packages keep the time of their files: their release counts first
	for name in slurmctld/select_cons_tres.so job_submit_onespine.so; do
		release "lib/$name" 9.9.9
		touch -d '1 year ago' "lib/$name"
	done
	[[ $(onespine doctor --before-start) != *'is now the build'* ]]
	[[ ! -L lib/job_submit_onespine.so && ! -L lib/slurmctld/select_cons_tres.so ]]
	for name in select_cons_tres.so job_submit_onespine.so; do
		release "lib/slurm/$NOW-4/$name" 9.9.9
	done
	run onespine doctor --before-start
	holds "$output" "$DIR/lib/job_submit_onespine.so is now the build for Slurm $NOW-4, which is installed; what was there is older"
	links_to "$NOW-4"
}

# package VERSION: that is the version of the source of the installed Slurm's package, for dpkg
package() {
	mkdir -p stubs
	cat >stubs/dpkg-query <<-END
		#!/bin/sh
		case "\$*" in
		"-S $DIR/slurm/select_cons_tres.so") echo 'slurm-wlm-basic-plugins:amd64: $DIR/slurm/select_cons_tres.so' ;;
		"-W -f \\\${source:Version}\\\\n slurm-wlm-basic-plugins:amd64") echo '$1' ;;
		*) exit 1 ;;
		esac
	END
	chmod 755 stubs/dpkg-query
}

# links_to FOLDER: both plugins are links to those of that folder
links_to() {
	[[ $(readlink lib/slurmctld/select_cons_tres.so) == "../slurm/$1/select_cons_tres.so" ]]
	[[ $(readlink lib/job_submit_onespine.so) == "slurm/$1/job_submit_onespine.so" ]]
}

@test "of builds for one number that for the distribution's package is put in place: Debian patches Slurm without another number" {
	local old=-4+deb12u3 new=-4+deb12u10
	make_builds
	PATH=$PWD/stubs:$PATH
	mv "lib/slurm/$NOW" "lib/slurm/$NOW$old"
	package "$NOW$old"
	run onespine doctor --before-start
	[[ ${lines[0]} == "$DIR/lib/slurmctld/select_cons_tres.so is now the build for Slurm $NOW$old, which is installed; it was that for Slurm $BEFORE" ]]
	links_to "$NOW$old"

	# Debian's next patch: what is in place loads and stays, until its own build is kept
	package "1:$NOW$new"
	[[ $(onespine doctor --before-start) != *'is now the build'* ]]
	links_to "$NOW$old"
	cp -r "lib/slurm/$NOW$old" "lib/slurm/$NOW$new"
	mv "lib/slurm/$NOW$new/job_submit_onespine.so" kept.so # half of it is as good as nothing
	[[ $(onespine doctor --before-start) != *'is now the build'* ]]
	links_to "$NOW$old"
	mv kept.so "lib/slurm/$NOW$new/job_submit_onespine.so"
	chmod o+w "lib/slurm/$NOW$new"
	run onespine doctor --before-start
	holds "$output" "$DIR/lib/slurm/$NOW$new can be written by others than root, so it is not used"
	links_to "$NOW$old"
	chmod o-w "lib/slurm/$NOW$new"
	run onespine doctor --before-start
	[[ ${lines[0]} == "$DIR/lib/slurmctld/select_cons_tres.so is now the build for Slurm $NOW$new, which is installed" ]]
	[[ ${lines[1]} == "$DIR/lib/job_submit_onespine.so is now the build for Slurm $NOW$new, which is installed" ]]
	links_to "$NOW$new"
	[[ $(onespine doctor --before-start) != *'is now the build'* ]]

	# and back, with a PluginDir that leads to Slurm's folder by another path than dpkg's
	package "$NOW$old"
	ln -s slurm linked
	sed -i "s#^\(PluginDir=.*:\)$DIR/slurm#\1$DIR/linked#" slurm.conf
	onespine doctor --before-start || :
	links_to "$NOW$old"

	# another number was installed meanwhile; of this one's builds none is for the package: the newest has its number
	package "$NOW-5"
	ln -sf ../slurm/0.00.0/select_cons_tres.so lib/slurmctld/select_cons_tres.so
	run onespine doctor --before-start
	[[ ${lines[0]} == "$DIR/lib/slurmctld/select_cons_tres.so is now the build for Slurm $NOW$new, of the number that is installed, $NOW-5" ]]

	# what has no package's name comes before those of other packages, and nobody is asked where none has one
	cp -r "lib/slurm/$NOW$old" "lib/slurm/$NOW"
	ln -sf ../slurm/0.00.0/select_cons_tres.so lib/slurmctld/select_cons_tres.so
	onespine doctor --before-start || :
	[[ $(readlink lib/slurmctld/select_cons_tres.so) == "../slurm/$NOW/select_cons_tres.so" ]]
}

@test "a package of RPMs is asked by rpm, and what no package has is of no package" {
	make_builds
	mkdir -p stubs
	printf '#!/bin/sh\nexit 1\n' >stubs/dpkg-query
	cat >stubs/rpm <<-END
		#!/bin/sh
		[ "\$*" = '-qf --qf %{VERSION}-%{RELEASE}\n $DIR/slurm/select_cons_tres.so' ] && echo $NOW-3.el9
	END
	chmod 755 stubs/*
	cp -r "lib/slurm/$NOW" "lib/slurm/$NOW-3.el9"
	PATH=$PWD/stubs:$PATH onespine doctor --before-start || :
	links_to "$NOW-3.el9"
	rm stubs/rpm lib/slurmctld/select_cons_tres.so lib/job_submit_onespine.so
	printf '#!/bin/sh\nexit 1\n' >stubs/rpm
	chmod 755 stubs/rpm
	ln -s ../slurm/0.00.0/select_cons_tres.so lib/slurmctld/select_cons_tres.so
	ln -s slurm/0.00.0/job_submit_onespine.so lib/job_submit_onespine.so
	PATH=$PWD/stubs:$PATH onespine doctor --before-start || :
	links_to "$NOW"
}

@test "no build fits: with the license slurmctld starts and holds gangs, unless onespine.yaml says stop" {
	make_builds
	rm -r lib/slurm
	run onespine doctor --before-start
	[[ $status == 1 ]]
	printf 'Licenses=matlab:2,onespine:1\n' >>slurm.conf
	run onespine doctor --before-start
	[[ $status == 0 ]]
	holds "$output" "warning: $DIR/lib/slurmctld/select_cons_tres.so was built for Slurm $BEFORE, and Slurm $NOW is installed: gangs wait for license onespine, and other jobs run as without Onespine (shadow-version)
  cure: install Onespine built for exactly Slurm $NOW, and start slurmctld again"
	printf 'without_match: stop\n' >onespine.yaml
	run onespine doctor --before-start
	[[ $status == 1 ]]
	holds "$output" "wrong: $DIR/lib/job_submit_onespine.so was built for Slurm $BEFORE, and Slurm $NOW is installed, which passes it over"
}

@test "what is kept of builds can be read by SlurmUser whatever root's umask, and no link goes through a folder of others" {
	make_builds
	mkdir -p elsewhere
	cp "lib/slurm/$NOW/"*.so elsewhere/
	ln -sf "$DIR/elsewhere/select_cons_tres.so" "lib/slurm/$NOW/select_cons_tres.so"
	chmod o+w "lib/slurm/$NOW"
	run onespine doctor --before-start
	[[ $status == 1 ]]
	holds "$output" "can be written by others than root, so it is not used"
	in_place "$BEFORE"
	chmod o-w "lib/slurm/$NOW"
	(umask 077 && onespine doctor --before-start)
	in_place "$NOW"
	[[ $(stat -c %a "lib/slurm/$BEFORE") == 755 ]]
}

@test "no link goes through a folder that another user can move" {
	((EUID == 0)) || skip 'needs root'
	make_builds
	mkdir -p theirs/x
	mv lib/slurm theirs/x/slurm
	ln -s ../theirs/x/slurm lib/slurm
	chown 65534 theirs/x
	run onespine doctor --before-start
	[[ $status == 1 ]]
	holds "$output" "$DIR/theirs/x can be written by others than root, so it is not used"
	in_place "$BEFORE"
	chown 0 theirs/x
	onespine doctor --before-start
	in_place "$NOW"
}

@test "no build is put in place by halves, nor one that others may write" {
	make_builds
	mv "lib/slurm/$NOW/job_submit_onespine.so" kept.so
	run onespine doctor --before-start
	[[ $status == 1 && $output != *'is now the build'* ]]
	holds "$output" "cure: install Onespine built for exactly Slurm $NOW"
	in_place "$BEFORE"
	mv kept.so "lib/slurm/$NOW/job_submit_onespine.so"
	for path in "lib/slurm/$NOW/job_submit_onespine.so" "lib/slurm/$NOW" lib/slurm; do
		chmod o+w "$path"
		run onespine doctor --before-start
		[[ $status == 1 && $output != *'is now the build'* ]]
		holds "$output" "$path can be written by others than root, so it is not used"
		in_place "$BEFORE"
		chmod o-w "$path"
	done
	other_version "lib/slurm/$NOW/job_submit_onespine.so" # not what its folder says
	run onespine doctor --before-start
	[[ $status == 1 && $output != *'is now the build'* ]]
	in_place "$BEFORE"
}

@test "plugstack.conf: in a folder that it includes, optional, twice removed" {
	needs_installed
	make_right
	write_topology 1-4
	mkdir plugstack.conf.d
	printf 'include plugstack.conf.d/*.conf\n' >plugstack.conf
	printf 'optional %s/onespine.so\n' "$LIB" >plugstack.conf.d/20-x.conf
	run onespine doctor --offline
	[[ $status == 0 ]]
	holds "$output" "warning: $DIR/plugstack.conf.d/20-x.conf:1 says optional"
	printf 'SlurmctldParameters=enable_configless\n' >>slurm.conf
	run onespine doctor --offline
	[[ $status == 1 ]]
	holds "$output" "wrong: onespine.so is named in $DIR/plugstack.conf.d/20-x.conf, which slurmctld does not send to configless hosts"
}

@test "--write makes the piece to include" {
	needs_installed
	onespine doctor --offline --write=piece.conf
	[[ $(grep -v '^#' piece.conf) == "PluginDir=$LIB/slurmctld:$LIB:$SLURM_PLUGINS
JobSubmitPlugins=onespine
Licenses=onespine:1" ]]
	printf 'include piece.conf\n' >>slurm.conf
	run onespine doctor --before-start
	[[ $status == 0 ]]
	expect 0 "# What Onespine needs in slurm.conf; made by 'onespine doctor --write'." \
		onespine doctor --offline --write=-
}

@test "GPUs: the gate's lines; a Prolog that runs it among others is found" {
	needs_installed
	needs_gate
	make_right
	write_topology 1-4
	printf 'GresTypes=gpu\n' >>slurm.conf
	onespine doctor --offline --json >j || true
	[[ $(jq -r '.findings | map(.name) | join(" ")' j) == *"prolog prolog prolog-flags prolog-time prolog-hold requeue-delay"* ]]
	[[ $(onespine doctor --offline --write=- | grep -v '^#') == "Prolog=$LIB/prolog
Epilog=$LIB/epilog
PrologFlags=Alloc,DeferBatch
BatchStartTimeout=120" ]]
	mkdir prolog.d
	gate=$(sed -n 's/^gate=//p' "$LIB/prolog")
	printf '#!/bin/sh\n%s prolog || exit\n' "$gate" >prolog.d/10
	chmod +x prolog.d/10
	printf 'Prolog=%s/prolog.d/*\nEpilog=%s/epilog\nPrologFlags=Alloc,DeferBatch\nMessageTimeout=60\n' "$DIR" "$LIB" >>slurm.conf
	onespine doctor --offline --json >j || true
	[[ $(jq -r '.findings | map(.name) | join(" ")' j) != *prolog-flags* ]]
	[[ $(jq '[.findings[] | select(.name == "prolog" or .name == "prolog-time")] | length' j) == 0 ]]
	chmod -x prolog.d/10
	run onespine doctor --offline
	holds "$output" "wrong: Prolog runs $DIR/prolog.d/10 ($DIR/slurm.conf), which is not executable: nodes are not proven before a job (prolog)
  cure: chmod a+x $DIR/prolog.d/10"
	printf '#!/bin/sh\n/nowhere/onespine-gate prolog\n' >prolog.d/10
	chmod +x prolog.d/10
	run onespine doctor --offline
	holds "$output" "wrong: Prolog runs /nowhere/onespine-gate ($DIR/prolog.d/10), which is not on this host: nodes are not proven before a job (prolog)
  cure: install it, or have $DIR/prolog.d/10 name what is there: the gate is $gate"
	sed -i 's#^Prolog=.*#Prolog=/nowhere/prolog#' slurm.conf
	run onespine doctor --offline
	holds "$output" "wrong: Prolog runs /nowhere/prolog ($DIR/slurm.conf), which is not on this host: nodes are not proven before a job (prolog)"
	[[ $output != *'no Prolog runs the gate'* ]]
	sed -i "s#^Prolog=.*#Prolog=$DIR/prolog.d/*#" slurm.conf
	printf '#!/bin/sh\nexec onespine gate prolog\n' >prolog.d/10 # its former name
	run onespine doctor --offline
	holds "$output" "warning: Prolog runs the gate as 'onespine gate prolog', which release 0.4 no longer has"
	[[ $output =~ "cure: write "/[^\ ]+"/onespine/onespine-gate prolog instead" ]]
	printf 'defaults:\n  gate:\n    budget_s: 600\n' >onespine.yaml
	run onespine doctor --offline
	holds "$output" "BatchStartTimeout (10 s) and MessageTimeout (60 s) together are no longer than the gate's budget (600 s)"
	printf 'defaults:\n  gate:\n    depth: off\n' >onespine.yaml
	onespine doctor --offline
}

@test "files that users or SlurmUser cannot read" {
	needs_installed
	((EUID == 0)) || skip 'only root can ask what others may'
	getent passwd daemon >/dev/null || skip 'there is no user daemon'
	make_right
	write_topology 1-4
	chmod a+rx "$DIR" "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/.." "$BATS_TEST_TMPDIR/../.."
	printf 'SlurmUser=daemon\n' >>slurm.conf
	onespine doctor --offline # all is readable
	chmod 600 onespine.topology plugstack.conf
	run onespine doctor --offline
	[[ $status == 1 ]]
	holds "$output" "wrong: slurmctld, which runs as daemon, cannot read $DIR/onespine.topology (readable)
  cure: chmod a+r $DIR/onespine.topology"
	holds "$output" "wrong: users cannot read $DIR/plugstack.conf: their sbatch, salloc and srun fail, or do not know --gang"
	chgrp daemon onespine.topology
	chmod 640 onespine.topology
	chmod 644 plugstack.conf
	onespine doctor --offline
	chmod 600 slurm.conf # a site that keeps its users out means it
	chmod 640 plugstack.conf
	onespine doctor --offline
}

@test "GPUs: what nothing confines to its part of a node is not bound" {
	needs_installed
	needs_gate
	make_right
	write_topology 1-4
	printf 'GresTypes=gpu\n' >>slurm.conf
	run onespine bind
	[[ $output != *'this build cannot bind'* ]] || skip 'a build without hwloc'
	run onespine doctor --offline
	holds "$output" "warning: TaskPlugin is task/none: a job that shares a node is not bound, as nothing says which cores are its own (confined)
  cure: $DIR/slurm.conf: TaskPlugin=task/affinity,task/cgroup"
	printf 'TaskPlugin=task/cgroup\n' >>slurm.conf
	run onespine doctor --offline
	holds "$output" "warning: TaskPlugin is task/cgroup, and cgroup.conf has no ConstrainCores=yes: "
	printf 'ConstrainCores=yes\n' >cgroup.conf
	run onespine doctor --offline
	[[ $output != *'(confined)'* ]]
	rm cgroup.conf
	printf 'defaults:\n  bind: off\n' >onespine.yaml
	run onespine doctor --offline
	[[ $output != *'(confined)'* ]]
}

@test "GPUs: MUNGE is looked for where AuthInfo says" {
	needs_installed
	needs_gate
	make_right
	write_topology 1-4
	printf 'GresTypes=gpu\nAuthInfo=socket=%s/munge,cred_expire=70\n' "$DIR" >>slurm.conf
	run onespine doctor --offline
	holds "$output" "wrong: MUNGE does not answer at $DIR/munge: "
}

# runs_slurmd: a process of that name, with its number in this host's SlurmdPidFile; sets PROCESS
runs_slurmd() {
	cp "$(command -v sleep)" "$BATS_TEST_TMPDIR/slurmd"
	"$BATS_TEST_TMPDIR/slurmd" 600 3>&- &
	PROCESS=$!
	until [[ $(<"/proc/$PROCESS/comm") == slurmd ]]; do
		kill -0 "$PROCESS"
	done
	echo "$PROCESS" >"$(hostname -s).pid"
}

@test "the gate's key is looked at where nodes are; who may not read it is told so, and who may is wrong" {
	local key=$BATS_TEST_TMPDIR/gate.key
	local user=(setpriv --reuid=65534 --regid=65534 --clear-groups "$BATS_TEST_TMPDIR/onespine")
	local missing="wrong: $key: No such file or directory: the nodes cannot send each other what their checks found (gate-key)"
	((EUID == 0)) || skip 'needs root'
	needs_installed
	needs_gate
	cp "$ONESPINE" "$BATS_TEST_TMPDIR/onespine"
	chmod -R a+rX "$BATS_RUN_TMPDIR"
	make_right
	printf 'GresTypes=gpu\nAuthType=auth/slurm\nSlurmdSpoolDir=%s/spool/%%h\n' "$DIR" >>slurm.conf
	printf 'defaults:\n  gate: {key_file: %s}\n' "$key" >onespine.yaml
	# slurmctld's host, on which no job runs
	run onespine doctor --offline
	[[ $output == *'(prolog)'* && $output != *gate-key* ]] || { echo "$output"; false; }
	# the folder that a slurmd of before has left there makes it no node; elsewhere a node has one
	mkdir -p "spool/$(hostname -s)"
	run onespine doctor --offline
	[[ $output == *'(prolog)'* && $output != *gate-key* ]] || { echo "$output"; false; }
	sed -i.controller 's/^SlurmctldHost=.*/SlurmctldHost=elsewhere/' slurm.conf
	run onespine doctor --offline
	holds "$output" "$missing"
	mv slurm.conf.controller slurm.conf
	# slurmctld's host with a slurmd that no line names, and a number that another process has by now
	printf 'SlurmdPidFile=%s/%%n.pid\n' "$DIR" >>slurm.conf
	echo $$ >"$(hostname -s).pid"
	run onespine doctor --offline
	[[ $output != *gate-key* ]] || { echo "$output"; false; }
	runs_slurmd
	run onespine doctor --offline
	holds "$output" "$missing"
	kill "$PROCESS"
	rm -r spool "$(hostname -s).pid"
	# a node by its name
	printf 'NodeName=m1 NodeHostname=%s\n' "$(hostname -s)" >>slurm.conf
	run onespine doctor --offline
	holds "$output" "$missing"
	run "${user[@]}" doctor --offline
	holds "$output" "$missing"
	onespine gate key new "--key-file=$key"
	run onespine doctor --offline
	[[ $output == *'(prolog)'* && $output != *gate-key* ]] || { echo "$output"; false; }
	run "${user[@]}" doctor --offline
	holds "$output" "warning: only root sees whether the gate can use the keys in $key (gate-key)
  cure: run onespine doctor as root"
	chmod 644 "$key"
	run "${user[@]}" doctor --offline
	holds "$output" "wrong: $key: user 65534 may read it: who reads a key is root to the gate (chown root, chmod 600, then a new key): "
	run onespine doctor --offline
	holds "$output" "wrong: $key: others may read or write it: "
}

@test "the reports' key may be the watch's user's where no job runs; on a node it is wrong, as root's report is refused" {
	local key=$BATS_TEST_TMPDIR/report.key
	((EUID == 0)) || skip 'needs root'
	needs_installed
	needs_gate
	make_right
	sed -i '/^SlurmUser/d' slurm.conf
	printf 'SlurmUser=nobody\nSlurmctldHost=%s\nSlurmdSpoolDir=%s/spool/%%h\n' "$(hostname -s)" "$DIR" >>slurm.conf
	printf 'watch: {report_port: 6830, report_key_file: %s}\n' "$key" >onespine.yaml
	onespine gate key new "--key-file=$key"
	chown nobody "$key"
	run onespine doctor --offline
	[[ $output == *'things looked at'* && $output != *report-key* ]] || { echo "$output"; false; }
	printf 'SlurmdPidFile=%s/%%n.pid\n' "$DIR" >>slurm.conf
	runs_slurmd
	run onespine doctor --offline
	kill "$PROCESS"
	holds "$output" "warning: $key: it belongs to user 65534, and a key is obeyed of user 0 alone (chown): the watch hears no report"
	chown root "$key"
	run onespine doctor --offline
	[[ $output != *report-key* ]] || { echo "$output"; false; }
}

# stub NAME TEXT: a program that prints this
stub() {
	mkdir -p stubs
	printf '#!/bin/sh\necho "%s"\n' "$2" >"stubs/$1"
	chmod 755 "stubs/$1"
}

# runs_deleted UID: a process of that user whose program was munged; sets PROCESS
runs_deleted() {
	local folder=$BATS_TEST_TMPDIR/of-$1
	mkdir -p "$folder"
	cp "$(command -v sleep)" "$folder/munged"
	chmod -R a+rX "$BATS_RUN_TMPDIR" "$folder"
	setpriv --reuid="$1" --regid="$1" --clear-groups "$folder/munged" 600 3>&- &
	PROCESS=$!
	until [[ $(readlink "/proc/$PROCESS/exe") == "$folder/munged" ]]; do
		kill -0 "$PROCESS"
	done
	rm "$folder/munged"
}

@test "a munged from before its update is wrong, a user's process of that name is not" {
	((EUID == 0)) || skip 'needs root'
	make_right
	write_topology 1-4
	stub munged 'munge-0.5.18 (2026-02-10)'
	stub zcat ''
	runs_deleted 4242
	PATH=$PWD/stubs:$PATH run onespine doctor --offline
	kill "$PROCESS"
	[[ $output != *"process $PROCESS"* ]]
	runs_deleted 0
	PATH=$PWD/stubs:$PATH run onespine doctor --offline
	kill "$PROCESS"
	[[ $status == 1 ]]
	holds "$output" "wrong: the munged that runs (process $PROCESS) is from before the update of its file"
}

@test "a munged that leaks its key is wrong, unless its package has the fix" {
	make_right
	write_topology 1-4
	stub munged 'munge-0.5.15 (2022-06-22)'
	stub zcat 'munge (0.5.15-2): nothing of it'
	PATH=$PWD/stubs:$PATH run onespine doctor --offline
	[[ $status == 1 ]]
	holds "$output" 'wrong: munged 0.5.15 has CVE-2026-25506: '
	stub zcat 'munge (0.5.15-2+deb12u1): Fix buffer overflow (CVE-2026-25506)'
	PATH=$PWD/stubs:$PATH run onespine doctor --offline
	[[ $output != *munge-key* ]]
	stub munged 'munge-0.5.18 (2026-02-10)'
	stub zcat ''
	PATH=$PWD/stubs:$PATH run onespine doctor --offline
	[[ $output != *munge-key* ]]
	stub munged 'munge-0.5.15 (2022-06-22)'
	echo AuthType=auth/slurm >>slurm.conf
	PATH=$PWD/stubs:$PATH run onespine doctor --offline
	[[ $output != *munge-key* ]]
}

@test "a GPU that was late to start three times in this boot is named" {
	mkdir -p root/run/onespine root/proc/sys/kernel/random
	echo 0a1b2c3d >root/proc/sys/kernel/random/boot_id
	printf 'boot 0a1b2c3d\n0000:10:00.0 gpu0 persistence 1 late 0\n0000:40:00.0 gpu3 persistence 0 late 3\n' \
		>root/run/onespine/gpu-starts
	ONESPINE_TEST_ROOT=$PWD/root run onespine doctor --offline
	holds "$output" "warning: gpu3 did not start within the time of a check, three times or more since this host booted (gpu-start)"
	echo another >root/proc/sys/kernel/random/boot_id
	ONESPINE_TEST_ROOT=$PWD/root run onespine doctor --offline
	[[ $output != *gpu-start* ]]
}
