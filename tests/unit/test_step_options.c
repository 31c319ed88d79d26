/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_step_options.c - which of srun's steps get a host file, by srun's own words and variables
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/slurm_compat.h"
#include "spank/ordered.h"
#include "spank/step_options.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define WORDS_MAX    16

/* The variables that these tests set. */
static const char *const all_variables[] = {
	"SLURM_NTASKS",	    "SLURM_NPROCS",	"SLURM_NTASKS_PER_NODE", "SLURM_JOB_NUM_NODES",
	"SLURM_HOSTFILE",   "SLURM_SRUN_MULTI", "SLURM_DISTRIBUTION",	 "SLURM_GPUS_PER_TASK",
	"SLURM_CLUSTERS",   "SLURM_HET_SIZE",	"SLURM_JOB_ID",		 OSP_SRUN_CPUS_VARIABLE,
	"SLURM_EXPORT_ENV", "SRUN_EXPORT_ENV",	"SLURM_TRES_PER_TASK",	 "SLURM_JOB_CPUS_PER_NODE",
	"SLURM_OVERCOMMIT",
};

/* "SLURM_NTASKS=8 -N 4 sh": variables first, then srun's words. */
static void read_line(const char *line, struct osp_step_options *step)
{
	char copy[256], *words[WORDS_MAX], *rest = copy, *word;
	int count = 0;

	for (size_t i = 0; i < COUNT(all_variables); i++)
		unsetenv(all_variables[i]);
	snprintf(copy, sizeof(copy), "%s", line);
	while ((word = strsep(&rest, " "))) {
		char *equals = strchr(word, '=');

		if (!count && (!strncmp(word, "SLURM_", 6) || !strncmp(word, "SRUN_", 5)) &&
		    equals) {
			*equals = '\0';
			setenv(word, equals + 1, 1);
		} else {
			assert_in_range(count, 0, WORDS_MAX - 1);
			words[count++] = word;
		}
	}
	osp_step_options_read(words, count, step);
	for (size_t i = 0; i < COUNT(all_variables); i++)
		unsetenv(all_variables[i]);
}

/* In a job of four nodes: how many tasks a host file has for each, and beside what there is none;
 * "" where nobody is reported. */
static void steps_with_a_host_file(void **state)
{
	static const struct {
		const char *line;
		unsigned int tasks;
		const char *why;
	} cases[] = {
		{"sh", 1, ""},
		{"SLURM_JOB_NUM_NODES=4 sh -m block", 1, ""},
		{"-l -u --label sh -n3", 1, ""},
		{"-- -n3", 1, ""},
		{"-n4 sh", 1, ""},
		{"-n 8 sh", 2, ""},
		{"-lun8 sh", 2, ""},
		{"--ntasks=8 sh", 2, ""},
		{"--ntasks 8 sh", 2, ""},
		{"--ntasks-per-n 8 sh", 8, ""},
		{"--ntasks-per-node=8 --cpus-per-task 4 sh", 8, ""},
		{"SLURM_NTASKS=8 sh", 2, ""},
		{"SLURM_NPROCS=8 sh", 2, ""},
		{"SLURM_NTASKS=8 -n4 sh", 1, ""},
		{"SLURM_NTASKS_PER_NODE=2 sh", 2, ""},
		/* srun goes by the number of tasks of the job then, and says so */
		{"SLURM_NTASKS=32 --ntasks-per-node=1 sh", 8, ""},
		{"SLURM_GPUS_PER_TASK=1 -n4 sh", 1, ""},
		{"--container-image /x.sqsh --container-mounts=/a:/b sh", 1, ""},
		{"--gang-bind=off --gang-env auto sh", 1, ""},
		{"--mem=0 --overlap --kill-on-bad-exit=1 -K0 sh", 1, ""},
		/* block is by the ranks of nodes; what it says of cores a host file would undo */
		{"-m block sh", 1, ""},
		{"-mblock sh", 1, ""},
		{"-m BLOCK,NoPack sh", 1, ""},
		{"--distribution=* sh", 1, ""},
		{"-m *:* sh", 1, ""},
		{"-m *:block sh", 0, "-m"},
		{"-m block:block,Pack sh", 0, "-m"},
		{"-m block:*:cyclic sh", 0, "-m"},
		{"SLURM_DISTRIBUTION=block sh", 1, ""},
		{"SLURM_DISTRIBUTION=block:block sh", 0, "SLURM_DISTRIBUTION"},
		{"-m block --multi-prog x", 0, "--multi-prog"},
		/* its own job, as many scripts say */
		{"SLURM_JOB_ID=7 --jobid=7 sh", 1, ""},
		{"SLURM_JOB_ID=7 --jobid 7 --ntasks-per-node=2 sh", 2, ""},
		{"SLURM_JOB_ID=7 --jobid=7 -w n1 sh", 0, "-w"},
		/* the user orders, or has one task */
		{"--distribution=cyclic sh", 0, ""},
		{"--dist cyclic sh", 0, ""},
		{"-m plane=2 sh", 0, ""},
		{"--distribution=arbitrary sh", 0, ""},
		{"SLURM_DISTRIBUTION=cyclic sh", 0, ""},
		{"SLURM_HOSTFILE=/x sh", 0, ""},
		{"-m cyclic --multi-prog x", 0, ""},
		{"-m blocks sh", 0, ""},
		{"-n1 sh", 0, ""},
		{"-N1 sh", 0, ""},
		{"-N1 -n1 -w n3 sh", 0, ""},
		/* none of these starts tasks of this job */
		{"--help", 0, ""},
		{"--interactive --preserve-env --pty sh", 0, ""},
		{"--jobid=7 sh", 0, ""},
		{"SLURM_JOB_ID=71 --jobid=7 sh", 0, ""},
		{"SLURM_CLUSTERS=x sh", 0, ""},
		/* no host file beside */
		{"-n3 sh", 0, "not as many tasks on each node"},
		{"-n6 sh", 0, "not as many tasks on each node"},
		{"-N2 sh", 0, "fewer nodes than the job has"},
		{"SLURM_JOB_NUM_NODES=3 sh", 0, "fewer nodes than the job has"},
		{"-N2-4 sh", 0, "-N"},
		{"-w n1 sh", 0, "-w"},
		{"-x n1 sh", 0, "-x"},
		{"--exclude=n1 sh", 0, "--exclude"},
		{"-r1 sh", 0, "-r"},
		{"-F x sh", 0, "-F"},
		{"--multi-prog x", 0, "--multi-prog"},
		{"--het-group=0 sh", 0, "--het-group"},
		{"SLURM_HET_SIZE=2 sh", 0, "SLURM_HET_SIZE"},
		{"SLURM_SRUN_MULTI=1 sh", 0, "SLURM_SRUN_MULTI"},
		{"sh : sh", 0, ":"},
		{"-n 4x sh", 0, "-n"},
		{"-n 1k sh", 0, "-n"},
		{"SLURM_GPUS_PER_TASK=1 sh", 0, "as many tasks as GPUs"},
		{"--gpus-per-task 1 sh", 0, "as many tasks as GPUs"},
		/* srun fills the nodes; beside a number of tasks -c does not count */
		{"-c2 sh", 0, "as many tasks as CPUs"},
		{"--cpus-per-task=2 sh", 0, "as many tasks as CPUs"},
		{OSP_SRUN_CPUS_VARIABLE "=2 sh", 0, "as many tasks as CPUs"},
		{"-c2 -n8 sh", 2, ""},
		{"-c2 --ntasks-per-node=2 sh", 2, ""},
		{"SLURM_NTASKS=4 -c2 sh", 1, ""},
		{"--tres-per-task=cpu:2 sh", 0, "as many tasks as CPUs"},
		{"--tres-per-task=gres/gpu:2 sh", 0, "as many tasks as GPUs"},
		{"--tres-per-task=cpu:2,gres/gpu:1 sh", 0, "as many tasks as GPUs"},
		/* where a node holds no second task, that is one on each */
		{"SLURM_JOB_CPUS_PER_NODE=8(x4) -c5 sh", 1, ""},
		{"SLURM_JOB_CPUS_PER_NODE=8(x4) -c8 sh", 1, ""},
		{"SLURM_JOB_CPUS_PER_NODE=8(x4) SLURM_TRES_PER_TASK=cpu=8 -c 8 sh", 1, ""},
		{"SLURM_JOB_CPUS_PER_NODE=8(x4) -c4 sh", 0, "as many tasks as CPUs"},
		{"SLURM_JOB_CPUS_PER_NODE=8(x4) -c9 sh", 0, "as many tasks as CPUs"},
		{"SLURM_JOB_CPUS_PER_NODE=8(x4) -c8 -O sh", 0, "as many tasks as CPUs"},
		{"SLURM_JOB_CPUS_PER_NODE=8(x3),12 -c8 sh", 0, "as many tasks as CPUs"},
		{"SLURM_JOB_CPUS_PER_NODE=8(x4) SLURM_TRES_PER_TASK=cpu=4 -c8 sh", 0,
		 "as many tasks as CPUs"},
		{"SLURM_JOB_CPUS_PER_NODE=8(x4) -c8 --gpus-per-task=1 sh", 0,
		 "as many tasks as GPUs"},
		/* few nodes take all the tasks */
		{"-m block,Pack sh", 0, "-m"},
		{"-m *,pack sh", 0, "-m"},
		{"SLURM_DISTRIBUTION=block,Pack sh", 0, "SLURM_DISTRIBUTION"},
		{"-m block:*,NoPack sh", 1, ""},
		/* a flag alone says nothing of the order of nodes */
		{"-m Pack sh", 0, "-m"},
		{"-m nopack sh", 1, ""},
		{"SLURM_DISTRIBUTION=pack sh", 0, "SLURM_DISTRIBUTION"},
		{"SLURM_DISTRIBUTION=NoPack sh", 1, ""},
		{"-m NoPack,pack sh", 0, "-m"},
		/* of an option that nobody knows the value may be the next word */
		{"--unknown x -w n1 sh", 0, "--unknown"},
		{"--unknown=x sh", 1, ""},
		{"--n 4 sh", 0, "--n"},
		{"-y sh", 0, "-y"},
		{"-n", 0, "-n"},
		{"--ntasks", 0, "--ntasks"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_step_options step;
		char why[64] = "";
		bool say;
		unsigned int tasks;

		read_line(cases[i].line, &step);
		tasks = osp_ordered_tasks(&step, 4, true, &say, why, sizeof(why));
		if (tasks != cases[i].tasks || strcmp(say ? why : "", cases[i].why) != 0)
			fail_msg("%s: %u, %d, %s", cases[i].line, tasks, say, why);
	}
}

/* From 23.11 on srun takes no -N beside a host file; what the job has is no -N. */
static void nodes_beside_a_host_file(void **state)
{
	struct osp_step_options step;
	char why[64];
	bool say;

	(void)state;
	read_line("-N4 sh", &step);
	assert_int_equal(osp_ordered_tasks(&step, 4, true, &say, why, sizeof(why)), 1);
	assert_int_equal(osp_ordered_tasks(&step, 4, false, &say, why, sizeof(why)), 0);
	assert_true(say);
	assert_string_equal(why, "-N: leave it out, Slurm takes no host file beside it");
	read_line("SLURM_JOB_NUM_NODES=4 sh", &step);
	assert_int_equal(osp_ordered_tasks(&step, 4, false, &say, why, sizeof(why)), 1);
}

/* slurmctld would look too long for the nodes of all tasks. */
static void tasks_too_many_for_a_host_file(void **state)
{
	struct osp_step_options step;
	char why[64];
	bool say;

	(void)state;
	read_line("-n16384 sh", &step);
	assert_int_equal(osp_ordered_tasks(&step, 2048, true, &say, why, sizeof(why)), 8);
	read_line("-n32768 sh", &step);
	assert_int_equal(osp_ordered_tasks(&step, 4096, true, &say, why, sizeof(why)), 0);
	assert_true(say);
	assert_string_equal(why, "too many for a host file");
	read_line("--ntasks-per-node=2000000000 sh", &step);
	assert_int_equal(osp_ordered_tasks(&step, 131072, true, &say, why, sizeof(why)), 0);
}

/* Which tasks do not get all variables of srun's: what is said last counts. */
static void exports(void **state)
{
	static const struct {
		const char *line;
		bool some;
	} cases[] = {
		{"sh", false},
		{"--export=ALL sh", false},
		{"--export=ALL,A=B sh", false},
		{"--export=NONE sh", true},
		{"SLURM_EXPORT_ENV=A=B sh", true},
		{"SRUN_EXPORT_ENV=NONE sh", true},
		{"SLURM_EXPORT_ENV=NONE SRUN_EXPORT_ENV=ALL sh", false},
		{"SRUN_EXPORT_ENV=NONE --export=ALL sh", false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_step_options step;

		read_line(cases[i].line, &step);
		if (step.exports_some != cases[i].some)
			fail_msg("%s", cases[i].line);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_with_a_host_file),
		cmocka_unit_test(nodes_beside_a_host_file),
		cmocka_unit_test(tasks_too_many_for_a_host_file),
		cmocka_unit_test(exports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
