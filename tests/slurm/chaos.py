#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""chaos - a cluster in which everything is killed, cut, filled and slowed while users submit, cancel, forge and flood

    --seconds N     how long (default 120), before everything is mended and judged
    --seed N        what happens when (default: by the clock); the same seed and length, the same schedule
    --leftover-seconds N  how long jobs may go on waiting after that (default: until all have run); then all that wait
                    but the 20 oldest are cancelled
    --show          prints the schedule and does nothing
    --prefix DIR    where Onespine is installed (default: $ONESPINE_PREFIX)
    --fakes DIR     the folder of the fake libraries (default: $ONESPINE_FAKES)
    --keep DIR      copies logs and records there

16 nodes, each in a network namespace of its own, on a real Slurm, whose users are daemon, games and www-data. As
root, in namespaces of processes, mounts and network of its own: whatever is left running or mounted ends with it.

At the end every fault is mended, and the jobs that are left run to their end, however many they are: it has failed
when none of them has ended for 300 s. These must hold: no node drained that was not bad; no bad node in a gang
that ran; no job lost, or held for ever; no process, file or reservation left; no daemon that ended by itself; no
file of root's that a user wrote; nothing that a terminal obeys in what Onespine wrote of users' words.
Prints a line for each finding, and a count at the end. Fails if there was a finding.
"""
import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True  # nothing beside the sources

# pylint: disable=wrong-import-position
import chaos_act
import chaos_judge
import chaos_schedule

HERE = os.path.dirname(os.path.abspath(__file__))
NODES = [f"n{number}" for number in range(1, 17)]
# Without a job that ends: a dead node's ends, is requeued, waits for cred_expire and runs again; and a reservation that
# came back with slurmctld's older state is taken over when it is OSP_TRIAL_QUIET_S (host/slurm/controller.h) old.
IDLE_S = 300


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--seed", type=int, default=int(time.time()) % 1000000)
    parser.add_argument("--leftover-seconds", type=int, default=0)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--prefix", default=os.environ.get("ONESPINE_PREFIX", ""))
    parser.add_argument("--fakes", default=os.environ.get("ONESPINE_FAKES", ""))
    parser.add_argument("--keep", default="")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    return parser.parse_args()


def enter_namespaces():
    """The same again as a child of the first process of namespaces that end with it, in a folder that is removed."""
    base = tempfile.mkdtemp(prefix="chaos.", dir=os.environ.get("TMPDIR"))
    os.chmod(base, 0o755)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    inner = 'ip link set lo up && mkdir -p /run/netns && mount -t tmpfs none /run/netns && "$@"; exit $?'
    command = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc",
               "bash", "-c", inner, "bash", sys.executable, os.path.abspath(__file__), *sys.argv[1:], "--inside", base]
    try:
        return subprocess.run(command, check=False).returncode
    finally:
        shutil.rmtree(base)


def topology(path):
    """2 spines of 2 leaves of 4 nodes."""
    domains = [f'{{"level": "spine", "name": "s{spine}"}}' for spine in (1, 2)]
    for leaf in range(4):
        domains.append(f'{{"level": "leaf", "name": "l{leaf + 1}", "in": "s{leaf // 2 + 1}", '
                       f'"nodes": "n[{4 * leaf + 1}-{4 * leaf + 4}]"}}')
    with open(path, "w", encoding="ascii") as file:
        file.write('{"onespine-topology": 1, "source": "chaos", "levels": ["leaf", "spine"],\n"domains": [\n'
                   + ",\n".join(domains) + "\n]}\n")


POLICY = """\
defaults:
  gate: {budget_s: 12, fresh_s: 0, restarts: 100, breaker: 100, on_error: wait}
history: {strikes: 1000}
"""


def start_cluster(base, args):
    """Folders that can be filled are small file systems of their own."""
    out, folder = f"{base}/o", f"{base}/c"
    for name in ("jobs", "gates", "said", "state", "spool"):
        os.makedirs(f"{out}/{name}")
    os.chmod(f"{out}/jobs", 0o1777)
    shutil.copy(f"{args.fakes}/../knock", f"{out}/knock")
    mount_disk(f"{out}/state", 64)
    for node in NODES:
        os.makedirs(f"{out}/spool/{node}")
        mount_disk(f"{out}/spool/{node}", 4)
    os.makedirs(f"{args.prefix}/var", exist_ok=True)
    mount(f"{args.prefix}/var", "16m")  # other clusters of this installation have theirs
    for name in ("lib", "log"):
        os.makedirs(f"{args.prefix}/var/{name}/onespine", 0o755)
    topology(f"{out}/onespine.topology")
    with open(f"{out}/onespine.yaml", "w", encoding="ascii") as file:
        file.write(POLICY)
    command = [f"{HERE}/../../tools/cluster", "start", "--dir", folder, "--nodes", str(len(NODES)), "--gate",
               "--wire", "all", "--gres", "gpu:8", "--prefix", args.prefix,
               "--topology", f"{out}/onespine.topology", "--config", f"{out}/onespine.yaml"]
    for line in (f"AuthInfo=socket={folder}/munge/socket,cred_expire=5", f"StateSaveLocation={out}/state",
                 f"SlurmdSpoolDir={out}/spool/%n", "MinJobAge=360000", "SlurmdTimeout=20", "MessageTimeout=10",
                 "BatchStartTimeout=30", "InactiveLimit=60", "SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2"):
        command += ["--conf", line]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, **({"ONESPINE_FAKES": args.fakes} if args.fakes else {})})
    for node in NODES:
        own_disk(f"{out}/var/{node}", f"{folder}/nodes/{node}{os.path.realpath(args.prefix)}/var")
    return folder, out


def mount(folder, size, mode="0755"):
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode={mode}", "none", folder], check=True)


def mount_disk(folder, megabytes):
    """A disk of its own, that can be frozen; where the machine gives none (no loop devices), memory."""
    image = f"{folder}.image"
    with open(image, "wb") as file:
        file.truncate(megabytes << 20)
    made = subprocess.run(["mkfs.ext4", "-q", "-m", "0", image], check=False, stdout=subprocess.DEVNULL)
    if made.returncode or subprocess.run(["mount", "-o", "loop", image, folder], check=False).returncode:
        os.unlink(image)
        mount(folder, f"{megabytes}m")
        return
    os.rmdir(f"{folder}/lost+found")


def own_disk(disk, folder):
    """What is in the folder is on a disk of its own from now on."""
    os.makedirs(disk)
    mount_disk(disk, 8)
    subprocess.run(["cp", "-a", f"{folder}/.", disk], check=True)
    subprocess.run(["mount", "--bind", disk, folder], check=True)


def own_tmp(base, *needed):
    """A small /tmp of our own, that can be filled; what is needed of the machine's is bound into it."""
    staged = f"{base}/tmp"
    os.mkdir(staged)
    mount(staged, "8m", "1777")
    for path in {os.path.realpath(path) for path in (base, *needed) if path}:
        if path.startswith("/tmp/"):
            os.makedirs(f"{staged}{path[4:]}", exist_ok=True)
            subprocess.run(["mount", "--bind", path, f"{staged}{path[4:]}"], check=True)
    subprocess.run(["mount", "--rbind", staged, "/tmp"], check=True)


def play(actor, events):
    """Each event in a thread of its own, at its time; returns these threads when the time is over."""
    threads = []
    for event in events:
        actor.wait_until(event.at_s)
        thread = threading.Thread(target=actor.act, args=(event,), daemon=True, name=str(event))
        thread.start()
        threads.append(thread)
    actor.wait_until(actor.seconds)
    actor.over.set()
    return threads


def keep(base, folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name in ("c/log", "o/jobs", "o/gates", "o/said"):
        shutil.copytree(f"{base}/{name}", f"{folder}/{name.replace('/', '-')}", ignore_dangling_symlinks=True)
    for name in NODES:
        shutil.copy(f"{base}/c/nodes/{name}/gate.log", f"{folder}/gate.{name}.log")


def run(base, args):
    own_tmp(base, args.prefix, f"{args.fakes}/..", f"{HERE}/../..", args.keep and os.path.dirname(args.keep))
    folder, out = start_cluster(base, args)
    actor = chaos_act.Actor(folder, out, args.prefix, NODES, args.seconds)
    judge = chaos_judge.Judge(actor)
    judge.before()
    threads = play(actor, chaos_schedule.schedule(args.seed, args.seconds, NODES))
    time.sleep(5)  # who was to undo something does so at once
    actor.mend()
    judge.await_quiet(IDLE_S, args.leftover_seconds)  # an srun ends only when its job has run
    actor.quiet_s = time.time()
    for thread in threads:
        thread.join(30)
        if thread.is_alive():
            judge.finding(f"never ended: {thread.name}")
    judge.after()
    if args.keep:
        keep(base, args.keep)
    return judge.verdict(args.seed)


def main():
    args = options()
    if args.show:
        for event in chaos_schedule.schedule(args.seed, args.seconds, NODES):
            print(f"{event.at_s:8.1f} {event}")
        return 0
    if not args.inside:
        sys.argv += ["--seed", str(args.seed)]
        return enter_namespaces()
    print(f"chaos: seed {args.seed}, {args.seconds} s", flush=True)
    return run(args.inside, args)


if __name__ == "__main__":
    sys.exit(main())
