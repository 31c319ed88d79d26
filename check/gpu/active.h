/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * active.h - the checks that load GPUs, one file a family
 *
 * For list.c, which sets their order.
 */
#ifndef OSP_ACTIVE_H
#define OSP_ACTIVE_H

#include "check/check.h"

/* gpu_start.c */
extern const struct osp_check osp_check_cuda;
/* gpu_memory.c */
extern const struct osp_check osp_check_hbm_pattern;
/* gpu_bandwidth.c */
extern const struct osp_check osp_check_hbm_bandwidth;
/* gpu_sm.c */
extern const struct osp_check osp_check_sm;
/* gpu_tensor.c */
extern const struct osp_check osp_check_tensor;
/* gpu_host_copy.c */
extern const struct osp_check osp_check_host_copy;
/* gpu_peer.c */
extern const struct osp_check osp_check_peer;
/* gpu_tflops.c */
extern const struct osp_check osp_check_tflops;
/* gpu_nccl.c */
extern const struct osp_check osp_check_all_reduce;

#endif
