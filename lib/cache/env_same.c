/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env_same.c - whether a task's environment decides nothing else than its step's */
#include "lib/cache/env_same.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"

#define NAME_BYTES_MAX 64

/* Copies the variables one after the other, each with its terminator; an empty one ends them. */
char *osp_env_remember(char *const *environment)
{
	struct osp_text text = OSP_TEXT_INIT;

	for (; *environment; environment++) {
		if (**environment)
			osp_text_add_bytes(&text, *environment, strlen(*environment) + 1);
	}
	osp_text_add_bytes(&text, "", 1);
	return osp_text_take(&text);
}

/* Returns whether each task gets a value of its own for this variable. Those about binding are read
 * from the task wherever they matter. */
static bool is_tasks_own(const char *name)
{
	static const char *const names[] = {
		"SLURM_CPUS_ON_NODE",	"SLURM_TASK_PID",      "SLURM_NODEID",
		"SLURM_PROCID",		"SLURM_LOCALID",       "SLURM_LAUNCH_NODE_IPADDR",
		"SLURM_GTIDS",		"SLURM_JOB_GID",       "SLURM_JOB_UID",
		"SLURM_JOB_USER",	"SLURMD_NODENAME",     "SLURMD_TRES_BIND",
		"SLURMD_TRES_FREQ",	"SLURM_TOPOLOGY_ADDR", "SLURM_TOPOLOGY_ADDR_PATTERN",
		"SLURM_SRUN_COMM_HOST", "SLURM_CPU_FREQ_REQ",  "ONESPINE_LEAF"};
	static const char *const beginnings[] = {"SLURM_CPU_BIND", "SLURM_MEM_BIND", "PMI_",
						 "PMIX_", "SLURM_PMIX"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(name, names[i]))
			return true;
	}
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		if (!strncmp(name, beginnings[i], strlen(beginnings[i])))
			return true;
	}
	return false;
}

static bool may_differ(const char *entry, const struct osp_rule_set *rules)
{
	char name[NAME_BYTES_MAX];
	size_t length = strcspn(entry, "=");

	if (length >= sizeof(name))
		return false;
	memcpy(name, entry, length);
	name[length] = '\0';
	return is_tasks_own(name) && !(rules && osp_rules_name(rules, name));
}

static bool same_name(const char *one, const char *other)
{
	size_t length = strcspn(one, "=");

	return !strncmp(one, other, length) && (!other[length] || other[length] == '=');
}

bool osp_env_is_same(const char *remembered, char *const *environment,
		     const struct osp_rule_set *rules)
{
	for (; *environment; environment++) {
		if (!**environment)
			continue;
		if (*remembered && !strcmp(*environment, remembered)) {
			remembered += strlen(remembered) + 1;
			continue;
		}
		if (!may_differ(*environment, rules))
			return false;
		/* one whose value Slurm changed in place */
		if (*remembered && same_name(*environment, remembered))
			remembered += strlen(remembered) + 1;
	}
	return !*remembered;
}
