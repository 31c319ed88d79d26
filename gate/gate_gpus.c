/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_gpus.c - asks slurmctld whether a job has GPUs on this node, where nothing else says so */
#include "onespine_config.h"
#include "gate/gate_gpus.h"

#include <slurm/slurm_errno.h>

#include "check/check.h"
#include "gate/gate_loop.h"
#include "host/slurm/controller.h"

#define PATIENCE_MS 600000

/* Returns whether this node has GPUs of the job. Of a start that slurmctld has forgotten only
 * the request remains, without its nodes. */
static bool has_gpus(const struct osp_gate_gang *gang, const struct osp_controller_job *job)
{
	return job->gpu_node_count == gang->node_count ? job->gpus[gang->rank] > 0
						       : job->gpus_asked;
}

bool osp_gate_gpus_ask(struct osp_gate_job *job)
{
	struct osp_controller_job known;
	int code;

	if (!osp_gate_job_unsaid(job))
		return false;
	code = osp_controller_job(job->gang.job, osp_now_ms() + PATIENCE_MS, &known);
	if (code == 0) {
		job->gpus_unknown = has_gpus(&job->gang, &known);
		osp_controller_job_free(&known);
	} else if (code != ESLURM_INVALID_JOB_ID) {
		osp_gate_log(job,
			     "whether the job has GPUs of this node is not known, so none is "
			     "checked: %s",
			     osp_controller_words(code));
	}
	return true;
}
