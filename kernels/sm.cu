/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sm.cu - the arithmetic units and the shared memory of every SM */
#include "kernels/device.h"

/* Every block computes the same: thread N's result is expected[N], by the host. */
KERNEL(osp_sm_arithmetic)(struct osp_work work)
{
	const uint64_t *expected = (const uint64_t *)work.expected;
	uint32_t thread = osp_thread_of_block();
	struct osp_chain chain;
	uint64_t result;

	osp_chain_begin(&chain, thread, work.seed);
	for (uint32_t step = 0; step < work.count; step++)
		osp_chain_step(&chain, step);
	result = osp_computed(osp_chain_result(&chain));
	if (result != expected[thread])
		osp_report_wrong(&work, thread, expected[thread], result, 0);
	osp_report_seen(&work);
}

/* All of the block's shared memory: written by one thread, read by another, then inverted. */
KERNEL(osp_sm_shared)(struct osp_work work)
{
	volatile struct osp_word *shared = osp_shared();
	uint32_t words = (uint32_t)work.count, thread = osp_thread_of_block();

	for (uint32_t flip = 0, pass = 0; pass < 2; flip = ~flip, pass++) {
		for (uint32_t i = thread; i < words; i += OSP_THREADS)
			for (uint32_t part = 0; part < 4; part++)
				shared[i].part[part] =
					(uint32_t)osp_pattern(i * 4 + part, work.seed) ^ flip;
		osp_barrier();
		for (uint32_t i = (thread + 32) % OSP_THREADS; i < words; i += OSP_THREADS)
			for (uint32_t part = 0; part < 4; part++) {
				uint32_t expected =
					(uint32_t)osp_pattern(i * 4 + part, work.seed) ^ flip;
				uint32_t found = shared[i].part[part];

				if (found != expected)
					osp_report_wrong(&work, i * 16 + part * 4, expected, found,
							 0);
			}
		osp_barrier();
	}
	osp_report_seen(&work);
}
