/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * user_env.h - reads what the user has set: the environment, and the files that NCCL reads
 *
 * The order is NCCL's: the environment first, then the file that NCCL_CONF_FILE names or else
 * ~/.nccl.conf, then /etc/nccl.conf; the first one that sets a name counts. Only regular files of
 * at most 1 MiB are read. Only variables that a rule is about, and those of a list, are taken; at
 * most OSP_USER_ENV_MAX of them, although NCCL, libfabric and all rules together know a few
 * hundred. One thread.
 */
#ifndef OSP_USER_ENV_H
#define OSP_USER_ENV_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/env/rules.h"

#define OSP_USER_ENV_MAX 1024
#define OSP_USER_ENV_LIST_BYTES_MAX                                                                \
	8192 /* ours has 40 bytes per variable; a longer one is not ours */
#define OSP_USER_CONF_BYTES_MAX ((size_t)1024 * 1024)

struct osp_user_env {
	struct osp_variable *list;
	size_t count, room;
	char **texts; /* of the files; they hold the list's strings */
	size_t text_count;
};

/* The user's own file, already read by a process that may be abandoned if it hangs. */
struct osp_user_conf {
	const char *path;
	const char *text; /* NULL: there is none */
};

/* Finds the user's own file: the one that NCCL_CONF_FILE names, or ~/.nccl.conf. Returns false if
 * neither is known or the path is too long. */
bool osp_user_conf_path(char *const *environment, char *path, size_t path_bytes);

/*
 * Reads all of these. `conf` is the user's own file; if it is NULL, it is read here, which waits
 * for a file system that does not answer. `list`, "NAME:...,NAME:...", names variables of the
 * environment that count even if no rule is about them, for example those set on a node of another
 * type; NULL: none. Returns 0, or -1 if memory ran out. Free the result in either case.
 */
int osp_user_env_read(char *const *environment, const struct osp_rule_set *rules, const char *list,
		      const struct osp_user_conf *conf, struct osp_user_env *user);
void osp_user_env_free(struct osp_user_env *user);

/* Returns the text about a variable in such a list, up to the next comma or the end; NULL: it is
 * not in the list. */
const char *osp_user_env_listed(const char *list, const char *name);

#endif
