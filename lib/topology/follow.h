/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * follow.h - a file that is replaced while its contents are in use
 *
 * The caller keeps the mark of its last look at the file. A look at an unchanged file costs a
 * stat(), or, of osp_follow_settled(), an open() and two. A file that changes while it is read, or
 * cannot be read this time, counts as not read: the next look tries again. A file that belongs
 * neither to root nor to this process's user, or that others may write, is bad.
 *
 * Any thread; not inside slurmctld's scheduling calls, because it reads a file.
 */
#ifndef OSP_FOLLOW_H
#define OSP_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "lib/base/error.h"
#include "lib/topology/topology.h"

/* One look at a file. All zero: none yet. A missing file has a mark too, with the cause ENOENT. */
struct osp_file_mark {
	bool seen;
	const char *distrust; /* why it may not be used (lib/base/trust.h); NULL: it may */
	int cause;	      /* the errno of a stat() that failed; 0: none */
	dev_t device;
	ino_t inode;
	off_t size_bytes;
	struct timespec written; /* when its bytes changed */
	struct timespec changed; /* of owner, name or bytes: a copy may keep `written` */
};

/* Returns the current mark of a file. */
struct osp_file_mark osp_file_mark(const char *path);

/* Returns whether it is the same file with the same bytes, as far as a look shows. */
bool osp_file_mark_same(const struct osp_file_mark *a, const struct osp_file_mark *b);

/*
 * Returns whether the file changed less than 2 s ago: it may change again, to as many bytes, and
 * have the same mark.
 */
bool osp_file_mark_fresh(const struct osp_file_mark *mark);

enum osp_followed {
	OSP_FOLLOWED_SAME,   /* as at the last look */
	OSP_FOLLOWED_NEW,    /* another file, and good */
	OSP_FOLLOWED_BAD,    /* another file, which is missing or no topology: wrong says why */
	OSP_FOLLOWED_BUSY,   /* it changed while it was read, or since the look before */
	OSP_FOLLOWED_FAILED, /* nothing was read, which says nothing about the file: cause, wrong */
};

/* What a look found. */
struct osp_found_topology {
	struct osp_file_mark mark;     /* SAME, NEW, BAD: the caller keeps it */
	struct osp_topology *topology; /* NEW: the caller frees it */
	char *text;		       /* NEW: its bytes; the caller frees them */
	size_t text_bytes;
	int cause;		/* FAILED: an errno */
	struct osp_error wrong; /* BAD, BUSY, FAILED */
};

/* Looks at an onespine.topology. `last` is the mark of the look before. */
enum osp_followed osp_follow_topology(const char *path, const struct osp_file_mark *last,
				      struct osp_found_topology *found);

/*
 * Looks at an onespine.topology once a second: a file that is written in place is read when two
 * looks in a row saw it the same, and is BUSY until then. On NFS another host's file is seen at the
 * next look, not when the client's memory of it ends: the file is opened, and so the server asked
 * (without nocto). A file that was not there may be seen a minute later. `before` is the mark at
 * the last call, all zero at first; this function updates it.
 */
enum osp_followed osp_follow_settled(const char *path, const struct osp_file_mark *last,
				     struct osp_file_mark *before,
				     struct osp_found_topology *found);

#endif
