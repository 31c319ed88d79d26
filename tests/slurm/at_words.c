/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * at_words.c - preloaded into a gate: ends it (SIGKILL) when it has written a line that holds
 * AT_WORDS or, if AT_PID names another process, stops that one (SIGSTOP), once
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ssize_t write(int file, const void *bytes, size_t count)
{
	ssize_t (*write_it)(int, const void *, size_t);
	const char *words = getenv("AT_WORDS"), *pid = getenv("AT_PID");
	static int stopped;
	void *found = dlsym(RTLD_NEXT, "write");
	ssize_t written;

	if (!found)
		abort();
	memcpy(&write_it, &found, sizeof(write_it));
	written = write_it(file, bytes, count);
	if (!words || !memmem(bytes, count, words, strlen(words)))
		return written;
	if (!pid)
		kill(getpid(), SIGKILL);
	else if (!stopped++)
		kill((pid_t)atoi(pid), SIGSTOP);
	return written;
}
