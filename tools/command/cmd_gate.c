/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_gate.c - `onespine gate prolog` and `gate epilog`: what slurmd runs before and after a job; and
 * `gate reduce`, which the first of them runs */
#include "onespine_config.h"
#include "tools/shared/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "check/check.h"
#include "check/gang_reduce.h"
#include "check/gpus.h"
#include "tools/gate/gate_check.h"
#include "tools/gate/gate_talk.h"
#include "tools/record/thresholds_file.h"

#define LOG_FILE     OSP_LOG_DIR "/gate.log"
#define STATE_FOLDER OSP_STATE_DIR
#define EPILOG_MS    20000 /* of a node that the next job may be waiting for */

/* --- the log ------------------------------------------------------------------------------------ */

const char *osp_gate_log_path(const struct osp_gate_job *job, char *buffer, size_t buffer_bytes)
{
	snprintf(buffer, buffer_bytes, "%s%s", job->root, LOG_FILE);
	return buffer;
}

/* One line a write(), so that gates side by side do not mix; a full disk costs the line. */
void osp_gate_log(const struct osp_gate_job *job, const char *format, ...)
{
	char words[1024], line[1200], path[4096], when[32] = "";
	time_t now = time(NULL);
	struct tm local;
	va_list arguments;
	int file, length;

	va_start(arguments, format);
	vsnprintf(words, sizeof(words), format, arguments);
	va_end(arguments);
	if (localtime_r(&now, &local))
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &local);
	length = snprintf(line, sizeof(line), "%s %s job %u: %s\n", when, job->node, job->gang.job,
			  words);
	fprintf(stderr, "onespine gate: %s\n", words);
	osp_gate_log_path(job, path, sizeof(path));
	file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (file < 0)
		return;
	if (write(file, line, (size_t)length) != length)
		fprintf(stderr, "onespine gate: %s: %s\n", path, strerror(errno));
	close(file);
}

/* --- prolog ------------------------------------------------------------------------------------- */

static void log_verdict(const struct osp_gate_job *job, const struct osp_gate_report *own,
			const struct osp_gate_verdict *verdict, uint64_t begun_ms)
{
	const struct osp_gate_sentence *sentence = osp_gate_sentence(verdict, job->gang.rank);

	osp_gate_log(job, "%s%s after %llu ms: %s by %s of %u nodes%s%s%s%s",
		     osp_gate_result_name(own->result), own->fresh ? " (fresh)" : "",
		     (unsigned long long)(osp_now_ms() - begun_ms),
		     osp_gate_kind_name(verdict->kind), job->gang.nodes[verdict->decider],
		     job->gang.node_count, *verdict->says ? ": " : "", verdict->says,
		     sentence && *sentence->reason ? "; this node: " : "",
		     sentence ? sentence->reason : "");
}

static struct osp_gate_here here_for(struct osp_gate_job *job, uint64_t begun_ms)
{
	return (struct osp_gate_here){
		.job = job,
		.gang = &job->gang,
		.policy = job->policy,
		.test_root = job->root,
		.begun_ms = begun_ms,
	};
}

/*
 * 0 whatever the verdict: what is to be done about it is done, and a Prolog that fails would drain
 * this node and hold the job. Only a node that failed and reached nobody says so by failing: its job
 * must not start, and nobody else will stop it.
 */
static int run_prolog(struct osp_gate_job *job, uint64_t begun_ms)
{
	struct osp_gate_here here = here_for(job, begun_ms);
	char state_folder[4096];
	struct osp_gate_verdict verdict;
	struct osp_gate_report own;
	int status = OSP_EXIT_YES;

	snprintf(state_folder, sizeof(state_folder), "%s%s", job->root, STATE_FOLDER);
	here.state_folder = state_folder;
	if (osp_gate_talk(job, &here, &own, &verdict) == OSP_GATE_KNOWN) {
		log_verdict(job, &own, &verdict, begun_ms);
	} else {
		osp_gate_log(job, "%s, and no verdict in %u s", osp_gate_result_name(own.result),
			     job->policy->budget_s);
		if (own.result == OSP_GATE_FAIL)
			status = OSP_EXIT_NO;
	}
	osp_gate_verdict_free(&verdict);
	return status;
}

/* --- epilog ------------------------------------------------------------------------------------- */

static int run_epilog(struct osp_gate_job *job, uint64_t begun_ms)
{
	struct osp_gate_here here = here_for(job, begun_ms);
	struct osp_gate_report report = {.rank = job->gang.rank};
	struct osp_error error = {.text = ""};
	struct osp_gate_check check;
	char state_folder[4096];

	snprintf(state_folder, sizeof(state_folder), "%s%s", job->root, STATE_FOLDER);
	here.state_folder = state_folder;
	job->depth = OSP_GATE_PASSIVE; /* the GPUs may still be settling; and it should be quick */
	if (osp_gate_check_start(&check, job, EPILOG_MS, false, &error)) {
		osp_gate_log(job, "%s", error.text);
		return OSP_EXIT_YES;
	}
	osp_gate_check_end(&check, !osp_gate_check_wait(&check, begun_ms + EPILOG_MS), &report);
	if (report.result >= OSP_GATE_WARN)
		osp_gate_log(job, "after the job: %s %s %s", osp_gate_result_name(report.result),
			     report.check, report.reason);
	osp_gate_act_epilog(&here, &report, check.json.data ? check.json.data : "");
	osp_gate_check_free(&check);
	return OSP_EXIT_YES;
}

/* --- both --------------------------------------------------------------------------------------- */

static int run_gate(int (*work)(struct osp_gate_job *job, uint64_t begun_ms))
{
	struct osp_error error = {.text = ""};
	uint64_t begun_ms = osp_now_ms();
	struct osp_gate_job job;
	int status = OSP_EXIT_YES;
	char words[sizeof(error) + 32];

	/* What slurmd gives is whole; where we cannot read it, ours is what broke, not the node. */
	if (osp_gate_job_read(&job, &error))
		status = osp_say_error(&error) && getenv("SLURM_JOB_ID") ? OSP_EXIT_YES
									 : OSP_EXIT_UNABLE;
	else if (osp_gate_job_wanted(&job)) {
		/* A file that is refused changes nothing: the built-in values are in force. */
		if (*job.refused.text)
			osp_gate_log(&job, "%s: the built-in values are in force",
				     osp_error_format(&job.refused, words, sizeof(words)));
		status = work(&job, begun_ms);
	}
	osp_gate_job_free(&job);
	return status;
}

int osp_run_gate_prolog(const struct osp_call *call)
{
	(void)call;
	return run_gate(run_prolog);
}

int osp_run_gate_epilog(const struct osp_call *call)
{
	(void)call;
	return run_gate(run_epilog);
}

/* --- reduce ------------------------------------------------------------------------------------- */

int osp_run_gate_reduce(const struct osp_call *call)
{
	const char *root = getenv("ONESPINE_TEST_ROOT"), *gpus = call->values[OSP_OPTION_GPUS];
	struct osp_error error = {.text = ""};
	struct osp_thresholds *thresholds;
	struct osp_check_context context;
	struct stat status;
	int result;

	root = root ? root : "";
	if (fstat(STDIN_FILENO, &status) || !S_ISSOCK(status.st_mode)) {
		osp_error_set(&error, "standard input is no socket: this is run by gate prolog");
		return osp_say_error(&error);
	}
	if (gpus && !osp_gpus_valid(gpus, &error))
		return osp_say_error(&error);
	thresholds = osp_thresholds_in_force(NULL, root, &error);
	if (!thresholds)
		return osp_say_error(&error);
	osp_check_context_set(&context, root, thresholds);
	context.gpus = gpus;
	context.depth = OSP_DEPTH_QUICK;
	result = osp_gang_serve(&context, STDIN_FILENO, STDIN_FILENO);
	osp_thresholds_free(thresholds);
	return result ? OSP_EXIT_NO : OSP_EXIT_YES;
}
