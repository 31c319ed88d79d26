/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * at_path.c - preloaded into a command: ends it (SIGKILL) where it, or a child of it, opens a path
 * that holds AT_PATH, or where it asks for the variable of that name
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

extern char **environ;

static pid_t first; /* what was preloaded, not its children */

__attribute__((constructor)) static void begin(void)
{
	first = getpid();
}

/* Not by getenv(), which is below. */
static const char *wanted(void)
{
	for (char **entry = environ; entry && *entry; entry++)
		if (!strncmp(*entry, "AT_PATH=", 8))
			return *entry + 8;
	return NULL;
}

static void at(const char *path)
{
	const char *word = wanted();

	if (word && first && strstr(path, word))
		kill(first, SIGKILL);
}

char *getenv(const char *name)
{
	const char *word = wanted();
	size_t length = strlen(name);

	if (word && !strcmp(word, name) && getpid() == first)
		kill(first, SIGKILL);
	for (char **entry = environ; entry && *entry; entry++)
		if (!strncmp(*entry, name, length) && (*entry)[length] == '=')
			return *entry + length + 1;
	return NULL;
}

static mode_t mode_of(int flags, va_list arguments)
{
	return flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
	int (*open_it)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = mode_of(flags, arguments);
	va_end(arguments);
	at(path);
	return open_it(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
	int (*open_it)(int, const char *, int, ...) = dlsym(RTLD_NEXT, "openat");
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = mode_of(flags, arguments);
	va_end(arguments);
	at(path);
	return open_it(folder, path, flags, mode);
}
