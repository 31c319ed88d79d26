/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The gate's messages: there and back, and every refusal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/hash.h"
#include "lib/gate/gate_message.h"

/* Where in a message its parts stand. */
#define AT_VERSION 4
#define AT_KIND	   5
#define AT_NODES   18
#define AT_FROM	   30
#define AT_COUNT   70
#define AT_FIRST   74

static const struct osp_gate_header header = {
	.kind = OSP_GATE_MESSAGE_REPORT,
	.round = 2,
	.job = 1234567,
	.restarts = 3,
	.node_count = 40,
	.gang = 0x0102030405060708u,
	.from = 17,
	.to = 1,
	.challenge = "challenge-of-16",
	.nonce = "nonce--------16",
};

static const struct osp_gate_report reports[] = {
	{.rank = 17, .result = OSP_VERDICT_PASS, .fresh = true, .time_ms = 12, .speed = 1.5f},
	{.rank = 39,
	 .result = OSP_VERDICT_FAIL,
	 .blamed = true,
	 .check = "ecc",
	 .reason = "onespine: gpu3 ecc 12 uncorrectable > 0; replace",
	 .boot = "c2a6c8ba-0e44-4c3e-bd5a-0a1e4a1f0c11"},
};

static struct osp_text written(void)
{
	struct osp_text text = OSP_TEXT_INIT;

	osp_gate_write_reports(&text, &header, reports, 2);
	assert_false(text.failed);
	return text;
}

static void same_header(const struct osp_gate_header *is)
{
	assert_int_equal(is->round, header.round);
	assert_int_equal(is->job, header.job);
	assert_int_equal(is->restarts, header.restarts);
	assert_int_equal(is->node_count, header.node_count);
	assert_true(is->gang == header.gang);
	assert_int_equal(is->from, header.from);
	assert_int_equal(is->to, header.to);
	assert_memory_equal(is->challenge, header.challenge, OSP_GATE_CHALLENGE_BYTES);
	assert_memory_equal(is->nonce, header.nonce, OSP_GATE_CHALLENGE_BYTES);
}

static void reports_come_as_they_went(void **state)
{
	struct osp_text text = written();
	struct osp_gate_message message;

	(void)state;
	assert_int_equal(osp_gate_read_message(text.data, text.length_bytes, &message, NULL), 0);
	same_header(&message.header);
	assert_int_equal(message.header.kind, OSP_GATE_MESSAGE_REPORT);
	assert_int_equal(message.count, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(message.reports[i].rank, reports[i].rank);
		assert_int_equal(message.reports[i].result, reports[i].result);
		assert_int_equal(message.reports[i].fresh, reports[i].fresh);
		assert_int_equal(message.reports[i].blamed, reports[i].blamed);
		assert_int_equal(message.reports[i].time_ms, reports[i].time_ms);
		assert_true(message.reports[i].speed == reports[i].speed);
		assert_string_equal(message.reports[i].check, reports[i].check);
		assert_string_equal(message.reports[i].reason, reports[i].reason);
		assert_string_equal(message.reports[i].boot, reports[i].boot);
	}
	osp_gate_message_free(&message);
	osp_text_free(&text);
}

static void links_and_verdicts_too(void **state)
{
	static const struct osp_gate_link links[] = {
		{.from = 0, .to = 5}, {.from = 5, .to = 0, .gbps = 98.5f, .wrong = true}};
	struct osp_gate_sentence sentences[] = {
		{.rank = 3,
		 .actions = OSP_GATE_RELEASE | OSP_GATE_DRAIN,
		 .result = OSP_VERDICT_FAIL,
		 .check = "ecc",
		 .reason = "onespine: x"},
		{.rank = 4, .actions = OSP_GATE_SUSPECT, .result = OSP_VERDICT_SILENT}};
	struct osp_gate_verdict verdict = {.kind = OSP_GATE_SHRINK,
					   .decider = 1,
					   .breaker = true,
					   .says = "two nodes are left out",
					   .sentences = sentences,
					   .sentence_count = 2};
	struct osp_gate_header of_links = header;
	struct osp_text text = OSP_TEXT_INIT;
	struct osp_gate_message message;

	(void)state;
	of_links.kind = OSP_GATE_MESSAGE_ORDER;
	osp_gate_write_links(&text, &of_links, links, 2);
	assert_int_equal(osp_gate_read_message(text.data, text.length_bytes, &message, NULL), 0);
	assert_int_equal(message.header.kind, OSP_GATE_MESSAGE_ORDER);
	assert_int_equal(message.links[1].from, 5);
	assert_true(message.links[1].gbps == 98.5f);
	assert_true(message.links[1].wrong);
	osp_gate_message_free(&message);
	osp_text_free(&text);

	osp_gate_write_verdict(&text, &header, &verdict);
	assert_int_equal(osp_gate_read_message(text.data, text.length_bytes, &message, NULL), 0);
	assert_int_equal(message.verdict.kind, OSP_GATE_SHRINK);
	assert_int_equal(message.verdict.decider, 1);
	assert_true(message.verdict.breaker);
	assert_string_equal(message.verdict.says, "two nodes are left out");
	assert_int_equal(osp_gate_sentence(&message.verdict, 3)->actions,
			 OSP_GATE_RELEASE | OSP_GATE_DRAIN);
	assert_string_equal(osp_gate_sentence(&message.verdict, 3)->reason, "onespine: x");
	assert_null(osp_gate_sentence(&message.verdict, 5));
	osp_gate_message_free(&message);
	osp_text_free(&text);

	osp_gate_write_data(&text, &header);
	assert_int_equal(osp_gate_read_message(text.data, text.length_bytes, &message, NULL), 0);
	same_header(&message.header);
	osp_gate_message_free(&message);
	osp_text_free(&text);
}

static struct osp_text written_reduce(uint32_t groups)
{
	uint8_t ids[2][OSP_GATE_ID_BYTES] = {{1, 2, 3}, {4, 5, 6}};
	struct osp_gate_member members[] = {{0, 0, 8}, {1, 1, 4}, {5, 0, 8}, {39, 1, 64}};
	struct osp_gate_reduce reduce = {.limit_ms = 15000,
					 .sum_kib = 1048576,
					 .ids = ids,
					 .group_count = groups,
					 .members = members,
					 .member_count = 4};
	struct osp_text text = OSP_TEXT_INIT;

	for (int i = 0; !groups && i < 4; i++)
		members[i].group = members[i].gpus = 0;
	osp_gate_write_reduce(&text, &header, &reduce);
	assert_false(text.failed);
	return text;
}

static void all_reduces_come_as_they_went(void **state)
{
	struct osp_gate_part parts[] = {
		{.rank = 3,
		 .state = OSP_GATE_PART_READY,
		 .version = 22304,
		 .gpus = 8,
		 .sum_kib = 1048576,
		 .least_gbps = 250,
		 .unproven = true,
		 .network_gbps = 400,
		 .id = {9, 0, 9}},
		{.rank = 4,
		 .state = OSP_GATE_PART_DONE,
		 .gbps = 437.5f,
		 .wrong = 7,
		 .quiet = OSP_GATE_FOREIGN,
		 .foreign_gbps = 12.5f},
		{.rank = 17, .state = OSP_GATE_PART_BROKE, .why = "libnccl.so.2 is not here"}};
	struct osp_text text = written_reduce(2);
	struct osp_gate_message message;

	(void)state;
	assert_int_equal(osp_gate_read_message(text.data, text.length_bytes, &message, NULL), 0);
	same_header(&message.header);
	assert_int_equal(message.header.kind, OSP_GATE_MESSAGE_REDUCE);
	assert_int_equal(message.reduce.limit_ms, 15000);
	assert_int_equal(message.reduce.sum_kib, 1048576);
	assert_int_equal(message.reduce.group_count, 2);
	assert_int_equal(message.reduce.ids[1][2], 6);
	assert_int_equal(message.reduce.member_count, 4);
	assert_int_equal(message.reduce.members[3].rank, 39);
	assert_int_equal(message.reduce.members[3].group, 1);
	assert_int_equal(message.reduce.members[3].gpus, 64);
	osp_gate_message_free(&message);
	osp_text_free(&text);

	osp_gate_write_parts(&text, &header, parts, 3);
	assert_int_equal(osp_gate_read_message(text.data, text.length_bytes, &message, NULL), 0);
	assert_int_equal(message.header.kind, OSP_GATE_MESSAGE_PARTS);
	assert_int_equal(message.count, 3);
	assert_int_equal(message.parts[0].version, 22304);
	assert_int_equal(message.parts[0].gpus, 8);
	assert_true(message.parts[0].least_gbps == 250 && message.parts[0].network_gbps == 400);
	assert_true(message.parts[0].unproven && !message.parts[1].unproven);
	assert_memory_equal(message.parts[0].id, parts[0].id, OSP_GATE_ID_BYTES);
	assert_int_equal(message.parts[1].wrong, 7);
	assert_true(message.parts[1].gbps == 437.5f);
	assert_int_equal(message.parts[1].quiet, OSP_GATE_FOREIGN);
	assert_true(message.parts[1].foreign_gbps == 12.5f);
	assert_string_equal(message.parts[2].why, "libnccl.so.2 is not here");
	osp_gate_message_free(&message);
	osp_text_free(&text);
}

static void refuse_changed(struct osp_text text, size_t at, int byte, const char *says)
{
	struct osp_gate_message message;
	struct osp_error error = {.text = ""};

	text.data[at] = (char)byte;
	assert_int_equal(osp_gate_read_message(text.data, text.length_bytes, &message, &error), -1);
	if (strcmp(error.text, says) != 0)
		fail_msg("byte %zu: %s", at, error.text);
	assert_null(message.parts);
	assert_null(message.reduce.members);
	assert_null(message.reduce.ids);
	osp_text_free(&text);
}

static void all_reduces_are_refused(void **state)
{
	size_t groups = AT_COUNT + 8, members = groups + 4 + 2 * OSP_GATE_ID_BYTES + 4;
	struct osp_gate_part part = {.rank = 1};
	struct osp_text text = OSP_TEXT_INIT;

	(void)state;
	refuse_changed(written_reduce(2), groups, 0xff,
		       "gate message: more announced than there is");
	refuse_changed(written_reduce(2), groups + 3, 1,
		       "gate message: more announced than there is");
	refuse_changed(written_reduce(2), members + 3, 1,
		       "gate message: about a rank twice or out of order");
	refuse_changed(written_reduce(2), members + 7, 2,
		       "gate message: a member that makes no sense");
	refuse_changed(written_reduce(2), members + 8, 65,
		       "gate message: a member that makes no sense");
	refuse_changed(written_reduce(2), members + 8, 0,
		       "gate message: a member that makes no sense");
	refuse_changed(written_reduce(0), groups + 4 + 4 + 8, 8,
		       "gate message: a member that makes no sense");
	osp_gate_write_parts(&text, &header, &part, 1);
	refuse_changed(text, AT_FIRST + 4, OSP_GATE_PART_STATE_COUNT,
		       "gate message: a part that makes no sense");
	text = (struct osp_text)OSP_TEXT_INIT;
	osp_gate_write_parts(&text, &header, &part, 1);
	refuse_changed(text, AT_FIRST + 9, 65, "gate message: a part that makes no sense");
	text = (struct osp_text)OSP_TEXT_INIT;
	osp_gate_write_parts(&text, &header, &part, 1);
	refuse_changed(text, AT_FIRST + 26, 2, "gate message: a part that makes no sense");
	text = (struct osp_text)OSP_TEXT_INIT;
	osp_gate_write_parts(&text, &header, &part, 1);
	refuse_changed(text, AT_FIRST + 31, OSP_GATE_QUIET_COUNT,
		       "gate message: a part that makes no sense");
}

static void traffic_comes_as_it_went(void **state)
{
	const struct osp_gate_traffic traffic[] = {
		{.rank = 0, .quiet = OSP_GATE_QUIET},
		{.rank = 7, .quiet = OSP_GATE_FOREIGN, .foreign_gbps = 3.5f},
		{.rank = 8, .quiet = OSP_GATE_UNREADABLE}};
	struct osp_gate_message message;
	struct osp_text text = OSP_TEXT_INIT;

	(void)state;
	osp_gate_write_traffic(&text, &header, traffic, 3);
	assert_int_equal(osp_gate_read_message(text.data, text.length_bytes, &message, NULL), 0);
	assert_int_equal(message.header.kind, OSP_GATE_MESSAGE_TRAFFIC);
	assert_int_equal(message.count, 3);
	assert_int_equal(message.traffic[1].rank, 7);
	assert_int_equal(message.traffic[1].quiet, OSP_GATE_FOREIGN);
	assert_true(message.traffic[1].foreign_gbps == 3.5f);
	assert_int_equal(message.traffic[2].quiet, OSP_GATE_UNREADABLE);
	osp_gate_message_free(&message);
	refuse_changed(text, AT_FIRST + 4, OSP_GATE_QUIET_COUNT,
		       "gate message: traffic that makes no sense");
}

/* One byte changed, and what is said about it. */
static void refusals(void **state)
{
	static const struct {
		size_t at;
		int byte;
		const char *says;
	} cases[] = {
		{0, 'X', "gate message: not one of the gate's"},
		{AT_VERSION, OSP_GATE_WIRE_VERSION - 1,
		 "gate message: of another version of onespine"},
		{AT_VERSION, OSP_GATE_WIRE_VERSION + 1,
		 "gate message: of another version of onespine"},
		{AT_KIND, 0, "gate message: of an unknown kind"},
		{AT_KIND, OSP_GATE_MESSAGE_KIND_END, "gate message: of an unknown kind"},
		{AT_NODES, 1, "gate message: of a gang too large"},
		{AT_FROM + 3, 40, "gate message: from or to a rank beyond the gang"},
		{AT_COUNT, 0xff, "gate message: more announced than there is"},
		{AT_COUNT + 3, 1, "gate message: longer than what it says"},
		{AT_COUNT + 3, 3, "gate message: cut short"},
		{AT_FIRST + 3, 40, "gate message: about a rank beyond the gang"},
		{AT_FIRST + 3, 39, "gate message: about a rank twice or out of order"},
		{AT_FIRST + 4, OSP_VERDICT_SILENT + 1,
		 "gate message: a report that makes no sense"},
		{AT_FIRST + 5, 4, "gate message: a report that makes no sense"},
		{AT_FIRST + 10, 0x7f, "gate message: a figure that is none"},
		{AT_FIRST + 10, 0xbf, "gate message: a figure that is none"},
		{AT_FIRST + 14, 32, "gate message: a string that is too long"},
		{AT_FIRST + 17 + 16, '\n', "gate message: a string with control characters"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_text text = written();
		struct osp_gate_message message;
		struct osp_error error = {.text = ""};

		text.data[cases[i].at] = (char)cases[i].byte;
		if (cases[i].byte == 0x7f)
			text.data[cases[i].at + 1] = (char)0xc0; /* not a number */
		assert_int_equal(
			osp_gate_read_message(text.data, text.length_bytes, &message, &error), -1);
		if (strcmp(error.text, cases[i].says) != 0)
			fail_msg("case %zu: %s", i, error.text);
		assert_null(message.reports);
		osp_text_free(&text);
	}
}

static void every_cut_is_refused(void **state)
{
	struct osp_text text = written();
	struct osp_gate_message message;

	(void)state;
	for (size_t length = 0; length < text.length_bytes; length++) {
		char *cut = malloc(length ? length : 1); /* a read beyond it is seen by ASan */

		assert_non_null(cut);
		memcpy(cut, text.data, length);
		assert_int_equal(osp_gate_read_message(cut, length, &message, NULL), -1);
		free(cut);
	}
	osp_text_free(&text);
}

/* The largest gang with the longest words still fits; the words of the last are left out. */
static void the_largest_gang_fits(void **state)
{
	struct osp_gate_report *all = calloc(OSP_GATE_NODES_MAX, sizeof(*all));
	struct osp_gate_header large = header;
	struct osp_text text = OSP_TEXT_INIT;
	struct osp_gate_message message;

	(void)state;
	assert_non_null(all);
	for (uint32_t i = 0; i < OSP_GATE_NODES_MAX; i++) {
		all[i].rank = i;
		all[i].result = OSP_VERDICT_FAIL;
		memset(all[i].reason, 'x', sizeof(all[i].reason) - 1);
	}
	large.node_count = OSP_GATE_NODES_MAX;
	osp_gate_write_reports(&text, &large, all, OSP_GATE_NODES_MAX);
	assert_in_range(text.length_bytes, 1, OSP_GATE_MESSAGE_BYTES_MAX);
	assert_int_equal(osp_gate_read_message(text.data, text.length_bytes, &message, NULL), 0);
	assert_int_equal(message.count, OSP_GATE_NODES_MAX);
	assert_int_equal(strlen(message.reports[0].reason), sizeof(all[0].reason) - 1);
	assert_string_equal(message.reports[OSP_GATE_NODES_MAX - 1].reason, "");
	assert_int_equal(message.reports[OSP_GATE_NODES_MAX - 1].result, OSP_VERDICT_FAIL);
	osp_gate_message_free(&message);
	osp_text_free(&text);
	free(all);
}

/* As many pairs as may be, with their ids. */
static void the_most_pairs_fit(void **state)
{
	uint32_t count = 2 * OSP_GATE_GROUPS_MAX;
	struct osp_gate_reduce reduce = {.group_count = OSP_GATE_GROUPS_MAX, .member_count = count};
	struct osp_gate_header large = header;
	struct osp_text text = OSP_TEXT_INIT;
	struct osp_gate_message message;

	(void)state;
	reduce.ids = calloc(OSP_GATE_GROUPS_MAX, sizeof(*reduce.ids));
	reduce.members = calloc(count, sizeof(*reduce.members));
	assert_true(reduce.ids && reduce.members);
	for (uint32_t i = 0; i < count; i++)
		reduce.members[i] = (struct osp_gate_member){.rank = i, .group = i / 2, .gpus = 8};
	large.node_count = count;
	osp_gate_write_reduce(&text, &large, &reduce);
	assert_in_range(text.length_bytes, 1, OSP_GATE_MESSAGE_BYTES_MAX);
	assert_int_equal(osp_gate_read_message(text.data, text.length_bytes, &message, NULL), 0);
	assert_int_equal(message.reduce.member_count, count);
	osp_gate_message_free(&message);
	osp_text_free(&text);
	osp_gate_reduce_free(&reduce);
}

/* --- the layout, by version ------------------------------------------------------------------- */

/* All fields of each kind, none of them zero. */
static struct osp_text write_all_of(enum osp_gate_message_kind kind)
{
	static const struct osp_gate_report report = {.rank = 1,
						      .result = OSP_VERDICT_FAIL,
						      .fresh = true,
						      .blamed = true,
						      .time_ms = 2,
						      .speed = 3.5f,
						      .check = "ecc",
						      .reason = "onespine: x",
						      .boot = "c2a6"};
	static const struct osp_gate_link link = {.from = 1, .to = 2, .gbps = 3.5f, .wrong = true};
	static struct osp_gate_sentence sentence = {.rank = 1,
						    .actions = OSP_GATE_RELEASE | OSP_GATE_DRAIN,
						    .result = OSP_VERDICT_FAIL,
						    .check = "ecc",
						    .reason = "onespine: x"};
	static const struct osp_gate_verdict verdict = {.kind = OSP_GATE_SHRINK,
							.decider = 1,
							.breaker = true,
							.says = "x",
							.sentences = &sentence,
							.sentence_count = 1};
	static const struct osp_gate_part part = {.rank = 1,
						  .state = OSP_GATE_PART_DONE,
						  .version = 22304,
						  .gpus = 8,
						  .sum_kib = 4096,
						  .wrong = 7,
						  .gbps = 437.5f,
						  .least_gbps = 250,
						  .unproven = true,
						  .network_gbps = 400,
						  .quiet = OSP_GATE_FOREIGN,
						  .foreign_gbps = 12.5f,
						  .id = {9, 8},
						  .why = "why"};
	static const struct osp_gate_traffic traffic = {
		.rank = 1, .quiet = OSP_GATE_FOREIGN, .foreign_gbps = 3.5f};
	static const uint32_t ranks[] = {3, 17};
	struct osp_gate_header of_links = header;
	struct osp_text text = OSP_TEXT_INIT;

	of_links.kind = kind;
	if (kind == OSP_GATE_MESSAGE_REPORT)
		osp_gate_write_reports(&text, &header, &report, 1);
	else if (kind == OSP_GATE_MESSAGE_LINKS || kind == OSP_GATE_MESSAGE_ORDER)
		osp_gate_write_links(&text, &of_links, &link, 1);
	else if (kind == OSP_GATE_MESSAGE_DATA)
		osp_gate_write_data(&text, &header);
	else if (kind == OSP_GATE_MESSAGE_VERDICT)
		osp_gate_write_verdict(&text, &header, &verdict);
	else if (kind == OSP_GATE_MESSAGE_REDUCE)
		text = written_reduce(2);
	else if (kind == OSP_GATE_MESSAGE_PARTS)
		osp_gate_write_parts(&text, &header, &part, 1);
	else if (kind == OSP_GATE_MESSAGE_TRAFFIC)
		osp_gate_write_traffic(&text, &header, &traffic, 1);
	else
		osp_gate_write_other(&text, &header, ranks, 2);
	assert_false(text.failed);
	return text;
}

/*
 * What each kind of this version looks like. Who changes a message raises OSP_GATE_WIRE_VERSION and
 * writes here what this test then says; "other" and the header stay as they are.
 */
#define LAYOUT_VERSION 2

static const struct layout {
	enum osp_gate_message_kind kind;
	size_t bytes;
	uint64_t sum;
} layouts[] = {
	{OSP_GATE_MESSAGE_REPORT, 109, UINT64_C(0xdd9ea141995de387)},
	{OSP_GATE_MESSAGE_LINKS, 87, UINT64_C(0x16f79775b2e13fb8)},
	{OSP_GATE_MESSAGE_ORDER, 87, UINT64_C(0xe3e3c72b8e44ac3d)},
	{OSP_GATE_MESSAGE_DATA, 70, UINT64_C(0xf2f546bb55be33bd)},
	{OSP_GATE_MESSAGE_VERDICT, 107, UINT64_C(0x10676037720fcd9d)},
	{OSP_GATE_MESSAGE_REDUCE, 378, UINT64_C(0x0a5148d2f67768b3)},
	{OSP_GATE_MESSAGE_PARTS, 242, UINT64_C(0x8eb9e8f9ce78852b)},
	{OSP_GATE_MESSAGE_TRAFFIC, 83, UINT64_C(0x82b9002250966718)},
	{OSP_GATE_MESSAGE_OTHER, 82, UINT64_C(0xfdeb56945384ddfc)},
};

static void a_layout_that_changes_is_a_new_version(void **state)
{
	bool same = OSP_GATE_WIRE_VERSION == LAYOUT_VERSION;

	(void)state;
	assert_int_equal(sizeof(layouts) / sizeof(layouts[0]), OSP_GATE_MESSAGE_KIND_END);
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		struct osp_text text = write_all_of(layouts[i].kind);
		uint64_t sum;

		assert_int_equal(text.data[AT_VERSION], OSP_GATE_WIRE_VERSION);
		text.data[AT_VERSION] = 0;
		sum = osp_hash_bytes(OSP_HASH_START, text.data, text.length_bytes);
		same = same && text.length_bytes == layouts[i].bytes && sum == layouts[i].sum;
		print_message("kind %d: %zu, UINT64_C(0x%016llx)\n", layouts[i].kind,
			      text.length_bytes, (unsigned long long)sum);
		osp_text_free(&text);
	}
	if (!same)
		fail_msg(
			"version %d of messages looks as above, not as LAYOUT_VERSION %d here says",
			OSP_GATE_WIRE_VERSION, LAYOUT_VERSION);
}

/* Of whatever version: who is concerned; and nothing else of it is read. */
static void gates_of_other_versions_say_so(void **state)
{
	struct osp_text text = write_all_of(OSP_GATE_MESSAGE_OTHER);
	struct osp_gate_message message;

	(void)state;
	for (int version = 1; version < 5; version++) {
		text.data[AT_VERSION] = (char)version;
		assert_int_equal(
			osp_gate_read_message(text.data, text.length_bytes, &message, NULL), 0);
		assert_int_equal(message.header.kind, OSP_GATE_MESSAGE_OTHER);
		assert_int_equal(message.header.version, version);
		same_header(&message.header);
		assert_int_equal(message.count, 2);
		assert_int_equal(message.ranks[0], 3);
		assert_int_equal(message.ranks[1], 17);
		osp_gate_message_free(&message);
	}
	refuse_changed(text, AT_FIRST + 7, 3, "gate message: about a rank twice or out of order");
	refuse_changed(write_all_of(OSP_GATE_MESSAGE_OTHER), AT_FIRST + 7, 40,
		       "gate message: about a rank beyond the gang");
	refuse_changed(write_all_of(OSP_GATE_MESSAGE_OTHER), AT_COUNT + 3, 3,
		       "gate message: more announced than there is");
}

static void the_gang_is_known_by_names_and_order(void **state)
{
	static const char *const one[] = {"n1", "n2"}, *const other[] = {"n2", "n1"},
				 *const joined[] = {"n1n2", ""};

	(void)state;
	/* as it is sent: nodes of one gang may run two builds */
	assert_true(osp_gate_gang_sum(one, 2) == UINT64_C(0x8c968f6726c99fd8));
	assert_true(osp_gate_gang_sum(one, 2) != osp_gate_gang_sum(other, 2));
	assert_true(osp_gate_gang_sum(one, 2) != osp_gate_gang_sum(one, 1));
	assert_true(osp_gate_gang_sum(one, 2) != osp_gate_gang_sum(joined, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_come_as_they_went),
		cmocka_unit_test(links_and_verdicts_too),
		cmocka_unit_test(all_reduces_come_as_they_went),
		cmocka_unit_test(all_reduces_are_refused),
		cmocka_unit_test(traffic_comes_as_it_went),
		cmocka_unit_test(the_most_pairs_fit),
		cmocka_unit_test(refusals),
		cmocka_unit_test(every_cut_is_refused),
		cmocka_unit_test(the_largest_gang_fits),
		cmocka_unit_test(a_layout_that_changes_is_a_new_version),
		cmocka_unit_test(gates_of_other_versions_say_so),
		cmocka_unit_test(the_gang_is_known_by_names_and_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
