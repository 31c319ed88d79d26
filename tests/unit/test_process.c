/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose processes run here: from which id on they are people's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "check/base/process.h"

static char root[] = "/tmp/test_process.XXXXXX";

static void write_file(const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void unlink_login_defs(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/etc/login.defs", root);
	unlink(path);
}

static void ids_of_people(void **state)
{
	static const struct {
		const char *login_defs; /* NULL: none */
		unsigned int uid;
		bool users;
	} cases[] = {
		{NULL, 999, false},
		{NULL, 1000, true},
		{NULL, 65534, false},
		{"# UID_MIN 100\nUID_MIN\t\t\t  500\n", 499, false},
		{"# UID_MIN 100\nUID_MIN\t\t\t  500\n", 500, true},
		{"SYS_UID_MIN 201\nUID_MIN 2000\n", 1999, false},
		{"SYS_UID_MIN 201\nUID_MIN 2000\n", 2000, true},
		{"UID_MIN many\n", 999, false},
		{"UID_MIN many\n", 1000, true},
		{"UID_MIN 0\n", 999, false},
		{"UID_MIN 99999999999999999999\n", 1000, true},
	};
	char text[128], words[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool users;

		unlink_login_defs();
		if (cases[i].login_defs)
			write_file("etc/login.defs", cases[i].login_defs);
		snprintf(text, sizeof(text), "Name:\tx\nUid:\t%u\t%u\t%u\t%u\n", cases[i].uid,
			 cases[i].uid, cases[i].uid, cases[i].uid);
		write_file("proc/42/status", text);
		users = osp_process_of_users(root, words, sizeof(words));
		if (users != cases[i].users)
			fail_msg("case %zu: %d", i, users);
	}
}

/* Who asks is no other, root and all. */
static void others(void **state)
{
	char words[64];

	(void)state;
	if (geteuid() != 0)
		skip();
	unlink_login_defs();
	write_file("proc/42/status", "Name:\tx\nUid:\t4242\t4242\t4242\t4242\n");
	assert_true(osp_process_of_others(root, words, sizeof(words)));
	assert_int_equal(chmod(root, 0755), 0);
	assert_int_equal(seteuid(4242), 0);
	assert_false(osp_process_of_others(root, words, sizeof(words)));
	assert_true(osp_process_of_users(root, words, sizeof(words)));
	assert_int_equal(seteuid(0), 0);
}

int main(void)
{
	static const char *const folders[] = {"etc", "proc", "proc/42"};
	const struct CMUnitTest tests[] = {cmocka_unit_test(ids_of_people),
					   cmocka_unit_test(others)};
	char path[128];
	int failed;

	if (!mkdtemp(root))
		return 1;
	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", root, folders[i]);
		if (mkdir(path, 0755))
			return 1;
	}
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(path, sizeof(path), "rm -r %s", root);
	return system(path) ? 1 : failed;
}
