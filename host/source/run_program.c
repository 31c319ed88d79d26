/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run_program.c - runs a program and reads what it prints */
#define _GNU_SOURCE /* pipe2 */

#include "host/source/run_program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/text.h"

extern char **environ;

struct running {
	const char *name;
	pid_t pid;
	struct pollfd pipes[2]; /* standard output, standard error */
	struct osp_text texts[2];
	int64_t deadline_ms;
	size_t limit_bytes;
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int spawn(struct running *running, const char *const *argv, const int outputs[2])
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	char path[4096];
	int rc;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, outputs[0], 1);
	posix_spawn_file_actions_adddup2(&actions, outputs[1], 2);
	rc = posix_spawnp(&running->pid, argv[0], &actions, &attributes, (char *const *)argv,
			  environ);
	if (rc == ENOENT && !strchr(argv[0], '/')) {
		snprintf(path, sizeof(path), "/usr/sbin/%s", argv[0]);
		rc = posix_spawn(&running->pid, path, &actions, &attributes, (char *const *)argv,
				 environ);
	}
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return rc;
}

static int start(struct running *running, const char *const *argv, struct osp_error *error)
{
	int inputs[2] = {-1, -1}, outputs[2] = {-1, -1};
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++) {
		int ends[2];

		if (pipe2(ends, O_CLOEXEC)) {
			rc = errno;
		} else {
			inputs[i] = ends[0];
			outputs[i] = ends[1];
		}
	}
	if (!rc)
		rc = spawn(running, argv, outputs);
	for (int i = 0; i < 2; i++) {
		if (outputs[i] >= 0)
			close(outputs[i]);
		running->pipes[i] = (struct pollfd){.fd = inputs[i], .events = POLLIN};
	}
	return rc ? osp_error_set(error, "%s cannot be run: %s", running->name, strerror(rc)) : 0;
}

/* Reads from a pipe. Returns false at its end. */
static bool read_some(struct running *running, int i)
{
	char bytes[65536];
	ssize_t count = read(running->pipes[i].fd, bytes, sizeof(bytes));

	if (count < 0)
		return errno == EINTR;
	if (count && (i == 0 || running->texts[i].length_bytes < sizeof(bytes)))
		osp_text_add_bytes(&running->texts[i], bytes, (size_t)count);
	return count > 0;
}

static int read_all(struct running *running, struct osp_error *error)
{
	int open = 2;

	while (open) {
		int64_t left = running->deadline_ms - now_ms();

		if (left <= 0)
			return osp_error_set(error, "%s takes too long and was ended",
					     running->name);
		if (poll(running->pipes, 2, (int)left) < 0 && errno != EINTR)
			return osp_error_set(error, "%s: %s", running->name, strerror(errno));
		for (int i = 0; i < 2; i++) {
			if (!running->pipes[i].revents || read_some(running, i))
				continue;
			close(running->pipes[i].fd);
			running->pipes[i].fd = -1;
			open--;
		}
		if (running->texts[0].length_bytes > running->limit_bytes)
			return osp_error_set(error, "%s prints more than %zu MiB", running->name,
					     running->limit_bytes >> 20);
	}
	return 0;
}

static int end(struct running *running, bool kill_it, struct osp_program_output *output,
	       struct osp_error *error)
{
	char *said = osp_text_take(&running->texts[1]);
	int status = 0;

	if (kill_it)
		kill(-running->pid, SIGKILL);
	while (waitpid(running->pid, &status, 0) < 0 && errno == EINTR)
		;
	snprintf(output->said, sizeof(output->said), "%.*s", said ? (int)strcspn(said, "\n") : 0,
		 said ? said : "");
	free(said);
	if (kill_it)
		return -1;
	if (!WIFEXITED(status))
		return osp_error_set(error, "%s was ended by signal %d", running->name,
				     WTERMSIG(status));
	if (WEXITSTATUS(status))
		return osp_error_set(error, "%s ends with status %d%s%.200s", running->name,
				     WEXITSTATUS(status), output->said[0] ? ": " : "",
				     output->said);
	return 0;
}

int osp_run_program(const char *const *argv, int limit_s, size_t limit_bytes,
		    struct osp_program_output *output, struct osp_error *error)
{
	struct running running = {.name = argv[0],
				  .deadline_ms = now_ms() + (int64_t)limit_s * 1000,
				  .limit_bytes = limit_bytes};
	int rc = start(&running, argv, error);

	memset(output, 0, sizeof(*output));
	if (!rc)
		rc = end(&running, read_all(&running, error) != 0, output, error);
	for (int i = 0; i < 2; i++) {
		if (running.pipes[i].fd >= 0)
			close(running.pipes[i].fd);
	}
	output->bytes = running.texts[0].length_bytes;
	output->text = osp_text_take(&running.texts[0]);
	osp_text_free(&running.texts[1]);
	if (!rc && output->text)
		return 0;
	free(output->text);
	output->text = NULL;
	return osp_error_set(error, "out of memory");
}
