/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model.c - a small scheduler for tests of lib/choose: nodes, jobs on them, and answers */
#include "tests/model.h"

#include <stdlib.h>

#include "lib/base/hash.h"

struct model_job *model_add_job(struct model *model, uint32_t first_node, uint32_t nodes,
				struct model_size holds, int64_t end_s)
{
	struct model_job *job = &model->jobs[model->job_count];

	if (model->job_count == MODEL_JOBS_MAX)
		abort();
	*job = (struct model_job){.id = 1000 + model->job_count,
				  .started_s = model->now_s - 100,
				  .end_s = end_s,
				  .first_node = first_node,
				  .end_node = first_node + nodes,
				  .holds = holds};
	model->job_count++;
	return job;
}

/* --- one node -------------------------------------------------------------------------------- */

static bool is_listed(const struct model_job *job, const struct osp_victims *victims)
{
	if (!victims || !job->preemptable)
		return false;
	for (uint32_t i = 0; i < victims->count; i++) {
		if (victims->listed[i].job == job->id &&
		    victims->listed[i].started_s == job->started_s)
			return true;
	}
	return victims->all;
}

static int64_t expected_end_s(const struct model *model, const struct model_job *job)
{
	return job->end_s > model->now_s ? job->end_s : model->now_s + model->overstays_s;
}

/* Whether a job is on the node at `at_s`; who may be preempted is gone. */
static bool is_there(const struct model *model, const struct model_job *job, uint32_t node,
		     int64_t at_s, const struct osp_victims *victims)
{
	if (node < job->first_node || node >= job->end_node || is_listed(job, victims))
		return false;
	return at_s <= model->now_s || expected_end_s(model, job) > at_s;
}

static bool node_fits(const struct model *model, uint32_t node, int64_t at_s,
		      const struct osp_victims *victims)
{
	struct model_size left = model->node[node];

	if (model->unfit[node])
		return false;
	for (uint32_t i = 0; i < model->job_count; i++) {
		const struct model_job *job = &model->jobs[i];

		if (!is_there(model, job, node, at_s, victims))
			continue;
		if (model->whole)
			return false;
		left.cores -= job->suspended ? 0 : job->holds.cores;
		left.gpus -= job->holds.gpus;
		left.memory -= job->holds.memory;
	}
	return left.cores >= model->need.cores && left.gpus >= model->need.gpus &&
	       left.memory >= model->need.memory;
}

bool model_node_fits(const struct model *model, uint32_t node, int64_t at_s, bool preempting)
{
	const struct osp_victims victims = {.all = preempting};

	return node_fits(model, node, at_s, &victims);
}

/* --- many nodes ------------------------------------------------------------------------------ */

/* The first nodes that have enough at `at_s`, into `given`; whether they are enough. */
static bool give(const struct model *model, const struct osp_nodeset *nodes, int64_t at_s,
		 const struct osp_victims *victims, bool settled, struct osp_nodeset *given)
{
	uint32_t count = 0;

	osp_nodeset_clear(given);
	for (uint32_t n = osp_nodeset_next(nodes, 0);
	     n < nodes->place_count && count < model->want_nodes;
	     n = osp_nodeset_next(nodes, n + 1)) {
		if ((settled && model->settling[n]) || !node_fits(model, n, at_s, victims))
			continue;
		osp_nodeset_add(given, n);
		count++;
	}
	return count >= model->need_nodes;
}

static int64_t first_moment(const struct model *model)
{
	return model->slot_start_s > model->now_s ? model->slot_start_s : model->now_s;
}

/* The next end of a job after `at_s`. */
static int64_t next_end(const struct model *model, int64_t at_s)
{
	int64_t next_s = OSP_PLACE_NEVER_S;

	for (uint32_t i = 0; i < model->job_count; i++) {
		int64_t end_s = expected_end_s(model, &model->jobs[i]);

		if (end_s > at_s && end_s < next_s)
			next_s = end_s;
	}
	return next_s;
}

int64_t model_start(const struct model *model, const struct osp_nodeset *nodes, bool preempting)
{
	const struct osp_victims victims = {.all = preempting};
	struct osp_nodeset *given = osp_nodeset_new(model->node_count);
	int64_t at_s = first_moment(model);

	if (!given)
		abort();
	if (!give(model, nodes, at_s, &victims, at_s == model->now_s, given)) {
		if (at_s == model->now_s && give(model, nodes, at_s, &victims, false, given))
			at_s = model->now_s + 1;
		else
			for (at_s = next_end(model, at_s);
			     at_s != OSP_PLACE_NEVER_S &&
			     !give(model, nodes, at_s, &victims, false, given);)
				at_s = next_end(model, at_s);
	}
	free(given);
	if (model->slot_end_s && at_s > model->slot_end_s)
		at_s = OSP_PLACE_NEVER_S;
	return at_s;
}

uint32_t model_processors(const struct osp_nodeset *nodes)
{
	uint32_t processors = 0;

	for (uint32_t n = osp_nodeset_next(nodes, 0); n < nodes->place_count;
	     n = osp_nodeset_next(nodes, n + 1))
		processors += n + 1;
	return processors;
}

/* --- answers --------------------------------------------------------------------------------- */

static void note_victims(const struct model *model, const struct osp_question *question,
			 struct osp_answer *answer)
{
	for (uint32_t i = 0; i < model->job_count; i++) {
		const struct model_job *job = &model->jobs[i];
		bool stands = false;

		for (uint32_t n = job->first_node; n < job->end_node; n++)
			stands |= osp_nodeset_test(answer->nodes, n);
		if (stands && is_listed(job, &question->victims) &&
		    answer->victim_count < OSP_CHOOSE_VICTIMS_MAX)
			answer->victims[answer->victim_count++] =
				(struct osp_victim){job->id, job->started_s};
	}
}

static bool answer_start(const struct model *model, const struct osp_question *question,
			 struct osp_answer *answer)
{
	static const struct osp_victims nobody;

	if (give(model, question->nodes, model->now_s, &nobody, true, answer->nodes))
		return true;
	if (!give(model, question->nodes, model->now_s, &question->victims, true, answer->nodes))
		return false;
	note_victims(model, question, answer);
	return true;
}

static bool answer_first(const struct model *model, const struct osp_question *question,
			 struct osp_answer *answer)
{
	bool preempting = question->victims.all || question->victims.count;

	answer->start_s = first_moment(model);
	if (answer->start_s > model->now_s && !preempting)
		return false;
	return give(model, question->nodes, answer->start_s, &question->victims, false,
		    answer->nodes);
}

static bool answer_when(const struct model *model, const struct osp_question *question,
			struct osp_answer *answer)
{
	int64_t at_s = first_moment(model);

	while (!give(model, question->nodes, at_s, &question->victims, false, answer->nodes)) {
		at_s = next_end(model, at_s);
		if (at_s == OSP_PLACE_NEVER_S || (model->slot_end_s && at_s > model->slot_end_s))
			return false;
	}
	answer->start_s = at_s;
	return true;
}

static bool answer_ever(const struct model *model, const struct osp_question *question,
			struct osp_answer *answer)
{
	struct model empty = *model;

	empty.job_count = 0;
	return give(&empty, question->nodes, model->now_s, NULL, false, answer->nodes);
}

static bool answer_any(const struct model *model, const struct osp_question *question,
		       struct osp_answer *answer)
{
	switch (question->mode) {
	case OSP_ASK_START:
		return answer_start(model, question, answer);
	case OSP_ASK_FIRST:
		return answer_first(model, question, answer);
	case OSP_ASK_WHEN:
		return answer_when(model, question, answer);
	case OSP_ASK_EVER:
	case OSP_ASK_WHO_EVER:
		return answer_ever(model, question, answer);
	case OSP_ASK_WHO_NOW:
		return give(model, question->nodes, first_moment(model), NULL,
			    first_moment(model) == model->now_s, answer->nodes);
	}
	return false;
}

static bool ask(void *context, const struct osp_question *question, struct osp_answer *answer)
{
	struct model *model = context;
	bool yes = answer_any(model, question, answer);

	if (yes)
		answer->processors = model_processors(answer->nodes);
	answer->cut_short = model->cuts_short;
	model->elapsed_ms += model->ask_ms;
	if (model->asked_count < MODEL_ASKED_MAX)
		model->asked[model->asked_count++] = (struct model_asked){
			.mode = question->mode,
			.preempting = question->victims.all || question->victims.count,
			.yes = yes,
			.first_node = osp_nodeset_next(question->nodes, 0),
			.node_count = osp_nodeset_count(question->nodes)};
	return yes;
}

/* --- facts ----------------------------------------------------------------------------------- */

static void free_times(void *context, bool preempting, int64_t *free_at_s)
{
	const struct model *model = context;

	for (uint32_t n = 0; n < model->node_count; n++) {
		int64_t at_s = model->now_s;

		while (at_s != OSP_PLACE_NEVER_S && !model->hasty[n] &&
		       !model_node_fits(model, n, at_s, preempting))
			at_s = next_end(model, at_s);
		/* what the scheduler alone knows is in no account of jobs */
		free_at_s[n] = at_s == OSP_PLACE_NEVER_S && model->unfit[n] ? model->now_s : at_s;
	}
}

static bool empty_at(void *context, const struct osp_nodeset *nodes, int64_t at_s)
{
	const struct model *model = context;

	for (uint32_t n = osp_nodeset_next(nodes, 0); n < nodes->place_count;
	     n = osp_nodeset_next(nodes, n + 1)) {
		for (uint32_t i = 0; i < model->job_count; i++) {
			if (is_there(model, &model->jobs[i], n, at_s, NULL))
				return false;
		}
	}
	return true;
}

static uint64_t state_of(void *context, const struct osp_nodeset *nodes)
{
	const struct model *model = context;
	uint64_t hash = OSP_HASH_START;

	for (uint32_t i = 0; i < model->job_count; i++) {
		const struct model_job *job = &model->jobs[i];

		for (uint32_t n = job->first_node; n < job->end_node; n++) {
			if (osp_nodeset_test(nodes, n))
				hash = osp_hash_mix(osp_hash_mix(hash, (uint64_t)n << 32 | job->id),
						    (uint64_t)job->end_s * 2 + job->suspended);
		}
	}
	return hash;
}

static bool is_leaving(void *context, const struct osp_victim *victim)
{
	const struct model *model = context;

	for (uint32_t i = 0; i < model->job_count; i++) {
		const struct model_job *job = &model->jobs[i];

		if (job->id == victim->job && job->started_s == victim->started_s)
			return job->leaving;
	}
	return false;
}

static int64_t elapsed_ms(void *context)
{
	return ((struct model *)context)->elapsed_ms;
}

struct osp_choose_calls model_calls(struct model *model)
{
	return (struct osp_choose_calls){.ask = ask,
					 .free_times = free_times,
					 .empty_at = empty_at,
					 .state_of = state_of,
					 .is_leaving = is_leaving,
					 .elapsed_ms = elapsed_ms,
					 .context = model};
}
