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

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/cloud/block_end.h"

/*
 * Makes Slurm's reservations those of `wanted`, and adds a line to `said` for each change. If
 * `is_all` (EC2 answered about every node), it also deletes the reservations of other blocks.
 * Returns 0, or -1 with `error` set; an error undoes no change that was made before it.
 */
int osp_block_reservations_keep(const struct osp_block_end *wanted, size_t count, bool is_all,
				struct osp_text *said, struct osp_error *error);

#endif
