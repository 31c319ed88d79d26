/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_state.h - reads the state of this node that a pass depends on
 *
 * The boot, the driver, UUIDs, the kernel's records and the error counters (lib/health/fresh.h). A
 * driver may hang, so a child reads everything; the checks may run meanwhile. One thread.
 */
#ifndef OSP_NODE_STATE_H
#define OSP_NODE_STATE_H

#include "check/check.h"

struct osp_state_look {
	pid_t child; /* 0: none */
	int answer;
};

/* Starts the child. `context->gpus` says which GPUs are meant. Returns -1 with `error` set. */
int osp_node_state_begin(struct osp_state_look *look, struct osp_check_context *context,
			 struct osp_error *error);

/*
 * Waits until `until_ms` (osp_now_ms()). Returns 0 with `state` filled (free it with
 * osp_node_state_clear()), or -1 with `error` set if no answer came in time or the child crashed.
 * `rules` is copied into `state`. The child is not waited for.
 */
int osp_node_state_collect(struct osp_state_look *look, uint64_t until_ms, const char *rules,
			   struct osp_node_state *state, struct osp_error *error);

#endif
