/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_compare.c - what a new answer changes, and the sentence that holds it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/topology/builder.h"
#include "lib/topology/compare.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Bottom first. A fabric is a word for each node n1, n2, ...: the letter of its domain at each of
 * these levels, "-" where it has none. A level that no node has is not in the topology. */
static const char *const names[] = {"nvlink", "leaf", "spine", "core"};
#define LEVELS COUNT(names)
#define WHOLE  "aaaa aaaa aaaa aaaa bbaa bbaa bbaa bbaa"

static bool is_used(const char *fabric, size_t level)
{
	for (const char *word = fabric; *word; word += LEVELS + (word[LEVELS] == ' ')) {
		if (word[level] != '-')
			return true;
	}
	return false;
}

/* Adds a node with its domains, from the top. */
static void add_node(struct osp_builder *builder, const uint32_t *numbers, const char *word,
		     const char *node)
{
	uint32_t above = OSP_NO_DOMAIN;
	char name[] = "?";

	for (size_t level = LEVELS; level-- > 0;) {
		uint32_t domain;

		if (word[level] == '-')
			continue;
		name[0] = word[level];
		domain = osp_builder_domain(builder, numbers[level], name, NULL, NULL);
		if (above != OSP_NO_DOMAIN)
			assert_int_equal(osp_builder_nest(builder, domain, above, NULL, NULL), 0);
		above = domain;
	}
	if (above != OSP_NO_DOMAIN)
		assert_int_equal(osp_builder_node(builder, node, above, NULL, NULL), 0);
}

static struct osp_topology *make(const char *fabric)
{
	struct osp_error error = {.text = ""};
	struct osp_builder *builder;
	struct osp_topology *topology;
	const char *used[LEVELS];
	uint32_t numbers[LEVELS] = {0}, count = 0, node = 0;

	for (size_t level = 0; level < LEVELS; level++) {
		if (!is_used(fabric, level))
			continue;
		used[count] = names[level];
		numbers[level] = ++count;
	}
	builder = osp_builder_new(used, count, &error);
	for (const char *word = fabric; *word; word += LEVELS + (word[LEVELS] == ' ')) {
		char name[16];

		snprintf(name, sizeof(name), "n%u", ++node);
		add_node(builder, numbers, word, name);
	}
	topology = osp_builder_finish(builder, false, &error);
	osp_builder_free(builder);
	assert_string_equal(error.text, "");
	return topology;
}

static void compare(const char *before_fabric, const char *after_fabric, osp_counts_f *counts,
		    struct osp_topology_change *change)
{
	struct osp_topology *before = make(before_fabric), *after = make(after_fabric);

	assert_int_equal(osp_topology_compare(before, after, counts, NULL, change), 0);
	osp_topology_free(before);
	osp_topology_free(after);
}

static void what_is_lost_is_named(void **state)
{
	static const struct {
		const char *after, *says; /* "": it is used */
	} cases[] = {
		{WHOLE, ""},
		{"aaaa aaaa aaaa aaaa ---- ---- ---- ----",
		 "4 of 8 nodes that run lose their place (n5 is the first)"},
		/* a level that other nodes keep */
		{"aaaa aaaa aaaa aaaa -baa -baa -baa -baa",
		 "4 of 8 nodes that run lose their domain of level nvlink (n5 is the first)"},
		/* a level that nobody has any more */
		{"-aaa -aaa -aaa -aaa -baa -baa -baa -baa",
		 "8 of 8 nodes that run lose their domain of level nvlink (n1 is the first)"},
		{"aaa- aaa- aaa- aaa- bba- bba- bba- bba-",
		 "8 of 8 nodes that run lose their domain of level core (n1 is the first)"},
		/* not the same for all */
		{"aaa- aaa- aaa- aaa- -ba- -ba- -ba- -ba-",
		 "8 of 8 nodes that run lose a domain (n1 is the first): 4 of level nvlink, 8 of "
		 "level core"},
		{"aaaa aaaa -aaa -aaa bbaa bbaa ---- ----",
		 "4 of 8 nodes that run lose a domain (n3 is the first): 2 of every level, 2 of "
		 "level nvlink"},
		{"aaaa aaaa aaaa -aaa -baa -baa ---- --aa",
		 "5 of 8 nodes that run lose a domain (n4 is the first): 1 of every level, 4 of "
		 "level nvlink, 1 of level leaf"},
	};
	static const struct osp_topology_guard guard = {OSP_MAX_LOST_PERCENT,
							OSP_MAX_MOVED_PERCENT};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_topology_change change;
		struct osp_error error = {.text = ""};
		char says[256] = "";

		if (cases[i].says[0])
			snprintf(says, sizeof(says), "%s; max_lost is 10 %%", cases[i].says);
		compare(WHOLE, cases[i].after, NULL, &change);
		assert_int_equal(osp_topology_guard(&guard, &change, &error), says[0] ? -1 : 0);
		assert_string_equal(error.text, says);
	}
}

static void another_domain_is_a_move_and_no_loss(void **state)
{
	static const struct osp_topology_guard guard = {0, 10}, wide = {0, 13};
	struct osp_topology_change change;
	struct osp_error error = {.text = ""};

	(void)state;
	compare(WHOLE, "aaaa aaaa aaaa bbaa bbaa bbaa bbaa bbaa", NULL, &change);
	assert_int_equal(change.lost, 0);
	assert_int_equal(change.moved, 1);
	assert_int_equal(osp_topology_guard(&wide, &change, &error), 0);
	assert_int_equal(osp_topology_guard(&guard, &change, &error), -1);
	assert_string_equal(error.text, "1 of 8 nodes that run move to another domain (n4 is the "
					"first); max_moved is 10 %");
	/* another name of all of it */
	compare(WHOLE, "dddd dddd dddd dddd ccdd ccdd ccdd ccdd", NULL, &change);
	assert_int_equal(change.lost + change.moved, 0);
}

static bool is_n1_or_n5(const char *node, void *context)
{
	(void)context;
	return !strcmp(node, "n1") || !strcmp(node, "n5");
}

static void nodes_that_may_have_changed_do_not_count(void **state)
{
	static const struct osp_topology_guard half = {50, 50};
	struct osp_topology_change change;
	struct osp_error error = {.text = ""};

	(void)state;
	compare(WHOLE, "aaaa ---- ---- ---- --aa ---- ---- ---- aaaa", is_n1_or_n5, &change);
	assert_int_equal(change.counted, 2);
	assert_int_equal(change.lost, 1);
	assert_int_equal(change.gained, 1);
	assert_string_equal(change.lost_first, "n5");
	assert_int_equal(osp_topology_guard(&half, &change, &error), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_lost_is_named),
		cmocka_unit_test(another_domain_is_a_move_and_no_loss),
		cmocka_unit_test(nodes_that_may_have_changed_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
