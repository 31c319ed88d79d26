/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_cache.h - what is known of this node, kept by root from boot to boot
 *
 * To look at a node (DMI, PCI, hwloc, libraries) takes tens to hundreds of milliseconds, too long
 * for the start of every step. So root writes down what it found, with a stamp of what it found it
 * in: the boot, the PCI devices, adapters with their states, interfaces and routes, the driver, the
 * folders that hold libraries, and the files of the catalogue and of rules. While the stamp is the
 * same the file holds; doc/performance.md says how long both ways take.
 *
 * The file is trusted only if its folder and it belong to the caller's own user id and nobody
 * else may write them; it is replaced whole. A fact that is not in it is unknown, as ever.
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
	const char *topology; /* an hwloc or NCCL XML file to take for hwloc's look; NULL: none */
	const char *data;     /* holds instances/ and rules/, ours */
	const char *site;     /* holds instances.d/ and rules.d/, the site's */
	const char *folder;   /* where the file is kept; NULL: nowhere */
};

struct osp_node_known {
	struct osp_facts hardware; /* the node's; no software, no limits */
	struct osp_facts software; /* in the usual places */
	char product[128];	   /* of DMI; "" if it has none */
	int gpus;		   /* of NVIDIA and AMD, on the PCI bus; -1: none seen */
	int64_t type_gpus;	   /* of the catalogue's type; -1: unknown */
	struct osp_machine *machine;
	uint64_t stamp; /* changes when any of it, or a rule, may have; 0: kept nowhere */
	bool was_kept;	/* it came from the file */
};

/*
 * Reads the file, or looks and writes it. Returns NULL with `error` set where the node cannot be
 * looked at or a file of the catalogue is wrong; a file that cannot be written is no error.
 */
struct osp_node_known *osp_node_know(const struct osp_node_source *source, struct osp_error *error);
void osp_node_forget(struct osp_node_known *known); /* NULL is allowed */

/* For tests: whether the file, as it stands, would serve. */
bool osp_node_is_kept(const struct osp_node_source *source);

#endif
