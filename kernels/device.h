/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * device.h - what kernels are written with
 *
 * The kernels are CUDA C that is C11 too: compiled by nvcc they run on a GPU, with the PTX
 * operations of device_ptx.h; compiled by a C compiler they run in the tests' fake of libcuda, with
 * those of tests/fake/device_cpu.h, which also breaks them on demand. Both headers define:
 *
 *	KERNEL(name)              a kernel: KERNEL(name)(struct osp_work work)
 *	DEVICE, DEVICE_CALLED     a function for kernels, inlined or not
 *	osp_thread(), osp_threads() index of this thread in the grid, and how many there are
 *	osp_thread_of_block()     its index in the block
 *	osp_sm()                  the SM this thread runs on
 *	osp_load(), osp_store()   16 bytes, passing by the caches where that can be asked
 *	osp_barrier()             all threads of the block
 *	osp_shared()              the block's shared memory, work.count words
 *	osp_add()                 atomic addition to a word, its old value
 *	osp_set()                 atomic or to a word
 *	osp_computed()            a result of this SM's arithmetic (the fake may spoil it)
 *	osp_bits_of_double()      as memory holds it
 *	osp_mma_*()               D += A * B by the tensor cores, in the fragments' layout of PTX
 */
#ifndef OSP_DEVICE_H
#define OSP_DEVICE_H

#include "kernels/kernels.h"

/* What a thread loads and stores at once. */
struct osp_word {
	uint32_t part[4];
};

#ifdef __CUDACC__
#include "kernels/device_ptx.h"
#else
#include "tests/fake/device_cpu.h"
#endif

/* This thread within its warp. */
DEVICE uint32_t osp_lane(void)
{
	return osp_thread_of_block() % 32;
}

/* The warp's index in the grid. */
DEVICE uint32_t osp_warp(void)
{
	return (uint32_t)(osp_thread() / 32);
}

/* Tells one thing wrong. */
DEVICE void osp_report_wrong(const struct osp_work *work, uint64_t at, uint64_t expected,
			     uint64_t found, uint32_t tile)
{
	struct osp_report *report = (struct osp_report *)work->report;
	uint32_t index = osp_add(&report->count, 1);
	struct osp_wrong *wrong;

	if (index >= OSP_WRONG_KEPT)
		return;
	wrong = &report->wrong[index];
	wrong->at = at;
	wrong->expected = expected;
	wrong->found = found;
	wrong->sm = osp_sm();
	wrong->tile = tile;
}

/* Tells that this SM has computed. */
DEVICE void osp_report_seen(const struct osp_work *work)
{
	struct osp_report *report = (struct osp_report *)work->report;
	uint32_t sm = osp_sm() % OSP_SMS_MAX;

	osp_set(&report->seen[sm / 32], 1u << sm % 32);
}

#endif
