/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spares.c - a job's SLURM_* variables after the gate released its spare nodes */
#include "spank/spares.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <slurm/slurm.h>

#include "lib/base/node_counts.h"

#define LIST_BYTES 65536

/* What slurmctld now says of the job. */
struct size {
	char *nodes;
	uint32_t node_count;
	uint32_t tasks_per_node; /* 0: not said */
};

static bool ask(uint32_t job_id, struct size *size)
{
	job_info_msg_t *jobs = NULL;

	memset(size, 0, sizeof(*size));
	if (slurm_load_job(&jobs, job_id, 0) != SLURM_SUCCESS || !jobs)
		return false;
	for (uint32_t i = 0; i < jobs->record_count; i++) {
		const slurm_job_info_t *job = &jobs->job_array[i];

		if (job->job_id != job_id || !job->nodes || !*job->nodes)
			continue;
		size->nodes = strdup(job->nodes);
		size->node_count = job->num_nodes;
		if (job->ntasks_per_node != NO_VAL16 && job->ntasks_per_node != INFINITE16)
			size->tasks_per_node = job->ntasks_per_node;
		break;
	}
	slurm_free_job_info_msg(jobs);
	return size->nodes != NULL;
}

static void set_number(const struct osp_job_variables *variables, const char *name, uint32_t number)
{
	char value[16];

	snprintf(value, sizeof(value), "%u", number);
	variables->set(variables->context, name, value);
}

/* Corrects counts: "8(x4)" of four nodes is "8(x3)" of three. */
static void set_counts(const struct osp_job_variables *variables, const char *name,
		       const char *old_nodes, const char *nodes, char *buffer)
{
	char *kept;

	if (!variables->get(variables->context, name, buffer, LIST_BYTES))
		return;
	kept = osp_node_counts_keep(old_nodes, buffer, nodes);
	if (kept)
		variables->set(variables->context, name, kept);
	free(kept);
}

/* Sets the number of tasks, if there is one: as many on each node as before. */
static void set_tasks(const struct osp_job_variables *variables, const char *name,
		      const struct size *size, char *buffer)
{
	if (size->tasks_per_node && variables->get(variables->context, name, buffer, LIST_BYTES))
		set_number(variables, name, size->tasks_per_node * size->node_count);
}

static void correct(const struct osp_job_variables *variables, const struct size *size,
		    const char *old_nodes, char *buffer)
{
	set_counts(variables, "SLURM_JOB_CPUS_PER_NODE", old_nodes, size->nodes, buffer);
	set_counts(variables, "SLURM_TASKS_PER_NODE", old_nodes, size->nodes, buffer);
	set_tasks(variables, "SLURM_NTASKS", size, buffer);
	set_tasks(variables, "SLURM_NPROCS", size, buffer);
	set_number(variables, "SLURM_JOB_NUM_NODES", size->node_count);
	set_number(variables, "SLURM_NNODES", size->node_count);
	variables->set(variables->context, "SLURM_JOB_NODELIST", size->nodes);
	variables->set(variables->context, "SLURM_NODELIST", size->nodes);
}

void osp_spares_correct(const struct osp_job_variables *variables, uint32_t job_id)
{
	char *old_nodes = malloc(LIST_BYTES), *buffer = malloc(LIST_BYTES);
	struct size size = {.nodes = NULL};

	if (old_nodes && buffer &&
	    variables->get(variables->context, "SLURM_JOB_NODELIST", old_nodes, LIST_BYTES) &&
	    ask(job_id, &size) && strcmp(old_nodes, size.nodes) != 0)
		correct(variables, &size, old_nodes, buffer);
	free(size.nodes);
	free(old_nodes);
	free(buffer);
}
