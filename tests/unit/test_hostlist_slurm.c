/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Our hostlists against Slurm's own: what either expands, and what we write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <slurm/slurm.h>

#include "lib/base/hostlist.h"
#include "lib/base/text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int add(const char *name, void *context)
{
	osp_text_printf(context, "%s\n", name);
	return 0;
}

static char *expanded_by_us(const char *list)
{
	struct osp_text text = OSP_TEXT_INIT;
	struct osp_error error = {0};

	if (osp_hostlist_expand(list, add, &text, &error))
		fail_msg("%s: %s", list, error.text);
	return osp_text_take(&text);
}

static char *expanded_by_slurm(const char *list)
{
	/* a pointer from 23.11 on, before that a type of that meaning */
	__auto_type hosts = slurm_hostlist_create(list);
	struct osp_text text = OSP_TEXT_INIT;
	char *name;

	if (!hosts)
		fail_msg("Slurm refuses %.200s", list);
	while ((name = slurm_hostlist_shift(hosts))) {
		add(name, &text);
		free(name);
	}
	slurm_hostlist_destroy(hosts);
	return osp_text_take(&text);
}

static void same_for_both(const char *list)
{
	char *ours = expanded_by_us(list), *slurms = expanded_by_slurm(list);

	assert_string_equal(ours, slurms);
	free(ours);
	free(slurms);
}

static void both_expand_alike(void **state)
{
	static const char *const lists[] = {
		"gpu-[1-4,7],login",
		"n[08-10]",
		"n[8-10,010]",
		"n[099-101,5]",
		"r[1-2]n[1-2]",
		"a[1-2]b[3]c[04-05]",
		"a b\tc,,d,",
		"[1-2]",
		"nn-0123456789abcdef0,nn-3e5",
		"use1-az[4,6]",
		"s123456789012345678",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(lists); i++)
		same_for_both(lists[i]);
}

static void slurm_reads_what_we_write(void **state)
{
	uint32_t seed = 3;

	(void)state;
	for (int round = 0; round < 300; round++) {
		char names[60][32], *list;
		const char *pointers[60];

		for (int i = 0; i < 60; i++) {
			seed = seed * 1664525u + 1013904223u;
			snprintf(names[i], sizeof(names[i]), "%s%0*ux%0*u",
				 seed >> 31 ? "r" : "r1-", (int)(seed >> 30 & 1) + 1,
				 seed >> 25 & 15, (int)(seed >> 24 & 1) + 1, seed >> 18 & 15);
			pointers[i] = names[i];
		}
		list = osp_hostlist_compact(pointers, 60);
		same_for_both(list);
		free(list);
	}
}

/* More than one of Slurm's ranges may have. */
static void slurm_reads_the_largest_list(void **state)
{
	static char names[OSP_HOSTLIST_NAMES_MAX][12];
	static const char *pointers[OSP_HOSTLIST_NAMES_MAX];
	char *list;

	(void)state;
	for (int i = 0; i < OSP_HOSTLIST_NAMES_MAX; i++) {
		snprintf(names[i], sizeof(names[i]), "n%d", i);
		pointers[i] = names[i];
	}
	list = osp_hostlist_compact(pointers, OSP_HOSTLIST_NAMES_MAX);
	same_for_both(list);
	free(list);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_expand_alike),
		cmocka_unit_test(slurm_reads_what_we_write),
		cmocka_unit_test(slurm_reads_the_largest_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
