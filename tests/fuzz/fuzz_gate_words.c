/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_gate_words.c - what the gate reads in slurmctld's words about a job and its nodes
 *
 * Lines: GPUs, the piece "gate=" of AdminComment, its suspects, what the user excluded, the
 * partition's nodes, a node's reason.
 *
 * Parser: lib/gate/gate_gres.c lib/gate/gate_text.c lib/gate/gate_exclude.c
 * lib/gate/gate_suspects.c lib/health/reason.c
 */
#include "lib/base/hostlist.h"
#include "lib/gate/gate_exclude.h"
#include "lib/gate/gate_gres.h"
#include "lib/gate/gate_suspects.h"
#include "lib/gate/gate_text.h"
#include "lib/health/reason.h"
#include "tests/fuzz/fuzz.h"

#define NODES_MAX 512 /* more are the same, only slower */

static int count_name(const char *name, void *context)
{
	unsigned int *count = context;

	(void)name;
	return ++*count >= NODES_MAX;
}

static bool is_short(const char *list)
{
	unsigned int count = 0;

	osp_hostlist_expand(list, count_name, &count, NULL);
	return count < NODES_MAX;
}

/* The counts that the gate writes it reads again; of anything else it reads none. */
static void check_stops(const char *note)
{
	struct osp_gate_stops stops = osp_gate_stopped(note), again;
	char words[OSP_GATE_WORDS_BYTES];

	again = osp_gate_stopped(osp_gate_note(&stops, "x", words, sizeof(words)));
	fuzz_check(again.all == stops.all && (!stops.all || again.slow == stops.slow));
	fuzz_check(strncmp(note, "stopped ", 8) == 0 || (!stops.all && !stops.slow));
}

static void check_gres(const char *words)
{
	if (osp_gate_gres_gpus(words))
		fuzz_check(strstr(words, "gpu"));
	if (osp_gate_gres_names_gpus(words))
		fuzz_check(strstr(words, "gpu"));
}

struct expected {
	const char *const *names;
	size_t count, next;
};

static int is_next(const char *name, void *context)
{
	struct expected *expected = context;

	fuzz_check(expected->next < expected->count);
	fuzz_check(!strcmp(name, expected->names[expected->next++]));
	return 0;
}

/* The list of the suspects has whole names, the newest, in their order. */
static void check_list(const struct osp_gate_exclusion *exclusion)
{
	struct expected expected = {.next = 0};
	size_t left_out = 0;
	char *list;

	expected.names = osp_gate_exclude_left(exclusion, &expected.count);
	list = osp_gate_suspects_write(expected.names, expected.count, &left_out);
	fuzz_check(list && strlen(list) <= OSP_GATE_SUSPECTS_BYTES);
	fuzz_check(left_out <= expected.count);
	if (left_out)
		expected.names += left_out;
	expected.count -= left_out;
	if (*list)
		fuzz_check(!osp_hostlist_expand(list, is_next, &expected, NULL));
	fuzz_check(expected.next == expected.count);
	free(list);
}

static void check_exclusion(const char *suspects, const char *users, const char *partition)
{
	struct osp_gate_exclusion exclusion = {.forgotten = 0};
	struct osp_error error = {.text = ""};
	size_t given_back = 0;
	char *all;

	if (!osp_gate_exclude_suspects(&exclusion, suspects, &error) &&
	    !osp_gate_exclude_users(&exclusion, users)) {
		check_list(&exclusion);
		if (!osp_gate_exclude_fit(&exclusion, partition, 3, &given_back))
			check_list(&exclusion);
		all = osp_gate_exclude_write(&exclusion);
		fuzz_check(all);
		free(all);
	}
	osp_gate_exclude_free(&exclusion);
}

FUZZER(gate_words)
{
	char *text = malloc(size + 1), *rest = text, *lines[6];

	fuzz_check(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	for (int i = 0; i < 6; i++) {
		lines[i] = strsep(&rest, "\n");
		if (!lines[i])
			lines[i] = "";
	}
	check_gres(lines[0]);
	check_stops(lines[1]);
	if (is_short(lines[2]) && is_short(lines[3]) && is_short(lines[4]))
		check_exclusion(lines[2], lines[3], lines[4]);
	if (osp_reason_names(lines[5], "ecc"))
		fuzz_check(osp_reason_is_ours(lines[5]));
	free(text);
	return 0;
}
