/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * request.h - what a user asked with --gang, and its result under the partition's policy
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
#define OSP_LEFT_BYTES	     (3 * OSP_LEVEL_NAME_BYTES + 160)
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

/* The names of the options whose values onespine.so took from variables, with blanks, for the words
 * of a refusal: "gang gang-segment". */
#define OSP_SPANK_BY_VARIABLE "_ONESPINE_BY_VARIABLE"
/* Set by onespine.so if a salloc asks for a gang: slurmctld then writes to it where the gang is. */
#define OSP_SPANK_SALLOC "_ONESPINE_SALLOC"
/* The value with which doctor learns whether job_submit is ours: it has no level and no time, and
 * our job_submit refuses it without a line in slurmctld's log. */
#define OSP_GANG_PROBE "@onespine-doctor"
/* The entry of spank_job_env[] that job_submit writes and the shadow obeys; a user's own entry is
 * removed. */
#define OSP_EFFECTIVE "_ONESPINE_EFFECTIVE="
/* The entry that the shadow writes, "TRIES:NODE-SECONDS:LAST": how often nodes were launched in
 * vain for the gang, how long it held nodes for that, and when it last went back to the queue
 * (seconds since 1970). A user's own entry is removed. */
#define OSP_LAUNCHED_IN_VAIN "_ONESPINE_LAUNCHED_IN_VAIN="
/* The nodes that were launched for the gang and not given back, in Slurm's notation. A user's own
 * entry is removed. */
#define OSP_LAUNCHED_NODES "_ONESPINE_LAUNCHED_NODES="
/* How many spares the job has, and each of its segments if they are those of segments, for the gate
 * and the shadow; job_submit writes them. A user's own is removed. */
#define OSP_EFFECTIVE_SPARES_NAME	  "_ONESPINE_SPARES"
#define OSP_EFFECTIVE_SPARES		  OSP_EFFECTIVE_SPARES_NAME "="
#define OSP_EFFECTIVE_SEGMENT_SPARES_NAME "_ONESPINE_SEGMENT_SPARES"
#define OSP_EFFECTIVE_SEGMENT_SPARES	  OSP_EFFECTIVE_SEGMENT_SPARES_NAME "="
/* Which segment each of its nodes is in, if each has spares, for the gate
 * (lib/layout/gang_segments.h); the shadow writes it. A user's own is removed. */
#define OSP_EFFECTIVE_SEGMENTS_NAME "_ONESPINE_SEGMENTS"
#define OSP_EFFECTIVE_SEGMENTS	    OSP_EFFECTIVE_SEGMENTS_NAME "="
/* The instances that the gang was placed on, for the gate (lib/topology/placed_instance.h); the
 * shadow writes it. A user's own is removed. */
#define OSP_PLACED_INSTANCES_NAME "_ONESPINE_INSTANCES"
#define OSP_PLACED_INSTANCES	  OSP_PLACED_INSTANCES_NAME "="
/* The nodes on which Slurm has counted the gang's GPUs but not chosen them, in its notation; the
 * shadow writes it for the gate. A user's own is removed. */
#define OSP_UNKNOWN_GPUS_NAME "_ONESPINE_UNKNOWN_GPUS"
#define OSP_UNKNOWN_GPUS      OSP_UNKNOWN_GPUS_NAME "="
/* Which jobs the gang preempts, and where, as osp_chooser_saved() writes it; "": none. A user's own
 * entry is removed. */
#define OSP_PREEMPTS "_ONESPINE_PREEMPTS="
/* The variable of a user's environment that means --gang. */
#define OSP_GANG_VARIABLE OSP_JOB_VARIABLE(GANG)

enum osp_gang_option { OSP_GANG_OPTION_NONE, OSP_GANG_OPTION_OFF, OSP_GANG_OPTION_ON };
enum osp_origin { OSP_FROM_OPTION, OSP_FROM_ENVIRONMENT, OSP_FROM_POLICY, OSP_FROM_SET };

/* "[LEVEL][@TIME][ domains=MAX][ segment=LEVEL:N[,LEVEL:N...]][ layout=AXES][
 * keep=GROUP:LEVEL[,...]][ prefer=LEVEL]" or "off"; TIME may be "never"; "" and NULL mean the bare
 * option. "leaf,prefer[@TIME]" is "[@TIME] prefer=leaf". */
struct osp_request {
	enum osp_gang_option asked;
	enum osp_origin origin;
	char level[OSP_LEVEL_NAME_BYTES]; /* "" = the policy's default level */
	int64_t relax_s;      /* pending so long, it accepts the next level up; -1 = not said */
	uint32_t domains_max; /* the most domains it may be in; 0 = not given: one */
	char segments[OSP_SEGMENTS_BYTES]; /* sets of nodes in lower domains, as in request_parts.h;
					      "" = none */
	char layout[OSP_LAYOUT_TEXT_BYTES]; /* "tp8,pp8", as in lib/layout/layout.h; "" = none */
	char keep[OSP_KEEP_BYTES];	    /* its groups that lie in one domain; "" = none */
	/* A lower level: the gang gets one domain of it, or of the next ones up, if it can start
	 * there at once; "" = none */
	char prefer[OSP_LEVEL_NAME_BYTES];
};

/* relax_s of a request that says never itself ("spine@never"), whatever the policy's default is. */
#define OSP_RELAX_NEVER ((int64_t)-2)

/* Parses an option's value. A level's name is any word of [A-Za-z0-9_-]; the topology decides
 * whether it exists. `origin` stays as the caller set it. Returns 0, or -1 with `request` unchanged
 * and the byte in `value`, from 1, as the error's column. */
int osp_request_parse(const char *value, struct osp_request *request, struct osp_error *error);

/* Writes the option's value ("spine@30:00"; "" for a bare option or none) to `buffer`, for which
 * OSP_REQUEST_BYTES always suffice; returns `buffer`. */
const char *osp_request_format(const struct osp_request *request, char *buffer,
			       size_t buffer_bytes);

/* What a job's user can do so that it is no gang; known if a request was resolved. */
enum osp_way_out {
	OSP_WAY_UNKNOWN,
	OSP_WAY_LEAVE_OUT, /* leave out --gang */
	OSP_WAY_OFF,	   /* ask for --gang=off: without it, policy makes the job one */
	OSP_WAY_NONE	   /* nothing: policy makes the job one and allows no --gang=off */
};

/* What a job is held to. */
struct osp_effective {
	enum osp_mode mode; /* OSP_MODE_OFF: not a gang */
	enum osp_origin origin;
	char level[OSP_LEVEL_NAME_BYTES];
	int64_t relax_s;		    /* -1 = never */
	uint32_t domains_max;		    /* 0 and 1: one domain */
	char segments[OSP_SEGMENTS_BYTES];  /* "": none; includes the layout's, and is obeyed */
	char layout[OSP_LAYOUT_TEXT_BYTES]; /* "": none */
	char keep[OSP_KEEP_BYTES];
	char prefer[OSP_LEVEL_NAME_BYTES]; /* "": none */
	bool mix_kinds; /* one gang may have nodes of different GPU or instance types */
	/* The rest is not stored with the job (lib/policy/effective.h). */
	bool if_large; /* a gang only if it gets from_nodes nodes or more */
	/* GPUs of a node, if the layout keeps its groups together by an order of nodes other than
	 * the framework's own; 0: the framework's order */
	uint32_t reordered_gpus;
	char left[OSP_LEFT_BYTES]; /* what its segments leave of a domain, and of the last one */
	uint32_t from_nodes;	   /* of the policy that makes the gang; 0: the job itself asked */
	enum osp_way_out way_out;
	char unread[OSP_UNREAD_BYTES]; /* not understood of a stored request; "": nothing */
};

/*
 * Merges a request with the partition's policy: the request overrides the policy's defaults, as far
 * as the policy allows. No default applies to a job whose `size` the policy does not hold. Returns
 * 0, or -1 with a sentence for the user in `error`: for `off` if the policy does not allow it, and
 * for a gang if the mode is off (to run it anyway would place it anywhere). `off` is allowed for a
 * job that only might become large, and does not stop the shadow from keeping the policy's promise.
 */
int osp_request_resolve(const struct osp_request *request, const struct osp_policy *policy,
			const char *partition, const struct osp_size *size,
			struct osp_effective *effective, struct osp_error *error);

/*
 * Makes the promise of several components that count together as strict as this one's: -p a,b may
 * hold one to a lower level than the others, or from fewer nodes on. One that is not enforced adds
 * nothing. A level that `topology` does not have is the strictest: they wait for it.
 */
void osp_request_add_promise(struct osp_effective *strictest, const struct osp_effective *other,
			     const struct osp_topology *topology);

/* How a call of the scheduler about a gang is answered. */
enum osp_course {
	OSP_COURSE_PLACE,	/* it is placed (lib/choose/choose.h) */
	OSP_COURSE_WAIT_UNREAD, /* it waits: its stored request is not understood */
	OSP_COURSE_WAIT_SPLIT,	/* it waits: it asks for what cannot stay in one domain */
	OSP_COURSE_COMPONENT,	/* it is placed together with others (lib/choose/components.h) */
	OSP_COURSE_SCHEDULER,	/* the scheduler's own answer is taken */
	OSP_COURSE_LARGE,	/* it is placed, or takes fewer nodes (lib/choose/large.h) */
};

struct osp_course_facts {
	bool only_ever;	    /* the question is whether it could ever start */
	bool splits;	    /* its options conflict with one domain */
	bool is_component;  /* it counts together with other components */
	bool others_choose; /* one of them may run in several partitions, or runs */
	bool has_fabric;
};

enum osp_course osp_course_of(const struct osp_effective *effective,
			      const struct osp_course_facts *facts);

/*
 * Returns the least number of nodes that a job takes: the number it gives (0 if it gives none), but
 * no fewer than hold its `tasks` at `tasks_per_node`, the most that one node may have (0: not
 * said).
 */
uint32_t osp_least_nodes(uint32_t nodes, uint32_t tasks, uint32_t tasks_per_node);

#endif
