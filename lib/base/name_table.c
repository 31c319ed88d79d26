/* SPDX-License-Identifier: GPL-2.0-or-later */
/* name_table.c - finds numbers by name */
#include "lib/base/name_table.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"

#define SLOTS_LEAST 64
#define SLOTS_MAX   ((uint32_t)1 << 30)

/* Hashes a name; folds the upper bits down. */
static uint32_t hash(uint32_t tag, const char *name)
{
	uint64_t sum = osp_hash_bytes(OSP_HASH_START ^ tag, name, strlen(name));

	return (uint32_t)(sum ^ sum >> 32);
}

/* Returns the slot that holds the name, or the empty one where it belongs. */
static struct osp_name_slot *slot_of(const struct osp_name_table *table, uint32_t tag,
				     const char *name)
{
	uint32_t mask = table->slot_count - 1;
	uint32_t i = hash(tag, name) & mask;
	struct osp_name_slot *slot = &table->slots[i];

	while (slot->name && (slot->tag != tag || strcmp(slot->name, name))) {
		i = (i + 1) & mask;
		slot = &table->slots[i];
	}
	return slot;
}

uint32_t osp_name_table_find(const struct osp_name_table *table, uint32_t tag, const char *name)
{
	const struct osp_name_slot *slot;

	if (!table->slot_count)
		return OSP_NAME_ABSENT;
	slot = slot_of(table, tag, name);
	return slot->name ? slot->value : OSP_NAME_ABSENT;
}

static int grow(struct osp_name_table *table)
{
	struct osp_name_table larger = OSP_NAME_TABLE_INIT;

	if (table->slot_count >= SLOTS_MAX)
		return -1;
	larger.slot_count = table->slot_count ? table->slot_count * 2 : SLOTS_LEAST;
	larger.slots = calloc(larger.slot_count, sizeof(larger.slots[0]));
	if (!larger.slots)
		return -1;
	for (uint32_t i = 0; i < table->slot_count; i++) {
		const struct osp_name_slot *slot = &table->slots[i];

		if (slot->name)
			*slot_of(&larger, slot->tag, slot->name) = *slot;
	}
	larger.used = table->used;
	free(table->slots);
	*table = larger;
	return 0;
}

int osp_name_table_add(struct osp_name_table *table, uint32_t tag, const char *name, uint32_t value)
{
	if (table->used >= table->slot_count / 2 && grow(table))
		return -1;
	*slot_of(table, tag, name) = (struct osp_name_slot){name, tag, value};
	table->used++;
	return 0;
}

void osp_name_table_free(struct osp_name_table *table)
{
	free(table->slots);
	*table = (struct osp_name_table)OSP_NAME_TABLE_INIT;
}
