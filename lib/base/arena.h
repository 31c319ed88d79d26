/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arena.h - memory taken piece by piece and freed all at once
 *
 * Holds the many small strings and records of a document or topology while it is built. For use
 * inside lib/ only. One thread per arena.
 */
#ifndef OSP_ARENA_H
#define OSP_ARENA_H

#include <stddef.h>

struct osp_arena_block;

struct osp_arena {
	struct osp_arena_block *blocks; /* newest first; NULL while empty */
	size_t used_bytes;		/* bytes used of the newest */
};

#define OSP_ARENA_INIT                                                                             \
	{                                                                                          \
		NULL, 0                                                                            \
	}

/* Returns `bytes` of zeroed memory, aligned for any type, or NULL if memory ran out. */
void *osp_arena_take(struct osp_arena *arena, size_t bytes);

/* Returns a terminated copy of `count` bytes, or NULL if memory ran out. */
char *osp_arena_copy(struct osp_arena *arena, const char *bytes, size_t count);

void osp_arena_free(struct osp_arena *arena);

#endif
