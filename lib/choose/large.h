/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * large.h - a job that a policy holds to one domain if it is given many nodes
 *
 * Nobody knows the number of its nodes before the scheduler has chosen them. With fewer than
 * from_nodes it may be anywhere; with more it is a gang. If its size is unknown, the scheduler is
 * asked first as if there were no gangs, and its answer is taken if it keeps the promise. Otherwise
 * the job is placed as a gang, or on fewer nodes, whichever starts it sooner; at the same time the
 * gang, which has more nodes.
 *
 * Any thread; a decision neither allocates nor fails.
 */
#ifndef OSP_CHOOSE_LARGE_H
#define OSP_CHOOSE_LARGE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/nodeset.h"

struct osp_large_input {
	bool unknown_size;    /* it may turn out small: the scheduler's own choice comes first */
	bool later_helps;     /* so does a start that is not now */
	uint32_t from_nodes;  /* from how many nodes on it is a gang */
	uint32_t least_nodes; /* with fewer it never starts */
	int64_t now_s;
};

/* Decides about an answer of the scheduler's; `start_s` is 0 if nobody asked for a start later. */
typedef bool osp_large_accept_f(void *context, const struct osp_nodeset *nodes, int64_t start_s);

enum osp_large_answer {
	OSP_LARGE_NO,	 /* the scheduler says no itself */
	OSP_LARGE_OTHER, /* it says yes, but accept() does not */
	OSP_LARGE_YES,	 /* so it is */
};

/* The scheduler. After anything but a yes everything is as before the question. */
struct osp_large_calls {
	/*
	 * Asks for nodes anywhere, for at most `most_nodes` (0: for as many as the job may have). A
	 * yes of accept() is binding.
	 */
	enum osp_large_answer (*ask)(void *context, uint32_t most_nodes, osp_large_accept_f *accept,
				     void *accept_context);

	/* Asks for one domain (choose.h). A yes is binding; `start_s` gets its time. */
	bool (*place)(void *context, int64_t *start_s);

	/* The first keeps the answer of place() and undoes it, for a question about a small start;
	 * the second brings it back. */
	void (*set_aside)(void *context);
	void (*bring_back)(void *context);

	/* Returns whether these nodes keep the promise. */
	bool (*is_together)(void *context, const struct osp_nodeset *nodes);

	void *context;
};

/* Decides. Returns whether the last answer that binds starts the job, or is a plan of it. */
bool osp_choose_large(const struct osp_large_input *input, const struct osp_large_calls *calls);

#endif
