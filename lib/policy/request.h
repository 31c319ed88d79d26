/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * request.h - what a user asked with --gang, and what came of it under the partition's policy
 *
 * Any thread, any daemon: no shared state, no allocation.
 */
#ifndef OSP_REQUEST_H
#define OSP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/layout/layout.h"
#include "lib/policy/config.h"
#include "lib/policy/promise.h"
#include "lib/policy/job_options.h"

#define OSP_LEVEL_NAME_BYTES 32
#define OSP_UNREAD_BYTES     96
#define OSP_SEGMENTS_BYTES   128 /* of "nvlink:16,leaf:32" */
#define OSP_KEEP_BYTES	     144 /* of "pp:leaf,ep:nvlink" */
#define OSP_REQUEST_BYTES                                                                          \
	(2 * OSP_LEVEL_NAME_BYTES + OSP_SEGMENTS_BYTES + OSP_LAYOUT_TEXT_BYTES + OSP_KEEP_BYTES +  \
	 110) /* of any request in words */

/* The name under which a SPANK option's value reaches slurmctld in spank_job_env[]. */
#define OSP_SPANK_GANG	       OSP_JOB_ENTRY(gang) "="
#define OSP_SPANK_GANG_DOMAINS OSP_JOB_ENTRY(gang_domains) "="
#define OSP_SPANK_GANG_SEGMENT OSP_JOB_ENTRY(gang_segment) "="
#define OSP_SPANK_GANG_LAYOUT  OSP_JOB_ENTRY(gang_layout) "="
#define OSP_SPANK_GANG_KEEP    OSP_JOB_ENTRY(gang_keep) "="
/* What doctor asks for to learn whether job_submit is ours, which refuses it without a line in
 * slurmctld's log: no level and no time. */
#define OSP_GANG_PROBE "@onespine-doctor"
/* The entry of spank_job_env[] that job_submit writes and the shadow obeys; a user's own is
 * removed. */
#define OSP_EFFECTIVE "_ONESPINE_EFFECTIVE="
/* The one that the shadow writes, "TRIES:NODE-SECONDS:LAST": how often nodes were launched for the
 * gang in vain, how long it held nodes for that, and when it last went back to the queue (seconds
 * since 1970). A user's own is removed. */
#define OSP_LAUNCHED_IN_VAIN "_ONESPINE_LAUNCHED_IN_VAIN="
/* The nodes that were launched for the gang and not given back, in Slurm's notation. A user's own
 * is removed. */
#define OSP_LAUNCHED_NODES "_ONESPINE_LAUNCHED_NODES="
/* The instances that the gang was placed on, for the gate (lib/topology/placed_instance.h); the
 * shadow writes it. A user's own is removed. */
#define OSP_PLACED_INSTANCES_NAME "_ONESPINE_INSTANCES"
#define OSP_PLACED_INSTANCES	  OSP_PLACED_INSTANCES_NAME "="
/* The variable of a user's environment that stands for --gang. */
#define OSP_GANG_VARIABLE OSP_JOB_VARIABLE(GANG)

enum osp_asked { OSP_ASKED_NOTHING, OSP_ASKED_OFF, OSP_ASKED_GANG };
enum osp_origin { OSP_FROM_OPTION, OSP_FROM_ENVIRONMENT, OSP_FROM_POLICY, OSP_FROM_SET };

/* "[LEVEL][@TIME][ domains=MAX][ segment=LEVEL:N[,LEVEL:N...]][ layout=AXES][
 * keep=GROUP:LEVEL[,...]][ prefer=LEVEL]" or "off"; TIME may be "never"; "" and NULL are the bare
 * option. "leaf,prefer[@TIME]" is "[@TIME] prefer=leaf". */
struct osp_request {
	enum osp_asked asked;
	enum osp_origin origin;
	char level[OSP_LEVEL_NAME_BYTES]; /* "" = the policy's default level */
	int64_t relax_s;      /* pending so long, the next level up will do; -1 = not said */
	uint32_t domains_max; /* the most domains that it may lie in; 0 = not given: one */
	char segments[OSP_SEGMENTS_BYTES]; /* sets of nodes in lower domains, as request_parts.h; ""
					      = none */
	char layout[OSP_LAYOUT_TEXT_BYTES]; /* "tp8,pp8", as lib/layout/layout.h; "" = none */
	char keep[OSP_KEEP_BYTES];	    /* its groups that lie in one domain; "" = none */
	/* A lower level: in one domain of it, or of the next ones up, where it can start there at
	 * once; "" = none */
	char prefer[OSP_LEVEL_NAME_BYTES];
};

/* relax_s of a request that says so itself ("spine@never"), whatever the policy's default is. */
#define OSP_RELAX_NEVER ((int64_t)-2)

/* Parses an option's value. Level names are any word of [A-Za-z0-9_-]; whether one exists is for
 * the topology to say. `origin` stays as the caller set it. On error `request` is unchanged and the
 * error's column is the byte in `value`, from 1; returns 0 or -1. */
int osp_request_parse(const char *value, struct osp_request *request, struct osp_error *error);

/* The option's value again ("spine@30:00"; "" for a bare option or none), to `buffer`
 * (OSP_REQUEST_BYTES hold any); returns `buffer`. */
const char *osp_request_format(const struct osp_request *request, char *buffer,
			       size_t buffer_bytes);

/* What a job is held to. */
/* What a job could do to be no gang; known where a request was resolved. */
enum osp_way_out {
	OSP_WAY_UNKNOWN,
	OSP_WAY_LEAVE_OUT, /* leave out --gang */
	OSP_WAY_OFF,	   /* ask for --gang=off: without, policy makes it one */
	OSP_WAY_NONE	   /* nothing: policy makes it one, and takes no --gang=off */
};

struct osp_effective {
	enum osp_mode mode; /* OSP_MODE_OFF: not a gang */
	enum osp_origin origin;
	char level[OSP_LEVEL_NAME_BYTES];
	int64_t relax_s;		    /* -1 = never */
	uint32_t domains_max;		    /* 0 and 1: in one */
	char segments[OSP_SEGMENTS_BYTES];  /* "": none; those of the layout too, which are what is
					       obeyed */
	char layout[OSP_LAYOUT_TEXT_BYTES]; /* "": none */
	char keep[OSP_KEEP_BYTES];
	char prefer[OSP_LEVEL_NAME_BYTES]; /* "": none */
	bool mix_kinds; /* one gang may have nodes of different GPU or instance types */
	/* Not stored with the job (lib/policy/effective.h): */
	bool if_large; /* a gang only when it is given from_nodes nodes or more */
	/* GPUs on a node of a layout whose groups lie together in another order of nodes than the
	 * framework's own; 0: in its own */
	uint32_t reordered_gpus;
	uint32_t from_nodes; /* of the policy that makes the gang; 0: the job asked for itself */
	enum osp_way_out way_out;
	char unread[OSP_UNREAD_BYTES]; /* what of a stored request is not understood; "": all is */
};

/*
 * Merges a request with the partition's policy: the request over the policy's default, within what
 * the policy allows. A job whose `size` the policy does not hold is put under no default. Returns
 * 0, or -1 with a sentence for the user in `error`: `off` where policy does not allow it, a gang
 * where the mode is off (to run it anyway would place it anywhere). `off` of a job that only might
 * become large is allowed, and does not stop the shadow from keeping what the policy promises.
 */
int osp_request_resolve(const struct osp_request *request, const struct osp_policy *policy,
			const char *partition, const struct osp_size *size,
			struct osp_effective *effective, struct osp_error *error);

/*
 * The least nodes that a job takes: as many as it says (0 if it does not), and no fewer than hold
 * its `tasks` at `tasks_per_node`, the most that one node may have (0: not said).
 */
uint32_t osp_least_nodes(uint32_t nodes, uint32_t tasks, uint32_t tasks_per_node);

#endif
