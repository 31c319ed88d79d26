/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "onespine_config.h"
#include "lib/env/node_stamp.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/hash.h"
#include "lib/env/node_software.h"

#define PIECE_BYTES 8192 /* of a small file */

static bool join(char *whole, const char *root, const char *path)
{
	return snprintf(whole, PATH_MAX, "%s%s", root, path) < PATH_MAX;
}

static uint64_t mix_content(uint64_t stamp, const char *root, const char *path)
{
	char whole[PATH_MAX], piece[PIECE_BYTES];
	ssize_t count = 0;
	int fd = -1;

	if (join(whole, root, path))
		fd = open(whole, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0) {
		count = read(fd, piece, sizeof(piece));
		close(fd);
	}
	stamp = osp_hash_words(stamp, path);
	return osp_hash_bytes(stamp, piece, count > 0 ? (size_t)count : 0);
}

/* Of a file or a folder: which one it is, its size and when it was changed. */
static uint64_t mix_status(uint64_t stamp, const char *root, const char *path)
{
	char whole[PATH_MAX];
	struct stat status;
	uint64_t numbers[4] = {0};

	if (join(whole, root, path) && stat(whole, &status) == 0) {
		numbers[0] = (uint64_t)status.st_ino;
		numbers[1] = (uint64_t)status.st_size;
		numbers[2] = (uint64_t)status.st_mtim.tv_sec;
		numbers[3] = (uint64_t)status.st_mtim.tv_nsec;
	}
	return osp_hash_bytes(osp_hash_words(stamp, path), numbers, sizeof(numbers));
}

/* The names in a folder, whatever their order; with `file`, that file's content in each as well. */
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
			one = mix_content(one, root, path);
		sum += one;
	}
	if (dir)
		closedir(dir);
	return osp_hash_bytes(osp_hash_words(stamp, folder), &sum, sizeof(sum));
}

uint64_t osp_folder_stamp(uint64_t stamp, const char *parent, const char *name)
{
	char folder[PATH_MAX];
	struct dirent *entry;
	uint64_t sum = 0;
	DIR *dir;

	if (snprintf(folder, sizeof(folder), "%s/%s", parent, name) >= (int)sizeof(folder))
		return stamp;
	dir = opendir(folder);
	strcat(folder, "/");
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.')
			sum += mix_status(OSP_HASH_START, folder, entry->d_name);
	}
	if (dir)
		closedir(dir);
	return osp_hash_bytes(osp_hash_words(stamp, folder), &sum, sizeof(sum));
}

uint64_t osp_node_stamp(const struct osp_node_source *source)
{
	static const char *const contents[] = {
		"/sys/devices/virtual/dmi/id/product_name",
		"/sys/devices/virtual/dmi/id/chassis_asset_tag",
		"/proc/net/route",
		"/proc/sys/kernel/osrelease",
		"/sys/module/nvidia/version",
		"/sys/module/gdrdrv/version",
		"/proc/driver/nvidia/version",
		"/sys/devices/system/cpu/online",
		"/sys/devices/system/node/online",
		"/etc/systemd/logind.conf",
	};
	uint64_t stamp = OSP_HASH_START;
	size_t i;

	stamp = osp_hash_words(osp_hash_words(stamp, VERSION), source->root);
	stamp = mix_content(stamp, "", "/proc/sys/kernel/random/boot_id");
	for (i = 0; i < sizeof(contents) / sizeof(contents[0]); i++)
		stamp = mix_content(stamp, source->root, contents[i]);
	stamp = mix_names(stamp, source->root, "/sys/bus/pci/devices", NULL);
	stamp = mix_names(stamp, source->root, "/sys/class/infiniband", "ports/1/state");
	stamp = mix_names(stamp, source->root, "/sys/class/net", NULL);
	for (i = 0; i < osp_node_software_place_count; i++)
		stamp = mix_status(stamp, source->root, osp_node_software_places[i]);
	if (source->topology)
		stamp = mix_status(stamp, "", source->topology);
	stamp = osp_folder_stamp(stamp, source->data, "instances");
	return osp_folder_stamp(stamp, source->site, "instances.d");
}
