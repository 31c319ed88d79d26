/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_valid.c - any bytes from a check's child: what the runner believes has words that end
 *
 * The first byte chooses what the rest is: a result, a speed, a figure.
 *
 * Parser: check/runner/valid.c
 */
#include <math.h>

#include "check/runner/run_private.h"
#include "tests/fuzz/fuzz.h"

static void check_words(const char *words, size_t bytes)
{
	fuzz_check(memchr(words, '\0', bytes));
	for (; *words; words++)
		fuzz_check((unsigned char)*words >= ' ' && *words != 0x7f);
}

static void take(void *reported, size_t reported_bytes, const uint8_t *data, size_t size)
{
	memset(reported, 0, reported_bytes);
	if (size)
		memcpy(reported, data, size < reported_bytes ? size : reported_bytes);
}

static void take_result(const uint8_t *data, size_t size)
{
	struct osp_result result;

	take(&result, sizeof(result), data, size);
	if (!osp_valid_result(&result))
		return;
	check_words(result.subject, sizeof(result.subject));
	check_words(result.value, sizeof(result.value));
	check_words(result.limit, sizeof(result.limit));
	check_words(result.source, sizeof(result.source));
	check_words(result.why, sizeof(result.why));
	fuzz_check(*osp_verdict_name(result.verdict) != '?' && osp_cure_name(result.cure));
	/* UBSan ends the program here if one of them is no bool */
	fuzz_check(result.speed + result.later + result.twice <= 3);
	fuzz_check(osp_valid_result(&result));
}

static void take_speed(const uint8_t *data, size_t size)
{
	struct osp_speed speed;

	take(&speed, sizeof(speed), data, size);
	if (!osp_valid_speed(&speed))
		return;
	check_words(speed.subject, sizeof(speed.subject));
	check_words(speed.what, sizeof(speed.what));
	check_words(speed.unit, sizeof(speed.unit));
	check_words(speed.model, sizeof(speed.model));
	check_words(speed.held, sizeof(speed.held));
	check_words(speed.doubt, sizeof(speed.doubt));
	/* UBSan ends the program here if it is no bool */
	fuzz_check(speed.judged + 1 <= 2);
	fuzz_check(speed.least <= OSP_LIMIT_COUNT && speed.physics <= OSP_LIMIT_COUNT);
}

static void take_figure(const uint8_t *data, size_t size)
{
	struct osp_figure figure;

	take(&figure, sizeof(figure), data, size);
	if (!osp_valid_figure(&figure))
		return;
	check_words(figure.subject, sizeof(figure.subject));
	check_words(figure.name, sizeof(figure.name));
	fuzz_check(isfinite(figure.value));
}

FUZZER(valid)
{
	if (!size)
		return 0;
	switch (data[0] % 3) {
	case 0:
		take_result(data + 1, size - 1);
		break;
	case 1:
		take_speed(data + 1, size - 1);
		break;
	default:
		take_figure(data + 1, size - 1);
		break;
	}
	return 0;
}
