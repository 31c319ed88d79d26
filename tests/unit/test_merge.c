/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_merge.c - one topology of several */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/topology/merge.h"
#include "lib/topology/readers.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define CLOUD                                                                                      \
	"{\"onespine-topology\": 1, \"levels\": [\"nvlink\", \"leaf\", \"spine\", \"zone\"], "     \
	"\"domains\": [{\"level\": \"zone\", \"name\": \"z\"}, {\"level\": \"spine\", \"name\": "  \
	"\"s\", \"in\": \"z\"}, {\"level\": \"leaf\", \"name\": \"l\", \"in\": \"s\", "            \
	"\"nodes\": \"n[1-3]\"}], \"places\": [{\"source\": \"ec2\", \"nodes\": [\"n1 i-1 9\"]}]}"
#define CABLES                                                                                     \
	"{\"onespine-topology\": 1, \"levels\": [\"leaf\", \"rail\", \"spine\"], \"domains\": ["   \
	"{\"level\": \"spine\", \"name\": \"t\"}, {\"level\": \"leaf\", \"name\": \"m\", \"in\": " \
	"\"t\", \"nodes\": \"n[3-5]\"}]}"

static struct osp_topology *read(const char *text)
{
	struct osp_error error = {.text = ""};
	struct osp_topology *topology =
		text ? osp_read_onespine_topology("t", text, strlen(text), &error) : NULL;

	assert_string_equal(error.text, "");
	return topology;
}

static struct osp_topology *merge(const char *one, const char *other, struct osp_error *error)
{
	struct osp_topology *read_ones[] = {read(one), NULL, read(other)};
	const struct osp_topology *parts[] = {read_ones[0], NULL, read_ones[2]};
	struct osp_topology *merged = osp_topology_merge(parts, COUNT(parts), error);

	osp_topology_free(read_ones[0]);
	osp_topology_free(read_ones[2]);
	return merged;
}

/* "" where it is in none. */
static const char *domain_of(const struct osp_topology *topology, const char *node,
			     const char *level)
{
	uint32_t domain = osp_topology_domain_of(topology, osp_topology_find_node(topology, node),
						 (uint32_t)osp_topology_level(topology, level));

	return domain == OSP_NO_DOMAIN ? "" : osp_topology_domain(topology, domain)->name;
}

static void levels_of_one_name_are_one(void **state)
{
	static const char *const levels[] = {"node", "nvlink", "leaf", "rail", "spine", "zone"};
	struct osp_error error = {.text = ""};
	struct osp_topology *merged = merge(CLOUD, CABLES, &error);

	(void)state;
	assert_non_null(merged);
	assert_int_equal(osp_topology_level_count(merged), COUNT(levels) - 1);
	for (uint32_t level = 0; level < COUNT(levels); level++)
		assert_string_equal(osp_topology_level_name(merged, level), levels[level]);
	assert_int_equal(osp_topology_node_count(merged), 5);
	assert_string_equal(domain_of(merged, "n1", "spine"), "s");
	assert_string_equal(domain_of(merged, "n1", "zone"), "z");
	assert_string_equal(domain_of(merged, "n5", "leaf"), "m");
	assert_string_equal(domain_of(merged, "n5", "spine"), "t");
	assert_string_equal(domain_of(merged, "n5", "zone"), "");
	assert_string_equal(domain_of(merged, "n5", "nvlink"), "");
	/* in both: the first's */
	assert_string_equal(domain_of(merged, "n3", "leaf"), "l");
	assert_string_equal(domain_of(merged, "n3", "spine"), "s");
	/* notes go with their nodes */
	assert_string_equal(osp_topology_note_of(merged, "n1")->instance_id, "i-1");
	assert_null(osp_topology_note_of(merged, "n5"));
	osp_topology_free(merged);
}

static void what_cannot_be_one_is_refused(void **state)
{
	static const struct {
		const char *one, *other, *says;
	} cases[] = {
		{CLOUD,
		 "{\"onespine-topology\": 1, \"levels\": [\"spine\", \"leaf\"], \"domains\": ["
		 "{\"level\": \"leaf\", \"name\": \"a\", \"nodes\": \"n9\"}]}",
		 "one source has level spine below leaf, another above it"},
		{CLOUD,
		 "{\"onespine-topology\": 1, \"levels\": [\"leaf\"], \"domains\": ["
		 "{\"level\": \"leaf\", \"name\": \"l\", \"nodes\": \"n9\"}]}",
		 "two sources have a leaf l: nobody can tell whether it is one"},
		{NULL, NULL, "no source has an answer"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_error error = {.text = ""};

		assert_null(merge(cases[i].one, cases[i].other, &error));
		assert_string_equal(error.text, cases[i].says);
	}
}

static void one_alone_stays_as_it_is(void **state)
{
	struct osp_error error = {.text = ""};
	struct osp_topology *alone = read(CLOUD), *merged = merge(NULL, CLOUD, &error);
	char *before = osp_write_onespine_topology(alone, "ec2");
	char *after = osp_write_onespine_topology(merged, "ec2");

	(void)state;
	assert_string_equal(after, before);
	free(before);
	free(after);
	osp_topology_free(alone);
	osp_topology_free(merged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_of_one_name_are_one),
		cmocka_unit_test(what_cannot_be_one_is_refused),
		cmocka_unit_test(one_alone_stays_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
