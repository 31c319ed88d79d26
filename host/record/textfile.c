/* SPDX-License-Identifier: GPL-2.0-or-later */
/* textfile.c - the last run as Prometheus reads it, for node_exporter's textfile collector */
#include "host/record/textfile.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/output.h"
#include "host/files.h"

#define FILE_NAME "onespine.prom"
#define NOT_OURS  10000

/* --- words ------------------------------------------------------------------------------------ */

/* Adds a label. In its value backslash and quote are escaped; a line feed becomes a space. */
static void add_label(struct osp_text *text, const char *name, const char *value)
{
	osp_text_printf(text, "%s=\"", name);
	for (; *value; value++) {
		if (*value == '\\' || *value == '"')
			osp_text_add(text, "\\");
		osp_text_add_bytes(text, *value == '\n' ? " " : value, 1);
	}
	osp_text_add(text, "\"");
}

static void add_help(struct osp_text *text, const char *name, const char *help)
{
	osp_text_printf(text, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

/* Returns the metric's number: 0 skipped, 1 passed, 2 warned, 3 in error, 4 failed. */
static int number_of(enum osp_verdict verdict)
{
	return (int)verdict;
}

static const char *uuid_of(const struct osp_node_state *state, const char *subject)
{
	char name[16];

	for (size_t i = 0; state && i < state->gpu_count; i++) {
		snprintf(name, sizeof(name), "gpu%u", state->gpu_numbers[i]);
		if (strcmp(name, subject) == 0)
			return state->gpus[i];
	}
	return "";
}

static void add_figure(struct osp_text *text, const struct osp_history_entry *entry,
		       const char *check, const char *subject, const char *name, double value)
{
	osp_text_add(text, "onespine_figure{");
	add_label(text, "check", check);
	osp_text_add(text, ",");
	add_label(text, "subject", subject);
	osp_text_add(text, ",");
	add_label(text, "uuid", uuid_of(entry->state, subject));
	osp_text_add(text, ",");
	add_label(text, "name", name);
	osp_text_printf(text, "} %.9g\n", value);
}

static void add_figures(struct osp_text *text, const struct osp_history_entry *entry)
{
	char name[64];

	add_help(text, "onespine_figure",
		 "A figure that a check measured; its name says the unit.");
	for (size_t i = 0; i < entry->run->count; i++) {
		const struct osp_outcome *outcome = &entry->run->outcomes[i];

		for (size_t n = 0; n < outcome->figure_count; n++)
			add_figure(text, entry, outcome->check->name, outcome->figures[n].subject,
				   outcome->figures[n].name, outcome->figures[n].value);
		for (size_t n = 0; n < outcome->speed_count; n++) {
			snprintf(name, sizeof(name), "%s %s", outcome->speeds[n].what,
				 outcome->speeds[n].unit);
			add_figure(text, entry, outcome->check->name, outcome->speeds[n].subject,
				   name, outcome->speeds[n].value);
		}
	}
}

/* Writes the metrics of a run. `text` is marked failed if memory runs out. */
static void write_metrics(const struct osp_history_entry *entry, struct osp_text *text)
{
	const struct osp_run *run = entry->run;

	add_help(text, "onespine_verdict",
		 "Of the node's last run: 0 skipped, 1 passed, 2 warned, 3 in error, 4 failed.");
	osp_text_add(text, "onespine_verdict{");
	add_label(text, "instance_id", entry->identity->instance);
	osp_text_add(text, ",");
	add_label(text, "depth", osp_depth_name(entry->depth));
	osp_text_printf(text, "} %d\n", number_of(osp_run_verdict(run, false)));
	add_help(text, "onespine_run_timestamp_seconds", "When that was.");
	osp_text_printf(text, "onespine_run_timestamp_seconds %lld\n",
			(long long)(entry->state ? entry->state->time_s : 0));
	add_help(text, "onespine_run_seconds", "How long it took.");
	osp_text_printf(text, "onespine_run_seconds %.3f\n", run->time_ms / 1000.0);
	add_help(text, "onespine_check_verdict", "Of each check, as onespine_verdict.");
	for (size_t i = 0; i < run->count; i++) {
		osp_text_add(text, "onespine_check_verdict{");
		add_label(text, "check", run->outcomes[i].check->name);
		osp_text_add(text, ",");
		add_label(text, "mode", osp_check_mode_name(run->outcomes[i].mode));
		osp_text_printf(text, "} %d\n", number_of(run->outcomes[i].verdict));
	}
	add_figures(text, entry);
}

/* --- the file --------------------------------------------------------------------------------- */

struct save {
	const char *folder;
	const struct osp_text *text;
};

static int save_in_child(const void *argument)
{
	const struct save *save = argument;
	struct osp_error error = {.text = ""};
	char path[PATH_MAX];
	struct stat status;

	if (stat(save->folder, &status) < 0)
		return errno;
	if (!S_ISDIR(status.st_mode))
		return ENOTDIR;
	if ((status.st_uid != 0 && status.st_uid != geteuid()) ||
	    status.st_mode & (S_IWGRP | S_IWOTH))
		return NOT_OURS;
	snprintf(path, sizeof(path), "%s/" FILE_NAME, save->folder);
	errno = 0;
	if (osp_write_output(path, save->text->data, save->text->length_bytes, &error))
		return errno ? errno : EIO;
	/* node_exporter does not run as root */
	return chmod(path, 0644) < 0 ? errno : 0;
}

int osp_textfile_save(const char *folder, const struct osp_history_entry *entry,
		      unsigned int deadline_ms, struct osp_error *error)
{
	struct osp_text text = OSP_TEXT_INIT;
	const struct save save = {folder, &text};
	struct osp_guard guard;
	int state = 0, outcome;

	write_metrics(entry, &text);
	if (text.failed || osp_guard_start(&guard, save_in_child, &save) < 0) {
		osp_text_free(&text);
		return osp_error_at(error, folder, 0, 0, "no memory or no child process");
	}
	outcome = osp_guard_collect(&guard, osp_now_ms() + deadline_ms, &state);
	osp_text_free(&text);
	if (outcome != 1)
		return osp_error_at(error, folder, 0, 0, "no answer within %u ms", deadline_ms);
	if (state == NOT_OURS)
		return osp_error_at(error, folder, 0, 0, "others than root may write there");
	return state ? osp_error_at(error, folder, 0, 0, "%s", strerror(state)) : 0;
}
