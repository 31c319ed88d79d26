/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_history_file.c - lines are kept whole, by root alone, and read whatever happened to them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <signal.h>

#include <cmocka.h>

#include "host/record/history_file.h"
#include "host/record/history_line.h"

static char folder[64];

static int set_up(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/onespine-history-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

static int append(const char *key, const char *line, uint64_t most, struct osp_error *error)
{
	const struct osp_history_place place = {folder, key, most, 2};

	return osp_history_append(&place, line, 20000, error);
}

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void has(const char *name, const char *text)
{
	FILE *file = fopen(path_of(name), "r");
	char found[4096];
	size_t length;

	if (!text) {
		assert_null(file);
		return;
	}
	assert_non_null(file);
	length = fread(found, 1, sizeof(found) - 1, file);
	found[length] = '\0';
	fclose(file);
	assert_string_equal(found, text);
}

static void put(const char *name, const char *text)
{
	FILE *file = fopen(path_of(name), "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void full_files_are_set_aside(void **state)
{
	(void)state;
	for (int i = 0; i < 7; i++) {
		char line[16];

		snprintf(line, sizeof(line), "line %d", i);
		assert_int_equal(append("n", line, 14, NULL), 0);
	}
	has("n.jsonl", "line 6\n");
	has("n.jsonl.1", "line 4\nline 5\n");
	has("n.jsonl.2", "line 2\nline 3\n");
	has("n.jsonl.3", NULL);
	/* a line that is longer than a file has one of its own */
	assert_int_equal(append("n", "longer than a file", 14, NULL), 0);
	has("n.jsonl", "longer than a file\n");
}

/* Runs of one boot, a day apart. */
static void append_run(int number, const char *verdict, size_t padding, uint64_t most)
{
	static char line[200000];
	int length = snprintf(
		line, sizeof(line),
		"{\"v\":1,\"id\":\"%d\",\"time_s\":%d,\"node\":\"n1\",\"instance\":\"i-1\","
		"\"boot_id\":\"b\",\"verdict\":\"%s\",\"gpus\":{},\"checks\":{\"x\":{\"verdict\":"
		"\"FAIL\",\"mode\":\"comment\",\"results\":[]}},\"figures\":[],\"reason\":\"",
		number, 1767225600 + number * 86400, verdict);

	memset(line + length, 'x', padding);
	strcpy(line + length + padding, "\"}");
	assert_int_equal(append("n", line, most, NULL), 0);
}

struct runs {
	struct osp_history *history;
	char ids[4096];
};

static int take_run(void *context, char *line, size_t length, const char *file, uint64_t number)
{
	struct runs *runs = context;
	char *id = strstr(line, "\"id\":\"") + 6;
	size_t at = strlen(runs->ids);
	const char *why = NULL;

	(void)number;
	if (strstr(file, ".jsonl.0"))
		snprintf(runs->ids + at, sizeof(runs->ids) - at, "%.*s ", (int)strcspn(id, "\""),
			 id);
	return osp_history_take_line(runs->history, line, length, &why) < 0 ? -1 : 0;
}

static size_t strikes(const char *ids)
{
	static const struct osp_history_rule rule = {1767225600 + 20 * 86400, 3, 30};
	struct runs runs = {.history = osp_history_new(), .ids = ""};
	const struct osp_history_reader reader = {take_run, NULL, &runs};
	const struct osp_history_subject *subjects;
	size_t count, found;

	assert_int_equal(osp_history_read_folder(folder, &reader, NULL), 0);
	subjects = osp_history_judge(runs.history, &rule, &count);
	assert_int_equal(count, 1);
	found = subjects[0].strikes;
	assert_string_equal(runs.ids, ids);
	osp_history_free(runs.history);
	return found;
}

/* Each job of a user's lets the node write a line: three strikes outlive as many as they like. */
static void no_number_of_runs_pushes_strikes_out(void **state)
{
	(void)state;
	for (int strike = 0; strike < 3; strike++) {
		append_run(strike * 5, "FAIL", 0, 1000);
		append_run(strike * 5 + 1, "ERROR", 0, 1000);
		append_run(strike * 5 + 2, strike ? "PASS" : "WARN", 100, 1000);
		for (int i = 0; i < 20; i++)
			append_run(1000 + strike * 100 + i, i % 2 ? "WARN" : "PASS", 300, 1000);
	}
	/* KEY.jsonl.0 holds the newest, KEY.jsonl.00 what was before */
	assert_int_equal(strikes("10 12 0 2 5 7 "), 3);
}

/* What a pass looks like that is longer than what is read of a file at a time. */
static void a_long_line_is_read_whole(void **state)
{
	(void)state;
	append_run(0, "FAIL", 150000, 1000000);
	append_run(1, "PASS", 150000, 1000000);
	append_run(2, "PASS", 150000, 1000000);
	append_run(3, "FAIL", 0, 1000000);
	append_run(4, "FAIL", 0, 1000000);
	append_run(5, "PASS", 0, 1000000);
	assert_int_equal(strikes("0 1 3 4 5 "), 2);
}

static void a_torn_line_ends_where_the_next_begins(void **state)
{
	(void)state;
	put("n.jsonl", "whole\ntor");
	assert_int_equal(append("n", "next", 1000, NULL), 0);
	has("n.jsonl", "whole\ntor\nnext\n");
}

/* A limit on the file's size takes what a full disk takes: a part of the line. */
static void on_a_full_disk_the_file_stays_as_it_was(void **state)
{
	const struct rlimit small = {20, RLIM_INFINITY}, before = {RLIM_INFINITY, RLIM_INFINITY};
	struct osp_error error = {.text = ""};

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(append("n", "fits well", 1000, &error), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(append("n", "a line that does not fit any more", 1000, &error), -1);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_string_equal(error.text, "No space left on device");
	has("n.jsonl", "fits well\n");
	assert_int_equal(append("n", "fits", 1000, NULL), 0);
	has("n.jsonl", "fits well\nfits\n");
}

/* Eight writers with forty lines each, and files that fill up meanwhile: none is lost or torn. */
static int count_line(void *context, char *line, size_t length, const char *file, uint64_t number)
{
	(void)file;
	(void)number;
	assert_int_equal(length, 40);
	for (size_t i = 1; i < length; i++)
		assert_int_equal(line[i], line[0]);
	(*(int *)context)++;
	return 0;
}

/* Writes the lines of one writer. Returns 0, or 1 after a message about the line that failed. */
static int write_forty(int writer)
{
	const struct osp_history_place place = {folder, "n", 3000, 9};
	struct osp_error error = {.text = ""};
	char line[41] = "";

	memset(line, 'a' + writer, 40);
	for (int i = 0; i < 40; i++) {
		if (osp_history_append(&place, line, 60000, &error)) {
			fprintf(stderr, "writer %d, line %d: %s\n", writer, i, error.text);
			return 1;
		}
	}
	return 0;
}

static void many_at_once(void **state)
{
	int count = 0, ended = 0, failed = 0, status;
	const struct osp_history_reader reader = {count_line, NULL, &count};

	(void)state;
	for (int writer = 0; writer < 8; writer++) {
		if (!fork())
			_exit(write_forty(writer));
	}
	/* all have ended before anything is asserted: none writes into the next test's folder */
	while (wait(&status) > 0) {
		ended++;
		failed += status != 0;
	}
	assert_int_equal(ended, 8);
	assert_int_equal(failed, 0);
	assert_int_equal(osp_history_read_folder(folder, &reader, NULL), 0);
	assert_int_equal(count, 320);
}

static void only_where_root_alone_writes(void **state)
{
	struct osp_error error = {.text = ""};

	(void)state;
	chmod(folder, 0777);
	assert_int_equal(append("n", "x", 100, &error), -1);
	assert_string_equal(error.text, "others than root may write there, or the file is not "
					"root's alone");
	has("n.jsonl", NULL);
	chmod(folder, 0755);
	put("elsewhere", "");
	assert_int_equal(symlink("elsewhere", path_of("n.jsonl")), 0);
	assert_int_equal(append("n", "x", 100, NULL), -1);
	has("elsewhere", "");
	unlink(path_of("n.jsonl"));
	put("m", "");
	assert_int_equal(link(path_of("m"), strcat(strcpy((char[128]){""}, folder), "/n.jsonl")),
			 0);
	assert_int_equal(append("n", "x", 100, NULL), -1);
	has("m", "");
	unlink(path_of("n.jsonl"));
	put("n.jsonl", "");
	chmod(path_of("n.jsonl"), 0666);
	assert_int_equal(append("n", "x", 100, NULL), -1);
	chmod(path_of("n.jsonl"), 0644);
	assert_int_equal(append("n", "x", 100, NULL), 0);
}

static void keys(void **state)
{
	char key[16];

	(void)state;
	assert_string_equal(osp_history_key("i-0a.b_C", key, sizeof(key)), "i-0a.b_C");
	assert_string_equal(osp_history_key("../../etc/x", key, sizeof(key)), "_._.._etc_x");
	assert_string_equal(osp_history_key("0123456789abcdefgh", key, sizeof(key)),
			    "0123456789abcde");
}

/* --- reading ---------------------------------------------------------------------------------- */

struct found {
	char text[1024];
};

static int note_line(void *context, char *line, size_t length, const char *file, uint64_t number)
{
	struct found *found = context;
	size_t at = strlen(found->text);

	(void)length;
	snprintf(found->text + at, sizeof(found->text) - at, "%s:%d %s|", file, (int)number, line);
	return 0;
}

static void note_complaint(void *context, const char *file, uint64_t line, const char *why)
{
	struct found *found = context;
	size_t at = strlen(found->text);

	snprintf(found->text + at, sizeof(found->text) - at, "%s:%d! %s|", file, (int)line, why);
}

static void what_others_wrote_is_passed_over(void **state)
{
	struct osp_error error = {.text = ""};
	struct found found = {.text = ""};
	const struct osp_history_reader reader = {note_line, note_complaint, &found};

	(void)state;
	put("a.jsonl", "one\ntwo\ntorn");
	put("a.jsonl.1", "older\n");
	put("a.jsonl.x", "no\n");
	put(".hidden.jsonl", "no\n");
	put("b.jsonl", "forged\n");
	chmod(path_of("b.jsonl"), 0646);
	assert_int_equal(symlink("/etc/passwd", path_of("c.jsonl")), 0);
	assert_int_equal(mkdir(path_of("d.jsonl"), 0755), 0);
	assert_int_equal(osp_history_read_folder(folder, &reader, &error), 0);
	assert_string_equal(found.text,
			    "a.jsonl:1 one|a.jsonl:2 two|a.jsonl:3! ends before its end|"
			    "a.jsonl.1:1 older|b.jsonl:0! not a file of root's alone|"
			    "c.jsonl:0! Too many levels of symbolic links|"
			    "d.jsonl:0! not a file of root's alone|");
	chmod(folder, 0757);
	assert_int_equal(osp_history_read_folder(folder, &reader, &error), -1);
	assert_string_equal(error.text, "others than root may write there: nothing in it counts");
	assert_int_equal(osp_history_read_folder("/nonexistent", &reader, NULL), 0);
}

static const char sample[] =
	"{\"v\":1,\"id\":\"0a\",\"time\":\"2026-01-01T00:00:00Z\",\"time_s\":1767225600,"
	"\"node\":\"n1\",\"instance\":\"i-1\",\"boot_id\":\"b\",\"depth\":\"quick\","
	"\"verdict\":\"FAIL\",\"reason\":\"onespine: gpu1 ecc 3 > 0; replace\","
	"\"gpus\":{\"gpu0\":\"GPU-a\",\"gpu1\":\"GPU-b\"},"
	"\"checks\":{\"ecc\":{\"verdict\":\"FAIL\",\"mode\":\"enforce\",\"results\":["
	"{\"verdict\":\"FAIL\",\"subject\":\"gpu1\",\"value\":\"3\"}]}},"
	"\"figures\":[[\"gpu1\",\"temperature_c\",40],[\"mlx5_0:1\",\"link_downed\",2]]}";

static void a_line(void **state)
{
	static const struct osp_history_rule rule = {1767225600, 1, 30};
	struct osp_history *history = osp_history_new();
	const struct osp_history_subject *subjects;
	const char *why;
	size_t count;

	(void)state;
	assert_int_equal(osp_history_take_line(history, sample, strlen(sample), &why), 1);
	assert_int_equal(osp_history_take_line(history, sample, strlen(sample), &why), 0);
	subjects = osp_history_judge(history, &rule, &count);
	assert_int_equal(count, 3);
	assert_string_equal(subjects[0].key, "i-1");
	assert_string_equal(subjects[1].key, "GPU-b");
	assert_string_equal(subjects[1].last_check, "ecc");
	assert_true(subjects[1].lemon);
	assert_string_equal(subjects[2].key, "GPU-a");
	assert_int_equal(subjects[2].last, OSP_HISTORY_PASS);
	osp_history_trends(history, "GPU-b", &count);
	assert_int_equal(count, 1);
	osp_history_free(history);
}

/* Cut at any byte it is none; with any byte changed it is taken or refused, and nothing breaks. */
static void a_torn_or_spoilt_line(void **state)
{
	struct osp_history *history = osp_history_new();
	size_t length = strlen(sample);
	char line[sizeof(sample)];
	const char *why;

	(void)state;
	for (size_t i = 0; i < length; i++) {
		assert_int_equal(osp_history_take_line(history, sample, i, &why), -1);
		assert_non_null(why);
	}
	for (size_t i = 0; i < length; i++) {
		for (const char *c = "\"{}[]x9\\,\n"; *c; c++) {
			strcpy(line, sample);
			line[i] = *c;
			if (osp_history_take_line(history, line, length, &why) < 0)
				assert_non_null(why);
		}
	}
	osp_history_free(history);
}

static void lines_that_are_none(void **state)
{
	static const struct {
		const char *line;
		const char *why;
	} cases[] = {
		{"[]", "no JSON"},
		{"{\"v\":2}", "not of a version known here"},
		{"{\"v\":1}", "time_s, node and verdict are expected"},
		{"{\"v\":1,\"v\":1}", "no JSON"},
		{"{\"v\":1,\"time_s\":1,\"node\":\"n\",\"verdict\":\"PASS\"}",
		 "gpus, checks and figures are expected"},
		{"{\"v\":1,\"time_s\":1,\"node\":\"n\",\"verdict\":\"PASS\",\"gpus\":{\"gpu99\":"
		 "\"x\"},\"checks\":{},\"figures\":[]}",
		 "a GPU is a number and a UUID"},
		{"{\"v\":1,\"time_s\":1,\"node\":\"n\",\"verdict\":\"PASS\",\"gpus\":{},"
		 "\"checks\":{},\"figures\":[[\"a\",\"b\",\"c\"]]}",
		 "a figure is a subject, a name and a number"},
	};
	struct osp_history *history = osp_history_new();
	const char *why;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(
			osp_history_take_line(history, cases[i].line, strlen(cases[i].line), &why),
			-1);
		assert_string_equal(why, cases[i].why);
	}
	osp_history_free(history);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FOLDER(full_files_are_set_aside),
		WITH_FOLDER(no_number_of_runs_pushes_strikes_out),
		WITH_FOLDER(a_long_line_is_read_whole),
		WITH_FOLDER(a_torn_line_ends_where_the_next_begins),
		WITH_FOLDER(on_a_full_disk_the_file_stays_as_it_was),
		WITH_FOLDER(many_at_once),
		WITH_FOLDER(only_where_root_alone_writes),
		cmocka_unit_test(keys),
		WITH_FOLDER(what_others_wrote_is_passed_over),
		cmocka_unit_test(a_line),
		cmocka_unit_test(a_torn_or_spoilt_line),
		cmocka_unit_test(lines_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
