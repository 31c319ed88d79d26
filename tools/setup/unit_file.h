/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_file.h - a drop-in for systemd's slurmctld.service that runs `onespine doctor
 * --before-start`, and a file for logrotate that bounds the gate's log
 *
 * One thread.
 */
#ifndef OSP_UNIT_FILE_H
#define OSP_UNIT_FILE_H

#include <stdbool.h>

#include "lib/base/error.h"

/* Its path below `folder`; with NULL below /etc/systemd/system, and NULL if no systemd runs. To be
 * freed. */
char *osp_unit_path(const char *folder);

/*
 * Writes the drop-in, or with `undo` removes it, and its folder when it was made for it. Returns 1
 * when that changed (or with `dry_run` would change) something, 0 when not, -1 with `error` set. A
 * drop-in that is not as we write it is left alone.
 */
int osp_unit_file(const char *path, bool undo, bool dry_run, struct osp_error *error);

/* Returns the same of logrotate's file; without `folder` in /etc/logrotate.d, and NULL if that is
 * missing or no systemd runs. */
char *osp_rotation_path(const char *folder);
int osp_rotation_file(const char *path, bool undo, bool dry_run, struct osp_error *error);

#endif
