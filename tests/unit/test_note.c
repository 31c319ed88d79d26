/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Our part of AdminComment comes and goes without touching what an administrator wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/policy/note.h"

static const struct osp_note waits = {
	.gang = "spine@30:00",
	.says = "waits: 4 nodes on one spine; nearest: s1 has 3 free of 8 (1 short)",
};

#define WAITS                                                                                      \
	"[onespine: gang=spine@30:00; waits: 4 nodes on one spine; nearest: s1 has 3 free of 8 "   \
	"(1 short)]"

static const struct osp_note placed = {
	.gang = "advise spine",
	.domain = "nn-3f",
	.leaves = "l17:nn-[1-4]|l18:nn-[7-9]",
	.says = "placed: 7 nodes on spine nn-3f, 2 leaves",
};

#define PLACED                                                                                     \
	"[onespine: gang=advise spine; domain=nn-3f; leaves=l17:nn-(1-4)|l18:nn-(7-9); placed: 7 " \
	"nodes on spine nn-3f, 2 leaves]"

static const struct osp_note ordered = {
	.gang = "spine", .leaves = "l1:n[1-2]|l2:n[3-4]", .order = "2x2.2x1/n[1-4]", .says = "x"};

#define ORDERED "[onespine: gang=spine; leaves=l1:n(1-2)|l2:n(3-4); order=2x2.2x1/n(1-4); x]"

/* Its ranks are Slurm's too. */
static const struct osp_note ranked = {.gang = "spine",
				       .leaves = "l1:n[1-2]|l2:n[3-4]",
				       .ranks = OSP_NOTE_SLURM_RANKS,
				       .says = "x"};

#define RANKED "[onespine: gang=spine; leaves=l1:n(1-2)|l2:n(3-4); ranks=slurm; x]"

static const struct osp_note gated = {.gang = "spine", .says = "waits: x", .gate = "stopped 1; n3"};

#define GATED "[onespine: gang=spine; gate=stopped 1, n3; waits: x]"

static const struct osp_note logged = {
	.gate = "3 of 4 kept", .log = "n1:/var/log/[x];gate.log", .suspects = "n3,n7"};

#define LOGGED "[onespine: gate=3 of 4 kept; log=n1:/var/log/(x),gate.log; suspects=n3,n7]"

static const struct osp_note only_gate = {.gate = "3 of 4 kept"};

/* Of the gate, in words that are none. */
static const struct osp_note mute = {
	.gang = "leaf", .says = "waits: x", .gate = "", .log = "", .suspects = ""};

#define MUTE "[onespine: gang=leaf; waits: x]"

static const struct osp_note nothing;

static void merges(void **state)
{
	static const struct {
		const char *old;
		const struct osp_note *note;
		const char *comment;
	} cases[] = {
		{NULL, &waits, WAITS},
		{"", &waits, WAITS},
		{"", &placed, PLACED},
		{"", &mute, MUTE},
		{"", &nothing, "[onespine: ]"},
		{WAITS, &placed, PLACED},
		{"do not touch", &waits, "do not touch " WAITS},
		{"do not touch " WAITS, &placed, "do not touch " PLACED},
		{"do not touch " WAITS, NULL, "do not touch"},
		{"ends in a blank  " WAITS, NULL, "ends in a blank "},
		{"glued" WAITS, NULL, "glued"},
		{"before " WAITS " after", &placed, "before " PLACED " after"},
		{"before " WAITS " after", NULL, "before after"},
		{WAITS " after", NULL, " after"},
		{"[ticket 7] and ]", &waits, "[ticket 7] and ] " WAITS},
		{"[onespine: never closed", &waits, "[onespine: never closed " WAITS},
		{"] [onespine: x", &waits, "] [onespine: x " WAITS},
		{"[onespine: [onespine: x]", NULL, "[onespine:"},
		{"[onespine: old] [onespine: last]", &waits, "[onespine: old] " WAITS},
		{"[onespine] is new here", &waits, "[onespine] is new here " WAITS},
		{"two\nlines \xc3\xa9\x01", &waits, "two\nlines \xc3\xa9\x01 " WAITS},
		{"", &ordered, ORDERED},
		{ORDERED, &placed, PLACED},
		{"", &ranked, RANKED},
		{RANKED, &placed, PLACED},
		{"", &gated, GATED},
		{"x " GATED, &gated, "x " GATED},
		{"[onespine: gang=a; gate=of 4; waits: y]", &gated, GATED},
		/* the gate's piece outlives what the scheduler says */
		{"x [onespine: gate=3 of 4 kept] y", &waits,
		 "x [onespine: gang=spine@30:00; gate=3 of 4 kept; waits: 4 nodes on one spine; "
		 "nearest: s1 has 3 free of 8 (1 short)] y"},
		{"", &only_gate, "[onespine: gate=3 of 4 kept]"},
		{"", &logged, LOGGED},
		{LOGGED, &only_gate, LOGGED},
		{LOGGED, &logged, LOGGED},
		{GATED, NULL, ""},
		{"kept", NULL, "kept"},
		{WAITS, NULL, ""},
		{NULL, NULL, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *comment = osp_note_merge(cases[i].old, cases[i].note);
		char *again;

		assert_string_equal(comment, cases[i].comment);
		if (cases[i].note) {
			again = osp_note_merge(comment, cases[i].note);
			assert_string_equal(again, comment);
			free(again);
		}
		free(comment);
	}
}

/* What an administrator's new words become. */
static void keeps_the_part(void **state)
{
	static const struct {
		const char *old, *said, *becomes;
	} cases[] = {
		{"a [onespine: gang=spine; words] b", "c", "c [onespine: gang=spine; words]"},
		{"[onespine: gang=spine]", "", "[onespine: gang=spine]"},
		{"[onespine: gang=spine]", NULL, "[onespine: gang=spine]"},
		{"[onespine: gang=spine]", "x [onespine: gang=core]", NULL},
		{"[onespine: gang=spine", "c", NULL},
		{"a", "c", NULL},
		{NULL, "c", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *becomes = osp_note_keep(cases[i].old, cases[i].said);

		if (cases[i].becomes)
			assert_string_equal(becomes, cases[i].becomes);
		else
			assert_null(becomes);
		free(becomes);
	}
}

/* cmocka has no assertion for strings that may both be NULL. */
static void same(const char *a, const char *b)
{
	if (!a || !b)
		assert_true(a == b);
	else
		assert_string_equal(a, b);
}

static void finds(void **state)
{
	static const struct {
		const char *comment;
		struct osp_note note;
	} cases[] = {
		{"x " WAITS " y",
		 {.gang = "spine@30:00",
		  .says = "waits: 4 nodes on one spine; nearest: s1 has 3 free of 8 (1 short)"}},
		{PLACED,
		 {.gang = "advise spine",
		  .domain = "nn-3f",
		  .leaves = "l17:nn-[1-4]|l18:nn-[7-9]",
		  .says = "placed: 7 nodes on spine nn-3f, 2 leaves"}},
		{RANKED,
		 {.gang = "spine",
		  .leaves = "l1:n[1-2]|l2:n[3-4]",
		  .ranks = OSP_NOTE_SLURM_RANKS,
		  .says = "x"}},
		{ORDERED,
		 {.gang = "spine",
		  .leaves = "l1:n[1-2]|l2:n[3-4]",
		  .order = "2x2.2x1/n[1-4]",
		  .says = "x"}},
		{"[onespine: ]", {0}},
		{"[onespine: gang=spine]", {.gang = "spine"}},
		{"[onespine: gang=spine;]", {.gang = "spine"}},
		{"[onespine: gang=]", {.gang = ""}},
		{"[onespine: domain=s1; words]", {.domain = "s1", .says = "words"}},
		{"[onespine: domain=s1;words]", {.domain = "s1", .says = "words"}},
		{"[onespine: gan]", {.says = "gan"}},
		{"[onespine: leaves=l1:n(1-2); gang=late]",
		 {.leaves = "l1:n[1-2]", .says = "gang=late"}},
		{"[onespine: one] [onespine: two]", {.says = "two"}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_note note = {0};

		assert_true(osp_note_find(cases[i].comment, &note));
		same(note.gang, cases[i].note.gang);
		same(note.domain, cases[i].note.domain);
		same(note.leaves, cases[i].note.leaves);
		same(note.order, cases[i].note.order);
		same(note.ranks, cases[i].note.ranks);
		same(note.says, cases[i].note.says);
		osp_note_free_pieces(&note);
		assert_null(note.gang);
	}
}

static void finds_none(void **state)
{
	static const char *const cases[] = {
		NULL,
		"",
		"text",
		"[onespine]",
		"[onespine: open",
		"] [onespine: open",
		"[Onespine: x]",
		"onespine: x]",
	};
	struct osp_note note;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_false(osp_note_find(cases[i], &note));
}

/* What could end the part or a piece of it early comes out changed, not broken. */
static void tames_what_it_writes(void **state)
{
	struct osp_note note = {
		.gang = "a;b]c",
		.domain = "d[1];e",
		.leaves = "l;1:n[1-2]",
		.says = "x] [onespine: y;\nz",
	};
	char *comment = osp_note_merge("keep", &note);

	(void)state;
	assert_string_equal(comment, "keep [onespine: gang=a,b)c; domain=d(1),e; "
				     "leaves=l,1:n(1-2); x) (onespine: y; z]");
	assert_true(osp_note_find(comment, &note));
	assert_string_equal(note.gang, "a,b)c");
	assert_string_equal(note.domain, "d(1),e");
	assert_string_equal(note.leaves, "l,1:n[1-2]");
	assert_string_equal(note.says, "x) (onespine: y; z");
	osp_note_free_pieces(&note);
	free(comment);
}

static char *repeat(char c, size_t count)
{
	char *string = malloc(count + 1);

	assert_non_null(string);
	memset(string, c, count);
	string[count] = '\0';
	return string;
}

/* One byte more and the leaves go, so that the words stay. */
static void leaves_out_long_leaves(void **state)
{
	size_t others = strlen("[onespine: gang=spine; leaves=; words]");
	char *leaves = repeat('l', OSP_NOTE_BYTES_MAX - others + 1);
	struct osp_note note = {.gang = "spine", .leaves = leaves, .says = "words"};
	char *comment = osp_note_merge(NULL, &note);

	(void)state;
	assert_string_equal(comment, "[onespine: gang=spine; words]");
	free(comment);
	leaves[OSP_NOTE_BYTES_MAX - others] = '\0';
	comment = osp_note_merge(NULL, &note);
	assert_int_equal(strlen(comment), OSP_NOTE_BYTES_MAX);
	assert_true(osp_note_find(comment, &note));
	assert_string_equal(note.leaves, leaves);
	assert_string_equal(note.says, "words");
	osp_note_free_pieces(&note);
	free(comment);
	free(leaves);
}

static void cuts_long_words(void **state)
{
	char *words = repeat('w', 10000);
	struct osp_note note = {.gang = words, .domain = words, .leaves = words, .says = words};
	char *comment = osp_note_merge("old", &note);
	size_t length = strlen(comment);

	(void)state;
	assert_int_equal(length, strlen("old ") + OSP_NOTE_BYTES_MAX);
	assert_string_equal(comment + length - 3, "ww]");
	assert_null(strstr(comment, "leaves="));
	free(comment);
	/* A character of two bytes that does not fit whole is left out whole. */
	note = (struct osp_note){.gang = "s", .says = words};
	for (size_t i = 0; i + 1 < 10000; i += 2)
		memcpy(words + i, "\xc3\xa9", 2);
	comment = osp_note_merge(NULL, &note);
	length = strlen(comment);
	assert_in_range(length, OSP_NOTE_BYTES_MAX - 1, OSP_NOTE_BYTES_MAX);
	assert_memory_equal(comment + length - 3, "\xc3\xa9]", 3);
	free(comment);
	free(words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merges),
		cmocka_unit_test(keeps_the_part),
		cmocka_unit_test(finds),
		cmocka_unit_test(finds_none),
		cmocka_unit_test(tames_what_it_writes),
		cmocka_unit_test(leaves_out_long_leaves),
		cmocka_unit_test(cuts_long_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
