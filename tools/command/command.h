/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command.h - the commands of `onespine`, and the function that runs each
 *
 * One thread.
 */
#ifndef OSP_COMMAND_H
#define OSP_COMMAND_H

#include "host/output.h"
#include "tools/command/options.h"

/* Runs one command each. Returns the exit status, and has printed any error. */
int osp_run_topology_import(const struct osp_call *call);
int osp_run_topology_discover(const struct osp_call *call);
int osp_run_topology_watch(const struct osp_call *call);
int osp_run_topology_survey(const struct osp_call *call);
int osp_run_topology_accept(const struct osp_call *call);
int osp_run_topology_show(const struct osp_call *call);
int osp_run_topology_check(const struct osp_call *call);
int osp_run_config_check(const struct osp_call *call);
int osp_run_config_show(const struct osp_call *call);
int osp_run_fit(const struct osp_call *call);
int osp_run_why(const struct osp_call *call);
int osp_run_map(const struct osp_call *call);
int osp_run_layout(const struct osp_call *call);
int osp_run_audit(const struct osp_call *call);
int osp_run_set(const struct osp_call *call);
int osp_run_hosts(const struct osp_call *call);
int osp_run_bind(const struct osp_call *call);
int osp_run_bind_run(const struct osp_call *call);
int osp_run_env(const struct osp_call *call);
int osp_run_history(const struct osp_call *call);
int osp_run_check(const struct osp_call *call);
int osp_run_doctor(const struct osp_call *call);
int osp_run_setup(const struct osp_call *call);
int osp_run_gate_prolog(const struct osp_call *call);
int osp_run_gate_epilog(const struct osp_call *call);
int osp_run_gate_key(const struct osp_call *call);
int osp_run_recheck(const struct osp_call *call);
int osp_run_quarantine(const struct osp_call *call);
int osp_run_reproduce(const struct osp_call *call);

#endif
