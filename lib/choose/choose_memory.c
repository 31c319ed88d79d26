/* SPDX-License-Identifier: GPL-2.0-or-later */
/* choose_memory.c - what a chooser remembers of a job between calls */
#include "lib/choose/choose_private.h"

#include <string.h>

/* --- preempted jobs -------------------------------------------------------------------------- */

struct osp_choose_memory *osp_choose_find_memory(struct osp_chooser *chooser, uint32_t job)
{
	for (uint32_t i = 0; job && i < OSP_CHOOSE_MEMORY_MAX; i++) {
		if (chooser->memory[i].job == job)
			return &chooser->memory[i];
	}
	return NULL;
}

struct osp_choose_memory *osp_choose_recall(struct osp_choose_run *run)
{
	struct osp_choose_memory *memory = osp_choose_find_memory(run->chooser, run->input->job);

	if (memory)
		memory->used = run->chooser->calls;
	return memory;
}

struct osp_choose_memory *osp_choose_new_memory(struct osp_chooser *chooser, uint32_t job)
{
	struct osp_choose_memory *memory = &chooser->memory[0];

	for (uint32_t i = 1; i < OSP_CHOOSE_MEMORY_MAX && memory->job; i++) {
		struct osp_choose_memory *other = &chooser->memory[i];

		if (!other->job || other->used < memory->used)
			memory = other;
	}
	memset(memory, 0, sizeof(*memory));
	memory->job = job;
	memory->used = chooser->calls;
	memory->preempt_domain = OSP_NO_DOMAIN;
	return memory;
}

/* --- how far its calls came ------------------------------------------------------------------ */

struct osp_choose_progress *osp_choose_recall_progress(struct osp_choose_run *run)
{
	const struct osp_choose_input *input = run->input;

	for (uint32_t i = 0; input->job && i < OSP_CHOOSE_PROGRESS_MAX; i++) {
		struct osp_choose_progress *progress = &run->chooser->progress[i];

		if (progress->job != input->job || progress->choice_of != input->choice_of)
			continue;
		progress->used = run->chooser->calls;
		return progress;
	}
	return NULL;
}

struct osp_choose_progress *osp_choose_progress(struct osp_choose_run *run)
{
	struct osp_chooser *chooser = run->chooser;
	struct osp_choose_progress *progress = osp_choose_recall_progress(run);

	if (progress)
		return progress;
	progress = &chooser->progress[0];
	for (uint32_t i = 1; i < OSP_CHOOSE_PROGRESS_MAX && progress->job; i++) {
		struct osp_choose_progress *other = &chooser->progress[i];

		if (!other->job || other->used < progress->used)
			progress = other;
	}
	*progress = (struct osp_choose_progress){.job = run->input->job,
						 .used = chooser->calls,
						 .choice_of = run->input->choice_of,
						 .plan_domain = OSP_NO_DOMAIN};
	return progress;
}

bool osp_chooser_forget(struct osp_chooser *chooser, uint32_t job)
{
	struct osp_choose_memory *memory = osp_choose_find_memory(chooser, job);
	bool known = memory != NULL;

	if (memory)
		memset(memory, 0, sizeof(*memory));
	for (uint32_t i = 0; job && i < OSP_CHOOSE_PROGRESS_MAX; i++) {
		if (chooser->progress[i].job != job)
			continue;
		memset(&chooser->progress[i], 0, sizeof(chooser->progress[i]));
		known = true;
	}
	return known;
}

/* Finds the candidate of the last plan. */
static void find_planned(struct osp_choose_run *run, const struct osp_choose_progress *progress,
			 const struct osp_place_domain *domains, uint32_t count)
{
	run->planned.domain = OSP_NO_DOMAIN;
	if (!progress || progress->plan_domain == OSP_NO_DOMAIN)
		return;
	for (uint32_t i = 0; i < count; i++) {
		if (domains[i].domain == progress->plan_domain) {
			run->planned = domains[i];
			return;
		}
	}
}

void osp_choose_keep_list(struct osp_choose_run *run, enum osp_choose_list kind,
			  const struct osp_place_domain *domains, uint32_t count)
{
	struct osp_choose_progress *progress = osp_choose_recall_progress(run);
	uint32_t skip = progress ? progress->skip[kind] : 0;

	if (skip >= count)
		skip = 0;
	if (progress)
		progress->skip[kind] = skip;
	find_planned(run, progress, domains, count);
	run->skipped = skip;
	run->rest = count - skip;
	run->count = run->rest < OSP_CHOOSE_CANDIDATES_MAX ? run->rest : OSP_CHOOSE_CANDIDATES_MAX;
	run->rest -= run->count;
	run->rest_is_due = run->rest && domains[skip + run->count].bound_s <= run->first_s;
	if (run->count)
		memcpy(run->chooser->candidates, domains + skip, run->count * sizeof(domains[0]));
}

void osp_choose_list_was_vain(struct osp_choose_run *run, enum osp_choose_list kind, uint32_t asked)
{
	struct osp_choose_progress *progress = osp_choose_recall_progress(run);
	bool left = run->rest || asked < run->count;

	if (left)
		progress = osp_choose_progress(run);
	if (progress)
		progress->skip[kind] = left ? progress->skip[kind] + asked : 0;
}

/* Returns the domain of the same level and name in another fabric. */
static uint32_t same_domain(const struct osp_topology *from, uint32_t number,
			    const struct osp_topology *to)
{
	const struct osp_domain *domain;
	int level;

	if (number == OSP_NO_DOMAIN)
		return OSP_NO_DOMAIN;
	domain = osp_topology_domain(from, number);
	level = osp_topology_level(to, osp_topology_level_name(from, domain->level));
	return level < 1 ? OSP_NO_DOMAIN
			 : osp_topology_find_domain(to, (uint32_t)level, domain->name);
}

void osp_chooser_inherit(struct osp_chooser *chooser, const struct osp_chooser *before)
{
	memcpy(chooser->memory, before->memory, sizeof(chooser->memory));
	for (uint32_t i = 0; i < OSP_CHOOSE_MEMORY_MAX; i++) {
		struct osp_choose_memory *memory = &chooser->memory[i];

		if (memory->job)
			memory->preempt_domain = same_domain(
				before->topology, memory->preempt_domain, chooser->topology);
	}
	chooser->calls = before->calls;
}

void osp_chooser_change_fabric(struct osp_chooser *chooser, const struct osp_topology *topology,
			       struct osp_place *place, struct osp_cut *cut)
{
	for (uint32_t i = 0; i < OSP_CHOOSE_MEMORY_MAX; i++) {
		struct osp_choose_memory *memory = &chooser->memory[i];

		if (memory->job)
			memory->preempt_domain =
				same_domain(chooser->topology, memory->preempt_domain, topology);
	}
	for (uint32_t i = 0; i < OSP_CHOOSE_PROGRESS_MAX; i++) {
		struct osp_choose_progress *progress = &chooser->progress[i];

		if (!progress->job)
			continue;
		progress->plan_domain =
			same_domain(chooser->topology, progress->plan_domain, topology);
		memset(progress->skip, 0, sizeof(progress->skip));
		memset(progress->first_kind, 0, sizeof(progress->first_kind));
		memset(progress->later_skip, 0, sizeof(progress->later_skip));
		progress->unnamed_until_s = 0;
	}
	chooser->topology = topology;
	chooser->place = place;
	chooser->cut = cut;
}
