/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugstack.h - plugstack.conf, the list of SPANK plugins, a line at a time as Slurm reads it
 *
 * Any thread; reads no file.
 */
#ifndef OSP_PLUGSTACK_H
#define OSP_PLUGSTACK_H

#include <stddef.h>

#define OSP_PLUGSTACK_PATH_BYTES 1024

enum osp_plugstack_kind {
	OSP_PLUGSTACK_NOTHING, /* blank, or a comment */
	OSP_PLUGSTACK_REQUIRED,
	OSP_PLUGSTACK_OPTIONAL,
	OSP_PLUGSTACK_INCLUDE,
	OSP_PLUGSTACK_WRONG, /* Slurm ignores it, with a message in the log */
};

struct osp_plugstack_line {
	enum osp_plugstack_kind kind;
	char path[OSP_PLUGSTACK_PATH_BYTES]; /* of the plugin, or the pattern of files */
	int line;
};

struct osp_plugstack {
	const char *at;
	const char *end;
	int line;
};

void osp_plugstack_start(struct osp_plugstack *stack, const char *text, size_t text_bytes);

/* Reads the next line into `line`. Returns 0 at the end, else 1. */
int osp_plugstack_next(struct osp_plugstack *stack, struct osp_plugstack_line *line);

#endif
