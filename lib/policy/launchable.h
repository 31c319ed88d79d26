/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * launchable.h - for which gangs nodes may be launched
 *
 * Only such a gang counts the places of capacity reservations, whose nodes do not run. slurmctld
 * asks this of a job of its own, `fit` and `why` of what they know of it.
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_LAUNCHABLE_H
#define OSP_LAUNCHABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/policy/config.h"

/* What decides it of a gang. */
struct osp_launchable {
	enum osp_mode mode;
	bool in_parts;	      /* it is in segments or in several domains */
	bool is_component;    /* of a heterogeneous job */
	bool is_batch;	      /* a job script */
	bool requeues;	      /* it may go back to the queue */
	bool has_reservation; /* other than the one that keeps nodes for its next start */
	uint32_t in_vain;     /* how often nodes were launched for it in vain */
	bool unasked;	      /* nobody would say where they are (osp_topology_unasked()) */
};

/* Returns whether the gang can be judged when its nodes run, and put back. */
bool osp_launch_judgeable(const struct osp_launchable *gang);

/*
 * Returns whether the policy of its partition launches nodes for such a gang: it can start again if
 * they are apart, and Slurm can keep a part of them for it by a reservation. Without regard to
 * in_vain.
 */
bool osp_launchable(const struct osp_launchable *gang, const struct osp_policy *policy);

/* Returns whether it does, the gang has tries left, and its nodes' places can be asked for. */
bool osp_launch_may(const struct osp_launchable *gang, const struct osp_policy *policy);

/* Returns the same of a gang that may run in several partitions ("a,b"; NULL: the policy's
 * defaults): whether any of them does. */
bool osp_launch_may_in(const struct osp_launchable *gang, const struct osp_config *config,
		       const char *partitions);

#endif
