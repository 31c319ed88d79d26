/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_environment.c - what NCCL needs on this node, as the rules say, nothing of users */
#include "onespine_config.h"
#include "gate/gate_environment.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/env/node_facts.h"
#include "lib/env/rules.h"
#include "lib/env/user_env.h"
#include "gate/gate_node.h"

#define LIBRARIES "LD_LIBRARY_PATH"

/* No home: NCCL would read ~/.nccl.conf of whoever it runs as. */
static const char *const own[] = {
	"HOME=/nonexistent",
	"NCCL_CONF_FILE=/dev/null",
};

#define OWN_COUNT (sizeof(own) / sizeof(own[0]))

static void set_number(struct osp_facts *facts, enum osp_fact_id id, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	osp_facts_set(facts, id, text, NULL);
}

static uint32_t count_gpus(const char *list)
{
	uint32_t count = list && *list ? 1 : 0;

	for (; list && *list; list++)
		count += *list == ',';
	return count;
}

static void gather(const struct osp_gate_job *job, const struct osp_catalogue *catalogue,
		   struct osp_facts *facts)
{
	struct osp_search search = {.root = job->root};
	uint32_t gpus = count_gpus(job->gang.gpus);
	struct osp_node node;

	osp_node_facts(&search, catalogue, facts, &node);
	if (job->gpus_unknown && node.gpus > 0)
		gpus = (uint32_t)node.gpus;
	osp_facts_set(facts, OSP_FACT_CONTAINER, "no", NULL);
	osp_facts_set(facts, OSP_FACT_BOUND, "no", NULL);
	set_number(facts, OSP_FACT_NODES, job->gang.node_count);
	set_number(facts, OSP_FACT_GPUS_VISIBLE, gpus);
	if (node.gpus > 0)
		osp_facts_set(facts, OSP_FACT_PARTIAL_NODE,
			      gpus < (uint32_t)node.gpus ? "yes" : "no", NULL);
}

/* Adds the folders that the rules found, after those of a test. */
static int add_libraries(const struct osp_gate_job *job, const char *folders, char **to)
{
	const char *of_test = *job->root ? getenv(LIBRARIES) : NULL;

	return asprintf(to, LIBRARIES "=%s%s%s", of_test ? of_test : "", of_test ? ":" : "",
			folders) > 0
		       ? 0
		       : -1;
}

static int add_decided(const struct osp_gate_job *job, const struct osp_decisions *decisions,
		       char **environment, size_t *count)
{
	for (size_t i = 0; i < osp_decisions_count(decisions); i++) {
		const struct osp_decision *decision = osp_decisions_at(decisions, i);
		bool libraries;
		int failed;

		if (decision->outcome != OSP_OUTCOME_SET || *count == GATE_VARIABLES_MAX - 1)
			continue;
		libraries = strcmp(decision->variable, LIBRARIES) == 0;
		failed = libraries ? add_libraries(job, decision->value, &environment[*count])
				   : asprintf(&environment[*count], "%s=%s", decision->variable,
					      decision->value) < 0;
		if (failed)
			return -1;
		(*count)++;
	}
	return 0;
}

static bool is_there(char *const *environment, size_t count, const char *pair)
{
	size_t length = strcspn(pair, "=") + 1;

	for (size_t i = 0; i < count; i++)
		if (strncmp(environment[i], pair, length) == 0)
			return true;
	return false;
}

/* Sets what each process gets that looks at this node. */
static void add_usual(const struct osp_gate_job *job, char **environment, size_t *count)
{
	for (char **usual = osp_gate_environment(job); *usual; usual++)
		if (*count < GATE_VARIABLES_MAX - 1 && !is_there(environment, *count, *usual))
			environment[(*count)++] = *usual;
}

int gate_environment(const struct osp_gate_job *job, char *environment[GATE_VARIABLES_MAX],
		     struct osp_error *error)
{
	struct osp_catalogue *catalogue = osp_catalogue_read(OSP_DATA_DIR, OSP_SITE_DIR, error);
	struct osp_facts *facts = calloc(1, sizeof(*facts));
	struct osp_user_env site = {.list = NULL};
	struct osp_rule_set *rules = osp_rules_read(OSP_DATA_DIR, OSP_SITE_DIR, error);
	struct osp_decisions *decisions;
	char *nothing[] = {NULL};
	size_t count = 0;

	if (!catalogue || !rules)
		return -1;
	if (!facts)
		return osp_error_set(error, "out of memory");
	gather(job, catalogue, facts);
	if (!*job->root && osp_user_env_read(nothing, rules, NULL, NULL, &site))
		return osp_error_set(error, "out of memory");
	decisions = osp_rules_decide(rules, facts, site.list, site.count, error);
	if (!decisions)
		return -1;
	for (size_t i = 0; i < OWN_COUNT; i++)
		environment[count++] = strdup(own[i]);
	if (add_decided(job, decisions, environment, &count))
		return osp_error_set(error, "out of memory");
	add_usual(job, environment, &count);
	environment[count] = NULL;
	return 0;
}
