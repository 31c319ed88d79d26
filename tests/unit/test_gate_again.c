/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A gate that is killed: what is done again, and what is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "gate/gate_again.h"

#define KILLED 9

/* A byte a run, in a file, since each run may be in a process of its own. */
static int runs_file;

static off_t runs(void)
{
	struct stat status;

	return fstat(runs_file, &status) ? -1 : status.st_size;
}

static off_t begin(void)
{
	assert_int_equal(write(runs_file, "x", 1), 1);
	return runs();
}

static int ends(void)
{
	begin();
	return 5;
}

static int is_killed(void)
{
	begin();
	raise(SIGKILL);
	return 0;
}

static int is_killed_once(void)
{
	if (begin() == 1)
		raise(SIGKILL);
	return 6;
}

static int is_killed_when_reported(void)
{
	begin();
	osp_gate_again_never(1);
	osp_gate_again_never(0);
	raise(SIGKILL);
	return 7;
}

static int is_killed_before_the_last(void)
{
	begin();
	osp_gate_again_never(1);
	raise(SIGKILL);
	return 7;
}

static int ends_when_reported(void)
{
	begin();
	osp_gate_again_never(1);
	return 8;
}

static int stops(void)
{
	begin();
	return 0;
}

static int stops_in_vain(void)
{
	begin();
	return 1;
}

static int stops_if_settled(void)
{
	begin();
	return osp_gate_again_settled() ? 0 : 1;
}

static void each_case(void **state)
{
	static const struct {
		const char *name;
		int (*work)(void);
		int (*stop)(void);
		int status;
		off_t runs;
	} cases[] = {
		{"one that ends", ends, stops, 5, 1},
		{"one that is killed each time", is_killed, stops, 0, 3},
		{"one that is killed each time, as what comes then", is_killed, is_killed, KILLED,
		 3},
		{"one that is killed once", is_killed_once, stops, 6, 2},
		{"one that is killed with all done", is_killed_when_reported, stops, 0, 1},
		{"one that is killed with something left", is_killed_before_the_last, stops, 0, 2},
		{"the same, and it cannot be stopped", is_killed_before_the_last, stops_in_vain, 1,
		 2},
		{"one with something left, which what comes then knows", is_killed_before_the_last,
		 stops_if_settled, 0, 2},
		{"one that is killed each time, which what comes then knows", is_killed,
		 stops_if_settled, KILLED, 3},
		{"one that ends itself with all done", ends_when_reported, stops, 8, 1},
	};

	(void)state;
	/* slurmd may ignore it, and what it starts inherits that */
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		size_t n = i / 2;
		int status;

		signal(SIGCHLD, i % 2 ? SIG_IGN : SIG_DFL);
		assert_int_equal(ftruncate(runs_file, 0), 0);
		status = osp_gate_again(cases[n].work, cases[n].stop, KILLED);
		if (status != cases[n].status || runs() != cases[n].runs)
			fail_msg("%s%s: status %d after %lld runs", cases[n].name,
				 i % 2 ? ", SIGCHLD ignored" : "", status, (long long)runs());
	}
}

int main(void)
{
	static char name[] = "/tmp/test_gate_again.XXXXXX";
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_case)};

	runs_file = mkstemp(name);
	if (runs_file < 0 || fcntl(runs_file, F_SETFL, O_APPEND) < 0)
		return 1;
	unlink(name);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
