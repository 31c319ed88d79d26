/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run_speed.c - judges speeds once every GPU's is there (lib/health/speed.h decides) */
#include "check/run_private.h"

#include <stdio.h>
#include <string.h>

static const struct osp_limit *limit_of(const struct osp_check_context *context,
					enum osp_limit_id id, const struct osp_speed *speed)
{
	return id < OSP_LIMIT_COUNT ? osp_check_limit(context, id, speed->model) : NULL;
}

static struct osp_speed_sample sample_of(const struct osp_check_context *context,
					 const struct osp_speed *speed)
{
	const struct osp_limit *least = limit_of(context, speed->least, speed);
	const struct osp_limit *physics = limit_of(context, speed->physics, speed);
	struct osp_speed_sample sample = {
		.value = speed->value,
		.least = least ? (double)least->value : 0,
		.physics = physics ? (double)physics->value : 0,
		.judged = speed->judged,
	};

	return sample;
}

static unsigned int percent_below(const struct osp_check_context *context)
{
	const struct osp_limit *limit =
		osp_check_limit(context, OSP_LIMIT_BELOW_BEST_PERCENT, NULL);

	return limit ? (unsigned int)limit->value : 10;
}

/* Only GPUs of one model are each other's peers. */
static bool same_kind(const struct osp_speed *one, const struct osp_speed *other)
{
	return strcmp(one->what, other->what) == 0 && strcmp(one->model, other->model) == 0;
}

/* All of the kind of speed `first`. */
static void judge_kind(const struct osp_check_context *context, const struct osp_outcome *outcome,
		       size_t first, struct osp_speed_round *rounds)
{
	struct osp_speed_sample samples[OSP_RESULTS_MAX];
	enum osp_speed_verdict verdicts[OSP_RESULTS_MAX];
	size_t members[OSP_RESULTS_MAX], count = 0, peers = 0;
	double best;

	for (size_t i = first; i < outcome->speed_count; i++) {
		if (!same_kind(&outcome->speeds[first], &outcome->speeds[i]))
			continue;
		samples[count] = sample_of(context, &outcome->speeds[i]);
		members[count++] = i;
	}
	best = osp_speed_judge(samples, count, percent_below(context), verdicts);
	for (size_t i = 0; i < count; i++)
		if (samples[i].judged && verdicts[i] != OSP_SPEED_IMPOSSIBLE)
			peers++;
	for (size_t i = 0; i < count; i++) {
		struct osp_speed_round *round = &rounds[members[i]];

		round->rounds = 1;
		round->verdict = verdicts[i];
		round->best = best;
		round->peers = peers;
		round->slow = verdicts[i] >= OSP_SPEED_SLOW_PEERS;
	}
}

bool osp_speeds_judge(const struct osp_check_context *context, const struct osp_outcome *outcome,
		      struct osp_speed_round *rounds)
{
	bool slow = false;

	memset(rounds, 0, outcome->speed_count * sizeof(*rounds));
	for (size_t i = 0; i < outcome->speed_count; i++) {
		if (!rounds[i].rounds)
			judge_kind(context, outcome, i, rounds);
		slow = slow || rounds[i].slow;
	}
	return slow;
}

void osp_speeds_again(const struct osp_check_context *context, struct osp_outcome *outcome,
		      struct osp_speed_round *rounds, const struct osp_speed *speed)
{
	struct osp_speed_sample sample = sample_of(context, speed);

	for (size_t i = 0; i < outcome->speed_count; i++) {
		enum osp_speed_verdict verdict;

		if (!rounds[i].slow || !same_kind(&outcome->speeds[i], speed) ||
		    strcmp(outcome->speeds[i].subject, speed->subject) != 0)
			continue;
		verdict = osp_speed_judge_one(&sample, rounds[i].best, rounds[i].peers,
					      percent_below(context));
		rounds[i].rounds++;
		if (verdict >= OSP_SPEED_SLOW_PEERS) {
			rounds[i].slow++;
			rounds[i].verdict = verdict;
		}
		if (verdict != OSP_SPEED_IMPOSSIBLE)
			outcome->speeds[i].value = speed->value;
	}
}

/* --- as results ------------------------------------------------------------------------------- */

static void describe_slow(const struct osp_check_context *context, const struct osp_speed *speed,
			  const struct osp_speed_round *round, struct osp_result *result)
{
	const struct osp_limit *least = limit_of(context, speed->least, speed);

	if (round->verdict == OSP_SPEED_SLOW_LIMIT && least) {
		snprintf(result->limit, sizeof(result->limit), "< %lld", (long long)least->value);
		snprintf(result->source, sizeof(result->source), "%s", least->source);
		snprintf(result->why, sizeof(result->why), "slow in %u of %u measurements",
			 round->slow, round->rounds);
		return;
	}
	snprintf(result->limit, sizeof(result->limit), "< %.0f",
		 round->best * (100 - percent_below(context)) / 100);
	snprintf(result->source, sizeof(result->source), "%u %% below the best of this node",
		 percent_below(context));
	snprintf(result->why, sizeof(result->why),
		 "slow in %u of %u measurements; the best of %zu on this node is %.0f %s",
		 round->slow, round->rounds, round->peers, round->best, speed->unit);
}

static void describe(const struct osp_check_context *context, const struct osp_outcome *outcome,
		     const struct osp_speed *speed, const struct osp_speed_round *round,
		     struct osp_result *result)
{
	const struct osp_limit *physics = limit_of(context, speed->physics, speed);

	if (round->verdict == OSP_SPEED_IMPOSSIBLE) {
		result->verdict = OSP_VERDICT_ERROR;
		snprintf(result->why, sizeof(result->why),
			 "%s: %.0f %s cannot be%s%s: the measurement is broken", speed->what,
			 speed->value, speed->unit, physics ? ", by " : "",
			 physics ? physics->source : "");
	} else if (round->slow >= OSP_SPEED_SLOW) {
		result->verdict = OSP_VERDICT_FAIL;
		result->cure = outcome->check->slow_cure;
		describe_slow(context, speed, round, result);
	} else if (!speed->judged) {
		snprintf(result->why, sizeof(result->why),
			 "not judged: a part of a GPU, or other programs use it");
	} else if (round->verdict == OSP_SPEED_ALONE) {
		snprintf(result->why, sizeof(result->why),
			 "not judged: no limit is known of %.90s, and nothing here to compare "
			 "it with",
			 *speed->model ? speed->model : "this model");
	} else if (!limit_of(context, speed->least, speed)) {
		snprintf(result->why, sizeof(result->why),
			 "compared with the node's other GPUs alone: no limit is known");
	}
}

int osp_speeds_tell(const struct osp_check_context *context, struct osp_outcome *outcome,
		    const struct osp_speed_round *rounds, struct osp_error *error)
{
	for (size_t i = 0; i < outcome->speed_count; i++) {
		const struct osp_speed *speed = &outcome->speeds[i];
		struct osp_result result = {
			.verdict = OSP_VERDICT_PASS, .order = speed->order, .speed = true};

		snprintf(result.subject, sizeof(result.subject), "%s", speed->subject);
		snprintf(result.value, sizeof(result.value), "%.*f %s %s",
			 speed->value < 10 ? 1 : 0, speed->value, speed->unit, speed->what);
		describe(context, outcome, speed, &rounds[i], &result);
		if (osp_outcome_add(context, outcome, &result, error))
			return -1;
	}
	return 0;
}
