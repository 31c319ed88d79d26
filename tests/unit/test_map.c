/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_map.c - pictures of 16 and of 8,192 nodes, byte for byte as under tests/data/map/
 *
 * OSP_WRITE_GOLDEN=1 writes them anew, to be looked at before they are committed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/picture/map.h"
#include "host/slurm/gang.h"

#define TEXT_BYTES_MAX ((size_t)16 * 1024 * 1024)

static const char *data_path(const char *name, char *buffer, size_t buffer_bytes)
{
	const char *folder = getenv("srcdir");

	snprintf(buffer, buffer_bytes, "%s/tests/data/map/%s", folder ? folder : ".", name);
	return buffer;
}

static char *read_data(const char *name)
{
	char path[512];
	size_t bytes;
	char *text = osp_read_file(data_path(name, path, sizeof(path)), TEXT_BYTES_MAX, &bytes);

	if (!text)
		fail_msg("cannot read %s", path);
	return text;
}

static void open_world(const char *text, struct osp_world *world)
{
	struct osp_error error = {.text = ""};
	struct osp_topology *topology = NULL;

	memset(world, 0, sizeof(*world));
	world->snapshot = osp_snapshot_from_json("state", text, strlen(text), &topology, &error);
	assert_string_equal(error.text, "");
	assert_non_null(topology);
	world->topology = osp_snapshot_rebase(world->snapshot, topology, &error);
	assert_non_null(world->topology);
	osp_topology_free(topology);
}

static void close_world(struct osp_world *world)
{
	osp_topology_free(world->topology);
	osp_snapshot_free(world->snapshot);
}

/* --- 8,192 nodes ------------------------------------------------------------------------------ */

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

#define SPINES	     32
#define LEAVES	     16
#define NODES_A_LEAF 16
#define SPINE_NODES  (LEAVES * NODES_A_LEAF)

static void add_big_topology(struct osp_text *text)
{
	uint32_t spine;
	uint32_t leaf;

	osp_text_add(text,
		     "\"topology\":{\"onespine-topology\":1,"
		     "\"levels\":[\"leaf\",\"spine\",\"core\"],\"domains\":["
		     "{\"level\":\"core\",\"name\":\"c1\"},{\"level\":\"core\",\"name\":\"c2\"}");
	for (spine = 0; spine < SPINES; spine++)
		osp_text_printf(text, ",{\"level\":\"spine\",\"name\":\"s%02u\",\"in\":\"c%u\"}",
				spine + 1, spine / (SPINES / 2) + 1);
	for (spine = 0; spine < SPINES; spine++)
		for (leaf = 0; leaf < LEAVES; leaf++) {
			uint32_t first = spine * SPINE_NODES + leaf * NODES_A_LEAF + 1;

			osp_text_printf(text,
					",{\"level\":\"leaf\",\"name\":\"l%02u-%02u\",\"in\":"
					"\"s%02u\",\"nodes\":\"n[%04u-%04u]\"}",
					spine + 1, leaf + 1, spine + 1, first,
					first + NODES_A_LEAF - 1);
		}
	osp_text_add(text, "]}");
}

/* Fills each spine with jobs from its first node on, up to a random point; in what is left some
 * nodes are out. */
static char *big_state(void)
{
	static const char *const out[] = {"down", "drained", "reserved", "powered-down"};
	struct osp_text nodes = OSP_TEXT_INIT;
	struct osp_text jobs = OSP_TEXT_INIT;
	struct osp_text all = OSP_TEXT_INIT;
	uint32_t seed = 7;
	uint32_t id = 1000;
	uint32_t spine;

	for (spine = 0; spine < SPINES; spine++) {
		uint32_t until = next_random(&seed) % (SPINE_NODES + 40);
		uint32_t base = spine * SPINE_NODES + 1;
		uint32_t node = 0;

		until = until > SPINE_NODES ? SPINE_NODES : until;
		while (node < until) {
			uint32_t size = (uint32_t)1 << (next_random(&seed) % 7);

			size = size > until - node ? until - node : size;
			id++;
			osp_text_printf(&jobs,
					"%s{\"id\":%u,\"job\":\"%u\",\"phase\":\"running\","
					"\"state\":\"RUNNING\",\"node_count\":%u,"
					"\"nodes\":\"n[%04u-%04u]\",\"admin_comment\":"
					"\"[onespine: gang=spine; domain=s%02u]\"}",
					jobs.length_bytes ? "," : "", id, id, size, base + node,
					base + node + size - 1, spine + 1);
			node += size;
		}
		if (until)
			osp_text_printf(&nodes, "%s{\"nodes\":\"n[%04u-%04u]\",\"state\":\"busy\"}",
					nodes.length_bytes ? "," : "", base, base + until - 1);
		for (; node < SPINE_NODES; node++)
			osp_text_printf(&nodes, "%s{\"nodes\":\"n%04u\",\"state\":\"%s\"}",
					nodes.length_bytes ? "," : "", base + node,
					next_random(&seed) % 20 ? "idle"
								: out[next_random(&seed) % 4]);
	}
	osp_text_printf(&all,
			"{\"onespine-state\":1,\"time_s\":1760000000,\"nodes\":[%s],\"jobs\":[%s],",
			nodes.data, jobs.data);
	add_big_topology(&all);
	osp_text_add(&all, "}");
	osp_text_free(&nodes);
	osp_text_free(&jobs);
	return osp_text_take(&all);
}

/* --- pictures --------------------------------------------------------------------------------- */

static void compare_with_golden(const char *name, const char *text)
{
	char path[512];
	char *golden;
	FILE *file;

	if (getenv("OSP_WRITE_GOLDEN")) {
		file = fopen(data_path(name, path, sizeof(path)), "w");
		assert_non_null(file);
		fputs(text, file);
		fclose(file);
		return;
	}
	golden = read_data(name);
	if (strcmp(golden, text) != 0) {
		size_t same = 0;

		while (golden[same] == text[same])
			same++;
		while (same && text[same - 1] != '\n')
			same--;
		fail_msg("tests/data/map/%s is another picture; expected\n%.300s\ngot\n%.300s",
			 name, golden + same, text + same);
	}
	free(golden);
}

static void draw_asked(const char *state_text, const struct osp_map_asked *asked,
		       const struct osp_map_style *style, const char *golden)
{
	struct osp_text text = OSP_TEXT_INIT;
	struct osp_error error = {.text = ""};
	struct osp_world world;
	struct osp_map map;

	open_world(state_text, &world);
	assert_int_equal(osp_map_make(&world, asked, &map, &error), 0);
	if (style)
		osp_map_text(&map, style, &text);
	else
		osp_map_svg(&map, &text);
	assert_false(text.failed);
	compare_with_golden(golden, text.data);
	osp_text_free(&text);
	osp_map_clear(&map);
	close_world(&world);
}

static void draw(const char *state_text, const char *partition, const struct osp_map_style *style,
		 const char *golden)
{
	const struct osp_map_asked asked = {.partitions = partition};

	draw_asked(state_text, &asked, style, golden);
}

static const struct osp_map_asked all = {.partitions = NULL};
static const struct osp_map_style plain = {100, true, false};
static const struct osp_map_style ascii = {60, false, false};
static const struct osp_map_style coloured = {100, true, true};

static void test_small(void **state)
{
	char *small = read_data("small.json");

	(void)state;
	draw(small, NULL, &plain, "small.txt");
	draw(small, NULL, &ascii, "small.ascii");
	draw(small, NULL, &coloured, "small.colour");
	draw(small, NULL, NULL, "small.svg");
	draw(small, "debug", &plain, "debug.txt");
	draw(small, "debug,gpu", &plain, "small.txt");
	draw_asked(small, &(struct osp_map_asked){.user = "bob"}, &plain, "bob.txt");
	free(small);
}

static void test_big(void **state)
{
	char *big = big_state();

	(void)state;
	draw(big, NULL, &plain, "big.txt");
	draw(big, NULL, &ascii, "big.ascii");
	draw(big, NULL, NULL, "big.svg");
	draw_asked(big, &(struct osp_map_asked){.jobs = "1010,1002"}, &plain, "jobs.txt");
	free(big);
}

static void test_jobs_that_cannot_be_shown(void **state)
{
	static const struct {
		const char *jobs;
		const char *words;
	} cases[] = {
		{"", "--job: numbers of jobs, separated by commas, are expected"},
		{",,", "--job: numbers of jobs, separated by commas, are expected"},
		{"1201,9999", "there is no job '9999'"},
		{"120", "there is no job '120'"},
		{"1206", "job 1206 has no nodes now; 'onespine why 1206' says more"},
	};
	char *small = read_data("small.json");
	struct osp_world world;

	(void)state;
	open_world(small, &world);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct osp_map_asked asked = {.jobs = cases[i].jobs};
		struct osp_error error = {.text = ""};
		struct osp_map map;

		assert_int_equal(osp_map_make(&world, &asked, &map, &error), -1);
		assert_string_equal(error.text, cases[i].words);
		osp_map_clear(&map);
	}
	close_world(&world);
	free(small);
}

/* Each job of a box has a colour of its own while there are enough. */
static void test_neighbours_differ_in_colour(void **state)
{
	struct osp_error error = {.text = ""};
	char *big = big_state();
	struct osp_world world;
	struct osp_map map;
	uint32_t a;
	uint32_t b;

	(void)state;
	open_world(big, &world);
	assert_int_equal(osp_map_make(&world, &all, &map, &error), 0);
	for (a = 0; a < map.box_count; a++) {
		uint32_t colours[OSP_MAP_COLOURS] = {0};
		uint32_t jobs = 0;
		uint32_t most = 0;

		for (b = 0; b < map.job_count; b++) {
			uint32_t node = map.jobs[b].job->nodes[0];

			if (osp_topology_domain_of(world.topology, node, map.box_level) !=
			    map.boxes[a].domain)
				continue;
			jobs++;
			if (++colours[map.jobs[b].colour] > most)
				most = colours[map.jobs[b].colour];
		}
		assert_true(most <= (jobs + OSP_MAP_COLOURS - 1) / OSP_MAP_COLOURS);
	}
	osp_map_clear(&map);
	close_world(&world);
	free(big);
}

/* --- states ----------------------------------------------------------------------------------- */

/* What map --json wrote is read back as it was, and written again the same. */
static void test_state_survives_a_round_trip(void **state)
{
	char *small = read_data("small.json");
	struct osp_world first;
	struct osp_world second;
	json_t *json;
	char *once;
	char *twice;

	(void)state;
	open_world(small, &first);
	json = osp_snapshot_to_json(first.snapshot, first.topology);
	once = json_dumps(json, JSON_INDENT(1));
	json_decref(json);
	open_world(once, &second);
	json = osp_snapshot_to_json(second.snapshot, second.topology);
	twice = json_dumps(json, JSON_INDENT(1));
	json_decref(json);
	assert_string_equal(once, twice);
	assert_int_equal(second.snapshot->node_count, 16);
	assert_string_equal(second.snapshot->nodes[5].reason, "GPU 3 <fell> off the bus");
	assert_int_equal(second.snapshot->jobs[2].nodes_known, 3);
	close_world(&first);
	close_world(&second);
	free(once);
	free(twice);
	free(small);
}

static void test_broken_states_are_refused(void **state)
{
	static const struct {
		const char *text;
		const char *words;
	} cases[] = {
		{"{", "f:1:1: no JSON: string or '}' expected near end of file"},
		{"{}", "f: no state of a cluster: it has no onespine-state (onespine map --json "
		       "writes one)"},
		{"{\"onespine-state\": 9}", "f: onespine-state is 9; this version reads 1"},
		{"{\"onespine-state\": 1, \"nodes\": 3}", "f: nodes: a list expected"},
		{"{\"onespine-state\": 1, \"nodes\": [3]}", "f: nodes[0]: an object expected"},
		{"{\"onespine-state\": 1, \"nodes\": [{\"nodes\": \"a[1-\", \"state\": \"idle\"}]}",
		 NULL},
		{"{\"onespine-state\": 1, \"nodes\": [{\"nodes\": \"a\", \"state\": \"lazy\"}]}",
		 "f: nodes[0].state: 'lazy' is not known"},
		{"{\"onespine-state\": 1, \"nodes\": [{\"nodes\": \"a\", \"state\": \"idle\"}, "
		 "{\"nodes\": \"a\", \"state\": \"down\"}]}",
		 "node a is listed twice"},
		{"{\"onespine-state\": 1, \"jobs\": [{\"id\": -1}]}",
		 "f: jobs[0].id: a whole number expected"},
		{"{\"onespine-state\": 1, \"jobs\": [{\"id\": 1}]}",
		 "f: jobs[0].job: a string expected"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_error error = {.text = ""};
		struct osp_topology *topology;
		char buffer[sizeof(error) + 32];

		assert_null(osp_snapshot_from_json("f", cases[i].text, strlen(cases[i].text),
						   &topology, &error));
		osp_error_format(&error, buffer, sizeof(buffer));
		if (cases[i].words)
			assert_string_equal(buffer, cases[i].words);
		else
			assert_string_not_equal(buffer, "");
	}
}

/* --- gangs ------------------------------------------------------------------------------------ */

static const struct osp_state_job *job_of(const struct osp_world *world, const char *label)
{
	uint32_t i;

	for (i = 0; i < world->snapshot->job_count; i++)
		if (strcmp(world->snapshot->jobs[i].label, label) == 0)
			return &world->snapshot->jobs[i];
	fail_msg("no job %s", label);
	return NULL;
}

static void test_gangs_and_where_they_are(void **state)
{
	static const struct {
		const char *label;
		bool gang;
		bool advise;
		int level_due;
		int level;
		bool kept;
	} cases[] = {
		{"1201", true, false, 2, 1, true},   {"1202", false, false, 0, 0, false},
		{"1203_4", true, false, 3, 1, true}, /* waited 2,000 s of 1,800: core will do */
		{"1205", true, true, 1, 1, true},    {"1190", true, false, 2, 1, true},
	};
	char *small = read_data("small.json");
	struct osp_world world;
	size_t i;

	(void)state;
	open_world(small, &world);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct osp_state_job *job = job_of(&world, cases[i].label);
		struct osp_whereabouts where;
		struct osp_gang gang;

		assert_int_equal(osp_gang_of(job, &gang), cases[i].gang);
		if (!cases[i].gang)
			continue;
		assert_int_equal(gang.advise, cases[i].advise);
		assert_int_equal(osp_gang_level_due(world.topology, job, &gang),
				 cases[i].level_due);
		assert_int_equal(osp_gang_find(world.snapshot, world.topology, job, &where), 0);
		assert_int_equal(where.level, cases[i].level);
		assert_int_equal(osp_gang_kept(cases[i].level_due, &where), cases[i].kept);
		osp_gang_clear(&gang);
	}
	close_world(&world);
	free(small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_big),
		cmocka_unit_test(test_jobs_that_cannot_be_shown),
		cmocka_unit_test(test_neighbours_differ_in_colour),
		cmocka_unit_test(test_state_survives_a_round_trip),
		cmocka_unit_test(test_broken_states_are_refused),
		cmocka_unit_test(test_gangs_and_where_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
