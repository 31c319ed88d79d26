/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_again.h - a gate that is killed begins again, before Slurm takes its node for broken
 *
 * A Prolog or Epilog that ends by a signal drains its node ("Prolog error") and holds its job. So the gate works in
 * a child of the process that slurmd started: where the child is killed, as when memory runs out, another does it
 * all once more, unless it knew the verdict: nobody is left who would tell it again, and a gate that hears nobody takes
 * all others for silent. The child ends with its parent. Only in a process of one thread.
 */
#ifndef OSP_GATE_AGAIN_H
#define OSP_GATE_AGAIN_H

/*
 * Runs `work` in a child, and once again if a signal ends it. Returns what `work` returned, or `killed` if a
 * signal ended it both times. Without a child, if none can be made, `work` runs here.
 */
int osp_gate_again(int (*work)(void), int killed);

/*
 * In the child: `work` is not to be done again from here on; if a signal ends it now, osp_gate_again() returns `status`.
 * May be said more than once. Elsewhere it does nothing.
 */
void osp_gate_again_never(int status);

#endif
