/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * choose.h - where and when a gang starts: every decision about one question of the scheduler
 *
 * lib/place orders domains and picks nodes; what a node really has to give only the scheduler
 * knows. A chooser asks it, domain by domain, until the answer is the best that there is. In
 * slurmctld the questions go to Slurm's own select_p_job_test(); in tests to a small model of nodes
 * and jobs.
 *
 * Order of questions
 *	run now    each domain with enough free nodes, in lib/place's order: exactly the nodes that
 *		   lib/place would take, then the whole domain. Then, where jobs may be preempted,
 *		   the domains that could start the gang without these jobs, those with the most
 *		   nodes free first. Where no domain has nodes enough nothing is asked.
 *	will run   the same for a start at once, or at the start of the slot; then domain by domain
 *		   in the order of their lower bounds, until the best answer is no later than the
 *		   next bound. The answer is asked for once more when another domain was asked after
 *		   it. Where jobs may be preempted they count as gone at each later moment, too.
 *	test only  the first domain; then all that is usable, because nobody may call a gang
 *		   impossible that fits as an ordinary job: Slurm holds a job for ever for a no.
 *		   Where it asks once more after a no, about drained nodes too, the answer is no if
 *		   no domain has nodes enough.
 *
 * A gang in segments or in several domains (`parts`) is offered exactly the nodes that
 * lib/place/segments.h chooses, and takes an exact number of nodes; it waits where it is asked for
 * otherwise. The later start is the earliest time at which it fits, by the ends of what runs. After
 * a no the scheduler is offered all nodes, and then those that are left, and says which it would
 * take: out of these the choice is made anew. Where that starts nothing either, the choices that
 * leave out one part of the first, then one node, are asked about, in the next calls too. Where
 * nodes are of several kinds each has its turn, for a later start in the order of when it fits. A
 * later start that is not the earliest by the ends of what runs is not the last word: the scheduler
 * is asked who would start before, of all nodes, and choices are made of those that it names, one
 * moment after the other; the earliest start wins.
 *
 * A gang that prefers a lower level is asked about there first, for a start at once without
 * preempting, for half of the time of a call at most; then as any other.
 *
 * Between calls a chooser remembers for a few hundred jobs
 *	- whom a gang preempts and where: as long as one of these jobs is leaving, no other domain
 *	  is emptied for it, and nobody else in this one;
 *	- how far a call came that had more domains to ask than time: the next one goes on there,
 *	  in each partition on its own;
 *	- the domain that such a call's plan was in: it is asked again before there is no plan.
 * For thousands of jobs it remembers, for a minute or two, answers about a start in the future:
 * that some nodes suit it, and any job that asks for the same, at all, and when it starts on some
 * nodes as long as nothing changes there. It does not repeat a question whose answer still holds.
 * None of this has to outlive the process: the chooser decides anew what it has forgotten.
 *
 * A chooser belongs to one thread at a time. All memory is taken by osp_chooser_new(); a decision
 * neither allocates nor fails. In slurmctld it runs inside a scheduling call.
 */
#ifndef OSP_CHOOSE_H
#define OSP_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/nodeset.h"
#include "lib/place/parts.h"
#include "lib/place/place.h"
#include "lib/topology/topology.h"

/*
 * A call asks for no longer than this, except that it always asks for one start in the future: one
 * of Slurm's own calls may take 2 s (select/cons_tres/job_test.c, _future_run_test), and a cycle of
 * backfill makes hundreds.
 */
#define OSP_CHOOSE_BUDGET_MS 1000

/* Domains looked at in one call; the next call goes on behind them. */
#define OSP_CHOOSE_CANDIDATES_MAX 256

/* Domains asked in vain for an earlier start after one has answered; of a gang in parts, questions
 * for that. Domains whose answers of before still hold do not count, so that the next calls come to
 * the others; with these it is so many at most. */
#define OSP_CHOOSE_EARLIER_MAX	     8
#define OSP_CHOOSE_EARLIER_KNOWN_MAX 64

/*
 * Answers about a start in the future hold so long at least, and less than twice as long (by the
 * job's number, so that not all are asked anew in one cycle): what no account of jobs and no job's
 * request shows, such as a resource that a node lost, is seen then. Backfill's interval is 30 s.
 */
#define OSP_CHOOSE_KEEP_S 60

/* Jobs that one gang preempts and that are remembered; more are preempted all the same. */
#define OSP_CHOOSE_VICTIMS_MAX 64

/* Domains of an answer. */
#define OSP_CHOICE_DOMAINS_MAX 1

enum osp_choose_mode {
	OSP_CHOOSE_RUN_NOW,
	OSP_CHOOSE_WILL_RUN,
	OSP_CHOOSE_TEST_ONLY,
};

/* A job that is preempted. A job that was requeued and runs again is another: it started later. */
struct osp_victim {
	uint32_t job;
	int64_t started_s;
};

/* Who may be preempted for one question. */
struct osp_victims {
	bool all;			 /* whoever may be, on the question's nodes */
	const struct osp_victim *listed; /* else these; none when `count` is 0 */
	uint32_t count;
};

enum osp_ask_mode {
	OSP_ASK_START, /* start it now: a yes is a commitment */
	OSP_ASK_FIRST, /* would it start at the first moment: now, or at the start of the slot? */
	OSP_ASK_WHEN,  /* when would it start? */
	OSP_ASK_EVER,  /* could it run there at all, were nobody else there? */
	/* Which of these would it take? Nothing comes of a yes but its nodes. */
	OSP_ASK_WHO_NOW,  /* at the first moment */
	OSP_ASK_WHO_EVER, /* were nobody else there */
};

struct osp_question {
	const struct osp_nodeset *nodes; /* the gang may have these and no others */
	enum osp_ask_mode mode;
	struct osp_victims victims;
};

/* Filled by the scheduler with a yes. The chooser owns `nodes` and `victims`. */
struct osp_answer {
	int64_t start_s;	    /* OSP_ASK_FIRST, OSP_ASK_WHEN */
	uint32_t processors;	    /* that the gang would get in all, as limits count them */
	struct osp_nodeset *nodes;  /* that the gang would get */
	struct osp_victim *victims; /* room for OSP_CHOOSE_VICTIMS_MAX: who would be preempted */
	uint32_t victim_count;
};

/* The scheduler. A no leaves everything as it was before the question. */
struct osp_choose_calls {
	bool (*ask)(void *context, const struct osp_question *question, struct osp_answer *answer);

	/*
	 * When each usable node has enough for the gang, by the ends of what runs, into one place
	 * for each node: never later than the truth, OSP_PLACE_NEVER_S for never. `preempting`:
	 * jobs that the gang may preempt count as gone.
	 */
	void (*free_times)(void *context, bool preempting, int64_t *free_at_s);

	/*
	 * Whether no job will hold anything of `nodes` at that time. A start at a bound is then not
	 * simulated (bound_is_start below). NULL: the bound itself says so.
	 */
	bool (*empty_at)(void *context, const struct osp_nodeset *nodes, int64_t at_s);

	/*
	 * A number that changes with what jobs hold of `nodes` and until when. NULL: no answer is
	 * kept.
	 */
	uint64_t (*state_of)(void *context, const struct osp_nodeset *nodes);

	/* Whether a job is being preempted and still holds its nodes: in its grace time, ending. Of
	 * one that cannot be ended the scheduler must say no in the end: nobody else is preempted
	 * before. */
	bool (*is_leaving)(void *context, const struct osp_victim *victim);

	/* Milliseconds since the scheduler's call began. */
	int64_t (*elapsed_ms)(void *context);

	void *context;
};

struct osp_choose_input {
	enum osp_choose_mode mode;
	uint32_t job;	    /* what is remembered is remembered for this number */
	uint64_t choice_of; /* what else the usable nodes go by: a hash of the partition and the
			       like. How far the calls came is remembered for each */
	struct osp_place_input place;  /* with `free`: what seems free now */
	const struct osp_parts *parts; /* NULL: one domain, uncut */
	uint32_t prefer_level; /* below place.level: where it can start at once in one domain of
				  that level, or of one between, it does, and preempts nobody for
				  that; 0: none */
	int64_t now_s;
	int64_t slot_start_s; /* only a start in [start, end) is of use; 0: any */
	int64_t slot_end_s;
	bool first_only;  /* only a start at the first moment is of use */
	bool may_preempt; /* there are jobs that the gang may preempt */
	bool exact_size;  /* need_nodes is the gang's own, not an estimate */
	bool asked_again; /* test only: after a no the scheduler asks about more nodes */

	/*
	 * Nothing but the ends of jobs keeps the gang from starting at its bound on nodes that suit
	 * it at all: it takes no license, and no part of a node is kept for others. Its start is
	 * not simulated on nodes that are empty then (empty_at above).
	 */
	bool bound_is_start;

	/* A hash of all that the job asks for, but for its nodes: another one where scontrol update
	 * has changed it, the same for two jobs only if the scheduler could give both the same
	 * nodes. 0: no answer about this job is kept. */
	uint64_t request;

	/* Run now: of nodes that are not in place.free, those that the gang may be given all the
	 * same, because it may be laid over jobs there; place.free is among them. No domain with
	 * too few of them is asked. NULL: not known, or place.free_only. */
	const struct osp_nodeset *possible;

	/* Nodes that no job holds and that no job can have yet: the last one's epilog runs, or they
	 * boot. They count as free a second later. NULL: none. */
	const struct osp_nodeset *settling;

	/* Of these, the ones that have settled for longer than that can take in good order. A start
	 * in the future is looked for without them first. NULL: none. */
	const struct osp_nodeset *stuck;
};

/*
 * A decision. If `found` is set, one of these holds: the last question to the scheduler was exactly
 * this one, or named the same nodes with OSP_ASK_EVER if the bound is the start; or the scheduler
 * was not asked, because an earlier answer holds; or the scheduler took its yes back when it was
 * asked once more, and the earlier answer counts. In the last two cases the scheduler's own records
 * hold nothing of the answer.
 */
struct osp_choice {
	bool found;
	int64_t start_s;       /* will run */
	uint32_t processors;   /* of the answer */
	uint32_t domain_count; /* 0: several, or all that is usable (test only) */
	uint32_t domains[OSP_CHOICE_DOMAINS_MAX];
	const struct osp_nodeset *nodes; /* until the chooser's next call */
	const struct osp_victim *victims;
	uint32_t victim_count;
};

struct osp_chooser;

/* All must outlive it; `place` and `cut` are the chooser's for as long as a decision takes. `cut`
 * may be NULL if no gang has `parts`. NULL when memory ran out. */
struct osp_chooser *osp_chooser_new(const struct osp_topology *topology, struct osp_place *place,
				    struct osp_cut *cut);
void osp_chooser_free(struct osp_chooser *chooser); /* NULL is allowed */

void osp_choose(struct osp_chooser *chooser, const struct osp_choose_input *input,
		const struct osp_choose_calls *calls, struct osp_choice *choice);

/* Forgets all about a job: it starts, or is gone. False when nothing was known of it. */
bool osp_chooser_forget(struct osp_chooser *chooser, uint32_t job);

/* Forgets the answers of before: the scheduler's nodes are others now. */
void osp_chooser_forget_answers(struct osp_chooser *chooser);

/* Takes over whom gangs preempt, and where, from a chooser of other nodes, whose fabric is still
 * there. Domains are those of the same level and name. Neither allocates nor fails. */
void osp_chooser_inherit(struct osp_chooser *chooser, const struct osp_chooser *before);

/*
 * Goes on with another fabric of the same nodes, each with the number that it had, and the scratch
 * for it. What the chooser remembers of a domain it keeps for the domain of the same level and
 * name, or drops. The order of domains is another, so none counts as asked. Answers about nodes
 * still hold. Neither allocates nor fails; the old fabric may be freed.
 */
void osp_chooser_change_fabric(struct osp_chooser *chooser, const struct osp_topology *topology,
			       struct osp_place *place, struct osp_cut *cut);

#endif
