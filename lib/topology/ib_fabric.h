/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ib_fabric.h - what sweeps of an InfiniBand fabric have seen, until it is built
 *
 * ib_scan.c reads ibnetdiscover's text into devices and links; ib_hosts.c finds the host of each
 * channel adapter; ib_units.c finds the units and builds; ib_rails.c names swapped rails. A GUID
 * identifies a device, so several sweeps of one fabric are joined. Inside lib/ only.
 */
#ifndef OSP_IB_FABRIC_H
#define OSP_IB_FABRIC_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/name_table.h"
#include "lib/topology/import_private.h"

#define OSP_IB_NO_DEVICE UINT32_MAX
#define OSP_IB_NO_HOST	 UINT32_MAX

enum osp_ib_type { OSP_IB_SWITCH, OSP_IB_ADAPTER, OSP_IB_ROUTER };

struct osp_ib_device {
	const char *name; /* "S-fc6a1c0300ee1000": type and GUID, as ibnetdiscover writes it */
	const char *description;
	enum osp_ib_type type;
	struct osp_place_in_file place;
	bool listed;   /* has an entry of its own, not only a mention as a peer */
	bool linked;   /* has a link */
	uint32_t host; /* an adapter's, or OSP_IB_NO_HOST */
	const char
		*adapter; /* what its host calls an adapter with a host, "mlx5_0"; NULL: unknown */
};

/* Each link, once for every time that a sweep reported it; so usually twice. */
struct osp_ib_link {
	uint32_t from;
	uint32_t to;
};

struct osp_ib_host {
	const char *name; /* the node's */
	struct osp_place_in_file place;
	bool ambiguous; /* two adapters have one name, so these are two hosts of one name */
};

struct osp_ib_fabric {
	struct osp_ib_device *devices;
	uint32_t device_count;
	uint32_t device_room;
	struct osp_ib_link *links;
	uint32_t link_count;
	uint32_t link_room;
	struct osp_ib_host *hosts;
	uint32_t host_count;
	uint32_t host_room;
	struct osp_name_table by_name; /* devices */
};

/* Frees a fabric; NULL is allowed. */
void osp_ib_fabric_free(struct osp_ib_fabric *fabric);

/*
 * Returns the device of that name, made if it is new. Returns OSP_IB_NO_DEVICE if memory ran out or
 * there are too many. Takes `description` if the device has none yet, or with `listed`.
 */
uint32_t osp_ib_device(struct osp_import *import, enum osp_ib_type type, uint64_t guid,
		       const char *description, size_t description_bytes, bool listed,
		       const struct osp_place_in_file *place, struct osp_error *error);

int osp_ib_link(struct osp_import *import, uint32_t from, uint32_t to,
		const struct osp_place_in_file *place, struct osp_error *error);

/* Finds the host of each adapter (ib_hosts.c). Returns 0, or -1 with `error` set. */
int osp_ib_name_hosts(struct osp_import *import, struct osp_error *error);

/* Names hosts whose rails are swapped by their cables (ib_rails.c). `level`, by device, is 1 for a
 * leaf. Returns 0, or -1 with `error` set. */
int osp_ib_report_rails(struct osp_import *import, const uint32_t *level, struct osp_error *error);

/* Builds the topology (ib_units.c). Returns NULL with `error` set. */
struct osp_topology *osp_ib_build(struct osp_import *import, struct osp_error *error);

#endif
