/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_software.h - versions of the libraries that a job would load, from files alone
 *
 * For node_facts.c. One thread.
 */
#ifndef OSP_NODE_SOFTWARE_H
#define OSP_NODE_SOFTWARE_H

#include <stddef.h>

#include "tools/node_facts.h"

/* NCCL, aws-ofi-nccl, libfabric, CUDA, the EFA installer and the folders of its libraries. */
void osp_node_software(const struct osp_search *search, struct osp_facts *facts);

/* A whole file below `root`, to be freed; NULL where it cannot be read. */
char *osp_node_read(const char *root, const char *path, size_t limit_bytes, size_t *length_bytes);

/* Takes a fact where `text` is not empty and parses. */
void osp_node_tell(struct osp_facts *facts, enum osp_fact_id id, const char *text);

#endif
