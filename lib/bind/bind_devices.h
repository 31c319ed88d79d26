/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bind_devices.h - inside lib/: the parts of reading a machine that bind_machine.c joins */
#ifndef OSP_BIND_DEVICES_H
#define OSP_BIND_DEVICES_H

#include <hwloc.h>
#include <stdbool.h>

#include "lib/bind/bind_machine.h"

/* Fills gpus and nics; domains are known already. False when memory ran out. */
bool osp_machine_take_devices(struct osp_machine *machine, hwloc_topology_t topology);

/* Where this hwloc is older than 3, what version 3 of its XML says otherwise is put, in place, as
 * version 2 says it. */
void osp_machine_lower_xml(char *xml);

#endif
