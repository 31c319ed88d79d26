/* SPDX-License-Identifier: GPL-2.0-or-later */
/* list.c - all checks, in the order in which they are shown */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/gpu/active.h"
#include "check/passive/passive.h"
#include "check/base/root.h"

const struct osp_check *const osp_checks[] = {
	&osp_check_driver,
	&osp_check_gpus,
	&osp_check_device_files,
	&osp_check_recovery,
	&osp_check_xid,
	&osp_check_ecc,
	&osp_check_row_remap,
	&osp_check_retired_pages,
	&osp_check_nvlink,
	&osp_check_nvlink_errors,
	&osp_check_fabric,
	&osp_check_imex,
	&osp_check_pcie,
	&osp_check_throttle,
	&osp_check_temperature,
	&osp_check_persistence,
	&osp_check_power,
	&osp_check_clocks,
	&osp_check_leftovers,
	&osp_check_uvm_module,
	&osp_check_neuron,
	&osp_check_amd,
	&osp_check_efa,
	&osp_check_infiniband,
	&osp_check_rdma_module,
	&osp_check_cpu,
	&osp_check_numa,
	&osp_check_memory,
	&osp_check_huge_pages,
	&osp_check_limits,
	&osp_check_versions,
	&osp_check_clock,
	&osp_check_local_disks,
	&osp_check_mounts,
	&osp_check_space,
	&osp_check_cuda,
	&osp_check_sm,
	&osp_check_tensor,
	&osp_check_hbm_bandwidth,
	&osp_check_tflops,
	&osp_check_hbm_pattern,
	&osp_check_host_copy,
	&osp_check_peer,
	&osp_check_all_reduce,
};

const size_t osp_check_count = sizeof(osp_checks) / sizeof(osp_checks[0]);

void osp_check_names(const char **names)
{
	for (size_t i = 0; i < osp_check_count; i++)
		names[i] = osp_checks[i]->name;
}

static uint32_t read_job_uid(void)
{
	const char *text = getenv("SLURM_JOB_UID");
	unsigned long uid;
	char *end;

	if (geteuid() != 0)
		return geteuid();
	if (!text || !isdigit((unsigned char)*text))
		return 0;
	uid = strtoul(text, &end, 10);
	return *end || uid >= UINT32_MAX ? 0 : (uint32_t)uid;
}

void osp_check_context_set(struct osp_check_context *context, const char *root,
			   const struct osp_thresholds *thresholds)
{
	memset(context, 0, sizeof(*context));
	context->root = root;
	context->thresholds = thresholds;
	context->depth = OSP_DEPTH_PASSIVE;
	context->job_uid = read_job_uid();
	if (!osp_root_read(root, context->node, sizeof(context->node),
			   "sys/devices/virtual/dmi/id/product_name"))
		*context->node = '\0';
	if (!osp_root_number(root, &context->uptime_s, "proc/uptime"))
		context->uptime_s = UINT64_MAX;
}
