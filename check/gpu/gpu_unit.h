/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gpu_unit.h - finds the GPUs that may be loaded
 *
 * They are those of --gpus that NVML knows and has not lost; of a partitioned one (MIG), each
 * instance. A GPU that serves others is among them and says so (left_alone): MPS shares it between
 * programs (check/gpu/gpu_mps.h), it is a host's and virtual machines use it, or its compute mode
 * forbids programs. One thread.
 */
#ifndef OSP_GPU_UNIT_H
#define OSP_GPU_UNIT_H

#include "check/check.h"

/* The capability that the kernels need: 10 * major + minor. */
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
 * Asks NVML in a child, because it may hang. Returns OSP_FOUND with at least one unit (free
 * units->units); otherwise `why` says why not.
 */
enum osp_found osp_units_find(struct osp_check_context *context, struct osp_units *units, char *why,
			      size_t why_bytes);

/*
 * Asks once more, once, until `until_ms` (0: as long as osp_units_find()), for what has changed.
 * Free units->units; there are none if NVML did not answer.
 */
void osp_units_look(struct osp_check_context *context, struct osp_units *units, uint64_t until_ms);

/*
 * Keeps other runs of root's off the GPUs, because two at once would each measure half the speed.
 * Waits until `until_ms`. Returns the file descriptor to close, -1 if there is no lock to take (not
 * root, or no folder for it), or -2 if another run holds it until then.
 */
int osp_gpus_lock(const char *root, uint64_t until_ms);

#endif
