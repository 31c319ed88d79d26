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

#include "lib/choose/components.h"

#if OSP_HAVE_EXTRA_CONSTRAINTS

/*
 * Expressions whose nodes are remembered; the one asked about longest ago is forgotten first. One
 * call may ask about as many as a job has components, again and again. A mebibyte for 65,536 nodes.
 */
#define KEPT_MAX OSP_COMPONENTS_MAX

static struct kept {
	char *extra;
	time_t looked; /* when the call began in which the nodes were looked at */
	uint64_t used; /* number of the last question about it */
	struct osp_nodeset *excluded;
} kept[KEPT_MAX];

static time_t call_began;

void shadow_extra_begin(void)
{
	call_began = time(NULL);
}

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

/* Returns what is remembered of an expression; NULL: nothing, and *oldest is what to forget. */
static struct kept *recall(const char *extra, struct kept **oldest)
{
	static uint64_t questions;

	*oldest = &kept[0];
	for (uint32_t i = 0; i < KEPT_MAX; i++) {
		if (kept[i].extra && !strcmp(kept[i].extra, extra)) {
			kept[i].used = ++questions;
			return &kept[i];
		}
		if (kept[i].used < (*oldest)->used)
			*oldest = &kept[i];
	}
	return NULL;
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

/* Returns what is remembered of the job's expression, looked at in this call; NULL if memory ran
 * out. */
static const struct kept *look_once(const job_record_t *job)
{
	struct kept *oldest, *one = recall(job->extra, &oldest);

	if (one && one->looked == call_began)
		return one;
	if (!one) {
		forget(oldest);
		oldest->extra = strdup(job->extra);
		oldest->excluded = osp_nodeset_new(shadow_state.node_count);
		if (!oldest->extra || !oldest->excluded) {
			forget(oldest);
			return NULL;
		}
		one = recall(job->extra, &oldest);
	}
	look(job, one->excluded);
	one->looked = call_began;
	return one;
}

bool shadow_extra_excludes(const job_record_t *job, const struct osp_nodeset **excluded)
{
	const struct kept *one;

	*excluded = NULL;
	if (!shadow_extra(job))
		return true;
	one = look_once(job);
	if (one)
		*excluded = one->excluded;
	return one != NULL;
}

void shadow_extra_drop_lately(const job_record_t *job, struct osp_nodeset *nodes, bool may_look)
{
	struct kept *oldest;
	const struct kept *one = shadow_extra(job) ? recall(job->extra, &oldest) : NULL;

	if (!one && may_look && shadow_extra(job))
		one = look_once(job);
	if (one)
		osp_nodeset_and_not(nodes, one->excluded);
}

const char *shadow_extra(const job_record_t *job)
{
	return job->extra_constraints && extra_constraints_enabled() ? job->extra : NULL;
}

#else

void shadow_extra_forget(void)
{
}

void shadow_extra_begin(void)
{
}

bool shadow_extra_excludes(const job_record_t *job, const struct osp_nodeset **excluded)
{
	(void)job;
	*excluded = NULL;
	return true;
}

void shadow_extra_drop_lately(const job_record_t *job, struct osp_nodeset *nodes, bool may_look)
{
	(void)job;
	(void)nodes;
	(void)may_look;
}

const char *shadow_extra(const job_record_t *job)
{
	(void)job;
	return NULL;
}

#endif

bool shadow_extra_drop(const job_record_t *job, struct osp_nodeset *nodes)
{
	const struct osp_nodeset *excluded;

	if (!shadow_extra_excludes(job, &excluded))
		return false;
	if (excluded)
		osp_nodeset_and_not(nodes, excluded);
	return true;
}
