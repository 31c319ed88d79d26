/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pass_store.c - where a node's passes are kept, and whether one still holds */
#include "check/base/pass_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check/base/child.h"
#include "check/base/root.h"
#include "lib/base/text.h"

#define SINCE "since"

static bool pass_path(const char *root, const char *name, char *path, size_t path_bytes)
{
	return osp_root_path(root, path, path_bytes, "%s%s%s", &OSP_RUN_DIR[1], *name ? "/" : "",
			     name);
}

static const char *pass_name(enum osp_depth depth, char *name, size_t name_bytes)
{
	snprintf(name, name_bytes, "pass-%s", osp_depth_names[depth]);
	return name;
}

/* Returns whether only root (or the caller) can have written it. */
static bool is_ours(int file)
{
	struct stat status;

	return fstat(file, &status) == 0 && (status.st_uid == 0 || status.st_uid == geteuid()) &&
	       !(status.st_mode & (S_IWGRP | S_IWOTH));
}

/* Opens the folder, which must be ours. Returns -1 with `error` set, and errno ENOENT if it is
 * missing. */
static int open_folder(const char *root, char *path, size_t path_bytes, struct osp_error *error)
{
	int folder;

	if (!pass_path(root, "", path, path_bytes))
		return osp_error_set(error, "%s%s: %s", root, OSP_RUN_DIR, strerror(errno));
	folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0) {
		int cause = errno;

		osp_error_at(error, path, 0, 0, "cannot be opened: %s", strerror(cause));
		errno = cause;
		return -1;
	}
	if (is_ours(folder))
		return folder;
	close(folder);
	errno = EPERM;
	return osp_error_at(error, path, 0, 0,
			    "others than root may write there: nothing in it counts");
}

/* --- reading ---------------------------------------------------------------------------------- */

static char *read_file(int file, size_t *length)
{
	char *text = malloc(OSP_PASS_FILE_BYTES_MAX + 2);
	ssize_t count = 1;

	*length = 0;
	while (text && count && *length <= OSP_PASS_FILE_BYTES_MAX) {
		count = read(file, text + *length, OSP_PASS_FILE_BYTES_MAX + 1 - *length);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0) {
			free(text);
			return NULL;
		}
		*length += (size_t)count;
	}
	if (text)
		text[*length] = '\0';
	return text;
}

static int read_pass(int file, const char *name, struct osp_pass *pass, struct osp_error *error)
{
	struct stat status;
	size_t length;
	char *text;
	int state;

	if (!is_ours(file) || fstat(file, &status) < 0 || !S_ISREG(status.st_mode))
		return osp_error_at(error, name, 0, 0, "not a file of root's alone");
	text = read_file(file, &length);
	if (!text)
		return osp_error_at(error, name, 0, 0, "cannot be read: %s", strerror(errno));
	state = osp_pass_read(name, text, length, pass, error);
	free(text);
	return state ? -1 : 1;
}

static int load(const char *root, const char *name, struct osp_pass *pass, struct osp_error *error)
{
	struct osp_error why = {.text = ""};
	char path[OSP_PATH_BYTES];
	int folder, file, state;

	memset(pass, 0, sizeof(*pass));
	folder = open_folder(root, path, sizeof(path), &why);
	if (folder < 0 && errno == ENOENT)
		return 0;
	if (folder < 0) {
		if (error)
			*error = why;
		return -1;
	}
	file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (file >= 0)
		state = read_pass(file, name, pass, error);
	else if (errno == ENOENT)
		state = 0;
	else
		state = osp_error_at(error, name, 0, 0, "cannot be opened: %s", strerror(errno));
	if (file >= 0)
		close(file);
	close(folder);
	return state;
}

char *osp_run_file_read(const char *root, const char *name)
{
	char path[OSP_PATH_BYTES], *text = NULL;
	int folder = open_folder(root, path, sizeof(path), NULL), file;
	struct stat status;
	size_t length;

	if (folder < 0)
		return NULL;
	file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (file >= 0 && is_ours(file) && fstat(file, &status) == 0 && S_ISREG(status.st_mode))
		text = read_file(file, &length);
	if (file >= 0)
		close(file);
	close(folder);
	return text;
}

int osp_pass_load(const char *root, enum osp_depth depth, struct osp_pass *pass,
		  struct osp_error *error)
{
	char name[32];

	return load(root, pass_name(depth, name, sizeof(name)), pass, error);
}

int osp_pass_load_since(const char *root, struct osp_pass *pass)
{
	char boot_id[40];

	if (load(root, SINCE, pass, NULL) <= 0)
		return 0;
	if (osp_root_read(root, boot_id, sizeof(boot_id), "proc/sys/kernel/random/boot_id") &&
	    strcmp(pass->state.boot_id, boot_id) == 0)
		return 1;
	osp_pass_clear(pass);
	return 0;
}

enum osp_freshness osp_pass_holds(const char *root, const struct osp_node_state *state,
				  enum osp_depth depth, uint64_t live_s, char *words,
				  size_t words_bytes)
{
	enum osp_freshness freshness = osp_fresh(NULL, state, depth, 0, words, words_bytes);

	for (int kept = depth; kept < OSP_DEPTH_COUNT && freshness != OSP_FRESH; kept++) {
		struct osp_pass pass;

		if (osp_pass_load(root, kept, &pass, NULL) <= 0)
			continue;
		freshness = osp_fresh(&pass, state, depth, live_s, words, words_bytes);
		osp_pass_clear(&pass);
	}
	return freshness;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Makes ROOT/run/onespine. ROOT/run exists on every node, but may be missing below a test's
 * root. */
void osp_run_folder_make(const char *root)
{
	char path[OSP_PATH_BYTES];

	if (osp_root_path(root, path, sizeof(path), "run"))
		(void)mkdir(path, 0755);
	if (pass_path(root, "", path, sizeof(path)))
		(void)mkdir(path, 0755);
}

static int write_and_rename(int folder, const char *temporary, const char *name,
			    const struct osp_text *text)
{
	int file = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			  0644);
	bool written;

	if (file < 0)
		return -1;
	written = osp_write_all(file, text->data, text->length_bytes);
	if (close(file) < 0 || !written || renameat(folder, temporary, folder, name) < 0) {
		int cause = errno;

		unlinkat(folder, temporary, 0);
		errno = cause;
		return -1;
	}
	return 0;
}

int osp_run_file_write(const char *root, const char *name, const struct osp_text *text)
{
	char path[OSP_PATH_BYTES], temporary[64];
	int folder, state;

	osp_run_folder_make(root);
	folder = open_folder(root, path, sizeof(path), NULL);
	if (folder < 0)
		return -1;
	snprintf(temporary, sizeof(temporary), ".%.40s.%ld", name, (long)getpid());
	state = write_and_rename(folder, temporary, name, text);
	close(folder);
	return state;
}

static int save(const char *root, const struct osp_pass *pass, const char *const *names,
		size_t count, struct osp_error *error)
{
	char path[OSP_PATH_BYTES], temporary[64];
	struct osp_text text = OSP_TEXT_INIT;
	int folder, state = 0;

	osp_run_folder_make(root);
	folder = open_folder(root, path, sizeof(path), error);
	if (folder < 0)
		return -1;
	osp_pass_write(pass, &text);
	if (text.failed)
		state = osp_error_set(error, "out of memory");
	for (size_t i = 0; i < count && !state; i++) {
		/* Only root can write to the folder, so a name that can be guessed does no harm. */
		snprintf(temporary, sizeof(temporary), ".%s.%ld", names[i], (long)getpid());
		if (write_and_rename(folder, temporary, names[i], &text))
			state = osp_error_at(error, path, 0, 0, "the pass cannot be kept: %s",
					     strerror(errno));
	}
	osp_text_free(&text);
	close(folder);
	return state;
}

int osp_pass_save(const char *root, const struct osp_pass *pass, bool seen, struct osp_error *error)
{
	char name[32];
	const char *const names[] = {pass_name(pass->depth, name, sizeof(name)), SINCE};

	return save(root, pass, names, seen && pass->state.whole ? 2 : 1, error);
}

int osp_pass_save_since(const char *root, const struct osp_pass *pass, struct osp_error *error)
{
	static const char *const names[] = {SINCE};

	return save(root, pass, names, 1, error);
}

void osp_pass_drop(const char *root)
{
	char path[OSP_PATH_BYTES], name[32];
	int folder = open_folder(root, path, sizeof(path), NULL);

	if (folder < 0)
		return;
	for (int depth = 0; depth < OSP_DEPTH_COUNT; depth++)
		unlinkat(folder, pass_name(depth, name, sizeof(name)), 0);
	close(folder);
}
