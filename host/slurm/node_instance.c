/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_instance.c - which instance of a cloud a node is, as Slurm has it */
#include "onespine_config.h"
#include "host/slurm/node_instance.h"

#include "host/slurm/extra_text.h"

const char *osp_listed_instance(const node_info_t *info, char *buffer, size_t buffer_bytes)
{
	const char *own =
		osp_extra_instance(info->extra, (int64_t)info->boot_time, buffer, buffer_bytes);

	if (own)
		return own;
#if defined(HAVE_STRUCT_NODE_INFO_INSTANCE_ID)
	return info->instance_id;
#else
	return NULL;
#endif
}
