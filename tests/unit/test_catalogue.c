/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The catalogue of node types and facts: what is read, every refusal in its exact words, ours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/env/catalogue.h"
#include "lib/env/facts.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int add(struct osp_catalogue *catalogue, uint32_t rank, const char *text,
	       struct osp_error *error)
{
	return osp_catalogue_add(catalogue, rank, "t.yaml", text, strlen(text), error);
}

static struct osp_catalogue *ours(void)
{
	struct osp_catalogue *catalogue = osp_catalogue_new(NULL);
	struct osp_error error = {.text = ""};
	const char *source = getenv("srcdir");
	char folder[512], words[900];

	snprintf(folder, sizeof(folder), "%s/etc/instances", source ? source : ".");
	if (osp_catalogue_add_folder(catalogue, folder, 0, &error))
		fail_msg("%s", osp_error_format(&error, words, sizeof(words)));
	return catalogue;
}

static void what_is_not_said_is_unknown(void **state)
{
	struct osp_catalogue *catalogue = osp_catalogue_new(NULL);
	const struct osp_instance *instance;

	(void)state;
	assert_int_equal(add(catalogue, 0, "source: x\ninstances:\n  a:\n    vcpus: 8\n", NULL), 0);
	instance = osp_catalogue_find(catalogue, "a", NULL);
	assert_non_null(instance);
	assert_int_equal(instance->vcpus, 8);
	assert_int_equal(instance->accelerators, -1);
	assert_int_equal(instance->nvlink, -1);
	assert_int_equal(instance->rdma_read, OSP_UNKNOWN);
	assert_null(instance->fabric);
	assert_string_equal(instance->source, "x");
	assert_int_equal(instance->line, 3);
	osp_catalogue_free(catalogue);
	osp_catalogue_free(NULL);
}

static void a_site_stands_over_ours(void **state)
{
	static const char text[] = "instances: {a: {source: s, vcpus: 8, fabric: efa}}";
	static const char site[] = "instances: {a: {source: t, vcpus: 4}, b: {source: u}}";
	struct osp_catalogue *catalogue = osp_catalogue_new(NULL);
	const struct osp_instance *instance;

	(void)state;
	assert_int_equal(add(catalogue, 0, text, NULL), 0);
	assert_int_equal(add(catalogue, 1, site, NULL), 0);
	assert_int_equal(osp_catalogue_count(catalogue), 2);
	instance = osp_catalogue_find(catalogue, "a", NULL);
	assert_int_equal(instance->vcpus, 4);
	assert_null(instance->fabric); /* the whole type, not key by key */
	osp_catalogue_free(catalogue);
}

static void refusals(void **state)
{
	static const struct {
		const char *text;
		const char *words;
	} cases[] = {
		{"instances:\n  a:\n    source: s\n    vcpuss: 8\n",
		 "t.yaml:4:5: unknown key 'vcpuss'; did you mean vcpus?"},
		{"instnces: {}\n", "t.yaml:1:1: unknown key 'instnces'; did you mean instances?"},
		{"instances:\n  a:\n    vcpus: 8\n",
		 "t.yaml:2:3: a: a source is expected, here or at the top of the file"},
		{"source: s\ninstances:\n  a:\n    fabric: eaf\n",
		 "t.yaml:4:13: fabric: one of efa, infiniband, roce, slingshot, ethernet is "
		 "expected, not 'eaf'; did you mean efa?"},
		{"source: s\ninstances:\n  a:\n    accelerators: many\n",
		 "t.yaml:4:19: accelerators: a whole number from 0 to 1024 is expected, not "
		 "'many'"},
		{"source: s\ninstances:\n  a:\n    rdma_read: maybe\n",
		 "t.yaml:4:16: rdma_read: true or false is expected, not 'maybe'"},
		{"source: s\ninstances: [a]\n",
		 "t.yaml:2:12: instances: a map of types by name is expected"},
		{"source: s\ninstances:\n  a:\n    gpu_device: 0x2330\n",
		 "t.yaml:4:17: gpu_device: a PCI vendor and device, as 10de:2330, is expected, not "
		 "'0x2330'"},
		{"source: s\ninstances:\n  a:\n    gpu_device: 10DE:2330\n",
		 "t.yaml:4:17: gpu_device: a PCI vendor and device, as 10de:2330, is expected, not "
		 "'10DE:2330'"},
		{"source: s\ninstances:\n  a: {chassis_tag: x, accelerators: 8}\n",
		 "t.yaml:3:3: a: chassis_tag needs gpu_device and accelerators, which tell the "
		 "type"},
		{"source: s\ninstances:\n  a: {chassis_tag: x, gpu_device: 10de:2330}\n",
		 "t.yaml:3:3: a: chassis_tag needs gpu_device and accelerators, which tell the "
		 "type"},
		{"source: s\ninstances:\n  a: {}\n  a: {}\n",
		 "t.yaml:4:3: key 'a' is given twice (first in line 3)"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_catalogue *catalogue = osp_catalogue_new(NULL);
		struct osp_error error = {.text = ""};
		char words[900];

		assert_int_equal(add(catalogue, 0, cases[i].text, &error), -1);
		assert_string_equal(osp_error_format(&error, words, sizeof(words)), cases[i].words);
		osp_catalogue_free(catalogue);
	}
}

static void twice_in_two_files_is_refused(void **state)
{
	struct osp_catalogue *catalogue = osp_catalogue_new(NULL);
	struct osp_error error = {.text = ""};

	(void)state;
	assert_int_equal(add(catalogue, 0, "instances: {a: {source: s}}", NULL), 0);
	assert_int_equal(add(catalogue, 0, "\ninstances: {a: {source: s}}", &error), -1);
	assert_string_equal(error.text, "a is given twice (first at t.yaml:1)");
	assert_int_equal(error.line, 2);
	osp_catalogue_free(catalogue);
}

static void names_are_found(void **state)
{
	static const struct {
		const char *name, *words;
	} called[] = {
		{"p5.48xl", "the catalogue has no type 'p5.48xl'; did you mean p5.48xlarge?"},
		{"h100", "the catalogue has no type 'h100'; did you mean dgx-h100, "
			 "Standard_ND96isr_H100_v5, BM.GPU.H100.8?"},
		{"G6", "the catalogue has no type 'G6'; did you mean g6.xlarge, g6.2xlarge, "
		       "g6.4xlarge, g6.8xlarge, g6.12xlarge, g6.16xlarge or another of 16?"},
		{"P6-B200", "the catalogue has no type 'P6-B200'; did you mean p6-b200.48xlarge?"},
		{"", "the catalogue has no type ''"},
		{"laptop", "the catalogue has no type 'laptop'"},
		/* other digits: rather a type that the catalogue does not have yet */
		{"BM.GPU.GB200-v9.4",
		 "the catalogue has no type 'BM.GPU.GB200-v9.4'; if it is newer than the "
		 "catalogue, describe it in a file of instances.d (doc/environment.md); the "
		 "nearest is BM.GPU.GB200-v2.4"},
		{"p9.48xlarge",
		 "the catalogue has no type 'p9.48xlarge'; if it is newer than the catalogue, "
		 "describe it in a file of instances.d (doc/environment.md); the nearest is "
		 "p5.48xlarge"},
		{"BM.GPU.GB200-2v.4", "the catalogue has no type 'BM.GPU.GB200-2v.4'; did you mean "
				      "BM.GPU.GB200-v2.4?"},
	};
	struct osp_catalogue *catalogue = ours();
	struct osp_error error = {.text = ""};

	(void)state;
	assert_null(osp_catalogue_find(catalogue, "p5.48xlareg", &error));
	assert_string_equal(error.text, "the catalogue has no type 'p5.48xlareg'; did you mean "
					"p5.48xlarge?");
	/* the end of several */
	osp_error_clear(&error);
	assert_null(osp_catalogue_find(catalogue, "48xlarge", &error));
	assert_non_null(strstr(error.text, "'48xlarge'; did you mean g"));
	assert_non_null(strstr(error.text, ".48xlarge, "));
	assert_null(strstr(error.text, ".xlarge"));
	/* what people call them */
	for (size_t i = 0; i < sizeof(called) / sizeof(called[0]); i++) {
		osp_error_clear(&error);
		assert_null(osp_catalogue_find(catalogue, called[i].name, &error));
		assert_string_equal(error.text, called[i].words);
	}
	assert_string_equal(osp_catalogue_of_product(catalogue, "p5.48xlarge")->name,
			    "p5.48xlarge");
	assert_string_equal(osp_catalogue_of_product(catalogue, "DGXA100 920-23687-2530-000")->name,
			    "dgx-a100");
	assert_string_equal(osp_catalogue_of_product(catalogue, "HPE_CRAY_EX235A")->name, "mi250x");
	assert_null(osp_catalogue_of_product(catalogue, "Virtual Machine"));
	osp_catalogue_free(catalogue);
}

#define AZURE "7783-7084-3265-9085-8269-3286-77"
#define OCI   "OracleCloud.com"

static void clouds_are_recognised(void **state)
{
	static const struct {
		struct osp_node_shows shows;
		const char *type, *provider;
	} cases[] = {
		{{"Virtual Machine", AZURE, "10de:20b0", "infiniband", 8},
		 "Standard_ND96asr_v4",
		 "azure"},
		{{"Virtual Machine", AZURE, "10de:20b2", "infiniband", 8},
		 "Standard_ND96amsr_A100_v4",
		 "azure"},
		{{"Virtual Machine", AZURE, "10de:2330", "infiniband", 8},
		 "Standard_ND96isr_H100_v5",
		 "azure"},
		{{"ORACLE SERVER", OCI, "10de:2330", "roce", 8}, "BM.GPU.H100.8", "oci"},
		/* a GPU that is gone makes no other type of it, one too many does */
		{{"ORACLE SERVER", OCI, "10de:2330", "roce", 7}, "BM.GPU.H100.8", "oci"},
		{{"ORACLE SERVER", OCI, "10de:2330", "roce", 9}, NULL, "oci"},
		/* another fabric, none seen, other GPUs, none, several models: of that cloud at
		 * least */
		{{"Virtual Machine", AZURE, "10de:2330", "roce", 8}, NULL, "azure"},
		{{"Virtual Machine", AZURE, "10de:2330", "", 8}, NULL, "azure"},
		{{"Virtual Machine", AZURE, "10de:1eb8", "", 4}, NULL, "azure"},
		{{"Virtual Machine", AZURE, "", "infiniband", 0}, NULL, "azure"},
		{{"Virtual Machine", AZURE, "", "infiniband", 8}, NULL, "azure"},
		/* Hyper-V elsewhere; no tag; a product that tells the type */
		{{"Virtual Machine", "None", "10de:2330", "infiniband", 8}, NULL, NULL},
		{{"Virtual Machine", "", "10de:2330", "infiniband", 8}, NULL, NULL},
		{{"p5.48xlarge", "Amazon EC2", "10de:2330", "efa", 8}, "p5.48xlarge", NULL},
		{{"p5.48xlarge", AZURE, "10de:20b0", "infiniband", 8}, "p5.48xlarge", NULL},
	};
	struct osp_catalogue *catalogue = ours();

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_recognised got;

		osp_catalogue_recognise(catalogue, &cases[i].shows, &got);
		if (!got.type != !cases[i].type || !got.provider != !cases[i].provider)
			fail_msg("case %zu: %s of %s", i, got.type ? got.type->name : "no type",
				 got.provider ? got.provider : "nobody");
		if (cases[i].type)
			assert_string_equal(got.type->name, cases[i].type);
		if (cases[i].provider)
			assert_string_equal(got.provider, cases[i].provider);
		assert_null(got.rivals[0]);
	}
	osp_catalogue_free(catalogue);
}

static void what_nothing_tells_apart_is_unknown(void **state)
{
	static const char text[] =
		"source: s\n"
		"instances:\n"
		"  a: {provider: p, chassis_tag: c*, gpu_device: '10de:2330', accelerators: 8}\n"
		"  b: {provider: p, chassis_tag: c*, gpu_device: '10de:2330', accelerators: 8}\n"
		"  half: {provider: p, chassis_tag: c*, gpu_device: '10de:2330', accelerators: "
		"4}\n";
	struct osp_node_shows shows = {"", "cloud", "10de:2330", "", 8};
	struct osp_catalogue *catalogue = osp_catalogue_new(NULL);
	struct osp_recognised got;

	(void)state;
	assert_int_equal(add(catalogue, 0, text, NULL), 0);
	osp_catalogue_recognise(catalogue, &shows, &got);
	assert_null(got.type);
	assert_string_equal(got.rivals[0]->name, "a");
	assert_string_equal(got.rivals[1]->name, "b");
	assert_string_equal(got.provider, "p");
	shows.gpus = 4; /* the number decides */
	osp_catalogue_recognise(catalogue, &shows, &got);
	assert_string_equal(got.type->name, "half");
	shows.gpus = 3; /* three are less than any has */
	osp_catalogue_recognise(catalogue, &shows, &got);
	assert_null(got.type);
	assert_non_null(got.rivals[1]);
	osp_catalogue_free(catalogue);
}

/* Every type of ours says at least what the rules ask about, and where it is from. */
static void ours_is_whole(void **state)
{
	static const char *const types[] = {
		"p3dn.24xlarge",
		"p4d.24xlarge",
		"p4de.24xlarge",
		"p5.4xlarge",
		"p5.48xlarge",
		"p5e.48xlarge",
		"p5en.48xlarge",
		"p6-b200.48xlarge",
		"p6-b300.48xlarge",
		"p6e-gb200.36xlarge",
		"g4dn.xlarge",
		"g4dn.metal",
		"g5.48xlarge",
		"g6.48xlarge",
		"g6e.48xlarge",
		"g7e.48xlarge",
		"trn1.2xlarge",
		"trn1.32xlarge",
		"trn1n.32xlarge",
		"trn2.48xlarge",
		"trn2u.48xlarge",
		"trn3-gen1",
		"trn3-gen2",
		"inf1.24xlarge",
		"inf2.48xlarge",
		"dgx-a100",
		"dgx-h100",
		"BM.GPU.H100.8",
		"Standard_ND96asr_v4",
		"Standard_ND96isr_H100_v5",
		"infiniband-8gpu",
		"roce-8gpu",
		"mi250x",
	};
	struct osp_catalogue *catalogue = ours();

	(void)state;
	for (size_t i = 0; i < COUNT(types); i++) {
		if (!osp_catalogue_find(catalogue, types[i], NULL))
			fail_msg("no %s", types[i]);
	}
	for (size_t i = 0; i < osp_catalogue_count(catalogue); i++) {
		const struct osp_instance *one = osp_catalogue_at(catalogue, i);

		/* trn3's pages tell of no adapters, those of the UltraServers' newer names of no
		 * GPUs, and nothing is guessed */
		bool reports_fabric = strncmp(one->name, "trn3-", 5) != 0;
		bool counts = strncmp(one->name, "p6e-", 4) != 0 ||
			      strcmp(one->name, "p6e-gb200.36xlarge") == 0;

		if (!one->vendor || (one->accelerators < 1) == counts ||
		    !one->fabric == reports_fabric || !strstr(one->source, "https://"))
			fail_msg("%s lacks vendor, accelerators, fabric or source", one->name);
	}
	osp_catalogue_free(catalogue);
}

static void facts_are_set(void **state)
{
	static const struct {
		const char *list;
		int column;
		const char *words;
	} cases[] = {
		{"ncl=2.21", 1, "unknown fact 'ncl'; did you mean nccl?"},
		{"nccl", 1, "NAME=VALUE, as nccl=2.21, is expected, not 'nccl'"},
		{"nccl=2.21,ofi=1.x", 17, "ofi: a number is expected at 'x' of '1.x'"},
		{"nodes=many", 7, "nodes: a whole number is expected, not 'many'"},
		{"fabric=efaa", 8,
		 "fabric: one of efa, infiniband, roce, slingshot, ethernet is expected, not "
		 "'efaa'; did you mean efa?"},
		{"vendor=intel", 8, "vendor: one of nvidia, amd, aws is expected, not 'intel'"},
		{"container=perhaps", 11, "container: yes or no is expected, not 'perhaps'"},
		{"", 1, "NAME=VALUE, as nccl=2.21, is expected, not ''"},
	};
	struct osp_facts facts;

	(void)state;
	memset(&facts, 0, sizeof(facts));
	assert_int_equal(
		osp_facts_set_list(&facts, "nccl=2.21,nodes=4,container=yes,fabric=efa", NULL), 0);
	assert_int_equal(facts.facts[OSP_FACT_NCCL].version.parts[1], 21);
	assert_int_equal(facts.facts[OSP_FACT_NODES].version.parts[0], 4);
	assert_true(facts.facts[OSP_FACT_CONTAINER].flag);
	assert_string_equal(facts.facts[OSP_FACT_FABRIC].text, "efa");
	assert_false(facts.facts[OSP_FACT_OFI].known);
	assert_int_equal(osp_facts_set_list(&facts, "nccl=", NULL), 0);
	assert_false(facts.facts[OSP_FACT_NCCL].known);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_error error = {.text = ""};

		assert_int_equal(osp_facts_set_list(&facts, cases[i].list, &error), -1);
		assert_string_equal(error.text, cases[i].words);
		assert_int_equal(error.column, cases[i].column);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_said_is_unknown),
		cmocka_unit_test(a_site_stands_over_ours),
		cmocka_unit_test(refusals),
		cmocka_unit_test(twice_in_two_files_is_refused),
		cmocka_unit_test(names_are_found),
		cmocka_unit_test(clouds_are_recognised),
		cmocka_unit_test(what_nothing_tells_apart_is_unknown),
		cmocka_unit_test(ours_is_whole),
		cmocka_unit_test(facts_are_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
