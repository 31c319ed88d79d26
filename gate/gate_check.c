/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_check.c - this node's own check, in a process of its own */
#include "onespine_config.h"
#include "gate/gate_check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check/check.h"
#include "check/base/child.h"
#include "gate/gate_node.h"
#include "gate/gate_loop.h"
#include "host/program.h"
#include "host/record/check_report.h"
#include "lib/base/clean.h"

#define JSON_BYTES_MAX	((size_t)4 * 1024 * 1024)
#define ARGUMENTS_MAX	8

#define KEEP_MOST_MS	8000 /* a shared folder's 5 s (host/record), and the node's own */
#define WORDS_BYTES_MAX ((size_t)16 * 1024)
#define WORDS_LINES_MAX 16

static void run_check(const struct osp_gate_job *job, uint32_t budget_ms, bool reuse, int answer,
		      int words)
{
	char *arguments[ARGUMENTS_MAX];
	char depth[32], budget[32], fresh[32], gpus[1024], file[OSP_PROGRAM_BYTES];
	char program[] = "onespine", command[] = "check", json[] = "--json";
	size_t count = 0;
	int nothing = open("/dev/null", O_RDWR);

	snprintf(depth, sizeof(depth), "--depth=%s", osp_gate_depth_name(job->depth));
	snprintf(budget, sizeof(budget), "--budget=%u",
		 budget_ms > 2000 ? budget_ms / 1000 - 1 : 1);
	snprintf(fresh, sizeof(fresh), "--fresh=%u", job->policy->fresh_s);
	snprintf(gpus, sizeof(gpus), "--gpus=%s", job->gang.gpus ? job->gang.gpus : "");
	arguments[count++] = program;
	arguments[count++] = command;
	arguments[count++] = json;
	arguments[count++] = depth;
	arguments[count++] = budget;
	if (job->gang.gpus)
		arguments[count++] = gpus;
	if (reuse && job->policy->fresh_s)
		arguments[count++] = fresh;
	arguments[count] = NULL;
	osp_gate_lock_wait(job, job->depth > OSP_GATE_PASSIVE, budget_ms);
	dup2(nothing, STDIN_FILENO);
	dup2(answer, STDOUT_FILENO);
	dup2(words, STDERR_FILENO);
	execve(osp_program_path("onespine", OSP_BIN_DIR, file), arguments,
	       osp_gate_environment(job));
	_exit(127);
}

static int start_process(struct osp_gate_check *check, bool reuse, struct osp_error *error)
{
	uint64_t now_ms = osp_now_ms();
	uint32_t budget_ms = check->until_ms > now_ms ? (uint32_t)(check->until_ms - now_ms) : 0;
	pid_t parent = getpid();
	int ends[2], words[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return osp_error_set(error, "no pipe for the check: %s", strerror(errno));
	/* Whoever says more than a pipe holds is not to wait for us: that is lost. */
	if (pipe2(words, O_CLOEXEC | O_NONBLOCK) < 0)
		words[0] = words[1] = -1;
	check->child = fork();
	if (check->child == 0) {
		osp_child_follow(parent);
		run_check(check->job, budget_ms, reuse, ends[1], words[1]);
	}
	close(ends[1]);
	if (words[1] >= 0)
		close(words[1]);
	check->words = words[0];
	if (check->child < 0) {
		close(ends[0]);
		return osp_error_set(error, "no process for the check: %s", strerror(errno));
	}
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	check->answer = ends[0];
	return 0;
}

int osp_gate_check_start(struct osp_gate_check *check, const struct osp_gate_job *job,
			 uint32_t budget_ms, bool reuse, struct osp_error *error)
{
	memset(check, 0, sizeof(*check));
	check->job = job;
	check->until_ms = osp_now_ms() + budget_ms;
	check->answer = -1;
	check->words = -1;
	check->fresh.look.answer = -1;
	if (!reuse || !osp_gate_fresh_ask(&check->fresh, job, budget_ms))
		return start_process(check, reuse, error);
	check->answer = check->fresh.look.answer;
	return 0;
}

uint64_t osp_gate_check_due_ms(const struct osp_gate_check *check)
{
	return osp_gate_fresh_asked(&check->fresh) ? check->fresh.until_ms : UINT64_MAX;
}

/* Takes the pass if it counts, or else begins the check. Returns true if that is all. */
static bool hear_fresh(struct osp_gate_check *check)
{
	check->answer = -1;
	check->passed = osp_gate_fresh_holds(&check->fresh, check->job);
	return check->passed || start_process(check, false, &check->error);
}

bool osp_gate_check_read(struct osp_gate_check *check)
{
	char bytes[16384];
	ssize_t count;

	if (osp_gate_fresh_asked(&check->fresh))
		return hear_fresh(check);
	for (;;) {
		count = read(check->answer, bytes, sizeof(bytes));
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return errno != EAGAIN && errno != EWOULDBLOCK;
		if (count == 0)
			return true;
		if (check->json.length_bytes + (size_t)count > JSON_BYTES_MAX)
			check->cut = true;
		else
			osp_text_add_bytes(&check->json, bytes, (size_t)count);
	}
}

bool osp_gate_check_wait(struct osp_gate_check *check, uint64_t until_ms)
{
	struct pollfd file = {.fd = check->answer, .events = POLLIN};
	uint64_t now_ms;

	while ((now_ms = osp_now_ms()) < until_ms)
		if (poll(&file, 1, (int)(until_ms - now_ms)) > 0 && osp_gate_check_read(check))
			return true;
	return false;
}

/* --- its end ---------------------------------------------------------------------------------- */

static void drop_child(struct osp_gate_check *check)
{
	if (check->child > 0)
		osp_child_drop(check->child);
	check->child = 0;
}

static void let_go(struct osp_gate_check *check)
{
	if (osp_gate_fresh_asked(&check->fresh))
		osp_gate_fresh_drop(&check->fresh);
	else if (check->answer >= 0)
		close(check->answer);
	check->answer = -1;
}

void osp_gate_check_end(struct osp_gate_check *check, bool late, struct osp_gate_report *report)
{
	let_go(check);
	if (late) {
		drop_child(check);
		osp_check_report_error(report, "the check did not end in its time");
	} else if (check->passed) {
		report->result = OSP_VERDICT_PASS;
		report->fresh = true;
	} else if (*check->error.text) {
		osp_check_report_error(report, check->error.text);
	} else {
		osp_check_report_read(check->cut ? NULL : check->json.data, report);
	}
}

/* --- what it keeps after that ----------------------------------------------------------------- */

/* Reads what it says until its end, at most WORDS_BYTES_MAX. Returns false if it has not ended by
 * then. */
static bool hear_words(const struct osp_gate_check *check, struct osp_text *said)
{
	struct pollfd file = {.fd = check->words, .events = POLLIN};
	uint64_t until_ms = osp_now_ms() + KEEP_MOST_MS, now_ms;
	char bytes[1024];
	ssize_t count;

	while ((now_ms = osp_now_ms()) < until_ms) {
		if (poll(&file, 1, (int)(until_ms - now_ms)) <= 0)
			continue;
		count = read(check->words, bytes, sizeof(bytes));
		if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN))
			return true;
		if (count > 0 && said->length_bytes + (size_t)count <= WORDS_BYTES_MAX)
			osp_text_add_bytes(said, bytes, (size_t)count);
	}
	return false;
}

static void log_words(const struct osp_gate_check *check, struct osp_text *said)
{
	static const char self[] = "onespine: ";
	char *words = osp_text_take(said), *rest = words, *line;

	for (int lines = 0; lines < WORDS_LINES_MAX && (line = strsep(&rest, "\n"));) {
		if (!strncmp(line, self, sizeof(self) - 1))
			line += sizeof(self) - 1;
		if (!*line)
			continue;
		osp_gate_log(check->job, "the check: %s", osp_clean(line));
		lines++;
	}
	free(words);
}

void osp_gate_check_free(struct osp_gate_check *check)
{
	struct osp_text said = OSP_TEXT_INIT;

	if (check->words >= 0) {
		if (check->child > 0 && !hear_words(check, &said))
			osp_gate_log(check->job,
				     "the check: what it found may not be kept: that took longer "
				     "than %d ms",
				     KEEP_MOST_MS);
		log_words(check, &said);
		close(check->words);
		check->words = -1;
	}
	drop_child(check);
	if (check->answer >= 0)
		close(check->answer);
	osp_text_free(&check->json);
}
