/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * choose.h - where and when a gang starts: every decision about one question of the scheduler
 *
 * lib/place orders domains and picks nodes; only the scheduler knows what a node really has to
 * give. A chooser asks it, domain by domain, until the answer is the best that there is. In
 * slurmctld the questions go to Slurm's own select_p_job_test(); in tests to a small model of nodes
 * and jobs.
 *
 * Order of questions
 *	run now    each domain with enough free nodes, in lib/place's order: exactly the nodes that
 *		   lib/place would take, then the whole domain. Then, if jobs may be preempted, the
 *		   domains that could start the gang without these jobs, those with the most free
 *		   nodes first. If no domain has enough nodes, nothing is asked.
 *	will run   the same for a start at once, or at the start of the slot; then domain by domain
 *		   in the order of their lower bounds, until the best answer is no later than the
 *		   next bound. The best answer is asked for again if another domain was asked after
 *		   it. If jobs may be preempted, they count as gone at each later moment, too.
 *	test only  the first domain; then all usable nodes, because a gang that fits as an ordinary
 *		   job must not be called impossible: after a no Slurm holds a job for ever. If
 *		   Slurm asks again after a no, about drained nodes too, the answer is no if no
 *		   domain has enough nodes.
 *
 * A gang in segments or in several domains (`parts`) is offered exactly the nodes that
 * lib/place/segments.h chooses, and takes an exact number of nodes; without an exact number it
 * waits. The later start is the earliest time at which it fits, by the ends of running jobs. After
 * a no the scheduler is offered all nodes, and then those that are left, and says which it would
 * take: a new choice is made out of these. If that starts nothing either, the choices that leave
 * out one part of the first, then one node, are asked about, in the next calls too. If nodes are of
 * several kinds, each kind has its turn, for a later start in the order of when it fits. If a later
 * start is not the earliest by the ends of running jobs, the scheduler is asked which of all nodes
 * would start the gang before, and choices are made of those that it names, one moment after the
 * other; the earliest start wins.
 *
 * For a gang that prefers a lower level, the scheduler is first asked about that level, for a start
 * at once without preempting, for at most half of the time of a call; then as for any other gang.
 *
 * Between calls a chooser remembers for a few hundred jobs
 *	- which jobs a gang preempts and where: while one of these jobs is leaving, no other domain
 *	  is emptied for the gang, and no other job is preempted in this one;
 *	- how far a call came that had more domains to ask than time: the next one continues there,
 *	  in each partition separately;
 *	- the domain of such a call's plan: it is asked again before there is no plan.
 * For thousands of jobs it remembers answers about a start in the future for a minute or two: that
 * some nodes suit the job, and any other with the same request, at all, and when it starts on some
 * nodes while nothing changes there. It does not repeat a question whose answer still holds.
 * osp_chooser_saved() saves which jobs a gang preempts for a chooser of a later process. The rest
 * need not outlive this one: the chooser decides anew what it has forgotten.
 *
 * A chooser belongs to one thread at a time. osp_chooser_new() takes all memory; a decision neither
 * allocates nor fails. In slurmctld it runs inside a scheduling call.
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
 * The time that a call may ask for, except that it always asks for one start in the future: one of
 * Slurm's own calls may take 2 s (select/cons_tres/job_test.c, _future_run_test), and a cycle of
 * backfill makes hundreds.
 */
#define OSP_CHOOSE_BUDGET_MS 1000

/* Domains considered in one call; the next call continues after them. */
#define OSP_CHOOSE_CANDIDATES_MAX 256

/*
 * Domains asked in vain for an earlier start after one has answered; for a gang in parts, questions
 * for that. Domains whose earlier answers still hold do not count, so that the next calls reach the
 * others; the second limit is for domains including these.
 */
#define OSP_CHOOSE_EARLIER_MAX	     8
#define OSP_CHOOSE_EARLIER_KNOWN_MAX 64

/*
 * How long answers about a start in the future hold at least; at most they hold less than twice as
 * long (by the job's number, so that not all are asked anew in one cycle). What neither an account
 * of jobs nor a job's request shows, such as a resource that a node lost, is noticed then.
 * Backfill's interval is 30 s.
 */
#define OSP_CHOOSE_KEEP_S 60

/* Jobs preempted by one gang that are remembered; more may be preempted. */
#define OSP_CHOOSE_VICTIMS_MAX 64

/* The most domains of an answer. */
#define OSP_CHOICE_DOMAINS_MAX 1

enum osp_choose_mode {
	OSP_CHOOSE_RUN_NOW,
	OSP_CHOOSE_WILL_RUN,
	OSP_CHOOSE_TEST_ONLY,
};

/*
 * A job that is preempted. A job that was requeued and runs again is another one: it started later.
 */
struct osp_victim {
	uint32_t job;
	int64_t started_s;
};

/* The jobs that may be preempted for one question. */
struct osp_victims {
	bool all;			 /* all on the question's nodes that may be preempted */
	const struct osp_victim *listed; /* otherwise these; none if `count` is 0 */
	uint32_t count;
};

enum osp_ask_mode {
	OSP_ASK_START, /* start it now; a yes is binding */
	OSP_ASK_FIRST, /* would it start at the first moment (now, or at the start of the slot)? */
	OSP_ASK_WHEN,  /* when would it start? */
	OSP_ASK_EVER,  /* could it run there at all, with no other job there? */
	/* Which of these would it take? Only the nodes of a yes matter. */
	OSP_ASK_WHO_NOW,  /* at the first moment */
	OSP_ASK_WHO_EVER, /* with no other job there */
};

struct osp_question {
	const struct osp_nodeset *nodes; /* the gang may have only these */
	enum osp_ask_mode mode;
	struct osp_victims victims;
};

/* Filled by the scheduler with a yes, but `cut_short` with a no too. The chooser owns `nodes` and
 * `victims`. */
struct osp_answer {
	int64_t start_s;	    /* OSP_ASK_FIRST, OSP_ASK_WHEN */
	uint32_t processors;	    /* that the gang would get in total, as limits count them */
	struct osp_nodeset *nodes;  /* that the gang would get */
	struct osp_victim *victims; /* room for OSP_CHOOSE_VICTIMS_MAX jobs to preempt */
	uint32_t victim_count;
	bool cut_short; /* it did not look everywhere: the next call may be answered otherwise */
};

/* The scheduler. After a no everything is as it was before the question. */
struct osp_choose_calls {
	bool (*ask)(void *context, const struct osp_question *question, struct osp_answer *answer);

	/*
	 * Stores when each usable node has enough for the gang, by the ends of running jobs, one
	 * value per node: never later than the truth, OSP_PLACE_NEVER_S for never. With
	 * `preempting`, jobs that the gang may preempt count as gone.
	 */
	void (*free_times)(void *context, bool preempting, int64_t *free_at_s);

	/*
	 * Returns whether no job will hold anything of `nodes` at that time. A start at a bound is
	 * then not simulated (bound_is_start below). NULL: the bound itself says so.
	 */
	bool (*empty_at)(void *context, const struct osp_nodeset *nodes, int64_t at_s);

	/*
	 * Returns a number that changes with what jobs hold of `nodes` and until when. NULL: no
	 * answer is kept.
	 */
	uint64_t (*state_of)(void *context, const struct osp_nodeset *nodes);

	/*
	 * Returns whether a job is being preempted and still holds its nodes: it is in its grace
	 * time, or ending. If a job cannot be ended, the scheduler must say no in the end: no other
	 * job is preempted before.
	 */
	bool (*is_leaving)(void *context, const struct osp_victim *victim);

	/* Returns the milliseconds since the scheduler's call began. */
	int64_t (*elapsed_ms)(void *context);

	void *context;
};

struct osp_choose_input {
	enum osp_choose_mode mode;
	uint32_t job;	    /* the number for which things are remembered */
	uint64_t choice_of; /* what else determines the usable nodes: a hash of the partition and
			       so on. How far the calls came is remembered for each */
	struct osp_place_input place;  /* its `free`: nodes that seem free now. NULL is enough for
					  will run without may_preempt, and for test only */
	const struct osp_parts *parts; /* NULL: one domain, not in segments */
	uint32_t prefer_level; /* below place.level: the gang starts in one domain of that level, or
				  of one between, if it can at once without preempting; 0: none */
	int64_t now_s;
	int64_t slot_start_s; /* only a start in [start, end) helps; 0: any */
	int64_t slot_end_s;
	bool first_only;  /* only a start at the first moment helps */
	bool may_preempt; /* there may be jobs that the gang may preempt */
	bool exact_size;  /* need_nodes is the gang's exact size, not an estimate */
	bool asked_again; /* test only: after a no the scheduler asks about more nodes */

	/*
	 * Only the ends of jobs keep the gang from starting at its bound on nodes that suit it at
	 * all: it takes no license, and no part of a node is kept for others. Its start is not
	 * simulated on nodes that are empty then (empty_at above).
	 */
	bool bound_is_start;

	/*
	 * A hash of all that the job asks for except its nodes. It changes if scontrol update has
	 * changed the job; two jobs have the same one only if the scheduler could give both the
	 * same nodes. 0: no answer about this job is kept.
	 */
	uint64_t request;

	/*
	 * Run now: the nodes that the gang may get: those of place.free, and others because it may
	 * share them with jobs there. Domains with too few of these are not asked. NULL: not known,
	 * or place.free_only.
	 */
	const struct osp_nodeset *possible;

	/*
	 * Nodes that no job holds but no job can have yet: the last one's epilog runs, or they
	 * boot. They count as free a second later. NULL: none.
	 */
	const struct osp_nodeset *settling;

	/*
	 * The ones of these that have settled for longer than normal. A start in the future is
	 * first looked for without them. NULL: none.
	 */
	const struct osp_nodeset *stuck;
};

/*
 * A decision. If `found` is set, one of these holds: the last question to the scheduler was exactly
 * this one, or named the same nodes with OSP_ASK_EVER if the bound is the start; or the scheduler
 * was not asked, because an earlier answer holds; or the scheduler withdrew its yes when it was
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

/*
 * Makes a chooser. All arguments must outlive it; `place` and `cut` belong to the chooser during a
 * decision. `cut` may be NULL if no gang has `parts`. Returns NULL if memory ran out.
 */
struct osp_chooser *osp_chooser_new(const struct osp_topology *topology, struct osp_place *place,
				    struct osp_cut *cut);
void osp_chooser_free(struct osp_chooser *chooser); /* NULL is allowed */

void osp_choose(struct osp_chooser *chooser, const struct osp_choose_input *input,
		const struct osp_choose_calls *calls, struct osp_choice *choice);

/*
 * For a job about which the scheduler is asked without osp_choose(). The first returns which jobs
 * it may preempt: while some that it preempts are leaving, only these, until the chooser's next
 * call; else all. Of `calls` it takes is_leaving() and the context. The second notes which jobs it
 * preempts, and in which domain; OSP_NO_DOMAIN: in none, or in several.
 */
struct osp_victims osp_chooser_leaving(struct osp_chooser *chooser, uint32_t job,
				       const struct osp_choose_calls *calls);
void osp_chooser_preempts(struct osp_chooser *chooser, uint32_t job, uint32_t domain,
			  const struct osp_victim *victims, uint32_t count);

/* Forgets all about a job that starts or is gone. Returns false if nothing was known of it. */
bool osp_chooser_forget(struct osp_chooser *chooser, uint32_t job);

/* Forgets earlier answers, because the scheduler's nodes have changed. */
void osp_chooser_forget_answers(struct osp_chooser *chooser);

/*
 * Copies which jobs gangs preempt, and where, from a chooser of other nodes, whose fabric still
 * exists. Domains are found by level and name. Neither allocates nor fails.
 */
void osp_chooser_inherit(struct osp_chooser *chooser, const struct osp_chooser *before);

/*
 * Returns which jobs a job preempts, and where, as text to be freed:
 * "12@1795496108,13@1795496110 spine s1", each victim with its start. NULL: none, or memory ran
 * out.
 */
char *osp_chooser_saved(const struct osp_chooser *chooser, uint32_t job);

/* Takes that text over if the chooser knows nothing of the job. Does nothing for any other
 * text. */
void osp_chooser_restore(struct osp_chooser *chooser, uint32_t job, const char *saved);

/*
 * Changes to another fabric of the same nodes, each with the same number, and the scratch for it.
 * What the chooser remembers of a domain it keeps for the domain of the same level and name, or
 * drops. The order of domains is another, so none counts as asked. Answers about nodes still hold.
 * Neither allocates nor fails; the old fabric may be freed.
 */
void osp_chooser_change_fabric(struct osp_chooser *chooser, const struct osp_topology *topology,
			       struct osp_place *place, struct osp_cut *cut);

#endif
