#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# setup.bats - a stock Slurm that gets Onespine by `onespine setup`, and is stock again after --undo
#
# Tests build on each other: stock, set up, restarted, with a configless node, with a backup slurmctld, undone.

# shellcheck disable=SC2154 # said is set by answers

load helpers
load backup_helpers

setup() {
	KEPT=$BATS_FILE_TMPDIR/kept
	begin_test
}

teardown_file() {
	stop_others
	end_file
}

setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 1 3
	cluster_start --stock --topology "$BATS_FILE_TMPDIR/onespine.topology" --conf PluginDir= \
		--conf SlurmctldTimeout=10 --conf SlurmctldParameters=enable_configless \
		--conf CommunicationParameters=NoCtldInAddrAny
	add_backup_line
	printf '%s\n' history: '  folder: off' '  shared: /dev/null' >"$ONESPINE_CLUSTER/onespine.yaml"
	cluster kill-ctld --dir "$ONESPINE_CLUSTER"
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
	mkdir "$BATS_FILE_TMPDIR/kept"
	cp -p "$ONESPINE_CLUSTER"/*.conf "$ONESPINE_CLUSTER"/onespine.* "$BATS_FILE_TMPDIR/kept/"
}

# onespine: a stock cluster has none of its own
onespine() {
	on_cluster "${ONESPINE_PREFIX:?}/bin/onespine" "$@"
}

# answers STATUS COMMAND...: runs it, output to $said
answers() {
	local wanted=$1 status=0
	shift
	said=$("$@" 2>&1) || status=$?
	equal "$status" "$wanted" "status of $* (it said: $said)"
}

@test "stock Slurm: what is lacking, and that slurmctld takes no notice of a gang" {
	answers 1 onespine doctor
	holds "$said" 'wrong: JobSubmitPlugins lacks onespine'
	holds "$said" 'wrong: the slurmctld that runs takes no notice of a gang: jobs are placed anywhere'
	holds "$said" 'warning: there is a backup slurmctld, and StateSaveLocation'
	holds "$said" '; slurmctld takes no notice of gangs'
}

@test "setup --head; the slurmctld that still runs without it is told apart" {
	answers 0 onespine setup --head
	holds "$said" "added to $ONESPINE_CLUSTER/slurm.conf:"
	answers 1 onespine doctor
	holds "$said" 'wrong: slurmctld runs with PluginDir='
	holds "$said" 'cure: restart slurmctld'
}

@test "restarted, the doctor finds nothing wrong and gangs are placed and refused" {
	restart
	log_mark
	answers 0 onespine doctor
	# what it asks slurmctld is no line of slurmctld's log
	! log_since 'onespine: |_slurm_rpc_submit|job_will_run|job_submit' || fail 'the doctor left lines'
	holds "$said" ', 0 wrong, '
	holds "$said" '; slurmctld takes gangs'
	answers 0 onespine setup --head
	holds "$said" 'nothing to do'
	hold n1,n4
	job=$(submit --gang -N2 --exclusive)
	await_job "$job" RUNNING
	on_one_spine "$job"
	ONESPINE_TEST_TOPOLOGY=$ONESPINE_CLUSTER/onespine.topology equal "$(job_domains "$job" spine | wc -l)" 1
	holds "$(submit_refused --gang -N4)" 'the largest spine'
}

@test "a configless node gets our files with the others, and has nothing to set up" {
	local cache=$ONESPINE_CLUSTER/spool/n6/conf-cache port
	port=$(sed -n 's/^SlurmctldPort=//p' "$ONESPINE_CLUSTER/slurm.conf")
	cluster kill-node --dir "$ONESPINE_CLUSTER" n6
	start_configless "$port"
	await 20 test -e "$cache/slurm-onespine.conf"
	cmp "$cache/slurm-onespine.conf" "$ONESPINE_CLUSTER/slurm-onespine.conf"
	grep -q '/onespine.so$' "$cache/plugstack.conf"
	SLURM_CONF=$cache/slurm.conf answers 0 onespine setup --node
	equal "$said" "$cache/slurm.conf: nothing to do"
	await 30 node_is n6 idle
	SLURM_CONF=$cache/slurm.conf srun --gang -w n6 -N1 true
	SLURM_CONF=$cache/slurm.conf answers 2 onespine history # its policy came too
	holds "$said" '/dev/null'
	SLURM_CONF=$cache/slurm.conf answers 2 onespine fit -N2 # the topology does not come
	holds "$said" "$cache/onespine.topology: no such file; slurmctld sends it to no other host"
	SLURM_CONF=$cache/slurm.conf answers 0 onespine fit -N2 --topology="$ONESPINE_CLUSTER/onespine.topology"
	echo '  shared: /dev/zero' >>"$ONESPINE_CLUSTER/onespine.yaml"
	sed -i '\#/dev/null#d' "$ONESPINE_CLUSTER/onespine.yaml"
	answers 1 onespine doctor
	holds "$said" "wrong: slurmctld has not taken $ONESPINE_CLUSTER/onespine.yaml as it is now: it obeys what it keeps in "
	holds "$said" "warning: configless nodes do not get $ONESPINE_CLUSTER/onespine.yaml as it is now"
	answers 0 onespine setup --head
	scontrol reconfigure
	await 20 grep -q /dev/zero "$cache/slurm-onespine.conf"
	SLURM_CONF=$cache/slurm.conf answers 2 onespine history
	holds "$said" '/dev/zero'
	await 20 onespine doctor
	answers 0 onespine doctor
	[[ $said != *'configless nodes do not get'* ]]
	if slurm_at_least 23.11; then
		[[ $said != *configless* ]]
	else
		holds "$said" "Slurm's commands on a configless host without a slurmd and a sackd end with an error as long as slurm.conf includes a file ($ONESPINE_CLUSTER/slurm-onespine.conf)"
	fi
	ended slurmd
	cluster start-node --dir "$ONESPINE_CLUSTER" n6
	await 30 node_is n6 idle
}

@test "a backup slurmctld that takes over places gangs too" {
	hold n1,n4
	await_saved "$(submit -w n1)"
	start_backup
	await 20 pings 'backup.* is UP'
	cluster kill-ctld --dir "$ONESPINE_CLUSTER" -9
	scontrol takeover 1
	await 30 takes_gangs
	job=$(submit --gang -N2 --exclusive)
	await_job "$job" RUNNING
	on_one_spine "$job"
	scancel "$job"
	ended backup
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
}

# start_configless PORT: n6 without a slurm.conf. Before it has one it knows no other MUNGE than the
# system's, so the cluster's socket stands there for it. A root that is no mount is private already.
start_configless() {
	# shellcheck disable=SC2016
	started slurmd env -u SLURM_CONF unshare --mount --propagation unchanged sh -c '
		mount --make-rprivate / 2>/dev/null; mkdir -p /run/munge &&
		mount -t tmpfs none /run/munge && touch /run/munge/munge.socket.2 &&
		mount --bind "$1/munge/socket" /run/munge/munge.socket.2 &&
		exec slurmd -D -N n6 --conf-server "127.0.0.1:$2"' sh "$ONESPINE_CLUSTER" "$1"
}

takes_gangs() {
	onespine doctor --json | jq -e '.slurmctld == "takes gangs"' >/dev/null
}

@test "without the one line that slurm.conf got Slurm is stock, with onespine.so still in plugstack.conf" {
	equal "$(diff "$KEPT/slurm.conf" "$ONESPINE_CLUSTER/slurm.conf" | grep -c '^[<>] [^#]')" 1
	cp -p "$ONESPINE_CLUSTER/slurm.conf" "$BATS_TEST_TMPDIR/with"
	sed -i '/slurm-onespine\.conf/d' "$ONESPINE_CLUSTER/slurm.conf"
	restart
	[[ $(scontrol show config | grep '^PluginDir') != *onespine* ]]
	job=$(submit --gang -N4 --exclusive)
	await_job "$job" RUNNING
	ONESPINE_TEST_TOPOLOGY=$ONESPINE_CLUSTER/onespine.topology equal "$(job_domains "$job" spine | wc -l)" 2
	cp -p "$BATS_TEST_TMPDIR/with" "$ONESPINE_CLUSTER/slurm.conf"
}

@test "setup --head --undo: every file byte for byte as before, and Slurm is stock" {
	answers 0 onespine setup --head --undo
	holds "$said" "taken back from $ONESPINE_CLUSTER/slurm.conf:"
	cp -p "$ONESPINE_CLUSTER/onespine.yaml" "$KEPT/" # edited by us
	for file in "$ONESPINE_CLUSTER"/*.conf "$ONESPINE_CLUSTER"/onespine.*; do
		cmp "$file" "$KEPT/${file##*/}"
		equal "$(stat -c '%u %g %a' "$file")" "$(stat -c '%u %g %a' "$KEPT/${file##*/}")" "$file"
	done
	equal "$(ls "$KEPT")" "$(cd "$ONESPINE_CLUSTER" && ls -d -- *.conf onespine.*)"
	restart
	run sbatch --gang -N2 --wrap true
	((status))
	job=$(submit -N4 --exclusive)
	await_job "$job" RUNNING
}
