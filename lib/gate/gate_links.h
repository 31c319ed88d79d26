/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_links.h - which links of a gang to measure, and which node to blame
 *
 * Round 1 is a ring over all nodes that are healthy so far: each sends to the next, all at once. If
 * a link is bad (wrong bytes, no bytes, or slower than a quarter of the median), round 2 measures
 * that link again, and each of its ends with two partners that are good in round 1, so that one bad
 * node does not make its partner look bad. A link that is good in round 2 was only crowded.
 *
 * A node is blamed if it is bad in the same direction with at least two partners that are good with
 * others. If a link is bad and both of its ends are good with others, the link is named and no node
 * is blamed. A link that was slow while one of its ends was not quiet (lib/gate/gate_traffic.h)
 * counts neither way; wrong bytes always count.
 *
 * Pure: the same figures give the same verdict. Any thread.
 */
#ifndef OSP_GATE_LINKS_H
#define OSP_GATE_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/gate/gate_message.h"

#define OSP_GATE_SLOW	     0.25f /* of the median; shared uplinks cost far less speed */
#define OSP_GATE_LINK_ROUNDS 2

/* The figures of one round: each link of the order, in any sequence. A link that nobody reported
 * has 0, as if nothing came through. */
struct osp_gate_figures {
	struct osp_gate_link *links;
	uint32_t count;
	float least_gbps; /* of the first round: a limit beside the median's; 0: none */
};

/* Writes the ring over the ranks that are `fit` to `links` (room for node_count). Returns the
 * number of links, 0 if fewer than two ranks are fit. */
uint32_t osp_gate_ring(const bool *fit, uint32_t node_count, struct osp_gate_link *links);

/* Returns the median of the links that carried right bytes, in gigabits per second; 0 if there is
 * none. */
float osp_gate_links_median(const struct osp_gate_figures *figures);

/*
 * Writes the links of round 2 to `links` (room for 5 times node_count). Returns their number, 0 if
 * round 1 is good, or -1 if memory ran out.
 */
int64_t osp_gate_links_again(const struct osp_gate_figures *ring, uint32_t node_count,
			     struct osp_gate_link *links);

enum osp_gate_blame {
	OSP_GATE_BLAME_NONE,
	OSP_GATE_BLAME_UNSURE,	 /* an end of a slow link that does not count */
	OSP_GATE_BLAME_LINK,	 /* an end of a bad link, and good with others */
	OSP_GATE_BLAME_SENDS,	 /* it sends badly to any partner */
	OSP_GATE_BLAME_RECEIVES, /* it receives badly from any partner */
};

/* One node's part. */
struct osp_gate_blamed {
	enum osp_gate_blame blame;
	bool wrong; /* bytes were wrong, not only slow; for SENDS and RECEIVES, with two partners */
	float gbps; /* the best of its bad links */
	uint32_t partner;  /* the other end of one of them */
	uint32_t partners; /* the number of good partners with which it is bad */
	float speed;	   /* its slower direction in the ring, relative to the median */
};

/* Finds each rank's blame from both rounds (`again` may be empty). Returns 0, or -1 if memory ran
 * out. */
int osp_gate_links_judge(const struct osp_gate_figures *ring, const struct osp_gate_figures *again,
			 uint32_t node_count, struct osp_gate_blamed *blamed);

#endif
