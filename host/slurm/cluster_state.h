/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cluster_state.h - a snapshot of the running cluster, through libslurm as the calling user
 *
 * What PrivateData hides from the user is hidden here too. libslurm ends the program when it finds
 * no configuration; it then ends with OSP_EXIT_UNABLE. One thread.
 */
#ifndef OSP_CLUSTER_STATE_H
#define OSP_CLUSTER_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "host/slurm/snapshot.h"

/* Returns true if this machine has a slurm.conf or SLURM_CONF names one: worth asking at all. With
 * an empty SLURM_CONF Slurm is not asked. */
bool osp_slurm_configured(void);

/* Readies libslurm; done by every call below, once. */
void osp_slurm_begin(void);

/* Returns slurm.conf's path: SLURM_CONF, else as slurmctld says. NULL with `error` set. To be
 * freed. */
char *osp_slurm_conf_path(struct osp_error *error);

/* What slurm.conf and, from 25.05 on, topology.yaml say of the topology; cut where it is longer. */
struct osp_slurm_topology {
	char plugin[64];  /* of the cluster's topology: "topology/tree" */
	char param[256];  /* TopologyParam; "" for none */
	char version[32]; /* slurmctld's release */
};
int osp_cluster_topology(struct osp_slurm_topology *topology, struct osp_error *error);

/* Nodes, jobs and partitions. NULL with `error` set. */
struct osp_snapshot *osp_cluster_state(struct osp_error *error);

/* Nodes and partitions only, without the GPUs that jobs have. */
struct osp_snapshot *osp_cluster_nodes(struct osp_error *error);

/* Asks for Slurm's own word for why `job` waits, into job->reason (the list of all jobs lacks it).
 * 0, or -1 with `error` set. */
int osp_cluster_job_reason(struct osp_snapshot *snapshot, struct osp_state_job *job,
			   struct osp_error *error);

#endif
