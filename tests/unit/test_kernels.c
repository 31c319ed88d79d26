/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What host and kernels share: bits of numbers, exactness, and which image goes to which GPU. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "check/gpu/gpu_image.h"
#include "kernels/kernels.h"

static void whole_numbers_are_encoded(void **state)
{
	static const struct {
		int value;
		uint32_t exponent_bits, fraction_bits, bits;
	} cases[] = {
		{0, 8, 7, 0},
		{1, 8, 7, 0x3f80},
		{-1, 8, 7, 0xbf80},
		{127, 8, 7, 0x42fe},
		{-126, 8, 7, 0xc2fc},
		{1, 5, 10, 0x3c00},
		{2, 5, 10, 0x4000},
		{127, 5, 10, 0x57f0},
		{-127, 5, 10, 0xd7f0},
		{1, 4, 3, 0x38},
		{2, 4, 3, 0x40},
		{-2, 4, 3, 0xc0},
		{3, 4, 3, 0x44},
		{1, 8, 23, 0x3f800000},
		{127, 8, 23, 0x42fe0000},
		{-127, 8, 23, 0xc2fe0000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(
			osp_encode(cases[i].value, cases[i].exponent_bits, cases[i].fraction_bits),
			cases[i].bits);
	for (int value = -127; value <= 127; value++) {
		float number = (float)value;
		uint32_t bits;

		memcpy(&bits, &number, sizeof(bits));
		assert_int_equal(osp_encode(value, 8, 23), bits);
		assert_int_equal(osp_encode(value, 8, 7), bits >> 16);
	}
}

/* The sum of the magnitudes, so in any order and at any step. */
static void sums_stay_exact(void **state)
{
	static const struct {
		uint32_t k;
		int most;
		uint64_t exact; /* whole numbers below this are */
	} formats[] = {
		{8, 127, 1u << 24},	 {16, 127, 1u << 24},	{8, 127, 1u << 24},
		{32, 2, (1u << 13) + 1}, {4, 4095, 1ull << 53},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		uint64_t most = (uint64_t)formats[i].most;

		assert_true(most * most * formats[i].k * OSP_CHUNKS * OSP_REPEATS <
			    formats[i].exact);
	}
	for (uint32_t k = 0; k < 4096; k++)
		for (uint32_t matrix = 0; matrix < 2; matrix++)
			assert_in_range(osp_element(matrix, k % OSP_TILES, k % 16, k, 2) + 2, 0, 4);
}

static void chains_do_not_round(void **state)
{
	struct osp_chain chain;

	(void)state;
	/* the largest product and the largest summand */
	assert_true(16383.0 * 1019 + 65535 < 16777216);
	assert_true(16777215.0 * 16777213 + 65535 < 9007199254740992.0);
	osp_chain_begin(&chain, 7, 3);
	for (uint32_t step = 0; step < 100000; step++) {
		assert_true(chain.single_ < 16384 && chain.single_ >= 0);
		assert_true(chain.double_ < 16777216 && chain.double_ >= 0);
		osp_chain_step(&chain, step);
	}
}

static void patterns_are_all_different(void **state)
{
	enum { COUNT = 4096 };
	static uint64_t seen[COUNT];

	(void)state;
	for (uint64_t i = 0; i < COUNT; i++) {
		seen[i] = osp_pattern(i, 1);
		for (uint64_t n = 0; n < i; n++)
			assert_true(seen[n] != seen[i]);
	}
	assert_true(osp_pattern(0, 1) != osp_pattern(0, 2));
}

static void each_gpu_gets_its_image(void **state)
{
	static const struct {
		int capability, driver;
		const char *without_fatbin; /* the PTX tried first; NULL: none */
	} cases[] = {
		{90, 12080, "sm_89"}, {90, 12030, "sm_80"},  {90, 11080, "sm_80"},
		{90, 10020, "sm_75"}, {80, 12080, "sm_80"},  {86, 13000, "sm_80"},
		{75, 12080, "sm_75"}, {120, 12080, "sm_89"}, {121, 13000, "sm_89"},
		{70, 12080, NULL},    {90, 10010, NULL},
	};
	struct osp_gpu_image image;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool fatbin = osp_gpu_image_cuda && cases[i].driver >= osp_gpu_image_cuda &&
			      cases[i].capability >= 75;

		if (fatbin) {
			assert_true(
				osp_gpu_image_get(0, cases[i].capability, cases[i].driver, &image));
			assert_string_equal(image.name, "fatbin");
		}
		if (!cases[i].without_fatbin) {
			assert_false(
				osp_gpu_image_get(0, cases[i].capability, cases[i].driver, &image));
			continue;
		}
		assert_true(
			osp_gpu_image_get(fatbin, cases[i].capability, cases[i].driver, &image));
		assert_string_equal(image.name, cases[i].without_fatbin);
		assert_non_null(strstr(image.data, ".entry osp_memory_check("));
		assert_int_equal(strstr(image.data, ".entry osp_tensor_fp8(") != NULL,
				 strcmp(image.name, "sm_89") == 0);
	}
	assert_false(osp_gpu_image_get(9, 90, 13000, &image));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers_are_encoded),
		cmocka_unit_test(sums_stay_exact),
		cmocka_unit_test(chains_do_not_round),
		cmocka_unit_test(patterns_are_all_different),
		cmocka_unit_test(each_gpu_gets_its_image),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
