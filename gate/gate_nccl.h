/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_nccl.h - data and bandwidth between the nodes of a gang, by NCCL
 *
 * The decider orders all-reduces (lib/gate/gate_reduce.h) down the tree; each node lets a process of
 * its own take part in them (gate_reducer.h) and tells its part up again:
 *
 *	round 1	 every node gets ready: libnccl, the job's GPUs, memory, an id for a communicator. Whoever
 *		 cannot is known before anybody waits for it in one.
 *	round 2	 one all-reduce over the whole gang
 *	round 3- pairs, only if that was slow or wrong
 *
 * Whatever breaks (no libnccl, another version, an error, no answer in time) is no node's fault: the
 * log says what it was, and the network is measured over TCP (gate_measure.h). So it is if no limit
 * of the speed is known, and where spares are chosen by speed. Each round has its share of what is
 * left of the gate's one budget, with time kept for TCP; a process that has not answered by then is
 * killed. Only for gate/gate_talk.c. One thread.
 */
#ifndef OSP_GATE_NCCL_H
#define OSP_GATE_NCCL_H

#include <stdbool.h>

#include "lib/gate/gate_message.h"
#include "gate/gate_talk_data.h"

/* The decider: whether to begin at all, by policy, depth, the job's GPUs and the time that is left.
 * `reports` are all, by rank. */
bool gate_reduce_start(struct gate_talk *talk, const struct osp_gate_report *reports);

/* The decider, once talk->reduce.judged: what came of it goes into the reports. */
void gate_reduce_judge(struct gate_talk *talk, struct osp_gate_report *reports);

/* An order came from above: passed on and carried out. Takes what is in `message`. */
void gate_reduce_order(struct gate_talk *talk, struct osp_gate_message *message);

/* Parts from below. */
void gate_reduce_hear(struct gate_talk *talk, const struct osp_gate_message *message);

/* To be called often while `gate_reducing()`. */
void gate_reduce_serve(struct gate_talk *talk);
bool gate_reducing(const struct gate_talk *talk);

/* When to look though nothing came: answers are heard (ms since this gate began). */
uint64_t gate_reduce_look_ms(const struct gate_talk *talk);

/* Nothing more will be asked of this node's process. */
void gate_reduce_stop(struct gate_talk *talk);
void gate_reduce_free(struct gate_talk *talk);

#endif
