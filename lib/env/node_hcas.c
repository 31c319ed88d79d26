/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_hcas.c - the InfiniBand and RoCE adapters near a GPU */
#include "onespine_config.h"
#include "lib/env/node_hcas.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"

#define DEVICES_MAX	 64
#define SMALL_FILE_BYTES ((size_t)4096)

struct device {
	char name[32];
	char path[PATH_MAX]; /* its place below /sys/devices */
	char layer[32];	     /* of an adapter's first port */
	char rate[32];
};

struct devices {
	struct device *list;
	size_t count;
};

static const char *read_line(const char *folder, const char *name, char *buffer, size_t bytes)
{
	char path[PATH_MAX];
	size_t length = 0;
	char *text = NULL;

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path))
		text = osp_read_file(path, SMALL_FILE_BYTES, &length);
	snprintf(buffer, bytes, "%.*s", text ? (int)strcspn(text, "\n") : 0, text ? text : "");
	free(text);
	return buffer;
}

static bool is_gpu(const char *folder)
{
	char vendor[16], class[16];

	read_line(folder, "vendor", vendor, sizeof(vendor));
	read_line(folder, "class", class, sizeof(class));
	if (!strcmp(vendor, "0x10de"))
		return !strncmp(class, "0x0302", 6) || !strncmp(class, "0x0300", 6);
	return !strcmp(vendor, "0x1002") && !strncmp(class, "0x0380", 6);
}

/* Returns whether an adapter can carry data: its first port is active. */
static bool is_active(const char *folder, struct device *device)
{
	char state[32];

	read_line(folder, "ports/1/state", state, sizeof(state));
	read_line(folder, "ports/1/link_layer", device->layer, sizeof(device->layer));
	read_line(folder, "ports/1/rate", device->rate, sizeof(device->rate));
	return strstr(state, "ACTIVE") && *device->layer;
}

/* Collects devices. The adapters' folder holds links whose "device" leads to PCI; PCI's folder
 * holds the devices. */
static void collect(const char *root, const char *folder, bool adapters, struct devices *devices)
{
	char whole[PATH_MAX], one[PATH_MAX], target[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	if (snprintf(whole, sizeof(whole), "%s%s", root, folder) >= (int)sizeof(whole))
		return;
	dir = opendir(whole);
	while (dir && devices->count < DEVICES_MAX && (entry = readdir(dir))) {
		struct device *device = &devices->list[devices->count];

		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= sizeof(device->name) ||
		    snprintf(one, sizeof(one), "%s/%s", whole, entry->d_name) >= (int)sizeof(one))
			continue;
		if (adapters ? !is_active(one, device) : !is_gpu(one))
			continue;
		if (adapters && snprintf(one, sizeof(one), "%s/%s/device", whole, entry->d_name) >=
					(int)sizeof(one))
			continue;
		if (!realpath(one, target))
			continue;
		strcpy(device->name, entry->d_name);
		strcpy(device->path, target);
		devices->count++;
	}
	if (dir)
		closedir(dir);
}

/* Returns whether both are below one bridge, not only one host bridge:
 * "../pci0000:07/0000:07:01.0/..". */
static bool share_bridge(const char *a, const char *b)
{
	const char *host = strstr(a, "/pci"), *bridge;
	size_t same = 0, end;

	if (!host)
		return false;
	bridge = strchr(host + 1, '/');
	while (a[same] && a[same] == b[same])
		same++;
	if (!bridge || a + same <= bridge + 1)
		return false;
	/* the last whole part common to both */
	end = same;
	while (end && !(a[end] == '/' && b[end] == '/'))
		end--;
	return a + end > bridge;
}

static bool near_gpu(const struct device *device, const struct devices *gpus)
{
	for (size_t i = 0; i < gpus->count; i++) {
		if (share_bridge(device->path, gpus->list[i].path))
			return true;
	}
	return false;
}

static bool alike(const struct device *a, const struct device *b)
{
	return !strcmp(a->layer, b->layer) && !strcmp(a->rate, b->rate);
}

/* Keeps only the adapters near a GPU. */
static void keep_near(struct devices *adapters, const struct devices *gpus)
{
	size_t kept = 0;

	for (size_t i = 0; i < adapters->count; i++) {
		if (near_gpu(&adapters->list[i], gpus))
			adapters->list[kept++] = adapters->list[i];
	}
	adapters->count = kept;
}

static const struct device *most_usual(const struct devices *adapters)
{
	const struct device *best = NULL;
	size_t most = 0;

	for (size_t i = 0; i < adapters->count; i++) {
		size_t count = 0;

		for (size_t j = 0; j < adapters->count; j++)
			count += alike(&adapters->list[i], &adapters->list[j]);
		if (count > most) {
			most = count;
			best = &adapters->list[i];
		}
	}
	return best;
}

/* Compares so that mlx5_2 comes before mlx5_10. */
static int by_number(const void *a, const void *b)
{
	const struct device *first = a, *second = b;

	return strverscmp(first->name, second->name);
}

const char *osp_node_hcas(const char *root, char *buffer, size_t buffer_bytes)
{
	struct devices gpus = {.list = calloc(DEVICES_MAX, sizeof(struct device))};
	struct devices adapters = {.list = calloc(DEVICES_MAX, sizeof(struct device))};
	const struct device *usual;
	size_t used = 0;

	buffer[0] = '\0';
	if (gpus.list && adapters.list) {
		collect(root, "/sys/bus/pci/devices", false, &gpus);
		collect(root, "/sys/class/infiniband", true, &adapters);
		qsort(adapters.list, adapters.count, sizeof(*adapters.list), by_number);
		keep_near(&adapters, &gpus);
		usual = most_usual(&adapters);
		for (size_t i = 0; i < adapters.count && used < buffer_bytes; i++) {
			if (alike(&adapters.list[i], usual))
				used += (size_t)snprintf(buffer + used, buffer_bytes - used, "%s%s",
							 used ? "," : "", adapters.list[i].name);
		}
	}
	if (used >= buffer_bytes)
		buffer[0] = '\0'; /* a cut list would be wrong */
	free(gpus.list);
	free(adapters.list);
	return buffer;
}
