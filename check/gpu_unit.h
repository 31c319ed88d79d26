/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gpu_unit.h - the GPUs that may be loaded
 *
 * Those of --gpus that NVML knows and that have not been lost; of a partitioned one (MIG) each
 * instance. One thread.
 */
#ifndef OSP_GPU_UNIT_H
#define OSP_GPU_UNIT_H

#include "check/check.h"

/* What the kernels need: 10 * major + minor of the compute capability. */
#define OSP_CAPABILITY_LEAST 75

struct osp_units {
	struct osp_unit *units;
	size_t count;
};

/*
 * Asks NVML in a child, for it may hang. 0 with at least one unit (free units->units), 1 when there
 * is none to load, -1 when it cannot be told; `why` then says why.
 */
int osp_units_find(struct osp_check_context *context, struct osp_units *units, char *why,
		   size_t why_bytes);

/*
 * Keeps other runs of root's off the GPUs, for two at once would measure half the speed each. Waits
 * until `until_ms`. The file descriptor to close, -1 where there is no lock to take (not root, no
 * folder for it), -2 when another run holds it to the end.
 */
int osp_gpus_lock(const char *root, uint64_t until_ms);

#endif
