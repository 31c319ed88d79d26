/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The gate's verdict and the circuit breaker: tables of cases, and gangs made at random of which
 * each verdict must keep every promise of lib/gate/gate_verdict.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/gate/breaker.h"
#include "lib/gate/gate_verdict.h"
#include "lib/health/reason.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NODES_MAX    12
#define ECC_REASON   "onespine: gpu3 ecc 12 uncorrectable > 0; replace"

/* --- a gang ----------------------------------------------------------------------------------- */

static const char *const names[NODES_MAX] = {"n1", "n2", "n3", "n4",  "n5",  "n6",
					     "n7", "n8", "n9", "n10", "n11", "n12"};

static struct osp_gate_policy policy;
static struct osp_gate_means means;
static struct osp_gate_gang gang;
static struct osp_gate_report reports[NODES_MAX];
static struct osp_gate_verdict verdict;

/*
 * A node a letter: . pass, w warn, s skip, e error, S silent, f fails ecc (drained by the default
 * policy), c fails clocks (only commented below), l fails link (only logged below), b blamed by the
 * network test for wrong bytes, p slow in it, u slow and not quiet, i another instance than the one
 * placed.
 */
static void report(uint32_t rank, char letter)
{
	static const char letters[] = "s.wefS";
	struct osp_gate_report *one = &reports[rank];
	const char *at = strchr(letters, letter);

	*one = (struct osp_gate_report){.rank = rank, .result = OSP_VERDICT_PASS};
	if (at)
		one->result = (enum osp_verdict)(at - letters);
	if (letter == 'f') {
		strcpy(one->check, "ecc");
		strcpy(one->reason, ECC_REASON);
	} else if (letter == 'c' || letter == 'l') {
		one->result = OSP_VERDICT_FAIL;
		strcpy(one->check, letter == 'c' ? "clocks" : "link");
		strcpy(one->reason, "onespine: gpu0 clocks 300 MHz < 1000 MHz; ask");
	} else if (letter == 'b') {
		one->blamed = true;
		strcpy(one->check, "network");
		strcpy(one->reason, "onespine: network sends wrong bytes to 3 nodes; ask");
	} else if (letter == 'p' || letter == 'u') {
		one->pace = letter == 'p' ? OSP_GATE_PACE_SLOW : OSP_GATE_PACE_UNSURE;
		strcpy(one->check, "network");
		strcpy(one->reason, "onespine: network 3 GB/s < 40 GB/s; ask");
	} else if (letter == 'i') {
		one->result = OSP_VERDICT_ERROR;
		strcpy(one->check, OSP_GATE_INSTANCE_CHECK);
		strcpy(one->reason, "onespine: instance i-9 is not the one placed");
	} else if (letter == 'e') {
		strcpy(one->check, "nvml");
		strcpy(one->reason, "the check crashed");
	}
}

static void start_gang(const char *letters, uint32_t spares)
{
	static const struct osp_gate_check_rule rules[] = {
		{"clocks", OSP_GATE_ON_FAIL_COMMENT},
		{"link", OSP_GATE_ON_FAIL_LOG},
	};

	osp_gate_policy_default(&policy);
	memcpy(policy.checks, rules, sizeof(rules));
	policy.check_count = COUNT(rules);
	means = (struct osp_gate_means){.batch = true, .can_requeue = true, .can_shrink = true};
	gang = (struct osp_gate_gang){
		.job = 7,
		.nodes = names,
		.node_count = (uint32_t)strlen(letters),
		.wanted = (uint32_t)strlen(letters) - spares,
		.spares = spares,
	};
	for (uint32_t r = 0; r < gang.node_count; r++)
		report(r, letters[r]);
}

static void decide(void)
{
	struct osp_error error = {.text = ""};

	verdict.decider = 3;
	assert_int_equal(osp_gate_decide(&gang, reports, &policy, &means, &verdict, &error), 0);
	assert_int_equal(verdict.decider, 3);
}

/* A letter a node: what is to become of it. k keep, r release, and D drain, C comment, S
 * suspect. */
static const char *fates(void)
{
	static char buffer[NODES_MAX * 4];
	char *at = buffer;

	for (uint32_t r = 0; r < gang.node_count; r++) {
		const struct osp_gate_sentence *one = osp_gate_sentence(&verdict, r);
		uint32_t actions = one ? one->actions : OSP_GATE_KEEP;

		*at++ = actions & OSP_GATE_RELEASE ? 'r' : 'k';
		if (actions & OSP_GATE_DRAIN)
			*at++ = 'D';
		if (actions & OSP_GATE_COMMENT)
			*at++ = 'C';
		if (actions & OSP_GATE_SUSPECT)
			*at++ = 'S';
	}
	*at = '\0';
	return buffer;
}

/* --- the table -------------------------------------------------------------------------------- */

/* The job, and what else differs from the default. Of the breaker's 8 nodes 3 may be drained. */
enum {
	BATCH = 0,
	NO_REQUEUE = 1,
	INTERACTIVE = 2,
	ERROR_WAITS = 4,
	NO_SHRINKING = 8,
	BREAKER = 16,
	BREAKER_WAITS = 32,
	SLOW_BEFORE = 64, /* slowness has stopped it once */
	OFTEN_BEFORE = 128,
	NETWORK_LOGGED = 256,
	ALL_LOGGED = 512,     /* failure: log */
	ALL_COMMENTED = 1024, /* failure: comment */
};

static const struct {
	const char *nodes;
	uint32_t spares;
	unsigned int with;
	enum osp_gate_kind kind;
	const char *fates;
	const char *says;
} cases[] = {
	/* all good */
	{"....", 0, BATCH, OSP_GATE_GO, "kkkk", ""},
	{".ws.", 0, BATCH, OSP_GATE_GO, "kkkk", ""},
	{"....", 1, BATCH, OSP_GATE_SHRINK, "kkkr", "3 of 4 nodes kept, all were good"},
	{"....", 1, INTERACTIVE, OSP_GATE_SHRINK, "kkkr", "3 of 4 nodes kept, all were good"},
	/* one fails */
	{"..f.", 0, BATCH, OSP_GATE_REQUEUE, "kkkDk",
	 "of 4 nodes, 1 failed; the job starts again elsewhere; n3: gpu3 ecc 12 uncorrectable > 0; "
	 "replace"},
	{"..f.", 1, BATCH, OSP_GATE_SHRINK, "kkrDk",
	 "of 4 nodes, 1 failed; the job goes on without; n3: gpu3 ecc 12 uncorrectable > 0; "
	 "replace"},
	{"..f.", 0, NO_REQUEUE, OSP_GATE_END, "kkkDk",
	 "of 4 nodes, 1 failed; it cannot be requeued: ended; n3: gpu3 ecc 12 uncorrectable > 0; "
	 "replace"},
	{"..f.", 1, NO_REQUEUE, OSP_GATE_SHRINK, "kkrDk", NULL},
	{"..f.", 0, INTERACTIVE, OSP_GATE_END, "kkkDk", NULL},
	{"..f.", 1, INTERACTIVE, OSP_GATE_SHRINK, "kkrDk", NULL},
	{"f", 0, BATCH, OSP_GATE_REQUEUE, "kD", NULL},
	/* two fail */
	{".ff.", 1, BATCH, OSP_GATE_REQUEUE, "kkDkDk", NULL},
	{".ff.", 2, BATCH, OSP_GATE_SHRINK, "krDrDk", NULL},
	/* the first fails: only salloc can do without it */
	{"f...", 1, BATCH, OSP_GATE_REQUEUE, "kDkkk", NULL},
	{"f...", 1, NO_REQUEUE, OSP_GATE_END, "kDkkk", NULL},
	{"f...", 1, INTERACTIVE, OSP_GATE_SHRINK, "rDkkk", NULL},
	/* silent: never released, never drained */
	{"...S", 0, BATCH, OSP_GATE_REQUEUE, "kkkkS",
	 "of 4 nodes, 1 silent; the job starts again elsewhere; n4: silent"},
	{"...S", 1, BATCH, OSP_GATE_REQUEUE, "kkkkS", NULL},
	{"..fS", 2, BATCH, OSP_GATE_REQUEUE, "kkkDkS",
	 "of 4 nodes, 1 failed, 1 silent; the job starts again elsewhere; n3: gpu3 ecc 12 "
	 "uncorrectable > 0; replace"},
	{"...S", 1, INTERACTIVE, OSP_GATE_END, "kkkkS", NULL},
	/* a check that broke */
	{".e..", 0, BATCH, OSP_GATE_GO, "kkkk",
	 "of 4 nodes, 1 could not be checked; the job goes on; n2: the check crashed"},
	{".e..", 1, BATCH, OSP_GATE_SHRINK, "krkk", NULL},
	{".e.f", 1, BATCH, OSP_GATE_SHRINK, "kkkrD", NULL},
	/* another instance than the one placed: stops whatever policy says, and drains nobody */
	{".i..", 0, BATCH, OSP_GATE_REQUEUE, "kkkk",
	 "of 4 nodes, 1 not the instance placed; the job starts again elsewhere; n2: instance i-9 "
	 "is not the one placed"},
	{".i..", 0, ERROR_WAITS, OSP_GATE_REQUEUE, "kkkk", NULL},
	{".i..", 1, BATCH, OSP_GATE_SHRINK, "krkk", NULL},
	{".i..", 0, INTERACTIVE, OSP_GATE_END, "kkkk", NULL},
	{".i..", 0, OFTEN_BEFORE, OSP_GATE_HOLD, "kkkk", NULL},
	{"iiii", 0, BREAKER, OSP_GATE_REQUEUE, "kkkk", NULL},
	{"ie..", 0, BATCH, OSP_GATE_REQUEUE, "kkkk",
	 "of 4 nodes, 1 could not be checked, 1 not the instance placed; the job starts again "
	 "elsewhere; n1: instance i-9 is not the one placed"},
	/* failures that policy only comments or logs */
	{".c..", 0, BATCH, OSP_GATE_GO, "kkCkk", NULL},
	{".c..", 1, BATCH, OSP_GATE_SHRINK, "krCkk", NULL},
	{".l..", 0, BATCH, OSP_GATE_GO, "kkkk", NULL},
	{".lwe", 1, BATCH, OSP_GATE_SHRINK, "krkk", NULL},
	/* blamed by the network test */
	{".b..", 0, BATCH, OSP_GATE_REQUEUE, "kkDkk",
	 "of 4 nodes, 1 failed; the job starts again elsewhere; n2: network sends wrong bytes to 3 "
	 "nodes; ask"},
	/* slowness never drains: it stops a job once, where that can be requeued */
	{".p..", 0, BATCH, OSP_GATE_REQUEUE, "kkSkk",
	 "of 4 nodes, 1 slow; the job starts again elsewhere; n2: network 3 GB/s < 40 GB/s; ask"},
	{".p..", 0, SLOW_BEFORE, OSP_GATE_GO, "kkkk",
	 "of 4 nodes, 1 slow; the job goes on; n2: network 3 GB/s < 40 GB/s; ask"},
	{".p..", 0, OFTEN_BEFORE, OSP_GATE_GO, "kkkk", NULL},
	{".p..", 0, NO_REQUEUE, OSP_GATE_GO, "kkkk", NULL},
	{".p..", 0, INTERACTIVE, OSP_GATE_GO, "kkkk", NULL},
	{".p..", 0, NETWORK_LOGGED, OSP_GATE_GO, "kkkk", NULL},
	{"pppp", 0, SLOW_BEFORE, OSP_GATE_GO, "kkkk", NULL},
	{".p..", 1, BATCH, OSP_GATE_SHRINK, "krkk", NULL},
	{".p..", 1, SLOW_BEFORE, OSP_GATE_SHRINK, "krkk", NULL},
	{".p..", 1, INTERACTIVE, OSP_GATE_SHRINK, "krkk", NULL},
	{"ppf.", 1, SLOW_BEFORE, OSP_GATE_SHRINK, "kkrDk", NULL},
	{".pf.", 0, BATCH, OSP_GATE_REQUEUE, "kkSkDk",
	 "of 4 nodes, 1 failed, 1 slow; the job starts again elsewhere; n3: gpu3 ecc 12 "
	 "uncorrectable > 0; replace"},
	{".pf.", 0, SLOW_BEFORE, OSP_GATE_REQUEUE, "kkkDk", NULL},
	{".u..", 0, BATCH, OSP_GATE_GO, "kkkk",
	 "of 4 nodes, 1 not measured; the job goes on; n2: network 3 GB/s < 40 GB/s; ask"},
	{".u..", 1, BATCH, OSP_GATE_SHRINK, "krkk", NULL},
	/* a check that broke, where policy waits for it */
	{".e..", 0, ERROR_WAITS, OSP_GATE_REQUEUE, "kkSkk", NULL},
	{".e..", 1, ERROR_WAITS, OSP_GATE_SHRINK, "krkk", NULL},
	/* failure: log or comment: no failed, silent or slow node stops the job */
	{"..f.", 0, ALL_LOGGED, OSP_GATE_GO, "kkkk",
	 "of 4 nodes, 1 failed; the job goes on; n3: gpu3 ecc 12 uncorrectable > 0; replace"},
	{"...S", 0, ALL_LOGGED, OSP_GATE_GO, "kkkk",
	 "of 4 nodes, 1 silent; the job goes on (failure: drain would start it again); n4: silent"},
	{"...S", 0, ALL_LOGGED | NO_REQUEUE, OSP_GATE_GO, "kkkk",
	 "of 4 nodes, 1 silent; the job goes on (failure: drain would end it); n4: silent"},
	{"...S", 0, ALL_LOGGED | INTERACTIVE, OSP_GATE_GO, "kkkk", NULL},
	{"...S", 0, ALL_LOGGED | OFTEN_BEFORE, OSP_GATE_GO, "kkkk",
	 "of 4 nodes, 1 silent; the job goes on (failure: drain would hold it); n4: silent"},
	{"SSSf", 0, ALL_LOGGED, OSP_GATE_GO, "kkkk",
	 "of 4 nodes, 1 failed, 3 silent; the job goes on (failure: drain would start it again); "
	 "n4: gpu3 ecc 12 uncorrectable > 0; replace"},
	{"bpuS", 0, ALL_LOGGED, OSP_GATE_GO, "kkkk", NULL},
	{"...S", 0, ALL_COMMENTED, OSP_GATE_GO, "kkkk", NULL},
	{"..fS", 0, ALL_COMMENTED, OSP_GATE_GO, "kkkCk", NULL},
	/* with spares too; Slurm can release no silent one */
	{"..f.", 1, ALL_LOGGED, OSP_GATE_SHRINK, "kkrk", NULL},
	{"f...", 1, ALL_LOGGED, OSP_GATE_SHRINK, "kkkr", NULL},
	{".ff.", 1, ALL_LOGGED, OSP_GATE_SHRINK, "kkrk", NULL},
	{"..fS", 1, ALL_LOGGED, OSP_GATE_GO, "kkkk", NULL},
	{"...S", 1, ALL_LOGGED | INTERACTIVE, OSP_GATE_GO, "kkkk", NULL},
	/* not what says nothing of a node's health, or has a value of its own */
	{".i..", 0, ALL_LOGGED, OSP_GATE_REQUEUE, "kkkk",
	 "of 4 nodes, 1 not the instance placed; the job starts again elsewhere; n2: instance i-9 "
	 "is not the one placed"},
	{".i.S", 1, ALL_LOGGED, OSP_GATE_REQUEUE, "kkkk", NULL},
	{".e..", 0, ALL_LOGGED | ERROR_WAITS, OSP_GATE_REQUEUE, "kkSkk", NULL},
	/* Slurm cannot shrink jobs here */
	{"....", 1, NO_SHRINKING, OSP_GATE_GO, "kkkk", NULL},
	{"..f.", 1, NO_SHRINKING, OSP_GATE_REQUEUE, "kkkDk", NULL},
	/* the batch host has failed and stays, as nobody is drained */
	{"ffff....", 4, BREAKER, OSP_GATE_SHRINK, "kCrCrCrCkkkr",
	 "of 8 nodes (breaker open, none drained), 4 failed; the job goes on with 1 of these; n1: "
	 "gpu3 ecc 12 uncorrectable > 0; replace"},
	{".ffff...", 4, BREAKER, OSP_GATE_SHRINK, "krCrCrCrCkkk",
	 "of 8 nodes (breaker open, none drained), 4 failed; the job goes on without; n2: gpu3 ecc "
	 "12 uncorrectable > 0; replace"},
	/* an open breaker drains nobody; three are still a share that may be drained */
	{"ffff.", 0, BREAKER, OSP_GATE_GO, "kCkCkCkCk",
	 "of 5 nodes (breaker open, none drained), 4 failed; the job goes on; n1: gpu3 ecc 12 "
	 "uncorrectable > 0; replace"},
	{"ffff.", 0, BREAKER | BREAKER_WAITS, OSP_GATE_REQUEUE, "kCSkCSkCSkCSk", NULL},
	{"fff..", 0, BREAKER, OSP_GATE_REQUEUE, "kDkDkDkk", NULL},
};

static void set(unsigned int with)
{
	means.batch = !(with & INTERACTIVE);
	means.can_requeue = !(with & (INTERACTIVE | NO_REQUEUE));
	means.can_shrink = !(with & NO_SHRINKING);
	policy.error_waits = with & ERROR_WAITS;
	policy.breaker_waits = with & BREAKER_WAITS;
	means.stopped_slow = with & SLOW_BEFORE ? 1 : 0;
	means.stopped = with & OFTEN_BEFORE ? policy.restarts_max : means.stopped_slow;
	if (with & NETWORK_LOGGED)
		policy.checks[policy.check_count++] =
			(struct osp_gate_check_rule){"network", OSP_GATE_ON_FAIL_LOG};
	if (with & (ALL_LOGGED | ALL_COMMENTED))
		policy.failure =
			with & ALL_LOGGED ? OSP_GATE_ON_FAIL_LOG : OSP_GATE_ON_FAIL_COMMENT;
	if (with & BREAKER)
		means.breaker = (struct osp_breaker){.node_count = 8, .now_s = 1000};
}

static void verdicts(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		start_gang(cases[i].nodes, cases[i].spares);
		set(cases[i].with);
		decide();
		assert_int_equal(verdict.breaker,
				 (cases[i].with & BREAKER) && strchr(cases[i].fates, 'C') != NULL);
		if (verdict.kind != cases[i].kind || strcmp(fates(), cases[i].fates) != 0)
			fail_msg("'%s' with %u spares: %s %s", cases[i].nodes, cases[i].spares,
				 osp_gate_kind_name(verdict.kind), fates());
		if (cases[i].says)
			assert_string_equal(verdict.says, cases[i].says);
		assert_int_equal(verdict.slow, verdict.kind >= OSP_GATE_REQUEUE &&
						       strchr(cases[i].nodes, 'p') != NULL &&
						       !(cases[i].with & SLOW_BEFORE));
		osp_gate_verdict_free(&verdict);
	}
}

static void reasons_are_those_of_the_check(void **state)
{
	(void)state;
	start_gang("..fS", 0);
	decide();
	assert_string_equal(osp_gate_sentence(&verdict, 2)->reason, ECC_REASON);
	assert_string_equal(osp_gate_sentence(&verdict, 2)->check, "ecc");
	assert_string_equal(osp_gate_sentence(&verdict, 3)->reason, "did not report in time");
	assert_null(osp_gate_sentence(&verdict, 0));
	osp_gate_verdict_free(&verdict);
}

static void stopped_too_often_is_held(void **state)
{
	(void)state;
	for (uint32_t stopped = 0; stopped < 6; stopped++) {
		start_gang("..f.", 0);
		policy.restarts_max = 3;
		means.stopped = stopped;
		decide();
		assert_int_equal(verdict.kind, stopped < 3 ? OSP_GATE_REQUEUE : OSP_GATE_HOLD);
		assert_string_equal(fates(), "kkkDk");
		osp_gate_verdict_free(&verdict);
	}
}

/* --- which are the best ----------------------------------------------------------------------- */

static void fewest_leaves_then_fastest(void **state)
{
	static const struct {
		const char *nodes;
		uint32_t spares;
		const char *leaves; /* a letter a node */
		const char *speeds; /* a digit a node: 5 = the median */
		bool batch;
		const char *fates;
	} choices[] = {
		/* one leaf too many goes as a whole */
		{"......", 2, "aabbcc", "555555", true, "kkkkrr"},
		{"......", 2, "abbccc", "555555", false, "rkkkkr"},
		{"....", 1, "aaaa", "5355", true, "krkk"},
		{"....", 1, "aaaa", "3555", true, "kkkr"},
		{"....", 1, "aaaa", "3555", false, "rkkk"},
		/* the batch host's leaf is open in any case */
		{"......", 3, "abbbaa", "555555", true, "krrrkk"},
		/* a slow node in a leaf that is needed is better than a fast one elsewhere */
		{".....", 1, "aaaab", "55519", true, "kkkkr"},
		/* health before leaves */
		{".....", 2, "aabbb", "55555", true, "kkkrr"},
		{".w...", 2, "aabbb", "55555", true, "krkkr"},
		{".w...", 1, "aabbb", "55555", true, "krkkk"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(choices); i++) {
		uint32_t leaf[NODES_MAX];

		start_gang(choices[i].nodes, choices[i].spares);
		for (uint32_t r = 0; r < gang.node_count; r++) {
			leaf[r] = (uint32_t)choices[i].leaves[r];
			reports[r].speed = (float)(choices[i].speeds[r] - '0') / 5.0F;
		}
		means.leaf = leaf;
		means.batch = choices[i].batch;
		decide();
		if (strcmp(fates(), choices[i].fates) != 0)
			fail_msg("'%s' on %s at %s: %s, not %s", choices[i].nodes,
				 choices[i].leaves, choices[i].speeds, fates(), choices[i].fates);
		osp_gate_verdict_free(&verdict);
	}
}

/* --- the breaker ------------------------------------------------------------------------------ */

static void breaker_counts_one_kind_in_its_time(void **state)
{
	static const struct osp_breaker_mark marks[] = {
		{"onespine: gpu3 ecc 12 uncorrectable > 0; replace", 1000, false},
		{"onespine: ecc 1 > 0; replace", 900, false},
		{"onespine: gpu0 eccentric 1 > 0; replace", 1000, false}, /* another check */
		{"onespine: gpu0 clocks 3 ecc > 0; ask", 1000, false},	  /* another check */
		{"onespine: gpu3 ecc 12 uncorrectable > 0; replace", 399, false}, /* too old */
		{"gpu3 ecc broken, says Bob", 1000, false},			  /* not ours */
		{NULL, 1000, false},
	};
	struct osp_breaker breaker = {
		.node_count = 50, .now_s = 1000, .marks = marks, .mark_count = COUNT(marks)};

	(void)state;
	osp_gate_policy_default(&policy);
	policy.breaker_s = 600;
	policy.breaker_percent = 10;
	assert_int_equal(osp_breaker_limit(&breaker, &policy), 5);
	assert_int_equal(osp_breaker_drained(&breaker, &policy, "ecc"), 2);
	assert_false(osp_breaker_open(&breaker, &policy, "ecc", 3));
	assert_true(osp_breaker_open(&breaker, &policy, "ecc", 4));
	breaker.node_count = 8;
	assert_int_equal(osp_breaker_limit(&breaker, &policy), OSP_BREAKER_LEAST);
	assert_false(osp_breaker_open(&breaker, &policy, "ecc", 1));
	assert_true(osp_breaker_open(&breaker, &policy, "ecc", 2));
	assert_false(osp_breaker_open(&breaker, &policy, "clocks", 2));
	assert_int_equal(osp_breaker_drained(&breaker, &policy, ""), 0);
}

static void breaker_counts_quarantine_for_every_check(void **state)
{
	static const struct osp_breaker_mark marks[] = {
		{"onespine: gpu3 ecc 12 uncorrectable > 0; replace", 1000, false},
		{NULL, 1000, true},
		{NULL, 399, true}, /* too old */
	};
	struct osp_breaker breaker = {
		.node_count = 50, .now_s = 1000, .marks = marks, .mark_count = COUNT(marks)};

	(void)state;
	osp_gate_policy_default(&policy);
	policy.breaker_s = 600;
	assert_int_equal(osp_breaker_drained(&breaker, &policy, "ecc"), 2);
	assert_int_equal(osp_breaker_drained(&breaker, &policy, "clocks"), 1);
}

static void reasons_of_ours(void **state)
{
	(void)state;
	assert_true(osp_reason_is_ours(ECC_REASON));
	assert_false(osp_reason_is_ours("onespine"));
	assert_false(osp_reason_is_ours(" onespine: ecc"));
	assert_false(osp_reason_is_ours(""));
	assert_false(osp_reason_is_ours(NULL));
	assert_true(osp_reason_names("onespine: ecc", "ecc"));
	assert_false(osp_reason_names("onespine: ecc2 x", "ecc"));
	assert_false(osp_reason_names("onespine: a b ecc", "ecc"));
	assert_false(osp_reason_names("ecc", "ecc"));
}

/* --- at random -------------------------------------------------------------------------------- */

static uint64_t seed;

static uint32_t random_below(uint32_t limit)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % limit;
}

static bool node_stops(char letter)
{
	if (letter == 'f' || letter == 'b' || letter == 'S')
		return policy.failure == OSP_GATE_ON_FAIL_DRAIN;
	return letter == 'e' && policy.error_waits;
}

/* What every verdict promises, whatever happened. */
static void keeps_promises(const char *letters)
{
	uint32_t kept = 0, left_bad = 0;
	bool starts = verdict.kind <= OSP_GATE_SHRINK;

	for (uint32_t r = 0; r < gang.node_count; r++) {
		const struct osp_gate_sentence *one = osp_gate_sentence(&verdict, r);
		uint32_t actions = one ? one->actions : OSP_GATE_KEEP;
		bool drained = actions & OSP_GATE_DRAIN, released = actions & OSP_GATE_RELEASE;

		/* no good node drained; every bad one is, unless the breaker is open */
		assert_false(drained && letters[r] != 'f' && letters[r] != 'b');
		assert_true(drained || verdict.breaker ||
			    policy.failure != OSP_GATE_ON_FAIL_DRAIN ||
			    (letters[r] != 'f' && letters[r] != 'b'));
		assert_false(drained && policy.failure != OSP_GATE_ON_FAIL_DRAIN);
		/* Slurm can release neither the batch host nor a silent node */
		assert_false(released && verdict.kind != OSP_GATE_SHRINK);
		assert_false(released && means.batch && r == 0);
		assert_false(released && letters[r] == 'S');
		/* a good one is given to the job again */
		assert_false((actions & OSP_GATE_SUSPECT) && !node_stops(letters[r]));
		if (released)
			continue;
		kept++;
		left_bad += node_stops(letters[r]) && !(verdict.breaker && !policy.breaker_waits &&
							letters[r] != 'S' && letters[r] != 'e');
	}
	/* no bad node in a job that starts, and as many as it wants */
	assert_true(!starts || left_bad == 0);
	assert_true(verdict.kind != OSP_GATE_SHRINK || kept == gang.wanted);
	assert_true(verdict.kind != OSP_GATE_GO || kept == gang.node_count);
	/* no job is ended that could start again, nor the other way round */
	assert_false(verdict.kind == OSP_GATE_END && means.can_requeue);
	assert_false((verdict.kind == OSP_GATE_REQUEUE || verdict.kind == OSP_GATE_HOLD) &&
		     !means.can_requeue);
	assert_false(verdict.kind == OSP_GATE_HOLD && means.stopped < policy.restarts_max);
	/* nothing but a check that policy waits for stops a job whose failures it does not drain */
	assert_true(starts || policy.error_waits || policy.failure == OSP_GATE_ON_FAIL_DRAIN);
	/* a job that is stopped has words */
	assert_true(starts || verdict.says[0]);
	/* "all is well" says the same without asking */
	if (osp_gate_all_well(&gang, reports, &policy))
		assert_int_equal(verdict.kind, OSP_GATE_GO);
}

/* Nobody released is better than somebody kept, but for the batch host. */
static void keeps_the_best(const char *letters)
{
	static const char order[] = "s.wecl";

	for (uint32_t r = 0; r < gang.node_count && verdict.kind == OSP_GATE_SHRINK; r++) {
		const struct osp_gate_sentence *one = osp_gate_sentence(&verdict, r);

		if (!one || !(one->actions & OSP_GATE_RELEASE) || node_stops(letters[r]))
			continue;
		for (uint32_t k = means.batch; k < gang.node_count; k++) {
			const struct osp_gate_sentence *kept = osp_gate_sentence(&verdict, k);
			const char *a = strchr(order, letters[r]), *b = strchr(order, letters[k]);

			if ((kept && (kept->actions & OSP_GATE_RELEASE)) || !a || !b)
				continue;
			if (strchr("s.", letters[r]) && !strchr("s.", letters[k]))
				fail_msg("%s: %u released, %u kept", letters, r, k);
		}
	}
}

static void random_gangs(void **state)
{
	static const char letters[] = "......s.wefSclb";

	(void)state;
	for (uint32_t round = 0; round < 60000; round++) {
		char nodes[NODES_MAX + 1];
		uint32_t leaf[NODES_MAX], count, healthy;

		seed = round + 1;
		random_below(2);
		count = 1 + random_below(NODES_MAX);
		healthy = random_below(3) ? 6 : 0;
		for (uint32_t r = 0; r < count; r++) {
			nodes[r] = random_below(healthy + 1) > 1
					   ? '.'
					   : letters[random_below(sizeof(letters) - 1)];
			leaf[r] = random_below(4);
		}
		nodes[count] = '\0';
		start_gang(nodes, random_below(2) ? random_below(count) : 0);
		for (uint32_t r = 0; r < count; r++)
			reports[r].speed = (float)random_below(3) / 2.0F;
		means.leaf = random_below(4) ? leaf : NULL;
		means.batch = random_below(3) != 0;
		means.can_requeue = means.batch && random_below(4) != 0;
		means.can_shrink = random_below(6) != 0;
		means.stopped = random_below(5);
		policy.error_waits = random_below(3) == 0;
		if (random_below(3) == 0)
			policy.failure = (enum osp_gate_failure)random_below(2);
		policy.breaker_waits = random_below(2) == 0;
		means.breaker.node_count = random_below(3) ? NODES_MAX : 0;
		means.breaker.now_s = 1000;
		decide();
		keeps_promises(nodes);
		keeps_the_best(nodes);
		osp_gate_verdict_free(&verdict);
	}
}

/* --- spares in each segment ------------------------------------------------------------------- */

/* The segment of each node as a digit. */
static void set_segments(const char *digits, uint32_t spares)
{
	static uint32_t segment[NODES_MAX];

	for (uint32_t r = 0; r < gang.node_count; r++)
		segment[r] = (uint32_t)(digits[r] - '0');
	means.segment = segment;
	gang.segment_spares = spares;
}

static void as_many_of_each_segment(void **state)
{
	static const struct {
		const char *nodes, *segments;
		uint32_t in_segment, all;
		enum osp_gate_kind kind;
		const char *fates;
	} many[] = {
		{"....", "0011", 1, 2, OSP_GATE_SHRINK, "krkr"},
		{".f.f", "0011", 1, 2, OSP_GATE_SHRINK, "krDkrD"},
		/* two good ones are left, but not one of each segment */
		{"..ff", "0011", 1, 2, OSP_GATE_REQUEUE, "kkkDkD"},
		{"..ff", "0000", 2, 2, OSP_GATE_SHRINK, "kkrDrD"},
		{".w..", "0101", 1, 2, OSP_GATE_SHRINK, "krrk"},
		/* the smaller last one has its spare too */
		{".......", "0000111", 1, 2, OSP_GATE_SHRINK, "kkkrkkr"},
		{"....f..", "0000111", 1, 2, OSP_GATE_SHRINK, "kkkrrDkk"},
		{"....ff.", "0000111", 1, 2, OSP_GATE_REQUEUE, "kkkkkDkDk"},
		/* the batch host stays, whatever its speed */
		{"w...", "0011", 1, 2, OSP_GATE_SHRINK, "krkr"},
		{"f...", "0011", 1, 2, OSP_GATE_REQUEUE, "kDkkk"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(many); i++) {
		start_gang(many[i].nodes, many[i].all);
		set_segments(many[i].segments, many[i].in_segment);
		decide();
		if (verdict.kind != many[i].kind || strcmp(fates(), many[i].fates) != 0)
			fail_msg("'%s' in '%s': %d %s", many[i].nodes, many[i].segments,
				 verdict.kind, fates());
		osp_gate_verdict_free(&verdict);
	}
}

/* Tells by trying every set of nodes whether one keeps rank 0 and enough good ones everywhere. */
static bool some_set_would_do(const char *nodes, const char *segments, uint32_t in_segment)
{
	uint32_t count = (uint32_t)strlen(nodes);

	for (uint32_t set = 0; set < 1u << count; set++) {
		bool good = set & 1;

		for (uint32_t s = 0; good && s < NODES_MAX; s++) {
			uint32_t here = 0, kept = 0;

			for (uint32_t r = 0; r < count; r++) {
				if (segments[r] != (char)('0' + s))
					continue;
				here++;
				kept += set >> r & 1;
				good = good && (!(set >> r & 1) || nodes[r] != 'f');
			}
			good = good && kept == (here > in_segment ? here - in_segment : 0);
		}
		if (good)
			return true;
	}
	return false;
}

static void random_segments(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < 3000; round++) {
		char nodes[NODES_MAX + 1], segments[NODES_MAX + 1];
		uint32_t in_segment, stay, parts, count = 0, kept = 0, wrong = 0;

		seed = round + 1;
		random_below(2);
		in_segment = 1 + random_below(2);
		stay = 1 + random_below(3);
		parts = 1 + random_below(NODES_MAX / (stay + in_segment));
		for (uint32_t s = 0; s < parts; s++) {
			uint32_t size =
				in_segment + (s + 1 < parts ? stay : 1 + random_below(stay));

			for (uint32_t i = 0; i < size; i++) {
				nodes[count] = random_below(3) ? '.' : 'f';
				segments[count++] = (char)('0' + s);
			}
		}
		nodes[count] = segments[count] = '\0';
		start_gang(nodes, parts * in_segment);
		set_segments(segments, in_segment);
		decide();
		assert_int_equal(verdict.kind == OSP_GATE_SHRINK,
				 some_set_would_do(nodes, segments, in_segment));
		for (uint32_t r = 0; verdict.kind == OSP_GATE_SHRINK && r < count; r++) {
			const struct osp_gate_sentence *one = osp_gate_sentence(&verdict, r);
			bool keeps = !one || !(one->actions & OSP_GATE_RELEASE);

			kept += keeps;
			wrong += keeps && nodes[r] == 'f';
		}
		assert_int_equal(wrong, 0);
		if (verdict.kind == OSP_GATE_SHRINK)
			assert_int_equal(kept, gang.wanted);
		osp_gate_verdict_free(&verdict);
	}
}

/* The largest gang, all failing: in no time that a gate would notice. */
static void large_gang(void **state)
{
	static struct osp_gate_report many[OSP_GATE_NODES_MAX];
	static const char *list[OSP_GATE_NODES_MAX];
	static uint32_t leaf[OSP_GATE_NODES_MAX];

	(void)state;
	start_gang(".", 0);
	report(0, 'f');
	for (uint32_t r = 0; r < OSP_GATE_NODES_MAX; r++) {
		many[r] = reports[0];
		many[r].rank = r;
		many[r].result = r % 7 ? OSP_VERDICT_PASS : OSP_VERDICT_FAIL;
		list[r] = "n1";
		leaf[r] = r / 16;
	}
	many[0].result = OSP_VERDICT_PASS;
	gang.nodes = list;
	gang.node_count = OSP_GATE_NODES_MAX;
	gang.wanted = OSP_GATE_NODES_MAX * 6 / 7 - 100;
	means.leaf = leaf;
	means.breaker.node_count = OSP_GATE_NODES_MAX;
	assert_int_equal(osp_gate_decide(&gang, many, &policy, &means, &verdict, NULL), 0);
	assert_int_equal(verdict.kind, OSP_GATE_SHRINK);
	assert_true(verdict.breaker);
	osp_gate_verdict_free(&verdict);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts),
		cmocka_unit_test(reasons_are_those_of_the_check),
		cmocka_unit_test(stopped_too_often_is_held),
		cmocka_unit_test(fewest_leaves_then_fastest),
		cmocka_unit_test(breaker_counts_one_kind_in_its_time),
		cmocka_unit_test(breaker_counts_quarantine_for_every_check),
		cmocka_unit_test(reasons_of_ours),
		cmocka_unit_test(random_gangs),
		cmocka_unit_test(as_many_of_each_segment),
		cmocka_unit_test(random_segments),
		cmocka_unit_test(large_gang),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
