/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_links.c - which links of a gang to measure, and which node to blame */
#include "lib/gate/gate_links.h"

#include <stdlib.h>
#include <string.h>

#define PARTNERS 2 /* with which each end of a bad link is tried */

uint32_t osp_gate_ring(const bool *fit, uint32_t node_count, struct osp_gate_link *links)
{
	uint32_t first = OSP_GATE_NOBODY, last = OSP_GATE_NOBODY, count = 0;

	for (uint32_t rank = 0; rank < node_count; rank++) {
		if (!fit[rank])
			continue;
		if (last == OSP_GATE_NOBODY)
			first = rank;
		else
			links[count++] = (struct osp_gate_link){.from = last, .to = rank};
		last = rank;
	}
	if (!count)
		return 0;
	links[count++] = (struct osp_gate_link){.from = last, .to = first};
	return count;
}

static int compare_floats(const void *a, const void *b)
{
	float one = *(const float *)a, other = *(const float *)b;

	return one < other ? -1 : one > other;
}

float osp_gate_links_median(const struct osp_gate_figures *figures)
{
	float *speeds = calloc(figures->count ? figures->count : 1, sizeof(*speeds)), median = 0;
	uint32_t count = 0;

	for (uint32_t i = 0; speeds && i < figures->count; i++)
		if (figures->links[i].gbps > 0 && !figures->links[i].wrong)
			speeds[count++] = figures->links[i].gbps;
	if (count) {
		qsort(speeds, count, sizeof(*speeds), compare_floats);
		median = speeds[count / 2];
	}
	free(speeds);
	return median;
}

/* Returns whether a link carried wrong bytes, nothing, or less than OSP_GATE_SLOW of the median. */
static bool link_is_bad(const struct osp_gate_link *link, float median_gbps)
{
	return link->wrong || link->gbps <= 0 || link->gbps < OSP_GATE_SLOW * median_gbps;
}

/* --- the second round ------------------------------------------------------------------------- */

struct chooser {
	uint32_t node_count;
	bool *sends_well; /* by rank, according to the ring */
	bool *hears_well;
	uint32_t next; /* good partners take turns */
	struct osp_gate_link *links;
	uint32_t count;
};

/* Returns the next rank, except `but`, that is good by `well` and no end of the bad link, or
 * NOBODY. */
static uint32_t next_good(struct chooser *chooser, const bool *well,
			  const struct osp_gate_link *bad, uint32_t but)
{
	for (uint32_t i = 0; i < chooser->node_count; i++) {
		uint32_t rank = (chooser->next + i) % chooser->node_count;

		if (well[rank] && rank != bad->from && rank != bad->to && rank != but) {
			chooser->next = rank + 1;
			return rank;
		}
	}
	return OSP_GATE_NOBODY;
}

static void add_link(struct chooser *chooser, uint32_t from, uint32_t to)
{
	if (from != OSP_GATE_NOBODY && to != OSP_GATE_NOBODY)
		chooser->links[chooser->count++] = (struct osp_gate_link){.from = from, .to = to};
}

static void try_ends(struct chooser *chooser, const struct osp_gate_link *bad)
{
	uint32_t hearer = OSP_GATE_NOBODY, sender = OSP_GATE_NOBODY;

	add_link(chooser, bad->from, bad->to);
	for (int i = 0; i < PARTNERS; i++) {
		hearer = next_good(chooser, chooser->hears_well, bad, hearer);
		add_link(chooser, bad->from, hearer);
		sender = next_good(chooser, chooser->sends_well, bad, sender);
		add_link(chooser, sender, bad->to);
	}
}

int64_t osp_gate_links_again(const struct osp_gate_figures *ring, uint32_t node_count,
			     struct osp_gate_link *links)
{
	struct chooser chooser = {.node_count = node_count, .links = links};
	float median = osp_gate_links_median(ring);

	chooser.sends_well = calloc(node_count, sizeof(bool));
	chooser.hears_well = calloc(node_count, sizeof(bool));
	if (!chooser.sends_well || !chooser.hears_well) {
		free(chooser.sends_well);
		free(chooser.hears_well);
		return -1;
	}
	for (uint32_t i = 0; i < ring->count; i++)
		if (!link_is_bad(&ring->links[i], median)) {
			chooser.sends_well[ring->links[i].from] = true;
			chooser.hears_well[ring->links[i].to] = true;
		}
	for (uint32_t i = 0; i < ring->count; i++)
		if (link_is_bad(&ring->links[i], median))
			try_ends(&chooser, &ring->links[i]);
	free(chooser.sends_well);
	free(chooser.hears_well);
	return chooser.count;
}

/* --- the verdict ------------------------------------------------------------------------------ */

/* What is known about one rank in one direction. A bad link counts if its other end is good with
 * others. */
struct side {
	uint32_t good;
	uint32_t bad;
	uint32_t unproven; /* bad ones whose other end is good with none */
	uint32_t unsure;   /* slow ones that do not count */
	uint32_t wrong;	   /* bad ones with wrong bytes, whose other end is good with some node */
	uint32_t partner;
	bool any_wrong;
	float gbps;
};

struct judging {
	const struct osp_gate_figures *ring;
	const struct osp_gate_figures *again;
	float median;
	struct side *sends, *hears; /* by rank */
};

/* Returns a link of the ring with its second measurement, if there is one; wrong bytes stay
 * wrong. */
static struct osp_gate_link latest(const struct judging *judging, const struct osp_gate_link *link)
{
	struct osp_gate_link is = *link;

	for (uint32_t i = 0; i < judging->again->count; i++) {
		const struct osp_gate_link *other = &judging->again->links[i];

		if (other->from == link->from && other->to == link->to) {
			is = *other;
			is.wrong = is.wrong || link->wrong;
		}
	}
	return is;
}

static bool is_new(const struct judging *judging, const struct osp_gate_link *link)
{
	for (uint32_t i = 0; i < judging->ring->count; i++)
		if (judging->ring->links[i].from == link->from &&
		    judging->ring->links[i].to == link->to)
			return false;
	return true;
}

static bool is_bad(const struct judging *judging, const struct osp_gate_link *link)
{
	return link_is_bad(link, judging->median) || link->gbps < judging->ring->least_gbps;
}

typedef void count_f(struct judging *judging, const struct osp_gate_link *link, bool bad);

static void each_link(struct judging *judging, count_f *count)
{
	for (uint32_t i = 0; i < judging->ring->count; i++) {
		const struct osp_gate_link *link = &judging->ring->links[i];
		bool bad = is_bad(judging, link);
		struct osp_gate_link is = bad ? latest(judging, link) : *link;

		count(judging, &is, is_bad(judging, &is));
	}
	for (uint32_t i = 0; i < judging->again->count; i++) {
		const struct osp_gate_link *link = &judging->again->links[i];

		if (is_new(judging, link))
			count(judging, link, is_bad(judging, link));
	}
}

/* Returns whether the link is slow only, and other traffic at one of its ends explains it. */
static bool counts_for_nothing(const struct osp_gate_link *link)
{
	return link->crowded && !link->wrong;
}

static void count_good(struct judging *judging, const struct osp_gate_link *link, bool bad)
{
	if (bad)
		return;
	judging->sends[link->from].good++;
	judging->hears[link->to].good++;
}

static void add_bad(struct side *side, bool proven, uint32_t partner,
		    const struct osp_gate_link *link)
{
	if (proven)
		side->bad++;
	else
		side->unproven++;
	side->partner = partner;
	side->wrong += proven && link->wrong;
	side->any_wrong = side->any_wrong || link->wrong;
	if (link->gbps > side->gbps)
		side->gbps = link->gbps;
}

/* Counts a bad link. It says something about one end only if the other is good with some node. */
static void count_bad(struct judging *judging, const struct osp_gate_link *link, bool bad)
{
	if (!bad)
		return;
	if (counts_for_nothing(link)) {
		judging->sends[link->from].unsure++;
		judging->hears[link->to].unsure++;
		return;
	}
	add_bad(&judging->sends[link->from], judging->hears[link->to].good, link->to, link);
	add_bad(&judging->hears[link->to], judging->sends[link->from].good, link->from, link);
}

static void judge_side(const struct side *side, enum osp_gate_blame blame,
		       struct osp_gate_blamed *blamed)
{
	if (side->unsure && blamed->blame == OSP_GATE_BLAME_NONE)
		blamed->blame = OSP_GATE_BLAME_UNSURE;
	if (!side->bad && (!side->unproven || side->good))
		return;
	if (side->bad < PARTNERS || side->good)
		blame = OSP_GATE_BLAME_LINK;
	/* Wrong bytes outweigh slowness in the other direction: only they may drain. */
	if (blame < blamed->blame ||
	    (blame > OSP_GATE_BLAME_LINK && blamed->blame > OSP_GATE_BLAME_LINK && blamed->wrong))
		return;
	blamed->blame = blame;
	blamed->wrong = blame == OSP_GATE_BLAME_LINK ? side->any_wrong : side->wrong >= PARTNERS;
	blamed->gbps = side->gbps;
	blamed->partner = side->partner;
	blamed->partners = side->bad;
}

static void add_speed(const struct judging *judging, struct osp_gate_blamed *blamed)
{
	for (uint32_t i = 0; judging->median > 0 && i < judging->ring->count; i++) {
		const struct osp_gate_link *link = &judging->ring->links[i];
		float speed = link->gbps / judging->median;

		if (blamed[link->from].speed <= 0 || speed < blamed[link->from].speed)
			blamed[link->from].speed = speed;
		if (blamed[link->to].speed <= 0 || speed < blamed[link->to].speed)
			blamed[link->to].speed = speed;
	}
}

int osp_gate_links_judge(const struct osp_gate_figures *ring, const struct osp_gate_figures *again,
			 uint32_t node_count, struct osp_gate_blamed *blamed)
{
	struct judging judging = {.ring = ring, .again = again};

	memset(blamed, 0, node_count * sizeof(*blamed));
	judging.median = osp_gate_links_median(ring);
	judging.sends = calloc(node_count, sizeof(*judging.sends));
	judging.hears = calloc(node_count, sizeof(*judging.hears));
	if (judging.sends && judging.hears) {
		each_link(&judging, count_good);
		each_link(&judging, count_bad);
		for (uint32_t rank = 0; rank < node_count; rank++) {
			judge_side(&judging.sends[rank], OSP_GATE_BLAME_SENDS, &blamed[rank]);
			judge_side(&judging.hears[rank], OSP_GATE_BLAME_RECEIVES, &blamed[rank]);
		}
		add_speed(&judging, blamed);
	}
	free(judging.sends);
	free(judging.hears);
	return judging.sends && judging.hears ? 0 : -1;
}
