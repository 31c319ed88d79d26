#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_confined.bats - a gang starts when the same job, kept to the better one of two spines, would: by kinds of cores,
# reservations, licenses and --tres-per-task
#
# Stock Slurm is asked for the job without --gang and all nodes of the other spine excluded, by --test-only.

load helpers

setup_file() {
	make_topology "$BATS_FILE_TMPDIR/onespine.topology" 2 2 2
	cluster_start --topology "$BATS_FILE_TMPDIR/onespine.topology" --gres gpu:4 --conf Licenses=a:4,b:4 \
		--conf SelectTypeParameters=CR_Core_Memory,CR_ONE_TASK_PER_CORE --conf DefMemPerCPU=10 \
		--node-conf 'Sockets=2 CoresPerSocket=2 ThreadsPerCore=2 RealMemory=1000' --conf DebugFlags=SelectType \
		--conf SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1,bf_resolution=1 \
		--partition 'cores Nodes=ALL Default=YES' --partition 'least Nodes=ALL LLN=YES' \
		--partition 'sockets Nodes=ALL SelectTypeParameters=CR_Socket'
}

# asked OPTION...: sets $start (seconds from now; empty: never) and $nodes, as --test-only says
asked() {
	local said
	start='' nodes=''
	said=$(sbatch --test-only --time=5 "$@" --wrap true 2>&1) || true
	[[ $said =~ "to start at "([0-9T:-]+).*"nodes "([^ ]+) ]] || return 0
	nodes=${BASH_REMATCH[2]}
	start=$(($(date -d "${BASH_REMATCH[1]}" +%s) - EPOCHSECONDS))
}

# confined now|later|never|any OPTION...: that is when the gang starts, as the earlier one of two confined jobs does
confined() {
	local wanted=$1 when=never earliest='' excluded start nodes
	shift
	for excluded in 'n[5-8]' 'n[1-4]'; do
		asked "$@" -x "$excluded"
		[[ -z $start ]] || { [[ -n $earliest ]] && ((earliest <= start)); } || earliest=$start
	done
	asked --gang "$@"
	[[ -z $start ]] || when=$( ((start < 60)) && echo now || echo later)
	[[ $wanted == any ]] || equal "$when" "$wanted" "when the gang starts: $*"
	[[ -n $start && -n $earliest ]] || {
		equal "$start" "$earliest" "the gang's start: $*"
		return
	}
	((start - earliest <= 30 && earliest - start <= 30)) || fail "$*: in $start s, confined in $earliest s"
	[[ $(hostlist_spines "$nodes") == s[12] ]] || fail "$*: on $nodes"
}

hostlist_spines() {
	hostnames "$1" | sed 's/^n[1-4]$/s1/; s/^n[5-8]$/s2/' | sort -u | paste -sd' '
}

# holds_some: on n1, n2 and n5 half of the cores, on n6 and n7 one, for half an hour to ten minutes
holds_some() {
	local words
	for words in 'n1 4 30' 'n2 4 30' 'n5 4 30' 'n6 2 20' 'n7 1 10'; do
		read -ra words <<<"$words"
		submit --job-name=fill -w "${words[0]}" -N1 -n1 -c "${words[1]}" --time="${words[2]}" >/dev/null
	done
	await 30 none_pending fill
}

@test "parts of nodes, tasks on cores of their own, sockets, the least loaded nodes" {
	holds_some
	confined now -N3 --ntasks-per-node=2
	confined now -N4 --ntasks-per-node=2
	confined now -N3 --ntasks-per-node=3
	confined later -N4 --ntasks-per-node=3
	confined never -N4 --ntasks-per-node=5
	confined now -N4 --ntasks-per-node=2 --hint=nomultithread
	confined later -N4 --ntasks-per-node=1 -c3 --hint=nomultithread
	confined now -N4 --ntasks-per-node=1 -c2 --threads-per-core=1
	confined later -N4 --ntasks-per-node=1 -c4 --threads-per-core=1
	confined now -N4 -n6
	confined now -N4 -n12
	confined later -N4 -n14
	confined later -N4 --exclusive
	confined later -N3 -p sockets --ntasks-per-node=3
	confined now -N3 -p sockets --ntasks-per-node=1
	confined now -N3 -p least --ntasks-per-node=2
	confined later -N4 -p least --ntasks-per-node=4
}

@test "a gang starts beside parts of nodes on one spine, in each kind of partition" {
	holds_some
	local partition gang
	for partition in cores least sockets; do
		gang=$(submit --gang -p "$partition" -N4 --ntasks-per-node=1 --time=5)
		await_job "$gang" RUNNING
		on_one_spine "$gang"
		scancel "$gang"
	done
}

# reserved OPTION...
reserved() {
	scontrol create reservation ReservationName=r Users=root StartTime=now Duration=60 "$@" >/dev/null
}

unreserved() {
	scontrol delete ReservationName=r
}

@test "reservations of cores, nodes that are replaced, a delayed start, nodes beside it" {
	submit --job-name=fill -w n5 -N1 --exclusive --time=20 >/dev/null
	await 30 none_pending fill
	# later releases take no list of numbers of cores
	if ! slurm_at_least 25.11; then
		reserved 'Nodes=n[1-4]' CoreCnt=2,2,2,2
		confined now -N4 --ntasks-per-node=2
		confined later -N4 --ntasks-per-node=3
		confined now -N4 --ntasks-per-node=2 --reservation=r
		confined never -N4 --ntasks-per-node=3 --reservation=r
		unreserved
	fi
	reserved NodeCnt=2 Flags=REPLACE
	# which nodes Slurm takes differs by release
	confined any -N2 --exclusive
	confined any -N4 --exclusive
	confined any -N2 --exclusive --reservation=r
	unreserved
	reserved 'Nodes=n[3-4,6-8]' MaxStartDelay=60
	confined now -N3 --exclusive --reservation=r
	confined never -N4 --exclusive --reservation=r
	confined now -N2 --exclusive
	unreserved
	reserved 'Nodes=n[6-8]' Flags=FLEX
	confined now -N4 --exclusive --reservation=r
	unreserved
}

@test "licenses of which either will do, and --tres-per-task" {
	slurm_at_least 25.11 || skip 'this Slurm has neither'
	submit --job-name=fill -w n1 -N1 --exclusive -L a:2 --time=20 >/dev/null
	submit --job-name=fill -w n6 -N1 -n1 --gpus-per-node=2 --time=10 >/dev/null
	await 30 none_pending fill
	confined now -N3 --ntasks-per-node=1 -L 'a:3|b:3'
	confined now -N4 --ntasks-per-node=2 --tres-per-task=gres/gpu:1
	confined later -N4 --ntasks-per-node=3 --tres-per-task=gres/gpu:1
	confined now -N4 --ntasks-per-node=1 --tres-per-task=cpu:4
}
