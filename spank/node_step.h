/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_step.h - inside onespine_node.so: what is known of the step, filled as root and as the user,
 * read by its tasks
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
	char *list; /* of what was set, as inner steps read it */
	size_t count;
	bool bound; /* where its tasks are bound by us */
};

/* The GPUs of a task, by the machine's numbers: 1 where known, 0 if unknown. */
struct osp_node_gpus {
	hwloc_bitmap_t visible, step;
	int visible_known, step_known;
};

/* What / is, and in which mount namespace. */
struct osp_node_root {
	bool known;
	dev_t device;
	ino_t inode;
	uint64_t mount;
};

struct osp_node_step {
	struct osp_modes modes; /* policy is in them */
	struct osp_node_known *known;
	struct osp_rule_set *rules; /* NULL: no environment */
	struct osp_decided decided;
	struct osp_own_files own;  /* of the user's; what they say is not known if it is not */
	struct osp_facts software; /* as the step's folders resolve, outside a container */
	struct osp_bind_driver *driver;
	/* Of all tasks, where each has these CPUs allowed and sees every GPU; NULL: none. */
	struct osp_bind_plan *plan;
	hwloc_bitmap_t plan_cpus;
	struct osp_node_gpus gpus;    /* by the step's environment */
	struct osp_bind_ready *ready; /* NULL: each task is looked at for itself */
	char *environment;	    /* as its tasks get it, lib/cache/env_same.h; NULL: not known */
	struct osp_node_root root;  /* the host's, to tell a container's by */
	struct osp_node_root files; /* when files were read as the user */
	uint32_t step_id;
	bool has_tasks_only; /* an srun's step, not a batch script or an interactive shell */
	char error[1024];    /* why something is not done; "" for nothing */
	bool tells_error;    /* the job was not told that yet, and this is the node to do so */
	bool tells_environment;
	bool left_environment; /* the user's own files did not answer */
	bool asks_near_nics;   /* one of the rules does */
};

/* One write to the task's own stderr, each line with "onespine: " before it. */
void osp_node_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether this is the first task of the whole step; all of a heterogeneous job counts as one. */
bool osp_node_is_first_task(char *const *environment);

/* Where the whole node, its root included, is that of the user's image. */
bool osp_node_in_container(const struct osp_node_step *step);

/* Looks at / as this process has it. */
struct osp_node_root osp_node_look_at_root(void);

/* Whether these are all GPUs of the node; `known` as in struct osp_node_gpus. */
bool osp_node_has_all_gpus(const struct osp_node_step *step, int known, hwloc_const_bitmap_t gpus);

/* Once for the step, as its user: sets the variables as its tasks will most likely have them. */
void osp_environment_prepare(spank_t spank, struct osp_node_step *step, char *const *environment,
			     bool binds);
void osp_environment_forget(struct osp_node_step *step);

/*
 * In each task: sets them where they are to be others. `bound`: we gave it its cores. `tells`: says
 * what there is to say.
 */
void osp_environment_set(spank_t spank, const struct osp_node_step *step, char *const *environment,
			 bool bound, bool tells);

/* Once for the step, as its user: what is the same for most tasks. */
void osp_binding_prepare(spank_t spank, struct osp_node_step *step, char *const *environment);
void osp_binding_forget(struct osp_node_step *step);

/*
 * What is set in the kernel for each task of the step's plan, where it started on the CPUs `own`.
 * NULL: each task is looked at for itself. Freed by free().
 */
struct osp_bind_ready;
struct osp_bind_ready *osp_bind_make_ready(const struct osp_node_step *step,
					   hwloc_const_bitmap_t own);

/* In a task whose environment is the step's: binds it. False if it is not what was made ready for,
 * or the kernel refused; then nothing was done. `ready` may be NULL. */
bool osp_bind_as_ready(spank_t spank, const struct osp_bind_ready *ready, char *const *environment);

/* In a task: binds it. `same`: its environment is the step's. Returns whether it is bound. */
bool osp_binding_apply(spank_t spank, const struct osp_node_step *step, char *const *environment,
		       bool same);

#endif
