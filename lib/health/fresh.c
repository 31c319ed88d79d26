/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fresh.c - says whether an earlier pass of this node still holds */
#include "lib/health/fresh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const osp_depth_names[OSP_DEPTH_COUNT] = {"passive", "quick", "full"};

const char *osp_depth_name(enum osp_depth depth)
{
	return osp_depth_names[depth];
}

/* --- states and counters ---------------------------------------------------------------------- */

void osp_node_state_clear(struct osp_node_state *state)
{
	free(state->counters);
	memset(state, 0, sizeof(*state));
}

bool osp_node_state_count(struct osp_node_state *state, const char *subject, const char *name,
			  uint64_t value, bool fault)
{
	struct osp_counter *counters;

	if (state->counter_count == OSP_STATE_COUNTERS_MAX)
		return false;
	/* The room doubles: at a power of two it is full. */
	if (!(state->counter_count & (state->counter_count - 1))) {
		size_t room = state->counter_count ? state->counter_count * 2 : 1;

		counters = realloc(state->counters, room * sizeof(*counters));
		if (!counters)
			return false;
		state->counters = counters;
	}
	counters = &state->counters[state->counter_count++];
	memset(counters, 0, sizeof(*counters));
	snprintf(counters->subject, sizeof(counters->subject), "%s", subject);
	snprintf(counters->name, sizeof(counters->name), "%s", name);
	/* Files hold no larger number, and no counter gets that far. */
	counters->value = value > INT64_MAX ? INT64_MAX : value;
	counters->window = counters->value;
	counters->fault = fault;
	return true;
}

const struct osp_counter *osp_counter_find(const struct osp_node_state *state, const char *subject,
					   const char *name)
{
	for (size_t i = 0; i < state->counter_count; i++)
		if (strcmp(state->counters[i].name, name) == 0 &&
		    strcmp(state->counters[i].subject, subject) == 0)
			return &state->counters[i];
	return NULL;
}

bool osp_counter_growth(const struct osp_pass *pass, const char *subject, const char *name,
			uint64_t value, uint64_t *since_pass, uint64_t *since_window)
{
	const struct osp_counter *then = osp_counter_find(&pass->state, subject, name);

	if (!then || value < then->value || then->value < then->window)
		return false;
	if (since_pass)
		*since_pass = value - then->value;
	if (since_window)
		*since_window = value - then->window;
	return true;
}

void osp_pass_make(struct osp_pass *pass, const struct osp_pass *before, enum osp_depth depth,
		   struct osp_node_state *state)
{
	bool goes_on = before && *state->boot_id &&
		       strcmp(before->state.boot_id, state->boot_id) == 0 &&
		       state->uptime_s >= before->window_uptime_s &&
		       state->uptime_s - before->window_uptime_s < OSP_WINDOW_S;

	memset(pass, 0, sizeof(*pass));
	pass->depth = depth;
	pass->state = *state;
	memset(state, 0, sizeof(*state));
	pass->window_uptime_s = goes_on ? before->window_uptime_s : pass->state.uptime_s;
	for (size_t i = 0; i < pass->state.counter_count; i++) {
		struct osp_counter *counter = &pass->state.counters[i];
		const struct osp_counter *then =
			goes_on ? osp_counter_find(&before->state, counter->subject, counter->name)
				: NULL;

		counter->window =
			then && then->window <= counter->value ? then->window : counter->value;
	}
}

void osp_pass_clear(struct osp_pass *pass)
{
	osp_node_state_clear(&pass->state);
	memset(pass, 0, sizeof(*pass));
}

/* --- does it hold? ---------------------------------------------------------------------------- */

struct question {
	const struct osp_pass *pass;
	const struct osp_node_state *now;
	enum osp_depth depth;
	uint64_t live_s;
	char *words;
	size_t words_bytes;
};

static enum osp_freshness stale(const struct question *question, enum osp_freshness why,
				const char *words)
{
	if (question->words)
		snprintf(question->words, question->words_bytes, "%s", words);
	return why;
}

static bool has_gpu(const struct osp_node_state *state, const char *uuid)
{
	for (size_t i = 0; i < state->gpu_count; i++)
		if (strcmp(state->gpus[i], uuid) == 0)
			return true;
	return false;
}

/* Returns a GPU that did not pass, or NULL. A driver that has lost a GPU shows "GPU-????????-...",
 * and nobody knows which one that is. */
static const char *missing_gpu(const struct osp_node_state *passed,
			       const struct osp_node_state *now)
{
	if (now->whole && now->gpu_count != passed->gpu_count)
		return "another number of GPUs";
	for (size_t i = 0; i < now->gpu_count; i++)
		if (strchr(now->gpus[i], '?') || !has_gpu(passed, now->gpus[i]))
			return now->gpus[i];
	return NULL;
}

/* Returns whether a fault of this counter matters for the requested GPUs. */
static bool concerns(const struct question *question, const struct osp_counter *counter)
{
	return counter->fault && (!has_gpu(&question->pass->state, counter->subject) ||
				  has_gpu(question->now, counter->subject));
}

static enum osp_freshness judge_counters(const struct question *question)
{
	const struct osp_node_state *then = &question->pass->state;
	char words[160];

	for (size_t i = 0; i < then->counter_count; i++) {
		const struct osp_counter *old = &then->counters[i], *new;

		if (!concerns(question, old))
			continue;
		new = osp_counter_find(question->now, old->subject, old->name);
		if (new &&new->value == old->value)
			continue;
		if (new)
			snprintf(words, sizeof(words), "%s %s %llu -> %llu", old->subject,
				 old->name, (unsigned long long)old->value,
				 (unsigned long long)new->value);
		else
			snprintf(words, sizeof(words), "%s %s is not reported any more",
				 old->subject, old->name);
		return stale(question, OSP_STALE_COUNTER, words);
	}
	return OSP_FRESH;
}

static enum osp_freshness judge_log(const struct question *question)
{
	const struct osp_node_state *then = &question->pass->state, *now = question->now;

	if (!then->log_known || !now->log_known)
		return stale(question, OSP_STALE_LOG, "the kernel's records cannot be read");
	if (now->xids > then->log_next)
		return stale(question, OSP_STALE_XID, "an XID since");
	if (now->log_first > then->log_next || now->log_next < then->log_next)
		return stale(question, OSP_STALE_LOG, "records of the kernel since were lost");
	return OSP_FRESH;
}

static enum osp_freshness judge_node(const struct question *question)
{
	const struct osp_node_state *then = &question->pass->state, *now = question->now;
	const char *missing = missing_gpu(then, now);
	char words[160];

	if (!*now->boot_id || strcmp(then->boot_id, now->boot_id) != 0 ||
	    now->uptime_s < then->uptime_s)
		return stale(question, OSP_STALE_BOOT, "booted since");
	if (strcmp(then->driver, now->driver) != 0)
		return stale(question, OSP_STALE_DRIVER, "another driver since");
	if (strcmp(then->rules, now->rules) != 0)
		return stale(question, OSP_STALE_RULES, "other thresholds since");
	if (missing) {
		snprintf(words, sizeof(words), "not what passed: %s", missing);
		return stale(question, OSP_STALE_GPUS, words);
	}
	if (now->uptime_s - then->uptime_s >= question->live_s) {
		snprintf(words, sizeof(words), "passed %llu s ago",
			 (unsigned long long)(now->uptime_s - then->uptime_s));
		return stale(question, OSP_STALE_AGE, words);
	}
	return OSP_FRESH;
}

enum osp_freshness osp_fresh(const struct osp_pass *pass, const struct osp_node_state *now,
			     enum osp_depth depth, uint64_t live_s, char *words, size_t words_bytes)
{
	struct question question = {pass, now, depth, live_s, words, words_bytes};
	enum osp_freshness freshness;

	if (words && words_bytes)
		*words = '\0';
	if (!pass)
		return stale(&question, OSP_STALE_NONE, "no pass yet");
	if (pass->depth < depth)
		return stale(&question, OSP_STALE_DEPTH, "passed less deep");
	freshness = judge_node(&question);
	if (freshness == OSP_FRESH)
		freshness = judge_log(&question);
	return freshness == OSP_FRESH ? judge_counters(&question) : freshness;
}
