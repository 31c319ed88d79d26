/* SPDX-License-Identifier: GPL-2.0-or-later */
/* effective.c - the request in force, as stored with the job */
#include "lib/policy/effective.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/policy/request_parts.h"

#define LIST_BYTES  OSP_LAYOUT_TEXT_BYTES /* of the longest list that a user can give */

#define RELAX_S_MAX ((int64_t)10 * 366 * 24 * 60 * 60)

static const char *const origin_names[] = {
	[OSP_FROM_OPTION] = "option",
	[OSP_FROM_ENVIRONMENT] = "environment",
	[OSP_FROM_POLICY] = "policy",
	[OSP_FROM_SET] = "set",
};

#define ORIGIN_COUNT (sizeof(origin_names) / sizeof(origin_names[0]))

/* --- writing ---------------------------------------------------------------------------------- */

/* Writes the list "a,b" as ",key=a+b", and "" for an empty list. */
static void format_list(const char *key, const char *list, char *buffer, size_t buffer_bytes)
{
	buffer[0] = '\0';
	if (!*list)
		return;
	snprintf(buffer, buffer_bytes, ",%s=%s", key, list);
	for (char *comma = buffer; (comma = strchr(comma + 1, ','));)
		*comma = '+';
}

const char *osp_effective_format(const struct osp_effective *effective, char *buffer,
				 size_t buffer_bytes)
{
	char domains[24] = "", prefer[OSP_LEVEL_NAME_BYTES + 16] = "", segments[LIST_BYTES + 16],
	     layout[LIST_BYTES + 16], keep[LIST_BYTES + 16];

	/* Parts that are not used are not written, so that an older release still understands the
	 * rest. */
	if (effective->domains_max > 1)
		snprintf(domains, sizeof(domains), ",domains=%u", effective->domains_max);
	if (*effective->prefer)
		snprintf(prefer, sizeof(prefer), ",prefer=%s", effective->prefer);
	format_list("segments", effective->segments, segments, sizeof(segments));
	format_list("layout", effective->layout, layout, sizeof(layout));
	format_list("keep", effective->keep, keep, sizeof(keep));
	snprintf(buffer, buffer_bytes,
		 "version=%d,mode=%s,level=%s,relax_s=%lld,origin=%s,mix_kinds=%s%s%s%s%s%s",
		 OSP_EFFECTIVE_VERSION, osp_mode_name(effective->mode), effective->level,
		 (long long)effective->relax_s, origin_names[effective->origin],
		 effective->mix_kinds ? "yes" : "no", domains, segments, layout, keep, prefer);
	return buffer;
}

/* --- reading ---------------------------------------------------------------------------------- */

static int take_version(const char *word, struct osp_effective *effective)
{
	char *end;
	long version;

	if (word[0] < '0' || word[0] > '9')
		return -1;
	version = strtol(word, &end, 10);
	if (*end || version < 1)
		return -1;
	if (version > OSP_EFFECTIVE_VERSION && !effective->unread[0])
		snprintf(effective->unread, sizeof(effective->unread),
			 "has version %ld, and this release knows those up to %d", version,
			 OSP_EFFECTIVE_VERSION);
	return 0;
}

static int take_mode(const char *word, struct osp_effective *effective)
{
	static const enum osp_mode modes[] = {OSP_MODE_OFF, OSP_MODE_ADVISE, OSP_MODE_ENFORCE};

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (!strcmp(word, osp_mode_name(modes[i]))) {
			effective->mode = modes[i];
			return 0;
		}
	}
	return -1;
}

static int read_level(const char *word, char level[OSP_LEVEL_NAME_BYTES])
{
	struct osp_request request = {.relax_s = -1};

	if (osp_request_parse(word, &request, NULL) || request.asked != OSP_GANG_OPTION_ON ||
	    strcmp(request.level, word) != 0)
		return -1;
	memcpy(level, request.level, sizeof(request.level));
	return 0;
}

static int take_level(const char *word, struct osp_effective *effective)
{
	/* an empty level is judged later, with the mode */
	return *word ? read_level(word, effective->level) : 0;
}

static int take_prefer(const char *word, struct osp_effective *effective)
{
	return *word ? read_level(word, effective->prefer) : -1;
}

static int take_relax(const char *word, struct osp_effective *effective)
{
	char *end;
	long long number;

	if (!strcmp(word, "-1")) {
		effective->relax_s = -1;
		return 0;
	}
	if (word[0] < '0' || word[0] > '9')
		return -1;
	number = strtoll(word, &end, 10);
	if (*end || number > RELAX_S_MAX)
		return -1;
	effective->relax_s = number;
	return 0;
}

static int take_origin(const char *word, struct osp_effective *effective)
{
	for (size_t i = 0; i < ORIGIN_COUNT; i++) {
		if (!strcmp(word, origin_names[i])) {
			effective->origin = (enum osp_origin)i;
			return 0;
		}
	}
	return -1;
}

static int take_mix_kinds(const char *word, struct osp_effective *effective)
{
	effective->mix_kinds = !strcmp(word, "yes");
	return effective->mix_kinds || !strcmp(word, "no") ? 0 : -1;
}

static int take_domains(const char *word, struct osp_effective *effective)
{
	return osp_request_take_domains(word, &effective->domains_max, NULL);
}

/* Turns "a+b" into the list "a,b". */
static int read_list(const char *word, char list[LIST_BYTES])
{
	size_t length = strlen(word);

	if (length >= LIST_BYTES)
		return -1;
	memcpy(list, word, length + 1);
	for (char *plus = list; (plus = strchr(plus, '+'));)
		*plus = ',';
	return 0;
}

static int take_segments(const char *word, struct osp_effective *effective)
{
	char list[LIST_BYTES];

	return read_list(word, list) || osp_request_take_segments(list, effective->segments, NULL)
		       ? -1
		       : 0;
}

static int take_layout(const char *word, struct osp_effective *effective)
{
	char list[LIST_BYTES];

	return read_list(word, list) || osp_request_take_layout(list, effective->layout, NULL) ? -1
											       : 0;
}

static int take_keep(const char *word, struct osp_effective *effective)
{
	char list[LIST_BYTES];

	return read_list(word, list) || osp_request_take_keep(list, effective->keep, NULL) ? -1 : 0;
}

static const struct {
	const char *key;
	int (*take)(const char *word, struct osp_effective *effective);
} keys[] = {
	{"version", take_version}, {"domains", take_domains},	  {"segments", take_segments},
	{"layout", take_layout},   {"keep", take_keep},		  {"prefer", take_prefer},
	{"mode", take_mode},	   {"level", take_level},	  {"relax_s", take_relax},
	{"origin", take_origin},   {"mix_kinds", take_mix_kinds},
};

#define KEY_COUNT (sizeof(keys) / sizeof(keys[0]))
#define MAY_LACK  63u /* bits of the first keys, which may be missing */

/* Keeps only the first reason. Shows bytes of another release's text only if they are printable. */
static void set_unread(struct osp_effective *effective, const char *before, const char *piece,
		       const char *after)
{
	char shown[33];
	size_t i;

	if (effective->unread[0])
		return;
	for (i = 0; piece[i] && i < sizeof(shown) - 1; i++)
		shown[i] = piece[i] > ' ' && piece[i] <= '~' ? piece[i] : '?';
	shown[i] = '\0';
	snprintf(effective->unread, sizeof(effective->unread), "%s'%s'%s", before, shown, after);
}

/* Takes one "key=word" and sets the key's bit in *seen. */
static void take_pair(char *pair, unsigned int *seen, struct osp_effective *effective)
{
	char *equals = strchr(pair, '=');

	if (equals)
		*equals = '\0';
	for (size_t i = 0; equals && i < KEY_COUNT; i++) {
		if (strcmp(pair, keys[i].key) != 0)
			continue;
		if (*seen & (1u << i))
			set_unread(effective, "has the key ", pair, " twice");
		else if (keys[i].take(equals + 1, effective))
			set_unread(effective, "has a value that this release does not know, ",
				   equals + 1, "");
		*seen |= 1u << i;
		return;
	}
	set_unread(effective, "has the key ", pair, ", which this release does not know");
}

static void check_complete(unsigned int seen, struct osp_effective *effective)
{
	for (size_t i = 0; i < KEY_COUNT; i++) {
		if (!((seen | MAY_LACK) & (1u << i)))
			set_unread(effective, "lacks the key ", keys[i].key, "");
	}
	if (effective->mode != OSP_MODE_OFF && !effective->level[0])
		set_unread(effective, "lacks the value of ", "level", "");
}

int osp_effective_parse(const char *value, struct osp_effective *effective)
{
	char copy[OSP_EFFECTIVE_BYTES_MAX], *next = copy;
	unsigned int seen = 0;
	size_t length = strlen(value);

	memset(effective, 0, sizeof(*effective));
	effective->mode = OSP_MODE_ENFORCE;
	effective->relax_s = -1;
	if (length >= sizeof(copy)) {
		snprintf(effective->unread, sizeof(effective->unread),
			 "is longer than this release reads, %zu bytes", length);
		return -1;
	}
	memcpy(copy, value, length + 1);
	while (next) {
		char *pair = next;

		next = strchr(pair, ',');
		if (next)
			*next++ = '\0';
		take_pair(pair, &seen, effective);
	}
	check_complete(seen, effective);
	return effective->unread[0] ? -1 : 0;
}

const char *osp_effective_waits(const struct osp_effective *effective, char *buffer,
				size_t buffer_bytes)
{
	snprintf(buffer, buffer_bytes,
		 "waits: its stored request %s; install the release of Onespine that wrote it, or "
		 "give it another request with onespine set",
		 effective->unread);
	return buffer;
}
