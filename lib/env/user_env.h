/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * user_env.h - what the user has set: the environment, and the files that NCCL reads
 *
 * As NCCL does: the environment first, then the file that NCCL_CONF_FILE names or else
 * ~/.nccl.conf, then /etc/nccl.conf; the first that says a name counts. Regular files of at most
 * 1 MiB. Only variables that a rule is about are taken, and those of a list; at most
 * OSP_USER_ENV_MAX of them, where NCCL, libfabric and all rules together know a few hundred. One
 * thread.
 */
#ifndef OSP_USER_ENV_H
#define OSP_USER_ENV_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/env/rules.h"

#define OSP_USER_ENV_MAX 1024
#define OSP_USER_ENV_LIST_BYTES_MAX                                                                \
	8192 /* ours has 40 bytes a variable; a longer one is not ours */
#define OSP_USER_CONF_BYTES_MAX ((size_t)1024 * 1024)

struct osp_user_env {
	struct osp_variable *list;
	size_t count, room;
	char **texts; /* of the files; the list's strings stand in them */
	size_t text_count;
};

/* The user's own file, where a process that may be left behind has read it. */
struct osp_user_conf {
	const char *path;
	const char *text; /* NULL: there is none */
};

/* The file that the user's own is: what NCCL_CONF_FILE names, or ~/.nccl.conf. False: neither can
 * be said. */
bool osp_user_conf_path(char *const *environment, char *path, size_t path_bytes);

/*
 * `conf`: the user's own file; NULL: it is read here, which waits for a file system that does not
 * answer. `list`: "NAME:...,NAME:..." of variables of the environment that count if no rule is
 * about them, as what was set on a node of another type; NULL: none. Returns 0, or -1 when memory
 * ran out. To be freed in either case.
 */
int osp_user_env_read(char *const *environment, const struct osp_rule_set *rules, const char *list,
		      const struct osp_user_conf *conf, struct osp_user_env *user);
void osp_user_env_free(struct osp_user_env *user);

/* What such a list says of a variable, up to the next comma or the end; NULL: it is not in it. */
const char *osp_user_env_listed(const char *list, const char *name);

#endif
