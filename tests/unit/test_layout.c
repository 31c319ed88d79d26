/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_layout.c - layouts: what is read, what is refused and with which words, who is in which
 * group
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "lib/layout/layout.h"

static struct osp_layout layout_of(const char *text, uint32_t nodes, uint32_t gpus)
{
	struct osp_error error = {.text = ""};
	struct osp_layout layout;

	if (osp_layout_parse(text, &layout, &error) ||
	    osp_layout_complete(&layout, nodes, gpus, &error))
		fail_msg("%s: %s", text, error.text);
	return layout;
}

/* --- groups ----------------------------------------------------------------------------------- */

/* "[0,2][1,3]" of the first `most` groups. */
static const char *groups_of(const char *text, uint32_t gpus, enum osp_group group, uint32_t most)
{
	static char buffer[2048];
	struct osp_layout layout = layout_of(text, 0, gpus);
	struct osp_groups groups;
	size_t at = 0;

	osp_layout_groups(&layout, group, &groups);
	buffer[0] = '\0';
	for (uint32_t i = 0; i < groups.count && i < most; i++) {
		for (uint32_t member = 0; member < groups.size; member++)
			at += (size_t)snprintf(buffer + at, sizeof(buffer) - at, "%s%u",
					       member ? "," : "[",
					       osp_groups_rank(&groups, i, member));
		at += (size_t)snprintf(buffer + at, sizeof(buffer) - at, "]");
	}
	return buffer;
}

static const struct {
	const char *layout;
	uint32_t gpus;
	enum osp_group group;
	uint32_t most;
	const char *ranks;
} group_cases[] = {
	/* Megatron's own docstring: 16 GPUs, tp 2, pp 4 */
	{"tp2,pp4,dp2", 8, OSP_GROUP_TP, 3, "[0,1][2,3][4,5]"},
	{"tp2,pp4,dp2", 8, OSP_GROUP_DP, 8, "[0,2][1,3][4,6][5,7][8,10][9,11][12,14][13,15]"},
	{"tp2,pp4,dp2", 8, OSP_GROUP_PP, 4, "[0,4,8,12][1,5,9,13][2,6,10,14][3,7,11,15]"},
	/* the same with --use-tp-pp-dp-mapping */
	{"tp2,pp4,dp2,order=tp-pp-dp", 8, OSP_GROUP_DP, 8,
	 "[0,8][1,9][2,10][3,11][4,12][5,13][6,14][7,15]"},
	{"tp2,pp4,dp2,order=tp-pp-dp", 8, OSP_GROUP_PP, 4,
	 "[0,2,4,6][1,3,5,7][8,10,12,14][9,11,13,15]"},
	/* context parallel, and experts on a grid of their own */
	{"tp2,cp2,dp2,pp2", 8, OSP_GROUP_CP, 2, "[0,2][1,3]"},
	{"tp2,cp2,dp2,pp2", 8, OSP_GROUP_DP, 2, "[0,4][1,5]"},
	{"tp2,cp2,dp2,pp2", 8, OSP_GROUP_PP, 1, "[0,8]"},
	{"tp2,cp2,dp2,pp2", 8, OSP_GROUP_DP_CP, 2, "[0,2,4,6][1,3,5,7]"},
	{"tp2,cp2,dp2,pp2,ep2", 8, OSP_GROUP_EP, 2, "[0,2][1,3]"},
	{"tp2,cp2,dp2,pp2,ep2", 8, OSP_GROUP_EDP, 1, "[0,4]"},
	{"tp2,cp2,dp2,pp2,ep2", 8, OSP_GROUP_PP, 1, "[0,8]"},
	/* Llama 3, figure 5 (arXiv 2407.21783): tp, cp, pp, dp */
	{"tp2,cp2,pp2,dp2,order=tp-pp-dp", 8, OSP_GROUP_TP, 1, "[0,1]"},
	{"tp2,cp2,pp2,dp2,order=tp-pp-dp", 8, OSP_GROUP_CP, 1, "[0,2]"},
	{"tp2,cp2,pp2,dp2,order=tp-pp-dp", 8, OSP_GROUP_PP, 1, "[0,4]"},
	{"tp2,cp2,pp2,dp2,order=tp-pp-dp", 8, OSP_GROUP_DP, 1, "[0,8]"},
	/* DeepSpeed's groups.py: W 16, model parallel 2, ep 4 */
	{"tp2,dp8,ep4,order=deepspeed", 8, OSP_GROUP_EP, 4,
	 "[0,2,4,6][1,3,5,7][8,10,12,14][9,11,13,15]"},
	/* TorchTitan: experts are consecutive ranks, those of tp too */
	{"tp2,dp4,pp2,ep4,order=torchtitan", 8, OSP_GROUP_EP, 2, "[0,1,2,3][4,5,6,7]"},
	{"tp2,dp4,pp2,ep4,order=torchtitan", 8, OSP_GROUP_EDP, 2, "[0,4][1,5]"},
	{"tp2,dp4,dpr2,pp2,order=torchtitan", 8, OSP_GROUP_SHARD, 2, "[0,2][1,3]"},
	{"tp2,dp4,dpr2,pp2,order=torchtitan", 8, OSP_GROUP_REPLICA, 2, "[0,4][1,5]"},
	/* shards lie over cp too: TorchTitan's dp_shard_cp, Megatron's part of dp-cp */
	{"tp2,cp2,dp4,dpr2,order=torchtitan", 8, OSP_GROUP_SHARD, 4,
	 "[0,2,4,6][1,3,5,7][8,10,12,14][9,11,13,15]"},
	{"tp2,cp2,dp4,dpr2,order=torchtitan", 8, OSP_GROUP_REPLICA, 2, "[0,8][1,9]"},
	/* vLLM: pipelines inside, experts over all of a stage */
	{"tp2,pp2,dp2,ep4,order=vllm", 8, OSP_GROUP_PP, 2, "[0,2][1,3]"},
	{"tp2,pp2,dp2,ep4,order=vllm", 8, OSP_GROUP_EP, 2, "[0,1,4,5][2,3,6,7]"},
};

static void test_groups(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(group_cases) / sizeof(group_cases[0]); i++)
		assert_string_equal(groups_of(group_cases[i].layout, group_cases[i].gpus,
					      group_cases[i].group, group_cases[i].most),
				    group_cases[i].ranks);
}

/* Each rank is in exactly one group of each kind, whatever the order and the kind. */
static void test_every_rank_once(void **state)
{
	static const char *const layouts[] = {
		"tp2,cp2,pp2,dp4,ep2",
		"tp2,cp2,pp2,dp4,ep4,order=torchtitan,dpr2",
		"tp2,cp2,pp2,dp4,ep16,order=vllm",
		"tp4,pp2,dp4,ep2,etp2,order=deepspeed",
		"tp2,cp2,pp2,dp4,ep4,etp1,dpr2",
		"tp2,cp1,pp2,dp4,ep2,etp1,order=tp-pp-dp",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		struct osp_layout layout = layout_of(layouts[i], 0, 8);

		for (int kind = 0; kind < OSP_GROUP_COUNT; kind++) {
			struct osp_groups groups;
			uint32_t seen[64] = {0};

			osp_layout_groups(&layout, (enum osp_group)kind, &groups);
			assert_int_equal(groups.count * groups.size, osp_layout_ranks(&layout));
			for (uint32_t rank = 0; rank < groups.count * groups.size; rank++)
				seen[osp_groups_rank(&groups, rank / groups.size,
						     rank % groups.size)]++;
			for (uint32_t rank = 0; rank < groups.count * groups.size; rank++)
				assert_int_equal(seen[rank], 1);
		}
	}
}

/* --- words ------------------------------------------------------------------------------------ */

static const struct {
	const char *text;
	int column;
	const char *says;
} refused[] = {
	{"", 1, "an axis and its size are missing, as in tp8,pp8,dp8"},
	{"tp8,,dp8", 5, "an axis and its size are missing, as in tp8,pp8,dp8"},
	{"tp8,dp8,", 9, "an axis and its size are missing, as in tp8,pp8,dp8"},
	{"tp8,xp8", 5, "'xp8': an axis is tp, cp, pp, dp, dpr, ep or etp with its size, as in tp8"},
	{"tp8,odrer=megatron", 5,
	 "'odrer=megatron': an axis is tp, cp, pp, dp, dpr, ep or etp with its size, as in tp8; "
	 "did "
	 "you mean order"},
	{"tp8,8", 5, "'8': an axis is tp, cp, pp, dp, dpr, ep or etp with its size, as in tp8"},
	{"tp8\x7f", 4, "the byte 0x7f is not allowed in a layout"},
	{"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz8", 1,
	 "'abcdefghijklmnopqrstuvwxyzabcdefghijklmn': an axis is tp, cp, pp, dp, dpr, ep or etp "
	 "with its size, as in tp8"},
	{"tp8,order=abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz", 5,
	 "'order=abcdefghijklmnopqrstuvwxyzabcdefgh': an order is megatron, tp-pp-dp, torchtitan, "
	 "vllm or deepspeed"},
	{"tp8,pp", 5, "'pp': a size is a whole number from 1, as in tp8"},
	{"tp8,pp0", 5, "'pp0': a size is a whole number from 1, as in tp8"},
	{"tp8,pp-2", 5, "'pp-2': a size is a whole number from 1, as in tp8"},
	{"tp99999999999", 1, "'tp99999999999': a size is a whole number from 1, as in tp8"},
	{"tp8,tp4", 5, "'tp4': said twice"},
	{"tp8, pp8", 5, "a blank is not allowed in a layout; leave it out"},
	{"tp8,order=megatorn", 5,
	 "'order=megatorn': an order is megatron, tp-pp-dp, torchtitan, vllm or deepspeed; did you "
	 "mean megatron"},
};

static void test_refused_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct osp_layout layout = {.order = OSP_ORDER_VLLM}, before = layout;
		struct osp_error error = {.text = ""};

		assert_int_equal(osp_layout_parse(refused[i].text, &layout, &error), -1);
		assert_string_equal(error.text, refused[i].says);
		assert_int_equal(error.column, refused[i].column);
		assert_memory_equal(&layout, &before, sizeof(layout));
	}
}

static const struct {
	const char *text;
	uint32_t nodes, gpus;
	const char *says;
} unfit[] = {
	{"tp8,pp8,dp7", 64, 8,
	 "tp8,pp8,dp7 is 448 GPUs, but 64 nodes of 8 GPUs have 512; with dp8 it fits"},
	{"tp8,pp8,dp8", 60, 8,
	 "tp8 x cp1 x pp8 are 64 GPUs, of which 60 nodes of 8 GPUs hold no whole number; 56 nodes "
	 "would be dp7"},
	{"tp8,pp7", 64, 8,
	 "tp8 x cp1 x pp7 are 56 GPUs, of which 64 nodes of 8 GPUs hold no whole number; 63 nodes "
	 "would be dp9"},
	{"tp8,pp16", 4, 8,
	 "tp8 x cp1 x pp16 are 128 GPUs, of which 4 nodes of 8 GPUs hold no whole number; 16 nodes "
	 "would be dp1"},
	/* what no number of nodes aligns */
	{"tp7,pp4", 16, 4,
	 "tp7 ends after 7 GPUs, in the middle of a node of 4: its groups fall across nodes, "
	 "however "
	 "many there are; say tp4"},
	{"tp3,pp2", 32, 4,
	 "tp3 ends after 3 GPUs, in the middle of a node of 4: its groups fall across nodes, "
	 "however "
	 "many there are; say tp2"},
	{"tp2,cp3,pp5", 4, 8,
	 "cp3 ends after 6 GPUs, in the middle of a node of 8: its groups fall across nodes, "
	 "however "
	 "many there are; say cp2"},
	{"tp2,cp6,pp5", 4, 8,
	 "cp6 ends after 12 GPUs, in the middle of a node of 8: its groups fall across nodes, "
	 "however many there are; say cp4"},
	{"tp8,pp8", 0, 8, "dp is missing: add dp and its size, or -N and the number of nodes"},
	{"tp3,dp3", 0, 8,
	 "the sizes multiply to 9 GPUs, which are no whole nodes of 8 GPUs; a dp that 8 divides "
	 "makes them whole, or say --gpus-per-node"},
	{"tp2000000,cp2000000", 0, 8, "the sizes multiply to more than 2097152 GPUs"},
	/* as many as wrap around to none */
	{"tp2", 67108864, 64, "67108864 nodes of 64 GPUs have more than 2097152 GPUs"},
	{"tp2048,ep65536,etp65536", 67108864, 64,
	 "67108864 nodes of 64 GPUs have more than 2097152 GPUs"},
	{"tp1", 4294967293, 64, "4294967293 nodes of 64 GPUs have more than 2097152 GPUs"},
	{"tp8,dp2", 1, 8, "tp8,dp2 is 16 GPUs, but 1 node of 8 GPUs has 8; with dp1 it fits"},
	{"tp8,dp2000000", 0, 8, "the sizes multiply to more than 2097152 GPUs"},
	{"dp7,ep3", 7, 1,
	 "ep3 with etp1 takes 3 GPUs, which do not divide the 7 of a pipeline stage; ep1 would"},
	{"dp4,ep8", 4, 1,
	 "ep8 with etp1 takes 8 GPUs, which do not divide the 4 of a pipeline stage; ep4 would"},
	{"tp8,pp8,dp8,ep12", 64, 8,
	 "ep12 with etp8 takes 96 GPUs, which do not divide the 64 of a pipeline stage; ep8 would"},
	{"tp8,pp8,dp8,ep48,etp1", 64, 8,
	 "ep48 with etp1 takes 48 GPUs, which do not divide the 64 of a pipeline stage; ep32 "
	 "would"},
	{"tp8,pp8,dp8,ep2,order=tp-pp-dp", 64, 8,
	 "Megatron takes --use-tp-pp-dp-mapping with experts only where etp x ep = tp x cp (8, not "
	 "16); leave order=tp-pp-dp out, and let the order of nodes keep pipelines together"},
	{"tp8,pp2,dp2,ep8,order=vllm", 4, 8,
	 "vLLM spreads experts over all ranks of a pipeline stage: ep16, not ep8"},
	{"tp8,dp8,cp2,order=deepspeed", 16, 8,
	 "order=deepspeed has no cp: its sequence parallel ranks are part of dp"},
	{"tp8,dp8,ep8,etp2,order=torchtitan", 8, 8,
	 "TorchTitan does not cut experts: leave etp2 out"},
	{"tp8,dp8,dpr3,order=torchtitan", 8, 8, "dpr3 does not divide dp8; dpr2 would"},
	/* tp x cp fills whole nodes, or divides one: it is the number of nodes that does not fit */
	{"tp2,cp8,pp5", 4, 8,
	 "tp2 x cp8 x pp5 are 80 GPUs, of which 4 nodes of 8 GPUs hold no whole number; 10 nodes "
	 "would be dp1"},
	{"tp2,cp2,pp5", 4, 8,
	 "tp2 x cp2 x pp5 are 20 GPUs, of which 4 nodes of 8 GPUs hold no whole number; 5 nodes "
	 "would be dp2"},
};

static void test_unfit(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(unfit) / sizeof(unfit[0]); i++) {
		struct osp_error error = {.text = ""};
		struct osp_layout layout, before;

		assert_int_equal(osp_layout_parse(unfit[i].text, &layout, &error), 0);
		before = layout;
		assert_int_equal(
			osp_layout_complete(&layout, unfit[i].nodes, unfit[i].gpus, &error), -1);
		assert_string_equal(error.text, unfit[i].says);
		assert_memory_equal(&layout, &before, sizeof(layout));
	}
}

static void test_format(void **state)
{
	static const struct {
		const char *text, *same;
	} cases[] = {
		{"tp8,pp8,dp8", "tp8,pp8,dp8"},
		{"DP8,Tp=8,pp=8,ORDER=Megatron", "tp8,pp8,dp8"},
		{"dp16,ep8,etp1,order=torchtitan", "dp16,ep8,order=torchtitan"},
		{"tp2,dp2,ep2,etp2", "tp2,dp2,ep2"},
		/* the size that an unsaid one would not have */
		{"tp8,pp4,dp2,ep8,etp1", "tp8,pp4,dp2,ep8,etp1"},
		{"tp8,dp2,ep8,etp8,order=torchtitan", "tp8,dp2,ep8,etp8,order=torchtitan"},
		{"tp8,dp2,etp1", "tp8,dp2"},
		{"tp8,dp2,ep1,etp8", "tp8,dp2,etp8"},
		{"tp1,pp1,dp1", "dp1"},
		{"order=vllm", "dp1,order=vllm"},
	};
	char buffer[OSP_LAYOUT_TEXT_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_layout layout;

		assert_int_equal(osp_layout_parse(cases[i].text, &layout, NULL), 0);
		assert_string_equal(osp_layout_format(&layout, buffer, sizeof(buffer)),
				    cases[i].same);
		/* as much as there is room for, and an end */
		for (size_t room = 1; room < sizeof(buffer); room++) {
			osp_layout_format(&layout, buffer, room);
			assert_true(strlen(buffer) < room);
			assert_memory_equal(buffer, cases[i].same, strlen(buffer));
			assert_true(strlen(buffer) == strlen(cases[i].same) ||
				    strlen(buffer) == room - 1);
		}
	}
}

/* What was not said: dp by the nodes, etp by the framework. */
static void test_filled(void **state)
{
	struct osp_layout layout = layout_of("tp8,pp8", 64, 8);

	(void)state;
	assert_int_equal(layout.size[OSP_AXIS_DP], 8);
	assert_int_equal(layout.size[OSP_AXIS_CP], 1);
	layout = layout_of("tp8,dp8,ep4", 8, 8);
	assert_int_equal(layout.size[OSP_AXIS_ETP], 8);
	layout = layout_of("tp8,dp8,ep4,order=torchtitan", 8, 8);
	assert_int_equal(layout.size[OSP_AXIS_ETP], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),	     cmocka_unit_test(test_every_rank_once),
		cmocka_unit_test(test_refused_text), cmocka_unit_test(test_unfit),
		cmocka_unit_test(test_format),	     cmocka_unit_test(test_filled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
