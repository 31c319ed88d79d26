/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_loop.h - one node's gate: checks, reports, waits for the verdict
 *
 * The loop around lib/gate/gate_barrier.h: sockets, the check's process, clocks. One thread, and no
 * deadline beyond the policy's budget.
 */
#ifndef OSP_GATE_LOOP_H
#define OSP_GATE_LOOP_H

#include "lib/gate/gate.h"
#include "gate/gate_act.h"
#include "gate/gate_job.h"

enum osp_gate_outcome {
	OSP_GATE_KNOWN,	  /* the verdict is known, and carried out */
	OSP_GATE_CUT_OFF, /* no verdict came in time */
};

/*
 * Runs the gate of `job` on this node. `own` becomes this node's report, `verdict` the gang's (to
 * be freed). Events go to osp_gate_log().
 */
enum osp_gate_outcome osp_gate_loop(const struct osp_gate_job *job,
				    const struct osp_gate_here *here, struct osp_gate_report *own,
				    struct osp_gate_verdict *verdict);

/* Writes where its log is on this node. Returns `buffer`. */
const char *osp_gate_log_path(const struct osp_gate_job *job, char *buffer, size_t buffer_bytes);

/* Writes a line of the gate's log, with time, node and job; kept to OSP_GATE_LOG if that can be
 * written, and said on standard error. */
void osp_gate_log(const struct osp_gate_job *job, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
