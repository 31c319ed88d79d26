/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * version_rules.h - the versions installed on a node, and combinations known to fail
 *
 * Uses the rules of `onespine env` that ask for nothing but facts, and for at least one version: of
 * the driver, CUDA, NCCL, aws-ofi-nccl, libfabric or the EFA installer. Reads files; any thread,
 * but not inside a Slurm daemon.
 */
#ifndef OSP_VERSION_RULES_H
#define OSP_VERSION_RULES_H

#include <stddef.h>

#include "lib/base/error.h"

#define OSP_VERSION_WORDS_BYTES 256

/* A rule that holds here and is about harm. */
struct osp_bad_versions {
	const char *rule;			/* its id */
	char versions[OSP_VERSION_WORDS_BYTES]; /* "nccl 2.21.5, efa 1.28.0" */
	const char *reason;
	const char *cure; /* NULL: none */
	const char *source;
};

/*
 * Judges the node below `root` by the rules in `data`/rules and `site`/rules.d (NULL: none), with
 * the types in `data`/instances and `site`/instances.d. Calls `take` with each rule that holds; its
 * argument lives only during the call. `found` gets the known versions, "" if there are none.
 * Returns 0, or -1 with `error` set.
 */
int osp_version_rules(const char *root, const char *data, const char *site,
		      void (*take)(void *context, const struct osp_bad_versions *bad),
		      void *context, char found[OSP_VERSION_WORDS_BYTES], struct osp_error *error);

#endif
