/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * in_control_here.h - whether the slurmctld of this host is in control (lib/topology/in_control.h)
 *
 * Through libslurm, as the calling user. One thread.
 */
#ifndef OSP_IN_CONTROL_HERE_H
#define OSP_IN_CONTROL_HERE_H

#include <stdbool.h>

#include "lib/base/error.h"

#define OSP_CONTROLLER_HOST_BYTES 256

/*
 * Sets `other` to the name of the host whose slurmctld is in control if this host has one that
 * stands by, else to "". Without a slurm.conf, without a backup slurmctld and on a host of neither
 * nobody stands by. Returns 0, or -1 with `error` set if slurmctld does not answer.
 */
int osp_in_control_here(char other[OSP_CONTROLLER_HOST_BYTES], struct osp_error *error);

#endif
