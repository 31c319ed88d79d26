/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_gres.c - which GPUs a job or a node has, in Slurm's words for generic resources */
#include "lib/gate/gate_gres.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define GPU   "gpu"
#define COUNT "(CNT:"

/* Returns the item after the comma, "" at the end. */
static const char *next_item(const char *item)
{
	item += strcspn(item, ",");
	return item + (*item == ',');
}

/* Returns the GPUs of one item that is about GPUs. */
static uint32_t count_item(const char *item)
{
	const char *end = item + strcspn(item, ",("), *number = end;

	if (!strncmp(end, COUNT, sizeof(COUNT) - 1))
		return (uint32_t)strtoul(end + sizeof(COUNT) - 1, NULL, 10);
	while (number > item && number[-1] >= '0' && number[-1] <= '9')
		number--;
	return number > item && number[-1] == ':' ? (uint32_t)strtoul(number, NULL, 10) : 0;
}

/* Returns whether the item begins with this name, and not with a longer one. */
static bool is_about(const char *item, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(item, name, length) && strchr(":(=,", item[length]);
}

uint32_t osp_gate_gres_gpus(const char *gres)
{
	uint32_t gpus = 0;

	for (const char *item = gres; item && *item; item = next_item(item))
		if (is_about(item, GPU))
			gpus += count_item(item);
	return gpus;
}

bool osp_gate_gres_names_gpus(const char *tres)
{
	for (const char *item = tres; item && *item; item = next_item(item))
		if (is_about(item, "gres:" GPU) || is_about(item, "gres/" GPU))
			return true;
	return false;
}
