/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_count.c - what running jobs hold of Slurm's nodes, counted along with them
 *
 * lib/place/occupancy.h keeps the account; here Slurm's records are read into it: when a job
 * starts, ends, is suspended, resumed or resized, never by a walk of all jobs in a scheduling call.
 * Slurm changes a job's end without calling the select plugin (a new time limit, a node that had to
 * boot, preemption with a grace time), so ends are looked at again, some of them each second. Every
 * COUNT_AGAIN_S all jobs are looked at again, some in each call; a difference is an error in
 * slurmctld's log, and the new count holds.
 */
#include "sched/shadow.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"

/* How often the account is compared with Slurm's records: whether it has all running jobs, at once;
 * what they hold, in jobs of so many nodes a call (1 ms). With DebugFlags=SelectType every second
 * and all in one call, for tests. */
#define COUNT_AGAIN_S 60
#define LOOK_NODES    4096

/* How many ends are looked at again: all in each call if there are few, else so many a second. */
#define ENDS_EACH_CALL	 256
#define ENDS_EACH_SECOND 4096

static struct osp_occupancy *account; /* NULL without topology, or if memory ran out */
static uint32_t account_nodes;
static bool counted; /* the account has every running job */
static bool time_min_is_soft;
static time_t counted_at, ends_at;
static uint32_t ends_cursor, look_cursor;
static bool looking; /* not all jobs have been looked at again yet */

/* The generic resources that are counted, by Slurm's plugin id; GPUs first. */
static uint32_t gres_ids[OSP_OCCUPANCY_GRES_MAX];
static uint32_t gres_count;

/* One job's nodes, scratch: room for all nodes. */
static struct osp_occupancy_node *job_nodes;

/* --- what nodes have ------------------------------------------------------------------------- */

static uint32_t clip(uint64_t amount)
{
	return amount > UINT32_MAX ? UINT32_MAX : (uint32_t)amount;
}

int shadow_count_gres(uint32_t gres_id)
{
	for (uint32_t i = 0; i < gres_count; i++) {
		if (gres_ids[i] == gres_id)
			return (int)i;
	}
	return -1;
}

static int note_gres_id(void *item, void *context)
{
	const gres_state_t *state = item;
	const gres_node_state_t *has = state->gres_data;
	bool gpus_only = *(bool *)context;

	if (!has || has->no_consume || shadow_count_gres(state->plugin_id) >= 0 ||
	    gres_count == OSP_OCCUPANCY_GRES_MAX ||
	    (gpus_only && xstrcmp(state->gres_name, "gpu") != 0))
		return 0;
	gres_ids[gres_count++] = state->plugin_id;
	return 0;
}

/* Notes the kinds of generic resources. At slurmctld's start nodes get them after
 * select_p_node_init(). No job's count has a new kind yet. */
static void note_gres_ids(const node_record_t *node)
{
	uint32_t before = gres_count;

	for (int gpus_only = 1; gpus_only >= 0; gpus_only--)
		list_for_each(node->gres_list, note_gres_id, &(bool){gpus_only});
	if (gres_count != before)
		counted = false;
}

static int add_node_gres(void *item, void *context)
{
	const gres_state_t *state = item;
	const gres_node_state_t *has = state->gres_data;
	struct osp_amounts *amounts = context;
	int i = shadow_count_gres(state->plugin_id);

	if (i >= 0 && has)
		amounts->gres[i] = clip(has->gres_cnt_avail);
	return 0;
}

void shadow_count_node(uint32_t n, const node_record_t *node)
{
	struct osp_amounts has = {.cpus = node->cpus_efctv};

	if (!account)
		return;
	if (node->real_memory > node->mem_spec_limit)
		has.memory_mib = node->real_memory - node->mem_spec_limit;
	if (node->gres_list) {
		note_gres_ids(node);
		list_for_each(node->gres_list, add_node_gres, &has);
	}
	osp_occupancy_set_node(account, n, &has);
}

void shadow_count_free(void)
{
	osp_occupancy_free(account);
	free(job_nodes);
	account = NULL;
	job_nodes = NULL;
	counted = false;
}

void shadow_count_lay(uint32_t node_count)
{
	shadow_count_free();
	time_min_is_soft = OSP_TIME_MIN_IS_SOFT(slurm_conf.sched_params);
	account_nodes = node_count;
	account = osp_occupancy_new(node_count);
	job_nodes = calloc((size_t)node_count + 1, sizeof(*job_nodes));
	if (!account || !job_nodes) {
		error("onespine: out of memory for what jobs hold of %u nodes", node_count);
		shadow_count_free();
		return;
	}
	gres_count = 0;
}

/* --- what jobs hold -------------------------------------------------------------------------- */

struct hosts {
	uint32_t count; /* of job_nodes: the job's nodes in order, with those it gave back */
};

static int add_job_gres(void *item, void *context)
{
	const gres_state_t *state = item;
	const gres_job_state_t *has = state->gres_data;
	const struct hosts *hosts = context;
	int index = shadow_count_gres(state->plugin_id);

	/* after a node was taken away, the two may count the job's nodes differently */
	if (index < 0 || !has || !has->gres_cnt_node_alloc || has->node_cnt != hosts->count)
		return 0;
	for (uint32_t i = 0; i < hosts->count; i++) {
		uint32_t *held = &job_nodes[i].holds.gres[index];

		*held = clip(*held + has->gres_cnt_node_alloc[i]);
	}
	return 0;
}

static void list_hosts(const job_resources_t *resources, struct hosts *hosts)
{
	int last = bit_fls(resources->node_bitmap);

	for (int n = bit_ffs(resources->node_bitmap); n >= 0 && n <= last; n++) {
		uint32_t host = hosts->count;

		if (!bit_test(resources->node_bitmap, n))
			continue;
		if (host >= resources->nhosts || (uint32_t)n >= account_nodes)
			break;
		hosts->count++;
		job_nodes[host] = (struct osp_occupancy_node){
			.node = (uint32_t)n,
			.holds.cpus = resources->cpus[host],
			.holds.memory_mib =
				resources->memory_allocated ? resources->memory_allocated[host] : 0,
		};
	}
}

/* Lists what a job holds in job_nodes, node by node. A node without processors was taken from the
 * job (job_resources.c). Returns their number. */
static size_t list_holds(const job_record_t *job)
{
	const job_resources_t *resources = job->job_resrcs;
	struct hosts hosts = {0};
	size_t held = 0;

	if (!resources || !resources->node_bitmap || !resources->cpus)
		return 0;
	list_hosts(resources, &hosts);
	if (job->gres_list_alloc)
		list_for_each(job->gres_list_alloc, add_job_gres, &hosts);
	for (uint32_t host = 0; host < hosts.count; host++) {
		if (job_nodes[host].holds.cpus)
			job_nodes[held++] = job_nodes[host];
	}
	return held;
}

/*
 * Tells how Slurm's own plugin adds a job to its tables (select_p_select_nodeinfo_set,
 * select_p_reconfigure): a job suspended by a person has priority 0 and holds no processors; one
 * suspended to let others run holds them, and so does any other that fits the tables. At any other
 * time the priority says nothing of it: `scontrol release` and a new nice change it.
 */
static bool is_added_without_cpus(const job_record_t *job)
{
	bool counts = !(IS_JOB_SUSPENDED(job) && job->priority == 0);

	shadow_rows_say(job, &counts);
	return !counts;
}

/* Returns whether a job has given its processors back, as far as Slurm's plugin knows. */
static bool holds_no_cpus(const job_record_t *job)
{
	bool counts = !(IS_JOB_SUSPENDED(job) && osp_occupancy_is_suspended(account, job->job_id));

	if (!osp_occupancy_has(account, job->job_id))
		return is_added_without_cpus(job);
	shadow_rows_say(job, &counts);
	return !counts;
}

static bool has_soft_end(const job_record_t *job)
{
	return time_min_is_soft && job->time_min;
}

/*
 * Returns the end by which Slurm lets a job go when it simulates ends (job_test.c,
 * _cr_job_list_sort): the soft one, which does not move. Slurm moves its expectation past that end
 * with time; holds_after() computes it.
 */
static int64_t end_of(const job_record_t *job)
{
	return has_soft_end(job) ? osp_occupancy_soft_end_s(job->start_time, job->time_min)
				 : job->end_time;
}

/* Returns whether a job shares processors with others of such jobs (_get_job_node_req() in
 * job_test.c: NODE_CR_AVAILABLE). */
static bool shares_processors(const job_record_t *job)
{
	uint16_t share = job->part_ptr ? job->part_ptr->max_share : 1;

	return (share & SHARED_FORCE) || (share > 1 && job->details->share_res == 1);
}

/* Returns how many jobs of the partition may have one processor (part_data.c). */
static uint16_t rows_of(const part_record_t *partition)
{
	uint16_t rows = partition->max_share & (uint16_t)~SHARED_FORCE;

	rows = rows ? rows : 1;
	return xstrcmp(slurm_conf.preempt_type, "preempt/qos") ? rows : rows + 1;
}

/* With whom a job may have processors in common (osp_occupancy_set_group()). */
struct group {
	uint32_t number;
	uint16_t rows;
};

static struct group group_now(const job_record_t *job)
{
	struct group group = {0};

	group.number = osp_occupancy_group(account, job->job_id, &group.rows);
	return group;
}

/* Notes with whom a job may share processors: jobs of other partitions, if one was laid over the
 * other (`overlaps`: it was). A job that did so keeps its group when its partition ceases to share.
 */
static void note_group(const job_record_t *job, struct group group, bool overlaps)
{
	if (overlaps || shadow_may_lie_over(job) || shares_processors(job)) {
		uint16_t rows = rows_of(job->part_ptr);

		group.number = (uint32_t)osp_hash_words(OSP_HASH_START, job->part_ptr->name) | 1;
		group.rows = rows > group.rows ? rows : group.rows;
	}
	osp_occupancy_set_group(account, job->job_id, group.number, group.rows);
}

/*
 * Notes that the job holds the first `nodes` of job_nodes; `suspended`: without their processors.
 */
static void hold_nodes(const job_record_t *job, size_t nodes, bool suspended)
{
	struct group group = group_now(job);

	if (!nodes) {
		osp_occupancy_remove(account, job->job_id);
		return;
	}
	if (osp_occupancy_add(account, job->job_id, end_of(job), job_nodes, nodes) != 0) {
		counted = false;
		return;
	}
	note_group(job, group, false);
	if (suspended)
		osp_occupancy_set_suspended(account, job->job_id, true);
}

void shadow_count_added(const job_record_t *job)
{
	if (account)
		hold_nodes(job, list_holds(job), is_added_without_cpus(job));
}

void shadow_count_resized(const job_record_t *job)
{
	if (account)
		hold_nodes(job, list_holds(job), holds_no_cpus(job));
}

void shadow_count_memory_reduced(const job_record_t *job)
{
	size_t nodes = account ? list_holds(job) : 0;

	for (size_t i = 0; i < nodes; i++) {
		if (job_nodes[i].holds.memory_mib > job->details->pn_min_memory)
			job_nodes[i].holds.memory_mib = job->details->pn_min_memory;
	}
	if (account)
		hold_nodes(job, nodes, holds_no_cpus(job));
}

void shadow_count_end(uint32_t job_id)
{
	if (account)
		osp_occupancy_remove(account, job_id);
}

/* Returns whether a job shares processors by Slurm's tables, and that is not noted yet. */
static bool overlaps_unnoted(const job_record_t *job)
{
	return !group_now(job).number && !osp_occupancy_is_suspended(account, job->job_id) &&
	       shadow_rows_overlap(job);
}

/* Returns whether a job may have a node of `other`, which has some. */
static bool may_share_nodes(const job_record_t *job, const job_record_t *other)
{
	bitstr_t *nodes = job->job_resrcs ? job->job_resrcs->node_bitmap : NULL;
	bitstr_t *others = other->job_resrcs->node_bitmap;

	return nodes && (bit_size(nodes) != bit_size(others) || bit_overlap_any(nodes, others));
}

/*
 * Notes which jobs share processors though their partitions do not: one was suspended by a person,
 * others started on its processors, and it was resumed. `resumed`: only those on its nodes; NULL:
 * all.
 */
static void note_overlaps(const job_record_t *resumed)
{
	uint32_t cursor = 0, job_id;
	int64_t end_s;

	while (osp_occupancy_next_job(account, &cursor, &job_id, &end_s)) {
		const job_record_t *job = find_job_record(job_id);

		if (job && (!resumed || may_share_nodes(job, resumed)) && overlaps_unnoted(job))
			note_group(job, group_now(job), true);
	}
}

/* Returns whether a job was resumed on processors that others have, though they do not share. */
static bool was_resumed_over_others(const job_record_t *job)
{
	return job->suspend_time && overlaps_unnoted(job);
}

void shadow_count_suspend(const job_record_t *job, bool suspended)
{
	bool counts = !suspended;

	if (!account)
		return;
	shadow_rows_say(job, &counts);
	osp_occupancy_set_suspended(account, job->job_id, !counts);
	if (counts && was_resumed_over_others(job))
		note_overlaps(job);
}

/* --- ends ------------------------------------------------------------------------------------ */

static void look_at_end(uint32_t job_id, int64_t end_s)
{
	const job_record_t *job = find_job_record(job_id);

	if (!job)
		osp_occupancy_remove(account, job_id);
	else if (end_of(job) != end_s)
		osp_occupancy_set_end(account, job_id, end_of(job));
}

/* Looks at the ends of at most `most` jobs, going on where it stopped. */
static void look_at_ends(uint32_t most)
{
	uint32_t job_id;
	int64_t end_s;

	while (most-- && osp_occupancy_next_job(account, &ends_cursor, &job_id, &end_s))
		look_at_end(job_id, end_s);
}

static void look_at_some_ends(time_t now)
{
	if (osp_occupancy_jobs(account) <= ENDS_EACH_CALL) {
		ends_cursor = 0;
		look_at_ends(UINT32_MAX);
	} else if (ends_at != now) {
		look_at_ends(ENDS_EACH_SECOND);
	}
	ends_at = now;
}

/* --- looking again --------------------------------------------------------------------------- */

static void report_difference(const struct osp_occupancy_job *along,
			      const struct osp_occupancy_job *anew)
{
	const node_record_t *node =
		along->node < account_nodes ? node_record_table_ptr[along->node] : NULL;

	error("onespine: the count of what running jobs hold was wrong on node %s: along with them "
	      "job %u (%u processors, %lu MiB, %u of the first GRES, until %ld%s), anew job %u "
	      "(%u, %lu, %u, %ld%s); the new count holds",
	      node && node->name ? node->name : "?", along->job, along->holds.cpus,
	      (unsigned long)along->holds.memory_mib, along->holds.gres[0], (long)along->end_s,
	      along->suspended ? ", suspended" : "", anew->job, anew->holds.cpus,
	      (unsigned long)anew->holds.memory_mib, anew->holds.gres[0], (long)anew->end_s,
	      anew->suspended ? ", suspended" : "");
}

static bool looks_each_second(void)
{
	return slurm_conf.debug_flags & DEBUG_FLAG_SELECT_TYPE;
}

/* Counts a job anew; with `compare`, compares the account with it first. Whether it has processors
 * is compared only in tests: Slurm's tables are long. Returns its nodes. */
static size_t look_at_job(const job_record_t *job, bool compare)
{
	bool runs = IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job);
	bool believed = compare && !looks_each_second() && osp_occupancy_has(account, job->job_id);
	bool suspended =
		believed ? osp_occupancy_is_suspended(account, job->job_id) : holds_no_cpus(job);
	size_t nodes = runs ? list_holds(job) : 0;
	struct osp_occupancy_job along, anew;

	if (compare && osp_occupancy_says(account, job->job_id, end_of(job), suspended, job_nodes,
					  nodes, &along, &anew))
		return nodes;
	if (compare)
		report_difference(&along, &anew);
	hold_nodes(job, nodes, suspended);
	return nodes;
}

/* Looks again at jobs of about so many nodes, going on where it stopped. Their ends may have moved
 * unnoticed. */
static void look_at_jobs(uint32_t most_nodes)
{
	size_t seen = 0;
	uint32_t job_id;
	int64_t end_s;

	while (seen < most_nodes) {
		const job_record_t *job;

		if (!osp_occupancy_next_job(account, &look_cursor, &job_id, &end_s)) {
			looking = false;
			log_flag(SELECT_TYPE, "onespine: %u running jobs counted anew",
				 osp_occupancy_jobs(account));
			return;
		}
		look_at_end(job_id, end_s);
		job = find_job_record(job_id);
		seen += 1 + (job ? look_at_job(job, true) : 0);
	}
}

/* --- counting anew --------------------------------------------------------------------------- */

static int count_job(void *item, void *context)
{
	job_record_t *job = item;
	struct osp_effective effective;
	bool anew = *(bool *)context;

	if (!job->details || IS_JOB_FINISHED(job))
		return 0;
	if ((IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job)) &&
	    (anew || !osp_occupancy_has(account, job->job_id)))
		look_at_job(job, !anew);
	if (job->details->min_nodes > shadow_state.largest_gang &&
	    shadow_gang_request(job, &effective))
		shadow_state.largest_gang = job->details->min_nodes;
	return 0;
}

/* Removes the jobs that no longer run. The others keep whether they are suspended. */
static void forget_the_ended(void)
{
	uint32_t cursor = 0, job_id;
	int64_t end_s;

	while (osp_occupancy_next_job(account, &cursor, &job_id, &end_s)) {
		const job_record_t *job = find_job_record(job_id);

		if (!job || !(IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job)))
			osp_occupancy_remove(account, job_id);
	}
}

static bool any_was_resumed_over_others(void)
{
	uint32_t cursor = 0, job_id;
	int64_t end_s;

	while (osp_occupancy_next_job(account, &cursor, &job_id, &end_s)) {
		const job_record_t *job = find_job_record(job_id);

		if (job && was_resumed_over_others(job))
			return true;
	}
	return false;
}

static void look_for_overlaps(void)
{
	if (any_was_resumed_over_others())
		note_overlaps(NULL);
}

/* Counts all running jobs; of those already counted, only that they are. */
static void count_jobs(time_t now, bool anew)
{
	counted_at = now;
	looking = true;
	look_cursor = 0;
	shadow_state.largest_gang = 0;
	if (anew) {
		counted = true;
		looking = false;
		forget_the_ended();
		shadow_rows_list();
	}
	if (job_list)
		list_for_each(job_list, count_job, &anew);
	shadow_rows_forget();
	if (anew)
		look_for_overlaps();
}

void shadow_count_again(void)
{
	counted_at = 0;
}

void shadow_count_rebuilt(void)
{
	uint32_t cursor = 0, job_id;
	int64_t end_s;

	shadow_rows_list();
	while (account && osp_occupancy_next_job(account, &cursor, &job_id, &end_s)) {
		const job_record_t *job = find_job_record(job_id);

		if (!job)
			continue;
		osp_occupancy_set_suspended(account, job_id, is_added_without_cpus(job));
		note_group(job, group_now(job), false);
	}
	shadow_rows_forget();
	if (account && !counted)
		count_jobs(time(NULL), true);
	else if (account)
		look_for_overlaps();
	shadow_count_again();
}

void shadow_count_refresh(time_t now)
{
	bool each_second = looks_each_second();
	int every_s = each_second ? 1 : COUNT_AGAIN_S;

	if (!account)
		return;
	if (counted)
		look_at_some_ends(now);
	else if (counted_at != now)
		count_jobs(now, true);
	if (counted && (now < counted_at || now - counted_at >= every_s))
		count_jobs(now, false);
	if (looking)
		look_at_jobs(each_second ? UINT32_MAX : LOOK_NODES);
}

/* --- questions ------------------------------------------------------------------------------- */

static int ignore_job(void *item, void *context)
{
	const job_record_t *job = item;

	osp_occupancy_ignore(account, job->job_id);
	if (!context && job->het_job_list)
		list_for_each(job->het_job_list, ignore_job, account);
	return 0;
}

bool shadow_may_lie_over(const job_record_t *job)
{
	return job->part_ptr && ((slurm_conf.preempt_mode & PREEMPT_MODE_GANG) ||
				 (job->part_ptr->max_share & SHARED_FORCE));
}

/* Returns whether Slurm's plugin lays a job over another without a list of preempted jobs
 * (job_test.c, _job_test(), steps 2 to 4): over jobs of other partitions, without PreemptMode=GANG
 * if both share; with preempt/partition_prio over those of partitions below or beside its own. */
static bool lies_over(const job_record_t *job, const job_record_t *other)
{
	const part_record_t *above = job->part_ptr, *below = other->part_ptr;

	if (!below || below == above)
		return false;
	if (!(slurm_conf.preempt_mode & PREEMPT_MODE_GANG) && !shares_processors(other))
		return false;
	return xstrcmp(slurm_conf.preempt_type, "preempt/partition_prio") ||
	       (below->priority_tier <= above->priority_tier &&
		below->preempt_mode != PREEMPT_MODE_OFF);
}

static void ignore_those_below(const job_record_t *job)
{
	uint32_t cursor = 0, job_id;
	int64_t end_s;

	while (osp_occupancy_next_job(account, &cursor, &job_id, &end_s)) {
		const job_record_t *other = find_job_record(job_id);

		if (other && lies_over(job, other))
			osp_occupancy_ignore_cpus(account, job_id);
	}
}

void shadow_count_free_at(const struct osp_occupancy_need *need, const struct osp_nodeset *nodes,
			  osp_list_t *preemptable, const job_record_t *over, int64_t now_s,
			  int64_t *free_at_s)
{
	for (uint32_t n = 0; !account && n < nodes->place_count; n++)
		free_at_s[n] = now_s;
	if (!account)
		return;
	if (preemptable)
		list_for_each(preemptable, ignore_job, NULL);
	if (over)
		ignore_those_below(over);
	osp_occupancy_free_at(account, need, nodes, now_s, free_at_s);
	osp_occupancy_heed_all(account);
}

struct osp_amounts shadow_count_largest(const struct osp_nodeset *nodes)
{
	return account ? osp_occupancy_largest(account, nodes) : (struct osp_amounts){0};
}

void shadow_count_keep_free(const struct osp_occupancy_need *need, struct osp_nodeset *nodes)
{
	if (account)
		osp_occupancy_keep_free(account, need, 0,
					nodes); /* a job past its end is still there */
}

void shadow_count_keep_able(const struct osp_occupancy_need *need, struct osp_nodeset *nodes)
{
	if (account)
		osp_occupancy_keep_free(account, need, OSP_OCCUPANCY_NEVER_S - 1, nodes);
}

uint64_t shadow_count_state(const struct osp_nodeset *nodes)
{
	return account ? osp_occupancy_state(account, nodes) : 0;
}

/* Returns whether a job is expected to hold its nodes after that time. A job past its soft end is
 * expected to stay for a while, though it is in nobody's way when ends are sorted. */
static bool holds_after(const job_record_t *job, int64_t at_s, int64_t now_s)
{
	int64_t end_s = end_of(job);

	if (has_soft_end(job))
		end_s = osp_occupancy_expected_end_s(end_s, job->end_time, now_s);
	return end_s > at_s;
}

static bool ends_hold(uint32_t node, int64_t at_s)
{
	struct osp_occupancy_job found;
	int64_t now_s = time(NULL);

	for (uint32_t i = 0; osp_occupancy_on_node(account, node, i, &found); i++) {
		const job_record_t *job = find_job_record(found.job);

		if (!job || end_of(job) != found.end_s || holds_after(job, at_s, now_s))
			return false;
	}
	return true;
}

bool shadow_count_empty_at(const struct osp_nodeset *nodes, int64_t at_s)
{
	if (!account || !counted)
		return false;
	for (uint32_t n = osp_nodeset_next(nodes, 0); n < nodes->place_count;
	     n = osp_nodeset_next(nodes, n + 1)) {
		if (!ends_hold(n, at_s))
			return false;
	}
	return true;
}
