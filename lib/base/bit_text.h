/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bit_text.h - numbers as a short text: six bits in each of A-Z a-z 0-9 - _
 *
 * A number of a known width takes that many bits; one of any size takes Elias' gamma code, in which
 * small numbers are short (1: one bit, 2 and 3: three, 1,000: nineteen).
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_BIT_TEXT_H
#define OSP_BIT_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/text.h"

/* Writes to `text`. Start with the text set and the rest 0; end with osp_bits_end(). */
struct osp_bits_writer {
	struct osp_text *text;
	uint32_t held; /* bits that make no letter yet, the first one highest */
	unsigned int held_bits;
};

void osp_bits_write(struct osp_bits_writer *writer, uint64_t value, unsigned int bits);
/* `value` is at least 1. */
void osp_bits_write_gamma(struct osp_bits_writer *writer, uint64_t value);
void osp_bits_end(struct osp_bits_writer *writer);

/* Reads from `at`. A malformed text sets `failed`; every number read after that is 1. */
struct osp_bits_reader {
	const char *at;
	uint32_t held;
	unsigned int held_bits;
	bool failed;
};

uint64_t osp_bits_read(struct osp_bits_reader *reader, unsigned int bits);
/* Fails on a number above `most`. */
uint64_t osp_bits_read_gamma(struct osp_bits_reader *reader, uint64_t most);
/* Returns whether all was read, and nothing was wrong. */
bool osp_bits_at_end(const struct osp_bits_reader *reader);

#endif
