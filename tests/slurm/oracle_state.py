# SPDX-License-Identifier: GPL-2.0-or-later
"""oracle_state - a random state of a real Slurm for tests/slurm/oracle.py, and the job asked for in it

Everything in a state follows from its number. What was added later has dice of its own, so that it changes no other
part of a state.
"""
import datetime
import itertools
import random
import re
import sys
import time

from oracle_slurm import SETTLE_S, await_true, control, expand, gates, records, run, show

BUILDS = 4
LEAF = 2  # nodes of a leaf: those of a spine, two by two
SEGMENT = 2  # nodes of a segment beside the tree
BEGINS_S = 5  # what has not begun its script after so long is cancelled all the same
GIVEN_UP_S = 10  # what is cancelled and still there after so long is not waited for

# The partitions that a policy holds to one spine, as tests/slurm/core_oracle.bats makes them: main with a promise, to
# jobs of 2 nodes and more, and of 4.
HELD = {"held": 2, "held4": 4}
NODE_CPUS, NODE_GPUS = 8, 4


class Cluster:
    """The nodes, and how to get back to none of them in use."""

    def __init__(self, spines, beside="", aimed=True):
        self.spines = [set(spine.split(",")) for spine in spines.split()]
        self.beside = [set(domain.split(",")) for domain in beside.split()]
        self.aimed = aimed  # some states are aimed at one rule
        self.nodes = sorted(set().union(*self.spines), key=lambda name: int(name.lstrip("n")))
        self.weights = {}
        self.kinds = {}
        for node in records("node"):
            self.kinds.setdefault(node.get("Gres"), set()).add(node["NodeName"])

    def of_one_kind(self, places):
        """What is left of these sets where types of GPU do not mix."""
        left = []
        for place in places:
            left += [place & kind for kind in self.kinds.values() if place & kind and place & kind not in left]
        return left

    def weigh(self, weights):
        """Gives these nodes their weights, where they have others."""
        for node in self.nodes:
            if self.weights.get(node, 1) != weights[node]:
                control("update", f"NodeName={node}", f"Weight={weights[node]}")
        self.weights = weights

    def unions(self, count, parts, most_spines):
        """The nodes of each choice of so many of the parts that lies in so few spines."""
        unions = [set().union(*chosen) for chosen in itertools.combinations(parts, count)]
        return [nodes for nodes in unions if sum(not nodes.isdisjoint(spine) for spine in self.spines) <= most_spines]

    def leaves(self):
        return [set(sorted(spine, key=self.nodes.index)[first:first + LEAF])
                for spine in self.spines for first in range(0, len(spine), LEAF)]

    def crossings(self):
        """What each domain beside the tree has of a spine: where a segment of its level may be."""
        return [domain & spine for domain in self.beside for spine in self.spines if domain & spine]

    def clear(self):
        gates.remove(jobs=False)
        cancel(live_jobs())
        gates.remove(jobs=True)
        drop_reservations()
        states = {node["NodeName"]: node["State"] for node in records("node")}
        for word, pattern in (("UNDRAIN", "DRAIN"), ("RESUME", "DOWN|FAIL")):  # what is resumed is pinged first
            held = [node for node, state in states.items() if re.search(pattern, state)]
            if held:
                control("update", "NodeName=" + ",".join(held), f"State={word}")
        if not await_true(2 * SETTLE_S, self.is_clear):
            sys.exit(f"oracle: the cluster does not become idle: {records('job')} {node_states()}")

    @staticmethod
    def is_clear():
        return not live_jobs() and set(node_states().values()) == {"IDLE"}


def live_jobs():
    """Those that wait, run or are ending."""
    return [job for job in records("job") if re.search("PENDING|RUNNING|SUSPENDED|COMPLETING|CONFIGURING",
                                                       job.get("JobState", ""))]


def holders():
    """The nodes of each job that has some, by its number; of a heterogeneous job those of its first part."""
    return {job["JobId"]: job["NodeList"] for job in records("job") if job.get("NodeList", "(null)") != "(null)" and
            job.get("JobState") in ("RUNNING", "SUSPENDED", "COMPLETING")}


def as_seen(job):
    """What of a job may not change while questions are asked."""
    return job["JobId"], job["JobState"], job.get("NodeList", ""), job.get("PreemptTime", "")


def node_states():
    """By node, without what backfill plans there."""
    return {node["NodeName"]: "+".join(word for word in re.split(r"\+", node["State"].replace("*", ""))
                                       if word != "PLANNED") for node in records("node")}


def number_of(job):
    """Of an array or a heterogeneous job that of the whole."""
    whole = job.get("HetJobId") or job.get("ArrayJobId") or job["JobId"]
    return re.sub(r"\D.*", "", whole)


def cancel(jobs):
    """Ends these jobs; first those that wait, or they would start when others end."""
    numbers = {number_of(job) for job in jobs}
    waiting = {number_of(job) for job in jobs if job.get("JobState") == "PENDING"}
    if waiting:
        run("scancel", *sorted(waiting))
        jobs = [job for job in live_jobs() if number_of(job) in numbers]
    if any(job.get("JobState") != "COMPLETING" for job in jobs):
        await_true(BEGINS_S, lambda: all(gates.has_begun(job) for job in jobs))
        run("scancel", *sorted(numbers))


def drop_reservations():
    for one in records("reservation"):
        control("delete", f"ReservationName={one['ReservationName']}")


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


def another_shape(dice, size):
    """Other options for as many nodes: what a task or a GPU takes, or so many in all."""
    return [f"-N{size}"] + dice.choice([
        ["--ntasks-per-node=3", "--cpus-per-task=2"],
        ["--ntasks-per-node=4", "--mem-per-cpu=1200"],
        ["--ntasks-per-node=2", "--gpus-per-task=1"],
        ["--ntasks-per-node=1", "--gpus-per-node=2", "--mem-per-gpu=2000"],
        ["--ntasks-per-node=1", f"--gpus={dice.randint(size, 4 * size)}"],
        ["--exclusive", "--mem=0"],
        ["--ntasks-per-node=2", "--oversubscribe"],
    ])


def least_nodes(request):
    """Of a job or component without -N, by its tasks and GPUs."""
    asked = {option[:2]: int(option[2:]) for option in request if re.match(r"-[nc]\d+$", option)}
    gpus = [int(option.split("=")[1]) for option in request if option.startswith("--gpus=")]
    cpus = asked.get("-n", 1) * asked.get("-c", 1)
    return max([-(-cpus // NODE_CPUS)] + [-(-count // NODE_GPUS) for count in gpus])


def some_size(dice, most_tasks):
    """Options of a job whose number of nodes only Slurm works out."""
    way = dice.randint(1, 7)
    if way <= 2:
        return [f"-n{dice.randint(2, most_tasks)}"]
    if way == 3:
        return [f"-n{dice.randint(1, most_tasks // 2)}", "-c2"]
    if way == 4:
        return [f"-n{dice.randint(2, most_tasks)}", f"--mem-per-cpu={dice.choice([300, 900, 1800])}"]
    if way == 5:
        return [f"--gpus={dice.randint(2, most_tasks // 2)}"]
    return [f"-N1-{dice.randint(2, 8)}"] + dice.choice([["--exclusive"], [f"--ntasks-per-node={dice.randint(1, 8)}"]])


class State:
    """What runs, ends, is suspended, drained and reserved: all from one number. `held`: the job is one that a policy
    holds to one spine, of a size that only Slurm works out, or of two components of such sizes."""

    def __init__(self, seed, cluster, held=False):
        self.seed = seed
        self.cluster = cluster
        dice = random.Random(seed)
        self.weights = dice.sample(range(1, 4), 3) if dice.random() < 0.3 else None
        self.drained = dice.sample(cluster.nodes, dice.choice([0, 0, 1, 2]))
        self.jobs = [self.some_job(dice) for _ in range(dice.randint(3, 16))]
        self.started = {}  # the number of each job that was started, by its place in the list
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
        self.gang, self.places = ["--gang=spine"], cluster.spines
        self.ask_for_parts(random.Random(f"{seed}: leaves, segments, several domains"))
        if not held:
            self.ask_beside_the_tree(random.Random(f"{seed}: a level beside the tree"))
        self.add_ways_to_ask(random.Random(f"{seed}: ways to ask"))
        self.add_to_nodes(random.Random(f"{seed}: nodes and partitions"))
        self.add_types(random.Random(f"{seed}: types of GPU, lists of partitions"))
        self.asked_before = None  # by --test-only as a gang, before anything is reserved
        self.aimed_at = None
        self.aim(random.Random(f"{seed}: aimed at one rule"), 0.1, {
            "aimed-at-force": self.aim_at_force, "aimed-at-reserved-cores": self.aim_at_reserved_cores,
            "aimed-at-partition": self.aim_at_partition})
        self.aim(random.Random(f"{seed}: laid over others"), 0.04, {"aimed-at-layers": self.aim_at_layers})
        self.places = cluster.of_one_kind(self.places)
        self.held_in, self.components = None, False
        if held:
            self.ask_under_promise(random.Random(f"{seed}: a policy holds it"))

    def ask_under_promise(self, dice):
        """Of another partition than the confined job, which else asks for the same: so it stands in neither's request."""
        kept = [option for option in self.request if re.match("--time|--constraint=[abc]$", option)]
        self.components, self.held_in = dice.random() < 0.5, "held"
        self.gang, self.excluded, self.partition = [], set(), "main"
        self.reserved_for, self.least, self.size, self.asked_before = "daemon", 1, len(self.cluster.nodes), None
        if self.components:
            self.held_in, self.front, self.places = "held4", [], self.cluster.spines
            sizes = [some_size(dice, 14) for _ in range(2)]
            self.least = sum(least_nodes(size) for size in sizes)
            self.request = sizes[0] + kept + [":"] + sizes[1] + kept
        else:
            self.places = self.cluster.of_one_kind(self.cluster.spines)
            self.request = some_size(dice, 28) + kept

    def aim(self, dice, share, aims):
        """In some states one rule alone decides, which is too rare among the others."""
        if self.aimed_at or dice.random() >= share or not self.cluster.aimed:
            return
        self.aimed_at = dice.choice(list(aims))
        self.jobs, self.drained, self.draining, self.front, self.others = [], [], [], [], []
        self.gang, self.places, self.excluded, self.reservation = ["--gang=spine"], self.cluster.spines, set(), None
        self.reserved_for, self.reserved_cores = "daemon", 0
        self.least = self.size = dice.randint(2, len(self.cluster.spines[0]) - 1)
        self.request = [f"-N{self.size}", "--time=5"]
        aims[self.aimed_at](dice)
        self.request.append(f"--partition={self.partition}")

    def aim_at_force(self, dice):
        """No node is idle, and where OverSubscribe=FORCE --exclusive shares all the same."""
        self.partition = "over"
        self.request.append("--exclusive")
        self.fill_spines(dice, [f"--ntasks-per-node={dice.randint(1, 3)}"], [20, 45, 90])

    def aim_at_layers(self, dice):
        """Jobs of two partitions with OverSubscribe=FORCE:1 lie on the same cores, which are in use once."""
        self.partition = dice.choice(["once", "once", "main"])
        self.request.append(f"--ntasks-per-node={dice.randint(1, 8)}")
        self.fill_spines(dice, [f"--ntasks-per-node={dice.randint(3, 8)}"], [20, 45, 90], "twice")
        for spine in self.cluster.spines:
            if dice.random() < 0.7:
                self.jobs.append(([f"--ntasks-per-node={dice.randint(1, 6)}", f"-N{len(spine)}",
                                   f"--nodelist={','.join(sorted(spine))}"], "once", dice.choice([15, 40, 80]), "runs"))

    def aim_at_reserved_cores(self, dice):
        """Once the jobs have ended nodes are empty, but cores of theirs are kept: since the same was asked for."""
        self.partition, self.reserved_cores = "main", dice.randint(1, 3)
        self.reservation = (0, 40, self.cluster.nodes)
        self.request.append("--ntasks-per-node=8")
        self.asked_before = self.request + ["--partition=main"]
        self.fill_spines(dice, ["--exclusive"], [5, 10, 20])

    def aim_at_partition(self, dice):
        """What one partition could give, and was asked for, the next may not (MaxCPUsPerNode=4)."""
        self.partition = "half"
        self.request.append(f"--ntasks-per-node={dice.choice([2, 6, 8])}")
        self.asked_before = self.request + ["--partition=main"]
        self.fill_spines(dice, ["--exclusive"], [5, 10, 20], "main")

    def fill_spines(self, dice, how, minutes, partition=None):
        """With a job each, which ends after one of so many minutes."""
        for spine in self.cluster.spines:
            self.jobs.append((how + [f"-N{len(spine)}", f"--nodelist={','.join(sorted(spine))}"],
                              partition or self.partition, dice.choice(minutes), "runs"))

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

    def ask_for_parts(self, dice):
        """In one leaf, in segments, in several domains: every set of nodes that keeps this is one to compare with."""
        way = dice.choice(["spine"] * 6 + ["leaf", "domains", "segments", "both"])
        if way == "spine" or "-n" in " ".join(self.request):
            return
        cluster, spine = self.cluster, len(self.cluster.spines[0])
        self.size = dice.randint(1, {"leaf": LEAF, "segments": spine}.get(way, 2 * spine))
        self.request[0] = f"-N{self.size}"
        if way == "leaf":
            self.gang, self.places = ["--gang=leaf"], cluster.leaves()
            return
        spines = 2 if way in ("domains", "both") else 1
        self.gang = ["--gang=spine"] + (["--gang-domains=2"] if spines == 2 else [])
        if way == "domains":
            self.places = cluster.unions(1, cluster.spines, 1) + cluster.unions(2, cluster.spines, 2)
            return
        self.gang.append(f"--gang-segment=leaf:{LEAF}")
        self.places = cluster.unions(-(-self.size // LEAF), cluster.leaves(), spines)

    def ask_beside_the_tree(self, dice):
        """In one domain of the level beside the tree, or in segments of it, of two nodes each, in one spine or two."""
        cluster = self.cluster
        way = dice.choice(["tree"] * 3 + ["one", "segment", "segments"]) if cluster.beside else "tree"
        if way == "tree" or self.gang != ["--gang=spine"] or "-n" in " ".join(self.request):
            return
        if way == "one":
            self.size = dice.randint(2, max(map(len, cluster.beside)))
            self.gang, self.places = ["--gang=nvlink"], cluster.beside
        elif way == "segment":
            self.size = SEGMENT
            self.gang, self.places = ["--gang=spine"], [each for each in cluster.crossings() if len(each) >= SEGMENT]
        else:
            self.size = 2 * SEGMENT
            self.gang = ["--gang=spine", "--gang-domains=2"]
            parts = [set(part) for each in cluster.crossings() for part in itertools.combinations(sorted(each), SEGMENT)]
            self.places = [place for place in cluster.unions(2, parts, 2) if len(place) == self.size]
        if way != "one":
            self.gang.append(f"--gang-segment=nvlink:{SEGMENT}")
        self.request[0] = f"-N{self.size}"

    def add_ways_to_ask(self, dice):
        """Other shapes, a range of nodes, an array, features, several partitions, nodes by name."""
        self.least, self.excluded = self.size, set()
        plain = self.gang == ["--gang=spine"] and "-n" not in " ".join(self.request)
        if dice.random() < 0.35 and self.request[0] == f"-N{self.size}":
            self.request = another_shape(dice, self.size) + [
                option for option in self.request if option.startswith(("--part", "--time", "--constr", "--lic"))]
        if plain and dice.random() < 0.12 and not any(option.startswith("--gpus=") for option in self.request):
            self.least = dice.randint(1, self.size)
            self.request[0] = f"-N{self.least}-{self.size}"
        if dice.random() < 0.1:
            self.request.append("--array=1-2")
        if dice.random() < 0.12:
            self.replace("--constraint", dice.choice(["c", "b|c", "a&c", "[a|b]"]))
        if dice.random() < 0.12:
            self.partition = dice.choice(["main,few", "few,low", "low,main"])
        if dice.random() < 0.1:
            self.excluded = set(dice.sample(self.cluster.nodes, dice.randint(1, 2)))
        elif plain and dice.random() < 0.08:
            self.replace("--nodelist", dice.choice(self.cluster.nodes))

    def add_to_nodes(self, dice):
        """Nodes that are drained while a job runs there, weights inside a spine, partitions of shared and of whole
        nodes, the job in a reservation, or a reservation of some cores."""
        self.node_weights = {node: dice.randint(1, 3) for node in self.cluster.nodes} if dice.random() < 0.15 else {}
        self.draining = dice.sample(self.cluster.nodes, dice.choice([0, 0, 0, 1, 2]))
        self.jobs = [(request, dice.choice(["over", "whole"]) if dice.random() < 0.12 else partition, minutes, fate)
                     for request, partition, minutes, fate in self.jobs]
        if dice.random() < 0.15:
            self.partition = dice.choice(["over", "whole"])
        self.replace("--partition", self.partition)
        self.reserved_for, self.reserved_cores = "daemon", 0
        if self.reservation and dice.random() < 0.3:
            self.reserved_for = "root"
            self.replace("--reservation", "kept")
        elif self.reservation and dice.random() < 0.3:
            self.reserved_cores = dice.randint(1, 4)

    def add_types(self, dice):
        """GPUs of one type, and lists of partitions that share nodes otherwise."""
        for request in [job[0] for job in self.jobs] + self.others + [self.request]:
            kind = dice.choice(["h100", "h100", "h100", "a100"])
            if dice.random() < 0.4:
                request[:] = [re.sub(r"^(--gpus[a-z-]*)=(\d+)$", rf"\1={kind}:\2", option) for option in request]
        if dice.random() < 0.06 and self.reserved_for == "daemon":
            self.partition = dice.choice(["main,whole", "whole,main", "over,main", "main,over", "whole,over"])
            self.replace("--partition", self.partition)

    def replace(self, option, value):
        """Instead of what was asked by that option."""
        self.request = [one for one in self.request if not one.startswith(f"{option}=")] + [f"{option}={value}"]

    def is_array(self):
        """Its second task may run where the confined job's may not, so what waits behind is another thing."""
        return "--array=1-2" in self.request

    def as_gang(self):
        if self.held_in:
            return [f"--partition={self.held_in}"]
        return self.gang + ([f"--exclude={','.join(sorted(self.excluded))}"] if self.excluded else [])

    def as_gang_in(self, place):
        """Of an option given twice the last one counts."""
        confined = self.confined_to(place)
        return confined + self.as_gang() if self.held_in else self.as_gang() + confined

    def confined_to(self, place):
        """The options that leave the job these nodes and no others."""
        return self.as_nothing() + ["--exclude=" + ",".join(sorted(set(self.cluster.nodes) - place | self.excluded))]

    def as_nothing(self):
        """The options with which neither a gang is asked for nor a policy holds it."""
        if self.held_in:
            return ["--partition=main"]
        return [option for option in self.as_gang() if option not in self.gang]

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
                break
        self.left = self.look()

    def renew(self):
        """Makes it so again: takes away what came since, or builds it anew where that changed something."""
        if not self.alike or not self.put_back():
            self.build()

    def put_back(self):
        """Whether nothing is left of what came since, and what ends in as many minutes does so again."""
        ours = set(self.started.values())
        cancel([job for job in live_jobs() if number_of(job) not in ours])
        drop_reservations()
        if self.is_left() or not await_true(GIVEN_UP_S, lambda: self.look() == self.left):
            return False
        self.set_ends()
        self.reserve()
        return True

    @staticmethod
    def look():
        """What may not change while questions are asked."""
        return node_states(), sorted(as_seen(job) for job in live_jobs())

    def is_left(self):
        """Whether a job of the state is no longer what it was."""
        return not set(self.left[1]) <= set(self.look()[1])

    def none_is_leaving(self):
        """Whether what was preempted since is gone."""
        left, ours = set(self.left[1]), set(self.started.values())
        return not any(number_of(job) in ours and job["JobState"] == "COMPLETING" and as_seen(job) not in left
                       for job in live_jobs())

    def build_once(self):
        """Returns the nodes of each job that was started and is still there."""
        self.cluster.clear()
        self.running, self.started = [], {}
        self.cluster.weigh(self.all_weights())
        for node in self.drained:
            control("update", f"NodeName={node}", "State=DRAIN", "Reason=oracle")
        for index, (request, partition, minutes, fate) in enumerate(self.jobs):
            if self.made is None:
                self.started[index] = self.start(request, partition, minutes, fate)
            elif index in self.made:
                self.started[index] = self.start(request, partition, minutes, fate, self.made[index])
        await_true(SETTLE_S, self.none_leaves)
        holding = holders()
        made = {index: holding[job] for index, job in self.started.items() if job in holding}
        self.running = [(job, minutes) for job, minutes in self.running if job in holding]
        self.set_ends()
        for node in self.draining:
            control("update", f"NodeName={node}", "State=DRAIN", "Reason=oracle")
        await_true(SETTLE_S, lambda: not any(job.get("JobState") == "CONFIGURING" for job in live_jobs()))
        if self.asked_before:
            run("sbatch", "--test-only", *self.gang, *self.asked_before, "--wrap=true")
        self.reserve()
        return made

    def all_weights(self):
        weights = {node: 1 for node in self.cluster.nodes}
        for index, spine in enumerate(self.cluster.spines if self.weights else []):
            weights.update({node: self.weights[index] for node in spine})
        weights.update(self.node_weights)
        return weights

    def set_ends(self):
        now = int(time.time())
        for job, minutes in self.running:
            end = datetime.datetime.fromtimestamp(now + 60 * minutes)
            control("update", f"JobId={job}", f"EndTime={end:%Y-%m-%dT%H:%M:%S}")

    def reserve(self):
        if not self.reservation:
            return
        start, minutes, nodes = self.reservation
        start += 2 if start else 0  # no job ends in that minute: seconds would decide whether it is in the way
        cores = ["CoreCnt=" + ",".join([str(self.reserved_cores)] * len(nodes))] if self.reserved_cores else []
        control("create", "reservation", "ReservationName=kept", f"StartTime=now+{start}minutes",
                f"Duration={minutes}", f"Users={self.reserved_for}", "Nodes=" + ",".join(nodes), "Flags=IGNORE_JOBS",
                *cores)

    def none_leaves(self):
        """Whether what a later job of the state has preempted is gone."""
        kept = {job for job, _ in self.running}
        return not any(number_of(job) in kept for job in live_jobs() if job["JobState"] == "COMPLETING")

    def kinds(self):
        """Words for what is in it: how the job is asked for, and what runs once it was made."""
        request, words = " ".join(self.request), {word.split("=")[0] for word in self.gang[1:]}
        for index in self.made or {}:
            options, partition, _, fate = self.jobs[index]
            words |= {fate, f"job-in-{partition}"}
            words |= {"heterogeneous"} if ":" in options else set()
            words |= {"job-with-licenses"} if "--licenses" in " ".join(options) else set()
        named = {"drained": self.drained, "draining": self.draining, "weights": self.weights or self.node_weights,
                 "reservation": self.reservation and not self.reserved_cores, "reserved-cores": self.reserved_cores,
                 "in-reservation": "--reservation" in request, "in-front": self.front, "behind": self.others,
                 "whole-nodes": "--exclusive" in request, "memory": "--mem" in request, "GPUs": "--gpus" in request,
                 "typed-GPUs": "00:" in request, "licenses": "--licenses" in request, "array": "--array" in request,
                 "features": "--constraint" in request, "counted-features": "*" in request,
                 "partitions": "," in self.partition, "range": self.least != self.size and not self.held_in,
                 "leaf": self.gang == ["--gang=leaf"], "nvlink": "nvlink" in " ".join(self.gang), "nodelist": "--nodelist" in request, "excluded": self.excluded,
                 "in-over": "over" in self.partition, "in-whole": "whole" in self.partition,
                 "in-low": "low" in self.partition, "held-components": self.components,
                 "held-tasks": self.held_in and not self.components and "-n" in request,
                 "held-GPUs": self.held_in and not self.components and "--gpus" in request,
                 "held-range": self.held_in and not self.components and "-N1-" in request}
        words |= {self.aimed_at} if self.aimed_at else set()
        return words | {word for word, there in named.items() if there}

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
            control("suspend", job)
        elif fate == "completing":
            for node in expand(show(job).get("NodeList", "")):
                open(gates.of_node(node), "w", encoding="ascii").close()
            run("scancel", job)
            await_true(SETTLE_S, lambda: show(job).get("JobState") == "COMPLETING")
        return job
