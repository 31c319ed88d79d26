/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_kmsg.c - kernel records: an XID has a number and an address, and only the kernel reports one
 *
 * Parser: check/base/kmsg.c
 */
#include "tests/fuzz/fuzz.h"

#include "check/base/kmsg.h"

static void check_line(char *line)
{
	bool user = strncmp(line, "12,", 3) == 0;
	struct osp_kmsg_record record;
	struct osp_xid xid;

	if (!osp_kmsg_parse(line, &record))
		return;
	fuzz_check(record.text >= line);
	if (!osp_sxid_parse(&record, &xid) && !osp_xid_parse(&record, &xid))
		return;
	fuzz_check(!user && record.facility == 0);
	fuzz_check(xid.number <= (xid.of_switch ? 99999 : 9999) &&
		   strlen(xid.address) < sizeof(xid.address));
	fuzz_check(osp_xid_action(xid.number) <= OSP_XID_UNKNOWN && osp_xid_words(xid.number));
}

FUZZER(kmsg)
{
	char *text = malloc(size + 1), *line, *rest = NULL;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		check_line(line);
	free(text);
	return 0;
}
