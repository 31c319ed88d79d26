/* SPDX-License-Identifier: GPL-2.0-or-later */
/* site_program.c - runs a program of the site's until its end or its time is over */
#include "onespine_config.h"
#include "check/base/site_program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check/base/child.h"
#include "check/base/root.h"
#include "check/check.h"
#include "lib/base/clean.h"

#define LOOK_MS	   10	/* a program may close its outputs long before it ends */
#define LEFT_MS	   1000 /* to kill what it has left */
#define STAT_BYTES 512
#define NOT_RUN	   126
#define SIGNAL_END 65

/* What it says, of which the first line is kept. */
struct hearing {
	int file; /* -1: it has closed its outputs */
	char line[OSP_SITE_LINE_BYTES];
	size_t length;
	bool whole; /* what follows is not kept */
};

/* --- in the child ----------------------------------------------------------------------------- */

/* A Prolog of slurmd's may ignore or hold back what ends a program. */
static void reset_signals(void)
{
	sigset_t none;

	for (int number = 1; number < SIGNAL_END; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void become(const char *path, char *const *environment, int output)
{
	char name[OSP_PATH_BYTES];
	char *const arguments[] = {name, NULL};
	int nothing = open("/dev/null", O_RDONLY);

	snprintf(name, sizeof(name), "%s", path);
	dup2(nothing, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	osp_child_close_but(-1, -1);
	setsid();
	reset_signals();
	umask(022);
	if (chdir("/") == 0)
		execve(path, arguments, environment);
	dprintf(STDERR_FILENO, "it cannot be run: %s\n", strerror(errno));
	_exit(NOT_RUN);
}

/* --- in the parent ---------------------------------------------------------------------------- */

static void keep(struct hearing *hearing, const char *bytes, size_t count)
{
	for (size_t i = 0; i < count && !hearing->whole; i++) {
		bool ends = bytes[i] == '\n' || bytes[i] == '\r';

		if (ends && hearing->length)
			hearing->whole = true;
		else if (!ends && hearing->length < sizeof(hearing->line) - 1)
			hearing->line[hearing->length++] = bytes[i] ? bytes[i] : '?';
	}
}

/* Takes what is there. */
static void hear(struct hearing *hearing)
{
	char bytes[4096];
	ssize_t count = read(hearing->file, bytes, sizeof(bytes));

	if (count > 0) {
		keep(hearing, bytes, (size_t)count);
	} else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
		close(hearing->file);
		hearing->file = -1;
	}
}

/* Whether it has ended; its status stays to be taken, so that its number is no other's. */
static bool has_ended(pid_t child, siginfo_t *how)
{
	memset(how, 0, sizeof(*how));
	return waitid(P_PID, (id_t)child, how, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       how->si_pid == child;
}

static bool hear_until_end(pid_t child, struct hearing *hearing, uint64_t until_ms, siginfo_t *how)
{
	while (!has_ended(child, how)) {
		struct pollfd wait = {.fd = hearing->file, .events = POLLIN};

		if (osp_now_ms() >= until_ms)
			return false;
		if (poll(&wait, 1, LOOK_MS) > 0)
			hear(hearing);
	}
	return true;
}

/* What it said just before its end; a pipe holds no more, and others may go on writing. */
static void hear_rest(struct hearing *hearing)
{
	for (int reads = 0; reads < 16 && hearing->file >= 0 && !hearing->whole; reads++) {
		struct pollfd wait = {.fd = hearing->file, .events = POLLIN};

		if (poll(&wait, 1, 0) <= 0)
			return;
		hear(hearing);
	}
}

static bool is_ours(unsigned int process)
{
	char text[STAT_BYTES];
	const char *behind_name;
	int parent;

	if (!osp_root_read("", text, sizeof(text), "proc/%u/stat", process))
		return false;
	behind_name = strrchr(text, ')');
	return behind_name && sscanf(behind_name, ") %*c %d", &parent) == 1 && parent == getpid();
}

/* Until its status is taken, a child's number is no other's. */
static void kill_children(void)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	unsigned int process;

	while (folder && (entry = readdir(folder)))
		if (sscanf(entry->d_name, "%u", &process) == 1 && is_ours(process))
			kill((pid_t)process, SIGKILL);
	if (folder)
		closedir(folder);
}

/*
 * Kills what has left the program's group, in a session of its own or twice removed: the kernel
 * gives each process whose parent has ended to this one, which holds no other children. What cannot
 * be killed, or goes on forking for so long, is left behind.
 */
static void end_left(void)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	uint64_t until_ms = osp_now_ms() + LEFT_MS;

	while (osp_now_ms() < until_ms) {
		pid_t ended = waitpid(-1, NULL, WNOHANG);

		if (ended < 0 && errno != EINTR)
			return;
		if (ended != 0)
			continue;
		kill_children();
		nanosleep(&moment, NULL);
	}
}

static void follow(pid_t child, struct hearing *hearing, uint64_t until_ms,
		   struct osp_site_said *said)
{
	siginfo_t how;

	if (hear_until_end(child, hearing, until_ms, &how)) {
		said->end = how.si_code == CLD_EXITED ? OSP_SITE_EXIT : OSP_SITE_SIGNAL;
		said->code = how.si_status;
	} else {
		said->end = OSP_SITE_LATE;
	}
	hear_rest(hearing);
	kill(-child, SIGKILL);
	osp_child_drop(child);
	end_left();
}

void osp_site_program_run(const char *path, char *const *environment, uint64_t until_ms,
			  struct osp_site_said *said)
{
	struct hearing hearing = {.file = -1};
	pid_t parent = getpid(), child;
	int ends[2];

	memset(said, 0, sizeof(*said));
	said->end = OSP_SITE_UNRUN;
	signal(SIGCHLD, SIG_DFL); /* ignored ones leave no status */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (pipe2(ends, O_CLOEXEC) < 0) {
		said->code = errno;
		return;
	}
	child = fork();
	if (child == 0) {
		osp_child_follow(parent);
		become(path, environment, ends[1]);
	}
	said->code = errno;
	close(ends[1]);
	hearing.file = ends[0];
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	if (child > 0)
		follow(child, &hearing, until_ms, said);
	if (hearing.file >= 0)
		close(hearing.file);
	osp_copy_clean(said->line, sizeof(said->line), hearing.line);
}
