/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_step.h - inside onespine_node.so: what is known of the step; root and the user fill it, its
 * tasks read it
 */
#ifndef OSP_NODE_STEP_H
#define OSP_NODE_STEP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <slurm/spank.h>

#include "lib/base/text.h"
#include "lib/bind/bind_child.h"
#include "lib/cache/node_cache.h"
#include "lib/env/rules.h"
#include "lib/env/user_env.h"
#include "spank/modes.h"
#include "spank/own_files.h"

/* What was decided of the environment for the step, before its tasks were forked. */
struct osp_decided {
	struct osp_facts *facts; /* NULL: nothing */
	struct osp_user_env user;
	char *list; /* what was set, as inner steps read it */
	size_t count;
	bool bound; /* whether we bind its tasks */
};

/* The GPUs of a task, by the machine's numbers: 1 where known, 0 if unknown. */
struct osp_node_gpus {
	hwloc_bitmap_t visible, step;
	int visible_known, step_known;
};

/* Which directory / is, and in which mount namespace. */
struct osp_node_root {
	bool known;
	dev_t device;
	ino_t inode;
	uint64_t mount;
};

struct osp_node_step {
	struct osp_modes modes; /* with the policy's */
	struct osp_node_known *known;
	struct osp_rule_set *rules; /* NULL: no environment */
	struct osp_decided decided;
	struct osp_own_files own;  /* of the user's; unknown if `known` is false */
	struct osp_facts software; /* as the step's folders have it, outside a container */
	struct osp_bind_driver *driver;
	/* For all tasks, if each may use these CPUs and sees every GPU; NULL: none. */
	struct osp_bind_plan *plan;
	hwloc_bitmap_t plan_cpus;
	struct osp_node_gpus gpus;  /* by the step's environment */
	char *environment;	    /* as its tasks get it, lib/cache/env_same.h; NULL: not known */
	struct osp_node_root root;  /* the host's, to recognize a container's */
	struct osp_node_root files; /* the root when files were read as the user */
	uint32_t step_id;
	bool has_tasks_only; /* an srun's step, not a batch script or an interactive shell */
	char error[1024];    /* why something is not done; "" for nothing */
	bool reports_error;  /* it was not reported to the job yet, and this node does */
	bool reports_environment;
	bool left_environment; /* the user's own files did not answer */
	bool asks_near_nics;   /* one of the rules asks for that */
};

/* Writes to the task's own stderr, in one write, each line with "onespine: " before it. */
void osp_node_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Returns whether this is the first task of the whole step; all of a heterogeneous job counts as
 * one.
 */
bool osp_node_is_first_task(char *const *environment);

/* Returns whether / is that of the user's image. */
bool osp_node_in_container(const struct osp_node_step *step);

/* Returns which / this process has. */
struct osp_node_root osp_node_look_at_root(void);

/* Returns whether these are all GPUs of the node; `known` as in struct osp_node_gpus. */
bool osp_node_has_all_gpus(const struct osp_node_step *step, int known, hwloc_const_bitmap_t gpus);

/* Sets the variables as its tasks will most likely need them, once for the step, as its user. */
void osp_environment_prepare(spank_t spank, struct osp_node_step *step, char *const *environment,
			     bool binds);
void osp_environment_forget(struct osp_node_step *step);

/*
 * Sets the variables that must differ in this task. `bound`: we gave it its cores. `reports`:
 * prints what the user should know.
 */
void osp_environment_set(spank_t spank, const struct osp_node_step *step, char *const *environment,
			 bool bound, bool reports);

/* Computes what is the same for most tasks, once for the step, as its user. */
void osp_binding_prepare(spank_t spank, struct osp_node_step *step, char *const *environment);
void osp_binding_forget(struct osp_node_step *step);

/* Binds a task. `same`: its environment is the step's. Returns whether it is bound. */
bool osp_binding_apply(spank_t spank, const struct osp_node_step *step, char *const *environment,
		       bool same);

#endif
