/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_fresh.c - when an earlier pass still holds, and its file */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/health/fresh.h"

/* Two GPUs, at 1000 s since boot. */
static void fill(struct osp_node_state *state)
{
	memset(state, 0, sizeof(*state));
	state->time_s = 1700000000;
	state->uptime_s = 1000;
	strcpy(state->boot_id, "boot-1");
	strcpy(state->driver, "570.86.15");
	strcpy(state->rules, "1.0 abc");
	strcpy(state->gpus[0], "GPU-a");
	strcpy(state->gpus[1], "GPU-b");
	state->gpu_count = 2;
	state->whole = true;
	state->log_known = true;
	state->log_first = 1;
	state->log_next = 50;
	state->xids = 20; /* seen, and taken for harmless */
	assert_true(osp_node_state_count(state, "GPU-a", "ecc_uncorrected", 1, true));
	assert_true(osp_node_state_count(state, "GPU-b", "ecc_uncorrected", 0, true));
	assert_true(osp_node_state_count(state, "GPU-b", "nvlink_crc", 7, false));
	assert_true(osp_node_state_count(state, "neuron0", "ecc_uncorrected", 0, true));
}

/* What becomes of the node meanwhile. */
static void nothing(struct osp_node_state *now)
{
	now->uptime_s += 100;
}
static void other_records(struct osp_node_state *now)
{
	now->log_next = 90;
	now->log_first = 50; /* the first of those to come: none was lost */
}
static void a_link_error(struct osp_node_state *now)
{
	now->counters[2].value = 9000;
}
static void live_to_the_end(struct osp_node_state *now)
{
	now->uptime_s += 599;
}
static void too_old(struct osp_node_state *now)
{
	now->uptime_s += 600;
}
static void clock_set_back(struct osp_node_state *now)
{
	now->time_s -= 100000;
}
static void rebooted(struct osp_node_state *now)
{
	strcpy(now->boot_id, "boot-2");
}
static void boot_unknown(struct osp_node_state *now)
{
	*now->boot_id = '\0';
}
static void uptime_back(struct osp_node_state *now)
{
	now->uptime_s = 10;
}
static void new_driver(struct osp_node_state *now)
{
	strcpy(now->driver, "580.1");
}
static void new_rules(struct osp_node_state *now)
{
	strcpy(now->rules, "1.0 abd");
}
static void gpu_swapped(struct osp_node_state *now)
{
	strcpy(now->gpus[1], "GPU-c");
}
static void gpu_gone(struct osp_node_state *now)
{
	now->gpu_count = 1;
}
static void gpu_more(struct osp_node_state *now)
{
	strcpy(now->gpus[2], "GPU-c");
	now->gpu_count = 3;
}
static void gpu_unnamed(struct osp_node_state *now)
{
	strcpy(now->gpus[1], "GPU-????????");
}
static void one_gpu(struct osp_node_state *now)
{
	now->whole = false;
	now->gpu_count = 1;
}
static void one_gpu_other_ill(struct osp_node_state *now)
{
	one_gpu(now);
	now->counters[1].value = 5;
}
static void one_gpu_ill(struct osp_node_state *now)
{
	one_gpu(now);
	now->counters[0].value = 5;
}
static void an_xid(struct osp_node_state *now)
{
	now->log_next = 60;
	now->xids = 55;
}
static void xid_and_flood(struct osp_node_state *now)
{
	now->log_first = 5000;
	now->log_next = 9000;
}
static void log_back(struct osp_node_state *now)
{
	now->log_next = 10;
	now->xids = 0;
}
static void log_unreadable(struct osp_node_state *now)
{
	now->log_known = false;
}
static void neuron_error(struct osp_node_state *now)
{
	now->counters[3].value = 2;
}
static void counter_gone(struct osp_node_state *now)
{
	strcpy(now->counters[3].name, "other");
}
static void counter_back(struct osp_node_state *now)
{
	now->counters[0].value = 0;
}

static void holds(void **state)
{
	static const struct {
		void (*change)(struct osp_node_state *now);
		enum osp_freshness wanted;
		const char *words;
	} cases[] = {
		{nothing, OSP_FRESH, ""},
		{other_records, OSP_FRESH, ""},
		{a_link_error, OSP_FRESH, ""},
		{live_to_the_end, OSP_FRESH, ""},
		{clock_set_back, OSP_FRESH, ""},
		{one_gpu, OSP_FRESH, ""},
		{one_gpu_other_ill, OSP_FRESH, ""},
		{one_gpu_ill, OSP_STALE_COUNTER, "GPU-a ecc_uncorrected 1 -> 5"},
		{too_old, OSP_STALE_AGE, "passed 600 s ago"},
		{rebooted, OSP_STALE_BOOT, "booted since"},
		{boot_unknown, OSP_STALE_BOOT, "booted since"},
		{uptime_back, OSP_STALE_BOOT, "booted since"},
		{new_driver, OSP_STALE_DRIVER, "another driver since"},
		{new_rules, OSP_STALE_RULES, "other thresholds since"},
		{gpu_swapped, OSP_STALE_GPUS, "not what passed: GPU-c"},
		{gpu_gone, OSP_STALE_GPUS, "not what passed: another number of GPUs"},
		{gpu_more, OSP_STALE_GPUS, "not what passed: another number of GPUs"},
		{gpu_unnamed, OSP_STALE_GPUS, "not what passed: GPU-????????"},
		{an_xid, OSP_STALE_XID, "an XID since"},
		{xid_and_flood, OSP_STALE_LOG, "records of the kernel since were lost"},
		{log_back, OSP_STALE_LOG, "records of the kernel since were lost"},
		{log_unreadable, OSP_STALE_LOG, "the kernel's records cannot be read"},
		{neuron_error, OSP_STALE_COUNTER, "neuron0 ecc_uncorrected 0 -> 2"},
		{counter_gone, OSP_STALE_COUNTER,
		 "neuron0 ecc_uncorrected is not reported any more"},
		{counter_back, OSP_STALE_COUNTER, "GPU-a ecc_uncorrected 1 -> 0"},
	};
	char words[160];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_pass pass;
		struct osp_node_state now;

		fill(&now);
		osp_pass_make(&pass, NULL, OSP_DEPTH_QUICK, &now);
		fill(&now);
		cases[i].change(&now);
		assert_int_equal(osp_fresh(&pass, &now, OSP_DEPTH_QUICK, 600, words, sizeof(words)),
				 cases[i].wanted);
		assert_string_equal(words, cases[i].words);
		assert_int_equal(osp_fresh(&pass, &now, OSP_DEPTH_QUICK, 600, NULL, 0),
				 cases[i].wanted);
		osp_node_state_clear(&now);
		osp_pass_clear(&pass);
	}
}

static void depths(void **state)
{
	struct osp_node_state now;
	struct osp_pass pass;

	(void)state;
	fill(&now);
	osp_pass_make(&pass, NULL, OSP_DEPTH_QUICK, &now);
	fill(&now);
	assert_int_equal(osp_fresh(NULL, &now, OSP_DEPTH_PASSIVE, 600, NULL, 0), OSP_STALE_NONE);
	assert_int_equal(osp_fresh(&pass, &now, OSP_DEPTH_PASSIVE, 600, NULL, 0), OSP_FRESH);
	assert_int_equal(osp_fresh(&pass, &now, OSP_DEPTH_FULL, 600, NULL, 0), OSP_STALE_DEPTH);
	assert_int_equal(osp_fresh(&pass, &now, OSP_DEPTH_QUICK, 0, NULL, 0), OSP_STALE_AGE);
	osp_node_state_clear(&now);
	osp_pass_clear(&pass);
}

/* A counter as it was at the last pass, and up to a day ago. */
static void windows(void **state)
{
	struct osp_pass one, two, three;
	struct osp_node_state now;
	uint64_t since_pass = 0, since_window = 0;

	(void)state;
	fill(&now);
	osp_pass_make(&one, NULL, OSP_DEPTH_PASSIVE, &now);
	fill(&now);
	now.uptime_s += 86399;
	now.counters[2].value = 10;
	osp_pass_make(&two, &one, OSP_DEPTH_PASSIVE, &now);
	assert_true(
		osp_counter_growth(&two, "GPU-b", "nvlink_crc", 12, &since_pass, &since_window));
	assert_int_equal(since_pass, 2);
	assert_int_equal(since_window, 5);
	assert_false(osp_counter_growth(&two, "GPU-b", "nvlink_crc", 9, NULL, NULL));
	assert_false(osp_counter_growth(&two, "GPU-b", "crc", 9, NULL, NULL));
	fill(&now);
	now.uptime_s += 86400;
	now.counters[2].value = 12;
	osp_pass_make(&three, &two, OSP_DEPTH_PASSIVE, &now);
	assert_true(osp_counter_growth(&three, "GPU-b", "nvlink_crc", 13, NULL, &since_window));
	assert_int_equal(since_window, 1);
	osp_pass_clear(&one);
	osp_pass_clear(&two);
	osp_pass_clear(&three);
}

/* --- its file --------------------------------------------------------------------------------- */

static void written_and_read(void **state)
{
	struct osp_text text = OSP_TEXT_INIT, again = OSP_TEXT_INIT;
	struct osp_error error = {.text = ""};
	struct osp_node_state now;
	struct osp_pass pass, read;

	(void)state;
	fill(&now);
	strcpy(now.gpus[1], "odd \"\\\n\x80 name");
	osp_pass_make(&pass, NULL, OSP_DEPTH_FULL, &now);
	pass.state.counters[1].window++;
	osp_pass_write(&pass, &text);
	assert_false(text.failed);
	assert_int_equal(osp_pass_read("p", text.data, text.length_bytes, &read, &error), 0);
	assert_string_equal(read.state.gpus[1], "odd ???? name");
	assert_int_equal(read.depth, OSP_DEPTH_FULL);
	assert_int_equal(read.state.counter_count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_memory_equal(&read.state.counters[i], &pass.state.counters[i],
				    sizeof(struct osp_counter));
	assert_int_equal(read.state.xids, 20);
	osp_pass_write(&read, &again);
	assert_string_equal(text.data, again.data);
	osp_text_free(&text);
	osp_text_free(&again);
	osp_pass_clear(&pass);
	osp_pass_clear(&read);
}

#define WHOLE                                                                                      \
	"{depth: full, time_s: 1, uptime_s: 1, window_uptime_s: 1, boot_id: b, driver: d, "        \
	"rules: r, whole: true, gpus: [], log_known: true, log_first: 1, log_next: 1, "            \
	"xids: 0, counters: "

static void refused(void **state)
{
	static const struct {
		const char *text;
		const char *words;
	} cases[] = {
		{"", "p:1:1: depth is missing"},
		{"{\"depth\": \"quik\"}",
		 "p:1:11: depth: one of passive, quick, full is expected, not "
		 "\"quik\"; did you mean quick?"},
		{"{\"depth\": \"quick\"",
		 "p:2:1: neither YAML nor JSON: did not find expected ',' or '}' "
		 "while parsing a flow mapping"},
		{WHOLE "[[\"GPU-1\", \"ecc\", true]]}",
		 "p:1:179: a counter is a list of 4 or 5: of what, its name, whether it counts "
		 "faults, its value, and before"},
		{WHOLE "[{\"of\": \"GPU-1\"}]}",
		 "p:1:179: a counter is a list of 4 or 5: of what, its name, whether it counts "
		 "faults, its value, and before"},
		{WHOLE "[[\"GPU-1\", \"ecc\", maybe, 1]]}",
		 "p:1:196: true or false is expected, not 'maybe'"},
		{WHOLE "[[\"GPU-1\", \"ecc\", true, 1, -1]]}",
		 "p:1:205: a whole number of at least 0 is expected, not '-1'"},
		{"{\"deth\": 1}", "p:1:2: unknown key 'deth'; did you mean depth?"},
		{"{\"depth\": \"full\", \"time_s\": -1}",
		 "p:1:29: time_s: a whole number of at least "
		 "0 is expected, not '-1'"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_error error = {.text = ""};
		struct osp_pass pass;
		char words[1024];

		assert_int_equal(
			osp_pass_read("p", cases[i].text, strlen(cases[i].text), &pass, &error),
			-1);
		assert_string_equal(osp_error_format(&error, words, sizeof(words)), cases[i].words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holds),   cmocka_unit_test(depths),
		cmocka_unit_test(windows), cmocka_unit_test(written_and_read),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
