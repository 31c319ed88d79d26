/* SPDX-License-Identifier: GPL-2.0-or-later */
/* program.c - finds the other programs of this installation */
#include "onespine_config.h"
#include "host/program.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Reads the running program's folder, with the '/' after it. Returns its length; 0 if it is
 * unknown.
 */
static size_t own_folder(char *path)
{
	ssize_t length = readlink("/proc/self/exe", path, OSP_PROGRAM_BYTES - 1);
	const char *slash;

	if (length <= 0)
		return 0;
	path[length] = '\0';
	slash = strrchr(path, '/');
	return slash ? (size_t)(slash - path) + 1 : 0;
}

const char *osp_program_path(const char *name, const char *folder, char *path)
{
	size_t length = own_folder(path);

	if (length + strlen(name) < OSP_PROGRAM_BYTES) {
		strcpy(path + length, name);
		if (length && access(path, X_OK) == 0)
			return path;
	}
	snprintf(path, OSP_PROGRAM_BYTES, "%s/%s", folder, name);
	return path;
}
