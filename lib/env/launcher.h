/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * launcher.h - launchers that give ranks to nodes by themselves, whatever order tasks have
 *
 * torchrun's c10d sorts the names of nodes as strings and ignores --node-rank (PyTorch,
 * dynamic_rendezvous.py; pytorch/pytorch issue 191190). vLLM on Ray sorts its workers by address
 * (its Ray executor, sort_by_driver_then_worker_ip). They are found in the words of a step, in
 * PET_RDZV_BACKEND, which torchrun reads, and in what the words name: scripts, variables that
 * were exported, and what these name in turn, three deep. A script is looked for as it is named
 * and beside the one that names it. Python counts only if it starts programs: many a training
 * script says in a comment how torchrun starts it.
 *
 * SLURM_NODEID counts nodes by their names, whatever order tasks have; many scripts say
 * --node-rank=$SLURM_NODEID. It is looked for in the same places. A line that also
 * reads ONESPINE_NODE_RANK does not count: there SLURM_NODEID is the value outside a gang.
 *
 * Read are at most 8 plain files of at most 64 KiB each, of 64 that are looked for, and 32
 * variables. A launcher in a container's image, in a program, or under a name that is made while a
 * script runs is not found.
 *
 * One thread, as the user.
 */
#ifndef OSP_LAUNCHER_H
#define OSP_LAUNCHER_H

enum osp_launcher {
	OSP_LAUNCHER_BY_TASK, /* ranks follow tasks, as far as is known */
	OSP_LAUNCHER_C10D,
	OSP_LAUNCHER_RAY,
	OSP_LAUNCHER_NODEID, /* none of these, and SLURM_NODEID is read */
};

/* Finds one in the `words` of srun, without its name, or of a command. `variable` returns the value
 * of a variable, or NULL; NULL instead: no variable is known. */
enum osp_launcher osp_launcher_find(char *const *words, int count,
				    const char *(*variable)(const char *name));

#endif
