/* SPDX-License-Identifier: GPL-2.0-or-later */
/* setup.c - changes of Slurm's files: planned, shown, made, recorded and taken back */
#include "onespine_config.h"
#include "tools/setup/setup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/output.h"
#include "host/files.h"

#define RECORD_BYTES_MAX ((size_t)4 * 1024 * 1024)
#define RECORD_KEY	 "onespine-setup"
#define RECORD_VERSION	 1

static const char *const kind_names[] = {"created", "added", "begun"};

/* --- plans ------------------------------------------------------------------------------------ */

int osp_plan_add(struct osp_plan *plan, enum osp_change_kind kind, char *path, char *text,
		 uint64_t at)
{
	if (!path || !text || plan->count == OSP_CHANGES_MAX) {
		free(path);
		free(text);
		return -1;
	}
	plan->changes[plan->count++] = (struct osp_change){kind, path, text, at};
	return 0;
}

void osp_plan_free(struct osp_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		free(plan->changes[i].path);
		free(plan->changes[i].text);
	}
	*plan = (struct osp_plan){.count = 0};
}

bool osp_plans_equal(const struct osp_plan *a, const struct osp_plan *b)
{
	if (a->count != b->count || a->head != b->head)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->changes[i].kind != b->changes[i].kind ||
		    strcmp(a->changes[i].path, b->changes[i].path) != 0 ||
		    strcmp(a->changes[i].text, b->changes[i].text) != 0)
			return false;
	return true;
}

/* --- the record ------------------------------------------------------------------------------- */

char *osp_record_path(const char *conf_path)
{
	return osp_path_beside(conf_path, "onespine.setup");
}

json_t *osp_plan_json(const struct osp_plan *plan)
{
	json_t *list = json_array();

	for (size_t i = 0; i < plan->count; i++) {
		const struct osp_change *change = &plan->changes[i];
		json_t *item = json_object();

		json_object_set_new(item, "path", osp_json_string(change->path));
		json_object_set_new(item, "what", json_string(kind_names[change->kind]));
		json_object_set_new(item, "at", json_integer((json_int_t)change->at));
		json_object_set_new(item, "text", osp_json_string(change->text));
		json_array_append_new(list, item);
	}
	return list;
}

static char *record_text(const struct osp_plan *plan)
{
	json_t *root = json_object();
	char *text;

	json_object_set_new(root, RECORD_KEY, json_integer(RECORD_VERSION));
	json_object_set_new(root, "for", json_string(plan->head ? "head" : "node"));
	json_object_set_new(root, "changes", osp_plan_json(plan));
	text = json_dumps(root, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	json_decref(root);
	return text;
}

static int take_change(struct osp_plan *plan, const json_t *item)
{
	const char *path = json_string_value(json_object_get(item, "path"));
	const char *what = json_string_value(json_object_get(item, "what"));
	const char *text = json_string_value(json_object_get(item, "text"));
	json_int_t at = json_integer_value(json_object_get(item, "at"));

	if (!path || !what || !text || at < 0)
		return -1;
	for (int kind = OSP_CHANGE_CREATE; kind <= OSP_CHANGE_BEGIN; kind++)
		if (strcmp(what, kind_names[kind]) == 0)
			return osp_plan_add(plan, kind, strdup(path), strdup(text), (uint64_t)at);
	return -1;
}

static int take_record(struct osp_plan *plan, const json_t *root)
{
	const char *for_whom = json_string_value(json_object_get(root, "for"));
	const json_t *changes = json_object_get(root, "changes");
	json_t *item;
	size_t i;

	if (json_integer_value(json_object_get(root, RECORD_KEY)) != RECORD_VERSION || !for_whom ||
	    !json_is_array(changes))
		return -1;
	plan->head = strcmp(for_whom, "head") == 0;
	json_array_foreach((json_t *)changes, i, item) if (take_change(plan, item) < 0) return -1;
	return 0;
}

int osp_plan_load(const char *record_path, struct osp_plan *plan, struct osp_error *error)
{
	json_error_t wrong;
	size_t bytes = 0;
	json_t *root;
	char *text;

	*plan = (struct osp_plan){.count = 0};
	if (access(record_path, F_OK) < 0 && errno == ENOENT)
		return 0;
	text = osp_read_input(record_path, RECORD_BYTES_MAX, &bytes, error);
	if (!text)
		return -1;
	root = json_loadb(text, bytes, 0, &wrong);
	free(text);
	if (!root)
		return osp_error_at(error, record_path, wrong.line, wrong.column, "%s", wrong.text);
	if (take_record(plan, root) < 0) {
		osp_plan_free(plan);
		json_decref(root);
		return osp_error_at(error, record_path, 0, 0,
				    "not a record of onespine setup that this version can read");
	}
	json_decref(root);
	return 1;
}

/* --- with and without ------------------------------------------------------------------------- */

void osp_overlays_free(struct osp_overlays *overlays)
{
	for (size_t i = 0; i < overlays->count; i++)
		free((char *)overlays->items[i].text);
	overlays->count = 0;
}

/* Takes `text` over. */
static void lay_over(struct osp_overlays *overlays, const char *path, char *text)
{
	for (size_t i = 0; i < overlays->count; i++) {
		if (strcmp(overlays->items[i].path, path) == 0) {
			free((char *)overlays->items[i].text);
			overlays->items[i].text = text;
			return;
		}
	}
	overlays->items[overlays->count++] = (struct osp_overlay){path, text};
}

/* Returns where the added lines are: at their place, or wherever edits have moved them; NULL if
 * nowhere. */
static char *find_added(char *text, size_t bytes, const struct osp_change *change)
{
	size_t length = strlen(change->text);

	if (change->at <= bytes && bytes - change->at >= length &&
	    memcmp(text + change->at, change->text, length) == 0)
		return text + change->at;
	return strstr(text, change->text);
}

/* Returns the file's text without what was added; NULL with `error` set. */
static char *text_without(const struct osp_change *change, struct osp_error *error)
{
	size_t bytes = 0;
	char *text = osp_read_input(change->path, OSP_SLURM_CONF_BYTES_MAX, &bytes, error);
	char *found = text ? find_added(text, bytes, change) : NULL;
	size_t length = strlen(change->text);

	if (found)
		memmove(found, found + length, bytes - (size_t)(found - text) - length + 1);
	return text;
}

int osp_plan_without(const struct osp_plan *plan, struct osp_overlays *overlays,
		     struct osp_error *error)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct osp_change *change = &plan->changes[i];
		char *text = NULL;

		if (change->kind == OSP_CHANGE_BEGIN)
			continue;
		if (change->kind == OSP_CHANGE_ADD) {
			text = text_without(change, error);
			if (!text)
				return -1;
		}
		lay_over(overlays, change->path, text);
	}
	return 0;
}

int osp_plan_with(const struct osp_plan *plan, const struct osp_overlays *before,
		  struct osp_overlays *overlays, struct osp_error *error)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct osp_change *change = &plan->changes[i];
		struct osp_text text = OSP_TEXT_INIT;
		size_t bytes = 0;
		char *old = NULL;

		if (change->kind == OSP_CHANGE_BEGIN && access(change->path, F_OK) == 0)
			continue;
		if (change->kind == OSP_CHANGE_ADD) {
			old = osp_read_overlaid(before, change->path, OSP_SLURM_CONF_BYTES_MAX,
						&bytes, error);
			if (!old)
				return -1;
			osp_text_add_bytes(&text, old, bytes);
			free(old);
		}
		osp_text_add(&text, change->text);
		lay_over(overlays, change->path, osp_text_take(&text));
	}
	return 0;
}

/* --- making ----------------------------------------------------------------------------------- */

bool osp_plan_holds(const struct osp_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct osp_change *change = &plan->changes[i];
		struct osp_error ignored = {.text = ""};
		size_t bytes = 0;
		char *text;
		bool holds;

		if (change->kind == OSP_CHANGE_BEGIN)
			continue;
		text = osp_read_input(change->path, OSP_SLURM_CONF_BYTES_MAX, &bytes, &ignored);
		holds = text &&
			(change->kind == OSP_CHANGE_ADD ? find_added(text, bytes, change) != NULL
							: strcmp(text, change->text) == 0);

		free(text);
		if (!holds)
			return false;
	}
	return true;
}

/* Removes also what a killed run left half written. */
static void remove_unfinished(const struct osp_plan *plan, const char *record_path)
{
	for (size_t i = 0; i < plan->count; i++)
		osp_remove_unfinished(plan->changes[i].path);
	osp_remove_unfinished(record_path);
}

/* Makes a file of ours as readable as slurm.conf. */
static int create(const char *path, const char *text, const char *like, struct osp_error *error)
{
	bool is_script = strncmp(text, "#!", 2) == 0;
	struct stat status;

	if (stat(like, &status) < 0)
		return osp_error_at(error, like, 0, 0, "%s", strerror(errno));
	return osp_write_new(path, text, strlen(text), &status,
			     is_script ? 0755 : status.st_mode & 0644, error);
}

/* Begins a file. One that the gate obeys must be root's (lib/doctor, gate-config), whoever owns
 * slurm.conf. */
static int begin(const char *path, const char *text, struct osp_error *error)
{
	struct stat owner = {.st_uid = geteuid(), .st_gid = getegid()};

	if (access(path, F_OK) == 0)
		return 0;
	return osp_write_new(path, text, strlen(text), &owner, 0644, error);
}

static int add_lines(const struct osp_change *change, struct osp_error *error)
{
	struct osp_text text = OSP_TEXT_INIT;
	size_t bytes = 0;
	char *old = osp_read_input(change->path, OSP_SLURM_CONF_BYTES_MAX, &bytes, error);
	int result;

	if (!old)
		return -1;
	osp_text_add_bytes(&text, old, bytes);
	osp_text_add(&text, change->text);
	free(old);
	if (text.failed)
		result = osp_error_set(error, "out of memory");
	else if (bytes != change->at)
		result = osp_error_at(error, change->path, 0, 0, "changed meanwhile");
	else
		result = osp_write_output(change->path, text.data, text.length_bytes, error);
	osp_text_free(&text);
	return result;
}

int osp_plan_make(const struct osp_plan *plan, const char *record_path, const char *like,
		  struct osp_error *error)
{
	struct osp_error ignored = {.text = ""};
	char *record = record_text(plan);
	int result;

	remove_unfinished(plan, record_path);
	/* Root's alone: what it says is done as root when it is taken back. */
	result = record ? osp_write_output(record_path, record, strlen(record), error)
			: osp_error_set(error, "out of memory");
	free(record);
	for (size_t i = 0; !result && i < plan->count; i++) {
		const struct osp_change *change = &plan->changes[i];

		if (change->kind == OSP_CHANGE_CREATE)
			result = create(change->path, change->text, like, error);
		else if (change->kind == OSP_CHANGE_BEGIN)
			result = begin(change->path, change->text, error);
		else
			result = add_lines(change, error);
	}
	if (result)
		(void)osp_plan_undo(plan, record_path, &ignored);
	return result;
}

/* --- taking back ------------------------------------------------------------------------------ */

/* Refuses if a file of ours was edited: then nothing is taken back. */
int osp_plan_unedited(const struct osp_plan *plan, struct osp_error *error)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct osp_change *change = &plan->changes[i];
		size_t bytes = 0;
		char *text;
		bool same;

		if (change->kind != OSP_CHANGE_CREATE || access(change->path, F_OK) < 0)
			continue;
		text = osp_read_input(change->path, OSP_SLURM_CONF_BYTES_MAX, &bytes, error);
		if (!text)
			return -1;
		same = strcmp(text, change->text) == 0;
		free(text);
		if (!same)
			return osp_error_at(
				error, change->path, 0, 0,
				"was edited since onespine setup wrote it: move it away "
				"first; nothing was changed");
	}
	return 0;
}

/* Returns whether the file is still what was written there. */
bool osp_change_unedited(const struct osp_change *change)
{
	struct osp_error ignored = {.text = ""};
	size_t bytes = 0;
	char *text = osp_read_input(change->path, OSP_SLURM_CONF_BYTES_MAX, &bytes, &ignored);
	bool same = text && strcmp(text, change->text) == 0;

	free(text);
	return same;
}

static int take_back(const struct osp_change *change, struct osp_error *error)
{
	size_t bytes = 0;
	char *now, *without;
	int result = 0;

	if (change->kind == OSP_CHANGE_BEGIN && !osp_change_unedited(change))
		return 0;

	if (change->kind != OSP_CHANGE_ADD) {
		if (unlink(change->path) < 0 && errno != ENOENT)
			return osp_error_at(error, change->path, 0, 0, "cannot be removed: %s",
					    strerror(errno));
		return 0;
	}
	now = osp_read_input(change->path, OSP_SLURM_CONF_BYTES_MAX, &bytes, error);
	without = now ? text_without(change, error) : NULL;
	if (!without)
		result = -1;
	else if (strcmp(now, without) != 0)
		result = osp_write_output(change->path, without, strlen(without), error);
	free(now);
	free(without);
	return result;
}

int osp_plan_undo(const struct osp_plan *plan, const char *record_path, struct osp_error *error)
{
	if (osp_plan_unedited(plan, error) < 0)
		return -1;
	remove_unfinished(plan, record_path);
	for (size_t i = plan->count; i-- > 0;)
		if (take_back(&plan->changes[i], error) < 0)
			return -1;
	if (unlink(record_path) < 0 && errno != ENOENT)
		return osp_error_at(error, record_path, 0, 0, "cannot be removed: %s",
				    strerror(errno));
	return 0;
}
