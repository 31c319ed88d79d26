/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /dev/nvidia-uvm: made where the module is loaded and it is not there, and else left alone. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <cmocka.h>

#include "check/base/uvm.h"

static char root[64];

static void write_file(const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int set_up(void **state)
{
	char path[128];

	(void)state;
	snprintf(root, sizeof(root), "/tmp/onespine-uvm-XXXXXX");
	if (!mkdtemp(root))
		return -1;
	snprintf(path, sizeof(path), "%s/dev", root);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/proc", root);
	return mkdir(path, 0755);
}

static int tear_down(void **state)
{
	static const char *const names[] = {
		"dev/nvidia-uvm", "dev/nvidia-uvm-tools", "proc/devices", "dev", "proc", ""};
	char path[128];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, names[i]);
		remove(path);
	}
	return 0;
}

static void not_loaded(void **state)
{
	(void)state;
	assert_false(osp_uvm_make(root)); /* no /proc/devices */
	write_file("proc/devices", "Character devices:\n195 nvidia\n511 nvidia-uvm-x\nx\n");
	assert_false(osp_uvm_make(root));
}

static void there_already(void **state)
{
	struct stat status;
	char path[128];

	(void)state;
	write_file("dev/nvidia-uvm", "");
	write_file("proc/devices", "511 nvidia-uvm\n");
	assert_true(osp_uvm_make(root));
	snprintf(path, sizeof(path), "%s/dev/nvidia-uvm", root);
	assert_int_equal(stat(path, &status), 0);
	assert_true(S_ISREG(status.st_mode));
}

static void made(void **state)
{
	struct stat status;
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/dev/probe", root);
	if (mknod(path, S_IFCHR | 0600, makedev(1, 3)))
		skip(); /* not root, or a place where none may be made */
	unlink(path);
	write_file("proc/devices",
		   "Character devices:\n  1 mem\n511 nvidia-uvm\n\nBlock devices:\n");
	umask(077);
	assert_true(osp_uvm_make(root));
	snprintf(path, sizeof(path), "%s/dev/nvidia-uvm-tools", root);
	assert_int_equal(stat(path, &status), 0);
	assert_true(S_ISCHR(status.st_mode) && status.st_rdev == makedev(511, 1));
	assert_int_equal(status.st_mode & 0777, 0666);
	snprintf(path, sizeof(path), "%s/dev/nvidia-uvm", root);
	assert_int_equal(stat(path, &status), 0);
	assert_true(status.st_rdev == makedev(511, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(not_loaded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(there_already, set_up, tear_down),
		cmocka_unit_test_setup_teardown(made, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
