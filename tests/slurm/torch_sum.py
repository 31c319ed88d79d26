# SPDX-License-Identifier: GPL-2.0-or-later
"""A real torchrun job: sums the ranks by gloo; each rank says where it runs, and on which CPUs."""
import os
import torch
import torch.distributed as dist
import torch_run  # its store, also without libuv

dist.init_process_group("gloo")
total = torch.tensor([dist.get_rank()])
dist.all_reduce(total)
cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))))
print(dist.get_rank(), os.environ["SLURMD_NODENAME"], os.environ["LOCAL_RANK"], cpus,
      os.environ.get("CUDA_DEVICE_ORDER", "-"), "sum", total.item(), flush=True)
dist.destroy_process_group()
