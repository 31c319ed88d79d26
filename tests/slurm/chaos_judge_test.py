#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""chaos_judge_test - each rule of chaos_judge.py, with what it must find and what it must not

    chaos_judge_test.py [NAME...]      runs all, or those named; prints what is wrong
"""
import os
import sys
import tempfile
import threading
import time
import datetime

sys.dont_write_bytecode = True  # nothing beside the sources

# pylint: disable=wrong-import-position
import chaos_act
import chaos_judge


class Cluster:
    """Says what it was told to say; slurmctld began 1000 s after the epoch."""

    def __init__(self, folder):
        self.folder, self.out, self.prefix, self.nodes = f"{folder}/c", f"{folder}/o", f"{folder}/p", ["n1", "n2"]
        self.record, self.started, self.said, self.up = chaos_act.Record(), 1000, {}, {}
        self.finding, self.ran, self.comms = self.record.findings.append, [], {}
        for name in (f"{self.folder}/log", f"{self.out}/jobs", f"{self.out}/gates", f"{self.out}/said",
                     f"{self.folder}/nodes/n1{self.prefix}/var/log/onespine", f"{self.prefix}/var/lib/onespine/recheck",
                     f"{self.folder}/nodes/n1/run"):
            os.makedirs(name)
        self.log("")

    def log(self, *lines):
        self.put("c/log/slurmctld.log", "".join(f"{line}\n" for line in lines))

    def put(self, name, text):
        path = f"{os.path.dirname(self.folder)}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())

    def read(self, name):
        with open(f"{self.folder}/{name}", encoding="utf-8", errors="replace") as file:
            return file.read()

    def now(self):
        return 0

    def run(self, *command, **_):
        self.ran.append(command)
        line = " ".join(command)
        return 0, next((text for begin, text in self.said.items() if line.startswith(begin)), "")

    def comm(self, pid):
        return self.comms.get(pid, "")

    def job(self, name="c1", user="games", kind="gang", at_s=100, number="286", **words):
        asked = chaos_act.Submitted(name, user, kind, at_s, number, **words)
        self.record.jobs.append(asked)
        return asked


def ended(state="CANCELLED", **words):
    return {"JobState": state, "JobId": "286", **dict.fromkeys(
        ("Reason", "NodeList", "ExitCode", "Restarts", "comment"), ""), **words}


def stamp(at_s):
    """As slurmctld's log has it."""
    return datetime.datetime.fromtimestamp(1000 + at_s).isoformat(timespec="milliseconds")


def prolog_line(at_s, node="n1"):
    return (f"[{stamp(at_s)}] error: validate_node_specs: Prolog or job env setup failure on node {node}, "
            "draining the node")


# --- the rules: each takes a cluster and its judge, does something, and says how many findings there must be --------


def drained_for_what_was_bad(cluster, judge):
    cluster.record.bad["n1"] = [(10, 50, "ecc")]
    judge.judge_drain("n1", "onespine: gpu3 ecc 12 uncorrectable > 0; reset gpu")
    return 0


def drained_for_another_word(cluster, judge):
    cluster.record.bad["n1"] = [(10, 50, "nvlink")]
    judge.judge_drain("n1", "onespine: gpu3 ecc 12 uncorrectable > 0; reset gpu")
    return 1


def drained_and_healthy(cluster, judge):
    cluster.record.bad["n2"] = [(10, 50, "ecc")]
    judge.judge_drain("n1", "onespine: gpu3 ecc 12 uncorrectable > 0; reset gpu")
    return 1


def drained_by_slurm(_cluster, judge):
    judge.judge_drain("n1", "Not responding")
    return 0


def drained_by_whom(_cluster, judge):
    judge.judge_drain("n1", "reboot")
    return 1


def verdict_lost_with_a_slurmctld(cluster, judge):
    cluster.record.drops = [(5, 9)]
    judge.judge_drain("n1", chaos_judge.LOST)
    return 0


def verdict_lost_without(_cluster, judge):
    judge.judge_drain("n1", chaos_judge.LOST)
    return 1


def drain_of_the_log(cluster, judge):
    cluster.log("update_node: node n2 reason set to: onespine: gpu3 ecc 12 uncorrectable > 0; reset gpu")
    judge.judge_drains_of_log()
    return 1


def drain_of_the_log_that_was_due(cluster, judge):
    cluster.record.bad["n2"] = [(10, 50, "ecc")]
    cluster.log("update_node: node n2 reason set to: onespine: gpu3 ecc 12 uncorrectable > 0; reset gpu")
    judge.judge_drains_of_log()
    return 0


def failed_gate(cluster, judge, fault="ecc", gate_s=70, stopped=((72, 85),), killed=(), **record):
    """A Prolog that failed at 90 s on n1."""
    cluster.put("o/gates/n1", f"{1000 + gate_s} 286 0 {fault}\n")
    cluster.record.gates["n1"] = list(stopped) + [(at, at) for at in killed]
    for name, value in record.items():
        setattr(cluster.record, name, value)
    cluster.log(prolog_line(90))
    judge.judge_drain("n1", "Prolog error")
    judge.judge_failed_gates()


def bad_and_stopped(cluster, judge):
    failed_gate(cluster, judge)
    return 0


def healthy_and_stopped(cluster, judge):
    failed_gate(cluster, judge, fault="-")
    return 1


def bad_and_undisturbed(cluster, judge):
    failed_gate(cluster, judge, stopped=())
    return 1


def bad_and_stopped_long_before(cluster, judge):
    failed_gate(cluster, judge, stopped=((2, 12),))
    return 1


def bad_long_before(cluster, judge):
    failed_gate(cluster, judge, gate_s=12)
    return 1


def another_node_stopped(cluster, judge):
    failed_gate(cluster, judge, stopped=(), gates={"n2": [(72, 85)]})
    return 1


def bad_and_cut_off(cluster, judge):
    failed_gate(cluster, judge, stopped=(), dead={"n1": [(60, 100)]})
    return 0


def bad_and_slurmctld_deaf(cluster, judge):
    failed_gate(cluster, judge, stopped=(), deaf=[(75, 88)])
    return 0


def healthy_and_slurmctld_deaf(cluster, judge):
    failed_gate(cluster, judge, fault="-", stopped=(), deaf=[(75, 88)])
    return 1


def healthy_and_killed_once(cluster, judge):
    failed_gate(cluster, judge, fault="-", stopped=(), killed=(75,))
    return 1


def healthy_and_killed_twice(cluster, judge):
    failed_gate(cluster, judge, fault="-", stopped=(), killed=(75, 80))
    return 0


def gate_failed_and_the_log_is_silent(_cluster, judge):
    judge.judge_drain("n1", "Prolog error")
    judge.judge_failed_gates()
    return 1


def epilog_failed(cluster, judge):
    cluster.log(f"[{stamp(90)}] error: _slurm_rpc_epilog_complete: epilog error JobId=7 Node=n1 Err=Job epilog failed")
    judge.judge_failed_gates()
    return 1


def job_unknown(cluster, judge):
    judge.judge_job(cluster.job())
    return 1


def job_unknown_as_slurmctld_was_killed(cluster, judge):
    cluster.record.drops = [(105, 108)]
    judge.judge_job(cluster.job())
    return 0


def job_that_was_refused(cluster, judge):
    judge.judge_job(cluster.job(number=""))
    return 0


def client(cluster, judge, given_s=(101,), drop=(105, 114), said=286, known=False):
    """An srun asked at 100 s, and did not end when all jobs had; slurmctld gave 286 out, and was killed."""
    cluster.record.drops = [drop]
    cluster.log(*(f"[{stamp(at_s)}] sched: _slurm_rpc_allocate_resources JobId=286 NodeList=(null) usec=643"
                  for at_s in given_s))
    asked = cluster.job(kind="srun", number="", waits=True)
    asked.said = f"srun: job {said} queued and waiting for resources\n" if said else "nothing"
    if known:
        judge.jobs[asked.name] = [ended("COMPLETED")]
    judge.judge_job(asked)


def client_whose_job_was_lost(cluster, judge):
    client(cluster, judge)
    return 0


def client_whose_number_was_given_again(cluster, judge):
    client(cluster, judge, given_s=(101, 120))
    return 0


def client_whose_job_was_there_long_before(cluster, judge):
    client(cluster, judge, drop=(130, 140))
    return 1


def client_whose_job_came_after_the_kill(cluster, judge):
    client(cluster, judge, drop=(80, 90))
    return 1


def client_of_another_number(cluster, judge):
    client(cluster, judge, said=287)
    return 1


def client_that_says_no_number(cluster, judge):
    client(cluster, judge, said=0)
    return 1


def client_whose_number_an_earlier_one_lost(cluster, judge):
    client(cluster, judge, given_s=(97, 130))
    return 1


def client_whose_job_has_ended(cluster, judge):
    client(cluster, judge, known=True)
    return 1


def job_waits(cluster, judge):
    judge.judge_end(cluster.job(), ended("PENDING"))
    return 1


def job_failed(cluster, judge):
    judge.judge_end(cluster.job(), ended("FAILED"))
    return 1


def job_failed_that_may_not_be_requeued(cluster, judge):
    judge.judge_end(cluster.job(kind="final"), ended("NODE_FAIL"))
    return 0


def job_failed_whose_slurmstepd_was_killed(cluster, judge):
    cluster.record.steps = [("286", 120)]
    judge.judge_end(cluster.job(), ended("NODE_FAIL"))
    return 0


def job_that_never_ended_with_its_slurmstepd(cluster, judge):
    cluster.record.steps = [("286", 120)]
    judge.judge_end(cluster.job(), ended("PENDING"))
    return 1


def job_failed_and_anothers_slurmstepd_was_killed(cluster, judge):
    cluster.record.steps = [("287", 120)]
    judge.judge_end(cluster.job(), ended("NODE_FAIL"))
    return 1


def srun_completed_and_its_slurmstepd_was_killed(cluster, judge):
    """Before its script began."""
    cluster.record.steps = [("286", 120)]
    judge.judge_end(cluster.job(kind="srun"), ended("COMPLETED"))
    return 0


def job_completed_and_its_script_never_began(cluster, judge):
    judge.judge_end(cluster.job(), ended("COMPLETED"))
    return 1


def fault_of_the_judge(cluster, judge):
    judge.try_to(judge.judge_end, cluster.job(), {})
    judge.try_to(judge.judge_end, cluster.job(), ended("FAILED"))
    return 2


def job_failed_after_an_unnamed_slurmstepd_was_killed(cluster, judge):
    cluster.record.steps = [("", 90)]
    judge.judge_end(cluster.job(), ended("NODE_FAIL"))
    return 1


def timeout(cluster, judge, lost_s=120, node="n1", gate=""):
    """Of a batch job on n1 that was submitted at 100 s."""
    cluster.put("o/gates/n1", gate)
    cluster.log(f"[{stamp(lost_s)}] agent/is_node_resp: node:{node} RPC:REQUEST_LAUNCH_PROLOG : Communication connection failure")
    judge.judge_end(cluster.job(), ended("TIMEOUT", NodeList="n1", Restarts="1"))


def timeout_as_the_prolog_was_lost(cluster, judge):
    timeout(cluster, judge, gate="1105 286 0 -\n")
    return 0


def timeout_though_a_gate_began(cluster, judge):
    timeout(cluster, judge, gate="1125 286 1 -\n")
    return 1


def timeout_as_anothers_prolog_was_lost(cluster, judge):
    timeout(cluster, judge, node="n2")
    return 1


def timeout_as_an_earlier_prolog_was_lost(cluster, judge):
    timeout(cluster, judge, lost_s=90)
    return 1


def no_order(cluster, judge, node="n1", said_s=80, gate_s=70):
    """A Prolog on n1 failed at 90 s, and a slurmd said that it had no order for one."""
    cluster.put("o/gates/n1", f"{1000 + gate_s} 286 0 -\n")
    cluster.put(f"c/log/slurmd.{node}.log",
                f"[{stamp(said_s)}] error: Waiting for JobId=60 REQUEST_LAUNCH_PROLOG notification failed, giving up after 20 sec\n")
    cluster.log(prolog_line(90))
    judge.judge_failed_gates()


def prolog_failed_without_an_order(cluster, judge):
    no_order(cluster, judge)
    return 0


def prolog_failed_without_an_order_elsewhere(cluster, judge):
    no_order(cluster, judge, node="n2")
    return 1


def prolog_failed_long_after_one_without_an_order(cluster, judge):
    no_order(cluster, judge, said_s=20)
    return 1


def prolog_failed_of_a_gate_that_began_since(cluster, judge):
    no_order(cluster, judge, gate_s=85)
    return 1


def timeout_after_the_end(cluster, judge, drop=(110, 121), job="286"):
    """The script ended at 105 s."""
    cluster.record.drops = [drop]
    cluster.put("o/jobs/c1", f"begin 1100.5 {job} 0 n1\nend 1105.5 {job}\n")
    judge.judge_end(cluster.job(), ended("TIMEOUT", NodeList="n1"))


def timeout_as_the_end_was_lost(cluster, judge):
    timeout_after_the_end(cluster, judge)
    return 0


def timeout_long_after_the_end(cluster, judge):
    timeout_after_the_end(cluster, judge, drop=(130, 141))
    return 1


def timeout_though_the_end_came_after_the_kill(cluster, judge):
    timeout_after_the_end(cluster, judge, drop=(80, 90))
    return 1


def timeout_as_anothers_end_was_lost(cluster, judge):
    timeout_after_the_end(cluster, judge, job="287")
    return 1


def job_cancelled_by_its_user(cluster, judge):
    judge.judge_end(cluster.job(cancelled=True), ended())
    return 0


def job_completed(cluster, judge):
    cluster.put("o/jobs/c1", "begin 1100.5 286 0 n1\nend 1105.5 286\n")
    judge.judge_end(cluster.job(), ended("COMPLETED"))
    return 0


def job_completed_that_never_ran(cluster, judge):
    cluster.put("o/jobs/c1", "begin 1100.5 286 0 n1\n")
    judge.judge_end(cluster.job(), ended("COMPLETED"))
    return 1


def twice(cluster, judge, user="games", first="games", number="286", cancelled_s=150, drop=(104, 107), task="286"):
    """The end of a later job of `user` in the state CANCELLED: c1 of `first` had its number, slurmctld lost it."""
    cluster.record.drops = [drop]
    cluster.job("c1", first, at_s=100, number=number)
    cluster.record.cancels.append(chaos_act.Cancel(user, number, cancelled_s))
    judge.judge_end(cluster.job("c2", user, "array", 111, "286"), ended(JobId=task))


def cancelled_by_a_number_of_his_own(cluster, judge):
    twice(cluster, judge)
    return 0


def cancelled_by_a_number_of_anothers(cluster, judge):
    twice(cluster, judge, first="daemon")
    return 0


def task_cancelled_by_a_number_of_anothers(cluster, judge):
    twice(cluster, judge, first="daemon", number="287", task="287")
    return 0


def other_task_than_the_number(cluster, judge):
    twice(cluster, judge, first="daemon", number="287", task="288")
    return 1


def cancelled_before_it_was_there(cluster, judge):
    twice(cluster, judge, cancelled_s=105)
    return 1


def cancelled_and_slurmctld_had_lost_nothing(cluster, judge):
    twice(cluster, judge, drop=(60, 70))
    return 1


def cancelled_by_another_user(cluster, judge):
    twice(cluster, judge, first="daemon")
    cluster.record.findings.clear()
    cluster.record.cancels = [chaos_act.Cancel("daemon", "286", 150)]
    judge.judge_end(cluster.record.jobs[1], ended())
    return 1


def begin(cluster, judge, fault="-", gate_s=120, gres="gpu:8", node="n1"):
    """c1 begins at 130 s on n1."""
    cluster.job()
    cluster.put(f"o/gates/{node}", f"{1000 + gate_s} 286 0 {fault}\n")
    cluster.put("o/jobs/c1", "begin 1130.5 286 0 n1\n")
    judge.jobs["c1"] = [{"TresPerNode": gres}]
    judge.read_begins()
    judge.judge_bad_nodes()


def began_on_a_good_node(cluster, judge):
    begin(cluster, judge)
    return 0


def began_on_a_bad_node(cluster, judge):
    begin(cluster, judge, fault="ecc")
    return 1


def began_where_no_gate_looked(cluster, judge):
    begin(cluster, judge, node="n2")
    return 1


def began_where_a_gate_looked_for_an_earlier_job(cluster, judge):
    begin(cluster, judge, gate_s=90)
    return 1


def began_with_the_good_half_of_a_bad_node(cluster, judge):
    begin(cluster, judge, fault="ecc", gres="gpu:4")
    return 0


def left(cluster, judge):
    judge.processes = lambda: []
    judge.files = judge.files or judge.node_files()
    cluster.said.setdefault("scontrol -o show reservation", "No reservations in the system")
    judge.judge_left()


def nothing_left(cluster, judge):
    left(cluster, judge)
    return 0


def reservation_left(cluster, judge):
    cluster.said["scontrol -o show reservation"] = "ReservationName=onespine-n1 StartTime=..."
    left(cluster, judge)
    return 1


def rechecks_returns_kept(cluster, judge):
    cluster.put("p/var/lib/onespine/recheck/onespine-20000.returns", "1 n1\n")
    left(cluster, judge)
    return 0


def rechecks_node_left(cluster, judge):
    cluster.put("p/var/lib/onespine/recheck/onespine-20000/n1", "a reason\n")
    left(cluster, judge)
    return 1


def node_named_as_returns(cluster, judge):
    cluster.put("p/var/lib/onespine/recheck/onespine-20000/onespine-20000.returns", "a reason\n")
    left(cluster, judge)
    return 1


def half_written_returns(cluster, judge):
    cluster.put("p/var/lib/onespine/recheck/onespine-20000.returns.new", "1 n1\n")
    left(cluster, judge)
    return 1


def file_kept_on_a_node(cluster, judge):
    judge.before()
    cluster.put("c/nodes/n1/run/onespine/gate.lock", "")
    left(cluster, judge)
    return 0


def file_left_on_a_node(cluster, judge):
    judge.before()
    cluster.put("c/nodes/n1/run/onespine/pass.tmp", "")
    left(cluster, judge)
    return 1


def process_left(cluster, judge):
    judge.processes = lambda: ["7 sleep: sleep 600"]
    judge.wait_s = 0
    judge.before()
    cluster.said["scontrol -o show reservation"] = "No reservations in the system"
    judge.judge_left()
    return 1


def processes_told_apart(cluster, judge):
    """Of this machine's: this process's parent alone is known."""
    parent = str(os.getppid())
    cluster.comms = {parent: "sleep"}
    assert [words.split()[0] for words in judge.processes()] == [parent]
    cluster.comms = {parent: "slurmd"}
    assert not judge.processes()
    return 0


def parent_of_one_that_has_ended(_cluster, _judge):
    """Between a look at /proc and the next: no finding of chaos's own making."""
    assert chaos_act.Actor.parent(str(os.getpid())) == str(os.getppid())
    assert chaos_act.Actor.parent("0") == ""
    return 0


def daemons_are_ended_in_turn(_cluster, _judge):
    """One that starts slowly is not taken for one that ended by itself when the next event ends it."""
    actor, away, met = object.__new__(chaos_act.Actor), [], []
    actor.turns, actor.over = {"slurmctld": threading.Lock()}, threading.Event()
    actor.record, actor.started = chaos_act.Record(), 0
    actor.end = lambda *_: met.append(len(away)) or away.append(1) or True
    actor.begin = lambda _: time.sleep(0.2) or away.clear()
    both = [threading.Thread(target=actor.interrupt, args=("slurmctld", 9, 0)) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert met == [0, 0], met
    return 0


def words_clean(cluster, judge):
    cluster.put(f"c/nodes/n1{cluster.prefix}/var/log/onespine/gate.log", "job 7: PASS a?b\tc\n")
    cluster.log("[x] Name=a\033b of Slurm's own", "[x] onespine: refused user 1: a?b")
    cluster.said["onespine map"] = "n1 games\n"
    judge.judge_words()
    return 0


def escape_in_a_gates_log(cluster, judge):
    cluster.put(f"c/nodes/n1{cluster.prefix}/var/log/onespine/gate.log", "job 7: PASS \033[31m\n")
    judge.judge_words()
    return 1


def c1_in_a_history(cluster, judge):
    cluster.put(f"c/nodes/n1{cluster.prefix}/var/lib/onespine/history", "{} \u009b2J\n")
    judge.judge_words()
    return 1


def escape_in_slurmctlds_log(cluster, judge):
    cluster.log("[x] onespine: refused user 1: a\033b")
    judge.judge_words()
    return 1


def line_forged_in_what_a_command_says(cluster, judge):
    cluster.said["onespine map"] = "n1 a\nslurmctld: error: forged\n"
    judge.judge_words()
    return 1


def held_by_slurm(cluster, judge):
    cluster.said["squeue -h -a -t PENDING"] = "286 launch failed requeued held\n"
    judge.give_back()
    assert ("scontrol", "release", "286") in cluster.ran
    return 0


def waiting(cluster, count):
    for number in range(count):
        cluster.job(f"c{number}", number=str(300 + number))
    cluster.said["squeue -h -a -t PENDING -o %F"] = "".join(f"{300 + number}\n" for number in range(count))


def few_that_wait_are_left(cluster, judge):
    waiting(cluster, chaos_judge.OLDEST_KEPT)
    judge.cancel_waiting()
    assert not any(asked.cancelled for asked in cluster.record.jobs)
    assert not [command for command in cluster.ran if command[0] == "scancel"]
    return 0


def the_youngest_that_wait_are_cancelled(cluster, judge):
    waiting(cluster, chaos_judge.OLDEST_KEPT + 2)
    judge.cancel_waiting()
    assert [asked.job for asked in cluster.record.jobs if asked.cancelled] == ["320", "321"]
    assert ("scancel", "--state=PENDING", "321") in cluster.ran
    for asked in cluster.record.jobs[-2:]:
        judge.judge_end(asked, ended(JobId=asked.job))
    return 0


def cancelled_of_the_oldest(cluster, judge):
    """By nobody: it is lost."""
    waiting(cluster, chaos_judge.OLDEST_KEPT + 2)
    judge.cancel_waiting()
    judge.judge_end(cluster.record.jobs[0], ended(JobId="300"))
    return 1


def held_by_whom(cluster, judge):
    cluster.said["squeue -h -a -t PENDING"] = "286 JobHeldAdmin\n"
    judge.give_back()
    return 1


RULES = [rule for name, rule in list(globals().items())
         if callable(rule) and getattr(rule, "__code__", None) and rule.__code__.co_argcount == 2
         and rule.__code__.co_varnames[1] in ("judge", "_judge") and not rule.__defaults__ and name != "left"]


def main():
    wrong = 0
    chosen = [rule for rule in RULES if not sys.argv[1:] or rule.__name__ in sys.argv[1:]]
    for rule in chosen:
        with tempfile.TemporaryDirectory() as folder:
            cluster = Cluster(folder)
            judge = chaos_judge.Judge(cluster)
            wanted, found = rule(cluster, judge), cluster.record.findings
            if len(found) != wanted:
                wrong += 1
                print(f"{rule.__name__}: {wanted} findings expected, found {found}")
    print(f"{len(chosen) - wrong} of {len(chosen)} rules hold")
    return 1 if wrong or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
