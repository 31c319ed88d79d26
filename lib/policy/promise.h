/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * promise.h - which jobs a policy makes gangs, and what several partitions promise together
 *
 * `gang: always` is meant for jobs of from_nodes nodes and more. The number of nodes that a job
 * takes is not always known before it starts: -n 32 and --gpus=8 name none, and -N1-8 names a
 * range. If a policy promises one domain (always, enforce, allow_off: false), the number of nodes
 * that it really gets decides then.
 *
 * Any thread, any daemon: no shared state, no allocation.
 */
#ifndef OSP_PROMISE_H
#define OSP_PROMISE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/policy/config.h"
#include "lib/topology/topology.h"

/* The number of nodes that a job may get. */
struct osp_size {
	uint32_t least_nodes; /* certainly no fewer; 0: unknown, so one */
	uint32_t most_nodes;  /* no more, as the job itself says; 0: it does not say */
};

enum osp_held {
	OSP_HELD_NOT,	   /* no gang by this policy */
	OSP_HELD_IF_LARGE, /* a gang if it gets from_nodes nodes or more */
	OSP_HELD	   /* a gang */
};

/* Returns what the policy makes of a job of that size that asks for nothing. A range counts by its
 * maximum. */
enum osp_held osp_policy_holds(const struct osp_policy *policy, const struct osp_size *size);

/* Returns whether users cannot keep a job of from_nodes nodes from being a gang here. */
bool osp_policy_promises(const struct osp_policy *policy);

/*
 * Adds to `policy` what `other` holds, for a job that may run under either (-p a,b): the stricter
 * mode, the lower of the levels that are always meant (by `topology`, which may be NULL: the first
 * one's stays), the fewest nodes, the longest time until it is relaxed. A partition without gang:
 * always adds nothing to the promise.
 */
void osp_policy_add(struct osp_policy *policy, const struct osp_policy *other,
		    const struct osp_topology *topology);

/*
 * Returns whether a partition of a list ("a,b") promises a level that domains of `level` cross, as
 * only an overlay's and the tree's do; `error` says which partition, and names such a domain.
 */
bool osp_policy_crosses(const struct osp_config *config, const char *partitions,
			const struct osp_topology *topology, const char *level,
			struct osp_error *error);

/* Returns what the partitions of a list promise together ("a,b", as Slurm has it for a job that may
 * run in either); of NULL and of a list without a name, the defaults. */
struct osp_policy osp_policy_of_list(const struct osp_config *config, const char *partitions,
				     const struct osp_topology *topology);

/*
 * Returns how many GPUs `tres` asks for in all, in Slurm's own words: "gres:gpu:h100:8,gres:gpu:2"
 * (up to 23.11), "gres/gpu:h100=8" or "gres/gpu:8". Of two with one name the last counts, as in
 * gres.c: --gres=gpu:8 beside --gpus-per-node=8 is 8. NULL and a text without GPUs give 0; a GPU
 * without a number counts as one.
 */
uint64_t osp_gpus_asked(const char *tres);

/* What a job says about GPUs, each in Slurm's words or NULL. A number that it does not give is
 * 0. */
struct osp_gpus_said {
	const char *per_job;
	const char *per_node;
	const char *per_task;
	uint32_t tasks;
};

/* The same as numbers. */
struct osp_gpus_wanted {
	uint64_t in_all;   /* of the job's tasks, or more */
	uint64_t per_task; /* all on the task's node; 0: not said */
	uint64_t tasks;	   /* at least 1 */
	uint64_t per_node; /* no node gives more; UINT64_MAX: not said */
};

void osp_gpus_read(struct osp_gpus_wanted *gpus, const struct osp_gpus_said *said);

/* Returns the least number of nodes that can hold the job's GPUs if no node has more than `most`.
 * 0: it asks for none; UINT32_MAX: such nodes never suffice. */
uint32_t osp_gpus_least_nodes(const struct osp_gpus_wanted *gpus, uint64_t most);

#endif
