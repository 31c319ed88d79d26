/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * choose_parts_private.h - what the files of a gang in segments or in several domains share
 *
 *	choose_parts.c	      a start at the first moment; whether the gang could ever run
 *	choose_parts_later.c  a start in the future
 *	choose_parts_tries.c  which nodes the scheduler is asked about, one choice after the other
 */
#ifndef OSP_CHOOSE_PARTS_PRIVATE_H
#define OSP_CHOOSE_PARTS_PRIVATE_H

#include "lib/choose/choose_private.h"

/* Questions in one call for the nodes that the scheduler would take. */
#define OSP_CHOOSE_NAMINGS_MAX 64

/* How a choice is asked about. */
struct osp_choose_asking {
	enum osp_choose_list list;
	enum osp_ask_mode mode; /* later: the one that was answered yes */
	const struct osp_victims *victims;
	const struct osp_nodeset *boot; /* taken last */
	bool later;
	int64_t bound_s;

	/* Later: the best answer so far, and the search for an earlier one. */
	enum osp_ask_mode best_mode;
	uint32_t best_asked; /* questions up to this answer; 0: it is an earlier one */
	uint32_t earlier;    /* questions after the first answer */

	uint16_t best_kind; /* of the best answer */

	/* The other choices of a kind, after its first. */
	uint16_t kind;
	uint32_t skip;	  /* choices that earlier calls asked about */
	uint32_t choices; /* so far */
	uint32_t tries;	  /* those of any kind that were asked about in this call */
	bool stopped;	  /* there was no time for more */
	bool unnamed;	  /* the nodes that the scheduler would ever take did not help */
};

/* --- choose_parts.c --------------------------------------------------------------------------- */

/* Writes into chooser->free_at_s when each node has enough for the gang. */
void osp_choose_parts_find_free_times(struct osp_choose_run *run, bool preempting);

/* Returns whether the gang starts at the first moment: at once, or by preempting. */
bool osp_choose_parts_start_first(struct osp_choose_run *run);
bool osp_choose_parts_start_preempting(struct osp_choose_run *run);

/* --- choose_parts_later.c --------------------------------------------------------------------- */

void osp_choose_parts_will_run(struct osp_choose_run *run);

/* --- choose_parts_tries.c --------------------------------------------------------------------- */

/* Returns the number of kinds of nodes, each of which has its turn. */
uint16_t osp_choose_parts_kinds(const struct osp_choose_run *run);

/* Writes into `to` the usable nodes of the kind in `from`; returns their number. */
uint32_t osp_choose_parts_keep_kind(const struct osp_choose_run *run,
				    const struct osp_nodeset *from, uint16_t kind,
				    struct osp_nodeset *to);

/* Chooses nodes out of chooser->parts.offered into chooser->nodes. Returns false if none will do.
 */
bool osp_choose_parts_pick(struct osp_choose_run *run, const struct osp_choose_asking *asking);

/* Asks about chooser->nodes. */
bool osp_choose_parts_ask(struct osp_choose_run *run, struct osp_choose_asking *asking);

/* Return, and note, how many choices of the kind were asked about in vain for a later start. */
uint32_t osp_choose_parts_skipped(struct osp_choose_run *run, uint16_t kind);
void osp_choose_parts_skip(struct osp_choose_run *run, uint16_t kind, uint32_t skip);

/* Asks about the choices that leave out one part of the first, which was answered no. */
bool osp_choose_parts_try_others(struct osp_choose_run *run, struct osp_choose_asking *asking);

/*
 * Asks about the choices of each kind in `from`. If the time ends among a kind's choices, the next
 * call continues there; if it ends between two kinds, or no choice but first ones was asked about,
 * with the second.
 */
bool osp_choose_parts_try_kinds(struct osp_choose_run *run, struct osp_choose_asking *asking,
				const struct osp_nodeset *from);

/* Makes the next call begin with the first choice again, after all kinds were asked in vain. */
void osp_choose_parts_end(struct osp_choose_run *run, const struct osp_choose_asking *asking);

/* Adds the first `count` nodes of `from` to the set. */
void osp_choose_parts_add_some(struct osp_nodeset *set, const struct osp_nodeset *from,
			       uint32_t count);

/* Returns whether the scheduler may be asked for nodes. The nodes that it would ever take change
 * slowly, and backfill asks in each of its slots. */
bool osp_choose_parts_may_name(struct osp_choose_run *run, enum osp_ask_mode mode);

/* Adds to chooser->parts.named nodes that the scheduler would take; *beside is false at first.
 * Returns false if there are no more. */
bool osp_choose_parts_name_next(struct osp_choose_run *run, enum osp_ask_mode mode, bool *beside);

/* Notes that the named nodes were of no use. Returns false. Other kinds still have their turn. */
bool osp_choose_parts_named_in_vain(struct osp_choose_asking *asking, enum osp_ask_mode mode);

#endif
