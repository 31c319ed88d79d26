/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * occupancy.c - what running jobs hold of each node, until when
 *
 * A hold is one job on one node. It is in two lists: that of its node, by end, the latest first,
 * and that of its job. Lists use numbers instead of pointers, so the arrays can grow; number 0
 * means none.
 */
#include "lib/place/occupancy_private.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_BUCKETS 256

struct osp_occupancy *osp_occupancy_new(uint32_t node_count)
{
	struct osp_occupancy *occupancy =
		calloc(1, sizeof(*occupancy) + node_count * sizeof(struct node));

	if (!occupancy)
		return NULL;
	occupancy->node_count = node_count;
	occupancy->hold_count = 1;
	occupancy->job_count = 1;
	occupancy->bucket_count = FIRST_BUCKETS;
	occupancy->buckets = calloc(FIRST_BUCKETS, sizeof(*occupancy->buckets));
	occupancy->times = osp_occupancy_times_new(node_count);
	if (occupancy->buckets && occupancy->times)
		return occupancy;
	osp_occupancy_free(occupancy);
	return NULL;
}

void osp_occupancy_free(struct osp_occupancy *occupancy)
{
	if (!occupancy)
		return;
	free(occupancy->holds);
	free(occupancy->jobs);
	free(occupancy->buckets);
	osp_occupancy_times_free(occupancy->times);
	free(occupancy);
}

bool osp_occupancy_same_amounts(const struct osp_amounts *a, const struct osp_amounts *b)
{
	return a->memory_mib == b->memory_mib && a->cpus == b->cpus &&
	       !memcmp(a->gres, b->gres, sizeof(a->gres));
}

void osp_occupancy_set_node(struct osp_occupancy *occupancy, uint32_t node,
			    const struct osp_amounts *has)
{
	if (node >= occupancy->node_count ||
	    osp_occupancy_same_amounts(&occupancy->nodes[node].has, has))
		return;
	occupancy->nodes[node].has = *has;
	osp_occupancy_node_changed(occupancy, node);
}

static void enlarge(struct osp_amounts *largest, const struct osp_amounts *has)
{
	if (has->memory_mib > largest->memory_mib)
		largest->memory_mib = has->memory_mib;
	if (has->cpus > largest->cpus)
		largest->cpus = has->cpus;
	for (uint32_t i = 0; i < OSP_OCCUPANCY_GRES_MAX; i++) {
		if (has->gres[i] > largest->gres[i])
			largest->gres[i] = has->gres[i];
	}
}

struct osp_amounts osp_occupancy_largest(const struct osp_occupancy *occupancy,
					 const struct osp_nodeset *nodes)
{
	struct osp_amounts largest = {0};

	for (uint32_t n = osp_nodeset_next(nodes, 0);
	     n < nodes->place_count && n < occupancy->node_count;
	     n = osp_nodeset_next(nodes, n + 1))
		enlarge(&largest, &occupancy->nodes[n].has);
	return largest;
}

uint32_t osp_occupancy_jobs(const struct osp_occupancy *occupancy)
{
	return occupancy->jobs_held;
}

/* --- jobs by number -------------------------------------------------------------------------- */

static uint32_t bucket_of(const struct osp_occupancy *occupancy, uint32_t number)
{
	return (uint32_t)((number * UINT64_C(0x9e3779b97f4a7c15)) >> 32) &
	       (occupancy->bucket_count - 1);
}

/* Returns the index of a job in `jobs`; 0 if it is not there. */
static uint32_t find_job(const struct osp_occupancy *occupancy, uint32_t number)
{
	uint32_t at = occupancy->buckets[bucket_of(occupancy, number)];

	while (at && occupancy->jobs[at].number != number)
		at = occupancy->jobs[at].next;
	return at;
}

static void link_job(struct osp_occupancy *occupancy, uint32_t at)
{
	uint32_t *bucket = &occupancy->buckets[bucket_of(occupancy, occupancy->jobs[at].number)];

	occupancy->jobs[at].next = *bucket;
	*bucket = at;
}

static void unlink_job(struct osp_occupancy *occupancy, uint32_t at)
{
	uint32_t *link = &occupancy->buckets[bucket_of(occupancy, occupancy->jobs[at].number)];

	while (*link != at)
		link = &occupancy->jobs[*link].next;
	*link = occupancy->jobs[at].next;
}

/* --- room ------------------------------------------------------------------------------------ */

/* Returns the array with room for `wanted` items, or NULL. `*room` is then the new room. */
static void *grow(void *items, uint32_t *room, uint32_t wanted, size_t item_bytes)
{
	uint32_t larger = *room ? *room : 64;
	void *grown;

	while (larger < wanted && larger <= UINT32_MAX / 2)
		larger *= 2;
	grown = larger < wanted ? NULL : realloc(items, larger * item_bytes);
	if (grown)
		*room = larger;
	return grown;
}

static int room_for_holds(struct osp_occupancy *occupancy, size_t count)
{
	struct hold *holds;

	if (count > UINT32_MAX - occupancy->hold_count)
		return -1;
	if (occupancy->hold_count + count <= occupancy->hold_room)
		return 0;
	holds = grow(occupancy->holds, &occupancy->hold_room,
		     occupancy->hold_count + (uint32_t)count, sizeof(*holds));
	if (!holds)
		return -1;
	occupancy->holds = holds;
	return 0;
}

/* Doubles the buckets, so that there are as many as jobs and a bucket has about one. */
static int more_buckets(struct osp_occupancy *occupancy)
{
	uint32_t count = occupancy->bucket_count * 2;
	uint32_t *buckets = count ? calloc(count, sizeof(*buckets)) : NULL;

	if (!buckets)
		return -1;
	free(occupancy->buckets);
	occupancy->buckets = buckets;
	occupancy->bucket_count = count;
	for (uint32_t at = 1; at < occupancy->job_count; at++) {
		if (occupancy->jobs[at].used)
			link_job(occupancy, at);
	}
	return 0;
}

static int room_for_job(struct osp_occupancy *occupancy)
{
	struct job *jobs;

	if (occupancy->jobs_held >= occupancy->bucket_count && more_buckets(occupancy) != 0)
		return -1;
	if (occupancy->free_job || occupancy->job_count < occupancy->job_room)
		return 0;
	jobs = grow(occupancy->jobs, &occupancy->job_room, occupancy->job_count + 1, sizeof(*jobs));
	if (!jobs)
		return -1;
	occupancy->jobs = jobs;
	return 0;
}

static uint32_t take_job(struct osp_occupancy *occupancy)
{
	uint32_t at = occupancy->free_job;

	if (at)
		occupancy->free_job = occupancy->jobs[at].next;
	else
		at = occupancy->job_count++;
	return at;
}

static uint32_t take_hold(struct osp_occupancy *occupancy)
{
	uint32_t at = occupancy->free_hold;

	if (at)
		occupancy->free_hold = occupancy->holds[at].next_of_job;
	else
		at = occupancy->hold_count++;
	return at;
}

/* --- a node's holds, by end ------------------------------------------------------------------ */

static void link_hold(struct osp_occupancy *occupancy, uint32_t at)
{
	struct hold *holds = occupancy->holds;
	uint32_t *last = &occupancy->nodes[holds[at].node].last_hold;
	uint32_t later = 0, sooner = *last;

	while (sooner && holds[sooner].end_s > holds[at].end_s) {
		later = sooner;
		sooner = holds[sooner].sooner_on_node;
	}
	holds[at].later_on_node = later;
	holds[at].sooner_on_node = sooner;
	if (sooner)
		holds[sooner].later_on_node = at;
	if (later)
		holds[later].sooner_on_node = at;
	else
		*last = at;
	osp_occupancy_node_changed(occupancy, holds[at].node);
}

static void unlink_hold(struct osp_occupancy *occupancy, uint32_t at)
{
	struct hold *holds = occupancy->holds;
	uint32_t later = holds[at].later_on_node, sooner = holds[at].sooner_on_node;

	if (later)
		holds[later].sooner_on_node = sooner;
	else
		occupancy->nodes[holds[at].node].last_hold = sooner;
	if (sooner)
		holds[sooner].later_on_node = later;
	osp_occupancy_node_changed(occupancy, holds[at].node);
}

static void add_hold(struct osp_occupancy *occupancy, uint32_t job,
		     const struct osp_occupancy_node *node)
{
	uint32_t at = take_hold(occupancy);

	occupancy->holds[at] = (struct hold){
		.end_s = occupancy->jobs[job].end_s,
		.amounts = node->holds,
		.job = job,
		.node = node->node,
		.next_of_job = occupancy->jobs[job].first_hold,
	};
	occupancy->jobs[job].first_hold = at;
	link_hold(occupancy, at);
}

/* --- changes --------------------------------------------------------------------------------- */

int osp_occupancy_add(struct osp_occupancy *occupancy, uint32_t job, int64_t end_s,
		      const struct osp_occupancy_node *nodes, size_t node_count)
{
	uint32_t at;

	osp_occupancy_remove(occupancy, job);
	if (room_for_job(occupancy) != 0 || room_for_holds(occupancy, node_count) != 0)
		return -1;
	at = take_job(occupancy);
	occupancy->jobs[at] = (struct job){.end_s = end_s, .number = job, .used = true};
	link_job(occupancy, at);
	occupancy->jobs_held++;
	for (size_t i = 0; i < node_count; i++) {
		if (nodes[i].node < occupancy->node_count)
			add_hold(occupancy, at, &nodes[i]);
	}
	return 0;
}

bool osp_occupancy_remove(struct osp_occupancy *occupancy, uint32_t job)
{
	uint32_t at = find_job(occupancy, job), next;

	if (!at)
		return false;
	for (uint32_t hold = occupancy->jobs[at].first_hold; hold; hold = next) {
		next = occupancy->holds[hold].next_of_job;
		unlink_hold(occupancy, hold);
		occupancy->holds[hold].next_of_job = occupancy->free_hold;
		occupancy->free_hold = hold;
	}
	unlink_job(occupancy, at);
	occupancy->jobs[at] = (struct job){.next = occupancy->free_job};
	occupancy->free_job = at;
	occupancy->jobs_held--;
	return true;
}

bool osp_occupancy_set_end(struct osp_occupancy *occupancy, uint32_t job, int64_t end_s)
{
	uint32_t at = find_job(occupancy, job);

	if (!at)
		return false;
	if (occupancy->jobs[at].end_s == end_s)
		return true;
	occupancy->jobs[at].end_s = end_s;
	for (uint32_t hold = occupancy->jobs[at].first_hold; hold;
	     hold = occupancy->holds[hold].next_of_job) {
		unlink_hold(occupancy, hold);
		occupancy->holds[hold].end_s = end_s;
		link_hold(occupancy, hold);
	}
	return true;
}

static void job_changed(struct osp_occupancy *occupancy, uint32_t at)
{
	for (uint32_t hold = occupancy->jobs[at].first_hold; hold;
	     hold = occupancy->holds[hold].next_of_job)
		osp_occupancy_node_changed(occupancy, occupancy->holds[hold].node);
}

bool osp_occupancy_set_suspended(struct osp_occupancy *occupancy, uint32_t job, bool suspended)
{
	uint32_t at = find_job(occupancy, job);

	if (!at || occupancy->jobs[at].suspended == suspended)
		return at != 0;
	occupancy->jobs[at].suspended = suspended;
	job_changed(occupancy, at);
	return true;
}

bool osp_occupancy_set_group(struct osp_occupancy *occupancy, uint32_t job, uint32_t group,
			     uint16_t rows)
{
	uint32_t at = find_job(occupancy, job);
	struct job *found;

	if (!at)
		return false;
	found = &occupancy->jobs[at];
	if (found->group == group && found->rows == rows)
		return true;
	found->group = group;
	found->rows = rows;
	job_changed(occupancy, at);
	return true;
}

uint32_t osp_occupancy_group(const struct osp_occupancy *occupancy, uint32_t job, uint16_t *rows)
{
	uint32_t at = find_job(occupancy, job);

	*rows = at ? occupancy->jobs[at].rows : 0;
	return at ? occupancy->jobs[at].group : 0;
}

bool osp_occupancy_is_suspended(const struct osp_occupancy *occupancy, uint32_t job)
{
	uint32_t at = find_job(occupancy, job);

	return at && occupancy->jobs[at].suspended;
}

bool osp_occupancy_ignore(struct osp_occupancy *occupancy, uint32_t job)
{
	uint32_t at = find_job(occupancy, job);

	if (at)
		occupancy->jobs[at].ignored = occupancy->any_ignored = true;
	return at != 0;
}

bool osp_occupancy_ignore_cpus(struct osp_occupancy *occupancy, uint32_t job)
{
	uint32_t at = find_job(occupancy, job);

	if (at)
		occupancy->jobs[at].yields = occupancy->any_ignored = true;
	return at != 0;
}

void osp_occupancy_heed_all(struct osp_occupancy *occupancy)
{
	for (uint32_t at = 1; occupancy->any_ignored && at < occupancy->job_count; at++)
		occupancy->jobs[at].ignored = occupancy->jobs[at].yields = false;
	occupancy->any_ignored = false;
}

/* --- questions ------------------------------------------------------------------------------- */

static void describe(const struct osp_occupancy *occupancy, uint32_t at,
		     struct osp_occupancy_job *found)
{
	const struct hold *hold = &occupancy->holds[at];
	const struct job *job = &occupancy->jobs[hold->job];

	*found = (struct osp_occupancy_job){
		.job = job->number,
		.end_s = hold->end_s,
		.suspended = job->suspended,
		.node = hold->node,
		.holds = hold->amounts,
	};
}

bool osp_occupancy_on_node(const struct osp_occupancy *occupancy, uint32_t node, uint32_t index,
			   struct osp_occupancy_job *found)
{
	uint32_t at = node < occupancy->node_count ? occupancy->nodes[node].last_hold : 0;

	while (at && index--)
		at = occupancy->holds[at].sooner_on_node;
	if (at)
		describe(occupancy, at, found);
	return at != 0;
}

bool osp_occupancy_next_job(const struct osp_occupancy *occupancy, uint32_t *cursor, uint32_t *job,
			    int64_t *end_s)
{
	for (uint32_t at = *cursor + 1; at < occupancy->job_count; at++) {
		if (!occupancy->jobs[at].used)
			continue;
		*cursor = at;
		*job = occupancy->jobs[at].number;
		*end_s = occupancy->jobs[at].end_s;
		return true;
	}
	*cursor = 0;
	return false;
}

/* --- another count ---------------------------------------------------------------------------- */

bool osp_occupancy_has(const struct osp_occupancy *occupancy, uint32_t job)
{
	return find_job(occupancy, job) != 0;
}

/* Returns the first hold of the job at that index; 0 for none. */
static uint32_t first_hold_of(const struct osp_occupancy *occupancy, uint32_t at)
{
	return at ? occupancy->jobs[at].first_hold : 0;
}

/* Returns the hold of a job on a node, or 0. */
static uint32_t hold_of(const struct osp_occupancy *occupancy, uint32_t first_hold, uint32_t node)
{
	uint32_t at = first_hold;

	while (at && occupancy->holds[at].node != node)
		at = occupancy->holds[at].next_of_job;
	return at;
}

/*
 * Looks for a node on which the account and the caller differ. osp_occupancy_add() has put the last
 * of the nodes first, so the holds are found at once if nothing differs.
 */
static bool nodes_differ(const struct osp_occupancy *occupancy, uint32_t at,
			 const struct osp_occupancy_job *expected,
			 const struct osp_occupancy_node *nodes, size_t node_count,
			 struct osp_occupancy_job *account, struct osp_occupancy_job *caller)
{
	uint32_t next = first_hold_of(occupancy, at), hold;

	for (size_t i = node_count; i--;) {
		if (nodes[i].node >= occupancy->node_count)
			continue;
		hold = next && occupancy->holds[next].node == nodes[i].node
			       ? next
			       : hold_of(occupancy, first_hold_of(occupancy, at), nodes[i].node);
		*caller = *expected;
		caller->node = nodes[i].node;
		caller->holds = nodes[i].holds;
		*account = (struct osp_occupancy_job){.node = nodes[i].node};
		if (!hold)
			return true;
		describe(occupancy, hold, account);
		if (account->end_s != expected->end_s ||
		    account->suspended != expected->suspended ||
		    !osp_occupancy_same_amounts(&account->holds, &caller->holds))
			return true;
		next = hold == next ? occupancy->holds[hold].next_of_job : next;
	}
	return false;
}

/* Returns a hold of the job on a node that the caller does not name, or 0. */
static uint32_t hold_elsewhere(const struct osp_occupancy *occupancy, uint32_t at,
			       const struct osp_occupancy_node *nodes, size_t node_count)
{
	for (uint32_t hold = first_hold_of(occupancy, at); hold;
	     hold = occupancy->holds[hold].next_of_job) {
		size_t i = 0;

		while (i < node_count && nodes[i].node != occupancy->holds[hold].node)
			i++;
		if (i == node_count)
			return hold;
	}
	return 0;
}

static size_t holds_of(const struct osp_occupancy *occupancy, uint32_t at)
{
	size_t count = 0;

	for (uint32_t hold = first_hold_of(occupancy, at); hold;
	     hold = occupancy->holds[hold].next_of_job)
		count++;
	return count;
}

static size_t nodes_known(const struct osp_occupancy *occupancy,
			  const struct osp_occupancy_node *nodes, size_t node_count)
{
	size_t count = 0;

	for (size_t i = 0; i < node_count; i++)
		count += nodes[i].node < occupancy->node_count;
	return count;
}

bool osp_occupancy_says(const struct osp_occupancy *occupancy, uint32_t job, int64_t end_s,
			bool suspended, const struct osp_occupancy_node *nodes, size_t node_count,
			struct osp_occupancy_job *account, struct osp_occupancy_job *caller)
{
	const struct osp_occupancy_job expected = {
		.job = job, .end_s = end_s, .suspended = suspended};
	uint32_t at = find_job(occupancy, job), hold;

	if (nodes_differ(occupancy, at, &expected, nodes, node_count, account, caller))
		return false;
	if (holds_of(occupancy, at) == nodes_known(occupancy, nodes, node_count))
		return true;
	hold = hold_elsewhere(occupancy, at, nodes, node_count);
	describe(occupancy, hold, account);
	*caller = (struct osp_occupancy_job){.node = account->node};
	return false;
}
