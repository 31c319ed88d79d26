/* SPDX-License-Identifier: GPL-2.0-or-later */
/* script_settings.c - keeps what a job script sets, with its value, its place and its course */
#include "lib/env/script_private.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/room.h"
#include "lib/base/text.h"
#include "lib/env/script_value.h"

#define VALUE_BYTES_MAX 4096	  /* of a value made of other variables */
#define COMPARISONS_MAX 100000000 /* of names, before no more are made: else time in the square */

/* Returns whether all settings may be looked through once more. */
static bool may_compare(struct osp_script *script)
{
	script->comparisons += script->count;
	return script->comparisons <= COMPARISONS_MAX;
}

/* Returns the value to which the script has set a variable so far: NULL if it has not, or to
 * several values. */
static const char *only_value(struct osp_reading *reading, const char *name, size_t name_bytes)
{
	struct osp_script *script = reading->script;
	const char *value = NULL;

	if (!may_compare(script))
		return NULL;
	for (size_t i = 0; i < script->count; i++) {
		const struct osp_setting *one = &script->settings[i];
		enum osp_course_stand stand;

		if (strncmp(one->name, name, name_bytes) != 0 || one->name[name_bytes])
			continue;
		stand = osp_course_setting(&reading->courses, i);
		if (one->gone || stand == OSP_COURSE_STANDS_NOT)
			continue;
		if (one->unexpanded || stand == OSP_COURSE_MAY_STAND ||
		    (value && strcmp(value, one->value)))
			return NULL;
		value = one->value;
	}
	return value;
}

/* --- values that change in loops -------------------------------------------------------------- */

/* Forgets the values of loops that have ended. */
static void forget_uses(struct osp_reading *reading)
{
	const struct osp_flow *flow = &reading->courses.flow;
	size_t kept = 0;

	for (size_t i = 0; i < reading->use_count; i++) {
		if (osp_flow_within(flow, flow->at.block, reading->uses[i].within))
			reading->uses[kept++] = reading->uses[i];
	}
	reading->use_count = kept;
}

/* Notes that the value of the next setting is made of variables, all known, which may change before
 * it is set again. Returns 1; 0 if there is no room, so that it stays unknown; or -1 if memory ran
 * out. */
static int note_uses(struct osp_reading *reading, const char *value, size_t value_bytes)
{
	struct osp_use use = {.setting = reading->script->count};
	const char *at;

	if (!osp_flow_runs_again(&reading->courses.flow, &use.within))
		return 1;
	use.value = osp_arena_copy(&reading->script->arena, value, value_bytes);
	if (!use.value)
		return -1;
	forget_uses(reading);
	for (at = use.value; (at = strchr(at, '$')); at += use.name_bytes) {
		if (reading->use_count == OSP_USES_MAX)
			return 0;
		use.name = at += at[1] == '{' ? 2 : 1;
		use.name_bytes = osp_value_name_length(at, use.value + value_bytes);
		reading->uses[reading->use_count++] = use;
	}
	return 1;
}

/* Makes values unknown that are made of the variable, which changes; `anywhere`: because what it is
 * made of does. */
static void change(struct osp_reading *reading, const char *name, size_t name_bytes, bool anywhere)
{
	const struct osp_flow *flow = &reading->courses.flow;
	size_t i = 0;

	while (i < reading->use_count) {
		struct osp_use use = reading->uses[i];
		struct osp_setting *setting;

		if (use.name_bytes != name_bytes || memcmp(use.name, name, name_bytes) != 0 ||
		    use.setting >= reading->script->count ||
		    !(anywhere || osp_flow_within(flow, flow->at.block, use.within))) {
			i++;
			continue;
		}
		reading->uses[i] = reading->uses[--reading->use_count];
		setting = &reading->script->settings[use.setting];
		setting->unexpanded = true;
		setting->value = use.value;
		change(reading, setting->name, strlen(setting->name), true);
		i = 0; /* it may have moved others */
	}
}

/*
 * Replaces $X and ${X} by values that the script set before: `known` gets the result. It stays NULL
 * if a shell substitutes anything else, or a variable is unknown. Returns -1 if memory ran out.
 */
static int expand(struct osp_reading *reading, const char *value, size_t value_bytes, char **known)
{
	const char *at = value, *end = value + value_bytes, *next;
	struct osp_text text = OSP_TEXT_INIT;
	int noted;

	for (; (next = memchr(at, '$', (size_t)(end - at))); at = next) {
		bool braced = next + 1 < end && next[1] == '{';
		const char *name = next + 1 + braced, *one;
		size_t length = osp_value_name_length(name, end);

		one = length ? only_value(reading, name, length) : NULL;
		if (!one || strlen(one) > VALUE_BYTES_MAX || text.length_bytes > VALUE_BYTES_MAX ||
		    (braced && (name + length >= end || name[length] != '}')))
			break;
		osp_text_add_bytes(&text, at, (size_t)(next - at));
		osp_text_add(&text, one);
		next = name + length + braced;
	}
	if (next || at == value || memchr(value, '`', value_bytes)) {
		bool failed = text.failed;

		osp_text_free(&text);
		return failed ? -1 : 0;
	}
	noted = note_uses(reading, value, value_bytes);
	if (noted < 1) {
		osp_text_free(&text);
		return noted;
	}
	osp_text_add_bytes(&text, at, (size_t)(end - at));
	*known = osp_text_take(&text);
	return *known ? 0 : -1;
}

static int append(struct osp_reading *reading, struct osp_setting *setting)
{
	struct osp_script *script = reading->script;

	if (osp_make_room((void **)&script->settings, &script->room, script->count,
			  sizeof(*script->settings)) ||
	    osp_course_begin(&reading->courses, setting, reading->lasting))
		return -1;
	script->settings[script->count++] = *setting;
	return 0;
}

void osp_reading_place(const struct osp_reading *reading, int *line, int *column)
{
	const struct osp_shell_word *outer = reading->outer;

	if (!outer)
		return;
	if (*line > 1 && outer->whole_lines) {
		*line += outer->line - 1;
	} else {
		*line = outer->line;
		if (outer->column) /* else the text is a file's */
			*column = outer->column;
	}
}

/* Returns whether the variable gives srun its --export. */
static bool is_exports(const char *name, size_t name_bytes)
{
	return (name_bytes == sizeof("SLURM_EXPORT_ENV") - 1 &&
		!memcmp(name, "SLURM_EXPORT_ENV", name_bytes)) ||
	       (name_bytes == sizeof("SRUN_EXPORT_ENV") - 1 &&
		!memcmp(name, "SRUN_EXPORT_ENV", name_bytes));
}

void osp_reading_end(struct osp_reading *reading, const char *name, size_t name_bytes,
		     enum osp_course_end how)
{
	osp_course_end(&reading->courses, reading->script->settings, name, name_bytes, how);
	if (how == OSP_COURSE_UNSET)
		change(reading, name, name_bytes, false);
	if (is_exports(name, name_bytes))
		osp_reading_exports(reading, NULL);
}

/* Returns whether the text begins with an operator that sets what stands before it. */
static bool sets_before(const char *text, const char *end)
{
	size_t left = (size_t)(end - text);

	if (left > 1 && (!memcmp(text, "++", 2) || !memcmp(text, "--", 2)))
		return true;
	if (left > 2 && (!memcmp(text, "<<", 2) || !memcmp(text, ">>", 2)))
		text += 2;
	else if (left > 1 && strchr("+-*/%&|^", *text))
		text++;
	return text < end && *text == '=' && (text + 1 == end || text[1] != '=');
}

void osp_reading_arithmetic(struct osp_reading *reading, const char *text, size_t bytes)
{
	const char *end = text + bytes, *after;
	bool stepped = false; /* ++ or -- came before */

	for (const char *at = text; at < end; at = after) {
		size_t length = osp_value_name_length(at, end);

		if (!length) {
			after = at + 1;
			while (isdigit((unsigned char)*at) && after < end &&
			       isalnum((unsigned char)*after))
				after++; /* 0x1f */
			if (!isspace((unsigned char)*at))
				stepped = at > text && strchr("+-", *at) && at[-1] == *at;
			continue;
		}
		after = at + length;
		while (after < end && isspace((unsigned char)*after))
			after++;
		if (stepped || sets_before(after, end))
			osp_reading_end(reading, at, length, OSP_COURSE_UNSET);
		stepped = false;
	}
}

void osp_reading_hide(struct osp_reading *reading, const char *name, bool lasts)
{
	name = osp_arena_copy(&reading->script->arena, name, strlen(name));
	if (name)
		osp_course_hide(&reading->courses, name, lasts);
}

/* Ends what the variable was before a new setting, unless that is made of it, or counts only where
 * there is none; hides it from the command that has the new one for itself. */
static void replace(struct osp_reading *reading, const struct osp_setting *setting)
{
	if (setting->adds)
		change(reading, setting->name, strlen(setting->name), false);
	if (setting->fallback || setting->adds)
		return;
	if (reading->lasting)
		osp_reading_end(reading, setting->name, strlen(setting->name), OSP_COURSE_UNSET);
	if (!reading->lasting)
		osp_course_hide(&reading->courses, setting->name, false);
	else if (reading->outer && osp_flow_is_sure_in_text(&reading->courses.flow))
		osp_course_hide(&reading->courses, setting->name, true);
}

int osp_reading_add(struct osp_reading *reading, const char *name, size_t name_bytes,
		    const char *value, size_t value_bytes, const struct osp_shell_word *at)
{
	struct osp_setting setting = {.unexpanded = at->unexpanded,
				      .own = reading->alone,
				      .in_step =
					      reading->outer && (reading->step || reading->ranks),
				      .one_node = reading->one_node,
				      .line = at->line,
				      .column = at->column};
	struct osp_script *script = reading->script;
	enum osp_course_stand stands = OSP_COURSE_STANDS_NOT;
	char *known = NULL;

	if (script->count >= OSP_SCRIPT_SETTINGS_MAX) {
		reading->too_many = true;
		return -1;
	}
	osp_reading_place(reading, &setting.line, &setting.column);
	if (setting.unexpanded &&
	    osp_value_is_default(value, value_bytes, name, name_bytes, &value, &value_bytes)) {
		setting.unexpanded = false;
		setting.fallback = true;
	}
	setting.extends =
		setting.unexpanded && osp_value_extends(value, value_bytes, name, name_bytes);
	if (setting.unexpanded && !setting.extends && expand(reading, value, value_bytes, &known))
		return -1;
	setting.unexpanded &= !known;
	setting.name = osp_arena_copy(&script->arena, name, name_bytes);
	setting.value = known ? osp_arena_copy(&script->arena, known, strlen(known))
			      : osp_arena_copy(&script->arena, value, value_bytes);
	free(known);
	if (!setting.name || !setting.value)
		return -1;
	if (reading->adds) {
		setting.extends |= !setting.unexpanded;
		setting.unexpanded = true;
	}
	if ((setting.fallback || reading->yields) && may_compare(script))
		stands = osp_course_stands(&reading->courses, script->settings, setting.name,
					   reading->yields);
	setting.adds = reading->adds ||
		       (setting.unexpanded && osp_value_mentions(setting.value, setting.name));
	if (!reading->yields || stands == OSP_COURSE_STANDS_NOT)
		replace(reading, &setting);
	if (append(reading, &setting))
		return -1;
	if (is_exports(name, name_bytes)) {
		osp_reading_exports(reading, setting.unexpanded ? NULL : setting.value);
		reading->exports_once = !reading->lasting;
	}
	if (stands == OSP_COURSE_STANDS)
		osp_course_void(&reading->courses, script->settings);
	else if (stands == OSP_COURSE_MAY_STAND)
		script->settings[script->count - 1].doubt = OSP_DOUBT_BRANCH;
	return 0;
}

void osp_reading_export(struct osp_reading *reading, const char *name, size_t name_bytes)
{
	struct osp_script *script = reading->script;

	if (may_compare(script))
		osp_course_export(&reading->courses, script->settings, name, name_bytes);
}

/* Returns the length of what apptainer takes off a variable's name before it passes the variable
 * into a container; 0: nothing. */
static size_t container_prefix(const char *text)
{
	static const char *const prefixes[] = {"SINGULARITYENV_", "APPTAINERENV_"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (!strncmp(text, prefixes[i], strlen(prefixes[i])))
			return strlen(prefixes[i]);
	}
	return 0;
}

int osp_reading_assign(struct osp_reading *reading, const char *text, size_t bytes,
		       const struct osp_shell_word *at)
{
	size_t name_bytes, before, prefix = container_prefix(text);

	text += prefix;
	bytes -= prefix < bytes ? prefix : bytes;
	if (!osp_shell_is_assignment(text, &name_bytes) || name_bytes >= bytes)
		return 0;
	before = name_bytes + (text[name_bytes] == '+' ? 2 : 1);
	if (before > bytes)
		return 0;
	if (text[name_bytes] != '+' && at->unexpanded &&
	    osp_value_is_same(text + before, bytes - before, text, name_bytes)) {
		osp_reading_export(reading, text, name_bytes);
		return 0;
	}
	reading->adds = text[name_bytes] == '+';
	if (osp_reading_add(reading, text, name_bytes, text + before, bytes - before, at))
		return -1;
	reading->adds = false;
	if (prefix)
		osp_course_passes(&reading->courses);
	return 0;
}

int osp_reading_export_list(struct osp_reading *reading, const char *list,
			    const struct osp_shell_word *at)
{
	while (*list) {
		size_t length = 0, skip = 0;
		char quote = '\0';

		for (; list[length] && (quote || list[length] != ','); length++) {
			if (list[length] == '\'' || list[length] == '"')
				quote = !quote			? list[length]
					: quote == list[length] ? '\0'
								: quote;
		}
		if (length > 1 && (*list == '\'' || *list == '"') && list[length - 1] == *list)
			skip = 1;
		if (osp_reading_assign(reading, list + skip, length - 2 * skip, at))
			return -1;
		list += length + (list[length] == ',');
	}
	return 0;
}
