#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# core_promise_options.bats - no option of sbatch, srun or salloc is forgotten by the promise
#
# The options are those of the programs' own --help and --usage. Each has a row in a table here or in
# core_promise.bats, or a reason here why it can have none.
# shellcheck disable=SC2016

bats_require_minimum_version 1.5.0
load helpers
load promise_helpers

setup_file() {
	local -a quality=()
	# without a database no QOS is known; from 24.05 on slurmctld does not start with a partition that names one
	if ! slurm_at_least 24.05; then
		quality=(--partition 'quality Nodes=ALL QOS=any')
	fi
	start_promise ${quality[@]+"${quality[@]}"}
}

# reasons: options that cannot have a row, a line each: why, and which
reasons() {
	cat <<-'END'
		--usage names it, and the program does not know it: --ctrl-comm-ifhn --mpi-combine --slurmd
		it ends before a job is asked for: --help --usage --version
		the program alone reads it, for its own words and files: --bell --disable-status --error --input --job-name --label --no-bell --output --parsable --quiet --quit-on-interrupt --unbuffered --verbose --wait --wrap --ignore-pbs --ignore-signals --kill-command --no-shell --test-only
		it says how processes of a job that has its nodes are started or ended: --acctg-freq --bcast --bcast-exclude --chdir --compress --container --container-id --container-type --epilog --export --export-file --get-user-env --kill-on-bad-exit --mpi --multi-prog --oom-kill-step --preserve-env --profile --prolog --propagate --pty --send-libs --slurmd-debug --task-epilog --task-prolog --threads --wait-for-children --mem-bind --network --cpu-bind --accel-bind --x11 --open-mode
		its nodes boot, and no cluster of tests has a program for that (later releases then wait for them): --reboot
		it is about clusters of a federation, which needs a database: --cluster-constraint
		it is about a step in a job that has its nodes: --async --exact --het-group --jobid --overlap --relative
		it writes a mail: --mail-type --mail-user
		slurmctld is asked for nothing, root alone may, and no job is made: --no-allocate
		Onespine reads it on the nodes or in the gate, when the job has its nodes: --gang-bind --gang-check --gang-env
		spare nodes are nodes of -N, and core_options.bats has what of them is refused: --gang-spares
		it makes segments, as --gang-segment does: --gang-keep --gang-layout
		the job is held; what it is when it is released the table of changes shows, whose jobs are all held first: --hold
	END
}

# options: each option of the programs once, "SHORT LONG" or "- LONG"
options() {
	local program
	for program in sbatch srun salloc; do
		"$program" --help 2>&1
		"$program" --usage 2>&1
	done | options_in
}

# options_in: the options in a text of --help and --usage on stdin
options_in() {
	awk '
		match($0, /^  (-[A-Za-z], )?  *--[a-z][a-z-]*/) || match($0, /^  -[A-Za-z], --[a-z][a-z-]*/) {
			name = $0
			sub(/^ *(-[A-Za-z], *)?/, "", name)
			sub(/[^a-z-].*/, "", name)
			short = match($0, /^  -[A-Za-z],/) ? substr($0, 3, 2) : "-"
			if (!(name in seen) || short != "-")
				seen[name] = short
			next
		}
		{
			rest = $0
			while (match(rest, /\[--[a-z][a-z-]*/)) {
				name = substr(rest, RSTART + 1, RLENGTH - 1)
				if (!(name in seen))
					seen[name] = "-"
				rest = substr(rest, RSTART + RLENGTH)
			}
		}
		END { for (name in seen) print seen[name], name }
	' | LC_ALL=C sort
}

# words_of_rows: the options in rows of tables, and in submissions outside them, one a line
words_of_rows() {
	sed -n -E '/^[[:space:]]*(waits|refused|gang|as-free)[[:space:]]|submit(_refused)? .*-p (train|"\$list")/p' \
		"$BATS_TEST_DIRNAME"/core_promise.bats "$BATS_TEST_DIRNAME/core_promise_options.bats" |
		grep -oE '(^|[[:space:]"])--?[A-Za-z][A-Za-z-]*' | tr -d '[:blank:]"' | LC_ALL=C sort -u
}

# without_row: options on stdin, as options writes them, that have neither a row nor a reason
without_row() {
	local short long rows reasons
	rows=$(words_of_rows)
	reasons=$(reasons)
	while read -r short long; do
		grep -qxe "$long" <<<"$rows" && continue
		[[ $short == - ]] || ! grep -qe "^${short}[0-9]*\$" <<<"$rows" || continue
		grep -qE -e "[: ]$long( |\$)" <<<"$reasons" && continue
		printf '%s\n' "$long"
	done
}

@test "each option of sbatch, srun and salloc has a row in a table, or a reason why it has none" {
	options >"$BATS_TEST_TMPDIR/options"
	(($(wc -l <"$BATS_TEST_TMPDIR/options") > 100)) || fail "only these: $(<"$BATS_TEST_TMPDIR/options")"
	for known in '-N --nodes' '-n --ntasks' '- --gpus-per-node' '-- --mem-bind'; do
		grep -qx -e "${known/#-- /- }" "$BATS_TEST_TMPDIR/options" ||
			fail "not found: $known in $(<"$BATS_TEST_TMPDIR/options")"
	done
	equal "$(without_row <"$BATS_TEST_TMPDIR/options")" '' 'options without a row or a reason'
	# one that a release adds is found
	equal "$(printf '  -Y, --yoke=n   what\n      --yonder\n [--yet-another=x] ' | options_in | without_row | paste -sd' ')" \
		'--yet-another --yonder --yoke' 'options that nobody knows'
}

@test "options that this Slurm may refuse by itself, or that only some sites use" {
	tempt
	printf 'any\n' >"$BATS_TEST_TMPDIR/bb"
	judge_rows <<-'END'
		gang    sbatch -N2 --gang --gang-segment=leaf:2
		gang    sbatch -N2 --gang --gang-segment=leaf:1
		refused sbatch -N2 --gang --gang-domains=2
		refused sbatch -N2 --gang-domains=2
		as-free sbatch -N2 -A any
		as-free sbatch -N2 -q any
		as-free srun -N2 -q any
		as-free salloc -N2 -q any
		as-free sbatch -N2 --bb=any
		as-free srun -N2 --bb=any
		as-free sbatch -N2 --bbf="$BATS_TEST_TMPDIR/bb"
		as-free sbatch -N2 -M other
		as-free srun -N2 -M other
		as-free salloc -N2 -M other
		as-free sbatch -N2 --mcs-label=any
		as-free sbatch -N2 --exclusive=mcs
		as-free sbatch -N2 --power=level
		as-free sbatch -N2 --priority=1000
		as-free sbatch -N2 --uid=root
		as-free sbatch -N2 --gid=root
		as-free sbatch -N2 --no-requeue
		as-free sbatch -N2 --comment=any
		as-free sbatch -N2 --wckey=any
		as-free sbatch -N2 --cpu-freq=low
		as-free sbatch --gpus-per-socket=1 --sockets-per-node=1 -N2
		as-free sbatch --gpus-per-node=3 --gpus=6
		as-free sbatch --gpus-per-task=3 -n2
		as-free sbatch -N2 --gpus-per-node=1 --gpu-bind=none
		as-free sbatch -N2 --gpus-per-node=1 --gpu-freq=low
		as-free sbatch -N2 --gpus-per-node=1 --tres-bind=gres/gpu:none
		as-free srun -N2 --resv-ports
		as-free sbatch -N2 --stepmgr
		as-free sbatch -N2 --kill-on-invalid-dep=yes
		as-free sbatch -N2 --extra=any
	END
}

@test "a partition with a QOS keeps its promise, as far as a Slurm without a database has one" {
	! slurm_at_least 24.05 || skip 'slurmctld does not start: without a database no QOS is known'
	put_config <<<'partitions: {quality: {gang: always, allow_off: false}}'
	tempt
	job=$(submit -p quality -N2)
	await 20 shows '; waits: 2 nodes on one spine' note "$job"
	holds "$(submit_refused -p quality -N2 --gang=off)" '--gang=off is not allowed there'
	scancel "$job"
	job=$(submit -p quality -N2 -q any)
	await 20 shows '; waits: 2 nodes on one spine' note "$job"
	release n3
	await_job "$job" RUNNING
	on_one_spine "$job"
	scancel "$job"
	promise | put_config
}
