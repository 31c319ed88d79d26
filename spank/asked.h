/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * asked.h - what the user asks for: --gang, --gang-spares, --gang-check and their variables
 *
 * The command line wins over the environment. Inside an allocation srun asks for nothing: the job
 * is placed already, and the step runs where the job is. One thread, as all of SPANK.
 */
#ifndef OSP_ASKED_H
#define OSP_ASKED_H

#include <stdbool.h>

#include <slurm/spank.h>

/* Makes the options known to the program that loaded us. Returns 0, or -1 having said why. */
int osp_asked_register(spank_t spank);

/*
 * After the options were read: sends a value of the environment the way of the option's. Returns 0,
 * or -1 having said why when it makes no sense; it is sent even then, so that slurmctld refuses the
 * job where this plugin's answer does not count ("optional" in plugstack.conf).
 */
int osp_asked_send(spank_t spank);

/* Whether a gang was asked for, here or by the salloc around us. */
bool osp_asked_gang(void);

#endif
