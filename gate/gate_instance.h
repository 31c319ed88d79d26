/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_instance.h - whether this node is the instance that the gang was placed on
 *
 * The shadow names in the Prolog's environment the instances it placed the gang on
 * (lib/topology/placed_instance.h). A node that is relaunched under its name is elsewhere. One
 * thread.
 */
#ifndef OSP_GATE_INSTANCE_H
#define OSP_GATE_INSTANCE_H

#include "gate/gate_job.h"

/*
 * Compares; nothing is compared where either instance is not known. If this node is another one,
 * its report, unless the node failed, becomes an ERROR of OSP_GATE_INSTANCE_CHECK, and the node's
 * Extra field says which instance it is (host/slurm/node_extra.h), so that `onespine topology
 * watch` asks for its place at once. Slurmctld is given 2 s for that.
 */
void osp_gate_instance_look(const struct osp_gate_job *job, struct osp_gate_report *report);

#endif
