/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process.h - whose processes run here
 *
 * By what the kernel says of a process, not by who owns its folder in /proc: that is root for every
 * process that makes itself undumpable. Inside check/ only. One thread.
 */
#ifndef OSP_PROCESS_H
#define OSP_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

/* From here on user ids are people's where /etc/login.defs has no UID_MIN, and this one is
 * nobody's. */
#define OSP_UID_MIN    1000u
#define OSP_UID_NOBODY 65534u

/* A program with root's rights from its file is that of the user who began it, so the first of its
 * four ids that is not root's. False: there is no such process. */
bool osp_process_uid(const char *root, unsigned int pid, unsigned int *uid);

/* A process of a user's, in words: "python (4711) of user 1002 runs here". False: none runs
 * here. */
bool osp_process_of_users(const char *root, char *words, size_t words_bytes);

/* The same, without those of who asks: a user who checks a node is not kept waiting by himself. */
bool osp_process_of_others(const char *root, char *words, size_t words_bytes);

#endif
