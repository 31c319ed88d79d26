/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * onespine.c - onespine.so: the functions that Slurm calls in sbatch, salloc, srun and slurmstepd
 *
 * It takes --gang on one side and sets ONESPINE_* on the other. A job that is no gang costs a look
 * at a few variables. Nothing here fails a job that runs.
 *
 * plugstack.conf: "required .../onespine.so [policy-gangs] [topology=FILE ...]". With
 * "policy-gangs" srun asks slurmctld after each of its own allocations of two nodes or more whether
 * policy made a gang of it; without, only after --gang, and where the allocation says that it is a
 * gang's. Batch jobs need no such word. The other arguments are for step.h.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <slurm/slurm.h>
#include <slurm/spank.h>

#include "lib/base/hostlist.h"
#include "lib/layout/gang_order.h"
#include "lib/policy/job_options.h"
#include "lib/policy/note.h"
#include "lib/topology/leaf_list.h"
#include "spank/gang_options.h"
#include "spank/modes.h"
#include "spank/order_file.h"
#include "spank/ordered.h"
#include "spank/placement.h"
#include "spank/spares.h"
#include "spank/step.h"

#define NODE_NAME_BYTES 256
#define VARIABLE_BYTES	4096	  /* of a variable at first */
#define VARIABLE_MAX	(1 << 20) /* beyond what execve() takes */

#pragma GCC visibility push(default)

SPANK_PLUGIN(onespine, 1)

spank_f slurm_spank_init;
spank_f slurm_spank_init_post_opt;
spank_f slurm_spank_local_user_init;
spank_f slurm_spank_user_init;
spank_f slurm_spank_task_init;

#pragma GCC visibility pop

static const char *const variables[] = {
	OSP_LEVEL_VARIABLE,	OSP_DOMAIN_VARIABLE,	 OSP_LEAF_VARIABLE, OSP_LEAVES_VARIABLE,
	OSP_ORDER_VARIABLE,	OSP_SPARES_VARIABLE,	 OSP_RANK_VARIABLE, OSP_FIRST_VARIABLE,
	OSP_HOST_FILE_VARIABLE, OSP_SLURM_RANKS_VARIABLE};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Of one srun: whether the allocation is its own, or that of another job than the one around it,
 * whether its environment said that it is a gang's, and whether policy may have made one of it. */
static bool own_allocation;
static bool other_job;
static bool known_gang;
static bool policy_gangs;

/* --- sbatch, salloc, srun --------------------------------------------------------------------- */

static void read_arguments(int count, char **arguments)
{
	policy_gangs = false;
	for (int i = 0; i < count; i++) {
		if (!strcmp(arguments[i], "policy-gangs"))
			policy_gangs = true;
		else if (!osp_step_argument(arguments[i]))
			slurm_error("onespine: plugstack.conf: '%s' is no argument of onespine.so "
				    "(onespine.so(8) has them)",
				    arguments[i]);
	}
}

/*
 * Forgets the variables of the job around us: they do not belong to the job that is being
 * submitted.
 */
static void forget_outer_job(void)
{
	for (size_t i = 0; i < COUNT(variables); i++)
		unsetenv(variables[i]);
	/* nor is the job inside the step in which this is typed */
	if (!other_job) {
		unsetenv("SLURM_STEP_ID");
		unsetenv("SLURM_STEPID");
	}
	for (int id = 0; id < OSP_JOB_OPTION_COUNT && getenv("SLURM_JOB_ID"); id++)
		if (osp_job_option(id)->whose == OSP_JOB_OPTION_OF_JOB)
			unsetenv(osp_job_option(id)->outer);
}

static bool get_locally(void *context, const char *name, char *value, size_t value_bytes)
{
	const char *set = getenv(name);

	(void)context;
	if (!set || strlen(set) >= value_bytes)
		return false;
	memcpy(value, set, strlen(set) + 1);
	return true;
}

static void set_here(void *context, const char *name, const char *value)
{
	(void)context;
	setenv(name, value, 1);
}

/*
 * Corrects the variables of an srun that is typed in the shell of a salloc that had spares, before
 * it reads its environment.
 */
static void correct_locally(void)
{
	static const struct osp_job_variables here = {.get = get_locally, .set = set_here};
	const char *spares = getenv(OSP_JOB_OUTER(gang_spares)), *job = getenv("SLURM_JOB_ID");

	if (spares && job && strcmp(spares, "0") != 0)
		osp_spares_correct(&here, (uint32_t)strtoul(job, NULL, 10));
}

static void set_locally(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
}

static void set_placed_locally(const struct osp_placement *placed)
{
	set_locally(OSP_LEVEL_VARIABLE, placed->level);
	set_locally(OSP_DOMAIN_VARIABLE, placed->domain);
	set_locally(OSP_LEAVES_VARIABLE, placed->leaves);
	set_locally(OSP_ORDER_VARIABLE, placed->order);
	set_locally(OSP_SLURM_RANKS_VARIABLE, placed->ranks);
}

/* Returns whether the salloc around us was given an option that makes a gang. */
static bool salloc_asked_for_gang(void)
{
	return getenv(OSP_JOB_OUTER(gang)) || getenv(OSP_JOB_OUTER(gang_domains)) ||
	       getenv(OSP_JOB_OUTER(gang_segment)) || getenv(OSP_JOB_OUTER(gang_layout));
}

/*
 * Asks for the leaves in an srun that is typed in the shell of a salloc that asked for a gang: that
 * shell does not know them.
 */
static void ask_locally(void)
{
	const char *job = getenv("SLURM_JOB_ID");
	struct osp_placement placed;

	if (!salloc_asked_for_gang() || !job || getenv(OSP_LEAVES_VARIABLE) ||
	    !osp_placement_ask((uint32_t)strtoul(job, NULL, 10), &placed))
		return;
	set_placed_locally(&placed);
	osp_placement_free(&placed);
}

/* What travels with a gang's steps, by the names that --export stops and by those that it does not:
 * Slurm passes on what begins with SLURM_. */
static const struct {
	const char *name, *passed;
} travelling[] = {
	{OSP_LEVEL_VARIABLE, "SLURM_ONESPINE_LEVEL"},
	{OSP_DOMAIN_VARIABLE, "SLURM_ONESPINE_DOMAIN"},
	{OSP_LEAVES_VARIABLE, "SLURM_ONESPINE_LEAVES"},
	{OSP_ORDER_VARIABLE, "SLURM_ONESPINE_ORDER"},
	{OSP_SLURM_RANKS_VARIABLE, "SLURM_ONESPINE_SLURM_RANKS"},
};

#define TRAVELLING (sizeof(travelling) / sizeof(travelling[0]))

/* Hands the gang's variables to tasks that get not all of this srun's. */
static void pass_locally(void)
{
	for (size_t i = 0; osp_ordered_exports_some() && i < TRAVELLING; i++)
		set_locally(travelling[i].passed, getenv(travelling[i].name));
}

static void begin_locally(void)
{
	bool is_srun = spank_context() == S_CTX_LOCAL;

	if (is_srun)
		osp_ordered_read();
	own_allocation = is_srun && !getenv("SLURM_JOB_ID");
	other_job = is_srun && !own_allocation && osp_ordered_other_job();
	known_gang = false;
	if (!is_srun || own_allocation || other_job) {
		forget_outer_job();
		return;
	}
	correct_locally();
	ask_locally();
	osp_ordered_begin();
	pass_locally();
	known_gang = getenv(OSP_LEVEL_VARIABLE) || getenv(OSP_LEAVES_VARIABLE);
}

int slurm_spank_init(spank_t spank, int count, char **arguments)
{
	switch (spank_context()) {
	case S_CTX_LOCAL:
	case S_CTX_ALLOCATOR:
		break;
	case S_CTX_REMOTE:
		read_arguments(count, arguments);
		/* Slurm warns about an option that it was given and that is not registered here */
		osp_gang_options_register(spank);
		osp_modes_register(spank);
		return 0;
	default:
		return 0;
	}
	read_arguments(count, arguments);
	begin_locally();
	osp_modes_begin();
	return osp_gang_options_register(spank) || osp_modes_register(spank) ? -1 : 0;
}

int slurm_spank_init_post_opt(spank_t spank, int count, char **arguments)
{
	(void)count;
	(void)arguments;
	if (spank_context() == S_CTX_REMOTE)
		osp_step_begin(spank);
	if (spank_context() != S_CTX_LOCAL && spank_context() != S_CTX_ALLOCATOR)
		return 0;
	osp_ordered_end();
	return osp_gang_options_send(spank) || osp_modes_send() ? -1 : 0;
}

static bool worth_asking(spank_t spank)
{
	uint32_t node_count = 0;

	if (osp_gang_options_want_gang() || other_job ||
	    (!known_gang && getenv(OSP_LEVEL_VARIABLE)))
		return true;
	return own_allocation && policy_gangs &&
	       spank_get_item(spank, S_JOB_NNODES, &node_count) == ESPANK_SUCCESS && node_count > 1;
}

/*
 * Runs in srun, once it has its allocation and before it builds its tasks' environment from its
 * own. A gang's allocation comes with ONESPINE_LEVEL (sched/shadow_processes.c).
 */
int slurm_spank_local_user_init(spank_t spank, int count, char **arguments)
{
	struct osp_placement placed;
	uint32_t job_id;

	(void)count;
	(void)arguments;
	osp_modes_hand_on(spank);
	if (getenv(OSP_DOMAIN_VARIABLE) || !worth_asking(spank) ||
	    spank_get_item(spank, S_JOB_ID, &job_id) != ESPANK_SUCCESS)
		return 0;
	if (!osp_placement_ask(job_id, &placed)) {
		if (!known_gang)
			unsetenv(OSP_LEVEL_VARIABLE);
		return 0;
	}
	set_placed_locally(&placed);
	pass_locally();
	if (!known_gang)
		osp_ordered_too_late(&placed);
	osp_placement_free(&placed);
	return 0;
}

/* --- slurmstepd, in each task's process and as its user --------------------------------------- */

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

static bool get_in_task(void *context, const char *name, char *value, size_t value_bytes)
{
	return spank_getenv(context, name, value, (int)value_bytes) == ESPANK_SUCCESS;
}

static void set_task_variable(void *context, const char *name, const char *value)
{
	spank_setenv(context, name, value, 1);
}

/* Corrects the variables of a batch script, if job_submit has marked the job as one with spares. */
static void correct_batch_script(spank_t spank)
{
	const struct osp_job_variables task = {
		.get = get_in_task, .set = set_task_variable, .context = spank};
	uint32_t job_id;

	if (!is_set(spank, OSP_SPARES_VARIABLE))
		return;
	spank_unsetenv(spank, OSP_SPARES_VARIABLE);
	if (spank_get_item(spank, S_JOB_ID, &job_id) == ESPANK_SUCCESS)
		osp_spares_correct(&task, job_id);
}

/*
 * Sets the variables of a batch script. job_submit marks a batch job that is a gang with its level;
 * the rest is known only now.
 */
static void set_for_batch_script(spank_t spank)
{
	struct osp_placement placed = {.domain = NULL};
	bool found = false;
	uint32_t job_id;

	for (int id = 0; id < OSP_JOB_OPTION_COUNT; id++)
		if (osp_job_option(id)->whose == OSP_JOB_OPTION_OF_JOB)
			spank_unsetenv(spank, osp_job_option(id)->outer);
	correct_batch_script(spank);
	if (!is_set(spank, OSP_LEVEL_VARIABLE))
		return;
	if (spank_get_item(spank, S_JOB_ID, &job_id) == ESPANK_SUCCESS)
		found = osp_placement_ask(job_id, &placed);
	set_in_task(spank, OSP_LEVEL_VARIABLE, found ? placed.level : NULL);
	set_in_task(spank, OSP_DOMAIN_VARIABLE, placed.domain);
	set_in_task(spank, OSP_LEAVES_VARIABLE, placed.leaves);
	set_in_task(spank, OSP_ORDER_VARIABLE, placed.order);
	set_in_task(spank, OSP_SLURM_RANKS_VARIABLE, placed.ranks);
	osp_placement_free(&placed);
}

/* Returns a variable of the task, malloc'd; NULL if it is not set, or memory ran out. */
static char *task_variable(spank_t spank, const char *name)
{
	for (int bytes = VARIABLE_BYTES; bytes <= VARIABLE_MAX; bytes *= 2) {
		char *value = malloc((size_t)bytes);
		spank_err_t rc = value ? spank_getenv(spank, name, value, bytes) : ESPANK_ERROR;

		if (rc == ESPANK_SUCCESS)
			return value;
		free(value);
		if (rc != ESPANK_NOSPACE)
			return NULL;
	}
	return NULL;
}

static int keep_name(const char *name, void *context)
{
	snprintf(context, NODE_NAME_BYTES, "%s", name);
	return 1;
}

/* The node's place in the order of the gang; -1: not known. */
struct place {
	long rank;
	char first[NODE_NAME_BYTES];		   /* the node that has place 0 */
	char host_file[OSP_ORDER_FILE_PATH_BYTES]; /* of all nodes; "": there is none */
};

/*
 * Finds the node's place. A heterogeneous job's node list is that of one component; its leaves are
 * those of all.
 */
static struct place place_of(spank_t spank, const char *leaves, const char *node)
{
	char *nodes = task_variable(spank, "SLURM_JOB_NODELIST");
	char *order = task_variable(spank, OSP_ORDER_VARIABLE);
	struct place place = {.rank = -1};
	bool known =
		nodes && leaves && osp_hostlist_expand(nodes, keep_name, place.first, NULL) == 1;
	struct osp_gang_ranks made;

	if (known && is_set(spank, "SLURM_HET_SIZE")) {
		place.rank = osp_leaf_list_place(leaves, place.first, node);
	} else if (known && osp_gang_order_make(nodes, leaves, order, &made) == 0) {
		place.rank = osp_gang_order_rank(&made, node);
		if (place.rank >= 0)
			osp_order_file_hold(&made, place.host_file);
		osp_gang_order_clear(&made);
	}
	free(nodes);
	free(order);
	return place;
}

static void set_rank(spank_t spank, const char *leaves, const char *node)
{
	struct place place = place_of(spank, leaves, node);
	bool known = place.rank >= 0;
	char rank[24];

	snprintf(rank, sizeof(rank), "%ld", place.rank);
	set_in_task(spank, OSP_RANK_VARIABLE, known ? rank : NULL);
	set_in_task(spank, OSP_FIRST_VARIABLE, known ? place.first : NULL);
	set_in_task(spank, OSP_HOST_FILE_VARIABLE, place.host_file[0] ? place.host_file : NULL);
}

static void set_leaf(spank_t spank)
{
	char node[NODE_NAME_BYTES], leaf[NODE_NAME_BYTES];
	char *leaves = task_variable(spank, OSP_LEAVES_VARIABLE);
	bool found;

	found = leaves &&
		spank_getenv(spank, "SLURMD_NODENAME", node, sizeof(node)) == ESPANK_SUCCESS &&
		osp_leaf_list_find(leaves, node, leaf, sizeof(leaf));
	set_in_task(spank, OSP_LEAF_VARIABLE, found ? leaf : NULL);
	set_rank(spank, found ? leaves : NULL, node);
	free(leaves);
}

/* Takes what srun handed on beside --export. */
static void take_passed(spank_t spank)
{
	for (size_t i = 0; i < TRAVELLING; i++) {
		char *value = task_variable(spank, travelling[i].passed);

		if (!value)
			continue;
		set_in_task(spank, travelling[i].name, value);
		spank_unsetenv(spank, travelling[i].passed);
		free(value);
	}
}

int slurm_spank_user_init(spank_t spank, int count, char **arguments)
{
	(void)count;
	(void)arguments;
	if (spank_context() == S_CTX_REMOTE)
		osp_step_user(spank);
	return 0;
}

int slurm_spank_task_init(spank_t spank, int count, char **arguments)
{
	(void)count;
	(void)arguments;
	if (is_batch_step(spank))
		set_for_batch_script(spank);
	take_passed(spank);
	if (is_set(spank, OSP_ORDERED_VARIABLE)) {
		spank_unsetenv(spank, "SLURM_DISTRIBUTION");
		spank_unsetenv(spank, OSP_ORDERED_VARIABLE);
	}
	if (is_set(spank, OSP_LEVEL_VARIABLE) || is_set(spank, OSP_LEAF_VARIABLE))
		set_leaf(spank);
	osp_step_task(spank);
	return 0;
}
