/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What users may say with --gang, what policy makes of it, and what the shadow is reported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "lib/policy/effective.h"
#include "lib/base/text.h"
#include "lib/policy/request.h"
#include "lib/policy/request_parts.h"
#include "tests/fabric.h"

static void parses(void **state)
{
	static const struct {
		const char *value;
		enum osp_gang_option asked;
		const char *level;
		int64_t relax_s;
		const char *again; /* as osp_request_format() writes it */
	} cases[] = {
		{NULL, OSP_GANG_OPTION_ON, "", -1, ""},
		{"", OSP_GANG_OPTION_ON, "", -1, ""},
		{"spine", OSP_GANG_OPTION_ON, "spine", -1, "spine"},
		{"Core", OSP_GANG_OPTION_ON, "Core", -1, "Core"},
		{"rail_group-2", OSP_GANG_OPTION_ON, "rail_group-2", -1, "rail_group-2"},
		{"node", OSP_GANG_OPTION_ON, "node", -1, "node"},
		{"spine@30", OSP_GANG_OPTION_ON, "spine", 1800, "spine@30:00"},
		{"spine@30:00", OSP_GANG_OPTION_ON, "spine", 1800, "spine@30:00"},
		{"spine@0:45", OSP_GANG_OPTION_ON, "spine", 45, "spine@0:45"},
		{"spine@2:05:09", OSP_GANG_OPTION_ON, "spine", 7509, "spine@2:05:09"},
		{"spine@1-1", OSP_GANG_OPTION_ON, "spine", 90000, "spine@1-01:00:00"},
		{"spine@0", OSP_GANG_OPTION_ON, "spine", 0, "spine@0:00"},
		{"@10", OSP_GANG_OPTION_ON, "", 600, "@10:00"},
		{"spine@never", OSP_GANG_OPTION_ON, "spine", OSP_RELAX_NEVER, "spine@never"},
		{"@Never", OSP_GANG_OPTION_ON, "", OSP_RELAX_NEVER, "@never"},
		{"spine domains=2", OSP_GANG_OPTION_ON, "spine", -1, "spine domains=2"},
		{"spine domains=1", OSP_GANG_OPTION_ON, "spine", -1, "spine"},
		{"spine segment=rail_group-2:4", OSP_GANG_OPTION_ON, "spine", -1,
		 "spine segment=rail_group-2:4"},
		{" segment=leaf:16", OSP_GANG_OPTION_ON, "", -1, " segment=leaf:16"},
		{"spine@never segment=leaf:16,nvlink:4 domains=7", OSP_GANG_OPTION_ON, "spine",
		 OSP_RELAX_NEVER, "spine@never domains=7 segment=leaf:16,nvlink:4"},
		{"spine layout=tp8,PP=8", OSP_GANG_OPTION_ON, "spine", -1, "spine layout=tp8,PP=8"},
		{"spine keep=pp:leaf,ep:nvlink layout=tp8,pp8,order=vllm domains=2",
		 OSP_GANG_OPTION_ON, "spine", -1,
		 "spine domains=2 layout=tp8,pp8,order=vllm keep=pp:leaf,ep:nvlink"},
		{"leaf,prefer", OSP_GANG_OPTION_ON, "", -1, " prefer=leaf"},
		{"leaf,prefer@30:00", OSP_GANG_OPTION_ON, "", 1800, "@30:00 prefer=leaf"},
		{"spine prefer=leaf", OSP_GANG_OPTION_ON, "spine", -1, "spine prefer=leaf"},
		{"off", OSP_GANG_OPTION_OFF, "", -1, "off"},
		{"OFF", OSP_GANG_OPTION_OFF, "", -1, "off"},
		{"office", OSP_GANG_OPTION_ON, "office", -1, "office"},
		{"a234567890123456789012345678901", OSP_GANG_OPTION_ON,
		 "a234567890123456789012345678901", -1, "a234567890123456789012345678901"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_request request = {.asked = OSP_GANG_OPTION_NONE,
					      .origin = OSP_FROM_SET};
		struct osp_error error = {0};
		char again[OSP_REQUEST_BYTES];

		assert_int_equal(osp_request_parse(cases[i].value, &request, &error), 0);
		assert_string_equal(error.text, "");
		assert_int_equal(request.asked, cases[i].asked);
		assert_int_equal(request.origin, OSP_FROM_SET);
		assert_string_equal(request.level, cases[i].level);
		assert_int_equal(request.relax_s, cases[i].relax_s);
		assert_string_equal(osp_request_format(&request, again, sizeof(again)),
				    cases[i].again);
	}
}

static void refuses_in_words(void **state)
{
	static const struct {
		const char *value;
		int column;
		const char *text;
	} cases[] = {
		{"spi!ne", 4,
		 "--gang=spi!ne: '!' is not allowed in a level's name (letters, digits, - and _)"},
		{"spine ", 6,
		 "--gang=spine : ' ' is not allowed in a level's name (letters, digits, - and _)"},
		{"spine=1", 6,
		 "--gang=spine=1: '=' is not allowed in a level's name (letters, digits, - and _)"},
		{"sp\nine", 3, "--gang: the byte 0x0a is not allowed in its value"},
		{"spine@\x1b[2J", 7, "--gang: the byte 0x1b is not allowed in its value"},
		{"sp\xc3\xafne", 3, "--gang: the byte 0xc3 is not allowed in its value"},
		{"a2345678901234567890123456789012", 32,
		 "--gang=a2345678901234567890123456789012: a level's name has at most 31 "
		 "characters"},
		{"a2345678901234567890123456789012,prefer", 32,
		 "--gang=a2345678901234567890123456789012,prefer: a level's name has at most "
		 "31 characters"},
		{"spine@", 7,
		 "--gang=spine@: a time is missing after the @ (" OSP_DURATION_FORMS ", or never)"},
		{"spine@nevr", 7, "--gang=spine@nevr: 'nevr' is no time; did you mean never?"},
		{"spine@1h", 7,
		 "--gang=spine@1h: '1h' is no time (" OSP_DURATION_FORMS ", or never)"},
		{"spine@-1", 7,
		 "--gang=spine@-1: '-1' is no time (" OSP_DURATION_FORMS ", or never)"},
		{"spine@1@2", 7,
		 "--gang=spine@1@2: '1@2' is no time (" OSP_DURATION_FORMS ", or never)"},
		{"off@10", 4, "--gang=off@10: off takes no time"},
		{"off domains=2", 4, "--gang=off takes no domains, segments, layout or prefer"},
		{"leaf,prefr", 6,
		 "--gang=leaf,prefr: 'prefr' cannot follow a level; did you mean prefer?"},
		{"leaf,spine", 6,
		 "--gang=leaf,spine: 'spine' cannot follow a level; only prefer can, as in "
		 "leaf,prefer"},
		{",prefer", 1, "--gang=,prefer: prefer follows one level, as in leaf,prefer"},
		{"off,prefer", 4, "--gang=off,prefer: prefer follows one level, as in leaf,prefer"},
		{"leaf,prefer prefer=leaf", 5,
		 "--gang=leaf,prefer: prefer follows one level, as in leaf,prefer"},
		{"spine@30:00,prefer", 7,
		 "--gang=spine@30:00,prefer: prefer comes before the @, as in leaf,prefer@30:00"},
		{"spine prefer=a/b", 1, "--gang: prefer=a/b: the name of a level is expected"},
		{"spine domains=x", 1,
		 "--gang-domains=x: in how many domains at most is expected, a number from 1 to "
		 "131072"},
		{"spine domains=2 domains=3", 1,
		 "--gang: 'domains=3' is not understood, or said twice; did you mean domains="},
		{"spine domains=2 segmnt=leaf:3", 1,
		 "--gang: 'segmnt=leaf:3' is not understood, or said twice"},
		{"spine domains=12345678", 9,
		 "--gang-domains=12345678: in how many domains at most is expected, a number from "
		 "1 to "
		 "131072"},
		{"spine domains=0", 2,
		 "--gang-domains=0: in how many domains at most is expected, a number from 1 to "
		 "131072"},
		{"spine domains=131073", 7,
		 "--gang-domains=131073: in how many domains at most is expected, a number from 1 "
		 "to "
		 "131072"},
		{"spine domains=2x", 2,
		 "--gang-domains=2x: in how many domains at most is expected, a number from 1 to "
		 "131072"},
		{"spine domains=", 1,
		 "--gang-domains=: in how many domains at most is expected, a number from 1 to "
		 "131072"},
		{"spine segment=:2", 1,
		 "--gang-segment=:2: a level and a number of nodes are expected, as in "
		 "leaf:16 or nvlink:16,leaf:32"},
		{"spine segment=le/af:2", 1,
		 "--gang-segment=le/af:2: a level and a number of nodes are expected, as in "
		 "leaf:16 or nvlink:16,leaf:32"},
		{"spine segment=leaf:", 1,
		 "--gang-segment=leaf:: a level and a number of nodes are expected, as in "
		 "leaf:16 or nvlink:16,leaf:32"},
		{"spine segment=leaf:12345678", 1,
		 "--gang-segment=leaf:12345678: a level and a number of nodes are expected, as in "
		 "leaf:16 or nvlink:16,leaf:32"},
		{"spine segment=leaf:2x", 1,
		 "--gang-segment=leaf:2x: a level and a number of nodes are expected, as in "
		 "leaf:16 or nvlink:16,leaf:32"},
		{"spine segment=abcdefghijklmnopqrstuvwxyzabcdef:2", 1,
		 "--gang-segment=abcdefghijklmnopqrstuvwxyzabcdef:2: a level and a number of nodes "
		 "are expected, as in "
		 "leaf:16 or nvlink:16,leaf:32"},
		{"spine segment=leaf:2 segment=leaf:2", 1,
		 "--gang: 'segment=leaf:2' is not understood, or said twice"},
		{"spine segment=leaf:2,x", 8,
		 "--gang-segment=leaf:2,x: a level and a number of nodes are expected, as in "
		 "leaf:16 or nvlink:16,leaf:32"},
		{"spine layout=tp8,pq4", 5,
		 "--gang-layout, column 5: 'pq4': an axis is tp, cp, pp, dp, dpr, ep or etp with "
		 "its size, as in tp8"},
		{"spine layout=", 1,
		 "--gang-layout, column 1: an axis and its size are missing, as in tp8,pp8,dp8"},
		{"spine layout=tp8 layout=tp8", 1,
		 "--gang: 'layout=tp8' is not understood, or said twice; did you mean layout="},
		{"spine keep=pp:leaf", 1,
		 "--gang-keep=pp:leaf names groups of a layout; say --gang-layout too, as in "
		 "--gang-layout=tp8,pp8"},
		{"spine layout=pp8 keep=pp", 1,
		 "--gang-keep=pp: a group (tp, cp, dp, pp or ep) and a level are expected, as in "
		 "pp:leaf"},
		{"spine layout=pp8 keep=pp:leaf,xp:leaf", 9,
		 "--gang-keep=pp:leaf,xp:leaf: a group (tp, cp, dp, pp or ep) and a level are "
		 "expected, as in pp:leaf"},
		{"spine layout=pp8 keep=:leaf", 1,
		 "--gang-keep=:leaf: a group (tp, cp, dp, pp or ep) and a level are expected, as "
		 "in "
		 "pp:leaf"},
		{"spine layout=pp8 keep=abcdefgh:leaf", 1,
		 "--gang-keep=abcdefgh:leaf: a group (tp, cp, dp, pp or ep) and a level are "
		 "expected, as in pp:leaf"},
		{"spine layout=pp8 keep=pp:le/af", 1,
		 "--gang-keep=pp:le/af: a group (tp, cp, dp, pp or ep) and a level are expected, "
		 "as in pp:leaf"},
		{"spine layout=pp8 keep=pp:leaf keep=pp:leaf", 1,
		 "--gang: 'keep=pp:leaf' is not understood, or said twice"},
		{"spine prefer=leaf prefer=leaf", 1,
		 "--gang: 'prefer=leaf' is not understood, or said twice"},
		{"spine layout=pp8 keep=pp:l,pp:l,pp:l,pp:l,pp:l", 21,
		 "--gang-keep=pp:l,pp:l,pp:l,pp:l,pp:l: more than 4 groups"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_request request, before;
		struct osp_error error = {0};

		memset(&request, 0x5a, sizeof(request));
		before = request;
		assert_int_equal(osp_request_parse(cases[i].value, &request, &error), -1);
		assert_string_equal(error.text, cases[i].text);
		assert_string_equal(error.file, "");
		assert_int_equal(error.column, cases[i].column);
		assert_memory_equal(&request, &before, sizeof(request));
		assert_int_equal(osp_request_parse(cases[i].value, &request, NULL), -1);
	}
}

/* A value that is far too long fits its sentence and no more. */
static void bounds_long_values(void **state)
{
	struct osp_request request = {.asked = OSP_GANG_OPTION_NONE};
	struct osp_error error = {0};
	char value[5000];

	(void)state;
	memset(value, 'a', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	assert_int_equal(osp_request_parse(value, &request, &error), -1);
	assert_string_equal(error.text,
			    "--gang=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
			    "aaaaaaaaaaaa: a level's name has at most 31 characters");
	value[5] = '@';
	osp_error_clear(&error);
	assert_int_equal(osp_request_parse(value, &request, &error), -1);
	assert_int_equal(error.column, 7);
	/* as it is stored, behind the level */
	memcpy(value, "spine keep=", 11);
	osp_error_clear(&error);
	assert_int_equal(osp_request_parse(value, &request, &error), -1);
	assert_non_null(strstr(error.text, "--gang: at most "));
	assert_non_null(strstr(error.text, " bytes are expected, not "));
}

/* One character more than there is room for. */
static void bounds_segments_layouts_and_groups(void **state)
{
	static const struct {
		size_t bytes;
		const char *text;
	} cases[] = {
		{OSP_SEGMENTS_BYTES, "--gang-segment: more than 127 characters"},
		{OSP_LAYOUT_TEXT_BYTES, "--gang-layout: more than 159 characters"},
		{OSP_KEEP_BYTES, "--gang-keep: more than 143 characters"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_request request = {.asked = OSP_GANG_OPTION_NONE};
		struct osp_parts_asked parts = {.layout = i == 2 ? "pp8" : NULL};
		struct osp_error error = {0};
		char value[200] = "";

		memset(value, 'a', cases[i].bytes);
		*(i == 0 ? &parts.segments : i == 1 ? &parts.layout : &parts.keep) = value;
		assert_int_equal(osp_request_add_parts(&request, &parts, &error), -1);
		assert_string_equal(error.text, cases[i].text);
		assert_int_equal(error.column, cases[i].bytes);
		value[cases[i].bytes - 1] = '\0'; /* fits, and is nonsense */
		osp_error_clear(&error);
		assert_int_equal(osp_request_add_parts(&request, &parts, &error), -1);
		assert_null(strstr(error.text, "more than"));
	}
}

static void no_gang_has_no_parts(void **state)
{
	static const struct {
		struct osp_parts_asked parts;
		const char *option;
	} cases[] = {
		{{.domains = "2"}, "--gang-domains"},
		{{.segments = "leaf:2"}, "--gang-segment"},
		{{.layout = "tp8"}, "--gang-layout"},
		{{.keep = "pp:leaf"}, "--gang-keep"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_request request = {.asked = OSP_GANG_OPTION_OFF};
		struct osp_error error = {0};
		char text[160];

		snprintf(text, sizeof(text),
			 "--gang=off is no gang, and %s is for one; leave one of them out",
			 cases[i].option);
		assert_int_equal(osp_request_add_parts(&request, &cases[i].parts, &error), -1);
		assert_string_equal(error.text, text);
		assert_int_equal(request.asked, OSP_GANG_OPTION_OFF);
	}
}

static void formats_nothing(void **state)
{
	struct osp_request request = {
		.asked = OSP_GANG_OPTION_NONE, .level = "spine", .relax_s = 60};
	char again[64];

	(void)state;
	assert_string_equal(osp_request_format(&request, again, sizeof(again)), "");
}

#define POLICY(mode_, always, from, off)                                                           \
	{                                                                                          \
		.mode = OSP_MODE_##mode_, .level = "spine", .gang_always = always,                 \
		.from_nodes = from, .allow_off = off, .mix_kinds = true, .relax_s = 600            \
	}

static const struct osp_policy asked = POLICY(ENFORCE, false, 2, true);
static const struct osp_policy always = POLICY(ENFORCE, true, 4, true);
static const struct osp_policy strict = POLICY(ENFORCE, true, 4, false);
static const struct osp_policy every_job = POLICY(ENFORCE, true, 1, false);
static const struct osp_policy advise = POLICY(ADVISE, true, 4, true);
static const struct osp_policy off = POLICY(OFF, true, 4, false);

/* "" for the request stands for a bare --gang, NULL for none at all. */
static void resolves(void **state)
{
	static const struct {
		const char *request;
		const struct osp_policy *policy;
		uint32_t node_count;
		const char *effective;
	} cases[] = {
		{NULL, &asked, 64,
		 "version=1,mode=off,level=,relax_s=-1,origin=policy,mix_kinds=no"},
		{NULL, &always, 3,
		 "version=1,mode=off,level=,relax_s=-1,origin=policy,mix_kinds=no"},
		{NULL, &always, 0,
		 "version=1,mode=off,level=,relax_s=-1,origin=policy,mix_kinds=no"},
		{NULL, &always, 4,
		 "version=1,mode=enforce,level=spine,relax_s=600,origin=policy,mix_kinds=yes"},
		{NULL, &every_job, 0,
		 "version=1,mode=enforce,level=spine,relax_s=600,origin=policy,mix_kinds=yes"},
		{NULL, &advise, 4,
		 "version=1,mode=advise,level=spine,relax_s=600,origin=policy,mix_kinds=yes"},
		{NULL, &off, 64, "version=1,mode=off,level=,relax_s=-1,origin=policy,mix_kinds=no"},
		{"", &asked, 1,
		 "version=1,mode=enforce,level=spine,relax_s=600,origin=option,mix_kinds=yes"},
		{"core", &asked, 0,
		 "version=1,mode=enforce,level=core,relax_s=600,origin=option,mix_kinds=yes"},
		{"core@5", &always, 2,
		 "version=1,mode=enforce,level=core,relax_s=300,origin=option,mix_kinds=yes"},
		{"@0", &asked, 2,
		 "version=1,mode=enforce,level=spine,relax_s=0,origin=option,mix_kinds=yes"},
		{"core@never", &strict, 2,
		 "version=1,mode=enforce,level=core,relax_s=-1,origin=option,mix_kinds=yes"},
		{"leaf", &advise, 2,
		 "version=1,mode=advise,level=leaf,relax_s=600,origin=option,mix_kinds=yes"},
		{"leaf,prefer@5", &asked, 2,
		 "version=1,mode=enforce,level=spine,relax_s=300,origin=option,mix_kinds=yes,"
		 "prefer=leaf"},
		{"off", &asked, 64,
		 "version=1,mode=off,level=,relax_s=-1,origin=option,mix_kinds=no"},
		{"off", &always, 64,
		 "version=1,mode=off,level=,relax_s=-1,origin=option,mix_kinds=no"},
		{"off", &strict, 3,
		 "version=1,mode=off,level=,relax_s=-1,origin=option,mix_kinds=no"},
		{"off", &off, 64,
		 "version=1,mode=off,level=,relax_s=-1,origin=option,mix_kinds=no"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_request request = {.asked = OSP_GANG_OPTION_NONE, .relax_s = -1};
		struct osp_effective effective;
		struct osp_error error = {0};
		char text[OSP_EFFECTIVE_BYTES];

		if (cases[i].request)
			assert_int_equal(osp_request_parse(cases[i].request, &request, &error), 0);
		struct osp_size size = {cases[i].node_count, cases[i].node_count};

		assert_int_equal(osp_request_resolve(&request, cases[i].policy, "gpu", &size,
						     &effective, &error),
				 0);
		assert_string_equal(osp_effective_format(&effective, text, sizeof(text)),
				    cases[i].effective);
	}
}

static void policy_refuses(void **state)
{
	static const struct {
		const char *request;
		const struct osp_policy *policy;
		const char *partition;
		const char *text;
	} cases[] = {
		{"off", &strict, "gpu",
		 "jobs of 4 nodes and more are gangs in partition gpu, and --gang=off is not "
		 "allowed there; ask for fewer nodes or leave it out"},
		{"off", &strict, NULL,
		 "jobs of 4 nodes and more are gangs in its partition, and --gang=off is not "
		 "allowed there; ask for fewer nodes or leave it out"},
		{"off", &every_job, NULL,
		 "every job is a gang in its partition, and --gang=off is not allowed there; leave "
		 "it out"},
		{"off", &every_job, "gpu",
		 "every job is a gang in partition gpu, and --gang=off is not allowed there; leave "
		 "it out"},
		{"", &off, "cpu",
		 "partition cpu takes no gangs; leave out --gang or choose another partition"},
		{"leaf,prefer domains=2", &asked, "gpu",
		 "--gang=leaf,prefer is for a gang in one domain: leave it out, or --gang-domains, "
		 "--gang-segment and --gang-layout"},
		{"leaf,prefer layout=tp8", &asked, "gpu",
		 "--gang=leaf,prefer is for a gang in one domain: leave it out, or --gang-domains, "
		 "--gang-segment and --gang-layout"},
		{"core", &off, NULL,
		 "its partition takes no gangs; leave out --gang or choose another partition"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_request request = {.asked = OSP_GANG_OPTION_NONE};
		struct osp_size size = {4, 4};
		struct osp_effective effective;
		struct osp_error error = {0};

		assert_int_equal(osp_request_parse(cases[i].request, &request, &error), 0);
		assert_int_equal(osp_request_resolve(&request, cases[i].policy, cases[i].partition,
						     &size, &effective, &error),
				 -1);
		assert_string_equal(error.text, cases[i].text);
	}
}

/* Sizes that nobody knows before the start: held where the policy promises, and nowhere else. */
static void resolves_by_size(void **state)
{
	static const struct {
		const char *request; /* NULL: none */
		const struct osp_policy *policy;
		struct osp_size size;
		enum osp_mode mode;
		bool if_large;
	} cases[] = {
		{NULL, &strict, {1, 1}, OSP_MODE_OFF, false},
		{NULL, &strict, {0, 0}, OSP_MODE_ENFORCE, true},
		{NULL, &strict, {1, 0}, OSP_MODE_ENFORCE, true},
		{NULL, &strict, {3, 3}, OSP_MODE_OFF, false},
		{NULL, &strict, {1, 4}, OSP_MODE_ENFORCE, false},
		{NULL, &strict, {4, 0}, OSP_MODE_ENFORCE, false},
		{NULL, &always, {1, 0}, OSP_MODE_OFF, false},
		{NULL, &always, {1, 8}, OSP_MODE_ENFORCE, false},
		{NULL, &advise, {1, 0}, OSP_MODE_OFF, false},
		{NULL, &asked, {1, 8}, OSP_MODE_OFF, false},
		{NULL, &every_job, {0, 0}, OSP_MODE_ENFORCE, false},
		{"off", &strict, {1, 0}, OSP_MODE_OFF, false},
		{"leaf", &strict, {1, 0}, OSP_MODE_ENFORCE, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_request request = {.asked = OSP_GANG_OPTION_NONE, .relax_s = -1};
		struct osp_effective effective;

		if (cases[i].request)
			assert_int_equal(osp_request_parse(cases[i].request, &request, NULL), 0);
		assert_int_equal(osp_request_resolve(&request, cases[i].policy, "gpu",
						     &cases[i].size, &effective, NULL),
				 0);
		if (effective.mode != cases[i].mode || effective.if_large != cases[i].if_large)
			fail_msg("case %zu: mode %d, if_large %d", i, effective.mode,
				 effective.if_large);
		assert_int_equal(effective.from_nodes,
				 effective.mode == OSP_MODE_OFF || cases[i].request
					 ? 0
					 : cases[i].policy->from_nodes);
	}
}

static void least_nodes_by_tasks(void **state)
{
	static const struct {
		uint32_t nodes, tasks, per_node, least;
	} cases[] = {
		{0, 0, 0, 0},
		{4, 0, 0, 4},
		{4, 96, 0, 4},
		{4, 0, 8, 4},
		{0, 96, 8, 12},
		{1, 97, 8, 13},
		{16, 96, 8, 16},
		{2, 1, 8, 2},
		{1, 8, 1, 8},
		{0, 7, 8, 1},
		{1, UINT32_MAX, 1, UINT32_MAX},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(osp_least_nodes(cases[i].nodes, cases[i].tasks, cases[i].per_node),
				 cases[i].least);
}

static void components_promise_together(void **state)
{
	static const struct {
		enum osp_mode mode;
		const char *level;
		uint32_t from_nodes;
		const char *strictest;
		uint32_t fewest;
	} cases[] = {
		{OSP_MODE_ENFORCE, "leaf", 4, "leaf", 3},
		{OSP_MODE_ENFORCE, "spine", 2, "spine", 2},
		{OSP_MODE_ENFORCE, "gone", 3, "gone", 3}, /* they wait for it */
		{OSP_MODE_ADVISE, "leaf", 1, "spine", 3},
		{OSP_MODE_OFF, "leaf", 1, "spine", 3},
	};
	struct osp_topology *topology = fabric_regular(2, (uint32_t[]){2, 2}, 2);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_effective strictest = {.level = "spine", .from_nodes = 3};
		struct osp_effective other = {.mode = cases[i].mode,
					      .from_nodes = cases[i].from_nodes};

		snprintf(other.level, sizeof(other.level), "%s", cases[i].level);
		osp_request_add_promise(&strictest, &other, topology);
		assert_string_equal(strictest.level, cases[i].strictest);
		assert_int_equal(strictest.from_nodes, cases[i].fewest);
	}
	osp_topology_free(topology);
}

/* Of every combination of facts: a gang that is not understood, or that would split, waits; what is
 * unknown about its size is only looked at for a start, and components only where there is a
 * fabric. */
static void takes_its_course(void **state)
{
	(void)state;
	for (uint32_t bits = 0; bits < 512; bits++) {
		struct osp_effective effective = {
			.mode = bits & 1 ? OSP_MODE_ENFORCE : OSP_MODE_ADVISE,
			.if_large = bits & 2,
			.from_nodes = bits & 4 ? 3 : 1,
		};
		const struct osp_course_facts facts = {
			.only_ever = bits & 8,
			.splits = bits & 16,
			.is_component = bits & 32,
			.others_choose = bits & 64,
			.has_fabric = bits & 128,
		};
		enum osp_course course;
		bool together = facts.is_component && facts.has_fabric && !facts.only_ever &&
				(effective.if_large || facts.others_choose);

		snprintf(effective.unread, sizeof(effective.unread), "%s",
			 bits & 256 ? "has a key" : "");
		course = osp_course_of(&effective, &facts);
		if (!(bits & 1))
			assert_int_equal(course, OSP_COURSE_PLACE);
		else if (bits & 256)
			assert_int_equal(course, OSP_COURSE_WAIT_UNREAD);
		else if (facts.splits)
			assert_int_equal(course, OSP_COURSE_WAIT_SPLIT);
		else if (together)
			assert_int_equal(course, OSP_COURSE_COMPONENT);
		else if (effective.if_large)
			assert_int_equal(course,
					 facts.only_ever ? OSP_COURSE_SCHEDULER : OSP_COURSE_LARGE);
		else
			assert_int_equal(course, effective.from_nodes > 1 && !facts.only_ever
							 ? OSP_COURSE_LARGE
							 : OSP_COURSE_PLACE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses),
		cmocka_unit_test(refuses_in_words),
		cmocka_unit_test(bounds_long_values),
		cmocka_unit_test(bounds_segments_layouts_and_groups),
		cmocka_unit_test(no_gang_has_no_parts),
		cmocka_unit_test(formats_nothing),
		cmocka_unit_test(resolves),
		cmocka_unit_test(resolves_by_size),
		cmocka_unit_test(policy_refuses),
		cmocka_unit_test(least_nodes_by_tasks),
		cmocka_unit_test(components_promise_together),
		cmocka_unit_test(takes_its_course),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
