/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * environment.c - sets a task's variables by the rules, and reports what the user should know
 *
 * What is in the task's environment by now is its user's: from the job, from a container's image,
 * from the files that NCCL reads. Only a variable that an outer step of ours set may be set again;
 * ONESPINE_ENV_SET lists these, with a sum of each value.
 *
 * Everything is decided for the step, before its tasks are forked, so that it costs time once. A
 * task that sees something else (a container, GPUs of its own) decides anew.
 */
#include "onespine_config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/environment.h"
#include "lib/env/env_print.h"
#include "lib/env/node_software.h"
#include "lib/env/user_env.h"
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

/*
 * Returns whether we set the variable, by the list that an outer step left:
 * "NAME:1a2b3c4d,NAME:..."
 */
static bool is_ours(const char *list, const struct osp_variable *variable)
{
	const char *listed = osp_user_env_listed(list, variable->name);
	char sum[16];
	size_t length = (size_t)snprintf(sum, sizeof(sum), "%08" PRIx32, sum_of(variable->value));

	return listed && !strncmp(listed, sum, length) &&
	       (listed[length] == ',' || !listed[length]);
}

/* Moves our variables from `user` to `ours`, which has room for all. Returns how many. */
static size_t take_ours(struct osp_user_env *user, const char *list, struct osp_variable *ours)
{
	size_t kept = 0, taken = 0;

	for (size_t i = 0; list && i < user->count; i++) {
		if (is_ours(list, &user->list[i]))
			ours[taken++] = user->list[i];
		else
			user->list[kept++] = user->list[i];
	}
	if (list)
		user->count = kept;
	return taken;
}

/* --- the facts -------------------------------------------------------------------------------- */

static void set_number(struct osp_facts *facts, enum osp_fact_id id, uint32_t number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	osp_node_set_fact(facts, id, text);
}

/* Sets how many GPUs the task sees, if Slurm or its user says so. */
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
		osp_node_set_fact(facts, OSP_FACT_PARTIAL_NODE,
				  count < (uint64_t)step->known->type_gpus ? "yes" : "no");
}

/* Sets the NICs near the GPUs, for rules that ask for them: ours do not. Reads the driver's
 * numbers, which nobody has read before tasks are bound. */
static void set_near_nics(const struct osp_node_step *step, char *const *environment,
			  struct osp_facts *facts)
{
	const struct osp_machine *machine = step->known->machine;
	struct osp_bind_driver *driver;
	char list[OSP_FACT_BYTES];
	hwloc_bitmap_t gpus;

	if (!step->asks_near_nics)
		return;
	driver = osp_bind_driver_read(machine, OSP_BIND_DRIVER);
	gpus = hwloc_bitmap_alloc();
	if (gpus && osp_bind_visible_gpus(machine, driver, environment, gpus) == 1)
		osp_node_set_fact(facts, OSP_FACT_NEAR_NICS,
				  osp_machine_near_nics(machine, gpus, list, sizeof(list)));
	hwloc_bitmap_free(gpus);
	osp_bind_driver_free(driver);
}

/* Sets the facts of the libraries. A container has its own, and none of the host's. */
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
	osp_node_set_fact(facts, OSP_FACT_CONTAINER, in_container ? "yes" : "no");
	osp_node_set_fact(facts, OSP_FACT_BOUND, bound ? "yes" : "no");
	if (!nodes)
		nodes = osp_environment_value(environment, "SLURM_JOB_NUM_NODES");
	osp_node_set_fact(facts, OSP_FACT_NODES, nodes ? nodes : "");
	set_gpus(step, environment, facts);
	set_near_nics(step, environment, facts);
}

/* --- report ----------------------------------------------------------------------------------- */

static void explain(const struct osp_node_step *step, const struct osp_facts *facts,
		    const struct osp_decisions *decisions)
{
	struct osp_env_view view = {.facts = facts};
	struct osp_text text = OSP_TEXT_INIT;
	const struct osp_fact *type = &facts->facts[OSP_FACT_INSTANCE];
	const char *node = type->known ? type->text : step->known->product;

	osp_text_printf(&text, "the environment of this job's tasks (--gang-env=explain)%s%s\n",
			*node ? ", on " : "", node);
	if (step->known->gpus >= 0 && step->known->type_gpus >= 0 &&
	    step->known->gpus != step->known->type_gpus)
		osp_text_printf(&text, "this node has %d of its %" PRId64 " GPUs\n",
				step->known->gpus, step->known->type_gpus);
	if (step->own.cut)
		osp_text_printf(&text,
				"not all of the user's own folders were looked at: at most %d, and "
				"%d ms, for LD_LIBRARY_PATH and VIRTUAL_ENV\n",
				OSP_SOFTWARE_FOLDERS_MAX, OSP_SOFTWARE_MS_MAX);
	osp_env_print_facts(&view, &text);
	osp_env_print_decided(&view, decisions, &text);
	if (!text.failed)
		osp_node_say("%s", text.data);
	osp_text_free(&text);
}

/* Warns of what makes jobs die or run slowly; --gang-env=explain prints the rest. */
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

static bool is_set(const struct osp_decisions *decisions, const char *name)
{
	for (size_t i = 0; i < osp_decisions_count(decisions); i++) {
		const struct osp_decision *decision = osp_decisions_at(decisions, i);

		if (decision->outcome == OSP_OUTCOME_SET && !strcmp(decision->variable, name))
			return true;
	}
	return false;
}

/* Returns the list for inner steps. */
static char *write_list(const struct osp_decisions *decisions, size_t *count)
{
	struct osp_text list = OSP_TEXT_INIT;

	*count = 0;
	osp_text_add(&list, "");
	for (size_t i = 0; i < osp_decisions_count(decisions); i++) {
		const struct osp_decision *decision = osp_decisions_at(decisions, i);

		if (decision->outcome == OSP_OUTCOME_SET)
			osp_text_printf(&list, "%s%s:%08" PRIx32, (*count)++ ? "," : "",
					decision->variable, sum_of(decision->value));
	}
	return osp_text_take(&list);
}

/*
 * Sets the variables. Removes what an outer step had set, or the step for its tasks, if it is not
 * set again.
 */
static void apply(spank_t spank, const struct osp_decisions *decisions, const char *list,
		  const struct osp_variable *ours, size_t ours_count)
{
	for (size_t i = 0; i < ours_count; i++) {
		if (!is_set(decisions, ours[i].name))
			spank_unsetenv(spank, ours[i].name);
	}
	for (size_t i = 0; i < osp_decisions_count(decisions); i++) {
		const struct osp_decision *decision = osp_decisions_at(decisions, i);

		if (decision->outcome == OSP_OUTCOME_SET)
			spank_setenv(spank, decision->variable, decision->value, 1);
	}
	if (*list)
		spank_setenv(spank, SET_VARIABLE, list, 1);
	else
		spank_unsetenv(spank, SET_VARIABLE);
}

/* --- deciding --------------------------------------------------------------------------------- */

/* What the step or a task sees: the user's variables and ours. */
struct seen {
	struct osp_facts *facts;
	struct osp_user_env user;
	const char *list; /* as it is in the environment */
	struct osp_variable *ours;
	size_t ours_count;
};

static bool look(const struct osp_node_step *step, char *const *environment, bool bound,
		 const struct osp_user_conf *conf, struct seen *seen)
{
	seen->facts = calloc(1, sizeof(*seen->facts));
	seen->list = osp_environment_value(environment, SET_VARIABLE);
	if (seen->list &&
	    strnlen(seen->list, OSP_USER_ENV_LIST_BYTES_MAX) == OSP_USER_ENV_LIST_BYTES_MAX)
		seen->list = NULL;
	if (osp_user_env_read(environment, step->rules, seen->list, conf, &seen->user) ||
	    !seen->facts)
		return false;
	seen->ours = calloc(seen->user.count + 1, sizeof(*seen->ours));
	if (!seen->ours)
		return false;
	gather(step, environment, bound, seen->facts);
	seen->ours_count = take_ours(&seen->user, seen->list, seen->ours);
	return true;
}

static void let_go(struct seen *seen)
{
	osp_user_env_free(&seen->user);
	free(seen->facts);
	free(seen->ours);
}

/* Decides, and returns the list of what is set now. */
static char *decide(spank_t spank, const struct osp_node_step *step, const struct seen *seen,
		    bool reports, size_t *count)
{
	struct osp_decisions *decisions =
		osp_rules_decide(step->rules, seen->facts, seen->user.list, seen->user.count, NULL);
	char *list = decisions ? write_list(decisions, count) : NULL;

	if (list && reports) {
		if (step->modes.env == OSP_ENV_EXPLAIN)
			explain(step, seen->facts, decisions);
		else
			warn(decisions);
	}
	/* nothing changes if all is set already: Slurm takes 256 KiB for each variable */
	if (list && (*count != seen->ours_count || strcmp(list, seen->list ? seen->list : "") != 0))
		apply(spank, decisions, list, seen->ours, seen->ours_count);
	osp_decisions_free(decisions);
	return list;
}

/* --- the step --------------------------------------------------------------------------------- */

void osp_environment_prepare(spank_t spank, struct osp_node_step *step, char *const *environment,
			     bool binds)
{
	struct osp_decided *decided = &step->decided;
	struct seen seen = {.facts = NULL};

	decided->bound = binds;
	if (look(step, environment, binds, &step->own.conf, &seen))
		decided->list = decide(spank, step, &seen, false, &decided->count);
	if (decided->list) {
		decided->facts = seen.facts;
		decided->user = seen.user;
		seen.facts = NULL;
		memset(&seen.user, 0, sizeof(seen.user));
	}
	let_go(&seen);
}

void osp_environment_forget(struct osp_node_step *step)
{
	osp_user_env_free(&step->decided.user);
	free(step->decided.facts);
	free(step->decided.list);
}

/* --- a task ----------------------------------------------------------------------------------- */

/* Returns the user's next variable, from *at on, that one of the rules would set; or NULL. */
static const struct osp_variable *next_kept(const struct osp_rule_set *rules,
					    const struct osp_user_env *user, size_t *at)
{
	while (*at < user->count) {
		const struct osp_variable *variable = &user->list[(*at)++];

		if (osp_rules_set(rules, variable->name))
			return variable;
	}
	return NULL;
}

/*
 * Returns whether both have the same variables that rules would set. Slurm's own, such as
 * CUDA_VISIBLE_DEVICES, exist in tasks alone, but no rule sets them.
 */
static bool same_kept(const struct osp_rule_set *rules, const struct osp_user_env *one,
		      const struct osp_user_env *other)
{
	const struct osp_variable *a, *b;
	size_t i = 0, j = 0;

	do {
		a = next_kept(rules, one, &i);
		b = next_kept(rules, other, &j);
	} while (a && b && !strcmp(a->name, b->name));
	return !a && !b;
}

/* Returns whether the task has what the step had, and what was set for the step is still there. */
static bool is_decided(const struct osp_node_step *step, const struct seen *seen)
{
	const struct osp_decided *decided = &step->decided;

	return decided->facts && seen->ours_count == decided->count &&
	       !strcmp(seen->list ? seen->list : "", decided->list) &&
	       same_kept(step->rules, &seen->user, &decided->user) &&
	       osp_rules_agree(step->rules, seen->facts, decided->facts);
}

void osp_environment_set(spank_t spank, const struct osp_node_step *step, char *const *environment,
			 bool bound, bool reports)
{
	struct seen seen = {.facts = NULL};
	size_t count;

	if (look(step, environment, bound, NULL, &seen) && (reports || !is_decided(step, &seen)))
		free(decide(spank, step, &seen, reports, &count));
	let_go(&seen);
}
