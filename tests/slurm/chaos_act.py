# SPDX-License-Identifier: GPL-2.0-or-later
"""chaos_act - does what the schedule of tests/slurm/chaos.py says, and keeps a record of it for the judge

Every method named after an event of chaos_schedule begins it, waits, and ends it. Several run at once.
"""
import os
import pwd
import random
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = os.path.join(HERE, "..", "..", "tools")

GATE = "libexec/onespine/onespine-gate"
CLIENT_S = 15  # for an srun to end, once all jobs have

# Each start of a gate, and the fault that it meets, stands in OUT/gates/NODE before it looks at anything.
WRAPPER = "#!/bin/bash\n" """\
node={folder}/nodes/$SLURMD_NODENAME
export ONESPINE_TEST_ROOT=$node LD_LIBRARY_PATH={folder}/fakes LD_PRELOAD={folder}/fakes/libsystem.so
CHAOS_BAD=-
[[ ! -e $node.faults ]] || . "$node.faults"
{record}exec {prefix}/{words}
"""
RECORD = ('echo "$EPOCHREALTIME $SLURM_JOB_ID ${{SLURM_JOB_RESTART_COUNT:-0}} $CHAOS_BAD" '
          '>>{out}/gates/$SLURMD_NODENAME\n')

JOB = "#!/bin/bash\n" """\
exec >>{out}/jobs/$SLURM_JOB_NAME 2>&1
echo "begin $EPOCHREALTIME $SLURM_JOB_ID ${{SLURM_RESTART_COUNT:-0}} $SLURM_JOB_NODELIST"
timeout 20 srun -l bash -c 'echo "on $SLURMD_NODENAME $SLURM_JOB_ID ${{SLURM_RESTART_COUNT:-0}} $CUDA_VISIBLE_DEVICES"'
sleep "$1"
echo "end $EPOCHREALTIME $SLURM_JOB_ID"
"""


@dataclass
class Submitted:
    """What a user asked for, and what was answered."""

    name: str
    user: str
    kind: str
    at_s: float
    job: str = ""
    said: str = ""
    cancelled: bool = False
    waits: bool = False  # an srun that did not end when all jobs had


@dataclass
class Cancel:
    """A scancel of a user's, whose job ever he meant."""

    user: str
    job: str
    at_s: float


@dataclass
class Record:
    """What was done, for the judge."""

    jobs: list = field(default_factory=list)
    cancels: list = field(default_factory=list)
    drops: list = field(default_factory=list)  # moments when slurmctld lost what it had not written yet
    bad: dict = field(default_factory=dict)  # node: [(begin, end, word)]
    dead: dict = field(default_factory=dict)  # node: [(begin, end)], in whatever way
    gates: dict = field(default_factory=dict)  # node: [(begin, end)], a gate of it was stopped or killed
    deaf: list = field(default_factory=list)  # moments when slurmctld or munged answered nobody
    counts: dict = field(default_factory=dict)
    findings: list = field(default_factory=list)
    died: dict = field(default_factory=dict)
    steps: list = field(default_factory=list)  # (job, moment): a slurmstepd of it was killed; "": of whichever job


class Actor:
    """The cluster, and everything that is done to it."""

    def __init__(self, folder, out, prefix, nodes, seconds):
        self.folder, self.out, self.prefix, self.nodes, self.seconds = folder, out, prefix, nodes, seconds
        self.record = Record()
        self.over = threading.Event()
        self.quiet_s = 0  # when all jobs had ended; 0: not yet
        self.lock = threading.Lock()
        self.up = {name: True for name in ["slurmctld"] + [f"slurmd.{node}" for node in nodes]}
        self.turns = {name: threading.Lock() for name in self.up}  # who ends a daemon starts it before another ends it
        self.env = {**os.environ, "SLURM_CONF": f"{folder}/slurm.conf",
                    "PATH": f"{prefix}/bin:{os.environ['PATH']}:/usr/sbin"}
        self.port = int(re.search(r"^SlurmctldPort=(\d+)", self.read("slurm.conf"), re.M).group(1))
        for name, words in (("prolog", f"{GATE} prolog"), ("epilog", f"{GATE} epilog"),
                            ("check", 'bin/onespine "$@"')):
            record = RECORD.format(out=out) if name == "prolog" else ""
            self.write(f"{folder}/{name}", WRAPPER.format(folder=folder, prefix=prefix, words=words, record=record))
        self.write(f"{out}/job.sh", JOB.format(out=out))
        self.started = time.time()
        self.monitor = threading.Thread(target=self.watch, daemon=True)
        self.monitor.start()

    # --- tools --------------------------------------------------------------------------------------

    def read(self, name):
        with open(f"{self.folder}/{name}", encoding="utf-8", errors="replace") as file:
            return file.read()

    @staticmethod
    def write(path, text):
        with open(f"{path}.new", "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(f"{path}.new", 0o755)
        os.rename(f"{path}.new", path)

    def now(self):
        return time.time() - self.started

    def tell(self, words):
        print(f"{self.now():8.1f} {words}", flush=True)

    def finding(self, words):
        with self.lock:
            self.record.findings.append(f"after {self.now():.0f} s: {words}")
        self.tell(f"FINDING: {words}")

    def count(self, what):
        with self.lock:
            self.record.counts[what] = self.record.counts.get(what, 0) + 1

    def wait_until(self, at_s):
        self.over.wait(max(0, at_s - self.now()))

    def run(self, *command, user=None, limit_s=60, stdin=None, env=None, ns=None):
        """Status and what it wrote, both streams; status 124 when it takes too long."""
        command = [*(["nsenter", f"--net=/run/netns/{self.link(ns)}"] if ns else []),
                   *(["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []), *command]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd="/", check=False,
                                  env={**self.env, **(env or {})}, timeout=limit_s,
                                  **({"input": stdin} if stdin else {"stdin": subprocess.DEVNULL}))
            return done.returncode, done.stdout.decode("utf-8", "replace")
        except subprocess.TimeoutExpired as late:
            return 124, (late.stdout or b"").decode("utf-8", "replace")

    def cluster(self, verb, *words):
        return self.run(f"{TOOLS}/cluster", verb, "--dir", self.folder, *words, limit_s=150)

    def act(self, event):
        self.tell(str(event))
        self.count(event.what)
        try:
            getattr(self, event.what.replace("-", "_"))(event)
        except Exception as error:  # a fault of chaos itself must not end the run unseen
            self.finding(f"{event}: {type(error).__name__}: {error}")

    # --- daemons ------------------------------------------------------------------------------------

    def pid(self, name):
        """Of a daemon's pid file, while it runs; else 0."""
        try:
            with open(f"{self.folder}/run/{name}.pid", encoding="ascii") as file:
                pid = int(file.read())
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                return 0 if file.read().rsplit(")", 1)[1].split()[0] == "Z" else pid
        except (OSError, ValueError):
            return 0

    def watch(self):
        """No daemon ends by itself."""
        while True:
            for name, up in list(self.up.items()):
                if not up or self.pid(name):
                    continue
                time.sleep(0.5)
                if self.up[name] and not self.pid(name):
                    self.up[name] = False
                    self.record.died[name] = self.record.died.get(name, 0) + 1
                    tail = self.read(f"log/{name}.log")[-700:].replace("\n", " | ")
                    self.finding(f"{name} ended by itself: {tail}")
            time.sleep(1)

    def end(self, name, number):
        """Ends a daemon on purpose; false if it does not run."""
        self.up[name] = False
        pid = self.pid(name)
        if not pid:
            return False
        os.kill(pid, number)
        if number == signal.SIGSTOP:
            return True
        until = time.time() + 30
        while self.pid(name) == pid and time.time() < until:
            time.sleep(0.1)
        if self.pid(name) == pid:
            os.kill(pid, signal.SIGKILL)
        return True

    def begin(self, name):
        """Starts a daemon until it runs; MUNGE or the disk may be away meanwhile."""
        until = time.time() + 120
        while time.time() < until:
            if not self.pid(name):
                self.cluster(*(("start-ctld",) if name == "slurmctld" else ("start-node", name.split(".")[1])))
            if self.pid(name) and (name != "slurmctld" or "is UP" in self.run("scontrol", "ping")[1]):
                time.sleep(1)
                if self.pid(name):
                    self.up[name] = True
                    return
            time.sleep(1)
        self.finding(f"{name} does not start: {self.read(f'log/{name}.log')[-500:]}")

    def interrupt(self, name, number, for_s):
        with self.turns[name]:
            begun = self.now()
            if self.end(name, number):
                self.over.wait(for_s)
            self.begin(name)
            self.away(name, begun)

    def away(self, name, begun):
        if name.startswith("slurmd."):
            self.record.dead.setdefault(name.split(".")[1], []).append((begun, self.now()))
        elif name == "slurmctld":
            self.record.drops.append((begun, self.now()))
            self.record.deaf.append((begun, self.now()))

    def hold(self, name, pid, for_s):
        """SIGSTOP and SIGCONT."""
        if not pid:
            return
        begun = self.now()
        try:
            os.kill(pid, signal.SIGSTOP)
        except ProcessLookupError:  # it has ended since it was found
            return
        self.over.wait(for_s)
        try:
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            pass
        if name.startswith("slurmd."):
            self.away(name, begun)
        elif name in ("slurmctld", "munged"):
            self.record.deaf.append((begun, self.now()))

    def ctld_kill(self, event):
        self.interrupt("slurmctld", signal.SIGKILL, event.for_s)

    def ctld_end(self, event):
        self.interrupt("slurmctld", signal.SIGTERM, event.for_s)

    def ctld_stop(self, event):
        self.hold("slurmctld", self.pid("slurmctld"), event.for_s)

    def ctld_slow(self, event):
        """Stopped for nine tenths of the time."""
        begun = self.now()
        while self.now() < begun + event.for_s and not self.over.is_set():
            pid = self.pid("slurmctld")
            if not pid:
                break
            self.signal(pid, signal.SIGSTOP)
            self.over.wait(0.45)
            self.signal(pid, signal.SIGCONT)
            self.over.wait(0.05)
        self.record.deaf.append((begun, self.now()))

    def reconfigure(self, _event):
        self.run("scontrol", "reconfigure")

    def slurmd_kill(self, event):
        self.interrupt(f"slurmd.{event.whom}", signal.SIGKILL, event.for_s)

    def slurmd_end(self, event):
        self.interrupt(f"slurmd.{event.whom}", signal.SIGTERM, event.for_s)

    def slurmd_stop(self, event):
        self.hold(f"slurmd.{event.whom}", self.pid(f"slurmd.{event.whom}"), event.for_s)

    def node_dies(self, event):
        """slurmd, the gate, and all that runs there, at once."""
        name = f"slurmd.{event.whom}"
        with self.turns[name]:
            self.up[name] = False
            begun = self.now()
            for pid in self.run("ip", "netns", "pids", self.link(event.whom))[1].split():
                self.signal(int(pid), signal.SIGKILL)
            self.over.wait(event.for_s)
            self.begin(name)
            self.away(name, begun)

    def munged(self):
        found = [pid for pid in os.listdir("/proc") if pid.isdigit() and self.comm(pid) == "munged"]
        return int(found[0]) if found else 0

    @staticmethod
    def parent(pid):
        """Its number; none where it has ended meanwhile."""
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                return file.read().rsplit(")", 1)[1].split()[1]
        except OSError:
            return ""

    @staticmethod
    def comm(pid):
        try:
            with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
                return file.read().strip()
        except OSError:
            return ""

    def munge_kill(self, event):
        begun = self.now()
        pid = self.munged()
        if pid:
            os.kill(pid, signal.SIGKILL)
            self.over.wait(event.for_s)
        self.start_munge()
        self.record.deaf.append((begun, self.now()))

    def start_munge(self):
        for _ in range(10):
            if self.munged() or not self.cluster("start-munge")[0]:
                return
        self.finding("munged does not start")

    def munge_stop(self, event):
        self.hold("munged", self.munged(), event.for_s)

    # --- networks -----------------------------------------------------------------------------------

    def link(self, node):
        return f"osp{self.node_port(node)}"

    def node_port(self, node):
        return self.port + 1 + self.nodes.index(node)

    def address(self, node):
        port = self.node_port(node)
        return f"198.18.{port >> 8}.{port & 255}"

    def wire_cut(self, event):
        begun = self.now()
        self.cluster("cut-wire", event.whom)
        self.over.wait(event.for_s)
        self.cluster("mend-wire", event.whom)
        self.away(f"slurmd.{event.whom}", begun)

    def wire_slow(self, event):
        """2 Mb/s, and what does not fit into 32 KiB is lost."""
        wire = ("dev", "eth0", "root")
        begun = self.now()
        self.run("tc", "-n", self.link(event.whom), "qdisc", "add", *wire, "tbf", "rate", "2mbit", "burst", "16kb",
                 "limit", "32kb")
        self.over.wait(event.for_s)
        self.run("tc", "-n", self.link(event.whom), "qdisc", "del", *wire)
        self.away(f"slurmd.{event.whom}", begun)

    def pair_cut(self, event):
        """Two nodes that do not reach each other, and all others do."""
        pair = (event.whom, event.words["other"])
        begun = self.now()
        for verb in ("add", "del"):
            for node, other in (pair, pair[::-1]):
                self.run("ip", "-n", self.link(node), "route", verb, "blackhole", f"{self.address(other)}/32")
            if verb == "add":
                self.over.wait(event.for_s)
        for node in pair:
            self.away(f"slurmd.{node}", begun)

    # --- disks and processors -----------------------------------------------------------------------

    def fill(self, folder, for_s):
        path = f"{folder}/filled"
        try:
            with open(path, "wb", buffering=0) as file:
                while True:
                    if not file.write(b"\0" * 65536):
                        break
        except OSError:
            pass
        self.over.wait(for_s)
        os.unlink(path)

    def tmp_full(self, event):
        """A file system of our own (chaos.own_tmp())."""
        self.fill("/tmp", event.for_s)

    def log_full(self, event):
        """The gate's log and history: a file system without room."""
        folder = f"{self.folder}/nodes/{event.whom}{self.prefix}/var/log/onespine"
        self.run("mount", "-t", "tmpfs", "-o", "size=16k,mode=0755", "none", folder)
        self.fill(folder, event.for_s)
        self.run("umount", "--lazy", folder)

    def spool_full(self, event):
        begun = self.now()
        self.fill(f"{self.out}/spool/{event.whom}", event.for_s)
        self.away(f"slurmd.{event.whom}", begun)

    def state_full(self, event):
        begun = self.now()
        self.fill(f"{self.out}/state", event.for_s)
        self.record.drops.append((begun, self.now()))

    def slow(self, folder, for_s):
        """Its disk is frozen for nine tenths of the time: whoever writes there waits, and cannot be killed meanwhile."""
        until = time.time() + for_s
        while time.time() < until and not self.over.is_set():
            if self.run("fsfreeze", "--freeze", folder)[0]:
                return
            self.over.wait(0.45)
            self.run("fsfreeze", "--unfreeze", folder)
            time.sleep(0.05)

    def state_slow(self, event):
        begun = self.now()
        self.slow(f"{self.out}/state", event.for_s)
        self.record.drops.append((begun, self.now()))
        self.record.deaf.append((begun, self.now()))

    def spool_slow(self, event):
        begun = self.now()
        self.slow(f"{self.out}/spool/{event.whom}", event.for_s)
        self.away(f"slurmd.{event.whom}", begun)

    def log_slow(self, event):
        """The gate's log, its history and what it has seen."""
        self.slow(f"{self.out}/var/{event.whom}", event.for_s)

    def hog(self, event):
        with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as hog:
            self.over.wait(event.for_s)
            hog.kill()

    # --- gates --------------------------------------------------------------------------------------

    def gates(self):
        """The processes of all nodes' Prologs and Epilogs, but for those that slurmd started: if one of them is
        killed, it is Slurm itself that takes its node for broken (gate/gate_again.h)."""
        wanted = f"ONESPINE_TEST_ROOT={self.folder}/nodes/".encode()
        found = []
        for pid in os.listdir("/proc"):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    if wanted in file.read() and self.comm(self.parent(pid)) != "slurmd":
                        found.append(int(pid))
            except OSError:
                continue
        return sorted(found)

    def some_gate(self, part):
        until = time.time() + 5
        while time.time() < until and not self.over.is_set():
            found = self.gates()
            if found:
                return found[int(part * len(found))]
            time.sleep(0.1)
        return 0

    def gate_kill(self, event):
        pid = self.some_gate(event.words["part"])
        if pid:
            node, words = self.of_gate(pid)
            self.tell(f"kills {words}")
            self.signal(pid, signal.SIGKILL)
            self.record.gates.setdefault(node, []).append((self.now(), self.now()))

    def of_gate(self, pid):
        """Its node, and which one it was, for whoever reads the log."""
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                words = dict(word.split(b"=", 1) for word in file.read().split(b"\0") if b"=" in word)
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                command = file.read().replace(b"\0", b" ").decode("utf-8", "replace")
            root = words.get(b"ONESPINE_TEST_ROOT", b"").decode()
            job = words.get(b"SLURM_JOB_ID", b"-").decode()
            node = os.path.basename(root)
            return node, f"{node}: {pid} {command.strip()} (job {job})"
        except OSError:
            return "", str(pid)

    @staticmethod
    def signal(pid, number):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass

    def gate_stop(self, event):
        pid = self.some_gate(event.words["part"])
        if pid:
            node, words = self.of_gate(pid)
            begun = self.now()
            self.tell(f"stops {words}")
            self.hold("gate", pid, event.for_s)
            self.record.gates.setdefault(node, []).append((begun, self.now()))

    def some_step(self, part):
        """A slurmstepd, and the job that it is of."""
        found = sorted(int(pid) for pid in os.listdir("/proc") if pid.isdigit() and self.comm(pid).startswith("slurmstepd"))
        if not found:
            return 0, ""
        pid = found[int(part * len(found))]
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().replace(b"\0", b" ").decode("utf-8", "replace").strip()
        except OSError:
            return 0, ""
        named = re.search(r"\[(\d+)\.", words)
        return pid, named.group(1) if named else ""

    def stepd_kill(self, event):
        pid, job = self.some_step(event.words["part"])
        if pid:
            self.tell(f"kills the slurmstepd {pid} of job {job or '?'}")
            self.signal(pid, signal.SIGKILL)
            self.record.steps.append((job, self.now()))

    def stepd_stop(self, event):
        pid, job = self.some_step(event.words["part"])
        if pid:
            self.tell(f"stops the slurmstepd {pid} of job {job or '?'}")
            self.hold("slurmstepd", pid, event.for_s)

    def bad(self, event):
        begun = self.now()
        self.write(f"{self.folder}/nodes/{event.whom}.faults",
                   f"CHAOS_BAD={event.words['word']}\nexport {event.words['line']}\n")
        self.over.wait(event.for_s)
        os.unlink(f"{self.folder}/nodes/{event.whom}.faults")
        self.record.bad.setdefault(event.whom, []).append((begun, self.now(), event.words["word"]))

    def dubious(self, event):
        begun = self.now()
        self.write(f"{self.folder}/nodes/{event.whom}.faults", f"export {event.words['line']}\n")
        self.over.wait(event.for_s)
        os.unlink(f"{self.folder}/nodes/{event.whom}.faults")
        if event.words["word"] != "-":
            self.record.bad.setdefault(event.whom, []).append((begun, self.now(), event.words["word"]))

    def recheck(self, event):
        """By the administrator; often killed while it is at it."""
        command = ["onespine", "recheck", f"--program={self.folder}/check", "--depth=passive"]
        with open(f"{self.out}/said/recheck", "ab") as said:
            with subprocess.Popen(command, stdout=said, stderr=said, stdin=subprocess.DEVNULL, env=self.env,
                                  start_new_session=True) as recheck:
                try:
                    recheck.wait(event.words["kill_s"] or 120)
                except subprocess.TimeoutExpired:
                    recheck.kill()

    # --- users --------------------------------------------------------------------------------------

    def submit(self, event):
        words = event.words
        asked = Submitted(words["name"], event.whom, words["kind"], self.now())
        with self.lock:
            self.record.jobs.append(asked)
        gres = "gpu:4" if words["kind"] == "part" else "gpu:8"
        command = ["--job-name", words["name"], "--chdir=/", "--time=10", f"--gres={gres}", f"-N{words['nodes']}"]
        if words["nodes"] > 1:
            command.append("--gang")
        command += {"spares": ["--gang-spares=1"], "array": ["--array=1-2"], "final": ["--no-requeue"]}.get(
            words["kind"], [])
        user = pwd.getpwnam(event.whom).pw_uid
        if words["kind"] == "srun":
            self.srun(asked, user, *command, "true")
            return
        asked.said = self.run("sbatch", "--parsable", "--output=/dev/null", "--requeue", *command,
                              f"{self.out}/job.sh", str(words["runs_s"]), user=user)[1].strip()
        found = re.search(r"^(\d+)$", asked.said, re.M)
        if found:
            asked.job = found.group(1)
        else:
            self.tell(f"{asked.name} not submitted: {asked.said[-150:]}")

    def srun(self, asked, user, *command):
        """Ended when all jobs have and it still waits: the judge says for what."""
        with subprocess.Popen(["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "srun", *command],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd="/",
                              env=self.env) as srun:
            while not asked.said:
                try:
                    asked.said = srun.communicate(timeout=5)[0].decode("utf-8", "replace") or "nothing"
                except subprocess.TimeoutExpired:
                    if self.quiet_s and time.time() > self.quiet_s + CLIENT_S:
                        asked.waits = True
                        srun.kill()

    def own(self, user, part):
        with self.lock:
            found = [job for job in self.record.jobs if job.user == user and job.job]
        return found[int(part * len(found[-8:])) - len(found[-8:])] if found else None

    def cancel(self, event):
        job = self.own(event.whom, event.words["part"])
        if job:
            job.cancelled = True
            self.scancel(event.whom, job.job)

    def scancel(self, user, job):
        with self.lock:
            self.record.cancels.append(Cancel(user, job, self.now()))
        self.run("scancel", job, user=pwd.getpwnam(user).pw_uid)

    def srun_kill(self, event):
        """Of whichever user: the client dies, and what it holds must not stay."""
        found = sorted(int(pid) for pid in os.listdir("/proc") if pid.isdigit() and self.comm(pid) == "srun")
        if found:
            pid = found[int(event.words["part"] * len(found))]
            if self.parent(pid) == str(os.getpid()):  # not that of a recheck, or inside a job
                self.signal(pid, signal.SIGKILL)

    def others(self, user, part):
        with self.lock:
            found = [job.job for job in self.record.jobs if job.user != user and job.job]
        return found[int(part * len(found[-8:])) - len(found[-8:])] if found else "1"

    def forge(self, event):
        """What none of it must do is seen at the end: nodes, jobs and slurmctld's log."""
        getattr(self, "forge_" + event.words["how"])(
            pwd.getpwnam(event.whom).pw_uid, event.words["node"], self.others(event.whom, event.words["part"]))

    def refused(self, what, status):
        if not status:
            self.finding(f"a user may {what}")

    def forge_drain(self, user, node, _job):
        self.refused("drain", self.run("scontrol", "update", f"NodeName={node}", "State=DRAIN",
                                       "Reason=onespine: gpu3 ecc 12 uncorrectable > 0; reset gpu", user=user)[0])

    def forge_comment(self, user, _node, job):
        self.refused("comment", self.run("scontrol", "update", f"JobId={job}",
                                         "AdminComment=[onespine: suspects=n[1-16]]", user=user)[0])

    def forge_requeue(self, user, _node, job):
        self.run("scontrol", "requeue", job, user=user)

    def forge_cancel(self, user, _node, job):
        self.scancel(pwd.getpwuid(user).pw_name, job)

    def forge_gate(self, user, node, job):
        env = {"SLURM_JOB_ID": job, "SLURMD_NODENAME": node, "SLURM_NODELIST": node, "SLURM_JOB_UID": "0",
               "SLURM_JOB_PARTITION": "gpu", "SLURM_JOB_GPUS": "0,1,2,3", "SLURM_SCRIPT_CONTEXT": "prolog_slurmd",
               "SLURM_JOB_RESTART_COUNT": "0", "LD_LIBRARY_PATH": f"{self.folder}/fakes",
               "LD_PRELOAD": f"{self.folder}/fakes/libsystem.so", "ONESPINE_FAKE_NVML": "gpu3.ecc_uncorrected=12",
               "ONESPINE_TEST_ROOT": f"{self.folder}/nodes/{node}"}
        self.run(f"{self.prefix}/{GATE}", random.choice(("prolog", "epilog")), user=user, env=env, ns=node)

    def forge_policy(self, user, _node, _job):
        env = {"SLURM_SPANK__SLURM_SPANK_OPTION_onespine_gang_check": "off", "ONESPINE_GANG_CHECK": "off",
               "SPANK__ONESPINE_SPARES": "1", "ONESPINE_SPARES": "1", "ONESPINE_TEST_ROOT": "/nowhere"}
        self.run("sbatch", "--job-name=forged", "--chdir=/", "--output=/dev/null", "--time=1", "-N2", "--gres=gpu:8",
                 "--export=ALL", "--wrap=true", user=user, env=env)

    def forge_name(self, user, _node, _job):
        self.run("sbatch", "--job-name=forged \033[2J\xc2\x9b\n[2026] error: \xff", "--chdir=/", "--output=/dev/null",
                 "--time=1", "-N2", "--gang=no\nsuch", "--gres=gpu:8", "--wrap=true", user=user,
                 env={"ONESPINE_GANG_SPARES": "1\nerror: forged"})

    def forge_suspects(self, user, _node, _job):
        self.run("sbatch", "--job-name=forged", "--chdir=/", "--output=/dev/null", "--time=1", "-N2", "--gres=gpu:8",
                 "--comment=[onespine: gang=spine suspects=n3,n(1-]", "--wrap=true", user=user)

    def forge_knock(self, user, node, _job):
        """300 connections to each port of a gate, from a node's neighbour."""
        self.run(f"{self.out}/knock", self.address(node), "288-303", "20", user=user, limit_s=30,
                 ns=self.nodes[self.nodes.index(node) - 1])

    def forge_folders(self, user, _node, _job):
        self.run("sbatch", "--job-name=forged", "--chdir=/", "--output=/dev/null", "--time=1", "-N1", "--gres=gpu:8",
                 "--wrap=srun true", user=user,
                 env={"LD_LIBRARY_PATH": ":".join(f"/tmp/{number}" for number in range(3000))})

    def forge_texts(self, user, _node, _job):
        """In each word of a job that somebody reads, and of its container; none of it may come out as it went in."""
        env = dict.fromkeys(("SLURM_CONTAINER", "ENROOT_ROOTFS", "NCCL_DEBUG_FILE", "NCCL_NET", "NCCL_TOPO_FILE",
                             "FI_PROVIDER", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH"), EVIL)
        self.run("sbatch", "--job-name", "forged" + EVIL, "--comment", EVIL, "--chdir=/", "--output=/dev/null",
                 "--time=1", "-N2", "--gang", "--gres=gpu:8", "--export=ALL", "--wrap=srun true", user=user, env=env)
        self.run("sbatch", "--job-name=forged", "--chdir=/", "--output=/dev/null", "--time=1", "-N1", "--gres=gpu:8",
                 f"--container={EVIL}", "--wrap=true", user=user)

    def forge_files(self, user, node, _job):
        """Writes, and holds the lock of, whatever he can open of what the node and recheck keep."""
        folders = [f"{self.folder}/nodes/{node}{self.prefix}/var", f"{self.folder}/nodes/{node}/run/onespine",
                   f"{self.prefix}/var"]
        said = self.run("bash", "-c", LAY_HANDS, "bash", *folders, user=user, limit_s=30)[1]
        if "wrote " in said:
            self.finding(f"a user may write: {said}")

    def forge_commands(self, user, node, _job):
        for command in (["onespine", "recheck", node],
                        ["scontrol", "create", "reservation", "ReservationName=theirs", f"Nodes={node}",
                         "StartTime=now", "Duration=10", "Users=daemon"],
                        ["scontrol", "delete", f"ReservationName=onespine-{node}"],
                        ["scontrol", "update", f"NodeName={node}", "State=RESUME"]):
            self.refused(" ".join(command), self.run(*command, user=user)[0])

    def flood(self, event):
        """Packets at a node: 14 Mb/s, inside our own networks."""
        self.run(sys.executable, "-c", FLOOD, self.address(event.words["target"]), str(event.for_s),
                 user=pwd.getpwnam(event.whom).pw_uid, ns=event.words["source"])

    # --- the end ------------------------------------------------------------------------------------

    def mend(self):
        """Whatever an event could not end is ended, and the nodes register again."""
        self.over.set()
        self.start_munge()
        for name in self.up:
            with self.turns[name]:
                if not self.pid(name):
                    self.begin(name)
        self.run("scontrol", "reconfigure")


# A terminal's escapes, a line of its own, a C1 control, a turn of direction, bytes of no UTF-8.
EVIL = os.fsdecode(b"a\x1b]0;owned\x07\x1b[31mb\nslurmctld: error: forged\rc\xc2\x9b2Jd\xe2\x80\xaee\xff\xfe<g>")

LAY_HANDS = """\
find "$@" -type f 2>/dev/null | head -n 40 | while read -r file; do
	{ echo forged >>"$file"; } 2>/dev/null && echo "wrote $file"
	flock -n "$file" sleep 2 2>/dev/null &
done
wait
"""

FLOOD = """\
import socket, sys, time
to = (sys.argv[1], 9)
packets = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
until = time.time() + float(sys.argv[2])
while time.time() < until:
    for _ in range(25):
        try:
            packets.sendto(bytes(1400), to)
        except OSError:
            pass
    time.sleep(0.02)
"""
