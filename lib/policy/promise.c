/* SPDX-License-Identifier: GPL-2.0-or-later */
/* promise.c - which jobs a policy makes gangs of, and what several partitions promise together */
#include "lib/policy/promise.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool osp_policy_promises(const struct osp_policy *policy)
{
	return policy->gang_always && !policy->allow_off && policy->mode == OSP_MODE_ENFORCE;
}

enum osp_held osp_policy_holds(const struct osp_policy *policy, const struct osp_size *size)
{
	uint32_t least = size->least_nodes ? size->least_nodes : 1;

	if (!policy->gang_always || policy->mode == OSP_MODE_OFF)
		return OSP_HELD_NOT;
	if (least >= policy->from_nodes || size->most_nodes >= policy->from_nodes)
		return OSP_HELD;
	return size->most_nodes || !osp_policy_promises(policy) ? OSP_HELD_NOT : OSP_HELD_IF_LARGE;
}

/* --- several partitions ----------------------------------------------------------------------- */

static bool holds_always(const struct osp_policy *policy)
{
	return policy->gang_always && policy->mode != OSP_MODE_OFF;
}

/* Whether `level` is below `other` in this fabric. */
static bool is_lower(const struct osp_topology *topology, const char *level, const char *other)
{
	int rank = topology ? osp_topology_level(topology, level) : -1;

	return rank >= 1 && rank < osp_topology_level(topology, other);
}

static void add_always(struct osp_policy *policy, const struct osp_policy *other,
		       const struct osp_topology *topology)
{
	bool first = !holds_always(policy), promises = osp_policy_promises(policy);

	if (first || is_lower(topology, other->level, policy->level))
		policy->level = other->level;
	if (first || other->from_nodes < policy->from_nodes)
		policy->from_nodes = other->from_nodes;
	policy->allow_off = !promises && !osp_policy_promises(other);
	policy->gang_always = true;
}

void osp_policy_add(struct osp_policy *policy, const struct osp_policy *other,
		    const struct osp_topology *topology)
{
	if (holds_always(other))
		add_always(policy, other, topology);
	else if (!osp_policy_promises(policy))
		policy->allow_off = true;
	if (other->mode > policy->mode)
		policy->mode = other->mode;
	if (policy->relax_s >= 0 && (other->relax_s < 0 || other->relax_s > policy->relax_s))
		policy->relax_s = other->relax_s;
	policy->mix_kinds = policy->mix_kinds && other->mix_kinds;
}

/* --- GPUs ------------------------------------------------------------------------------------- */

/* "gpu", "gpu:8", "gpu:h100:8", "gpu:h100=8" of `length` bytes, with or without "gres:" or
 * "gres/" */
static uint64_t gpus_of_item(const char *item, size_t length)
{
	size_t start;

	if (length > 5 && !strncmp(item, "gres", 4) && (item[4] == ':' || item[4] == '/')) {
		item += 5;
		length -= 5;
	}
	if (length < 3 || strncmp(item, "gpu", 3) != 0 ||
	    (length > 3 && item[3] != ':' && item[3] != '='))
		return 0;
	for (start = length; start > 3 && isdigit((unsigned char)item[start - 1]); start--)
		;
	if (start == length || (item[start - 1] != ':' && item[start - 1] != '='))
		return 1;
	return strtoull(item + start, NULL, 10);
}

uint64_t osp_gpus_asked(const char *tres)
{
	uint64_t gpus = 0;

	while (tres && *tres) {
		size_t length = strcspn(tres, ",");
		uint64_t more = gpus_of_item(tres, length);

		gpus = more > UINT64_MAX - gpus ? UINT64_MAX : gpus + more;
		tres += length + (tres[length] == ',');
	}
	return gpus;
}
