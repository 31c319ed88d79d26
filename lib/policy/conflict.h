/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conflict.h - what a job may not ask for beside a gang
 *
 * Some of Slurm's options choose nodes in a way that cannot be kept inside one domain, or only by
 * breaking their promise; such a job is refused in words, when it is submitted and when it is
 * changed. A job that was there before the policy waits in words, where one domain cannot be had.
 *
 * Any thread, any daemon: no shared state, no allocation.
 */
#ifndef OSP_CONFLICT_H
#define OSP_CONFLICT_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/policy/request.h"

/* What a job asks for, as far as it matters here. */
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
	OSP_CONFLICTS_THAT_SPLIT /* those that no narrowing to one domain would keep together */
};

/* Finds the first conflict with the gang that `effective` says. Returns true if there is one;
 * `sentence` then says which option is in the way, why, and what to do: "--contiguous cannot stand
 * beside --gang: ..., ...; leave it out". It names leaving out --gang, or --gang=off, only where
 * that helps (way_out). */
bool osp_conflict_find(const struct osp_shape *shape, enum osp_conflicts which,
		       const struct osp_effective *effective, char *sentence,
		       size_t sentence_bytes);

/* Whether a dependency ("afterok:7,expand:12") grows another job by this one's nodes; NULL is
 * none. */
bool osp_dependency_expands(const char *dependency);

#endif
