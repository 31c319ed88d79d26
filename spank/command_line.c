/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command_line.c - the command line of the sbatch, srun or salloc that this runs in */
#include "spank/command_line.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES ((size_t)128 * 1024)
#define WORDS_MOST 4096

static size_t read_line(char *line)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t got;

	while (fd >= 0 && length < LINE_BYTES - 1 &&
	       (got = read(fd, line + length, LINE_BYTES - 1 - length)) > 0)
		length += (size_t)got;
	if (fd >= 0)
		close(fd);
	line[length] = '\0';
	return length;
}

void osp_command_line_read(struct osp_command_line *own)
{
	size_t length;

	own->line = malloc(LINE_BYTES);
	own->words = calloc(WORDS_MOST, sizeof(*own->words));
	own->count = 0;
	if (!own->line || !own->words) {
		osp_command_line_free(own);
		return;
	}
	length = read_line(own->line);
	for (size_t at = 0; at < length && own->count < WORDS_MOST;
	     at += strlen(own->line + at) + 1)
		own->words[own->count++] = own->line + at;
}

void osp_command_line_free(struct osp_command_line *own)
{
	free(own->line);
	free(own->words);
	memset(own, 0, sizeof(*own));
}

const char *osp_command_line_level_apart(char *const *words, int count)
{
	static const char *const values[] = {"off",    "leaf",	      "spine", "core",
					     "nvlink", "ultraserver", "rack",  "block"};

	for (int i = 0; i + 1 < count; i++) {
		if (strcmp(words[i], "--gang") != 0)
			continue;
		for (size_t j = 0; j < sizeof(values) / sizeof(values[0]); j++)
			if (!strcmp(words[i + 1], values[j]) && access(values[j], F_OK) < 0)
				return values[j];
	}
	return NULL;
}
