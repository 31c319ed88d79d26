/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pass_options.c - `onespine check --fresh` and `--repaired`: options about the node's passes */
#include "tools/command/pass_options.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "check/base/pass_store.h"
#include "host/record/record.h"
#include "tools/command/command.h"

#define FRESH_MOST_S 2592000 /* 30 days */

static int parse_fresh(const char *fresh, uint64_t *live_s, struct osp_error *error)
{
	unsigned long seconds;
	char *end;

	errno = 0;
	seconds = strtoul(fresh, &end, 10);
	if (errno || *end || *fresh < '0' || *fresh > '9' || seconds > FRESH_MOST_S)
		return osp_error_set(error, "--fresh=%.40s: seconds from 0 to %d are expected",
				     fresh, FRESH_MOST_S);
	*live_s = seconds;
	return 0;
}

static int print_fresh(const struct osp_call *call, const struct osp_check_context *context,
		       enum osp_depth depth)
{
	struct osp_text text = OSP_TEXT_INIT;

	if (call->values[OSP_OPTION_JSON])
		return osp_print_json(
			json_pack("{s:s,s:s,s:b,s:s,s:o,s:i,s:[]}", "verdict", "PASS", "reason", "",
				  "fresh", 1, "depth", osp_depth_name(depth), "machine",
				  osp_json_string(context->node), "time_ms", 0, "checks"),
			OSP_EXIT_YES);
	osp_text_printf(&text, "an earlier pass of depth %s holds: nothing was checked\n",
			osp_depth_name(depth));
	return osp_print_text(&text, OSP_EXIT_YES);
}

/* Returns whether a kept pass holds. An unknown state counts as no pass. */
static bool holds(struct osp_check_context *context, enum osp_depth depth, uint64_t live_s)
{
	struct osp_node_state state;
	enum osp_freshness freshness;

	if (osp_record_state(context, &state, NULL))
		return false;
	freshness = osp_pass_holds(context->root, &state, depth, live_s, NULL, 0);
	osp_node_state_clear(&state);
	return freshness == OSP_FRESH;
}

/* Accepts the present counters and records as seen, and drops all earlier passes. */
static int take_for_seen(struct osp_check_context *context, struct osp_error *error)
{
	struct osp_node_state state;
	struct osp_pass pass;
	int outcome;

	if (geteuid() != 0)
		return osp_error_set(error, "--repaired is for root");
	if (context->gpus)
		return osp_error_set(error, "--repaired is of the whole node: not with --gpus");
	if (osp_record_state(context, &state, error))
		return -1;
	osp_pass_make(&pass, NULL, OSP_DEPTH_PASSIVE, &state);
	osp_pass_drop(context->root);
	outcome = osp_pass_save_since(context->root, &pass, error);
	osp_pass_clear(&pass);
	return outcome;
}

int osp_pass_options(const struct osp_call *call, struct osp_check_context *context,
		     enum osp_depth depth, int *status, struct osp_error *error)
{
	const char *fresh = call->values[OSP_OPTION_FRESH];
	uint64_t live_s = 0;

	if (fresh && call->values[OSP_OPTION_REPAIRED])
		return osp_error_set(error, "--repaired checks anew: not with --fresh");
	if (fresh && call->values[OSP_OPTION_ONLY_CHECKS])
		return osp_error_set(error, "a pass is of all checks: --fresh does not go with "
					    "--only");
	if (fresh && parse_fresh(fresh, &live_s, error))
		return -1;
	if (call->values[OSP_OPTION_REPAIRED] && take_for_seen(context, error))
		return -1;
	if (!fresh || !holds(context, depth, live_s))
		return 0;
	*status = print_fresh(call, context, depth);
	return 1;
}
