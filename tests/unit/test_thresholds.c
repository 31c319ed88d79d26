/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thresholds.yaml: what is read, what wins, every refusal, and that the shipped limits can be
 * true. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "check/check.h"
#include "lib/base/text.h"
#include "lib/env/catalogue.h"
#include "lib/health/thresholds_private.h"

#define FILE_NAME "thresholds.yaml"

static const char *const checks[] = {"ecc", "clock"};

static int add(struct osp_thresholds *thresholds, const char *text, struct osp_error *error)
{
	return osp_thresholds_add(thresholds, FILE_NAME, text, strlen(text), checks, 2, error);
}

static struct osp_thresholds *read_good(const char *text)
{
	struct osp_thresholds *thresholds = osp_thresholds_new();
	struct osp_error error = {0};
	char words[800];

	assert_non_null(thresholds);
	if (add(thresholds, text, &error))
		fail_msg("%s", osp_error_format(&error, words, sizeof(words)));
	return thresholds;
}

static void expect_limit(const struct osp_thresholds *thresholds, enum osp_limit_id id,
			 const char *model, const char *node, int64_t value, const char *source)
{
	const struct osp_limit *limit = osp_thresholds_limit(thresholds, id, model, node);

	assert_non_null(limit);
	assert_int_equal(limit->value, value);
	assert_string_equal(limit->source, source);
}

static void the_nearest_place_wins(void **state)
{
	struct osp_thresholds *thresholds =
		read_good("limits:\n  nvlinks: {value: 4, source: all}\n"
			  "models:\n  NVIDIA H200:\n    nvlinks: {value: 18, source: model}\n"
			  "  NVIDIA H200 NVL:\n    nvlinks: 2\n"
			  "nodes:\n  p5.4xlarge:\n    nvlinks: {value: 0, source: node}\n");

	(void)state;
	expect_limit(thresholds, OSP_LIMIT_NVLINKS, NULL, NULL, 4, "all");
	expect_limit(thresholds, OSP_LIMIT_NVLINKS, "NVIDIA H100", "p5.48xlarge", 4, "all");
	expect_limit(thresholds, OSP_LIMIT_NVLINKS, "NVIDIA H200", NULL, 18, "model");
	expect_limit(thresholds, OSP_LIMIT_NVLINKS, "NVIDIA H200 NVL", NULL, 2,
		     "thresholds.yaml:7");
	expect_limit(thresholds, OSP_LIMIT_NVLINKS, "NVIDIA H200", "p5.4xlarge", 0, "node");
	assert_null(osp_thresholds_limit(thresholds, OSP_LIMIT_GPUS, NULL, NULL));
	osp_thresholds_free(thresholds);
}

/* Whole words alone: an L40S is no L4. */
static void a_model_is_named_by_whole_words(void **state)
{
	struct osp_thresholds *thresholds =
		read_good("models:\n  NVIDIA L4:\n    nvlinks: {value: 1, source: model}\n"
			  "  NVIDIA A100-SXM4:\n    nvlinks: {value: 12, source: model}\n");

	(void)state;
	expect_limit(thresholds, OSP_LIMIT_NVLINKS, "NVIDIA L4", NULL, 1, "model");
	expect_limit(thresholds, OSP_LIMIT_NVLINKS, "NVIDIA L4 MIG 1g.3gb", NULL, 1, "model");
	expect_limit(thresholds, OSP_LIMIT_NVLINKS, "NVIDIA A100-SXM4-40GB", NULL, 12, "model");
	assert_null(osp_thresholds_limit(thresholds, OSP_LIMIT_NVLINKS, "NVIDIA L40S", NULL));
	assert_null(osp_thresholds_limit(thresholds, OSP_LIMIT_NVLINKS, "NVIDIA L", NULL));
	osp_thresholds_free(thresholds);
}

static void a_later_file_wins_where_it_speaks(void **state)
{
	struct osp_thresholds *thresholds =
		read_good("limits:\n  temperature_c: 93\n  gpus: 8\nchecks:\n  clock: off\n");

	(void)state;
	assert_int_equal(add(thresholds, "limits:\n  temperature_c: 80\n", NULL), 0);
	expect_limit(thresholds, OSP_LIMIT_TEMPERATURE_C, NULL, NULL, 80, "thresholds.yaml:2");
	expect_limit(thresholds, OSP_LIMIT_GPUS, NULL, NULL, 8, "thresholds.yaml:3");
	assert_true(osp_thresholds_limit(thresholds, OSP_LIMIT_TEMPERATURE_C, NULL, NULL)->of_site);
	assert_false(osp_thresholds_limit(thresholds, OSP_LIMIT_GPUS, NULL, NULL)->of_site);
	assert_int_equal(osp_thresholds_mode(thresholds, "clock"), OSP_CHECK_OFF);
	osp_thresholds_free(thresholds);
}

static void modes(void **state)
{
	struct osp_thresholds *thresholds = read_good("checks:\n  ecc: log\n  all: comment\n");

	(void)state;
	assert_int_equal(osp_thresholds_mode(thresholds, "ecc"), OSP_CHECK_LOG);
	assert_int_equal(osp_thresholds_mode(thresholds, "clock"), OSP_CHECK_COMMENT);
	assert_int_equal(add(thresholds, "checks:\n  all: enforce\n  clock: off\n", NULL), 0);
	assert_int_equal(osp_thresholds_mode(thresholds, "ecc"), OSP_CHECK_ENFORCE);
	assert_int_equal(osp_thresholds_mode(thresholds, "clock"), OSP_CHECK_OFF);
	osp_thresholds_free(thresholds);
}

/* A site's own checks are known by the form of their names, there or not. */
static void modes_of_a_sites_own(void **state)
{
	struct osp_thresholds *thresholds =
		read_good("checks:\n  50-nhc: log\n  all: comment\n  60-x_Y: off\n");
	struct osp_text text = OSP_TEXT_INIT;
	struct osp_error error = {0};

	(void)state;
	assert_int_equal(osp_thresholds_mode(thresholds, "50-nhc"), OSP_CHECK_LOG);
	assert_int_equal(osp_thresholds_mode(thresholds, "60-x_Y"), OSP_CHECK_OFF);
	assert_int_equal(osp_thresholds_mode(thresholds, "70-other"), OSP_CHECK_COMMENT);
	assert_int_equal(add(thresholds, "checks:\n  50-nhc: enforce\n", NULL), 0);
	assert_int_equal(osp_thresholds_mode(thresholds, "50-nhc"), OSP_CHECK_ENFORCE);
	osp_text_add(&text, "checks:\n");
	for (int i = 0; i < 99; i++)
		osp_text_printf(&text, "  %02d-many: off\n", i);
	assert_int_equal(add(thresholds, text.data, &error), -1);
	osp_text_free(&text);
	osp_thresholds_free(thresholds);
}

static void names_of_a_sites_own(void **state)
{
	static const char *const good[] = {"00-a", "99-Z_9-", "50-abcdefghijklmnopqrstuvwxyz12"};
	static const char *const bad[] = {
		"",	   "50",     "50-",	"5-nhc",
		"500-nhc", "50nhc",  "nhc",	"50-nhc.rpmsave",
		"50-nhc~", "50-a b", "../50-a", "50-abcdefghijklmnopqrstuvwxyz123"};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(osp_site_check_named(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(osp_site_check_named(bad[i]));
	for (size_t i = 0; i < osp_check_count; i++)
		assert_false(osp_site_check_named(osp_checks[i]->name));
}

static void refusals(void **state)
{
	static const struct {
		const char *text;
		const char *error;
	} cases[] = {
		{"limit: {}\n", "thresholds.yaml:1:1: unknown key 'limit'; did you mean limits?"},
		{"limits:\n  nvlink: 18\n",
		 "thresholds.yaml:2:3: unknown key 'nvlink'; did you mean nvlinks?"},
		{"limits:\n  gpus: {source: x}\n", "thresholds.yaml:2:3: gpus: a value is missing"},
		{"limits:\n  gpus: {value: 8, sorce: x}\n",
		 "thresholds.yaml:2:20: unknown key 'sorce'; did you mean source?"},
		{"checks:\n  ec: off\n",
		 "thresholds.yaml:2:3: unknown key 'ec'; did you mean ecc?"},
		{"limits: 5\n", "thresholds.yaml:1:9: limits: a map is expected, not a word"},
		{"models:\n  NVIDIA H100: [1]\n",
		 "thresholds.yaml:2:16: NVIDIA H100: a map is expected, not a list"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_thresholds *thresholds = osp_thresholds_new();
		struct osp_error error = {0};
		char words[800];

		assert_int_equal(add(thresholds, cases[i].text, &error), -1);
		assert_string_equal(osp_error_format(&error, words, sizeof(words)), cases[i].error);
		osp_thresholds_free(thresholds);
	}
}

/* What physics forbids is refused, for every limit, on both sides. */
static void impossible_values_are_refused(void **state)
{
	(void)state;
	for (int id = 0; id < OSP_LIMIT_COUNT; id++) {
		int64_t ends[2];

		osp_limit_range(id, &ends[0], &ends[1]);
		assert_true(ends[0] <= ends[1]);
		for (int side = 0; side < 2; side++) {
			struct osp_thresholds *thresholds = osp_thresholds_new();
			struct osp_error error = {0};
			char text[128];

			snprintf(text, sizeof(text), "limits:\n  %s: %lld\n", osp_limit_name(id),
				 (long long)(ends[side] + (side ? 1 : -1)));
			assert_int_equal(add(thresholds, text, &error), -1);
			assert_int_equal(error.line, 2);
			osp_thresholds_free(thresholds);
		}
	}
}

/* The shipped file: every limit has a source of its own and belongs where it stands. */
static void shipped_limits_are_possible_and_have_sources(void **state)
{
	struct osp_thresholds *thresholds = osp_thresholds_new();
	const struct osp_limit_entry *entry;
	const char *names[OSP_CHECK_NAMES_MAX];
	struct osp_error error = {0};
	size_t count = 0;
	int64_t least, most;

	(void)state;
	for (size_t i = 0; i < osp_check_count; i++)
		names[i] = osp_checks[i]->name;
	if (osp_thresholds_add(thresholds, "etc/thresholds.yaml", osp_thresholds_builtin,
			       strlen(osp_thresholds_builtin), names, osp_check_count, &error))
		fail_msg("%d: %s", error.line, error.text);
	for (; (entry = osp_thresholds_entry(thresholds, count)); count++) {
		osp_limit_range(entry->id, &least, &most);
		assert_in_range(entry->limit.value, least, most);
		if (strncmp(entry->limit.source, "etc/", 4) == 0 || strlen(entry->limit.source) < 8)
			fail_msg("%s of %s has no source", osp_limit_name(entry->id), entry->place);
		/* what is ours is made of somebody's figure */
		if (strncmp(entry->limit.source, "onespine", 8) == 0 &&
		    !strpbrk(entry->limit.source, "0123456789"))
			fail_msg("%s of %s has but our word for it: %s", osp_limit_name(entry->id),
				 entry->place, entry->limit.source);
	}
	assert_true(count > 50);
	/* a soft limit is below the hard one */
	assert_true(
		osp_thresholds_limit(thresholds, OSP_LIMIT_RETIRED_PAGES_WARN, NULL, NULL)->value <
		osp_thresholds_limit(thresholds, OSP_LIMIT_RETIRED_PAGES, NULL, NULL)->value);
	osp_thresholds_free(thresholds);
}

/* One machine's figures must be those of the catalogue of node types. */
static void agrees(const struct osp_limit_entry *entry, const struct osp_instance *instance)
{
	int64_t value = entry->limit.value;

	switch (entry->id) {
	case OSP_LIMIT_GPUS:
	case OSP_LIMIT_NEURON_DEVICES:
		assert_int_equal(value, instance->accelerators);
		break;
	case OSP_LIMIT_EFA_DEVICES:
		assert_int_equal(value, instance->nics);
		break;
	case OSP_LIMIT_CORES: /* two hardware threads each */
		assert_int_equal(2 * value, instance->vcpus);
		break;
	case OSP_LIMIT_NUMA_NODES:
		assert_int_equal(value, instance->numa_nodes);
		break;
	case OSP_LIMIT_MEMORY_GIB:
		assert_in_range(value, instance->memory_gib * 9 / 10, instance->memory_gib);
		break;
	case OSP_LIMIT_NETWORK_PEAK_GBPS: /* whole gigabytes, up */
		assert_int_equal(value, (instance->network_mbps + 7999) / 8000);
		break;
	default:
		break;
	}
}

static void shipped_limits_agree_with_the_catalogue(void **state)
{
	struct osp_thresholds *thresholds = osp_thresholds_new();
	struct osp_catalogue *catalogue = osp_catalogue_new(NULL);
	const char *source = getenv("srcdir") ? getenv("srcdir") : ".";
	const struct osp_limit_entry *entry;
	struct osp_error error = {0};
	char folder[512];
	size_t nodes = 0;

	(void)state;
	snprintf(folder, sizeof(folder), "%s/etc/instances", source);
	if (osp_catalogue_add_folder(catalogue, folder, 0, &error) ||
	    osp_thresholds_add(thresholds, "f", osp_thresholds_builtin,
			       strlen(osp_thresholds_builtin), NULL, 0, &error))
		fail_msg("%s", error.text);
	for (size_t i = 0; (entry = osp_thresholds_entry(thresholds, i)); i++) {
		const struct osp_instance *instance;

		if (!strchr(entry->place, '.'))
			continue; /* no node */
		nodes++;
		instance = osp_catalogue_find(catalogue, entry->place, &error);
		if (!instance)
			fail_msg("%s", error.text);
		agrees(entry, instance);
	}
	assert_true(nodes > 30);
	osp_catalogue_free(catalogue);
	osp_thresholds_free(thresholds);
}

/* A speed to be reached is below its peak, and not so far below that it could not fail. */
static void possible(const struct osp_thresholds *thresholds, const char *model, const char *node,
		     enum osp_limit_id id, size_t *judged)
{
	const struct osp_limit *least = osp_thresholds_limit(thresholds, id, model, node);
	const struct osp_limit *peak = osp_thresholds_limit(thresholds, id + 1, model, node);

	if (!least)
		return;
	if (!peak || least->value >= peak->value || least->value * 5 < peak->value * 2)
		fail_msg("%s of %s on %s: %lld of %lld", osp_limit_name(id), model,
			 node ? node : "-", (long long)least->value,
			 (long long)(peak ? peak->value : 0));
	(*judged)++;
}

static void shipped_speeds_are_possible(void **state)
{
	static const enum osp_limit_id speeds[] = {
		OSP_LIMIT_HBM_GBPS,    OSP_LIMIT_HOST_COPY_GBPS,  OSP_LIMIT_PEER_GBPS,
		OSP_LIMIT_BF16_TFLOPS, OSP_LIMIT_ALL_REDUCE_GBPS, OSP_LIMIT_GANG_ALL_REDUCE_GBPS};
	static const struct {
		const char *node, *model;
	} nodes[] = {
		{"p4d.24xlarge", "NVIDIA A100-SXM4-40GB"},
		{"p4de.24xlarge", "NVIDIA A100-SXM4-80GB"},
		{"p5.48xlarge", "NVIDIA H100 80GB HBM3"},
		{"p5e.48xlarge", "NVIDIA H200"},
		{"p5en.48xlarge", "NVIDIA H200"},
		{"p6-b200.48xlarge", "NVIDIA B200"},
		{"p6-b300.48xlarge", "NVIDIA B300 SXM6 AC"},
	};
	struct osp_thresholds *thresholds = osp_thresholds_new();
	const struct osp_limit_entry *entry;
	size_t judged = 0;

	(void)state;
	assert_int_equal(osp_thresholds_add(thresholds, "f", osp_thresholds_builtin,
					    strlen(osp_thresholds_builtin), NULL, 0, NULL),
			 0);
	for (size_t s = 0; s < sizeof(speeds) / sizeof(speeds[0]); s++) {
		for (size_t i = 0; (entry = osp_thresholds_entry(thresholds, i)); i++)
			if (entry->id == speeds[s] && !strchr(entry->place, '.'))
				possible(thresholds, entry->place, NULL, speeds[s], &judged);
		for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
			possible(thresholds, nodes[i].model, nodes[i].node, speeds[s], &judged);
	}
	assert_true(judged > 30);
	osp_thresholds_free(thresholds);
}

/* Cards are held back by their power limit more than modules are, and so differ more. */
static void shipped_tolerances_know_cards(void **state)
{
	static const char *const cards[] = {
		"NVIDIA A100-PCIE-40GB",
		"NVIDIA A100 80GB PCIe",
		"NVIDIA H100 PCIe",
		"NVIDIA H100 NVL",
		"NVIDIA H200 NVL",
		"Tesla T4",
		"NVIDIA L4",
		"NVIDIA L40",
		"NVIDIA L40S",
		"NVIDIA A10",
		"NVIDIA A10G",
		"NVIDIA A30",
		"NVIDIA A40",
		"NVIDIA RTX PRO 6000 Blackwell Server Edition",
	};
	struct osp_thresholds *thresholds = osp_thresholds_new();

	(void)state;
	assert_int_equal(osp_thresholds_add(thresholds, "f", osp_thresholds_builtin,
					    strlen(osp_thresholds_builtin), NULL, 0, NULL),
			 0);
	for (size_t i = 0; i < sizeof(cards) / sizeof(cards[0]); i++)
		assert_true(osp_thresholds_limit(thresholds, OSP_LIMIT_COMPUTE_BEHIND_PERCENT,
						 cards[i], NULL)
				    ->value == 20);
	assert_true(osp_thresholds_limit(thresholds, OSP_LIMIT_COMPUTE_BEHIND_PERCENT,
					 "NVIDIA H100 80GB HBM3", NULL)
			    ->value == 15);
	osp_thresholds_free(thresholds);
}

/* What has measured such a GPU: add to it only with the hardware's file in tests/gpu/results. */
static bool is_proven(const struct osp_limit_entry *entry)
{
	return (strcmp(entry->place, "NVIDIA H100 80GB HBM3") == 0 ||
		strcmp(entry->place, "NVIDIA H200") == 0) &&
	       entry->id == OSP_LIMIT_HBM_GBPS;
}

/* Each speed that fails a node is marked, but those that is_proven() has. */
static void shipped_speeds_are_marked_unproven(void **state)
{
	static const enum osp_limit_id speeds[] = {
		OSP_LIMIT_HBM_GBPS,
		OSP_LIMIT_HOST_COPY_GBPS,
		OSP_LIMIT_PEER_GBPS,
		OSP_LIMIT_BF16_TFLOPS,
		OSP_LIMIT_ALL_REDUCE_GBPS,
		OSP_LIMIT_GANG_ALL_REDUCE_GBPS,
		OSP_LIMIT_HBM_FAR_BEHIND_PERCENT,
		OSP_LIMIT_COMPUTE_FAR_BEHIND_PERCENT,
		OSP_LIMIT_HOST_COPY_FAR_BEHIND_PERCENT,
		OSP_LIMIT_PEER_FAR_BEHIND_PERCENT,
	};
	struct osp_thresholds *thresholds = osp_thresholds_new();
	const struct osp_limit_entry *entry;
	size_t marked = 0;

	(void)state;
	assert_int_equal(osp_thresholds_add(thresholds, "f", osp_thresholds_builtin,
					    strlen(osp_thresholds_builtin), NULL, 0, NULL),
			 0);
	assert_false(osp_thresholds_unproven_fails(thresholds));
	for (size_t i = 0; (entry = osp_thresholds_entry(thresholds, i)); i++) {
		bool speed = false;

		for (size_t s = 0; s < sizeof(speeds) / sizeof(speeds[0]); s++)
			speed = speed || entry->id == speeds[s];
		if (entry->limit.unproven != (speed && !is_proven(entry)))
			fail_msg("%s of %s: %s", osp_limit_name(entry->id), entry->place,
				 entry->limit.unproven ? "marked unproven, and no speed, or proven"
						       : "not marked unproven");
		marked += speed;
	}
	assert_true(marked > 40);
	osp_thresholds_free(thresholds);
}

/* A site's own limit counts as proven, and so do all where it says so. */
static void a_site_may_trust_its_limits(void **state)
{
	static const char shipped[] =
		"{unproven: warn, limits: {hbm_gbps: {value: 100, unproven: true}}}";
	struct osp_thresholds *thresholds = osp_thresholds_new();

	(void)state;
	assert_int_equal(
		osp_thresholds_add(thresholds, "f", shipped, strlen(shipped), NULL, 0, NULL), 0);
	assert_true(osp_thresholds_limit(thresholds, OSP_LIMIT_HBM_GBPS, NULL, NULL)->unproven);
	assert_false(osp_thresholds_unproven_fails(thresholds));
	assert_int_equal(osp_thresholds_add(thresholds, "g", "unproven: fail", 14, NULL, 0, NULL),
			 0);
	assert_true(osp_thresholds_unproven_fails(thresholds));
	assert_int_equal(
		osp_thresholds_add(thresholds, "h", "limits: {hbm_gbps: 90}", 22, NULL, 0, NULL),
		0);
	assert_false(osp_thresholds_limit(thresholds, OSP_LIMIT_HBM_GBPS, NULL, NULL)->unproven);
	osp_thresholds_free(thresholds);
}

static void the_hash_is_that_of_the_texts(void **state)
{
	static const char *const texts[] = {"limits: {nvlinks: 18}\n", "limits: {nvlinks: 17}\n"};
	struct osp_thresholds *one = osp_thresholds_new(), *two = osp_thresholds_new();
	uint64_t hash = 0;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(
			osp_thresholds_add(one, "f", texts[i], strlen(texts[i]), NULL, 0, NULL), 0);
		assert_int_equal(osp_thresholds_add(two, "f", texts[1 - i], strlen(texts[1 - i]),
						    NULL, 0, NULL),
				 0);
		hash = osp_thresholds_hash_text(hash, texts[i], strlen(texts[i]));
		assert_true(osp_thresholds_hash(one) == hash);
		assert_true(osp_thresholds_hash(two) != hash); /* the order counts */
	}
	/* as a pass has it on disk */
	assert_true(osp_thresholds_hash_text(0, "abc", 3) == UINT64_C(0x34186a89cedc1e56));
	/* so does each */
	assert_true(hash != osp_thresholds_hash_text(0, texts[1], strlen(texts[1])));
	osp_thresholds_free(one);
	osp_thresholds_free(two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nearest_place_wins),
		cmocka_unit_test(a_model_is_named_by_whole_words),
		cmocka_unit_test(a_later_file_wins_where_it_speaks),
		cmocka_unit_test(modes),
		cmocka_unit_test(modes_of_a_sites_own),
		cmocka_unit_test(names_of_a_sites_own),
		cmocka_unit_test(refusals),
		cmocka_unit_test(impossible_values_are_refused),
		cmocka_unit_test(shipped_limits_are_possible_and_have_sources),
		cmocka_unit_test(shipped_limits_agree_with_the_catalogue),
		cmocka_unit_test(shipped_speeds_are_possible),
		cmocka_unit_test(shipped_tolerances_know_cards),
		cmocka_unit_test(shipped_speeds_are_marked_unproven),
		cmocka_unit_test(a_site_may_trust_its_limits),
		cmocka_unit_test(the_hash_is_that_of_the_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
