/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_again.c - a gate that is killed begins again, before Slurm takes its node for broken */
#include "gate/gate_again.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check/base/child.h"

#define TRIES	2
#define NOT_YET (-1)

/* What the child said last to osp_gate_again_never(): both have this memory. */
static atomic_int *never;

/* Returns the child's status, as wait() gives it; -1 if there is no child. */
static int run_child(int (*work)(void))
{
	pid_t parent = getpid(), child;
	int status;

	/* Where slurmd ignored it, no child could be waited for. */
	signal(SIGCHLD, SIG_DFL);
	fflush(NULL);
	child = fork();
	if (child < 0)
		return -1;
	if (child == 0) {
		osp_child_follow(parent);
		exit(work());
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

static void share(void)
{
	void *memory = mmap(NULL, sizeof(*never), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	never = memory == MAP_FAILED ? NULL : memory;
	if (never)
		atomic_store(never, NOT_YET);
}

void osp_gate_again_never(int status)
{
	if (never)
		atomic_store(never, status);
}

bool osp_gate_again_settled(void)
{
	return never && atomic_load(never) != NOT_YET;
}

/* Adds to `stop` what the killed ones left undone. */
static int settle(int (*stop)(void), int status)
{
	int ended = status ? run_child(stop) : -1;

	return ended >= 0 && WIFEXITED(ended) && !WEXITSTATUS(ended) ? 0 : status;
}

int osp_gate_again(int (*work)(void), int (*stop)(void), int killed)
{
	share();
	for (int tries = 0; tries < TRIES; tries++) {
		int status = run_child(work);

		if (status < 0)
			return work();
		if (WIFEXITED(status))
			return WEXITSTATUS(status);
		if (osp_gate_again_settled()) {
			fprintf(stderr, "onespine gate: ended by signal %d once all was decided\n",
				WTERMSIG(status));
			return settle(stop, atomic_load(never));
		}
		fprintf(stderr, "onespine gate: ended by signal %d%s\n", WTERMSIG(status),
			tries + 1 < TRIES ? ": begins again" : "");
	}
	return settle(stop, killed);
}
