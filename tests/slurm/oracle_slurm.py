# SPDX-License-Identifier: GPL-2.0-or-later
"""oracle_slurm - what tests/slurm/oracle.py asks of Slurm: its commands, one scontrol that stays, and waits

Most questions go to one scontrol that lives as long as this process: a command of its own costs more than slurmctld's
answer to it.
"""
import datetime
import mmap
import os
import pty
import re
import shlex
import subprocess
import sys
import time

NEVER = float("inf")
SETTLE_S = 30
LOOK_S = 0.03
TICK_S = 0.002


class Shell:
    """One shell that stays and runs Slurm's commands, in the cluster's root where that has one: entering it, and a
    process of Python's for each command, cost more than the commands."""

    def __init__(self):
        self.process, self.asked = None, 0

    def start(self):
        in_root = os.path.join(os.environ.get("ONESPINE_CLUSTER", ""), "bin", "in-root")
        words = ([in_root] if os.access(in_root, os.X_OK) else []) + ["bash", "--norc"]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, bufsize=1)

    def __call__(self, *command):
        """Its status and what it wrote, both streams."""
        if self.process is None:
            self.start()
        self.asked += 1
        mark, lines = f"oracle-asked-{self.asked}-times", []
        self.process.stdin.write(f"{shlex.join(command)} </dev/null 2>&1; echo; echo {mark} $?\n")
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise EOFError("the shell has ended")
            if line.startswith(mark):
                return int(line.split()[1]), "".join(lines)[:-1]
            lines.append(line)


run = Shell()


def ask(*command):
    return run(*command)[1].strip()


class Control:
    """scontrol's own prompt. It writes to a terminal, so that each line comes at once; a word that it does not know
    marks the end of an answer."""

    def __init__(self):
        self.process, self.answers, self.asked = None, None, 0

    def start(self):
        ours, theirs = pty.openpty()
        wide = {**os.environ, "TERM": "dumb", "COLUMNS": "4000"}  # it repeats what it reads, which is not to be cut
        self.process = subprocess.Popen(["scontrol", "--oneliner"], stdin=subprocess.PIPE, stdout=theirs, stderr=theirs,
                                        text=True, bufsize=1, env=wide)
        os.close(theirs)
        self.answers = os.fdopen(ours, encoding="utf-8", errors="replace", newline="\n")

    def __call__(self, *words):
        """The lines that it answers."""
        if self.process is None:
            self.start()
        self.asked += 1
        command, mark = " ".join(words).strip(), f"oracle-asks-{self.asked}-times"
        self.process.stdin.write(f"{command}\n{mark}\n")
        lines = []
        while True:
            line = self.answers.readline()
            if not line:
                raise EOFError("scontrol has ended")
            line = line.strip().removeprefix("scontrol: ").strip()  # its prompt stands before what comes first
            if mark in line and "keyword" in line:
                return lines
            if line not in ("", "scontrol:", command, mark):
                lines.append(line)


control = Control()


def records(what, name=""):
    """Of jobs, nodes or reservations, each as what scontrol says of it."""
    return [dict(re.findall(r"(\w+)=(\S*)", line)) for line in control("show", what, str(name)) if "=" in line]


def expand(hostlist):
    """n1 and n[1-3,7] as a set of names; nothing for an empty list."""
    names = set()
    for prefix, inner, plain in re.findall(r"(\w+)\[([^\]]+)\]|(\w+)", hostlist):
        if plain:
            names.add(plain)
        for part in inner.split(",") if inner else []:
            first, _, last = part.partition("-")
            names.update(f"{prefix}{n}" for n in range(int(first), int(last or first) + 1))
    return names


def await_true(limit_s, condition):
    end = time.time() + limit_s
    while not condition():
        if time.time() > end:
            return False
        time.sleep(LOOK_S)
    return True


def seconds_of(stamp):
    if not stamp.startswith("20"):
        return NEVER
    return datetime.datetime.strptime(stamp, "%Y-%m-%dT%H:%M:%S").timestamp()


def show(job):
    """Its record; of an array the first task's, also where that waits with the others."""
    found = records("job", job)
    return next((one for one in found if re.match(r"1(\D|$)", one.get("ArrayTaskId", ""))), (found or [{}])[0])


class Gates:
    """A folder: a file named as a node keeps that node's Epilog waiting, and a batch job makes one when it begins."""

    def __init__(self):
        self.folder = None

    def open(self, folder):
        self.folder = folder

    def of_node(self, node):
        return os.path.join(self.folder, node)

    def of_job(self, job):
        return os.path.join(self.folder, f"job-{job}")

    def has_begun(self, job):
        """Whether the script of this job runs: a signal that comes before is lost, and slurmd sends another only five
        seconds later."""
        return (job.get("BatchFlag") != "1" or job["JobState"] != "RUNNING" or
                os.path.exists(self.of_job(job["JobId"])))

    def remove(self, jobs):
        """The files of jobs, or those of nodes."""
        for name in os.listdir(self.folder):
            if name.startswith("job-") == jobs:
                os.unlink(os.path.join(self.folder, name))


gates = Gates()


class Ticks:
    """Asks slurmctld for cycles of backfill (backfill_now.c, preloaded into it), which else begin once a second."""

    def __init__(self):
        self.numbers = None

    def open(self, path):
        with open(path, "r+b") as file:
            self.numbers = memoryview(mmap.mmap(file.fileno(), 8)).cast("I")

    def cycle(self):
        """One that begins from now on has ended."""
        asked, end = self.numbers[0] + 1, time.time() + SETTLE_S
        self.numbers[0] = asked
        while self.numbers[1] != asked:
            if time.time() > end:
                sys.exit("oracle: slurmctld begins no cycle of backfill when it is asked to")
            time.sleep(TICK_S)


ticks = Ticks()


def cycles():
    """How many there were, whoever began them."""
    found = re.findall(r"Total cycles:\s*(\d+)", ask("sdiag"))
    return int(found[-1]) if found else 0


def await_cycle(job, count=1):
    """Cycles of backfill that begin from now on have ended. Backfill sleeps while nothing changes, so the job's comment
    does."""
    for _ in range(count):
        control("update", f"JobId={job}", "Comment=look-again")
        ticks.cycle()
