/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evil.c - a library of a user's, under the names of those that root's programs look for: leaves a
 * file FOLDER/as-UID-PROGRAM wherever it is loaded. For tests alone.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((constructor)) static void report(void)
{
	char path[256];
	int file;

	snprintf(path, sizeof(path), FOLDER "/as-%u-%s", (unsigned int)geteuid(),
		 program_invocation_short_name);
	file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (file >= 0)
		close(file);
}
