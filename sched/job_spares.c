/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_spares.c - --gang-spares: more nodes than the job asked for, the best of which stay */
#include "sched/job_spares.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/gate/gate.h"
#include "sched/job_env.h"
#include "host/slurm_compat.h"

int osp_job_spares_read(const job_desc_msg_t *job, const char *variable, struct osp_spares *spares,
			char *sentence, size_t sentence_bytes)
{
	const char *name = "--gang-spares";
	const char *value =
		osp_job_env_find(job->spank_job_env, job->spank_job_env_size, OSP_SPANK_SPARES);

	*spares = (struct osp_spares){.count = 0};
	if (!value) {
		name = OSP_GANG_SPARES_VARIABLE;
		value = variable;
	}
	if (!value || osp_spares_parse(value, spares) == 0)
		return 0;
	snprintf(sentence, sentence_bytes,
		 "%s=%.40s: how many spare nodes is expected, a number from 0 to %d, or "
		 "K/segment for K in each segment",
		 name, value, OSP_SPARES_MAX);
	return -1;
}

int osp_job_spares_in_segments(const job_desc_msg_t *job, const struct osp_spares *spares,
			       struct osp_request *request, uint32_t *all, char *sentence,
			       size_t sentence_bytes)
{
	bool has_size = job->min_nodes != NO_VAL && job->min_nodes <= OSP_GATE_NODES_MAX;
	struct osp_error error = {.text = ""};
	char grown[OSP_SEGMENTS_BYTES];

	*all = spares->count;
	if (!spares->per_segment)
		return 0;
	if (!*request->segments && *request->layout)
		snprintf(sentence, sentence_bytes,
			 "--gang-spares=%u/segment are spares in each segment, and --gang-layout "
			 "makes none here: say --gang-spares=%u",
			 spares->count, spares->count);
	else if (!*request->segments)
		snprintf(sentence, sentence_bytes,
			 "--gang-spares=%u/segment are spares in each segment, and this job has "
			 "none: give --gang-segment too, as in --gang-segment=leaf:16, or say "
			 "--gang-spares=%u",
			 spares->count, spares->count);
	else if (osp_spares_grow(request->segments, spares->count, has_size ? job->min_nodes : 1,
				 grown, all, &error))
		snprintf(sentence, sentence_bytes, "%s", error.text);
	else {
		memcpy(request->segments, grown, sizeof(grown));
		return 0;
	}
	return -1;
}

/* --- what cannot have spares ------------------------------------------------------------------ */

static bool is_heterogeneous(const job_desc_msg_t *job)
{
	return job->het_job_offset != NO_VAL;
}

static bool has_no_size(const job_desc_msg_t *job)
{
	return job->min_nodes == NO_VAL || job->min_nodes == 0;
}

/*
 * Returns whether there would be too many nodes: adding the spares to more than these would wrap
 * around.
 */
static bool has_too_many(const job_desc_msg_t *job)
{
	return job->min_nodes > OSP_GATE_NODES_MAX;
}

static bool has_a_range(const job_desc_msg_t *job)
{
	return job->max_nodes != NO_VAL && job->max_nodes != 0 && job->max_nodes != job->min_nodes;
}

static bool has_job_gres(const job_desc_msg_t *job)
{
	return job->tres_per_job && *job->tres_per_job;
}

static bool has_uneven_tasks(const job_desc_msg_t *job)
{
	return job->num_tasks != NO_VAL && job->num_tasks % job->min_nodes != 0;
}

static bool has_arbitrary_nodes(const job_desc_msg_t *job)
{
	return job->task_dist != NO_VAL &&
	       (job->task_dist & SLURM_DIST_STATE_BASE) == SLURM_DIST_ARBITRARY;
}

/* Returns whether the job takes whole nodes. Seen in 22.05.8: a node that leaves such a job looks
 * idle, but its cores stay taken for every job that shares it. */
static bool is_exclusive(const job_desc_msg_t *job)
{
	return job->shared == JOB_SHARED_NONE;
}

static bool has_stepmgr(const job_desc_msg_t *job)
{
	return OSP_JOB_STEPMGR(job);
}

static const struct {
	bool (*applies)(const job_desc_msg_t *job);
	const char *why;
} refusals[] = {
	{is_heterogeneous, "a heterogeneous job cannot have spare nodes: Slurm cannot shrink it; "
			   "leave out --gang-spares"},
	{has_no_size, "--gang-spares needs to know how many nodes stay: give --nodes"},
	{has_too_many, "--gang-spares is for gangs of at most 16384 nodes"},
	{has_a_range, "--gang-spares needs one number of nodes, not a range: --nodes=N"},
	{has_job_gres,
	 "--gang-spares cannot be combined with --gpus, which counts over the whole job: "
	 "ask for --gpus-per-node"},
	{has_uneven_tasks, "--gang-spares needs as many tasks on each node, whichever stay: give "
			   "--ntasks-per-node"},
	{is_exclusive,
	 "--gang-spares cannot be combined with --exclusive: Slurm does not give back whole "
	 "what leaves such a job; ask for the GPUs and CPUs of a node instead"},
	{has_stepmgr,
	 "--gang-spares cannot be combined with --stepmgr, which does not learn of the nodes "
	 "that leave"},
	{has_arbitrary_nodes,
	 "--gang-spares cannot be combined with --distribution=arbitrary, which "
	 "names each task's node"},
};

/* --- making it larger ------------------------------------------------------------------------- */

/* Returns a number that grows in proportion to the nodes. */
static uint32_t scaled(uint32_t number, uint32_t nodes, uint32_t spares)
{
	uint64_t more = (uint64_t)number + ((uint64_t)number * spares + nodes - 1) / nodes;

	return more < NO_VAL ? (uint32_t)more : number;
}

int osp_job_spares_add(job_desc_msg_t *job, uint32_t spares, char *sentence, size_t sentence_bytes)
{
	uint32_t nodes = job->min_nodes;

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		if (!refusals[i].applies(job))
			continue;
		snprintf(sentence, sentence_bytes, "%s", refusals[i].why);
		return -1;
	}
	if (job->num_tasks != NO_VAL && job->num_tasks) {
		if (job->ntasks_per_node == NO_VAL16 || !job->ntasks_per_node)
			job->ntasks_per_node = (uint16_t)(job->num_tasks / nodes);
		job->num_tasks = scaled(job->num_tasks, nodes, spares);
	}
	if (job->min_cpus != NO_VAL)
		job->min_cpus = scaled(job->min_cpus, nodes, spares);
	if (job->max_cpus != NO_VAL && job->max_cpus)
		job->max_cpus = scaled(job->max_cpus, nodes, spares);
	job->min_nodes = nodes + spares;
	job->max_nodes = nodes + spares;
	return 0;
}
