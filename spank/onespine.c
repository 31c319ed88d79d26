/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * onespine.c - onespine.so: what Slurm calls of it in sbatch, salloc, srun and slurmstepd
 *
 * Takes --gang on the one side and sets ONESPINE_* on the other. A job that is no gang costs a look
 * at a few variables. Nothing here fails a job that runs.
 *
 * plugstack.conf: "required .../onespine.so [policy-gangs]". With "policy-gangs" srun asks slurmctld
 * after every allocation of its own of two nodes or more whether policy made a gang of it; without,
 * only after --gang. Batch jobs need no such word.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <slurm/slurm.h>
#include <slurm/spank.h>

#include "lib/note.h"
#include "spank/asked.h"
#include "spank/placed.h"

#define NODE_NAME_BYTES 256

/* What sbatch and salloc leave of the job's own --gang in its environment. */
#define OUTER_GANG "SLURM_SPANK__SLURM_SPANK_OPTION_onespine_gang"

#pragma GCC visibility push(default)

SPANK_PLUGIN(onespine, 1)

spank_f slurm_spank_init;
spank_f slurm_spank_init_post_opt;
spank_f slurm_spank_local_user_init;
spank_f slurm_spank_task_init;

#pragma GCC visibility pop

static const char *const variables[] = {OSP_LEVEL_VARIABLE, OSP_DOMAIN_VARIABLE, OSP_LEAF_VARIABLE,
					OSP_LEAVES_VARIABLE};

#define VARIABLE_COUNT (sizeof(variables) / sizeof(variables[0]))

/* Of one srun: whether the allocation is its own, and whether to ask about any. */
static bool own_allocation;
static bool policy_gangs;

/* --- sbatch, salloc, srun ------------------------------------------------------------------------ */

static void read_arguments(int count, char **arguments)
{
	policy_gangs = false;
	for (int i = 0; i < count; i++) {
		if (!strcmp(arguments[i], "policy-gangs"))
			policy_gangs = true;
		else
			slurm_error("onespine: plugstack.conf: '%s' is no argument of onespine.so "
				    "(policy-gangs is)",
				    arguments[i]);
	}
}

/* What stands in the environment belongs to the job around us, not to the one being submitted. */
static void forget_outer_job(void)
{
	for (size_t i = 0; i < VARIABLE_COUNT; i++)
		unsetenv(variables[i]);
	if (getenv("SLURM_JOB_ID"))
		unsetenv(OUTER_GANG);
}

int slurm_spank_init(spank_t spank, int count, char **arguments)
{
	switch (spank_context()) {
	case S_CTX_LOCAL:
	case S_CTX_ALLOCATOR:
		break;
	case S_CTX_REMOTE:
		/* Slurm warns about an option that came along and is not known here. */
		osp_asked_register(spank);
		return 0;
	default:
		return 0;
	}
	read_arguments(count, arguments);
	own_allocation = spank_context() == S_CTX_LOCAL && !getenv("SLURM_JOB_ID");
	if (own_allocation || spank_context() == S_CTX_ALLOCATOR)
		forget_outer_job();
	return osp_asked_register(spank);
}

int slurm_spank_init_post_opt(spank_t spank, int count, char **arguments)
{
	(void)count;
	(void)arguments;
	if (spank_context() != S_CTX_LOCAL && spank_context() != S_CTX_ALLOCATOR)
		return 0;
	return osp_asked_send(spank);
}

static bool worth_asking(spank_t spank)
{
	uint32_t node_count = 0;

	if (osp_asked_gang())
		return true;
	return own_allocation && policy_gangs &&
	       spank_get_item(spank, S_JOB_NNODES, &node_count) == ESPANK_SUCCESS && node_count > 1;
}

static void set_locally(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
}

/* In srun, once it has its allocation and before it builds its tasks' environment from its own. */
int slurm_spank_local_user_init(spank_t spank, int count, char **arguments)
{
	struct osp_placed placed;
	uint32_t job_id;

	(void)count;
	(void)arguments;
	if (getenv(OSP_DOMAIN_VARIABLE) || !worth_asking(spank) ||
	    spank_get_item(spank, S_JOB_ID, &job_id) != ESPANK_SUCCESS ||
	    !osp_placed_ask(job_id, &placed))
		return 0;
	set_locally(OSP_LEVEL_VARIABLE, placed.level);
	set_locally(OSP_DOMAIN_VARIABLE, placed.domain);
	set_locally(OSP_LEAVES_VARIABLE, placed.leaves);
	osp_placed_free(&placed);
	return 0;
}

/* --- slurmstepd, in each task's process and as its user ------------------------------------------ */

static void set_in_task(spank_t spank, const char *name, const char *value)
{
	if (value)
		spank_setenv(spank, name, value, 1);
	else
		spank_unsetenv(spank, name);
}

static bool is_set(spank_t spank, const char *name)
{
	char value[2];
	spank_err_t rc = spank_getenv(spank, name, value, sizeof(value));

	return rc == ESPANK_SUCCESS || rc == ESPANK_NOSPACE;
}

static bool is_batch_step(spank_t spank)
{
	uint32_t step_id;

	return spank_get_item(spank, S_JOB_STEPID, &step_id) == ESPANK_SUCCESS &&
	       step_id == SLURM_BATCH_SCRIPT;
}

/* job_submit marks a batch job that is a gang with its level; the rest is known only now. */
static void set_for_batch_script(spank_t spank)
{
	struct osp_placed placed = {.domain = NULL};
	bool found = false;
	uint32_t job_id;

	spank_unsetenv(spank, OUTER_GANG);
	if (!is_set(spank, OSP_LEVEL_VARIABLE))
		return;
	if (spank_get_item(spank, S_JOB_ID, &job_id) == ESPANK_SUCCESS)
		found = osp_placed_ask(job_id, &placed);
	set_in_task(spank, OSP_LEVEL_VARIABLE, found ? placed.level : NULL);
	set_in_task(spank, OSP_DOMAIN_VARIABLE, placed.domain);
	set_in_task(spank, OSP_LEAVES_VARIABLE, placed.leaves);
	osp_placed_free(&placed);
}

static void set_leaf(spank_t spank)
{
	char leaves[OSP_NOTE_BYTES_MAX], node[NODE_NAME_BYTES], leaf[NODE_NAME_BYTES];
	bool found;

	found = spank_getenv(spank, OSP_LEAVES_VARIABLE, leaves, sizeof(leaves)) ==
			ESPANK_SUCCESS &&
		spank_getenv(spank, "SLURMD_NODENAME", node, sizeof(node)) == ESPANK_SUCCESS &&
		osp_placed_leaf(leaves, node, leaf, sizeof(leaf));
	set_in_task(spank, OSP_LEAF_VARIABLE, found ? leaf : NULL);
}

int slurm_spank_task_init(spank_t spank, int count, char **arguments)
{
	(void)count;
	(void)arguments;
	if (is_batch_step(spank))
		set_for_batch_script(spank);
	if (is_set(spank, OSP_LEVEL_VARIABLE) || is_set(spank, OSP_LEAF_VARIABLE))
		set_leaf(spank);
	return 0;
}
