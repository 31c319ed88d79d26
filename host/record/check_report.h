/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_report.h - the gate's report of a node, from the output of `onespine check --json`
 *
 * For the gate, which runs the check in a process of its own, and for a recheck, which runs it as a
 * job. One thread.
 */
#ifndef OSP_CHECK_REPORT_H
#define OSP_CHECK_REPORT_H

#include "lib/gate/gate.h"

/* Fills result, check, reason, time and boot of `report`; NULL, and what cannot be read, become
 * ERROR. The rank stays. */
void osp_check_report_read(const char *json, struct osp_gate_report *report);

/* Makes it ERROR, with `why` as its reason. */
void osp_check_report_error(struct osp_gate_report *report, const char *why);

#endif
