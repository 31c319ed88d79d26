/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * block_end.h - when EC2 takes the instances of a Capacity Block back, and what has to change in
 * Slurm so that no job runs into it
 *
 * A Capacity Block ends at a time that EC2 knows and Slurm does not. EC2 begins to end instances 30
 * minutes before that time (its user guide, "Work with Capacity Blocks"); those of an UltraServer
 * must be ended by their owner 60 minutes before. The watch keeps one maintenance reservation of
 * Slurm for each block, which begins then.
 *
 * Any thread: no state.
 */
#ifndef OSP_BLOCK_END_H
#define OSP_BLOCK_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Before the block's id: the name of its reservation. */
#define OSP_BLOCK_RESERVATION_PREFIX "onespine-ends-"

#define OSP_BLOCK_END_S		     (30 * 60)
#define OSP_BLOCK_END_ULTRASERVER_S  (60 * 60)

/* Another start than this much apart is another one: EC2 moves an end by whole days. */
#define OSP_BLOCK_END_SLACK_S 60

/* One block, as EC2 has it or as Slurm's reservation does. */
struct osp_block_end {
	const char *id;	   /* "cr-0123" */
	const char *nodes; /* hostlist as osp_hostlist_compact() writes it */
	int64_t from_s;	   /* when no job may run there any more, in seconds since 1970 */
};

/* Returns until when jobs may run on instances of `type` in a block that ends at `ends_s`. */
int64_t osp_block_end_jobs_s(int64_t ends_s, const char *type);

/* Returns the block of which a reservation has the name, "cr-0123"; NULL if it is none. */
const char *osp_block_end_of(const char *reservation_name);

/* Returns whether `id` is a capacity reservation's: "cr-" and hexadecimal digits. */
bool osp_block_end_is_id(const char *id);

/* What EC2 has reported of a block that has a reservation or nodes. */
struct osp_block_word {
	size_t nodes_here; /* of which it said that they run in this block */
	bool reported;	   /* it knows the block */
	bool unanswered;   /* the question about the block failed */
	int64_t ends_s;	   /* 0: it did not report */
};

/*
 * Returns whether nodes of which nothing is known now (they do not run, or the answer lacks them)
 * stay in the block's reservation: they come back into the block, and a job could start on them
 * before EC2 has been asked. Not after the block's end, nor where EC2 knows no such block.
 */
bool osp_block_end_lasts(const struct osp_block_word *word, int64_t now_s);

enum osp_block_step { OSP_BLOCK_KEEP, OSP_BLOCK_MAKE, OSP_BLOCK_CHANGE, OSP_BLOCK_MAKE_ANEW };

/*
 * Finds what is to be done for `wanted`; *kept is then the index of its reservation among
 * `reserved`, or SIZE_MAX if it has none. A reservation that has begun is the same as a wanted one
 * whose time has come, because Slurm makes none in the past. Slurm moves the start of no
 * reservation that has begun, so that one is made anew; every other change is made in place, or a
 * job could start between.
 */
enum osp_block_step osp_block_end_step(const struct osp_block_end *wanted,
				       const struct osp_block_end *reserved, size_t reserved_count,
				       int64_t now_s, size_t *kept);

/* Returns whether a reservation belongs to none of the blocks that are wanted. */
bool osp_block_end_is_left(const struct osp_block_end *reserved, const struct osp_block_end *wanted,
			   size_t wanted_count);

#endif
