/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_unsafe.c - finds requests that end slurmctld in Slurm's own code */
#include "sched/job_unsafe.h"

#include <stdio.h>

bool osp_job_is_unsafe(const job_desc_msg_t *job, uint32_t least_nodes, char *sentence,
		       size_t sentence_bytes)
{
	uint32_t least = job->min_nodes != NO_VAL ? job->min_nodes : least_nodes;

	if (job->ntasks_per_socket == 0)
		snprintf(sentence, sentence_bytes,
			 "--ntasks-per-socket=0 would end slurmctld, which divides by it: leave it "
			 "out");
	else if (least == 0 && job->max_nodes != 0 && job->max_nodes != NO_VAL)
		snprintf(sentence, sentence_bytes,
			 "--nodes=0-%u would end slurmctld, which starts such a job on no nodes: "
			 "give --nodes=1-%u",
			 job->max_nodes, job->max_nodes);
	else
		return false;
	return true;
}
