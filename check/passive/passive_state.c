/* SPDX-License-Identifier: GPL-2.0-or-later */
/* passive_state.c - a GPU's state now: recovery, clocks, heat, persistence */
#include "check/passive/passive.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "check/base/gpus.h"

/* --- recovery --------------------------------------------------------------------------------- */

static const struct {
	const char *words;
	enum osp_verdict verdict;
	enum osp_cure cure;
} recoveries[] = {
	{"none", OSP_VERDICT_PASS, OSP_CURE_NONE},
	{"GPU reset", OSP_VERDICT_FAIL, OSP_CURE_RESET_GPU},
	{"node reboot", OSP_VERDICT_FAIL, OSP_CURE_REBOOT},
	{"drain P2P", OSP_VERDICT_WARN, OSP_CURE_ASK},
	{"drain and reset", OSP_VERDICT_FAIL, OSP_CURE_RESET_GPU},
	{"recover IMEX domain", OSP_VERDICT_WARN, OSP_CURE_ASK},
};

#define RECOVERY_COUNT (sizeof(recoveries) / sizeof(recoveries[0]))

static bool judge_recovery(struct osp_check_context *context, const struct osp_gpu *gpu,
			   size_t *lacking, void *data)
{
	struct osp_nvml_field field = {.id = OSP_NVML_RECOVERY_ACTION};
	int state = osp_nvml_fields(gpu->device, 1, &field);
	unsigned int action;

	(void)data;
	if (state == OSP_NVML_OK)
		state = field.state;
	if (state == OSP_NVML_INVALID_ARGUMENT) /* a driver older than the field */
		state = OSP_NVML_NOT_SUPPORTED;
	if (!osp_gpu_value(context, gpu, state, "recovery action", lacking))
		return false;
	action = field.value.word;
	if (action == 0)
		return false;
	if (action >= RECOVERY_COUNT)
		osp_result_add(context, OSP_VERDICT_WARN, OSP_CURE_ASK, gpu->subject, "unknown",
			       NULL, NULL, "%s: the driver asks for an unknown recovery, %u",
			       gpu->uuid, action);
	else
		osp_result_add(context, recoveries[action].verdict, recoveries[action].cure,
			       gpu->subject, recoveries[action].words, NULL, "NVML field 230",
			       "%s: the driver asks for: %s", gpu->uuid, recoveries[action].words);
	return true;
}

static void run_recovery(struct osp_check_context *context)
{
	if (osp_gpus_each(context, judge_recovery, NULL, "this driver reports no recovery action"))
		osp_result_pass(context, "none needed");
}

const struct osp_check osp_check_recovery = {
	.name = "recovery",
	.group = OSP_GROUP_GPU,
	.worst = OSP_VERDICT_FAIL,
	.deadline_ms = 3000,
	.measures = "the driver asks for no reset and no reboot",
	.explains = "NVML's field 230: what the driver itself thinks must be done to use the GPU "
		    "again. From driver 570 on; older ones are skipped.",
	.cures = "Do what it asks: reset the GPU, or reboot the node.",
	.run = run_recovery,
};

/* --- throttle --------------------------------------------------------------------------------- */

#define SAMPLES 3
#define SAMPLES_MORE                                                                               \
	12 /* more samples if the first show a fault: nvml.h says that a change of clocks may show
	      as a slowdown */
#define SAMPLE_PAUSE_NS	 50000000L
#define PAUSE_MORE_NS	 100000000L
#define HARDWARE_REASONS (OSP_NVML_HW_SLOWDOWN | OSP_NVML_HW_THERMAL | OSP_NVML_HW_POWER_BRAKE)
#define ILL_REASONS	 (HARDWARE_REASONS | OSP_NVML_SW_THERMAL)

static const char *reason_words(unsigned long long reasons)
{
	if (reasons & OSP_NVML_HW_POWER_BRAKE)
		return "power brake";
	if (reasons & OSP_NVML_HW_THERMAL)
		return "hardware thermal slowdown";
	if (reasons & OSP_NVML_HW_SLOWDOWN)
		return "hardware slowdown";
	return "thermal slowdown";
}

struct samples {
	struct osp_gpus gpus;
	int states[OSP_GPUS_MAX];
	unsigned long long reasons[OSP_GPUS_MAX]; /* those that every sample has */
	unsigned int count;
};

static void sample_once(struct samples *samples)
{
	bool first = !samples->count++;
	unsigned long long now;

	for (size_t i = 0; i < samples->gpus.count; i++) {
		const struct osp_gpu *gpu = &samples->gpus.gpus[i];
		int *state = &samples->states[i];

		if (first)
			*state = gpu->state;
		if (*state == OSP_NVML_OK)
			*state = osp_nvml_clock_reasons(gpu->device, &now);
		if (*state == OSP_NVML_OK)
			samples->reasons[i] = first ? now : samples->reasons[i] & now;
	}
}

static bool any_held(const struct samples *samples)
{
	for (size_t i = 0; i < samples->gpus.count; i++)
		if (samples->states[i] == OSP_NVML_OK && samples->reasons[i] & ILL_REASONS)
			return true;
	return false;
}

/* Takes samples. Only reasons that every sample has count. */
static void sample_reasons(struct samples *samples)
{
	static const struct timespec pause = {.tv_nsec = SAMPLE_PAUSE_NS};
	static const struct timespec more = {.tv_nsec = PAUSE_MORE_NS};

	sample_once(samples);
	for (int n = 1; n < SAMPLES; n++) {
		nanosleep(&pause, NULL);
		sample_once(samples);
	}
	for (int n = 0; n < SAMPLES_MORE && any_held(samples); n++) {
		nanosleep(&more, NULL);
		sample_once(samples);
	}
}

static bool judge_throttle(struct osp_check_context *context, const struct osp_gpu *gpu,
			   size_t *lacking, void *data)
{
	const struct samples *samples = data;
	size_t i = (size_t)(gpu - samples->gpus.gpus);
	unsigned long long reasons = samples->reasons[i];
	bool hard = reasons & HARDWARE_REASONS;

	if (!osp_gpu_value(context, gpu, samples->states[i], "clock reasons", lacking) ||
	    !(reasons & ILL_REASONS))
		return false;
	osp_result_add(context, hard ? OSP_VERDICT_FAIL : OSP_VERDICT_WARN,
		       hard ? OSP_CURE_REPLACE : OSP_CURE_ASK, gpu->subject, reason_words(reasons),
		       NULL, "Azure cyclecloud-healthagent, mask 0xE8",
		       "%s: clocks are held down, in %u of %u samples", gpu->uuid, samples->count,
		       samples->count);
	return true;
}

static void run_throttle(struct osp_check_context *context)
{
	struct samples samples = {.states = {0}};

	if (!osp_gpus_open(context, &samples.gpus))
		return;
	sample_reasons(&samples);
	if (osp_gpus_judge(context, &samples.gpus, judge_throttle, &samples,
			   "no GPU here says why its clocks are held down"))
		osp_result_pass(context, "none");
}

const struct osp_check osp_check_throttle = {
	.name = "throttle",
	.group = OSP_GROUP_GPU,
	.worst = OSP_VERDICT_FAIL,
	.deadline_ms = 3000,
	.measures = "no GPU is slowed down by its hardware, by heat or by its power supply",
	.explains = "NVML's clock event reasons, three samples in a tenth of a second and, where "
		    "these show one, twelve in more than a second; only what all show counts. The "
		    "power cap of a working GPU is no fault. Slowdown by software for heat warns: "
		    "a job that has just ended may have left the GPU hot.",
	.cures = "Look at cooling and power supply; replace the node when it stays.",
	.run = run_throttle,
};

/* --- temperature ------------------------------------------------------------------------------ */

/* No GPU works at this temperature: the sensor is broken, not the GPU. */
#define CELSIUS_MOST 150

static bool judge_heat(struct osp_check_context *context, const struct osp_gpu *gpu,
		       unsigned int celsius)
{
	const struct osp_limit *limit =
		osp_check_limit(context, OSP_LIMIT_TEMPERATURE_C, gpu->name);
	char value[OSP_WORD_BYTES], most[OSP_WORD_BYTES];
	const char *source = NULL;
	unsigned int slowdown;

	snprintf(value, sizeof(value), "%u C", celsius);
	if (osp_nvml_temperature_limit(gpu->device, OSP_NVML_SLOWDOWN, &slowdown) == OSP_NVML_OK &&
	    slowdown && celsius >= slowdown) {
		snprintf(most, sizeof(most), ">= %u", slowdown);
		source = "the GPU's own slowdown temperature";
	} else if (limit && celsius > (uint64_t)limit->value) {
		snprintf(most, sizeof(most), "> %lld", (long long)limit->value);
		source = limit->source;
	}
	if (source)
		osp_result_add(context, OSP_VERDICT_WARN, OSP_CURE_ASK, gpu->subject, value, most,
			       source, "%s: hot", gpu->uuid);
	return source;
}

static bool judge_temperature(struct osp_check_context *context, const struct osp_gpu *gpu,
			      size_t *lacking, void *data)
{
	unsigned int *hottest = data, celsius = 0;
	int state = osp_nvml_temperature(gpu->device, OSP_NVML_SENSOR_GPU, &celsius);

	if (!osp_gpu_value(context, gpu, state, "temperature", lacking))
		return false;
	if (celsius > CELSIUS_MOST) {
		osp_result_error(context, gpu->subject, "%u C cannot be", celsius);
		return true;
	}
	osp_result_figure(context, gpu->subject, "temperature_c", celsius);
	*hottest = celsius > *hottest ? celsius : *hottest;
	return judge_heat(context, gpu, celsius);
}

static void run_temperature(struct osp_check_context *context)
{
	unsigned int hottest = 0;

	if (osp_gpus_each(context, judge_temperature, &hottest,
			  "no GPU here reports its temperature"))
		osp_result_pass(context, "%u C at most", hottest);
}

const struct osp_check osp_check_temperature = {
	.name = "temperature",
	.group = OSP_GROUP_GPU,
	.worst = OSP_VERDICT_WARN,
	.deadline_ms = 3000,
	.measures = "no GPU is near the heat at which it slows down",
	.explains = "The GPU's temperature against its own slowdown temperature and a limit. It "
		    "warns at most: a job that has just ended leaves a GPU hot.",
	.cures = "Look at cooling when it stays hot without a load.",
	.run = run_temperature,
};

/* --- persistence ------------------------------------------------------------------------------ */

static bool judge_persistence(struct osp_check_context *context, const struct osp_gpu *gpu,
			      size_t *lacking, void *data)
{
	int mode = 1;

	(void)data;
	if (!osp_gpu_value(context, gpu, osp_nvml_persistence(gpu->device, &mode),
			   "persistence mode", lacking) ||
	    mode)
		return false;
	osp_result_add(context, OSP_VERDICT_WARN, OSP_CURE_ASK, gpu->subject, "off", NULL, NULL,
		       "%s: without persistence each job starts the driver anew, seconds a GPU",
		       gpu->uuid);
	return true;
}

static void run_persistence(struct osp_check_context *context)
{
	if (osp_gpus_each(context, judge_persistence, NULL,
			  "no GPU here reports its persistence mode"))
		osp_result_pass(context, "on");
}

const struct osp_check osp_check_persistence = {
	.name = "persistence",
	.group = OSP_GROUP_GPU,
	.worst = OSP_VERDICT_WARN,
	.deadline_ms = 3000,
	.measures = "the driver stays loaded between jobs",
	.explains = "NVML's persistence mode. Without it the first program of each job waits "
		    "seconds for each GPU, and counters since the driver's start are lost.",
	.cures = "Start nvidia-persistenced at boot, or nvidia-smi -pm 1.",
	.run = run_persistence,
};
