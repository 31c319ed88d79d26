/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_barrier.h - one node's part in gathering the gang's reports: what to do next, and when
 *
 * A state machine without a clock and without a network: the caller tells what happened and the time
 * in ms since this node's gate began, and is told what to do. The same code runs on the nodes
 * (gate/gate_talk.c) and, 10,000 of it side by side, in tests/unit/test_gate_barrier.c.
 *
 * Reports go up once this node's whole subtree is in, or at the node's report time with what there
 * is, or a while after its own check (who has found it silent has turned to another by then); what
 * comes later is passed on at once. A superior that cannot be reached is tried for a
 * while, since its Prolog may not have begun, and then the next one is; one that goes away is left
 * at once, and everything is said again to the next. Who goes away below without a verdict is no
 * longer heard, whatever it said: it may come back, here or elsewhere, and say it again. That it has
 * gone is a report too, with the result SILENT; the decider waits for it as for who never came, but
 * has heard of it: those whose budget is over do not keep a deputy from deciding. One thread an object.
 */
#ifndef OSP_GATE_BARRIER_H
#define OSP_GATE_BARRIER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/gate/gate.h"
#include "lib/gate/gate_tree.h"

struct osp_gate_barrier {
	uint32_t rank;
	uint32_t node_count;
	struct osp_gate_times times;
	struct osp_gate_report *reports; /* heard, in the order in which they came */
	uint32_t heard;
	uint32_t room;
	uint8_t *known;	      /* a bit a rank: heard */
	uint32_t heard_below; /* of this node's subtree, itself counted */
	uint32_t gone;	      /* of those heard: who has gone, with a report that says so */
	uint32_t told;	      /* so many of the reports the present superior has */
	uint32_t subtree;
	uint32_t superiors[OSP_GATE_SUPERIORS_MAX];
	uint32_t superior_count;
	uint32_t superior; /* index of the present one */
	bool all_silent;   /* each was tried in vain */
	bool connected;	   /* to it */
	bool trying;	   /* tried_ms counts */
	uint64_t tried_ms; /* since when it is tried in vain */
	bool ended;	   /* decided, or the verdict is here */
};

/* 0, or -1 when memory ran out. */
int osp_gate_barrier_start(struct osp_gate_barrier *barrier, uint32_t rank, uint32_t node_count,
			   uint32_t budget_ms);
void osp_gate_barrier_free(struct osp_gate_barrier *barrier);

/*
 * This node's own report, or one from below, at `now_ms`. 1; 0 when nothing is new: the first word about a rank
 * that has not gone counts, since a second one comes the other way round a silent node; -1 when memory ran out.
 */
int osp_gate_barrier_hear(struct osp_gate_barrier *barrier, const struct osp_gate_report *report,
			  uint64_t now_ms);

/*
 * No gate runs on `rank`, as slurmctld says: the job has no GPUs there. It is not waited for, and not
 * tried as a superior; where it was the only one, this node decides. 0, or -1 when memory ran out.
 */
int osp_gate_barrier_absent(struct osp_gate_barrier *barrier, uint32_t rank, uint64_t now_ms);

/* The connection from below with `rank` has ended, and it had no verdict. 0, or -1 when memory ran out. */
int osp_gate_barrier_gone(struct osp_gate_barrier *barrier, uint32_t rank);

/* What happened to the connection with the present superior. */
void osp_gate_barrier_connected(struct osp_gate_barrier *barrier);
void osp_gate_barrier_refused(struct osp_gate_barrier *barrier, uint64_t now_ms); /* not reached */
void osp_gate_barrier_lost(struct osp_gate_barrier *barrier, uint64_t now_ms);	  /* was there */

/* The verdict came, or was made here. */
void osp_gate_barrier_end(struct osp_gate_barrier *barrier);

enum osp_gate_step {
	OSP_GATE_WAIT,	  /* for whatever comes; at most until *wake_ms */
	OSP_GATE_CONNECT, /* to superiors[superior] */
	OSP_GATE_SEND,	  /* to it: what osp_gate_barrier_take() gives */
	OSP_GATE_DECIDE,  /* this node decides: who is not heard is silent */
	OSP_GATE_ALONE,	  /* the time is over and no verdict will come */
};

enum osp_gate_step osp_gate_barrier_step(const struct osp_gate_barrier *barrier, uint64_t now_ms,
					 uint64_t *wake_ms);

/* The reports that the superior does not have, by rank, into `out` (room for barrier->heard); returns
 * how many, and counts them as told. */
uint32_t osp_gate_barrier_take(struct osp_gate_barrier *barrier, struct osp_gate_report *out);

/* For the decider: those of all ranks into `out` (room for node_count), who was not heard as
 * silent. */
void osp_gate_barrier_all(const struct osp_gate_barrier *barrier, struct osp_gate_report *out);

#endif
