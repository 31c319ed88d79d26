/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_gate_key.c - `onespine gate key`: makes, shows and changes the gate's key */
#include "onespine_config.h"
#include "tools/command/command.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/record/secrets_file.h"

#define COPY_TO_ALL "copy it to all nodes, as root's and readable by root alone"

enum step { STEP_SHOW, STEP_NEW, STEP_ADD, STEP_USE, STEP_DROP };

static int find_step(const struct osp_call *call, enum step *step, struct osp_error *error)
{
	static const char *const words[] = {"", "new", "add", "use", "drop"};
	const char *word = call->argument_count ? call->arguments[0] : "";

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(word, words[i]) != 0)
			continue;
		*step = (enum step)i;
		if (call->argument_count == 2 && *step != STEP_NEW && *step != STEP_ADD)
			return osp_error_set(error, "'%s' takes no name: the last key is meant",
					     word);
		return 0;
	}
	return osp_error_set(error, "'%.40s': new, add, use or drop is expected", word);
}

/* --- showing ---------------------------------------------------------------------------------- */

static int show_json(const char *path, const struct osp_secrets *secrets)
{
	json_t *root = json_object(), *list = json_array();

	json_object_set_new(root, "file", json_string(path));
	for (uint32_t i = 0; i < secrets->count; i++)
		json_array_append_new(list, json_pack("{s:s, s:b}", "name", secrets->list[i].name,
						      "seals", i == 0));
	json_object_set_new(root, "keys", list);
	return osp_print_json(root, OSP_EXIT_YES);
}

static int show(const struct osp_call *call, const char *path, const struct osp_secrets *secrets)
{
	if (call->values[OSP_OPTION_JSON])
		return show_json(path, secrets);
	printf("%s\n", path);
	for (uint32_t i = 0; i < secrets->count; i++)
		printf("  %s  %s\n", secrets->list[i].name, i == 0 ? "seals and opens" : "opens");
	return OSP_EXIT_YES;
}

/* --- changing --------------------------------------------------------------------------------- */

static int change(const struct osp_call *call, enum step step, struct osp_secrets *secrets,
		  struct osp_error *error)
{
	switch (step) {
	case STEP_NEW:
	case STEP_ADD:
		return osp_secrets_add_new(
			secrets, call->argument_count == 2 ? call->arguments[1] : NULL, error);
	case STEP_USE:
		return osp_secrets_use(secrets, error);
	case STEP_DROP:
		return osp_secrets_drop(secrets, error);
	case STEP_SHOW:
		break;
	}
	return 0;
}

/* Prints the command of the next step, for the same file. */
static void print_next_step(const char *word, const char *named_file)
{
	printf(", then 'onespine gate key %s%s%s'\n", word, named_file ? " --key-file " : "",
	       named_file ? named_file : "");
}

/* Prints what was done; `named_file` is the value of --key-file, or NULL. */
static void report(enum step step, const char *path, const char *named_file,
		   const struct osp_secrets *secrets)
{
	const char *first = secrets->list[0].name, *last = secrets->list[secrets->count - 1].name;

	switch (step) {
	case STEP_NEW:
		printf("%s has key %s: " COPY_TO_ALL "\n", path, first);
		break;
	case STEP_ADD:
		printf("%s has key %s too, which opens: " COPY_TO_ALL, path, last);
		print_next_step("use", named_file);
		break;
	case STEP_USE:
		printf("%s: key %s seals: " COPY_TO_ALL, path, first);
		print_next_step("drop", named_file);
		break;
	case STEP_DROP:
		printf("%s has key %s alone: " COPY_TO_ALL "\n", path, first);
		break;
	case STEP_SHOW:
		break;
	}
}

/* Makes a file, or changes the one that is there. */
static int write_keys(const struct osp_call *call, enum step step, const char *path,
		      struct osp_secrets *secrets, struct osp_error *error)
{
	if (step == STEP_NEW && access(path, F_OK) == 0)
		return osp_error_at(error, path, 0, 0, "it is there already: 'add' adds a key");
	if (step != STEP_NEW && osp_secrets_load(path, secrets, error))
		return -1;
	if (change(call, step, secrets, error) || osp_secrets_save(path, secrets, error))
		return -1;
	report(step, path, call->values[OSP_OPTION_KEY_FILE], secrets);
	return 0;
}

int osp_run_gate_key(const struct osp_call *call)
{
	const char *path = call->values[OSP_OPTION_KEY_FILE];
	struct osp_secrets secrets = {.count = 0};
	struct osp_error error = {.text = ""};
	enum step step = STEP_SHOW;
	int status = OSP_EXIT_YES;

	path = path ? path : OSP_SECRETS_PATH;
	if (find_step(call, &step, &error))
		return osp_say_error(&error);
	if (step != STEP_SHOW && write_keys(call, step, path, &secrets, &error)) {
		status = osp_say_error(&error);
	} else if (step == STEP_SHOW && osp_secrets_load(path, &secrets, &error)) {
		status = access(path, F_OK) < 0 ? OSP_EXIT_NO : OSP_EXIT_UNABLE;
		osp_say_error(&error);
	} else if (step == STEP_SHOW) {
		status = show(call, path, &secrets);
	}
	osp_secrets_forget(&secrets);
	return status;
}
