/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config.h - onespine.yaml
 *
 * One file beside slurm.conf, strict: an unknown key, a key given twice, an anchor, a tag or a
 * value of the wrong type refuses the whole file with line and column and the nearest right word.
 * Every key has a default, so an empty or missing file is a valid one.
 *
 *	topology: onespine.topology   # the file the shadow obeys; beside this one unless it starts
 *				      with /
 *	defaults:                     # policy of partitions that say nothing else
 *	  mode: enforce               # enforce | advise | off
 *	  level: spine                # the level of a bare --gang
 *	  gang: asked                 # asked: only with --gang; always: every job from from_nodes
 *				      on
 *	  from_nodes: 2               # gang: always starts at this many nodes
 *	  allow_off: true             # users may say --gang=off
 *	  mix_kinds: false            # GPU or instance types may mix in one gang
 *	  relax: never                # @TIME of jobs that do not say: never, or a Slurm time
 *	  env: auto                   # --gang-env of jobs that do not say: auto, off or explain
 *	  bind: auto                  # --gang-bind of jobs that do not say: auto, off or verbose
 *	  unlaunched: wait            # wait | launch: gangs on nodes that do not run yet
 *	  launch_tries: 3
 *	  launch_place: 5:00
 *	  launch_keep: 5:00
 *	  gate: {}                    # lib/gate/gate_policy.h
 *	without_match: hold           # hold | stop: where Slurm was updated and no build fits it
 *	history: {}                   # lib/health/history_policy.h
 *	watch: {}                     # lib/topology/watch_policy.h
 *	partitions:
 *	  gpu:
 *	    gang: always
 *
 * A partition has the values of `defaults` for keys that it does not set. etc/onespine.yaml is the
 * same with an explanation of each key.
 *
 * A loaded configuration never changes: any number of threads may read one. Not read inside a
 * scheduling call.
 */
#ifndef OSP_CONFIG_H
#define OSP_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/gate/gate_policy.h"
#include "lib/health/history_policy.h"
#include "lib/topology/watch_policy.h"

#define OSP_CONFIG_FILE_BYTES_MAX ((size_t)1024 * 1024)

enum osp_mode { OSP_MODE_OFF, OSP_MODE_ADVISE, OSP_MODE_ENFORCE };

/* The values of --gang-env and --gang-bind. */
enum osp_env_mode { OSP_ENV_OFF, OSP_ENV_AUTO, OSP_ENV_EXPLAIN };
enum osp_bind_mode { OSP_BIND_OFF, OSP_BIND_AUTO, OSP_BIND_VERBOSE };

/* What happens to nodes that do not run and whose place is unknown. */
enum osp_unlaunched {
	OSP_UNLAUNCHED_WAIT,   /* no gang gets them */
	OSP_UNLAUNCHED_LAUNCH, /* a gang may have them started, and is judged when they run */
};

struct osp_policy {
	enum osp_mode mode;
	const char *level;   /* the default level's name */
	bool gang_always;    /* jobs of from_nodes nodes and more are gangs without asking */
	uint32_t from_nodes; /* 1 .. */
	bool allow_off;
	bool mix_kinds;
	int64_t relax_s; /* -1 = never */
	enum osp_env_mode env;
	enum osp_bind_mode bind;
	enum osp_unlaunched unlaunched;
	uint32_t launch_tries;	/* 1 .. OSP_LAUNCH_TRIES_MAX: launches in vain per gang */
	int64_t launch_place_s; /* a place must be known this long after the last node started */
	int64_t launch_keep_s;	/* how long a launch in vain keeps nodes for the next; 0: not */
};

#define OSP_LAUNCH_TRIES_MAX 100

struct osp_config;

/* Parses `text`; an empty one gives the defaults. `file` is for errors and for osp_config_show();
 * it may be NULL. Returns NULL with `error` set if the text is refused or memory ran out. */
struct osp_config *osp_config_read(const char *file, const char *text, size_t text_bytes,
				   struct osp_error *error);
void osp_config_free(struct osp_config *config); /* NULL is allowed */

/* Returns the policy of `partition` (NULL or unknown: the defaults). Lives as long as the
 * configuration. */
const struct osp_policy *osp_config_policy(const struct osp_config *config, const char *partition);

/* Returns the policy of the partition whose name is the name_bytes bytes at `name`, likewise. */
const struct osp_policy *osp_config_policy_named(const struct osp_config *config, const char *name,
						 size_t name_bytes);

/* Returns the gate's section in force for `partition`, likewise. */
const struct osp_gate_policy *osp_config_gate(const struct osp_config *config,
					      const char *partition);

/* Returns what is kept of checks, likewise; the same for all partitions. */
const struct osp_history_policy *osp_config_history(const struct osp_config *config);

/* Returns the section watch. Never NULL. */
const struct osp_watch_policy *osp_config_watch(const struct osp_config *config);

/* Returns the topology file's name as configured (not joined to a folder); default
 * "onespine.topology". */
const char *osp_config_topology(const struct osp_config *config);

/* Returns whether gangs wait where Slurm was updated and no build of Onespine fits it
 * (without_match: hold), or slurmctld does not start. */
bool osp_config_holds(const struct osp_config *config);

/* Returns whether nodes are launched for gangs of any partition (unlaunched: launch). */
bool osp_config_launches(const struct osp_config *config);

/* Return the partitions named in the file, to check them against Slurm's. */
size_t osp_config_partition_count(const struct osp_config *config);
const char *osp_config_partition(const struct osp_config *config, size_t index, int *line);

/* Returns where the file names partition number `index`, and where it sets the level in force there
 * (for all others if the index is past the last), and where watch.launch_groups is. Line 0:
 * nowhere. */
struct osp_config_place {
	int line, column;
};
struct osp_config_place osp_config_partition_place(const struct osp_config *config, size_t index);
struct osp_config_place osp_config_level_place(const struct osp_config *config, size_t index);
struct osp_config_place osp_config_launch_groups_place(const struct osp_config *config);

/*
 * Returns the values in force and their sources, one per line: "gpu.mode   enforce
 * (onespine.yaml:12)", "... (default)". With `json` the same as JSON: {"file": .., "topology":
 * {"value": .., "line": ..}, "defaults": {"mode": {..}, ..}, "partitions": {"gpu": {..}}}, line
 * null for a default. The caller frees it with free(); NULL if memory ran out.
 */
char *osp_config_show(const struct osp_config *config, bool json);

const char *osp_mode_name(enum osp_mode mode);
const char *osp_env_mode_name(enum osp_env_mode mode);
const char *osp_bind_mode_name(enum osp_bind_mode mode);

/*
 * Parses the value of an option; `option` is its name for errors ("--gang-env"). Returns 0, or -1
 * with the right words and the nearest of them in `error`.
 */
int osp_env_mode_parse(const char *option, const char *word, enum osp_env_mode *mode,
		       struct osp_error *error);
int osp_bind_mode_parse(const char *option, const char *word, enum osp_bind_mode *mode,
			struct osp_error *error);

#endif
