/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * onespine.so with a SPANK of our own around it, in each program that loads it: what it registers,
 * sends, asks slurmctld for and sets, and what it says.
 */
#include <setjmp.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <slurm/slurm.h>
#include <slurm/spank.h>

#include "host/slurm_compat.h"
#include "lib/base/clean.h"
#include "lib/base/text.h"
#include "lib/policy/note.h"
#include "lib/topology/leaf_pack.h"
#include "spank/placement.h"
#include "spank/spares.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define GANG_ENTRY   "_SLURM_SPANK_OPTION_onespine_gang"
#define OUTER_GANG   "SLURM_SPANK_" GANG_ENTRY

/* --- a fake SPANK ----------------------------------------------------------------------------- */

struct variable {
	char name[128];
	char value[16384];
	bool set;
};

static spank_t handle = (spank_t)&handle;
static spank_context_t context;
static uint32_t job_id, step_id, node_count;
static struct spank_option options[8]; /* as they are registered */
static struct spank_option registered; /* the first of them */
static int registered_count;
static struct variable task_variables[48];
static char marks[256]; /* the names of those for job_submit and the shadow */
static char sent[256];	/* "NAME=value" of spank_job_control_setenv() */
static spank_err_t send_answer;
static char said[1024];
static int asked_count; /* slurm_load_job() calls */
static const char *comment;
static int load_answer;
static char *job_nodes;
static uint32_t job_node_count;
static uint16_t job_tasks_per_node;

spank_context_t spank_context(void)
{
	return context;
}

spank_err_t spank_option_register(spank_t spank, struct spank_option *option)
{
	assert_ptr_equal(spank, handle);
	if (!strcmp(option->name, "gang-env") || !strcmp(option->name, "gang-bind"))
		return ESPANK_SUCCESS; /* test_modes.c has them */
	assert_true(registered_count < (int)COUNT(options));
	options[registered_count] = *option;
	registered = options[0];
	registered_count++;
	return ESPANK_SUCCESS;
}

spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
	va_list args;
	uint32_t *value;

	assert_ptr_equal(spank, handle);
	va_start(args, item);
	value = va_arg(args, uint32_t *);
	va_end(args);
	if (context == S_CTX_ALLOCATOR || context == S_CTX_SLURMD)
		return ESPANK_NOT_AVAIL;
	switch (item) {
	case S_JOB_ID:
		*value = job_id;
		return ESPANK_SUCCESS;
	case S_JOB_STEPID:
		*value = step_id;
		return ESPANK_SUCCESS;
	case S_JOB_NNODES:
		*value = node_count;
		return ESPANK_SUCCESS;
	case S_JOB_ARGV:
		return ESPANK_NOT_AVAIL;
	default:
		fail_msg("item %d", (int)item);
		return ESPANK_BAD_ARG;
	}
}

static struct variable *task_variable(const char *name)
{
	struct variable *free_place = NULL;

	for (size_t i = 0; i < COUNT(task_variables); i++) {
		if (!strcmp(task_variables[i].name, name))
			return &task_variables[i];
		if (!free_place && !task_variables[i].name[0])
			free_place = &task_variables[i];
	}
	assert_non_null(free_place);
	snprintf(free_place->name, sizeof(free_place->name), "%s", name);
	return free_place;
}

spank_err_t spank_getenv(spank_t spank, const char *name, char *buffer, int bytes)
{
	const struct variable *variable = task_variable(name);

	assert_ptr_equal(spank, handle);
	assert_int_equal(context, S_CTX_REMOTE);
	if (!variable->set)
		return ESPANK_ENV_NOEXIST;
	snprintf(buffer, (size_t)bytes, "%s", variable->value);
	return strlen(variable->value) < (size_t)bytes ? ESPANK_SUCCESS : ESPANK_NOSPACE;
}

spank_err_t spank_setenv(spank_t spank, const char *name, const char *value, int overwrite)
{
	struct variable *variable = task_variable(name);

	assert_ptr_equal(spank, handle);
	assert_int_equal(context, S_CTX_REMOTE);
	assert_int_equal(overwrite, 1);
	snprintf(variable->value, sizeof(variable->value), "%s", value);
	variable->set = true;
	return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t spank, const char *name)
{
	assert_ptr_equal(spank, handle);
	assert_int_equal(context, S_CTX_REMOTE);
	task_variable(name)->set = false;
	return ESPANK_SUCCESS;
}

spank_err_t spank_job_control_setenv(spank_t spank, const char *name, const char *value,
				     int overwrite)
{
	assert_ptr_equal(spank, handle);
	assert_true(context == S_CTX_LOCAL || context == S_CTX_ALLOCATOR);
	assert_int_equal(overwrite, 1);
	if (!strncmp(name, "_ONESPINE_", 10)) {
		snprintf(marks + strlen(marks), sizeof(marks) - strlen(marks), "%s ", name);
		return ESPANK_SUCCESS;
	}
	snprintf(sent, sizeof(sent), "%s=%s", name, value);
	return send_answer;
}

void slurm_error(const char *format, ...)
{
	size_t length = strlen(said);
	va_list args;

	va_start(args, format);
	vsnprintf(said + length, sizeof(said) - length, format, args);
	va_end(args);
}

void slurm_info(const char *format, ...)
{
	(void)format;
}

void slurm_verbose(const char *format, ...)
{
	(void)format;
}

void slurm_spank_log(const char *format, ...)
{
	fail_msg("%s", format);
}

/* --- a fake slurmctld ------------------------------------------------------------------------- */

/* in brackets: where it takes more than a number it is also a macro */
int(slurm_load_job)(job_info_msg_t **answer, OSP_JOB_REFERENCE reference, uint16_t flags)
{
	uint32_t id = OSP_JOB_REFERENCE_NUMBER(reference);
	static slurm_job_info_t records[2];
	static job_info_msg_t jobs;

	(void)flags;
	assert_int_equal(id, job_id);
	asked_count++;
	if (load_answer != SLURM_SUCCESS)
		return load_answer;
	/* another task of the same array first */
	records[0].job_id = id + 1;
	records[0].admin_comment = "[onespine: gang=spine; domain=wrong]";
	records[1].job_id = id;
	records[1].admin_comment = (char *)comment;
	records[0].nodes = "wrong";
	records[1].nodes = job_nodes;
	records[1].num_nodes = job_node_count;
	records[1].ntasks_per_node = job_tasks_per_node;
	jobs.record_count = 2;
	jobs.job_array = records;
	*answer = &jobs;
	return SLURM_SUCCESS;
}

void slurm_free_job_info_msg(job_info_msg_t *jobs)
{
	assert_non_null(jobs);
}

/* --- a program that loads us ------------------------------------------------------------------ */

#define PLACED                                                                                     \
	"grant 7 [onespine: gang=spine; domain=s1; leaves=l1:n(1-2)|l2:n3; placed: 3 nodes on "    \
	"spine s1, 2 leaves]"

/* onespine_node.so is not in this program: left out, or a library that it needs is missing. */
static bool object_is_there;

void *dlopen(const char *file, int mode)
{
	(void)mode;
	assert_non_null(strstr(file, "onespine_node.so"));
	return NULL;
}

char *dlerror(void)
{
	static char missing[] = "libyaml-0.so.2: cannot open shared object file";

	return missing;
}

int access(const char *path, int mode)
{
	(void)path;
	(void)mode;
	return object_is_there ? 0 : -1;
}

static void start_program(spank_context_t kind)
{
	context = kind;
	object_is_there = false;
	job_id = 42;
	step_id = 0;
	node_count = 4;
	registered_count = 0;
	memset(&registered, 0, sizeof(registered));
	memset(task_variables, 0, sizeof(task_variables));
	sent[0] = '\0';
	marks[0] = '\0';
	said[0] = '\0';
	send_answer = ESPANK_SUCCESS;
	asked_count = 0;
	load_answer = SLURM_SUCCESS;
	comment = PLACED;
	job_nodes = NULL;
	job_node_count = 0;
	job_tasks_per_node = NO_VAL16;
	unsetenv("SLURM_JOB_ID");
	unsetenv("ONESPINE_GANG");
	unsetenv(OUTER_GANG);
	unsetenv(OUTER_GANG "_spares");
	unsetenv(OUTER_GANG "_segment");
	unsetenv("SLURM_STEP_ID");
	unsetenv(OSP_LEVEL_VARIABLE);
	unsetenv(OSP_DOMAIN_VARIABLE);
	unsetenv(OSP_LEAF_VARIABLE);
	unsetenv(OSP_LEAVES_VARIABLE);
}

static void start_client(void)
{
	start_program(S_CTX_ALLOCATOR);
	assert_int_equal(slurm_spank_init(handle, 0, NULL), 0);
}

static int give_option(char *value)
{
	return registered.cb(registered.val, value, 0);
}

static int init_plugin(char *argument)
{
	return slurm_spank_init(handle, argument ? 1 : 0, &argument);
}

static int after_options(void)
{
	return slurm_spank_init_post_opt(handle, 0, NULL);
}

static int user_init(void)
{
	return slurm_spank_local_user_init(handle, 0, NULL);
}

static int task_init(void)
{
	return slurm_spank_task_init(handle, 0, NULL);
}

static void assert_variable(const char *name, const char *value)
{
	const char *found = getenv(name);

	if (value) {
		assert_non_null(found);
		assert_string_equal(found, value);
	} else {
		assert_null(found);
	}
}

static void give_task(const char *name, const char *value)
{
	context = S_CTX_REMOTE;
	spank_setenv(handle, name, value, 1);
}

static void assert_task(const char *name, const char *value)
{
	const struct variable *found = task_variable(name);

	assert_int_equal(found->set, value != NULL);
	if (value)
		assert_string_equal(found->value, value);
}

/* --- sbatch, salloc, srun --------------------------------------------------------------------- */

static void registers_where_options_are_read(void **state)
{
	static const struct {
		spank_context_t context;
		int count;
	} cases[] = {
		{S_CTX_LOCAL, 7},  {S_CTX_ALLOCATOR, 7},  {S_CTX_REMOTE, 7},
		{S_CTX_SLURMD, 0}, {S_CTX_JOB_SCRIPT, 0}, {S_CTX_ERROR, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		start_program(cases[i].context);
		assert_int_equal(init_plugin(NULL), 0);
		assert_int_equal(registered_count, cases[i].count);
		assert_int_equal(after_options(), 0);
		assert_string_equal(sent, "");
		assert_string_equal(said, "");
	}
	start_program(S_CTX_LOCAL);
	init_plugin(NULL);
	assert_string_equal(registered.name, "gang");
	assert_string_equal(registered.arginfo, "LEVEL[@TIME]");
	assert_string_equal(registered.usage, "all nodes on one spine (or one LEVEL), or wait");
	assert_int_equal(registered.has_arg, 2);
}

static void a_step_without_its_object_says_why(void **state)
{
	(void)state;
	start_program(S_CTX_REMOTE);
	init_plugin(NULL);
	assert_int_equal(after_options(), 0);
	assert_string_equal(said, "");
	start_program(S_CTX_REMOTE);
	object_is_there = true;
	init_plugin(NULL);
	assert_int_equal(after_options(), 0);
	assert_string_equal(said, "onespine: no environment and no binding: libyaml-0.so.2: cannot "
				  "open shared object file");
}

static void takes_good_values(void **state)
{
	static char *const values[] = {NULL, "", "(null)", "spine", "core@30", "@1:00:00", "off"};

	(void)state;
	for (size_t i = 0; i < COUNT(values); i++) {
		start_client();
		assert_int_equal(give_option(values[i]), 0);
		setenv("ONESPINE_GANG", "leaf", 1);
		assert_int_equal(after_options(), 0);
		/* Slurm sends the option; the environment stands back. */
		assert_string_equal(sent, "");
		assert_null(strstr(marks, "BY_VARIABLE"));
		assert_string_equal(said, "");
	}
}

static void refuses_bad_values(void **state)
{
	static const struct {
		char *value;
		const char *said;
	} cases[] = {
		{"sp!ne", "--gang=sp!ne: '!' is not allowed in a level's name"},
		{"spine@", "--gang=spine@: a time is missing after the @"},
		{"off@5", "--gang=off@5: off takes no time"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		start_client();
		assert_int_equal(give_option(cases[i].value), -1);
		assert_memory_equal(said, cases[i].said, strlen(cases[i].said));
	}
	/* what came from the client was judged there */
	start_program(S_CTX_REMOTE);
	init_plugin(NULL);
	assert_int_equal(registered.cb(registered.val, "sp!ne", 1), 0);
	assert_string_equal(said, "");
}

static void sends_the_environments_value(void **state)
{
	static const spank_context_t contexts[] = {S_CTX_LOCAL, S_CTX_ALLOCATOR};

	(void)state;
	for (size_t i = 0; i < COUNT(contexts); i++) {
		start_program(contexts[i]);
		setenv("ONESPINE_GANG", "core@10", 1);
		init_plugin(NULL);
		assert_int_equal(after_options(), 0);
		assert_string_equal(sent, GANG_ENTRY "=core@10");
		/* a refusal names the variable; a salloc is told where its gang stands, no srun */
		assert_string_equal(marks, contexts[i] == S_CTX_LOCAL
						   ? "_ONESPINE_BY_VARIABLE "
						   : "_ONESPINE_SALLOC _ONESPINE_BY_VARIABLE ");
		setenv("ONESPINE_GANG", "", 1);
		assert_int_equal(after_options(), 0);
		assert_string_equal(sent, GANG_ENTRY "=");
		assert_string_equal(said, "");
	}
}

static void refuses_a_bad_environment(void **state)
{
	(void)state;
	start_program(S_CTX_ALLOCATOR);
	setenv("ONESPINE_GANG", "spine@tea", 1);
	init_plugin(NULL);
	assert_int_equal(after_options(), -1);
	assert_memory_equal(said, "ONESPINE_GANG: --gang=spine@tea: 'tea' is no time", 49);
	/* so that slurmctld refuses it where SPANK's answer does not count */
	assert_string_equal(sent, GANG_ENTRY "=spine@tea");
	start_program(S_CTX_ALLOCATOR);
	setenv("ONESPINE_GANG", "spine", 1);
	init_plugin(NULL);
	send_answer = ESPANK_BAD_ARG;
	assert_int_equal(after_options(), -1);
	assert_string_equal(said, "onespine: ONESPINE_GANG cannot be sent to slurmctld");
}

static void an_inner_srun_asks_for_nothing(void **state)
{
	(void)state;
	start_program(S_CTX_LOCAL);
	setenv("SLURM_JOB_ID", "42", 1);
	setenv("ONESPINE_GANG", "sp!ne", 1);
	setenv(OSP_LEVEL_VARIABLE, "spine", 1);
	setenv(OSP_DOMAIN_VARIABLE, "s1", 1);
	setenv(OSP_LEAVES_VARIABLE, "l1:n1", 1);
	assert_int_equal(init_plugin("policy-gangs"), 0);
	assert_int_equal(give_option("also bad"), 0);
	assert_int_equal(after_options(), 0);
	assert_int_equal(user_init(), 0);
	assert_string_equal(sent, "");
	assert_string_equal(said, "");
	assert_int_equal(asked_count, 0);
	assert_variable(OSP_DOMAIN_VARIABLE, "s1");
	assert_variable(OSP_LEAVES_VARIABLE, "l1:n1");
}

static void a_new_job_forgets_the_one_around_it(void **state)
{
	(void)state;
	start_program(S_CTX_ALLOCATOR);
	setenv("SLURM_JOB_ID", "42", 1);
	setenv(OUTER_GANG, "leaf", 1);
	setenv(OSP_LEVEL_VARIABLE, "spine", 1);
	setenv(OSP_DOMAIN_VARIABLE, "s1", 1);
	setenv(OSP_LEAF_VARIABLE, "l1", 1);
	setenv(OSP_LEAVES_VARIABLE, "l1:n1", 1);
	setenv("SLURM_STEP_ID", "3", 1);
	init_plugin(NULL);
	assert_variable("SLURM_STEP_ID", NULL);
	assert_variable(OUTER_GANG, NULL);
	assert_variable(OSP_LEVEL_VARIABLE, NULL);
	assert_variable(OSP_DOMAIN_VARIABLE, NULL);
	assert_variable(OSP_LEAF_VARIABLE, NULL);
	assert_variable(OSP_LEAVES_VARIABLE, NULL);
	/* outside of a job the user means it */
	start_program(S_CTX_ALLOCATOR);
	setenv(OUTER_GANG, "leaf", 1);
	init_plugin(NULL);
	assert_variable(OUTER_GANG, "leaf");
}

static void reports_unknown_arguments(void **state)
{
	(void)state;
	start_program(S_CTX_LOCAL);
	assert_int_equal(init_plugin("policy-gang"), 0);
	assert_string_equal(said, "onespine: plugstack.conf: 'policy-gang' is no argument of "
				  "onespine.so (onespine.so(8) has them)");
}

/* --- srun with an allocation of its own ------------------------------------------------------- */

static void srun_learns_where_its_gang_is(void **state)
{
	(void)state;
	start_program(S_CTX_LOCAL);
	init_plugin(NULL);
	assert_int_equal(give_option("spine"), 0);
	assert_int_equal(after_options(), 0);
	setenv("SLURM_JOB_ID", "42", 1); /* srun sets it once it has the allocation */
	assert_int_equal(user_init(), 0);
	assert_int_equal(asked_count, 1);
	assert_variable(OSP_LEVEL_VARIABLE, "spine");
	assert_variable(OSP_DOMAIN_VARIABLE, "s1");
	assert_variable(OSP_LEAVES_VARIABLE, "l1:n[1-2]|l2:n3");
	assert_variable(OSP_LEAF_VARIABLE, NULL);
	/* the next step of the same shell inherits them */
	assert_int_equal(user_init(), 0);
	assert_int_equal(asked_count, 1);
}

static void srun_inside_salloc_asks(void **state)
{
	(void)state;
	start_program(S_CTX_LOCAL);
	setenv("SLURM_JOB_ID", "42", 1);
	setenv(OUTER_GANG, "(null)", 1);
	init_plugin(NULL);
	assert_int_equal(give_option("(null)"), 0); /* Slurm reads it from there */
	assert_int_equal(after_options(), 0);
	assert_string_equal(sent, "");
	assert_int_equal(user_init(), 0);
	assert_variable(OSP_DOMAIN_VARIABLE, "s1");
}

/* --gang-segment makes a gang without --gang. */
static void srun_inside_a_salloc_with_segments_alone_asks(void **state)
{
	(void)state;
	start_program(S_CTX_LOCAL);
	setenv("SLURM_JOB_ID", "42", 1);
	setenv(OUTER_GANG "_segment", "leaf:2", 1);
	init_plugin(NULL);
	assert_variable(OSP_LEAVES_VARIABLE, "l1:n[1-2]|l2:n3");
	after_options();
	user_init();
	assert_int_equal(asked_count, 1);
}

/* Of a gang that policy or an administrator made srun learns when it looks its allocation up. */
static void srun_asks_where_its_allocation_is_a_gangs(void **state)
{
	(void)state;
	for (int own = 0; own < 2; own++) {
		start_program(S_CTX_LOCAL);
		if (!own)
			setenv("SLURM_JOB_ID", "42", 1);
		init_plugin(NULL);
		after_options();
		assert_int_equal(asked_count, 0);
		setenv(OSP_LEVEL_VARIABLE, "leaf", 1);
		user_init();
		assert_int_equal(asked_count, 1);
		assert_variable(OSP_LEVEL_VARIABLE, "spine");
		assert_variable(OSP_LEAVES_VARIABLE, "l1:n[1-2]|l2:n3");
	}
	/* it is not where it asked to be */
	start_program(S_CTX_LOCAL);
	setenv("SLURM_JOB_ID", "42", 1);
	init_plugin(NULL);
	after_options();
	comment = NULL;
	setenv(OSP_LEVEL_VARIABLE, "leaf", 1);
	user_init();
	assert_variable(OSP_LEVEL_VARIABLE, NULL);
}

static void srun_asks_only_about_gangs(void **state)
{
	static const struct {
		char *argument, *option;
		uint32_t node_count;
		int asked;
	} cases[] = {
		{NULL, "off", 4, 0},
		{"policy-gangs", "off", 1, 0},
		{"policy-gangs", "off", 4, 1},
		{NULL, "spine", 1, 1},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		start_program(S_CTX_LOCAL);
		init_plugin(cases[i].argument);
		give_option(cases[i].option);
		after_options();
		node_count = cases[i].node_count;
		assert_int_equal(user_init(), 0);
		assert_int_equal(asked_count, cases[i].asked);
	}
}

static void a_failed_question_fails_nothing(void **state)
{
	static const struct {
		int answer;
		const char *comment;
	} cases[] = {
		{SLURM_ERROR, PLACED},
		{SLURM_SUCCESS, NULL},
		{SLURM_SUCCESS, ""},
		{SLURM_SUCCESS, "just words"},
		{SLURM_SUCCESS, "[onespine: gang=spine; waits: 4 nodes on one spine]"},
		{SLURM_SUCCESS,
		 "[onespine: gang=advise spine; placed: 4 nodes in no common spine]"},
		{SLURM_SUCCESS, "[onespine: gang=!; domain=s1]"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		start_program(S_CTX_LOCAL);
		init_plugin(NULL);
		give_option("spine");
		after_options();
		load_answer = cases[i].answer;
		comment = cases[i].comment;
		assert_int_equal(user_init(), 0);
		assert_int_equal(asked_count, 1);
		assert_variable(OSP_LEVEL_VARIABLE, NULL);
		assert_variable(OSP_DOMAIN_VARIABLE, NULL);
		assert_string_equal(said, "");
	}
}

/* --- tasks ------------------------------------------------------------------------------------ */

static void a_batch_script_gets_its_variables(void **state)
{
	(void)state;
	start_program(S_CTX_REMOTE);
	step_id = SLURM_BATCH_SCRIPT;
	give_task(OSP_LEVEL_VARIABLE, "spine"); /* job_submit's mark */
	give_task(OUTER_GANG, "spine");
	give_task("SLURMD_NODENAME", "n1");
	assert_int_equal(task_init(), 0);
	assert_int_equal(asked_count, 1);
	assert_task(OSP_LEVEL_VARIABLE, "spine");
	assert_task(OSP_DOMAIN_VARIABLE, "s1");
	assert_task(OSP_LEAVES_VARIABLE, "l1:n[1-2]|l2:n3");
	assert_task(OSP_LEAF_VARIABLE, "l1");
	assert_task(OUTER_GANG, NULL);
}

static void a_relaxed_gang_is_told_its_real_level(void **state)
{
	(void)state;
	start_program(S_CTX_REMOTE);
	step_id = SLURM_BATCH_SCRIPT;
	comment = "[onespine: gang=spine@0:30; domain=c1; placed: 4 nodes on core c1, 3 leaves]";
	give_task(OSP_LEVEL_VARIABLE, "spine");
	assert_int_equal(task_init(), 0);
	assert_task(OSP_LEVEL_VARIABLE, "core");
	assert_task(OSP_DOMAIN_VARIABLE, "c1");
	assert_task(OSP_LEAVES_VARIABLE, NULL);
	assert_task(OSP_LEAF_VARIABLE, NULL);
}

static void a_gang_in_several_domains_is_told_all(void **state)
{
	static const char *const comments[] = {
		"[onespine: gang=spine domains=2 segment=leaf:2; domain=s1,s3; "
		"leaves=l1:n(1-2)|l9:n(5-6); "
		"placed: 4 nodes in 2 domains of spine, 2 leaves, in segments leaf:2]",
		"[onespine: gang=spine domains=2; domain=s1,s3; leaves=l1:n(1-2)|l9:n(5-6); "
		"placed: 4 nodes in at most 2 domains of spine, 1 released by the gate]",
		/* so many domains that their names were left out */
		"[onespine: gang=spine domains=2; leaves=l1:n(1-2)|l9:n(5-6); "
		"placed: 4 nodes in 2 domains of spine, 2 leaves]",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(comments); i++) {
		start_program(S_CTX_REMOTE);
		step_id = SLURM_BATCH_SCRIPT;
		comment = comments[i];
		give_task(OSP_LEVEL_VARIABLE, "spine");
		give_task("SLURMD_NODENAME", "n6");
		give_task("SLURM_JOB_NODELIST", "n[1-2,5-6]");
		assert_int_equal(task_init(), 0);
		assert_task(OSP_LEVEL_VARIABLE, "spine");
		assert_task(OSP_DOMAIN_VARIABLE, i < 2 ? "s1,s3" : NULL);
		assert_task(OSP_LEAF_VARIABLE, "l9");
		assert_task(OSP_RANK_VARIABLE, "3");
	}
}

/* Reads a task's variable. */
static const char *of_task(const char *name)
{
	for (size_t i = 0; i < COUNT(task_variables); i++)
		if (!strcmp(task_variables[i].name, name) && task_variables[i].set)
			return task_variables[i].value;
	return NULL;
}

/* The file that the variable names has these lines, and nobody can find it by a name; closes it. */
static void assert_host_file(const char *lines)
{
	const char *path = of_task(OSP_HOST_FILE_VARIABLE);
	char text[256] = "", link[64] = "";
	FILE *file;

	assert_non_null(path);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fread(text, 1, sizeof(text) - 1, file), strlen(lines));
	assert_string_equal(text, lines);
	fclose(file);
	assert_true(readlink(path, link, sizeof(link) - 1) > 0);
	assert_non_null(strstr(link, "memfd:"));
	assert_true(atoi(strrchr(path, '/') + 1) >= 200);
	close(atoi(strrchr(path, '/') + 1));
}

/* The first name of the job's list has rank 0; nodes of a leaf follow each other. */
static void each_task_gets_its_nodes_rank(void **state)
{
	static const struct {
		const char *node, *rank;
	} cases[] = {{"n1", "0"}, {"n4", "1"}, {"n2", "2"}, {"n3", "3"}, {"n9", NULL}};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		start_program(S_CTX_REMOTE);
		give_task(OSP_LEVEL_VARIABLE, "spine");
		give_task(OSP_LEAVES_VARIABLE, "l1:n[2-3]|l2:n1,n4");
		give_task(OSP_RANK_VARIABLE, "that of the batch host");
		give_task(OSP_HOST_FILE_VARIABLE, "that of the batch host");
		give_task("SLURMD_NODENAME", cases[i].node);
		give_task("SLURM_JOB_NODELIST", "n[1-4]");
		assert_int_equal(task_init(), 0);
		assert_task(OSP_RANK_VARIABLE, cases[i].rank);
		assert_task(OSP_FIRST_VARIABLE, cases[i].rank ? "n1" : NULL);
		if (cases[i].rank)
			assert_host_file("n1\nn4\nn2\nn3\n");
		else
			assert_null(of_task(OSP_HOST_FILE_VARIABLE));
	}
}

static void a_batch_script_without_a_place_gets_none(void **state)
{
	(void)state;
	start_program(S_CTX_REMOTE);
	step_id = SLURM_BATCH_SCRIPT;
	comment = "[onespine: gang=advise spine; placed: 4 nodes in no common spine]";
	give_task(OSP_LEVEL_VARIABLE, "spine");
	give_task(OSP_LEAF_VARIABLE, "l9");
	assert_int_equal(task_init(), 0);
	assert_task(OSP_LEVEL_VARIABLE, NULL);
	assert_task(OSP_DOMAIN_VARIABLE, NULL);
	assert_task(OSP_LEAF_VARIABLE, NULL);
}

static void other_batch_scripts_ask_nothing(void **state)
{
	(void)state;
	start_program(S_CTX_REMOTE);
	step_id = SLURM_BATCH_SCRIPT;
	give_task("SLURMD_NODENAME", "n1");
	assert_int_equal(task_init(), 0);
	assert_int_equal(asked_count, 0);
	assert_task(OSP_LEVEL_VARIABLE, NULL);
	assert_task(OSP_LEAF_VARIABLE, NULL);
}

static void each_task_gets_its_own_leaf(void **state)
{
	static const struct {
		const char *node, *leaf;
	} cases[] = {{"n1", "l1"}, {"n2", "l1"}, {"n3", "l2"}, {"n4", NULL}, {"", NULL}};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		start_program(S_CTX_REMOTE);
		give_task(OSP_LEVEL_VARIABLE, "spine");
		give_task(OSP_LEAVES_VARIABLE, "l1:n[1-2]|l2:n3");
		give_task(OSP_LEAF_VARIABLE, "that of the batch host");
		give_task("SLURMD_NODENAME", cases[i].node);
		assert_int_equal(task_init(), 0);
		assert_task(OSP_LEAF_VARIABLE, cases[i].leaf);
		assert_int_equal(asked_count, 0);
	}
}

/* A list of leaves that takes more than 4 KiB, as slurmctld packs it and written out. */
static void tasks_of_a_large_gang_get_their_leaf_and_rank(void **state)
{
	struct osp_text list = OSP_TEXT_INIT;
	char *texts[2];

	(void)state;
	for (unsigned int i = 0; i < 700; i++) /* n1 n351 n2 n352 .. */
		osp_text_printf(&list, "%sleaf-%u:n%u", i ? "|" : "", i + 1,
				i / 2 + 1 + i % 2 * 350);
	texts[0] = osp_text_take(&list);
	texts[1] = osp_leaf_pack(texts[0], OSP_NOTE_PACKED_BYTES_MAX);
	for (int i = 0; i < 2; i++) {
		start_program(S_CTX_REMOTE);
		assert_true(strlen(texts[i]) > 4096);
		give_task(OSP_LEVEL_VARIABLE, "spine");
		give_task(OSP_LEAVES_VARIABLE, texts[i]);
		give_task("SLURMD_NODENAME", "n352");
		give_task("SLURM_JOB_NODELIST", "n[1-700]");
		assert_int_equal(task_init(), 0);
		assert_task(OSP_LEAF_VARIABLE, "leaf-4");
		assert_task(OSP_RANK_VARIABLE, "3");
		close(atoi(strrchr(of_task(OSP_HOST_FILE_VARIABLE), '/') + 1));
		free(texts[i]);
	}
}

/* --- spares ----------------------------------------------------------------------------------- */

static const struct {
	const char *name, *before, *after;
} shrunk[] = {
	{"SLURM_JOB_NODELIST", "n[1-4]", "n[1,3-4]"},
	{"SLURM_NODELIST", "n[1-4]", "n[1,3-4]"},
	{"SLURM_JOB_NUM_NODES", "4", "3"},
	{"SLURM_NNODES", "4", "3"},
	{"SLURM_JOB_CPUS_PER_NODE", "8(x2),16,8", "8,16,8"},
	{"SLURM_TASKS_PER_NODE", "2(x4)", "2(x3)"},
	{"SLURM_NTASKS", "8", "6"},
	{"SLURM_NPROCS", "8", "6"},
	{"SLURM_CPUS_ON_NODE", "8", "8"},
};

static void a_batch_script_sees_the_nodes_that_stayed(void **state)
{
	(void)state;
	start_program(S_CTX_REMOTE);
	step_id = SLURM_BATCH_SCRIPT;
	for (size_t i = 0; i < COUNT(shrunk); i++)
		give_task(shrunk[i].name, shrunk[i].before);
	give_task(OSP_SPARES_VARIABLE, "1");
	give_task(OUTER_GANG "_spares", "1");
	job_nodes = "n[1,3-4]";
	job_node_count = 3;
	job_tasks_per_node = 2;
	assert_int_equal(task_init(), 0);
	assert_int_equal(asked_count, 1);
	for (size_t i = 0; i < COUNT(shrunk); i++)
		assert_task(shrunk[i].name, shrunk[i].after);
	/* an srun in the script need not ask again */
	assert_task(OSP_SPARES_VARIABLE, NULL);
	assert_task(OUTER_GANG "_spares", NULL);
}

static void without_an_answer_variables_stay(void **state)
{
	(void)state;
	for (int round = 0; round < 3; round++) {
		start_program(S_CTX_REMOTE);
		step_id = SLURM_BATCH_SCRIPT;
		for (size_t i = 0; i < COUNT(shrunk); i++)
			give_task(shrunk[i].name, shrunk[i].before);
		/* no spares at all; slurmctld is silent; nothing was released */
		if (round)
			give_task(OSP_SPARES_VARIABLE, "1");
		if (round == 1)
			load_answer = SLURM_ERROR;
		job_nodes = round == 2 ? "n[1-4]" : "n[1,3-4]";
		assert_int_equal(task_init(), 0);
		assert_int_equal(asked_count, round ? 1 : 0);
		for (size_t i = 0; i < COUNT(shrunk); i++)
			assert_task(shrunk[i].name, shrunk[i].before);
	}
}

static void an_srun_in_a_salloc_shell_sees_them_too(void **state)
{
	(void)state;
	start_program(S_CTX_LOCAL);
	setenv("SLURM_JOB_ID", "42", 1);
	setenv(OUTER_GANG "_spares", "1", 1);
	job_nodes = "n[1,3-4]";
	job_node_count = 3;
	for (size_t i = 0; i < COUNT(shrunk); i++)
		setenv(shrunk[i].name, shrunk[i].before, 1);
	unsetenv("SLURM_NTASKS");
	unsetenv("SLURM_NPROCS");
	assert_int_equal(init_plugin(NULL), 0);
	assert_int_equal(asked_count, 1);
	for (size_t i = 0; i < COUNT(shrunk); i++) {
		assert_variable(shrunk[i].name,
				strstr(shrunk[i].name, "NTASKS") || strstr(shrunk[i].name, "NPROCS")
					? NULL
					: shrunk[i].after);
		unsetenv(shrunk[i].name);
	}
	/* a new job forgets them */
	registered_count = 0;
	assert_non_null(getenv(OUTER_GANG "_spares"));
	context = S_CTX_ALLOCATOR;
	assert_int_equal(init_plugin(NULL), 0);
	assert_variable(OUTER_GANG "_spares", NULL);
	assert_int_equal(asked_count, 1);
}

/* What a terminal would obey, in the value of every option. */
static void refusals_are_clean(void **state)
{
	static char *const values[] = {"1\033[2J", "\033]0;owned\a", "leaf:\033[2J",
				       "tp8,\302\2332J", "pp:le\xff"};

	(void)state;
	for (size_t i = 0; i < COUNT(values); i++) {
		start_program(S_CTX_ALLOCATOR);
		assert_int_equal(init_plugin(NULL), 0);
		assert_true(registered_count >= 7);
		for (int option = 0; option < registered_count; option++) {
			char clean[sizeof(said)];

			said[0] = '\0';
			if (options[option].cb(options[option].val, values[i], 0) == 0)
				fail_msg("--%s takes value %zu", options[option].name, i);
			assert_true(said[0]);
			osp_copy_clean(clean, sizeof(clean), said);
			assert_string_equal(said, clean);
		}
	}
}

static void spares_and_depth_are_judged(void **state)
{
	static const struct {
		int option;
		spank_context_t context;
		char *value;
		const char *said; /* NULL: good */
	} cases[] = {
		{5, S_CTX_ALLOCATOR, "2", NULL},
		{5, S_CTX_ALLOCATOR, "0", NULL},
		{5, S_CTX_LOCAL, "0", NULL},
		{5, S_CTX_ALLOCATOR, "two", "--gang-spares=two: how many spare nodes is expected"},
		{5, S_CTX_ALLOCATOR, "", "--gang-spares=: how many spare nodes is expected, a"},
		{5, S_CTX_LOCAL, "1",
		 "--gang-spares: srun would wait for the spare nodes that the gate releases; "
		 "submit with sbatch, or use salloc and srun inside it"},
		{6, S_CTX_LOCAL, "quick", NULL},
		{6, S_CTX_ALLOCATOR, "off", NULL},
		{6, S_CTX_ALLOCATOR, "quik",
		 "--gang-check=quik: off, passive or quick is expected; did you mean quick?"},
		{6, S_CTX_ALLOCATOR, "full",
		 "--gang-check=full: off, passive or quick is expected"},
		{1, S_CTX_LOCAL, "2", NULL},
		{1, S_CTX_ALLOCATOR, "0",
		 "--gang-domains=0: in how many domains at most is expected, a number from 1 to"},
		{1, S_CTX_ALLOCATOR, "two",
		 "--gang-domains=two: in how many domains at most is expected, a number"},
		{2, S_CTX_ALLOCATOR, "leaf:16,nvlink:4", NULL},
		{2, S_CTX_ALLOCATOR, "16",
		 "--gang-segment=16: a level and a number of nodes are expected, as in leaf:16 or"},
		{2, S_CTX_LOCAL, "leaf:16,",
		 "--gang-segment=leaf:16,: a level and a number of nodes are expected"},
		{3, S_CTX_ALLOCATOR, "tp8,pp8,order=vllm", NULL},
		{3, S_CTX_ALLOCATOR, "tp8,pp",
		 "--gang-layout, column 5: 'pp': a size is a whole number from 1, as in tp8"},
		{3, S_CTX_LOCAL, "", "--gang-layout, column 1: an axis and its size are missing"},
		{4, S_CTX_ALLOCATOR, "pp:leaf,ep:nvlink", NULL},
		{4, S_CTX_LOCAL, "leaf",
		 "--gang-keep=leaf: a group (tp, cp, dp, pp or ep) and a level are expected, as "
		 "in"},
	};
	static const char *const names[] = {"ONESPINE_GANG",	     "ONESPINE_GANG_DOMAINS",
					    "ONESPINE_GANG_SEGMENT", "ONESPINE_GANG_LAYOUT",
					    "ONESPINE_GANG_KEEP",    "ONESPINE_GANG_SPARES",
					    "ONESPINE_GANG_CHECK"};

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(cases); i++) {
		size_t c = i / 2;
		int answer;

		start_program(cases[c].context);
		assert_int_equal(init_plugin(NULL), 0);
		if (i % 2) {
			setenv(names[cases[c].option], cases[c].value, 1);
			answer = after_options();
			unsetenv(names[cases[c].option]);
			assert_non_null(strstr(sent, "_SLURM_SPANK_OPTION_onespine_gang_"));
		} else {
			answer = options[cases[c].option].cb(0, cases[c].value, 0);
		}
		assert_int_equal(answer, cases[c].said ? -1 : 0);
		if (cases[c].said && !(i % 2))
			assert_memory_equal(said, cases[c].said, strlen(cases[c].said));
		/* what nobody typed is named: its variable stands before the option's words */
		if (cases[c].said && i % 2)
			assert_memory_equal(said, names[cases[c].option],
					    strlen(names[cases[c].option]));
		if (i % 2)
			assert_non_null(strstr(marks, "_ONESPINE_BY_VARIABLE "));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_where_options_are_read),
		cmocka_unit_test(a_step_without_its_object_says_why),
		cmocka_unit_test(takes_good_values),
		cmocka_unit_test(refuses_bad_values),
		cmocka_unit_test(sends_the_environments_value),
		cmocka_unit_test(refuses_a_bad_environment),
		cmocka_unit_test(an_inner_srun_asks_for_nothing),
		cmocka_unit_test(a_new_job_forgets_the_one_around_it),
		cmocka_unit_test(reports_unknown_arguments),
		cmocka_unit_test(srun_learns_where_its_gang_is),
		cmocka_unit_test(srun_inside_salloc_asks),
		cmocka_unit_test(srun_inside_a_salloc_with_segments_alone_asks),
		cmocka_unit_test(srun_asks_where_its_allocation_is_a_gangs),
		cmocka_unit_test(srun_asks_only_about_gangs),
		cmocka_unit_test(a_failed_question_fails_nothing),
		cmocka_unit_test(a_batch_script_gets_its_variables),
		cmocka_unit_test(a_relaxed_gang_is_told_its_real_level),
		cmocka_unit_test(a_gang_in_several_domains_is_told_all),
		cmocka_unit_test(each_task_gets_its_nodes_rank),
		cmocka_unit_test(a_batch_script_without_a_place_gets_none),
		cmocka_unit_test(other_batch_scripts_ask_nothing),
		cmocka_unit_test(tasks_of_a_large_gang_get_their_leaf_and_rank),
		cmocka_unit_test(each_task_gets_its_own_leaf),
		cmocka_unit_test(a_batch_script_sees_the_nodes_that_stayed),
		cmocka_unit_test(without_an_answer_variables_stay),
		cmocka_unit_test(an_srun_in_a_salloc_shell_sees_them_too),
		cmocka_unit_test(refusals_are_clean),
		cmocka_unit_test(spares_and_depth_are_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
