/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gang.c - jobs that are gangs, known by our part of their AdminComment */
#include "host/slurm/gang.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/layout/gang_order.h"
#include "lib/layout/layout_segments.h"
#include "lib/place/launch.h"
#include "lib/place/parts.h"
#include "lib/policy/promise.h"
#include "lib/policy/request_parts.h"
#include "lib/policy/sentences.h"

/* Drops what was written of a job's start: a requeued job keeps it until the scheduler looks at
 * it again. */
static void drop_words_of_start(struct osp_note *note)
{
	static const char *const begins[] = {"placed: ", "moved: ", OSP_SENTENCE_LAUNCHED};

	for (size_t i = 0; note->says && i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(note->says, begins[i], strlen(begins[i]))) {
			free((char *)note->says);
			note->says = NULL;
		}
}

bool osp_gang_of(const struct osp_state_job *job, struct osp_gang *gang)
{
	const char *request;

	memset(gang, 0, sizeof(*gang));
	if (!osp_note_find(job->admin_comment, &gang->note))
		return false;
	if (job->phase == OSP_JOB_PENDING)
		drop_words_of_start(&gang->note);
	request = gang->note.gang;
	if (request)
		request = osp_note_request(request, &gang->advise);
	if (request && osp_request_parse(request, &gang->request, NULL) == 0 &&
	    gang->request.asked == OSP_GANG_OPTION_ON)
		return true;
	osp_gang_clear(gang);
	return false;
}

void osp_gang_clear(struct osp_gang *gang)
{
	osp_note_free_pieces(&gang->note);
}

/* Returns whether the job has a reservation other than that which slurmctld keeps nodes by. */
static bool has_reservation(const struct osp_state_job *job)
{
	char own[64];

	snprintf(own, sizeof(own), OSP_LAUNCH_RESERVATION "%u", job->id);
	return job->reservation && *job->reservation && strcmp(job->reservation, own) != 0;
}

struct osp_launchable osp_gang_launchable(const struct osp_state_job *job,
					  const struct osp_gang *gang)
{
	const char *says = gang ? gang->note.says : NULL;

	return (struct osp_launchable){
		.mode = !gang	       ? OSP_MODE_OFF
			: gang->advise ? OSP_MODE_ADVISE
				       : OSP_MODE_ENFORCE,
		.in_parts = gang && osp_gang_in_parts(gang),
		.is_component = strchr(job->label, '+'),
		.is_batch = job->is_batch,
		.requeues = job->requeues,
		.has_reservation = has_reservation(job),
		.in_vain = says && strstr(says, OSP_SENTENCE_NO_TRIES) ? UINT32_MAX : 0,
	};
}

bool osp_gang_is_launched(const struct osp_state_job *job, const struct osp_gang *gang)
{
	return !strcmp(job->state, "CONFIGURING") && gang->note.says &&
	       !strncmp(gang->note.says, OSP_SENTENCE_LAUNCHED, strlen(OSP_SENTENCE_LAUNCHED));
}

/* Returns whether a note's request keeps what the policy promises: its level or one below, no
 * sooner relaxed. */
static bool keeps_promise(const struct osp_policy *policy, const struct osp_topology *topology,
			  const struct osp_gang *gang)
{
	int asked = osp_topology_level(topology, gang->request.level);
	int least = osp_topology_level(topology, policy->level);

	if (gang->advise || asked < 1 || least < 1 || gang->request.domains_max > 1 ||
	    !osp_topology_nests(topology, (uint32_t)asked, (uint32_t)least, NULL))
		return false;
	return gang->request.relax_s < 0 ||
	       (policy->relax_s >= 0 && gang->request.relax_s >= policy->relax_s &&
		!osp_topology_relaxes_past(topology, (uint32_t)asked, (uint32_t)least));
}

bool osp_gang_held(const struct osp_config *config, const struct osp_topology *topology,
		   const struct osp_state_job *job, struct osp_gang *gang)
{
	const struct osp_policy *policy = osp_config_policy(config, job->partition);
	bool noted = osp_gang_of(job, gang);

	if (!osp_policy_promises(policy) || job->node_count < policy->from_nodes ||
	    (noted && keeps_promise(policy, topology, gang)))
		return noted;
	gang->by_policy = true;
	gang->advise = false;
	gang->request = (struct osp_request){
		.asked = OSP_GANG_OPTION_ON, .origin = OSP_FROM_POLICY, .relax_s = policy->relax_s};
	snprintf(gang->request.level, sizeof(gang->request.level), "%s", policy->level);
	return true;
}

int64_t osp_gang_waits_since(const struct osp_state_job *job)
{
	return job->eligible_s > job->submit_s ? job->eligible_s : job->submit_s;
}

bool osp_gang_may_begin(const struct osp_state_job *job, int64_t now_s, int64_t *since_s)
{
	bool may = osp_gang_waits_since(job) <= now_s;

	*since_s = may ? osp_gang_waits_since(job) : job->submit_s;
	return may;
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
	where->tree_levels = osp_topology_level_count(topology);
	for (uint32_t level = where->tree_levels + 1; level <= osp_topology_last_level(topology);
	     level++)
		where->beside[level] = osp_topology_common_domain(topology, set, level);
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
	return (int)osp_topology_relaxed(topology, (uint32_t)level);
}

void osp_gang_look_beside(int level_due, struct osp_whereabouts *where)
{
	if (level_due <= (int)where->tree_levels || where->level == 0 ||
	    where->beside[level_due] == OSP_NO_DOMAIN)
		return;
	where->level = level_due;
	where->domain = where->beside[level_due];
}

bool osp_gang_kept(int level_due, const struct osp_whereabouts *where)
{
	if (level_due == 0)
		return true;
	if (level_due < 0 || where->missing)
		return false;
	if ((uint32_t)level_due > where->tree_levels)
		return where->level == 0 || where->beside[level_due] != OSP_NO_DOMAIN;
	return where->level >= 0 && where->level <= level_due;
}

bool osp_gang_in_parts(const struct osp_gang *gang)
{
	return osp_in_parts(gang->request.domains_max, gang->request.segments);
}

/* Returns how many nodes the lowest segments keep after the spares of each were released; 0: nobody
 * knows. The order in the note is that of what stays (lib/layout/gang_order.h). */
static uint32_t unit_that_stays(const struct osp_topology *topology, const struct osp_gang *gang,
				uint32_t level, uint32_t nodes)
{
	struct osp_layout_stored stored = {
		.layout = gang->request.layout,
		.keep = gang->request.keep,
		.topology = topology,
		.level = level,
		.one_domain = gang->request.domains_max <= 1,
		.nodes = nodes,
	};
	struct osp_layout_segments found;

	if (!*gang->request.layout)
		return osp_gang_order_unit(gang->note.order);
	if (osp_layout_segments_of_stored(&stored, &found, NULL) || !found.segments.count)
		return 0;
	return found.segments.segment[0].nodes;
}

/* Makes the segments those that stay. Returns false if they had no spares. */
static bool without_spares(uint32_t stay, struct osp_segments *segments)
{
	uint32_t unit = segments->count ? segments->segment[0].nodes : 0;

	if (!stay || stay >= unit)
		return false;
	for (uint32_t i = 0; i < segments->count; i++)
		segments->segment[i].nodes = segments->segment[i].nodes / unit * stay;
	return true;
}

/* Judges the nodes of a job, which are in `nodes`. */
static bool parts_kept(struct osp_cut *cut, const struct osp_topology *topology,
		       const struct osp_gang *gang, int level_due, const struct osp_nodeset *nodes)
{
	int asked = osp_topology_level(topology, gang->request.level);
	uint32_t level = (uint32_t)asked;
	struct osp_parts parts;

	if (asked < 1 || level_due < 0 ||
	    osp_parts_read(gang->request.domains_max, gang->request.segments, topology, level,
			   &parts, NULL))
		return false;
	if (level_due != asked)
		osp_parts_relax(&parts, topology, &level);
	if (osp_parts_kept(cut, &parts, level, nodes))
		return true;
	return without_spares(
		       unit_that_stays(topology, gang, (uint32_t)asked, osp_nodeset_count(nodes)),
		       &parts.segments) &&
	       osp_parts_kept(cut, &parts, level, nodes);
}

int osp_gang_parts_kept(const struct osp_snapshot *snapshot, const struct osp_topology *topology,
			const struct osp_state_job *job, const struct osp_gang *gang, int level_due,
			bool *kept)
{
	struct osp_nodeset *nodes = osp_nodeset_new(snapshot->node_count);
	struct osp_cut *cut = osp_cut_new(topology);
	int result = nodes && cut ? 0 : -1;

	for (uint32_t i = 0; result == 0 && i < job->nodes_known; i++)
		osp_nodeset_add(nodes, job->nodes[i]);
	*kept = result == 0 && job->node_count <= job->nodes_known &&
		parts_kept(cut, topology, gang, level_due, nodes);
	osp_cut_free(cut);
	free(nodes);
	return result;
}
