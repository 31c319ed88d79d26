/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_cloud.c - EC2's XML and AWS's shared files
 *
 * The first byte chooses: 'x' an answer, 'p' a credentials file, 'c' a config file.
 *
 * Parser: lib/cloud/ec2_answer.c lib/cloud/profile.c
 */
#include "lib/cloud/ec2_answer.h"
#include "lib/cloud/profile.h"
#include "tests/fuzz/fuzz.h"

static int check_record(const struct osp_ec2_record *record, void *context, struct osp_error *error)
{
	size_t *count = context;

	(void)error;
	fuzz_check(record->id[0] && record->node_count <= OSP_EC2_NODES_MAX);
	fuzz_check(++*count <= 50);
	return 0;
}

FUZZER(cloud)
{
	const char *text = (const char *)data + 1;
	struct osp_profile profile = {.found = false};
	struct osp_error error = {.text = ""};
	struct osp_ec2_answer answer;
	size_t count = 0;
	int rc = 0;

	if (!size)
		return 0;
	if (data[0] == 'x')
		rc = osp_ec2_read("f", text, size - 1, 50, check_record, &count, &answer, &error);
	else if (data[0] == 'p' || data[0] == 'c')
		rc = osp_profile_read("f", text, size - 1, data[0] == 'c', "x", &profile, &error);
	fuzz_check(!rc == !error.text[0]);
	return 0;
}
