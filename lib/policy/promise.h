/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * promise.h - which jobs a policy makes gangs of, and what several partitions promise together
 *
 * `gang: always` is meant for jobs of from_nodes nodes and more. How many nodes a job takes is not
 * always known before it starts: -n 32 and --gpus=8 name none, and -N1-8 names a range. Where a
 * policy promises one domain (always, enforce, allow_off: false) the nodes that are really taken
 * decide then.
 *
 * Any thread, any daemon: no shared state, no allocation.
 */
#ifndef OSP_PROMISE_H
#define OSP_PROMISE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/policy/config.h"
#include "lib/topology/topology.h"

/* How many nodes a job may be given. */
struct osp_size {
	uint32_t least_nodes; /* certainly no fewer; 0: nothing is known, so one */
	uint32_t most_nodes;  /* no more, as the job says itself; 0: it does not */
};

enum osp_held {
	OSP_HELD_NOT,	   /* no gang by this policy */
	OSP_HELD_IF_LARGE, /* one when it is given from_nodes nodes or more */
	OSP_HELD	   /* a gang */
};

/* What the policy makes of a job of that size that asks for nothing. A range counts by its
 * maximum. */
enum osp_held osp_policy_holds(const struct osp_policy *policy, const struct osp_size *size);

/* Whether no user can keep a job of from_nodes nodes from being a gang here. */
bool osp_policy_promises(const struct osp_policy *policy);

/*
 * Makes `policy` hold what `other` holds too, for a job that may run under either (-p a,b): the
 * stricter mode, the lower of the levels that are always meant (by `topology`, which may be NULL:
 * the first one's stays), the fewest nodes, the longest time until it is relaxed. A partition
 * without gang: always adds nothing to what is promised.
 */
void osp_policy_add(struct osp_policy *policy, const struct osp_policy *other,
		    const struct osp_topology *topology);

/*
 * How many GPUs `tres` asks for in all, in Slurm's own words: "gres:gpu:h100:8,gres:gpu:2" (up to
 * 23.11), "gres/gpu:h100=8" or "gres/gpu:8". 0 for NULL and where it names none; a GPU without a
 * number is one.
 */
uint64_t osp_gpus_asked(const char *tres);

/* What a job says of GPUs, each in Slurm's words or NULL. A number is 0 if it is not said. */
struct osp_gpus_said {
	const char *per_job;
	const char *per_node;
	const char *per_task;
	uint32_t tasks;
};

/* The same as numbers. */
struct osp_gpus_wanted {
	uint64_t in_all;   /* of the job's tasks, or more */
	uint64_t per_task; /* a task has them on one node; 0: not said */
	uint64_t tasks;	   /* at least 1 */
	uint64_t per_node; /* each node gives no more; UINT64_MAX: not said */
};

void osp_gpus_read(struct osp_gpus_wanted *gpus, const struct osp_gpus_said *said);

/* The job's GPUs are certainly on no fewer nodes if no node has more than `most`. 0: it asks for
 * none; UINT32_MAX: such nodes never suffice. */
uint32_t osp_gpus_least_nodes(const struct osp_gpus_wanted *gpus, uint64_t most);

#endif
