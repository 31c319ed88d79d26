/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_asked.c - since when places are kept */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "host/source/apply.h"
#include "lib/topology/readers.h"

static const char fabric[] =
	"{\"onespine-topology\": 1, \"levels\": [\"leaf\"], \"domains\": [\n{\"level\": \"leaf\", "
	"\"name\": \"a\", \"nodes\": \"n[1-3]\"}], \"places\": [{\"source\": \"ec2\", \"nodes\": "
	"[\"n1 i-1 1700000000\", \"n2 i-2 1700000000\", \"n3 i-3 1700000000\"]}]}";

struct times {
	char folder[64], path[96], asked[112];
	struct osp_topology *topology;
};

static int begin(void **state)
{
	struct times *times = calloc(1, sizeof(*times));
	struct osp_error error = {.text = ""};

	assert_non_null(times);
	snprintf(times->folder, sizeof(times->folder), "/tmp/test_asked.XXXXXX");
	assert_non_null(mkdtemp(times->folder));
	snprintf(times->path, sizeof(times->path), "%s/t", times->folder);
	snprintf(times->asked, sizeof(times->asked), "%s.asked", times->path);
	times->topology = osp_read_onespine_topology("t", fabric, strlen(fabric), &error);
	if (!times->topology)
		fail_msg("%s", error.text);
	*state = times;
	return 0;
}

static int end(void **state)
{
	struct times *times = *state;

	unlink(times->asked);
	rmdir(times->folder);
	osp_topology_free(times->topology);
	free(times);
	return 0;
}

static void note(const struct times *times, const char *kept, int64_t time_s)
{
	struct osp_error error = {.text = ""};

	if (osp_apply_note_asked(times->path, times->topology, kept, time_s, &error))
		fail_msg("%s", error.text);
}

static void expect_kept(const struct times *times, const char *nodes, int64_t since_s)
{
	int64_t oldest_s;
	char *list = osp_apply_list_kept(times->path, times->topology, &oldest_s);

	assert_string_equal(list ? list : "", nodes);
	if (list)
		assert_int_equal(oldest_s, since_s);
	free(list);
}

static void kept_places_have_the_time_of_their_answer(void **state)
{
	const struct times *times = *state;

	expect_kept(times, "", 0);
	note(times, NULL, 1000);
	expect_kept(times, "", 0);
	note(times, "n2\n", 2000);
	expect_kept(times, "n2", 1000);
	note(times, "n2\nn3\n", 3000);
	expect_kept(times, "n[2-3]", 1000);
	/* all of them, as those of a reservation while no node runs */
	note(times, "n1\nn2\nn3\n", 4000);
	expect_kept(times, "n[1-3]", 1000);
	note(times, NULL, 5000);
	expect_kept(times, "", 0);
}

static void a_clock_that_is_set_back_hides_none(void **state)
{
	const struct times *times = *state;

	note(times, NULL, 9000);
	note(times, "n2\n", 2000);
	expect_kept(times, "n2", 1999);
	note(times, "n2\n", 3000);
	expect_kept(times, "n2", 1999);
}

/* Of a place that was kept while FILE.asked was gone nobody knows the age: it is not a new one. */
static void a_time_that_is_lost_is_unknown(void **state)
{
	const struct times *times = *state;
	int64_t asked_s[4] = {0};
	struct osp_error error = {.text = ""};

	note(times, NULL, 1000);
	note(times, "n2\n", 2000);
	unlink(times->asked);
	note(times, "n2\n", 3000);
	assert_int_equal(osp_apply_read_asked(times->path, times->topology, asked_s, &error), 0);
	assert_int_equal(asked_s[osp_topology_find_node(times->topology, "n1")], 3000);
	assert_int_equal(asked_s[osp_topology_find_node(times->topology, "n2")], 0);
	expect_kept(times, "n2", 0);
	note(times, "n2\nn3\n", 4000);
	expect_kept(times, "n[2-3]", 0);
	note(times, NULL, 5000);
	expect_kept(times, "", 0);
}

/* A node that is said to be another's instance takes that one's place away at once, in however
 * small a cluster: it is no loss for which an answer is held. */
static void nodes_of_one_instance_do_not_count(void **state)
{
	static const char *const rest[] = {"n3"};
	const struct times *times = *state;
	struct osp_error error = {.text = ""};
	struct osp_listed_node nodes[] = {
		{.name = "n1", .instance_id = "i-1", .boot_s = 1700000000, .runs = true},
		{.name = "n2", .instance_id = "i-2", .boot_s = 1700000000, .runs = true},
		{.name = "n3", .instance_id = "i-3", .boot_s = 1700000000, .runs = true}};
	struct osp_node_list list = {.nodes = nodes, .count = 3};
	struct osp_topology *after = osp_topology_rebase(times->topology, rest, 1, &error);
	struct osp_topology_change change;

	assert_non_null(after);
	assert_int_equal(
		osp_apply_compare(times->topology, after, &list, NULL, NULL, &change, &error), 0);
	assert_int_equal(change.counted, 3);
	assert_int_equal(change.lost, 2);
	nodes[1].instance_id = "i-1";
	assert_int_equal(
		osp_apply_compare(times->topology, after, &list, NULL, NULL, &change, &error), 0);
	assert_int_equal(change.counted, 1);
	assert_int_equal(change.lost, 0);
	/* one that does not run claims nothing */
	nodes[1].runs = false;
	assert_int_equal(
		osp_apply_compare(times->topology, after, &list, NULL, NULL, &change, &error), 0);
	assert_int_equal(change.counted, 2);
	assert_int_equal(change.lost, 1);
	osp_topology_free(after);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(kept_places_have_the_time_of_their_answer, begin,
						end),
		cmocka_unit_test_setup_teardown(a_clock_that_is_set_back_hides_none, begin, end),
		cmocka_unit_test_setup_teardown(a_time_that_is_lost_is_unknown, begin, end),
		cmocka_unit_test_setup_teardown(nodes_of_one_instance_do_not_count, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
