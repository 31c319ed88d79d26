/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * quarantine.h - bad instances that are kept out of use without being ended
 *
 * On ParallelCluster clustermgtd ends the instance of a drained node (lib/conf/clustermgtd.h), and
 * EC2 may launch the next one on the same bad host, inside the same capacity reservation. With
 * `quarantine: K` the gate does not drain up to K of the nodes that failed but reserves each for
 * root: no job starts there, clustermgtd sees a healthy node, and the host stays occupied while
 * the cloud's support looks at it. After `quarantine_h` hours a node is let go: it is drained, so
 * clustermgtd ends its instance, and the reservation is deleted.
 *
 * A reservation is of a node's name, and quarantine is meant for an instance. So the reservation
 * is called after the instance; a node that is another instance now is let go without a drain.
 *
 * Decides only; any thread, no shared state.
 */
#ifndef OSP_QUARANTINE_H
#define OSP_QUARANTINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/gate/gate_policy.h"

#define OSP_QUARANTINE_PREFIX	  "onespine-quarantine-"
#define OSP_QUARANTINE_NAME_BYTES 160
#define OSP_QUARANTINE_NODES_MAX  64
#define OSP_QUARANTINE_HOURS_MAX  8000 /* Slurm ends a reservation after 8760 */

/* One node in quarantine. */
struct osp_quarantined {
	const char *node;
	const char *instance; /* as in the reservation's name; the node's name if it had none */
	int64_t since_s;
};

/* Writes the reservation's name for a node that is this instance (NULL or "": not known) to `name`,
 * which it returns. */
const char *osp_quarantine_name(const char *node, const char *instance,
				char name[OSP_QUARANTINE_NAME_BYTES]);

/* Returns the instance in a reservation's name; NULL if it is no quarantine's. */
const char *osp_quarantine_instance(const char *name);

/* Returns the index of `node` among those in quarantine, or `count` if it is not in quarantine. */
size_t osp_quarantine_find(const struct osp_quarantined *nodes, size_t count, const char *node);

/* What the gate does with a bad node. */
enum osp_quarantine_choice {
	OSP_QUARANTINE_DRAIN,  /* drained, as everywhere */
	OSP_QUARANTINE_KEEP,   /* reserved instead */
	OSP_QUARANTINE_ALREADY /* it is in quarantine */
};

/* Chooses for `node`, with `count` nodes in quarantine already. */
enum osp_quarantine_choice osp_quarantine_choose(const struct osp_gate_policy *policy,
						 const struct osp_quarantined *nodes, size_t count,
						 const char *node);

/* What recheck does with a node in quarantine. */
enum osp_quarantine_due {
	OSP_QUARANTINE_STAYS,
	OSP_QUARANTINE_OVER,   /* its hours are over: drain it, then delete the reservation */
	OSP_QUARANTINE_ANOTHER /* it is another instance, or is gone: delete the reservation */
};

/* What a node is now, as slurmctld has it. */
struct osp_quarantine_now {
	bool exists;
	const char *instance; /* NULL or "": not known */
	int64_t boot_s;	      /* 0: not known */
};

/*
 * Returns what is due at `now_s`. If the instance in quarantine was not known, a boot since then
 * makes the node another one: a next gate checks it.
 */
enum osp_quarantine_due osp_quarantine_due(const struct osp_gate_policy *policy,
					   const struct osp_quarantined *node,
					   const struct osp_quarantine_now *now, int64_t now_s);

#endif
