/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record.h - keeps what a run of checks found, wherever policy says
 *
 * The node's pass (check/base/pass_store.h), a line of history in the local and in the shared
 * folder, the textfile of node_exporter, and the last verdict in Slurm's Extra field. For root:
 * whoever else runs checks keeps nothing. What cannot be kept is a warning on standard error and
 * never changes the answer. One thread.
 */
#ifndef OSP_RECORD_H
#define OSP_RECORD_H

#include "check/check.h"
#include "check/base/node_state.h"
#include "lib/policy/config.h"
#include "host/record/history_line.h"

/*
 * onespine.yaml in force on a node (lib/policy/node_policy.h), without asking slurmctld; none gives
 * the defaults. NULL with `error` set. Below a test's `root` that of the site's folder alone.
 */
struct osp_config *osp_record_config(const char *root, struct osp_error *error);

/* "0.1.0 91b3..": the rules of a pass, from our version, osp_thresholds_hash() of what is in force,
 * and the site's own checks, which are looked at now. Returns `buffer`. */
const char *osp_record_rules(const char *root, uint64_t thresholds_hash, char *buffer,
			     size_t buffer_bytes);

/* A run that is to be kept. */
struct osp_record {
	bool active; /* false: who runs it is not root, or it is a dry run */
	const char *root;
	struct osp_config *config; /* NULL: refused; then only the pass is kept */
	struct osp_state_look look;
	struct osp_pass since;
	bool has_since;
	char rules[OSP_UUID_BYTES];
};

/*
 * Before the checks: `context->since` becomes the node's last pass, and a child begins to read the
 * node's state as it is now, beside the checks. With `keep` false, or without root, nothing will be
 * kept, and nothing is read but the last pass. Ends with osp_record_end() in any case; `context`
 * must live until then.
 */
void osp_record_begin(struct osp_record *record, struct osp_check_context *context, bool keep);

/*
 * After them: keeps it all, where `run` is not NULL. A run of some checks only makes no pass; one
 * of some GPUs makes a pass for those; both report only a failure to Slurm and Prometheus.
 */
void osp_record_end(struct osp_record *record, struct osp_check_context *context,
		    const struct osp_run *run, enum osp_depth depth, bool all_checks);

/* The node's state as it is now, for a question about its pass. -1 with `error` set. */
int osp_record_state(struct osp_check_context *context, struct osp_node_state *state,
		     struct osp_error *error);

#endif
