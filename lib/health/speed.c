/* SPDX-License-Identifier: GPL-2.0-or-later */
/* speed.c - judges a measured speed */
#include "lib/health/speed.h"

#include <stdlib.h>

static bool impossible(const struct osp_speed_sample *sample)
{
	/* written so that NaN is impossible too */
	if (!(sample->value > 0) || sample->value > 1e12)
		return true;
	return sample->physics > 0 &&
	       sample->value > sample->physics * (100 + OSP_SPEED_PHYSICS_PERCENT) / 100;
}

static bool is_below(double value, double median, unsigned int percent)
{
	return percent && value < median * (100 - percent) / 100;
}

enum osp_speed_verdict osp_speed_judge_one(const struct osp_speed_sample *sample,
					   const struct osp_speed_peers *peers,
					   const struct osp_speed_tolerance *tolerance)
{
	if (impossible(sample))
		return OSP_SPEED_IMPOSSIBLE;
	if (!sample->judged)
		return OSP_SPEED_ALONE;
	if (sample->least > 0 && sample->value < sample->least)
		return OSP_SPEED_SLOW_LIMIT;
	if (peers->count && (tolerance->behind || tolerance->far)) {
		if (is_below(sample->value, peers->median, tolerance->far))
			return OSP_SPEED_FAR_BEHIND;
		return is_below(sample->value, peers->median, tolerance->behind) ? OSP_SPEED_BEHIND
										 : OSP_SPEED_WELL;
	}
	return sample->least > 0 ? OSP_SPEED_WELL : OSP_SPEED_ALONE;
}

/* --- peers ------------------------------------------------------------------------------------ */

struct place {
	double value;
	int group;
	size_t index; /* of the sample */
};

static int compare_places(const void *one_pointer, const void *other_pointer)
{
	const struct place *one = one_pointer, *other = other_pointer;

	if (one->group != other->group)
		return one->group < other->group ? -1 : 1;
	return (one->value > other->value) - (one->value < other->value);
}

/* Returns the median of a sorted group without its member `without`. */
static double median_of_others(const struct place *group, size_t count, size_t without)
{
	size_t others = count - 1, high = others / 2, low = (others - 1) / 2;

	return (group[low + (low >= without)].value + group[high + (high >= without)].value) / 2;
}

static void find_peers(const struct osp_speed_sample *samples, size_t count,
		       struct osp_speed_peers *peers)
{
	struct place places[OSP_SPEED_SAMPLES_MAX];
	size_t placed = 0;

	for (size_t i = 0; i < count; i++) {
		peers[i] = (struct osp_speed_peers){.count = 0};
		if (samples[i].judged && samples[i].group != OSP_SPEED_NO_PEERS &&
		    !impossible(&samples[i]))
			places[placed++] = (struct place){samples[i].value, samples[i].group, i};
	}
	qsort(places, placed, sizeof(places[0]), compare_places);
	for (size_t first = 0, end; first < placed; first = end) {
		for (end = first; end < placed && places[end].group == places[first].group;)
			end++;
		for (size_t i = first; end - first > 1 && i < end; i++)
			peers[places[i].index] = (struct osp_speed_peers){
				median_of_others(&places[first], end - first, i - first),
				end - first - 1};
	}
}

void osp_speed_judge(const struct osp_speed_sample *samples, size_t count,
		     const struct osp_speed_tolerance *tolerance, enum osp_speed_verdict *verdicts,
		     struct osp_speed_peers *peers)
{
	size_t known = count < OSP_SPEED_SAMPLES_MAX ? count : OSP_SPEED_SAMPLES_MAX;

	find_peers(samples, known, peers);
	for (size_t i = 0; i < known; i++)
		verdicts[i] = osp_speed_judge_one(&samples[i], &peers[i], tolerance);
	for (size_t i = known; i < count; i++) {
		verdicts[i] = OSP_SPEED_ALONE;
		peers[i] = (struct osp_speed_peers){.count = 0};
	}
}

/* --- rounds ----------------------------------------------------------------------------------- */

void osp_speed_count(struct osp_speed_rounds *rounds, enum osp_speed_verdict verdict)
{
	if (!rounds->count++)
		rounds->worst = verdict;
	if (verdict < OSP_SPEED_BEHIND)
		return;
	rounds->slow++;
	rounds->failing += verdict > OSP_SPEED_BEHIND;
	if (verdict > rounds->worst)
		rounds->worst = verdict;
}

enum osp_speed_verdict osp_speed_conclude(const struct osp_speed_rounds *rounds)
{
	if (rounds->worst < OSP_SPEED_BEHIND || rounds->failing >= OSP_SPEED_SLOW)
		return rounds->worst;
	return rounds->slow >= OSP_SPEED_SLOW ? OSP_SPEED_BEHIND : OSP_SPEED_WELL;
}
