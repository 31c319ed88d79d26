/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_history.c - a history of any lines: what is a run counts once, and all are judged
 *
 * Parser: host/record/history_line.c lib/health/history.c
 */
#include "host/record/history_line.h"
#include "tests/fuzz/fuzz.h"

static const struct osp_history_rule rule = {.now_s = 1795496108, .strikes = 3, .strike_days = 14};

/* Takes one line, and again: nothing counts twice that has an id. */
static void take(struct osp_history *history, const char *line, size_t length)
{
	const char *why = NULL, *again = NULL;
	int state = osp_history_take_line(history, line, length, &why);
	size_t before, after;

	osp_history_judge(history, &rule, &before);
	fuzz_check(state >= -1 && state <= 1);
	if (state < 0) {
		fuzz_check(why);
		fuzz_check(osp_history_take_line(history, line, length, &again) < 0 && again);
	} else if (state == 0) {
		fuzz_check(!why && !osp_history_take_line(history, line, length, &again));
	}
	osp_history_judge(history, &rule, &after);
	fuzz_check(before == after && (state < 0 || after));
}

static void check_trends(struct osp_history *history, const char *key)
{
	size_t count;
	const struct osp_history_trend *trends = osp_history_trends(history, key, &count);

	for (size_t i = 0; i < count; i++) {
		fuzz_check(trends[i].subject && trends[i].name && trends[i].count);
		fuzz_check(trends[i].least <= trends[i].most);
		fuzz_check(trends[i].first >= trends[i].least && trends[i].last <= trends[i].most);
	}
}

static void check_growths(struct osp_history *history, const char *key)
{
	size_t count;
	const struct osp_history_growth *growths = osp_history_growths(history, key, &count);

	for (size_t i = 0; i < count; i++) {
		fuzz_check(growths[i].subject && growths[i].name && !strcmp(growths[i].key, key));
		fuzz_check(growths[i].more <= INT64_MAX);
		fuzz_check(!i || growths[i].time_s <= growths[i - 1].time_s);
	}
}

static void check_subjects(struct osp_history *history)
{
	size_t count;
	const struct osp_history_subject *subjects = osp_history_judge(history, &rule, &count);

	for (size_t i = 0; i < count; i++) {
		const struct osp_history_subject *one = &subjects[i];

		fuzz_check(one->runs && one->failed <= one->runs);
		fuzz_check(one->strikes <= one->strikes_ever && one->strikes_ever <= one->failed);
		fuzz_check(one->first_s <= one->last_s && one->nodes && one->nodes <= one->runs);
		fuzz_check(one->lemon == (one->strikes >= rule.strikes));
		fuzz_check(!i || one->lemon <= subjects[i - 1].lemon);
		check_trends(history, one->key);
		check_growths(history, one->key);
	}
}

FUZZER(history)
{
	struct osp_history *history = osp_history_new();
	const char *line = (const char *)data, *end = line + size;

	fuzz_check(history);
	while (line < end) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		take(history, line, (size_t)((stop ? stop : end) - line));
		line = stop ? stop + 1 : end;
	}
	check_subjects(history);
	osp_history_free(history);
	return 0;
}
