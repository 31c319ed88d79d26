/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * passive_imex.c - the state of NVIDIA's IMEX service, which lets GPUs of several nodes of a rack
 * reach each other's memory
 *
 * `nvidia-imex-ctl -q` names the state of this node's daemon. Its words are those that NVIDIA's
 * DCGM knows (DcgmImexManager). It is asked only if a daemon of root's runs: else a user could
 * answer in its place, on the daemon's port.
 */
#include "check/passive/passive.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/base/child.h"
#include "check/base/gpus.h"
#include "check/base/process.h"
#include "check/base/root.h"
#include "lib/base/clean.h"

#define CONTROL	      "usr/bin/nvidia-imex-ctl"
#define DAEMON	      "nvidia-imex"
#define ANSWER_MS     2000
#define YOUNG_S	      120 /* a Prolog may start the daemon anew for each job */
#define STAT_BYTES    1024
#define STARTED_FIELD 22 /* of /proc/PID/stat, in clock ticks since boot */
#define AFTER_NAME    3	 /* the number of the first field after the name */
#define TEXT_BYTES    256

enum whose {
	NOBODYS, /* nothing is wrong */
	PEERS,	 /* another node may be the cause, or a user, or a restart */
	OWN,	 /* the daemon's start on this node has not ended */
};

static const struct {
	const char *word;
	enum whose whose;
} states[] = {
	{"READY", NOBODYS},	  {"INITIALIZING", OWN},	{"STARTING_AUTH_SERVER", OWN},
	{"INIT_GPU", OWN},	  {"WAITING_FOR_PEERS", PEERS}, {"WAITING_FOR_RECOVERY", PEERS},
	{"SHUTTING_DOWN", PEERS}, {"UNAVAILABLE", PEERS},
};

#define STATE_COUNT (sizeof(states) / sizeof(states[0]))

/* What was found. */
struct imex {
	bool installed;
	bool runs;
	uint64_t age_s;		     /* of the daemon; 0: not known */
	size_t state;		     /* STATE_COUNT: none of these */
	char said[TEXT_BYTES];	     /* its first line, cleaned */
	char trouble[OSP_WHY_BYTES]; /* why it was not asked; "" if it was */
};

/* Returns how long a process has run, in seconds; 0 if that is not known. */
static uint64_t age_of(const struct osp_check_context *context, unsigned int pid)
{
	char stat[STAT_BYTES], *field;
	unsigned long long ticks;
	long each_s = sysconf(_SC_CLK_TCK);

	if (each_s <= 0 || !osp_root_read(context->root, stat, sizeof(stat), "proc/%u/stat", pid))
		return 0;
	field = strrchr(stat, ')'); /* the name may hold anything */
	for (int n = AFTER_NAME - 1; field && n < STARTED_FIELD; n++)
		field = strchr(field + 1, ' ');
	if (!field || sscanf(field, "%llu", &ticks) != 1 ||
	    ticks / (unsigned long long)each_s > context->uptime_s)
		return 0;
	return context->uptime_s - ticks / (unsigned long long)each_s;
}

static bool is_the_daemon(const struct osp_check_context *context, unsigned int pid)
{
	char name[64];
	unsigned int uid;

	return osp_root_read(context->root, name, sizeof(name), "proc/%u/comm", pid) &&
	       !strcmp(name, DAEMON) && osp_process_uid(context->root, pid, &uid) && uid == 0;
}

static void find_daemon(const struct osp_check_context *context, struct imex *imex)
{
	char path[OSP_PATH_BYTES];
	DIR *folder =
		osp_root_path(context->root, path, sizeof(path), "proc") ? opendir(path) : NULL;
	struct dirent *entry;
	unsigned int pid;

	while (folder && !imex->runs && (entry = readdir(folder))) {
		if (sscanf(entry->d_name, "%u", &pid) != 1 || !is_the_daemon(context, pid))
			continue;
		imex->runs = true;
		imex->age_s = age_of(context, pid);
	}
	if (folder)
		closedir(folder);
}

/* Becomes, in the child, the control program, with its outputs into the pipe. */
static void become_control(const char *path, int output)
{
	char *const arguments[] = {(char[]){"nvidia-imex-ctl"}, (char[]){"-q"}, NULL};
	char *const environment[] = {(char[]){"PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
				     (char[]){"LC_ALL=C"}, NULL};

	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	execve(path, arguments, environment);
	dprintf(STDERR_FILENO, "it cannot be run: %s\n", strerror(errno));
	_exit(1);
}

/* Reads what the program writes until it ends. Returns false if its time is over. */
static bool hear(int file, char *text, size_t text_bytes, uint64_t until_ms)
{
	size_t length = 0;
	ssize_t count = 1;

	while (count > 0) {
		struct pollfd wait = {.fd = file, .events = POLLIN};
		uint64_t now_ms = osp_now_ms();
		char bytes[TEXT_BYTES];

		if (now_ms >= until_ms || poll(&wait, 1, (int)(until_ms - now_ms)) <= 0)
			return false;
		count = read(file, bytes, sizeof(bytes));
		for (ssize_t i = 0; i < count && length + 1 < text_bytes; i++)
			text[length++] = bytes[i] ? bytes[i] : '?';
	}
	text[length] = '\0';
	return true;
}

static void ask(const struct osp_check_context *context, struct imex *imex)
{
	char path[OSP_PATH_BYTES], text[TEXT_BYTES] = "";
	int answer;
	pid_t child;

	if (!osp_root_path(context->root, path, sizeof(path), CONTROL))
		return;
	child = osp_child_start(&answer);
	if (child == 0)
		become_control(path, answer);
	if (child < 0) {
		snprintf(imex->trouble, sizeof(imex->trouble), "no process: %s", strerror(errno));
		return;
	}
	if (!hear(answer, text, sizeof(text), osp_now_ms() + ANSWER_MS))
		snprintf(imex->trouble, sizeof(imex->trouble), "no answer in %d s",
			 ANSWER_MS / 1000);
	close(answer);
	osp_child_drop(child);
	text[strcspn(text, "\r\n")] = '\0';
	snprintf(imex->said, sizeof(imex->said), "%s", osp_clean(text));
	while (imex->state < STATE_COUNT && strcmp(states[imex->state].word, imex->said) != 0)
		imex->state++;
}

static struct imex look(const struct osp_check_context *context)
{
	struct imex imex = {.installed = osp_root_exists(context->root, CONTROL)};

	if (imex.installed)
		find_daemon(context, &imex);
	if (imex.runs)
		ask(context, &imex);
	return imex;
}

/* Returns whether the daemon's start on this node takes too long. */
static bool is_stuck(const struct imex *imex)
{
	return imex->runs && !*imex->trouble && imex->state < STATE_COUNT &&
	       states[imex->state].whose == OWN && imex->age_s >= YOUNG_S;
}

/* Returns whether GPUs of this node are of a kind that is made for such racks. */
static bool is_of_a_rack(struct osp_check_context *context)
{
	struct osp_gpus gpus;

	if (!osp_gpus_open(context, &gpus))
		return false;
	for (size_t i = 0; i < gpus.count; i++)
		if (strstr(gpus.gpus[i].name, "GB200") || strstr(gpus.gpus[i].name, "GB300"))
			return true;
	return false;
}

static void report_state(struct osp_check_context *context, const struct imex *imex)
{
	struct osp_result reported = {.verdict = OSP_VERDICT_WARN, .cure = OSP_CURE_ASK};

	snprintf(reported.value, sizeof(reported.value), "%s", states[imex->state].word);
	snprintf(reported.source, sizeof(reported.source), "nvidia-imex-ctl -q");
	if (is_stuck(imex)) {
		reported.verdict = OSP_VERDICT_ERROR;
		reported.later = true;
		snprintf(reported.why, sizeof(reported.why),
			 "IMEX's daemon began %llu s ago, and its start has not ended",
			 (unsigned long long)imex->age_s);
	} else if (states[imex->state].whose == OWN) {
		snprintf(reported.why, sizeof(reported.why), "IMEX's daemon is starting");
	} else {
		snprintf(reported.why, sizeof(reported.why),
			 "memory of other nodes' GPUs cannot be reached; the cause may be another "
			 "node of the IMEX domain");
	}
	context->report(context, &reported);
}

static void run_imex(struct osp_check_context *context)
{
	const struct imex imex = look(context);

	if (!imex.installed)
		osp_result_skip(context, "IMEX is not installed (/" CONTROL ")");
	else if (!imex.runs && !is_of_a_rack(context))
		osp_result_skip(context, "IMEX's daemon does not run");
	else if (!imex.runs)
		osp_result_add(context, OSP_VERDICT_WARN, OSP_CURE_ASK, "", "not running", NULL,
			       NULL,
			       "IMEX's daemon does not run; jobs that reach memory of other "
			       "nodes' GPUs need it, if no Prolog starts it for each job");
	else if (*imex.trouble)
		osp_result_error(context, "", "nvidia-imex-ctl -q: %s", imex.trouble);
	else if (imex.state == STATE_COUNT)
		osp_result_error(context, "", "nvidia-imex-ctl -q: an unknown answer: %.100s",
				 imex.said);
	else if (states[imex.state].whose == NOBODYS)
		osp_result_pass(context, "ready");
	else
		report_state(context, &imex);
}

static int imex_still_ill(struct osp_check_context *context)
{
	const struct imex imex = look(context);

	return is_stuck(&imex);
}

const struct osp_check osp_check_imex = {
	.name = "imex",
	.group = OSP_GROUP_GPU,
	.worst = OSP_VERDICT_FAIL,
	.settles = true,
	.deadline_ms = 5000,
	.measures = "IMEX's daemon is ready, where it is installed and runs (GB200, GB300)",
	.explains = "Asks nvidia-imex-ctl -q, if a daemon of root's runs. A start on this node "
		    "that has not ended two minutes after the daemon began (INITIALIZING, "
		    "STARTING_AUTH_SERVER, INIT_GPU) fails when a second look a minute later "
		    "finds it too. A daemon that waits for other nodes or does not answer its "
		    "control program only warns: another node, a user who keeps its port busy, or "
		    "a Prolog that starts it for each job may be the cause. A missing daemon warns "
		    "on GB200 and GB300 alone. It does not compare nodes_config.cfg with the job.",
	.cures = "Look at /var/log/nvidia-imex.log and at nodes_config.cfg, which must be the same "
		 "on all nodes of the domain; start nvidia-imex anew on all of them.",
	.run = run_imex,
	.still_ill = imex_still_ill,
};
