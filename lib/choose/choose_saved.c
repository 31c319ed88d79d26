/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * choose_saved.c - whom a gang preempts, as text that outlives the process
 */
#include "lib/choose/choose_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"

/* --- to text --------------------------------------------------------------------------------- */

static void add_domain(struct osp_text *text, const struct osp_topology *topology, uint32_t number)
{
	const struct osp_domain *domain;

	if (number == OSP_NO_DOMAIN)
		return;
	domain = osp_topology_domain(topology, number);
	osp_text_printf(text, " %s %s", osp_topology_level_name(topology, domain->level),
			domain->name);
}

char *osp_chooser_saved(const struct osp_chooser *chooser, uint32_t job)
{
	const struct osp_choose_memory *memory = NULL;
	struct osp_text text = OSP_TEXT_INIT;

	for (uint32_t i = 0; job && i < OSP_CHOOSE_MEMORY_MAX; i++) {
		if (chooser->memory[i].job == job)
			memory = &chooser->memory[i];
	}
	if (!memory || !memory->victim_count)
		return NULL;
	for (uint32_t i = 0; i < memory->victim_count; i++)
		osp_text_printf(&text, "%s%" PRIu32 "@%" PRId64, i ? "," : "",
				memory->victims[i].job, memory->victims[i].started_s);
	add_domain(&text, chooser->topology, memory->preempt_domain);
	return osp_text_take(&text);
}

/* --- from text ------------------------------------------------------------------------------- */

/* Reads a number at *text, and moves *text behind it. */
static bool read_number(const char **text, uint64_t most, uint64_t *number)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	*number = strtoull(*text, &end, 10);
	*text = end;
	return !errno && *number <= most;
}

static bool read_victim(const char **text, struct osp_victim *victim)
{
	uint64_t job, started_s;

	if (!read_number(text, UINT32_MAX, &job) || *(*text)++ != '@' ||
	    !read_number(text, INT64_MAX, &started_s))
		return false;
	*victim = (struct osp_victim){.job = (uint32_t)job, .started_s = (int64_t)started_s};
	return true;
}

static bool read_victims(const char **text, struct osp_choose_memory *memory)
{
	do {
		if (memory->victim_count == OSP_CHOOSE_VICTIMS_MAX ||
		    !read_victim(text, &memory->victims[memory->victim_count]))
			return false;
		memory->victim_count++;
	} while (**text == ',' && (*text)++);
	return !**text || **text == ' ';
}

/* Reads " LEVEL DOMAIN" or nothing. Returns OSP_NO_DOMAIN for a domain that is gone. */
static uint32_t read_domain(const char *text, const struct osp_topology *topology)
{
	size_t length = *text ? strcspn(text + 1, " ") : 0;
	char *level = length ? strndup(text + 1, length) : NULL;
	int number = level ? osp_topology_level(topology, level) : 0;

	free(level);
	text += length ? 1 + length : 0;
	return number < 1 || *text != ' '
		       ? OSP_NO_DOMAIN
		       : osp_topology_find_domain(topology, (uint32_t)number, text + 1);
}

void osp_chooser_restore(struct osp_chooser *chooser, uint32_t job, const char *saved)
{
	struct osp_choose_memory read = {.job = job}, *memory;

	if (!job || osp_choose_find_memory(chooser, job) || !read_victims(&saved, &read))
		return;
	read.preempt_domain = read_domain(saved, chooser->topology);
	memory = osp_choose_new_memory(chooser, job);
	read.used = memory->used;
	*memory = read;
}
