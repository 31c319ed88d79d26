/* SPDX-License-Identifier: GPL-2.0-or-later */
/* user_binding.c - whether srun's user binds tasks with Slurm's own options */
#include "spank/user_binding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spank/command_line.h"

static struct osp_user_binding chosen;

/* Each option, with its shortest abbreviation that is no other option's. */
static const struct {
	const char *name;
	size_t shortest;
} options[] = {
	{"--cpu-bind", 7},	   {"--cpu_bind", 7},  {"--gpu-bind", 7},
	{"--mem-bind", 7},	   {"--mem_bind", 7},  {"--hint", 4},
	{"--threads-per-core", 9}, {"--tres-bind", 8}, {"--extra-node-info", 8},
};

static const char *const variables[] = {"SLURM_GPU_BIND", "SLURM_MEM_BIND", "SLURM_HINT",
					"SLURM_THREADS_PER_CORE", "SLURM_TRES_BIND"};

bool osp_user_binding_inherited(const char *bind, const char *type, const char *list)
{
	if (!bind || !type)
		return false;
	return strstr(bind, type) && (!list || strstr(bind, list));
}

void osp_user_binding_look(void)
{
	const char *bind = getenv("SLURM_CPU_BIND");

	memset(&chosen, 0, sizeof(chosen));
	chosen.inherited = osp_user_binding_inherited(bind, getenv("SLURM_CPU_BIND_TYPE"),
						      getenv("SLURM_CPU_BIND_LIST"));
	if (bind && *bind && !chosen.inherited)
		strcpy(chosen.bound_with, "SLURM_CPU_BIND");
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		if (!*chosen.bound_with && getenv(variables[i]))
			strcpy(chosen.bound_with, variables[i]);
	}
}

static bool is_option(const char *word, size_t option)
{
	size_t length = strcspn(word, "=");

	return length >= options[option].shortest && !strncmp(word, options[option].name, length);
}

const char *osp_user_binding_option(char *const *words, int count)
{
	for (int i = 0; i < count; i++) {
		if (!strncmp(words[i], "-B", 2))
			return "--extra-node-info";
		for (size_t j = 0; j < sizeof(options) / sizeof(options[0]); j++) {
			if (is_option(words[i], j))
				return options[j].name;
		}
	}
	return NULL;
}

/* Looks at srun's own words, which end where the command's begin. */
static void look_at_line(spank_t spank)
{
	char **command = NULL;
	struct osp_command_line own;
	int command_count = 0;
	const char *option;

	osp_command_line_read(&own);
	if (own.words &&
	    spank_get_item(spank, S_JOB_ARGV, &command_count, &command) == ESPANK_SUCCESS) {
		option = osp_user_binding_option(
			own.words, own.count > command_count ? own.count - command_count : 0);
		if (option)
			snprintf(chosen.bound_with, sizeof(chosen.bound_with), "%s", option);
	}
	osp_command_line_free(&own);
}

const struct osp_user_binding *osp_user_binding_find(spank_t spank)
{
	look_at_line(spank);
	return &chosen;
}
