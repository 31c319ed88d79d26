/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_software.h - finds the versions of the libraries that a job would load, from files alone
 *
 * One thread.
 */
#ifndef OSP_NODE_SOFTWARE_H
#define OSP_NODE_SOFTWARE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/env/node_facts.h"

/*
 * The limits of a search through the folders that a user names: folders, each counted once (by
 * device and inode); names in them; bytes of libraries; time. Real paths have about ten folders;
 * the largest aws-ofi-nccl seen has 20 MB.
 */
#define OSP_SOFTWARE_FOLDERS_MAX 64
#define OSP_SOFTWARE_NAMES_MAX	 65536
#define OSP_SOFTWARE_BYTES_MAX	 ((size_t)64 * 1024 * 1024)
#define OSP_SOFTWARE_MS_MAX	 200

/*
 * Finds NCCL, aws-ofi-nccl, libfabric, CUDA, the EFA installer and the folders of its libraries,
 * first in the search's own folders (LD_LIBRARY_PATH, VIRTUAL_ENV), then in the usual places. Known
 * facts stay as they are.
 */
void osp_node_software(const struct osp_search *search, struct osp_facts *facts);

/* Search the user's folders and the usual places. osp_node_software_own() returns false if it
 * reached a limit above; the facts found until then count. Both wait for a file system that does
 * not answer: call them in a process that may hang. */
bool osp_node_software_own(const struct osp_search *search, struct osp_facts *facts);
void osp_node_software_usual(const char *root, struct osp_facts *facts);

/* The folders and files on which the findings of osp_node_software_usual() depend. */
extern const char *const osp_node_software_places[];
extern const size_t osp_node_software_place_count;

/* Reads a whole file below `root`, which the caller frees; NULL if it cannot be read. */
char *osp_node_read(const char *root, const char *path, size_t limit_bytes, size_t *length_bytes);

/* Sets a fact if `text` is not empty and can be parsed. */
void osp_node_set_fact(struct osp_facts *facts, enum osp_fact_id id, const char *text);

#endif
