/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_evidence.c - evidence is bounded, and what users bring about goes first */
#include "onespine_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/record/evidence_file.h"

#define WARNED(subject)                                                                            \
	"{\"verdict\":\"WARN\",\"checks\":[{\"name\":\"shm\",\"verdict\":\"WARN\",\"time_ms\":7,"  \
	"\"results\":[{\"verdict\":\"WARN\",\"subject\":\"" subject "\",\"value\":\"%d %%\"}]},"   \
	"{\"name\":\"ecc\",\"verdict\":\"PASS\",\"results\":[{\"verdict\":\"PASS\"}]}]}"

/* --- names ------------------------------------------------------------------------------------ */

static void a_name_says_what_it_is(void **state)
{
	struct osp_evidence evidence = {OSP_EVIDENCE_WARN, "gpu-st-1", 17,
					1767322985,	   0xbadcafe,  0x1234567};
	enum osp_evidence_kind kind = OSP_EVIDENCE_FAIL;
	char name[OSP_EVIDENCE_NAME_BYTES];
	uint32_t saw = 0;

	(void)state;
	assert_true(osp_evidence_name(&evidence, name, sizeof(name)));
	assert_string_equal(name, "epilog-gpu-st-1-17-20260102T030305Z-0badcafe-01234567.json");
	assert_true(osp_evidence_parse(name, &kind, &saw));
	assert_int_equal(kind, OSP_EVIDENCE_WARN);
	assert_int_equal(saw, 0xbadcafe);
	assert_false(osp_evidence_name(&evidence, name, 30));
	evidence.node = "../n1";
	assert_false(osp_evidence_name(&evidence, name, sizeof(name)));
	evidence.node = "";
	assert_false(osp_evidence_name(&evidence, name, sizeof(name)));
}

static void other_names_are_none(void **state)
{
	static const char *const names[] = {
		"",
		".json",
		"notes.txt",
		"fail-n2-17-20260102T030305Z-AbCdEf.json",
		"other-n1-1-x-0badcafe-01234567.json",
		"fail-n1-1-x-0badcafe-01234567.jsonx",
		"failn1-1-x-0badcafe-01234567.json",
		"fail-n1-1-x-0badcafg-01234567.json",
	};
	enum osp_evidence_kind kind;
	uint32_t saw;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_false(osp_evidence_parse(names[i], &kind, &saw));
}

/* --- room ------------------------------------------------------------------------------------- */

static size_t add(struct osp_evidence_file *files, size_t count, const char *kind, int64_t time_s,
		  uint64_t bytes)
{
	snprintf(files[count].name, sizeof(files[count].name), "%s-n1-%lld-t-%08x-00000000.json",
		 kind, (long long)time_s, (unsigned int)time_s);
	files[count].bytes = bytes;
	files[count].time_s = time_s;
	return count + 1;
}

static void the_least_grave_and_oldest_go_first(void **state)
{
	static struct osp_evidence_file files[OSP_EVIDENCE_FILES_MAX + 1];
	size_t count = 0;

	(void)state;
	count = add(files, count, "fail", 1, 10);
	count = add(files, count, "epilog", 9, 10);
	count = add(files, count, "error", 2, 10);
	count = add(files, count, "epilog", 8, 10);
	while (count < OSP_EVIDENCE_FILES_MAX)
		count = add(files, count, "fail", (int64_t)count + 100, 10);
	assert_int_equal(osp_evidence_make_room(files, count, OSP_EVIDENCE_WARN, 10), 1);
	assert_int_equal(files[0].time_s, 8);
	count = add(files, count, "error", 3, 10);
	assert_int_equal(osp_evidence_make_room(files, count, OSP_EVIDENCE_ERROR, 10), 2);
	assert_int_equal(files[0].time_s, 8);
	assert_int_equal(files[1].time_s, 9);
}

static void nothing_graver_goes(void **state)
{
	static struct osp_evidence_file files[OSP_EVIDENCE_FILES_MAX];
	size_t count = 0;

	(void)state;
	while (count < OSP_EVIDENCE_FILES_MAX)
		count = add(files, count, "fail", (int64_t)count, 10);
	assert_true(osp_evidence_make_room(files, count, OSP_EVIDENCE_ERROR, 10) == SIZE_MAX);
	assert_int_equal(osp_evidence_make_room(files, count, OSP_EVIDENCE_FAIL, 10), 1);
	assert_int_equal(files[0].time_s, 0);
}

static void bytes_are_bounded_too_and_others_files_stay(void **state)
{
	struct osp_evidence_file files[4];
	size_t count = 0;

	(void)state;
	count = add(files, count, "epilog", 1, OSP_EVIDENCE_BYTES_MAX / 2);
	count = add(files, count, "epilog", 2, OSP_EVIDENCE_BYTES_MAX / 2);
	strcpy(files[count].name, "notes");
	files[count].time_s = 0;
	files[count++].bytes = OSP_EVIDENCE_BYTES_MAX;
	assert_int_equal(osp_evidence_make_room(files, count, OSP_EVIDENCE_WARN, 1), 1);
	assert_int_equal(files[0].time_s, 1);
	assert_int_equal(osp_evidence_make_room(files, count, OSP_EVIDENCE_WARN, 0), 0);
	assert_true(osp_evidence_make_room(files, count, OSP_EVIDENCE_WARN,
					   OSP_EVIDENCE_BYTES_MAX + 1) == SIZE_MAX);
}

/* --- files ------------------------------------------------------------------------------------ */

static char above[64], folder[80];

static int set_up(void **state)
{
	(void)state;
	strcpy(above, "/tmp/onespine-evidence-XXXXXX");
	if (!mkdtemp(above))
		return -1;
	snprintf(folder, sizeof(folder), "%s/evidence", above);
	return 0;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", above);
	return system(command);
}

static int save(enum osp_evidence_kind kind, const char *json, struct osp_error *error)
{
	struct osp_evidence evidence = {
		.kind = kind, .node = "n1", .job = 17, .time_s = 1767322985};
	char name[OSP_EVIDENCE_NAME_BYTES];

	memset(error, 0, sizeof(*error));
	return osp_evidence_save(folder, &evidence, json, 20000, name, error);
}

static size_t count_files(void)
{
	DIR *stream = opendir(folder);
	struct dirent *entry;
	size_t count = 0;

	while (stream && (entry = readdir(stream)))
		count += *entry->d_name != '.';
	if (stream)
		closedir(stream);
	return count;
}

static void a_warning_that_repeats_is_kept_once(void **state)
{
	char json[512];
	struct osp_error error;
	struct stat status;

	(void)state;
	for (int i = 0; i < 20; i++) {
		snprintf(json, sizeof(json), WARNED("/dev/shm"), 80 + i);
		assert_int_equal(save(OSP_EVIDENCE_WARN, json, &error), i == 0);
	}
	assert_int_equal(count_files(), 1);
	snprintf(json, sizeof(json), WARNED("/tmp"), 80);
	assert_int_equal(save(OSP_EVIDENCE_WARN, json, &error), 1);
	assert_int_equal(save(OSP_EVIDENCE_ERROR, "", &error), 1);
	assert_int_equal(save(OSP_EVIDENCE_ERROR, "", &error), 0);
	assert_int_equal(save(OSP_EVIDENCE_FAIL, json, &error), 1);
	assert_int_equal(save(OSP_EVIDENCE_FAIL, json, &error), 1);
	assert_int_equal(count_files(), 5);
	assert_int_equal(stat(folder, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0700);
}

static void never_more_files_than_that(void **state)
{
	char json[512], words[64];
	struct osp_error error;

	(void)state;
	for (int i = 0; i < OSP_EVIDENCE_FILES_MAX + 20; i++) {
		snprintf(words, sizeof(words), "subject-%d", i);
		snprintf(json, sizeof(json),
			 "{\"checks\":[{\"name\":\"shm\",\"verdict\":\"WARN\",\"results\":[{"
			 "\"verdict\":\"WARN\",\"subject\":\"%s\"}]}]}",
			 words);
		assert_int_equal(save(OSP_EVIDENCE_WARN, json, &error), 1);
	}
	assert_int_equal(count_files(), OSP_EVIDENCE_FILES_MAX);
}

static void where_others_write_nothing_is_kept(void **state)
{
	struct osp_error error;

	(void)state;
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(chmod(folder, 0777), 0);
	assert_int_equal(save(OSP_EVIDENCE_FAIL, "{}", &error), -1);
	assert_string_equal(error.text, "others than root may write there");
	assert_int_equal(count_files(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_says_what_it_is),
		cmocka_unit_test(other_names_are_none),
		cmocka_unit_test(the_least_grave_and_oldest_go_first),
		cmocka_unit_test(nothing_graver_goes),
		cmocka_unit_test(bytes_are_bounded_too_and_others_files_stay),
		cmocka_unit_test_setup_teardown(a_warning_that_repeats_is_kept_once, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(never_more_files_than_that, set_up, tear_down),
		cmocka_unit_test_setup_teardown(where_others_write_nothing_is_kept, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
