/* SPDX-License-Identifier: GPL-2.0-or-later */
/* breaker.c - the circuit breaker: a check that fails everywhere says more about itself */
#include "lib/gate/breaker.h"

#include "lib/health/reason.h"

uint32_t osp_breaker_limit(const struct osp_breaker *breaker, const struct osp_gate_policy *policy)
{
	uint64_t share = (uint64_t)breaker->node_count * policy->breaker_percent / 100;

	return share > OSP_BREAKER_LEAST ? (uint32_t)share : OSP_BREAKER_LEAST;
}

uint32_t osp_breaker_drained(const struct osp_breaker *breaker,
			     const struct osp_gate_policy *policy, const char *check)
{
	uint32_t drained = 0;

	for (size_t i = 0; i < breaker->mark_count; i++) {
		const struct osp_breaker_mark *mark = &breaker->marks[i];

		if (breaker->now_s - mark->since_s <= (int64_t)policy->breaker_s &&
		    (mark->quarantined || osp_reason_names(mark->reason, check)))
			drained++;
	}
	return drained;
}

bool osp_breaker_open(const struct osp_breaker *breaker, const struct osp_gate_policy *policy,
		      const char *check, uint32_t more)
{
	return (uint64_t)osp_breaker_drained(breaker, policy, check) + more >
	       osp_breaker_limit(breaker, policy);
}
