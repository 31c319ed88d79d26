/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fit_sbatch.c - asks the question of `fit` as sbatch itself asks slurmctld */
#define _GNU_SOURCE /* asprintf, strptime */

#include "tools/command/fit_sbatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/clean.h"
#include "lib/base/text.h"
#include "lib/policy/waiting.h"
#include "host/source/run_program.h"
#include "tools/command/fit_environment.h"

#define LIMIT_S	    60
#define LIMIT_BYTES ((size_t)1024 * 1024)

/* Prints sbatch's two streams in order, and its status at the end. */
#define SCRIPT "LC_ALL=C sbatch --test-only --wrap=true \"$@\" 2>&1; echo \"status $?\""

/* Options that go to sbatch as they are. `ours`: their meaning is worked out here, too. */
static const struct {
	enum osp_option_id id;
	bool ours;
} passed[] = {
	{OSP_OPTION_NODES, true},
	{OSP_OPTION_PARTITION, true},
	{OSP_OPTION_NODELIST, true},
	{OSP_OPTION_EXCLUDE, true},
	{OSP_OPTION_FIT_CONSTRAINT, true},
	{OSP_OPTION_GANG_DOMAINS, true},
	{OSP_OPTION_GANG_SEGMENT, true},
	{OSP_OPTION_GANG_LAYOUT, true},
	{OSP_OPTION_GANG_KEEP, true},
	{OSP_OPTION_GPUS_PER_NODE, true},
	{OSP_OPTION_FIT_TASKS, false},
	{OSP_OPTION_FIT_TASKS_PER_NODE, false},
	{OSP_OPTION_FIT_CPUS_PER_TASK, false},
	{OSP_OPTION_FIT_GPUS, false},
	{OSP_OPTION_FIT_GRES, false},
	{OSP_OPTION_FIT_MEM, false},
	{OSP_OPTION_FIT_EXCLUSIVE, false},
	{OSP_OPTION_FIT_TIME, false},
	{OSP_OPTION_FIT_BEGIN, false},
	{OSP_OPTION_FIT_RESERVATION, false},
	{OSP_OPTION_FIT_LICENSES, false},
	{OSP_OPTION_FIT_ACCOUNT, false},
	{OSP_OPTION_FIT_QOS, false},
	{OSP_OPTION_FIT_EXTRA, false},
	{OSP_OPTION_FIT_SPARES, true},
};

#define PASSED_COUNT (sizeof(passed) / sizeof(passed[0]))

bool osp_fit_needs_sbatch(const struct osp_call *call, const char **name)
{
	*name = NULL;
	for (size_t i = 0; i < PASSED_COUNT && !*name; i++)
		if (!passed[i].ours && call->values[passed[i].id])
			*name = osp_option(passed[i].id)->name;
	return *name != NULL;
}

/* --- asking ----------------------------------------------------------------------------------- */

/* Makes "--name=value" for each option that was given. sbatch reads the variables itself: to an
 * option it is not quite the same (--mem takes back SBATCH_MEM_PER_CPU, SBATCH_MEM_PER_NODE is an
 * error beside it). --gang is always said, because a sbatch that does not know it must say so.
 * Returns false if memory ran out. */
static bool make_words(const struct osp_call *call, char **words, size_t *count)
{
	const char *gang = call->values[OSP_OPTION_GANG];

	*count = 0;
	if (asprintf(&words[(*count)++], "--gang%s%s", gang && *gang ? "=" : "", gang ? gang : "") <
	    0)
		return false;
	for (size_t i = 0; i < PASSED_COUNT; i++) {
		const struct osp_option *option = osp_option(passed[i].id);
		const char *value = call->values[passed[i].id];
		bool bare = value && !*value && option->argument_optional;

		if (!value || osp_fit_environment_gave(call, passed[i].id))
			continue;
		if (asprintf(&words[(*count)++], "--%s%s%s", option->name, bare ? "" : "=", value) <
		    0)
			return false;
	}
	return true;
}

static int run(const struct osp_call *call, char **text, struct osp_error *error)
{
	const char *argv[PASSED_COUNT + 6] = {"sh", "-c", SCRIPT, "sbatch"};
	char *words[PASSED_COUNT + 1] = {NULL};
	struct osp_program_output output;
	size_t count;
	int result;

	if (make_words(call, words, &count)) {
		memcpy(&argv[4], words, count * sizeof(*words));
		result = osp_run_program(argv, LIMIT_S, LIMIT_BYTES, &output, error);
		*text = result ? NULL : output.text;
	} else {
		result = osp_error_set(error, "out of memory");
	}
	for (size_t i = 0; i < PASSED_COUNT + 1; i++)
		free(words[i]);
	return result;
}

/* --- reading its answer ----------------------------------------------------------------------- */

static const char *after(const char *line, const char *start)
{
	size_t length = strlen(start);

	return strncmp(line, start, length) ? NULL : line + length;
}

/* Parses "Job 12 to start at 2026-11-23T18:00:00 using 4 processors on nodes n[1-4] in partition
 * gpu". */
static bool read_start(const char *line, struct osp_sbatch_answer *answer)
{
	const char *at = strstr(line, " to start at "), *nodes = strstr(line, " on nodes ");
	struct tm when = {.tm_isdst = -1};
	size_t length;

	if (!after(line, "Job ") || !at || !nodes ||
	    !strptime(at + strlen(" to start at "), "%Y-%m-%dT%H:%M:%S", &when))
		return false;
	nodes += strlen(" on nodes ");
	length = strcspn(nodes, " \n");
	answer->start_s = (int64_t)mktime(&when);
	answer->nodes = strndup(nodes, length);
	answer->result = OSP_SBATCH_STARTS;
	return answer->nodes != NULL;
}

/* Appends one of the reasons, which semicolons separate. */
static void add_reason(const char *words, struct osp_sbatch_answer *answer)
{
	size_t has = strlen(answer->reason);

	snprintf(answer->reason + has, sizeof(answer->reason) - has, "%s%s", has ? "; " : "",
		 words);
}

/*
 * Keeps the words of errors. The plugins that judged the job, ours and others, say why in lines of
 * errors. Slurm's own words for an error number follow them, and after an error about an option it
 * names the option or the plugin. What job_submit_onespine prints about a job that it takes
 * ("onespine: segments leaf:4 leave ..") is printed as an error, too, if Slurm then refuses the
 * job: that is no reason.
 */
static void note_words(const char *line, bool is_error, struct osp_sbatch_answer *answer)
{
	const char *own = after(line, "onespine: ");
	const char *failure = after(line, "allocation failure: ");
	bool of_option = after(line, "Invalid --gang") || after(line, "spank: ") ||
			 after(line, "Plugin stack ");

	if (!*line || after(line, "Try \"sbatch --help\""))
		return;
	if (is_error && !failure && !(of_option && *answer->reason)) {
		answer->only_printed = own && (answer->only_printed || !*answer->reason);
		add_reason(own ? own : line, answer);
	}
	if (failure && answer->only_printed)
		*answer->reason = '\0';
	snprintf(answer->says, sizeof(answer->says), "%s", own ? own : failure ? failure : line);
}

static void read_lines(char *text, struct osp_sbatch_answer *answer, int *status)
{
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n"))) {
		const char *bare = after(line, "sbatch: ");
		bool is_error = false;

		if (sscanf(line, "status %d", status) == 1)
			continue;
		bare = bare ? bare : line;
		while (after(bare, "error: ") || after(bare, "fatal: ")) {
			bare += strlen("error: ");
			is_error = true;
		}
		if (!read_start(bare, answer))
			note_words(bare, is_error, answer);
	}
	osp_clean(answer->says);
	osp_clean(answer->reason);
}

bool osp_sbatch_lacks_nodes(const struct osp_sbatch_answer *answer)
{
	return answer->result == OSP_SBATCH_REFUSED && !*answer->reason &&
	       strstr(answer->says, "node configuration is not available");
}

/* Returns whether Slurm's words mean: not now. */
static bool is_busy(const char *says)
{
	static const char *const words[] = {
		"Requested nodes are busy",
		"Nodes required for job are DOWN",
		"Required node not available (down, drained or reserved)",
		"Resources",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (after(says, words[i]))
			return true;
	return false;
}

int osp_fit_ask_sbatch(const struct osp_call *call, struct osp_sbatch_answer *answer,
		       struct osp_error *error)
{
	char *text = NULL;
	int status = -1;

	memset(answer, 0, sizeof(*answer));
	answer->asked_s = (int64_t)time(NULL);
	if (run(call, &text, error) < 0)
		return -1;
	answer->answered_s = (int64_t)time(NULL);
	read_lines(text, answer, &status);
	free(text);
	if (status == 127 || (status && strstr(answer->says, "option '--gang")))
		answer->result = OSP_SBATCH_NOT_ASKED;
	else if (status && is_busy(answer->says))
		answer->result = OSP_SBATCH_BUSY;
	else if (status)
		answer->result = OSP_SBATCH_REFUSED;
	else if (answer->result != OSP_SBATCH_STARTS)
		return osp_error_set(error, "sbatch --test-only says when no job starts: %.200s",
				     answer->says);
	if (answer->result != OSP_SBATCH_REFUSED)
		return 0;
	if (*answer->reason)
		snprintf(answer->says, sizeof(answer->says), "%s", answer->reason);
	snprintf(answer->cure, sizeof(answer->cure), "%s", osp_refused_cure(answer->says));
	return 0;
}
