/* SPDX-License-Identifier: GPL-2.0-or-later */
/* step.c - environment and binding in slurmstepd: loads onespine_node.so if there is anything
 * to do */
#include "onespine_config.h"
#include "spank/step.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include <slurm/slurm.h>

#include "spank/node_part.h"

#define OBJECT OSP_EXEC_DIR "/onespine_node.so"

static struct osp_node_arguments arguments;
static struct osp_modes modes;
static const struct osp_node_part *part; /* NULL: nothing to do */

bool osp_step_argument(const char *argument)
{
	static const struct {
		const char *key;
		const char **place;
	} keys[] = {
		{"config=", &arguments.config},	    {"cache=", &arguments.cache},
		{"topology=", &arguments.topology}, {"data=", &arguments.data},
		{"site=", &arguments.site},	    {"root=", &arguments.root},
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		size_t length = strlen(keys[i].key);

		if (strncmp(argument, keys[i].key, length) != 0)
			continue;
		*keys[i].place = argument + length;
		return true;
	}
	return false;
}

static const struct osp_node_part *load(void)
{
	const struct osp_node_part *found = NULL;
	/* bound here, once, and not in each task after the fork */
	void *object = dlopen(OBJECT, RTLD_NOW | RTLD_LOCAL);

	if (object)
		found = dlsym(object, OSP_NODE_PART_NAME);
	if (!found) {
		/* its package may be left out, but no library that it needs */
		(access(OBJECT, F_OK) == 0 ? slurm_error : slurm_verbose)(
			"onespine: no environment and no binding: %s", dlerror());
		return NULL;
	}
	if (!strcmp(found->version, VERSION))
		return found;
	slurm_error("onespine: %s is of release %s, onespine.so of " VERSION
		    ": no environment and no binding",
		    OBJECT, found->version);
	return NULL;
}

/* Returns whether this is the step of a container's shell, which has no task. */
static bool has_no_tasks(spank_t spank)
{
	uint32_t step_id;

	return spank_get_item(spank, S_JOB_STEPID, &step_id) == ESPANK_SUCCESS &&
	       step_id == SLURM_EXTERN_CONT;
}

void osp_step_begin(spank_t spank)
{
	part = NULL;
	if (has_no_tasks(spank))
		return;
	osp_modes_take(spank, &modes);
	osp_modes_tidy(spank);
	if (modes.env_said && modes.env == OSP_ENV_OFF && modes.bind_said &&
	    modes.bind == OSP_BIND_OFF)
		return;
	part = load();
	if (part)
		part->begin(spank, &arguments, &modes);
}

void osp_step_user(spank_t spank)
{
	if (part)
		part->user(spank);
}

static bool runs_steps(spank_t spank)
{
	uint32_t step_id;

	return spank_get_item(spank, S_JOB_STEPID, &step_id) == ESPANK_SUCCESS &&
	       step_id >= SLURM_MAX_NORMAL_STEP_ID;
}

void osp_step_task(spank_t spank)
{
	if (runs_steps(spank))
		osp_modes_leave(spank, &modes);
	if (part)
		part->task(spank);
}
