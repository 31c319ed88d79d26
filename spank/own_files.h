/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * own_files.h - a child of slurmstepd reads the folders and files that a step's user names
 *
 * LD_LIBRARY_PATH, VIRTUAL_ENV and NCCL_CONF_FILE may name anything: folders without end, a FUSE
 * file system that its owner keeps from answering, a dead NFS server. Slurmstepd never opens them.
 * A child of it does, as the user, with the right to read alone (lib/base/confine.h) and with none
 * of slurmstepd's files; it is killed when its time is over, and left behind if it does not die.
 */
#ifndef OSP_OWN_FILES_H
#define OSP_OWN_FILES_H

#include <stdbool.h>

#include "lib/env/facts.h"
#include "lib/env/user_env.h"

/* The child has OSP_SOFTWARE_MS_MAX for everything, plus the time for which it waited for a
 * processor, but no more than this in all. */
#define OSP_OWN_FILES_MOST_MS 2000

struct osp_own_files {
	bool known; /* the child answered, so all that follows is known */
	bool cut;   /* a budget of lib/env/node_software.h ended before the folders did */
	struct osp_user_conf conf;
	char *path, *buffer; /* conf points into them */
};

/*
 * Reads them in slurmstepd, as the user. Facts of the libraries go to `software`. Returns false if
 * nothing is known of the user's own files. The caller frees `own` in either case.
 */
bool osp_own_files_read(char *const *environment, struct osp_facts *software,
			struct osp_own_files *own);
void osp_own_files_free(struct osp_own_files *own);

#endif
