/* SPDX-License-Identifier: GPL-2.0-or-later */
/* site_group.c - a control group of version 2 for a program of the site and all it starts */
#include "onespine_config.h"
#include "check/base/site_group.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "check/base/root.h"
#include "check/check.h"

#define CGROUP2_MAGIC 0x63677270 /* linux/magic.h */
#define OWN_BYTES     4096	 /* /proc/self/cgroup */
#define PREFIX	      "onespine-check-"
#define LEFT_MS	      1000 /* to end what a killed caller has left */
#define LEFT_MOST     16
#define MAKE_TRIES    16 /* another check removes it before it is locked */
#define DEEPEST	      32 /* of the groups that a program makes below its own */

/* --- files of a group ------------------------------------------------------------------------- */

static bool put(int folder, const char *name, const char *word)
{
	int file = openat(folder, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	size_t length = strlen(word);
	bool written;

	if (file < 0)
		return false;
	written = write(file, word, length) == (ssize_t)length;
	close(file);
	return written;
}

/* Returns whether a test asks for `word`: "none" makes no group, "freeze" acts as if the kernel
 * lacked cgroup.kill, "taken" as if another check had removed the first group that is made. */
static bool reported(const char *word)
{
	const char *say = getenv("ONESPINE_TEST_SITE_GROUP");

	return say && !strcmp(say, word);
}

/* Kills the processes of a frozen group: none of them can fork, and SIGKILL works. */
static void kill_listed(int folder)
{
	int file = openat(folder, "cgroup.procs", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	FILE *list = file < 0 ? NULL : fdopen(file, "r");
	long process;

	if (!list) {
		if (file >= 0)
			close(file);
		return;
	}
	/* 0: a process outside this one's namespace */
	while (fscanf(list, "%ld", &process) == 1)
		if (process > 0)
			kill((pid_t)process, SIGKILL);
	fclose(list);
}

/* Calls `what` for each group below, the deepest first. */
static void each_below(int folder, int depth, void (*what)(int parent, const char *name, int group))
{
	int own = depth ? openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	DIR *list = own < 0 ? NULL : fdopendir(own);
	struct dirent *entry;

	if (!list && own >= 0)
		close(own);
	while (list && (entry = readdir(list))) {
		int group;

		if (entry->d_type != DT_DIR || *entry->d_name == '.')
			continue;
		group = openat(own, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (group < 0)
			continue;
		each_below(group, depth - 1, what);
		what(own, entry->d_name, group);
		close(group);
	}
	if (list)
		closedir(list);
}

static void kill_one(int parent, const char *name, int group)
{
	(void)parent;
	(void)name;
	kill_listed(group);
}

static void remove_one(int parent, const char *name, int group)
{
	(void)group;
	unlinkat(parent, name, AT_REMOVEDIR);
}

/* Kills all processes in the group and in those below. cgroup.kill and cgroup.freeze include the
 * groups below, cgroup.procs does not. */
static void kill_all(int folder)
{
	if (!reported("freeze") && put(folder, "cgroup.kill", "1"))
		return;
	if (put(folder, "cgroup.freeze", "1")) {
		kill_listed(folder);
		each_below(folder, DEEPEST, kill_one);
	}
}

/* Returns true if no process is left in the group and it is removed. */
static bool end_group(int parent, const char *name, int folder, uint64_t until_ms,
		      void (*reap)(void))
{
	const struct timespec moment = {.tv_nsec = 1000000};

	while (unlinkat(parent, name, AT_REMOVEDIR) && errno != ENOENT) {
		if (osp_now_ms() >= until_ms)
			return false;
		kill_all(folder);
		each_below(folder, DEEPEST, remove_one);
		if (reap)
			reap();
		nanosleep(&moment, NULL);
	}
	return true;
}

/* --- where it is made ------------------------------------------------------------------------- */

static bool is_version_2(int folder)
{
	struct statfs status;

	return fstatfs(folder, &status) == 0 && status.f_type == CGROUP2_MAGIC;
}

/* Opens the caller's group; -1 if no group of version 2 is visible here. */
static int open_own(void)
{
	static const char *const mounted[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
	char text[OWN_BYTES], path[OSP_PATH_BYTES], *own, *end;

	if (!osp_root_read("", text, sizeof(text), "proc/self/cgroup"))
		return -1;
	own = strncmp(text, "0::/", 4) ? strstr(text, "\n0::/") : text;
	if (!own)
		return -1;
	own += strcspn(own, "/");
	end = strchr(own, '\n');
	if (end)
		*end = '\0';
	for (size_t i = 0; i < sizeof(mounted) / sizeof(*mounted); i++) {
		int folder;

		if (snprintf(path, sizeof(path), "%s%s", mounted[i], own) >= (int)sizeof(path))
			continue;
		folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (folder >= 0 && is_version_2(folder))
			return folder;
		if (folder >= 0)
			close(folder);
	}
	return -1;
}

/* Opens and locks the folder of a group that no other process holds; -1 if that fails. */
static int open_locked(int parent, const char *name)
{
	int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (folder >= 0 && flock(folder, LOCK_EX | LOCK_NB) < 0) {
		close(folder);
		return -1;
	}
	return folder;
}

/* Ends the groups of callers that were killed: their locks ended with them. */
static void end_abandoned(int parent)
{
	uint64_t until_ms = osp_now_ms() + LEFT_MS;
	int own = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = own < 0 ? NULL : fdopendir(own);
	struct dirent *entry;
	int left = 0;

	if (!folder && own >= 0)
		close(own);
	while (folder && left < LEFT_MOST && (entry = readdir(folder))) {
		int group;

		if (strncmp(entry->d_name, PREFIX, sizeof(PREFIX) - 1) != 0)
			continue;
		group = open_locked(parent, entry->d_name);
		if (group < 0)
			continue;
		end_group(parent, entry->d_name, group, until_ms, NULL);
		close(group);
		left++;
	}
	if (folder)
		closedir(folder);
}

/* --- public ----------------------------------------------------------------------------------- */

static void let_go(struct osp_site_group *group)
{
	if (group->folder >= 0)
		close(group->folder);
	if (group->parent >= 0)
		close(group->parent);
	group->folder = group->parent = -1;
}

/* Returns true if the group is made, locked, and in its place. */
static bool make_locked(struct osp_site_group *group, bool taken)
{
	struct timespec now;

	/* the time makes the name unique, because another namespace has the same process ids */
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(group->name, sizeof(group->name), PREFIX "%ld-%lld.%09ld", (long)getpid(),
		 (long long)now.tv_sec, now.tv_nsec);
	if (mkdirat(group->parent, group->name, 0700) < 0)
		return false;
	if (taken)
		unlinkat(group->parent, group->name, AT_REMOVEDIR);
	group->folder = open_locked(group->parent, group->name);
	if (group->folder >= 0 && faccessat(group->folder, "cgroup.freeze", W_OK, 0) == 0)
		return true;
	unlinkat(group->parent, group->name, AT_REMOVEDIR);
	if (group->folder >= 0)
		close(group->folder);
	group->folder = -1;
	return false;
}

void osp_site_group_make(struct osp_site_group *group)
{
	*group = (struct osp_site_group){.folder = -1, .parent = -1};
	if (reported("none"))
		return;
	group->parent = open_own();
	if (group->parent < 0)
		return;
	end_abandoned(group->parent);
	/* Between mkdirat() and flock() the group looks abandoned to another check. */
	for (int tries = 0; tries < MAKE_TRIES; tries++)
		if (make_locked(group, !tries && reported("taken")))
			return;
	let_go(group);
}

void osp_site_group_join(const struct osp_site_group *group)
{
	if (group->folder >= 0)
		put(group->folder, "cgroup.procs", "0");
}

bool osp_site_group_end(struct osp_site_group *group, uint64_t until_ms, void (*reap)(void))
{
	bool gone;

	if (group->folder < 0)
		return true;
	gone = end_group(group->parent, group->name, group->folder, until_ms, reap);
	let_go(group);
	return gone;
}
