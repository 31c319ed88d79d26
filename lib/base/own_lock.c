/* SPDX-License-Identifier: GPL-2.0-or-later */
/* own_lock.c - locks that nobody but their owner can hold */
#include "onespine_config.h"
#include "lib/base/own_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TRY_MS	    2u
#define OTHERS_MODE 0077

/* Opens the lock's file. Removes one that others may open, so that a lock on it counts for
 * nothing. */
static int open_own(int folder, const char *name, int *file)
{
	struct stat status;
	int error = EPERM;

	*file = openat(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (*file < 0)
		return errno == ELOOP ? EPERM : errno;
	if (fstat(*file, &status) < 0)
		error = errno;
	else if (!S_ISREG(status.st_mode) || status.st_uid != geteuid())
		error = EPERM;
	else if (!(status.st_mode & OTHERS_MODE))
		return 0;
	else
		error = unlinkat(folder, name, 0) < 0 ? errno : EAGAIN;
	close(*file);
	*file = -1;
	return error;
}

static bool still_named(int folder, const char *name, int file)
{
	struct stat status, named;

	return fstat(file, &status) == 0 &&
	       fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       named.st_ino == status.st_ino && named.st_dev == status.st_dev;
}

/* Tries once; returns EAGAIN if the caller should try again. */
static int try_once(int folder, const char *name, int *file)
{
	int error = open_own(folder, name, file);

	if (error)
		return error;
	if (flock(*file, LOCK_EX | LOCK_NB) == 0) {
		if (still_named(folder, name, *file))
			return 0;
		error = EAGAIN; /* its last owner has removed the file */
	} else {
		error = errno == EWOULDBLOCK ? EAGAIN : 0; /* Lustre may have no locks */
	}
	close(*file);
	*file = -1;
	return error;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int osp_own_lock(int folder, const char *name, unsigned int wait_ms, int *file)
{
	static const struct timespec pause = {.tv_nsec = TRY_MS * 1000000L};
	int64_t end_ms = now_ms() + wait_ms;
	int error;

	for (;;) {
		error = try_once(folder, name, file);
		if (error != EAGAIN)
			return error;
		if (now_ms() >= end_ms)
			return EWOULDBLOCK;
		nanosleep(&pause, NULL);
	}
}

void osp_own_lock_keep(int file)
{
	if (file >= 0)
		close(file);
}

void osp_own_lock_end(int folder, const char *name, int file)
{
	if (file < 0)
		return;
	(void)unlinkat(folder, name, 0);
	close(file);
}
