/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * history.h - what earlier checks say about a node and a GPU: strikes, lemons, trends
 *
 * Nodes are replaced and names are reused, so runs are counted by what stays: the instance's id,
 * and each GPU's UUID, which may come back in another instance. A strike is a failure that was not
 * there in the run before, or is there again after a reboot; enough strikes within a number of days
 * make a lemon. A run that was read twice (from two folders) counts once.
 *
 * The caller reads files; this file does no I/O. Strings are copied. One thread per history.
 */
#ifndef OSP_HISTORY_H
#define OSP_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum osp_history_verdict {
	OSP_HISTORY_OTHER, /* no result: an error, or all skipped */
	OSP_HISTORY_PASS,
	OSP_HISTORY_FAIL,
};

struct osp_history;

struct osp_history *osp_history_new(void);	    /* Returns NULL if memory ran out */
void osp_history_free(struct osp_history *history); /* NULL is allowed */

/* One run, from its line. Strings may be "". */
struct osp_history_run {
	const char *id; /* of the run: two reports with one id count once */
	int64_t time_s;
	const char *node;
	const char *instance; /* its id, or its node's name */
	const char *boot_id;
	const char *depth;
	enum osp_history_verdict verdict;
	const char *check; /* the one that failed; "" for none */
	const char *reason;
	uint32_t job;	  /* for which it was run; 0: none */
	const char *when; /* "prolog" before it, "epilog" after it; "" */
};

/* Adds a run. Returns 1 if it was added, 0 if it is there already, -1 if memory ran out. */
int osp_history_add_run(struct osp_history *history, const struct osp_history_run *run);

/* Adds one of the GPUs of the run added last, and the check that it failed ("" for none). */
int osp_history_add_gpu(struct osp_history *history, const char *uuid, const char *check);

/* Adds a figure of the run added last: of a GPU ("uuid"), or of the node or another part of it. */
int osp_history_add_figure(struct osp_history *history, const char *uuid, const char *subject,
			   const char *name, double value);

/* Adds to the run added last how much a counter of errors, of a GPU ("uuid") or of another part,
 * has grown since the node's last pass. */
int osp_history_add_growth(struct osp_history *history, const char *uuid, const char *subject,
			   const char *name, uint64_t more);

struct osp_history_rule {
	int64_t now_s;
	uint32_t strikes;
	uint32_t strike_days;
};

/* An instance or a GPU, from all its runs. Strings live as long as the history. */
struct osp_history_subject {
	const char *key; /* instance id or UUID */
	bool is_gpu;
	const char *node; /* its last node */
	const char *instance;
	size_t nodes; /* names it has had, or for a GPU instances */
	size_t runs;
	size_t failed;	/* runs */
	size_t strikes; /* in the days that count */
	size_t strikes_ever;
	int64_t first_s;
	int64_t last_s;
	enum osp_history_verdict last;
	int64_t last_strike_s;	/* 0: never */
	const char *last_check; /* of the last strike; "" */
	const char *last_reason;
	bool lemon;
};

/* Judges everything that was added. Returns the subjects, lemons first, then by strikes and key;
 * the history owns them, until more is added. Returns NULL with *count 0 if memory ran out or there
 * are none. */
const struct osp_history_subject *
osp_history_judge(struct osp_history *history, const struct osp_history_rule *rule, size_t *count);

/* One figure over time. */
struct osp_history_trend {
	const char *subject; /* "mlx5_0:1"; "" for the GPU or the node itself */
	const char *name;
	size_t count;
	const double *values; /* oldest first */
	double first;
	double last;
	double least;
	double most;
	double change; /* of the mean of the last quarter against that of the first, as a part of
			  the latter; 0 if that is 0 or there are fewer than 4 */
};

/* Returns the trends of an instance (figures of no GPU) or of a GPU; ownership as above. */
const struct osp_history_trend *osp_history_trends(struct osp_history *history, const char *key,
						   size_t *count);

/* The growth of a counter of errors, and the job for which it was read. */
struct osp_history_growth {
	const char *key;     /* a GPU's UUID or the instance */
	const char *subject; /* "mlx5_0:1"; "" for the GPU itself */
	const char *name;
	uint64_t more;
	int64_t time_s;
	uint32_t job; /* 0: none */
	const char *when;
};

/* Returns the growths of an instance (of no GPU) or of a GPU, latest first; ownership as above. */
const struct osp_history_growth *osp_history_growths(struct osp_history *history, const char *key,
						     size_t *count);

#endif
