/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * waiting.h - why a job waits besides free nodes: a sentence for each of Slurm's reasons
 *
 * lib/policy/sentences.h has the sentences about nodes. Every command, the note and the refusals
 * use both, so that none of them contradicts another. Any thread, any daemon: no shared state, no
 * allocation.
 */
#ifndef OSP_WAITING_H
#define OSP_WAITING_H

#include <stdbool.h>
#include <stddef.h>

#define OSP_WAITING_BYTES 400

enum osp_waiting_kind {
	OSP_WAITING_NODES, /* for free nodes (Resources), or unknown: words.h has the sentence */
	OSP_WAITING_TURN,  /* jobs with a higher priority come first */
	OSP_WAITING_HOLD,
	OSP_WAITING_BEGIN,
	OSP_WAITING_DEPENDENCY,
	OSP_WAITING_LIMIT, /* of an association, QOS or partition */
	OSP_WAITING_LICENSE,
	OSP_WAITING_RESERVATION,
	OSP_WAITING_REQUIRED,	/* nodes of -w are not available */
	OSP_WAITING_CONSTRAINT, /* no node of the partition meets the request */
	OSP_WAITING_PARTITION,
	OSP_WAITING_OTHER
};

/* What Slurm says about a pending job. A string is NULL if it is unknown or not asked for. */
struct osp_waiting {
	const char *job;    /* as its user names it: "1201_7" */
	const char *reason; /* Slurm's: "JobHeldUser", "job requeued in held state" */
	const char *begin;  /* when it may begin, as a readable time */
	const char *dependency;
	const char *licenses;
	const char *reservation;
	const char *features; /* of -C */
	const char *extra;    /* of --extra */
	const char *required; /* of -w */
	const char *partition;
	bool requeued; /* it has run before */
	bool put_back; /* Slurm began to start it, and took its nodes back */
};

/* Returns the kind of Slurm's word; NULL is OSP_WAITING_NODES. */
enum osp_waiting_kind osp_waiting_kind(const char *reason);

/* Returns whether there is a sentence for just this reason. */
bool osp_waiting_has_words(const char *reason);

/* Returns the kind as a word: "hold", "dependency". */
const char *osp_waiting_kind_name(enum osp_waiting_kind kind);

/* Returns whether free nodes would not start the job: every kind but the first two. */
bool osp_waiting_elsewhere(enum osp_waiting_kind kind);

/*
 * Writes a sentence such as "it is held by its owner; 'scontrol release 12' ends that", or "" for
 * OSP_WAITING_NODES. Cuts the words of users so that the sentence fits. Returns `buffer`.
 */
const char *osp_waiting_words(const struct osp_waiting *waiting, char *buffer, size_t buffer_bytes);

/* Returns what a user can do about a refusal of Slurm's own, found by Slurm's words; "" if nothing
 * is known. */
const char *osp_refused_cure(const char *slurm_says);

#endif
