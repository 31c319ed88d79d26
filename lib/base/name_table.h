/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * name_table.h - finds numbers by name
 *
 * A hash table from (tag, name) to a number. The tag keeps several name spaces apart, for example
 * levels. Names are not copied and must outlive the table. For use inside lib/ only. Any number of
 * threads may find; one may add. uthash would need a handle in each named struct, and ends the
 * process if memory runs out, which may be slurmctld.
 */
#ifndef OSP_NAME_TABLE_H
#define OSP_NAME_TABLE_H

#include <stdint.h>

#define OSP_NAME_ABSENT UINT32_MAX

struct osp_name_slot {
	const char *name; /* NULL: empty */
	uint32_t tag;
	uint32_t value;
};

struct osp_name_table {
	struct osp_name_slot *slots;
	uint32_t slot_count; /* a power of two, or 0 */
	uint32_t used;
};

#define OSP_NAME_TABLE_INIT                                                                        \
	{                                                                                          \
		NULL, 0, 0                                                                         \
	}

/* Returns the number, or OSP_NAME_ABSENT. */
uint32_t osp_name_table_find(const struct osp_name_table *table, uint32_t tag, const char *name);

/* Adds a name that is not in the table. Returns 0, or -1 if memory ran out. */
int osp_name_table_add(struct osp_name_table *table, uint32_t tag, const char *name,
		       uint32_t value);

void osp_name_table_free(struct osp_name_table *table);

#endif
