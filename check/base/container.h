/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * container.h - does this process see the whole machine?
 *
 * A container may have a part of the machine's devices, processors and memory beside the machine's
 * own DMI name, so what it lacks is no fault of the machine. One thread.
 */
#ifndef OSP_CONTAINER_H
#define OSP_CONTAINER_H

#include <stdbool.h>

/* Returns whether /dev was made for a container: elsewhere it is the kernel's own file system. */
bool osp_in_container(const char *root);

#endif
