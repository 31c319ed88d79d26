/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * in_control.h - which of several slurmctlds is in control, and whether that is this host's
 *
 * Slurm gives control to the first of its SlurmctldHosts that runs: one that starts takes it from
 * those behind it, and `scontrol takeover` ends those before it. All that run answer a ping.
 *
 * Any thread.
 */
#ifndef OSP_IN_CONTROL_H
#define OSP_IN_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

/* Returns whether the slurmctld of that index answers. */
typedef bool osp_answers_f(uint32_t index, void *context);

enum osp_control {
	OSP_CONTROL_HERE,   /* this host's is in control, or there is no other, or none is here */
	OSP_CONTROL_OTHER,  /* that of *other is */
	OSP_CONTROL_SILENT, /* this host's would be, and does not answer */
};

/*
 * Finds out who is in control. `names` are those of SlurmctldHost, in their order; `host` is this
 * host's name, with its domain or without. None behind this host's is asked.
 */
enum osp_control osp_in_control(const char *const *names, uint32_t count, const char *host,
				osp_answers_f *answers, void *context, uint32_t *other);

#endif
