/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile.c - reads a profile of AWS's shared files */
#include "lib/cloud/profile.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct line {
	const char *file;
	int number;
	const char *start;
	const char *end;
};

static void trim(struct line *line)
{
	while (line->start < line->end && isspace((unsigned char)*line->start))
		line->start++;
	while (line->start < line->end && isspace((unsigned char)line->end[-1]))
		line->end--;
}

static bool is_word(const struct line *line, const char *word)
{
	size_t count = strlen(word);

	return (size_t)(line->end - line->start) == count && !memcmp(line->start, word, count);
}

/* Returns whether this is "[name]", or "[profile name]" in a config file. */
static bool is_section(struct line inner, bool config, const char *name)
{
	bool is_default = !strcmp(name, "default");

	inner.start++;
	inner.end--;
	trim(&inner);
	if (!config || (is_default && is_word(&inner, "default")))
		return is_word(&inner, name);
	if (inner.end - inner.start < 8 || memcmp(inner.start, "profile", 7) != 0 ||
	    !isspace((unsigned char)inner.start[7]))
		return false;
	inner.start += 8;
	trim(&inner);
	return is_word(&inner, name);
}

static int keep(const struct line *line, char *to, size_t bytes, struct osp_error *error)
{
	size_t count = (size_t)(line->end - line->start);

	if (*to)
		return 0;
	if (count >= bytes)
		return osp_error_at(error, line->file, line->number, 0,
				    "a value of %zu bytes; at most %zu are expected", count,
				    bytes - 1);
	memcpy(to, line->start, count);
	to[count] = '\0';
	return 0;
}

static int take(struct osp_profile *profile, const struct line *key, const struct line *value,
		struct osp_error *error)
{
	static const char *const ways[] = {"role_arn", "sso_session", "sso_start_url",
					   "credential_process", "web_identity_token_file"};

	if (is_word(key, "aws_access_key_id"))
		return keep(value, profile->key_id, sizeof(profile->key_id), error);
	if (is_word(key, "aws_secret_access_key"))
		return keep(value, profile->secret, sizeof(profile->secret), error);
	if (is_word(key, "aws_session_token"))
		return keep(value, profile->token, sizeof(profile->token), error);
	if (is_word(key, "region"))
		return keep(value, profile->region, sizeof(profile->region), error);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (is_word(key, ways[i]))
			return keep(key, profile->unsupported, sizeof(profile->unsupported), error);
	}
	return 0;
}

static int read_key(struct osp_profile *profile, const struct line *line, struct osp_error *error)
{
	const char *equals = memchr(line->start, '=', (size_t)(line->end - line->start));
	struct line key = *line, value = *line;

	if (!equals)
		return osp_error_at(error, line->file, line->number, 1,
				    "KEY = VALUE or [SECTION] is expected");
	key.end = equals;
	value.start = equals + 1;
	trim(&key);
	trim(&value);
	return take(profile, &key, &value, error);
}

int osp_profile_read(const char *file, const char *text, size_t text_bytes, bool config,
		     const char *name, struct osp_profile *profile, struct osp_error *error)
{
	const char *end = text + text_bytes;
	struct line line = {file, 0, text, text};
	bool here = false;

	while (text < end) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text));
		bool indented = *text == ' ' || *text == '\t';

		line.start = text;
		line.end = line_end ? line_end : end;
		text = line_end ? line_end + 1 : end;
		line.number++;
		trim(&line);
		if (line.start == line.end || *line.start == '#' || *line.start == ';' || indented)
			continue;
		if (*line.start == '[' && line.end[-1] == ']') {
			here = is_section(line, config, name);
			profile->found = profile->found || here;
		} else if (here && read_key(profile, &line, error)) {
			return -1;
		}
	}
	return 0;
}
