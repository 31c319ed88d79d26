/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_check.h - this node's own check, in a process of its own
 *
 * If no earlier pass counts (gate_fresh.h), the gate runs `onespine check --json`, the command that
 * was installed with this program, without any of a user's environment. A check that does not end
 * in its time is an ERROR. The gate does not wait for a process that it cannot kill. One thread.
 */
#ifndef OSP_GATE_CHECK_H
#define OSP_GATE_CHECK_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/base/text.h"
#include "lib/gate/gate.h"
#include "gate/gate_fresh.h"
#include "gate/gate_job.h"

struct osp_gate_check {
	const struct osp_gate_job *job;
	uint64_t until_ms;	     /* the budget's end, osp_now_ms() */
	struct osp_gate_fresh fresh; /* asked before anything is run */
	bool passed;		     /* by an earlier pass */
	pid_t child;
	int answer; /* what is to be polled; -1: nothing runs */
	int words;  /* its standard error; -1: none */
	struct osp_text json;
	bool cut;		/* its output is longer than any that it can have */
	struct osp_error error; /* why it could not be run */
};

/* Starts it; with `reuse` a pass that is fresh by the policy counts. Returns 0, or -1 with `error`
 * set. */
int osp_gate_check_start(struct osp_gate_check *check, const struct osp_gate_job *job,
			 uint32_t budget_ms, bool reuse, struct osp_error *error);

/* Returns when to call osp_gate_check_read() even if nothing can be read, in osp_now_ms(). */
uint64_t osp_gate_check_due_ms(const struct osp_gate_check *check);

/* Reads what the check has written; true when it has ended. `answer` may be another file after the
 * call. */
bool osp_gate_check_read(struct osp_gate_check *check);

/* Reads until the check has ended, at most until `until_ms` (osp_now_ms()); false if it has not
 * ended by then. */
bool osp_gate_check_wait(struct osp_gate_check *check, uint64_t until_ms);

/* Fills the report from the check's output or, with `late`, with an ERROR, and kills the check in
 * that case. Otherwise the check may still run to save what it found. */
void osp_gate_check_end(struct osp_gate_check *check, bool late, struct osp_gate_report *report);

/* Waits, 8 s at most, until the check has saved what it found, and logs its warnings and what could
 * not be saved. */
void osp_gate_check_free(struct osp_gate_check *check);

#endif
