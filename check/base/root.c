/* SPDX-License-Identifier: GPL-2.0-or-later */
/* root.c - reading sysfs, proc and dev below a root folder */
#include "check/base/root.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- what was not read for want of files or memory -------------------------------------------- */

static struct {
	int error; /* 0: nothing */
	char path[OSP_PATH_BYTES];
} short_of;

/* Notes errno as the reason why `path` was not read if it says nothing of it. Keeps errno. */
static void note_short(const char *path)
{
	if (short_of.error || (errno != EMFILE && errno != ENFILE && errno != ENOMEM))
		return;
	short_of.error = errno;
	snprintf(short_of.path, sizeof(short_of.path), "%s", path);
}

const char *osp_root_short(int *error)
{
	*error = short_of.error;
	return short_of.error ? short_of.path : NULL;
}

void osp_root_short_forget(void)
{
	short_of.error = 0;
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool join(const char *root, char *buffer, size_t buffer_bytes, const char *format,
		 va_list arguments)
{
	int length = snprintf(buffer, buffer_bytes, "%s/", root);
	int rest;

	if (length < 0 || (size_t)length >= buffer_bytes) {
		errno = ENAMETOOLONG;
		return false;
	}
	rest = vsnprintf(buffer + length, buffer_bytes - (size_t)length, format, arguments);
	if (rest < 0 || (size_t)rest >= buffer_bytes - (size_t)length) {
		errno = ENAMETOOLONG;
		return false;
	}
	return true;
}

/* Puts the path of the caller's `format` and arguments into `path`. */
#define JOIN(root, path, format, fits)                                                             \
	do {                                                                                       \
		va_list arguments;                                                                 \
		va_start(arguments, format);                                                       \
		fits = join(root, path, sizeof(path), format, arguments);                          \
		va_end(arguments);                                                                 \
	} while (0)

bool osp_root_path(const char *root, char *buffer, size_t buffer_bytes, const char *format, ...)
{
	va_list arguments;
	bool fits;

	va_start(arguments, format);
	fits = join(root, buffer, buffer_bytes, format, arguments);
	va_end(arguments);
	return fits;
}

static bool read_path(const char *path, char *buffer, size_t buffer_bytes)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	size_t length = 0;
	ssize_t count = 0;

	if (file < 0) {
		note_short(path);
		return false;
	}
	while (length + 1 < buffer_bytes) {
		count = read(file, buffer + length, buffer_bytes - 1 - length);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			break;
		length += (size_t)count;
	}
	if (count < 0)
		note_short(path);
	close(file);
	while (length && isspace((unsigned char)buffer[length - 1]))
		length--;
	buffer[length] = '\0';
	return count >= 0;
}

bool osp_root_read(const char *root, char *buffer, size_t buffer_bytes, const char *format, ...)
{
	char path[OSP_PATH_BYTES];
	bool fits;

	JOIN(root, path, format, fits);
	return fits && read_path(path, buffer, buffer_bytes);
}

bool osp_root_number(const char *root, uint64_t *number, const char *format, ...)
{
	char path[OSP_PATH_BYTES], text[64], *end;
	bool fits;

	JOIN(root, path, format, fits);
	if (!fits || !read_path(path, text, sizeof(text)) || !isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*number = strtoull(text, &end, 0);
	return errno == 0;
}

bool osp_root_exists(const char *root, const char *format, ...)
{
	char path[OSP_PATH_BYTES];
	bool fits;

	JOIN(root, path, format, fits);
	if (!fits)
		return false;
	if (access(path, F_OK) == 0)
		return true;
	note_short(path);
	return false;
}

bool osp_root_link_name(const char *root, char *buffer, size_t buffer_bytes, const char *format,
			...)
{
	char path[OSP_PATH_BYTES], target[OSP_PATH_BYTES];
	const char *slash;
	ssize_t length;
	bool fits;

	JOIN(root, path, format, fits);
	if (!fits)
		return false;
	length = readlink(path, target, sizeof(target) - 1);
	if (length < 0) {
		note_short(path);
		return false;
	}
	target[length] = '\0';
	slash = strrchr(target, '/');
	snprintf(buffer, buffer_bytes, "%s", slash ? slash + 1 : target);
	return true;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

bool osp_root_list(const char *root, struct osp_names *names, const char *format, ...)
{
	char path[OSP_PATH_BYTES];
	struct dirent *entry;
	DIR *folder;
	bool fits;

	names->names = NULL;
	names->count = 0;
	JOIN(root, path, format, fits);
	if (!fits)
		return false;
	folder = opendir(path);
	if (!folder) {
		note_short(path);
		return false;
	}
	names->names = malloc(OSP_NAMES_MAX * sizeof(*names->names));
	while (names->names && names->count < OSP_NAMES_MAX && (entry = readdir(folder)))
		if (*entry->d_name != '.' && strlen(entry->d_name) < sizeof(*names->names))
			strcpy(names->names[names->count++], entry->d_name);
	closedir(folder);
	if (!names->names) {
		errno = ENOMEM;
		note_short(path);
		return false;
	}
	qsort(names->names, names->count, sizeof(*names->names), compare_names);
	return true;
}

void osp_names_free(struct osp_names *names)
{
	free(names->names);
	names->names = NULL;
	names->count = 0;
}
