/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sched/job_env.h"

#include <string.h>

#include <slurm/slurm.h>

#include "sched/slurm_exports.h"

static void *allocate(size_t count, size_t size)
{
	return slurm_xcalloc(count, size, true, true, __FILE__, __LINE__, __func__);
}

/* How many strings there are; updates that carry no list may say NO_VAL. */
static uint32_t usable_count(char *const *list, uint32_t count)
{
	return list && count != NO_VAL ? count : 0;
}

const char *osp_job_env_find(char *const *list, uint32_t count, const char *name)
{
	size_t length = strlen(name);

	count = usable_count(list, count);
	for (uint32_t i = 0; i < count; i++) {
		if (list[i] && !strncmp(list[i], name, length))
			return list[i] + length;
	}
	return NULL;
}

void osp_job_env_drop(char **list, uint32_t *count, const char *name)
{
	uint32_t old_count = usable_count(list, *count), kept = 0;
	size_t length = strlen(name);

	for (uint32_t i = 0; i < old_count; i++) {
		if (list[i] && !strncmp(list[i], name, length))
			slurm_xfree((void **)&list[i]);
		else
			list[kept++] = list[i];
	}
	for (uint32_t i = kept; i < old_count; i++)
		list[i] = NULL;
	if (kept < old_count)
		*count = kept;
}

int osp_job_env_append(char ***list, uint32_t *count, const char *name, const char *value)
{
	uint32_t old_count = usable_count(*list, *count);
	size_t name_bytes = strlen(name), value_bytes = strlen(value) + 1;
	char *entry = allocate(1, name_bytes + value_bytes);

	if (!entry)
		return -1;
	memcpy(entry, name, name_bytes);
	memcpy(entry + name_bytes, value, value_bytes);
	/* Slurm counts the entries by the NULL behind them. */
	if (!slurm_xrecalloc((void **)list, (size_t)old_count + 2, sizeof(**list), true, true,
			     __FILE__, __LINE__, __func__)) {
		slurm_xfree((void **)&entry);
		return -1;
	}
	(*list)[old_count] = entry;
	(*list)[old_count + 1] = NULL;
	*count = old_count + 1;
	return 0;
}

char *osp_slurm_strdup(const char *string)
{
	size_t bytes = strlen(string) + 1;
	char *copy = allocate(1, bytes);

	return copy ? memcpy(copy, string, bytes) : NULL;
}
