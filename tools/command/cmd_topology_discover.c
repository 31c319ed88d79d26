/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_topology_discover.c - `onespine topology discover`, `watch` and `accept` */
#include "tools/command/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/files.h"
#include "host/record/secrets_file.h"
#include "host/slurm/cluster_state.h"
#include "host/slurm/fabric.h"
#include "host/slurm/in_control_here.h"
#include "host/slurm/launch_left.h"
#include "host/slurm/slurm_files.h"
#include "host/slurm/slurm_topology.h"
#ifdef OSP_HAVE_CLOUD
#include "host/source/block_ends.h"
#endif
#include "host/source/apply.h"
#include "host/source/several.h"
#include "host/source/watch.h"

#define EXIT_FAILED 1
#define EXIT_HELD   3

static int say_failed(const struct osp_error *error)
{
	osp_say_error(error);
	return EXIT_FAILED;
}

/* --- who is asked about ----------------------------------------------------------------------- */

static int load_nodes(const struct osp_call *call, struct osp_node_list *list,
		      struct osp_error *error)
{
	return call->values[OSP_OPTION_NAME_MAP]
		       ? osp_node_list_read(call->values[OSP_OPTION_NAME_MAP], list, error)
		       : osp_node_list_load(list, error);
}

/* --- what onespine.yaml says ------------------------------------------------------------------ */

/* Loads the file beside slurm.conf, or the defaults if there is none. Returns NULL with `error`
 * set. To be freed. */
static struct osp_config *load_config(struct osp_error *error)
{
	return osp_slurm_configured() ? osp_config_in_force(NULL, error)
				      : osp_config_read(NULL, "", 0, error);
}

/* Finds the sources of --from, or of watch.from. Returns 0, or -1 with `error` set. */
static int read_sources(const struct osp_call *call, const struct osp_config *config,
			struct osp_sources *sources, struct osp_error *error)
{
	const char *from = call->values[OSP_OPTION_SOURCES], *origin = "--from=";

	if (!from) {
		from = osp_config_watch(config)->from;
		origin = "watch.from of onespine.yaml: ";
	}
	if (!from)
		return osp_error_set(error, "--from is needed, or watch.from in onespine.yaml: "
					    "ec2, infiniband, nvlink or topograph:/path");
	return osp_sources_read(origin, from, sources, error);
}

/* --- asking ----------------------------------------------------------------------------------- */

/* After the first few, warnings for each of thousands of nodes say nothing more. */
#define WARNINGS_MAX 8

static void say_warnings(const struct osp_text *warnings)
{
	const char *at = warnings->data;
	int count = 0;

	for (; at && *at; count++) {
		size_t length = strcspn(at, "\n");

		if (count < WARNINGS_MAX)
			osp_say_warning("%.*s", (int)length, at);
		at += length + (at[length] == '\n');
	}
	if (count > WARNINGS_MAX)
		osp_say_warning("%d more like these", count - WARNINGS_MAX);
}

static const char *words_of(enum osp_applied kept)
{
	static const char *const words[] = {"applied", "unchanged", "held", "failed"};

	return words[kept];
}

static int status_of(enum osp_applied kept)
{
	if (kept == OSP_APPLIED_HELD)
		return EXIT_HELD;
	return kept == OSP_APPLIED_FAILED ? EXIT_FAILED : OSP_EXIT_YES;
}

static int print_result(const struct osp_call *call, enum osp_applied kept,
			const struct osp_topology *topology,
			const struct osp_topology_change *change, const struct osp_error *error)
{
	struct osp_text text = OSP_TEXT_INIT;
	json_t *root;

	if (call->values[OSP_OPTION_JSON]) {
		root = json_object();
		json_object_set_new(root, "result", json_string(words_of(kept)));
		json_object_set_new(root, "why",
				    osp_json_string(error->text[0] ? error->text : NULL));
		json_object_set_new(root, "node_count",
				    json_integer(osp_topology_node_count(topology)));
		json_object_set_new(root, "counted", json_integer(change->counted));
		json_object_set_new(root, "lost", json_integer(change->lost));
		json_object_set_new(root, "moved", json_integer(change->moved));
		json_object_set_new(root, "gained", json_integer(change->gained));
		return osp_print_json(root, status_of(kept));
	}
	if (kept == OSP_APPLIED_HELD)
		osp_say_warning("held, the last good answer stays in force: %s; `onespine topology "
				"accept` takes it",
				error->text);
	else if (kept == OSP_APPLIED_FAILED)
		return say_failed(error);
	osp_text_printf(&text, "%s: %u node%s a place; %u gained one, %u lost theirs, %u moved\n",
			words_of(kept), osp_topology_node_count(topology),
			osp_topology_node_count(topology) == 1 ? " has" : "s have", change->gained,
			change->lost, change->moved);
	return osp_print_text(&text, status_of(kept));
}

static int keep(const struct osp_call *call, const struct osp_sources *sources,
		const struct osp_topology_guard *guard, const struct osp_source_question *question)
{
	const char *path = call->values[OSP_OPTION_OUTPUT];
	struct osp_source_answer answer = {.topology = NULL};
	struct osp_error error = {.text = ""};
	struct osp_topology_change change;
	enum osp_applied kept;
	int status;

	osp_progress_begin("asking where the nodes are");
	kept = osp_sources_keep(sources, path, question,
				call->values[OSP_OPTION_NAME_MAP] ? NULL : question->nodes, guard,
				&answer, &change, &error);
	osp_progress_end();
	say_warnings(&answer.warnings);
	if (kept != OSP_APPLIED_FAILED && kept != OSP_APPLIED_HELD &&
	    osp_apply_note_asked(path, answer.topology, answer.kept.data, (int64_t)time(NULL),
				 &error))
		kept = OSP_APPLIED_FAILED;
	status = answer.topology ? print_result(call, kept, answer.topology, &change, &error)
				 : say_failed(&error);
	osp_source_answer_clear(&answer);
	return status;
}

static int write_out(const struct osp_sources *sources, const struct osp_source_question *question)
{
	struct osp_source_answer answer = {.topology = NULL};
	struct osp_error error = {.text = ""};
	char *text = NULL;
	int rc;

	osp_progress_begin("asking where the nodes are");
	rc = osp_sources_ask(sources, question, &answer, &error);
	osp_progress_end();
	say_warnings(&answer.warnings);
	if (!rc) {
		text = osp_write_onespine_topology(answer.topology, sources->words);
		rc = text ? osp_write_output("-", text, strlen(text), &error)
			  : osp_error_set(&error, "out of memory");
	}
	free(text);
	osp_source_answer_clear(&answer);
	return rc ? say_failed(&error) : OSP_EXIT_YES;
}

/* Loads the last good answer, if there is one that can be read. */
static struct osp_topology *load_previous(const char *path)
{
	struct osp_error ignored = {.text = ""};

	return path ? osp_topology_load(path, &ignored) : NULL;
}

/* Returns where the watch keeps reports: beside the topology that is written, or beside the one in
 * force. NULL: there is none. To be freed. */
static char *reports_of(const struct osp_call *call)
{
	const char *output = call->values[OSP_OPTION_OUTPUT];
	struct osp_error ignored = {.text = ""};
	char *path = output ? strdup(output) : osp_topology_path(&ignored);
	char *reports = path ? osp_reports_path(path) : NULL;

	free(path);
	return reports;
}

static int discover(const struct osp_call *call, const struct osp_config *config,
		    const struct osp_sources *sources)
{
	struct osp_error error = {.text = ""};
	struct osp_source_question question = {.adapters = call->values[OSP_OPTION_ADAPTERS]};
	struct osp_node_list nodes = {.count = 0};
	struct osp_topology *previous = NULL;
	char *reports;
	int status;

	if (load_nodes(call, &nodes, &error)) {
		osp_node_list_free(&nodes);
		return say_failed(&error);
	}
	question.launch_groups = osp_config_watch(config)->launch_groups;
	reports = reports_of(call);
	question.reports = reports;
	previous = load_previous(call->values[OSP_OPTION_OUTPUT]);
	question.nodes = &nodes;
	question.previous = previous;
	if (call->values[OSP_OPTION_OUTPUT])
		status = keep(call, sources, &osp_config_watch(config)->guard, &question);
	else
		status = write_out(sources, &question);
	osp_topology_free(previous);
	osp_node_list_free(&nodes);
	free(reports);
	return status;
}

int osp_run_topology_discover(const struct osp_call *call)
{
	struct osp_error error = {.text = ""};
	struct osp_config *config = load_config(&error);
	struct osp_sources sources;
	int status = !config || read_sources(call, config, &sources, &error)
			     ? osp_say_error(&error)
			     : discover(call, config, &sources);

	osp_config_free(config);
	return status;
}

/* --- watch ------------------------------------------------------------------------------------ */

/* Chosen so that a resumed node is seen soon. */
#define LOOK_S 15

static int nodes_for_watch(struct osp_node_list *list, void *context, struct osp_error *error)
{
	return load_nodes(context, list, error);
}

/* Parses --interval: whole seconds from 1 to a day. */
static int read_interval(const char *value, int *interval_s, struct osp_error *error)
{
	char *end;
	long number = strtol(value, &end, 10);

	if (*end || end == value || number < 1 || number > OSP_WATCH_INTERVAL_MAX_S)
		return osp_error_set(error, "--interval=%.40s: 1 to %d seconds are expected", value,
				     OSP_WATCH_INTERVAL_MAX_S);
	*interval_s = (int)number;
	return 0;
}

/* Finds who keeps the reservations of Capacity Blocks. If the policy does not want them, those are
 * deleted that it wanted before; with a map Slurm is not asked. */
static osp_watch_ends_f *block_ends_of(const struct osp_call *call,
				       const struct osp_watch_policy *policy)
{
#ifdef OSP_HAVE_CLOUD
	if (policy->reserve_block_ends)
		return osp_block_ends_keep;
	return call->values[OSP_OPTION_NAME_MAP] ? NULL : osp_block_ends_drop;
#else
	(void)call;
	if (policy->reserve_block_ends)
		osp_say_warning("block_ends: reserve does nothing: this build was configured "
				"without curl and expat");
	return NULL;
#endif
}

/* Finds what seals reports: MUNGE's socket as slurm.conf has it, "" for its default, or a file of
 * keys (to be freed), NULL if MUNGE does. */
static char *find_seal(const struct osp_watch_policy *policy, char *socket, size_t socket_bytes)
{
	struct osp_error ignored = {.text = ""};
	char *path = osp_find_slurm_conf(&ignored);
	struct osp_slurm_conf *conf = path ? osp_load_slurm_conf(path, NULL, &ignored) : NULL;

	const char *file = osp_key_file(conf, policy->report_key_file, OSP_REPORT_KEY_PATH);
	char *key_file = file ? strdup(file) : NULL;

	*socket = '\0';
	if (conf)
		osp_munge_socket(conf, socket, socket_bytes);
	osp_slurm_conf_free(conf);
	free(path);
	return key_file;
}

static int watch(const struct osp_call *call, const struct osp_config *config,
		 const struct osp_sources *sources, const char *path)
{
	const struct osp_watch_policy *policy = osp_config_watch(config);
	struct osp_error error = {.text = ""};
	char munge_socket[108], *reports = osp_reports_path(path), *key_file;
	int rc;
	struct osp_watch watch = {
		.sources = sources,
		.path = path,
		.adapters = call->values[OSP_OPTION_ADAPTERS],
		.nodes = nodes_for_watch,
		.context = (void *)call,
		.control = call->values[OSP_OPTION_NAME_MAP] ? NULL : osp_in_control_here,
		.compare_all = call->values[OSP_OPTION_NAME_MAP],
		.interval_s = (int)policy->interval_s,
		.look_s = LOOK_S,
		.guard = policy->guard,
		.block_ends = block_ends_of(call, policy),
		.block_ends_once = !policy->reserve_block_ends,
		.slurm_root = call->values[OSP_OPTION_NAME_MAP] ? NULL : policy->slurm_topology,
		.slurm_topology = osp_slurm_topology_keep,
		.launch_left = call->values[OSP_OPTION_NAME_MAP] ? NULL : osp_launch_left_delete,
		.launch_groups = osp_config_launches(config) ? policy->launch_groups : NULL,
		.report_port = policy->report_port,
		.munge_socket = munge_socket,
		.reports = reports,
		.asks_reports = osp_sources_read_reports(sources),
	};
	const char *interval = call->values[OSP_OPTION_INTERVAL];

	if (watch.asks_reports && !policy->report_port)
		osp_error_set(&error, "nvlink needs watch.report_port in onespine.yaml: a port at "
				      "which nodes report");
	else if (!reports)
		osp_error_set(&error, "out of memory");
	if (error.text[0] || (interval && read_interval(interval, &watch.interval_s, &error))) {
		free(reports);
		return osp_say_error(&error);
	}
	key_file = find_seal(policy, munge_socket, sizeof(munge_socket));
	watch.report_key_file = key_file ? key_file : "";
	if (watch.look_s > watch.interval_s)
		watch.look_s = watch.interval_s;
	rc = osp_watch_run(&watch, &error);
	free(key_file);
	free(reports);
	return rc ? say_failed(&error) : OSP_EXIT_YES;
}

int osp_run_topology_watch(const struct osp_call *call)
{
	const char *output = call->values[OSP_OPTION_OUTPUT];
	struct osp_error error = {.text = ""};
	struct osp_config *config = load_config(&error);
	struct osp_sources sources;
	char *path = NULL;
	int status;

	if (config && !read_sources(call, config, &sources, &error))
		path = output ? strdup(output) : osp_topology_path(&error);
	status = path ? watch(call, config, &sources, path) : osp_say_error(&error);
	free(path);
	osp_config_free(config);
	return status;
}

/* --- accept ----------------------------------------------------------------------------------- */

int osp_run_topology_accept(const struct osp_call *call)
{
	struct osp_error error = {.text = ""};
	struct osp_text text = OSP_TEXT_INIT;
	char *path = call->argument_count ? strdup(call->arguments[0]) : osp_topology_path(&error);
	enum osp_applied kept = path ? osp_apply_held(path, &error) : OSP_APPLIED_FAILED;

	if (kept == OSP_APPLIED_NEW)
		osp_text_printf(&text, "%s: the answer that was held is in force\n", path);
	else if (kept == OSP_APPLIED_UNCHANGED)
		osp_text_printf(&text, "%s: no answer is held\n", path);
	free(path);
	if (kept == OSP_APPLIED_FAILED)
		return say_failed(&error);
	return osp_print_text(&text, OSP_EXIT_YES);
}
