/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rules.c - which environment variables a job needs, which do harm, and why */
#include "lib/env/rules_private.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/env/folder.h"
#include "lib/base/glob.h"
#include "lib/base/text.h"

#define RULES_MAX 10000
#define WORDS_MAX 64 /* in one list */

static const char *const action_names[] = {
	[OSP_RULE_SET] = "set",
	[OSP_RULE_LEAVE] = "leave",
	[OSP_RULE_WARN] = "warn",
	[OSP_RULE_UNSET] = "unset",
};

static const char *const severity_names[] = {
	[OSP_SEVERITY_FATAL] = "fatal",	      [OSP_SEVERITY_HARMFUL] = "harmful",
	[OSP_SEVERITY_OBSOLETE] = "obsolete", [OSP_SEVERITY_MISSING] = "missing",
	[OSP_SEVERITY_NOTE] = "note",
};

const char *osp_severity_name(enum osp_severity severity)
{
	return severity_names[severity];
}

bool osp_rule_rules(const struct osp_rule *rule)
{
	return rule->action == OSP_RULE_SET || rule->action == OSP_RULE_LEAVE;
}

/* What the functions that read one rule share. */
struct reader {
	struct osp_rule_set *set;
	const struct osp_document *document;
	const char *file;
	struct osp_error *error;
};

static int no_memory(const struct reader *reader)
{
	return osp_error_at(reader->error, reader->file, 0, 0, "out of memory");
}

/* Reports an error in a value's own text, whose column counts in that text. */
static int wrong_text(const struct reader *reader, const struct osp_value *value,
		      const struct osp_error *cause)
{
	int into = cause->column > 0 ? cause->column - 1 : 0;

	return osp_error_at(reader->error, reader->file, value->line,
			    value->column + value->quoted + into, "%s%s%s",
			    value->key ? value->key : "", value->key ? ": " : "", cause->text);
}

/* --- lists ------------------------------------------------------------------------------------ */

static int take_string(const struct reader *reader, const struct osp_value *value, bool may_empty,
		       const char **word)
{
	if (may_empty && value->type == OSP_VALUE_SCALAR && value->quoted && !value->text[0]) {
		*word = value->text;
		return 0;
	}
	return osp_value_string(reader->document, value, word, reader->error);
}

/* Reads a word, or a list of words. */
static int take_words(const struct reader *reader, const struct osp_value *value, bool may_empty,
		      struct osp_word_list *list)
{
	bool many = value->type == OSP_VALUE_LIST;
	size_t count = many ? value->child_count : 1;
	const struct osp_value *one = many ? value->first : value;
	const char **words;

	if (count < 1 || count > WORDS_MAX)
		return osp_document_error(reader->document, value, reader->error,
					  "%s: 1 to %d words are expected", value->key, WORDS_MAX);
	words = osp_arena_take(&reader->set->arena, count * sizeof(*words));
	if (!words)
		return no_memory(reader);
	for (size_t i = 0; i < count; i++, one = one->next) {
		if (take_string(reader, one, may_empty, &words[i]))
			return -1;
	}
	list->words = words;
	list->count = count;
	return 0;
}

static bool is_variable(const char *name, bool may_pattern)
{
	if (isdigit((unsigned char)*name))
		return false;
	for (; *name; name++) {
		if (!isalnum((unsigned char)*name) && *name != '_' &&
		    !(may_pattern && strchr("*?", *name)))
			return false;
	}
	return true;
}

static int take_variables(const struct reader *reader, const struct osp_value *value,
			  struct osp_rule *rule)
{
	bool may_pattern = !osp_rule_rules(rule);

	if (take_words(reader, value, false, &rule->variables))
		return -1;
	for (size_t i = 0; i < rule->variables.count; i++) {
		if (!is_variable(rule->variables.words[i], may_pattern))
			return osp_document_error(
				reader->document, value, reader->error,
				"variable: a variable's name is expected, not '%.60s'%s",
				rule->variables.words[i],
				may_pattern ? ""
					    : " (a pattern only where action is warn or unset)");
	}
	return 0;
}

/* --- conditions ------------------------------------------------------------------------------- */

static int take_condition_text(const struct reader *reader, const char *name, const char *text,
			       const struct osp_word_list *words, const char **result)
{
	struct osp_text all = OSP_TEXT_INIT;
	char *string;

	osp_text_printf(&all, "%s ", name);
	if (text)
		osp_text_add(&all, text);
	for (size_t i = 0; i < words->count; i++)
		osp_text_printf(&all, "%s%s", i ? ", " : "", words->words[i]);
	string = osp_text_take(&all);
	*result = string ? osp_arena_copy(&reader->set->arena, string, strlen(string)) : NULL;
	free(string);
	return *result ? 0 : no_memory(reader);
}

static int take_range(const struct reader *reader, const struct osp_value *value,
		      struct osp_condition *condition)
{
	struct osp_error cause = {.text = ""};

	if (value->type == OSP_VALUE_SCALAR &&
	    !osp_range_parse(value->text, &condition->range, &cause))
		return 0;
	if (cause.text[0])
		return wrong_text(reader, value, &cause);
	return osp_document_error(reader->document, value, reader->error,
				  "%s: a range, as \">=1.16,<1.18\", is expected", value->key);
}

/* Checks that each pattern matches one of the few words of a fact, if it has such: a misspelt one
 * never holds. */
static int check_words(const struct reader *reader, const struct osp_value *value,
		       const struct osp_word_list *list)
{
	const struct osp_value *one = value->type == OSP_VALUE_LIST ? value->first : value;
	const char *const *words;
	size_t count = 0, word, which;

	words = osp_catalogue_words(value->key, &count);
	for (size_t i = 0; words && i < list->count; i++, one = one->next) {
		for (word = 0; word < count && !osp_glob_matches(list->words[i], words[word]);)
			word++;
		if (word < count)
			continue;
		if (osp_value_choice(reader->document, one, words, count, &which, reader->error))
			return -1;
		return osp_document_error(reader->document, one, reader->error,
					  "%s: %s is expected, not '%.40s'", value->key,
					  words[which], list->words[i]);
	}
	return 0;
}

static int take_condition(const struct reader *reader, const struct osp_value *value,
			  struct osp_condition *condition)
{
	struct osp_error cause = {.text = ""};
	const char *text = NULL;
	int rc = 0;

	if (osp_fact_find(value->key, &condition->fact, &cause))
		return osp_error_at(reader->error, reader->file, value->key_line, value->key_column,
				    "%s", cause.text);
	switch (osp_fact_kind(condition->fact)) {
	case OSP_FACT_VERSION:
	case OSP_FACT_NUMBER:
		rc = take_range(reader, value, condition);
		text = value->text;
		break;
	case OSP_FACT_FLAG:
		rc = osp_value_bool(reader->document, value, &condition->flag, reader->error);
		text = condition->flag ? "yes" : "no";
		break;
	case OSP_FACT_WORD:
		rc = take_words(reader, value, false, &condition->words);
		if (!rc)
			rc = check_words(reader, value, &condition->words);
		break;
	}
	return rc ? -1
		  : take_condition_text(reader, value->key, text, &condition->words,
					&condition->text);
}

static int take_conditions(const struct reader *reader, const struct osp_value *map,
			   struct osp_rule *rule)
{
	struct osp_condition *conditions;
	size_t count = 0;

	if (map->type != OSP_VALUE_MAP)
		return osp_document_error(reader->document, map, reader->error,
					  "when: a map of facts is expected");
	if (!map->child_count)
		return 0;
	if (map->child_count > OSP_FACT_COUNT)
		return osp_document_error(reader->document, map, reader->error,
					  "when: more facts than there are");
	conditions = osp_arena_take(&reader->set->arena, map->child_count * sizeof(*conditions));
	if (!conditions)
		return no_memory(reader);
	for (const struct osp_value *v = map->first; v; v = v->next) {
		if (take_condition(reader, v, &conditions[count++]))
			return -1;
	}
	rule->conditions = conditions;
	rule->condition_count = count;
	return 0;
}

/* --- one rule --------------------------------------------------------------------------------- */

/* Checks that every ${name} names a fact that is a word. */
static int check_value(const struct reader *reader, const struct osp_value *value)
{
	const char *at = value->text, *end;
	struct osp_error cause = {.text = ""};
	enum osp_fact_id id;
	char name[64];

	for (at = strstr(at, "${"); at; at = strstr(end, "${")) {
		end = strchr(at, '}');
		cause.column = (int)(at - value->text) + 1;
		if (!end || (size_t)(end - at - 2) >= sizeof(name)) {
			osp_error_at(&cause, NULL, 0, cause.column, "${fact} is expected");
			return wrong_text(reader, value, &cause);
		}
		memcpy(name, at + 2, (size_t)(end - at - 2));
		name[end - at - 2] = '\0';
		if (!osp_fact_find(name, &id, &cause) && osp_fact_kind(id) == OSP_FACT_WORD)
			continue;
		if (!cause.text[0])
			osp_error_at(&cause, NULL, 0, 0, "${%s} is no word", name);
		cause.column = (int)(at - value->text) + 3;
		return wrong_text(reader, value, &cause);
	}
	return 0;
}

static int lacks(const struct reader *reader, const struct osp_rule *rule, const char *what)
{
	return osp_error_at(reader->error, reader->file, rule->line, rule->column, "rule %.60s: %s",
			    rule->id, what);
}

/* Checks what an action needs and what it cannot have. */
static int check_shape(const struct reader *reader, const struct osp_rule *rule)
{
	bool reports = !osp_rule_rules(rule);

	if (rule->action == OSP_RULE_SET && !rule->value)
		return lacks(reader, rule, "action set needs a value");
	if (rule->action != OSP_RULE_SET && rule->value)
		return lacks(reader, rule, "only action set has a value");
	if (rule->action != OSP_RULE_WARN && !rule->variables.count)
		return lacks(reader, rule, "needs a variable");
	if (!reports && (rule->is.count || rule->is_not.count))
		return lacks(reader, rule, "only actions warn and unset have is and not");
	if (!rule->variables.count && (rule->is.count || rule->is_not.count))
		return lacks(reader, rule, "is and not need a variable");
	if (!rule->variables.count && !rule->condition_count)
		return lacks(reader, rule, "needs a variable or a condition");
	if (reports && rule->severity == OSP_SEVERITY_MISSING)
		return lacks(reader, rule, "severity missing goes with action set");
	if (reports && !rule->cure)
		return lacks(reader, rule, "actions warn and unset need a cure");
	return 0;
}

static const char *const rule_keys[] = {"id",  "when",	   "action", "variable", "value", "is",
					"not", "severity", "reason", "cure",	 "source"};

#define RULE_KEY_COUNT (sizeof(rule_keys) / sizeof(rule_keys[0]))

/* Reads a word that every rule has (`must`) or may have. */
static int take_text(const struct reader *reader, const struct osp_value *map, const char *key,
		     bool must, const char **result)
{
	const struct osp_value *value = osp_value_get(map, key);

	if (!value && !must)
		return 0;
	if (!value)
		return osp_document_error(reader->document, map, reader->error,
					  "a rule needs the key %s", key);
	return osp_value_string(reader->document, value, result, reader->error);
}

static int take_choices(const struct reader *reader, const struct osp_value *map,
			struct osp_rule *rule)
{
	const struct osp_value *action = osp_value_get(map, "action");
	const struct osp_value *severity = osp_value_get(map, "severity");
	size_t index;

	if (!action || !severity)
		return osp_document_error(reader->document, map, reader->error,
					  "a rule needs the key %s",
					  action ? "severity" : "action");
	if (osp_value_choice(reader->document, action, action_names, 4, &index, reader->error))
		return -1;
	rule->action = (enum osp_rule_action)index;
	if (osp_value_choice(reader->document, severity, severity_names, 5, &index, reader->error))
		return -1;
	rule->severity = (enum osp_severity)index;
	return 0;
}

static int take_rule(const struct reader *reader, const struct osp_value *map,
		     struct osp_rule *rule)
{
	const struct osp_value *value;

	if (osp_value_only_keys(reader->document, map, rule_keys, RULE_KEY_COUNT, reader->error) ||
	    take_text(reader, map, "id", true, &rule->id) || take_choices(reader, map, rule) ||
	    take_text(reader, map, "reason", true, &rule->reason) ||
	    take_text(reader, map, "cure", false, &rule->cure) ||
	    take_text(reader, map, "source", true, &rule->source))
		return -1;
	value = osp_value_get(map, "when");
	if (value && take_conditions(reader, value, rule))
		return -1;
	value = osp_value_get(map, "variable");
	if (value && take_variables(reader, value, rule))
		return -1;
	value = osp_value_get(map, "value");
	if (value && (osp_value_string(reader->document, value, &rule->value, reader->error) ||
		      check_value(reader, value)))
		return -1;
	value = osp_value_get(map, "is");
	if (value && take_words(reader, value, true, &rule->is))
		return -1;
	value = osp_value_get(map, "not");
	if (value && take_words(reader, value, true, &rule->is_not))
		return -1;
	return check_shape(reader, rule);
}

/* --- files ------------------------------------------------------------------------------------ */

/* Removes the rule of a lower rank that has the same id. */
static int make_place(struct osp_rule_set *set, const struct osp_rule *rule,
		      struct osp_error *error)
{
	size_t room = set->room ? set->room * 2 : 128;
	struct osp_rule *larger;

	for (size_t i = 0; i < set->count; i++) {
		const struct osp_rule *old = &set->rules[i];

		if (strcmp(old->id, rule->id) != 0)
			continue;
		if (old->rank == rule->rank)
			return osp_error_at(error, rule->file, rule->line, rule->column,
					    "rule %.60s is given twice (first at %s:%d)", rule->id,
					    old->file, old->line);
		memmove(&set->rules[i], &set->rules[i + 1],
			(set->count - i - 1) * sizeof(*set->rules));
		set->count--;
		return 0;
	}
	if (set->count < set->room)
		return 0;
	if (set->count >= RULES_MAX)
		return osp_error_at(error, rule->file, rule->line, rule->column,
				    "more than %d rules", RULES_MAX);
	larger = realloc(set->rules, room * sizeof(*larger));
	if (!larger)
		return osp_error_at(error, rule->file, 0, 0, "out of memory");
	set->rules = larger;
	set->room = room;
	return 0;
}

static int take_file(const struct reader *reader, uint32_t rank)
{
	static const char *const keys[] = {"rules"};
	const struct osp_value *root = osp_document_root(reader->document), *list;

	if (osp_value_only_keys(reader->document, root, keys, 1, reader->error))
		return -1;
	list = osp_value_get(root, "rules");
	if (!list)
		return 0;
	if (list->type != OSP_VALUE_LIST)
		return osp_document_error(reader->document, list, reader->error,
					  "rules: a list of rules is expected");
	for (const struct osp_value *map = list->first; map; map = map->next) {
		struct osp_rule rule = {.file = reader->file,
					.line = map->line,
					.column = map->column,
					.rank = rank};

		if (take_rule(reader, map, &rule) || make_place(reader->set, &rule, reader->error))
			return -1;
		reader->set->rules[reader->set->count++] = rule;
		osp_rules_note_names(reader->set, &rule);
	}
	return 0;
}

int osp_rules_add(struct osp_rule_set *set, uint32_t rank, const char *name, const char *text,
		  size_t text_bytes, struct osp_error *error)
{
	struct reader reader = {.set = set, .error = error};
	struct osp_rule_file *file;

	if (text_bytes > OSP_FOLDER_FILE_BYTES_MAX)
		return osp_error_at(error, name, 0, 0, "larger than %zu bytes",
				    OSP_FOLDER_FILE_BYTES_MAX);
	file = osp_arena_take(&set->arena, sizeof(*file));
	reader.file = osp_arena_copy(&set->arena, name, strlen(name));
	if (!file || !reader.file)
		return osp_error_at(error, name, 0, 0, "out of memory");
	file->document = osp_document_read(name, text, text_bytes, error);
	if (!file->document)
		return -1;
	file->next = set->files;
	set->files = file;
	reader.document = file->document;
	if (rank > set->top_rank)
		set->top_rank = rank;
	return take_file(&reader, rank);
}

static int add_ours(void *context, const char *path, const char *text, size_t text_bytes,
		    struct osp_error *error)
{
	return osp_rules_add(context, 0, path, text, text_bytes, error);
}

static int add_site(void *context, const char *path, const char *text, size_t text_bytes,
		    struct osp_error *error)
{
	struct osp_rule_set *set = context;

	return osp_rules_add(set, set->top_rank + 1, path, text, text_bytes, error);
}

int osp_rules_add_folder(struct osp_rule_set *set, const char *folder, int site,
			 struct osp_error *error)
{
	return osp_folder_read(folder, site, site ? add_site : add_ours, set, error) < 0 ? -1 : 0;
}

struct osp_rule_set *osp_rules_read(const char *data, const char *site, struct osp_error *error)
{
	struct osp_rule_set *rules = osp_rules_new(error);
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%s/rules", data);
	if (rules && !osp_rules_add_folder(rules, folder, 0, error)) {
		snprintf(folder, sizeof(folder), "%s/rules.d", site ? site : "");
		if ((!site || !osp_rules_add_folder(rules, folder, 1, error)) &&
		    !osp_rules_finish(rules, error))
			return rules;
	}
	osp_rules_free(rules);
	return NULL;
}

struct osp_rule_set *osp_rules_new(struct osp_error *error)
{
	struct osp_rule_set *set = calloc(1, sizeof(*set));

	if (!set)
		osp_error_set(error, "out of memory");
	return set;
}

void osp_rules_free(struct osp_rule_set *set)
{
	if (!set)
		return;
	for (struct osp_rule_file *file = set->files; file; file = file->next)
		osp_document_free(file->document);
	osp_arena_free(&set->arena);
	free(set->rules);
	free(set->image);
	free(set);
}
