/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/health/speed.h"

static bool impossible(const struct osp_speed_sample *sample)
{
	/* written so that what is no number is impossible too */
	if (!(sample->value > 0) || sample->value > 1e12)
		return true;
	return sample->physics > 0 &&
	       sample->value > sample->physics * (100 + OSP_SPEED_PHYSICS_PERCENT) / 100;
}

enum osp_speed_verdict osp_speed_judge_one(const struct osp_speed_sample *sample, double best,
					   size_t peers, unsigned int percent)
{
	if (impossible(sample))
		return OSP_SPEED_IMPOSSIBLE;
	if (!sample->judged)
		return OSP_SPEED_ALONE;
	if (sample->least > 0 && sample->value < sample->least)
		return OSP_SPEED_SLOW_LIMIT;
	if (peers > 1)
		return sample->value < best * (100 - percent) / 100 ? OSP_SPEED_SLOW_PEERS
								    : OSP_SPEED_WELL;
	return sample->least > 0 ? OSP_SPEED_WELL : OSP_SPEED_ALONE;
}

static bool counts(const struct osp_speed_sample *sample)
{
	return sample->judged && !impossible(sample);
}

/* The best below `most`, and how many count. */
static double best_below(const struct osp_speed_sample *samples, size_t count, double most,
			 size_t *peers)
{
	double best = 0;

	*peers = 0;
	for (size_t i = 0; i < count; i++) {
		if (!counts(&samples[i]))
			continue;
		(*peers)++;
		if (samples[i].value > best && samples[i].value < most)
			best = samples[i].value;
	}
	return best;
}

static size_t count_slow(const struct osp_speed_sample *samples, size_t count, double best,
			 unsigned int percent)
{
	size_t slow = 0;

	for (size_t i = 0; i < count; i++)
		if (counts(&samples[i]) && samples[i].value < best * (100 - percent) / 100)
			slow++;
	return slow;
}

double osp_speed_judge(const struct osp_speed_sample *samples, size_t count, unsigned int percent,
		       enum osp_speed_verdict *verdicts)
{
	size_t peers;
	double best = best_below(samples, count, 1e13, &peers);

	while (count_slow(samples, count, best, percent) * 2 > peers)
		best = best_below(samples, count, best, &peers);
	for (size_t i = 0; i < count; i++)
		verdicts[i] = osp_speed_judge_one(&samples[i], best, peers, percent);
	return best;
}
