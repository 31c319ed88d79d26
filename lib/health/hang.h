/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hang.h - distinguishes a check that is stuck from one that is kept from its work
 *
 * A user can keep a check from answering without any fault of the node: with more busy processes
 * than processors, by writing so much that every page has to be waited for, or by using up the
 * memory. These measures distinguish that from a driver that is stuck:
 *
 *	the run queue		/proc/PID/schedstat: how long the check could have run and had no
 *				processor
 *	pressure stall		/proc/pressure/io and memory, "some": how long anybody on the node
 *	information (PSI)	waited for a device or for memory, including those that still wait
 *	delay accounting	/proc/PID/stat, field 42: how long the check itself waited for block
 *				devices, once each wait was over (kernel.task_delayacct)
 *
 * PSI needs Linux 4.20 and, on some distributions, psi=1; delay accounting is off by default since
 * 5.14. If neither is there, a hang says nothing about the node.
 *
 * Pure; any thread, any daemon.
 */
#ifndef OSP_HANG_H
#define OSP_HANG_H

#include <stdbool.h>

/* The sum of both tries. */
struct osp_hang_signs {
	unsigned int waited_ms; /* for a processor */
	bool pressure_known;
	unsigned int io_ms; /* how long the node was under such pressure */
	unsigned int memory_ms;
	bool delay_known;
	unsigned int delayed_ms; /* how long the check itself waited for block devices */
};

enum osp_hang {
	OSP_HANG_STUCK,	  /* nothing kept it from answering */
	OSP_HANG_STARVED, /* of a processor */
	OSP_HANG_PRESSED, /* for a device or for memory */
	OSP_HANG_UNKNOWN, /* neither pressure nor delays can be read */
};

/*
 * Judges a check that did not answer within `limit_ms`, twice. If it was kept waiting for more than
 * a fifth of that time, in one of these ways, it is excused. Measured on two cores: on an idle
 * machine the wait for a processor is under 1/1000, with ten times as many busy processes as cores
 * over 8/10; a stuck process waits for none.
 */
enum osp_hang osp_hang_judge(const struct osp_hang_signs *signs, unsigned int limit_ms);

#endif
