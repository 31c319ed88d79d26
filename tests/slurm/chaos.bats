#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# chaos.bats - daemons, nodes, wires, disks and gates fail at random under hostile users (chaos.py --help)
#
# ONESPINE_CHAOS_SECONDS: how long; without it tools/test leaves it out (make soak runs an hour, tests/soak --self-test
# two minutes). ONESPINE_SEED: the same schedule again. ONESPINE_CHAOS_LEFTOVER: seconds for jobs that wait at the end.
# ONESPINE_CHAOS_KEEP: a folder for logs and records.

load helpers

chaos() {
	local fakes=${ONESPINE_FAKES:-}
	[[ -n $fakes ]] || fakes=$(
		# shellcheck source=/dev/null
		. "$ONESPINE_TOOLS/lib/common.sh" && . "$ONESPINE_TOOLS/lib/build.sh" && build_folder "$(installed_release)"
	)/tests/fake/.libs
	python3 "$BATS_TEST_DIRNAME/chaos.py" --fakes "$fakes" --prefix "$ONESPINE_PREFIX" "$@" 3>&-
}

@test "a seed is a schedule: the same again, and another for another" {
	chaos --show --seed 5 --seconds 600 >"$BATS_TEST_TMPDIR/one"
	chaos --show --seed 5 --seconds 600 >"$BATS_TEST_TMPDIR/two"
	chaos --show --seed 6 --seconds 600 >"$BATS_TEST_TMPDIR/other"
	cmp "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/two"
	if cmp -s "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/other"; then
		fail 'another seed gives the same'
	fi
	for what in ctld-kill slurmd-stop node-dies wire-cut pair-cut log-full state-full gate-kill bad flood forge tmp-full ctld-slow srun-kill \
		stepd-kill stepd-stop state-slow spool-slow log-slow; do
		grep -q " $what " "$BATS_TEST_TMPDIR/one"
	done
}

@test "the judge waits while jobs end, and no longer" {
	cat >"$BATS_TEST_TMPDIR/judge.py" <<-'END'
		import sys
		sys.dont_write_bytecode = True
		import chaos_act, chaos_judge

		class Cluster:
		    """Of its jobs one ends every `ends_s`, by a clock of its own; its first answer is none."""
		    def __init__(self, jobs, ends_s):
		        self.record, self.clock, self.jobs, self.ends_s = chaos_act.Record(), 0, jobs, ends_s
		        self.finding, self.first = self.record.findings.append, True
		    def sleep(self, seconds):
		        self.clock += seconds
		    def run(self, *command):
		        if command[:2] != ("squeue", "-h") or "-t" in command:
		            return 0, ""
		        if self.first:
		            self.first = False
		            return 1, "slurm_load_jobs error: Unable to contact slurm controller"
		        return 0, "".join(f"{job}\n" for job in range(int(self.clock / self.ends_s), self.jobs))

		def findings(cluster):
		    judge = chaos_judge.Judge(cluster)
		    chaos_judge.time.time, chaos_judge.time.sleep = lambda: cluster.clock, cluster.sleep
		    judge.await_quiet(300)
		    return len(cluster.record.findings)

		assert findings(slow := Cluster(50, 250)) == 0 and slow.clock >= 12500, slow.clock
		assert findings(stuck := Cluster(50, 1000)) == 1 and 300 <= stuck.clock < 320, stuck.clock
	END
	PYTHONPATH=$BATS_TEST_DIRNAME python3 "$BATS_TEST_TMPDIR/judge.py"
}

@test "each rule of the judge finds what is wrong, and nothing that is right" {
	run python3 "$BATS_TEST_DIRNAME/chaos_judge_test.py"
	equal "$status" 0
	matches "$output" 'rules hold'
}

@test "chaos: no good node drained, no bad one in a gang, no job lost or held, nothing left, no daemon down by itself" {
	[[ -n ${ONESPINE_CHAOS_SECONDS:-} ]] || skip 'longer than tools/test may take: make soak runs it'
	seed=${ONESPINE_SEED:-$((SRANDOM % 32768))}
	[[ ${ONESPINE_TEST_SLURM:-22.05} == 22.05 ]] || skip 'chaos needs the Slurm of this machine'
	chaos --seed "$seed" --seconds "$ONESPINE_CHAOS_SECONDS" --leftover-seconds "${ONESPINE_CHAOS_LEFTOVER:-0}" --keep "${ONESPINE_CHAOS_KEEP:-}"
}
