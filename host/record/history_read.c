/* SPDX-License-Identifier: GPL-2.0-or-later */
/* history_read.c - the runs that are kept, from the folders that policy names */
#include "host/record/history_read.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/record/history_file.h"
#include "host/record/history_line.h"
#include "host/output.h"

#define COMPLAINTS_MAX 5 /* further ones are counted */

static void complain(void *context, const char *file, uint64_t line, const char *why)
{
	struct osp_history_reading *reading = context;

	if (++reading->passed_over > COMPLAINTS_MAX)
		return;
	if (line)
		osp_say_warning("%s/%s:%llu: %s; passed over", reading->folder, file,
				(unsigned long long)line, why);
	else
		osp_say_warning("%s/%s: %s; passed over", reading->folder, file, why);
}

/* Returns whether a line is too old, without parsing it: its time is near the start. */
static bool too_old(const struct osp_history_reading *reading, const char *line)
{
	const char *at = reading->from_s ? strstr(line, "\"time_s\":") : NULL;

	return at && strtoll(at + strlen("\"time_s\":"), NULL, 10) < reading->from_s;
}

static int take_line(void *context, char *line, size_t length, const char *file, uint64_t number)
{
	struct osp_history_reading *reading = context;
	const char *why;
	int state;

	if (too_old(reading, line))
		return 0;
	state = osp_history_take_line(reading->history, line, length, &why);
	if (state < 0 && !why)
		return -1;
	if (state < 0)
		complain(reading, file, number, why);
	reading->runs += state > 0;
	return 0;
}

static int read_folder(struct osp_history_reading *reading, const char *folder,
		       struct osp_error *error)
{
	const struct osp_history_reader reader = {take_line, complain, reading};

	reading->folder = folder;
	return osp_history_read_folder(folder, &reader, error);
}

int osp_history_read(struct osp_history_reading *reading, const char *folder,
		     const struct osp_history_policy *policy, const char *root,
		     struct osp_error *error)
{
	char local[PATH_MAX];
	int state = 0;

	reading->history = osp_history_new();
	if (!reading->history)
		return osp_error_set(error, "out of memory");
	osp_progress_begin("reading the history");
	if (folder) {
		state = read_folder(reading, folder, error);
	} else {
		if (policy->folder) {
			snprintf(local, sizeof(local), "%s%s", root, policy->folder);
			state = read_folder(reading, local, error);
		}
		if (!state && policy->shared)
			state = read_folder(reading, policy->shared, error);
	}
	osp_progress_end();
	if (reading->passed_over > COMPLAINTS_MAX)
		osp_say_warning("%zu more passed over", reading->passed_over - COMPLAINTS_MAX);
	reading->folder = NULL;
	return state;
}
