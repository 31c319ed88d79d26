# SPDX-License-Identifier: GPL-2.0-or-later
"""chaos_judge - what must hold at the end of tests/slurm/chaos.py, whatever came together

What Slurm itself does with jobs whose node or daemon dies is told apart from what Onespine does, and counted.
"""
import datetime
import os
import re
import traceback
import time

ENDED = ("COMPLETED", "CANCELLED", "FAILED", "NODE_FAIL", "TIMEOUT", "BOOT_FAIL", "OUT_OF_MEMORY")
# Why Slurm itself, without a word of ours, takes a node out of use: a daemon or a wire that died, a full disk.
SLURMS_REASONS = ("Not responding", "batch job complete failure", "Kill task failed", "Node unexpectedly rebooted",
                  "Duplicate jobid", "SlurmdSpoolDir is full", "none", "")
# A gate that could neither tell what it found nor end well: each has its line in slurmctld's log, which is judged.
GATES_REASONS = ("Prolog error", "Epilog error", "Job env setup error")
GATE_FAILED = re.compile(r"^\[([^]]+)\] error: .*(?:Prolog or job env setup failure on node|"
                         r"[Ee]pilog error .*Node=) ?(n\d+)", re.M)
PROLOG_LOST = re.compile(r"^\[([^]]+)\] agent/is_node_resp: node:(n\d+) RPC:REQUEST_LAUNCH_PROLOG ", re.M)
# A slurmd that is to begin a script, and was sent no order for its Prolog, fails it after 20 s without one.
NO_ORDER = re.compile(r"^\[([^]]+)\] error: Waiting for JobId=\S+ REQUEST_LAUNCH_PROLOG notification failed", re.M)
QUEUED = re.compile(r"^srun: job (\d+) queued and waiting for resources", re.M)
ALLOCATES = re.compile(r"^\[([^]]+)\] sched: _slurm_rpc_allocate_resources JobId=(\d+) ", re.M)
GATE_S = 60  # before that line: a gate of 12 s that was stopped for 20, and a slurmctld that answered late
# The drain of a node whose reservation a killed slurmctld brought back (tools/command/cmd_recheck.c).
LOST = "onespine: recheck lost what it found"
OLDEST_KEPT = 20  # jobs that wait, when the others are cancelled at the end
DAEMONS = ("slurmctld", "slurmd", "munged", "slurmctld-wlm", "slurmd-wlm")
# What a gate leaves on its node on purpose.
# And recheck: how often each node came back, to know a repeated offender by.
RETURNS = re.compile(r"^onespine-\d+\.returns$")
# What a terminal obeys, and what begins a line that slurmctld never wrote.
OBEYED = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]")
FORGED = re.compile(rb"^slurmctld: error: forged", re.M)
KEPT = re.compile(r"(/var/(log|lib)/onespine(/|$)|/gate\.log|\.faults(\.new)?$|"
                  r"/run/onespine(/(gate\.lock|gpu-starts|pass-\w+|since))?$)")


class Judge:
    """Looks before and after; every broken promise is a finding."""

    def __init__(self, actor):
        self.actor = actor
        self.record = actor.record
        self.files = set()
        self.slurms = {}
        self.jobs = {}
        self.begins = []
        self.failed = set()  # nodes on which a gate did not end well
        self.wait_s = 30  # for processes that end

    def finding(self, words):
        self.actor.finding(words)

    def ask(self, *command):
        return self.actor.run(*command)[1]

    def node_files(self):
        found = set()
        for folder, names, files in os.walk(f"{self.actor.folder}/nodes"):
            found.update(os.path.join(folder, name) for name in names + files)
        return found

    def before(self):
        self.files = self.node_files()

    def slurms_own(self, what):
        self.slurms[what] = self.slurms.get(what, 0) + 1

    # --- until all is quiet ---------------------------------------------------------------------------

    def out_of_use(self):
        """{node: reason} of what is drained, down or failing."""
        lines = self.ask("sinfo", "-h", "-N", "-t", "drain,down,fail", "-o", "%N %E").splitlines()
        return dict(line.strip().partition(" ")[::2] for line in lines if line[:1] == "n")

    def await_quiet(self, idle_s, most_s=0):
        """What an administrator does after such an hour: rechecks, resumes, releases; then every job ends. It takes as
        long as it takes; but one of them ends every idle_s. After most_s (0: never) all that wait but the oldest are
        cancelled: whichever can never start is among these."""
        before = self.queued({"unknown"})
        until = time.time() + idle_s
        cancel_at = time.time() + most_s if most_s else 0
        while time.time() < until:
            self.give_back()
            if cancel_at and time.time() >= cancel_at:
                self.cancel_waiting()
                cancel_at = 0
            queued = self.queued(before)
            if not (queued or self.out_of_use() or self.reserved()):
                return
            if before - queued:
                until = time.time() + idle_s
            before = queued
            time.sleep(3)
        self.finding("not quiet, and no job has ended for {} s: jobs {}; nodes {}".format(
            idle_s, " ".join(self.ask("squeue", "-h", "-a", "-o", "%i:%T:%r:%N").split("\n")[:12]), self.out_of_use()))

    def cancel_waiting(self):
        """As its user would: whatever came of it else is judged as before."""
        waits = self.ask("squeue", "-h", "-a", "-t", "PENDING", "-o", "%F").split()
        numbers = sorted({int(job) for job in waits if job.isdigit()})[OLDEST_KEPT:]
        of_number = {asked.job: asked for asked in self.record.jobs if asked.job}  # the last one that had it
        for number in numbers:
            asked = of_number.get(str(number))
            if asked:
                asked.cancelled = True
            self.ask("scancel", "--state=PENDING", str(number))
        if numbers:
            self.slurms["job that still waited at the end, and was cancelled"] = len(numbers)

    def queued(self, before):
        """Each job that has not ended, and each task of an array; as before where slurmctld does not say."""
        status, said = self.actor.run("squeue", "-h", "-a", "-r", "-o", "%i")
        return before if status else set(said.split())

    def give_back(self):
        drained = self.out_of_use()
        for node, reason in drained.items():
            self.judge_drain(node, reason)
        ours = [node for node, reason in drained.items() if reason.startswith("onespine")]
        for nodes in ([ours] if ours else []) + ([[]] if self.reserved() else []):
            said = self.ask("onespine", "recheck", f"--program={self.actor.folder}/check", "--depth=passive", *nodes)
            with open(f"{self.actor.out}/said/recheck", "a", encoding="utf-8") as file:
                file.write(f"{self.actor.now():.0f}: {said}")
        for node, reason in self.out_of_use().items():
            if not reason.startswith("onespine"):
                self.ask("scontrol", "update", f"NodeName={node}", "State=RESUME")
        held = [line.split(" ", 1) for line in self.ask(
            "squeue", "-h", "-a", "-t", "PENDING", "-o", "%i %r").splitlines() if "held" in line.lower()]
        for job, reason in held:
            if "launch failed" not in reason:
                self.finding(f"job {job} is held: {reason}; {self.comment(job)}")
            self.slurms_own(f"job held by Slurm: {reason}")
            self.ask("scontrol", "release", job)

    def reserved(self):
        """What a recheck that was killed has left; the next one takes it over."""
        return "ReservationName" in self.ask("scontrol", "-o", "show", "reservation")

    def comment(self, job):
        found = re.search(r"AdminComment=(.*)", self.ask("scontrol", "show", "job", job))
        return found.group(1) if found else ""

    def judge_drain(self, node, reason):
        """Ours only for what was bad, and with its word; Slurm's for nothing that we did."""
        key = (node, reason)
        if key in self.slurms:
            return
        self.slurms[key] = 0
        if reason == LOST and self.record.drops:
            self.slurms_own("verdict of a recheck lost that slurmctld had not written yet")
        elif reason.startswith("onespine"):
            if not any(word in reason for _, _, word in self.record.bad.get(node, [])):
                self.finding(f"{node} is healthy and drained: {reason}")
        elif reason in GATES_REASONS:
            self.failed.add(node)
        elif reason not in SLURMS_REASONS:
            self.finding(f"{node} is out of use: {reason}")
        else:
            self.slurms_own(f"node out of use: {reason}")

    # --- afterwards -----------------------------------------------------------------------------------

    def after(self):
        self.actor.up = {}  # what ends from now on is stopped
        self.read_jobs()
        self.read_begins()
        self.try_to(self.judge_drains_of_log)
        self.try_to(self.judge_failed_gates)
        for asked in self.record.jobs:
            self.try_to(self.judge_job, asked)
        self.try_to(self.judge_bad_nodes)
        self.try_to(self.judge_words)
        self.try_to(self.judge_left)

    def try_to(self, judge, *what):
        """A fault of the judge's own is a finding, and does not end an hour's judgement."""
        try:
            judge(*what)
        except Exception:  # pylint: disable=broad-exception-caught
            self.finding(f"the judge failed: {traceback.format_exc()}")

    def read_jobs(self):
        for line in self.ask("scontrol", "-o", "show", "job").splitlines():
            found = dict(re.findall(r"(\w+)=(\S*)", line))
            found["comment"] = (re.findall(r"AdminComment=(.*?) [A-Z]\w+=", line) or [""])[0]
            if "JobId" in found:
                self.jobs.setdefault(found.get("JobName"), []).append(found)

    def read_begins(self):
        """(time, job, restart, nodes, name) of each start of a script."""
        for name in os.listdir(f"{self.actor.out}/jobs"):
            with open(f"{self.actor.out}/jobs/{name}", encoding="utf-8", errors="replace") as file:
                for line in file:
                    words = line.split()
                    if words[:1] == ["begin"] and len(words) == 5:
                        self.begins.append((float(words[1]), words[2], int(words[3]), words[4], name))

    def judge_drains_of_log(self):
        """Those that came back since: each drain stands in slurmctld's log."""
        for node, reason in re.findall(r"update_node: node (\S+) reason set to: (onespine.*)",
                                       self.actor.read("log/slurmctld.log")):
            self.judge_drain(node, reason)

    def judge_failed_gates(self):
        """A gate fails only on a bad node whose news it could not tell, or where it was killed twice."""
        lines = GATE_FAILED.findall(self.actor.read("log/slurmctld.log"))
        for when, node in lines:
            at_s = datetime.datetime.fromisoformat(when).timestamp() - self.actor.started
            if self.had_no_order(node, at_s):
                self.slurms_own("Prolog failed without a gate: its slurmd was to begin a script that no order had come for")
            elif self.gate_may_fail(node, at_s):
                self.slurms_own("Prolog failed of a bad node that could not report it, or of a gate killed twice")
            else:
                self.finding(f"{node}: its Prolog or Epilog failed at {at_s:.0f} s")
        for node in self.failed - {node for _, node in lines}:
            self.finding(f"{node}: its Prolog or Epilog failed, of which slurmctld's log says nothing")

    def had_no_order(self, node, at_s):
        """Whether that slurmd said so in the minute before, and no gate began there since."""
        try:
            said = NO_ORDER.findall(self.actor.read(f"log/slurmd.{node}.log"))
        except OSError:
            return False
        times = [datetime.datetime.fromisoformat(when).timestamp() - self.actor.started for when in said]
        last = max((one for one in times if at_s - GATE_S <= one <= at_s), default=None)
        return last is not None and not any(last <= at - self.actor.started <= at_s
                                            for met in self.gates_of(node).values() for at, _ in met)

    def gate_may_fail(self, node, at_s):
        """Whether that gate, of the minute before, was killed twice, or met a bad node while it could not report it."""
        def meet(times):
            return [begin for begin, end in times if begin <= at_s and end >= at_s - GATE_S]

        bad = any(fault != "-" and at_s - GATE_S <= at - self.actor.started <= at_s
                  for met in self.gates_of(node).values() for at, fault in met)
        gates = meet(self.record.gates.get(node, []))
        return len(gates) > 1 or bool(bad and (gates or meet(self.record.dead.get(node, [])) or meet(self.record.deaf)))

    def judge_job(self, asked):
        found = self.jobs.get(asked.name, [])
        if asked.waits:
            self.judge_client(asked, found)
        if not found:
            if not asked.job:
                return
            if any(begin - 12 < asked.at_s < end for begin, end in self.record.drops):
                self.slurms_own("job lost that slurmctld had not written yet when it was killed or its disk was full")
                return
            self.finding(f"job {asked.name} ({asked.job}) is not known any more")
        for job in found:
            self.judge_end(asked, job)

    def judge_client(self, asked, found):
        """An srun asks nobody whether its job is still there: where slurmctld has lost it, it waits for ever."""
        if not found and self.client_was_lost(asked):
            self.slurms_own("srun that waits for a job that slurmctld had not written yet when it was killed")
        else:
            self.finding(f"srun never ended: {asked.name}, asked at {asked.at_s:.0f} s; it said {asked.said!r}; "
                         f"{' '.join(job['JobId'] + ' ' + job['JobState'] for job in found) or 'no job of its name'}")

    def client_was_lost(self, asked):
        """slurmctld gave the number that srun says, to it first since it asked, and lost it before it was written."""
        number = QUEUED.search(asked.said)
        given = [datetime.datetime.fromisoformat(when).timestamp() - self.actor.started
                 for when, job in ALLOCATES.findall(self.actor.read("log/slurmctld.log"))
                 if number and job == number.group(1)]
        first = min((at_s for at_s in given if at_s >= asked.at_s), default=None)
        return first is not None and any(begin - 12 < first < end for begin, end in self.record.drops)

    def judge_end(self, asked, job):
        state = job["JobState"]
        words = f"job {job['JobId']} ({asked.name}, {asked.kind}): {state} {job['Reason']} {job['NodeList']} " \
                f"ExitCode={job['ExitCode']} Restarts={job['Restarts']} {job['comment']}"
        if state not in ENDED:
            self.finding(f"has not ended: {words}")
        elif self.lost_a_step(asked, job) and not (state == "COMPLETED" and self.has_run(asked.name, job["JobId"])):
            self.slurms_own(f"job whose slurmstepd was killed: {state} {job['Reason']}")
        elif state == "COMPLETED":
            if asked.kind != "srun" and not self.has_run(asked.name, job["JobId"]):
                self.finding(f"completed, and its script never ran to its end: {words}")
        elif state == "CANCELLED" and not asked.cancelled and self.cancelled_as_another(asked, job):
            self.slurms_own("job cancelled by the number of an earlier one that a killed slurmctld had lost")
        elif asked.cancelled or (asked.kind in ("srun", "final") and "cannot be requeued: ended" in job["comment"]):
            return
        elif asked.kind in ("srun", "final"):
            self.slurms_own(f"job without requeue: {state} {job['Reason']}")
        elif state == "TIMEOUT" and self.prolog_was_lost(asked, job):
            self.slurms_own("job that waited for its time limit: its slurmd was away when slurmctld told it to begin")
        elif state == "TIMEOUT" and self.end_was_lost(asked, job):
            self.slurms_own("job kept until its time limit: slurmctld was killed before it had written its end")
        else:
            self.finding(f"lost: {words}")

    def end_was_lost(self, asked, job):
        """Its script ran to its end, and slurmctld lost what it had not written yet soon after."""
        try:
            with open(f"{self.actor.out}/jobs/{asked.name}", encoding="utf-8", errors="replace") as file:
                ends = re.findall(rf"^end (\S+) {job['JobId']}$", file.read(), re.M)
        except OSError:
            return False
        return any(begin - 12 < float(end) - self.actor.started < back
                   for end in ends for begin, back in self.record.drops)

    def prolog_was_lost(self, asked, job):
        """No gate began for this start, and slurmctld's log says that the order for one reached no slurmd of the job: it is
        not sent again."""
        nodes, restart = expand(job["NodeList"]), int(job["Restarts"] or 0)
        if any((job["JobId"], restart) in self.gates_of(node) for node in nodes):
            return False
        return any(node in nodes and datetime.datetime.fromisoformat(when).timestamp() - self.actor.started > asked.at_s
                   for when, node in PROLOG_LOST.findall(self.actor.read("log/slurmctld.log")))

    def lost_a_step(self, asked, job):
        """A slurmstepd of this job was killed; one that told no number was of any job that there was."""
        return any(number == job["JobId"] or (not number and asked.at_s < at_s) for number, at_s in self.record.steps)

    def cancelled_as_another(self, asked, job):
        """A slurmctld that was killed before it saved gives a number out again: scancel then means the later job, or a
        task of it, even where its user meant another's, which he may not end."""
        numbers = {asked.job, job["JobId"]} - {""}
        return any(cancel.user == asked.user and cancel.job in numbers and self.given_twice(cancel, asked)
                   for cancel in self.record.cancels)

    def given_twice(self, cancel, asked):
        return any(other.job == cancel.job and other.name != asked.name and other.at_s < asked.at_s < cancel.at_s
                   and any(begin - 12 < other.at_s < end and begin < asked.at_s for begin, end in self.record.drops)
                   for other in self.record.jobs)

    def has_run(self, name, job):
        try:
            with open(f"{self.actor.out}/jobs/{name}", encoding="utf-8", errors="replace") as file:
                return re.search(rf"^end \S+ {job}$", file.read(), re.M)
        except FileNotFoundError:  # its script has not begun
            return None

    def gates_of(self, node):
        """{(job, restart): [(time, fault), ...]} of the gates that began there."""
        found = {}
        try:
            with open(f"{self.actor.out}/gates/{node}", encoding="ascii", errors="replace") as file:
                for line in file:
                    words = line.split()
                    if len(words) == 4:
                        found.setdefault((words[1], int(words[2])), []).append((float(words[0]), words[3]))
        except OSError:
            pass
        return found

    def judge_bad_nodes(self):
        """A script began only where a gate looked at each node of it, and met nothing bad."""
        gates = {node: self.gates_of(node) for node in self.actor.nodes}
        submitted = {asked.name: asked.at_s + self.actor.started for asked in self.record.jobs}
        for begun, job, restart, nodes, name in self.begins:
            gpus = next((one.get("TresPerNode", "") for one in self.jobs.get(name, [])), "")
            for node in expand(nodes):
                # a number may have been another job's before, and be another's since
                met = [fault for at, fault in gates[node].get((job, restart), [])
                       if submitted.get(name, 0) <= at <= begun]
                if not met:
                    self.finding(f"job {job} ({name}, restart {restart}) began on {node}, which no gate looked at")
                elif met[-1] != "-" and not gpus.endswith(":4"):
                    self.finding(f"job {job} ({name}, restart {restart}) began on {node}, which was bad: {met[-1]}")

    def judge_words(self):
        """What we wrote of users' words is clean, wherever somebody reads it."""
        for node in self.actor.nodes:
            for at, _, files in os.walk(f"{self.actor.folder}/nodes/{node}{self.actor.prefix}/var"):
                for name in files:
                    self.judge_text(os.path.join(at, name))
        ours = b"\n".join(line for line in self.bytes_of(f"{self.actor.folder}/log/slurmctld.log").split(b"\n")
                          if b"onespine" in line)
        self.judge_said("slurmctld's log", ours)
        for command in (["map"], ["history"], ["audit"], ["fit", "-N2"], ["why", "1"]):
            self.judge_said(f"onespine {command[0]}", self.ask("onespine", *command).encode("utf-8", "replace"))

    @staticmethod
    def bytes_of(path):
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError:
            return b""

    def judge_text(self, path):
        self.judge_said(path, self.bytes_of(path))

    def judge_said(self, what, text):
        for found in (OBEYED.search(text), FORGED.search(text)):
            if found:
                near = text[max(0, found.start() - 60):found.end() + 60]
                self.finding(f"{what} has a user's words as they came: {near}")

    def judge_left(self):
        reserved = self.ask("scontrol", "-o", "show", "reservation")
        if "ReservationName" in reserved:
            self.finding(f"a reservation is left: {reserved.strip()}")
        folder = f"{self.actor.prefix}/var/lib/onespine/recheck"
        left = [os.path.join(at, name) for at, _, files in os.walk(folder) for name in files
                if at != folder or not RETURNS.match(name)]
        if left:
            self.finding(f"recheck left {left}")
        files = sorted(path for path in self.node_files() - self.files if not KEPT.search(path))
        if files:
            self.finding(f"{len(files)} files left on nodes: {' '.join(files[:5])}")
        until = time.time() + self.wait_s
        while time.time() < until and self.processes():
            time.sleep(1)
        for words in self.processes():
            self.finding(f"a process is left: {words}")

    def processes(self):
        """What runs in our namespace and is neither a daemon nor ourselves."""
        found = []
        for pid in os.listdir("/proc"):
            if not pid.isdigit() or int(pid) in (1, os.getpid()):
                continue
            comm = self.actor.comm(pid)
            if not comm or comm in DAEMONS:
                continue
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    command = file.read().replace(b"\0", b" ").decode("utf-8", "replace").strip()
            except OSError:
                continue
            if command and comm != "slurmscriptd" and "onespine-cluster: slurmctld ended" not in command:
                found.append(f"{pid} {comm}: {command}")
        return found

    def verdict(self, seed):
        print("chaos: what Slurm itself did, without a word of ours:")
        for what, count in sorted((key, value) for key, value in self.slurms.items() if isinstance(key, str)):
            print(f"  {count:5d} {what}")
        done = " ".join(f"{what}={count}" for what, count in sorted(self.record.counts.items()))
        drained = sum(isinstance(key, tuple) and key[1].startswith("onespine") and key[1] != LOST
                      for key in self.slurms)
        print(f"chaos: {done}")
        for words in self.record.findings:
            print(f"chaos: seed {seed}: {words}")
        print(f"chaos: seed {seed}: {len(self.record.jobs)} submissions, {len(self.begins)} starts, {drained} bad nodes "
              f"drained, {len(self.record.findings)} findings", flush=True)
        return 1 if self.record.findings else 0


def expand(hostlist):
    """n1 and n[1-3,7] as names."""
    names = []
    for inner, plain in re.findall(r"n\[([^\]]+)\]|(n\d+)", hostlist):
        if plain:
            names.append(plain)
        for part in inner.split(",") if inner else []:
            first, _, last = part.partition("-")
            names += [f"n{number}" for number in range(int(first), int(last or first) + 1)]
    return names
