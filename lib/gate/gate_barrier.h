/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_barrier.h - one node's part in gathering the gang's reports: the next step and its time
 *
 * This is a state machine without a clock and without a network. The caller passes in each event
 * and the time in ms since this node's gate began, and gets the next step back. The same code runs
 * on the nodes (gate/gate_loop.c) and, as 10,000 nodes side by side, in
 * tests/unit/test_gate_barrier.c.
 *
 * A node sends its reports up as soon as its whole subtree has reported; at its report time with
 * what it has; or a while after its own check has ended, since by then a child that did not reach
 * this node has tried another one. It passes later reports on at once.
 *
 * A parent that cannot be reached is tried for a while, since its Prolog may not have begun; then
 * the next parent is tried. If the connection with the parent ends, the next parent is tried at
 * once and gets every report again.
 *
 * A child whose connection ends before it has a verdict no longer counts as reported, since it may
 * come back, here or elsewhere, and report again. The node sends a report with the result SILENT
 * for it. The decider waits for such a child as for one that never came, but counts it for the
 * quorum: nodes whose budget is over do not keep a deputy from deciding.
 *
 * One object belongs to one thread.
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
	struct osp_gate_report *reports; /* received, in the order of their arrival */
	uint32_t heard;
	uint32_t room;
	uint8_t *known;	      /* one bit for each rank: its report was received */
	uint32_t heard_below; /* of this node's subtree, including itself */
	uint32_t gone;	      /* of those received: reports that a child has gone */
	uint32_t reported;    /* the number of reports that the present parent has */
	uint32_t subtree;
	uint32_t parents[OSP_GATE_PARENTS_MAX];
	uint32_t parent_count;
	uint32_t parent;   /* index of the current one */
	bool all_silent;   /* no parent answered */
	bool connected;	   /* to the current parent */
	bool trying;	   /* tried_ms is valid */
	uint64_t tried_ms; /* when the first attempt to reach the current parent failed */
	bool ended;	   /* this node has decided, or has the verdict */
};

/* Initializes the barrier. Returns 0, or -1 if memory ran out. */
int osp_gate_barrier_start(struct osp_gate_barrier *barrier, uint32_t rank, uint32_t node_count,
			   uint32_t budget_ms);
void osp_gate_barrier_free(struct osp_gate_barrier *barrier);

/*
 * Takes this node's own report, or one from below, at `now_ms`. Returns 1; 0 if it says nothing
 * new; or -1 if memory ran out. The first report about a rank that has not gone counts: a second
 * one is the same report that took another way, around a node that does not answer.
 */
int osp_gate_barrier_hear(struct osp_gate_barrier *barrier, const struct osp_gate_report *report,
			  uint64_t now_ms);

/*
 * Records that no gate runs on `rank`, because the job has no GPUs there, as slurmctld says. The
 * barrier does not wait for it and does not try it as a parent; if it was the only parent, this
 * node decides. Returns 0, or -1 if memory ran out.
 */
int osp_gate_barrier_absent(struct osp_gate_barrier *barrier, uint32_t rank, uint64_t now_ms);

/* Records that the connection from below with `rank` ended before it had the verdict. Returns 0, or
 * -1 if memory ran out. */
int osp_gate_barrier_gone(struct osp_gate_barrier *barrier, uint32_t rank);

/* Record that the current parent was reached, could not be reached, or has closed the
 * connection. */
void osp_gate_barrier_connected(struct osp_gate_barrier *barrier);
void osp_gate_barrier_refused(struct osp_gate_barrier *barrier, uint64_t now_ms);
void osp_gate_barrier_lost(struct osp_gate_barrier *barrier, uint64_t now_ms);

/* Records that the verdict arrived or was made here. */
void osp_gate_barrier_end(struct osp_gate_barrier *barrier);

enum osp_gate_step {
	OSP_GATE_WAIT,	  /* wait for an event, at most until *wake_ms */
	OSP_GATE_CONNECT, /* connect to parents[parent] */
	OSP_GATE_SEND,	  /* send the parent what osp_gate_barrier_take() returns */
	OSP_GATE_DECIDE,  /* decide; a node without a report is SILENT */
	OSP_GATE_ALONE,	  /* stop: the time is over and no verdict will arrive */
};

enum osp_gate_step osp_gate_barrier_step(const struct osp_gate_barrier *barrier, uint64_t now_ms,
					 uint64_t *wake_ms);

/* Writes the reports that the parent does not have to `out`, by rank (room for barrier->heard), and
 * counts them as sent. Returns their number. */
uint32_t osp_gate_barrier_take(struct osp_gate_barrier *barrier, struct osp_gate_report *out);

/* Writes a report for each rank to `out` (room for node_count), for the decider; a rank without a
 * report gets SILENT. */
void osp_gate_barrier_all(const struct osp_gate_barrier *barrier, struct osp_gate_report *out);

#endif
