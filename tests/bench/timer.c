/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timer.c - times each call of select_p_job_test() in slurmctld, Slurm's own or Onespine's
 *
 * tests/bench/bench links it, as a select_cons_tres.so of its own, with the plugin to be timed and
 * puts its folder first in PluginDir: all other symbols are that plugin's. Slurm's plugin calls its
 * own job_test() (common_job_test() up to 23.02) through its table of symbols, so that comes here
 * too, and what of a call is Slurm's own is known, also where Onespine asked for it.
 *
 * A line for each call into the file "calls" beside this object:
 *	thread mode rc wall_us cpu_us inner_calls inner_wall_us inner_cpu_us
 * inner: in Slurm's function. It knows no record of Slurm's, so one object serves every release.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

/* One parameter more than 22.05 has: the callee there does not look at it. */
#define PARAMETERS                                                                                 \
	void *job, void *bitmap, uint32_t min_nodes, uint32_t max_nodes, uint32_t req_nodes,       \
		uint16_t mode, void *candidates, void *preempted, void *tail, void *slot
#define VALUES job, bitmap, min_nodes, max_nodes, req_nodes, mode, candidates, preempted, tail, slot

typedef int job_test_f(PARAMETERS);

EXPORT job_test_f select_p_job_test, job_test, common_job_test;

struct times {
	uint64_t wall_ns;
	uint64_t cpu_ns;
};

static FILE *calls;
static unsigned int inner_calls;
static struct times inner; /* every caller holds Slurm's node write lock: one call at a time */

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static struct times times_now(void)
{
	return (struct times){clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_THREAD_CPUTIME_ID)};
}

static struct times times_since(struct times start)
{
	struct times now = times_now();

	return (struct times){now.wall_ns - start.wall_ns, now.cpu_ns - start.cpu_ns};
}

static FILE *open_calls(void)
{
	char path[PATH_MAX];
	const char *slash;
	Dl_info here;

	if (!dladdr(&calls, &here) || !here.dli_fname)
		return NULL;
	slash = strrchr(here.dli_fname, '/');
	if (!slash)
		return NULL;
	snprintf(path, sizeof(path), "%.*s/calls", (int)(slash - here.dli_fname), here.dli_fname);
	return fopen(path, "ae");
}

static void note_call(unsigned int mode, int rc, struct times outer)
{
	char thread[17] = "?";

	if (!calls)
		calls = open_calls();
	if (!calls)
		return;
	prctl(PR_GET_NAME, thread);
	for (char *c = thread; *c; c++) {
		if (*c == ' ')
			*c = '_';
	}
	fprintf(calls, "%s %u %d %.1f %.1f %u %.1f %.1f\n", thread, mode, rc,
		(double)outer.wall_ns / 1e3, (double)outer.cpu_ns / 1e3, inner_calls,
		(double)inner.wall_ns / 1e3, (double)inner.cpu_ns / 1e3);
	fflush(calls);
}

int select_p_job_test(PARAMETERS)
{
	static job_test_f *timed;
	struct times start, took;
	int rc;

	if (!timed)
		timed = (job_test_f *)dlsym(RTLD_NEXT, "select_p_job_test");
	inner_calls = 0;
	inner = (struct times){0, 0};
	start = times_now();
	rc = timed(VALUES);
	took = times_since(start);
	note_call(mode, rc, took);
	return rc;
}

static int slurms_own(job_test_f *function, PARAMETERS)
{
	struct times start = times_now(), took;
	int rc = function(VALUES);

	took = times_since(start);
	inner_calls++;
	inner.wall_ns += took.wall_ns;
	inner.cpu_ns += took.cpu_ns;
	return rc;
}

int job_test(PARAMETERS)
{
	static job_test_f *timed;

	if (!timed)
		timed = (job_test_f *)dlsym(RTLD_NEXT, "job_test");
	return slurms_own(timed, VALUES);
}

int common_job_test(PARAMETERS)
{
	static job_test_f *timed;

	if (!timed)
		timed = (job_test_f *)dlsym(RTLD_NEXT, "common_job_test");
	return slurms_own(timed, VALUES);
}
