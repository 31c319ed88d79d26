/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arena.h - memory taken piece by piece and given back all at once
 *
 * For the many small strings and records of one document or one topology in the making. Inside
 * lib/ only. One thread an arena.
 */
#ifndef OSP_ARENA_H
#define OSP_ARENA_H

#include <stddef.h>

struct osp_arena_block;

struct osp_arena {
	struct osp_arena_block *blocks; /* newest first; NULL while empty */
	size_t used_bytes;		/* of the newest */
};

#define OSP_ARENA_INIT                                                                             \
	{                                                                                          \
		NULL, 0                                                                            \
	}

/* `bytes` of zeroed memory, aligned for any type; NULL when memory ran out. */
void *osp_arena_take(struct osp_arena *arena, size_t bytes);

/* A terminated copy of `count` bytes; NULL when memory ran out. */
char *osp_arena_copy(struct osp_arena *arena, const char *bytes, size_t count);

void osp_arena_free(struct osp_arena *arena);

#endif
