/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_suspects.c - the nodes that a job does not get again, as its AdminComment names them */
#include "lib/gate/gate_suspects.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"

#define DIGITS_MAX 18
#define RANGE_MAX  65536 /* numbers in one of Slurm's ranges */
#define DROP_PART  32	 /* of the remaining ones, at least one, is dropped at a time */

/* A name in two parts: the text before its last number, and that number, which ends it. */
struct split {
	size_t head_bytes;
	size_t digits; /* 0: it does not end in a number */
	uint64_t value;
};

static struct split split(const char *name)
{
	size_t length = strlen(name);
	struct split split = {.head_bytes = length};

	while (split.head_bytes && isdigit((unsigned char)name[split.head_bytes - 1]) &&
	       split.digits < DIGITS_MAX) {
		split.head_bytes--;
		split.digits++;
	}
	for (size_t i = split.head_bytes; i < length; i++)
		split.value = split.value * 10 + (uint64_t)(name[i] - '0');
	return split;
}

static bool same_head(const char *one, const char *other)
{
	struct split a = split(one), b = split(other);

	return a.digits && b.digits && a.head_bytes == b.head_bytes &&
	       !memcmp(one, other, a.head_bytes);
}

static size_t digits_of(uint64_t value)
{
	size_t count = 1;

	for (; value > 9; value /= 10)
		count++;
	return count;
}

/* Returns how many names, from the first on, form a range. */
static size_t range_length(const char *const *names, size_t count)
{
	struct split first = split(names[0]);
	size_t length = 1;

	while (length < count && length < RANGE_MAX) {
		struct split next = split(names[length]);
		size_t natural = digits_of(next.value);

		if (next.value != first.value + length ||
		    next.digits != (first.digits > natural ? first.digits : natural))
			break;
		length++;
	}
	return length;
}

/* Writes the numbers of names with one head: "[7,1-3]". */
static void write_numbers(struct osp_text *text, const char *const *names, size_t count)
{
	size_t head_bytes = split(names[0]).head_bytes, length;

	osp_text_add(text, "[");
	for (size_t i = 0; i < count; i += length) {
		length = range_length(names + i, count - i);
		osp_text_printf(text, "%s%s", i ? "," : "", names[i] + head_bytes);
		if (length > 1)
			osp_text_printf(text, "-%s", names[i + length - 1] + head_bytes);
	}
	osp_text_add(text, "]");
}

static char *write_list(const char *const *names, size_t count)
{
	struct osp_text text = OSP_TEXT_INIT;
	size_t length;

	for (size_t i = 0; i < count; i += length) {
		for (length = 1; i + length < count; length++)
			if (!same_head(names[i], names[i + length]))
				break;
		osp_text_add(&text, i ? "," : "");
		if (length == 1) {
			osp_text_add(&text, names[i]);
			continue;
		}
		osp_text_add_bytes(&text, names[i], split(names[i]).head_bytes);
		write_numbers(&text, names + i, length);
	}
	return osp_text_take(&text);
}

char *osp_gate_suspects_write(const char *const *names, size_t count, size_t *left_out)
{
	*left_out = 0;
	for (;;) {
		size_t left = count - *left_out;
		/* of no names there may be no array either */
		char *list = write_list(left ? names + *left_out : NULL, left);

		if (!list || !left || strlen(list) <= OSP_GATE_SUSPECTS_BYTES)
			return list;
		free(list);
		*left_out += left > DROP_PART ? left / DROP_PART : 1;
	}
}
