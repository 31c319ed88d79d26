/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rules_image.c - a finished set of rules as an image, which is loaded without reading YAML */
#include "onespine_config.h"
#include "lib/cache/rules_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/private_file.h"
#include "lib/base/text.h"
#include "lib/env/rules_private.h"

#define ALL_FILE "rules"
#define SET_FILE "rules-set" /* those that decide what is set */
#define MAGIC	 "onespine-rules " VERSION

/* Followed by `count` rules, and then by what they point to. Pointers are offsets in the image; 0:
 * NULL. */
struct header {
	char magic[40];
	uint64_t stamp;
	uint64_t rule_bytes, condition_bytes; /* of this build's records */
	uint64_t count;
};

/* --- making ----------------------------------------------------------------------------------- */

/* Adds bytes at an offset that is aligned for any type; returns the offset. */
static size_t add(struct osp_text *image, const void *bytes, size_t count)
{
	static const char zeros[sizeof(max_align_t)];
	size_t over = image->length_bytes % sizeof(zeros), place;

	if (over)
		osp_text_add_bytes(image, zeros, sizeof(zeros) - over);
	place = image->length_bytes;
	osp_text_add_bytes(image, bytes, count);
	return image->failed ? 0 : place;
}

static const char *add_string(struct osp_text *image, const char *string)
{
	size_t place = image->length_bytes;

	if (!string)
		return NULL;
	osp_text_add_bytes(image, string, strlen(string) + 1);
	return (const char *)(uintptr_t)place;
}

static struct osp_word_list add_words(struct osp_text *image, const struct osp_word_list *list)
{
	struct osp_word_list result = {.count = list->count};
	const char **words = calloc(list->count + 1, sizeof(*words));

	for (size_t i = 0; words && i < list->count; i++)
		words[i] = add_string(image, list->words[i]);
	if (words && list->count)
		result.words = (const char *const *)(uintptr_t)add(image, words,
								   list->count * sizeof(*words));
	image->failed |= !words;
	free(words);
	return result;
}

static const struct osp_condition *add_conditions(struct osp_text *image,
						  const struct osp_rule *rule)
{
	struct osp_condition *conditions = calloc(rule->condition_count + 1, sizeof(*conditions));
	size_t place = 0;

	for (size_t i = 0; conditions && i < rule->condition_count; i++) {
		conditions[i] = rule->conditions[i];
		conditions[i].words = add_words(image, &rule->conditions[i].words);
		conditions[i].text = add_string(image, rule->conditions[i].text);
	}
	if (conditions && rule->condition_count)
		place = add(image, conditions, rule->condition_count * sizeof(*conditions));
	image->failed |= !conditions;
	free(conditions);
	return (const struct osp_condition *)(uintptr_t)place;
}

static void add_rule(struct osp_text *image, const struct osp_rule *rule, struct osp_rule *kept)
{
	*kept = *rule;
	kept->id = add_string(image, rule->id);
	kept->file = add_string(image, rule->file);
	kept->value = add_string(image, rule->value);
	kept->reason = add_string(image, rule->reason);
	kept->cure = add_string(image, rule->cure);
	kept->source = add_string(image, rule->source);
	kept->variables = add_words(image, &rule->variables);
	kept->is = add_words(image, &rule->is);
	kept->is_not = add_words(image, &rule->is_not);
	kept->conditions = add_conditions(image, rule);
}

static struct header header_of(uint64_t stamp, size_t count)
{
	struct header header = {.stamp = stamp,
				.rule_bytes = sizeof(struct osp_rule),
				.condition_bytes = sizeof(struct osp_condition),
				.count = count};

	snprintf(header.magic, sizeof(header.magic), "%s", MAGIC);
	return header;
}

char *osp_rules_image(const struct osp_rule_set *rules, uint64_t stamp, size_t *image_bytes)
{
	struct header header = header_of(stamp, rules->count);
	struct osp_rule *kept = calloc(rules->count + 1, sizeof(*kept));
	struct osp_text image = OSP_TEXT_INIT;

	if (!kept)
		return NULL;
	osp_text_add_bytes(&image, (const char *)&header, sizeof(header));
	osp_text_add_bytes(&image, (const char *)kept, rules->count * sizeof(*kept));
	for (size_t i = 0; i < rules->count; i++)
		add_rule(&image, &rules->rules[i], &kept[i]);
	if (!image.failed)
		memcpy(image.data + sizeof(header), kept, rules->count * sizeof(*kept));
	free(kept);
	*image_bytes = image.length_bytes;
	return osp_text_take(&image);
}

/* --- loading ---------------------------------------------------------------------------------- */

struct image {
	char *data;
	size_t bytes;
	bool bad;
};

/* Returns the address of an offset, after which the image must have `count` bytes. */
static void *at(struct image *image, const void *place, size_t count)
{
	uintptr_t offset = (uintptr_t)place;

	if (!offset)
		return NULL;
	if (offset > image->bytes || count > image->bytes - offset) {
		image->bad = true;
		return NULL;
	}
	return image->data + offset;
}

/* Sets a string's address. The image ends with a zero, so each string in it ends. */
static void string_at(struct image *image, const char **string)
{
	*string = at(image, *string, 1);
}

static void words_at(struct image *image, struct osp_word_list *list)
{
	const char **words = at(image, list->words, list->count * sizeof(*words));

	for (size_t i = 0; words && i < list->count; i++)
		string_at(image, &words[i]);
	list->words = words;
	image->bad |= list->count && !words;
}

static void rule_at(struct image *image, struct osp_rule *rule)
{
	struct osp_condition *conditions =
		at(image, rule->conditions, rule->condition_count * sizeof(*conditions));

	string_at(image, &rule->id);
	string_at(image, &rule->file);
	string_at(image, &rule->value);
	string_at(image, &rule->reason);
	string_at(image, &rule->cure);
	string_at(image, &rule->source);
	words_at(image, &rule->variables);
	words_at(image, &rule->is);
	words_at(image, &rule->is_not);
	for (size_t i = 0; conditions && i < rule->condition_count; i++) {
		string_at(image, &conditions[i].text);
		words_at(image, &conditions[i].words);
	}
	rule->conditions = conditions;
	image->bad |= rule->condition_count && !conditions;
}

static bool header_fits(const char *data, size_t bytes, uint64_t stamp)
{
	struct header header, wanted;

	if (bytes < sizeof(header))
		return false;
	memcpy(&header, data, sizeof(header));
	wanted = header_of(stamp, header.count);
	return !memcmp(&header, &wanted, sizeof(header)) &&
	       header.count <= (bytes - sizeof(header)) / sizeof(struct osp_rule);
}

struct osp_rule_set *osp_rules_of_image(char *data, size_t bytes, uint64_t stamp)
{
	struct image image = {.data = data, .bytes = bytes};
	struct osp_rule_set *set = NULL;
	struct header header;

	if (header_fits(data, bytes, stamp))
		set = calloc(1, sizeof(*set));
	if (set) {
		memcpy(&header, data, sizeof(header));
		set->rules = calloc(header.count + 1, sizeof(*set->rules));
		image.bad = !set->rules;
	}
	if (!set) {
		free(data);
		return NULL;
	}
	set->image = data;
	if (set->rules) {
		set->count = set->room = header.count;
		memcpy(set->rules, data + sizeof(header), header.count * sizeof(*set->rules));
		for (size_t i = 0; i < set->count && !image.bad; i++) {
			rule_at(&image, &set->rules[i]);
			if (!image.bad)
				osp_rules_note_names(set, &set->rules[i]);
		}
	}
	if (!image.bad)
		return set;
	osp_rules_free(set);
	return NULL;
}

/* --- both ------------------------------------------------------------------------------------- */

struct osp_rule_set *osp_rules_know(const struct osp_node_source *source,
				    const struct osp_node_known *known, bool reports,
				    struct osp_error *error)
{
	const char *file = reports ? ALL_FILE : SET_FILE;
	const char *folder = known->stamp ? source->folder : NULL;
	struct osp_rule_set *rules = NULL;
	size_t bytes = 0;
	char *image;

	image = folder ? osp_private_read(folder, file, &bytes) : NULL;
	if (image)
		rules = osp_rules_of_image(image, bytes, known->stamp);
	if (rules)
		return rules;
	rules = osp_rules_read(source->data, source->site, error);
	if (!rules)
		return NULL;
	osp_rules_narrow(rules, &known->hardware);
	if (!reports)
		osp_rules_narrow_to_set(rules);
	image = folder ? osp_rules_image(rules, known->stamp, &bytes) : NULL;
	if (image)
		osp_private_write(folder, file, image, bytes);
	free(image);
	return rules;
}
