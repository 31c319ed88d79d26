/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * controller_private.h - one call to slurmctld with a deadline, for the files of controller.h
 *
 *	controller.c		 jobs, nodes, slurmctld itself, reservations of rechecks
 *	controller_quarantine.c	 reservations of nodes in quarantine
 */
#ifndef OSP_CONTROLLER_PRIVATE_H
#define OSP_CONTROLLER_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "host/slurm/controller.h"

/*
 * One call. The thread that makes it owns it once the deadline has passed: then it is never freed,
 * and neither is what it points to; the process ends soon.
 */
struct osp_controller_question {
	int (*ask)(struct osp_controller_question *question); /* Slurm's return code; sets errno */
	uint32_t job_id;
	bool flag;
	char *words[3]; /* copied */
	void *answer;
	int error;
};

/* Asks until there is an answer. *answer (may be NULL) is what the call left there. Returns 0 or an
 * error as controller.h says. */
int osp_controller_ask(const struct osp_controller_question *asked, uint64_t until_ms,
		       void **answer);

/* Loads all reservations: a reserve_info_msg_t in `answer`. */
int osp_load_reservations(struct osp_controller_question *question);

/* Deletes the reservation words[0]. */
int osp_drop_reservation(struct osp_controller_question *question);

#endif
