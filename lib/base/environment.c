/* SPDX-License-Identifier: GPL-2.0-or-later */
/* environment.c - reads a process's environment */
#include "lib/base/environment.h"

#include <stddef.h>
#include <string.h>

const char *osp_environment_value(char *const *environment, const char *name)
{
	size_t length = strlen(name);

	for (; *environment; environment++) {
		if (!strncmp(*environment, name, length) && (*environment)[length] == '=')
			return *environment + length + 1;
	}
	return NULL;
}
