/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * components.h - where and when the components of one heterogeneous job start, in one domain
 *
 * The scheduler places and starts components one after the other. If a policy counts them together
 * and they may turn out as large as a gang, each is placed in the domain of those before it, and
 * only if the scheduler, asked about the others too, has room for all of them in one domain.
 *
 * A component that may run in other partitions too counts as long as it is not planned there. If
 * they have no room in one domain together, those without a plan are left out, to their other
 * partitions, and the rest is asked about alone: for a start now if those left out have room there
 * now, for a later one if all together never start.
 *
 * Order of questions, for a start now and then for a later one
 *	planned	   for a start, the nodes on which each was planned
 *	anywhere   where the scheduler itself would place the one asked about, and then the others
 *		   beside it
 *	domains    in the order given: this one first, then the others first, because the nodes that
 *		   the scheduler takes for this one may be the only ones for another
 * A later start is looked for in all domains, if `anywhere` has none, and asked for again where all
 * start soonest.
 *
 * A call asks for OSP_CHOOSE_BUDGET_MS, of the clock's or as questions count (question_us), and at
 * least one question. If its time ends before that search does, the calls that follow continue in
 * another order (struct osp_components_search, below), until answers are quick again:
 *	places     anywhere, then domain by domain, then again. In each, all components are asked
 *		   about one after the other, for any time; each call continues behind what the
 *		   calls before were answered, and asks at least one question. In another round
 *		   another component is the first one. After a round in vain, those that may be left
 *		   out are left out for a round.
 *	the plan   where all had room is asked for again in each call, for the own component, until
 *		   the answer is no or a place is sooner: one more question.
 * A start now that has no such memory believes the plan of those that it has no time to ask about.
 *
 * Nothing else is remembered between calls. The caller may pass on what the scheduler said about a
 * component in an earlier call (said()); where this leads to a no, it is asked again.
 */
#ifndef OSP_CHOOSE_COMPONENTS_H
#define OSP_CHOOSE_COMPONENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/nodeset.h"
#include "lib/topology/topology.h"

/* How far the calls have come that had too little time, and what they found; the caller keeps it
 * for each job and partition. NULL: they had time enough. */
struct osp_components_search;

void osp_components_search_free(struct osp_components_search *search); /* NULL is allowed */

/* Components of one job whose answers are remembered. */
#define OSP_COMPONENTS_MAX 128

/*
 * The components that count, in the order in which they are asked about, and then those that are
 * left out. All are of the same call; the caller owns everything.
 */
struct osp_components_input {
	uint32_t count, left_out_count;
	uint32_t own;	  /* the one that the scheduler asks about */
	bool open;	  /* some of those that count may be left out */
	bool never;	  /* nothing is to be asked: the answer is no */
	bool later_helps; /* so does a start that is not at the first moment */

	/* A question counts for so much of the call's time, at least: however quick the answers,
	 * the caller's own work for them has an end. */
	uint32_t question_us;

	const struct osp_nodeset *given;    /* what the scheduler offers for the own one */
	const struct osp_nodeset *taken;    /* of components that run or are planned */
	const struct osp_nodeset *kept;	    /* not offered for the own one: to no other, then */
	const struct osp_nodeset *settling; /* no job can start there now; NULL: no such node */
	const struct osp_nodeset *stuck;    /* nobody knows when one can; NULL: no such node */

	const struct osp_topology *topology;
	const uint32_t *domains; /* of the level of the promise, best first */
	uint32_t domain_count;

	bool may_preempt;    /* a start now is looked for without preempting first */
	int64_t all_start_s; /* when all can start, by an earlier call of this cycle; 0: unknown */
	struct osp_components_search **search; /* NULL: nothing is remembered */
};

/* Decides about an answer for the own component. `start_s`: of the answer, the first moment for a
 * start now. */
typedef bool osp_components_accept_f(void *context, const struct osp_nodeset *nodes,
				     int64_t start_s);

/*
 * The scheduler. A component is given by its number in the input, and a partition by its number for
 * the component: 0 is the partition of the own one, the others are counted from 1.
 */
struct osp_components_calls {
	/*
	 * Fills the input, with `leaves_out` for those that may be left out, which holds until
	 * end(), which is called after each begin(). Returns false if memory ran out.
	 */
	bool (*begin)(void *context, bool leaves_out, struct osp_components_input *input);
	void (*end)(void *context);

	/* Adds the nodes that the component might have there if nobody else used them. Returns
	 * false if memory ran out. */
	bool (*prospects)(void *context, uint32_t component, uint32_t partition,
			  struct osp_nodeset *nodes);

	/* Returns whether the component runs or is planned: nothing is asked about it. */
	bool (*is_placed)(void *context, uint32_t component);

	/*
	 * Asks for the own component with these nodes, which are read before accept() is called. A
	 * yes of accept() is binding for a start; after a no everything is as it was. Returns
	 * whether there was such a yes.
	 */
	bool (*ask_own)(void *context, const struct osp_nodeset *offered, bool now_only,
			bool preempting, osp_components_accept_f *accept, void *accept_context);

	/* Asks about another: when would it start, and on which of these nodes? Nothing changes. */
	bool (*ask)(void *context, uint32_t component, uint32_t partition,
		    const struct osp_nodeset *offered, bool now_only, bool preempting,
		    struct osp_nodeset *nodes, int64_t *start_s);

	/*
	 * Returns the nodes that the scheduler named for the component in this partition in an
	 * earlier call, with `this_call` also in this one; NULL: none.
	 */
	const struct osp_nodeset *(*said)(void *context, uint32_t component, bool this_call,
					  int64_t *start_s);

	/* Returns the nodes on which it is planned, for a start now; NULL: none. */
	const struct osp_nodeset *(*planned)(void *context, uint32_t component);

	/* Returns its number in its job, the same in each call. */
	uint32_t (*offset)(void *context, uint32_t component);

	/* Returns whether all components may have these nodes together. */
	bool (*all_keep_promise)(void *context, const struct osp_nodeset *nodes);

	/* Tells so of one component alone, in another of its partitions. */
	bool (*keeps_promise)(void *context, uint32_t component, uint32_t partition,
			      const struct osp_nodeset *nodes);

	/* Returns how many partitions it may have besides that of the own one. */
	uint32_t (*elsewhere)(void *context, uint32_t component);

	int64_t (*first_moment_s)(void *context); /* now, or the start of the slot */
	int64_t (*elapsed_ms)(void *context);	  /* since the scheduler's call began */

	void *context;
};

struct osp_components_choice {
	bool found;	 /* the last ask_own() was accepted */
	int64_t start_s; /* when all can start */
	bool splits;	 /* the scheduler would place them in several domains */
};

/*
 * Decides about one call of the scheduler for one component, of node_count nodes. If memory runs
 * out, nothing is found.
 */
void osp_choose_components(uint32_t node_count, const struct osp_components_calls *calls,
			   struct osp_components_choice *choice);

#endif
