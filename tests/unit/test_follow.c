/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A topology file that is replaced while somebody works with what it said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/text.h"
#include "lib/topology/follow.h"
#include "lib/topology/readers.h"

static const char good[] = "{\"onespine-topology\": 1, \"levels\": [\"leaf\"], \"domains\": [\n"
			   "{\"level\": \"leaf\", \"name\": \"a\", \"nodes\": \"n[1-4]\"}]}\n";

static char folder[] = "/tmp/test_follow.XXXXXX";
static char path[64], aside[64];

static void write_file(const char *name, const char *text)
{
	int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(file >= 0);
	assert_true(osp_write_all(file, text, strlen(text)));
	assert_int_equal(close(file), 0);
}

/* Replaced whole, as who follows it expects. */
static void replace(const char *text)
{
	write_file(aside, text);
	assert_int_equal(rename(aside, path), 0);
}

static int begin(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

/* Looks and keeps the mark, as the shadow does. */
static enum osp_followed look(struct osp_file_mark *mark, char *wrong, size_t wrong_bytes)
{
	struct osp_found_topology found;
	enum osp_followed followed = osp_follow_topology(path, mark, &found);

	if (followed != OSP_FOLLOWED_BUSY && followed != OSP_FOLLOWED_FAILED)
		*mark = found.mark;
	assert_true((followed == OSP_FOLLOWED_NEW) == (found.topology && found.text));
	if (wrong)
		osp_error_format(&found.wrong, wrong, wrong_bytes);
	osp_topology_free(found.topology);
	free(found.text);
	return followed;
}

static void each_change_is_found_once(void **state)
{
	struct osp_file_mark mark = {.seen = false};

	(void)state;
	replace(good);
	assert_int_equal(look(&mark, NULL, 0), OSP_FOLLOWED_NEW);
	assert_int_equal(look(&mark, NULL, 0), OSP_FOLLOWED_SAME);
	replace(good);
	assert_int_equal(look(&mark, NULL, 0), OSP_FOLLOWED_NEW);
	assert_int_equal(look(&mark, NULL, 0), OSP_FOLLOWED_SAME);
}

static void a_bad_one_is_told_once_with_its_place(void **state)
{
	struct osp_file_mark mark = {.seen = false};
	char wrong[512];

	(void)state;
	replace("{\"onespine-topology\": 1,\n \"levels\": [}");
	assert_int_equal(look(&mark, wrong, sizeof(wrong)), OSP_FOLLOWED_BAD);
	assert_non_null(strstr(wrong, "onespine.topology:2:"));
	assert_int_equal(look(&mark, NULL, 0), OSP_FOLLOWED_SAME);
	replace(good);
	assert_int_equal(look(&mark, NULL, 0), OSP_FOLLOWED_NEW);
}

static void one_that_is_gone_is_told_once_and_one_that_comes_back_is_found(void **state)
{
	struct osp_file_mark mark = {.seen = false};
	char wrong[512];

	(void)state;
	assert_int_equal(look(&mark, wrong, sizeof(wrong)), OSP_FOLLOWED_BAD);
	assert_non_null(strstr(wrong, "No such file or directory"));
	assert_int_equal(look(&mark, NULL, 0), OSP_FOLLOWED_SAME);
	replace(good);
	assert_int_equal(look(&mark, NULL, 0), OSP_FOLLOWED_NEW);
	unlink(path);
	assert_int_equal(look(&mark, NULL, 0), OSP_FOLLOWED_BAD);
}

/* A folder or a pipe in its place is bad, and opening a pipe waits for nobody. */
static void what_is_no_file_is_bad(void **state)
{
	struct osp_file_mark mark = {.seen = false};

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(look(&mark, NULL, 0), OSP_FOLLOWED_BAD);
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(look(&mark, NULL, 0), OSP_FOLLOWED_BAD);
	assert_int_equal(rmdir(path), 0);
}

/* The bytes are as many, and `cp --preserve` gave them the time of the old ones. */
static void a_copy_with_the_time_of_the_old_one_is_another(void **state)
{
	struct osp_file_mark mark = {.seen = false};
	struct timespec times[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
	char other[sizeof(good)];

	(void)state;
	replace(good);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	assert_int_equal(look(&mark, NULL, 0), OSP_FOLLOWED_NEW);
	memcpy(other, good, sizeof(good));
	*strstr(other, "n[1-4]") = 'm';
	/* written over in place: the time of a change of the file moves in steps of the kernel's
	 * clock */
	for (int tries = 0; tries < 1000; tries++) {
		struct osp_file_mark now;

		write_file(path, other);
		assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
		now = osp_file_mark(path);
		if (!osp_file_mark_same(&now, &mark))
			break;
	}
	assert_int_equal(look(&mark, NULL, 0), OSP_FOLLOWED_NEW);
}

/* No file descriptor is left for one look, and for the next there is. */
static void a_look_that_fails_says_nothing_of_the_file(void **state)
{
	struct osp_file_mark mark = {.seen = false};
	struct rlimit before, none;
	char wrong[512];

	(void)state;
	replace(good);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	for (int i = 0; i < 2; i++) {
		enum osp_followed followed = look(&mark, wrong, sizeof(wrong));

		if (followed != OSP_FOLLOWED_FAILED)
			setrlimit(RLIMIT_NOFILE, &before);
		assert_int_equal(followed, OSP_FOLLOWED_FAILED);
	}
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_non_null(strstr(wrong, "Too many open files"));
	assert_int_equal(look(&mark, NULL, 0), OSP_FOLLOWED_NEW);
}

/* A stat() that fails otherwise than for a file that is gone. */
static void a_path_that_leads_nowhere_is_looked_at_again(void **state)
{
	struct osp_file_mark mark = {.seen = false};
	struct osp_found_topology found;

	(void)state;
	assert_int_equal(symlink(path, path), 0);
	assert_int_equal(osp_follow_topology(path, &mark, &found), OSP_FOLLOWED_FAILED);
	assert_int_equal(found.cause, ELOOP);
	assert_int_equal(look(&mark, NULL, 0), OSP_FOLLOWED_FAILED);
	replace(good);
	assert_int_equal(look(&mark, NULL, 0), OSP_FOLLOWED_NEW);
}

static void one_that_others_may_write_is_bad(void **state)
{
	struct osp_file_mark mark = {.seen = false};
	char wrong[512];

	(void)state;
	replace(good);
	assert_int_equal(chmod(path, 0646), 0);
	assert_int_equal(look(&mark, wrong, sizeof(wrong)), OSP_FOLLOWED_BAD);
	assert_non_null(strstr(wrong, "onespine.topology: others than its owner may write it"));
	assert_int_equal(look(&mark, NULL, 0), OSP_FOLLOWED_SAME);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(look(&mark, NULL, 0), OSP_FOLLOWED_NEW);
	if (geteuid() != 0)
		return;
	assert_int_equal(chmod(path, 0664), 0);
	assert_int_equal(look(&mark, NULL, 0), OSP_FOLLOWED_NEW);
	assert_int_equal(chown(path, 0, 1), 0);
	assert_int_equal(look(&mark, NULL, 0), OSP_FOLLOWED_BAD);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(look(&mark, NULL, 0), OSP_FOLLOWED_NEW);
	assert_int_equal(chown(path, 65534, 0), 0);
	assert_int_equal(look(&mark, wrong, sizeof(wrong)), OSP_FOLLOWED_BAD);
	assert_non_null(strstr(wrong, "onespine.topology: it belongs neither to root nor to"));
}

static enum osp_followed look_settled(struct osp_file_mark *mark, struct osp_file_mark *before)
{
	struct osp_found_topology found;
	enum osp_followed followed = osp_follow_settled(path, mark, before, &found);

	if (followed == OSP_FOLLOWED_NEW || followed == OSP_FOLLOWED_BAD)
		*mark = found.mark;
	osp_topology_free(found.topology);
	free(found.text);
	return followed;
}

/* Written in place, a part at a time: the first part alone would be a good one. */
static void one_that_is_written_in_place_is_read_when_it_has_settled(void **state)
{
	struct osp_file_mark mark = {.seen = false}, before = {.seen = false};
	int file;

	(void)state;
	write_file(path, good);
	assert_int_equal(look_settled(&mark, &before), OSP_FOLLOWED_BUSY);
	file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_true(file >= 0);
	assert_true(osp_write_all(file, "{", 1));
	assert_int_equal(look_settled(&mark, &before), OSP_FOLLOWED_BUSY);
	assert_int_equal(ftruncate(file, (off_t)strlen(good)), 0);
	assert_int_equal(close(file), 0);
	assert_int_equal(look_settled(&mark, &before), OSP_FOLLOWED_BUSY);
	assert_int_equal(look_settled(&mark, &before), OSP_FOLLOWED_NEW);
	assert_int_equal(look_settled(&mark, &before), OSP_FOLLOWED_SAME);
	unlink(path);
	assert_int_equal(look_settled(&mark, &before), OSP_FOLLOWED_BUSY);
	assert_int_equal(look_settled(&mark, &before), OSP_FOLLOWED_BAD);
	assert_int_equal(look_settled(&mark, &before), OSP_FOLLOWED_SAME);
}

static void knows_one_that_may_change_with_the_same_mark(void **state)
{
	struct osp_file_mark mark;

	(void)state;
	replace(good);
	mark = osp_file_mark(path);
	assert_true(osp_file_mark_fresh(&mark));
	mark.changed.tv_sec -= 10;
	assert_false(osp_file_mark_fresh(&mark));
}

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/onespine.topology", folder);
	snprintf(aside, sizeof(aside), "%s/aside", folder);
	return 0;
}

static void one_that_is_too_large_is_bad(void **state)
{
	struct osp_file_mark mark = {.seen = false};
	char wrong[256];

	(void)state;
	replace(good);
	assert_int_equal(truncate(path, (off_t)OSP_TOPOLOGY_FILE_BYTES_MAX + 1), 0);
	assert_int_equal(look(&mark, wrong, sizeof(wrong)), OSP_FOLLOWED_BAD);
	assert_non_null(strstr(wrong, "File too large"));
	assert_int_equal(look(&mark, NULL, 0), OSP_FOLLOWED_SAME);
}

/* Whatever stat() says differently is another file. */
static void marks_differ_in_all_that_is_looked_at(void **state)
{
	struct osp_file_mark mark, missing;
	struct osp_file_mark others[8];

	(void)state;
	replace(good);
	mark = osp_file_mark(path);
	for (size_t i = 0; i < 8; i++)
		others[i] = mark;
	assert_true(osp_file_mark_same(&mark, &others[0]));
	others[0].seen = false;
	others[1].cause = EACCES;
	others[2].device++;
	others[3].inode++;
	others[4].size_bytes++;
	others[5].written.tv_nsec++;
	others[6].changed.tv_nsec++;
	others[7].written.tv_sec++;
	for (size_t i = 0; i < 8; i++)
		assert_false(osp_file_mark_same(&mark, &others[i]));
	assert_true(osp_file_mark_fresh(&mark));
	mark.changed.tv_sec -= 10;
	assert_false(osp_file_mark_fresh(&mark));
	unlink(path);
	missing = osp_file_mark(path);
	assert_int_equal(missing.cause, ENOENT);
	assert_false(osp_file_mark_fresh(&missing));
	assert_false(osp_file_mark_fresh(&others[0]));
}

/* A look that fails has no second one to wait for. */
static void a_failing_look_is_told_at_once(void **state)
{
	struct osp_file_mark none = {.seen = false}, before = none;
	struct osp_found_topology found;
	char below[96];

	(void)state;
	replace(good);
	snprintf(below, sizeof(below), "%s/x", path);
	assert_int_equal(osp_follow_settled(below, &none, &before, &found), OSP_FOLLOWED_FAILED);
	assert_int_equal(found.cause, ENOTDIR);
	assert_null(found.text);
	/* one that is gone may be about to be replaced */
	unlink(path);
	before = none;
	assert_int_equal(osp_follow_settled(path, &none, &before, &found), OSP_FOLLOWED_BUSY);
	assert_int_equal(osp_follow_settled(path, &none, &before, &found), OSP_FOLLOWED_BAD);
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_change_is_found_once, begin),
		cmocka_unit_test_setup(a_bad_one_is_told_once_with_its_place, begin),
		cmocka_unit_test_setup(
			one_that_is_gone_is_told_once_and_one_that_comes_back_is_found, begin),
		cmocka_unit_test_setup(what_is_no_file_is_bad, begin),
		cmocka_unit_test_setup(a_copy_with_the_time_of_the_old_one_is_another, begin),
		cmocka_unit_test_setup(a_look_that_fails_says_nothing_of_the_file, begin),
		cmocka_unit_test_setup(a_path_that_leads_nowhere_is_looked_at_again, begin),
		cmocka_unit_test_setup(one_that_others_may_write_is_bad, begin),
		cmocka_unit_test_setup(one_that_is_written_in_place_is_read_when_it_has_settled,
				       begin),
		cmocka_unit_test_setup(one_that_is_too_large_is_bad, begin),
		cmocka_unit_test_setup(marks_differ_in_all_that_is_looked_at, begin),
		cmocka_unit_test_setup(a_failing_look_is_told_at_once, begin),
		cmocka_unit_test_setup(knows_one_that_may_change_with_the_same_mark, begin),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
