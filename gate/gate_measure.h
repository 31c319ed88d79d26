/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_measure.h - data and bandwidth between the nodes of a gang, over TCP
 *
 * The decider orders links (lib/gate/gate_links.h); each node sends to and receives from whom it is told,
 * in processes that have given up root's rights before the first byte, over connections that began as
 * the gate's own do. Every byte is compared with what must have been sent; the receiver tells the
 * figure. Only for gate/gate_talk.c. One thread.
 */
#ifndef OSP_GATE_MEASURE_H
#define OSP_GATE_MEASURE_H

#include <stdbool.h>

#include "lib/gate/gate_message.h"
#include "gate/gate_talk_data.h"

/* The decider: whether to measure at all, and the first round. `reports` are all, by rank. */
bool gate_measure_start(struct gate_talk *talk, const struct osp_gate_report *reports);

/* The decider: what was measured goes into the reports. */
void gate_measure_judge(struct gate_talk *talk, struct osp_gate_report *reports);

/* An order came from above: passed on and carried out. */
void gate_measure_order(struct gate_talk *talk, const struct osp_gate_message *message);

/* Somebody is about to send: its connection belongs to a process of its own from now on. False: it
 * was not ordered, or too many do. */
bool gate_measure_receive(struct gate_talk *talk, struct osp_gate_peer *peer,
			  const struct osp_gate_message *message);

/* Figures from below. */
void gate_measure_hear(struct gate_talk *talk, const struct osp_gate_message *message);

/* What nodes below saw around a round. */
void gate_measure_hear_traffic(struct gate_talk *talk, const struct osp_gate_message *message);

/* To be called often while `gate_measuring()`. */
void gate_measure_serve(struct gate_talk *talk);
bool gate_measuring(const struct gate_talk *talk);

void gate_measure_free(struct gate_talk *talk);

#endif
