/* SPDX-License-Identifier: GPL-2.0-or-later */
/* onespine.c - the command: finds the subcommand and runs it */
#include "onespine_config.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "tools/command/command.h"
#include "tools/command/options.h"

static int run_completion(const struct osp_call *call)
{
	static const char *const shells[] = {"bash", "zsh"};
	const char *shell = call->arguments[0];
	const char *nearest = osp_nearest_word(shell, shells, 2);
	struct osp_text text = OSP_TEXT_INIT;
	struct osp_error error = {.text = ""};

	if (strcmp(shell, "bash") == 0)
		osp_completion_bash(&text);
	else if (strcmp(shell, "zsh") == 0)
		osp_completion_zsh(&text);
	else {
		osp_error_set(&error, "no completion for '%.40s'%s%s; bash and zsh are known",
			      shell, nearest ? "; did you mean " : "", nearest ? nearest : "");
		return osp_say_error(&error);
	}
	return osp_print_text(&text, OSP_EXIT_YES);
}

static void help_group(const char *group, struct osp_text *text)
{
	size_t length = strlen(group);
	int id;

	for (id = 0; id < OSP_COMMAND_COUNT; id++) {
		const char *name = osp_command(id)->name;

		if (strncmp(name, group, length) == 0 &&
		    (name[length] == ' ' || name[length] == '\0')) {
			if (text->length_bytes)
				osp_text_add(text, "\n\n");
			osp_help_command(id, text);
		}
	}
}

static int run_help(const struct osp_call *call)
{
	struct osp_text text = OSP_TEXT_INIT;
	struct osp_error error = {.text = ""};
	enum osp_command_id id;
	int used;

	if (call->argument_count == 0)
		osp_help_all(&text);
	else if (call->argument_count == 1)
		help_group(call->arguments[0], &text);
	if (text.length_bytes)
		return osp_print_text(&text, OSP_EXIT_YES);
	if (osp_command_find(call->arguments, call->argument_count, &id, &used, &error) < 0)
		return osp_say_error(&error);
	osp_help_command(id, &text);
	return osp_print_text(&text, OSP_EXIT_YES);
}

#ifndef OSP_HAVE_HWLOC
static int run_without_hwloc(const struct osp_call *call)
{
	struct osp_error error = {.text = ""};

	(void)call;
	osp_error_set(&error, "this build cannot bind: hwloc was not found when it was configured");
	return osp_say_error(&error);
}
#endif

static int (*const run[OSP_COMMAND_COUNT])(const struct osp_call *) = {
	[OSP_TOPOLOGY_IMPORT] = osp_run_topology_import,
	[OSP_TOPOLOGY_SHOW] = osp_run_topology_show,
	[OSP_TOPOLOGY_CHECK] = osp_run_topology_check,
	[OSP_TOPOLOGY_DISCOVER] = osp_run_topology_discover,
	[OSP_TOPOLOGY_WATCH] = osp_run_topology_watch,
	[OSP_TOPOLOGY_SURVEY] = osp_run_topology_survey,
	[OSP_TOPOLOGY_ACCEPT] = osp_run_topology_accept,
	[OSP_CONFIG_CHECK] = osp_run_config_check,
	[OSP_CONFIG_SHOW] = osp_run_config_show,
	[OSP_FIT] = osp_run_fit,
	[OSP_WHY] = osp_run_why,
	[OSP_MAP] = osp_run_map,
	[OSP_LAYOUT] = osp_run_layout,
	[OSP_AUDIT] = osp_run_audit,
	[OSP_SET] = osp_run_set,
	[OSP_HOSTS] = osp_run_hosts,
#ifdef OSP_HAVE_HWLOC
	[OSP_BIND] = osp_run_bind,
	[OSP_BIND_RUN] = osp_run_bind_run,
#else
	[OSP_BIND] = run_without_hwloc,
	[OSP_BIND_RUN] = run_without_hwloc,
#endif
	[OSP_ENV] = osp_run_env,
	[OSP_CHECK] = osp_run_check,
	[OSP_HISTORY] = osp_run_history,
	[OSP_DOCTOR] = osp_run_doctor,
	[OSP_SETUP] = osp_run_setup,
	[OSP_GATE_PROLOG] = osp_run_gate_prolog,
	[OSP_GATE_EPILOG] = osp_run_gate_epilog,
	[OSP_GATE_KEY] = osp_run_gate_key,
	[OSP_RECHECK] = osp_run_recheck,
	[OSP_QUARANTINE] = osp_run_quarantine,
	[OSP_REPRODUCE] = osp_run_reproduce,
	[OSP_COMPLETION] = run_completion,
	[OSP_HELP] = run_help,
};

/* Flushes standard output, and fails if that fails: output lost to a full disk must not look like
 * an answer. */
static int finish(int status)
{
	int failed = ferror(stdout);

	if (fflush(stdout) != 0 || failed) {
		if (errno != EPIPE)
			fprintf(stderr, "onespine: standard output: %s\n", strerror(errno));
		return OSP_EXIT_UNABLE;
	}
	return status;
}

int main(int argc, char **argv)
{
	struct osp_error error = {.text = ""};
	struct osp_call call;

	osp_output_begin();
	setlocale(LC_CTYPE, "");
	if (osp_options_parse(argc, argv, &call, &error) < 0)
		return osp_say_error(&error);
	if (call.values[OSP_OPTION_VERSION]) {
		puts(PACKAGE_STRING);
		return finish(OSP_EXIT_YES);
	}
	return finish(run[call.command](&call));
}
