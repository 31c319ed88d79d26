/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record.h - keeps what a run of checks found, wherever policy says
 *
 * The node's pass (check/base/pass_store.h), a line of history in the local and in the shared
 * folder, the textfile of node_exporter, and the last verdict in Slurm's Extra field. Only root
 * keeps anything; others may run checks. What cannot be kept causes a warning on standard error and
 * never changes the answer. One thread.
 */
#ifndef OSP_RECORD_H
#define OSP_RECORD_H

#include "check/check.h"
#include "check/base/node_state.h"
#include "lib/policy/config.h"
#include "host/record/history_line.h"

/*
 * Reads the onespine.yaml in force on a node (lib/policy/node_policy.h), without asking slurmctld;
 * without one returns the defaults. NULL with `error` set if it is refused. Below a test's `root`
 * only the site's folder counts.
 */
struct osp_config *osp_record_config(const char *root, struct osp_error *error);

/* Formats the rules of a pass, "0.1.0 91b3..": from our version, osp_thresholds_hash() of what is
 * in force, and the site's own checks, at which it looks now. Returns `buffer`. */
const char *osp_record_rules(const char *root, uint64_t thresholds_hash, char *buffer,
			     size_t buffer_bytes);

/* A run that is to be kept. */
struct osp_record {
	bool active; /* false: not root, or a dry run */
	const char *root;
	struct osp_config *config; /* NULL: refused; then only the pass is kept */
	struct osp_state_look look;
	struct osp_pass since;
	bool has_since;
	char rules[OSP_UUID_BYTES];
};

/*
 * Begins before the checks: sets `context->since` to the node's last pass, and starts a child that
 * reads the node's state as it is now, beside the checks. With `keep` false, or if not root,
 * nothing will be kept, and only the last pass is read. Call osp_record_end() in any case;
 * `context` must live until then.
 */
void osp_record_begin(struct osp_record *record, struct osp_check_context *context, bool keep);

/*
 * Ends after the checks: keeps everything, if `run` is not NULL. A run of only some checks makes no
 * pass; one of some GPUs makes a pass for those. Both report only a failure to Slurm and
 * Prometheus.
 */
void osp_record_end(struct osp_record *record, struct osp_check_context *context,
		    const struct osp_run *run, enum osp_depth depth, bool all_checks);

/*
 * Reads the node's state as it is now, for a question about its pass. Returns -1 with `error` set
 * if that fails.
 */
int osp_record_state(struct osp_check_context *context, struct osp_node_state *state,
		     struct osp_error *error);

#endif
