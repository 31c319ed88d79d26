#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# gate_report.bats - nodes tell the watch what they know of their own places, and nobody else does
#
# MUNGE seals reports. On a cluster with auth/slurm a key does, which setup_file makes.
bats_require_minimum_version 1.5.0

load helpers
load gate_helpers

setup_file() {
	local keys=''
	gate_budget
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" # another user asks its munged
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 1 2 2
	free_port
	export FILE_KEY=$BATS_FILE_TMPDIR/report.key
	with_munge || keys=", report_key_file: $FILE_KEY"
	cat >"$BATS_FILE_TMPDIR/onespine.yaml" <<-END
		defaults:
		  gate: {budget_s: $BUDGET_S, fresh_s: 0, network: false, jobs: all}
		watch: {report_port: $REPORT_PORT$keys}
	END
	cluster_start --gate --topology "$BATS_FILE_TMPDIR/onespine.topology" --gres gpu:8 --dir "$BATS_FILE_TMPDIR/cluster" \
		--config "$BATS_FILE_TMPDIR/onespine.yaml" --conf MinJobAge=36000 \
		--conf "AuthInfo=$(! with_munge || echo "socket=$BATS_FILE_TMPDIR/cluster/munge/socket,")cred_expire=5" \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
	for node in n1 n2 n3 n4; do
		ln -sf /proc/uptime "$ONESPINE_CLUSTER/nodes/$node/proc/uptime"
	done
	with_munge || {
		onespine gate key new a "--key-file=$FILE_KEY"
		copy_key "$FILE_KEY" n1 n2 n3 n4
	}
	install -m 755 "$BATS_TEST_DIRNAME/report_say.py" "$ONESPINE_CLUSTER/bin/report_say"
	# whatever the watch asks, it is not asked about here
	cp "$BATS_FILE_TMPDIR/onespine.topology" "$BATS_FILE_TMPDIR/watched.topology"
	mkdir "$BATS_FILE_TMPDIR/bin"
	printf '#!/bin/sh\nexit 1\n' >"$BATS_FILE_TMPDIR/bin/ibnetdiscover"
	chmod 755 "$BATS_FILE_TMPDIR/bin/ibnetdiscover"
}

# free_port: REPORT_PORT, on which nobody listens
free_port() {
	REPORT_PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])')
	export REPORT_PORT
}

# nobody, on this machine: a root for another Slurm has no Python
other_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)

setup() {
	all_well
	REPORTS=$BATS_FILE_TMPDIR/watched.topology.reports
	watch
}

# watch: begins one, unless it runs
watch() {
	[[ -z ${watch_pid:-} ]] || return 0
	PATH="$BATS_FILE_TMPDIR/bin:$PATH" onespine topology watch --from=infiniband --interval=60 \
		-o "$BATS_FILE_TMPDIR/watched.topology" >"$BATS_TEST_TMPDIR/journal" 2>&1 3>&- &
	watch_pid=$!
	await 20 listens
	# who is a node it knows with its first look
	await 20 grep -q ibnetdiscover "$BATS_TEST_TMPDIR/journal"
}

listens() {
	[[ -n $(ss -Htln "sport = :$REPORT_PORT") ]]
}

unwatch() {
	[[ -n ${watch_pid:-} ]] || return 0
	kill "${1:--TERM}" "$watch_pid"
	wait "$watch_pid" || true
	watch_pid=
}

teardown() {
	unwatch
	[[ -n ${BATS_TEST_COMPLETED:-} ]] || cat "$BATS_TEST_TMPDIR/journal"
	gate_end_test
}

# report NODE: as its unit does when it starts
report() {
	SLURMD_NODENAME=$1 on_cluster "$ONESPINE_CLUSTER/gate" report
}

address() {
	scontrol show node "$1" | sed -n 's/.*NodeAddr=\([^ ]*\).*/\1/p'
}

# boot_of NODE: when it booted, as Slurm has it, in seconds since 1970
boot_of() {
	date -d "$(scontrol show node "$1" | sed -n 's/.*BootTime=\([^ ]*\).*/\1/p')" +%s
}

# domain NODE CLUSTER CLIQUE: the NVLink domain that its GPUs are in from now on
domain() {
	rm -f "$ONESPINE_CLUSTER/nodes/$1.faults"
	fault "$1" "export ONESPINE_FAKE_NVML='cluster=$2 clique=$3'"
	# of a node that has booted here, the time since then
	# shellcheck disable=SC2016
	[[ ! -e $ONESPINE_CLUSTER/nodes/$1.boot ]] ||
		fault "$1" 'echo "$((EPOCHSECONDS - $(<$node.boot))).00 1" >$node/proc/uptime'
}

# uuid BYTE
uuid() {
	local byte
	printf -v byte '%02x' "$1"
	printf '%s-%s-%s-%s-%s' "$byte$byte$byte$byte" "$byte$byte" "$byte$byte" "$byte$byte" "$byte$byte$byte$byte$byte$byte"
}

# said_by NODE COLUMN: of the reports: 2 the boot, 5 the NVLink domain
said_by() {
	awk -v node="$1" -v column="$2" '$1 == node { print $column }' "$REPORTS"
}

# text NODE: a report that would be believed
text() {
	printf 'onespine-report 1\nchallenge CHALLENGE\nnode %s\nboot %s\nnvlink forged.1\n' "$1" "$(boot_of "$1")"
}

# say OPTION... <REPORT: an uninvited guest
say() {
	"$ONESPINE_CLUSTER/bin/report_say" "$@" "$REPORT_PORT"
}

socket() {
	echo "$ONESPINE_CLUSTER/munge/socket"
}

# copy_key FILE NODE...: the nodes have that key, where onespine.yaml says it of them all
copy_key() {
	local file=$1 node
	shift
	for node; do
		install -D -m 600 "$file" "$ONESPINE_CLUSTER/nodes/$node$file"
	done
}

# by_key FILE: seals with that key
by_key() {
	printf '%q ' "$BATS_TEST_DIRNAME/gate_seal.py" seal "$1"
}

# say_as_root OPTION... <REPORT: as say, sealed as root's
say_as_root() {
	if with_munge; then
		say --munge "$(socket)" "$@"
	else
		say --by "$(by_key "$FILE_KEY")" "$@"
	fi
}

# say_as_user OPTION... <REPORT: as say, sealed by what a user can have: a credential of its own, or a key of its own
say_as_user() {
	local key=$BATS_TEST_TMPDIR/users.key
	if with_munge; then
		sed 's/CHALLENGE/00/' | as_other_user munge -S "$(socket)" | say "$@"
	else
		onespine gate key new a "--key-file=$key" >"$BATS_TEST_TMPDIR/users.words"
		say --by "$(by_key "$key")" "$@"
	fi
}

@test "each node of a gang reports before its gate; what it says outlives a watch that is killed" {
	local boot here
	for node in n1 n2; do domain "$node" 17 1; done
	domain n3 17 2
	job=$(submit --gang -N4 --gres=gpu:8)
	await_job "$job" RUNNING
	for node in n1 n2; do
		await 20 shows "$(uuid 17).1" said_by "$node" 5
	done
	await 20 shows "$(uuid 17).2" said_by n3 5
	# H100s in no domain
	await 20 shows - said_by n4 5
	boot=$(boot_of n1)
	here=$(said_by n1 2)
	((here - boot < 60 && boot - here < 60)) || fail "n1 booted at $here, Slurm says $boot"
	equal "$(awk '$1 == "n1" { print $4, $6, $7 }' "$REPORTS")" 'i-0123456789abcdef0 - -'
	scancel "$job"
	await 30 no_jobs
	cp "$REPORTS" "$BATS_TEST_TMPDIR/before"
	unwatch -KILL
	watch
	run report n1
	equal "$status" 0
	unwatch
	# of n1 the time alone is another
	equal "$(grep -v '^n1 ' "$REPORTS")" "$(grep -v '^n1 ' "$BATS_TEST_TMPDIR/before")"
	equal "$(said_by n1 5)" "$(uuid 17).1"
}

@test "a node reports when it starts; GPUs that are not in one completed domain are in none" {
	domain n1 17 1
	run report n1
	equal "$output" ''
	equal "$status" 0
	await 10 shows "$(uuid 17).1" said_by n1 5
	# the fabric manager is not done: told, and to be reported again
	fault n1 'export ONESPINE_FAKE_NVML="cluster=17 clique=1 fabric=2"'
	run report n1
	equal "$status" 1
	holds "$output" 'the GPUs have not joined their NVLink domain yet'
	await 10 shows - said_by n1 5
	domain n1 17 1
	report n1
	await 10 shows "$(uuid 17).1" said_by n1 5
	# a driver that does not answer says nothing, and changes nothing
	fault n1 'export ONESPINE_FAKE_NVML="cluster=17 clique=1 init=9"'
	run report n1
	equal "$status" 1
	holds "$output" 'NVML does not report the NVLink domain'
	equal "$(said_by n1 5)" "$(uuid 17).1"
	# one GPU elsewhere
	fault n1 'export ONESPINE_FAKE_NVML="cluster=17 clique=1 gpu3.clique=2"'
	run report n1
	equal "$status" 1
	holds "$output" 'the GPUs are not all in one NVLink domain'
	await 10 shows - said_by n1 5
	# nobody listens
	unwatch
	domain n1 17 1
	run report n1
	equal "$status" 1
	matches "$output" 'the watch on .*, port [0-9]+, cannot be reached'
}

@test "a user's report is dropped before a byte of it is read, and so is a user's flood" {
	said=$(text n1 | "${other_user[@]}" /usr/bin/python3 -c "$(<"$BATS_TEST_DIRNAME/report_say.py")" --user "$REPORT_PORT")
	equal "$said" 'no greeting'
	"${other_user[@]}" /usr/bin/python3 -c 'import socket, sys, time
kept = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for i in range(400)]
time.sleep(60)' "$REPORT_PORT" 3>&- &
	flood=$!
	run report n2
	equal "$status" 0
	kill "$flood" 2>/dev/null || true
	wait "$flood" || true
	[[ -z $(said_by n1 5) || $(said_by n1 5) != forged* ]]
	unwatch
	matches "$(<"$BATS_TEST_TMPDIR/journal")" 'reports dropped: [0-9]+ from ports that users can have'
}

# pretend FILE KIND: a user's program that greets at the watch's port and says that it takes one report, which it writes
# to FILE. KIND echo: with the report itself for a receipt
pretend() {
	timeout 60 "${other_user[@]}" /usr/bin/python3 -c 'import os, socket, sys
watch = socket.socket()
watch.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
watch.bind(("", int(sys.argv[1])))
watch.listen(8)
print("listens", flush=True)
guest, _ = watch.accept()
guest.settimeout(10)
guest.sendall(b"OSPR\x01" + bytes(4) + os.urandom(16))
length = int.from_bytes(guest.recv(4), "big")
sealed = b""
while len(sealed) < length:
    sealed += guest.recv(length - len(sealed))
guest.sendall(b"k" + (length.to_bytes(4, "big") + sealed if sys.argv[2] == "echo" else b""))
guest.close()
sys.stdout.buffer.write(sealed + b"\n")' "$REPORT_PORT" "$2" >"$1" 3>&- &
	pretender=$!
	await 20 grep -q listens "$1"
}

# unreadable FILE: what a user got there is sealed, and not for users
unreadable() {
	local said
	if grep -qa MUNGE "$1"; then
		said=$(grep -a MUNGE "$1" | as_other_user unmunge -S "$(socket)" 2>&1) || true
		holds "$said" 'Unauthorized credential'
	else
		grep -qa OSPK "$1"
		run ! grep -qaE 'nvlink|onespine-report' "$1"
	fi
}

@test "a user who has the port while no watch runs gets no report that it can read, and is not believed" {
	local way
	# while one runs nobody has it, on any address
	said=$("${other_user[@]}" /usr/bin/python3 -c 'import socket, sys
other = socket.socket()
for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
    other.setsockopt(socket.SOL_SOCKET, option, 1)
try:
    other.bind(("127.0.0.1", int(sys.argv[1])))
    other.listen(8)
    print("taken")
except OSError as error:
    print(error.strerror)' "$REPORT_PORT")
	equal "$said" 'Address already in use'
	unwatch
	for way in plain echo; do
		pretend "$BATS_TEST_TMPDIR/$way" "$way"
		run report n1
		equal "$status" 1
		holds "$output" "does not prove that it is root's or SlurmUser's"
		wait "$pretender"
		unreadable "$BATS_TEST_TMPDIR/$way"
	done
	watch
	run report n1
	equal "$output" ''
	equal "$status" 0
}

# one_of_two_within_a_second: two at once; on a busy machine they may be further apart
one_of_two_within_a_second() {
	local report first
	report=$(text n1 | sed 's/forged/right/')
	first=$BATS_TEST_TMPDIR/first
	say_as_root --from "$(address n1)" <<<"$report" >"$first" 3>&- &
	said=$(say_as_root --from "$(address n1)" <<<"$report")
	wait $!
	[[ "$(<"$first") $said" == *s* ]]
}

@test "from a reserved port: a user's credential, another address, no node, a recorded one, hostile bytes, 5 KiB" {
	local said
	# a user's credential, and root's for another reader
	said=$(text n1 | say_as_user --from "$(address n1)")
	equal "$said" n 'a credential of a user'
	! with_munge || {
		said=$(text n1 | say --from "$(address n1)" --munge "$(socket)" --uid 65534)
		equal "$said" n 'for another reader'
	}
	# root on n1 speaks for n2, and for nobody that Slurm has
	said=$(text n2 | say_as_root --from "$(address n1)")
	equal "$said" a 'from an address of another node'
	said=$(text n1 | sed 's/^node n1$/node n9/' | say_as_root --from "$(address n1)")
	equal "$said" u 'of no node'
	# recorded on one connection, sent on another: MUNGE opens a credential once; a new one with an old challenge
	said=$(text n1 | say_as_root --from "$(address n2)" --recorded "$BATS_TEST_TMPDIR/recorded")
	equal "$said" a
	said=$(say --from "$(address n1)" --recorded "$BATS_TEST_TMPDIR/recorded" </dev/null)
	equal "$said" n 'recorded'
	said=$(text n1 | sed 's/CHALLENGE/000102030405060708090a0b0c0d0e0f/' | say_as_root --from "$(address n1)")
	equal "$said" n 'another challenge'
	# no report
	said=$(head -c 1500 /dev/urandom | say_as_root --from "$(address n1)")
	equal "$said" n 'hostile bytes'
	said=$(printf '%s\n' "$(text n1)" 'nvlink twice' | say_as_root --from "$(address n1)")
	equal "$said" n 'a key twice'
	said=$(head -c 1500 /dev/urandom | say --from "$(address n1)")
	equal "$said" n 'no credential'
	# too long, announced too long, nothing at all
	said=$( (text n1 && head -c 5120 /dev/zero | tr '\0' x) | say_as_root --from "$(address n1)")
	equal "$said" n '5 KiB'
	said=$(echo x | say --from "$(address n1)" --announce 1073741824)
	equal "$said" n 'announced too long'
	said=$(echo x | say --from "$(address n1)" --announce 0)
	equal "$said" n 'announced empty'
	[[ -z $(said_by n1 5) || $(said_by n1 5) != forged* ]]
	equal "$(said_by n9 5)" ''
	# and what is right is taken, once a second
	said=$(text n1 | sed 's/forged/right/' | say_as_root --from "$(address n1)")
	equal "$said" k
	await 30 one_of_two_within_a_second
	await 10 shows right.1 said_by n1 5
	unwatch
	matches "$(<"$BATS_TEST_TMPDIR/journal")" "reports dropped: .*not root's.*no report.*of no node.*wrong address.*too soon"
}

@test "many that say nothing: the oldest gives way, and a node is heard" {
	python3 -c 'import socket, sys, time
kept = []
for port in range(1023, 943, -1):
    guest = socket.socket()
    guest.bind(("127.0.0.1", port))
    guest.connect(("127.0.0.1", int(sys.argv[1])))
    kept.append(guest)
print("80", flush=True)
time.sleep(60)' "$REPORT_PORT" >"$BATS_TEST_TMPDIR/silent" 3>&- &
	silent=$!
	await 10 grep -q 80 "$BATS_TEST_TMPDIR/silent"
	domain n3 17 5
	run report n3
	equal "$output" ''
	equal "$status" 0
	await 10 shows "$(uuid 17).5" said_by n3 5
	kill "$silent" 2>/dev/null || true
	wait "$silent" || true
}

# --- with a key instead of MUNGE ------------------------------------------------------------------

# with_keys NODE...: the nodes have a key of the reports that no other test has, and so has the watch, which begins anew
with_keys() {
	KEY=$BATS_TEST_TMPDIR/report.key
	onespine gate key new a "--key-file=$KEY"
	copy_key "$KEY" "$@"
	sed -i "s#report_port: ${REPORT_PORT}[^}]*#report_port: $REPORT_PORT, report_key_file: $KEY#" "$ONESPINE_CLUSTER/onespine.yaml"
	unwatch
	watch
}

without_keys() {
	cp "$BATS_FILE_TMPDIR/onespine.yaml" "$ONESPINE_CLUSTER/onespine.yaml"
}

@test "with a key nodes are heard without MUNGE; a credential, another key, an old or a recorded report are not" {
	local other=$BATS_TEST_TMPDIR/other.key said
	with_keys n1 n2
	domain n1 23 1
	run report n1
	equal "$output" ''
	equal "$status" 0
	await 10 shows "$(uuid 23).1" said_by n1 5
	# the key is changed without a stop of the watch; n2 still has the file of before
	onespine gate key add b "--key-file=$KEY"
	copy_key "$KEY" n1 n2
	onespine gate key use "--key-file=$KEY"
	copy_key "$KEY" n1
	domain n1 23 2
	domain n2 23 3
	for node in n1 n2; do
		run report "$node"
		equal "$output" ''
	done
	await 10 shows "$(uuid 23).2" said_by n1 5
	await 10 shows "$(uuid 23).3" said_by n2 5
	# who has no key, or another one
	! with_munge || {
		said=$(text n1 | say_as_root --from "$(address n1)")
		equal "$said" n "root's credential"
	}
	onespine gate key new b "--key-file=$other"
	said=$(text n1 | say --from "$(address n1)" --by "$(by_key "$other")")
	equal "$said" n 'another key'
	said=$(text n1 | say --from "$(address n1)" --by "$(by_key "$KEY") b 600")
	equal "$said" n 'sealed ten minutes ago'
	said=$(text n1 | say --from "$(address n2)" --by "$(by_key "$KEY")" --recorded "$BATS_TEST_TMPDIR/recorded")
	equal "$said" a
	said=$(say --from "$(address n1)" --recorded "$BATS_TEST_TMPDIR/recorded" </dev/null)
	equal "$said" n 'recorded'
	install -m 600 "$other" "$ONESPINE_CLUSTER/nodes/n2$KEY"
	run report n2
	equal "$status" 1
	holds "$output" 'refuses the report'
	# and nobody else takes one, or can read it
	unwatch
	pretend "$BATS_TEST_TMPDIR/taken" key
	run report n1
	equal "$status" 1
	holds "$output" "does not prove that it is root's or SlurmUser's"
	wait "$pretender"
	unreadable "$BATS_TEST_TMPDIR/taken"
	matches "$(<"$BATS_TEST_TMPDIR/journal")" "reports dropped: .*not root's"
	without_keys
}

@test "a key that is missing or that others may read is named, at the node and by the watch, which asks its sources" {
	with_keys n1
	run report n2
	equal "$status" 1
	holds "$output" "nodes/n2$KEY: No such file or directory"
	unwatch
	chmod 644 "$KEY"
	PATH="$BATS_FILE_TMPDIR/bin:$PATH" onespine topology watch --from=infiniband --interval=60 \
		-o "$BATS_FILE_TMPDIR/watched.topology" >"$BATS_TEST_TMPDIR/journal" 2>&1 3>&- &
	watch_pid=$!
	await 20 grep -q "no node's report is heard: $KEY: others may read or write it" "$BATS_TEST_TMPDIR/journal"
	await 20 grep -q ibnetdiscover "$BATS_TEST_TMPDIR/journal"
	chmod 600 "$KEY"
	await 40 listens
	run report n1
	equal "$status" 0
	without_keys
}

# --- the level nvlink ------------------------------------------------------------------------------

# follow: a watch that keeps the topology in force, by the nodes' own words beside a model of the switches
follow() {
	unwatch
	cat >"$BATS_FILE_TMPDIR/model.yaml" <<-END
		switches:
		  s1: {switches: [l1, l2]}
		blocks:
		- {switch: l1, nodes: ["n[1-2]"]}
		- {switch: l2, nodes: ["n[3-4]"]}
	END
	chmod 644 "$BATS_FILE_TMPDIR/model.yaml"
	REPORTS=$ONESPINE_CLUSTER/onespine.topology.reports
	onespine topology watch --from="topograph:$BATS_FILE_TMPDIR/model.yaml,nvlink" --interval=25 \
		-o "$ONESPINE_CLUSTER/onespine.topology" >"$BATS_TEST_TMPDIR/journal" 2>&1 3>&- &
	watch_pid=$!
	await 20 grep -qE '^(applied|unchanged|held)' "$BATS_TEST_TMPDIR/journal"
}

# domains TEXT: what the topology in force has
domains() {
	onespine topology show "$ONESPINE_CLUSTER/onespine.topology" | head -n 1
}

# boots NODE CLUSTER CLIQUE: it is killed, and boots into that domain
boots() {
	local since=$EPOCHSECONDS
	cluster kill-node --dir "$ONESPINE_CLUSTER" "$1" -9
	touch "$ONESPINE_CLUSTER/run/$1.booted"
	start_node "$1"
	await 30 booted_now "$1" "$since"
	boot_of "$1" >"$ONESPINE_CLUSTER/nodes/$1.boot"
	rm -f "$ONESPINE_CLUSTER/nodes/$1/proc/uptime"
	domain "$@"
}

# booted_now NODE SECOND: Slurm has it as booted since about then
booted_now() {
	local boot
	boot=$(boot_of "$1")
	((boot >= $2 - 1))
}

@test "a domain over two leaves is held, as it moves nodes, and doctor says so and names nodes without a report" {
	follow
	for node in n1 n2; do domain "$node" 17 1; done
	for node in n3 n4; do domain "$node" 17 2; done
	for node in n1 n2 n3 n4; do report "$node"; done
	await 30 shows '4 nodes: 2 nvlinks of 2, 2 leaves of 2, 1 spine of 4' domains
	# somebody repartitions
	domain n3 17 1
	report n3
	await 30 grep -q '^held' "$BATS_TEST_TMPDIR/journal"
	shows '4 nodes: 2 nvlinks of 2' domains
	run onespine doctor
	holds "$output" 'an answer that takes places away or moves nodes has been held for '
	[[ $output != *'makes no level nvlink'* ]] # it is one beside the tree
	holds "$(onespine topology show "$ONESPINE_CLUSTER/onespine.topology.held" | head -n 1)" 'beside the tree 2 nvlinks of 1 to 3'
	domain n3 17 2
	report n3
	await 30 shows unchanged tail -n 1 "$BATS_TEST_TMPDIR/journal"
	run onespine doctor
	[[ $output != *'has been held for'* ]]
	# n4 has booted, and says nothing
	boots n4 17 2
	await 30 unreported n4
	report n4
	await 10 all_reported
}

all_reported() {
	run onespine doctor
	[[ $output != *'have not reported'* ]]
}

unreported() {
	run onespine doctor
	[[ $output == *"have not reported their NVLink domain since they booted: $1 (places)"* ]]
}

@test "gangs on one NVLink domain, by the nodes' own words; a node that boots into another domain has none until it says so" {
	follow
	for node in n1 n2; do domain "$node" 17 1; done
	for node in n3 n4; do domain "$node" 17 2; done
	for node in n1 n2 n3 n4; do report "$node"; done
	await 30 shows '4 nodes: 2 nvlinks of 2, 2 leaves of 2, 1 spine of 4' domains
	run onespine topology show --nodes "$ONESPINE_CLUSTER/onespine.topology"
	holds "$output" 'topograph+nvlink'
	await 10 log_since 'the topology in force has nvlink 2, leaf 2, spine 1'
	job=$(submit --gang=nvlink -N2 --gres=gpu:8)
	await_job "$job" RUNNING
	matches "$(job_nodes "$job" | paste -sd' ')" '^(n1 n2|n3 n4)$'
	scancel "$job"
	await 30 no_jobs
	hold 'n[3-4]'
	# n2 is killed, and boots into a domain of its own: before it says so it has no place
	boots n2 17 3
	job=$(submit --gang=nvlink -N2 --gres=gpu:8)
	await 30 note_holds "$job" 'waits: 2 nodes on one nvlink'
	job_is "$job" PENDING
	report n2
	await 30 shows '4 nodes: 3 nvlinks of 1 to 2, 2 leaves of 2, 1 spine of 4' domains
	stays 3 job_is "$job" PENDING
	# the other one boots into the same domain
	boots n1 17 3
	report n1
	await 30 shows '4 nodes: 2 nvlinks of 2, 2 leaves of 2, 1 spine of 4' domains
	await_job "$job" RUNNING
	equal "$(job_nodes "$job" | paste -sd' ')" 'n1 n2'
	scancel "$job"
	release 'n[3-4]'
}
