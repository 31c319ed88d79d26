/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gang_options.h - what the user asks for: --gang, --gang-spares, --gang-check and their variables
 *
 * The command line wins over the environment. Inside an allocation srun asks for nothing: the job
 * is placed already, and the step runs there. One thread, like all of SPANK.
 */
#ifndef OSP_GANG_OPTIONS_H
#define OSP_GANG_OPTIONS_H

#include <stdbool.h>

#include <slurm/spank.h>

/*
 * Registers the options with the program that loaded us. Returns 0, or -1 after an error message.
 */
int osp_gang_options_register(spank_t spank);

/*
 * Sends values of the environment in the way of the options, once the options are read. Returns 0,
 * or -1 after an error message if a value makes no sense; it is sent even then, so that slurmctld
 * refuses the job if this plugin's answer does not count ("optional" in plugstack.conf).
 */
int osp_gang_options_send(spank_t spank);

/* Returns whether a gang was asked for, here or by the salloc around us. */
bool osp_gang_options_want_gang(void);

#endif
