/* SPDX-License-Identifier: GPL-2.0-or-later */
/* history_file.c - files of runs: a line of JSON each, one file a node, in a folder of root's */
#include "onespine_config.h"
#include "host/record/history_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check/check.h"
#include "lib/base/own_lock.h"

#define SUFFIX	   ".jsonl"
#define NAME_BYTES 256
#define FILES_MAX  100000
#define TAIL_BYTES ((size_t)64 * 1024)

/* The child's answers besides errno. */
enum { NOT_OURS = 10000, LOCKED };

/* --- names and owners ------------------------------------------------------------------------- */

const char *osp_history_key(const char *text, char *buffer, size_t buffer_bytes)
{
	size_t i;

	for (i = 0; text[i] && i + 1 < buffer_bytes; i++)
		buffer[i] =
			isalnum((unsigned char)text[i]) || strchr("._-", text[i]) ? text[i] : '_';
	buffer[i] = '\0';
	/* ".." and hidden names belong to nobody */
	if (*buffer == '.')
		*buffer = '_';
	return buffer;
}

/* Returns whether only root or the caller can have written it. */
static bool is_ours(const struct stat *status)
{
	return (status->st_uid == 0 || status->st_uid == geteuid()) &&
	       !(status->st_mode & (S_IWGRP | S_IWOTH));
}

/* Opens the folder. Returns -1 with errno set, or NOT_OURS for one that is not ours. */
static int open_folder(const char *path)
{
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat status;

	if (folder < 0)
		return -1;
	if (fstat(folder, &status) == 0 && is_ours(&status))
		return folder;
	close(folder);
	errno = NOT_OURS;
	return -1;
}

/* --- appending, in the child ------------------------------------------------------------------ */

/* Makes the last two folders of a path: "/var/lib/onespine/history". */
static void make_folders(const char *path)
{
	char above[PATH_MAX];
	char *slash;

	snprintf(above, sizeof(above), "%s", path);
	slash = strrchr(above, '/');
	if (slash && slash != above) {
		*slash = '\0';
		(void)mkdir(above, 0755);
	}
	(void)mkdir(path, 0755);
}

/* Opens the file in *file. Returns 0, or what went wrong. */
static int open_to_append(int folder, const char *name, int *file)
{
	struct stat status;

	*file = openat(folder, name,
		       O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0640);
	if (*file < 0)
		return errno;
	if (fstat(*file, &status) == 0 && S_ISREG(status.st_mode) && is_ours(&status) &&
	    status.st_nlink == 1)
		return 0;
	close(*file);
	return NOT_OURS;
}

static void set_aside(int folder, const char *name, uint32_t files)
{
	char from[NAME_BYTES + 16], to[NAME_BYTES + 16];

	if (!files) {
		unlinkat(folder, name, 0);
		return;
	}
	for (uint32_t i = files; i > 1; i--) {
		snprintf(from, sizeof(from), "%s.%u", name, i - 1);
		snprintf(to, sizeof(to), "%s.%u", name, i);
		renameat(folder, from, folder, to);
	}
	snprintf(to, sizeof(to), "%s.1", name);
	renameat(folder, name, folder, to);
}

/*
 * Appends in one write, so that a reader sees all of the line or nothing; cuts off again what a
 * full disk took. Returns 0, or what went wrong.
 */
static int append_line(int file, off_t size, const char *line)
{
	size_t length = strlen(line), total;
	char *whole = malloc(length + 3), last = '\n';
	ssize_t written;
	int state = 0;

	if (!whole)
		return ENOMEM;
	/* a line that was torn ends here */
	if (size > 0 && (pread(file, &last, 1, size - 1) != 1 || last != '\n'))
		last = '\0';
	total = (size_t)sprintf(whole, "%s%s\n", last == '\n' ? "" : "\n", line);
	written = write(file, whole, total);
	if (written != (ssize_t)total) {
		state = written < 0 ? errno : ENOSPC;
		if (ftruncate(file, size) < 0 && state == 0)
			state = errno;
	}
	free(whole);
	return state;
}

struct append {
	const struct osp_history_place *place;
	const char *line;
	unsigned int lock_wait_ms;
};

/* The files of a line, open until it has reached the disk: -1 where it was not written. */
struct appended {
	int all, strikes;
};

/* Waits until the file is on the disk, and closes it. Returns 0, or what went wrong. */
static int sync_and_close(int file)
{
	int state = 0;

	if (file < 0)
		return 0;
	if (fdatasync(file) < 0 && errno != EINVAL && errno != EROFS)
		state = errno;
	close(file);
	return state;
}

/* Appends the line, and leaves the file open in *appended; the caller holds the lock. Returns 0, or
 * what went wrong. */
static int append_to_file(const struct append *append, int folder, const char *name, int *appended)
{
	const struct osp_history_place *place = append->place;
	struct stat status;
	int file, state = open_to_append(folder, name, &file);

	if (state)
		return state;
	if (fstat(file, &status) == 0 && status.st_size > 0 &&
	    (uint64_t)status.st_size + strlen(append->line) + 1 > place->file_bytes_max) {
		set_aside(folder, name, place->files);
		close(file);
		state = open_to_append(folder, name, &file);
		if (state)
			return state;
		if (fstat(file, &status) < 0)
			status.st_size = 0;
	}
	state = append_line(file, status.st_size, append->line);
	*appended = file;
	return state;
}

/* --- strikes ---------------------------------------------------------------------------------- */

/* Returns whether this is the run's own verdict, which comes before those of its checks. */
static bool says(const char *line, const char *verdict)
{
	static const char key[] = "\"verdict\":\"";
	const char *at = strstr(line, key);
	size_t length = strlen(verdict);

	return at && strncmp(at + sizeof(key) - 1, verdict, length) == 0 &&
	       at[sizeof(key) - 1 + length] == '"';
}

/* Returns whether the last line of `tail` is a failure; *whole: the line begins there. */
static bool last_says_fail(char *tail, size_t length, bool *whole)
{
	char *start;

	tail[length] = '\0';
	if (tail[length - 1] == '\n')
		tail[--length] = '\0';
	start = memrchr(tail, '\n', length);
	*whole = start;
	return says(start ? start + 1 : tail, "FAIL");
}

/* Returns whether the file ends in a failure. One that cannot be read does not. */
static bool ends_in_failure(int file, off_t size)
{
	size_t most = (size_t)size < OSP_HISTORY_LINE_BYTES_MAX ? (size_t)size
								: OSP_HISTORY_LINE_BYTES_MAX;
	bool failure = false, whole = false;

	for (size_t length = TAIL_BYTES; most && !whole; length *= 4) {
		size_t part = length < most ? length : most;
		char *tail = malloc(part + 1);

		failure = tail && pread(file, tail, part, size - (off_t)part) == (ssize_t)part &&
			  last_says_fail(tail, part, &whole);
		free(tail);
		whole = whole || !tail || part == most;
	}
	return failure;
}

/*
 * Keeps failures, and the first run after each that found none, in a file of their own too: the
 * pass between two strikes distinguishes them from one failure that was seen twice. No user's jobs
 * can fill that file, however many lines they make the node write.
 */
static int keep_strike(const struct append *append, int folder, const char *name, int *appended)
{
	const struct osp_history_place *place = append->place;
	bool fails = says(append->line, "FAIL");
	char own[NAME_BYTES + 16], older[NAME_BYTES + 16];
	struct stat status = {.st_size = 0};
	int file, state;

	snprintf(own, sizeof(own), "%s.0", name);
	snprintf(older, sizeof(older), "%s.00", name);
	if (!fails && ((!says(append->line, "PASS") && !says(append->line, "WARN")) ||
		       fstatat(folder, own, &status, AT_SYMLINK_NOFOLLOW) < 0))
		return 0;
	state = open_to_append(folder, own, &file);
	if (state)
		return state;
	if (fstat(file, &status) < 0)
		status.st_size = 0;
	if (!fails && !ends_in_failure(file, status.st_size)) {
		close(file);
		return 0;
	}
	if (status.st_size > 0 &&
	    (uint64_t)status.st_size + strlen(append->line) + 1 > place->file_bytes_max) {
		renameat(folder, own, folder, older);
		close(file);
		state = open_to_append(folder, own, &file);
		if (state)
			return state;
		status.st_size = 0;
	}
	state = append_line(file, status.st_size, append->line);
	*appended = file;
	return state;
}

/* Appends the line under the lock, and waits for the disk when it has released it: only this run
 * waits then. */
static int append_in_folder(const struct append *append, int folder)
{
	char name[NAME_BYTES], lock_name[NAME_BYTES + 8];
	struct appended appended = {-1, -1};
	int lock, state, kept, synced;

	if (snprintf(name, sizeof(name), "%s" SUFFIX, append->place->key) >= (int)sizeof(name) - 8)
		return ENAMETOOLONG;
	/* a hidden name is no history */
	snprintf(lock_name, sizeof(lock_name), ".%s.lock", append->place->key);
	state = osp_own_lock(folder, lock_name, append->lock_wait_ms, &lock);
	if (state)
		return state == EWOULDBLOCK ? LOCKED : state == EPERM ? NOT_OURS : state;
	kept = keep_strike(append, folder, name, &appended.strikes);
	state = append_to_file(append, folder, name, &appended.all);
	osp_own_lock_keep(lock);
	state = state ? state : kept;
	synced = sync_and_close(appended.strikes);
	state = state ? state : synced;
	synced = sync_and_close(appended.all);
	return state ? state : synced;
}

static int append_in_child(const void *argument)
{
	const struct append *append = argument;
	int folder, state;

	folder = open_folder(append->place->folder);
	if (folder < 0 && errno == ENOENT) {
		make_folders(append->place->folder);
		folder = open_folder(append->place->folder);
	}
	if (folder < 0)
		return errno;
	state = append_in_folder(append, folder);
	close(folder);
	return state;
}

int osp_history_append(const struct osp_history_place *place, const char *line,
		       unsigned int deadline_ms, struct osp_error *error)
{
	/* the other half is for the child's start and the disk */
	const struct append append = {place, line, deadline_ms / 2};
	struct osp_guard guard;
	int state;

	if (osp_guard_start(&guard, append_in_child, &append) < 0)
		return osp_error_at(error, place->folder, 0, 0, "no child process: %s",
				    strerror(errno));
	switch (osp_guard_collect(&guard, osp_now_ms() + deadline_ms, &state)) {
	case 0:
		return osp_error_at(error, place->folder, 0, 0, "no answer within %u ms",
				    deadline_ms);
	case 1:
		break;
	default:
		return osp_error_at(error, place->folder, 0, 0,
				    "the process that writes there crashed");
	}
	if (state == NOT_OURS)
		return osp_error_at(error, place->folder, 0, 0,
				    "others than root may write there, or the file is not root's "
				    "alone");
	if (state == LOCKED)
		return osp_error_at(error, place->folder, 0, 0, "another run holds the lock");
	return state ? osp_error_at(error, place->folder, 0, 0, "%s", strerror(state)) : 0;
}

/* --- reading ---------------------------------------------------------------------------------- */

static void complain(const struct osp_history_reader *reader, const char *file, uint64_t line,
		     const char *why)
{
	if (reader->complain)
		reader->complain(reader->context, file, line, why);
}

/* Reads the lines of a file. A line without an end was torn: another run may be writing it now. */
static int read_lines(FILE *stream, const char *name, const struct osp_history_reader *reader)
{
	char *line = NULL;
	size_t room = 0;
	uint64_t number = 0;
	ssize_t length;
	int state = 0;

	while (!state && (length = getline(&line, &room, stream)) > 0) {
		number++;
		if ((size_t)length > OSP_HISTORY_LINE_BYTES_MAX) {
			complain(reader, name, number, "longer than 4 MiB");
		} else if (line[length - 1] != '\n') {
			complain(reader, name, number, "ends before its end");
		} else {
			line[length - 1] = '\0';
			state = reader->line(reader->context, line, (size_t)length - 1, name,
					     number);
		}
	}
	if (!state && ferror(stream))
		complain(reader, name, number, strerror(errno));
	free(line);
	return state;
}

static int read_file(int folder, const char *name, const struct osp_history_reader *reader)
{
	int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), state = 0;
	struct stat status;
	FILE *stream;

	if (file < 0) {
		complain(reader, name, 0, strerror(errno));
		return 0;
	}
	if (fstat(file, &status) < 0 || !S_ISREG(status.st_mode) || !is_ours(&status)) {
		complain(reader, name, 0, "not a file of root's alone");
		close(file);
		return 0;
	}
	stream = fdopen(file, "r");
	if (!stream) {
		close(file);
		return -1;
	}
	state = read_lines(stream, name, reader);
	fclose(stream);
	return state;
}

/* Returns whether this is KEY.jsonl, or that with ".N". */
static int is_history(const struct dirent *entry)
{
	const char *at = strstr(entry->d_name, SUFFIX);

	if (*entry->d_name == '.' || !at)
		return 0;
	at += strlen(SUFFIX);
	return !*at || (*at == '.' && at[1] && !at[1 + strspn(at + 1, "0123456789")]);
}

int osp_history_read_folder(const char *path, const struct osp_history_reader *reader,
			    struct osp_error *error)
{
	struct dirent **names = NULL;
	int folder = open_folder(path), count, state = 0;

	if (folder < 0 && errno == ENOENT)
		return 0;
	if (folder < 0 && errno == NOT_OURS)
		return osp_error_at(error, path, 0, 0,
				    "others than root may write there: nothing in it counts");
	if (folder < 0)
		return osp_error_at(error, path, 0, 0, "cannot be opened: %s", strerror(errno));
	count = scandirat(folder, ".", &names, is_history, alphasort);
	if (count < 0)
		state = osp_error_at(error, path, 0, 0, "cannot be read: %s", strerror(errno));
	for (int i = 0; i < count; i++) {
		if (!state && i < FILES_MAX && read_file(folder, names[i]->d_name, reader) < 0)
			state = osp_error_at(error, path, 0, 0, "out of memory");
		free(names[i]);
	}
	free(names);
	close(folder);
	return state;
}
