/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process.h - finds users' processes on this node
 *
 * Ids are read from the process's status, not from the owner of its folder in /proc, which is root
 * for every process that makes itself undumpable. Inside check/ only. One thread.
 */
#ifndef OSP_PROCESS_H
#define OSP_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

/* The first user id of people if /etc/login.defs has no UID_MIN, and an id in that range that is
 * nobody's. */
#define OSP_UID_MIN    1000u
#define OSP_UID_NOBODY 65534u

/* Reads the user of a process: the first of its four ids that is not root's. So a set-user-id
 * program of root counts as its caller's. Returns false if there is no such process. */
bool osp_process_uid(const char *root, unsigned int pid, unsigned int *uid);

/* Finds a process of a user and describes it: "python (4711) of user 1002 runs here". Returns false
 * if none runs here. */
bool osp_process_of_users(const char *root, char *words, size_t words_bytes);

/* Finds a process of a user other than the caller, so that users who check a node do not wait for
 * themselves. */
bool osp_process_of_others(const char *root, char *words, size_t words_bytes);

#endif
