/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Imports of tables: the format, ambiguous switch names, hashed hosts, a production fabric. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/text.h"
#include "lib/topology/readers.h"
#include "tests/unit/import_helper.h"

static void a_plain_table(void **state)
{
	(void)state;
	expect(osp_import_csv, NULL,
	       "host,core,spine,leaf\n"
	       "n2,c,s1,l1\n"
	       "n1,c,s1,l1\n"
	       "n3,c,s2,l2\n",
	       "leaf l1 in s1: n1 n2\n"
	       "leaf l2 in s2: n3\n"
	       "spine s1 in c: n1 n2\n"
	       "spine s2 in c: n3\n"
	       "core c: n1 n2 n3\n");
}

/* The first table with its columns in other orders: the names say which is which. */
static void columns_by_their_names(void **state)
{
	static const char *const texts[] = {
		"Leaf,host,core switch,spine_name\nl1,n2,c,s1\nl1,n1,c,s1\nl2,n3,c,s2\n",
		"hostname,tor,pod,core\nn2,l1,s1,c\nn1,l1,s1,c\nn3,l2,s2,c\n",
		"superspine,spine,rack,node_name\nc,s1,l1,n2\nc,s1,l1,n1\nc,s2,l2,n3\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		expect(osp_import_csv, NULL, texts[i],
		       "leaf l1 in s1: n1 n2\n"
		       "leaf l2 in s2: n3\n"
		       "spine s1 in c: n1 n2\n"
		       "spine s2 in c: n3\n"
		       "core c: n1 n2 n3\n");
}

#define TAKEN(host, switches)                                                                      \
	"a: column " host " is taken for the hosts and, top layer first, " switches                \
	" for their switches; --columns and --levels can say otherwise"

static void columns_whose_names_do_not_tell(void **state)
{
	static const struct {
		const char *text;
		const char *warning; /* NULL: none */
	} cases[] = {
		{"host,spine,leaf\nn1,s,l\n", NULL},
		{"server,ASW\nn1,l\n", NULL},
		{"x,s,l\nn2,s,l\n", TAKEN("x", "s as spine, l as leaf")},
		{"PSW,host,ASW\ns,n1,l\n", TAKEN("host", "PSW as spine, ASW as leaf")},
		{"host,leaf,rack\nn1,l,r\n", TAKEN("host", "leaf as spine, rack as leaf")},
		{"node,host,leaf\nn1,s,l\n", TAKEN("node", "host as spine, leaf as leaf")},
		{"host,spineless,leaf\nn1,s,l\n",
		 TAKEN("host", "spineless as spine, leaf as leaf")},
		/* in order, but no level has the column's name */
		{"host,core,spine\nn1,c,s\n", TAKEN("host", "core as spine, spine as leaf")},
		{"host,spine\nn1,s\n", TAKEN("host", "spine as leaf")},
		{"host,spine,leaf,nvlink\nn1,s,l,r\n",
		 TAKEN("host", "spine as core, leaf as spine, nvlink as leaf")},
		{"host,pod,rack\nn1,s,l\n", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_import *import = osp_import_new(NULL);

		assert_int_equal(
			osp_import_csv(import, "a", cases[i].text, strlen(cases[i].text), NULL), 0);
		if (cases[i].warning) {
			assert_int_equal(osp_import_warning_count(import), 1);
			assert_string_equal(osp_import_warning(import, 0), cases[i].warning);
		} else {
			assert_int_equal(osp_import_warning_count(import), 0);
		}
		osp_import_free(import);
	}
}

/* A column that no usual name tells of says enough if --levels has its name. */
static void columns_with_the_names_of_the_levels(void **state)
{
	static const char *const levels[] = {"leaf", "spine", "zone"};
	static const struct {
		const char *text;
		const char *warning; /* NULL: none */
	} cases[] = {
		{"host,zone,spine,leaf\nn1,z,s,l\n", NULL},
		{"host,hall,spine,leaf\nn1,z,s,l\n",
		 TAKEN("host", "hall as zone, spine as spine, leaf as leaf")},
		{"machine,zone,spine,leaf\nn1,z,s,l\n",
		 TAKEN("machine", "zone as zone, spine as spine, leaf as leaf")},
	};
	struct osp_import_options options = {.level_names = levels, .level_name_count = 3};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_import *import = osp_import_new(&options);

		assert_int_equal(
			osp_import_csv(import, "a", cases[i].text, strlen(cases[i].text), NULL), 0);
		assert_int_equal(osp_import_warning_count(import), cases[i].warning != NULL);
		if (cases[i].warning)
			assert_string_equal(osp_import_warning(import, 0), cases[i].warning);
		osp_import_free(import);
	}
}

/* A table without a header line would lose its first host. */
static void a_host_is_no_header(void **state)
{
	(void)state;
	expect(osp_import_csv, NULL, "n1,s,l\nn2,s,l\n",
	       "a:1:1: a header line that names the columns, such as host,spine,leaf, is expected: "
	       "'n1' looks like a host, as 'n2' below it");
	expect(osp_import_csv, NULL, "\nspine-1,leaf-1,node-1\nspine-1,leaf-2,node-12\n",
	       "a:2:16: a header line that names the columns, such as host,spine,leaf, is "
	       "expected: 'node-1' looks like a host, as 'node-12' below it");
	expect(osp_import_csv, NULL, "host,leaf\nhost-1,l\n", "leaf l: host-1\n");
}

/* --columns may have given the order, and --levels the levels. */
static void what_was_asked_for_is_compared_with_the_names(void **state)
{
	static const char *const columns[] = {"host", "spine", "leaf", "nvlink"};
	static const char *const levels[] = {"nvlink", "leaf", "spine"};
	static const char text[] = "host,spine,leaf,nvlink\nn1,s,l,r\n";
	struct osp_import_options options = {.csv_columns = columns, .csv_column_count = 4};

	(void)state;
	for (int named = 0; named < 3; named++) {
		struct osp_import *import = osp_import_new(&options);

		assert_int_equal(osp_import_csv(import, "a", text, strlen(text), NULL), 0);
		assert_int_equal(osp_import_warning_count(import), !named);
		if (!named)
			assert_string_equal(
				osp_import_warning(import, 0),
				"a: column host is taken for the hosts and, top layer first, spine "
				"as core, leaf as spine, nvlink as leaf for their switches; "
				"--levels can say otherwise");
		osp_import_free(import);
		options.level_names = levels;
		options.level_name_count = 3;
		if (named)
			options.csv_columns = NULL;
	}
}

static void what_rfc_4180_allows(void **state)
{
	(void)state;
	expect(osp_import_csv, NULL,
	       "\xef\xbb\xbf\r\n"
	       "\"host\" , \"the \"\"leaf\"\", here\"\r\n"
	       "\r\n"
	       " n1 ,\"l,1\"\r\n"
	       "   \n"
	       "\"n2\"\t,\t\"l\"\"1\"\"\"\n"
	       "n3,l 1",
	       "leaf l 1: n3\n"
	       "leaf l\"1\": n2\n"
	       "leaf l,1: n1\n");
}

static void only_the_lowest_layers_may_be_unknown(void **state)
{
	struct osp_import_options options = {.allow_missing = true};

	(void)state;
	expect(osp_import_csv, &options,
	       "host,core,spine,leaf\n"
	       "n1,c,s,l\n"
	       "n2,c,s,\n"
	       "n3,c,,\n"
	       "n4,,,\n",
	       "leaf l in s: n1\n"
	       "spine s in c: n1 n2\n"
	       "core c: n1 n2 n3\n");
	expect(osp_import_csv, NULL, "host,core,spine\nn1,c,s\nn4,,\n",
	       "a:3:1: host n4 has no switches; --allow-missing keeps the rest");
	expect(osp_import_csv, &options, "host,core,spine\nn1,,s\n",
	       "a:2:4: no core here, but a switch below it: only the lowest layers may be "
	       "unknown");
}

/* The same name under two parents is two switches; then the whole layer has longer names. */
static void ambiguous_names_become_paths(void **state)
{
	(void)state;
	expect(osp_import_csv, NULL,
	       "host,core,spine,leaf\n"
	       "n1,c,p1,s1\n"
	       "n2,c,p2,s1\n"
	       "n3,c,p2,s2\n",
	       "leaf p1/s1 in p1: n1\n"
	       "leaf p2/s1 in p2: n2\n"
	       "leaf p2/s2 in p2: n3\n"
	       "spine p1 in c: n1\n"
	       "spine p2 in c: n2 n3\n"
	       "core c: n1 n2 n3\n");
	expect(osp_import_csv, NULL,
	       "host,core,spine,leaf\n"
	       "n1,c1,p1,s1\n"
	       "n2,c2,p1,s1\n",
	       "leaf c1/p1/s1 in c1/p1: n1\n"
	       "leaf c2/p1/s1 in c2/p1: n2\n"
	       "spine c1/p1 in c1: n1\n"
	       "spine c2/p1 in c2: n2\n"
	       "core c1: n1\n"
	       "core c2: n2\n");
	/* one name at two layers is no ambiguity */
	expect(osp_import_csv, NULL, "host,spine,leaf\nn1,1,1\n", "leaf 1 in 1: n1\nspine 1: n1\n");
}

static void columns_by_name(void **state)
{
	static const char *const columns[] = {"name", "pod", "tor"};
	static const char *const wrong[] = {"name", "pad", "tor"};
	static const char *const none[] = {"name", "fabric"};
	struct osp_import_options options = {.csv_columns = columns, .csv_column_count = 3};
	static const char text[] = "tor,rack,name,pod\nt1,r1,n1,p1\nt2,r1,n2,p1\n";

	(void)state;
	expect(osp_import_csv, &options, text,
	       "leaf t1 in p1: n1\nleaf t2 in p1: n2\nspine p1: n1 n2\n");
	options.csv_columns = wrong;
	expect(osp_import_csv, &options, text,
	       "a:1:1: there is no column 'pad'; did you mean pod?");
	options.csv_columns = none;
	options.csv_column_count = 2;
	expect(osp_import_csv, &options, text,
	       "a:1:1: there is no column 'fabric' (tor, rack, name, pod)");
	options.csv_column_count = 1;
	expect(osp_import_csv, &options, text,
	       "a column of hosts and at least one of switches are needed");
}

static void refuses_in_words(void **state)
{
	static const struct {
		const char *text;
		const char *error;
	} cases[] = {
		{"", "a: no CSV of hosts and switches: this looks like an empty file"},
		{"SwitchName=s1 Nodes=n[1-2]\n",
		 "a: no CSV of hosts and switches: this looks like a Slurm topology.conf; use "
		 "--from slurm"},
		{"{\"Instances\":[{\"NetworkNodes\":[]}]}",
		 "a: no CSV of hosts and switches: this looks like an answer of EC2 about "
		 "topology; "
		 "use --from ec2"},
		{"host\nn1\n", "a:1:1: a header with a column of hosts and one for each layer of "
			       "switches is expected, not 'host' alone"},
		{"host,\nn1,l1\n", "a:1:6: a column without a name"},
		{"host,leaf,leaf\n", "a:1:11: column 'leaf' is there twice"},
		{"host,leaf\n", "there is no host in what was read"},
		{"host,leaf\nn1\n", "a:2:1: 1 fields; the header has 2"},
		{"host,leaf\nn1,l1,\n", "a:2:1: 3 fields; the header has 2"},
		{"host,leaf\n,l1\n", "a:2:1: a host's name is missing"},
		{"host,leaf\nn1,\"l1\n", "a:2:4: this quote is not closed"},
		{"host,leaf\nn1,\"l1\"x\n",
		 "a:2:8: a comma or the end of the line is expected after the quote"},
		{"host,leaf\nn1,l\"1\n",
		 "a:2:5: a quote inside a field; quote the whole field and double it"},
		{"host,leaf\nn1,l\x01\n", "a:2:5: a control character in a field"},
		{"host,leaf\nn1,l\r1\n", "a:2:5: a control character in a field"},
		{"host,leaf\nn1,\"l\n1\"\n", "a:2:1: a control character in a leaf's name"},
		{"host,leaf\nn 1,l1\n", "a:2:1: node 'n 1': ' ' is not allowed in its name"},
		{"host,leaf\nn1,l1\nn2,l1\nn1,l2\n",
		 "a:4:1: host n1 is given twice (first in a:2)"},
		{"h,a,b,c,d,e,f,g,i,j,k,l,m,n,o\n",
		 "a:1:1: 14 columns of switches; at most 13 are expected"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(osp_import_csv, NULL, cases[i].text, cases[i].error);
}

static void a_long_line_or_quote_ends_somewhere(void **state)
{
	size_t bytes = 100000;
	char *text = malloc(bytes + 1);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', bytes);
	memcpy(text, "host,leaf\nn1,\"", 14);
	text[bytes] = '\0';
	expect(osp_import_csv, NULL, text, "a:2:1: a line of more than 64 KiB, or an open quote");
	memset(text, ',', bytes);
	text[0] = 'h';
	text[60000] = '\0';
	expect(osp_import_csv, NULL, text,
	       "a:1:258: more fields in one line than any fabric has layers");
	free(text);
}

static void files_add_up(void **state)
{
	static const char *const texts[] = {"host,spine,leaf\nn1,s,l\n",
					    "machine,a,b\r\nn2,s,l\r\n", "host,leaf\nn3,l\n",
					    "host,spine,leaf\nn1,s,l\n"};
	const char *const again[] = {texts[0], texts[3]};

	(void)state;
	expect_texts(osp_import_csv, NULL, texts, 2, "leaf l in s: n1 n2\nspine s: n1 n2\n");
	expect_texts(osp_import_csv, NULL, texts, 3,
		     "c:1:1: 1 layers of switches here, but 2 in the CSV before");
	expect_texts(osp_import_csv, NULL, again, 2,
		     "b:2:1: host n1 is given twice (first in a:2)");
}

#define HASH_A "0c9d9de1b19e7f39b08f49ddfa26744ae26d3adf8bd59af1b16e203b6fa5fe4b"
#define HASH_B "0c9d9de1b1907f39b08f49ddfa26744ae26d3adf8bd59af1b16e203b6fa5fe4b"
#define HASH_C "1c9d9de1b19e7f39b08f49ddfa26744ae26d3adf8bd59af1b16e203b6fa5fe4b"

static void hashed_hosts_get_short_names(void **state)
{
	struct osp_name_map *map = read_map(HASH_A " gpu-1\n" HASH_C " gpu-2\n", NULL);
	struct osp_import_options options = {.map = map};

	(void)state;
	expect(osp_import_csv, NULL, "host,leaf\n" HASH_A ",l\n" HASH_C ",l\n",
	       "leaf l: n0c9d9de1 n1c9d9de1\n");
	expect(osp_import_csv, NULL,
	       "host,leaf\n" HASH_A ",l\n" HASH_B ",l\n" HASH_C ",l\nplain,l\n",
	       "leaf l: n0c9d9de1b19e n0c9d9de1b190 n1c9d9de1b19e plain\n");
	expect(osp_import_csv, NULL, "host,leaf\n" HASH_A ",l\nn0c9d9de1,l\n",
	       "a:3:1: host n0c9d9de1 would be node n0c9d9de1, which is host " HASH_A " (a:2)");
	expect(osp_import_csv, &options, "host,leaf\n" HASH_A ",l\n" HASH_C ",l\n",
	       "leaf l: gpu-1 gpu-2\n");
	osp_name_map_free(map);
}

/* 847 hosts of a production fabric: its leaves are numbered anew under each spine. */
static void the_lingjun_fabric(void **state)
{
	const char *shared = getenv("ONESPINE_SHARED_DATA"), *top = getenv("top_srcdir");
	struct osp_import *import = osp_import_new(NULL);
	struct osp_topology *topology;
	struct osp_error error = {0};
	uint32_t first, count;
	char path[1024];
	size_t bytes;
	char *text;

	(void)state;
	if (shared)
		snprintf(path, sizeof(path), "%s/fabric/lingjun-847-hosts.csv", shared);
	else
		snprintf(path, sizeof(path), "%s/../shared/data/fabric/lingjun-847-hosts.csv",
			 top ? top : ".");
	text = osp_read_file(path, OSP_TOPOLOGY_FILE_BYTES_MAX, &bytes);
	if (!text) {
		osp_import_free(import);
		print_message("skipped: %s is not there (ONESPINE_SHARED_DATA says where)\n", path);
		skip();
	}
	assert_int_equal(osp_import_csv(import, path, text, bytes, &error), 0);
	topology = osp_import_finish(import, &error);
	assert_string_equal(error.text, "");
	assert_int_equal(osp_topology_node_count(topology), 847);
	assert_int_equal(osp_topology_level_count(topology), 3);
	osp_topology_level_domains(topology, 1, &first, &count);
	assert_int_equal(count, 119);
	osp_topology_level_domains(topology, 2, &first, &count);
	assert_int_equal(count, 3);
	osp_topology_level_domains(topology, 3, &first, &count);
	assert_int_equal(count, 1);
	assert_int_not_equal(osp_topology_find_node(topology, "n0c9d9de1"), OSP_NO_NODE);
	assert_int_not_equal(osp_topology_find_domain(topology, 1, "P10/S14"), OSP_NO_DOMAIN);
	assert_int_not_equal(osp_topology_find_domain(topology, 2, "P10"), OSP_NO_DOMAIN);
	assert_int_equal(osp_topology_domain(topology, osp_topology_find_domain(topology, 3, "G6"))
				 ->node_count,
			 847);
	osp_topology_free(topology);
	osp_import_free(import);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_table),
		cmocka_unit_test(columns_by_their_names),
		cmocka_unit_test(columns_whose_names_do_not_tell),
		cmocka_unit_test(columns_with_the_names_of_the_levels),
		cmocka_unit_test(a_host_is_no_header),
		cmocka_unit_test(what_was_asked_for_is_compared_with_the_names),
		cmocka_unit_test(what_rfc_4180_allows),
		cmocka_unit_test(only_the_lowest_layers_may_be_unknown),
		cmocka_unit_test(ambiguous_names_become_paths),
		cmocka_unit_test(columns_by_name),
		cmocka_unit_test(refuses_in_words),
		cmocka_unit_test(a_long_line_or_quote_ends_somewhere),
		cmocka_unit_test(files_add_up),
		cmocka_unit_test(hashed_hosts_get_short_names),
		cmocka_unit_test(the_lingjun_fabric),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
