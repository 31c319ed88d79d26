#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""oracle - random states of a real Slurm, and its own answer for each domain alone, held against a gang's

Runs on the cluster that commands talk to (tests/slurm/core_oracle.bats starts it: plain partitions without
a policy, an Epilog that waits for a node's gate file). Each state has a number of its own, from which
everything in it follows:

    --seed N        the first state (default: by the clock)
    --states N      how many (default: as many as --seconds leave time for)
    --seconds N     begins no state after so long (default 120 without --states)
                    (both given: what comes first)
    --stride N      every Nth state from the first on (default 1), where several run side by side
    --kind WORD     only states that have it, as the last lines name them ("array", "--gang-segment")
    --first         ends at the first difference
    --held N        in every Nth state (of those whose number N divides) the job is one that a policy holds to one
                    spine (0: in none)
    --aimed N       0: no state is aimed at one rule
    --gates DIR     the folder of the Epilog's gate files
    --ticks FILE    where slurmctld is asked for a cycle of backfill (backfill_now.c)
    --spines TEXT   the domains: "n1,n2,n3,n4 n5,n6,n7,n8"
    --beside TEXT   those of the level nvlink, which is beside the tree (default: there are none)

For each state (oracle_state.py) the job is asked for in each domain alone (everything else excluded, no gang) and as
a gang. Where it is asked for in segments or in several domains, each set of nodes that keeps this is such a domain.

  start   --test-only, with no other job pending: the gang's start is the earliest of the domains', neither later
          nor earlier (a minute, bf_resolution, is no difference), on nodes of one domain, as many as asked for;
          an earlier one is right where Slurm says the same of the job confined to exactly the gang's nodes: for a
          domain it simulates the ends of jobs in windows that double, and answers with the last end of one
  real    submitted: it starts now where one domain alone would, else its plan after a whole cycle of backfill
          starts when the job confined to a domain would by its plan, and has exactly its nodes
          (in some states a larger job waits in front of it; where that has other nodes, or begins to run, in one of
          the two, their plans are not compared, nor where it waits in several partitions and none of them starts it:
          what it holds in one is in its way in the next; the state and what differs are reported)
  others  jobs that wait behind it, in the state built twice: none waits longer than behind the same job confined
          to the gang's domain (not where it waits in several partitions: it holds nodes in each); where both got the
          same nodes, SchedNodeList of those that wait is the same too
          (behind components the same as in one of several cycles of backfill behind the confined ones;
          the nodes of one that runs depend on which scheduler came first; so do those of the confined job, so
          where they are not the gang's it is looked at up to four times, and one as late as ours is enough)

Licenses (seats of the license "tool"), counted features ("[a*1&b*1]") and features of which all nodes have the same
("[a|b]") are in neither --test-only's answer nor always in backfill's plan. A job that asks for them is compared by
real starts alone: it starts now where one domain alone would, and behind the gang where it would behind the confined
job.

A job that a policy holds (`always`, of a size that only Slurm works out: -n, --gpus, -N1-8) is compared in the same
way: in the partition with the policy, and confined to each spine in one without. So are two components of such sizes,
by real starts alone: to --test-only they are two jobs, each asked about by itself (slurm_het_job_will_run()). They
start where they would confined to one spine together, on one spine if they have as many nodes as the policy says.

What is a difference is said in oracle_judge.py, which has a test of its own. A type of GPU mixes with no other in a
gang, so a domain with two types is two domains here.

Prints a line for each difference, with the seed, and counts at the end: of states, of those that are trivial (nothing
runs, or the gang starts at once in every domain), and of what was in them. Fails when there was a difference.
"""
import argparse
import collections
import os
import re
import sys
import time

sys.dont_write_bytecode = True  # nothing beside the sources

# pylint: disable=wrong-import-position
import oracle_judge as judge
from oracle_slurm import NEVER, await_cycle, await_true, ask, expand, gates, records, seconds_of, show, ticks
from oracle_state import HELD, Cluster, State

LOOKS = 4
PREEMPTS_S = 10


# --- the two answers -------------------------------------------------------------------------------------


def test_only(request, *more):
    """(seconds from now, nodes) by sbatch --test-only; never and no nodes when it is refused."""
    began = time.time()
    said = ask("sbatch", "--test-only", *more, *request, "--wrap=true")
    found = re.search(r"to start at (\S+)(?: on cluster \S+)?(?: a)? using .* on nodes? (\S+) in", said)  # "a": 25.11
    if not found:
        if "to start at" in said or "allocation failure" not in said and "sbatch: error:" not in said:
            sys.exit(f"oracle: sbatch --test-only answers what is not understood here: {said}")
        return NEVER, set(), said
    start = seconds_of(found.group(1)) - began
    return (0 if start < 5 else start), expand(found.group(2)), said


class Plan:
    """What became of a job that was submitted: it runs, or when and where it is to."""

    def __init__(self, job, state):
        self.job = job
        await_cycle(job)
        if state.is_left():  # what it preempts goes first
            await_true(PREEMPTS_S, state.none_is_leaving)
            await_cycle(job)
        self.look()

    def look(self):
        """Of components together, which start when the last of them can."""
        began = time.time()
        parts = [one for one in records("job", self.job) if "HetJobOffset" in one] or [show(self.job)]
        self.states = [part.get("JobState", "") for part in parts]
        self.state, self.reason = "+".join(self.states), parts[0].get("Reason", "")
        self.runs = all(state in ("RUNNING", "CONFIGURING") for state in self.states)
        self.nodes, self.start_s = set(), 0
        for part in parts:
            nodes = expand(part.get("NodeList" if self.runs else "SchedNodeList", "").replace("(null)", ""))
            start_s = seconds_of(part.get("StartTime", "")) - began if nodes else NEVER
            self.start_s = 0 if self.runs else max(self.start_s, start_s)
            self.nodes |= nodes

    def __str__(self):
        names = ",".join(sorted(self.nodes))
        return f"{self.state} {self.reason} in {self.start_s:.0f} s on {names or 'no node'}"


def running_tasks(job):
    """The nodes of each task of an array that runs."""
    return [expand(task["NodeList"]) for task in records("job", job)
            if "ArrayTaskId" in task and task.get("JobState") == "RUNNING"]


def by_start_alone(request):
    """Whether only its real start says what a job waits for."""
    return any("licenses" in option or "[" in option for option in request)


def submit(request, *more):
    """The job's number, or None; the options `more` are each component's."""
    script = f": >{gates.of_job('$SLURM_JOB_ID')}; exec sleep 3600"
    options = list(request)
    for at in [at for at, option in enumerate(request) if option == ":"]:
        options[at:at + 1] = [":", *more]
    said = ask("sbatch", "--parsable", "--output=/dev/null", f"--wrap={script}", *more, *options)
    number = said.split("\n")[-1]  # behind what Onespine has to say of it
    return int(number) if number.isdigit() else None


class Question:
    """One state, and everything that is held against each other in it."""

    def __init__(self, state):
        self.state = state
        self.differences = []
        self.at_once = False  # it starts at once in every domain
        self.front = None  # the number of the larger job in front, as it was submitted last
        self.left_out = None  # words for plans that differ, and were not held against each other

    def words(self, words):
        return f"seed {self.state.seed}: {words}; the job: {' '.join(self.state.as_gang() + self.state.request)}"

    def differs(self, found, before="", after=""):
        """Keeps what a rule has found."""
        if found:
            self.differences.append(self.words(f"{before}{found}{after}"))

    def one_domain(self, nodes, what):
        if self.state.held_in:
            self.differs(judge.promise_broken(self.state.cluster.spines, HELD[self.state.held_in], nodes), f"{what} ")
        else:
            self.differs(judge.several_domains(self.state.places, nodes), f"{what} ")
        self.differs(judge.not_its_nodes(self.state.least, self.state.size, nodes), f"{what} ")

    def by_test_only(self):
        """Holds the starts against each other, of several partitions in each: Slurm itself answers for the first one in
        which the job could ever run. Returns the domains' own, the earliest of their partitions'."""
        alone = [self.by_test_only_in(partition) for partition in self.state.partition.split(",")]
        alone = [min(starts) for starts in zip(*alone)]
        self.at_once = max(alone) == 0
        return alone

    def by_test_only_in(self, partition):
        request = [option for option in self.state.request if not option.startswith("--partition=")]
        if not self.state.held_in:
            request.append(f"--partition={partition}")
        alone = [test_only(request, *self.state.confined_to(place))[0] for place in self.state.places]
        start, nodes, said = test_only(request, *self.state.as_gang())
        exactly = [test_only(request, *self.state.confined_to(nodes))[0]] if judge.before_all(start, alone) else []
        self.differs(judge.another_start(start, alone + exactly), after=f" ({said})")
        if nodes:
            self.one_domain(nodes, "--test-only")
        return alone

    def plan_of_confined(self, place, request=None):
        """By a job submitted in the state made again; None when it is refused."""
        self.state.renew()
        self.ask_in_front()
        job = submit(request or self.state.request, *self.state.confined_to(place), *self.behind_front())
        return self.plan_of(job) if job else None

    def plan_beside(self, plan, place, request=None):
        """The same, in a state that is the gang's if it can be made: its plan, and when that starts."""
        for _ in range(LOOKS):
            confined = self.plan_of_confined(place, request)
            if confined is None or not judge.another_state(plan, [confined]):
                break
        return confined, confined.start_s if confined else NEVER

    def plan_of(self, job):
        """Its plan, and what must be the same where it is held against another: where the job in front runs or is to,
        and whether the state is what it was first."""
        plan = Plan(job, self.state)
        plan.front, plan.alike = self.where_front(), self.state.alike
        return plan

    def where_front(self):
        """It runs, or not, and its nodes: of equal nodes 22.05 takes those that weighed least for the job before."""
        record = show(self.front) if self.front else {}
        nodes = record.get("NodeList", "") + record.get("SchedNodeList", "")
        return record.get("JobState"), expand(nodes.replace("(null)", ""))

    def by_plan(self, alone):
        """Submits the gang; returns its plan, or None when it was refused."""
        best = min(alone)
        self.ask_in_front()
        job = submit(self.state.request, *self.state.as_gang(), *self.behind_front())
        if job is None:
            if best < NEVER:  # what --test-only takes, sbatch may refuse
                self.differs(judge.refused([self.plan_of_confined(place) for place in self.state.places]))
            return None
        plan = self.plan_of(job)
        if plan.nodes:
            self.one_domain(plan.nodes, "what runs" if plan.runs else "the plan")
        for nodes in running_tasks(job):
            self.one_domain(nodes, "a task")
        if plan.runs or best == NEVER:
            return plan
        if best == 0 or judge.apart(plan.start_s, best):
            await_cycle(job, 2)
            plan.look()
            plan.front = self.where_front()
        if best == 0 or judge.apart(plan.start_s, best):
            self.hold_against_plans(plan, best)
        return plan

    def behind_front(self):
        """Without one as Slurm numbers jobs, which would put it before the other."""
        return ["--priority=1000"] if self.state.front else []

    def ask_in_front(self):
        """A larger job that waits before it, whose plan makes slots in backfill's table."""
        if self.state.front:
            self.front = submit(self.state.front)
            await_cycle(self.front)

    def hold_against_plans(self, plan, first_s):
        """--test-only and backfill differ in what they look at: the job is submitted for each domain alone."""
        confined = [self.plan_beside(plan, place) for place in self.state.places]
        if judge.before_all(plan.start_s, [start_s for _, start_s in confined]):
            confined += self.earlier_than_all(plan)
        starts = [start_s for _, start_s in confined]
        found = judge.another_plan(plan.start_s, starts, self.first_of_array(plan, starts, first_s))
        asked = [one for one, _ in confined if one]
        why = judge.another_state(plan, asked) or judge.in_vain(plan, asked) or judge.holds_several(
            self.state.partition.split(","), min(starts) == 0)
        if found and why:
            self.left_out = self.words(f"left out ({why}): submitted: {plan}; {found}")
        else:
            self.differs(found, f"submitted: {plan}; ")

    def earlier_than_all(self, plan):
        """Confined to exactly the gang's nodes, where it starts before what is confined to a domain."""
        return [self.plan_beside(plan, plan.nodes)] if plan.nodes and not self.state.is_array() else []

    def first_of_array(self, plan, starts, first_s):
        """The earliest start of a task of an array, which --test-only says (`first_s`) without backfill's slots; None
        where it is no array."""
        if not self.state.is_array():
            return None
        if judge.another_plan(plan.start_s, starts, first_s):
            alone = [option for option in self.state.request if not option.startswith("--array=")]
            first_s = min([first_s] + [self.plan_beside(plan, place, alone)[1] for place in self.state.places])
        return first_s

    def real(self, options):
        """What becomes of it, submitted alone with these; None when it is refused. Backfill plans components in one
        cycle, and may begin them in a later one, when what they preempt is gone."""
        job = submit(self.state.request, *options)
        plan = Plan(job, self.state) if job else None
        for _ in range(LOOKS if self.state.components else 0):
            if plan and not plan.runs:
                await_cycle(job)
                plan.look()
        return plan

    def by_real_start(self):
        """Submitted alone, as a gang and for each domain; returns the gang's plan, or None when it was refused."""
        plan = self.real(self.state.as_gang())
        if plan and self.state.components:
            self.differs(judge.one_alone(plan.states))
        if plan and plan.runs:
            self.one_domain(plan.nodes, "what runs")
            return plan
        confined = []
        for place in self.state.places:
            self.state.renew()
            confined.append(self.real(self.state.confined_to(place)))
        if plan is None and self.state.components:
            self.differs(judge.refused_together(confined, self.state.least, HELD[self.state.held_in]))
            return None
        self.state.renew()
        plain = self.real(self.state.as_nothing())
        plain = plain and plain.runs
        found = judge.waits_for_nothing(False, [one and one.runs for one in confined], plain)
        words = f"submitted: {plan or 'refused'}; ", ": " + "; ".join(str(one or "refused") for one in confined)
        why = plan and self.state.components and judge.in_vain(plan, [one for one in confined if one])
        if found and why:
            self.left_out = self.words(f"left out ({why}): {words[0]}{found}{words[1]}")
        else:
            self.differs(found, *words)
        return plan

    def by_others(self, plan):
        """The jobs behind the gang against those behind the same job confined to its domain."""
        if not self.state.others or not plan.nodes or self.state.is_array():
            return
        gang, behind = self.others_behind(self.state.as_gang())
        place = judge.place_of(self.state.places, gang.nodes)
        if place is None or not self.state.alike or judge.holds_several(self.state.partition.split(","), gang.runs):
            return
        for _ in range(LOOKS):
            alone, confined = self.others_behind(self.state.confined_to(place))
            same = gang.nodes == alone.nodes and not judge.apart(gang.start_s, alone.start_s) and all(
                ours.nodes == stock.nodes for ours, stock in zip(behind, confined) if ours and stock and
                (ours.runs or stock.runs))
            if not self.state.alike:
                return
            found = [self.held_behind(" ".join(request), (gang, ours), (alone, stock), same)
                     for request, ours, stock in zip(self.state.others, behind, confined) if ours and stock]
            if judge.overtaken(gang.start_s, alone.start_s):
                found = []
            if not any(found) or same:
                break
        if any(found) and not self.later_behind(behind, confined):
            found, later = self.moved_all_the_same(place, (alone, confined))
            if any(found) and self.state.components and not later:
                found = self.moved_in_each_cycle(place, (gang, behind), found)
        self.differences += [words for words in found if words]

    def later_behind(self, behind, confined):
        """Whether one of those behind the gang waits longer than behind the confined job."""
        return any(judge.waits_longer(ours, stock, by_start_alone(request))
                   for request, ours, stock in zip(self.state.others, behind, confined) if ours and stock)

    def moved_all_the_same(self, place, alone_and_confined):
        """What has other nodes behind the gang confined to its domain, too: 22.05 gives the nodes of others the weights
        that they had for the job before, so --exclude alone changes which of equal nodes a plan takes. And whether one
        waits longer there."""
        alone, confined = alone_and_confined
        both, behind = self.others_behind(self.state.as_gang_in(place))
        same = both.nodes == alone.nodes and not judge.apart(both.start_s, alone.start_s)
        found = [self.held_behind(" ".join(request), (both, ours), (alone, stock), same)
                 for request, ours, stock in zip(self.state.others, behind, confined) if ours and stock]
        return found, self.later_behind(behind, confined)

    def moved_in_each_cycle(self, place, gang_and_behind, found):
        """What of that has its nodes behind the confined components in none of several cycles of backfill: there 22.05
        plans them, and what is behind them, now on these and now on those of equal nodes (tests/soak.md, 381144)."""
        gang, behind = gang_and_behind
        alone, confined = self.others_behind(self.state.confined_to(place))
        pairs = [(ours, stock) for ours, stock in zip(behind, confined) if ours and stock]
        cycles = [[] for _ in pairs]
        for _ in range(LOOKS):
            await_cycle(alone.job)
            alone.look()
            front = judge.Answer(alone.runs, alone.start_s, alone.nodes)
            for (_, stock), seen in zip(pairs, cycles):
                stock.look()
                seen.append((front, judge.Answer(stock.runs, stock.start_s, stock.nodes)))
        if len(pairs) != len(found):  # another one was refused
            return found
        return [words if words and judge.never_so(gang, ours, seen) else None
                for words, (ours, _), seen in zip(found, pairs, cycles)]

    def held_behind(self, request, ours_behind, stock_behind, same):
        """One job behind the gang against itself behind the confined job, and what is different; `same`: these two, and
        what runs behind them, have the same nodes."""
        (gang, ours), (alone, stock) = ours_behind, stock_behind
        real = by_start_alone([request])
        found = judge.waits_longer(ours, stock, real) or judge.moved(ours, stock, same, real)
        if not found:
            return None
        return self.words(f"behind it ({gang}) '{request}' {found}: {ours}; behind the confined job ({alone}): {stock}")

    def others_behind(self, how):
        self.state.renew()
        first = submit(self.state.request, *how, "--priority=1000")
        await_cycle(first, LOOKS if self.state.components else 1)
        jobs = [submit(request, "--partition=main", f"--priority={500 - index}")
                for index, request in enumerate(self.state.others)]
        plans = [Plan(job, self.state) if job else None for job in jobs]
        return Plan(first, self.state), plans

    def answer(self):
        self.state.build()
        if by_start_alone(self.state.request) or self.state.components:
            plan = self.by_real_start()
            if plan and (plan.runs or self.state.components):
                self.by_others(plan)
            return self.differences
        alone = self.by_test_only()
        plan = self.by_plan(alone)
        if plan:
            self.by_others(plan)
        return self.differences


class Count:
    """What was asked, and what came of it."""

    def __init__(self, held):
        self.held = held
        self.states, self.bad, self.left_out, self.nothing_runs, self.at_once = 0, [], [], 0, 0
        self.kinds = collections.Counter()

    def take(self, seed, cluster):
        """Asks in that state; what is different must be so again, in the state built anew, since what a busy machine
        does between two looks is no difference."""
        held = bool(self.held and seed % self.held == 0)
        state = State(seed, cluster, held)
        question, second = Question(state), Question(State(seed, cluster, held))
        again = question.answer() and second.answer()
        for words in again or []:
            print(words, flush=True)
        for words in filter(None, (question.left_out, second.left_out)):
            print(words, flush=True)
        self.bad += [seed] if again else []
        self.left_out += [seed] if question.left_out or second.left_out else []
        self.states += 1
        self.nothing_runs += not state.made
        self.at_once += bool(state.made) and question.at_once
        self.kinds.update(state.kinds())

    def tell(self, words):
        bad = ": seeds " + " ".join(map(str, self.bad)) if self.bad else ""
        if self.left_out:
            print("plans that differ, and need not be the same: seeds", *self.left_out)
        print("in them: " + ", ".join(f"{word} {count}" for word, count in sorted(self.kinds.items())))
        print(f"{self.states} states {words}, {self.nothing_runs} with nothing running, "
              f"{self.at_once} where the gang starts at once everywhere, {len(self.bad)} with a difference{bad}")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seed", type=int, default=int(time.time()))
    options.add_argument("--states", type=int, default=0)
    options.add_argument("--seconds", type=float, default=0)
    options.add_argument("--stride", type=int, default=1)
    options.add_argument("--kind", default="")
    options.add_argument("--held", type=int, default=0)
    options.add_argument("--aimed", type=int, default=1)
    options.add_argument("--first", action="store_true")
    options.add_argument("--gates", required=True)
    options.add_argument("--ticks", required=True)
    options.add_argument("--spines", required=True)
    options.add_argument("--beside", default="")
    given = options.parse_args()
    os.environ.update(LC_ALL="C", SLURM_TIME_FORMAT="standard")
    ticks.open(given.ticks)
    gates.open(given.gates)
    cluster, count, began = Cluster(given.spines, given.beside, given.aimed), Count(given.held), time.time()
    limit_s = given.seconds or (0 if given.states else 120)
    seed = given.seed
    while not (count.states == given.states > 0 or 0 < limit_s < time.time() - began or given.first and count.bad):
        held = bool(given.held and seed % given.held == 0)
        if not given.kind or given.kind in State(seed, cluster, held).kinds():
            count.take(seed, cluster)
        seed += given.stride
    cluster.clear()
    count.tell(f"from seed {given.seed} on" + (f", every {given.stride}th" if given.stride > 1 else "")
               + f", in {time.time() - began:.0f} s")
    return 1 if count.bad else 0


if __name__ == "__main__":
    sys.exit(main())
