/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fabric.h - topologies for tests: from a table of nodes, or regular ones of any size
 */
#ifndef OSP_TESTS_FABRIC_H
#define OSP_TESTS_FABRIC_H

#include <stddef.h>
#include <stdint.h>

#include "lib/topology/topology.h"

#define FABRIC_LEVELS_MAX 5

/* A node and the domains that it is known to be in, bottom first; NULL where unknown. */
struct fabric_node {
	const char *name;
	const char *domains[FABRIC_LEVELS_MAX];
};

/* Levels are named leaf, spine, core, zone, region. Ends the program with a word if that fails. */
struct osp_topology *fabric_from(const struct fabric_node *nodes, size_t count, uint32_t levels);

/* `tops` top domains, in each `below[i]` of the next level, ..., in each leaf the last of them
 * nodes: fabric_regular(32, (uint32_t[]){16, 16}, 2) is 32 spines of 16 leaves of 16 nodes. */
struct osp_topology *fabric_regular(uint32_t tops, const uint32_t *below, uint32_t levels);

#endif
