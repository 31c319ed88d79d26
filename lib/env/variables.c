/* SPDX-License-Identifier: GPL-2.0-or-later */
/* variables.c - reads the table of known variables and judges names by it */
#include "lib/env/variables.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/base/document.h"
#include "lib/env/folder.h"
#include "lib/base/glob.h"
#include "lib/base/text.h"

#define FAMILIES_MAX 64
#define NAMES_MAX    5000 /* in one family */

struct name {
	const char *name;
	const char *text; /* the range as written, "" for all releases */
	struct osp_range range;
};

struct family {
	const char *prefix, *of, *releases, *source;
	enum osp_fact_id fact; /* OSP_FACT_COUNT: no fact holds its version */
	const char **others;
	size_t other_count;
	struct name *names;
	const char **rests; /* of the names, after the prefix */
	size_t name_count;
};

struct document_node {
	struct document_node *next;
	struct osp_document *document;
};

struct osp_variables {
	struct osp_arena arena;
	struct document_node *documents; /* hold the strings */
	struct family families[FAMILIES_MAX];
	size_t family_count;
};

/* What the functions that read one file share. */
struct reader {
	struct osp_variables *variables;
	const struct osp_document *document;
	const char *file;
	struct osp_error *error;
};

/* --- reading ---------------------------------------------------------------------------------- */

static int no_memory(const struct reader *reader)
{
	return osp_error_at(reader->error, reader->file, 0, 0, "out of memory");
}

static int take_text(const struct reader *reader, const struct osp_value *map, const char *key,
		     const char **text)
{
	const struct osp_value *value = osp_value_get(map, key);

	if (!value)
		return osp_document_error(reader->document, map, reader->error,
					  "a family needs '%s'", key);
	return osp_value_string(reader->document, value, text, reader->error);
}

static int take_fact(const struct reader *reader, const struct osp_value *value,
		     enum osp_fact_id *fact)
{
	struct osp_error cause = {.text = ""};
	const char *word;

	*fact = OSP_FACT_COUNT;
	if (!value)
		return 0;
	if (osp_value_string(reader->document, value, &word, reader->error))
		return -1;
	if (osp_fact_find(word, fact, &cause))
		return osp_document_error(reader->document, value, reader->error, "fact: %s",
					  cause.text);
	if (osp_fact_kind(*fact) != OSP_FACT_VERSION)
		return osp_document_error(reader->document, value, reader->error,
					  "fact: '%s' is no version", word);
	return 0;
}

static int take_others(const struct reader *reader, const struct osp_value *list,
		       struct family *family)
{
	const struct osp_value *one = list ? list->first : NULL;

	if (!list)
		return 0;
	if (list->type != OSP_VALUE_LIST || list->child_count > NAMES_MAX)
		return osp_document_error(reader->document, list, reader->error,
					  "others: a list of names and patterns is expected");
	family->others = osp_arena_take(&reader->variables->arena,
					(list->child_count + 1) * sizeof(*family->others));
	if (!family->others)
		return no_memory(reader);
	for (; one; one = one->next) {
		if (osp_value_string(reader->document, one, &family->others[family->other_count++],
				     reader->error))
			return -1;
	}
	return 0;
}

static int take_range(const struct reader *reader, const struct osp_value *value, struct name *name)
{
	struct osp_error cause = {.text = ""};

	if (value->type != OSP_VALUE_SCALAR)
		return osp_document_error(reader->document, value, reader->error,
					  "%.60s: a range of releases is expected, or \"\"",
					  value->key);
	name->name = value->key;
	name->text = value->text;
	if (*name->text && osp_range_parse(name->text, &name->range, &cause))
		return osp_document_error(reader->document, value, reader->error, "%.60s: %s",
					  value->key, cause.text);
	return 0;
}

static int take_names(const struct reader *reader, const struct osp_value *map,
		      struct family *family)
{
	size_t prefix_bytes = strlen(family->prefix);

	if (!map || map->type != OSP_VALUE_MAP || map->child_count > NAMES_MAX)
		return osp_document_error(
			reader->document, map ? map : osp_document_root(reader->document),
			reader->error, "names: a map of at most %d variables is expected",
			NAMES_MAX);
	family->names = osp_arena_take(&reader->variables->arena,
				       (map->child_count + 1) * sizeof(*family->names));
	family->rests = osp_arena_take(&reader->variables->arena,
				       (map->child_count + 1) * sizeof(*family->rests));
	if (!family->names || !family->rests)
		return no_memory(reader);
	for (const struct osp_value *value = map->first; value; value = value->next) {
		if (strncmp(value->key, family->prefix, prefix_bytes))
			return osp_error_at(reader->error, reader->file, value->key_line,
					    value->key_column, "%.60s does not begin with %s",
					    value->key, family->prefix);
		family->rests[family->name_count] = value->key + prefix_bytes;
		if (take_range(reader, value, &family->names[family->name_count++]))
			return -1;
	}
	return 0;
}

/* Returns the place of a family: that of the same prefix, which a site's file replaces, or a new
 * one. */
static struct family *place_for(struct osp_variables *variables, const char *prefix)
{
	for (size_t i = 0; i < variables->family_count; i++) {
		if (!strcmp(variables->families[i].prefix, prefix))
			return &variables->families[i];
	}
	return variables->family_count < FAMILIES_MAX
		       ? &variables->families[variables->family_count++]
		       : NULL;
}

static int take_family(const struct reader *reader, const struct osp_value *map)
{
	static const char *const keys[] = {"prefix", "of",     "fact", "releases",
					   "source", "others", "names"};
	struct family family = {.prefix = NULL}, *place;

	if (map->type != OSP_VALUE_MAP)
		return osp_document_error(reader->document, map, reader->error,
					  "a family (prefix, of, ...) is expected");
	if (osp_value_only_keys(reader->document, map, keys, sizeof(keys) / sizeof(*keys),
				reader->error) ||
	    take_text(reader, map, "prefix", &family.prefix) ||
	    take_text(reader, map, "of", &family.of) ||
	    take_text(reader, map, "releases", &family.releases) ||
	    take_text(reader, map, "source", &family.source) ||
	    take_fact(reader, osp_value_get(map, "fact"), &family.fact) ||
	    take_others(reader, osp_value_get(map, "others"), &family) ||
	    take_names(reader, osp_value_get(map, "names"), &family))
		return -1;
	place = place_for(reader->variables, family.prefix);
	if (!place)
		return osp_document_error(reader->document, map, reader->error,
					  "more than %d families", FAMILIES_MAX);
	*place = family;
	return 0;
}

int osp_variables_add(struct osp_variables *variables, const char *file, const char *text,
		      size_t text_bytes, struct osp_error *error)
{
	static const char *const keys[] = {"families"};
	struct reader reader = {.variables = variables, .file = file, .error = error};
	struct document_node *node = calloc(1, sizeof(*node));
	const struct osp_value *root, *families;

	if (!node)
		return no_memory(&reader);
	node->document = osp_document_read(file, text, text_bytes, error);
	if (!node->document) {
		free(node);
		return -1;
	}
	node->next = variables->documents;
	variables->documents = node;
	reader.document = node->document;
	root = osp_document_root(node->document);
	if (osp_value_only_keys(node->document, root, keys, 1, error))
		return -1;
	families = osp_value_get(root, "families");
	if (families && families->type != OSP_VALUE_LIST)
		return osp_document_error(node->document, families, error,
					  "families: a list is expected");
	for (const struct osp_value *map = families ? families->first : NULL; map;
	     map = map->next) {
		if (take_family(&reader, map))
			return -1;
	}
	return 0;
}

static int add_file(void *context, const char *path, const char *text, size_t text_bytes,
		    struct osp_error *error)
{
	return osp_variables_add(context, path, text, text_bytes, error);
}

struct osp_variables *osp_variables_new(struct osp_error *error)
{
	struct osp_variables *variables = calloc(1, sizeof(*variables));

	if (!variables)
		osp_error_set(error, "out of memory");
	return variables;
}

struct osp_variables *osp_variables_read(const char *data, const char *site,
					 struct osp_error *error)
{
	struct osp_variables *variables = osp_variables_new(error);
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%s/variables", data);
	if (variables && osp_folder_read(folder, 0, add_file, variables, error) >= 0) {
		snprintf(folder, sizeof(folder), "%s/variables.d", site ? site : "");
		if (!site || osp_folder_read(folder, 1, add_file, variables, error) >= 0)
			return variables;
	}
	osp_variables_free(variables);
	return NULL;
}

void osp_variables_free(struct osp_variables *variables)
{
	struct document_node *next;

	if (!variables)
		return;
	for (struct document_node *node = variables->documents; node; node = next) {
		next = node->next;
		osp_document_free(node->document);
		free(node);
	}
	osp_arena_free(&variables->arena);
	free(variables);
}

/* --- judging ---------------------------------------------------------------------------------- */

static const struct family *family_of(const struct osp_variables *variables, const char *name)
{
	const struct family *best = NULL;

	for (size_t i = 0; i < variables->family_count; i++) {
		const struct family *family = &variables->families[i];
		size_t bytes = strlen(family->prefix);

		if (!strncmp(name, family->prefix, bytes) &&
		    (!best || bytes > strlen(best->prefix)))
			best = family;
	}
	return best;
}

static bool is_others(const struct family *family, const char *name)
{
	for (size_t i = 0; i < family->other_count; i++) {
		if (osp_glob_matches(family->others[i], name))
			return true;
	}
	return false;
}

/* Returns the nearest name by the part after the prefix, which all names share. */
static const char *nearest_name(const struct family *family, const char *name)
{
	size_t prefix_bytes = strlen(family->prefix);
	const char *rest = osp_nearest_word(name + prefix_bytes, family->rests, family->name_count);

	return rest ? rest - prefix_bytes : NULL;
}

/* Returns whether the range has no upper bound, so that the newest release reads the variable. */
static bool newest_reads(const struct name *name)
{
	for (uint32_t i = 0; *name->text && i < name->range.count; i++) {
		if (name->range.bounds[i].sign == OSP_BOUND_BELOW ||
		    name->range.bounds[i].sign == OSP_BOUND_AT_MOST)
			return false;
	}
	return true;
}

static void judge_release(const struct family *family, const struct name *name,
			  const struct osp_facts *facts, struct osp_variable_judgement *judgement)
{
	const struct osp_fact *fact =
		family->fact < OSP_FACT_COUNT ? &facts->facts[family->fact] : NULL;
	enum osp_truth reads = !*name->text	     ? OSP_YES
			       : fact && fact->known ? osp_range_holds(&name->range, &fact->version)
						     : OSP_UNKNOWN;

	judgement->state = OSP_VARIABLE_READ;
	judgement->range = name->text;
	if (reads == OSP_NO || (reads == OSP_UNKNOWN && !newest_reads(name)))
		judgement->state = OSP_VARIABLE_MISSED;
}

void osp_variables_judge(const struct osp_variables *variables, const struct osp_facts *facts,
			 const char *name, struct osp_variable_judgement *judgement)
{
	const struct family *family = family_of(variables, name);

	*judgement = (struct osp_variable_judgement){.state = OSP_VARIABLE_FOREIGN};
	if (!family || !name[strlen(family->prefix)])
		return;
	judgement->of = family->of;
	judgement->releases = family->releases;
	judgement->source = family->source;
	for (size_t i = 0; i < family->name_count; i++) {
		if (!strcmp(family->names[i].name, name)) {
			judge_release(family, &family->names[i], facts, judgement);
			return;
		}
	}
	judgement->state = is_others(family, name) ? OSP_VARIABLE_READ : OSP_VARIABLE_UNKNOWN;
	if (judgement->state == OSP_VARIABLE_UNKNOWN)
		judgement->nearest = nearest_name(family, name);
}
