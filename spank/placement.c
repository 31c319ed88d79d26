/* SPDX-License-Identifier: GPL-2.0-or-later */
/* placement.c - where a gang was placed, as ONESPINE_LEVEL, ONESPINE_DOMAIN and ONESPINE_LEAF */
#include "spank/placement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <slurm/slurm.h>

#include "lib/policy/note.h"

/* --- the job ---------------------------------------------------------------------------------- */

/* Finds " domains of LEVEL" in the words of a gang that was placed in several; NULL: it was not. */
static const char *in_several(const struct osp_note *note)
{
	return note->says && !strncmp(note->says, "placed: ", 8)
		       ? strstr(note->says, " domains of ")
		       : NULL;
}

/*
 * Finds the level on which the gang is. A relaxed gang is one level above the one that it asked
 * for, and only the words say which: "placed: 12 nodes on core c1, 2 leaves".
 */
static bool read_level(const struct osp_note *note, char *level)
{
	struct osp_request request = {.asked = OSP_GANG_OPTION_NONE};
	const char *gang = note->gang, *several = in_several(note);
	char word[OSP_LEVEL_NAME_BYTES];
	bool advice;

	if (note->says && sscanf(note->says, "placed: %*u node%*[s] on %31s", word) == 1) {
		memcpy(level, word, sizeof(word));
		return true;
	}
	if (several && sscanf(several, " domains of %31[^ ,;]", word) == 1) {
		memcpy(level, word, sizeof(word));
		return true;
	}
	if (osp_request_parse(osp_note_request(gang, &advice), &request, NULL) || !request.level[0])
		return false;
	memcpy(level, request.level, sizeof(request.level));
	return true;
}

/* Reads an AdminComment, which may be NULL. */
static bool read_comment(const char *admin_comment, struct osp_placement *placed)
{
	struct osp_note note = {.gang = NULL};
	bool found, advice;

	memset(placed, 0, sizeof(*placed));
	if (!admin_comment || !osp_note_find(admin_comment, &note))
		return false;
	/* the names of very many domains are left out */
	found = note.gang && (note.domain || in_several(&note)) && read_level(&note, placed->level);
	if (found) {
		placed->domain = note.domain ? strdup(note.domain) : NULL;
		placed->leaves = note.leaves ? strdup(note.leaves) : NULL;
		placed->order = note.order ? strdup(note.order) : NULL;
		osp_note_request(note.gang, &advice);
		if (advice || note.ranks)
			placed->ranks = strdup(advice ? OSP_PLACEMENT_ADVICE : note.ranks);
	}
	osp_note_free_pieces(&note);
	if (!found)
		osp_placement_free(placed);
	return found;
}

void osp_placement_free(struct osp_placement *placed)
{
	free(placed->domain);
	free(placed->leaves);
	free(placed->order);
	free(placed->ranks);
	free(placed->nodes);
	memset(placed, 0, sizeof(*placed));
}

/* Asks slurmctld. Returns the job, or NULL; it is in `jobs`, which the caller frees. */
static const slurm_job_info_t *load(uint32_t job_id, job_info_msg_t **jobs)
{
	*jobs = NULL;
	if (slurm_load_job(jobs, job_id, 0) != SLURM_SUCCESS || !*jobs)
		return NULL;
	/* an array's job number brings all its tasks */
	for (uint32_t i = 0; i < (*jobs)->record_count; i++) {
		if ((*jobs)->job_array[i].job_id == job_id)
			return &(*jobs)->job_array[i];
	}
	return NULL;
}

bool osp_placement_ask(uint32_t job_id, struct osp_placement *placed)
{
	job_info_msg_t *jobs;
	const slurm_job_info_t *job = load(job_id, &jobs);
	bool found = job && read_comment(job->admin_comment, placed);

	if (found && job->nodes)
		placed->nodes = strdup(job->nodes);
	if (jobs)
		slurm_free_job_info_msg(jobs);
	return found;
}

char *osp_placement_nodes(uint32_t job_id)
{
	job_info_msg_t *jobs;
	const slurm_job_info_t *job = load(job_id, &jobs);
	char *nodes = job && job->nodes ? strdup(job->nodes) : NULL;

	if (jobs)
		slurm_free_job_info_msg(jobs);
	return nodes;
}
