/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bind_machine_text.h - writes a machine as lines, and reads them in a fraction of the time that
 * hwloc takes to look at it
 *
 * For the file that root keeps of a node from boot to boot (lib/cache/node_cache.h). One line that
 * osp_machine_write() would not write refuses them all. Any thread: no shared state.
 */
#ifndef OSP_BIND_MACHINE_TEXT_H
#define OSP_BIND_MACHINE_TEXT_H

#include "lib/base/text.h"
#include "lib/bind/bind_machine.h"

/* Appends the machine's lines to `text`. */
void osp_machine_write(const struct osp_machine *machine, struct osp_text *text);

/* Reads such lines, cutting up `lines`. Returns the machine, or NULL with `error` set; its line
 * counts in `lines`. */
struct osp_machine *osp_machine_parse(char *lines, struct osp_error *error);

#endif
