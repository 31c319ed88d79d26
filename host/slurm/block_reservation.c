/* SPDX-License-Identifier: GPL-2.0-or-later */
/* block_reservation.c - one maintenance reservation of Slurm for each Capacity Block */
#include "onespine_config.h"

#include "host/slurm/block_reservation.h"

#include <errno.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/output.h"
#include "host/slurm/cluster_state.h"
#include "host/slurm_compat.h"
#include "lib/base/arena.h"
#include "lib/base/hostlist.h"
#include "lib/base/room.h"

#define PREFIX	   OSP_BLOCK_RESERVATION_PREFIX
#define FLAGS	   (RESERVE_FLAG_MAINT | RESERVE_FLAG_IGN_JOBS)
#define NAME_BYTES 64

/* The names of a list while it is expanded. */
struct names {
	struct osp_arena *arena;
	const char **items;
	uint32_t count, room;
};

static int take_name(const char *name, void *context)
{
	struct names *names = context;

	if (osp_make_room((void **)&names->items, &names->room, names->count,
			  sizeof(*names->items)))
		return 1;
	names->items[names->count] = osp_arena_copy(names->arena, name, strlen(name));
	return names->items[names->count++] ? 0 : 1;
}

/* Writes a list as osp_hostlist_compact() does, in the arena; NULL if it cannot be read. */
static const char *compact(struct osp_arena *arena, const char *list)
{
	struct names names = {.arena = arena};
	struct osp_error ignored = {.text = ""};
	const char *copy = NULL;
	char *text = NULL;

	if (!osp_hostlist_expand(list, take_name, &names, &ignored))
		text = osp_hostlist_compact(names.items, names.count);
	if (text)
		copy = osp_arena_copy(arena, text, strlen(text));
	free(text);
	free(names.items);
	return copy;
}

/* Returns whether the reservation is one that make() makes. */
static bool is_ours(const reserve_info_t *record)
{
	return record->name && osp_block_end_of(record->name) && (record->flags & FLAGS) == FLAGS;
}

static int take(struct osp_block_reservations *held, const reserve_info_t *record)
{
	const char *id = osp_block_end_of(record->name);
	const char *nodes = compact(&held->arena, record->node_list ? record->node_list : "");
	struct osp_block_end *to = &held->items[held->count++];

	to->id = osp_arena_copy(&held->arena, id, strlen(id));
	to->nodes = nodes ? nodes : "";
	to->from_s = (int64_t)record->start_time;
	return to->id ? 0 : -1;
}

int osp_block_reservations_load(struct osp_block_reservations *held, struct osp_error *error)
{
	reserve_info_msg_t *message = NULL;
	int rc = 0;

	memset(held, 0, sizeof(*held));
	osp_slurm_begin();
	errno = 0;
	if (slurm_load_reservations(0, &message) != SLURM_SUCCESS)
		return osp_error_set(error, "slurmctld does not report its reservations: %s",
				     slurm_strerror(errno));
	held->items =
		osp_arena_take(&held->arena, (message->record_count + 1) * sizeof(*held->items));
	for (uint32_t i = 0; held->items && !rc && i < message->record_count; i++)
		if (is_ours(&message->reservation_array[i]))
			rc = take(held, &message->reservation_array[i]);
	slurm_free_reservation_info_msg(message);
	return held->items && !rc ? 0 : osp_error_set(error, "out of memory");
}

void osp_block_reservations_free(struct osp_block_reservations *held)
{
	osp_arena_free(&held->arena);
	memset(held, 0, sizeof(*held));
}

/* --- changes ---------------------------------------------------------------------------------- */

struct keeping {
	const struct osp_block_reservations *held;
	struct osp_text *said;
	struct osp_error *error;
};

static const char *name_of(const char *id, char name[NAME_BYTES])
{
	snprintf(name, NAME_BYTES, PREFIX "%.40s", id);
	return name;
}

static int refuse(struct keeping *keeping, const char *what, const char *id)
{
	return osp_error_set(keeping->error, "reservation " PREFIX "%.40s cannot be %s: %s", id,
			     what, slurm_strerror(errno));
}

static int drop(struct keeping *keeping, const struct osp_block_end *end)
{
	char name[NAME_BYTES];
	reservation_name_msg_t message = {.name = (char *)name_of(end->id, name)};

	errno = 0;
	if (slurm_delete_reservation(&message) != SLURM_SUCCESS)
		/* another watch was quicker */
		return errno == ESLURM_RESERVATION_INVALID ? 0
							   : refuse(keeping, "deleted", end->id);
	osp_text_printf(keeping->said, "reservation %s deleted\n", name);
	return 0;
}

static void report(struct keeping *keeping, const struct osp_block_end *end, int64_t from_s)
{
	char when[32];

	osp_text_printf(keeping->said, "reservation " PREFIX "%.40s: %s from %s on\n", end->id,
			end->nodes, osp_format_time(from_s, when, sizeof(when)));
}

/* Returns whether another watch, on a backup slurmctld's host, has made it since. */
static bool is_made(const struct osp_block_end *end)
{
	struct osp_block_reservations now;
	struct osp_error ignored = {.text = ""};
	bool found = false;

	if (!osp_block_reservations_load(&now, &ignored))
		found = !osp_block_end_is_left(end, now.items, now.count);
	osp_block_reservations_free(&now);
	return found;
}

static int make(struct keeping *keeping, const struct osp_block_end *end)
{
	static char root[] = "root";
	int64_t now_s = (int64_t)time(NULL);
	char name[NAME_BYTES], *made;
	resv_desc_msg_t message;

	slurm_init_resv_desc_msg(&message);
	message.name = (char *)name_of(end->id, name);
	message.node_list = (char *)end->nodes;
	message.users = root;
	message.start_time = (time_t)(end->from_s > now_s ? end->from_s : now_s);
	message.duration = INFINITE;
	message.flags = FLAGS;
	errno = 0;
	made = slurm_create_reservation(&message);
	if (!made && errno == ESLURM_RESERVATION_NAME_DUP && is_made(end))
		return 0;
	if (!made)
		return refuse(keeping, "made", end->id);
	OSP_RESERVATION_NAME_FREE(made);
	report(keeping, end, (int64_t)message.start_time);
	return 0;
}

/* Changes the reservation, but not the start of one that has begun: Slurm refuses any. */
static int change(struct keeping *keeping, const struct osp_block_end *end,
		  const struct osp_block_end *kept)
{
	int64_t now_s = (int64_t)time(NULL), from_s = end->from_s > now_s ? end->from_s : now_s;
	char name[NAME_BYTES];
	resv_desc_msg_t message;

	slurm_init_resv_desc_msg(&message);
	message.name = (char *)name_of(end->id, name);
	message.node_list = (char *)end->nodes;
	if (kept->from_s > now_s) {
		message.start_time = (time_t)from_s;
		message.duration = INFINITE;
	} else {
		from_s = kept->from_s;
	}
	errno = 0;
	if (slurm_update_reservation(&message) != SLURM_SUCCESS)
		/* somebody has deleted it */
		return errno == ESLURM_RESERVATION_INVALID ? make(keeping, end)
							   : refuse(keeping, "changed", end->id);
	report(keeping, end, from_s);
	return 0;
}

static int keep(struct keeping *keeping, const struct osp_block_end *wanted)
{
	const struct osp_block_reservations *held = keeping->held;
	size_t kept;

	switch (osp_block_end_step(wanted, held->items, held->count, (int64_t)time(NULL), &kept)) {
	case OSP_BLOCK_KEEP:
		return 0;
	case OSP_BLOCK_CHANGE:
		return change(keeping, wanted, &held->items[kept]);
	case OSP_BLOCK_MAKE_ANEW:
		return drop(keeping, &held->items[kept]) ? -1 : make(keeping, wanted);
	case OSP_BLOCK_MAKE:
		break;
	}
	return make(keeping, wanted);
}

int osp_block_reservations_keep(const struct osp_block_reservations *held,
				const struct osp_block_end *wanted, size_t count,
				struct osp_text *said, struct osp_error *error)
{
	struct keeping keeping = {held, said, error};
	int rc = 0;

	/* first: the nodes of a block that has ended may be in a new one */
	for (size_t i = 0; i < held->count; i++)
		if (osp_block_end_is_left(&held->items[i], wanted, count) &&
		    drop(&keeping, &held->items[i]))
			rc = -1;
	for (size_t i = 0; i < count; i++)
		if (keep(&keeping, &wanted[i]))
			rc = -1;
	return rc;
}
