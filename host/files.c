/* SPDX-License-Identifier: GPL-2.0-or-later */
/* files.c - files that the command reads and writes */
#include "onespine_config.h"
#include "host/files.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "lib/base/clean.h"
#include "lib/base/text.h"

#define FIRST_ROOM_BYTES ((size_t)64 * 1024)

const char *osp_input_name(const char *path)
{
	return strcmp(path, "-") == 0 ? "standard input" : path;
}

const char *osp_input_words(const char *path, char *buffer, size_t buffer_bytes)
{
	osp_copy_clean(buffer, buffer_bytes, osp_input_name(path));
	return buffer;
}

static int say(struct osp_error *error, const char *path, const char *what)
{
	return osp_error_at(error, path, 0, 0, "%s: %s", what, strerror(errno));
}

/*
 * Reads to the end of `fd`. Returns NULL with errno set if that fails (EFBIG if there is more than
 * the limit).
 */
static char *read_all(int fd, size_t limit_bytes, size_t *length_bytes)
{
	size_t room = FIRST_ROOM_BYTES;
	size_t length = 0;
	char *buffer = malloc(room);

	while (buffer) {
		ssize_t count = read(fd, buffer + length, room - length - 1);
		char *larger;

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			break;
		length += (size_t)count;
		if (count == 0) {
			buffer[length] = '\0';
			*length_bytes = length;
			return buffer;
		}
		if (length > limit_bytes) {
			errno = EFBIG;
			break;
		}
		if (length + 1 < room)
			continue;
		larger = realloc(buffer, room * 2);
		if (!larger)
			break;
		buffer = larger;
		room *= 2;
	}
	free(buffer);
	return NULL;
}

char *osp_read_input(const char *path, size_t limit_bytes, size_t *length_bytes,
		     struct osp_error *error)
{
	bool standard = strcmp(path, "-") == 0;
	int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	char *text;

	if (fd < 0) {
		say(error, path, "cannot be opened");
		return NULL;
	}
	text = read_all(fd, limit_bytes, length_bytes);
	if (!text && errno == EFBIG)
		osp_error_at(error, osp_input_name(path), 0, 0, "larger than %zu MiB",
			     limit_bytes >> 20);
	else if (!text)
		say(error, osp_input_name(path), "cannot be read");
	if (!standard)
		close(fd);
	return text;
}

static int write_directly(const char *path, const char *text, size_t text_bytes,
			  struct osp_error *error)
{
	bool standard = strcmp(path, "-") == 0;
	int fd = standard ? STDOUT_FILENO : open(path, O_WRONLY | O_CLOEXEC);
	int result;

	if (standard)
		fflush(stdout);
	if (fd < 0)
		return say(error, path, "cannot be written");
	result = osp_write_all(fd, text, text_bytes) ? 0 : -1;
	if (result < 0)
		say(error, standard ? "standard output" : path, "cannot be written");
	if (!standard)
		close(fd);
	return result;
}

/*
 * Forces the folder to disk, because a rename lasts only then. Best effort: some file systems
 * refuse.
 */
static void sync_folder(const char *path)
{
	char *folder = osp_path_beside(path, ".");
	int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (fd >= 0) {
		(void)fsync(fd);
		close(fd);
	}
	free(folder);
}

/* Copies access lists and labels to the new file. Best effort: some file systems have none. */
static void copy_attributes(const char *path, int fd)
{
	char names[4096], value[4096];
	ssize_t names_bytes = listxattr(path, names, sizeof(names));
	ssize_t at;

	for (at = 0; at < names_bytes; at += (ssize_t)strlen(names + at) + 1) {
		ssize_t bytes = getxattr(path, names + at, value, sizeof(value));

		if (bytes >= 0)
			(void)fsetxattr(fd, names + at, value, (size_t)bytes, 0);
	}
}

/*
 * Fills the temporary file and renames it. `like` (NULL: none) is the file that it replaces; it
 * gets its owner and group.
 */
static int fill_and_rename(int fd, const char *temporary, const char *path, const struct stat *like,
			   mode_t mode, const char *text, size_t text_bytes)
{
	int result = osp_write_all(fd, text, text_bytes) ? 0 : -1;

	if (result == 0 && like && (like->st_uid != geteuid() || like->st_gid != getegid()))
		result = fchown(fd, like->st_uid, like->st_gid);
	if (result == 0)
		result = fchmod(fd, mode);
	if (result == 0 && like)
		copy_attributes(path, fd);
	if (result == 0)
		result = fsync(fd);
	if (close(fd) < 0)
		result = -1;
	if (result == 0)
		result = rename(temporary, path);
	return result;
}

/* Makes the hidden name beside `path` that the file has until it is whole: no `Include
 * FOLDER/NAME*` and no folder of scripts takes it for one of theirs. `end` is its end. */
static int unfinished_name(const char *path, const char *end, char *name, size_t name_bytes)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;

	return snprintf(name, name_bytes, "%.*s.%s.onespine-%s", (int)(base - path), path, base,
			end) >= (int)name_bytes
		       ? -1
		       : 0;
}

/* Writes the file. `path` has no links; `shown` is what the user calls it. */
static int write_whole(const char *path, const char *shown, const struct stat *like, mode_t mode,
		       const char *text, size_t text_bytes, struct osp_error *error)
{
	char temporary[PATH_MAX];
	int fd;
	int cause;

	if (unfinished_name(path, "XXXXXX", temporary, sizeof(temporary)) < 0)
		return osp_error_at(error, shown, 0, 0, "the name is too long");
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return say(error, shown, "cannot be written");
	if (fill_and_rename(fd, temporary, path, like, mode, text, text_bytes) < 0) {
		cause = errno;
		unlink(temporary);
		errno = cause;
		return say(error, shown, "cannot be written");
	}
	sync_folder(path);
	return 0;
}

int osp_write_new(const char *path, const char *text, size_t text_bytes, const struct stat *like,
		  mode_t mode, struct osp_error *error)
{
	return write_whole(path, path, like, mode, text, text_bytes, error);
}

/* Returns the mode of a file that replaces one of mode `mode` and group `group`. */
typedef mode_t mode_f(mode_t mode, gid_t group);

static mode_t as_it_is(mode_t mode, gid_t group)
{
	(void)group;
	return mode;
}

static mode_t trusted(mode_t mode, gid_t group)
{
	return mode & ~(mode_t)(group ? S_IWGRP | S_IWOTH : S_IWOTH);
}

static int write_with_mode(const char *path, const char *text, size_t text_bytes, mode_f *mode_of,
			   struct osp_error *error)
{
	char resolved[PATH_MAX];
	struct stat status;
	mode_t mask;

	if (strcmp(path, "-") == 0)
		return write_directly(path, text, text_bytes, error);
	if (stat(path, &status) == 0) {
		if (!S_ISREG(status.st_mode))
			return write_directly(path, text, text_bytes, error);
		if (!realpath(path, resolved))
			return say(error, path, "cannot be written");
		return write_whole(resolved, path, &status,
				   mode_of(status.st_mode & 07777, status.st_gid), text, text_bytes,
				   error);
	}
	mask = umask(0);
	umask(mask);
	/* a folder may give its own group to a new file */
	return write_whole(path, path, NULL, mode_of(0666 & ~mask, (gid_t)-1), text, text_bytes,
			   error);
}

int osp_write_output(const char *path, const char *text, size_t text_bytes, struct osp_error *error)
{
	return write_with_mode(path, text, text_bytes, as_it_is, error);
}

int osp_write_trusted(const char *path, const char *text, size_t text_bytes,
		      struct osp_error *error)
{
	return write_with_mode(path, text, text_bytes, trusted, error);
}

void osp_remove_unfinished(const char *path)
{
	char resolved[PATH_MAX], pattern[PATH_MAX];
	glob_t files;

	if (unfinished_name(realpath(path, resolved) ? resolved : path, "??????", pattern,
			    sizeof(pattern)) < 0 ||
	    glob(pattern, 0, NULL, &files) != 0)
		return;
	for (size_t i = 0; i < files.gl_pathc; i++)
		(void)unlink(files.gl_pathv[i]);
	globfree(&files);
}

char *osp_path_beside(const char *beside, const char *name)
{
	const char *slash = strrchr(beside, '/');
	char *path = NULL;
	int written;

	if (*name == '/' || !slash)
		return strdup(name);
	written = asprintf(&path, "%.*s/%s", (int)(slash - beside), beside, name);
	return written < 0 ? NULL : path;
}
