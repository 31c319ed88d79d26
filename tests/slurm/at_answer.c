/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * at_answer.c - preloaded into a gate: slurmctld (the process AT_PID) is killed once it has done
 * what the gate's requeue asks for, and the gate gets no answer
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static _Thread_local bool asks;

static void *real(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		abort();
	return found;
}

int slurm_requeue(uint32_t job_id, uint32_t flags)
{
	int (*requeue)(uint32_t, uint32_t);
	void *found = real("slurm_requeue");
	int code;

	memcpy(&requeue, &found, sizeof(requeue));
	asks = true;
	code = requeue(job_id, flags);
	asks = false;
	return code;
}

/* Slurm reads the length of an answer first; before it sends it looks for one byte. */
ssize_t recv(int file, void *bytes, size_t count, int flags)
{
	ssize_t (*receive)(int, void *, size_t, int);
	const char *pid = getenv("AT_PID");
	void *found = real("recv");
	struct pollfd answer = {.fd = file, .events = POLLIN};

	memcpy(&receive, &found, sizeof(receive));
	if (!asks || count != sizeof(uint32_t) || !pid || kill((pid_t)atoi(pid), 0) != 0)
		return receive(file, bytes, count, flags);
	poll(&answer, 1, 30000);
	kill((pid_t)atoi(pid), SIGKILL);
	return 0;
}
