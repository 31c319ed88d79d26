/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_recheck.c - `onespine recheck`: checks drained nodes again and gives back those that are well
 *
 * Slurm runs nothing on a drained node, and nothing may run there that is not ours. So the node goes
 * into a maintenance reservation of root's, is undrained inside it, and gets one job: the check, in
 * full depth. What does not pass is drained again before the reservation goes. Only nodes that carry
 * our reason are touched. What came back too often, or has strikes enough in the history, stays out and
 * is told of, unless it is named.
 */
#include "onespine_config.h"
#include "tools/shared/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check/check.h"
#include "lib/base/hostlist.h"
#include "lib/health/reason.h"
#include "tools/gate/gate_check.h"
#include "tools/record/history_read.h"
#include "tools/slurm/controller.h"
#include "tools/slurm/fabric.h"

#define CALL_MS	     30000
#define MINUTES	     60
#define WAIT_S	     "120" /* until the check has begun */
#define ANSWER_BYTES ((size_t)4 * 1024 * 1024)
#define RETURNS_FILE OSP_STATE_DIR "/recheck.returns"
#define FILE_BYTES   ((size_t)16 * 1024 * 1024)
#define DAY_S	     86400

enum fate { LEFT_ALONE, RETURNED, STAYS, FATES };

static const char *const fate_names[FATES] = {"left alone", "returned", "stays drained"};

/* One node and what became of it. */
struct trial {
	const struct osp_controller_node *node;
	const char *name;
	enum fate fate;
	char says[OSP_GATE_REASON_BYTES + 64];
};

struct recheck {
	const struct osp_call *call;
	struct osp_controller_nodes nodes;
	struct osp_config *config;
	const struct osp_history_policy *policy;
	struct osp_history_reading reading;
	const struct osp_history_subject *subjects; /* what the history knows */
	size_t subject_count;
	struct trial *trials;
	uint32_t count;
	char program[4096];
};

/* --- repeated offenders ----------------------------------------------------------------------- */

/* How often this node has been given back in the days that count. */
static uint32_t returns_of(const struct recheck *recheck, const char *name)
{
	size_t bytes;
	char *text = osp_read_file(RETURNS_FILE, FILE_BYTES, &bytes), *rest = text, *line;
	int64_t since_s = (int64_t)time(NULL) - (int64_t)recheck->policy->strike_days * DAY_S;
	uint32_t count = 0;

	while (text && (line = strsep(&rest, "\n"))) {
		char *end;
		long long when_s = strtoll(line, &end, 10);

		count += *end == ' ' && when_s >= since_s && !strcmp(end + 1, name);
	}
	free(text);
	return count;
}

static void note_return(const char *name)
{
	FILE *file;

	mkdir(OSP_STATE_DIR, 0755);
	file = fopen(RETURNS_FILE, "ae");
	if (!file || fprintf(file, "%lld %s\n", (long long)time(NULL), name) < 0)
		osp_say_warning("%s: %s", RETURNS_FILE, strerror(errno));
	if (file && fclose(file) != 0)
		osp_say_warning("%s: %s", RETURNS_FILE, strerror(errno));
}

/* Who has that name now: of all instances that had it, the one that was seen last. */
static const struct osp_history_subject *instance_of(const struct recheck *recheck,
						     const char *name)
{
	const struct osp_history_subject *found = NULL;

	for (size_t i = 0; i < recheck->subject_count; i++) {
		const struct osp_history_subject *subject = &recheck->subjects[i];

		if (!subject->is_gpu && !strcmp(subject->node, name) &&
		    (!found || subject->last_s > found->last_s))
			found = subject;
	}
	return found;
}

/* The node, or a GPU that was in it last, of which the history knows strikes enough; or NULL. */
static const struct osp_history_subject *lemon_of(const struct recheck *recheck, const char *name)
{
	const struct osp_history_subject *instance = instance_of(recheck, name);

	if (!instance || instance->lemon)
		return instance;
	for (size_t i = 0; i < recheck->subject_count; i++) {
		const struct osp_history_subject *subject = &recheck->subjects[i];

		if (subject->is_gpu && subject->lemon && !strcmp(subject->instance, instance->key))
			return subject;
	}
	return NULL;
}

/* --- the check -------------------------------------------------------------------------------- */

/* Runs the check there and reads what it says. NULL: it said nothing. */
static char *run_check(const struct recheck *recheck, const struct trial *trial,
		       const char *reservation, const char *depth)
{
	char in[128], node[300], deep[32], gpus[64], job[] = "--job-name=onespine-recheck";
	char *arguments[20], *answer = NULL;
	struct osp_text text = OSP_TEXT_INIT;
	char bytes[16384];
	size_t n = 0;
	ssize_t got;
	int ends[2];
	pid_t child;

	snprintf(in, sizeof(in), "--reservation=%s", reservation);
	snprintf(node, sizeof(node), "--nodelist=%s", trial->name);
	snprintf(deep, sizeof(deep), "--depth=%s", depth);
	snprintf(gpus, sizeof(gpus), "--gpus-per-node=%u", trial->node->gpus);
	arguments[n++] = "srun";
	arguments[n++] = job;
	arguments[n++] = in;
	arguments[n++] = node;
	arguments[n++] = "--nodes=1";
	arguments[n++] = "--ntasks=1";
	arguments[n++] = "--exclusive";
	arguments[n++] = "--immediate=" WAIT_S;
	arguments[n++] = "--time=50";
	arguments[n++] = "--chdir=/";
	arguments[n++] = "--export=NONE";
	if (trial->node->gpus)
		arguments[n++] = gpus;
	arguments[n++] = (char *)recheck->program;
	arguments[n++] = "check";
	arguments[n++] = "--json";
	arguments[n++] = deep;
	arguments[n] = NULL;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return NULL;
	child = fork();
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		execvp("srun", arguments);
		_exit(127);
	}
	close(ends[1]);
	while (child > 0 &&
	       ((got = read(ends[0], bytes, sizeof(bytes))) > 0 || (got < 0 && errno == EINTR)))
		if (got > 0 && text.length_bytes + (size_t)got <= ANSWER_BYTES)
			osp_text_add_bytes(&text, bytes, (size_t)got);
	close(ends[0]);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	answer = osp_text_take(&text);
	if (answer && *answer)
		return answer;
	free(answer);
	return NULL;
}

/* Where the gate stands before this job too it may have found the failure first. */
static bool drained_meanwhile(const struct trial *trial, struct osp_gate_report *report)
{
	struct osp_controller_nodes nodes;
	const struct osp_controller_node *node;
	bool drained = false;

	if (osp_controller_nodes(osp_now_ms() + CALL_MS, &nodes) == 0) {
		node = osp_controller_node(&nodes, trial->name);
		drained = node && node->drained;
		if (drained) {
			report->result = OSP_GATE_FAIL;
			snprintf(report->reason, sizeof(report->reason), "%s",
				 node->reason ? node->reason : trial->node->reason);
		}
	}
	osp_controller_nodes_free(&nodes);
	return drained;
}

/* As deep as this build and this node can. */
static void check_node(const struct recheck *recheck, const struct trial *trial,
		       const char *reservation, struct osp_gate_report *report)
{
	static const char *const depths[] = {"full", "quick", "passive"};
	const char *asked = recheck->call->values[OSP_OPTION_DEPTH];
	char *answer = NULL;

	for (size_t i = asked ? 2 : 0; !answer && i < 3; i++) {
		answer = run_check(recheck, trial, reservation, asked ? asked : depths[i]);
		if (!answer && drained_meanwhile(trial, report))
			return;
	}
	osp_gate_check_judge(answer, report);
	free(answer);
}

/* --- one node --------------------------------------------------------------------------------- */

static void leave(struct trial *trial, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void leave(struct trial *trial, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(trial->says, sizeof(trial->says), format, arguments);
	va_end(arguments);
}

/* What has failed too often is not given back unless it is named. */
static bool is_offender(const struct recheck *recheck, struct trial *trial)
{
	const struct osp_history_subject *lemon = lemon_of(recheck, trial->name);
	uint32_t returns = returns_of(recheck, trial->name);

	if (returns >= recheck->policy->strikes)
		leave(trial, "a repeated offender, given back %u times in %u days: %.120s", returns,
		      recheck->policy->strike_days, trial->node->reason);
	else if (lemon)
		leave(trial, "a repeated offender, %s%.60s%s%zu strikes in %u days: %.120s",
		      lemon->is_gpu ? "its GPU " : "", lemon->is_gpu ? lemon->key : "",
		      lemon->is_gpu ? " has " : "", lemon->strikes, recheck->policy->strike_days,
		      trial->node->reason);
	else
		return false;
	trial->fate = STAYS;
	return true;
}

/* Whether it may be tried at all. */
static bool may_try(const struct recheck *recheck, struct trial *trial)
{
	const struct osp_controller_node *node = trial->node;
	bool named = recheck->call->argument_count > 0;

	if (!node) {
		leave(trial, "Slurm knows no such node");
	} else if (!node->drained) {
		leave(trial, "it is not drained");
	} else if (!osp_reason_is_ours(node->reason)) {
		leave(trial, "drained by others: %.160s",
		      node->reason ? node->reason : "no reason");
	} else if (!node->idle) {
		leave(trial, "a job is still on it");
	} else if (!node->responding) {
		leave(trial, "it does not respond");
	} else {
		return named || !is_offender(recheck, trial);
	}
	return false;
}

static bool refused(struct trial *trial, int error, const char *what)
{
	if (error)
		leave(trial, "%s: %s", what, osp_controller_words(error));
	return error != 0;
}

/* Well: given back. Anything else: drained again, with the new reason or with the one it had. */
static void judge(struct trial *trial, const struct osp_gate_report *report, uint64_t until_ms)
{
	bool fails = report->result == OSP_GATE_FAIL;

	if (report->result == OSP_GATE_PASS || report->result == OSP_GATE_WARN) {
		trial->fate = RETURNED;
		leave(trial, "%s", osp_gate_result_name(report->result));
		note_return(trial->name);
		return;
	}
	trial->fate = STAYS;
	if (refused(trial,
		    osp_controller_drain(trial->name, fails ? report->reason : trial->node->reason,
					 until_ms),
		    "draining it again"))
		return;
	leave(trial, "%s", *report->reason ? report->reason : osp_gate_result_name(report->result));
}

static void try_node(struct recheck *recheck, struct trial *trial)
{
	struct osp_gate_report report = {.rank = 0};
	char reservation[96];

	snprintf(reservation, sizeof(reservation), "onespine-%.80s", trial->name);
	trial->fate = STAYS;
	if (refused(trial,
		    osp_controller_reserve(reservation, trial->name, MINUTES,
					   osp_now_ms() + CALL_MS),
		    "a reservation"))
		return;
	if (!refused(trial, osp_controller_undrain(trial->name, osp_now_ms() + CALL_MS),
		     "undraining it")) {
		check_node(recheck, trial, reservation, &report);
		judge(trial, &report, osp_now_ms() + CALL_MS);
	}
	osp_controller_unreserve(reservation, osp_now_ms() + CALL_MS);
}

/* --- the command ------------------------------------------------------------------------------ */

static int add_trial(const char *name, void *context)
{
	struct recheck *recheck = context;
	struct trial *trials =
		realloc(recheck->trials, (recheck->count + 1) * sizeof(*recheck->trials));

	if (!trials)
		return 1;
	recheck->trials = trials;
	trials[recheck->count] = (struct trial){.node = osp_controller_node(&recheck->nodes, name),
						.name = strdup(name)};
	return trials[recheck->count++].name == NULL;
}

/* The nodes named, or all that are drained for a reason of ours. */
static int choose(struct recheck *recheck, struct osp_error *error)
{
	int state = 0;

	for (int i = 0; !state && i < recheck->call->argument_count; i++)
		state = osp_hostlist_expand(recheck->call->arguments[i], add_trial, recheck, error);
	for (uint32_t i = 0; !state && !recheck->call->argument_count && i < recheck->nodes.count;
	     i++)
		if (recheck->nodes.nodes[i].drained &&
		    osp_reason_is_ours(recheck->nodes.nodes[i].reason))
			state = add_trial(recheck->nodes.nodes[i].name, recheck);
	return state > 0 ? osp_error_set(error, "out of memory") : state;
}

static int print(const struct recheck *recheck)
{
	int status = OSP_EXIT_YES;
	json_t *list = json_array();

	for (uint32_t i = 0; i < recheck->count; i++) {
		const struct trial *trial = &recheck->trials[i];
		json_t *entry = json_object();

		if (trial->fate != RETURNED)
			status = OSP_EXIT_NO;
		if (!recheck->call->values[OSP_OPTION_JSON])
			printf("%s: %s: %s\n", trial->name, fate_names[trial->fate], trial->says);
		json_object_set_new(entry, "node", osp_json_string(trial->name));
		json_object_set_new(entry, "fate", osp_json_string(fate_names[trial->fate]));
		json_object_set_new(entry, "says", osp_json_string(trial->says));
		json_array_append_new(list, entry);
	}
	if (recheck->call->values[OSP_OPTION_JSON])
		return osp_print_json(list, status);
	if (!recheck->count)
		printf("no node is drained for a reason of ours\n");
	json_decref(list);
	return status;
}

static int find_program(struct recheck *recheck, struct osp_error *error)
{
	const char *asked = recheck->call->values[OSP_OPTION_PROGRAM];
	ssize_t length;

	if (asked) {
		if (*asked != '/' || strlen(asked) >= sizeof(recheck->program))
			return osp_error_set(error, "--program=%.200s: a whole path is expected",
					     asked);
		strcpy(recheck->program, asked);
		return 0;
	}
	length = readlink("/proc/self/exe", recheck->program, sizeof(recheck->program) - 1);
	if (length < 0)
		return osp_error_set(error, "/proc/self/exe: %s", strerror(errno));
	recheck->program[length] = '\0';
	return 0;
}

static int read_policy(struct recheck *recheck, struct osp_error *error)
{
	char *path = osp_config_path(error);

	recheck->config = path ? osp_config_load(path, false, error) : NULL;
	free(path);
	if (!recheck->config)
		return -1;
	recheck->policy = osp_config_history(recheck->config);
	return 0;
}

/* Strikes are worth a warning where they cannot be read, not the repair of all nodes. */
static void read_history(struct recheck *recheck)
{
	struct osp_history_rule rule = {.now_s = (int64_t)time(NULL),
					.strikes = recheck->policy->strikes,
					.strike_days = recheck->policy->strike_days};
	struct osp_error error = {.text = ""};
	char words[1024];

	if (osp_history_read(&recheck->reading, NULL, recheck->policy, "", &error))
		osp_say_warning("strikes are not counted: %s",
				osp_error_format(&error, words, sizeof(words)));
	else
		recheck->subjects =
			osp_history_judge(recheck->reading.history, &rule, &recheck->subject_count);
}

/* A node in hand is not left undrained by a Ctrl-C: what ends us waits until it is judged. */
static void hold_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
}

static bool told_to_end(void)
{
	sigset_t signals;

	sigpending(&signals);
	return sigismember(&signals, SIGINT) || sigismember(&signals, SIGTERM) ||
	       sigismember(&signals, SIGHUP);
}

int osp_run_recheck(const struct osp_call *call)
{
	struct recheck recheck = {.call = call};
	struct osp_error error = {.text = ""};
	int status, code;

	if (geteuid() != 0)
		osp_error_set(&error, "recheck is for root: it undrains nodes and drains them");
	else if (find_program(&recheck, &error) == 0 && read_policy(&recheck, &error) == 0) {
		code = osp_controller_nodes(osp_now_ms() + CALL_MS, &recheck.nodes);
		if (code)
			osp_error_set(&error, "%s", osp_controller_words(code));
		else
			choose(&recheck, &error);
	}
	if (*error.text) {
		status = osp_say_error(&error);
	} else {
		read_history(&recheck);
		hold_signals();
		for (uint32_t i = 0; i < recheck.count; i++) {
			if (told_to_end())
				leave(&recheck.trials[i], "interrupted");
			else if (may_try(&recheck, &recheck.trials[i]) &&
				 !call->values[OSP_OPTION_DRY_RUN])
				try_node(&recheck, &recheck.trials[i]);
			else if (!*recheck.trials[i].says)
				leave(&recheck.trials[i], "would be checked");
		}
		status = print(&recheck);
	}
	for (uint32_t i = 0; i < recheck.count; i++)
		free((char *)recheck.trials[i].name);
	free(recheck.trials);
	osp_history_free(recheck.reading.history);
	osp_config_free(recheck.config);
	osp_controller_nodes_free(&recheck.nodes);
	return status;
}
