/* SPDX-License-Identifier: GPL-2.0-or-later */
/* launchable.c - for which gangs nodes may be launched */
#include "lib/policy/launchable.h"

#include <stdio.h>
#include <string.h>

#define PARTITION_BYTES 256

bool osp_launch_judgeable(const struct osp_launchable *gang)
{
	return gang->mode == OSP_MODE_ENFORCE && !gang->in_parts && !gang->is_component &&
	       gang->is_batch;
}

bool osp_launchable(const struct osp_launchable *gang, const struct osp_policy *policy)
{
	return osp_launch_judgeable(gang) && gang->requeues && !gang->has_reservation &&
	       policy->unlaunched == OSP_UNLAUNCHED_LAUNCH;
}

bool osp_launch_may(const struct osp_launchable *gang, const struct osp_policy *policy)
{
	return osp_launchable(gang, policy) && gang->in_vain < policy->launch_tries &&
	       !gang->unasked;
}

bool osp_launch_may_in(const struct osp_launchable *gang, const struct osp_config *config,
		       const char *partitions)
{
	char name[PARTITION_BYTES];

	if (!partitions)
		return osp_launch_may(gang, osp_config_policy(config, NULL));
	for (const char *at = partitions; *at; at += *at == ',') {
		size_t length = strcspn(at, ",");

		snprintf(name, sizeof(name), "%.*s", (int)length, at);
		if (osp_launch_may(gang, osp_config_policy(config, name)))
			return true;
		at += length;
	}
	return false;
}
