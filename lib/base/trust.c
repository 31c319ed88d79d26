/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trust.c - who must own a file before a daemon obeys it */
#include "lib/base/trust.h"

#include <stddef.h>

const char *osp_distrust(const struct stat *status, uid_t owner)
{
	if (status->st_uid != 0 && status->st_uid != owner)
		return "it belongs neither to root nor to SlurmUser (chown root)";
	if (status->st_mode & S_IWOTH || (status->st_mode & S_IWGRP && status->st_gid != 0))
		return "others than its owner may write it (chmod go-w)";
	return NULL;
}
