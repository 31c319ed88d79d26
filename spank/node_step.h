/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_step.h - inside onespine_node.so: what is known of the step, filled as root and as the user, read
 * by its tasks
 */
#ifndef OSP_NODE_STEP_H
#define OSP_NODE_STEP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <slurm/spank.h>

#include "lib/node_cache.h"
#include "lib/rules.h"
#include "lib/text.h"
#include "spank/modes.h"

struct osp_node_step {
	struct osp_modes modes; /* policy is in them */
	struct osp_node_known *known;
	struct osp_rule_set *rules; /* NULL: no environment */
	struct osp_facts software;  /* as the step's folders resolve, outside a container */
	dev_t root_device;	    /* of the host's /, to tell a container's by */
	ino_t root_inode;
	uint32_t step_id;
	bool has_tasks_only; /* an srun's step, not a batch script or an interactive shell */
	char error[1024];    /* why something is not done; "" for nothing */
	bool tells_error;    /* the job was not told that yet, and this is the node to do so */
	bool tells_environment;
};

/* One write to the task's own stderr, each line with "onespine: " before it. */
void osp_node_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether this is the first task of the whole step; all of a heterogeneous job counts as one. */
bool osp_node_is_first_task(char *const *environment);

/* Where the whole node, its root included, is that of the user's image. */
bool osp_node_in_container(const struct osp_node_step *step);

/* In a task: sets the variables, says what there is to say. `bound`: we gave it its cores. */
void osp_environment_set(spank_t spank, const struct osp_node_step *step, char *const *environment,
			 bool bound);

/* In a task: binds it. Returns whether it is bound. */
bool osp_binding_apply(spank_t spank, const struct osp_node_step *step, char *const *environment);

#endif
