/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * block_reservation.h - one maintenance reservation of Slurm for each Capacity Block
 *
 * "onespine-ends-cr-0123" begins when EC2 begins to end the block's instances, has no end, and
 * counts no running jobs (MAINT,IGNORE_JOBS). Slurm itself then starts no job there that could
 * still run at that time, gang or not; `fit` and `why` go by it as by any reservation. Root's or
 * SlurmUser's: Slurm refuses others.
 *
 * One thread; calls wait for slurmctld as long as Slurm's own commands do.
 */
#ifndef OSP_BLOCK_RESERVATION_H
#define OSP_BLOCK_RESERVATION_H

#include <stddef.h>

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/cloud/block_end.h"

/* The reservations that Slurm has for blocks. */
struct osp_block_reservations {
	struct osp_arena arena;
	struct osp_block_end *items;
	size_t count;
};

/* Loads them. Returns 0, or -1 with `error` set. osp_block_reservations_free() in either case. */
int osp_block_reservations_load(struct osp_block_reservations *held, struct osp_error *error);
void osp_block_reservations_free(struct osp_block_reservations *held);

/*
 * Makes Slurm's reservations, which are `held`, those of `wanted`, deletes those of other blocks,
 * and adds a line to `said` for each change. Returns 0, or -1 with `error` set to the first that
 * failed; the others are made nevertheless.
 */
int osp_block_reservations_keep(const struct osp_block_reservations *held,
				const struct osp_block_end *wanted, size_t count,
				struct osp_text *said, struct osp_error *error);

#endif
