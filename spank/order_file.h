/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * order_file.h - the nodes of a gang in their order, as a file in memory: a name in each line
 *
 * The file (memfd_create) has no name in any folder and goes with the last process that holds it.
 *
 * In srun, and in each task's process as its user. One thread.
 */
#ifndef OSP_ORDER_FILE_H
#define OSP_ORDER_FILE_H

#include "lib/layout/gang_order.h"

/* The room for a path: "/proc/PID/fd/NUMBER". */
#define OSP_ORDER_FILE_PATH_BYTES 64

/* Writes each name `times` times, one after the other. Returns the file, which an exec closes; -1
 * if it would be larger than 4 MiB, or no memory or no descriptor was left. */
int osp_order_file_make(const struct osp_gang_ranks *order, unsigned int times);

/*
 * Does the same with each name once. This process, and all that it starts, hold the file under a
 * number that shells do not use by themselves (scripts use 3 to 9, bash 255). `path` names it for
 * every process of this user on this node, as long as this process, or its successor by exec,
 * lives. Returns 0, or -1 with an empty path.
 */
int osp_order_file_hold(const struct osp_gang_ranks *order, char *path);

#endif
