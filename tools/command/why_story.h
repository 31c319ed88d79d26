/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * why_story.h - the one sentence that says why a job waits
 *
 * `why` of a job and `why` of all jobs say the same. What Slurm says of the job comes first, then
 * the state of its nodes now, then what the scheduler wrote when it looked last. Two of them never
 * appear together if they could contradict each other. One thread.
 */
#ifndef OSP_WHY_STORY_H
#define OSP_WHY_STORY_H

#include "lib/policy/waiting.h"
#include "lib/policy/sentences.h"
#include "host/slurm/ask.h"
#include "host/slurm/ask_segments.h"
#include "host/slurm/gang.h"

struct osp_story {
	enum osp_waiting_kind kind;
	bool looked;	    /* `nodes` is valid: in which domains its nodes could be */
	bool in_parts;	    /* it is in segments or several domains: `parts` is valid, too */
	bool room;	    /* enough nodes are free for it now */
	bool of_component;  /* the sentence is about another component, which is a gang */
	bool of_scheduler;  /* the sentence counts as slurmctld did, not by whole nodes */
	bool note_is_older; /* AdminComment says that it waits, in other words than these */
	int level;	    /* the level asked for; -1: the topology has none of that name, or there
			      is no topology */
	uint32_t level_now; /* the level that will do now; 0: any nodes will */
	char partition[128]; /* of several, that which the nodes are of; "": it has one */
	bool others_looked;  /* the others' nodes were looked at, too, since none of them is down */
	char words[4 * OSP_SENTENCE_BYTES]; /* "": nothing is known */
	struct osp_fit_answer nodes;
	struct osp_segments_answer parts;
};

/* Tells the story of a pending job; `gang` is NULL if it is none. Returns 0, or -1 with `error`
 * set. Call osp_story_clear() in either case. */
int osp_story_of(const struct osp_world *world, const struct osp_state_job *job,
		 const struct osp_gang *gang, struct osp_story *story, struct osp_error *error);
void osp_story_clear(struct osp_story *story);

#endif
