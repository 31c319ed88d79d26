/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_book.c - the last report of each node, in memory and as a file */
#include "lib/topology/report_book.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/base/name_table.h"
#include "lib/base/room.h"
#include "lib/base/text.h"
#include "lib/topology/place_age.h"
#include "lib/topology/topology.h"

#define FIRST_LINE  "onespine-reports 1"
#define SECOND_LINE "NODE BOOT HEARD INSTANCE NVLINK NEURON LEAVES"
#define UNKNOWN	    "?"

struct entry {
	struct osp_place_report report;
	int64_t heard_s;
};

struct osp_report_book {
	struct entry **entries; /* each stays where it is: the table has their names */
	uint32_t count, room;
	struct osp_name_table by_name;
};

struct osp_report_book *osp_report_book_new(void)
{
	return calloc(1, sizeof(struct osp_report_book));
}

void osp_report_book_free(struct osp_report_book *book)
{
	for (uint32_t i = 0; book && i < book->count; i++)
		free(book->entries[i]);
	if (book) {
		free(book->entries);
		osp_name_table_free(&book->by_name);
	}
	free(book);
}

uint32_t osp_report_book_count(const struct osp_report_book *book)
{
	return book->count;
}

const struct osp_place_report *osp_report_book_find(const struct osp_report_book *book,
						    const char *node, int64_t *heard_s)
{
	uint32_t index = osp_name_table_find(&book->by_name, 0, node);

	if (index == OSP_NAME_ABSENT)
		return NULL;
	if (heard_s)
		*heard_s = book->entries[index]->heard_s;
	return &book->entries[index]->report;
}

/* --- taking ----------------------------------------------------------------------------------- */

/* Returns the node's entry, made if it is new; NULL if memory or the room for nodes ran out. */
static struct entry *entry_of(struct osp_report_book *book, const char *node)
{
	uint32_t index = osp_name_table_find(&book->by_name, 0, node);
	struct entry *entry;

	if (index != OSP_NAME_ABSENT)
		return book->entries[index];
	if (book->count == OSP_NODES_MAX || osp_make_room((void **)&book->entries, &book->room,
							  book->count, sizeof(*book->entries)))
		return NULL;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	snprintf(entry->report.node, sizeof(entry->report.node), "%s", node);
	if (osp_name_table_add(&book->by_name, 0, entry->report.node, book->count)) {
		free(entry);
		return NULL;
	}
	book->entries[book->count++] = entry;
	return entry;
}

/* Keeps the word of before if none could be found out this time. */
static void keep_word(char to[OSP_REPORT_WORD_BYTES], const char *before)
{
	if (!*to)
		memcpy(to, before, OSP_REPORT_WORD_BYTES);
}

static struct osp_place_report merged(const struct osp_place_report *before,
				      const struct osp_place_report *report)
{
	struct osp_place_report now = *report;

	memset(now.challenge, 0, sizeof(now.challenge));
	if (!before->boot_s || !osp_boot_is_same(before->boot_s, report->boot_s))
		return now;
	now.boot_s = osp_boot_steady(before->boot_s, report->boot_s);
	keep_word(now.instance, before->instance);
	keep_word(now.nvlink, before->nvlink);
	keep_word(now.neuron, before->neuron);
	if (!now.leaves_known) {
		now.leaves_known = before->leaves_known;
		now.leaf_count = before->leaf_count;
		memcpy(now.leaves, before->leaves, sizeof(now.leaves));
	}
	return now;
}

static bool says_the_same(const struct osp_place_report *a, const struct osp_place_report *b)
{
	return a->boot_s == b->boot_s && !strcmp(a->instance, b->instance) &&
	       !strcmp(a->nvlink, b->nvlink) && !strcmp(a->neuron, b->neuron) &&
	       a->leaves_known == b->leaves_known && a->leaf_count == b->leaf_count &&
	       !memcmp(a->leaves, b->leaves, a->leaf_count * sizeof(a->leaves[0]));
}

int osp_report_book_take(struct osp_report_book *book, const struct osp_place_report *report,
			 int64_t heard_s)
{
	struct entry *entry = entry_of(book, report->node);
	struct osp_place_report now;
	bool same;

	if (!entry)
		return -1;
	now = merged(&entry->report, report);
	same = says_the_same(&entry->report, &now);
	/* The name stays where it is, because the table has it; the bytes are the same. */
	entry->report = now;
	entry->heard_s = heard_s;
	return !same;
}

/* --- writing ---------------------------------------------------------------------------------- */

static const char *word_or(const char *word)
{
	return *word ? word : UNKNOWN;
}

static void write_leaves(const struct osp_place_report *report, struct osp_text *text)
{
	if (!report->leaves_known || !report->leaf_count)
		osp_text_add(text, report->leaves_known ? OSP_REPORT_NONE : UNKNOWN);
	for (uint32_t i = 0; report->leaves_known && i < report->leaf_count; i++)
		osp_text_printf(text, "%s0x%016" PRIx64, i ? "," : "", report->leaves[i]);
}

static int by_name(const void *a, const void *b)
{
	const struct entry *left = *(struct entry *const *)a, *right = *(struct entry *const *)b;

	return osp_name_compare(left->report.node, right->report.node);
}

char *osp_report_book_write(const struct osp_report_book *book)
{
	struct entry **sorted = calloc((size_t)book->count + 1, sizeof(struct entry *));
	struct osp_text text = OSP_TEXT_INIT;

	if (!sorted)
		return NULL;
	if (book->count)
		memcpy(sorted, book->entries, book->count * sizeof(struct entry *));
	qsort(sorted, book->count, sizeof(struct entry *), by_name);
	osp_text_add(&text, FIRST_LINE "\n" SECOND_LINE "\n");
	for (uint32_t i = 0; i < book->count; i++) {
		const struct osp_place_report *report = &sorted[i]->report;

		osp_text_printf(&text, "%s %" PRId64 " %" PRId64 " %s %s %s ", report->node,
				report->boot_s, sorted[i]->heard_s, word_or(report->instance),
				word_or(report->nvlink), word_or(report->neuron));
		write_leaves(report, &text);
		osp_text_add(&text, "\n");
	}
	free(sorted);
	return osp_text_take(&text);
}

/* --- reading ---------------------------------------------------------------------------------- */

enum { NODE, BOOT, HEARD, INSTANCE, NVLINK, NEURON, LEAVES, COLUMNS };

static int read_time(const char *word, int64_t *time_s)
{
	size_t length = strlen(word);

	if (!length || length > 12 || strspn(word, "0123456789") != length)
		return -1;
	*time_s = strtoll(word, NULL, 10);
	return 0;
}

static int read_word(char to[OSP_REPORT_WORD_BYTES], const char *word)
{
	*to = '\0';
	return !strcmp(word, UNKNOWN) || *osp_report_word(to, word) ? 0 : -1;
}

static int read_leaves(struct osp_place_report *report, char *list)
{
	char *word, *end;

	report->leaves_known = strcmp(list, UNKNOWN) != 0;
	if (!report->leaves_known || !strcmp(list, OSP_REPORT_NONE))
		return 0;
	while ((word = strsep(&list, ","))) {
		uint64_t guid = strtoull(word, &end, 16);

		if (strncmp(word, "0x", 2) != 0 || end == word + 2 || *end ||
		    !osp_report_add_leaf(report, guid))
			return -1;
	}
	return 0;
}

/* Reads a line's words; it is cut up. */
static int read_line(struct osp_report_book *book, char *line)
{
	struct osp_place_report report = {.node = ""};
	char *words[COLUMNS], *word;
	int64_t heard_s;
	int count = 0;

	while ((word = strsep(&line, " "))) {
		if (count == COLUMNS || !*word)
			return -1;
		words[count++] = word;
	}
	if (count != COLUMNS || strlen(words[NODE]) >= sizeof(report.node) ||
	    osp_report_book_find(book, words[NODE], NULL))
		return -1;
	strcpy(report.node, words[NODE]);
	if (read_time(words[BOOT], &report.boot_s) || read_time(words[HEARD], &heard_s) ||
	    read_word(report.instance, words[INSTANCE]) ||
	    read_word(report.nvlink, words[NVLINK]) || read_word(report.neuron, words[NEURON]) ||
	    read_leaves(&report, words[LEAVES]))
		return -1;
	return osp_report_book_take(book, &report, heard_s) < 0 ? -1 : 0;
}

static int read_lines(struct osp_report_book *book, const char *file, char *text,
		      struct osp_error *error)
{
	static const char *const first[] = {FIRST_LINE, SECOND_LINE};
	char *line;

	for (int number = 1; (line = strsep(&text, "\n")); number++) {
		if (number <= 2 && strcmp(line, first[number - 1]) != 0)
			return osp_error_at(error, file, number, 1, "\"%s\" is expected",
					    first[number - 1]);
		if (number > 2 && *line && read_line(book, line))
			return osp_error_at(error, file, number, 1,
					    "\"" SECOND_LINE "\" is expected, each node once");
	}
	return 0;
}

struct osp_report_book *osp_report_book_read(const char *file, const char *text, size_t text_bytes,
					     struct osp_error *error)
{
	struct osp_report_book *book = osp_report_book_new();
	char *copy = calloc(1, text_bytes + 1);
	int rc = book && copy ? 0 : osp_error_set(error, "out of memory");

	if (!rc) {
		memcpy(copy, text, text_bytes);
		rc = read_lines(book, file, copy, error);
	}
	free(copy);
	if (!rc)
		return book;
	osp_report_book_free(book);
	return NULL;
}
