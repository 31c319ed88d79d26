/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_policy.h - the section `gate:` of a partition in onespine.yaml
 *
 *	defaults:
 *	  gate:
 *	    depth: passive	# off | passive | quick | full: the least; --gang-check may only
 *				raise it
 *	    jobs: gpus		# gpus: every job that gets GPUs; all: every job
 *	    budget_s: 60	# from the first node's Prolog to the verdict, all of it
 *	    fresh_s: 3600	# a pass counts for so long; 0: never
 *	    failure: drain	# drain | comment | log: what happens to a failed node; only with
 *				# drain does a silent one stop the job
 *	    checks:		# the same for single checks
 *	      clocks: comment
 *	    on_error: go	# go | wait: if a check itself breaks
 *	    spares: 2		# the most that --gang-spares may ask for
 *	    restarts: 3		# the job is held after so many starts that the gate stopped
 *	    network: auto	# auto | nccl | tcp | off: data and bandwidth between the nodes
 *	    ports: 288-303	# TCP ports of the gate's messages; below 1024 no user can take them
 *	    breaker: 10		# per cent of the cluster's nodes; more drained by us in
 *	    breaker_s: 3600	# so long: nobody is drained any more
 *	    breaker_jobs: go	# go | wait: what jobs do then
 *	    evidence: local	# local, or a shared folder of root's for evidence of failed checks
 *	    quarantine: 0	# the most failed nodes that are kept instead of drained, on
 *				# ParallelCluster (lib/gate/quarantine.h)
 *	    quarantine_h: 72	# the most hours that one is kept
 *	    key_file: auto	# auto, or a file of keys (lib/gate/secrets.h) instead of MUNGE
 *
 * `network: nccl` sums over all of the gang's GPUs with NCCL if each node has libnccl.so.2, and
 * measures over TCP if NCCL cannot be used; auto does the same at the depths that load GPUs (quick,
 * full), and measures over TCP at passive, which loads none. true is auto, false is off.
 *
 * Every key has a default. A partition has the values of `defaults` for keys that it does not set.
 * Read from a root-owned file only (gate/gate_job.h makes sure of that). Any thread.
 */
#ifndef OSP_GATE_POLICY_H
#define OSP_GATE_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/document.h"
#include "lib/base/error.h"

#define OSP_GATE_CHECKS_MAX 64 /* in `checks` */
#define OSP_GATE_PORTS_MAX  64 /* in `ports` */

enum osp_gate_depth {
	OSP_GATE_OFF,
	OSP_GATE_PASSIVE,
	OSP_GATE_QUICK,
	OSP_GATE_FULL,
	OSP_GATE_DEPTH_COUNT
};

enum osp_gate_network {
	OSP_GATE_NETWORK_OFF,
	OSP_GATE_NETWORK_TCP,
	OSP_GATE_NETWORK_AUTO,
	OSP_GATE_NETWORK_NCCL,
	OSP_GATE_NETWORK_COUNT
};

enum osp_gate_failure { OSP_GATE_ON_FAIL_LOG, OSP_GATE_ON_FAIL_COMMENT, OSP_GATE_ON_FAIL_DRAIN };

struct osp_gate_check_rule {
	const char *check;
	enum osp_gate_failure failure;
};

struct osp_gate_policy {
	enum osp_gate_depth depth;
	bool all_jobs; /* also those without GPUs */
	uint32_t budget_s;
	uint32_t fresh_s;
	enum osp_gate_failure failure;
	struct osp_gate_check_rule checks[OSP_GATE_CHECKS_MAX];
	uint32_t check_count;
	bool error_waits; /* on_error: wait */
	uint32_t spares_max;
	uint32_t restarts_max;
	enum osp_gate_network network;
	uint16_t port_first;
	uint16_t port_last;
	uint32_t breaker_percent;
	uint32_t breaker_s;
	bool breaker_waits;
	const char *evidence; /* a folder; NULL: on the node */
	uint32_t quarantine;  /* nodes */
	uint32_t quarantine_h;
	const char *key_file; /* NULL: the usual one with auth/slurm, else MUNGE */
};

enum osp_gate_key {
	OSP_GATE_KEY_DEPTH,
	OSP_GATE_KEY_JOBS,
	OSP_GATE_KEY_BUDGET_S,
	OSP_GATE_KEY_FRESH_S,
	OSP_GATE_KEY_FAILURE,
	OSP_GATE_KEY_CHECKS,
	OSP_GATE_KEY_ON_ERROR,
	OSP_GATE_KEY_SPARES,
	OSP_GATE_KEY_RESTARTS,
	OSP_GATE_KEY_NETWORK,
	OSP_GATE_KEY_PORTS,
	OSP_GATE_KEY_BREAKER,
	OSP_GATE_KEY_BREAKER_S,
	OSP_GATE_KEY_BREAKER_JOBS,
	OSP_GATE_KEY_EVIDENCE,
	OSP_GATE_KEY_QUARANTINE,
	OSP_GATE_KEY_QUARANTINE_H,
	OSP_GATE_KEY_KEY_FILE,
	OSP_GATE_KEY_COUNT
};

extern const char *const osp_gate_keys[OSP_GATE_KEY_COUNT];

/* Sets the built-in values. */
void osp_gate_policy_default(struct osp_gate_policy *policy);

/* Overrides `policy` with the values of `map`, and sets the line of each given key in `lines`.
 * Strings belong to the document. Returns 0, or -1 with `error` set. */
int osp_gate_policy_read(const struct osp_document *document, const struct osp_value *map,
			 struct osp_gate_policy *policy, int lines[OSP_GATE_KEY_COUNT],
			 struct osp_error *error);

/* Returns the value of one key in words, as in the file; `buffer` holds a value that is no fixed
 * word. */
const char *osp_gate_policy_word(const struct osp_gate_policy *policy, enum osp_gate_key key,
				 char *buffer, size_t buffer_bytes);

/* Returns what happens to a node on which `check` failed. */
enum osp_gate_failure osp_gate_policy_failure(const struct osp_gate_policy *policy,
					      const char *check);

/* Reads "passive" and the like. Returns -1 and changes nothing if `word` is no depth. */
int osp_gate_depth_parse(const char *word, enum osp_gate_depth *depth);
const char *osp_gate_depth_name(enum osp_gate_depth depth);

#endif
