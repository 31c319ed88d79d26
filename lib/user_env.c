/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "onespine_config.h"
#include "lib/user_env.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"

#define CONF_BYTES_MAX ((size_t)1024 * 1024)

const char *osp_environment_value(char *const *environment, const char *name)
{
	size_t length = strlen(name);

	for (; *environment; environment++) {
		if (!strncmp(*environment, name, length) && (*environment)[length] == '=')
			return *environment + length + 1;
	}
	return NULL;
}

static const char *find(const struct osp_user_env *user, const char *name)
{
	for (size_t i = 0; i < user->count; i++) {
		if (!strcmp(user->list[i].name, name))
			return user->list[i].value;
	}
	return NULL;
}

/* Takes "NAME=VALUE", which it cuts in two; the first of a name counts. */
static int add(struct osp_user_env *user, char *pair, const char *origin)
{
	size_t room = user->room ? user->room * 2 : 128;
	struct osp_variable *larger;
	char *value = strchr(pair, '=');

	if (!value || value == pair)
		return 0;
	*value++ = '\0';
	if (find(user, pair))
		return 0;
	if (user->count == user->room) {
		larger = realloc(user->list, room * sizeof(*larger));
		if (!larger)
			return -1;
		user->list = larger;
		user->room = room;
	}
	user->list[user->count++] =
		(struct osp_variable){.name = pair, .value = value, .origin = origin};
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

static int take_environment(struct osp_user_env *user, char *const *environment)
{
	for (; *environment; environment++) {
		char *pair = strdup(*environment);

		if (!pair || keep(user, pair) || add(user, pair, "environment"))
			return -1;
	}
	return 0;
}

static int take_conf(struct osp_user_env *user, const char *path)
{
	size_t length = 0;
	char *text = osp_read_file(path, CONF_BYTES_MAX, &length);
	char *origin = text ? strdup(path) : NULL, *line, *rest = text;

	if (!text)
		return 0; /* most have none */
	if (!origin) {
		free(text);
		return -1;
	}
	if (keep(user, text)) {
		free(origin);
		return -1;
	}
	if (keep(user, origin))
		return -1;
	while ((line = strsep(&rest, "\n"))) {
		if (add(user, line, origin)) /* as it stands: NCCL knows no comments */
			return -1;
	}
	return 0;
}

int osp_user_env_read(char *const *environment, struct osp_user_env *user)
{
	const char *named, *home;
	char path[PATH_MAX];

	memset(user, 0, sizeof(*user));
	if (take_environment(user, environment))
		return -1;
	named = find(user, "NCCL_CONF_FILE");
	home = find(user, "HOME");
	if (!named && home &&
	    snprintf(path, sizeof(path), "%s/.nccl.conf", home) < (int)sizeof(path))
		named = path;
	if (named && take_conf(user, named))
		return -1;
	return take_conf(user, "/etc/nccl.conf");
}

void osp_user_env_free(struct osp_user_env *user)
{
	for (size_t i = 0; i < user->text_count; i++)
		free(user->texts[i]);
	free(user->texts);
	free(user->list);
	memset(user, 0, sizeof(*user));
}
