/* SPDX-License-Identifier: GPL-2.0-or-later */
/* passive_memory.c - a GPU's own record of its memory: ECC errors, remapped rows, retired pages */
#include "check/passive/passive.h"

#include <stdio.h>

#include "check/base/counters.h"
#include "check/base/gpus.h"

/* Reports a count that is over its limit. Returns true if it is. */
static bool over(struct osp_check_context *context, const struct osp_gpu *gpu, uint64_t count,
		 const char *what, enum osp_limit_id id, enum osp_verdict verdict,
		 enum osp_cure cure)
{
	const struct osp_limit *limit = osp_check_limit(context, id, gpu->name);
	char value[OSP_WORD_BYTES], most[OSP_WORD_BYTES];

	if (!limit || count <= (uint64_t)limit->value)
		return false;
	snprintf(value, sizeof(value), "%llu %s", (unsigned long long)count, what);
	snprintf(most, sizeof(most), "> %lld", (long long)limit->value);
	osp_result_add(context, verdict, cure, gpu->subject, value, most, limit->source,
		       "%s: %s errors %llu", gpu->uuid, what, (unsigned long long)count);
	return true;
}

/* --- ECC -------------------------------------------------------------------------------------- */

/*
 * Returns whether the GPU can contain uncorrectable errors. From Ampere on most are contained: the
 * program that met one ends, its page is taken out of use, and the GPU "can be immediately used
 * again" (NVIDIA GPU Memory Error Management, "Recovery action flag"). From driver 570 on the
 * driver says whether that is so; the check `recovery` reports any other action that it asks for.
 */
static bool is_contained(const struct osp_gpu *gpu)
{
	struct osp_nvml_field action = {.id = OSP_NVML_RECOVERY_ACTION};
	int major = 0, minor = 0;

	return osp_nvml_capability(gpu->device, &major, &minor) == OSP_NVML_OK && major >= 8 &&
	       osp_nvml_fields(gpu->device, 1, &action) == OSP_NVML_OK &&
	       action.state == OSP_NVML_OK;
}

/* Judges uncorrectable errors of SRAM. From Ampere on the driver knows for which NVIDIA's own
 * diagnostic replaces a GPU, and says it to root alone (nvmlDeviceGetSramEccErrorStatus); where it
 * does not know, a count decides. */
static bool judge_sram(struct osp_check_context *context, const struct osp_gpu *gpu,
		       unsigned long long count)
{
	struct osp_nvml_sram sram = {.version = OSP_NVML_SRAM_VERSION};
	int state = osp_nvml_sram(gpu->device, &sram);
	bool known = state == OSP_NVML_OK || state == OSP_NVML_NO_PERMISSION;

	osp_result_figure(context, gpu->subject, "sram_uncorrected", (double)count);
	if (state == OSP_NVML_OK && sram.exceeded) {
		osp_result_add(
			context, OSP_VERDICT_FAIL, OSP_CURE_REPLACE, gpu->subject, "SRAM exceeded",
			NULL, "nvmlDeviceGetSramEccErrorStatus, the limit of the field diagnostic",
			"%s: %llu uncorrectable errors in SRAM, more than NVIDIA lets a GPU have",
			gpu->uuid, count);
		return true;
	}
	return over(context, gpu, count, "SRAM uncorrectable", OSP_LIMIT_SRAM_UNCORRECTED,
		    known ? OSP_VERDICT_WARN : OSP_VERDICT_FAIL,
		    known ? OSP_CURE_ASK : OSP_CURE_REPLACE);
}

static bool judge_ecc(struct osp_check_context *context, const struct osp_gpu *gpu, size_t *lacking,
		      void *data)
{
	uint64_t count;
	bool ill = false;

	(void)data;
	if (!osp_gpu_value(context, gpu, osp_gpu_counter_read(gpu, OSP_GPU_ECC_UNCORRECTED, &count),
			   "ECC errors", lacking))
		return false;
	osp_result_figure(context, gpu->subject, "ecc_uncorrected", (double)count);
	if (count)
		ill = over(context, gpu, count, "uncorrectable", OSP_LIMIT_ECC_UNCORRECTED,
			   is_contained(gpu) ? OSP_VERDICT_WARN : OSP_VERDICT_FAIL,
			   OSP_CURE_RESET_GPU);
	if (osp_gpu_counter_read(gpu, OSP_GPU_ECC_CORRECTED, &count) == OSP_NVML_OK) {
		osp_result_figure(context, gpu->subject, "ecc_corrected", (double)count);
		ill |= over(context, gpu, count, "correctable", OSP_LIMIT_ECC_CORRECTED,
			    OSP_VERDICT_WARN, OSP_CURE_REPLACE);
	}
	if (osp_gpu_counter_read(gpu, OSP_GPU_SRAM_UNCORRECTED, &count) == OSP_NVML_OK)
		ill |= judge_sram(context, gpu, count);
	return ill;
}

/* Runs `judge` over every GPU, and reports a PASS if all are healthy. */
static void over_gpus(struct osp_check_context *context, osp_gpu_judge *judge, const char *nothing)
{
	struct osp_gpus gpus;
	size_t well;

	if (!osp_gpus_open(context, &gpus))
		return;
	well = osp_gpus_judge(context, &gpus, judge, NULL, nothing);
	if (well)
		osp_result_pass(context, "%zu of %zu GPUs", well, gpus.count);
}

static void run_ecc(struct osp_check_context *context)
{
	over_gpus(context, judge_ecc, "no GPU here reports its ECC errors");
}

const struct osp_check osp_check_ecc = {
	.name = "ecc",
	.group = OSP_GROUP_GPU,
	.worst = OSP_VERDICT_FAIL,
	.deadline_ms = 3000,
	.measures = "memory errors: uncorrectable ones since the driver started, and in SRAM ever",
	.explains = "Uncorrectable errors since the driver was loaded fail the node; from Ampere "
		    "on and driver 570 on they warn, for most are contained and the driver itself "
		    "says, in the check recovery, when one asks for a reset. Correctable ones "
		    "warn above a limit. More uncorrectable errors in SRAM over the GPU's life "
		    "than NVIDIA's diagnostic allows fail it for good; where the driver does not "
		    "say, than the limit. It says so to root, from Ampere on: a user is warned. "
		    "GPUs without ECC are skipped.",
	.cures = "Reset the GPU; when errors come back, or for SRAM, replace it.",
	.run = run_ecc,
};

/* --- row remapping (A100 and later) ----------------------------------------------------------- */

static bool judge_remap(struct osp_check_context *context, const struct osp_gpu *gpu,
			size_t *lacking, void *data)
{
	struct osp_gpu_rows rows;

	(void)data;
	if (!osp_gpu_value(context, gpu, osp_gpu_rows_read(gpu, &rows), "remapped rows", lacking))
		return false;
	osp_result_figure(context, gpu->subject, "rows_remapped",
			  (double)rows.corrected + rows.uncorrected);
	if (rows.failed)
		osp_result_add(context, OSP_VERDICT_FAIL, OSP_CURE_REPLACE, gpu->subject, "failed",
			       NULL, "NVIDIA GPU memory error management",
			       "%s: a row could not be remapped", gpu->uuid);
	else if (rows.pending)
		osp_result_add(
			context, OSP_VERDICT_WARN, OSP_CURE_RESET_GPU, gpu->subject, "pending",
			NULL, "NVIDIA GPU memory error management",
			"%s: a row is remapped at the next reset; its page is out of use until "
			"then",
			gpu->uuid);
	else
		return over(context, gpu, rows.uncorrected, "rows", OSP_LIMIT_ROW_REMAPS,
			    OSP_VERDICT_FAIL, OSP_CURE_REPLACE);
	return true;
}

static void run_remap(struct osp_check_context *context)
{
	over_gpus(context, judge_remap, "no GPU here reports its remapped rows");
}

const struct osp_check osp_check_row_remap = {
	.name = "row-remap",
	.group = OSP_GROUP_GPU,
	.worst = OSP_VERDICT_FAIL,
	.deadline_ms = 3000,
	.measures = "no memory row waits to be remapped, and none could not be",
	.explains = "From the A100 on a GPU replaces bad rows of its memory by spare ones, at its "
		    "next reset. Pending warns: the page of the bad row is out of use, and a "
		    "pending remapping \"won't affect future work on the GPU\" (nvml.h). Failed "
		    "means that its spares are used up. Partitioned GPUs (MIG) do not report.",
	.cures = "Pending: reset the GPU when it is free. Failed: replace it.",
	.run = run_remap,
};

/* --- page retirement (before the A100) -------------------------------------------------------- */

static bool judge_pages(struct osp_check_context *context, const struct osp_gpu *gpu,
			size_t *lacking, void *data)
{
	uint64_t retired;
	int pending = 0;
	int state = osp_gpu_counter_read(gpu, OSP_GPU_PAGES_RETIRED, &retired);

	(void)data;
	if (!osp_gpu_value(context, gpu, state, "retired pages", lacking))
		return false;
	osp_result_figure(context, gpu->subject, "pages_retired", (double)retired);
	if (osp_nvml_retirement_pending(gpu->device, &pending) == OSP_NVML_OK && pending) {
		osp_result_add(context, OSP_VERDICT_FAIL, OSP_CURE_RESET_GPU, gpu->subject,
			       "pending", NULL, "NVIDIA dynamic page retirement",
			       "%s: a bad page is in use until the GPU is reset", gpu->uuid);
		return true;
	}
	return over(context, gpu, retired, "pages", OSP_LIMIT_RETIRED_PAGES, OSP_VERDICT_FAIL,
		    OSP_CURE_REPLACE) ||
	       over(context, gpu, retired, "pages", OSP_LIMIT_RETIRED_PAGES_WARN, OSP_VERDICT_WARN,
		    OSP_CURE_REPLACE);
}

static void run_pages(struct osp_check_context *context)
{
	over_gpus(context, judge_pages, "no GPU here reports its retired pages");
}

const struct osp_check osp_check_retired_pages = {
	.name = "retired-pages",
	.group = OSP_GROUP_GPU,
	.worst = OSP_VERDICT_FAIL,
	.deadline_ms = 3000,
	.measures = "no memory page waits to be retired, and few have been",
	.explains = "GPUs before the A100 take bad pages out of use, at their next reset. Later "
		    "ones remap rows instead and are skipped here.",
	.cures = "Pending: reset the GPU. Too many: replace it.",
	.run = run_pages,
};
