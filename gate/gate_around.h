/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_around.h - other traffic on the nodes during a round of the network test
 *
 * Each node that takes part reads its adapters' counters when the round begins and when its own
 * processes have ended, and reports the result to the decider. lib/gate/gate_traffic.h judges it.
 * One thread.
 */
#ifndef OSP_GATE_AROUND_H
#define OSP_GATE_AROUND_H

#include "lib/gate/gate_message.h"
#include "gate/gate_adapters.h"

/* On this node, of one round. */
struct gate_around {
	struct gate_reading before;
	struct gate_reading after;
	bool after_begun;
	struct osp_gate_own_traffic own; /* so far */
};

/* Begins a round. `address` is the local address of the round's connections, NULL: any. */
void gate_around_begin(struct gate_around *around, const char *root,
		       const struct sockaddr_storage *address);

/* Adds what one process of the round did from `begun_ns` until now. The process still runs, or was
 * not waited for yet. */
void gate_around_add(struct gate_around *around, const char *root, pid_t child, uint64_t begun_ns,
		     uint64_t in_bytes, uint64_t out_bytes);

/* Reads the counters again, once all processes of the round have ended in time. */
void gate_around_ended(struct gate_around *around, const char *root,
		       const struct sockaddr_storage *address);

/* Returns true if both readings are there, and `traffic` says all but the rank. With `late` they
 * are not waited for, and `traffic` names what is missing (OSP_GATE_NOT_ENDED,
 * OSP_GATE_NOT_READ). */
bool gate_around_take(struct gate_around *around, bool late, struct osp_gate_traffic *traffic);
void gate_around_end(struct gate_around *around);

/* For the decider: the reports of a round's nodes, by rank. */
struct gate_arounds {
	struct osp_gate_traffic *now;  /* of this round; NOT_REPORTED: no report yet */
	struct osp_gate_traffic *seen; /* the last that was not quiet, of any round */
	bool *awaited;
	uint32_t missing;
};

/* Begins a round with these links. False when memory ran out. */
bool gate_arounds_begin(struct gate_arounds *arounds, const struct osp_gate_link *links,
			uint32_t count, uint32_t node_count);
void gate_arounds_put(struct gate_arounds *arounds, const struct osp_gate_traffic *traffic);

/* Marks the links of which an end was not quiet. */
void gate_arounds_mark(struct gate_arounds *arounds, struct osp_gate_link *links, uint32_t count,
		       uint32_t node_count);
void gate_arounds_free(struct gate_arounds *arounds);

/* Reads CLOCK_MONOTONIC. */
uint64_t gate_around_now_ns(void);

#endif
