/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_layout_nodes.c - layouts on nodes: segments, orders of nodes, what crosses which level
 *
 * Figures are those of papers and programs that are named beside them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/layout/layout_nodes.h"
#include "lib/layout/layout_traffic.h"
#include "tests/fabric.h"

#define NODES_MAX 64
#define LEAF	  1
#define SPINE	  2

static struct osp_layout layout_of(const char *text, uint32_t gpus)
{
	struct osp_error error = {.text = ""};
	struct osp_layout layout;

	if (osp_layout_parse(text, &layout, &error) ||
	    osp_layout_complete(&layout, 0, gpus, &error))
		fail_msg("%s: %s", text, error.text);
	return layout;
}

static struct osp_model model_of(const char *text)
{
	struct osp_error error = {.text = ""};
	struct osp_model model = {.hidden = 0};

	if (osp_model_parse(text, &model, &error) || osp_model_complete(&model, &error))
		fail_msg("%s: %s", text, error.text);
	return model;
}

static struct osp_arrangement arranged(const struct osp_layout *layout, uint32_t gpus,
				       enum osp_inside inside)
{
	struct osp_arrangement arrangement;
	struct osp_node_grid grid;
	struct osp_error error = {.text = ""};

	if (osp_layout_node_grid(layout, gpus, &grid, &error))
		fail_msg("%s", error.text);
	osp_arrange(&grid, inside, &arrangement);
	return arrangement;
}

static void assert_near(double value, double expected, double within)
{
	if (fabs(value - expected) > within)
		fail_msg("%g is not %g (within %g)", value, expected, within);
}

/* --- traffic ---------------------------------------------------------------------------------- */

/* Alibaba's HPN, table 3: GPT-3 175B with tp 8, pp 8, dp 512. */
static void test_gpt3(void **state)
{
	struct osp_layout layout = layout_of("tp8,pp8,dp512", 8);
	struct osp_model model = model_of("h=12288,l=96,s=2048,b=1,P=175G");

	(void)state;
	assert_near(osp_traffic_weights(&model, &layout) * model.gradient_bytes, 5.47e9, 0.005e9);
	assert_near(osp_traffic_hop_bytes(&model, &layout), 6.29e6, 0.005e6);
}

#define LLAMA3                                                                                     \
	"h=16384,l=126,s=8192,b=1,M=16,ffn=53248,swiglu=1,heads=128,kv=8,vocab=128256,g=4,dp="     \
	"zero1"

/* Llama 3 405B on 16,384 GPUs (arXiv 2407.21783, table 4). */
static void test_llama3(void **state)
{
	struct osp_layout layout = layout_of("tp8,pp16,dp128,order=tp-pp-dp", 8);
	struct osp_model model = model_of(LLAMA3 ",tflops=400");

	(void)state;
	assert_int_equal(osp_layout_ranks(&layout), 16384);
	assert_near(osp_model_parameters(&model), 405.9e9, 0.1e9);
	assert_near(osp_traffic_weights(&model, &layout), 3.17e9, 0.005e9);
	assert_near(osp_traffic_bytes(&model, &layout, OSP_GROUP_TP), 236.8e9, 0.1e9);
	assert_near(osp_traffic_bytes(&model, &layout, OSP_GROUP_TP) / 16 / 7.875, 1.879e9,
		    0.001e9);
	assert_near(osp_traffic_hop_bytes(&model, &layout), 33.55e6, 0.01e6);
	assert_near(osp_traffic_bytes(&model, &layout, OSP_GROUP_PP), 1.07e9, 0.005e9);
	assert_near(osp_traffic_bytes(&model, &layout, OSP_GROUP_DP), 18.88e9, 0.02e9);
	assert_near(osp_model_step_s(&model, &layout), 6.23, 0.01);
}

/* A replica, the set that pods of 384 nodes must hold whole. */
static void test_llama3_replica(void **state)
{
	struct osp_layout layout = layout_of("tp8,pp16,dp128,order=tp-pp-dp", 8);
	struct osp_arrangement arrangement = arranged(&layout, 8, OSP_PIPELINE_INSIDE);

	(void)state;
	assert_int_equal(osp_arrangement_run_of(&arrangement, OSP_GROUP_PP), 16);
	assert_int_equal(384 % 16, 0);
	assert_int_equal((128 + 384 / 16 - 1) / (384 / 16), 6);
	layout = layout_of("tp8,cp16,pp16,dp8,order=tp-pp-dp", 8);
	arrangement = arranged(&layout, 8, OSP_PIPELINE_INSIDE);
	assert_int_equal(osp_arrangement_run_of(&arrangement, OSP_GROUP_PP), 256);
	assert_int_equal(384 / 256, 1);
}

/* DeepSeek-V3 (arXiv 2412.19437, 3.2): 2,048 GPUs, PP16, EP64, a token to at most 4 nodes. */
static void test_deepseek(void **state)
{
	struct osp_layout layout = layout_of("pp16,dp128,ep64", 8);
	struct osp_arrangement arrangement = arranged(&layout, 8, OSP_PIPELINE_INSIDE);
	struct osp_model model = model_of(
		"h=7168,l=61,s=4096,experts=256,topk=8,nodes=4,dispatch=1,expert-ffn=2048");

	(void)state;
	assert_int_equal(arrangement.nodes, 256);
	assert_int_equal(arrangement.block, 8);
	assert_int_equal(osp_arrangement_run_of(&arrangement, OSP_GROUP_EP), 8);
	assert_int_equal(osp_arrangement_run_of(&arrangement, OSP_GROUP_PP), 128);
	assert_false(arrangement.natural);
	assert_near(osp_traffic_token_bytes(&model, &layout, false), 28672, 0.5);
	assert_near(osp_traffic_token_bytes(&model, &layout, true), 57344, 0.5);
	arrangement = arranged(&layout, 8, OSP_DATA_INSIDE);
	assert_int_equal(osp_arrangement_run_of(&arrangement, OSP_GROUP_DP), 16);
	assert_true(arrangement.natural);
}

static void test_replicas_and_experts(void **state)
{
	struct osp_layout layout = layout_of("dp8,dpr2,order=torchtitan", 8);
	struct osp_model model = model_of("h=4096,l=32,s=4096,P=8G,dp=zero3");

	(void)state;
	assert_near(osp_traffic_bytes(&model, &layout, OSP_GROUP_SHARD), 0.75 * 8e9 * 6, 1);
	assert_near(osp_traffic_bytes(&model, &layout, OSP_GROUP_REPLICA), 8e9 * 2 / 4, 1);
	assert_near(osp_traffic_bytes(&model, &layout, OSP_GROUP_DP), 0, 0);
	layout = layout_of("cp2,dp4", 8);
	model = model_of("h=1024,l=8,s=1024,heads=8,kv=2,P=8G,M=4");
	assert_near(osp_traffic_bytes(&model, &layout, OSP_GROUP_DP), 0, 0);
	assert_near(osp_traffic_bytes(&model, &layout, OSP_GROUP_DP_CP), 2 * 7 / 8.0 * 8e9 * 2, 1);
	/* 4 micro-batches, 8 layers, keys and values of half a sequence, 256 wide, once and
	 * twice */
	assert_near(osp_traffic_bytes(&model, &layout, OSP_GROUP_CP),
		    4 * 8 * 3 * 2 * 512.0 * 256 * 2, 1);
	layout = layout_of("dp8,ep4", 8);
	model = model_of("h=1024,l=8,s=1024,experts=8,topk=2,expert-ffn=512");
	assert_near(osp_traffic_bytes(&model, &layout, OSP_GROUP_EP),
		    8 * 4 * 1024.0 * 2 * 1024 * 3 / 4 * 2, 1);
	assert_near(osp_traffic_bytes(&model, &layout, OSP_GROUP_EDP),
		    2 * (2 - 1) / 2.0 * (8.0 * 8 * 2 * 1024 * 512 / 4) * 2, 1);
}

/* --- models ----------------------------------------------------------------------------------- */

static const struct {
	const char *text;
	int column;
	const char *says;
} refused_models[] = {
	{"", 1, "a key and a number are expected, as in h=12288"},
	{"h=12288,,l=2", 9, "a key and a number are expected, as in h=12288"},
	{"h=12288,x=3", 9,
	 "unknown key 'x' (h, l, s, b, M, ffn, swiglu, heads, kv, vocab, experts, topk, "
	 "expert-ffn, "
	 "nodes, P, v, w, g, a, dispatch, tflops, dp)"},
	{"h=12288,layer=3", 9, NULL},
	{"h=12288,haeds=3", 9,
	 "unknown key 'haeds'; did you mean heads (h, l, s, b, M, ffn, swiglu, heads, kv, vocab, "
	 "experts, topk, expert-ffn, nodes, P, v, w, g, a, dispatch, tflops, dp)"},
	{"h", 1, "'h' has no value, as in h=12288"},
	{"h=0", 1, "h=0: a number above 0, as in 12288, 175e9 or 175G"},
	{"h=-5", 1, "h=-5: a number above 0, as in 12288, 175e9 or 175G"},
	{"h=0x10", 1, "h=0x10: a number above 0, as in 12288, 175e9 or 175G"},
	{"h=12q", 1, "h=12q: a number above 0, as in 12288, 175e9 or 175G"},
	{"h=1e99", 1, "h=1e99: a number above 0, as in 12288, 175e9 or 175G"},
	{"h=nan", 1, "h=nan: a number above 0, as in 12288, 175e9 or 175G"},
	{"h=1,h=2", 5, "'h' is said twice"},
	{"dp=zero", 1, "dp=zero: ddp, zero1 or zero3; did you mean zero1"},
	{"h=1 2", 4, "a blank is not allowed in a model; leave it out"},
};

static void test_refused_models(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused_models) / sizeof(refused_models[0]); i++) {
		struct osp_model model = {.hidden = 7};
		struct osp_error error = {.text = ""};

		assert_int_equal(osp_model_parse(refused_models[i].text, &model, &error), -1);
		if (refused_models[i].says)
			assert_string_equal(error.text, refused_models[i].says);
		assert_int_equal(error.column, refused_models[i].column);
		assert_true(model.hidden == 7 && model.layers == 0);
	}
}

static void test_missing_keys(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"l=96,s=2048", "h, the hidden size, is missing, as in h=12288,l=96,s=2048"},
		{"h=1,s=2048", "l, the number of layers, is missing, as in h=12288,l=96,s=2048"},
		{"h=1,l=1", "s, the tokens of a sequence, is missing, as in h=12288,l=96,s=2048"},
		{"h=1,l=1,s=1,kv=8",
		 "kv, the heads of keys, needs heads, those of queries, beside it"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_model model = {.hidden = 0};
		struct osp_error error = {.text = ""};

		assert_int_equal(osp_model_parse(cases[i].text, &model, &error), 0);
		assert_int_equal(osp_model_complete(&model, &error), -1);
		assert_string_equal(error.text, cases[i].says);
	}
}

/* --- orders of nodes -------------------------------------------------------------------------- */

/* 64 nodes gpu-1 .. gpu-64, 16 a leaf. */
static struct osp_topology *four_leaves(void)
{
	static char names[NODES_MAX][16], leaves[NODES_MAX][16];
	struct fabric_node nodes[NODES_MAX] = {{NULL, {NULL}}};

	for (int i = 0; i < NODES_MAX; i++) {
		snprintf(names[i], sizeof(names[i]), "gpu-%d", i + 1);
		snprintf(leaves[i], sizeof(leaves[i]), "leaf%d", i / 16 + 1);
		nodes[i] = (struct fabric_node){names[i], {leaves[i]}};
	}
	return fabric_from(nodes, NODES_MAX, 1);
}

struct crossing {
	double pp_bytes, dp_bytes;
	uint32_t pp_most, dp_most;
};

static struct crossing crossing_of(const char *text, const struct osp_topology *topology,
				   const uint32_t *node_at)
{
	struct osp_layout layout = layout_of(text, 8);
	struct osp_model model = model_of("h=12288,l=96,s=2048,b=1,M=64,P=175e9");
	struct osp_spread pp, dp;

	assert_int_equal(osp_spread(&layout, 8, OSP_GROUP_PP, topology, node_at, &model, &pp), 0);
	assert_int_equal(osp_spread(&layout, 8, OSP_GROUP_DP, topology, node_at, &model, &dp), 0);
	return (struct crossing){pp.bytes[LEAF], dp.bytes[LEAF], pp.most[LEAF], dp.most[LEAF]};
}

static struct crossing arranged_crossing(const char *text, enum osp_inside inside,
					 const struct osp_topology *topology)
{
	struct osp_layout layout = layout_of(text, 8);
	struct osp_arrangement arrangement = arranged(&layout, 8, inside);
	uint32_t room[] = {1, 16}, nodes[NODES_MAX], node_at[NODES_MAX];
	struct osp_segments segments;

	for (uint32_t i = 0; i < NODES_MAX; i++)
		nodes[i] = i;
	osp_arrangement_segments(&arrangement, room, 1, &segments);
	assert_int_equal(segments.count, 1);
	assert_int_equal(segments.segment[0].nodes, 8);
	assert_int_equal(osp_node_order(&arrangement, &segments, topology, nodes, 0, node_at), 0);
	return crossing_of(text, topology, node_at);
}

/* GPT-3 on 64 nodes in four leaves: bytes a step over the leaves, by order. */
static void test_which_crosses(void **state)
{
	struct osp_topology *topology = four_leaves();
	struct crossing crossing;

	(void)state;
	crossing = arranged_crossing("tp8,pp8,dp8", OSP_DATA_INSIDE, topology);
	assert_int_equal(crossing.pp_most, 4);
	assert_int_equal(crossing.dp_most, 1);
	assert_near(crossing.pp_bytes, 154.6e9, 0.05e9);
	assert_near(crossing.dp_bytes, 0, 0);
	crossing = arranged_crossing("tp8,pp8,dp8", OSP_PIPELINE_INSIDE, topology);
	assert_int_equal(crossing.pp_most, 1);
	assert_int_equal(crossing.dp_most, 4);
	assert_near(crossing.pp_bytes, 0, 0);
	assert_near(crossing.dp_bytes, 2450e9, 0.5e9);
	crossing = arranged_crossing("tp8,pp8,dp8,order=tp-pp-dp", OSP_PIPELINE_INSIDE, topology);
	assert_near(crossing.pp_bytes, 0, 0);
	assert_near(crossing.dp_bytes, 2450e9, 0.5e9);
	osp_topology_free(topology);
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* torchrun's c10d sorts names as strings, and a list may go round the leaves. */
static void test_orders_of_others(void **state)
{
	struct osp_topology *topology = four_leaves();
	const char *names[NODES_MAX];
	uint32_t node_at[NODES_MAX];
	struct crossing crossing;

	(void)state;
	for (uint32_t i = 0; i < NODES_MAX; i++)
		names[i] = osp_topology_node_name(topology, i);
	qsort(names, NODES_MAX, sizeof(names[0]), by_bytes);
	for (uint32_t i = 0; i < NODES_MAX; i++)
		node_at[i] = osp_topology_find_node(topology, names[i]);
	crossing = crossing_of("tp8,pp8,dp8", topology, node_at);
	assert_near(crossing.pp_bytes, 193.3e9, 0.1e9);
	assert_near(crossing.dp_bytes, 1225e9, 0.5e9);
	assert_int_equal(crossing.pp_most, 4);
	assert_int_equal(crossing.dp_most, 3);
	for (uint32_t i = 0; i < NODES_MAX; i++)
		node_at[i] = i % 4 * 16 + i / 4;
	crossing = crossing_of("tp8,pp8,dp8", topology, node_at);
	assert_near(crossing.pp_bytes, 0, 0);
	assert_near(crossing.dp_bytes, 4900e9, 1e9);
	osp_topology_free(topology);
}

/* Sets of unequal size, as dlrover's greedy has them (its pull requests 1740 and 1746). */
static void test_unequal_sets(void **state)
{
	static const struct {
		const char *layout;
		uint32_t sizes[3];
		const char *stages;
	} cases[] = {
		{"pp2,dp32,ep16", {4, 2, 2}, "1 1 2 2 / 1 1 3 3"},
		{"pp2,dp40,ep8", {6, 2, 2}, "1 1 1 2 3 / 1 1 1 2 3"},
		{"pp2,dp32,ep8", {5, 3, 0}, "1 1 2 1 / 1 1 2 2"},
	};
	static const char *const leaves[] = {"1", "2", "3"};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_layout layout = layout_of(cases[i].layout, 8);
		struct osp_arrangement arrangement = arranged(&layout, 8, OSP_PIPELINE_INSIDE);
		struct osp_segments segments = {.count = 2};
		struct fabric_node fabric[NODES_MAX] = {{NULL, {NULL}}};
		uint32_t nodes[NODES_MAX], node_at[NODES_MAX], count = 0;
		static char names[NODES_MAX][8];
		struct osp_topology *topology;
		char text[128] = "";

		for (uint32_t leaf = 0; leaf < 3; leaf++) {
			for (uint32_t n = 0; n < cases[i].sizes[leaf]; n++, count++) {
				snprintf(names[count], sizeof(names[count]), "n%02u", count);
				fabric[count] = (struct fabric_node){names[count], {leaves[leaf]}};
				nodes[count] = count;
			}
		}
		assert_int_equal(arrangement.nodes, count);
		topology = fabric_from(fabric, count, 1);
		segments.segment[0] = (struct osp_segment){LEAF, arrangement.block};
		segments.segment[1] = (struct osp_segment){
			LEAF, osp_arrangement_run_of(&arrangement, OSP_GROUP_PP)};
		assert_int_equal(
			osp_node_order(&arrangement, &segments, topology, nodes, 0, node_at), 0);
		for (uint32_t r = 0; r < count; r++)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
				 r == count / 2 ? " / "
				 : r		? " "
						: "",
				 fabric[node_at[r]].domains[0]);
		assert_string_equal(text, cases[i].stages);
		osp_topology_free(topology);
	}
}

/* What leaves are left with makes pipelines within a spine, as far as it goes. */
static void test_rest_in_a_spine(void **state)
{
	/* spines with 3 + 2, 2 + 2 and 3 nodes; pipelines of 4 */
	static const struct fabric_node fabric[] = {
		{"n01", {"a", "s1"}}, {"n02", {"a", "s1"}}, {"n03", {"a", "s1"}},
		{"n04", {"b", "s1"}}, {"n05", {"b", "s1"}}, {"n06", {"c", "s2"}},
		{"n07", {"c", "s2"}}, {"n08", {"d", "s2"}}, {"n09", {"d", "s2"}},
		{"n10", {"e", "s3"}}, {"n11", {"e", "s3"}}, {"n12", {"e", "s3"}},
	};
	struct osp_topology *topology = fabric_from(fabric, 12, 2);
	struct osp_layout layout = layout_of("tp8,pp4,dp3", 8);
	struct osp_arrangement arrangement = arranged(&layout, 8, OSP_PIPELINE_INSIDE);
	struct osp_segments segments = {1, {{LEAF, 4}}};
	uint32_t nodes[12], node_at[12], crossing = 0;

	(void)state;
	for (uint32_t i = 0; i < 12; i++)
		nodes[i] = i;
	assert_int_equal(osp_node_order(&arrangement, &segments, topology, nodes, 0, node_at), 0);
	for (uint32_t column = 0; column < 3; column++) {
		uint32_t first = node_at[column], other = 0;

		for (uint32_t stage = 1; stage < 4; stage++)
			other += osp_topology_domain_of(topology, node_at[column + 3 * stage],
							SPINE) !=
				 osp_topology_domain_of(topology, first, SPINE);
		crossing += other > 0;
	}
	assert_int_equal(crossing, 1);
	osp_topology_free(topology);
}

/* Arnold (arXiv 2509.15940, 4): 96 GPUs, a matrix of 6 x 2 nodes on two minipods of 6. */
static void test_arnold(void **state)
{
	struct osp_topology *topology = fabric_regular(1, (uint32_t[]){2, 6}, 2);
	struct osp_layout layout = layout_of("tp8,pp2,dp6", 8);
	uint32_t nodes[12], node_at[12], room[] = {1, 6, 12};

	(void)state;
	for (uint32_t i = 0; i < 12; i++)
		nodes[i] = i;
	for (int inside = OSP_DATA_INSIDE; inside <= OSP_PIPELINE_INSIDE; inside++) {
		struct osp_arrangement arrangement = arranged(&layout, 8, (enum osp_inside)inside);
		struct osp_segments segments;
		struct osp_spread pp, dp;
		bool pipeline = inside == OSP_PIPELINE_INSIDE;

		osp_arrangement_segments(&arrangement, room, 2, &segments);
		assert_int_equal(segments.count, 1);
		assert_int_equal(segments.segment[0].nodes, pipeline ? 2 : 6);
		osp_node_order(&arrangement, &segments, topology, nodes, 0, node_at);
		osp_spread(&layout, 8, OSP_GROUP_PP, topology, node_at, NULL, &pp);
		osp_spread(&layout, 8, OSP_GROUP_DP, topology, node_at, NULL, &dp);
		assert_near(osp_spread_cost(&dp, &pp, LEAF, 1), pipeline ? 2 : 0, 0);
		assert_near(osp_spread_cost(&dp, &pp, LEAF, 0), pipeline ? 0 : 2, 0);
		assert_near(osp_spread_cost(&dp, &pp, LEAF, 0.25), pipeline ? 0.5 : 1.5, 0);
		assert_int_equal(pp.held, pipeline ? LEAF : SPINE);
	}
	assert_int_equal(osp_layout_ranks(&layout), 96);
	layout = layout_of("dp12,tp4,pp2", 8);
	assert_int_equal(osp_layout_ranks(&layout) / 8, 12);
	layout = layout_of("dp24,tp4,pp8", 8);
	assert_int_equal(osp_layout_ranks(&layout) / 8, 96);
	layout = layout_of("dp46,tp8,pp8", 8);
	assert_int_equal(osp_layout_ranks(&layout) / 8, 368);
	osp_topology_free(topology);
}

/* The first name has node rank 0, and every group lies where it lay. */
static void test_first_name(void **state)
{
	struct osp_topology *topology = four_leaves();
	struct osp_layout layout = layout_of("tp8,pp8,dp8", 8);
	struct osp_arrangement arrangement = arranged(&layout, 8, OSP_PIPELINE_INSIDE);
	struct osp_segments segments = {.count = 1, .segment = {{LEAF, 8}}};
	uint32_t nodes[NODES_MAX], node_at[NODES_MAX];

	(void)state;
	for (uint32_t i = 0; i < NODES_MAX; i++)
		nodes[i] = i;
	for (uint32_t first = 0; first < NODES_MAX; first++) {
		uint32_t seen[NODES_MAX] = {0};
		struct crossing crossing;

		assert_int_equal(
			osp_node_order(&arrangement, &segments, topology, nodes, first, node_at),
			0);
		assert_int_equal(node_at[0], first);
		for (uint32_t i = 0; i < NODES_MAX; i++)
			seen[node_at[i]]++;
		for (uint32_t i = 0; i < NODES_MAX; i++)
			assert_int_equal(seen[i], 1);
		crossing = crossing_of("tp8,pp8,dp8", topology, node_at);
		assert_near(crossing.pp_bytes, 0, 0);
		assert_near(crossing.dp_bytes, 2450e9, 0.5e9);
	}
	osp_topology_free(topology);
}

/* Nodes that no leaf is known of are in nobody's leaf. */
static void test_unknown_nodes(void **state)
{
	struct osp_topology *topology = four_leaves();
	struct osp_layout layout = layout_of("tp8,dp4", 8);
	uint32_t node_at[] = {0, 1, OSP_NO_NODE, OSP_NO_NODE};
	struct osp_spread spread;

	(void)state;
	assert_int_equal(osp_spread(&layout, 8, OSP_GROUP_DP, topology, node_at, NULL, &spread), 0);
	assert_int_equal(spread.most[LEAF], 3);
	assert_int_equal(spread.held, -1);
	assert_int_equal(osp_spread(&layout, 8, OSP_GROUP_DP, NULL, NULL, NULL, &spread), 0);
	assert_int_equal(spread.most[0], 4);
	osp_topology_free(topology);
}

/* Experts over two racks: pairs between them, and with a limit copies. */
static void test_all_to_all(void **state)
{
	struct osp_topology *topology = four_leaves();
	struct osp_layout layout = layout_of("dp32,ep32", 8);
	struct osp_model model = model_of("h=1000,l=1,s=1000,experts=32,topk=4");
	uint32_t node_at[] = {0, 1, 16, 17};
	struct osp_spread spread;

	(void)state;
	osp_spread(&layout, 8, OSP_GROUP_EP, topology, node_at, &model, &spread);
	/* 2 x 16 x 16 pairs, each 4 x 1000 tokens x 4 copies x 1000 x 2 bytes / 32 */
	assert_near(spread.bytes[LEAF], 2 * 16 * 16 * 4 * 1000.0 * 4 * 1000 * 2 / 32, 1);
	assert_near(spread.bytes[0], 4 * 8 * 24 * 4 * 1000.0 * 4 * 1000 * 2 / 32, 1);
	model = model_of("h=1000,l=1,s=1000,experts=32,topk=4,nodes=2");
	osp_spread(&layout, 8, OSP_GROUP_EP, topology, node_at, &model, &spread);
	assert_near(spread.bytes[LEAF], 2 * 16 * 2 / 4.0 * 4 * 1000 * 2 * 1000 * 2, 1);
	osp_topology_free(topology);
}

/* --- grids that do not align ------------------------------------------------------------------ */

static void test_no_grid(void **state)
{
	static const struct {
		const char *layout;
		uint32_t nodes, gpus;
		const char *says;
	} cases[] = {
		{"tp6,dp4", 3, 8,
		 "tp6 ends after 6 GPUs, in the middle of a node of 8: its groups fall across "
		 "nodes, "
		 "and no order of nodes aligns them"},
		{"tp4,cp2,dp6,ep3,etp4", 6, 8,
		 "ep3 ends after 12 GPUs, in the middle of a node of 8: its groups fall across "
		 "nodes, "
		 "and no order of nodes aligns them"},
		{"cp16,dp6,ep24,etp1", 12, 8,
		 "experts are cut into blocks of 24 GPUs, which are neither a part nor a multiple "
		 "of "
		 "what tp, cp and dp cut: no order of nodes keeps both whole"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_layout layout;
		struct osp_node_grid grid;
		struct osp_error error = {.text = ""};

		assert_int_equal(osp_layout_parse(cases[i].layout, &layout, NULL), 0);
		assert_int_equal(osp_layout_complete(&layout, cases[i].nodes, cases[i].gpus, NULL),
				 0);
		assert_int_equal(osp_layout_node_grid(&layout, cases[i].gpus, &grid, &error), -1);
		assert_string_equal(error.text, cases[i].says);
	}
}

/* A rack of 18 nodes of 4 GPUs: segments of 16, the largest run that fits. */
static void test_segments(void **state)
{
	struct osp_layout layout = layout_of("pp4,dp256,ep64", 4);
	struct osp_arrangement arrangement = arranged(&layout, 4, OSP_PIPELINE_INSIDE);
	uint32_t room[] = {1, 18, 18, 144, 1000};
	struct osp_segments segments;

	(void)state;
	osp_arrangement_segments(&arrangement, room, 4, &segments);
	assert_int_equal(segments.count, 2);
	assert_int_equal(segments.segment[0].level, 1);
	assert_int_equal(segments.segment[0].nodes, 16);
	assert_int_equal(segments.segment[1].level, 3);
	assert_int_equal(segments.segment[1].nodes, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gpt3),
		cmocka_unit_test(test_llama3),
		cmocka_unit_test(test_llama3_replica),
		cmocka_unit_test(test_deepseek),
		cmocka_unit_test(test_replicas_and_experts),
		cmocka_unit_test(test_refused_models),
		cmocka_unit_test(test_missing_keys),
		cmocka_unit_test(test_which_crosses),
		cmocka_unit_test(test_orders_of_others),
		cmocka_unit_test(test_unequal_sets),
		cmocka_unit_test(test_rest_in_a_spine),
		cmocka_unit_test(test_arnold),
		cmocka_unit_test(test_first_name),
		cmocka_unit_test(test_unknown_nodes),
		cmocka_unit_test(test_all_to_all),
		cmocka_unit_test(test_no_grid),
		cmocka_unit_test(test_segments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
