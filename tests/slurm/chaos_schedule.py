# SPDX-License-Identifier: GPL-2.0-or-later
"""chaos_schedule - what happens when in a run of tests/slurm/chaos.py: all of it from one number

schedule(seed, seconds, nodes) is a list of Event, in the order of time. The same seed, length and nodes give the
same list. What an event meets (which job is the user's third, which gates run) is known only when it happens.
"""
import random
from dataclasses import dataclass, field

USERS = ("daemon", "games", "www-data")
BAD_MOST = 3  # nodes with bad hardware at a time: a spine of 8 keeps room for the largest gang

# What no gang may run on: the word of the drain's reason, and what the fakes of the node are reported.
BAD = (
    ("ecc", "ONESPINE_FAKE_NVML=gpu3.ecc_uncorrected=12"),
    ("gpus", "ONESPINE_FAKE_NVML=gpu3.lost"),
    ("row-remap", "ONESPINE_FAKE_NVML=gpu3.remap_failed"),
    ("nvlink", "ONESPINE_FAKE_NVML=gpu3.links=17"),
)
# What makes a check late, break or doubt: nobody may be drained for it, except for wrong bytes.
DUBIOUS = (
    ("-", "ONESPINE_FAKE_NVML=hang:nvmlInit_v2"),
    ("-", "ONESPINE_FAKE_NVML=error:nvmlDeviceGetTotalEccErrors=999"),
    ("-", "ONESPINE_TEST_NETWORK=slow"),
    ("network", "ONESPINE_TEST_NETWORK=corrupt"),
)

# weight, what, whom it concerns (no two at a time concern the same), seconds
FAULTS = (
    (3, "ctld-kill", "ctld", (1, 10)),
    (1, "ctld-end", "ctld", (1, 6)),
    (2, "ctld-stop", "ctld", (1, 8)),
    (1, "state-full", "ctld", (2, 8)),
    (1, "reconfigure", "ctld", (0, 0)),
    (2, "munge-kill", "munge", (1, 6)),
    (1, "munge-stop", "munge", (1, 5)),
    (4, "slurmd-kill", "node", (1, 40)),
    (2, "slurmd-end", "node", (1, 20)),
    (3, "slurmd-stop", "node", (1, 20)),
    (3, "node-dies", "node", (2, 40)),
    (4, "wire-cut", "node", (1, 40)),
    (2, "wire-slow", "node", (5, 30)),
    (2, "pair-cut", "node", (5, 30)),
    (2, "log-full", "node", (5, 30)),
    (2, "spool-full", "node", (3, 15)),
    (5, "gate-kill", "gate", (0, 0)),
    (3, "gate-stop", "gate", (1, 20)),
    (2, "hog", "machine", (3, 10)),
    (5, "bad", "hardware", (20, 90)),
    (2, "dubious", "hardware", (10, 60)),
)

# What came later, with dice of its own: a seed's other events stay what they were.
MORE = (
    (2, "tmp-full", (5, 30)),
    (2, "ctld-slow", (3, 10)),
    (2, "srun-kill", (0, 0)),
)

# And later, again with dice of its own. A slow disk is one that is frozen for nine tenths of the time.
LATER = (
    (3, "stepd-kill", "", (0, 0)),
    (3, "stepd-stop", "", (1, 15)),
    (2, "state-slow", "", (2, 8)),
    (2, "spool-slow", "node", (3, 15)),
    (3, "log-slow", "node", (10, 40)),
)

JOBS = ("gang", "gang", "gang", "gang", "spares", "one", "array", "final", "srun", "part")
FORGERIES = ("drain", "comment", "requeue", "gate", "policy", "name", "suspects", "knock", "folders", "cancel")
MORE_FORGERIES = ("texts", "files", "commands")


@dataclass(order=True)
class Event:
    """Something that begins `at_s` after the start, and ends `for_s` later."""

    at_s: float
    what: str = field(compare=False)
    whom: str = field(compare=False, default="")
    for_s: float = field(compare=False, default=0)
    words: dict = field(compare=False, default_factory=dict)

    def __str__(self):
        words = " ".join(f"{key}={value}" for key, value in self.words.items())
        lasts = f" for {self.for_s:.1f} s" if self.for_s else ""
        return f"{self.what} {self.whom}{lasts} {words}".strip()


def times(dice, seconds, mean_s):
    """Moments of a process without memory."""
    at_s = dice.expovariate(1 / mean_s)
    while at_s < seconds:
        yield at_s
        at_s += dice.expovariate(1 / mean_s)


def faults(dice, seconds, nodes):
    """Kills, cuts, fills and slows; each target has one at a time."""
    busy_until = {}
    bad = []
    for at_s in times(dice, seconds, 4):
        _, what, target, (least, most) = dice.choices(FAULTS, [fault[0] for fault in FAULTS])[0]
        for_s = round(dice.uniform(least, most), 1)
        node, other = dice.sample(nodes, 2)
        words = {"part": round(dice.random(), 3)}
        key = target if target in ("ctld", "munge", "gate", "machine") else f"{target} {node}"
        if what in ("bad", "dubious"):
            word, line = dice.choice(BAD if what == "bad" else DUBIOUS)
            words = {"word": word, "line": line}
            bad = [until for until in bad if until > at_s]
            if what == "bad" and len(bad) >= BAD_MOST:
                continue
        if what == "pair-cut":
            words = {"other": other}
        if busy_until.get(key, 0) > at_s:
            continue
        busy_until[key] = at_s + for_s + 1
        if what == "bad":
            bad.append(at_s + for_s)
        yield Event(at_s, what, node if target in ("node", "hardware") else "", for_s, words)


def jobs(dice, seconds):
    """Submissions and cancels of three users."""
    for number, at_s in enumerate(times(dice, seconds, 5)):
        kind = dice.choice(JOBS)
        nodes = 1 if kind == "one" else dice.randint(2, 3) if kind == "spares" else dice.randint(2, 6)
        yield Event(at_s, "submit", dice.choice(USERS), 0, {
            "name": f"c{number}", "kind": kind, "nodes": nodes, "runs_s": dice.randint(1, 8)})
    for at_s in times(dice, seconds, 13):
        yield Event(at_s, "cancel", dice.choice(USERS), 0, {"part": round(dice.random(), 3)})


def hostile(dice, seconds, nodes):
    """Forgeries and floods."""
    for at_s in times(dice, seconds, 9):
        yield Event(at_s, "forge", dice.choice(USERS), 0, {
            "how": dice.choice(FORGERIES), "node": dice.choice(nodes), "part": round(dice.random(), 3)})
    for at_s in times(dice, seconds, 25):
        source, target = dice.sample(nodes, 2)
        yield Event(at_s, "flood", dice.choice(USERS), round(dice.uniform(2, 6), 1),
                    {"source": source, "target": target})


def rechecks(dice, seconds):
    """The administrator's tries to get nodes back; many are killed while they are at it."""
    for at_s in times(dice, seconds, 25):
        kill_s = round(dice.uniform(0.05, 4), 2) if dice.random() < 0.5 else 0
        yield Event(at_s, "recheck", "", 0, {"kill_s": kill_s})


def more(dice, seconds, nodes):
    """A full /tmp, a slow slurmctld, killed clients; hostile texts, and hands laid on root's files and commands."""
    busy_until = {}  # each is one thing: no two at a time
    for at_s in times(dice, seconds, 40):
        _, what, (least, most) = dice.choices(MORE, [fault[0] for fault in MORE])[0]
        for_s, words = round(dice.uniform(least, most), 1), {"part": round(dice.random(), 3)}
        if busy_until.get(what, 0) <= at_s:
            busy_until[what] = at_s + for_s + 1
            yield Event(at_s, what, "", for_s, words)
    for at_s in times(dice, seconds, 25):
        yield Event(at_s, "forge", dice.choice(USERS), 0, {
            "how": dice.choice(MORE_FORGERIES), "node": dice.choice(nodes), "part": round(dice.random(), 3)})


def later(dice, seconds, nodes):
    """Killed and stopped slurmstepds, slow disks; each disk has one at a time."""
    busy_until = {}
    for at_s in times(dice, seconds, 20):
        _, what, target, (least, most) = dice.choices(LATER, [fault[0] for fault in LATER])[0]
        for_s, node = round(dice.uniform(least, most), 1), dice.choice(nodes) if target else ""
        words = {"part": round(dice.random(), 3)}
        if busy_until.get((what, node), 0) <= at_s:
            busy_until[(what, node)] = at_s + for_s + 1
            yield Event(at_s, what, node, for_s, words)


def schedule(seed, seconds, nodes):
    """Each kind has dice of its own, so that a change of one leaves the others."""
    found = []
    for name, stream in (("faults", lambda dice: faults(dice, seconds, nodes)),
                         ("jobs", lambda dice: jobs(dice, seconds)),
                         ("hostile", lambda dice: hostile(dice, seconds, nodes)),
                         ("recheck", lambda dice: rechecks(dice, seconds)),
                         ("more", lambda dice: more(dice, seconds, nodes)),
                         ("later", lambda dice: later(dice, seconds, nodes))):
        found += stream(random.Random(f"{seed} {name}"))
    return sorted(found)
