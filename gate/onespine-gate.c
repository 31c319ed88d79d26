/* SPDX-License-Identifier: GPL-2.0-or-later */
/* onespine-gate.c - what slurmd runs as root before and after a job (prolog, epilog), and what the
 * first of them runs without rights (reduce) */
#include "onespine_config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "check/check.h"
#include "check/gpu/gang_reduce.h"
#include "check/base/gpus.h"
#include "gate/gate_again.h"
#include "gate/gate_check.h"
#include "gate/gate_gpus.h"
#include "gate/gate_loop.h"
#include "gate/gate_report.h"
#include "host/output.h"
#include "lib/base/own_lock.h"
#include "lib/base/text.h"
#include "host/record/thresholds_file.h"

#define LOG_FILE     OSP_LOG_DIR "/gate.log"
#define STATE_FOLDER OSP_STATE_DIR
#define EPILOG_MS    20000 /* of a node that the next job may be waiting for */

/* --- the log ---------------------------------------------------------------------------------- */

const char *osp_gate_log_path(const struct osp_gate_job *job, char *buffer, size_t buffer_bytes)
{
	snprintf(buffer, buffer_bytes, "%s%s", job->root, LOG_FILE);
	return buffer;
}

/* Opens the log, for the caller to close. Its folder is missing on a node that mounts the
 * installation and has /var to itself: it is made with the first line. Returns -1 and sets errno if
 * there is none. */
static int open_log(const struct osp_gate_job *job, const char *path)
{
	const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
	int file = open(path, flags, 0640);
	char folder[4096];

	if (file >= 0 || errno != ENOENT)
		return file;
	snprintf(folder, sizeof(folder), "%s%s", job->root, OSP_LOG_DIR);
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return -1;
	return open(path, flags, 0640);
}

/* Writes one line a write(), so that gates side by side do not mix; a full disk costs the line. */
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
	file = open_log(job, path);
	if (file < 0 || write(file, line, (size_t)length) != length)
		fprintf(stderr, "onespine gate: %s: %s\n", path, strerror(errno));
	if (file >= 0)
		close(file);
}

/* --- prolog ----------------------------------------------------------------------------------- */

static void log_verdict(const struct osp_gate_job *job, const struct osp_gate_report *own,
			const struct osp_gate_verdict *verdict, uint64_t begun_ms)
{
	const struct osp_gate_sentence *sentence = osp_gate_sentence(verdict, job->gang.rank);

	osp_gate_log(job, "%s%s after %llu ms: %s by %s of %u node%s%s%s%s%s",
		     osp_verdict_name(own->result), own->fresh ? " (fresh)" : "",
		     (unsigned long long)(osp_now_ms() - begun_ms),
		     osp_gate_kind_name(verdict->kind), job->gang.nodes[verdict->decider],
		     job->gang.node_count, osp_plural_s(job->gang.node_count),
		     *verdict->says ? ": " : "", verdict->says,
		     sentence && *sentence->reason ? "; this node: " : "",
		     sentence ? sentence->reason : "");
}

/* Fills `state_folder` of PATH_MAX bytes, which must outlive the result. */
static struct osp_gate_here here_for(struct osp_gate_job *job, uint64_t begun_ms,
				     char *state_folder)
{
	snprintf(state_folder, PATH_MAX, "%s%s", job->root, STATE_FOLDER);
	return (struct osp_gate_here){
		.job = job,
		.gang = &job->gang,
		.policy = job->policy,
		.state_folder = state_folder,
		.test_root = job->root,
		.begun_ms = begun_ms,
	};
}

/*
 * Returns 0 whatever the verdict: its effects are done, and a Prolog that fails would drain this
 * node and hold the job. Only a node that failed and could not report it fails, if policy drains
 * for that: its job must not start, and nobody else will stop it.
 */
static int run_prolog(struct osp_gate_job *job, uint64_t begun_ms)
{
	char state_folder[PATH_MAX];
	struct osp_gate_here here = here_for(job, begun_ms, state_folder);
	struct osp_gate_verdict verdict;
	struct osp_gate_report own;
	int status = OSP_EXIT_YES;

	if (osp_gate_loop(job, &here, &own, &verdict) == OSP_GATE_KNOWN) {
		log_verdict(job, &own, &verdict, begun_ms);
	} else {
		osp_gate_log(job, "%s, and no verdict in %llu s", osp_verdict_name(own.result),
			     (unsigned long long)(osp_now_ms() - begun_ms + 500) / 1000);
		if (own.result == OSP_VERDICT_FAIL &&
		    osp_gate_policy_failure(job->policy, own.check) == OSP_GATE_ON_FAIL_DRAIN)
			status = OSP_EXIT_NO;
	}
	osp_gate_verdict_free(&verdict);
	return status;
}

/* Does what is left to a child that comes after killed ones (gate_again.h). */
static int run_stop(struct osp_gate_job *job, uint64_t begun_ms)
{
	char state_folder[PATH_MAX];
	struct osp_gate_here here = here_for(job, begun_ms, state_folder);

	/* this node is silent then, which stops no job: gate_verdict.h */
	if (job->policy->failure != OSP_GATE_ON_FAIL_DRAIN && !osp_gate_again_settled()) {
		osp_gate_log(job,
			     "the gate was killed before the start was settled; the job goes on "
			     "(failure: drain would stop it)");
		return OSP_EXIT_YES;
	}
	return osp_gate_act_stop(&here) ? OSP_EXIT_YES : OSP_EXIT_NO;
}

/* --- epilog ----------------------------------------------------------------------------------- */

static int run_epilog(struct osp_gate_job *job, uint64_t begun_ms)
{
	char state_folder[PATH_MAX];
	struct osp_gate_here here = here_for(job, begun_ms, state_folder);
	struct osp_gate_report report = {.rank = job->gang.rank};
	struct osp_error error = {.text = ""};
	struct osp_gate_check check;

	job->depth = OSP_GATE_PASSIVE; /* the GPUs may still be settling; and it should be quick */
	if (osp_gate_check_start(&check, job, EPILOG_MS, false, &error)) {
		osp_gate_log(job, "%s", error.text);
		return OSP_EXIT_YES;
	}
	osp_gate_check_end(&check, !osp_gate_check_wait(&check, begun_ms + EPILOG_MS), &report);
	if (report.result >= OSP_VERDICT_WARN)
		osp_gate_log(job, "after the job: %s %s %s", osp_verdict_name(report.result),
			     report.check, report.reason);
	osp_gate_act_epilog(&here, &report, check.json.data ? check.json.data : "");
	osp_gate_check_free(&check);
	return OSP_EXIT_YES;
}

/* --- both ------------------------------------------------------------------------------------- */

/* When the process that slurmd started began: one that works in a killed one's place has no budget
 * of its own. */
static uint64_t begun_ms;

typedef int run_f(struct osp_gate_job *job, uint64_t begun_ms);

static int run_wanted(struct osp_gate_job *job, run_f *work)
{
	char words[sizeof(job->refused) + 32];

	if (!osp_gate_job_wanted(job))
		return OSP_EXIT_YES;
	/* A file that is refused changes nothing: the built-in values are in force. */
	if (*job->refused.text)
		osp_gate_log(job, "%s: the built-in values are in force",
			     osp_error_format(&job->refused, words, sizeof(words)));
	if (job->gpus_unknown)
		osp_gate_log(job,
			     job->numbers_unsure
				     ? "the numbers by which Slurm names the job's GPUs may be "
				       "those of others on this node: all are checked, without load"
				     : "Slurm has not said which GPUs of this node the job has: "
				       "all are checked, without load");
	return work(job, begun_ms);
}

static int run_gate(run_f *work, bool asks)
{
	struct osp_error error = {.text = ""};
	struct osp_gate_job job;
	int status;

	/* What slurmd gives is whole; where we cannot read it, ours is what broke, not the node. */
	if (osp_gate_job_read(&job, &error)) {
		status = osp_say_error(&error) && getenv("SLURM_JOB_ID") ? OSP_EXIT_YES
									 : OSP_EXIT_UNABLE;
	} else {
		if (asks && osp_gate_job_wanted(&job))
			osp_gate_report_begin(&job);
		/* No other node could begin either while slurmctld did not answer. */
		if (asks && osp_gate_gpus_ask(&job))
			begun_ms = osp_now_ms();
		status = run_wanted(&job, work);
	}
	osp_gate_job_free(&job);
	return status;
}

static int prolog(void)
{
	return run_gate(run_prolog, true);
}

static int stop(void)
{
	return run_gate(run_stop, true);
}

static int epilog(void)
{
	return run_gate(run_epilog, false);
}

/* --- report ----------------------------------------------------------------------------------- */

#define REPORT_MOST_S 90 /* however many hosts do not answer */

/*
 * Returns whether another process of this node reports now: an array of short jobs begins a Prolog
 * for each, and each report asks NVML. The lock ends with this process.
 */
static bool is_reported(void)
{
	const char *root = getenv("ONESPINE_TEST_ROOT");
	char path[4096];
	int folder, lock, error;

	snprintf(path, sizeof(path), "%s" OSP_STATE_DIR, root ? root : "");
	mkdir(path, 0755);
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	error = folder < 0 ? errno : osp_own_lock(folder, "report.lock", 0, &lock);
	if (folder >= 0)
		close(folder);
	return error == EWOULDBLOCK;
}

static int run_report(void)
{
	struct osp_error error = {.text = ""};
	struct osp_gate_job job;
	int status = OSP_EXIT_UNABLE;

	if (is_reported())
		return OSP_EXIT_YES;
	alarm(REPORT_MOST_S);
	if (osp_gate_node_read(&job, &error))
		status = OSP_EXIT_UNABLE;
	else if (!osp_config_watch(job.config)->report_port)
		osp_error_set(&error, "watch.report_port of onespine.yaml is 0: nobody hears what "
				      "nodes report");
	else
		status = osp_gate_report(&job, &error) ? OSP_EXIT_NO : OSP_EXIT_YES;
	if (status != OSP_EXIT_YES)
		osp_say_error(&error);
	osp_gate_job_free(&job);
	return status;
}

/* --- reduce ----------------------------------------------------------------------------------- */

/* Runs the all-reduce of `gpus`: "0,2-3", or NULL for all. */
static int run_reduce(const char *gpus)
{
	const char *root = getenv("ONESPINE_TEST_ROOT");
	struct osp_error error = {.text = ""};
	struct osp_thresholds *thresholds;
	struct osp_check_context context;
	struct stat status;
	int result;

	/* what it says of wrong bytes drains nodes: others who run as nobody trace it not */
	prctl(PR_SET_DUMPABLE, 0);
	root = root ? root : "";
	if (fstat(STDIN_FILENO, &status) || !S_ISSOCK(status.st_mode)) {
		osp_error_set(&error,
			      "standard input is no socket: onespine-gate prolog runs this");
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

/* --- the command line ------------------------------------------------------------------------- */

static const char help[] =
	"usage: onespine-gate prolog | epilog | report\n"
	"       onespine-gate reduce [--gpus=LIST]\n"
	"\n"
	"For slurmd, as root; doc/gate.md and onespine-gate(8) say what it does.\n"
	"\n"
	"  prolog   check this node and its gang before a job's first process\n"
	"  epilog   put on record what a job's end left on this node\n"
	"  report   report to the watch on slurmctld's hosts where this node is\n"
	"  reduce   take part in a gang's all-reduces; 'prolog' runs it, without rights\n"
	"\n"
	"  --gpus=LIST   the GPUs that take part: 0,2-3\n"
	"  --help        print this help\n"
	"  --version     print the version\n"
	"\n"
	"Exit status: 0 done, whatever the verdict; 1 this node failed and could not report it, or "
	"the gate\n"
	"was killed and slurmctld did not answer, so the job must not start here (failure: "
	"drain); of report: 1 it "
	"is to be\n"
	"reported again; 2 the command line is wrong or, outside slurmd, there is no job\n";

static int wrong_usage(const char *word)
{
	fprintf(stderr,
		"onespine-gate: %s%s%sexpected prolog, epilog, report or reduce; see onespine-gate "
		"--help\n",
		word ? "'" : "", word ? word : "", word ? "': " : "");
	return OSP_EXIT_UNABLE;
}

int main(int argc, char **argv)
{
	static const char gpus[] = "--gpus=";
	const char *part = argc > 1 ? argv[1] : NULL, *option = argc > 2 ? argv[2] : NULL;

	osp_output_begin();
	begun_ms = osp_now_ms();
	if (!part)
		return wrong_usage(NULL);
	if (!strcmp(part, "reduce") && argc <= 3 &&
	    (!option || !strncmp(option, gpus, sizeof(gpus) - 1)))
		return run_reduce(option ? option + sizeof(gpus) - 1 : NULL);
	if (option)
		return wrong_usage(option);
	if (!strcmp(part, "prolog"))
		return osp_gate_again(prolog, stop, OSP_EXIT_NO);
	if (!strcmp(part, "epilog"))
		/* the job is over all the same */
		return osp_gate_again(epilog, NULL, OSP_EXIT_YES);
	if (!strcmp(part, "report"))
		return run_report();
	if (!strcmp(part, "--help"))
		return fputs(help, stdout) < 0 ? OSP_EXIT_UNABLE : OSP_EXIT_YES;
	if (!strcmp(part, "--version"))
		return puts(PACKAGE_STRING) < 0 ? OSP_EXIT_UNABLE : OSP_EXIT_YES;
	return wrong_usage(part);
}
