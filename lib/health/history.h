/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * history.h - what earlier checks say of a node and of a GPU: strikes, lemons, trends
 *
 * Nodes are replaced and names are given again, so runs are counted by what stays: the instance's
 * id, and each GPU's UUID, which may come back in another instance. A strike is a failure that was
 * not there in the run before, or is there again after a reboot; so many strikes in so many days
 * make a lemon. Runs that came twice (from two folders) count once.
 *
 * The caller reads files; here is no I/O. Strings are copied. One thread a history.
 */
#ifndef OSP_HISTORY_H
#define OSP_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum osp_history_verdict {
	OSP_HISTORY_OTHER, /* nothing was found out: an error, all skipped */
	OSP_HISTORY_PASS,
	OSP_HISTORY_FAIL,
};

struct osp_history;

struct osp_history *osp_history_new(void);	    /* NULL: no memory */
void osp_history_free(struct osp_history *history); /* NULL is allowed */

/* One run, as its line says. Strings may be "". */
struct osp_history_run {
	const char *id; /* of the run: two reports with one id count once */
	int64_t time_s;
	const char *node;
	const char *instance; /* its id, or what stands for one */
	const char *boot_id;
	const char *depth;
	enum osp_history_verdict verdict;
	const char *check; /* the one that failed; "" for none */
	const char *reason;
	uint32_t job;	  /* for which it was run; 0: none */
	const char *when; /* "prolog" before it, "epilog" after it; "" */
};

/* 1 when it was added, 0 when it is there already, -1 when memory ran out. */
int osp_history_add_run(struct osp_history *history, const struct osp_history_run *run);

/* Of the run added last: one of its GPUs, and the check that it failed ("" for none). */
int osp_history_add_gpu(struct osp_history *history, const char *uuid, const char *check);

/* Of the run added last: a figure of a GPU ("uuid"), or of the node or another part of it. */
int osp_history_add_figure(struct osp_history *history, const char *uuid, const char *subject,
			   const char *name, double value);

/* Of the run added last: a counter of errors, of a GPU ("uuid") or of another part, has grown by so
 * much since the node's last pass. */
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
	const char *node; /* where it was last */
	const char *instance;
	size_t nodes; /* names, or for a GPU instances, it has had */
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

/* Judges everything that was added. The subjects, lemons first, then by strikes and key; owned by
 * the history, until more is added. NULL with *count 0 when memory ran out, or there are none. */
const struct osp_history_subject *
osp_history_judge(struct osp_history *history, const struct osp_history_rule *rule, size_t *count);

/* One figure over time. */
struct osp_history_trend {
	const char *subject; /* "mlx5_0:1"; "" of the GPU or the node itself */
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

/* The trends of an instance (figures of no GPU) or of a GPU; as above. */
const struct osp_history_trend *osp_history_trends(struct osp_history *history, const char *key,
						   size_t *count);

/* What a counter of errors grew by, and for which job it was looked at. */
struct osp_history_growth {
	const char *key;     /* a GPU's UUID or the instance */
	const char *subject; /* "mlx5_0:1"; "" of the GPU itself */
	const char *name;
	uint64_t more;
	int64_t time_s;
	uint32_t job; /* 0: none */
	const char *when;
};

/* Those of an instance (of no GPU) or of a GPU, the latest first; as above. */
const struct osp_history_growth *osp_history_growths(struct osp_history *history, const char *key,
						     size_t *count);

#endif
