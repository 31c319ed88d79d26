/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * backfill_now - preloaded into slurmctld: lets a test ask for a cycle of backfill
 *
 * Backfill sleeps for a second at least between two cycles, and so does whoever waits for one. Here
 * its sleep ends as soon as somebody asks, and the clock that it reads next is a second ahead, or
 * it would sleep on. Nothing else is changed: the cycles that it begins by itself stay, and
 * whatever a cycle decides is Slurm's.
 *
 * ONESPINE_TICKS is a file of two numbers (uint32_t): how many cycles were asked for, and the last
 * of them that ended.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_NS = 4000000, S_NS = 1000000000 };

/* Inside a cycle backfill sleeps for half a second, between two for a whole one. */
static const int64_t BETWEEN_NS = 600000000;

struct ticks {
	_Atomic uint32_t asked;
	_Atomic uint32_t ended;
};

static struct ticks *ticks;
static int (*real_wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
static __thread bool woken;	/* the next time() of this thread is ahead */
static __thread uint32_t cycle; /* what was asked for when it was last woken */

static void __attribute__((constructor)) find(void)
{
	const char *path = getenv("ONESPINE_TICKS");
	int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;

	real_wait = (int (*)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *))dlvsym(
		RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
	if (file < 0)
		return;
	ticks = mmap(NULL, sizeof(*ticks), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (ticks == MAP_FAILED)
		ticks = NULL;
	close(file);
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * (int64_t)S_NS + now.tv_nsec;
}

static bool called_by_backfill(void *caller)
{
	Dl_info found;

	return dladdr(caller, &found) && found.dli_fname &&
	       strstr(found.dli_fname, "sched_backfill");
}

int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *end)
{
	int64_t end_ns = end->tv_sec * (int64_t)S_NS + end->tv_nsec;
	int rc = ETIMEDOUT;

	if (!ticks || end_ns - now_ns() < BETWEEN_NS ||
	    !called_by_backfill(__builtin_return_address(0)))
		return real_wait(cond, mutex, end);
	if (cycle)
		atomic_store(&ticks->ended, cycle);
	while (rc == ETIMEDOUT && !woken && now_ns() < end_ns) {
		int64_t look_ns = now_ns() + LOOK_NS < end_ns ? now_ns() + LOOK_NS : end_ns;
		struct timespec look = {.tv_sec = look_ns / S_NS, .tv_nsec = look_ns % S_NS};

		rc = real_wait(cond, mutex, &look);
		woken = atomic_load(&ticks->asked) != atomic_load(&ticks->ended);
	}
	if (woken)
		cycle = atomic_load(&ticks->asked);
	return rc;
}

time_t time(time_t *where)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	now.tv_sec += woken;
	woken = false;
	if (where)
		*where = now.tv_sec;
	return now.tv_sec;
}
