/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_reducer.h - the process that takes part in all-reduces for this node
 *
 * It is `onespine-gate reduce` of this program, with the rights of nobody and the environment of
 * gate_environment.h. Only there do libnccl, its plugins and libcuda run. Questions and answers go
 * through a socket (check/gpu/gang_reduce.h); an answer is read as untrusted input. If the process
 * hangs it is killed and not waited for. One thread.
 */
#ifndef OSP_GATE_REDUCER_H
#define OSP_GATE_REDUCER_H

#include <stdbool.h>

#include "check/gpu/gang_reduce.h"
#include "lib/gate/gate_message.h"
#include "gate/gate_job.h"

struct gate_reducer {
	pid_t child; /* 0: none */
	int file;    /* to and from it */
	bool asked;  /* it has not answered yet */
	bool killed;
	struct osp_gang_answer answer;
	size_t got_bytes; /* of it */
};

/* Starts it for at most `most_ms`; it answers once it is ready. 0, or -1 with `error` set. */
int gate_reducer_start(struct gate_reducer *reducer, const struct osp_gate_job *job,
		       uint32_t most_ms, struct osp_error *error);

/* Asks for an all-reduce. False: it is not there any more. */
bool gate_reducer_ask(struct gate_reducer *reducer, uint32_t first, uint32_t ranks,
		      uint32_t sum_kib, const uint8_t id[OSP_GATE_ID_BYTES]);

/* Returns 1 with the answer in `part` (all but its rank), 0 not yet, -1 it has ended. Never
 * blocks. */
int gate_reducer_read(struct gate_reducer *reducer, struct osp_gate_part *part);

/* Ends the questions: one that is idle ends by itself, and leaves the GPUs as they were;
 * one that has not answered is killed. Never blocks. */
void gate_reducer_let_go(struct gate_reducer *reducer);

/* Does the same, and waits until it has gone: two seconds at most, a tenth of one for a killed
 * one. */
void gate_reducer_end(struct gate_reducer *reducer);

#endif
