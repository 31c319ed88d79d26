/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_fresh.h - does this node's last pass still count?
 *
 * Asked before a check is begun, and without one: on most starts the answer is yes, and then neither
 * a program nor a library of the check's is loaded. The node's state is read by a child of its own,
 * for a driver may hang; nothing here waits for it. One thread.
 */
#ifndef OSP_GATE_FRESH_H
#define OSP_GATE_FRESH_H

#include "check/base/node_state.h"
#include "gate/gate_job.h"

struct osp_gate_fresh {
	struct osp_state_look
		look;	   /* its answer can be waited for with poll(); child 0: not asked */
	uint64_t until_ms; /* osp_now_ms(): then it is as good as no */
	int lock;
};

/* False if it cannot be asked now (no pass is ever reused, a check loads GPUs, no process): then
 * nothing is to be heard or dropped. It gets a part of the check's budget. */
bool osp_gate_fresh_ask(struct osp_gate_fresh *fresh, const struct osp_gate_job *job,
			uint32_t budget_ms);
bool osp_gate_fresh_asked(const struct osp_gate_fresh *fresh);

/* The answer, once the look's is readable or its time is over; no where anything cannot be told. It
 * is asked no more after that. */
bool osp_gate_fresh_holds(struct osp_gate_fresh *fresh, const struct osp_gate_job *job);

/* Asked no more, without an answer. */
void osp_gate_fresh_drop(struct osp_gate_fresh *fresh);

#endif
