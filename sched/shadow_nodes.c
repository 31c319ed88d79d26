/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_nodes.c - Slurm's bitmaps as nodesets, and when nodes become free
 *
 * Slurm's bitmap is an array of 64-bit words: two of its own, then the bits, lowest first on the
 * machines that we run on (common/bitstring.c). shadow_bitmaps_match() proves that at init;
 * otherwise the shadow does not load.
 */
#include "sched/shadow.h"

#include <string.h>

#define BITMAP_HEAD_WORDS 2

bool shadow_bitmaps_match(void)
{
	static const int bits[] = {0, 1, 63, 64, 100, 129};
	bitstr_t *bitmap = bit_alloc(130);
	struct osp_nodeset *set = osp_nodeset_new(130);
	bool match = set != NULL && sizeof(bitstr_t) == sizeof(uint64_t);

	for (size_t i = 0; match && i < sizeof(bits) / sizeof(bits[0]); i++)
		bit_set(bitmap, bits[i]);
	if (match) {
		shadow_from_bitmap(set, bitmap);
		match = osp_nodeset_count(set) == sizeof(bits) / sizeof(bits[0]);
		for (size_t i = 0; match && i < sizeof(bits) / sizeof(bits[0]); i++)
			match = osp_nodeset_test(set, (uint32_t)bits[i]);
	}
	FREE_NULL_BITMAP(bitmap);
	free(set);
	return match;
}

static uint32_t common_words(const struct osp_nodeset *set, bitstr_t *bitmap)
{
	uint32_t words = (uint32_t)((bit_size(bitmap) + 63) / 64);

	return words < set->word_count ? words : set->word_count;
}

void shadow_from_bitmap(struct osp_nodeset *set, bitstr_t *bitmap)
{
	uint32_t words = common_words(set, bitmap);

	osp_nodeset_clear(set);
	if (!words)
		return;
	memcpy(set->words, bitmap + BITMAP_HEAD_WORDS, words * sizeof(uint64_t));
	if (words == set->word_count && set->place_count % 64)
		set->words[words - 1] &= ((uint64_t)1 << (set->place_count % 64)) - 1;
}

void shadow_to_bitmap(bitstr_t *bitmap, const struct osp_nodeset *set)
{
	bit_clear_all(bitmap);
	memcpy(bitmap + BITMAP_HEAD_WORDS, set->words,
	       common_words(set, bitmap) * sizeof(uint64_t));
}

/* --- which nodes are free now ---------------------------------------------------------------- */

struct held_cpus {
	uint32_t *cpus; /* by node */
	uint32_t node_count;
};

static int add_held_cpus(void *item, void *context)
{
	job_record_t *job = item;
	struct held_cpus *held = context;
	job_resources_t *resources = job->job_resrcs;
	uint32_t host = 0;
	int last;

	if ((!IS_JOB_RUNNING(job) && !IS_JOB_SUSPENDED(job)) || !resources ||
	    !resources->node_bitmap || !resources->cpus)
		return 0;
	last = bit_fls(resources->node_bitmap);
	for (int n = bit_ffs(resources->node_bitmap); n >= 0 && n <= last; n++) {
		if (!bit_test(resources->node_bitmap, n))
			continue;
		if ((uint32_t)n < held->node_count && host < resources->nhosts)
			held->cpus[n] += resources->cpus[host];
		host++;
	}
	return 0;
}

/* How many of one resource the job needs on each node at least. */
static uint64_t gres_need_per_node(const job_record_t *job, const gres_job_state_t *need)
{
	uint64_t per_node = need->gres_per_node;

	if (need->gres_per_task && job->details->ntasks_per_node) {
		uint64_t by_tasks = need->gres_per_task * job->details->ntasks_per_node;

		if (by_tasks > per_node)
			per_node = by_tasks;
	}
	return per_node;
}

struct gres_question {
	const job_record_t *job;
	const node_record_t *node;
	bool lacking;
};

static int find_gres_id(void *item, void *key)
{
	return ((gres_state_t *)item)->plugin_id == *(uint32_t *)key;
}

uint64_t shadow_node_gres(const node_record_t *node, uint32_t plugin_id)
{
	gres_state_t *state =
		node->gres_list ? list_find_first(node->gres_list, find_gres_id, &plugin_id) : NULL;
	gres_node_state_t *has = state ? state->gres_data : NULL;

	return has ? has->gres_cnt_avail : 0;
}

static int check_one_gres(void *item, void *context)
{
	gres_state_t *state = item;
	struct gres_question *question = context;
	uint64_t need = gres_need_per_node(question->job, state->gres_data);
	gres_state_t *node_state;
	gres_node_state_t *has;

	if (!need || !question->node->gres_list)
		return 0;
	node_state = list_find_first(question->node->gres_list, find_gres_id, &state->plugin_id);
	has = node_state ? node_state->gres_data : NULL;
	if (has && !has->no_consume && has->gres_cnt_alloc + need > has->gres_cnt_avail)
		question->lacking = true;
	return 0;
}

static bool lacks_gres(const job_record_t *job, const node_record_t *node)
{
	struct gres_question question = {job, node, false};

	if (job->gres_list_req)
		list_for_each(job->gres_list_req, check_one_gres, &question);
	return question.lacking;
}

/* Takes out of `free` the nodes whose processors or GPUs are certainly used up. */
void shadow_remove_full_nodes(const job_record_t *job, struct osp_nodeset *free_nodes)
{
	struct held_cpus held = {calloc(free_nodes->place_count, sizeof(uint32_t)),
				 free_nodes->place_count};

	if (held.cpus && job_list)
		list_for_each(job_list, add_held_cpus, &held);
	for (uint32_t n = osp_nodeset_next(free_nodes, 0); n < free_nodes->place_count;
	     n = osp_nodeset_next(free_nodes, n + 1)) {
		const node_record_t *node = node_record_table_ptr[n];

		if (!node || (held.cpus && held.cpus[n] >= node->cpus_efctv) ||
		    lacks_gres(job, node))
			osp_nodeset_remove(free_nodes, n);
	}
	free(held.cpus);
}

/* --- what the jobs that run hold ------------------------------------------------------------- */

struct free_times {
	const struct shadow_gang *gang;
	job_record_t **preemptable; /* sorted by address */
	size_t preemptable_count;
	int64_t now_s;
	int64_t *free_at_s;
	struct osp_nodeset *nodes; /* scratch */
};

static int compare_addresses(const void *a, const void *b)
{
	uintptr_t left = (uintptr_t) * (job_record_t *const *)a;
	uintptr_t right = (uintptr_t) * (job_record_t *const *)b;

	return (left > right) - (left < right);
}

static int append_job(void *item, void *context)
{
	struct free_times *times = context;

	times->preemptable[times->preemptable_count++] = item;
	return 0;
}

static void sort_preemptable(struct free_times *times, osp_list_t *jobs)
{
	int count = jobs ? list_count(jobs) : 0;

	if (count > 0)
		times->preemptable = calloc((size_t)count, sizeof(*times->preemptable));
	if (!times->preemptable)
		return;
	list_for_each(jobs, append_job, times);
	qsort(times->preemptable, times->preemptable_count, sizeof(*times->preemptable),
	      compare_addresses);
}

static bool is_preemptable(const struct free_times *times, job_record_t *job)
{
	return times->preemptable_count > 0 &&
	       bsearch(&job, times->preemptable, times->preemptable_count,
		       sizeof(*times->preemptable), compare_addresses) != NULL;
}

/*
 * One running or suspended job: a gang of whole nodes waits for the last job of each node, another
 * at least for the first one of a node that has nothing left now.
 */
static int note_job_end(void *item, void *context)
{
	job_record_t *job = item;
	struct free_times *times = context;
	int64_t end_s;

	if ((!IS_JOB_RUNNING(job) && !IS_JOB_SUSPENDED(job)) || !job->node_bitmap)
		return 0;
	if (is_preemptable(times, job))
		return 0;
	end_s = job->end_time;
	if (end_s < times->now_s)
		end_s = times->now_s;
	shadow_from_bitmap(times->nodes, job->node_bitmap);
	osp_nodeset_and(times->nodes, times->gang->usable);
	for (uint32_t n = osp_nodeset_next(times->nodes, 0); n < times->nodes->place_count;
	     n = osp_nodeset_next(times->nodes, n + 1)) {
		int64_t *free_at_s = &times->free_at_s[n];

		if (times->gang->whole_nodes && end_s > *free_at_s)
			*free_at_s = end_s;
		else if (!times->gang->whole_nodes && *free_at_s != times->now_s &&
			 (*free_at_s == OSP_PLACE_NEVER_S || end_s < *free_at_s))
			*free_at_s = end_s;
	}
	return 0;
}

void shadow_gang_free_times(const struct shadow_gang *gang, osp_list_t *preemptable, int64_t now_s,
			    int64_t *free_at_s)
{
	struct free_times times = {.gang = gang, .now_s = now_s, .free_at_s = free_at_s};
	uint32_t count = gang->usable->place_count;

	/*
	 * For whole nodes every time starts at now and grows with each job found. For parts of
	 * nodes only those that are certainly full wait for anything; a full node on which no job
	 * is found (its jobs are being preempted, say) counts as free: too early a bound costs a
	 * call, too late a one a start.
	 */
	for (uint32_t n = 0; n < count; n++) {
		bool waits = !gang->whole_nodes && gang->free_is_certain &&
			     !osp_nodeset_test(gang->free, n);

		free_at_s[n] = waits ? OSP_PLACE_NEVER_S : now_s;
	}
	sort_preemptable(&times, preemptable);
	times.nodes = osp_nodeset_new(count);
	if (times.nodes && job_list)
		list_for_each(job_list, note_job_end, &times);
	free(times.nodes);
	free(times.preemptable);
	for (uint32_t n = 0; n < count; n++) {
		if (free_at_s[n] == OSP_PLACE_NEVER_S)
			free_at_s[n] = now_s;
	}
}
