/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_tree.h - the tree along which the nodes of a gang report, and its deadlines
 *
 * Rank r reports to (r - 1) / OSP_GATE_FANOUT, so no node has more than OSP_GATE_FANOUT children
 * and the tree of 10,000 nodes is five levels deep. A node whose parent does not answer tries the
 * next one above, then rank 0, then the deputies, which are the lowest ranks after 0. So a dead
 * node does not hide those below it, and a dead first node does not hide the gang.
 *
 * Pure arithmetic; any thread.
 */
#ifndef OSP_GATE_TREE_H
#define OSP_GATE_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/gate/gate.h"

#define OSP_GATE_FANOUT	     16
#define OSP_GATE_DEPUTIES    3
#define OSP_GATE_PARENTS_MAX 16

/* Writes the ranks that `rank` may report to, in the order in which to try them. The list of a
 * deputy ends before the deputy itself, which then decides alone. Returns their number (0 for rank
 * 0). */
uint32_t osp_gate_parents(uint32_t rank, uint32_t node_count,
			  uint32_t parents[OSP_GATE_PARENTS_MAX]);

/* Returns whether `rank` decides if none of its parents answers. */
bool osp_gate_is_deputy(uint32_t rank, uint32_t node_count);

/* Returns whether `below` may report to `rank`: it is below it in the tree, or `rank` is 0 or a
 * deputy of lower rank. */
bool osp_gate_may_report(uint32_t below, uint32_t rank, uint32_t node_count);

/* Returns whether `below` is `rank` or below it in the tree. `rank` waits for all of these. */
bool osp_gate_is_below(uint32_t below, uint32_t rank);

/* Returns the number of ranks in the subtree of `rank`, including itself. */
uint32_t osp_gate_subtree(uint32_t rank, uint32_t node_count);

/* Returns the most steps from any rank to rank 0. */
uint32_t osp_gate_height(uint32_t node_count);

/*
 * Returns whether a decider with the reports of `heard` nodes, including its own, may decide. Rank
 * 0 always may. A deputy with less than half of the reports may not, since it may be the one that
 * is cut off.
 */
bool osp_gate_quorum(uint32_t rank, uint32_t heard, uint32_t node_count);

/* Every deadline of the gate, derived from its one budget, in ms since this node's gate began. */
struct osp_gate_times {
	uint32_t check_ms;   /* the node's own check must have ended; later it counts as ERROR */
	uint32_t report_ms;  /* the node reports what it has; a rank nearer to 0 does so later */
	uint32_t turn_ms;    /* a parent that has not answered for this long is skipped */
	uint32_t decide_ms;  /* the decider decides; a node without a report is SILENT */
	uint32_t verdict_ms; /* a node without a verdict stops waiting for one */
};

struct osp_gate_times osp_gate_times(uint32_t budget_ms, uint32_t rank, uint32_t node_count);

/*
 * Returns until when a decider that decides at `now_ms` asks slurmctld, in ms since its gate began.
 * It informs the others after that, whose gates may have begun earlier: a tenth of the budget is
 * left for it, or half of the time that is left, if this is less.
 */
uint32_t osp_gate_ask_until_ms(const struct osp_gate_times *times, uint32_t now_ms);

#endif
