/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_instance.c - compares the instance that this node is with the one that was placed */
#include "onespine_config.h"
#include "gate/gate_instance.h"

#include <stdio.h>
#include <string.h>

#include "gate/gate_loop.h"
#include "host/record/history_line.h"
#include "host/slurm/node_extra.h"
#include "lib/topology/placed_instance.h"

#define REPORT_MS 2000

/* Writes the instance into the node's Extra. That is not everywhere ours to write: then the watch
 * sees the instance at its next question. */
static void report_instance(const struct osp_gate_job *job, const char *instance)
{
	struct osp_error error = {.text = ""};

	if (osp_config_history(job->config)->slurm_extra &&
	    osp_extra_put_instance(job->node, instance, REPORT_MS, &error))
		osp_gate_log(job, "the node's Extra field is not written: %s", error.text);
}

void osp_gate_instance_look(const struct osp_gate_job *job, struct osp_gate_report *report)
{
	struct osp_identity identity;

	if (!job->placed || report->result >= OSP_VERDICT_FAIL)
		return;
	osp_identity_read(job->root, &identity);
	/* a serial number is no instance of a cloud */
	if (strncmp(identity.instance, "i-", 2) != 0 ||
	    osp_placed_look(job->placed, job->node, identity.instance) != OSP_PLACED_OTHER)
		return;
	report->result = OSP_VERDICT_ERROR;
	snprintf(report->check, sizeof(report->check), "%s", OSP_GATE_INSTANCE_CHECK);
	snprintf(report->reason, sizeof(report->reason),
		 "onespine: instance %.60s is not the one placed; its place is asked anew",
		 identity.instance);
	report_instance(job, identity.instance);
}
