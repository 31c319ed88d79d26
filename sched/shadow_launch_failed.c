/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_launch_failed.c - what becomes of the nodes of a launch in vain
 *
 * Nodes that are together are kept for the gang's next start by a reservation of Slurm's. FLEX lets
 * the gang take nodes outside it too; PURGE_COMP removes it soon after no job has it any more, even
 * if slurmctld was killed in between; NO_HOLD_JOBS leaves the gang in the queue when it ends. Nodes
 * that another start has replaced are powered down.
 *
 * A thread of shadow_follow.c calls this, with slurmctld's write locks for jobs, nodes and
 * partitions.
 */
#include "sched/shadow.h"

#include <stdlib.h>
#include <string.h>

#include "src/slurmctld/reservation.h"

#include "lib/place/launch.h"

/* A reservation that is unused for so long is removed. */
#define PURGE_AFTER_S 60

/* So long after a job was put back it has left its nodes, and their Epilogs have run. */
#define LEAVES_IN_S 60

#define NAME_BYTES  32

#define FLAGS                                                                                      \
	(RESERVE_FLAG_FLEX | RESERVE_FLAG_IGN_JOBS | RESERVE_FLAG_PURGE_COMP |                     \
	 RESERVE_FLAG_NO_HOLD_JOBS)

static const char *name_for(const job_record_t *job, char *name)
{
	snprintf(name, NAME_BYTES, OSP_LAUNCH_RESERVATION "%u", job->job_id);
	return name;
}

bool shadow_keeps(const job_record_t *job)
{
	char name[NAME_BYTES];

	return job->resv_name && !strcmp(job->resv_name, name_for(job, name));
}

/* --- nodes that are kept ---------------------------------------------------------------------- */

/* Returns how long the reservation may last. Slurm 22.05 powers nodes down without regard to
 * reservations, so it must end before they have been idle for that long. */
static int64_t shorten(int64_t keep_s, const struct osp_nodeset *nodes)
{
	for (uint32_t n = osp_nodeset_next(nodes, 0); n < nodes->place_count;
	     n = osp_nodeset_next(nodes, n + 1)) {
		const node_record_t *node = node_record_table_ptr[n];

		if (node && node->suspend_time && (int64_t)node->suspend_time <= keep_s)
			keep_s = (int64_t)node->suspend_time - 1;
	}
	return keep_s;
}

static int reserve(const job_record_t *job, const char *nodes, int64_t end_s)
{
	char name[NAME_BYTES];
	resv_desc_msg_t wanted;
	int rc;

	slurm_init_resv_desc_msg(&wanted);
	wanted.name = xstrdup(name_for(job, name));
	wanted.node_list = xstrdup(nodes);
	wanted.users = xstrdup_printf("%u", job->user_id);
	wanted.start_time = time(NULL);
	wanted.end_time = (time_t)end_s;
	wanted.flags = FLAGS;
	wanted.purge_comp_time = PURGE_AFTER_S;
	rc = OSP_CREATE_RESERVATION(&wanted);
	xfree(wanted.name);
	xfree(wanted.node_list);
	xfree(wanted.users);
	return rc;
}

static void leave_reservation(job_record_t *job)
{
	xfree(job->resv_name);
	job->resv_id = 0;
	job->resv_ptr = NULL;
}

static void delete_own(const job_record_t *job)
{
	char name[NAME_BYTES];
	reservation_name_msg_t message = {.name = xstrdup(name_for(job, name))};

	delete_resv(&message);
	xfree(message.name);
}

/* Returns whether Slurm has a reservation that was made for an earlier launch of the job, which
 * does not have it: slurmctld was killed before it had saved the job. */
static bool has_left_one(const job_record_t *job)
{
	char name[NAME_BYTES];
	const slurmctld_resv_t *left = find_resv_name((char *)name_for(job, name));

	return left && (left->flags & FLAGS) == FLAGS;
}

void shadow_keep(job_record_t *job, const struct osp_nodeset *nodes, int64_t keep_s)
{
	char *names = shadow_node_names(nodes), name[NAME_BYTES];
	int64_t end_s = (int64_t)time(NULL) + shorten(keep_s, nodes);
	int rc;

	if (!names || end_s <= (int64_t)time(NULL) || job->resv_name) {
		free(names);
		return;
	}
	rc = reserve(job, names, end_s);
	if (rc != SLURM_SUCCESS && has_left_one(job)) {
		delete_own(job);
		rc = reserve(job, names, end_s);
	}
	if (rc == SLURM_SUCCESS) {
		job->resv_name = xstrdup(name_for(job, name));
		rc = validate_job_resv(job);
		if (rc != SLURM_SUCCESS) {
			leave_reservation(job);
			delete_own(job);
		}
	}
	if (rc == SLURM_SUCCESS)
		info("onespine: %s are kept for the next start of %pJ", names, job);
	else
		info("onespine: %s are not kept for the next start of %pJ: %s", names, job,
		     slurm_strerror(rc));
	free(names);
}

void shadow_keep_end(job_record_t *job)
{
	if (!shadow_keeps(job))
		return;
	leave_reservation(job);
	delete_own(job);
}

/* --- nodes that were launched ----------------------------------------------------------------- */

struct osp_nodeset *shadow_launched_nodes(const job_record_t *job)
{
	const char *names = shadow_spank_value(job, OSP_LAUNCHED_NODES);
	struct osp_nodeset *nodes = names && *names ? shadow_nodes_named(names) : NULL;

	return nodes ? nodes : osp_nodeset_new(shadow_state.node_count);
}

void shadow_put_launched_nodes(job_record_t *job, const struct osp_nodeset *nodes)
{
	char *names = shadow_node_names(nodes);

	if (names || shadow_spank_value(job, OSP_LAUNCHED_NODES))
		shadow_put_entry(job, OSP_LAUNCHED_NODES, names ? names : "");
	free(names);
}

/* Returns the nodes of "a[1-2]:4,b", without how many of them Slurm keeps running: a site keeps all
 * of them. NULL if Slurm does not know one of them, too. */
static struct osp_nodeset *never_suspended(void)
{
	char *names = xstrdup(slurm_conf.suspend_exc_nodes), *to = names;
	struct osp_nodeset *nodes = NULL;

	for (const char *from = names; from && *from; from++) {
		if (*from == ':')
			from += strspn(from + 1, "0123456789");
		else
			*to++ = *from;
	}
	if (names) {
		*to = '\0';
		nodes = shadow_nodes_named(names);
	}
	xfree(names);
	return nodes;
}

/* Returns whether the node has not booted since then, and no job has used it since. */
static bool is_as_it_was_left(const node_record_t *node, int64_t left_s)
{
	return (int64_t)node->boot_time <= left_s &&
	       (int64_t)node->last_busy <= left_s + LEAVES_IN_S;
}

static bool may_be_given_back(uint32_t n, int64_t left_s)
{
	const node_record_t *node = node_record_table_ptr[n];

	return node && IS_NODE_CLOUD(node) && !shadow_is_asleep(n) && !node->run_job_cnt &&
	       is_as_it_was_left(node, left_s) &&
	       !(node->node_state & (NODE_STATE_RES | NODE_STATE_MAINT));
}

void shadow_give_back(const job_record_t *job, const struct osp_nodeset *nodes, int64_t left_s)
{
	struct osp_nodeset *given = osp_nodeset_copy(nodes), *never = never_suspended();
	update_node_msg_t message;
	char *names = NULL;

	if (given && never)
		osp_nodeset_and_not(given, never);
	else if (given && slurm_conf.suspend_exc_nodes)
		osp_nodeset_clear(given);
	for (uint32_t n = given ? osp_nodeset_next(given, 0) : UINT32_MAX;
	     given && n < given->place_count; n = osp_nodeset_next(given, n + 1)) {
		if (!may_be_given_back(n, left_s))
			osp_nodeset_remove(given, n);
	}
	if (given)
		names = shadow_node_names(given);
	if (names) {
		slurm_init_update_node_msg(&message);
		message.node_names = names;
		message.node_state = NODE_STATE_POWER_DOWN;
		update_node(&message, 0);
		info("onespine: %s were launched for %pJ in vain, and are powered down", names,
		     job);
	}
	free(names);
	free(given);
	free(never);
}
