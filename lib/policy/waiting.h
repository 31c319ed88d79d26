/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * waiting.h - what a job waits for beside free nodes: a sentence for each of Slurm's reasons
 *
 * lib/policy/words.h has the sentences about nodes. Both are for every command, the note and
 * refusals, so that none of them says what another denies. Any thread, any daemon: no shared state,
 * no allocation.
 */
#ifndef OSP_WAITING_H
#define OSP_WAITING_H

#include <stdbool.h>
#include <stddef.h>

#define OSP_WAITING_BYTES 400

enum osp_waiting_kind {
	OSP_WAITING_NODES, /* for free nodes (Resources), or nothing is known: words.h says which */
	OSP_WAITING_TURN,  /* jobs with a higher priority come first */
	OSP_WAITING_HOLD,
	OSP_WAITING_BEGIN,
	OSP_WAITING_DEPENDENCY,
	OSP_WAITING_LIMIT, /* of an association, QOS or partition */
	OSP_WAITING_LICENSE,
	OSP_WAITING_RESERVATION,
	OSP_WAITING_REQUIRED,	/* nodes of -w cannot be had */
	OSP_WAITING_CONSTRAINT, /* nothing in the partition can be what it asks for */
	OSP_WAITING_PARTITION,
	OSP_WAITING_OTHER
};

/* What Slurm tells of a pending job. Strings may be NULL: not known, or not asked for. */
struct osp_waiting {
	const char *job;    /* as its user names it: "1201_7" */
	const char *reason; /* Slurm's word: "JobHeldUser" */
	const char *begin;  /* when it may begin, as a time that people read */
	const char *dependency;
	const char *licenses;
	const char *reservation;
	const char *features; /* of -C */
	const char *required; /* of -w */
	const char *partition;
	bool requeued; /* it has run before */
};

/* Of Slurm's word; NULL is OSP_WAITING_NODES. */
enum osp_waiting_kind osp_waiting_kind(const char *reason);

/* "hold", "dependency": the kind as one word. */
const char *osp_waiting_kind_name(enum osp_waiting_kind kind);

/* Whether free nodes would not start the job: every kind but the first two. */
bool osp_waiting_elsewhere(enum osp_waiting_kind kind);

/*
 * "held by its owner: 'scontrol release 12' ends that". "" for OSP_WAITING_NODES. The words of
 * users are cut to a length that leaves room for the sentence.
 */
const char *osp_waiting_words(const struct osp_waiting *waiting, char *buffer, size_t buffer_bytes);

/* What a user does about a refusal of Slurm's own, from Slurm's words; "" if nothing is known. */
const char *osp_refused_cure(const char *slurm_says);

#endif
