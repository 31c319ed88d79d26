/* SPDX-License-Identifier: GPL-2.0-or-later */
/* passive_power.c - a GPU's power, its highest clocks, and the programs on it */
#include "check/passive/passive.h"

#include <stdio.h>
#include <string.h>

#include "check/base/gpus.h"
#include "lib/base/text.h"

#define POWER_MOST_MW 5000000u /* no GPU draws more: a broken sensor */

/* --- power ------------------------------------------------------------------------------------ */

static bool judge_power_limit(struct osp_check_context *context, const struct osp_gpu *gpu)
{
	char value[OSP_WORD_BYTES], limit[OSP_WORD_BYTES];
	unsigned int now_mw, usual_mw;

	if (osp_nvml_power_limit(gpu->device, &now_mw) != OSP_NVML_OK ||
	    osp_nvml_power_limit_default(gpu->device, &usual_mw) != OSP_NVML_OK)
		return false;
	osp_result_figure(context, gpu->subject, "power_limit_w", now_mw / 1000.0);
	if (now_mw >= usual_mw)
		return false;
	snprintf(value, sizeof(value), "limit %u W", now_mw / 1000);
	snprintf(limit, sizeof(limit), "< %u", usual_mw / 1000);
	osp_result_add(context, OSP_VERDICT_WARN, OSP_CURE_ASK, gpu->subject, value, limit,
		       "the GPU's own default limit",
		       "%s: its power is capped below what it is made for", gpu->uuid);
	return true;
}

static bool judge_power(struct osp_check_context *context, const struct osp_gpu *gpu,
			size_t *lacking, void *data)
{
	unsigned int *most_mw = data, mw = 0;

	if (!osp_gpu_value(context, gpu, osp_nvml_power(gpu->device, &mw), "power", lacking))
		return false;
	if (mw > POWER_MOST_MW) {
		osp_result_error(context, gpu->subject, "%u W cannot be", mw / 1000);
		return true;
	}
	osp_result_figure(context, gpu->subject, "power_w", mw / 1000.0);
	*most_mw = mw > *most_mw ? mw : *most_mw;
	return judge_power_limit(context, gpu);
}

static void run_power(struct osp_check_context *context)
{
	unsigned int most_mw = 0;

	if (osp_gpus_each(context, judge_power, &most_mw, "no GPU here reports its power"))
		osp_result_pass(context, "%u W at most", most_mw / 1000);
}

const struct osp_check osp_check_power = {
	.name = "power",
	.group = OSP_GROUP_GPU,
	.worst = OSP_VERDICT_WARN,
	.deadline_ms = 3000,
	.measures = "no GPU's power is capped below its default",
	.explains = "Reads the power that each GPU draws now, for the history, and compares its "
		    "power limit with its default. A slowdown by the power supply is reported by "
		    "throttle.",
	.cures = "nvidia-smi -pl with the default limit, unless the cap is meant.",
	.run = run_power,
};

/* --- clocks ----------------------------------------------------------------------------------- */

static const struct {
	int clock;
	const char *name;
} kinds[] = {{OSP_NVML_CLOCK_SM, "SM"}, {OSP_NVML_CLOCK_MEMORY, "memory"}};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

static bool report_slow(struct osp_check_context *context, const struct osp_gpu *gpu,
			const char *what, unsigned int mhz, unsigned int need, const char *source)
{
	char value[OSP_WORD_BYTES], limit[OSP_WORD_BYTES];

	snprintf(value, sizeof(value), "%s %u MHz", what, mhz);
	snprintf(limit, sizeof(limit), "< %u", need);
	osp_result_add(context, OSP_VERDICT_WARN, OSP_CURE_ASK, gpu->subject, value, limit, source,
		       "%s: its %s clock is held at %u MHz", gpu->uuid, what, mhz);
	return true;
}

/* The highest clocks of each GPU, to compare with those of the node's first model. */
struct clocks {
	struct osp_gpus gpus;
	int states[OSP_GPUS_MAX];
	unsigned int most[OSP_GPUS_MAX][KIND_COUNT]; /* 0: unknown */
	unsigned int best[KIND_COUNT];
};

/* Returns whether the GPU can be compared with the first: only GPUs of one model can. */
static bool compares(const struct clocks *clocks, size_t gpu)
{
	return strcmp(clocks->gpus.gpus[gpu].name, clocks->gpus.gpus[0].name) == 0;
}

static void read_clocks(struct clocks *clocks)
{
	for (size_t i = 0; i < clocks->gpus.count; i++) {
		const struct osp_gpu *gpu = &clocks->gpus.gpus[i];

		clocks->states[i] = gpu->state;
		for (size_t n = 0; n < KIND_COUNT && clocks->states[i] == OSP_NVML_OK; n++) {
			unsigned int mhz = 0;

			clocks->states[i] = osp_nvml_clock_most(gpu->device, kinds[n].clock, &mhz);
			if (clocks->states[i] == OSP_NVML_OK)
				clocks->most[i][n] = mhz;
			if (compares(clocks, i) && clocks->most[i][n] > clocks->best[n])
				clocks->best[n] = clocks->most[i][n];
		}
	}
}

static bool judge_clocks(struct osp_check_context *context, const struct osp_gpu *gpu,
			 size_t *lacking, void *data)
{
	const struct clocks *clocks = data;
	size_t i = (size_t)(gpu - clocks->gpus.gpus);
	const unsigned int *most = clocks->most[i];
	unsigned int chosen, usual;
	bool ill = false;

	osp_gpu_value(context, gpu, clocks->states[i], "clocks", lacking);
	for (size_t n = 0; n < KIND_COUNT; n++) {
		if (most[n] && compares(clocks, i) && most[n] < clocks->best[n])
			ill |= report_slow(context, gpu, kinds[n].name, most[n], clocks->best[n],
					   "the other GPUs of this node");
		else if (osp_nvml_clock_chosen(gpu->device, kinds[n].clock, &chosen) ==
				 OSP_NVML_OK &&
			 osp_nvml_clock_default(gpu->device, kinds[n].clock, &usual) ==
				 OSP_NVML_OK &&
			 chosen < usual)
			ill |= report_slow(context, gpu, kinds[n].name, chosen, usual,
					   "the GPU's own default");
	}
	return ill;
}

static void run_clocks(struct osp_check_context *context)
{
	struct clocks clocks = {.best = {0}};

	if (!osp_gpus_open(context, &clocks.gpus))
		return;
	read_clocks(&clocks);
	if (osp_gpus_judge(context, &clocks.gpus, judge_clocks, &clocks,
			   "no GPU here reports its clocks"))
		osp_result_pass(context, "SM %u, memory %u MHz at most", clocks.best[0],
				clocks.best[1]);
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
		    "reported by throttle.",
	.cures = "nvidia-smi -rac and -rgc set the defaults again.",
	.run = run_clocks,
};

/* --- leftovers -------------------------------------------------------------------------------- */

static bool judge_leftovers(struct osp_check_context *context, const struct osp_gpu *gpu,
			    size_t *lacking, void *data)
{
	char value[OSP_WORD_BYTES];
	unsigned int count = 0;
	int state = osp_nvml_programs(gpu->device, &count, NULL);

	(void)data;
	if (state == OSP_NVML_TOO_SMALL)
		state = OSP_NVML_OK;
	if (!osp_gpu_value(context, gpu, state, "programs", lacking) || !count)
		return false;
	snprintf(value, sizeof(value), "%u program%s", count, osp_plural_s(count));
	osp_result_add(context, OSP_VERDICT_WARN, OSP_CURE_ASK, gpu->subject, value, "> 0", NULL,
		       "%s: programs run on it: a job's, or left behind by one", gpu->uuid);
	return true;
}

static void run_leftovers(struct osp_check_context *context)
{
	if (osp_gpus_each(context, judge_leftovers, NULL, "no GPU here reports the programs on it"))
		osp_result_pass(context, "none");
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
