/* SPDX-License-Identifier: GPL-2.0-or-later */
/* map.c - the fabric as a picture: which job is where, for the renderers */
#include "tools/picture/map.h"

#include <stdlib.h>
#include <string.h>

#include "lib/policy/note.h"
#include "host/slurm/ask.h"
#include "host/slurm/gang.h"

/* Letters of jobs; those of states are left out. */
static const char job_marks[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcefghijklnopqstuwyz1234567890";

static const struct {
	char mark;
	const char *words;
} states[OSP_NODE_STATE_COUNT] = {
	[OSP_NODE_IDLE] = {'.', "idle"},
	[OSP_NODE_PARTLY] = {'#', "partly in use"},
	[OSP_NODE_BUSY] = {'#', "in use by a job not shown"},
	[OSP_NODE_COMPLETING] = {'#', "completing"},
	[OSP_NODE_POWERED_DOWN] = {'~', "powered down"},
	[OSP_NODE_POWERING_UP] = {'^', "powering up"},
	[OSP_NODE_POWERING_DOWN] = {'v', "powering down"},
	[OSP_NODE_RESERVED] = {'r', "reserved"},
	[OSP_NODE_MAINTENANCE] = {'m', "maintenance"},
	[OSP_NODE_DRAINING] = {'d', "drained, a job still on it"},
	[OSP_NODE_DRAINED] = {'d', "drained"},
	[OSP_NODE_DOWN] = {'x', "down"},
	[OSP_NODE_UNKNOWN] = {'?', "unknown"},
};

char osp_map_state_mark(enum osp_slurm_node_state state)
{
	return states[state].mark;
}

const char *osp_map_state_words(enum osp_slurm_node_state state)
{
	return states[state].words;
}

uint32_t osp_map_legend_count(const struct osp_map *map, enum osp_slurm_node_state state)
{
	if (state == OSP_NODE_BUSY)
		return map->hidden;
	return states[state].mark == '#' ? 0 : map->states[state];
}

/* --- cells ------------------------------------------------------------------------------------ */

uint32_t osp_map_next_cell(const struct osp_map *map, uint32_t rank, uint32_t end)
{
	while (rank < end &&
	       !osp_nodeset_test(map->shown, osp_topology_node_at_rank(map->world->topology, rank)))
		rank++;
	return rank;
}

uint32_t osp_map_job_of(const struct osp_map *map, uint32_t node)
{
	enum osp_slurm_node_state state = map->world->snapshot->nodes[node].state;

	if (state == OSP_NODE_DOWN || state == OSP_NODE_DRAINING || state == OSP_NODE_DRAINED)
		return OSP_MAP_NO_JOB;
	return map->job_of_node[node];
}

char osp_map_mark(const struct osp_map *map, uint32_t node)
{
	uint32_t job = osp_map_job_of(map, node);

	if (job != OSP_MAP_NO_JOB)
		return map->jobs[job].mark;
	return states[map->world->snapshot->nodes[node].state].mark;
}

static void count_node(const struct osp_state_node *node, struct osp_map_count *count)
{
	count->nodes++;
	if (osp_node_free(node))
		count->free++;
	else if (node->state >= OSP_NODE_RESERVED)
		count->out++;
	else
		count->busy++;
}

bool osp_map_next_row(const struct osp_map *map, const struct osp_map_box *box, uint32_t rank,
		      struct osp_map_row *row)
{
	const struct osp_topology *topology = map->world->topology;
	uint32_t level = map->row_level;

	memset(row, 0, sizeof(*row));
	rank = osp_map_next_cell(map, rank, box->end_rank);
	if (rank == box->end_rank)
		return false;
	row->first_rank = rank;
	row->domain = OSP_NO_DOMAIN;
	if (level)
		row->domain = osp_topology_domain_of(
			topology, osp_topology_node_at_rank(topology, rank), level);
	while (rank < box->end_rank) {
		uint32_t node = osp_topology_node_at_rank(topology, rank);

		if (level && osp_topology_domain_of(topology, node, level) != row->domain)
			break;
		count_node(&map->world->snapshot->nodes[node], &row->count);
		row->end_rank = rank + 1;
		rank = osp_map_next_cell(map, rank + 1, box->end_rank);
	}
	return true;
}

bool osp_map_concerns(const struct osp_map *map, const struct osp_state_job *job)
{
	const char *at = job->partition;

	if (!map->asked.partitions)
		return true;
	while (at && *at) {
		size_t length = strcspn(at, ",");

		if (osp_list_has(map->asked.partitions, at, length))
			return true;
		at += length + (at[length] == ',');
	}
	return false;
}

/* --- boxes ------------------------------------------------------------------------------------ */

static uint32_t parent_above(const struct osp_topology *topology, uint32_t node, uint32_t level)
{
	while (++level <= osp_topology_level_count(topology)) {
		uint32_t domain = osp_topology_domain_of(topology, node, level);

		if (domain != OSP_NO_DOMAIN)
			return domain;
	}
	return OSP_NO_DOMAIN;
}

uint32_t osp_map_group_end(const struct osp_map *map, uint32_t first)
{
	uint32_t end = first;

	while (end < map->box_count && map->boxes[end].parent == map->boxes[first].parent)
		end++;
	return end;
}

uint32_t osp_map_even_lines(uint32_t count, uint32_t most)
{
	uint32_t lines = (count + most - 1) / most;

	return lines ? (count + lines - 1) / lines : 1;
}

static void count_into_box(struct osp_map *map, struct osp_map_box *box, uint32_t rank,
			   uint32_t node)
{
	const struct osp_state_node *state = &map->world->snapshot->nodes[node];

	box->end_rank = rank + 1;
	count_node(state, &box->count);
	count_node(state, &map->count);
	map->states[state->state]++;
}

static void make_boxes(struct osp_map *map)
{
	const struct osp_topology *topology = map->world->topology;
	uint32_t end = osp_topology_node_count(topology);
	struct osp_map_box *box = NULL;
	uint32_t rank;

	for (rank = osp_map_next_cell(map, 0, end); rank < end;
	     rank = osp_map_next_cell(map, rank + 1, end)) {
		uint32_t node = osp_topology_node_at_rank(topology, rank);
		uint32_t domain = osp_topology_domain_of(topology, node, map->box_level);
		uint32_t parent = parent_above(topology, node, map->box_level);

		if (!box || box->domain != domain || box->parent != parent) {
			box = &map->boxes[map->box_count++];
			box->domain = domain;
			box->parent = parent;
			box->first_rank = rank;
		}
		count_into_box(map, box, rank, node);
	}
}

/* --- jobs ------------------------------------------------------------------------------------- */

static int compare_sizes(const void *a, const void *b)
{
	const struct osp_map_job *one = a;
	const struct osp_map_job *other = b;

	if (one->node_count != other->node_count)
		return one->node_count > other->node_count ? -1 : 1;
	return one->job->id < other->job->id ? -1 : one->job->id > other->job->id;
}

static int compare_jobs(const void *a, const void *b)
{
	const struct osp_map_job *one = a;
	const struct osp_map_job *other = b;

	if (one->gang != other->gang)
		return one->gang ? -1 : 1;
	return compare_sizes(a, b);
}

static void collect_jobs(struct osp_map *map)
{
	const struct osp_snapshot *snapshot = map->world->snapshot;
	uint32_t most;
	uint32_t i;
	uint32_t n;

	for (i = 0; i < snapshot->job_count; i++) {
		const struct osp_state_job *job = &snapshot->jobs[i];
		struct osp_map_job *entry = &map->jobs[map->job_count];
		struct osp_gang gang;

		if (!osp_job_on_nodes(job) || !osp_map_wants(&map->asked, job))
			continue;
		memset(entry, 0, sizeof(*entry));
		entry->job = job;
		for (n = 0; n < job->nodes_known; n++)
			entry->node_count += osp_nodeset_test(map->shown, job->nodes[n]);
		if (!entry->node_count)
			continue;
		entry->gang = osp_gang_of(job, &gang);
		if (entry->gang)
			osp_gang_clear(&gang);
		map->gang_count += entry->gang;
		map->job_count++;
	}
	qsort(map->jobs, map->job_count, sizeof(*map->jobs),
	      map->count.nodes > OSP_MAP_CELLS_MAX ? compare_sizes : compare_jobs);
	most = map->limited ? OSP_MAP_NAMED_MAX : OSP_MAP_LARGEST;
	map->named_count = map->job_count < most ? map->job_count : most;
}

/* How often each colour is taken, in each box and over all. */
struct colour_use {
	uint32_t (*by_box)[OSP_MAP_COLOURS];
	uint32_t all[OSP_MAP_COLOURS];
	uint32_t *box_of_node;
};

/* Does the job's node `n` begin a box? Nodes of a box mostly follow one another. */
static bool begins_box(const struct osp_map *map, const struct colour_use *use,
		       const struct osp_state_job *job, uint32_t n)
{
	return osp_nodeset_test(map->shown, job->nodes[n]) &&
	       (n == 0 || use->box_of_node[job->nodes[n]] != use->box_of_node[job->nodes[n - 1]]);
}

/* Returns the colour that the fewest jobs in the boxes of this one have, then the fewest of all. */
static uint8_t choose_colour(const struct osp_map *map, const struct osp_state_job *job,
			     struct colour_use *use)
{
	uint64_t cost[OSP_MAP_COLOURS] = {0};
	uint8_t best = 0;
	uint32_t n;
	int c;

	for (n = 0; n < job->nodes_known; n++)
		for (c = 0; begins_box(map, use, job, n) && c < OSP_MAP_COLOURS; c++)
			cost[c] += use->by_box[use->box_of_node[job->nodes[n]]][c];
	for (c = 1; c < OSP_MAP_COLOURS; c++)
		if (cost[c] < cost[best] || (cost[c] == cost[best] && use->all[c] < use->all[best]))
			best = (uint8_t)c;
	for (n = 0; n < job->nodes_known; n++)
		if (begins_box(map, use, job, n))
			use->by_box[use->box_of_node[job->nodes[n]]][best]++;
	use->all[best]++;
	return best;
}

static int colour_jobs(struct osp_map *map)
{
	const struct osp_topology *topology = map->world->topology;
	struct colour_use use = {.all = {0}};
	uint32_t i;
	uint32_t rank;

	use.by_box = calloc((size_t)map->box_count + 1, sizeof(*use.by_box));
	use.box_of_node = calloc((size_t)map->shown->place_count + 1, sizeof(*use.box_of_node));
	for (i = 0; use.box_of_node && i < map->box_count; i++)
		for (rank = map->boxes[i].first_rank; rank < map->boxes[i].end_rank; rank++)
			use.box_of_node[osp_topology_node_at_rank(topology, rank)] = i;
	for (i = 0; use.by_box && use.box_of_node && i < map->job_count; i++) {
		map->jobs[i].colour = choose_colour(map, map->jobs[i].job, &use);
		map->jobs[i].mark = i < sizeof(job_marks) - 1 ? job_marks[i] : '#';
	}
	free(use.by_box);
	free(use.box_of_node);
	return i == map->job_count ? 0 : -1;
}

/* Gives the cell of a shared node to its larger job. */
static void put_jobs_on_nodes(struct osp_map *map)
{
	uint32_t i;
	uint32_t n;

	for (n = 0; n < map->shown->place_count; n++)
		map->job_of_node[n] = OSP_MAP_NO_JOB;
	for (i = map->job_count; i-- > 0;)
		for (n = 0; n < map->jobs[i].job->nodes_known; n++)
			map->job_of_node[map->jobs[i].job->nodes[n]] = i;
	for (i = 0; i < map->job_count; i++) {
		struct osp_map_job *job = &map->jobs[i];

		job->beside = OSP_MAP_NO_JOB;
		for (n = job->job->nodes_known; n-- > 0;)
			if (osp_nodeset_test(map->shown, job->job->nodes[n]) &&
			    map->job_of_node[job->job->nodes[n]] != i)
				job->beside = job->job->nodes[n];
	}
}

/* Adds the nodes that the job shares: of a shared node the map has the letter of one job. */
static void add_shared(const struct osp_map *map, const struct osp_map_job *job,
		       struct osp_text *text)
{
	const struct osp_map_job *other;
	uint32_t count = 0;

	if (job->beside == OSP_MAP_NO_JOB)
		return;
	other = &map->jobs[map->job_of_node[job->beside]];
	for (uint32_t n = 0; n < job->job->nodes_known; n++) {
		uint32_t node = job->job->nodes[n];

		count += osp_nodeset_test(map->shown, node) &&
			 &map->jobs[map->job_of_node[node]] != job;
	}
	osp_text_printf(text, ", %u shared with %s", count, other->job->label);
	if (count == job->node_count)
		osp_text_add(text, ", whose letter is there");
}

static void count_hidden(struct osp_map *map)
{
	uint32_t n;

	for (n = osp_nodeset_next(map->shown, 0); n < map->shown->place_count;
	     n = osp_nodeset_next(map->shown, n + 1))
		map->hidden += map->job_of_node[n] == OSP_MAP_NO_JOB &&
			       states[map->world->snapshot->nodes[n].state].mark == '#';
}

/* --- the map ---------------------------------------------------------------------------------- */

static int choose_nodes(const char *partitions, struct osp_map *map, struct osp_error *error)
{
	if (partitions)
		return osp_ask_add_partitions(map->world, partitions, map->shown, error);
	osp_nodeset_fill(map->shown);
	return 0;
}

int osp_map_make(const struct osp_world *world, const struct osp_map_asked *asked,
		 struct osp_map *map, struct osp_error *error)
{
	const struct osp_topology *topology = world->topology;
	uint32_t nodes = world->snapshot->node_count;
	int spine = osp_topology_level(topology, "spine");

	memset(map, 0, sizeof(*map));
	map->world = world;
	map->asked = *asked;
	map->limited = asked->jobs || asked->user;
	map->box_level = osp_topology_level_count(topology) > 1 ? 2 : 1;
	if (spine > 0)
		map->box_level = (uint32_t)spine;
	map->row_level = map->box_level - 1;
	map->shown = osp_nodeset_new(nodes);
	map->job_of_node = calloc((size_t)nodes + 1, sizeof(*map->job_of_node));
	map->jobs = calloc((size_t)world->snapshot->job_count + 1, sizeof(*map->jobs));
	map->boxes = calloc((size_t)nodes + 1, sizeof(*map->boxes));
	if (!map->shown || !map->job_of_node || !map->jobs || !map->boxes)
		return osp_error_set(error, "out of memory");
	if (osp_map_check_jobs(world->snapshot, asked, error) < 0 ||
	    osp_map_check_user(world->snapshot, asked->user, error) < 0 ||
	    choose_nodes(asked->partitions, map, error) < 0)
		return -1;
	make_boxes(map);
	collect_jobs(map);
	put_jobs_on_nodes(map);
	count_hidden(map);
	return colour_jobs(map) < 0 ? osp_error_set(error, "out of memory") : 0;
}

void osp_map_clear(struct osp_map *map)
{
	free(map->shown);
	free(map->job_of_node);
	free(map->jobs);
	free(map->boxes);
	memset(map, 0, sizeof(*map));
}

/* --- words ------------------------------------------------------------------------------------ */

static void add_path(const struct osp_topology *topology, uint32_t domain, struct osp_text *text)
{
	uint32_t chain[OSP_LEVELS_MAX + 1];
	size_t count = 0;

	while (domain != OSP_NO_DOMAIN && count <= OSP_LEVELS_MAX) {
		chain[count++] = domain;
		domain = osp_topology_domain(topology, domain)->parent;
	}
	while (count--) {
		const struct osp_domain *found = osp_topology_domain(topology, chain[count]);

		osp_text_printf(text, "%s %s%s", osp_topology_level_name(topology, found->level),
				found->name, count ? ", " : "");
	}
}

void osp_map_path(const struct osp_map *map, const struct osp_map_box *box, struct osp_text *text)
{
	add_path(map->world->topology, box->parent, text);
}

const char *osp_map_box_name(const struct osp_map *map, const struct osp_map_box *box)
{
	return box->domain == OSP_NO_DOMAIN
		       ? "(unknown)"
		       : osp_topology_domain(map->world->topology, box->domain)->name;
}

void osp_map_summary(const struct osp_map *map, struct osp_text *text)
{
	const struct osp_topology *topology = map->world->topology;

	if (map->world->snapshot->cluster)
		osp_text_printf(text, "%s: ", map->world->snapshot->cluster);
	osp_text_printf(text, "%u %s: %u busy, %u free, %u out; ", map->count.nodes,
			map->count.nodes == 1 ? "node" : "nodes", map->count.busy, map->count.free,
			map->count.out);
	if (map->job_count == 1)
		osp_text_printf(text, "1 job, %s gang", map->gang_count ? "a" : "no");
	else
		osp_text_printf(text, "%u jobs, %u of them %s", map->job_count, map->gang_count,
				map->gang_count == 1 ? "a gang" : "gangs");
	if (map->world->snapshot->hides_jobs)
		osp_text_add(text, " (PrivateData=jobs: others' only if you are an operator)");
	for (uint32_t level = osp_topology_level_count(topology) + 1;
	     level <= osp_topology_last_level(topology); level++)
		osp_text_printf(text, "; %s is beside the tree, and not drawn",
				osp_topology_level_name(topology, level));
}

void osp_map_job_words(const struct osp_map *map, const struct osp_map_job *job,
		       struct osp_text *text)
{
	int64_t left_s = job->job->end_s - map->world->snapshot->time_s;
	struct osp_gang gang;
	char lasts[32];

	osp_text_printf(text, "%s", job->job->label);
	if (job->job->name)
		osp_text_printf(text, " %s", job->job->name);
	if (job->job->user)
		osp_text_printf(text, " of %s", job->job->user);
	if (job->gang && osp_gang_of(job->job, &gang)) {
		osp_text_printf(text, ", gang=%s", gang.note.gang);
		osp_gang_clear(&gang);
	}
	osp_text_printf(text, ", %u %s", job->node_count, job->node_count == 1 ? "node" : "nodes");
	add_shared(map, job, text);
	if (job->job->phase == OSP_JOB_COMPLETING)
		osp_text_add(text, ", completing");
	else if (job->job->end_s && left_s > 0)
		osp_text_printf(text, ", ends in %s",
				osp_format_duration(left_s, lasts, sizeof(lasts)));
}
