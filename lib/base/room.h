/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * room.h - arrays that grow
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_ROOM_H
#define OSP_ROOM_H

#include <stddef.h>
#include <stdint.h>

/*
 * Makes room for one more entry of `entry_bytes` in `*array` (malloc'd, NULL while empty), which
 * holds `count` entries and has room for `*room`. Returns 0, or -1 if memory ran out; the array is
 * then unchanged.
 */
int osp_make_room(void **array, uint32_t *room, uint32_t count, size_t entry_bytes);

#endif
