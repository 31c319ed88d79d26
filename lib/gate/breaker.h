/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * breaker.h - the circuit breaker: a check that fails on many nodes drains none of them
 *
 * A broken check, driver or switch once took 214 of 288 healthy nodes out of a cluster. So the
 * nodes that already have our reason are counted, over the whole cluster and separately for each
 * check. If the nodes that a check drained within the policy's time, plus those that it would drain
 * now, exceed the policy's share of the cluster, it drains none: the administrator gets a message,
 * and jobs go on or wait, as the policy says. The count uses Slurm's own node states, so the
 * breaker needs no state of its own, survives restarts and is the same on every node.
 *
 * Any thread, any daemon: no shared state, no allocation.
 */
#ifndef OSP_BREAKER_H
#define OSP_BREAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/gate/gate_policy.h"

/* This many nodes may always be drained, since the share of a small cluster may be less than one
 * node. */
#define OSP_BREAKER_LEAST 3

/* A drained node: Slurm's reason for it, ours or not, and the time of the reason. Or a node in
 * quarantine, which has no reason and counts for every check. */
struct osp_breaker_mark {
	const char *reason;
	int64_t since_s; /* Unix time */
	bool quarantined;
};

struct osp_breaker {
	uint32_t node_count; /* of the whole cluster */
	int64_t now_s;	     /* Unix time */
	const struct osp_breaker_mark *marks;
	size_t mark_count;
};

/* Returns how many nodes `check` may have drained at a time. */
uint32_t osp_breaker_limit(const struct osp_breaker *breaker, const struct osp_gate_policy *policy);

/* Returns how many nodes `check` drained within the policy's time. */
uint32_t osp_breaker_drained(const struct osp_breaker *breaker,
			     const struct osp_gate_policy *policy, const char *check);

/* Returns whether `check` may not drain `more` nodes now. */
bool osp_breaker_open(const struct osp_breaker *breaker, const struct osp_gate_policy *policy,
		      const char *check, uint32_t more);

#endif
