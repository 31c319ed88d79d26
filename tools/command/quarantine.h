/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * quarantine.h - acts on nodes in quarantine (lib/gate/quarantine.h)
 *
 * As root, on a host where clustermgtd runs or that has its slurm.conf. One thread.
 */
#ifndef OSP_QUARANTINE_COMMAND_H
#define OSP_QUARANTINE_COMMAND_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "tools/command/options.h"

/* Returns whether clustermgtd ends the instances of drained nodes of this cluster, by slurm.conf
 * and by clustermgtd's own settings where they are on this host. */
bool osp_clustermgtd_owns_drained(void);

/*
 * Does what is due for each node in quarantine, for `onespine recheck`; with --dry-run only says
 * it. Prints a line for each, or with --json adds an entry to `fates`. *count is how many there
 * are. Returns the exit status: 1 if something that is due was not done, 2 if slurmctld was not
 * asked.
 */
int osp_quarantine_do_due(const struct osp_call *call, json_t *fates, size_t *count);

#endif
