/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which GPUs a job or a node has, by Slurm's words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/gate/gate_gres.h"

static void counts_gpus(void **state)
{
	static const struct {
		const char *gres;
		uint32_t gpus;
	} cases[] = {
		{NULL, 0},
		{"", 0},
		{"gpu:8", 8},
		{"gpu:h100:8(S:0-1)", 8},
		{"shard:64,gpu:h100:8(S:0-1),gpu:a100:2", 10},
		{"gpu:h100:8(IDX:0-7)", 8},
		{"gpu:3(IDX:0,2,5),craynetwork:1(CNT:1)", 3},
		{"gpu(CNT:8)", 8},
		{"gpu:h100(CNT:4)", 4},
		{"gpu:h100(CNT:4),gpu:a100:2(IDX:0-1)", 6},
		{"gpu:0(IDX:)", 0},
		{"gpu:h100", 0},
		{"gpus:8,agpu:8,shard(CNT:8)", 0},
		{"(null)", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (osp_gate_gres_gpus(cases[i].gres) != cases[i].gpus)
			fail_msg("%s: %u", cases[i].gres, osp_gate_gres_gpus(cases[i].gres));
}

static void finds_gpus_asked_for(void **state)
{
	static const struct {
		const char *tres;
		bool gpus;
	} cases[] = {
		{NULL, false},
		{"", false},
		{"gres:gpu", true},
		{"gres:gpu:8", true},
		{"gres/gpu:h100:2", true},
		{"gres:shard:2,gres:gpu:1", true},
		{"cpu=8,mem=1G,node=1,billing=8,gres/gpu=8", true},
		{"cpu=8,gres/gpu:h100=8", true},
		{"gres:none", false},
		{"gres/gpumem=8", false},
		{"cpu=8,license/gpu=8", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (osp_gate_gres_names_gpus(cases[i].tres) != cases[i].gpus)
			fail_msg("%s", cases[i].tres);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_gpus),
		cmocka_unit_test(finds_gpus_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
