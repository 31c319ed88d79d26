/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Imports from InfiniBand: what comes out of ibnetdiscover's text, and every refusal in its
 * words. */
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

#define SWITCH(digit)                                                                              \
	"\nSwitch\t40 \"S-000000000000000" digit "\"\t\t# \"MF0;s" digit                           \
	"\" enhanced port 0 lid 1 lmc 0\n"
#define CA(digit, desc) "\nCa\t1 \"H-000000000000000" digit "\"\t\t# \"" desc "\"\n"
#define TO_SWITCH(port, digit)                                                                     \
	"[" port "]\t\"S-000000000000000" digit "\"[1]\t\t# \"MF0;s" digit "\" lid 1 4xNDR\n"
#define TO_CA(port, digit)                                                                         \
	"[" port "]\t\"H-000000000000000" digit "\"[1](000000000000000" digit                      \
	")\t\t# \"x\" lid 1 4xNDR\n"
#define UP(digit)                                                                                  \
	"[1](0000000000000001)\t\"S-000000000000000" digit                                         \
	"\"[3]\t\t# lid 4 lmc 0 \"s\" lid 1 4xNDR\n"

/* Two rails of two nodes each over one spine; nodes 1 and 2 are on leaves 1 and 2, node 3 on 3. */
static const char rails[] =
	"#\n# Topology file: generated on Fri Aug 21 10:00:00 2026\n#\n"
	"vendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x1\nswitchguid=0x1(1)" SWITCH("1") TO_CA(
		"1", "a") TO_CA("2", "c") TO_SWITCH("33", "9") SWITCH("2") TO_CA("1", "b")
		TO_CA("2", "d") TO_SWITCH("33", "9") SWITCH("3") TO_CA("1", "e") TO_SWITCH(
			"33", "9") "[34] [ext 3]\t\"S-0000000000000009\"[5]\t\t# \"s9\" lid 2 "
				   "4xNDR\n" SWITCH("9") TO_SWITCH("1", "1") TO_SWITCH(
					   "2", "2") TO_SWITCH("3", "3") TO_CA("41", "f")
					   CA("a", "node1 mlx5_0") UP("1") CA("b", "node1 mlx5_1")
						   UP("2") CA("c", "node2.cluster mlx5_0") UP(
							   "1") CA("d", "node2.cluster mlx5_1")
							   UP("2") CA("e", "node3 HCA-1") UP("3")
								   CA("f", "Mellanox Technologies "
									   "Aggregation Node")
									   UP("9");

static const char rails_built[] = "leaf S-0000000000000001 in S-0000000000000009: node1 node2\n"
				  "leaf S-0000000000000003 in S-0000000000000009: node3\n"
				  "spine S-0000000000000009: node1 node2 node3\n";

static void leaves_that_share_a_host_are_one_unit(void **state)
{
	(void)state;
	expect(osp_import_infiniband, NULL, rails, rails_built);
}

/* The same from -p, whose adapters are reported by the GUIDs of their ports. */
static void the_report_of_ports_says_the_same(void **state)
{
	(void)state;
	expect(osp_import_infiniband, NULL,
	       "CA    40  1 0x000000000000000a 4x NDR - SW    1  1 0x0000000000000001 ( 'node1 "
	       "mlx5_0' - 'MF0;s1' )\n"
	       "CA    41  1 0x000000000000000b 4x NDR - SW    2  1 0x0000000000000002 ( 'node1 "
	       "mlx5_1' - 'MF0;s2' )\n"
	       "CA    42  1 0x000000000000000c 4x NDR - SW    1  2 0x0000000000000001 ( 'node2 "
	       "mlx5_0' - 'MF0;s1' )\n"
	       "CA    43  1 0x000000000000000e ?? ??? - SW    3  2 0x0000000000000003 ( 'node3 "
	       "mlx5_0' - 'MF0;s3' )\n"
	       "SW     1 33 0x0000000000000001 4x NDR - SW    9  1 0x0000000000000009 ( 'MF0;s1' - "
	       "'it's s9' )\n"
	       "SW     2 33 0x0000000000000002 4x NDR - SW    9  2 0x0000000000000009 ( 'MF0;s2' - "
	       "'it's s9' )\n"
	       "SW     3 33 0x0000000000000003 4x NDR - SW    9  3 0x0000000000000009 ( 'MF0;s3' - "
	       "'it's s9' )\n"
	       "SW     9  9 0x0000000000000009 4x SDR 'it's s9'\n",
	       rails_built);
}

/* Three levels: pods have spines of their own, and cores join them. */
static void levels_end_where_one_domain_is_above_all(void **state)
{
	(void)state;
	expect(osp_import_infiniband, NULL,
	       SWITCH("1") TO_CA("1", "a") TO_SWITCH("33", "5") SWITCH("2") TO_CA("1", "b")
		       TO_SWITCH("33", "6") SWITCH("5") TO_SWITCH("1", "1") TO_SWITCH("40", "9")
			       SWITCH("6") TO_SWITCH("1", "2") TO_SWITCH("40", "9") SWITCH("9")
				       TO_SWITCH("1", "5") TO_SWITCH("2", "6") TO_SWITCH("3", "7")
					       SWITCH("7") TO_SWITCH("1", "9") CA("a", "n1 mlx5_0")
						       UP("1") CA("b", "n2 mlx5_0") UP("2"),
	       "leaf S-0000000000000001 in S-0000000000000005: n1\n"
	       "leaf S-0000000000000002 in S-0000000000000006: n2\n"
	       "spine S-0000000000000005 in S-0000000000000009: n1\n"
	       "spine S-0000000000000006 in S-0000000000000009: n2\n"
	       "core S-0000000000000009: n1 n2\n");
}

/* Spines that are linked with each other, as in a dragonfly, do not make their groups one. */
static void links_inside_a_level_join_nothing(void **state)
{
	(void)state;
	expect(osp_import_infiniband, NULL,
	       SWITCH("1") TO_CA("1", "a") TO_SWITCH("33", "5") SWITCH("2") TO_CA("1", "b")
		       TO_SWITCH("33", "6") SWITCH("5") TO_SWITCH("1", "1") TO_SWITCH("40", "6")
			       SWITCH("6") TO_SWITCH("1", "2") TO_SWITCH("40", "5")
				       CA("a", "n1 mlx5_0") UP("1") CA("b", "n2 mlx5_0") UP("2"),
	       "leaf S-0000000000000001 in S-0000000000000005: n1\n"
	       "leaf S-0000000000000002 in S-0000000000000006: n2\n"
	       "spine S-0000000000000005: n1\n"
	       "spine S-0000000000000006: n2\n");
}

static char *import_warned(const struct osp_import_options *options, const char *text, char *warned,
			   size_t warned_bytes)
{
	struct osp_import *import = osp_import_new(options);
	struct osp_error error = {0};
	char *result = finish(
		import, osp_import_infiniband(import, "a", text, strlen(text), &error), &error);

	warned[0] = '\0';
	for (size_t i = 0; i < osp_import_warning_count(import); i++) {
		size_t used = strlen(warned);

		snprintf(warned + used, warned_bytes - used, "%s\n", osp_import_warning(import, i));
	}
	osp_import_free(import);
	return result;
}

static void who_is_no_host_is_left_out_and_said(void **state)
{
	static const char text[] = SWITCH("1") TO_CA("1", "a") TO_CA("2", "b") TO_CA("3", "c")
		TO_CA("4", "d") TO_CA("5", "e") CA("a", "node1 mlx5_0") UP("1")
			CA("b", "MT4129 ConnectX7   Mellanox Technologies") UP("1")
				CA("c", "localhost HCA-1") UP("1") CA("d", "ubuntu mlx5_0") UP("1")
					CA("e", "ubuntu mlx5_0") UP("1");
	char warned[1024];
	char *result = import_warned(NULL, text, warned, sizeof(warned));

	(void)state;
	assert_string_equal(result, "leaf S-0000000000000001: node1\n");
	assert_string_equal(
		warned,
		"a:12: 2 channel adapters without a host's name (a map by GUID would name them), "
		"the first being H-000000000000000b 'MT4129 ConnectX7   Mellanox Technologies'; "
		"left out\n"
		"a:21: 1 name is the name of two hosts, whose adapters call themselves the same, "
		"the "
		"first being H-000000000000000e 'ubuntu mlx5_0'; left out\n");
	free(result);
}

static struct osp_name_map *read_adapters(const char *text)
{
	struct osp_error error = {0};
	struct osp_name_map *map = osp_read_adapter_map("map", text, strlen(text), &error);

	assert_string_equal(error.text, "");
	return map;
}

static void a_map_names_adapters_by_guid_and_hosts_by_name(void **state)
{
	struct osp_name_map *map = read_adapters("0x000000000000000a gpu-1\n0xb gpu-1\n"
						 "node2.cluster gpu-2\n");
	struct osp_import_options options = {.map = map};
	char warned[512];
	char *result = import_warned(&options, rails, warned, sizeof(warned));

	(void)state;
	assert_string_equal(result, "leaf S-0000000000000001 in S-0000000000000009: gpu-1 gpu-2\n"
				    "spine S-0000000000000009: gpu-1 gpu-2\n");
	assert_string_equal(warned, "a:41: 1 channel adapter is not in the map, the first being "
				    "H-000000000000000e 'node3 HCA-1'; left out\n");
	free(result);
	options.map_of_slurm = true;
	free(import_warned(&options, rails, warned, sizeof(warned)));
	assert_string_equal(warned,
			    "a:41: 1 channel adapter belongs to no node of Slurm, the first "
			    "being H-000000000000000e 'node3 HCA-1'; left out\n");
	osp_name_map_free(map);
}

static void a_guid_is_known_in_each_form(void **state)
{
	static const struct {
		const char *map;
		const char *words;
	} cases[] = {
		{"0000:0000:0000:000a n1\n", "leaf S-0000000000000001: n1\n"},
		{"000000000000000a n1\n", "leaf S-0000000000000001: n1\n"},
		{"0xa n1\n", "leaf S-0000000000000001: n1\n"},
		{"# GUIDs\n0000:0000:0000:000c n1\n0000:0000:0000:d n2\n",
		 "map:3: no adapter of this fabric is in this map; '0000:0000:0000:d' is neither a "
		 "GUID, as e09d:7303:0085:8d88 or 0xe09d730300858d88, nor the host of an adapter"},
		{"0000:0000:0000-000a n1\n",
		 "map:1: no adapter of this fabric is in this map; '0000:0000:0000-000a' is "
		 "neither a GUID, as e09d:7303:0085:8d88 or 0xe09d730300858d88, nor the host of an "
		 "adapter"},
		{"0000:0000:0000:000c n1\n0xd n1\n000000000000000e n1\nn9 n9\n",
		 "map: no adapter of this fabric is in this map, neither by its GUID nor by its "
		 "host's name"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_name_map *map = read_adapters(cases[i].map);
		struct osp_import_options options = {.map = map};

		expect(osp_import_infiniband, &options,
		       SWITCH("1") TO_CA("1", "a") CA("a", "host mlx5_0") UP("1"), cases[i].words);
		osp_name_map_free(map);
	}
}

/* A storage fabric on adapters of its own would join the units. */
static void a_pattern_chooses_the_adapters(void **state)
{
	static const char text[] =
		SWITCH("1") TO_CA("1", "a") SWITCH("2") TO_CA("1", "b") SWITCH("3") TO_CA("1", "c")
			TO_CA("2", "d") CA("a", "n1 mlx5_0") UP("1") CA("b", "n2 mlx5_0") UP("2")
				CA("c", "n1 mlx5_9") UP("3") CA("d", "n2 mlx5_9") UP("3");
	struct osp_import_options options = {.adapters = "mlx5_[0-7]"};

	(void)state;
	expect(osp_import_infiniband, NULL, text, "leaf S-0000000000000001: n1 n2\n");
	expect(osp_import_infiniband, &options, text,
	       "leaf S-0000000000000001: n1\nleaf S-0000000000000002: n2\n");
}

/* A subnet manager on a spine makes it no leaf. */
static void a_server_on_a_spine_makes_it_no_leaf(void **state)
{
	char text[16384] = SWITCH("9") TO_SWITCH("1", "1") TO_SWITCH("2", "2") TO_SWITCH("3", "3")
		TO_CA("4", "f") CA("f", "ufm mlx5_0") UP("9");
	char warned[256];
	char *result;

	(void)state;
	for (int leaf = 1; leaf <= 3; leaf++) {
		size_t used = strlen(text);

		snprintf(text + used, sizeof(text) - used,
			 "\nSwitch 40 \"S-%016x\" # \"s\" enhanced port 0\n", leaf);
		for (int host = 0; host < 4; host++) {
			used = strlen(text);
			snprintf(text + used, sizeof(text) - used,
				 "\nCa 1 \"H-%016x\" # \"n%d%d mlx5_0\"\n[1] \"S-%016x\"[1] # "
				 "\"s\"\n",
				 leaf * 256 + host, leaf, host, leaf);
		}
	}
	result = import_warned(NULL, text, warned, sizeof(warned));
	assert_string_equal(result,
			    "leaf S-0000000000000001 in S-0000000000000009: n10 n11 n12 n13\n"
			    "leaf S-0000000000000002 in S-0000000000000009: n20 n21 n22 n23\n"
			    "leaf S-0000000000000003 in S-0000000000000009: n30 n31 n32 n33\n"
			    "spine S-0000000000000009: n10 n11 n12 n13 n20 n21 n22 n23 n30 n31 n32 "
			    "n33\n");
	assert_string_equal(warned,
			    "1 host is only on switches above the leaves, as subnet managers "
			    "and storage are; left out\n");
	free(result);
}

static void two_sweeps_come_together_by_guid(void **state)
{
	const char *texts[] = {
		SWITCH("1") TO_CA("1", "a") CA("a", "n1 mlx5_0") UP("1"),
		SWITCH("2") TO_CA("1", "b") CA("b", "n1 mlx5_1") UP("2"),
	};

	(void)state;
	expect_texts(osp_import_infiniband, NULL, texts, 2, "leaf S-0000000000000001: n1\n");
}

static void what_is_no_whole_sweep_is_refused(void **state)
{
	static const struct {
		const char *text;
		const char *words;
	} cases[] = {
		{"", "a: no switch and no channel adapter in this output of ibnetdiscover"},
		{"# Topology file\n#\n\n",
		 "a: no switch and no channel adapter in this output of ibnetdiscover"},
		{CA("a", "node1 HCA-1"), "a: no link between 1 device: the port that swept is "
					 "down, or this is a list (-l, -H, "
					 "-S)"},
		{SWITCH("1") TO_CA("1", "a"),
		 "a:3: H-000000000000000a 'x' is linked but has no entry of its own: the output is "
		 "cut; --allow-missing keeps the rest"},
		{SWITCH("1") "[1]\t\"S-00000",
		 "a:3:13: a device as \"S-fc6a1c0300ee1000\" is expected, "
		 "as ibnetdiscover prints it"},
		{"Switch x", "a:1:8: a number of ports is expected, as ibnetdiscover prints it"},
		{"Switch 4 \"H-1\" # \"\"",
		 "a:1:1: this line's first word and the letter of its id disagree"},
		{"[1] \"S-1\"[1]", "a:1:1: a Switch, Ca or Rt before its ports is expected, as "
				   "ibnetdiscover prints it"},
		{"SwitchName=a Nodes=b\n",
		 "a:1:7: a number of ports is expected, as ibnetdiscover prints it"},
		{"hello\n", "a:1:1: SW, CA or RT is expected, as ibnetdiscover prints it"},
		{"CA 1 1 0x1 4x NDR - SW 2 1 0x2 ( 'a", "a:1:35: ( 'DESCRIPTION' - 'DESCRIPTION' ) "
							"is expected, as ibnetdiscover prints it"},
		{SWITCH("1") TO_SWITCH("1", "2") SWITCH("2") TO_SWITCH("1", "1"),
		 "no switch of this fabric has a host that is known by name; a map by GUID "
		 "(--nodes) "
		 "names them"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(osp_import_infiniband, NULL, cases[i].text, cases[i].words);
}

static void level_names_are_the_users(void **state)
{
	static const char *const names[] = {"tor", "pod"};
	struct osp_import_options options = {.level_names = names, .level_name_count = 1};

	(void)state;
	expect(osp_import_infiniband, &options, rails,
	       "the fabric has 2 layers, but only 1 level name is given");
	options.level_name_count = 2;
	expect(osp_import_infiniband, &options,
	       SWITCH("1") TO_CA("1", "a") CA("a", "n1 mlx5_0") UP("1"),
	       "tor S-0000000000000001: n1\n");
}

/* Writes what -p reports of five hosts of two adapters each; `leaf` has, by host, the leaves of its
 * two adapters, "12" or "21" or "11". */
static void write_rails(const char *const leaf[5], char *text, size_t bytes)
{
	size_t used = 0;

	for (int host = 0; host < 5; host++) {
		for (int rail = 0; rail < 2; rail++)
			used += (size_t)snprintf(
				text + used, bytes - used,
				"CA %d 1 0x%016x 4x NDR - SW %c %d 0x%016x ( 'n%d mlx5_%d' - 's%c' "
				")\n",
				40 + 2 * host + rail, 0xa0 + 2 * host + rail, leaf[host][rail],
				2 * host + rail + 1, leaf[host][rail] - '0', host + 1, rail,
				leaf[host][rail]);
	}
	for (int number = 1; number <= 2; number++)
		used += (size_t)snprintf(text + used, bytes - used,
					 "SW %d 33 0x%016x 4x NDR - SW 9 %d 0x%016x ( 's%d' - 's9' "
					 ")\n",
					 number, number, number, 9, number);
	snprintf(text + used, bytes - used, "SW 9 9 0x%016x 4x SDR 's9'\n", 9);
}

static void a_host_whose_rails_are_swapped_is_named(void **state)
{
	static const struct {
		const char *leaf[5];
		const char *warned;
	} cases[] = {
		{{"12", "12", "12", "12", "12"}, ""},
		{{"12", "12", "21", "12", "12"},
		 "rails are swapped by the cables of n3: n3's mlx5_0 is on switch "
		 "S-0000000000000002, where most hosts have mlx5_1; the place is the same\n"},
		{{"21", "12", "12", "12", "21"},
		 "rails are swapped by the cables of n[1,5]: n1's mlx5_0 is on switch "
		 "S-0000000000000002, where most hosts have mlx5_1; the place is the same\n"},
		/* a cable to a second leaf, and leaves with all adapters of a host, have no rail */
		{{"12", "12", "11", "12", "12"}, ""},
		{{"11", "11", "11", "22", "22"}, ""},
		{{"12", "21", "12", "21", "11"}, ""},
	};
	char text[4096], warned[512];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		write_rails(cases[i].leaf, text, sizeof(text));
		free(import_warned(NULL, text, warned, sizeof(warned)));
		assert_string_equal(warned, cases[i].warned);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaves_that_share_a_host_are_one_unit),
		cmocka_unit_test(the_report_of_ports_says_the_same),
		cmocka_unit_test(levels_end_where_one_domain_is_above_all),
		cmocka_unit_test(links_inside_a_level_join_nothing),
		cmocka_unit_test(who_is_no_host_is_left_out_and_said),
		cmocka_unit_test(a_map_names_adapters_by_guid_and_hosts_by_name),
		cmocka_unit_test(a_guid_is_known_in_each_form),
		cmocka_unit_test(a_pattern_chooses_the_adapters),
		cmocka_unit_test(a_server_on_a_spine_makes_it_no_leaf),
		cmocka_unit_test(two_sweeps_come_together_by_guid),
		cmocka_unit_test(what_is_no_whole_sweep_is_refused),
		cmocka_unit_test(level_names_are_the_users),
		cmocka_unit_test(a_host_whose_rails_are_swapped_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
