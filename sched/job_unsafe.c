/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_unsafe.c - finds requests that end slurmctld, or hold it up, in Slurm's own code */
#include "sched/job_unsafe.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/hostlist.h"

/* Slurm's; none where this runs without slurmctld. */
extern int node_record_count;
#pragma weak node_record_count

#define TASKS_OF_NODE 512 /* in a list for --distribution=arbitrary each task has its node's name */
#define NAMES_LEAST   1024 /* no list of so few takes any time */

struct names {
	size_t count, most;
};

static int count_name(const char *name, void *context)
{
	struct names *names = context;

	(void)name;
	return ++names->count > names->most;
}

/* Tells whether the list has more words, or names more nodes, than `most`. What is no list Slurm
 * refuses at its first word. */
static bool has_more(const char *list, size_t most)
{
	struct names words = {.count = 1, .most = most}, names = {.most = most};
	struct osp_error error = {.text = ""};
	int rc;

	for (const char *at = list; *at; at++)
		words.count += strchr(", \t\n", *at) != NULL;
	if (words.count > most)
		return true;
	rc = osp_hostlist_expand(list, count_name, &names, &error);
	return rc > 0 || (rc < 0 && strstr(error.text, "names") != NULL);
}

/* Returns how many names a list may have: each node's twice, or once for each task. */
static size_t most_names(bool is_of_tasks)
{
	size_t nodes = &node_record_count && node_record_count > 0 ? (size_t)node_record_count
								   : OSP_HOSTLIST_NAMES_MAX;
	size_t most = NAMES_LEAST + nodes * (is_of_tasks ? TASKS_OF_NODE : 2);

	return most < OSP_HOSTLIST_NAMES_MAX ? most : OSP_HOSTLIST_NAMES_MAX;
}

/* Returns the option whose list is too long; NULL: neither is. */
static const char *long_list(const job_desc_msg_t *job)
{
	bool is_of_tasks = job->task_dist == NO_VAL ||
			   (job->task_dist & SLURM_DIST_STATE_BASE) == SLURM_DIST_ARBITRARY;

	if (job->req_nodes && has_more(job->req_nodes, most_names(is_of_tasks)))
		return "--nodelist";
	if (job->exc_nodes && has_more(job->exc_nodes, most_names(false)))
		return "--exclude";
	return NULL;
}

bool osp_job_is_unsafe(const job_desc_msg_t *job, uint32_t least_nodes, char *sentence,
		       size_t sentence_bytes)
{
	uint32_t least = job->min_nodes != NO_VAL ? job->min_nodes : least_nodes;
	const char *list = long_list(job);

	if (job->ntasks_per_socket == 0)
		snprintf(sentence, sentence_bytes,
			 "--ntasks-per-socket=0 would end slurmctld, which divides by it: leave it "
			 "out");
	else if (least == 0 && job->max_nodes != 0 && job->max_nodes != NO_VAL)
		snprintf(sentence, sentence_bytes,
			 "--nodes=0-%u would end slurmctld, which starts such a job on no nodes: "
			 "give --nodes=1-%u",
			 job->max_nodes, job->max_nodes);
	else if (list)
		snprintf(sentence, sentence_bytes,
			 "%s names more nodes than there are, which would hold slurmctld up: name "
			 "each node once",
			 list);
	else
		return false;
	return true;
}
