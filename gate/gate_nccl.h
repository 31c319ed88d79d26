/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_nccl.h - data and bandwidth between the nodes of a gang, by NCCL
 *
 * The decider orders all-reduces (lib/gate/gate_reduce.h) down the tree. On each node a process of
 * its own takes part in them (gate_reducer.h), and the node reports its part up the tree:
 *
 *	round 1	 every node gets ready: libnccl, the job's GPUs, memory, an id for a communicator. A
 *	node that
 *		 cannot is known before another node waits for it.
 *	round 2	 one all-reduce over the whole gang
 *	round 3- pairs, only if round 2 was slow or wrong
 *
 * An error (no libnccl, another version, no answer in time) is no node's fault: the log names it,
 * and the network is measured over TCP instead (gate_measure.h). The same holds if no limit of the
 * speed is known, or if spares are chosen by speed. Each round has its share of what is left of the
 * gate's one budget, less the time that TCP needs; a process that has not answered by then is
 * killed. Only for gate/gate_loop.c. One thread.
 */
#ifndef OSP_GATE_NCCL_H
#define OSP_GATE_NCCL_H

#include <stdbool.h>

#include "lib/gate/gate_message.h"
#include "gate/gate_loop_private.h"

/* Starts round 1, on the decider; false if policy, depth, the job's GPUs or the time that is left
 * do not allow it. `reports` are those of all ranks. */
bool gate_reduce_start(struct gate_loop *loop, const struct osp_gate_report *reports);

/* Adds the result to the reports, on the decider, once loop->reduce.judged. */
void gate_reduce_judge(struct gate_loop *loop, struct osp_gate_report *reports);

/* Passes an order from above on, and carries it out. Takes over what is in `message`. */
void gate_reduce_order(struct gate_loop *loop, struct osp_gate_message *message);

/* Takes parts from below. */
void gate_reduce_hear(struct gate_loop *loop, const struct osp_gate_message *message);

/* Does what is due; to be called often. */
void gate_reduce_serve(struct gate_loop *loop);

/* Returns when to call gate_reduce_serve() even if no message came, in ms since this gate began. */
uint64_t gate_reduce_look_ms(const struct gate_loop *loop);

/* Lets this node's process end. */
void gate_reduce_stop(struct gate_loop *loop);
void gate_reduce_free(struct gate_loop *loop);

#endif
