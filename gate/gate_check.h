/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_check.h - this node's own check, in a process of its own
 *
 * If no earlier pass counts (gate_fresh.h), the gate runs `onespine check --json`, the command that was installed
 * with this program, without any of a user's environment. A check that does not end in its time is an ERROR. The
 * gate does not wait for a process that it cannot kill. One thread.
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
	bool cut;		/* it said more than anything it can say */
	struct osp_error error; /* why it could not be run */
};

/* With `reuse` a pass that is fresh by the policy counts. 0, or -1 with `error` set. */
int osp_gate_check_start(struct osp_gate_check *check, const struct osp_gate_job *job,
			 uint32_t budget_ms, bool reuse, struct osp_error *error);

/* When it is to be read though nothing came, osp_now_ms(). */
uint64_t osp_gate_check_due_ms(const struct osp_gate_check *check);

/* Reads what is there; true when it has said all. What is to be polled may be another file then. */
bool osp_gate_check_read(struct osp_gate_check *check);

/* Reads until it has said all, at most until `until_ms` (osp_now_ms()); false when it has not. */
bool osp_gate_check_wait(struct osp_gate_check *check, uint64_t until_ms);

/* The report: of what it said or, with `late`, that it did not say it; then it is ended. Else it may still keep what it
 * found. */
void osp_gate_check_end(struct osp_gate_check *check, bool late, struct osp_gate_report *report);

/* Waits until what it found is kept, 8 s at most, and logs its warnings: also that something is not kept. */
void osp_gate_check_free(struct osp_gate_check *check);

#endif
