/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conflict.h - options that a job may not combine with a gang
 *
 * Some of Slurm's options choose nodes in a way that cannot be kept inside one domain, or only by
 * breaking their promise. A job with such an option is refused, with a sentence, when it is
 * submitted or changed. A job older than the policy waits, with a sentence, if it cannot get one
 * domain.
 *
 * Any thread, any daemon: no shared state, no allocation.
 */
#ifndef OSP_CONFLICT_H
#define OSP_CONFLICT_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/policy/request.h"

/* The parts of a job's request that may conflict. */
struct osp_shape {
	bool heterogeneous;   /* one component of several */
	bool switches;	      /* --switches */
	bool segment;	      /* --segment */
	bool segment_flags;   /* --spread-segments, --consolidate-segments */
	bool contiguous;      /* --contiguous */
	bool exclusive_topo;  /* --exclusive=topo */
	bool expands;	      /* --dependency=expand: its nodes go to another job */
	const char *features; /* --constraint, or NULL */
	const char *prefer;   /* --prefer, or NULL */
};

enum osp_conflicts {
	OSP_CONFLICTS_ALL,
	OSP_CONFLICTS_THAT_SPLIT /* those that split a gang even inside one domain */
};

/* Finds the first conflict with the gang of `effective`. Returns true if there is one; `sentence`
 * then names the option in the way, the reason and the cure: "--contiguous cannot be combined with
 * --gang: ..., ...; leave it out". It advises to leave out --gang, or to ask for --gang=off, only
 * if that helps (way_out). */
bool osp_conflict_find(const struct osp_shape *shape, enum osp_conflicts which,
		       const struct osp_effective *effective, char *sentence,
		       size_t sentence_bytes);

/* Returns whether a dependency ("afterok:7,expand:12") grows another job by this one's nodes; NULL
 * does not. */
bool osp_dependency_expands(const char *dependency);

#endif
