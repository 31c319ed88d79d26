# SPDX-License-Identifier: GPL-2.0-or-later
# helpers.bash - for tests on a real Slurm; load it first: load helpers
#
# A test file starts its cluster once:
#
#	setup_file() {
#		make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 2 4
#		cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology"
#	}
#
# teardown_file (below) stops every cluster of the file and fails when a daemon died; teardown
# shows the ends of the logs when a test failed. A file that defines its own must call these:
# end_test, end_file. setup (below) frees all nodes before each test.
#
# What waits asks again and again, of many files side by side: it starts as few processes as it can.
#
# ONESPINE_TEST_SLURM: the Slurm release under test. ONESPINE_PREFIX: where Onespine is installed.
# ONESPINE_TEST_AUTH=slurm: clusters with auth/slurm, on which the gate has a key of its own.
# shellcheck shell=bash

ONESPINE_TOOLS=$(cd "${BASH_SOURCE[0]%/*}/../../tools" && pwd -P)
export ONESPINE_TOOLS

setup() {
	[[ -z ${ONESPINE_CLUSTER:-} ]] || begin_test
}

# begin_test: every daemon runs, which the end of the test before has looked at, and all nodes are free
begin_test() {
	[[ ! -e $BATS_FILE_TMPDIR/unwell ]] || cluster check --dir "$ONESPINE_CLUSTER" || return
	untraced free_all
}

teardown() {
	end_test
}

teardown_file() {
	end_file
}

# --- clusters -----------------------------------------------------------------------------------

cluster() {
	"$ONESPINE_TOOLS/cluster" "$@"
}

# cluster_start OPTION...: starts one and makes it the one that commands talk to
cluster_start() {
	local dir
	dir=$(cluster start ${ONESPINE_TEST_SLURM:+--slurm "$ONESPINE_TEST_SLURM"} \
		${ONESPINE_TEST_AUTH:+--auth "$ONESPINE_TEST_AUTH"} "$@")
	printf '%s\n' "$dir" >>"$BATS_FILE_TMPDIR/clusters"
	cluster_use "$dir"
}

# cluster_use DIR: commands talk to this one from now on
cluster_use() {
	export ONESPINE_PATH=${ONESPINE_PATH:-$PATH}
	PATH=$ONESPINE_PATH
	if [[ -r $1/run/env ]]; then
		# shellcheck disable=SC1091
		. "$1/run/env"
	else
		eval "$(cluster env --dir "$1")"
	fi
}

# cluster_stop [DIR]: before the file's end; fails when a daemon died, or a count was wrong
cluster_stop() {
	local dir=${1:-$ONESPINE_CLUSTER}
	local status=0
	untraced looks_well "$dir" || cluster check --dir "$dir" || status=1
	counts_agree "$dir" || status=1
	((!status)) || dump_logs "$dir"
	cluster stop --dir "$dir"
	sed -i "\\#^$dir\$#d" "$BATS_FILE_TMPDIR/clusters"
	return $status
}

# end_test: bats goes on after what fails in a teardown, and judges its status alone
end_test() {
	local dir status=0
	[[ -s $BATS_FILE_TMPDIR/clusters ]] || return 0
	if [[ -z ${BATS_TEST_COMPLETED:-} && -z ${BATS_TEST_SKIPPED:-} ]]; then
		while read -r dir; do
			dump_logs "$dir"
		done <"$BATS_FILE_TMPDIR/clusters"
	fi
	: >"$BATS_FILE_TMPDIR/unwell"
	while read -r dir; do
		untraced looks_well "$dir" || cluster check --dir "$dir" || status=1
	done <"$BATS_FILE_TMPDIR/clusters"
	((status)) || rm "$BATS_FILE_TMPDIR/unwell"
	return "$status"
}

# looks_well DIR: every daemon that was started prints into its own file, and there is no core: by this shell alone, after
# each test. Where that is not so, `cluster check` looks closer and says what is missing.
looks_well() {
	local file name pid
	for file in "$1"/run/*.expected; do
		name=${file##*/}
		name=${name%.expected}
		pid=
		{ read -r pid <"$1/run/$name.pid"; } 2>/dev/null || true
		[[ /proc/$pid/fd/1 -ef $1/log/$name.out ]] || return 1
	done
	! compgen -G "$1/core*" >/dev/null && ! compgen -G "$1/*/core*" >/dev/null && ! compgen -G "$1/*/*/core*" >/dev/null
}

# counts_agree DIR: no full count (one a minute, and after each reconfigure) found that what running
# jobs hold had been counted wrongly along with them; its line has the time, which tells the test
counts_agree() {
	! grep 'onespine: the count of what running jobs hold was wrong' "$1/log/slurmctld.log" >&2
}

end_file() {
	local dir status=0
	[[ -s $BATS_FILE_TMPDIR/clusters ]] || return 0
	while read -r dir; do
		cluster_stop "$dir" || status=1
	done < <(cat "$BATS_FILE_TMPDIR/clusters")
	return $status
}

# dump_logs DIR: what a failed test wants to see
dump_logs() {
	echo "--- $1: slurmctld.log"
	repeated_once <"$1/log/slurmctld.log" | tail -n 60
	cluster check --dir "$1" || {
		echo "--- slurmctld.out"
		tail -n 10 "$1/log/slurmctld.out"
		return 0
	}
	echo "--- queue"
	cluster exec --dir "$1" squeue -a -o '%8i %9P %9j %9T %5D %25R %N' 2>&1 | head -n 30
	echo "--- nodes"
	cluster exec --dir "$1" sinfo -N -o '%10N %12T %E' 2>&1 | head -n 40
}

# A test that waits asks the same again and again: lines that differ in time only are reported once.
repeated_once() {
	awk '{ words = $0; sub(/^[^]]*\] */, "", words) }
		words != last { if (again) print "   (" again " times more)"; print; again = 0; last = words; next }
		{ again++ }
		END { if (again) print "   (" again " times more)" }'
}

# log_mark; log_since PATTERN: whether slurmctld wrote such a line since the mark
log_mark() {
	LOG_MARK=$(wc -l <"$ONESPINE_CLUSTER/log/slurmctld.log")
}

log_since() {
	tail -n "+$((${LOG_MARK:-0} + 1))" "$ONESPINE_CLUSTER/log/slurmctld.log" | grep -qE -- "$1"
}

# with_munge: the clusters here have it
with_munge() {
	[[ ${ONESPINE_TEST_AUTH:-munge} == munge ]]
}

# needs_munge: of a test that asks or stops munged
needs_munge() {
	with_munge || skip 'this cluster has no MUNGE'
}

# slurm_at_least RELEASE: is the one under test
slurm_at_least() {
	(
		# shellcheck source=tools/lib/common.sh
		. "$ONESPINE_TOOLS/lib/common.sh"
		# shellcheck source=tools/lib/apt.sh
		. "$ONESPINE_TOOLS/lib/apt.sh"
		release_at_least "${ONESPINE_TEST_SLURM:-$(installed_release)}" "$1"
	)
}

# --- waiting and judging --------------------------------------------------------------------------

# untraced COMMAND...: without bats' record of each line that is run (tests/trace.bash), in setup_file too
untraced() {
	local -
	set +T
	"$@"
}

# await SECONDS COMMAND...: until the command succeeds. SECONDS are for a machine that does nothing else: it fails
# after four times as long, and not before 90
await() {
	untraced await_success "$@"
}

# The longer it has waited, the longer it pauses: a fifth of what has passed, from 0.2 s to a second, and three times what the
# question took, up to two. What is asked costs slurmctld and this machine more than the wait does.
await_success() {
	local limit_s=$(($1 * 4)) start=${EPOCHREALTIME/[.,]/} asked now passed pause_ms
	shift
	((limit_s >= 90)) || limit_s=90
	until asked=${EPOCHREALTIME/[.,]/} && "$@" 2>"$BATS_FILE_TMPDIR/await"; do
		now=${EPOCHREALTIME/[.,]/}
		passed=$((now - start))
		if ((passed > limit_s * 1000000)); then
			fail "after $limit_s s still not: $* $(<"$BATS_FILE_TMPDIR/await")"
			return 1
		fi
		pause_ms=$((passed < 1000000 ? 200 : passed < 5000000 ? passed / 5000 : 1000))
		((pause_ms >= (now - asked) * 3 / 1000)) || pause_ms=$(((now - asked) * 3 / 1000))
		pause $((pause_ms < 2000 ? pause_ms : 2000))
	done
}

# A pipe that nobody writes into, for pause. It is opened here, since that sets $!, which a test may have for its own.
exec {QUIET_PIPE}<> <(:)

# pause MILLISECONDS: without a process where the pipe is open
pause() {
	local seconds
	printf -v seconds '%d.%03d' $(($1 / 1000)) $(($1 % 1000))
	if [[ -e /dev/fd/$QUIET_PIPE ]]; then
		read -rt "$seconds" -u "$QUIET_PIPE" || true
	else
		sleep "$seconds"
	fi
}

# stays SECONDS COMMAND...: the command succeeds all the time
stays() {
	untraced stays_successful "$@"
}

stays_successful() {
	local limit_s=$1 end
	shift
	end=$((${EPOCHREALTIME/[.,]/} + limit_s * 1000000))
	while ((${EPOCHREALTIME/[.,]/} < end)); do
		if ! "$@"; then
			fail "no longer true: $*"
			return 1
		fi
		pause 200
	done
}

fail() {
	printf '%s\n' "$*" >&2
	return 1
}

# equal IS WANTED [WHAT]
equal() {
	[[ $1 == "$2" ]] || fail "${3:-value}: is '$1', wanted '$2'"
}

# matches TEXT REGULAR-EXPRESSION
matches() {
	[[ $1 =~ $2 ]] || fail "'$1' does not match '$2'"
}

# holds TEXT PART: the text has that part, letter for letter
holds() {
	[[ $1 == *"$2"* ]] || fail "'$1' does not hold '$2'"
}

# shows PART COMMAND...: what the command prints has that part. To await, where another process writes it
shows() {
	local part=$1 printed
	shift
	printed=$("$@")
	[[ $printed == *"$part"* ]] || fail "it prints '$printed'"
}

# --- jobs -----------------------------------------------------------------------------------------

# submit SBATCH-OPTION...: a job that sleeps, unless a script or --wrap is given; prints its number
submit() {
	local option wrap=(--wrap 'sleep 600')
	for option; do
		case $option in
		--wrap | --wrap=* | *.sh) wrap=() ;;
		esac
	done
	sbatch --parsable --output=/dev/null "${wrap[@]}" "$@"
}

# submit_refused SBATCH-OPTION...: prints what sbatch said; fails when it took the job
submit_refused() {
	local said
	if said=$(submit "$@" 2>&1); then
		fail "taken as job $said, not refused: $*"
		return 1
	fi
	printf '%s\n' "$said"
}

# job_field JOB KEY: of scontrol show job, e.g. JobState, Reason, AdminComment, StartTime
job_field() {
	local field
	read_field "$@"
	[[ -z ${field+x} ]] || printf '%s\n' "$field"
}

# read_field JOB KEY: the same, in $field, with one process; leaves it alone where there is none
read_field() {
	local words
	words=$'\n'$(scontrol show job "$1" 2>/dev/null) || return 0
	[[ $words =~ [[:space:]]"$2="([^$'\n']*) ]] || return 0
	field=${BASH_REMATCH[1]}
	case $2 in
	AdminComment | Comment | Extra) field=${field% } ;; # before 24.11 scontrol writes a blank behind them
	Command | WorkDir) ;;
	*) field=${field%% *} ;;
	esac
}

job_state() {
	job_field "$1" JobState
}

job_reason() {
	job_field "$1" Reason
}

# job_nodes JOB: one name a line
job_nodes() {
	local list
	list=$(job_field "$1" NodeList)
	[[ -z $list || $list == '(null)' ]] || scontrol show hostnames "$list"
}

job_is() {
	local field=
	read_field "$1" JobState
	[[ $field == "$2" ]]
}

# await_job JOB STATE [SECONDS]
await_job() {
	await "${3:-30}" job_is "$1" "$2"
}

# job_domains JOB LEVEL: the domains of that level (of the cluster's onespine.topology) that the
# job's nodes are in, one a line; "?" for a node in none
job_domains() {
	job_nodes "$1" | domains_of "$2" | sort -u
}

job_spines() {
	job_domains "$1" spine
}

# note_holds JOB TEXT: what the job's AdminComment says
note_holds() {
	[[ $(job_field "$1" AdminComment) == *"$2"* ]]
}

# is_held JOB: Slurm says that it waits for licenses, or 26.05 that it holds it for them
is_held() {
	job_is "$1" PENDING && [[ $(job_field "$1" Reason) == *icense* ]]
}

# on_one_spine JOB [LEVEL]: it runs, on one domain
on_one_spine() {
	local domains
	equal "$(job_state "$1")" RUNNING "state of job $1"
	domains=$(job_domains "$1" "${2:-spine}")
	[[ -n $domains && $domains != *$'\n'* && $domains != '?' ]] ||
		fail "job $1 is on: $(paste -sd' ' <<<"$domains")"
}

# begin_soon JOB [RESTARTS]: a requeued job begins only cred_expire (120) seconds after its nodes are done with
# it; not so long here. In the second of the requeue slurmd would still take it for the old one.
# A job that began since the look at it has what is wanted, and so has one that runs after so many restarts.
begin_soon() {
	local said
	await 30 begins_later "$@"
	said=$(scontrol update "JobId=$1" StartTime=now+3 2>&1) || [[ $said == *'no longer pending'* ]] || fail "$said"
}

begins_later() {
	local eligible
	job_is "$1" PENDING || { [[ -n ${2:-} ]] && (($(job_field "$1" Restarts) >= $2)); } || return 1
	[[ $(job_reason "$1") != BeginTime ]] || return 0
	# on a busy machine its nodes may be done with it only when that time is over
	eligible=$(date -d "$(job_field "$1" EligibleTime)" +%s 2>/dev/null) && ((eligible <= EPOCHSECONDS))
}

# await_saved JOB: what slurmctld knows of the job now has reached its state file
await_saved() {
	await_state_saved job_state "JobId=$1"
}

# await_state_saved FILE RECORD: the same of any record, as scontrol names it, and the state file that has it
await_state_saved() {
	local mark=$BATS_FILE_TMPDIR/saved
	touch "$mark"
	scontrol update "$2" "Comment=saved at $EPOCHREALTIME"
	await 30 test "$ONESPINE_CLUSTER/state/$1" -nt "$mark"
}

# restart [COMMAND...]: slurmctld ends and begins; the command runs in between
restart() {
	cluster kill-ctld --dir "$ONESPINE_CLUSTER"
	"$@"
	cluster start-ctld --dir "$ONESPINE_CLUSTER"
}

# on_cluster COMMAND...: where the cluster's jobs run, which may be another root
on_cluster() {
	local inside=$ONESPINE_CLUSTER/bin/in-root
	[[ -x $inside ]] || inside=
	${inside:+"$inside"} "$@"
}

# as_other_user COMMAND...: nobody has no rights on the cluster
as_other_user() {
	on_cluster setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

# --- nodes ----------------------------------------------------------------------------------------

# node_state NODE: of the answer about all nodes; for "-n NODE" slurmctld gives what was allocated when it was last
# asked about all, and from 23.11 on sinfo takes a drained node for a draining one by that
node_state() {
	sinfo -h -N -o '%N %T' | awk -v node="$1" '$1 == node && !found++ { print $2 }'
}

node_is() {
	[[ $(node_state "$1") == "$2" ]]
}

# fill PARTITION HOSTLIST [SBATCH-OPTION...]: a job on each node, --exclusive unless there are options; job_on[NODE] is its number
fill() {
	local node partition=$1 hostlist=$2
	shift 2
	(($#)) || set -- --exclusive
	declare -gA job_on
	for node in $(hostnames "$hostlist"); do
		job_on[$node]=$(submit -p "$partition" --job-name=fill -w "$node" -N1 "$@")
	done
	await 30 none_pending fill
}

# still_running HOSTLIST: the jobs of these nodes
still_running() {
	local node
	for node in $(hostnames "$1"); do
		equal "$(job_state "${job_on[$node]}")" RUNNING "job of $node" || return 1
	done
}

# free_all: cancels every job and reservation, resumes drained nodes, waits until all are idle. A message that a node
# did not get (its wire was cut) is sent again a minute later at the earliest (Slurm's RPC_RETRY_INTERVAL).
# It runs before each test, mostly where little or nothing is left: it asks first, and sends what the answer calls for.
free_all() {
	local jobs nodes name line
	jobs=$(squeue -h -a -o '%i is %T (%r)')
	if [[ -n $jobs ]]; then
		[[ $jobs != *' is PENDING '* ]] || scancel --state=PENDING --user="$EUID" 2>/dev/null
		scancel --user="$EUID" 2>/dev/null
	fi
	while IFS= read -r line; do
		name=${line%% *}
		[[ $name != ReservationName=* ]] || scontrol delete "$name"
	done < <(scontrol -o show reservation 2>/dev/null)
	nodes=$(sinfo -h -N -o '%t %N') || true
	if [[ ! $nodes =~ $ALL_IDLE ]]; then
		name=$(sinfo -h -N -t drain,down,fail -o %N) || true
		[[ -z $name ]] || scontrol update "NodeName=$(sort -u <<<"$name" | paste -sd,)" State=RESUME
	elif [[ -z $jobs ]]; then
		return 0
	fi
	await 150 nothing_left
}

# What sinfo -h -N -o '%t %N' prints where every node is idle; a cloud's may be powered down
ALL_IDLE=$'^(idle~? [^ ]+($|\n))+$'

nothing_left() {
	local jobs nodes
	jobs=$(squeue -h -a -o '%i is %T (%r)')
	[[ -z $jobs ]] || fail "jobs: ${jobs//$'\n'/ }" || return
	nodes=$(sinfo -h -N -o '%t %N')
	[[ $nodes =~ $ALL_IDLE ]] || fail "no jobs; nodes: ${nodes//$'\n'/,}"
}

# hold HOSTLIST: fills each of these nodes with a job named hold-NODE. It has no script, so that nothing has to be started.
hold() {
	local node
	for node in $(hostnames "$1"); do
		salloc --quiet --no-shell --immediate=120 --job-name="hold-$node" --nodelist="$node" --nodes=1 --exclusive \
			</dev/null
	done
}

none_completing() {
	local jobs
	jobs=$(squeue -h -t COMPLETING -o %i) && [[ -z $jobs ]]
}

none_pending() {
	! squeue -h -t PENDING,CONFIGURING -o %j | grep -q "^$1"
}

# release HOSTLIST: ends the jobs of hold, and waits until they are gone; what waits for the nodes may
# have taken them by then
release() {
	local node
	for node in $(hostnames "$1"); do
		scancel --name="hold-$node"
	done
	for node in $(hostnames "$1"); do
		await 30 none_named "hold-$node"
	done
}

none_named() {
	[[ -z $(squeue -h --name="$1" -o %i) ]]
}

# hostnames HOSTLIST: one name a line
hostnames() {
	(
		# shellcheck source=tools/lib/hostlist.sh
		. "$ONESPINE_TOOLS/lib/hostlist.sh"
		hostlist_expand "$1"
	)
}

# --- topologies -----------------------------------------------------------------------------------

# make_topology FILE SPINES LEAVES NODES [FIRST-NODE]: an onespine.topology of spines s1.., each
# with so many leaves s1l1.., each with so many nodes n1..
make_topology() {
	local file=$1 spines=$2 leaves=$3 nodes=$4 node=${5:-1} spine leaf separator=
	{
		printf '{\n"onespine-topology": 1,\n"source": "make_topology",\n'
		printf '"levels": ["leaf", "spine"],\n"domains": [\n'
		for ((spine = 1; spine <= spines; spine++)); do
			printf '%s{"level": "spine", "name": "s%d"}' "$separator" "$spine"
			separator=$',\n'
		done
		for ((spine = 1; spine <= spines; spine++)); do
			for ((leaf = 1; leaf <= leaves; leaf++, node += nodes)); do
				printf ',\n{"level": "leaf", "name": "s%dl%d", "in": "s%d", "nodes": "n[%d-%d]"}' \
					"$spine" "$leaf" "$spine" "$node" $((node + nodes - 1))
			done
		done
		printf '\n]\n}\n'
	} >"$file"
}

# make_slurm_topology FILE SPINES LEAVES NODES: the same fabric as a topology.conf, with a switch
# above all: without one topology/tree never lets a job straddle
make_slurm_topology() {
	local file=$1 spines=$2 leaves=$3 nodes=$4 node=1 spine leaf
	for ((spine = 1; spine <= spines; spine++)); do
		for ((leaf = 1; leaf <= leaves; leaf++, node += nodes)); do
			printf 'SwitchName=s%dl%d Nodes=n[%d-%d]\n' "$spine" "$leaf" "$node" \
				$((node + nodes - 1))
		done
		printf 'SwitchName=s%d Switches=s%dl[1-%d]\n' "$spine" "$spine" "$leaves"
	done >"$file"
	printf 'SwitchName=top Switches=s[1-%d]\n' "$spines" >>"$file"
}

# node_domain NODE LEVEL: by the cluster's onespine.topology; "?" where unknown
node_domain() {
	domains_of "$2" <<<"$1"
}

# domains_of LEVEL: of each node, a line each on stdin
domains_of() {
	awk -v level="$1" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == level) column = i + 1 }
		NR == FNR { domain[$1] = column ? $column : "?"; next }
		{ print $1 in domain ? domain[$1] : "?" }' <(domain_table) -
}

# domain_table: the levels, and a line a node with its domains; made once from the topology file
domain_table() {
	local file=${ONESPINE_TEST_TOPOLOGY:-$ONESPINE_CLUSTER/onespine.topology} table list domains node
	table=$BATS_FILE_TMPDIR/domains-$(cksum <"$file" | tr ' ' -)
	if [[ ! -e $table ]]; then
		jq -r '.levels as $levels
			| (reduce .domains[] as $one ({}; .[$one.name] = $one)) as $by_name
			| ($levels | join(" ")),
			  (.domains[] | select(.nodes and (.level as $level | $levels | index($level))) | .nodes as $nodes
			   | [recurse(if .in then $by_name[.in] else empty end)] as $chain
			   | [$nodes] + [$levels[] as $level
				| ([$chain[] | select(.level == $level) | .name][0] // "?")] | join(" "))
		' "$file" | while read -r list domains; do
			[[ -e $table ]] || {
				printf '%s %s\n' "$list" "$domains" >"$table"
				continue
			}
			for node in $(hostnames "$list"); do
				printf '%s %s\n' "$node" "$domains"
			done >>"$table"
		done
	fi
	cat "$table"
}

# shellcheck source=tests/trace.bash
. "${BASH_SOURCE[0]%/*}/../trace.bash"
