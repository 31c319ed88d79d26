/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_groups.c - a layout's parallel groups, made into the segments that keep them together
 *
 * This happens once, when the job is judged. The segments are stored with the job
 * (lib/policy/effective.h), so no scheduling call knows of layouts. shadow_seam.c calls this, under
 * its locks.
 */
#include "sched/shadow.h"

#include <string.h>

#include "lib/layout/layout_segments.h"
#include "lib/policy/promise.h"
#include "sched/seam.h"

#define SEGMENTS_TEXT_BYTES (OSP_LEVELS_MAX * (OSP_LEVEL_NAME_BYTES + 10)) /* of any segments */

/* --- the nodes and their GPUs ----------------------------------------------------------------- */

/*
 * Returns how many nodes the layout is of: one number, without the spares, which are released. 0
 * with the sentence if there is no such number.
 */
static uint32_t nodes_of(const struct osp_seam_job *job, char *sentence, size_t sentence_bytes)
{
	if (job->max_nodes && job->max_nodes != job->min_nodes)
		snprintf(sentence, sentence_bytes,
			 "--gang-layout takes one number of nodes, not %u to %u: give --nodes=N",
			 job->min_nodes, job->max_nodes);
	else if (job->min_nodes <= job->spares)
		snprintf(sentence, sentence_bytes,
			 "--gang-layout takes one number of nodes: give --nodes=N");
	else
		return job->min_nodes - job->spares;
	return 0;
}

/* Returns the most GPUs that a node of the partition has; 0: none, or nobody knows. */
static uint64_t most_gpus(const part_record_t *partition)
{
	bitstr_t *bitmap = partition ? partition->node_bitmap : NULL;
	int last = bitmap ? bit_fls(bitmap) : -1;
	uint32_t gpu = gres_build_id("gpu");
	uint64_t most = 0;

	for (int n = last < 0 ? 0 : bit_ffs(bitmap); n <= last; n++) {
		const node_record_t *node = bit_test(bitmap, n) ? node_record_table_ptr[n] : NULL;
		uint64_t gpus = node ? shadow_node_gres(node, gpu) : 0;

		if (gpus > most)
			most = gpus;
	}
	return most;
}

/* Returns the tasks on a node; 0 if the job does not say. */
static uint64_t tasks_on_a_node(const struct osp_seam_job *job, uint32_t nodes)
{
	if (job->tasks_per_node)
		return job->tasks_per_node;
	return job->tasks >= nodes && job->tasks % nodes == 0 ? job->tasks / nodes : 0;
}

/*
 * Returns how many GPUs the job asks for on each of `nodes` nodes: as GPUs of a node, of a task or
 * of the job; else as several tasks; else all that a node of its partition has; if that has none,
 * as one task. 0 with the sentence if the number is unknown.
 */
static uint32_t gpus_per_node(const struct osp_seam_job *job, const part_record_t *partition,
			      uint32_t nodes, char *sentence, size_t sentence_bytes)
{
	uint64_t per_job = osp_gpus_asked(job->tres_per_job), tasks = tasks_on_a_node(job, nodes);
	uint64_t per_task = osp_gpus_asked(job->tres_per_task);
	uint64_t gpus = osp_gpus_asked(job->tres_per_node);

	if (!gpus && per_task)
		gpus = per_task > OSP_NODE_GPUS_MAX ? per_task : per_task * (tasks ? tasks : 1);
	if (!gpus && per_job) {
		if (per_job % nodes) {
			snprintf(sentence, sentence_bytes,
				 "--gang-layout takes as many GPUs on each node, and %llu GPUs are "
				 "no multiple of %u nodes: give --gpus-per-node",
				 (unsigned long long)per_job, nodes);
			return 0;
		}
		gpus = per_job / nodes;
	}
	if (!gpus && tasks > 1)
		gpus = tasks;
	if (!gpus)
		gpus = most_gpus(partition);
	if (!gpus)
		gpus = tasks;
	if (gpus && gpus <= OSP_NODE_GPUS_MAX)
		return (uint32_t)gpus;
	snprintf(sentence, sentence_bytes,
		 "--gang-layout needs the number of GPUs on each node, from 1 to %d: give "
		 "--gpus-per-node, or for nodes without GPUs --ntasks-per-node",
		 OSP_NODE_GPUS_MAX);
	return 0;
}

/* --- the segments ----------------------------------------------------------------------------- */

static int read_ask(const struct osp_effective *effective, uint32_t nodes, uint32_t gpus,
		    struct osp_layout_segments_input *input, struct osp_error *error)
{
	struct osp_error inner = {.text = ""};

	*input = (struct osp_layout_segments_input){
		.gpus_per_node = gpus,
		.topology = shadow_state.topology,
		.level = (uint32_t)osp_topology_level(shadow_state.topology, effective->level),
		.one_domain = effective->domains_max <= 1,
	};
	if (osp_layout_parse(effective->layout, &input->layout, &inner) ||
	    osp_layout_complete(&input->layout, nodes, gpus, &inner))
		return osp_error_set(error, "--gang-layout: %s", inner.text);
	if (*effective->keep &&
	    osp_keeps_parse(effective->keep, input->topology, &input->keeps, &inner))
		return osp_error_set(error, "--gang-keep=%s: %s", effective->keep, inner.text);
	return 0;
}

/* Compares the segments asked for beside the layout with the layout's own, whose text is `own`; of
 * segments with spares both include these. If the layout makes none, any others contradict
 * nothing. */
static int check_asked(const struct osp_effective *effective, uint32_t level, const char *own,
		       struct osp_error *error)
{
	struct osp_segments asked = {.count = 0};
	char text[SEGMENTS_TEXT_BYTES];

	if (osp_segments_parse(effective->segments, shadow_state.topology, level, &asked, error))
		return -1;
	if (!*own ||
	    !strcmp(osp_segments_format(&asked, shadow_state.topology, text, sizeof(text)), own))
		return 0;
	return osp_error_set(error,
			     "--gang-segment=%s contradicts --gang-layout, which makes segments %s "
			     "here; leave out --gang-segment, and say with --gang-keep what stays "
			     "together",
			     effective->segments, own);
}

/* Stores the layout. dp is always written, so that another number of nodes later does not change
 * the layout's meaning. */
static void store_layout(const struct osp_layout *layout, struct osp_effective *effective)
{
	char text[OSP_LAYOUT_TEXT_BYTES];

	osp_layout_format(layout, text, sizeof(text));
	snprintf(effective->layout, sizeof(effective->layout), "%.*s%s",
		 (int)sizeof(effective->layout) - 5, text,
		 layout->size[OSP_AXIS_DP] == 1 && strncmp(text, "dp1", 3) != 0 ? ",dp1" : "");
}

static int translate(const struct osp_effective *effective, uint32_t nodes, uint32_t gpus,
		     uint32_t spares, struct osp_layout_segments_input *input,
		     struct osp_layout_segments *found, char *text, struct osp_error *error)
{
	if (read_ask(effective, nodes, gpus, input, error) ||
	    osp_layout_segments_find(input, found, error) ||
	    osp_layout_segments_grow(input->topology, spares, &found->segments, error))
		return -1;
	osp_segments_format(&found->segments, input->topology, text, SEGMENTS_TEXT_BYTES);
	if (strlen(text) >= sizeof(effective->segments))
		return osp_error_set(error,
				     "--gang-layout: its segments take more than %zu characters; "
				     "keep fewer groups together",
				     sizeof(effective->segments) - 1);
	return *effective->segments ? check_asked(effective, input->level, text, error) : 0;
}

int shadow_groups_translate(const struct osp_seam_job *job, const part_record_t *partition,
			    struct osp_effective *effective, char *sentence, size_t sentence_bytes)
{
	struct osp_error error = {.text = ""};
	struct osp_layout_segments_input input;
	struct osp_layout_segments found;
	char text[SEGMENTS_TEXT_BYTES];
	uint32_t nodes, gpus;

	/* job_submit refuses a heterogeneous job in other words */
	if (!*effective->layout || job->shape.heterogeneous)
		return 0;
	nodes = nodes_of(job, sentence, sentence_bytes);
	gpus = nodes ? gpus_per_node(job, partition, job->min_nodes, sentence, sentence_bytes) : 0;
	if (!gpus)
		return -1;
	if (translate(effective, nodes, gpus, job->segment_spares, &input, &found, text, &error)) {
		snprintf(sentence, sentence_bytes, "%s", error.text);
		return -1;
	}
	if (*text)
		memcpy(effective->segments, text, strlen(text) + 1);
	store_layout(&input.layout, effective);
	effective->reordered_gpus = found.natural ? 0 : gpus;
	return 0;
}
