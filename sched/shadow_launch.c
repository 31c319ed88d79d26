/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_launch.c - gangs on nodes that are launched for them
 *
 * Nobody knows the place of a cloud's node before it runs. With `unlaunched: launch` a gang may be
 * given such nodes (lib/place/launch.h). It stays CONFIGURING, in which Slurm starts none of its
 * processes and no Prolog, until all of its nodes run and their places are known; then it goes on,
 * or back to the queue. A thread of shadow_follow.c looks at these gangs once a second;
 * select_p_job_ready() asks for the result.
 *
 * An entry of the job's spank_job_env[], which Slurm keeps with the job, says how often the gang
 * was launched in vain, and what that cost.
 */
#include "sched/shadow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/place/launch.h"
#include "lib/policy/launchable.h"
#include "lib/policy/sentences.h"

/*
 * How many gangs may have their nodes launched at one time, of all users and of one; further ones
 * wait.
 */
#define LAUNCHES_MAX	     256
#define LAUNCHES_OF_USER_MAX 64

struct launch {
	uint32_t job;
	uint32_t user;
	bool proven;	   /* all its nodes run, in one domain */
	bool stuck;	   /* Slurm refused to put it back; already reported */
	bool held;	   /* hold_steps() */
	int64_t running_s; /* since when all its nodes have run; 0: not yet */
	int64_t blind_s;   /* since when there is no topology to judge it by; 0: there is */
};

static struct launch launches[LAUNCHES_MAX];
static uint32_t launch_count;

/* Guards the table beside Slurm's job lock: code that changes it holds that too,
 * select_p_job_ready() may be called with less. */
static pthread_mutex_t launch_mutex = PTHREAD_MUTEX_INITIALIZER;

/* --- its owner's steps ------------------------------------------------------------------------ */

/*
 * Lets no step of the job begin. Slurm refuses each of a job whose PrologSlurmctld runs
 * (step_mgr.c, stepmgr.c: step_create()), and srun waits. Without this, a step ran before the
 * places were known; that of `srun --interactive` also without a Prolog, so without a gate, and
 * while the job was CONFIGURING, which nobody is charged for. Slurm forgets the count when
 * slurmctld begins anew (shadow_launch_hold_again()).
 */
static void hold_steps(struct launch *launch, job_record_t *job)
{
	if (!job->details || job->details->prolog_running)
		return;
	job->details->prolog_running = 1;
	launch->held = true;
}

/* Takes away the count that hold_steps() set. */
static void release_steps(struct launch *launch, job_record_t *job)
{
	if (launch->held && job && job->details && job->details->prolog_running)
		job->details->prolog_running--;
	launch->held = false;
}

/* --- the table -------------------------------------------------------------------------------- */

static struct launch *find_launch(uint32_t job)
{
	for (uint32_t i = 0; i < launch_count; i++) {
		if (launches[i].job == job)
			return &launches[i];
	}
	return NULL;
}

/* Adds the job. Adding one that waits already keeps the hold on its steps. */
static bool add_launch(job_record_t *job)
{
	struct launch *launch;
	bool held;

	pthread_mutex_lock(&launch_mutex);
	launch = find_launch(job->job_id);
	held = launch && launch->held;
	if (!launch && launch_count < LAUNCHES_MAX)
		launch = &launches[launch_count++];
	if (launch) {
		*launch = (struct launch){.job = job->job_id, .user = job->user_id, .held = held};
		hold_steps(launch, job);
	}
	pthread_mutex_unlock(&launch_mutex);
	return launch != NULL;
}

/*
 * Lets the thread end the reservation of an earlier launch in vain: the job starts on nodes that
 * are known to be together, and the kept ones are for others again. Not here, because Slurm's
 * reservations take its partition write lock too.
 */
static void add_settled(const job_record_t *job)
{
	pthread_mutex_lock(&launch_mutex);
	if (!find_launch(job->job_id) && launch_count < LAUNCHES_MAX)
		launches[launch_count++] =
			(struct launch){.job = job->job_id, .user = job->user_id, .proven = true};
	pthread_mutex_unlock(&launch_mutex);
}

void shadow_launch_not_needed(const job_record_t *job)
{
	if (shadow_keeps(job))
		add_settled(job);
}

static bool is_full_for(uint32_t user)
{
	uint32_t count = 0;
	bool full;

	pthread_mutex_lock(&launch_mutex);
	for (uint32_t i = 0; i < launch_count; i++)
		count += launches[i].user == user;
	full = launch_count == LAUNCHES_MAX || count >= LAUNCHES_OF_USER_MAX;
	pthread_mutex_unlock(&launch_mutex);
	return full;
}

bool shadow_launch_any(void)
{
	bool any;

	pthread_mutex_lock(&launch_mutex);
	any = launch_count > 0;
	pthread_mutex_unlock(&launch_mutex);
	return any;
}

bool shadow_launch_waits(uint32_t job)
{
	const struct launch *launch;
	bool waits;

	pthread_mutex_lock(&launch_mutex);
	launch = find_launch(job);
	waits = launch && !launch->proven;
	pthread_mutex_unlock(&launch_mutex);
	return waits;
}

void shadow_launch_forget(void)
{
	pthread_mutex_lock(&launch_mutex);
	launch_count = 0;
	pthread_mutex_unlock(&launch_mutex);
}

/* --- who may ---------------------------------------------------------------------------------- */

static const struct osp_policy *policy_of(const job_record_t *job)
{
	return osp_config_policy(shadow_state.config, job->part_ptr ? job->part_ptr->name : NULL);
}

struct shadow_in_vain shadow_launched_in_vain(const job_record_t *job)
{
	const char *text = shadow_spank_value(job, OSP_LAUNCHED_IN_VAIN);
	struct shadow_in_vain in_vain = {0};
	char *end;

	if (!text)
		return in_vain;
	in_vain.times = (uint32_t)strtoul(text, &end, 10);
	if (*end == ':')
		in_vain.node_s = strtoull(end + 1, &end, 10);
	if (*end == ':')
		in_vain.last_s = strtoll(end + 1, NULL, 10);
	return in_vain;
}

/* Returns what decides whether nodes may be launched for the job. */
static struct osp_launchable launchable(const job_record_t *job,
					const struct osp_effective *effective)
{
	return (struct osp_launchable){
		.mode = effective->mode,
		.in_parts = shadow_in_parts(effective),
		.is_component = job->het_job_id,
		.is_batch = job->batch_flag,
		.requeues = job->details->requeue,
		.has_reservation = job->resv_name && !shadow_keeps(job),
		.in_vain = shadow_launched_in_vain(job).times,
		.unasked = osp_topology_unasked(shadow_state.read),
	};
}

const char *shadow_launch_unasked(const job_record_t *job, const struct osp_effective *effective)
{
	const char *unasked = osp_topology_unasked(shadow_state.read);
	struct osp_launchable gang;

	if (!unasked)
		return NULL;
	gang = launchable(job, effective);
	gang.unasked = false;
	return osp_launch_may(&gang, policy_of(job)) ? unasked : NULL;
}

bool shadow_launch_may(const job_record_t *job, const struct osp_effective *effective)
{
	const struct osp_launchable gang = launchable(job, effective);

	return osp_launch_may(&gang, policy_of(job)) && !is_full_for(job->user_id);
}

/* --- nodes of unknown place ------------------------------------------------------------------- */

/* Returns whether its place comes from a cloud, and does not hold or was never known. */
static bool is_unknown(uint32_t n, uint32_t level)
{
	const node_record_t *node = node_record_table_ptr[n];

	return node && (shadow_place_is_old(n) ||
			(IS_NODE_CLOUD(node) &&
			 osp_topology_domain_of(shadow_state.topology, n, level) == OSP_NO_DOMAIN));
}

struct osp_nodeset *shadow_launch_unlaunched(const struct shadow_gang *gang)
{
	struct osp_nodeset *nodes = gang->boot ? osp_nodeset_copy(gang->free) : NULL;

	if (!nodes)
		return NULL;
	osp_nodeset_and(nodes, gang->boot);
	for (uint32_t n = osp_nodeset_next(nodes, 0); n < nodes->place_count;
	     n = osp_nodeset_next(nodes, n + 1)) {
		if (!is_unknown(n, gang->level))
			osp_nodeset_remove(nodes, n);
	}
	return nodes;
}

struct osp_nodeset *shadow_launch_placed(const struct osp_nodeset *nodes)
{
	struct osp_nodeset *placed = osp_nodeset_copy(nodes);

	for (uint32_t n = osp_nodeset_next(nodes, 0); placed && n < nodes->place_count;
	     n = osp_nodeset_next(nodes, n + 1)) {
		if (shadow_place_is_old(n))
			osp_nodeset_remove(placed, n);
	}
	return placed;
}

/* Returns whether nothing that is known of the places of `nodes` keeps them from one domain. */
static bool may_meet(const struct osp_nodeset *nodes, uint32_t level)
{
	struct osp_nodeset *placed = shadow_launch_placed(nodes);
	bool may = placed && osp_launch_may_meet(shadow_state.topology, level, placed);

	free(placed);
	return may;
}

/* Returns whether a node's place changes with each start: it ages, or is unknown. */
static bool is_movable(uint32_t n, uint32_t level)
{
	const node_record_t *node = node_record_table_ptr[n];

	return shadow_state.place_boot_s[n] || (node && is_unknown(n, level));
}

bool shadow_launch_could(const struct osp_place_input *place)
{
	struct osp_nodeset *known = osp_nodeset_copy(place->usable);
	struct osp_nodeset *movable = osp_nodeset_copy(place->usable);
	const struct osp_launch_input input = {
		.topology = shadow_state.topology,
		.level = place->level,
		.need_nodes = place->need_nodes,
		.known = known,
		.unlaunched = movable,
		.required = place->required,
		.kind = place->kind,
		.kind_count = place->kind_count,
	};
	bool could = true;

	for (uint32_t n = 0; known && movable && n < place->usable->place_count; n++)
		osp_nodeset_remove(is_movable(n, place->level) ? known : movable, n);
	if (known && movable)
		could = osp_launch_could(&input);
	free(known);
	free(movable);
	return could;
}

/* --- a gang that starts on them --------------------------------------------------------------- */

/*
 * Returns the level in force. 0: none, since any nodes do by now, or the topology no longer has its
 * level.
 */
static uint32_t level_of(const job_record_t *job, const struct osp_effective *effective)
{
	int level = osp_topology_level(shadow_state.topology, effective->level);

	if (level < 1)
		return 0;
	if (!shadow_is_relaxed(job, effective))
		return (uint32_t)level;
	return osp_topology_relaxed_unlaunched(shadow_state.topology, (uint32_t)level);
}

/*
 * Counts the nodes of unknown or reserved place, if none of the former runs and all may come to be
 * in the one domain of the others; else 0.
 */
static uint32_t count_unlaunched(const struct osp_nodeset *nodes, uint32_t level)
{
	uint32_t count = 0;

	for (uint32_t n = osp_nodeset_next(nodes, 0); n < nodes->place_count;
	     n = osp_nodeset_next(nodes, n + 1)) {
		if (is_unknown(n, level)) {
			if (!shadow_is_asleep(n))
				return 0;
			count++;
			continue;
		}
		if (osp_topology_domain_of(shadow_state.topology, n, level) == OSP_NO_DOMAIN)
			return 0;
		count += shadow_place_is_reserved(n);
	}
	return count && may_meet(nodes, level) ? count : 0;
}

/* Adds the nodes that it launches to those of its earlier tries. */
static void note_launched(job_record_t *job, const struct osp_nodeset *nodes)
{
	struct osp_nodeset *launched = shadow_launched_nodes(job);

	for (uint32_t n = osp_nodeset_next(nodes, 0); launched && n < nodes->place_count;
	     n = osp_nodeset_next(nodes, n + 1)) {
		if (shadow_is_asleep(n))
			osp_nodeset_add(launched, n);
	}
	if (launched)
		shadow_put_launched_nodes(job, launched);
	free(launched);
}

bool shadow_launch_begins(job_record_t *job, const struct osp_effective *effective,
			  const struct osp_nodeset *nodes)
{
	uint32_t level = level_of(job, effective), count;
	char says[OSP_SENTENCE_BYTES];

	if (!level || !shadow_launch_may(job, effective))
		return false;
	count = count_unlaunched(nodes, level);
	if (!count || !add_launch(job))
		return false;
	osp_sentence_launches(osp_topology_level_name(shadow_state.topology, level),
			      osp_nodeset_count(nodes), count, says, sizeof(says));
	shadow_gang_says(job, effective, says);
	note_launched(job, nodes);
	return true;
}

static bool has_launched_nodes(const job_record_t *job)
{
	const char *names = shadow_spank_value(job, OSP_LAUNCHED_NODES);

	return names && *names;
}

/*
 * Returns whether nodes were launched for the job, even if its owner has set Requeue=0 since, or
 * the policy launches nothing more.
 */
static bool was_launched(const job_record_t *job, const struct osp_effective *effective)
{
	const struct osp_launchable gang = launchable(job, effective);

	return osp_launch_judgeable(&gang) &&
	       (has_launched_nodes(job) || osp_launchable(&gang, policy_of(job)));
}

static int is_batch_step(void *step, void *none)
{
	(void)none;
	return ((const step_record_t *)step)->step_id.step_id == SLURM_BATCH_SCRIPT;
}

/*
 * Returns whether something else than select_p_job_ready() has ended that the job is CONFIGURING,
 * before its script began: the first step of its owner, as soon as no node is powered down
 * (step_mgr.c, stepmgr.c: _pick_step_nodes()), or a suspension (job_mgr.c: job_suspend()).
 */
static bool is_interrupted(const job_record_t *job)
{
	return (IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job)) && !IS_JOB_CONFIGURING(job) &&
	       !(job->step_list && list_find_first(job->step_list, is_batch_step, NULL));
}

/* Returns whether the job was given nodes and waits for them, after a restart of slurmctld. */
static bool waits_for_nodes(const job_record_t *job)
{
	return IS_JOB_CONFIGURING(job) || (has_launched_nodes(job) && is_interrupted(job));
}

void shadow_launch_resume(job_record_t *job)
{
	struct osp_effective effective;
	struct osp_nodeset *nodes;

	if (!waits_for_nodes(job))
		shadow_launch_not_needed(job);
	if (!waits_for_nodes(job) || !job->node_bitmap || !shadow_gang_request(job, &effective) ||
	    !was_launched(job, &effective))
		return;
	if (!shadow_state.topology) {
		/* it is judged when there is one */
		if (has_launched_nodes(job))
			add_launch(job);
		return;
	}
	nodes = osp_nodeset_new(shadow_state.node_count);
	if (!nodes)
		return;
	shadow_from_bitmap(nodes, job->node_bitmap);
	if (!shadow_gang_together(job, &effective, nodes))
		add_launch(job);
	free(nodes);
}

/* --- when its nodes run ----------------------------------------------------------------------- */

static void note_launched_in_vain(job_record_t *job, uint64_t node_s, int64_t now_s)
{
	struct shadow_in_vain before = shadow_launched_in_vain(job);
	char value[96];

	snprintf(value, sizeof(value), "%u:%" PRIu64 ":%" PRId64, before.times + 1,
		 before.node_s + node_s, now_s);
	shadow_put_entry(job, OSP_LAUNCHED_IN_VAIN, value);
}

/* Returns whether a node that sleeps may be in `domain` when it runs. */
static bool may_join(uint32_t n, uint32_t level, uint32_t domain)
{
	return shadow_place_is_old(n) ||
	       ((is_unknown(n, level) || shadow_place_is_reserved(n)) &&
		osp_launch_may_join(shadow_state.topology, level, n, domain));
}

/* Counts the nodes of the job's partition that could be launched to join those in `domain`. */
static uint32_t count_unused(const job_record_t *job, uint32_t level, uint32_t domain)
{
	bitstr_t *nodes = job->part_ptr ? job->part_ptr->node_bitmap : NULL;
	uint32_t count = 0;

	for (uint32_t n = 0; nodes && n < shadow_state.node_count; n++)
		count += bit_test(nodes, n) && osp_nodeset_test(shadow_state.up, n) &&
			 shadow_is_asleep(n) && may_join(n, level, domain);
	return count;
}

/* Powers down the nodes that were launched for the job and are not among these. */
static void give_back_but(job_record_t *job, const struct osp_nodeset *but)
{
	struct osp_nodeset *launched = shadow_launched_nodes(job);
	struct osp_nodeset *spare = launched ? osp_nodeset_copy(launched) : NULL;

	if (spare) {
		osp_nodeset_and_not(spare, but);
		osp_nodeset_and(launched, but);
		shadow_give_back(job, spare, shadow_launched_in_vain(job).last_s);
		shadow_put_launched_nodes(job, launched);
	}
	free(launched);
	free(spare);
}

/* Where its nodes are. */
struct placed_part {
	uint32_t level; /* never 0 */
	uint32_t asleep;
	uint32_t unknown;
	uint32_t domains;
	struct osp_nodeset *part; /* the largest in one domain; NULL if memory ran out */
};

/* Keeps the part that is in one domain for the job's next start. Gives the other nodes back now
 * only if too few unused ones are left to replace them; otherwise their replacements run first. A
 * node whose place is unknown is not given back, since it may be in the right domain. */
static void keep_part(job_record_t *job, const struct osp_effective *effective,
		      const struct placed_part *placed_part, uint32_t nodes)
{
	uint32_t kept = osp_nodeset_count(placed_part->part), level = placed_part->level;
	uint32_t n = osp_nodeset_next(placed_part->part, 0);
	uint32_t domain = n < shadow_state.node_count
				  ? osp_topology_domain_of(shadow_state.topology, n, level)
				  : OSP_NO_DOMAIN;

	if (shadow_launch_may(job, effective)) {
		if (!placed_part->unknown && count_unused(job, level, domain) < nodes - kept)
			give_back_but(job, placed_part->part);
		shadow_keep(job, placed_part->part, policy_of(job)->launch_keep_s);
	}
}

/* Puts a job back, even if its owner has set Requeue=0 since it started: none of it has run yet,
 * and from then on it waits for known nodes. */
static int requeue(job_record_t *job)
{
	uint16_t before = job->details->requeue;
	int rc;

	job->details->requeue = 1;
	rc = OSP_JOB_REQUEUE(job);
	job->details->requeue = before;
	return rc;
}

/* Puts the job back. `placed_part` is NULL if it has no level, and so no part that could be
 * kept. */
static void put_back(struct launch *launch, job_record_t *job,
		     const struct osp_effective *effective, const struct placed_part *placed_part,
		     int64_t now_s, const char *why)
{
	int64_t lasted_s = now_s > job->start_time ? now_s - (int64_t)job->start_time : 0;
	uint32_t nodes = job->node_cnt;
	char says[2 * OSP_SENTENCE_BYTES];
	int rc;

	snprintf(says, sizeof(says), OSP_SENTENCE_IN_VAIN "%s", why);
	release_steps(launch, job);
	rc = requeue(job);
	if (rc != SLURM_SUCCESS) {
		if (!launch->stuck)
			error("onespine: %pJ cannot go back to the queue (%s), where it belongs: "
			      "%s",
			      job, slurm_strerror(rc), why);
		launch->stuck = true;
		return;
	}
	note_launched_in_vain(job, (uint64_t)lasted_s * nodes, now_s);
	shadow_gang_says(job, effective, says);
	info("onespine: %pJ goes back to the queue: %s", job, why);
	launch->job = 0;
	shadow_keep_end(job);
	if (placed_part)
		keep_part(job, effective, placed_part, nodes);
}

static struct placed_part look_at(const struct osp_nodeset *nodes, uint32_t level)
{
	struct osp_nodeset *placed = osp_nodeset_copy(nodes);
	struct placed_part placed_part = {
		.level = level,
		.part = osp_nodeset_new(nodes->place_count),
	};

	for (uint32_t n = osp_nodeset_next(nodes, 0); n < nodes->place_count;
	     n = osp_nodeset_next(nodes, n + 1)) {
		placed_part.asleep += shadow_is_asleep(n);
		if (osp_topology_domain_of(shadow_state.topology, n, level) != OSP_NO_DOMAIN &&
		    !shadow_place_is_old(n))
			continue;
		placed_part.unknown++;
		if (placed)
			osp_nodeset_remove(placed, n);
	}
	if (placed && placed_part.part)
		placed_part.domains =
			osp_launch_part(shadow_state.topology, level, placed, placed_part.part);
	free(placed);
	return placed_part;
}

/* Judges a gang when all its nodes run. */
static void judge_placed_part(struct launch *launch, job_record_t *job,
			      const struct osp_effective *effective,
			      const struct osp_nodeset *nodes,
			      const struct placed_part *placed_part, int64_t now_s)
{
	char why[OSP_SENTENCE_BYTES];

	if (shadow_gang_together(job, effective, nodes)) {
		shadow_gang_where(job, effective, nodes);
		shadow_keep_end(job);
		shadow_note_instances(job, true);
		launch->proven = true;
		release_steps(launch, job);
	} else if (!placed_part->unknown && placed_part->part) {
		osp_sentence_apart(
			osp_topology_level_name(shadow_state.topology, placed_part->level),
			osp_nodeset_count(nodes), placed_part->domains, why, sizeof(why));
		put_back(launch, job, effective, placed_part, now_s, why);
	} else if (now_s - launch->running_s >= policy_of(job)->launch_place_s &&
		   placed_part->part) {
		osp_sentence_unplaced(placed_part->unknown, policy_of(job)->launch_place_s, why,
				      sizeof(why));
		put_back(launch, job, effective, placed_part, now_s, why);
	}
}

/* Says again what is asked when its nodes run, once there is a topology. */
static void see_again(struct launch *launch, job_record_t *job,
		      const struct osp_effective *effective, const struct osp_nodeset *nodes,
		      const struct placed_part *placed_part)
{
	char says[OSP_SENTENCE_BYTES];

	launch->blind_s = 0;
	osp_sentence_launches(osp_topology_level_name(shadow_state.topology, placed_part->level),
			      osp_nodeset_count(nodes), placed_part->asleep, says, sizeof(says));
	shadow_gang_says(job, effective, says);
}

static void judge_nodes(struct launch *launch, job_record_t *job,
			const struct osp_effective *effective, const struct osp_nodeset *nodes,
			uint32_t level, int64_t now_s)
{
	struct placed_part placed_part = look_at(nodes, level);

	if (launch->blind_s)
		see_again(launch, job, effective, nodes, &placed_part);
	if (placed_part.asleep) {
		launch->running_s = 0;
	} else {
		if (!launch->running_s) {
			launch->running_s = now_s;
			give_back_but(job, nodes);
		}
		if (!launch->proven)
			judge_placed_part(launch, job, effective, nodes, &placed_part, now_s);
	}
	free(placed_part.part);
}

/* Ends a launch. The job starts, or has left its nodes otherwise than by put_back(): they are then
 * no longer kept for it. */
static void end_launch(struct launch *launch, job_record_t *job)
{
	if (job && has_launched_nodes(job))
		shadow_put_entry(job, OSP_LAUNCHED_NODES, "");
	if (job && launch->proven && IS_JOB_RUNNING(job))
		shadow_keep_end(job);
	release_steps(launch, job);
	launch->job = 0;
}

/* Judges a gang for which no level is in force any more. If any nodes do now (its @TIME has
 * passed), the launch is over, whether they run or not: Slurm waits for them. */
static void judge_without_level(struct launch *launch, job_record_t *job,
				const struct osp_effective *effective,
				const struct osp_nodeset *nodes, int64_t now_s)
{
	char why[OSP_SENTENCE_BYTES];

	if (shadow_gang_together(job, effective, nodes)) {
		shadow_gang_where(job, effective, nodes);
		shadow_keep_end(job);
		give_back_but(job, nodes);
		end_launch(launch, job);
	} else {
		snprintf(why, sizeof(why), "the topology has no level %s any more",
			 effective->level);
		put_back(launch, job, effective, NULL, now_s, why);
	}
}

/* Judges a gang of a slurmctld that has begun without a topology as one whose places are not
 * known: it does not hold its nodes for longer than the policy allows. */
static void judge_blindly(struct launch *launch, job_record_t *job,
			  const struct osp_effective *effective, int64_t now_s)
{
	int64_t most_s = policy_of(job)->launch_place_s;
	char says[OSP_SENTENCE_BYTES], lasted[32];

	if (!launch->blind_s) {
		launch->blind_s = now_s;
		osp_sentence_launched_blind(effective->level, most_s, says, sizeof(says));
		shadow_gang_says(job, effective, says);
	} else if (now_s - launch->blind_s >= most_s) {
		snprintf(says, sizeof(says), "no fabric topology was in force for %s",
			 osp_format_duration(most_s, lasted, sizeof(lasted)));
		put_back(launch, job, effective, NULL, now_s, says);
	}
}

/* Returns whether the job starts, or has left its nodes. */
static bool is_over(const struct launch *launch, const job_record_t *job)
{
	if (!job->details || !job->node_bitmap)
		return true;
	if (IS_JOB_CONFIGURING(job))
		return !IS_JOB_RUNNING(job);
	return launch->proven || !is_interrupted(job);
}

/* Makes the job CONFIGURING again; Slurm starts the script only of such a job. */
static void go_on_configuring(job_record_t *job)
{
	info("onespine: %pJ is CONFIGURING again: a step or a suspension has ended that before it "
	     "was known to be together",
	     job);
	OSP_JOB_SET_CONFIGURING(job);
	last_job_update = time(NULL);
}

static void judge(struct launch *launch, int64_t now_s)
{
	job_record_t *job = find_job_record(launch->job);
	struct osp_effective effective;
	struct osp_nodeset *nodes;
	uint32_t level;

	if (!job || is_over(launch, job) || !shadow_gang_request(job, &effective)) {
		end_launch(launch, job);
		return;
	}
	if (IS_JOB_SUSPENDED(job))
		return;
	if (!IS_JOB_CONFIGURING(job))
		go_on_configuring(job);
	if (!launch->proven)
		hold_steps(launch, job);
	if (!shadow_state.topology) {
		if (!launch->proven)
			judge_blindly(launch, job, &effective, now_s);
		return;
	}
	nodes = osp_nodeset_new(shadow_state.node_count);
	if (!nodes)
		return;
	shadow_from_bitmap(nodes, job->node_bitmap);
	level = level_of(job, &effective);
	if (level)
		judge_nodes(launch, job, &effective, nodes, level, now_s);
	else if (!launch->proven)
		judge_without_level(launch, job, &effective, nodes, now_s);
	free(nodes);
}

void shadow_launch_hold_again(void)
{
	pthread_mutex_lock(&launch_mutex);
	for (uint32_t i = 0; i < launch_count; i++) {
		struct launch *launch = &launches[i];
		job_record_t *job = launch->proven ? NULL : find_job_record(launch->job);

		if (job && !is_over(launch, job))
			hold_steps(launch, job);
	}
	pthread_mutex_unlock(&launch_mutex);
}

void shadow_launch_look(int64_t now_s)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < launch_count; i++) {
		struct launch launch = launches[i];

		judge(&launch, now_s);
		pthread_mutex_lock(&launch_mutex);
		launches[i] = launch;
		pthread_mutex_unlock(&launch_mutex);
	}
	pthread_mutex_lock(&launch_mutex);
	for (uint32_t i = 0; i < launch_count; i++) {
		if (launches[i].job)
			launches[kept++] = launches[i];
	}
	launch_count = kept;
	pthread_mutex_unlock(&launch_mutex);
}
