/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_environment.h - the environment that NCCL needs on this node, by the rules, without the
 * user's variables
 *
 * One thread.
 */
#ifndef OSP_GATE_ENVIRONMENT_H
#define OSP_GATE_ENVIRONMENT_H

#include "lib/base/error.h"
#include "gate/gate_job.h"

#define GATE_VARIABLES_MAX 256

/*
 * Fills `environment` (room for GATE_VARIABLES_MAX) with what the rules (lib/env/rules.h) set for a
 * process that drives this node's GPUs of the job, from the facts of this node and from
 * /etc/nccl.conf. It reads no file in a home, and sets NCCL to read none. It is for a child that
 * becomes another program, so nothing is ever freed. Returns 0, or -1 with `error` set.
 */
int gate_environment(const struct osp_gate_job *job, char *environment[GATE_VARIABLES_MAX],
		     struct osp_error *error);

#endif
