/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * own_lock.h - a lock that nobody else can hold
 *
 * Any process that may open a file, even for reading, may flock() it and keep all others out. So a
 * lock is an empty file beside the data it guards, and only its owner may open it (0600). The lock
 * ends with the process that holds it. One thread.
 */
#ifndef OSP_OWN_LOCK_H
#define OSP_OWN_LOCK_H

/*
 * Takes the lock `name` in `folder` (an open folder), creating it if it is missing; waits up to
 * `wait_ms`. Returns 0 with the lock in *file, which the caller ends with osp_own_lock_end() or
 * osp_own_lock_keep(); *file is -1 if the file system has no locks. Returns EWOULDBLOCK if another
 * process still holds it, EPERM if the file belongs to another user or is no plain file, else the
 * errno of the call that failed.
 */
int osp_own_lock(int folder, const char *name, unsigned int wait_ms, int *file);

/* Release the lock. The first keeps its file for the next process, the second removes it. */
void osp_own_lock_keep(int file);
void osp_own_lock_end(int folder, const char *name, int file);

#endif
