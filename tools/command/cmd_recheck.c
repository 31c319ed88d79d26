/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_recheck.c - `onespine recheck`: checks drained nodes again and gives back those that pass
 *
 * Slurm runs nothing on a drained node, and only our check may run there. So the node goes into a
 * maintenance reservation of root's, is undrained inside it, and gets one job: the check, in full
 * depth. A node that does not pass is drained again before the reservation, which has no end of its
 * own, is deleted. A file keeps node and reason meanwhile (host/record/trial_file.h), so that the
 * next recheck takes over what a killed one left. It also takes over a reservation that no recheck
 * uses and that has no file: an older state of slurmctld's brought it back. Only nodes with our
 * reason are touched. A node that came back too often, or has strikes enough in the history, stays
 * out and is reported, unless it is named.
 */
#include "onespine_config.h"
#include "tools/command/command.h"
#include "tools/command/quarantine.h"
#include "tools/command/recheck_job.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <slurm/slurm_errno.h>

#include "check/check.h"
#include "lib/base/hostlist.h"
#include "lib/health/reason.h"
#include "host/record/check_report.h"
#include "host/record/history_read.h"
#include "host/record/trial_file.h"
#include "host/slurm/controller.h"
#include "host/slurm/fabric.h"
#include "host/slurm/slurm_files.h"

#define CALL_MS	    30000
#define FILE_BYTES  ((size_t)16 * 1024 * 1024)
#define DAY_S	    86400
#define LOST_REASON OSP_REASON_PREFIX "recheck lost what it found"

enum fate { LEFT_ALONE, RETURNED, STAYS, WOULD_BE_CHECKED, FATES };

static const char *const fate_names[FATES] = {"left alone", "returned", "stays drained",
					      "would be checked"};

/* One node and its fate. */
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
	const struct osp_history_subject *subjects; /* what the history knows about nodes and
						       GPUs */
	size_t subject_count;
	struct trial *trials;
	uint32_t count;
	bool ended;   /* clustermgtd ends drained nodes: none is checked (lib/conf/clustermgtd.h) */
	bool changed; /* a node's state has changed since they were read */
	char cluster[OSP_CLUSTER_NAME_BYTES]; /* the name of the nodes' cluster */
	char returns_path[OSP_CLUSTER_NAME_BYTES + sizeof(OSP_STATE_DIR) + 32];
	char program[4096];
};

/* Returns until when one question to slurmctld may take. */
static uint64_t call_until_ms(void)
{
	const char *of_tests = getenv("ONESPINE_TEST_CALL_MS");

	return osp_now_ms() + (of_tests ? strtoul(of_tests, NULL, 10) : CALL_MS);
}

/* --- repeated offenders ----------------------------------------------------------------------- */

/* Returns how often this node has been given back in the days that count. */
static uint32_t returns_of(const struct recheck *recheck, const char *name)
{
	size_t bytes;
	char *text = osp_read_file(recheck->returns_path, FILE_BYTES, &bytes), *rest = text, *line;
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

static void note_return(const struct recheck *recheck, const char *name)
{
	FILE *file;

	file = fopen(recheck->returns_path, "ae");
	if (!file || fprintf(file, "%lld %s\n", (long long)time(NULL), name) < 0)
		osp_say_warning("%s: %s", recheck->returns_path, strerror(errno));
	if (file && fclose(file) != 0)
		osp_say_warning("%s: %s", recheck->returns_path, strerror(errno));
}

/* Returns the instance that has this name now: of all that had it, the one that was seen last. */
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

/* Returns the node, or a GPU that was last in it, if it has strikes enough in the history; or
 * NULL. */
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

/* Returns whether the node was drained meanwhile: if the gate runs before this job, too, it may
 * have found the failure first. */
static bool drained_meanwhile(const struct trial *trial, struct osp_gate_report *report)
{
	struct osp_controller_nodes nodes;
	const struct osp_controller_node *node;
	bool drained = false;

	if (osp_controller_nodes(call_until_ms(), &nodes) == 0) {
		node = osp_controller_node(&nodes, trial->name);
		drained = node && node->drained;
		if (drained) {
			report->result = OSP_VERDICT_FAIL;
			snprintf(report->reason, sizeof(report->reason), "%s",
				 node->reason ? node->reason : trial->node->reason);
		}
	}
	osp_controller_nodes_free(&nodes);
	return drained;
}

/* Runs the check, as deep as this build and this node can. */
static void check_node(const struct recheck *recheck, const struct trial *trial,
		       const char *reservation, struct osp_gate_report *report)
{
	static const char *const depths[] = {"full", "quick", "passive"};
	const char *asked = recheck->call->values[OSP_OPTION_DEPTH];
	const struct osp_recheck_job job = {recheck->program, trial->name, reservation,
					    trial->node->gpus};
	char *answer = NULL;
	bool late = false;

	for (size_t i = asked ? 2 : 0; !answer && !late && i < 3; i++) {
		answer = osp_recheck_job_run(&job, asked ? asked : depths[i], &late);
		if (!answer && drained_meanwhile(trial, report))
			return;
	}
	osp_check_report_read(answer, report);
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

/* Returns whether the node has failed too often. Such a node is not given back unless it is
 * named. */
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

static void leave_unknown(const struct recheck *recheck, struct trial *trial)
{
	const char **names = calloc((size_t)recheck->nodes.count + 1, sizeof(*names));
	const char *nearest = NULL;

	for (uint32_t i = 0; names && i < recheck->nodes.count; i++)
		names[i] = recheck->nodes.nodes[i].name;
	if (names)
		nearest = osp_nearest_word(trial->name, names, recheck->nodes.count);
	leave(trial, "Slurm knows no such node%s%.64s%s", nearest ? "; did you mean " : "",
	      nearest ? nearest : "", nearest ? "?" : "");
	free(names);
}

/* Returns whether a recheck may try this node at all. */
static bool may_try(const struct recheck *recheck, struct trial *trial)
{
	const struct osp_controller_node *node = trial->node;
	bool named = recheck->call->argument_count > 0;

	if (!node) {
		leave_unknown(recheck, trial);
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

/* Asks for the node as it is now, in *nodes, to be freed. Returns NULL if slurmctld does not know
 * it, or with why in *error. */
static const struct osp_controller_node *ask_again(const char *name,
						   struct osp_controller_nodes *nodes, int *error)
{
	*error = osp_controller_nodes(call_until_ms(), nodes);
	return *error ? NULL : osp_controller_node(nodes, name);
}

/* Drains a node for `reason`, unless it is already drained or others have given it a reason since,
 * which stays. */
static int drain_as_ours(const struct osp_controller_node *now, const char *name,
			 const char *reason)
{
	bool others = now && now->reason && !osp_reason_is_ours(now->reason);

	if (others && now->drained)
		return 0;
	return osp_controller_drain(name, others ? NULL : reason, call_until_ms());
}

/* Drains it again for the reason that it had. Returns false if slurmctld refused. */
static bool drain_again(const struct trial *trial)
{
	struct osp_controller_nodes nodes = {.count = 0};
	int error;
	const struct osp_controller_node *now = ask_again(trial->name, &nodes, &error);

	if (!error)
		error = drain_as_ours(now, trial->name, trial->node->reason);
	osp_controller_nodes_free(&nodes);
	return !error;
}

/* Judges the node by the check's result, and by what its administrator has changed meanwhile.
 * Returns as judge() does. */
static bool judge_now(const struct recheck *recheck, struct trial *trial,
		      const struct osp_gate_report *report, const struct osp_controller_node *now)
{
	bool fails = report->result == OSP_VERDICT_FAIL;
	bool well = report->result == OSP_VERDICT_PASS || report->result == OSP_VERDICT_WARN;
	char warned[OSP_GATE_CHECK_BYTES + sizeof("WARN: ")];
	const char *found =
		*report->reason && !well ? report->reason : osp_verdict_name(report->result);

	if (report->result == OSP_VERDICT_WARN && *report->check) {
		snprintf(warned, sizeof(warned), "WARN: %s", report->check);
		found = warned;
	}

	if (now && now->drained && now->reason && !osp_reason_is_ours(now->reason)) {
		leave(trial, "%.120s; drained by others meanwhile: %.100s", found, now->reason);
		return true;
	}
	if (well) {
		trial->fate = RETURNED;
		leave(trial, "%s", found);
		note_return(recheck, trial->name);
		return true;
	}
	if (refused(trial,
		    drain_as_ours(now, trial->name, fails ? report->reason : trial->node->reason),
		    "draining it again"))
		return false;
	leave(trial, "%s", found);
	return true;
}

/* Gives the node back if it passed. Otherwise drains it again, with the new reason or with the one
 * that it had. Returns false if slurmctld did not drain it, or does not say its state: then it must
 * stay inside its reservation. */
static bool judge(const struct recheck *recheck, struct trial *trial,
		  const struct osp_gate_report *report)
{
	struct osp_controller_nodes nodes = {.count = 0};
	int error;
	const struct osp_controller_node *now = ask_again(trial->name, &nodes, &error);
	bool judged;

	trial->fate = STAYS;
	judged = !refused(trial, error, "asking for it again") &&
		 judge_now(recheck, trial, report, now);
	osp_controller_nodes_free(&nodes);
	return judged;
}

/*
 * Deletes the reservation of a node that was judged, then its file. If slurmctld does not delete it
 * both stay, for the next recheck, and it returns false.
 */
static bool let_go(struct osp_trial_file *file, const char *node)
{
	char reservation[OSP_TRIAL_NAME_BYTES];
	int error = osp_controller_unreserve(node, call_until_ms());

	if (error && error != ESLURM_RESERVATION_INVALID) {
		osp_say_warning("%s: the reservation %s stays, for the next recheck: %s", node,
				osp_controller_trial_name(node, reservation),
				osp_controller_words(error));
		osp_trial_leave(file);
		return false;
	}
	osp_trial_end(file);
	return true;
}

/* Checks a node that is reserved. */
static void try_reserved(struct recheck *recheck, struct trial *trial, struct osp_trial_file *file)
{
	char reservation[OSP_TRIAL_NAME_BYTES];
	struct osp_gate_report report = {.rank = 0};
	bool judged = true;

	if (!refused(trial, osp_controller_undrain(trial->name, call_until_ms()),
		     "undraining it")) {
		osp_controller_trial_name(trial->name, reservation);
		check_node(recheck, trial, reservation, &report);
		judged = judge(recheck, trial, &report);
	} else {
		/* an answer that was lost may have undrained it */
		judged = drain_again(trial);
	}
	if (judged && !osp_trial_judged(file))
		let_go(file, trial->name);
	else
		osp_trial_leave(file);
}

/*
 * Asks for the node again, with its lock held. Hours may have passed since all were read, and its
 * administrator or another recheck may have changed it.
 */
static bool is_as_chosen(struct trial *trial)
{
	struct osp_controller_nodes nodes = {.count = 0};
	int error;
	const struct osp_controller_node *now = ask_again(trial->name, &nodes, &error);
	bool same = false;

	if (!refused(trial, error, "asking for it again")) {
		same = now && now->drained && now->idle && now->responding && now->reason &&
		       !strcmp(now->reason, trial->node->reason);
		if (!same)
			leave(trial, "it has changed meanwhile");
	}
	osp_controller_nodes_free(&nodes);
	return same;
}

static void try_node(struct recheck *recheck, struct trial *trial)
{
	struct osp_trial_file file;
	int state = osp_trial_begin(&file, recheck->cluster, trial->name, trial->node->reason),
	    error;

	trial->fate = STAYS;
	if (state > 0) {
		leave(trial, "another recheck has it in hand");
		return;
	}
	if (state < 0) {
		leave(trial, "its reason cannot be kept in " OSP_STATE_DIR "/recheck: %s",
		      strerror(errno));
		return;
	}
	if (!is_as_chosen(trial)) {
		trial->fate = LEFT_ALONE;
		osp_trial_end(&file);
		return;
	}
	error = osp_controller_reserve(trial->name, call_until_ms());
	if (!refused(trial, error, "a reservation"))
		try_reserved(recheck, trial, &file);
	else if (error == OSP_CONTROLLER_SILENT)
		osp_trial_leave(&file); /* the reservation may exist */
	else
		osp_trial_end(&file);
}

/* --- what a recheck that was killed left ------------------------------------------------------ */

/*
 * Drains the node again, for the reason that it had; then deletes its reservation, so that it is an
 * ordinary drained node. Asks for the node with its lock held, because its administrator may have
 * drained it for another reason since all were read.
 */
static void take_over(void *context, struct osp_trial_file *file, const char *node,
		      const char *reason)
{
	struct recheck *recheck = context;
	struct osp_controller_nodes nodes = {.count = 0};
	const struct osp_controller_node *now;
	int error = errno;

	if (!file) {
		osp_say_warning("%s: another recheck left it, and its file cannot be opened: %s; "
				"it stays as it is",
				node, strerror(error));
		return;
	}
	now = ask_again(node, &nodes, &error);
	if (!error && *reason && now && !now->drained)
		error = drain_as_ours(now, node, reason);
	recheck->changed = true;
	if (error) {
		osp_say_warning("%s: a recheck that was killed left it undrained, inside its "
				"reservation, and it stays there: %s",
				node, osp_controller_words(error));
		osp_trial_leave(file);
	} else if (!now || osp_trial_judged(file) == 0) {
		let_go(file, node);
	} else {
		osp_trial_leave(file);
	}
	osp_controller_nodes_free(&nodes);
}

/* Returns whether the reservation is still there. Asked with its lock held: a recheck that has
 * ended since may have given the node back, and a job may run on it. */
static bool is_left_still(const char *node)
{
	char **nodes, **found;
	bool left = false;

	if (osp_controller_trials(call_until_ms(), &nodes) == 0)
		for (found = nodes; *found && !left; found++)
			left = !strcmp(*found, node);
	osp_controller_trials_free(nodes);
	return left;
}

/*
 * Takes over reservations without a file. A slurmctld that was killed before it saved comes back
 * with the reservation of a recheck that had ended, and with the node undrained; the check's result
 * is lost. So an undrained node is drained, as if its file still existed, and checked again.
 */
static void take_over_reservations(struct recheck *recheck)
{
	char **nodes = NULL;
	int error = osp_controller_trials(call_until_ms(), &nodes);

	if (error)
		osp_say_warning("reservations that rechecks left are not looked for: %s",
				osp_controller_words(error));
	for (char **node = nodes; !error && *node; node++) {
		struct osp_trial_file file;

		/* a file that still exists was left for a reason that was reported */
		if (osp_trial_stands(recheck->cluster, *node))
			continue;
		if (osp_trial_begin(&file, recheck->cluster, *node, LOST_REASON))
			osp_say_warning("%s: its reservation stays, for the next recheck", *node);
		else if (is_left_still(*node))
			take_over(recheck, &file, *node, LOST_REASON);
		else
			osp_trial_end(&file);
	}
	osp_controller_trials_free(nodes);
}

static void name_cluster(struct recheck *recheck)
{
	struct osp_error error = {.text = ""};
	char *path = osp_find_slurm_conf(&error);
	struct osp_slurm_conf *conf = path ? osp_load_slurm_conf(path, NULL, &error) : NULL;

	osp_cluster_folder(conf, recheck->cluster);
	snprintf(recheck->returns_path, sizeof(recheck->returns_path),
		 OSP_STATE_DIR "/recheck/%s.returns", recheck->cluster);
	osp_slurm_conf_free(conf);
	free(path);
}

static int load_nodes(struct recheck *recheck, struct osp_error *error)
{
	int code = osp_controller_nodes(call_until_ms(), &recheck->nodes);

	if (code)
		return osp_error_set(error, "%s", osp_controller_words(code));
	if (recheck->call->values[OSP_OPTION_DRY_RUN])
		return 0;
	name_cluster(recheck);
	osp_trials_left(recheck->cluster, take_over, recheck);
	take_over_reservations(recheck);
	if (!recheck->changed)
		return 0;
	osp_controller_nodes_free(&recheck->nodes);
	code = osp_controller_nodes(call_until_ms(), &recheck->nodes);
	return code ? osp_error_set(error, "%s", osp_controller_words(code)) : 0;
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

/* Chooses the named nodes, or all that are drained for a reason of ours. */
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
	int status = OSP_EXIT_YES, due;
	size_t in_quarantine = 0;
	json_t *list = json_array();

	for (uint32_t i = 0; i < recheck->count; i++) {
		const struct trial *trial = &recheck->trials[i];
		json_t *entry = json_object();

		if (trial->fate != RETURNED && trial->fate != WOULD_BE_CHECKED)
			status = OSP_EXIT_NO;
		if (!recheck->call->values[OSP_OPTION_JSON])
			printf("%s: %s: %s\n", trial->name, fate_names[trial->fate], trial->says);
		json_object_set_new(entry, "node", osp_json_string(trial->name));
		json_object_set_new(entry, "fate", osp_json_string(fate_names[trial->fate]));
		json_object_set_new(entry, "says", osp_json_string(trial->says));
		json_array_append_new(list, entry);
	}
	due = recheck->call->argument_count
		      ? OSP_EXIT_YES
		      : osp_quarantine_do_due(recheck->call, list, &in_quarantine);
	if (due > status)
		status = due;
	if (recheck->call->values[OSP_OPTION_JSON])
		return osp_print_json(list, status);
	if (recheck->ended && !in_quarantine)
		printf("clustermgtd ends drained nodes, so none is checked again; no node is in "
		       "quarantine\n");
	if (!recheck->count && !recheck->ended)
		printf("no node is drained for a reason that begins with \"%s\"\n",
		       OSP_REASON_PREFIX);
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
	recheck->config = osp_config_in_force(NULL, error);
	if (!recheck->config)
		return -1;
	recheck->policy = osp_config_history(recheck->config);
	return 0;
}

/* Reads the history. If that fails it only warns: nodes can be repaired without strikes. */
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

/* Blocks signals that would end this process, so that Ctrl-C does not leave a node undrained before
 * it is judged. */
static void hold_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
}

static bool must_end(void)
{
	sigset_t signals;

	sigpending(&signals);
	return sigismember(&signals, SIGINT) || sigismember(&signals, SIGTERM) ||
	       sigismember(&signals, SIGHUP);
}

static void try_or_report(struct recheck *recheck, struct trial *trial)
{
	if (!recheck->call->values[OSP_OPTION_DRY_RUN]) {
		try_node(recheck, trial);
		return;
	}
	trial->fate = WOULD_BE_CHECKED;
	leave(trial, "drained for: %.160s", trial->node->reason);
}

int osp_run_recheck(const struct osp_call *call)
{
	struct recheck recheck = {.call = call};
	struct osp_error error = {.text = ""};
	int status;

	if (geteuid() != 0)
		osp_error_set(&error, "recheck is for root: it undrains nodes and drains them");
	else if ((recheck.ended = osp_clustermgtd_owns_drained()) && call->argument_count)
		osp_error_set(&error,
			      "clustermgtd owns the drained nodes of this cluster and ends their "
			      "instances: none can be checked again (onespine quarantine)");
	else if (find_program(&recheck, &error) == 0 && read_policy(&recheck, &error) == 0) {
		if (load_nodes(&recheck, &error) == 0 && !recheck.ended)
			choose(&recheck, &error);
	}
	if (*error.text) {
		status = osp_say_error(&error);
	} else {
		read_history(&recheck);
		hold_signals();
		for (uint32_t i = 0; i < recheck.count; i++) {
			if (must_end())
				leave(&recheck.trials[i], "interrupted");
			else if (may_try(&recheck, &recheck.trials[i]))
				try_or_report(&recheck, &recheck.trials[i]);
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
