/* SPDX-License-Identifier: GPL-2.0-or-later */
/* passive_memory.c - what a GPU remembers of its memory: ECC errors, remapped rows, retired
 * pages */
#include "check/passive.h"

#include <stdio.h>

#include "check/gpus.h"

/* Tells a count that is over its limit; true when it is. */
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
	osp_tell(context, verdict, cure, gpu->subject, value, most, limit->source,
		 "%s: %s errors %llu", gpu->uuid, what, (unsigned long long)count);
	return true;
}

/* --- ECC -------------------------------------------------------------------------------------- */

static bool judge_ecc(struct osp_check_context *context, const struct osp_gpu *gpu, size_t *lacking,
		      void *data)
{
	unsigned long long count;
	bool ill = false;

	(void)data;
	if (!osp_gpu_value(context, gpu,
			   osp_nvml_ecc_errors(gpu->device, OSP_NVML_UNCORRECTED, OSP_NVML_VOLATILE,
					       &count),
			   "ECC errors", lacking))
		return false;
	osp_tell_figure(context, gpu->subject, "ecc_uncorrected", (double)count);
	ill = over(context, gpu, count, "uncorrectable", OSP_LIMIT_ECC_UNCORRECTED,
		   OSP_VERDICT_FAIL, OSP_CURE_RESET_GPU);
	if (osp_nvml_ecc_errors(gpu->device, OSP_NVML_CORRECTED, OSP_NVML_VOLATILE, &count) ==
	    OSP_NVML_OK) {
		osp_tell_figure(context, gpu->subject, "ecc_corrected", (double)count);
		ill |= over(context, gpu, count, "correctable", OSP_LIMIT_ECC_CORRECTED,
			    OSP_VERDICT_WARN, OSP_CURE_REPLACE);
	}
	if (osp_nvml_memory_errors(gpu->device, OSP_NVML_UNCORRECTED, OSP_NVML_AGGREGATE,
				   OSP_NVML_LOCATION_SRAM, &count) == OSP_NVML_OK) {
		osp_tell_figure(context, gpu->subject, "sram_uncorrected", (double)count);
		ill |= over(context, gpu, count, "SRAM uncorrectable", OSP_LIMIT_SRAM_UNCORRECTED,
			    OSP_VERDICT_FAIL, OSP_CURE_REPLACE);
	}
	return ill;
}

/* Runs `judge` over every GPU and sums up. */
static void over_gpus(struct osp_check_context *context, osp_gpu_judge *judge, const char *nothing)
{
	struct osp_gpus gpus;
	size_t well;

	if (!osp_gpus_open(context, &gpus))
		return;
	well = osp_gpus_judge(context, &gpus, judge, NULL, nothing);
	if (well)
		osp_tell_pass(context, "%zu of %zu GPUs", well, gpus.count);
}

static void run_ecc(struct osp_check_context *context)
{
	over_gpus(context, judge_ecc, "no GPU here tells its ECC errors");
}

const struct osp_check osp_check_ecc = {
	.name = "ecc",
	.group = OSP_GROUP_GPU,
	.worst = OSP_VERDICT_FAIL,
	.deadline_ms = 3000,
	.measures = "memory errors: uncorrectable ones since the driver started, and in SRAM ever",
	.explains = "Uncorrectable errors since the driver was loaded fail the node; correctable "
		    "ones warn "
		    "above a limit. More uncorrectable errors in SRAM over the GPU's life than the "
		    "limit "
		    "fail it for good. GPUs without ECC are skipped.",
	.cures = "Reset the GPU; when errors come back, or for SRAM, replace it.",
	.run = run_ecc,
};

/* --- row remapping (A100 and later) ----------------------------------------------------------- */

static bool judge_remap(struct osp_check_context *context, const struct osp_gpu *gpu,
			size_t *lacking, void *data)
{
	unsigned int corrected, uncorrected, pending, failed;

	(void)data;
	if (!osp_gpu_value(context, gpu,
			   osp_nvml_remapped_rows(gpu->device, &corrected, &uncorrected, &pending,
						  &failed),
			   "remapped rows", lacking))
		return false;
	osp_tell_figure(context, gpu->subject, "rows_remapped", (double)corrected + uncorrected);
	if (failed)
		osp_tell(context, OSP_VERDICT_FAIL, OSP_CURE_REPLACE, gpu->subject, "failed", NULL,
			 "NVIDIA GPU memory error management", "%s: a row could not be remapped",
			 gpu->uuid);
	else if (pending)
		osp_tell(context, OSP_VERDICT_FAIL, OSP_CURE_RESET_GPU, gpu->subject, "pending",
			 NULL, "NVIDIA GPU memory error management",
			 "%s: a bad row is in use until the GPU is reset", gpu->uuid);
	else
		return over(context, gpu, uncorrected, "rows", OSP_LIMIT_ROW_REMAPS,
			    OSP_VERDICT_FAIL, OSP_CURE_REPLACE);
	return true;
}

static void run_remap(struct osp_check_context *context)
{
	over_gpus(context, judge_remap, "no GPU here tells its remapped rows");
}

const struct osp_check osp_check_row_remap = {
	.name = "row-remap",
	.group = OSP_GROUP_GPU,
	.worst = OSP_VERDICT_FAIL,
	.deadline_ms = 3000,
	.measures = "no memory row waits to be remapped, and none could not be",
	.explains = "From the A100 on a GPU replaces bad rows of its memory by spare ones, at its "
		    "next reset. "
		    "Pending means that a bad row is still in use; failed, that its spares are "
		    "used up.",
	.cures = "Pending: reset the GPU. Failed: replace it.",
	.run = run_remap,
};

/* --- page retirement (before the A100) -------------------------------------------------------- */

static bool judge_pages(struct osp_check_context *context, const struct osp_gpu *gpu,
			size_t *lacking, void *data)
{
	unsigned long long pages[128];
	unsigned int single = sizeof(pages) / sizeof(pages[0]), twice = single;
	int pending = 0;
	int state = osp_nvml_retired_pages(gpu->device, 0, &single, pages);

	(void)data;
	if (!osp_gpu_value(context, gpu, state, "retired pages", lacking))
		return false;
	if (osp_nvml_retired_pages(gpu->device, 1, &twice, pages) != OSP_NVML_OK)
		twice = 0;
	osp_tell_figure(context, gpu->subject, "pages_retired", (double)single + twice);
	if (osp_nvml_retirement_pending(gpu->device, &pending) == OSP_NVML_OK && pending) {
		osp_tell(context, OSP_VERDICT_FAIL, OSP_CURE_RESET_GPU, gpu->subject, "pending",
			 NULL, "NVIDIA dynamic page retirement",
			 "%s: a bad page is in use until the GPU is reset", gpu->uuid);
		return true;
	}
	return over(context, gpu, (uint64_t)single + twice, "pages", OSP_LIMIT_RETIRED_PAGES,
		    OSP_VERDICT_FAIL, OSP_CURE_REPLACE) ||
	       over(context, gpu, (uint64_t)single + twice, "pages", OSP_LIMIT_RETIRED_PAGES_WARN,
		    OSP_VERDICT_WARN, OSP_CURE_REPLACE);
}

static void run_pages(struct osp_check_context *context)
{
	over_gpus(context, judge_pages, "no GPU here tells its retired pages");
}

const struct osp_check osp_check_retired_pages = {
	.name = "retired-pages",
	.group = OSP_GROUP_GPU,
	.worst = OSP_VERDICT_FAIL,
	.deadline_ms = 3000,
	.measures = "no memory page waits to be retired, and few have been",
	.explains = "GPUs before the A100 take bad pages out of use, at their next reset. Later "
		    "ones remap "
		    "rows instead and are skipped here.",
	.cures = "Pending: reset the GPU. Too many: replace it.",
	.run = run_pages,
};
