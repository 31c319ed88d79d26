/* SPDX-License-Identifier: GPL-2.0-or-later */
/* block_jobs.c - jobs that may still run when EC2 begins to end a Capacity Block's instances */
#include "host/slurm/block_jobs.h"

#include <stdlib.h>

#include "lib/cloud/block_end.h"

#define JOBS_SHOWN 20

/* Returns whether the job may run when the reservation of a block begins, or runs since it did. */
static bool is_late(const struct osp_snapshot *snapshot, const struct osp_state_job *job,
		    const struct osp_state_reservation *reservation)
{
	return osp_job_on_nodes(job) && job->phase != OSP_JOB_COMPLETING && reservation->name &&
	       osp_block_end_of(reservation->name) && reservation->end_s > snapshot->time_s &&
	       (!job->end_s || job->end_s > reservation->start_s);
}

/* Returns the list of the job's nodes that are in the reservation; NULL if there are none, or
 * memory ran out (*failed). To be freed. */
static char *nodes_in(const struct osp_snapshot *snapshot, const struct osp_state_job *job,
		      const struct osp_state_reservation *reservation, bool *failed)
{
	struct osp_nodeset *reserved = osp_nodeset_new(snapshot->node_count);
	struct osp_nodeset *both = osp_nodeset_new(snapshot->node_count);
	char *list = NULL;

	*failed = !reserved || !both;
	if (!*failed && osp_snapshot_add_hostlist(snapshot, reservation->nodes_text, false,
						  "reservation", reserved, NULL) == 0) {
		for (uint32_t i = 0; i < job->nodes_known; i++)
			if (osp_nodeset_test(reserved, job->nodes[i]))
				osp_nodeset_add(both, job->nodes[i]);
		if (!osp_nodeset_empty(both)) {
			list = osp_snapshot_hostlist(snapshot, both);
			*failed = !list;
		}
	}
	free(both);
	free(reserved);
	return list;
}

static void report(const struct osp_snapshot *snapshot, const struct osp_state_job *job,
		   const struct osp_state_reservation *reservation, const char *nodes,
		   struct osp_text *text)
{
	char begins[32], ends[32];

	osp_text_printf(text, "runs into the end of Capacity Block %s: EC2 %s to end %s at %s",
			osp_block_end_of(reservation->name),
			reservation->start_s > snapshot->time_s ? "begins" : "has begun", nodes,
			osp_format_time(reservation->start_s, begins, sizeof(begins)));
	if (job->end_s)
		osp_text_printf(text, ", and the job may run until %s\n",
				osp_format_time(job->end_s, ends, sizeof(ends)));
	else
		osp_text_add(text, ", and the job has no time limit\n");
}

static json_t *to_json(const struct osp_state_reservation *reservation, const char *nodes)
{
	json_t *object = json_object();

	json_object_set_new(object, "block", json_string(osp_block_end_of(reservation->name)));
	json_object_set_new(object, "begins", osp_json_time(reservation->start_s));
	json_object_set_new(object, "nodes", json_string(nodes));
	return object;
}

int osp_block_jobs_of(const struct osp_snapshot *snapshot, const struct osp_state_job *job,
		      struct osp_text *text, json_t *list)
{
	for (uint32_t i = 0; i < snapshot->reservation_count; i++) {
		const struct osp_state_reservation *reservation = &snapshot->reservations[i];
		bool failed = false;
		char *nodes = is_late(snapshot, job, reservation)
				      ? nodes_in(snapshot, job, reservation, &failed)
				      : NULL;

		if (nodes) {
			osp_text_add(text, "  ");
			report(snapshot, job, reservation, nodes, text);
			json_array_append_new(list, to_json(reservation, nodes));
		}
		free(nodes);
		if (failed)
			return -1;
	}
	return 0;
}

int osp_block_jobs_all(const struct osp_snapshot *snapshot, struct osp_text *text)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < snapshot->job_count; i++) {
		const struct osp_state_job *job = &snapshot->jobs[i];
		struct osp_text lines = OSP_TEXT_INIT;
		json_t *list = json_array();
		int rc = osp_block_jobs_of(snapshot, job, &lines, list);

		if (json_array_size(list) && count++ < JOBS_SHOWN)
			osp_text_printf(text, "job %s of %s%s", job->label,
					job->user ? job->user : "?", lines.data + 1);
		json_decref(list);
		osp_text_free(&lines);
		if (rc)
			return -1;
	}
	if (count > JOBS_SHOWN)
		osp_text_printf(text, "and %u more job%s into the end of a Capacity Block\n",
				count - JOBS_SHOWN, count - JOBS_SHOWN == 1 ? " runs" : "s run");
	return text->failed ? -1 : 0;
}
