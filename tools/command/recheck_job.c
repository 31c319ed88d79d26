/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recheck_job.c - the job of `onespine recheck`: the check, run by srun inside the reservation */
#include "onespine_config.h"
#include "tools/command/recheck_job.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check/base/child.h"
#include "check/check.h"
#include "host/slurm/controller.h"
#include "lib/base/text.h"

#define WAIT_S	  120 /* the longest wait for the check to begin */
#define CHECK_MIN 50
/* The job has ended by then, even if it waited first. If there is still no output, slurmctld does
 * not answer. */
#define CHECK_MOST_MS	 ((uint64_t)(WAIT_S + CHECK_MIN * 60 + 180) * 1000)
#define ANSWER_BYTES	 ((size_t)4 * 1024 * 1024)

#define WORDS_OF(number) #number
#define NUMBER(macro)	 WORDS_OF(macro)

/* Starts srun in a child of its own; *answer gives the check's output. Returns -1 if it could not
 * be started. */
static pid_t start_check(const struct osp_recheck_job *what, const char *depth, int *answer)
{
	char in[128], node[300], deep[32], gpus[64], job[] = "--job-name=" OSP_TRIAL_JOB;
	char *arguments[20];
	size_t n = 0;
	int ends[2];
	pid_t child;

	snprintf(in, sizeof(in), "--reservation=%s", what->reservation);
	snprintf(node, sizeof(node), "--nodelist=%s", what->node);
	snprintf(deep, sizeof(deep), "--depth=%s", depth);
	snprintf(gpus, sizeof(gpus), "--gpus-per-node=%u", what->gpus);
	arguments[n++] = "srun";
	arguments[n++] = "--quiet"; /* we know that the node is reserved */
	arguments[n++] = job;
	arguments[n++] = in;
	arguments[n++] = node;
	arguments[n++] = "--nodes=1";
	arguments[n++] = "--ntasks=1";
	arguments[n++] = "--exclusive";
	arguments[n++] = "--immediate=" NUMBER(WAIT_S);
	arguments[n++] = "--time=" NUMBER(CHECK_MIN);
	arguments[n++] = "--chdir=/";
	arguments[n++] = "--export=NONE";
	if (what->gpus)
		arguments[n++] = gpus;
	arguments[n++] = (char *)what->program;
	arguments[n++] = "check";
	arguments[n++] = "--json";
	arguments[n++] = deep;
	arguments[n] = NULL;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	child = fork();
	if (child == 0) {
		/* its job ends with us */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		dup2(ends[1], STDOUT_FILENO);
		execvp("srun", arguments);
		_exit(127);
	}
	close(ends[1]);
	if (child < 0)
		close(ends[0]);
	*answer = ends[0];
	return child;
}

/* Reads all output. Returns false if it has not ended long after its job must have: slurmctld does
 * not answer. */
static bool hear_check(int answer, struct osp_text *text)
{
	struct pollfd file = {.fd = answer, .events = POLLIN};
	uint64_t until_ms = osp_now_ms() + CHECK_MOST_MS, now_ms;
	char bytes[16384];
	ssize_t got;

	while ((now_ms = osp_now_ms()) < until_ms) {
		if (poll(&file, 1, (int)(until_ms - now_ms)) <= 0)
			continue;
		got = read(answer, bytes, sizeof(bytes));
		if (got == 0 || (got < 0 && errno != EINTR))
			return true;
		if (got > 0 && text->length_bytes + (size_t)got <= ANSWER_BYTES)
			osp_text_add_bytes(text, bytes, (size_t)got);
	}
	return false;
}

char *osp_recheck_job_run(const struct osp_recheck_job *what, const char *depth, bool *late)
{
	struct osp_text text = OSP_TEXT_INIT;
	int file;
	pid_t child = start_check(what, depth, &file);
	char *answer;

	if (child < 0)
		return NULL;
	*late = !hear_check(file, &text);
	close(file);
	if (*late)
		osp_child_drop(child);
	while (!*late && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	answer = osp_text_take(&text);
	if (answer && *answer && !*late)
		return answer;
	free(answer);
	return NULL;
}
