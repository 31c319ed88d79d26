/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * child.h - child processes that may never end
 *
 * Inside check/, and for gate/. One thread.
 */
#ifndef OSP_CHILD_H
#define OSP_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Forks with a pipe. In the child it returns 0, with *answer to write to. In the parent it returns
 * the child's id, with *answer to read from, or -1. The child dies with its parent. */
pid_t osp_child_start(int *answer);

/* Forks like osp_child_start(); the child keeps `file` open too. */
pid_t osp_child_start_with(int *answer, int file);

/* Makes the calling child die with `parent`, or at once if that has already ended. The kernel
 * forgets this when the child changes its ids. */
void osp_child_follow(pid_t parent);

/* Closes every file but standard input, output, error and these two; -1: none. */
void osp_child_close_but(int one, int other);

/* Waits until a child that was killed, or that ends by itself, has ended. Returns false if it has
 * not by `until_ms` (osp_now_ms()). */
bool osp_child_wait(pid_t child, uint64_t until_ms);

/* Kills the child, and takes its status if it ends within a tenth of a second. Leaves behind a
 * child that cannot be killed. */
void osp_child_drop(pid_t child);

/* Returns for how many milliseconds since its start the child's first thread could have run but had
 * no processor; 0 if the kernel does not say (the second number of /proc/PID/schedstat). A starved
 * child gathers such time. One that is stuck, in the kernel or in a wait, does not. */
unsigned int osp_child_starved_ms(pid_t child);

#endif
