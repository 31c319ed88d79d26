/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_verdict.c - from the reports of a gang's nodes to the verdict on the job and on each node */
#include "lib/gate/gate_verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/health/reason.h"

/* How good a node is for the job, best first. */
enum quality {
	HEALTHY,
	WARNED,
	UNCLEAR, /* ERROR, if policy goes on */
	SLOW,	 /* and it may not stop the job */
	LET_OFF, /* failed or silent, but policy or the breaker lets it carry the job */
	BAD,	 /* not usable for this job */
	QUALITY_COUNT
};

/* What is known about one node so far. */
struct seat {
	enum osp_verdict result;
	enum quality quality;
	enum osp_gate_pace pace;
	bool drain;
	bool comment;
	bool another; /* instance than the one placed */
	bool keep;
	uint32_t leaf;
	float speed;
};

struct court {
	const struct osp_gate_gang *gang;
	const struct osp_gate_report *reports;
	const struct osp_gate_policy *policy;
	const struct osp_gate_means *means;
	struct seat *seats; /* by rank */
	uint32_t good;	    /* seats that are not BAD */
	bool silent;
	bool forgiven; /* a silent node does not stop the job: failures are not drained */
	bool slow;     /* slowness stops the job, or would do so alone */
	bool breaker;
	const char *asked_check; /* the last one that the breaker was asked about */
	bool asked_open;
	uint32_t worst; /* the node to report first; OSP_GATE_NOBODY: all are well */
};

/* --- each node -------------------------------------------------------------------------------- */

static enum osp_verdict result_of(const struct osp_gate_report *report)
{
	return report->blamed && report->result < OSP_VERDICT_FAIL ? OSP_VERDICT_FAIL
								   : report->result;
}

/* Returns whether the node is another instance than the one placed. */
static bool is_another(const struct osp_gate_report *report)
{
	return result_of(report) == OSP_VERDICT_ERROR &&
	       !strcmp(report->check, OSP_GATE_INSTANCE_CHECK);
}

/* Returns how many nodes of the gang the check would drain. */
static uint32_t failures_of(const struct court *court, const char *check)
{
	uint32_t failures = 0;

	for (uint32_t r = 0; r < court->gang->node_count; r++)
		failures += result_of(&court->reports[r]) == OSP_VERDICT_FAIL &&
			    !strcmp(court->reports[r].check, check);
	return failures;
}

/* Asks the breaker about a check, and remembers the last answer: if all nodes fail, it is usually
 * the same check. */
static bool breaker_open(struct court *court, const char *check)
{
	const struct osp_breaker *breaker = &court->means->breaker;

	if (!breaker->node_count)
		return false;
	if (!court->asked_check || strcmp(court->asked_check, check) != 0) {
		court->asked_check = check;
		court->asked_open =
			osp_breaker_open(breaker, court->policy, check, failures_of(court, check));
	}
	return court->asked_open;
}

static void seat_failed(struct court *court, struct seat *seat,
			const struct osp_gate_report *report)
{
	enum osp_gate_failure failure = osp_gate_policy_failure(court->policy, report->check);

	seat->quality = LET_OFF;
	seat->comment = failure != OSP_GATE_ON_FAIL_LOG;
	if (failure != OSP_GATE_ON_FAIL_DRAIN)
		return;
	if (breaker_open(court, report->check)) {
		court->breaker = true;
		if (court->policy->breaker_waits)
			seat->quality = BAD;
		return;
	}
	seat->quality = BAD;
	seat->drain = true;
	seat->comment = false;
}

/* Judges a node that did not report: it stops the job only where a failed one would. */
static void seat_silent(struct court *court, struct seat *seat)
{
	court->silent = true;
	court->forgiven = court->policy->failure != OSP_GATE_ON_FAIL_DRAIN;
	seat->quality = court->forgiven ? LET_OFF : BAD;
}

/* Returns whether slowness may stop the job: once at most, because a user can cause it. */
static bool may_stop_for_slowness(const struct court *court)
{
	const struct osp_gate_means *means = court->means;

	return means->can_requeue && !means->stopped_slow &&
	       means->stopped < court->policy->restarts_max &&
	       osp_gate_policy_failure(court->policy, OSP_GATE_NETWORK_CHECK) ==
		       OSP_GATE_ON_FAIL_DRAIN;
}

static void seat_slow(struct court *court, struct seat *seat)
{
	enum quality quality = seat->pace == OSP_GATE_PACE_UNSURE ? WARNED : SLOW;

	if (quality == SLOW && may_stop_for_slowness(court)) {
		quality = BAD;
		court->slow = true;
	}
	if (quality > seat->quality)
		seat->quality = quality;
}

/* Orders what is reported: first what stopped the job, and of that a failure. */
static bool reports_more(const struct seat *seat, const struct seat *other)
{
	if (seat->quality != other->quality)
		return seat->quality > other->quality;
	return seat->result == OSP_VERDICT_FAIL && other->result != OSP_VERDICT_FAIL;
}

/* Returns whether the node is one of which something is reported. */
static bool is_reported(const struct seat *seat)
{
	return seat->result >= OSP_VERDICT_ERROR || seat->pace != OSP_GATE_PACE_WELL;
}

static void seat_node(struct court *court, uint32_t rank)
{
	const struct osp_gate_report *report = &court->reports[rank];
	struct seat *seat = &court->seats[rank];

	seat->result = result_of(report);
	seat->pace = report->pace;
	seat->speed = report->speed > 0 ? report->speed : 1.0F;
	switch (seat->result) {
	case OSP_VERDICT_FAIL:
		seat_failed(court, seat, report);
		break;
	case OSP_VERDICT_SILENT:
		seat_silent(court, seat);
		break;
	case OSP_VERDICT_ERROR:
		seat->another = is_another(report);
		seat->quality = court->policy->error_waits || seat->another ? BAD : UNCLEAR;
		break;
	case OSP_VERDICT_WARN:
		seat->quality = WARNED;
		break;
	default:
		seat->quality = HEALTHY;
	}
	if (seat->pace != OSP_GATE_PACE_WELL)
		seat_slow(court, seat);
	court->good += seat->quality != BAD;
	if (is_reported(seat) &&
	    (court->worst == OSP_GATE_NOBODY || reports_more(seat, &court->seats[court->worst])))
		court->worst = rank;
}

/* --- the best of them ------------------------------------------------------------------------- */

struct leaf {
	uint32_t number;
	uint32_t nodes; /* candidates in it */
	bool open;	/* nodes are taken from it */
};

/* The choice so far: the leaves, and how many seats are still to be filled. */
struct choice {
	struct court *court;
	struct leaf *leaves;
	uint32_t leaf_count;
	struct seat **candidates; /* room for all */
	uint32_t left;
};

/* Numbers the leaves from 0 in the order in which they appear. */
static void find_leaves(struct choice *choice)
{
	for (uint32_t r = 0; r < choice->court->gang->node_count; r++) {
		struct seat *seat = &choice->court->seats[r];
		uint32_t number = choice->court->means->leaf ? choice->court->means->leaf[r] : 0,
			 i = 0;

		while (i < choice->leaf_count && choice->leaves[i].number != number)
			i++;
		if (i == choice->leaf_count)
			choice->leaves[choice->leaf_count++].number = number;
		seat->leaf = i;
	}
}

static void keep(struct choice *choice, struct seat *seat)
{
	seat->keep = true;
	choice->leaves[seat->leaf].open = true;
	choice->left--;
}

static int by_speed(const void *a, const void *b)
{
	const struct seat *const *one = a, *const *other = b;

	if ((*one)->speed != (*other)->speed)
		return (*one)->speed > (*other)->speed ? -1 : 1;
	return *one < *other ? -1 : 1;
}

/* Keeps some of more than enough candidates: adds as few leaves as possible, and takes the fastest
 * nodes in them. */
static void keep_some(struct choice *choice, uint32_t count)
{
	struct leaf *leaves = choice->leaves;
	uint32_t room = 0, kept = 0;

	for (uint32_t i = 0; i < choice->leaf_count; i++)
		leaves[i].nodes = 0;
	for (uint32_t i = 0; i < count; i++)
		leaves[choice->candidates[i]->leaf].nodes++;
	for (uint32_t i = 0; i < choice->leaf_count; i++)
		room += leaves[i].open ? leaves[i].nodes : 0;
	while (room < choice->left) {
		struct leaf *largest = NULL;

		for (uint32_t i = 0; i < choice->leaf_count; i++)
			if (!leaves[i].open && (!largest || leaves[i].nodes > largest->nodes))
				largest = &leaves[i];
		largest->open = true;
		room += largest->nodes;
	}
	for (uint32_t i = 0; i < count; i++)
		if (leaves[choice->candidates[i]->leaf].open)
			choice->candidates[kept++] = choice->candidates[i];
	qsort(choice->candidates, kept, sizeof(*choice->candidates), by_speed);
	for (uint32_t i = 0; choice->left; i++)
		keep(choice, choice->candidates[i]);
}

/* Returns whether the node of this rank is in the segment; without segments all are in one. */
static bool is_in(const struct court *court, uint32_t rank, uint32_t segment)
{
	return !court->means->segment || court->means->segment[rank] == segment;
}

static void keep_quality(struct choice *choice, enum quality quality, uint32_t segment)
{
	uint32_t count = 0;

	for (uint32_t r = 0; r < choice->court->gang->node_count; r++) {
		struct seat *seat = &choice->court->seats[r];

		if (!seat->keep && seat->quality == quality && is_in(choice->court, r, segment))
			choice->candidates[count++] = seat;
	}
	if (count > choice->left) {
		keep_some(choice, count);
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		keep(choice, choice->candidates[i]);
}

static uint32_t segment_count(const struct court *court)
{
	uint32_t count = 1;

	for (uint32_t r = 0; court->means->segment && r < court->gang->node_count; r++)
		count = court->means->segment[r] >= count ? court->means->segment[r] + 1 : count;
	return count;
}

/* Returns how many nodes of a segment stay, and counts its good ones. */
static uint32_t stay_in(const struct court *court, uint32_t segment, uint32_t *good)
{
	uint32_t nodes = 0, spares;

	*good = 0;
	for (uint32_t r = 0; r < court->gang->node_count; r++) {
		bool is_here = is_in(court, r, segment);

		nodes += is_here;
		*good += is_here && court->seats[r].quality != BAD;
	}
	spares = court->means->segment ? court->gang->segment_spares
				       : court->gang->node_count - court->gang->wanted;
	return nodes > spares ? nodes - spares : 0;
}

/* Returns whether there are good nodes enough, in each segment. */
static bool are_enough(const struct court *court)
{
	uint32_t segments = segment_count(court), good;

	for (uint32_t segment = 0; segment < segments; segment++) {
		if (stay_in(court, segment, &good) > good)
			return false;
	}
	return true;
}

static void keep_best_of(struct choice *choice, uint32_t segment)
{
	uint32_t good;

	choice->left = stay_in(choice->court, segment, &good);
	if (choice->court->means->batch && is_in(choice->court, 0, segment))
		keep(choice, &choice->court->seats[0]);
	for (int quality = HEALTHY; quality < BAD && choice->left; quality++)
		keep_quality(choice, (enum quality)quality, segment);
}

/* Marks the best nodes; there must be enough. Returns -1 if memory ran out. */
static int keep_best(struct court *court)
{
	uint32_t node_count = court->gang->node_count;
	struct choice choice = {
		.court = court,
		.leaves = calloc(node_count, sizeof(*choice.leaves)),
		.candidates = calloc(node_count, sizeof(struct seat *)),
	};
	uint32_t segments = segment_count(court);
	int result = -1;

	if (choice.leaves && choice.candidates) {
		find_leaves(&choice);
		for (uint32_t segment = 0; segment < segments; segment++)
			keep_best_of(&choice, segment);
		result = 0;
	}
	free(choice.leaves);
	free(choice.candidates);
	return result;
}

/* --- the job ---------------------------------------------------------------------------------- */

static enum osp_gate_kind stopped_kind(const struct court *court)
{
	if (!court->means->can_requeue)
		return OSP_GATE_END;
	return court->means->stopped >= court->policy->restarts_max ? OSP_GATE_HOLD
								    : OSP_GATE_REQUEUE;
}

static enum osp_gate_kind kind_of(const struct court *court)
{
	const struct osp_gate_gang *gang = court->gang;
	bool all_good = court->good == gang->node_count;
	bool surplus = gang->node_count > gang->wanted;

	/* a silent node that does not stop the job keeps it from doing without spares */
	if (all_good && (!surplus || !court->means->can_shrink || court->silent))
		return OSP_GATE_GO;
	if (surplus && court->means->can_shrink && !court->silent && are_enough(court) &&
	    !(court->means->batch && court->seats[0].quality == BAD))
		return OSP_GATE_SHRINK;
	return stopped_kind(court);
}

/* --- words ------------------------------------------------------------------------------------ */

static uint32_t count_results(const struct court *court, enum osp_verdict result)
{
	uint32_t count = 0;

	for (uint32_t r = 0; r < court->gang->node_count; r++)
		count += court->seats[r].result == result && !court->seats[r].another;
	return count;
}

static uint32_t count_others(const struct court *court)
{
	uint32_t count = 0;

	for (uint32_t r = 0; r < court->gang->node_count; r++)
		count += court->seats[r].another;
	return count;
}

/* Counts the nodes of one pace whose own check found nothing, so that each node is counted once. */
static uint32_t count_pace(const struct court *court, enum osp_gate_pace pace)
{
	uint32_t count = 0;

	for (uint32_t r = 0; r < court->gang->node_count; r++)
		count += court->seats[r].pace == pace && court->seats[r].result < OSP_VERDICT_ERROR;
	return count;
}

static int add_count(char *words, size_t words_bytes, int length, uint32_t count, const char *what)
{
	if (!count)
		return length;
	return length +
	       snprintf(words + length, words_bytes - (size_t)length, ", %u %s", count, what);
}

/* Returns a report's reason without our prefix, for use inside a sentence. */
static const char *plain_reason(const struct osp_gate_report *report)
{
	const char *reason = report->reason;
	size_t prefix = strlen(OSP_REASON_PREFIX);

	if (result_of(report) == OSP_VERDICT_SILENT)
		return "silent";
	if (osp_reason_is_ours(reason))
		return reason + prefix;
	return *reason ? reason : osp_verdict_name(result_of(report));
}

/* Writes how the job goes on without nodes. Of those that are reported, some may stay. */
static void say_without(const struct court *court, char *outcome, size_t outcome_bytes)
{
	uint32_t stay = 0;

	for (uint32_t r = 0; r < court->gang->node_count; r++)
		stay += court->seats[r].keep && is_reported(&court->seats[r]);
	if (stay)
		snprintf(outcome, outcome_bytes, "the job goes on with %u of these", stay);
	else
		snprintf(outcome, outcome_bytes, "the job goes on without");
}

/* Says how the job goes on with all its nodes, and what a silent one would change. */
static const char *say_goes_on(const struct court *court)
{
	static const char *const outcomes[OSP_GATE_KIND_COUNT] = {
		[OSP_GATE_REQUEUE] = "the job goes on (failure: drain would start it again)",
		[OSP_GATE_HOLD] = "the job goes on (failure: drain would hold it)",
		[OSP_GATE_END] = "the job goes on (failure: drain would end it)",
	};

	return court->forgiven ? outcomes[stopped_kind(court)] : "the job goes on";
}

static void say(const struct court *court, enum osp_gate_kind kind, char *says)
{
	static const char *const outcomes[OSP_GATE_KIND_COUNT] = {
		[OSP_GATE_REQUEUE] = "the job starts again elsewhere",
		[OSP_GATE_HOLD] = "stopped too often: held",
		[OSP_GATE_END] = "it cannot be requeued: ended",
	};
	static const char *const results[OSP_VERDICT_COUNT] = {
		[OSP_VERDICT_FAIL] = "failed",
		[OSP_VERDICT_SILENT] = "silent",
		[OSP_VERDICT_ERROR] = "could not be checked",
	};
	char words[2 * OSP_GATE_REASON_BYTES + 256], without[64];
	int length;

	says[0] = '\0';
	if (court->worst == OSP_GATE_NOBODY) {
		if (kind == OSP_GATE_SHRINK)
			snprintf(says, OSP_GATE_REASON_BYTES, "%u of %u node%s kept, all were good",
				 court->gang->wanted, court->gang->node_count,
				 osp_plural_s(court->gang->node_count));
		return;
	}
	length = snprintf(words, sizeof(words), "of %u node%s%s", court->gang->node_count,
			  osp_plural_s(court->gang->node_count),
			  court->breaker ? " (breaker open, none drained)" : "");
	for (int result = OSP_VERDICT_ERROR; result < OSP_VERDICT_COUNT; result++)
		length = add_count(words, sizeof(words), length,
				   count_results(court, (enum osp_verdict)result), results[result]);
	length = add_count(words, sizeof(words), length, count_others(court),
			   "not the instance placed");
	length = add_count(words, sizeof(words), length, count_pace(court, OSP_GATE_PACE_SLOW),
			   "slow");
	length = add_count(words, sizeof(words), length, count_pace(court, OSP_GATE_PACE_UNSURE),
			   "not measured");
	say_without(court, without, sizeof(without));
	snprintf(words + length, sizeof(words) - (size_t)length, "; %s; %.40s: %s",
		 kind == OSP_GATE_SHRINK ? without
		 : kind == OSP_GATE_GO	 ? say_goes_on(court)
					 : outcomes[kind],
		 court->gang->nodes[court->worst], plain_reason(&court->reports[court->worst]));
	snprintf(says, OSP_GATE_REASON_BYTES, "%.*s", OSP_GATE_REASON_BYTES - 1, words);
}

/* --- the verdict ------------------------------------------------------------------------------ */

static uint32_t actions_of(enum osp_gate_kind kind, const struct seat *seat)
{
	bool stopped = kind >= OSP_GATE_REQUEUE;
	uint32_t actions = OSP_GATE_KEEP;

	if (kind == OSP_GATE_SHRINK && !seat->keep)
		actions |= OSP_GATE_RELEASE;
	if (seat->drain)
		actions |= OSP_GATE_DRAIN;
	if (seat->comment)
		actions |= OSP_GATE_COMMENT;
	/* A bad node that is not drained would be given to the job again. */
	if (stopped && seat->quality == BAD && !seat->drain && !seat->another)
		actions |= OSP_GATE_SUSPECT;
	return actions;
}

static void write_sentence(const struct court *court, uint32_t rank, uint32_t actions,
			   struct osp_gate_sentence *sentence)
{
	const struct osp_gate_report *report = &court->reports[rank];
	const char *reason = report->reason;

	*sentence = (struct osp_gate_sentence){
		.rank = rank, .actions = actions, .result = court->seats[rank].result};
	memcpy(sentence->check, report->check, sizeof(sentence->check));
	if (sentence->result == OSP_VERDICT_SILENT)
		reason = "did not report in time";
	else if (!*reason && (actions & OSP_GATE_RELEASE))
		reason = "not needed";
	snprintf(sentence->reason, sizeof(sentence->reason), "%s", reason);
}

static int pronounce(const struct court *court, struct osp_gate_verdict *verdict)
{
	uint32_t node_count = court->gang->node_count;

	verdict->sentences = calloc(node_count, sizeof(*verdict->sentences));
	if (!verdict->sentences)
		return -1;
	for (uint32_t r = 0; r < node_count; r++) {
		const struct seat *seat = &court->seats[r];
		uint32_t actions = actions_of(verdict->kind, seat);

		if (actions != OSP_GATE_KEEP || is_reported(seat))
			write_sentence(court, r, actions,
				       &verdict->sentences[verdict->sentence_count++]);
	}
	return 0;
}

bool osp_gate_all_well(const struct osp_gate_gang *gang, const struct osp_gate_report *reports,
		       const struct osp_gate_policy *policy)
{
	if (gang->node_count > gang->wanted)
		return false;
	for (uint32_t r = 0; r < gang->node_count; r++) {
		enum osp_verdict result = result_of(&reports[r]);

		if (result == OSP_VERDICT_SILENT ||
		    (result == OSP_VERDICT_FAIL &&
		     osp_gate_policy_failure(policy, reports[r].check) != OSP_GATE_ON_FAIL_LOG))
			return false;
		if (result == OSP_VERDICT_ERROR && (policy->error_waits || is_another(&reports[r])))
			return false;
		if (reports[r].pace != OSP_GATE_PACE_WELL &&
		    osp_gate_policy_failure(policy, OSP_GATE_NETWORK_CHECK) != OSP_GATE_ON_FAIL_LOG)
			return false;
	}
	return true;
}

int osp_gate_decide(const struct osp_gate_gang *gang, const struct osp_gate_report *reports,
		    const struct osp_gate_policy *policy, const struct osp_gate_means *means,
		    struct osp_gate_verdict *verdict, struct osp_error *error)
{
	struct court court = {.gang = gang,
			      .reports = reports,
			      .policy = policy,
			      .means = means,
			      .worst = OSP_GATE_NOBODY};
	int result = -1;

	verdict->sentences = NULL;
	verdict->sentence_count = 0;
	court.seats = calloc(gang->node_count, sizeof(*court.seats));
	if (court.seats) {
		for (uint32_t r = 0; r < gang->node_count; r++)
			seat_node(&court, r);
		verdict->kind = kind_of(&court);
		verdict->breaker = court.breaker;
		verdict->slow = court.slow && verdict->kind >= OSP_GATE_REQUEUE;
		result = verdict->kind == OSP_GATE_SHRINK ? keep_best(&court) : 0;
		say(&court, verdict->kind, verdict->says);
	}
	if (result == 0)
		result = pronounce(&court, verdict);
	free(court.seats);
	return result ? osp_error_set(error, "out of memory") : 0;
}
