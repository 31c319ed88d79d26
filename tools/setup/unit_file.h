/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_file.h - a drop-in for systemd's slurmctld.service that runs `onespine doctor --before-start`
 *
 * One thread.
 */
#ifndef OSP_UNIT_FILE_H
#define OSP_UNIT_FILE_H

#include <stdbool.h>

#include "lib/base/error.h"

/* Its path below `folder`; with NULL below /etc/systemd/system, and NULL where no systemd runs. To be
 * freed. */
char *osp_unit_path(const char *folder);

/*
 * Writes the drop-in, or with `undo` removes it, and its folder when it was made for it. Returns 1
 * when that changed (or with `dry_run` would change) something, 0 when not, -1 with `error` set. A
 * drop-in that is not as we write it is left alone.
 */
int osp_unit_file(const char *path, bool undo, bool dry_run, struct osp_error *error);

#endif
