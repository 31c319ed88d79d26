/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_hold_launched.h - gangs whose nodes were being launched when Slurm was updated
 *
 * Such a gang has its nodes, and its license with them, so the license does not hold it. The shadow
 * lets it go on when its nodes run in one domain; Slurm by itself starts it wherever they are. So
 * it is put back into the queue, where the license holds it.
 *
 * job_submit knows no record of slurmctld's. It asks as any client does, by Slurm's own calls, in a
 * thread of its own: init() runs before slurmctld answers.
 */
#ifndef OSP_JOB_HOLD_LAUNCHED_H
#define OSP_JOB_HOLD_LAUNCHED_H

#include <stdbool.h>

/*
 * Begins the thread, once. Whenever this slurmctld takes control it puts such gangs back, and ends
 * with the process. Call it from init() only, where gangs are held (sched/job_hold.h).
 */
void osp_hold_launched_begin(void);

/*
 * Puts such gangs back. Returns true if none is left; false if slurmctld does not answer, or keeps
 * one, which is in its log.
 */
bool osp_hold_launched_look(void);

#endif
