/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_measure.h - data and bandwidth between the nodes of a gang, over TCP
 *
 * The decider orders links (lib/gate/gate_links.h); each node sends to and receives from whom it is
 * told, in processes that have given up root's rights before the first byte, over connections that
 * began as the gate's own do. Every byte is compared with what must have been sent; the receiver
 * reports the figure. Only for gate/gate_loop.c. One thread.
 */
#ifndef OSP_GATE_MEASURE_H
#define OSP_GATE_MEASURE_H

#include <stdbool.h>

#include "lib/gate/gate_message.h"
#include "gate/gate_loop_private.h"

/* Starts the first round, on the decider; false if nothing is to be measured. `reports` are those
 * of all ranks. */
bool gate_measure_start(struct gate_loop *loop, const struct osp_gate_report *reports);

/* Adds what was measured to the reports, on the decider. */
void gate_measure_judge(struct gate_loop *loop, struct osp_gate_report *reports);

/* Passes an order from above on, and carries it out. */
void gate_measure_order(struct gate_loop *loop, const struct osp_gate_message *message);

/* Hands the connection of a node that is about to send to a process of its own. False if that was
 * not ordered, or too many send. */
bool gate_measure_receive(struct gate_loop *loop, struct osp_gate_peer *peer,
			  const struct osp_gate_message *message);

/* Takes figures from below. */
void gate_measure_hear(struct gate_loop *loop, const struct osp_gate_message *message);

/* Takes what nodes below saw around a round. */
void gate_measure_hear_traffic(struct gate_loop *loop, const struct osp_gate_message *message);

/* Does what is due; to be called often while gate_measuring(). */
void gate_measure_serve(struct gate_loop *loop);
bool gate_measuring(const struct gate_loop *loop);

void gate_measure_free(struct gate_loop *loop);

#endif
