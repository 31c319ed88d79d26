/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_cache.h - what is known about this node, kept by root from boot to boot
 *
 * To look at a node (DMI, PCI, hwloc, libraries) takes 7 ms where hwloc reads a file, and more if
 * it asks the machine: too long for the start of every step. So root writes its findings to a file,
 * with a stamp of their sources: the boot, the PCI devices, adapters with their states, interfaces
 * and routes, the driver, the folders that hold libraries, and the files of the catalogue and of
 * rules. The file holds while the stamp is the same; doc/performance.md says how long both ways
 * take.
 *
 * The file is trusted only if it and its folder belong to the caller's own user id and nobody else
 * may write them; it is replaced whole. A fact that is not in it is unknown, as always.
 *
 * One thread.
 */
#ifndef OSP_NODE_CACHE_H
#define OSP_NODE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/bind/bind_machine.h"
#include "lib/env/facts.h"

struct osp_node_source {
	const char *root;     /* "" for this node; or the folder of another's files */
	const char *topology; /* hwloc or NCCL XML to read instead of asking hwloc; NULL: none */
	const char *data;     /* our folder, with instances/ and rules/ */
	const char *site;     /* the site's folder, with instances.d/ and rules.d/ */
	const char *folder;   /* the folder of the file; NULL: keep none */
};

struct osp_node_known {
	struct osp_facts hardware; /* the node's; no software, no limits */
	struct osp_facts software; /* in the usual places */
	char product[128];	   /* DMI's; "" if it has none */
	int gpus;		   /* of NVIDIA and AMD, on the PCI bus; -1: none seen */
	int64_t type_gpus;	   /* of the catalogue's type; -1: unknown */
	struct osp_machine *machine;
	uint64_t stamp; /* changes if any of it, or a rule, may have changed; 0: not kept */
	bool was_kept;	/* it came from the file */
};

/*
 * Reads the file, or looks at the node and writes the file. Returns NULL with `error` set if the
 * node cannot be looked at or a file of the catalogue is wrong. A file that cannot be written is no
 * error.
 */
struct osp_node_known *osp_node_know(const struct osp_node_source *source, struct osp_error *error);
void osp_node_forget(struct osp_node_known *known); /* NULL is allowed */

/* Returns whether the file, as it is now, would be used; for tests. */
bool osp_node_is_kept(const struct osp_node_source *source);

#endif
