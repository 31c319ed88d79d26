/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * own_files.h - what the folders and files say that a step's user names, read by a child of
 * slurmstepd
 *
 * LD_LIBRARY_PATH, VIRTUAL_ENV and NCCL_CONF_FILE may name anything: folders without end, a FUSE
 * file system that its owner keeps from answering, a dead NFS server. Slurmstepd never opens them.
 * A child of it does, as the user and with no rights but to read (lib/base/confine.h), holding none
 * of slurmstepd's files; it is killed when its time is over, and left behind if it cannot be.
 */
#ifndef OSP_OWN_FILES_H
#define OSP_OWN_FILES_H

#include <stdbool.h>

#include "lib/env/facts.h"
#include "lib/env/user_env.h"

/* The child has OSP_SOFTWARE_MS_MAX for all of it, and as much more as it waited for a processor,
 * this at most. */
#define OSP_OWN_FILES_MOST_MS 2000

struct osp_own_files {
	bool known; /* all that follows; else the child did not answer */
	bool cut;   /* a budget of lib/env/node_software.h ended before the folders did */
	struct osp_user_conf conf;
	char *path, *buffer; /* conf stands in them */
};

/*
 * In slurmstepd, as the user. Facts of the libraries go to `software`. False: nothing is known of
 * the user's own files; `own` is to be freed in either case.
 */
bool osp_own_files_read(char *const *environment, struct osp_facts *software,
			struct osp_own_files *own);
void osp_own_files_free(struct osp_own_files *own);

#endif
