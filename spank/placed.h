/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * placed.h - where a gang was placed, as ONESPINE_LEVEL, ONESPINE_DOMAIN and ONESPINE_LEAF
 *
 * The shadow writes it into the job's AdminComment when the job starts. It is asked for once a job,
 * by the batch script's step or by srun, and travels in the environment from there, the leaves of
 * all nodes in ONESPINE_LEAVES, of which each task takes its own. Whatever fails here leaves the
 * variables out and the job alone.
 */
#ifndef OSP_PLACED_H
#define OSP_PLACED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/policy/request.h"

#define OSP_LEVEL_VARIABLE  "ONESPINE_LEVEL"
#define OSP_DOMAIN_VARIABLE "ONESPINE_DOMAIN"
#define OSP_LEAF_VARIABLE   "ONESPINE_LEAF"
#define OSP_LEAVES_VARIABLE "ONESPINE_LEAVES"
/* The order of nodes (lib/layout/gang_order.h) where it is not that of the leaves. */
#define OSP_ORDER_VARIABLE "ONESPINE_ORDER"
/* Of the whole job: the node's place in the order of the fabric, who has place 0, and a file of all
 * of them in this order (spank/order_file.h). */
#define OSP_RANK_VARIABLE      "ONESPINE_NODE_RANK"
#define OSP_FIRST_VARIABLE     "ONESPINE_FIRST_HOST"
#define OSP_HOST_FILE_VARIABLE "ONESPINE_HOSTFILE"

struct osp_placed {
	char level[OSP_LEVEL_NAME_BYTES];
	char *domain;
	char *leaves; /* NULL if the list would have been too long for AdminComment */
	char *order;  /* of their nodes; NULL: that of the leaves */
	char *nodes;  /* all of the job's, as Slurm lists them */
};

/*
 * Asks slurmctld about a running job. True when it stands in one domain; osp_placed_free() then.
 * False for any other job, and where slurmctld does not answer.
 */
bool osp_placed_ask(uint32_t job_id, struct osp_placed *placed);

void osp_placed_free(struct osp_placed *placed);

#endif
