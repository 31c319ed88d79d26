/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_tree.h - who reports to whom, and by when
 *
 * The ranks of a gang are a tree: rank r reports to (r - 1) / OSP_GATE_FANOUT, so nobody has more
 * than OSP_GATE_FANOUT partners below it and 10,000 nodes are five deep. Where a node's superior is
 * silent it turns to the next one above, at last to rank 0, and then to the deputies, the lowest
 * ranks after 0, itself one of them: so a dead node hides nobody below it, and a dead first node
 * does not hide the gang.
 *
 * Pure arithmetic; any thread.
 */
#ifndef OSP_GATE_TREE_H
#define OSP_GATE_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/gate/gate.h"

#define OSP_GATE_FANOUT	       16
#define OSP_GATE_DEPUTIES      3
#define OSP_GATE_SUPERIORS_MAX 16

/* The ranks that `rank` may report to, in the order in which to try them; a deputy's list ends
 * before itself, and then it decides alone. Returns how many (none for rank 0). */
uint32_t osp_gate_superiors(uint32_t rank, uint32_t node_count,
			    uint32_t superiors[OSP_GATE_SUPERIORS_MAX]);

/* Whether `rank` decides where all of its superiors are silent. */
bool osp_gate_is_deputy(uint32_t rank, uint32_t node_count);

/* Whether `below` may report to `rank`: below it in the tree, or anybody where `rank` is 0 or a
 * deputy of lower rank. */
bool osp_gate_may_report(uint32_t below, uint32_t rank, uint32_t node_count);

/* Whether `below` is `rank` or stands below it in the tree: those that `rank` waits for. */
bool osp_gate_is_below(uint32_t below, uint32_t rank);

/* How many stand below `rank`, itself counted. */
uint32_t osp_gate_subtree(uint32_t rank, uint32_t node_count);

/* Steps from `rank` to rank 0, and the most of any rank. */
uint32_t osp_gate_depth_of(uint32_t rank);
uint32_t osp_gate_height(uint32_t node_count);

/*
 * Whether a decider that heard `heard` nodes, itself counted, may decide. Rank 0 may in any case; a
 * deputy that heard less than half may itself be what is cut off.
 */
bool osp_gate_quorum(uint32_t rank, uint32_t heard, uint32_t node_count);

/* Every deadline of the gate, from its one budget; ms since this node's gate began. */
struct osp_gate_times {
	uint32_t check_ms;   /* the node's own check has ended, or is ERROR */
	uint32_t report_ms;  /* sends up what it has; the higher the later */
	uint32_t turn_ms;    /* a superior silent so long is passed over */
	uint32_t decide_ms;  /* the decider decides; who has not reported is silent */
	uint32_t verdict_ms; /* no verdict by now: none will come */
};

struct osp_gate_times osp_gate_times(uint32_t budget_ms, uint32_t rank, uint32_t node_count);

#endif
