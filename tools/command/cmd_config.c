/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_config.c - `onespine config check` and `show` */
#include "tools/command/command.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/files.h"
#include "host/record/thresholds_file.h"
#include "host/slurm/cluster_state.h"
#include "host/slurm/fabric.h"
#include "lib/policy/config_names.h"
#include "lib/policy/node_policy.h"

/* Loads the named FILE, or the one in force, which may be missing. *path must be freed. */
static struct osp_config *load(const struct osp_call *call, char **path, struct osp_error *error)
{
	bool named = call->argument_count;

	*path = named ? strdup(call->arguments[0]) : osp_config_path(error);
	if (!*path) {
		osp_error_set(error, "out of memory");
		return NULL;
	}
	return osp_config_load(*path, named, error);
}

/* Returns -1 with `error` set if a file in force is one that slurmctld does not obey. */
static int check_trust(const char *path, struct osp_error *error)
{
	struct osp_error ignored = {.text = ""};
	char *slurm_conf = access(path, F_OK) == 0 ? osp_slurm_conf_path(&ignored) : NULL;
	int result = slurm_conf ? osp_policy_trusted(path, slurm_conf, error) : 0;

	free(slurm_conf);
	return result;
}

int osp_run_config_show(const struct osp_call *call)
{
	char words[OSP_ERROR_TEXT_BYTES + OSP_ERROR_FILE_BYTES + 32];
	struct osp_error error = {.text = ""};
	struct osp_config *config;
	char *path = NULL;
	char *text;

	config = load(call, &path, &error);
	if (!config) {
		free(path);
		return osp_say_error(&error);
	}
	if (!call->values[OSP_OPTION_JSON] && strcmp(path, "-") != 0 && access(path, F_OK) < 0)
		osp_say_warning("%s does not exist: all values are defaults", path);
	if (!call->argument_count && check_trust(path, &error))
		osp_say_warning("slurmctld does not obey %s",
				osp_error_format(&error, words, sizeof(words)));
	text = osp_config_show(config, call->values[OSP_OPTION_JSON]);
	osp_config_free(config);
	free(path);
	if (!text)
		return osp_say_no_memory();
	fputs(text, stdout);
	if (*text && text[strlen(text) - 1] != '\n')
		putchar('\n');
	free(text);
	return OSP_EXIT_YES;
}

/* --- check ------------------------------------------------------------------------------------ */

/* The findings, one sentence each. `asked` is false if slurmctld could not be asked. */
struct findings {
	json_t *wrong;
	bool asked;
	char not_asked[OSP_ERROR_TEXT_BYTES];
	bool compared; /* the levels were compared with a topology */
};

static void add_wrong(const struct osp_error *error, void *context)
{
	struct findings *findings = context;
	char buffer[sizeof(*error) + 32];

	json_array_append_new(findings->wrong,
			      osp_json_string(osp_error_format(error, buffer, sizeof(buffer))));
}

static void check_launch_nodes(const struct osp_config *config, const struct osp_snapshot *snapshot,
			       const char *path, struct findings *findings)
{
	const char **names = calloc((size_t)snapshot->node_count + 1, sizeof(*names));

	for (uint32_t i = 0; names && i < snapshot->node_count; i++)
		names[i] = snapshot->nodes[i].name;
	if (names)
		osp_config_check_launch_nodes(config, names, snapshot->node_count, path, add_wrong,
					      findings);
	free(names);
}

static void ask_slurm(const struct osp_config *config, const char *path, struct findings *findings)
{
	struct osp_error error = {.text = ""};
	struct osp_snapshot *snapshot;
	const char **names;

	if (!osp_slurm_configured()) {
		snprintf(findings->not_asked, sizeof(findings->not_asked), "no slurm.conf found");
		return;
	}
	osp_progress_begin("asking slurmctld");
	snapshot = osp_cluster_nodes(&error);
	osp_progress_end();
	if (!snapshot) {
		memcpy(findings->not_asked, error.text, sizeof(findings->not_asked));
		return;
	}
	findings->asked = true;
	names = calloc((size_t)snapshot->partition_count + 1, sizeof(*names));
	for (uint32_t i = 0; names && i < snapshot->partition_count; i++)
		names[i] = snapshot->partitions[i].name;
	if (names)
		osp_config_check_partitions(config, names, snapshot->partition_count, path,
					    add_wrong, findings);
	free(names);
	check_launch_nodes(config, snapshot, path, findings);
	osp_snapshot_free(snapshot);
}

/* Returns the topology that the file names, beside it. If the file is only to be looked at and has
 * no topology beside it yet, returns the one beside slurm.conf. NULL: there is none. */
static char *find_topology(const struct osp_config *config, const char *path, bool in_force)
{
	struct osp_error error = {.text = ""};
	char *beside = osp_path_beside(path, osp_config_topology(config)), *other, *conf;

	if (!beside || in_force || access(beside, F_OK) == 0)
		return beside;
	conf = osp_slurm_configured() ? osp_config_path(&error) : NULL;
	other = conf ? osp_path_beside(conf, osp_config_topology(config)) : NULL;
	free(conf);
	if (other && access(other, F_OK) == 0) {
		free(beside);
		return other;
	}
	free(other);
	free(beside);
	return NULL;
}

static void check_topology(const struct osp_config *config, const char *path, bool in_force,
			   struct findings *findings)
{
	struct osp_error error = {.text = ""};
	struct osp_topology *topology;
	char *topology_path = find_topology(config, path, in_force);

	if (!topology_path)
		return;
	findings->compared = true;
	if (in_force && check_trust(topology_path, &error)) {
		add_wrong(&error, findings);
		osp_error_clear(&error);
	}
	topology = osp_topology_load(topology_path, &error);
	if (topology)
		osp_config_check_levels(config, topology, topology_path, path, add_wrong, findings);
	else
		add_wrong(&error, findings);
	osp_topology_free(topology);
	free(topology_path);
}

/* Prints the findings. `topology` is the name in the file; "" if that is refused. */
static int print_findings(const char *path, const char *topology, const struct findings *findings,
			  bool as_json, int status)
{
	struct osp_text text = OSP_TEXT_INIT;
	char name[PATH_MAX];
	json_t *root;
	size_t i;

	if (as_json) {
		root = json_object();
		json_object_set_new(root, "file", osp_json_string(osp_input_name(path)));
		json_object_set_new(root, "right", json_boolean(status == OSP_EXIT_YES));
		json_object_set(root, "wrong", findings->wrong);
		json_object_set_new(root, "slurm",
				    findings->asked ? json_string("asked")
						    : osp_json_string(findings->not_asked));
		json_object_set_new(root, "levels",
				    json_string(findings->compared ? "compared" : "no topology"));
		return osp_print_json(root, status);
	}
	for (i = 0; i < json_array_size(findings->wrong); i++)
		osp_text_printf(&text, "%s\n",
				json_string_value(json_array_get(findings->wrong, i)));
	if (status == OSP_EXIT_YES)
		osp_text_printf(&text, "%s: valid\n", osp_input_words(path, name, sizeof(name)));
	if (!findings->asked)
		osp_text_printf(&text, "partitions not compared with Slurm's: %s\n",
				findings->not_asked);
	if (!findings->compared && *topology)
		osp_text_printf(&text,
				"levels not compared with the topology's: there is no %s, neither "
				"beside this file nor beside slurm.conf\n",
				topology);
	return osp_print_text(&text, status);
}

/* Judges the limits of checks that are in force on this host. */
static void check_thresholds(struct findings *findings)
{
	const char *root = getenv("ONESPINE_TEST_ROOT");
	struct osp_error error = {.text = ""};
	struct osp_thresholds *thresholds =
		osp_thresholds_in_force(NULL, root ? root : "", &error);

	if (!thresholds)
		add_wrong(&error, findings);
	osp_thresholds_free(thresholds);
}

int osp_run_config_check(const struct osp_call *call)
{
	struct findings findings = {.wrong = json_array()};
	bool as_json = call->values[OSP_OPTION_JSON];
	struct osp_error error = {.text = ""};
	struct osp_config *config;
	char *path = NULL;
	int status;

	config = load(call, &path, &error);
	if (!config && (!path || (strcmp(path, "-") != 0 && access(path, R_OK) < 0))) {
		status = osp_say_error(&error);
	} else {
		if (!config) {
			add_wrong(&error, &findings);
			osp_error_clear(&error);
			snprintf(findings.not_asked, sizeof(findings.not_asked),
				 "the file is refused");
		} else {
			ask_slurm(config, path, &findings);
			check_topology(config, path, call->argument_count == 0, &findings);
		}
		if (!call->argument_count && check_trust(path, &error))
			add_wrong(&error, &findings);
		if (!call->argument_count)
			check_thresholds(&findings);
		status = json_array_size(findings.wrong) ? OSP_EXIT_NO : OSP_EXIT_YES;
		status = print_findings(path, config ? osp_config_topology(config) : "", &findings,
					as_json, status);
	}
	json_decref(findings.wrong);
	osp_config_free(config);
	free(path);
	return status;
}
