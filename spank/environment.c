/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * environment.c - sets a task's variables by the rules, and says what there is to say
 *
 * What stands in the task's environment by now is its user's: from the job, from a container's image,
 * from the files that NCCL reads. Only what an outer step of ours set may be set again; which that is
 * stands in ONESPINE_ENV_SET, with a sum of each value.
 */
#include "onespine_config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/env_words.h"
#include "lib/node_software.h"
#include "lib/user_env.h"
#include "spank/node_step.h"

#define SET_VARIABLE "ONESPINE_ENV_SET"

/* --- what we set ------------------------------------------------------------------------------ */

static uint32_t sum_of(const char *value)
{
	uint32_t sum = 2166136261u;

	while (*value)
		sum = (sum ^ (unsigned char)*value++) * 16777619u;
	return sum;
}

/* "NAME:1a2b3c4d" of the list that an outer step left. */
static bool is_ours(const char *list, const struct osp_variable *variable)
{
	char entry[256];
	int length = snprintf(entry, sizeof(entry), "%s:%08" PRIx32, variable->name,
			      sum_of(variable->value));

	if (length >= (int)sizeof(entry))
		return false;
	for (; list && *list; list += strcspn(list, ","), list += *list == ',') {
		if (!strncmp(list, entry, (size_t)length) && (list[length] == ',' || !list[length]))
			return true;
	}
	return false;
}

static void drop_ours(struct osp_user_env *user, const char *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < user->count; i++) {
		if (!is_ours(list, &user->list[i]))
			user->list[kept++] = user->list[i];
	}
	user->count = kept;
}

/* --- the facts -------------------------------------------------------------------------------- */

static void set_number(struct osp_facts *facts, enum osp_fact_id id, uint32_t number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	osp_node_tell(facts, id, text);
}

/* How many GPUs the task sees, where Slurm or its user says so. */
static void set_gpus(const struct osp_node_step *step, char *const *environment,
		     struct osp_facts *facts)
{
	const char *list = osp_environment_value(environment, "CUDA_VISIBLE_DEVICES");
	uint32_t count = list && *list ? 1 : 0;

	if (!list || !strcmp(list, "NoDevFiles"))
		return;
	for (; *list; list++)
		count += *list == ',';
	set_number(facts, OSP_FACT_GPUS_VISIBLE, count);
	if (step->known->type_gpus > 0)
		osp_node_tell(facts, OSP_FACT_PARTIAL_NODE,
			      count < (uint64_t)step->known->type_gpus ? "yes" : "no");
}

/* A container has libraries of its own, and none of the host's. */
static void set_software(const struct osp_node_step *step, char *const *environment,
			 bool in_container, struct osp_facts *facts)
{
	struct osp_search search = {.root = ""};

	if (in_container) {
		search.library_path = osp_environment_value(environment, "LD_LIBRARY_PATH");
		search.virtual_env = osp_environment_value(environment, "VIRTUAL_ENV");
		osp_node_software(&search, facts);
		return;
	}
	for (int i = 0; i < OSP_FACT_COUNT; i++) {
		if (step->software.facts[i].known)
			facts->facts[i] = step->software.facts[i];
	}
}

static void gather(const struct osp_node_step *step, char *const *environment, bool bound,
		   struct osp_facts *facts)
{
	bool in_container = osp_node_in_container(step);
	const char *nodes = osp_environment_value(environment, "SLURM_STEP_NUM_NODES");

	*facts = step->known->hardware;
	set_software(step, environment, in_container, facts);
	osp_node_limits(environment, facts);
	osp_node_tell(facts, OSP_FACT_CONTAINER, in_container ? "yes" : "no");
	osp_node_tell(facts, OSP_FACT_BOUND, bound ? "yes" : "no");
	if (!nodes)
		nodes = osp_environment_value(environment, "SLURM_JOB_NUM_NODES");
	osp_node_tell(facts, OSP_FACT_NODES, nodes ? nodes : "");
	set_gpus(step, environment, facts);
}

/* --- telling ---------------------------------------------------------------------------------- */

static void explain(const struct osp_node_step *step, const struct osp_facts *facts,
		    const struct osp_decisions *decisions)
{
	struct osp_env_view view = {.facts = facts};
	struct osp_text text = OSP_TEXT_INIT;
	const char *product = step->known->product;

	osp_text_printf(&text, "the environment of this job's tasks (--gang-env=explain)%s%s\n",
			*product ? ", on " : "", product);
	if (step->known->gpus >= 0 && step->known->type_gpus >= 0 &&
	    step->known->gpus != step->known->type_gpus)
		osp_text_printf(&text, "this node has %d of its %" PRId64 " GPUs\n",
				step->known->gpus, step->known->type_gpus);
	osp_env_print_facts(&view, &text);
	osp_env_print_decided(&view, decisions, &text);
	if (!text.failed)
		osp_node_say("%s", text.data);
	osp_text_free(&text);
}

/* What makes jobs die or slow; the rest is for who asks. */
static void warn(const struct osp_decisions *decisions)
{
	for (size_t i = 0; i < osp_decisions_count(decisions); i++) {
		const struct osp_decision *decision = osp_decisions_at(decisions, i);
		const struct osp_rule *rule = decision->rule;

		if ((decision->outcome != OSP_OUTCOME_WARNED &&
		     decision->outcome != OSP_OUTCOME_UNSET) ||
		    rule->severity > OSP_SEVERITY_HARMFUL)
			continue;
		osp_node_say("%s: %s%s%s%s%s%s%s [%s]", osp_severity_name(rule->severity),
			     decision->variable ? decision->variable : "",
			     decision->user && decision->user->value ? "=" : "",
			     decision->user && decision->user->value ? decision->user->value : "",
			     decision->variable ? ": " : "", rule->reason, rule->cure ? "; " : "",
			     rule->cure ? rule->cure : "", rule->id);
	}
}

/* --- setting ---------------------------------------------------------------------------------- */

/* Sets what is to be set, and leaves word of it for inner steps. */
static void apply(spank_t spank, const struct osp_decisions *decisions)
{
	struct osp_text list = OSP_TEXT_INIT;

	for (size_t i = 0; i < osp_decisions_count(decisions); i++) {
		const struct osp_decision *decision = osp_decisions_at(decisions, i);

		if (decision->outcome != OSP_OUTCOME_SET ||
		    spank_setenv(spank, decision->variable, decision->value, 1) != ESPANK_SUCCESS)
			continue;
		osp_text_printf(&list, "%s%s:%08" PRIx32, list.length_bytes ? "," : "",
				decision->variable, sum_of(decision->value));
	}
	if (list.length_bytes && !list.failed)
		spank_setenv(spank, SET_VARIABLE, list.data, 1);
	else
		spank_unsetenv(spank, SET_VARIABLE);
	osp_text_free(&list);
}

void osp_environment_set(spank_t spank, const struct osp_node_step *step, char *const *environment,
			 bool bound)
{
	struct osp_facts *facts = calloc(1, sizeof(*facts));
	struct osp_decisions *decisions = NULL;
	struct osp_user_env user;

	if (facts && !osp_user_env_read(environment, &user)) {
		gather(step, environment, bound, facts);
		drop_ours(&user, osp_environment_value(environment, SET_VARIABLE));
		decisions = osp_rules_decide(step->rules, facts, user.list, user.count, NULL);
	}
	if (decisions && step->tells_environment && osp_node_is_first_task(environment)) {
		if (step->modes.env == OSP_ENV_EXPLAIN)
			explain(step, facts, decisions);
		else
			warn(decisions);
	}
	if (decisions)
		apply(spank, decisions);
	osp_decisions_free(decisions);
	if (facts)
		osp_user_env_free(&user);
	free(facts);
}
