/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_nodes.c - Slurm's bitmaps as nodesets, what nodes have and jobs need of each
 *
 * Slurm's bitmap is an array of 64-bit words: two of its own, then the bits, lowest first on the
 * machines that we support (common/bitstring.c). shadow_bitmaps_match() proves that at init;
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
	bit_free(bitmap);
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

/* --- what a node has and a job needs --------------------------------------------------------- */

static int find_gres_id(void *item, void *key)
{
	return ((gres_state_t *)item)->plugin_id == *(uint32_t *)key;
}

const gres_node_state_t *shadow_node_gres_state(const node_record_t *node, uint32_t gres_id)
{
	gres_state_t *state =
		node->gres_list ? list_find_first(node->gres_list, find_gres_id, &gres_id) : NULL;

	return state ? state->gres_data : NULL;
}

uint64_t shadow_node_gres(const node_record_t *node, uint32_t gres_id)
{
	const gres_node_state_t *has = shadow_node_gres_state(node, gres_id);

	return has ? has->gres_cnt_avail : 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Returns the least number of tasks on each node: --ntasks-per-node is only a limit if -n asks for
 * fewer than all.
 */
static uint32_t least_tasks(const job_record_t *job)
{
	const __typeof__(*job->details) *details = job->details;
	uint64_t all = (uint64_t)details->ntasks_per_node *
		       larger(details->min_nodes, shadow_most_nodes(job));

	return details->ntasks_per_node && details->num_tasks != NO_VAL && details->num_tasks >= all
		       ? details->ntasks_per_node
		       : 1;
}

struct gres_need {
	uint32_t tasks;
	bool brings_memory; /* the job asks for memory by GRES */
	struct osp_amounts *amounts;
};

static int add_gres_need(void *item, void *context)
{
	const gres_state_t *state = item;
	const gres_job_state_t *asked = state->gres_data;
	struct gres_need *need = context;
	uint64_t count;
	int index = shadow_count_gres(state->plugin_id);

	if (!asked)
		return 0;
	if (asked->mem_per_gres || asked->def_mem_per_gres)
		need->brings_memory = true;
	/* with a number for the whole job each node must give one (gres.c, _job_test()) */
	count = larger(asked->gres_per_node, asked->gres_per_job ? 1 : 0);
	count = larger(larger(count, asked->gres_per_socket), asked->gres_per_task * need->tasks);
	if (index >= 0)
		need->amounts->gres[index] += count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
	return 0;
}

bool shadow_counts_memory(const job_record_t *job)
{
	uint16_t by_partition = job->part_ptr ? job->part_ptr->cr_type : 0;
	uint16_t counted = by_partition ? by_partition : slurm_conf.select_type_param;

	return counted & OSP_SELECT_MEMORY;
}

/*
 * Computes the memory as Slurm's plugin does before it looks at a node (job_test.c,
 * _verify_node_state).
 */
static void memory_need(const job_record_t *job, bool by_gres, struct osp_occupancy_need *need)
{
	const __typeof__(*job->details) *details = job->details;
	uint64_t memory_mib = details->pn_min_memory;

	if (!shadow_counts_memory(job) || (by_gres && !(job->bit_flags & JOB_MEM_SET)))
		return;
	if (memory_mib & MEM_PER_CPU) {
		uint64_t cpus = larger(larger(details->ntasks_per_node, details->pn_min_cpus),
				       details->cpus_per_task);

		memory_mib = (memory_mib & ~MEM_PER_CPU) * larger(cpus, 1);
	}
	need->amounts.memory_mib = memory_mib;
	need->all_memory = !memory_mib;
}

void shadow_need(const job_record_t *job, bool whole_nodes, bool shares,
		 struct osp_occupancy_need *need)
{
	struct gres_need gres = {.tasks = least_tasks(job), .amounts = &need->amounts};

	*need = (struct osp_occupancy_need){.all_cpus = whole_nodes};
	if (!whole_nodes && !shares)
		need->amounts.cpus = job->details->overcommit ? 1 : job->details->pn_min_cpus;
	if (need->amounts.cpus == 0 && !shares)
		need->amounts.cpus = 1;
	need->all_gres = OSP_WANTS_WHOLE_NODES(job->details);
	if (job->gres_list_req)
		list_for_each(job->gres_list_req, add_gres_need, &gres);
	memory_need(job, gres.brings_memory, need);
}

void shadow_gang_free_times(const struct shadow_gang *gang, osp_list_t *preemptable, int64_t now_s,
			    int64_t *free_at_s)
{
	shadow_count_free_at(&gang->need, gang->usable, preemptable,
			     gang->lies_over ? gang->job : NULL, now_s, free_at_s);
}
