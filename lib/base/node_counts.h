/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_counts.h - "8(x3),4": a number for each node of a list, as in SLURM_JOB_CPUS_PER_NODE
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_NODE_COUNTS_H
#define OSP_NODE_COUNTS_H

/*
 * Returns the numbers of the nodes that stay: `counts` belong to the hostlist `nodes`, and the
 * hostlist `kept` names some of these. The result is malloc'd; NULL if the lists do not belong
 * together or memory ran out.
 */
char *osp_node_counts_keep(const char *nodes, const char *counts, const char *kept);

#endif
