/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_again.h - runs a gate once more if a signal kills it
 *
 * Slurm drains a node whose Prolog or Epilog ends by a signal ("Prolog error") and holds its job.
 * So the gate runs in a child of the process that slurmd started. If the child is killed, as when
 * memory runs out, another child does the whole work once more, unless the first had the verdict:
 * then no other node would send it again, and the gate would take all others for silent. If the
 * verdict was not carried out yet, or the second child is killed too, another child stops the job.
 * A child ends with its parent. Only in a process of one thread.
 */
#ifndef OSP_GATE_AGAIN_H
#define OSP_GATE_AGAIN_H

#include <stdbool.h>

/*
 * Runs `work` in a child, and once again if a signal ends it. Returns what `work` returned; if a
 * signal ended it both times, `killed`, or 0 if `killed` is not 0 and `stop`, in a third child,
 * returned 0. Without a child, if none can be made, `work` runs here.
 */
int osp_gate_again(int (*work)(void), int (*stop)(void), int killed);

/*
 * Forbids a second run from here on: if a signal ends the child now, osp_gate_again() returns
 * `status`, or 0 if that is not 0 and `stop` returned 0. May be called more than once. Does nothing
 * outside the child.
 */
void osp_gate_again_never(int status);

/* Returns, in `stop`, whether a child that was killed had called osp_gate_again_never(). */
bool osp_gate_again_settled(void);

#endif
