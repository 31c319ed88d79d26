/* SPDX-License-Identifier: GPL-2.0-or-later */
/* private_file.c - files that one user id keeps in a folder of its own */
#include "onespine_config.h"
#include "lib/base/private_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/text.h"

#define FOLDER_MODE 0755
#define BYTES_MAX   ((size_t)4 * 1024 * 1024)

/* Opens the folder if it exists. Readers do not call mkdir() first, which takes the kernel longer
 * than an open. */
static int open_folder(const char *path)
{
	struct stat status;
	int fd;

	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &status) && status.st_uid == geteuid() && !(status.st_mode & 022))
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

int osp_private_folder(const char *path, unsigned int mode)
{
	if (mkdir(path, mode) && errno != EEXIST)
		return -1;
	return open_folder(path);
}

void osp_private_write(const char *folder, const char *file, const void *data, size_t data_bytes)
{
	char name[64];
	int in = osp_private_folder(folder, FOLDER_MODE), fd;
	bool done;

	if (in < 0)
		return;
	snprintf(name, sizeof(name), ".%s.%ld", file, (long)getpid());
	(void)unlinkat(in, name, 0);
	fd = openat(in, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd >= 0) {
		done = osp_write_all(fd, data, data_bytes);
		done = close(fd) == 0 && done;
		if (!done || renameat(in, name, in, file))
			(void)unlinkat(in, name, 0);
	}
	close(in);
}

char *osp_private_read(const char *folder, const char *name, size_t *length_bytes)
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
