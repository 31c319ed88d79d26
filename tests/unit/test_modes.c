/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_modes.c - --gang-env and --gang-bind: what wins, and what reaches the nodes */
#include "onespine_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "spank/user_binding.h"
#include "spank/modes.h"

#define COUNT(array)  (sizeof(array) / sizeof((array)[0]))

#define OUTER_ENV     "SLURM_SPANK__SLURM_SPANK_OPTION_onespine_gang_env"
#define STEP_VARIABLE "SLURM_ONESPINE_STEP"

/* --- a fake SPANK ----------------------------------------------------------------------------- */

static spank_t handle = (spank_t)&handle;
static struct spank_option registered[4];
static size_t registered_count;
static char said[1024];
static spank_context_t context;
static char *remote[8]; /* NAME=value */

spank_err_t spank_option_register(spank_t spank, struct spank_option *option)
{
	assert_ptr_equal(spank, handle);
	assert_true(registered_count < COUNT(registered));
	registered[registered_count++] = *option;
	return ESPANK_SUCCESS;
}

spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
	assert_ptr_equal(spank, handle);
	assert_int_equal(item, S_JOB_ARGV);
	return ESPANK_NOT_AVAIL;
}

static char **place_of(const char *name)
{
	size_t length = strlen(name), i;

	for (i = 0; i < COUNT(remote) && remote[i]; i++) {
		if (!strncmp(remote[i], name, length) && remote[i][length] == '=')
			return &remote[i];
	}
	assert_true(i < COUNT(remote));
	return &remote[i];
}

spank_err_t spank_getenv(spank_t spank, const char *name, char *buffer, int bytes)
{
	char **place = place_of(name);

	assert_ptr_equal(spank, handle);
	if (!*place || !strchr(*place, '='))
		return ESPANK_ENV_NOEXIST;
	snprintf(buffer, (size_t)bytes, "%s", strchr(*place, '=') + 1);
	return ESPANK_SUCCESS;
}

spank_err_t spank_setenv(spank_t spank, const char *name, const char *value, int overwrite)
{
	char **place = place_of(name);

	assert_ptr_equal(spank, handle);
	assert_int_equal(overwrite, 1);
	free(*place);
	assert_true(asprintf(place, "%s=%s", name, value) > 0);
	return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t spank, const char *name)
{
	char **place = place_of(name);

	assert_ptr_equal(spank, handle);
	if (*place)
		strcpy(*place, "gone");
	return ESPANK_SUCCESS;
}

spank_context_t spank_context(void)
{
	return context;
}

static void add_words(const char *format, va_list list)
{
	size_t length = strlen(said);

	vsnprintf(said + length, sizeof(said) - length, format, list);
}

void slurm_error(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	add_words(format, list);
	va_end(list);
}

void slurm_spank_log(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	add_words(format, list);
	va_end(list);
}

/* --- programs --------------------------------------------------------------------------------- */

static const char *const names[] = {
	OUTER_ENV,
	OSP_ENV_VARIABLE,
	OSP_BIND_VARIABLE,
	STEP_VARIABLE,
	"SLURM_JOB_ID",
	"SLURM_CPU_BIND",
	"SLURM_CPU_BIND_TYPE",
	"SLURM_CPU_BIND_LIST",
	"SLURM_GPU_BIND",
	"SLURM_MEM_BIND",
	"SLURM_HINT",
	"SLURM_TRES_BIND",
	"SLURM_THREADS_PER_CORE",
};

static void begin(void)
{
	registered_count = 0;
	said[0] = '\0';
	for (size_t i = 0; i < COUNT(remote); i++) {
		free(remote[i]);
		remote[i] = NULL;
	}
}

static int set_up(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(names); i++)
		unsetenv(names[i]);
	context = S_CTX_LOCAL;
	begin();
	return 0;
}

static int give(const char *option, const char *value, int is_remote)
{
	for (size_t i = 0; i < registered_count; i++) {
		if (!strcmp(registered[i].name, option))
			return registered[i].cb(0, value, is_remote);
	}
	fail_msg("--%s is not registered", option);
	return -1;
}

static void start(void)
{
	osp_modes_begin();
	assert_int_equal(osp_modes_register(handle), 0);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void test_bad_values(void **state)
{
	static const struct {
		const char *option, *value, *words;
	} cases[] = {
		{"gang-env", "explian",
		 "--gang-env=explian: auto, off or explain is expected; did you mean explain?"},
		{"gang-env", "verbose", "--gang-env=verbose: auto, off or explain is expected"},
		{"gang-bind", "explain", "--gang-bind=explain: auto, off or verbose is expected"},
		{"gang-bind", "", "--gang-bind=: auto, off or verbose is expected"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		begin();
		start();
		assert_int_equal(give(cases[i].option, cases[i].value, 0), -1);
		assert_string_equal(said, cases[i].words);
		said[0] = '\0';
		assert_int_equal(give(cases[i].option, cases[i].value, 1), 0);
		assert_string_equal(said, "");
	}
}

/* A wrong variable refuses a job, not a step of one that runs. */
static void test_bad_variable(void **state)
{
	(void)state;
	setenv(OSP_BIND_VARIABLE, "yes", 1);
	start();
	assert_int_equal(osp_modes_send(), -1);
	assert_string_equal(said, "ONESPINE_GANG_BIND=yes: auto, off or verbose is expected");
	setenv("SLURM_JOB_ID", "1", 1);
	begin();
	start();
	assert_int_equal(osp_modes_send(), 0);
	assert_string_equal(said, "ONESPINE_GANG_BIND=yes: auto, off or verbose is expected");
}

static void test_command_line_wins(void **state)
{
	(void)state;
	setenv(OSP_ENV_VARIABLE, "explain", 1);
	setenv(OSP_BIND_VARIABLE, "off", 1);
	start();
	assert_int_equal(give("gang-bind", "Verbose", 0), 0);
	assert_int_equal(osp_modes_send(), 0);
	assert_string_equal(getenv(OSP_ENV_VARIABLE), "explain");
	assert_string_equal(getenv(OSP_BIND_VARIABLE), "verbose");
	assert_null(getenv(OUTER_ENV));
	osp_modes_hand_on(handle);
	assert_string_equal(getenv(STEP_VARIABLE), "env=explain;bind=verbose;inherited=0;with=");
}

/* sbatch and salloc; what an srun inside makes of it, and a script's node without other
 * variables. */
static void test_a_job(void **state)
{
	struct osp_modes modes;

	(void)state;
	context = S_CTX_ALLOCATOR;
	setenv(OSP_ENV_VARIABLE, "off", 1);
	start();
	assert_int_equal(osp_modes_send(), 0);
	assert_string_equal(getenv(OUTER_ENV), "off");
	context = S_CTX_LOCAL;
	setenv(OSP_ENV_VARIABLE, "explain", 1); /* in the job's shell */
	begin();
	start();
	assert_null(getenv(OUTER_ENV));
	assert_int_equal(osp_modes_send(), 0);
	osp_modes_hand_on(handle);
	assert_string_equal(getenv(STEP_VARIABLE), "env=explain;bind=;inherited=0;with=");
	begin();
	assert_int_equal(osp_modes_register(handle), 0);
	spank_setenv(handle, OUTER_ENV, "off", 1);
	osp_modes_take(handle, &modes);
	assert_true(modes.env_said && modes.env == OSP_ENV_OFF);
	osp_modes_leave(handle, &modes);
	assert_string_equal(*place_of(OSP_ENV_VARIABLE), OSP_ENV_VARIABLE "=off");
}

/* What srun says; the option along with it; the variable where srun has not our plugin. */
static void test_on_the_node(void **state)
{
	static const struct {
		const char *step, *variable, *option;
		int env; /* -1: not said */
		bool inherited, reported;
		const char *with;
	} cases[] = {
		{NULL, NULL, NULL, -1, false, false, ""},
		{"env=;bind=;inherited=0;with=", NULL, NULL, -1, false, true, ""},
		{"env=off;bind=;inherited=1;with=--cpu-bind", "explain", NULL, OSP_ENV_OFF, true,
		 true, "--cpu-bind"},
		{NULL, "explain", NULL, OSP_ENV_EXPLAIN, false, false, ""},
		{NULL, "explain", "off", OSP_ENV_OFF, false, false, ""},
		{NULL, "wrong", NULL, -1, false, false, ""},
		{"nonsense", "auto", NULL, OSP_ENV_AUTO, false, true, ""},
	};
	struct osp_modes modes;
	char value[8];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		begin();
		assert_int_equal(osp_modes_register(handle), 0);
		if (cases[i].step)
			spank_setenv(handle, STEP_VARIABLE, cases[i].step, 1);
		if (cases[i].variable)
			spank_setenv(handle, OSP_ENV_VARIABLE, cases[i].variable, 1);
		if (cases[i].option)
			give("gang-env", cases[i].option, 1);
		osp_modes_take(handle, &modes);
		assert_int_equal(modes.env_said ? (int)modes.env : -1, cases[i].env);
		assert_false(modes.bind_said);
		assert_int_equal(modes.inherited, cases[i].inherited);
		assert_int_equal(modes.client_reported, cases[i].reported);
		assert_string_equal(modes.bound_with, cases[i].with);
		osp_modes_tidy(handle);
		assert_int_equal(spank_getenv(handle, STEP_VARIABLE, value, sizeof(value)),
				 ESPANK_ENV_NOEXIST);
	}
}

static void test_inherited(void **state)
{
	static const struct {
		const char *bind, *type, *list;
		bool inherited;
	} cases[] = {
		{NULL, NULL, NULL, false},
		{"cores", NULL, NULL, false},
		{"quiet,mask_cpu:0x1,0x2", "mask_cpu:", "0x1,0x2", true},
		{"quiet,none", "none", "", true},
		/* set by the user inside a step */
		{"map_cpu:0,1", "mask_cpu:", "0x1,0x2", false},
		{"mask_cpu:0x3,0x3", "mask_cpu:", "0x1,0x2", false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		if (osp_user_binding_inherited(cases[i].bind, cases[i].type, cases[i].list) !=
		    cases[i].inherited)
			fail_msg("case %zu", i);
	}
}

static void test_options(void **state)
{
	static const struct {
		const char *word, *option;
	} cases[] = {
		{"--cpu-bind=cores", "--cpu-bind"},
		{"--cpu_bind=none", "--cpu_bind"},
		{"--cpu-b", "--cpu-bind"},
		{"--cpu-freq=high", NULL},
		{"--gpu-bind", "--gpu-bind"},
		{"--gpus=8", NULL},
		{"--mem-bind=local", "--mem-bind"},
		{"--mem=1G", NULL},
		{"--hint=nomultithread", "--hint"},
		{"--help", NULL},
		{"--threads-per-core=1", "--threads-per-core"},
		{"--thread-spec=1", NULL},
		{"--tres-bind=gpu:single:1", "--tres-bind"},
		{"-B", "--extra-node-info"},
		{"-B2:4", "--extra-node-info"},
		{"-b", NULL},
		{"--extra=x", NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *words[] = {(char *)"srun", (char *)"-n8", (char *)cases[i].word};
		const char *found = osp_user_binding_option(words, 3);

		if (!cases[i].option != !found || (found && strcmp(found, cases[i].option) != 0))
			fail_msg("%s: %s", cases[i].word, found ? found : "none");
	}
}

/* What srun's user says in the environment, and what only stands there. */
static void test_environment(void **state)
{
	(void)state;
	setenv("SLURM_CPU_BIND", "quiet,mask_cpu:0x1", 1);
	setenv("SLURM_CPU_BIND_TYPE", "mask_cpu:", 1);
	setenv("SLURM_CPU_BIND_LIST", "0x1", 1);
	start();
	osp_modes_hand_on(handle);
	assert_string_equal(getenv(STEP_VARIABLE), "env=;bind=;inherited=1;with=");
	assert_non_null(strstr(said, "SLURM_CPU_BIND is in the environment of the step"));
	begin();
	setenv("SLURM_MEM_BIND", "local", 1);
	start();
	osp_modes_hand_on(handle);
	assert_string_equal(getenv(STEP_VARIABLE), "env=;bind=;inherited=1;with=SLURM_MEM_BIND");
	assert_string_equal(said, "");
	unsetenv("SLURM_MEM_BIND");
	begin();
	start();
	assert_int_equal(give("gang-bind", "off", 0), 0);
	osp_modes_hand_on(handle);
	assert_string_equal(said, "");
	begin();
	setenv("SLURM_CPU_BIND", "none", 1);
	start();
	osp_modes_hand_on(handle);
	assert_string_equal(getenv(STEP_VARIABLE), "env=;bind=;inherited=0;with=SLURM_CPU_BIND");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_bad_values, set_up),
		cmocka_unit_test_setup(test_bad_variable, set_up),
		cmocka_unit_test_setup(test_command_line_wins, set_up),
		cmocka_unit_test_setup(test_a_job, set_up),
		cmocka_unit_test_setup(test_on_the_node, set_up),
		cmocka_unit_test_setup(test_inherited, set_up),
		cmocka_unit_test_setup(test_options, set_up),
		cmocka_unit_test_setup(test_environment, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
