/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_moved.c - running gangs whose nodes have other places by now
 *
 * After another topology has come in force, each running gang is checked against it. A gang whose
 * nodes were together and are now apart goes on; its owner reads that in our part of AdminComment,
 * the administrator in the log. Both read it when the nodes come together again.
 *
 * The thread of shadow_follow.c calls this, with slurmctld's job lock for writing and its node lock
 * for reading.
 */
#include "sched/shadow.h"

#include <stdlib.h>
#include <time.h>

#include "lib/place/launch.h"
#include "lib/policy/sentences.h"

struct moved {
	const struct osp_topology *before;
	struct osp_nodeset *nodes; /* scratch */
	struct osp_nodeset *part;
};

/* Returns whether one domain at or below this level holds all of them. */
static bool stand_together(const struct osp_topology *topology, const struct osp_nodeset *nodes,
			   int due)
{
	uint32_t domain;
	int level;

	if (osp_topology_is_overlay(topology, (uint32_t)due))
		return osp_topology_common_domain(topology, nodes, (uint32_t)due) != OSP_NO_DOMAIN;
	level = osp_topology_common_level(topology, nodes, &domain);
	return level >= 0 && level <= due;
}

/* Returns the level that a gang kept before: its own, or the one above if it had been relaxed to
 * that; -1 for none. */
static int level_kept(const struct moved *moved, const struct osp_effective *effective)
{
	int due = osp_topology_level(moved->before, effective->level);

	if (due < 1 || stand_together(moved->before, moved->nodes, due))
		return due;
	due = (int)osp_topology_relaxed(moved->before, (uint32_t)due);
	if (!due)
		return -1; /* no level is above */
	return effective->relax_s >= 0 && stand_together(moved->before, moved->nodes, due) ? due
											   : -1;
}

static void report_apart(struct moved *moved, job_record_t *job,
			 const struct osp_effective *effective, uint32_t level)
{
	const char *name = osp_topology_level_name(shadow_state.topology, level);
	uint32_t count = osp_nodeset_count(moved->nodes), kept;
	char says[2 * OSP_SENTENCE_BYTES], when[32], *apart;
	time_t now = time(NULL);
	struct tm local;

	osp_launch_part(shadow_state.topology, level, moved->nodes, moved->part);
	kept = osp_nodeset_count(moved->part);
	osp_nodeset_and_not(moved->nodes, moved->part);
	apart = shadow_node_names(moved->nodes);
	if (!localtime_r(&now, &local) || !strftime(when, sizeof(when), "%FT%T", &local))
		when[0] = '\0';
	osp_sentence_moved(name, count, kept, apart ? apart : "", when, says, sizeof(says));
	shadow_gang_says(job, effective, says);
	info("onespine: %pJ runs on nodes that have other places now: %s", job, says);
	free(apart);
}

static int look_at_job(void *item, void *context)
{
	struct moved *moved = context;
	struct osp_effective effective;
	job_record_t *job = item;
	int kept, due;

	if (!IS_JOB_RUNNING(job) || IS_JOB_CONFIGURING(job) || !job->node_bitmap || !job->details ||
	    !shadow_gang_request(job, &effective) || effective.mode != OSP_MODE_ENFORCE ||
	    shadow_in_parts(&effective))
		return 0;
	osp_nodeset_clear(moved->nodes);
	shadow_from_bitmap(moved->nodes, job->node_bitmap);
	kept = level_kept(moved, &effective);
	due = osp_topology_level(shadow_state.topology,
				 kept < 1 ? effective.level
					  : osp_topology_level_name(moved->before, (uint32_t)kept));
	if (due < 1)
		return 0;
	if (!stand_together(shadow_state.topology, moved->nodes, due)) {
		if (kept > 0)
			report_apart(moved, job, &effective, (uint32_t)due);
	} else if (kept < 1) {
		shadow_gang_where(job, &effective, moved->nodes);
	}
	return 0;
}

void shadow_moved_look(const struct osp_topology *before)
{
	struct moved moved = {.before = before};

	if (!shadow_state.topology || !before || !job_list ||
	    osp_topology_node_count(before) != shadow_state.node_count)
		return;
	moved.nodes = osp_nodeset_new(shadow_state.node_count);
	moved.part = osp_nodeset_new(shadow_state.node_count);
	if (moved.nodes && moved.part)
		list_for_each(job_list, look_at_job, &moved);
	free(moved.nodes);
	free(moved.part);
}
