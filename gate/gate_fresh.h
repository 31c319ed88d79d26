/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_fresh.h - whether this node's last pass still counts
 *
 * The gate asks this before it begins a check. On most starts the answer is yes, and then no
 * program and no library of the check is loaded. A child process reads the node's state, since a
 * driver may hang; nothing here waits for it. One thread.
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

/* Starts to ask, with a part of the check's budget. False if that cannot be done now (the policy
 * reuses no pass, a check loads GPUs, no process can be made): then there is no answer to take or
 * to drop. */
bool osp_gate_fresh_ask(struct osp_gate_fresh *fresh, const struct osp_gate_job *job,
			uint32_t budget_ms);
bool osp_gate_fresh_asked(const struct osp_gate_fresh *fresh);

/* Takes the answer, once the child's is readable or its time is over; false if anything is unknown.
 * It ends the question. */
bool osp_gate_fresh_holds(struct osp_gate_fresh *fresh, const struct osp_gate_job *job);

/* Ends the question without an answer. */
void osp_gate_fresh_drop(struct osp_gate_fresh *fresh);

#endif
