/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ask_segments.h - the question of `fit` for a gang in segments or in several domains
 *
 * One thread.
 */
#ifndef OSP_ASK_SEGMENTS_H
#define OSP_ASK_SEGMENTS_H

#include "host/slurm/ask.h"
#include "lib/place/segments.h"

struct osp_segments_answer {
	struct osp_cut *cut; /* its last judgement is that of `now` */
	struct osp_cut_input input;
	struct osp_cut_answer now;
	bool ever;		     /* it would fit if every usable node were free */
	struct osp_nodeset *chosen;  /* empty: it would not start now */
	struct osp_nodeset *offered; /* what `input` points to: free nodes of the best kind */
};

/*
 * Puts to lib/place/segments.h what osp_ask() found of nodes: question->need_nodes nodes of one
 * kind. 0, or -1 with `error` set (memory). osp_segments_answer_clear() in either case.
 */
int osp_ask_segments(const struct osp_world *world, const struct osp_fit_answer *nodes,
		     uint32_t domains_max, const struct osp_segments *segments,
		     struct osp_segments_answer *answer, struct osp_error *error);
void osp_segments_answer_clear(struct osp_segments_answer *answer);

/* Writes the first `most` domains of the gang's level, and how many whole segments (or nodes) of
 * each are free. */
void osp_segments_table(const struct osp_world *world, const struct osp_segments_answer *answer,
			uint32_t most, struct osp_text *text);

#endif
