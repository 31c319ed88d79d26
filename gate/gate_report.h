/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_report.h - reports to the watch on slurmctld's hosts what this node knows of its own place
 *
 * One message (lib/topology/report.h) to each SlurmctldHost, at watch.report_port of onespine.yaml.
 * One thread.
 */
#ifndef OSP_GATE_REPORT_H
#define OSP_GATE_REPORT_H

#include "gate/gate_job.h"

/*
 * Looks and reports. `job` is what osp_gate_node_read() read. Returns 0, or -1 with `error` set: no
 * watch took it, or the NVLink fabric is not set up yet, so that it is to be reported again.
 */
int osp_gate_report(const struct osp_gate_job *job, struct osp_error *error);

/* Begins that in a process of its own, which nobody waits for, if the policy has a port. */
void osp_gate_report_begin(const struct osp_gate_job *job);

#endif
