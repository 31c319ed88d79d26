/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fit_segments.h - onespine fit: gangs in segments or in several domains, and spares
 *
 * The same questions that job_submit and the shadow answer for a job (sched/job_spares.h,
 * sched/shadow_groups.c), of the options of the command line. One thread.
 */
#ifndef OSP_FIT_SEGMENTS_H
#define OSP_FIT_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "host/slurm/ask.h"
#include "lib/base/error.h"
#include "lib/policy/request.h"
#include "tools/command/options.h"
#include "tools/command/world.h"

/* What --gang-spares makes of the gang. */
struct osp_fit_grown {
	uint32_t stay;			   /* nodes without the spares */
	uint32_t in_segment;		   /* spares of each segment */
	uint32_t gpus;			   /* of a node, as the options say; 0: they do not */
	char segments[OSP_SEGMENTS_BYTES]; /* --gang-segment with these; "": they have none */
};

/* Returns whether the gang is asked in segments or in several domains. */
bool osp_fit_asks_segments(const struct osp_call *call);

/*
 * Adds --gang-spares=COUNT or COUNT/segment to the nodes of the question, whose level is known:
 * job_submit asks for that many more nodes, and for larger segments. Returns 0, or -1 with `error`
 * set for any other value, or if segments cannot have them.
 */
int osp_fit_add_spares(const struct osp_call *call, const struct osp_world *world,
		       struct osp_fit_question *question, struct osp_fit_grown *grown,
		       struct osp_error *error);

/* Returns whether the segments would not be whole even if all nodes that can be used were free. */
bool osp_fit_segments_never(const struct osp_call *call, const struct osp_world *world,
			    const struct osp_fit_grown *grown,
			    const struct osp_fit_question *question,
			    const struct osp_fit_answer *nodes);

/* Prints the answer for segments or several domains; `nodes` is the answer for one. Returns the
 * exit status. */
int osp_fit_answer_segments(const struct osp_call *call, const struct osp_world *world,
			    const struct osp_fit_grown *grown,
			    const struct osp_fit_question *question,
			    const struct osp_fit_answer *nodes);

#endif
