/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * system.c - for LD_PRELOAD: a clock that is right and file systems that are as told
 *
 * ONESPINE_FAKE_SYSTEM holds words: "clock=unsynchronised", "clock=far" (a large error),
 * "full=/dev/shm", "stuck=/fsx" (statvfs never returns), "busy=/fsx" (nor here: it computes),
 * "broken=/fsx" (it fails). Folders are reported by the end of their path. "denied=/dev/nvidia3"
 * cannot be opened, as a device that a cgroup withholds. "short=class/nvme" is a file or folder for
 * which no file is left (ENFILE). "kill=slurm.conf" kills the process where it is about to put that
 * file in place by rename(), "killed=slurm.conf" when it has. "ending=400": a process takes so many
 * ms to end, until when a waitpid() that does not wait has no news of it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static bool reported(const char *what, const char *path)
{
	const char *words = getenv("ONESPINE_FAKE_SYSTEM");
	size_t length = strlen(what);

	while (words && *words) {
		size_t word = strcspn(words, " ");
		const char *value = words + length;

		if (word > length && strncmp(words, what, length) == 0) {
			size_t bytes = word - length, path_bytes = strlen(path);

			if (bytes <= path_bytes &&
			    strncmp(path + path_bytes - bytes, value, bytes) == 0)
				return true;
		}
		words += word + (words[word] == ' ');
	}
	return false;
}

EXPORT int statvfs(const char *path, struct statvfs *room)
{
	while (reported("stuck=", path))
		poll(NULL, 0, -1); /* a check of files is not allowed pause() */
	while (reported("busy=", path))
		;
	if (reported("broken=", path)) {
		errno = ESTALE;
		return -1;
	}
	memset(room, 0, sizeof(*room));
	room->f_blocks = 1000;
	room->f_bavail = reported("full=", path) ? 10 : 900;
	room->f_files = 1000;
	room->f_favail = 900;
	return 0;
}

EXPORT int adjtimex(struct timex *clock)
{
	memset(clock, 0, sizeof(*clock));
	clock->maxerror = reported("clock=", "far") ? 5000000 : 2000;
	if (reported("clock=", "unsynchronised")) {
		clock->status = STA_UNSYNC;
		return TIME_ERROR;
	}
	return TIME_OK;
}

EXPORT int open(const char *path, int flags, ...)
{
	va_list rest;
	int mode;

	va_start(rest, flags);
	mode = flags & O_CREAT ? va_arg(rest, int) : 0;
	va_end(rest);
	if (reported("denied=", path) || reported("short=", path)) {
		errno = reported("short=", path) ? ENFILE : EPERM;
		return -1;
	}
	return openat(AT_FDCWD, path, flags, mode);
}

EXPORT int access(const char *path, int mode)
{
	if (reported("short=", path)) {
		errno = ENFILE;
		return -1;
	}
	return faccessat(AT_FDCWD, path, mode, 0);
}

EXPORT DIR *opendir(const char *path)
{
	int file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return file < 0 ? NULL : fdopendir(file);
}

EXPORT int rename(const char *from, const char *to)
{
	int result;

	if (reported("kill=", to))
		kill(getpid(), SIGKILL);
	result = renameat(AT_FDCWD, from, AT_FDCWD, to);
	if (reported("killed=", to))
		kill(getpid(), SIGKILL);
	return result;
}

/* --- processes that take their time to end ---------------------------------------------------- */

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Since when it was waited for. */
static long asked_ms(pid_t process)
{
	static struct {
		pid_t process;
		long ms;
	} asked[64];
	static size_t next;

	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		if (asked[i].process == process)
			return asked[i].ms;
	next %= sizeof(asked) / sizeof(asked[0]);
	asked[next].process = process;
	asked[next].ms = now_ms();
	return asked[next++].ms;
}

EXPORT pid_t waitpid(pid_t process, int *status, int options)
{
	const char *words = getenv("ONESPINE_FAKE_SYSTEM");
	const char *ending = words ? strstr(words, "ending=") : NULL;

	if (ending && process > 0 && options & WNOHANG &&
	    now_ms() < asked_ms(process) + atol(ending + strlen("ending=")))
		return 0;
	return wait4(process, status, options, NULL);
}
