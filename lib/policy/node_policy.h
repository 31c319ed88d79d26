/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_policy.h - onespine.yaml in force on a node
 *
 * The first of these that exists: the file beside slurm.conf; what slurmctld sent to a configless
 * node; the file in the folder of the installation's samples. slurmctld sends the files that
 * slurm.conf includes, and no others of ours, so `onespine setup --head` writes onespine.yaml as
 * comments into the file that slurm.conf includes, each line as "#| TEXT".
 *
 * Any thread; not inside slurmctld's scheduling calls.
 */
#ifndef OSP_NODE_POLICY_H
#define OSP_NODE_POLICY_H

#include <stddef.h>

#include "lib/base/error.h"
#include "lib/base/text.h"

#define OSP_CONFIG_NAME "onespine.yaml"
#define OSP_PIECE_NAME	"slurm-onespine.conf" /* the file that setup has slurm.conf include */

/* Start with zeroes; call osp_node_policy_free() in any case. */
struct osp_node_policy {
	char *file; /* the policy's file; NULL if there is none */
	char *text;
	size_t text_bytes;
};

/*
 * Reads the policy in force. `slurm_conf` (slurm.conf's path) and `site` (a folder) may be NULL.
 * Returns 1 with all fields set, 0 if there is none, or -1 with `error` and perhaps `file` set if
 * it cannot be read.
 */
int osp_node_policy_read(const char *slurm_conf, const char *site, struct osp_node_policy *policy,
			 struct osp_error *error);
void osp_node_policy_free(struct osp_node_policy *policy);

/*
 * Checks that `file`, a policy that root is about to obey, belongs to root, this process's user,
 * slurm.conf's owner or SlurmUser, and that nobody else may write it (lib/base/trust.h). Returns 0,
 * or -1 with `error` set. Looks up SlurmUser only if the owner is none of the first three.
 */
int osp_policy_trusted(const char *file, const char *slurm_conf, struct osp_error *error);

/* Appends onespine.yaml as comments of slurm.conf. */
void osp_node_policy_hide(const char *yaml, size_t yaml_bytes, struct osp_text *text);

/* Returns the onespine.yaml in those comments, each line at the number that it has there. The
 * caller frees it; NULL with errno set: ENOENT if there are none, or ENOMEM. */
char *osp_node_policy_reveal(const char *text, size_t text_bytes, size_t *yaml_bytes);

#endif
