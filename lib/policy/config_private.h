/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config_private.h - the fields of struct osp_config
 *
 * For config.c, which fills them in, and config_show.c. Nothing else includes this file.
 */
#ifndef OSP_CONFIG_PRIVATE_H
#define OSP_CONFIG_PRIVATE_H

#include "lib/base/document.h"
#include "lib/gate/gate_policy.h"
#include "lib/health/history_policy.h"
#include "lib/topology/watch_policy.h"
#include "lib/policy/config.h"

/* The keys of a policy, in the order in which they are shown. */
enum osp_policy_key {
	OSP_KEY_MODE,
	OSP_KEY_LEVEL,
	OSP_KEY_GANG,
	OSP_KEY_FROM_NODES,
	OSP_KEY_ALLOW_OFF,
	OSP_KEY_MIX_KINDS,
	OSP_KEY_RELAX,
	OSP_KEY_ENV,
	OSP_KEY_BIND,
	OSP_KEY_UNLAUNCHED,
	OSP_KEY_LAUNCH_TRIES,
	OSP_KEY_LAUNCH_PLACE,
	OSP_KEY_LAUNCH_KEEP,
	OSP_KEY_COUNT
};

struct osp_partition_policy {
	const char *partition; /* NULL for the defaults */
	int partition_line;
	int partition_column;
	struct osp_policy policy;
	const char *relax;	  /* as written */
	const char *launch_place; /* as written */
	const char *launch_keep;  /* as written */
	int lines[OSP_KEY_COUNT]; /* line of each value; 0 = built in */
	int level_column;
	struct osp_gate_policy gate;
	int gate_lines[OSP_GATE_KEY_COUNT];
	bool gate_said; /* here and not in `defaults` */
};

struct osp_config {
	struct osp_document *document; /* holds the strings below */
	char *file;
	const char *topology;
	int topology_line;
	bool stops; /* without_match: stop */
	int without_match_line;
	struct osp_partition_policy defaults;
	struct osp_partition_policy *partitions;
	size_t partition_count;
	struct osp_history_policy history;
	int history_lines[OSP_HISTORY_KEY_COUNT];
	struct osp_watch_policy watch;
	int watch_lines[OSP_WATCH_KEY_COUNT];
	int launch_groups_column;
};

#define OSP_MODE_COUNT	    (OSP_MODE_ENFORCE + 1)

#define OSP_ENV_MODE_COUNT  (OSP_ENV_EXPLAIN + 1)
#define OSP_BIND_MODE_COUNT (OSP_BIND_VERBOSE + 1)

extern const char *const osp_mode_names[OSP_MODE_COUNT];
extern const char *const osp_env_mode_names[OSP_ENV_MODE_COUNT];
extern const char *const osp_bind_mode_names[OSP_BIND_MODE_COUNT];
#define OSP_UNLAUNCHED_COUNT (OSP_UNLAUNCHED_LAUNCH + 1)

extern const char *const osp_without_match_names[2]; /* by osp_config.stops */
extern const char *const osp_unlaunched_names[OSP_UNLAUNCHED_COUNT];
extern const char *const osp_policy_keys[OSP_KEY_COUNT];

#endif
