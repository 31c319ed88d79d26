/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_own_lock.c - a lock is its owner's alone */
#include "onespine_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/own_lock.h"

#define NAME ".a.lock"

static char path[64];
static int folder;

static int make_folder(void **state)
{
	(void)state;
	strcpy(path, "/tmp/test_own_lock.XXXXXX");
	folder = mkdtemp(path) ? open(path, O_RDONLY | O_DIRECTORY) : -1;
	return folder < 0;
}

static int remove_folder(void **state)
{
	(void)state;
	(void)unlinkat(folder, NAME, 0);
	close(folder);
	return rmdir(path);
}

static mode_t mode_of(const char *name)
{
	struct stat status;

	assert_int_equal(fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW), 0);
	return status.st_mode & 07777;
}

static void one_at_a_time(void **state)
{
	int first, second;

	(void)state;
	assert_int_equal(osp_own_lock(folder, NAME, 0, &first), 0);
	assert_int_equal(mode_of(NAME), 0600);
	assert_int_equal(osp_own_lock(folder, NAME, 6, &second), EWOULDBLOCK);
	assert_int_equal(second, -1);
	osp_own_lock_keep(first);
	assert_int_equal(osp_own_lock(folder, NAME, 0, &second), 0);
	osp_own_lock_end(folder, NAME, second);
	assert_int_equal(faccessat(folder, NAME, F_OK, 0), -1);
}

/* Whoever opened it while others could holds nothing. */
static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* On a busy machine each pause between two tries takes far longer than was asked for. */
static void waits_no_longer_than_asked(void **state)
{
	int first, second;
	int64_t start_ms;

	(void)state;
	assert_int_equal(osp_own_lock(folder, NAME, 0, &first), 0);
	prctl(PR_SET_TIMERSLACK, 50UL * 1000 * 1000);
	start_ms = now_ms();
	assert_int_equal(osp_own_lock(folder, NAME, 200, &second), EWOULDBLOCK);
	assert_in_range(now_ms() - start_ms, 200, 3000); /* by the number of pauses: 5000 */
	prctl(PR_SET_TIMERSLACK, 0UL);
	osp_own_lock_keep(first);
}

static void others_hold_nothing(void **state)
{
	int file, lock;

	(void)state;
	file = openat(folder, NAME, O_RDWR | O_CREAT, 0666);
	assert_int_equal(fchmod(file, 0604), 0);
	assert_int_equal(flock(file, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(osp_own_lock(folder, NAME, 5000, &lock), 0);
	assert_int_equal(mode_of(NAME), 0600);
	osp_own_lock_end(folder, NAME, lock);
	close(file);
}

static void no_link_and_no_folder(void **state)
{
	int lock;

	(void)state;
	assert_int_equal(symlinkat("/etc/passwd", folder, NAME), 0);
	assert_int_equal(osp_own_lock(folder, NAME, 0, &lock), EPERM);
	assert_int_equal(unlinkat(folder, NAME, 0), 0);
	assert_int_equal(mkdirat(folder, NAME, 0700), 0);
	assert_int_equal(osp_own_lock(folder, NAME, 0, &lock), EISDIR);
	assert_int_equal(unlinkat(folder, NAME, AT_REMOVEDIR), 0);
	assert_int_equal(mknodat(folder, NAME, S_IFIFO | 0600, 0), 0);
	assert_int_equal(osp_own_lock(folder, NAME, 0, &lock), EPERM);
	assert_int_equal(lock, -1);
}

static void a_file_of_others_is_refused(void **state)
{
	int lock, file;

	(void)state;
	if (geteuid() != 0)
		skip();
	file = openat(folder, NAME, O_RDWR | O_CREAT, 0600);
	assert_int_equal(fchown(file, 65534, 65534), 0);
	close(file);
	assert_int_equal(osp_own_lock(folder, NAME, 0, &lock), EPERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_at_a_time, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(waits_no_longer_than_asked, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(others_hold_nothing, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(no_link_and_no_folder, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(a_file_of_others_is_refused, make_folder,
						remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
