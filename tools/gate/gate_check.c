/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "onespine_config.h"
#include "tools/gate/gate_check.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check/check.h"
#include "check/child.h"
#include "tools/gate/gate_node.h"

#define SELF	       "/proc/self/exe"
#define JSON_BYTES_MAX ((size_t)4 * 1024 * 1024)
#define ARGUMENTS_MAX  8

static void run_check(const struct osp_gate_job *job, uint32_t budget_ms, bool reuse, int answer)
{
	char *arguments[ARGUMENTS_MAX];
	char depth[32], budget[32], fresh[32], gpus[1024];
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
	dup2(nothing, STDERR_FILENO);
	execve(SELF, arguments, osp_gate_environment(job));
	_exit(127);
}

static int start_process(struct osp_gate_check *check, bool reuse, struct osp_error *error)
{
	uint64_t now_ms = osp_now_ms();
	uint32_t budget_ms = check->until_ms > now_ms ? (uint32_t)(check->until_ms - now_ms) : 0;
	pid_t parent = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return osp_error_set(error, "no pipe for the check: %s", strerror(errno));
	check->child = fork();
	if (check->child == 0) {
		osp_child_follow(parent);
		run_check(check->job, budget_ms, reuse, ends[1]);
	}
	close(ends[1]);
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

/* The pass counts, or else the check begins; true when that is all. */
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

/* --- the report --------------------------------------------------------------------------------- */

static void read_boot(struct osp_gate_report *report)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!file)
		return;
	if (!fgets(report->boot, sizeof(report->boot), file))
		report->boot[0] = '\0';
	report->boot[strcspn(report->boot, "\n")] = '\0';
	fclose(file);
}

/* The word of the reason that is a check's name: "onespine: gpu3 ecc 12 uncorrectable > 0". */
static bool names_check(const char *reason, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = reason; (at = strstr(at, name)); at += length)
		if (at > reason && at[-1] == ' ' && at[length] == ' ')
			return true;
	return false;
}

/* The check that says so: the one that the reason names, else the first with this verdict. */
static const json_t *find_check(const json_t *root, const char *verdict, const char *reason)
{
	const json_t *checks = json_object_get(root, "checks"), *found = NULL;

	for (size_t i = 0; i < json_array_size(checks); i++) {
		const json_t *check = json_array_get(checks, i);
		const char *name = json_string_value(json_object_get(check, "name"));
		const char *its = json_string_value(json_object_get(check, "verdict"));

		if (!name || !its || strcmp(its, verdict) != 0)
			continue;
		if (names_check(reason, name))
			return check;
		found = found ? found : check;
	}
	return found;
}

static const char *first_why(const json_t *check)
{
	const json_t *result = json_array_get(json_object_get(check, "results"), 0);
	const char *why = json_string_value(json_object_get(result, "why"));

	return why ? why : "";
}

static void broke(struct osp_gate_report *report, const char *why)
{
	report->result = OSP_GATE_ERROR;
	osp_copy_clean(report->reason, sizeof(report->reason), why);
}

void osp_gate_check_judge(const char *json, struct osp_gate_report *report)
{
	json_t *root = json ? json_loads(json, 0, NULL) : NULL;
	const char *verdict = json_string_value(json_object_get(root, "verdict"));
	const char *reason = json_string_value(json_object_get(root, "reason"));
	const json_t *check;
	char words[OSP_GATE_REASON_BYTES];
	int result = OSP_GATE_SKIP;

	while (verdict && result < OSP_GATE_SILENT &&
	       strcmp(verdict, osp_gate_result_name((enum osp_gate_result)result)) != 0)
		result++;
	if (!verdict || result == OSP_GATE_SILENT) {
		broke(report, "the check said nothing that can be read");
		json_decref(root);
		return;
	}
	report->result = (enum osp_gate_result)result;
	report->fresh = json_is_true(json_object_get(root, "fresh"));
	report->time_ms = (uint32_t)json_integer_value(json_object_get(root, "time_ms"));
	check = find_check(root, verdict, reason ? reason : "");
	if (check && report->result > OSP_GATE_PASS)
		osp_copy_clean(report->check, sizeof(report->check),
			       json_string_value(json_object_get(check, "name")));
	if (report->result == OSP_GATE_FAIL) {
		osp_copy_clean(report->reason, sizeof(report->reason), reason);
	} else if (report->result == OSP_GATE_ERROR) {
		snprintf(words, sizeof(words), "%.30s: %.160s", report->check, first_why(check));
		broke(report, words);
	}
	if (report->result >= OSP_GATE_ERROR)
		read_boot(report);
	json_decref(root);
}

static void let_go(struct osp_gate_check *check)
{
	if (osp_gate_fresh_asked(&check->fresh))
		osp_gate_fresh_drop(&check->fresh);
	else if (check->answer >= 0)
		close(check->answer);
	check->answer = -1;
	if (check->child > 0)
		osp_child_drop(check->child);
	check->child = 0;
}

void osp_gate_check_end(struct osp_gate_check *check, bool late, struct osp_gate_report *report)
{
	let_go(check);
	if (late) {
		broke(report, "the check did not end in its time");
	} else if (check->passed) {
		report->result = OSP_GATE_PASS;
		report->fresh = true;
	} else if (*check->error.text) {
		broke(report, check->error.text);
	} else {
		osp_gate_check_judge(check->cut ? NULL : check->json.data, report);
	}
}

void osp_gate_check_free(struct osp_gate_check *check)
{
	if (check->answer >= 0)
		close(check->answer);
	osp_text_free(&check->json);
}
