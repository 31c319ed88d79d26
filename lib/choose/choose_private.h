/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * choose_private.h - what the files of the chooser share
 *
 *	choose.c	  the three modes; a start now
 *	choose_later.c	  a start in the future
 *	choose_preempt.c  a start by preempting
 *	choose_parts.c	  all three modes for a gang in segments or in several domains
 *	choose_memory.c	  what is remembered between calls
 *	choose_saved.c	  of that, what outlives the process
 *	choose_answers.c  answers about the future that still hold
 */
#ifndef OSP_CHOOSE_PRIVATE_H
#define OSP_CHOOSE_PRIVATE_H

#include "lib/choose/choose.h"

/*
 * The most jobs remembered that preempt, and lists of domains that a job's
 * calls continue in; a new one replaces the one not asked about for longest.
 */
#define OSP_CHOOSE_MEMORY_MAX	256
#define OSP_CHOOSE_PROGRESS_MAX 512

/*
 * Kinds that get a turn of their own for a later start of a gang in parts, of
 * those with nodes enough for it: the ones that fit first. An array of as many
 * numbers keeps how far the calls came; kinds whose indexes differ by a
 * multiple of that share one.
 */
#define OSP_CHOOSE_PART_KINDS_MAX 256

/* Lists of domains; the next call continues in each at its own place. */
enum osp_choose_list {
	OSP_CHOOSE_LIST_NOW,
	OSP_CHOOSE_LIST_LATER,
	OSP_CHOOSE_LIST_PREEMPTING,
	OSP_CHOOSE_LIST_KINDS
};

/*
 * The jobs that a job preempts. In every partition that it is asked about, the
 * same domain is emptied for it.
 */
struct osp_choose_memory {
	uint32_t job;  /* 0: not in use */
	uint64_t used; /* number of the last call about it */
	uint32_t preempt_domain;
	uint32_t victim_count;
	struct osp_victim victims[OSP_CHOOSE_VICTIMS_MAX];
};

/*
 * How far a job's calls came, and where they have a plan, in the domains that
 * it may have in one partition.
 */
struct osp_choose_progress {
	uint32_t job;  /* 0: not in use */
	uint64_t used; /* number of the last call about it */
	uint64_t choice_of;
	uint32_t skip[OSP_CHOOSE_LIST_KINDS]; /* domains that were asked in vain
                                           before time was up */
	/*
	 * of choose_parts.c: the kind that a call begins with, and for a later start, in which
	 * these are ordered by time, one more than that (0: the earliest), and for each kind how
	 * many choices were asked about in vain
	 */
	uint16_t first_kind[OSP_CHOOSE_LIST_KINDS];
	uint32_t later_skip[OSP_CHOOSE_PART_KINDS_MAX];
	uint32_t plan_domain;	 /* OSP_NO_DOMAIN: none */
	int64_t unnamed_until_s; /* OSP_ASK_WHO_EVER is not asked before */
};

/*
 * The most answers kept: one or two for each gang that waits. An answer
 * replaces another at the same index.
 */
#define OSP_CHOOSE_KEPT_MAX 16384

struct osp_choose_kept {
	uint64_t what[2]; /* hashes of all that was asked */
	uint64_t state;	  /* of the nodes then */
	int64_t start_s;  /* OSP_PLACE_NEVER_S: no */
	int64_t until_s;  /* 0: not in use */
	uint32_t processors;
	bool other_nodes; /* the start is on some of the nodes asked about, not on all
                     */
	bool waits;	  /* the start was in the future then */
};

/* For gangs in segments or in several domains. */
struct osp_choose_parts_scratch {
	struct osp_nodeset *base;    /* nodes to choose from */
	struct osp_nodeset *offered; /* the ones of these for the current choice */
	struct osp_nodeset *first;   /* the first choice */
	struct osp_nodeset *unseen;  /* its nodes that no other choice has left out yet */
	struct osp_nodeset *last;    /* nodes to take last */
	struct osp_nodeset *named;   /* nodes that the scheduler said it would take */
	/* by node: those that become free later, in the order of time, and room to sort them */
	uint32_t *later, *order, *spare, *keys;
};

struct osp_chooser {
	const struct osp_topology *topology;
	struct osp_place *place;
	struct osp_cut *cut;
	uint32_t node_count;
	struct osp_nodeset *nodes;    /* of the current question */
	struct osp_nodeset *from;     /* to pick from */
	struct osp_nodeset *given;    /* of the current answer */
	struct osp_nodeset *best;     /* of the best answer */
	struct osp_nodeset *usable;   /* usable nodes without stuck ones */
	struct osp_nodeset *free_now; /* the ones of these that seem free */
	int64_t *free_at_s;
	struct osp_choose_parts_scratch parts;
	struct osp_victim victims[OSP_CHOOSE_VICTIMS_MAX];
	struct osp_place_domain candidates[OSP_CHOOSE_CANDIDATES_MAX];
	struct osp_choose_memory memory[OSP_CHOOSE_MEMORY_MAX];
	struct osp_choose_progress progress[OSP_CHOOSE_PROGRESS_MAX];
	struct osp_choose_kept kept[OSP_CHOOSE_KEPT_MAX];
	uint64_t calls;
};

/* One decision. */
struct osp_choose_run {
	struct osp_chooser *chooser;
	const struct osp_choose_input *input;
	const struct osp_choose_calls *calls;
	struct osp_choice *choice;
	struct osp_answer answer;
	int64_t first_s; /* now, or the start of the slot */
	int64_t budget_ms;
	uint32_t asked;	 /* questions to the scheduler so far */
	bool recalled;	 /* the current answer is an earlier one */
	bool leaving;	 /* jobs leave for this gang: no other job is preempted */
	bool preempting; /* starts in the future: jobs that may be preempted count as
                      gone */

	/* the current list, in chooser->candidates */
	uint32_t count;
	uint32_t skipped; /* domains of the list before these: earlier calls asked them */
	uint32_t rest;	  /* domains of the list after these */
	bool rest_is_due; /* the first of these may be free at the first moment */
	uint32_t missed;  /* domains asked in vain for a start at the first moment, if
                       more are left;  else 0 */
	struct osp_place_domain planned; /* the domain of the last plan; OSP_NO_DOMAIN: none */
};

/* --- choose.c --------------------------------------------------------------------------------- */

bool osp_choose_budget_spent(const struct osp_choose_run *run);
bool osp_choose_ask(struct osp_choose_run *run, const struct osp_nodeset *nodes,
		    enum osp_ask_mode mode, const struct osp_victims *victims);

/* Puts the usable nodes of a candidate into chooser->nodes. */
void osp_choose_domain_nodes(struct osp_choose_run *run, const struct osp_place_domain *candidate);

/* Removes from chooser->nodes those that cannot start anything at the first moment yet. */
void osp_choose_pass_over_settling(struct osp_choose_run *run);

/*
 * Puts the nodes that lib/place takes out of `from` in a candidate into
 * chooser->nodes. Returns false if the gang's size is an estimate, or too few
 * nodes are there.
 */
bool osp_choose_pick(struct osp_choose_run *run, const struct osp_place_domain *candidate,
		     const struct osp_nodeset *from);

/* Notes the current answer as the decision. */
void osp_choose_take(struct osp_choose_run *run, const struct osp_place_domain *candidate);

/*
 * Returns the start of the current answer. The scheduler says "now" for the
 * start of the slot, and ignores that nodes settle.
 */
int64_t osp_choose_true_start(const struct osp_choose_run *run);

/* Orders the domains by when they could start the gang and keeps the list. Fills free_at_s. */
void osp_choose_list_by_time(struct osp_choose_run *run, enum osp_choose_list kind,
			     bool preempting);

/* Postpones nodes that settle by a second in free_at_s. */
void osp_choose_settle(struct osp_choose_run *run);

/* --- choose_later.c --------------------------------------------------------------------------- */

void osp_choose_will_run(struct osp_choose_run *run);

/*
 * Puts the usable nodes of a candidate (NULL: of all) that have enough by then
 * into chooser->from. Uses chooser->nodes for a candidate.
 */
void osp_choose_nodes_free_by(struct osp_choose_run *run, const struct osp_place_domain *candidate,
			      int64_t by_s);

/* Removes from the set the nodes that are not free by then. */
void osp_choose_keep_free_by(struct osp_nodeset *set, const int64_t *free_at_s, int64_t by_s);

/*
 * Returns whether the gang starts at its bound on chooser->nodes without a
 * simulation, if they suit it at all.
 */
bool osp_choose_bound_is_start(const struct osp_choose_run *run, int64_t bound_s);
bool osp_choose_ask_at_bound(struct osp_choose_run *run, const struct osp_nodeset *nodes,
			     int64_t bound_s);
/* Makes these nodes and that start the current answer. */
void osp_choose_answer_bound(struct osp_choose_run *run, const struct osp_nodeset *nodes,
			     int64_t bound_s);

/* --- choose_answers.c ------------------------------------------------------------------------- */

/*
 * Asks as osp_choose_ask() does, for OSP_ASK_WHEN or OSP_ASK_EVER, but uses an
 * earlier answer if it still holds. With run->preempting, OSP_ASK_WHEN counts
 * all victims as gone, and its answer is not kept.
 */
bool osp_choose_ask_later(struct osp_choose_run *run, const struct osp_nodeset *nodes,
			  enum osp_ask_mode mode);

/* --- choose_preempt.c ------------------------------------------------------------------------- */

bool osp_choose_preempting(struct osp_choose_run *run);

/* Returns which jobs leave for this gang, or NULL. Forgets jobs that have left.
 */
struct osp_choose_memory *osp_choose_recall_leaving(struct osp_choose_run *run);
/* Notes which jobs the current answer preempts, and where. */
void osp_choose_remember_victims(struct osp_choose_run *run, uint32_t domain);

/* --- choose_parts.c --------------------------------------------------------------------------- */

void osp_choose_parts(struct osp_choose_run *run);
/* Returns 0, or -1 if memory ran out; osp_choose_parts_free() is needed in either case. */
int osp_choose_parts_new(struct osp_chooser *chooser);
void osp_choose_parts_free(struct osp_chooser *chooser);

/* --- choose_memory.c -------------------------------------------------------------------------- */

/* Returns which jobs the job preempts, or NULL. */
struct osp_choose_memory *osp_choose_recall(struct osp_choose_run *run);

/* Return the same for any job of a chooser. */
struct osp_choose_memory *osp_choose_find_memory(struct osp_chooser *chooser, uint32_t job);
struct osp_choose_memory *osp_choose_new_memory(struct osp_chooser *chooser, uint32_t job);

/* Returns how far the calls for this choice came, or NULL. */
struct osp_choose_progress *osp_choose_recall_progress(struct osp_choose_run *run);

/* Returns the same, newly made if nothing is known. */
struct osp_choose_progress *osp_choose_progress(struct osp_choose_run *run);

/* Keeps a list of candidates, from the place where the last call about this job stopped. */
void osp_choose_keep_list(struct osp_choose_run *run, enum osp_choose_list kind,
			  const struct osp_place_domain *domains, uint32_t count);

/*
 * Notes that `asked` domains of the list were asked in vain. If any are left,
 * the next call continues after them.
 */
void osp_choose_list_was_vain(struct osp_choose_run *run, enum osp_choose_list kind,
			      uint32_t asked);

#endif
