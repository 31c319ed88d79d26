/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hosts.h - a list of hosts in the order of the fabric, for launchers
 *
 * Knows no Slurm. One thread.
 */
#ifndef OSP_HOSTS_H
#define OSP_HOSTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/topology/topology.h"

enum osp_hosts_format {
	OSP_HOSTS_PLAIN,    /* a name a line */
	OSP_HOSTS_TORCHRUN, /* a name and torchrun's options a line */
	/* Open MPI's hostfile: a line for each task. Inside a Slurm job its order counts only with
	 * --map-by seq; otherwise ranks follow Slurm's list, "slots=" or not (4.1). */
	OSP_HOSTS_MPIRUN,
	OSP_HOSTS_SLURM, /* SLURM_HOSTFILE: a line for each task */
};

/*
 * How often two neighbours in an order are below different switches of the lowest level: each
 * such step of a ring goes through a switch above.
 */
struct osp_hosts_changes {
	uint32_t listed;  /* the order given, which is Slurm's */
	uint32_t strings; /* names sorted as strings, as torchrun does */
	uint32_t fabric;
};

struct osp_hosts {
	char **names; /* in fabric order; those that the topology lacks come last, naturally */
	uint32_t count;
	uint32_t unknown_count;
	struct osp_hosts_changes changes;
	const struct osp_topology *topology;
};

/* From a hostlist; names given twice count once. `topology` must outlive it. 0, or -1 with `error`
 * set. osp_hosts_clear() in either case. */
int osp_hosts_order(const struct osp_topology *topology, const char *list, struct osp_hosts *hosts,
		    struct osp_error *error);
void osp_hosts_clear(struct osp_hosts *hosts);

/* Returns the format of that name, or -1 with the nearest right one in `error`. */
int osp_hosts_format(const char *name, struct osp_error *error);

/*
 * Writes the list in that format. `tasks` is the number of tasks on each host, 0 if it was not
 * said. `only` (may be NULL): of this host alone, and without its name where the line has more.
 * Returns false where `only` is not among the hosts.
 */
bool osp_hosts_write(const struct osp_hosts *hosts, enum osp_hosts_format format, uint32_t tasks,
		     const char *only, struct osp_text *text);

/*
 * Says what could be done in Slurm about ranks that alternate between switches, a sentence without
 * a full stop. `plugin`, `param` and `version` are slurmctld's topology plugin, TopologyParam and
 * release; NULL if it was not asked. Returns `buffer`.
 */
const char *osp_hosts_advice(const char *plugin, const char *param, const char *version,
			     char *buffer, size_t buffer_bytes);

/* `advice` may be NULL. NULL when memory ran out. */
json_t *osp_hosts_to_json(const struct osp_hosts *hosts, const char *advice);

#endif
