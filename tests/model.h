/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * model.h - a small scheduler for tests of lib/choose: nodes, jobs on them, and answers
 *
 * As select/cons_tres it knows nothing of domains, gives a gang the first nodes by number that have
 * enough, passes over what settles for a start at once but not for an estimate, and says "now" for
 * the start of a slot.
 */
#ifndef OSP_TESTS_MODEL_H
#define OSP_TESTS_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/choose/choose.h"

#define MODEL_NODES_MAX 2048
#define MODEL_JOBS_MAX	128
#define MODEL_ASKED_MAX 1024

struct model_size {
	uint32_t cores;
	uint32_t gpus;
	uint32_t memory;
};

struct model_job {
	uint32_t id;
	int64_t started_s;
	int64_t end_s;
	uint32_t first_node; /* it is on nodes [first, end) */
	uint32_t end_node;
	struct model_size holds; /* of each node */
	bool preemptable;
	bool suspended; /* its cores are given back, nothing else is */
	bool leaving;	/* is being preempted; lasts until the test takes the job away */
};

struct model_asked {
	enum osp_ask_mode mode;
	bool preempting;
	bool yes;
	uint32_t first_node;
	uint32_t node_count;
};

struct model {
	int64_t now_s;
	int64_t slot_start_s;
	int64_t slot_end_s;
	uint32_t node_count;
	struct model_size node[MODEL_NODES_MAX];
	bool settling[MODEL_NODES_MAX];
	bool unfit[MODEL_NODES_MAX]; /* for a reason that nobody but the scheduler knows */
	bool hasty[MODEL_NODES_MAX]; /* free_times says "now" */
	struct model_job jobs[MODEL_JOBS_MAX];
	uint32_t job_count;

	/* the gang */
	struct model_size need; /* of each node */
	bool whole;		/* takes nodes that nobody else is on */
	uint32_t need_nodes; /* the scheduler's own measure: may be more than the chooser knows */
	uint32_t want_nodes;

	int64_t overstays_s; /* whose end has passed is expected to stay so long from now on */

	int64_t ask_ms;	 /* how long a question takes */
	bool cuts_short; /* the scheduler does not look everywhere */
	int64_t elapsed_ms;
	struct model_asked asked[MODEL_ASKED_MAX];
	uint32_t asked_count;
};

/* The calls of osp_choose(), answered by the model. */
struct osp_choose_calls model_calls(struct model *model);

/* Whether a node has enough at `at_s`; `preempting`: without the jobs that may be preempted. */
bool model_node_fits(const struct model *model, uint32_t node, int64_t at_s, bool preempting);

/* When the gang could start on these nodes, by trying every moment: OSP_PLACE_NEVER_S for never. */
int64_t model_start(const struct model *model, const struct osp_nodeset *nodes, bool preempting);

/* Processors of these nodes: each has one more than its number, so that those of two domains are
 * told apart. */
uint32_t model_processors(const struct osp_nodeset *nodes);

/* Adds a job and returns it. */
struct model_job *model_add_job(struct model *model, uint32_t first_node, uint32_t nodes,
				struct model_size holds, int64_t end_s);

#endif
