/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run_pardon.c - what made a speed slow and is no fault of its GPU */
#include "check/runner/run_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Heat excuses a slow speed only if it lowered the clocks for this part of the measurements, in
 * percent: that a count grows at all is usual, and a GPU a quarter slower has to be hot most of the
 * time. The counts grow in steps of 0.1 s. */
#define HOT_PERCENT 25

void osp_pardon_look(struct osp_runner *runner, struct osp_pardon_look *look)
{
	uint64_t now_ms = osp_now_ms(), until_ms = 0;

	if (runner->budget_end_ms)
		until_ms = now_ms < runner->budget_end_ms
				   ? now_ms + (runner->budget_end_ms - now_ms) / 2
				   : now_ms;
	memset(look, 0, sizeof(*look));
	if (runner->found)
		osp_units_look(runner->context, &look->units, until_ms);
	look->at_ms = osp_now_ms();
}

void osp_pardon_look_free(struct osp_pardon_look *look)
{
	free(look->units.units);
	memset(look, 0, sizeof(*look));
}

static const struct osp_unit *find_unit(const struct osp_pardon_look *look, const char *subject)
{
	for (size_t i = 0; i < look->units.count; i++)
		if (strcmp(look->units.units[i].subject, subject) == 0)
			return &look->units.units[i];
	return NULL;
}

/* Returns whether other programs use a GPU that the speed is about; of a check of all GPUs, any. */
static bool is_busy(const struct osp_pardon_look *look, enum osp_check_group group,
		    const struct osp_speed *speed)
{
	for (size_t i = 0; i < look->units.count; i++)
		if (look->units.units[i].busy &&
		    (group == OSP_GROUP_ALL_GPUS ||
		     strcmp(look->units.units[i].subject, speed->subject) == 0))
			return true;
	return false;
}

bool osp_pardon_first(struct osp_runner *runner, enum osp_check_group group,
		      const struct osp_pardon_look *look)
{
	bool slow = false;

	for (size_t i = 0; i < runner->run->count; i++) {
		struct osp_outcome *outcome = &runner->run->outcomes[i];

		if (outcome->check->group != group || !runner->rounds[i])
			continue;
		for (size_t n = 0; n < outcome->speed_count; n++) {
			struct osp_speed *speed = &outcome->speeds[n];

			if (!is_busy(look, group, speed))
				continue;
			speed->judged = false;
			snprintf(speed->doubt, sizeof(speed->doubt), "other programs use the GPU");
		}
		slow |= osp_speeds_judge(runner->context, outcome, runner->rounds[i]);
	}
	return slow;
}

/* Returns for how long a cause lowered the clocks between two looks, the one that did so longest.
 * Returns -1 if a count went back, because the driver was loaded again. */
static long long slowed_ms(const struct osp_unit *before, const struct osp_unit *after)
{
	long long most_ms = 0;

	for (int i = 0; i < OSP_SLOWED_COUNT; i++) {
		if (after->slowed_ms[i] < before->slowed_ms[i])
			return -1;
		if (after->slowed_ms[i] - before->slowed_ms[i] > (uint64_t)most_ms)
			most_ms = (long long)(after->slowed_ms[i] - before->slowed_ms[i]);
	}
	return most_ms;
}

/* Sets why a low speed of one GPU only warns, if there is a reason. */
static void excuse(const struct osp_pardon_look *before, const struct osp_pardon_look *after,
		   struct osp_speed *speed)
{
	const struct osp_unit *then = find_unit(before, speed->subject);
	const struct osp_unit *now = find_unit(after, speed->subject);
	uint64_t between_ms = after->at_ms - before->at_ms;
	long long hot_ms = then && now ? slowed_ms(then, now) : -1;

	if (now && *now->held)
		snprintf(speed->held, sizeof(speed->held), "%s", now->held);
	else if (hot_ms < 0)
		snprintf(speed->held, sizeof(speed->held), "NVML did not report if heat slowed it");
	else if ((uint64_t)hot_ms * 100 >= between_ms * HOT_PERCENT)
		snprintf(speed->held, sizeof(speed->held),
			 "heat or a power brake slowed it for %u of %u ms", (unsigned int)hot_ms,
			 (unsigned int)between_ms);
}

void osp_pardon_last(struct osp_runner *runner, enum osp_check_group group,
		     const struct osp_pardon_look *before, const struct osp_pardon_look *after)
{
	for (size_t i = 0; i < runner->run->count; i++) {
		struct osp_outcome *outcome = &runner->run->outcomes[i];

		if (outcome->check->group != group || !runner->found)
			continue;
		for (size_t n = 0; n < outcome->speed_count; n++) {
			struct osp_speed *speed = &outcome->speeds[n];

			if (*speed->held)
				continue;
			if (group == OSP_GROUP_EACH_GPU)
				excuse(before, after, speed);
			if (!*speed->held && is_busy(after, group, speed))
				snprintf(speed->held, sizeof(speed->held),
					 "other programs use the GPU");
		}
	}
}
