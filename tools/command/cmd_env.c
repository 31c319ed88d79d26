/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_env.c - `onespine env`: which variables a job needs here, which are harmful, and why */
#include "onespine_config.h"
#include "tools/command/command.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clean.h"
#include "tools/command/env_json.h"
#include "host/files.h"
#include "lib/env/node_facts.h"
#include "lib/env/user_env.h"

#if __has_include(<slurm/slurm_version.h>)
#include <slurm/slurm_version.h>
#endif

/* Everything that the command looks at; free it with let_go(). */
struct looked_at {
	struct osp_catalogue *catalogue;
	struct osp_rule_set *rules;
	struct osp_variables *variables; /* only for scripts */
	struct osp_facts facts;
	struct osp_node node;
	struct osp_env_view view;
};

static const char *value_or(const char *value, const char *otherwise)
{
	return value ? value : otherwise;
}

/* Reads our rules from --data, and the site's from --site. */
static int read_folders(const struct osp_call *call, struct looked_at *at, struct osp_error *error)
{
	const char *data = value_or(call->values[OSP_OPTION_DATA], OSP_DATA_DIR);
	const char *site = value_or(call->values[OSP_OPTION_SITE], OSP_SITE_DIR);

	at->catalogue = osp_catalogue_read(data, site, error);
	if (at->catalogue)
		at->rules = osp_rules_read(data, site, error);
	if (!at->rules || !call->values[OSP_OPTION_SCRIPT])
		return at->rules ? 0 : -1;
	at->variables = osp_variables_read(data, site, error);
	return at->variables ? 0 : -1;
}

/* Sets the Slurm version that this command was built for, which is the cluster's unless --with says
 * otherwise. Only scripts are judged by it. */
static int take_slurm(bool linting, struct osp_facts *facts, struct osp_error *error)
{
#if __has_include(<slurm/slurm_version.h>)
	char words[32];

	if (!linting)
		return 0;
	snprintf(words, sizeof(words), "%d.%02d.%d", SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER),
		 SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER),
		 SLURM_VERSION_MICRO(SLURM_VERSION_NUMBER));
	return osp_facts_set(facts, OSP_FACT_SLURM, words, error);
#else
	(void)linting;
	(void)facts;
	(void)error;
	return 0;
#endif
}

/* Finds the facts of the named type, or of this node. If this node's type is not in the catalogue,
 * as on a login node, a script is not judged by it: the job runs elsewhere. */
static int find_facts(const struct osp_call *call, struct looked_at *at, struct osp_error *error)
{
	const char *type = call->values[OSP_OPTION_FOR];
	struct osp_search search = {.root = value_or(call->values[OSP_OPTION_ROOT], ""),
				    .library_path = getenv("LD_LIBRARY_PATH"),
				    .virtual_env = getenv("VIRTUAL_ENV")};

	if (strcmp(search.root, "/") == 0)
		search.root = "";
	at->view.facts = &at->facts;
	if (type) {
		at->view.instance = osp_catalogue_find(at->catalogue, type, error);
		if (!at->view.instance)
			return -1;
		osp_facts_take_instance(&at->facts, at->view.instance);
	} else {
		osp_node_facts(&search, at->catalogue, &at->facts, &at->node);
		at->view.node = &at->node;
		at->view.instance = at->node.instance;
		if (call->values[OSP_OPTION_SCRIPT] && !at->node.instance) {
			memset(&at->facts, 0, sizeof(at->facts));
			at->view.node = NULL;
		}
	}
	return take_slurm(call->values[OSP_OPTION_SCRIPT], &at->facts, error) ||
			       osp_facts_set(&at->facts, OSP_FACT_CONTAINER, "no", error)
		       ? -1
		       : 0;
}

static int add_given(const struct osp_call *call, struct looked_at *at, struct osp_error *error)
{
	const char *list = call->values[OSP_OPTION_WITH];
	struct osp_error cause = {.text = ""};

	if (!list || !osp_facts_set_list(&at->facts, list, &cause))
		return 0;
	return osp_error_set(error, "--with=%.60s: at character %d: %.300s", list, cause.column,
			     cause.text);
}

static int look(const struct osp_call *call, struct looked_at *at, struct osp_error *error)
{
	memset(at, 0, sizeof(*at));
	if (read_folders(call, at, error) || find_facts(call, at, error))
		return -1;
	return add_given(call, at, error);
}

static void let_go(struct looked_at *at)
{
	osp_catalogue_free(at->catalogue);
	osp_rules_free(at->rules);
	osp_variables_free(at->variables);
}

/* --- a node or a type ------------------------------------------------------------------------- */

static bool has_fatal(const struct osp_decisions *decisions)
{
	for (size_t i = 0; i < osp_decisions_count(decisions); i++) {
		const struct osp_decision *decision = osp_decisions_at(decisions, i);

		if (decision->rule->severity == OSP_SEVERITY_FATAL &&
		    (decision->outcome == OSP_OUTCOME_WARNED ||
		     decision->outcome == OSP_OUTCOME_UNSET))
			return true;
	}
	return false;
}

static int print_decisions(const struct osp_call *call, const struct looked_at *at,
			   const struct osp_decisions *decisions)
{
	int status = has_fatal(decisions) ? OSP_EXIT_NO : OSP_EXIT_YES;
	struct osp_text text = OSP_TEXT_INIT;
	json_t *root;

	if (call->values[OSP_OPTION_JSON]) {
		root = osp_env_json_view(&at->view);
		json_object_set_new(root, "decisions", osp_env_json_decisions(decisions));
		return osp_print_json(root, status);
	}
	osp_env_print_facts(&at->view, &text);
	osp_env_print_decisions(&at->view, decisions, &text);
	return osp_print_text(&text, status);
}

/* Decides by the rules. This process's environment counts as the job's only if the node is this
 * one. */
static int decide(const struct osp_call *call, const struct looked_at *at)
{
	struct osp_user_env user = {.list = NULL};
	struct osp_error error = {.text = ""};
	struct osp_decisions *decisions;
	int status;

	if (at->view.node && !call->values[OSP_OPTION_ROOT] &&
	    osp_user_env_read(environ, at->rules, NULL, NULL, &user)) {
		osp_user_env_free(&user);
		return osp_say_no_memory();
	}
	decisions = osp_rules_decide(at->rules, &at->facts, user.list, user.count, &error);
	status = decisions ? print_decisions(call, at, decisions) : osp_say_error(&error);
	osp_decisions_free(decisions);
	osp_user_env_free(&user);
	return status;
}

/* --- scripts ---------------------------------------------------------------------------------- */

struct tally {
	size_t fatal, harmful, obsolete, other;
};

struct counts {
	struct tally certain;
	struct tally open;     /* what the node's type or versions decide */
	struct tally doubtful; /* what may not take effect */
};

static void count_findings(const struct osp_findings *findings, struct counts *counts)
{
	const struct osp_finding *before = NULL;

	for (size_t i = 0; i < osp_findings_count(findings); i++) {
		const struct osp_finding *finding = osp_findings_at(findings, i);
		enum osp_severity severity = finding->rule->severity;
		struct tally *tally = finding->certain ? &counts->certain : &counts->open;

		if (!finding->setting)
			continue; /* --gang-env=auto sets it */
		if (finding->setting->doubt)
			tally = &counts->doubtful;
		if (osp_finding_says_same(before, finding))
			continue;
		before = finding;
		if (severity == OSP_SEVERITY_FATAL)
			tally->fatal++;
		else if (severity == OSP_SEVERITY_HARMFUL)
			tally->harmful++;
		else if (severity == OSP_SEVERITY_OBSOLETE)
			tally->obsolete++;
		else
			tally->other++;
	}
}

/* Reads one script and adds what is found to `text` or `list`. */
static int lint_file(const struct looked_at *at, const char *path, struct counts *counts,
		     struct osp_text *text, json_t *list, struct osp_error *error)
{
	struct osp_findings *findings = NULL;
	struct osp_script *script = NULL;
	size_t length = 0;
	char *input = osp_read_input(path, OSP_SCRIPT_BYTES_MAX, &length, error);
	char name[PATH_MAX];
	json_t *found;

	/* an administrator reads others' scripts, so what findings quote is cleaned, and the file's
	 * name */
	osp_copy_clean(name, sizeof(name), osp_input_name(path));
	for (size_t i = 0; input && i < length; i++)
		input[i] = input[i] ? input[i] : '?';
	if (input)
		script = osp_script_read(name, osp_clean_script(input), strlen(input), error);
	if (script)
		findings = osp_lint(at->rules, at->variables, &at->facts, script, error);
	if (findings) {
		count_findings(findings, counts);
		osp_env_print_findings(&at->view, name, findings, text);
		found = osp_env_json_findings(name, findings);
		json_array_extend(list, found);
		json_decref(found);
	}
	osp_findings_free(findings);
	osp_script_free(script);
	free(input);
	return findings ? 0 : -1;
}

/* Adds the counts that are above 0, with `start` before them. Returns whether there are any. */
static bool add_tally(const struct tally *tally, const char *start, struct osp_text *text)
{
	const struct {
		size_t count;
		const char *word;
	} parts[] = {{tally->fatal, "fatal"},
		     {tally->harmful, "harmful"},
		     {tally->obsolete, "obsolete"},
		     {tally->other, "other"}};
	const char *before = start;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!parts[i].count)
			continue;
		osp_text_printf(text, "%s%zu %s", before, parts[i].count, parts[i].word);
		before = ", ";
	}
	return before != start;
}

/* Adds the lines of counts. The lines of uncertain findings show only counts above 0. */
static void add_counts(const struct counts *counts, struct osp_text *text)
{
	const struct tally *certain = &counts->certain;

	osp_text_printf(text, "%zu fatal, %zu harmful, %zu obsolete, %zu other\n", certain->fatal,
			certain->harmful, certain->obsolete, certain->other);
	if (add_tally(&counts->doubtful, "if their lines take effect also ", text))
		osp_text_add(text, "\n");
	if (add_tally(&counts->open, "on some nodes also ", text))
		osp_text_add(text, "; --for TYPE and --with say if on yours\n");
}

static int print_lint(const struct osp_call *call, const struct looked_at *at,
		      const struct counts *counts, struct osp_text *text, json_t *list)
{
	int status = counts->certain.fatal ? OSP_EXIT_NO : OSP_EXIT_YES;
	json_t *root;

	if (call->values[OSP_OPTION_JSON]) {
		osp_text_free(text);
		root = osp_env_json_view(&at->view);
		json_object_set(root, "findings", list);
		json_object_set_new(root, "fatal", json_integer((json_int_t)counts->certain.fatal));
		return osp_print_json(root, status);
	}
	add_counts(counts, text);
	return osp_print_text(text, status);
}

static int lint(const struct osp_call *call, const struct looked_at *at)
{
	struct osp_error error = {.text = ""};
	struct osp_text text = OSP_TEXT_INIT;
	struct counts counts = {.open = {0}};
	json_t *list = json_array();
	int rc, status;

	rc = lint_file(at, call->values[OSP_OPTION_SCRIPT], &counts, &text, list, &error);
	for (int i = 0; i < call->argument_count && !rc; i++)
		rc = lint_file(at, call->arguments[i], &counts, &text, list, &error);
	if (rc) {
		osp_text_free(&text);
		status = osp_say_error(&error);
	} else {
		status = print_lint(call, at, &counts, &text, list);
	}
	json_decref(list);
	return status;
}

int osp_run_env(const struct osp_call *call)
{
	struct osp_error error = {.text = ""};
	struct looked_at at;
	int status;

	if (call->argument_count && !call->values[OSP_OPTION_SCRIPT]) {
		osp_error_set(&error, "'%.60s': files are read with --script", call->arguments[0]);
		return osp_say_error(&error);
	}
	if (look(call, &at, &error))
		status = osp_say_error(&error);
	else
		status = call->values[OSP_OPTION_SCRIPT] ? lint(call, &at) : decide(call, &at);
	let_go(&at);
	return status;
}
