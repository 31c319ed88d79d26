/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maps from instances to node names: two columns, and the JSON of describe-instances. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/topology/name_map.h"
#include "tests/unit/import_helper.h"

static void has(const struct osp_name_map *map, const char *id, const char *nodes)
{
	const struct osp_name_entry *entry = osp_name_map_find(map, id);
	char text[256] = "";

	if (!entry)
		fail_msg("no entry for %s", id);
	for (uint32_t i = 0; i < entry->node_count; i++) {
		size_t used = strlen(text);

		snprintf(text + used, sizeof(text) - used, "%s%s", i ? " " : "", entry->nodes[i]);
	}
	assert_string_equal(text, nodes);
}

static void two_columns(void **state)
{
	struct osp_name_map *map = read_map("\xef\xbb\xbf# id  node\r\n"
					    "\r\n"
					    "i-1 gpu-1\r\n"
					    "  i-2\tgpu-2  # the second\n"
					    "i-3,gpu-3\n"
					    "i-4 , gpu-4\n"
					    "cr-5 gpu-[5-7,9],login\n"
					    "cr-6,a[08-10]",
					    NULL);

	(void)state;
	has(map, "i-1", "gpu-1");
	has(map, "i-2", "gpu-2");
	has(map, "i-3", "gpu-3");
	has(map, "i-4", "gpu-4");
	has(map, "cr-5", "gpu-5 gpu-6 gpu-7 gpu-9 login");
	has(map, "cr-6", "a08 a09 a10");
	assert_null(osp_name_map_find(map, "gpu-1"));
	assert_string_equal(osp_name_map_file(map), "map");
	assert_int_equal(osp_name_map_find(map, "cr-6")->line, 8);
	osp_name_map_free(map);
	osp_name_map_free(NULL);
}

#define I(id, more)		"{\"InstanceId\":\"" id "\"" more "}"
#define RESERVATIONS(instances) "{\"Reservations\":[{\"Instances\":[" instances "]}]}"
#define DNS(name)		",\"PrivateDnsName\":\"" name "\""
#define TAG(key, value)                                                                            \
	",\"Tags\":[{\"Key\":\"x\",\"Value\":\"y\"},{\"Key\":\"" key "\",\"Value\":\"" value "\"}" \
	"]"
#define STATE(name) ",\"State\":{\"Code\":1,\"Name\":\"" name "\"}"

static void instances_by_dns_name(void **state)
{
	struct osp_name_map *map = read_map(
		/* clang-format off */
		RESERVATIONS(I("i-1", DNS("ip-10-0-0-1.ec2.internal")) ","
			     I("i-2", DNS("bare") STATE("running"))) "\n"
		RESERVATIONS(I("i-3", DNS("")) ","
			     I("i-4", "") ","
			     I("i-5", DNS("bare.too") STATE("terminated")) ","
			     I("i-6", DNS("bare.too") STATE("shutting-down")) ",\n"
			     I("i-7", DNS("last") TAG("Name", "unused"))),
		/* clang-format on */
		NULL);

	(void)state;
	has(map, "i-1", "ip-10-0-0-1");
	has(map, "i-2", "bare");
	has(map, "i-7", "last");
	assert_int_equal(osp_name_map_find(map, "i-7")->line, 3);
	assert_null(osp_name_map_find(map, "i-3"));
	assert_null(osp_name_map_find(map, "i-4"));
	assert_null(osp_name_map_find(map, "i-5"));
	assert_null(osp_name_map_find(map, "i-6"));
	osp_name_map_free(map);
}

static void instances_by_tag(void **state)
{
	struct osp_name_map *map = read_map(
		RESERVATIONS(I("i-1", DNS("ip-1") TAG("Name", "gpu-1")) "," I(
			"i-2",
			TAG("name", "gpu-2")) "," I("i-3",
						    ",\"Tags\":null") "," I("i-4",
									    TAG("Name", "gpu.4"))),
		"Name");

	(void)state;
	has(map, "i-1", "gpu-1");
	has(map, "i-4", "gpu.4");
	assert_null(osp_name_map_find(map, "i-2"));
	assert_null(osp_name_map_find(map, "i-3"));
	osp_name_map_free(map);
}

static void the_example_names_sixteen(void **state)
{
	size_t bytes;
	char *text = read_source("etc/examples/p5-16-instances.json", &bytes);
	struct osp_name_map *map = osp_read_name_map("map", text, bytes, NULL, NULL);

	(void)state;
	assert_non_null(map);
	has(map, "i-00038633ffb0028d3", "ip-10-1-32-150");
	osp_name_map_free(map);
	map = osp_read_name_map("map", text, bytes, "Name", NULL);
	assert_non_null(map);
	has(map, "i-00038633ffb0028d3", "gpu-14");
	osp_name_map_free(map);
	free(text);
}

static void refuses_in_words(void **state)
{
	static const struct {
		const char *text;
		const char *tag;
		const char *error;
	} cases[] = {
		{"", NULL, "map: no map of node names: this looks like an empty file"},
		{"# nothing\n", NULL, "map: no map of node names: this looks like an empty file"},
		{"SwitchName=s Nodes=n\n", NULL,
		 "map: no map of node names: this looks like a Slurm topology.conf; use --from "
		 "slurm"},
		{"{\"Instances\":[{\"NetworkNodes\":[]}]}", NULL,
		 "map: no map of node names: this looks like an answer of EC2 about topology; use "
		 "--from ec2"},
		{"{\"Vpcs\":[]}", NULL,
		 "map:1:1: no Reservations here, as describe-instances prints"},
		{"i-1\n", NULL, "map:1:4: i-1 has no node name: \"ID NODES\" is expected"},
		{"i-1 ,\n", NULL, "map:1:6: i-1 has no node name: \"ID NODES\" is expected"},
		{"i-1,,\n", NULL, "map:1:5: i-1 has no node name: \"ID NODES\" is expected"},
		{",gpu-1\n", NULL, "map:1:1: an id is expected before the comma"},
		{"i-1 gpu-1 running\n", NULL,
		 "map:1:10: two columns are expected, an id and its nodes; here a third starts"},
		{"i-1 a\n\ni-1 b\n", NULL, "map:3:1: i-1 is given twice (first in line 1)"},
		{"i-1 a\ni-2  a\n", NULL, "map:2:6: node a is the name of i-1 already (line 1)"},
		{"i-1 a,b,a\n", NULL, "map:1:5: node a is given twice here"},
		{"i-1 a[1-3]\ni-2 a2\n", NULL,
		 "map:2:5: node a2 is the name of i-1 already (line 1)"},
		{"i-1 a[1-\n", NULL, "map:1:9: a number is expected here"},
		{"i-1 a\x01\n", NULL, "map:1:6: the byte 0x01 is not allowed in a name"},
		{"i-1 a[1-131072],b\n", NULL, "map:1:17: the list has more than 131072 names"},
		{"i-1 a[1-131072]\ni-2 b\n", NULL, "map:2:5: more than 131072 node names"},
		{"i-1 a\n", "Name",
		 "map: only the JSON of aws ec2 describe-instances has tags, and this is none"},
		{RESERVATIONS(I("i-1", DNS("a"))), "Name", "map: no node name in this map"},
		{RESERVATIONS(I("i-1", DNS("a")) "," I("i-1", DNS("b"))), NULL,
		 "map:1:88: i-1 is given twice (first in line 1)"},
		{RESERVATIONS(I("i-1", DNS("a.x")) ",\n" I("i-2", DNS("a.y"))), NULL,
		 "map:2:38: node a is the name of i-1 already (line 1)"},
		{RESERVATIONS(I("i-1", DNS("a b"))), NULL,
		 "map:1:69: 'a b' cannot be a node's name"},
		{RESERVATIONS(I("i-1", DNS(".x"))), NULL, "map:1:69: '.x' cannot be a node's name"},
		{RESERVATIONS("{}"), NULL, "map:1:32: InstanceId is missing here"},
		{RESERVATIONS("7"), NULL, "map:1:32: a map is expected, not a word"},
		{"{\"Reservations\":{}}", NULL,
		 "map:1:17: Reservations: a list is expected, not a map"},
		{"{\"Reservations\":[[]]}", NULL, "map:1:18: a map is expected, not a list"},
		{"{\"Reservations\":[{\"Instances\":5}]}", NULL,
		 "map:1:31: Instances: a list is expected, not a word"},
		{RESERVATIONS(I("i-1", ",\"PrivateDnsName\":[]")), NULL,
		 "map:1:69: PrivateDnsName: a word of 1 to 255 bytes is expected, not a list"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_error error = {0};
		char words[900];

		assert_null(osp_read_name_map("map", cases[i].text, strlen(cases[i].text),
					      cases[i].tag, &error));
		assert_string_equal(osp_error_format(&error, words, sizeof(words)), cases[i].error);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_columns),	    cmocka_unit_test(instances_by_dns_name),
		cmocka_unit_test(instances_by_tag), cmocka_unit_test(the_example_names_sixteen),
		cmocka_unit_test(refuses_in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
