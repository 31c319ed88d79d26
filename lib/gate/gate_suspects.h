/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_suspects.h - the nodes that a job does not get again, as its AdminComment names them
 *
 * The list is in Slurm's notation, oldest first ("n[7,1-3],gpu-9"), and has whole names only. If it
 * does not fit into the comment, the oldest are left out. The caller must then also remove these
 * from the job's excluded nodes: otherwise they would look like nodes that the user excluded. Any
 * thread, any daemon.
 */
#ifndef OSP_GATE_SUSPECTS_H
#define OSP_GATE_SUSPECTS_H

#include <stddef.h>

#define OSP_GATE_SUSPECTS_BYTES                                                                    \
	500 /* less than a piece of the comment may have (lib/policy/note.c) */

/*
 * Writes the list of the newest of `names` that fit; *left_out is the number of the oldest that do
 * not. The caller frees it with free(); NULL if memory ran out. osp_hostlist_expand() gives the
 * same names in the same order.
 */
char *osp_gate_suspects_write(const char *const *names, size_t count, size_t *left_out);

#endif
