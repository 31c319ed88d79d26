#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# setup on made folders: what it writes, what it leaves to a person, and that it undoes itself

# shellcheck disable=SC2016 # what bash -c is to expand

load setup_helpers

setup() {
	make_conf
}

# keep: the folder as it is, to compare with
keep() {
	rm -rf "$BATS_TEST_TMPDIR/kept"
	cp -a "$DIR" "$BATS_TEST_TMPDIR/kept"
}

# as_kept: every file byte for byte, with owner and mode, and no other
as_kept() {
	diff <(cd "$BATS_TEST_TMPDIR/kept" && find . -printf '%p %u %g %m\n' | sort) \
		<(cd "$DIR" && find . -printf '%p %u %g %m\n' | sort) &&
		diff -r "$BATS_TEST_TMPDIR/kept" "$DIR"
}

# right_and_undone: doctor finds nothing wrong, and --undo takes all of it back
right_and_undone() {
	onespine doctor --offline
	onespine setup --head --undo >/dev/null
	as_kept
}

@test "which host it is must be said" {
	expect 2 "onespine: onespine setup needs one of --head, --node and --login" onespine setup
	expect 2 "onespine: onespine setup needs one of --head, --node and --login" \
		onespine setup --head --node
}

@test "--head writes a file of ours and a line that includes it; a second run nothing; --undo all back" {
	needs_installed
	write_topology 1-4
	printf '# ours stays' >>slurm.conf # no newline at the end
	chmod 640 slurm.conf
	chown 1:1 slurm.conf 2>/dev/null || true
	keep
	run onespine setup --head
	[[ $status == 0 ]] || { echo "$output"; false; }
	holds "$output" "wrote $DIR/slurm-onespine.conf:"
	holds "$output" "added to $DIR/slurm.conf:
    # added by onespine setup; onespine setup --undo takes it out
    include slurm-onespine.conf"
	holds "$output" "now restart slurmctld, and run scontrol reconfigure and onespine doctor"
	[[ $(grep -v '^#' slurm-onespine.conf) == "PluginDir=$LIB/slurmctld:$LIB:$SLURM_PLUGINS
JobSubmitPlugins=onespine
Licenses=onespine:1" ]]
	[[ $(tail -n 3 slurm.conf | head -n 1) == '# ours stays' ]]
	[[ $(cat plugstack.conf) == *"required $LIB/onespine.so" ]]
	[[ $(stat -c '%u %g %a' slurm.conf) == "$(stat -c '%u %g %a' "$BATS_TEST_TMPDIR/kept/slurm.conf")" ]]
	onespine doctor --offline
	cp -a "$DIR" "$BATS_TEST_TMPDIR/once"
	expect 0 "$DIR/slurm.conf: nothing to do" onespine setup --head
	diff -r "$BATS_TEST_TMPDIR/once" "$DIR"
	run onespine setup --head --undo
	[[ $status == 0 ]]
	as_kept
	expect 0 "$DIR/slurm.conf: nothing to undo" onespine setup --head --undo
}

@test "--dry-run says it and changes nothing, with --undo too; JSON" {
	needs_installed
	keep
	run onespine setup --head --dry-run
	[[ $status == 1 ]] # the topology is left
	holds "$output" "would add to $DIR/slurm.conf:"
	holds "$output" "left for a person:
  no topology, so no gang starts: $DIR/onespine.topology: cannot be opened: No such file or directory
    onespine topology import --from KIND FILE -o $DIR/onespine.topology"
	as_kept
	onespine setup --head --json >"$BATS_TEST_TMPDIR/j" || true
	[[ $(jq -r '.dry_run, (.changes | map(.what) | join(" ")), .left[0].name' "$BATS_TEST_TMPDIR/j" |
		paste -sd'|') == "false|created created added|topology" ]]
	keep
	run onespine setup --head --undo --dry-run
	holds "$output" "would remove $DIR/slurm-onespine.conf"
	as_kept
}

@test "--dry-run where PluginDir is said: what a person does first, of what is there, and what setup does then" {
	needs_installed
	write_topology 1-4
	printf 'PluginDir=%s\n' "$SLURM_PLUGINS" >>slurm.conf
	keep
	run onespine setup --head --dry-run
	[[ $status == 1 ]]
	as_kept
	holds "$output" "    $DIR/slurm.conf:6: PluginDir=$LIB/slurmctld:$LIB:$SLURM_PLUGINS instead of $SLURM_PLUGINS"
	[[ $output != *'JobSubmitPlugins has onespine'* ]] # it has not
	holds "$output" "slurmctld would not start, or not place gangs, before that is done; then this
would write $DIR/plugstack.conf:"
	holds "$output" "    JobSubmitPlugins=onespine"
}

@test "--undo names lines that a person wrote and that name us still" {
	needs_installed
	write_topology 1-4
	printf 'PluginDir=%s\nJobSubmitPlugins=lua,onespine\n' "$LIB/slurmctld:$LIB:$SLURM_PLUGINS" >>slurm.conf
	onespine setup --head >/dev/null
	for more in --dry-run ''; do
		# shellcheck disable=SC2086 # no word, or one
		run onespine setup --head --undo $more
		[[ $status == 1 ]]
		holds "$output" "left for a person, who wrote it:
  $DIR/slurm.conf:6: PluginDir=$LIB/slurmctld:$LIB:$SLURM_PLUGINS
  $DIR/slurm.conf:7: JobSubmitPlugins=lua,onespine"
	done
	sed -i '6,7d' slurm.conf
	run onespine setup --head --undo
	[[ $status == 0 ]]
	[[ $output != *'left for a person'* ]]
}

@test "what slurm.conf says otherwise is left to a person, and nothing changes before" {
	needs_installed
	write_topology 1-4
	printf 'PluginDir=%s\nJobSubmitPlugins=lua\n' "$SLURM_PLUGINS" >>slurm.conf
	keep
	run onespine setup --head
	[[ $status == 1 ]]
	as_kept
	holds "$output" "$DIR/slurm.conf: nothing to change yet"
	holds "$output" "    $DIR/slurm.conf:6: PluginDir=$LIB/slurmctld:$LIB:$SLURM_PLUGINS instead of $SLURM_PLUGINS"
	holds "$output" "    $DIR/slurm.conf:7: JobSubmitPlugins=lua,onespine instead of lua"
	holds "$output" "slurmctld would not start, or not place gangs, before that is done; then run this again"
	# as the person does
	sed -i "6s#.*#PluginDir=$LIB/slurmctld:$LIB:$SLURM_PLUGINS#; 7s/.*/JobSubmitPlugins=lua,onespine/" slurm.conf
	run onespine setup --head
	[[ $status == 0 ]]
	[[ $(grep -v "^#" slurm-onespine.conf) == Licenses=onespine:1 ]] # nobody says another
	grep -q onespine.so plugstack.conf
}

@test "another SelectType, a slurm.conf that cannot be read: nothing changes" {
	needs_installed
	write_topology 1-4
	sed -i s/cons_tres/linear/ slurm.conf
	keep
	run onespine setup --head
	[[ $status == 1 ]]
	holds "$output" "slurm.conf:3: SelectType=select/cons_tres instead of select/linear"
	as_kept
	sed -i s/linear/cons_tres/ slurm.conf
	printf 'Key\n' >>slurm.conf
	keep
	expect 2 "onespine: $DIR/slurm.conf:6:4: '=' is expected after Key" onespine setup --head
	as_kept
}

@test "a slurm.conf whose last line would be joined with ours" {
	needs_installed
	write_topology 1-4
	printf 'TreeWidth=5 \\' >>slurm.conf
	keep
	onespine setup --head >/dev/null
	right_and_undone
}

@test "lines written around ours stay, and ours are found where they have moved to" {
	needs_installed
	write_topology 1-4
	keep
	onespine setup --head >/dev/null
	sed -i '1i# before' slurm.conf
	printf 'TreeWidth=5\n' >>slurm.conf
	expect 0 "$DIR/slurm.conf: nothing to do" onespine setup --head
	onespine setup --head --undo >/dev/null
	[[ $(cat slurm.conf) == "# before
$(cat "$BATS_TEST_TMPDIR/kept/slurm.conf")
TreeWidth=5" ]]
	[[ ! -e onespine.setup && ! -e slurm-onespine.conf && ! -e plugstack.conf ]]
}

@test "a file of ours that was edited is not thrown away" {
	needs_installed
	onespine setup --head >/dev/null || true
	printf 'TreeWidth=5\n' >>slurm-onespine.conf
	keep
	expect 2 "onespine: $DIR/slurm-onespine.conf: was edited since onespine setup wrote it: move it away first; nothing was changed" \
		onespine setup --head --undo
	as_kept
}

# killed WORD: `onespine setup --head` (or what follows) that a SIGKILL ends there (tests/fake/system.c)
killed() {
	local word=$1
	shift
	local status=0
	(ONESPINE_FAKE_SYSTEM=$word LD_PRELOAD=${ONESPINE%/*}/tests/fake/.libs/libsystem.so \
		onespine setup --head "$@") >/dev/null 2>&1 || status=$?
	[[ $status == 137 ]] || { echo "status $status where $word ends it"; return 1; }
}

@test "killed before or after any of its files: --undo takes back all, and a second run goes on" {
	needs_installed
	[[ -e ${ONESPINE%/*}/tests/fake/.libs/libsystem.so ]] || skip 'without the fakes'
	write_topology 1-4
	mkdir plugstack.conf.d
	printf 'include plugstack.conf.d/*\n' >plugstack.conf
	keep
	onespine setup --head >/dev/null
	cp -a "$DIR" "$BATS_TEST_TMPDIR/done"
	onespine setup --head --undo >/dev/null
	local file when
	for file in onespine.setup plugstack.conf.d/onespine.conf slurm-onespine.conf slurm.conf; do
		for when in kill killed; do
			killed "$when=$DIR/$file"
			# nothing half written where Slurm would read it
			[[ -z $(find plugstack.conf.d -name '[!.]*' ! -name onespine.conf -type f) ]]
			onespine setup --head --undo >/dev/null
			as_kept
			killed "$when=$DIR/$file"
			onespine setup --head >/dev/null
			diff -r "$BATS_TEST_TMPDIR/done" "$DIR"
			# and an undo that is killed is gone on with
			if [[ $file == slurm.conf ]]; then
				killed "$when=$DIR/$file" --undo
				onespine setup --head --undo >/dev/null
			else
				onespine setup --head --undo >/dev/null
			fi
			as_kept
		done
	done
}

@test "a file that is there and not ours is neither written over nor removed" {
	needs_installed
	write_topology 1-4
	mkdir plugstack.conf.d
	printf 'include plugstack.conf.d/*\n' >plugstack.conf
	local file
	for file in slurm-onespine.conf plugstack.conf.d/onespine.conf; do
		printf '# mine\n' >"$file"
		keep
		expect 2 "onespine: $DIR/$file: is there already, and onespine setup did not write it: move it away first; nothing was changed" \
			onespine setup --head
		as_kept
		rm "$file"
	done
}

@test "a disk that is full: all is taken back, the drop-in is not written" {
	needs_installed
	write_topology 1-4
	printf '# %100s\n' {1..200} >>slurm.conf
	keep
	mkdir "$BATS_TEST_TMPDIR/units"
	# no file may be larger than 16 KiB, which slurm.conf alone is, however long the paths here are
	expect 2 "onespine: $DIR/slurm.conf: cannot be written: File too large" \
		bash -c "trap '' XFSZ; ulimit -f 16; exec \"\$1\" setup --head --units \"\$2\"" - \
		"$ONESPINE" "$BATS_TEST_TMPDIR/units"
	as_kept
	[[ -z $(ls -A "$BATS_TEST_TMPDIR/units") ]]
}

@test "lines that end with CR LF, a file that nobody may write: as before after --undo" {
	needs_installed
	write_topology 1-4
	sed -i 's/$/\r/' slurm.conf
	printf '# plugins\r\n' >plugstack.conf
	chmod 444 slurm.conf plugstack.conf
	keep
	onespine setup --head >/dev/null
	right_and_undone
}

@test "without the right to write: said, and nothing is changed" {
	needs_installed
	((EUID == 0)) || skip 'needs root, to be somebody else'
	write_topology 1-4
	keep
	chmod a+rx "$DIR" "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/.." "$BATS_TEST_TMPDIR/../.."
	expect 2 "onespine: $DIR/onespine.setup: cannot be written: Permission denied" \
		setpriv --reuid=65534 --regid=65534 --clear-groups "$ONESPINE" setup --head
	diff -r "$BATS_TEST_TMPDIR/kept" "$DIR"
}

@test "what was half done when the machine stopped is taken back" {
	needs_installed
	keep
	onespine setup --head >/dev/null || true
	cp "$BATS_TEST_TMPDIR/kept/slurm.conf" slurm.conf # the last of the changes was not made
	onespine setup --head --undo >/dev/null
	as_kept
	onespine setup --head >/dev/null || true
	cp "$BATS_TEST_TMPDIR/kept/slurm.conf" slurm.conf
	rm plugstack.conf
	run onespine setup --head # goes on instead
	holds "$output" "added to $DIR/slurm.conf"
	grep -q '^include slurm-onespine.conf' slurm.conf
	grep -q onespine.so plugstack.conf
}

@test "plugstack.conf: a folder that it includes, an own line in it, none where it is named" {
	needs_installed
	write_topology 1-4
	mkdir plugstack.conf.d
	printf 'include %s/plugstack.conf.d/*\n' "$DIR" >plugstack.conf
	keep
	onespine setup --head >/dev/null
	[[ $(tail -n 1 plugstack.conf.d/onespine.conf) == "required $LIB/onespine.so" ]]
	right_and_undone
	# configless hosts get plugstack.conf alone
	printf 'SlurmctldParameters=enable_configless\n' >>slurm.conf
	keep
	onespine setup --head >/dev/null
	[[ $(tail -n 1 plugstack.conf) == "required $LIB/onespine.so" ]]
	right_and_undone
}

@test "--node: nothing where the files are slurmctld's, its own copies where not" {
	needs_installed
	write_topology 1-4
	onespine setup --head >/dev/null
	cp -a "$DIR" "$BATS_TEST_TMPDIR/head"
	expect 0 "$DIR/slurm.conf: nothing to do" onespine setup --node
	diff -r "$BATS_TEST_TMPDIR/head" "$DIR"
	onespine setup --head --undo >/dev/null
	rm onespine.topology
	sed -i 's/^SlurmctldHost=.*/SlurmctldHost=elsewhere/' slurm.conf
	keep
	run onespine setup --login
	[[ $status == 0 ]] || { echo "$output"; false; }
	diff <(cat "$BATS_TEST_TMPDIR/head/slurm-onespine.conf") slurm-onespine.conf
	onespine setup --login --undo >/dev/null
	as_kept
}

@test "a configless host's copy is never written" {
	needs_installed
	make_right
	mkdir -p "$BATS_TEST_TMPDIR/conf-cache"
	sed -i 's/^SlurmctldHost=.*/SlurmctldHost=elsewhere/' slurm.conf
	cp "$DIR"/*.conf "$BATS_TEST_TMPDIR/conf-cache/"
	export SLURM_CONF=$BATS_TEST_TMPDIR/conf-cache/slurm.conf
	expect 0 "$SLURM_CONF: nothing to do" onespine setup --node
	sed -i '/^PluginDir/d' "$SLURM_CONF"
	DIR=$BATS_TEST_TMPDIR/conf-cache
	keep
	run onespine setup --node
	[[ $status == 1 ]]
	holds "$output" "PluginDir does not name Onespine's folders"
	as_kept
}

@test "slurm.conf is a link: its target is changed" {
	needs_installed
	mkdir real
	mv slurm.conf real/
	ln -s real/slurm.conf slurm.conf
	onespine setup --head >/dev/null || true
	[[ -L slurm.conf ]]
	grep -q '^include slurm-onespine.conf' real/slurm.conf
	onespine setup --head --undo >/dev/null
	[[ -L slurm.conf ]]
}

@test "a drop-in for systemd's slurmctld, which comes and goes with its folder" {
	needs_installed
	write_topology 1-4
	mkdir "$BATS_TEST_TMPDIR/units"
	run onespine setup --head --units "$BATS_TEST_TMPDIR/units"
	[[ $status == 0 ]]
	holds "$output" "now run systemctl daemon-reload, restart slurmctld"
	grep -qE "^ExecStartPre=[+]/bin/sh -c '/[^ ]*/onespine doctor --before-start \|\| test \\$\? -ne 1'" \
		"$BATS_TEST_TMPDIR/units/slurmctld.service.d/onespine.conf"
	diff <(grep -v '^#' "${ONESPINE%/*}/etc/slurmctld.service.example") \
		<(grep -v '^#' "$BATS_TEST_TMPDIR/units/slurmctld.service.d/onespine.conf")
	onespine setup --head --undo --units "$BATS_TEST_TMPDIR/units" >/dev/null
	[[ -z $(ls "$BATS_TEST_TMPDIR/units") ]]
	mkdir "$BATS_TEST_TMPDIR/units/slurmctld.service.d"
	onespine setup --head --units "$BATS_TEST_TMPDIR/units" >/dev/null
	onespine setup --head --undo --units "$BATS_TEST_TMPDIR/units" >/dev/null
	[[ -z $(ls "$BATS_TEST_TMPDIR/units/slurmctld.service.d") ]]
}

@test "a drop-in of release 0.1 becomes today's, or goes; another's stays" {
	needs_installed
	write_topology 1-4
	local unit=$BATS_TEST_TMPDIR/units/slurmctld.service.d/onespine.conf
	mkdir "$BATS_TEST_TMPDIR/units"
	onespine setup --head --units "$BATS_TEST_TMPDIR/units" >/dev/null
	cp "$unit" "$BATS_TEST_TMPDIR/today"
	sed -i 's/^ExecStartPre=+/ExecStartPre=/' "$unit"
	cp "$unit" "$BATS_TEST_TMPDIR/former"
	onespine setup --head --units "$BATS_TEST_TMPDIR/units" >/dev/null
	diff "$unit" "$BATS_TEST_TMPDIR/today"
	cp "$BATS_TEST_TMPDIR/former" "$unit"
	onespine setup --head --undo --units "$BATS_TEST_TMPDIR/units" >/dev/null
	[[ -z $(ls "$BATS_TEST_TMPDIR/units") ]]
	mkdir "${unit%/*}"
	echo '# of the site' >"$unit"
	onespine setup --head --units "$BATS_TEST_TMPDIR/units" >/dev/null
	onespine setup --head --undo --units "$BATS_TEST_TMPDIR/units" >/dev/null
	[[ $(<"$unit") == '# of the site' ]]
}

@test "a file for logrotate, which bounds the gate's log; --undo takes it back, and not what others wrote" {
	needs_installed
	write_topology 1-4
	local folder=$BATS_TEST_TMPDIR/logrotate.d role
	mkdir "$folder"
	for role in --node --head; do
		run onespine setup "$role" --logrotate "$folder"
		holds "$output" "wrote $folder/onespine"
		grep -q '^/.*/gate.log {$' "$folder/onespine"
		# as the packages' own, but for its first line
		diff <(sed 1d "$folder/onespine") <(sed 1d "${ONESPINE%/*}/etc/logrotate.d/onespine")
		if command -v logrotate >/dev/null; then
			logrotate --debug --state /dev/null "$folder/onespine"
		fi
		[[ $(onespine setup "$role" --dry-run --undo --json --logrotate "$folder" | jq -r .logrotate) == "$folder/onespine" ]]
		onespine setup "$role" --undo --logrotate "$folder" >/dev/null
		[[ -z $(ls "$folder") ]]
	done
	onespine setup --login --logrotate "$folder" >/dev/null || true
	[[ -z $(ls "$folder") ]]
	cp "${ONESPINE%/*}/etc/logrotate.d/onespine" "$folder/onespine"
	onespine setup --node --logrotate "$folder" >/dev/null || true
	onespine setup --node --undo --logrotate "$folder" >/dev/null || true
	cmp "${ONESPINE%/*}/etc/logrotate.d/onespine" "$folder/onespine"
}

@test "two at a time: the second is refused, and neither leaves its lock" {
	exec 9>.onespine.setup.lock
	chmod 600 .onespine.setup.lock
	flock 9
	expect 2 "onespine: $DIR/slurm.conf: another onespine setup is at work" onespine setup --head
	[[ -e .onespine.setup.lock ]]
	exec 9>&-
	onespine setup --head >/dev/null || true
	[[ ! -e .onespine.setup.lock ]]
}

@test "a user who locks the folder and slurm.conf keeps no setup from its work" {
	((EUID == 0)) || skip "needs root"
	write_topology 1-4
	chmod a+rx "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR" "$DIR"
	chmod a+r slurm.conf
	mkfifo "$BATS_TEST_TMPDIR/held"
	setpriv --reuid=65534 --regid=65534 --clear-groups bash -c 'cd "$1" && exec 8<. 9<slurm.conf &&
		flock --nonblock 8 && flock --nonblock 9 && echo held && exec sleep 600' _ "$DIR" \
		>"$BATS_TEST_TMPDIR/held" 3>&- &
	holder=$!
	read -r held <"$BATS_TEST_TMPDIR/held"
	run onespine setup --head
	kill "$holder"
	[[ $held == held ]]
	[[ $output != *"another onespine setup"* ]]
}

@test "GPUs: the gate's Prolog and Epilog, or one more file where ParallelCluster's run" {
	needs_installed
	needs_gate
	write_topology 1-4
	printf 'GresTypes=gpu\n' >>slurm.conf
	keep
	onespine setup --head >/dev/null || true
	[[ $(grep -v '^#' slurm-onespine.conf) == *"
Prolog=$LIB/prolog
Epilog=$LIB/epilog
PrologFlags=Alloc,DeferBatch
BatchStartTimeout=120" ]]
	onespine setup --head --undo >/dev/null
	as_kept
	mkdir -p scripts/prolog.d scripts/epilog.d
	printf 'Prolog=%s/prolog\nEpilog=%s/epilog\n' "$DIR" "$DIR" >>slurm.conf
	printf '#!/bin/sh\n' | tee prolog >epilog
	keep
	run onespine setup --head
	holds "$output" "wrote $DIR/scripts/prolog.d/50_onespine:"
	[[ -x scripts/prolog.d/50_onespine && $(tail -n 1 scripts/epilog.d/50_onespine) == "exec $LIB/epilog" ]]
	[[ $output != *"no Prolog runs the gate"* ]]
	run onespine setup --head
	holds "$output" "nothing to do"
	onespine setup --head --undo >/dev/null
	as_kept
	rm -r scripts # a Prolog of the site's own: a person has to have it run ours
	run onespine setup --head
	holds "$output" "have $DIR/prolog ($DIR/slurm.conf:7) run $LIB/prolog too, and end where that fails"
}

# nothing_to_do: a run of setup that finds all in place
nothing_to_do() {
	run onespine setup --head
	holds "$output" "$DIR/slurm.conf: nothing to do"
}

@test "a gate begins by telling its log only, and says so; an edited onespine.yaml stays" {
	needs_installed
	needs_gate
	write_topology 1-4
	printf 'GresTypes=gpu\n' >>slurm.conf
	keep
	run onespine setup --head
	holds "$output" "wrote $DIR/onespine.yaml:"
	holds "$output" "the job is held for ever; against that:
  $DIR/slurm.conf: SchedulerParameters=nohold_on_prolog_fail"
	holds "$output" "a job that the gate puts back starts again only after cred_expire (120 s) and a second; to shorten that:
  $DIR/slurm.conf: AuthInfo=cred_expire=70"
	holds "$output" "the gate writes its log only (failure: log): it drains no node and stops no job for one that fails or
is silent; once that log is as you want it, say failure: drain in $DIR/onespine.yaml,
run onespine setup --head again and scontrol reconfigure, and copy the file to the nodes with a slurm.conf
of their own: nodes without the new one stay at log. --no-gate sets up none"
	[[ $(onespine config show | grep -c '^defaults.gate.failure  *log ') == 1 ]]
	[[ $(stat -c %u:%a onespine.yaml) == "$EUID:644" ]]
	nothing_to_do
	onespine setup --head --undo >/dev/null
	as_kept
	onespine setup --head >/dev/null || [[ $? == 1 ]] # no MUNGE here
	sed -i 's/failure: log/failure: drain/' onespine.yaml
	nothing_to_do
	rm plugstack.conf # what is missing is written again, what is edited is not
	run onespine setup --head
	holds "$output" "required $LIB/onespine.so"
	grep -q 'failure: drain' onespine.yaml
	[[ $output != *'the gate writes'* ]]
	cp onespine.yaml "$BATS_TEST_TMPDIR/kept/"
	run onespine setup --head --undo
	holds "$output" "left $DIR/onespine.yaml, which was edited"
	as_kept
}

@test "ParallelCluster: onespine.yaml begins with the capacity reservations of its nodes; doctor names one that it lacks" {
	needs_installed
	write_topology 1-4
	export ONESPINE_TEST_ROOT=$BATS_TEST_TMPDIR/root
	local fleet=$ONESPINE_TEST_ROOT/etc/parallelcluster/slurm_plugin/fleet-config.json
	mkdir -p "${fleet%/*}"
	# as pcluster_fleet_config_generator.py writes it
	jq -n --indent 4 '{q: {p5: {CapacityType: "on-demand", CapacityReservationId: "cr-0a1b", Api: "run-instances", Instances: [{InstanceType: "p5.48xlarge"}]},
		p6: {CapacityType: "capacity-block", CapacityReservationId: ["cr-01", "cr-02"], Api: "run-instances", Instances: []}}}' >"$fleet"
	printf 'NodeName=q-st-p5-[1-2] State=CLOUD CPUs=2\nNodeName=q-dy-p5-[1-6] State=CLOUD CPUs=2\nNodeName=q-st-p6-[1-2] State=CLOUD CPUs=2\n' \
		>slurm_parallelcluster.conf
	echo 'include slurm_parallelcluster.conf' >>slurm.conf
	keep
	run onespine setup --head
	holds "$output" "wrote $DIR/onespine.yaml:"
	[[ $(onespine config show | grep -c '^watch.launch_groups  *cr-0a1b=q-st-p5-\[1-2\],q-dy-p5-\[1-6\] ') == 1 ]]
	nothing_to_do
	# another reservation later: the file is the administrator's
	sed -i 's/cr-0a1b/cr-0c/' "$fleet"
	nothing_to_do
	run onespine doctor --offline
	[[ $output != *'launch_groups'* ]] || false
	echo 'defaults: {unlaunched: launch}' >>onespine.yaml
	run onespine doctor --offline
	holds "$output" 'ParallelCluster launches q-st-p5-1 into cr-0c, and watch.launch_groups has it in cr-0a1b'
	holds "$output" "$DIR/onespine.yaml: watch: {launch_groups: \"cr-0c=q-st-p5-[1-2],q-dy-p5-[1-6]\"}"
	rm onespine.yaml
	onespine setup --head --undo >/dev/null
	as_kept
	# more than onespine.yaml takes, or a resource group, for which ParallelCluster's file may name another: nothing is written
	printf 'NodeName=q-dy-p%s-1 State=CLOUD CPUs=2\n' {1..65} >slurm_parallelcluster.conf
	jq -n '{q: ([range(65) | {key: "p\(. + 1)", value: {CapacityReservationId: "cr-0\(. + 1)"}}] | from_entries)}' >"$fleet"
	run onespine setup --head
	[[ ! -e onespine.yaml ]]
	onespine setup --head --undo >/dev/null
	mkdir -p "$ONESPINE_TEST_ROOT/opt/parallelcluster/shared"
	echo 'CapacityReservationResourceGroupArn: arn:aws:..' >"$ONESPINE_TEST_ROOT/opt/parallelcluster/shared/cluster-config.yaml"
	jq -n '{q: {p1: {CapacityReservationId: "cr-01"}}}' >"$fleet"
	run onespine setup --head
	[[ ! -e onespine.yaml ]]
	echo 'defaults: {unlaunched: launch}' >onespine.yaml
	run onespine doctor --offline
	holds "$output" "ParallelCluster's cannot be taken over: /opt/parallelcluster/shared/cluster-config.yaml names a resource group of capacity"
	rm onespine.yaml
	onespine setup --head --undo >/dev/null
	# a file that cannot be read says nothing
	echo '{' >"$fleet"
	run onespine setup --head
	[[ ! -e onespine.yaml && $output != *fleet* ]] || false
}

@test "--head makes the gate's key where it needs one, once; --node says that it is missing; --undo leaves it" {
	needs_installed
	needs_gate
	((!EUID)) || skip 'a key is looked at by root alone'
	write_topology 1-4
	printf 'GresTypes=gpu\nAuthType=auth/slurm\nAuthInfo=cred_expire=70\nSchedulerParameters=nohold_on_prolog_fail\n' >>slurm.conf
	key=$BATS_TEST_TMPDIR/gate.key
	printf 'defaults:\n  gate: {key_file: %s}\n' "$key" >onespine.yaml
	run onespine setup --head --dry-run
	[[ $status == 0 ]] || { echo "$output"; false; }
	holds "$output" "would write $key, the gate's key: copy it to all nodes, as root's and readable by root alone"
	[[ ! -e $key ]]
	run onespine setup --head
	[[ $status == 0 ]] || { echo "$output"; false; }
	holds "$output" "wrote $key, the gate's key: copy it to all nodes, as root's and readable by root alone"
	[[ $(stat -c %u:%a "$key") == 0:600 && $output != *"$(sed -n '$s/.* //p' "$key")"* ]]
	[[ $(onespine gate key "--key-file=$key") == *'seals and opens' ]]
	run grep -rqs "$(sed -n '$s/.* //p' "$key")" "$DIR"
	((status))
	cp -p "$key" "$BATS_TEST_TMPDIR/was"
	nothing_to_do
	cmp "$key" "$BATS_TEST_TMPDIR/was"
	onespine setup --head --undo >/dev/null
	cmp "$key" "$BATS_TEST_TMPDIR/was"
	rm "$key"
	sed -i 's/^SlurmctldHost=.*/SlurmctldHost=elsewhere(192.0.2.1)/' slurm.conf
	run onespine setup --node
	[[ $status == 1 && ! -e $key ]]
	holds "$output" "$key: No such file or directory: the nodes cannot send each other what their checks found
    copy it from the host of slurmctld or from another node, readable by root alone"
}

@test "an upgrade changes nothing of a gate that is on; a policy that is there stays" {
	needs_installed
	needs_gate
	write_topology 1-4
	printf 'GresTypes=gpu\n' >>slurm.conf
	printf 'defaults: {mode: enforce}\n' >onespine.yaml
	run onespine setup --head
	holds "$output" "the gate does with a node that fails what $DIR/onespine.yaml says (failure: drain where it says nothing)"
	[[ $(cat onespine.yaml) == 'defaults: {mode: enforce}' ]]
	grep -q '^Prolog=' slurm-onespine.conf
	rm onespine.yaml # as if an earlier release had set it up, without a file
	nothing_to_do
	[[ ! -e onespine.yaml ]]
}

@test "--no-gate: no Prolog, and depth: off says why" {
	needs_installed
	needs_gate
	write_topology 1-4
	printf 'GresTypes=gpu\n' >>slurm.conf
	keep
	onespine setup --head --no-gate >/dev/null
	[[ $(grep -c Prolog slurm-onespine.conf) == 0 ]]
	grep -q '^    depth: off' onespine.yaml
	nothing_to_do
	onespine setup --head --undo >/dev/null
	as_kept
	printf 'defaults: {mode: enforce}\n' >onespine.yaml
	expect 2 "onespine: --no-gate: $DIR/onespine.yaml is there, so say it in it: defaults: {gate: {depth: off}}; nothing was changed" \
		onespine setup --head --no-gate
}
