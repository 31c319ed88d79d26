/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fit_gpus.h - onespine fit: GPUs that are asked for in all (--gpus), whichever node gives how many
 *
 * One thread.
 */
#ifndef OSP_FIT_GPUS_H
#define OSP_FIT_GPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/command/fit_scheduler.h"

/* Returns how many GPUs each node of the gang has to give at least, where the others give as many
 * as the largest node of the cluster has. */
uint32_t osp_fit_least_gpus(const struct osp_fit *fit);

/* Returns whether jobs leave enough GPUs on these nodes together; true if --gpus is not given. */
bool osp_fit_has_gpus(const struct osp_fit *fit, const struct osp_nodeset *set);

/* Returns whether no domain that has nodes enough has GPUs enough on as many nodes as the gang may
 * have, and says so: "waits: 16 GPUs on 4 nodes of one spine; nearest: ...". */
bool osp_fit_lacks_gpus(const struct osp_fit *fit, char *buffer, size_t buffer_bytes);

#endif
