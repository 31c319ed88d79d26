/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * occupancy_private.h - what the files of the account share
 *
 * occupancy.c		what jobs hold, and its changes
 * occupancy_times.c	when nodes have enough; which earlier answers still hold
 */
#ifndef OSP_OCCUPANCY_PRIVATE_H
#define OSP_OCCUPANCY_PRIVATE_H

#include "lib/place/occupancy.h"

struct hold {
	int64_t end_s; /* of its job */
	struct osp_amounts amounts;
	uint32_t job; /* index in `jobs` */
	uint32_t node;
	uint32_t later_on_node, sooner_on_node;
	uint32_t next_of_job; /* or the next free one */
};

struct job {
	int64_t end_s;
	uint32_t number;
	uint32_t first_hold;
	uint32_t next;	/* in its bucket, or the next free one */
	uint32_t group; /* jobs of different groups may share processors; 0: it shares none */
	uint16_t rows;	/* the most jobs of the group that hold one processor */
	bool used;
	bool suspended;
	bool ignored;
	bool yields; /* its processors are ignored */
};

struct node {
	struct osp_amounts has;
	uint64_t changed;   /* number of the last change of this node */
	uint32_t last_hold; /* the hold that ends last */
};

struct osp_occupancy_times;

struct osp_occupancy {
	uint32_t node_count;
	uint32_t hold_count, hold_room, free_hold; /* places 1 .. hold_count - 1 were ever used */
	uint32_t job_count, job_room, free_job;
	uint32_t jobs_held;
	uint32_t bucket_count; /* a power of two */
	bool any_ignored;
	uint64_t changes;
	struct osp_occupancy_times *times;
	struct hold *holds;
	struct job *jobs;
	uint32_t *buckets;
	struct node nodes[];
};

/* --- occupancy.c ----------------------------------------------------------------------------- */

bool osp_occupancy_same_amounts(const struct osp_amounts *a, const struct osp_amounts *b);

/* --- occupancy_times.c ----------------------------------------------------------------------- */

struct osp_occupancy_times *osp_occupancy_times_new(uint32_t node_count);
void osp_occupancy_times_free(struct osp_occupancy_times *times); /* NULL is allowed */

/* Notes that what a node has, or what jobs hold of it, has changed. */
void osp_occupancy_node_changed(struct osp_occupancy *occupancy, uint32_t node);

#endif
