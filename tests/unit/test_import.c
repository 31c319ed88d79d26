/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Imports from EC2: what comes out, and every refusal in its words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/topology/readers.h"
#include "tests/unit/import_helper.h"

/* --- EC2 -------------------------------------------------------------------------------------- */

#define INSTANCE(id, nodes)    "{\"InstanceId\":\"" id "\",\"NetworkNodes\":[" nodes "]}"
#define ZONED(id, nodes, zone) "{\"InstanceId\":\"" id "\",\"NetworkNodes\":[" nodes "]," zone "}"
/* One in line 2, one in line 3. */
#define TWO(first, second) PAGE("\n" first ",\n" second)
#define PAGE(instances)	   "{\"Instances\":[" instances "]}"

static void one_page_of_three_layers(void **state)
{
	(void)state;
	expect(osp_import_ec2, NULL,
	       PAGE(INSTANCE("i-2", "\"nn-1\",\"nn-2\",\"nn-3\"") "," INSTANCE(
		       "i-1",
		       "\"nn-1\",\"nn-2\",\"nn-3\"") "," INSTANCE("i-3",
								  "\"nn-1\",\"nn-4\",\"nn-5\"")),
	       "leaf nn-3 in nn-2: i-1 i-2\n"
	       "leaf nn-5 in nn-4: i-3\n"
	       "spine nn-2 in nn-1: i-1 i-2\n"
	       "spine nn-4 in nn-1: i-3\n"
	       "core nn-1: i-1 i-2 i-3\n");
}

/* Layers are counted from the bottom, and a switch that one list ends with may have more above. */
static void one_to_four_layers(void **state)
{
	(void)state;
	expect(osp_import_ec2, NULL,
	       PAGE(INSTANCE("i-1", "\"nn-d\"") "," INSTANCE(
		       "i-2", "\"nn-c\",\"nn-d\"") "," INSTANCE("i-3",
								"\"nn-a\",\"nn-b\",\"nn-c\",\"nn-"
								"d\"") "," INSTANCE("i-4",
										    "\"nn-x\",\"nn-"
										    "y\",\"nn-"
										    "z\"")),
	       "leaf nn-d in nn-c: i-1 i-2 i-3\n"
	       "leaf nn-z in nn-y: i-4\n"
	       "spine nn-c in nn-b: i-1 i-2 i-3\n"
	       "spine nn-y in nn-x: i-4\n"
	       "core nn-b in nn-a: i-1 i-2 i-3\n"
	       "core nn-x: i-4\n"
	       "layer4 nn-a: i-1 i-2 i-3\n");
}

static void zones_are_the_top(void **state)
{
	(void)state;
	/* clang-format off */
	expect(osp_import_ec2, NULL,
	       PAGE(ZONED("i-1", "\"nn-1\",\"nn-2\"",
			  "\"AvailabilityZone\":\"eu-1a\",\"ZoneId\":\"euw1-az2\"") ","
		    ZONED("i-2", "\"nn-3\",\"nn-4\"", "\"AvailabilityZone\":\"eu-1b\"") ","
		    ZONED("i-3", "\"nn-5\",\"nn-6\"", "\"AvailabilityZone\":\"eu-1a\"") ","
		    INSTANCE("i-4", "\"nn-7\"")),
		/* clang-format on */
		"leaf nn-2 in nn-1: i-1\n"
		"leaf nn-4 in nn-3: i-2\n"
		"leaf nn-6 in nn-5: i-3\n"
		"leaf nn-7: i-4\n"
		"spine nn-1 in euw1-az2: i-1\n"
		"spine nn-3 in eu-1b: i-2\n"
		"spine nn-5 in euw1-az2: i-3\n"
		"zone eu-1b: i-2\n"
		"zone euw1-az2: i-1 i-3\n");
}

/* Lists that end below the top hang in the zone only where nobody knows more. */
static void a_short_list_does_not_hide_what_is_above(void **state)
{
	(void)state;
	expect(osp_import_ec2, NULL,
	       PAGE(ZONED("i-1", "\"nn-2\"", "\"ZoneId\":\"z\"") "," ZONED(
		       "i-2", "\"nn-1\",\"nn-2\"", "\"ZoneId\":\"z\"")),
	       "leaf nn-2 in nn-1: i-1 i-2\n"
	       "spine nn-1 in z: i-1 i-2\n"
	       "zone z: i-1 i-2\n");
}

static void pages_follow_each_other_in_one_file(void **state)
{
	static const char text[] = "\xef\xbb\xbf" PAGE(INSTANCE("i-1", "\"nn-{\\\"}\"")) "\n" PAGE(
		INSTANCE("i-2", "\"nn-2\"")) PAGE("") "\n\n";

	(void)state;
	expect(osp_import_ec2, NULL, text, "leaf nn-2: i-2\nleaf nn-{\"}: i-1\n");
}

/* A capacity block under two leaves is no mistake of the answer's. */
static void blocks_that_cross_leaves_are_beside_the_tree(void **state)
{
	(void)state;
	expect(osp_import_ec2, NULL,
	       TWO(ZONED("i-1", "\"nn-1\",\"nn-2\"",
			 "\"CapacityBlockId\":\"cb-1\",\"ZoneId\":\"z\""),
		   ZONED("i-2", "\"nn-1\",\"nn-3\"",
			 "\"CapacityBlockId\":\"cb-1\",\"ZoneId\":\"z\"")),
	       "leaf nn-2 in nn-1: i-1\n"
	       "leaf nn-3 in nn-1: i-2\n"
	       "spine nn-1 in z: i-1 i-2\n"
	       "zone z: i-1 i-2\n"
	       "nvlink cb-1: i-1 i-2\n");
}

/* What the aws command prints with --output yaml. */
static void yaml_is_read_too(void **state)
{
	(void)state;
	expect(osp_import_ec2, NULL,
	       "Instances:\n"
	       "- InstanceId: i-1\n"
	       "  NetworkNodes:\n"
	       "  - nn-1\n"
	       "  - nn-2\n"
	       "  ZoneId: use1-az4\n",
	       "leaf nn-2 in nn-1: i-1\nspine nn-1 in use1-az4: i-1\nzone use1-az4: i-1\n");
}

static void level_names_are_the_users(void **state)
{
	static const char *const names[] = {"tor", "pod", "fabric"};
	struct osp_import_options options = {.level_names = names, .level_name_count = 3};
	static const char text[] = PAGE(ZONED("i-1", "\"nn-1\",\"nn-2\"", "\"ZoneId\":\"z\""));
	static const char *const clash[] = {"zone", "pod"};

	(void)state;
	expect(osp_import_ec2, &options, text,
	       "tor nn-2 in nn-1: i-1\npod nn-1 in z: i-1\nzone z: i-1\n");
	options.level_name_count = 1;
	expect(osp_import_ec2, &options, text,
	       "the fabric has 2 layers, but only 1 level name is given");
	options.level_names = clash;
	options.level_name_count = 2;
	expect(osp_import_ec2, &options, text, "level 'zone' is named twice");
}

static void what_disagrees_is_refused_with_both_names(void **state)
{
	static const struct {
		const char *text;
		const char *error;
	} cases[] = {
		{TWO(INSTANCE("i-1", "\"nn-1\",\"nn-2\",\"nn-3\""),
		     INSTANCE("i-2", "\"nn-1\",\"nn-9\",\"nn-8\",\"nn-4\"")),
		 "a:3:15: network node nn-1 is the layer4 of i-2 but the core of i-1 (a:2)"},
		{PAGE(INSTANCE("i-1", "\"nn-1\",\"nn-2\",\"nn-1\"")),
		 "a:1:29: network node nn-1 is at two levels of i-1"},
		{TWO(INSTANCE("i-1", "\"nn-1\",\"nn-2\",\"nn-3\""),
		     INSTANCE("i-2", "\"nn-1\",\"nn-4\",\"nn-3\"")),
		 "a:3:15: leaf nn-3 is under nn-4 for i-2 but under nn-2 for i-1 (a:2)"},
		{TWO(ZONED("i-1", "\"nn-1\"", "\"ZoneId\":\"az1\""),
		     ZONED("i-2", "\"nn-1\"", "\"ZoneId\":\"az2\"")),
		 "a:3:15: network node nn-1 is in zone az2 for i-2 but in zone az1 for i-1 (a:2); "
		 "two zones never share a network node"},
		{TWO(ZONED("i-1", "\"nn-1\"", "\"AvailabilityZone\":\"1a\",\"ZoneId\":\"az1\""),
		     ZONED("i-2", "\"nn-2\"", "\"AvailabilityZone\":\"1a\",\"ZoneId\":\"az2\"")),
		 "a:3:15: zone 1a is az2 here and az1 for i-1 (a:2): these are answers to two "
		 "accounts, whose names do not compare"},
		{TWO(INSTANCE("i-1", "\"nn-1\""), INSTANCE("i-1", "\"nn-1\"")),
		 "a:3:15: instance i-1 is given twice (first in a:2)"},
		{TWO(INSTANCE("i-1", ""), INSTANCE("i-2", "\"nn-1\"")),
		 "a:2:15: instance i-1 has no NetworkNodes (it does not run, or its type has "
		 "none); --allow-missing keeps the rest"},
		{PAGE("{\"InstanceId\":\"i-1\",\"NetworkNodes\":null}"),
		 "a:1:29: instance i-1 has no NetworkNodes (it does not run, or its type has "
		 "none); --allow-missing keeps the rest"},
		{PAGE("{\"InstanceId\":\"i-1\"}"),
		 "a:1:29: instance i-1 has no NetworkNodes (it does not run, or its type has "
		 "none); --allow-missing keeps the rest"},
		{PAGE(""), "there is no host in what was read"},
		{"{\"Instances\":[], \"NextToken\":\"abc\"}",
		 "a:1:30: a NextToken on every page: the last page is missing"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(osp_import_ec2, NULL, cases[i].text, cases[i].error);
}

static void with_allow_missing_what_disagrees_is_left_out(void **state)
{
	static const struct {
		const char *text;
		const char *result;
		const char *warning;
	} cases[] = {
		/* paths of two lengths with one top: the longer one ends below it, in any order */
		{TWO(INSTANCE("i-1", "\"nn-1\",\"nn-9\",\"nn-8\",\"nn-4\""),
		     INSTANCE("i-2", "\"nn-1\",\"nn-2\",\"nn-3\"")),
		 "leaf nn-3 in nn-2: i-2\nleaf nn-4 in nn-8: i-1\nspine nn-2 in nn-1: i-2\n"
		 "spine nn-8 in nn-9: i-1\ncore nn-1: i-2\ncore nn-9: i-1\n",
		 "a:2: network node nn-1 is the layer4 of i-1 but the core of i-2 (a:3); the path "
		 "of 1 host ends below such a node"},
		{TWO(INSTANCE("i-1", "\"nn-1\",\"nn-2\",\"nn-3\""),
		     INSTANCE("i-2", "\"nn-1\",\"nn-4\",\"nn-3\"")),
		 "leaf nn-3 in nn-2: i-1\nspine nn-2 in nn-1: i-1\ncore nn-1: i-1\n",
		 "a:3: leaf nn-3 is under nn-4 for i-2 but under nn-2 for i-1 (a:2); left out"},
		{TWO(ZONED("i-1", "\"nn-2\"", "\"CapacityBlockId\":\"cb-1\""),
		     ZONED("i-2", "\"nn-3\"", "\"CapacityBlockId\":\"cb-1\"") "," ZONED(
			     "i-3", "\"nn-3\"", "\"CapacityBlockId\":\"cb-2\"")),
		 "leaf nn-2: i-1\nleaf nn-3: i-2 i-3\nnvlink cb-1: i-1 i-2\nnvlink cb-2: i-3\n",
		 "a:3: capacity block cb-1 is one UltraServer but under two leaves: i-2 is under "
		 "nn-3 and i-1 (a:2) under nn-2; 1 of 2 cross leaves, so level nvlink is beside "
		 "the "
		 "tree"},
		{PAGE(ZONED("i-1", "\"nn-1\",\"nn-1\"",
			    "\"ZoneId\":\"z\"") "," INSTANCE("i-2", "\"nn-2\"")),
		 "leaf nn-2: i-2\n", "a:1: network node nn-1 is at two levels of i-1; left out"},
	};
	struct osp_import_options options = {.allow_missing = true};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_import *import = osp_import_new(&options);
		struct osp_error error = {0};
		char *result;

		assert_int_equal(
			osp_import_ec2(import, "a", cases[i].text, strlen(cases[i].text), &error),
			0);
		result = finish(import, 0, &error);
		assert_string_equal(result, cases[i].result);
		free(result);
		assert_int_equal(osp_import_warning_count(import), 1);
		assert_string_equal(osp_import_warning(import, 0), cases[i].warning);
		osp_import_free(import);
	}
}

/* A node that runs ("n1") or is launched into a reservation ("r1"); its switches are top first. */
struct told {
	const char *id;
	const char *type; /* NULL: it runs */
	const char *block;
	const char *switches[5];
	uint32_t lowest_layer;
};

static int add_told(struct osp_import *import, const struct told *told, struct osp_error *error)
{
	struct osp_import_instance instance = {.where = "a",
					       .id = told->id,
					       .reserved_type = told->type,
					       .lowest_layer = told->lowest_layer,
					       .block = told->block,
					       .switches = told->switches,
					       .note = {.source = "x", .instance_id = told->id}};

	while (told->switches[instance.switch_count])
		instance.switch_count++;
	return osp_import_instance(import, &instance, error);
}

/* Where nodes will be never takes a place away from one that runs, however short its path. */
static void reserved_nodes_give_way(void **state)
{
	static const struct {
		struct told told[3];
		const char *result;
		const char *warning; /* NULL: none */
	} cases[] = {
		{{{"r1", "p5.48xlarge", NULL, {"t", "s1"}, 0},
		  {"n1", NULL, NULL, {"q", "t", "s1", "l1"}, 0}},
		 "leaf l1 in s1: n1\nspine s1 in t: n1 r1\ncore t in q: n1 r1\nlayer4 q: n1 r1\n",
		 NULL},
		/* a reservation of another depth names the same switch at another level */
		{{{"r1", "p5.48xlarge", NULL, {"t", "s2"}, 0},
		  {"n1", NULL, NULL, {"t", "c1", "s1", "l1"}, 0}},
		 "leaf l1 in s1: n1\nspine s1 in c1: n1\nspine s2: r1\ncore c1 in t: n1\n"
		 "layer4 t: n1\n",
		 "a: network node t is the core of r1 but the layer4 of n1 (a); the path of 1 host "
		 "ends below such a node"},
		{{{"r1", "p5.48xlarge", NULL, {"t2", "s1"}, 0},
		  {"n1", NULL, NULL, {"t", "s1", "l1"}, 0}},
		 "leaf l1 in s1: n1\nspine s1 in t: n1\ncore t: n1\n",
		 "a: spine s1 is under t2 for r1 but under t for n1 (a); left out"},
		/* the last good answer's, whose type nobody knows any more */
		{{{"r1", "", NULL, {"t", "s1"}, 2}, {"n1", NULL, NULL, {"t", "s1", "l1"}, 0}},
		 "leaf l1 in s1: n1\nspine s1 in t: n1 r1\ncore t: n1 r1\n",
		 NULL},
		/* a reservation's list ends above the leaf: its UltraServer crosses none */
		{{{"r1", "p6e-gb200.36xlarge", "cb-1", {"t", "s1"}, 0},
		  {"n1", NULL, "cb-1", {"t", "s1", "l1"}, 0},
		  {"r2", "p6e-gb200.36xlarge", "cb-2", {"t", "s1"}, 0}},
		 "nvlink cb-1 in l1: n1 r1\nnvlink cb-2 in s1: r2\nleaf l1 in s1: n1 r1\n"
		 "spine s1 in t: n1 r1 r2\ncore t: n1 r1 r2\n",
		 NULL},
		{{{"r1", "p6e-gb200.36xlarge", "cb-1", {"t", "s2"}, 0},
		  {"n1", NULL, "cb-1", {"t", "s1", "l1"}, 0}},
		 "nvlink cb-1 in l1: n1\nleaf l1 in s1: n1\nspine s1 in t: n1\ncore t: n1\n",
		 "a: capacity block cb-1 is under spine s2 for r1 but under s1; left out"},
		/* nor if the two are of one reservation, or in another leaf than where it runs */
		{{{"r1", "p6e-gb200.36xlarge", "cb-1", {"t", "s1"}, 0},
		  {"r2", "p6e-gb200.36xlarge", "cb-1", {"t", "s1", "l1"}, 0},
		  {"n1", NULL, "cb-2", {"t", "s1", "l3"}, 0}},
		 "nvlink cb-1 in l1: r1 r2\nnvlink cb-2 in l3: n1\nleaf l1 in s1: r1 r2\n"
		 "leaf l3 in s1: n1\nspine s1 in t: r1 r2 n1\ncore t: r1 r2 n1\n",
		 NULL},
		{{{"n1", NULL, "cb-1", {"t", "s1", "l1"}, 0},
		  {"r1", "p6e-gb200.36xlarge", "cb-1", {"t", "s1", "l2"}, 0}},
		 "nvlink cb-1 in l1: n1\nleaf l1 in s1: n1\nspine s1 in t: n1\ncore t: n1\n",
		 "a: capacity block cb-1 is one UltraServer but under two leaves: r1 is under l2 "
		 "and n1 (a) under l1; left out"},
	};
	struct osp_import_options options = {.allow_missing = true};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_import *import = osp_import_new(&options);
		struct osp_error error = {0};
		char *result;

		for (size_t n = 0; n < 3 && cases[i].told[n].id; n++)
			assert_int_equal(add_told(import, &cases[i].told[n], &error), 0);
		result = finish(import, 0, &error);
		assert_string_equal(result, cases[i].result);
		free(result);
		assert_int_equal(osp_import_warning_count(import), cases[i].warning ? 1 : 0);
		if (cases[i].warning)
			assert_string_equal(osp_import_warning(import, 0), cases[i].warning);
		osp_import_free(import);
	}
}

static void what_is_not_such_an_answer_is_refused(void **state)
{
	static const struct {
		const char *text;
		const char *error;
	} cases[] = {
		{"", "a: no answer of EC2's describe-instance-topology: this looks like an empty "
		     "file"},
		{"# SwitchName=x\nSwitchName=s1 Nodes=n1\n",
		 "a: no answer of EC2's describe-instance-topology: this looks like a Slurm "
		 "topology.conf; use --from slurm"},
		{"ip,DSW,PSW\nh,d,p\n",
		 "a: no answer of EC2's describe-instance-topology: this looks like a CSV table; "
		 "use --from csv"},
		{"{\"Reservations\": []}",
		 "a: no answer of EC2's describe-instance-topology: this looks like JSON from aws "
		 "ec2 describe-instances; it is a map for --nodes"},
		{"{\"onespine-topology\": 1}",
		 "a: no answer of EC2's describe-instance-topology: this looks like an "
		 "onespine.topology; it needs no import"},
		{"{\"Vpcs\": []}", "a:1:1: neither Instances nor CapacityReservations here, as "
				   "describe-instance-topology prints"},
		{"hello", "a:1:1: neither Instances nor CapacityReservations here, as "
			  "describe-instance-topology prints"},
		{"{\"Instances\": {}}", "a:1:15: Instances: a list is expected, not a map"},
		{"{\"Instances\": [\n 5]}", "a:2:2: a map is expected, not a word"},
		{PAGE("{}"), "a:1:15: InstanceId is missing here"},
		{PAGE("{\"InstanceId\":[]}"),
		 "a:1:29: InstanceId: a word of 1 to 255 bytes is expected, not a list"},
		{PAGE("{\"InstanceId\":\"i-1\",\"NetworkNodes\":\"nn-1\"}"),
		 "a:1:50: NetworkNodes: a list is expected, not a word"},
		{PAGE(INSTANCE("i-1", "\"nn-1\",null")),
		 "a:1:58: a word of 1 to 255 bytes is expected, not nothing"},
		{PAGE(INSTANCE("i-1", "1,2,3,4,5,6,7,8,9,10,11,12,13,14")),
		 "a:1:50: 14 network nodes; 1 to 13 are expected"},
		{PAGE("{\"InstanceId\":\"i-1\",\"ZoneId\":{}}"),
		 "a:1:44: ZoneId: a word of 1 to 255 bytes is expected, not a map"},
		{PAGE(INSTANCE("i-1", "\"nn\\u0001\"")), "a:1:29: a control character in a leaf's "
							 "name"},
		{PAGE(INSTANCE("i 1", "\"nn-1\"")), "a:1:29: node 'i 1': ' ' is not allowed in its "
						    "name"},
		{PAGE("") "\n" PAGE("") "  {\"Instances\": 1}",
		 "a:2:33: Instances: a list is expected, not a word"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(osp_import_ec2, NULL, cases[i].text, cases[i].error);
}

/* The parser's own words depend on its version: the place must be right. */
static void broken_json_is_told_with_its_place(void **state)
{
	static const char text[] = PAGE("") "\n\n" PAGE("{\"InstanceId\": \"i-1\",, }");
	char *result;
	const char *first = text;

	(void)state;
	result = import_texts(osp_import_ec2, NULL, &first, 1);
	assert_memory_equal(result, "a:3:", 4);
	assert_non_null(strstr(result, "neither YAML nor JSON"));
	free(result);
	first = "{\"Instances\": [";
	result = import_texts(osp_import_ec2, NULL, &first, 1);
	assert_non_null(strstr(result, "neither YAML nor JSON"));
	free(result);
}

static void files_add_up(void **state)
{
	static const char *const texts[] = {
		"{\"Instances\":[" INSTANCE("i-1", "\"nn-1\"") "],\"NextToken\":\"x\"}",
		"{\"Instances\":[" INSTANCE("i-2", "\"nn-1\"") "],\"NextToken\":null}",
		"{\"Instances\":[" INSTANCE("i-3", "\"nn-1\"") "],\"NextToken\":\"\"}",
		PAGE(INSTANCE("i-1", "\"nn-1\"")),
	};

	(void)state;
	expect_texts(osp_import_ec2, NULL, texts, 3, "leaf nn-1: i-1 i-2 i-3\n");
	expect_texts(osp_import_ec2, NULL, texts, 4,
		     "d:1:29: instance i-1 is given twice (first in a:1)");
	expect_texts(osp_import_ec2, NULL, texts, 1,
		     "a:1:73: a NextToken on every page: the last page is missing");
}

/* A refused file leaves nothing behind, not even its first good instance. */
static void a_refused_file_leaves_nothing(void **state)
{
	struct osp_import *import = osp_import_new(NULL);
	static const char bad[] =
		"{\"Instances\":[" INSTANCE("i-1", "\"nn-1\"") ",{}],"
							       "\"NextToken\":\"x\"}";
	static const char good[] = PAGE(INSTANCE("i-1", "\"nn-1\""));
	struct osp_error error = {0};
	char *result;

	(void)state;
	assert_int_equal(osp_import_ec2(import, "bad", bad, strlen(bad), &error), -1);
	osp_error_clear(&error);
	assert_int_equal(osp_import_ec2(import, "good", good, strlen(good), &error), 0);
	result = finish(import, 0, &error);
	assert_string_equal(result, "leaf nn-1: i-1\n");
	free(result);
	assert_int_equal(osp_import_ec2(import, "late", good, strlen(good), &error), -1);
	assert_string_equal(error.text, "this import is finished already");
	osp_import_free(import);
}

static void kinds_do_not_mix(void **state)
{
	struct osp_import *import = osp_import_new(NULL);
	static const char csv[] = "host,leaf\nh,l\n";
	static const char ec2[] = PAGE(INSTANCE("i-1", "\"nn-1\""));
	struct osp_error error = {0};

	(void)state;
	assert_int_equal(osp_import_csv(import, "a", csv, strlen(csv), &error), 0);
	assert_int_equal(osp_import_ec2(import, "b", ec2, strlen(ec2), &error), -1);
	assert_string_equal(error.text, "files of two sources do not mix in one import");
	osp_import_free(import);
	import = osp_import_new(NULL);
	osp_error_clear(&error);
	assert_null(osp_import_finish(import, &error));
	assert_string_equal(error.text, "there is no host in what was read");
	osp_import_free(import);
	osp_import_free(NULL);
}

static void missing_ones_are_told_and_left_out(void **state)
{
	struct osp_name_map *map = read_map("i-1 gpu-1\ni-3 gpu-3\n", NULL);
	struct osp_import_options options = {.map = map, .allow_missing = true};
	struct osp_import *import = osp_import_new(&options);
	static const char text[] = "{\"Instances\":[\n" INSTANCE("i-1", "\"nn-1\"") ",\n" INSTANCE(
		"i-2", "\"nn-1\"") ",\n" INSTANCE("i-3", "") "],\n\"NextToken\":\"x\"}";
	struct osp_error error = {0};
	char *result;

	(void)state;
	assert_int_equal(osp_import_ec2(import, "a", text, strlen(text), &error), 0);
	result = finish(import, 0, &error);
	assert_string_equal(result, "leaf nn-1: gpu-1\n");
	free(result);
	assert_int_equal(osp_import_warning_count(import), 3);
	assert_string_equal(osp_import_warning(import, 0),
			    "a:5: a NextToken on every page: the last page is missing");
	assert_string_equal(osp_import_warning(import, 1),
			    "a:3: instance i-2 is not in the map map; left out");
	assert_string_equal(osp_import_warning(import, 2),
			    "a:4: instance i-3 has no NetworkNodes (it does not run, or its type "
			    "has none); left out");
	osp_import_free(import);

	options.allow_missing = false;
	expect(osp_import_ec2, &options, PAGE(INSTANCE("i-2", "\"nn-1\"")),
	       "a:1:29: instance i-2 is not in the map map; --allow-missing keeps the rest");
	options.allow_missing = true;
	expect(osp_import_ec2, &options, PAGE(INSTANCE("i-2", "\"nn-1\"")),
	       "nothing is left to import");
	osp_name_map_free(map);
}

static void an_instance_is_one_node(void **state)
{
	struct osp_name_map *map = read_map("i-1\tgpu-[1-2]\n", NULL);
	struct osp_import_options options = {.map = map};

	(void)state;
	expect(osp_import_ec2, &options, PAGE(INSTANCE("i-1", "\"nn-1\"")),
	       "map:1: instance i-1 is one node, not 2");
	osp_name_map_free(map);
}

static void reservations_lack_lower_layers(void **state)
{
	size_t map_bytes, bytes;
	char *map_text = read_source("tests/data/ec2/reservations.map", &map_bytes);
	char *text = read_source("tests/data/ec2/reservations.json", &bytes);
	struct osp_name_map *map = osp_read_name_map("map", map_text, map_bytes, NULL, NULL);
	struct osp_import_options options = {.map = map};

	(void)state;
	assert_non_null(map);
	expect(osp_import_ec2, &options, text,
	       "leaf nn-1b2c3d4e5f6071825 in nn-0a1b2c3d4e5f60714: p5-5 p5-7 p5-8\n"
	       "spine nn-0a1b2c3d4e5f60714 in nn-f90a1b2c3d4e5f603: p5-5 p5-7 p5-8 p5-1 p5-2 p5-3 "
	       "p5-4\n"
	       "core nn-f90a1b2c3d4e5f603 in use1-az6: p5-5 p5-7 p5-8 p5-1 p5-2 p5-3 p5-4\n"
	       "layer4 nn-2c3d4e5f607182936 in use1-az6: b200-1\n"
	       "zone use1-az6: b200-1 p5-5 p5-7 p5-8 p5-1 p5-2 p5-3 p5-4\n");
	options.map = NULL;
	expect(osp_import_ec2, &options, text,
	       "a:4:38: which nodes capacity reservation cr-0a1b2c3d4e5f60718 holds only a map can "
	       "tell; give one with --nodes");
	osp_name_map_free(map);
	free(map_text);
	free(text);
}

#define RESERVATION(type, nodes)                                                                   \
	"{\"CapacityReservations\":[{\"CapacityReservationId\":\"cr-1\",\"InstanceType\":\"" type  \
	"\",\"NetworkNodes\":[" nodes "]}]}"

static void reservations_are_refused_in_words(void **state)
{
	struct osp_name_map *map = read_map("cr-1 gpu-[1-2]\n", NULL);
	struct osp_import_options options = {.map = map};

	(void)state;
	expect(osp_import_ec2, &options, RESERVATION("p5.48xlarge", "\"a\",\"b\",\"c\",\"d\""),
	       "a:1:102: 4 network nodes, but p5.48xlarge has 3 layers");
	expect(osp_import_ec2, &options, RESERVATION("p6-b300.48xlarge", "\"a\",\"b\""),
	       "core b in a: gpu-1 gpu-2\nlayer4 a: gpu-1 gpu-2\n");
	expect(osp_import_ec2, &options, RESERVATION("p5.48xlarge", ""),
	       "a:1:51: capacity reservation cr-1 has no NetworkNodes (it is neither active nor "
	       "pending, or its type has none); --allow-missing keeps the rest");
	expect(osp_import_ec2, &options,
	       "{\"CapacityReservations\":[{\"CapacityReservationId\":\"cr-1\"}]}",
	       "a:1:26: InstanceType is missing here");
	osp_name_map_free(map);
}

static void expect_sources(const struct osp_import_options *options, const char *const *paths,
			   size_t count, const char *expected)
{
	struct osp_import *import = osp_import_new(options);
	struct osp_error error = {0};
	char *result;
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++) {
		size_t bytes;
		char *text = read_source(paths[i], &bytes);

		rc = osp_import_ec2(import, paths[i], text, bytes, &error);
		free(text);
	}
	result = finish(import, rc, &error);
	assert_string_equal(result, expected);
	free(result);
	osp_import_free(import);
}

static void two_zones_of_different_depth(void **state)
{
	static const char *const paths[] = {"tests/data/ec2/mixed-page1.json",
					    "tests/data/ec2/mixed-page2.json"};

	(void)state;
	expect_sources(
		NULL, paths, 2,
		"leaf nn-5f60718293a4b5c63 in nn-3d4e5f60718293a41: i-0b20055c1d2e3f401 "
		"i-0b20055c1d2e3f402\n"
		"leaf nn-718293a4b5c6d7e85 in nn-4e5f60718293a4b52: i-0b20055c1d2e3f404\n"
		"leaf nn-60718293a4b5c6d74 in nn-3d4e5f60718293a41: i-0b20055c1d2e3f403\n"
		"leaf nn-a4b5c6d7e8f90a1b8 in nn-93a4b5c6d7e8f90a7: i-05f8a1b2c3d4e5f60 "
		"i-05f8a1b2c3d4e5f61\n"
		"spine nn-3d4e5f60718293a41 in nn-1b2c3d4e5f6071829: i-0b20055c1d2e3f401 "
		"i-0b20055c1d2e3f402 i-0b20055c1d2e3f403\n"
		"spine nn-4e5f60718293a4b52 in nn-2c3d4e5f607182930: i-0b20055c1d2e3f404\n"
		"spine nn-93a4b5c6d7e8f90a7 in nn-8293a4b5c6d7e8f96: i-05f8a1b2c3d4e5f60 "
		"i-05f8a1b2c3d4e5f61\n"
		"core nn-1b2c3d4e5f6071829 in nn-0c41d7a9be5523f18: i-0b20055c1d2e3f401 "
		"i-0b20055c1d2e3f402 i-0b20055c1d2e3f403\n"
		"core nn-2c3d4e5f607182930 in nn-0c41d7a9be5523f18: i-0b20055c1d2e3f404\n"
		"core nn-8293a4b5c6d7e8f96 in use1-az4: i-05f8a1b2c3d4e5f60 i-05f8a1b2c3d4e5f61\n"
		"layer4 nn-0c41d7a9be5523f18 in use1-az6: i-0b20055c1d2e3f401 i-0b20055c1d2e3f402 "
		"i-0b20055c1d2e3f403 i-0b20055c1d2e3f404\n"
		"zone use1-az4: i-05f8a1b2c3d4e5f60 i-05f8a1b2c3d4e5f61\n"
		"zone use1-az6: i-0b20055c1d2e3f401 i-0b20055c1d2e3f402 i-0b20055c1d2e3f403 "
		"i-0b20055c1d2e3f404\n");
}

static void ultraservers_are_below_leaves(void **state)
{
	static const char *const paths[] = {"tests/data/ec2/ultraservers.json"};
	struct osp_name_map *map = read_map("i-0972a5e5e4b7d1001 u1\ni-0972a5e5e4b7d1002 u2\n"
					    "i-0972a5e5e4b7d1003 u3\ni-0972a5e5e4b7d1004 u4\n"
					    "i-0972a5e5e4b7d1005 u5\ni-0972a5e5e4b7d1006 u6\n"
					    "i-0972a5e5e4b7d1007 p7\n",
					    NULL);
	struct osp_import_options options = {.map = map};

	(void)state;
	expect_sources(&options, paths, 1,
		       "nvlink cb-0a9b8c7d6e5f40312 in nn-d7e8f90a1b2c3d4e1: u1 u2\n"
		       "nvlink cb-1b8c7d6e5f4031299 in nn-d7e8f90a1b2c3d4e1: u3 u4\n"
		       "nvlink cb-2c7d6e5f403129988 in nn-e8f90a1b2c3d4e5f2: u5 u6\n"
		       "leaf nn-d7e8f90a1b2c3d4e1 in nn-c6d7e8f90a1b2c3da: u1 u2 u3 u4\n"
		       "leaf nn-e8f90a1b2c3d4e5f2 in nn-c6d7e8f90a1b2c3da: u5 u6 p7\n"
		       "spine nn-c6d7e8f90a1b2c3da in nn-b5c6d7e8f90a1b2c9: u1 u2 u3 u4 u5 u6 p7\n"
		       "core nn-b5c6d7e8f90a1b2c9 in use1-az6: u1 u2 u3 u4 u5 u6 p7\n"
		       "zone use1-az6: u1 u2 u3 u4 u5 u6 p7\n");
	osp_name_map_free(map);
}

/* As AWS's examples print one that there is not. */
static void a_block_named_null_is_none(void **state)
{
	(void)state;
	expect(osp_import_ec2, NULL,
	       TWO(ZONED("i-1", "\"nn-2\"", "\"CapacityBlockId\":\"null\""),
		   ZONED("i-2", "\"nn-3\"", "\"CapacityBlockId\":\"null\"")),
	       "leaf nn-2: i-1\nleaf nn-3: i-2\n");
}

/* Just after its launch an instance of an UltraServer has none yet: its place on that level is
 * unknown, as long as that is so, and the others' is not. */
static void a_block_of_null_is_unknown_until_it_is_said(void **state)
{
	(void)state;
	expect(osp_import_ec2, NULL,
	       TWO(ZONED("i-1", "\"nn-2\"", "\"CapacityBlockId\":null"),
		   ZONED("i-2", "\"nn-2\"", "\"CapacityBlockId\":\"cb-1\"")),
	       "nvlink cb-1 in nn-2: i-2\nleaf nn-2: i-2 i-1\n");
	expect(osp_import_ec2, NULL,
	       TWO(ZONED("i-1", "\"nn-2\"", "\"CapacityBlockId\":\"cb-1\""),
		   ZONED("i-2", "\"nn-2\"", "\"CapacityBlockId\":\"cb-1\"")),
	       "nvlink cb-1 in nn-2: i-1 i-2\nleaf nn-2: i-1 i-2\n");
	expect(osp_import_ec2, NULL,
	       TWO(ZONED("i-1", "\"nn-2\"", "\"CapacityBlockId\":null"),
		   ZONED("i-2", "\"nn-2\"", "\"CapacityBlockId\":null")),
	       "leaf nn-2: i-1 i-2\n");
}

/* The capture that the README's example imports: 2 spines of 2 leaves of 4 nodes. */
static void the_example_has_two_spines_of_eight(void **state)
{
	static const char *const paths[] = {"etc/examples/p5-16-topology.json"};
	size_t bytes;
	char *text = read_source("etc/examples/p5-16-instances.json", &bytes);
	struct osp_name_map *map = osp_read_name_map("map", text, bytes, "Name", NULL);
	struct osp_import_options options = {.map = map};

	(void)state;
	assert_non_null(map);
	expect_sources(
		&options, paths, 1,
		"leaf nn-11caf27a32370c131 in nn-9078040ee979b8d2b: gpu-1 gpu-2 gpu-3 gpu-4\n"
		"leaf nn-25f0ef0f3e2f047cb in nn-9078040ee979b8d2b: gpu-5 gpu-6 gpu-7 gpu-8\n"
		"leaf nn-c48750773348cd1ce in nn-fd591920b7f499aee: gpu-9 gpu-10 gpu-11 gpu-12\n"
		"leaf nn-ee81106d8c363d393 in nn-fd591920b7f499aee: gpu-13 gpu-14 gpu-15 "
		"gpu-16\n"
		"spine nn-9078040ee979b8d2b in nn-bff9d7e0d877099a4: gpu-1 gpu-2 gpu-3 gpu-4 "
		"gpu-5 gpu-6 gpu-7 gpu-8\n"
		"spine nn-fd591920b7f499aee in nn-bff9d7e0d877099a4: gpu-9 gpu-10 gpu-11 "
		"gpu-12 gpu-13 gpu-14 gpu-15 gpu-16\n"
		"core nn-bff9d7e0d877099a4 in usw2-az1: gpu-1 gpu-2 gpu-3 gpu-4 gpu-5 gpu-6 "
		"gpu-7 gpu-8 gpu-9 gpu-10 gpu-11 gpu-12 gpu-13 gpu-14 gpu-15 gpu-16\n"
		"zone usw2-az1: gpu-1 gpu-2 gpu-3 gpu-4 gpu-5 gpu-6 gpu-7 gpu-8 gpu-9 gpu-10 "
		"gpu-11 gpu-12 gpu-13 gpu-14 gpu-15 gpu-16\n");
	osp_name_map_free(map);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_page_of_three_layers),
		cmocka_unit_test(one_to_four_layers),
		cmocka_unit_test(zones_are_the_top),
		cmocka_unit_test(a_short_list_does_not_hide_what_is_above),
		cmocka_unit_test(pages_follow_each_other_in_one_file),
		cmocka_unit_test(blocks_that_cross_leaves_are_beside_the_tree),
		cmocka_unit_test(yaml_is_read_too),
		cmocka_unit_test(level_names_are_the_users),
		cmocka_unit_test(what_disagrees_is_refused_with_both_names),
		cmocka_unit_test(with_allow_missing_what_disagrees_is_left_out),
		cmocka_unit_test(reserved_nodes_give_way),
		cmocka_unit_test(what_is_not_such_an_answer_is_refused),
		cmocka_unit_test(broken_json_is_told_with_its_place),
		cmocka_unit_test(files_add_up),
		cmocka_unit_test(a_refused_file_leaves_nothing),
		cmocka_unit_test(kinds_do_not_mix),
		cmocka_unit_test(missing_ones_are_told_and_left_out),
		cmocka_unit_test(an_instance_is_one_node),
		cmocka_unit_test(reservations_lack_lower_layers),
		cmocka_unit_test(reservations_are_refused_in_words),
		cmocka_unit_test(two_zones_of_different_depth),
		cmocka_unit_test(ultraservers_are_below_leaves),
		cmocka_unit_test(a_block_named_null_is_none),
		cmocka_unit_test(a_block_of_null_is_unknown_until_it_is_said),
		cmocka_unit_test(the_example_has_two_spines_of_eight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
