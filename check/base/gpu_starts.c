/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu_starts.c - how this node's GPUs have started in this boot */
#include "check/base/gpu_starts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/base/pass_store.h"
#include "check/base/root.h"
#include "lib/base/text.h"

#define NAME "gpu-starts"

static bool read_boot(const char *root, char *boot_id, size_t boot_id_bytes)
{
	return osp_root_read(root, boot_id, boot_id_bytes, "proc/sys/kernel/random/boot_id");
}

/* Takes one line: "0000:40:00.0 gpu3 persistence 1 late 2" */
static void take_line(struct osp_gpu_starts *starts, const char *line)
{
	char address[16], subject[16];
	unsigned int persistent, late;
	struct osp_gpu_start *start;

	if (sscanf(line, "%15s %15s persistence %u late %u", address, subject, &persistent,
		   &late) != 4)
		return;
	start = osp_gpu_starts_of(starts, address, subject);
	if (!start)
		return;
	start->persistent = persistent == 1;
	start->late = late < 1000 ? late : 1000;
}

void osp_gpu_starts_read(const char *root, struct osp_gpu_starts *starts)
{
	char boot_id[40], head[64], *text, *line, *rest = NULL;

	memset(starts, 0, sizeof(*starts));
	text = osp_run_file_read(root, NAME);
	if (!text || !read_boot(root, boot_id, sizeof(boot_id))) {
		free(text);
		return;
	}
	snprintf(head, sizeof(head), "boot %s", boot_id);
	line = strtok_r(text, "\n", &rest);
	if (line && strcmp(line, head) == 0)
		while ((line = strtok_r(NULL, "\n", &rest)))
			take_line(starts, line);
	free(text);
}

void osp_gpu_starts_write(const char *root, const struct osp_gpu_starts *starts)
{
	struct osp_text text = OSP_TEXT_INIT;
	char boot_id[40];

	if (geteuid() != 0 || !starts->count || !read_boot(root, boot_id, sizeof(boot_id)))
		return;
	osp_text_printf(&text, "boot %s\n", boot_id);
	for (size_t i = 0; i < starts->count; i++)
		osp_text_printf(&text, "%s %s persistence %d late %u\n", starts->gpus[i].address,
				starts->gpus[i].subject, starts->gpus[i].persistent,
				starts->gpus[i].late);
	osp_run_file_write(root, NAME, &text);
	osp_text_free(&text);
}

struct osp_gpu_start *osp_gpu_starts_of(struct osp_gpu_starts *starts, const char *address,
					const char *subject)
{
	struct osp_gpu_start *start;

	for (size_t i = 0; i < starts->count; i++)
		if (strcmp(starts->gpus[i].address, address) == 0)
			return &starts->gpus[i];
	if (starts->count == OSP_GPUS_MAX)
		return NULL;
	start = &starts->gpus[starts->count++];
	memset(start, 0, sizeof(*start));
	snprintf(start->address, sizeof(start->address), "%.15s", address);
	snprintf(start->subject, sizeof(start->subject), "%.15s", subject);
	return start;
}
