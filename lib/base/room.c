/* SPDX-License-Identifier: GPL-2.0-or-later */
/* room.c - arrays that grow */
#include "lib/base/room.h"

#include <stdlib.h>

#define FIRST_ROOM 64

int osp_make_room(void **array, uint32_t *room, uint32_t count, size_t entry_bytes)
{
	uint32_t larger = *room ? *room * 2 : FIRST_ROOM;
	void *moved;

	if (count < *room)
		return 0;
	if (larger <= *room || larger > SIZE_MAX / entry_bytes)
		return -1;
	moved = realloc(*array, larger * entry_bytes);
	if (!moved)
		return -1;
	*array = moved;
	*room = larger;
	return 0;
}
