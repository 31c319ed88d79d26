/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fit_segments.h - onespine fit: gangs in segments or in several domains, and spares
 *
 * The same questions that job_submit and the shadow answer for a job (sched/job_spares.h,
 * sched/shadow_groups.c), of the options of the command line. One thread.
 */
#ifndef OSP_FIT_SEGMENTS_H
#define OSP_FIT_SEGMENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/slurm/ask.h"
#include "host/slurm/ask_segments.h"
#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/policy/request.h"
#include "tools/command/options.h"
#include "tools/command/world.h"

#define OSP_FIT_DOMAINS_SHOWN 10

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

/* Returns whether slurmctld takes the gang for one in segments or in several domains: a layout may
 * need no segments. Call it after osp_fit_add_spares(). */
bool osp_fit_in_parts(const struct osp_call *call, const struct osp_world *world,
		      const struct osp_fit_grown *grown, const struct osp_fit_question *question);

/* Returns whether the segments would not be whole even if all nodes that can be used were free. */
bool osp_fit_segments_never(const struct osp_call *call, const struct osp_world *world,
			    const struct osp_fit_grown *grown,
			    const struct osp_fit_question *question,
			    const struct osp_fit_answer *nodes);

/*
 * Asks the nodes' states for the segments or the several domains; `nodes` is the answer for one.
 * Returns 0, or -1 with `error` set for options that do not go together. The caller clears `answer`
 * in either case.
 */
int osp_fit_ask_segments(const struct osp_call *call, const struct osp_world *world,
			 const struct osp_fit_grown *grown, const struct osp_fit_question *question,
			 const struct osp_fit_answer *nodes, struct osp_segments_answer *answer,
			 struct osp_error *error);

/* Writes "6 nodes on 2 spines in segments leaf:3". Returns `buffer`. */
const char *osp_fit_segments_chosen(const struct osp_world *world,
				    const struct osp_segments_answer *answer, uint32_t domains,
				    char *buffer, size_t buffer_bytes);

/* Writes why they do not start now, in the words of why. Returns `buffer`. */
const char *osp_fit_segments_wait(const struct osp_world *world,
				  const struct osp_segments_answer *answer, char *buffer,
				  size_t buffer_bytes);

/* Says for which of several partitions the answer is, if several were asked about: in a line of
 * `text`, or as "partition" of `root`. Either may be NULL. */
void osp_fit_report_partition(const struct osp_fit_question *question, bool starts,
			      struct osp_text *text, json_t *root);

/* Adds a line about the nodes that the segments leave, if they do. */
void osp_fit_segments_left(const struct osp_world *world, const struct osp_segments_answer *answer,
			   struct osp_text *text);

/* Adds what is known of the segments. */
void osp_fit_segments_to_json(const struct osp_world *world,
			      const struct osp_segments_answer *answer, bool starts, json_t *root);

/* Prints the answer for segments or several domains; `nodes` is the answer for one. Returns the
 * exit status. */
int osp_fit_answer_segments(const struct osp_call *call, const struct osp_world *world,
			    const struct osp_fit_grown *grown,
			    const struct osp_fit_question *question,
			    const struct osp_fit_answer *nodes);

#endif
