/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_private.h - what osp_import_*() have read, until it is built
 *
 * import_ec2.c and import_csv.c read files into hosts; import_names.c gives them node names;
 * import_build.c compares them with each other and builds. A host's switches are listed bottom
 * first and without gaps. InfiniBand is read into devices and links of its own (ib_fabric.h).
 * Inside lib/ only.
 */
#ifndef OSP_IMPORT_PRIVATE_H
#define OSP_IMPORT_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/topology/builder.h"
#include "lib/topology/readers.h"

/* Switch layers above the node: two levels are left for nvlink and zone. */
#define OSP_IMPORT_LAYERS_MAX (OSP_LEVELS_MAX - 2)

enum osp_import_kind {
	OSP_IMPORT_NOTHING,
	OSP_IMPORT_EC2,
	OSP_IMPORT_CSV,
	OSP_IMPORT_INFINIBAND,
};

struct osp_ib_fabric;

/* One line of a CSV, one instance or one capacity reservation. */
struct osp_import_host {
	const char *id;
	const char *what; /* "instance", "capacity reservation" or "host" */
	struct osp_place_in_file place;
	bool holds_many;	  /* a reservation: its map entry may name several nodes */
	bool reserved;		  /* where nodes will be: it gives way to where others are */
	uint32_t layer;		  /* of switches[0]: 1 is the lowest layer there is */
	uint32_t switch_count;	  /* 0: no topology is known */
	const char **switches;	  /* bottom first */
	const char *zone_id;	  /* each NULL if not given */
	const char *zone_name;	  /* differs between accounts for one zone */
	const char *block;	  /* CapacityBlockId of an instance */
	const char *const *nodes; /* its node names, after import_names.c; NULL: left out */
	uint32_t node_count;
	struct osp_node_note note; /* source NULL: none */
};

struct osp_import {
	struct osp_import_options options;
	struct osp_arena arena; /* every string below */
	const char *source;	/* of places without a note of their own; NULL: none */
	enum osp_import_kind kind;
	struct osp_import_host *hosts;
	uint32_t host_count;
	uint32_t host_room;
	uint32_t page_count; /* EC2: pages, and those that say that another follows */
	uint32_t token_count;
	struct osp_place_in_file token_place; /* of the last such page */
	uint32_t csv_layers;		      /* CSV: columns of switches; each file's must agree */
	const char **csv_names;		      /* their names in the first file, top first */
	const char *csv_host;		      /* and the name of the column of hosts */
	struct osp_place_in_file csv_place;   /* of that header */
	struct osp_ib_fabric *ib;	      /* InfiniBand: NULL until the first file */
	const char **warnings;
	uint32_t warning_count;
	uint32_t warning_room;
	bool finished;
};

#define OSP_IMPORT_WHERE_BYTES 288

/* Writes "page.json:12". Returns `buffer`. */
const char *osp_import_where(const struct osp_place_in_file *place, char *buffer,
			     size_t buffer_bytes);

int osp_import_no_memory(struct osp_error *error);

/* Copies a string to the arena. `*copy` is NULL for a NULL string. Returns -1 if memory ran out. */
int osp_import_copy(struct osp_import *import, const char *string, const char **copy);

/*
 * Adds a zeroed host at the end. Returns NULL with `error` set if there are too many, or memory ran
 * out.
 */
struct osp_import_host *osp_import_add_host(struct osp_import *import,
					    const struct osp_place_in_file *place,
					    struct osp_error *error);

/* Adds a line to the warnings. Returns 0 or -1 with `error` set. */
int osp_import_warn(struct osp_import *import, struct osp_error *error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Adds a warning and returns 0 with allow_missing; otherwise returns -1 with the place, the text,
 * and the option that would let it pass.
 */
int osp_import_missing(struct osp_import *import, const struct osp_place_in_file *place,
		       struct osp_error *error, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Refuses files of two kinds in one import. */
int osp_import_set_kind(struct osp_import *import, enum osp_import_kind kind, const char *file,
			struct osp_error *error);

/*
 * Compares the given level names with the number of layers. Refuses too few names, and too many for
 * a CSV, whose layers are its columns; warns of too many for other sources.
 */
int osp_import_check_levels(struct osp_import *import, uint32_t layer_count,
			    struct osp_error *error);

/* Returns the name of the level that a layer becomes; 1 is the lowest. */
const char *osp_import_level_name(const struct osp_import *import, uint32_t layer);

/*
 * Refuses columns of switches that only the header names and that the lines contradict
 * (import_csv.c).
 */
int osp_import_check_columns(struct osp_import *import, struct osp_error *error);

/* Gives every host its node names (import_names.c). */
int osp_import_name_hosts(struct osp_import *import, struct osp_error *error);

/* Makes the names of a CSV's switches unique within their layer (import_names.c). */
int osp_import_name_switches(struct osp_import *import, struct osp_error *error);

#endif
