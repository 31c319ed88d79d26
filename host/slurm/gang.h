/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gang.h - jobs that are gangs, known by our part of their AdminComment
 *
 * One thread.
 */
#ifndef OSP_GANG_H
#define OSP_GANG_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/policy/config.h"
#include "lib/policy/launchable.h"
#include "lib/policy/note.h"
#include "lib/policy/request.h"
#include "lib/topology/topology.h"
#include "host/slurm/snapshot.h"

struct osp_gang {
	struct osp_request request; /* of its partition's default level where it names none */
	bool advise;		    /* placed as stock does; recorded only */
	bool by_policy;		    /* osp_gang_held(): `request` is the policy's own */
	struct osp_note note;	    /* what the scheduler says of it: of a waiting one's wait */
};

/* Returns whether the job is a gang; if so, free it with osp_gang_clear(). */
bool osp_gang_of(const struct osp_state_job *job, struct osp_gang *gang);
void osp_gang_clear(struct osp_gang *gang);

/* Returns what decides whether nodes may be launched for the job, a gang or not (NULL). slurmctld
 * alone counts its tries: the words that it has none left are in its note. */
struct osp_launchable osp_gang_launchable(const struct osp_state_job *job,
					  const struct osp_gang *gang);

/* Returns whether the gang waits for its nodes to start: none of its processes has begun, and
 * slurmctld requeues it if the nodes turn out to be in several domains. */
bool osp_gang_is_launched(const struct osp_state_job *job, const struct osp_gang *gang);

/*
 * Returns whether a job that has nodes must have them in one domain. It answers as osp_gang_of(),
 * except in a partition that promises one domain (gang: always, allow_off: false): there the policy
 * and the nodes that the job has decide, even if the note is missing or says less. If so, free it
 * with osp_gang_clear().
 */
bool osp_gang_held(const struct osp_config *config, const struct osp_topology *topology,
		   const struct osp_state_job *job, struct osp_gang *gang);

/* Returns since when a pending gang could have run, from which --gang=LEVEL@TIME counts. */
int64_t osp_gang_waits_since(const struct osp_state_job *job);

/* Returns whether a pending job may begin at `now_s`, and sets *since_s to when it could first;
 * else, as of one with --begin, to when it was submitted. */
bool osp_gang_may_begin(const struct osp_state_job *job, int64_t now_s, int64_t *since_s);

/*
 * Where the nodes of a job really are. `level`: the lowest that all of them share one domain of
 * (0: a single node), -1: none.
 */
struct osp_whereabouts {
	int level;
	uint32_t domain;  /* at that level; OSP_NO_DOMAIN for 0 and -1 */
	uint32_t missing; /* of the job's nodes are not in the snapshot */
	uint32_t tree_levels;
	uint32_t beside[OSP_LEVELS_MAX + 1]; /* by overlay: the domain that has all, or none */
};

/* Returns 0, or -1 when memory ran out. */
int osp_gang_find(const struct osp_snapshot *snapshot, const struct osp_topology *topology,
		  const struct osp_state_job *job, struct osp_whereabouts *where);

/*
 * Returns the highest level that would keep a running gang's promise: the one asked for, or the
 * next when it had waited long enough to be relaxed. -1: the topology has no such level; 0: any
 * nodes do.
 */
int osp_gang_level_due(const struct osp_topology *topology, const struct osp_state_job *job,
		       const struct osp_gang *gang);

/* Returns whether it asks for segments or for several domains: osp_gang_parts_kept() then says
 * whether its nodes keep that. */
bool osp_gang_in_parts(const struct osp_gang *gang);

/* `level_due` is what osp_gang_level_due() said. 0, or -1 when memory ran out. */
int osp_gang_parts_kept(const struct osp_snapshot *snapshot, const struct osp_topology *topology,
			const struct osp_state_job *job, const struct osp_gang *gang, int level_due,
			bool *kept);

/* Makes `level` and `domain` those of the overlay that was due, if all nodes are in one of its
 * domains: for those who read where the nodes are. */
void osp_gang_look_beside(int level_due, struct osp_whereabouts *where);

/* Returns whether its nodes keep that promise. */
bool osp_gang_kept(int level_due, const struct osp_whereabouts *where);

#endif
