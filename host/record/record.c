/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record.c - keeps what a run of checks found, wherever policy says */
#include "onespine_config.h"
#include "host/record/record.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/base/pass_store.h"
#include "check/runner/site_checks.h"
#include "lib/base/hash.h"
#include "lib/policy/node_policy.h"
#include "host/record/history_file.h"
#include "host/record/textfile.h"
#include "host/output.h"
#include "host/slurm/cluster_state.h"
#include "host/slurm/fabric.h"
#include "host/slurm/node_extra.h"
#include "lib/conf/slurm_conf_path.h"

#define LOCAL_DEADLINE_MS  5000
#define SHARED_DEADLINE_MS 5000
#define SLURM_DEADLINE_MS  10000
#define STATE_DEADLINE_MS  3000
#define REASON_BYTES	   512

/* --- policy ----------------------------------------------------------------------------------- */

/* Finds the policy beside slurm.conf, or in the site's folder; below a test's `root` only there. */
static int find_policy(const char *root, struct osp_node_policy *policy, struct osp_error *error)
{
	const char *named = getenv("SLURM_CONF"), *path = NULL;
	char site[PATH_MAX];
	int result = 0;

	if (!*root && named && *named == '/')
		result = osp_node_policy_read(path = named, NULL, policy, error);
	else if (!*root)
		for (size_t i = 0; !result && (path = osp_slurm_conf_candidate(i)); i++)
			result = osp_node_policy_read(path, NULL, policy, error);
	snprintf(site, sizeof(site), "%s%s", root, OSP_SITE_DIR);
	if (!result)
		result = osp_node_policy_read(NULL, site, policy, error);
	return result > 0 && osp_policy_trusted(policy->file, path, error) ? -1 : result;
}

struct osp_config *osp_record_config(const char *root, struct osp_error *error)
{
	struct osp_node_policy found = {.file = NULL};
	struct osp_config *config = NULL;

	if (find_policy(root, &found, error) >= 0)
		config = osp_config_read(found.file, found.text ? found.text : "", found.text_bytes,
					 error);
	osp_node_policy_free(&found);
	return config;
}

const char *osp_record_rules(const char *root, uint64_t thresholds_hash, char *buffer,
			     size_t buffer_bytes)
{
	struct osp_site_checks own;

	osp_site_checks_find(root, OSP_SITE_DIR, &own, NULL);
	if (own.stamp)
		thresholds_hash = osp_hash_mix(thresholds_hash, own.stamp);
	osp_site_checks_free(&own);
	snprintf(buffer, buffer_bytes, "%s %016llx", PACKAGE_VERSION,
		 (unsigned long long)thresholds_hash);
	return buffer;
}

/* --- keeping ---------------------------------------------------------------------------------- */

struct keeping {
	const struct osp_record *record;
	const struct osp_history_policy *policy;
	struct osp_history_entry entry;
	bool all_checks;
};

static void warn(const char *what, const struct osp_error *error)
{
	char words[1024];

	osp_say_warning("%s: %s", what, osp_error_format(error, words, sizeof(words)));
}

static void keep_line(const struct keeping *keeping, const char *folder, const char *line,
		      unsigned int deadline_ms)
{
	const struct osp_identity *identity = keeping->entry.identity;
	struct osp_error error = {.text = ""};
	char key[128];
	const struct osp_history_place place = {
		.folder = folder,
		.key = osp_history_key(*identity->instance ? identity->instance : identity->node,
				       key, sizeof(key)),
		.file_bytes_max = (uint64_t)keeping->policy->file_mib << 20,
		.files = keeping->policy->files,
	};

	if (osp_history_append(&place, line, deadline_ms, &error))
		warn("the run is not kept", &error);
}

static void keep_history(const struct keeping *keeping)
{
	char *line = osp_history_line(&keeping->entry), local[PATH_MAX];

	if (!line) {
		osp_say_warning("the run is not kept: out of memory");
		return;
	}
	/* off the node first: a failed one may soon be gone */
	if (keeping->policy->shared)
		keep_line(keeping, keeping->policy->shared, line, SHARED_DEADLINE_MS);
	if (keeping->policy->folder) {
		snprintf(local, sizeof(local), "%s%s", keeping->record->root,
			 keeping->policy->folder);
		keep_line(keeping, local, line, LOCAL_DEADLINE_MS);
	}
	free(line);
}

static void keep_textfile(const struct keeping *keeping)
{
	struct osp_error error = {.text = ""};

	if (keeping->policy->textfile &&
	    osp_textfile_save(keeping->policy->textfile, &keeping->entry, LOCAL_DEADLINE_MS,
			      &error))
		warn("Prometheus' textfile is not written", &error);
}

static void keep_extra(const struct keeping *keeping)
{
	const struct osp_run *run = keeping->entry.run;
	struct osp_error error = {.text = ""};
	char reason[REASON_BYTES];
	json_t *mine;

	/* a test's root belongs to no cluster unless it says so */
	if (!keeping->policy->slurm_extra || !osp_slurm_configured() ||
	    (*keeping->record->root && !getenv("ONESPINE_TEST_SLURM_EXTRA")))
		return;
	mine = json_pack("{s:s,s:s,s:o}", "verdict", osp_verdict_name(osp_run_verdict(run, false)),
			 "depth", osp_depth_name(keeping->entry.depth), "reason",
			 osp_json_string(osp_run_reason(run, reason, sizeof(reason))));
	if (!mine || osp_extra_put(keeping->record->root, keeping->entry.identity->node, mine,
				   SLURM_DEADLINE_MS, &error))
		warn("the node's Extra field is not written", &error);
	json_decref(mine);
}

/* Keeps a pass, if all checks of the depth agree on it: nothing failed, and nothing broke. If
 * something failed, the earlier passes are gone already. */
static void keep_pass(const struct keeping *keeping, struct osp_node_state *state)
{
	enum osp_verdict verdict = osp_run_verdict(keeping->entry.run, false);
	const struct osp_record *record = keeping->record;
	struct osp_error error = {.text = ""};
	struct osp_pass pass;

	if (verdict == OSP_VERDICT_FAIL || verdict == OSP_VERDICT_ERROR || !state ||
	    !keeping->all_checks)
		return;
	/* a GPU that was left alone was not examined any deeper */
	osp_pass_make(&pass, record->has_since ? &record->since : NULL,
		      keeping->entry.run->left_alone ? OSP_DEPTH_PASSIVE : keeping->entry.depth,
		      state);
	/* such a pass does not clear what a check in mode comment reported */
	if (osp_pass_save(record->root, &pass,
			  osp_run_verdict(keeping->entry.run, true) != OSP_VERDICT_FAIL, &error))
		warn("the pass is not kept", &error);
	osp_pass_clear(&pass);
}

/* --- one run ---------------------------------------------------------------------------------- */

void osp_record_begin(struct osp_record *record, struct osp_check_context *context, bool keep)
{
	struct osp_error error = {.text = ""};

	memset(record, 0, sizeof(*record));
	record->root = context->root;
	record->has_since = osp_pass_load_since(context->root, &record->since) > 0;
	context->since = record->has_since ? &record->since : NULL;
	if (!keep || geteuid() != 0)
		return;
	osp_record_rules(record->root, osp_thresholds_hash(context->thresholds), record->rules,
			 sizeof(record->rules));
	record->config = osp_record_config(record->root, &error);
	if (!record->config)
		warn("nothing is kept of this run", &error);
	osp_error_clear(&error);
	record->active = osp_node_state_begin(&record->look, context, &error) == 0;
	if (!record->active)
		warn("nothing is kept of this run", &error);
}

/* Returns when to stop waiting: a hung driver costs a test no more than its own limit. */
static uint64_t until_ms(const struct osp_check_context *context)
{
	unsigned int most_ms = context->deadline_most_ms;

	return osp_now_ms() +
	       (most_ms && most_ms < STATE_DEADLINE_MS ? most_ms : STATE_DEADLINE_MS);
}

int osp_record_state(struct osp_check_context *context, struct osp_node_state *state,
		     struct osp_error *error)
{
	struct osp_state_look look;
	char rules[OSP_UUID_BYTES];

	osp_record_rules(context->root, osp_thresholds_hash(context->thresholds), rules,
			 sizeof(rules));
	if (osp_node_state_begin(&look, context, error))
		return -1;
	return osp_node_state_collect(&look, until_ms(context), rules, state, error);
}

static void keep_run(struct osp_record *record, struct osp_check_context *context,
		     const struct osp_run *run, enum osp_depth depth, bool all_checks,
		     struct osp_node_state *state)
{
	bool partial = !all_checks || context->gpus;
	struct osp_identity identity;
	struct keeping keeping = {
		.record = record,
		.entry = {&identity, context, run, state, depth, partial,
			  record->has_since ? &record->since : NULL},
		.all_checks = all_checks,
	};

	osp_identity_read(record->root, &identity);
	if (record->config) {
		keeping.policy = osp_config_history(record->config);
		keep_history(&keeping);
		if (!partial || osp_run_verdict(run, false) == OSP_VERDICT_FAIL) {
			keep_textfile(&keeping);
			keep_extra(&keeping);
		}
	}
	keep_pass(&keeping, state);
}

void osp_record_end(struct osp_record *record, struct osp_check_context *context,
		    const struct osp_run *run, enum osp_depth depth, bool all_checks)
{
	struct osp_node_state state = {.time_s = 0};
	struct osp_error error = {.text = ""};
	bool known;

	if (record->active) {
		/* first, before what takes time: if it were killed, the node would still have its
		 * old pass */
		if (run && osp_run_verdict(run, false) == OSP_VERDICT_FAIL)
			osp_pass_drop(record->root);
		/* it ran beside the checks; if these were short, it may need a moment */
		known = osp_node_state_collect(&record->look, until_ms(context), record->rules,
					       &state, &error) == 0;
		if (run)
			keep_run(record, context, run, depth, all_checks, known ? &state : NULL);
		osp_node_state_clear(&state);
	}
	context->since = NULL;
	osp_pass_clear(&record->since);
	osp_config_free(record->config);
	memset(record, 0, sizeof(*record));
}
