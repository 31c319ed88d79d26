/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bit_text.c - numbers as a short text: six bits in each of A-Z a-z 0-9 - _ */
#include "lib/base/bit_text.h"

#include <string.h>

#define LETTER_BITS 6

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void write_bit(struct osp_bits_writer *writer, unsigned int bit)
{
	writer->held = writer->held << 1 | bit;
	if (++writer->held_bits < LETTER_BITS)
		return;
	osp_text_add_bytes(writer->text, &letters[writer->held], 1);
	writer->held = 0;
	writer->held_bits = 0;
}

void osp_bits_write(struct osp_bits_writer *writer, uint64_t value, unsigned int bits)
{
	while (bits)
		write_bit(writer, value >> --bits & 1);
}

void osp_bits_write_gamma(struct osp_bits_writer *writer, uint64_t value)
{
	unsigned int bits = 1;

	while (value >> bits)
		bits++;
	osp_bits_write(writer, 0, bits - 1);
	osp_bits_write(writer, value, bits);
}

void osp_bits_end(struct osp_bits_writer *writer)
{
	while (writer->held_bits)
		write_bit(writer, 0);
}

static unsigned int read_bit(struct osp_bits_reader *reader)
{
	const char *letter;

	if (!reader->held_bits) {
		letter = *reader->at ? strchr(letters, *reader->at) : NULL;
		if (!letter) {
			reader->failed = true;
			return 1;
		}
		reader->at++;
		reader->held = (uint32_t)(letter - letters);
		reader->held_bits = LETTER_BITS;
	}
	return reader->held >> --reader->held_bits & 1;
}

uint64_t osp_bits_read(struct osp_bits_reader *reader, unsigned int bits)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < bits; i++)
		value = value << 1 | read_bit(reader);
	return reader->failed ? 1 : value;
}

uint64_t osp_bits_read_gamma(struct osp_bits_reader *reader, uint64_t most)
{
	unsigned int bits = 0;
	uint64_t value;

	while (bits < 63 && !read_bit(reader))
		bits++;
	value = (uint64_t)1 << bits | osp_bits_read(reader, bits);
	reader->failed = reader->failed || value > most;
	return reader->failed ? 1 : value;
}

bool osp_bits_at_end(const struct osp_bits_reader *reader)
{
	uint32_t rest = reader->held & ((1U << reader->held_bits) - 1);

	return !reader->failed && !*reader->at && !rest;
}
