/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_links.h - which links of a gang to measure, and whom to blame
 *
 * Round 1 is a ring over all nodes that are healthy so far: each sends to the next, all at once.
 * Only where a link of it is bad (wrong bytes, nothing, or slower than a quarter of the median) there
 * is a second round: that link again, and both of its ends with partners that are good in round 1,
 * two each, so that one bad node does not make its partner look bad. A link that is good the second
 * time was only crowded. A node is blamed when it is bad with two partners or more that are good with
 * others, in the same direction; a link that is bad while both its ends are good with others is named
 * and nobody is blamed. A link that was slow while one of its ends was not quiet
 * (lib/gate/gate_traffic.h) counts neither way; wrong bytes count whatever else went on.
 *
 * Pure: the same figures give the same verdict. Any thread.
 */
#ifndef OSP_GATE_LINKS_H
#define OSP_GATE_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/gate/gate_message.h"

#define OSP_GATE_SLOW	     0.25f /* of the median: far beyond what sharing a leaf's uplinks costs */
#define OSP_GATE_LINK_ROUNDS 2

/* What came out of one round: each link ordered, in any order; figures of links that nobody told
 * stay 0 (nothing came through). */
struct osp_gate_figures {
	struct osp_gate_link *links;
	uint32_t count;
	float least_gbps; /* of the first round: what a link must reach beside; 0: nothing more */
};

/* The ring over the ranks that are `fit`; none if fewer than two are. Returns how many links;
 * `links` has room for node_count. */
uint32_t osp_gate_ring(const bool *fit, uint32_t node_count, struct osp_gate_link *links);

/* The median of what came through, 0 if nothing did. Gigabits per second. */
float osp_gate_links_median(const struct osp_gate_figures *figures);

bool osp_gate_link_is_bad(const struct osp_gate_link *link, float median_gbps);

/*
 * The links of round 2: none where round 1 is good. `links` has room for 5 times node_count. Returns
 * how many, or -1 when memory ran out.
 */
int64_t osp_gate_links_again(const struct osp_gate_figures *ring, uint32_t node_count,
			     struct osp_gate_link *links);

enum osp_gate_blame {
	OSP_GATE_BLAME_NONE,
	OSP_GATE_BLAME_UNSURE, /* an end of a slow link that counts for nothing */
	OSP_GATE_BLAME_LINK,   /* an end of a bad link, and good with others */
	OSP_GATE_BLAME_SENDS,  /* what it sends is bad, to whomever */
	OSP_GATE_BLAME_HEARS,  /* what it receives is bad, from whomever */
};

/* One node's part. */
struct osp_gate_blamed {
	enum osp_gate_blame blame;
	bool wrong; /* bytes were wrong, not only slow; of SENDS and HEARS with two partners */
	float gbps; /* the best of its bad links */
	uint32_t partner;  /* the other end of one of them */
	uint32_t partners; /* how many good partners it is bad with */
	float speed;	   /* its slower direction in the ring, of the median */
};

/* From both rounds (`again` may be empty) to everybody's part, by rank. 0, or -1 when memory ran
 * out. */
int osp_gate_links_judge(const struct osp_gate_figures *ring, const struct osp_gate_figures *again,
			 uint32_t node_count, struct osp_gate_blamed *blamed);

#endif
