/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_facts.h - reads facts about this node and its software from files
 *
 * Reads DMI, sysfs, /proc, the EFA installer's list and names of libraries; runs nothing, loads
 * nothing and asks nobody. Facts in no file stay unknown. One thread.
 */
#ifndef OSP_NODE_FACTS_H
#define OSP_NODE_FACTS_H

#include "lib/env/catalogue.h"
#include "lib/env/facts.h"

struct osp_node {
	char product[128];		      /* DMI's; "" if it has none */
	const struct osp_instance *instance;  /* of the catalogue; NULL: it has no such type */
	const struct osp_instance *rivals[2]; /* two types that the node may be; or NULL */
	int gpus;			      /* PCI functions of NVIDIA and AMD; -1: unknown */
	int efa_adapters; /* counted by their driver; -1: unknown, no PCI device was found */
};

struct osp_search {
	const char *root;	  /* "" for this node; or the folder of an unpacked image */
	const char *library_path; /* folders searched first, as LD_LIBRARY_PATH; NULL: none */
	const char *virtual_env;  /* a Python environment; NULL: none */
};

/* Fills in `facts` and `node` with all of the below. What the node shows overrides the catalogue;
 * limits are this process's, and filled in only if the root is this node's. */
void osp_node_facts(const struct osp_search *search, const struct osp_catalogue *catalogue,
		    struct osp_facts *facts, struct osp_node *node);

/* Fills in only the machine: its type, devices, interfaces, kernel and drivers. */
void osp_node_hardware(const char *root, const struct osp_catalogue *catalogue,
		       struct osp_facts *facts, struct osp_node *node);

/*
 * Fills in the limits on locked memory, stacks and open files, as Slurm passes them on to a task
 * (SLURM_RLIMIT_... in its environment), else this process's, and the size of /dev/shm.
 * `environment` may be NULL.
 */
void osp_node_limits(char *const *environment, struct osp_facts *facts);

#endif
