/* SPDX-License-Identifier: GPL-2.0-or-later */
/* map_jobs.c - which jobs a map shows, and where each of them is */
#include "tools/picture/map.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOXES_NAMED 4

/* --- which ------------------------------------------------------------------------------------ */

/* Returns whether the word names the job; "1201" names also 1201_7 and 1201+1. */
static bool names(const char *word, size_t length, const struct osp_state_job *job)
{
	return length && strncmp(job->label, word, length) == 0 && strchr("_+", job->label[length]);
}

/* Returns the next word of a list with commas, from *list on; 0 at its end. */
static size_t next_word(const char **list)
{
	*list += strspn(*list, ",");
	return strcspn(*list, ",");
}

bool osp_map_wants(const struct osp_map_asked *asked, const struct osp_state_job *job)
{
	const char *word = asked->jobs;
	size_t length;

	if (asked->user && (!job->user || strcmp(job->user, asked->user) != 0))
		return false;
	if (!word)
		return true;
	while ((length = next_word(&word)) != 0) {
		if (names(word, length, job))
			return true;
		word += length;
	}
	return false;
}

static int check_job(const struct osp_snapshot *snapshot, const char *word, size_t length,
		     struct osp_error *error)
{
	bool known = false;
	char whole[61];

	for (uint32_t i = 0; i < snapshot->job_count; i++) {
		const struct osp_state_job *job = &snapshot->jobs[i];

		if (!names(word, length, job))
			continue;
		if (osp_job_on_nodes(job))
			return 0;
		known = true;
	}
	length = length > 60 ? 60 : length;
	snprintf(whole, sizeof(whole), "%.*s", (int)length, word);
	if (osp_check_job_word(whole, error))
		return -1;
	if (known)
		return osp_error_set(error,
				     "job %.*s has no nodes now; 'onespine why %.*s' says more",
				     (int)length, word, (int)length, word);
	return osp_error_set(error, "there is no job '%.*s'", (int)length, word);
}

int osp_map_check_jobs(const struct osp_snapshot *snapshot, const struct osp_map_asked *asked,
		       struct osp_error *error)
{
	const char *word = asked->jobs ? asked->jobs : "";
	size_t length = next_word(&word);

	if (asked->jobs && !length)
		return osp_error_set(error,
				     "--job: numbers of jobs, separated by commas, are expected");
	for (; length; length = next_word(&word)) {
		if (check_job(snapshot, word, length, error) < 0)
			return -1;
		word += length;
	}
	return 0;
}

/* Returns whether the state has a job of the user, or this machine knows the user. */
static bool knows_user(const struct osp_snapshot *snapshot, const char *user)
{
	for (uint32_t i = 0; i < snapshot->job_count; i++)
		if (snapshot->jobs[i].user && strcmp(snapshot->jobs[i].user, user) == 0)
			return true;
	return getpwnam(user) != NULL;
}

int osp_map_check_user(const struct osp_snapshot *snapshot, const char *user,
		       struct osp_error *error)
{
	const char **names, *nearest = NULL;

	if (!user || knows_user(snapshot, user))
		return 0;
	names = calloc((size_t)snapshot->job_count + 1, sizeof(*names));
	for (uint32_t i = 0; names && i < snapshot->job_count; i++)
		names[i] = snapshot->jobs[i].user ? snapshot->jobs[i].user : "";
	if (names)
		nearest = osp_nearest_word(user, names, snapshot->job_count);
	osp_error_set(error, "there is no user '%.60s'%s%.60s%s", user,
		      nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
	free(names);
	return -1;
}

/* --- where ------------------------------------------------------------------------------------ */

uint32_t osp_map_row_job(const struct osp_map *map, const struct osp_map_row *row)
{
	uint32_t counts[OSP_MAP_NAMED_MAX] = {0};
	uint32_t best = 0;

	for (uint32_t rank = osp_map_next_cell(map, row->first_rank, row->end_rank);
	     rank < row->end_rank; rank = osp_map_next_cell(map, rank + 1, row->end_rank)) {
		uint32_t job =
			osp_map_job_of(map, osp_topology_node_at_rank(map->world->topology, rank));

		if (job < map->named_count)
			counts[job]++;
	}
	for (uint32_t i = 1; i < map->named_count; i++)
		if (counts[i] > counts[best])
			best = i;
	if (!counts[best])
		return OSP_MAP_NO_JOB;
	if (map->limited)
		return best;
	return counts[best] * 2 > row->count.nodes ? best : OSP_MAP_NO_JOB;
}

static uint32_t count_in_box(const struct osp_map *map, const struct osp_map_box *box,
			     const struct osp_nodeset *nodes)
{
	uint32_t count = 0;

	for (uint32_t rank = osp_map_next_cell(map, box->first_rank, box->end_rank);
	     rank < box->end_rank; rank = osp_map_next_cell(map, rank + 1, box->end_rank))
		count += osp_nodeset_test(nodes,
					  osp_topology_node_at_rank(map->world->topology, rank));
	return count;
}

void osp_map_job_where(const struct osp_map *map, const struct osp_map_job *job,
		       struct osp_text *text)
{
	struct osp_nodeset *nodes = osp_nodeset_new(map->shown->place_count);
	uint32_t boxes = 0;

	if (!nodes)
		return;
	for (uint32_t n = 0; n < job->job->nodes_known; n++)
		osp_nodeset_add(nodes, job->job->nodes[n]);
	for (uint32_t i = 0; i < map->box_count; i++) {
		uint32_t count = count_in_box(map, &map->boxes[i], nodes);

		if (count && boxes++ < BOXES_NAMED)
			osp_text_printf(text, "%s%s (%u)", boxes > 1 ? ", " : "",
					osp_map_box_name(map, &map->boxes[i]), count);
	}
	if (boxes > BOXES_NAMED)
		osp_text_printf(text, " and %u more", boxes - BOXES_NAMED);
	free(nodes);
}
