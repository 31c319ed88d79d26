/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_environment.h - what NCCL needs on this node, as the rules say, with nothing of the user's
 *
 * One thread.
 */
#ifndef OSP_GATE_ENVIRONMENT_H
#define OSP_GATE_ENVIRONMENT_H

#include "lib/base/error.h"
#include "gate/gate_job.h"

#define GATE_VARIABLES_MAX 256

/*
 * Fills `environment`, which has room for GATE_VARIABLES_MAX, with what the rules (lib/env/rules.h) set
 * for a process that drives this node's GPUs of the job: made of what this node shows and of
 * /etc/nccl.conf. No file of anybody's home is read, and NCCL is told to read none. For a child that
 * becomes another program: nothing is ever freed. 0, or -1 with `error` set.
 */
int gate_environment(const struct osp_gate_job *job, char *environment[GATE_VARIABLES_MAX],
		     struct osp_error *error);

#endif
