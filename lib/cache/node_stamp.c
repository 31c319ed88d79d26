/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_stamp.c - inside lib/: a number that changes if what is known about the node, or its rules,
 * may have changed */
#include "onespine_config.h"
#include "lib/cache/node_stamp.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/hash.h"
#include "lib/env/node_software.h"

#define LINES_BYTES 8192 /* of a file with many lines */
#define LINE_BYTES                                                                                 \
	512 /* of a file with a line or two: the kernel, too, makes room for all that is read */
#define WATCH "watch "

static bool join(char *whole, const char *root, const char *path)
{
	return snprintf(whole, PATH_MAX, "%s%s", root, path) < PATH_MAX;
}

/* --- watched paths ---------------------------------------------------------------------------- */

/* Adds a path, unless it is there already. */
static void add_line(struct osp_text *list, const char *path)
{
	char line[PATH_MAX + sizeof(WATCH) + 1];

	snprintf(line, sizeof(line), WATCH "%s\n", path);
	list->failed |= strchr(path, '\n') != NULL;
	if (!list->data || !strstr(list->data, line))
		osp_text_add(list, line);
}

static void add_path(struct osp_text *list, const char *root, const char *path)
{
	char whole[PATH_MAX];

	if (join(whole, root, path))
		add_line(list, whole);
	else
		list->failed = true;
}

/*
 * Watches a place, or, if it does not exist, the nearest folder that does, which is often the same
 * one: to create the place changes that folder. A link to nothing does exist, and may come to lead
 * somewhere.
 */
static void add_place(struct osp_text *list, const char *root, const char *place)
{
	char whole[PATH_MAX], *slash;
	struct stat status;

	if (!join(whole, root, place)) {
		list->failed = true;
		return;
	}
	while (whole[1] && lstat(whole, &status) && (slash = strrchr(whole, '/')))
		slash[slash == whole] = '\0';
	add_line(list, whole);
}

/* Adds a folder and each file in it. */
static void add_folder(struct osp_text *list, const char *parent, const char *name)
{
	char folder[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	if (snprintf(folder, sizeof(folder), "%s/%s", parent, name) >= (int)sizeof(folder) - 1) {
		list->failed = true;
		return;
	}
	add_path(list, "", folder);
	dir = opendir(folder);
	strcat(folder, "/");
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.')
			add_path(list, folder, entry->d_name);
	}
	if (dir)
		closedir(dir);
}

void osp_node_watch(const struct osp_node_source *source, struct osp_text *list)
{
	for (size_t i = 0; i < osp_node_software_place_count; i++)
		add_place(list, source->root, osp_node_software_places[i]);
	add_path(list, source->root, "/etc/systemd/logind.conf");
	if (source->topology)
		add_path(list, "", source->topology);
	add_folder(list, source->data, "instances");
	add_folder(list, source->site, "instances.d");
	add_folder(list, source->data, "rules");
	add_folder(list, source->site, "rules.d");
}

/* --- the stamp -------------------------------------------------------------------------------- */

static uint64_t mix_content(uint64_t stamp, const char *root, const char *path, size_t most_bytes)
{
	char whole[PATH_MAX], piece[LINES_BYTES];
	ssize_t count = 0;
	int fd = -1;

	if (join(whole, root, path))
		fd = open(whole, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0) {
		count = read(fd, piece, most_bytes);
		close(fd);
	}
	stamp = osp_hash_words(stamp, path);
	return osp_hash_bytes(stamp, piece, count > 0 ? (size_t)count : 0);
}

/* Mixes in which file or folder it is, its size and its time of change. */
static uint64_t mix_status(uint64_t stamp, const char *path)
{
	struct stat status;
	uint64_t numbers[4] = {0};

	if (stat(path, &status) == 0) {
		numbers[0] = (uint64_t)status.st_ino;
		numbers[1] = (uint64_t)status.st_size;
		numbers[2] = (uint64_t)status.st_mtim.tv_sec;
		numbers[3] = (uint64_t)status.st_mtim.tv_nsec;
	}
	return osp_hash_bytes(osp_hash_words(stamp, path), numbers, sizeof(numbers));
}

static uint64_t mix_watched(uint64_t stamp, const char *list)
{
	while (!strncmp(list, WATCH, strlen(WATCH))) {
		const char *path = list + strlen(WATCH);
		size_t length = strcspn(path, "\n");
		char whole[PATH_MAX];

		snprintf(whole, sizeof(whole), "%.*s", (int)length, path);
		stamp = mix_status(stamp, whole);
		list = path + length + (path[length] == '\n');
	}
	return stamp;
}

/* Mixes in the names in a folder, in any order; with `file`, also that file's content in each. */
static uint64_t mix_names(uint64_t stamp, const char *root, const char *folder, const char *file)
{
	char whole[PATH_MAX], path[PATH_MAX];
	struct dirent *entry;
	uint64_t sum = 0;
	DIR *dir;

	dir = join(whole, root, folder) ? opendir(whole) : NULL;
	while (dir && (entry = readdir(dir))) {
		uint64_t one = osp_hash_words(OSP_HASH_START, entry->d_name);

		if (entry->d_name[0] == '.')
			continue;
		if (file && snprintf(path, sizeof(path), "%s/%s/%s", folder, entry->d_name, file) <
				    (int)sizeof(path))
			one = mix_content(one, root, path, LINE_BYTES);
		sum += one;
	}
	if (dir)
		closedir(dir);
	return osp_hash_bytes(osp_hash_words(stamp, folder), &sum, sizeof(sum));
}

uint64_t osp_node_stamp(const struct osp_node_source *source, const char *list)
{
	static const char *const contents[] = {
		"/sys/module/nvidia/version",	   "/sys/module/gdrdrv/version",
		"/proc/driver/nvidia/version",	   "/sys/devices/system/cpu/online",
		"/sys/devices/system/node/online",
	};
	uint64_t stamp = OSP_HASH_START;

	stamp = osp_hash_words(osp_hash_words(stamp, VERSION), source->root);
	stamp = osp_hash_words(osp_hash_words(stamp, source->data), source->site);
	stamp = osp_hash_words(stamp, source->topology ? source->topology : "");
	stamp = mix_content(stamp, "", "/proc/sys/kernel/random/boot_id", LINE_BYTES);
	stamp = mix_content(stamp, source->root, "/proc/net/route", LINES_BYTES);
	for (size_t i = 0; i < sizeof(contents) / sizeof(contents[0]); i++)
		stamp = mix_content(stamp, source->root, contents[i], LINE_BYTES);
	stamp = mix_names(stamp, source->root, "/sys/bus/pci/devices", NULL);
	stamp = mix_names(stamp, source->root, "/sys/class/infiniband", "ports/1/state");
	stamp = mix_names(stamp, source->root, "/sys/class/net", NULL);
	return mix_watched(stamp, list);
}
