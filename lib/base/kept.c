/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "onespine_config.h"
#include "lib/base/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BYTES_MAX ((size_t)4 * 1024 * 1024)

/* The folder, made where it lacks; -1 where another could write it. */
static int open_folder(const char *path)
{
	struct stat status;
	int fd;

	(void)mkdir(path, 0755);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &status) && status.st_uid == geteuid() && !(status.st_mode & 022))
		return fd;
	close(fd);
	return -1;
}

static bool write_all(int fd, const char *text, size_t left)
{
	while (left) {
		ssize_t count = write(fd, text, left);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return false;
		text += count;
		left -= (size_t)count;
	}
	return true;
}

void osp_kept_write(const char *folder, const char *file, const void *data, size_t data_bytes)
{
	char name[64];
	int in = open_folder(folder), fd;
	bool done;

	if (in < 0)
		return;
	snprintf(name, sizeof(name), ".%s.%ld", file, (long)getpid());
	(void)unlinkat(in, name, 0);
	fd = openat(in, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd >= 0) {
		done = write_all(fd, data, data_bytes);
		done = close(fd) == 0 && done;
		if (!done || renameat(in, name, in, file))
			(void)unlinkat(in, name, 0);
	}
	close(in);
}

char *osp_kept_read(const char *folder, const char *name, size_t *length_bytes)
{
	struct stat status;
	size_t length = 0;
	char *text = NULL;
	int in, fd = -1;

	in = open_folder(folder);
	if (in >= 0) {
		fd = openat(in, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
		close(in);
	}
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
	    !(status.st_mode & 022) && status.st_size > 0 && (size_t)status.st_size < BYTES_MAX)
		text = malloc((size_t)status.st_size + 1);
	while (text && length < (size_t)status.st_size) {
		ssize_t count = read(fd, text + length, (size_t)status.st_size - length);

		if (count <= 0)
			break;
		length += (size_t)count;
	}
	close(fd);
	if (text)
		text[length] = '\0';
	*length_bytes = length;
	return text;
}
