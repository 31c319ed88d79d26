# SPDX-License-Identifier: GPL-2.0-or-later
"""torchrun, also of a PyTorch without libuv (USE_LIBUV=0). 2.6's own heeds neither that nor --rdzv-conf use_libuv=0
where it makes and joins the nodes' store, though that has an option for it; its children import this too."""
import functools
import os
import socket
import sys
import torch.distributed as dist

if os.environ.get("NODES_HAVE_NAMES"):
    # all nodes are one machine: each has the name that it would have on its own; the address of each is this one's
    socket.getfqdn = lambda host="": "localhost" if host else os.environ["SLURMD_NODENAME"]

if os.environ.get("USE_LIBUV") == "0":
    dist.TCPStore = functools.partial(dist.TCPStore, use_libuv=False)
    # a function hides the module of its name
    sys.modules["torch.distributed.rendezvous"].TCPStore = dist.TCPStore

if __name__ == "__main__":
    from torch.distributed.run import main
    main()
