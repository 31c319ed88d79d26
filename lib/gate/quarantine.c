/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quarantine.c - bad instances that are kept out of use without being ended */
#include "lib/gate/quarantine.h"

#include <stdio.h>
#include <string.h>

#define HOUR_S 3600

const char *osp_quarantine_name(const char *node, const char *instance,
				char name[OSP_QUARANTINE_NAME_BYTES])
{
	snprintf(name, OSP_QUARANTINE_NAME_BYTES, OSP_QUARANTINE_PREFIX "%.120s",
		 instance && *instance ? instance : node);
	return name;
}

const char *osp_quarantine_instance(const char *name)
{
	size_t length = sizeof(OSP_QUARANTINE_PREFIX) - 1;

	return name && !strncmp(name, OSP_QUARANTINE_PREFIX, length) && name[length] ? name + length
										     : NULL;
}

size_t osp_quarantine_find(const struct osp_quarantined *nodes, size_t count, const char *node)
{
	size_t i = 0;

	while (i < count && strcmp(nodes[i].node, node) != 0)
		i++;
	return i;
}

enum osp_quarantine_choice osp_quarantine_choose(const struct osp_gate_policy *policy,
						 const struct osp_quarantined *nodes, size_t count,
						 const char *node)
{
	if (osp_quarantine_find(nodes, count, node) < count)
		return OSP_QUARANTINE_ALREADY;
	return count < policy->quarantine ? OSP_QUARANTINE_KEEP : OSP_QUARANTINE_DRAIN;
}

/* Returns whether it is known that the node is not what was put into quarantine. */
static bool is_another(const struct osp_quarantined *node, const struct osp_quarantine_now *now)
{
	if (!strcmp(node->instance, node->node))
		return now->boot_s > node->since_s;
	return now->instance && *now->instance && strcmp(node->instance, now->instance) != 0;
}

enum osp_quarantine_due osp_quarantine_due(const struct osp_gate_policy *policy,
					   const struct osp_quarantined *node,
					   const struct osp_quarantine_now *now, int64_t now_s)
{
	if (!now->exists || is_another(node, now))
		return OSP_QUARANTINE_ANOTHER;
	if (now_s - node->since_s >= (int64_t)policy->quarantine_h * HOUR_S)
		return OSP_QUARANTINE_OVER;
	return OSP_QUARANTINE_STAYS;
}
