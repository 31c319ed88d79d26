/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch_policy.h - the section `watch:` of onespine.yaml: which sources are asked for places,
 * how often, and which answers are held
 *
 *	watch:
 *	  from: ec2		# or "infiniband,nvlink" or "topograph:/path"; off: --from says
 *	  interval_s: 300	# between two questions, if no node starts
 *	  max_lost: 10		# percent of the nodes that may lose their place before an answer is
 *				held
 *	  max_moved: 10		# percent that may move
 *	  block_ends: off	# reserve: no job runs on instances of a Capacity Block when EC2
 *				begins to end them
 *	  slurm_topology: off	# or "default:fabric": Slurm's own Topology= of each node is kept
 *				the same, below that switch (slurm_unit.h)
 *	  launch_groups: off	# or "cr-0123=NODES ..": nodes that do not run have the place of
 *				their capacity reservation (launch_groups.h)
 *	  report_port: 0	# or a TCP port of slurmctld's hosts, 1024 to 65535: there the watch
 *				hears what nodes know of their own places (report.h)
 *	  report_key_file: auto	# or a file of keys (lib/gate/secrets.h) that proves reports instead
 *				of MUNGE
 *
 * Every key has a default. Any thread.
 */
#ifndef OSP_WATCH_POLICY_H
#define OSP_WATCH_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/document.h"
#include "lib/base/error.h"
#include "lib/topology/compare.h"

enum osp_watch_key {
	OSP_WATCH_KEY_FROM,
	OSP_WATCH_KEY_INTERVAL_S,
	OSP_WATCH_KEY_MAX_LOST,
	OSP_WATCH_KEY_MAX_MOVED,
	OSP_WATCH_KEY_BLOCK_ENDS,
	OSP_WATCH_KEY_SLURM_TOPOLOGY,
	OSP_WATCH_KEY_LAUNCH_GROUPS,
	OSP_WATCH_KEY_REPORT_PORT,
	OSP_WATCH_KEY_REPORT_KEY_FILE,
	OSP_WATCH_KEY_COUNT
};

extern const char *const osp_watch_keys[OSP_WATCH_KEY_COUNT];

struct osp_watch_policy {
	const char *from; /* sources, as --from has them; NULL: off */
	uint32_t interval_s;
	struct osp_topology_guard guard;
	bool reserve_block_ends;
	const char *slurm_topology;  /* where our paths begin; NULL: off */
	const char *launch_groups;   /* NULL: off */
	uint32_t report_port;	     /* at which the watch hears nodes; 0: off */
	const char *report_key_file; /* NULL: the usual one with auth/slurm, else MUNGE */
};

#define OSP_WATCH_INTERVAL_MAX_S 86400

/* Sets the built-in values. */
void osp_watch_policy_default(struct osp_watch_policy *policy);

/*
 * Puts the values of `map` over those of `policy`, and the line of each given key into `lines`.
 * Strings belong to the document. Returns 0, or -1 with `error` set.
 */
int osp_watch_policy_read(const struct osp_document *document, const struct osp_value *map,
			  struct osp_watch_policy *policy, int lines[OSP_WATCH_KEY_COUNT],
			  struct osp_error *error);

/* Returns the value of one key in words, as in the file; `buffer` holds numbers. */
const char *osp_watch_policy_word(const struct osp_watch_policy *policy, enum osp_watch_key key,
				  char *buffer, size_t buffer_bytes);

/* Returns whether its value is a word (quoted in JSON) and no number. */
bool osp_watch_key_is_word(enum osp_watch_key key);

#endif
