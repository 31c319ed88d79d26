/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * history_line.h - one run as a line of JSON, and back
 *
 *	{"v": 1, "id": "9f..", "time": "2026-03-01T12:00:00Z", "time_s": .., "node": "gpu-1",
 *	 "instance": "i-0123..", "machine": "p5.48xlarge", "boot_id": "..", "uptime_s": ..,
 *	 "driver": "570.86.15", "version": "0.1.0", "depth": "quick", "partial": false,
 *	 "verdict": "FAIL", "reason": "onespine: gpu3 ecc ..", "time_ms": ..,
 *	 "gpus": {"gpu0": "GPU-..", ..},
 *	 "checks": {"ecc": {"verdict": "FAIL", "mode": "enforce", "time_ms": ..,
 *	                    "results": [{"verdict": .., "subject": .., "value": .., "limit": ..,
 *	                                 "do": ..}]}, ..},
 *	 "figures": [["gpu3", "temperature_c", 34], ..],
 *	 "job": 123, "when": "epilog", "grew": [["mlx5_0:1", "link_downed", 2], ..]}
 * `job` and `when` exist only if the run was for a job; `grew` says by how much error counters have
 * grown since the node's last pass, if they have (a GPU is identified by its UUID). `results` has
 * what neither passed nor was skipped. `partial`: not all checks or not all GPUs. One thread.
 */
#ifndef OSP_HISTORY_LINE_H
#define OSP_HISTORY_LINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "check/check.h"
#include "lib/health/history.h"

/* The node, and the job for which a run is. */
struct osp_identity {
	char node[128];	    /* Slurm's name of the node, or the host's */
	char instance[128]; /* EC2's id, or the machine's own; "" if none is known */
	uint32_t job;	    /* the job, in a Prolog or Epilog; 0: none */
	const char *when;   /* "prolog", "epilog"; "": neither */
};

/* Reads them below `root`. */
void osp_identity_read(const char *root, struct osp_identity *identity);

struct osp_history_entry {
	const struct osp_identity *identity;
	const struct osp_check_context *context;
	const struct osp_run *run;
	const struct osp_node_state *state; /* NULL: it could not be read */
	enum osp_depth depth;
	bool partial;
	const struct osp_pass *since; /* the node's last pass; NULL: there is none */
};

/* Returns the line, without its end; the caller frees it. NULL if memory runs out. */
char *osp_history_line(const struct osp_history_entry *entry);

/* Adds a line. Returns 1; 0 if the history has it already; -1 if it is no line of a history (`why`
 * says what is wrong with it) or memory runs out (`why` is NULL). */
int osp_history_take_line(struct osp_history *history, const char *line, size_t length,
			  const char **why);

#endif
