/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a node was quiet while its network was measured: counters by table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "lib/gate/gate_traffic.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MB	     1000000u

static struct osp_gate_adapters before, after;
static struct osp_gate_own_traffic own;

/* One adapter over 0.4 s, which carried what is said in MB. */
static void carry(uint32_t in_mb, uint32_t out_mb, uint32_t own_in_mb, uint32_t own_out_mb)
{
	before = (struct osp_gate_adapters){
		.adapters = {{.name = "ens5", .in_bytes = {7}, .out_bytes = {9}, .readable = true}},
		.count = 1,
		.at_ns = 5000};
	after = before;
	after.at_ns += 400000000;
	after.adapters[0].in_bytes[0] += (uint64_t)in_mb * MB;
	after.adapters[0].out_bytes[0] += (uint64_t)out_mb * MB;
	own = (struct osp_gate_own_traffic){.in_bytes = (uint64_t)own_in_mb * MB,
					    .out_bytes = (uint64_t)own_out_mb * MB,
					    .ran_ns = 400000000,
					    .waited_known = true,
					    .ended = true};
}

static enum osp_gate_quiet judge(void)
{
	return osp_gate_traffic_judge(&before, &after, &own).quiet;
}

static void counters_by_table(void **state)
{
	static const struct {
		uint32_t in_mb, out_mb, own_in_mb, own_out_mb;
		enum osp_gate_quiet quiet;
	} cases[] = {
		{0, 0, 0, 0, OSP_GATE_QUIET},
		{67, 67, 64, 64, OSP_GATE_QUIET},   /* headers */
		{69, 69, 64, 64, OSP_GATE_QUIET},   /* and what acknowledges */
		{72, 69, 64, 64, OSP_GATE_QUIET},   /* just below 5 % */
		{74, 69, 64, 64, OSP_GATE_FOREIGN}, /* 5.6 % */
		{69, 74, 64, 64, OSP_GATE_FOREIGN},
		{500, 67, 0, 64, OSP_GATE_FOREIGN}, /* a flood */
		{2, 67, 0, 64, OSP_GATE_QUIET},	    /* sends only: acknowledged */
		{67, 2, 64, 0, OSP_GATE_QUIET},
		{1, 1, 0, 0, OSP_GATE_QUIET}, /* a dead adapter's housekeeping */
		{2, 1, 0, 0, OSP_GATE_FOREIGN},
		{10, 10, 64, 64, OSP_GATE_QUIET}, /* less than was said: begun before it was read */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		carry(cases[i].in_mb, cases[i].out_mb, cases[i].own_in_mb, cases[i].own_out_mb);
		if (judge() != cases[i].quiet)
			fail_msg("case %zu: %d", i, judge());
	}
}

static void says_how_much(void **state)
{
	char words[OSP_GATE_TRAFFIC_WORDS_BYTES];
	struct osp_gate_traffic traffic;

	(void)state;
	carry(500, 0, 0, 0);
	traffic = osp_gate_traffic_judge(&before, &after, &own);
	assert_string_equal(osp_gate_traffic_words(&traffic, words, sizeof(words)),
			    "10 Gb/s of others' traffic");
	carry(0, 0, 0, 0);
	traffic = osp_gate_traffic_judge(&before, &after, &own);
	assert_string_equal(osp_gate_traffic_words(&traffic, words, sizeof(words)), "");
}

static void what_cannot_be_read_counts_as_foreign(void **state)
{
	(void)state;
	carry(67, 67, 64, 64);
	after.adapters[0].readable = false;
	assert_int_equal(judge(), OSP_GATE_UNREADABLE);
	carry(67, 67, 64, 64);
	before.adapters[0].readable = false;
	assert_int_equal(judge(), OSP_GATE_UNREADABLE);
	carry(67, 67, 64, 64);
	after.adapters[0].in_bytes[0] = 0; /* it was started anew */
	assert_int_equal(judge(), OSP_GATE_UNREADABLE);
	carry(67, 67, 64, 64);
	strcpy(after.adapters[0].name, "ens6");
	assert_int_equal(judge(), OSP_GATE_UNREADABLE);
	carry(67, 67, 64, 64);
	before.count = after.count = 0;
	assert_int_equal(judge(), OSP_GATE_UNREADABLE);
	carry(67, 67, 64, 64);
	after.at_ns = before.at_ns;
	assert_int_equal(judge(), OSP_GATE_UNREADABLE);
	carry(67, 67, 64, 64);
	own.waited_known = false;
	assert_int_equal(judge(), OSP_GATE_UNREADABLE);
}

/* A busy node: what is known then is not even looked at. */
static void what_was_late_is_told_from_what_cannot_be_read(void **state)
{
	static const struct {
		enum osp_gate_quiet quiet;
		const char *words;
	} cases[] = {
		{OSP_GATE_UNREADABLE, "its adapters' counters cannot be read"},
		{OSP_GATE_NOT_ENDED, "what measured did not end in time"},
		{OSP_GATE_NOT_READ, "its adapters' counters were not read in time"},
		{OSP_GATE_NOT_REPORTED, "it did not report its adapters' counters in time"},
	};
	char words[OSP_GATE_TRAFFIC_WORDS_BYTES];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_gate_traffic traffic = {.quiet = cases[i].quiet};

		assert_string_equal(osp_gate_traffic_words(&traffic, words, sizeof(words)),
				    cases[i].words);
	}
	carry(500, 67, 0, 64);
	own.ended = false;
	assert_int_equal(judge(), OSP_GATE_NOT_ENDED);
	after.late = true;
	assert_int_equal(judge(), OSP_GATE_NOT_ENDED);
	own.ended = true;
	assert_int_equal(judge(), OSP_GATE_NOT_READ);
	carry(500, 67, 0, 64);
	before.late = true;
	assert_int_equal(judge(), OSP_GATE_NOT_READ);
}

static void a_starved_process_and_an_allowance(void **state)
{
	(void)state;
	carry(67, 67, 64, 64);
	own.waited_ns = 20000000;
	assert_int_equal(judge(), OSP_GATE_QUIET);
	own.waited_ns = 20000001;
	assert_int_equal(judge(), OSP_GATE_STARVED);
	carry(67, 67, 64, 64);
	after.adapters[0].held_back = 3;
	assert_int_equal(judge(), OSP_GATE_HELD_BACK);
}

/* RDMA and packets of one adapter, of which one may hold the other: the larger counts. */
static void two_kinds_of_counters(void **state)
{
	(void)state;
	carry(67, 67, 64, 64);
	after.adapters[0].in_bytes[1] = 66 * (uint64_t)MB;
	assert_int_equal(judge(), OSP_GATE_QUIET);
	after.adapters[0].in_bytes[1] = 90 * (uint64_t)MB;
	assert_int_equal(judge(), OSP_GATE_FOREIGN);
}

/* Others' bytes through any adapter that the round may have used. */
static void adapters_add_up(void **state)
{
	(void)state;
	carry(67, 67, 64, 64);
	before.adapters[1] = before.adapters[0];
	strcpy(before.adapters[1].name, "mlx5_0:1");
	after.adapters[1] = before.adapters[1];
	before.count = after.count = 2;
	assert_int_equal(judge(), OSP_GATE_QUIET);
	after.adapters[1].out_bytes[0] += 40 * (uint64_t)MB;
	assert_int_equal(judge(), OSP_GATE_FOREIGN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_by_table),
		cmocka_unit_test(says_how_much),
		cmocka_unit_test(what_cannot_be_read_counts_as_foreign),
		cmocka_unit_test(what_was_late_is_told_from_what_cannot_be_read),
		cmocka_unit_test(a_starved_process_and_an_allowance),
		cmocka_unit_test(two_kinds_of_counters),
		cmocka_unit_test(adapters_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
