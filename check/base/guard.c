/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guard.c - one piece of work in a child, never waited for longer than allowed */
#include "onespine_config.h"
#include "check/check.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check/base/child.h"
#include "lib/base/text.h"

#define FILES_MAX     1024 /* a program started by slurmd or a shell has only a few open */
#define DROP_MS	      100
#define PAUSE_MOST_US 20000

uint64_t osp_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Doubles each pause, because most children have just written their answer and end at once. */
bool osp_child_wait(pid_t child, uint64_t until_ms)
{
	for (long pause_us = 50;; pause_us = pause_us < PAUSE_MOST_US ? pause_us * 2 : pause_us) {
		struct timespec moment = {.tv_nsec = pause_us * 1000};
		pid_t ended = waitpid(child, NULL, WNOHANG);

		if (ended == child || (ended < 0 && errno != EINTR))
			return true;
		if (osp_now_ms() >= until_ms)
			return false;
		nanosleep(&moment, NULL);
	}
}

/* Waits only for a moment: a child that is stuck inside the kernel is left to init. */
void osp_child_drop(pid_t child)
{
	kill(child, SIGKILL);
	osp_child_wait(child, osp_now_ms() + DROP_MS);
}

/* Closes all files from `first` up to before `end`, in one call if the kernel and the C library
 * have it. */
static void close_files(int first, int end)
{
	if (first >= end)
		return;
#ifdef HAVE_CLOSE_RANGE
	if (close_range((unsigned int)first, (unsigned int)end - 1, 0) == 0)
		return;
#endif
	for (int file = first; file < end; file++)
		close(file);
}

void osp_child_close_but(int one, int other)
{
	int lesser = one < other ? one : other, greater = one < other ? other : one;

	close_files(3, lesser);
	close_files(lesser < 3 ? 3 : lesser + 1, greater);
	close_files(greater < 3 ? 3 : greater + 1, FILES_MAX);
}

void osp_child_follow(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

/* Closes inherited files: a reader of our output would wait for a child that cannot die. */
static void let_go_of_files(int but, int but_too)
{
	int nothing = open("/dev/null", O_RDWR);

	for (int file = 0; nothing >= 0 && file <= 2; file++)
		dup2(nothing, file);
	osp_child_close_but(but, but_too);
}

pid_t osp_child_start(int *answer)
{
	return osp_child_start_with(answer, -1);
}

pid_t osp_child_start_with(int *answer, int kept)
{
	pid_t parent = getpid(), child;
	int ends[2];

	if (pipe(ends) < 0)
		return -1;
	child = fork();
	if (child < 0) {
		close(ends[0]);
		close(ends[1]);
		return -1;
	}
	if (child) {
		close(ends[1]);
		*answer = ends[0];
		return child;
	}
	/* Ctrl-C, or the end of the caller, ends the work too. */
	osp_child_follow(parent);
	let_go_of_files(ends[1], kept);
	*answer = ends[1];
	return 0;
}

unsigned int osp_child_starved_ms(pid_t child)
{
	uint64_t waited_ns = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/schedstat", (long)child);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%*u %" SCNu64, &waited_ns) != 1)
		waited_ns = 0;
	fclose(file);
	return (unsigned int)(waited_ns / 1000000);
}

int osp_guard_start(struct osp_guard *guard, int (*work)(const void *argument),
		    const void *argument)
{
	guard->starved_ms = 0;
	guard->own_starved_ms = osp_child_starved_ms(getpid());
	guard->child = osp_child_start(&guard->answer);
	if (guard->child == 0) {
		int answer = work(argument);

		_exit(osp_write_all(guard->answer, &answer, sizeof(answer)) ? 0 : 1);
	}
	return guard->child < 0 ? -1 : 0;
}

int osp_guard_collect(struct osp_guard *guard, uint64_t until_ms, int *answer)
{
	struct pollfd wait = {.fd = guard->answer, .events = POLLIN};
	int outcome = 0;

	for (;;) {
		uint64_t now_ms = osp_now_ms();
		int ready = poll(&wait, 1, now_ms < until_ms ? (int)(until_ms - now_ms) : 0);

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready > 0)
			outcome = read(guard->answer, answer, sizeof(*answer)) == sizeof(*answer)
					  ? 1
					  : -1;
		break;
	}
	if (outcome == 0)
		guard->starved_ms = osp_child_starved_ms(guard->child) +
				    osp_child_starved_ms(getpid()) - guard->own_starved_ms;
	close(guard->answer);
	osp_child_drop(guard->child);
	return outcome;
}
