/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trial_file.c - which nodes a recheck has in hand, for the next one if a recheck is killed */
#include "onespine_config.h"
#include "host/record/trial_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/private_file.h"
#include "lib/base/text.h"

#define FOLDER OSP_STATE_DIR "/recheck"

/* The first byte of a file, before its reason; a file that was cut off has neither. */
#define IN_HAND 'T'
#define JUDGED	'J'

static int make_folder(const char *path)
{
	int folder = osp_private_folder(path, 0700);

	if (folder < 0)
		return -1;
	close(folder);
	return 0;
}

static int make_folders(const char *cluster)
{
	char path[384];

	(void)mkdir(OSP_STATE_DIR, 0755);
	snprintf(path, sizeof(path), "%s/%s", FOLDER, cluster);
	return make_folder(FOLDER) || make_folder(path) ? -1 : 0;
}

/* Writes the file's name. Returns false, with errno set, if that is no name of a node. */
static bool name_file(struct osp_trial_file *file, const char *cluster, const char *node)
{
	if (!strchr(node, '/') && snprintf(file->path, sizeof(file->path), "%s/%s/%s", FOLDER,
					   cluster, node) < (int)sizeof(file->path))
		return true;
	errno = ENAMETOOLONG;
	return false;
}

/* Opens a file and takes its lock. Returns 1 if another process holds it, or with O_EXCL if one
 * left it; -1 with errno set. */
static int open_locked(struct osp_trial_file *file, const char *cluster, const char *node,
		       int flags)
{
	if (!name_file(file, cluster, node))
		return -1;
	file->lock = open(file->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
	if (file->lock < 0)
		return errno == EEXIST ? 1 : -1;
	if (!flock(file->lock, LOCK_EX | LOCK_NB))
		return 0;
	close(file->lock);
	return 1;
}

/* Writes the file at once, to the disk: the reason of a node in hand is nowhere else. */
static int write_whole(struct osp_trial_file *file, char state, const char *reason)
{
	char words[OSP_TRIAL_REASON_BYTES + 8];
	int length = snprintf(words, sizeof(words), "%c %.*s\n", state, OSP_TRIAL_REASON_BYTES - 1,
			      reason);

	if (pwrite(file->lock, words, (size_t)length, 0) != length ||
	    ftruncate(file->lock, length) || fsync(file->lock))
		return -1;
	return 0;
}

int osp_trial_begin(struct osp_trial_file *file, const char *cluster, const char *node,
		    const char *reason)
{
	int state;

	if (make_folders(cluster))
		return -1;
	state = open_locked(file, cluster, node, O_CREAT | O_EXCL);
	if (state)
		return state;
	if (!write_whole(file, IN_HAND, reason))
		return 0;
	state = errno;
	osp_trial_end(file);
	errno = state;
	return -1;
}

bool osp_trial_stands(const char *cluster, const char *node)
{
	struct osp_trial_file file;

	return name_file(&file, cluster, node) &&
	       faccessat(AT_FDCWD, file.path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int osp_trial_judged(struct osp_trial_file *file)
{
	return write_whole(file, JUDGED, "");
}

void osp_trial_end(struct osp_trial_file *file)
{
	(void)unlink(file->path);
	close(file->lock);
}

void osp_trial_leave(struct osp_trial_file *file)
{
	close(file->lock);
}

/* Returns the reason, "" for a node that was judged, or NULL for a file of a recheck that ended
 * before it changed anything. */
static const char *read_reason(const struct osp_trial_file *file, char *words, size_t bytes)
{
	ssize_t length = pread(file->lock, words, bytes - 1, 0);

	if (length < 3 || words[1] != ' ' || words[length - 1] != '\n')
		return NULL;
	words[length - 1] = '\0';
	return words[0] == JUDGED ? "" : words[0] == IN_HAND ? words + 2 : NULL;
}

size_t osp_trials_left(const char *cluster,
		       void (*see)(void *context, struct osp_trial_file *file, const char *node,
				   const char *reason),
		       void *context)
{
	char words[OSP_TRIAL_REASON_BYTES + 8];
	struct osp_trial_file file;
	struct dirent *entry;
	size_t count = 0;
	char path[384];
	DIR *folder;

	snprintf(path, sizeof(path), "%s/%s", FOLDER, cluster);
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		const char *reason;
		int state =
			*entry->d_name == '.' ? 1 : open_locked(&file, cluster, entry->d_name, 0);

		if (state < 0 && errno != ENOENT) {
			count++;
			if (see)
				see(context, NULL, entry->d_name, NULL);
		}
		if (state)
			continue;
		reason = read_reason(&file, words, sizeof(words));
		count += reason != NULL;
		if (!reason && see)
			osp_trial_end(&file);
		else if (reason && see)
			see(context, &file, entry->d_name, reason);
		else
			osp_trial_leave(&file);
	}
	if (folder)
		closedir(folder);
	return count;
}
