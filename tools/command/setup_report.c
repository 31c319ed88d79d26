/* SPDX-License-Identifier: GPL-2.0-or-later */
/* setup_report.c - what `onespine setup` prints: its changes, and what is left for a person */
#include "onespine_config.h"
#include "tools/command/setup_report.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct osp_change *setup_find_change(const struct osp_plan *plan, enum osp_change_kind kind)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->changes[i].kind == kind)
			return &plan->changes[i];
	return NULL;
}

static const char *verb(const struct setup *setup, const struct osp_change *change)
{
	bool create = change->kind != OSP_CHANGE_ADD;

	if (setup->undo)
		return setup->dry_run ? (create ? "would remove" : "would take back from")
				      : (create ? "removed" : "taken back from");
	return setup->dry_run ? (create ? "would write" : "would add to")
			      : (create ? "wrote" : "added to");
}

static void report_change(const struct setup *setup, const struct osp_change *change,
			  struct osp_text *text)
{
	const char *line;

	if (change->kind == OSP_CHANGE_BEGIN && setup->undo && setup->kept) {
		osp_text_printf(text, "left %s, which was edited\n", change->path);
		return;
	}
	osp_text_printf(text, "%s %s:\n", verb(setup, change), change->path);
	for (line = change->text; *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (*line != '\n')
			osp_text_printf(text, "    %.*s\n", (int)strcspn(line, "\n"), line);
}

static void report_left(const struct setup *setup, struct osp_text *text)
{
	bool first = true;

	for (uint32_t i = 0; i < setup->findings.count; i++) {
		const struct osp_doctor_finding *finding = &setup->findings.items[i];

		if (finding->level != OSP_DOCTOR_WRONG)
			continue;
		if (first)
			osp_text_add(text, "left for a person:\n");
		first = false;
		osp_text_printf(text, "  %s\n    %s\n", finding->sentence, finding->cure);
	}
}

static json_t *left_json(const struct setup *setup)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < setup->findings.count; i++) {
		const struct osp_doctor_finding *finding = &setup->findings.items[i];
		json_t *item = json_object();

		if (finding->level != OSP_DOCTOR_WRONG) {
			json_decref(item);
			continue;
		}
		json_object_set_new(item, "name", json_string(finding->name));
		json_object_set_new(item, "sentence", osp_json_string(finding->sentence));
		json_object_set_new(item, "cure", osp_json_string(finding->cure));
		json_array_append_new(list, item);
	}
	return list;
}

static int print_json(const struct setup *setup, const struct osp_plan *made, int status)
{
	json_t *root = json_object();

	json_object_set_new(root, "slurm_conf", osp_json_string(setup->conf_path));
	json_object_set_new(root, "dry_run", json_boolean(setup->dry_run));
	json_object_set_new(root, "undo", json_boolean(setup->undo));
	json_object_set_new(root, "changes", osp_plan_json(made));
	json_object_set_new(root, "unit",
			    setup->unit ? osp_json_string(setup->unit_path) : json_null());
	json_object_set_new(root, "logrotate",
			    setup->rotation ? osp_json_string(setup->rotation_path) : json_null());
	json_object_set_new(root, "gate_key",
			    setup->key ? osp_json_string(setup->doctor.facts.gate_key_file)
				       : json_null());
	json_object_set_new(root, "left", left_json(setup));
	return osp_print_json(root, status);
}

static bool switches_gate_on(const struct osp_plan *made)
{
	for (size_t i = 0; i < made->count; i++)
		if (made->changes[i].kind == OSP_CHANGE_CREATE &&
		    strstr(made->changes[i].text, "\nProlog="))
			return true;
	return false;
}

bool setup_edited(const struct osp_change *change)
{
	return access(change->path, F_OK) == 0 && !osp_change_unedited(change);
}

/* Reports settings that make jobs wait two minutes, or for ever. They are the site's own and are
 * not changed. */
static void report_delay(const struct setup *setup, struct osp_text *text)
{
	for (uint32_t i = 0; i < setup->findings.count; i++) {
		const struct osp_doctor_finding *finding = &setup->findings.items[i];

		if (!strcmp(finding->name, "requeue-delay"))
			osp_text_printf(text, "%s; to shorten that:\n  %s\n", finding->sentence,
					finding->cure);
		else if (!strcmp(finding->name, "prolog-hold"))
			osp_text_printf(text, "%s; against that:\n  %s\n", finding->sentence,
					finding->cure);
	}
}

/* Says that the gate is on, and how to go on from there. */
static void report_gate(const struct setup *setup, const struct osp_plan *made,
			struct osp_text *text)
{
	const struct osp_change *begun = setup_find_change(made, OSP_CHANGE_BEGIN);

	if (switches_gate_on(made))
		report_delay(setup, text);
	if (!begun && switches_gate_on(made))
		osp_text_printf(text,
				"the gate does with a node that fails what %s says "
				"(failure: drain where it says nothing)\n",
				setup->doctor.facts.config_path);
	if (!begun || strncmp(begun->text, SETUP_BEGUN_LOG, strlen(SETUP_BEGUN_LOG)) != 0 ||
	    setup_edited(begun))
		return;
	osp_text_printf(
		text,
		"the gate %s its log only (failure: log): it drains no node and stops no job for "
		"one that fails or\nis silent; once that log is as you want it, say failure: drain "
		"in %s,\nrun onespine setup --head again and scontrol reconfigure, and copy the "
		"file "
		"to the nodes with a slurm.conf\nof their own: nodes without the new one stay at "
		"log. --no-gate sets up none\n",
		setup->dry_run ? "would write" : "writes", begun->path);
}

/* Prints what must be done first, and also what would be done then, if only that was asked for. */
static void report_blocked(const struct setup *setup, struct osp_text *text)
{
	bool then = setup->dry_run && setup->plan.count;

	osp_text_printf(text,
			"slurmctld would not start, or not place gangs, before that is done; then "
			"%s\n",
			then ? "this" : "run this again");
	for (size_t i = 0; then && i < setup->plan.count; i++)
		report_change(setup, &setup->plan.changes[i], text);
}

/* Names what setup leaves out because its package is not here. */
static void report_lacking(const struct setup *setup, struct osp_text *text)
{
	char *lacking = setup->doctor.conf ? osp_doctor_lacking(&setup->doctor.facts) : NULL;

	if (lacking && *lacking)
		osp_text_printf(text, "left out, as its package is not on this host: %s\n",
				lacking);
	free(lacking);
}

/* --- what an undo does not know --------------------------------------------------------------- */

static bool names_us(const struct osp_slurm_word *word)
{
	if (strcasecmp(word->key, "PluginDir") == 0)
		return strstr(word->value, OSP_SHADOW_DIR) || strstr(word->value, OSP_PLUGIN_DIR);
	if (strcasecmp(word->key, "JobSubmitPlugins") == 0)
		return strcasestr(word->value, "onespine");
	return (strcasecmp(word->key, "Prolog") == 0 || strcasecmp(word->key, "Epilog") == 0) &&
	       strstr(word->value, OSP_GATE_DIR);
}

/* Lists lines that a person wrote and that still name us. Returns false if there are none. */
static bool report_persons_lines(const struct setup *setup, struct osp_text *text)
{
	struct osp_error ignored = {.text = ""};
	struct osp_slurm_conf *conf =
		osp_load_slurm_conf(setup->conf_path, &setup->before, &ignored);
	size_t count = 0;
	const struct osp_slurm_word *words = conf ? osp_slurm_conf_words(conf, &count) : NULL;
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		if (!words[i].starts_line || !names_us(&words[i]))
			continue;
		if (!any)
			osp_text_add(text, "left for a person, who wrote it:\n");
		any = true;
		osp_text_printf(text, "  %s:%d: %s=%s\n", words[i].file, words[i].line,
				words[i].key, words[i].value);
	}
	osp_slurm_conf_free(conf);
	return any;
}

int setup_report(const struct setup *setup, const struct osp_plan *made, bool blocked, int status)
{
	struct osp_text text = OSP_TEXT_INIT;

	if (setup->call->values[OSP_OPTION_JSON])
		return print_json(setup, made, status);
	for (size_t i = 0; i < made->count; i++)
		report_change(setup, &made->changes[setup->undo ? made->count - 1 - i : i], &text);
	if (setup->unit)
		osp_text_printf(&text, "%s %s\n", setup->unit, setup->unit_path);
	if (setup->rotation)
		osp_text_printf(&text, "%s %s\n", setup->rotation, setup->rotation_path);
	if (setup->key)
		osp_text_printf(&text,
				"%s %s, the gate's key: copy it to all nodes, as root's and "
				"readable by root alone\n",
				setup->key, setup->doctor.facts.gate_key_file);
	if (!made->count && !setup->unit && !setup->rotation && !setup->key)
		osp_text_printf(&text, "%s: nothing to %s\n", setup->conf_path,
				setup->undo ? "undo"
				: blocked   ? "change yet"
					    : "do");
	report_left(setup, &text);
	if (setup->undo && report_persons_lines(setup, &text))
		status = OSP_EXIT_NO;
	if (made->count && !setup->undo)
		report_gate(setup, made, &text);
	if (!setup->undo)
		report_lacking(setup, &text);
	if (blocked)
		report_blocked(setup, &text);
	else if ((made->count || setup->unit) && !setup->dry_run)
		osp_text_printf(&text, "now %srestart slurmctld, and run scontrol reconfigure%s\n",
				setup->unit ? "run systemctl daemon-reload, " : "",
				setup->undo ? "" : " and onespine doctor");
	return osp_print_text(&text, status);
}
