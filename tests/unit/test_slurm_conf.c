/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm.conf with what it includes, and plugstack.conf: read as Slurm reads them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/conf/plugstack.h"
#include "lib/conf/slurm_conf.h"
#include "lib/conf/slurm_conf_path.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Files that are there, by name. */
struct file {
	const char *path;
	const char *text;
};

static char *read_made(void *context, const char *path, size_t *bytes, struct osp_error *error)
{
	const struct file *file = context;

	for (; file->path; file++) {
		if (strcmp(file->path, path) == 0) {
			*bytes = strlen(file->text);
			return strdup(file->text);
		}
	}
	osp_error_at(error, path, 0, 0, "cannot be opened: No such file or directory");
	return NULL;
}

static struct osp_slurm_conf *read_files(const struct file *files, struct osp_error *error)
{
	osp_error_clear(error);
	return osp_slurm_conf_read(files[0].path, read_made, (void *)files, error);
}

static struct osp_slurm_conf *read_text(const char *text)
{
	struct file files[] = {{"/e/slurm.conf", text}, {NULL, NULL}};
	struct osp_error error;
	struct osp_slurm_conf *conf = read_files(files, &error);

	if (!conf)
		fail_msg("%s: %s", error.text, text);
	return conf;
}

static void test_values(void **state)
{
	static const struct {
		const char *text;
		const char *key;
		const char *value; /* NULL: there is none */
	} cases[] = {
		{"PluginDir=/a:/b\n", "PluginDir", "/a:/b"},
		{"plugindir = /a\n", "PluginDir", "/a"},
		{"  PLUGINDIR=/a", "PluginDir", "/a"},
		{"# PluginDir=/a\n", "PluginDir", NULL},
		{"PluginDir=/a # /b\n", "PluginDir", "/a"},
		{"PluginDir=\"/a b\"\n", "PluginDir", "/a b"},
		{"PluginDir=\\\n/a\n", "PluginDir", "/a"},
		{"PluginDir=/a\nPluginDir=/b\n", "PluginDir", "/b"},
		{"PluginDir=/a\r\n", "PluginDir", "/a"},
		{"NodeName=n1 State=CLOUD\n", "State", NULL},
		{"NodeName=n1 State=CLOUD\nNodeName=n2\n", "NodeName", "n2"},
		{"", "PluginDir", NULL},
		{"Includes=/a\n", "Includes", "/a"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_slurm_conf *conf = read_text(cases[i].text);
		const char *value = osp_slurm_conf_value(conf, cases[i].key, NULL);

		if (!value != !cases[i].value || (value && strcmp(value, cases[i].value) != 0))
			fail_msg("%s: %s", cases[i].text, value ? value : "none");
		osp_slurm_conf_free(conf);
	}
}

static void test_numbers_and_lines(void **state)
{
	struct osp_slurm_conf *conf =
		read_text("MessageTimeout=60\nKillWait=INFINITE\nTreeWidth=x\n"
			  "NodeName=n[1-2] CPUs=4 State=CLOUD\n"
			  "PartitionName=p Nodes=ALL MaxTime=60\n");
	const struct osp_slurm_word *line = osp_slurm_conf_find(conf, "partitionname");

	(void)state;
	assert_int_equal(osp_slurm_conf_number(conf, "MessageTimeout", 10), 60);
	assert_int_equal(osp_slurm_conf_number(conf, "KillWait", 30), UINT32_MAX);
	assert_int_equal(osp_slurm_conf_number(conf, "TreeWidth", 16), 16);
	assert_int_equal(osp_slurm_conf_number(conf, "BatchStartTimeout", 10), 10);
	assert_string_equal(osp_slurm_conf_of_line(conf, line, "maxtime"), "60");
	assert_null(osp_slurm_conf_of_line(conf, line, "CPUs"));
	assert_int_equal(line->line, 5);
	osp_slurm_conf_free(conf);
}

static void test_include(void **state)
{
	static const struct file files[] = {
		{"/e/slurm.conf", "ClusterName=blue\nKillWait=1\nINCLUDE sub/a.conf # more\n"
				  "include\t%c.conf\nKillWait=3\n"},
		{"/e/sub/a.conf", "include b.conf\nKillWait=2\n"},
		{"/e/sub/b.conf", "TreeWidth=7\n"},
		{"/e/blue.conf", "MessageTimeout=5\n"},
		{NULL, NULL},
	};
	struct osp_error error;
	struct osp_slurm_conf *conf = read_files(files, &error);
	const struct osp_slurm_file *read;
	size_t count;

	(void)state;
	assert_non_null(conf);
	assert_string_equal(osp_slurm_conf_value(conf, "KillWait", ""), "3");
	assert_string_equal(osp_slurm_conf_find(conf, "TreeWidth")->file, "/e/sub/b.conf");
	assert_int_equal(osp_slurm_conf_number(conf, "MessageTimeout", 0), 5);
	read = osp_slurm_conf_files(conf, &count);
	assert_int_equal(count, 4);
	assert_string_equal(read[1].name, "sub/a.conf");
	assert_string_equal(read[1].said_in, "/e/slurm.conf");
	assert_int_equal(read[1].said_line, 3);
	assert_string_equal(read[3].path, "/e/blue.conf");
	osp_slurm_conf_free(conf);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text;
		const char *included;
		const char *error;
	} cases[] = {
		{"A=1\nPluginDir\n", "", "/e/slurm.conf:2:10: '=' is expected after PluginDir"},
		{"A=1\n=2\n", "", "/e/slurm.conf:2:1: Key=Value is expected here"},
		{"A=\"x\n", "", "/e/slurm.conf:1:3: this '\"' has no second one"},
		{"A=\n", "", "/e/slurm.conf:1:3: a value is expected here"},
		{"include b.conf\n", "B\n", "/e/b.conf:1:2: '=' is expected after B"},
		{"A=1\ninclude c.conf\n", "",
		 "/e/c.conf: cannot be opened: No such file or directory"},
		{"A=1\ninclude \n", "", "/e/slurm.conf:2: Include needs a file"},
		{"include b.conf\n", "include slurm.conf\n",
		 "/e/b.conf:1: /e/slurm.conf includes itself"},
		/* Slurm knows the word at the very start of a line only */
		{" include b.conf\n", "",
		 "/e/slurm.conf:1:2: include is not followed; put the lines "
		 "of that file here"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct file files[] = {{"/e/slurm.conf", cases[i].text},
				       {"/e/b.conf", cases[i].included},
				       {NULL, NULL}};
		char words[sizeof(struct osp_error) + 32];
		struct osp_error error;

		if (read_files(files, &error))
			fail_msg("taken: %s", cases[i].text);
		assert_string_equal(osp_error_format(&error, words, sizeof(words)), cases[i].error);
	}
}

static void test_of_node(void **state)
{
	static const struct {
		const char *node;
		const char *gres; /* NULL: neither its line nor a default says */
	} cases[] = {
		{"n1", NULL},	      {"g1", "gpu:8"}, {"g2", "gpu:8"},
		{"g3", "gpu:h100:4"}, {"c1", "none"},  {"x", "not there"},
	};
	struct osp_slurm_conf *conf = read_text("NodeName=n1\n"
						"NodeName=DEFAULT Gres=gpu:8\n"
						"NodeName=DEFAULT CPUs=4\n"
						"NodeName=g[1-2]\n"
						"NodeName=g3 Gres=gpu:h100:4\n"
						"NodeName=c1 gres=none\n");

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *gres = osp_slurm_conf_of_node(conf, cases[i].node, "Gres", "not there");

		if (cases[i].gres && gres)
			assert_string_equal(gres, cases[i].gres);
		else if (cases[i].gres || gres)
			fail_msg("%s: %s", cases[i].node, gres ? gres : "none");
	}
	osp_slurm_conf_free(conf);
}

static void test_lists(void **state)
{
	static const struct {
		const char *list;
		const char *word;
		bool has;
		const char *value;
	} cases[] = {
		{NULL, "a", false, ""},
		{"", "a", false, ""},
		{"a", "a", true, ""},
		{"b,A", "a", true, ""},
		{"ab,b", "a", false, ""},
		{"a=1", "a", true, "1"},
		{"b=2, a=12,c", "a", true, "12"},
		{"socket=/x/y,cred_expire=70", "cred_expire", true, "70"},
		{"a=", "a", true, ""},
		{"a=12345678", "a", true, "1234567"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char value[8];

		if (osp_slurm_list_has(cases[i].list, cases[i].word, value, sizeof(value)) !=
		    cases[i].has)
			fail_msg("%s in %s", cases[i].word, cases[i].list);
		assert_string_equal(value, cases[i].value);
	}
	assert_false(osp_slurm_list_has("a=1", "a", NULL, 0));
}

static void test_addresses(void **state)
{
	static const char text[] = "NodeName=DEFAULT CPUs=8\n"
				   "NodeName=n[1-4],m7 NodeAddr=10.0.0.[1-4],10.0.1.7 CPUs=4\n"
				   "nodename=h[08-09] NodeHostname=host[1-2]\n"
				   "NodeName=plain\n"
				   "NodeName=few[1-3] NodeAddr=one\n"
				   "NodeName=odd NodeAddr=[fe80::1]\n"
				   "PartitionName=all Nodes=ghost\n";
	static const struct {
		const char *node;
		const char *address; /* NULL: it does not say */
	} cases[] = {
		{"n1", "10.0.0.1"}, {"n4", "10.0.0.4"}, {"m7", "10.0.1.7"}, {"h09", "host2"},
		{"h9", NULL},	    {"plain", "plain"}, {"few1", "one"},    {"few2", NULL},
		{"odd", NULL},	    {"ghost", NULL},	{"n5", NULL},	    {"DEFAULT", "DEFAULT"},
	};
	struct osp_slurm_conf *conf = read_text(text);
	char buffer[64];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *address =
			osp_slurm_conf_address(conf, cases[i].node, buffer, sizeof(buffer));

		if (cases[i].address && address)
			assert_string_equal(address, cases[i].address);
		else if (cases[i].address || address)
			fail_msg("%s: %s", cases[i].node, address ? address : "none");
	}
	osp_slurm_conf_free(conf);
}

static void test_plugstack(void **state)
{
	static const char text[] =
		"# all\nrequired /x/onespine.so policy-gangs # why\n\n"
		"\toptional\tother.so\ninclude plugstack.conf.d/*\nRequired /y.so\n"
		"required\nrequired z.so";
	static const struct {
		enum osp_plugstack_kind kind;
		const char *path;
	} wanted[] = {
		{OSP_PLUGSTACK_NOTHING, ""},
		{OSP_PLUGSTACK_REQUIRED, "/x/onespine.so"},
		{OSP_PLUGSTACK_NOTHING, ""},
		{OSP_PLUGSTACK_OPTIONAL, "other.so"},
		{OSP_PLUGSTACK_INCLUDE, "plugstack.conf.d/*"},
		{OSP_PLUGSTACK_WRONG, ""},
		{OSP_PLUGSTACK_WRONG, ""},
		{OSP_PLUGSTACK_REQUIRED, "z.so"},
	};
	struct osp_plugstack_line line;
	struct osp_plugstack stack;

	(void)state;
	osp_plugstack_start(&stack, text, strlen(text));
	for (size_t i = 0; i < COUNT(wanted); i++) {
		assert_int_equal(osp_plugstack_next(&stack, &line), 1);
		assert_int_equal(line.line, i + 1);
		assert_int_equal(line.kind, wanted[i].kind);
		assert_string_equal(line.path, wanted[i].path);
	}
	assert_int_equal(osp_plugstack_next(&stack, &line), 0);
}

/* Every place is asked for by its whole path, and once. */
static void test_candidates(void **state)
{
	size_t count = 0;

	(void)state;
	for (; osp_slurm_conf_candidate(count); count++) {
		const char *path = osp_slurm_conf_candidate(count);

		assert_int_equal(*path, '/');
		assert_string_equal(strrchr(path, '/'), "/slurm.conf");
		for (size_t i = 0; i < count; i++)
			assert_string_not_equal(path, osp_slurm_conf_candidate(i));
	}
	assert_int_equal(count, 8);
	assert_string_equal(osp_slurm_conf_candidate(0), "/etc/slurm/slurm.conf");
	assert_string_equal(osp_slurm_conf_candidate(2), "/opt/slurm/etc/slurm.conf");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),	   cmocka_unit_test(test_numbers_and_lines),
		cmocka_unit_test(test_include),	   cmocka_unit_test(test_refused),
		cmocka_unit_test(test_addresses),  cmocka_unit_test(test_of_node),
		cmocka_unit_test(test_lists),	   cmocka_unit_test(test_plugstack),
		cmocka_unit_test(test_candidates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
