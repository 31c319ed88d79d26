/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * own_lock.h - a lock that nobody else can hold
 *
 * Whoever may open a file, for reading too, may flock() it and keep all others out. So a lock is an
 * empty file of its own beside what it guards, which its owner alone may open (0600). It ends with
 * the process that holds it. One thread.
 */
#ifndef OSP_OWN_LOCK_H
#define OSP_OWN_LOCK_H

/*
 * Takes the lock `name` in `folder` (an open folder), which is made if it is missing, and waits for
 * it up to `wait_ms`. 0 with the lock in *file, to be ended by osp_own_lock_end() or
 * osp_own_lock_keep(); *file is -1 if the file system has no locks. EWOULDBLOCK: another process
 * holds it still; EPERM: the file belongs to another user or is no plain file; else the errno of
 * what failed.
 */
int osp_own_lock(int folder, const char *name, unsigned int wait_ms, int *file);

/* Lets go of the lock; its file stays for the next process, or goes. */
void osp_own_lock_keep(int file);
void osp_own_lock_end(int folder, const char *name, int file);

#endif
