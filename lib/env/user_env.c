/* SPDX-License-Identifier: GPL-2.0-or-later */
/* user_env.c - reads what the user has set: the environment, and the files that NCCL reads */
#include "onespine_config.h"
#include "lib/base/environment.h"
#include "lib/env/user_env.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"

#define NAME_BYTES_MAX 512

static bool has(const struct osp_user_env *user, const char *name)
{
	for (size_t i = 0; i < user->count; i++) {
		if (!strcmp(user->list[i].name, name))
			return true;
	}
	return false;
}

static int add(struct osp_user_env *user, const char *name, const char *value, const char *origin)
{
	size_t room = user->room ? user->room * 2 : 16;
	struct osp_variable *larger;

	if (has(user, name) || user->count == OSP_USER_ENV_MAX)
		return 0; /* the first counts */
	if (user->count == user->room) {
		larger = realloc(user->list, room * sizeof(*larger));
		if (!larger)
			return -1;
		user->list = larger;
		user->room = room;
	}
	user->list[user->count++] =
		(struct osp_variable){.name = name, .value = value, .origin = origin};
	return 0;
}

/* Keeps `text` for as long as the list. */
static int keep(struct osp_user_env *user, char *text)
{
	char **larger = realloc(user->texts, (user->text_count + 1) * sizeof(*larger));

	if (!larger) {
		free(text);
		return -1;
	}
	user->texts = larger;
	user->texts[user->text_count++] = text;
	return 0;
}

const char *osp_user_env_listed(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (; list && *list; list += strcspn(list, ","), list += *list == ',') {
		if (!strncmp(list, name, length) && list[length] == ':')
			return list + length + 1;
	}
	return NULL;
}

/* Returns whether a variable counts. Most do not, so their names are read in place. */
static bool is_meant(const struct osp_rule_set *rules, const char *list, const char *pair)
{
	char name[NAME_BYTES_MAX];
	size_t length = strcspn(pair, "=");

	if (!length || !pair[length] || length >= sizeof(name))
		return false;
	memcpy(name, pair, length);
	name[length] = '\0';
	return osp_rules_name(rules, name) || osp_user_env_listed(list, name);
}

/* Takes "NAME=VALUE", which it cuts in two. */
static int add_pair(struct osp_user_env *user, char *pair, const char *origin)
{
	char *value = strchr(pair, '=');

	*value++ = '\0';
	return add(user, pair, value, origin);
}

static int take_environment(struct osp_user_env *user, const struct osp_rule_set *rules,
			    const char *list, char *const *environment)
{
	for (; *environment; environment++) {
		char *pair;

		if (!is_meant(rules, list, *environment))
			continue;
		pair = strdup(*environment);
		if (!pair || keep(user, pair) || add_pair(user, pair, "environment"))
			return -1;
	}
	return 0;
}

/* Takes the lines of a file; the list owns `text` afterwards. */
static int take_lines(struct osp_user_env *user, const struct osp_rule_set *rules, const char *path,
		      char *text)
{
	char *origin = strdup(path), *line, *rest = text;

	if (keep(user, text)) {
		free(origin);
		return -1;
	}
	if (!origin || keep(user, origin))
		return -1;
	while ((line = strsep(&rest, "\n"))) {
		if (is_meant(rules, NULL, line) && add_pair(user, line, origin))
			return -1; /* unchanged, because NCCL knows no comments */
	}
	return 0;
}

static int take_conf(struct osp_user_env *user, const struct osp_rule_set *rules, const char *path)
{
	size_t length = 0;
	char *text = osp_read_file(path, OSP_USER_CONF_BYTES_MAX, &length);

	return text ? take_lines(user, rules, path, text) : 0; /* most users have none */
}

static int take_read_conf(struct osp_user_env *user, const struct osp_rule_set *rules,
			  const struct osp_user_conf *conf)
{
	char *text = conf->text ? strdup(conf->text) : NULL;

	if (!conf->text)
		return 0;
	return text ? take_lines(user, rules, conf->path, text) : -1;
}

bool osp_user_conf_path(char *const *environment, char *path, size_t path_bytes)
{
	const char *named = osp_environment_value(environment, "NCCL_CONF_FILE");
	const char *home = osp_environment_value(environment, "HOME");
	int length = -1;

	if (named)
		length = snprintf(path, path_bytes, "%s", named);
	else if (home)
		length = snprintf(path, path_bytes, "%s/.nccl.conf", home);
	return length >= 0 && (size_t)length < path_bytes;
}

int osp_user_env_read(char *const *environment, const struct osp_rule_set *rules, const char *list,
		      const struct osp_user_conf *conf, struct osp_user_env *user)
{
	char path[PATH_MAX];

	memset(user, 0, sizeof(*user));
	if (list && strnlen(list, OSP_USER_ENV_LIST_BYTES_MAX) == OSP_USER_ENV_LIST_BYTES_MAX)
		list = NULL;
	if (take_environment(user, rules, list, environment))
		return -1;
	if (conf && take_read_conf(user, rules, conf))
		return -1;
	if (!conf && osp_user_conf_path(environment, path, sizeof(path)) &&
	    take_conf(user, rules, path))
		return -1;
	return take_conf(user, rules, "/etc/nccl.conf");
}

void osp_user_env_free(struct osp_user_env *user)
{
	for (size_t i = 0; i < user->text_count; i++)
		free(user->texts[i]);
	free(user->texts);
	free(user->list);
	memset(user, 0, sizeof(*user));
}
