# SPDX-License-Identifier: GPL-2.0-or-later
# timer.sh - links tests/bench/timer.c before the plugin of a system, and sums up what it wrote
#
# Uses release, stock, prefix_of, work and run of tests/bench/bench.
# shellcheck shell=bash disable=SC2034,SC2154

# Upper ends of the histogram's columns, in ms; the last has none.
HISTOGRAM_MS=(0.1 0.3 1 3 10 30 100)

# slurm_root: where the release's Slurm lies; empty for the installed one
slurm_root() {
	[[ $release == "$(installed_release)" ]] || "$ONESPINE_SOURCE/tools/root" "$release"
}

# make_timer: fills timer_path with the PluginDir of a system whose plugin is timed
make_timer() {
	local folder=$run/timer root plugins next rest name
	root=$(slurm_root) || die "no Slurm $release here"
	plugins=$(slurm_plugins "$root")
	next=$root$plugins rest=$plugins
	if ((!stock)); then
		next=${prefix_of[$release]}/lib/onespine/slurmctld
		rest=$next:${prefix_of[$release]}/lib/onespine:$plugins
	fi
	mkdir -p "$folder"
	cc -O2 -shared -fPIC -o "$folder/select_cons_tres.so" "$here/timer.c" -Wl,-soname,bench_timer.so \
		-Wl,-z,lazy,--no-as-needed,--allow-shlib-undefined "-L$next" -l:select_cons_tres.so \
		"-Wl,-rpath,$( ((stock)) && echo "$plugins" || echo "$folder")" || die "cc cannot link $here/timer.c"
	if ((!stock)); then
		name=$(readelf -d "$next/select_cons_tres.so" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
		[[ $name != select_cons_tres.so ]] || die "Onespine's plugin has the name of Slurm's"
		ln -sf "$next/select_cons_tres.so" "$folder/$name"
	fi
	: >"$folder/calls"
	timer_path=$folder:$rest
}

# timed_calls FROM-LINE: the calls that were made since that line was written
timed_calls() {
	tail -n "+$(($1 + 1))" "$run/timer/calls"
}

# calls_sum: lines of calls in; key=value out, seconds of processor in select_p_job_test() by scheduler
calls_sum() {
	awk '
	{
		who = $1 == "bckfl" ? "bf" : "main"
		cpu[who] += $5
		if (!$6)
			own[who] += $5
		else
			own[who] += $5 - $8
	}
	END {
		for (who in cpu)
			printf " %s_test_us=%.0f %s_own_us=%.0f", who, cpu[who], who, own[who]
	}'
}

# histogram NAME: lines of calls in; a line for each mode out: what of a call was not Slurm's own function,
# in time of processor, so that what else runs on the machine does not count
histogram() {
	awk -v name="$1" -v stock="$stock" -v ends="${HISTOGRAM_MS[*]}" '
	BEGIN {
		columns = split(ends, end_ms, " ")
		split("RUN_NOW TEST_ONLY WILL_RUN", title, " ")
	}
	{
		ms = (stock ? $5 : $5 - $8) / 1000
		for (column = 1; column <= columns && ms >= end_ms[column]; column++)
			;
		count[$2, column]++
		calls[$2]++
		sum[$2] += ms
		whole[$2] += $5 / 1000
		if (ms > most[$2])
			most[$2] = ms
	}
	END {
		for (mode = 0; mode <= 2; mode++) {
			printf "%s\t%s\t%d\t%.3f\t%.3f\t%.3f", name, title[mode + 1], calls[mode], calls[mode] ? whole[mode] / calls[mode] : 0,
				calls[mode] ? sum[mode] / calls[mode] : 0, most[mode]
			for (column = 1; column <= columns + 1; column++)
				printf "\t%d", count[mode, column]
			print ""
		}
	}'
}
