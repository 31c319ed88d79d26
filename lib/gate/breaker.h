/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * breaker.h - the circuit breaker: a check that fails everywhere says more about itself
 *
 * A broken check, driver or switch once took 214 of 288 healthy nodes out of a cluster. So the
 * nodes that already carry our reason are counted, over the whole cluster and for each check by
 * itself. When those that the check drained within the policy's time, and those that it would drain
 * now, are more than the policy's share of the cluster, it drains none of them: an administrator is
 * told, and jobs go on or wait, as policy says. What stands in Slurm itself is counted, so that the
 * breaker needs no state, survives restarts and is the same on every node.
 *
 * Any thread, any daemon: no shared state, no allocation.
 */
#ifndef OSP_BREAKER_H
#define OSP_BREAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/gate/gate_policy.h"

/* So many may always be drained: a share of a small cluster would be none. */
#define OSP_BREAKER_LEAST 3

/* A node that is drained, with Slurm's reason, ours or not, and since when it stands there. */
struct osp_breaker_mark {
	const char *reason;
	int64_t since_s; /* Unix time */
};

struct osp_breaker {
	uint32_t node_count; /* of the whole cluster */
	int64_t now_s;	     /* Unix time */
	const struct osp_breaker_mark *marks;
	size_t mark_count;
};

/* How many nodes `check` may have drained at a time. */
uint32_t osp_breaker_limit(const struct osp_breaker *breaker, const struct osp_gate_policy *policy);

/* How many `check` drained within the policy's time. */
uint32_t osp_breaker_drained(const struct osp_breaker *breaker,
			     const struct osp_gate_policy *policy, const char *check);

/* Whether it may not drain `more` nodes now. */
bool osp_breaker_open(const struct osp_breaker *breaker, const struct osp_gate_policy *policy,
		      const char *check, uint32_t more);

#endif
