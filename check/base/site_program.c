/* SPDX-License-Identifier: GPL-2.0-or-later */
/* site_program.c - runs a program of the site until it ends or its time is over */
#include "onespine_config.h"
#include "check/base/site_program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check/base/child.h"
#include "check/base/root.h"
#include "check/base/site_group.h"
#include "check/check.h"
#include "lib/base/clean.h"

#define LOOK_MS	       10   /* a program may close its outputs long before it ends */
#define LEFT_MS	       1000 /* looks at all processes, until none that it left runs */
#define LOOKS_MOST     64   /* at all processes, until none that it left runs */
#define PROCESSES_MOST 65536
#define STAT_BYTES     512
#define NOT_RUN	       126
#define SIGNAL_END     65

/* The process that began this one has ended. */
static volatile sig_atomic_t must_end;

/* Its output, of which the first line is kept. */
struct hearing {
	int file; /* -1: it has closed its outputs */
	char line[OSP_SITE_LINE_BYTES];
	size_t length;
	bool whole; /* the line is complete; the rest is not kept */
};

/* --- in the child ----------------------------------------------------------------------------- */

/* Sets each signal to its default, because a Prolog of slurmd may ignore or block those that end a
 * program. */
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

/* Reads the output that is there. */
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

/* Returns whether it has ended. Leaves its status, so that no other process gets its id. Reaps
 * other children that have ended meanwhile, which would otherwise fill the process table. */
static bool has_ended(pid_t child, siginfo_t *how)
{
	for (int i = 0; i < PROCESSES_MOST; i++) {
		memset(how, 0, sizeof(*how));
		if (waitid(P_ALL, 0, how, WEXITED | WNOHANG | WNOWAIT) < 0 || !how->si_pid)
			return false;
		if (how->si_pid == child)
			return true;
		waitpid(how->si_pid, NULL, WNOHANG);
	}
	return false;
}

static bool hear_until_end(pid_t child, struct hearing *hearing, uint64_t until_ms, siginfo_t *how)
{
	while (!has_ended(child, how)) {
		struct pollfd wait = {.fd = hearing->file, .events = POLLIN};

		if (osp_now_ms() >= until_ms || must_end)
			return false;
		if (poll(&wait, 1, LOOK_MS) > 0)
			hear(hearing);
	}
	return true;
}

/* Reads what the program wrote just before its end. Reads at most as much as a pipe holds, because
 * others may go on writing. */
static void hear_rest(struct hearing *hearing)
{
	for (int reads = 0; reads < 16 && hearing->file >= 0 && !hearing->whole; reads++) {
		struct pollfd wait = {.fd = hearing->file, .events = POLLIN};

		if (poll(&wait, 1, 0) <= 0)
			return;
		hear(hearing);
	}
}

/* --- what it leaves --------------------------------------------------------------------------- */

/* A process of /proc. */
struct one {
	unsigned int id, parent;
	bool below;   /* below this process */
	bool stopped; /* or ended */
};

static bool look_at(struct one *one)
{
	char text[STAT_BYTES], state;
	const char *behind_name;

	if (!osp_root_read("", text, sizeof(text), "proc/%u/stat", one->id))
		return false;
	behind_name = strrchr(text, ')');
	if (!behind_name || sscanf(behind_name, ") %c %u", &state, &one->parent) != 2)
		return false;
	one->stopped = state == 'T' || state == 'Z' || state == 'X';
	return true;
}

/* Lists all processes, at most PROCESSES_MOST. Free the list with free(). */
static struct one *look_at_all(size_t *count)
{
	struct one *all = calloc(PROCESSES_MOST, sizeof(*all));
	DIR *folder = all ? opendir("/proc") : NULL;
	struct dirent *entry;

	*count = 0;
	while (folder && *count < PROCESSES_MOST && (entry = readdir(folder)))
		if (sscanf(entry->d_name, "%u", &all[*count].id) == 1 && look_at(&all[*count]))
			++*count;
	if (folder)
		closedir(folder);
	return all;
}

static bool is_among(const unsigned int *ids, size_t count, unsigned int id)
{
	for (size_t i = 0; i < count; i++)
		if (ids[i] == id)
			return true;
	return false;
}

/* Marks our children, theirs, and so on. `ids` has room for all and one more. */
static void mark_below(struct one *all, size_t count, unsigned int *ids)
{
	size_t found = 1, before = 0;

	ids[0] = (unsigned int)getpid();
	while (found != before) {
		before = found;
		for (size_t i = 0; i < count; i++) {
			if (all[i].below || !is_among(ids, found, all[i].parent))
				continue;
			all[i].below = true;
			ids[found++] = all[i].id;
		}
	}
}

/* Sends a signal to one process. A child keeps its id until its status is taken. A child's child
 * may not, so it is held by a file descriptor and looked at once more. Before Linux 5.3 it gets no
 * signal until its parent ends. */
static void signal_one(const struct one *one, int number)
{
	if (one->parent == (unsigned int)getpid()) {
		kill((pid_t)one->id, number);
		return;
	}
#if defined(SYS_pidfd_open) && defined(SYS_pidfd_send_signal)
	{
		int held = (int)syscall(SYS_pidfd_open, (pid_t)one->id, 0);
		struct one now = {.id = one->id};

		if (held >= 0 && look_at(&now) && now.parent == one->parent)
			syscall(SYS_pidfd_send_signal, held, number, NULL, 0);
		if (held >= 0)
			close(held);
	}
#endif
}

/* Signals all processes below this one. Returns how many of them still ran. */
static unsigned int signal_below(int number)
{
	size_t count;
	struct one *all = look_at_all(&count);
	unsigned int *ids = calloc(count + 1, sizeof(*ids)), ran = 0;

	if (ids)
		mark_below(all, count, ids);
	for (size_t i = 0; i < count; i++) {
		if (!all[i].below)
			continue;
		ran += !all[i].stopped;
		signal_one(&all[i], number);
	}
	free(ids);
	free(all);
	return ran;
}

static void reap(void)
{
	for (int i = 0; i < PROCESSES_MOST; i++)
		if (waitpid(-1, NULL, WNOHANG) <= 0)
			return;
}

static bool none_left(void)
{
	reap();
	return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
}

/*
 * Ends all processes below this one if there is no group. The kernel makes this process, which has
 * no other children, the parent of each process whose parent has ended. A process that forks is
 * stopped before all are killed, because it would fork again before it is found again. A process
 * that cannot be killed, or that outruns this until `until_ms`, is left behind.
 */
static void end_below(uint64_t until_ms)
{
	const struct timespec moment = {.tv_nsec = 1000000};

	while (!none_left() && osp_now_ms() < until_ms) {
		for (int looks = 0; looks < LOOKS_MOST && signal_below(SIGSTOP); looks++)
			;
		signal_below(SIGKILL);
		nanosleep(&moment, NULL);
	}
}

/* Kills all that the program has started: in its process group, in sessions of their own, and
 * children of children. */
static void end_left(struct osp_site_group *group)
{
	uint64_t until_ms = osp_now_ms() + LEFT_MS;

	osp_site_group_end(group, until_ms, reap);
	end_below(until_ms);
}

/* --- its run ---------------------------------------------------------------------------------- */

static void follow(pid_t child, struct hearing *hearing, uint64_t until_ms,
		   struct osp_site_group *group, struct osp_site_said *said)
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
	end_left(group);
}

static void note_end(int number)
{
	(void)number;
	must_end = 1;
}

/* Asks for SIGTERM if the process that began this one ends. SIGKILL would spare processes in
 * sessions of their own; with SIGTERM this process ends them before itself. A terminal's signals
 * (Ctrl-C) go to both processes: the one that began this one decides if it ends. */
static void end_orderly(void)
{
	struct sigaction action = {.sa_handler = note_end};
	sigset_t term;

	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	sigaction(SIGTERM, &action, NULL);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_UNBLOCK, &term, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
}

void osp_site_program_run(const char *path, char *const *environment, uint64_t until_ms,
			  struct osp_site_said *said)
{
	struct hearing hearing = {.file = -1};
	pid_t parent = getpid(), child;
	struct osp_site_group group;
	int ends[2];

	memset(said, 0, sizeof(*said));
	said->end = OSP_SITE_UNRUN;
	signal(SIGCHLD, SIG_DFL); /* if it is ignored, children leave no status */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	end_orderly();
	if (pipe2(ends, O_CLOEXEC) < 0) {
		said->code = errno;
		return;
	}
	osp_site_group_make(&group);
	child = fork();
	if (child == 0) {
		osp_child_follow(parent);
		osp_site_group_join(&group);
		become(path, environment, ends[1]);
	}
	said->code = errno;
	close(ends[1]);
	hearing.file = ends[0];
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	if (child > 0)
		follow(child, &hearing, until_ms, &group, said);
	else
		osp_site_group_end(&group, 0, NULL);
	if (hearing.file >= 0)
		close(hearing.file);
	osp_copy_clean(said->line, sizeof(said->line), hearing.line);
}
