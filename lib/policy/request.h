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
#include "lib/policy/config.h"

#define OSP_LEVEL_NAME_BYTES 32

/* The name under which a SPANK option's value reaches slurmctld in spank_job_env[] (design section
 * 4). */
#define OSP_SPANK_GANG "_SLURM_SPANK_OPTION_onespine_gang="
/* The entry of spank_job_env[] that job_submit writes and the shadow obeys; a user's own is
 * removed. */
#define OSP_EFFECTIVE "_ONESPINE_EFFECTIVE="
/* The variable of a user's environment that stands for --gang. */
#define OSP_GANG_VARIABLE "ONESPINE_GANG"

enum osp_asked { OSP_ASKED_NOTHING, OSP_ASKED_OFF, OSP_ASKED_GANG };
enum osp_origin { OSP_FROM_OPTION, OSP_FROM_ENVIRONMENT, OSP_FROM_POLICY, OSP_FROM_SET };

/* "[LEVEL][@TIME]" or "off"; TIME may be "never"; "" and NULL are the bare option. */
struct osp_request {
	enum osp_asked asked;
	enum osp_origin origin;
	char level[OSP_LEVEL_NAME_BYTES]; /* "" = the policy's default level */
	int64_t relax_s; /* pending so long, the next level up will do; -1 = not said */
};

/* relax_s of a request that says so itself ("spine@never"), whatever the policy's default is. */
#define OSP_RELAX_NEVER ((int64_t)-2)

/* Parses an option's value. Level names are any word of [A-Za-z0-9_-]; whether one exists is for
 * the topology to say. `origin` stays as the caller set it. On error `request` is unchanged and the
 * error's column is the byte in `value`, from 1; returns 0 or -1. */
int osp_request_parse(const char *value, struct osp_request *request, struct osp_error *error);

/* The option's value again ("spine@30:00"; "" for a bare option or none), to `buffer`; returns
 * `buffer`. */
const char *osp_request_format(const struct osp_request *request, char *buffer,
			       size_t buffer_bytes);

/* What a job is held to. */
struct osp_effective {
	enum osp_mode mode; /* OSP_MODE_OFF: not a gang */
	enum osp_origin origin;
	char level[OSP_LEVEL_NAME_BYTES];
	int64_t relax_s; /* -1 = never */
	bool mix_kinds;	 /* nodes of different GPU or instance types may stand in one gang */
};

/*
 * Merges a request with the partition's policy: the request over the policy's default, within what
 * the policy allows. `node_count` is the least number of nodes asked for (0 where not said); policy
 * that starts at `from_nodes` puts smaller jobs under no default. Returns 0, or -1 with a sentence
 * for the user in `error`: `off` where policy does not allow it, a gang where the mode is off (to
 * run it anyway would place it anywhere).
 */
int osp_request_resolve(const struct osp_request *request, const struct osp_policy *policy,
			const char *partition, uint32_t node_count, struct osp_effective *effective,
			struct osp_error *error);

/*
 * The least nodes that a job takes: as many as it says (0 where it does not), and no fewer than hold
 * its `tasks` at `tasks_per_node`, the most that one node may have (0: not said).
 */
uint32_t osp_least_nodes(uint32_t nodes, uint32_t tasks, uint32_t tasks_per_node);

/* The value after OSP_EFFECTIVE: "mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no".
 */
const char *osp_effective_format(const struct osp_effective *effective, char *buffer,
				 size_t buffer_bytes);

/* Parses that value, every key present once and nothing else; returns 0 or -1. */
int osp_effective_parse(const char *value, struct osp_effective *effective);

#endif
