/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * active.h - the checks that load GPUs, one file a family
 *
 * For list.c, which puts them in order.
 */
#ifndef OSP_ACTIVE_H
#define OSP_ACTIVE_H

#include "check/check.h"

/* gpu_start.c */
extern const struct osp_check osp_check_cuda;
/* gpu_memory.c */
extern const struct osp_check osp_check_hbm_pattern;

#endif
