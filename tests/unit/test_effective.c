/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_effective.c - the request in force as it is stored with the job, also by other releases */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "lib/policy/effective.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void survives(void **state)
{
	static const struct osp_effective cases[] = {
		{.mode = OSP_MODE_ENFORCE, .level = "spine", .relax_s = -1},
		{.mode = OSP_MODE_ADVISE,
		 .origin = OSP_FROM_ENVIRONMENT,
		 .level = "rail_group-2",
		 .mix_kinds = true},
		{.mode = OSP_MODE_ENFORCE,
		 .origin = OSP_FROM_SET,
		 .level = "a234567890123456789012345678901",
		 .relax_s = 315360000,
		 .mix_kinds = true},
		{.mode = OSP_MODE_OFF, .origin = OSP_FROM_POLICY, .relax_s = -1},
		{.mode = OSP_MODE_ENFORCE, .level = "spine", .relax_s = -1, .domains_max = 131072},
		{.mode = OSP_MODE_ENFORCE,
		 .level = "a234567890123456789012345678901",
		 .relax_s = 315360000,
		 .domains_max = 2,
		 .segments = "nvlink:16,leaf:32,a234567890123456789012345678901:1234567,"
			     "b234567890123456789012345678901:1234567,c23456789012345678:1234567",
		 .layout =
			 "tp1234567,cp1234567,pp1234567,dp1234567,dpr1234567,ep1234567,etp1234567,"
			 "order=torchtitan",
		 .keep = "pp:a234567890123456789012345678901,dp:a234567890123456789012345678901,"
			 "ep:a234567890123456789012345678901,tp:a234567890123456789012345678901"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_effective again;
		char text[OSP_EFFECTIVE_BYTES];

		osp_effective_format(&cases[i], text, sizeof(text));
		assert_memory_equal(text, "version=1,mode=", 15);
		assert_int_equal(osp_effective_parse(text, &again), 0);
		assert_memory_equal(&again, &cases[i], sizeof(again));
	}
}

/* A release that knows no segments still understands the rest. */
static void writes_what_is_asked_for_alone(void **state)
{
	struct osp_effective plain = {.mode = OSP_MODE_ENFORCE, .level = "spine", .relax_s = -1};
	struct osp_effective cut = plain;
	char text[OSP_EFFECTIVE_BYTES];

	(void)state;
	assert_string_equal(osp_effective_format(&plain, text, sizeof(text)),
			    "version=1,mode=enforce,level=spine,relax_s=-1,origin=option,"
			    "mix_kinds=no");
	cut.domains_max = 2;
	strcpy(cut.segments, "nvlink:16,leaf:32");
	assert_string_equal(osp_effective_format(&cut, text, sizeof(text)),
			    "version=1,mode=enforce,level=spine,relax_s=-1,origin=option,"
			    "mix_kinds=no,domains=2,segments=nvlink:16+leaf:32");
	strcpy(cut.layout, "tp8,pp8,dp8,order=vllm");
	strcpy(cut.keep, "pp:leaf");
	assert_string_equal(osp_effective_format(&cut, text, sizeof(text)),
			    "version=1,mode=enforce,level=spine,relax_s=-1,origin=option,"
			    "mix_kinds=no,domains=2,segments=nvlink:16+leaf:32,"
			    "layout=tp8+pp8+dp8+order=vllm,keep=pp:leaf");
}

/* Releases before the first version wrote the same keys without one. */
static void reads_older_ones_and_any_order(void **state)
{
	struct osp_effective effective;

	(void)state;
	assert_int_equal(osp_effective_parse(
				 "mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no",
				 &effective),
			 0);
	assert_int_equal(effective.mode, OSP_MODE_ENFORCE);
	assert_int_equal(
		osp_effective_parse(
			"origin=set,mix_kinds=yes,relax_s=5,mode=advise,version=1,level=core",
			&effective),
		0);
	assert_int_equal(effective.origin, OSP_FROM_SET);
	assert_int_equal(effective.relax_s, 5);
	assert_string_equal(effective.unread, "");
}

/* What is not understood stays a gang, with what could be read, and says why. */
static void stays_a_gang(void **state)
{
	static const struct {
		const char *value, *level, *unread;
	} cases[] = {
		{"version=1,mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no,"
		 "pack=yes",
		 "spine", "has the key 'pack', which this release does not know"},
		{"version=1,mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no,"
		 "layout=tp8+zp4",
		 "spine", "has a value that this release does not know, 'tp8+zp4'"},
		{"version=1,mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no,"
		 "layout=tp8,keep=pp",
		 "spine", "has a value that this release does not know, 'pp'"},
		{"version=1,mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no,"
		 "domains=0",
		 "spine", "has a value that this release does not know, '0'"},
		{"version=1,mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no,"
		 "domains=2,domains=3",
		 "spine", "has the key 'domains' twice"},
		{"version=1,mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no,"
		 "segments=leaf:2+spine",
		 "spine", "has a value that this release does not know, 'leaf:2+spine'"},
		{"version=1,mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no,"
		 "segments=",
		 "spine", "has a value that this release does not know, ''"},
		{"segment=4,mode=enforce,level=leaf,relax_s=-1,origin=option,mix_kinds=no", "leaf",
		 "has the key 'segment', which this release does not know"},
		{"version=2,mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no",
		 "spine", "has version 2, and this release knows those up to 1"},
		{"version=x,mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no",
		 "spine", "has a value that this release does not know, 'x'"},
		{"version=-1,mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no",
		 "spine", "has a value that this release does not know, '-1'"},
		{"version=0,mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no",
		 "spine", "has a value that this release does not know, '0'"},
		{"version=1x,mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no",
		 "spine", "has a value that this release does not know, '1x'"},
		{"segment=4,version=9,mode=enforce,level=spine,relax_s=-1,origin=option,"
		 "mix_kinds=no",
		 "spine", "has the key 'segment', which this release does not know"},
		{"mode=enforce,level=off,relax_s=-1,origin=option,mix_kinds=no", "",
		 "has a value that this release does not know, 'off'"},
		{"mode=enforce,level=spine@10,relax_s=-1,origin=option,mix_kinds=no", "",
		 "has a value that this release does not know, 'spine@10'"},
		{"mode=enforce,level=spine,relax_s=x,origin=option,mix_kinds=no", "spine",
		 "has a value that this release does not know, 'x'"},
		{"mode=enforce,level=spine,relax_s=5m,origin=option,mix_kinds=no", "spine",
		 "has a value that this release does not know, '5m'"},
		{"mode=\x7f,level=spine,relax_s=-1,origin=option,mix_kinds=no", "spine",
		 "has a value that this release does not know, '?'"},
		{"", "", "has the key '', which this release does not know"},
		{",", "", "has the key '', which this release does not know"},
		{"mode", "", "has the key 'mode', which this release does not know"},
		{"mode=enforce", "", "lacks the key 'level'"},
		{"mode=enforce,level=spine,relax_s=-1,origin=option", "spine",
		 "lacks the key 'mix_kinds'"},
		{"mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no,level=leaf",
		 "spine", "has the key 'level' twice"},
		{"mode=Enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no", "spine",
		 "has a value that this release does not know, 'Enforce'"},
		{"mode=enforce,level=,relax_s=-1,origin=option,mix_kinds=no", "",
		 "lacks the value of 'level'"},
		{"mode=enforce,level=sp ine,relax_s=-1,origin=option,mix_kinds=no", "",
		 "has a value that this release does not know, 'sp?ine'"},
		{"mode=enforce,level=spine,relax_s=-2,origin=option,mix_kinds=no", "spine",
		 "has a value that this release does not know, '-2'"},
		{"mode=enforce,level=spine,relax_s=99999999999999999999,origin=option,mix_kinds=no",
		 "spine", "has a value that this release does not know, '99999999999999999999'"},
		{"mode=enforce,level=spine,relax_s=-1,origin=root,mix_kinds=no", "spine",
		 "has a value that this release does not know, 'root'"},
		{"mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=maybe", "spine",
		 "has a value that this release does not know, 'maybe'"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_effective effective;

		memset(&effective, 0x5a, sizeof(effective));
		assert_int_equal(osp_effective_parse(cases[i].value, &effective), -1);
		assert_int_equal(effective.mode, OSP_MODE_ENFORCE);
		assert_string_equal(effective.level, cases[i].level);
		assert_string_equal(effective.unread, cases[i].unread);
	}
}

static void keeps_a_mode_that_was_read(void **state)
{
	struct osp_effective effective;

	(void)state;
	assert_int_equal(osp_effective_parse("mode=advise,level=spine,new=1", &effective), -1);
	assert_int_equal(effective.mode, OSP_MODE_ADVISE);
	assert_int_equal(osp_effective_parse("new=1,mode=off,level=", &effective), -1);
	assert_int_equal(effective.mode, OSP_MODE_OFF);
}

static void bounds_its_length(void **state)
{
	struct osp_effective effective;
	char text[OSP_EFFECTIVE_BYTES_MAX + 1];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(osp_effective_parse(text, &effective), -1);
	assert_int_equal(effective.mode, OSP_MODE_ENFORCE);
	assert_string_equal(effective.unread, "is longer than this release reads, 1024 bytes");
	text[OSP_EFFECTIVE_BYTES_MAX - 1] = '\0';
	assert_int_equal(osp_effective_parse(text, &effective), -1);
	assert_string_equal(effective.unread, "has the key 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', "
					      "which this release does not know");
}

/* A list that no release of today writes: longer than any that a user may give. */
static void bounds_its_lists(void **state)
{
	static const char *const keys[] = {"segments", "layout", "keep"};

	(void)state;
	for (size_t i = 0; i < COUNT(keys); i++) {
		struct osp_effective effective;
		char text[OSP_EFFECTIVE_BYTES_MAX], list[OSP_LAYOUT_TEXT_BYTES + 1] = "";

		memset(list, 'a', sizeof(list) - 1);
		snprintf(text, sizeof(text),
			 "version=1,mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no,"
			 "%s=%s",
			 keys[i], list);
		assert_int_equal(osp_effective_parse(text, &effective), -1);
		assert_string_equal(effective.level, "spine");
		assert_string_equal(effective.unread,
				    "has a value that this release does not know, "
				    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'");
	}
}

static void says_why_it_waits(void **state)
{
	struct osp_effective effective;
	char words[400];

	(void)state;
	osp_effective_parse("mode=enforce,pack=yes", &effective);
	assert_string_equal(osp_effective_waits(&effective, words, sizeof(words)),
			    "waits: its stored request has the key 'pack', which this release does "
			    "not know; install the release of Onespine that wrote it, or give it "
			    "another request with onespine set");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(survives),
		cmocka_unit_test(writes_what_is_asked_for_alone),
		cmocka_unit_test(reads_older_ones_and_any_order),
		cmocka_unit_test(stays_a_gang),
		cmocka_unit_test(keeps_a_mode_that_was_read),
		cmocka_unit_test(bounds_its_length),
		cmocka_unit_test(bounds_its_lists),
		cmocka_unit_test(says_why_it_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
