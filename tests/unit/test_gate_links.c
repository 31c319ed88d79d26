/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is to blame for a slow or wrong network: single faults by table, random ones by the
 * hundred. */
#include "onespine_config.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/gate/gate_links.h"

#define NODES_MAX 300
#define GBPS	  90.0f

#ifdef OSP_SANITIZED /* slow, and no further path is looked for: the first of the seeds */
#define ROUNDS 400
#else
#define ROUNDS 2000
#endif

/* What is really broken. */
struct network {
	uint32_t node_count;
	float sends[NODES_MAX]; /* share of GBPS; 0: nothing */
	float hears[NODES_MAX];
	bool corrupts[NODES_MAX];	   /* what it sends */
	bool disturbed[NODES_MAX];	   /* others' traffic goes through its adapter */
	uint32_t bad_from, bad_to;	   /* a cable; NOBODY: none */
	uint32_t crowded_from, crowded_to; /* slow in the ring only */
	uint32_t seed;
};

static struct network good_network(uint32_t node_count)
{
	struct network network = {.node_count = node_count,
				  .bad_from = OSP_GATE_NOBODY,
				  .crowded_from = OSP_GATE_NOBODY,
				  .seed = 7};

	for (uint32_t i = 0; i < NODES_MAX; i++)
		network.sends[i] = network.hears[i] = 1;
	return network;
}

static float share(struct network *network)
{
	network->seed = network->seed * 1664525u + 1013904223u;
	return 0.6f + (float)(network->seed >> 8 & 0xff) / 640; /* 0.6 .. 1.0 */
}

static void measure(struct network *network, const struct osp_gate_figures *figures, bool ring)
{
	for (uint32_t i = 0; i < figures->count; i++) {
		struct osp_gate_link *link = &figures->links[i];

		link->gbps = GBPS * share(network) * network->sends[link->from] *
			     network->hears[link->to];
		link->wrong = link->gbps > 0 && network->corrupts[link->from];
		link->crowded = network->disturbed[link->from] || network->disturbed[link->to];
		if ((link->from == network->bad_from && link->to == network->bad_to) ||
		    (ring && link->from == network->crowded_from &&
		     link->to == network->crowded_to))
			link->gbps *= 0.05f;
	}
}

/* Runs both rounds; returns how many links the second one had. */
static uint32_t run(struct network *network, struct osp_gate_blamed *blamed)
{
	struct osp_gate_link ring_links[NODES_MAX], again_links[5 * NODES_MAX];
	struct osp_gate_figures ring = {.links = ring_links}, again = {.links = again_links};
	bool fit[NODES_MAX];
	int64_t count;

	memset(fit, true, sizeof(fit));
	ring.count = osp_gate_ring(fit, network->node_count, ring_links);
	measure(network, &ring, true);
	count = osp_gate_links_again(&ring, network->node_count, again_links);
	assert_in_range(count, 0, 5 * (int64_t)network->node_count);
	again.count = (uint32_t)count;
	for (uint32_t i = 0; i < again.count; i++)
		assert_int_not_equal(again_links[i].from, again_links[i].to);
	measure(network, &again, false);
	assert_int_equal(osp_gate_links_judge(&ring, &again, network->node_count, blamed), 0);
	return again.count;
}

static void nobody_is_blamed_but(const struct network *network,
				 const struct osp_gate_blamed *blamed, uint32_t rank)
{
	for (uint32_t i = 0; i < network->node_count; i++)
		if (i != rank && blamed[i].blame > OSP_GATE_BLAME_LINK)
			fail_msg("rank %u of %u is blamed (%d)", i, network->node_count,
				 blamed[i].blame);
}

static void rings(void **state)
{
	bool fit[5] = {true, false, true, true, false};
	struct osp_gate_link links[5];

	(void)state;
	assert_int_equal(osp_gate_ring(fit, 5, links), 3);
	assert_int_equal(links[0].from, 0);
	assert_int_equal(links[0].to, 2);
	assert_int_equal(links[2].from, 3);
	assert_int_equal(links[2].to, 0);
	fit[2] = fit[3] = false;
	assert_int_equal(osp_gate_ring(fit, 5, links), 0);
}

static void a_good_network_is_measured_once(void **state)
{
	struct osp_gate_blamed blamed[NODES_MAX];

	(void)state;
	for (uint32_t count = 2; count <= NODES_MAX; count += 7) {
		struct network network = good_network(count);

		assert_int_equal(run(&network, blamed), 0);
		nobody_is_blamed_but(&network, blamed, OSP_GATE_NOBODY);
		assert_true(blamed[0].speed > 0.5f && blamed[0].speed <= 2);
	}
}

static void single_faults(void **state)
{
	static const struct {
		const char *what;
		float sends, hears;
		bool corrupts;
		enum osp_gate_blame blame;
	} cases[] = {
		{"sends slowly", 0.1f, 1, false, OSP_GATE_BLAME_SENDS},
		{"hears slowly", 1, 0.1f, false, OSP_GATE_BLAME_RECEIVES},
		{"sends nothing", 0, 1, false, OSP_GATE_BLAME_SENDS},
		{"hears nothing", 1, 0, false, OSP_GATE_BLAME_RECEIVES},
		{"slow both ways", 0.1f, 0.1f, false, OSP_GATE_BLAME_RECEIVES},
		{"sends wrong bytes", 1, 1, true, OSP_GATE_BLAME_SENDS},
	};
	static const uint32_t sizes[] = {4, 5, 16, 64, 257};
	struct osp_gate_blamed blamed[NODES_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t n = 0; n < sizeof(sizes) / sizeof(sizes[0]); n++)
			for (uint32_t rank = 0; rank < sizes[n]; rank += 1 + sizes[n] / 5) {
				struct network network = good_network(sizes[n]);

				network.sends[rank] = cases[i].sends;
				network.hears[rank] = cases[i].hears;
				network.corrupts[rank] = cases[i].corrupts;
				run(&network, blamed);
				if (blamed[rank].blame != cases[i].blame)
					fail_msg("%s: rank %u of %u: %d", cases[i].what, rank,
						 sizes[n], blamed[rank].blame);
				assert_int_equal(blamed[rank].wrong, cases[i].corrupts);
				assert_true(blamed[rank].partners >= 2);
				nobody_is_blamed_but(&network, blamed, rank);
			}
}

/* A cable between two good nodes is named, and nobody is blamed; one that was only crowded is not
 * even named. Between two nodes alone nobody can tell whose fault it is. */
static void links_are_named(void **state)
{
	struct osp_gate_blamed blamed[NODES_MAX];
	struct network network = good_network(16);

	(void)state;
	network.bad_from = 4;
	network.bad_to = 5;
	assert_int_equal(run(&network, blamed), 5);
	nobody_is_blamed_but(&network, blamed, OSP_GATE_NOBODY);
	assert_int_equal(blamed[4].blame, OSP_GATE_BLAME_LINK);
	assert_int_equal(blamed[4].partner, 5);
	assert_int_equal(blamed[5].blame, OSP_GATE_BLAME_LINK);
	assert_int_equal(blamed[6].blame, OSP_GATE_BLAME_NONE);

	network = good_network(16);
	network.crowded_from = 4;
	network.crowded_to = 5;
	assert_int_equal(run(&network, blamed), 5);
	for (uint32_t i = 0; i < 16; i++)
		assert_int_equal(blamed[i].blame, OSP_GATE_BLAME_NONE);

	network = good_network(2);
	network.sends[0] = 0;
	run(&network, blamed);
	nobody_is_blamed_but(&network, blamed, OSP_GATE_NOBODY);
	assert_int_equal(blamed[0].blame, OSP_GATE_BLAME_LINK);
	assert_int_equal(blamed[1].blame, OSP_GATE_BLAME_LINK);
}

/* Up to a fifth of the nodes broken in any way: no good node is ever blamed, and where the broken
 * are few every one of them is. */
static void random_faults(void **state)
{
	static struct osp_gate_blamed blamed[NODES_MAX];
	uint32_t seed = 99;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct network network;
		bool broken[NODES_MAX] = {false};
		uint32_t count, faults;

		seed = seed * 1664525u + 1013904223u;
		count = 8 + (seed >> 8) % (NODES_MAX - 8);
		network = good_network(count);
		network.seed = seed;
		faults = (seed >> 20) % (count / 5 + 1);
		for (uint32_t i = 0; i < faults; i++) {
			uint32_t rank;

			seed = seed * 1664525u + 1013904223u;
			rank = (seed >> 8) % count;
			broken[rank] = true;
			switch (seed >> 28 & 3) {
			case 0:
				network.sends[rank] = 0.05f;
				break;
			case 1:
				network.hears[rank] = 0;
				break;
			case 2:
				network.corrupts[rank] = true;
				break;
			default:
				network.sends[rank] = network.hears[rank] = 0.08f;
			}
		}
		run(&network, blamed);
		for (uint32_t i = 0; i < count; i++) {
			if (!broken[i] && blamed[i].blame > OSP_GATE_BLAME_LINK)
				fail_msg("round %d: good rank %u of %u (%u broken) is blamed",
					 round, i, count, faults);
			if (broken[i] && blamed[i].blame == OSP_GATE_BLAME_NONE)
				fail_msg("round %d: bad rank %u of %u (%u broken) is not seen",
					 round, i, count, faults);
		}
	}
}

/* A node that looks slow while others' traffic goes through its adapter is not blamed, nor is who
 * measured with it. */
static void what_is_not_quiet_is_not_blamed(void **state)
{
	struct osp_gate_blamed blamed[NODES_MAX];

	(void)state;
	for (uint32_t count = 4; count < 40; count += 5)
		for (uint32_t rank = 0; rank < count; rank += 3) {
			struct network network = good_network(count);

			network.sends[rank] = 0;
			network.hears[rank] = 0.1f;
			network.disturbed[rank] = true;
			run(&network, blamed);
			nobody_is_blamed_but(&network, blamed, OSP_GATE_NOBODY);
			for (uint32_t i = 0; i < count; i++)
				assert_int_not_equal(blamed[i].blame, OSP_GATE_BLAME_LINK);
			assert_int_equal(blamed[rank].blame, OSP_GATE_BLAME_UNSURE);
			/* somebody else who is slow is found all the same */
			network.sends[(rank + 2) % count] = 0.05f;
			run(&network, blamed);
			nobody_is_blamed_but(&network, blamed, (rank + 2) % count);
		}
}

/* Wrong bytes count whatever else went on; slowness beside them drains nobody. */
static void wrong_bytes_count_in_any_case(void **state)
{
	struct network network = good_network(8);
	struct osp_gate_blamed blamed[NODES_MAX];

	(void)state;
	network.corrupts[3] = true;
	for (int disturbed = 0; disturbed < 2; disturbed++) {
		network.disturbed[3] = disturbed;
		run(&network, blamed);
		assert_int_equal(blamed[3].blame, OSP_GATE_BLAME_SENDS);
		assert_true(blamed[3].wrong);
	}
	/* what it hears is only slow */
	network.disturbed[3] = false;
	network.hears[3] = 0.05f;
	run(&network, blamed);
	assert_true(blamed[3].blame >= OSP_GATE_BLAME_SENDS);
	assert_true(blamed[3].wrong);
	network.corrupts[3] = false;
	run(&network, blamed);
	assert_int_equal(blamed[3].blame, OSP_GATE_BLAME_RECEIVES);
	assert_false(blamed[3].wrong);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings),
		cmocka_unit_test(a_good_network_is_measured_once),
		cmocka_unit_test(single_faults),
		cmocka_unit_test(links_are_named),
		cmocka_unit_test(random_faults),
		cmocka_unit_test(what_is_not_quiet_is_not_blamed),
		cmocka_unit_test(wrong_bytes_count_in_any_case),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
