/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration, notes, maps and imports, with each of their allocations failing in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/text.h"
#include "lib/policy/config.h"
#include "lib/policy/note.h"
#include "lib/topology/readers.h"
#include "tests/unit/no_memory.h"

static const char config_text[] = "topology: x\n"
				  "defaults: {mode: advise}\n"
				  "partitions: {gpu: {gang: always}, test: }\n";

static void check_words(const struct osp_error *error, bool success)
{
	assert_string_equal(error->text, success ? "" : "out of memory");
}

static bool read_config(void *context)
{
	struct osp_error error = {0};
	struct osp_config *config =
		osp_config_read("f", config_text, sizeof(config_text) - 1, &error);

	(void)context;
	check_words(&error, config);
	osp_config_free(config);
	return config;
}

static bool show_config(void *context)
{
	char *lines = osp_config_show(context, false);
	char *json = osp_config_show(context, true);
	bool success = lines && json;

	free(lines);
	free(json);
	return success;
}

static bool merge_note(void *context)
{
	static const struct osp_note note = {.gang = "spine",
					     .domain = "s1",
					     .leaves = "l1:n[1-2]",
					     .says = "placed: here",
					     .gate = "stopped 1",
					     .suspects = "n3,n7",
					     .log = "n1:/var/log/gate.log"};
	char *comment = osp_note_merge(context, &note);

	free(comment);
	return comment;
}

static bool read_map(void *context)
{
	struct osp_error error = {0};
	struct osp_name_map *map = osp_read_name_map("f", context, strlen(context), NULL, &error);

	check_words(&error, map);
	osp_name_map_free(map);
	return map;
}

typedef int import_f(struct osp_import *import, const char *file, const char *text,
		     size_t text_bytes, struct osp_error *error);

struct input {
	import_f *add;
	const char *text;
	const struct osp_name_map *map;
};

static bool import_text(void *context)
{
	const struct input *input = context;
	struct osp_import_options options = {.map = input->map, .allow_missing = true};
	struct osp_import *import = osp_import_new(&options);
	struct osp_topology *topology = NULL;
	struct osp_error error = {0};

	if (!import)
		return false;
	if (!input->add(import, "f", input->text, strlen(input->text), &error))
		topology = osp_import_finish(import, &error);
	check_words(&error, topology);
	osp_topology_free(topology);
	osp_import_free(import);
	return topology;
}

static void configuration_and_notes_survive(void **state)
{
	struct osp_config *config =
		osp_config_read("f", config_text, sizeof(config_text) - 1, NULL);

	(void)state;
	assert_true(no_memory_at_each(read_config, NULL) >= 4);
	assert_true(no_memory_at_each(show_config, config) >= 10);
	assert_true(no_memory_at_each(merge_note, "an administrator's words") >= 2);
	osp_config_free(config);
}

/* So many that every array and table grows, and more than a block of an arena. */
static void imports_survive(void **state)
{
	struct osp_text ec2 = OSP_TEXT_INIT, csv = OSP_TEXT_INIT, columns = OSP_TEXT_INIT;
	struct osp_text sweep = OSP_TEXT_INIT;
	struct input input = {.add = osp_import_ec2};
	struct osp_name_map *map;

	(void)state;
	osp_text_add(&ec2, "{\"Instances\":[{\"InstanceId\":\"i-gone\"}");
	osp_text_add(&csv, "host,spine,leaf\nlost,,\n");
	osp_text_add(&columns, "cr-1 n[9000-9003]\n");
	for (int i = 0; i < 600; i++) {
		osp_text_printf(&ec2,
				",{\"InstanceId\":\"i-%d\",\"NetworkNodes\":[\"s%d\",\"l%d\"],"
				"\"ZoneId\":\"z\",\"AvailabilityZone\":\"a\","
				"\"CapacityBlockId\":\"b%d\"}",
				i, i / 100, i / 4, i / 2);
		osp_text_printf(&csv, "%064x,s%d,l%d\n", i, i / 100, i / 4 % 10);
		osp_text_printf(&sweep,
				"CA 1 1 0x%x 4x NDR - SW 1 1 0x%x ( 'n%d mlx5_%d' - 's' )\n"
				"SW 1 2 0x%x 4x NDR - SW 1 1 0xffff ( 's' - 's' )\n",
				i, i / 10, i / 2, i % 2, i / 10);
		osp_text_printf(&columns, "i-%d n%d\n", i, i);
	}
	osp_text_add(&ec2, "]}");
	map = osp_read_name_map("f", columns.data, columns.length_bytes, NULL, NULL);
	assert_non_null(map);
	assert_true(no_memory_at_each(read_map, columns.data) >= 10);
	assert_true(no_memory_at_each(read_map,
				      "{\"Reservations\":[{\"Instances\":[{\"InstanceId\":\"i\","
				      "\"PrivateDnsName\":\"n\"}]}]}") >= 6);
	input.text = ec2.data;
	input.map = map;
	assert_true(no_memory_at_each(import_text, &input) >= 40);
	input.add = osp_import_csv;
	input.text = csv.data;
	input.map = NULL;
	assert_true(no_memory_at_each(import_text, &input) >= 40);
	input.add = osp_import_infiniband;
	input.text = sweep.data;
	assert_true(no_memory_at_each(import_text, &input) >= 20);
	osp_name_map_free(map);
	osp_text_free(&sweep);
	osp_text_free(&ec2);
	osp_text_free(&csv);
	osp_text_free(&columns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(configuration_and_notes_survive),
		cmocka_unit_test(imports_survive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
