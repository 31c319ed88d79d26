/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_env.c - the "NAME=value" lists of a job request: environment[] and spank_job_env[] */
#include "sched/job_env.h"

#include <stdio.h>
#include <string.h>

#include <slurm/slurm.h>

#include "sched/slurm_exports.h"

static void *allocate(size_t count, size_t size)
{
	return slurm_xcalloc(count, size, true, true, __FILE__, __LINE__, __func__);
}

/* Returns how many strings there are; updates that carry no list may say NO_VAL. */
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

/* --- our variables ---------------------------------------------------------------------------- */

#define OURS "ONESPINE_"

static bool is_dropped(const char *entry, const char *const *dropped)
{
	for (; *dropped; dropped++)
		if (!strncmp(entry, *dropped, strlen(*dropped)))
			return true;
	return false;
}

/* Notes the value if the entry is an option's variable; the first of a name counts. */
static void note_value(const char *entry, struct osp_our_environment *ours)
{
	for (int id = 0; id < OSP_JOB_OPTION_COUNT; id++) {
		const char *name = osp_job_option((enum osp_job_option_id)id)->variable;
		size_t length = strlen(name);

		if (osp_job_option((enum osp_job_option_id)id)->whose != OSP_JOB_OPTION_OF_JOB ||
		    strncmp(entry, name, length) != 0 || entry[length] != '=')
			continue;
		if (ours->values[id])
			return;
		if (strnlen(entry + length + 1, OSP_ENVIRONMENT_VALUE_BYTES_MAX) ==
		    OSP_ENVIRONMENT_VALUE_BYTES_MAX)
			ours->too_long = name;
		else
			ours->values[id] = entry + length + 1;
		return;
	}
}

void osp_job_env_read(char **list, uint32_t *count, const char *const *dropped,
		      struct osp_our_environment *ours)
{
	uint32_t read, kept = 0;

	*ours = (struct osp_our_environment){.entries = usable_count(list, *count)};
	ours->cut = ours->entries > OSP_ENVIRONMENT_ENTRIES_MAX;
	read = ours->cut ? OSP_ENVIRONMENT_ENTRIES_MAX : ours->entries;
	for (uint32_t i = 0; i < read; i++) {
		if (list[i] && !strncmp(list[i], OURS, sizeof(OURS) - 1)) {
			if (is_dropped(list[i], dropped)) {
				slurm_xfree((void **)&list[i]);
				continue;
			}
			note_value(list[i], ours);
		}
		list[kept++] = list[i];
	}
	if (kept == read)
		return;
	memmove(&list[kept], &list[read], (ours->entries - read) * sizeof(*list));
	*count = kept + ours->entries - read;
	for (uint32_t i = *count; i < ours->entries; i++)
		list[i] = NULL;
}

/* --- more entries ----------------------------------------------------------------------------- */

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

static void say_too_large(const char *what, size_t most, const char *unit, char *sentence,
			  size_t sentence_bytes)
{
	snprintf(sentence, sentence_bytes,
		 "what its SPANK plugins and options give to Prolog and Epilog is too much: %s at "
		 "most %zu%s, for with more no Prolog could begin",
		 what, most, unit);
}

bool osp_job_env_fits_prolog(char *const *list, uint32_t count, char *sentence,
			     size_t sentence_bytes)
{
	size_t bytes = 0;

	count = usable_count(list, count);
	if (count > OSP_PROLOG_ENTRIES_MAX) {
		say_too_large("variables,", OSP_PROLOG_ENTRIES_MAX, "", sentence, sentence_bytes);
		return false;
	}
	for (uint32_t i = 0; i < count; i++) {
		size_t length = list[i] ? strnlen(list[i], OSP_PROLOG_ENTRY_BYTES_MAX) : 0;

		bytes += length;
		if (length == OSP_PROLOG_ENTRY_BYTES_MAX) {
			say_too_large("a variable has", OSP_PROLOG_ENTRY_BYTES_MAX / 1024, " KiB",
				      sentence, sentence_bytes);
			return false;
		}
	}
	if (bytes > OSP_PROLOG_BYTES_MAX)
		say_too_large("all together have", OSP_PROLOG_BYTES_MAX / 1024, " KiB", sentence,
			      sentence_bytes);
	return bytes <= OSP_PROLOG_BYTES_MAX;
}

char *osp_slurm_strdup(const char *string)
{
	size_t bytes = strlen(string) + 1;
	char *copy = allocate(1, bytes);

	return copy ? memcpy(copy, string, bytes) : NULL;
}
