/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_memory.c - what a call leaves for the next one, under Slurm's node write lock: the advice,
 * which user has read why a job waits, in AdminComment and on the terminal of srun or salloc, which
 * jobs a gang preempts, and what Slurm asks next
 *
 * lib/choose remembers the gangs that are placed.
 */
#include "sched/shadow.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/policy/request.h"
#include "lib/policy/sentences.h"

uint32_t shadow_lasting_id(const job_record_t *job)
{
	return job->array_job_id ? job->array_job_id : job->job_id;
}

/* What enforcing would have done with the last job of mode advise. */
static struct {
	uint32_t job_id;
	char words[OSP_SENTENCE_BYTES + 64];
} advice;

void shadow_advice_remember(uint32_t job_id, const char *words)
{
	advice.job_id = job_id;
	snprintf(advice.words, sizeof(advice.words), "%s", words);
}

const char *shadow_advice(uint32_t job_id)
{
	return advice.job_id == job_id && advice.words[0] ? advice.words : NULL;
}

/* --- jobs whose wait was explained ------------------------------------------------------------ */

/* How long words stay that backfill's plans change from cycle to cycle: each change of an
 * AdminComment makes Slurm pack all jobs anew for every client. */
#define REPORTED_FOR_S 300
#define HEARD_FOR_S    60 /* how long the client that waits for a job has one line */

/* The jobs whose wait was explained, and when: the last ones of each number modulo REPORTED_SETS.
 * One that is pushed out is explained again when it is next asked about, so a job is explained late
 * for no other's sake. If more than 4,096 gangs with consecutive numbers wait, each cycle of
 * backfill explains the oldest again, and their sentence may change more often than every five
 * minutes; users notice nothing else. */
#define REPORTED_SETS 1024
#define REPORTED_WAYS 4
static struct reported {
	uint32_t job_id;
	int64_t at_s;
} reported[REPORTED_SETS][REPORTED_WAYS];

/* Returns whether an srun or a salloc waits for the job. */
static bool has_client(const job_record_t *job)
{
	return !job->batch_flag && job->other_port;
}

bool shadow_must_report_waiting(const job_record_t *job, int64_t now_s)
{
	uint32_t job_id = shadow_lasting_id(job);
	const struct reported *set = reported[job_id % REPORTED_SETS];
	int64_t for_s = has_client(job) ? HEARD_FOR_S : REPORTED_FOR_S;

	if (!job->admin_comment || !strstr(job->admin_comment, "; waits: "))
		return true;
	for (int i = 0; i < REPORTED_WAYS; i++)
		if (set[i].job_id == job_id)
			return now_s >= set[i].at_s + for_s || now_s < set[i].at_s;
	return true;
}

void shadow_reported_waiting(const job_record_t *job, int64_t now_s)
{
	uint32_t job_id = shadow_lasting_id(job);
	struct reported *set = reported[job_id % REPORTED_SETS], *entry = set;

	/* the clock may have been put back */
	for (int i = 0; i < REPORTED_WAYS; i++)
		if (set[i].at_s > now_s)
			set[i].at_s = 0;
	for (int i = 0; i < REPORTED_WAYS && entry->job_id != job_id; i++)
		if (set[i].job_id == job_id || set[i].at_s < entry->at_s)
			entry = &set[i];
	*entry = (struct reported){.job_id = job_id, .at_s = now_s};
}

/* --- whom a gang preempts --------------------------------------------------------------------- */

void shadow_victims_save(job_record_t *job)
{
	char *now = osp_chooser_saved(shadow_state.chooser, job->job_id);
	const char *before = shadow_spank_value(job, OSP_PREEMPTS);

	if (now && (!before || strcmp(now, before)))
		shadow_put_entry(job, OSP_PREEMPTS, now);
	free(now);
}

void shadow_victims_restore(const job_record_t *job)
{
	const char *saved = shadow_spank_value(job, OSP_PREEMPTS);

	if (saved && *saved)
		osp_chooser_restore(shadow_state.chooser, job->job_id, saved);
}

static void empty_entry(job_record_t *job)
{
	const char *saved = job ? shadow_spank_value(job, OSP_PREEMPTS) : NULL;

	if (saved && *saved)
		shadow_put_entry(job, OSP_PREEMPTS, "");
}

void shadow_victims_forget(job_record_t *job)
{
	empty_entry(job);
	/* the tasks that still wait: their record has a copy */
	if (job->array_job_id && job->array_job_id != job->job_id)
		empty_entry(find_job_record(job->array_job_id));
}

static int list_victim(void *item, void *context)
{
	const job_record_t *job = item;
	struct osp_answer *answer = context;

	if (answer->victim_count == OSP_CHOOSE_VICTIMS_MAX)
		return 0;
	answer->victims[answer->victim_count++] =
		(struct osp_victim){.job = job->job_id, .started_s = job->start_time};
	return 0;
}

uint32_t shadow_victims_list(const struct shadow_call *call, struct osp_victim *victims)
{
	struct osp_answer answer = {.victims = victims};

	if (call->preempted && *call->preempted)
		list_for_each(*call->preempted, list_victim, &answer);
	return answer.victim_count;
}

/* Returns whether the victim still leaves. Slurm marks a job when it preempts it, and resets its
 * start when it requeues it (preempt.c, job_mgr.c). */
bool shadow_victim_leaves(const struct osp_victim *victim, int64_t now_s)
{
	const job_record_t *job = find_job_record(victim->job);

	if (!job || (job->start_time && job->start_time != victim->started_s))
		return false;
	return shadow_job_leaves(job, now_s) ||
	       ((IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job)) && job->preempt_time);
}

static bool is_leaving(void *context, const struct osp_victim *victim)
{
	return shadow_victim_leaves(victim, *(const int64_t *)context);
}

struct osp_victims shadow_victims_of(const struct shadow_call *call)
{
	int64_t now_s = time(NULL);
	const struct osp_choose_calls calls = {.is_leaving = is_leaving, .context = &now_s};

	if (!call->candidates || !shadow_state.chooser)
		return (struct osp_victims){.all = true};
	shadow_victims_restore(call->job);
	return osp_chooser_leaving(shadow_state.chooser, call->job->job_id, &calls);
}

/* Returns the domain of that level that has all of the nodes; OSP_NO_DOMAIN: none has. */
static uint32_t domain_of(bitstr_t *nodes, const char *level_name)
{
	const struct osp_topology *topology = shadow_state.topology;
	int level = osp_topology_level(topology, level_name);
	uint32_t domain = OSP_NO_DOMAIN;

	for (uint32_t n = 0; level > 0 && n < shadow_state.node_count; n++) {
		uint32_t other;

		if (!bit_test(nodes, n))
			continue;
		other = osp_topology_domain_of(topology, n, (uint32_t)level);
		if (domain != OSP_NO_DOMAIN && other != domain)
			return OSP_NO_DOMAIN;
		domain = other;
	}
	return domain;
}

void shadow_victims_keep(const struct shadow_call *call, const char *level)
{
	struct osp_victim victims[OSP_CHOOSE_VICTIMS_MAX];
	uint32_t count = call->mode == SELECT_MODE_RUN_NOW ? shadow_victims_list(call, victims) : 0;

	if (!count || !shadow_state.chooser || !shadow_victims_of(call).all)
		return;
	osp_chooser_preempts(shadow_state.chooser, call->job->job_id,
			     domain_of(call->bitmap, level), victims, count);
	shadow_victims_save(call->job);
}

/* --- what Slurm asks next --------------------------------------------------------------------- */

/* The job that could not start although it was offered as many nodes as it needs; else 0. */
static uint32_t could_not_start;

/* Returns whether the call offers enough nodes: counted as _pick_best_nodes() does
 * (node_scheduler.c), or fewer. For preempting it also offers nodes that end jobs or boot, and does
 * not count these. */
static bool offers_enough(const struct shadow_call *call)
{
	int64_t count = (int64_t)bit_set_count(call->bitmap) -
			bit_overlap(call->bitmap, cg_node_bitmap) -
			bit_overlap(call->bitmap, rs_node_bitmap);
	bool reboots = call->job->reboot || slurm_conf.node_features_plugins;

	return count >= (int64_t)call->min_nodes && !(call->candidates && reboots);
}

/* Returns whether a submission may ask about other partitions or reservations next. It asks about
 * one after the other, and an --immediate one fails by the first answer but "busy"
 * (_select_nodes_parts_resvs() in job_mgr.c). */
static bool has_other_choices(const job_record_t *job)
{
	return job->part_ptr_list || job->resv_list;
}

/*
 * Returns whether the question will be repeated about more nodes: the first one is about available
 * nodes alone, after a start that failed. Without the latter a question that is the only one,
 * because too few nodes are available, could pass for a first one after a start whose questions
 * were left out (another of the job's alternative features had answered them).
 */
bool shadow_is_asked_again(const struct shadow_call *call)
{
	bool last = could_not_start != call->job->job_id;

	could_not_start = 0;
	if (call->mode == SELECT_MODE_TEST_ONLY && !call->preempted)
		return !last && bit_super_set(call->bitmap, avail_node_bitmap);
	if (call->mode != SELECT_MODE_WILL_RUN && !has_other_choices(call->job) &&
	    offers_enough(call))
		could_not_start = call->job->job_id;
	return false;
}

/* --- jobs whose srun or salloc had a message -------------------------------------------------- */

#define HEARD_MAX 1024
/*
 * Slurm's agent gives each message three of its 256 threads (MAX_SERVER_THREADS), and waits
 * MessageTimeout for a client that does not answer: a stopped one, say. Starts and ends of jobs
 * wait for the same threads. Within a MessageTimeout so many messages are sent, so that twice as
 * many are under way at most.
 */
#define HEARD_AT_ONCE	      16
#define HEARD_AT_ONCE_S_LEAST 10

#define HEARD_WAYS	      4

/* What was sent to the clients of the last jobs with that number, modulo HEARD_MAX. */
static struct heard {
	uint32_t job_id;
	uint64_t words;
	int64_t at_s;
} heard[HEARD_MAX][HEARD_WAYS];

/* Returns what the job's client has heard. The entry is another job's if it heard nothing: the one
 * that is the longest ago. */
static struct heard *heard_by(uint32_t job_id)
{
	struct heard *set = heard[job_id % HEARD_MAX], *oldest = set;

	for (uint32_t i = 0; i < HEARD_WAYS; i++) {
		if (set[i].job_id == job_id)
			return &set[i];
		if (set[i].at_s < oldest->at_s)
			oldest = &set[i];
	}
	return oldest;
}

/* The messages since `from_s`. */
static struct {
	int64_t from_s;
	unsigned int count;
} sent;

/* Returns whether one more message may be sent now, and counts it. */
static bool may_send(int64_t now_s)
{
	int64_t for_s = slurm_conf.msg_timeout > HEARD_AT_ONCE_S_LEAST ? slurm_conf.msg_timeout
								       : HEARD_AT_ONCE_S_LEAST;

	if (now_s < sent.from_s || now_s >= sent.from_s + for_s) {
		sent.from_s = now_s;
		sent.count = 0;
	}
	return sent.count < HEARD_AT_ONCE && ++sent.count;
}

/*
 * Returns whether the text is an address. A client may have written a name there, and slurmctld
 * would look it up under its locks: for as long as a name server takes, and 12 s where there is no
 * such name.
 */
static bool is_address(const char *host)
{
	struct in6_addr address;

	return host && (inet_pton(AF_INET, host, &address) == 1 ||
			inet_pton(AF_INET6, host, &address) == 1);
}

void shadow_print_placed(job_record_t *job, const char *words, int64_t now_s)
{
	struct heard *last = heard_by(job->job_id);

	if (!shadow_spank_value(job, OSP_SPANK_SALLOC "="))
		return;
	if (last->job_id == job->job_id)
		last->at_s = 0; /* why it waited is old now, however lately it was reported */
	shadow_print_to_client(job, words, now_s);
}

bool shadow_print_to_client(job_record_t *job, const char *words, int64_t now_s)
{
	struct heard *last = heard_by(job->job_id);
	uint64_t hash = osp_hash_words(OSP_HASH_START, words);
	bool same = last->job_id == job->job_id;
	bool soon = same && now_s < last->at_s + HEARD_FOR_S && now_s >= last->at_s;
	char line[3 * OSP_SENTENCE_BYTES + 16];

	if (!has_client(job) || !is_address(job->resp_host) || soon ||
	    (same && last->words == hash))
		return true;
	if (!may_send(now_s))
		return false;
	last->job_id = job->job_id;
	last->words = hash;
	last->at_s = now_s;
	snprintf(line, sizeof(line), "onespine: %s", words);
	srun_user_message(job, line);
	return true;
}
