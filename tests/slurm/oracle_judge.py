#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""oracle_judge - what tests/slurm/oracle.py calls a difference

Each rule takes answers of Slurm and returns words, or None where nothing is wrong. Run as a program it holds the rules
against right and wrong answers, then breaks one rule after the other: each must be missed by a case.
"""
import collections
import math
import sys

RESOLUTION_S = 60  # bf_resolution
NEVER = math.inf

# A job that was submitted: whether it runs, when it starts (seconds from now), its nodes or those of its plan.
Answer = collections.namedtuple("Answer", "runs start_s nodes")

# When it was asked about: what the larger job in front of it did, where, and whether the state was what it was first.
When = collections.namedtuple("When", "front alike")


def apart(start_s, other_s):
    """Whether one is later than the other, or never."""
    return start_s != other_s and abs(start_s - other_s) > RESOLUTION_S


def starts(seconds):
    return ", ".join(f"{one:.0f}" for one in seconds) + " s"


def place_of(places, nodes):
    """The first of the sets that has all of them, or None."""
    return next((place for place in places if nodes and nodes <= place), None)


# --- the rules -------------------------------------------------------------------------------------------


def several_domains(places, nodes):
    if place_of(places, nodes) is None:
        return f"is on several domains: {','.join(sorted(nodes))}"
    return None


def not_its_nodes(least, size, nodes):
    if not least <= len(nodes) <= size:
        return f"has {len(nodes)} nodes, not {size}: {','.join(sorted(nodes))}"
    return None


def promise_broken(spines, from_nodes, nodes):
    """What a policy holds to one spine once it has so many nodes."""
    if len(nodes) >= from_nodes and place_of(spines, nodes) is None:
        return f"is on several spines, though a policy holds it to one: {','.join(sorted(nodes))}"
    return None


def one_alone(states):
    """The states of a heterogeneous job's components: Slurm starts all of them, or none."""
    begun = [state in ("RUNNING", "CONFIGURING") for state in states]
    return f"has begun in part: {', '.join(states)}" if any(begun) and not all(begun) else None


def another_start(gang_s, alone_s):
    """--test-only's answer for the gang, and for each domain alone."""
    if apart(gang_s, min(alone_s)):
        return f"--test-only: starts in {gang_s:.0f} s, the domains alone in {starts(alone_s)}"
    return None


def another_plan(gang_s, confined_s, first_s=None):
    """The gang's start by its plan (0: it runs), and that of the job confined to each domain. An array's record holds
    the plan of the task that was looked at last, and its tasks may stand in several domains: so it is only no later
    than the confined ones', and no earlier than what --test-only says of its first task (`first_s`)."""
    best_s = min(confined_s)
    if not apart(gang_s, best_s) or first_s is not None and first_s - RESOLUTION_S <= gang_s < best_s:
        return None
    return f"confined to one domain each: {starts(confined_s)}"


def another_state(gang, confined):
    """Whether the gang and the confined jobs were asked about in states that are not the same: the main scheduler may
    start the job in front in any of its turns, and of equal nodes it may have others."""
    return "in another state" if any(not one.alike or one.front != gang.front for one in confined) else None


def before_all(gang_s, alone_s):
    """Whether the gang starts earlier than in each domain: then its own nodes are asked for, too."""
    return "is before all" if gang_s < min(alone_s) - RESOLUTION_S else None


def refused(taken):
    """sbatch refuses the gang; `taken`: whether it takes the job confined to each domain."""
    return "sbatch refuses it as a gang, and takes it for a domain alone" if any(taken) else None


def in_vain(ours, confined):
    """Whether Slurm plans it for now and then refuses the start, and does so to the job confined to a domain, too: from
    24.11 on its copy of the nodes has no list of the jobs on one, so nothing there shares (OverSubscribe=FORCE)."""
    never = [one for one in [ours] + confined if not one.runs and one.nodes and one.start_s == NEVER]
    return "is planned for a start that is refused" if ours in never and len(never) > 1 else None


def refused_together(taken, least, from_nodes):
    """The components of a job are refused that need fewer nodes than the policy counts together; `taken`: as above."""
    return refused(taken) if least < from_nodes else None


def waits_for_nothing(gang_runs, confined_run, plain_runs):
    """By their real starts; `plain_runs`: whether it runs as no gang, and confined to nothing."""
    return "confined to one domain it runs" if any(confined_run) and plain_runs and not gang_runs else None


def waits_longer(ours, stock, starts_alone):
    """A job behind the gang, and behind the confined job; `starts_alone`: only its real start says anything."""
    later = stock.runs and not ours.runs if starts_alone else ours.start_s > stock.start_s + RESOLUTION_S
    return "waits longer" if later else None


def overtaken(gang_s, alone_s):
    """Whether the confined job itself waits longer than the gang: what is behind it went first. Slurm holds nothing back
    for a job all of whose nodes are reserved now, and the gang has others."""
    return "is overtaken" if alone_s > gang_s + RESOLUTION_S else None


def holds_several(partitions, runs):
    """Whether backfill holds nodes for it in each of its partitions: a gang's may be in several domains, those of the
    confined job are not, so what is behind them finds other nodes, and so does the gang itself in its next partition.
    `runs`: it does, or confined to a domain would."""
    return "holds nodes in each partition" if len(partitions) > 1 and not runs else None


def moved(ours, stock, same, starts_alone):
    """The plans of both; `same`: the gang and the confined job have the same nodes."""
    if starts_alone or not same or ours.runs or stock.runs or apart(ours.start_s, stock.start_s):
        return None
    return "has other nodes" if ours.nodes != stock.nodes else None


def never_so(gang, ours, cycles):
    """`cycles`: the confined job and the one behind it, in one cycle of backfill after the other. Whether in none of
    them both had the nodes and the starts of the gang and of the job behind that."""
    so = any(not stock.runs and alone.runs == gang.runs and alone.nodes == gang.nodes and stock.nodes == ours.nodes
             and not apart(alone.start_s, gang.start_s) and not apart(stock.start_s, ours.start_s)
             for alone, stock in cycles)
    return None if so else "has other nodes in each cycle"


# --- the self-test ---------------------------------------------------------------------------------------

ONE, TWO = {"n1", "n2"}, {"n3", "n4"}
RUNS, WAITS, PLAN, OTHER = Answer(True, 0, ONE), Answer(False, NEVER, set()), Answer(False, 600, ONE), Answer(
    False, 600, TWO)
REFUSED, LATER = Answer(False, NEVER, ONE), Answer(False, 1200, ONE)
AHEAD, BEGUN = ("PENDING", ONE), ("RUNNING", ONE)

CASES = [  # the rule, what is answered, whether that is wrong
    ("several_domains", ([ONE, TWO], {"n1", "n2"}), False),
    ("several_domains", ([ONE, TWO], {"n1"}), False),
    ("several_domains", ([ONE, TWO], {"n2", "n3"}), True),
    ("several_domains", ([ONE, TWO], {"n1", "n2", "n3", "n4"}), True),
    ("not_its_nodes", (2, 2, ONE), False),
    ("not_its_nodes", (1, 3, ONE), False),
    ("not_its_nodes", (2, 2, ONE | TWO), True),  # the whole partition as the plan of one gang
    ("not_its_nodes", (2, 2, {"n1"}), True),
    ("promise_broken", ([ONE, TWO], 2, {"n1"}), False),
    ("promise_broken", ([ONE, TWO], 2, ONE), False),
    ("promise_broken", ([ONE, TWO], 3, {"n2", "n3"}), False),  # too few for the promise
    ("promise_broken", ([ONE, TWO], 2, {"n2", "n3"}), True),
    ("promise_broken", ([ONE, TWO], 3, ONE | TWO), True),
    ("one_alone", (["RUNNING", "RUNNING"],), False),
    ("one_alone", (["PENDING", "PENDING"],), False),
    ("one_alone", (["RUNNING", "PENDING"],), True),
    ("another_start", (0, [0, NEVER]), False),
    ("another_start", (NEVER, [NEVER, NEVER]), False),
    ("another_start", (659, [1200, 600]), False),
    ("another_start", (1200, [1200, 600]), True),  # a domain was forgotten
    ("another_start", (661, [1200, 600]), True),
    ("another_start", (0, [1200, 600]), True),  # on several domains, or on what is reserved
    ("another_start", (NEVER, [1200, 600]), True),
    ("another_start", (600, [NEVER, NEVER]), True),
    ("another_plan", (600, [600, 1200]), False),
    ("another_plan", (600, [0, 1200]), True),
    ("another_plan", (NEVER, [600, NEVER]), True),
    ("another_plan", (0, [600, NEVER]), True),
    ("another_plan", (1200, [2400, NEVER], 600), False),
    ("another_plan", (300, [2400, NEVER], 600), True),
    ("another_plan", (3000, [2400, NEVER], 600), True),
    ("another_plan", (NEVER, [2400, NEVER], 600), True),
    ("another_start", (600, [1200, 1200, 600]), False),  # the last one: confined to exactly the gang's nodes
    ("another_start", (600, [1200, 1200, 1200]), True),
    ("another_state", (When(AHEAD, True), [When(AHEAD, True), When(AHEAD, True)]), False),
    ("another_state", (When(BEGUN, True), [When(BEGUN, True)]), False),
    ("another_state", (When(AHEAD, True), [When(AHEAD, True), When(BEGUN, True)]), True),
    ("another_state", (When(BEGUN, True), [When(AHEAD, True)]), True),
    ("another_state", (When(AHEAD, True), [When(("PENDING", TWO), True)]), True),
    ("another_state", (When(AHEAD, True), [When(AHEAD, False)]), True),
    ("before_all", (600, [600, 1200]), False),
    ("before_all", (1200, [600, 1200]), False),
    ("before_all", (NEVER, [NEVER, NEVER]), False),
    ("before_all", (600, [1200, NEVER]), True),
    ("refused", ([None, None],), False),  # --test-only takes it, and sbatch refuses it without a gang, too
    ("refused", ([None, WAITS],), True),
    ("in_vain", (REFUSED, [PLAN, RUNS]), False),
    ("in_vain", (PLAN, [REFUSED]), False),
    ("in_vain", (WAITS, [REFUSED, REFUSED]), False),
    ("in_vain", (REFUSED, [WAITS, REFUSED]), True),
    ("refused_together", ([WAITS], 4, 4), False),
    ("refused_together", ([None], 2, 4), False),
    ("refused_together", ([WAITS], 2, 4), True),
    ("waits_for_nothing", (True, [True, False], True), False),
    ("waits_for_nothing", (False, [False, False], True), False),
    ("waits_for_nothing", (False, [False, True], False), False),  # "[a|b]", where Slurm preempts nobody for a
    ("waits_for_nothing", (False, [False, True], True), True),
    ("waits_longer", (RUNS, PLAN, False), False),
    ("waits_longer", (PLAN, PLAN, False), False),
    ("waits_longer", (WAITS, WAITS, False), False),
    ("waits_longer", (WAITS, PLAN, False), True),
    ("waits_longer", (PLAN, RUNS, False), True),
    ("waits_longer", (WAITS, PLAN, True), False),
    ("waits_longer", (PLAN, RUNS, True), True),
    ("overtaken", (900, 900), False),
    ("overtaken", (900, 600), False),
    ("overtaken", (900, 1200), True),
    ("holds_several", (["main"], False), False),
    ("holds_several", (["over", "main"], True), False),
    ("holds_several", (["over", "main"], False), True),
    ("moved", (PLAN, PLAN, True, False), False),
    ("moved", (PLAN, OTHER, False, False), False),
    ("moved", (PLAN, OTHER, True, True), False),
    ("moved", (RUNS, OTHER, True, False), False),
    ("moved", (PLAN, OTHER, True, False), True),
    ("never_so", (OTHER, PLAN, [(OTHER, OTHER), (OTHER, PLAN)]), False),  # Slurm itself alternates
    ("never_so", (OTHER, PLAN, [(OTHER, OTHER), (OTHER, OTHER)]), True),
    ("never_so", (OTHER, PLAN, [(PLAN, PLAN)]), True),  # behind what has other nodes
    ("never_so", (OTHER, PLAN, [(OTHER, LATER)]), True),
    ("never_so", (PLAN, OTHER, [(LATER, OTHER)]), True),
    ("never_so", (OTHER, PLAN, [(OTHER, RUNS)]), True),
    ("never_so", (OTHER, PLAN, []), True),
    ("never_so", (RUNS, OTHER, [(Answer(False, 0, ONE), OTHER)]), True),
]


def missed(rules):
    """The cases in which these rules say something else than they should."""
    return [f"{name}{answers}" for name, answers, wrong in CASES if bool(rules[name](*answers)) != wrong]


def self_test():
    """Whether the rules are right in each case, and no rule can be blind, or see what is not there, unnoticed."""
    rules = {name: globals()[name] for name, _, _ in CASES}
    wrong = missed(rules)
    for words in wrong:
        print(f"the judge is wrong: {words}")
    unseen = [f"{name} {kind}" for name in rules
              for kind, broken in (("blind", lambda *_: None), ("seeing things", lambda *_: "a difference"))
              if not missed({**rules, name: broken})]
    for words in unseen:
        print(f"no case would notice the rule {words}")
    print(f"{len(rules)} rules, {len(CASES)} answers of which {sum(wrong for _, _, wrong in CASES)} are wrong, "
          f"{2 * len(rules)} broken rules: {len(wrong) + len(unseen)} not seen")
    return 1 if wrong or unseen else 0


if __name__ == "__main__":
    sys.exit(self_test())
