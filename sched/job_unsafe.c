/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_unsafe.c - finds requests that end slurmctld, or hold it up, in Slurm's own code */
#include "sched/job_unsafe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"

/* Slurm's; none where this runs without slurmctld. */
extern int node_record_count;
#pragma weak node_record_count

#define TASKS_OF_NODE	    512	 /* with --distribution=arbitrary each task has its node's name */
#define NAMES_LEAST	    1024 /* no list of so few takes any time */

#define FEATURES_MOST_BYTES 1024 /* slurmctld/job_mgr.c: _test_job_desc_fields() */

struct names {
	size_t count, most;
};

static int count_name(const char *name, void *context)
{
	struct names *names = context;

	(void)name;
	return ++names->count > names->most;
}

/* Copies the list as lib/base/hostlist.h reads it, which knows fewer blanks than Slurm: one that
 * parts words becomes a comma, one in brackets goes. To be freed; NULL if memory ran out. */
static char *without_blanks(const char *list)
{
	char *copy = strdup(list), *to = copy;
	bool inside = false;

	for (; copy && *list; list++) {
		bool blank = strchr(" \t\n", *list) != NULL;

		inside = *list == '[' || (inside && *list != ']');
		if (!blank || !inside)
			*to++ = blank ? ',' : *list;
	}
	if (copy)
		*to = '\0';
	return copy;
}

/*
 * Returns why the list would hold slurmctld up: it has more words, or names more nodes, than
 * `most`, or has brackets and cannot be counted. Slurm makes all names of what is in brackets, and
 * looks for each, whatever other words of the list are no names. NULL: it would not.
 */
static const char *fault_of(const char *list, size_t most)
{
	static const char many[] =
		"names more nodes than there are, which would hold slurmctld up: name each node "
		"once";
	struct names words = {.count = 1, .most = most}, names = {.most = most};
	struct osp_error error = {.text = ""};
	char *copy;
	int rc;

	for (const char *at = list; *at; at++)
		words.count += strchr(", \t\n", *at) != NULL;
	if (words.count > most)
		return many;
	if (!strchr(list, '[')) /* a word is a name */
		return NULL;
	copy = without_blanks(list);
	rc = copy ? osp_hostlist_expand(copy, count_name, &names, &error) : 1;
	free(copy);
	if (rc < 0 && !strstr(error.text, "names"))
		return "is no list of nodes: write n[1-8,10] or n1,n2";
	return rc ? many : NULL;
}

/* Returns how many names a list may have: each node's twice, or once for each task. */
static size_t most_names(bool is_of_tasks)
{
	size_t nodes = &node_record_count && node_record_count > 0 ? (size_t)node_record_count
								   : OSP_HOSTLIST_NAMES_MAX;
	size_t most = NAMES_LEAST + nodes * (is_of_tasks ? TASKS_OF_NODE : 2);

	return most < OSP_HOSTLIST_NAMES_MAX ? most : OSP_HOSTLIST_NAMES_MAX;
}

/* Writes which option's list would hold slurmctld up, and why. Returns false: neither would. */
static bool long_list(const job_desc_msg_t *job, char *sentence, size_t sentence_bytes)
{
	bool is_of_tasks = job->task_dist == NO_VAL ||
			   (job->task_dist & SLURM_DIST_STATE_BASE) == SLURM_DIST_ARBITRARY;
	const char *required =
		job->req_nodes ? fault_of(job->req_nodes, most_names(is_of_tasks)) : NULL;
	const char *excluded = job->exc_nodes ? fault_of(job->exc_nodes, most_names(false)) : NULL;

	if (required || excluded)
		snprintf(sentence, sentence_bytes, "%s %s", required ? "--nodelist" : "--exclude",
			 required ? required : excluded);
	return required || excluded;
}

/* Writes which option's text Slurm would refuse by its length, after a parse that takes the square
 * of it. Returns false: none. */
static bool long_features(const job_desc_msg_t *job, char *sentence, size_t sentence_bytes)
{
	const char *option = "--constraint";
	size_t bytes = job->features ? strlen(job->features) : 0;

	if (bytes <= FEATURES_MOST_BYTES) {
		option = "--prefer";
		bytes = job->prefer ? strlen(job->prefer) : 0;
	}
	if (bytes <= FEATURES_MOST_BYTES)
		return false;
	snprintf(sentence, sentence_bytes,
		 "%s of %zu bytes would hold slurmctld up; it takes %d at most", option, bytes,
		 FEATURES_MOST_BYTES);
	return true;
}

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
		return long_features(job, sentence, sentence_bytes) ||
		       long_list(job, sentence, sentence_bytes);
	return true;
}
