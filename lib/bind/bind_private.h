/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bind_private.h - inside lib/: the plan that bind.c builds, for its words (bind_reasons.c) */
#ifndef OSP_BIND_PRIVATE_H
#define OSP_BIND_PRIVATE_H

#include <stdbool.h>

#include "lib/bind/bind.h"

/* Why a task got its cores. */
enum osp_bind_cause {
	OSP_BIND_NEAR,	    /* the cores near its GPUs */
	OSP_BIND_ALONE,	    /* all cores: it is the only task */
	OSP_BIND_NO_GPU,    /* it has no GPU */
	OSP_BIND_UNKNOWN,   /* the places of its GPUs are unknown */
	OSP_BIND_FORBIDDEN, /* no core near its GPUs is allowed */
};

struct osp_bind_state {
	const struct osp_machine *machine;
	const struct osp_bind_request *request;
	struct osp_bind_plan *plan;
	hwloc_bitmap_t allowed;
	bool *usable;		     /* core by core: one of its hardware threads is allowed */
	uint32_t *usable_cores;	     /* domain by domain */
	uint32_t *weights;	     /* task by task, domain by domain: GPUs of the task near it */
	uint32_t *sharers;	     /* domain by domain: how many tasks have a weight there */
	uint32_t *takers;	     /* core by core: how many tasks got it */
	enum osp_bind_cause *causes; /* task by task */
	uint32_t usable_count;	     /* cores */
	uint32_t far_count;	     /* tasks whose cores are not near their GPUs */
};

static inline uint32_t *osp_bind_weight(const struct osp_bind_state *state, uint32_t task,
					uint32_t domain)
{
	return &state->weights[(size_t)task * state->machine->domain_count + domain];
}

/* Fills in every reason and the notes. Returns false if memory ran out. */
bool osp_bind_explain(struct osp_bind_state *state);

#endif
