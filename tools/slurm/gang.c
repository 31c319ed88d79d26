/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/slurm/gang.h"

#include <stdlib.h>
#include <string.h>

#define ADVISE "advise "

bool osp_gang_of(const struct osp_state_job *job, struct osp_gang *gang)
{
	const char *request;

	memset(gang, 0, sizeof(*gang));
	if (!osp_note_find(job->admin_comment, &gang->note))
		return false;
	request = gang->note.gang;
	if (request && strncmp(request, ADVISE, strlen(ADVISE)) == 0) {
		gang->advise = true;
		request += strlen(ADVISE);
	}
	if (request && osp_request_parse(request, &gang->request, NULL) == 0 &&
	    gang->request.asked == OSP_ASKED_GANG)
		return true;
	osp_gang_clear(gang);
	return false;
}

void osp_gang_clear(struct osp_gang *gang)
{
	osp_note_free_pieces(&gang->note);
}

int64_t osp_gang_waits_since(const struct osp_state_job *job)
{
	return job->eligible_s > job->submit_s ? job->eligible_s : job->submit_s;
}

int osp_gang_find(const struct osp_snapshot *snapshot, const struct osp_topology *topology,
		  const struct osp_state_job *job, struct osp_whereabouts *where)
{
	struct osp_nodeset *set = osp_nodeset_new(snapshot->node_count);
	uint32_t i;

	if (!set)
		return -1;
	for (i = 0; i < job->nodes_known; i++)
		osp_nodeset_add(set, job->nodes[i]);
	where->domain = OSP_NO_DOMAIN;
	where->level =
		job->nodes_known ? osp_topology_common_level(topology, set, &where->domain) : -1;
	where->missing =
		job->node_count > job->nodes_known ? job->node_count - job->nodes_known : 0;
	free(set);
	return 0;
}

int osp_gang_level_due(const struct osp_topology *topology, const struct osp_state_job *job,
		       const struct osp_gang *gang)
{
	int level = osp_topology_level(topology, gang->request.level);

	if (level < 1)
		return -1;
	if (gang->request.relax_s < 0 ||
	    job->start_s - osp_gang_waits_since(job) < gang->request.relax_s)
		return level;
	return (uint32_t)level < osp_topology_level_count(topology) ? level + 1 : 0;
}

bool osp_gang_kept(int level_due, const struct osp_whereabouts *where)
{
	if (level_due == 0)
		return true;
	if (level_due < 0 || where->missing)
		return false;
	return where->level >= 0 && where->level <= level_due;
}
