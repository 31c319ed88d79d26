/* SPDX-License-Identifier: GPL-2.0-or-later */
/* onespine.topology and Slurm's topology.conf: read, refused in words, written, read again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/topology/file_kind.h"
#include "lib/base/text.h"
#include "lib/topology/file_kind.h"
#include "lib/topology/readers.h"
#include "lib/topology/topology_yaml.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef struct osp_topology *reader_f(const char *file, const char *text, size_t text_bytes,
				      struct osp_error *error);

/* A file of tests/data/topology. */
static char *data_file(const char *name)
{
	const char *source = getenv("srcdir");
	char path[512];
	size_t length;
	char *text;

	snprintf(path, sizeof(path), "%s/tests/data/topology/%s", source ? source : ".", name);
	text = osp_read_file(path, OSP_TOPOLOGY_FILE_BYTES_MAX, &length);
	if (!text)
		fail_msg("%s cannot be read", path);
	return text;
}

static struct osp_topology *read_good(reader_f *read, const char *text)
{
	struct osp_error error = {0};
	struct osp_topology *topology = read("f", text, strlen(text), &error);
	char words[800];

	if (!topology)
		fail_msg("%s\n%s", osp_error_format(&error, words, sizeof(words)), text);
	return topology;
}

/* Reads `from` and compares what `write` makes of it with `to`. */
static void check_slurm_to_onespine(const char *from, const char *to)
{
	char *text = data_file(from), *expected = data_file(to), *written;
	struct osp_topology *topology = read_good(osp_read_slurm_topology, text);

	written = osp_write_onespine_topology(topology, NULL);
	assert_string_equal(written, expected);
	osp_topology_free(topology);
	free(written);
	free(expected);
	free(text);
}

static void slurms_tree_is_read(void **state)
{
	(void)state;
	check_slurm_to_onespine("tree.conf", "tree.topology");
}

static void rails_merge(void **state)
{
	(void)state;
	check_slurm_to_onespine("rails.conf", "rails.topology");
}

static void slurms_tree_is_written(void **state)
{
	char *text = data_file("zones.topology"), *expected = data_file("zones.conf"), *written;
	struct osp_topology *topology = read_good(osp_read_onespine_topology, text);

	(void)state;
	written = osp_write_slurm_topology(topology, false, NULL);
	assert_string_equal(written, expected);
	osp_topology_free(topology);
	free(written);
	free(expected);
	free(text);
}

static void our_file_comes_back_byte_for_byte(void **state)
{
	static const struct {
		const char *file;
		const char *source;
	} cases[] = {
		{"tree.topology", NULL},
		{"rails.topology", NULL},
		{"zones.topology",
		 "two zones, a name at two levels, places unknown at several levels"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *text = data_file(cases[i].file);
		struct osp_topology *topology = read_good(osp_read_onespine_topology, text);
		char *written = osp_write_onespine_topology(topology, cases[i].source);

		assert_string_equal(written, text);
		osp_topology_free(topology);
		free(written);
		free(text);
	}
}

/* A second reading and writing changes nothing any more, whatever was made up the first time; the
 * root that Slurm alone wants stays what it is, nodes of unknown places got a place. */
static void slurms_file_settles(void **state)
{
	static const struct {
		const char *file;
		bool made_up;
	} cases[] = {{"rails.conf", false}, {"zones.conf", true}};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *text = data_file(cases[i].file), *once, *twice;
		struct osp_topology *topology = read_good(osp_read_slurm_topology, text);

		once = osp_write_slurm_topology(topology, false, NULL);
		osp_topology_free(topology);
		topology = read_good(osp_read_slurm_topology, once);
		twice = osp_write_slurm_topology(topology, false, NULL);
		assert_string_equal(once, twice);
		assert_int_equal(strstr(once, OSP_ROOT_REMARK) != NULL, cases[i].made_up);
		assert_null(strstr(once, "not of the fabric: nodes"));
		osp_topology_free(topology);
		free(once);
		free(twice);
		free(text);
	}
}

static void check_refusal(reader_f *read, const char *text, const char *words)
{
	struct osp_error error = {0};
	struct osp_topology *topology = read("f", text, strlen(text), &error);
	char formatted[800];

	if (topology)
		fail_msg("taken, though: %s\n%s", words, text);
	assert_string_equal(osp_error_format(&error, formatted, sizeof(formatted)), words);
	assert_null(read("f", text, strlen(text), NULL));
}

/* A tree of two leaves and one above, as a topology.yaml tells it. */
#define YAML_TREE(where)                                                                           \
	where "  tree:\n    switches:\n      - switch: top\n        children: l[1-2]\n"            \
	      "      - switch: l1\n        nodes: n[1-2]\n"                                        \
	      "      - {switch: \"l2\", nodes: \"n[3-4]\"}\n"

/* scontrol show topoconf of 26.05: every kind is there. */
#define EMPTY_BUT(kind) "  block: {}\n  flat: {}\n  ring: {}\n  torus3d: {}\n  tree:" kind "\n"
#define REPORTED_TREE                                                                              \
	"%YAML 1.1\n---\n- topology: main\n  cluster_default: true\n" EMPTY_BUT(                   \
		"\n    switches:\n    - switch: top\n      children: l[1-2]\n      nodes:\n"       \
		"    - switch: l1\n      children:\n      nodes: n[1-2]\n    - switch: l2\n"       \
		"      children:\n      nodes: n[3-4]") "- topology: second\n  cluster_default: "  \
							"false\n" EMPTY_BUT(" {}") "...\n"

static void slurms_yaml_is_read(void **state)
{
	static const char conf[] = "SwitchName=top Switches=l[1-2]\nSwitchName=l1 Nodes=n[1-2]\n"
				   "SwitchName=l2 Nodes=n[3-4]\n";
	static const char *const cases[] = {
		YAML_TREE("- topology: a\n"),
		YAML_TREE("---\n# comment\n- topology: a\n  cluster_default: true\n"),
		YAML_TREE("- topology: f\n  flat: true\n- topology: a\n  cluster_default: "
			  "true\n") "- topology: b\n  cluster_default: true\n  block: {}\n",
		YAML_TREE("- topology: a\n") "- topology: b\n  block:\n    block_sizes: "
					     "[4]\n",
		REPORTED_TREE,
	};
	struct osp_topology *topology = read_good(osp_read_slurm_topology, conf);
	char *expected = osp_write_onespine_topology(topology, NULL);

	(void)state;
	osp_topology_free(topology);
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *written;

		topology = read_good(osp_read_slurm_topology, cases[i]);
		written = osp_write_onespine_topology(topology, NULL);
		assert_string_equal(written, expected);
		osp_topology_free(topology);
		free(written);
	}
	free(expected);
}

/* What is written as YAML is the same fabric as what is written for topology.conf. */
static void slurms_yaml_is_written(void **state)
{
	static const char *const files[] = {"rails.topology", "zones.topology"};
	static const char start[] =
		"# topology.yaml of Slurm 25.05 and later; written by onespine.\n";

	(void)state;
	for (size_t i = 0; i < COUNT(files); i++) {
		char *text = data_file(files[i]), *own[2];

		for (int yaml = 0; yaml < 2; yaml++) {
			struct osp_topology *topology = read_good(osp_read_onespine_topology, text);
			char *written = osp_write_slurm_topology(topology, yaml, NULL);

			assert_int_equal(yaml, !strncmp(written, start, strlen(start)));
			assert_int_equal(yaml, strstr(written, "SwitchName=") == NULL);
			osp_topology_free(topology);
			topology = read_good(osp_read_slurm_topology, written);
			own[yaml] = osp_write_onespine_topology(topology, NULL);
			osp_topology_free(topology);
			free(written);
		}
		assert_string_equal(own[0], own[1]);
		free(own[0]);
		free(own[1]);
		free(text);
	}
}

static void the_cluster_has_a_kind_of_topology(void **state)
{
	static const struct {
		const char *text, *kind;
	} cases[] = {
		{REPORTED_TREE, "tree"},
		{"- topology: a\n  block:\n    block_sizes: [4]\n- topology: b\n  tree: {}\n",
		 "block"},
		{"- topology: a\n  flat: true\n", "flat"},
		{"- topology: a\n  cluster_default: true\n" EMPTY_BUT(" {}"), "flat"},
		{"- topology: default\n  cluster_default: true\n" EMPTY_BUT(" {}"), "flat"},
		{"- topology: default\n  cluster_default: false\n" EMPTY_BUT(" {}"), NULL},
		{"- topology: default\n  tree:\n    switches: [a]\n", "tree"},
		{"- topology: a\n", NULL},
		{"{}", NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_error error = {.text = ""};
		struct osp_document *document =
			osp_document_read("f", cases[i].text, strlen(cases[i].text), &error);
		const char *kind = osp_topology_yaml_kind(document, &error);

		if (cases[i].kind)
			assert_string_equal(kind ? kind : error.text, cases[i].kind);
		else
			assert_null(kind);
		assert_int_equal(!kind, *error.text != '\0');
		osp_document_free(document);
	}
}

static void mistakes_in_yaml_have_their_place(void **state)
{
	static const struct {
		const char *text;
		const char *words;
	} cases[] = {
		{"- topology: a\n  tree: {switches: [a]}\n  flat: true\n",
		 "f:1:3: a topology is one of tree, block, flat, ring and torus3d"},
		{"- topology: a\n  teee: {}\n", "f:2:3: unknown key 'teee'; did you mean tree?"},
		{"- topology: a\n  block:\n    blocks: []\n",
		 "f:3:5: the cluster's topology a is a block; only a tree says which switches "
		 "nodes "
		 "share"},
		{YAML_TREE(
			 "- topology: a\n") "- topology: b\n  cluster_default: yes\n  flat: true\n",
		 "f:11:9: the cluster's topology b is a flat; only a tree says which switches "
		 "nodes "
		 "share"},
		{"- topology: a\n  cluster_default: maybe\n  flat: true\n",
		 "f:2:20: cluster_default: true or false is expected, not 'maybe'"},
		{"- topology: a\n  tree:\n    switches: []\n",
		 "f:3:5: a tree has \"switches:\", a list of switches"},
		{"- topology: a\n  tree:\n    switches:\n      - switch: s\n",
		 "f:4:9: switch s has neither nodes nor children"},
		{"- topology: a\n  tree:\n    switches:\n      - nodes: n1\n",
		 "f:4:9: a switch without \"switch: NAME\""},
		{"- topology: a\n  tree:\n    switches:\n      - switch: s\n        nodes: n1\n"
		 "        children: t\n",
		 "f:5:16: nodes: a switch has either nodes or children below it"},
		{"- topology: a\n  tree:\n    switches:\n      - switch: s\n        nodes: [n1]\n",
		 "f:5:16: a list in Slurm's notation is expected, as in gpu-[1-16]"},
		{"- topology: a\n  tree:\n    switches:\n      - switch: s\n        nodes: n[1-3\n",
		 "f:5:17: this '[' has no ']'"},
		{"- topology: a\n  tree:\n    switches:\n      - switch: s\n        nodes: "
		 "\"n]\"\n",
		 "f:5:18: this ']' has no '['"},
		{"- topology: a\n  tree:\n    switches:\n      - switch: s\n        children: t\n",
		 "f:5:19: switch t is not defined in this file"},
		{YAML_TREE("- topology: a\n") "      - switch: l1\n        nodes: n9\n",
		 "f:9:17: switch l1 is defined twice (first in line 6)"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		check_refusal(osp_read_slurm_topology, cases[i].text, cases[i].words);
}

static void slurms_mistakes_have_their_place(void **state)
{
	static const struct {
		const char *text;
		const char *words;
	} cases[] = {
		/* the syntax */
		{"", "f: no SwitchName line: this topology.conf is empty"},
		{"# nothing\n", "f: no SwitchName line: this topology.conf is empty"},
		{"SwitchName=a Nodes=n1\nSwitchName\n", "f:2:11: '=' is expected after SwitchName"},
		{"SwitchName=a Nodes n1\n", "f:1:20: '=' is expected after Nodes"},
		{"SwitchName=a Nodes=\n", "f:1:20: a value is expected here"},
		{"SwitchName=a Nodes=\"\"\n", "f:1:20: a value is expected here"},
		{"SwitchName=a Nodes=\"n1\n", "f:1:20: this '\"' has no second one"},
		{"SwitchName=a Nodes=\"n1\"x\n", "f:1:24: a blank is expected after the quotes"},
		{"SwitchName=a -Nodes=n1\n", "f:1:14: Key=Value is expected here"},
		{"SwitchName=a Node=n1\n", "f:1:14: unknown key Node; did you mean Nodes?"},
		{"SwitchName=a \\\n  \\\nNode=n1\n",
		 "f:3:1: unknown key Node; did you mean Nodes?"},
		{"SwitchName=a Weight=5\n",
		 "f:1:14: unknown key Weight; a switch has SwitchName, Nodes or Switches, and "
		 "LinkSpeed"},
		{"Nodes=n1 SwitchName=a\n",
		 "f:1:1: a line starts with SwitchName=, not with Nodes"},
		{"SwitchName=a SwitchName=b\n", "f:1:14: SwitchName is given twice"},
		{"SwitchName=a Nodes=n1 nodes=n2\n", "f:1:23: nodes is given twice"},
		{"SwitchName=a Nodes=n1 Switches=b\n",
		 "f:1:23: Switches: a switch has either nodes or switches below it"},
		{"SwitchName=a\n", "f:1:12: a switch without Nodes= or Switches="},
		{"SwitchName=a Nodes=n1\ninclude other.conf\n",
		 "f:2:1: include is not followed; put the lines of that file here"},
		{"  INCLUDE other.conf\n",
		 "f:1:3: include is not followed; put the lines of that file here"},
		{"SwitchName=a Nodes=n[1-3\n", "f:1:21: this '[' has no ']'"},
		{"SwitchName=a Nodes=n1,\\\n\\\nx]\n", "f:3:2: this ']' has no '['"},
		{"SwitchName=a[2-1] Nodes=n1\n", "f:1:14: a range that goes backwards"},
		/* the tree */
		{"SwitchName=a Nodes=n1\n\nSwitchName=a Nodes=n2\n",
		 "f:3:12: switch a is defined twice (first in line 1)"},
		{"SwitchName=a[1-3] Nodes=n1\nSwitchName=a2 Nodes=n2\n",
		 "f:2:12: switch a2 is defined twice (first in line 1)"},
		{"SwitchName=leaf1 Nodes=n1\nSwitchName=s Switches=leaf1,leef1\n",
		 "f:2:29: switch leef1 is not defined in this file; did you mean leaf1?"},
		{"SwitchName=s Switches=l[1-2]\n", "f:1:23: switch l1 is not defined in this file"},
		{"SwitchName=leaf Nodes=n1\nSwitchName=s Switches=leaf,leaf\n",
		 "f:2:23: switch leaf is named twice in this list"},
		{"SwitchName=a Switches=a\n", "f:1:12: switch a is below itself: a > a"},
		{"SwitchName=l Nodes=n1\nSwitchName=top Switches=a,l\nSwitchName=a Switches=b\n"
		 "SwitchName=b Switches=c\nSwitchName=c Switches=l,a\n",
		 "f:4:12: switch b is below itself: b > c > a > b"},
		{"SwitchName=l1 Nodes=n1,n2\nSwitchName=l2 Nodes=n2,n3\n",
		 "f:2:21: node n2 is under leaf l1 (f:1) and leaf l2"},
		{"SwitchName=l1 Nodes=n1,n1\n", "f:1:21: node n1 is given twice (f:1)"},
		{"SwitchName=l1 Nodes=n1\nSwitchName=l2 Nodes=n2\nSwitchName=a Switches=l1\n"
		 "SwitchName=b Switches=l1,l2\n",
		 "f:4:23: leaf l1 is under spine a (f:3) and spine b"},
		{"SwitchName=l1 Nodes=n1\nSwitchName=s Switches=l1\nSwitchName=c Switches=s,l1\n",
		 "f:3:23: leaf l1 is under spine s (f:2) and core c"},
		/* other files */
		{"{\"onespine-topology\": 1}", "f:1:1: a Slurm topology.conf for topology/tree is "
					       "expected, not an onespine.topology"},
		{"# JSON?\n\n {\"Instances\": [{\"NetworkNodes\": []}]}",
		 "f:1:1: a Slurm topology.conf for topology/tree is expected, not an answer of EC2 "
		 "about topology"},
		{"BlockName=b1 Nodes=n1\n", "f:1:1: a Slurm topology.conf for topology/tree is "
					    "expected, not a Slurm topology.conf for "
					    "topology/block"},
		{"ip,DSW,PSW,ASW\n", "f:1:1: a Slurm topology.conf for topology/tree is expected, "
				     "not a CSV table"},
		{"ClusterName=c\n", "f:1:1: a Slurm topology.conf for topology/tree is expected, "
				    "not a slurm.conf"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		check_refusal(osp_read_slurm_topology, cases[i].text, cases[i].words);
}

/* Where places come from is kept, and comes back byte for byte. */
static void notes_come_back(void **state)
{
	static const char text[] =
		"{\n  \"onespine-topology\": 1,\n  \"source\": \"ec2\",\n  \"levels\": "
		"[\"leaf\"],\n  \"domains\": [\n    {\"level\": \"leaf\", \"name\": \"a\", "
		"\"nodes\": \"n[1-5]\"}\n  ],\n  \"places\": [\n    {\"source\": \"ec2\", "
		"\"nodes\": [\n      \"n1 i-1 1700000000\",\n      \"n4 - 7\"]},\n    "
		"{\"source\": \"infiniband\", \"nodes\": \"n[2-3]\"}\n  ]\n}\n";
	struct osp_topology *topology = read_good(osp_read_onespine_topology, text);
	static const char *const names[] = {"n4", NULL, "n1", "n5"};
	struct osp_topology *rebased;
	char *written = osp_write_onespine_topology(topology, "ec2");

	(void)state;
	assert_string_equal(written, text);
	free(written);
	rebased = osp_topology_rebase(topology, names, COUNT(names), NULL);
	assert_int_equal(osp_topology_note(rebased, 0)->boot_s, 7);
	assert_string_equal(osp_topology_note(rebased, 0)->instance_id, "");
	assert_null(osp_topology_note(rebased, 1));
	assert_string_equal(osp_topology_note(rebased, 2)->source, "ec2");
	assert_string_equal(osp_topology_note(rebased, 2)->instance_id, "i-1");
	assert_null(osp_topology_note(rebased, 3));
	osp_topology_free(rebased);
	osp_topology_free(topology);
}

static void wrong_notes_are_refused(void **state)
{
#define NOTED(places)                                                                              \
	"{\"onespine-topology\": 1, \"levels\": [\"leaf\"], \"domains\": [\n{\"level\": "          \
	"\"leaf\", \"name\": \"a\", \"nodes\": \"n1\"}],\n\"places\": " places "}"
	static const struct {
		const char *text;
		const char *words;
	} cases[] = {
		{NOTED("7"), "f:3:11: places: a list of sources is expected"},
		{NOTED("[{\"source\": \"ec2\"}]"), "f:3:12: \"source\" and \"nodes\" are expected"},
		{NOTED("[{\"nodes\": \"n1\"}]"), "f:3:12: \"source\" and \"nodes\" are expected"},
		{NOTED("[{\"source\": \"ec2\", \"nodes\": {\"a\": 1}}]"),
		 "f:3:12: \"source\" and \"nodes\" are expected"},
		{NOTED("[{\"source\": [1], \"nodes\": \"n1\"}]"),
		 "f:3:23: source: a word of 1 to 255 bytes is expected, not a list"},
		{NOTED("[{\"source\": \"ec2\", \"nodes\": [\"n1 i-1 x\"]}]"),
		 "f:3:40: \"NODE INSTANCE BOOT\" is expected, as \"gpu-1 i-0abc 1700000000\""},
		{NOTED("[{\"source\": \"ec2\", \"nodes\": [\"n1 i-1 -5\"]}]"),
		 "f:3:40: \"NODE INSTANCE BOOT\" is expected, as \"gpu-1 i-0abc 1700000000\""},
		{NOTED("[{\"source\": \"ec2\", \"nodes\": [\"n1  5\"]}]"),
		 "f:3:40: \"NODE INSTANCE BOOT\" is expected, as \"gpu-1 i-0abc 1700000000\""},
		{NOTED("[{\"source\": \"ec2\", \"nodes\": [\"n1 i-1 \"]}]"),
		 "f:3:40: \"NODE INSTANCE BOOT\" is expected, as \"gpu-1 i-0abc 1700000000\""},
		{NOTED("[{\"source\": \"ec2\", \"nodes\": [[1]]}]"),
		 "f:3:40: \"NODE INSTANCE BOOT\" is expected, as \"gpu-1 i-0abc 1700000000\""},
		{NOTED("[{\"source\": \"ec2\", \"nodes\": [\" i-1 5\"]}]"),
		 "f:3:40: \"NODE INSTANCE BOOT\" is expected, as \"gpu-1 i-0abc 1700000000\""},
		{NOTED("[{\"source\": \"ec2\", \"nodes\": [\"n1 i-1\"]}]"),
		 "f:3:40: \"NODE INSTANCE BOOT\" is expected, as \"gpu-1 i-0abc 1700000000\""},
		{NOTED("[{\"source\": \"ec2\", \"nodes\": [\"n1 i-1 -1\"]}]"),
		 "f:3:40: \"NODE INSTANCE BOOT\" is expected, as \"gpu-1 i-0abc 1700000000\""},
		{NOTED("[{\"source\": \"ec2\", \"nodes\": [\"n1 i-1 1 2\"]}]"),
		 "f:3:40: \"NODE INSTANCE BOOT\" is expected, as \"gpu-1 i-0abc 1700000000\""},
		{NOTED("[{\"source\": \"ec2\", \"nodes\": [\"n2 i-1 1\"]}]"),
		 "f:3:40: node n2 has a source but is not in the topology"},
		{NOTED("[{\"source\": \"ec2\", \"nodes\": [\"n1 i-1 1\", \"n1 i-1 1\"]}]"),
		 "f:3:52: the source of node n1 is given twice"},
		{NOTED("[{\"source\": \"x\", \"nodes\": \"n1,n[\"}]"),
		 "f:3:37: nodes: a number is expected here"},
		{NOTED("[{\"source\": \"x\", \"nods\": \"n1\"}]"),
		 "f:3:28: unknown key 'nods'; did you mean nodes?"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		check_refusal(osp_read_onespine_topology, cases[i].text, cases[i].words);
}

/* A chain of `height` switches: s1 with a node, s2 above it, ... */
static char *chain(int height)
{
	struct osp_text text = OSP_TEXT_INIT;

	osp_text_add(&text, "SwitchName=s1 Nodes=n\n");
	for (int i = 2; i <= height; i++)
		osp_text_printf(&text, "SwitchName=s%d Switches=s%d\n", i, i - 1);
	return osp_text_take(&text);
}

static void fifteen_levels_and_no_more(void **state)
{
	char *text = chain(15);
	struct osp_topology *topology = read_good(osp_read_slurm_topology, text);

	(void)state;
	assert_int_equal(osp_topology_level_count(topology), 15);
	assert_string_equal(osp_topology_level_name(topology, 15), "layer15");
	osp_topology_free(topology);
	free(text);
	text = chain(16);
	check_refusal(osp_read_slurm_topology, text,
		      "f:16:12: switch s16 is at level 16 above the nodes; at most 15 are "
		      "possible");
	free(text);
	text = chain(100000);
	check_refusal(osp_read_slurm_topology, text,
		      "f:16:12: switch s16 is at level 16 above the nodes; at most 15 are "
		      "possible");
	free(text);
}

/* Few bytes that mean billions of links. */
static void bombs_are_refused(void **state)
{
	(void)state;
	check_refusal(osp_read_slurm_topology, "SwitchName=s[1-100000] Nodes=n[1-100000]\n",
		      "f:1:30: node n1 is under more than 64 switches");
	check_refusal(osp_read_slurm_topology,
		      "SwitchName=l[1-60000] Nodes=n\nSwitchName=s[1-60000] Switches=l[1-60000]\n",
		      "f:2:12: more than 1048576 links between switches");
}

static void a_zero_byte_is_no_end(void **state)
{
	static const char text[] = "SwitchName=a Nodes=n1\0\nSwitchName=b Nodes=n2\n";
	struct osp_error error = {0};

	(void)state;
	assert_null(osp_read_slurm_topology("f", text, sizeof(text) - 1, &error));
	assert_string_equal(error.text, "a zero byte");
	assert_int_equal(error.column, 22);
}

#define START "{\"onespine-topology\": 1, \"levels\": [\"leaf\", \"spine\", \"core\"],\n"

static void our_mistakes_have_their_place(void **state)
{
	static const struct {
		const char *text;
		const char *words;
	} cases[] = {
		{"{}", "f:1:1: not an onespine.topology: \"onespine-topology\": 1 is missing"},
		{"", "f:1:1: an onespine.topology is expected, not an empty file"},
		{"SwitchName=a Nodes=n1\n",
		 "f:1:1: an onespine.topology is expected, not a Slurm topology.conf"},
		{"{\"Instances\": [{\"NetworkNodes\": []}]}",
		 "f:1:1: an onespine.topology is expected, not an answer of EC2 about topology"},
		{"{\"Reservations\": []}", "f:1:1: an onespine.topology is expected, not JSON from "
					   "aws ec2 describe-instances"},
		{"[1]", "f:1:1: a map is expected, not a list"},
		{"{\"onespine-topology\": 2}",
		 "f:1:23: format 2 is newer than this program, which knows 1"},
		{"{\"onespine-topology\": \"1\"}",
		 "f:1:23: onespine-topology: a whole number from 1 to 2147483647 is expected, not "
		 "\"1\""},
		{"{\"onespine-topology\": 1}",
		 "f:1:1: \"levels\" is missing: the names of the levels, bottom first"},
		{"{\"onespine-topology\": 1, \"levels\": []}",
		 "f:1:36: levels: a list of 1 to 15 names is expected"},
		{"{\"onespine-topology\": 1, \"levels\": 5}",
		 "f:1:36: levels: a list of 1 to 15 names is expected"},
		{"{\"onespine-topology\": 1, \"levels\": [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}",
		 "f:1:36: levels: a list of 1 to 15 names is expected"},
		{"{\"onespine-topology\": 1, \"levels\": [[]]}",
		 "f:1:37: a word of 1 to 255 bytes is expected, not a list"},
		{"{\"onespine-topology\": 1, \"levels\": [\"leaf\", \"leaf\"]}",
		 "f:1:36: level 'leaf' is named twice"},
		{"{\"onespine-topology\": 1, \"level\": []}",
		 "f:1:26: unknown key 'level'; did you mean levels?"},
		{START "\"source\": []}", "f:2:11: source: words are expected"},
		{START "}", "f:1:1: a list of \"domains\" is expected"},
		{START "\"domains\": {}}", "f:2:12: a list of \"domains\" is expected"},
		{START "\"domains\": [5]}", "f:2:13: a map is expected, not '5'"},
		{START "\"domains\": [{\"name\": \"a\"}]}",
		 "f:2:13: a domain's \"level\" is missing"},
		{START "\"domains\": [{\"level\": \"leaf\"}]}",
		 "f:2:13: a domain's \"name\" is missing"},
		{START "\"domains\": [{\"level\": \"spin\", \"name\": \"a\"}]}",
		 "f:2:23: level: one of leaf, spine, core is expected, not \"spin\"; did you mean "
		 "spine?"},
		{START "\"domains\": [{\"level\": \"leaf\", \"name\": \"a\", \"node\": \"n\"}]}",
		 "f:2:44: unknown key 'node'; did you mean nodes?"},
		{START "\"domains\": [{\"level\": \"leaf\", \"name\": \"a\"},\n"
		       "{\"level\": \"leaf\", \"name\": \"a\"}]}",
		 "f:3:27: leaf a is listed twice (first in line 2)"},
		{START "\"domains\": [{\"level\": \"core\", \"name\": \"nn-1\"},\n"
		       "{\"level\": \"leaf\", \"name\": \"a\", \"in\": \"nn1\"}]}",
		 "f:3:38: in: no domain 'nn1' is listed before this one at a level above leaf; did "
		 "you mean nn-1?"},
		{START "\"domains\": [{\"level\": \"leaf\", \"name\": \"a\", \"in\": \"later\"},\n"
		       "{\"level\": \"core\", \"name\": \"later\"}]}",
		 "f:2:50: in: no domain 'later' is listed before this one at a level above leaf"},
		{START "\"domains\": [{\"level\": \"leaf\", \"name\": \"a\"},\n"
		       "{\"level\": \"leaf\", \"name\": \"b\", \"in\": \"a\"}]}",
		 "f:3:38: in: no domain 'a' is listed before this one at a level above leaf"},
		{START "\"domains\": [{\"level\": \"core\", \"name\": \"x\"},\n"
		       "{\"level\": \"spine\", \"name\": \"x\"},\n"
		       "{\"level\": \"leaf\", \"name\": \"a\", \"in\": \"x\"}]}",
		 "f:4:38: in: 'x' is a domain of 2 levels; write its level before it, as in "
		 "\"spine:x\""},
		{START "\"domains\": [{\"level\": \"leaf\", \"name\": \"a\", \"in\": []}]}",
		 "f:2:50: in: a word of 1 to 255 bytes is expected, not a list"},
		{START "\"domains\": [{\"level\": \"leaf\", \"name\": \"a\", \"in\": \"rack:a\"}]}",
		 "f:2:50: in: no domain 'rack:a' is listed before this one at a level above leaf"},
		{START
		 "\"domains\": [{\"level\": \"leaf\", \"name\": \"a\", \"in\": \"spinX:a\"}]}",
		 "f:2:50: in: no domain 'spinX:a' is listed before this one at a level above leaf"},
		{START "\"domains\": [{\"level\": \"leaf\", \"name\": \"a\", \"nodes\": "
		       "\"n1,n[2\"}]}",
		 "f:2:58: nodes: this '[' has no ']'"},
		{START "\"domains\": [{\"level\": \"leaf\", \"name\": \"a\", \"nodes\": [1]}]}",
		 "f:2:53: nodes: a list in Slurm's notation is expected, as in \"gpu-[1-16]\""},
		{START "\"domains\": [{\"level\": \"leaf\", \"name\": \"a\", \"nodes\": \"n1\"},\n"
		       "{\"level\": \"leaf\", \"name\": \"b\", \"nodes\": \"n1\"}]}",
		 "f:3:41: node n1 is under leaf a (f:2) and leaf b"},
		{START "\"domains\": [{\"level\": \"leaf\", \"name\": \"a\", \"nodes\": \"n1\"}],\n"
		       "\"nodes\": \"n1\"}",
		 "f:3:10: node n1 is given twice (f:2)"},
		{START "\"domains\": [], \"domains\": []}",
		 "f:2:16: key 'domains' is given twice (first in line 2)"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		check_refusal(osp_read_onespine_topology, cases[i].text, cases[i].words);
}

static void a_parent_may_be_named_with_its_level(void **state)
{
	struct osp_topology *topology = read_good(
		osp_read_onespine_topology,
		START "\"domains\": [{\"level\": \"core\", \"name\": \"x\"},\n"
		      "{\"level\": \"spine\", \"name\": \"x\"},\n"
		      "{\"level\": \"leaf\", \"name\": \"a\", \"in\": \"core:x\", \"nodes\": \"n\"}"
		      "]}");

	(void)state;
	assert_int_equal(osp_topology_domain_of(topology, 0, 2), OSP_NO_DOMAIN);
	assert_string_equal(
		osp_topology_domain(topology, osp_topology_domain_of(topology, 0, 3))->name, "x");
	osp_topology_free(topology);
}

/* Two topologies that differ in nothing but the order of their lines are written alike. */
static void equal_topologies_give_equal_text(void **state)
{
	static const char *const texts[] = {
		"SwitchName=l10 Nodes=n3\nSwitchName=l9 Nodes=n[1-2]\nSwitchName=s "
		"Switches=l9,l10\n",
		"SwitchName=s Switches=l[9-10]\nSwitchName=l9 Nodes=n2,n1\nSwitchName=l10 "
		"Nodes=n3\n",
	};
	char *written[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct osp_topology *t = read_good(osp_read_slurm_topology, texts[i]);

		written[i] = osp_write_onespine_topology(t, "x");
		osp_topology_free(t);
	}
	assert_string_equal(written[0], written[1]);
	free(written[0]);
	free(written[1]);
}

/* Slurm's hostlists and its limit on lengths decide how a switch may be called. */
static void names_that_slurm_cannot_carry_are_changed(void **state)
{
	static const struct {
		const char *name;
		const char *written;
	} cases[] = {
		{"nn-0123456789abcdef0", "nn-0123456789abcdef0"},
		{"a[1-2],b", "a_1-2__b"},
		{"a#b\\\\c", "a_b_c"},
		{"\xc3\xa9", "__"},
		{"s1234567890123456789", "s1234567890123456789_"},
		{"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgg",
		 "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgg"},
		{"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggg",
		 "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeefff-e20c2606"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[400], line[200], *written;
		struct osp_topology *t;

		snprintf(text, sizeof(text),
			 START "\"domains\": [{\"level\": \"leaf\", \"name\": \"%s\", "
			       "\"nodes\": \"n\"}]}",
			 cases[i].name);
		t = read_good(osp_read_onespine_topology, text);
		written = osp_write_slurm_topology(t, false, NULL);
		snprintf(line, sizeof(line), "\nSwitchName=%s Nodes=n\n", cases[i].written);
		if (!strstr(written, line))
			fail_msg("%s: %s", cases[i].name, written);
		osp_topology_free(read_good(osp_read_slurm_topology, written));
		osp_topology_free(t);
		free(written);
	}
}

static void what_slurm_cannot_load_is_not_written(void **state)
{
	static const struct {
		const char *text;
		const char *words;
	} cases[] = {
		{START "\"domains\": []}", "a topology without nodes: Slurm takes no empty one"},
		{START "\"domains\": [], \"nodes\": \"a#b\"}",
		 "node 'a#b' cannot be written to a topology.conf: '#' has a meaning of its own "
		 "there"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_topology *t = read_good(osp_read_onespine_topology, cases[i].text);
		struct osp_error error = {0};

		assert_null(osp_write_slurm_topology(t, false, &error));
		assert_string_equal(error.text, cases[i].words);
		osp_topology_free(t);
	}
}

static void the_source_is_kept_readable(void **state)
{
	struct osp_topology *t =
		read_good(osp_read_onespine_topology, START "\"domains\": [], \"nodes\": \"n\"}");
	char *text = osp_write_onespine_topology(t, "a \"file\"\\ \xff\n\xc3\xa9");

	(void)state;
	assert_non_null(strstr(text, "\"source\": \"a \\\"file\\\"\\\\ ?\\u000a??\",\n"));
	osp_topology_free(t);
	osp_topology_free(read_good(osp_read_onespine_topology, text));
	free(text);
}

/* The largest cluster: 8,192 leaves of 16 nodes below 512 spines, in both formats. */
static void the_largest_cluster_goes_round(void **state)
{
	struct osp_text text = OSP_TEXT_INIT;
	struct osp_topology *t;
	char *once, *twice;

	(void)state;
	for (int leaf = 0; leaf < 8192; leaf++)
		osp_text_printf(&text, "SwitchName=l%d Nodes=gpu-[%d-%d]\n", leaf, leaf * 16,
				leaf * 16 + 15);
	for (int spine = 0; spine < 512; spine++)
		osp_text_printf(&text, "SwitchName=s%d Switches=l[%d-%d]\n", spine, spine * 16,
				spine * 16 + 15);
	osp_text_add(&text, "SwitchName=c Switches=s[0-511]\n");
	t = read_good(osp_read_slurm_topology, text.data);
	osp_text_free(&text);
	assert_int_equal(osp_topology_node_count(t), OSP_NODES_MAX);
	assert_int_equal(osp_topology_domain_count(t), 8192 + 512 + 1);
	once = osp_write_onespine_topology(t, NULL);
	osp_topology_free(t);
	t = read_good(osp_read_onespine_topology, once);
	twice = osp_write_slurm_topology(t, false, NULL);
	osp_topology_free(t);
	t = read_good(osp_read_slurm_topology, twice);
	free(twice);
	twice = osp_write_onespine_topology(t, NULL);
	assert_string_equal(once, twice);
	osp_topology_free(t);
	free(once);
	free(twice);
}

static void files_are_reported_apart(void **state)
{
	static const struct {
		const char *text;
		enum osp_file_kind kind;
		const char *words;
	} cases[] = {
		{"", OSP_FILE_EMPTY, "an empty file"},
		{"\xef\xbb\xbf# c\n \n", OSP_FILE_EMPTY, "an empty file"},
		{"{\n \"onespine-topology\": 1", OSP_FILE_ONESPINE, "an onespine.topology"},
		{"onespine-topology: 1\n", OSP_FILE_ONESPINE, "an onespine.topology"},
		{"{\"Instances\":[{\"NetworkNodes\":[]}]}", OSP_FILE_EC2_TOPOLOGY,
		 "an answer of EC2 about topology"},
		{"{\"CapacityReservations\":[]}", OSP_FILE_EC2_TOPOLOGY,
		 "an answer of EC2 about topology"},
		{"{\"Reservations\":[]}", OSP_FILE_EC2_INSTANCES,
		 "JSON from aws ec2 describe-instances"},
		{"[]", OSP_FILE_JSON, "JSON"},
		{"switchname = a", OSP_FILE_SLURM_TREE, "a Slurm topology.conf"},
		{"---\n- topology: a", OSP_FILE_SLURM_YAML, "a Slurm topology.yaml"},
		{"- topology : a", OSP_FILE_SLURM_YAML, "a Slurm topology.yaml"},
		{"---", OSP_FILE_OTHER, "an unknown file"},
		{"--- # nothing follows\n", OSP_FILE_OTHER, "an unknown file"},
		{"BlockSizes=4", OSP_FILE_SLURM_BLOCK, "a Slurm topology.conf for topology/block"},
		{"NodeName=n", OSP_FILE_SLURM_CONF, "a slurm.conf"},
		{"ip,DSW,PSW\n1,2,3\n", OSP_FILE_CSV, "a CSV table"},
		{"SwitchName", OSP_FILE_OTHER, "an unknown file"},
		{"SwitchName \t", OSP_FILE_OTHER, "an unknown file"},
		{"SwitchName\t=a", OSP_FILE_SLURM_TREE, "a Slurm topology.conf"},
		{"SwitchNames=a", OSP_FILE_OTHER, "an unknown file"},
		{"a,b=c", OSP_FILE_OTHER, "an unknown file"},
		{"hello", OSP_FILE_OTHER, "an unknown file"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		enum osp_file_kind kind = osp_file_kind(cases[i].text, strlen(cases[i].text));

		if (kind != cases[i].kind)
			fail_msg("%s: %s", cases[i].text, osp_file_kind_words(kind));
		assert_string_equal(osp_file_kind_words(kind), cases[i].words);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(slurms_tree_is_read),
		cmocka_unit_test(rails_merge),
		cmocka_unit_test(slurms_tree_is_written),
		cmocka_unit_test(our_file_comes_back_byte_for_byte),
		cmocka_unit_test(slurms_file_settles),
		cmocka_unit_test(slurms_yaml_is_read),
		cmocka_unit_test(slurms_yaml_is_written),
		cmocka_unit_test(the_cluster_has_a_kind_of_topology),
		cmocka_unit_test(mistakes_in_yaml_have_their_place),
		cmocka_unit_test(slurms_mistakes_have_their_place),
		cmocka_unit_test(notes_come_back),
		cmocka_unit_test(wrong_notes_are_refused),
		cmocka_unit_test(fifteen_levels_and_no_more),
		cmocka_unit_test(bombs_are_refused),
		cmocka_unit_test(a_zero_byte_is_no_end),
		cmocka_unit_test(our_mistakes_have_their_place),
		cmocka_unit_test(a_parent_may_be_named_with_its_level),
		cmocka_unit_test(equal_topologies_give_equal_text),
		cmocka_unit_test(names_that_slurm_cannot_carry_are_changed),
		cmocka_unit_test(what_slurm_cannot_load_is_not_written),
		cmocka_unit_test(the_source_is_kept_readable),
		cmocka_unit_test(the_largest_cluster_goes_round),
		cmocka_unit_test(files_are_reported_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
