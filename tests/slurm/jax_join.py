# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds its process number and its coordinator as jax.distributed.initialize() does under Slurm (JAX itself is not in
Debian): jax/_src/clusters/slurm_cluster.py. The coordinator, process 0, hears each process and prints where all are.
All nodes are one machine, so the coordinator's name is compared and its address is 127.0.0.1."""
import os
import socket
import time

DYNAMIC_PORTS = 1 << 12


def first_name(nodes):
    """The first name of "n[1-4,7],m1", read as JAX reads it."""
    end = next((i for i, c in enumerate(nodes) if c in ",["), len(nodes))
    if end == len(nodes) or nodes[end] == ",":
        return nodes[:end]
    rest = nodes[end + 1:]
    return nodes[:end] + rest[:next(i for i, c in enumerate(rest) if c in ",-]")]


def listen(port, count):
    with socket.create_server(("127.0.0.1", port)) as server:
        joined = [(0, os.environ["SLURMD_NODENAME"])]
        while len(joined) < count:
            connection, _ = server.accept()
            with connection, connection.makefile() as words:
                process, node = words.readline().split()
                joined.append((int(process), node))
    print("jax", *(node for _, node in sorted(joined)), flush=True)


def join(port, process):
    for _ in range(600):
        try:
            with socket.create_connection(("127.0.0.1", port)) as connection:
                connection.sendall(f"{process} {os.environ['SLURMD_NODENAME']}\n".encode())
            return
        except ConnectionRefusedError:
            time.sleep(0.1)  # JAX tries again too, until process 0 listens
    raise SystemExit(f"process {process}: no coordinator")


def main():
    process = int(os.environ["SLURM_PROCID"])
    port = int(os.environ["SLURM_JOB_ID"]) % DYNAMIC_PORTS + (65535 - DYNAMIC_PORTS + 1)
    coordinator = first_name(os.environ.get("SLURM_STEP_NODELIST") or os.environ["SLURM_JOB_NODELIST"])
    if process:
        join(port, process)
    elif coordinator != os.environ["SLURMD_NODENAME"]:
        raise SystemExit(f"process 0 is on {os.environ['SLURMD_NODENAME']}, the coordinator on {coordinator}")
    else:
        listen(port, int(os.environ["SLURM_NTASKS"]))


main()
