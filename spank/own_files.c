/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * own_files.c - a child of slurmstepd that reads what the user names, and its answer
 *
 * The answer is one stream: "NAME=TEXT\n" for each fact, "cut\n" if a budget ended, "conf\n" before
 * the bytes of the user's file, or "none\n" if there is none; then a NUL. Without the NUL it does
 * not count.
 */
#include "onespine_config.h"
#include "spank/own_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/confine.h"
#include "lib/base/environment.h"
#include "lib/base/text.h"
#include "lib/env/node_software.h"

#define ANSWER_BYTES_MAX (OSP_USER_CONF_BYTES_MAX + 16384)
#define MEMORY_BYTES_MAX ((rlim_t)1024 * 1024 * 1024)
#define FILES_MAX	 65536 /* if close_range(2) is missing */

/* The facts that the child may report. */
static const enum osp_fact_id reported[] = {OSP_FACT_NCCL, OSP_FACT_OFI, OSP_FACT_OFI_TUNER};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- the child -------------------------------------------------------------------------------- */

static void close_others(int kept)
{
#ifdef HAVE_CLOSE_RANGE
	if ((kept == 0 || close_range(0, (unsigned int)kept - 1, 0) == 0) &&
	    close_range((unsigned int)kept + 1, ~0u, 0) == 0)
		return;
#endif
	for (int file = 0; file < FILES_MAX; file++) {
		if (file != kept)
			close(file);
	}
}

static void limit(int resource, rlim_t most)
{
	const struct rlimit value = {most, most};

	(void)setrlimit(resource, &value);
}

/* Becomes the user for good: one of slurmstepd's ids is still root's. */
static void become_user(pid_t parent)
{
	gid_t group = getegid();
	uid_t user = geteuid();
	sigset_t none;

	/* it has slurmstepd's memory, and from now on the user's id: nobody may trace it or read
	 * that */
	prctl(PR_SET_DUMPABLE, 0);
	if (setresgid(group, group, group) || setresuid(user, user, user))
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	for (int number = 1; number < NSIG; number++)
		(void)signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	limit(RLIMIT_CORE, 0);
#ifndef OSP_SANITIZED
	limit(RLIMIT_AS, MEMORY_BYTES_MAX);
#endif
	(void)osp_confine_to_reading();
}

static void add_facts(struct osp_text *answer, char *const *environment)
{
	const struct osp_search search = {
		.root = "",
		.library_path = osp_environment_value(environment, "LD_LIBRARY_PATH"),
		.virtual_env = osp_environment_value(environment, "VIRTUAL_ENV"),
	};
	struct osp_facts *facts = calloc(1, sizeof(*facts));

	if (!facts)
		_exit(1);
	if (!osp_node_software_own(&search, facts))
		osp_text_add(answer, "cut\n");
	for (size_t i = 0; i < COUNT(reported); i++) {
		const struct osp_fact *fact = &facts->facts[reported[i]];

		if (fact->known && !strchr(fact->text, '\n'))
			osp_text_printf(answer, "%s=%s\n", osp_fact_name(reported[i]), fact->text);
	}
}

/* Reads the file first: the user's settings count more than what libraries are there. */
static void read_all(char *const *environment, int out)
{
	struct osp_text answer = OSP_TEXT_INIT;
	char path[PATH_MAX], *conf = NULL;
	size_t length = 0;

	if (osp_user_conf_path(environment, path, sizeof(path)))
		conf = osp_read_file(path, OSP_USER_CONF_BYTES_MAX, &length);
	add_facts(&answer, environment);
	osp_text_add(&answer, conf ? "conf\n" : "none\n");
	if (conf)
		osp_text_add(&answer, conf);
	osp_text_add_bytes(&answer, "", 1);
	_exit(!answer.failed && osp_write_all(out, answer.data, answer.length_bytes) ? 0 : 1);
}

static pid_t start(char *const *environment, int *in)
{
	pid_t parent = getpid(), child;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	child = fork();
	if (child == 0) {
		close_others(ends[1]);
		become_user(parent);
		read_all(environment, ends[1]);
	}
	close(ends[1]);
	*in = ends[0];
	if (child < 0)
		close(ends[0]);
	return child;
}

/* --- its answer ------------------------------------------------------------------------------- */

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Returns how long the child was ready to run and did not. */
static uint64_t starved_ms(pid_t child)
{
	unsigned long long waited_ns = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/schedstat", (long)child);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%*u %llu", &waited_ns) != 1)
		waited_ns = 0;
	fclose(file);
	return waited_ns / 1000000;
}

/* Waits for more bytes. Bytes that are there already are taken, however late it is. */
static bool await_more(int in, pid_t child, uint64_t begun_ms)
{
	struct pollfd wait = {.fd = in, .events = POLLIN};
	uint64_t most_ms = OSP_SOFTWARE_MS_MAX, spent_ms;

	for (;;) {
		spent_ms = now_ms() - begun_ms;
		int ready = poll(&wait, 1, spent_ms < most_ms ? (int)(most_ms - spent_ms) : 0);

		if (ready > 0)
			return true;
		if (ready < 0 && errno != EINTR)
			return false;
		if (now_ms() - begun_ms < most_ms)
			continue;
		spent_ms = OSP_SOFTWARE_MS_MAX + starved_ms(child);
		if (spent_ms > OSP_OWN_FILES_MOST_MS)
			spent_ms = OSP_OWN_FILES_MOST_MS;
		if (spent_ms <= most_ms)
			return false;
		most_ms = spent_ms;
	}
}

/* Returns the whole answer, or NULL. *ended: the child no longer holds its end of the pipe. */
static char *hear(int in, pid_t child, bool *ended)
{
	char *buffer = malloc(ANSWER_BYTES_MAX + 1);
	uint64_t begun_ms = now_ms();
	size_t length = 0;
	ssize_t count = 1;

	while (buffer && length < ANSWER_BYTES_MAX && await_more(in, child, begun_ms)) {
		count = read(in, buffer + length, ANSWER_BYTES_MAX - length);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			break;
		length += (size_t)count;
	}
	*ended = count == 0;
	if (buffer && *ended && length && !buffer[length - 1])
		return buffer;
	free(buffer);
	return NULL;
}

/*
 * Ends the child. Slurmstepd may have reaped it, and another process may have its number: but while
 * it holds the pipe, it lives. A child that a file system holds inside the kernel is not waited
 * for.
 */
static void let_go(pid_t child, bool ended)
{
	if (!ended)
		kill(child, SIGKILL);
	for (long pause_us = 50; pause_us < 50000; pause_us *= 2) {
		const struct timespec moment = {.tv_nsec = pause_us * 1000};

		if (waitpid(child, NULL, WNOHANG) != 0)
			return;
		nanosleep(&moment, NULL);
	}
}

static bool may_report(enum osp_fact_id id)
{
	for (size_t i = 0; i < COUNT(reported); i++) {
		if (reported[i] == id)
			return true;
	}
	return false;
}

static void take_fact(char *line, struct osp_facts *software)
{
	char *text = strchr(line, '=');
	enum osp_fact_id id;

	if (!text)
		return;
	*text++ = '\0';
	if (!osp_fact_find(line, &id, NULL) && may_report(id))
		osp_node_set_fact(software, id, text);
}

/* Reads the answer. Returns false if it does not end as it should. */
static bool take_answer(struct osp_own_files *own, struct osp_facts *software)
{
	char *rest = own->buffer, *line;

	while ((line = strsep(&rest, "\n"))) {
		if (!strcmp(line, "none"))
			return true;
		if (!strcmp(line, "conf")) {
			own->conf.text = rest;
			return rest != NULL;
		}
		if (!strcmp(line, "cut"))
			own->cut = true;
		else
			take_fact(line, software);
	}
	return false;
}

bool osp_own_files_read(char *const *environment, struct osp_facts *software,
			struct osp_own_files *own)
{
	char path[PATH_MAX];
	bool ended = true;
	pid_t child;
	int in;

	memset(own, 0, sizeof(*own));
	child = start(environment, &in);
	if (child < 0)
		return false;
	own->buffer = hear(in, child, &ended);
	let_go(child, ended);
	close(in);
	if (!own->buffer || !take_answer(own, software))
		return false;
	own->path = osp_user_conf_path(environment, path, sizeof(path)) ? strdup(path) : NULL;
	own->conf.path = own->path ? own->path : "";
	own->known = true;
	return true;
}

void osp_own_files_free(struct osp_own_files *own)
{
	free(own->path);
	free(own->buffer);
	memset(own, 0, sizeof(*own));
}
