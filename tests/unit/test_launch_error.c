/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_launch_error.c - why the cloud has launched no instance, as ParallelCluster writes it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "lib/policy/launch_error.h"

static void codes(void **state)
{
	static const char *const none[] = {
		"GPU 3 fell off (Code:Unsupported)",
		"(Code:Unsupport",
		"(Code:)",
		"(Code:two words)",
		"(Code:\033[31m)",
		"(Code:x\n)",
		"(code:Unsupported)",
		"",
		NULL,
	};
	char code[OSP_LAUNCH_CODE_BYTES], longest[2 * OSP_LAUNCH_CODE_BYTES];

	(void)state;
	assert_true(osp_launch_error_code("(Code:InsufficientInstanceCapacity)Failure when "
					  "resuming nodes [root@2023-01-31T21:24:55]",
					  code, sizeof(code)));
	assert_string_equal(code, "InsufficientInstanceCapacity");
	assert_true(osp_launch_error_code("(Code:InvalidAMIID.NotFound)", code, sizeof(code)));
	assert_string_equal(code, "InvalidAMIID.NotFound");
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_false(osp_launch_error_code(none[i], code, sizeof(code)));
	memset(longest, 'a', sizeof(longest));
	memcpy(longest, "(Code:", 6);
	strcpy(longest + 6 + OSP_LAUNCH_CODE_BYTES - 1, ")");
	assert_true(osp_launch_error_code(longest, code, sizeof(code)));
	assert_int_equal(strlen(code), OSP_LAUNCH_CODE_BYTES - 1);
	longest[6 + OSP_LAUNCH_CODE_BYTES - 1] = 'a';
	strcpy(longest + 6 + OSP_LAUNCH_CODE_BYTES, ")");
	assert_false(osp_launch_error_code(longest, code, sizeof(code)));
}

static void words(void **state)
{
	static const struct {
		const char *code, *kind, *says;
	} rows[] = {
		{"InsufficientInstanceCapacity", "capacity",
		 "the cloud has no capacity for n[1-2] now (InsufficientInstanceCapacity); "
		 "ParallelCluster tries again later"},
		{"LimitedInstanceCapacity", "capacity",
		 "the cloud has no capacity for n[1-2] now (LimitedInstanceCapacity); "
		 "ParallelCluster tries again later"},
		{"InsufficientReservedInstanceCapacity", "reservation",
		 "the capacity reservation has no free instance for n[1-2] "
		 "(InsufficientReservedInstanceCapacity); ParallelCluster tries again later"},
		{"MaxSpotInstanceCountExceeded", "quota",
		 "the account's quota leaves no instance for n[1-2] "
		 "(MaxSpotInstanceCountExceeded); AWS raises it in Service Quotas"},
		{"VcpuLimitExceeded", "quota",
		 "the account's quota leaves no instance for n[1-2] (VcpuLimitExceeded); AWS "
		 "raises it in Service Quotas"},
		{"SpotMaxPriceTooLow", "price",
		 "the price offered for spot instances is too low for n[1-2] "
		 "(SpotMaxPriceTooLow); SpotPrice of the compute resource limits it"},
		{"Unsupported", "unsupported",
		 "EC2 does not offer the instances of n[1-2] as they are configured (Unsupported); "
		 "another zone or instance type may do"},
		{"UnauthorizedOperation", "permission",
		 "the head node may not launch n[1-2] (UnauthorizedOperation); its role lacks a "
		 "permission, which clustermgtd's log names"},
		{"InvalidAMIID.NotFound", "other",
		 "EC2 has not launched n[1-2] (InvalidAMIID.NotFound); clustermgtd's log has its "
		 "message"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct osp_text text = OSP_TEXT_INIT;

		assert_string_equal(osp_launch_error_kind(rows[i].code), rows[i].kind);
		osp_launch_error_text(rows[i].code, "n[1-2]", &text);
		assert_string_equal(text.data, rows[i].says);
		osp_text_free(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(codes),
		cmocka_unit_test(words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
