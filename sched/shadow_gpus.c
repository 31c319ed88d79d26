/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_gpus.c - GPUs of a gang of which Slurm does not know which they are
 *
 * slurmctld learns a node's devices when the node registers, and keeps them in its node_state. If
 * it comes back without that file, it starts jobs on nodes that have not registered yet: it counts
 * their GPUs but does not choose them (gres_ctld.c: gres_ctld_job_alloc()). Then, and if gres.conf
 * names no files, the Prolog has no SLURM_JOB_GPUS, and the gate would take the job for one without
 * GPUs.
 */
#include "sched/shadow.h"

#include <stdlib.h>

#include "lib/policy/request.h"

struct unknown_gpus {
	const job_resources_t *resources;
	struct osp_nodeset *nodes; /* those with GPUs that were only counted */
};

/* Adds the nodes of one kind of GPU. Slurm counts the nodes of a job in their order. */
static int add_counted_only(void *item, void *context)
{
	const gres_state_t *state = item;
	const gres_job_state_t *has = state->gres_data;
	struct unknown_gpus *unknown = context;
	bitstr_t *nodes = unknown->resources->node_bitmap;
	uint32_t host = 0;

	if (state->plugin_id != gres_build_id("gpu") || !has || !has->gres_cnt_node_alloc ||
	    has->node_cnt != unknown->resources->nhosts)
		return 0;
	for (uint32_t n = 0; n < shadow_state.node_count && host < has->node_cnt; n++) {
		if (!bit_test(nodes, n))
			continue;
		if (has->gres_cnt_node_alloc[host] &&
		    !(has->gres_bit_alloc && has->gres_bit_alloc[host]))
			osp_nodeset_add(unknown->nodes, n);
		host++;
	}
	return 0;
}

void shadow_note_unknown_gpus(job_record_t *job)
{
	struct osp_effective effective;
	struct unknown_gpus unknown = {.resources = job->job_resrcs};
	char *names = NULL;

	if (!shadow_state.node_count || !job->gres_list_alloc || !unknown.resources ||
	    !unknown.resources->node_bitmap || !shadow_gang_request(job, &effective))
		return;
	unknown.nodes = osp_nodeset_new(shadow_state.node_count);
	if (unknown.nodes) {
		list_for_each(job->gres_list_alloc, add_counted_only, &unknown);
		names = osp_nodeset_empty(unknown.nodes) ? NULL : shadow_node_names(unknown.nodes);
	}
	if (names || shadow_spank_value(job, OSP_UNKNOWN_GPUS))
		shadow_put_entry(job, OSP_UNKNOWN_GPUS, names ? names : "");
	free(names);
	free(unknown.nodes);
}
