# SPDX-License-Identifier: GPL-2.0-or-later
# measure.sh - one system from an empty cluster until it has settled
#
# Uses the variables of tests/bench/bench and of system().
# shellcheck shell=bash disable=SC2154

# The processors, memory and GPUs of a p5.48xlarge.
NODE_WORDS='Sockets=2 CoresPerSocket=48 ThreadsPerCore=2 CPUs=192 RealMemory=2000000'
NODE_GRES=gpu:8
JOB_WORDS=(--exclusive --gpus-per-node=8)
INTERVAL_S=10
PROFILE_HZ=499
RUN_LIMIT_S=1800

cluster() {
	"$ONESPINE_SOURCE/tools/cluster" "$@"
}

# Slurm's defaults but for these: every job is looked at in every cycle, cycles come often, and the
# main scheduler begins when the partition goes up: after 3 s, the default, backfill would sometimes
# have been there first, and the two would have each other's work.
scheduler_parameters() {
	printf 'default_queue_depth=%d,bf_max_job_test=%d,' $((jobs + 100)) $((jobs + 100))
	printf 'sched_interval=%d,bf_interval=%d,batch_sched_delay=0' $INTERVAL_S $INTERVAL_S
	((!extra)) || printf ',extra_constraints'
	printf '\n'
}

start_options() {
	local file spine list
	printf '%s\n' --slurm "$release" --cloud all --gres "$NODE_GRES" --node-conf "$NODE_WORDS" \
		--names "$(cut -d' ' -f1 "$work/map" | hostlist_compress)" \
		--conf "SchedulerParameters=$(scheduler_parameters)" --conf SlurmctldDebug=info \
		--conf "PluginDir=$timer_path" --partition 'gpu Nodes=ALL Default=YES MaxTime=INFINITE State=DOWN'
	for file in "${topology[@]}"; do
		printf '%s\n' --topology "$work/$file"
	done
	if ((stock)); then
		printf '%s\n' --stock
	else
		printf '%s\n' --prefix "${prefix_of[$release]}"
	fi
	((features)) || return 0
	while read -r spine list; do
		printf '%s\n' --node-conf "NodeName=$list Feature=$spine"
	done <"$work/spines"
}

controller_cpu_ticks() {
	awk '{ print $14 + $15 }' "/proc/$controller/stat"
}

controller_kib() {
	awk -v key="$1:" '$1 == key { print $2 }' "/proc/$controller/status"
}

# sdiag_value SECTION KEY: SECTION is Main or Backfilling; 0 when sdiag does not print it
sdiag_value() {
	awk -v section="$1" -v key="$2:" '
	/^[A-Z]/ { inside = index($0, section) == 1 }
	inside && index($0, "\t" key) == 1 { value = $NF }
	END { print value + 0 }' "$run/sdiag"
}

# beside_words SIZE: sets the words of a job on a fabric with domains beside the tree
beside_words() {
	words=(--gang=spine --gang-segment=nvlink:4)
	(($1 > overlay * times)) || words=(--gang=nvlink)
}

# say_extra: each spine's nodes get an Extra; those of the first do not fit the jobs'
say_extra() {
	local spine list rack=0
	while read -r spine list; do
		scontrol update "NodeName=$list" "Extra={\"kind\": \"h100\", \"rack\": $rack, \"spine\": \"$spine\"}"
		rack=$((rack + 1))
	done <"$work/spines"
}

submit_all() {
	local size limit
	while read -r size limit; do
		((!overlay)) || beside_words "$size"
		sbatch -Q --parsable --export=NONE -o /dev/null -N "$size" -t "$limit" \
			"${JOB_WORDS[@]}" ${words[@]+"${words[@]}"} --wrap true
	done <"$work/jobs" >"$run/ids" 2>"$run/submit.err" ||
		die "submission failed: $(tail -n 2 "$run/submit.err")"
}

# await_settled: until so many cycles of either scheduler are over; settled_cycle is backfill's last
# one that started a job
await_settled() {
	local main_done backfill_done last=0 waiting=-1 count end=$((SECONDS + RUN_LIMIT_S))
	settled_cycle=0
	while ((SECONDS < end)); do
		sleep 1
		sdiag >"$run/sdiag"
		main_done=$(sdiag_value Main 'Total cycles')
		backfill_done=$(sdiag_value Backfilling 'Total cycles')
		if ((backfill_done != last)); then
			last=$backfill_done
			count=$(squeue -h -t PD -o %i | wc -l)
			((count == waiting)) || settled_cycle=$backfill_done
			waiting=$count
		fi
		((main_done < main_cycles || backfill_done < backfill_cycles)) || return 0
	done
	say "$1: fewer than $main_cycles and $backfill_cycles cycles in $RUN_LIMIT_S s"
}

# running_jobs: a line for each: its size, limit and node list, in the order of submission
running_jobs() {
	squeue -h -t CF,R,CG -S i -o '%i %D %N'
}

in_cluster() {
	local path=$PATH
	eval "$(cluster env --dir "$cluster_dir")"
	"$@"
	PATH=$path
	unset SLURM_CONF
}

# measure NAME: prints a line of key=value
measure() {
	local -a start=()
	run=$work/run-$1
	mkdir -p "$run"
	make_timer
	mapfile -t start < <(start_options)
	cluster_dir=$work/c
	cluster start --dir "$cluster_dir" "${start[@]}" >/dev/null || die "$1 does not start"
	controller=$(<"$cluster_dir/run/slurmctld.pid")
	in_cluster measure_started "$1"
	[[ -z $keep_raw ]] || { mkdir -p "$keep_raw" && cp -r "$run" "$cluster_dir"/log "$keep_raw/"; }
	cluster stop --dir "$cluster_dir" >/dev/null
	cluster_dir=
}

measure_started() {
	local ticks submitted start_rss before
	start_rss=$(controller_kib VmRSS)
	((!extra)) || say_extra
	((!profile)) || profile_begin
	ticks=$(controller_cpu_ticks)
	submit_all
	submitted=$(controller_cpu_ticks)
	sdiag -r >/dev/null
	before=$(wc -l <"$run/timer/calls")
	scontrol update PartitionName=gpu State=UP
	await_settled "$1"
	local end_ticks rss hwm
	end_ticks=$(controller_cpu_ticks)
	((!profile)) || profile_end
	rss=$(controller_kib VmRSS) hwm=$(controller_kib VmHWM)
	timed_calls "$before" >"$run/calls"
	running_jobs >"$run/running"
	histogram "$title" <"$run/calls" >>"$work/histogram"
	printf 'system=%s %s cpu_s=%s submit_cpu_s=%s' "$1" \
		"$(awk -v leaf_nodes="$leaf_nodes" -f "$here/lib/judge.awk" "$work/map" "$run/running")" \
		"$(seconds $((end_ticks - ticks)))" "$(seconds $((submitted - ticks)))"
	printf ' main_cycles=%s main_mean_us=%s main_max_us=%s' "$(sdiag_value Main 'Total cycles')" \
		"$(sdiag_value Main 'Mean cycle')" "$(sdiag_value Main 'Max cycle')"
	printf ' bf_cycles=%s bf_mean_us=%s bf_max_us=%s' \
		"$(sdiag_value Backfilling 'Total cycles')" "$(sdiag_value Backfilling 'Mean cycle')" \
		"$(sdiag_value Backfilling 'Max cycle')"
	calls_sum <"$run/calls"
	((!profile)) || printf ' samples=%s own_samples=%s' "$samples" "$own_samples"
	printf ' start_rss_kib=%s rss_kib=%s hwm_kib=%s settled_cycle=%s load=%s slurm=%s\n' \
		"$start_rss" "$rss" "$hwm" "$settled_cycle" "$(cut -d' ' -f1 /proc/loadavg)" \
		"$(slurmctld -V | awk '{ print $2 }')"
}

# profile_begin: samples in whose code slurmctld's processor time is spent, from now to profile_end
profile_begin() {
	perf record -q -F "$PROFILE_HZ" -o "$run/perf" -p "$controller" &
	profiler=$!
}

# profile_end: fills samples and own_samples, those in a file of Onespine's
profile_end() {
	kill "$profiler"
	wait "$profiler" || true
	read -r samples own_samples < <(perf script -i "$run/perf" -F ip,dso 2>/dev/null |
		awk '/\/lib\/onespine\// { own++ } END { print NR, own + 0 }')
	((samples)) || die "perf took no samples of slurmctld"
}

seconds() {
	awk -v ticks="$1" -v hz="$(getconf CLK_TCK)" 'BEGIN { printf "%.2f", ticks / hz }'
}
