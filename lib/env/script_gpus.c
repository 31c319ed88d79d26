/* SPDX-License-Identifier: GPL-2.0-or-later */
/* script_gpus.c - finds a CUDA_VISIBLE_DEVICES that leaves GPUs of the job idle */
#include "lib/env/script_shape_private.h"

#include <string.h>

#define DEVICES_MAX 128

/* What Slurm gives to a job may be less than the node. */
static const struct osp_condition whole_node = {.fact = OSP_FACT_PARTIAL_NODE,
						.text = "partial_node no"};

static const struct osp_rule idle_rule = {
	.id = "S16",
	.conditions = &whole_node,
	.condition_count = 1,
	.severity = OSP_SEVERITY_HARMFUL,
	.reason = "the job has more GPUs on a node, and its programs see none but these",
	.cure = "leave it unset, or ask for as many GPUs",
	.source = "https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#env-vars"};

/* Returns whether one of the words between commas before `at` is the same. */
static bool came_before(const char *list, const char *at, size_t length)
{
	while (list < at) {
		size_t one = strcspn(list, ",");

		if (one == length && !memcmp(list, at, length))
			return true;
		list += one + 1;
	}
	return false;
}

/* Returns how many GPUs the list names; 0: none, or it cannot be counted. */
static int count_devices(const char *list)
{
	int count = 0;
	size_t length;

	for (const char *at = list; *at; at += length + (at[length] == ',')) {
		length = strcspn(at, ",");
		if (!(length && strspn(at, "0123456789") == length) && strncmp(at, "GPU-", 4) != 0)
			return 0;
		count += !came_before(list, at, length);
		if (count > DEVICES_MAX)
			return 0;
	}
	return count;
}

/* Returns the script's only CUDA_VISIBLE_DEVICES, if each of its programs gets that; else NULL:
 * several share the GPUs among programs, and one that the shell makes is of a process. */
static const struct osp_setting *find_visible(const struct osp_script *script)
{
	const struct osp_setting *found = NULL;

	for (size_t i = 0; i < osp_script_count(script); i++) {
		const struct osp_setting *one = osp_script_at(script, i);

		if (strcmp(one->name, "CUDA_VISIBLE_DEVICES") != 0 || one->gone)
			continue;
		if (one->unexpanded || (found && strcmp(found->value, one->value) != 0))
			return NULL;
		if (!found)
			found = one;
	}
	return found && found->everywhere && !found->fallback ? found : NULL;
}

/* Returns the tasks of a node by sbatch's options, or -1. */
static long tasks_by_sbatch(const struct osp_judging *judging)
{
	long here = osp_option_number(osp_sbatch_option(judging->options, "ntasks-per-node"));
	long tasks = osp_option_number(osp_sbatch_option(judging->options, "ntasks"));
	long nodes = osp_option_number(osp_sbatch_option(judging->options, "nodes"));

	if (here > 0)
		return here;
	return nodes > 0 && tasks > 0 ? (tasks + nodes - 1) / nodes : -1;
}

/* Returns whether the job or a step asks Slurm for GPUs, or may. */
static bool asks_gpus(const struct osp_script_options *options)
{
	static const char *const requests[] = {"gres", "gpus", "gpus-per-node", "gpus-per-task",
					       NULL};

	for (size_t i = 0; i < options->count; i++) {
		if ((options->list[i].of == OSP_OPTION_OF_SBATCH ||
		     options->list[i].of == OSP_OPTION_OF_SRUN) &&
		    osp_shell_is_one_of(options->list[i].name, requests))
			return true;
	}
	return false;
}

int osp_shape_visible(const struct osp_judging *judging)
{
	const struct osp_setting *setting = find_visible(judging->script);
	const struct osp_fact *partial = &judging->facts->facts[OSP_FACT_PARTIAL_NODE];
	bool asks, whole;
	long gpus, devices;

	if (!setting || !(devices = count_devices(setting->value)))
		return 0;
	asks = asks_gpus(judging->options);
	/* Slurm sets the variable itself for the tasks of a step that has GPUs */
	if (asks && judging->options->starts_elsewhere && !setting->in_step)
		return 0;
	gpus = asks ? osp_shape_gpus(judging, 0, tasks_by_sbatch(judging))
		    : judging->facts->accelerators;
	if (gpus <= devices)
		return 0;
	whole = asks || osp_sbatch_option(judging->options, "exclusive") ||
		judging->several == OSP_YES;
	if (!whole && partial->known && partial->flag)
		return 0;
	return osp_shape_setting(judging, &idle_rule, setting,
				 whole || (partial->known && !partial->flag));
}
