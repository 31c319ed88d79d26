/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu_mps.c - finds whether programs share a GPU by MPS, and who says so */
#include "check/gpu/gpu_mps.h"

#include <stdio.h>
#include <string.h>

#include "check/base/process.h"
#include "check/base/root.h"

/* "nvidia-cuda-mps-server" as the kernel cuts a process's name. */
#define MPS_NAME     "nvidia-cuda-mps"
#define PROGRAMS_MAX 128 /* MPS has at most 60 clients on a GPU */

/* What the programs that were found say together. */
struct evidence {
	bool any, trusted;
	unsigned int pid; /* the first process that is not trusted; 0: none was named */
	unsigned int uid;
	bool known; /* whether its user is known */
};

static void add(const struct osp_check_context *context, unsigned int pid,
		struct evidence *evidence)
{
	unsigned int uid = 0;
	bool known = osp_process_uid(context->root, pid, &uid);

	evidence->any = true;
	if (known && (uid == 0 || uid == context->job_uid)) {
		evidence->trusted = true;
	} else if (!evidence->pid) {
		evidence->pid = pid;
		evidence->uid = uid;
		evidence->known = known;
	}
}

/* Adds the programs that NVML lists as clients of MPS now. */
static void add_clients(const struct osp_check_context *context, osp_nvml_device device,
			struct evidence *evidence)
{
	struct osp_nvml_program programs[PROGRAMS_MAX];
	unsigned int count = PROGRAMS_MAX;
	int state = osp_nvml_mps_programs(device, &count, programs);

	if (state == OSP_NVML_TOO_SMALL)
		evidence->any = true;
	for (unsigned int i = 0; state == OSP_NVML_OK && i < count && i < PROGRAMS_MAX; i++)
		add(context, programs[i].pid, evidence);
}

/* Adds MPS's server, which holds the GPU also while it waits for a program. */
static void add_servers(const struct osp_check_context *context, osp_nvml_device device,
			struct evidence *evidence)
{
	struct osp_nvml_program programs[PROGRAMS_MAX];
	unsigned int count = PROGRAMS_MAX;
	char name[64];

	if (osp_nvml_programs(device, &count, programs) != OSP_NVML_OK)
		return;
	for (unsigned int i = 0; i < count && i < PROGRAMS_MAX; i++)
		if (osp_root_read(context->root, name, sizeof(name), "proc/%u/comm",
				  programs[i].pid) &&
		    strcmp(name, MPS_NAME) == 0)
			add(context, programs[i].pid, evidence);
}

enum osp_mps osp_mps_find(const struct osp_check_context *context, osp_nvml_device device,
			  char *why, size_t why_bytes)
{
	struct evidence evidence = {.any = false};

	*why = '\0';
	add_clients(context, device, &evidence);
	add_servers(context, device, &evidence);
	if (!evidence.any)
		return OSP_MPS_NONE;
	if (evidence.trusted) {
		snprintf(why, why_bytes, "programs share it by MPS: left alone");
		return OSP_MPS_SHARED;
	}
	if (evidence.known)
		snprintf(why, why_bytes, "not checked: process %u of user %u says it is MPS",
			 evidence.pid, evidence.uid);
	else
		snprintf(why, why_bytes, "not checked: MPS, by processes of no known user");
	return OSP_MPS_FOREIGN;
}
