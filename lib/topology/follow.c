/* SPDX-License-Identifier: GPL-2.0-or-later */
/* follow.c - a file that is replaced while its contents are in use */
#include "lib/topology/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/text.h"
#include "lib/base/trust.h"
#include "lib/topology/readers.h"

/* Longer than the steps of the clocks from which file systems take their times. */
#define FRESH_S 2

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

struct osp_file_mark osp_file_mark(const char *path)
{
	struct osp_file_mark mark = {.seen = true};
	struct stat status;

	if (stat(path, &status) != 0) {
		mark.cause = errno;
		return mark;
	}
	mark.distrust = osp_distrust(&status, geteuid());
	mark.device = status.st_dev;
	mark.inode = status.st_ino;
	mark.size_bytes = status.st_size;
	mark.written = status.st_mtim;
	mark.changed = status.st_ctim;
	return mark;
}

bool osp_file_mark_same(const struct osp_file_mark *a, const struct osp_file_mark *b)
{
	return a->seen == b->seen && a->cause == b->cause && a->device == b->device &&
	       a->inode == b->inode && a->size_bytes == b->size_bytes &&
	       same_time(&a->written, &b->written) && same_time(&a->changed, &b->changed);
}

bool osp_file_mark_fresh(const struct osp_file_mark *mark)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return mark->seen && !mark->cause && mark->changed.tv_sec >= now.tv_sec - FRESH_S;
}

/* Notes a failed look; the next one may succeed. */
static enum osp_followed fail(const char *path, int cause, struct osp_found_topology *found)
{
	found->cause = cause;
	osp_error_at(&found->wrong, path, 0, 0, "%s", strerror(cause));
	return OSP_FOLLOWED_FAILED;
}

static enum osp_followed refuse(const char *path, const char *why, struct osp_found_topology *found)
{
	osp_error_at(&found->wrong, path, 0, 0, "%s", why);
	return OSP_FOLLOWED_BAD;
}

/* Reads a topology and its text, or neither and what is wrong. */
static enum osp_followed read_file(const char *path, struct osp_found_topology *found)
{
	int cause;

	found->text = osp_read_file(path, OSP_TOPOLOGY_FILE_BYTES_MAX, &found->text_bytes);
	if (!found->text) {
		cause = errno;
		return cause == EINVAL || cause == EFBIG /* it is no file, or too large */
			       ? refuse(path, strerror(cause), found)
			       : fail(path, cause, found);
	}
	errno = 0;
	found->topology =
		osp_read_onespine_topology(path, found->text, found->text_bytes, &found->wrong);
	if (found->topology)
		return OSP_FOLLOWED_NEW;
	found->cause = errno == ENOMEM ? ENOMEM : 0;
	free(found->text);
	found->text = NULL;
	return found->cause ? OSP_FOLLOWED_FAILED : OSP_FOLLOWED_BAD;
}

static enum osp_followed say_busy(const char *path, struct osp_found_topology *found)
{
	osp_error_clear(&found->wrong);
	osp_error_at(&found->wrong, path, 0, 0, "it is being written");
	return OSP_FOLLOWED_BUSY;
}

/* Reads the file with the mark found->mark. */
static enum osp_followed read_marked(const char *path, struct osp_found_topology *found)
{
	enum osp_followed followed;
	struct osp_file_mark after;

	if (found->mark.cause)
		return found->mark.cause == ENOENT ? refuse(path, strerror(ENOENT), found)
						   : fail(path, found->mark.cause, found);
	if (found->mark.distrust)
		return refuse(path, found->mark.distrust, found);
	followed = read_file(path, found);
	after = osp_file_mark(path);
	if (osp_file_mark_same(&found->mark, &after))
		return followed;
	osp_topology_free(found->topology);
	free(found->text);
	found->topology = NULL;
	found->text = NULL;
	return say_busy(path, found);
}

enum osp_followed osp_follow_topology(const char *path, const struct osp_file_mark *last,
				      struct osp_found_topology *found)
{
	memset(found, 0, sizeof(*found));
	found->mark = osp_file_mark(path);
	return osp_file_mark_same(&found->mark, last) ? OSP_FOLLOWED_SAME
						      : read_marked(path, found);
}

/*
 * Has an NFS client ask its server. It answers stat() from what it remembers for up to a minute
 * (acregmax), but a file that is opened is compared with the server's. Whatever fails here, the
 * look finds.
 */
static void ask_server(const char *path)
{
	struct stat status;
	int file = -1;

	if (!stat(path, &status) && S_ISREG(status.st_mode))
		file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (file >= 0)
		close(file);
}

enum osp_followed osp_follow_settled(const char *path, const struct osp_file_mark *last,
				     struct osp_file_mark *before, struct osp_found_topology *found)
{
	const struct osp_file_mark then = *before;

	memset(found, 0, sizeof(*found));
	ask_server(path);
	found->mark = *before = osp_file_mark(path);
	if (osp_file_mark_same(&found->mark, last))
		return OSP_FOLLOWED_SAME;
	if (osp_file_mark_same(&found->mark, &then) ||
	    (found->mark.cause && found->mark.cause != ENOENT))
		return read_marked(path, found);
	return say_busy(path, found);
}
