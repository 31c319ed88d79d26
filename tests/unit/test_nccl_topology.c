/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_nccl_topology.c - NCCL's topologies: what they become, and the place of what is wrong */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/text.h"
#include "lib/bind/bind.h"
#include "lib/bind/nccl_topology.h"

#define CPU(rest)                                                                                  \
	"<system version=\"1\">\n <cpu numaid=\"0\" affinity=\"f\">" rest "</cpu>\n</system>"

static const struct {
	const char *text;
	const char *words; /* line:column: text */
} refused[] = {
	{"<system>\n<cpu>", "2:1: <cpu> has no numaid"},
	{"<system", "1:1: not well-formed XML: unclosed token"},
	{"<system>\n</sytem>", "2:3: not well-formed XML: mismatched tag"},
	{"<system version=\"2\"/>", "1:1: version \"2\" of NCCL's topology; 1 is known"},
	{"<system>\n <cpuu numaid=\"0\"/></system>",
	 "2:2: unknown element <cpuu>; did you mean <cpu>?"},
	{"<cpu/>", "1:1: <cpu> is not the first element expected, <system>"},
	{"<system><pci busid=\"0000:00:00.0\"/></system>",
	 "1:9: <pci> does not belong in <system>"},
	{"<system><cpu numaid=\"one\"/></system>",
	 "1:9: numaid=\"one\": a NUMA node's number is expected"},
	{"<system><cpu numaid=\"1024\" affinity=\"1\"/></system>",
	 "1:9: numaid=\"1024\": a NUMA node's number is expected"},
	{"<system>\n  <cpu numaid=\"1\"/></system>",
	 "2:3: <cpu numaid=\"1\"> has no affinity, so nothing is known of its cores; name the "
	 "machine's type (--for), add what /sys/devices/system/node/node1/cpumap says on the "
	 "machine, or use an hwloc XML file of it"},
	{"<system><cpu numaid=\"0\" affinity=\"fffffffff\"/></system>",
	 "1:9: affinity=\"fffffffff\": hex words of 8 digits with commas are expected"},
	{"<system><cpu numaid=\"0\" affinity=\"f,,f\"/></system>",
	 "1:9: affinity=\"f,,f\": hex words of 8 digits with commas are expected"},
	{"<system><cpu numaid=\"0\" affinity=\"\"/></system>",
	 "1:9: affinity=\"\": hex words of 8 digits with commas are expected"},
	{"<system><cpu numaid=\"0\" affinity=\"1\"/>\n<cpu numaid=\"0\" affinity=\"2\"/></system>",
	 "2:1: NUMA node 0 a second time (line 1 has it too); a file of several hosts cannot be "
	 "read"},
	{"<system><cpu numaid=\"0\" affinity=\"3\"/>\n<cpu numaid=\"1\" affinity=\"2\"/></system>",
	 "2:1: affinity has CPUs that NUMA node 0 (line 1) has too"},
	{"<system><cpu numaid=\"0\" affinity=\"0\"/></system>", "no <cpu> with CPUs in it"},
	{"<system/>", "no <cpu> with CPUs in it"},
	{CPU("<pci/>"), "2:31: <pci> has no busid"},
	{CPU("<pci busid=\"00:00.0\"/>"),
	 "2:31: busid=\"00:00.0\": an address such as 0000:18:00.0 is expected"},
	{CPU("<pci busid=\"0000:00:20.0\"/>"),
	 "2:31: busid=\"0000:00:20.0\": an address such as 0000:18:00.0 is expected"},
	{CPU("<pci busid=\"0000:00:00.8\"/>"),
	 "2:31: busid=\"0000:00:00.8\": an address such as 0000:18:00.0 is expected"},
	{CPU("<pci busid=\"0000:00:01.0\" class=\"gpu\"/>"),
	 "2:31: class=\"gpu\": a hex number is expected"},
	{CPU("<pci busid=\"0000:00:01.0\"/>\n<pci busid=\"0000:00:01.0\"/>"),
	 "3:1: busid 0000:00:01.0 a second time (line 2 has it too)"},
	{CPU("<net name=\"mlx5_0\"/>"), "2:31: <net> does not belong in <cpu>"},
	{"<!DOCTYPE system [<!ENTITY a \"b\">]>\n<system/>",
	 "1:30: entity declarations are not allowed here"},
};

static void test_refused(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct osp_error error = {0};
		char words[1024];
		char *xml = osp_nccl_topology_to_hwloc("", refused[i].text, strlen(refused[i].text),
						       NULL, &error);

		assert_null(xml);
		if (error.line)
			snprintf(words, sizeof(words), "%d:%d: %s", error.line, error.column,
				 error.text);
		else
			snprintf(words, sizeof(words), "%s", error.text);
		assert_string_equal(words, refused[i].words);
	}
}

/* Elements inside one another without end. */
static void test_depth_is_bounded(void **state)
{
	struct osp_text text = OSP_TEXT_INIT;
	struct osp_error error = {0};
	int i;

	(void)state;
	osp_text_add(&text, "<system>");
	for (i = 0; i < 100000; i++)
		osp_text_add(&text, "<x>");
	assert_null(osp_nccl_topology_to_hwloc("f", text.data, text.length_bytes, NULL, &error));
	assert_string_equal(error.text, "more than 32 elements inside one another");
	osp_text_free(&text);
}

static struct osp_machine *read_machine(const char *text)
{
	struct osp_error error = {0};
	struct osp_machine *machine = osp_machine_read("f", text, strlen(text), &error);

	if (!machine)
		fail_msg("%d:%d: %s", error.line, error.column, error.text);
	return machine;
}

/* What has no class is known by what is in it; what is not known is passed over. */
static void test_devices(void **state)
{
	struct osp_machine *machine = read_machine(
		"<system>"
		"<cpu numaid=\"0\" affinity=\"00000001,00000001\">"
		"<pci busid=\"0000:01:00.0\"><pci busid=\"ffff:02:00.0\"><gpu dev=\"0\">"
		"<nvlink target=\"0000:09:00.0\" count=\"2\"/><c2c bw=\"1\"/></gpu></pci>"
		"<pci busid=\"0000:03:00.0\"><nic><net name=\"a&amp;b\"/><net name=\"c\"/></nic>"
		"</pci></pci><somenewelement><gpu/></somenewelement></cpu>"
		"<cpu numaid=\"3\" affinity=\"00000002,00000002\">"
		"<pci busid=\"0001:00:00.0\" class=\"0x030000\" vendor=\"0x10de\" device=\"0x1\"/>"
		"<pci busid=\"0001:01:00.0\" class=\"0x030000\" vendor=\"0x1a03\" "
		"device=\"0x2000\"/>"
		"</cpu>"
		"<cpu numaid=\"4\" affinity=\"0\"><pci busid=\"0002:00:00.0\" class=\"0x030200\"/>"
		"</cpu></system>");

	(void)state;
	assert_int_equal(machine->gpu_count, 3);
	assert_string_equal(machine->gpus[0].bus_id, "0001:00:00.0"); /* VGA, but NVIDIA's */
	assert_string_equal(machine->gpus[1].bus_id, "0002:00:00.0");
	assert_true(hwloc_bitmap_iszero(machine->gpus[1].cpus)); /* memory without cores */
	assert_string_equal(machine->gpus[2].bus_id, "ffff:02:00.0");
	assert_int_equal(machine->gpus[2].near, OSP_NEAR_SWITCH);
	assert_true(hwloc_bitmap_isset(machine->gpus[2].nics, 0));
	assert_int_equal(machine->nic_count, 1);
	assert_string_equal(machine->nics[0].name, "a&b,c");
	assert_int_equal(machine->core_count, 2); /* 0 with 32, 1 with 33 */
	assert_int_equal(machine->threads_most, 2);
	assert_int_equal(machine->domain_count, 2);
	assert_int_equal(machine->domains[1].os_index, 3);
	assert_true(machine->cores_guessed);
	osp_machine_free(machine);
}

/* Where one node's mask is not two equal ranges, each CPU of all is a core. */
static void test_threads_are_guessed_for_all(void **state)
{
	static const struct {
		const char *first;
		const char *second;
		uint32_t cores;
	} cases[] = {
		{"00000003,00000003", "0000000c,0000000c", 4},
		{"00000003,00000003", "0000000c,00000008", 7},
		{"0000000f", "000000f0", 8},
		{"00000005", "0000000a", 2}, /* ranges of one */
		{"00000015", "0000000a", 5},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_machine *machine;
		char text[512];

		snprintf(text, sizeof(text),
			 "<system><cpu numaid=\"0\" affinity=\"%s\"/><cpu numaid=\"1\" "
			 "affinity=\"%s\"/></system>",
			 cases[i].first, cases[i].second);
		machine = read_machine(text);
		assert_int_equal(machine->core_count, cases[i].cores);
		osp_machine_free(machine);
	}
}

/* NCCL's name for a machine without NUMA nodes. */
static void test_no_numa(void **state)
{
	struct osp_machine *machine =
		read_machine("<system><cpu numaid=\"-1\" affinity=\"3\"/></system>");

	(void)state;
	assert_int_equal(machine->domain_count, 1);
	assert_int_equal(machine->domains[0].os_index, 0);
	osp_machine_free(machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused), cmocka_unit_test(test_depth_is_bounded),
		cmocka_unit_test(test_devices), cmocka_unit_test(test_threads_are_guessed_for_all),
		cmocka_unit_test(test_no_numa),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
