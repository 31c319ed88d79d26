# SPDX-License-Identifier: GPL-2.0-or-later
"""oracle_slurm - what tests/slurm/oracle.py asks of Slurm: its commands, one scontrol that stays, and waits

Most questions go to one scontrol that lives as long as this process: a command of its own costs more than slurmctld's
answer to it.
"""
import datetime
import os
import pty
import re
import subprocess
import time

NEVER = float("inf")
SETTLE_S = 30
LOOK_S = 0.1


def run(*command):
    """Runs a command; its status and what it wrote, both streams."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


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


def nodes_of(job):
    """The nodes that it holds; "" for one that is gone."""
    record = show(job)
    return record.get("NodeList", "") if record.get("JobState") in ("RUNNING", "SUSPENDED", "COMPLETING") else ""


def cycles():
    found = re.findall(r"Total cycles:\s*(\d+)", ask("sdiag"))
    return int(found[-1]) if found else 0


def await_cycle(job, count=1):
    """Cycles of backfill that begin from now on have ended, or the job waits no longer. Backfill sleeps while nothing
    changes, so the job's comment does."""
    wanted = cycles() + count

    def ended():
        control("update", f"JobId={job}", "Comment=look-again")
        return cycles() >= wanted or show(job).get("JobState") != "PENDING"

    await_true(SETTLE_S, ended)
