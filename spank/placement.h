/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * placement.h - where a gang was placed, as ONESPINE_LEVEL, ONESPINE_DOMAIN and ONESPINE_LEAF
 *
 * The shadow writes it into the job's AdminComment when the job starts. The batch script's step or
 * srun asks for it once a job; from there it travels in the environment, with the leaves of all
 * nodes in ONESPINE_LEAVES, from which each task takes its own. If anything fails here, the
 * variables are missing and the job runs on.
 */
#ifndef OSP_PLACEMENT_H
#define OSP_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/policy/request.h"

#define OSP_LEVEL_VARIABLE  "ONESPINE_LEVEL"
#define OSP_DOMAIN_VARIABLE "ONESPINE_DOMAIN"
#define OSP_LEAF_VARIABLE   "ONESPINE_LEAF"
#define OSP_LEAVES_VARIABLE "ONESPINE_LEAVES"
/* The order of nodes (lib/layout/gang_order.h) if it is not that of the leaves. */
#define OSP_ORDER_VARIABLE "ONESPINE_ORDER"
/* For the whole job: the node's place in the order of the fabric, the node that has place 0, and a
 * file of all nodes in this order (spank/order_file.h). */
#define OSP_RANK_VARIABLE      "ONESPINE_NODE_RANK"
#define OSP_FIRST_VARIABLE     "ONESPINE_FIRST_HOST"
#define OSP_HOST_FILE_VARIABLE "ONESPINE_HOSTFILE"

/* Set if the ranks of nodes in the job's record are this order (Slurm 26.05). */
#define OSP_SLURM_RANKS_VARIABLE "ONESPINE_SLURM_RANKS"

/* Its value in mode advise: srun leaves ranks as Slurm gives them. */
#define OSP_PLACEMENT_ADVICE "advise"

struct osp_placement {
	char level[OSP_LEVEL_NAME_BYTES];
	char *domain; /* NULL if several have too many names for AdminComment */
	char *leaves; /* NULL if the list would have been too long for AdminComment */
	char *order;  /* of their nodes; NULL: that of the leaves */
	char *ranks;  /* the note's (lib/policy/note.h); OSP_PLACEMENT_ADVICE; NULL: Slurm's are
			  its own */
	char *nodes;  /* all of the job's, as Slurm lists them */
};

/*
 * Asks slurmctld about a running job. Returns true if it is in one domain, or in as many as it
 * asked for; call osp_placement_free() then. Returns false for any other job, and if slurmctld does
 * not answer.
 */
bool osp_placement_ask(uint32_t job_id, struct osp_placement *placed);

/* Asks slurmctld which nodes a job has now, malloc'd; NULL if it does not answer, or there are
 * none. */
char *osp_placement_nodes(uint32_t job_id);

void osp_placement_free(struct osp_placement *placed);

#endif
