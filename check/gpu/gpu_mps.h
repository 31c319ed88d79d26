/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gpu_mps.h - finds whether programs share a GPU by MPS, and who says so
 *
 * Any user can give a process the name of MPS's server, or run an MPS of their own. A GPU is left
 * alone only for an MPS of root or of the job's own user. One thread.
 */
#ifndef OSP_GPU_MPS_H
#define OSP_GPU_MPS_H

#include "check/check.h"
#include "check/base/nvml.h"

enum osp_mps {
	OSP_MPS_NONE,	 /* it is not shared */
	OSP_MPS_SHARED,	 /* by root or the job's user */
	OSP_MPS_FOREIGN, /* only others say so, or owners cannot be read */
};

/*
 * Asks NVML for the programs on `device`, and the kernel for their names and users. `why` says why
 * the GPU must not be loaded; "" for OSP_MPS_NONE.
 */
enum osp_mps osp_mps_find(const struct osp_check_context *context, osp_nvml_device device,
			  char *why, size_t why_bytes);

#endif
