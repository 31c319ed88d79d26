/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rounds.h - the clock of the benches, and the median of their rounds
 *
 * For programs of one thread.
 */
#ifndef OSP_BENCH_ROUNDS_H
#define OSP_BENCH_ROUNDS_H

#include <stdlib.h>
#include <time.h>

/* Microseconds of the monotonic clock. */
static inline double bench_now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* Microseconds of processor of this thread. */
static inline double bench_cpu_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static inline int bench_compare(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts the values; the last is the largest then. */
static inline double bench_median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), bench_compare);
	return values[count / 2];
}

#endif
