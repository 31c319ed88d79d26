/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * launcher.h - launchers that give ranks to nodes by themselves, whatever order tasks have
 *
 * torchrun's c10d sorts the names of nodes as strings and ignores --node-rank (PyTorch,
 * dynamic_rendezvous.py; pytorch/pytorch issue 191190). vLLM on Ray sorts its workers by address
 * (its Ray executor, sort_by_driver_then_worker_ip). They are found in srun's own words, in
 * PET_RDZV_BACKEND, which torchrun reads, and in the scripts among the words: at most 8 plain files
 * of at most 64 KiB each. A launcher that another program starts is not found.
 *
 * One thread, in srun, as its user.
 */
#ifndef OSP_LAUNCHER_H
#define OSP_LAUNCHER_H

enum osp_launcher {
	OSP_LAUNCHER_BY_TASK, /* ranks follow tasks, as far as is known */
	OSP_LAUNCHER_C10D,
	OSP_LAUNCHER_RAY,
};

/* Finds one in srun's `words`, without its name. */
enum osp_launcher osp_launcher_find(char *const *words, int count);

#endif
