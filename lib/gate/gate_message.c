/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_message.c - the messages between the nodes of a gang, as bytes */
#include "lib/gate/gate_message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"

#define MAGIC	    "OSPG"

#define FLAG_FRESH  1
#define FLAG_BLAMED 2
#define FLAG_ALL    (FLAG_FRESH | FLAG_BLAMED)

#define ACTIONS_ALL (OSP_GATE_RELEASE | OSP_GATE_DRAIN | OSP_GATE_COMMENT | OSP_GATE_SUSPECT)

/* The least bytes of a list's item: they bound a count before memory is allocated. */
#define REPORT_BYTES_LEAST   17
#define LINK_BYTES	     13
#define SENTENCE_BYTES_LEAST 11
#define MEMBER_BYTES	     9
#define PART_BYTES	     (37 + OSP_GATE_ID_BYTES) /* plus its words */
#define TRAFFIC_BYTES	     9

uint64_t osp_gate_gang_sum(const char *const *nodes, uint32_t node_count)
{
	uint64_t sum = OSP_HASH_START;

	for (uint32_t i = 0; i < node_count; i++)
		sum = osp_hash_words(sum, nodes[i]);
	return sum;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void put_number(struct osp_text *text, uint64_t number, int bytes)
{
	char out[8];

	for (int i = 0; i < bytes; i++)
		out[i] = (char)(number >> (8 * (bytes - 1 - i)));
	osp_text_add_bytes(text, out, (size_t)bytes);
}

static void put_float(struct osp_text *text, float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	put_number(text, bits, 4);
}

/* Writes `string`, which is in a field of `room` bytes; all these fields are below 256 bytes. */
static void put_string(struct osp_text *text, const char *string, size_t room, bool left_out)
{
	size_t length = left_out ? 0 : strnlen(string, room - 1);

	put_number(text, length, 1);
	osp_text_add_bytes(text, string, length);
}

static void put_header(struct osp_text *text, const struct osp_gate_header *header,
		       enum osp_gate_message_kind kind)
{
	osp_text_add(text, MAGIC);
	put_number(text, OSP_GATE_WIRE_VERSION, 1);
	put_number(text, kind, 1);
	put_number(text, header->round, 4);
	put_number(text, header->job, 4);
	put_number(text, header->restarts, 4);
	put_number(text, header->node_count, 4);
	put_number(text, header->gang, 8);
	put_number(text, header->from, 4);
	put_number(text, header->to, 4);
	osp_text_add_bytes(text, (const char *)header->challenge, OSP_GATE_CHALLENGE_BYTES);
	osp_text_add_bytes(text, (const char *)header->nonce, OSP_GATE_CHALLENGE_BYTES);
}

void osp_gate_write_reports(struct osp_text *text, const struct osp_gate_header *header,
			    const struct osp_gate_report *reports, uint32_t count)
{
	size_t words_end = text->length_bytes + OSP_GATE_MESSAGE_WORDS_BYTES;

	put_header(text, header, OSP_GATE_MESSAGE_REPORT);
	put_number(text, count, 4);
	for (uint32_t i = 0; i < count; i++) {
		const struct osp_gate_report *report = &reports[i];
		bool cut = text->length_bytes > words_end;

		put_number(text, report->rank, 4);
		put_number(text, report->result, 1);
		put_number(text,
			   (report->fresh ? FLAG_FRESH : 0) | (report->blamed ? FLAG_BLAMED : 0),
			   1);
		put_number(text, report->time_ms, 4);
		put_float(text, report->speed);
		put_string(text, report->check, sizeof(report->check), cut);
		put_string(text, report->reason, sizeof(report->reason), cut);
		put_string(text, report->boot, sizeof(report->boot), cut);
	}
}

void osp_gate_write_links(struct osp_text *text, const struct osp_gate_header *header,
			  const struct osp_gate_link *links, uint32_t count)
{
	put_header(text, header, header->kind);
	put_number(text, count, 4);
	for (uint32_t i = 0; i < count; i++) {
		put_number(text, links[i].from, 4);
		put_number(text, links[i].to, 4);
		put_float(text, links[i].gbps);
		put_number(text, links[i].wrong, 1);
	}
}

void osp_gate_write_data(struct osp_text *text, const struct osp_gate_header *header)
{
	put_header(text, header, OSP_GATE_MESSAGE_DATA);
}

void osp_gate_write_verdict(struct osp_text *text, const struct osp_gate_header *header,
			    const struct osp_gate_verdict *verdict)
{
	size_t words_end = text->length_bytes + OSP_GATE_MESSAGE_WORDS_BYTES;

	put_header(text, header, OSP_GATE_MESSAGE_VERDICT);
	put_number(text, verdict->kind, 1);
	put_number(text, verdict->decider, 4);
	put_number(text, verdict->breaker, 1);
	put_string(text, verdict->says, sizeof(verdict->says), false);
	put_number(text, verdict->sentence_count, 4);
	for (uint32_t i = 0; i < verdict->sentence_count; i++) {
		const struct osp_gate_sentence *sentence = &verdict->sentences[i];
		bool cut = text->length_bytes > words_end;

		put_number(text, sentence->rank, 4);
		put_number(text, sentence->actions, 4);
		put_number(text, sentence->result, 1);
		put_string(text, sentence->check, sizeof(sentence->check), cut);
		put_string(text, sentence->reason, sizeof(sentence->reason), cut);
	}
}

void osp_gate_write_reduce(struct osp_text *text, const struct osp_gate_header *header,
			   const struct osp_gate_reduce *reduce)
{
	put_header(text, header, OSP_GATE_MESSAGE_REDUCE);
	put_number(text, reduce->limit_ms, 4);
	put_number(text, reduce->sum_kib, 4);
	put_number(text, reduce->group_count, 4);
	for (uint32_t i = 0; i < reduce->group_count; i++)
		osp_text_add_bytes(text, (const char *)reduce->ids[i], OSP_GATE_ID_BYTES);
	put_number(text, reduce->member_count, 4);
	for (uint32_t i = 0; i < reduce->member_count; i++) {
		put_number(text, reduce->members[i].rank, 4);
		put_number(text, reduce->members[i].group, 4);
		put_number(text, reduce->members[i].gpus, 1);
	}
}

void osp_gate_write_parts(struct osp_text *text, const struct osp_gate_header *header,
			  const struct osp_gate_part *parts, uint32_t count)
{
	put_header(text, header, OSP_GATE_MESSAGE_PARTS);
	put_number(text, count, 4);
	for (uint32_t i = 0; i < count; i++) {
		const struct osp_gate_part *part = &parts[i];

		put_number(text, part->rank, 4);
		put_number(text, part->state, 1);
		put_number(text, part->version, 4);
		put_number(text, part->gpus, 1);
		put_number(text, part->sum_kib, 4);
		put_number(text, part->wrong, 4);
		put_float(text, part->gbps);
		put_float(text, part->least_gbps);
		put_number(text, part->unproven, 1);
		put_float(text, part->network_gbps);
		put_number(text, part->quiet, 1);
		put_float(text, part->foreign_gbps);
		osp_text_add_bytes(text, (const char *)part->id, OSP_GATE_ID_BYTES);
		put_string(text, part->why, sizeof(part->why), false);
	}
}

void osp_gate_write_traffic(struct osp_text *text, const struct osp_gate_header *header,
			    const struct osp_gate_traffic *traffic, uint32_t count)
{
	put_header(text, header, OSP_GATE_MESSAGE_TRAFFIC);
	put_number(text, count, 4);
	for (uint32_t i = 0; i < count; i++) {
		put_number(text, traffic[i].rank, 4);
		put_number(text, traffic[i].quiet, 1);
		put_float(text, traffic[i].foreign_gbps);
	}
}

void osp_gate_write_other(struct osp_text *text, const struct osp_gate_header *header,
			  const uint32_t *ranks, uint32_t count)
{
	put_header(text, header, OSP_GATE_MESSAGE_OTHER);
	put_number(text, count, 4);
	for (uint32_t i = 0; i < count; i++)
		put_number(text, ranks[i], 4);
}

/* --- reading ---------------------------------------------------------------------------------- */

struct reading {
	const uint8_t *at;
	size_t left;
	struct osp_error *error;
	bool bad;
};

static int refuse(struct reading *reading, const char *why)
{
	reading->bad = true;
	reading->left = 0;
	return osp_error_set(reading->error, "gate message: %s", why);
}

/* Reads a number; returns 0 after the first mistake. */
static uint64_t get_number(struct reading *reading, int bytes)
{
	uint64_t number = 0;

	if (reading->left < (size_t)bytes) {
		refuse(reading, "cut short");
		return 0;
	}
	for (int i = 0; i < bytes; i++)
		number = number << 8 | reading->at[i];
	reading->at += bytes;
	reading->left -= (size_t)bytes;
	return number;
}

/* Reads a figure, which is never negative and never infinite. */
static float get_float(struct reading *reading)
{
	uint32_t bits = (uint32_t)get_number(reading, 4);
	float value;

	memcpy(&value, &bits, sizeof(value));
	if (!isfinite(value) || value < 0) {
		refuse(reading, "a figure that is none");
		return 0;
	}
	return value;
}

/* Reads a string. Refuses control characters, because others' words are shown to people and passed
 * to Slurm. */
static void get_string(struct reading *reading, char *to, size_t room)
{
	size_t length = (size_t)get_number(reading, 1);

	to[0] = '\0';
	if (reading->bad)
		return;
	if (length >= room || length > reading->left) {
		refuse(reading, "a string that is too long");
		return;
	}
	for (size_t i = 0; i < length; i++)
		if (reading->at[i] < 0x20 || reading->at[i] == 0x7f) {
			refuse(reading, "a string with control characters");
			return;
		}
	memcpy(to, reading->at, length);
	to[length] = '\0';
	reading->at += length;
	reading->left -= length;
}

static void get_bytes(struct reading *reading, uint8_t *to, size_t count)
{
	if (reading->left < count) {
		refuse(reading, "cut short");
		return;
	}
	memcpy(to, reading->at, count);
	reading->at += count;
	reading->left -= count;
}

static void get_header(struct reading *reading, struct osp_gate_header *header)
{
	uint8_t magic[4] = {0};

	get_bytes(reading, magic, sizeof(magic));
	if (!reading->bad && memcmp(magic, MAGIC, sizeof(magic)) != 0)
		refuse(reading, "not one of the gate's");
	header->version = (uint8_t)get_number(reading, 1);
	header->kind = (enum osp_gate_message_kind)get_number(reading, 1);
	if (!reading->bad && header->version != OSP_GATE_WIRE_VERSION &&
	    header->kind != OSP_GATE_MESSAGE_OTHER)
		refuse(reading, "of another version of onespine");
	header->round = (uint32_t)get_number(reading, 4);
	header->job = (uint32_t)get_number(reading, 4);
	header->restarts = (uint32_t)get_number(reading, 4);
	header->node_count = (uint32_t)get_number(reading, 4);
	header->gang = get_number(reading, 8);
	header->from = (uint32_t)get_number(reading, 4);
	header->to = (uint32_t)get_number(reading, 4);
	get_bytes(reading, header->challenge, OSP_GATE_CHALLENGE_BYTES);
	get_bytes(reading, header->nonce, OSP_GATE_CHALLENGE_BYTES);
	if (reading->bad)
		return;
	if ((header->kind < OSP_GATE_MESSAGE_REPORT || header->kind >= OSP_GATE_MESSAGE_KIND_END) &&
	    header->kind != OSP_GATE_MESSAGE_OTHER)
		refuse(reading, "of an unknown kind");
	else if (!header->node_count || header->node_count > OSP_GATE_NODES_MAX)
		refuse(reading, "of a gang too large");
	else if (header->from >= header->node_count || header->to >= header->node_count)
		refuse(reading, "from or to a rank beyond the gang");
}

/* Reads the number of the items that follow, each of at least `least` bytes. */
static uint32_t get_count(struct reading *reading, size_t least)
{
	uint64_t count = get_number(reading, 4);

	if (count > reading->left / least) {
		refuse(reading, "more announced than there is");
		return 0;
	}
	return (uint32_t)count;
}

/* Reads the number of a list's items, each of at least `least_bytes`, and returns room for them;
 * NULL if there are none. */
static void *get_list(struct reading *reading, size_t least_bytes, size_t item_bytes,
		      uint32_t *count)
{
	void *list;

	*count = get_count(reading, least_bytes);
	if (!*count)
		return NULL;
	list = calloc(*count, item_bytes);
	if (!list)
		refuse(reading, "no memory for it");
	return list;
}

/* Reads a rank. Ranks must rise, so that none is named twice. */
static uint32_t get_rank(struct reading *reading, const struct osp_gate_header *header,
			 uint32_t last)
{
	uint32_t rank = (uint32_t)get_number(reading, 4);

	if (!reading->bad && rank >= header->node_count)
		refuse(reading, "about a rank beyond the gang");
	else if (!reading->bad && last != OSP_GATE_NOBODY && rank <= last)
		refuse(reading, "about a rank twice or out of order");
	return rank;
}

static void get_report(struct reading *reading, const struct osp_gate_header *header, uint32_t last,
		       struct osp_gate_report *report)
{
	uint64_t result, flags;

	report->rank = get_rank(reading, header, last);
	result = get_number(reading, 1);
	flags = get_number(reading, 1);
	report->time_ms = (uint32_t)get_number(reading, 4);
	report->speed = get_float(reading);
	get_string(reading, report->check, sizeof(report->check));
	get_string(reading, report->reason, sizeof(report->reason));
	get_string(reading, report->boot, sizeof(report->boot));
	/* SILENT: it reported and has gone (gate_barrier.h). */
	if (!reading->bad && (result > OSP_VERDICT_SILENT || flags & ~(uint64_t)FLAG_ALL))
		refuse(reading, "a report that makes no sense");
	report->result = (enum osp_verdict)result;
	report->fresh = flags & FLAG_FRESH;
	report->blamed = flags & FLAG_BLAMED;
}

static void get_reports(struct reading *reading, struct osp_gate_message *message)
{
	uint32_t count, last = OSP_GATE_NOBODY;

	message->reports = get_list(reading, REPORT_BYTES_LEAST, sizeof(*message->reports), &count);
	for (uint32_t i = 0; i < count && !reading->bad; i++) {
		get_report(reading, &message->header, last, &message->reports[i]);
		last = message->reports[i].rank;
	}
	message->count = count;
}

static void get_links(struct reading *reading, struct osp_gate_message *message)
{
	uint32_t count, most = message->header.node_count;

	message->links = get_list(reading, LINK_BYTES, sizeof(*message->links), &count);
	for (uint32_t i = 0; i < count && !reading->bad; i++) {
		struct osp_gate_link *link = &message->links[i];
		uint64_t wrong;

		link->from = (uint32_t)get_number(reading, 4);
		link->to = (uint32_t)get_number(reading, 4);
		link->gbps = get_float(reading);
		wrong = get_number(reading, 1);
		link->wrong = wrong == 1;
		if (!reading->bad &&
		    (link->from >= most || link->to >= most || link->from == link->to || wrong > 1))
			refuse(reading, "a link that makes no sense");
	}
	message->count = count;
}

static void get_sentence(struct reading *reading, const struct osp_gate_header *header,
			 uint32_t last, struct osp_gate_sentence *sentence)
{
	uint64_t result;

	sentence->rank = get_rank(reading, header, last);
	sentence->actions = (uint32_t)get_number(reading, 4);
	result = get_number(reading, 1);
	get_string(reading, sentence->check, sizeof(sentence->check));
	get_string(reading, sentence->reason, sizeof(sentence->reason));
	if (!reading->bad &&
	    (result >= OSP_VERDICT_COUNT || sentence->actions & ~(uint32_t)ACTIONS_ALL))
		refuse(reading, "a sentence that makes no sense");
	sentence->result = (enum osp_verdict)result;
}

static void get_verdict(struct reading *reading, struct osp_gate_message *message)
{
	struct osp_gate_verdict *verdict = &message->verdict;
	uint32_t count, last = OSP_GATE_NOBODY;
	uint64_t kind, breaker;

	kind = get_number(reading, 1);
	verdict->decider = (uint32_t)get_number(reading, 4);
	breaker = get_number(reading, 1);
	verdict->breaker = breaker == 1;
	get_string(reading, verdict->says, sizeof(verdict->says));
	verdict->sentences =
		get_list(reading, SENTENCE_BYTES_LEAST, sizeof(*verdict->sentences), &count);
	if (!reading->bad && (kind >= OSP_GATE_KIND_COUNT || breaker > 1 ||
			      verdict->decider >= message->header.node_count))
		refuse(reading, "a verdict that makes no sense");
	verdict->kind = (enum osp_gate_kind)kind;
	for (uint32_t i = 0; i < count && !reading->bad; i++) {
		get_sentence(reading, &message->header, last, &verdict->sentences[i]);
		last = verdict->sentences[i].rank;
	}
	verdict->sentence_count = count;
}

static void get_ids(struct reading *reading, struct osp_gate_reduce *reduce)
{
	uint32_t count;

	reduce->ids = get_list(reading, OSP_GATE_ID_BYTES, sizeof(*reduce->ids), &count);
	if (count > OSP_GATE_GROUPS_MAX)
		refuse(reading, "more groups than there can be");
	reduce->group_count = count;
	for (uint32_t i = 0; i < count && !reading->bad; i++)
		get_bytes(reading, reduce->ids[i], OSP_GATE_ID_BYTES);
}

/* Reads the members. Each must be in a group that has an id; without ids, all are in the first
 * group. */
static void get_members(struct reading *reading, const struct osp_gate_header *header,
			struct osp_gate_reduce *reduce)
{
	uint32_t count, last = OSP_GATE_NOBODY;
	uint32_t groups = reduce->group_count ? reduce->group_count : 1;

	reduce->members = get_list(reading, MEMBER_BYTES, sizeof(*reduce->members), &count);
	reduce->member_count = count;
	for (uint32_t i = 0; i < count && !reading->bad; i++) {
		struct osp_gate_member *member = &reduce->members[i];

		member->rank = get_rank(reading, header, last);
		member->group = (uint32_t)get_number(reading, 4);
		member->gpus = (uint32_t)get_number(reading, 1);
		if (!reading->bad && (member->group >= groups || member->gpus > OSP_GATE_GPUS_MAX ||
				      (member->gpus == 0) != (reduce->group_count == 0)))
			refuse(reading, "a member that makes no sense");
		last = member->rank;
	}
}

static void get_reduce(struct reading *reading, struct osp_gate_message *message)
{
	struct osp_gate_reduce *reduce = &message->reduce;

	reduce->limit_ms = (uint32_t)get_number(reading, 4);
	reduce->sum_kib = (uint32_t)get_number(reading, 4);
	get_ids(reading, reduce);
	if (!reading->bad)
		get_members(reading, &message->header, reduce);
}

static void get_part(struct reading *reading, const struct osp_gate_header *header, uint32_t last,
		     struct osp_gate_part *part)
{
	uint64_t state, quiet, unproven;

	part->rank = get_rank(reading, header, last);
	state = get_number(reading, 1);
	part->version = (uint32_t)get_number(reading, 4);
	part->gpus = (uint32_t)get_number(reading, 1);
	part->sum_kib = (uint32_t)get_number(reading, 4);
	part->wrong = (uint32_t)get_number(reading, 4);
	part->gbps = get_float(reading);
	part->least_gbps = get_float(reading);
	unproven = get_number(reading, 1);
	part->network_gbps = get_float(reading);
	quiet = get_number(reading, 1);
	part->foreign_gbps = get_float(reading);
	get_bytes(reading, part->id, OSP_GATE_ID_BYTES);
	get_string(reading, part->why, sizeof(part->why));
	if (!reading->bad && (state >= OSP_GATE_PART_STATE_COUNT || quiet >= OSP_GATE_QUIET_COUNT ||
			      part->gpus > OSP_GATE_GPUS_MAX || unproven > 1))
		refuse(reading, "a part that makes no sense");
	part->unproven = unproven == 1;
	part->quiet = (enum osp_gate_quiet)quiet;
	part->state = (enum osp_gate_part_state)state;
}

static void get_parts(struct reading *reading, struct osp_gate_message *message)
{
	uint32_t count, last = OSP_GATE_NOBODY;

	message->parts = get_list(reading, PART_BYTES, sizeof(*message->parts), &count);
	for (uint32_t i = 0; i < count && !reading->bad; i++) {
		get_part(reading, &message->header, last, &message->parts[i]);
		last = message->parts[i].rank;
	}
	message->count = count;
}

static void get_traffic(struct reading *reading, struct osp_gate_message *message)
{
	uint32_t count, last = OSP_GATE_NOBODY;

	message->traffic = get_list(reading, TRAFFIC_BYTES, sizeof(*message->traffic), &count);
	for (uint32_t i = 0; i < count && !reading->bad; i++) {
		struct osp_gate_traffic *traffic = &message->traffic[i];
		uint64_t quiet;

		traffic->rank = last = get_rank(reading, &message->header, last);
		quiet = get_number(reading, 1);
		traffic->foreign_gbps = get_float(reading);
		if (!reading->bad && quiet >= OSP_GATE_QUIET_COUNT)
			refuse(reading, "traffic that makes no sense");
		traffic->quiet = (enum osp_gate_quiet)quiet;
	}
	message->count = count;
}

static void get_other(struct reading *reading, struct osp_gate_message *message)
{
	uint32_t count, last = OSP_GATE_NOBODY;

	message->ranks =
		get_list(reading, sizeof(*message->ranks), sizeof(*message->ranks), &count);
	for (uint32_t i = 0; i < count && !reading->bad; i++)
		message->ranks[i] = last = get_rank(reading, &message->header, last);
	message->count = count;
}

int osp_gate_read_message(const void *bytes, size_t count, struct osp_gate_message *message,
			  struct osp_error *error)
{
	struct reading reading = {.at = bytes, .left = count, .error = error};

	memset(message, 0, sizeof(*message));
	get_header(&reading, &message->header);
	if (!reading.bad)
		switch (message->header.kind) {
		case OSP_GATE_MESSAGE_REPORT:
			get_reports(&reading, message);
			break;
		case OSP_GATE_MESSAGE_LINKS:
		case OSP_GATE_MESSAGE_ORDER:
			get_links(&reading, message);
			break;
		case OSP_GATE_MESSAGE_VERDICT:
			get_verdict(&reading, message);
			break;
		case OSP_GATE_MESSAGE_REDUCE:
			get_reduce(&reading, message);
			break;
		case OSP_GATE_MESSAGE_PARTS:
			get_parts(&reading, message);
			break;
		case OSP_GATE_MESSAGE_TRAFFIC:
			get_traffic(&reading, message);
			break;
		case OSP_GATE_MESSAGE_OTHER:
			get_other(&reading, message);
			break;
		case OSP_GATE_MESSAGE_DATA:
		case OSP_GATE_MESSAGE_KIND_END:
			break;
		}
	if (!reading.bad && reading.left)
		refuse(&reading, "longer than what it says");
	if (!reading.bad)
		return 0;
	osp_gate_message_free(message);
	return -1;
}

void osp_gate_message_free(struct osp_gate_message *message)
{
	free(message->reports);
	free(message->links);
	free(message->parts);
	free(message->traffic);
	free(message->ranks);
	osp_gate_reduce_free(&message->reduce);
	osp_gate_verdict_free(&message->verdict);
	memset(message, 0, sizeof(*message));
}

void osp_gate_reduce_free(struct osp_gate_reduce *reduce)
{
	free(reduce->ids);
	free(reduce->members);
	memset(reduce, 0, sizeof(*reduce));
}
