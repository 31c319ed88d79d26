/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_node_part.c - a step's node and task without Slurm, on a node of two GPUs that is not there
 *
 * The fake SPANK gives each task a new environment with every change and spoils the old one, as
 * Slurm's may.
 */
#include "onespine_config.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/base/environment.h"
#include "spank/node_part.h"

#define NAMES_MAX 64

extern const struct osp_node_part osp_node_part;

static spank_t handle = (spank_t)&handle;
static char **environment;
static size_t changes;
static uint32_t rank, tasks = 1;
static char folder[64], root[128], data[128], site[128], cache[128], topology[128];

/* --- a fake SPANK ----------------------------------------------------------------------------- */

/* A copy with NAME=VALUE in it (NULL: without NAME); what was before is spoilt. */
static void change(const char *name, const char *value)
{
	char **next = calloc(NAMES_MAX, sizeof(*next));
	size_t count = 0, length = strlen(name);

	for (char **at = environment; at && *at; at++) {
		if (strncmp(*at, name, length) != 0 || (*at)[length] != '=')
			next[count++] = strdup(*at);
		memset(*at, 0xa5, strlen(*at));
		free(*at);
	}
	if (value)
		assert_true(asprintf(&next[count++], "%s=%s", name, value) > 0);
	assert_true(count < NAMES_MAX);
	if (environment)
		memset(environment, 0xa5, NAMES_MAX * sizeof(*environment));
	free(environment);
	environment = next;
	changes++;
}

spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
	uint32_t *number = NULL;
	va_list list;

	assert_ptr_equal(spank, handle);
	va_start(list, item);
	if (item == S_JOB_ENV)
		*va_arg(list, char ***) = environment;
	else
		number = va_arg(list, uint32_t *);
	va_end(list);
	if (number)
		*number = item == S_JOB_LOCAL_TASK_COUNT ? tasks
			  : item == S_TASK_ID		 ? rank
			  : item == S_JOB_ID		 ? 1
							 : 0;
	return ESPANK_SUCCESS;
}

spank_err_t spank_getenv(spank_t spank, const char *name, char *buffer, int bytes)
{
	const char *value = osp_environment_value(environment, name);

	assert_ptr_equal(spank, handle);
	if (!value)
		return ESPANK_ENV_NOEXIST;
	snprintf(buffer, (size_t)bytes, "%s", value);
	return ESPANK_SUCCESS;
}

spank_err_t spank_setenv(spank_t spank, const char *name, const char *value, int overwrite)
{
	assert_ptr_equal(spank, handle);
	assert_int_equal(overwrite, 1);
	change(name, value);
	return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t spank, const char *name)
{
	assert_ptr_equal(spank, handle);
	change(name, NULL);
	return ESPANK_SUCCESS;
}

void slurm_error(const char *format, ...)
{
	(void)format;
}

/* --- a node ----------------------------------------------------------------------------------- */

static void write_file(const char *where, const char *name, const char *text)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s%s", where, name);
	for (char *at = path + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(path, 0755);
		*at = '/';
	}
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/onespine-part-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(root, sizeof(root), "%s/root", folder);
	snprintf(data, sizeof(data), "%s/data", folder);
	snprintf(site, sizeof(site), "%s/site", folder);
	snprintf(cache, sizeof(cache), "%s/cache", folder);
	snprintf(topology, sizeof(topology), "%s/m.xml", folder);
	write_file(root, "/sys/bus/pci/devices/0000:80:00.0/vendor", "0x10de\n");
	write_file(root, "/sys/bus/pci/devices/0000:80:00.0/class", "0x030200\n");
	write_file(folder, "/m.xml",
		   "<system><cpu numaid=\"0\" affinity=\"03\"><pci busid=\"0000:80:00.0\" "
		   "class=\"0x030200\"/></cpu></system>");
	write_file(data, "/instances/t.yaml", "source: x\ninstances:\n  t: {vendor: nvidia}\n");
	write_file(data, "/rules/r.yaml",
		   "rules:\n"
		   "  - {id: A, when: {vendor: nvidia}, action: set, variable: ONE, value: \"1\", "
		   "severity: missing, reason: r, source: s}\n"
		   "  - {id: B, when: {vendor: nvidia}, action: set, variable: TWO, value: \"2\", "
		   "severity: missing, reason: r, source: s}\n");
	change("SLURM_PROCID", "0");
	change("SLURM_CPUS_ON_NODE", "8");
	return 0;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	while (environment && environment[0]) {
		char name[128];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(environment[0], "="),
			 environment[0]);
		change(name, NULL);
	}
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

/* Once for the step: begin and the user's part. */
static void prepare_step(enum osp_env_mode env)
{
	struct osp_node_arguments arguments = {
		.cache = cache, .topology = topology, .data = data, .site = site, .root = root};
	struct osp_modes modes = {.env_said = true,
				  .bind_said = true,
				  .env = env,
				  .bind = OSP_BIND_AUTO,
				  .client_reported = true};

	osp_node_part.begin(handle, &arguments, &modes);
	osp_node_part.user(handle);
}

static void run_step(enum osp_env_mode env)
{
	prepare_step(env);
	osp_node_part.task(handle);
}

static void assert_set(const char *name, const char *value)
{
	const char *found = osp_environment_value(environment, name);

	if (!value)
		assert_null(found);
	else if (!found || strcmp(found, value) != 0)
		fail_msg("%s is %s, not %s", name, found ? found : "not set", value);
}

static void test_sets(void **state)
{
	(void)state;
	change("TWO", "mine");
	run_step(OSP_ENV_AUTO);
	assert_set("ONE", "1");
	assert_set("TWO", "mine");
	assert_set("ONESPINE_TOPOLOGY", topology);
	assert_true(!strncmp(osp_environment_value(environment, "ONESPINE_ENV_SET"), "ONE:", 4));
}

/* What an outer step set is decided anew; what its user changed since then is the user's. */
static void test_inner_step(void **state)
{
	(void)state;
	run_step(OSP_ENV_AUTO);
	change("TWO", "mine");
	write_file(data, "/rules/r.yaml",
		   "rules:\n"
		   "  - {id: A, when: {vendor: nvidia}, action: set, variable: [ONE, TWO], value: "
		   "\"3\", severity: missing, reason: r, source: s}\n");
	run_step(OSP_ENV_AUTO);
	assert_set("ONE", "3");
	assert_set("TWO", "mine");
}

/* What an outer step set on a node of another type goes, though no rule is about it here. */
static void test_from_another_node(void **state)
{
	char list[128];

	(void)state;
	run_step(OSP_ENV_AUTO);
	snprintf(list, sizeof(list), "%s", osp_environment_value(environment, "ONESPINE_ENV_SET"));
	memcpy(list, "ALL", 3); /* as long as ONE, and the sum is of the value */
	change("ONESPINE_ENV_SET", list);
	change("ONE", NULL);
	change("ALL", "1");
	run_step(OSP_ENV_AUTO);
	assert_set("ALL", NULL);
	assert_set("ONE", "1");
	change("ONESPINE_ENV_SET", list);
	change("ALL", "mine");
	change("ONE", NULL);
	run_step(OSP_ENV_AUTO);
	assert_set("ALL", "mine");
	assert_set("ONE", "1");
}

/* What the step set for its tasks they leave alone, and what they see otherwise they put right. */
static void test_task(void **state)
{
	static const struct {
		const char *name,
			*value; /* what happens to the task's environment after the step's */
		const char *one, *three;
		bool touches;
	} cases[] = {
		{NULL, NULL, "1", "yes", false},
		{"OTHER", "x", "1", "yes", false},
		{"ONE", "mine", "mine", "yes", true},
		{"ONE", NULL, "1", "yes", true},
		{"SLURM_STEP_NUM_NODES", "1", "1", NULL, true},
		{"SLURM_STEP_NUM_NODES", "3", "1", "yes", false},
	};

	(void)state;
	write_file(
		data, "/rules/r.yaml",
		"rules:\n"
		"  - {id: A, when: {vendor: nvidia}, action: set, variable: ONE, value: \"1\", "
		"severity: missing, reason: r, source: s}\n"
		"  - {id: B, when: {nodes: \">1\"}, action: set, variable: THREE, value: \"yes\", "
		"severity: missing, reason: r, source: s}\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		change("SLURM_STEP_NUM_NODES", "2");
		change("THREE", NULL);
		change("ONE", NULL);
		change("ONESPINE_ENV_SET", NULL);
		prepare_step(OSP_ENV_AUTO);
		assert_set("ONE", "1");
		assert_set("THREE", "yes");
		if (cases[i].name)
			change(cases[i].name, cases[i].value);
		changes = 0;
		osp_node_part.task(handle);
		assert_set("ONE", cases[i].one);
		assert_set("THREE", cases[i].three);
		if ((changes != 0) != cases[i].touches)
			fail_msg("case %zu: %zu changes", i, changes);
	}
}

static void test_off(void **state)
{
	(void)state;
	run_step(OSP_ENV_OFF);
	assert_set("ONE", NULL);
	assert_set("ONESPINE_TOPOLOGY", topology);
}

/* What the job does not say, policy says, unless others than root and SlurmUser may write it. */
static void test_policy_of_others(void **state)
{
	struct osp_node_arguments arguments = {
		.cache = cache, .topology = topology, .data = data, .site = site, .root = root};
	struct osp_modes modes = {.env_said = false, .bind_said = true, .client_reported = true};
	char policy[160];

	(void)state;
	snprintf(policy, sizeof(policy), "%s/onespine.yaml", site);
	arguments.config = policy;
	write_file(site, "/onespine.yaml", "defaults: {env: off}\n");
	for (int others = 0; others < 2; others++) {
		assert_int_equal(chmod(policy, others ? 0646 : 0644), 0);
		osp_node_part.begin(handle, &arguments, &modes);
		osp_node_part.user(handle);
		osp_node_part.task(handle);
		assert_set("ONE", others ? "1" : NULL);
	}
}

/* Two GPUs, each on a NUMA node with one CPU. */
static void make_two_nodes(void)
{
	write_file(root, "/sys/bus/pci/devices/0000:81:00.0/vendor", "0x10de\n");
	write_file(root, "/sys/bus/pci/devices/0000:81:00.0/class", "0x030200\n");
	write_file(folder, "/m.xml",
		   "<system><cpu numaid=\"0\" affinity=\"01\"><pci busid=\"0000:80:00.0\" "
		   "class=\"0x030200\"/></cpu><cpu numaid=\"1\" affinity=\"02\"><pci "
		   "busid=\"0000:81:00.0\" class=\"0x030200\"/></cpu></system>");
}

/* What a task has of its own counts, whatever was made ready for all of them. */
static void test_tasks_own(void **state)
{
	static const struct {
		const char *name, *value; /* in the task's environment alone */
		int started_on;		  /* the task's only CPU when it starts; -1: the step's */
		int bound_to[2];	  /* task by task; -1: as it started */
	} cases[] = {
		{NULL, NULL, -1, {0, 1}},
		{"SLURM_CPUS_ON_NODE", "1", -1, {-1, -1}}, /* whose cores are which? */
		{"SLURM_CPU_BIND_TYPE", "none", -1, {0, 1}},
		{"SLURM_CPU_BIND_TYPE", "mask_cpu:", 1, {1, 1}},
		{"CUDA_VISIBLE_DEVICES", "1", -1, {1, 1}},
		{NULL, NULL, 1, {1, 1}},
	};
	cpu_set_t before, bound, one;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	if (!CPU_ISSET(0, &before) || !CPU_ISSET(1, &before))
		skip();
	make_two_nodes();
	tasks = 2;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		int wanted = cases[i / 2].bound_to[i % 2];

		rank = i % 2;
		change("SLURM_CPUS_ON_NODE", "8");
		change("SLURM_CPU_BIND_TYPE", NULL);
		change("CUDA_VISIBLE_DEVICES", NULL);
		prepare_step(OSP_ENV_OFF);
		if (cases[i / 2].name)
			change(cases[i / 2].name, cases[i / 2].value);
		CPU_ZERO(&one);
		CPU_SET(cases[i / 2].started_on < 0 ? 0 : cases[i / 2].started_on, &one);
		if (cases[i / 2].started_on >= 0)
			assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
		osp_node_part.task(handle);
		assert_int_equal(sched_getaffinity(0, sizeof(bound), &bound), 0);
		assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
		CPU_ZERO(&one);
		CPU_SET(wanted < 0 ? 0 : wanted, &one);
		if (!CPU_EQUAL(&bound, wanted < 0 ? &before : &one))
			fail_msg("case %zu, task %u: bound to %d CPUs, not to CPU %d", i / 2, rank,
				 CPU_COUNT(&bound), wanted);
	}
	rank = 0;
	tasks = 1;
}

/* Inside device cgroups each task of --gpus-per-task counts its only GPU as 0: Slurm has dealt them
 * in the tasks' order. */
static void test_dealt_gpus(void **state)
{
	cpu_set_t before, bound;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	if (!CPU_ISSET(0, &before) || !CPU_ISSET(1, &before))
		skip();
	make_two_nodes();
	change("SLURM_STEP_GPUS", "0,1");
	change("SLURMD_TRES_BIND", "gres/gpu:per_task:1");
	change("CUDA_VISIBLE_DEVICES", "0");
	tasks = 2;
	for (rank = 0; rank < tasks; rank++) {
		prepare_step(OSP_ENV_OFF);
		osp_node_part.task(handle);
		assert_int_equal(sched_getaffinity(0, sizeof(bound), &bound), 0);
		assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
		if (CPU_COUNT(&bound) != 1 || !CPU_ISSET(rank, &bound))
			fail_msg("task %u is bound to %d CPUs, not to CPU %u", rank,
				 CPU_COUNT(&bound), rank);
	}
	rank = 0;
	tasks = 1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sets, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_inner_step, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_from_another_node, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_task, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_policy_of_others, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_off, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_tasks_own, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_dealt_gpus, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
