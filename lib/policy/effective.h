/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * effective.h - the request in force, as stored with the job
 *
 * job_submit writes it after OSP_EFFECTIVE into spank_job_env[], where it outlives slurmctld and an
 * upgrade of Onespine: "version=1,mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no",
 * in any order. A gang in segments or in several domains also has "domains=2" and
 * "segments=nvlink:16+leaf:32"; one with a layout, which its segments come from, also
 * "layout=tp8+pp8+dp8" and "keep=pp:leaf"; and --gang=leaf,prefer also "prefer=leaf". A release may
 * add keys. The version rises if the meaning of an existing key changes; releases before the first
 * version wrote none, but the same keys.
 *
 * Any thread, any daemon: no shared state, no allocation.
 */
#ifndef OSP_EFFECTIVE_H
#define OSP_EFFECTIVE_H

#include <stddef.h>

#include "lib/policy/request.h"

#define OSP_EFFECTIVE_VERSION	1
#define OSP_EFFECTIVE_BYTES	640  /* holds all that osp_effective_format() writes */
#define OSP_EFFECTIVE_BYTES_MAX 1024 /* of a stored one; a longer one is not read */

/* Writes the stored form to `buffer`, without what request.h marks as not stored; returns
 * `buffer`. */
const char *osp_effective_format(const struct osp_effective *effective, char *buffer,
				 size_t buffer_bytes);

/*
 * Reads a stored request. Returns 0 if all of it is understood: each key once, no required one
 * missing. Else returns -1, with what was read in `effective` and the reason in effective->unread:
 * "has the key 'pack', which this release does not know". Such a job stays a gang
 * (OSP_MODE_ENFORCE) unless another mode was read; its level may be "".
 */
int osp_effective_parse(const char *value, struct osp_effective *effective);

/* Writes why a gang with an `unread` request waits, and what to do; returns `buffer`. */
const char *osp_effective_waits(const struct osp_effective *effective, char *buffer,
				size_t buffer_bytes);

#endif
