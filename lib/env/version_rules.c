/* SPDX-License-Identifier: GPL-2.0-or-later */
/* version_rules.c - the versions installed on a node, and combinations known to fail */
#include "lib/env/version_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/env/node_facts.h"
#include "lib/env/rules.h"

/* The versions to compare; a rule that asks for none of these is about a job's settings. */
static const enum osp_fact_id versions[] = {
	OSP_FACT_DRIVER, OSP_FACT_CUDA, OSP_FACT_NCCL,
	OSP_FACT_OFI,	 OSP_FACT_EFA,	OSP_FACT_LIBFABRIC,
};

#define VERSION_COUNT (sizeof(versions) / sizeof(versions[0]))

struct table {
	const char *data;
	const char *site;
	struct osp_catalogue *catalogue;
	struct osp_rule_set *rules;
	struct osp_facts *facts;
	struct osp_decisions *decisions;
};

static int read_table(struct table *table, struct osp_error *error)
{
	table->facts = calloc(1, sizeof(*table->facts));
	if (!table->facts)
		return osp_error_set(error, "out of memory");
	table->catalogue = osp_catalogue_read(table->data, table->site, error);
	if (table->catalogue)
		table->rules = osp_rules_read(table->data, table->site, error);
	return table->rules ? 0 : -1;
}

static void free_table(struct table *table)
{
	osp_decisions_free(table->decisions);
	osp_rules_free(table->rules);
	osp_catalogue_free(table->catalogue);
	free(table->facts);
}

static const char *version_of(const struct osp_facts *facts, enum osp_fact_id id)
{
	return facts->facts[id].known ? facts->facts[id].text : "";
}

/* Writes the versions that a rule's conditions ask for: "nccl 2.21.5, efa 1.28.0". Returns their
 * number. */
static size_t seen_versions(const struct osp_rule *rule, const struct osp_facts *facts, char *words,
			    size_t words_bytes)
{
	size_t length = 0, count = 0;

	*words = '\0';
	for (size_t i = 0; i < rule->condition_count; i++)
		for (size_t n = 0; n < VERSION_COUNT; n++) {
			if (rule->conditions[i].fact != versions[n])
				continue;
			if (length < words_bytes)
				length += (size_t)snprintf(words + length, words_bytes - length,
							   "%s%s %s", count ? ", " : "",
							   osp_fact_name(versions[n]),
							   version_of(facts, versions[n]));
			count++;
		}
	return count;
}

/* Returns whether a decision is a warning about versions alone that do harm. */
static bool is_bad(const struct osp_decision *decision, const struct osp_facts *facts,
		   struct osp_bad_versions *bad)
{
	const struct osp_rule *rule = decision->rule;

	if (decision->outcome != OSP_OUTCOME_WARNED || decision->variable ||
	    rule->severity > OSP_SEVERITY_HARMFUL ||
	    !seen_versions(rule, facts, bad->versions, sizeof(bad->versions)))
		return false;
	bad->rule = rule->id;
	bad->reason = rule->reason;
	bad->cure = rule->cure;
	bad->source = rule->source;
	return true;
}

static void list_versions(const struct osp_facts *facts, char *words, size_t words_bytes)
{
	size_t length = 0;

	*words = '\0';
	for (size_t n = 0; n < VERSION_COUNT && length < words_bytes; n++)
		if (facts->facts[versions[n]].known)
			length += (size_t)snprintf(words + length, words_bytes - length, "%s%s %s",
						   length ? ", " : "", osp_fact_name(versions[n]),
						   version_of(facts, versions[n]));
}

int osp_version_rules(const char *root, const char *data, const char *site,
		      void (*take)(void *context, const struct osp_bad_versions *bad),
		      void *context, char found[OSP_VERSION_WORDS_BYTES], struct osp_error *error)
{
	/* Root's environment says nothing about what jobs load, so only the usual places count. */
	const struct osp_search search = {.root = root};
	struct table table = {.data = data, .site = site};
	struct osp_bad_versions bad;
	struct osp_node node;
	int state = read_table(&table, error);

	if (!state) {
		osp_node_facts(&search, table.catalogue, table.facts, &node);
		list_versions(table.facts, found, OSP_VERSION_WORDS_BYTES);
		table.decisions = osp_rules_decide(table.rules, table.facts, NULL, 0, error);
		state = table.decisions ? 0 : -1;
	}
	for (size_t i = 0; !state && i < osp_decisions_count(table.decisions); i++)
		if (is_bad(osp_decisions_at(table.decisions, i), table.facts, &bad))
			take(context, &bad);
	free_table(&table);
	return state;
}
