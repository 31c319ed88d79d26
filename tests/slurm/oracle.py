#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""oracle - random states of a real Slurm, and its own answer for each domain alone, held against a gang's

Runs on the cluster that commands talk to (tests/slurm/core_oracle.bats starts it: plain partitions without
a policy, an Epilog that waits for a node's gate file). Each state has a number of its own, from which
everything in it follows:

    --seed N        the first state (default: by the clock)
    --states N      how many (default: as many as --seconds leave time for)
    --seconds N     stops after so long (default 120)
    --gates DIR     the folder of the Epilog's gate files
    --spines TEXT   the domains: "n1,n2,n3,n4 n5,n6,n7,n8"

For each state the job is asked for in each domain alone (everything else excluded, no gang) and as a gang:

  start   --test-only, with no other job pending: the gang's start is the earliest of the domains' (a minute,
          bf_resolution, is no difference), on nodes of one domain, as many as asked for
  real    submitted: it starts now where one domain alone would, else its plan after a whole cycle of backfill
          starts when the job confined to a domain would by its plan, and has exactly its nodes
          (in some states a larger job waits in front of it)
  others  jobs that wait behind it, in the state built twice: none waits longer than behind the same job confined
          to the gang's domain; where both got the same nodes, SchedNodeList of those that wait is the same too
          (the nodes of one that runs depend on which scheduler came first; so do those of the confined job, so
          where they are not the gang's it is looked at up to four times, and one as late as ours is enough)

Licenses (seats of the license "tool") and counted features ("[a*1&b*1]") are in neither --test-only's answer nor
always in backfill's plan. A job that asks for them is compared by real starts alone: it starts now where one domain
alone would, and behind the gang where it would behind the confined job.

Prints a line for each difference, with the seed, and a count at the end. Fails when there was a difference.
"""
import argparse
import datetime
import os
import random
import re
import subprocess
import sys
import time

RESOLUTION_S = 60  # bf_resolution
NEVER = float("inf")
SETTLE_S = 30
LOOKS = 4
BUILDS = 4


def run(*command):
    """Runs a command; its status and what it wrote, both streams."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def ask(*command):
    return run(*command)[1].strip()


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
        time.sleep(0.1)
    return True


def seconds_of(stamp):
    if not stamp.startswith("20"):
        return NEVER
    return datetime.datetime.strptime(stamp, "%Y-%m-%dT%H:%M:%S").timestamp()


def show(job):
    return dict(re.findall(r"(\w+)=(\S*)", ask("scontrol", "show", "job", str(job))))


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
        run("scontrol", "update", f"JobId={job}", "Comment=look again")
        return cycles() >= wanted or show(job).get("JobState") != "PENDING"

    await_true(SETTLE_S, ended)


class Cluster:
    """The nodes, and how to get back to none of them in use."""

    def __init__(self, spines, gates):
        self.spines = [set(spine.split(",")) for spine in spines.split()]
        self.nodes = sorted(set().union(*self.spines), key=lambda name: int(name.lstrip("n")))
        self.gates = gates

    def spine_of(self, nodes):
        """The number of the spine that holds all of them, or None."""
        for index, spine in enumerate(self.spines):
            if nodes and nodes <= spine:
                return index
        return None

    def outside(self, spine):
        return ",".join(sorted(set(self.nodes) - self.spines[spine]))

    def clear(self):
        for node in os.listdir(self.gates):
            os.unlink(os.path.join(self.gates, node))
        run("scancel", "--state=PENDING", "--user=root")
        run("scancel", "--user=root")
        for name in re.findall(r"ReservationName=(\S+)", ask("scontrol", "-o", "show", "reservation")):
            run("scontrol", "delete", f"ReservationName={name}")
        held = ask("sinfo", "-h", "-N", "-t", "drain,down,fail", "-o", "%N").split()
        if held:
            run("scontrol", "update", "NodeName=" + ",".join(set(held)), "State=RESUME")
        if not await_true(60, self.is_clear):
            sys.exit("oracle: the cluster does not become idle: " + ask("squeue") + ask("sinfo", "-N"))

    @staticmethod
    def is_clear():
        return not ask("squeue", "-h", "-a", "-o", "%i") and set(
            ask("sinfo", "-h", "-N", "-o", "%t").split()) == {"idle"}


# --- a state, and the job asked for in it ---------------------------------------------------------------


def some_request(dice, biggest):
    """Options of a job: whole nodes, or parts of them by tasks, GPUs and memory."""
    nodes = dice.randint(1, biggest)
    shape = dice.randint(1, 6)
    if shape <= 3:
        return [f"-N{nodes}", "--exclusive"], nodes
    if shape == 4:
        return [f"-N{nodes}", f"--ntasks-per-node={dice.randint(1, 8)}"], nodes
    if shape == 5:
        return [f"-N{nodes}", f"--gpus-per-node={dice.randint(1, 4)}", "--ntasks-per-node=1"], nodes
    return [f"-N{nodes}", f"--mem={dice.choice([1000, 2000, 4000, 7000])}", "--ntasks-per-node=1"], nodes


class State:
    """What runs, ends, is suspended, drained and reserved: all from one number."""

    def __init__(self, seed, cluster):
        self.seed = seed
        self.cluster = cluster
        dice = random.Random(seed)
        self.weights = dice.sample(range(1, 4), 3) if dice.random() < 0.3 else None
        self.drained = dice.sample(cluster.nodes, dice.choice([0, 0, 1, 2]))
        self.jobs = [self.some_job(dice) for _ in range(dice.randint(3, 16))]
        self.running = []
        self.made = None  # what the first build left: the nodes of each job, by its place in the list
        self.alike = True  # the last build left the same
        self.reservation = None
        if dice.random() < 0.3:
            self.reservation = (dice.choice([0, 10, 30]), dice.choice([15, 40]),
                                dice.sample(cluster.nodes, dice.randint(1, 4)))
        biggest = len(cluster.spines[0])
        self.request, self.size = some_request(dice, biggest)
        self.partition = dice.choice(["main", "main", "low", "few"])
        self.request += [f"--partition={self.partition}", f"--time={dice.choice([5, 15, 30, 60])}"]
        if dice.random() < 0.15:
            self.request.append(f"--constraint={dice.choice('ab')}")
        self.front = [f"-N{dice.randint(2, 10)}", "--exclusive", "--time=30", "--partition=main",
                      "--priority=5000"] if dice.random() < 0.4 else []
        self.others = [some_request(dice, 2)[0] + [f"--time={dice.choice([5, 20, 60])}"]
                       for _ in range(dice.randint(1, 3))] if dice.random() < 0.35 else []
        self.add_shared_things(random.Random(f"{seed}: licenses and counted features"))

    def add_shared_things(self, dice):
        """What is not of one node alone: licenses, and features by their count."""
        for request in [job[0] for job in self.jobs] + self.others:
            if ":" in request:
                continue
            if dice.random() < 0.15:
                request.append("--licenses=tool:1")
            if dice.random() < 0.12:
                request[:] = [f"-N{dice.randint(2, 3)}"] + [option for option in request if option[:2] != "-N"]
                request.append(dice.choice(["--constraint=[a*1&b*1]", "--constraint=[a*2&b*1]"]))
        if dice.random() < 0.15:
            self.request.append(f"--licenses=tool:{dice.randint(1, 2)}")
        if dice.random() < 0.1:
            self.ask_for_tasks(dice.randint(2, len(self.cluster.spines[0])))

    def ask_for_tasks(self, nodes):
        """A range whose upper end alone is large enough, which only Slurm works out: a task a node has room for."""
        kept = [option for option in self.request if option.startswith(("--partition", "--time", "--constraint"))]
        self.request = [f"-N{nodes - 1}-{nodes}", f"-n{nodes}", "--gpus-per-task=3"] + kept
        self.size = nodes

    @staticmethod
    def some_job(dice):
        request = some_request(dice, 3)[0]
        fate = dice.choice(["runs"] * 6 + ["suspended", "completing"])
        if dice.random() < 0.1:
            request += [":"] + some_request(dice, 1)[0]
            fate = "runs"
        partition = dice.choice(["main", "main", "low", "few"])
        minutes = dice.choice([5, 10, 20, 30, 45, 60, 90])
        return request, partition, minutes, fate

    def build(self):
        """Makes it so; the same every time: what ends in as many minutes ends in the same second, and what the first
        build left is started on the nodes that it had, for which nodes Slurm takes depends on its schedulers' turns."""
        for _ in range(BUILDS):
            made = self.build_once()
            self.made = made if self.made is None else self.made
            self.alike = made == self.made
            if self.alike:
                return

    def build_once(self):
        """Returns the nodes of each job that was started and is still there."""
        self.cluster.clear()
        self.running = []
        started = {}
        for index, spine in enumerate(self.cluster.spines):
            weight = self.weights[index] if self.weights else 1
            run("scontrol", "update", "NodeName=" + ",".join(sorted(spine)), f"Weight={weight}")
        for node in self.drained:
            run("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=oracle")
        for index, (request, partition, minutes, fate) in enumerate(self.jobs):
            if self.made is None:
                started[index] = self.start(request, partition, minutes, fate)
            elif index in self.made:
                started[index] = self.start(request, partition, minutes, fate, self.made[index])
        await_true(SETTLE_S, self.none_leaves)
        made = {index: nodes_of(job) for index, job in started.items() if job and nodes_of(job)}
        self.running = [(job, minutes) for job, minutes in self.running if nodes_of(job)]
        now = int(time.time())
        for job, minutes in self.running:
            end = datetime.datetime.fromtimestamp(now + 60 * minutes)
            run("scontrol", "update", f"JobId={job}", f"EndTime={end:%Y-%m-%dT%H:%M:%S}")
        if self.reservation:
            start, minutes, nodes = self.reservation
            run("scontrol", "create", "reservation", "ReservationName=kept", f"StartTime=now+{start}minutes",
                f"Duration={minutes}", "Users=daemon", "Nodes=" + ",".join(nodes), "Flags=IGNORE_JOBS")
        await_true(SETTLE_S, lambda: "CF" not in ask("squeue", "-h", "-o", "%t"))
        return made

    def none_leaves(self):
        """Whether what a later job of the state has preempted is gone."""
        kept = {job for job, _ in self.running}
        leaving = ask("squeue", "-h", "-t", "COMPLETING", "-o", "%A").split()
        return not kept.intersection(leaving)

    def start(self, request, partition, minutes, fate, nodes=None):
        """Its number, or None; on these nodes, where the state was built before."""
        command = ["salloc", "--no-shell", "--no-bell", "--immediate=20" if nodes else "--immediate=1"]
        if nodes and ":" not in request:
            command.append(f"--nodelist={nodes}")
            request = [option for option in request if not option.startswith("--constraint=[")]
        for option in request:
            command += [":"] if option == ":" else [option]
            if option in (":",):
                command += [f"--partition={partition}", f"--time={minutes}"]
        command[1:1] = [f"--partition={partition}", f"--time={minutes}"]
        status, said = run(*command)
        granted = re.search(r"Granted job allocation (\d+)", said)
        if status or not granted:
            return None
        job = granted.group(1)
        if fate != "completing":
            self.running.append((job, minutes))
        if fate == "suspended":
            run("scontrol", "suspend", job)
        elif fate == "completing":
            for node in expand(show(job).get("NodeList", "")):
                open(os.path.join(self.cluster.gates, node), "w", encoding="ascii").close()
            run("scancel", job)
            await_true(SETTLE_S, lambda: show(job).get("JobState") == "COMPLETING")
        return job


# --- the two answers -------------------------------------------------------------------------------------


def test_only(request, *more):
    """(seconds from now, nodes) by sbatch --test-only; never and no nodes when it is refused."""
    began = time.time()
    said = ask("sbatch", "--test-only", *more, *request, "--wrap=true")
    found = re.search(r"to start at (\S+) using .* on nodes? (\S+) in", said)
    if not found:
        return NEVER, set(), said
    start = seconds_of(found.group(1)) - began
    return (0 if start < 5 else start), expand(found.group(2)), said


class Plan:
    """What became of a job that was submitted: it runs, or when and where it is to."""

    def __init__(self, job, running_limit_s):
        self.job = job
        await_cycle(job)
        self.look(running_limit_s)

    def look(self, running_limit_s):
        began = time.time()
        job = self.job
        if running_limit_s:
            await_true(running_limit_s, lambda: show(job).get("JobState") not in ("PENDING", "CONFIGURING"))
        record = show(job)
        self.state = record.get("JobState", "")
        self.reason = record.get("Reason", "")
        self.runs = self.state in ("RUNNING", "CONFIGURING")
        self.nodes = expand(record.get("NodeList" if self.runs else "SchedNodeList", "").replace("(null)", ""))
        self.start_s = 0 if self.runs else seconds_of(record.get("StartTime", "")) - began
        if not self.runs and not self.nodes:
            self.start_s = NEVER

    def __str__(self):
        names = ",".join(sorted(self.nodes))
        return f"{self.state} {self.reason} in {self.start_s:.0f} s on {names or 'no node'}"


def by_start_alone(request):
    """Whether only its real start says what a job waits for."""
    return any("licenses" in option or "*" in option for option in request)


def submit(request, *more):
    said = ask("sbatch", "--parsable", "--output=/dev/null", *more, *request, "--wrap=sleep 3600")
    return int(said) if said.isdigit() else None


class Question:
    """One state, and everything that is held against each other in it."""

    def __init__(self, state):
        self.state = state
        self.cluster = state.cluster
        self.differences = []

    def words(self, words):
        return f"seed {self.state.seed}: {words}; the job: {' '.join(self.state.request)}"

    def differs(self, words):
        self.differences.append(self.words(words))

    def one_domain(self, nodes, what):
        if self.cluster.spine_of(nodes) is None:
            self.differs(f"{what} is on several domains: {','.join(sorted(nodes))}")
        elif len(nodes) != self.state.size:
            self.differs(f"{what} has {len(nodes)} nodes, not {self.state.size}: {','.join(sorted(nodes))}")

    def by_test_only(self):
        """Holds the starts against each other; returns the domains' own."""
        alone = [test_only(self.state.request, f"--exclude={self.cluster.outside(spine)}")
                 for spine in range(len(self.cluster.spines))]
        best = min(start for start, _, _ in alone)
        start, nodes, said = test_only(self.state.request, "--gang=spine")
        starts = ", ".join(f"{one:.0f}" for one, _, _ in alone)
        if start > best + RESOLUTION_S:
            self.differs(f"--test-only: starts in {start:.0f} s, the domains alone in {starts} s ({said})")
        if nodes:
            self.one_domain(nodes, "--test-only")
        return alone

    def by_plan(self, alone):
        """Submits the gang; returns its plan, or None when it was refused."""
        best = min(start for start, _, _ in alone)
        self.ask_in_front()
        job = submit(self.state.request, "--gang=spine")
        if job is None:
            if best < NEVER:
                self.differs("sbatch refuses it as a gang, and takes it for a domain alone")
            return None
        plan = Plan(job, self.running_limit_s(best))
        if plan.nodes:
            self.one_domain(plan.nodes, "what runs" if plan.runs else "the plan")
        if plan.runs or best == NEVER:
            return plan
        if best == 0 or plan.start_s > best + RESOLUTION_S:
            await_cycle(job, 2)
            plan.look(0)
        if best == 0 or plan.start_s > best + RESOLUTION_S:
            self.hold_against_plans(plan, best)
        return plan

    def ask_in_front(self):
        """A larger job that waits before it, whose plan makes slots in backfill's table."""
        if self.state.front:
            await_cycle(submit(self.state.front))

    def running_limit_s(self, best):
        """How long a job that could start now may take: what it preempts ends first."""
        preempts = self.state.partition != "low" and any(job[1] == "low" for job in self.state.jobs)
        return 0 if best else 10 if preempts else 3

    def hold_against_plans(self, plan, best):
        """--test-only and backfill differ in what they look at: the job is submitted for each domain alone."""
        confined = []
        for spine in range(len(self.cluster.spines)):
            self.state.build()
            self.ask_in_front()
            job = submit(self.state.request, f"--exclude={self.cluster.outside(spine)}")
            confined.append(Plan(job, self.running_limit_s(best)).start_s if job else NEVER)
        if plan.start_s > min(confined) + RESOLUTION_S:
            starts = ", ".join(f"{one:.0f}" for one in confined)
            self.differs(f"submitted: {plan}; confined to one domain each: {starts} s")

    def by_real_start(self):
        """Submitted alone, as a gang and for each domain; returns the gang's plan, or None when it was refused."""
        job = submit(self.state.request, "--gang=spine")
        plan = Plan(job, self.running_limit_s(0)) if job else None
        if plan and plan.runs:
            self.one_domain(plan.nodes, "what runs")
            return plan
        for spine in range(len(self.cluster.spines)):
            self.state.build()
            job = submit(self.state.request, f"--exclude={self.cluster.outside(spine)}")
            confined = Plan(job, self.running_limit_s(0)) if job else None
            if confined and confined.runs:
                self.differs(f"submitted: {plan or 'refused'}; confined to one domain it runs: {confined}")
        return plan

    def by_others(self, plan):
        """The jobs behind the gang against those behind the same job confined to its domain."""
        if not self.state.others or not plan.nodes:
            return
        gang, behind = self.others_behind("--gang=spine")
        spine = self.cluster.spine_of(gang.nodes)
        if spine is None or not self.state.alike:
            return
        for _ in range(LOOKS):
            alone, confined = self.others_behind(f"--exclude={self.cluster.outside(spine)}")
            same = gang.nodes == alone.nodes and abs(gang.start_s - alone.start_s) <= RESOLUTION_S
            if not self.state.alike:
                return
            found = [self.held_behind(" ".join(request), (gang, ours), (alone, stock), same)
                     for request, ours, stock in zip(self.state.others, behind, confined) if ours and stock]
            if not any(found) or same:
                break
        self.differences += [words for words in found if words]

    def held_behind(self, request, ours_behind, stock_behind, same):
        """One job behind the gang against itself behind the confined job, and what is different; `same`: these two have
        the same nodes."""
        (gang, ours), (alone, stock) = ours_behind, stock_behind
        if by_start_alone([request]):
            later, moved = stock.runs and not ours.runs, False
        else:
            later = ours.start_s > stock.start_s + RESOLUTION_S
            planned = not ours.runs and not stock.runs
            moved = (same and planned and abs(ours.start_s - stock.start_s) <= RESOLUTION_S and
                     ours.nodes != stock.nodes)
        if not later and not moved:
            return None
        return self.words(f"behind it ({gang}) '{request}': {ours}; behind the confined job ({alone}): {stock}")

    def others_behind(self, how):
        self.state.build()
        first = submit(self.state.request, how, "--priority=1000")
        await_cycle(first)
        jobs = [submit(request, "--partition=main", f"--priority={500 - index}")
                for index, request in enumerate(self.state.others)]
        plans = [Plan(job, 0) if job else None for job in jobs]
        return Plan(first, 0), plans

    def answer(self):
        self.state.build()
        if by_start_alone(self.state.request):
            plan = self.by_real_start()
            if plan and plan.runs:
                self.by_others(plan)
            return self.differences
        alone = self.by_test_only()
        plan = self.by_plan(alone)
        if plan:
            self.by_others(plan)
        return self.differences


def differs(seed, cluster):
    """Asks in that state; what is different must be so again, in the state built anew, since what a busy machine
    does between two looks is no difference."""
    if not Question(State(seed, cluster)).answer():
        return False
    again = Question(State(seed, cluster)).answer()
    for words in again:
        print(words, flush=True)
    return bool(again)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seed", type=int, default=int(time.time()))
    options.add_argument("--states", type=int, default=0)
    options.add_argument("--seconds", type=float, default=120)
    options.add_argument("--gates", required=True)
    options.add_argument("--spines", required=True)
    given = options.parse_args()
    os.environ.update(LC_ALL="C", SLURM_TIME_FORMAT="standard")
    cluster = Cluster(given.spines, given.gates)
    end = time.time() + given.seconds
    seed, states, bad = given.seed, 0, []
    while (states < given.states) if given.states else (time.time() < end):
        if differs(seed + states, cluster):
            bad.append(seed + states)
        states += 1
    cluster.clear()
    print(f"{states} states from seed {seed} on, {len(bad)} with a difference"
          + (": seeds " + " ".join(map(str, bad)) if bad else ""))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
