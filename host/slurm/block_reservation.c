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

#define PREFIX	   "onespine-ends-"
#define FLAGS	   (RESERVE_FLAG_MAINT | RESERVE_FLAG_IGN_JOBS)
#define NAME_BYTES 64

/* What Slurm has, and what is kept of it. */
struct keeping {
	struct osp_arena arena;
	struct osp_block_end *reserved;
	size_t count;
	struct osp_text *said;
	struct osp_error *error;
};

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

/* Tells whether the reservation is one that make() makes. */
static bool is_ours(const reserve_info_t *record)
{
	return record->name && !strncmp(record->name, PREFIX, strlen(PREFIX)) &&
	       osp_block_end_is_id(record->name + strlen(PREFIX)) &&
	       (record->flags & FLAGS) == FLAGS;
}

static int load(struct keeping *keeping)
{
	reserve_info_msg_t *message = NULL;

	osp_slurm_begin();
	errno = 0;
	if (slurm_load_reservations(0, &message) != SLURM_SUCCESS)
		return osp_error_set(keeping->error, "slurmctld does not tell its reservations: %s",
				     slurm_strerror(errno));
	keeping->reserved = osp_arena_take(&keeping->arena, (message->record_count + 1) *
								    sizeof(*keeping->reserved));
	for (uint32_t i = 0; keeping->reserved && i < message->record_count; i++) {
		const reserve_info_t *record = &message->reservation_array[i];
		struct osp_block_end *to = &keeping->reserved[keeping->count];
		const char *nodes;

		if (!is_ours(record))
			continue;
		nodes = compact(&keeping->arena, record->node_list ? record->node_list : "");
		to->id = osp_arena_copy(&keeping->arena, record->name + strlen(PREFIX),
					strlen(record->name) - strlen(PREFIX));
		to->nodes = nodes ? nodes : "";
		to->from_s = (int64_t)record->start_time;
		keeping->count += to->id != NULL;
	}
	slurm_free_reservation_info_msg(message);
	return keeping->reserved ? 0 : osp_error_set(keeping->error, "out of memory");
}

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
		return refuse(keeping, "deleted", end->id);
	osp_text_printf(keeping->said, "reservation %s deleted\n", name);
	return 0;
}

static int make(struct keeping *keeping, const struct osp_block_end *end)
{
	static char root[] = "root";
	int64_t now_s = (int64_t)time(NULL);
	char name[NAME_BYTES], when[32], *made;
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
	if (!made)
		return refuse(keeping, "made", end->id);
	OSP_RESERVATION_NAME_FREE(made);
	osp_text_printf(keeping->said, "reservation %s: %s from %s on\n", name, end->nodes,
			osp_format_time((int64_t)message.start_time, when, sizeof(when)));
	return 0;
}

/* One that has begun cannot get another start, so a changed one is made anew. */
static int keep(struct keeping *keeping, const struct osp_block_end *wanted)
{
	size_t kept;

	switch (osp_block_end_step(wanted, keeping->reserved, keeping->count, (int64_t)time(NULL),
				   &kept)) {
	case OSP_BLOCK_KEEP:
		return 0;
	case OSP_BLOCK_CHANGE:
		return drop(keeping, &keeping->reserved[kept]) ? -1 : make(keeping, wanted);
	case OSP_BLOCK_MAKE:
		break;
	}
	return make(keeping, wanted);
}

static int keep_all(struct keeping *keeping, const struct osp_block_end *wanted, size_t count,
		    bool is_all)
{
	/* first: the nodes of a block that has ended may be in a new one */
	for (size_t i = 0; is_all && i < keeping->count; i++)
		if (osp_block_end_is_left(&keeping->reserved[i], wanted, count) &&
		    drop(keeping, &keeping->reserved[i]))
			return -1;
	for (size_t i = 0; i < count; i++)
		if (keep(keeping, &wanted[i]))
			return -1;
	return 0;
}

int osp_block_reservations_keep(const struct osp_block_end *wanted, size_t count, bool is_all,
				struct osp_text *said, struct osp_error *error)
{
	struct keeping keeping = {.said = said, .error = error};
	int rc = load(&keeping) ? -1 : keep_all(&keeping, wanted, count, is_all);

	osp_arena_free(&keeping.arena);
	return rc;
}
