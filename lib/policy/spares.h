/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spares.h - what --gang-spares asks for: K nodes more, or K more in each segment's domain
 *
 * K/segment asks for spares where they replace a node: a segment of N nodes is placed as one of
 * N + K, so its spares lie in its own domain, and K nodes of each are released before the job
 * starts. Segments of higher levels grow with those that they hold; a smaller last segment has K
 * spares, too.
 *
 * Any thread, any daemon: no shared state, no allocation.
 */
#ifndef OSP_POLICY_SPARES_H
#define OSP_POLICY_SPARES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/policy/request.h"

#define OSP_SPARES_MAX 16383 /* of a job */

struct osp_spares {
	uint32_t count;	  /* of the job, or of each segment */
	bool per_segment; /* "K/segment" */
};

/* Reads "2" or "2/segment". Returns 0, or -1 if it is neither, or more than OSP_SPARES_MAX. */
int osp_spares_parse(const char *value, struct osp_spares *spares);

/*
 * Makes the segments of a gang of `nodes` nodes, "nvlink:16,leaf:32", larger by `count` spares in
 * each of the lowest: "nvlink:18,leaf:36". *spares gets how many these are in all. Returns 0, or -1
 * with `error` set: sizes that are no multiples of the smallest, or numbers that are too large.
 */
int osp_spares_grow(const char *segments, uint32_t count, uint32_t nodes,
		    char grown[OSP_SEGMENTS_BYTES], uint32_t *spares, struct osp_error *error);

/*
 * Returns whether `spares` spares of a gang of `nodes` nodes, the spares among them, are `count` in
 * each of its segments of `unit` nodes.
 */
bool osp_spares_are_in_segments(uint32_t spares, uint32_t count, uint32_t nodes, uint32_t unit);

#endif
