/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * at_step.c - preloaded into `onespine recheck`: ends it, stops slurmctld, or runs a command,
 * before or after one of its steps
 *
 * AT_STEP: look (it asks for all nodes the first time), reserve, undrain, drain or unreserve, a
 * colon, before or after. AT_RUN: the command. AT_PID: the process that is stopped (SIGSTOP). With
 * neither the process itself is ended (SIGKILL).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* One that is stopped has the state T. */
static int is_stopped(pid_t pid)
{
	char path[64], words[512] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (file) {
		if (!fgets(words, sizeof(words), file))
			words[0] = '\0';
		fclose(file);
	}
	return strstr(words, ") T ") != NULL;
}

static void at(const char *step, const char *when)
{
	const char *wanted = getenv("AT_STEP"), *pid = getenv("AT_PID"), *run = getenv("AT_RUN");
	char here[64];

	snprintf(here, sizeof(here), "%s:%s", step, when);
	if (!wanted || strcmp(wanted, here) != 0)
		return;
	if (run) {
		unsetenv("AT_STEP");
		unsetenv("LD_PRELOAD");
		if (system(run) != 0)
			abort();
		return;
	}
	if (!pid) {
		kill(getpid(), SIGKILL);
		for (;;)
			pause();
	}
	kill((pid_t)atoi(pid), SIGSTOP);
	while (!is_stopped((pid_t)atoi(pid)))
		usleep(1000);
}

static void *real(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		abort();
	return found;
}

int slurm_load_node(time_t since, void **nodes, uint16_t flags)
{
	int (*load)(time_t, void **, uint16_t) = real("slurm_load_node");
	static int calls;
	bool first = !calls++;
	int code;

	if (first)
		at("look", "before");
	code = load(since, nodes, flags);
	if (first)
		at("look", "after");
	return code;
}

char *slurm_create_reservation(void *reservation)
{
	char *(*create)(void *) = real("slurm_create_reservation");
	char *name;

	at("reserve", "before");
	name = create(reservation);
	at("reserve", "after");
	return name;
}

int slurm_delete_reservation(void *reservation)
{
	int (*delete_it)(void *) = real("slurm_delete_reservation");
	int code;

	at("unreserve", "before");
	code = delete_it(reservation);
	at("unreserve", "after");
	return code;
}

/* A node is undrained first, and drained after its check. */
int slurm_update_node(void *node)
{
	int (*update)(void *) = real("slurm_update_node");
	static int calls;
	const char *step = calls++ ? "drain" : "undrain";
	int code;

	at(step, "before");
	code = update(node);
	at(step, "after");
	return code;
}
