/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * version.h - versions of software, and ranges of them
 *
 * A version is one to four numbers with dots ("2.21", "550.90.07"), perhaps followed by a
 * packager's mark: "amzn4.0" counts (1.22.0amzn4.0 is above 1.22.0amzn2.0, and both above 1.22.0);
 * "rc1", "alpha" and "beta" are below the version itself; anything else after '-', '+' or '~' is
 * ignored ("1.13.2-aws", "2.21.5-1+cuda12.4").
 *
 * A range is up to four bounds separated by commas, all of which must hold: ">=1.16,<1.18". A bound
 * without a sign is "=". A bound compares as many numbers as it has: "<=1.20" holds for 1.20.3,
 * ">1.20" does not, and "2.25" holds for every 2.25.x. If a version is known less exactly than a
 * bound needs (2 against ">=2.18"), the result is unknown and never guessed.
 *
 * Any thread, any daemon: no shared state, no allocation.
 */
#ifndef OSP_VERSION_H
#define OSP_VERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

#define OSP_VERSION_PARTS 4
#define OSP_VERSION_BYTES 64
#define OSP_RANGE_BOUNDS  4

/* The answer to a question. */
enum osp_truth { OSP_NO, OSP_YES, OSP_UNKNOWN };

struct osp_version {
	uint32_t parts[OSP_VERSION_PARTS];
	uint32_t count;	   /* of parts; 0: the version is unknown */
	uint32_t packager; /* the number after "amzn"; 0 if there is none */
	bool before;	   /* rc, alpha, beta: below the version without them */
};

enum osp_bound_sign {
	OSP_BOUND_EQUAL,
	OSP_BOUND_BELOW,
	OSP_BOUND_AT_MOST,
	OSP_BOUND_ABOVE,
	OSP_BOUND_AT_LEAST,
	OSP_BOUND_UNEQUAL
};

struct osp_range {
	struct osp_bound {
		enum osp_bound_sign sign;
		struct osp_version version;
	} bounds[OSP_RANGE_BOUNDS];
	uint32_t count;
};

/* Parses a version. Returns 0, or -1 with `error` set; its column is that of the wrong character in
 * `text`. */
int osp_version_parse(const char *text, struct osp_version *version, struct osp_error *error);

/* Parses a range, likewise; also refuses a range in which no version can be. */
int osp_range_parse(const char *text, struct osp_range *range, struct osp_error *error);

enum osp_truth osp_range_holds(const struct osp_range *range, const struct osp_version *version);

/* Returns whether some version is in both. */
bool osp_ranges_meet(const struct osp_range *a, const struct osp_range *b);

#endif
