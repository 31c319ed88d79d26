/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * follow.h - a file that is replaced while somebody works with what it said
 *
 * Who follows a file keeps the mark of its last look. A look at a file that is as it was costs one
 * stat(). A file that changes while it is read, or cannot be read this time, counts as not read:
 * the next look sees it again. One that belongs neither to root nor to this process's user, or that
 * others may write, is bad.
 *
 * Any thread; not inside slurmctld's scheduling calls, for it reads a file.
 */
#ifndef OSP_FOLLOW_H
#define OSP_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "lib/base/error.h"
#include "lib/topology/topology.h"

/* One look at a file. All zero: none yet. A file that is not there has a mark too, of the cause
 * ENOENT. */
struct osp_file_mark {
	bool seen;
	const char *distrust; /* why it may not be obeyed (lib/base/trust.h); NULL: it may */
	int cause;	      /* the errno of a stat() that failed; 0: none */
	dev_t device;
	ino_t inode;
	off_t size_bytes;
	struct timespec written; /* its bytes */
	struct timespec
		changed; /* its owner, name or bytes: a copy may keep the time of its bytes */
};

/* How the file stands now. */
struct osp_file_mark osp_file_mark(const char *path);

/* The same file with the same bytes, as far as a look can tell. */
bool osp_file_mark_same(const struct osp_file_mark *a, const struct osp_file_mark *b);

/* It changed less than 2 s ago: it may change again, to as many bytes, and have the same mark. */
bool osp_file_mark_fresh(const struct osp_file_mark *mark);

enum osp_followed {
	OSP_FOLLOWED_SAME,   /* as at the last look */
	OSP_FOLLOWED_NEW,    /* another one, and good */
	OSP_FOLLOWED_BAD,    /* another one, which is gone or no topology: wrong says why */
	OSP_FOLLOWED_BUSY,   /* it was changed while it was read, or since the look before */
	OSP_FOLLOWED_FAILED, /* this look read nothing, which says nothing of the file: cause, wrong
			      */
};

/* What a look found. */
struct osp_found_topology {
	struct osp_file_mark mark;     /* SAME, NEW, BAD: to be kept */
	struct osp_topology *topology; /* NEW: the caller's to free */
	char *text;		       /* NEW: its bytes, the caller's to free */
	size_t text_bytes;
	int cause;		/* FAILED: an errno */
	struct osp_error wrong; /* BAD, BUSY, FAILED */
};

/* Looks at an onespine.topology. `last`: of the look before. */
enum osp_followed osp_follow_topology(const char *path, const struct osp_file_mark *last,
				      struct osp_found_topology *found);

/*
 * The same for who looks once a second: a file that is written in place is read when two looks in a
 * row saw it the same, and is BUSY until then. `before`: how it stood at the last call, all zero at
 * first; kept up here.
 */
enum osp_followed osp_follow_settled(const char *path, const struct osp_file_mark *last,
				     struct osp_file_mark *before,
				     struct osp_found_topology *found);

#endif
