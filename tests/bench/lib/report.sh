# SPDX-License-Identifier: GPL-2.0-or-later
# report.sh - raw figures as tables, and tables into doc/performance.md
# shellcheck shell=bash disable=SC2016,SC2154

# awk functions that both tables use
READ_LINE='
function read_line(    i, at) {
	split("", v)
	for (i = 1; i <= NF; i++) {
		at = index($i, "=")
		v[substr($i, 1, at - 1)] = substr($i, at + 1)
	}
}
function ms(us) {
	return us < 100000 ? sprintf("%.1f", us / 1000) : sprintf("%.0f", us / 1000)
}
function a_cycle(scheduler) {
	return v[scheduler "_cycles"] ? ms(v[scheduler "_test_us"] / v[scheduler "_cycles"]) : ""
}'

titles() {
	local name
	for name in "${selected[@]}"; do
		system "$name"
		printf '%s\t%s\n' "$name" "$title"
	done
}

# figures_table: raw lines in, a table out
figures_table() {
	titles >"$work/titles"
	awk "$READ_LINE"'
	FILENAME != "-" {
		at = index($0, "\t")
		title[substr($0, 1, at - 1)] = substr($0, at + 1)
		next
	}
	FNR == 1 {
		print "| | straddling | nodes | leaves | CPU s | main mean ms | largest | in select | backfill mean ms | largest | in select | memory MiB |"
		print "|---|---|---|---|---|---|---|---|---|---|---|---|"
	}
	{
		read_line()
		name = title[v["system"]]
		gsub(/\|/, "\\|", name)
		if (v["unfit"] != "") {
			gsub("_", " ", v["unfit"])
			printf "| %s | not possible: %s | | | | | | | | | | |\n", name, v["unfit"]
			next
		}
		printf "| %s | %d of %d | %d | %.3f | %.1f | %s | %s | %s | %s | %s | %s | %.1f |\n", name, v["straddling"], \
			v["started"], v["nodes"], v["least"] ? v["leaves"] / v["least"] : 0, v["cpu_s"], ms(v["main_mean_us"]), \
			ms(v["main_max_us"]), a_cycle("main"), ms(v["bf_mean_us"]), ms(v["bf_max_us"]), a_cycle("bf"), \
			v["hwm_kib"] / 1024
	}' "$work/titles" -
}

# histogram_table: lines of histogram in, a table of all systems out
histogram_table() {
	awk -F'\t' -v ends="${HISTOGRAM_MS[*]}" '
	NR == 1 {
		columns = split(ends, end_ms, " ")
		printf "\n| calls | mode | number | mean ms | without Slurm | largest |"
		for (i = 1; i <= columns; i++)
			printf " < %s |", end_ms[i]
		printf " more |\n|---|---|---|---|---|---|"
		for (i = 0; i <= columns; i++)
			printf "---|"
		print ""
	}
	{
		gsub(/\|/, "\\|", $1)
		printf "| %s | %s | %d | %.2f | %.2f | %.1f |", $1, $2, $3, $4, $5, $6
		for (i = 7; i <= NF; i++)
			printf " %s |", $i ? $i : ""
		print ""
	}'
}

# plain_table: raw lines of pairs in, means and ranges out
plain_table() {
	local stock title
	system "${selected[0]}"
	stock=$title
	awk -v both="${selected[*]}" -v stock="$stock" "$READ_LINE"'
	function note(key, value,    at) {
		at = system_name SUBSEP key
		if (!(at in count) || value < low[at])
			low[at] = value
		if (!(at in count) || value > high[at])
			high[at] = value
		count[at]++
		sum[at] += value
	}
	function cell(key, format,    at) {
		at = system_name SUBSEP key
		return sprintf(" " format " (" format " to " format ") |", sum[at] / count[at], low[at], high[at])
	}
	{
		read_line()
		system_name = v["system"]
		note("cpu", v["cpu_s"])
		note("main", v["main_mean_us"] / 1000)
		note("bf", v["bf_mean_us"] / 1000)
		note("select", (v["main_test_us"] + v["bf_test_us"]) / 1e6)
		note("beside", (v["main_own_us"] + v["bf_own_us"]) / 1000)
		samples[system_name] += v["samples"]
		own[system_name] += v["own_samples"]
		note("memory", v["hwm_kib"] / 1024)
		note("started", v["started"])
	}
	END {
		print "| jobs without `--gang`: mean (range) | runs | started | CPU s | main mean ms | backfill mean ms | in select s | of it not Slurm\047s ms | memory MiB |"
		print "|---|---|---|---|---|---|---|---|---|"
		split(both, order, " ")
		label[order[1]] = stock
		label[order[2]] = "the same with Onespine"
		for (i = 1; i <= 2; i++) {
			system_name = order[i]
			printf "| %s | %d |%s%s%s%s%s%s%s\n", label[system_name], count[system_name SUBSEP "cpu"], \
				cell("started", "%.0f"), cell("cpu", "%.2f"), cell("main", "%.0f"), cell("bf", "%.0f"), \
				cell("select", "%.2f"), cell("beside", "%.1f"), cell("memory", "%.1f")
		}
		if (samples[order[2]])
			printf "\nOf %d samples of the processor time of slurmctld with Onespine, %d were in Onespine\047s code.\n", \
				samples[order[2]], own[order[2]]
	}'
	[[ ! -r $work/same ]] || cat "$work/same"
}

# compare_choices: how many jobs of the first pair got the same nodes from both
compare_choices() {
	awk 'FNR == NR { nodes[$1] = $3; next }
	{ both++; same += nodes[$1] == $3 }
	END { printf "\nIn the first pair %d of %d jobs got the same nodes from both.\n", same, both }' \
		"$work/run-${selected[0]}/running" "$work/run-${selected[1]}/running" >"$work/same"
}

machine() {
	local model
	model=$(awk -F': *' '/^model name/ { print $2; exit }' /proc/cpuinfo)
	printf '%s cores%s, %d GiB of memory' "$(nproc)" "${model:+ ($model)}" \
		$(($(awk '/^MemTotal/ { print $2 }' /proc/meminfo) / 1048576))
}

# between MARKER FILE: replaces what stands between the marker's two lines by stdin
between() {
	local begin="<!-- bench:$1 -->" end="<!-- /bench:$1 -->" fresh=$work/fresh
	cat >"$fresh"
	if ! grep -qxF "$begin" "$2" 2>/dev/null; then
		printf '\n%s\n%s\n' "$begin" "$end" >>"$2"
	fi
	awk -v begin="$begin" -v end="$end" -v fresh="$fresh" '
	$0 == begin {
		print
		while ((getline line <fresh) > 0)
			print line
		skip = 1
	}
	$0 == end { skip = 0 }
	!skip { print }' "$2" >"$2.new"
	mv "$2.new" "$2"
}

command_line() {
	local -a shown=()
	local word skip=0
	for word in "${words_given[@]+"${words_given[@]}"}"; do
		if ((skip)); then
			skip=0
			continue
		fi
		case $word in
		--prefix | --prefix-2?.?? | --doc | --keep-raw) skip=1 ;;
		--no-doc) ;;
		*/*) shown+=("${word##*/}") ;;
		*) shown+=("$word") ;;
		esac
	done
	printf 'tests/bench/bench%s' "${shown[*]:+ ${shown[*]}}"
}

# report NAME: the table and the raw figures into the documents
report() {
	local name=${1##*/}
	name=${name%.csv}
	((!no_doc)) || return 0
	{
		printf '`%s`, %s, %s.\n\n' "$(command_line)" "$(date +%F)" "$(machine)"
		cat "$work/table"
	} | between "$name" "$doc/performance.md"
	[[ -s $work/raw ]] || return 0
	between "$name" "$doc/performance-raw.txt" <"$work/raw"
}
