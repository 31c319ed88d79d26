/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fabric.h - the configuration and the topology in force, and both beside a snapshot
 *
 * One thread.
 */
#ifndef OSP_FABRIC_H
#define OSP_FABRIC_H

#include "lib/base/error.h"
#include "lib/policy/config.h"
#include "lib/policy/launchable.h"
#include "lib/topology/topology.h"
#include "host/slurm/snapshot.h"

/* Returns onespine.yaml's path: beside slurm.conf. NULL with `error` set. To be freed. */
char *osp_config_path(struct osp_error *error);

/* Reads a configuration; one that does not exist gives the defaults unless `must_exist`. NULL with
 * `error` set. */
struct osp_config *osp_config_load(const char *path, bool must_exist, struct osp_error *error);

/* Returns the configuration in force, defaults if there is none, and, unless `topology_path` is
 * NULL, the path of its topology, to be freed. NULL with `error` set, also where another user may
 * write it (osp_policy_trusted()): slurmctld does not obey that one either. */
struct osp_config *osp_config_in_force(char **topology_path, struct osp_error *error);

/* Returns the topology's path as the configuration in force has it. NULL with `error` set. To be
 * freed. */
char *osp_topology_path(struct osp_error *error);

/* Reads a topology: onespine.topology, or topology.conf where the text is no JSON. NULL with
 * `error` set. */
struct osp_topology *osp_topology_load(const char *path, struct osp_error *error);

/* Does the same for the file in force, which slurmctld does not send to hosts that it sends
 * slurm.conf: where it is not there, `error` says that it must be brought. One that another user
 * may write is refused. */
struct osp_topology *osp_topology_load_in_force(const char *path, struct osp_error *error);

/* Returns the topology that slurmctld goes by: that of the file in force or, where this is refused
 * or gone, the last good one of which slurmctld keeps a copy, after a warning that says so; a
 * configless host knows of no such copy, as slurmctld's file is elsewhere. *path (NULL before the
 * call): that file's, to be freed in either case. NULL with `error` set. */
struct osp_topology *osp_topology_in_force(char **path, struct osp_error *error);

/*
 * What a question is asked about. By --state, --topology and --free from files; else Slurm, and the
 * configuration and the topology that slurmctld goes by, as osp_topology_in_force() finds them.
 */
struct osp_world {
	struct osp_snapshot *snapshot;
	struct osp_topology
		*topology; /* on the snapshot's node numbers; NULL only if it may lack */
	struct osp_config *config;
	bool from_slurm;
	uint32_t old_places; /* nodes without a place in `topology`, because theirs may be old */
	/* nodes that do not run, whose place in `topology` is their capacity reservation's: only
	   gangs for which nodes may be launched count it; NULL: none */
	struct osp_nodeset *reserved_places;
	struct osp_topology *without_reserved; /* `topology` without these places; NULL: the same */
	char unasked[OSP_UNASKED_BYTES];       /* osp_topology_unasked() of the one in force; "" */
	/* with all places; requests are read by it, as slurmctld does; NULL only if it may lack */
	const struct osp_topology *all_places;
};

/* Files to be read instead of asking Slurm; NULL: not named. */
struct osp_world_files {
	const char *state;     /* a snapshot, as JSON */
	const char *topology;  /* instead of the one in force */
	const char *free_list; /* a host list: the nodes of `topology` that are free */
	/* If no topology is named and none lies where one in force would, the world has none. */
	bool may_lack_topology;
};

/* Returns 0, or -1 with `error` set. osp_world_close() in either case. */
int osp_world_open(const struct osp_world_files *files, struct osp_world *world,
		   struct osp_error *error);
void osp_world_close(struct osp_world *world);

/* Returns whether slurmctld may launch nodes for a gang of these partitions ("a,b"; NULL: the
 * policy's defaults), by osp_launch_may_in() and the world's `unasked`. */
bool osp_world_launches(const struct osp_world *world, const char *partitions,
			const struct osp_launchable *gang);

/* Returns the world as slurmctld counts it for a gang of these partitions ("a,b"; NULL: the
 * policy's defaults): without reserved_places unless nodes may be launched for it. It is part of
 * `world`, and not closed. */
struct osp_world osp_world_for(const struct osp_world *world, const char *partitions,
			       const struct osp_launchable *gang);

#endif
