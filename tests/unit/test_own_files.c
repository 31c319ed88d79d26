/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_own_files.c - the child that reads a user's files, where others reap it, where it dies, and
 * where what it reads never ends
 */
#include "onespine_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spank/own_files.h"

static char folder[] = "/tmp/test_own_files.XXXXXX", conf[64], conf_variable[80];
static char *environment[] = {conf_variable, NULL};

static int make_files(void **state)
{
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(conf, sizeof(conf), "%s/conf", folder);
	snprintf(conf_variable, sizeof(conf_variable), "NCCL_CONF_FILE=%s", conf);
	file = fopen(conf, "w");
	assert_non_null(file);
	fputs("NCCL_DEBUG=INFO\n", file);
	assert_int_equal(fclose(file), 0);
	return 0;
}

static int remove_files(void **state)
{
	(void)state;
	unlink(conf);
	return rmdir(folder);
}

static bool read_once(struct osp_own_files *own)
{
	struct osp_facts *facts = calloc(1, sizeof(*facts));
	bool known;

	assert_non_null(facts);
	known = osp_own_files_read(environment, facts, own);
	free(facts);
	return known;
}

static bool no_child_is_left(void)
{
	return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
}

/* Waits for the children that were killed: osp_own_files_read() does not wait for them long. One
 * that was not killed and does not end lets the test run out of time. */
static void await_killed(void)
{
	while (waitpid(-1, NULL, 0) > 0)
		;
	assert_int_equal(errno, ECHILD);
}

/* The child's time is a fifth of a second, which a busy machine, with sanitizers, takes to start
 * one. */
static bool read_in_time(struct osp_own_files *own)
{
	for (int tries = 0; tries < 100; tries++) {
		if (read_once(own))
			return true;
		await_killed();
	}
	return false;
}

static void has_what_the_user_names(struct osp_own_files *own)
{
	assert_string_equal(own->conf.text, "NCCL_DEBUG=INFO\n");
	assert_string_equal(own->conf.path, conf);
	assert_false(own->cut);
	osp_own_files_free(own);
}

static void is_read(void)
{
	struct osp_own_files own;

	assert_true(read_in_time(&own));
	has_what_the_user_names(&own);
}

static void reads_what_the_user_names(void **state)
{
	(void)state;
	is_read();
	assert_true(no_child_is_left());
}

/* --- where slurmstepd is quicker -------------------------------------------------------------- */

static atomic_bool reaping;
static atomic_uint reaped;

static void *reap(void *nothing)
{
	while (atomic_load(&reaping)) {
		if (waitpid(-1, NULL, WNOHANG) > 0)
			atomic_fetch_add(&reaped, 1);
	}
	return nothing;
}

/* Slurmstepd waits for any child: its own thread may hear of this one's end first. */
static void counts_though_another_has_reaped_it(void **state)
{
	struct osp_own_files own;
	pthread_t thread;
	unsigned int counted = 0;

	(void)state;
	atomic_store(&reaping, true);
	assert_int_equal(pthread_create(&thread, NULL, reap, NULL), 0);
	for (int tries = 0; tries < 300 && counted < 5; tries++) {
		unsigned int before = atomic_load(&reaped);

		if (!read_once(&own))
			continue;
		has_what_the_user_names(&own);
		counted += atomic_load(&reaped) > before;
	}
	atomic_store(&reaping, false);
	pthread_join(thread, NULL);
	assert_int_equal(counted, 5);
	await_killed();
}

/* Where nobody need reap it at all, wait() finds none. */
static void counts_though_none_is_to_be_reaped(void **state)
{
	(void)state;
	signal(SIGCHLD, SIG_IGN);
	is_read();
	signal(SIGCHLD, SIG_DFL);
	assert_true(no_child_is_left());
}

/* --- where there is no answer ----------------------------------------------------------------- */

/* A pipe has no end that could be waited for. */
static void knows_nothing_of_what_is_no_file(void **state)
{
	struct osp_own_files own;

	(void)state;
	unlink(conf);
	assert_int_equal(mkfifo(conf, 0600), 0);
	assert_true(read_in_time(&own));
	assert_null(own.conf.text);
	osp_own_files_free(&own);
	assert_true(no_child_is_left());
}

static void *stop_children(void *nothing)
{
	char path[64];
	long child;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)getpid());
	while (atomic_load(&reaping)) {
		FILE *file = fopen(path, "re");

		if (file && fscanf(file, "%ld", &child) == 1)
			kill((pid_t)child, SIGSTOP);
		if (file)
			fclose(file);
	}
	return nothing;
}

/* It is a process of the user's, who may stop it: then it is killed when its time is over, and
 * reaped. */
static void does_not_wait_for_one_that_its_user_stops(void **state)
{
	struct osp_own_files own;
	bool known = true;
	pthread_t thread;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)getpid());
	if (access(path, R_OK))
		skip();
	atomic_store(&reaping, true);
	assert_int_equal(pthread_create(&thread, NULL, stop_children, NULL), 0);
	for (int tries = 0; tries < 50 && known; tries++) {
		known = read_once(&own);
		osp_own_files_free(&own);
	}
	atomic_store(&reaping, false);
	pthread_join(thread, NULL);
	assert_false(known);
	await_killed();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_the_user_names),
		cmocka_unit_test(counts_though_another_has_reaped_it),
		cmocka_unit_test(counts_though_none_is_to_be_reaped),
		cmocka_unit_test(does_not_wait_for_one_that_its_user_stops),
		cmocka_unit_test(knows_nothing_of_what_is_no_file),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
