/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * controller_quarantine.h - the reservations of nodes in quarantine
 *
 * lib/gate/quarantine.h says what they are for. Deadlines and errors as controller.h says.
 */
#ifndef OSP_CONTROLLER_QUARANTINE_H
#define OSP_CONTROLLER_QUARANTINE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/gate/quarantine.h"

struct osp_quarantine_list {
	struct osp_quarantined *nodes; /* in the order of their beginning */
	size_t count;
};

/*
 * Lists the nodes in quarantine: reservations of one node, of root's alone, with a quarantine's
 * name. Free with osp_quarantine_list_free(), also after an error.
 */
int osp_controller_quarantined(uint64_t until_ms, struct osp_quarantine_list *list);
void osp_quarantine_list_free(struct osp_quarantine_list *list);

/*
 * Reserves `node` for root, from slurmctld's now on, whatever runs there; Slurm ends it after a
 * year. `instance` (NULL: not known) names the reservation. A node that is in quarantine already is
 * success. Slurm refuses (ESLURM_RESERVATION_OVERLAP) a node in another reservation, unless that
 * one has MAINT or OVERLAP.
 */
int osp_controller_quarantine(const char *node, const char *instance, uint64_t until_ms);

/* Deletes the reservation of `node`; one that is gone is success. */
int osp_controller_unquarantine(const struct osp_quarantined *node, uint64_t until_ms);

#endif
