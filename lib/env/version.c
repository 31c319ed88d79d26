/* SPDX-License-Identifier: GPL-2.0-or-later */
/* version.c - versions of software, and ranges of them */
#include "lib/env/version.h"

#include <ctype.h>
#include <string.h>

#define NUMBER_MAX 4000000000u

struct cursor {
	const char *text; /* the whole text, for the column */
	const char *at;
	struct osp_error *error;
};

static int refuse(const struct cursor *cursor, const char *expected)
{
	int column = (int)(cursor->at - cursor->text) + 1;

	if (!*cursor->at)
		return osp_error_at(cursor->error, NULL, 0, column,
				    "%s is expected at the end of '%.40s'", expected, cursor->text);
	return osp_error_at(cursor->error, NULL, 0, column, "%s is expected at '%.20s' of '%.40s'",
			    expected, cursor->at, cursor->text);
}

static int take_number(struct cursor *cursor, uint32_t *number)
{
	const char *start = cursor->at;
	uint64_t value = 0;

	while (isdigit((unsigned char)*cursor->at)) {
		value = value * 10 + (uint64_t)(*cursor->at - '0');
		if (value > NUMBER_MAX) {
			cursor->at = start;
			return refuse(cursor, "a smaller number");
		}
		cursor->at++;
	}
	if (cursor->at == start)
		return refuse(cursor, "a number");
	*number = (uint32_t)value;
	return 0;
}

static bool takes_word(struct cursor *cursor, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(cursor->at, word, length) != 0)
		return false;
	cursor->at += length;
	return true;
}

static bool ends_version(char c)
{
	return !c || c == ',' || isspace((unsigned char)c);
}

static void skip_mark(struct cursor *cursor)
{
	while (!ends_version(*cursor->at))
		cursor->at++;
}

/* Reads the mark that a packager or the maker of a preview wrote after the numbers. */
static int take_mark(struct cursor *cursor, struct osp_version *version)
{
	bool separated = *cursor->at == '-' || *cursor->at == '+' || *cursor->at == '~';

	if (ends_version(*cursor->at))
		return 0;
	if (takes_word(cursor, "amzn"))
		return take_number(cursor, &version->packager) ? -1 : (skip_mark(cursor), 0);
	cursor->at += separated;
	if (takes_word(cursor, "rc") || takes_word(cursor, "alpha") || takes_word(cursor, "beta"))
		version->before = true;
	else if (!separated)
		return refuse(cursor, "a dot, a comma or the end");
	skip_mark(cursor);
	return 0;
}

static int take_version(struct cursor *cursor, struct osp_version *version)
{
	memset(version, 0, sizeof(*version));
	do {
		if (version->count == OSP_VERSION_PARTS)
			return refuse(cursor, "no fifth number");
		cursor->at += version->count > 0;
		if (take_number(cursor, &version->parts[version->count]))
			return -1;
		version->count++;
	} while (*cursor->at == '.');
	return take_mark(cursor, version);
}

int osp_version_parse(const char *text, struct osp_version *version, struct osp_error *error)
{
	struct cursor cursor = {text, text, error};
	struct osp_version result;

	if (take_version(&cursor, &result))
		return -1;
	if (*cursor.at)
		return refuse(&cursor, "the end");
	*version = result;
	return 0;
}

static enum osp_bound_sign take_sign(struct cursor *cursor)
{
	static const struct {
		const char *text;
		enum osp_bound_sign sign;
	} signs[] = {
		{">=", OSP_BOUND_AT_LEAST}, {"<=", OSP_BOUND_AT_MOST}, {"!=", OSP_BOUND_UNEQUAL},
		{">", OSP_BOUND_ABOVE},	    {"<", OSP_BOUND_BELOW},    {"=", OSP_BOUND_EQUAL},
	};

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (takes_word(cursor, signs[i].text))
			return signs[i].sign;
	}
	return OSP_BOUND_EQUAL;
}

static void skip_blanks(struct cursor *cursor)
{
	while (*cursor->at == ' ' || *cursor->at == '\t')
		cursor->at++;
}

int osp_range_parse(const char *text, struct osp_range *range, struct osp_error *error)
{
	struct cursor cursor = {text, text, error};
	struct osp_range result = {.count = 0};

	for (;;) {
		struct osp_bound *bound = &result.bounds[result.count];

		if (result.count == OSP_RANGE_BOUNDS)
			return refuse(&cursor, "no fifth bound");
		skip_blanks(&cursor);
		bound->sign = take_sign(&cursor);
		skip_blanks(&cursor);
		if (take_version(&cursor, &bound->version))
			return -1;
		result.count++;
		skip_blanks(&cursor);
		if (*cursor.at != ',')
			break;
		cursor.at++;
	}
	if (*cursor.at)
		return refuse(&cursor, "a comma or the end");
	if (!osp_ranges_meet(&result, &result))
		return osp_error_at(error, NULL, 0, 1, "no version can be in the range '%.40s'",
				    text);
	*range = result;
	return 0;
}

/* Sets *order to <0, 0 or >0, as `version` compares to `bound` by as many numbers as `bound` has.
 * Returns OSP_UNKNOWN if the version has fewer and they do not decide. */
static enum osp_truth compare(const struct osp_version *version, const struct osp_version *bound,
			      int *order)
{
	*order = 0;
	for (uint32_t i = 0; i < bound->count; i++) {
		if (i == version->count)
			return OSP_UNKNOWN;
		*order = (version->parts[i] > bound->parts[i]) -
			 (version->parts[i] < bound->parts[i]);
		if (*order)
			return OSP_YES;
	}
	if (version->before != bound->before && version->count <= bound->count)
		*order = version->before ? -1 : 1;
	else if (bound->packager)
		*order = (version->packager > bound->packager) -
			 (version->packager < bound->packager);
	return OSP_YES;
}

static enum osp_truth bound_holds(const struct osp_bound *bound, const struct osp_version *version)
{
	int order;

	if (compare(version, &bound->version, &order) == OSP_UNKNOWN)
		return OSP_UNKNOWN;
	switch (bound->sign) {
	case OSP_BOUND_BELOW:
		return order < 0 ? OSP_YES : OSP_NO;
	case OSP_BOUND_AT_MOST:
		return order <= 0 ? OSP_YES : OSP_NO;
	case OSP_BOUND_ABOVE:
		return order > 0 ? OSP_YES : OSP_NO;
	case OSP_BOUND_AT_LEAST:
		return order >= 0 ? OSP_YES : OSP_NO;
	case OSP_BOUND_UNEQUAL:
		return order != 0 ? OSP_YES : OSP_NO;
	case OSP_BOUND_EQUAL:
		break;
	}
	return order == 0 ? OSP_YES : OSP_NO;
}

enum osp_truth osp_range_holds(const struct osp_range *range, const struct osp_version *version)
{
	enum osp_truth all = OSP_YES;

	for (uint32_t i = 0; i < range->count; i++) {
		enum osp_truth one =
			version->count ? bound_holds(&range->bounds[i], version) : OSP_UNKNOWN;

		if (one == OSP_NO)
			return OSP_NO;
		if (one == OSP_UNKNOWN)
			all = OSP_UNKNOWN;
	}
	return all;
}

/* Sets `version` to the bound with all four numbers, or to its neighbour just below or just
 * above. */
static void sample(const struct osp_version *bound, int side, struct osp_version *version)
{
	*version = *bound;
	version->count = OSP_VERSION_PARTS;
	if (side > 0 && bound->count < OSP_VERSION_PARTS) {
		version->parts[bound->count - 1]++;
	} else if (side > 0) {
		version->parts[OSP_VERSION_PARTS - 1]++;
	} else if (side < 0) {
		uint32_t i = bound->count;

		while (i && !version->parts[i - 1])
			version->parts[--i] = NUMBER_MAX;
		if (i)
			version->parts[i - 1]--;
		else
			*version = (struct osp_version){.count = OSP_VERSION_PARTS, .before = true};
		for (i = bound->count; i < OSP_VERSION_PARTS; i++)
			version->parts[i] = NUMBER_MAX;
	}
}

/* Returns whether both ranges have a version at or next to a bound of `near`. Between two
 * neighbouring bounds all versions are alike, so this is enough. */
static bool meet_near(const struct osp_range *near, const struct osp_range *a,
		      const struct osp_range *b)
{
	for (uint32_t i = 0; i < near->count; i++) {
		for (int side = -1; side <= 1; side++) {
			struct osp_version version;

			sample(&near->bounds[i].version, side, &version);
			if (osp_range_holds(a, &version) == OSP_YES &&
			    osp_range_holds(b, &version) == OSP_YES)
				return true;
		}
	}
	return false;
}

bool osp_ranges_meet(const struct osp_range *a, const struct osp_range *b)
{
	return !a->count || !b->count || meet_near(a, a, b) || meet_near(b, a, b);
}
