/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fit_environment.c - the variables that sbatch takes for options */
#define _GNU_SOURCE /* environ */

#include "tools/command/fit_environment.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "lib/base/clean.h"
#include "lib/policy/job_options.h"

/* As env_vars[] of sbatch's opt.c; the same in Slurm 22.05 to 26.05. It has none for the others. */
static const struct {
	const char *name;
	enum osp_option_id id;
} variables[] = {
	{"SBATCH_ACCOUNT", OSP_OPTION_FIT_ACCOUNT},
	{"SBATCH_CONSTRAINT", OSP_OPTION_FIT_CONSTRAINT},
	{"SBATCH_EXCLUSIVE", OSP_OPTION_FIT_EXCLUSIVE},
	{"SBATCH_GPUS", OSP_OPTION_FIT_GPUS},
	{"SBATCH_GPUS_PER_NODE", OSP_OPTION_GPUS_PER_NODE},
	{"SBATCH_GRES", OSP_OPTION_FIT_GRES},
	{"SBATCH_MEM_PER_NODE", OSP_OPTION_FIT_MEM},
	{"SBATCH_PARTITION", OSP_OPTION_PARTITION},
	{"SBATCH_QOS", OSP_OPTION_FIT_QOS},
	{"SBATCH_RESERVATION", OSP_OPTION_FIT_RESERVATION},
	{"SBATCH_TIMELIMIT", OSP_OPTION_FIT_TIME},
	{OSP_JOB_VARIABLE(GANG), OSP_OPTION_GANG},
	{OSP_JOB_VARIABLE(GANG_DOMAINS), OSP_OPTION_GANG_DOMAINS},
	{OSP_JOB_VARIABLE(GANG_SEGMENT), OSP_OPTION_GANG_SEGMENT},
	{OSP_JOB_VARIABLE(GANG_LAYOUT), OSP_OPTION_GANG_LAYOUT},
	{OSP_JOB_VARIABLE(GANG_KEEP), OSP_OPTION_GANG_KEEP},
	{OSP_JOB_VARIABLE(GANG_SPARES), OSP_OPTION_FIT_SPARES},
};

/* Those of Slurm's without an option of `fit`'s that decide whether and where a job starts. */
static const char *const others[] = {
	"SBATCH_BATCH",		  "SBATCH_BURST_BUFFER",
	"SBATCH_CLUSTERS",	  "SBATCH_CORE_SPEC",
	"SBATCH_CPUS_PER_GPU",	  "SBATCH_DELAY_BOOT",
	"SBATCH_GPUS_PER_SOCKET", "SBATCH_GPUS_PER_TASK",
	"SBATCH_GRES_FLAGS",	  "SBATCH_HINT",
	"SBATCH_MEM_PER_CPU",	  "SBATCH_MEM_PER_GPU",
	"SBATCH_NETWORK",	  "SBATCH_OVERCOMMIT",
	"SBATCH_REQ_SWITCH",	  "SBATCH_SEGMENT_SIZE",
	"SBATCH_SPREAD_JOB",	  "SBATCH_THREADS_PER_CORE",
	"SBATCH_THREAD_SPEC",	  "SBATCH_TRES_PER_TASK",
	"SBATCH_USE_MIN_NODES",	  "SBATCH_WCKEY",
	"SLURM_CLUSTERS",	  "SLURM_HINT",
};

#define VARIABLE_COUNT	(sizeof(variables) / sizeof(variables[0]))
#define IS_SLURMS(name) (strncmp((name), "SBATCH_", strlen("SBATCH_")) == 0)

static void add(const char *name, const char *value, struct osp_text *text)
{
	osp_text_printf(text, "%s%s=%s", text->length_bytes ? ", " : "", name, value);
}

void osp_fit_take_environment(struct osp_call *call, struct osp_text *taken)
{
	if (call->values[OSP_OPTION_STATE] || call->values[OSP_OPTION_FREE])
		return;
	for (size_t i = 0; i < VARIABLE_COUNT; i++) {
		const char *value = getenv(variables[i].name);

		/* an empty one of Slurm's is no value, or one that sbatch refuses; or the option
		 * needs none */
		if (!value || call->values[variables[i].id] ||
		    (!*value && IS_SLURMS(variables[i].name) &&
		     !osp_option(variables[i].id)->argument_optional))
			continue;
		call->values[variables[i].id] = value;
		add(variables[i].name, value, taken);
	}
	if (taken->data)
		osp_clean(taken->data);
}

void osp_fit_add_others(struct osp_text *text)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		const char *value = getenv(others[i]);

		if (value)
			add(others[i], value, text);
	}
	if (text->data)
		osp_clean(text->data);
}

bool osp_fit_environment_gave(const struct osp_call *call, enum osp_option_id id)
{
	for (size_t i = 0; i < VARIABLE_COUNT; i++)
		if (variables[i].id == id)
			return call->values[id] && call->values[id] == getenv(variables[i].name);
	return false;
}

/* Returns whether a variable sets an option that takes no value, as slurm_process_option() has it;
 * if not, it takes back what stood before it in sbatch's table. */
static bool is_set(const char *value)
{
	char *end;

	return !*value || !strcasecmp(value, "yes") || (strtol(value, &end, 10) && !*end);
}

bool osp_fit_environment_requeues(bool standard)
{
	/* sbatch obeys the last one of its table */
	const char *yes = getenv("SBATCH_REQUEUE"), *no = getenv("SBATCH_NO_REQUEUE");

	if (yes)
		return standard || is_set(yes);
	return standard && !(no && is_set(no));
}

static bool is_option(const char *name)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(name, others[i]) == 0)
			return true;
	return IS_SLURMS(name) ||
	       strncmp(name, OSP_JOB_VARIABLE(GANG), strlen(OSP_JOB_VARIABLE(GANG))) == 0;
}

void osp_fit_forget_environment(void)
{
	for (char **at = environ; at && *at;) {
		char *name = strndup(*at, strcspn(*at, "="));

		if (!name || !is_option(name) || unsetenv(name)) /* else the next one is here now */
			at++;
		free(name);
	}
}
