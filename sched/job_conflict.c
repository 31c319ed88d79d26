/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sched/job_conflict.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "sched/slurm_compat.h"

static bool has_switches(const job_desc_msg_t *job)
{
	return job->req_switch != NO_VAL && job->req_switch != 0;
}

static bool has_segment(const job_desc_msg_t *job)
{
	return OSP_JOB_SEGMENT(job) != NO_VAL16 && OSP_JOB_SEGMENT(job) != 0;
}

static bool has_segment_flags(const job_desc_msg_t *job)
{
	return OSP_JOB_SEGMENT_FLAGS(job);
}

static bool is_contiguous(const job_desc_msg_t *job)
{
	return job->contiguous != NO_VAL16 && job->contiguous != 0;
}

static bool is_exclusive_topo(const job_desc_msg_t *job)
{
	return OSP_JOB_EXCLUSIVE_TOPO(job);
}

static bool is_heterogeneous(const job_desc_msg_t *job)
{
	return job->het_job_offset != NO_VAL;
}

/* "[a*4&b*8]": Slurm chooses each feature's nodes in a call of its own. */
static bool has_counted_features(const job_desc_msg_t *job)
{
	return (job->features && strchr(job->features, '*')) ||
	       (job->prefer && strchr(job->prefer, '*'));
}

/* "afterok:7,expand:12": grows job 12 by this job's nodes. */
static bool is_expansion(const job_desc_msg_t *job)
{
	static const char expand[] = "expand:";
	const char *dependency = job->dependency;

	while (dependency) {
		if (!strncasecmp(dependency, expand, sizeof(expand) - 1))
			return true;
		dependency = strpbrk(dependency, ",?");
		if (dependency)
			dependency++;
	}
	return false;
}

static const struct {
	bool (*stands)(const job_desc_msg_t *job);
	const char *what;
	const char *why;
	const char *instead;
} conflicts[] = {
	{is_heterogeneous, "a heterogeneous job cannot be one gang",
	 "Slurm places its components one after the other",
	 "submit one job without components, or leave out --gang"},
	{has_switches, "--switches cannot stand beside --gang",
	 "it counts leaf switches, and only for a while",
	 "leave it out, --gang=leaf asks for one leaf"},
	{has_segment, "--segment cannot stand beside --gang",
	 "blocks of nodes would be chosen before the domain", "leave one of them out"},
	{has_segment_flags,
	 "--spread-segments and --consolidate-segments cannot stand beside --gang",
	 "blocks of nodes would be chosen before the domain", "leave one of them out"},
	{is_contiguous, "--contiguous cannot stand beside --gang",
	 "nodes with neighbouring numbers need not share a domain", "leave it out"},
	{is_exclusive_topo, "--exclusive=topo cannot stand beside --gang",
	 "it reserves whole blocks, not the gang's domain", "ask for --exclusive"},
	{has_counted_features, "a --constraint with counts (a*4) cannot stand beside --gang",
	 "Slurm chooses each count's nodes by itself", "leave out the counts"},
	{is_expansion, "--dependency=expand cannot stand beside --gang",
	 "the nodes added may lie in another domain", "leave one of them out"},
};

bool osp_job_conflict(const job_desc_msg_t *job, const struct osp_effective *effective,
		      char *sentence, size_t sentence_bytes)
{
	bool by_policy = effective->origin == OSP_FROM_POLICY;

	for (size_t i = 0; i < sizeof(conflicts) / sizeof(conflicts[0]); i++) {
		if (!conflicts[i].stands(job))
			continue;
		snprintf(sentence, sentence_bytes, "%s%s: %s; %s%s",
			 by_policy ? "the policy here makes a gang of this job, and " : "",
			 conflicts[i].what, conflicts[i].why, conflicts[i].instead,
			 by_policy ? ", or ask for --gang=off where that is allowed" : "");
		return true;
	}
	return false;
}
