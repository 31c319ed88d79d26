/* SPDX-License-Identifier: GPL-2.0-or-later */
/* script_shape_private.h - what the two halves of script_shape.h share; for them alone */
#ifndef OSP_SCRIPT_SHAPE_PRIVATE_H
#define OSP_SCRIPT_SHAPE_PRIVATE_H

#include "lib/env/script_shape.h"

struct osp_judging {
	const struct osp_script *script;
	const struct osp_script_options *options;
	const struct osp_facts *facts;
	int (*take)(void *context, const struct osp_finding *finding);
	void *context;
	enum osp_truth several; /* the script or the facts give the job several nodes; OSP_UNKNOWN:
				   neither says */
	bool all_steps_open;	/* there are steps, and each lets its tasks see all GPUs */
};

/* The condition of rules that hold on several nodes. */
extern const struct osp_condition osp_shape_on_several;

/* Report a finding about a setting or an option. Return what `take` does. */
int osp_shape_setting(const struct osp_judging *judging, const struct osp_rule *rule,
		      const struct osp_setting *setting, bool certain);
int osp_shape_option(const struct osp_judging *judging, const struct osp_rule *rule,
		     const struct osp_script_option *option, bool certain);

/* Returns the option of an srun, or sbatch's, which it inherits; NULL: none. */
const struct osp_script_option *osp_shape_of_step(const struct osp_judging *judging, size_t command,
						  const char *name);

/* Returns the GPUs of a node, which has so many tasks; -1 or 0: the script does not say. */
long osp_shape_gpus(const struct osp_judging *judging, size_t command, long tasks);

/* Judges S16. Returns 0, or -1 as soon as `take` does. */
int osp_shape_visible(const struct osp_judging *judging);

/* Judges S10 to S15. Returns 0, or -1 as soon as `take` does. */
int osp_shape_start(const struct osp_judging *judging);

#endif
