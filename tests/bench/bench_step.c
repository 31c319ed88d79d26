/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_step.c - the CPU time that onespine_node.so takes in slurmstepd, without a Slurm around it
 *
 * usage: bench_step OBJECT DATA_DIR CACHE ROOT TOPOLOGY TASKS
 *
 * The node is one of those that tell nothing, which all but a job's first are. Its own environment
 * is the step's, so it is best run as a task of a step without --gang-env and
 * --gang-bind. Each of 51 rounds is a process of its own: it loads the object, begins, has the
 * user's part done, and forks TASKS tasks as slurmstepd does. Like slurmstepd it has hwloc in it
 * before. Medians of the time on the processor, the kernel's part for us included: what pages cost
 * after the fork is most of it.
 */
#include "onespine_config.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <slurm/slurm.h>

#include "lib/base/environment.h"
#include "spank/node_part.h"

#define ROUNDS	  51
#define TASKS_MAX 256

/* as Slurm 22.05 to 26.05 take it for every variable that is set (ENV_BUFSIZE) */
#define SLURM_BUFFER_BYTES ((size_t)256 * 1024)

enum { LOAD, BEGIN, USER, TASK, PARTS };

static const char *const names[PARTS] = {"load", "begin", "user", "task"};
static char **environment;
static uint32_t rank, task_count;

/* --- SPANK as slurmstepd has it --------------------------------------------------------------- */

static size_t find(const char *name)
{
	size_t length = strlen(name), i;

	for (i = 0; environment[i]; i++) {
		if (!strncmp(environment[i], name, length) && environment[i][length] == '=')
			break;
	}
	return i;
}

static void set(const char *name, const char *value)
{
	char *buffer = calloc(1, SLURM_BUFFER_BYTES);
	size_t at = find(name), count = at;

	if (!buffer)
		abort();
	snprintf(buffer, SLURM_BUFFER_BYTES, "%s", value);
	while (environment[count])
		count++;
	if (count == at) {
		environment = realloc(environment, (count + 2) * sizeof(*environment));
		if (!environment)
			abort();
		environment[count + 1] = NULL;
	} else {
		free(environment[at]);
	}
	if (asprintf(&environment[at], "%s=%s", name, buffer) < 0)
		abort();
	free(buffer);
}

#pragma GCC visibility push(default)

spank_err_t spank_setenv(spank_t spank, const char *name, const char *value, int overwrite)
{
	(void)spank;
	(void)overwrite;
	set(name, value);
	return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t spank, const char *name)
{
	size_t at = find(name);

	(void)spank;
	if (environment[at])
		free(environment[at]);
	for (; environment[at]; at++)
		environment[at] = environment[at + 1];
	return ESPANK_SUCCESS;
}

spank_err_t spank_getenv(spank_t spank, const char *name, char *buffer, int bytes)
{
	const char *value = osp_environment_value(environment, name);

	(void)spank;
	if (!value)
		return ESPANK_ENV_NOEXIST;
	return snprintf(buffer, (size_t)bytes, "%s", value) < bytes ? ESPANK_SUCCESS
								    : ESPANK_NOSPACE;
}

spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
	va_list list;

	(void)spank;
	va_start(list, item);
	if (item == S_JOB_ENV)
		*va_arg(list, char ***) = environment;
	else
		*va_arg(list, uint32_t *) = item == S_TASK_ID		     ? rank
					    : item == S_JOB_LOCAL_TASK_COUNT ? task_count
					    : item == S_JOB_NODEID	     ? 1
									     : 0;
	va_end(list);
	return ESPANK_SUCCESS;
}

void slurm_error(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
}

#pragma GCC visibility pop

/* --- a step ----------------------------------------------------------------------------------- */

static double used_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* What is a task's own stands there only once it has been forked. Which GPUs the step has it knows
 * before, in every release from 22.05 to 26.05. */
static const char *const own[] = {
	"SLURM_CPUS_ON_NODE", "SLURM_TASK_PID", "SLURM_NODEID",
	"SLURM_PROCID",	      "SLURM_LOCALID",	"SLURM_LAUNCH_NODE_IPADDR",
	"SLURM_GTIDS",	      "SLURM_JOB_GID",	"SLURMD_NODENAME"};
static const char *values[sizeof(own) / sizeof(own[0])];

static void copy_environment(void)
{
	extern char **environ;
	size_t count = 0, i;

	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		values[i] = getenv(own[i]);
		unsetenv(own[i]);
	}
	while (environ[count])
		count++;
	environment = calloc(count + 1, sizeof(*environment));
	for (i = 0; environment && i < count; i++)
		environment[i] = strdup(environ[i]);
}

static void run_task(const struct osp_node_part *part, int to)
{
	double start, took_ms;

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		if (values[i])
			set(own[i], values[i]);
	}
	start = used_ms();
	part->task(NULL);
	took_ms = used_ms() - start;
	_exit(write(to, &took_ms, sizeof(took_ms)) != sizeof(took_ms));
}

/* In a process of its own: writes the times of the parts before the tasks', then each task's. */
static int run_step(char **words, int to)
{
	struct osp_node_arguments arguments = {
		.data = words[2], .cache = words[3], .root = words[4], .topology = words[5]};
	struct osp_modes modes = {.client_reported = true};
	const struct osp_node_part *part;
	double at_ms[TASK + 1], took_ms[TASK];
	void *object;

	copy_environment();
	at_ms[LOAD] = used_ms();
	object = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
	part = object ? dlsym(object, OSP_NODE_PART_NAME) : NULL;
	if (!part || !environment) {
		fprintf(stderr, "bench_step: %s\n", dlerror());
		return 1;
	}
	at_ms[BEGIN] = used_ms();
	part->begin(NULL, &arguments, &modes);
	at_ms[USER] = used_ms();
	part->user(NULL);
	at_ms[TASK] = used_ms();
	for (int i = 0; i < TASK; i++)
		took_ms[i] = at_ms[i + 1] - at_ms[i];
	if (write(to, took_ms, sizeof(took_ms)) != sizeof(took_ms))
		return 1;
	for (rank = 0; rank < task_count; rank++) {
		int status = 0;
		pid_t pid = fork();

		if (pid == 0)
			run_task(part, to);
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	return 0;
}

/* --- all -------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static bool read_time(int from, double *time_ms)
{
	return read(from, time_ms, sizeof(*time_ms)) == sizeof(*time_ms);
}

int main(int argc, char **argv)
{
	static double times_ms[PARTS][ROUNDS * TASKS_MAX];
	size_t counts[PARTS] = {0};

	task_count = argc == 7 ? (uint32_t)strtoul(argv[6], NULL, 10) : 0;
	if (!task_count || task_count > TASKS_MAX) {
		fprintf(stderr,
			"usage: bench_step OBJECT DATA_DIR CACHE ROOT TOPOLOGY TASKS(1-%d)\n",
			TASKS_MAX);
		return 2;
	}
	for (int round = 0; round < ROUNDS; round++) {
		int ends[2], status = 1;
		double one_ms;
		pid_t pid;

		if (pipe(ends))
			return 1;
		pid = fork();
		if (pid == 0)
			_exit(run_step(argv, ends[1]));
		close(ends[1]);
		for (int part = 0; read_time(ends[0], &one_ms); part += part < TASK)
			times_ms[part][counts[part]++] = one_ms;
		close(ends[0]);
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	for (int part = 0; part < PARTS; part++) {
		qsort(times_ms[part], counts[part], sizeof(double), by_size);
		printf("%s %.3f ms\n", names[part], times_ms[part][counts[part] / 2]);
	}
	return 0;
}
