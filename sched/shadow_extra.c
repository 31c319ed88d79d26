/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_extra.c - nodes that a job's --extra excludes, with SchedulerParameters=extra_constraints
 *
 * Slurm compares --extra with the Extra field of nodes only when it starts a job
 * (_build_node_list() in node_scheduler.c). Backfill and --test-only offer all nodes, and a gang
 * planned on some that Slurm then refuses would keep them for ever.
 */
#include "sched/shadow.h"

#include <stdlib.h>
#include <string.h>

#if OSP_HAVE_EXTRA_CONSTRAINTS

/* Expressions whose nodes are remembered; the one asked about longest ago is forgotten first. */
#define KEPT_MAX 8

static struct kept {
	char *extra;
	time_t looked;
	uint64_t used; /* number of the last question about it */
	struct osp_nodeset *excluded;
} kept[KEPT_MAX];

static void forget(struct kept *one)
{
	free(one->extra);
	free(one->excluded);
	memset(one, 0, sizeof(*one));
}

void shadow_extra_forget(void)
{
	for (uint32_t i = 0; i < KEPT_MAX; i++)
		forget(&kept[i]);
}

static struct kept *find(const char *extra)
{
	struct kept *found = &kept[0];

	for (uint32_t i = 0; i < KEPT_MAX; i++) {
		if (kept[i].extra && !strcmp(kept[i].extra, extra))
			return &kept[i];
		if (kept[i].used < found->used)
			found = &kept[i];
	}
	forget(found);
	found->extra = strdup(extra);
	found->excluded = osp_nodeset_new(shadow_state.node_count);
	return found;
}

static void look(const job_record_t *job, struct osp_nodeset *excluded)
{
	osp_nodeset_clear(excluded);
	for (uint32_t n = 0; n < excluded->place_count; n++) {
		const node_record_t *node = node_record_table_ptr[n];

		if (!node || !node->extra_data ||
		    !extra_constraints_test(job->extra_constraints, node->extra_data))
			osp_nodeset_add(excluded, n);
	}
}

const struct osp_nodeset *shadow_extra_excludes(const job_record_t *job)
{
	static uint64_t questions;
	time_t now = time(NULL);
	struct kept *one;

	if (!shadow_extra(job))
		return NULL;
	one = find(job->extra);
	if (!one->extra || !one->excluded) {
		forget(one);
		return NULL;
	}
	one->used = ++questions;
	if (one->looked != now)
		look(job, one->excluded);
	one->looked = now;
	return one->excluded;
}

const char *shadow_extra(const job_record_t *job)
{
	return job->extra_constraints && extra_constraints_enabled() ? job->extra : NULL;
}

#else

void shadow_extra_forget(void)
{
}

const struct osp_nodeset *shadow_extra_excludes(const job_record_t *job)
{
	(void)job;
	return NULL;
}

const char *shadow_extra(const job_record_t *job)
{
	(void)job;
	return NULL;
}

#endif

void shadow_extra_drop(const job_record_t *job, struct osp_nodeset *nodes)
{
	const struct osp_nodeset *excluded = shadow_extra_excludes(job);

	if (excluded)
		osp_nodeset_and_not(nodes, excluded);
}
