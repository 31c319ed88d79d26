/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_instance.h - which instance of a cloud a node is, as Slurm has it
 *
 * Needs slurm/slurm.h. Any thread.
 */
#ifndef OSP_NODE_INSTANCE_H
#define OSP_NODE_INSTANCE_H

#include <slurm/slurm.h>
#include <stddef.h>

#define OSP_INSTANCE_BYTES 128

/*
 * Returns the node's instance: its own word in Extra (extra_text.h), which goes before Slurm's
 * InstanceId, said when it was launched. NULL if there is neither; the word may be in `buffer`.
 */
const char *osp_listed_instance(const node_info_t *info, char *buffer, size_t buffer_bytes);

#endif
