/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run_start.c - wakes the GPUs before checks ask them, so that a late one does not look broken */
#include "check/runner/run_private.h"

#include <stdio.h>
#include <string.h>

#include "check/base/gpus.h"

/* GPUs that are awake are open by then, so all groups of checks begin together. */
#define SOON_MS	      500
#define BUDGET_END_MS 200 /* kept of a budget to report that a GPU is late */

static bool asks_gpus(const struct osp_runner *runner)
{
	for (size_t i = 0; i < runner->run->count; i++) {
		enum osp_check_group group = runner->run->outcomes[i].check->group;

		if (group == OSP_GROUP_GPU || group == OSP_GROUP_EACH_GPU ||
		    group == OSP_GROUP_ALL_GPUS)
			return true;
	}
	return false;
}

void osp_start_begin(struct osp_runner *runner)
{
	struct osp_start *start = &runner->start;
	uint64_t end_ms = runner->budget_end_ms > BUDGET_END_MS
				  ? runner->budget_end_ms - BUDGET_END_MS
				  : runner->budget_end_ms;

	start->settled = true;
	if (runner->context->units || !asks_gpus(runner))
		return;
	osp_pci_gpus(runner->context, &start->gpus);
	if (!start->gpus.count)
		return;
	osp_gpu_starts_read(runner->context->root, &start->starts);
	osp_awake_begin(&start->awake, runner->context, start->gpus.count);
	if (end_ms && end_ms < start->awake.until_ms)
		start->awake.until_ms = end_ms;
	start->settled = false;
}

static struct osp_gpu_start *start_of(struct osp_start *start, size_t gpu)
{
	char subject[32];

	if (gpu >= start->gpus.count)
		return NULL;
	snprintf(subject, sizeof(subject), "gpu%zu", gpu);
	return osp_gpu_starts_of(&start->starts, start->gpus.gpus[gpu].address, subject);
}

/* Returns whether persistence is on for the GPU. It is the same for all GPUs of a node, unless
 * somebody took pains. */
static bool is_persistent(struct osp_start *start, size_t gpu)
{
	const struct osp_gpu_start *known = start_of(start, gpu);
	bool any = false;

	for (size_t i = 0; i < start->awake.opened; i++)
		any = any || start->awake.persistent[i] == 1;
	return any || (known && known->persistent);
}

/* Notes each GPU's persistence. NVML's numbers are the bus's, unless the driver does not know a
 * GPU. */
static void keep_persistence(struct osp_start *start)
{
	if (start->awake.count != start->gpus.count)
		return;
	for (size_t i = 0; i < start->awake.opened; i++) {
		struct osp_gpu_start *known = start_of(start, i);

		if (known && start->awake.persistent[i] >= 0)
			known->persistent = start->awake.persistent[i] == 1;
	}
}

/* Judges a late GPU. With persistence on it was awake before, so the checks ask it too, and a hang
 * counts. */
static void judge_late(struct osp_start *start)
{
	struct osp_gpu_start *known = start_of(start, start->awake.opened);

	if (is_persistent(start, start->awake.opened))
		return;
	start->asleep = true;
	if (known)
		known->late++;
}

bool osp_start_wait(struct osp_runner *runner, bool soon)
{
	struct osp_start *start = &runner->start;
	enum osp_awake_state state;

	if (start->settled)
		return true;
	state = osp_awake_wait(&start->awake, soon ? osp_now_ms() + SOON_MS : UINT64_MAX);
	if (state == OSP_AWAKE_STARTING)
		return false;
	start->settled = true;
	runner->run->start_ms = start->awake.took_ms;
	keep_persistence(start);
	if (state == OSP_AWAKE_LATE)
		judge_late(start);
	if (state == OSP_AWAKE_HUNG)
		start->unsure = !is_persistent(start, 0);
	if (runner->context->keep)
		osp_gpu_starts_write(runner->context->root, &start->starts);
	return true;
}

void osp_start_end(struct osp_runner *runner)
{
	osp_awake_end(&runner->start.awake);
}

/* Returns the check that reports it: "gpus", or the first that asks NVML if only others were asked
 * for. */
static size_t reporter(const struct osp_runner *runner)
{
	size_t first = runner->run->count;

	for (size_t i = runner->run->count; i-- > 0;) {
		const struct osp_check *check = runner->run->outcomes[i].check;

		if (strcmp(check->name, "gpus") == 0)
			return i;
		if (check->group == OSP_GROUP_GPU)
			first = i;
	}
	return first;
}

static int report_late(struct osp_runner *runner, struct osp_outcome *outcome)
{
	const struct osp_start *start = &runner->start;
	const struct osp_gpu_start *known = start_of(&runner->start, start->awake.opened);
	unsigned int late = known ? known->late : 1;
	struct osp_result result = {.verdict = late > OSP_LATE_STARTS ? OSP_VERDICT_WARN
								      : OSP_VERDICT_ERROR,
				    .cure = OSP_CURE_ASK};

	snprintf(result.subject, sizeof(result.subject), "gpu%zu", start->awake.opened);
	snprintf(result.value, sizeof(result.value), "starts late");
	snprintf(result.why, sizeof(result.why),
		 "not started after %u ms, for the %u%s time since boot; without persistence the "
		 "driver starts it anew for every program, so it may be slow and well",
		 start->awake.took_ms, late,
		 late == 1   ? "st"
		 : late == 2 ? "nd"
		 : late == 3 ? "rd"
			     : "th");
	return osp_outcome_add(runner->context, outcome, &result, runner->error);
}

int osp_start_report(struct osp_runner *runner)
{
	size_t reports = reporter(runner);

	for (size_t i = 0; i < runner->run->count; i++) {
		struct osp_outcome *outcome = &runner->run->outcomes[i];

		if (outcome->check->group != OSP_GROUP_GPU)
			continue;
		if (i == reports
			    ? report_late(runner, outcome)
			    : osp_outcome_own(runner->context, outcome, OSP_VERDICT_SKIP,
					      OSP_CURE_NONE, NULL, 0, "",
					      "a GPU is late to start, and this needs them all",
					      runner->error))
			return -1;
	}
	return 0;
}
