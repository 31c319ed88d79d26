/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hostlist_compact.c - writes many names as one short list
 *
 * Names are folded from the right, one number in each pass: r1n1 r1n2 r2n1 r2n2 is r1n[1-2]
 * r2n[1-2] after the first pass and r[1-2]n[1-2] after the second. A bracket must end a name (Slurm
 * reads no other), so later passes touch only names that the first one folded.
 */
#include "lib/base/hostlist.h"

#include <ctype.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"

#define DIGITS_MAX 18
#define RANGE_MAX  65536 /* numbers in one of Slurm's ranges, and names folded into one bracket */
#define PASSES_MAX 8	 /* brackets in one name (hostlist.c) */

/* "head" + "tail": r1n + [1-2]. Before the first fold the tail is empty. */
struct item {
	const char *head;
	size_t head_bytes;
	char *tail; /* NULL: empty */
	/* how the head ends, found again in each pass: prefix, number, and the letters after it */
	size_t prefix_bytes;
	size_t digits;
	uint64_t value;
	bool can_fold;
};

static int by_name(const void *a, const void *b)
{
	return osp_name_compare(*(const char *const *)a, *(const char *const *)b);
}

/* Finds the last number of the head. In the first pass it must end the name. */
static void split(struct item *item)
{
	size_t end = item->head_bytes;

	item->can_fold = false;
	while (item->tail && end && !isdigit((unsigned char)item->head[end - 1]))
		end--;
	item->prefix_bytes = end;
	while (item->prefix_bytes && isdigit((unsigned char)item->head[item->prefix_bytes - 1]))
		item->prefix_bytes--;
	item->digits = end - item->prefix_bytes;
	if (!item->digits || item->digits > DIGITS_MAX)
		return;
	item->value = 0;
	for (size_t i = item->prefix_bytes; i < end; i++)
		item->value = item->value * 10 + (uint64_t)(item->head[i] - '0');
	item->can_fold = true;
}

/* Returns the letters between the number and the tail. */
static const char *after_number(const struct item *item, size_t *count)
{
	*count = item->head_bytes - item->prefix_bytes - item->digits;
	return item->head + item->prefix_bytes + item->digits;
}

static bool same_but_number(const struct item *a, const struct item *b)
{
	size_t a_after, b_after;
	const char *a_letters = after_number(a, &a_after);
	const char *b_letters = after_number(b, &b_after);

	return a->can_fold && b->can_fold && a->prefix_bytes == b->prefix_bytes &&
	       !memcmp(a->head, b->head, a->prefix_bytes) && a_after == b_after &&
	       !memcmp(a_letters, b_letters, a_after) && !a->tail == !b->tail &&
	       (!a->tail || !strcmp(a->tail, b->tail));
}

/* Returns whether `next` continues a range that starts with `first` and has `count` numbers so
 * far. */
static bool continues(const struct item *first, const struct item *next, size_t count)
{
	return count < RANGE_MAX && next->value == first->value + count &&
	       (next->digits == first->digits ||
		(next->digits > first->digits && next->head[next->prefix_bytes] != '0'));
}

/* Writes the ranges of items[0 .. count - 1], which differ only in one number. */
static void write_ranges(struct osp_text *text, const struct item *items, size_t count)
{
	size_t length;

	for (size_t i = 0; i < count; i += length) {
		for (length = 1; i + length < count; length++) {
			if (!continues(&items[i], &items[i + length], length))
				break;
		}
		osp_text_add_bytes(text, ",", i > 0);
		osp_text_add_bytes(text, items[i].head + items[i].prefix_bytes, items[i].digits);
		if (length == 1)
			continue;
		osp_text_add(text, "-");
		osp_text_add_bytes(text, items[i + length - 1].head + items[i].prefix_bytes,
				   items[i + length - 1].digits);
	}
}

/* Folds `count` items into the first. Returns -1 if memory ran out. */
static int fold_group(struct item *items, size_t count, bool *changed)
{
	struct osp_text tail = OSP_TEXT_INIT;
	size_t letter_count;
	const char *letters = after_number(&items[0], &letter_count);
	char *folded;

	osp_text_add(&tail, "[");
	write_ranges(&tail, items, count);
	osp_text_add(&tail, "]");
	osp_text_add_bytes(&tail, letters, letter_count);
	if (items[0].tail)
		osp_text_add(&tail, items[0].tail);
	folded = osp_text_take(&tail);
	if (!folded)
		return -1;
	for (size_t i = 0; i < count; i++) {
		free(items[i].tail);
		items[i].tail = NULL;
	}
	items[0].head_bytes = items[0].prefix_bytes;
	items[0].tail = folded;
	*changed = true;
	return 0;
}

/*
 * Moves the last number of a head that folded nothing in a later pass into its tail, so that the
 * next pass looks further left.
 */
static int pass_over(struct item *item, bool *changed)
{
	struct osp_text tail = OSP_TEXT_INIT;
	char *longer;

	if (!item->tail || !item->digits)
		return 0;
	osp_text_add_bytes(&tail, item->head + item->prefix_bytes,
			   item->head_bytes - item->prefix_bytes);
	osp_text_add(&tail, item->tail);
	longer = osp_text_take(&tail);
	if (!longer)
		return -1;
	free(item->tail);
	item->tail = longer;
	item->head_bytes = item->prefix_bytes;
	*changed = true;
	return 0;
}

/* Runs one pass over all items, which are split. Returns how many remain, or -1 if memory ran
 * out. */
static int64_t fold(struct item *items, size_t count, bool *changed)
{
	size_t kept = 0, length;

	for (size_t i = 0; i < count; i += length) {
		for (length = 1; i + length < count && length < RANGE_MAX; length++) {
			if (!same_but_number(&items[i], &items[i + length]))
				break;
		}
		if (length > 1 ? fold_group(&items[i], length, changed)
			       : pass_over(&items[i], changed))
			return -1;
		if (kept != i) {
			items[kept] = items[i];
			items[i].tail = NULL;
		}
		kept++;
	}
	return (int64_t)kept;
}

static char *join(const struct item *items, size_t count)
{
	struct osp_text text = OSP_TEXT_INIT;

	for (size_t i = 0; i < count; i++) {
		osp_text_add(&text, i ? "," : "");
		osp_text_add_bytes(&text, items[i].head, items[i].head_bytes);
		if (items[i].tail)
			osp_text_add(&text, items[i].tail);
	}
	return osp_text_take(&text);
}

static char *compact(struct item *items, size_t item_count)
{
	int64_t count = (int64_t)item_count;
	bool changed = true;
	char *list = NULL;

	for (int pass = 0; pass < PASSES_MAX && changed && count > 1; pass++) {
		for (int64_t i = 0; pass && i < count; i++)
			split(&items[i]);
		changed = false;
		count = fold(items, (size_t)count, &changed);
	}
	if (count >= 0)
		list = join(items, (size_t)count);
	for (size_t i = 0; i < item_count; i++)
		free(items[i].tail);
	return list;
}

/* Compares as osp_name_compare() does, sooner found for names that differ in their last
 * number. */
static int compare_items(const struct item *a, const struct item *b)
{
	if (same_but_number(a, b) && a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return osp_name_compare(a->head, b->head);
}

/* Makes an item of each name. Returns false if they do not ascend. */
static bool fill_items(struct item *items, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		items[i].head = names[i];
		items[i].head_bytes = strlen(names[i]);
		split(&items[i]);
		if (i && compare_items(&items[i - 1], &items[i]) >= 0)
			return false;
	}
	return true;
}

/* Makes an item of each name, sorted, of equal ones of one. Returns how many; -1 if memory ran
 * out. */
static int64_t fill_sorted(struct item *items, const char *const *names, size_t count)
{
	const char **sorted = calloc(count, sizeof(*sorted));
	size_t kept = 0;

	if (!sorted)
		return -1;
	memcpy(sorted, names, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), by_name);
	for (size_t i = 0; i < count; i++) {
		if (i && !strcmp(sorted[i], sorted[i - 1]))
			continue;
		items[kept].head = sorted[i];
		items[kept].head_bytes = strlen(sorted[i]);
		split(&items[kept++]);
	}
	free(sorted);
	return (int64_t)kept;
}

char *osp_hostlist_compact(const char *const *names, size_t count)
{
	struct item *items = calloc(count + 1, sizeof(*items));
	int64_t kept = (int64_t)count;
	char *list = NULL;

	/* names along the fabric come sorted */
	if (items && !fill_items(items, names, count))
		kept = fill_sorted(items, names, count);
	if (items && kept >= 0)
		list = compact(items, (size_t)kept);
	free(items);
	return list;
}
