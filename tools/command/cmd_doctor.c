/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_doctor.c - `onespine doctor`: what could prevent Onespine from working here */
#include "tools/command/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/policy/gang_license.h"
#include "tools/setup/doctor.h"
#include "host/files.h"
#ifdef OSP_HAVE_CLOUD
#include "host/source/cloud_doctor.h"
#endif

static const char *level_name(enum osp_doctor_finding_level level)
{
	return level == OSP_DOCTOR_WRONG ? "wrong" : "warning";
}

/* --- --list ----------------------------------------------------------------------------------- */

static int list_rules(bool as_json)
{
	struct osp_text text = OSP_TEXT_INIT;
	json_t *root = json_array();
	const char *explanation;
	const char *name;
	size_t width = 0;

	for (size_t i = 0; (name = osp_doctor_rule(i, &explanation)); i++)
		width = strlen(name) > width ? strlen(name) : width;
	for (size_t i = 0; (name = osp_doctor_rule(i, &explanation)); i++) {
		osp_text_printf(&text, "%-*s %s\n", (int)width, name, explanation);
		json_array_append_new(
			root, json_pack("{s:s, s:s}", "name", name, "explanation", explanation));
	}
	if (!as_json) {
		json_decref(root);
		return osp_print_text(&text, OSP_EXIT_YES);
	}
	osp_text_free(&text);
	return osp_print_json(root, OSP_EXIT_YES);
}

/* --- findings --------------------------------------------------------------------------------- */

/* Returns whether nothing says where a gang may go. */
static bool lacks_topology(const struct osp_doctor_facts *facts)
{
	return facts->topology_error && !facts->topology_copy && !facts->copies_hidden;
}

static const char *probe_words(const struct osp_doctor_facts *facts)
{
	const struct osp_running *running = &facts->running;

	if (running->probe == OSP_PROBE_OURS && lacks_topology(facts))
		return "has no topology and starts no gang";
	if (running->asked != OSP_ANSWERED)
		return running->asked == OSP_NOT_ASKED ? "not asked" : "no answer";
	if (running->probe == OSP_PROBE_OURS && running->gang_licenses &&
	    osp_gang_license_holds(running->gang_licenses))
		return "starts no gang";
	return running->probe == OSP_PROBE_OURS	   ? "takes gangs"
	       : running->probe == OSP_PROBE_STOCK ? "takes no notice of gangs"
						   : "answers";
}

static int print_json(const struct osp_doctor *doctor, const struct osp_doctor_findings *findings,
		      int status)
{
	json_t *root = json_object();
	json_t *list = json_array();
	char *lacking = osp_doctor_lacking(&doctor->facts);
	uint32_t i;

	for (i = 0; i < findings->count; i++) {
		const struct osp_doctor_finding *finding = &findings->items[i];
		json_t *item = json_object();

		json_object_set_new(item, "name", json_string(finding->name));
		json_object_set_new(item, "level", json_string(level_name(finding->level)));
		json_object_set_new(item, "sentence", osp_json_string(finding->sentence));
		json_object_set_new(item, "cure", osp_json_string(finding->cure));
		json_object_set_new(item, "line", osp_json_string(finding->line));
		json_array_append_new(list, item);
	}
	json_object_set_new(root, "slurm_conf", osp_json_string(doctor->facts.conf_path));
	json_object_set_new(root, "controller", json_boolean(doctor->facts.controller));
	json_object_set_new(root, "slurmctld", json_string(probe_words(&doctor->facts)));
	json_object_set_new(root, "replaced", osp_json_string(doctor->taken));
	json_object_set_new(root, "not_installed",
			    lacking && *lacking ? osp_json_string(lacking) : json_null());
	free(lacking);
	json_object_set_new(root, "looked_at", json_integer(findings->looked_at));
	json_object_set_new(root, "right", json_boolean(status == OSP_EXIT_YES));
	json_object_set_new(root, "findings", list);
	return osp_print_json(root, status);
}

static void print_finding(const struct osp_doctor_finding *finding, bool colours,
			  struct osp_text *text)
{
	const char *colour = finding->level == OSP_DOCTOR_WRONG ? "\033[31m" : "\033[33m";

	osp_text_printf(text, "%s%s%s: %s (%s)\n", colours ? colour : "",
			level_name(finding->level), colours ? "\033[0m" : "", finding->sentence,
			finding->name);
	if (*finding->cure)
		osp_text_printf(text, "  cure: %s\n", finding->cure);
}

static int print_text(const struct osp_doctor *doctor, const struct osp_doctor_findings *findings,
		      int status)
{
	uint32_t wrong = osp_doctor_count(findings, OSP_DOCTOR_WRONG);
	uint32_t warnings = osp_doctor_count(findings, OSP_DOCTOR_WARNING);
	char *lacking = osp_doctor_lacking(&doctor->facts);
	struct osp_text text = OSP_TEXT_INIT;
	bool colours = osp_output_colours();
	uint32_t i;

	osp_text_add(&text, doctor->taken ? doctor->taken : "");
	for (i = 0; i < findings->count; i++)
		print_finding(&findings->items[i], colours, &text);
	osp_text_printf(&text, "%s: %u things looked at, %u wrong, %u warning%s",
			doctor->facts.conf_path, findings->looked_at, wrong, warnings,
			osp_plural_s(warnings));
	if (doctor->facts.running.asked != OSP_NOT_ASKED)
		osp_text_printf(&text, "; slurmctld %s%s",
				doctor->facts.running.asked == OSP_NO_ANSWER ? "gives " : "",
				probe_words(&doctor->facts));
	osp_text_add(&text, "\n");
	if (lacking && *lacking)
		osp_text_printf(&text, "not installed here: %s\n", lacking);
	free(lacking);
	return osp_print_text(&text, status);
}

static int write_piece(const char *path, const struct osp_doctor_findings *findings)
{
	struct osp_text text = OSP_TEXT_INIT;
	char *piece = osp_doctor_piece(findings);

	osp_text_add(&text,
		     "# What Onespine needs in slurm.conf; made by 'onespine doctor --write'.\n");
	osp_text_add(&text, piece ? piece : "");
	text.failed = text.failed || !piece;
	free(piece);
	return osp_save_text(&text, path);
}

static int answer(const struct osp_call *call, const struct osp_doctor *doctor,
		  const struct osp_doctor_findings *findings)
{
	const char *path = call->values[OSP_OPTION_WRITE];
	int status = osp_doctor_count(findings, OSP_DOCTOR_WRONG) ? OSP_EXIT_NO : OSP_EXIT_YES;

	if (path) {
		if (!doctor->conf)
			return osp_say_error(&doctor->conf_error);
		return write_piece(path, findings);
	}
	return call->values[OSP_OPTION_JSON] ? print_json(doctor, findings, status)
					     : print_text(doctor, findings, status);
}

/* --- --cloud ---------------------------------------------------------------------------------- */

#ifdef OSP_HAVE_CLOUD

#define MOUNTS_BYTES_MAX ((size_t)1024 * 1024)

/* Loads the nodes. libslurm ends a process whose slurm.conf is wrong, so it is used only if it has
 * already answered. */
static int load_nodes(const struct osp_call *call, const struct osp_doctor *doctor,
		      struct osp_node_list *nodes, struct osp_error *error)
{
	const char *map = call->values[OSP_OPTION_NAME_MAP];

	if (map)
		return osp_node_list_read(map, nodes, error);
	memset(nodes, 0, sizeof(*nodes));
	if (doctor->facts.running.asked != OSP_ANSWERED)
		return osp_error_set(error, "--cloud: slurmctld does not report its nodes; --nodes "
					    "gives ids their node names");
	return osp_node_list_load(nodes, error);
}

/* Asks EC2; `*cloud` must be freed. */
static int ask_cloud(const struct osp_call *call, struct osp_doctor *doctor,
		     struct osp_cloud_doctor **cloud, struct osp_error *error)
{
	const char *mounts = call->values[OSP_OPTION_MOUNTS];
	struct osp_node_list nodes = {.count = 0};
	size_t bytes;
	char *text;
	int rc = -1;

	text = osp_read_input(mounts ? mounts : "/proc/mounts", MOUNTS_BYTES_MAX, &bytes, error);
	if (text && !load_nodes(call, doctor, &nodes, error)) {
		osp_progress_begin("asking EC2");
		*cloud =
			osp_cloud_doctor_gather(&nodes, text, call->values[OSP_OPTION_RESERVATION]);
		osp_progress_end();
		rc = *cloud ? 0 : osp_error_set(error, "out of memory");
	}
	if (!rc)
		doctor->facts.cloud = osp_cloud_doctor_facts(*cloud);
	osp_node_list_free(&nodes);
	free(text);
	return rc;
}

#else

struct osp_cloud_doctor;

static int ask_cloud(const struct osp_call *call, struct osp_doctor *doctor,
		     struct osp_cloud_doctor **cloud, struct osp_error *error)
{
	(void)call, (void)doctor, (void)cloud;
	return osp_error_set(error, "this build was configured without curl and expat");
}

static void osp_cloud_doctor_free(struct osp_cloud_doctor *doctor)
{
	(void)doctor;
}

#endif

/* -----------------------------------------------------------------------------------------------
 */

static int check_options(const struct osp_call *call, struct osp_error *error)
{
	static const enum osp_option_id ids[] = {OSP_OPTION_NAME_MAP, OSP_OPTION_MOUNTS,
						 OSP_OPTION_RESERVATION};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		if (call->values[ids[i]] && !call->values[OSP_OPTION_CLOUD])
			return osp_error_set(error, "--%s goes with --cloud",
					     osp_option(ids[i])->name);
	}
	return 0;
}

static int judge(const struct osp_call *call, struct osp_doctor *doctor)
{
	struct osp_doctor_findings findings = OSP_DOCTOR_FINDINGS_INIT;
	struct osp_cloud_doctor *cloud = NULL;
	struct osp_error error = {.text = ""};
	int status;

	if (call->values[OSP_OPTION_CLOUD] && ask_cloud(call, doctor, &cloud, &error))
		status = osp_say_error(&error);
	else if (osp_doctor_judge(&doctor->facts, &findings) < 0)
		status = osp_say_no_memory();
	else
		status = answer(call, doctor, &findings);
	osp_doctor_findings_free(&findings);
	osp_cloud_doctor_free(cloud);
	return status;
}

int osp_run_doctor(const struct osp_call *call)
{
	struct osp_error error = {.text = ""};
	struct osp_doctor doctor;
	bool before_start = call->values[OSP_OPTION_BEFORE_START];
	struct osp_doctor_question question = {
		.before_start = before_start,
		.controller = before_start,
		.ask = !before_start && !call->values[OSP_OPTION_OFFLINE],
	};
	char *path;
	int status;

	if (call->values[OSP_OPTION_RULES])
		return list_rules(call->values[OSP_OPTION_JSON]);
	path = check_options(call, &error) ? NULL : osp_find_slurm_conf(&error);
	if (!path)
		return osp_say_error(&error);
	question.conf_path = path;
	osp_progress_begin("asking slurmctld");
	osp_doctor_gather(&question, &doctor);
	osp_progress_end();
	status = judge(call, &doctor);
	osp_doctor_free(&doctor);
	free(path);
	return status;
}
