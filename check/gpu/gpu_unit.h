/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gpu_unit.h - the GPUs that may be loaded
 *
 * Those of --gpus that NVML knows and that have not been lost; of a partitioned one (MIG) each
 * instance. One that serves others is among them and says so (left_alone): MPS shares it between
 * programs (check/gpu/gpu_mps.h), or it is a host's and virtual machines use it. One thread.
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

enum osp_found {
	OSP_FOUND,
	OSP_FOUND_NONE,	   /* none to load */
	OSP_FOUND_ERROR,   /* it cannot be found out */
	OSP_FOUND_HANGING, /* NVML did not answer, twice, and nothing kept it (lib/health/hang.h) */
};

/*
 * Asks NVML in a child, for it may hang. OSP_FOUND with at least one unit (free units->units);
 * otherwise `why` says why not.
 */
enum osp_found osp_units_find(struct osp_check_context *context, struct osp_units *units, char *why,
			      size_t why_bytes);

/*
 * Keeps other runs of root's off the GPUs, for two at once would measure half the speed each. Waits
 * until `until_ms`. The file descriptor to close, -1 if there is no lock to take (not root, no
 * folder for it), -2 when another run holds it to the end.
 */
int osp_gpus_lock(const char *root, uint64_t until_ms);

#endif
