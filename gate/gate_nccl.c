/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_nccl.c - data and bandwidth between the nodes of a gang, by NCCL */
#include "onespine_config.h"
#include "gate/gate_nccl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate/gate_loop.h"
#include "lib/base/text.h"

#define REPORT_MS      500  /* for the parts to come up */
#define TCP_MS	       4000 /* that TCP's rounds need where this fails */
#define ROUND_LEAST_MS 1000
#define ROUND_MOST_MS  60000
#define ALL	       0 /* the group of the whole gang */
#define LOOK_MS	       5 /* while counters are read */
#define SUMS_MOST      4 /* all-reduces of one order: compared, begun together, and two timed */

/* --- this node's part ------------------------------------------------------------------------- */

static uint32_t own_rank(const struct gate_loop *loop)
{
	return loop->wire.rank;
}

static void put_part(struct gate_loop *loop, const struct osp_gate_part *part)
{
	struct gate_reduce *reduce = &loop->reduce;
	struct osp_gate_part *to;

	if (part->rank >= loop->wire.node_count || reduce->reported[part->rank])
		return;
	to = reduce->round == 1 ? &reduce->ready[part->rank] : &reduce->last[part->rank];
	*to = *part;
	reduce->reported[part->rank] = true;
	reduce->missing--;
	if (reduce->round > 1 && part->quiet != OSP_GATE_QUIET)
		reduce->seen[part->rank] =
			(struct osp_gate_traffic){.rank = part->rank,
						  .quiet = part->quiet,
						  .foreign_gbps = part->foreign_gbps};
	if (reduce->round > 1 && part->state == OSP_GATE_PART_DONE)
		memcpy(reduce->ready[part->rank].id, part->id, sizeof(part->id));
}

static void write_parts(struct osp_text *message, const struct osp_gate_header *header,
			const void *parts, uint32_t count)
{
	osp_gate_write_parts(message, header, parts, count);
}

static void report_parts(struct gate_loop *loop, const struct osp_gate_part *parts, uint32_t count)
{
	gate_send_above(loop, &(struct gate_outgoing){OSP_GATE_MESSAGE_PARTS, loop->reduce.round,
						      write_parts, parts, count});
}

static void report_own(struct gate_loop *loop, struct osp_gate_part *part)
{
	part->rank = own_rank(loop);
	loop->reduce.own_reported = true;
	if (loop->reduce.decides)
		put_part(loop, part);
	else
		report_parts(loop, part, 1);
}

static void report_broken(struct gate_loop *loop, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void report_broken(struct gate_loop *loop, const char *format, ...)
{
	struct osp_gate_part part = {.state = OSP_GATE_PART_BROKE};
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(part.why, sizeof(part.why), format, arguments);
	va_end(arguments);
	report_own(loop, &part);
}

/* Finds the ranks of this node's GPUs in its group. */
static bool find_place(const struct gate_loop *loop, uint32_t *group, uint32_t *first,
		       uint32_t *ranks)
{
	const struct osp_gate_reduce *order = &loop->reduce.order;
	bool found = false;

	*group = *first = *ranks = 0;
	for (uint32_t i = 0; i < order->member_count && !found; i++)
		if (order->members[i].rank == own_rank(loop)) {
			*group = order->members[i].group;
			found = true;
		}
	for (uint32_t i = 0; found && i < order->member_count; i++) {
		const struct osp_gate_member *member = &order->members[i];

		if (member->group != *group)
			continue;
		if (member->rank < own_rank(loop))
			*first += member->gpus;
		*ranks += member->gpus;
	}
	return found;
}

/*
 * Computes what a node's adapters carry each way, at most, for all the sums of one order: of R
 * ranks that sum S bytes a ring carries 2 (R - 1) / R times S through each node, whichever number
 * of its GPUs it joins; two trees, of which each node is a leaf in one, at most as much (2 S).
 */
static uint64_t payload_bytes(const struct osp_gate_reduce *order, uint32_t ranks)
{
	return ranks < 2 ? 0
			 : (uint64_t)order->sum_kib * 1024 * SUMS_MOST * 2 * (ranks - 1) / ranks;
}

/* Reads the counters before NCCL begins, which needs longer to begin than they to be read. */
static void look_around(struct gate_loop *loop)
{
	loop->reduce.own_answered = false;
	loop->reduce.asked_ns = gate_around_now_ns();
	gate_around_begin(&loop->reduce.around, loop->job->root, NULL);
}

static void take_part(struct gate_loop *loop)
{
	const struct osp_gate_reduce *order = &loop->reduce.order;
	struct gate_reducer *reducer = &loop->reduce.reducer;
	struct osp_error error = {.text = ""};
	uint32_t group, first, ranks;

	if (!find_place(loop, &group, &first, &ranks)) {
		loop->reduce.own_reported = true;
	} else if (!order->group_count) {
		uint64_t now_ms = gate_now_ms(loop), end_ms = loop->barrier.times.verdict_ms;

		if (gate_reducer_start(reducer, loop->job,
				       end_ms > now_ms ? (uint32_t)(end_ms - now_ms) : 0, &error))
			report_broken(loop, "%.100s", error.text);
	} else {
		look_around(loop);
		if (!gate_reducer_ask(reducer, first, ranks, order->sum_kib, order->ids[group]))
			report_broken(loop, "its process for NCCL has gone");
	}
}

/* --- orders ----------------------------------------------------------------------------------- */

static void write_order(struct osp_text *message, const struct osp_gate_header *header,
			const void *order, uint32_t count)
{
	(void)count;
	osp_gate_write_reduce(message, header, order);
}

/* Takes what `order` holds. */
static void begin_round(struct gate_loop *loop, uint32_t round, struct osp_gate_reduce *order)
{
	struct gate_reduce *reduce = &loop->reduce;

	osp_gate_reduce_free(&reduce->order);
	reduce->order = *order;
	memset(order, 0, sizeof(*order));
	reduce->round = round;
	reduce->own_reported = false;
	reduce->until_ms = gate_now_ms(loop) + reduce->order.limit_ms;
	gate_send_below(loop, &(struct gate_outgoing){OSP_GATE_MESSAGE_REDUCE, round, write_order,
						      &reduce->order, 1});
	take_part(loop);
}

void gate_reduce_order(struct gate_loop *loop, struct osp_gate_message *message)
{
	if (message->header.round <= loop->reduce.round || loop->measure.round)
		return;
	begin_round(loop, message->header.round, &message->reduce);
}

void gate_reduce_hear(struct gate_loop *loop, const struct osp_gate_message *message)
{
	if (message->header.round != loop->reduce.round)
		return;
	if (!loop->reduce.decides) {
		report_parts(loop, message->parts, message->count);
		return;
	}
	for (uint32_t i = 0; i < message->count; i++)
		put_part(loop, &message->parts[i]);
}

/* --- the decider's rounds --------------------------------------------------------------------- */

/* Returns the time for a round that may have one part of `share` of what is left, or 0 if there
 * is none. */
static uint32_t limit_of_round(const struct gate_loop *loop, uint32_t share)
{
	uint64_t end_ms = loop->barrier.times.verdict_ms, now_ms = gate_now_ms(loop), left_ms;

	end_ms -= end_ms / 10; /* for what a verdict has to do */
	if (end_ms < now_ms + TCP_MS)
		return 0;
	left_ms = (end_ms - now_ms - TCP_MS) / share;
	if (left_ms < ROUND_LEAST_MS)
		return 0;
	return left_ms < ROUND_MOST_MS ? (uint32_t)left_ms : ROUND_MOST_MS;
}

static void finish(struct gate_loop *loop, bool judged)
{
	loop->reduce.done = true;
	loop->reduce.judged = judged;
	gate_reduce_stop(loop);
}

static void give_up(struct gate_loop *loop, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void give_up(struct gate_loop *loop, const char *format, ...)
{
	char why[200];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why, sizeof(why), format, arguments);
	va_end(arguments);
	osp_gate_log(loop->job, "NCCL says nothing about the network, TCP does: %s", why);
	finish(loop, false);
}

/* Takes what `order` holds; its members are the ones that will report. */
static void order_round(struct gate_loop *loop, struct osp_gate_reduce *order)
{
	struct gate_reduce *reduce = &loop->reduce;

	memset(reduce->reported, true, loop->wire.node_count * sizeof(*reduce->reported));
	memset(reduce->last, 0, loop->wire.node_count * sizeof(*reduce->last));
	for (uint32_t i = 0; i < order->member_count; i++)
		reduce->reported[order->members[i].rank] = false;
	reduce->missing = order->member_count;
	begin_round(loop, reduce->round + 1, order);
}

/* Writes all fit nodes as one group, with the GPUs of each if they are known. */
static bool write_members(const struct gate_reduce *reduce, uint32_t node_count, bool gpus,
			  struct osp_gate_reduce *order)
{
	order->members = calloc(node_count, sizeof(*order->members));
	if (!order->members)
		return false;
	for (uint32_t rank = 0; rank < node_count; rank++)
		if (reduce->fit[rank])
			order->members[order->member_count++] = (struct osp_gate_member){
				.rank = rank, .gpus = gpus ? reduce->ready[rank].gpus : 0};
	return true;
}

static uint32_t least_sum_kib(const struct gate_reduce *reduce, uint32_t node_count)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t rank = 0; rank < node_count; rank++)
		if (reduce->fit[rank] && reduce->ready[rank].sum_kib < least)
			least = reduce->ready[rank].sum_kib;
	return least;
}

static void order_all(struct gate_loop *loop)
{
	struct gate_reduce *reduce = &loop->reduce;
	struct osp_gate_reduce order = {.limit_ms = limit_of_round(loop, 2)};

	order.ids = calloc(1, sizeof(*order.ids));
	order.group_count = 1;
	order.sum_kib = least_sum_kib(reduce, loop->wire.node_count);
	if (!order.limit_ms)
		give_up(loop, "there is no time left for it");
	else if (!order.ids || !write_members(reduce, loop->wire.node_count, true, &order))
		give_up(loop, "out of memory");
	else {
		memcpy(order.ids[0], reduce->ready[order.members[0].rank].id, OSP_GATE_ID_BYTES);
		order_round(loop, &order);
	}
	osp_gate_reduce_free(&order);
}

static int by_rank(const void *a, const void *b)
{
	const struct osp_gate_member *one = a, *other = b;

	return one->rank < other->rank ? -1 : one->rank > other->rank;
}

/* Makes one group a pair; its first, by rank, has made the id. */
static bool write_pairs(const struct gate_reduce *reduce, const struct osp_gate_link *pairs,
			uint32_t count, struct osp_gate_reduce *order)
{
	order->ids = calloc(count, sizeof(*order->ids));
	order->members = calloc(2 * (size_t)count, sizeof(*order->members));
	order->group_count = count;
	if (!order->ids || !order->members)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t ends[] = {pairs[i].from, pairs[i].to};

		memcpy(order->ids[i], reduce->ready[ends[0]].id, OSP_GATE_ID_BYTES);
		for (int n = 0; n < 2; n++)
			order->members[order->member_count++] = (struct osp_gate_member){
				.rank = ends[n], .group = i, .gpus = reduce->ready[ends[n]].gpus};
	}
	qsort(order->members, order->member_count, sizeof(*order->members), by_rank);
	return true;
}

/* Returns the limit that a node is blamed by. One that was never tried here calls for a look at
 * pairs, in which a node is then held against the others alone. */
static float blaming_gbps(const struct gate_reduce *reduce)
{
	return reduce->unproven ? 0 : reduce->least_gbps;
}

/* Orders the next round of pairs. Returns false if there is none to be had: then all is known that
 * will be. */
static bool order_pairs(struct gate_loop *loop)
{
	struct gate_reduce *reduce = &loop->reduce;
	uint32_t left = OSP_GATE_PAIR_ROUNDS - reduce->pair_rounds, count = loop->wire.node_count;
	struct osp_gate_reduce order = {.sum_kib = least_sum_kib(reduce, count)};
	struct osp_gate_link *pairs = calloc(count, sizeof(*pairs));
	int64_t pair_count = 0;

	order.limit_ms = left ? limit_of_round(loop, left) : 0;
	if (pairs && order.limit_ms)
		pair_count =
			osp_gate_pairs_next(reduce->fit, count, reduce->pairs, reduce->pair_count,
					    osp_gate_pairs_limit(reduce->pairs, reduce->first_count,
								 blaming_gbps(reduce)),
					    pairs);
	if (pair_count > 0 && pair_count <= OSP_GATE_GROUPS_MAX &&
	    write_pairs(reduce, pairs, (uint32_t)pair_count, &order)) {
		reduce->pair_rounds++;
		order_round(loop, &order);
	} else {
		pair_count = 0;
	}
	osp_gate_reduce_free(&order);
	free(pairs);
	return pair_count > 0;
}

/* --- what came of a round --------------------------------------------------------------------- */

/* Returns the rank that has not reported, or reported a break; NOBODY. */
static uint32_t who_broke(const struct gate_reduce *reduce, const struct osp_gate_part *parts,
			  enum osp_gate_part_state wanted)
{
	for (uint32_t i = 0; i < reduce->order.member_count; i++) {
		uint32_t rank = reduce->order.members[i].rank;

		if (!reduce->reported[rank] || parts[rank].state != wanted)
			return rank;
	}
	return OSP_GATE_NOBODY;
}

static const char *why_of(const struct gate_reduce *reduce, const struct osp_gate_part *parts,
			  uint32_t rank)
{
	if (!reduce->reported[rank])
		return "no answer in time";
	return *parts[rank].why ? parts[rank].why : "no figure";
}

static float least_of_all(const struct gate_reduce *reduce)
{
	float least = 0;

	for (uint32_t i = 0; i < reduce->order.member_count; i++) {
		float is = reduce->ready[reduce->order.members[i].rank].least_gbps;

		if (is <= 0)
			return 0;
		least = !i || is < least ? is : least;
	}
	return least;
}

static bool any_unproven(const struct gate_reduce *reduce)
{
	for (uint32_t i = 0; i < reduce->order.member_count; i++)
		if (reduce->ready[reduce->order.members[i].rank].unproven)
			return true;
	return false;
}

static void take_ready(struct gate_loop *loop)
{
	struct gate_reduce *reduce = &loop->reduce;
	uint32_t first = reduce->order.members[0].rank;
	uint32_t broke = who_broke(reduce, reduce->ready, OSP_GATE_PART_READY);

	if (broke != OSP_GATE_NOBODY) {
		give_up(loop, "%s: %s", gate_name_of(loop, broke),
			why_of(reduce, reduce->ready, broke));
		return;
	}
	for (uint32_t i = 1; i < reduce->order.member_count; i++) {
		uint32_t rank = reduce->order.members[i].rank;

		if (reduce->ready[rank].version == reduce->ready[first].version)
			continue;
		give_up(loop, "%s has NCCL %u, %s has %u", gate_name_of(loop, first),
			reduce->ready[first].version, gate_name_of(loop, rank),
			reduce->ready[rank].version);
		return;
	}
	reduce->least_gbps = least_of_all(reduce);
	reduce->unproven = any_unproven(reduce);
	if (reduce->order.member_count > 2)
		order_all(loop);
	else if (!order_pairs(loop)) /* two nodes are a pair */
		give_up(loop, "there is no time left for it");
}

static void take_all(struct gate_loop *loop)
{
	struct gate_reduce *reduce = &loop->reduce;
	struct osp_gate_sum sum =
		osp_gate_reduce_judge(&reduce->order, ALL, reduce->ready, reduce->last);
	uint32_t nodes = reduce->order.member_count;

	switch (sum.state) {
	case OSP_GATE_REDUCED_BROKE:
		give_up(loop, "%s: %s", gate_name_of(loop, sum.rank),
			why_of(reduce, reduce->last, sum.rank));
		return;
	case OSP_GATE_REDUCED_IMPOSSIBLE:
		give_up(loop, "%.4g GB/s is more than the nodes' adapters carry", (double)sum.gbps);
		return;
	case OSP_GATE_REDUCED_WELL:
	case OSP_GATE_REDUCED_UNJUDGED:
		osp_gate_log(loop->job, "NCCL: all-reduce of %u node%s right, %.4g GB/s%s", nodes,
			     osp_plural_s(nodes), (double)sum.gbps,
			     sum.state == OSP_GATE_REDUCED_WELL ? "" : ", no limit known");
		finish(loop, sum.state == OSP_GATE_REDUCED_WELL);
		return;
	case OSP_GATE_REDUCED_SLOW:
		osp_gate_log(loop->job,
			     "NCCL: all-reduce of %u node%s slow, %.4g GB/s < %.4g%s: pairs follow",
			     nodes, osp_plural_s(nodes), (double)sum.gbps, (double)sum.least_gbps,
			     reduce->unproven ? ", never tried on this hardware" : "");
		break;
	case OSP_GATE_REDUCED_WRONG:
		osp_gate_log(loop->job,
			     "NCCL: all-reduce of %u node%s wrong on %s and perhaps others: pairs "
			     "follow",
			     nodes, osp_plural_s(nodes), gate_name_of(loop, sum.rank));
		break;
	}
	if (!order_pairs(loop)) {
		osp_gate_log(loop->job, "NCCL: no time or room for pairs, nobody is blamed");
		finish(loop, true);
	}
}

/* Logs a pair without a figure, and drops those of its nodes that have none from the next pairs. */
static void drop_pair(struct gate_loop *loop, const struct osp_gate_member *one,
		      const struct osp_gate_member *other, const struct osp_gate_sum *sum)
{
	struct gate_reduce *reduce = &loop->reduce;

	if (sum->state == OSP_GATE_REDUCED_IMPOSSIBLE)
		osp_gate_log(loop->job, "NCCL: %s and %s: %.4g GB/s is more than they can",
			     gate_name_of(loop, one->rank), gate_name_of(loop, other->rank),
			     (double)sum->gbps);
	else
		osp_gate_log(loop->job, "NCCL: %s and %s: %s", gate_name_of(loop, one->rank),
			     gate_name_of(loop, other->rank),
			     why_of(reduce, reduce->last, sum->rank));
	for (int n = 0; n < 2; n++) {
		uint32_t rank = n ? other->rank : one->rank;

		if (!reduce->reported[rank] || reduce->last[rank].state != OSP_GATE_PART_DONE)
			reduce->fit[rank] = false;
	}
}

static bool was_quiet(const struct gate_reduce *reduce, uint32_t rank)
{
	return reduce->last[rank].quiet == OSP_GATE_QUIET;
}

static bool keep_pair(struct gate_reduce *reduce, uint32_t from, uint32_t to,
		      const struct osp_gate_sum *sum)
{
	struct osp_gate_link *more =
		realloc(reduce->pairs, (reduce->pair_count + 1) * sizeof(*more));

	if (!more)
		return false;
	reduce->pairs = more;
	more[reduce->pair_count++] = (struct osp_gate_link){
		.from = from,
		.to = to,
		.gbps = sum->gbps,
		.wrong = sum->state == OSP_GATE_REDUCED_WRONG,
		.crowded = !was_quiet(reduce, from) || !was_quiet(reduce, to)};
	return true;
}

/* Returns the other member of the same group, which is slow. */
static const struct osp_gate_member *find_other(const struct osp_gate_reduce *order, uint32_t at)
{
	for (uint32_t i = at + 1; i < order->member_count; i++)
		if (order->members[i].group == order->members[at].group)
			return &order->members[i];
	return NULL;
}

static void take_pairs(struct gate_loop *loop)
{
	struct gate_reduce *reduce = &loop->reduce;
	const struct osp_gate_reduce *order = &reduce->order;
	struct osp_gate_sum sum = {.state = OSP_GATE_REDUCED_BROKE};

	for (uint32_t i = 0; i < order->member_count; i++) {
		const struct osp_gate_member *one = &order->members[i],
					     *other = find_other(order, i);

		if (!other)
			continue;
		sum = osp_gate_reduce_judge(order, one->group, reduce->ready, reduce->last);
		if (sum.state == OSP_GATE_REDUCED_BROKE || sum.state == OSP_GATE_REDUCED_IMPOSSIBLE)
			drop_pair(loop, one, other, &sum);
		else if (!keep_pair(reduce, one->rank, other->rank, &sum))
			osp_gate_log(loop->job, "out of memory");
	}
	if (reduce->pair_rounds == 1)
		reduce->first_count = reduce->pair_count;
	if (!reduce->pair_count)
		give_up(loop, "no two nodes have a figure");
	else if (reduce->round == 2) { /* two nodes alone */
		osp_gate_log(loop->job, "NCCL: all-reduce of 2 nodes %s, %.4g GB/s%s",
			     sum.state == OSP_GATE_REDUCED_WRONG  ? "wrong"
			     : sum.state == OSP_GATE_REDUCED_SLOW ? "slow"
								  : "right",
			     (double)sum.gbps,
			     sum.state == OSP_GATE_REDUCED_UNJUDGED ? ", no limit known" : "");
		finish(loop, sum.state != OSP_GATE_REDUCED_UNJUDGED);
	} else if (!order_pairs(loop)) {
		finish(loop, true);
	}
}

static void next_round(struct gate_loop *loop)
{
	if (loop->reduce.round == 1)
		take_ready(loop);
	else if (!loop->reduce.pair_rounds)
		take_all(loop);
	else
		take_pairs(loop);
}

/* --- serving ---------------------------------------------------------------------------------- */

/* Returns true from the first reduction asked for until the last one has ended. */
static bool is_reducing(const struct gate_loop *loop)
{
	const struct gate_reduce *reduce = &loop->reduce;

	if (!reduce->round)
		return false;
	return reduce->decides ? !reduce->done : !reduce->own_reported;
}

static void keep_answer(struct gate_loop *loop, const struct osp_gate_part *part)
{
	struct gate_reduce *reduce = &loop->reduce;
	uint32_t group, first, ranks;
	uint64_t bytes;

	find_place(loop, &group, &first, &ranks);
	bytes = payload_bytes(&reduce->order, ranks);
	gate_around_add(&reduce->around, loop->job->root, reduce->reducer.child, reduce->asked_ns,
			bytes, bytes);
	gate_around_ended(&reduce->around, loop->job->root, NULL);
	reduce->own = *part;
	reduce->own_answered = true;
}

static void report_with_traffic(struct gate_loop *loop)
{
	struct gate_reduce *reduce = &loop->reduce;
	struct osp_gate_traffic traffic;

	if (!gate_around_take(&reduce->around, gate_now_ms(loop) >= reduce->until_ms, &traffic))
		return;
	reduce->own.quiet = traffic.quiet;
	reduce->own.foreign_gbps = traffic.foreign_gbps;
	report_own(loop, &reduce->own);
}

static void serve_own(struct gate_loop *loop)
{
	struct gate_reduce *reduce = &loop->reduce;
	struct osp_gate_part part;
	int state;

	if (reduce->own_reported)
		return;
	if (reduce->own_answered) {
		report_with_traffic(loop);
		return;
	}
	state = gate_reducer_read(&reduce->reducer, &part);
	if (state > 0 && part.state == OSP_GATE_PART_DONE) {
		keep_answer(loop, &part);
		report_with_traffic(loop);
	} else if (state > 0) {
		report_own(loop, &part);
	} else if (state < 0) {
		gate_reducer_let_go(&reduce->reducer);
		report_broken(loop, "its process for NCCL ended");
	} else if (gate_now_ms(loop) >= reduce->until_ms) {
		gate_reducer_let_go(&reduce->reducer);
		report_broken(loop, "no answer from NCCL in %u ms", reduce->order.limit_ms);
	}
}

void gate_reduce_serve(struct gate_loop *loop)
{
	struct gate_reduce *reduce = &loop->reduce;

	if (!is_reducing(loop))
		return;
	serve_own(loop);
	if (reduce->decides &&
	    (!reduce->missing || gate_now_ms(loop) >= reduce->until_ms + REPORT_MS))
		next_round(loop);
}

uint64_t gate_reduce_look_ms(const struct gate_loop *loop)
{
	if (!is_reducing(loop))
		return UINT64_MAX;
	if (loop->reduce.own_answered && !loop->reduce.own_reported)
		return gate_now_ms(loop) + LOOK_MS;
	return loop->reduce.until_ms + (loop->reduce.own_reported ? REPORT_MS : 0);
}

/* --- beginning and end ------------------------------------------------------------------------ */

static bool is_wanted(const struct gate_loop *loop)
{
	const struct osp_gate_job *job = loop->job;

	if (!job->gang.gpus)
		return false;
	return job->policy->network == OSP_GATE_NETWORK_NCCL ||
	       (job->policy->network == OSP_GATE_NETWORK_AUTO && job->depth >= OSP_GATE_QUICK);
}

bool gate_reduce_start(struct gate_loop *loop, const struct osp_gate_report *reports)
{
	struct gate_reduce *reduce = &loop->reduce;
	struct osp_gate_reduce order = {.limit_ms = limit_of_round(loop, 3)};
	uint32_t count = loop->wire.node_count;

	if (!is_wanted(loop) || count < 2)
		return false;
	reduce->fit = calloc(count, sizeof(*reduce->fit));
	reduce->reported = calloc(count, sizeof(*reduce->reported));
	reduce->ready = calloc(count, sizeof(*reduce->ready));
	reduce->last = calloc(count, sizeof(*reduce->last));
	reduce->seen = calloc(count, sizeof(*reduce->seen));
	if (!reduce->fit || !reduce->reported || !reduce->ready || !reduce->last || !reduce->seen)
		return false;
	if (gate_find_fit(reports, count, reduce->fit) < 2)
		return false;
	if (!order.limit_ms || !write_members(reduce, count, false, &order)) {
		give_up(loop, "there is no time for it");
		return false;
	}
	reduce->decides = true;
	order_round(loop, &order);
	return true;
}

void gate_reduce_stop(struct gate_loop *loop)
{
	loop->reduce.own_reported = true;
	gate_reducer_let_go(&loop->reduce.reducer);
}

void gate_reduce_free(struct gate_loop *loop)
{
	struct gate_reduce *reduce = &loop->reduce;

	gate_reducer_end(&reduce->reducer);
	osp_gate_reduce_free(&reduce->order);
	free(reduce->fit);
	free(reduce->reported);
	free(reduce->ready);
	free(reduce->last);
	free(reduce->seen);
	gate_around_end(&reduce->around);
	free(reduce->pairs);
}

/* --- the verdict ------------------------------------------------------------------------------ */

static void blame(const struct gate_loop *loop, const struct osp_gate_blamed *blamed,
		  struct osp_gate_report *report)
{
	const struct gate_reduce *reduce = &loop->reduce;
	float limit =
		osp_gate_pairs_limit(reduce->pairs, reduce->first_count, blaming_gbps(reduce));

	if (blamed->wrong)
		snprintf(report->reason, sizeof(report->reason),
			 "onespine: network all-reduce wrong with %u node%s; ask", blamed->partners,
			 osp_plural_s(blamed->partners));
	else
		snprintf(report->reason, sizeof(report->reason),
			 "onespine: network all-reduce %.3g GB/s, %u partners < %.3g; ask",
			 (double)blamed->gbps, blamed->partners, (double)limit);
	gate_blame(loop, report, blamed->wrong);
}

static void report_links(const struct gate_loop *loop, const struct osp_gate_blamed *blamed)
{
	for (uint32_t i = 0; i < loop->wire.node_count; i++)
		if (blamed[i].blame == OSP_GATE_BLAME_LINK && i < blamed[i].partner)
			osp_gate_log(
				loop->job,
				"NCCL: the link between %s and %s is %s (%.3g GB/s), and who is "
				"to blame is unknown",
				gate_name_of(loop, i), gate_name_of(loop, blamed[i].partner),
				blamed[i].wrong ? "wrong" : "slow", (double)blamed[i].gbps);
}

void gate_reduce_judge(struct gate_loop *loop, struct osp_gate_report *reports)
{
	struct gate_reduce *reduce = &loop->reduce;
	struct osp_gate_blamed *blamed;
	uint32_t count = 0;

	if (!reduce->pair_count)
		return;
	blamed = calloc(loop->wire.node_count, sizeof(*blamed));
	if (!blamed || osp_gate_pairs_judge(reduce->pairs, reduce->first_count, reduce->pair_count,
					    blaming_gbps(reduce), loop->wire.node_count, blamed)) {
		free(blamed);
		return;
	}
	for (uint32_t i = 0; i < loop->wire.node_count; i++) {
		count += blamed[i].blame != OSP_GATE_BLAME_NONE;
		reports[i].speed = blamed[i].speed;
		if (blamed[i].blame >= OSP_GATE_BLAME_SENDS)
			blame(loop, &blamed[i], &reports[i]);
		else if (blamed[i].blame == OSP_GATE_BLAME_UNSURE)
			gate_pardon(loop, &reports[i], &reduce->seen[i]);
	}
	report_links(loop, blamed);
	if (!count && reduce->round > 2)
		osp_gate_log(loop->job, "NCCL: each pair of nodes is well: nobody is blamed");
	free(blamed);
}
