/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gang_segments.h - which segment each node of a gang is in, as the gate gets it
 *
 * slurmctld writes it when a gang with spares in each segment starts (lib/policy/spares.h), since
 * the gate knows no fabric: "0x18,1x18,2,0" are the numbers of the segments of the nodes in the
 * order of Slurm's list, with the length of a run of more than one. The text of the largest gang is
 * below 100,000 bytes, which an environment holds; AdminComment would not.
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_GANG_SEGMENTS_H
#define OSP_GANG_SEGMENTS_H

#include <stdint.h>

#include "lib/place/segments.h"
#include "lib/topology/topology.h"

/*
 * Returns the text of the nodes `nodes` of the topology, `count` of them in the order of Slurm's
 * list, cut into the lowest of `segments` as osp_node_places() cuts them. It is malloc'd; NULL if
 * there are no segments, or memory ran out.
 */
char *osp_gang_segments_text(const struct osp_topology *topology, const uint32_t *nodes,
			     uint32_t count, const struct osp_segments *segments);

/*
 * Reads a text about `count` nodes: segment[i] gets the segment of node i. Returns how many
 * segments there are; 0 if the text is malformed, is about another number of nodes, or leaves a
 * segment without any.
 */
uint32_t osp_gang_segments_read(const char *text, uint32_t count, uint32_t *segment);

#endif
