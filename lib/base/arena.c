/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arena.c - memory taken piece by piece and freed all at once */
#include "lib/base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)64 * 1024)

struct osp_arena_block {
	struct osp_arena_block *older;
	size_t room_bytes;
	max_align_t data[];
};

static struct osp_arena_block *add_block(struct osp_arena *arena, size_t bytes)
{
	size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
	struct osp_arena_block *block;

	/* the sum does not wrap: `bytes` is a multiple of a size that the head does not exceed */
	_Static_assert(sizeof(*block) <= sizeof(max_align_t), "the head of a block");
	block = malloc(sizeof(*block) + room);
	if (!block)
		return NULL;
	block->room_bytes = room;
	block->older = arena->blocks;
	arena->blocks = block;
	arena->used_bytes = 0;
	return block;
}

void *osp_arena_take(struct osp_arena *arena, size_t bytes)
{
	struct osp_arena_block *block = arena->blocks;
	size_t align = sizeof(max_align_t);
	char *piece;

	if (bytes > SIZE_MAX - align)
		return NULL;
	bytes = (bytes + align - 1) / align * align;
	if (!block || block->room_bytes - arena->used_bytes < bytes)
		block = add_block(arena, bytes);
	if (!block)
		return NULL;
	piece = (char *)block->data + arena->used_bytes;
	arena->used_bytes += bytes;
	return memset(piece, 0, bytes);
}

char *osp_arena_copy(struct osp_arena *arena, const char *bytes, size_t count)
{
	char *copy = count < SIZE_MAX ? osp_arena_take(arena, count + 1) : NULL;

	if (copy && count)
		memcpy(copy, bytes, count);
	return copy;
}

void osp_arena_free(struct osp_arena *arena)
{
	struct osp_arena_block *block = arena->blocks, *older;

	for (; block; block = older) {
		older = block->older;
		free(block);
	}
	*arena = (struct osp_arena)OSP_ARENA_INIT;
}
