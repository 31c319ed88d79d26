/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pyxis.c - a stand-in for pyxis: what that does to a task before our plugin sees it
 *
 * A task whose environment names a folder in FAKE_IMAGE gets, in task_init, another root: the
 * host's, but with the image's /opt and /etc/nccl.conf; and the variables of the image's file
 * "environ", over those of the job. Needs root, and is for tests alone.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slurm/spank.h>

/* The release under test may be another than that of the headers here. */
const char plugin_name[] = "pyxis";
const char plugin_type[] = "spank";
const unsigned int plugin_version = FAKE_SLURM_VERSION;
const unsigned int spank_plugin_version = 1;

#define PATH_BYTES 4096

static int bind(const char *from, const char *root, const char *name, int folder)
{
	char to[PATH_BYTES];

	snprintf(to, sizeof(to), "%s/%s", root, name);
	if (folder)
		mkdir(to, 0755);
	else
		close(open(to, O_CREAT | O_WRONLY, 0644));
	return mount(from, to, NULL, MS_BIND | MS_REC, NULL);
}

/* A new root of the host's folders, but for /opt. */
static int make_root(const char *root, const char *image)
{
	char path[PATH_BYTES], link[PATH_BYTES];
	struct dirent *entry;
	struct stat status;
	DIR *dir = opendir("/");
	ssize_t length;
	int rc = dir ? 0 : -1;

	while (!rc && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/%s", entry->d_name);
		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "opt") ||
		    lstat(path, &status))
			continue;
		if (S_ISLNK(status.st_mode)) {
			length = readlink(path, link, sizeof(link) - 1);
			link[length > 0 ? length : 0] = '\0';
			snprintf(path, sizeof(path), "%s/%s", root, entry->d_name);
			rc = symlink(link, path);
		} else if (S_ISDIR(status.st_mode)) {
			rc = bind(path, root, entry->d_name, 1);
		}
	}
	if (dir)
		closedir(dir);
	snprintf(path, sizeof(path), "%s/opt", image);
	return rc ? rc : bind(path, root, "opt", 1);
}

static int enter(const char *image)
{
	char root[PATH_BYTES], cwd[PATH_BYTES];

	snprintf(root, sizeof(root), "%s/root", image);
	if (!getcwd(cwd, sizeof(cwd)) || unshare(CLONE_NEWNS))
		return -1;
	/* in a root of another release / is no mount, and what is around it is private already */
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) && errno != EINVAL)
		return -1;
	if (mount("none", root, "tmpfs", 0, NULL) || make_root(root, image) || chroot(root))
		return -1;
	return chdir(cwd);
}

static void set_variables(spank_t spank, const char *image)
{
	char path[PATH_BYTES], line[PATH_BYTES];
	FILE *file;

	snprintf(path, sizeof(path), "%s/environ", image);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file)) {
		char *value = strchr(line, '=');

		line[strcspn(line, "\n")] = '\0';
		if (value) {
			*value++ = '\0';
			spank_setenv(spank, line, value, 1);
		}
	}
	if (file)
		fclose(file);
}

int slurm_spank_task_init(spank_t spank, int count, char **arguments)
{
	char image[PATH_BYTES];

	(void)count;
	(void)arguments;
	if (spank_getenv(spank, "FAKE_IMAGE", image, sizeof(image)) != ESPANK_SUCCESS)
		return 0;
	set_variables(spank, image);
	if (enter(image)) {
		slurm_error("pyxis (a stand-in): %s: %m", image);
		return -1;
	}
	return 0;
}
