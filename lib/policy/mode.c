/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mode.c - the names of modes, apart from config.c, so that onespine.so has them without reading
 * YAML */
#include <stdio.h>
#include <strings.h>

#include "lib/base/text.h"
#include "lib/policy/config_private.h"

const char *const osp_mode_names[OSP_MODE_COUNT] = {
	[OSP_MODE_OFF] = "off",
	[OSP_MODE_ADVISE] = "advise",
	[OSP_MODE_ENFORCE] = "enforce",
};

const char *const osp_env_mode_names[OSP_ENV_MODE_COUNT] = {
	[OSP_ENV_OFF] = "off",
	[OSP_ENV_AUTO] = "auto",
	[OSP_ENV_EXPLAIN] = "explain",
};

const char *const osp_bind_mode_names[OSP_BIND_MODE_COUNT] = {
	[OSP_BIND_OFF] = "off",
	[OSP_BIND_AUTO] = "auto",
	[OSP_BIND_VERBOSE] = "verbose",
};

const char *osp_mode_name(enum osp_mode mode)
{
	return osp_mode_names[mode];
}

const char *osp_env_mode_name(enum osp_env_mode mode)
{
	return osp_env_mode_names[mode];
}

const char *osp_bind_mode_name(enum osp_bind_mode mode)
{
	return osp_bind_mode_names[mode];
}

/* Returns the index of `word` among the three words, or -1. */
static int find_word(const char *option, const char *word, const char *const *words,
		     struct osp_error *error)
{
	const char *nearest;

	for (int i = 0; i < 3; i++) {
		if (!strcasecmp(word, words[i]))
			return i;
	}
	nearest = osp_nearest_word(word, words, 3);
	return osp_error_set(error, "%s=%.40s: %s, %s or %s is expected%s%s%s", option, word,
			     words[1], words[0], words[2], nearest ? "; did you mean " : "",
			     nearest ? nearest : "", nearest ? "?" : "");
}

int osp_env_mode_parse(const char *option, const char *word, enum osp_env_mode *mode,
		       struct osp_error *error)
{
	int place = find_word(option, word, osp_env_mode_names, error);

	if (place >= 0)
		*mode = (enum osp_env_mode)place;
	return place < 0 ? -1 : 0;
}

int osp_bind_mode_parse(const char *option, const char *word, enum osp_bind_mode *mode,
			struct osp_error *error)
{
	int place = find_word(option, word, osp_bind_mode_names, error);

	if (place >= 0)
		*mode = (enum osp_bind_mode)place;
	return place < 0 ? -1 : 0;
}
