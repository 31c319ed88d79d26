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

/* fork() with a pipe: in the child 0 and *answer to write to, in the parent its id and *answer to
 * read from, or -1. The child dies with its parent. */
pid_t osp_child_start(int *answer);

/* The same; the child keeps `file` too. */
pid_t osp_child_start_with(int *answer, int file);

/* In a child: it dies with `parent`, at once where that has gone. Other ids make the kernel forget
 * it. */
void osp_child_follow(pid_t parent);

/* Closes every file but standard input, output, error and these two; -1: none. */
void osp_child_close_but(int one, int other);

/* Waits until a child that was killed, or ends by itself, has ended; false: it has not by
 * `until_ms` of osp_now_ms(). */
bool osp_child_wait(pid_t child, uint64_t until_ms);

/* Kills the child and takes its status where it ends within a tenth of a second; one that cannot
 * be killed is left behind. */
void osp_child_drop(pid_t child);

/* Milliseconds for which the child's first thread could have run and had no processor, since it
 * started; 0 if the kernel does not say (/proc/PID/schedstat, whose second number it is). A child
 * that is stuck, in the kernel or in a wait, does not gather any: one that is starved does. */
unsigned int osp_child_starved_ms(pid_t child);

#endif
