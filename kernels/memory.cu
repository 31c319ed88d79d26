/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory.cu - pattern and address test of memory, and its bandwidth
 *
 * Each word of 16 bytes gets a pattern of its own address. A first pass writes it; later passes
 * read it back, compare, and leave its inverse behind (a march: every bit holds 0 and 1 and is
 * read in both states, and a store to a wrong address spoils a word that is read later). The buffer
 * is far larger than the caches, so what is read comes from memory.
 */
#include "kernels/device.h"

DEVICE struct osp_word osp_pattern_word(uint64_t index, uint64_t seed, uint32_t inverted)
{
	uint64_t one = osp_pattern(index, seed), other = ~(one << 32 | one >> 32);
	uint32_t flip = inverted ? 0xffffffffu : 0;
	struct osp_word word;

	word.part[0] = (uint32_t)one ^ flip;
	word.part[1] = (uint32_t)(one >> 32) ^ flip;
	word.part[2] = (uint32_t)other ^ flip;
	word.part[3] = (uint32_t)(other >> 32) ^ flip;
	return word;
}

DEVICE void osp_compare(const struct osp_work *work, uint64_t index, struct osp_word found,
			struct osp_word expected)
{
	for (uint32_t i = 0; i < 4; i += 2) {
		uint64_t is = found.part[i] | (uint64_t)found.part[i + 1] << 32;
		uint64_t should = expected.part[i] | (uint64_t)expected.part[i + 1] << 32;

		if (is != should)
			osp_report_wrong(work, index * OSP_WORD_BYTES_GPU + i * 4, should, is, 0);
	}
}

KERNEL(osp_memory_write)(struct osp_work work)
{
	for (uint64_t i = osp_thread(); i < work.count; i += osp_threads())
		osp_store(work.at + i * OSP_WORD_BYTES_GPU,
			  osp_pattern_word(i, work.seed, work.inverted));
}

KERNEL(osp_memory_check)(struct osp_work work)
{
	for (uint64_t i = osp_thread(); i < work.count; i += osp_threads()) {
		uint64_t at = work.at + i * OSP_WORD_BYTES_GPU;
		struct osp_word expected = osp_pattern_word(i, work.seed, work.inverted);

		osp_compare(&work, i, osp_load(at), expected);
		if (work.turn) {
			for (int part = 0; part < 4; part++)
				expected.part[part] = ~expected.part[part];
			osp_store(at, expected);
		}
	}
}

/* --- bandwidth -------------------------------------------------------------------------------- */

#define AT_ONCE 4 /* words under way a thread, so that latency hides */

KERNEL(osp_memory_read)(struct osp_work work)
{
	uint64_t step = osp_threads(), i = osp_thread();
	uint32_t all = 0;

	for (; i + (AT_ONCE - 1) * step < work.count; i += step * AT_ONCE) {
		struct osp_word words[AT_ONCE];

		for (int n = 0; n < AT_ONCE; n++)
			words[n] = osp_load(work.at + (i + n * step) * OSP_WORD_BYTES_GPU);
		for (int n = 0; n < AT_ONCE; n++)
			all |= words[n].part[0] | words[n].part[1] | words[n].part[2] |
			       words[n].part[3];
	}
	for (; i < work.count; i += step)
		all |= osp_load(work.at + i * OSP_WORD_BYTES_GPU).part[0];
	/* The buffer holds zeros alone; what is told keeps the loads from being left out. */
	if (all)
		osp_report_wrong(&work, 0, 0, all, 0);
}

KERNEL(osp_memory_fill)(struct osp_work work)
{
	struct osp_word nothing;

	for (int part = 0; part < 4; part++)
		nothing.part[part] = 0;
	for (uint64_t i = osp_thread(); i < work.count; i += osp_threads())
		osp_store(work.at + i * OSP_WORD_BYTES_GPU, nothing);
}

KERNEL(osp_memory_copy)(struct osp_work work)
{
	uint64_t step = osp_threads(), i = osp_thread();

	for (; i + (AT_ONCE - 1) * step < work.count; i += step * AT_ONCE) {
		struct osp_word words[AT_ONCE];

		for (int n = 0; n < AT_ONCE; n++)
			words[n] = osp_load(work.at + (i + n * step) * OSP_WORD_BYTES_GPU);
		for (int n = 0; n < AT_ONCE; n++)
			osp_store(work.other + (i + n * step) * OSP_WORD_BYTES_GPU, words[n]);
	}
	for (; i < work.count; i += step)
		osp_store(work.other + i * OSP_WORD_BYTES_GPU,
			  osp_load(work.at + i * OSP_WORD_BYTES_GPU));
}
