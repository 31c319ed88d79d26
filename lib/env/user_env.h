/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * user_env.h - what the user has set: the environment, and the files that NCCL reads
 *
 * As NCCL does: the environment first, then the file that NCCL_CONF_FILE names or else
 * ~/.nccl.conf, then /etc/nccl.conf; the first that says a name counts. Regular files of at most
 * 1 MiB. Only variables that a rule is about are taken, and those of a list. One thread.
 */
#ifndef OSP_USER_ENV_H
#define OSP_USER_ENV_H

#include <stddef.h>

#include "lib/env/rules.h"

struct osp_user_env {
	struct osp_variable *list;
	size_t count, room;
	char **texts; /* of the files; the list's strings stand in them */
	size_t text_count;
};

/*
 * `list`: "NAME:...,NAME:..." of variables of the environment that count where no rule is about them, as what
 * was set on a node of another type; NULL: none. Returns 0, or -1 when memory ran out. To be freed in either
 * case.
 */
int osp_user_env_read(char *const *environment, const struct osp_rule_set *rules, const char *list,
		      struct osp_user_env *user);
void osp_user_env_free(struct osp_user_env *user);

/* What such a list says of a variable, up to the next comma or the end; NULL: it is not in it. */
const char *osp_user_env_listed(const char *list, const char *name);

#endif
