/* SPDX-License-Identifier: GPL-2.0-or-later */
/* request_parts.c - segments, several domains and layouts, as a user asks for them */
#include "lib/policy/request_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/layout/layout_plan.h"

#define DOMAINS "domains="
#define SEGMENT "segment="
#define LAYOUT	"layout="
#define KEEP	"keep="
#define PREFER	"prefer="

/* --- as they are written ---------------------------------------------------------------------- */

int osp_request_take_domains(const char *value, uint32_t *domains_max, struct osp_error *error)
{
	size_t digits = strspn(value, "0123456789");
	unsigned long number = digits && digits <= 7 ? strtoul(value, NULL, 10) : 0;

	if (value[digits] || number < 1 || number > OSP_NODES_MAX)
		return osp_error_at(
			error, NULL, 0, (int)digits + 1,
			"--gang-domains=%.40s: in how many domains at most is expected, a "
			"number from 1 to %d",
			value, OSP_NODES_MAX);
	*domains_max = (uint32_t)number;
	return 0;
}

/* Returns whether [value, value + length) may be a level's name. */
static bool is_level(const char *value, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (!isalnum((unsigned char)value[i]) && value[i] != '-' && value[i] != '_')
			return false;
	}
	return length && length < OSP_LEVEL_NAME_BYTES;
}

/* Returns whether [value, value + length) is one segment, such as "leaf:16". */
static bool is_segment(const char *value, size_t length)
{
	const char *colon = memchr(value, ':', length);
	size_t name, digits = 0;

	if (!colon)
		return false;
	name = (size_t)(colon - value);
	while (name + 1 + digits < length && isdigit((unsigned char)colon[1 + digits]))
		digits++;
	return is_level(value, name) && digits && digits <= 7 && name + 1 + digits == length;
}

int osp_request_take_segments(const char *value, char segments[OSP_SEGMENTS_BYTES],
			      struct osp_error *error)
{
	size_t start = 0, length;

	if (strlen(value) >= OSP_SEGMENTS_BYTES)
		return osp_error_at(error, NULL, 0, OSP_SEGMENTS_BYTES,
				    "--gang-segment: more than %d characters",
				    OSP_SEGMENTS_BYTES - 1);
	do {
		length = strcspn(value + start, ",");
		if (!is_segment(value + start, length))
			return osp_error_at(
				error, NULL, 0, (int)start + 1,
				"--gang-segment=%.80s: a level and a number of nodes are "
				"expected, as in leaf:16 or nvlink:16,leaf:32",
				value);
		start += length + 1;
	} while (value[start - 1]);
	memcpy(segments, value, start);
	return 0;
}

int osp_request_take_layout(const char *value, char layout[OSP_LAYOUT_TEXT_BYTES],
			    struct osp_error *error)
{
	struct osp_error inner = {.text = ""};
	struct osp_layout parsed;

	if (strlen(value) >= OSP_LAYOUT_TEXT_BYTES)
		return osp_error_at(error, NULL, 0, OSP_LAYOUT_TEXT_BYTES,
				    "--gang-layout: more than %d characters",
				    OSP_LAYOUT_TEXT_BYTES - 1);
	if (osp_layout_parse(value, &parsed, &inner))
		return osp_error_at(error, NULL, 0, inner.column, "--gang-layout, column %d: %s",
				    inner.column, inner.text);
	memcpy(layout, value, strlen(value) + 1);
	return 0;
}

/* Returns whether [value, value + length) is one group to keep, such as "pp:leaf". */
static bool is_keep(const char *value, size_t length)
{
	const char *colon = memchr(value, ':', length);
	size_t bytes = colon ? (size_t)(colon - value) : 0;
	char group[8];

	if (!bytes || bytes >= sizeof(group))
		return false;
	memcpy(group, value, bytes);
	group[bytes] = '\0';
	return osp_group_find(group) >= 0 && is_level(colon + 1, length - bytes - 1);
}

int osp_request_take_keep(const char *value, char keep[OSP_KEEP_BYTES], struct osp_error *error)
{
	size_t start = 0, length;
	uint32_t count = 0;

	if (strlen(value) >= OSP_KEEP_BYTES)
		return osp_error_at(error, NULL, 0, OSP_KEEP_BYTES,
				    "--gang-keep: more than %d characters", OSP_KEEP_BYTES - 1);
	do {
		length = strcspn(value + start, ",");
		if (!is_keep(value + start, length))
			return osp_error_at(error, NULL, 0, (int)start + 1,
					    "--gang-keep=%.80s: a group (tp, cp, dp, pp or ep) and "
					    "a level are expected, as in pp:leaf",
					    value);
		if (++count > OSP_KEEPS_MAX)
			return osp_error_at(error, NULL, 0, (int)start + 1,
					    "--gang-keep=%.80s: more than %d groups", value,
					    OSP_KEEPS_MAX);
		start += length + 1;
	} while (value[start - 1]);
	memcpy(keep, value, start);
	return 0;
}

static int take_prefer(const char *value, char prefer[OSP_LEVEL_NAME_BYTES],
		       struct osp_error *error)
{
	if (!is_level(value, strlen(value)))
		return osp_error_at(error, NULL, 0, 1,
				    "--gang: prefer=%.40s: the name of a level is expected", value);
	memcpy(prefer, value, strlen(value) + 1);
	return 0;
}

bool osp_parts_are_asked(const struct osp_parts_asked *asked)
{
	return asked->domains || asked->segments || asked->layout || asked->keep;
}

static int check_keep(const struct osp_request *request, struct osp_error *error)
{
	if (!*request->keep || *request->layout)
		return 0;
	return osp_error_at(error, NULL, 0, 1,
			    "--gang-keep=%s names groups of a layout; say --gang-layout too, as in "
			    "--gang-layout=tp8,pp8",
			    request->keep);
}

int osp_request_add_parts(struct osp_request *request, const struct osp_parts_asked *asked,
			  struct osp_error *error)
{
	if (!osp_parts_are_asked(asked))
		return 0;
	if (request->asked == OSP_GANG_OPTION_OFF)
		return osp_error_set(error,
				     "--gang=off is no gang, and %s is for one; leave one of "
				     "them out",
				     asked->domains    ? "--gang-domains"
				     : asked->segments ? "--gang-segment"
				     : asked->layout   ? "--gang-layout"
						       : "--gang-keep");
	request->asked = OSP_GANG_OPTION_ON;
	if ((asked->domains &&
	     osp_request_take_domains(asked->domains, &request->domains_max, error)) ||
	    (asked->segments &&
	     osp_request_take_segments(asked->segments, request->segments, error)) ||
	    (asked->layout && osp_request_take_layout(asked->layout, request->layout, error)) ||
	    (asked->keep && osp_request_take_keep(asked->keep, request->keep, error)))
		return -1;
	return check_keep(request, error);
}

/* Takes one word into `parts`; refuses a second one of its kind. */
static int parse_word(const char *word, struct osp_request *parts, struct osp_error *error)
{
	static const char *const words[] = {DOMAINS, SEGMENT, LAYOUT, KEEP, PREFER};
	const char *nearest;

	if (!strncmp(word, DOMAINS, strlen(DOMAINS)) && !parts->domains_max)
		return osp_request_take_domains(word + strlen(DOMAINS), &parts->domains_max, error);
	if (!strncmp(word, SEGMENT, strlen(SEGMENT)) && !*parts->segments)
		return osp_request_take_segments(word + strlen(SEGMENT), parts->segments, error);
	if (!strncmp(word, LAYOUT, strlen(LAYOUT)) && !*parts->layout)
		return osp_request_take_layout(word + strlen(LAYOUT), parts->layout, error);
	if (!strncmp(word, KEEP, strlen(KEEP)) && !*parts->keep)
		return osp_request_take_keep(word + strlen(KEEP), parts->keep, error);
	if (!strncmp(word, PREFER, strlen(PREFER)) && !*parts->prefer)
		return take_prefer(word + strlen(PREFER), parts->prefer, error);
	nearest = osp_nearest_word(word, words, sizeof(words) / sizeof(words[0]));
	return osp_error_at(error, NULL, 0, 1,
			    "--gang: '%.40s' is not understood, or said twice%s%s", word,
			    nearest ? "; did you mean " : "", nearest ? nearest : "");
}

int osp_request_parse_parts(const char *text, struct osp_request *request, struct osp_error *error)
{
	char copy[OSP_REQUEST_BYTES], *next = copy;
	struct osp_request parts = {.domains_max = 0};

	if (strlen(text) >= sizeof(copy))
		return osp_error_at(error, NULL, 0, (int)sizeof(copy),
				    "--gang: at most %zu bytes are expected, not %zu",
				    sizeof(copy) - 1, strlen(text));
	memcpy(copy, text, strlen(text) + 1);
	while (next && *next) {
		char *word = next;

		next = strchr(word, ' ');
		if (next)
			*next++ = '\0';
		if (parse_word(word, &parts, error))
			return -1;
	}
	if (check_keep(&parts, error))
		return -1;
	request->domains_max = parts.domains_max;
	memcpy(request->segments, parts.segments, sizeof(parts.segments));
	memcpy(request->layout, parts.layout, sizeof(parts.layout));
	memcpy(request->keep, parts.keep, sizeof(parts.keep));
	memcpy(request->prefer, parts.prefer, sizeof(parts.prefer));
	return 0;
}

void osp_request_format_parts(const struct osp_request *request, char *buffer, size_t buffer_bytes)
{
	char domains[24] = "";

	if (request->domains_max > 1)
		snprintf(domains, sizeof(domains), " " DOMAINS "%u", request->domains_max);
	snprintf(buffer, buffer_bytes, "%s%s%s%s%s%s%s%s%s", domains,
		 *request->segments ? " " SEGMENT : "", request->segments,
		 *request->layout ? " " LAYOUT : "", request->layout,
		 *request->keep ? " " KEEP : "", request->keep, *request->prefer ? " " PREFER : "",
		 request->prefer);
}

bool osp_in_parts(uint32_t domains_max, const char *segments)
{
	return domains_max > 1 || *segments;
}
