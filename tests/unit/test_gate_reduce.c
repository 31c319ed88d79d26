/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All-reduces between nodes: what a sum says, who is paired with whom, and who is blamed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/gate/gate_reduce.h"

#define NODES_MAX 200
#define GBPS	  440.0f
#define LEAST	  250.0f

/* --- one sum ---------------------------------------------------------------------------------- */

static void physics_bounds_a_sum(void **state)
{
	(void)state;
	assert_true(osp_gate_reduce_most(400, 16) == 750);
	assert_true(osp_gate_reduce_most(400, 2) == 400);
	assert_true(osp_gate_reduce_most(400, 1) <= 0);
	assert_true(osp_gate_reduce_most(0, 16) <= 0);
}

static void sums_are_judged(void **state)
{
	static const struct {
		const char *what;
		float gbps[2], least[2], network[2];
		uint32_t wrong;
		bool broke;
		enum osp_gate_reduced state;
		uint32_t rank;
	} cases[] = {
		{"well",
		 {440, 441},
		 {250, 250},
		 {400, 400},
		 0,
		 false,
		 OSP_GATE_REDUCED_WELL,
		 OSP_GATE_NOBODY},
		{"the slower figure counts",
		 {240, 441},
		 {250, 250},
		 {400, 400},
		 0,
		 false,
		 OSP_GATE_REDUCED_SLOW,
		 OSP_GATE_NOBODY},
		{"the lower limit counts",
		 {240, 240},
		 {250, 200},
		 {400, 400},
		 0,
		 false,
		 OSP_GATE_REDUCED_WELL,
		 OSP_GATE_NOBODY},
		{"one without a limit",
		 {10, 10},
		 {250, 0},
		 {400, 400},
		 0,
		 false,
		 OSP_GATE_REDUCED_UNJUDGED,
		 OSP_GATE_NOBODY},
		{"beyond the slower node's adapters",
		 {440, 440},
		 {250, 20},
		 {400, 50},
		 0,
		 false,
		 OSP_GATE_REDUCED_IMPOSSIBLE,
		 OSP_GATE_NOBODY},
		{"wrong, however fast",
		 {440, 440},
		 {250, 250},
		 {400, 400},
		 3,
		 false,
		 OSP_GATE_REDUCED_WRONG,
		 7},
		{"no figure",
		 {440, 440},
		 {250, 250},
		 {400, 400},
		 3,
		 true,
		 OSP_GATE_REDUCED_BROKE,
		 7},
	};
	struct osp_gate_member members[] = {{2, 0, 8}, {3, 1, 8}, {7, 0, 8}};
	struct osp_gate_reduce order = {.group_count = 2, .members = members, .member_count = 3};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_gate_part ready[8] = {{.rank = 0}}, done[8] = {{.rank = 0}};
		struct osp_gate_sum sum;

		for (int n = 0; n < 2; n++) {
			uint32_t rank = n ? 7 : 2;

			ready[rank].least_gbps = cases[i].least[n];
			ready[rank].network_gbps = cases[i].network[n];
			done[rank].state = OSP_GATE_PART_DONE;
			done[rank].gbps = cases[i].gbps[n];
		}
		done[7].wrong = cases[i].wrong;
		if (cases[i].broke)
			done[7].state = OSP_GATE_PART_BROKE;
		sum = osp_gate_reduce_judge(&order, 0, ready, done);
		if (sum.state != cases[i].state || sum.rank != cases[i].rank)
			fail_msg("%s: %d, rank %u", cases[i].what, sum.state, sum.rank);
	}
}

/* --- pairs ------------------------------------------------------------------------------------ */

struct fabric {
	uint32_t node_count;
	float share[NODES_MAX]; /* of GBPS that a node is good for */
	bool corrupts[NODES_MAX];
	uint32_t cut_from, cut_to; /* a slow link; NOBODY: none */
	bool unfit[NODES_MAX];
};

static struct fabric good_fabric(uint32_t node_count)
{
	struct fabric fabric = {.node_count = node_count, .cut_from = OSP_GATE_NOBODY};

	for (uint32_t i = 0; i < NODES_MAX; i++)
		fabric.share[i] = 1;
	return fabric;
}

static void measure(const struct fabric *fabric, struct osp_gate_link *pair)
{
	float from = fabric->share[pair->from], to = fabric->share[pair->to];

	pair->gbps = GBPS * (from < to ? from : to);
	if (pair->from == fabric->cut_from && pair->to == fabric->cut_to)
		pair->gbps *= 0.05f;
	pair->wrong = fabric->corrupts[pair->from] || fabric->corrupts[pair->to];
}

/* All rounds; returns how many there were. */
static int run(const struct fabric *fabric, float least, struct osp_gate_blamed *blamed)
{
	struct osp_gate_link done[2 * NODES_MAX], pairs[NODES_MAX / 2 + 1];
	uint32_t count = 0, first = 0;
	bool fit[NODES_MAX];
	int round;

	for (uint32_t i = 0; i < NODES_MAX; i++)
		fit[i] = !fabric->unfit[i];
	for (round = 0; round < OSP_GATE_PAIR_ROUNDS; round++) {
		bool seen[NODES_MAX] = {false};
		int64_t more = osp_gate_pairs_next(fit, fabric->node_count, done, count,
						   osp_gate_pairs_limit(done, first, least), pairs);

		assert_in_range(more, 0, fabric->node_count / 2);
		if (!more)
			break;
		for (int64_t i = 0; i < more; i++) {
			assert_true(pairs[i].from < pairs[i].to &&
				    pairs[i].to < fabric->node_count);
			assert_true(fit[pairs[i].from] && fit[pairs[i].to]);
			assert_false(seen[pairs[i].from] || seen[pairs[i].to]);
			seen[pairs[i].from] = seen[pairs[i].to] = true;
			for (uint32_t n = 0; n < count; n++)
				assert_false(done[n].from == pairs[i].from &&
					     done[n].to == pairs[i].to);
			measure(fabric, &pairs[i]);
			done[count + (uint32_t)i] = pairs[i];
		}
		count += (uint32_t)more;
		first = round ? first : count;
	}
	assert_int_equal(
		osp_gate_pairs_judge(done, first, count, least, fabric->node_count, blamed), 0);
	return round;
}

static void only_these_are_blamed(const struct fabric *fabric, const struct osp_gate_blamed *blamed,
				  uint32_t one, uint32_t other)
{
	for (uint32_t i = 0; i < fabric->node_count; i++)
		if ((blamed[i].blame > OSP_GATE_BLAME_LINK) != (i == one || i == other))
			fail_msg("rank %u of %u: %d by %u partners", i, fabric->node_count,
				 blamed[i].blame, blamed[i].partners);
}

static void a_bad_node_is_blamed_by_two_partners(void **state)
{
	struct osp_gate_blamed blamed[NODES_MAX];

	(void)state;
	for (uint32_t count = 3; count < 40; count++)
		for (uint32_t rank = 0; rank < count; rank++) {
			struct fabric fabric = good_fabric(count);

			fabric.share[rank] = 0.1f;
			run(&fabric, LEAST, blamed);
			only_these_are_blamed(&fabric, blamed, rank, rank);
			assert_int_equal(blamed[rank].partners, 2);
			assert_false(blamed[rank].wrong);
			fabric.share[rank] = 1;
			fabric.corrupts[rank] = true;
			run(&fabric, 0, blamed);
			only_these_are_blamed(&fabric, blamed, rank, rank);
			assert_true(blamed[rank].wrong);
		}
}

/* Half of the speed is nothing beside a quarter of the median, and too little for the limit. */
static void the_limit_counts_beside_the_median(void **state)
{
	struct fabric fabric = good_fabric(8);
	struct osp_gate_blamed blamed[NODES_MAX];

	(void)state;
	fabric.share[5] = 0.5f;
	run(&fabric, LEAST, blamed);
	only_these_are_blamed(&fabric, blamed, 5, 5);
	run(&fabric, 0, blamed);
	only_these_are_blamed(&fabric, blamed, OSP_GATE_NOBODY, OSP_GATE_NOBODY);
}

static void nobody_is_blamed_without_proof(void **state)
{
	struct osp_gate_blamed blamed[NODES_MAX];
	struct fabric fabric = good_fabric(2);

	(void)state;
	fabric.share[1] = 0.1f;
	assert_int_equal(run(&fabric, LEAST, blamed), 1);
	only_these_are_blamed(&fabric, blamed, OSP_GATE_NOBODY, OSP_GATE_NOBODY);
	assert_int_equal(blamed[0].blame, OSP_GATE_BLAME_LINK);

	fabric = good_fabric(12); /* a link between two that are good with others */
	fabric.cut_from = 4;
	fabric.cut_to = 5;
	assert_int_equal(run(&fabric, LEAST, blamed), 2);
	only_these_are_blamed(&fabric, blamed, OSP_GATE_NOBODY, OSP_GATE_NOBODY);
	assert_int_equal(blamed[4].blame, OSP_GATE_BLAME_LINK);
	assert_int_equal(blamed[4].partner, 5);
	assert_int_equal(blamed[3].blame, OSP_GATE_BLAME_NONE);

	fabric = good_fabric(12); /* all of them slow: nobody is there to prove anything by */
	for (uint32_t i = 0; i < 12; i++)
		fabric.share[i] = 0.4f;
	run(&fabric, LEAST, blamed);
	only_these_are_blamed(&fabric, blamed, OSP_GATE_NOBODY, OSP_GATE_NOBODY);

	fabric = good_fabric(12);
	assert_int_equal(run(&fabric, LEAST, blamed), 1);
	only_these_are_blamed(&fabric, blamed, OSP_GATE_NOBODY, OSP_GATE_NOBODY);
}

static void two_bad_nodes_are_both_blamed(void **state)
{
	struct osp_gate_blamed blamed[NODES_MAX];

	(void)state;
	for (uint32_t count = 5; count < 24; count++)
		for (uint32_t one = 0; one < count; one++)
			for (uint32_t other = one + 1; other < count; other++) {
				struct fabric fabric = good_fabric(count);

				fabric.share[one] = 0.1f;
				fabric.share[other] = 0.1f;
				run(&fabric, LEAST, blamed);
				for (uint32_t i = 0; i < count; i++)
					if (i != one && i != other &&
					    blamed[i].blame > OSP_GATE_BLAME_LINK)
						fail_msg("%u of %u, for %u and %u", i, count, one,
							 other);
				if (count >= 6)
					only_these_are_blamed(&fabric, blamed, one, other);
			}
}

static void who_is_unfit_is_left_out(void **state)
{
	struct fabric fabric = good_fabric(9);
	struct osp_gate_blamed blamed[NODES_MAX];

	(void)state;
	fabric.unfit[0] = fabric.unfit[4] = true;
	fabric.share[8] = 0.1f;
	run(&fabric, LEAST, blamed);
	only_these_are_blamed(&fabric, blamed, 8, 8);
}

static void large_gangs_too(void **state)
{
	struct osp_gate_blamed blamed[NODES_MAX];

	(void)state;
	for (uint32_t seed = 1; seed < 200; seed++) {
		struct fabric fabric = good_fabric(NODES_MAX - seed % 2);
		uint32_t rank = seed * 7919 % fabric.node_count;

		fabric.share[rank] = 0.1f;
		run(&fabric, LEAST, blamed);
		only_these_are_blamed(&fabric, blamed, rank, rank);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(physics_bounds_a_sum),
		cmocka_unit_test(sums_are_judged),
		cmocka_unit_test(a_bad_node_is_blamed_by_two_partners),
		cmocka_unit_test(the_limit_counts_beside_the_median),
		cmocka_unit_test(nobody_is_blamed_without_proof),
		cmocka_unit_test(two_bad_nodes_are_both_blamed),
		cmocka_unit_test(who_is_unfit_is_left_out),
		cmocka_unit_test(large_gangs_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
