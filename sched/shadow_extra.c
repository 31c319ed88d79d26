/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_extra.c - nodes that a job's --extra excludes, with SchedulerParameters=extra_constraints
 *
 * Slurm compares --extra with the Extra field of nodes only when it starts a job
 * (_build_node_list() in node_scheduler.c). Backfill and --test-only offer all nodes, and a gang
 * planned on some that Slurm then refuses would keep them for ever.
 *
 * A comparison takes about a microsecond, so what a node was found to be is kept until its Extra
 * changes. Slurm frees an Extra after it has read the next one (update_node() and
 * validate_node_specs() in node_mgr.c), which therefore lies elsewhere. Only one that changed twice
 * between two looks may lie where the first was: so some nodes are compared anew in each look.
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
	uint32_t look; /* the last look at the nodes that is in `excluded`; 0: none */
	uint64_t used; /* number of the last question about it */
	struct osp_nodeset *excluded;
} kept[KEPT_MAX];

/* What the nodes have, as far as it has been looked at; NULL until somebody asks. */
static struct {
	const data_t **extra; /* by node; not to be read, only compared */
	uint32_t *changed;    /* by node: the look that found another */
	uint32_t look;	      /* number of the last one, from 1 on */
	uint32_t anew;	      /* the node with which the nodes of the next one begin that count as
				 changed */
	time_t looked;	      /* when the call began in which it was */
} nodes_seen;

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
	free(nodes_seen.extra);
	free(nodes_seen.changed);
	memset(&nodes_seen, 0, sizeof(nodes_seen));
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

/* Prepares for the first look. Returns false if memory ran out. */
static bool begin_looks(void)
{
	uint32_t count = shadow_state.node_count;

	if (nodes_seen.extra)
		return true;
	nodes_seen.extra = calloc(count, sizeof(const data_t *));
	nodes_seen.changed = calloc(count, sizeof(uint32_t));
	if (nodes_seen.extra && nodes_seen.changed)
		return true;
	free(nodes_seen.extra);
	free(nodes_seen.changed);
	nodes_seen.extra = NULL;
	nodes_seen.changed = NULL;
	return false;
}

static data_t *extra_of(uint32_t n)
{
	const node_record_t *node = node_record_table_ptr[n];

	return node ? node->extra_data : NULL;
}

/* Looks which nodes have another Extra, once a call and second. Returns false if memory ran out. */
static bool look_at_nodes(void)
{
	uint32_t count = shadow_state.node_count;
	bool first = !nodes_seen.look;

	if (!begin_looks())
		return false;
	if (!first && nodes_seen.looked == call_began)
		return true;
	nodes_seen.looked = call_began;
	nodes_seen.look++;
	for (uint32_t n = 0; n < count; n++) {
		const data_t *extra = extra_of(n);

		if (!first && extra == nodes_seen.extra[n])
			continue;
		nodes_seen.extra[n] = extra;
		nodes_seen.changed[n] = nodes_seen.look;
	}
	for (uint32_t i = 0; i < SHADOW_EXTRA_ANEW && i < count; i++) {
		nodes_seen.changed[nodes_seen.anew] = nodes_seen.look;
		nodes_seen.anew = (nodes_seen.anew + 1) % count;
	}
	return true;
}

/* Compares the expression with the nodes that have changed since it was last compared. What the
 * last look saw may have been freed since, in the same second. */
static void compare(const job_record_t *job, struct kept *one)
{
	for (uint32_t n = 0; n < shadow_state.node_count; n++) {
		data_t *extra;

		if (nodes_seen.changed[n] <= one->look)
			continue;
		extra = extra_of(n);
		if (extra && extra_constraints_test(job->extra_constraints, extra))
			osp_nodeset_remove(one->excluded, n);
		else
			osp_nodeset_add(one->excluded, n);
	}
	one->look = nodes_seen.look;
}

/* Returns what is remembered of the job's expression, looked at in this call; NULL if memory ran
 * out. */
static const struct kept *look_once(const job_record_t *job)
{
	struct kept *oldest, *one = recall(job->extra, &oldest);

	if (!look_at_nodes())
		return NULL;
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
	if (one->look != nodes_seen.look)
		compare(job, one);
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
