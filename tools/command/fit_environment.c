/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fit_environment.c - the variables that sbatch takes for options */
#define _GNU_SOURCE /* environ */

#include "tools/command/fit_environment.h"

#include <stdlib.h>
#include <string.h>
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

#define VARIABLE_COUNT	(sizeof(variables) / sizeof(variables[0]))
#define IS_SLURMS(name) (strncmp((name), "SBATCH_", strlen("SBATCH_")) == 0)

void osp_fit_take_environment(struct osp_call *call, struct osp_text *taken)
{
	if (call->values[OSP_OPTION_STATE] || call->values[OSP_OPTION_FREE])
		return;
	for (size_t i = 0; i < VARIABLE_COUNT; i++) {
		const char *value = getenv(variables[i].name);

		/* an empty one of Slurm's gives the option no value, or one that sbatch refuses */
		if (!value || call->values[variables[i].id] ||
		    (!*value && IS_SLURMS(variables[i].name)))
			continue;
		call->values[variables[i].id] = value;
		osp_text_printf(taken, "%s%s=%s", taken->length_bytes ? ", " : "",
				variables[i].name, value);
	}
	if (taken->data)
		osp_clean(taken->data);
}

bool osp_fit_environment_requeues(bool standard)
{
	/* sbatch obeys the last one of its table */
	if (getenv("SBATCH_REQUEUE"))
		return true;
	return standard && !getenv("SBATCH_NO_REQUEUE");
}

/* Returns a variable's name, to be freed, if it stands for an option; else NULL. */
static char *name_of(const char *entry)
{
	if (!IS_SLURMS(entry) &&
	    strncmp(entry, OSP_JOB_VARIABLE(GANG), strlen(OSP_JOB_VARIABLE(GANG))) != 0)
		return NULL;
	return strndup(entry, strcspn(entry, "="));
}

void osp_fit_forget_environment(void)
{
	for (char **at = environ; at && *at;) {
		char *name = name_of(*at);

		if (!name || unsetenv(name)) /* else the next one is here now */
			at++;
		free(name);
	}
}
