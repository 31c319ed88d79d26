/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process.c - finds users' processes on this node, from /proc */
#include "check/base/process.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/base/root.h"
#include "lib/base/clean.h"

#define LOGIN_DEFS_BYTES 32768
#define STATUS_BYTES	 1024 /* "Uid:" is in the first lines */

bool osp_process_uid(const char *root, unsigned int pid, unsigned int *uid)
{
	char status[STATUS_BYTES];
	unsigned int uids[4];
	const char *line;

	if (!osp_root_read(root, status, sizeof(status), "proc/%u/status", pid))
		return false;
	line = strstr(status, "\nUid:"); /* the kernel escapes line ends in the name */
	if (!line ||
	    sscanf(line, "\nUid: %u %u %u %u", &uids[0], &uids[1], &uids[2], &uids[3]) != 4)
		return false;
	*uid = 0;
	for (size_t i = 0; i < 4 && *uid == 0; i++)
		*uid = uids[i];
	return true;
}

/* Returns the first user id of people, as the node's administrator set it. */
static unsigned int least_uid(const char *root)
{
	char text[LOGIN_DEFS_BYTES], *rest = text, *line;
	unsigned long uid;
	char *end;

	if (!osp_root_read(root, text, sizeof(text), "etc/login.defs"))
		return OSP_UID_MIN;
	while ((line = strsep(&rest, "\n"))) {
		line += strspn(line, " \t");
		if (strncmp(line, "UID_MIN", 7) != 0 || !strspn(line + 7, " \t"))
			continue;
		uid = strtoul(line + 7, &end, 10);
		if (uid && uid < OSP_UID_NOBODY && !end[strspn(end, " \t\r")])
			return (unsigned int)uid;
	}
	return OSP_UID_MIN;
}

/* Which users' processes are looked for. */
struct people {
	unsigned int least;
	unsigned int spared; /* OSP_UID_NOBODY: nobody else is */
};

/* Returns whether a process is one of these users', and sets its user. */
static bool is_users(const char *root, unsigned int pid, const struct people *people,
		     unsigned int *uid)
{
	return osp_process_uid(root, pid, uid) && *uid >= people->least && *uid != OSP_UID_NOBODY &&
	       *uid != people->spared;
}

static bool find(const char *root, unsigned int spared, char *words, size_t words_bytes)
{
	const struct people people = {least_uid(root), spared};
	char path[OSP_PATH_BYTES], name[64];
	DIR *folder = osp_root_path(root, path, sizeof(path), "proc") ? opendir(path) : NULL;
	struct dirent *entry;
	unsigned int pid, uid;
	bool found = false;

	while (folder && !found && (entry = readdir(folder)))
		found = sscanf(entry->d_name, "%u", &pid) == 1 &&
			is_users(root, pid, &people, &uid);
	if (folder)
		closedir(folder);
	if (!found)
		return false;
	if (!osp_root_read(root, name, sizeof(name), "proc/%u/comm", pid))
		*name = '\0';
	snprintf(words, words_bytes, "%.20s (%u) of user %u runs here", osp_clean(name), pid, uid);
	return true;
}

bool osp_process_of_users(const char *root, char *words, size_t words_bytes)
{
	return find(root, OSP_UID_NOBODY, words, words_bytes);
}

bool osp_process_of_others(const char *root, char *words, size_t words_bytes)
{
	return find(root, geteuid(), words, words_bytes);
}
