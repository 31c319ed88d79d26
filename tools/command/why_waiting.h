/* SPDX-License-Identifier: GPL-2.0-or-later */
/* why_waiting.h - `onespine why` without a job: each waiting job in a line. One thread. */
#ifndef OSP_WHY_WAITING_H
#define OSP_WHY_WAITING_H

#include "tools/command/options.h"
#include "tools/command/world.h"

/* Prints the caller's waiting jobs, or for root everyone's. Returns the exit status. */
int osp_why_waiting(const struct osp_call *call, struct osp_world *world);

#endif
