/* SPDX-License-Identifier: GPL-2.0-or-later */
/* container.c - does this process see the whole machine? */
#include "check/base/container.h"

#include <mntent.h>
#include <stdio.h>
#include <string.h>

#include "check/base/root.h"

bool osp_in_container(const char *root)
{
	char path[OSP_PATH_BYTES], line[4096];
	bool contained = false;
	struct mntent entry;
	FILE *table;

	if (!osp_root_path(root, path, sizeof(path), "proc/self/mounts"))
		return false;
	table = setmntent(path, "r");
	if (!table)
		return false;
	while (getmntent_r(table, &entry, line, sizeof(line)))
		if (strcmp(entry.mnt_dir, "/dev") == 0)
			contained = strcmp(entry.mnt_type, "devtmpfs") != 0;
	endmntent(table);
	return contained;
}
