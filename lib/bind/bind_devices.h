/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bind_devices.h - inside lib/: the parts of reading a machine that bind_machine.c combines */
#ifndef OSP_BIND_DEVICES_H
#define OSP_BIND_DEVICES_H

#include <hwloc.h>
#include <stdbool.h>

#include "lib/bind/bind_machine.h"

/* Fills in gpus and nics; the domains must be known already. Returns false if memory ran out. */
bool osp_machine_take_devices(struct osp_machine *machine, hwloc_topology_t topology);

/* Rewrites version 3 of hwloc's XML in place as version 2, if this hwloc is older than 3. */
void osp_machine_lower_xml(char *xml);

#endif
