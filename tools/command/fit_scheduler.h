/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fit_scheduler.h - onespine fit: the answer of slurmctld, in agreement with the states of nodes
 *
 * One thread.
 */
#ifndef OSP_FIT_SCHEDULER_H
#define OSP_FIT_SCHEDULER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/slurm/ask.h"
#include "host/slurm/ask_segments.h"
#include "lib/base/error.h"
#include "tools/command/fit_sbatch.h"
#include "tools/command/fit_segments.h"
#include "tools/command/options.h"
#include "tools/command/world.h"

/* A question, and its answers. */
struct osp_fit {
	const struct osp_call *call;  /* with what variables give */
	const struct osp_call *given; /* the command line alone */
	struct osp_world opened;
	struct osp_world world; /* `opened` as slurmctld counts it for the gang */
	struct osp_fit_question question;
	struct osp_fit_grown grown;
	char *names; /* of several partitions, a string each; question.partitions is one of them */
	uint32_t least; /* the lowest level that may do */
	bool enforced;	/* we place the partition's gangs */
	struct osp_sbatch_answer sbatch;
	/* sbatch --test-only looks at neither licenses nor what the partition allows a job */
	bool lacks_licenses;
	const char *partition_says;    /* Slurm's reason for which the job would wait; NULL: none */
	bool reservation_comes;	       /* the gang's, which has not begun */
	bool reservation_over;	       /* it is, before the time of --begin */
	bool needs_nodes_on_their_way; /* osp_fit_needs_nodes_on_their_way() */
	struct osp_fit_answer answer;  /* from the nodes' states, for one domain */
	bool by_states;		       /* only these answer */
	bool asks_parts;	       /* segments or several domains; a layout may need neither */
	bool in_parts;		       /* it is judged so, too: `parts` */
	struct osp_segments_answer parts;
	struct osp_nodeset *chosen; /* the nodes that sbatch named */
	/* with which it would start, some of them launched for it (fit_launch.h); NULL: none */
	struct osp_nodeset *launched;
};

/* Writes what the nodes' states say of a gang in one domain. Returns `buffer`. */
const char *osp_fit_says(const struct osp_world *world, const struct osp_fit_answer *answer,
			 char *buffer, size_t buffer_bytes);

/* Returns whether --begin names a later time: any but "now" and a date that has passed. */
bool osp_fit_begins_later(const char *begin);

/* Returns whether slurmctld's answer is that the gang starts now, as an exit status, or -1 with
 * `error` set. */
int osp_fit_judge_scheduler(struct osp_fit *fit, struct osp_error *error);

/* Prints that answer. Returns `status`. */
int osp_fit_print_scheduler(const struct osp_fit *fit, int status);

#endif
