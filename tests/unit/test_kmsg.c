/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel records and XIDs: what is one, what is not, and what NVIDIA says to do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "check/base/kmsg.h"

/* "NUMBER ADDRESS RECOVERY", "switch ...", or "none" */
static const char *parse(const char *line, char *buffer, size_t buffer_bytes)
{
	char copy[512];
	struct osp_kmsg_record record;
	struct osp_xid xid;

	snprintf(copy, sizeof(copy), "%s", line);
	if (!osp_kmsg_parse(copy, &record))
		snprintf(buffer, buffer_bytes, "no record");
	else if (osp_sxid_parse(&record, &xid))
		snprintf(buffer, buffer_bytes, "switch %u %s%s", xid.number, xid.address,
			 xid.fatal ? " fatal" : "");
	else if (!osp_xid_parse(&record, &xid))
		snprintf(buffer, buffer_bytes, "none");
	else if (xid.gpu_instance >= 0)
		snprintf(buffer, buffer_bytes, "%u %s instance %d %d", xid.number, xid.address,
			 xid.gpu_instance, xid.compute_instance);
	else
		snprintf(buffer, buffer_bytes, "%u %s %d", xid.number, xid.address,
			 (int)xid.recovery);
	return buffer;
}

static void records(void **state)
{
	static const struct {
		const char *line;
		const char *xid;
	} cases[] = {
		{"4,10,900,-;NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.",
		 "79 0000:3b:00 0"},
		{"4,10,900,-,caller=T1;NVRM: Xid (PCI:0000:3b:00.0): 31, pid=1",
		 "31 0000:3b:00.0 0"},
		{"4,10,900,-;NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 "
		 "(None) to 0x2 (Node Reboot Required)",
		 "154 0000:3b:00 2"},
		{"4,10,900,-;NVRM: Xid (PCI:0000:3b:00): 154, odd words", "154 0000:3b:00 -1"},
		{"4,10,900,-;NVRM: Xid (PCI:0000:3b:00): 79", "79 0000:3b:00 0"},
		/* of an instance of a partitioned GPU */
		{"4,10,900,-;NVRM: Xid (PCI:0000:3b:00 GPU-I:05): 94, pid=1, name=a, Contained",
		 "94 0000:3b:00 instance 5 -1"},
		{"4,10,900,-;NVRM: Xid (PCI:0000:3b:00 GPU-I:05 GPU-CI:02): 95, pid=1",
		 "95 0000:3b:00 instance 5 2"},
		{"4,10,900,-;NVRM: Xid (PCI:10000:3b:00): 79, a domain of five digits",
		 "79 10000:3b:00 0"},
		{"4,10,900,-;NVRM: Xid (PCI:0000:3b:00 GPU-X:05): 95, unknown words", "none"},
		{"4,10,900,-;NVRM: Xid (PCI:0000:3b:00 GPU-I:): 95, no number", "none"},
		{"4,10,900,-;NVRM: Xid (PCI:0000:3b:00 GPU-I:99999): 95, much", "none"},
		{"4,10,900,-;NVRM: Xid (PCI:0000:3b:00 GPU-CI:01 GPU-I:01): 95, turned", "none"},
		/* of an NVSwitch */
		{"4,10,900,-;nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 "
		 "LTSSM "
		 "Fault Up",
		 "switch 20034 0000:c1:00.0 fatal"},
		{"3,10,900,-;nvidia-nvswitch12: SXid (PCI:0000:c1:00.0): 22013, Non-fatal, Link 60 "
		 "Minion Link DLREQ interrupt",
		 "switch 22013 0000:c1:00.0"},
		{"3,10,900,-;nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 20034, Severity 1 Engine "
		 "instance 30 Sub-engine instance 00",
		 "none"},
		{"3,10,900,-;nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 20034, Data {0x10000000}",
		 "none"},
		{"12,10,900,-;nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 20034, Fatal, forged",
		 "none"},
		{"4,10,900,-;nvidia-nvswitch0: SXid (PCI:0000:c1:00.0 GPU-I:01): 20034, Fatal",
		 "none"},
		{"4,10,900,-;nvidia-nvswitch0 SXid (PCI:0000:c1:00.0): 20034, Fatal", "none"},
		{"4,10,900,-;nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 999999, Fatal", "none"},
		/* not the kernel's, not the driver's, not whole */
		{"12,10,900,-;NVRM: Xid (PCI:0000:3b:00): 79, forged", "none"},
		{"4,10,900,-; NVRM: Xid (PCI:0000:3b:00): 79, moved", "none"},
		{"4,10,900,-;NVRM: Xid (PCI:0000:3b:00): x", "none"},
		{"4,10,900,-;NVRM: Xid (PCI:0000:3b:00): 79x", "none"},
		{"4,10,900,-;NVRM: Xid (PCI:0000:3b:00): 99999, much", "none"},
		{"4,10,900,-;NVRM: Xid (PCI:): 79, nowhere", "none"},
		{"4,10,900,-;NVRM: Xid (PCI:3b:00): 79, no domain", "none"},
		{"4,10,900,-;NVRM: Xid (PCI:0000:3b:0): 79, half a slot", "none"},
		{"4,10,900,-;NVRM: Xid (PCI:0000:3b:00.): 79, no function", "none"},
		{"4,10,900,-;NVRM: Xid (PCI:0000:3b:00.00): 79, more than one", "none"},
		/* the kernel's words about a user's process of the name "NVRM: Xid (PCI:" in a
		 * control group of the name "x): 79, " */
		{"4,10,900,-;NVRM: Xid (PCI:: page allocation failure: order:4, "
		 "mode:0x40cc0(GFP_KERNEL|__GFP_COMP), nodemask=(null),cpuset=x): 79, "
		 ",mems_allowed=0",
		 "none"},
		{"4,10,900,-;NVRM: Xid (PCI:00000000000000000000000000000:3b:00): 79, far", "none"},
		{"4,10,900,-;NVRM: Xid (PCI:0000:3b:00) 79, no colon", "none"},
		{"4,10,900,-;", "none"},
		{"4,10,900,-", "no record"},
		{"4,10", "no record"},
		{" SUBSYSTEM=pci", "no record"},
		{"-4,10,900,-;NVRM: Xid (PCI:0000:3b:00): 79,", "no record"},
		{"99999999999999999999,1,1,-;x", "no record"},
		{"", "no record"},
	};
	char buffer[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(parse(cases[i].line, buffer, sizeof(buffer)), cases[i].xid);
}

static void netfilters(void **state)
{
	static const struct {
		const char *text;
		bool netfilters;
	} cases[] = {
		{"NVRM: Xid (PCI:0000:3b:00): 79, IN=lo OUT= MAC=00:00 SRC=127.0.0.1", true},
		{"NVRM: Xid (PCI:0000:3b:00): 79, xIN= OUT=eth0 ARP HTYPE=1", true},
		{"IN= OUT=", true},
		{"NVRM: Xid (PCI:0000:3b:00): 79, pid=1, OUT=1 IN=2", false},
		{"NVRM: Xid (PCI:0000:3b:00): 79, IN=1", false},
		{"NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (osp_kmsg_is_netfilters(cases[i].text) != cases[i].netfilters)
			fail_msg("case %zu", i);
}

static void actions(void **state)
{
	static const struct {
		unsigned int number;
		enum osp_xid_action action;
	} cases[] = {
		{0, OSP_XID_UNKNOWN},	{13, OSP_XID_APPLICATION}, {31, OSP_XID_APPLICATION},
		{43, OSP_XID_IGNORE},	{45, OSP_XID_APPLICATION}, {48, OSP_XID_RESET},
		{63, OSP_XID_IGNORE},	{64, OSP_XID_RESET},	   {74, OSP_XID_RESET},
		{79, OSP_XID_REBOOT},	{94, OSP_XID_APPLICATION}, {95, OSP_XID_RESET},
		{109, OSP_XID_EITHER},	{119, OSP_XID_EITHER},	   {120, OSP_XID_RESET},
		{140, OSP_XID_RESET},	{145, OSP_XID_LOOK},	   {151, OSP_XID_REBOOT},
		{154, OSP_XID_UNKNOWN}, {166, OSP_XID_UNKNOWN},	   {9999, OSP_XID_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(osp_xid_action(cases[i].number), cases[i].action);
}

static void count_xid(void *context, const struct osp_xid *xid)
{
	*(unsigned int *)context += xid->number;
}

/* Records that a read cuts anywhere, a line longer than any record, and a last line without end. */
static void a_whole_log(void **state)
{
	char folder[] = "/tmp/onespine-kmsg-XXXXXX", path[64];
	struct osp_kmsg_span span;
	unsigned int sum = 0;
	FILE *log;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/dev", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/dev/kmsg", folder);
	log = fopen(path, "w");
	assert_non_null(log);
	fputs("6,5,7,-;the first that is left\n", log);
	for (int i = 6; i < 3006; i++)
		fprintf(log, "4,%d,1,-;NVRM: Xid (PCI:0000:3b:00): 1, record\n SUBSYSTEM=pci\n", i);
	for (int i = 0; i < 40000; i++)
		fputc('x', log);
	fputs("\n4,9,1,-;NVRM: Xid (PCI:0000:3b:00): 1, after\n", log);
	fputs("4,9,1,-;NVRM: Xid (PCI:0000:3b:00): 1, cut", log);
	fclose(log);
	assert_int_equal(osp_kmsg_xids(folder, count_xid, &sum, &span), 0);
	assert_int_equal(sum, 3001);
	assert_int_equal(span.first, 5);
	assert_int_equal(span.first_us, 7);
	assert_int_equal(span.next, 3006);
	unlink(path);
	assert_int_not_equal(osp_kmsg_xids(folder, count_xid, &sum, NULL), 0);
	snprintf(path, sizeof(path), "%s/dev", folder);
	rmdir(path);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records),
		cmocka_unit_test(netfilters),
		cmocka_unit_test(actions),
		cmocka_unit_test(a_whole_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
