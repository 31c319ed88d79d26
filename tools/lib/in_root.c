/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * in_root.c - runs a command where a cluster's daemons run: in their mount namespace and root
 *
 * tools/cluster puts it into DIR/bin under each name of Slurm's commands, and as in-root, which
 * runs the command that it is given. DIR/run/holder.pid has a process in that root, DIR/run/path
 * the commands' PATH. Tests run thousands: it starts nothing else, where a script was sh, nsenter
 * and sh again.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OUR_NAME "in-root"

static char dir[PATH_MAX];

static void give_up(const char *what)
{
	int status = errno == ENOENT ? 127 : 126; /* as a shell's */

	perror(what);
	exit(status);
}

/* Splits our own path, DIR/bin/NAME; returns NAME. */
static const char *find_dir(void)
{
	ssize_t bytes = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
	char *name = bytes > 0 ? strrchr(dir, '/') : NULL;

	if (name) {
		*name = '\0';
		*strrchr(dir, '/') = '\0';
	}
	return name ? name + 1 : "";
}

/* Reads the first word of a file of DIR. */
static void read_word(const char *file, char *word, size_t word_bytes)
{
	char path[PATH_MAX + 32];
	ssize_t bytes;
	int from;

	snprintf(path, sizeof(path), "%s/run/%s", dir, file);
	from = open(path, O_RDONLY | O_CLOEXEC);
	bytes = from < 0 ? -1 : read(from, word, word_bytes - 1);
	if (bytes <= 0)
		give_up(path);
	word[bytes] = '\0';
	word[strcspn(word, "\n")] = '\0';
	close(from);
}

static int open_of(const char *holder, const char *file)
{
	char path[64];
	int opened;

	snprintf(path, sizeof(path), "/proc/%s/%s", holder, file);
	opened = open(path, O_RDONLY | O_CLOEXEC);
	if (opened < 0)
		give_up(path);
	return opened;
}

/* Enters the root, and there the folder of the same name, or DIR if there is none. */
static void enter(void)
{
	char holder[32], here[PATH_MAX];
	int root, mounts;

	read_word("holder.pid", holder, sizeof(holder));
	if (!getcwd(here, sizeof(here)))
		strcpy(here, dir);
	root = open_of(holder, "root");
	mounts = open_of(holder, "ns/mnt");
	if (setns(mounts, CLONE_NEWNS) || fchdir(root) || chroot("."))
		give_up("cannot enter the cluster's root");
	if (chdir(here) && chdir(dir))
		give_up(dir);
}

int main(int argc, char **argv)
{
	const char *name = find_dir();
	char path[PATH_MAX];

	if (strcmp(name, OUR_NAME) == 0) {
		argv++;
		argc--;
		name = argv[0];
	}
	if (argc < 1 || !name)
		return 0;
	read_word("path", path, sizeof(path));
	enter();
	setenv("PATH", path, 1);
	execvp(name, argv);
	give_up(name);
}
