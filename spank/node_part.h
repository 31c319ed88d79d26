/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_part.h - what a second object, onespine_node.so, does for onespine.so in slurmstepd
 *
 * Environment and binding need hwloc and libyaml, which sbatch and srun must not load; so they are
 * in an object of their own, which only slurmstepd loads. It exports one name, osp_node_part.
 *
 * Nothing here fails a job: what cannot be done is left undone and reported, once a job.
 */
#ifndef OSP_NODE_PART_H
#define OSP_NODE_PART_H

#include <slurm/spank.h>

#include "spank/modes.h"

#define OSP_NODE_PART_NAME "osp_node_part"

/* The arguments of plugstack.conf; NULL if they were not given. */
struct osp_node_arguments {
	const char *config;   /* onespine.yaml; by default as lib/policy/node_policy.h says */
	const char *cache;    /* a folder of root's; /run/onespine by default */
	const char *topology; /* an hwloc or NCCL XML file, for nodes that hide their PCI devices */
	const char *data;     /* where rules/ and instances/ are */
	const char *site;     /* where rules.d/ and instances.d/ are */
	const char *root;     /* for tests: a folder that is used as / when the node is looked at */
};

struct osp_node_part {
	const char *version; /* of this object; one of another version is not used */

	/* Begins a step, as root, once a step and node. */
	void (*begin)(spank_t spank, const struct osp_node_arguments *arguments,
		      const struct osp_modes *modes);
	/* Decides for the step, as the user, once a step and node, in the host's file system. */
	void (*user)(spank_t spank);
	/* Sets up a task, as the user, in each task, in the file system that it has by then. */
	void (*task)(spank_t spank);
};

#endif
