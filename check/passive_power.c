/* SPDX-License-Identifier: GPL-2.0-or-later */
/* passive_power.c - what a GPU may draw, how fast it may run, and who is on it */
#include "check/passive.h"

#include <stdio.h>
#include <string.h>

#include "check/gpus.h"

#define POWER_MOST_MW 5000000u /* no GPU draws so much: a broken sensor */

/* --- power ------------------------------------------------------------------------------------ */

static bool judge_power_limit(struct osp_check_context *context, const struct osp_gpu *gpu)
{
	char value[OSP_WORD_BYTES], limit[OSP_WORD_BYTES];
	unsigned int now_mw, usual_mw;

	if (osp_nvml_power_limit(gpu->device, &now_mw) != OSP_NVML_OK ||
	    osp_nvml_power_limit_default(gpu->device, &usual_mw) != OSP_NVML_OK)
		return false;
	osp_tell_figure(context, gpu->subject, "power_limit_w", now_mw / 1000.0);
	if (now_mw >= usual_mw)
		return false;
	snprintf(value, sizeof(value), "limit %u W", now_mw / 1000);
	snprintf(limit, sizeof(limit), "< %u", usual_mw / 1000);
	osp_tell(context, OSP_VERDICT_WARN, OSP_CURE_ASK, gpu->subject, value, limit,
		 "the GPU's own default limit", "%s: its power is capped below what it is made for",
		 gpu->uuid);
	return true;
}

static void run_power(struct osp_check_context *context)
{
	unsigned int most_mw = 0;
	struct osp_gpus gpus;
	size_t lacking = 0;
	bool ill = false;

	if (!osp_gpus_open(context, &gpus))
		return;
	for (size_t i = 0; i < gpus.count; i++) {
		const struct osp_gpu *gpu = &gpus.gpus[i];
		unsigned int mw = 0;
		int state = gpu->state;

		if (state == OSP_NVML_OK)
			state = osp_nvml_power(gpu->device, &mw);
		if (!osp_gpu_value(context, gpu, state, "power", &lacking))
			continue;
		if (mw > POWER_MOST_MW) {
			osp_tell_error(context, gpu->subject, "%u W cannot be", mw / 1000);
			ill = true;
			continue;
		}
		osp_tell_figure(context, gpu->subject, "power_w", mw / 1000.0);
		ill |= judge_power_limit(context, gpu);
		most_mw = mw > most_mw ? mw : most_mw;
	}
	if (lacking == gpus.count)
		osp_tell_skip(context, "no GPU here tells its power");
	else if (!ill)
		osp_tell_pass(context, "%u W at most", most_mw / 1000);
}

const struct osp_check osp_check_power = {
	.name = "power",
	.group = OSP_GROUP_GPU,
	.worst = OSP_VERDICT_WARN,
	.deadline_ms = 3000,
	.measures = "no GPU's power is capped below its default",
	.explains = "What each GPU draws now, for the history, and its power limit against its "
		    "default. A slowdown by the power supply is told by throttle.",
	.cures = "nvidia-smi -pl with the default limit, unless the cap is meant.",
	.run = run_power,
};

/* --- clocks ----------------------------------------------------------------------------------- */

static const struct {
	int clock;
	const char *name;
} kinds[] = {{OSP_NVML_CLOCK_SM, "SM"}, {OSP_NVML_CLOCK_MEMORY, "memory"}};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

static bool tell_slow(struct osp_check_context *context, const struct osp_gpu *gpu,
		      const char *what, unsigned int mhz, unsigned int need, const char *source)
{
	char value[OSP_WORD_BYTES], limit[OSP_WORD_BYTES];

	snprintf(value, sizeof(value), "%s %u MHz", what, mhz);
	snprintf(limit, sizeof(limit), "< %u", need);
	osp_tell(context, OSP_VERDICT_WARN, OSP_CURE_ASK, gpu->subject, value, limit, source,
		 "%s: its %s clock is held at %u MHz", gpu->uuid, what, mhz);
	return true;
}

static bool judge_clocks(struct osp_check_context *context, const struct osp_gpu *gpu,
			 const unsigned int *most, const unsigned int *best)
{
	unsigned int chosen, usual;
	bool ill = false;

	for (size_t n = 0; n < KIND_COUNT; n++) {
		if (most[n] && most[n] < best[n])
			ill |= tell_slow(context, gpu, kinds[n].name, most[n], best[n],
					 "the other GPUs of this node");
		else if (osp_nvml_clock_chosen(gpu->device, kinds[n].clock, &chosen) ==
				 OSP_NVML_OK &&
			 osp_nvml_clock_default(gpu->device, kinds[n].clock, &usual) ==
				 OSP_NVML_OK &&
			 chosen < usual)
			ill |= tell_slow(context, gpu, kinds[n].name, chosen, usual,
					 "the GPU's own default");
	}
	return ill;
}

static void run_clocks(struct osp_check_context *context)
{
	unsigned int most[OSP_GPUS_MAX][KIND_COUNT] = {{0}}, best[KIND_COUNT] = {0};
	struct osp_gpus gpus;
	size_t lacking = 0;
	bool ill = false;

	if (!osp_gpus_open(context, &gpus))
		return;
	for (size_t i = 0; i < gpus.count; i++) {
		int state = gpus.gpus[i].state;

		for (size_t n = 0; n < KIND_COUNT && state == OSP_NVML_OK; n++) {
			state = osp_nvml_clock_most(gpus.gpus[i].device, kinds[n].clock,
						    &most[i][n]);
			if (state != OSP_NVML_OK)
				most[i][n] = 0;
			/* Only GPUs of one model compare. */
			if (strcmp(gpus.gpus[i].name, gpus.gpus[0].name) == 0 &&
			    most[i][n] > best[n])
				best[n] = most[i][n];
		}
		osp_gpu_value(context, &gpus.gpus[i], state, "clocks", &lacking);
	}
	for (size_t i = 0; i < gpus.count; i++) {
		static const unsigned int none[KIND_COUNT];
		bool same = strcmp(gpus.gpus[i].name, gpus.gpus[0].name) == 0;

		if (gpus.gpus[i].state == OSP_NVML_OK)
			ill |= judge_clocks(context, &gpus.gpus[i], most[i], same ? best : none);
	}
	if (lacking == gpus.count)
		osp_tell_skip(context, "no GPU here tells its clocks");
	else if (!ill)
		osp_tell_pass(context, "SM %u, memory %u MHz at most", best[0], best[1]);
}

const struct osp_check osp_check_clocks = {
	.name = "clocks",
	.group = OSP_GROUP_GPU,
	.worst = OSP_VERDICT_WARN,
	.deadline_ms = 3000,
	.measures = "no GPU's clocks are held below its default or below the node's others",
	.explains = "The highest clocks that each GPU may reach, against the node's other GPUs of "
		    "the model, and clocks chosen for programs against the default. Clocks of now "
		    "say nothing: an idle GPU runs slowly. What holds clocks down at the moment is "
		    "told by throttle.",
	.cures = "nvidia-smi -rac and -rgc set the defaults again.",
	.run = run_clocks,
};

/* --- leftovers -------------------------------------------------------------------------------- */

static void run_leftovers(struct osp_check_context *context)
{
	struct osp_gpus gpus;
	size_t lacking = 0;
	bool ill = false;

	if (!osp_gpus_open(context, &gpus))
		return;
	for (size_t i = 0; i < gpus.count; i++) {
		const struct osp_gpu *gpu = &gpus.gpus[i];
		unsigned int count = 0;
		char value[OSP_WORD_BYTES];
		int state = gpu->state;

		if (state == OSP_NVML_OK)
			state = osp_nvml_programs(gpu->device, &count, NULL);
		if (state == OSP_NVML_TOO_SMALL)
			state = OSP_NVML_OK;
		if (!osp_gpu_value(context, gpu, state, "programs", &lacking) || !count)
			continue;
		ill = true;
		snprintf(value, sizeof(value), "%u program%s", count, count == 1 ? "" : "s");
		osp_tell(context, OSP_VERDICT_WARN, OSP_CURE_ASK, gpu->subject, value, "> 0", NULL,
			 "%s: programs run on it: a job's, or left behind by one", gpu->uuid);
	}
	if (lacking == gpus.count)
		osp_tell_skip(context, "no GPU here tells who runs on it");
	else if (!ill)
		osp_tell_pass(context, "none");
}

const struct osp_check osp_check_leftovers = {
	.name = "leftovers",
	.group = OSP_GROUP_GPU,
	.worst = OSP_VERDICT_WARN,
	.deadline_ms = 3000,
	.measures = "no program runs on a GPU",
	.explains = "Before a job begins nobody should be on its GPUs; a program left behind holds "
		    "memory. It warns at most: users leave them, and while a job runs they are "
		    "its own.",
	.cures = "End what earlier jobs left (nvidia-smi names it; an Epilog can).",
	.run = run_leftovers,
};
