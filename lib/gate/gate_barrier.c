/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_barrier.c - one node's part in gathering the gang's reports: the next step and its time */
#include "lib/gate/gate_barrier.h"

#include <stdlib.h>
#include <string.h>

int osp_gate_barrier_start(struct osp_gate_barrier *barrier, uint32_t rank, uint32_t node_count,
			   uint32_t budget_ms)
{
	memset(barrier, 0, sizeof(*barrier));
	barrier->rank = rank;
	barrier->node_count = node_count;
	barrier->times = osp_gate_times(budget_ms, rank, node_count);
	barrier->subtree = osp_gate_subtree(rank, node_count);
	barrier->parent_count = osp_gate_parents(rank, node_count, barrier->parents);
	barrier->known = calloc(node_count / 8 + 1, 1);
	return barrier->known ? 0 : -1;
}

void osp_gate_barrier_free(struct osp_gate_barrier *barrier)
{
	free(barrier->reports);
	free(barrier->known);
	barrier->reports = NULL;
	barrier->known = NULL;
}

static int make_room(struct osp_gate_barrier *barrier)
{
	uint32_t room = barrier->room ? barrier->room * 2 : 4;
	struct osp_gate_report *reports;

	if (barrier->heard < barrier->room)
		return 0;
	reports = realloc(barrier->reports, room * sizeof(*reports));
	if (!reports)
		return -1;
	barrier->reports = reports;
	barrier->room = room;
	return 0;
}

static uint32_t place_of(const struct osp_gate_barrier *barrier, uint32_t rank)
{
	uint32_t place = 0;

	while (place < barrier->heard && barrier->reports[place].rank != rank)
		place++;
	return place;
}

static void forget(struct osp_gate_barrier *barrier, uint32_t place)
{
	uint32_t rank = barrier->reports[place].rank;

	barrier->known[rank / 8] &= (uint8_t) ~(1u << rank % 8);
	barrier->heard--;
	barrier->reported -= place < barrier->reported;
	barrier->heard_below -= osp_gate_is_below(rank, barrier->rank);
	memmove(barrier->reports + place, barrier->reports + place + 1,
		(barrier->heard - place) * sizeof(*barrier->reports));
}

static int add(struct osp_gate_barrier *barrier, const struct osp_gate_report *report)
{
	if (make_room(barrier))
		return -1;
	barrier->known[report->rank / 8] |= (uint8_t)(1u << report->rank % 8);
	barrier->reports[barrier->heard++] = *report;
	barrier->heard_below += osp_gate_is_below(report->rank, barrier->rank);
	return 1;
}

int osp_gate_barrier_gone(struct osp_gate_barrier *barrier, uint32_t rank)
{
	struct osp_gate_report silent = {.rank = rank, .result = OSP_VERDICT_SILENT};
	uint32_t place = place_of(barrier, rank);

	if (barrier->ended || place == barrier->heard ||
	    barrier->reports[place].result == OSP_VERDICT_SILENT)
		return 0;
	forget(barrier, place);
	barrier->gone++;
	return add(barrier, &silent) < 0 ? -1 : 0;
}

int osp_gate_barrier_hear(struct osp_gate_barrier *barrier, const struct osp_gate_report *report,
			  uint64_t now_ms)
{
	bool known = barrier->known[report->rank / 8] & 1u << report->rank % 8;

	if (report->result == OSP_VERDICT_SILENT)
		return osp_gate_barrier_gone(barrier, report->rank);
	if (known) {
		uint32_t place = place_of(barrier, report->rank);

		if (barrier->reports[place].result != OSP_VERDICT_SILENT)
			return 0;
		forget(barrier, place);
		barrier->gone--;
	}
	/* No child is waited for much longer than it would wait for us. */
	if (report->rank == barrier->rank &&
	    now_ms + 2 * (uint64_t)barrier->times.turn_ms < barrier->times.report_ms)
		barrier->times.report_ms = (uint32_t)now_ms + 2 * barrier->times.turn_ms;
	return add(barrier, report);
}

static void leave_parent(struct osp_gate_barrier *barrier, uint32_t rank)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < barrier->parent_count; i++)
		if (barrier->parents[i] != rank)
			barrier->parents[kept++] = barrier->parents[i];
	if (kept == barrier->parent_count || barrier->connected)
		return;
	barrier->parent_count = kept;
	barrier->parent = 0;
	barrier->trying = false;
}

int osp_gate_barrier_absent(struct osp_gate_barrier *barrier, uint32_t rank, uint64_t now_ms)
{
	const struct osp_gate_report report = {
		.rank = rank, .result = OSP_VERDICT_SKIP, .absent = true};

	if (rank == barrier->rank)
		return 0;
	leave_parent(barrier, rank);
	return osp_gate_barrier_hear(barrier, &report, now_ms) < 0 ? -1 : 0;
}

/* --- the parent ------------------------------------------------------------------------------- */

void osp_gate_barrier_connected(struct osp_gate_barrier *barrier)
{
	barrier->connected = true;
	barrier->trying = false;
}

/* Turns to the next parent, to which nothing was sent yet. The first follows the last: it may only
 * be late. */
static void turn(struct osp_gate_barrier *barrier)
{
	barrier->connected = false;
	barrier->trying = false;
	if (++barrier->parent == barrier->parent_count) {
		barrier->parent = 0;
		barrier->all_silent = true;
	}
	barrier->reported = 0;
}

/* Returns how long to try a parent. The first one may only be late; the others have had that time
 * already. */
static uint64_t patience_ms(const struct osp_gate_barrier *barrier)
{
	return barrier->parent || barrier->all_silent ? barrier->times.turn_ms / 8
						      : barrier->times.turn_ms;
}

void osp_gate_barrier_refused(struct osp_gate_barrier *barrier, uint64_t now_ms)
{
	if (!barrier->trying) {
		barrier->trying = true;
		barrier->tried_ms = now_ms;
	}
	if (now_ms - barrier->tried_ms >= patience_ms(barrier))
		turn(barrier);
}

void osp_gate_barrier_lost(struct osp_gate_barrier *barrier, uint64_t now_ms)
{
	(void)now_ms;
	turn(barrier);
}

void osp_gate_barrier_end(struct osp_gate_barrier *barrier)
{
	barrier->ended = true;
}

/* --- the next step ---------------------------------------------------------------------------- */

/* Returns whether this node decides: rank 0, or at the time of the decision a deputy whose parents
 * do not answer. */
static bool is_decider(const struct osp_gate_barrier *barrier, uint64_t now_ms)
{
	if (!barrier->parent_count)
		return true;
	return now_ms >= barrier->times.decide_ms && barrier->all_silent && !barrier->connected &&
	       osp_gate_is_deputy(barrier->rank, barrier->node_count);
}

static enum osp_gate_step decider_step(const struct osp_gate_barrier *barrier, uint64_t now_ms,
				       uint64_t *wake_ms)
{
	if (barrier->heard == barrier->node_count && !barrier->gone)
		return OSP_GATE_DECIDE;
	*wake_ms = barrier->times.decide_ms;
	if (now_ms < *wake_ms)
		return OSP_GATE_WAIT;
	return osp_gate_quorum(barrier->rank, barrier->heard, barrier->node_count) ? OSP_GATE_DECIDE
										   : OSP_GATE_ALONE;
}

/* Returns whether it is time to send the reports that the parent does not have. */
static bool reports(const struct osp_gate_barrier *barrier, uint64_t now_ms)
{
	return barrier->reported < barrier->heard &&
	       (barrier->heard_below == barrier->subtree || now_ms >= barrier->times.report_ms);
}

enum osp_gate_step osp_gate_barrier_step(const struct osp_gate_barrier *barrier, uint64_t now_ms,
					 uint64_t *wake_ms)
{
	*wake_ms = barrier->times.verdict_ms;
	if (barrier->ended)
		return OSP_GATE_WAIT;
	if (is_decider(barrier, now_ms))
		return decider_step(barrier, now_ms, wake_ms);
	if (now_ms >= barrier->times.verdict_ms)
		return OSP_GATE_ALONE;
	if (reports(barrier, now_ms))
		return barrier->connected ? OSP_GATE_SEND : OSP_GATE_CONNECT;
	if (now_ms < barrier->times.report_ms)
		*wake_ms = barrier->times.report_ms;
	else if (now_ms < barrier->times.decide_ms)
		*wake_ms = barrier->times.decide_ms;
	return OSP_GATE_WAIT;
}

static int compare_ranks(const void *a, const void *b)
{
	const struct osp_gate_report *one = a, *other = b;

	return one->rank < other->rank ? -1 : one->rank > other->rank;
}

uint32_t osp_gate_barrier_take(struct osp_gate_barrier *barrier, struct osp_gate_report *out)
{
	uint32_t count = barrier->heard - barrier->reported;

	memcpy(out, barrier->reports + barrier->reported, count * sizeof(*out));
	qsort(out, count, sizeof(*out), compare_ranks);
	barrier->reported = barrier->heard;
	return count;
}

void osp_gate_barrier_all(const struct osp_gate_barrier *barrier, struct osp_gate_report *out)
{
	for (uint32_t i = 0; i < barrier->node_count; i++)
		out[i] = (struct osp_gate_report){.rank = i, .result = OSP_VERDICT_SILENT};
	for (uint32_t i = 0; i < barrier->heard; i++)
		out[barrier->reports[i].rank] = barrier->reports[i];
}
