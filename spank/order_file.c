/* SPDX-License-Identifier: GPL-2.0-or-later */
/* order_file.c - the nodes of a gang in their order, as a file in memory */
#define _GNU_SOURCE /* memfd_create */
#include "spank/order_file.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/text.h"

#define BYTES_MAX  ((size_t)4 * 1024 * 1024)
#define NUMBER_MIN 200

static char *text_of(const struct osp_gang_ranks *order, unsigned int times)
{
	struct osp_text text = OSP_TEXT_INIT;

	for (uint32_t i = 0; i < order->count && text.length_bytes <= BYTES_MAX; i++) {
		for (unsigned int t = 0; t < times && text.length_bytes <= BYTES_MAX; t++)
			osp_text_printf(&text, "%s\n", order->names[i]);
	}
	text.failed = text.failed || text.length_bytes > BYTES_MAX;
	return osp_text_take(&text);
}

int osp_order_file_make(const struct osp_gang_ranks *order, unsigned int times)
{
	char *text = text_of(order, times);
	int file = text ? memfd_create("onespine-hosts", MFD_CLOEXEC) : -1;

	if (file >= 0 && !osp_write_all(file, text, strlen(text))) {
		close(file);
		file = -1;
	}
	free(text);
	return file;
}

int osp_order_file_hold(const struct osp_gang_ranks *order, char *path)
{
	int made = osp_order_file_make(order, 1), held = -1;

	path[0] = '\0';
	if (made < 0)
		return -1;
	held = fcntl(made, F_DUPFD, NUMBER_MIN);
	close(made);
	if (held < 0)
		return -1;
	snprintf(path, OSP_ORDER_FILE_PATH_BYTES, "/proc/%ld/fd/%d", (long)getpid(), held);
	return 0;
}
