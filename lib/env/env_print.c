/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env_print.c - prints a node's facts, decisions and findings for people */
#include "lib/env/env_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COLUMN_MOST 46 /* the greatest width of a table's first column */

static const char *const section_names[] = {
	[OSP_OUTCOME_SET] = "Set",
	[OSP_OUTCOME_KEPT] = "Yours, kept as it is",
	[OSP_OUTCOME_LEFT] = "Left alone",
	[OSP_OUTCOME_WARNED] = "Warnings",
	[OSP_OUTCOME_UNSET] = "Better unset",
	[OSP_OUTCOME_OPEN] = "Not decided: not enough is known (--with)",
};

/* The order of the sections. */
static const enum osp_rule_outcome sections[] = {
	OSP_OUTCOME_SET,    OSP_OUTCOME_KEPT, OSP_OUTCOME_UNSET,
	OSP_OUTCOME_WARNED, OSP_OUTCOME_OPEN, OSP_OUTCOME_LEFT,
};

/* --- the type and the facts ------------------------------------------------------------------- */

static void part(struct osp_text *text, const char *start, int64_t number, const char *words)
{
	if (number >= 0)
		osp_text_printf(text, "%s%" PRId64 "%s", start, number, words);
}

static void print_instance(const struct osp_instance *instance, struct osp_text *text)
{
	osp_text_printf(text, "%s:", instance->name);
	part(text, " ", instance->accelerators, "");
	if (instance->accelerator)
		osp_text_printf(text, " %s", instance->accelerator);
	part(text, " of ", instance->accelerator_memory_mib, " MiB");
	part(text, ", ", instance->vcpus, " CPUs");
	part(text, ", ", instance->memory_gib, " GiB");
	part(text, ", ", instance->numa_nodes,
	     instance->numa_nodes == 1 ? " NUMA node" : " NUMA nodes");
	if (instance->fabric)
		osp_text_printf(text, ", %s", instance->fabric);
	part(text, " x ", instance->nics, "");
	part(text, " of generation ", instance->nic_generation, "");
	if (instance->network_mbps >= 0)
		osp_text_printf(text, ", %g Gbit/s", (double)instance->network_mbps / 1000);
	if (instance->nvlink > 0)
		part(text, ", NVLink ", instance->nvlink, "");
	if (instance->nvswitches > 0)
		part(text, ", ", instance->nvswitches, " NVSwitches");
	part(text, ", PCIe of ", instance->pcie_gts, " GT/s");
	osp_text_printf(text, "\n  source: %s\n", instance->source);
}

/* Prints "  but this node has 7 of its 8 GPUs" if it does not have exactly as many as its type. */
static void print_lack(int seen, int64_t all, const char *what, struct osp_text *text)
{
	if (seen >= 0 && all > 0 && seen != all)
		osp_text_printf(text, "  but this node has %d of its %" PRId64 " %s\n", seen, all,
				what);
}

static void print_node(const struct osp_node *node, struct osp_text *text)
{
	const struct osp_instance *type = node->instance;

	if (node->rivals[0])
		osp_text_printf(text, "%s: %s or %s, which nothing here distinguishes (--for)\n",
				*node->product ? node->product : "this node", node->rivals[0]->name,
				node->rivals[1]->name);
	else if (!type && *node->product)
		osp_text_printf(text, "%s: not in the catalogue\n", node->product);
	else if (!type)
		osp_text_add(text, "this node's type is not known (DMI reports none)\n");
	if (!type)
		return;
	print_lack(node->gpus, type->accelerators, "GPUs", text);
	if (type->fabric && !strcmp(type->fabric, "efa"))
		print_lack(node->efa_adapters, type->nics, "EFA adapters", text);
}

void osp_env_print_facts(const struct osp_env_view *view, struct osp_text *text)
{
	bool first = true;

	if (view->instance)
		print_instance(view->instance, text);
	if (view->node)
		print_node(view->node, text);
	for (int i = 0; i < OSP_FACT_COUNT; i++) {
		const struct osp_fact *fact = &view->facts->facts[i];

		if (!fact->known || i == OSP_FACT_INSTANCE)
			continue;
		osp_text_printf(text, "%s%s %s", first ? "  known: " : ", ", osp_fact_name(i),
				fact->text);
		first = false;
	}
	if (!first)
		osp_text_add(text, "\n");
}

/* --- decisions -------------------------------------------------------------------------------- */

/* Adds the conditions of a rule that ask for unknown facts: "nccl >=2.19, efa <1.29". */
static void add_unknown(const struct osp_facts *facts, const struct osp_rule *rule,
			struct osp_text *text)
{
	bool first = true;

	for (size_t i = 0; i < rule->condition_count; i++) {
		const struct osp_condition *condition = &rule->conditions[i];
		const struct osp_fact *fact = &facts->facts[condition->fact];

		/* a version may be known, but not exactly enough */
		if (fact->known && (osp_fact_kind(condition->fact) != OSP_FACT_VERSION ||
				    osp_range_holds(&condition->range, &fact->version) == OSP_YES))
			continue;
		osp_text_printf(text, "%s%s", first ? "where " : " and ", condition->text);
		first = false;
	}
}

static void add_assignment(const struct osp_decision *decision, struct osp_text *text)
{
	const struct osp_variable *user = decision->user;
	const char *value = user ? user->value : decision->value;

	if (!decision->variable)
		return;
	osp_text_add(text, decision->variable);
	if (value)
		osp_text_printf(text, "=%s", value);
	if (user && user->origin && strcmp(user->origin, "environment") != 0)
		osp_text_printf(text, " (%s)", user->origin);
}

/* Adds what the value would be without the user's. */
static void add_otherwise(const struct osp_decision *decision, struct osp_text *text)
{
	const char *value = decision->value, *user = decision->user->value;

	if (!value)
		osp_text_printf(text, "would be set once %s is known, on the node: ",
				osp_fact_name(decision->unknown));
	else if (user && !strcmp(user, value))
		osp_text_add(text, "would be the same: ");
	else
		osp_text_printf(text, "would be %s: ", value);
}

/* Prints the second column: the reason. */
static void add_why(const struct osp_env_view *view, const struct osp_decision *decision,
		    struct osp_text *text)
{
	const struct osp_rule *rule = decision->rule;
	struct osp_text where = OSP_TEXT_INIT;

	if (decision->outcome == OSP_OUTCOME_WARNED || decision->outcome == OSP_OUTCOME_UNSET ||
	    (decision->outcome == OSP_OUTCOME_OPEN && decision->user))
		osp_text_printf(text, "%s: ", osp_severity_name(rule->severity));
	if (decision->outcome == OSP_OUTCOME_KEPT)
		add_otherwise(decision, text);
	if (decision->outcome == OSP_OUTCOME_OPEN) {
		add_unknown(view->facts, rule, &where);
		if (where.length_bytes)
			osp_text_printf(text, "%s: ", where.data);
		else if (decision->unknown < OSP_FACT_COUNT)
			osp_text_printf(text, "once %s is known, on the node: ",
					osp_fact_name(decision->unknown));
		text->failed |= where.failed;
		osp_text_free(&where);
	}
	osp_text_add(text, rule->reason);
	if (rule->cure)
		osp_text_printf(text, "; %s", rule->cure);
	osp_text_printf(text, " [%s]\n", rule->id);
}

/* Returns whether two decisions share a line: those of one rule that differ only in the
 * variable. */
static bool joins(const struct osp_decision *decision, const struct osp_decision *next)
{
	return decision->outcome == OSP_OUTCOME_LEFT && next->outcome == OSP_OUTCOME_LEFT &&
	       decision->rule == next->rule;
}

static void print_row(const struct osp_env_view *view, const struct osp_decision *decision,
		      struct osp_text *first, struct osp_text *text)
{
	int pad = first->length_bytes < COLUMN_MOST ? COLUMN_MOST - (int)first->length_bytes : 0;

	osp_text_printf(text, "  %s", first->data ? first->data : "");
	if (first->length_bytes > COLUMN_MOST)
		osp_text_printf(text, "\n  %*s", COLUMN_MOST, "");
	else if (first->length_bytes)
		osp_text_printf(text, "%*s", pad, "");
	osp_text_add(text, first->length_bytes ? "  " : "");
	text->failed |= first->failed;
	osp_text_free(first);
	add_why(view, decision, text);
}

static void print_section(const struct osp_env_view *view, const struct osp_decisions *decisions,
			  enum osp_rule_outcome outcome, struct osp_text *text)
{
	size_t count = osp_decisions_count(decisions);
	struct osp_text first = OSP_TEXT_INIT;
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		const struct osp_decision *decision = osp_decisions_at(decisions, i);

		if (decision->outcome != outcome)
			continue;
		if (!any)
			osp_text_printf(text, "\n%s\n", section_names[outcome]);
		any = true;
		if (first.length_bytes)
			osp_text_add(&first, ", ");
		add_assignment(decision, &first);
		if (i + 1 == count || !joins(decision, osp_decisions_at(decisions, i + 1)))
			print_row(view, decision, &first, text);
	}
}

void osp_env_print_decisions(const struct osp_env_view *view, const struct osp_decisions *decisions,
			     struct osp_text *text)
{
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		print_section(view, decisions, sections[i], text);
}

void osp_env_print_decided(const struct osp_env_view *view, const struct osp_decisions *decisions,
			   struct osp_text *text)
{
	size_t open = 0;

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		if (sections[i] != OSP_OUTCOME_OPEN)
			print_section(view, decisions, sections[i], text);
	}
	for (size_t i = 0; i < osp_decisions_count(decisions); i++)
		open += osp_decisions_at(decisions, i)->outcome == OSP_OUTCOME_OPEN;
	if (open)
		osp_text_printf(
			text,
			"\nNot decided, for want of knowledge: %zu rules; onespine env lists "
			"them\n",
			open);
}

/* --- findings --------------------------------------------------------------------------------- */

static const char *const doubts[] = {
	[OSP_DOUBT_NONE] = "",
	[OSP_DOUBT_BRANCH] = " (this line may not run)",
	[OSP_DOUBT_REPLACED] = " (another line may take it back before a program starts)",
	[OSP_DOUBT_STARTED] = " (another program of the script may start the others)",
};

/* Prints how grave a finding is, and where. */
static void print_severity(const struct osp_env_view *view, const struct osp_finding *finding,
			   struct osp_text *text)
{
	enum osp_doubt doubt = finding->setting->doubt;
	struct osp_text where = OSP_TEXT_INIT;

	osp_text_printf(text, "%s%s", doubt ? "may be " : "",
			osp_severity_name(finding->rule->severity));
	if (!finding->certain) {
		add_unknown(view->facts, finding->rule, &where);
		osp_text_printf(text, " %s",
				where.length_bytes ? where.data : "where the value turns out so");
	}
	osp_text_add(text, doubts[doubt]);
	text->failed |= where.failed;
	osp_text_free(&where);
}

static void print_finding(const struct osp_env_view *view, const char *file,
			  const struct osp_finding *finding, struct osp_text *text)
{
	const struct osp_rule *rule = finding->rule;
	const struct osp_setting *setting = finding->setting;
	const char *name = finding->variable, *sign = "=";

	if (*name == '-' && !*setting->value)
		sign = "";
	else if (*name == '#' || strchr(name, ' '))
		sign = " ";
	osp_text_printf(text, "%s:%d:%d: ", file, setting->line, setting->column);
	print_severity(view, finding, text);
	osp_text_printf(text, ": %s%s%s: %s\n", name, sign, setting->value, rule->reason);
	if (rule->cure)
		osp_text_printf(text, "    cure: %s\n", rule->cure);
	osp_text_printf(text, "    rule %s: %s\n", rule->id, rule->source);
}

/* Prints one line of what the script leaves to us, which is no mistake of the script. */
static void print_set_for_it(const char *file, const struct osp_findings *findings,
			     struct osp_text *text)
{
	bool any = false;

	for (size_t i = 0; i < osp_findings_count(findings); i++) {
		const struct osp_finding *finding = osp_findings_at(findings, i);

		if (finding->setting)
			continue;
		if (!any)
			osp_text_printf(text,
					"%s: --gang-env=auto, the default, sets in the job:", file);
		osp_text_printf(text, "%s %s=%s", any ? "," : "", finding->variable,
				finding->value);
		any = true;
	}
	if (any)
		osp_text_add(text, "\n");
}

/* Prints a finding that says the same of nodes of another kind. */
static void print_same(const struct osp_env_view *view, const struct osp_finding *finding,
		       struct osp_text *text)
{
	osp_text_add(text, "    the same ");
	add_unknown(view->facts, finding->rule, text);
	if (finding->rule->cure)
		osp_text_printf(text, ", cure: %s", finding->rule->cure);
	osp_text_printf(text, " (rule %s)\n", finding->rule->id);
}

void osp_env_print_findings(const struct osp_env_view *view, const char *file,
			    const struct osp_findings *findings, struct osp_text *text)
{
	const struct osp_finding *before = NULL;

	for (size_t i = 0; i < osp_findings_count(findings); i++) {
		const struct osp_finding *finding = osp_findings_at(findings, i);

		if (!finding->setting)
			continue;
		if (osp_finding_says_same(before, finding)) {
			print_same(view, finding, text);
			continue;
		}
		print_finding(view, file, finding, text);
		before = finding;
	}
	print_set_for_it(file, findings, text);
}
