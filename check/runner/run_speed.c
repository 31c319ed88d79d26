/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run_speed.c - judges speeds once every GPU's is known (lib/health/speed.h decides) */
#include "check/runner/run_private.h"

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
		.group = speed->group,
	};

	return sample;
}

/* Returns the limit on how far a speed of this check may be behind its peers; with `far`, the limit
 * from which it fails. NULL: the speed is not compared. */
static const struct osp_limit *behind_limit(const struct osp_check_context *context,
					    const struct osp_outcome *outcome,
					    const struct osp_speed *speed, bool far)
{
	enum osp_limit_id behind = outcome->check->behind;
	const struct osp_limit *limit;

	if (!behind || behind >= OSP_LIMIT_COUNT)
		return NULL;
	limit = limit_of(context, far ? behind + 1 : behind, speed);
	return limit && limit->value ? limit : NULL;
}

static struct osp_speed_tolerance tolerance_of(const struct osp_check_context *context,
					       const struct osp_outcome *outcome,
					       const struct osp_speed *speed)
{
	const struct osp_limit *behind = behind_limit(context, outcome, speed, false);
	const struct osp_limit *far = behind_limit(context, outcome, speed, true);
	struct osp_speed_tolerance tolerance = {
		.behind = behind ? (unsigned int)behind->value : 0,
		.far = far ? (unsigned int)far->value : 0,
	};

	return tolerance;
}

/* Returns whether two speeds are of one kind: only GPUs of one model are peers. */
static bool same_kind(const struct osp_speed *one, const struct osp_speed *other)
{
	return strcmp(one->what, other->what) == 0 && strcmp(one->model, other->model) == 0;
}

/* Judges all speeds of the kind of `first`. */
static void judge_kind(const struct osp_check_context *context, const struct osp_outcome *outcome,
		       size_t first, struct osp_speed_round *rounds)
{
	struct osp_speed_tolerance tolerance =
		tolerance_of(context, outcome, &outcome->speeds[first]);
	struct osp_speed_sample samples[OSP_RESULTS_MAX];
	enum osp_speed_verdict verdicts[OSP_RESULTS_MAX];
	struct osp_speed_peers peers[OSP_RESULTS_MAX];
	size_t members[OSP_RESULTS_MAX], count = 0;

	for (size_t i = first; i < outcome->speed_count; i++) {
		if (!same_kind(&outcome->speeds[first], &outcome->speeds[i]))
			continue;
		samples[count] = sample_of(context, &outcome->speeds[i]);
		members[count++] = i;
	}
	osp_speed_judge(samples, count, &tolerance, verdicts, peers);
	for (size_t i = 0; i < count; i++) {
		struct osp_speed_round *round = &rounds[members[i]];

		osp_speed_count(&round->rounds, verdicts[i]);
		round->peers = peers[i];
	}
}

bool osp_speeds_judge(const struct osp_check_context *context, const struct osp_outcome *outcome,
		      struct osp_speed_round *rounds)
{
	bool slow = false;

	memset(rounds, 0, outcome->speed_count * sizeof(*rounds));
	for (size_t i = 0; i < outcome->speed_count; i++) {
		if (!rounds[i].rounds.count)
			judge_kind(context, outcome, i, rounds);
		slow = slow || osp_speed_is_slow(&rounds[i]);
	}
	return slow;
}

void osp_speeds_again(const struct osp_check_context *context, struct osp_outcome *outcome,
		      struct osp_speed_round *rounds, const struct osp_speed *speed)
{
	struct osp_speed_sample sample = sample_of(context, speed);

	for (size_t i = 0; i < outcome->speed_count; i++) {
		struct osp_speed_tolerance tolerance;
		enum osp_speed_verdict verdict;

		if (!osp_speed_is_slow(&rounds[i]) || !same_kind(&outcome->speeds[i], speed) ||
		    strcmp(outcome->speeds[i].subject, speed->subject) != 0)
			continue;
		tolerance = tolerance_of(context, outcome, speed);
		verdict = osp_speed_judge_one(&sample, &rounds[i].peers, &tolerance);
		osp_speed_count(&rounds[i].rounds, verdict);
		if (verdict != OSP_SPEED_IMPOSSIBLE)
			outcome->speeds[i].value = speed->value;
	}
}

/* --- as results ------------------------------------------------------------------------------- */

/* Describes a slow speed and the limit that it is below: the result's verdict, cure and words. */
static void describe_slow(const struct osp_check_context *context,
			  const struct osp_outcome *outcome, const struct osp_speed *speed,
			  const struct osp_speed_round *round, enum osp_speed_verdict concluded,
			  struct osp_result *result)
{
	bool by_model = concluded == OSP_SPEED_SLOW_LIMIT, fails = concluded > OSP_SPEED_BEHIND;
	const struct osp_limit *limit =
		by_model ? limit_of(context, speed->least, speed)
			 : behind_limit(context, outcome, speed, concluded == OSP_SPEED_FAR_BEHIND);
	double least = !limit	  ? 0
		       : by_model ? (double)limit->value
				  : round->peers.median * (100 - (double)limit->value) / 100;
	bool unproven = fails && limit && limit->unproven &&
			!osp_thresholds_unproven_fails(context->thresholds);
	bool alone = !*outcome->others, may_fail = fails && !unproven;
	bool doubted = by_model && *speed->doubt && limit && !limit->of_site &&
		       !osp_thresholds_unproven_fails(context->thresholds);

	fails = may_fail && alone && !*speed->held && !doubted;
	result->verdict = fails ? OSP_VERDICT_FAIL : OSP_VERDICT_WARN;
	result->cure = fails ? outcome->check->slow_cure : OSP_CURE_ASK;
	snprintf(result->limit, sizeof(result->limit), "< %.0f", least);
	if (by_model)
		snprintf(result->source, sizeof(result->source), "%s", limit ? limit->source : "");
	else
		snprintf(result->source, sizeof(result->source),
			 "%lld %% below the median of its peers on this node",
			 limit ? (long long)limit->value : 0);
	snprintf(result->why, sizeof(result->why), "slow in %u of %u measurements",
		 round->rounds.slow, round->rounds.count);
	if (!by_model)
		snprintf(result->why + strlen(result->why),
			 sizeof(result->why) - strlen(result->why),
			 "; the median of %zu others on this node is %.0f %s", round->peers.count,
			 round->peers.median, speed->unit);
	if (unproven)
		snprintf(result->why + strlen(result->why),
			 sizeof(result->why) - strlen(result->why),
			 "; this limit was never tried on this hardware and only warns "
			 "(unproven: warn)");
	else if (may_fail && !alone)
		snprintf(result->why + strlen(result->why),
			 sizeof(result->why) - strlen(result->why),
			 "; it only warns, for %s and may be why", outcome->others);
	else if (may_fail && (*speed->held || doubted))
		snprintf(result->why + strlen(result->why),
			 sizeof(result->why) - strlen(result->why), "; it only warns: %s",
			 *speed->held ? speed->held : speed->doubt);
}

static void describe(const struct osp_check_context *context, const struct osp_outcome *outcome,
		     const struct osp_speed *speed, const struct osp_speed_round *round,
		     struct osp_result *result)
{
	const struct osp_limit *physics = limit_of(context, speed->physics, speed);
	enum osp_speed_verdict concluded = osp_speed_conclude(&round->rounds);

	if (concluded == OSP_SPEED_IMPOSSIBLE) {
		result->verdict = OSP_VERDICT_ERROR;
		snprintf(result->why, sizeof(result->why),
			 "%s: %.0f %s cannot be%s%s: the measurement is broken", speed->what,
			 speed->value, speed->unit, physics ? ", by " : "",
			 physics ? physics->source : "");
	} else if (concluded >= OSP_SPEED_BEHIND) {
		describe_slow(context, outcome, speed, round, concluded, result);
	} else if (!speed->judged) {
		snprintf(result->why, sizeof(result->why), "not judged: %s", speed->doubt);
	} else if (concluded == OSP_SPEED_ALONE) {
		snprintf(result->why, sizeof(result->why),
			 "not judged: no limit is known of %.90s, and nothing here to compare "
			 "it with",
			 *speed->model ? speed->model : "this model");
	} else if (!limit_of(context, speed->least, speed)) {
		snprintf(result->why, sizeof(result->why),
			 "compared with the node's other GPUs alone: no limit is known");
	}
}

int osp_speeds_report(const struct osp_check_context *context, struct osp_outcome *outcome,
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
